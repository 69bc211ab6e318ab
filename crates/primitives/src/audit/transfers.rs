//! `vectors/transfers.json`: transfers with few bytes.

use serde_json::Value;

use super::Verdict;
use super::field::{
    bytes, check_all, expect_list, integer, list, number, numbers, parse_number, text,
};
use crate::crypto::garble::Delta;
use crate::crypto::half_tree::{grow_transfers, regrow_transfers};
use crate::crypto::local_code::LocalCode;
use crate::crypto::ot::{BASE_TRANSFERS, ROWS};
use crate::crypto::soft_spoken::{Columns, Receiver, SETUP_BYTES, Sender};
use crate::crypto::tree::record_keys;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "SoftSpoken" => soft_spoken(test),
        "HalfTree" => half_tree(test),
        "Code" => code(test),
        other => Err(format!("unknown type {other:?}")),
    })
}

fn soft_spoken(test: &Value) -> Result<(), String> {
    let pair = |value: &Value| Ok([parse_number(&value[0])?, parse_number(&value[1])?]);
    let pairs: Vec<[u128; 2]> =
        list(test, "seeds").iter().map(pair).collect::<Result<_, String>>()?;
    let (roots, setup) = (numbers(test, "roots")?, bytes(&test["setup"])?);
    let (expected, rows) = (bytes(&test["message"])?, numbers(test, "senderRows")?);
    let blocks = rows.len() / ROWS;
    let columns = match integer(test, "columns")? {
        4 => Columns::Four,
        8 => Columns::Eight,
        other => return Err(format!("has groups of {other} columns")),
    };
    if pairs.len() != BASE_TRANSFERS
        || roots.len() != columns.groups()
        || setup.len() != SETUP_BYTES
        || expected.len() != columns.block_bytes() * blocks
    {
        return Err("has the wrong number of seeds, roots or bytes".to_owned());
    }
    let (start, delta) = (number(test, "start")?, Delta::new(number(test, "delta")?));
    let (mut receiver, sent) = Receiver::new(columns, start, &pairs, &roots);
    if sent != setup {
        return Err("expected another message of the set-up".to_owned());
    }
    let (mut message, mut found) = (Vec::new(), Vec::new());
    receiver.extend(blocks, &mut message, &mut found);
    if message != expected {
        return Err("expected another message".to_owned());
    }
    expect_list("receiver's row", &numbers(test, "receiverRows")?, &found)?;
    let bits = pairs.iter().enumerate();
    let chosen: Vec<u128> = bits.map(|(i, k)| k[(delta.expose() >> i & 1) as usize]).collect();
    found.clear();
    Sender::new(columns, start, delta, &chosen, &setup).extend(blocks, &message, &mut found);
    expect_list("sender's row", &rows, &found)
}

fn half_tree(test: &Value) -> Result<(), String> {
    let (sent, received) = (numbers(test, "senderRows")?, numbers(test, "receiverRows")?);
    let sums: Vec<[u8; 16]> = numbers(test, "sums")?.into_iter().map(u128::to_le_bytes).collect();
    let (all, but_one) = (numbers(test, "senderLeaves")?, numbers(test, "receiverLeaves")?);
    let levels = integer(test, "levels")?;
    let leaves = u32::try_from(levels).ok().and_then(|levels| 1usize.checked_shl(levels));
    let hole = u32::try_from(integer(test, "hole")?).map_err(|_| "has a large hole".to_owned())?;
    if [sent.len(), received.len(), sums.len() + 1].map(|length| length as u64) != [levels; 3]
        || leaves != Some(all.len())
        || leaves != Some(but_one.len())
        || hole as usize >= all.len()
    {
        return Err("has rows, sums or leaves that do not fit".to_owned());
    }
    let keys = record_keys(number(test, "start")?, integer(test, "tree")?);
    let (mut nodes, mut found) = (vec![0; all.len()], vec![[0; 16]; sums.len()]);
    grow_transfers(&keys, number(test, "delta")?, &sent, &mut nodes, &mut found);
    if found != sums {
        return Err("expected other sums".to_owned());
    }
    expect_list("sender's leaf", &all, &nodes)?;
    regrow_transfers(&keys, hole, &received, &sums, &mut nodes);
    expect_list("receiver's leaf", &but_one, &nodes)
}

fn code(test: &Value) -> Result<(), String> {
    let (first, secret) = (integer(test, "first")?, numbers(test, "secret")?);
    let (mut rows, encoded) = (numbers(test, "rows")?, numbers(test, "encoded")?);
    if secret.is_empty() || !first.is_multiple_of(2) || !rows.len().is_multiple_of(2) {
        return Err("has no secret, or rows that are no pairs".to_owned());
    }
    LocalCode::new(number(test, "start")?).add(first, &secret, &mut rows);
    expect_list("row", &encoded, &rows)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("transfers", super::check);
        assert_changes_are_found("transfers", super::check);
    }
}
