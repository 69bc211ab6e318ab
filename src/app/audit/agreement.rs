//! Checks `vectors/agreement.json`: canonical forms, hashes, and agreements that must be refused.

use serde_json::Value;

use super::Verdict;
use super::field::{list, text};
use crate::agreement::{Agreement, Error};

/// One verdict for each test of the document; a document of another shape gives a failing one.
pub fn check(document: &Value) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for group in list(document, "testGroups") {
        let name = text(group, "type");
        for test in list(group, "tests") {
            verdicts.push(Verdict {
                group: name.to_owned(),
                test_id: test["tcId"].as_u64().unwrap_or(0),
                comment: text(test, "comment").to_owned(),
                failure: judge(name, test).err(),
            });
        }
    }
    let expected = document["numberOfTests"].as_u64();
    if verdicts.is_empty() || expected != Some(verdicts.len() as u64) {
        verdicts.push(Verdict {
            group: "document".to_owned(),
            test_id: 0,
            comment: "number of tests".to_owned(),
            failure: Some(format!("expected {expected:?}, got {}", verdicts.len())),
        });
    }
    verdicts
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
    match error {
        Error::Invalid(problems) => problems.iter().map(|problem| problem.rule.name()).collect(),
        Error::NotCanonical => vec!["not-canonical"],
        Error::Unreadable { .. } => vec!["unreadable"],
    }
}

fn same(what: &str, expected: &str, got: &str) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected}, got {got}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vector_agrees() {
        let document = include_str!("../../../vectors/agreement.json");
        for verdict in check(&serde_json::from_str(document).unwrap()) {
            assert_eq!(verdict.failure, None, "test {}: {}", verdict.test_id, verdict.comment);
        }
    }

    #[test]
    fn a_wrong_answer_is_noticed() {
        let document = include_str!("../../../vectors/agreement.json");
        let mut document: Value = serde_json::from_str(document).unwrap();
        document["testGroups"][0]["tests"][0]["sha256"] = "00".into();
        let failures = check(&document).into_iter().filter(|verdict| verdict.failure.is_some());
        assert_eq!(failures.count(), 1);
        assert!(check(&Value::Null).iter().any(|verdict| verdict.failure.is_some()));
    }
}
