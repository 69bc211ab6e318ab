//! Eight elements of the field of 2^255 − 19 at once: five limbs of 51 bits, one lane per element.
//!
//! Invariant of [`Field`]: every limb is below 2^51 + 2^18, so that the 52-bit
//! multiplier sees all of it. Products and sums are [`Wide`] first (limbs below
//! 2^63) and are carried once, after as many additions as possible.

use std::arch::x86_64::{
    __m512i, __mmask8, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_blend_epi64, _mm512_or_si512,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64, _mm512_test_epi64_mask,
};

/// Eight reduced field elements.
#[derive(Clone, Copy)]
pub(super) struct Field([__m512i; 5]);

/// Eight field elements whose carries are due.
#[derive(Clone, Copy)]
pub(super) struct Wide([__m512i; 5]);

const LIMB_BITS: u32 = 51;
const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// A multiple of the modulus whose limbs exceed any sum of two products: 2^10 · p.
const BIAS: [u64; 5] = {
    let low = ((1 << LIMB_BITS) - 19) << 10;
    let other = LIMB_MASK << 10;
    [low, other, other, other, other]
};

pub(super) const ONE: [u64; 5] = [1, 0, 0, 0, 0];
pub(super) const D: [u64; 5] =
    [0x34dca135978a3, 0x1a8283b156ebd, 0x5e7a26001c029, 0x739c663a03cbb, 0x52036cee2b6ff];
pub(super) const TWICE_D: [u64; 5] =
    [0x69b9426b2f159, 0x35050762add7a, 0x3cf44c0038052, 0x6738cc7407977, 0x2406d9dc56dff];
pub(super) const SQRT_MINUS_ONE: [u64; 5] =
    [0x61b274a0ea0b0, 0x0d5a5fc8f189d, 0x7ef5e9cbd0c60, 0x78595a6804c9e, 0x2b8324804fc1d];
pub(super) const INVSQRT_A_MINUS_D: [u64; 5] =
    [0x0fdaa805d40ea, 0x2eb482e57d339, 0x007610274bc58, 0x6510b613dc8ff, 0x786c8905cfaff];
pub(super) const ONE_MINUS_D_SQUARED: [u64; 5] =
    [0x409c1945fc176, 0x719abc6a1fc4f, 0x1c37f90b20684, 0x06bccca55eedf, 0x029072a8b2b3e];
pub(super) const D_MINUS_ONE_SQUARED: [u64; 5] =
    [0x55aaa44ed4d20, 0x59603c3332635, 0x26d3baf4a7928, 0x120a66e6997a9, 0x5968b37af66c2];
pub(super) const SQRT_AD_MINUS_ONE: [u64; 5] =
    [0x7f6a0497b2e1b, 0x1836f0a97afd2, 0x7d747f6be7638, 0x456079e7e6498, 0x376931bf2b834];

impl Field {
    /// The same constant in every lane.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn splat(limbs: [u64; 5]) -> Self {
        let mut out = [_mm512_setzero_si512(); 5];
        for (vector, limb) in out.iter_mut().zip(limbs) {
            *vector = splat(limb);
        }
        Self(out)
    }

    /// Eight little-endian numbers; the highest bit of each is ignored.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn from_bytes(bytes: &[[u8; 32]; 8]) -> Self {
        let mut limbs = [[0; 8]; 5];
        for (lane, number) in bytes.iter().enumerate() {
            for (index, limb) in limbs.iter_mut().enumerate() {
                limb[lane] = bits(number, index * LIMB_BITS as usize) & LIMB_MASK;
            }
        }
        let mut out = [_mm512_setzero_si512(); 5];
        for (vector, limb) in out.iter_mut().zip(limbs) {
            *vector = load(&limb);
        }
        Self(out)
    }

    /// The canonical encodings of eight elements.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn to_bytes(self) -> [[u8; 32]; 8] {
        let canonical = self.canonical();
        let mut limbs = [[0; 8]; 5];
        for (limb, vector) in limbs.iter_mut().zip(canonical) {
            *limb = store(vector);
        }
        let mut out = [[0; 32]; 8];
        for (lane, bytes) in out.iter_mut().enumerate() {
            let [a, b, c, d, e] = limbs.map(|limb| limb[lane]);
            let words = [a | b << 51, b >> 13 | c << 38, c >> 26 | d << 25, d >> 39 | e << 12];
            for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
                *place = word.to_le_bytes();
            }
        }
        out
    }

    /// Sum, carries due.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn plus(self, other: Self) -> Wide {
        Wide(self.0).plus(Wide(other.0))
    }

    /// Difference, carries due.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn minus(self, other: Self) -> Wide {
        Wide(self.0).minus(Wide(other.0))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn wide(self) -> Wide {
        Wide(self.0)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn negated(self) -> Self {
        Wide([_mm512_setzero_si512(); 5]).minus(Wide(self.0)).carry()
    }

    /// Product, carried.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn times(self, other: Self) -> Self {
        self.product(other).carry()
    }

    /// Square, carried.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn squared(self) -> Self {
        self.square().carry()
    }

    /// Product, carries due: limbs below 2^59.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn product(self, other: Self) -> Wide {
        let zero = _mm512_setzero_si512();
        let (mut low, mut high) = ([zero; 9], [zero; 9]);
        for i in 0..5 {
            for j in 0..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], self.0[i], other.0[j]);
                high[i + j] = _mm512_madd52hi_epu64(high[i + j], self.0[i], other.0[j]);
            }
        }
        fold(low, high)
    }

    /// Square, carries due: limbs below 2^59.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn square(self) -> Wide {
        let zero = _mm512_setzero_si512();
        let (mut low, mut high) = ([zero; 9], [zero; 9]);
        for i in 0..5 {
            for j in i + 1..5 {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], self.0[i], self.0[j]);
                high[i + j] = _mm512_madd52hi_epu64(high[i + j], self.0[i], self.0[j]);
            }
        }
        for column in 1..8 {
            low[column] = _mm512_add_epi64(low[column], low[column]);
            high[column] = _mm512_add_epi64(high[column], high[column]);
        }
        for i in 0..5 {
            low[2 * i] = _mm512_madd52lo_epu64(low[2 * i], self.0[i], self.0[i]);
            high[2 * i] = _mm512_madd52hi_epu64(high[2 * i], self.0[i], self.0[i]);
        }
        fold(low, high)
    }

    /// The inverse; zero for zero.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn inverted(self) -> Self {
        // p − 2 = 2^255 − 21 = (2^250 − 1)·2^5 + 11.
        let (long, eleven) = self.power_ladder();
        long.squared_times(5).times(eleven)
    }

    /// Whether u/v is a square, and the non-negative root of u/v, or of i·u/v
    /// if not (RFC 9496, section 4.2).
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sqrt_ratio(u: Self, v: Self) -> (__mmask8, Self) {
        let i = Self::splat(SQRT_MINUS_ONE);
        let v3 = v.squared().times(v);
        let v7 = v3.squared().times(v);
        let base = u.times(v7);
        // (p − 5)/8 = 2^252 − 3 = (2^250 − 1)·2^2 + 1.
        let power = base.power_ladder().0.squared_times(2).times(base);
        let root = u.times(v3).times(power);
        let check = v.times(root.squared());
        let minus_u = u.negated();
        let correct = check.equal(u);
        let flipped = check.equal(minus_u);
        let flipped_i = check.equal(minus_u.times(i));
        let root = Self::select(flipped | flipped_i, root.times(i), root);
        (correct | flipped, root.absolute())
    }

    /// Lanes in which the two are the same element.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn equal(self, other: Self) -> __mmask8 {
        self.minus(other).carry().is_zero()
    }

    /// Lanes that hold zero.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn is_zero(self) -> __mmask8 {
        let [a, b, c, d, e] = self.canonical();
        let all = _mm512_or_si512(_mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d)), e);
        _mm512_cmpeq_epi64_mask(all, _mm512_setzero_si512())
    }

    /// Lanes whose canonical encoding is odd: the 'negative' ones.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn is_negative(self) -> __mmask8 {
        _mm512_test_epi64_mask(self.canonical()[0], splat(1))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn absolute(self) -> Self {
        Self::select(self.is_negative(), self.negated(), self)
    }

    /// `yes` in the lanes of the mask, `no` in the others.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn select(mask: __mmask8, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for (vector, yes) in out.iter_mut().zip(yes.0) {
            *vector = _mm512_mask_blend_epi64(mask, *vector, yes);
        }
        Self(out)
    }

    /// x^(2^250 − 1) and x^11: the beginning of both exponentiations.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn power_ladder(self) -> (Self, Self) {
        let two = self.squared();
        let nine = two.squared_times(2).times(self);
        let eleven = nine.times(two);
        let ones_5 = eleven.squared().times(nine);
        let ones_10 = ones_5.squared_times(5).times(ones_5);
        let ones_20 = ones_10.squared_times(10).times(ones_10);
        let ones_40 = ones_20.squared_times(20).times(ones_20);
        let ones_50 = ones_40.squared_times(10).times(ones_10);
        let ones_100 = ones_50.squared_times(50).times(ones_50);
        let ones_200 = ones_100.squared_times(100).times(ones_100);
        (ones_200.squared_times(50).times(ones_50), eleven)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn squared_times(self, times: usize) -> Self {
        let mut out = self;
        for _ in 0..times {
            out = out.squared();
        }
        out
    }

    /// The limbs of the one representative below the modulus.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn canonical(self) -> [__m512i; 5] {
        // Below 2p after one more carry; the quotient by p is then the carry out of x + 19.
        let Self(mut limbs) = Wide(self.0).carry();
        let mut quotient = splat(19);
        for limb in limbs {
            quotient = shift_down(_mm512_add_epi64(limb, quotient));
        }
        let mut carry = times_19(quotient);
        for limb in &mut limbs {
            let sum = _mm512_add_epi64(*limb, carry);
            *limb = _mm512_and_si512(sum, splat(LIMB_MASK));
            carry = shift_down(sum);
        }
        limbs
    }
}

impl Wide {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn plus(self, other: Self) -> Self {
        let mut out = self.0;
        for (vector, other) in out.iter_mut().zip(other.0) {
            *vector = _mm512_add_epi64(*vector, other);
        }
        Self(out)
    }

    /// The subtrahend may be a sum of two products at most.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn minus(self, other: Self) -> Self {
        let mut out = self.0;
        for ((vector, other), bias) in out.iter_mut().zip(other.0).zip(BIAS) {
            *vector = _mm512_add_epi64(*vector, _mm512_sub_epi64(splat(bias), other));
        }
        Self(out)
    }

    /// Carries every limb into the next, all at once, and the last into the first times 19.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    pub(super) fn carry(self) -> Field {
        let mask = splat(LIMB_MASK);
        let mut out = [_mm512_setzero_si512(); 5];
        for (index, vector) in out.iter_mut().enumerate() {
            let low = _mm512_and_si512(self.0[index], mask);
            let carried = shift_down(self.0[(index + 4) % 5]);
            *vector = if index == 0 {
                _mm512_madd52lo_epu64(low, carried, splat(19))
            } else {
                _mm512_add_epi64(low, carried)
            };
        }
        Field(out)
    }
}

/// Columns of 51 bits from the multiplier's 52-bit halves, those beyond the
/// fifth folded back: 2^255 = 19.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn fold(low: [__m512i; 9], high: [__m512i; 9]) -> Wide {
    let zero = _mm512_setzero_si512();
    let mut out = [zero; 5];
    for (column, vector) in out.iter_mut().enumerate() {
        // The upper half of a product is one bit above the next column.
        let above = _mm512_add_epi64(high[column + 4], high[column + 4]);
        let above = if column < 4 { _mm512_add_epi64(above, low[column + 5]) } else { above };
        let mut sum = _mm512_add_epi64(low[column], times_19(above));
        if column > 0 {
            let twice = _mm512_add_epi64(high[column - 1], high[column - 1]);
            sum = _mm512_add_epi64(sum, twice);
        }
        *vector = sum;
    }
    Wide(out)
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn times_19(value: __m512i) -> __m512i {
    let nine = _mm512_add_epi64(_mm512_slli_epi64::<3>(value), value);
    _mm512_add_epi64(_mm512_add_epi64(nine, nine), value)
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn shift_down(value: __m512i) -> __m512i {
    _mm512_srli_epi64::<LIMB_BITS>(value)
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn splat(value: u64) -> __m512i {
    _mm512_set1_epi64(value.cast_signed())
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn load(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: any 64 bytes are a vector of eight integers.
    unsafe { std::mem::transmute::<[u64; 8], __m512i>(*lanes) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn store(vector: __m512i) -> [u64; 8] {
    // SAFETY: a vector of eight integers is 64 bytes without padding.
    unsafe { std::mem::transmute::<__m512i, [u64; 8]>(vector) }
}

/// The 64 bits of a little-endian number that begin at `position`.
fn bits(bytes: &[u8; 32], position: usize) -> u64 {
    let mut window = [0; 9];
    let first = position / 8;
    let available = (32 - first).min(9);
    window[..available].copy_from_slice(&bytes[first..first + available]);
    let [low @ .., last] = window;
    let low = u64::from_le_bytes(low);
    let shift = position % 8;
    if shift == 0 { low } else { low >> shift | u64::from(last) << (64 - shift) }
}
