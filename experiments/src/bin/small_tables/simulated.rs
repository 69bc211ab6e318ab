//! Simulated tables, of which it is known how the class comes about, and the rule for the number of
//! specializations on them.

use crate::tables::{Source, scrambled};
use diptych::Error;
use diptych::table::Table;

/// Attributes that all worlds have: five numbers and five choices, most of which say nothing.
pub const ATTRIBUTES: &str = "n1: 0 99 1\nn2: 0 99 1\nn3: 0 99 1\nn4: 0 99 1\nn5: 0 99 1\n\
                          c1: a|b|c|d\nc2: a|b|c|d\nc3: a|b|c|d\nc4: a|b\nc5: a|b";

/// The same and two choices among many.
const WIDE_ATTRIBUTES: &str = "n1: 0 99 1\nn2: 0 99 1\nn3: 0 99 1\nn4: 0 99 1\nn5: 0 99 1\n\
                               c1: a|b|c|d\nc2: a|b|c|d\nc3: a|b|c|d\nc4: a|b\nc5: a|b\n\
                               w1: a|b|c|d|e|f|g|h|i|j|k|l|m|n\nw2: a|b|c|d|e|f|g";

/// Records of a table.
const SIZES: [usize; 3] = [1_000, 4_000, 16_000];
/// Records that are not released.
const TEST: usize = 8_000;

/// How a class comes about.
struct World {
    source: Source,
    /// From numbers, choices and a uniform number below 1 to the class.
    class: fn(&[f64; 5], &[usize; 7], f64) -> usize,
}

const TWO: (&str, &[&str]) = ("class", &["no", "yes"]);
const FOUR: (&str, &[&str]) = ("class", &["w", "x", "y", "z"]);

const fn source(name: &'static str, class: (&'static str, &'static [&'static str])) -> Source {
    Source { name, class, attributes: ATTRIBUTES }
}

/// The class of the first world, which others have among other attributes.
fn steps(n: &[f64; 5], c: &[usize; 7], chance: f64) -> usize {
    let yes = if n[0] < 50.0 { c[0] < 2 } else { n[1] < 30.0 };
    usize::from(yes != (chance < 0.15))
}

/// Some steps, slopes in several attributes, a rare class, and four classes; then choices among many
/// that say nothing, and one that says most.
const WORLDS: [World; 7] = [
    World { source: source("steps", TWO), class: steps },
    World {
        source: source("slopes", TWO),
        class: |n, c, chance| {
            let slope = 0.04 * (n[0] - 50.0) + 0.03 * (n[1] - 50.0) - 0.02 * (n[2] - 50.0);
            let logit = slope + [1.0, 0.0, 0.0, -1.0][c[0]];
            usize::from(chance < 1.0 / (1.0 + (-logit).exp()))
        },
    },
    World {
        source: source("rare class", TWO),
        class: |n, c, chance| {
            let often = if n[0] >= 80.0 { 0.45 } else { 0.05 };
            usize::from(chance < often + if c[3] == 0 { 0.15 } else { 0.0 })
        },
    },
    World {
        source: source("four classes", FOUR),
        class: |n, _, chance| {
            let known = 2 * usize::from(n[0] >= 50.0) + usize::from(n[1] >= 50.0);
            if chance < 0.3 { (chance / 0.075) as usize } else { known }
        },
    },
    World { source: wide("steps beside wide choices", TWO), class: steps },
    World {
        source: wide("a wide choice", TWO),
        class: |n, c, chance| {
            let often = [0.1, 0.9, 0.3, 0.7][c[5] % 4] + if n[0] < 50.0 { 0.1 } else { -0.1 };
            usize::from(chance < often)
        },
    },
    World {
        source: wide("a wide choice, four classes", FOUR),
        class: |n, c, chance| {
            let known = if n[0] < 70.0 { c[5] * 5 % 4 } else { 3 };
            if chance < 0.4 { (chance / 0.1) as usize } else { known }
        },
    },
];

const fn wide(name: &'static str, class: (&'static str, &'static [&'static str])) -> Source {
    Source { name, class, attributes: WIDE_ATTRIBUTES }
}

/// A name, where its agreements come from, and training and test records.
pub type Simulated = (String, &'static Source, [Table; 2]);

/// Every world in every size.
pub fn all() -> Result<Vec<Simulated>, Error> {
    let mut all = Vec::new();
    for world in &WORLDS {
        for size in SIZES {
            let records = [(0, size), (1 << 32, TEST)].map(|(from, count)| world.csv(from, count));
            let tables = [world.source.parse(&records[0])?, world.source.parse(&records[1])?];
            all.push((format!("{}, {size} records", world.source.name), &world.source, tables));
        }
    }
    Ok(all)
}

impl World {
    /// So many records; the same `from` gives the same ones.
    fn csv(&self, from: u64, count: usize) -> String {
        let mut text = "n1,n2,n3,n4,n5,c1,c2,c3,c4,c5,w1,w2,class\n".to_owned();
        for record in from..from + count as u64 {
            let draw = |column: u64| {
                (scrambled(scrambled(record) ^ (column << 48)) >> 11) as f64 / (1u64 << 53) as f64
            };
            let numbers = [0, 1, 2, 3, 4].map(|column| (draw(column) * 100.0).floor());
            let choices = [(5, 4.0), (6, 4.0), (7, 4.0), (8, 2.0), (9, 2.0), (11, 14.0), (12, 7.0)]
                .map(|(column, count)| (draw(column) * count) as usize);
            let class = (self.class)(&numbers, &choices, draw(10));
            let fields = numbers.iter().map(ToString::to_string);
            let letter = |choice: &usize| char::from(b'a' + *choice as u8).to_string();
            let fields = fields.chain(choices.iter().map(letter));
            let fields: Vec<String> = fields.collect();
            text += &format!("{},{}\n", fields.join(","), self.source.class.1[class]);
        }
        text
    }
}

/// What each number of specializations gave for one table and ε.
pub struct Found {
    /// Of the table.
    pub records: usize,
    /// Of the table.
    pub classes: usize,
    /// Of the release.
    pub epsilon: f64,
    /// Mean accuracy in % with 1, 2, … specializations.
    pub by_number: Vec<f64>,
}

impl Found {
    /// How far the rule with these two constants is from the best number: its two sides are those of
    /// `release::diffgen::plan`, for the number of records as it is.
    fn distance(&self, noises_per_leaf: f64, noises_per_choice: f64) -> f64 {
        let (structure, counts) = (0.7 * self.epsilon, 0.3 * self.epsilon);
        let suits = |h: &u32| {
            let leaves = noises_per_leaf * f64::from(1u32 << h) / counts;
            let choices = noises_per_choice * 2.0 * f64::from(*h) / structure;
            let free = *h <= self.classes.next_power_of_two().ilog2();
            self.records as f64 >= if free { leaves } else { leaves.max(choices) }
        };
        let h = (1..=7).take_while(suits).count().max(1);
        let best = self.by_number.iter().copied().fold(f64::MIN, f64::max);
        best - self.by_number[h - 1]
    }
}

/// A table in Markdown: the mean and the largest distance from the best number, for constants of the
/// rule around those that it has.
pub fn constants(found: &[Found]) -> String {
    let choices = [1.0, 50.0, 100.0, 200.0, 400.0];
    let mut text = "| people of a leaf in noises | ".to_owned();
    text += &choices.map(|choice| format!("people per choice {choice}")).join(" | ");
    text += &format!(" |\n|{}\n", " --- |".repeat(choices.len() + 1));
    for leaves in [2.0, 5.0, 10.0, 20.0, 40.0] {
        let cells = choices.map(|choice| {
            let all: Vec<f64> = found.iter().map(|one| one.distance(leaves, choice)).collect();
            let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
            format!("{mean:.2} ({:.1})", all.iter().copied().fold(0.0, f64::max))
        });
        text += &format!("| {leaves} | {} |\n", cells.join(" | "));
    }
    text
}
