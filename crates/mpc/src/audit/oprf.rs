//! `vectors/oprf.json`: vector OLE, key-value stores and the oblivious function.

use num_bigint::BigUint;
use serde_json::Value;

use super::field::{
    bytes32, check_all, expect, expect_list, integer, list, number, numbers, text, texts,
};
use super::{Verdict, role};
use crate::crypto::field_code::FieldCode;
use crate::crypto::half_tree::{grow_transfers, regrow_transfers};
use crate::crypto::okvs::{Layout, Store};
use crate::crypto::tree::record_keys;
use crate::net::SessionId;
use crate::protocol::oprf::{HashedKey, Outputs, hash_keys_of};
use crate::simd::field::{add_products, multiply, multiply_portable, times_x};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "Field" => product(test),
        "Transfers" => transfers(test),
        "Code" => code(test),
        "Block" => block(test),
        "Store" => store(test),
        "Function" => function(test),
        other => Err(format!("unknown type {other:?}")),
    })
}

fn product(test: &Value) -> Result<(), String> {
    let [a, b, due] = ["a", "b", "product"].map(|name| number(test, name));
    let (a, b, due) = (a?, b?, due?);
    expect("product", due, multiply(a, b))?;
    expect("product without vectors", due, multiply_portable(b, a))
}

fn transfers(test: &Value) -> Result<(), String> {
    let (sent, received) = (numbers(test, "senderRows")?, numbers(test, "receiverRows")?);
    if [sent.len(), received.len()] != [128; 2] {
        return Err("has not 128 rows of each".to_owned());
    }
    let element = |rows: &[u128]| rows.iter().rev().fold(0, |sum, row| times_x(sum) ^ row);
    let choices: Vec<u128> = received.iter().map(|row| row & 1).collect();
    let (a, b, c) = (element(&choices), element(&sent), element(&received));
    expect("a", number(test, "a")?, a)?;
    expect("b", number(test, "b")?, b)?;
    expect("c", number(test, "c")?, c)?;
    expect("b + Δ·a", c, b ^ multiply(number(test, "delta")?, a))
}

fn code(test: &Value) -> Result<(), String> {
    let (first, secret) = (integer(test, "first")?, numbers(test, "secret")?);
    let (mut rows, encoded) = (numbers(test, "rows")?, numbers(test, "encoded")?);
    if secret.is_empty() {
        return Err("has no secret".to_owned());
    }
    FieldCode::new(number(test, "start")?).add(first, [&secret], [&mut rows]);
    expect_list("row", &encoded, &rows)
}

/// A block of an LPN set, at both ends.
fn block(test: &Value) -> Result<(), String> {
    let [q, t, sums] = ["senderRows", "receiverRows", "sums"].map(|name| numbers(test, name));
    let [u, v, w] = ["secretA", "secretB", "secretC"].map(|name| numbers(test, name));
    let (q, t, sums, u, v, w) = (q?, t?, sums?, u?, v?, w?);
    let [a, b, c] = ["a", "b", "c"].map(|name| numbers(test, name));
    let (due_a, due_b, due_c) = (a?, b?, c?);
    let [a, b, c] = ["noiseA", "noiseB", "noiseC"].map(|name| number::<u128>(test, name));
    let (noise_a, noise_b, noise_c) = (a?, b?, c?);
    let size = due_b.len();
    let hole = u32::try_from(integer(test, "hole")?).map_err(|_| "has a large hole".to_owned())?;
    if q.is_empty()
        || [t.len(), sums.len()] != [q.len(); 2]
        || 1usize.checked_shl(q.len() as u32) != Some(size)
        || [due_a.len(), due_c.len()] != [size; 2]
        || hole as usize >= size
        || v.is_empty()
        || [u.len(), w.len()] != [v.len(); 2]
    {
        return Err("has rows, sums or secrets that do not fit".to_owned());
    }
    let (tree, first) = (integer(test, "tree")?, integer(test, "first")?);
    let keys = record_keys(number(test, "treeStart")?, tree);
    let leaf_keys = record_keys(number(test, "leafStart")?, tree);
    let code = FieldCode::new(number(test, "codeStart")?);
    let total = |nodes: &[u128]| nodes.iter().fold(0, |sum, node| sum ^ node);

    let (mut nodes, mut found) = (vec![0; size], vec![[0; 16]; q.len() - 1]);
    grow_transfers(&keys, number(test, "delta")?, &q, &mut nodes, &mut found);
    leaf_keys.hash(0, &mut nodes);
    let mut found: Vec<u128> = found.into_iter().map(u128::from_le_bytes).collect();
    found.push(noise_b ^ total(&nodes));
    expect_list("sum", &sums, &found)?;
    code.add(first, [&v], [&mut nodes]);
    expect_list("b", &due_b, &nodes)?;

    let (closing, sums) = sums.split_last().ok_or("has no sums")?;
    let sums: Vec<[u8; 16]> = sums.iter().map(|sum| sum.to_le_bytes()).collect();
    regrow_transfers(&keys, hole, &t, &sums, &mut nodes);
    leaf_keys.hash(0, &mut nodes);
    nodes[hole as usize] ^= total(&nodes) ^ closing ^ noise_c;
    let mut places = vec![0; size];
    places[hole as usize] = noise_a;
    code.add(first, [&u, &w], [&mut places, &mut nodes]);
    expect_list("a", &due_a, &places)?;
    expect_list("c", &due_c, &nodes)
}

/// The store of a document, if its table is as long as it has to be.
fn read_store(keys: usize, seed: u128, tables: &[&[u128]]) -> Result<Store, String> {
    let layout = Layout::for_keys(keys);
    if tables.iter().any(|table| table.len() != layout.columns()) {
        return Err(format!("has a table without {} blocks", layout.columns()));
    }
    Ok(Store::new(layout, seed))
}

fn store(test: &Value) -> Result<(), String> {
    let (keys, table) = (numbers(test, "keys")?, numbers(test, "table")?);
    let count = usize::try_from(integer(test, "keyCount")?).unwrap_or(usize::MAX);
    if count > table.len() {
        return Err("has too short a table".to_owned());
    }
    let store = read_store(count, number(test, "seed")?, &[&table])?;
    let rows: Vec<_> = keys.iter().map(|key| store.row(*key)).collect();
    let starts: Vec<u128> = rows.iter().map(|row| row.start as u128).collect();
    let due = list(test, "starts").iter().filter_map(Value::as_u64).map(u128::from);
    expect_list("start", &due.collect::<Vec<_>>(), &starts)?;
    let due: Vec<BigUint> = numbers(test, "bits")?;
    let bits =
        rows.iter().map(|row| BigUint::from_bytes_le(&row.bits.map(u64::to_le_bytes).concat()));
    if !due.into_iter().eq(bits) {
        return Err("expected other bits".to_owned());
    }
    expect_list("value", &numbers(test, "values")?, &store.decode(&table, &keys, |key| *key))
}

fn function(test: &Value) -> Result<(), String> {
    let sender = role(test, "sender")?;
    let session = SessionId::from_bytes(bytes32(&test["session"])?);
    let [b, c, sent] = ["b", "c", "sent"].map(|name| numbers(test, name));
    let (mut k, c, sent) = (b?, c?, sent?);
    let (delta, number_of_output) = (number(test, "delta")?, integer(test, "number")?);
    let [own, peer] = ["receiverKeys", "senderKeys"].map(|name| texts(test, name));
    let store = read_store(own.len(), number(test, "seed")?, &[&k, &c, &sent])?;
    add_products(&mut k, &sent, delta);
    let outputs = Outputs::new(session, sender);
    let all = |keys: &[HashedKey], elements: &[u128]| -> Vec<u128> {
        let pairs = keys.iter().zip(elements);
        pairs.map(|(key, e)| outputs.output(number_of_output, key, *e)).collect()
    };
    let keys = hash_keys_of(session, sender, &own);
    let elements = store.decode(&c, &keys, HashedKey::store);
    expect_list("receiver's value", &numbers(test, "receiverValues")?, &all(&keys, &elements))?;
    let keys = hash_keys_of(session, sender, &peer);
    let mut elements = store.decode(&k, &keys, HashedKey::store);
    let values: Vec<u128> = keys.iter().map(HashedKey::value).collect();
    add_products(&mut elements, &values, delta);
    expect_list("sender's value", &numbers(test, "senderValues")?, &all(&keys, &elements))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("oprf", super::check);
        assert_changes_are_found("oprf", super::check);
    }
}
