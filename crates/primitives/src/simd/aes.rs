//! AES for garbling: many short runs under keys that change often.
//!
//! The `aes` crate is fast on long runs of blocks but needs 67 ns for one block and 81 ns for a key
//! schedule (3.0 ns per block in runs of 128), and a gate that waits for another one is a run of
//! four blocks. The kernels work in registers from labels to ciphertexts. The `aes` crate is their
//! portable twin, and the only code on processors without AES-NI.
//!
//! ```
//! use diptych_primitives::simd::aes::{Kernel, RoundKeys};
//!
//! let mut hashes = [5, 6, 7];
//! RoundKeys::portable(3).hash(10, &mut hashes);
//!
//! // Every kernel that this processor has finds the same.
//! for kernel in Kernel::available() {
//!     let mut again = [5, 6, 7];
//!     RoundKeys::on(kernel, 3).hash(10, &mut again);
//!     assert_eq!(again, hashes);
//! }
//! ```
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

use super::level::Level;
use crate::simd::Op;

#[cfg(target_arch = "x86_64")]
mod kernel;
#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod widest;

mod portable;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use kernel::Schedule;

/// The widest run of gates under one key: see `crypto::garble`.
pub const GATES_PER_KEY: usize = 64;

/// From so many gates on, wide registers are faster. Fewer gates form a chain of dependent gates,
/// in which a wide load would wait for the narrow store of the label before it.
#[cfg(target_arch = "x86_64")]
const WORTH_WIDE: usize = 4;

/// Code for certain instructions, or for none. A value of this type exists only where the
/// processor has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Option<Instructions>);

/// The instruction sets of the vector kernels.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    Narrow,
    Wide,
    Widest,
}

/// There are no vector kernels here.
#[cfg(not(target_arch = "x86_64"))]
type Instructions = std::convert::Infallible;

impl Kernel {
    /// The portable code.
    pub const PORTABLE: Self = Self(None);

    /// The fastest that the processor has and the level in use allows.
    pub fn in_use() -> Self {
        Self::of(Level::in_use())
    }

    /// All that the processor has and the level in use allows, for tests and benchmarks.
    pub fn available() -> Vec<Self> {
        let levels = Level::available().filter(|level| *level <= Level::in_use());
        let mut kernels: Vec<_> = levels.map(Self::of).collect();
        kernels.dedup();
        kernels
    }

    /// `level` is available.
    #[cfg(target_arch = "x86_64")]
    fn of(level: Level) -> Self {
        let vaes = is_x86_feature_detected!("vaes");
        Self(match level {
            Level::Portable => None,
            Level::Avx512 if vaes => Some(Instructions::Widest),
            Level::Avx2 if vaes => Some(Instructions::Wide),
            Level::Aes | Level::Avx2 | Level::Avx512 => Some(Instructions::Narrow),
        })
    }

    /// The instructions in words; `None` for the portable code.
    #[cfg(target_arch = "x86_64")]
    pub fn instructions(self) -> Option<&'static str> {
        self.0.map(|instructions| match instructions {
            Instructions::Narrow => "AES-NI",
            Instructions::Wide => "VAES with AVX2",
            Instructions::Widest => "VAES with AVX-512",
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of(_: Level) -> Self {
        Self::PORTABLE
    }

    /// The instructions in words; `None` for the portable code.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn instructions(self) -> Option<&'static str> {
        None
    }
}

/// An expanded AES-128 key. Keys of the garbling hash are public; those of transfers are secret, and
/// are not wiped (`SECURITY.md`).
pub struct RoundKeys(Keys);

enum Keys {
    #[cfg(target_arch = "x86_64")]
    Vector(Instructions, Schedule),
    Portable(Box<portable::Schedule>),
}

/// Calls a function of the vector kernel for these instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! on_vectors {
    ($instructions:expr, $function:ident($($argument:expr),*)) => {
        // SAFETY: `Instructions` come from a `Kernel`, which exists only where the processor has
        // them, and the narrow ones are part of all.
        unsafe {
            match $instructions {
                Instructions::Narrow => narrow::$function($($argument),*),
                Instructions::Wide => wide::$function($($argument),*),
                Instructions::Widest => widest::$function($($argument),*),
            }
        }
    };
}

impl RoundKeys {
    /// Expands `key` for the kernel in use.
    pub fn new(key: u128) -> Self {
        Self::on(Kernel::in_use(), key)
    }

    /// Expands `key` for the portable twin, whatever the processor can do.
    pub fn portable(key: u128) -> Self {
        Self::on(Kernel::PORTABLE, key)
    }

    /// Expands `key` for this kernel.
    pub fn on(kernel: Kernel, key: u128) -> Self {
        Self(match kernel.0 {
            None => Keys::Portable(Box::new(portable::Schedule::new(key))),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: all vector kernels have AES-NI and SSSE3, which the function is compiled for.
            Some(instructions) => Keys::Vector(instructions, unsafe { narrow::schedule(key) }),
        })
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
            Keys::Vector(instructions, keys) => {
                let instructions = instructions.for_gates(count);
                on_vectors!(instructions, garble(keys, delta, first, a, b, out, tables));
            }
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
            Keys::Vector(instructions, keys) => {
                let instructions = instructions.for_gates(count);
                on_vectors!(instructions, evaluate(keys, first, a, b, tables, out));
            }
            Keys::Portable(keys) => keys.evaluate(first, a, b, tables, out),
        }
    }

    /// The hash alone: `values[i]` becomes H(`values[i]`, `first` + i).
    pub fn hash(&self, first: usize, values: &mut [u128]) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vector(instructions, keys) => {
                on_vectors!(instructions, hash(keys, first, values));
            }
            Keys::Portable(keys) => keys.hash(first, values),
        }
    }

    /// The children of nodes in trees whose levels all have the same XOR, in their parents' place: for
    /// every x = `nodes[j]` of the first half, `nodes[2j]` becomes h = H(x, `first` + j) and
    /// `nodes[2j + 1]` x ⊕ h. Returns the XOR of all h.
    ///
    /// # Panics
    /// If the number of nodes is odd.
    pub fn children(&self, first: usize, nodes: &mut [u128]) -> u128 {
        assert!(nodes.len().is_multiple_of(2), "two children for every node");
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vector(instructions, keys) => {
                on_vectors!(instructions, children(keys, first, nodes))
            }
            Keys::Portable(keys) => keys.children(first, nodes),
        }
    }

    /// Counter mode: block i of `out` is the encryption of `counter` + i.
    pub fn counter_stream(&self, counter: u64, out: &mut [u128]) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Keys::Vector(instructions, keys) => {
                on_vectors!(instructions, counter_stream(keys, counter, out));
            }
            Keys::Portable(keys) => keys.counter_stream(counter, out),
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Instructions {
    /// Whether so few gates use the narrow kernel.
    fn for_gates(self, count: usize) -> Self {
        if count < WORTH_WIDE { Self::Narrow } else { self }
    }
}

/// Blocks in pairs.
#[cfg(target_arch = "x86_64")]
fn pairs(blocks: &mut [u128]) -> &mut [[u8; 32]] {
    let pairs = blocks.as_chunks_mut::<2>().0;
    // SAFETY: two blocks are 32 bytes, any bytes are two blocks, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts_mut(pairs.as_mut_ptr().cast(), pairs.len()) }
}

/// XORs labels: for every gate and every lane,
/// `wires[out·lanes + lane] = wires[a·lanes + lane] ^ wires[b·lanes + lane]`.
///
/// # Panics
/// If a place is not in `wires`.
pub fn xor_wires(wires: &mut [u128], lanes: usize, gates: &[Op]) {
    if lanes == 1 {
        for &Op { a, b, out } in gates {
            let value = xor_labels(&wires[a as usize], &wires[b as usize]);
            wires[out as usize] = value;
        }
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if lanes.is_multiple_of(4)
        && let Some(instructions) = Kernel::in_use().0
    {
        on_vectors!(instructions, xor_lanes(wires, lanes, gates));
        return;
    }
    for &Op { a, b, out } in gates {
        let [a, b, out] = [a, b, out].map(|slot| slot as usize * lanes);
        for lane in 0..lanes {
            wires[out + lane] = xor_labels(&wires[a + lane], &wires[b + lane]);
        }
    }
}

/// a ⊕ b in one vector register: two halves stored separately would stall the next gate's wide
/// load.
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
