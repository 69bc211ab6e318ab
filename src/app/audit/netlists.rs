//! `diptych audit --circuits`: each circuit kept for review against a plain function.
//!
//! Four checks of every file: its checksum; that this version builds the very same bytes; that the
//! file computes what the function in `references` says, on inputs drawn at random with
//! edges among them; and that a small sibling, built by the same code at a size at which all inputs
//! can be tried, computes that function for every input.

use std::path::Path;
use std::time::{Duration, Instant};

use num_bigint::BigUint;

use super::references::{Subject, subjects};
use super::{Error, SUMS, check_sums, read};
use crate::app::circuit::number_of_bits;
use crate::circuit::{Circuit, Port, bristol};
use crate::math::Randomness;

/// Random inputs per file: a multiple of the 64 that run side by side.
pub const TRIALS: usize = 4096;
/// All inputs are tried up to so many bits of them.
const FEW_BITS: usize = 16;

/// The circuits of this version, for where there is no directory of them.
const BUILT_IN: &[(&str, &str)] = &[
    ("division_8.txt", include_str!("../../../circuits/division_8.txt")),
    ("horizontal_choice_4.txt", include_str!("../../../circuits/horizontal_choice_4.txt")),
    ("horizontal_max_2.txt", include_str!("../../../circuits/horizontal_max_2.txt")),
    ("joint_noise_k24.txt", include_str!("../../../circuits/joint_noise_k24.txt")),
    ("less_than_64.txt", include_str!("../../../circuits/less_than_64.txt")),
    ("maximum_8x32.txt", include_str!("../../../circuits/maximum_8x32.txt")),
    ("modular_add_p255.txt", include_str!("../../../circuits/modular_add_p255.txt")),
    ("noisy_maximum_4.txt", include_str!("../../../circuits/noisy_maximum_4.txt")),
    ("random_value_16.txt", include_str!("../../../circuits/random_value_16.txt")),
    ("vertical_choice_2x2.txt", include_str!("../../../circuits/vertical_choice_2x2.txt")),
];
const BUILT_IN_SUMS: &str = include_str!("../../../circuits/SHA256SUMS");

/// What came of one circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The file.
    pub file: String,
    /// Its AND gates.
    pub ands: usize,
    /// Random inputs of the file that were compared.
    pub random: usize,
    /// Inputs of the small sibling that were compared: all that mean something.
    pub exhaustive: usize,
    /// How long that took.
    pub time: Duration,
    /// What is wrong, if anything is.
    pub failure: Option<String>,
}

/// Checks every circuit of a directory.
///
/// # Errors
/// If the directory is not as it should be. Circuits that compute something else are in the rows.
pub fn run(directory: &Path, rng: &mut Randomness) -> Result<Vec<Row>, Error> {
    let sums = read(&directory.join(SUMS))?;
    let unreadable = |source| Error::Unreadable { path: directory.into(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, read(&path)?));
        }
    }
    files.sort();
    check_all(&String::from_utf8_lossy(&sums), &files, rng)
}

/// Checks the circuits that are built into the command.
///
/// # Errors
/// As [`run`].
pub fn run_built_in(rng: &mut Randomness) -> Result<Vec<Row>, Error> {
    let files: Vec<_> = BUILT_IN
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect();
    check_all(BUILT_IN_SUMS, &files, rng)
}

fn check_all(
    sums: &str,
    files: &[(String, Vec<u8>)],
    rng: &mut Randomness,
) -> Result<Vec<Row>, Error> {
    let listed = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    if let Some(missing) = check_sums(sums, listed)?.first() {
        return Err(Error::Unlisted(missing.clone()));
    }
    let pairs = subjects().map_err(|error| Error::Malformed {
        document: "the references".to_owned(),
        problem: error.to_string(),
    })?;
    if let Some((_, whole, _)) =
        pairs.iter().find(|(name, ..)| !files.iter().any(|(file, _)| file == name))
    {
        return Err(Error::Unlisted(whole.name.to_owned()));
    }
    files
        .iter()
        .map(|(name, bytes)| {
            let found = pairs.iter().find(|(known, ..)| known == name);
            let (_, whole, small) = found.ok_or_else(|| Error::UnknownAlgorithm {
                document: name.clone(),
                algorithm: "a circuit".to_owned(),
            })?;
            Ok(check_file(name, bytes, whole, small, rng))
        })
        .collect()
}

fn check_file(
    name: &str,
    bytes: &[u8],
    whole: &Subject,
    small: &Subject,
    rng: &mut Randomness,
) -> Row {
    let start = Instant::now();
    let mut row = Row {
        file: name.to_owned(),
        ands: 0,
        random: 0,
        exhaustive: 0,
        time: Duration::ZERO,
        failure: None,
    };
    row.failure = examine(bytes, whole, small, &mut row, rng).err();
    row.time = start.elapsed();
    row
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
    // Last, so that a circuit that computes something else is explained by what it computes.
    if bristol::write(&whole.circuit).ok().as_deref() != Some(text) {
        return Err("expected the bytes that this version builds, got others".to_owned());
    }
    Ok(())
}

/// Compares a circuit with the function of a subject, 64 inputs at a time; how many of them mean
/// something, or the first that differs.
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
                let number: BigUint = number_of_bits(now);
                format!("{number:x}")
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

    fn directory() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("circuits")
    }

    #[test]
    fn every_circuit_computes_its_function_and_the_built_in_copy_is_the_same() {
        let rows = run(&directory(), &mut Randomness::from_os().unwrap()).unwrap();
        assert_eq!(rows.len(), BUILT_IN.len());
        for row in rows {
            assert_eq!(row.failure, None, "{}", row.file);
            // Few inputs are without meaning, or the trials show little.
            assert!(row.random > TRIALS / 2, "{}: {} trials", row.file, row.random);
            assert!(row.exhaustive >= 64, "{}: {} inputs", row.file, row.exhaustive);
        }
        for (name, text) in BUILT_IN {
            assert_eq!(std::fs::read_to_string(directory().join(name)).unwrap(), *text);
        }
        assert_eq!(std::fs::read_to_string(directory().join(SUMS)).unwrap(), BUILT_IN_SUMS);
    }

    #[test]
    fn a_gate_of_another_kind_is_found_by_what_it_computes() {
        let mut rng = Randomness::seeded(1);
        let pairs = subjects().unwrap();
        for (name, whole, small) in &pairs {
            let text = std::fs::read_to_string(directory().join(name)).unwrap();
            let (before, after) = text.rsplit_once(" XOR").unwrap();
            let changed = format!("{before} AND{after}");
            let row = check_file(name, changed.as_bytes(), whole, small, &mut rng);
            let failure = row.failure.unwrap();
            assert!(failure.contains("for inputs"), "{name}: {failure}");
        }
    }
}
