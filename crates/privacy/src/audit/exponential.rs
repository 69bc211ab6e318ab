//! `vectors/exponential.json`: weights, calibration and winners of the exponential mechanism.

use num_bigint::BigUint;
use serde_json::Value;

use super::Verdict;
use super::field::{check_groups, expect_equal, fraction, list, number, numbers, refused, text};
use crate::choice::locate;
use crate::exponential::{Scaling, weights};
use crate::{Calibration, Score, Scored};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_groups(document, &["source"], |group| match text(group, "type") {
        "Weights" => Box::new(check_weights),
        "Calibration" => Box::new(check_calibration),
        "Winner" => Box::new(|test| check_winner(group, test)),
        kind => Box::new(move |_| Err(format!("expected a known type of group, got {kind:?}"))),
    })
}

fn check_weights(test: &Value) -> Result<(), String> {
    let scores: Vec<_> = list(test, "scoreSteps")
        .iter()
        .map(|steps| steps.as_u64().map(Score::from_steps).ok_or("a score is not a number"))
        .collect::<Result<_, _>>()?;
    let found = weights(&scores, &fraction(test, "rate")?, scaling(test)?);
    if text(test, "result") != "valid" {
        return refused(found);
    }
    let found = found.map_err(|error| format!("expected weights, got: {error}"))?;
    let expected = numbers(test, "weights")?;
    expect_equal("the weights", &expected, &found)?;
    expect_equal("the sum", &number(test, "sum")?, &found.iter().sum::<BigUint>())
}

fn check_calibration(test: &Value) -> Result<(), String> {
    let monotone = test["monotone"].as_bool().ok_or("monotone is missing")?;
    let calibration = Calibration::new(fraction(test, "sensitivity")?, monotone)
        .map_err(|error| error.to_string())?;
    let scaling = scaling(test)?;
    let found = scaling.rate("vector", &fraction(test, "epsilon")?, &calibration);
    if text(test, "result") != "valid" {
        return refused(found);
    }
    let deduction = scaling.deduction().map_err(|error| error.to_string())?;
    expect_equal("the deduction", &fraction(test, "deduction")?, &deduction)?;
    let found = found.map_err(|error| format!("expected a rate, got: {error}"))?;
    expect_equal("the rate", &fraction(test, "rate")?, &found)
}

fn check_winner(group: &Value, test: &Value) -> Result<(), String> {
    let weights = numbers(group, "weights")?;
    let candidates: Vec<_> = list(group, "multiplicities")
        .iter()
        .map(|points| {
            let multiplicity = points.as_u64().ok_or("a multiplicity is not a number")?;
            Ok::<_, String>(Scored { score: Score::default(), multiplicity })
        })
        .collect::<Result<_, _>>()?;
    let found = locate(&candidates, &weights, &number(test, "r")?);
    match (found, text(test, "result")) {
        (Some(choice), "valid") => {
            let expected = (test["winner"].as_u64(), test["offset"].as_u64());
            expect_equal("the winner", &expected, &(Some(choice.index as u64), Some(choice.offset)))
        }
        (None, "valid") => Err("expected a winner, got none".to_owned()),
        (None, _) => Ok(()),
        (Some(choice), _) => Err(format!("expected no winner, got {}", choice.index)),
    }
}

fn scaling(test: &Value) -> Result<Scaling, String> {
    let exponent = test["exponent"].as_u64().and_then(|e| u32::try_from(e).ok());
    match (text(test, "scaling"), exponent) {
        ("binary", Some(fraction_bits)) => Ok(Scaling::Binary { fraction_bits }),
        ("decimal", Some(digits)) => Ok(Scaling::Decimal { digits }),
        _ => Err("expected a scaling, got something else".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_found};
    use super::*;

    #[test]
    fn every_vector_holds() {
        assert_all_pass("exponential", check);
    }

    #[test]
    fn a_wrong_answer_is_found_wherever_it_stands() {
        for (group, name, wrong) in [
            (0, "sum", Value::from("1230")),
            (0, "weights", Value::from(vec!["1b", "1c"])),
            (1, "rate", Value::from("1/40")),
            (1, "deduction", Value::from("0")),
            (2, "winner", Value::from(2)),
            (2, "offset", Value::from(1)),
            (2, "result", Value::from("invalid")),
        ] {
            assert_found("exponential", check, group, name, wrong);
        }
    }
}
