//! Two circuits as one: the outputs of the first are the inputs of the second.

use super::bit::Bit;
use super::netlist::Port;
use super::schedule::{Consumer, Op, Source, Step};
use super::size::Size;

/// Runs `then` on the outputs of `first`, in one circuit: nothing in between is opened or shared.
pub struct Chain<'a> {
    first: &'a dyn Source,
    then: &'a dyn Source,
}

impl<'a> Chain<'a> {
    /// Both sources one after the other.
    ///
    /// # Panics
    /// If the second does not take as many bits as the first gives.
    pub fn new(first: &'a dyn Source, then: &'a dyn Source) -> Self {
        assert_eq!(first.output_bits(), then.input_bits(), "outputs of one, inputs of the other");
        Self { first, then }
    }
}

impl Source for Chain<'_> {
    fn inputs(&self) -> &[Port] {
        self.first.inputs()
    }

    fn outputs(&self) -> &[Port] {
        self.then.outputs()
    }

    fn size(&self) -> Size {
        let then = self.then.size();
        Size { ands: self.first.size().ands + then.ands, ..then }
    }

    fn stream(&self, consumer: &mut dyn Consumer) -> Vec<Bit> {
        let first_values = 1 + self.first.input_bits();
        let mut below = Shifted { consumer, base: 0, values: first_values, open: true };
        let middle = self.first.stream(&mut below);
        let Shifted { consumer, values, open, .. } = below;
        if !open {
            return Vec::new();
        }
        // A zero, then the second circuit's own one and its inputs.
        let (zero, base) = (values as u32, values + 1);
        let mut moves = vec![Op { a: 0, b: 0, out: zero }, Op { a: 0, b: zero, out: base as u32 }];
        moves.extend((base as u32 + 1..).zip(&middle).map(|(out, bit)| {
            let from = if bit.id() == 0 { zero } else { bit.id() };
            Op { a: from, b: if bit.negated() { 0 } else { zero }, out }
        }));
        let values = base + 1 + middle.len();
        if !consumer.step(values, Step::single(&moves, &[])) {
            return Vec::new();
        }
        let mut above = Shifted { consumer, base, values, open: true };
        let outputs = self.then.stream(&mut above);
        outputs
            .into_iter()
            .map(|bit| match bit.as_constant() {
                Some(_) => bit,
                None => Bit::wire(base as u32 + bit.id()).negate_if(bit.negated()),
            })
            .collect()
    }
}

/// A consumer whose values begin at `base`.
struct Shifted<'c> {
    consumer: &'c mut dyn Consumer,
    base: usize,
    /// How many values there are, those below included.
    values: usize,
    open: bool,
}

impl Consumer for Shifted<'_> {
    fn step(&mut self, values: usize, step: Step<'_>) -> bool {
        self.values = self.values.max(self.base + values);
        let step = Step { base: self.base + step.base, ..step };
        self.open = self.consumer.step(self.values, step);
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::evaluate::evaluate_source;
    use crate::circuit::integer::{add_carry, maximum_with_index};
    use crate::circuit::stream::Generated;
    use crate::circuit::{Builder, Program, Repeat};
    use crate::math::Randomness;
    use crate::role::Role;

    #[test]
    fn a_chain_computes_the_second_circuit_on_the_first_ones_outputs() {
        let mut g = Builder::new();
        let a = g.input(Role::P1, "a", 4);
        let b = g.input(Role::P2, "b", 4);
        let sum = add_carry(&mut g, &a, &b);
        g.output("sum", &[vec![!sum[0]], sum[1..].to_vec(), vec![Bit::TRUE, Bit::FALSE]].concat());
        let program = Program::new(&g.finish());
        let mut rng = Randomness::seeded(1);
        for runs in [1usize, 5, 100] {
            let sums = Repeat::new(&program, runs);
            let maximum = Generated::new(
                &[(Role::P1, "sums", 7 * runs)],
                &[("largest", 7), ("one", 1)],
                |g, x| {
                    let values: Vec<_> = x[0].chunks(7).map(<[_]>::to_vec).collect();
                    vec![maximum_with_index(g, &values).0, vec![Bit::TRUE]]
                },
            );
            let chain = Chain::new(&sums, &maximum);
            let numbers: Vec<[u8; 2]> =
                (0..runs).map(|_| rng.array::<2>().map(|n| n % 16)).collect();
            let bits: Vec<bool> = numbers
                .iter()
                .flatten()
                .flat_map(|n| (0..4).map(move |i| n >> i & 1 == 1))
                .collect();
            let expected = numbers.iter().map(|[a, b]| ((a + b) ^ 1) + 32).max().unwrap();
            let output = evaluate_source(&chain, &bits).unwrap();
            let found = (0..7).fold(0u8, |n, i| n | u8::from(output[i]) << i);
            assert_eq!((found, output[7]), (expected, true), "{runs} runs");
        }
    }
}
