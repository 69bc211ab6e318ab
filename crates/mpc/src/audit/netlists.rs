//! Each circuit kept for review against a plain function.
//!
//! Three checks of every file: this version builds exactly the same bytes; the file computes the
//! function in `references`, on random inputs that include edge cases; and a smaller circuit, built
//! by the same code at a size at which all inputs can be tried, computes that function for every
//! input.

use std::time::{Duration, Instant};

use super::references::{Subject, subjects};
use crate::circuit::{Circuit, Port, bristol};
use crate::math::Randomness;
use crate::privacy;
use crate::protocol::yao::shares::number;

/// Random inputs per file: a multiple of the 64 that are evaluated together.
pub const TRIALS: usize = 4096;
/// All inputs are tried up to so many bits of them.
const FEW_BITS: usize = 16;

/// The result for one circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The file.
    pub file: String,
    /// Its AND gates.
    pub ands: usize,
    /// Random inputs of the file that were compared.
    pub random: usize,
    /// Inputs of the smaller circuit that were compared: all valid ones.
    pub exhaustive: usize,
    /// How long that took.
    pub time: Duration,
    /// What is wrong, if anything is.
    pub failure: Option<String>,
}

/// A circuit that is kept for review.
pub struct Kept {
    /// Its file.
    pub file: &'static str,
    whole: Subject,
    small: Subject,
}

impl Kept {
    /// All of them.
    ///
    /// # Errors
    /// If one of them cannot be built.
    pub fn all() -> Result<Vec<Self>, privacy::Error> {
        let kept = |(whole, small): (Subject, Subject)| Self { file: whole.name, whole, small };
        Ok(subjects()?.into_iter().map(kept).collect())
    }

    /// Checks the contents of the file.
    pub fn check(&self, bytes: &[u8], rng: &mut Randomness) -> Row {
        let start = Instant::now();
        let mut row = Row {
            file: self.file.to_owned(),
            ands: 0,
            random: 0,
            exhaustive: 0,
            time: Duration::ZERO,
            failure: None,
        };
        row.failure = examine(bytes, &self.whole, &self.small, &mut row, rng).err();
        row.time = start.elapsed();
        row
    }
}

fn examine(
    bytes: &[u8],
    whole: &Subject,
    small: &Subject,
    row: &mut Row,
    rng: &mut Randomness,
) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not text".to_owned())?;
    let circuit = bristol::read(text, bristol::Limits::default()).map_err(|e| e.to_string())?;
    row.ands = circuit.counts().and;
    let mut trials = (0..TRIALS).map(|_| (whole.draw)(rng));
    row.random = compare(&circuit, whole, &mut trials)?;
    let width = small.circuit.input_bits();
    if width > FEW_BITS {
        return Err(format!("its small sibling has {width} bits of input, too many for all"));
    }
    let mut all =
        (0..1u32 << width).map(|number| (0..width).map(|i| number >> i & 1 == 1).collect());
    row.exhaustive = compare(&small.circuit, small, &mut all)
        .map_err(|wrong| format!("at small size: {wrong}"))?;
    // Last, so that for a circuit that computes something else the error names the difference in
    // its outputs.
    if bristol::write(&whole.circuit).ok().as_deref() != Some(text) {
        return Err("expected the bytes that this version builds, got others".to_owned());
    }
    Ok(())
}

/// Compares a circuit with the function of a subject, 64 inputs at a time; returns the number of
/// valid inputs, or the first difference.
fn compare(
    circuit: &Circuit,
    subject: &Subject,
    inputs: &mut dyn Iterator<Item = Vec<bool>>,
) -> Result<usize, String> {
    let mut compared = 0;
    loop {
        let batch: Vec<Vec<bool>> = inputs.take(64).collect();
        if batch.is_empty() {
            return Ok(compared);
        }
        let word = |i: usize| {
            let bit = |(lane, input): (usize, &Vec<bool>)| u64::from(input[i]) << lane;
            batch.iter().enumerate().map(bit).fold(0, |word, bit| word | bit)
        };
        let width = batch[0].len();
        let words: Vec<u64> = (0..width).map(word).collect();
        let outputs = circuit.evaluate_words(&words).map_err(|error| error.to_string())?;
        for (lane, input) in batch.iter().enumerate() {
            let Some(expected) = (subject.reference)(input) else { continue };
            let got: Vec<bool> = outputs.iter().map(|word| word >> lane & 1 == 1).collect();
            if !got.ends_with(&expected) {
                let unsaid = got.len().saturating_sub(expected.len());
                let expected = [&got[..unsaid], &expected].concat();
                return Err(explain(circuit, input, &expected, &got));
            }
            compared += 1;
        }
    }
}

fn explain(circuit: &Circuit, input: &[bool], expected: &[bool], got: &[bool]) -> String {
    let spell = |ports: &[Port], bits: &[bool]| {
        let mut rest = bits;
        let numbers: Vec<String> = ports
            .iter()
            .map(|port| {
                let (now, later) = rest.split_at(port.width.min(rest.len()));
                rest = later;
                format!("{:x}", number(now))
            })
            .collect();
        numbers.join(" ")
    };
    format!(
        "for inputs {}: expected {}, got {}",
        spell(circuit.inputs(), input),
        spell(circuit.outputs(), expected),
        spell(circuit.outputs(), got)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of an exported file.
    fn text(kept: &Kept) -> String {
        let path = format!("{}/../../circuits/{}", env!("CARGO_MANIFEST_DIR"), kept.file);
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn every_circuit_computes_its_function() {
        let mut rng = Randomness::from_os().unwrap();
        for kept in Kept::all().unwrap() {
            let row = kept.check(text(&kept).as_bytes(), &mut rng);
            assert_eq!(row.failure, None, "{}", row.file);
            // If many inputs were invalid, the trials would show little.
            assert!(row.random > TRIALS / 2, "{}: {} trials", row.file, row.random);
            assert!(row.exhaustive >= 64, "{}: {} inputs", row.file, row.exhaustive);
        }
    }

    #[test]
    fn a_gate_of_another_kind_is_found_by_what_it_computes() {
        let mut rng = Randomness::seeded(1);
        for kept in Kept::all().unwrap() {
            let text = text(&kept);
            let (before, after) = text.rsplit_once(" XOR").unwrap();
            let changed = format!("{before} AND{after}");
            let failure = kept.check(changed.as_bytes(), &mut rng).failure.unwrap();
            assert!(failure.contains("for inputs"), "{}: {failure}", kept.file);
        }
    }
}
