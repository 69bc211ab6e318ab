//! Checks `vectors/trajectory.json`: violating and frequent sets, what is taken out, what is left.

use serde_json::Value;

use super::Verdict;
use super::field::{check_all, expect_equal, integer, is_valid, list, refused, same, text};
use crate::release::trajectory::sets::Sets;
use crate::release::trajectory::{
    Columns, Form, Paths, Score, Terms, anonymize, frequent, violating,
};
use crate::table::Dialect;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |_, test| judge(test))
}

fn judge(test: &Value) -> Result<(), String> {
    let texts = |key: &str| -> Vec<String> {
        list(test, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let columns = Columns::Wide { id: Some("id".to_owned()), path: "path".to_owned() };
    let form = Form::new(columns, "sensitive", texts("protect"));
    let (named, data) = (("paths", Dialect::default()), text(test, "data").as_bytes());
    let paths = Paths::read(named, data, &form, &|_| {}).map_err(|error| error.to_string())?;
    let (above, below) = text(test, "c").split_once('/').unwrap_or((text(test, "c"), "1"));
    let number = |digits: &str| digits.parse().map_err(|_| "c is not a fraction".to_owned());
    let score = Score::ALL.iter().find(|(word, _)| *word == text(test, "score"));
    let terms = Terms {
        l: integer(test, "l")? as usize,
        k: integer(test, "k")?,
        c: (number(above)?, number(below)?),
        support: integer(test, "support")?,
        score: score.ok_or("unknown score")?.1,
    };
    let made = anonymize(&paths, &terms);
    if !is_valid(test)? {
        return refused(made);
    }
    let made = made.map_err(|error| error.to_string())?;
    let name = |pair: &u32| {
        let (time, place) = &paths.pairs[*pair as usize];
        format!("{place}{time}")
    };
    let names = |sets: &Sets| -> Vec<String> {
        let one = |set: &[u32]| set.iter().map(name).collect::<Vec<_>>().join(">");
        sets.iter().map(one).collect()
    };
    let index = paths.index();
    let found = violating::find(&paths, &index, terms.l, &terms.rule());
    let found = found.map_err(|error| error.to_string())?;
    expect_equal("violating sets", &texts("violating"), &names(&found.sets))?;
    let found = frequent::find(&paths, &index, terms.support).map_err(|e| e.to_string())?;
    expect_equal("frequent sets", &texts("frequent"), &names(&found))?;
    let suppressed: Vec<String> = made.suppressed.iter().map(|one| name(&one.pair)).collect();
    expect_equal("suppressed pairs", &texts("suppressed"), &suppressed)?;
    expect_equal("kept sets", &integer(test, "kept")?, &(made.frequent.1 as u64))?;
    let mut csv = Vec::new();
    made.paths.write("sensitive", &mut csv).map_err(|error| error.to_string())?;
    same("the release", text(test, "release"), &String::from_utf8_lossy(&csv))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("trajectory", super::check);
        assert_changes_are_found("trajectory", super::check);
    }
}
