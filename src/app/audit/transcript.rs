//! `diptych audit --transcript`: whether two recorded runs look the same from outside.
//!
//! `diptych run --record` keeps direction, kind and length of every message. Two runs with other
//! private inputs, but equal in all that SECURITY.md says lengths depend on, must have the same list: what
//! can be counted on the network then says nothing else about the inputs.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Error;
use crate::app::console::Console;
use crate::publish::artefacts::MANIFEST;

const HEADER: &str = "direction,kind,bytes";
/// Where a release's directory keeps them.
const PLACES: [&str; 2] = ["private/messages.csv", "messages.csv"];
/// A record of ten million messages.
const MOST_BYTES: u64 = 256 << 20;
/// A kind has four bytes, of which escaping makes up to sixteen characters.
const LONGEST_KIND: usize = 16;

/// One message as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// `sent`, or received.
    pub sent: bool,
    /// Its kind, as written.
    pub kind: String,
    /// Its length.
    pub bytes: u64,
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.sent { "sent" } else { "received" };
        write!(f, "{direction} {} of {} bytes", self.kind, self.bytes)
    }
}

/// The first message that differs; `None` where a run had already ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Line of the files, the header being line 1.
    pub line: usize,
    /// The message of the first run and that of the second.
    pub messages: [Option<Recorded>; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.messages.each_ref().map(|message| match message {
            Some(message) => message.to_string(),
            None => "no message: the run had ended".to_owned(),
        });
        write!(f, "line {}: {first} in the first run, {second} in the second", self.line)
    }
}

/// Runs the verb for two runs: each a release's directory, or the file itself.
///
/// # Errors
/// If a file cannot be read (wrong input), or the shapes differ (failed).
pub fn run(first: &Path, second: &Path, console: &Console) -> Result<(), Error> {
    let records = [read(first)?, read(second)?];
    let Some(difference) = first_difference(&records[0], &records[1]) else {
        console.result(format!("equal shapes: {} messages in both runs", records[0].len()));
        return Ok(());
    };
    console.result(&difference);
    let lengths = format!("{} and {} messages", records[0].len(), records[1].len());
    let failure = Error::internal(format!("the two runs ({lengths}) have different shapes"));
    let known = known_differences(first, second);
    Err(if known.is_empty() {
        failure.advise(
            "SECURITY.md lists what lengths of messages tell (agreement, numbers of records, earlier runs, \
             released tree, and without ε more); if all of that was equal, report it",
        )
    } else {
        failure.advise(format!(
            "the runs also differ in what both parties know ({}); compare runs in which that is \
             equal",
            known.join(", ")
        ))
    })
}

/// The first place where two records differ.
pub fn first_difference(first: &[Recorded], second: &[Recorded]) -> Option<Difference> {
    let place = (0..first.len().max(second.len())).find(|i| first.get(*i) != second.get(*i))?;
    let messages = [first.get(place).cloned(), second.get(place).cloned()];
    Some(Difference { line: place + 2, messages })
}

/// Reads a record.
///
/// # Errors
/// The number of the first bad line, counted from 1, and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Recorded>, (usize, &'static str)> {
    let mut lines = text.lines().zip(1..);
    if lines.next().map(|(line, _)| line) != Some(HEADER) {
        return Err((1, "expected the header direction,kind,bytes"));
    }
    lines.map(|(line, number)| parse_line(line).map_err(|wrong| (number, wrong))).collect()
}

fn parse_line(line: &str) -> Result<Recorded, &'static str> {
    let (direction, rest) = line.split_once(',').ok_or("expected three fields")?;
    // A kind may itself have a comma; a length has none.
    let (kind, bytes) = rest.rsplit_once(',').ok_or("expected three fields")?;
    let sent = match direction {
        "sent" => true,
        "received" => false,
        _ => return Err("expected the direction sent or received"),
    };
    let printable = kind.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if kind.is_empty() || kind.len() > LONGEST_KIND || !printable {
        return Err("expected a kind of message");
    }
    let number = bytes.parse().ok().filter(|number: &u64| number.to_string() == bytes);
    let bytes = number.ok_or("expected a length in bytes")?;
    Ok(Recorded { sent, kind: kind.to_owned(), bytes })
}

fn read(place: &Path) -> Result<Vec<Recorded>, Error> {
    let path = if place.is_dir() {
        let mut paths = PLACES.iter().map(|inside| place.join(inside));
        paths.find(|path| path.is_file()).ok_or_else(|| {
            Error::input(format!("{} has no record of messages", place.display()))
                .advise("record it with `diptych run --record`")
        })?
    } else {
        place.to_owned()
    };
    let bytes = read_some(&path, MOST_BYTES)?;
    let wrong = |line: usize, what: &str| {
        Error::input(format!("{}: line {line}: {what}", path.display()))
            .advise("give the directory of a release, or its private/messages.csv")
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        wrong(1 + good.iter().filter(|byte| **byte == b'\n').count(), "is not text")
    })?;
    parse(&text).map_err(|(line, what)| wrong(line, what))
}

fn read_some(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let unreadable = |error: std::io::Error| Error::file(path, "read", &error);
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Error::input(format!("{} is not a file", path.display())));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(Error::input(format!("{} is larger than any record", path.display())));
    }
    Ok(bytes)
}

/// What both parties know of the two runs and is not equal, as far as the directories show.
fn known_differences(first: &Path, second: &Path) -> Vec<&'static str> {
    let page = |directory: &Path, file: &str| -> Option<Value> {
        let path: PathBuf = directory.join(file);
        serde_json::from_slice(&read_some(&path, MOST_BYTES).ok()?).ok()
    };
    let facts = [
        (MANIFEST, "/agreement", "the agreements"),
        (MANIFEST, "/cuts", "the specializations made"),
        (MANIFEST, "/release/rows", "the rows of the releases"),
        ("private/costs.json", "/party", "the parties that recorded them"),
        ("private/costs.json", "/records", "the numbers of records"),
        ("private/costs.json", "/common_records", "the numbers of common records"),
    ];
    let differs = |(file, pointer, name): (&str, &str, &'static str)| {
        let (first, second) = (page(first, file)?, page(second, file)?);
        (first.pointer(pointer) != second.pointer(pointer)).then_some(name)
    };
    let mut known: Vec<&str> = facts.into_iter().filter_map(differs).collect();
    let notes = [first, second].map(|run| read_some(&run.join("private/how.txt"), MOST_BYTES).ok());
    if notes[0] != notes[1] {
        known.push("what was examined or taken out, see private/how.txt");
    }
    known
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RECORD: &str =
        "direction,kind,bytes\nsent,psi0,8\nreceived,a,b\\\",40\nsent,ytab,131072\n";

    fn said(first: &[u8], second: &[u8]) -> Option<Error> {
        let place = tempfile::tempdir().unwrap();
        let paths = [("one.csv", first), ("two.csv", second)].map(|(name, bytes)| {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        });
        run(&paths[0], &paths[1], &Console::silent()).err()
    }

    #[test]
    fn equal_records_pass_and_the_first_difference_is_named() {
        assert!(said(RECORD.as_bytes(), RECORD.as_bytes()).is_none());
        let changed = RECORD.replace("131072", "131056");
        let failure = said(RECORD.as_bytes(), changed.as_bytes()).unwrap();
        assert_eq!(failure.status(), crate::error::Status::Failed);
        let [first, second] = [RECORD, &changed].map(|text| parse(text).unwrap());
        let difference = first_difference(&first, &second).unwrap().to_string();
        assert_eq!(
            difference,
            "line 4: sent ytab of 131072 bytes in the first run, sent ytab of 131056 bytes in the \
             second"
        );
        let shorter = first_difference(&first[..2], &first).unwrap();
        assert_eq!((shorter.line, &shorter.messages[0]), (4, &None));
    }

    #[test]
    fn runs_that_differ_in_what_both_know_are_told_apart_from_leaks() {
        let place = tempfile::tempdir().unwrap();
        let directories = ["one", "two"].map(|name| {
            let private = place.path().join(name).join("private");
            std::fs::create_dir_all(&private).unwrap();
            let record = if name == "one" { RECORD } else { HEADER };
            std::fs::write(private.join("messages.csv"), record).unwrap();
            let records = if name == "one" { 7 } else { 8 };
            std::fs::write(private.join("costs.json"), format!("{{\"records\": {records}}}"))
                .unwrap();
            place.path().join(name)
        });
        let failure = run(&directories[0], &directories[1], &Console::silent()).unwrap_err();
        assert!(failure.advice().unwrap().contains("(the numbers of records)"));
        // The same release of a model without ε, but another value was refused on the way.
        for (directory, note) in directories.iter().zip(["sex: All stays\n", "job: Any stays\n"]) {
            std::fs::write(directory.join("private/costs.json"), "{}").unwrap();
            std::fs::write(directory.join("private/how.txt"), note).unwrap();
        }
        let failure = run(&directories[0], &directories[1], &Console::silent()).unwrap_err();
        assert!(failure.advice().unwrap().contains("(what was examined or taken out"));
        assert!(run(&directories[0], &directories[0], &Console::silent()).is_ok());
        let nothing = run(place.path(), &directories[0], &Console::silent()).unwrap_err();
        assert!(nothing.advice().unwrap().contains("--record"));
    }

    #[test]
    fn a_malformed_line_is_named() {
        for (line, problem) in [
            ("sent,ytab", "three fields"),
            ("sent", "three fields"),
            ("lost,ytab,1", "direction"),
            ("sent,,1", "kind"),
            ("sent,ytab,01", "length"),
            ("sent,ytab,-1", "length"),
            ("sent,ytab,18446744073709551616", "length"),
        ] {
            let (at, what) = parse(&format!("{HEADER}\nsent,ysed,16\n{line}\n")).unwrap_err();
            assert_eq!(at, 3);
            assert!(what.contains(problem), "{line}: {what}");
        }
        assert_eq!(parse("").unwrap_err().0, 1);
        let failure = said(b"direction,kind,bytes\nsent,\xff,1\n", b"").unwrap();
        assert!(failure.message().contains("line 2: is not text"), "{}", failure.message());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn garbage_is_refused_or_read_and_never_more(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            place in 0usize..80,
            change in any::<u8>(),
        ) {
            // What is wrong with a file is wrong input; only good files can differ.
            let wrong = |failure: &Error| failure.status() == crate::error::Status::WrongInput;
            prop_assert!(said(&bytes, &bytes).is_some_and(|failure| wrong(&failure)));
            let mut changed = RECORD.as_bytes().to_vec();
            let place = place % changed.len();
            changed[place] ^= change;
            let outcome = said(RECORD.as_bytes(), &changed);
            prop_assert_eq!(change == 0, outcome.is_none());
            prop_assert!(said(&changed, &changed).is_none() || outcome.is_some_and(|f| wrong(&f)));
        }
    }
}
