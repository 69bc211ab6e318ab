use num_bigint::BigUint;
use proptest::prelude::*;

use super::{FixedBase8, Modulus8, available};

fn number(limbs: &[u64]) -> BigUint {
    BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

fn skip() -> bool {
    if !available() {
        println!("skipped: this processor has no AVX-512 IFMA");
    }
    !available()
}

fn modulus(mut limbs: Vec<u64>) -> Vec<u64> {
    limbs[0] |= 1;
    if let Some(last) = limbs.last_mut() {
        *last |= 2;
    }
    limbs
}

fn eight(numbers: &[Vec<u64>]) -> [&[u64]; 8] {
    std::array::from_fn(|i| numbers[i].as_slice())
}

/// Limbs of a width, often with runs of zeros and ones.
fn limbs(width: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        prop_oneof![3 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1)],
        width,
    )
}

fn operands() -> impl Strategy<Value = (Vec<u64>, Vec<Vec<u64>>, Vec<Vec<u64>>)> {
    (1usize..=96).prop_flat_map(|width| {
        (
            limbs(width).prop_map(modulus),
            prop::collection::vec(limbs(width), 8),
            prop::collection::vec(limbs(width), 8),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn products_and_squares_are_those_of_num_bigint((m, a, b) in operands()) {
        if skip() { return Ok(()); }
        let ring = Modulus8::new(&m).unwrap();
        let (x, y) = (ring.load(eight(&a)), ring.load(eight(&b)));
        let mut product = ring.one();
        let mut square = ring.one();
        ring.mul(&x, &y, &mut product);
        ring.square(&x, &mut square);
        let (product, square) = (ring.store(&product), ring.store(&square));
        let m = number(&m);
        for lane in 0..8 {
            let (a, b) = (number(&a[lane]), number(&b[lane]));
            prop_assert_eq!(number(&product[lane]), &a * b % &m);
            prop_assert_eq!(number(&square[lane]), &a * &a % &m);
        }
    }

    #[test]
    fn powers_are_those_of_num_bigint(
        (m, a, e) in operands(), bits in 0usize..200, budget in 0usize..2_000_000,
    ) {
        if skip() { return Ok(()); }
        let ring = Modulus8::new(&m).unwrap();
        let powers = ring.store(&ring.pow(&ring.load(eight(&a)), eight(&e), bits));
        let fixed = FixedBase8::new(&ring, &a[0], bits, budget);
        let many = fixed.pow_many(&[eight(&e), eight(&e), eight(&a)]);
        let fixed = ring.store(&fixed.pow(eight(&e)));
        prop_assert_eq!(&ring.store(&many[1]), &fixed);
        let m = number(&m);
        for lane in 0..8 {
            let exponent = number(&e[lane]) % (BigUint::from(1u8) << bits);
            prop_assert_eq!(number(&powers[lane]), number(&a[lane]).modpow(&exponent, &m));
            prop_assert_eq!(number(&fixed[lane]), number(&a[0]).modpow(&exponent, &m));
        }
    }
}
