//! The ring computes sums, hides words from each party alone, and shows what it does not hide from
//! two.

use crate::net::Blame;
use proptest::prelude::*;

use super::*;
use crate::math::Randomness;
use crate::net::Direction;

fn run(shape: RingShape, words: &[Vec<u64>]) -> Vec<RingOutcome<Result<Vec<u64>, Error>>> {
    run_ring(words.len(), |place, neighbours| {
        let outcome = sum(neighbours, &shape, &words[place]);
        neighbours.conclude(outcome)
    })
    .unwrap()
}

fn random_words(shape: &RingShape, rng: &mut Randomness) -> Vec<Vec<u64>> {
    (0..shape.parties).map(|_| shape.masks(rng).to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_party_gets_what_the_ideal_function_says(
        parties in 3usize..8, entries in 0usize..9, bits in 1u32..=64, seed: u64
    ) {
        let shape = RingShape { parties, entries, bits };
        let words = random_words(&shape, &mut Randomness::seeded(seed));
        let expected = ideal(&shape, &words.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for outcome in run(shape, &words) {
            prop_assert_eq!(&outcome.output.unwrap(), &expected);
        }
    }

    #[test]
    fn bytes_are_the_words_of_a_message_or_an_error(
        entries in 0usize..5, bits in 1u32..=64, hop in 0usize..9, bytes: Vec<u8>, wrong: bool
    ) {
        let shape = RingShape { parties: 3, entries, bits };
        let mut body = shape.message(hop, &vec![0; entries]);
        let place = bytes.len() % body.len();
        if wrong && !bytes.is_empty() {
            body[place] = bytes[0];
        }
        if let Ok(words) = shape.read(hop, &body) {
            prop_assert_eq!(shape.message(hop, &words), body);
        }
        prop_assert!(shape.read(hop, &bytes).is_err() || bytes.len() == shape.message_bytes());
    }
}

#[test]
fn the_shape_depends_on_no_words_and_each_party_sends_at_most_two_messages() {
    let shape = RingShape { parties: 4, entries: 3, bits: 20 };
    let transcripts = |words: &[Vec<u64>]| {
        run(shape, words).into_iter().map(|one| one.transcripts).collect::<Vec<_>>()
    };
    let zeros = transcripts(&vec![vec![0; 3]; 4]);
    assert_eq!(zeros, transcripts(&random_words(&shape, &mut Randomness::seeded(1))));
    let (sent, heard) = ((Direction::Sent, WORDS, 32 + 9), (Direction::Received, WORDS, 32 + 9));
    assert_eq!(zeros[0], [vec![heard], vec![sent, sent]]);
    assert_eq!(zeros[1], [vec![heard, heard], vec![sent, sent]]);
    assert_eq!(zeros[3], [vec![heard, heard], vec![sent]]);
    let all: usize = zeros.iter().map(|[_, next]| next.len()).sum();
    assert_eq!(all, 2 * shape.parties - 1);
}

/// Thesis, section 5.4.2: eleven records at three parties; sizes, sizes with the protected value, and
/// counts of the classes, for the table and for three candidates.
#[test]
fn the_sums_of_the_thesis_come_out() {
    let words: [Vec<u64>; 3] = [
        vec![3, 1, 2, 1, 1, 0, 2, 1, 1, 0, 3, 1, 0, 0, 1, 2, 1, 1, 0, 1, 1, 1, 0, 1, 1, 2, 0, 0],
        vec![4, 1, 2, 1, 2, 0, 3, 1, 1, 0, 4, 1, 0, 0, 2, 2, 2, 0, 0, 2, 2, 1, 0, 1, 2, 2, 0, 0],
        vec![4, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 2, 2, 0, 0, 2, 0, 2, 2, 0, 0, 2, 2, 0],
    ];
    let expected =
        [11, 2, 6, 2, 5, 0, 7, 2, 4, 0, 9, 2, 2, 0, 5, 6, 5, 1, 0, 5, 3, 4, 2, 2, 3, 6, 2, 0];
    let shape = RingShape { parties: 3, entries: expected.len(), bits: 32 };
    for outcome in run(shape, &words) {
        assert_eq!(outcome.output.unwrap(), expected);
    }
}

#[test]
fn two_with_one_between_them_read_its_words_as_the_page_says() {
    let shape = RingShape { parties: 5, entries: 2, bits: 16 };
    let mut rng = Randomness::seeded(3);
    let words = random_words(&shape, &mut rng);
    let mut laps = vec![shape.masks(&mut rng)];
    for own in &words {
        laps.push(shape.plus(laps.last().unwrap(), own));
    }
    // laps[i] is what party i hears. What 1 sent and what 3 heard differ by the words of 2.
    assert_eq!(*shape.minus(&laps[3], &laps[2]), words[2]);
    // For place 0, whose masks nobody else knows: the sums, less all that was added after it.
    let sums = ideal(&shape, &words.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let others = shape.minus(&laps[5], &laps[1]);
    assert_eq!(*shape.minus(&sums, &others), words[0]);
}

/// What a party hears first is uniform: its buckets are as even for these words as for others.
#[test]
fn what_one_party_hears_in_the_first_lap_does_not_depend_on_words() {
    let shape = RingShape { parties: 3, entries: 4_096, bits: 3 };
    for word in [0, 5] {
        let heard = shape.plus(&shape.masks(&mut Randomness::seeded(word)), &vec![word; 4_096]);
        let mut buckets = [0f64; 8];
        heard.iter().for_each(|word| buckets[*word as usize] += 1.0);
        let statistic: f64 = buckets.iter().map(|n| (n - 512.0).powi(2) / 512.0).sum();
        // χ² with 7 degrees of freedom is above 29.9 once in 10,000.
        assert!(statistic < 29.9, "{statistic}");
    }
}

#[test]
fn impossible_shapes_places_roles_and_words_are_refused_at_home() {
    let good = RingShape { parties: 3, entries: 1, bits: 8 };
    for (shape, place, own) in [
        (RingShape { parties: 2, ..good }, 0, vec![1]),
        (RingShape { parties: MOST_PARTIES + 1, ..good }, 0, vec![1]),
        (RingShape { bits: 0, ..good }, 0, vec![1]),
        (RingShape { bits: 65, ..good }, 0, vec![1]),
        (RingShape { entries: MOST_ENTRIES + 1, ..good }, 0, vec![1]),
        (good, 3, vec![1]),
        (good, 0, vec![]),
        (good, 0, vec![256]),
    ] {
        let error = shape.check(place, &own).unwrap_err();
        assert!(matches!(error.blame(), Blame::Input), "{error}");
    }
    let outcomes = run_ring(3, |_, neighbours| {
        std::mem::swap(neighbours.previous, neighbours.next);
        sum(neighbours, &good, &[1])
    });
    let roles = |outcome: RingOutcome<Result<Vec<u64>, Error>>| {
        outcome.output.is_err_and(|e| e.says("Input", "a party is P2"))
    };
    assert!(outcomes.unwrap().into_iter().all(roles));
}

#[test]
fn a_bad_message_ends_the_ring_with_typed_errors_and_everybody_hears() {
    let shape = RingShape { parties: 4, entries: 2, bits: 9 };
    let good = shape.message(2, &[1, 2]);
    let mut too_long = good.clone();
    too_long[33] = 2;
    let other_hop = shape.message(3, &[1, 2]);
    for (body, is_right) in [
        (too_long, (|e| e.says("Peer", "word 0 of the previous party")) as fn(&Error) -> bool),
        (other_hop, |e| e.says("Disagreement", "works on another ring")),
        (good[1..].to_vec(), |e| {
            matches!(e, Error::Ring(Neighbour::Previous, inner)
                if matches!(**inner, Error::WrongLength { due: 36, .. }))
        }),
    ] {
        let outcomes = run_ring(4, |place, neighbours| {
            if place == 1 {
                neighbours.next.channel.send_bytes(WORDS, &body).unwrap();
                return neighbours.receive(&shape, 5).map(|words| words.to_vec());
            }
            let outcome = sum(neighbours, &shape, &[3, 4]);
            neighbours.conclude(outcome)
        });
        let mut errors: Vec<Error> =
            outcomes.unwrap().into_iter().map(|one| one.output.unwrap_err()).collect();
        assert!(is_right(&errors[2]), "{}", errors[2]);
        // Places 3 and 0 are not to blame, and do not wait for the limit.
        for place in [3, 0] {
            assert!(
                matches!(
                    &errors[place],
                    Error::Ring(Neighbour::Previous, inner)
                        if matches!(**inner, Error::PeerAborted(AbortReason::Internal))
                ),
                "{}",
                errors[place]
            );
        }
        assert!(matches!(errors.remove(1), Error::Disagreement(_) | Error::Ring(..)));
    }
}

#[test]
fn a_party_that_leaves_ends_the_ring() {
    let shape = RingShape { parties: 3, entries: 2, bits: 9 };
    let outcomes = run_ring(3, |place, neighbours| {
        let outcome = match place {
            1 => return,
            _ => sum(neighbours, &shape, &[3, 4]),
        };
        assert!(matches!(neighbours.conclude(outcome), Err(Error::Ring(..))));
    });
    assert_eq!(outcomes.unwrap().len(), 3);
}
