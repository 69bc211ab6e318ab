//! How large a circuit is, without running it.

use super::schedule::{Consumer, Source, Step};

/// What a garbled run of a circuit costs, apart from its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// AND gates.
    pub ands: usize,
    /// Output bits that are not constant.
    pub outputs: usize,
}

impl Size {
    /// Streams the circuit and counts.
    pub fn of(source: &dyn Source) -> Self {
        let mut count = Count { ands: 0 };
        let outputs = source.stream(&mut count);
        let outputs = outputs.iter().filter(|bit| bit.as_constant().is_none()).count();
        Self { ands: count.ands, outputs }
    }
}

struct Count {
    ands: usize,
}

impl Consumer for Count {
    fn step(&mut self, _: usize, step: Step<'_>) -> bool {
        self.ands += step.ands.len() * step.lanes;
        true
    }
}
