//! `vectors/ot.json`: base transfers, points to reject, the extension, the hash of rows.

use curve25519_dalek::scalar::Scalar;
use serde_json::Value;

use super::Verdict;
use super::field::{
    bytes, bytes32, check_all, expect_list, integer, is_valid, list, number, numbers, parse_number,
    text,
};
use crate::crypto::garble::Delta;
use crate::crypto::ot::{
    BASE_TRANSFERS, BLOCK_BYTES, BaseReceiver, BaseSender, ExtensionReceiver, ExtensionSender,
    hash_rows,
};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "BaseTransfer" => base_transfer(test),
        "ReceivedPoint" => received_point(test),
        "Extension" => extension(test),
        "RowHash" => {
            let mut rows = numbers(test, "rows")?;
            hash_rows(number(test, "start")?, integer(test, "first")?, &mut rows);
            expect_list("hash", &numbers(test, "hashes")?, &rows)
        }
        other => Err(format!("unknown type {other:?}")),
    })
}

fn scalar(value: &Value) -> Result<Scalar, String> {
    Scalar::from_canonical_bytes(bytes32(value)?)
        .into_option()
        .ok_or_else(|| "is not a scalar".to_owned())
}

fn pairs(test: &Value, name: &str) -> Result<Vec<[u128; 2]>, String> {
    let pair = |value: &Value| Ok([parse_number(&value[0])?, parse_number(&value[1])?]);
    list(test, name).iter().map(pair).collect()
}

fn base_transfer(test: &Value) -> Result<(), String> {
    let invalid = |_| "expected points that are accepted".to_owned();
    let context = bytes(&test["context"])?;
    let choices = number(test, "choices")?;
    let sender = BaseSender::from_secret(scalar(&test["senderSecret"])?);
    if sender.public() != bytes32(&test["public"])? {
        return Err("expected another public point".to_owned());
    }
    let secrets = list(test, "receiverSecrets").iter().map(scalar).collect::<Result<_, _>>()?;
    let receiver =
        BaseReceiver::from_secrets(sender.public(), choices, secrets).map_err(invalid)?;
    let answers: Vec<[u8; 32]> =
        list(test, "answers").iter().map(bytes32).collect::<Result<_, _>>()?;
    if receiver.answers() != answers {
        return Err("expected other answers".to_owned());
    }
    let expected = pairs(test, "keys")?;
    let keys = sender.keys(&context, &answers).map_err(invalid)?;
    expect_list("key", expected.as_flattened(), keys.as_flattened())?;
    let chosen: Vec<u128> =
        expected.iter().enumerate().map(|(i, k)| k[(choices >> i & 1) as usize]).collect();
    expect_list("chosen key", &chosen, &receiver.keys(&context))
}

fn received_point(test: &Value) -> Result<(), String> {
    let point = bytes32(&test["point"])?;
    let as_sender = BaseSender::from_secret(Scalar::from(7u8)).keys(b"", &[point]).is_ok();
    let as_receiver = BaseReceiver::from_secrets(point, 0, vec![Scalar::from(5u8)]).is_ok();
    match (is_valid(test)?, as_sender, as_receiver) {
        (true, true, true) | (false, false, false) => Ok(()),
        (true, ..) => Err("expected the point to be accepted, got a refusal".to_owned()),
        (false, ..) => Err("expected a refusal, got acceptance".to_owned()),
    }
}

fn extension(test: &Value) -> Result<(), String> {
    let seeds = pairs(test, "seeds")?;
    let (choices, expected) = (numbers(test, "choices")?, bytes(&test["message"])?);
    if seeds.len() != BASE_TRANSFERS || expected.len() != choices.len() * BLOCK_BYTES {
        return Err("has the wrong number of seeds or bytes".to_owned());
    }
    let delta = Delta::new(number(test, "delta")?);
    let (mut message, mut rows) = (Vec::new(), Vec::new());
    ExtensionReceiver::new(&seeds).extend(&choices, &mut message, &mut rows);
    if message != expected {
        return Err("expected another message".to_owned());
    }
    expect_list("receiver's row", &numbers(test, "receiverRows")?, &rows)?;
    let chosen: Vec<u128> =
        seeds.iter().enumerate().map(|(i, k)| k[(delta.expose() >> i & 1) as usize]).collect();
    rows.clear();
    ExtensionSender::new(delta, &chosen).extend(&message, &mut rows);
    expect_list("sender's row", &numbers(test, "senderRows")?, &rows)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("ot", super::check);
        assert_changes_are_found("ot", super::check);
    }
}
