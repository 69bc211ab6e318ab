//! `vectors/sum_by_group.json`: trees of seeds, and the messages and shares of sums by group.

use serde_json::Value;

use super::Verdict;
use super::field::{
    bytes, check_all, expect_list, integer, list, number, numbers, parse_number, text,
};
use crate::crypto::garble::Delta;
use crate::crypto::tree::{TreeShape, grow, record_keys, regrow};
use crate::protocol::sum_by_group::{Addends, ReceiverPart, SenderPart, Starts, SumShape, ideal};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "Tree" => tree(test),
        "SumByGroup" => sum_by_group(test),
        other => Err(format!("unknown type {other:?}")),
    })
}

fn tree(test: &Value) -> Result<(), String> {
    let expected = numbers(test, "leaves")?;
    let (shape, keys) = (
        TreeShape::new(small(expected.len() as u64)?),
        record_keys(number(test, "start")?, integer(test, "record")?),
    );
    let pair = |value: &Value| Ok([parse_number(&value[0])?, parse_number(&value[1])?]);
    let sums: Vec<[u128; 2]> =
        list(test, "sums").iter().map(pair).collect::<Result<_, String>>()?;
    let received = numbers(test, "received")?;
    if sums.len() != shape.levels() || received.len() != shape.levels() {
        return Err("has the wrong number of levels".to_owned());
    }
    let (mut nodes, mut found) = (Vec::new(), vec![[0; 2]; shape.levels()]);
    grow(shape, &keys, number(test, "seed")?, &mut nodes, &mut found);
    expect_list("sum", sums.as_flattened(), found.as_flattened())?;
    expect_list("leaf", &expected, &nodes)?;
    let hole = small(integer(test, "hole")?)?;
    regrow(shape, &keys, hole, &received, &mut nodes);
    let hole = hole as usize;
    if nodes.get(hole).is_none_or(|leaf| *leaf == expected[hole]) {
        return Err("expected all leaves but one, got that one too".to_owned());
    }
    nodes[hole] = expected[hole];
    expect_list("regrown leaf", &expected, &nodes)
}

fn sum_by_group(test: &Value) -> Result<(), String> {
    let own = cells(test, "ownGroups")?;
    let size = |name| integer(test, name).and_then(small).map(|size| size as usize);
    let shape = SumShape {
        records: own.len(),
        groups: size("groups")?,
        words: size("words")?,
        bits: small(integer(test, "bits")?)?,
    };
    shape.check().map_err(|error| error.to_string())?;
    let starts = Starts { trees: number(test, "treesStart")?, sums: number(test, "sumsStart")? };
    let first = integer(test, "firstRecord")?;
    let (sent, received) = (numbers(test, "senderRows")?, numbers(test, "receiverRows")?);
    let places = cells(test, "places")?;
    let vectors = numbers(test, "vectors")?;
    let transfers = shape.records * TreeShape::new(small(shape.groups as u64)?).levels();
    // A record of the only group has a leaf in place of rows.
    let given_rows = if shape.groups == 1 { shape.records } else { transfers };
    let units = !test["places"].is_null();
    let given = if units { places.len() * shape.words } else { vectors.len() };
    let in_range = |cells: &[u32], bound: usize| cells.iter().all(|cell| (*cell as usize) < bound);
    if [sent.len(), received.len()] != [given_rows, transfers]
        || given != shape.records * shape.words
        || !in_range(&own, shape.groups)
        || !in_range(&places, shape.words)
    {
        return Err("has inputs that do not fit".to_owned());
    }
    let addends = if units { Addends::Units(&places) } else { Addends::Words(&vectors) };

    let expected = bytes(&test["message"])?;
    let (mut sender, mut receiver) =
        (SenderPart::new(shape, starts), ReceiverPart::new(shape, starts));
    let mut message = vec![0; expected.len()];
    let delta = Delta::new(number(test, "delta")?);
    sender.answer(first, &sent, &delta, addends, &mut message);
    if message != expected {
        return Err("expected another message".to_owned());
    }
    receiver.take(first, &own, &[], &received, &expected);
    let mask = u64::MAX >> (64 - shape.bits);
    let compare = |name, share: Vec<u64>| {
        let share: Vec<u128> = share.iter().map(|word| u128::from(word & mask)).collect();
        let due: Vec<u128> = numbers(test, name)?;
        expect_list(name, &due, &share)
    };
    compare("senderShare", sender.into_share())?;
    compare("receiverShare", receiver.into_share())?;
    compare("sums", ideal(&shape, &own, addends))
}

fn small(number: u64) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| "has a number that is too large".to_owned())
}

fn cells(test: &Value, name: &str) -> Result<Vec<u32>, String> {
    let cell = |value: &Value| value.as_u64().ok_or(format!("{name} is not a list of numbers"));
    list(test, name).iter().map(|value| cell(value).and_then(small)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("sum_by_group", super::check);
        assert_changes_are_found("sum_by_group", super::check);
    }
}
