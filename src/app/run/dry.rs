//! `diptych run --dry-run`: everything that can be known without the peer.

use super::Side;
use crate::agreement::Partition;
use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::app::manifest::delta_text;
use crate::app::verify::short_delta;
use crate::math::Rational;
use crate::privacy::ledger::{self, History};
use crate::table::most_leaves;

/// Checks what a run would check before it connects, and says what it would spend, show and cost.
pub(super) fn run(side: &Side<'_>, console: &Console) -> Result<(), Failure> {
    let party = side.party;
    let history = match party.ledger.symlink_metadata() {
        Ok(_) => ledger::read(&party.ledger)?,
        Err(_) => History::default(),
    };
    let table = side.read_data(console)?;
    let widths = &side.widths;

    console.result(format!(
        "A dry run of \"{}\" as {} with {}: nothing is connected, written or spent.",
        side.agreement.id, party.role, side.peer_name
    ));
    console.result(format!("Agreement  SHA-256 {}", side.agreement.hash()));
    console.result("\nWhat it would spend");
    console.result(format!(
        "  ε {} and δ ≤ {} (promised: at most 2^-40)",
        side.epsilon,
        short_delta(&delta_text(&widths.delta))
    ));
    console.result(format!("  {}", ledger_words(side, &history)));
    let digits = widths.digits.iter().max().copied().unwrap_or(0);
    console.result(format!(
        "  widths that keep δ small: masks σ = {}, digits τ = {}, tries T = {}, at most {digits} \
         digits of noise",
        widths.sigma, widths.tau, widths.tries
    ));
    console.result("\nWhat the parties would learn");
    console.result(side.agreement.learned_words().trim_end());
    console.result("\nWhat it would cost");
    for line in cost_lines(side, table.len()) {
        console.result(format!("  {line}"));
    }
    let after = &history.spent(&party.data_set) + side.epsilon.value();
    if &after > party.cap.value() {
        return Err(Failure::wrong_input(format!(
            "the run would be refused: it would pass the cap of {}",
            party.cap
        ))
        .advise("agree on a smaller ε, or raise the cap if the data's owner consents"));
    }
    if party.out.join(crate::app::artefacts::MANIFEST).exists() {
        let place = party.out.display();
        return Err(Failure::wrong_input(format!(
            "the run would be refused: {place} has a release already"
        ))
        .advise("name another directory as `out` in the party file"));
    }
    Ok(())
}

fn ledger_words(side: &Side<'_>, history: &History) -> String {
    let party = side.party;
    let before = history.spent(&party.data_set);
    let after = &before + side.epsilon.value();
    let text = |value: &Rational| value.exact_decimal(18).unwrap_or_else(|| value.to_string());
    format!(
        "data set \"{}\" has spent ε {} and would have spent {} of at most {}",
        party.data_set,
        text(&before),
        text(&after),
        party.cap
    )
}

/// What follows from public bounds and our own size; the peer's size is not known yet.
fn cost_lines(side: &Side<'_>, records: usize) -> Vec<String> {
    const ELEMENT: usize = 32;
    let agreement = side.agreement;
    let rows = most_leaves(&agreement.schema, agreement.specializations, u64::MAX)
        .last()
        .copied()
        .unwrap_or(1)
        .saturating_mul(agreement.schema.class.values.len() as u64);
    let mut lines = Vec::new();
    if agreement.identifier().is_some() {
        lines.push(format!(
            "matching identifiers: {} each way, if the peer has as many records as we have \
             ({records}), in 3 rounds",
            bytes(2 * ELEMENT * records)
        ));
    }
    let table = match agreement.partition {
        Partition::Vertical { .. } => "the joint count table comes",
        _ => "the circuits for scores and splits come",
    };
    lines.push(format!("the release will have at most {rows} rows"));
    lines.push(format!(
        "{} choices and {table} on top; they grow with max_records = {}",
        agreement.specializations, agreement.max_records
    ));
    lines
}

fn bytes(count: usize) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} kB", count.div_ceil(1_000)),
        _ => format!("{} MB", count.div_ceil(1_000_000)),
    }
}
