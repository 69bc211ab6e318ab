//! From gates to steps: in which order a circuit is run, and in which slots its live wires lie.
//!
//! Gates are sorted by AND depth inside a window, so that AND gates which do
//! not depend on each other stand together and can be hashed at once. A slot
//! is used again only after the window in which its wire died.

use super::bit::Bit;
use super::netlist::{Circuit, Gate, Port};

/// Gates sorted together in a stream: 2¹⁵ of them keep the window's wires in the L2 cache.
pub const STREAM_WINDOW: usize = 1 << 15;

/// Gates sorted together in a stored circuit.
const STORED_WINDOW: usize = 1 << 20;

/// One two-input gate on slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Slot of the first input.
    pub a: u32,
    /// Slot of the second input.
    pub b: u32,
    /// Slot of the output.
    pub out: u32,
}

impl From<Op> for (u32, u32, u32) {
    fn from(op: Op) -> Self {
        (op.a, op.b, op.out)
    }
}

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
    /// Runs one step; every place in it is below `values`, which never shrinks.
    /// Returns false if it cannot go on; it is then given no further step.
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

    /// Hands every step to `consumer` and returns the outputs as slots.
    fn stream(&self, consumer: &mut dyn Consumer) -> Vec<Bit>;

    /// Number of input bits.
    fn input_bits(&self) -> usize {
        self.inputs().iter().map(|port| port.width).sum()
    }

    /// Number of output bits.
    fn output_bits(&self) -> usize {
        self.outputs().iter().map(|port| port.width).sum()
    }
}

/// Sorts gates into steps and hands out slots.
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

    /// Hands the remaining gates to the consumer.
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

    /// Called when a gate is complete: no slot may change hands inside one.
    fn count_gate(&mut self) {
        self.waiting += 1;
        if self.waiting >= self.window {
            self.drain();
        }
    }
}

/// A stored circuit in running order with its slots assigned: the form to run many times.
///
/// Takes 12 bytes per gate. Input slots are never overwritten.
pub struct Program {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    ops: Vec<Op>,
    /// Per step: end of its XORs and end of its ANDs in `ops`.
    ends: Vec<(usize, usize)>,
    slots: usize,
    output_slots: Vec<Bit>,
    and_count: usize,
}

impl Program {
    /// Schedules `circuit`.
    pub fn new(circuit: &Circuit) -> Self {
        let mut recorder = Recorder::default();
        let mut scheduler = Scheduler::new(&mut recorder, circuit.input_bits(), STORED_WINDOW);
        let mut slot_of: Vec<u32> = (0..=circuit.input_bits() as u32).collect();
        let place = |bit: Bit, slot_of: &[u32]| {
            Bit::wire(slot_of[bit.id() as usize]).negate_if(bit.negated())
        };
        for gate in circuit.gates() {
            let slot = match *gate {
                Gate::Xor(a, b) => scheduler.xor(place(a, &slot_of).id(), place(b, &slot_of).id()),
                Gate::And(a, b) => scheduler.and(place(a, &slot_of), place(b, &slot_of)),
            };
            slot_of.push(slot);
        }
        scheduler.drain();
        let outputs: Vec<Bit> =
            circuit.output_bits().iter().map(|bit| place(*bit, &slot_of)).collect();
        let Recorder { mut ops, ends } = recorder;
        let and_count = ends
            .iter()
            .scan(0, |start, &(linear, end)| {
                *start = end;
                Some(end - linear)
            })
            .sum();
        let (slots, output_slots) = reuse_slots(&mut ops, &ends, circuit.input_bits(), &outputs);
        Self {
            inputs: circuit.inputs().to_vec(),
            outputs: circuit.outputs().to_vec(),
            ops,
            ends,
            slots,
            output_slots,
            and_count,
        }
    }

    /// Number of slots that a run needs.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of AND gates.
    pub fn and_count(&self) -> usize {
        self.and_count
    }

    fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |&(linear, end)| {
            let step = Step::single(&self.ops[start..linear], &self.ops[linear..end]);
            start = end;
            step
        })
    }
}

impl Source for Program {
    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn stream(&self, consumer: &mut dyn Consumer) -> Vec<Bit> {
        for step in self.steps() {
            if !consumer.step(self.slots, step) {
                break;
            }
        }
        self.output_slots.clone()
    }
}

#[derive(Default)]
struct Recorder {
    ops: Vec<Op>,
    ends: Vec<(usize, usize)>,
}

impl Consumer for Recorder {
    fn step(&mut self, _: usize, step: Step<'_>) -> bool {
        self.ops.extend_from_slice(step.linear);
        let linear = self.ops.len();
        self.ops.extend_from_slice(step.ands);
        self.ends.push((linear, self.ops.len()));
        true
    }
}

/// Renumbers slots in running order, each used again right after its last
/// reader. Returns their number and the outputs' new places.
fn reuse_slots(
    ops: &mut [Op],
    ends: &[(usize, usize)],
    inputs: usize,
    outputs: &[Bit],
) -> (usize, Vec<Bit>) {
    let wires = ops.iter().map(|op| op.out as usize).max().unwrap_or(0).max(inputs) + 1;
    // Positions are counted so that all ANDs of a step die together, after it.
    let mut last_use = vec![0usize; wires];
    let mut start = 0;
    for &(linear, end) in ends {
        for position in start..end {
            let when = if position < linear { position } else { end - 1 };
            last_use[ops[position].a as usize] = when;
            last_use[ops[position].b as usize] = when;
        }
        start = end;
    }
    outputs.iter().for_each(|bit| last_use[bit.id() as usize] = usize::MAX);
    last_use[..=inputs].fill(usize::MAX);

    let mut place: Vec<u32> = (0..wires as u32).collect();
    let mut slots = inputs as u32 + 1;
    let mut free: Vec<u32> = Vec::new();
    let mut take = |free: &mut Vec<u32>| {
        free.pop().unwrap_or_else(|| {
            slots += 1;
            slots - 1
        })
    };
    let mut start = 0;
    let mut dying = Vec::new();
    for &(linear, end) in ends {
        for (position, op) in ops.iter_mut().enumerate().take(linear).skip(start) {
            let wires_read = [op.a, op.b];
            (op.a, op.b) = (place[op.a as usize], place[op.b as usize]);
            for wire in wires_read {
                if last_use[wire as usize] == position {
                    free.push(place[wire as usize]);
                    last_use[wire as usize] = usize::MAX;
                }
            }
            let wire = op.out as usize;
            op.out = take(&mut free);
            place[wire] = op.out;
        }
        for op in &mut ops[linear..end] {
            let wires_read = [op.a, op.b];
            (op.a, op.b) = (place[op.a as usize], place[op.b as usize]);
            for wire in wires_read {
                if last_use[wire as usize] == end - 1 {
                    dying.push(place[wire as usize]);
                    last_use[wire as usize] = usize::MAX;
                }
            }
            let wire = op.out as usize;
            op.out = take(&mut free);
            place[wire] = op.out;
        }
        free.append(&mut dying);
        start = end;
    }
    let moved =
        outputs.iter().map(|bit| Bit::wire(place[bit.id() as usize]).negate_if(bit.negated()));
    let moved = moved.collect();
    (slots as usize, moved)
}

/// Many runs of one program, side by side: their AND gates are hashed together
/// and all inputs and outputs travel together.
///
/// The inputs are those of the first run, then those of the second, and so on.
pub struct Repeat<'p> {
    program: &'p Program,
    runs: usize,
    rounds: usize,
    lanes: usize,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl<'p> Repeat<'p> {
    /// `runs` runs of `program`.
    ///
    /// # Panics
    /// If all runs together have 2³¹ input and output bits or more.
    pub fn new(program: &'p Program, runs: usize) -> Self {
        let port_bits = program.input_bits() + program.output_slots.len();
        let all = port_bits.checked_mul(runs).and_then(|b| b.checked_add(64 * program.slots));
        assert!(all.is_some_and(|all| all < Bit::MAX_ID as usize), "too many runs at once");
        let numbered = |ports: &[Port]| {
            let port = |run: usize, port: &Port| Port {
                name: format!("{}[{run}]", port.name),
                ..port.clone()
            };
            (0..runs).flat_map(|run| ports.iter().map(move |p| port(run, p))).collect()
        };
        // Wide enough for full batches, small enough to stay in the cache.
        let lanes = ((1 << 14) / program.slots.max(1) / 8 * 8).clamp(8, 64).min(runs.max(1));
        Self {
            program,
            runs,
            rounds: 1,
            lanes,
            inputs: numbered(&program.inputs),
            outputs: numbered(&program.outputs),
        }
    }

    /// Every run goes through the program `rounds` times: its outputs become the
    /// last of its inputs for the next round, the other inputs stay.
    ///
    /// # Panics
    /// If the program has more output bits than input bits.
    #[must_use]
    pub fn rounds(self, rounds: usize) -> Self {
        assert!(self.program.output_slots.len() <= self.program.input_bits());
        Self { rounds, ..self }
    }
}

impl Source for Repeat<'_> {
    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn stream(&self, consumer: &mut dyn Consumer) -> Vec<Bit> {
        let program = self.program;
        let (inputs, outputs) = (program.input_bits() as u32, program.output_slots.len() as u32);
        // Values: one, all inputs, all outputs, a zero, then the lanes of the program's slots.
        let first_output = 1 + inputs * self.runs as u32;
        let zero = first_output + outputs * self.runs as u32;
        let base = zero as usize + 1;
        let values = base + self.lanes * program.slots;
        let copy = |from: u32, to: u32| Op { a: from, b: zero, out: to };
        let mut moves = vec![Op { a: 0, b: 0, out: zero }];
        moves.extend((0..self.lanes).map(|lane| copy(0, (base + lane) as u32)));
        for first in (0..self.runs).step_by(self.lanes) {
            let lanes = self.lanes.min(self.runs - first);
            let place = |slot: u32, lane: usize| (base + slot as usize * lanes + lane) as u32;
            for lane in 0..lanes {
                let from = 1 + inputs * (first + lane) as u32;
                moves.extend((0..inputs).map(|i| copy(from + i, place(1 + i, lane))));
            }
            for round in 0..self.rounds {
                let mut open = consumer.step(values, Step::single(&moves, &[]));
                moves.clear();
                for step in program.steps() {
                    open = open && consumer.step(values, Step { lanes, base, ..step });
                }
                if !open {
                    return Vec::new();
                }
                for lane in 0..lanes {
                    let to = first_output + outputs * (first + lane) as u32;
                    for (index, bit) in (0..).zip(&program.output_slots) {
                        let from = if bit.id() == 0 { zero } else { place(bit.id(), lane) };
                        let b = if bit.negated() { 0 } else { zero };
                        moves.push(Op { a: from, b, out: to + index });
                    }
                    if round + 1 < self.rounds {
                        let state = 1 + inputs - outputs;
                        moves.extend((0..outputs).map(|i| copy(to + i, place(state + i, lane))));
                    }
                }
            }
        }
        consumer.step(values, Step::single(&moves, &[]));
        (0..outputs * self.runs as u32).map(|index| Bit::wire(first_output + index)).collect()
    }
}
