//! How large a circuit is, without running it.

use super::bit::Bit;
use super::schedule::{Consumer, Step};

/// What a garbled run of a circuit costs, apart from its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// AND gates.
    pub ands: usize,
    /// Output bits that are not constant.
    pub outputs: usize,
}

/// Counts the AND gates of a streamed circuit.
#[derive(Default)]
pub(super) struct Count {
    ands: usize,
}

impl Count {
    /// The size of the circuit that was streamed and has these outputs.
    pub(super) fn size(&self, outputs: &[Bit]) -> Size {
        let outputs = outputs.iter().filter(|bit| bit.as_constant().is_none()).count();
        Size { ands: self.ands, outputs }
    }
}

impl Consumer for Count {
    fn step(&mut self, _: usize, step: Step<'_>) -> bool {
        self.ands += step.ands.len() * step.lanes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::integer::add_carry;
    use crate::circuit::{Builder, Chain, Gates, Program, Repeat, Source};
    use crate::role::Role;

    /// A source without its own implementation of `size`.
    fn counted(source: &dyn Source) -> Size {
        let mut count = Count::default();
        let outputs = source.stream(&mut count);
        count.size(&outputs)
    }

    #[test]
    fn what_is_known_at_once_is_what_is_counted() {
        let mut g = Builder::new();
        let a = g.input(Role::P1, "a", 5);
        let b = g.input(Role::P2, "b", 5);
        let sum = add_carry(&mut g, &a, &b);
        g.output("sum", &[sum, vec![Bit::TRUE, !a[0]]].concat());
        let program = Program::new(&g.finish());
        assert_eq!(program.size(), counted(&program));
        assert_eq!(program.size().outputs, 7, "one of eight is constant");
        for runs in [1, 3, 70] {
            for rounds in [1, 2] {
                let repeat = Repeat::new(&program, runs).rounds(rounds);
                assert_eq!(repeat.size(), counted(&repeat), "{runs} runs, {rounds} rounds");
            }
            let repeat = Repeat::new(&program, runs);
            let mut g = Builder::new();
            let bits = g.input(Role::P1, "bits", 8 * runs);
            let all = bits.iter().fold(Bit::TRUE, |all, bit| g.and(all, *bit));
            g.output("all", &[all, Bit::FALSE]);
            let then = Program::new(&g.finish());
            let chain = Chain::new(&repeat, &then);
            assert_eq!(chain.size(), counted(&chain), "{runs} runs in a chain");
        }
    }
}
