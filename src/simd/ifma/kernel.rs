//! One Montgomery multiplication or squaring of eight numbers, by columns, a tile at a time.
//!
//! The product's columns are taken [`TILE`] at a time. A tile's accumulators stay in registers
//! while all rows that reach them are added (`a·b` first, then `q·m`), so nothing but operands is
//! read from memory and nothing but a finished limb is written. Cutting the operands into blocks of
//! [`TILE`] limbs, a tile gets whole rows from the blocks in its middle and one triangle at the end.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmplt_epi64_mask,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_mov_epi64, _mm512_permutex2var_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64,
};

/// Columns per tile. Ten divides the limb counts of all usual widths (20, 30, 40, 60, 80, 120), and
/// ten accumulators with two dependent additions each cover the instruction's latency of 4 cycles.
pub(super) const TILE: usize = 10;

/// Bits per limb, given by the instruction.
pub(super) const LIMB_BITS: usize = 52;

/// The low 52 bits.
pub(super) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

type Tile = [__m512i; TILE];

/// What the kernel has to know about a modulus.
#[derive(Clone, Copy)]
pub(super) struct Reduction<'a> {
    /// The modulus, each limb repeated in all lanes; the length is a multiple of [`TILE`].
    pub modulus: &'a [__m512i],
    /// −m⁻¹ mod 2^52 in all lanes.
    pub negated_inverse: __m512i,
}

/// Repeats its body with a constant index.
macro_rules! unroll {
    ($index:ident in 0..10 $body:block) => {
        unroll!(@ $index $body 0 1 2 3 4 5 6 7 8 9)
    };
    (@ $index:ident $body:block $($value:literal)*) => {
        $({ let $index: usize = $value; $body })*
    };
}

/// `out` = a·b/R modulo m, below 2m if a and b are. All slices have the modulus' length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(r: Reduction<'_>, a: &[__m512i], b: &[__m512i], out: &mut [__m512i]) {
    let n = r.modulus.len();
    let (a, b, out) = (&a[..n], &b[..n], &mut out[..n]);
    let mut carry = _mm512_setzero_si512();
    for column in (0..n).step_by(TILE) {
        let mut tile = [_mm512_setzero_si512(); TILE];
        tile[0] = carry;
        tile = rows(tile, &a[..column], &b[..column + TILE]);
        tile = low_triangle(tile, block(a, column), block(b, 0));
        carry = quotient(r, tile, column, out);
    }
    for column in (0..n).step_by(TILE) {
        let mut tile = [_mm512_setzero_si512(); TILE];
        tile[0] = carry;
        tile = high_triangle(tile, block(a, column), block(b, n - TILE));
        tile = rows(tile, &a[column + TILE..], &b[column..]);
        carry = remainder(r, tile, column, out);
    }
}

/// `out` = a²/R modulo m, below 2m if a is. Both slices have the modulus' length.
///
/// Products of two different limbs are added once and doubled, a tile at a time.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square(r: Reduction<'_>, a: &[__m512i], out: &mut [__m512i]) {
    let n = r.modulus.len();
    let (a, out) = (&a[..n], &mut out[..n]);
    let mut carry = _mm512_setzero_si512();
    for column in (0..n).step_by(TILE) {
        let zero = [_mm512_setzero_si512(); TILE];
        let tile = half_square(zero, a, column, 0, column + TILE, carry);
        carry = quotient(r, tile, column, out);
    }
    for column in (0..n).step_by(TILE) {
        let mut tile = [_mm512_setzero_si512(); TILE];
        if column + TILE < n {
            tile = high_triangle(tile, block(a, column), block(a, n - TILE));
        }
        tile = half_square(tile, a, n + column, column + TILE, n, carry);
        carry = remainder(r, tile, column, out);
    }
}

/// `out` = a + b, if that is below R.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add(a: &[__m512i], b: &[__m512i], out: &mut [__m512i]) {
    let mask = _mm512_set1_epi64(LIMB_MASK as i64);
    let mut carry = _mm512_setzero_si512();
    for ((&a, &b), out) in a.iter().zip(b).zip(out) {
        let sum = _mm512_add_epi64(_mm512_add_epi64(a, b), carry);
        carry = _mm512_srli_epi64::<52>(sum);
        *out = _mm512_and_si512(sum, mask);
    }
}

/// `out` = a − m in the lanes in which a ≥ m, a in the others.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract_once(r: Reduction<'_>, a: &[__m512i], out: &mut [__m512i]) {
    let mask = _mm512_set1_epi64(LIMB_MASK as i64);
    let mut borrow = _mm512_setzero_si512();
    for ((&a, &m), out) in a.iter().zip(r.modulus).zip(&mut *out) {
        // The shift keeps the sign: −1 if this limb has to borrow.
        let difference = _mm512_add_epi64(_mm512_sub_epi64(a, m), borrow);
        borrow = _mm512_srai_epi64::<52>(difference);
        *out = _mm512_and_si512(difference, mask);
    }
    for (&a, out) in a.iter().zip(out) {
        *out =
            _mm512_mask_mov_epi64(*out, _mm512_cmplt_epi64_mask(borrow, _mm512_setzero_si512()), a);
    }
}

/// `out` = in each lane the entry of the table that the lane's digit names.
///
/// `table` holds whole numbers one after the other, each with the limbs of `out`. All of it is read.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn select(table: &[__m512i], digits: __m512i, out: &mut [__m512i]) {
    let limbs = out.len();
    for (index, out) in out.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
        let mut chosen = [_mm512_setzero_si512(); TILE];
        let mut digit = _mm512_setzero_si512();
        for entry in table.chunks_exact(limbs) {
            let hit = _mm512_cmpeq_epi64_mask(digit, digits);
            digit = _mm512_add_epi64(digit, _mm512_set1_epi64(1));
            let entry = block(entry, index * TILE);
            unroll!(i in 0..10 { chosen[i] = _mm512_mask_mov_epi64(chosen[i], hit, entry[i]); });
        }
        *out = chosen;
    }
}

/// For each of `N` vectors of digits, `out` = in each lane the entry that the lane's digit names.
///
/// `row` holds one table for all lanes, 16 entries to a pair of vectors and [`TILE`] such pairs (for
/// consecutive limbs) together: limbs 0 to 9 of all entries, then limbs 10 to 19, and so on. All of
/// it is read once for the `N` look-ups together.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn look_up<const N: usize>(
    row: &[__m512i],
    digits: [__m512i; N],
    out: [&mut [__m512i]; N],
) {
    let pairs = row.as_chunks::<2>().0.as_chunks::<TILE>().0;
    let tiles = out[0].len() / TILE;
    let mut out = out.map(|out| out.as_chunks_mut::<TILE>().0.iter_mut());
    let upper = digits.map(|digits| _mm512_srli_epi64::<4>(digits));
    for pairs in pairs.chunks_exact(pairs.len() / tiles) {
        let mut chosen = [[_mm512_setzero_si512(); TILE]; N];
        let mut sixteen = _mm512_setzero_si512();
        for pairs in pairs {
            let hits = upper.map(|upper| _mm512_cmpeq_epi64_mask(sixteen, upper));
            sixteen = _mm512_add_epi64(sixteen, _mm512_set1_epi64(1));
            unroll!(i in 0..10 {
                let [first, second] = pairs[i];
                for lookup in 0..N {
                    let entry = _mm512_permutex2var_epi64(first, digits[lookup], second);
                    chosen[lookup][i] = _mm512_mask_mov_epi64(chosen[lookup][i], hits[lookup], entry);
                }
            });
        }
        for (out, chosen) in out.iter_mut().zip(chosen) {
            if let Some(out) = out.next() {
                *out = chosen;
            }
        }
    }
}

/// A tile of a²: the rows from `first` to the middle, doubled, then the squares of single limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn half_square(
    mut tile: Tile,
    a: &[__m512i],
    column: usize,
    first: usize,
    end: usize,
    carry: __m512i,
) -> Tile {
    // The block on the diagonal: its low triangle is in this tile if the tile is even, its high
    // one if it is odd; an odd tile has the low triangle of the two blocks in the middle as well.
    let middle = column / (2 * TILE) * TILE;
    let diagonal = block(a, middle);
    if column == 2 * middle {
        if first < middle {
            tile = rows(tile, &a[first..middle], &a[middle..end]);
        }
        tile = low_triangle_above_diagonal(tile, diagonal);
        tile = doubled_plus(tile, carry);
        unroll!(i in 0..10 {
            if i < TILE / 2 {
                tile[2 * i] = low(tile[2 * i], diagonal[i], diagonal[i]);
                tile[2 * i + 1] = high(tile[2 * i + 1], diagonal[i], diagonal[i]);
            }
        });
    } else {
        if first < middle {
            tile = rows(tile, &a[first..middle], &a[middle + TILE..end]);
        }
        if middle + TILE < a.len() {
            tile = low_triangle(tile, diagonal, block(a, middle + TILE));
        }
        tile = high_triangle_above_diagonal(tile, diagonal);
        tile = doubled_plus(tile, carry);
        unroll!(i in 0..10 {
            if i >= TILE / 2 {
                tile[2 * i - TILE] = low(tile[2 * i - TILE], diagonal[i], diagonal[i]);
                tile[2 * i + 1 - TILE] = high(tile[2 * i + 1 - TILE], diagonal[i], diagonal[i]);
            }
        });
    }
    tile
}

/// Adds q·m to a tile of the lower half and finds the tile's own limbs of q on the way, which go to
/// `out`. Returns the carry into the next tile.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn quotient(r: Reduction<'_>, tile: Tile, column: usize, out: &mut [__m512i]) -> __m512i {
    let mut tile = rows(tile, &out[..column], &r.modulus[..column + TILE]);
    let modulus = block(r.modulus, 0);
    let mut found = [_mm512_setzero_si512(); TILE];
    unroll!(i in 0..10 {
        let q = low(_mm512_setzero_si512(), tile[i], r.negated_inverse);
        found[i] = q;
        unroll!(j in 0..10 {
            if j > 0 && i + j < TILE {
                tile[i + j] = low(tile[i + j], q, modulus[j]);
            }
        });
        if i + 1 < TILE {
            let carry = high(carry_of_cleared(tile[i]), q, modulus[0]);
            tile[i + 1] = _mm512_add_epi64(tile[i + 1], carry);
        }
        unroll!(j in 0..10 {
            if j > 0 && i + j + 1 < TILE {
                tile[i + j + 1] = high(tile[i + j + 1], q, modulus[j]);
            }
        });
    });
    out[column..column + TILE].copy_from_slice(&found);
    carry_of_cleared(tile[TILE - 1])
}

/// The carry out of a column once low(q·m₀) is added. By the choice of q the sum is a multiple of
/// 2^52, so the carry is the column's own, rounded up, and needs no product.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carry_of_cleared(column: __m512i) -> __m512i {
    _mm512_srli_epi64::<52>(_mm512_add_epi64(column, _mm512_set1_epi64(LIMB_MASK as i64)))
}

/// Adds q·m to a tile of the upper half, carries, and replaces the limbs of q that no later tile
/// needs by the result's. Returns the carry into the next tile.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn remainder(r: Reduction<'_>, tile: Tile, column: usize, out: &mut [__m512i]) -> __m512i {
    let n = r.modulus.len();
    let mut tile = high_triangle(tile, block(out, column), block(r.modulus, n - TILE));
    tile = rows(tile, &out[column + TILE..], &r.modulus[column..]);
    let mask = _mm512_set1_epi64(LIMB_MASK as i64);
    let mut carry = _mm512_setzero_si512();
    let mut done = [_mm512_setzero_si512(); TILE];
    unroll!(i in 0..10 {
        let limb = _mm512_add_epi64(tile[i], carry);
        carry = _mm512_srli_epi64::<52>(limb);
        done[i] = _mm512_and_si512(limb, mask);
    });
    out[column..column + TILE].copy_from_slice(&done);
    carry
}

/// Adds whole rows to a tile: `b` has [`TILE`] more limbs than `a`, and the last limb of `a` meets
/// the first limbs of `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn rows(mut tile: Tile, a: &[__m512i], b: &[__m512i]) -> Tile {
    for (&x, window) in a.iter().zip(b.windows(TILE + 1).rev()) {
        unroll!(i in 0..10 { tile[i] = low(tile[i], x, window[i + 1]); });
        unroll!(i in 0..10 { tile[i] = high(tile[i], x, window[i]); });
    }
    tile
}

/// Adds the part of the product of two blocks that lies in the blocks' own columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn low_triangle(mut tile: Tile, a: &Tile, b: &Tile) -> Tile {
    unroll!(i in 0..10 {
        unroll!(j in 0..10 {
            if i + j < TILE {
                tile[i + j] = low(tile[i + j], a[i], b[j]);
            }
        });
        unroll!(j in 0..10 {
            if i + j + 1 < TILE {
                tile[i + j + 1] = high(tile[i + j + 1], a[i], b[j]);
            }
        });
    });
    tile
}

/// Adds the part of the product of two blocks that lies in the columns of the next tile.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn high_triangle(mut tile: Tile, a: &Tile, b: &Tile) -> Tile {
    unroll!(i in 0..10 {
        unroll!(j in 0..10 {
            if i + j >= TILE {
                tile[i + j - TILE] = low(tile[i + j - TILE], a[i], b[j]);
            }
        });
        unroll!(j in 0..10 {
            if i + j + 1 >= TILE {
                tile[i + j + 1 - TILE] = high(tile[i + j + 1 - TILE], a[i], b[j]);
            }
        });
    });
    tile
}

/// [`low_triangle`] of a block with itself, only the products of a limb with a higher one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn low_triangle_above_diagonal(mut tile: Tile, a: &Tile) -> Tile {
    unroll!(i in 0..10 {
        unroll!(j in 0..10 {
            if i < j && i + j < TILE {
                tile[i + j] = low(tile[i + j], a[i], a[j]);
            }
        });
        unroll!(j in 0..10 {
            if i < j && i + j + 1 < TILE {
                tile[i + j + 1] = high(tile[i + j + 1], a[i], a[j]);
            }
        });
    });
    tile
}

/// [`high_triangle`] of a block with itself, only the products of a limb with a higher one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn high_triangle_above_diagonal(mut tile: Tile, a: &Tile) -> Tile {
    unroll!(i in 0..10 {
        unroll!(j in 0..10 {
            if i < j && i + j >= TILE {
                tile[i + j - TILE] = low(tile[i + j - TILE], a[i], a[j]);
            }
        });
        unroll!(j in 0..10 {
            if i < j && i + j + 1 >= TILE {
                tile[i + j + 1 - TILE] = high(tile[i + j + 1 - TILE], a[i], a[j]);
            }
        });
    });
    tile
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn doubled_plus(mut tile: Tile, carry: __m512i) -> Tile {
    unroll!(i in 0..10 { tile[i] = _mm512_add_epi64(tile[i], tile[i]); });
    tile[0] = _mm512_add_epi64(tile[0], carry);
    tile
}

/// sum + the low 52 bits of a·b.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn low(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    _mm512_madd52lo_epu64(sum, a, b)
}

/// sum + the bits of a·b from 2^52.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn high(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    _mm512_madd52hi_epu64(sum, a, b)
}

/// The [`TILE`] limbs from `start`.
#[inline]
fn block(limbs: &[__m512i], start: usize) -> &Tile {
    &limbs.as_chunks().0[start / TILE]
}
