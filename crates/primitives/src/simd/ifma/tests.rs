use num_bigint::BigUint;
use proptest::prelude::*;

use super::{FixedBase8, Lanes, MAX_BITS, Modulus8, available};

/// Prints a message and returns true where the instructions are missing.
fn skipped() -> bool {
    if !available() {
        println!("skipped: this processor has no AVX-512 IFMA");
    }
    !available()
}

fn number(limbs: &[u64]) -> BigUint {
    BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

fn limbs_of(number: &BigUint) -> Vec<u64> {
    number.to_u64_digits()
}

fn eight(numbers: &[Vec<u64>]) -> [&[u64]; 8] {
    std::array::from_fn(|lane| numbers[lane].as_slice())
}

/// Numbers at which carries and reductions are most likely to go wrong.
fn extremes(modulus: &BigUint, width: usize) -> Vec<Vec<u64>> {
    let ones = (BigUint::from(1u8) << (64 * width)) - 1u8;
    let top = BigUint::from(1u8) << (64 * width - 1);
    let half: BigUint = modulus >> 1;
    [0u8.into(), 1u8.into(), modulus - 1u8, modulus.clone(), ones, top, half, modulus - 2u8]
        .iter()
        .map(limbs_of)
        .collect()
}

/// Moduli of a width: all ones, only the ends set, and a top limb of one over zeros or ones.
fn extreme_moduli(width: usize) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let bits = 64 * width;
    let mut moduli = vec![(&one << bits) - 1u8, (&one << (bits - 1)) + 1u8];
    if width > 1 {
        moduli.push((&one << (bits - 64)) + 1u8);
        moduli.push((&one << (bits - 63)) - 1u8);
    } else {
        moduli.push(3u8.into());
    }
    moduli
}

#[test]
fn extreme_operands_agree_at_every_width() {
    if skipped() {
        return;
    }
    for width in 1..=MAX_BITS / 64 {
        for modulus in extreme_moduli(width) {
            let ring = Modulus8::new(&limbs_of(&modulus)).unwrap();
            let numbers = extremes(&modulus, width);
            let a = ring.load(eight(&numbers));
            let mut out = ring.one();
            ring.square(&a, &mut out);
            for (x, square) in numbers.iter().zip(ring.store(&out)) {
                assert_eq!(number(&square), number(x).pow(2) % &modulus);
            }
            for turn in 0..8 {
                let mut turned = numbers.clone();
                turned.rotate_left(turn);
                ring.mul(&a, &ring.load(eight(&turned)), &mut out);
                for ((x, y), product) in numbers.iter().zip(&turned).zip(ring.store(&out)) {
                    assert_eq!(number(&product), number(x) * number(y) % &modulus);
                }
            }
        }
    }
}

#[test]
fn values_stay_below_twice_the_modulus_in_long_chains() {
    if skipped() {
        return;
    }
    for width in [1, 16, 24, 32, 48, 64, 96] {
        for modulus in extreme_moduli(width) {
            let ring = Modulus8::new(&limbs_of(&modulus)).unwrap();
            let mut expected: Vec<_> =
                extremes(&modulus, width).iter().map(|x| number(x)).collect();
            let mut value = ring.load(eight(&extremes(&modulus, width)));
            let (first, mut next) = (value.clone(), value.clone());
            let factors = expected.clone();
            for step in 0..40 {
                if step % 3 == 0 {
                    ring.mul(&value, &first, &mut next);
                } else {
                    ring.square(&value, &mut next);
                }
                std::mem::swap(&mut value, &mut next);
                for (x, factor) in expected.iter_mut().zip(&factors) {
                    *x = if step % 3 == 0 { &*x * factor } else { x.pow(2) } % &modulus;
                }
                for raw in value.numbers(width + 12) {
                    assert!(number(&raw) < &modulus * 2u8);
                }
            }
            for (x, result) in expected.iter().zip(ring.store(&value)) {
                assert_eq!(number(&result), *x);
            }
        }
    }
}

#[test]
fn unsuitable_moduli_are_refused() {
    let mut too_wide = vec![u64::MAX; MAX_BITS / 64];
    assert_eq!(Modulus8::new(&too_wide).is_some(), available());
    too_wide.push(1);
    let refused: [&[u64]; 7] = [&[], &[0], &[1], &[1, 0], &[2], &[0, 1], &too_wide];
    for modulus in refused {
        assert!(Modulus8::new(modulus).is_none(), "{modulus:?}");
    }
}

#[test]
fn leading_zeros_and_missing_limbs_change_nothing() {
    if skipped() {
        return;
    }
    let ring = Modulus8::new(&[7, 9, 0, 0]).unwrap();
    let numbers: [&[u64]; 8] =
        [&[], &[0], &[5], &[5, 0], &[5, 0, 0, 0, 0, 0], &[7, 9], &[8, 9], &[12, 9, 0]];
    let stored = ring.store(&ring.load(numbers));
    let expected: [&[u64]; 8] =
        [&[0, 0], &[0, 0], &[5, 0], &[5, 0], &[5, 0], &[0, 0], &[1, 0], &[5, 0]];
    assert_eq!(stored.each_ref().map(Vec::as_slice), expected);
    let powers = ring.store(&ring.pow(&ring.load([&[3]; 8]), numbers, 4));
    for (power, exponent) in powers.iter().zip(numbers) {
        let exponent = exponent.first().map_or(0, |limb| limb % 16) as u32;
        assert_eq!(power[0], 3u64.pow(exponent));
    }
}

#[test]
fn an_exponent_of_no_bits_gives_one() {
    if skipped() {
        return;
    }
    let ring = Modulus8::new(&[101]).unwrap();
    let one = ring.store(&ring.one());
    assert_eq!(one, [(); 8].map(|()| vec![1]));
    assert_eq!(ring.store(&ring.pow(&ring.load([&[0]; 8]), [&[9]; 8], 0)), one);
    assert_eq!(ring.store(&FixedBase8::new(&ring, &[0], 0, 0).pow([&[9]; 8])), one);
    assert!(FixedBase8::new(&ring, &[5], 9, 0).pow_many(&[]).is_empty());
}

#[test]
fn a_table_keeps_to_its_budget_and_uses_it() {
    if skipped() {
        return;
    }
    let ring = Modulus8::new(&[u64::MAX; 32]).unwrap();
    let smallest = 16 * 40 * 8;
    for budget in [smallest, 10_000, 100_000, 1_000_000, 4_000_000] {
        let used = FixedBase8::new(&ring, &[3], 512, budget).table_bytes();
        assert!(used <= budget, "{used} of {budget}");
        assert!(3 * used > budget || used > 1_000_000, "{used} of {budget}");
    }
    assert_eq!(FixedBase8::new(&ring, &[3], 512, 0).table_bytes(), smallest);
}

#[test]
fn nothing_is_shown_and_wiping_leaves_zeros() {
    fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<(Lanes, Modulus8, FixedBase8)>();
    if skipped() {
        return;
    }
    let ring = Modulus8::new(&[0xdead_beef_1234_5679]).unwrap();
    let mut lanes = ring.load([&[0x1111_2222_3333_4444]; 8]);
    let fixed = FixedBase8::new(&ring, &[0x1111_2222_3333_4444], 16, 0);
    for shown in [format!("{ring:?}"), format!("{lanes:?}"), format!("{fixed:?}")] {
        assert!(shown.contains(".."), "{shown}");
        assert!(!shown.contains("dead") && !shown.contains("1606938"), "{shown}");
    }
    assert!(lanes.numbers(1).iter().all(|number| number[0] != 0));
    lanes.wipe();
    assert!(lanes.numbers(2).iter().all(|number| number == &[0, 0]));
}

/// Limbs of a width, often with runs of zeros and ones.
fn limbs(width: usize) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        prop_oneof![3 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1)],
        width,
    )
}

/// An odd modulus of 64 to [`MAX_BITS`] bits and two times eight numbers, each up to `longer` times
/// as long.
fn operands(longer: usize) -> impl Strategy<Value = (Vec<u64>, Vec<Vec<u64>>, Vec<Vec<u64>>)> {
    let odd = |mut limbs: Vec<u64>| {
        limbs[0] |= 1;
        if let Some(top) = limbs.last_mut() {
            *top |= 2;
        }
        limbs
    };
    (1..=MAX_BITS / 64).prop_flat_map(move |width| {
        let eight = || prop::collection::vec((1..=longer * width).prop_flat_map(limbs), 8);
        (limbs(width).prop_map(odd), eight(), eight())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn products_and_squares_are_those_of_num_bigint((m, a, b) in operands(1)) {
        if skipped() { return Ok(()); }
        let ring = Modulus8::new(&m).unwrap();
        let (x, y) = (ring.load(eight(&a)), ring.load(eight(&b)));
        let (mut product, mut square) = (ring.one(), ring.one());
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
    fn long_numbers_are_reduced_when_loaded((m, a, _) in operands(5)) {
        if skipped() { return Ok(()); }
        let ring = Modulus8::new(&m).unwrap();
        let stored = ring.store(&ring.load(eight(&a)));
        for (a, stored) in a.iter().zip(stored) {
            prop_assert_eq!(number(&stored), number(a) % number(&m));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn powers_are_those_of_num_bigint(
        (m, a, e) in operands(1), bits in 0usize..300, budget in 0usize..1_000_000,
    ) {
        if skipped() { return Ok(()); }
        let ring = Modulus8::new(&m).unwrap();
        let powers = ring.store(&ring.pow(&ring.load(eight(&a)), eight(&e), bits));
        let shared = ring.store(&ring.pow_shared(&ring.load(eight(&a)), &e[0], bits));
        let fixed = FixedBase8::new(&ring, &a[0], bits, budget);
        let many = fixed.pow_many(&[eight(&e), eight(&a), eight(&e)]);
        let many: Vec<_> = many.iter().map(|lanes| ring.store(lanes)).collect();
        let fixed = ring.store(&fixed.pow(eight(&e)));
        prop_assert_eq!(&many[0], &fixed);
        prop_assert_eq!(&many[2], &fixed);
        let m = number(&m);
        let lowest = |exponent: &[u64]| number(exponent) % (BigUint::from(1u8) << bits);
        for lane in 0..8 {
            let base = number(&a[lane]);
            prop_assert_eq!(number(&powers[lane]), base.modpow(&lowest(&e[lane]), &m));
            prop_assert_eq!(number(&shared[lane]), base.modpow(&lowest(&e[0]), &m));
            prop_assert_eq!(number(&fixed[lane]), number(&a[0]).modpow(&lowest(&e[lane]), &m));
            prop_assert_eq!(number(&many[1][lane]), number(&a[0]).modpow(&lowest(&a[lane]), &m));
        }
    }
}
