//! Numeric domains: a public range and the grid on which it may be split.

use super::Decimal;
use crate::Error;
use std::ops::Range;

/// Most points of a grid, so that a point's number fits 32 bits with room to spare.
pub const MAX_POINTS: u32 = 1_000_000_000;

/// The public range of a numeric attribute, from `min` to `max`, both included, and its grid.
///
/// The grid's points are `min`, `min + step`, …; a value belongs to the last point that is not
/// above it. Splitting at point `p` sends values below `p` left and the others right. Values with
/// more decimals than `min`, `max` and `step` have are rounded down to as many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumericDomain {
    min: Decimal,
    max: Decimal,
    step: Decimal,
    /// Decimals of the finest of the three.
    scale: u8,
    points: u32,
    /// Intervals are written with both ends, as in manifests of before version 3.
    both_ends: bool,
}

impl NumericDomain {
    /// A domain whose step divides `max - min`, or whose cells are all equally wide when counted
    /// at the finest decimal (0 to 99 in steps of 10).
    ///
    /// # Errors
    /// A range that is upside down, a step that is not positive or does not fit, or a grid of
    /// more than [`MAX_POINTS`].
    pub fn new(min: Decimal, max: Decimal, step: Decimal) -> Result<Self, Error> {
        if min > max {
            return Err(Error::input(format!("min {min} is larger than max {max}: swap them")));
        }
        if step <= Decimal::ZERO {
            return Err(Error::input(format!(
                "step {step} is not positive: use the distance between two possible splits, such as 1"
            )));
        }
        let scale = min.scale().max(max.scale()).max(step.scale());
        let (low, high, width) =
            (min.floor_units(scale), max.floor_units(scale), step.floor_units(scale));
        let range = high - low;
        if range % width != 0 && (range + 1) % width != 0 {
            let below = Decimal::from_units(high - range % width, scale);
            let above = Decimal::from_units(high - range % width + width, scale);
            return Err(Error::input(format!(
                "step {step} does not divide the range from min to max: use max {below} or {above}, or \
                 another step"
            )));
        }
        let points = u32::try_from(range / width + 1).ok().filter(|points| *points <= MAX_POINTS);
        let points = points.ok_or_else(|| {
            Error::input(format!("the range has more than {MAX_POINTS} points: use a larger step"))
        })?;
        let both_ends = scale == 0 && width == 1;
        Ok(Self { min, max, step, scale, points, both_ends })
    }

    /// The smallest value.
    pub fn min(&self) -> Decimal {
        self.min
    }

    /// The largest value.
    pub fn max(&self) -> Decimal {
        self.max
    }

    /// The distance of two neighbouring points.
    pub fn step(&self) -> Decimal {
        self.step
    }

    /// Points of the grid, at least one. All but the first are possible splits.
    pub fn points(&self) -> u32 {
        self.points
    }

    /// The least multiple of the step that leaves at most so many points, if one is found soon.
    pub fn step_for(&self, most_points: u32) -> Option<Decimal> {
        let least = i128::from(self.points.div_ceil(most_points.max(1)));
        let width = self.step.floor_units(self.scale);
        let steps = (least..least + 10_000).filter_map(|times| width.checked_mul(times));
        let mut fitting =
            steps.map(|units| Decimal::from_units(units, self.scale)).filter(|step| {
                let coarser = Self::new(self.min, self.max, *step);
                coarser.is_ok_and(|coarser| coarser.points <= most_points)
            });
        fitting.next()
    }

    /// The value at a point; points past the last mean the last.
    pub fn point(&self, index: u32) -> Decimal {
        Decimal::from_units(self.point_units(index.min(self.points - 1)), self.scale)
    }

    /// The point a value belongs to, or `None` if the value is out of range.
    pub fn locate(&self, value: Decimal) -> Option<u32> {
        let units = value.floor_units(self.scale);
        if units < self.min.floor_units(self.scale) || units > self.max.floor_units(self.scale) {
            return None;
        }
        let offset = units - self.min.floor_units(self.scale);
        u32::try_from(offset / self.step.floor_units(self.scale)).ok()
    }

    /// The same domain, whose intervals are written as in manifests of before version 3.
    #[must_use]
    pub(crate) fn with_both_ends(self) -> Self {
        Self { both_ends: true, ..self }
    }

    /// How the points `range` are written in a release: whole numbers in steps of 1 as `[18..56]`,
    /// both ends included, others as `[0, 15)`, without the upper end, and the last with it:
    /// `[85, 99]`.
    pub fn interval(&self, range: Range<u32>) -> String {
        let (start, is_last) = (self.point(range.start), range.end >= self.points);
        match (self.both_ends, is_last) {
            (true, true) => format!("[{start}..{}]", self.max),
            (true, false) => {
                let last = Decimal::from_units(self.point_units(range.end) - 1, self.scale);
                format!("[{start}..{last}]")
            }
            (false, true) => format!("[{start}, {}]", self.max),
            (false, false) => format!("[{start}, {})", self.point(range.end)),
        }
    }

    fn point_units(&self, index: u32) -> i128 {
        self.min.floor_units(self.scale) + i128::from(index) * self.step.floor_units(self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn domain(min: &str, max: &str, step: &str) -> Result<NumericDomain, Error> {
        NumericDomain::new(number(min), number(max), number(step))
    }

    #[test]
    fn the_thesis_salary_range_is_written_as_in_the_release() {
        let salary = domain("18", "99", "1").unwrap();
        assert_eq!(salary.points(), 82);
        assert_eq!(salary.interval(0..82), "[18..99]");
        assert_eq!(salary.interval(0..39), "[18..56]");
        assert_eq!(salary.interval(39..82), "[57..99]");
        assert_eq!(salary.locate(number("56.99")), Some(38));
        assert_eq!(salary.locate(number("99.5")), Some(81));
        assert_eq!(salary.locate(number("17.99")), None);
        assert_eq!(salary.locate(number("100")), None);
    }

    #[test]
    fn coarse_steps_leave_no_gap_between_intervals() {
        let tens = domain("0", "99", "10").unwrap();
        assert_eq!((tens.points(), tens.interval(0..3)), (10, "[0, 30)".to_owned()));
        assert_eq!(tens.interval(9..10), "[90, 99]");
        let closed = domain("0", "100", "10").unwrap();
        assert_eq!((closed.points(), closed.interval(10..11)), (11, "[100, 100]".to_owned()));
        let fine = domain("-1", "1", "0.25").unwrap();
        assert_eq!(fine.interval(0..4), "[-1, 0)");
        assert_eq!(fine.point(4), Decimal::ZERO);
        assert_eq!(domain("0.5", "9.5", "1").unwrap().interval(0..3), "[0.5, 3.5)");
    }

    #[test]
    fn intervals_of_older_manifests_are_still_written() {
        let tens = domain("0", "99", "10").unwrap().with_both_ends();
        assert_eq!(
            (tens.interval(0..3), tens.interval(9..10)),
            ("[0..29]".into(), "[90..99]".into())
        );
        let fine = domain("-1", "1", "0.25").unwrap().with_both_ends();
        assert_eq!(fine.interval(0..4), "[-1..-0.01]");
    }

    #[test]
    fn a_coarser_step_is_found_that_fits_the_range() {
        let step = |min, max, step, most| {
            domain(min, max, step).unwrap().step_for(most).map(|step| step.to_string())
        };
        assert_eq!(step("0", "99999", "1", 1024), Some("100".to_owned()));
        assert_eq!(step("0", "4356", "1", 1024), Some("6".to_owned()));
        assert_eq!(step("0", "10", "0.5", 11), Some("1".to_owned()));
        assert_eq!(step("0", "10", "1", 11), Some("1".to_owned()), "it fits as it is");
        assert_eq!(step("0", "1000003", "1", 1024), Some("2809".to_owned()));
    }

    #[test]
    fn one_value_is_a_domain_of_one_point() {
        let constant = domain("5", "5", "1").unwrap();
        assert_eq!((constant.points(), constant.interval(0..1)), (1, "[5..5]".to_owned()));
    }

    #[test]
    fn ranges_that_do_not_fit_say_what_would() {
        let far = "999999999999999999";
        for ([min, max, step], why) in [
            (["0", "95", "10"], "use max 90 or 100"),
            (["2", "1", "1"], "min 2 is larger than max 1: swap them"),
            (["1", "2", "0"], "step 0 is not positive"),
            (["1", "2", "-1"], "step -1 is not positive"),
            (["0", "1000000000", "1"], "more than 1000000000 points"),
            ([&format!("-{far}"), far, "0.000000001"], "more than 1000000000 points"),
        ] {
            let message = domain(min, max, step).unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }

    proptest! {
        #[test]
        fn every_value_lies_in_the_interval_of_its_point(
            min in -50_i64..50, points in 1_u32..40, step in 1_i64..7, offset in 0_i64..400,
        ) {
            let max = min + i64::from(points - 1) * step;
            let grid = NumericDomain::new(min.into(), max.into(), step.into()).unwrap();
            prop_assert_eq!(grid.points(), points);
            let value = min + offset;
            match grid.locate(value.into()) {
                None => prop_assert!(value > max),
                Some(point) => {
                    let low = min + i64::from(point) * step;
                    prop_assert!(low <= value && value < low + step);
                    prop_assert_eq!(grid.point(point), Decimal::from(low));
                }
            }
        }
    }
}
