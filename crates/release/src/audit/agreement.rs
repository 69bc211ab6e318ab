//! Checks `vectors/agreement.json`: canonical forms, hashes, and agreements that must be rejected.

use serde_json::Value;

use super::Verdict;
use super::field::{check_all, list, same, text};
use crate::Error;
use crate::agreement::{Agreement, Problems};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| judge(text(group, "type"), test))
}

fn judge(group: &str, test: &Value) -> Result<(), String> {
    let read = match group {
        "AgreementToml" => Agreement::parse(
            "agreement.toml",
            text(test, "toml").as_bytes(),
            &|name| match &test["files"][name] {
                Value::String(content) => Ok(content.clone().into_bytes()),
                _ => Err("no such file".to_owned()),
            },
        ),
        "AgreementCanonical" => Agreement::from_canonical(text(test, "canonical").as_bytes()),
        "AgreementFormer" => Agreement::from_canonical(text(test, "former").as_bytes()),
        _ => return Err(format!("unknown group {group:?}")),
    };
    match (text(test, "result"), read) {
        ("valid", Ok(agreement)) => {
            same("canonical form", text(test, "canonical"), &agreement.canonical())?;
            same("sha256", text(test, "sha256"), &agreement.hash().to_string())?;
            match Agreement::from_canonical(agreement.canonical().as_bytes()) {
                Ok(again) if again == agreement => Ok(()),
                Ok(_) => Err("the canonical form reads as another agreement".to_owned()),
                Err(error) => Err(format!("the canonical form is refused: {error}")),
            }
        }
        ("invalid", Err(error)) => {
            let expected: Vec<&str> =
                list(test, "errors").iter().filter_map(Value::as_str).collect();
            same("errors", &expected.join(" "), &rules(&error).join(" "))
        }
        ("valid", Err(error)) => Err(format!("expected an agreement, got: {error}")),
        ("invalid", Ok(_)) => Err("expected a refusal, got an agreement".to_owned()),
        (result, _) => Err(format!("unknown result {result:?}")),
    }
}

fn rules(error: &Error) -> Vec<&'static str> {
    match error.origin::<Problems>() {
        Some(problems) => problems.iter().map(|problem| problem.rule.name()).collect(),
        None => vec!["not-canonical"],
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_found};
    use super::*;

    #[test]
    fn every_vector_agrees() {
        assert_all_pass("agreement", check);
    }

    #[test]
    fn a_wrong_answer_is_noticed() {
        assert_found("agreement", check, 0, "sha256", "00".into());
    }
}
