//! Shares reconstruct the value, reveal nothing alone, and opened shares are checked.

use num_bigint::{BigInt, BigUint};
use num_traits::One;
use proptest::prelude::*;

use super::*;
use crate::protocol::pair::{Setup, assert_same_shape, assert_wrong_length, run_pair};
use crate::role::Role;

fn rings() -> [Ring; 4] {
    let p255 = (BigUint::one() << 255) - 19u32;
    [Ring::PowerOfTwo(1), Ring::PowerOfTwo(77), Ring::Modulo(3u32.into()), Ring::Modulo(p255)]
}

proptest! {
    #[test]
    fn operations_on_shares_are_operations_on_values(
        seed: u64, ring in 0usize..4, x: u128, y: u128
    ) {
        let ring = &rings()[ring];
        let mut rng = Randomness::seeded(seed);
        let reduced = |value: &BigInt| ring.reduce(value);
        let (x, y) = (BigInt::from(x), BigInt::from(y));
        let (x1, x2) = deal(ring, &reduced(&x), &mut rng);
        let (y1, y2) = deal(ring, &reduced(&y), &mut rng);
        let both = |a: &Share, b: &Share| reconstruct(a, b).unwrap();
        prop_assert_eq!(both(&x1, &x2), reduced(&x));
        prop_assert_eq!(both(&x1.plus(&y1).unwrap(), &x2.plus(&y2).unwrap()), reduced(&(&x + &y)));
        prop_assert_eq!(both(&x1.negate(), &x2.negate()), reduced(&-&x));
    }

    #[test]
    fn integer_shares_move_to_any_ring(x: u32, mask: u128, k in 1usize..100) {
        let shares = [BigInt::from(mask), BigInt::from(x) - BigInt::from(mask)];
        let ring = Ring::PowerOfTwo(k);
        let [x1, x2] = shares.map(|share| IntegerShare::new(share, 32).to_ring(&ring));
        prop_assert_eq!(reconstruct(&x1, &x2).unwrap(), ring.reduce(&x.into()));
    }

    #[test]
    fn words_are_read_back_with_their_sign(value: i64, bits in 1u32..=64) {
        let half = 1i128 << (bits - 1);
        let expected = (i128::from(value) + half).rem_euclid(2 * half) - half;
        let word = WordShares::new(bits, vec![value.cast_unsigned()]).unwrap();
        prop_assert_eq!(i128::from(signed(word.words()[0], bits)), expected);
    }
}

#[test]
fn shares_of_different_rings_or_numbers_do_not_mix() {
    let mut rng = Randomness::seeded(2);
    let [one, other] = [Ring::PowerOfTwo(8), Ring::Modulo(256u32.into())];
    let (a, b) = (Share::random(&one, &mut rng), Share::random(&other, &mut rng));
    assert!(a.plus(&b).is_err_and(|e| e.says("Internal", "different rings or numbers")));
    let words = |bits, count| WordShares::new(bits, vec![0; count]).unwrap();
    assert!(
        words(8, 1)
            .plus(&words(9, 1))
            .is_err_and(|e| e.says("Internal", "different rings or numbers"))
    );
    assert!(
        words(8, 1)
            .plus(&words(8, 2))
            .is_err_and(|e| e.says("Internal", "different rings or numbers"))
    );
    assert!(WordShares::new(0, vec![]).is_err_and(|e| e.says("Internal", "words of 0 bits")));
    assert!(WordShares::new(65, vec![]).is_err_and(|e| e.says("Internal", "words of 65 bits")));
}

#[test]
fn nothing_that_is_printed_depends_on_the_value() {
    let ring = Ring::PowerOfTwo(16);
    let print = |n: i64| {
        let words = WordShares::new(16, vec![n.cast_unsigned()]).unwrap();
        format!("{:?} {words:?} {:?}", Share::new(&ring, &n.into()), IntegerShare::new(n.into(), 9))
    };
    assert_eq!(print(0), print(4711));
}

/// One share of a fixed value over Z_5, a thousand times: each of the five numbers comes up
/// within six deviations of 200; by chance that fails once in 10^8.
#[test]
fn a_single_share_is_uniform() {
    let ring = Ring::Modulo(5u32.into());
    let mut rng = Randomness::seeded(3);
    for party in 0..2 {
        let mut seen = [0u32; 5];
        for _ in 0..1000 {
            let shares = deal(&ring, &2u32.into(), &mut rng);
            let share = if party == 0 { shares.0 } else { shares.1 };
            seen[usize::try_from(share.number()).unwrap()] += 1;
        }
        let six_deviations = 6.0 * (1000.0f64 * 0.2 * 0.8).sqrt();
        assert!(seen.iter().all(|&n| (f64::from(n) - 200.0).abs() < six_deviations), "{seen:?}");
    }
}

#[test]
fn opening_tells_the_values_to_those_who_may_know_them() {
    let ring = Ring::Modulo(1_000_003u32.into());
    for reveal in [Reveal::P1, Reveal::P2, Reveal::Both, Reveal::XorShares] {
        let mut rng = Randomness::seeded(4);
        let values = [0u32, 1, 1_000_002].map(BigUint::from);
        let (first, second): (Vec<_>, Vec<_>) =
            values.iter().map(|value| deal(&ring, value, &mut rng)).unzip();
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let words = WordShares::new(12, vec![5, 4095]).unwrap();
                (open(session, &first, reveal).unwrap(), words.open(session, reveal).unwrap())
            },
            |session| {
                let words = WordShares::new(12, vec![6, 2]).unwrap();
                (open(session, &second, reveal).unwrap(), words.open(session, reveal).unwrap())
            },
        );
        let expected = |role| {
            let known = reveal.to(role);
            (known.then(|| values.to_vec()), known.then(|| vec![11, 1]))
        };
        assert_eq!((outcome.p1, outcome.p2), (expected(Role::P1), expected(Role::P2)));
    }
}

#[test]
fn what_is_sent_has_one_shape_for_all_values() {
    assert_same_shape(&[0u64, 1, 511], |&word| {
        let party = move |session: &mut Session| {
            let words = WordShares::new(9, vec![word; 3]).unwrap();
            let share = Share::new(&Ring::PowerOfTwo(300), &word.into());
            words.open(session, Reveal::Both).unwrap();
            open(session, &[share], Reveal::Both).unwrap();
        };
        run_pair(Setup::default(), party, party)
    });
}

#[test]
fn bad_openings_are_refused() {
    for body in [&[1][..], &[0xff, 0xff], &[0, 2]] {
        let check = |error: &Error| match body.len() {
            1 => assert_wrong_length(error, 2, 1),
            _ => assert!(error.says("Peer", "not in the ring"), "{error}"),
        };
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let ring = Ring::PowerOfTwo(9);
                let opened = open(session, &[Share::new(&ring, &3.into())], Reveal::P1);
                let words = WordShares::new(9, vec![3]).unwrap();
                (opened.unwrap_err(), words.open(session, Reveal::P1).unwrap_err())
            },
            |session| {
                session.channel.send_bytes(OPENED, body).unwrap();
                session.channel.send_bytes(OPENED, body).unwrap();
            },
        );
        check(&outcome.p1.0);
        check(&outcome.p1.1);
    }
}
