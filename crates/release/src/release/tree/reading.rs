//! How a release is read again: what [`super::output`] writes under an agreement, and nothing else.
//!
//! Every cell is looked at: values are on the cuts, or paths as they are written, classes are agreed and
//! counts are whole numbers in digits. Rows are in their one order, so that none comes twice; where
//! the model releases all combinations of the cuts, none is missing either.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Read, Write};

use super::output::{most_bytes_of_rows, writer};
use crate::agreement::{Agreement, Model};
use crate::release::trajectory::read::read_spelt;
use crate::table::{Candidate, Cuts, Domain};

/// More bytes than any path with its class and count has: 4,096 pairs, and names of 256 bytes.
const LONGEST_PATH: u64 = 4 << 20;
/// Characters of a cell that a message shows.
const SHOWN: usize = 40;

/// What a release adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Its rows, without the header.
    pub rows: u64,
    /// The people that they count.
    pub people: u64,
}

/// Reads the table of a release with these cuts, and writes it to `again` as releases are written: the
/// same bytes, unless somebody else wrote `source`. No more than one row is held in memory.
///
/// # Errors
/// What no release of this agreement has, with its line.
pub fn check_csv(
    agreement: &Agreement,
    cuts: &Cuts,
    source: &mut dyn Read,
    again: &mut dyn Write,
) -> Result<Totals, String> {
    let longest = most_bytes_of_rows(cuts.schema(), 1).max(LONGEST_PATH);
    let source = Bounded { source, left: longest };
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(source);
    let mut again = writer(again);
    let class = &cuts.schema().class;
    let columns = agreement.columns();
    let wanted = columns.len() + class.name().iter().count() + 1;
    let mut order = match agreement.model {
        Model::Trajectory(_) => Order::Paths(Paths::default()),
        _ => Order::Leaves(Leaves::new(agreement, cuts)),
    };
    let (mut record, mut totals, mut is_header) =
        (csv::StringRecord::new(), Totals::default(), true);
    while reader.read_record(&mut record).map_err(|error| match error.kind() {
        csv::ErrorKind::Io(error) => {
            format!("line {}: {error}", totals.rows + 1 + u64::from(!is_header))
        }
        _ => error.to_string(),
    })? {
        reader.get_mut().left = longest;
        again.write_record(&record).map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let wrong = |what: String| format!("line {line}: {what}");
        if std::mem::take(&mut is_header) {
            let expected = columns.iter().copied().chain(class.name()).chain(["count"]);
            match record.iter().eq(expected) {
                true => continue,
                false => {
                    return Err(wrong("the columns are not those of the agreement".to_owned()));
                }
            }
        }
        if record.len() != wanted {
            let found = record.len();
            return Err(wrong(format!(
                "the row has {found} cells, and the table {wanted} columns"
            )));
        }
        let count = &record[wanted - 1];
        let label = if class.is_none() { "" } else { &record[wanted - 2] };
        let people = count_of(count).ok_or_else(|| {
            wrong(format!("{} is not a count: a whole number from 0, in digits", shown(count)))
        })?;
        let label = class.values.iter().position(|value| value == label).ok_or_else(|| {
            wrong(format!("{} is not an agreed value of `{}`", shown(label), class.column))
        })?;
        match &mut order {
            Order::Paths(paths) => paths.row(&record[0], label, people),
            Order::Leaves(leaves) => leaves.row(&record, label, people),
        }
        .map_err(wrong)?;
        totals.rows += 1;
        let people = totals.people.checked_add(people);
        totals.people = people.ok_or_else(|| wrong("the counts are too large".to_owned()))?;
    }
    again.flush().map_err(|error| error.to_string())?;
    match order {
        _ if is_header => Err("there is no first line with the columns".to_owned()),
        Order::Leaves(leaves) => leaves.end().map(|()| totals),
        Order::Paths(_) => Ok(totals),
    }
}

/// A source that has so many bytes left for the next row.
struct Bounded<'s> {
    source: &'s mut dyn Read,
    left: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 && !bytes.is_empty() {
            return Err(io::Error::other("the row is longer than any of this agreement"));
        }
        let read = self.source.read(&mut bytes[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// A count as it is written.
fn count_of(text: &str) -> Option<u64> {
    let padded = text.starts_with('+') || (text.len() > 1 && text.starts_with('0'));
    text.parse().ok().filter(|_| !padded)
}

fn shown(cell: &str) -> String {
    match cell.chars().nth(SHOWN) {
        None => format!("`{cell}`"),
        Some(_) => format!("`{}…`", cell.chars().take(SHOWN).collect::<String>()),
    }
}

/// What the next row is compared with.
enum Order<'c> {
    Leaves(Leaves<'c>),
    Paths(Paths),
}

const NOT_IN_ORDER: &str = "the row comes twice, or is not where a release has it";

/// Leaves, each with a row for every class.
struct Leaves<'c> {
    cuts: &'c Cuts,
    /// Per attribute, the place of each value on its cut.
    places: Vec<HashMap<String, u32>>,
    /// Whether every combination of the cuts is there.
    all: bool,
    /// Whether a leaf may have nobody.
    empty: bool,
    /// Leaves that began, the classes and people that the last one has had, and its values.
    begun: u64,
    classes: usize,
    people: u64,
    last: Vec<u32>,
}

impl<'c> Leaves<'c> {
    fn new(agreement: &Agreement, cuts: &'c Cuts) -> Self {
        let attributes = &cuts.schema().attributes;
        let names = |attribute: usize| {
            let values = cuts.of(attribute).iter().zip(0..);
            values
                .map(|(value, place)| (cuts.name(Candidate { attribute, value: *value }), place))
                .collect()
        };
        let sets = attributes.iter().any(|one| matches!(one.domain, Domain::Set(_)));
        let groups = matches!(agreement.model, Model::Syntactic(_));
        Self {
            cuts,
            places: (0..attributes.len()).map(names).collect(),
            all: !sets && !groups,
            empty: !groups,
            begun: 0,
            classes: 0,
            people: 0,
            last: Vec::new(),
        }
    }

    fn row(&mut self, record: &csv::StringRecord, class: usize, people: u64) -> Result<(), String> {
        let values = self.values(record)?;
        if class != self.classes % self.number_of_classes() {
            return Err(NOT_IN_ORDER.to_owned());
        }
        if class > 0 {
            (self.classes, self.people) = (class + 1, self.people.saturating_add(people));
            let same = values == self.last;
            return if same { Ok(()) } else { Err(NOT_IN_ORDER.to_owned()) };
        }
        self.see_people()?;
        let follows = match self.all {
            true => self.number(&values) == self.begun,
            false => self.begun == 0 || self.last.cmp(&values) == Ordering::Less,
        };
        (self.begun, self.classes, self.people, self.last) = (self.begun + 1, 1, people, values);
        if follows { Ok(()) } else { Err(NOT_IN_ORDER.to_owned()) }
    }

    /// The places of a row's values on their cuts. Those of a set are written as it has them, and end
    /// with 0, so that rows compare as their sets do.
    fn values(&self, record: &csv::StringRecord) -> Result<Vec<u32>, String> {
        let mut values = Vec::with_capacity(self.last.len());
        for (attribute, (cell, places)) in record.iter().zip(&self.places).enumerate() {
            let name = &self.cuts.schema().attributes[attribute];
            let wrong = || format!("{} is not a value of `{}` on its cut", shown(cell), name.name);
            if !matches!(name.domain, Domain::Set(_)) {
                values.push(*places.get(cell).ok_or_else(wrong)?);
                continue;
            }
            let start = values.len();
            for item in cell.split('|') {
                let place = places.get(item).ok_or_else(wrong)? + 1;
                if values[start..].last().is_some_and(|last| *last >= place) {
                    return Err(wrong());
                }
                values.push(place);
            }
            values.push(0);
        }
        Ok(values)
    }

    /// The number of a leaf among all combinations.
    fn number(&self, values: &[u32]) -> u64 {
        values.iter().enumerate().fold(0, |number: u64, (attribute, value)| {
            let wide = self.cuts.of(attribute).len() as u64;
            number.saturating_mul(wide).saturating_add(u64::from(*value))
        })
    }

    fn see_people(&self) -> Result<(), String> {
        match self.begun > 0 && self.people == 0 && !self.empty {
            true => {
                Err("the rows before it count nobody: a release leaves such a group out".to_owned())
            }
            false => Ok(()),
        }
    }

    fn end(&self) -> Result<(), String> {
        self.see_people()?;
        let all = !self.all || self.begun == self.cuts.leaves();
        match all && self.classes.is_multiple_of(self.number_of_classes()) {
            true => Ok(()),
            false => Err("rows are missing at the end".to_owned()),
        }
    }

    fn number_of_classes(&self) -> usize {
        self.cuts.schema().class.values.len().max(1)
    }
}

/// Paths, each with a row for every class that somebody on it has.
#[derive(Default)]
struct Paths {
    last: Option<(Vec<(u64, String)>, usize)>,
}

impl Paths {
    fn row(&mut self, cell: &str, class: usize, people: u64) -> Result<(), String> {
        let path = read_spelt(cell)
            .ok_or_else(|| format!("{} is not a path as a release writes it", shown(cell)))?;
        if people == 0 {
            return Err("the row counts nobody: a release leaves such a path out".to_owned());
        }
        let next = Some((path, class));
        if self.last >= next {
            return Err(NOT_IN_ORDER.to_owned());
        }
        self.last = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGREEMENT: &str = "[release]\nid = \"x\"\npartition = \"local\"\nepsilon = \"1\"\n\
        specializations = 1\nmax_records = 9\n[class]\ncolumn = \"ill\"\nvalues = [\"yes\", \"no\"]\n\
        [[attribute]]\nname = \"place\"\nkind = \"categorical\"\ntaxonomy = { \"A, B\" = [\"A\", \"B\"] }\n";

    /// What reading finds, and whether the same bytes are written again.
    fn read(source: &mut dyn Read) -> (Result<Totals, String>, Vec<u8>) {
        let agreement =
            Agreement::parse("a", AGREEMENT.as_bytes(), &|_| Err("no files".to_owned())).unwrap();
        let mut again = Vec::new();
        let cuts = Cuts::topmost(&agreement.schema);
        (check_csv(&agreement, &cuts, source, &mut again), again)
    }

    #[test]
    fn rows_in_another_spelling_are_not_written_again_as_they_are() {
        let written = "place,ill,count\n\"A, B\",yes,3\n\"A, B\",no,4\n";
        for (text, same) in [
            (written.to_owned(), true),
            (written.replace('\n', "\r\n"), false),
            (format!("\u{feff}{written}"), false),
            (written.replace("yes", "\"yes\""), false),
            (written.trim_end().to_owned(), false),
        ] {
            let (found, again) = read(&mut text.as_bytes());
            assert_eq!(found, Ok(Totals { rows: 2, people: 7 }), "{text:?}");
            assert_eq!((again == text.as_bytes(), again == written.as_bytes()), (same, true));
        }
    }

    #[test]
    fn a_cell_without_end_is_refused_before_it_fills_the_memory() {
        for start in ["", "place,ill,count\n", "place,ill,count\n\"A, B\",yes,3\n"] {
            for byte in [b'a', b'\n'] {
                let mut endless = io::repeat(byte).take(1 << 30);
                let mut source = start.as_bytes().chain(&b"\""[..]).chain(&mut endless);
                let error = read(&mut source).0.unwrap_err();
                let line = format!("line {}: ", 1 + start.lines().count());
                assert_eq!(error, format!("{line}the row is longer than any of this agreement"));
                assert!(endless.limit() >= (1 << 30) - 2 * LONGEST_PATH, "{}", endless.limit());
            }
        }
    }
}
