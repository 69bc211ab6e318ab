//! The bits that models without ε open equal their ideal functions, and nothing else is opened.

use super::*;
use crate::mechanism::best::{self, CandidateShape, SplitShape, candidate, split};
use crate::mechanism::heads::{self, Head, HeadShape, better};
use crate::mechanism::validity::{self, CellShape, Cells, all_valid};
use crate::protocol::Session;
use crate::protocol::pair::run_pair;
use crate::protocol::pair::{assert_forecast, assert_same_shape};
use proptest::prelude::*;
use rand::RngExt;

/// Shares of numbers over words of so many bits, P1's then P2's.
fn shared(rng: &mut Randomness, bits: u32, numbers: &[u64]) -> [Vec<u64>; 2] {
    let mask = u64::MAX >> (64 - bits);
    let first: Vec<u64> = numbers.iter().map(|_| rng.random::<u64>() & mask).collect();
    let second = numbers.iter().zip(&first).map(|(n, s)| n.wrapping_sub(*s) & mask).collect();
    [first, second]
}

type Shared = ([Vec<u64>; 2], [Vec<u64>; 2], Vec<u64>);

fn run_cells(
    shape: CellShape,
    (counts, margins, least): &Shared,
    known: [bool; 2],
) -> Outcome<bool, bool> {
    let party = |session: &mut Session| {
        let role = session.role as usize;
        let cells = Cells { least, counts: &counts[role], margins: &margins[role] };
        all_valid(session, &shape, &cells, known[role]).unwrap()
    };
    run_pair(Setup::default(), party, party)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn cells_are_valid_where_counts_are_0_or_large_enough_and_no_margin_is_negative(
        count_bits in 1u32..12, margin_bits in 2u32..20, margins in 0usize..3, cells in 0usize..6,
        known: [bool; 2], spoil in 0usize..4, seed: u64,
    ) {
        let shape = CellShape { count_bits, margin_bits, margins };
        let mut rng = Randomness::seeded(seed);
        let most = (1u64 << count_bits) - 1;
        let least: Vec<u64> = (0..cells).map(|_| rng.random_range(1..=most.max(1))).collect();
        let mut counts: Vec<u64> = least
            .iter()
            .map(|least| if rng.random() { 0 } else { rng.random_range(*least..=most) })
            .collect();
        let mut room: Vec<u64> =
            (0..cells * margins).map(|_| rng.random_range(0..1 << (margin_bits - 1))).collect();
        if spoil == 1 && cells > 0 {
            counts[0] = least[0] - 1;
        }
        if spoil == 2 && cells * margins > 0 {
            room[cells * margins - 1] = 1 << (margin_bits - 1);
        }
        let valid = (known[0] ^ known[1])
            && counts.iter().zip(&least).all(|(count, least)| *count == 0 || count >= least)
            && room.iter().all(|margin| margin >> (margin_bits - 1) == 0);
        let (counts, room) =
            (shared(&mut rng, count_bits, &counts), shared(&mut rng, margin_bits, &room));
        let both: Shared = (counts, room, least);
        let outcome = run_cells(shape, &both, known);
        let cells = |role: usize| Cells { least: &both.2, counts: &both.0[role], margins: &both.1[role] };
        prop_assert_eq!(validity::ideal(&shape, [cells(0), cells(1)], known), valid);
        prop_assert_eq!((outcome.p1, outcome.p2), (valid, valid));
    }

    #[test]
    fn the_better_of_two_candidates_is_found(
        fractions: bool, has: [bool; 2], above in prop::array::uniform2(0u64..4),
        below in prop::array::uniform2(1u64..4), scale in 0u32..29, orders: bool,
    ) {
        let shape = HeadShape { fractions };
        let head = |role: usize| has[role].then(|| Head {
            above: above[role] << scale,
            below: below[role] << scale,
            order: u32::from((role == 1) ^ orders),
        });
        let party = |session: &mut Session| {
            better(session, &shape, head(session.role as usize)).unwrap()
        };
        let outcome = run_pair(Setup::default(), party, party);
        let expected = heads::ideal(&shape, head(0), head(1));
        prop_assert_eq!((outcome.p1, outcome.p2), (expected, expected));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_best_candidate_and_the_best_split_are_those_of_both_parties_counts_together(
        classes in 1usize..4, children in prop::collection::vec(1usize..4, 1..5), several: bool,
        splits in 1usize..9, most in 1u64..6, seed: u64,
    ) {
        let mut rng = Randomness::seeded(seed);
        let shape = CandidateShape { classes, count_bits: 8, children, several };
        let mut numbers = |count: usize| -> Vec<u64> {
            (0..count).map(|_| rng.random_range(0..most)).collect()
        };
        let counts = classes * shape.children.iter().sum::<usize>();
        let both = [numbers(counts), numbers(counts)];
        let outcome = run_pair(
            Setup::default(),
            |session| candidate(session, &shape, &both[0]).unwrap(),
            |session| candidate(session, &shape, &both[1]).unwrap(),
        );
        let expected = best::ideal_candidate(&shape, &both[0], &both[1]);
        prop_assert_eq!((outcome.p1, outcome.p2), (expected, expected));
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            best::forecast_candidate(f, &shape);
        });

        let shape = SplitShape { classes, count_bits: 8, splits };
        let both = [numbers(2 * classes * splits), numbers(2 * classes * splits)];
        let outcome = run_pair(
            Setup::default(),
            |session| split(session, &shape, &both[0]).unwrap(),
            |session| split(session, &shape, &both[1]).unwrap(),
        );
        let expected = best::ideal_split(&shape, &both[0], &both[1]);
        prop_assert_eq!((outcome.p1, outcome.p2), (expected, expected));
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| best::forecast_split(f, &shape));
    }
}

#[test]
fn counts_that_do_not_fit_are_refused_before_anything_is_said() {
    let shape = SplitShape { classes: 2, count_bits: 3, splits: 1 };
    for wrong in [&[1, 2, 3][..], &[1, 2, 3, 8]] {
        let outcome = run_pair(
            Setup::default(),
            |session| split(session, &shape, wrong).unwrap_err(),
            |_| (),
        );
        assert!(
            ["one count per class", "are too many"]
                .iter()
                .any(|words| outcome.p1.says("Internal", words))
        );
        assert!(outcome.transcripts.p1.is_empty());
    }
}

#[test]
fn many_cells_go_in_batches_as_forecast_and_only_the_last_bit_is_opened() {
    let shape = CellShape { count_bits: 40, margin_bits: 60, margins: 4 };
    let cells = 17;
    let runs: Vec<(usize, [bool; 2])> = vec![
        (usize::MAX, [true, false]),
        (3, [true, false]),
        (cells - 1, [false, true]),
        (9, [true; 2]),
    ];
    let run = |(spoilt, known): &(usize, [bool; 2])| {
        let mut rng = Randomness::seeded(4);
        let mut counts = vec![7; cells];
        if let Some(count) = counts.get_mut(*spoilt) {
            *count = 4;
        }
        let both = (
            shared(&mut rng, 40, &counts),
            shared(&mut rng, 60, &vec![1; cells * 4]),
            vec![5; cells],
        );
        let outcome = run_cells(shape, &both, *known);
        assert_eq!(outcome.p1, *spoilt == usize::MAX && known[0] != known[1]);
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            validity::forecast(f, &shape, cells);
        });
        outcome
    };
    assert_same_shape(&runs, run);
}

#[test]
fn what_each_candidate_is_worth_does_not_show_in_what_is_said() {
    let shape = HeadShape { fractions: true };
    let head = |above| Some(Head { above, below: 3, order: above as u32 });
    assert_same_shape(&[[head(1), head(2)], [None, head(2)], [None, None]], |heads| {
        let outcome = run_pair(
            Setup::default(),
            |session| better(session, &shape, heads[0]).unwrap(),
            |session| better(session, &shape, heads[1]).unwrap(),
        );
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| heads::forecast(f, &shape));
        outcome
    });
}
