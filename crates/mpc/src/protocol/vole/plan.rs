//! The plan of a run, which elements are made from which: the same at both ends, and in a forecast.

use crate::protocol::transfers::Assumptions;

/// How elements are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// From 128 transfers each.
    Direct,
    /// By LPN, where it takes fewer transfers.
    Lpn(Sets),
}

impl Method {
    /// The one with the fewest bytes among those that the assumptions allow.
    pub fn suited_to(assumptions: Assumptions) -> Self {
        match assumptions {
            Assumptions::Lpn => Self::Lpn(Sets::STANDARD),
            Assumptions::NoLpn => Self::Direct,
        }
    }
}

/// The numbers of one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set {
    /// k, the length of the secret.
    pub secret: usize,
    /// t, the most blocks: each has noise in one place.
    pub blocks: usize,
    /// h, at least 2: a block has 2^h places.
    pub levels: usize,
}

impl Set {
    pub const fn block(self) -> usize {
        1 << self.levels
    }

    const fn outputs(self) -> usize {
        self.blocks << self.levels
    }

    /// What so many outputs take.
    const fn inputs_for(self, outputs: usize) -> usize {
        self.secret + outputs.div_ceil(self.block())
    }

    /// What the sender sends for a block: a sum for every level but the first, and what closes it.
    pub const fn message_bytes(self) -> usize {
        16 * self.levels
    }
}

/// The sets by which a few elements become many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sets([Set; 3]);

impl Sets {
    /// The sets whose attack costs are computed by `vectors/generate/lpn_costs.py`.
    pub const STANDARD: Self = Self([
        Set { secret: 1_050, blocks: 1_250, levels: 3 },
        Set { secret: 8_200, blocks: 1_750, levels: 6 },
        Set { secret: 110_000, blocks: 1_900, levels: 10 },
    ]);

    /// Sets for tests: they hide nothing.
    #[cfg(test)]
    pub(crate) const TINY: Self = Self([
        Set { secret: 10, blocks: 12, levels: 2 },
        Set { secret: 20, blocks: 25, levels: 3 },
        Set { secret: 80, blocks: 70, levels: 4 },
    ]);
}

/// One use of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub set: Set,
    /// How many blocks are made.
    pub blocks: usize,
    /// How many of the elements that come out are handed out, the first ones; the next level takes the
    /// others.
    pub handed_out: usize,
}

impl Level {
    /// Elements that go in.
    #[cfg(test)]
    pub const fn inputs(self) -> usize {
        self.set.secret + self.blocks
    }

    /// Transfers that the trees take.
    pub const fn transfers(self) -> usize {
        self.blocks * self.set.levels
    }

    /// How many blocks each of the sender's messages covers.
    pub fn chunks(self) -> impl Iterator<Item = usize> {
        crate::protocol::ot::chunks(self.blocks, CHUNK_PLACES >> self.set.levels)
    }
}

/// Places of the blocks that are made together, one message of the sender.
const CHUNK_PLACES: usize = 1 << 16;

/// How a number of elements is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Elements from transfers.
    pub base: usize,
    pub levels: Vec<Level>,
}

impl Plan {
    pub fn new(method: Method, count: usize) -> Self {
        let direct = Self { base: count, levels: Vec::new() };
        let Method::Lpn(Sets([first, second, main])) = method else { return direct };
        if first.inputs_for(count) >= count {
            return direct;
        }
        // From the end: what a level takes is what the one before it must make.
        let (mut levels, mut due) = (Vec::new(), count);
        if due > second.outputs() {
            due = main_iterations(main, due, &mut levels);
        }
        for set in [second, first] {
            if set == first || due > first.outputs() {
                let blocks = due.div_ceil(set.block());
                let handed_out = if levels.is_empty() { count } else { 0 };
                levels.push(Level { set, blocks, handed_out });
                due = set.inputs_for(due);
            }
        }
        levels.reverse();
        Self { base: due, levels }
    }
}

/// The iterations that make so many elements, the last first; returns what the first takes.
fn main_iterations(main: Set, count: usize, levels: &mut Vec<Level>) -> usize {
    let kept = main.secret + main.blocks;
    let each = main.outputs() - kept;
    let whole = count.saturating_sub(main.outputs()).div_ceil(each);
    let left = count - whole * each;
    levels.push(Level { set: main, blocks: left.div_ceil(main.block()), handed_out: left });
    levels.extend((0..whole).map(|_| Level { set: main, blocks: main.blocks, handed_out: each }));
    if whole > 0 { kept } else { main.inputs_for(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_gets_what_it_takes_and_all_that_is_asked_for_comes_out() {
        for sets in [Sets::STANDARD, Sets::TINY] {
            let Sets([first, second, main]) = sets;
            let edges = [first.outputs(), second.outputs(), main.outputs(), 5 * main.outputs()];
            let near = edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1, edge + 777]);
            for count in (0..200).chain([1_201, 1_202]).chain(near) {
                let plan = Plan::new(Method::Lpn(sets), count);
                let mut have = plan.base;
                let mut handed_out = if plan.levels.is_empty() { plan.base } else { 0 };
                for level in &plan.levels {
                    assert!(have >= level.inputs() && level.blocks <= level.set.blocks, "{count}");
                    have = level.blocks * level.set.block() - level.handed_out;
                    handed_out += level.handed_out;
                }
                assert_eq!(handed_out, count, "{plan:?}");
            }
        }
    }

    #[test]
    fn sets_are_used_where_the_page_says() {
        let lengths = |count| Plan::new(Method::Lpn(Sets::STANDARD), count);
        assert_eq!((lengths(1_201).base, lengths(1_201).levels.len()), (1_201, 0));
        assert_eq!((lengths(1_202).base, lengths(1_202).levels.len()), (1_201, 1));
        assert_eq!(lengths(110_383).levels.len(), 2);
        assert_eq!(lengths(1_100_383).levels.len(), 3);
        assert_eq!(lengths(11_000_383).levels.len(), 8);
        assert_eq!(lengths(11_000_383).base, 2_294);
        assert_eq!(Plan::new(Method::Direct, 5_000_000).base, 5_000_000);
    }
}
