use num_bigint::BigInt;
use num_traits::One;
use proptest::prelude::*;

use super::*;
use crate::protocol::pair::{Outcome, Setup, assert_same_shape, assert_wrong_length, run_pair};
use crate::protocol::shares::{IntegerShare, deal, reconstruct};

type Drawn = Result<Share, Error>;

/// `times` draws in one session.
fn draw_many(
    ring: &Ring,
    bound: &BigUint,
    garbler: Role,
    seed: u64,
    times: usize,
) -> Outcome<Vec<Drawn>, Vec<Drawn>> {
    let (first, second) = deal(ring, bound, &mut Randomness::seeded(seed));
    let party = |session: &mut Session| {
        let share = if session.role == Role::P1 { &first } else { &second };
        (0..times).map(|_| draw(session, garbler, share, 40)).collect::<Vec<Drawn>>()
    };
    run_pair(Setup::default().seed(seed), party, party)
}

fn values(outcome: Outcome<Vec<Drawn>, Vec<Drawn>>) -> Vec<BigUint> {
    let pairs = outcome.p1.into_iter().zip(outcome.p2);
    pairs.map(|(a, b)| reconstruct(&a.unwrap(), &b.unwrap()).unwrap()).collect()
}

#[test]
fn values_are_below_the_bound_in_every_ring_for_either_garbler() {
    let prime = (BigUint::one() << 521) - 1u32;
    let bounds = |width: usize| {
        let power = BigUint::one() << (width - 2);
        [BigUint::one(), 2u32.into(), 3u32.into(), power.clone(), &power + 1u32, power - 1u32]
    };
    for ring in [Ring::PowerOfTwo(12), Ring::PowerOfTwo(100), Ring::Modulo(prime)] {
        for (round, bound) in bounds(ring.width()).iter().enumerate() {
            let garbler = if round % 2 == 0 { Role::P1 } else { Role::P2 };
            for value in values(draw_many(&ring, bound, garbler, round as u64, 4)) {
                assert!(value < *bound, "{value} is not below {bound}");
            }
        }
    }
}

#[test]
fn a_bound_of_one_gives_zero() {
    assert!(
        values(draw_many(&Ring::PowerOfTwo(64), &BigUint::one(), Role::P1, 3, 5))
            .iter()
            .all(|value| *value == BigUint::ZERO)
    );
}

#[test]
fn a_bound_of_twenty_thousand_bits_shared_over_the_integers_is_drawn_below() {
    let bits = 20_000u32;
    let bound = (BigInt::one() << (bits - 1)) + 12_345;
    let mask = BigInt::one() << (bits + 40);
    let party = |session: &mut Session| {
        let own = if session.role == Role::P1 { mask.clone() } else { &bound - &mask };
        let own = IntegerShare::new(own, bits).to_ring(&Ring::PowerOfTwo(bits as usize));
        draw(session, Role::P1, &own, 40).unwrap()
    };
    let outcome = run_pair(Setup::default().seed(4), party, party);
    let value = reconstruct(&outcome.p1, &outcome.p2).unwrap();
    assert!(BigInt::from(value.clone()) < bound);
    // Uniform, so with a probability of 2^-999 it would be shorter.
    assert!(value.bits() > 19_000);
}

/// Runs the protocol on random bits of the test's choice.
fn draw_with(
    shape: UniformBelow,
    bound: &BigUint,
    random: [&[bool]; 2],
) -> Outcome<Result<BigUint, Error>, Result<BigUint, Error>> {
    let ring = Ring::PowerOfTwo(shape.width());
    let (first, second) = deal(&ring, bound, &mut Randomness::seeded(1));
    let party = |session: &mut Session| {
        let (share, random) =
            if session.role == Role::P1 { (&first, random[0]) } else { (&second, random[1]) };
        let drawing = Drawing { ring: &ring, shape, garbler: Role::P2, sigma: 40 };
        let mask = ring.random(&mut session.rng);
        drawing.run(session, share, random, mask)
    };
    run_pair(Setup::default().seed(2), party, party)
}

#[test]
fn when_all_candidates_fail_both_parties_learn_just_that() {
    // Q = 2^7 + 1 needs eight bits, and candidates of eight ones are above it.
    let shape = UniformBelow::with(8, 8, 5);
    let (ones, zeros) = (vec![true; shape.random_bits()], vec![false; shape.random_bits()]);
    let outcome = draw_with(shape, &129u32.into(), [&ones, &zeros]);
    assert!(outcome.p1.is_err_and(|e| e.says("Internal", "2^-40")));
    assert!(outcome.p2.is_err_and(|e| e.says("Internal", "2^-40")));
    // The last of five candidates is good enough.
    let mut last = ones.clone();
    last[4 * 8..].fill(false);
    assert!(draw_with(shape, &129u32.into(), [&last, &zeros]).p1.is_ok());
    // The first bits are equal, the rest makes it too large: that is a failure as well.
    let shape = UniformBelow::with(8, 2, 1);
    let random: Vec<bool> = [[false, true].as_slice(), &[true; 6]].concat();
    let outcome = draw_with(shape, &129u32.into(), [&random, &[false; 8]]);
    assert!(outcome.p1.is_err_and(|e| e.says("Internal", "no try gave a random number")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn with_given_bits_the_real_run_is_the_ideal_function(
        width in 1usize..40, window in 1usize..12, tries in 1usize..5, bound: u64, seed: u64
    ) {
        let shape = UniformBelow::with(width, window, tries);
        let bound = BigUint::from(bound % (1 << width).max(2)).max(BigUint::one());
        let mut rng = Randomness::seeded(seed);
        let random: [Zeroizing<Vec<bool>>; 2] =
            std::array::from_fn(|_| random_bits(shape.random_bits(), &mut rng));
        let outcome = draw_with(shape, &bound, [&random[0], &random[1]]);
        let order = BigUint::one() << width;
        let real = match (outcome.p1, outcome.p2) {
            (Ok(a), Ok(b)) => Some((a + b) % order),
            (Err(a), Err(b)) if [&a, &b].iter().all(|e| e.says("Internal", "no try gave")) => None,
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(real, ideal(shape, &bound, &random[0], &random[1]));
    }
}

/// 1,400 draws below 7. The statistic has six degrees of freedom and is above 53 once in 10^9 by
/// chance; the seed is fixed, so the test fails always or never.
#[test]
fn draws_are_uniform() {
    let drawn = values(draw_many(&Ring::Modulo(11u32.into()), &7u32.into(), Role::P1, 9, 1400));
    let mut seen = [0f64; 7];
    for value in drawn {
        seen[usize::try_from(value).unwrap()] += 1.0;
    }
    let chi_square: f64 = seen.iter().map(|n| (n - 200.0).powi(2) / 200.0).sum();
    assert!(chi_square < 53.0, "{chi_square}: {seen:?}");
    assert!(chi_square > 0.01, "too even to be random: {seen:?}");
}

/// Either party's share alone, for Q = 1 (R is always 0), over Z_11: above 62 with ten degrees of
/// freedom once in 10^9 by chance.
#[test]
fn a_single_share_is_uniform_and_tells_nothing_of_the_value() {
    let outcome = draw_many(&Ring::Modulo(11u32.into()), &BigUint::one(), Role::P1, 10, 1100);
    for shares in [outcome.p1, outcome.p2] {
        let mut seen = [0f64; 11];
        for share in shares {
            seen[usize::try_from(share.unwrap().number()).unwrap()] += 1.0;
        }
        let chi_square: f64 = seen.iter().map(|n| (n - 100.0).powi(2) / 100.0).sum();
        assert!(chi_square < 62.0, "{chi_square}: {seen:?}");
    }
}

#[test]
fn the_shape_depends_on_the_ring_alone() {
    let bounds = [1u32, 2, 255, 256].map(BigUint::from);
    assert_same_shape(&bounds, |bound| draw_many(&Ring::PowerOfTwo(9), bound, Role::P1, 11, 1));
}

#[test]
fn after_the_set_up_it_takes_a_round_and_a_half_and_few_bytes() {
    let (first, second) =
        deal(&Ring::PowerOfTwo(900), &(BigUint::one() << 899), &mut Randomness::seeded(1));
    let party = |session: &mut Session| {
        let share = if session.role == Role::P1 { &first } else { &second };
        yao::set_up(session, Role::P1).unwrap();
        let before = session.channel.costs().total();
        draw(session, Role::P1, share, 64).unwrap();
        let after = session.channel.costs().total();
        (after.rounds - before.rounds, after.bytes_sent - before.bytes_sent)
    };
    let outcome = run_pair(Setup::default().seed(5), party, party);
    // The garbler's first receive answers the last message of its set-up.
    assert_eq!((outcome.p1.0, outcome.p2.0), (2, 1));
    assert!(outcome.p1.1 < 620_000, "{}", outcome.p1.1);
}

#[test]
fn a_malformed_report_is_a_typed_error() {
    for body in [vec![], vec![2], vec![0, 0]] {
        let ring = Ring::PowerOfTwo(8);
        let share = Share::new(&ring, &1.into());
        let shape = UniformBelow::new(8, 40);
        let outcome = run_pair(
            Setup::default().seed(6),
            |session| draw(session, Role::P1, &share, 40).unwrap_err(),
            |session| {
                let drawing = Drawing { ring: &ring, shape, garbler: Role::P1, sigma: 40 };
                let inputs = vec![false; 8 + shape.random_bits()];
                yao::run(session, Role::P1, &drawing.source(), &inputs, Reveal::P2).unwrap();
                session.channel.send_bytes(STATUS, &body).unwrap();
            },
        );
        match outcome.p1 {
            ref e if e.says("Peer", "report on the drawing") => assert_eq!(body, [2]),
            other => assert_wrong_length(&other, 1, body.len()),
        }
    }
}
