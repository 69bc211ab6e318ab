//! Computes the order in which a stored circuit runs, by counting.

use crate::circuit::bit::Bit;
use crate::circuit::netlist::{Circuit, Gate};
use crate::circuit::schedule::Op;

/// The gates in the order in which [`super::super::schedule::Scheduler`] emits them. Every wire is
/// in the slot of its own number; negations follow.
pub(super) struct Sorted {
    pub(super) ops: Vec<Op>,
    /// Per step: end of its XORs and end of its ANDs in `ops`.
    pub(super) ends: Vec<(usize, usize)>,
}

impl Sorted {
    /// Sorts so many gates together.
    pub(super) fn new(circuit: &Circuit, window: usize) -> Self {
        let wires = circuit.input_bits() + 1 + circuit.gates().len();
        let mut sorter = Sorter {
            sorted: Self { ops: Vec::new(), ends: Vec::new() },
            first_wire: circuit.input_bits() + 1,
            levels: Vec::with_capacity(window.min(circuit.gates().len())),
            negation_of: vec![0; wires],
            next_negation: wires as u32,
        };
        circuit.gates().chunks(window).for_each(|gates| sorter.window(gates));
        sorter.sorted
    }
}

/// Counts the gates of every step before it puts them there.
struct Sorter {
    sorted: Sorted,
    /// The output of the window's first gate.
    first_wire: usize,
    /// Per gate of the window: AND depth of its output. Wires from before have none.
    levels: Vec<u32>,
    /// Per wire: the slot of its negation, or 0.
    negation_of: Vec<u32>,
    next_negation: u32,
}

impl Sorter {
    fn window(&mut self, gates: &[Gate]) {
        let first_negation = self.next_negation;
        let mut places = self.count(gates);
        let mut start = self.sorted.ops.len();
        for [linear, ands] in &mut places {
            let (middle, end) = (start + *linear, start + *linear + *ands);
            self.sorted.ends.push((middle, end));
            [*linear, *ands] = [start, middle];
            start = end;
        }
        self.sorted.ops.reserve_exact(start - self.sorted.ops.len());
        self.sorted.ops.resize(start, Op { a: 0, b: 0, out: 0 });

        self.next_negation = first_negation;
        for (index, gate) in gates.iter().enumerate() {
            let (out, level) = ((self.first_wire + index) as u32, self.levels[index] as usize);
            match *gate {
                Gate::Xor(a, b) => {
                    self.put(&mut places[level][0], Op { a: a.id(), b: b.id(), out });
                }
                Gate::And(a, b) => {
                    let (a, b) = (self.slot(a, &mut places), self.slot(b, &mut places));
                    self.put(&mut places[level - 1][1], Op { a, b, out });
                }
            }
        }
        self.first_wire += gates.len();
        self.levels.clear();
    }

    fn put(&mut self, place: &mut usize, op: Op) {
        self.sorted.ops[*place] = op;
        *place += 1;
    }

    /// The slot of a wire or of its negation, which is computed when it is first needed.
    fn slot(&mut self, bit: Bit, places: &mut [[usize; 2]]) -> u32 {
        if !bit.negated() {
            return bit.id();
        }
        let out = self.negation_of[bit.id() as usize];
        // They were numbered in the order in which they are needed.
        if out == self.next_negation {
            self.next_negation += 1;
            let level = self.level(bit) as usize;
            self.put(&mut places[level][0], Op { a: bit.id(), b: 0, out });
        }
        out
    }

    /// Finds the levels of the window's gates and numbers the negations that they need first.
    /// Returns per level how many XORs and ANDs it has.
    fn count(&mut self, gates: &[Gate]) -> Vec<[usize; 2]> {
        let mut sizes: Vec<[usize; 2]> = Vec::new();
        for gate in gates {
            let inputs = gate.inputs();
            let level = self.level(inputs[0]).max(self.level(inputs[1]));
            // A level above all others begins with this gate.
            if sizes.len() <= level as usize {
                sizes.resize(level as usize + 1, [0; 2]);
            }
            let is_and = matches!(gate, Gate::And(..));
            sizes[level as usize][usize::from(is_and)] += 1;
            for bit in inputs.into_iter().filter(|bit| bit.negated()) {
                if self.negation_of[bit.id() as usize] == 0 {
                    self.negation_of[bit.id() as usize] = self.next_negation;
                    self.next_negation += 1;
                    sizes[self.level(bit) as usize][0] += 1;
                }
            }
            self.levels.push(level + u32::from(is_and));
        }
        sizes
    }

    fn level(&self, bit: Bit) -> u32 {
        let index = (bit.id() as usize).checked_sub(self.first_wire);
        index.map_or(0, |index| self.levels[index])
    }
}

#[cfg(test)]
mod tests {
    use super::super::reuse_slots;
    use super::*;
    use crate::circuit::gallery;
    use crate::circuit::schedule::{Consumer, Scheduler, Step};

    struct Recorder(Sorted);

    impl Consumer for Recorder {
        fn step(&mut self, _: usize, step: Step<'_>) -> bool {
            let Sorted { ops, ends } = &mut self.0;
            ops.extend_from_slice(step.linear);
            let linear = ops.len();
            ops.extend_from_slice(step.ands);
            ends.push((linear, ops.len()));
            true
        }
    }

    /// The order that the scheduler of streams makes, and where the outputs are.
    fn scheduled(circuit: &Circuit, window: usize) -> (Sorted, Vec<Bit>) {
        let mut recorder = Recorder(Sorted { ops: Vec::new(), ends: Vec::new() });
        let mut scheduler = Scheduler::new(&mut recorder, circuit.input_bits(), window);
        let mut slots: Vec<u32> = (0..=circuit.input_bits() as u32).collect();
        for gate in circuit.gates() {
            let [a, b] =
                gate.inputs().map(|b| Bit::wire(slots[b.id() as usize]).negate_if(b.negated()));
            slots.push(match gate {
                Gate::Xor(..) => scheduler.xor(a.id(), b.id()),
                Gate::And(..) => scheduler.and(a, b),
            });
        }
        scheduler.drain();
        let place = |bit: &Bit| Bit::wire(slots[bit.id() as usize]).negate_if(bit.negated());
        (recorder.0, circuit.output_bits().iter().map(place).collect())
    }

    #[test]
    fn gates_are_in_the_order_of_the_scheduler() {
        for (name, circuit) in gallery::exported() {
            for window in [1, 2, 37, 1000, super::super::STORED_WINDOW] {
                let (mut expected, outputs) = scheduled(&circuit, window);
                let mut found = Sorted::new(&circuit, window);
                assert_eq!(found.ends, expected.ends, "{name}, {window}");
                // Slots are renumbered in running order, so that equal programs have equal slots.
                let inputs = circuit.input_bits();
                let slots = [
                    reuse_slots(&mut found.ops, &found.ends, inputs, circuit.output_bits()),
                    reuse_slots(&mut expected.ops, &expected.ends, inputs, &outputs),
                ];
                assert_eq!(found.ops, expected.ops, "{name}, {window}");
                assert_eq!(slots[0], slots[1], "{name}, {window}");
            }
        }
    }
}
