//! Stored circuits in the form in which they run: once, or many times side by side.

mod sorted;

use super::bit::Bit;
use super::netlist::{Circuit, Port};
use super::schedule::{Consumer, Op, Source, Step};
use super::size::Size;
use sorted::Sorted;

/// Gates sorted together in a stored circuit.
const STORED_WINDOW: usize = 1 << 20;

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
        let sorted = Sorted::new(circuit, STORED_WINDOW);
        let (inputs, outputs) = (circuit.inputs().to_vec(), circuit.outputs().to_vec());
        Self::with_slots(sorted, inputs, outputs, circuit.output_bits())
    }

    fn with_slots(
        sorted: Sorted,
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        output_bits: &[Bit],
    ) -> Self {
        let Sorted { mut ops, ends } = sorted;
        let input_bits = inputs.iter().map(|port| port.width).sum();
        let (slots, output_slots) = reuse_slots(&mut ops, &ends, input_bits, output_bits);
        let and_count = ends
            .iter()
            .scan(0, |start, &(linear, end)| {
                *start = end;
                Some(end - linear)
            })
            .sum();
        Self { inputs, outputs, ops, ends, slots, output_slots, and_count }
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

impl From<Circuit> for Program {
    /// The same as [`Program::new`] with less memory: the gates are freed as soon as they are
    /// sorted.
    fn from(circuit: Circuit) -> Self {
        let sorted = Sorted::new(&circuit, STORED_WINDOW);
        let Circuit { inputs, outputs, input_bits: _, gates, output_bits } = circuit;
        drop(gates);
        Self::with_slots(sorted, inputs, outputs, &output_bits)
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

/// Renumbers slots in running order, each reused right after its last reader. Returns their number
/// and the outputs' new places.
fn reuse_slots(
    ops: &mut [Op],
    ends: &[(usize, usize)],
    inputs: usize,
    outputs: &[Bit],
) -> (usize, Vec<Bit>) {
    let wires = ops.iter().map(|op| op.out as usize).max().unwrap_or(0).max(inputs) + 1;
    // Positions are counted so that all ANDs of a step end together, after it. A stored circuit has
    // fewer than 2^32 gates and negations.
    const ALWAYS: u32 = u32::MAX;
    #[derive(Clone, Copy)]
    struct Wire {
        last_use: u32,
        place: u32,
    }
    let mut of: Vec<Wire> =
        (0..wires as u32).map(|wire| Wire { last_use: 0, place: wire }).collect();
    let mut start = 0;
    for &(linear, end) in ends {
        for position in start..end {
            let when = if position < linear { position } else { end - 1 };
            of[ops[position].a as usize].last_use = when as u32;
            of[ops[position].b as usize].last_use = when as u32;
        }
        start = end;
    }
    outputs.iter().for_each(|bit| of[bit.id() as usize].last_use = ALWAYS);
    of[..=inputs].iter_mut().for_each(|input| input.last_use = ALWAYS);

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
            (op.a, op.b) = (of[op.a as usize].place, of[op.b as usize].place);
            for wire in wires_read {
                if of[wire as usize].last_use == position as u32 {
                    free.push(of[wire as usize].place);
                    of[wire as usize].last_use = ALWAYS;
                }
            }
            let wire = op.out as usize;
            op.out = take(&mut free);
            of[wire].place = op.out;
        }
        for op in &mut ops[linear..end] {
            let wires_read = [op.a, op.b];
            (op.a, op.b) = (of[op.a as usize].place, of[op.b as usize].place);
            for wire in wires_read {
                if of[wire as usize].last_use == (end - 1) as u32 {
                    dying.push(of[wire as usize].place);
                    of[wire as usize].last_use = ALWAYS;
                }
            }
            let wire = op.out as usize;
            op.out = take(&mut free);
            of[wire].place = op.out;
        }
        free.append(&mut dying);
        start = end;
    }
    let moved =
        outputs.iter().map(|bit| Bit::wire(of[bit.id() as usize].place).negate_if(bit.negated()));
    let moved = moved.collect();
    (slots as usize, moved)
}

/// Many runs of one program, side by side: their AND gates are hashed together and all inputs and
/// outputs are sent together.
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

    fn size(&self) -> Size {
        // All outputs are moved to places of their own, constant or not.
        let outputs = self.program.output_slots.len() * self.runs;
        Size { ands: self.program.and_count * self.runs * self.rounds, outputs }
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
