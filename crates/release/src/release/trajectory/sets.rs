//! Many sets of pairs, stored compactly.

use std::cmp::Ordering;

/// Sets of pairs by length, those of one length behind each other and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    /// Of length 1, 2 and so on.
    by_length: Vec<Vec<u32>>,
}

impl Sets {
    /// How many there are.
    pub fn len(&self) -> usize {
        (1..).zip(&self.by_length).map(|(length, sets)| sets.len() / length).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_length.iter().all(Vec::is_empty)
    }

    /// Whether there are longer ones.
    pub(super) fn has_longer_than(&self, length: usize) -> bool {
        self.by_length.iter().skip(length).any(|sets| !sets.is_empty())
    }

    /// How many there are of each length, from 1.
    pub fn lengths(&self) -> Vec<usize> {
        (1..).zip(&self.by_length).map(|(length, sets)| sets.len() / length).collect()
    }

    /// All of them, the shortest first.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (1..).zip(&self.by_length).flat_map(|(length, sets)| sets.chunks_exact(length))
    }

    /// Sets of one length behind those of it that there are: they must come in order.
    pub(super) fn extend(&mut self, length: usize, sets: &[u32]) {
        if self.by_length.len() < length {
            self.by_length.resize(length, Vec::new());
        }
        if let Some(known) = length.checked_sub(1).and_then(|place| self.by_length.get_mut(place)) {
            known.extend_from_slice(sets);
        }
    }

    /// Whether a set is there.
    pub(super) fn has(&self, set: &[u32]) -> bool {
        self.place(set).is_some()
    }

    /// The place of a set among those of its length, by halving.
    fn place(&self, set: &[u32]) -> Option<usize> {
        let sets = self.by_length.get(set.len().checked_sub(1)?)?;
        let (mut low, mut high) = (0, sets.len() / set.len());
        while low < high {
            let middle = low.midpoint(high);
            match sets[middle * set.len()..][..set.len()].cmp(set) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Those that are no part of one with one pair more.
    pub(super) fn maximal(&self) -> Self {
        let mut kept: Vec<Vec<bool>> =
            self.lengths().into_iter().map(|sets| vec![true; sets]).collect();
        let mut part = Vec::new();
        for set in self.iter().filter(|set| set.len() > 1) {
            for left_out in 0..set.len() {
                part.clear();
                part.extend((0..set.len()).filter(|p| *p != left_out).map(|p| set[p]));
                if let Some(place) = self.place(&part) {
                    kept[part.len() - 1][place] = false;
                }
            }
        }
        let mut maximal = Self::default();
        for (set, _) in self.iter().zip(kept.into_iter().flatten()).filter(|(_, kept)| *kept) {
            maximal.extend(set.len(), set);
        }
        maximal
    }
}

#[cfg(test)]
mod tests {
    use super::Sets;

    #[test]
    fn sets_are_found_again_and_others_are_not() {
        let mut sets = Sets::default();
        assert!(sets.is_empty() && !sets.has(&[]) && !sets.has(&[1]));
        sets.extend(2, &[1, 2, 1, 5, 3, 4]);
        sets.extend(1, &[7]);
        sets.extend(2, &[4, 6]);
        assert_eq!((sets.len(), sets.lengths()), (5, vec![1, 4]));
        let all: Vec<&[u32]> = sets.iter().collect();
        assert_eq!(all, [&[7][..], &[1, 2], &[1, 5], &[3, 4], &[4, 6]]);
        assert!(all.iter().all(|set| sets.has(set)));
        let others = [&[][..], &[1], &[8], &[1, 3], &[0, 9], &[5, 6], &[1, 2, 3]];
        assert!(others.iter().all(|set| !sets.has(set)));
        sets.extend(3, &[1, 2, 5, 3, 6, 7]);
        let maximal = sets.maximal();
        let left: Vec<&[u32]> = maximal.iter().collect();
        assert_eq!(left, [&[7][..], &[3, 4], &[4, 6], &[1, 2, 5], &[3, 6, 7]]);
        assert!(sets.has_longer_than(2) && !sets.has_longer_than(3));
    }
}
