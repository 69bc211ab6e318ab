//! One Montgomery multiplication or squaring of eight numbers, by columns, a tile at a time.
//!
//! The product's columns are taken [`TILE`] at a time. A tile's accumulators stay in registers
//! while all rows that reach them are added (`a·b` first, then `q·m`), so nothing but operands is
//! read from memory and nothing but a finished limb is written. Cutting the operands into blocks of
//! [`TILE`] limbs, a tile gets whole rows from the blocks in its middle and one triangle at the end.
//!
//! Operations on a tile are macros where a call would spill the tile to memory.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmplt_epi64_mask, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_mask_mov_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_srai_epi64, _mm512_srli_epi64, _mm512_sub_epi64,
};

/// Columns per tile. Ten divides the limb counts of all usual widths (20, 30, 40, 60, 80, 120), and
/// ten accumulators with two dependent additions each cover the instruction's latency of 4 cycles.
pub(super) const TILE: usize = 10;

/// Bits per limb, given by the instruction.
pub(super) const LIMB_BITS: usize = 52;

/// The low 52 bits.
pub(super) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

type Tile = [__m512i; TILE];

/// The parameters of a modulus for the kernel.
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

/// Adds whole rows to a tile: `b` has [`TILE`] more limbs than `a`, and the last limb of `a` meets
/// the first limbs of `b`. Low and high halves may have accumulators of their own, which makes the
/// dependent additions half as many.
macro_rules! rows {
    ($low:expr, $high:expr, $a:expr, $b:expr) => {
        for (&x, window) in $a.iter().zip($b.windows(TILE + 1).rev()) {
            unroll!(i in 0..10 { $low[i] = low($low[i], x, window[i + 1]); });
            unroll!(i in 0..10 { $high[i] = high($high[i], x, window[i]); });
        }
    };
}

/// Adds the part of the product of two blocks that lies in the blocks' own columns: all of
/// it, or only the products of a limb with a higher one (`i < j`).
macro_rules! low_triangle {
    ($low:expr, $high:expr, $a:expr, $b:expr $(, $i:ident < $j:ident)?) => {
        let (a, b): (&Tile, &Tile) = ($a, $b);
        unroll!(i in 0..10 {
            unroll!(j in 0..10 {
                if i + j < TILE $(&& { let ($i, $j) = (i, j); $i < $j })? {
                    $low[i + j] = low($low[i + j], a[i], b[j]);
                }
            });
            unroll!(j in 0..10 {
                if i + j + 1 < TILE $(&& { let ($i, $j) = (i, j); $i < $j })? {
                    $high[i + j + 1] = high($high[i + j + 1], a[i], b[j]);
                }
            });
        });
    };
}

/// Adds the part of the product of two blocks that lies in the columns of the next tile.
macro_rules! high_triangle {
    ($low:expr, $high:expr, $a:expr, $b:expr $(, $i:ident < $j:ident)?) => {
        let (a, b): (&Tile, &Tile) = ($a, $b);
        unroll!(i in 0..10 {
            unroll!(j in 0..10 {
                if i + j >= TILE $(&& { let ($i, $j) = (i, j); $i < $j })? {
                    $low[i + j - TILE] = low($low[i + j - TILE], a[i], b[j]);
                }
            });
            unroll!(j in 0..10 {
                if i + j + 1 >= TILE $(&& { let ($i, $j) = (i, j); $i < $j })? {
                    $high[i + j + 1 - TILE] = high($high[i + j + 1 - TILE], a[i], b[j]);
                }
            });
        });
    };
}

/// Finds the ten limbs of q that clear a tile of the lower half, writes them to `out` and gives the
/// carry into the next tile. Each limb has to wait for the one before; the caller's `ahead`, run
/// once for each, fills the time.
macro_rules! quotient {
    ($r:ident, $tile:ident, $out:expr, $step:ident => $ahead:block) => {{
        let modulus = block($r.modulus, 0);
        let mut found = [_mm512_setzero_si512(); TILE];
        unroll!(i in 0..10 {
            let q = low(_mm512_setzero_si512(), $tile[i], $r.negated_inverse);
            found[i] = q;
            { let $step = i; $ahead }
            unroll!(j in 0..10 {
                if j > 0 && i + j < TILE {
                    $tile[i + j] = low($tile[i + j], q, modulus[j]);
                }
            });
            if i + 1 < TILE {
                let carry = high(carry_of_cleared($tile[i]), q, modulus[0]);
                $tile[i + 1] = _mm512_add_epi64($tile[i + 1], carry);
            }
            unroll!(j in 0..10 {
                if j > 0 && i + j + 1 < TILE {
                    $tile[i + j + 1] = high($tile[i + j + 1], q, modulus[j]);
                }
            });
        });
        $out.copy_from_slice(&found);
        carry_of_cleared($tile[TILE - 1])
    }};
}

/// The columns of a product one tile after the other, with the reduction: the loop that
/// multiplication and squaring share.
macro_rules! montgomery {
    ($r:ident, $out:ident, $column:ident => $product:expr) => {
        let n = $r.modulus.len();
        let mut carry = _mm512_setzero_si512();
        let mut tile = [_mm512_setzero_si512(); TILE];
        for $column in (0..2 * n).step_by(TILE) {
            let mut next: Tile = $product;
            if 0 < $column && $column <= n {
                let first = if $column < n { 0 } else { TILE };
                let each = ($column - TILE).saturating_sub(first) / TILE;
                carry = quotient!($r, tile, $out[$column - TILE..$column], step => {
                    let start = first + step * each;
                    let end = $column - start + TILE;
                    rows!(next, next, $out[start..start + each], $r.modulus[end - TILE - each..end]);
                });
                next[0] = _mm512_add_epi64(next[0], carry);
                carry = _mm512_setzero_si512();
                if n > TILE {
                    let mut high = [_mm512_setzero_si512(); TILE];
                    rows!(next, high, $out[$column - TILE..$column], $r.modulus[..2 * TILE]);
                    next = sum(next, high);
                }
            }
            tile = next;
            if $column >= n {
                let column = $column - n;
                let mut high = [_mm512_setzero_si512(); TILE];
                if column > 0 {
                    rows!(tile, high, $out[column + TILE..], $r.modulus[column..]);
                }
                high_triangle!(tile, high, block($out, column), block($r.modulus, n - TILE));
                tile = sum(tile, high);
                carry = carried(tile, &mut $out[column..column + TILE], carry);
            }
        }
    };
}

/// `out` = a·b/R modulo m, below 2m if a and b are. All slices have the modulus' length.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(r: Reduction<'_>, a: &[__m512i], b: &[__m512i], out: &mut [__m512i]) {
    let n = r.modulus.len();
    let (a, b, out) = (&a[..n], &b[..n], &mut out[..n]);
    montgomery!(r, out, column => {
        let mut low_sums = [_mm512_setzero_si512(); TILE];
        let mut high_sums = low_sums;
        if column < n {
            rows!(low_sums, high_sums, a[..column], b[..column + TILE]);
            low_triangle!(low_sums, high_sums, block(a, column), block(b, 0));
        } else {
            rows!(low_sums, high_sums, a[column - n + TILE..], b[column - n..]);
            high_triangle!(low_sums, high_sums, block(a, column - n), block(b, n - TILE));
        }
        sum(low_sums, high_sums)
    });
}

/// `out` = a²/R modulo m, below 2m if a is. Both slices have the modulus' length.
///
/// Products of two different limbs are added once and doubled, a tile at a time.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square(r: Reduction<'_>, a: &[__m512i], out: &mut [__m512i]) {
    let n = r.modulus.len();
    let (a, out) = (&a[..n], &mut out[..n]);
    montgomery!(r, out, column => half_square(a, column));
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

/// A tile of a²: the rows down to the middle, doubled, then the squares of single limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn half_square(a: &[__m512i], column: usize) -> Tile {
    let n = a.len();
    let mut low_sums = [_mm512_setzero_si512(); TILE];
    let mut high_sums = low_sums;
    // The first whole row, and the end of the limbs that rows meet.
    let (mut first, mut end) = (0, column + TILE);
    if column >= n {
        (first, end) = (column - n + TILE, n);
        if column + TILE < 2 * n {
            high_triangle!(low_sums, high_sums, block(a, column - n), block(a, n - TILE));
        }
    }
    // The block on the diagonal: its low triangle is in this tile if the tile is even, its high
    // one if it is odd; an odd tile has the low triangle of the two blocks in the middle as well.
    let middle = column / (2 * TILE) * TILE;
    let diagonal = block(a, middle);
    let even = column == 2 * middle;
    if first < middle {
        let start = if even { middle } else { middle + TILE };
        rows!(low_sums, high_sums, a[first..middle], a[start..end]);
    }
    if even {
        low_triangle!(low_sums, high_sums, diagonal, diagonal, i < j);
    } else {
        if middle + TILE < n {
            low_triangle!(low_sums, high_sums, diagonal, block(a, middle + TILE));
        }
        high_triangle!(low_sums, high_sums, diagonal, diagonal, i < j);
    }
    let mut tile = sum(low_sums, high_sums);
    tile = sum(tile, tile);
    let squared = if even { &diagonal[..TILE / 2] } else { &diagonal[TILE / 2..] };
    unroll!(i in 0..10 {
        if i.is_multiple_of(2) {
            tile[i] = low(tile[i], squared[i / 2], squared[i / 2]);
        } else {
            tile[i] = high(tile[i], squared[i / 2], squared[i / 2]);
        }
    });
    tile
}

/// The carry out of a column once low(q·m₀) is added. By the choice of q the sum is a multiple of
/// 2^52, so the carry is the column's own, rounded up, and needs no product.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carry_of_cleared(column: __m512i) -> __m512i {
    _mm512_srli_epi64::<52>(_mm512_add_epi64(column, _mm512_set1_epi64(LIMB_MASK as i64)))
}

/// Carries through a finished tile and writes it. Returns the carry into the next tile.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carried(tile: Tile, out: &mut [__m512i], mut carry: __m512i) -> __m512i {
    let mask = _mm512_set1_epi64(LIMB_MASK as i64);
    let mut done = tile;
    unroll!(i in 0..10 {
        let limb = _mm512_add_epi64(tile[i], carry);
        carry = _mm512_srli_epi64::<52>(limb);
        done[i] = _mm512_and_si512(limb, mask);
    });
    out.copy_from_slice(&done);
    carry
}

/// Two tiles as one.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn sum(mut a: Tile, b: Tile) -> Tile {
    unroll!(i in 0..10 { a[i] = _mm512_add_epi64(a[i], b[i]); });
    a
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
