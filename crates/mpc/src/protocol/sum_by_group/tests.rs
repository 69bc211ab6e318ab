use crate::protocol::ot;
use proptest::prelude::*;
use rand::RngExt;

use super::*;
use crate::circuit::{Program, gallery};
use crate::crypto::garble::Delta;
use crate::math::Randomness;
use crate::net::AbortReason;
use crate::protocol::pair::{
    Both, Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::transfers::Source;
use crate::protocol::yao::{self, Reveal, Side};

type Shares = Result<WordShares, Error>;

fn numbers(rng: &mut Randomness, count: usize, bound: usize) -> Vec<u32> {
    (0..count).map(|_| rng.random_range(0..bound as u32)).collect()
}

/// P1 sends.
fn run(
    shape: &SumShape,
    groups: &[u32],
    addends: Addends<'_>,
    seed: u64,
) -> Outcome<Shares, Shares> {
    run_pair(
        Setup::default().seed(seed),
        |session| {
            let delta = Delta::random(&mut session.rng);
            let mut source = ot::Sender::setup(session, delta)?;
            let outcome = send(session, &mut source, shape, addends, &|_| ());
            session.conclude(outcome)
        },
        |session| {
            let mut source = ot::Receiver::setup(session)?;
            let outcome = receive(session, &mut source, shape, groups, &|_| ());
            session.conclude(outcome)
        },
    )
}

fn opened(bits: u32, first: &WordShares, second: &WordShares) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let pairs = first.words().iter().zip(second.words());
    pairs.map(|(a, b)| a.wrapping_add(*b) & mask).collect()
}

fn assert_ideal(shape: &SumShape, groups: &[u32], addends: Addends<'_>, seed: u64) {
    let outcome = run(shape, groups, addends, seed);
    let (first, second) = (outcome.p1.unwrap(), outcome.p2.unwrap());
    assert_eq!(opened(shape.bits, &first, &second), ideal(shape, groups, addends), "{shape:?}");
    assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
        ot::forecast_setup(f, Role::P1);
        forecast(f, Role::P1, shape).unwrap();
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn shares_add_up_to_the_sums_and_all_messages_were_forecast(
        groups in 1usize..80, words in 1usize..40, bits in 8u32..=64, records in 0usize..=3_000,
        seed: u64, units: bool
    ) {
        let shape = SumShape { records, groups, words, bits };
        let rng = &mut Randomness::seeded(seed);
        let of_records = numbers(rng, records, groups);
        let places = numbers(rng, records, words);
        let all: Vec<u64> = (0..records * words).map(|_| rng.random()).collect();
        let addends = if units { Addends::Units(&places) } else { Addends::Words(&all) };
        assert_ideal(&shape, &of_records, addends, seed);
    }
}

#[test]
fn corners_are_summed_as_well() {
    let rng = &mut Randomness::seeded(7);
    for (records, groups, words, bits) in [
        (3000, 5, 1, 13),
        (0, 1, 1, 8),
        (1, 1, 1, 64),
        (40, 1, 9, 32),
        (40, 2, 1, 33),
        (300, 129, 1, 8),
        (3, 1025, 3, 20),
        (2, 3, 4097, 31),
    ] {
        let shape = SumShape { records, groups, words, bits };
        let of_records = numbers(rng, records, groups);
        let places = numbers(rng, records, words);
        assert_ideal(&shape, &of_records, Addends::Units(&places), 1);
    }
}

#[test]
fn several_windows_and_chunks_make_one_sum() {
    let shape = SumShape { records: WINDOW + 5, groups: 2, words: 1, bits: 20 };
    assert_eq!(shape.windows().count(), 2);
    assert!(shape.chunks(0..WINDOW).count() > 2);
    let groups = numbers(&mut Randomness::seeded(3), shape.records, 2);
    assert_ideal(&shape, &groups, Addends::Units(&vec![0; shape.records]), 2);
}

#[test]
fn windows_and_chunks_cover_every_record_once() {
    for (records, groups, words) in [(0, 3, 1), (1, 1, 1), (1_000_000, 64, 32), (70, 1 << 22, 1)] {
        let shape = SumShape { records, groups, words, bits: 17 };
        let chunks = shape.windows().flat_map(|window| shape.chunks(window));
        let end = chunks.fold(0, |next, chunk| {
            assert_eq!(chunk.start, next);
            assert!(!chunk.is_empty());
            assert!(chunk.len() == 1 || chunk.len() * shape.record_bytes() <= CHUNK_BYTES);
            chunk.end
        });
        assert_eq!(end, records);
    }
}

#[test]
fn the_transcript_does_not_depend_on_groups_or_words() {
    let shape = SumShape { records: 50, groups: 11, words: 3, bits: 19 };
    assert_same_shape(&[1, 2, 3], |seed| {
        let rng = &mut Randomness::seeded(*seed);
        let groups = numbers(rng, 50, 11);
        run(&shape, &groups, Addends::Units(&numbers(rng, 50, 3)), *seed)
    });
}

#[test]
fn a_share_alone_is_fresh_in_every_run() {
    let shape = SumShape { records: 9, groups: 3, words: 5, bits: 64 };
    let run = |seed| run(&shape, &[2; 9], Addends::Units(&[4; 9]), seed);
    let (one, two) = (run(1), run(2));
    for (a, b) in [(one.p1, two.p1), (one.p2, two.p2)] {
        let (a, b) = (a.unwrap(), b.unwrap());
        assert!(a.words().iter().zip(b.words()).all(|(a, b)| a != b && *a != 0));
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused_and_the_peer_is_told() {
    let shape = SumShape { records: 2, groups: 3, words: 2, bits: 8 };
    let good: (&[u32], Addends<'_>) = (&[0, 2], Addends::Units(&[1, 0]));
    for (groups, addends) in [
        (&[0, 3][..], good.1),
        (&[0], good.1),
        (good.0, Addends::Units(&[1, 2])),
        (good.0, Addends::Units(&[1])),
        (good.0, Addends::Words(&[1, 2, 3])),
    ] {
        let outcome = run(&shape, groups, addends, 1);
        let (wrong, other) = match (outcome.p1, outcome.p2) {
            (Err(first), Err(second)) if groups == good.0 => (first, second),
            (Err(first), Err(second)) => (second, first),
            both => panic!("{both:?}"),
        };
        assert!(
            wrong.says("Input", "of the shape") || wrong.says("Input", "the shape says"),
            "{wrong}"
        );
        let Error::PeerAborted(reason) = other else { panic!("{other}") };
        assert_eq!(reason, AbortReason::Stopped);
    }
}

#[test]
fn shapes_that_no_run_can_have_are_refused() {
    let good = SumShape { records: 10, groups: 3, words: 2, bits: 8 };
    assert!(good.check().is_ok());
    for bad in [
        SumShape { groups: 0, ..good },
        SumShape { words: 0, ..good },
        SumShape { groups: 1 << 13, words: 1 << 12, ..good },
        SumShape { groups: usize::MAX, ..good },
        SumShape { bits: 0, ..good },
        SumShape { bits: 65, ..good },
        SumShape { groups: 1, words: 1 << 23, ..good },
        SumShape { records: usize::MAX, ..good },
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
        assert!(forecast(&mut Forecast::new(Role::P1), Role::P1, &bad).is_err());
    }
}

#[test]
fn answers_of_another_length_are_typed_errors_and_the_peer_is_told() {
    let shape = SumShape { records: 4, groups: 3, words: 2, bits: 8 };
    for bytes in [0, 4 * 18 - 1, 4 * 18 + 1] {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut source = ot::Sender::setup(session, Delta::new(0)).unwrap();
                source.corrected(session, 8).unwrap();
                session.channel.send_bytes(ANSWERS, &vec![0; bytes]).unwrap();
                session.channel.receive_bytes(ANSWERS, 0).unwrap_err()
            },
            |session| {
                let mut source = ot::Receiver::setup(session).unwrap();
                let outcome = receive(session, &mut source, &shape, &[0, 1, 2, 0], &|_| ());
                session.conclude(outcome).unwrap_err()
            },
        );
        assert_wrong_length(&outcome.p2, 72, bytes);
        let Error::PeerAborted(reason) = outcome.p1 else { panic!("{}", outcome.p1) };
        assert_eq!(reason, AbortReason::BadMessage);
    }
}

#[test]
fn a_message_out_of_turn_ends_the_run() {
    let shape = SumShape { records: 4, groups: 3, words: 2, bits: 8 };
    let outcome = run_pair(
        Setup::default(),
        |session| {
            let mut source = ot::Sender::setup(session, Delta::new(0)).unwrap();
            send(session, &mut source, &shape, Addends::Units(&[0; 4]), &|_| ()).unwrap_err()
        },
        |session| {
            ot::Receiver::setup(session).unwrap();
            session.channel.send_bytes(ANSWERS, &[0; 9]).unwrap();
        },
    );
    assert!(matches!(outcome.p1, Error::UnexpectedMessage { .. }));
}

/// Circuits, sums, circuits and sums under one Δ: all are right, and no number is used twice.
#[test]
fn sums_share_their_transfers_with_garbled_circuits() {
    let shape = SumShape { records: 30, groups: 6, words: 4, bits: 16 };
    let program = Program::new(&gallery::comparison(64));
    let rng = &mut Randomness::seeded(5);
    let (groups, places) = (numbers(rng, 30, 6), numbers(rng, 30, 4));
    let party = |session: &mut Session| {
        let mut sums = Vec::new();
        for _ in 0..2 {
            let bits = vec![session.role == Role::P2; 64];
            let less = yao::run(session, Role::P1, &program, &bits, Reveal::Both).unwrap();
            assert_eq!(less, Some(vec![true]));
            sums.push(session.with_garbling(|yao, session| {
                match yao.transfers(session, Role::P1).unwrap() {
                    Side::Sender(s) => {
                        send(session, s, &shape, Addends::Units(&places), &|_| ()).unwrap()
                    }
                    Side::Receiver(r) => receive(session, r, &shape, &groups, &|_| ()).unwrap(),
                }
            }));
        }
        let numbers =
            session.with_garbling(|yao, session| match yao.transfers(session, Role::P1).unwrap() {
                Side::Sender(s) => s.numbers().clone(),
                Side::Receiver(r) => r.numbers().clone(),
            });
        (sums, numbers)
    };
    let Outcome { p1: (first, mut ours), p2: (second, mut theirs), .. } =
        run_pair(Setup::default().seed(4), party, party);
    let due = ideal(&shape, &groups, Addends::Units(&places));
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(opened(16, first, second), due);
    }
    assert!(first[0].words() != first[1].words());
    for numbers in [&mut ours, &mut theirs] {
        assert_eq!((numbers.setup(), numbers.take_records(1)), (1, 60));
        // Trees hang on rows themselves and hash under the numbers of records.
        assert_eq!(numbers.take_transfers(1), 0);
    }
}

fn table(shape: &CountShape, cells: &Both<Vec<u32>>) -> Outcome<Shares, Shares> {
    let party = |session: &mut Session, cells: &[u32]| count_table(session, shape, cells, &|_| ());
    run_pair(
        Setup::default().seed(6),
        |session| party(session, &cells.p1),
        |session| party(session, &cells.p2),
    )
}

#[test]
fn a_table_of_counts_is_made_in_both_directions() {
    let mut receivers = Vec::new();
    for (records, cells) in [
        (0, [3, 2]),
        (1, [1, 1]),
        (200, [2, 9]),
        (200, [9, 2]),
        (100, [1, 30]),
        (100, [30, 1]),
        (60, [7, 7]),
        (2000, [40, 3]),
        (300, [400, 2]),
    ] {
        let shape = CountShape { records, cells, bits: 12 };
        let rng = &mut Randomness::seeded(8);
        let of = Both { p1: numbers(rng, records, cells[0]), p2: numbers(rng, records, cells[1]) };
        let outcome = table(&shape, &of);
        let (first, second) = (outcome.p1.unwrap(), outcome.p2.unwrap());
        let due = ideal_table(&shape, &of.p1, &of.p2);
        assert_eq!(due.iter().sum::<u64>(), records as u64);
        assert_eq!(opened(12, &first, &second), due, "{shape:?}");
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_table(f, &shape).unwrap();
        });
        receivers.push(shape.receiving_role());
    }
    assert!(receivers.contains(&Role::P1) && receivers.contains(&Role::P2), "{receivers:?}");
}

#[test]
fn a_table_is_made_with_every_source_of_transfers_as_forecast() {
    let shape = CountShape { records: 150, cells: [9, 5], bits: 12 };
    let rng = &mut Randomness::seeded(9);
    let of = Both { p1: numbers(rng, 150, 9), p2: numbers(rng, 150, 5) };
    for source in Source::SMALL {
        let party = |session: &mut Session| {
            session.use_transfers(source);
            let cells = if session.role == Role::P1 { &of.p1 } else { &of.p2 };
            count_table(session, &shape, cells, &|_| ()).unwrap()
        };
        let outcome = run_pair(Setup::default().seed(7), party, party);
        let due = ideal_table(&shape, &of.p1, &of.p2);
        assert_eq!(opened(12, &outcome.p1, &outcome.p2), due, "{source:?}");
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            f.use_transfers(source);
            forecast_table(f, &shape).unwrap();
        });
    }
}

#[test]
fn whoever_makes_the_bytes_fewer_receives() {
    let role = |records, first, second| {
        CountShape { records, cells: [first, second], bits: 32 }.receiving_role()
    };
    // A level costs as much as five words: many words are worth many groups.
    assert_eq!(role(30_000, 64, 32), Role::P1);
    assert_eq!(role(30_000, 32, 64), Role::P2);
    assert_eq!(role(30_000, 1024, 2), Role::P1);
    assert_eq!(role(30_000, 8, 2), Role::P2);
    assert_eq!(role(30_000, 16, 16), Role::P1);
    // Zero records in common is a valid number: the limits of the table are the same as with one.
    for cells in [[1 << 20, 4], [4, 1 << 20]] {
        let empty = CountShape { records: 0, cells, bits: 20 };
        assert!(empty.check().is_ok());
        assert_eq!(empty.receiving_role(), CountShape { records: 1, ..empty }.receiving_role());
    }
}

#[test]
fn impossible_tables_are_refused() {
    let good = CountShape { records: 255, cells: [3, 5], bits: 8 };
    assert!(good.check().is_ok());
    for bad in [
        CountShape { records: 256, ..good },
        CountShape { cells: [0, 5], ..good },
        CountShape { cells: [1 << 13, 1 << 12], ..good },
    ] {
        assert!(bad.check().is_err());
        let outcome = table(&bad, &Both { p1: vec![0; bad.records], p2: vec![0; bad.records] });
        assert!(outcome.p1.is_err() && outcome.p2.is_err());
    }
}

/// As histograms are made: pass after pass with other shapes, over one set-up, in either direction.
#[test]
fn several_passes_of_units_share_one_set_up() {
    for sender in Role::BOTH {
        let mut rng = Randomness::seeded(41);
        let passes: Vec<_> = [(1, 2), (5, 2), (82, 2), (9, 3)]
            .into_iter()
            .map(|(groups, words)| {
                let shape = SumShape { records: 37, groups, words, bits: 11 };
                let of_groups = numbers(&mut rng, 37, groups);
                (shape, of_groups, numbers(&mut rng, 37, words))
            })
            .collect();
        let party = |session: &mut Session| -> Result<Vec<WordShares>, Error> {
            let own = |(shape, groups, places): &(SumShape, Vec<u32>, Vec<u32>)| {
                let places = if session.role == sender { places } else { groups };
                sum_units(session, sender, shape, places, &|_| ())
            };
            passes.iter().map(own).collect()
        };
        let outcome = run_pair(Setup::default(), party, party);
        let (first, second) = (outcome.p1.unwrap(), outcome.p2.unwrap());
        for ((shape, groups, places), (first, second)) in
            passes.iter().zip(first.iter().zip(&second))
        {
            let expected = ideal(shape, groups, Addends::Units(places));
            assert_eq!(opened(shape.bits, first, second), expected, "{shape:?}");
        }
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            passes.iter().for_each(|(shape, ..)| forecast_units(f, sender, shape).unwrap());
        });
    }
}

/// Both have a share of every word, and either may know the groups.
#[test]
fn shared_words_are_summed_by_the_groups_of_either() {
    let mut rng = Randomness::seeded(77);
    for (receiver, records, groups, words) in
        [(Role::P1, 40, 5, 3), (Role::P2, 40, 5, 3), (Role::P1, 7, 1, 2), (Role::P2, 0, 4, 1)]
    {
        let shape = SumShape { records, groups, words, bits: 20 };
        let of = numbers(&mut rng, records, groups);
        let [first, second]: [Vec<u64>; 2] =
            [(), ()].map(|()| (0..records * words).map(|_| rng.random()).collect());
        let party = |session: &mut Session, own: &[u64]| {
            let groups = if session.role == receiver { &of[..] } else { &[] };
            sum_shared(session, receiver, &shape, groups, own, &|_| ())
        };
        let outcome = run_pair(
            Setup::default(),
            |session| party(session, &first),
            |session| party(session, &second),
        );
        let both: Vec<u64> =
            first.iter().zip(&second).map(|(one, other)| one.wrapping_add(*other)).collect();
        let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
        assert_eq!(opened(20, &p1, &p2), ideal(&shape, &of, Addends::Words(&both)));
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_units(f, receiver.peer(), &shape).unwrap();
        });
    }
}

#[test]
fn several_places_per_record_are_several_tables_at_once() {
    // Two tables for each group: of three values and of two.
    let shape = SumShape { records: 40, groups: 4, words: 5, bits: 16 };
    let rng = &mut Randomness::seeded(9);
    let groups = numbers(rng, 40, 4);
    let (first, second) = (numbers(rng, 40, 3), numbers(rng, 40, 2));
    let places: Vec<u32> = first.iter().zip(&second).flat_map(|(a, b)| [*a, 3 + b]).collect();
    for sender in Role::BOTH {
        let party = |session: &mut Session| {
            let own = if session.role == sender { &places } else { &groups };
            sum_several(session, sender, &shape, own, 2, &|_| ()).unwrap()
        };
        let outcome = run_pair(Setup::default(), party, party);
        let found = outcome.p1.plus(&outcome.p2).unwrap();
        assert_eq!(found.words(), ideal(&shape, &groups, Addends::Several(&places, 2)));
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast_units(f, sender, &shape).unwrap();
        });
    }
    let wrong = Addends::Several(&places[1..], 2).check(&shape);
    assert!(wrong.is_err_and(|e| e.says("Input", "79 inputs where the shape says 80")));
}
