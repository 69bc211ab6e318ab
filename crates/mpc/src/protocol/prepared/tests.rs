use super::*;
use crate::crypto::soft_spoken::Columns;
use crate::math::Rational;
use crate::net::Blame;
use crate::protocol::pair::{Outcome, Setup, assert_forecast, assert_same_shape, run_workspaces};
use crate::protocol::transfers::Source;
use crate::protocol::yao::Reveal;

fn sampler(digits: u32, tau: u32) -> DigitSampler {
    DigitSampler::new(&Rational::new(1u32, 3u32).unwrap(), digits, tau).unwrap()
}

fn pair<T: Send>(source: Source, party: impl Fn(&mut Workspace) -> T + Sync) -> Outcome<T, T> {
    let run = |session: &mut Workspace| {
        session.use_transfers(source);
        party(session)
    };
    run_workspaces(Setup::default().seed(3), run, run)
}

/// Shares of known bits: all at P1.
fn known(session: &Session, bits: impl Iterator<Item = bool>) -> Bits {
    bits.map(|bit| bit && session.role == Role::P1).collect()
}

/// The inputs of a part for known numbers: vector i has bit i of all of them, then come products.
fn inputs(session: &Session, lengths: &[usize], numbers: &[Vec<u32>]) -> Slices {
    let (mut bits, mut products) = (Vec::new(), Vec::new());
    for (digit, length) in lengths.iter().enumerate() {
        let bit = |i: usize| numbers.iter().map(move |number| number[digit] >> i & 1 == 1);
        bits.extend((0..*length).map(|i| known(session, bit(i))));
        let product = |i: usize| bit(2 * i).zip(bit(2 * i + 1)).map(|(low, high)| low & high);
        products.extend((0..length / 2).map(|i| known(session, product(i))));
    }
    bits.extend(products);
    bits
}

/// Every head with every tail: a digit is 1 where the whole number is below its constant, and so each
/// has exactly the probability that its constant says.
#[test]
fn a_digit_is_whether_head_and_tail_are_below_the_constant() {
    let (width, head) = (7, 4);
    // Constants with every kind of head and tail.
    let thresholds: Vec<BigUint> = [0u32, 1, 8, 40, 43, 64, 3].map(BigUint::from).to_vec();
    let comparing = Comparing::new(&thresholds, width, head);
    assert_eq!(comparing.undecided, [1, 4, 6]);
    let tail = width - head;
    for low in 0..1u32 << tail {
        let outcome = pair(Source::SoftSpoken(Columns::Four), |session| {
            // Bits below those that matter have no effect.
            let cut = |number: u32, bits: usize, length: usize| number >> (bits - length);
            let heads: Vec<Vec<u32>> = (0..1u32 << head)
                .map(|high| {
                    comparing.heads.lengths.iter().map(|length| cut(high, head, *length)).collect()
                })
                .collect();
            let tails: Vec<u32> =
                comparing.tails.lengths.iter().map(|length| cut(low, tail, *length)).collect();
            let heads = inputs(session, &comparing.heads.lengths, &heads);
            let tails = inputs(session, &comparing.tails.lengths, &[tails]);
            let digits = comparing.run(session, &heads, &tails, 1 << head).unwrap();
            bits::open(session, &Bits::concat(&digits), Reveal::Both).unwrap().unwrap()
        });
        for (digits, threshold) in outcome.p1.chunks(1 << head).zip(&thresholds) {
            for (high, digit) in (0u32..).zip(digits) {
                let number = BigUint::from(high << tail | low);
                assert_eq!(*digit, number < *threshold, "{high} {low} {threshold}");
            }
        }
    }
}

/// Noises of a group have one tail, those of the next group another.
#[test]
fn tails_are_shared_by_the_noises_of_a_group_alone() {
    let comparing = Comparing::new(&[BigUint::from(5u32)], 4, 2);
    let count = 2 * GROUP + 3;
    let outcome = pair(Source::SoftSpoken(Columns::Four), |session| {
        // All heads are equal to that of 5 = 01|01; tails are 0, 1 and 0, of which the zeros are below.
        let heads = inputs(session, &comparing.heads.lengths, &vec![vec![1]; count]);
        let tails = inputs(session, &comparing.tails.lengths, &[vec![0], vec![1], vec![0]]);
        let digits = comparing.run(session, &heads, &tails, count).unwrap();
        bits::open(session, &digits[0], Reveal::Both).unwrap().unwrap()
    });
    let due: Vec<bool> = (0..count).map(|noise| noise / GROUP != 1).collect();
    assert_eq!(outcome.p1, due);
}

/// What a run adds to the total variation is at most 2^-τ per digit: the bound in the module page.
#[test]
fn heads_are_long_enough_for_every_tau() {
    for tau in 1..=256 {
        let head = head_bits(tau);
        // 64·63/2 pairs over 64 digits, each 2^-2h, is at most 2^-(τ + 1).
        assert!(2 * head >= tau + 1 + 5, "{tau}");
    }
    let sampler = sampler(3, 64);
    let stock = Stock::new(&sampler);
    assert!(stock.comparing.heads.lengths.iter().all(|length| *length <= 35));
    assert_eq!(stock.comparing.undecided, [0, 1, 2]);
}

/// The products of random numbers are products, and the numbers themselves are even.
#[test]
fn random_numbers_come_with_their_products() {
    let (lengths, count) = ([20, 19, 1], 400);
    for source in Source::SMALL {
        let outcome = pair(source, |session| {
            let numbers = random_numbers(session, &lengths, count).unwrap();
            bits::open(session, &Bits::concat(&numbers), Reveal::Both).unwrap().unwrap()
        });
        let wires: Vec<&[bool]> = outcome.p1.chunks(count).collect();
        let width: usize = lengths.iter().sum();
        let (mut first, mut product) = (0, width);
        for length in lengths {
            for pair in wires[first..first + length].as_chunks::<2>().0 {
                for noise in 0..count {
                    assert_eq!(wires[product][noise], pair[0][noise] & pair[1][noise]);
                }
                product += 1;
            }
            first += length;
        }
        assert_eq!(product, wires.len());
        for wire in &wires[..width] {
            let ones = wire.iter().filter(|bit| **bit).count();
            // Six deviations of ten each.
            assert!((140..=260).contains(&ones), "{ones}");
        }
    }
}

/// Digits of 1,000 noises: each within six deviations of its probability.
#[test]
fn digits_have_their_probabilities_from_every_source_of_transfers() {
    let sampler = sampler(3, 32);
    for source in Source::SMALL {
        let outcome = pair(source, |session| {
            let digits = take(session, Law::Geometric, &sampler, 1_000, 0).unwrap();
            bits::open(session, &Bits::concat(&digits), Reveal::Both).unwrap().unwrap()
        });
        assert_eq!(outcome.p1, outcome.p2);
        for (j, digits) in outcome.p1.chunks(1_000).enumerate() {
            let expected = 1.0 / (1.0 + (f64::from(1u32 << j) / 3.0).exp());
            let share = digits.iter().filter(|d| **d).count() as f64 / 1_000.0;
            let deviation = (expected * (1.0 - expected) / 1_000.0).sqrt();
            assert!((share - expected).abs() < 6.0 * deviation, "digit {j}: {share}");
        }
    }
}

#[test]
fn no_noise_is_given_twice_and_refills_follow_the_numbers_asked_for() {
    let (first, second) = (sampler(3, 20), sampler(2, 20));
    for source in Source::SMALL {
        let outcome = pair(source, |session| {
            fill(session, &first, 5).unwrap();
            let mut taken = Vec::new();
            for (sampler, count) in [(&first, 3), (&second, 4), (&first, 2), (&first, 3)] {
                let digits = take(session, Law::Geometric, sampler, count, 1).unwrap();
                assert!(digits.iter().all(|digit| digit.len() == count));
                taken.push(digits);
            }
            let left = session.noises.0[0].1.clone();
            let laplace = take(session, Law::Laplace, &first, 1, 0).unwrap();
            assert!(laplace.iter().all(|digit| digit.len() == 2));
            (taken, left)
        });
        assert!(outcome.p1.1.iter().all(|digit| digit.len() == 1), "one was drawn ahead");
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            f.use_transfers(source);
            forecast_fill(f, &first, 5);
            for (sampler, count) in [(&first, 3), (&second, 4), (&first, 2), (&first, 3)] {
                forecast_take(f, Law::Geometric, sampler, count, 1);
            }
            forecast_take(f, Law::Laplace, &first, 1, 0);
        });
    }
}

#[test]
fn a_pool_hands_out_what_was_drawn_in_order_and_only_once() {
    let sampler = sampler(2, 20);
    let draw = |counts: &[usize]| {
        pair(Source::SoftSpoken(Columns::Four), |session| {
            fill(session, &sampler, 12).unwrap();
            let parts: Vec<Slices> = counts
                .iter()
                .map(|count| take(session, Law::Geometric, &sampler, *count, 0).unwrap())
                .collect();
            let digit = |j: usize| {
                Bits::concat(&parts.iter().map(|part| part[j].clone()).collect::<Vec<_>>())
            };
            [digit(0), digit(1)]
        })
    };
    let (whole, parts) = (draw(&[12]), draw(&[1, 7, 4]));
    assert_eq!(whole.p1, parts.p1);
    assert_eq!(whole.p2, parts.p2);
}

#[test]
fn the_transcript_is_the_same_whatever_is_drawn() {
    let sampler = sampler(3, 20);
    assert_same_shape(&[1, 2, 3], |seed| {
        let run = |session: &mut Workspace| {
            take(session, Law::Geometric, &sampler, 10, 5).unwrap();
        };
        run_workspaces(Setup::default().seed(*seed), run, run)
    });
}

#[test]
fn a_message_of_another_length_is_a_typed_error() {
    let sampler = sampler(3, 20);
    // 3 digits of 10 and of 80 noises: the first layer has 10 ANDs for each pair of bits.
    let asks = |count: usize| {
        let sampler = sampler.clone();
        move |session: &mut Workspace| take(session, Law::Geometric, &sampler, count, 0).map(|_| ())
    };
    let outcome = run_workspaces(Setup::default().seed(1), asks(10), asks(80));
    let blamed =
        |error: &Error| matches!(error.blame(), Blame::Connection(Error::WrongLength { .. }));
    assert!([outcome.p1, outcome.p2].iter().any(|r| r.as_ref().is_err_and(blamed)));
}
