//! Sums of ciphertexts by group, for ciphertexts that arrive in parts.

use rayon::prelude::*;

use super::{Ciphertext, Progress, PublicKey};
use crate::Error;
use crate::math::Residue;

/// The most memory for the copies that let cores add without waiting for each other.
const LANES_BYTES: usize = 64 << 20;

/// One running sum per group. Who is in which group is secret and the peer can time this: the work
/// depends on the numbers of items and groups alone, one multiplication per item as it comes and,
/// at the end, one per group and core.
pub struct GroupSums {
    key: PublicKey,
    groups: usize,
    /// Sums of all groups, once per core.
    lanes: Vec<Vec<Residue>>,
}

impl GroupSums {
    /// All sums 0.
    pub fn new(key: &PublicKey, groups: usize) -> Self {
        let lane_bytes = groups.saturating_mul(key.ciphertext_bytes()).max(1);
        let count = (LANES_BYTES / lane_bytes).clamp(1, rayon::current_num_threads());
        let lanes = vec![vec![key.square().one(); groups]; count];
        Self { key: key.clone(), groups, lanes }
    }

    /// Adds item i to group `group_of[i]`, on all cores.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if there are not as many group numbers as items, or one is too large.
    pub fn add(
        &mut self,
        items: &[Ciphertext],
        group_of: &[usize],
        progress: Progress,
    ) -> Result<(), Error> {
        if items.len() != group_of.len() {
            return Err(Error::Mismatch(items.len(), group_of.len()));
        }
        if let Some(bad) = group_of.iter().find(|group| **group >= self.groups) {
            return Err(Error::Mismatch(*bad, self.groups));
        }
        let square = self.key.square();
        let part = items.len().div_ceil(self.lanes.len()).max(1);
        let parts = items.par_chunks(part).zip(group_of.par_chunks(part));
        parts.zip(&mut self.lanes).for_each(|((items, groups), sums)| {
            let mut scratch = square.scratch();
            for (items, groups) in items.chunks(64).zip(groups.chunks(64)) {
                for (item, group) in items.iter().zip(groups) {
                    square.multiply_by(&mut sums[*group], &item.0, &mut scratch);
                }
                progress(items.len());
            }
        });
        Ok(())
    }

    /// The sums. The sum of an empty group is 0.
    pub fn finish(self) -> Vec<Ciphertext> {
        let Self { key, groups, lanes } = self;
        let add = |group: usize| {
            let factors = lanes.iter().map(|lane| &lane[group]);
            let one = key.square().one();
            Ciphertext(factors.fold(one, |sum, factor| key.square().product(&sum, factor)))
        };
        (0..groups).into_par_iter().map(add).collect()
    }
}

impl std::fmt::Debug for GroupSums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GroupSums({} groups)", self.groups)
    }
}
