//! Whether a group of a public population may be divided (the site-presence paper), as one bit.
//!
//! *Inputs*: the users of a group, which both know; of the one who divides, for each user, which half
//! it would be in and whether it is one of its people; of the other, whether it is one of its people.
//! *Output*, to both: whether in both halves at least k users are people of both, and these are at
//! most the part δ of each party's people there. *Learned*: that bit, and nothing else: no size of a
//! half, no count, not which test failed.
//!
//! The paper's parties compute this by intersections and comparisons, which reveal sizes of halves,
//! counts of dummies at every point that is tried, and thresholds. Because the population is public
//! no intersection is needed: both list the users in one order, and a circuit counts.
//!
//! *What it does not hide*: **once a division is accepted, the other party must learn who is in
//! which half**, so it learns for every user of the population a group of the first one's values;
//! for users that the first one does not have, that of a dummy. And the answers together are those
//! of exact thresholds, not differentially private ones.
//!
//! *Cost* for n users: 6·n ANDs of 32 bytes at most, and on top some 10·log n for δ of few digits; 16·n
//! bytes and n transfers for the other party's inputs; one round and a half. At most [`MOST_USERS`].
//!
//! # Example
//!
//! ```
//! use diptych_mpc::Role;
//! use diptych_mpc::paper::division::{DivisionShape, Side, accepts};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! // Eight people; the shop would divide them in the middle. Both have four of them, two in common.
//! let shape = DivisionShape { users: 8, k: 1, delta: (2, 3), divider: Role::P1 };
//! let high = [0, 0, 0, 0, 1, 1, 1, 1].map(|bit| bit == 1);
//! let shop = [1, 1, 0, 0, 1, 1, 0, 0].map(|bit| bit == 1);
//! let bank = [0, 1, 1, 0, 0, 1, 1, 0].map(|bit| bit == 1);
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| accepts(session, &shape, Side::Divider { high: &high, present: &shop }),
//!     |session| accepts(session, &shape, Side::Other { present: &bank }),
//! );
//! // In each half one of two: 1 ≥ k, and 1/2 ≤ 2/3.
//! assert!(outcome.p1? && outcome.p2?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use crate::Error;
use crate::circuit::integer::{count_ones, less_than_constant, less_than_or_equal, subtract, sum};
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Builder, Circuit, Gates, Source};
use crate::mechanism::{push_word, too_many};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// The most users of a group.
pub const MOST_USERS: usize = 1 << 20;
/// Gates sorted together: enough to hash many users at once.
const WINDOW: usize = 1 << 16;

/// What both know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionShape {
    /// Users of the group.
    pub users: usize,
    /// Common people in a half, at least.
    pub k: u64,
    /// δ as a fraction, from above 0 to 1.
    pub delta: (u64, u64),
    /// Who would divide.
    pub divider: Role,
}

/// One party's input: a bit for each user.
#[derive(Clone, Copy)]
pub enum Side<'a> {
    /// The party that divides.
    Divider {
        /// Whether the user would be in the upper half.
        high: &'a [bool],
        /// Whether it is one of its people.
        present: &'a [bool],
    },
    /// The other one.
    Other {
        /// Whether it is one of its people.
        present: &'a [bool],
    },
}

/// What [`accepts`] computes.
pub fn ideal(shape: &DivisionShape, high: &[bool], divider: &[bool], other: &[bool]) -> bool {
    [false, true].into_iter().all(|half| {
        let (mut common, mut holders) = (0u64, [0u64; 2]);
        for ((high, divider), other) in high.iter().zip(divider).zip(other) {
            if *high == half {
                common += u64::from(*divider && *other);
                holders[0] += u64::from(*divider);
                holders[1] += u64::from(*other);
            }
        }
        let at_most = |holders: &u64| {
            u128::from(common) * u128::from(shape.delta.1)
                <= u128::from(*holders) * u128::from(shape.delta.0)
        };
        common >= shape.k && holders.iter().all(at_most)
    })
}

/// Whether both halves meet the requirements.
///
/// # Errors
/// If there are too many users or not one bit for each, and failures of the connection or the peer.
pub fn accepts(
    session: &mut Session,
    shape: &DivisionShape,
    side: Side<'_>,
) -> Result<bool, Error> {
    let inputs = shape.inputs(side)?;
    let is_divider = matches!(side, Side::Divider { .. });
    if is_divider != (session.role == shape.divider) {
        return Err(other_users(inputs.len(), shape.widths()[0]));
    }
    let outputs = yao::run(session, shape.divider, &shape.source(), &inputs, Reveal::Both)?;
    Ok(outputs.is_some_and(|outputs| outputs.first() == Some(&true)))
}

/// The messages of [`accepts`].
pub fn forecast(f: &mut Forecast, shape: &DivisionShape) {
    yao::forecast(f, shape.divider, &shape.source(), Reveal::Both);
}

impl DivisionShape {
    /// Bits of a count of users.
    fn count_bits(&self) -> usize {
        (usize::BITS - self.users.leading_zeros()) as usize
    }

    /// Input bits of the divider and of the other. The divider: per user, three bits: among its
    /// people and in the upper half, among its people and in the lower half, in the upper half;
    /// then ⌊δ·its people⌋ of the upper and of the lower half. The other: per user whether it is
    /// among its people; then how many are.
    fn widths(&self) -> [usize; 2] {
        [3 * self.users + 2 * self.count_bits(), self.users + self.count_bits()]
    }

    /// A party's bits for the circuit.
    pub(crate) fn inputs(&self, side: Side<'_>) -> Result<Zeroizing<Vec<bool>>, Error> {
        if self.users > MOST_USERS {
            let (what, given, most) = ("users", self.users, MOST_USERS);
            return Err(too_many(what, given, most));
        }
        let of = |bits: &[bool]| match bits.len() == self.users {
            true => Ok(()),
            false => Err(other_users(bits.len(), self.users)),
        };
        let mut bits = Zeroizing::new(Vec::with_capacity(self.widths()[0]));
        match side {
            Side::Other { present } => {
                of(present)?;
                bits.extend_from_slice(present);
                let all = present.iter().filter(|bit| **bit).count();
                push_word(all as u64, self.count_bits(), &mut bits);
            }
            Side::Divider { high, present } => {
                of(high).and(of(present))?;
                let mut holders = [0u64; 2];
                for (high, present) in high.iter().zip(present) {
                    bits.extend([*present & *high, *present & !*high, *high]);
                    holders[0] += u64::from(*present & *high);
                    holders[1] += u64::from(*present & !*high);
                }
                for holders in holders {
                    let (above, below) = self.delta;
                    let bound = u128::from(holders) * u128::from(above) / u128::from(below.max(1));
                    // δ is at most 1, so that the bound is not above a count of users.
                    push_word(bound.min(self.users as u128) as u64, self.count_bits(), &mut bits);
                }
            }
        }
        Ok(bits)
    }

    /// The circuit as a whole, for review and vectors; the divider is P1.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let [divider, other] = self.widths();
        let divider = g.input(Role::P1, "divider", divider);
        let other = g.input(Role::P2, "other", other);
        let accepted = self.build(&mut g, &divider, &other);
        g.output("accepted", &[accepted]);
        g.finish()
    }

    fn source(&self) -> impl Source + '_ {
        let [divider, other] = self.widths();
        let mut ports = [(self.divider, "divider", divider), (self.divider.peer(), "other", other)];
        let first = usize::from(self.divider == Role::P2);
        ports.rotate_left(first);
        Generated::new(&ports, &[("accepted", 1)], move |g, inputs| {
            vec![vec![self.build(g, &inputs[first], &inputs[1 - first])]]
        })
        .window(WINDOW)
    }

    /// *Why it is right*: of users present at the other, those of the divider in a half are common,
    /// and those in the upper half are counted; the lower half has the rest of the other's total.
    fn build<G: Gates>(&self, g: &mut G, divider: &[Bit], other: &[Bit]) -> Bit {
        let (users, bounds) = divider.split_at(3 * self.users);
        let (present, total) = other.split_at(self.users);
        let mut counts = [0, 1, 2].map(|which| {
            g.scope(|g| {
                let both = users.iter().skip(which).step_by(3).zip(present);
                let both: Vec<Bit> = both.map(|(user, present)| g.and(*user, *present)).collect();
                count_ones(g, &both)
            })
        });
        // In place of the lower half's common people there are the other's people in it.
        let low_common = std::mem::take(&mut counts[1]);
        let other_low = subtract(g, total, &counts[2]);
        let (high_bound, low_bound) = bounds.split_at(self.count_bits());
        let halves = [(&counts[0], &counts[2], high_bound), (&low_common, &other_low, low_bound)];
        let mut accepted = Bit::TRUE;
        for (common, holders, bound) in halves {
            let enough = !less_than_constant(g, common, &self.k.into());
            let of_divider = less_than_or_equal(g, common, bound);
            let [common, holders] = [(common, self.delta.1), (holders, self.delta.0)]
                .map(|(count, factor)| times(g, count, factor));
            let of_other = less_than_or_equal(g, &common, &holders);
            for one in [enough, of_divider, of_other] {
                accepted = g.and(accepted, one);
            }
        }
        accepted
    }
}

/// A count times a public number: an addition for every bit of it that is set.
fn times<G: Gates>(g: &mut G, count: &[Bit], factor: u64) -> Vec<Bit> {
    let set = (0..u64::BITS as usize).filter(|bit| factor >> bit & 1 == 1);
    let terms: Vec<Vec<Bit>> =
        set.map(|bit| [vec![Bit::FALSE; bit].as_slice(), count].concat()).collect();
    sum(g, &terms)
}

/// Not one bit for every user of a group, or the bits of the other party.
fn other_users(given: usize, due: usize) -> Error {
    Error::input(format!(
        "{given} bits where one for each of {due} users is due, of the party that divides or of its peer"
    ))
}
