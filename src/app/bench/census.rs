//! Generated data of the shape of the Adult census: 8 categorical and 6 numeric attributes with
//! real structure, any number of records, the same records every time.

use std::fmt::Write;

use crate::role::Role;

/// Name, branching per level, and for the others range: eight taxonomies and six numeric domains.
const CATEGORICAL: [(&str, &[usize]); 8] = [
    ("workclass", &[2, 2, 2]),
    ("education", &[2, 2, 4]),
    ("marital", &[2, 2, 2]),
    ("occupation", &[3, 5]),
    ("relationship", &[3, 2]),
    ("race", &[2, 3]),
    ("sex", &[2]),
    ("country", &[2, 4, 5]),
];
const NUMERIC: [(&str, u64, u64); 6] = [
    ("age", 17, 90),
    ("weight", 10_000, 1_500_000),
    ("schooling", 1, 16),
    ("gain", 0, 99_999),
    ("loss", 0, 4_356),
    ("hours", 1, 99),
];

/// Those of the second party where columns are divided: five of fourteen, as in the papers.
const OF_P2: [&str; 5] = ["hours", "gain", "loss", "workclass", "occupation"];
/// Steps of the grid that keep it within 1,024 points, where both choose splits together.
const COARSE_STEPS: [(&str, u64); 3] = [("weight", 1_500), ("gain", 100), ("loss", 5)];

/// The line of [id] by which nobody learns whom both have.
const HIDDEN: &str = "membership = \"hidden\"\n";

/// The agreement of one party, with further lines for `[release]`.
pub fn agreement(specializations: u32, terms: &str) -> String {
    with_partition("local", None, specializations, 1_000_000, terms, "")
}

/// An agreement of two parties over so many records, with further lines for `[release]`. Both have the
/// class, or one alone; where membership is `hidden`, one alone.
pub fn two_parties(
    partition: &str,
    class_owner: Option<Role>,
    hidden: bool,
    specializations: u32,
    records: usize,
    terms: &str,
) -> String {
    let mut people = String::new();
    for (role, digit) in [("p1", "1"), ("p2", "2")] {
        let fingerprint = digit.repeat(64);
        let _ = writeln!(
            people,
            "[parties.{role}]\nname = \"{role}\"\nfingerprint = \"sha256:{fingerprint}\""
        );
    }
    if partition == "vertical" {
        people += "[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n";
        people += if hidden { HIDDEN } else { "" };
    }
    let max_records = records.max(1).next_power_of_two();
    with_partition(partition, class_owner, specializations, max_records, terms, &people)
}

fn with_partition(
    partition: &str,
    class_owner: Option<Role>,
    specializations: u32,
    max_records: usize,
    terms: &str,
    people: &str,
) -> String {
    let mut text = format!(
        "[release]\nid = \"census\"\npartition = \"{partition}\"\nepsilon = \"1\"\n\
         specializations = {specializations}\nmax_records = {max_records}\n{terms}\n{people}\
         [class]\ncolumn = \"class\"\nvalues = [\"low\", \"high\"]\n"
    );
    if let Some(role) = class_owner {
        let _ = writeln!(text, "owner = \"{role}\"");
    }
    let owner = |name: &str| match (partition, OF_P2.contains(&name)) {
        ("vertical", true) => Some(Role::P2),
        ("vertical", false) => Some(Role::P1),
        _ => None,
    };
    let owner_line =
        |name| owner(name).map_or(String::new(), |role| format!("owner = \"{role}\"\n"));
    let shared = partition == "horizontal" || people.ends_with(HIDDEN);
    let together = |name| shared || (class_owner.is_some() && owner(name) != class_owner);
    for (name, branching) in CATEGORICAL {
        let taxonomy = branch(name, branching);
        let _ = writeln!(
            text,
            "[[attribute]]\nname = \"{name}\"\n{}kind = \"categorical\"\n\
             taxonomy = {{ \"{name}\" = {taxonomy} }}",
            owner_line(name)
        );
    }
    for (name, min, max) in NUMERIC {
        let coarse = COARSE_STEPS.iter().find(|(of, _)| together(name) && *of == name);
        let step = coarse.map_or(1, |(_, step)| *step);
        let max = min + (max - min).div_ceil(step) * step;
        let _ = writeln!(
            text,
            "[[attribute]]\nname = \"{name}\"\n{}kind = \"numeric\"\nmin = {min}\nmax = {max}\n\
             step = {step}",
            owner_line(name)
        );
    }
    text
}

fn branch(prefix: &str, branching: &[usize]) -> String {
    let Some((children, below)) = branching.split_first() else { return String::new() };
    let names = (0..*children).map(|child| format!("{prefix}.{child}"));
    if below.is_empty() {
        let leaves: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        return format!("[{}]", leaves.join(", "));
    }
    let inner: Vec<String> =
        names.map(|name| format!("\"{name}\" = {}", branch(&name, below))).collect();
    format!("{{ {} }}", inner.join(", "))
}

/// The table as CSV, with a column `id`.
pub fn csv_with_ids(records: usize) -> Vec<u8> {
    let text = csv(records);
    let mut numbered = Vec::with_capacity(text.len() + 10 * records);
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match number {
            0 => numbered.extend_from_slice(b"id,"),
            _ => numbered.extend_from_slice(format!("p{number},").as_bytes()),
        }
        numbered.extend_from_slice(line);
    }
    numbered
}

/// The table as CSV.
pub fn csv(records: usize) -> Vec<u8> {
    let names = CATEGORICAL.iter().map(|(name, _)| *name).chain(NUMERIC.map(|(name, ..)| name));
    let mut text = names.collect::<Vec<_>>().join(",") + ",class\n";
    let mut below = crate::app::demo::made_up(1);
    for _ in 0..records {
        // Everything is correlated with one hidden number, so that there is something to find.
        let rank = (below(1000) + below(1000)) / 2;
        for (name, branching) in CATEGORICAL {
            text += name;
            for children in branching {
                let children = *children as u64;
                let leaning = below(3) == 0;
                let child = if leaning { rank * children / 1000 } else { below(children) };
                let _ = write!(text, ".{child}");
            }
            text.push(',');
        }
        for (name, min, max) in NUMERIC {
            let range = max - min + 1;
            let value = match name {
                "gain" | "loss" if below(10) > 0 => 0,
                "weight" => below(range),
                _ => (below(range) + below(range) + 2 * (range * rank / 1000)) / 4,
            };
            let _ = write!(text, "{},", min + value.min(range - 1));
        }
        text += if rank + below(300) > 780 { "high\n" } else { "low\n" };
    }
    text.into_bytes()
}
