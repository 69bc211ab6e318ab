//! AES for garbling: many short runs under keys that change often.
//!
//! The `aes` crate is fast on long runs of blocks but needs 67 ns for one block
//! and 81 ns for a key schedule (3.0 ns per block in runs of 128), and a gate
//! that waits for another one is a run of four blocks. The VAES kernel works on
//! four gates in registers from labels to ciphertexts. The `aes` crate is the
//! portable twin.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod few;
#[cfg(target_arch = "x86_64")]
mod vaes;

mod portable;

/// The widest run of gates under one key: see `crypto::garble`.
pub const GATES_PER_KEY: usize = 64;

/// An expanded AES-128 key. Keys of the garbling hash are public.
pub struct RoundKeys(Keys);

enum Keys {
    #[cfg(target_arch = "x86_64")]
    Vaes(vaes::Schedule),
    Portable(Box<portable::Schedule>),
}

impl RoundKeys {
    /// Expands `key`.
    pub fn new(key: u128) -> Self {
        #[cfg(target_arch = "x86_64")]
        if vaes::available() {
            return Self(Keys::Vaes(vaes::Schedule::new(key)));
        }
        Self::portable(key)
    }

    /// Expands `key` for the portable twin, whatever the processor can do.
    pub fn portable(key: u128) -> Self {
        Self(Keys::Portable(Box::new(portable::Schedule::new(key))))
    }

    /// Whether the vector kernel is used.
    pub fn accelerated(&self) -> bool {
        !matches!(self.0, Keys::Portable(_))
    }

    /// Half gates: from the zero labels of both inputs to the zero label of the
    /// output and two ciphertexts per gate. Gate i uses the tweaks
    /// 2(`first` + i) and 2(`first` + i) + 1.
    ///
    /// # Panics
    /// If the slices do not have one entry per gate.
    pub fn garble(
        &self,
        delta: u128,
        first: usize,
        a: &[u128],
        b: &[u128],
        out: &mut [u128],
        tables: &mut [[u8; 32]],
    ) {
        let count = out.len();
        assert!(a.len() == count && b.len() == count && tables.len() == count);
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vaes(keys) => keys.garble(delta, first, a, b, out, tables),
            Keys::Portable(keys) => keys.garble(delta, first, a, b, out, tables),
        }
    }

    /// Half gates: from one label of both inputs and the ciphertexts to one label of the output.
    ///
    /// # Panics
    /// If the slices do not have one entry per gate.
    pub fn evaluate(
        &self,
        first: usize,
        a: &[u128],
        b: &[u128],
        tables: &[[u8; 32]],
        out: &mut [u128],
    ) {
        let count = out.len();
        assert!(a.len() == count && b.len() == count && tables.len() == count);
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vaes(keys) => keys.evaluate(first, a, b, tables, out),
            Keys::Portable(keys) => keys.evaluate(first, a, b, tables, out),
        }
    }

    /// The hash alone: `values[i]` becomes H(`values[i]`, `first` + i).
    pub fn hash(&self, first: usize, values: &mut [u128]) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vaes(keys) => keys.hash(first, values),
            Keys::Portable(keys) => keys.hash(first, values),
        }
    }

    /// Counter mode: block i of `out` is the encryption of `counter` + i.
    pub fn counter_stream(&self, counter: u64, out: &mut [u128]) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vaes(keys) => keys.counter_stream(counter, out),
            Keys::Portable(keys) => keys.counter_stream(counter, out),
        }
    }
}

/// XORs labels: for every (a, b, out) and every lane,
/// `wires[out·lanes + lane] = wires[a·lanes + lane] ^ wires[b·lanes + lane]`.
///
/// # Panics
/// If a place is not in `wires`.
pub fn xor_wires<G: Copy + Into<(u32, u32, u32)>>(wires: &mut [u128], lanes: usize, gates: &[G]) {
    if lanes == 1 {
        for gate in gates {
            let (a, b, out) = (*gate).into();
            let value = xor_labels(&wires[a as usize], &wires[b as usize]);
            wires[out as usize] = value;
        }
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if lanes.is_multiple_of(4) && vaes::available() {
        return vaes::xor_lanes(wires, lanes, gates);
    }
    for gate in gates {
        let (a, b, out) = (*gate).into();
        let [a, b, out] = [a, b, out].map(|slot| slot as usize * lanes);
        for lane in 0..lanes {
            wires[out + lane] = wires[a + lane] ^ wires[b + lane];
        }
    }
}

/// a ⊕ b in one vector register: two halves stored apart would make the next
/// gate's wide load wait.
#[cfg(target_arch = "x86_64")]
#[inline]
fn xor_labels(a: &u128, b: &u128) -> u128 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_storeu_si128, _mm_xor_si128};
    let mut out = 0u128;
    // SAFETY: SSE2 is part of x86-64, and each pointer is to 16 bytes.
    unsafe {
        let (a, b) = (std::ptr::from_ref(a).cast(), std::ptr::from_ref(b).cast());
        let value = _mm_xor_si128(_mm_loadu_si128(a), _mm_loadu_si128(b));
        _mm_storeu_si128(std::ptr::from_mut(&mut out).cast(), value);
    }
    out
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn xor_labels(a: &u128, b: &u128) -> u128 {
    a ^ b
}

/// The linear orthomorphism σ(l ‖ r) = (l ⊕ r) ‖ l on a block's two halves.
pub fn sigma(x: u128) -> u128 {
    (x >> 64) | ((x ^ (x >> 64)) << 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u128, count: usize) -> Vec<u128> {
        let mut state = seed;
        let step = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645u128;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(step).wrapping_add(0x5851_f42d_4c95_7f2d);
                state ^ (state >> 61)
            })
            .collect()
    }

    #[test]
    fn the_fips_197_example_encrypts() {
        let key = u128::from_le_bytes(std::array::from_fn(|i| i as u8));
        for keys in [RoundKeys::new(key), RoundKeys::portable(key)] {
            let mut out = [0u128; 7];
            keys.counter_stream(9, &mut out);
            let mut again = [0u128; 5];
            keys.counter_stream(11, &mut again);
            assert_eq!(out[2..], again);
        }
        // Rows of the hash: H(x, i) = E(σ(x) ⊕ i) ⊕ σ(x) ⊕ i, and E(σ(x)) for FIPS's block.
        let block = u128::from_le_bytes(std::array::from_fn(|i| 0x11 * i as u8));
        let cipher = u128::from_le_bytes([
            0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4,
            0xc5, 0x5a,
        ]);
        let (low, high) = (block as u64, (block >> 64) as u64);
        // σ⁻¹: the block's low half is the old high half.
        let before = u128::from(low) << 64 | u128::from(high ^ low);
        assert_eq!(sigma(before), block);
        for keys in [RoundKeys::new(key), RoundKeys::portable(key)] {
            let mut values = [before];
            keys.hash(0, &mut values);
            assert_eq!(values[0], cipher ^ block);
        }
    }

    #[test]
    fn lanes_are_xored_side_by_side() {
        for lanes in [1, 3, 4, 8, 20] {
            let mut wires = numbers(4, 3 * lanes);
            let expected: Vec<u128> = (0..lanes).map(|i| wires[i] ^ wires[lanes + i]).collect();
            xor_wires(&mut wires, lanes, &[(0, 1, 2)]);
            assert_eq!(wires[2 * lanes..], expected);
        }
    }

    #[test]
    fn the_vector_kernel_agrees_with_its_portable_twin() {
        let (fast, slow) = (RoundKeys::new(77), RoundKeys::portable(77));
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 31, 64] {
            let (a, b) = (numbers(1, count), numbers(2, count));
            let delta = numbers(3, 1)[0] | 1;
            let mut out = [vec![0; count], vec![0; count]];
            let mut tables = [vec![[0; 32]; count], vec![[0; 32]; count]];
            for (i, keys) in [&fast, &slow].into_iter().enumerate() {
                keys.garble(delta, 5, &a, &b, &mut out[i], &mut tables[i]);
            }
            assert_eq!((&out[0], &tables[0]), (&out[1], &tables[1]));
            for keys in [&fast, &slow] {
                for (flip_a, flip_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let flip = |x: &[u128], f: u128| -> Vec<u128> {
                        x.iter().map(|x| x ^ (f * delta)).collect()
                    };
                    let mut result = vec![0; count];
                    keys.evaluate(5, &flip(&a, flip_a), &flip(&b, flip_b), &tables[0], &mut result);
                    assert_eq!(result, flip(&out[0], flip_a & flip_b));
                }
            }
            let mut hashes = [a.clone(), a.clone()];
            fast.hash(9, &mut hashes[0]);
            slow.hash(9, &mut hashes[1]);
            assert_eq!(hashes[0], hashes[1]);
            fast.counter_stream(u64::MAX - 3, &mut hashes[0]);
            slow.counter_stream(u64::MAX - 3, &mut hashes[1]);
            assert_eq!(hashes[0], hashes[1]);
        }
    }
}
