//! `diptych demo --partition local`: one party, generated loan applications.

use crate::agreement::Agreement;
use crate::app::artefacts::{self, Output};
use crate::app::console::Console;
use crate::app::demo::{DemoDirectory, loans};
use crate::app::failure::Failure;
use crate::app::local::{cut_lines, make, read};
use crate::app::manifest::Draft;
use crate::math::{Randomness, Rational};
use crate::privacy::Budget;

/// Rows of the release that are shown.
const SHOWN_ROWS: usize = 8;

pub(super) fn run(records: u32, console: &Console) -> Result<(), Failure> {
    let place = DemoDirectory::create()?.keep();
    let files =
        [("agreement.toml", loans::LOCAL_AGREEMENT.to_owned()), ("table.csv", loans::csv(records))];
    for (name, text) in &files {
        let path = place.join(name);
        std::fs::write(&path, text).map_err(|error| Failure::file(&path, "write", &error))?;
    }
    let agreement = Agreement::load(&place.join("agreement.toml")).map_err(Failure::wrong_input)?;
    let output = Output::prepare(&place.join("release"))?;
    let table = read(&agreement, &place.join("table.csv"), None, console)?;
    let epsilon = agreement.epsilon.to_string().parse().map_err(Failure::failed)?;
    let budget = Budget::new(&epsilon);
    let release = make(&agreement, &table, budget, &mut Randomness::from_os()?, console)?;
    let draft = Draft::new(&agreement, &release, &Rational::zero(), None)?;
    output.write(&release, &draft.release, &draft.signed(&[])?, true)?;

    console.result("The table was generalized in these steps, each chosen privately:");
    cut_lines(&release)?.into_iter().for_each(|line| console.result(line));
    console.result(format!("\nThe first of {} rows of the release:", draft.release.rows));
    let path = place.join("release").join(artefacts::RELEASE);
    let text =
        std::fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", &error))?;
    text.lines().take(SHOWN_ROWS + 1).for_each(|line| console.result(format!("  {line}")));
    console.result(format!(
        "\nWhoever sees the release learns little about any one of the {} people: ε = {}, δ = 0.",
        table.len(),
        agreement.epsilon
    ));
    console.result(format!("All files are in {}", place.display()));
    Ok(())
}
