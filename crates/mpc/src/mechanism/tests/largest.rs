//! MAX gives shares of what its ideal function says.

use super::*;
use crate::mechanism::largest::{GroupShape, MANY, forecast, ideal, largest_counts};
use crate::protocol::Bulk;
use crate::protocol::pair::{assert_forecast, assert_same_shape};
use crate::protocol::shares::WordShares;
use proptest::prelude::*;

fn run_both(shape: GroupShape, first: &[u64], second: &[u64]) -> Outcome<WordShares, WordShares> {
    let party =
        |counts: &[u64], session: &mut Workspace| largest_counts(session, &shape, counts).unwrap();
    run_workspaces(Setup::default(), |s| party(first, s), |s| party(second, s))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn both_parties_shares_add_up_to_the_largest_sum_of_every_group(
        classes in 1usize..4, groups in 0usize..9, count_bits in 1usize..12, seed: u64
    ) {
        use rand::RngExt;
        let shape = GroupShape { classes, count_bits, share_bits: count_bits as u32 + 1, of_shares: false };
        let mut rng = Randomness::seeded(seed);
        let mut counts = || -> Vec<u64> {
            (0..classes * groups).map(|_| rng.random_range(0..1 << count_bits)).collect()
        };
        let (first, second) = (counts(), counts());
        let outcome = run_both(shape, &first, &second);
        let sums = outcome.p1.plus(&outcome.p2).unwrap();
        prop_assert_eq!(sums.words(), ideal(&shape, &first, &second));
    }

    /// Shares are any numbers; what they share is small, as counts are, or anything.
    #[test]
    fn shares_of_counts_that_wrap_give_shares_of_the_largest_count(
        classes in 1usize..4, groups in 0usize..9, count_bits in 2usize..40, small: bool, seed: u64
    ) {
        use rand::RngExt;
        let share_bits = count_bits as u32;
        let shape = GroupShape { classes, count_bits, share_bits, of_shares: true };
        let mut rng = Randomness::seeded(seed);
        let most = 1u64 << if small { count_bits / 2 } else { count_bits };
        let counts: Vec<u64> = (0..classes * groups).map(|_| rng.random_range(0..most)).collect();
        let first: Vec<u64> = counts.iter().map(|_| rng.random()).collect();
        let second: Vec<u64> = counts.iter().zip(&first).map(|(c, s)| c.wrapping_sub(*s)).collect();
        let outcome = run_both(shape, &first, &second);
        let sums = outcome.p1.plus(&outcome.p2).unwrap();
        let largest: Vec<u64> =
            counts.chunks(classes).map(|group| group.iter().copied().max().unwrap()).collect();
        prop_assert_eq!(sums.words(), &largest[..]);
        prop_assert_eq!(ideal(&shape, &first, &second), largest);
    }
}

#[test]
fn many_groups_are_compared_on_shared_bits_to_the_same_result_as_forecast() {
    use rand::RngExt;
    let mut rng = Randomness::seeded(5);
    for (classes, count_bits, of_shares) in
        [(1, 4, false), (2, 6, false), (3, 5, false), (3, 8, true)]
    {
        let share_bits = count_bits as u32 + u32::from(!of_shares);
        let shape = GroupShape { classes, count_bits, share_bits, of_shares };
        // Counts that are shared leave the highest bit free; others may be as large as they can.
        let most = 1u64 << if of_shares { count_bits - 1 } else { count_bits };
        let counts: Vec<u64> =
            (0..classes * (MANY + 3)).map(|_| rng.random_range(0..most)).collect();
        let (first, second): (Vec<u64>, Vec<u64>) = match of_shares {
            true => counts
                .iter()
                .map(|count| {
                    let share: u64 = rng.random();
                    (share, count.wrapping_sub(share))
                })
                .unzip(),
            false => counts.iter().map(|count| (*count, rng.random_range(0..most))).unzip(),
        };
        let party = |counts: &[u64], session: &mut Workspace| {
            session.bulk = Bulk::SharedBits;
            largest_counts(session, &shape, counts).unwrap()
        };
        let outcome = run_workspaces(Setup::default(), |s| party(&first, s), |s| party(&second, s));
        let sums = outcome.p1.plus(&outcome.p2).unwrap();
        assert_eq!(sums.words(), ideal(&shape, &first, &second), "{shape:?}");
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            f.do_bulk(Bulk::SharedBits);
            forecast(f, &shape, MANY + 3).unwrap();
        });
    }
}

#[test]
fn what_is_sent_does_not_depend_on_the_counts_and_too_long_ones_are_refused() {
    let shape = GroupShape { classes: 2, count_bits: 5, share_bits: 6, of_shares: false };
    assert_same_shape(&[[0, 0, 0, 0], [31, 31, 31, 31], [1, 30, 2, 7]], |counts| {
        run_both(shape, counts, counts)
    });
    let outcome = run_workspaces(
        Setup::default(),
        |session| largest_counts(session, &shape, &[32, 0]),
        |_| (),
    );
    assert!(outcome.p1.is_err_and(|e| e.says("Internal", "are too many")));
}

#[test]
fn a_batch_is_bounded_however_many_classes_there_are() {
    let shape = |classes| GroupShape { classes, count_bits: 20, share_bits: 21, of_shares: false };
    for classes in [1, 2, 1_000, 10_000_000] {
        let labels = shape(classes).batch() * (40 * classes + 21);
        assert!(shape(classes).batch() >= 1 && (classes > 100_000 || labels <= 1 << 22));
    }
    assert_eq!(shape(10_000_000).batch(), 1);
}
