//! Numeric domains: a public range of numbers or dates and the points at which it may be split.

use super::Decimal;
use super::date::{Date, DateFormat, DateStep};
use crate::Error;
use std::ops::Range;
use std::sync::Arc;

/// Most points of a grid, so that a point's number fits 32 bits with room to spare.
pub const MAX_POINTS: u32 = 1_000_000_000;
/// Most numbers in a list of edges.
pub const MAX_EDGES: usize = 10_000;
/// How a missing value is written in a release.
pub const MISSING: &str = "missing";

/// The public range of a numeric attribute, from `min` to `max`, both included, and its points.
///
/// A value belongs to the last point that is not above it. Splitting at point `p` sends values
/// below `p` left and the others right. Values with more decimals than the points have are rounded
/// down to as many. Dates are the numbers of their days. Where missing values are a category, one
/// more point before all others stands for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumericDomain {
    min: Decimal,
    max: Decimal,
    grid: Grid,
    /// Decimals of the finest of the numbers that describe it.
    scale: u8,
    /// Of the grid alone.
    points: u32,
    written: Written,
    missing: bool,
}

/// Where the points are, in units of the last decimal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Grid {
    /// `min`, `min + step`, …
    Even(Decimal),
    /// These, of which the first is `min`.
    Listed(Arc<[i128]>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Written {
    Number {
        /// Intervals are written with both ends, as in manifests of before version 3.
        both_ends: bool,
    },
    Date(DateStep, DateFormat),
}

/// What an agreement says of the points of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Splits<'d> {
    /// The distance of two neighbouring points.
    Step(Decimal),
    /// `min`, the other points, and `max`.
    Edges(Vec<Decimal>),
    /// The beginnings of days, months, quarters or years; and how cells write a date.
    Dates(DateStep, &'d DateFormat),
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
            return Err(upside_down(min, max));
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
        let written = Written::Number { both_ends: scale == 0 && width == 1 };
        Ok(Self { min, max, grid: Grid::Even(step), scale, points, written, missing: false })
    }

    /// A domain of the intervals between neighbouring edges; the last holds its upper end.
    ///
    /// # Errors
    /// Fewer than two edges, more than [`MAX_EDGES`], or edges that do not ascend.
    pub fn with_edges(edges: &[Decimal]) -> Result<Self, Error> {
        let ([min, .., max], 2..=MAX_EDGES) = (edges, edges.len()) else {
            return Err(Error::input(format!(
                "there are {} edges: list from 2 to {MAX_EDGES}, the smallest value first and the \
                 largest last",
                edges.len()
            )));
        };
        if let Some([lower, upper]) =
            edges.windows(2).find(|pair| pair[0] >= pair[1]).and_then(|pair| pair.first_chunk())
        {
            return Err(Error::input(format!(
                "edge {upper} follows {lower}: list each once, in ascending order"
            )));
        }
        let scale = edges.iter().map(|edge| edge.scale()).max().unwrap_or(0);
        let starts = edges[..edges.len() - 1].iter().map(|edge| edge.floor_units(scale));
        Ok(Self::listed(
            (*min, *max),
            starts.collect(),
            scale,
            Written::Number { both_ends: false },
        ))
    }

    /// The edges of a logarithmic scale: `min`, then 1, 2 and 5 times the powers of ten between,
    /// then `max`.
    ///
    /// # Errors
    /// If `min` is not positive or not below `max`.
    pub fn logarithmic_edges(min: Decimal, max: Decimal) -> Result<Vec<Decimal>, Error> {
        if min <= Decimal::ZERO {
            return Err(Error::input(format!(
                "min {min} is not positive, as a logarithmic scale needs: use `edges`, such as [0, 1, \
                 2, 5, 10]"
            )));
        }
        if min >= max {
            return Err(upside_down(min, max));
        }
        // From 10^-9 to 5 · 10^17, which are all that a decimal can hold.
        let powers = (0..27_u32).map(|power| 10_i128.pow(power));
        let series =
            powers.flat_map(|power| [1, 2, 5].map(|digit| Decimal::from_units(digit * power, 9)));
        let between = series.filter(|edge| min < *edge && *edge < max);
        Ok(std::iter::once(min).chain(between).chain([max]).collect())
    }

    /// Dates from `min` to `max`, that may be split at the beginnings of such steps.
    ///
    /// # Errors
    /// If `min` is after `max`.
    pub fn dates(min: Date, max: Date, step: DateStep, format: DateFormat) -> Result<Self, Error> {
        if min > max {
            return Err(Error::input(format!("min {min} is after max {max}: swap them")));
        }
        let written = Written::Date(step, format);
        if step == DateStep::Day {
            let days = Self::new(min.day(), max.day(), Decimal::ONE)?;
            return Ok(Self { written, ..days });
        }
        let starts = std::iter::once(min).chain(step.between(min, max));
        let starts = starts.map(|start| start.day().floor_units(0));
        Ok(Self::listed((min.day(), max.day()), starts.collect(), 0, written))
    }

    fn listed(
        (min, max): (Decimal, Decimal),
        starts: Vec<i128>,
        scale: u8,
        written: Written,
    ) -> Self {
        // Lists are bounded far below.
        let points = u32::try_from(starts.len()).unwrap_or(u32::MAX);
        Self { min, max, grid: Grid::Listed(starts.into()), scale, points, written, missing: false }
    }

    /// The same domain with one more point, the first, for missing values.
    #[must_use]
    pub fn with_missing(self) -> Self {
        Self { missing: true, ..self }
    }

    /// Whether the first point stands for missing values.
    pub fn has_missing(&self) -> bool {
        self.missing
    }

    /// The smallest value.
    pub fn min(&self) -> Decimal {
        self.min
    }

    /// The largest value.
    pub fn max(&self) -> Decimal {
        self.max
    }

    /// What an agreement says of its points.
    pub fn splits(&self) -> Splits<'_> {
        match (&self.written, &self.grid) {
            (Written::Date(step, format), _) => Splits::Dates(*step, format),
            (Written::Number { .. }, Grid::Even(step)) => Splits::Step(*step),
            (Written::Number { .. }, Grid::Listed(starts)) => {
                let starts = starts.iter().map(|units| Decimal::from_units(*units, self.scale));
                Splits::Edges(starts.chain([self.max]).collect())
            }
        }
    }

    /// Whether its values are dates.
    pub fn is_date(&self) -> bool {
        matches!(self.written, Written::Date(..))
    }

    /// Whether every value is a whole number or a date.
    pub fn is_whole(&self) -> bool {
        self.scale == 0
    }

    /// Points, at least one. All but the first are possible splits.
    pub fn points(&self) -> u32 {
        self.points + u32::from(self.missing)
    }

    /// What to agree on instead if there may be at most so many points.
    pub fn coarser(&self, most_points: u32) -> String {
        match (&self.written, &self.grid) {
            (Written::Date(..), _) => "use a longer step, such as \"year\"".to_owned(),
            (_, Grid::Listed(_)) => "list fewer edges".to_owned(),
            (_, Grid::Even(_)) => match self.step_for(most_points) {
                Some(step) => format!("use a larger step, such as {step}"),
                None => "use a larger step, and a `max` that fits it".to_owned(),
            },
        }
    }

    /// The least multiple of the step that leaves at most so many points, if one is found soon.
    fn step_for(&self, most_points: u32) -> Option<Decimal> {
        let Grid::Even(step) = self.grid else { return None };
        let most_points = most_points.saturating_sub(u32::from(self.missing)).max(1);
        let least = i128::from(self.points.div_ceil(most_points));
        let width = step.floor_units(self.scale);
        let steps = (least..least + 10_000).filter_map(|times| width.checked_mul(times));
        let mut fitting =
            steps.map(|units| Decimal::from_units(units, self.scale)).filter(|step| {
                let coarser = Self::new(self.min, self.max, *step);
                coarser.is_ok_and(|coarser| coarser.points <= most_points)
            });
        fitting.next()
    }

    /// The least value of a point; points past the last mean the last, and that of missing values
    /// the one after it.
    pub fn point(&self, index: u32) -> Decimal {
        Decimal::from_units(self.point_units(index), self.scale)
    }

    /// The point a value belongs to, or `None` if the value is out of range.
    pub fn locate(&self, value: Decimal) -> Option<u32> {
        let units = value.floor_units(self.scale);
        if units < self.min.floor_units(self.scale) || units > self.max.floor_units(self.scale) {
            return None;
        }
        let place = match &self.grid {
            Grid::Even(step) => {
                let offset = units - self.min.floor_units(self.scale);
                u32::try_from(offset / step.floor_units(self.scale)).ok()?
            }
            Grid::Listed(starts) => {
                u32::try_from(starts.partition_point(|start| *start <= units).checked_sub(1)?)
                    .ok()?
            }
        };
        Some(place + u32::from(self.missing))
    }

    /// The point of the end that is nearest to a value out of range.
    pub fn nearest_end(&self, value: Decimal) -> u32 {
        if value < self.min { u32::from(self.missing) } else { self.points() - 1 }
    }

    /// The value in a cell: a number, or a date in the agreement's format. It may be out of range.
    pub fn read(&self, cell: &str) -> Option<Decimal> {
        match &self.written {
            Written::Number { .. } => Decimal::parse_rounding_down(cell).ok(),
            Written::Date(_, format) => format.read(cell).map(Date::day),
        }
    }

    /// How a value is written in an agreement or a release.
    pub fn write(&self, value: Decimal) -> String {
        match self.written {
            Written::Number { .. } => value.to_string(),
            Written::Date(..) => Date::of_day(value).to_string(),
        }
    }

    /// A value of an agreement or a release.
    ///
    /// # Errors
    /// Text that is not one.
    pub fn parse(&self, text: &str) -> Result<Decimal, Error> {
        match self.written {
            Written::Number { .. } => Decimal::parse(text),
            Written::Date(..) => Date::parse(text).map(Date::day),
        }
    }

    /// One of the values that the points `range` stand for, by a draw below a given number: evenly
    /// among the points of a step, else among all values with as many decimals. Missing values are
    /// drawn only where there are no others.
    pub fn draw(&self, range: Range<u32>, below: impl FnOnce(u64) -> u64) -> String {
        let first = range.start.max(u32::from(self.missing));
        if first >= range.end {
            return MISSING.to_owned();
        }
        let value = match self.grid {
            Grid::Even(_) => {
                let drawn = below(u64::from(range.end - first));
                self.point(first.saturating_add(u32::try_from(drawn).unwrap_or(u32::MAX)))
            }
            Grid::Listed(_) => {
                let start = self.point_units(first);
                let end = match range.end >= self.points() {
                    true => self.max.floor_units(self.scale) + 1,
                    false => self.point_units(range.end),
                };
                // In steps of several units where there are more than can be drawn from.
                let step = (end - start - 1) / i128::from(u64::MAX) + 1;
                let steps = (end - start - 1) / step + 1;
                let drawn = below(u64::try_from(steps).unwrap_or(u64::MAX));
                Decimal::from_units(start + i128::from(drawn) * step, self.scale)
            }
        };
        self.write(value)
    }

    /// The same domain, whose intervals are written as in manifests of before version 3.
    #[must_use]
    pub(crate) fn with_both_ends(self) -> Self {
        match (&self.written, &self.grid) {
            (Written::Number { .. }, Grid::Even(_)) => {
                Self { written: Written::Number { both_ends: true }, ..self }
            }
            _ => self,
        }
    }

    /// How the points `range` are written in a release: whole numbers in steps of 1 as `[18..56]`,
    /// both ends included, others as `[0, 15)`, without the upper end, and the last with it:
    /// `[85, 99]`. Missing values are written `missing`, with others `missing or [0, 15)`.
    pub fn interval(&self, range: Range<u32>) -> String {
        let first = u32::from(self.missing);
        if range.start >= first {
            return self.values(range);
        }
        match range.end > first {
            true => format!("{MISSING} or {}", self.values(first..range.end)),
            false => MISSING.to_owned(),
        }
    }

    /// The first point of an interval as it is written; anything for other text.
    pub(crate) fn start_of(&self, interval: &str) -> Option<u32> {
        if self.missing && interval.starts_with(MISSING) {
            return Some(0);
        }
        let ends = interval.strip_prefix('[')?;
        let (start, _) = ends.split_once("..").or(ends.split_once(", "))?;
        self.locate(self.parse(start).ok()?)
    }

    fn values(&self, range: Range<u32>) -> String {
        let is_last = range.end >= self.points();
        let start = self.write(self.point(range.start));
        let both_ends = matches!(self.written, Written::Number { both_ends: true });
        match (both_ends, is_last) {
            (true, true) => format!("[{start}..{}]", self.max),
            (true, false) => {
                let last = Decimal::from_units(self.point_units(range.end) - 1, self.scale);
                format!("[{start}..{last}]")
            }
            (false, true) => format!("[{start}, {}]", self.write(self.max)),
            (false, false) => format!("[{start}, {})", self.write(self.point(range.end))),
        }
    }

    fn point_units(&self, index: u32) -> i128 {
        let place = index.saturating_sub(u32::from(self.missing)).min(self.points - 1);
        match &self.grid {
            Grid::Even(step) => {
                self.min.floor_units(self.scale) + i128::from(place) * step.floor_units(self.scale)
            }
            Grid::Listed(starts) => starts.get(place as usize).copied().unwrap_or_default(),
        }
    }
}

fn upside_down(min: Decimal, max: Decimal) -> Error {
    Error::input(format!("min {min} is larger than max {max}: swap them"))
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
    fn values_are_drawn_from_all_of_an_interval_however_wide() {
        let [low, high] = ["0.000000001", "1000000000000"].map(|it| Decimal::parse(it).unwrap());
        let edges = NumericDomain::logarithmic_edges(low, high).unwrap();
        let domain = NumericDomain::with_edges(&edges).unwrap();
        let last = domain.points() - 1;
        let drawn = domain.draw(last..last + 1, |count| count - 1);
        assert!(drawn.starts_with("9999"), "{drawn}: the last one drawn lies at the upper end");
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

    #[test]
    fn edges_are_written_as_intervals_between_them() {
        let edges = ["0", "0.5", "1", "2", "5", "10"].map(number);
        let domain = NumericDomain::with_edges(&edges).unwrap();
        assert_eq!(domain.points(), 5);
        let written: Vec<String> = (0..5).map(|point| domain.interval(point..point + 1)).collect();
        assert_eq!(written, ["[0, 0.5)", "[0.5, 1)", "[1, 2)", "[2, 5)", "[5, 10]"]);
        for (value, point) in
            [("0", 0), ("0.49", 0), ("0.5", 1), ("1.9999", 2), ("5", 4), ("10", 4)]
        {
            assert_eq!(domain.locate(number(value)), Some(point), "{value}");
        }
        assert_eq!((domain.locate(number("-0.1")), domain.locate(number("10.1"))), (None, None));
        assert_eq!(domain.splits(), Splits::Edges(edges.to_vec()));
        for (point, text) in written.iter().enumerate() {
            assert_eq!(domain.start_of(text), Some(point as u32));
        }
        for (edges, why) in [
            (&["1"][..], "from 2 to 10000"),
            (&[], "there are 0 edges"),
            (&["1", "1"], "edge 1 follows 1"),
            (&["0", "2", "1"], "edge 1 follows 2"),
        ] {
            let edges: Vec<Decimal> = edges.iter().map(|edge| number(edge)).collect();
            let message = NumericDomain::with_edges(&edges).unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn a_logarithmic_scale_has_edges_at_1_2_and_5_times_powers_of_ten() {
        let edges = |min, max| NumericDomain::logarithmic_edges(number(min), number(max));
        let written = |min, max| {
            edges(min, max).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(written("0.1", "15"), "0.1 0.2 0.5 1 2 5 10 15");
        assert_eq!(written("1", "100"), "1 2 5 10 20 50 100");
        assert_eq!(written("3", "4"), "3 4");
        assert_eq!(edges("0.000000001", "999999999999999999").unwrap().len(), 82);
        assert!(edges("0", "1").unwrap_err().to_string().contains("is not positive"));
        assert!(edges("2", "1").unwrap_err().to_string().contains("swap them"));
    }

    #[test]
    fn dates_are_split_at_the_beginnings_of_their_steps() {
        let date = |text| Date::parse(text).unwrap();
        let domain = |step| {
            NumericDomain::dates(date("2019-11-15"), date("2021-02-10"), step, DateFormat::iso())
        };
        let written = |step| {
            let domain = domain(step).unwrap();
            (0..domain.points()).map(|it| domain.interval(it..it + 1)).collect::<Vec<_>>()
        };
        assert_eq!(
            written(DateStep::Year),
            ["[2019-11-15, 2020-01-01)", "[2020-01-01, 2021-01-01)", "[2021-01-01, 2021-02-10]"]
        );
        assert_eq!(written(DateStep::Quarter)[1], "[2020-01-01, 2020-04-01)");
        assert_eq!((written(DateStep::Quarter).len(), written(DateStep::Month).len()), (6, 16));
        let days = written(DateStep::Day);
        assert_eq!((days.len(), days[1].as_str()), (454, "[2019-11-16, 2019-11-17)"));
        let years = domain(DateStep::Year).unwrap();
        assert_eq!(years.locate(years.read("2020-12-31").unwrap()), Some(1));
        assert_eq!(years.read("31.12.2020"), None);
        assert_eq!(years.start_of("[2020-01-01, 2021-01-01)"), Some(1));
    }

    #[test]
    fn missing_values_are_a_point_before_all_others() {
        let with = |domain: NumericDomain| domain.with_missing();
        let ages = with(domain("18", "99", "1").unwrap());
        assert_eq!((ages.points(), ages.locate(number("18"))), (83, Some(1)));
        assert_eq!((ages.point(1), ages.point(82)), (number("18"), number("99")));
        assert_eq!(ages.interval(0..1), "missing");
        assert_eq!(ages.interval(0..83), "missing or [18..99]");
        assert_eq!(ages.interval(0..3), "missing or [18..19]");
        assert_eq!(ages.interval(1..83), "[18..99]");
        for text in ["missing", "missing or [18..19]"] {
            assert_eq!(ages.start_of(text), Some(0));
        }
        assert_eq!(ages.start_of("[18..99]"), Some(1));
        assert_eq!((ages.nearest_end(number("3")), ages.nearest_end(number("100"))), (1, 82));
        let edges = with(NumericDomain::with_edges(&["0", "5", "9"].map(number)).unwrap());
        assert_eq!(edges.interval(0..2), "missing or [0, 5)");
        assert_eq!(edges.draw(0..1, |_| unreachable!()), "missing");
        assert_eq!(edges.draw(0..2, |count| count - 1), "4");
        assert_eq!(edges.draw(2..3, |count| count - 1), "9");
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

        #[test]
        fn every_value_lies_between_the_edges_of_its_interval(
            edges in prop::collection::btree_set(-500_i64..500, 2..20), value in -600_i64..600, missing: bool,
        ) {
            let edges: Vec<Decimal> = edges.into_iter().map(Decimal::from).collect();
            let domain = NumericDomain::with_edges(&edges).unwrap();
            let domain = if missing { domain.with_missing() } else { domain };
            let value = Decimal::from(value);
            match domain.locate(value) {
                None => prop_assert!(value < edges[0] || value > *edges.last().unwrap()),
                Some(point) => {
                    prop_assert!(domain.point(point) <= value);
                    prop_assert!(point + 1 == domain.points() || value < domain.point(point + 1));
                    prop_assert_eq!(domain.start_of(&domain.interval(point..point + 1)), Some(point));
                }
            }
        }

        #[test]
        fn garbage_is_not_an_interval(text in "\\PC{0,40}", near in "(missing)?( or )?[\\[0-9., \\])-]{0,20}") {
            let edges = NumericDomain::with_edges(&["0", "5", "9"].map(number)).unwrap();
            let dates = NumericDomain::dates(Date::of_day(1.into()), Date::of_day(9999.into()), DateStep::Month, DateFormat::iso());
            for domain in [edges.with_missing(), dates.unwrap()] {
                let _ = (domain.start_of(&text), domain.start_of(&near), domain.read(&text), domain.parse(&near));
            }
        }
    }
}
