//! Bars from left to right: named rows, one bar for each series, the number at its end.

use std::fmt::Write;

use super::{COLOURS, LEFT, WIDTH, escaped, opening, rounded};

/// A chart of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Above the chart.
    pub title: String,
    /// What the numbers are.
    pub label: String,
    /// The meanings of the bars of a row, in their order. Colours repeat after eight.
    pub series: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
}

/// A row of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The label left of its bars.
    pub name: String,
    /// One number for each series, none of them negative; those that are not finite are left out.
    pub values: Vec<f64>,
}

/// The width of one letter, roughly.
const LETTER: f64 = 7.0;
/// The height of one bar, including its distance from the next one.
const BAR: f64 = 16.0;
/// Between rows.
const GAP: f64 = 10.0;
/// The position of the legend, and where rows begin.
const KEY: f64 = 64.0;
const TOP: f64 = 80.0;
/// Space for the number at the end of the longest bar.
const NUMBER: f64 = 76.0;

impl Bars {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let row_height = BAR * self.series.len().max(1) as f64 + GAP;
        let height = TOP + row_height * self.rows.len() as f64 + GAP;
        let mut svg = opening(height, &self.title, &self.label, self.series.len());
        self.key(&mut svg);
        let longest = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let left = LEFT + (longest as f64 * LETTER).min(300.0) + 8.0;
        let largest = self.shown().map(|(_, _, value)| value).fold(0.0, f64::max);
        let length = |value: f64| match largest {
            0.0 => 0.0,
            largest => value / largest * (WIDTH - left - NUMBER),
        };
        for (index, row) in self.rows.iter().enumerate() {
            let middle = TOP + row_height * index as f64 + (row_height - GAP) / 2.0;
            let _ = writeln!(
                svg,
                "<text class=\"quiet\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                middle + 4.0,
                escaped(&row.name)
            );
        }
        for (row, series, value) in self.shown() {
            let y = TOP + row_height * row as f64 + BAR * series as f64;
            let (long, colour) = (length(value), series % COLOURS.len());
            let _ = writeln!(
                svg,
                "<rect class=\"d{colour}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{long:.1}\" \
                 height=\"{:.1}\"/><text class=\"name t{colour}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                y + 1.0,
                BAR - 2.0,
                left + long + 6.0,
                y + BAR / 2.0 + 4.0,
                rounded(value)
            );
        }
        svg + "</svg>\n"
    }

    /// Row, series and number of every bar.
    fn shown(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let rows = self.rows.iter().enumerate();
        let bars = rows.flat_map(|(row, bars)| {
            let values = bars.values.iter().take(self.series.len()).enumerate();
            values.map(move |(series, value)| (row, series, *value))
        });
        bars.filter(|(.., value)| value.is_finite() && *value >= 0.0)
    }

    /// The names of the series; one alone needs none.
    fn key(&self, svg: &mut String) {
        let mut x = LEFT;
        for (index, name) in self.series.iter().enumerate().filter(|_| self.series.len() > 1) {
            let colour = index % COLOURS.len();
            let _ = writeln!(
                svg,
                "<rect class=\"d{colour}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>\
                 <text class=\"name t{colour}\" x=\"{:.1}\" y=\"{KEY}\">{}</text>",
                KEY - 9.0,
                x + 15.0,
                escaped(name)
            );
            x += 15.0 + name.chars().count() as f64 * LETTER + 20.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bars(values: &[[f64; 2]]) -> Bars {
        let row = |values: &[f64; 2]| Row { name: "a < b".to_owned(), values: values.to_vec() };
        Bars {
            title: "\"x\" & y".to_owned(),
            label: "MB".to_owned(),
            series: vec!["P1".to_owned(), "P2".to_owned()],
            rows: values.iter().map(row).collect(),
        }
    }

    /// The widths of all bars, in order, without the ground and the key.
    fn widths(svg: &str) -> Vec<f64> {
        let widths = svg.split("width=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        widths.filter(|width| width.contains('.')).map(|width| width.parse().unwrap()).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_numbers_say_and_names_are_escaped() {
        let svg = bars(&[[10.0, 5.0], [0.0, 2.5]]).svg();
        let widths = widths(&svg);
        let [a, b, c, d] = widths[..] else { panic!("four bars: {widths:?}") };
        assert!(a > 100.0 && c == 0.0);
        assert!((a - 2.0 * b).abs() < 0.2 && (a - 4.0 * d).abs() < 0.3);
        assert!(svg.contains("<title>&quot;x&quot; &amp; y</title>") && svg.contains("a &lt; b"));
        assert!(svg.contains(">2.5</text>") && svg.contains("prefers-color-scheme:dark"));
    }

    proptest! {
        #[test]
        fn no_number_gives_bars_with_nan_or_infinity(
            values in prop::collection::vec(any::<[f64; 2]>(), 0..6)
        ) {
            let svg = bars(&values).svg();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
            prop_assert!(widths(&svg).iter().all(|width| (0.0..=WIDTH).contains(width)));
        }
    }
}
