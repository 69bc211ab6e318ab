//! Whether two sets have at least so many identifiers in common, and nothing else.
//!
//! *Inputs.* Each party a list of distinct identifiers; a threshold t on which both agree.
//! *Output*, to both: whether |intersection| ≥ t. *Learned.* That bit and the peer's number of
//! identifiers: everything that would reveal more (which match, how many) stays inside one garbled
//! circuit.
//!
//! Each party hashes its identifiers to ℓ = σ + log n1 + log n2 bits under the session's id (so two
//! different ones collide with a chance below 2^-σ, over all pairs) and sorts them locally. The
//! circuit merges the two sorted lists (Batcher's odd-even merge; Huang, Evans, Katz 2012 sort so),
//! counts neighbours that are equal, and compares the count with t.
//!
//! *Cost.* For N = n1 + n2: about N·log₂N·ℓ ANDs of 32 bytes (2 million for 1,000 identifiers each,
//! 26 million for 10,000) and 16·ℓ bytes per identifier of P2; memory for about 3·N·ℓ wires of 16
//! bytes. Therefore at most [`MOST_IN_CIRCUIT`] identifiers together. Two rounds.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::psi::threshold::at_least;
//!
//! let bank = ["ada", "grace", "alan"];
//! let shop = ["emmy", "alan", "kurt", "ada"];
//!
//! // Is it worth working together? Only if at least two people are in both lists.
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| at_least(session, &bank, 2, 40),
//!     |session| at_least(session, &shop, 2, 40),
//! );
//! assert!(outcome.p1?.reached);
//! assert!(outcome.p2?.reached);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{Error, matching};
use crate::circuit::integer::{count_ones, equal, less_than};
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Gates, Source, integer};
use crate::net::{Message, Tag};
use crate::protocol::Session;
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// The most identifiers of both parties together: 100 million ANDs, 3 GB on the wire.
pub const MOST_IN_CIRCUIT: usize = 1 << 16;

/// Gates sorted together: enough to hash many comparisons at once.
const WINDOW: usize = 1 << 16;

/// What both parties learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// Whether at least so many identifiers are common.
    pub reached: bool,
    /// How many identifiers the peer has.
    pub peer_size: usize,
}

/// Whether at least `threshold` identifiers are common. A wrong answer, because two different
/// identifiers have one hash, has a chance below 2^-`sigma`.
///
/// # Errors
/// See [`Error`].
pub fn at_least<S: AsRef<[u8]>>(
    session: &mut Session,
    identifiers: &[S],
    threshold: usize,
    sigma: usize,
) -> Result<Threshold, Error> {
    super::check_own_size(identifiers.len(), MOST_IN_CIRCUIT)?;
    let digests = digests(session.id.as_bytes(), identifiers);
    matching::check_distinct(&digests)?;
    // Sorted before the first message, so that the time it takes cannot be seen.
    let digests = sorted_digests(digests);
    session.channel.begin_phase("set intersection");
    let own = identifiers.len();
    session.channel.send(&Announcement { size: own as u64, threshold: threshold as u64 })?;
    let theirs: Announcement = session.channel.receive()?;
    let peer_size = super::check_peer_size(theirs.size, MOST_IN_CIRCUIT - own)?;
    if theirs.threshold != threshold as u64 {
        return Err(Error::disagreement(format!(
            "the peer compares with {} where this side has {threshold}; agree on one threshold",
            theirs.threshold
        )));
    }
    // Where the sizes decide, nothing is computed.
    if threshold == 0 || threshold > own.min(peer_size) {
        return Ok(Threshold { reached: threshold == 0, peer_size });
    }
    let sizes = if session.role == Role::P1 { [own, peer_size] } else { [peer_size, own] };
    let circuit = Comparison { sizes, width: width(sizes, sigma), threshold };
    let inputs = circuit.inputs(&digests);
    let outputs = yao::run(session, Role::P1, &circuit.source(), &inputs, Reveal::Both)?;
    let reached = outputs.is_some_and(|outputs| outputs.first() == Some(&true));
    Ok(Threshold { reached, peer_size })
}

#[derive(Serialize, Deserialize)]
struct Announcement {
    size: u64,
    threshold: u64,
}

impl Message for Announcement {
    const TAG: Tag = Tag::new(*b"psit");
    const MOST_BYTES: usize = 16;
}

/// ℓ: over all pairs of either list or both, a collision has a chance below
/// (n1 + n2)²·2^-ℓ ≤ 2^-σ.
fn width(sizes: [usize; 2], sigma: usize) -> usize {
    let all = sizes[0] + sizes[1];
    let bits = (usize::BITS - all.leading_zeros()) as usize;
    (sigma + 2 * bits).min(256)
}

fn digests<S: AsRef<[u8]>>(session: &[u8], identifiers: &[S]) -> Vec<[u8; 32]> {
    let digest = |raw: &S| {
        let mut hash = Sha256::new();
        hash.update(b"diptych psi threshold 1");
        hash.update(session);
        hash.update(raw.as_ref());
        hash.finalize().into()
    };
    identifiers.iter().map(digest).collect()
}

fn sorted_digests(mut digests: Vec<[u8; 32]>) -> Zeroizing<Vec<[u8; 32]>> {
    digests.sort_unstable();
    Zeroizing::new(digests)
}

/// The circuit, which both parties know.
struct Comparison {
    sizes: [usize; 2],
    width: usize,
    threshold: usize,
}

impl Comparison {
    /// The first ℓ bits of every digest as a number, lowest bit first; truncation keeps the order.
    fn inputs(&self, sorted: &[[u8; 32]]) -> Zeroizing<Vec<bool>> {
        let bit = |digest: &[u8; 32], i: usize| digest[i / 8] >> (7 - i % 8) & 1 == 1;
        let mut bits = Zeroizing::new(Vec::with_capacity(sorted.len() * self.width));
        for digest in sorted {
            bits.extend((0..self.width).rev().map(|i| bit(digest, i)));
        }
        bits
    }

    fn source(&self) -> impl Source {
        let [first, second] = self.sizes;
        let ports = [(Role::P1, "a", first * self.width), (Role::P2, "b", second * self.width)];
        Generated::new(&ports, &[("reached", 1)], |g, inputs| {
            let list = |bits: &[Bit]| bits.chunks(self.width).map(<[Bit]>::to_vec).collect();
            let (a, b): (Vec<_>, Vec<_>) = (list(&inputs[0]), list(&inputs[1]));
            let equal_neighbours = g.scope(|g| {
                let merged = merge(g, &a, &b);
                merged.windows(2).map(|pair| equal(g, &pair[0], &pair[1])).collect::<Vec<Bit>>()
            });
            let count = count_ones(g, &equal_neighbours);
            let below = integer::less_than_constant(g, &count, &self.threshold.into());
            vec![vec![!below]]
        })
        .window(WINDOW)
    }
}

/// Two sorted lists as one. Each part is a scope, so that a stream frees its wires.
fn merge<G: Gates>(g: &mut G, a: &[Vec<Bit>], b: &[Vec<Bit>]) -> Vec<Vec<Bit>> {
    if a.is_empty() || b.is_empty() {
        return [a, b].concat();
    }
    if a.len() == 1 && b.len() == 1 {
        return sorted(g, &a[0], &b[0]).into();
    }
    let every_second = |list: &[Vec<Bit>], from: usize| -> Vec<Vec<Bit>> {
        list.iter().skip(from).step_by(2).cloned().collect()
    };
    g.scope(|g| {
        let first = merge(g, &every_second(a, 0), &every_second(b, 0));
        let second = merge(g, &every_second(a, 1), &every_second(b, 1));
        // The smallest stays; then each of the second list against the next of the first.
        let mut all = Vec::with_capacity(first.len() + second.len());
        let mut first = first.into_iter();
        all.extend(first.next());
        let mut second = second.into_iter();
        loop {
            match (second.next(), first.next()) {
                (Some(x), Some(y)) => all.extend(sorted(g, &x, &y)),
                (None, None) => break,
                (left, right) => all.extend(left.into_iter().chain(right)),
            }
        }
        all
    })
}

/// The smaller and the larger: 2ℓ ANDs.
fn sorted<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> [Vec<Bit>; 2] {
    g.scope(|g| {
        let swap = less_than(g, b, a);
        let difference = integer::xor(g, a, b);
        let change = integer::mask(g, swap, &difference);
        [integer::xor(g, a, &change), integer::xor(g, b, &change)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Builder;
    use crate::net::AbortReason;
    use crate::net::Limits;
    use crate::protocol::pair::{Outcome, Setup, assert_same_shape, run_pair};

    type Both = Outcome<Result<Threshold, Error>, Result<Threshold, Error>>;

    fn run(a: &[String], b: &[String], threshold: usize) -> Both {
        run_pair(
            Setup::default().seed(1),
            |session| at_least(session, a, threshold, 40),
            |session| at_least(session, b, threshold, 40),
        )
    }

    fn names(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|i| format!("person {i}")).collect()
    }

    #[test]
    fn both_learn_whether_the_threshold_is_reached() {
        for (a, b) in [
            (names(0..0), names(0..3)),
            (names(0..5), names(5..9)),
            (names(0..1), names(0..1)),
            (names(0..7), names(4..24)),
            (names(0..33), names(3..20)),
            (names(0..16), names(0..16)),
        ] {
            let common = super::super::ideal_intersection(&a, &b).len();
            for threshold in [0, 1, common.max(1) - 1, common, common + 1, 1000] {
                let outcome = run(&a, &b, threshold);
                let reached = common >= threshold;
                assert_eq!(outcome.p1.unwrap(), Threshold { reached, peer_size: b.len() });
                assert_eq!(outcome.p2.unwrap(), Threshold { reached, peer_size: a.len() });
            }
        }
    }

    /// The zero-one principle: a merging network that sorts all pairs of sorted lists of zeros and
    /// ones sorts everything.
    #[test]
    fn the_network_merges_lists_of_all_lengths() {
        for first in 0..10 {
            for second in 0..10 {
                let mut g = Builder::new();
                let a = g.input(Role::P1, "a", first);
                let b = g.input(Role::P2, "b", second);
                let single = |bits: &[Bit]| bits.iter().map(|bit| vec![*bit]).collect::<Vec<_>>();
                let merged = merge(&mut g, &single(&a), &single(&b));
                g.output("merged", &merged.concat());
                let circuit = g.finish();
                for (ones_a, ones_b) in (0..=first).flat_map(|x| (0..=second).map(move |y| (x, y)))
                {
                    let list = |ones, length| (0..length).map(move |i| i >= length - ones);
                    let inputs: Vec<bool> =
                        list(ones_a, first).chain(list(ones_b, second)).collect();
                    let expected: Vec<bool> = list(ones_a + ones_b, first + second).collect();
                    assert_eq!(circuit.evaluate(&inputs).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn the_shape_depends_on_the_sizes_and_not_on_what_is_common() {
        let inputs = [names(0..10), names(5..15), names(20..30)];
        assert_same_shape(&inputs, |a| run(a, &names(0..12), 3));
    }

    #[test]
    fn long_lists_duplicates_and_other_thresholds_are_refused() {
        let outcome = run(&names(0..MOST_IN_CIRCUIT), &names(0..1), 1);
        assert!(outcome.p1.is_err_and(|e| e.says("Peer", "the peer's list has 1 identifiers, the limit is 0")));
        let outcome = run(&names(0..MOST_IN_CIRCUIT + 1), &names(0..1), 1);
        assert!(outcome.p1.is_err_and(|e| e.says("Input", "this side's list has")));
        let twice = vec!["x".to_owned(), "x".to_owned()];
        let outcome = run(&twice, &names(0..2), 1);
        assert!(outcome.p1.is_err_and(|e| e.says("Input", "rows 1 and 2 hold the same")));
        let outcome = run_pair(
            Setup::default().seed(2).limits(Limits::default()),
            |session| at_least(session, &["a"], 1, 40),
            |session| at_least(session, &["a"], 2, 40),
        );
        assert!(outcome.p1.is_err_and(|e| {
            e.says("Disagreement", "the peer compares with 2 where this side has 1")
        }));
    }

    #[test]
    fn a_lying_announcement_ends_the_run() {
        let outcome = run_pair(
            Setup::default().seed(3),
            |session| {
                let outcome = at_least(session, &["a", "b"], 1, 40);
                session.conclude(outcome)
            },
            |session| {
                session.channel.send(&Announcement { size: u64::MAX, threshold: 1 }).unwrap();
                let _: Announcement = session.channel.receive().unwrap();
                session.channel.receive::<Announcement>().err()
            },
        );
        assert!(outcome.p1.is_err_and(|e| e.says("Peer", "the peer's list has")));
        assert!(matches!(outcome.p2, Some(Error::PeerAborted(AbortReason::BadMessage))));
    }
}
