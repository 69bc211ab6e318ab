//! `vectors/join.json`: bins, hints, and what is read from them.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::field::{
    Difference, bytes32, check_all, expect, expect_equal, expect_list, integer, judge, list,
    number, numbers, small, text, texts,
};
use super::{Verdict, role};
use crate::crypto::cuckoo::{Three, bins_for, place};
use crate::crypto::okvs::{Layout, Store};
use crate::net::SessionId;
use crate::primitives;
use crate::protocol::join::{Fields, choices, empty_query, query};
use crate::protocol::oprf::{HashedKey, hash_keys_of};

/// Most bins in a document.
const MOST_BINS: usize = 1 << 20;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "BinCount" => bin_count(test),
        "Bins" => bins(test),
        "Placement" => judge(test, placement(test)),
        "Hint" => hint(test),
        other => Err(format!("unknown type {other:?}")),
    })
}

fn bin_count(test: &Value) -> Result<(), String> {
    let identifiers = small(&test["identifiers"])? as usize;
    expect("bins", integer(test, "bins")?, bins_for(identifiers) as u64)
}

/// The number of bins of a test.
fn bins_of(test: &Value) -> Result<usize, String> {
    let bins = small(&test["bins"])? as usize;
    let fits = (3..=MOST_BINS).contains(&bins);
    fits.then_some(bins).ok_or_else(|| "has too few or too many bins".to_owned())
}

fn threes(test: &Value, name: &str, bins: usize) -> Result<Vec<Three>, String> {
    let three = |value: &Value| {
        let three = [small(&value[0])?, small(&value[1])?, small(&value[2])?];
        let exist = three.iter().all(|bin| (*bin as usize) < bins);
        exist.then_some(three).ok_or_else(|| "has bins that are not there".to_owned())
    };
    list(test, name).iter().map(three).collect()
}

fn digests(identifiers: &[String]) -> Vec<[u8; 32]> {
    identifiers.iter().map(|identifier| Sha256::digest(identifier).into()).collect()
}

fn session(test: &Value) -> Result<SessionId, String> {
    bytes32(&test["session"]).map(SessionId::from_bytes)
}

fn bins(test: &Value) -> Result<(), String> {
    let count = bins_of(test)?;
    let rule = choices(session(test)?, role(test, "owner")?, count);
    let found = rule.of_all(&digests(&texts(test, "identifiers")));
    expect_equal("bins", &threes(test, "chosen", count)?, &found)
}

fn placement(test: &Value) -> Result<(), Difference<primitives::Error>> {
    let bins = bins_of(test)?;
    let choices = threes(test, "choices", bins)?;
    let placed = place(&choices, bins).map_err(Difference::Refused)?;
    let stands = |(bin, who): (usize, &Option<u32>)| {
        who.map(|who| (who, choices[who as usize].contains(&(bin as u32))))
    };
    let mut standing: Vec<(u32, bool)> = placed.iter().enumerate().filter_map(stands).collect();
    standing.sort_unstable();
    let due: Vec<(u32, bool)> = (0..choices.len() as u32).map(|who| (who, true)).collect();
    Ok(expect_equal("placement", &due, &standing)?)
}

fn hint(test: &Value) -> Result<(), String> {
    let (session, owner, bins) = (session(test)?, role(test, "owner")?, bins_of(test)?);
    let size = |name| small(&test[name]).map(|size| size as usize);
    let fields = Fields { target: size("targetBits")?, payload: size("payloadBits")? };
    let [drawn, values, table] = ["drawn", "giverValues", "table"].map(|name| numbers(test, name));
    let (drawn, giver_values, table) = (drawn?, values?, table?);
    let payloads = list(test, "payloads").iter().map(small).collect::<Result<Vec<_>, _>>()?;
    let peer = digests(&texts(test, "giverIdentifiers"));
    if fields.target > 96
        || fields.payload > 32
        || drawn.len() != bins
        || giver_values.len() != 3 * peer.len()
        || payloads.len() != peer.len()
        || table.len() != Layout::for_keys(3 * peer.len()).columns()
    {
        return Err("has fields, blocks, values or payloads that do not fit".to_owned());
    }
    let rule = choices(session, owner, bins);
    let queries: Vec<_> = peer.iter().flat_map(|d| [0, 1, 2].map(|i| query(i, d))).collect();
    let keys = hash_keys_of(session, owner.peer(), &queries);
    let stored: Vec<u128> = keys.iter().map(HashedKey::store).collect();
    expect_list("key", &numbers(test, "keys")?, &stored)?;
    let places = peer.iter().flat_map(|digest| rule.of(digest));
    let said = places.zip(&giver_values).enumerate().map(|(place, (bin, value))| {
        fields.programmed(drawn[bin as usize], payloads[place / 3], *value)
    });
    expect_list("value", &numbers(test, "values")?, &said.collect::<Vec<_>>())?;
    let read =
        read(test, &rule.of_all(&digests(&texts(test, "ownerIdentifiers"))), &table, fields)?;
    expect_list("what is read", &numbers(test, "read")?, &read)?;
    members(test, fields, &drawn, &read)
}

/// What the owner finds in each of its bins.
fn read(
    test: &Value,
    choices: &[Three],
    table: &[u128],
    fields: Fields,
) -> Result<Vec<u128>, String> {
    let own = digests(&texts(test, "ownerIdentifiers"));
    let ask = |(bin, who): (usize, &Value)| match who.as_u64() {
        None => Ok(empty_query(bin)),
        Some(who) => {
            let three = choices.get(who as usize).ok_or("names nobody")?;
            let number = three.iter().position(|place| *place as usize == bin);
            Ok(query(number.ok_or("has a wrong place")? as u8, &own[who as usize]))
        }
    };
    let places = list(test, "places").iter().enumerate();
    let queries = places.map(ask).collect::<Result<Vec<_>, &str>>()?;
    let keys = hash_keys_of(session(test)?, role(test, "owner")?.peer(), &queries);
    let stored: Vec<u128> = keys.iter().map(HashedKey::store).collect();
    expect_list("owner's key", &numbers(test, "ownerKeys")?, &stored)?;
    let layout = Layout::for_keys(3 * list(test, "giverIdentifiers").len());
    let hinted = Store::new(layout, number(test, "seed")?).decode(table, &stored, |key| *key);
    let values: Vec<u128> = numbers(test, "ownerValues")?;
    Ok(hinted.iter().zip(&values).map(|(hinted, value)| fields.read(*hinted, *value)).collect())
}

/// Payloads are where people are common; with a target these places are revealed.
fn members(test: &Value, fields: Fields, drawn: &[u128], read: &[u128]) -> Result<(), String> {
    let due = list(test, "members");
    if [due.len(), read.len()] != [drawn.len(); 2] {
        return Err("has not one member for each bin".to_owned());
    }
    for (bin, due) in due.iter().enumerate() {
        let difference = read[bin] ^ drawn[bin];
        let is_member = difference.trailing_zeros() as usize >= fields.target;
        let payload = difference.checked_shr(fields.target as u32).unwrap_or(0);
        match due.as_u64() {
            None if fields.target == 0 => {}
            None => expect_equal(&format!("member in bin {bin}"), &false, &is_member)?,
            Some(due) => {
                expect_equal(&format!("member in bin {bin}"), &true, &is_member)?;
                expect(&format!("payload in bin {bin}"), u128::from(due), payload)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("join", super::check);
        assert_changes_are_found("join", super::check);
    }
}
