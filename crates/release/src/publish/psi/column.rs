//! The identifiers of a CSV file, and its rows again when some of them are needed.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};

use csv::{Position, Reader, ReaderBuilder, StringRecord};

use crate::Error;
use crate::table::Dialect;
use crate::table::identifiers::{Normalization, by_line};

/// One column of a file, normalised and free of duplicates. Of every row only
/// the identifier and the place in the file are kept.
pub struct IdentifierColumn {
    path: PathBuf,
    recognized: Option<String>,
    header: StringRecord,
    index: usize,
    rule: Normalization,
    identifiers: Vec<String>,
    places: Vec<Position>,
}

impl IdentifierColumn {
    /// Reads the column of this name.
    ///
    /// # Errors
    /// A file that cannot be read, without such a column, or with identifiers that the rule
    /// rejects.
    pub fn read(path: &Path, column: &str, rule: &Normalization) -> Result<Self, Error> {
        let (mut reader, recognized) = open(path)?;
        let header = reader.headers().map_err(|error| unreadable(path, &error))?.clone();
        let index = find_column(path, &header, column)?;
        let (mut raw, mut places) = (Vec::new(), Vec::new());
        let mut record = StringRecord::new();
        loop {
            let place = reader.position().clone();
            if !reader.read_record(&mut record).map_err(|error| unreadable(path, &error))? {
                break;
            }
            raw.push(record.get(index).unwrap_or_default().to_owned());
            places.push(place);
        }
        let identifiers = rule.column(&raw).map_err(|error| {
            let error = by_line(&error, "line", &|row| places.get(row).map(Position::line));
            Error::input(format!("{}, column '{column}': {error}", path.display()))
        })?;
        let path = path.to_owned();
        Ok(Self { path, recognized, header, index, rule: rule.clone(), identifiers, places })
    }

    /// What the first line shows of the file's dialect, unless it is the usual one.
    pub fn recognized(&self) -> Option<&str> {
        self.recognized.as_deref()
    }

    /// The identifiers, normalised, one for each row.
    pub fn identifiers(&self) -> &[String] {
        &self.identifiers
    }

    /// Writes the header and the rows named, in that order.
    ///
    /// # Errors
    /// If they cannot be written, or the file has changed.
    pub fn copy_rows(&self, rows: &[usize], to: &mut dyn Write) -> Result<(), Error> {
        let failed = |error: csv::Error| Error::internal(format!("cannot write rows: {error}"));
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(&self.header).map_err(failed)?;
        let (mut reader, _) = open(&self.path)?;
        let mut record = StringRecord::new();
        for row in rows {
            reader
                .seek(self.places[*row].clone())
                .and_then(|()| reader.read_record(&mut record))
                .map_err(|error| unreadable(&self.path, &error))?;
            let identifier = self.rule.apply(record.get(self.index).unwrap_or_default());
            if identifier != self.identifiers[*row] {
                return Err(Error::internal(format!(
                    "{} has changed while the run went on",
                    self.path.display()
                ))
                .advise("start again, and leave the file alone until the end"));
            }
            writer.write_record(&record).map_err(failed)?;
        }
        writer.flush().map_err(|error| Error::internal(format!("cannot write rows: {error}")))
    }
}

fn open(path: &Path) -> Result<(Reader<BufReader<File>>, Option<String>), Error> {
    let failed = |error: std::io::Error| Error::file(path, "read", &error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut delimiter, mut recognized) = (b',', None);
    // A pipe could not be read again.
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let (dialect, words, _) = Dialect::recognized().look(&mut file).map_err(failed)?;
        (delimiter, recognized) = (dialect.delimiter, words);
        file.rewind().map_err(failed)?;
    }
    let reader = ReaderBuilder::new().delimiter(delimiter).from_reader(BufReader::new(file));
    Ok((reader, recognized))
}

fn find_column(path: &Path, header: &StringRecord, column: &str) -> Result<usize, Error> {
    let mut found = header.iter().enumerate().filter(|(_, name)| name.trim() == column.trim());
    match (found.next(), found.next()) {
        (Some((index, _)), None) => Ok(index),
        (Some(_), Some(_)) => Err(Error::input(format!(
            "{}, line 1: two columns are called '{column}'",
            path.display()
        ))
        .advise("rename one of them")),
        (None, _) => {
            let names: Vec<&str> = header.iter().collect();
            Err(Error::input(format!("{}, line 1: there is no column '{column}'", path.display()))
                .advise(format!("the columns are: {}", names.join(", "))))
        }
    }
}

/// What is wrong with the file and in which line; never its contents.
fn unreadable(path: &Path, error: &csv::Error) -> Error {
    let line = error.position().map_or(String::new(), |place| format!(", line {}", place.line()));
    let problem = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8; convert the file".to_owned(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields where the header has {expected_len}")
        }
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => "not readable as CSV".to_owned(),
    };
    Error::input(format!("{}{line}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unwrap_in_result, reason = "what may fail is the reading alone")]
    fn read(content: &str, column: &str) -> Result<IdentifierColumn, Error> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("table.csv");
        std::fs::write(&path, content).unwrap();
        let rule = Normalization::parse(["trim", "uppercase"]).unwrap();
        let column = IdentifierColumn::read(&path, column, &rule)?;
        let mut copied = Vec::new();
        column.copy_rows(&(0..column.identifiers.len()).rev().collect::<Vec<_>>(), &mut copied)?;
        let mut expected: Vec<&str> = content.trim_start_matches('\u{feff}').lines().collect();
        expected[1..].reverse();
        assert_eq!(String::from_utf8(copied).unwrap(), expected.join("\n") + "\n");
        Ok(column)
    }

    #[test]
    fn identifiers_are_read_and_rows_copied_in_any_order() {
        let column = read("id,job\n a1,x\nb2 ,\"y, z\"\nc3,\n", "id").unwrap();
        assert_eq!(column.identifiers(), ["A1", "B2", "C3"]);
        let column = read("id,job\n", "id").unwrap();
        assert!(column.identifiers().is_empty());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_column() {
        assert_eq!(read("\u{feff}id,job\na,x\n", "id").unwrap().identifiers(), ["A"]);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said_with_file_and_line() {
        let message = |content, column| read(content, column).err().unwrap().message().to_owned();
        assert!(message("id,job\na,x\n", "ssn").ends_with("line 1: there is no column 'ssn'"));
        assert!(message("id,id\na,x\n", "id").ends_with("two columns are called 'id'"));
        assert!(
            message("id,job\na,x\nb\n", "id").ends_with("line 3: 1 fields where the header has 2")
        );
        assert!(message("id,job\na,x\nA,y\n", "id").contains("lines 2 and 3"));
        let both = message("id,job\na,x\n,z\nA,y\n", "id");
        assert!(both.contains(": line 3; ") && both.contains(": lines 2 and 4; "), "{both}");
    }

    #[test]
    fn a_file_that_changes_during_the_run_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("table.csv");
        std::fs::write(&path, "id\na\nb\n").unwrap();
        let column = IdentifierColumn::read(&path, "id", &Normalization::default()).unwrap();
        std::fs::write(&path, "id\nb\na\n").unwrap();
        let failure = column.copy_rows(&[0], &mut Vec::new()).unwrap_err();
        assert!(failure.message().contains("has changed"));
    }
}
