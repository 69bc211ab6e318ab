use super::*;
use crate::crypto::soft_spoken::Columns;
use crate::mechanism::noise::joint::forecast;
use crate::mechanism::noise::{JointNoise, OwnNoise, TwoPartyNoise};
use crate::mechanism::noisy_max::NoiseWidths;
use crate::privacy::AddNoise;
use crate::privacy::laplace::DiscreteLaplace;
use crate::protocol::Bulk;
use crate::protocol::pair::{assert_forecast, assert_same_shape};
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::Source;
use rand::Rng;

const WIDTHS: NoiseWidths = NoiseWidths { tau: 64, digits: 8 };

/// A party's shares of counts, over Z_{2^24}.
fn shares(role: Role, counts: &[u64]) -> WordShares {
    let mut rng = Randomness::seeded(4);
    let masks: Vec<u64> = counts.iter().map(|_| rng.next_u64()).collect();
    let rest = counts.iter().zip(&masks).map(|(count, mask)| count.wrapping_sub(*mask)).collect();
    WordShares::new(24, if role == Role::P1 { masks } else { rest }).unwrap()
}

const COUNTS: [u64; 5] = [0, 1, 40_000, 17, 0];

#[test]
fn joint_noise_from_a_tape_is_that_of_the_single_party_form() {
    for noise in [[0, 0, 0, 0, 0], [5, -5, 255, -255, 1], [-1, 2, -3, 128, -128]] {
        let tape = Tape::of_noise(noise);
        let mut single = DiscreteLaplace::new(tape.clone());
        let expected = single.add_noise(spend("0.1"), &COUNTS).unwrap();
        for bulk in Bulk::BOTH {
            let outcome = with_tape(&tape, |role, session| {
                session.bulk = bulk;
                JointNoise::new(session, WIDTHS)
                    .add_noise(spend("0.1"), &shares(role, &COUNTS))
                    .unwrap()
            });
            assert_eq!(outcome.p1, expected);
            assert_eq!(outcome.p2, expected);
        }
    }
}

#[test]
fn two_party_noise_from_a_tape_has_all_of_p1s_first() {
    let first = [1, -2, 3, -4, 5];
    let second = [100, 200, -300, 400, -500];
    let tape = Tape::of_noise(first.into_iter().chain(second));
    let expected: Vec<i64> =
        (0..5).map(|i| COUNTS[i].cast_signed() + first[i] + second[i]).collect();
    for prepared in [false, true] {
        let outcome = with_tape(&tape, |role, session| {
            let counts = shares(role, &COUNTS);
            let mut mechanism = if prepared {
                let own = OwnNoise::draw(&mut *session.coins, spend("1").epsilon(), 5).unwrap();
                TwoPartyNoise::prepared(session, own)
            } else {
                TwoPartyNoise::new(session)
            };
            mechanism.add_noise(spend("1"), &counts).unwrap()
        });
        assert_eq!(outcome.p1, expected);
        assert_eq!(outcome.p2, expected);
    }
}

#[test]
fn noise_prepared_for_other_counts_or_another_budget_is_refused() {
    for (epsilon, count) in [("1", 4), ("0.5", 5)] {
        let outcome = with_generators(1, |role, session| {
            let own = OwnNoise::draw(&mut *session.coins, spend(epsilon).epsilon(), count).unwrap();
            TwoPartyNoise::prepared(session, own).add_noise(spend("1"), &shares(role, &COUNTS))
        });
        assert!(outcome.p1.is_err_and(|e| e.says("Internal", "noise was drawn for other counts")));
        assert!(outcome.p2.is_err_and(|e| e.says("Internal", "noise was drawn for other counts")));
    }
}

#[test]
fn no_counts_at_all_is_a_normal_case() {
    let outcome = with_generators(1, |role, session| {
        let none = shares(role, &[]);
        let two = TwoPartyNoise::new(session).add_noise(spend("1"), &none).unwrap();
        let joint = Bulk::BOTH.map(|bulk| {
            session.bulk = bulk;
            JointNoise::new(session, WIDTHS).add_noise(spend("1"), &none).unwrap()
        });
        [two, joint.concat()].concat()
    });
    assert!(outcome.p1.is_empty() && outcome.p2.is_empty());
}

#[test]
fn joint_noise_runs_in_batches_and_a_ring_without_room_is_refused() {
    // τ and D of the largest size: a batch holds few counts.
    let wide = NoiseWidths { tau: 256, digits: 60 };
    let counts = vec![7; 300];
    let outcome = with_generators(2, |role, session| {
        let narrow = JointNoise::new(session, wide).add_noise(spend("1"), &shares(role, &counts));
        assert!(narrow.is_err_and(|e| e.says(
            "Internal",
            "over 24 bits leave no room for their noise: share them over at least 62"
        )));
        let words = shares(role, &counts).words().to_vec();
        let words = match role {
            Role::P1 => words.iter().map(|_| 0).collect(),
            Role::P2 => words.iter().map(|_| 7).collect(),
        };
        let shares = WordShares::new(64, words).unwrap();
        JointNoise::new(session, wide).add_noise(spend("1"), &shares).unwrap()
    });
    assert_eq!(outcome.p1, outcome.p2);
    assert_eq!(outcome.p1.len(), 300);
    assert!(outcome.p1.iter().all(|count| (count - 7).abs() < 60), "{:?}", outcome.p1);
    assert!(outcome.p1.iter().any(|count| *count != 7));
}

#[test]
fn the_transcript_has_the_same_shape_for_all_counts() {
    let counts = [[0, 0], [1 << 20, 3], [7, 1 << 22]];
    assert_same_shape(&counts, |counts| {
        with_generators(3, |role, session| {
            TwoPartyNoise::new(session).add_noise(spend("1"), &shares(role, counts)).unwrap()
        })
    });
    for bulk in Bulk::BOTH {
        assert_same_shape(&counts, |counts| {
            with_generators(3, |role, session| {
                session.bulk = bulk;
                JointNoise::new(session, WIDTHS)
                    .add_noise(spend("1"), &shares(role, counts))
                    .unwrap()
            })
        });
    }
}

/// Noise on counts of 0 at ε = 1/2 is discrete Laplace, however it is drawn: Pearson's χ² over the
/// values −5 … 5 and what lies beyond (12 degrees of freedom), 3,000 counts each. Above 50 in one of
/// 10^6 runs.
#[test]
fn joint_noise_has_the_law_of_discrete_laplace() {
    const MANY: usize = 3_000;
    let q = (-0.5f64).exp();
    let law = |k: i64| (1.0 - q) / (1.0 + q) * q.powi(k.unsigned_abs() as i32);
    for bulk in Bulk::BOTH {
        let outcome = with_generators(11, |role, session| {
            session.bulk = bulk;
            let counts = shares(role, &[0; MANY]);
            JointNoise::new(session, WIDTHS).add_noise(spend("0.5"), &counts).unwrap()
        });
        assert_eq!(outcome.p1, outcome.p2);
        let mut bins: Vec<(usize, f64)> = (-5..=5)
            .map(|k| (outcome.p1.iter().filter(|n| **n == k).count(), MANY as f64 * law(k)))
            .collect();
        for beyond in [outcome.p1.iter().filter(|n| **n < -5).count(), {
            outcome.p1.iter().filter(|n| **n > 5).count()
        }] {
            let expected = MANY as f64 * q.powi(6) / (1.0 + q);
            bins.push((beyond, expected));
        }
        let chi: f64 = bins.iter().map(|(n, e)| (*n as f64 - e).powi(2) / e).sum();
        assert!(chi < 50.0, "{chi} for {bulk:?}: {bins:?}");
    }
}

#[test]
fn joint_noise_sends_what_was_forecast() {
    for (bulk, source) in [
        (Bulk::Garbled, Source::Iknp),
        (Bulk::SharedBits, Source::SoftSpoken(Columns::Four)),
        (Bulk::SharedBits, Source::SMALL[2]),
    ] {
        let outcome = with_generators(5, |role, session| {
            session.use_transfers(source);
            session.bulk = bulk;
            JointNoise::new(session, WIDTHS).add_noise(spend("1"), &shares(role, &COUNTS)).unwrap()
        });
        assert_eq!(outcome.p1, outcome.p2);
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            f.use_transfers(source);
            f.do_bulk(bulk);
            forecast(f, spend("1").epsilon(), WIDTHS, 24, COUNTS.len()).unwrap();
        });
    }
}

/// A count of 0 at ε = 1/2 from each party's digits: the sum of two discrete Laplace noises has mean
/// 0 and variance 2·2q/(1−q)², q = e^(−1/2). Over 4,000 counts both are within six deviations (of
/// about 0.09 and 1.1): a false alarm once in 10^8.
#[test]
fn own_noise_by_digits_has_the_spread_of_discrete_laplace() {
    const MANY: usize = 4_000;
    let outcome = with_generators(9, |role, session| {
        let half = spend("0.5");
        let own = OwnNoise::draw_digits(&mut *session.coins, half.epsilon(), WIDTHS, MANY).unwrap();
        TwoPartyNoise::prepared(session, own).add_noise(half, &shares(role, &[0; MANY])).unwrap()
    });
    assert_eq!(outcome.p1, outcome.p2);
    let mean = outcome.p1.iter().sum::<i64>() as f64 / MANY as f64;
    let variance = outcome.p1.iter().map(|n| (*n as f64).powi(2)).sum::<f64>() / MANY as f64;
    let q = (-0.5f64).exp();
    let expected = 4.0 * q / (1.0 - q).powi(2);
    assert!(mean.abs() < 6.0 * (expected / MANY as f64).sqrt(), "{mean}");
    assert!((variance - expected).abs() < 6.0 * 1.1, "{variance} against {expected}");
}
