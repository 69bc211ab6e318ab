//! `bench figures`: the figures of `docs/cost.md`, with and without vector code, by one command.
//!
//! Every question is a command of `diptych bench`, run by this program in a process of its own, once
//! at the widest level of vector instructions that the processor has and once in portable code. All
//! figures go to [`FILE`]; the two tables of `docs/cost.md` are made of that file, and a test holds the
//! page to it.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::Figure;
use super::machine::Machine;
use crate::Error;
use crate::app::console::Console;
use crate::app::write_json;
use crate::simd::level::{self, Level};

/// The file with the figures of the project's own pages.
pub(super) const FILE: &str = "docs/figures.json";

/// A table of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    /// Whole releases and primitives.
    Releases,
    /// What these are made of.
    Parts,
}

/// What a reader asks.
struct Question {
    table: Table,
    what: &'static str,
    /// The words after `diptych bench`.
    command: &'static str,
    /// The answer; `{name}` or `{name; part of its parameters}` stands for a figure.
    answer: &'static str,
}

const RELEASE: &str = "{release, wall} s ({release, CPU of both parties} s of CPU), \
                       {sent by P1} + {sent by P2} MB, {peak memory} MB of memory";
const ON_A_LINE: &str = "{release, wall} s";
const LINE: &str = "… on a line of 100 Mbit/s and 40 ms";

const QUESTIONS: &[Question] = &[
    whole(
        "a release by two parties with different columns: 30,162 people, 14 attributes, 10 \
         specializations",
        "release",
        RELEASE,
    ),
    whole(LINE, "release --net wan", ON_A_LINE),
    whole("… where one party alone has the class", "release --class-owner p1", RELEASE),
    whole("… where nobody learns who is common", "release --membership hidden", RELEASE),
    whole(
        "a release by two parties with different people, 30,162 together",
        "release --partition horizontal",
        RELEASE,
    ),
    whole(LINE, "release --partition horizontal --net wan", ON_A_LINE),
    whole(
        "a release by one party: 10^6 people, 14 attributes, 15 specializations, CSV to release",
        "diffgen",
        "{CSV to release, CPU; 1000000 records × 14 attributes, h = 15, leaf-max} s of CPU, \
         {peak memory} MB of memory",
    ),
    whole(
        "which of 10^5 and 10^5 people are common",
        "psi --size 100000",
        "{psi 100000 × 100000, oprf: CPU} s of CPU, \
         {psi 100000 × 100000, oprf: bytes} MB, \
         {psi 100000 × 100000, oprf: peak memory} MB of memory; by ristretto255 \
         {psi 100000 × 100000, ristretto255: CPU} s, \
         {psi 100000 × 100000, ristretto255: bytes} MB",
    ),
    whole(
        "garbled AND gates over loopback TLS, one core each",
        "yao",
        "{AES-128, 16 side by side, 1e8 ANDs: end to end} per second, \
         {AES-128, 16 side by side, 1e8 ANDs: traffic} bytes each",
    ),
    cost(
        "a hidden join of 30,162 and 30,162 people with a payload of 8 bits, one direction",
        "join --size 30162",
        "{hidden join 30162 × 30162: CPU} s of CPU, \
         {hidden join 30162 × 30162: bytes} MB, \
         {hidden join 30162 × 30162: peak memory} MB of memory",
    ),
    cost(
        "choosing one of 4,096 by noisy maximum, loopback TLS",
        "select --size 4096",
        "{noisy maximum, 4096 candidates, 30000 records} ms; by weights \
         {exponential, 4096 candidates, 30000 records} ms",
    ),
    cost(
        "joint noise on 2,048 counts, loopback TLS",
        "noise --size 2048",
        "{joint noise, 2048 counts, drawn ahead} ms; in a garbled circuit \
         {joint noise, 2048 counts, in a garbled circuit} ms",
    ),
    cost(
        "joint count table, 30,000 records, 64 × 32 cells",
        "count-table --size 30000",
        "{count table by transfers, 30000 records, 64 × 32: CPU} s of CPU, \
         {count table by transfers, 30000 records, 64 × 32: bytes per record} bytes per record",
    ),
    cost(
        "transfers, both sides",
        "ot",
        "silent {silent transfers: processor} ns of CPU, {silent transfers: line} bytes; SoftSpoken \
         {SoftSpoken transfers: processor} ns, {SoftSpoken transfers: line} bytes; IKNP \
         {IKNP transfers: processor} ns, {IKNP transfers: line} bytes",
    ),
    cost(
        "conjunctions of bits in shares, both sides",
        "bits",
        "{AND on silent transfers: processor} ns of CPU, {AND on silent transfers: line} bytes on \
         silent transfers",
    ),
    cost(
        "Paillier, 3072 bits, key's owner, in bulk, one core",
        "paillier",
        "encrypt {paillier encrypt, owner, bulk; 3072 bits} ms, decrypt \
         {paillier decrypt, bulk; 3072 bits} ms",
    ),
    cost(
        "a random value below a shared bound of 900 bits, loopback TLS, set-up included",
        "random-value",
        "{random value, 900 bits, over loopback TLS} ms",
    ),
    cost("loopback TLS, frames of 1 MiB", "net", "{loopback TLS: throughput} MB/s"),
];

const fn whole(what: &'static str, command: &'static str, answer: &'static str) -> Question {
    Question { table: Table::Releases, what, command, answer }
}

const fn cost(what: &'static str, command: &'static str, answer: &'static str) -> Question {
    Question { table: Table::Parts, what, command, answer }
}

/// Everything that was measured.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    /// What it was measured on, a fact a line.
    machine: Vec<String>,
    /// From the widest level to portable code.
    columns: Vec<Column>,
}

/// All commands at one level of vector instructions.
#[derive(Debug, Serialize, Deserialize)]
struct Column {
    level: String,
    runs: Vec<Run>,
}

/// One command.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    command: String,
    figures: Vec<Figure>,
}

/// Measures everything and writes the figures and both tables.
///
/// # Errors
/// If a command fails or a file cannot be written.
pub(super) fn run(quick: bool, out: &Path, console: &Console) -> Result<(), Error> {
    let machine = Machine::of_this_process();
    if let Some(warning) = machine.warning() {
        console.say(format!("warning: {warning}"));
    }
    let mut levels = vec![Level::in_use(), Level::Portable];
    levels.dedup();
    let mut columns = Vec::new();
    for level in levels {
        let mut runs = Vec::new();
        for Question { command, .. } in QUESTIONS {
            console.say(format!("measuring {command}, {level} …"));
            runs.push(Run { command: (*command).to_owned(), figures: ask(command, level, quick)? });
        }
        columns.push(Column { level: level.to_string(), runs });
    }
    let machine = machine.markdown();
    let machine = machine.lines().map(|line| line.trim_start_matches("- ").to_owned()).collect();
    let measured = Measured { machine, columns };
    write_json(out, &measured)?;
    console.say(format!("wrote {}", out.display()));
    for table in [Table::Releases, Table::Parts] {
        console.result(measured.table(table));
    }
    Ok(())
}

/// Runs one command of `diptych bench` in a process of its own.
fn ask(command: &str, level: Level, quick: bool) -> Result<Vec<Figure>, Error> {
    let program = std::env::current_exe().map_err(Error::internal)?;
    let file = std::env::temp_dir().join(format!("diptych-figures-{}.json", std::process::id()));
    let mut child = Command::new(program);
    child.env(level::VARIABLE, level.name()).args(["--quiet", "bench"]);
    child.args(command.split(' ')).args(quick.then_some("--quick")).arg("--json").arg(&file);
    let output = child.output().map_err(Error::internal)?;
    let text = std::fs::read(&file);
    let _ = std::fs::remove_file(&file);
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::internal(format!("`diptych bench {command}`: {words}")));
    }
    serde_json::from_slice(&text.map_err(Error::internal)?).map_err(Error::internal)
}

impl Measured {
    /// A table in Markdown.
    fn table(&self, table: Table) -> String {
        let mut text = "| what |".to_owned();
        for column in &self.columns {
            let _ = match column.level.as_str() {
                "portable" => write!(text, " portable code |"),
                level => write!(text, " vector code (`{level}`) |"),
            };
        }
        text += " `diptych bench …` |\n|";
        text += &" --- |".repeat(self.columns.len() + 2);
        for question in QUESTIONS.iter().filter(|question| question.table == table) {
            let _ = write!(text, "\n| {} |", question.what);
            for column in &self.columns {
                let _ = write!(text, " {} |", column.answer(question));
            }
            let _ = write!(text, " `{}` |", question.command);
        }
        text
    }
}

impl Column {
    fn answer(&self, question: &Question) -> String {
        let run = self.runs.iter().find(|run| run.command == question.command);
        let mut text = String::new();
        for (index, part) in question.answer.split(['{', '}']).enumerate() {
            if index % 2 == 0 {
                text += part;
            } else {
                let figure = run.and_then(|run| run.figure(part));
                text += &figure.map_or("?".to_owned(), |figure| two_digits(figure.value));
            }
        }
        text
    }
}

impl Run {
    /// The figure that a placeholder names.
    fn figure(&self, wanted: &str) -> Option<&Figure> {
        let (name, parameters) = wanted.split_once("; ").unwrap_or((wanted, ""));
        let fits =
            |figure: &&Figure| figure.name == name && figure.parameters.starts_with(parameters);
        self.figures.iter().find(fits)
    }
}

/// Two significant digits, or all before the point; millions in words.
fn two_digits(value: f64) -> String {
    if value >= 1e6 {
        return format!("{} million", two_digits(value / 1e6));
    }
    let before_point = if value > 0.0 { value.log10().floor() as i32 + 1 } else { 1 };
    let decimals = usize::try_from(2 - before_point).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// The file that the project's pages are made of, beside its sources.
#[cfg(test)]
fn of_the_project() -> Measured {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(root.join(FILE)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_figures_that_were_measured() {
        let measured = of_the_project();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(root.join("docs/cost.md")).unwrap();
        for table in [Table::Releases, Table::Parts] {
            let table = measured.table(table);
            assert!(!table.contains('?'), "a figure is missing:\n{table}");
            assert!(text.contains(&table), "docs/cost.md should have this table:\n{table}");
        }
        assert_eq!(measured.columns.last().unwrap().level, "portable");
    }

    #[test]
    fn figures_have_two_digits() {
        let shown: Vec<_> =
            [0.0, 0.0123, 0.34, 3.24, 19.4, 217.2, 39_100_000.0].map(two_digits).into();
        assert_eq!(shown, ["0.0", "0.012", "0.34", "3.2", "19", "217", "39 million"]);
    }
}
