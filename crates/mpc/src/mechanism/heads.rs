//! Which of two parties has the better candidate, revealing nothing else of either.
//!
//! *Inputs*: each party's best candidate, if it has one: a score as a fraction, and a number that
//! orders those of equal score. *Output*, to both: whose is better, or that nobody has any.
//! *Learned*: that. A party without a candidate looks like one whose candidate is worse.
//!
//! Fractions are compared by their cross products, exactly; where all have one denominator it is left
//! out.
//!
//! *Cost*: some 100 ANDs, 4,500 with denominators. One round.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::Role;
//! use diptych_mpc::mechanism::heads::{Head, HeadShape, better};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! // 2/3 against 3/4.
//! let shape = HeadShape { fractions: true };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| better(session, &shape, Some(Head { above: 2, below: 3, order: 0 })),
//!     |session| better(session, &shape, Some(Head { above: 3, below: 4, order: 1 })),
//! );
//! assert_eq!((outcome.p1?, outcome.p2?), (Some(Role::P2), Some(Role::P2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use super::{push_word, too_many};
use crate::Error;
use crate::circuit::integer::{add_carry, equal, less_than, mask};
use crate::circuit::{Bit, Builder, Circuit, Gates, Program};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// Bits of a fraction's numbers.
const SCORE_BITS: usize = 32;
/// Bits of the number that orders candidates of equal score.
const ORDER_BITS: usize = 16;

/// What is public about the two candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadShape {
    /// Whether denominators differ.
    pub fractions: bool,
}

/// A party's best candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its score is this, below 2^32,
    pub above: u64,
    /// over this, from 1 and below 2^32; ignored where all denominators are the same.
    pub below: u64,
    /// Of equal scores the lower number comes first; below 2^16, and the parties' differ.
    pub order: u32,
}

impl HeadShape {
    /// The circuit. The outputs are whether there is any candidate, and whether P1's is better.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let width = 1 + ORDER_BITS + if self.fractions { 2 * SCORE_BITS } else { SCORE_BITS };
        let p1 = g.input(Role::P1, "p1", width);
        let p2 = g.input(Role::P2, "p2", width);
        let parts = |input: &[Bit]| {
            let (order, score) = input[1..].split_at(ORDER_BITS);
            let (above, below) = score.split_at(SCORE_BITS);
            (input[0], order.to_vec(), above.to_vec(), below.to_vec())
        };
        let (has1, order1, above1, below1) = parts(&p1);
        let (has2, order2, above2, below2) = parts(&p2);
        let (first, second) = match self.fractions {
            true => (product(&mut g, &above1, &below2), product(&mut g, &above2, &below1)),
            false => (above1, above2),
        };
        let higher = less_than(&mut g, &second, &first);
        let same = equal(&mut g, &first, &second);
        let earlier = less_than(&mut g, &order1, &order2);
        let by_order = g.and(same, earlier);
        let better = g.or(higher, by_order);
        let unopposed = g.or(better, !has2);
        let won = g.and(has1, unopposed);
        let any = g.or(has1, has2);
        g.output("any", &[any]);
        g.output("first", &[won]);
        g.finish()
    }
}

/// a · b, by adding shifted rows: w² ANDs and as many to add them.
fn product<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let mut sum: Vec<Bit> = Vec::new();
    for (shift, bit) in b.iter().enumerate() {
        let row = mask(g, *bit, a);
        let (done, rest) = sum.split_at(shift.min(sum.len()));
        let high = add_carry(g, rest, &row);
        sum = [done, &high].concat();
    }
    sum
}

/// What [`better`] computes.
pub fn ideal(shape: &HeadShape, first: Option<Head>, second: Option<Head>) -> Option<Role> {
    let (a, b) = match (first, second) {
        (Some(a), Some(b)) => (a, b),
        (Some(_), None) => return Some(Role::P1),
        (None, Some(_)) => return Some(Role::P2),
        (None, None) => return None,
    };
    let by = |head: Head, other: Head| {
        let below = if shape.fractions { other.below } else { 1 };
        u128::from(head.above) * u128::from(below)
    };
    let (first, second) = (by(a, b), by(b, a));
    let won = first > second || (first == second && a.order < b.order);
    Some(if won { Role::P1 } else { Role::P2 })
}

/// The messages of [`better`].
pub fn forecast(f: &mut Forecast, shape: &HeadShape) {
    yao::forecast(f, Role::P1, &Program::new(&shape.circuit()), Reveal::Both);
}

/// Whose candidate is better; none if neither has one.
///
/// # Errors
/// If a number is too long, or the run fails.
pub fn better(
    session: &mut Session,
    shape: &HeadShape,
    own: Option<Head>,
) -> Result<Option<Role>, Error> {
    let program = Program::new(&shape.circuit());
    let head = own.unwrap_or(Head { above: 0, below: 1, order: 0 });
    for (what, given) in [("steps of a score", head.above), ("parts of a score", head.below)] {
        if given >> SCORE_BITS != 0 {
            let (given, most) = (given as usize, u32::MAX as usize);
            return Err(too_many(what, given, most));
        }
    }
    if head.order >> ORDER_BITS != 0 {
        let (given, most) = (head.order as usize, usize::from(u16::MAX));
        return Err(too_many("candidates", given, most));
    }
    let mut bits = Zeroizing::new(vec![own.is_some()]);
    push_word(head.order.into(), ORDER_BITS, &mut bits);
    push_word(head.above, SCORE_BITS, &mut bits);
    if shape.fractions {
        push_word(head.below, SCORE_BITS, &mut bits);
    }
    let found = yao::run(session, Role::P1, &program, &bits, Reveal::Both)?;
    Ok(match found.as_deref() {
        Some([true, true]) => Some(Role::P1),
        Some([true, false]) => Some(Role::P2),
        _ => None,
    })
}
