//! One party's share of a vector of bits.

use std::fmt;
use std::ops::Range;

use zeroize::Zeroizing;

use crate::math::wiped;

/// One party's share of a vector of bits: 64 per word, the first in the lowest place; the last word
/// is padded with 0. Wiped when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bits {
    length: usize,
    words: Zeroizing<Vec<u64>>,
}

impl Bits {
    /// The same bit so many times.
    pub fn repeat(bit: bool, length: usize) -> Self {
        let words = vec![u64::from(bit).wrapping_neg(); length.div_ceil(64)];
        Self::from_words(words, length)
    }

    /// Vectors of the bits of some numbers: vector j has bit `places.start` + j of every number.
    pub fn slices(numbers: &[u128], places: Range<usize>) -> Vec<Self> {
        let room = |_| Zeroizing::new(Vec::with_capacity(numbers.len().div_ceil(64)));
        let mut words: Vec<Zeroizing<Vec<u64>>> = places.clone().map(room).collect();
        for part in numbers.chunks(64) {
            for (words, place) in words.iter_mut().zip(places.clone()) {
                let bit = |number: &u128| (number >> place) as u64 & 1;
                let join = |word, (at, number)| word | bit(number) << at;
                words.push(part.iter().enumerate().fold(0, join));
            }
        }
        let length = numbers.len();
        words.into_iter().map(|words| Self { length, words }).collect()
    }

    /// From words that contain at least this many bits.
    pub(super) fn from_words(words: Vec<u64>, length: usize) -> Self {
        let mut bits = Self { length, words: Zeroizing::new(words) };
        bits.words.truncate(length.div_ceil(64));
        if let Some(last) = bits.words.last_mut().filter(|_| !length.is_multiple_of(64)) {
            *last &= (1 << (length % 64)) - 1;
        }
        bits
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Bit number `place`.
    ///
    /// # Panics
    /// If there is no such bit.
    pub fn get(&self, place: usize) -> bool {
        assert!(place < self.length, "a bit of the vector");
        self.words[place / 64] >> (place % 64) & 1 == 1
    }

    /// This share as bits.
    pub fn to_bools(&self) -> Vec<bool> {
        (0..self.length).map(|place| self.get(place)).collect()
    }

    /// The XOR, place by place: shares of the XOR.
    ///
    /// # Panics
    /// If they differ in length.
    #[must_use]
    pub fn xor(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a ^ b)
    }

    /// The conjunction of two vectors that this party knows, or of one shared and one public
    /// vector.
    #[must_use]
    pub(super) fn and_with(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    fn combine(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.length, other.length, "vectors of the same length");
        let words = self.words.iter().zip(other.words.iter());
        let words = words.map(|(a, b)| combine(*a, *b)).collect();
        Self { length: self.length, words: Zeroizing::new(words) }
    }

    /// Appends another vector.
    pub fn append(&mut self, other: &Self) {
        let (length, shift) = (self.length + other.length, self.length % 64);
        let more = other.words.len() + 1;
        wiped::make_room(&mut self.words, more);
        for word in other.words.iter() {
            if shift > 0
                && let Some(last) = self.words.last_mut()
            {
                *last |= word << shift;
                self.words.push(word >> (64 - shift));
            } else {
                self.words.push(*word);
            }
        }
        self.words.truncate(length.div_ceil(64));
        self.length = length;
    }

    /// All vectors one after the other.
    pub fn concat(vectors: &[Self]) -> Self {
        let length: usize = vectors.iter().map(Self::len).sum();
        let mut all = Self::default();
        wiped::make_room(&mut all.words, length.div_ceil(64) + 1);
        vectors.iter().for_each(|bits| all.append(bits));
        all
    }

    /// The bits from `first` on, `length` of them.
    fn part(&self, first: usize, length: usize) -> Self {
        let shift = first % 64;
        let word = |number: usize| self.words.get(number).copied().unwrap_or(0);
        let words = (first / 64..first / 64 + length.div_ceil(64)).map(|number| {
            let high = if shift == 0 { 0 } else { word(number + 1) << (64 - shift) };
            word(number) >> shift | high
        });
        Self::from_words(words.collect(), length)
    }

    /// Vectors of `length` bits, and the remainder.
    pub fn parts(&self, length: usize) -> impl Iterator<Item = Self> + '_ {
        let firsts = (0..self.length).step_by(length.max(1));
        firsts.map(move |first| self.part(first, length.min(self.length - first)))
    }

    /// The first `length` bits, and the others.
    pub(in crate::protocol) fn split(&self, length: usize) -> (Self, Self) {
        (self.part(0, length), self.part(length, self.length - length))
    }

    /// A vector of `length` bits in which every bit of this one is repeated 64 times.
    ///
    /// # Panics
    /// If there are too few bits for that.
    pub(in crate::protocol) fn each_64_times(&self, length: usize) -> Self {
        let word = |place| u64::from(self.get(place)).wrapping_neg();
        Self::from_words((0..length.div_ceil(64)).map(word).collect(), length)
    }

    /// Eight bits to a byte, the first in the lowest place.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.length.div_ceil(8));
        bytes
    }

    /// Reads what [`Bits::to_bytes`] writes; bits beyond `length` are ignored.
    pub(super) fn from_bytes(bytes: &[u8], length: usize) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        };
        Self::from_words(bytes.chunks(8).map(word).collect(), length)
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let (mut length, mut words) = (0, Zeroizing::new(Vec::new()));
        for bit in bits {
            if length % 64 == 0 {
                wiped::make_room(&mut words, 1);
                words.push(0);
            }
            if let Some(last) = words.last_mut() {
                *last |= u64::from(bit) << (length % 64);
            }
            length += 1;
        }
        Self { length, words }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bits({} hidden)", self.length)
    }
}
