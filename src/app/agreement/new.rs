//! `diptych agreement new`: from the first lines of one or two tables to an agreement to complete.

use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::{BufRead, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::Error;
use crate::agreement::{Agreement, Division, Draft, DraftAttribute, DraftParty, Problems};
use crate::app::Partition;
use crate::app::console::Console;
use crate::role::Role;
use crate::table::{ColumnOutline, Looks, outline_csv};

/// Begin an agreement: every column of one or two tables, sensible defaults, and TODOs
///
/// Only the names of the columns are taken from the tables, and from their first 1,000 records
/// whether each column looks like numbers, dates (2026-11-18), true and false, or text, and whether
/// cells are empty. No value is written down unless --with-values asks for it. A file with the header
/// line alone will do. What is not given is asked for on a terminal, and becomes a TODO otherwise.
#[derive(Args, Debug)]
#[command(after_help = "Examples: diptych agreement new bank.csv company.csv\n          \
                        diptych agreement new table.csv --partition local --class approved")]
pub struct NewArgs {
    /// The table of the first party, and that of the second: CSV files, or their first lines
    #[arg(num_args = 0..=2, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// The file to write; an existing file is never overwritten
    #[arg(long, value_name = "FILE", default_value = "agreement.toml")]
    out: PathBuf,
    /// How the data is divided [default: as two tables show]
    #[arg(long, value_enum)]
    partition: Option<Partition>,
    /// A name for the release, such as loans-2026q4
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// The class: the column that readers of the release want to predict
    #[arg(long, value_name = "COLUMN")]
    class: Option<String>,
    /// Who has that column (vertical) [default: as two tables show]
    #[arg(long, value_enum, value_name = "WHO")]
    class_owner: Option<ClassOwner>,
    /// The column by which both find the same person (vertical)
    #[arg(long, value_name = "COLUMN")]
    identifier: Option<String>,
    /// The first party's name
    #[arg(long, value_name = "NAME")]
    p1: Option<String>,
    /// The second party's name
    #[arg(long, value_name = "NAME")]
    p2: Option<String>,
    /// What `diptych keygen` printed at the first party
    #[arg(long, value_name = "SHA256")]
    p1_fingerprint: Option<String>,
    /// What `diptych keygen` printed at the second party
    #[arg(long, value_name = "SHA256")]
    p2_fingerprint: Option<String>,
    /// The privacy budget
    #[arg(long, value_name = "EPS", default_value = "1.0")]
    epsilon: String,
    /// What becomes of missing values, in columns with empty cells [default: refuse]
    #[arg(long, value_enum, value_name = "WHAT")]
    missing: Option<OnMissing>,
    /// Also list the values of columns that are not numbers. They are published: they must be
    /// public knowledge, and each is marked for you to check
    #[arg(long)]
    with_values: bool,
    /// Arrange lists of values as a tree with at most this many branches at each node
    #[arg(long, value_name = "N", requires = "with_values",
          value_parser = clap::value_parser!(u8).range(2..=64))]
    branches: Option<u8>,
    /// Ask for what is not given even if this is not a terminal
    #[arg(long)]
    ask: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClassOwner {
    /// Both, with the same values
    Both,
    /// The first party alone
    P1,
    /// The second party alone
    P2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnMissing {
    /// A run stops before it begins
    Refuse,
    /// The record is left out
    Drop,
    /// They are a released value of their own
    Category,
}

impl OnMissing {
    fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Drop => "drop",
            Self::Category => "category",
        }
    }
}

impl ClassOwner {
    fn role(self) -> Option<Role> {
        match self {
            Self::Both => None,
            Self::P1 => Some(Role::P1),
            Self::P2 => Some(Role::P2),
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// If a table cannot be read, a column is not there, or the file cannot be written.
pub fn run(arguments: &NewArgs, console: &Console) -> Result<(), Error> {
    let out = &arguments.out;
    if out.symlink_metadata().is_ok() {
        return Err(exists(out));
    }
    let mut tables = Vec::new();
    for path in &arguments.tables {
        let outline = outline_csv(path, arguments.with_values)?;
        if let Some(words) = outline.recognized {
            console.say(format!("{}: recognized {words}", path.display()));
        }
        tables.push(outline.columns);
    }
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let asks = arguments.ask || (is_terminal && !console.is_quiet() && !console.is_json());
    let mut prompter = Prompter { console, input: std::io::stdin().lock(), asks };
    let draft = draft(arguments, &Tables::new(&tables), &mut prompter)?;
    let text = draft.to_toml();
    write_new(out, &text)?;
    if arguments.with_values {
        console.say(
            "ATTENTION: values were taken from the data, and an agreement is published. Each is \
             marked \"from the data\": keep it only if everybody could know it without the data, \
             and add those that could occur.",
        );
    }
    let read = Agreement::parse("", text.as_bytes(), &|_| Err(String::new()));
    let open = read.err().and_then(|error| error.origin().map(Problems::count)).unwrap_or(0);
    let command = format!("diptych agreement check {}", out.display());
    console.say(match open {
        0 => format!("nothing is left open; read it, then: {command}"),
        1 => format!("one place is left to fill in; `{command}` names it"),
        open => format!("{open} places are left to fill in; `{command}` names them"),
    });
    console.result_of_work_done(out.display());
    Ok(())
}

/// Asks for what the flags do not say.
struct Prompter<'a, R> {
    console: &'a Console,
    input: R,
    asks: bool,
}

impl<R: BufRead> Prompter<'_, R> {
    /// The answer, or the default; the default without asking if nobody is to be asked.
    fn ask(&mut self, question: &str, usual: Option<&str>) -> Option<String> {
        if !self.asks {
            return usual.map(str::to_owned);
        }
        let shown =
            usual.map_or_else(|| " (empty: later)".to_owned(), |usual| format!(" [{usual}]"));
        self.console.prompt(&format!("{question}{shown}: "));
        let mut answer = String::new();
        // What cannot be read counts as an empty answer.
        let read = std::io::Read::take(&mut self.input, 1 << 12).read_line(&mut answer);
        match answer.trim() {
            "" => usual.map(str::to_owned),
            _ if read.is_err() => usual.map(str::to_owned),
            answer => Some(answer.to_owned()),
        }
    }

    /// Who alone holds the class.
    fn ask_owner(&mut self) -> Option<Role> {
        for _ in 0..3 {
            let answer = self.ask("who has that column: both, p1 or p2", Some("both"))?;
            if let Ok(owner) = ClassOwner::from_str(&answer, true) {
                return owner.role();
            }
            self.console.say("answer with both, p1 or p2");
        }
        None
    }

    /// What becomes of the missing values of these columns.
    fn ask_missing(&mut self, columns: &[&str]) -> OnMissing {
        let shown = columns.iter().take(12).copied().collect::<Vec<_>>().join(", ");
        let more = if columns.len() > 12 { ", …" } else { "" };
        let question = format!(
            "missing values in {shown}{more}: refuse, drop or category (a released value of their own)"
        );
        for _ in 0..3 {
            let answer = self.ask(&question, Some("refuse")).unwrap_or_default();
            if let Ok(answer) = OnMissing::from_str(&answer, true) {
                return answer;
            }
            self.console.say("answer with refuse, drop or category");
        }
        OnMissing::Refuse
    }

    /// The name of one of these columns; asks three times at most.
    fn ask_column(
        &mut self,
        question: &str,
        known: &[&str],
        usual: Option<&str>,
    ) -> Option<String> {
        for _ in 0..3 {
            let answer = self.ask(question, usual)?;
            if known.is_empty() || known.contains(&answer.as_str()) {
                return Some(answer);
            }
            self.console.say(format!("there is no such column; there are: {}", known.join(", ")));
        }
        None
    }
}

/// The tables, and where each column is: lists of columns may be long.
struct Tables<'t> {
    all: &'t [Vec<ColumnOutline>],
    by_name: HashMap<&'t str, [Option<&'t ColumnOutline>; 2]>,
}

impl<'t> Tables<'t> {
    fn new(all: &'t [Vec<ColumnOutline>]) -> Self {
        let mut by_name: HashMap<&str, [Option<&ColumnOutline>; 2]> = HashMap::new();
        for (role, table) in Role::BOTH.into_iter().zip(all) {
            for column in table {
                by_name.entry(&column.name).or_default()[role as usize].get_or_insert(column);
            }
        }
        Self { all, by_name }
    }

    fn at(&self, name: &str) -> [Option<&'t ColumnOutline>; 2] {
        self.by_name.get(name).copied().unwrap_or_default()
    }

    /// Whether a party's table has a column, or is not here.
    fn may_have(&self, role: Role, name: &str) -> bool {
        self.all.len() <= role as usize || self.at(name)[role as usize].is_some()
    }

    /// The columns that every table has.
    fn common(&self) -> impl Iterator<Item = &'t str> {
        let first = self.all.first().into_iter().flatten();
        let in_all = |name: &&str| Role::BOTH.into_iter().all(|role| self.may_have(role, name));
        first.map(|column| column.name.as_str()).filter(in_all)
    }

    /// The values of a column in all tables that have it, if they were listed in each.
    fn values(&self, name: &str) -> Option<Vec<String>> {
        let columns = self.at(name).into_iter().flatten();
        let listed: Option<Vec<_>> =
            columns.filter(|it| it.looks != Looks::Empty).map(|it| it.values.clone()).collect();
        let mut all = listed?.concat();
        all.sort();
        all.dedup();
        (!all.is_empty()).then_some(all)
    }
}

fn draft<R: BufRead>(
    arguments: &NewArgs,
    tables: &Tables<'_>,
    prompter: &mut Prompter<'_, R>,
) -> Result<Draft, Error> {
    let division = division(arguments, tables.all, prompter)?;
    if let (Division::Local, [_, _]) = (division, tables.all) {
        return Err(Error::input("a local release has one table")
            .advise("give one table, or --partition vertical or horizontal"));
    }
    let id = arguments.id.clone().or_else(|| prompter.ask("a name for the release", None));
    let mut parties = [DraftParty::default(), DraftParty::default()];
    if division != Division::Local {
        let given = [
            (&arguments.p1, &arguments.p1_fingerprint, "first"),
            (&arguments.p2, &arguments.p2_fingerprint, "second"),
        ];
        for (party, (name, fingerprint, which)) in parties.iter_mut().zip(given) {
            let asked = || prompter.ask(&format!("the {which} party's name"), None);
            party.name = name.clone().or_else(asked);
            party.fingerprint = fingerprint.clone();
        }
    }
    let at_all: Vec<&str> = tables.common().collect();
    let identifier = match (division, &arguments.identifier) {
        (Division::Vertical, Some(column)) => Some(there(column, &at_all, "--identifier")?),
        (Division::Vertical, None) => {
            let usual = at_all.iter().copied().find(|name| names_people(name));
            prompter.ask_column("the column by which both find the same person", &at_all, usual)
        }
        _ => None,
    };
    let (class, class_owner) = class(arguments, division, tables, identifier.as_deref(), prompter)?;
    let taken = |name: &str| [&identifier, &class].iter().any(|it| it.as_deref() == Some(name));
    let (mut attributes, mut left_out) = (Vec::<DraftAttribute>::new(), Vec::new());
    let (mut seen, mut with_empty) = (HashSet::new(), Vec::<usize>::new());
    for (owner, table) in Role::BOTH.into_iter().zip(tables.all) {
        for column in table.iter().filter(|column| !taken(&column.name)) {
            if names_people(&column.name) {
                left_out.push(column.name.clone());
            } else if seen.insert(&column.name) {
                let at_both = tables.at(&column.name).iter().all(Option::is_some);
                let values = match division {
                    Division::Horizontal => tables.values(&column.name),
                    _ => column.values.clone(),
                };
                let horizontal = division == Division::Horizontal;
                let mut held = tables.at(&column.name).into_iter().flatten();
                if column.has_empty || (horizontal && held.any(|it| it.has_empty)) {
                    with_empty.push(attributes.len());
                }
                let (name, looks) = (column.name.clone(), column.looks);
                let missing = None;
                attributes.push(DraftAttribute { name, owner, at_both, looks, missing, values });
            }
        }
    }
    if !with_empty.is_empty() {
        let names: Vec<&str> =
            with_empty.iter().map(|place| attributes[*place].name.as_str()).collect();
        let missing = arguments.missing.unwrap_or_else(|| prompter.ask_missing(&names)).word();
        with_empty.iter().for_each(|place| attributes[*place].missing = Some(missing));
    }
    Ok(Draft {
        id,
        division,
        parties,
        identifier,
        class: class
            .map(|column| (column.clone(), tables.values(&column).filter(|it| it.len() > 1))),
        class_owner,
        epsilon: Some(arguments.epsilon.clone()),
        attributes,
        left_out,
        branches: arguments.branches,
    })
}

/// The class: the column that readers of the release want to predict, and who alone has it, if one does.
fn class<R: BufRead>(
    arguments: &NewArgs,
    division: Division,
    tables: &Tables<'_>,
    identifier: Option<&str>,
    prompter: &mut Prompter<'_, R>,
) -> Result<(Option<String>, Option<Role>), Error> {
    let given = arguments.class_owner;
    if given.is_some() && division != Division::Vertical {
        return Err(Error::input("--class-owner is for vertical releases")
            .advise("leave it out: here every party holds every column"));
    }
    let has = |role: Role, name: &str| tables.may_have(role, name);
    let holds = |name: &str| match given.map(ClassOwner::role) {
        Some(Some(role)) => has(role, name),
        Some(None) => Role::BOTH.into_iter().all(|role| has(role, name)),
        None if division == Division::Vertical => {
            Role::BOTH.into_iter().any(|role| has(role, name))
        }
        None => Role::BOTH.into_iter().all(|role| has(role, name)),
    };
    let (mut known, mut seen): (Vec<&str>, HashSet<&str>) = Default::default();
    for column in tables.all.iter().flatten().map(|column| column.name.as_str()) {
        if holds(column) && Some(column) != identifier && seen.insert(column) {
            known.push(column);
        }
    }
    let column = match &arguments.class {
        // The table that should have it may not be here.
        Some(column) if tables.all.len() < 2 && holds(column) => Some(column.clone()),
        Some(column) => Some(there(column, &known, "--class")?),
        None => {
            // What both hold beside the identifier is likely to be it.
            let mut both = tables.common().filter(|name| seen.contains(name));
            let usual = match (division, tables.all, both.next(), both.next()) {
                (Division::Vertical, [_, _], Some(only), None) => Some(only),
                _ => None,
            };
            prompter.ask_column("the column that the release is to tell about", &known, usual)
        }
    };
    let Some(name) = column.as_deref().filter(|_| division == Division::Vertical) else {
        return Ok((column, None));
    };
    let owner = match (given, has(Role::P1, name), has(Role::P2, name)) {
        (Some(given), ..) => given.role(),
        (None, true, false) => Some(Role::P1),
        (None, false, true) => Some(Role::P2),
        _ => prompter.ask_owner(),
    };
    Ok((column, owner))
}

fn division<R: BufRead>(
    arguments: &NewArgs,
    tables: &[Vec<ColumnOutline>],
    prompter: &mut Prompter<'_, R>,
) -> Result<Division, Error> {
    match arguments.partition {
        Some(Partition::Vertical) => return Ok(Division::Vertical),
        Some(Partition::Horizontal) => return Ok(Division::Horizontal),
        Some(Partition::Local) => return Ok(Division::Local),
        None => {}
    }
    let names = |table: &[ColumnOutline]| {
        let mut names: Vec<String> = table.iter().map(|column| column.name.clone()).collect();
        names.sort();
        names
    };
    let usual = match tables {
        [one, two] if names(one) == names(two) => Some("horizontal"),
        [_, _] => Some("vertical"),
        _ => None,
    };
    let question = "how the data is divided: vertical (the same people, different columns), \
                    horizontal (the same columns, different people) or local (one party)";
    let word = prompter.ask(question, usual);
    let found = Division::ALL.iter().find(|(known, _)| Some(*known) == word.as_deref());
    found.map(|(_, division)| *division).ok_or_else(|| {
        Error::input("how the data is divided cannot be told from one table")
            .advise("say --partition vertical, horizontal or local")
    })
}

fn names_people(column: &str) -> bool {
    let column = column.to_lowercase();
    let words = ["id", "ssn", "person", "customer", "patient", "member", "email", "nr", "number"];
    column.split(|c: char| !c.is_alphanumeric()).any(|part| words.contains(&part))
        || column.ends_with("id")
}

fn there(column: &str, known: &[&str], flag: &str) -> Result<String, Error> {
    if known.is_empty() || known.contains(&column) {
        return Ok(column.to_owned());
    }
    let meant = crate::table::nearest(column, known.iter().copied());
    let advice = match meant {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("it can be one of: {}", known.join(", ")),
    };
    Err(Error::input(format!("{flag} {column}: there is no such column")).advise(advice))
}

fn exists(path: &Path) -> Error {
    Error::input(format!("{} exists already", path.display()))
        .advise("name another file with --out")
}

fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => Error::file(path, "write", &error),
    })
}
