//! Line plots as SVG: a few series with deviations, levels to compare them with, names beside the
//! lines; and [`bars`]. One file with its own style, readable on light and on dark backgrounds.

use std::fmt::Write;

pub mod bars;

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Above the plot.
    pub title: String,
    /// Below it.
    pub x_label: String,
    /// Over the vertical axis.
    pub y_label: String,
    /// How the horizontal axis is divided; marks are where points are.
    pub x_scale: Scale,
    /// How the vertical axis is divided.
    pub y_scale: Scale,
    /// The lines. Colours repeat after eight.
    pub series: Vec<Series>,
    /// Horizontal lines for comparison.
    pub levels: Vec<Level>,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally wide.
    Linear,
    /// Equal ratios are; numbers that are not positive are left out.
    Logarithmic,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The label beside its end.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
}

/// A point with its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its number on the horizontal axis.
    pub x: f64,
    /// Its number on the vertical axis.
    pub y: f64,
    /// Drawn as a bar of this length up and down; 0 for none.
    pub deviation: f64,
}

/// A horizontal line for comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The label beside its end.
    pub name: String,
    /// Where it lies.
    pub y: f64,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 392.0;
/// Least distance of two names.
const LINE_HEIGHT: f64 = 15.0;

/// Colours for light and dark backgrounds that most colour-blind readers can distinguish.
const COLOURS: [(&str, &str); 8] = [
    ("#0060b8", "#5fa8f0"),
    ("#c25100", "#f59a4a"),
    ("#00806a", "#3fc4a8"),
    ("#8a3ab9", "#c58bec"),
    ("#b3246b", "#f078b0"),
    ("#6b6200", "#cdbd3a"),
    ("#3b5163", "#a9bfd0"),
    ("#8c2f1b", "#ec8a75"),
];

impl Chart {
    /// The plot as SVG. Numbers that are not finite are left out.
    pub fn svg(&self) -> String {
        let frame = Frame::around(self);
        let mut svg = opening(HEIGHT, &self.title, &self.y_label, self.series.len());
        self.axes(&frame, &mut svg);
        for level in self.levels_shown() {
            let y = frame.y(level.y);
            let _ = writeln!(
                svg,
                "<line class=\"level\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                frame.right
            );
        }
        // Bars of different lines are side by side, so that none hides another.
        let middle = (self.series.len() as f64 - 1.0) / 2.0;
        for (index, series) in self.series.iter().enumerate() {
            self.line(&frame, index, (index as f64 - middle) * 3.0, series, &mut svg);
        }
        self.names(&frame, &mut svg);
        svg + "</svg>\n"
    }

    fn levels_shown(&self) -> impl Iterator<Item = &Level> {
        self.levels.iter().filter(|level| self.y_scale.shows(level.y))
    }

    fn shown<'p>(&self, series: &'p Series) -> impl Iterator<Item = &'p Point> + use<'p> {
        let (across, up) = (self.x_scale, self.y_scale);
        series.points.iter().filter(move |point| across.shows(point.x) && up.shows(point.y))
    }

    fn points_shown(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| self.shown(series))
    }

    /// Marks are where points are: settings are few, and readers look for those that were tried.
    fn x_ticks(&self) -> Vec<f64> {
        let mut ticks: Vec<f64> = self.points_shown().map(|point| point.x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        ticks
    }

    fn axes(&self, frame: &Frame, svg: &mut String) {
        for &tick in &frame.y_ticks {
            let y = frame.y(tick);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"quiet\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                frame.right,
                LEFT - 8.0,
                y + 4.0,
                rounded(tick)
            );
        }
        let mut last = f64::NEG_INFINITY;
        for tick in self.x_ticks() {
            let x = frame.x(tick);
            if x - last < 34.0 {
                continue; // names would touch
            }
            last = x;
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{BOTTOM}\" y2=\"{:.1}\"/>\
                 <text class=\"quiet\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 5.0,
                BOTTOM + 19.0,
                rounded(tick)
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"quiet\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (LEFT + frame.right) / 2.0,
            BOTTOM + 38.0,
            escaped(&self.x_label)
        );
    }

    fn line(&self, frame: &Frame, index: usize, aside: f64, series: &Series, svg: &mut String) {
        let colour = index % COLOURS.len();
        let points: Vec<&Point> = self.shown(series).collect();
        let path: Vec<String> = points
            .iter()
            .map(|point| format!("{:.1},{:.1}", frame.x(point.x), frame.y(point.y)))
            .collect();
        let _ = writeln!(svg, "<polyline class=\"line c{colour}\" points=\"{}\"/>", path.join(" "));
        for point in points {
            let (x, y) = (frame.x(point.x), frame.y(point.y));
            let deviation = point.deviation;
            if deviation > 0.0 && deviation.is_finite() {
                let _ = writeln!(
                    svg,
                    "<line class=\"bar c{colour}\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" \
                     y2=\"{2:.1}\"/>",
                    x + aside,
                    frame.y(point.y - deviation),
                    frame.y(point.y + deviation)
                );
            }
            let _ = writeln!(
                svg,
                "<circle class=\"dot d{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{}: \
                 {} at {}</title></circle>",
                escaped(&series.name),
                rounded(point.y),
                rounded(point.x)
            );
        }
    }

    /// Names at the lines' ends, moved apart where they would touch.
    fn names(&self, frame: &Frame, svg: &mut String) {
        let lines = self.series.iter().enumerate().filter_map(|(index, series)| {
            let last = self.shown(series).last()?;
            Some((frame.y(last.y), format!("t{}", index % COLOURS.len()), series.name.as_str()))
        });
        let levels = self
            .levels_shown()
            .map(|level| (frame.y(level.y), "quiet".to_owned(), level.name.as_str()));
        let mut names: Vec<(f64, String, &str)> = lines.chain(levels).collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wanted: Vec<f64> = names.iter().map(|(y, ..)| *y).collect();
        for ((_, class, name), y) in names.iter().zip(apart(&wanted)) {
            let _ = writeln!(
                svg,
                "<text class=\"name {class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                frame.right + 10.0,
                y + 4.0,
                escaped(name)
            );
        }
    }
}

impl Scale {
    /// Where a number lies on the scale, in the scale's own units.
    fn place(self, x: f64) -> f64 {
        match self {
            Self::Linear => x,
            Self::Logarithmic => x.ln(),
        }
    }

    fn shows(self, x: f64) -> bool {
        match self {
            Self::Linear => x.is_finite(),
            Self::Logarithmic => x.is_normal() && x > 0.0,
        }
    }

    /// Six marks or so, the first and the last of them around `least` and `most`.
    fn ticks(self, least: f64, most: f64) -> Vec<f64> {
        match self {
            Self::Linear => linear_ticks(least, most),
            Self::Logarithmic => logarithmic_ticks(least, most),
        }
    }
}

/// At 1, 2 or 5 times a power of ten.
fn linear_ticks(least: f64, most: f64) -> Vec<f64> {
    let rough = (most - least) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    let step = factor.unwrap_or(10.0) * power;
    let first = (least / step).floor() * step;
    let count = ((most / step).ceil() - (least / step).floor()).clamp(1.0, 20.0) as u32;
    (0..=count).map(|tick| first + f64::from(tick) * step).collect()
}

/// At powers of ten; where these are few, also at 2 and 5 times them.
fn logarithmic_ticks(least: f64, most: f64) -> Vec<f64> {
    // A little outwards, so that rounding leaves nothing outside.
    let first = (least.log10() - 1e-9).floor() as i32;
    let last = ((most.log10() + 1e-9).ceil() as i32).max(first + 1);
    let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = ((last - first) / 8 + 1) as usize;
    let powers = (first..=last + every as i32).step_by(every).map(|power| 10f64.powi(power));
    let marks: Vec<f64> = powers.flat_map(|p| factors.iter().map(move |f| f * p)).collect();
    let from = marks.iter().rposition(|mark| *mark <= least).unwrap_or(0);
    let to = marks.iter().position(|mark| *mark >= most).unwrap_or(marks.len() - 1);
    marks[from..=to.max(from)].to_vec()
}

/// Where numbers lie on the page.
struct Frame {
    scales: [Scale; 2],
    x: (f64, f64),
    y: (f64, f64),
    y_ticks: Vec<f64>,
    right: f64,
}

impl Frame {
    fn around(chart: &Chart) -> Self {
        let longest = chart.series.iter().map(|series| series.name.chars().count());
        let levels = chart.levels.iter().map(|level| level.name.chars().count());
        let longest = longest.chain(levels).max().unwrap_or(0) as f64;
        let right = WIDTH - (longest * 7.0 + 20.0).clamp(40.0, 380.0);
        let across = chart.points_shown().map(|point| chart.x_scale.place(point.x));
        let up = chart.points_shown().flat_map(|point| {
            let deviation = if point.deviation.is_finite() { point.deviation } else { 0.0 };
            [point.y - deviation, point.y, point.y + deviation]
        });
        let levels = chart.levels_shown().map(|level| level.y);
        let up = up.chain(levels).filter(|y| chart.y_scale.shows(*y));
        let (x, y) = (range(across), range(up));
        let margin = (x.1 - x.0) * 0.04;
        let y_ticks = chart.y_scale.ticks(y.0, y.1);
        let end = |tick: Option<&f64>| chart.y_scale.place(tick.copied().unwrap_or(1.0));
        Self {
            scales: [chart.x_scale, chart.y_scale],
            x: (x.0 - margin, x.1 + margin),
            y: (end(y_ticks.first()), end(y_ticks.last())),
            y_ticks,
            right,
        }
    }

    fn x(&self, x: f64) -> f64 {
        let place = self.scales[0].place(x);
        LEFT + (place - self.x.0) / (self.x.1 - self.x.0) * (self.right - LEFT)
    }

    /// Numbers below the frame lie on its lower edge: a logarithm may have none for them.
    fn y(&self, y: f64) -> f64 {
        let lowest = self.y_ticks.first().copied().unwrap_or(y);
        let place = self.scales[1].place(y.max(lowest));
        BOTTOM - (place - self.y.0) / (self.y.1 - self.y.0) * (BOTTOM - TOP)
    }
}

/// The least and the largest number, never equal.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = numbers.fold(start, |(least, most), x| (least.min(x), most.max(x)));
    if least > most {
        return (0.0, 1.0);
    }
    if most - least > least.abs().max(1e-9) * 1e-9 {
        return (least, most);
    }
    (least - least.abs().max(1.0) * 0.05, most + most.abs().max(1.0) * 0.05)
}

/// Ascending places, moved as little as needed to be a line apart.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::new();
    for y in wanted {
        let least = places.last().map_or(f64::NEG_INFINITY, |last| last + LINE_HEIGHT);
        places.push(y.max(least));
    }
    // What was pushed below the frame comes back up, and pushes those above it.
    let mut most = BOTTOM;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - LINE_HEIGHT;
    }
    places
}

/// The beginning of a picture so high: style, ground, title, and what is measured.
fn opening(height: f64, title: &str, measured: &str, colours: usize) -> String {
    let (title, measured) = (escaped(title), escaped(measured));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n{}\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"24\">{title}</text>\n\
         <text class=\"quiet\" x=\"{LEFT}\" y=\"42\">{measured}</text>\n",
        style(colours)
    )
}

fn style(series: usize) -> String {
    let rules = |dark: bool| {
        let (ground, text, quiet, grid) = if dark {
            ("#16191d", "#eceff2", "#a4adb6", "#2d333a")
        } else {
            ("#ffffff", "#1b1f23", "#5a646e", "#e3e7eb")
        };
        let mut rules = format!(
            ".ground{{fill:{ground}}}.title{{fill:{text}}}.quiet{{fill:{quiet}}}\
             .grid{{stroke:{grid}}}.level{{stroke:{quiet}}}.dot{{stroke:{ground}}}"
        );
        for (index, (light, on_dark)) in COLOURS.iter().enumerate().take(series) {
            let colour = if dark { on_dark } else { light };
            let _ =
                write!(rules, ".c{index}{{stroke:{colour}}}.d{index},.t{index}{{fill:{colour}}}");
        }
        rules
    };
    format!(
        "<style>text{{font:12px system-ui,sans-serif}}.title{{font-size:15px;font-weight:600}}\
         .name{{font-weight:600}}.line{{fill:none;stroke-width:2;stroke-linejoin:round}}\
         .bar{{stroke-width:1.2;opacity:.55}}.level{{stroke-width:1.2;stroke-dasharray:5 4}}\
         .dot{{stroke-width:1.5}}{}@media(prefers-color-scheme:dark){{{}}}</style>\n",
        rules(false),
        rules(true)
    )
}

/// At most two decimals, or two digits of what is smaller than those show.
fn rounded(x: f64) -> String {
    let size = x.abs();
    let decimals =
        if size > 0.0 && size < 0.1 { (1.0 - size.log10().floor()).min(12.0) } else { 2.0 };
    let text = format!("{x:.*}", decimals as usize);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chart(points: &[(f64, f64, f64)]) -> Chart {
        let point =
            |(x, y, deviation): &(f64, f64, f64)| Point { x: *x, y: *y, deviation: *deviation };
        Chart {
            title: "a < b".to_owned(),
            x_label: "h".to_owned(),
            y_label: "%".to_owned(),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            series: vec![Series {
                name: "\"x\" & y".to_owned(),
                points: points.iter().map(point).collect(),
            }],
            levels: vec![Level { name: "class only".to_owned(), y: 75.0 }],
        }
    }

    #[test]
    fn points_lie_where_their_numbers_say_and_names_are_escaped() {
        let svg = chart(&[(4.0, 80.0, 1.0), (7.0, 82.0, 0.0), (10.0, 84.0, 0.0)]).svg();
        assert!(svg.contains("<title>a &lt; b</title>") && svg.contains("&quot;x&quot; &amp; y"));
        let path = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let points: Vec<(f64, f64)> = path
            .split(' ')
            .map(|point| point.split_once(',').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        let [a, b, c] = points[..] else { panic!("three points") };
        assert!((b.0 - (a.0 + c.0) / 2.0).abs() < 0.11 && (b.1 - (a.1 + c.1) / 2.0).abs() < 0.11);
        assert!(a.0 < c.0 && a.1 > c.1, "up is up");
        assert_eq!(svg.matches("class=\"bar").count(), 1, "a bar only where there is a deviation");
        assert!(svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn equal_ratios_are_equally_high_on_a_logarithmic_axis() {
        let mut chart = chart(&[(1.0, 0.02, 0.0), (10.0, 2.0, 0.0), (100.0, 200.0, 0.0)]);
        (chart.x_scale, chart.y_scale) = (Scale::Logarithmic, Scale::Logarithmic);
        let frame = Frame::around(&chart);
        let [a, b, c] = [0.02, 2.0, 200.0].map(|y| frame.y(y));
        assert!(a > b && ((a - b) - (b - c)).abs() < 1e-6);
        assert_eq!(frame.y_ticks, [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(logarithmic_ticks(3.0, 30.0), [2.0, 5.0, 10.0, 20.0, 50.0]);
        assert!(frame.y(-1.0) == BOTTOM, "what has no logarithm lies at the bottom");
    }

    #[test]
    fn small_numbers_keep_two_digits() {
        let shown = [0.0, 0.001_234, 0.05, 0.1, 12.345, 30_162.0].map(rounded);
        assert_eq!(shown, ["0", "0.0012", "0.05", "0.1", "12.35", "30162"]);
    }

    #[test]
    fn names_keep_a_line_apart_and_stay_inside() {
        let places = apart(&[100.0, 101.0, 102.0, 390.0, 391.0]);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LINE_HEIGHT - 1e-9));
        assert!(places[0] == 100.0 && places[4] <= BOTTOM);
    }

    proptest! {
        #[test]
        fn no_number_gives_a_plot_with_nan_or_infinity(
            points in prop::collection::vec(any::<(f64, f64, f64)>(), 0..6),
            logarithmic in any::<[bool; 2]>()
        ) {
            let mut chart = chart(&points);
            let scale = |log: bool| if log { Scale::Logarithmic } else { Scale::Linear };
            (chart.x_scale, chart.y_scale) = (scale(logarithmic[0]), scale(logarithmic[1]));
            prop_assert!(chart.svg().ends_with("</svg>\n"));
            let usual: Vec<_> = points.iter().map(|(x, y, d)| (x % 1e3, y % 1e3, d % 1e3)).collect();
            chart.series[0].points.iter_mut().zip(usual).for_each(|(p, (x, y, deviation))| {
                *p = Point { x, y, deviation };
            });
            let svg = chart.svg();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
        }
    }
}
