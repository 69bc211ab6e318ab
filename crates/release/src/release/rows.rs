//! A release as a table of people: one row for each person that its counts represent.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufWriter, Write};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::table::{Candidate, CutValue, Cuts, Domain, is_formula};

/// Writes the rows of a release's table as CSV, with its header, and returns how many there are: with the
/// values of the release, or with concrete ones. `kept` says of each attribute whether it is written, and
/// `classes` whether a class stands behind them, before the count; what is drawn for the others does not depend on it. If `spreadsheet_safe`, an
/// apostrophe is put before every cell that a spreadsheet would run.
///
/// # Errors
/// Wrong input if the table is not one of a release with these columns; if `to` takes no more.
pub fn write(
    csv: &[u8],
    kept: &[bool],
    classes: bool,
    mut drawn: Option<&mut Drawn<'_>>,
    spreadsheet_safe: bool,
    to: &mut dyn Write,
) -> Result<u64, Error> {
    let columns = kept.len();
    let cells = columns + usize::from(classes);
    let wrong = |what: &str| Error::input(what);
    let failed =
        |error: &dyn std::fmt::Display| Error::internal(format!("cannot write rows: {error}"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv);
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .from_writer(BufWriter::with_capacity(1 << 16, to));
    let (mut record, mut rows, mut first) = (csv::StringRecord::new(), 0u64, true);
    while reader.read_record(&mut record).map_err(|error| wrong(&error.to_string()))? {
        if record.len() != cells + 1 {
            return Err(wrong("a row has not the agreement's columns"));
        }
        let count = match first {
            true => 1,
            false => record[cells].parse().map_err(|_| wrong("a count is not one"))?,
        };
        for _ in 0..count {
            for (column, cell) in record.iter().take(cells).enumerate() {
                let mut cell = Cow::Borrowed(cell);
                if let Some(drawn) = drawn.as_mut().filter(|_| !first && column < columns) {
                    let value = drawn.value(column, &cell);
                    cell = Cow::Owned(value.ok_or_else(|| wrong("a value is not on the cut"))?);
                }
                if kept.get(column) == Some(&false) {
                    continue;
                }
                if spreadsheet_safe && is_formula(&cell) {
                    cell.to_mut().insert(0, '\'');
                }
                writer.write_field(cell.as_bytes()).map_err(|error| failed(&error))?;
            }
            writer.write_record(None::<&[u8]>).map_err(|error| failed(&error))?;
        }
        rows += if first { 0 } else { count };
        first = false;
    }
    writer.flush().map_err(|error| failed(&error))?;
    Ok(rows)
}

/// Concrete values for those of a release, drawn evenly among those that each stands for.
pub struct Drawn<'c> {
    cuts: &'c Cuts,
    by_name: Vec<HashMap<String, CutValue>>,
    draws: Draws,
}

impl<'c> Drawn<'c> {
    /// Draws by this seed.
    pub fn new(cuts: &'c Cuts, seed: [u8; 32]) -> Self {
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
                let leaf = self.draws.below(u64::from(leaves.end - leaves.start));
                let leaf = leaves.start as usize + leaf as usize;
                Some(taxonomy.name(*taxonomy.leaves().get(leaf)?).to_owned())
            }
            (Domain::Numeric(range), CutValue::Interval { start, end }) => {
                Some(range.draw(start..end, |count| self.draws.below(count)))
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
    fn below(&mut self, count: u64) -> u64 {
        let count = count.max(1);
        // Words above the last multiple would favour small numbers.
        let fair = u64::MAX - u64::MAX % count;
        loop {
            let word = self.word();
            if word < fair {
                return word % count;
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
