//! The kernel for processors with VAES and AVX-512: four gates at a time.

use std::arch::x86_64::*;

use super::few::{evaluate_few, garble_few};

/// Round keys, each in all four lanes when used.
pub(super) struct Schedule(pub(super) [__m128i; 11]);

/// Whether the processor has all that the kernel uses.
pub(super) fn available() -> bool {
    is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("aes")
}

impl Schedule {
    /// Call only where [`available`]; `RoundKeys::new` is the only caller.
    pub(super) fn new(key: u128) -> Self {
        debug_assert!(available());
        // SAFETY: the features were detected.
        unsafe { expand(key) }
    }

    pub(super) fn garble(
        &self,
        delta: u128,
        first: usize,
        a: &[u128],
        b: &[u128],
        out: &mut [u128],
        tables: &mut [[u8; 32]],
    ) {
        // SAFETY: a schedule exists only where the features were detected; lengths are equal.
        unsafe {
            if out.len() < 4 {
                return garble_few(self, delta, first, a, b, out, tables);
            }
            garble(self, delta, first, a, b, out, tables);
        }
    }

    pub(super) fn evaluate(
        &self,
        first: usize,
        a: &[u128],
        b: &[u128],
        tables: &[[u8; 32]],
        out: &mut [u128],
    ) {
        // SAFETY: a schedule exists only where the features were detected; lengths are equal.
        unsafe {
            if out.len() < 4 {
                return evaluate_few(self, first, a, b, tables, out);
            }
            evaluate(self, first, a, b, tables, out);
        }
    }

    pub(super) fn hash(&self, first: usize, values: &mut [u128]) {
        // SAFETY: a schedule exists only where the features were detected.
        unsafe { hash(self, first, values) }
    }

    pub(super) fn counter_stream(&self, counter: u64, out: &mut [u128]) {
        // SAFETY: a schedule exists only where the features were detected.
        unsafe { counter_stream(self, counter, out) }
    }
}

#[target_feature(enable = "aes,sse2")]
fn expand(key: u128) -> Schedule {
    macro_rules! next {
        ($key:expr, $constant:literal) => {{
            let assist = _mm_aeskeygenassist_si128::<$constant>($key);
            let word = _mm_shuffle_epi32::<0xff>(assist);
            let mut key = _mm_xor_si128($key, _mm_slli_si128::<4>($key));
            key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
            _mm_xor_si128(key, word)
        }};
    }
    let k0 = _mm_set_epi64x((key >> 64) as i64, key as i64);
    let k1 = next!(k0, 0x01);
    let k2 = next!(k1, 0x02);
    let k3 = next!(k2, 0x04);
    let k4 = next!(k3, 0x08);
    let k5 = next!(k4, 0x10);
    let k6 = next!(k5, 0x20);
    let k7 = next!(k6, 0x40);
    let k8 = next!(k7, 0x80);
    let k9 = next!(k8, 0x1b);
    let k10 = next!(k9, 0x36);
    Schedule([k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10])
}

/// Encrypts `N` registers of four blocks.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw")]
fn encrypt<const N: usize>(keys: &Schedule, mut blocks: [__m512i; N]) -> [__m512i; N] {
    let key = _mm512_broadcast_i32x4(keys.0[0]);
    for block in &mut blocks {
        *block = _mm512_xor_si512(*block, key);
    }
    for key in &keys.0[1..10] {
        let key = _mm512_broadcast_i32x4(*key);
        for block in &mut blocks {
            *block = _mm512_aesenc_epi128(*block, key);
        }
    }
    let key = _mm512_broadcast_i32x4(keys.0[10]);
    for block in &mut blocks {
        *block = _mm512_aesenclast_epi128(*block, key);
    }
    blocks
}

/// E(x) ⊕ x on `N` registers.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw")]
fn davies_meyer<const N: usize>(keys: &Schedule, blocks: [__m512i; N]) -> [__m512i; N] {
    let mut result = encrypt(keys, blocks);
    for (cipher, block) in result.iter_mut().zip(blocks) {
        *cipher = _mm512_xor_si512(*cipher, block);
    }
    result
}

/// σ(l ‖ r) = (l ⊕ r) ‖ l in every lane; l is the upper half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sigma(x: __m512i) -> __m512i {
    let swapped = _mm512_shuffle_epi32::<0x4e>(x);
    let upper = _mm512_maskz_mov_epi64(0b1010_1010, x);
    _mm512_xor_si512(swapped, upper)
}

/// All ones in every lane whose lowest bit is set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn pointer_mask(x: __m512i) -> __m512i {
    let spread = _mm512_srai_epi64::<63>(_mm512_slli_epi64::<63>(x));
    _mm512_shuffle_epi32::<0x44>(spread)
}

/// (start, start + step, …) in the lanes' low halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(start: u64, step: u64) -> __m512i {
    let at = |lane: u64| start.wrapping_add(lane.wrapping_mul(step)) as i64;
    _mm512_setr_epi64(at(0), 0, at(1), 0, at(2), 0, at(3), 0)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(x: u128) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x((x >> 64) as i64, x as i64))
}

/// Reads four blocks, or fewer with the other lanes zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(from: &[u128]) -> __m512i {
    let mask = ((1u32 << (2 * from.len().min(4))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_maskz_loadu_epi64(mask, from.as_ptr().cast()) }
}

/// Writes as many of the four blocks as there is room for.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut [u128], value: __m512i) {
    let mask = ((1u32 << (2 * to.len().min(4))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().cast(), mask, value) }
}

/// Reads the rows of two gates, or of one with the other lanes zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_rows(from: &[[u8; 32]]) -> __m512i {
    let mask = ((1u32 << (4 * from.len().min(2))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_maskz_loadu_epi64(mask, from.as_ptr().cast()) }
}

/// Writes the rows of two gates, or of one.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_rows(to: &mut [[u8; 32]], value: __m512i) {
    let mask = ((1u32 << (4 * to.len().min(2))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().cast(), mask, value) }
}

/// See `super::xor_wires`; `lanes` is a multiple of four.
pub(super) fn xor_lanes<G: Copy + Into<(u32, u32, u32)>>(
    wires: &mut [u128],
    lanes: usize,
    gates: &[G],
) {
    debug_assert!(available());
    // SAFETY: the features were detected.
    unsafe { xor_fours(wires, lanes, gates) }
}

#[target_feature(enable = "avx512f")]
fn xor_fours<G: Copy + Into<(u32, u32, u32)>>(wires: &mut [u128], lanes: usize, gates: &[G]) {
    for gate in gates {
        let (a, b, out) = (*gate).into();
        let [a, b, out] = [a, b, out].map(|slot| slot as usize * lanes);
        for lane in (0..lanes).step_by(4) {
            let (x, y) = (load(&wires[a + lane..][..4]), load(&wires[b + lane..][..4]));
            store(&mut wires[out + lane..][..4], _mm512_xor_si512(x, y));
        }
    }
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn garble(
    keys: &Schedule,
    delta: u128,
    first: usize,
    a: &[u128],
    b: &[u128],
    out: &mut [u128],
    tables: &mut [[u8; 32]],
) {
    let delta = broadcast(delta);
    let delta_sigma = sigma(delta);
    let one = lanes(1, 0);
    let eight = lanes(8, 0);
    let mut tweak = lanes(2 * first as u64, 2);
    let groups = a.chunks(4).zip(b.chunks(4)).zip(out.chunks_mut(4)).zip(tables.chunks_mut(4));
    for (((a, b), out), tables) in groups {
        let (a, b) = (load(a), load(b));
        let a0 = _mm512_xor_si512(sigma(a), tweak);
        let b0 = _mm512_xor_si512(sigma(b), _mm512_or_si512(tweak, one));
        let a1 = _mm512_xor_si512(a0, delta_sigma);
        let b1 = _mm512_xor_si512(b0, delta_sigma);
        tweak = _mm512_add_epi64(tweak, eight);
        let [a0, a1, b0, b1] = davies_meyer(keys, [a0, a1, b0, b1]);
        let (mask_a, mask_b) = (pointer_mask(a), pointer_mask(b));
        let generator = _mm512_xor_si512(_mm512_xor_si512(a0, a1), _mm512_and_si512(mask_b, delta));
        let hashes = _mm512_xor_si512(b0, b1);
        let evaluator = _mm512_xor_si512(hashes, a);
        let left = _mm512_xor_si512(a0, _mm512_and_si512(mask_a, generator));
        let right = _mm512_xor_si512(b0, _mm512_and_si512(mask_b, hashes));
        store(out, _mm512_xor_si512(left, right));
        let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        store_rows(tables, _mm512_permutex2var_epi64(generator, low, evaluator));
        if tables.len() > 2 {
            store_rows(&mut tables[2..], _mm512_permutex2var_epi64(generator, high, evaluator));
        }
    }
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn evaluate(
    keys: &Schedule,
    first: usize,
    a: &[u128],
    b: &[u128],
    tables: &[[u8; 32]],
    out: &mut [u128],
) {
    let one = lanes(1, 0);
    let eight = lanes(8, 0);
    let sixteen = lanes(16, 0);
    let mut tweak = lanes(2 * first as u64, 2);
    // Eight gates at a time: with two hashes per gate, four registers keep the unit busy.
    let groups = a.chunks(8).zip(b.chunks(8)).zip(tables.chunks(8)).zip(out.chunks_mut(8));
    for (((a, b), tables), out) in groups {
        let tail = |x: &[u128]| if x.len() > 4 { load(&x[4..]) } else { _mm512_setzero_si512() };
        let (a_low, b_low, a_high, b_high) = (load(a), load(b), tail(a), tail(b));
        let next = _mm512_add_epi64(tweak, eight);
        let hashes = davies_meyer(
            keys,
            [
                _mm512_xor_si512(sigma(a_low), tweak),
                _mm512_xor_si512(sigma(b_low), _mm512_or_si512(tweak, one)),
                _mm512_xor_si512(sigma(a_high), next),
                _mm512_xor_si512(sigma(b_high), _mm512_or_si512(next, one)),
            ],
        );
        tweak = _mm512_add_epi64(tweak, sixteen);
        store(out, finish(a_low, b_low, hashes[0], hashes[1], tables));
        if out.len() > 4 {
            let label = finish(a_high, b_high, hashes[2], hashes[3], &tables[4..]);
            store(&mut out[4..], label);
        }
    }
}

/// The output labels of four gates from the hashes and the ciphertexts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn finish(
    a: __m512i,
    b: __m512i,
    hash_a: __m512i,
    hash_b: __m512i,
    tables: &[[u8; 32]],
) -> __m512i {
    let first = load_rows(tables);
    let second = if tables.len() > 2 { load_rows(&tables[2..]) } else { _mm512_setzero_si512() };
    let generators = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
    let evaluators = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    let generator = _mm512_permutex2var_epi64(first, generators, second);
    let evaluator = _mm512_permutex2var_epi64(first, evaluators, second);
    let left = _mm512_xor_si512(hash_a, _mm512_and_si512(pointer_mask(a), generator));
    let cross = _mm512_and_si512(pointer_mask(b), _mm512_xor_si512(evaluator, a));
    _mm512_xor_si512(left, _mm512_xor_si512(hash_b, cross))
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn hash(keys: &Schedule, first: usize, values: &mut [u128]) {
    let mut tweak = lanes(first as u64, 1);
    let four = lanes(4, 0);
    for group in values.chunks_mut(16) {
        let mut blocks = [_mm512_setzero_si512(); 4];
        for (block, part) in blocks.iter_mut().zip(group.chunks(4)) {
            *block = _mm512_xor_si512(sigma(load(part)), tweak);
            tweak = _mm512_add_epi64(tweak, four);
        }
        let blocks = davies_meyer(keys, blocks);
        for (block, part) in blocks.iter().zip(group.chunks_mut(4)) {
            store(part, *block);
        }
    }
}

#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn counter_stream(keys: &Schedule, counter: u64, out: &mut [u128]) {
    let mut next = lanes(counter, 1);
    let four = lanes(4, 0);
    for group in out.chunks_mut(16) {
        let mut blocks = [_mm512_setzero_si512(); 4];
        for block in &mut blocks {
            *block = next;
            next = _mm512_add_epi64(next, four);
        }
        let blocks = encrypt(keys, blocks);
        for (block, part) in blocks.iter().zip(group.chunks_mut(4)) {
            store(part, *block);
        }
    }
}
