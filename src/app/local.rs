//! `diptych local`: a release by one party that holds all records.

use std::path::PathBuf;

use clap::Args;

use crate::Error;
use crate::app::agreement;
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::privacy::Epsilon;
use crate::publish::data::{Origin, Source};
use crate::publish::local::{self, Entered, Wanted};
use crate::publish::meeting::read_identity;
use crate::table::{Dialect, Encoding};

/// Make a release alone, over one table
///
/// The agreement may be one for two parties: the release is then the one that
/// both would have made together over the joined table, as a baseline. With
/// --ledger the whole ε is entered in a ledger before the data is used, and a
/// run that would pass the cap is refused; without it, nothing counts how often the same data is
/// released. The first run creates the ledger, with --new-ledger. With --identity the
/// release is signed: `verify` tells by whom.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych local --agreement agreement.toml --data table.csv \
                  --out release/ --ledger ledger.jsonl --new-ledger --cap 3")]
pub struct LocalArgs {
    /// The agreement, in TOML
    #[arg(long, value_name = "FILE")]
    agreement: PathBuf,
    /// The table: CSV with a header line; "-" is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The character between two cells, such as ';'; "tab" is a tab [default: as the first line has]
    #[arg(long, value_name = "CHARACTER", value_parser = character)]
    delimiter: Option<u8>,
    /// The character around cells that contain delimiters [default: '"']
    #[arg(long, value_name = "CHARACTER", value_parser = character)]
    quote: Option<u8>,
    /// Character encoding of the table: utf-8, utf-16 or windows-1252
    /// [default: utf-8, or utf-16 if a byte-order mark says so]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    encoding: Option<Encoding>,
    /// If the table does not fit the agreement, list all problems in this file (private: it holds
    /// data)
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// Where release.csv and manifest.json go; made if it does not exist, never overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Also write release-compact.csv, without the rows whose count is 0
    #[arg(long)]
    compact: bool,
    /// Sign the release with this identity, made by `diptych keygen`
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// A file whose first line is the passphrase of the identity, instead of asking for it
    #[arg(long, value_name = "FILE", requires = "identity")]
    passphrase_file: Option<PathBuf>,
    /// Record what is spent in this ledger
    #[arg(long, value_name = "FILE", requires = "cap")]
    ledger: Option<PathBuf>,
    /// Create the ledger: nothing was ever spent on this data
    #[arg(long, requires = "ledger")]
    new_ledger: bool,
    /// The largest total ε that this data set may ever spend; its first run fixes it
    #[arg(long, value_name = "EPS", requires = "ledger")]
    cap: Option<Epsilon>,
    /// The data set's name in the ledger [default: the data file's name]
    #[arg(long, value_name = "NAME", requires = "ledger")]
    data_set: Option<String>,
}

/// Runs the verb.
///
/// # Errors
/// If a file is not as it should be, the budget does not suffice, or the release cannot be written.
pub fn run(arguments: &LocalArgs, console: &Console) -> Result<(), Error> {
    let agreement = agreement::load(&arguments.agreement)?;
    let entered = match (&arguments.ledger, &arguments.cap) {
        (Some(ledger), Some(cap)) => {
            let data_set = arguments.data_set.as_deref();
            Some(Entered { ledger, new: arguments.new_ledger, cap, data_set })
        }
        _ => {
            console.say(
                "no ledger is given: nothing adds up what releases of this data spend (--ledger FILE \
                 --cap EPS)",
            );
            None
        }
    };
    let (data, out, compact) = (source(arguments)?, &arguments.out, arguments.compact);
    let (screen, passphrase) = (Screen::new(console), arguments.passphrase_file.as_deref());
    let identity = arguments.identity.as_deref();
    let identity = identity.map(|path| read_identity(path, passphrase, &screen)).transpose()?;
    let wanted = Wanted { data: &data, out, compact, entered, identity: identity.as_ref() };
    local::release(&agreement, &wanted, &screen)?;
    console.result_of_work_done(out.display());
    Ok(())
}

fn source(arguments: &LocalArgs) -> Result<Source, Error> {
    let from = match arguments.data.as_os_str() == "-" {
        true => Origin::StandardInput,
        false => Origin::File(arguments.data.clone()),
    };
    let source = Source::new(from);
    let usual = source.dialect;
    let dialect = Dialect {
        delimiter: arguments.delimiter.unwrap_or(usual.delimiter),
        quote: arguments.quote.unwrap_or(usual.quote),
        encoding: arguments.encoding.unwrap_or(usual.encoding),
        recognize: arguments.delimiter.is_none(),
    };
    if dialect.delimiter == dialect.quote {
        return Err(Error::input("--delimiter and --quote are the same character"));
    }
    if arguments.ledger.is_some() && arguments.data_set.is_none() && source.file_name().is_none() {
        return Err(Error::input("without a file, the ledger needs a name for the data")
            .advise("give it with --data-set"));
    }
    Ok(Source { dialect, problems: arguments.problems.clone(), ..source })
}

fn character(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii_graphic() || *byte == b'\t' => Ok(*byte),
        _ => Err("it must be one character such as ; or |, or the word tab"),
    }
}

fn encoding(text: &str) -> Result<Encoding, String> {
    let found = Encoding::ALL.iter().find(|(word, _)| *word == text);
    let words: Vec<&str> = Encoding::ALL.iter().map(|(word, _)| *word).collect();
    found.map(|(_, encoding)| *encoding).ok_or_else(|| format!("use {}", words.join(", ")))
}
