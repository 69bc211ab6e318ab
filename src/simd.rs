//! Vector kernels behind run-time detection: the only room with unsafe code.
//!
//! Each kernel says at run time whether the processor has its instructions. Where it has not, the
//! constructor returns `None` and the caller keeps to the portable code in `math`, which is also
//! what the tests of the callers compare with.
//!
//! | kernel | what it computes | instructions |
//! | --- | --- | --- |
//! | [`ifma`] | Montgomery multiplication of eight numbers at once | AVX-512 F and IFMA |
//! | [`aes`] | AES in counter mode, the gate hash, half gates | VAES with AVX-512 |
//! | [`transpose`] | bit matrices of 128 by 128 | AVX2, or AVX-512 F, BW and VL |
//! | [`ristretto8`] | eight multiplications in ristretto255 at once | AVX-512 F and IFMA |
#![allow(
    unsafe_code,
    reason = "calls of functions compiled for instructions found at run time, and wiping that the \
              compiler must not leave out"
)]

pub mod aes;
pub mod ifma;
pub mod ristretto8;
pub mod transpose;
