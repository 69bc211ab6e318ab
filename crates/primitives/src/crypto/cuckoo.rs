//! Cuckoo hashing: each identifier has three candidate bins and is placed in one of them, alone.
//!
//! For n identifiers there are ⌈27·max(n, 8,192)/20⌉ bins. The three bins of an identifier are
//! distinct and follow from a hash of it ([`Choices`]); [`place`] assigns each identifier one of
//! its three, so that no two share a bin, whenever such a placement exists.
//!
//! *Rule.* With b bins and the first three words w0, w1, w2 of the hash (64 bits, little-endian): x =
//! ⌊w0·b / 2⁶⁴⌋, y = ⌊w1·(b − 1) / 2⁶⁴⌋, z = ⌊w2·(b − 2) / 2⁶⁴⌋; y grows by one if it is x or more; z
//! grows by one if it is min(x, y) or more, and then by one if it is max(x, y) or more. So every
//! triple of distinct bins is as likely as any other (up to b/2⁶⁴).
//!
//! *Placement* is by augmenting paths: an identifier whose bins are taken displaces others along a
//! shortest path to a free bin, found breadth first. A search visits every bin at most once. If it
//! finds no free bin, no placement exists, so the probability of failure depends on the hashes
//! alone; for a walk with a limit on its steps it would not.
//!
//! *When it fails*: with probability below 2⁻⁶⁵ for every n. This is proven here, and
//! `vectors/generate/cuckoo_failure.py` computes it. There is no placement if and only if some s
//! identifiers have fewer than s bins together (Hall). Take a smallest such set: it has exactly s − 1
//! bins (without one of them it still has a placement), and each of these is a bin of at least two of
//! them (else whoever alone has it could be left out). So failures are at most
//! Σ_s C(n, s)·C(b, s − 1)·A_s / C(b, 3)^s, A_s the number of sequences of s triples of s − 1 bins that
//! have each bin at least twice. s = 4 is most of it, at n = 8,192 the sum is 2⁻⁶⁵·⁷. For more
//! identifiers each term with few s gets smaller, as n^-(s + 1); those with s above n/5 are
//! below e^(−0.04·n) together. Fewer identifiers in as many bins fail less often.
//!
//! *Time.* Which bins are looked at follows from hashes of identifiers under a seed of this run: the
//! peer knows the seed, and could compare times with those of identifiers that it guesses.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::cuckoo::place;
//!
//! // Three identifiers that all want bins 0 to 2, and one that could go elsewhere.
//! let choices = [[0, 1, 2], [2, 1, 0], [1, 2, 3], [0, 1, 2]];
//! let placed = place(&choices, 4)?;
//! assert_eq!(placed[3], Some(2));
//! # Ok::<(), diptych_primitives::Error>(())
//! ```

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::Error;

/// The number of bins is never smaller than for this many identifiers: fewer bins would fail more
/// often.
pub const LEAST: usize = 8192;
/// Identifiers that one thread works on at a time.
const PART: usize = 1 << 10;
/// Marks an empty bin, or the absence of a bin.
const NONE: u32 = u32::MAX;

/// The bins of one identifier, distinct.
pub type Three = [u32; 3];

/// The number of bins for so many identifiers.
pub const fn bins_for(identifiers: usize) -> usize {
    bins_for_at_least(identifiers, LEAST)
}

/// The number of bins without the minimum, where a higher failure probability is acceptable.
pub const fn bins_for_at_least(identifiers: usize, least: usize) -> usize {
    let identifiers = if identifiers < least { least } else { identifiers };
    (27 * identifiers).div_ceil(20)
}

/// Derives the three bins of an identifier.
pub struct Choices {
    start: Sha256,
    bins: u32,
}

impl Choices {
    /// For so many bins, with a hash that has already absorbed purpose and session.
    ///
    /// # Panics
    /// If there are fewer than three bins, or 2³² or more.
    pub fn new(start: Sha256, bins: usize) -> Self {
        assert!((3..=NONE as usize).contains(&bins), "three bins at least, and fewer than 2^32");
        Self { start, bins: bins as u32 }
    }

    /// The bins of an identifier, from its digest.
    pub fn of(&self, digest: &[u8; 32]) -> Three {
        let hash: [u8; 32] = self.start.clone().chain_update(digest).finalize().into();
        let (words, _) = hash.as_chunks();
        let below = |word: usize, bound: u32| {
            let word = u128::from(u64::from_le_bytes(words[word]));
            ((word * u128::from(bound)) >> 64) as u32
        };
        let x = below(0, self.bins);
        let y = below(1, self.bins - 1);
        let y = y + u32::from(y >= x);
        let z = below(2, self.bins - 2);
        let z = z + u32::from(z >= x.min(y));
        [x, y, z + u32::from(z >= x.max(y))]
    }

    /// The bins of all.
    pub fn of_all(&self, digests: &[[u8; 32]]) -> Zeroizing<Vec<Three>> {
        let all = digests.par_iter().with_min_len(PART).map(|digest| self.of(digest));
        Zeroizing::new(all.collect())
    }
}

/// Which identifier is in each bin; each is in one of its three.
///
/// # Errors
/// [`Error::NoPlacement`] if there is no such placement.
///
/// # Panics
/// If a bin number is out of range, or there are 2³² − 1 bins or more.
pub fn place(choices: &[Three], bins: usize) -> Result<Zeroizing<Vec<Option<u32>>>, Error> {
    assert!(bins < NONE as usize, "bins have numbers of 32 bits");
    let mut search = Search {
        choices,
        occupants: Zeroizing::new(vec![NONE; bins]),
        seen_by: Zeroizing::new(vec![NONE; bins]),
        from: Zeroizing::new(vec![NONE; bins]),
        queue: Zeroizing::new(Vec::with_capacity(bins)),
    };
    for who in 0..choices.len() as u32 {
        search.insert(who)?;
    }
    let placed = search.occupants.iter().map(|who| (*who != NONE).then_some(*who));
    Ok(Zeroizing::new(placed.collect()))
}

struct Search<'a> {
    choices: &'a [Three],
    occupants: Zeroizing<Vec<u32>>,
    /// The identifier for which a bin was last visited.
    seen_by: Zeroizing<Vec<u32>>,
    /// The bin from which it was reached.
    from: Zeroizing<Vec<u32>>,
    /// Bins that were reached, in this order.
    queue: Zeroizing<Vec<u32>>,
}

impl Search<'_> {
    fn insert(&mut self, who: u32) -> Result<(), Error> {
        self.queue.clear();
        let choices = self.choices;
        let mut free = self.reach(who, NONE, &choices[who as usize]);
        let mut next = 0;
        while free.is_none() {
            let bin = *self.queue.get(next).ok_or(Error::NoPlacement)?;
            next += 1;
            let occupant = self.occupants[bin as usize];
            free = self.reach(who, bin, &choices[occupant as usize]);
        }
        // Every identifier on the path moves to the next bin.
        let mut bin = free.ok_or(Error::NoPlacement)?;
        while self.from[bin as usize] != NONE {
            let before = self.from[bin as usize];
            self.occupants[bin as usize] = self.occupants[before as usize];
            bin = before;
        }
        self.occupants[bin as usize] = who;
        Ok(())
    }

    /// Visits bins not yet visited for `who`; returns the first that is free.
    fn reach(&mut self, who: u32, from: u32, bins: &Three) -> Option<u32> {
        for bin in bins {
            let place = *bin as usize;
            if self.seen_by[place] == who {
                continue;
            }
            (self.seen_by[place], self.from[place]) = (who, from);
            if self.occupants[place] == NONE {
                return Some(*bin);
            }
            self.queue.push(*bin);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::math::Randomness;

    fn digests(seed: u64, count: usize) -> Vec<[u8; 32]> {
        let mut rng = Randomness::seeded(seed);
        (0..count).map(|_| rng.array()).collect()
    }

    fn choices(seed: u64, count: usize, bins: usize) -> Zeroizing<Vec<Three>> {
        Choices::new(Sha256::new(), bins).of_all(&digests(seed, count))
    }

    fn assert_placed(choices: &[Three], placed: &[Option<u32>]) {
        let mut seen = vec![false; choices.len()];
        for (bin, who) in placed.iter().enumerate() {
            let Some(who) = *who else { continue };
            assert!(choices[who as usize].contains(&(bin as u32)), "in one of its three");
            assert!(!std::mem::replace(&mut seen[who as usize], true), "{who} stands twice");
        }
        assert!(seen.iter().all(|seen| *seen), "everybody stands somewhere");
    }

    #[test]
    fn every_triple_of_distinct_bins_is_as_likely() {
        let mut seen: HashMap<Three, usize> = HashMap::new();
        for three in choices(1, 12_000, 5).iter() {
            assert!(three[0] != three[1] && three[1] != three[2] && three[0] != three[2]);
            assert!(three.iter().all(|bin| *bin < 5));
            *seen.entry(*three).or_default() += 1;
        }
        // 60 triples, 200 each: six deviations.
        assert_eq!(seen.len(), 60);
        assert!(seen.values().all(|count| count.abs_diff(200) < 85), "{seen:?}");
    }

    #[test]
    fn numbers_of_bins_are_those_of_the_page() {
        for (identifiers, bins) in [(0, 11_060), (8192, 11_060), (8193, 11_061), (20_000, 27_000)] {
            assert_eq!(bins_for(identifiers), bins);
        }
    }

    #[test]
    fn as_many_as_bins_are_made_for_go_in() {
        for count in [0, 1, 8192, 20_000] {
            let bins = bins_for(count);
            let choices = choices(2, count, bins);
            assert_placed(&choices, &place(&choices, bins).unwrap());
        }
    }

    /// Whether there is a placement, by exhaustive search.
    fn has_placement(choices: &[Three], taken: u32) -> bool {
        let Some((first, rest)) = choices.split_first() else { return true };
        first.iter().any(|bin| taken >> bin & 1 == 0 && has_placement(rest, taken | 1 << bin))
    }

    #[test]
    fn a_placement_is_found_whenever_there_is_one() {
        let mut full = 0;
        for seed in 0..400 {
            let choices = choices(seed, 8, 8);
            match place(&choices, 8) {
                Ok(placed) => assert_placed(&choices, &placed),
                Err(_) => {
                    assert!(!has_placement(&choices, 0));
                    full += 1;
                }
            }
        }
        assert!((10..200).contains(&full), "{full}: both happen");
    }

    /// The failures that `vectors/generate/cuckoo_failure.py` bounds, for bins so few that they happen.
    #[test]
    fn failures_stay_below_their_bound_and_near_it() {
        const RUNS: u64 = 4000;
        const BOUND: f64 = 0.0722;
        let failed = (0..RUNS).filter(|seed| place(&choices(1000 + seed, 9, 10), 10).is_err());
        let share = failed.count() as f64 / RUNS as f64;
        assert!(share < BOUND && share > BOUND / 4.0, "{share} of at most {BOUND}");
    }
}
