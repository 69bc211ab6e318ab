//! Vector kernels behind run-time detection: the only module with unsafe code.
//!
//! Each kernel detects at run time whether the processor has its instructions, and [`level`]
//! decides whether they may be used. Where not, [`ifma`] and [`ristretto8`] return `None`, and the
//! caller uses its portable code, which is also what the tests of the callers compare with;
//! [`aes`], [`field`] and [`transpose`] have portable twins here.
//!
//! | kernel | what it computes | instructions |
//! | --- | --- | --- |
//! | [`ifma`] | Montgomery multiplication of eight numbers at once | AVX-512 F and IFMA |
//! | [`aes`] | AES in counter mode, hashes, half gates | AES-NI, VAES with AVX2, or VAES with AVX-512 |
//! | [`transpose`] | bit matrices of 128 by 128 | AVX2, or AVX-512 F, BW and VL |
//! | [`field`] | products in the field with 2^128 elements | PCLMULQDQ |
//! | [`gather`] | XORs of scattered blocks | SSE2, AVX2 |
//! | [`lanes`] | sums of vectors of words | AVX2 |
//! | [`pages`] | large pages for tables in random order | any, on Linux |
//! | [`ristretto8`] | eight multiplications in ristretto255 at once | AVX-512 F and IFMA |
//!
//! # Example
//!
//! ```
//! use diptych_primitives::simd::aes::RoundKeys;
//! use diptych_primitives::simd::transpose::transpose;
//!
//! // The kernel of this processor and its portable twin give the same blocks.
//! let (fastest, twin) = (RoundKeys::new(42), RoundKeys::portable(42));
//! let (mut blocks, mut expected) = ([0; 9], [0; 9]);
//! fastest.counter_stream(0, &mut blocks);
//! twin.counter_stream(0, &mut expected);
//! assert_eq!(blocks, expected);
//!
//! let mut square = [0u128; 128];
//! square[3] = 1 << 100;
//! transpose(&mut square);
//! assert_eq!(square[100], 1 << 3, "row 3, column 100 is now row 100, column 3");
//! ```
#![allow(
    unsafe_code,
    reason = "calls of functions compiled for instructions found at run time, and wiping that the \
              compiler must not leave out"
)]

#[cfg(feature = "mpc")]
pub mod aes;
#[cfg(feature = "mpc")]
pub mod field;
#[cfg(feature = "mpc")]
pub mod gather;
pub mod ifma;
pub mod lanes;
pub mod level;
#[cfg(feature = "mpc")]
pub mod pages;
#[cfg(feature = "mpc")]
pub mod ristretto8;
#[cfg(test)]
mod tests;
#[cfg(feature = "mpc")]
pub mod transpose;

/// One two-input gate on slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Slot of the first input.
    pub a: u32,
    /// Slot of the second input.
    pub b: u32,
    /// Slot of the output.
    pub out: u32,
}

/// What each kernel is for, and the vector instructions that it uses on this processor, if any.
#[cfg(feature = "mpc")]
pub fn in_use() -> [(&'static str, Option<&'static str>); 5] {
    let ifma = ifma::available().then_some("AVX-512 F and IFMA");
    let ristretto = ristretto8::Ristretto8::detect().map(|_| "AVX-512 F and IFMA");
    [
        ("big numbers", ifma),
        ("ristretto255", ristretto),
        ("garbling", aes::Kernel::in_use().instructions()),
        ("bit matrices", transpose::instructions()),
        ("field elements", field::instructions()),
    ]
}
