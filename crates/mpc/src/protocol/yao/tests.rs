use crate::net::Blame;
use num_bigint::BigUint;
use proptest::prelude::*;

use super::shares::{SharedOutputs, number};
use super::*;
use crate::circuit::integer::{add_carry, less_than, mask, resize, sum};
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Builder, Circuit, Gates, Program, Repeat, aes128, gallery};
use crate::crypto::soft_spoken::Columns;
use crate::math::Randomness;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::shares::{Ring, reconstruct};

fn bits_of_number(value: u128, width: usize) -> Vec<bool> {
    (0..width).map(|i| value >> i & 1 == 1).collect()
}

fn random_bits(count: usize, rng: &mut Randomness) -> Vec<bool> {
    (0..count).map(|_| rng.array::<1>()[0] & 1 == 1).collect()
}

type Answer = Result<Option<Vec<bool>>, Error>;

#[test]
fn circuits_run_on_every_source_of_transfers_as_forecast() {
    let mut rng = Randomness::seeded(2);
    let circuit = random_circuit(100, &mut rng);
    let program = Program::new(&circuit);
    let (a, b) = (random_bits(12, &mut rng), random_bits(7, &mut rng));
    let expected = ideal(&program, &a, &b).unwrap();
    for source in transfers::Source::SMALL {
        for garbler in [Role::P1, Role::P2] {
            let party = |session: &mut Session| {
                session.use_transfers(source);
                let inputs = if session.role == Role::P1 { &a } else { &b };
                let mut run = || super::run(session, garbler, &program, inputs, Reveal::Both);
                [run().unwrap(), run().unwrap()]
            };
            let outcome = run_pair(Setup::default().seed(12), party, party);
            let due = [Some(expected.clone()), Some(expected.clone())];
            assert_eq!((&outcome.p1, &outcome.p2), (&due, &due), "{source:?}");
            assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
                f.use_transfers(source);
                (0..2).for_each(|_| forecast(f, garbler, &program, Reveal::Both));
            });
        }
    }
}

#[test]
fn parties_that_use_different_sources_end_in_a_typed_error() {
    let program = Program::new(&gallery::comparison(8));
    let party = |session: &mut Session| {
        if session.role == Role::P1 {
            session.use_transfers(transfers::Source::SoftSpoken(Columns::Four));
        }
        let answer = super::run(session, Role::P1, &program, &[true; 8], Reveal::Both);
        session.conclude(answer).err().unwrap()
    };
    let outcome = run_pair(Setup::default().seed(13), party, party);
    assert!(matches!(outcome.p1.blame(), Blame::Connection(_)), "{}", outcome.p1);
    assert!(matches!(outcome.p2.blame(), Blame::Connection(_)), "{}", outcome.p2);
}

fn run(
    source: &dyn Source,
    garbler: Role,
    inputs: [&[bool]; 2],
    reveal: Reveal,
) -> Outcome<Answer, Answer> {
    let party = |session: &mut Session| {
        let inputs = inputs[usize::from(session.role == Role::P2)];
        super::run(session, garbler, source, inputs, reveal)
    };
    run_pair(Setup::default().seed(11), party, party)
}

/// A random circuit with `gates` gates, as in the tests of `circuit` but deeper.
fn random_circuit(gates: usize, rng: &mut Randomness) -> Circuit {
    let mut g = Builder::new();
    let mut bits = vec![Bit::FALSE];
    bits.extend(g.input(Role::P1, "a", 9));
    bits.extend(g.input(Role::P2, "b", 7));
    bits.extend(g.input(Role::P1, "c", 3));
    for _ in 0..gates {
        let [x, y, kind, _] = rng.array::<4>().map(usize::from);
        let recent = bits.len().min(40);
        let from = bits.len() - recent;
        let pick = |x: usize| bits[from + x % recent].negate_if(x >= 128);
        let (a, b) = (pick(x), pick(y));
        bits.push(if kind % 2 == 0 { g.and(a, b) } else { g.xor(a, b) });
    }
    let outputs: Vec<Bit> = bits.iter().rev().take(20).map(|bit| !*bit).collect();
    g.output("out", &outputs);
    g.output("first", &bits[..3]);
    g.finish()
}

#[test]
fn garbled_is_plain_on_random_circuits_for_either_garbler_and_every_reveal() {
    let mut rng = Randomness::seeded(1);
    for round in 0..24 {
        let circuit = random_circuit(20 * round, &mut rng);
        let program = Program::new(&circuit);
        let (a, b) = (random_bits(12, &mut rng), random_bits(7, &mut rng));
        let expected = ideal(&program, &a, &b).unwrap();
        let garbler = if round % 2 == 0 { Role::P1 } else { Role::P2 };
        for reveal in [Reveal::P1, Reveal::P2, Reveal::Both, Reveal::XorShares] {
            let outcome = run(&program, garbler, [&a, &b], reveal);
            let (first, second) = (outcome.p1.unwrap(), outcome.p2.unwrap());
            if reveal == Reveal::XorShares {
                let shares = first.unwrap().into_iter().zip(second.unwrap());
                assert_eq!(shares.map(|(x, y)| x ^ y).collect::<Vec<_>>(), expected);
                continue;
            }
            assert_eq!(first, reveal.to(Role::P1).then(|| expected.clone()), "{reveal:?}");
            assert_eq!(second, reveal.to(Role::P2).then(|| expected.clone()), "{reveal:?}");
        }
    }
}

#[test]
fn aes_runs_between_two_parties_in_one_round_after_the_set_up() {
    let program = Program::new(&aes128::circuit());
    let mut rng = Randomness::seeded(2);
    let (key, block) = (random_bits(128, &mut rng), random_bits(128, &mut rng));
    let outcome = run(&program, Role::P1, [&key, &block], Reveal::P2);
    assert_eq!(outcome.p2.unwrap().unwrap(), ideal(&program, &key, &block).unwrap());
    // Base transfers: one round of P1 (receive after send) is the tables' side.
    let costs = outcome.costs.p2.total();
    assert_eq!(costs.rounds, 2);
    let tables = 6400 * garble::BYTES_PER_AND as u64;
    assert!(costs.bytes_received < tables + 4096 + 16 + 16 + 200, "{}", costs.bytes_received);
}

#[test]
fn more_outputs_than_one_message_holds_come_back_in_parts() {
    let program = Program::new(&gallery::modular_addition(&gallery::p255()));
    let many = Repeat::new(&program, 300);
    let mut rng = Randomness::seeded(21);
    let inputs: [Vec<bool>; 2] = std::array::from_fn(|_| {
        let number = |rng: &mut Randomness| Ring::Modulo(gallery::p255()).random(rng);
        (0..300)
            .flat_map(|_| {
                let n = number(&mut rng);
                (0..255).map(move |i| n.bit(i))
            })
            .collect()
    });
    let outcome = run(&many, Role::P1, [&inputs[0], &inputs[1]], Reveal::P1);
    let expected = ideal(&many, &inputs[0], &inputs[1]).unwrap();
    assert!(expected.len() > LABELS_PER_MESSAGE);
    assert_eq!(outcome.p1.unwrap().unwrap(), expected);
}

#[test]
fn one_session_runs_many_circuits_in_both_directions() {
    let program = Program::new(&gallery::comparison(64));
    let values = [(3u128, 9u128), (9, 3), (7, 7)];
    let party = |session: &mut Session| {
        let mut answers = Vec::new();
        for garbler in [Role::P1, Role::P2, Role::P1] {
            for (a, b) in values {
                let mine = if session.role == Role::P1 { a } else { b };
                let inputs = bits_of_number(mine, 64);
                let out = super::run(session, garbler, &program, &inputs, Reveal::Both).unwrap();
                answers.push(out.unwrap()[0]);
            }
        }
        answers
    };
    let outcome = run_pair(Setup::default().seed(3), party, party);
    assert_eq!(outcome.p1, [true, false, false].repeat(3));
    assert_eq!(outcome.p1, outcome.p2);
}

#[test]
fn many_circuits_in_one_go_share_one_round() {
    let less = Program::new(&gallery::comparison(65));
    let many = Repeat::new(&less, 150);
    let max = Program::new(&gallery::maximum(4, 33));
    let mut rng = Randomness::seeded(4);
    let inputs: [Vec<Vec<bool>>; 2] = std::array::from_fn(|_| {
        vec![random_bits(150 * 65, &mut rng), random_bits(66, &mut rng), random_bits(65, &mut rng)]
    });
    let sources: [&dyn Source; 3] = [&many, &max, &less];
    let party = |session: &mut Session| {
        set_up(session, Role::P2).unwrap();
        let before = session.channel.costs().total().rounds;
        let mine = &inputs[usize::from(session.role == Role::P2)];
        let jobs: Vec<Job<'_>> = sources
            .iter()
            .zip(mine)
            .map(|(source, inputs)| Job { source: *source, inputs })
            .collect();
        let outputs = run_all(session, Role::P2, &jobs, Reveal::P1).unwrap();
        (outputs, session.channel.costs().total().rounds - before)
    };
    let outcome = run_pair(Setup::default().seed(5), party, party);
    let outputs = outcome.p1.0.unwrap();
    for (i, source) in sources.iter().enumerate() {
        assert_eq!(outputs[i], ideal(*source, &inputs[0][i], &inputs[1][i]).unwrap(), "job {i}");
    }
    assert_eq!(outcome.p1.1, 1);
    assert_eq!(outcome.p2.0, None);
}

#[test]
fn a_streamed_circuit_larger_than_its_chunks_runs() {
    let source = Generated::new(
        &[(Role::P1, "a", 128), (Role::P2, "b", 128)],
        &[("product", 256), ("less", 1)],
        |g, x| {
            // Shifted copies of a, one for each bit of b.
            let terms: Vec<Vec<_>> =
                (0..128).map(|i| [vec![Bit::FALSE; i], mask(g, x[1][i], &x[0])].concat()).collect();
            let product = resize(&sum(g, &terms), 256);
            let sum = add_carry(g, &x[0], &product[..128]);
            let less = less_than(g, &sum, &x[1]);
            vec![product, vec![less]]
        },
    );
    let mut rng = Randomness::seeded(6);
    let (a, b) = (random_bits(128, &mut rng), random_bits(128, &mut rng));
    let outcome = run(&source, Role::P1, [&a, &b], Reveal::Both);
    let out = outcome.p1.unwrap().unwrap();
    assert_eq!(number(&out[..256]), number(&a) * number(&b));
    assert_eq!(out, ideal(&source, &a, &b).unwrap());
    let chunks = outcome.transcripts.p1.iter().filter(|(_, tag, _)| *tag == TABLES).count();
    assert!(chunks > 2);
}

#[test]
fn shares_over_both_kinds_of_rings_add_up_to_the_output() {
    let mut rng = Randomness::seeded(7);
    let circuit = gallery::modular_addition(&gallery::p255());
    let modulus = BigUint::from(10_007u32);
    let rings = [Ring::PowerOfTwo(300), Ring::PowerOfTwo(64), Ring::Modulo(gallery::p255())];
    for (round, ring) in rings.into_iter().enumerate() {
        let garbler = if round % 2 == 0 { Role::P1 } else { Role::P2 };
        let shared = SharedOutputs::new(&circuit, garbler, std::slice::from_ref(&ring));
        let inputs: [BigUint; 2] =
            std::array::from_fn(|_| Ring::Modulo(gallery::p255()).random(&mut rng));
        let party = |session: &mut Session| {
            let value = &inputs[usize::from(session.role == Role::P2)];
            let bits: Vec<bool> = (0..255).map(|i| value.bit(i)).collect();
            shared.run(session, &bits).unwrap()
        };
        let outcome = run_pair(Setup::default().seed(8), party, party);
        let sum = (&inputs[0] + &inputs[1]) % gallery::p255();
        let output = reconstruct(&outcome.p1[0], &outcome.p2[0]).unwrap();
        assert_eq!(output, sum % ring.order());
    }
    assert!((0..100).all(|_| Ring::Modulo(modulus.clone()).random(&mut rng) < modulus));
}

#[test]
fn the_transcript_has_the_same_shape_for_all_inputs() {
    let program = Program::new(&gallery::maximum(6, 40));
    let mut rng = Randomness::seeded(9);
    let inputs: Vec<[Vec<bool>; 2]> =
        (0..4).map(|_| [random_bits(120, &mut rng), random_bits(120, &mut rng)]).collect();
    for reveal in [Reveal::Both, Reveal::XorShares] {
        assert_same_shape(&inputs, |[a, b]| run(&program, Role::P1, [a, b], reveal));
    }
}

#[test]
fn inputs_of_the_wrong_width_are_refused_before_anything_is_sent() {
    let program = Program::new(&gallery::comparison(8));
    let outcome = run(&program, Role::P1, [&[true; 7], &[true; 9]], Reveal::Both);
    for answer in [outcome.p1, outcome.p2] {
        assert!(answer.is_err_and(|e| e.says("Internal", "takes 8 input bits")));
    }
    assert!(outcome.transcripts.p1.is_empty());
}

/// An evaluator that runs against a garbler which sends these tables and decoding bytes.
fn evaluate_against(tables: &[&[u8]], decoding: &[u8]) -> Answer {
    let program = Program::new(&gallery::comparison(8));
    let outcome = run_pair(
        Setup::default().seed(12),
        |session| {
            let mut yao = Yao::default();
            yao.set_up(session, Role::P1).unwrap();
            let transfers = yao.garbler.as_mut().unwrap().transfers();
            transfers.corrected_chunks(session, 8, &mut |_| ()).unwrap();
            session.channel.send_bytes(SEED, &[1; 16]).unwrap();
            for part in tables {
                session.channel.send_bytes(TABLES, part).unwrap();
            }
            let _ = session.channel.send_bytes(DECODING, decoding);
        },
        |session| super::run(session, Role::P1, &program, &[true; 8], Reveal::P2),
    );
    outcome.p2
}

#[test]
fn short_long_and_split_tables_are_typed_errors_and_wrong_ones_never_a_panic() {
    let right = vec![7; 8 * garble::BYTES_PER_AND];
    assert!(evaluate_against(&[&right], &[0]).is_ok());
    let length_error = |tables: &[&[u8]]| {
        let result = evaluate_against(tables, &[0]);
        assert!(
            result.as_ref().is_err_and(|e| e.says("Peer", "the garbled table has")),
            "{result:?}"
        );
    };
    length_error(&[&right[..224]]);
    length_error(&[&right[..255]]);
    length_error(&[&[]]);
    length_error(&[&vec![7; 9 * garble::BYTES_PER_AND]]);
    let result = evaluate_against(&[&vec![7; CHUNK_BYTES + 32]], &[0]);
    assert!(matches!(result, Err(Error::FrameTooLarge { .. })), "{result:?}");
    let result = evaluate_against(&[&right], &[0, 0]);
    assert_wrong_length(&result.unwrap_err(), 1, 2);
}

#[test]
fn a_returned_label_that_is_neither_of_two_is_a_typed_error() {
    let program = Program::new(&gallery::comparison(8));
    for body in [vec![0; 16], vec![0; 15], vec![]] {
        let length = body.len();
        let outcome = run_pair(
            Setup::default().seed(13),
            |session| super::run(session, Role::P1, &program, &[true; 8], Reveal::P1),
            |session| {
                let mut yao = Yao::default();
                yao.set_up(session, Role::P1).unwrap();
                let transfers = yao.evaluator.as_mut().unwrap().transfers();
                transfers.chosen_chunks(session, &[true; 8], &mut |_| ()).unwrap();
                session.channel.receive_bytes(SEED, 16).unwrap();
                session.channel.receive_bytes(TABLES, 8 * garble::BYTES_PER_AND).unwrap();
                session.channel.send_bytes(OUTPUT_LABELS, &body).unwrap();
            },
        );
        match outcome.p1.unwrap_err() {
            Error::Peer(detail) if detail.to_string().contains("output bit 0") => {
                assert_eq!(length, 16)
            }
            other => assert_wrong_length(&other, 16, length),
        }
    }
}

#[test]
fn wrong_transfer_lengths_are_typed_errors() {
    let program = Program::new(&gallery::comparison(8));
    let outcome = run_pair(
        Setup::default().seed(14),
        |session| super::run(session, Role::P1, &program, &[true; 8], Reveal::P1),
        |session| {
            set_up(session, Role::P1).unwrap();
            session.channel.send_bytes(Tag::new(*b"otex"), &[0; 2047]).unwrap();
        },
    );
    assert_wrong_length(&outcome.p1.unwrap_err(), 2048, 2047);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_peer_that_sends_any_bytes_as_tables_causes_no_panic(
        table in prop::collection::vec(any::<u8>(), 0..300), decoding in any::<[u8; 1]>()
    ) {
        let _ = evaluate_against(&[&table], &decoding);
    }
}
