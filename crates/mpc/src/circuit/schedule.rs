//! From gates to steps: the order in which a circuit is run, and the slots of its live wires.
//!
//! Gates are sorted by AND depth inside a window, so that AND gates which do not depend on each
//! other are together and can be hashed at once. A slot is reused only after the window in which
//! its wire was last used.

use super::bit::Bit;
use super::netlist::Port;
use super::size::{Count, Size};
pub use crate::simd::Op;

/// Gates sorted together in a stream by default: few enough that the window's wires fit the L2
/// cache.
pub const STREAM_WINDOW: usize = 1 << 13;

/// A part of a circuit run: the XORs in order, then all ANDs at once. No AND
/// reads or writes a slot that another one of the step writes.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Exclusive ors. A negation is an XOR with slot 0.
    pub linear: &'a [Op],
    /// Conjunctions.
    pub ands: &'a [Op],
    /// How many values a slot holds: every gate works on that many at once.
    pub lanes: usize,
    /// Where slot 0 of this step begins: lane l of slot s is value
    /// `base` + s·`lanes` + l.
    pub base: usize,
}

impl<'a> Step<'a> {
    /// A step with one value per slot.
    pub fn single(linear: &'a [Op], ands: &'a [Op]) -> Self {
        Self { linear, ands, lanes: 1, base: 0 }
    }
}

/// Something that runs circuits. Value 0 is the constant 1 (for a garbler: Δ),
/// values 1, 2, … are the input bits.
pub trait Consumer {
    /// Runs one step; every place in it is below `values`, which never shrinks. Returns false if it
    /// cannot continue; it then gets no further step.
    fn step(&mut self, values: usize, step: Step<'_>) -> bool;
}

/// A circuit that can be run: stored, repeated or made on the fly.
///
/// Both parties must get the same steps, so a source depends on public values only.
pub trait Source: Sync {
    /// The inputs in order.
    fn inputs(&self) -> &[Port];

    /// The outputs in order.
    fn outputs(&self) -> &[Port];

    /// Passes every step to `consumer` and returns the outputs as slots.
    fn stream(&self, consumer: &mut dyn Consumer) -> Vec<Bit>;

    /// How large it is. Streams it, unless the source knows better.
    fn size(&self) -> Size {
        let mut count = Count::default();
        let outputs = self.stream(&mut count);
        count.size(&outputs)
    }

    /// Number of input bits.
    fn input_bits(&self) -> usize {
        self.inputs().iter().map(|port| port.width).sum()
    }

    /// Number of output bits.
    fn output_bits(&self) -> usize {
        self.outputs().iter().map(|port| port.width).sum()
    }
}

/// Sorts gates into steps and assigns slots.
pub(super) struct Scheduler<'c> {
    consumer: &'c mut dyn Consumer,
    stopped: bool,
    window: usize,
    waiting: usize,
    /// Steps of the window by AND depth; only the first `depth` are in use.
    levels: Vec<(Vec<Op>, Vec<Op>)>,
    depth: usize,
    /// Per slot: AND depth, counted from the first window's start.
    level_of: Vec<u64>,
    window_start: u64,
    /// Per slot: the slot that holds its negation, or 0.
    negation_of: Vec<u32>,
    free: Vec<u32>,
    dying: Vec<u32>,
}

impl<'c> Scheduler<'c> {
    pub(super) fn new(consumer: &'c mut dyn Consumer, inputs: usize, window: usize) -> Self {
        Self {
            consumer,
            stopped: false,
            window,
            waiting: 0,
            levels: Vec::new(),
            depth: 0,
            level_of: vec![0; inputs + 1],
            window_start: 0,
            negation_of: vec![0; inputs + 1],
            free: Vec::new(),
            dying: Vec::new(),
        }
    }

    /// An XOR of two slots; the result is a fresh slot.
    pub(super) fn xor(&mut self, a: u32, b: u32) -> u32 {
        let level = self.level(a).max(self.level(b));
        let out = self.allocate(level);
        self.at(level).0.push(Op { a, b, out });
        self.count_gate();
        out
    }

    /// An AND of two slots, either of them negated.
    pub(super) fn and(&mut self, a: Bit, b: Bit) -> u32 {
        let (a, b) = (self.materialise(a), self.materialise(b));
        let level = self.level(a).max(self.level(b));
        let out = self.allocate(level + 1);
        self.at(level).1.push(Op { a, b, out });
        self.count_gate();
        out
    }

    /// The wire in `slot` is not needed any more.
    pub(super) fn release(&mut self, slot: u32) {
        let negation = std::mem::take(&mut self.negation_of[slot as usize]);
        if negation != 0 {
            self.dying.push(negation);
        }
        self.dying.push(slot);
    }

    /// Passes the remaining gates to the consumer.
    pub(super) fn drain(&mut self) {
        let slots = self.level_of.len();
        for (linear, ands) in &mut self.levels[..self.depth] {
            if !(self.stopped || linear.is_empty() && ands.is_empty()) {
                self.stopped = !self.consumer.step(slots, Step::single(linear, ands));
            }
            linear.clear();
            ands.clear();
        }
        self.window_start += self.depth as u64 + 1;
        self.depth = 0;
        self.waiting = 0;
        self.free.append(&mut self.dying);
    }

    fn level(&self, slot: u32) -> u64 {
        self.level_of[slot as usize].saturating_sub(self.window_start)
    }

    fn at(&mut self, level: u64) -> &mut (Vec<Op>, Vec<Op>) {
        let level = level as usize;
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Default::default);
        }
        self.depth = self.depth.max(level + 1);
        &mut self.levels[level]
    }

    fn allocate(&mut self, level: u64) -> u32 {
        let stamp = self.window_start + level;
        if let Some(slot) = self.free.pop() {
            self.level_of[slot as usize] = stamp;
            return slot;
        }
        self.level_of.push(stamp);
        self.negation_of.push(0);
        (self.level_of.len() - 1) as u32
    }

    fn materialise(&mut self, bit: Bit) -> u32 {
        if !bit.negated() {
            return bit.id();
        }
        let known = self.negation_of[bit.id() as usize];
        if known != 0 {
            return known;
        }
        let level = self.level(bit.id());
        let out = self.allocate(level);
        self.at(level).0.push(Op { a: bit.id(), b: 0, out });
        self.negation_of[bit.id() as usize] = out;
        out
    }

    /// Called when a gate is complete: no slot may be reassigned within one.
    fn count_gate(&mut self) {
        self.waiting += 1;
        if self.waiting >= self.window {
            self.drain();
        }
    }
}
