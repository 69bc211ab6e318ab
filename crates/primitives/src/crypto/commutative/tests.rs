use proptest::prelude::*;

use super::*;

fn domain() -> Domain {
    Domain::new([7; 32])
}

/// Runs a check in both groups.
macro_rules! in_both_groups {
    ($name:ident, $check:ident) => {
        mod $name {
            use super::*;

            #[test]
            fn ristretto255() {
                $check(&Ristretto::new());
            }

            #[test]
            fn residues() {
                $check(&Residues::ffdhe3072().unwrap());
            }
        }
    };
}

fn check_order_does_not_matter<G: Group>(group: &G) {
    let mut rng = Randomness::seeded(1);
    let (a, b) = (group.generate_key(&mut rng), group.generate_key(&mut rng));
    for identifier in [&b""[..], b"x", b"a longer identifier with spaces"] {
        let a_first = group.encrypt(&a, &domain(), identifier).unwrap();
        let b_first = group.encrypt(&b, &domain(), identifier).unwrap();
        assert_ne!(a_first, b_first);
        assert_eq!(group.reencrypt(&b, &a_first), group.reencrypt(&a, &b_first));
    }
}
in_both_groups!(encrypting_twice_gives_the_same_in_either_order, check_order_does_not_matter);

fn check_inverse<G: Group>(group: &G) {
    let mut rng = Randomness::seeded(2);
    let (a, b) = (group.generate_key(&mut rng), group.generate_key(&mut rng));
    let mut hash = vec![0; group.element_bytes()];
    group.hash_batch(&domain(), &[b"x"], &mut hash).unwrap();
    let once = group.encrypt(&a, &domain(), b"x").unwrap();
    let twice = group.reencrypt(&b, &once).unwrap();
    assert_eq!(group.decrypt(&b, &twice).unwrap(), once);
    assert_eq!(group.decrypt(&a, &once).unwrap(), hash);
    assert_eq!(group.reencrypt(&a, &hash).unwrap(), once);
}
in_both_groups!(decryption_undoes_encryption_down_to_the_hash, check_inverse);

fn check_sessions<G: Group>(group: &G) {
    let key = group.generate_key(&mut Randomness::seeded(3));
    let here = group.encrypt(&key, &Domain::new([1; 32]), b"x").unwrap();
    let there = group.encrypt(&key, &Domain::new([2; 32]), b"x").unwrap();
    assert_ne!(here, there);
}
in_both_groups!(two_sessions_hash_the_same_identifier_apart, check_sessions);

fn check_many_is_one_by_one<G: Group>(group: &G, count: usize) {
    let key = group.generate_key(&mut Randomness::seeded(4));
    let names: Vec<String> = (0..count).map(|i| format!("id {i}")).collect();
    let identifiers: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let width = group.element_bytes();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let progress = |just_done| {
        done.fetch_add(just_done, std::sync::atomic::Ordering::Relaxed);
    };
    let mut out = vec![0; count * width];
    group.encrypt_many(&key, &domain(), &identifiers, &mut out, &progress).unwrap();
    for (identifier, element) in identifiers.iter().zip(out.chunks(width)) {
        assert_eq!(group.encrypt(&key, &domain(), identifier).unwrap(), element);
    }
    let once = out.clone();
    group.reencrypt_many(&key, &mut out, &progress).unwrap();
    for (before, after) in once.chunks(width).zip(out.chunks(width)) {
        assert_eq!(group.reencrypt(&key, before).unwrap(), after);
    }
    assert_eq!(done.into_inner(), 2 * count);
}

#[test]
fn many_at_once_give_what_each_alone_gives() {
    for count in [0, 1, 7, 8, 9, BATCH - 1, BATCH, 2 * BATCH + 13] {
        check_many_is_one_by_one(&Ristretto::new(), count);
    }
    check_many_is_one_by_one(&Residues::ffdhe3072().unwrap(), 3);
}

fn check_bad_elements_are_named<G: Group>(group: &G, identity: &[u8]) {
    let key = group.generate_key(&mut Randomness::seeded(5));
    let width = group.element_bytes();
    let good = group.encrypt(&key, &domain(), b"x").unwrap();

    let place = 2;
    let mut list = good.repeat(5);
    list[place * width..(place + 1) * width].copy_from_slice(identity);
    let refused = group.reencrypt_many(&key, &mut list, &|_| {});
    assert_eq!(refused, Err(Error::Identity { position: place }));

    let mut list = good.repeat(5);
    list[place * width..(place + 1) * width].fill(0xff);
    let refused = group.reencrypt_many(&key, &mut list, &|_| {});
    assert_eq!(refused, Err(Error::NotInGroup { position: place }));

    let short = &good[..width - 1];
    assert!(matches!(group.reencrypt(&key, short), Err(Error::Width { .. })));
    assert!(matches!(group.reencrypt(&key, &[]), Err(Error::Width { .. })));
}

#[test]
fn a_bad_element_is_refused_and_its_place_named() {
    check_bad_elements_are_named(&Ristretto::new(), &[0; 32]);
    let mut one = [0; 384];
    one[383] = 1;
    check_bad_elements_are_named(&Residues::ffdhe3072().unwrap(), &one);
}

#[test]
fn the_place_of_a_bad_element_counts_from_the_beginning_of_the_list() {
    let key = Ristretto::new().generate_key(&mut Randomness::seeded(6));
    let good = Ristretto::new().encrypt(&key, &domain(), b"x").unwrap();
    let mut list = good.repeat(2 * BATCH);
    let place = BATCH + 5;
    list[place * 32..(place + 1) * 32].fill(0);
    let refused = Ristretto::new().reencrypt_many(&key, &mut list, &|_| {});
    assert_eq!(refused, Err(Error::Identity { position: place }));
}

#[test]
fn a_non_residue_is_refused() {
    let group = Residues::ffdhe3072().unwrap();
    let key = group.generate_key(&mut Randomness::seeded(7));
    let good = group.encrypt(&key, &domain(), b"x").unwrap();
    // −1 is not a square modulo a safe prime, so the negative of a square is not one either.
    let prime = num_bigint::BigUint::parse_bytes(FFDHE3072.as_bytes(), 16).unwrap();
    let negative = prime - num_bigint::BigUint::from_bytes_be(&good);
    let bytes = negative.to_bytes_be();
    let mut element = vec![0; 384 - bytes.len()];
    element.extend(bytes);
    assert_eq!(group.reencrypt(&key, &element), Err(Error::NotInGroup { position: 0 }));
}

#[test]
fn the_built_in_prime_is_a_safe_prime() {
    let prime = num_bigint::BigUint::parse_bytes(FFDHE3072.as_bytes(), 16).unwrap();
    let built_in = Residues::ffdhe3072().unwrap();
    let checked = Residues::new(&prime.to_bytes_be()).unwrap();
    let key = [3; 384];
    let (a, b) = (built_in.key_from_bytes(&key).unwrap(), checked.key_from_bytes(&key).unwrap());
    assert_eq!(
        built_in.encrypt(&a, &domain(), b"x").unwrap(),
        checked.encrypt(&b, &domain(), b"x").unwrap()
    );
    assert_eq!(built_in.suite(), checked.suite());
}

#[test]
fn keys_do_not_print_themselves() {
    let mut rng = Randomness::seeded(8);
    assert_eq!(format!("{:?}", Ristretto::new().generate_key(&mut rng)), "RistrettoKey(..)");
    let residues = Residues::ffdhe3072().unwrap();
    assert_eq!(format!("{:?}", residues.generate_key(&mut rng)), "ResidueKey(..)");
}

/// Every batch size, so that vectors with every number of used lanes occur.
#[test]
fn vector_and_portable_code_agree() {
    let (vector, portable) = (Ristretto::new(), Ristretto::portable());
    let mut rng = Randomness::seeded(10);
    for count in (0..20).chain([64, 256]) {
        let key = vector.generate_key(&mut rng);
        let names: Vec<[u8; 16]> = (0..count).map(|_| rng.array()).collect();
        let identifiers: Vec<&[u8]> = names.iter().map(<[u8; 16]>::as_slice).collect();
        let (mut one, mut two) = (vec![0; count * 32], vec![0; count * 32]);
        vector.encrypt_batch(&key, &domain(), &identifiers, &mut one).unwrap();
        portable.encrypt_batch(&key, &domain(), &identifiers, &mut two).unwrap();
        assert_eq!(one, two);
        vector.check_batch(&one).unwrap();
        vector.reencrypt_batch(&key, &mut one).unwrap();
        portable.reencrypt_batch(&key, &mut two).unwrap();
        assert_eq!(one, two);
    }
}

/// Found by fuzzing: an invalid element preceded an identity.
#[test]
fn vector_and_portable_code_name_the_same_element_of_several_bad_ones() {
    let (vector, portable) = (Ristretto::new(), Ristretto::portable());
    let mut good = [0; 32];
    let key = vector.key_from_bytes(&[[3].as_slice(), &[0; 31]].concat()).unwrap();
    vector.hash_batch(&domain(), &[b"x"], &mut good).unwrap();
    let (identity, odd) = ([0; 32], [1; 32]);
    for elements in [[odd, identity, good], [identity, odd, good], [good, identity, odd]] {
        let bytes = elements.as_flattened();
        let refused = portable.check_batch(bytes);
        assert!(refused.is_err());
        assert_eq!(vector.check_batch(bytes), refused);
        assert_eq!(vector.reencrypt_batch(&key, &mut bytes.to_vec()), refused);
        assert_eq!(portable.reencrypt_batch(&key, &mut bytes.to_vec()), refused);
    }
}

#[test]
fn vector_and_portable_code_agree_in_the_residues() {
    let vector = Residues::ffdhe3072().unwrap();
    let portable = vector.clone().portable();
    let key = vector.generate_key(&mut Randomness::seeded(11));
    let names: Vec<String> = (0..11).map(|i| i.to_string()).collect();
    let identifiers: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let (mut one, mut two) = (vec![0; 11 * 384], vec![0; 11 * 384]);
    vector.encrypt_batch(&key, &domain(), &identifiers, &mut one).unwrap();
    portable.encrypt_batch(&key, &domain(), &identifiers, &mut two).unwrap();
    assert_eq!(one, two);
    vector.reencrypt_batch(&key, &mut one).unwrap();
    portable.reencrypt_batch(&key, &mut two).unwrap();
    assert_eq!(one, two);
}

#[test]
fn vector_and_portable_code_agree_on_extreme_keys() {
    let (vector, portable) = (Ristretto::new(), Ristretto::portable());
    // 1, 2, 8, 16, and −1, −2: digits at both ends of their range.
    for (low, high) in [(1, 0), (2, 0), (8, 0), (0x88, 0), (0xff, 0), (0x77, 0x0f)] {
        let mut bytes = [low; 32];
        bytes[31] = high;
        let key = vector.key_from_bytes(&bytes).unwrap();
        for key in [&key, &vector.inverse(&key)] {
            let element = vector.encrypt(key, &domain(), b"x").unwrap();
            assert_eq!(element, portable.encrypt(key, &domain(), b"x").unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ristretto_keys_commute_and_invert(
        seed: u64,
        identifier in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut rng = Randomness::seeded(seed);
        let (a, b) = (Ristretto::new().generate_key(&mut rng), Ristretto::new().generate_key(&mut rng));
        let ea = Ristretto::new().encrypt(&a, &domain(), &identifier).unwrap();
        let eb = Ristretto::new().encrypt(&b, &domain(), &identifier).unwrap();
        let eab = Ristretto::new().reencrypt(&b, &ea).unwrap();
        prop_assert_eq!(&eab, &Ristretto::new().reencrypt(&a, &eb).unwrap());
        prop_assert_eq!(Ristretto::new().decrypt(&a, &eab).unwrap(), eb);
    }

    #[test]
    fn vector_and_portable_code_refuse_the_same_bytes(
        bytes in proptest::collection::vec(any::<u8>(), 32),
        clear: bool,
    ) {
        let mut bytes = bytes;
        if clear {
            // Canonical and even: half of these are elements.
            bytes[0] &= 0xfe;
            bytes[31] &= 0x3f;
        }
        let key = Ristretto::new().generate_key(&mut Randomness::seeded(9));
        prop_assert_eq!(
            Ristretto::new().reencrypt(&key, &bytes),
            Ristretto::portable().reencrypt(&key, &bytes)
        );
        prop_assert_eq!(
            Ristretto::new().check_batch(&bytes),
            Ristretto::portable().check_batch(&bytes)
        );
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let key = Ristretto::new().generate_key(&mut Randomness::seeded(9));
        let _ = Ristretto::new().reencrypt(&key, &bytes);
        let _ = Ristretto::new().key_from_bytes(&bytes);
    }
}
