//! `vectors/taylor.json`: rates, weights, shares of weights and winners over horizontal data.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

use super::Verdict;
use super::field::{
    check_all, expect_equal, fraction, integer, is_valid, list, number, numbers, refused, text,
};
use crate::paper::exponential::horizontal::{ClassCounts, ideal_weights, shifted_polynomial};
use crate::paper::polynomial;
use crate::privacy;
use crate::privacy::choice::{Score, Scored, locate};
use crate::privacy::taylor::{Taylor, weight};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "Rate" => rate(test),
        "Weights" => weights(group, test),
        "Shares" => shares(group, test),
        "Choice" => choice(group, test),
        other => Err(format!("expected a known type of group, got {other:?}")),
    })
}

fn taylor(value: &Value) -> Result<Result<Taylor, privacy::Error>, String> {
    let size = |name| Ok::<_, String>(integer(value, name)?.try_into().unwrap_or(u32::MAX));
    Ok(Taylor::new(size("digits")?, size("degree")?))
}

fn rate(test: &Value) -> Result<(), String> {
    let given = fraction(test, "rate")?;
    let found = taylor(test)?.and_then(|taylor| taylor.whole_rate(&given));
    if !is_valid(test)? {
        return refused(found);
    }
    let found = found.map_err(|error| format!("expected a rate, got: {error}"))?;
    expect_equal("the whole rate", &number(test, "wholeRate")?, &found)
}

/// The weight as a polynomial in the score.
fn coefficients(group: &Value) -> Result<Vec<BigUint>, String> {
    let rate = fraction(group, "rate")?;
    let found = taylor(group)?.and_then(|taylor| taylor.coefficients(&rate));
    found.map_err(|error| format!("expected coefficients, got: {error}"))
}

fn weights(group: &Value, test: &Value) -> Result<(), String> {
    let found = weight(&coefficients(group)?, integer(test, "score")?);
    expect_equal("the weight", &number(test, "weight")?, &found)
}

fn shares(group: &Value, test: &Value) -> Result<(), String> {
    let (first, second) = (number(test, "alpha1")?, number::<BigInt>(test, "alpha2")?);
    let mask = number(test, "mask")?;
    let found = shifted_polynomial(&coefficients(group)?, &first, &mask);
    expect_equal("the polynomial", &numbers(test, "coefficients")?, &found)?;
    let value = polynomial::ideal(&found, &second);
    expect_equal("its value", &number(test, "value")?, &value)?;
    let score = u64::try_from(first + second).map_err(|_| "the score is not a count".to_owned())?;
    let found = weight(&coefficients(group)?, score);
    expect_equal("the weight of the score", &number(test, "weight")?, &found)?;
    expect_equal("the weight of the shares", &BigInt::from(found), &(value - mask))
}

fn choice(group: &Value, test: &Value) -> Result<(), String> {
    let counts = |name: &str| {
        let row = |row: &Value| -> Vec<u64> {
            row.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
        };
        let child = |candidate: &Value| -> Vec<Vec<u64>> {
            candidate.as_array().into_iter().flatten().map(row).collect()
        };
        let candidates: Vec<_> = list(test, name).iter().map(child).collect();
        ClassCounts::new(integer(group, "classes")? as usize, &candidates)
            .map_err(|error| error.to_string())
    };
    let (first, second) = (counts("counts1")?, counts("counts2")?);
    let scores: Vec<u64> = list(test, "scores").iter().filter_map(Value::as_u64).collect();
    expect_equal("the scores", &scores, &first.ideal_scores(&second))?;
    let taylor = taylor(group)?.map_err(|error| error.to_string())?;
    let weights = ideal_weights(taylor, &fraction(group, "rate")?, &first, &second)
        .map_err(|error| error.to_string())?;
    expect_equal("the weights", &numbers(test, "weights")?, &weights)?;
    let candidates = vec![Scored::single(Score::default()); weights.len()];
    let winner = locate(&candidates, &weights, &number(test, "r")?).map(|choice| choice.index);
    expect_equal("the winner", &Some(integer(test, "winner")? as usize), &winner)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("taylor", super::check);
        assert_changes_are_found("taylor", super::check);
    }
}
