//! Runs the vector code on emulated instructions, so that its tests run on any processor.
//!
//! `build.rs` copies the modules of `simd`, without the attributes that say for which instructions
//! they are compiled; `arch` replaces `std::arch`. The tests in these modules are copied too.
#![allow(
    dead_code,
    unused_imports,
    unused_unsafe,
    unused_qualifications,
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "a copy; the original is held to all of them"
)]

mod arch;

/// All instructions are available.
macro_rules! is_x86_feature_detected {
    ($name:literal) => {
        true
    };
}

include!(concat!(env!("OUT_DIR"), "/stand_in.rs"));

mod tests {
    use num_bigint::BigUint;

    use super::ifma::{FixedBase8, Modulus8};
    use super::level::Level;

    #[test]
    fn every_kernel_has_its_stand_in() {
        assert_eq!(Level::available().count(), Level::ALL.len());
        if Level::in_use() == Level::Avx512 {
            assert_eq!(super::aes::Kernel::available().len(), 4);
            assert!(super::ifma::available());
            assert!(super::ristretto8::Ristretto8::detect().is_some());
        }
    }

    /// Numbers of so many limbs: all bits set, the ends set, and mixed ones.
    fn numbers(width: usize) -> [Vec<u64>; 8] {
        let mixed = |seed: u64| {
            let step = 0x9e37_79b9_7f4a_7c15_u64;
            (1..=width as u64).map(|i| (seed + i).wrapping_mul(step).rotate_left(29)).collect()
        };
        let mut ends = vec![0; width];
        ends[width - 1] = 1 << 63;
        ends[0] |= 1;
        let ones = vec![u64::MAX; width];
        [ones, ends, vec![1], vec![0], mixed(1), mixed(2), mixed(3), mixed(4)]
    }

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::from_bytes_le(&limbs.iter().flat_map(|l| l.to_le_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn eight_numbers_at_once_are_multiplied_like_one() {
        if Level::in_use() != Level::Avx512 {
            return;
        }
        for width in [1, 2, 13, 16, 25, 33, 48] {
            let numbers = numbers(width);
            for modulus in [&numbers[0], &numbers[1]] {
                let ring = Modulus8::new(modulus).unwrap();
                let m = big(modulus);
                let a = ring.load(numbers.each_ref().map(Vec::as_slice));
                let mut turned = numbers.clone();
                turned.rotate_left(3);
                let b = ring.load(turned.each_ref().map(Vec::as_slice));
                let (mut product, mut square) = (ring.one(), ring.one());
                ring.mul(&a, &b, &mut product);
                ring.square(&a, &mut square);
                let (product, square) = (ring.store(&product), ring.store(&square));
                for lane in 0..8 {
                    let (x, y) = (big(&numbers[lane]), big(&turned[lane]));
                    assert_eq!(big(&product[lane]), &x * y % &m);
                    assert_eq!(big(&square[lane]), &x * &x % &m);
                }
            }
        }
    }

    #[test]
    fn eight_numbers_at_once_are_raised_like_one() {
        const BITS: usize = 23;
        if Level::in_use() != Level::Avx512 {
            return;
        }
        for width in [1, 16] {
            let numbers = numbers(width);
            let (m, slices) = (big(&numbers[0]), numbers.each_ref().map(Vec::as_slice));
            let ring = Modulus8::new(&numbers[0]).unwrap();
            let powers = ring.store(&ring.pow(&ring.load(slices), slices, BITS));
            let fixed = FixedBase8::new(&ring, &numbers[5], BITS, 0);
            let fixed = fixed.pow_many(&[slices, slices, slices, slices, slices]);
            for lane in 0..8 {
                let exponent = BigUint::from(numbers[lane][0] & ((1 << BITS) - 1));
                assert_eq!(big(&powers[lane]), big(&numbers[lane]).modpow(&exponent, &m));
                let expected = big(&numbers[5]).modpow(&exponent, &m);
                for group in &fixed {
                    assert_eq!(big(&ring.store(group)[lane]), expected);
                }
            }
        }
    }
}
