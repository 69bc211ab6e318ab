//! What a release will look like, in lines for people: how many specializations and rows, and how
//! large their noise is beside them. Public, before anything is spent.

use super::forecast::random_trees;
use super::{Plan, terms};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::diffgen::{Noise, Specializations};
use crate::math::Rational;
use crate::table::Cuts;

/// Trees that are drawn to find one of usual size.
const TREES: usize = 101;

/// The lines. `records` is how many there are thought to be; without it, what follows from them is
/// said for any number. A party that gives its own number must not pass the lines on.
///
/// # Errors
/// Those of an agreement that cannot be run.
pub fn outlook(agreement: &Agreement, records: Option<u64>) -> Result<Vec<String>, Error> {
    let (terms, plan) = (terms(agreement)?, Plan::new(agreement)?);
    let expected = match terms.specializations {
        Specializations::Auto { expected_records } => expected_records,
        Specializations::Given(_) => None,
    };
    let records = records.or(expected);
    let trees = random_trees(agreement, TREES, records)?;
    let Some(usual) = trees.get(trees.len() / 2) else { return Ok(Vec::new()) };
    let classes = agreement.schema.class.values.len() as u64;
    let rows = usual.leaves().saturating_mul(classes);
    let mut lines = Vec::new();
    if let Specializations::Auto { .. } = terms.specializations {
        lines.push(how_many(&plan, usual.made().len(), expected));
    }
    lines.extend(undivided(&trees, &plan, expected.is_none() && records.is_none()));
    let noise = noise_per_row(terms.noise, &plan.epsilon_counts());
    let least = rows as f64 * noise;
    lines.push(format!(
        "Rows: about {rows} where values are replaced {} times (leaves of a usual tree times \
         classes); no release has more than {}.",
        usual.made().len(),
        plan.most_rows()
    ));
    lines.push(format!("Noise of every row: about ± {} people.", rounded(noise)));
    match records {
        Some(records) if (records as f64) < least => lines.push(format!(
            "ATTENTION: most rows will be noise. {records} records make {} people per row, and the \
             noise is about ± {}. Use fewer specializations (\"auto\" finds how many), coarser \
             values, or more ε.",
            rounded(records as f64 / rows.max(1) as f64),
            rounded(noise)
        )),
        Some(records) => lines.push(format!(
            "People in a row: about {} with {records} records.",
            rounded(records as f64 / rows.max(1) as f64)
        )),
        None => lines.push(format!(
            "With fewer than about {} records most of so many rows would be noise.",
            rounded(least)
        )),
    }
    Ok(lines)
}

/// How many columns will have one value in every row, if any. Where the number of specializations is `open`,
/// the fewest that there may be leave the most columns undivided.
fn undivided(trees: &[Cuts], plan: &Plan, open: bool) -> Option<String> {
    let columns = plan.schema().attributes.len();
    let left = |cuts: &Cuts| (0..columns).filter(|column| cuts.is_undivided(*column)).count();
    let mut usual: Vec<usize> = trees.iter().map(left).collect();
    usual.sort_unstable();
    let usual = *usual.get(usual.len() / 2)?;
    let most = columns.saturating_sub(plan.fewest() as usize).max(usual);
    let number = match open && most > usual {
        true => format!("{usual} to {most}"),
        false => usual.to_string(),
    };
    (number != "0").then(|| {
        format!(
            "Columns: about {number} of {columns} columns will not be divided, and have one value in every \
             row: each specialization divides one column."
        )
    })
}

/// How the number of specializations comes about.
fn how_many(plan: &Plan, usual: usize, expected: Option<u64>) -> String {
    if let Some(records) = expected {
        return format!(
            "Specializations: {usual}, as suits the {records} records that are expected. If there are \
             far fewer, most rows will be noise."
        );
    }
    let from = (plan.fewest()..=plan.specializations())
        .skip(1)
        .map(|number| format!("{number} from {}", plan.least_records(number)));
    format!(
        "Specializations: as a noisy number of records tells; {} for the smallest tables, {}.",
        plan.fewest(),
        from.collect::<Vec<_>>().join(", ")
    )
}

/// The standard deviation of the noise of a count; a part of ε that the choices leave makes it
/// smaller.
fn noise_per_row(noise: Noise, epsilon: &Rational) -> f64 {
    let epsilon: f64 = epsilon.decimal_rounded_up(15).parse().unwrap_or(1.0);
    let noises = if noise == Noise::TwoParty { 2.0 } else { 1.0 };
    let q = (-epsilon).exp();
    (noises * 2.0 * q).sqrt() / (1.0 - q)
}

/// A number for people: two digits below 10, none above.
fn rounded(number: f64) -> String {
    if number < 10.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}
