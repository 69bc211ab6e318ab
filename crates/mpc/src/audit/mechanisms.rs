//! `vectors/mechanisms.json`: the two-party mechanisms' circuits, from both parties' bits to winner
//! and noise.

use num_bigint::BigUint;
use serde_json::Value;

use super::Verdict;
use super::field::{
    self, check_all, expect_equal, fraction, integer, is_valid, list, number, numbers, refused,
    text,
};
use crate::circuit::Circuit;
use crate::circuit::random_value::UniformBelow;
use crate::mechanism::noise::joint;
use crate::mechanism::noisy_max::{self, Sharing};
use crate::paper::exponential::vertical;
use crate::privacy::digits::DigitSampler;
use crate::protocol::Bulk;
use crate::protocol::shares::signed;

/// Largest circuits that are built for a document.
const MOST_WIDTH: u64 = 4096;
const MOST_CANDIDATES: usize = 64;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "VerticalChoice" => check_choice(group, test),
        "NoisyMaximum" => check_maximum(group, test),
        "JointNoise" => check_noise(group, test),
        other => Err(format!("expected a known type of group, got {other:?}")),
    })
}

fn check_choice(group: &Value, test: &Value) -> Result<(), String> {
    let sums: [Vec<BigUint>; 2] = [numbers(group, "p1Sums")?, numbers(group, "p2Sums")?];
    let (width, tries) = (small(group, "width", MOST_WIDTH)?, small(group, "tries", 256)?);
    let counts = [sums[0].len(), sums[1].len()];
    some_candidates(counts[0] + counts[1])?;
    let uniform = UniformBelow::new(width, tries);
    let mut inputs = Vec::new();
    let mut joint = vec![false; uniform.random_bits()];
    for (sums, coins) in sums.iter().zip(["p1Coins", "p2Coins"]) {
        let coins = bits(&number(test, coins)?, uniform.random_bits())?;
        joint.iter_mut().zip(&coins).for_each(|(joint, coin)| *joint ^= coin);
        for sum in sums {
            inputs.extend(bits(sum, width)?);
        }
        inputs.extend(coins);
    }
    let total = sums.iter().filter_map(|sums| sums.last()).sum::<BigUint>();
    if total == BigUint::ZERO {
        return Err("expected weights above 0".to_owned());
    }
    let drawn = uniform.ideal(&total, &joint);
    let output =
        outputs(&vertical::ChoiceShape::new(counts, width, tries as u32).circuit(), &inputs)?;
    let (failed, index) = output.split_first().ok_or("the circuit has no output")?;
    if !is_valid(test)? {
        // A failed choice opens the same bits whatever the scores.
        expect_equal("the index of a failed choice", &0, &value(index))?;
        expect_equal("R", &None, &drawn)?;
        return refused(if *failed { Err(()) } else { Ok(()) });
    }
    expect_equal("R", &Some(number(test, "r")?), &drawn)?;
    expect_equal("failed", &false, failed)?;
    expect_equal("the winner", &integer(test, "winner")?, &value(index))
}

fn check_maximum(group: &Value, test: &Value) -> Result<(), String> {
    let shape = noisy_max::NoisyMaxShape {
        sharing: match text(group, "sharing") {
            "xor" => Sharing::Xor,
            "sum" => Sharing::Sum,
            other => return Err(format!("expected sharing xor or sum, got {other:?}")),
        },
        score_bits: small(group, "scoreBits", 64)?,
        shift: small(group, "shift", 64)?,
        noise: sampler(group)?,
        bulk: Bulk::Garbled,
    };
    let count = list(test, "p1Scores").len();
    some_candidates(count)?;
    let mut inputs = Vec::new();
    for (scores, coins) in [("p1Scores", "p1Coins"), ("p2Scores", "p2Coins")] {
        let scores: Option<Vec<u64>> = list(test, scores).iter().map(Value::as_u64).collect();
        let scores = scores.ok_or("a score is not a number")?;
        let coins: Vec<BigUint> = numbers(test, coins)?;
        if scores.len() != count || coins.len() != count {
            return Err("expected as many scores and coins of both parties".to_owned());
        }
        let coins = coins.iter().map(|coins| bits(coins, coins_of(&shape.noise)));
        let coins = coins.collect::<Result<Vec<_>, _>>()?.concat();
        inputs.extend_from_slice(&shape.inputs(&scores, &coins));
    }
    let index = outputs(&shape.circuit(count), &inputs)?;
    expect_equal("the winner", &integer(test, "winner")?, &value(&index))
}

fn check_noise(group: &Value, test: &Value) -> Result<(), String> {
    let shape = joint::JointNoiseShape { bits: small(group, "bits", 64)?, noise: sampler(group)? };
    let mut inputs = Vec::new();
    for (share, coins) in [("p1Share", "p1Coins"), ("p2Share", "p2Coins")] {
        let share = number::<u64>(test, share)?;
        let coins = bits(&number(test, coins)?, 2 * coins_of(&shape.noise))?;
        inputs.extend_from_slice(&shape.inputs(&[share], &coins));
    }
    let noisy = value(&outputs(&shape.circuit(), &inputs)?);
    let expected = test["noisy"].as_i64().ok_or("noisy is not a number")?;
    expect_equal("the noisy count", &expected, &signed(noisy, shape.bits as u32))
}

fn outputs(circuit: &Circuit, inputs: &[bool]) -> Result<Vec<bool>, String> {
    circuit.evaluate(inputs).map_err(|error| error.to_string())
}

fn sampler(group: &Value) -> Result<DigitSampler, String> {
    let (digits, tau) = (small(group, "digits", 62)? as u32, small(group, "tau", 256)? as u32);
    DigitSampler::new(&fraction(group, "rate")?, digits, tau).map_err(|error| error.to_string())
}

fn coins_of(sampler: &DigitSampler) -> usize {
    crate::protocol::coins::bits_per_noise(sampler)
}

fn some_candidates(count: usize) -> Result<(), String> {
    let fits = (1..=MOST_CANDIDATES).contains(&count);
    fits.then_some(()).ok_or_else(|| format!("expected 1 to {MOST_CANDIDATES} candidates"))
}

fn small(value: &Value, name: &str, most: u64) -> Result<usize, String> {
    let number = integer(value, name)?;
    if (1..=most).contains(&number) || name == "shift" && number == 0 {
        return Ok(number as usize);
    }
    Err(format!("{name} must be between 1 and {most}"))
}

/// The lowest `count` bits of a number that has no others.
fn bits(number: &BigUint, count: usize) -> Result<Vec<bool>, String> {
    if number.bits() > count as u64 {
        return Err(format!("expected a number of {count} bits, got {}", number.bits()));
    }
    Ok(field::bits(number, count))
}

fn value(bits: &[bool]) -> u64 {
    bits.iter().take(64).enumerate().fold(0, |value, (i, bit)| value | u64::from(*bit) << i)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_found, document};
    use super::*;

    #[test]
    fn every_vector_holds() {
        assert_all_pass("mechanisms", check);
    }

    #[test]
    fn a_wrong_answer_is_found_wherever_it_stands() {
        for (group, name, wrong) in [
            (0, "winner", Value::from(1)),
            (0, "r", Value::from("03")),
            (0, "p1Coins", Value::from("ff".repeat(99))),
            (7, "winner", Value::from(3)),
            (7, "p1Scores", Value::from(vec![1; 65])),
            (10, "noisy", Value::from(41)),
            (10, "p1Share", Value::from("ff".repeat(9))),
        ] {
            assert_found("mechanisms", check, group, name, wrong);
        }
    }

    #[test]
    fn sizes_without_sense_are_refused() {
        let mut document = document("mechanisms");
        document["testGroups"][0]["width"] = Value::from(1u64 << 40);
        document["testGroups"][7]["digits"] = Value::from(0);
        document["testGroups"][10]["bits"] = Value::from(65);
        let failed: Vec<String> =
            check(&document).into_iter().filter_map(|verdict| verdict.failure).collect();
        assert!(failed.iter().all(|failure| failure.contains("must be between")), "{failed:?}");
        assert_eq!(failed.len(), 11 + 12 + 12);
    }
}
