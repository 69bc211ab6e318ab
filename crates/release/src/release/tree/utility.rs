//! Utilities: what a specialization is worth, from the counts of its children by class.
//!
//! | utility | score of v | Δ | monotone |
//! | --- | --- | --- | --- |
//! | Max | Σ over children of the largest class count | 1 | yes |
//! | leaf-max | the same, summed over all leaves as they would be after v | 1 | yes |
//! | InfoGain | entropy of the class in v less that in the children | log2 of the classes | no |
//!
//! Neighbours differ by one record added or removed. The record lies in one child (of one leaf), so
//! it moves one largest class count by at most 1, and never down when added. InfoGain lies between
//! 0 and log2 of the number of classes, so no record moves it by more.
//!
//! Between two parties with different columns each knows the leaves that its own columns make, and
//! whoever was chosen more often has the purer ones: its scores would win whatever the candidate is
//! worth. So there leaf-max counts what is *gained* over the leaves as they are. What they are worth
//! before and after each moves by 0 or 1, so Δ stays 1, but the gain is not monotone.
//!
//! InfoGain is computed in whole numbers. With g(n) = n·log2 n it is
//! (g(n_v) − Σ_k g(n_vk) − Σ_c g(n_c) + Σ_ck g(n_ck)) / n_v. [`log2_floor`] is at most 2^-31 below
//! log2, and the counts under each of the four signs sum to n_v, so the error stays below 4·2^-31:
//! far less than one grid step, as the calibration assumes.

pub use crate::agreement::Utility;
use crate::privacy::{Calibration, Score, choice::SCORE_GRID_BITS};

/// Fraction bits of a logarithm.
const LOG_BITS: u32 = 32;
/// Logarithms up to here are kept in a table.
const TABLE_LIMIT: usize = 1 << 20;

/// Sensitivity and monotonicity. `paper` keeps the factor 2 of the papers for every utility;
/// with `gains` leaf-max counts gains.
pub fn calibration(utility: Utility, classes: usize, paper: bool, gains: bool) -> Calibration {
    match utility {
        Utility::InfoGain => Calibration::info_gain(classes as u64),
        Utility::LeafMax if gains => Calibration::max_of_the_papers(),
        _ if paper => Calibration::max_of_the_papers(),
        _ => Calibration::max(),
    }
}

/// Σ over children of the largest class count; `counts` holds `classes` numbers per child.
pub fn max(counts: &[u32], classes: usize) -> u64 {
    counts.chunks_exact(classes).map(|child| u64::from(largest(child))).sum()
}

/// The largest number, 0 if there is none.
#[inline]
pub fn largest(counts: &[u32]) -> u32 {
    let mut largest = 0;
    for count in counts {
        largest = largest.max(*count);
    }
    largest
}

/// Logarithms of whole numbers, with those that are asked for most in a table.
#[derive(Clone, Debug)]
pub struct Logarithms {
    table: Vec<u64>,
}

impl Logarithms {
    /// A table for counts up to `largest`, as far as one is worth it.
    pub fn up_to(largest: usize) -> Self {
        Self { table: (0..=largest.min(TABLE_LIMIT)).map(|n| log2_floor(n as u64)).collect() }
    }

    /// Information gain, floored to the grid of scores; 0 for no records.
    pub fn info_gain(&self, counts: &[u32], classes: usize) -> Score {
        let mut by_class = vec![0u64; classes];
        let mut gain = 0i128;
        for child in counts.chunks_exact(classes) {
            let mut size = 0;
            for (total, count) in by_class.iter_mut().zip(child) {
                let count = u64::from(*count);
                *total += count;
                size += count;
                gain += self.times_log(count);
            }
            gain -= self.times_log(size);
        }
        let size: u64 = by_class.iter().sum();
        gain += self.times_log(size);
        gain -= by_class.iter().map(|count| self.times_log(*count)).sum::<i128>();
        if size == 0 || gain <= 0 {
            return Score::default(); // below 0 only by the error of the logarithms
        }
        let steps = (gain >> (LOG_BITS - SCORE_GRID_BITS)) / i128::from(size);
        Score::from_steps(u64::try_from(steps).unwrap_or(u64::MAX))
    }

    /// Entropy of a division into so many each, floored to the grid of scores; 0 for no records.
    pub fn entropy(&self, sizes: &[u32]) -> Score {
        let whole: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
        let parts: i128 = sizes.iter().map(|size| self.times_log(u64::from(*size))).sum();
        let sum = self.times_log(whole) - parts;
        if whole == 0 || sum <= 0 {
            return Score::default();
        }
        let steps = (sum >> (LOG_BITS - SCORE_GRID_BITS)) / i128::from(whole);
        Score::from_steps(u64::try_from(steps).unwrap_or(u64::MAX))
    }

    fn times_log(&self, n: u64) -> i128 {
        let log = match self.table.get(n as usize) {
            Some(log) => *log,
            None => log2_floor(n),
        };
        i128::from(n) * i128::from(log)
    }
}

/// ⌊2^32·log2 n⌋ or one less, digit by digit; 0 for n = 0.
///
/// x = n/2^⌊log2 n⌋ is squared again and again; whenever it reaches 2 a digit is 1 and x is halved.
/// x is kept to 2^-62. Each squaring doubles the relative error and adds 2^-62, so after 32 of them
/// it is below 2^-29, and the digits found are those of a number at most 2^-32·2^-28 below n's
/// logarithm; cutting off the rest adds less than 2^-32.
pub fn log2_floor(n: u64) -> u64 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    let mut x = if whole <= 62 { n << (62 - whole) } else { n >> (whole - 62) };
    let mut log = u64::from(whole);
    for _ in 0..LOG_BITS {
        let square = (u128::from(x) * u128::from(x)) >> 62;
        let digit = (square >> 63) as u64;
        x = (square >> digit) as u64;
        log = (log << 1) | digit;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Rational;
    use proptest::prelude::*;

    #[test]
    fn logarithms_are_floors_to_within_a_unit() {
        assert_eq!(log2_floor(0), 0);
        assert_eq!(log2_floor(1), 0);
        assert_eq!(log2_floor(2), 1 << 32);
        assert_eq!(log2_floor(1 << 40), 40 << 32);
        // log2 3 = 1.58496250072115618145…, times 2^32 = 6807362105.6…
        assert_eq!(log2_floor(3), 6_807_362_105);
        // log2 10 = 3.32192809488736234787…, times 2^32 = 14267572527.2…
        assert_eq!(log2_floor(10), 14_267_572_527);
    }

    #[test]
    fn max_sums_the_largest_class_of_each_child() {
        assert_eq!(max(&[3, 1, 0, 4, 2, 2], 2), 3 + 4 + 2);
        assert_eq!(max(&[], 2), 0);
    }

    #[test]
    fn calibrations_are_those_of_the_table_above() {
        let one = Rational::whole(1u32);
        for (utility, paper, gains, monotone) in [
            (Utility::Max, false, false, true),
            (Utility::LeafMax, false, false, true),
            (Utility::Max, false, true, true),
            (Utility::LeafMax, false, true, false),
            (Utility::Max, true, false, false),
        ] {
            let calibration = calibration(utility, 2, paper, gains);
            assert_eq!((calibration.sensitivity(), calibration.is_monotone()), (&one, monotone));
        }
        let gain = calibration(Utility::InfoGain, 4, false, false);
        assert!(!gain.is_monotone());
        let steps = Rational::power_of_two(1 - SCORE_GRID_BITS as i32);
        assert_eq!(gain.sensitivity(), &(&Rational::whole(2u32) + &steps));
    }

    fn counts() -> impl Strategy<Value = (usize, Vec<u32>)> {
        (1usize..4).prop_flat_map(|classes| {
            let children = prop::collection::vec(prop::collection::vec(0u32..60, classes), 1..5);
            (Just(classes), children.prop_map(|children| children.concat()))
        })
    }

    proptest! {
        #[test]
        fn logarithms_agree_with_floating_point_to_its_precision(n in 1u64..1 << 40) {
            let expected = (n as f64).log2() * 2f64.powi(32);
            prop_assert!((log2_floor(n) as f64 - expected).abs() <= 2.0);
        }

        #[test]
        fn information_gain_is_what_floating_point_says((classes, counts) in counts()) {
            let entropy = |counts: &[f64]| {
                let n: f64 = counts.iter().sum();
                counts.iter().filter(|c| **c > 0.0).map(|c| -c / n * (c / n).log2()).sum::<f64>()
            };
            let real: Vec<f64> = counts.iter().map(|count| f64::from(*count)).collect();
            let n: f64 = real.iter().sum();
            let totals: Vec<f64> =
                (0..classes).map(|k| real.iter().skip(k).step_by(classes).sum()).collect();
            let inside: f64 =
                real.chunks(classes).map(|c| c.iter().sum::<f64>() / n * entropy(c)).sum();
            let expected = if n == 0.0 { 0.0 } else { entropy(&totals) - inside };
            let found = Logarithms::up_to(100).info_gain(&counts, classes);
            let error = expected * 2f64.powi(20) - found.steps() as f64;
            prop_assert!((-0.01..=1.01).contains(&error), "{error}");
        }

        #[test]
        fn one_record_moves_a_score_by_at_most_its_sensitivity(
            (classes, counts) in counts(), place in any::<prop::sample::Index>()
        ) {
            let mut more = counts.clone();
            more[place.index(counts.len())] += 1;
            let (before, after) = (max(&counts, classes), max(&more, classes));
            prop_assert!(after == before || after == before + 1);
            let logarithms = Logarithms::up_to(100);
            let [before, after] = [&counts, &more].map(|c| logarithms.info_gain(c, classes).value());
            let change = after.checked_sub(&before).or_else(|| before.checked_sub(&after)).unwrap();
            prop_assert!(&change <= Calibration::info_gain(classes as u64).sensitivity());
        }
    }
}
