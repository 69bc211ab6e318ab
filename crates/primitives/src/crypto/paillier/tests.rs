//! Properties, invalid input, and what the owner can see.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Zero};
use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::math::{Randomness, limbs, modular, prime};

const BITS: usize = 512;

/// One small key per backend, shared by all tests.
fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    KEY.get_or_init(|| small_key(Backend::detect()))
}

fn small_key(backend: Backend) -> SecretKey {
    let tuning = Tuning { backend, table_bytes: 1 << 20 };
    SecretKey::generate_for_tests(BITS, tuning, &mut Randomness::seeded(1)).unwrap()
}

fn silent() -> Progress<'static> {
    &|_| ()
}

fn working(fresh: &[Fresh]) -> Vec<Ciphertext> {
    let mut bytes = Vec::new();
    fresh.iter().for_each(|c| c.write(&mut bytes));
    key().public().read(&bytes, fresh.len()).unwrap()
}

fn encrypt(m: &BigUint, rng: &mut Randomness) -> Ciphertext {
    working(&[key().encrypt(m, rng).unwrap()]).pop().unwrap()
}

fn decrypt(c: &Ciphertext, rng: &mut Randomness) -> BigUint {
    let public = key().public();
    key().decrypt(&public.rerandomise(c, public.randomiser(rng).unwrap()))
}

fn plaintext() -> impl Strategy<Value = BigUint> {
    let n = key().public().modulus();
    prop_oneof![
        8 => prop::collection::vec(any::<u8>(), BITS / 8)
            .prop_map(|bytes| BigUint::from_bytes_be(&bytes) % key().public().modulus()),
        1 => Just(BigUint::zero()),
        1 => Just(n - 1u8),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_was_encrypted_is_decrypted(m in plaintext(), seed in any::<u64>()) {
        let mut rng = Randomness::seeded(seed);
        let public = key().public();
        prop_assert_eq!(&decrypt(&encrypt(&m, &mut rng), &mut rng), &m);
        prop_assert_eq!(&key().decrypt(&public.encrypt(&m, &mut rng).unwrap()), &m);
        let quick = public.encrypt_djn(std::slice::from_ref(&m), &mut rng, silent()).unwrap();
        prop_assert_eq!(&decrypt(&quick[0], &mut rng), &m);
    }

    #[test]
    fn operations_on_ciphertexts_are_operations_on_plaintexts(
        a in plaintext(), b in plaintext(), k in any::<i64>(), seed in any::<u64>(),
    ) {
        let mut rng = Randomness::seeded(seed);
        let public = key().public();
        let n = public.modulus();
        let (x, y) = (encrypt(&a, &mut rng), encrypt(&b, &mut rng));
        let mut open = |c: &Ciphertext| decrypt(c, &mut rng);
        prop_assert_eq!(open(&public.add(&x, &y)), (&a + &b) % n);
        prop_assert_eq!(open(&public.add_plain(&x, &b).unwrap()), (&a + &b) % n);
        prop_assert_eq!(open(&public.negate(&x).unwrap()), (n - &a) % n);
        prop_assert_eq!(open(&public.mul_plain(&x, &b, BITS).unwrap()), &a * &b % n);
        let product = public.mul_plain_signed(&x, &BigInt::from(k), 64).unwrap();
        let expected = BigInt::from(a.clone()) * k;
        let expected = public.encode_signed(&centred(expected, n)).unwrap();
        prop_assert_eq!(open(&product), expected);
        prop_assert_eq!(open(&public.mul_plain(&x, &BigUint::zero(), 8).unwrap()), BigUint::zero());
        prop_assert_eq!(open(&public.sum(&[&x, &y, &x])), (&a + &b + &a) % n);
        prop_assert_eq!(open(&public.sum(&[])), BigUint::zero());
    }

    #[test]
    fn rerandomising_changes_the_ciphertext_and_not_the_plaintext(m in plaintext(), seed in any::<u64>()) {
        let mut rng = Randomness::seeded(seed);
        let public = key().public();
        let x = encrypt(&m, &mut rng);
        let first = public.rerandomise(&x, public.randomiser(&mut rng).unwrap());
        let second = public.rerandomise(&x, public.randomiser(&mut rng).unwrap());
        prop_assert!(first != second);
        prop_assert_ne!(limbs::to_biguint(&first.0), public.number(&x));
        prop_assert_eq!(key().decrypt(&first), m.clone());
        prop_assert_eq!(key().decrypt(&second), m);
    }

    #[test]
    fn signed_numbers_round_trip(m in plaintext(), negative in any::<bool>()) {
        let public = key().public();
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        let number = BigInt::from_biguint(sign, m >> 1);
        let encoded = public.encode_signed(&number).unwrap();
        prop_assert_eq!(public.decode_signed(&encoded).unwrap(), number);
    }

    #[test]
    fn packed_values_round_trip_at_every_width(width in 1usize..BITS, seed in any::<u64>()) {
        let mut rng = Randomness::seeded(seed);
        let packing = Packing::new(key().public(), width).unwrap();
        prop_assert_eq!(packing.slots(), (BITS - 1) / width);
        let mask = (BigUint::one() << width) - 1u8;
        let values: Vec<BigUint> = (0..packing.slots())
            .map(|i| if i % 3 == 0 { mask.clone() } else { modular::random_below(&(&mask + 1u8), &mut rng).unwrap() })
            .collect();
        let packed = packing.pack(&values).unwrap();
        prop_assert!(&packed < key().public().modulus());
        prop_assert_eq!(packing.unpack(&packed, values.len()).unwrap(), values);
    }

    #[test]
    fn owner_and_public_agree_for_given_randomness(m in plaintext(), r in plaintext(), a in any::<u128>()) {
        let public = key().public();
        let r = r.max(BigUint::one());
        let textbook = public.encrypt_with_nonce(&m, &r).unwrap();
        let n_squared = public.modulus() * public.modulus();
        let expected = (public.modulus() * &m + 1u8) * r.modpow(public.modulus(), &n_squared) % &n_squared;
        prop_assert_eq!(limbs::to_biguint(&textbook.0), expected);
        let a = BigUint::from(a) << 100;
        let owner = key().encrypt_with_exponent(&m, &a).unwrap();
        let expected = (public.modulus() * &m + 1u8) * public.base().modpow(&a, &n_squared) % &n_squared;
        prop_assert_eq!(limbs::to_biguint(&owner.0), expected.clone());
        prop_assert_eq!(public.encrypt_with_exponent(&m, &a).unwrap(), expected);
    }
}

fn centred(x: BigInt, n: &BigUint) -> BigInt {
    let n = BigInt::from(n.clone());
    let x = ((x % &n) + &n) % &n;
    if x > (&n >> 1) { x - n } else { x }
}

#[test]
fn bulk_operations_do_what_single_ones_do_and_report_progress() {
    let mut rng = Randomness::seeded(3);
    let public = key().public();
    let plaintexts: Vec<BigUint> = (0..21u32).map(|i| BigUint::from(i) << (11 * i)).collect();
    let done = AtomicUsize::new(0);
    let count = |n| {
        done.fetch_add(n, Ordering::Relaxed);
    };
    let fresh = key().encrypt_all(&plaintexts, &mut rng, &count).unwrap();
    assert_eq!(done.swap(0, Ordering::Relaxed), 21);
    let ciphertexts = working(&fresh);
    let returned = public.rerandomise_all(&ciphertexts, &mut rng, &count).unwrap();
    assert_eq!(done.swap(0, Ordering::Relaxed), 21);
    assert_eq!(key().decrypt_all(&returned, &count), plaintexts);
    assert_eq!(done.swap(0, Ordering::Relaxed), 21);
    let textbook = public.encrypt_all(&plaintexts, &mut rng, &count).unwrap();
    assert_eq!(key().decrypt_all(&textbook, silent()), plaintexts);
    let quick = public.encrypt_djn(&plaintexts, &mut rng, silent()).unwrap();
    let groups: Vec<usize> = (0..21).map(|i| i % 4).collect();
    let mut sums = GroupSums::new(public, 5);
    sums.add(&quick, &groups, &count).unwrap();
    for (group, sum) in sums.finish().iter().enumerate() {
        let expected: BigUint = plaintexts.iter().skip(group).step_by(4).sum();
        let expected = if group == 4 { BigUint::zero() } else { expected };
        assert_eq!(decrypt(sum, &mut rng), expected);
    }
    let refused = |groups: &[usize], count| {
        GroupSums::new(public, count).add(&quick, groups, silent()).unwrap_err()
    };
    assert_eq!(refused(&groups[1..], 5), Error::Mismatch(21, 20));
    assert_eq!(refused(&groups, 3), Error::Mismatch(3, 3));
    assert!(key().encrypt_all(&[], &mut rng, silent()).unwrap().is_empty());
    assert!(public.read(&[], 0).unwrap().is_empty());
}

#[test]
fn both_backends_give_the_same_ciphertexts_and_plaintexts() {
    let vector = small_key(Backend::Vector);
    let portable = small_key(Backend::Portable);
    assert_eq!(vector.public(), portable.public());
    let n = portable.public().modulus();
    let plaintexts: Vec<BigUint> = (0..19u32)
        .map(|i| if i % 5 == 4 { n - 1u8 } else { BigUint::from(i) << (20 * i) })
        .collect();
    let run = |key: &SecretKey| {
        let mut rng = Randomness::seeded(5);
        let public = key.public();
        let fresh = key.encrypt_all(&plaintexts, &mut rng, silent()).unwrap();
        let textbook = public.encrypt_all(&plaintexts, &mut rng, silent()).unwrap();
        let quick = public.encrypt_djn(&plaintexts, &mut rng, silent()).unwrap();
        let returned = public.rerandomise_all(&quick, &mut rng, silent()).unwrap();
        assert_eq!(key.decrypt_all(&returned, silent()), plaintexts);
        assert_eq!(key.decrypt_all(&textbook, silent()), plaintexts);
        (fresh, textbook, quick, returned)
    };
    assert!(run(&vector) == run(&portable));
}

/// The owner computes the Jacobi symbol of what comes back. h_n has symbol +1, so without uniform
/// randomness every product of DJN ciphertexts has symbol +1 and a product with others shows it.
/// With r^n the symbol is a fair coin whatever was combined. Two times 400 coins: more than 276 or
/// fewer than 124 heads among 400 (7.6 standard deviations) has probability below 10^-13.
#[test]
fn the_jacobi_symbol_of_what_returns_does_not_depend_on_what_was_combined() {
    let mut rng = Randomness::seeded(7);
    let public = key().public();
    let symbol = |c: &BigUint| jacobi_symbol(c, public.modulus());
    let quick = public.encrypt_djn(&vec![BigUint::one(); 4], &mut rng, silent()).unwrap();
    assert!(quick.iter().all(|c| symbol(&public.number(c)) == 1), "the premise: DJN shows");
    let odd = loop {
        let c = public.encrypt(&BigUint::one(), &mut rng).unwrap();
        if symbol(&limbs::to_biguint(&c.0)) == -1 {
            let mut bytes = Vec::new();
            c.write(&mut bytes);
            break public.read(&bytes, 1).unwrap().pop().unwrap();
        }
    };
    for combined in
        [public.sum(&[&quick[0], &quick[1]]), public.sum(&[&quick[0], &odd]), public.sum(&[])]
    {
        let copies = vec![combined; 400];
        let returned = public.rerandomise_all(&copies, &mut rng, silent()).unwrap();
        let heads = returned.iter().filter(|c| symbol(&limbs::to_biguint(&c.0)) == 1);
        let heads = heads.count();
        assert!((124..=276).contains(&heads), "{heads} of 400");
    }
}

#[test]
fn a_pool_gives_distinct_randomisers_and_stops_when_dropped() {
    let public = key().public();
    let pool = Pool::start(public, 3).unwrap();
    let zero = public.sum(&[]);
    let mut seen = Vec::new();
    for _ in 0..20 {
        let returned = public.rerandomise(&zero, pool.take().unwrap());
        assert_eq!(key().decrypt(&returned), BigUint::zero());
        assert!(!seen.contains(&returned));
        seen.push(returned);
    }
    drop(pool);
}

#[test]
fn bad_public_keys_are_refused_each_for_its_reason() {
    let mut rng = Randomness::seeded(9);
    let mut check = |n: &BigUint, h: &BigUint| {
        PublicKey::from_parts(n.clone(), h.clone(), BITS, Tuning::default(), &mut rng).err()
    };
    let (n, h) = (key().public().modulus(), key().public().base());
    let n_squared = n * n;
    let p = BigUint::from_bytes_be(&key().to_bytes()[..BITS / 16]);
    let top = BigUint::one() << (BITS - 1);
    assert_eq!(check(n, h), None);
    assert_eq!(check(&(n + 1u8), h), Some(Error::EvenModulus));
    assert_eq!(check(&(n >> 2), h), Some(Error::ModulusLength { found: 510, expected: 512 }));
    assert_eq!(check(&(&p * &p), h), Some(Error::PerfectPower));
    let divisible = (&top / 65_521u32 + 1u8) * 65_521u32;
    let divisible = if divisible.bit(0) { divisible } else { divisible + 65_521u32 };
    assert!(matches!(check(&divisible, h), Some(Error::SmallFactor(_))));
    let prime = glass_pumpkin::prime::from_rng(BITS, &mut Randomness::seeded(2)).unwrap();
    assert_eq!(check(&prime, h), Some(Error::PrimeModulus));
    for bad in [BigUint::zero(), BigUint::one(), n_squared.clone(), &n_squared - 1u8] {
        assert_eq!(check(n, &bad), Some(Error::BaseOutOfRange));
    }
    assert_eq!(check(n, &(&p * 3u8)), Some(Error::BaseNotCoprime));
}

#[test]
fn short_keys_and_wrong_lengths_are_refused() {
    let mut rng = Randomness::seeded(10);
    let bytes = key().public().to_bytes();
    let tuning = Tuning::default();
    for bits in [0, 512, 1024, 2047, 2049, 2050, 1 << 20, usize::MAX] {
        let refused = Some(Error::UnsupportedLength(bits));
        assert_eq!(PublicKey::from_bytes(&bytes, bits, tuning, &mut rng).err(), refused);
        assert_eq!(SecretKey::from_bytes(&bytes, bits, tuning, &mut rng).err(), refused);
        assert_eq!(SecretKey::generate(bits, tuning, &mut rng).err(), refused);
    }
    let short = PublicKey::from_bytes_for_tests(&bytes[1..], BITS, tuning, &mut rng);
    assert_eq!(short.err(), Some(Error::WrongLength { found: 191, expected: 192 }));
    let read = PublicKey::from_bytes_for_tests(&bytes, BITS, tuning, &mut rng).unwrap();
    assert_eq!(&read, key().public());
}

#[test]
fn bad_ciphertexts_are_refused_by_both_sides() {
    let public = key().public();
    let n = public.modulus();
    let p = BigUint::from_bytes_be(&key().to_bytes()[..BITS / 16]);
    let bytes = |c: &BigUint| {
        let mut bytes = Vec::new();
        let good = key().encrypt(&BigUint::one(), &mut Randomness::seeded(1)).unwrap();
        good.write(&mut bytes);
        limbs::extend_bytes_be(&mut bytes, &limbs::from_biguint(c, BITS / 32));
        bytes
    };
    let check = |c: &BigUint| {
        let bytes = bytes(c);
        let owner = key().read(&bytes, 2).err();
        assert_eq!(owner, public.read(&bytes, 2).err());
        owner
    };
    assert_eq!(check(&BigUint::from(2u8)), None);
    assert_eq!(check(&BigUint::zero()), Some(Error::CiphertextOutOfRange(1)));
    assert_eq!(check(&(n * n)), Some(Error::CiphertextOutOfRange(1)));
    assert_eq!(check(&(n * n + 1u8)), Some(Error::CiphertextOutOfRange(1)));
    for shared in [n.clone(), p.clone(), &p * 77u8, n * n - n] {
        assert_eq!(check(&shared), Some(Error::CiphertextNotCoprime));
    }
    let good = bytes(&BigUint::from(2u8));
    for count in [0, 1, 3, usize::MAX] {
        assert!(matches!(public.read(&good, count), Err(Error::WrongLength { .. })));
    }
    assert!(matches!(public.read(&good[1..], 2), Err(Error::WrongLength { .. })));
}

#[test]
fn bad_plaintexts_slots_and_exponents_are_refused() {
    let mut rng = Randomness::seeded(12);
    let public = key().public();
    let n = public.modulus().clone();
    let x = public.sum(&[]);
    assert_eq!(public.encrypt(&n, &mut rng), Err(Error::PlaintextOutOfRange(0)));
    let mut list = vec![BigUint::zero(); 12];
    list[10] = n.clone();
    assert_eq!(key().encrypt_all(&list, &mut rng, silent()), Err(Error::PlaintextOutOfRange(10)));
    assert_eq!(public.encrypt_djn(&list, &mut rng, silent()), Err(Error::PlaintextOutOfRange(10)));
    assert_eq!(public.add_plain(&x, &n), Err(Error::PlaintextOutOfRange(0)));
    let too_large = BigInt::from(&n >> 1) + 1;
    assert_eq!(public.encode_signed(&too_large), Err(Error::SignedOutOfRange));
    assert_eq!(public.encode_signed(&-too_large), Err(Error::SignedOutOfRange));
    assert_eq!(public.decode_signed(&n), Err(Error::PlaintextOutOfRange(0)));
    let long = public.mul_plain(&x, &BigUint::from(256u32), 8);
    assert!(matches!(long, Err(Error::ExponentTooLong { .. })));
    for r in [BigUint::zero(), n.clone()] {
        assert_eq!(public.encrypt_with_nonce(&list[0], &r), Err(Error::RandomnessOutOfRange));
    }
    for width in [0, BITS, usize::MAX] {
        assert_eq!(Packing::new(public, width), Err(Error::SlotWidth { width, bits: BITS }));
    }
    let packing = Packing::new(public, 100).unwrap();
    let values = vec![BigUint::one(); 6];
    assert_eq!(packing.pack(&values), Err(Error::TooManySlots { found: 6, slots: 5 }));
    assert_eq!(packing.pack(&[BigUint::one(), BigUint::one() << 100]), Err(Error::SlotOverflow(1)));
    assert_eq!(packing.unpack(&BigUint::one(), 6), Err(Error::TooManySlots { found: 6, slots: 5 }));
    assert_eq!(packing.unpack(&(BigUint::one() << 500), 5), Err(Error::SlotOverflow(5)));
}

#[test]
fn bad_primes_are_refused() {
    let mut rng = Randomness::seeded(13);
    let (p, q) = prime::prime_pair(2048, &mut rng).unwrap();
    let mut check =
        |p: &BigUint, q: &BigUint| SecretKey::from_primes(p, q, Tuning::default(), &mut rng).err();
    let is_bad = |error: Option<Error>| matches!(error, Some(Error::BadPrimes(_)));
    assert!(is_bad(check(&p, &p)));
    assert!(is_bad(check(&p, &(&q >> 1))));
    assert!(is_bad(check(&p, &(&q + 4u8))));
    assert!(is_bad(check(&p, &(&q - 2u8))));
    let key = SecretKey::from_primes(&p, &q, Tuning::default(), &mut rng).unwrap();
    let again = SecretKey::from_bytes(&key.to_bytes(), 2048, Tuning::default(), &mut rng).unwrap();
    assert_eq!(again.public(), key.public());
    assert_eq!(again.to_bytes(), key.to_bytes());
}

#[test]
fn nothing_secret_is_printed() {
    let mut rng = Randomness::seeded(14);
    let public = key().public();
    assert_eq!(format!("{:?}", key()), "SecretKey(512 bits, ..)");
    assert_eq!(format!("{public:?}"), "PublicKey(512 bits)");
    assert_eq!(format!("{:?}", public.randomiser(&mut rng).unwrap()), "Randomiser(..)");
    assert_eq!(format!("{:?}", public.sum(&[])), "Ciphertext(..)");
    assert_eq!(format!("{:?}", key().encrypt(&BigUint::one(), &mut rng).unwrap()), "Fresh(..)");
}

#[test]
fn limbs_are_wiped_and_exported_keys_wipe_themselves() {
    fn wipes<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    wipes(&key().to_bytes());
    wipes(&key().public().sum(&[]).0.0);
    let mut limbs = limbs::zeros(4);
    limbs.fill(7);
    zeroize::Zeroize::zeroize(&mut limbs);
    assert!(limbs.iter().all(|limb| *limb == 0));
}

/// The Jacobi symbol (a/n) for odd n: 1, −1, or 0 if they share a factor.
fn jacobi_symbol(a: &BigUint, n: &BigUint) -> i8 {
    let low = |x: &BigUint| x.iter_u64_digits().next().unwrap_or(0);
    let (mut a, mut n) = (a % n, n.clone());
    let mut symbol = 1;
    while !a.is_zero() {
        let twos = a.trailing_zeros().unwrap_or(0);
        a >>= twos;
        if twos % 2 == 1 && matches!(low(&n) % 8, 3 | 5) {
            symbol = -symbol;
        }
        if low(&a) % 4 == 3 && low(&n) % 4 == 3 {
            symbol = -symbol;
        }
        std::mem::swap(&mut a, &mut n);
        a %= &n;
    }
    if n.is_one() { symbol } else { 0 }
}

#[test]
fn the_jacobi_symbol_is_the_product_of_legendre_symbols() {
    let big = |x: u64| BigUint::from(x);
    let legendre = |a: u64, p: u64| match big(a).modpow(&big((p - 1) / 2), &big(p)) {
        x if x.is_zero() => 0,
        x if x.is_one() => 1,
        _ => -1,
    };
    for (p, q) in [(3, 5), (7, 11), (7, 7), (13, 3), (1009, 10_007)] {
        for a in 0..200 {
            let expected = legendre(a, p) * legendre(a, q);
            assert_eq!(jacobi_symbol(&big(a), &big(p * q)), expected, "{a} {p} {q}");
        }
    }
}
