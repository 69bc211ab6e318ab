//! `diptych ledger`: what was ever spent on a party's data.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::privacy::Epsilon;
use crate::privacy::ledger::{self, Event, History, Run, Status};

/// Look at the record of the privacy budget spent
#[derive(Args, Debug)]
pub struct LedgerArgs {
    #[command(subcommand)]
    verb: LedgerVerb,
}

#[derive(Subcommand, Debug)]
enum LedgerVerb {
    /// Check every line of a ledger and print what was spent on each data set
    Show {
        /// The ledger file, as the party file names it
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Runs the verb.
///
/// # Errors
/// If the ledger cannot be read or was changed.
pub fn run(arguments: &LedgerArgs, console: &Console) -> Result<(), Failure> {
    let LedgerVerb::Show { file } = &arguments.verb;
    let text = show(file).map_err(Failure::wrong_input)?;
    console.result(text.trim_end());
    Ok(())
}

/// A ledger in words: each run, the total per data set, what is unfinished, the head.
///
/// # Errors
/// If the file cannot be read, or names its first bad line.
pub fn show(path: &Path) -> Result<String, ledger::Error> {
    ledger::read(path).map(|history| render(&history))
}

fn render(history: &History) -> String {
    let mut text = String::new();
    if history.entries().is_empty() {
        text.push_str("The ledger is empty: nothing was spent yet.\n");
    }
    for run in history.runs() {
        let _ = writeln!(text, "{}", render_run(run));
    }
    // Last cap, as later runs may have been given a larger one.
    let caps: BTreeMap<&str, &Epsilon> =
        history.runs().iter().map(|run| (run.debit.data_set.as_str(), &run.debit.cap)).collect();
    for (data_set, cap) in caps {
        let spent = history.spent(data_set);
        // Debits have at most 18 digits after the point, and so has their sum.
        let spent = spent.exact_decimal(18).unwrap_or_else(|| spent.to_string());
        let _ = writeln!(text, "{data_set}: spent ε {spent} of at most {cap}");
    }
    for run in history.unfinished() {
        let _ = writeln!(
            text,
            "{} is unfinished (run {}): it is under way, or it was interrupted; its ε stays spent \
             and it cannot be resumed",
            run.debit.release, run.debit.run
        );
    }
    let repairs = history.entries().iter().filter(|e| matches!(e.event, Event::Repaired { .. }));
    let repairs = repairs.count();
    if repairs > 0 {
        let _ = writeln!(text, "{repairs} torn line(s) were removed after a crash or a full disk");
    }
    if let Some(torn) = history.torn().filter(|torn| torn.complete) {
        let _ = writeln!(
            text,
            "line {} lacks its newline and counts all the same: the process that wrote it was \
             stopped. Nothing needs to be done: the next run completes it",
            torn.line
        );
    } else if let Some(torn) = history.torn() {
        let _ = writeln!(
            text,
            "line {} is torn: a process is writing it now, or it was stopped while it did. Nothing \
             needs to be done: the next run puts it right and notes it; all lines before it are good",
            torn.line
        );
    }
    let _ =
        writeln!(text, "{} entries, all good; head {}", history.entries().len(), history.head());
    text
}

fn render_run(run: &Run) -> String {
    let status = match run.status {
        Status::Debited => "unfinished",
        Status::Finished => "finished",
        Status::Aborted => "aborted",
    };
    let debit = &run.debit;
    format!(
        "{}  {:10}  ε {:8}  {} on {} with {}",
        utc(run.time),
        status,
        debit.epsilon.to_string(),
        debit.release,
        debit.data_set,
        debit.peer
    )
}

/// `2026-11-16 02:14 UTC`, by the proleptic Gregorian calendar (days from 1 March of year 0).
pub(crate) fn utc(seconds: u64) -> String {
    // A clock beyond the year 9999 is a broken clock.
    let seconds = seconds.min(253_402_300_799);
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::ledger::{Debit, Hash, Ledger, RunId};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_789_000_000, "2026-09-10 00:26 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (u64::MAX, "9999-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
    }

    #[test]
    fn a_ledger_is_shown_with_totals_unfinished_runs_torn_line_and_head() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let mut ledger = Ledger::open(&path).unwrap();
        for number in [1, 2] {
            let debit = Debit {
                run: RunId([number; 32]),
                release: format!("loans-{number}"),
                data_set: "loans".to_owned(),
                epsilon: "0.1".parse().unwrap(),
                cap: "3".parse().unwrap(),
                agreement: Hash([0; 32]),
                peer: "Bank".to_owned(),
                salt: Hash([number; 32]),
            };
            let _ = ledger.debit(debit).unwrap();
        }
        ledger.finish(RunId([1; 32])).unwrap();
        let head = ledger.history().head().to_string();
        drop(ledger);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"entry\":{");
        std::fs::write(&path, &bytes).unwrap();
        let text = show(&path).unwrap();
        for part in [
            "finished    ε 0.1       loans-1 on loans with Bank",
            "loans: spent ε 0.2 of at most 3",
            "loans-2 is unfinished",
            "line 4 is torn",
            "3 entries, all good; head ",
            &head,
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        std::fs::write(&path, String::from_utf8(bytes).unwrap().replacen("0.1", "0.2", 1)).unwrap();
        assert!(show(&path).unwrap_err().to_string().starts_with("line 1 of the ledger"));
    }

    #[test]
    fn an_empty_ledger_says_so() {
        assert!(render(&History::default()).starts_with("The ledger is empty"));
    }
}
