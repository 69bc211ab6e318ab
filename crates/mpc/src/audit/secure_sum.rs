//! `vectors/secure_sum.json`: the messages around the ring, and the result.

use serde_json::Value;

use super::Verdict;
use super::field::{
    Difference, bytes, check_all, expect_equal, integer, judge, list, numbers, parse_number, text,
};
use crate::Error;
use crate::paper::secure_sum::{RingShape, ideal};

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| {
        let outcome = match text(group, "type") {
            "Ring" => ring(test),
            "Message" => message(test),
            "Input" => input(test),
            other => return Err(format!("unknown type {other:?}")),
        };
        judge(test, outcome)
    })
}

type Outcome = Result<(), Difference<Error>>;

fn shape(test: &Value) -> Result<RingShape, String> {
    let small = |name: &str| integer(test, name).map(|number| number as usize);
    let (parties, entries) = (small("parties")?, small("entries")?);
    Ok(RingShape { parties, entries, bits: small("bits")? as u32 })
}

/// Every party in turn, with what its neighbour sends it.
fn ring(test: &Value) -> Outcome {
    let shape = shape(test)?;
    let (masks, sums) = (numbers::<u64>(test, "masks")?, numbers::<u64>(test, "sums")?);
    let words: Vec<Vec<u64>> = list(test, "words")
        .iter()
        .map(|of_one| of_one.as_array().into_iter().flatten().map(parse_number).collect())
        .collect::<Result<_, _>>()?;
    let messages: Vec<Vec<u8>> =
        list(test, "messages").iter().map(bytes).collect::<Result<_, _>>()?;
    expect_equal("parties", &shape.parties, &words.len())?;
    expect_equal("masks", &shape.entries, &masks.len())?;
    expect_equal("messages", &(2 * shape.parties - 1), &messages.len())?;
    let (mut heard, mut hop) = (masks.clone(), 0);
    for (place, own) in words.iter().enumerate() {
        shape.check(place, own).map_err(Difference::Refused)?;
        let sent = shape.message(hop + 1, &shape.plus(&heard, own));
        expect_equal(&format!("message {}", hop + 1), &messages[hop], &sent)?;
        hop += 1;
        heard = shape.read(hop, &sent).map_err(Difference::Refused)?.to_vec();
    }
    let found = shape.minus(&heard, &masks).to_vec();
    expect_equal("sums", &sums, &found)?;
    let all: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
    expect_equal("ideal sums", &sums, &ideal(&shape, &all))?;
    for (number, expected) in messages.iter().enumerate().skip(hop) {
        let sent = shape.message(number + 1, &sums);
        expect_equal(&format!("message {}", number + 1), expected, &sent)?;
    }
    Ok(())
}

fn message(test: &Value) -> Outcome {
    let hop = integer(test, "hop")? as usize;
    let read = shape(test)?.read(hop, &bytes(&test["message"])?);
    read.map(|_| ()).map_err(Difference::Refused)
}

fn input(test: &Value) -> Outcome {
    let place = integer(test, "place")? as usize;
    let checked = shape(test)?.check(place, &numbers(test, "words")?);
    checked.map_err(Difference::Refused)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("secure_sum", super::check);
        assert_found("secure_sum", super::check, 0, "bits", 31.into());
        assert_found("secure_sum", super::check, 1, "hop", 2.into());
        assert_found("secure_sum", super::check, 2, "parties", 3.into());
    }
}
