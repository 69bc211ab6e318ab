//! Checks `vectors/lkc.json`: what is specialized, with which score, or which elements of a lattice are
//! maximal; and the table that comes out.

use serde_json::Value;

use super::Verdict;
use super::field::{check_all, is_valid, list, refused, same, text};
use crate::agreement::syntactic::Search;
use crate::agreement::{Agreement, Model};
use crate::math::Randomness;
use crate::release::tree::output::{Rows, write_csv};
use crate::release::{lkc, run};
use crate::table::{Cuts, Reading, parse_csv};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |_, test| judge(test))
}

fn judge(test: &Value) -> Result<(), String> {
    let agreement = Agreement::parse("agreement.toml", text(test, "agreement").as_bytes(), &|_| {
        Err("no files here".to_owned())
    });
    let agreement = agreement.map_err(|error| error.to_string())?;
    let (schema, max_records) = (&agreement.schema, agreement.max_records);
    let reading = Reading { schema, owner: None, identifier: None, max_records };
    let table = parse_csv("data.csv", text(test, "data").as_bytes(), &reading, &|_| ());
    let table = table.map_err(|error| error.to_string())?;
    let mut rng = Randomness::from_os().map_err(|error| error.to_string())?;
    let release = run::alone(&agreement, &table, None, &mut rng, &|_| ());
    if !is_valid(test)? {
        return refused(release);
    }
    let release = release.map_err(|error| error.to_string())?;
    let mut steps = release.notes.clone();
    if let Model::Syntactic(terms) = &agreement.model
        && matches!(terms.search, Search::TopDown { .. })
    {
        steps.clear();
        let made = lkc::specialize(schema, terms, &table).map_err(|error| error.to_string())?;
        let mut cuts = Cuts::topmost(schema);
        for tried in made.tried().iter().filter(|tried| tried.refused.is_none()) {
            let candidate = tried.made.candidate;
            let name = &schema.attributes[candidate.attribute].name;
            steps.push(format!("{name}: {} {}", cuts.name(candidate), tried.value));
            cuts.specialize(&tried.made).map_err(|error| error.to_string())?;
        }
    }
    let expected: Vec<&str> = list(test, "steps").iter().filter_map(Value::as_str).collect();
    same("the steps", &expected.join("\n"), &steps.join("\n"))?;
    let mut csv = Vec::new();
    write_csv(&release.table, Rows::All, &mut csv).map_err(|error| error.to_string())?;
    same("the release", text(test, "release"), &String::from_utf8_lossy(&csv))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("lkc", super::check);
        assert_changes_are_found("lkc", super::check);
    }
}
