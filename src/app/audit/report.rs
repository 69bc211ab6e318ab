//! What an audit found, for people and for programs.

use std::path::Path;

use serde_json::{Value, json};

use super::{Report, Row, Verdict, netlists};
use crate::Error;
use crate::app::console::Console;
use crate::app::write_json;

const REPORT_IT: &str = "this build must not be used; report the lines above";

/// The table of the vectors by document and flag, and every failure.
pub(super) fn show_vectors(
    report: &Report,
    json: Option<&Path>,
    console: &Console,
) -> Result<(), Error> {
    let flags = report.documents.values().flat_map(|audited| audited.flags.keys());
    let width = flags.map(|flag| flag.chars().count()).max().unwrap_or(0).max(9);
    console.result(format!(
        "{:<20} {:<width$} {:>13} {:>6} {:>16} {:>6} {:>8}",
        "document", "flag", "valid: passed", "failed", "invalid: refused", "failed", "seconds"
    ));
    for (document, audited) in &report.documents {
        let line = |name: &str, flag: &str, row: &Row, time: &str| {
            console.result(format!(
                "{name:<20} {flag:<width$} {:>13} {:>6} {:>16} {:>6} {time:>8}",
                row.valid[0], row.valid[1], row.invalid[0], row.invalid[1]
            ));
        };
        let time = format!("{:.2}", audited.time.as_secs_f64());
        line(document, "all tests", &audited.all, &time);
        for (flag, row) in &audited.flags {
            line("", flag, row, "");
        }
    }
    for (document, verdict) in &report.failures {
        console.result(explain(document, verdict));
    }
    if let Some(path) = json {
        write_json(path, &vectors_page(report))?;
    }
    let (failed, tests) = (report.failures.len(), report.tests());
    if failed == 0 {
        console.say(format!("all {tests} tests passed"));
        return Ok(());
    }
    Err(Error::internal(format!("{failed} of {tests} tests failed")).advise(REPORT_IT))
}

/// The table of the circuits.
pub(super) fn show_circuits(
    rows: &[netlists::Row],
    json: Option<&Path>,
    console: &Console,
) -> Result<(), Error> {
    let width = rows.iter().map(|row| row.file.len()).max().unwrap_or(0);
    console.result(format!(
        "{:<width$} {:>6} {:>13} {:>17} {:>8}  outcome",
        "circuit", "ANDs", "random inputs", "all inputs, small", "seconds"
    ));
    for row in rows {
        console.result(format!(
            "{:<width$} {:>6} {:>13} {:>17} {:>8.2}  {}",
            row.file,
            row.ands,
            row.random,
            row.exhaustive,
            row.time.as_secs_f64(),
            if row.failure.is_none() { "as expected" } else { "DIFFERS" }
        ));
    }
    let failed: Vec<_> = rows.iter().filter(|row| row.failure.is_some()).collect();
    for row in &failed {
        console.result(format!("{}: {}", row.file, row.failure.as_deref().unwrap_or_default()));
    }
    if let Some(path) = json {
        write_json(path, &circuits_page(rows))?;
    }
    if failed.is_empty() {
        console.say(format!("all {} circuits compute what they should", rows.len()));
        return Ok(());
    }
    let failed =
        format!("{} of {} circuits do not compute what they should", failed.len(), rows.len());
    Err(Error::internal(failed).advise(REPORT_IT))
}

/// File, test, comment, and what was expected and came instead.
fn explain(document: &str, verdict: &Verdict) -> String {
    format!(
        "{document} test {}, {} ({}): {}",
        verdict.test_id,
        verdict.group,
        verdict.comment,
        verdict.failure.as_deref().unwrap_or_default()
    )
}

fn vectors_page(report: &Report) -> Value {
    let documents: Vec<Value> = report
        .documents
        .iter()
        .map(|(name, audited)| {
            let of_document = report.rows.iter().filter(|((document, _), _)| document == name);
            let groups: Vec<Value> =
                of_document.map(|((_, group), row)| counts("group", group, row)).collect();
            let flags: Vec<Value> =
                audited.flags.iter().map(|(flag, row)| counts("flag", flag, row)).collect();
            let failures: Vec<Value> = report
                .failures
                .iter()
                .filter(|(document, _)| document == name)
                .map(|(_, verdict)| {
                    json!({
                        "tcId": verdict.test_id,
                        "group": verdict.group,
                        "comment": verdict.comment,
                        "problem": verdict.failure,
                    })
                })
                .collect();
            json!({
                "file": name,
                "algorithm": audited.algorithm,
                "seconds": audited.time.as_secs_f64(),
                "tests": audited.all.tests(),
                "groups": groups,
                "flags": flags,
                "failures": failures,
            })
        })
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "tests": report.tests(),
        "failed": report.failures.len(),
        "documents": documents,
    })
}

fn counts(kind: &str, name: &str, row: &Row) -> Value {
    json!({
        kind: name,
        "valid": { "passed": row.valid[0], "failed": row.valid[1] },
        "invalid": { "refused": row.invalid[0], "failed": row.invalid[1] },
    })
}

fn circuits_page(rows: &[netlists::Row]) -> Value {
    let circuits: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "file": row.file,
                "ands": row.ands,
                "random_inputs": row.random,
                "all_inputs_at_small_size": row.exhaustive,
                "seconds": row.time.as_secs_f64(),
                "problem": row.failure,
            })
        })
        .collect();
    let failed = rows.iter().filter(|row| row.failure.is_some()).count();
    json!({ "version": env!("CARGO_PKG_VERSION"), "failed": failed, "circuits": circuits })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::audit::{SUMS, hex, run};
    use sha2::{Digest, Sha256};

    #[test]
    fn a_failure_is_explained_in_words_and_in_the_file() {
        let place = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/exponential.json");
        let mut document: Value =
            serde_json::from_str(&std::fs::read_to_string(source).unwrap()).unwrap();
        let test = &mut document["testGroups"][0]["tests"][0];
        let (id, comment) = (test["tcId"].clone(), test["comment"].clone());
        test["result"] = "invalid".into();
        let text = document.to_string();
        std::fs::write(place.path().join("exponential.json"), &text).unwrap();
        let sums = format!("{}  exponential.json\n", hex::encode(Sha256::digest(text.as_bytes())));
        std::fs::write(place.path().join(SUMS), sums).unwrap();

        let report = run(place.path()).unwrap();
        let (name, verdict) = &report.failures[0];
        let words = explain(name, verdict);
        assert!(words.starts_with(&format!("exponential.json test {id}, ")), "{words}");
        assert!(words.contains(comment.as_str().unwrap()) && words.contains("expected"), "{words}");

        let path = place.path().join("audit-report");
        let failure = show_vectors(&report, Some(&path), &Console::silent()).unwrap_err();
        assert!(failure.message().starts_with("1 of "), "{}", failure.message());
        let page: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(page["failed"], 1);
        assert_eq!(page["documents"][0]["failures"][0]["tcId"], id);
        let flags = page["documents"][0]["flags"].as_array().unwrap();
        assert!(flags.iter().any(|flag| flag["flag"].as_str().is_some_and(|f| !f.is_empty())));
    }
}
