//! `vectors/game.json`: rounds, contributions and benefits of a game over a joined table.

use serde_json::Value;

use super::Verdict;
use super::field::{check_all, expect_equal, is_valid, list, refused, same, text};
use crate::agreement::{Agreement, Model};
use crate::math::Rational;
use crate::release::lkc::game::{Bid, Owner, Played, Silence, Strategies, play};
use crate::release::tree::output::{Rows, write_csv};
use crate::table::{Reading, Schema, parse_csv};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |_, test| judge(test))
}

fn judge(test: &Value) -> Result<(), String> {
    let agreement = Agreement::parse("agreement.toml", text(test, "agreement").as_bytes(), &|_| {
        Err("no files here".to_owned())
    });
    let agreement = agreement.map_err(|error| error.to_string())?;
    let Model::Syntactic(terms) = &agreement.model else { return Err("another model".to_owned()) };
    let (schema, max_records) = (&agreement.schema, agreement.max_records);
    let reading = Reading { schema, owner: None, identifier: None, max_records };
    let table = parse_csv("data.csv", text(test, "data").as_bytes(), &reading, &|_| ());
    let table = table.map_err(|error| error.to_string())?;
    let owners = owners(test, schema);
    let slack = match text(test, "slack") {
        "none" => None,
        slack => Some(slack.parse().map_err(|error| format!("slack: {error}"))?),
    };
    let defects = |owner: &Owner| list(test, "defecting").iter().any(|name| *name == owner.name);
    let defecting = (0..owners.len()).filter(|place| defects(&owners[*place])).collect();
    let played = play(schema, terms, &table, &owners, &Strategies { slack, defecting });
    if !is_valid(test)? {
        return refused(played);
    }
    let played = played.map_err(|error| error.to_string())?;
    expect_equal("rounds", &list(test, "rounds").len(), &played.rounds.len())?;
    for (number, (expected, round)) in list(test, "rounds").iter().zip(&played.rounds).enumerate() {
        let bids: Vec<String> = round.bids.iter().map(words).collect();
        let due: Vec<&str> = list(expected, "bids").iter().filter_map(Value::as_str).collect();
        same(&format!("bids of round {number}"), &due.join("; "), &bids.join("; "))?;
        let winner = round.won.as_ref().map_or("", |(owner, _)| owners[*owner].name.as_str());
        same(&format!("winner of round {number}"), text(expected, "winner"), winner)?;
    }
    let benefits: Vec<Rational> = (0..owners.len()).map(|owner| played.benefit(owner)).collect();
    for (name, numbers) in [("contributions", &played.contributions), ("benefits", &benefits)] {
        let due: Vec<&str> = list(test, name).iter().filter_map(Value::as_str).collect();
        let got: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        same(name, &due.join(" "), &got.join(" "))?;
    }
    same("the release", text(test, "release"), &release(played)?)
}

fn owners(test: &Value, schema: &Schema) -> Vec<Owner> {
    let place = |name: &Value| {
        let name = name.as_str()?;
        schema.attributes.iter().position(|attribute| attribute.name == name)
    };
    let owner = |one: &Value| Owner {
        name: text(one, "name").to_owned(),
        attributes: list(one, "columns").iter().filter_map(place).collect(),
    };
    list(test, "owners").iter().map(owner).collect()
}

fn words(bid: &Bid) -> String {
    match bid {
        Bid::Offers { what, score } => format!("{what} {score}"),
        Bid::Silent(Silence::Ahead { .. }) => "ahead".to_owned(),
        Bid::Silent(Silence::NothingValid) => "nothing valid".to_owned(),
        Bid::Silent(Silence::Defects) => "defects".to_owned(),
    }
}

fn release(played: Played<'_>) -> Result<String, String> {
    let table = played.into_table().map_err(|error| error.to_string())?;
    let mut csv = Vec::new();
    write_csv(&table, Rows::All, &mut csv).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&csv).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("game", super::check);
        assert_changes_are_found("game", super::check);
    }
}
