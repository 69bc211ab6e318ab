//! The party file: what is private to one side of a release. TOML, read as strictly as the
//! agreement: an unknown key is an error, and every problem comes with its place and a remedy.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;
use crate::agreement::form::{Form, Section};
use crate::agreement::node::{self, Node, Value};
use crate::agreement::{Problems, Rule};
use crate::net::Limits;
use crate::privacy::Epsilon;
use crate::publish::data::{Origin, Source};
use crate::publish::meeting::Meeting;
use crate::role::Role;
use crate::table::{Dialect, Encoding};

/// The file's name in messages.
const TITLE: &str = "the party file";
/// Longest file that is read.
const MOST_BYTES: usize = 1 << 20;
const KEYS: &[&str] = &[
    "role",
    "data",
    "data_command",
    "data_seconds",
    "delimiter",
    "quote",
    "encoding",
    "identity",
    "passphrase_file",
    "listen",
    "connect",
    "ledger",
    "out",
    "cap",
    "cap_towards_peer",
    "data_set",
    "wait_seconds",
    "silence_seconds",
    "run_seconds",
];
const PASSPHRASE_REMEDY: &str = "name a file whose first line is the passphrase of the identity";
/// How long a party waits for its peer, unless the file says otherwise.
const WAIT_SECONDS: u64 = 600;
const DAY: i64 = 86_400;

/// One party's side of a release. Paths can be opened from the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Which of the agreement's parties this is.
    pub role: Role,
    /// The table.
    pub data: Source,
    /// The identity, as `diptych keygen` made it.
    pub identity: PathBuf,
    /// The file whose first line is the passphrase of the identity, if it has one and the user is
    /// not asked for it.
    pub passphrase_file: Option<PathBuf>,
    /// Where the two meet.
    pub meeting: Meeting,
    /// The ledger.
    pub ledger: PathBuf,
    /// Whether there is none yet and a run creates it: an option of the run, not of a file.
    pub new_ledger: bool,
    /// The output directory.
    pub out: PathBuf,
    /// The largest total ε that the data set may ever spend.
    pub cap: Epsilon,
    /// The largest sum of what its peers may ever learn in runs with it, if there is such.
    pub cap_towards_peer: Option<Epsilon>,
    /// The data set's name in the ledger.
    pub data_set: String,
    /// How long this side waits for the peer.
    pub limits: Limits,
    /// How long a run may take from meeting to end, if the file says so.
    pub run_limit: Option<Duration>,
}

impl Party {
    /// Reads a party file.
    ///
    /// # Errors
    /// If it cannot be read, or a list of everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::load_with(path, None)
    }

    /// Reads a party file; a table that is `given` is used in place of the one that the file names,
    /// and the file need not name one.
    ///
    /// # Errors
    /// As [`Party::load`].
    pub fn load_with(path: &Path, given: Option<Source>) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let metadata =
            std::fs::metadata(path).map_err(|error| Error::file(path, "read", &error))?;
        if !metadata.is_file() {
            return Err(Error::input(format!("{} is not a file", path.display())));
        }
        let file = File::open(path).map_err(|error| Error::file(path, "read", &error))?;
        let trusted = file.metadata().map(|metadata| is_ours_alone(&metadata));
        file.take(MOST_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::file(path, "read", &error))?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let party = Self::parse_with(&path.display().to_string(), &bytes, beside, given)?;
        // Anyone who can write the file could run any command as this user.
        if matches!(party.data.from, Origin::Command { .. }) && !trusted.unwrap_or(false) {
            let shown = path.display();
            return Err(Error::input(format!(
                "{shown} has a `data_command`, and others may write the file: it is not run"
            ))
            .advise(format!("own the file yourself, and: chmod go-w {shown}")));
        }
        Ok(party)
    }

    /// Reads a party file from bytes; paths in it are relative to `beside`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(name: &str, bytes: &[u8], beside: &Path) -> Result<Self, Problems> {
        Self::parse_with(name, bytes, beside, None)
    }

    /// The same with a table as in [`Party::load_with`].
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse_with(
        name: &str,
        bytes: &[u8],
        beside: &Path,
        given: Option<Source>,
    ) -> Result<Self, Problems> {
        let source = node::Source::new(name, bytes, MOST_BYTES)?;
        let document = source.toml()?;
        let mut form = Form::new(&source);
        let party = read(&mut form, document, beside, given);
        form.problems.sort();
        match party {
            Some(party) if form.problems.is_empty() => Ok(party),
            _ => Err(form.problems),
        }
    }
}

/// Whether only this user and the system's own user may write it.
fn is_ours_alone(metadata: &Metadata) -> bool {
    let us = rustix::process::geteuid().as_raw();
    metadata.mode() & 0o022 == 0 && (metadata.uid() == us || metadata.uid() == 0)
}

fn read(
    form: &mut Form<'_>,
    document: Node,
    beside: &Path,
    given: Option<Source>,
) -> Option<Party> {
    let mut section = form.section(document, TITLE, KEYS)?;
    let section = &mut section;
    let roles = [("p1", Role::P1), ("p2", Role::P2)];
    let role = form
        .required(
            section,
            "role",
            "add role = \"p1\" or \"p2\", as the agreement lists the parties",
        )
        .and_then(|node| form.word(node, "`role`", &roles));
    // A file that is named must still be described correctly.
    let data = match &given {
        Some(_) if !section.has("data") && !section.has("data_command") => given.clone(),
        _ => data(form, section, beside),
    };
    let identity = path(
        form,
        section,
        "identity",
        "add identity = \"identity.pem\", the file that `diptych keygen` wrote",
        beside,
    );
    let passphrase_file = match section.take("passphrase_file") {
        Some(node) => Some(path_in(form, node, "passphrase_file", PASSPHRASE_REMEDY, beside)?),
        None => None,
    };
    let meeting = meeting(form, section);
    let ledger = path(
        form,
        section,
        "ledger",
        "add ledger = \"ledger.jsonl\", the record of what was spent",
        beside,
    );
    let out = path(form, section, "out", "add out = \"release\", a directory", beside);
    let remedy = "add cap = \"3.0\", the largest total ε that this data may ever spend";
    let cap = form.required(section, "cap", remedy).and_then(|node| epsilon(form, node, "`cap`"));
    let cap_towards_peer = match section.take("cap_towards_peer") {
        Some(node) => Some(epsilon(form, node, "`cap_towards_peer`")?),
        None => None,
    };
    let remedy = "add data_set = \"customers\", the name under which the ledger adds up what was spent \
                  on this data: the same for every run on it, wherever the table lies";
    let data_set = form
        .required(section, "data_set", remedy)
        .and_then(|node| form.text(node, "`data_set`", "\"customers\""));
    let usual = Limits { connect: Duration::from_secs(WAIT_SECONDS), ..Limits::default() };
    let silence = seconds(form, section, "silence_seconds", DAY)?;
    let limits = Limits {
        connect: seconds(form, section, "wait_seconds", DAY)?.unwrap_or(usual.connect),
        read: silence.unwrap_or(usual.read),
        write: silence.unwrap_or(usual.write),
        ..usual
    };
    let run_limit = seconds(form, section, "run_seconds", 365 * DAY)?;
    Some(Party {
        role: role?,
        data: given.or(data)?,
        identity: identity?,
        passphrase_file,
        meeting: meeting?,
        ledger: ledger?,
        new_ledger: false,
        out: out?,
        cap: cap?,
        cap_towards_peer,
        data_set: data_set?,
        limits,
        run_limit,
    })
}

fn path(
    form: &mut Form<'_>,
    section: &mut Section,
    key: &str,
    remedy: &str,
    beside: &Path,
) -> Option<PathBuf> {
    let node = form.required(section, key, remedy)?;
    path_in(form, node, key, remedy, beside)
}

fn path_in(
    form: &mut Form<'_>,
    node: Node,
    key: &str,
    remedy: &str,
    beside: &Path,
) -> Option<PathBuf> {
    let at = node.at;
    let what = format!("`{key}`");
    let text = form.raw_text(node, &what, "\"some/file\"")?;
    if text.is_empty() || text.contains('\0') {
        form.note(Rule::BadText, at, format!("{what} is not a path"), remedy);
        return None;
    }
    Some(beside.join(text))
}

/// A file, standard input or a command, and the table's format.
fn data(form: &mut Form<'_>, section: &mut Section, beside: &Path) -> Option<Source> {
    const REMEDY: &str = "add data = \"table.csv\", this party's table; \"-\" is standard input";
    let limit = seconds(form, section, "data_seconds", DAY)?;
    let dialect = dialect(form, section);
    let from = match section.take("data_command") {
        Some(node) => {
            let at = node.at;
            let words = command(form, node);
            if section.take("data").is_some() {
                let message = "`data` and `data_command` exclude each other".to_owned();
                form.note(Rule::DoesNotApply, at, message, "remove one of them");
            }
            Origin::Command { words: words?, directory: beside.to_owned() }
        }
        None if section.has_misspelt("data_command") => return None,
        None => match path(form, section, "data", REMEDY, Path::new(""))? {
            dash if dash == Path::new("-") => Origin::StandardInput,
            path => Origin::File(beside.join(path)),
        },
    };
    let source = Source::new(from);
    Some(Source { dialect: dialect?, limit: limit.unwrap_or(source.limit), ..source })
}

fn command(form: &mut Form<'_>, node: Node) -> Option<Vec<String>> {
    const EXAMPLE: &str = "a list, such as [\"psql\", \"--csv\", \"-c\", \"select …\"]";
    let at = node.at;
    let Value::List(items) = node.value else {
        form.wrong_type(&node, "`data_command`", EXAMPLE);
        return None;
    };
    let words = items
        .into_iter()
        .map(|item| form.raw_text(item, "a word of `data_command`", "\"psql\""))
        .collect::<Option<Vec<String>>>()?;
    let usable = words.first().is_some_and(|program| !program.is_empty())
        && words.iter().all(|word| !word.contains('\0'));
    if !usable {
        let remedy = format!("write {EXAMPLE}");
        form.note(Rule::BadText, at, "`data_command` names no program".to_owned(), &remedy);
    }
    usable.then_some(words)
}

fn dialect(form: &mut Form<'_>, section: &mut Section) -> Option<Dialect> {
    let usual = Dialect::recognized();
    let recognize = !section.has("delimiter");
    let encoding = match section.take("encoding") {
        Some(node) => form.word(node, "`encoding`", Encoding::ALL)?,
        None => usual.encoding,
    };
    let mut character = |key: &str, usual: u8| {
        let Some(node) = section.take(key) else { return Some(usual) };
        let at = node.at;
        let what = format!("`{key}`");
        let text = form.raw_text(node, &what, "\";\" or \"\\t\"")?;
        match text.as_bytes() {
            [byte] if byte.is_ascii_graphic() || *byte == b'\t' => Some(*byte),
            _ => {
                let message = format!("{what} must be one character");
                let remedy = "write \",\", \";\", \"|\", \"'\" or \"\\t\" (a tab)";
                form.note(Rule::BadText, at, message, remedy);
                None
            }
        }
    };
    let delimiter = character("delimiter", usual.delimiter)?;
    let quote = character("quote", usual.quote)?;
    if delimiter == quote {
        let message = "`delimiter` and `quote` are the same character".to_owned();
        form.note(Rule::Duplicate, section.at(), message, "change one of them");
        return None;
    }
    Some(Dialect { delimiter, quote, encoding, recognize })
}

/// Exactly one of the two ways to meet.
fn meeting(form: &mut Form<'_>, section: &mut Section) -> Option<Meeting> {
    const REMEDY: &str = "add listen = \"0.0.0.0:7000\" at one party, and \
                          connect = \"bank.example:7000\" at the other";
    let misspelt = section.has_misspelt("listen") || section.has_misspelt("connect");
    match (section.take("listen"), section.take("connect")) {
        (Some(node), None) => form.text(node, "`listen`", "\"0.0.0.0:7000\"").map(Meeting::Listen),
        (None, Some(node)) => {
            form.text(node, "`connect`", "\"bank.example:7000\"").map(Meeting::Connect)
        }
        (Some(_), Some(node)) => {
            let message = "`listen` and `connect` exclude each other".to_owned();
            form.note(Rule::DoesNotApply, node.at, message, "remove one of them");
            None
        }
        (None, None) => {
            if !misspelt {
                let message = format!("`listen` or `connect` is missing in {TITLE}");
                form.note(Rule::MissingKey, section.at(), message, REMEDY);
            }
            None
        }
    }
}

fn epsilon(form: &mut Form<'_>, node: Node, what: &str) -> Option<Epsilon> {
    let at = node.at;
    let written = form.decimal(node, what, false)?;
    let epsilon = written.to_string().parse().ok();
    if epsilon.is_none() {
        let remedy = "use more than 0 and less than 10000";
        form.note(Rule::OutOfRange, at, format!("{what} is {written}"), remedy);
    }
    epsilon
}

/// Nothing if the file does not say; `None` outside if what it says is wrong.
fn seconds(
    form: &mut Form<'_>,
    section: &mut Section,
    key: &str,
    most: i64,
) -> Option<Option<Duration>> {
    match section.take(key) {
        Some(node) => {
            form.integer(node, &format!("`{key}`"), 1..=most).map(|s| Some(Duration::from_secs(s)))
        }
        None => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
role = "p1"
data = "bank.csv"
identity = "keys/bank.pem"
listen = "0.0.0.0:7000"
ledger = "/var/ledger.jsonl"
out = "release"
cap = "3.0"
data_set = "customers"
"#;

    fn problems(text: &str) -> String {
        Party::parse("bank.toml", text.as_bytes(), Path::new("")).unwrap_err().to_string()
    }

    #[test]
    fn a_party_file_is_read_with_its_paths_beside_it_and_its_defaults() {
        let party = Party::parse("bank.toml", GOOD.as_bytes(), Path::new("etc")).unwrap();
        assert_eq!(party.role, Role::P1);
        assert_eq!(party.identity, Path::new("etc/keys/bank.pem"));
        assert_eq!(party.ledger, Path::new("/var/ledger.jsonl"));
        assert_eq!(party.meeting, Meeting::Listen("0.0.0.0:7000".to_owned()));
        assert_eq!((party.data_set.as_str(), party.cap.to_string().as_str()), ("customers", "3"));
        assert_eq!((party.cap_towards_peer, party.new_ledger), (None, false));
        assert_eq!(party.limits.connect, Duration::from_secs(WAIT_SECONDS));
        let more = "cap_towards_peer = \"6\"\nwait_seconds = 5\nsilence_seconds = 7";
        let more = format!("{GOOD}{more}");
        let party = Party::parse("bank.toml", more.as_bytes(), Path::new("etc")).unwrap();
        assert_eq!(party.cap_towards_peer, "6".parse().ok());
        assert_eq!(party.limits.connect, Duration::from_secs(5));
        assert_eq!(party.limits.read, Duration::from_secs(7));
        assert_eq!(party.limits.write, Duration::from_secs(7));
        assert_eq!(party.run_limit, None);
        let more = format!("{GOOD}run_seconds = 100000");
        let party = Party::parse("bank.toml", more.as_bytes(), Path::new("etc")).unwrap();
        assert_eq!(party.run_limit, Some(Duration::from_secs(100_000)));
    }

    #[test]
    fn a_table_that_is_given_is_used_and_the_file_need_not_name_one() {
        let given = || Some(Source::file("given.csv"));
        let read = |text: &str| {
            Party::parse_with("bank.toml", text.as_bytes(), Path::new("etc"), given()).unwrap()
        };
        let party = read(GOOD);
        assert_eq!(party.data, Source::file("given.csv"));
        let party = read(&GOOD.replace("data = \"bank.csv\"", ""));
        assert_eq!(party.data, Source::file("given.csv"));
        let without = GOOD.replace("data = \"bank.csv\"", "");
        assert!(problems(&without).contains("`data` is missing"));
    }

    #[test]
    fn the_data_set_must_be_named_and_the_remedy_shows_how() {
        let said = problems(&GOOD.replace("data_set = \"customers\"", ""));
        for part in ["`data_set` is missing in the party file", "add data_set = \"customers\""] {
            assert!(said.contains(part), "{part:?} is not in {said}");
        }
        let wrong = format!("{GOOD}cap_towards_peer = \"0\"");
        assert!(problems(&wrong).contains("`cap_towards_peer` is 0"), "{}", problems(&wrong));
    }

    #[test]
    fn the_examples_are_good() {
        for text in [
            include_str!("../../../../examples/loans/bank.toml"),
            include_str!("../../../../examples/loans/loan-company.toml"),
        ] {
            assert!(Party::parse("x", text.as_bytes(), Path::new("")).is_ok());
        }
    }

    #[test]
    fn every_problem_is_named_with_its_place_and_a_remedy() {
        let said = problems(
            &GOOD
                .replace("role = \"p1\"", "role = \"p3\"")
                .replace("ledger", "legder")
                .replace("\"3.0\"", "3.0")
                .replace("out = \"release\"", ""),
        );
        for part in [
            "bank.toml:2:8: `role` cannot be \"p3\"",
            "bank.toml:6:1: unknown key `legder` in the party file",
            "did you mean `ledger`?",
            "`out` is missing in the party file",
            "bank.toml:8:7: `cap` is a number without quotes",
        ] {
            assert!(said.contains(part), "{part:?} is not in\n{said}");
        }
        assert!(!said.contains("`ledger` is missing"), "{said}");
    }

    #[test]
    fn a_party_listens_or_connects_and_waits_a_day_at_most() {
        let both = format!("{GOOD}connect = \"x:1\"");
        assert!(problems(&both).contains("exclude each other"));
        let neither = GOOD.replace("listen = \"0.0.0.0:7000\"", "");
        assert!(problems(&neither).contains("`listen` or `connect` is missing"));
        for wait in ["0", "86401", "\"5\""] {
            let wrong = format!("{GOOD}wait_seconds = {wait}");
            assert!(problems(&wrong).contains("`wait_seconds` is"), "{wait}");
        }
    }

    #[test]
    fn whatever_the_bytes_are_there_is_a_party_or_a_problem() {
        for bytes in [&b"\xff\xfe"[..], b"role = [", b"", b"[role]\nx = 1", b"data = \"\\u0000\""] {
            assert!(Party::parse("x", bytes, Path::new("")).is_err());
        }
    }
}
