//! Table look-ups whose memory accesses do not depend on the entry.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_cmpeq_epi64_mask, _mm512_mask_mov_epi64,
    _mm512_mask2_permutex2var_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64,
};

/// Limbs that a look-up takes at a time, which keeps four look-ups in registers.
pub(super) const STRIP: usize = 5;

/// Limbs that [`select`] takes at a time.
const SPAN: usize = 10;

/// `out` = in each lane the entry of the table that the lane's digit names.
///
/// `table` holds whole numbers one after the other, each with the limbs of `out`. All of it is read.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn select(table: &[__m512i], digits: __m512i, out: &mut [__m512i]) {
    let limbs = out.len();
    for (index, out) in out.as_chunks_mut::<SPAN>().0.iter_mut().enumerate() {
        let mut chosen = [_mm512_setzero_si512(); SPAN];
        let mut digit = _mm512_setzero_si512();
        for entry in table.chunks_exact(limbs) {
            let hit = _mm512_cmpeq_epi64_mask(digit, digits);
            digit = _mm512_add_epi64(digit, _mm512_set1_epi64(1));
            for (chosen, &limb) in chosen.iter_mut().zip(&entry.as_chunks::<SPAN>().0[index]) {
                *chosen = _mm512_mask_mov_epi64(*chosen, hit, limb);
            }
        }
        *out = chosen;
    }
}

/// For each of `N` vectors of digits, `out` = in each lane the entry that the lane's digit names.
///
/// `row` holds one table for all lanes, 16 entries to a pair of vectors and [`STRIP`] such pairs
/// (for consecutive limbs) together: limbs 0 to 4 of all entries, then limbs 5 to 9, and so on. All
/// of it is read, once for the `N` look-ups together.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn look_up<const N: usize>(
    row: &[__m512i],
    digits: [__m512i; N],
    out: [&mut [__m512i]; N],
) {
    let pairs = row.as_chunks::<2>().0.as_chunks::<STRIP>().0;
    let strips = out[0].len() / STRIP;
    let mut out = out.map(|out| out.as_chunks_mut::<STRIP>().0.iter_mut());
    let sixteens = digits.map(|digits| _mm512_srli_epi64::<4>(digits));
    for pairs in pairs.chunks_exact(pairs.len() / strips) {
        // A lane keeps its digit until the sixteen entries that contain its entry are read; then
        // the low four bits of the digit select the entry, which replaces the digit.
        let mut chosen = digits.map(|digits| [digits; STRIP]);
        let mut sixteen = _mm512_setzero_si512();
        for pairs in pairs {
            let hits = sixteens.map(|wanted| _mm512_cmpeq_epi64_mask(sixteen, wanted));
            sixteen = _mm512_add_epi64(sixteen, _mm512_set1_epi64(1));
            for (limb, &[first, second]) in pairs.iter().enumerate() {
                for (chosen, hit) in chosen.iter_mut().zip(hits) {
                    chosen[limb] =
                        _mm512_mask2_permutex2var_epi64(first, chosen[limb], hit, second);
                }
            }
        }
        for (out, chosen) in out.iter_mut().zip(chosen) {
            if let Some(out) = out.next() {
                *out = chosen;
            }
        }
    }
}
