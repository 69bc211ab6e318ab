//! `diptych demo --partition local`: one party, generated loan applications.

use std::path::Path;

use super::{loans, place, show_rows, write};
use crate::agreement::Agreement;
use crate::app::artefacts::Output;
use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::app::local::{cut_lines, make, read};
use crate::app::manifest::Draft;
use crate::app::report;
use crate::math::{Randomness, Rational};
use crate::privacy::Budget;

pub(super) fn run(records: u32, out: Option<&Path>, console: &Console) -> Result<(), Failure> {
    let place = place(out)?;
    write(&place.join("agreement.toml"), &loans::local_agreement())?;
    write(&place.join("table.csv"), &loans::joined_csv(&loans::people(records)))?;
    let agreement = Agreement::load(&place.join("agreement.toml")).map_err(Failure::wrong_input)?;
    let output = Output::prepare(&place.join("release"), &agreement, true)?;
    let table = read(&agreement, &place.join("table.csv"), None, None, console)?;
    let budget = Budget::new(&agreement.epsilon);
    let release = make(&agreement, &table, budget, &mut Randomness::from_os()?, console)?;
    let draft = Draft::new(&agreement, &release, &Rational::zero(), None)?;
    let manifest = draft.signed(&[])?;
    output.write(&release, &draft.release, &manifest, true)?;
    report::accompany(output.directory(), console);

    console.result("The table was generalized in these steps, each chosen privately:");
    cut_lines(&release)?.into_iter().for_each(|line| console.result(line));
    let manifest = serde_json::from_str(&manifest).map_err(Failure::failed)?;
    show_rows(output.directory(), &manifest, console)?;
    console.result(format!(
        "\nWhoever sees the release learns little about any one of the {} people: ε = {}, δ = 0.",
        table.len(),
        agreement.epsilon
    ));
    console.result(format!("All files are in {}", place.display()));
    Ok(())
}
