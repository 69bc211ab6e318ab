//! `vectors/presence.json`: what a release tells of a site, groups of a simulation, divisions.

use serde_json::Value;

use super::field::{
    check_all, expect_equal, integer, is_valid, list, number, ratio, refused, same, text,
};
use super::{Verdict, examine_division};
use crate::math::Rational;
use crate::release::presence::Delta;
use crate::release::presence::check::{Column, check as look};
use crate::release::presence::simulate::{self, Population, Setting, Sites};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "Check" => site(test),
        "Simulation" => simulation(test),
        "Division" => examine_division(test),
        other => Err(format!("expected a known type of group, got {other:?}")),
    })
}

fn delta(test: &Value) -> Result<Delta, String> {
    let (above, below) = ratio(test, "delta")?;
    Ok(Delta { above, below })
}

fn site(test: &Value) -> Result<(), String> {
    let names = list(test, "columns").iter().filter_map(Value::as_str);
    let columns: Vec<Column<'_>> = names.map(|name| Column { name, taxonomy: None }).collect();
    let (release, site) = (text(test, "release").as_bytes(), text(test, "site").as_bytes());
    let seen = look(release, Some("count"), site, &columns, delta(test)?);
    if !is_valid(test)? {
        return refused(seen);
    }
    let seen = seen?;
    let (common, holders) = seen.largest;
    let largest = Rational::new(common, holders).unwrap_or_else(Rational::zero);
    same("the largest part", text(test, "largest"), &largest.to_string())?;
    expect_equal("certain", &integer(test, "certain")?, &seen.certain)?;
    expect_equal("kept", &test["kept"].as_bool(), &Some(seen.offender.is_none()))
}

fn simulation(test: &Value) -> Result<(), String> {
    let codes = |value: &Value| value.as_u64().map(|code| code as u32);
    let column = |column: &Value| {
        let values: Option<Vec<i64>> = list(column, "values").iter().map(Value::as_i64).collect();
        let site = integer(column, "site")?.min(1) as usize;
        Ok(simulate::Column { site, values: values.ok_or("a value is not a number")? })
    };
    let columns = list(test, "columns").iter().map(column).collect::<Result<Vec<_>, String>>()?;
    let users = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != users) {
        return Err("columns of different lengths".to_owned());
    }
    let sensitive: Option<Vec<u32>> = list(test, "sensitive").iter().map(codes).collect();
    let sensitive = sensitive.filter(|codes| codes.len() == users);
    let counts = ["both", "onlyA", "onlyB"].map(|name| integer(test, name));
    let [Ok(both), Ok(only_a), Ok(only_b)] = counts else { return Err("no counts".to_owned()) };
    let setting = Setting {
        k: integer(test, "k")?,
        delta: delta(test)?,
        alpha: text(test, "alpha").parse().map_err(|_| "alpha is not a number".to_owned())?,
        retry: test["retry"].as_bool().ok_or("retry is neither true nor false")?,
    };
    let population = Population { users, columns, sensitive };
    let (seed, run) = (number(test, "seed")?, integer(test, "run")?);
    let sites = Sites::draw(users, [both, only_a, only_b], seed, run);
    let sites = sites.map_err(|error| error.to_string())?;
    let found = simulate::simulate(&population, &sites, &setting);
    if !is_valid(test)? {
        return refused(found);
    }
    let found = found.map_err(|error| error.to_string())?;
    let groups: Vec<Vec<u64>> = found
        .groups
        .iter()
        .map(|group| vec![group.users as u64, group.common, group.holders[0], group.holders[1]])
        .collect();
    let as_json = |numbers: &[Vec<u64>]| serde_json::json!(numbers).to_string();
    same("groups", &test["groups"].to_string(), &as_json(&groups))?;
    same("tested", &test["tested"].to_string(), &serde_json::json!(found.tested).to_string())?;
    let discernibility = u128::from(integer(test, "discernibility")?);
    expect_equal("discernibility", &discernibility, &found.discernibility())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_found};
    use super::*;

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("presence", check);
        for (group, field, wrong) in [
            (0, "largest", Value::from("1/2")),
            (0, "certain", Value::from(3)),
            (1, "discernibility", Value::from(1)),
            (1, "seed", Value::from("00")),
            (2, "accepted", Value::from(true)),
            (2, "otherInput", Value::from("")),
        ] {
            assert_found("presence", check, group, field, wrong);
        }
    }
}
