//! `vectors/noise.json`: noise by digits, and the laws of the exact samplers.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

use super::Verdict;
use super::field::{check_groups, expect_equal, fraction, number, numbers, refused, small, text};
use crate::digits::{DigitSampler, digit_thresholds};
use crate::sampler::enumeration::Law;
use crate::sampler::{bernoulli_exp, discrete_laplace, geometric};
use diptych_primitives::math::Rational;

/// Paths of a sampler that are less likely than 2^-18 are left out: see [`Law`].
const LIMIT_BITS: u32 = 18;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_groups(document, &["rate"], |group| match text(group, "type") {
        "Thresholds" => Box::new(check_thresholds),
        "DigitNoise" => Box::new(|test| check_noise(group, test)),
        "DigitProbability" => Box::new(|test| check_probability(group, test)),
        "SamplerLaw" => Box::new(check_law),
        kind => Box::new(move |_| Err(format!("expected a known type of group, got {kind:?}"))),
    })
}

fn check_thresholds(test: &Value) -> Result<(), String> {
    let (digits, tau) = (small(&test["digits"])?, small(&test["tau"])?);
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
    let bits = small(&test["floorBits"])?.min(256) as i32;
    if rate.denominator() > &BigUint::from(64u32) {
        return Err(
            "expected a rate with a denominator up to 64: all paths are followed".to_owned()
        );
    }
    let floor: BigUint = number(test, "floor")?;
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

/// Checks that the true probability, which is between `ends`, is within the bounds of the law, and
/// that the law is known precisely.
fn meets<T: Ord>(law: &Law<T>, outcome: &T, ends: &[Rational; 2]) -> bool {
    let sharp = law.unresolved < Rational::power_of_two(-4);
    sharp && ends.iter().any(|end| law.allows(outcome, end))
}

fn sampler(group: &Value) -> Result<DigitSampler, String> {
    let (digits, tau) = (small(&group["digits"])?, small(&group["tau"])?);
    DigitSampler::new(&fraction(group, "rate")?, digits, tau).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_found, document};
    use super::*;

    #[test]
    fn every_vector_holds() {
        assert_all_pass("noise", check);
    }

    #[test]
    fn a_wrong_answer_is_found_wherever_it_stands() {
        let groups = document("noise")["testGroups"].as_array().unwrap().len();
        for (group, name, wrong) in [
            (0, "thresholds", Value::from(vec!["00"])),
            (1, "noise", Value::from(3)),
            (groups - 2, "probability", Value::from("1/2")),
            (groups - 1, "floor", Value::from("c000000000000000")),
            (groups - 1, "rate", Value::from("1/1000000000000")),
            (groups - 1, "floorBits", Value::from(u32::MAX)),
        ] {
            assert_found("noise", check, group, name, wrong);
        }
    }
}
