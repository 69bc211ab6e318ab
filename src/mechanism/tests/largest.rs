//! MAX gives shares of what its ideal function says.

use super::*;
use crate::mechanism::largest::{GroupShape, ideal, largest_counts};
use crate::protocol::pair::assert_same_shape;
use crate::protocol::shares::WordShares;
use proptest::prelude::*;

fn run_both(shape: GroupShape, first: &[u64], second: &[u64]) -> Outcome<WordShares, WordShares> {
    let party =
        |counts: &[u64], session: &mut Session| largest_counts(session, &shape, counts).unwrap();
    run_pair(Setup::default(), |s| party(first, s), |s| party(second, s))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn both_parties_shares_add_up_to_the_largest_sum_of_every_group(
        classes in 1usize..4, groups in 0usize..9, count_bits in 1usize..12, seed: u64
    ) {
        use rand::RngExt;
        let shape = GroupShape { classes, count_bits, share_bits: count_bits as u32 + 1 };
        let mut rng = Randomness::seeded(seed);
        let mut counts = || -> Vec<u64> {
            (0..classes * groups).map(|_| rng.random_range(0..1 << count_bits)).collect()
        };
        let (first, second) = (counts(), counts());
        let outcome = run_both(shape, &first, &second);
        let sums = outcome.p1.plus(&outcome.p2).unwrap();
        prop_assert_eq!(sums.words(), ideal(&shape, &first, &second));
    }
}

#[test]
fn what_is_sent_does_not_depend_on_the_counts_and_too_long_ones_are_refused() {
    let shape = GroupShape { classes: 2, count_bits: 5, share_bits: 6 };
    assert_same_shape(&[[0, 0, 0, 0], [31, 31, 31, 31], [1, 30, 2, 7]], |counts| {
        run_both(shape, counts, counts)
    });
    let outcome =
        run_pair(Setup::default(), |session| largest_counts(session, &shape, &[32, 0]), |_| ());
    assert!(matches!(outcome.p1, Err(Error::TooMany { .. })));
}

#[test]
fn a_batch_is_bounded_however_many_classes_there_are() {
    let shape = |classes| GroupShape { classes, count_bits: 20, share_bits: 21 };
    for classes in [1, 2, 1_000, 10_000_000] {
        let labels = shape(classes).batch() * (40 * classes + 21);
        assert!(shape(classes).batch() >= 1 && (classes > 100_000 || labels <= 1 << 22));
    }
    assert_eq!(shape(10_000_000).batch(), 1);
}
