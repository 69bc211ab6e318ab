//! `vectors/noise.json`: noise by digits, and the laws of the exact samplers.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

use super::Verdict;
use super::exponential::{expect_equal, fraction, number, numbers, refused};
use super::field::{list, text};
use crate::math::Rational;
use crate::privacy::digits::{DigitSampler, digit_thresholds};
use crate::privacy::sampler::enumeration::Law;
use crate::privacy::sampler::{bernoulli_exp, discrete_laplace, geometric};

/// Paths of a sampler that are less likely than 2^-18 are left out: see [`Law`].
const LIMIT_BITS: u32 = 18;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for group in list(document, "testGroups") {
        let kind = text(group, "type");
        for test in list(group, "tests") {
            let outcome = match kind {
                "Thresholds" => check_thresholds(test),
                "DigitNoise" => check_noise(group, test),
                "DigitProbability" => check_probability(group, test),
                "SamplerLaw" => check_law(test),
                _ => Err(format!("expected a known type of group, got {kind:?}")),
            };
            verdicts.push(Verdict {
                group: [kind, text(group, "rate")].join(" ").trim().to_owned(),
                test_id: test["tcId"].as_u64().unwrap_or(0),
                comment: text(test, "comment").to_owned(),
                failure: outcome.err(),
            });
        }
    }
    verdicts
}

fn check_thresholds(test: &Value) -> Result<(), String> {
    let (digits, tau) = (small(test, "digits")?, small(test, "tau")?);
    let found = digit_thresholds(&fraction(test, "rate")?, digits, tau);
    if text(test, "result") != "valid" {
        return refused(found);
    }
    let found = found.map_err(|error| format!("expected thresholds, got: {error}"))?;
    expect_equal("the thresholds", &numbers(test, "thresholds")?, &found)
}

fn check_noise(group: &Value, test: &Value) -> Result<(), String> {
    let noise = sampler(group)?.noise(&numbers(test, "uniforms")?);
    expect_equal("the noise", &test["noise"].as_u64(), &Some(noise))
}

fn check_probability(group: &Value, test: &Value) -> Result<(), String> {
    let noise = test["noise"].as_u64().ok_or("noise is not a number")?;
    let found = sampler(group)?.probability(noise);
    expect_equal("the probability", &fraction(test, "probability")?, &found)
}

/// Follows every path of the sampler: no statistics, so the same verdict each time.
fn check_law(test: &Value) -> Result<(), String> {
    let rate = fraction(test, "rate")?;
    let outcome = test["outcome"].as_i64().ok_or("outcome is not a number")?;
    let bits = small(test, "floorBits")?.min(256) as i32;
    if rate.denominator() > &BigUint::from(64u32) {
        return Err(
            "expected a rate with a denominator up to 64: all paths are followed".to_owned()
        );
    }
    let floor = number(&test["floor"])?;
    let ends = [floor.clone(), floor + 1u32]
        .map(|end| &Rational::whole(end) * &Rational::power_of_two(-bits));
    let outcome_found = match text(test, "sampler") {
        "bernoulliExp" => {
            let law = Law::of(LIMIT_BITS, |path| bernoulli_exp(&rate, path));
            meets(&law, &(outcome == 1), &ends)
        }
        "geometric" => {
            let law = Law::of(LIMIT_BITS, |path| geometric(&rate, path));
            let outcome = u64::try_from(outcome).map_err(|_| "geometric noise is not negative")?;
            meets(&law, &BigUint::from(outcome), &ends)
        }
        "discreteLaplace" => {
            let law = Law::of(LIMIT_BITS, |path| discrete_laplace(&rate, path));
            meets(&law, &BigInt::from(outcome), &ends)
        }
        other => return Err(format!("expected a known sampler, got {other:?}")),
    };
    match (outcome_found, text(test, "result")) {
        (true, "valid") => Ok(()),
        (false, "valid") => Err(format!("expected probability {}, got another", ends[0])),
        (false, _) => Ok(()),
        (true, _) => Err("expected another law, got this one".to_owned()),
    }
}

/// Whether the true probability, which is between `ends`, is possible, and the law is well known.
fn meets<T: Ord>(law: &Law<T>, outcome: &T, ends: &[Rational; 2]) -> bool {
    let sharp = law.unresolved < Rational::power_of_two(-4);
    sharp && ends.iter().any(|end| law.allows(outcome, end))
}

fn sampler(group: &Value) -> Result<DigitSampler, String> {
    DigitSampler::new(&fraction(group, "rate")?, small(group, "digits")?, small(group, "tau")?)
        .map_err(|error| error.to_string())
}

fn small(value: &Value, key: &str) -> Result<u32, String> {
    let number = value[key].as_u64().and_then(|n| u32::try_from(n).ok());
    number.ok_or_else(|| format!("{key} is not a small number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::audit::field;

    #[test]
    fn every_vector_holds() {
        field::assert_all_pass("noise", check);
    }

    #[test]
    fn a_wrong_answer_is_found_wherever_it_stands() {
        let groups = field::document("noise")["testGroups"].as_array().unwrap().len();
        for (group, name, wrong) in [
            (0, "thresholds", Value::from(vec!["00"])),
            (1, "noise", Value::from(3)),
            (groups - 2, "probability", Value::from("1/2")),
            (groups - 1, "floor", Value::from("c000000000000000")),
            (groups - 1, "rate", Value::from("1/1000000000000")),
            (groups - 1, "floorBits", Value::from(u32::MAX)),
        ] {
            field::assert_found("noise", check, group, name, wrong);
        }
    }
}
