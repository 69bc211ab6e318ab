//! A release as a table of people: one row for each person that its counts stand for.
//!
//! Values are those of the release, or concrete ones, drawn evenly among those that a value of the
//! release stands for. Both see nothing but the release, so they cost no privacy; and concrete rows
//! tell no more than general ones, however precise they look.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::math::{Randomness, hex};
use crate::publish::artefacts::RELEASE;
use crate::publish::failure::Failure;
use crate::publish::files::move_without_replacing;
use crate::publish::released::Released;
use crate::publish::verify;
use crate::table::{Candidate, CutValue, Cuts, Domain};

/// Which values the rows have.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Those of the release.
    Generalized,
    /// Drawn inside them; by the seed in this file, or by a new one that is written beside the rows.
    Concrete(Option<&'a Path>),
}

/// The rows of a release that verifies, as a CSV file would have them: with the values of the release, or
/// concrete ones by this seed.
///
/// # Errors
/// If the release does not verify, or a file cannot be read.
pub fn to_csv(directory: &Path, seed: Option<[u8; 32]>) -> Result<Vec<u8>, Failure> {
    verify::check(directory)?;
    let released = Released::open(directory)?;
    refuse_concrete_paths(&released, seed.is_some())?;
    let cuts = released.cuts()?;
    let mut csv = Vec::new();
    write_rows(&released, &mut seed.map(|seed| Drawn::new(&cuts, seed)), &mut csv)?;
    Ok(csv)
}

fn refuse_concrete_paths(released: &Released, concrete: bool) -> Result<(), Failure> {
    if released.schema.attributes.is_empty() && concrete {
        return Err(Failure::wrong_input("paths are concrete: they hold no coarser values")
            .advise("leave out --concrete for a row for each person"));
    }
    Ok(())
}

/// Writes the rows of a release that verifies to a new file. Returns how many there are, and what must
/// be told with them.
///
/// # Errors
/// If the release does not verify, or a file cannot be read or written or is there already.
pub fn write(
    directory: &Path,
    out: &Path,
    values: Values<'_>,
) -> Result<(u64, Option<String>), Failure> {
    let (_, lines) = verify::check(directory)?;
    let released = Released::open(directory)?;
    refuse_concrete_paths(&released, matches!(values, Values::Concrete(_)))?;
    refuse_to_overwrite(out)?;
    let cuts = released.cuts()?;
    let mut drawn = match values {
        Values::Generalized => None,
        Values::Concrete(seed) => Some(Drawn::new(&cuts, read_or_make(seed, out)?)),
    };
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let part = out.with_file_name(format!(".{name}.part"));
    let _ = fs::remove_file(&part);
    let failed = |error: io::Error| Failure::file(out, "write", &error);
    let file = OpenOptions::new().write(true).create_new(true).open(&part).map_err(failed)?;
    let written = write_rows(&released, &mut drawn, &file).and_then(|count| {
        file.sync_all().map_err(failed)?;
        match move_without_replacing(&part, out) {
            Ok(()) => Ok(count),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(out)),
            Err(error) => Err(failed(error)),
        }
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    Ok((written?, verify::warning(&lines).map(str::to_owned)))
}

fn write_rows(
    released: &Released,
    drawn: &mut Option<Drawn<'_>>,
    to: impl Write,
) -> Result<u64, Failure> {
    let place = released.directory.join(RELEASE);
    let wrong = |what: &str| Failure::failed(format!("{}: {what}", place.display()));
    let failed =
        |error: &dyn std::fmt::Display| Failure::failed(format!("cannot write rows: {error}"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&released.csv[..]);
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .from_writer(BufWriter::with_capacity(1 << 16, to));
    let attributes = released.agreement.columns().len();
    let (mut record, mut rows, mut first) = (csv::StringRecord::new(), 0u64, true);
    while reader.read_record(&mut record).map_err(|error| wrong(&error.to_string()))? {
        if record.len() != attributes + 2 {
            return Err(wrong("a row has not the agreement's columns"));
        }
        let count = match first {
            true => 1,
            false => record[attributes + 1].parse().map_err(|_| wrong("a count is not one"))?,
        };
        for _ in 0..count {
            match drawn {
                Some(drawn) if !first => {
                    for attribute in 0..attributes {
                        let value = drawn.value(attribute, &record[attribute]);
                        let value = value.ok_or_else(|| wrong("a value is not on the cut"))?;
                        writer.write_field(value).map_err(|error| failed(&error))?;
                    }
                    writer.write_field(&record[attributes]).map_err(|error| failed(&error))?;
                    writer.write_record(None::<&[u8]>).map_err(|error| failed(&error))?;
                }
                _ => writer
                    .write_record(record.iter().take(attributes + 1))
                    .map_err(|error| failed(&error))?,
            }
        }
        rows += if first { 0 } else { count };
        first = false;
    }
    writer.flush().map_err(|error| failed(&error))?;
    Ok(rows)
}

fn refuse_to_overwrite(out: &Path) -> Result<(), Failure> {
    if out.symlink_metadata().is_ok() { Err(exists(out)) } else { Ok(()) }
}

fn exists(path: &Path) -> Failure {
    Failure::wrong_input(format!("{} exists already", path.display()))
        .advise("name another file with --out")
}

/// Where the seed of drawn rows lies.
pub fn seed_file(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".seed");
    PathBuf::from(name)
}

fn read_or_make(seed: Option<&Path>, out: &Path) -> Result<[u8; 32], Failure> {
    if let Some(path) = seed {
        let text = fs::read_to_string(path).map_err(|error| Failure::file(path, "read", &error))?;
        return hex::decode_array(text.trim()).ok_or_else(|| {
            Failure::wrong_input(format!("{} is not a seed", path.display()))
                .advise("use the file that lies beside rows that were drawn, or leave out --seed")
        });
    }
    let seed: [u8; 32] = Randomness::from_os()?.array();
    let path = seed_file(out);
    refuse_to_overwrite(&path)?;
    fs::write(&path, hex::encode(seed) + "\n")
        .map_err(|error| Failure::file(&path, "write", &error))?;
    Ok(seed)
}

/// Concrete values for those of a release.
struct Drawn<'c> {
    cuts: &'c Cuts,
    by_name: Vec<HashMap<String, CutValue>>,
    draws: Draws,
}

impl<'c> Drawn<'c> {
    fn new(cuts: &'c Cuts, seed: [u8; 32]) -> Self {
        let names = |attribute: usize| {
            let on_cut = cuts.of(attribute).iter();
            on_cut
                .map(|value| (cuts.name(Candidate { attribute, value: *value }), *value))
                .collect()
        };
        let by_name = (0..cuts.schema().attributes.len()).map(names).collect();
        Self { cuts, by_name, draws: Draws::new(seed) }
    }

    fn value(&mut self, attribute: usize, name: &str) -> Option<String> {
        let values: Vec<CutValue> = match self.cuts.schema().attributes[attribute].domain {
            Domain::Set(_) if name.is_empty() => Vec::new(),
            Domain::Set(_) => name
                .split('|')
                .map(|item| self.by_name[attribute].get(item).copied())
                .collect::<Option<_>>()?,
            _ => vec![*self.by_name[attribute].get(name)?],
        };
        let drawn: Vec<String> =
            values.into_iter().map(|value| self.inside(attribute, value)).collect::<Option<_>>()?;
        Some(drawn.join("|"))
    }

    fn inside(&mut self, attribute: usize, value: CutValue) -> Option<String> {
        match (&self.cuts.schema().attributes[attribute].domain, value) {
            (Domain::Categorical(taxonomy) | Domain::Set(taxonomy), CutValue::Value(value)) => {
                let leaves = taxonomy.leaf_range(value);
                let leaf = leaves.start + self.draws.below(leaves.end - leaves.start);
                Some(taxonomy.name(*taxonomy.leaves().get(leaf as usize)?).to_owned())
            }
            (Domain::Numeric(range), CutValue::Interval { start, end }) => {
                Some(range.point(start + self.draws.below(end - start)).to_string())
            }
            _ => None,
        }
    }
}

/// Even draws from a seed, the same wherever and whenever they are made: SHA-256 of the seed and a
/// counter.
struct Draws {
    seed: [u8; 32],
    block: [u8; 32],
    used: usize,
    counter: u64,
}

impl Draws {
    fn new(seed: [u8; 32]) -> Self {
        Self { seed, block: [0; 32], used: 32, counter: 0 }
    }

    fn word(&mut self) -> u64 {
        if self.used == self.block.len() {
            let text = [&self.seed[..], &self.counter.to_le_bytes()].concat();
            (self.block, self.used) = (Sha256::digest(text).into(), 0);
            self.counter += 1;
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.block[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(word)
    }

    /// A number below `count`, each as likely; 0 if there is none.
    fn below(&mut self, count: u32) -> u32 {
        let count = u64::from(count.max(1));
        // Words above the last multiple would favour small numbers.
        let fair = u64::MAX - u64::MAX % count;
        loop {
            let word = self.word();
            if word < fair {
                return (word % count) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_the_same_for_a_seed() {
        let (mut one, mut two) = (Draws::new([7; 32]), Draws::new([7; 32]));
        let mut found = [0u32; 5];
        for _ in 0..10_000 {
            let drawn = one.below(5);
            assert_eq!(drawn, two.below(5));
            found[drawn as usize] += 1;
        }
        // Five deviations of a binomial with n = 10,000 and p = 1/5.
        assert!(found.iter().all(|count| count.abs_diff(2_000) < 200), "{found:?}");
        assert_ne!(Draws::new([8; 32]).word(), Draws::new([7; 32]).word());
        assert_eq!(Draws::new([0; 32]).below(1), 0);
    }
}
