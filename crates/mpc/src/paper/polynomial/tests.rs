use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::crypto::paillier::Tuning;
use crate::math::Randomness;
use crate::net::AbortReason;
use crate::protocol::pair::{Outcome, Setup, assert_same_shape, assert_wrong_length, run_pair};

static KEY: LazyLock<SecretKey> = LazyLock::new(|| {
    SecretKey::generate_for_tests(512, Tuning::default(), &mut Randomness::seeded(1)).unwrap()
});

type Both = Outcome<Result<(), Error>, Result<Vec<BigInt>, Error>>;

fn run(bound: &NoWrap, polynomials: &[Vec<BigInt>], arguments: &[BigInt]) -> Both {
    run_pair(
        Setup::default().seed(3),
        |session| {
            let outcome = send(session, KEY.public(), bound, polynomials, &|_| ());
            session.conclude(outcome)
        },
        |session| receive(session, &KEY, bound, arguments, &|_| ()),
    )
}

fn integers(numbers: &[i64]) -> Vec<BigInt> {
    numbers.iter().copied().map(BigInt::from).collect()
}

fn bound(argument: u64, coefficients: &[u64]) -> NoWrap {
    let coefficients: Vec<BigUint> = coefficients.iter().copied().map(BigUint::from).collect();
    NoWrap::from_inputs(KEY.public(), &argument.into(), &coefficients).unwrap()
}

#[test]
fn the_receiver_gets_the_polynomial_at_its_argument() {
    let polynomials = [[7, -3, 0, 2], [0, 0, 0, 0], [-9, 9, -9, 9], [9, 9, 9, 9]];
    let polynomials: Vec<Vec<BigInt>> = polynomials.iter().map(|p| integers(p)).collect();
    let arguments = integers(&[5, -100, 0, 100]);
    let outcome = run(&bound(100, &[9; 4]), &polynomials, &arguments);
    assert!(outcome.p1.is_ok());
    let expected: Vec<BigInt> =
        polynomials.iter().zip(&arguments).map(|(p, a)| ideal(p, a)).collect();
    assert_eq!(expected, integers(&[242, 0, -9, 9_090_909]));
    assert_eq!(outcome.p2.unwrap(), expected);
    assert_eq!(outcome.costs.p2.total().rounds, 1);
}

#[test]
fn degree_zero_zero_arguments_and_no_evaluation_are_normal() {
    let constant = run(&bound(3, &[50]), &[integers(&[-50])], &integers(&[2]));
    assert_eq!(constant.p2.unwrap(), integers(&[-50]));
    let at_zero = run(&bound(0, &[1, 1, 1]), &[integers(&[-1, 1, 1])], &integers(&[0]));
    assert_eq!(at_zero.p2.unwrap(), integers(&[-1]));
    let nothing = run(&bound(3, &[]), &[vec![]], &integers(&[2]));
    assert_eq!(nothing.p2.unwrap(), integers(&[0]));
    assert!(run(&bound(1, &[1, 1]), &[], &[]).p2.unwrap().is_empty());
}

#[test]
fn coefficients_as_long_as_the_key_are_taken_modulo_n_if_the_result_is_small() {
    // (α + m)·(α − m) − r with a mask m of 400 bits: small where it counts, long inside.
    let mask = BigInt::from(BigUint::one() << 400u32) + 12_345;
    let argument = &mask + 3;
    let square: BigInt = BigInt::clone(&mask) * (BigInt::clone(&mask) + 6);
    let constant = -square;
    let polynomial = vec![constant, BigInt::zero(), BigInt::one()];
    let proof = NoWrap::from_result(KEY.public(), &[802, 802, 1], &9u32.into()).unwrap();
    let outcome = run(&proof, &[polynomial], &[argument]);
    assert_eq!(outcome.p2.unwrap(), integers(&[9]));
}

#[test]
fn many_evaluations_fill_several_messages() {
    let bound = bound(1000, &[1000; 6]);
    let count = 2 * evaluations_per_chunk(KEY.public(), &bound) + 1;
    let polynomial = |j: usize| (0..6).map(|i| BigInt::from((i * j) % 2000) - 1000).collect();
    let polynomials: Vec<Vec<BigInt>> = (0..count).map(polynomial).collect();
    let arguments: Vec<BigInt> = (0..count).map(|j| BigInt::from(j % 2001) - 1000).collect();
    let outcome = run(&bound, &polynomials, &arguments);
    let expected: Vec<BigInt> =
        polynomials.iter().zip(&arguments).map(|(p, a)| ideal(p, a)).collect();
    assert_eq!(outcome.p2.unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn any_polynomial_within_its_bound_is_evaluated(
        rows in prop::collection::vec((any::<i64>(), prop::array::uniform4(any::<i64>())), 1..12)
    ) {
        let polynomials: Vec<Vec<BigInt>> = rows.iter().map(|(_, c)| integers(c)).collect();
        let arguments: Vec<BigInt> = rows.iter().map(|(a, _)| (*a).into()).collect();
        let outcome = run(&bound(1 << 63, &[1 << 63; 4]), &polynomials, &arguments);
        let expected: Vec<BigInt> =
            polynomials.iter().zip(&arguments).map(|(p, a)| ideal(p, a)).collect();
        prop_assert_eq!(outcome.p2.unwrap(), expected);
    }
}

#[test]
fn a_bound_that_could_wrap_cannot_be_built() {
    let half = KEY.public().modulus() >> 1u32;
    let from_result = |largest: &BigUint| NoWrap::from_result(KEY.public(), &[1], largest);
    assert!(from_result(&half).is_ok());
    assert!(from_result(&(half + 1u32)).is_err_and(|e| {
        e.says("Input", "a result of 511 bits and its sign do not fit a key of 512 bits")
    }));
    let wide = [BigUint::one() << 200u32, BigUint::one() << 200u32];
    let argument = BigUint::one() << 311u32;
    let wrapping = NoWrap::from_inputs(KEY.public(), &argument, &wide);
    assert!(wrapping.is_err_and(|e| e.says("Input", "a result of 512 bits")));
    let high = NoWrap::from_result(KEY.public(), &vec![1; MOST_DEGREE + 2], &1u32.into());
    assert!(high.is_err_and(|e| e.says("Input", "as degree")));
}

#[test]
fn inputs_beyond_their_bounds_are_refused_at_home() {
    let small = bound(10, &[5, 5]);
    let outcome = run(&small, &vec![integers(&[5, 5]); 2], &integers(&[3, -11]));
    assert!(outcome.p2.is_err_and(|e| e.says("Input", "evaluation 1: the argument is beyond")));
    for bad in [[8, 0], [0, -8]] {
        let outcome = run(&small, &[integers(&bad)], &integers(&[3]));
        assert!(
            outcome.p1.is_err_and(|e| e.says("Input", "evaluation 0: a coefficient is beyond"))
        );
        assert!(matches!(outcome.p2, Err(Error::PeerAborted(_))));
    }
    let outcome = run(&small, &[integers(&[1, 1, 1])], &integers(&[3]));
    assert!(outcome.p1.is_err_and(|e| e.says("Input", "the degree is not the one")));
}

#[test]
fn the_shape_depends_on_degree_and_number_alone() {
    let inputs = [(0, [0, 0, 0]), (10, [5, -5, 5]), (-7, [1, 0, 0])];
    assert_same_shape(&inputs, |(argument, coefficients)| {
        run(&bound(10, &[5; 3]), &[integers(coefficients)], &integers(&[*argument]))
    });
}

/// The receiver's error after these bytes arrive as its results.
fn receive_after(results: &[u8]) -> Error {
    let proof = bound(10, &[5, 5]);
    let outcome = run_pair(
        Setup::default().seed(4),
        |session| {
            session.channel.receive_bytes(POWERS, 128).unwrap();
            session.channel.send_bytes(RESULTS, results).unwrap();
        },
        |session| receive(session, &KEY, &proof, &integers(&[1]), &|_| ()),
    );
    outcome.p2.unwrap_err()
}

#[test]
fn malformed_results_are_typed_errors() {
    assert_wrong_length(&receive_after(&[1; 127]), 128, 127);
    assert_wrong_length(&receive_after(&[]), 128, 0);
    let range = |error: Error| error.says("Peer", "ciphertext 0 is out of range");
    assert!(range(receive_after(&[0; 128])) && range(receive_after(&[255; 128])));
    let mut shares_a_factor = vec![0; 64];
    shares_a_factor.extend(KEY.public().modulus().to_bytes_be());
    let refused = receive_after(&shares_a_factor);
    assert!(refused.says("Peer", "not coprime"));
    // An encryption of something that no polynomial within the bound gives.
    let mut rng = Randomness::seeded(5);
    let mut body = Vec::new();
    KEY.public().encrypt(&1000u32.into(), &mut rng).unwrap().write(&mut body);
    assert!(receive_after(&body).says("Peer", "evaluation 0: the result is beyond"));
}

#[test]
fn malformed_powers_are_typed_errors() {
    let proof = bound(10, &[5, 5]);
    for body in [vec![], vec![0; 128], vec![255; 128], vec![1; 256]] {
        let outcome = run_pair(
            Setup::default().seed(5),
            |session| {
                let outcome = send(session, KEY.public(), &proof, &[integers(&[1, 1])], &|_| ());
                session.conclude(outcome)
            },
            |session| {
                session.channel.send_bytes(POWERS, &body).unwrap();
                let told = session.channel.receive_bytes(RESULTS, 128);
                assert!(matches!(told, Err(Error::PeerAborted(AbortReason::BadMessage))));
            },
        );
        match outcome.p1.unwrap_err() {
            Error::Peer(_) => assert_eq!(body.len(), 128),
            other => assert_wrong_length(&other, 128, body.len()),
        }
    }
}

#[test]
fn a_bound_for_another_key_is_refused() {
    let mut rng = Randomness::seeded(6);
    let other = SecretKey::generate_for_tests(256, Tuning::default(), &mut rng).unwrap();
    let proof = NoWrap::from_result(other.public(), &[1, 1], &1u32.into()).unwrap();
    let outcome = run(&proof, &[integers(&[0, 0])], &integers(&[0]));
    assert!(outcome.p2.is_err_and(|e| e.says("Input", "the key is not the one")));
}
