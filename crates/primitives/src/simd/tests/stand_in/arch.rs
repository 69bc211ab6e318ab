//! The part of `std::arch::x86_64` that the vector code uses, in plain Rust, as Intel's manual
//! defines it.
#![allow(non_camel_case_types, reason = "the names that the code under test uses")]

/// A register of `N` words of 64 bits, the lowest first.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Register<const N: usize>([u64; N]);

pub type __m128i = Register<2>;
pub type __m256i = Register<4>;
pub type __m512i = Register<8>;
pub type __mmask8 = u8;

fn words<const N: usize>(word: impl Fn(usize) -> u64) -> Register<N> {
    Register(std::array::from_fn(word))
}

/// Block by block.
fn blocks<const N: usize>(
    a: Register<N>,
    b: Register<N>,
    f: impl Fn(u128, u128) -> u128,
) -> Register<N> {
    let block = |x: Register<N>, i: usize| u128::from(x.0[i]) | u128::from(x.0[i + 1]) << 64;
    words(|i| (f(block(a, i & !1), block(b, i & !1)) >> (64 * (i & 1))) as u64)
}

fn mask(bit: impl Fn(usize) -> bool) -> __mmask8 {
    (0..8).map(|i| u8::from(bit(i)) << i).sum()
}

/// Functions of two registers, for registers of any length, word by word or block by block.
macro_rules! pairs {
    ($($($name:ident)+ ($i:ident, $a:ident, $b:ident) = $word:expr;)*) => { $($(
        pub fn $name<const N: usize>($a: Register<N>, $b: Register<N>) -> Register<N> {
            words(|$i| $word)
        }
    )+)* };
}
pairs! {
    _mm_xor_si128 _mm256_xor_si256 _mm512_xor_si512 (i, a, b) = a.0[i] ^ b.0[i];
    _mm_and_si128 _mm256_and_si256 _mm512_and_si512 (i, a, b) = a.0[i] & b.0[i];
    _mm_add_epi64 _mm256_add_epi64 _mm512_add_epi64 (i, a, b) = a.0[i].wrapping_add(b.0[i]);
    _mm512_or_si512 (i, a, b) = a.0[i] | b.0[i];
    _mm512_sub_epi64 (i, a, b) = a.0[i].wrapping_sub(b.0[i]);
    _mm_aesenc_si128 _mm256_aesenc_epi128 _mm512_aesenc_epi128 (i, a, b) = blocks(a, b, aes::round).0[i];
    _mm_aesenclast_si128 _mm256_aesenclast_epi128 _mm512_aesenclast_epi128 (i, a, b) = blocks(a, b, aes::last).0[i];
    _mm_shuffle_epi8 _mm256_shuffle_epi8 _mm512_shuffle_epi8 (i, a, b) = blocks(a, b, shuffle_bytes).0[i];
}

fn shuffle_bytes(block: u128, places: u128) -> u128 {
    let (block, places) = (block.to_le_bytes(), places.to_le_bytes());
    u128::from_le_bytes(places.map(|at| if at < 128 { block[usize::from(at & 15)] } else { 0 }))
}

/// Functions of one register of a given length and a constant.
macro_rules! singles {
    ($($name:ident<$constant:ident: $type:ty>($a:ident: $register:ty) = $result:expr;)*) => { $(
        pub fn $name<const $constant: $type>($a: $register) -> $register {
            $result
        }
    )* };
}
singles! {
    _mm512_srli_epi64<S: u32>(a: __m512i) = words(|i| a.0[i] >> S);
    _mm512_slli_epi64<S: u32>(a: __m512i) = words(|i| a.0[i] << S);
    _mm512_srai_epi64<S: u32>(a: __m512i) = words(|i| (a.0[i].cast_signed() >> S).cast_unsigned());
    _mm_slli_si128<S: i32>(a: __m128i) = blocks(a, a, |x, _| x << (8 * S));
    _mm_srli_si128<S: i32>(a: __m128i) = blocks(a, a, |x, _| x >> (8 * S));
    _mm256_slli_si256<S: i32>(a: __m256i) = blocks(a, a, |x, _| x << (8 * S));
    _mm512_bslli_epi128<S: i32>(a: __m512i) = blocks(a, a, |x, _| x << (8 * S));
    _mm_shuffle_epi32<S: i32>(a: __m128i) = quarters(a, |x, i| x[S as usize >> (2 * i) & 3]);
    _mm256_shuffle_epi32<S: i32>(a: __m256i) = quarters(a, |x, i| x[S as usize >> (2 * i) & 3]);
    _mm512_shuffle_epi32<S: i32>(a: __m512i) = quarters(a, |x, i| x[S as usize >> (2 * i) & 3]);
    _mm_slli_epi32<S: i32>(a: __m128i) = quarters(a, |x, i| x[i] << S);
    _mm256_slli_epi32<S: i32>(a: __m256i) = quarters(a, |x, i| x[i] << S);
    _mm_srai_epi32<S: i32>(a: __m128i) = quarters(a, |x, i| (x[i].cast_signed() >> S).cast_unsigned());
    _mm256_srai_epi32<S: i32>(a: __m256i) = quarters(a, |x, i| (x[i].cast_signed() >> S).cast_unsigned());
}

/// Number i of each block from all four numbers of 32 bits in it.
fn quarters<const N: usize>(
    a: Register<N>,
    number: impl Fn([u32; 4], usize) -> u32,
) -> Register<N> {
    blocks(a, a, |x, _| {
        let parts = [0, 1, 2, 3].map(|i| (x >> (32 * i)) as u32);
        (0..4).map(|i| u128::from(number(parts, i)) << (32 * i)).sum()
    })
}

/// Makers of registers.
macro_rules! makers {
    ($($name:ident($($argument:ident: $type:ty),*) -> $register:ty = $words:expr;)*) => { $(
        pub fn $name($($argument: $type),*) -> $register {
            Register($words)
        }
    )* };
}
makers! {
    _mm_setzero_si128() -> __m128i = [0; 2];
    _mm256_setzero_si256() -> __m256i = [0; 4];
    _mm512_setzero_si512() -> __m512i = [0; 8];
    _mm_set_epi64x(high: i64, low: i64) -> __m128i = [low, high].map(i64::cast_unsigned);
    _mm256_setr_epi64x(a: i64, b: i64, c: i64, d: i64) -> __m256i = [a, b, c, d].map(i64::cast_unsigned);
    _mm512_set1_epi64(a: i64) -> __m512i = [a.cast_unsigned(); 8];
    _mm_set1_epi32(a: i32) -> __m128i = [u64::from(a.cast_unsigned()) * 0x1_0000_0001; 2];
    _mm256_set1_epi32(a: i32) -> __m256i = [u64::from(a.cast_unsigned()) * 0x1_0000_0001; 4];
    _mm512_set1_epi32(a: i32) -> __m512i = [u64::from(a.cast_unsigned()) * 0x1_0000_0001; 8];
    _mm256_zextsi128_si256(a: __m128i) -> __m256i = [a.0[0], a.0[1], 0, 0];
    _mm256_castsi256_si128(a: __m256i) -> __m128i = [a.0[0], a.0[1]];
    _mm256_broadcastsi128_si256(a: __m128i) -> __m256i = std::array::from_fn(|i| a.0[i % 2]);
    _mm512_broadcast_i32x4(a: __m128i) -> __m512i = std::array::from_fn(|i| a.0[i % 2]);
    _mm512_mask_mov_epi64(old: __m512i, k: __mmask8, a: __m512i) -> __m512i = chosen(k, old, a);
    _mm512_mask_blend_epi64(k: __mmask8, a: __m512i, b: __m512i) -> __m512i = chosen(k, a, b);
    _mm512_maskz_mov_epi64(k: __mmask8, a: __m512i) -> __m512i = chosen(k, Register([0; 8]), a);
    _mm512_permutex2var_epi64(a: __m512i, at: __m512i, b: __m512i) -> __m512i =
        at.0.map(|at| [a.0, b.0][at as usize >> 3 & 1][at as usize & 7]);
    _mm512_mask2_permutex2var_epi64(a: __m512i, at: __m512i, k: __mmask8, b: __m512i) -> __m512i =
        chosen(k, at, _mm512_permutex2var_epi64(a, at, b));
    _mm512_madd52lo_epu64(sum: __m512i, a: __m512i, b: __m512i) -> __m512i =
        std::array::from_fn(|i| sum.0[i].wrapping_add(product(a.0[i], b.0[i]) as u64 & LIMB));
    _mm512_madd52hi_epu64(sum: __m512i, a: __m512i, b: __m512i) -> __m512i =
        std::array::from_fn(|i| sum.0[i].wrapping_add((product(a.0[i], b.0[i]) >> 52) as u64));
}

const LIMB: u64 = (1 << 52) - 1;

fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LIMB) * u128::from(b & LIMB)
}

/// The words of `set` where the mask is set, of `clear` elsewhere.
fn chosen(mask: __mmask8, clear: __m512i, set: __m512i) -> [u64; 8] {
    std::array::from_fn(|i| if mask >> i & 1 == 1 { set.0[i] } else { clear.0[i] })
}

#[allow(clippy::too_many_arguments, reason = "the original's")]
pub fn _mm512_setr_epi64(
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
    g: i64,
    h: i64,
) -> __m512i {
    Register([a, b, c, d, e, f, g, h].map(i64::cast_unsigned))
}

pub fn _mm512_cmpeq_epi64_mask(a: __m512i, b: __m512i) -> __mmask8 {
    mask(|i| a.0[i] == b.0[i])
}

pub fn _mm512_cmplt_epi64_mask(a: __m512i, b: __m512i) -> __mmask8 {
    mask(|i| a.0[i].cast_signed() < b.0[i].cast_signed())
}

pub fn _mm512_test_epi64_mask(a: __m512i, b: __m512i) -> __mmask8 {
    mask(|i| a.0[i] & b.0[i] != 0)
}

pub fn _mm256_blend_epi32<const S: i32>(a: __m256i, b: __m256i) -> __m256i {
    words(|i| {
        let (low, high) = (S >> (2 * i) & 1, S >> (2 * i + 1) & 1);
        let taken =
            [0, u64::from(u32::MAX), !u64::from(u32::MAX), u64::MAX][(low + 2 * high) as usize];
        a.0[i] & !taken | b.0[i] & taken
    })
}

pub fn _mm256_permute2x128_si256<const S: i32>(a: __m256i, b: __m256i) -> __m256i {
    words(|i| [a.0, b.0].as_flattened()[2 * (S as usize >> (i / 2 * 4) & 3) + i % 2])
}

/// The product of polynomials, one word of each.
pub fn _mm_clmulepi64_si128<const S: i32>(a: __m128i, b: __m128i) -> __m128i {
    let (a, b) = (u128::from(a.0[S as usize & 1]), b.0[S as usize >> 4 & 1]);
    let product = (0..64).fold(0, |sum, bit| sum ^ (a << bit) * u128::from(b >> bit & 1));
    Register([product as u64, (product >> 64) as u64])
}

/// Loads and stores of whole registers.
macro_rules! memory {
    ($($load:ident $store:ident $register:ty;)*) => { $(
        pub unsafe fn $load(from: *const $register) -> $register {
            // SAFETY: the caller's.
            unsafe { from.read_unaligned() }
        }
        pub unsafe fn $store(to: *mut $register, value: $register) {
            // SAFETY: the caller's.
            unsafe { to.write_unaligned(value) }
        }
    )* };
}
memory! {
    _mm_loadu_si128 _mm_storeu_si128 __m128i;
    _mm256_loadu_si256 _mm256_storeu_si256 __m256i;
}

pub unsafe fn _mm512_maskz_loadu_epi64(k: __mmask8, from: *const i64) -> __m512i {
    words(|i| match k >> i & 1 {
        0 => 0,
        // SAFETY: the caller's, for the words in the mask.
        _ => unsafe { from.add(i).cast::<u64>().read_unaligned() },
    })
}

pub unsafe fn _mm512_mask_storeu_epi64(to: *mut i64, k: __mmask8, value: __m512i) {
    for i in (0..8).filter(|i| k >> i & 1 == 1) {
        // SAFETY: the caller's, for the words in the mask.
        unsafe { to.add(i).cast::<u64>().write_unaligned(value.0[i]) };
    }
}

/// The rounds of AES (FIPS 197).
mod aes {
    /// A full round: bytes substituted, rows shifted, columns mixed, key added.
    pub fn round(block: u128, key: u128) -> u128 {
        let mut bytes = last(block, 0).to_le_bytes();
        for column in bytes.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *column;
            let mixed = |a, b, c, d| times(a, 2) ^ times(b, 3) ^ c ^ d;
            *column = [mixed(a, b, c, d), mixed(b, c, d, a), mixed(c, d, a, b), mixed(d, a, b, c)];
        }
        u128::from_le_bytes(bytes) ^ key
    }

    /// The last round, which does not mix columns.
    pub fn last(block: u128, key: u128) -> u128 {
        let bytes = block.to_le_bytes();
        let shifted: [u8; 16] = std::array::from_fn(|i| bytes[(i + i % 4 * 4) % 16]);
        u128::from_le_bytes(shifted.map(|byte| SUBSTITUTES[usize::from(byte)])) ^ key
    }

    /// a·b modulo x^8 + x^4 + x^3 + x + 1.
    const fn times(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b > 0 {
            product ^= a * (b & 1);
            a = a << 1 ^ 0x1b * (a >> 7);
            b >>= 1;
        }
        product
    }

    /// The inverse, then an affine map of its bits.
    const SUBSTITUTES: [u8; 256] = {
        let mut table = [0x63; 256];
        let mut byte = 1;
        while byte < 256 {
            // The inverse is the power 254.
            let (mut inverse, mut power) = (1, 0);
            while power < 254 {
                inverse = times(inverse, byte as u8);
                power += 1;
            }
            let mut turns = 0;
            while turns < 5 {
                table[byte] ^= inverse.rotate_left(turns);
                turns += 1;
            }
            byte += 1;
        }
        table
    };
}
