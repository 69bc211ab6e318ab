//! How wide the noise on a count is, for people who read it: nothing here is used to make a release.

use std::path::Path;

use serde_json::Value;

use crate::Error;
use crate::math::Rational;
use crate::publish::artefacts::RELEASE;
use crate::publish::files::write_whole;
use crate::publish::released::Released;
use crate::publish::verify;

/// How sure a width is, in hundredths.
pub const SURE: u32 = 95;
/// Widths that are worth a number.
const WIDEST: u64 = 1_000_000;

/// The least w such that the noise on a count lies between −w and w with a probability of at least
/// [`SURE`] in a hundred; 0 where there is no noise, nothing if the manifest does not say.
///
/// It is that of the noise alone: setting negative counts to 0, and lowering the others for it,
/// comes after.
pub fn of_counts(noises: u32, spends: &[Value]) -> Option<u64> {
    if noises == 0 {
        return Some(0);
    }
    let named = |entry: &&Value| entry.get("name").and_then(Value::as_str) == Some("counts");
    let spent = spends.iter().find(named)?.get("epsilon")?.as_str()?;
    let rate = approximate(&spent.parse().ok()?)?;
    width(rate, noises)
}

fn approximate(exact: &Rational) -> Option<f64> {
    let part = |number: &num_bigint::BigUint| number.to_string().parse::<f64>().ok();
    let ratio = part(exact.numerator())? / part(exact.denominator())?;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

fn width(rate: f64, noises: u32) -> Option<u64> {
    let base = (-rate).exp();
    let norm = (-rate / 2.0).tanh().abs();
    // Of one noise, Pr[k] = norm·base^k for k ≥ 0; of the sum of two, by summing over the first.
    let probability = |k: u64| {
        let one = base.powf(k as f64);
        match noises {
            1 => norm * one,
            _ => {
                let square = base * base;
                norm * norm * one * (k as f64 + (1.0 + square) / (1.0 - square))
            }
        }
    };
    let wanted = f64::from(SURE) / 100.0;
    let mut within = probability(0);
    let mut width = 0;
    while within < wanted && width < WIDEST {
        width += 1;
        within += 2.0 * probability(width);
    }
    (width < WIDEST).then_some(width)
}

/// Writes the rows of a release with the ends of their error bars to a file; an older is replaced.
///
/// # Errors
/// If the release does not verify or has no such bars, or the file cannot be written.
pub fn write_error_bars(directory: &Path, out: &Path) -> Result<(), Error> {
    verify::check(directory)?;
    let released = Released::open(directory)?;
    let spends = released.manifest.get("spends").and_then(Value::as_array);
    let width = spends.and_then(|spends| of_counts(released.agreement.model.noises(), spends));
    let width = width
        .ok_or_else(|| Error::input("the manifest does not say how much noise a count has"))?;
    let place = directory.join(RELEASE);
    let wrong = |what: String| Error::internal(format!("{}: {what}", place.display()));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&released.csv[..]);
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let mut record = csv::StringRecord::new();
    let mut first = true;
    while reader.read_record(&mut record).map_err(|error| wrong(error.to_string()))? {
        let count = record.iter().next_back().unwrap_or_default().parse::<u64>();
        match (first, count) {
            (true, _) => ["low", "high"].iter().for_each(|name| record.push_field(name)),
            (false, Ok(count)) => {
                record.push_field(&count.saturating_sub(width).to_string());
                record.push_field(&count.saturating_add(width).to_string());
            }
            (false, Err(_)) => return Err(wrong("a count is not one".to_owned())),
        }
        first = false;
        writer.write_record(&record).map_err(|error| wrong(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    write_whole(out, &text, 0o644).map_err(|error| Error::file(out, "write", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By adding up the probabilities of every pair of noises, far enough out.
    fn by_hand(rate: f64, noises: u32) -> u64 {
        const FAR: i64 = 400;
        let one = |k: i64| (-rate * k.abs() as f64).exp();
        let sum = |k: i64| match noises {
            1 => one(k),
            _ => (-FAR..=FAR).map(|first| one(first) * one(k - first)).sum(),
        };
        let all: f64 = (-FAR..=FAR).map(sum).sum();
        let mut within = sum(0) / all;
        (0..)
            .find(|w| {
                if *w > 0 {
                    within += 2.0 * sum(*w) / all;
                }
                within >= 0.95
            })
            .unwrap() as u64
    }

    #[test]
    fn widths_are_those_of_the_noises_that_are_added() {
        for rate in [0.1, 0.3, 0.5, 1.0, 2.0, 5.0] {
            for noises in [1, 2] {
                assert_eq!(width(rate, noises), Some(by_hand(rate, noises)), "{rate} {noises}");
            }
        }
    }

    #[test]
    fn the_width_is_taken_from_what_the_counts_were_given() {
        let spends = serde_json::json!([
            { "name": "round 1: choice", "epsilon": "7/10" },
            { "name": "counts", "epsilon": "3/10" },
        ]);
        let spends = spends.as_array().unwrap();
        assert_eq!(of_counts(1, spends), width(0.3, 1));
        assert_eq!(of_counts(0, spends), Some(0));
        assert_eq!(of_counts(1, &spends[..1]), None);
        for wrong in ["0", "-1", "x", "1/0", "1/100000000000000000000"] {
            let spends = [serde_json::json!({ "name": "counts", "epsilon": wrong })];
            assert_eq!(of_counts(1, &spends), None, "{wrong}");
        }
    }
}
