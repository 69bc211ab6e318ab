//! Vector kernels behind run-time detection: the only room with unsafe code.
//!
//! | kernel | what it computes | instructions |
//! | --- | --- | --- |
//! | [`ristretto8`] | eight multiplications in ristretto255 at once | AVX-512 F and IFMA |
#![allow(
    unsafe_code,
    reason = "calls of functions compiled for instructions found at run time, and wiping that the \
              compiler must not leave out"
)]

pub mod ristretto8;
