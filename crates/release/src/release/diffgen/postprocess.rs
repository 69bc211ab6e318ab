//! What becomes of noisy counts. It sees nothing but them, so it costs no privacy.

/// From noisy counts to counts that can be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostProcess {
    /// Negative counts become 0 and the others are lowered so that the sum is kept.
    NormSub,
    /// Negative counts become 0, as in the papers.
    Clamp,
}

impl PostProcess {
    /// The counts to publish.
    pub fn apply(self, noisy: &[i64]) -> Vec<u64> {
        match self {
            Self::NormSub => norm_sub(noisy),
            Self::Clamp => noisy.iter().map(|count| u64::try_from(*count).unwrap_or(0)).collect(),
        }
    }
}

/// The nearest counts that are not negative and have the same sum; zeros if the sum is not positive.
///
/// Every positive count is lowered by the same λ = a/k, where k counts stay above 0. All of them
/// then have the same remainder, so the units that rounding down leaves go to the first ones.
fn norm_sub(noisy: &[i64]) -> Vec<u64> {
    let total: i128 = noisy.iter().map(|count| i128::from(*count)).sum();
    if total <= 0 {
        return vec![0; noisy.len()];
    }
    let mut sorted = noisy.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let (mut sum, mut lowering) = (0i128, (0i128, 1i128));
    for (index, count) in sorted.iter().enumerate() {
        let k = index as i128 + 1;
        sum += i128::from(*count);
        // The k largest stay above 0 if the k-th does: x_k > (Σ − total)/k.
        if i128::from(*count) * k <= sum - total {
            break;
        }
        lowering = (sum - total, k);
    }
    let (a, k) = lowering;
    let whole = a.div_euclid(k) + i128::from(a.rem_euclid(k) != 0); // ⌈λ⌉
    let stays = |count: i64| i128::from(count) * k > a;
    let lowered = |count: i64| (i128::from(count) - whole).max(0);
    let rounded: i128 = noisy.iter().filter(|c| stays(**c)).map(|c| lowered(*c)).sum();
    let mut left = total - rounded;
    noisy
        .iter()
        .map(|count| {
            if !stays(*count) {
                return 0;
            }
            let extra = i128::from(left > 0);
            left -= extra;
            u64::try_from(lowered(*count) + extra).unwrap_or(0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_lowered_alike_and_keep_their_sum() {
        assert_eq!(norm_sub(&[5, 3, 2]), [5, 3, 2]);
        // The sum is 6; 10 and 4 are lowered by 4 each, and one of them ends at 0.
        assert_eq!(norm_sub(&[10, 4, -8]), [6, 0, 0]);
        // λ = 1/3: the first two get the units back.
        assert_eq!(norm_sub(&[3, 3, 3, -1]), [3, 3, 2, 0]);
    }

    #[test]
    fn a_sum_that_is_not_positive_gives_zeros_and_clamping_ignores_the_sum() {
        assert_eq!(norm_sub(&[5, -9]), [0, 0]);
        assert_eq!(norm_sub(&[]), [] as [u64; 0]);
        assert_eq!(norm_sub(&[0, 0]), [0, 0]);
        assert_eq!(norm_sub(&[i64::MAX, i64::MAX, i64::MIN]).len(), 3);
        assert_eq!(PostProcess::Clamp.apply(&[5, -9, 0]), [5, 0, 0]);
    }

    proptest! {
        #[test]
        fn the_sum_is_kept_the_order_too_and_nothing_grows(
            noisy in prop::collection::vec(-50i64..200, 0..40)
        ) {
            let counts = norm_sub(&noisy);
            let total: i64 = noisy.iter().sum();
            prop_assert_eq!(counts.iter().sum::<u64>() as i64, total.max(0));
            for (i, (a, x)) in noisy.iter().zip(&counts).enumerate() {
                prop_assert!(*x as i64 <= (*a).max(0));
                for (b, y) in noisy.iter().zip(&counts).skip(i + 1) {
                    // Ties are broken in leaf order, so a later one may be one lower.
                    let fair = if a > b { x >= y } else { *x <= y + 1 };
                    prop_assert!(fair && (a != b || x >= y));
                }
            }
        }
    }
}
