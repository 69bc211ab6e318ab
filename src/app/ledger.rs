//! `diptych ledger`: what was ever spent on a party's data.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::Error;
use crate::app::console::Console;
use crate::math::Rational;
use crate::privacy::Epsilon;
use crate::privacy::ledger::{
    self, Delta, Event, Hash, History, Ledger, Reader, Rehearsals, Run, Status,
};
use crate::publish::clock::utc;
use crate::publish::verify::short_delta;

/// Create, show or amend the record of the privacy budget spent
#[derive(Args, Debug)]
pub struct LedgerArgs {
    #[command(subcommand)]
    verb: LedgerVerb,
}

#[derive(Subcommand, Debug)]
enum LedgerVerb {
    /// Create an empty ledger, for data on which nothing was ever spent
    #[command(after_help = "Example: diptych ledger create ledger.jsonl")]
    Create {
        /// The ledger file, as the party file names it
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check every line of a ledger and print what was spent on each data set
    Show {
        /// The ledger file, as the party file names it
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Allow one more exact rehearsal on a data set with a peer: for the data's owner to decide
    ///
    /// A data set is rehearsed exactly (`rehearse = true` or "labels") once with a
    /// peer, under whatever agreement. Every further time, with a table that has
    /// changed a little, can tell the peer about single people, outside ε. This
    /// enters a line that allows one more. Noisy rehearsals need no such line.
    #[command(
        after_help = "Example: diptych ledger allow-rehearsal ledger.jsonl --data-set customers --peer Bank"
    )]
    AllowRehearsal {
        /// The ledger file, as the party file names it
        #[arg(value_name = "LEDGER")]
        file: PathBuf,
        /// The data set, as `diptych ledger show` lists it
        #[arg(long, value_name = "NAME")]
        data_set: String,
        /// The peer, by a name that it had in a rehearsal, as `diptych ledger show` lists it
        #[arg(long, value_name = "NAME")]
        peer: String,
    },
    /// Raise the largest total ε that a data set may ever spend: for its owner to decide
    ///
    /// The first run on a data set fixes its cap. This enters a higher one, in a
    /// line of its own. A run can always be held to a lower one by its party file.
    /// It bounds what readers of the releases learn; with --towards-peer the cap on
    /// what peers learn in runs with them is raised instead.
    #[command(
        after_help = "Example: diptych ledger raise-cap ledger.jsonl --data-set customers --cap 5"
    )]
    RaiseCap {
        /// The ledger file, as the party file names it
        #[arg(value_name = "LEDGER")]
        file: PathBuf,
        /// The data set, as `diptych ledger show` lists it
        #[arg(long, value_name = "NAME")]
        data_set: String,
        /// The largest total ε from now on
        #[arg(long, value_name = "EPS")]
        cap: Epsilon,
        /// Raise the cap on what peers learn (`cap_towards_peer` in the party file) instead
        #[arg(long)]
        towards_peer: bool,
    },
    /// Note that lines of a ledger are lost, so that runs with a peer that remembers them can go
    /// on
    ///
    /// What was spent in lost lines does not count any more: restore the ledger
    /// from a backup if there is one. The run that was refused prints this
    /// command. It holds for that head alone.
    #[command(
        after_help = "Example: diptych ledger acknowledge ledger.jsonl --peer \"Loan company\" --head 3f…"
    )]
    Acknowledge {
        /// The ledger file, as the party file names it
        #[arg(value_name = "LEDGER")]
        file: PathBuf,
        /// The peer, as the agreement names it
        #[arg(long, value_name = "NAME")]
        peer: String,
        /// The head that the peer has and this ledger does not
        #[arg(long, value_name = "HEX", value_parser = head)]
        head: Hash,
    },
}

fn head(text: &str) -> Result<Hash, &'static str> {
    Hash::try_from(text.to_owned())
}

/// Runs the verb.
///
/// # Errors
/// If the ledger cannot be read or was changed.
pub fn run(arguments: &LedgerArgs, console: &Console) -> Result<(), Error> {
    match &arguments.verb {
        LedgerVerb::Show { file } => {
            let text = show(file).map_err(Error::input)?;
            console.result(text.trim_end());
            Ok(())
        }
        LedgerVerb::Create { file } => {
            Ledger::create(file)?;
            console.result(file.display());
            Ok(())
        }
        LedgerVerb::RaiseCap { file, data_set, cap, towards_peer } => {
            let reader = if *towards_peer { Reader::Peer } else { Reader::Anybody };
            raise_cap(file, data_set, reader, cap, console)
        }
        LedgerVerb::AllowRehearsal { file, data_set, peer } => {
            allow_rehearsal(file, data_set, peer, console)
        }
        LedgerVerb::Acknowledge { file, peer, head } => {
            Ledger::open(file)?.acknowledge(peer, *head)?;
            console
                .result(format!("runs with {peer} can go on without the lines up to head {head}"));
            Ok(())
        }
    }
}

fn allow_rehearsal(
    file: &Path,
    data_set: &str,
    peer: &str,
    console: &Console,
) -> Result<(), Error> {
    let mut ledger = Ledger::open(file)?;
    ledger.allow_rehearsal(data_set, peer)?;
    console.result(rehearsals_words(data_set, &ledger.history().rehearsals(data_set, peer, None)));
    Ok(())
}

/// How many exact rehearsals there were with a peer, and may be.
fn rehearsals_words(data_set: &str, of_peer: &Rehearsals) -> String {
    let allowed = match of_peer.allowed {
        0 => String::new(),
        lines => format!(" (one, and {lines} more by `allow-rehearsal`)"),
    };
    format!(
        "exact rehearsals on {data_set} with {}: {} of {}{allowed}",
        of_peer.names.join(", later "),
        of_peer.held,
        of_peer.most()
    )
}

fn raise_cap(
    file: &Path,
    data_set: &str,
    reader: Reader,
    cap: &Epsilon,
    console: &Console,
) -> Result<(), Error> {
    let mut ledger = Ledger::open(file)?;
    ledger.raise_cap(data_set, reader, cap.clone())?;
    console.result(format!("{data_set}: {}", spent_words(ledger.history(), data_set)));
    Ok(())
}

/// What was spent on a data set, towards whom, of which cap.
fn spent_words(history: &History, data_set: &str) -> String {
    let caps = [Reader::Anybody, Reader::Peer].map(|reader| history.cap(data_set, reader));
    let without = history.runs_without_epsilon(data_set);
    columns_words([history.spent(data_set), history.towards_peer(data_set)], caps, without)
}

/// Both sums of ε with their caps, by name, and the runs that are in neither.
pub(super) fn columns_words(
    spent: [Rational; 2],
    caps: [Option<&Epsilon>; 2],
    without_epsilon: usize,
) -> String {
    let [readers, peer] = spent.map(|spent| decimal(&spent));
    let [of_readers, of_peer] = caps.map(|cap| match cap {
        Some(cap) => format!(" of {cap}"),
        None => " (no cap)".to_owned(),
    });
    let without = match without_epsilon {
        0 => String::new(),
        1 => "; 1 run without ε, which no cap counts".to_owned(),
        runs => format!("; {runs} runs without ε, which no cap counts"),
    };
    format!("towards readers ε {readers}{of_readers}; towards the peer ε {peer}{of_peer}{without}")
}

/// Debits have at most 18 digits after the point, and so have their sums.
pub(super) fn decimal(epsilon: &Rational) -> String {
    epsilon.exact_decimal(18).unwrap_or_else(|| epsilon.to_string())
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
    let runs: Vec<_> = history.runs().iter().map(columns).collect();
    if !runs.is_empty() {
        let heads = ["begun", "end", "ε", "δ at most", "ε to peer", "release"].map(str::to_owned);
        let rows = || std::iter::once(&heads).chain(&runs);
        let widths: [usize; 6] =
            std::array::from_fn(|i| rows().map(|row| row[i].chars().count()).max().unwrap_or(0));
        for row in rows() {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
    for data_set in history.data_sets() {
        let delta = delta_words(&history.delta(data_set));
        let spent = spent_words(history, data_set);
        let _ = writeln!(text, "{data_set}: {spent}; δ at most {delta}");
        let peers = history.towards_peers(data_set);
        if peers.len() > 1 {
            let each = peers.iter().map(|(peer, loss)| format!("{peer} ε {}", decimal(loss)));
            let each = each.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "{data_set}: each peer may have learnt: {each}");
        }
    }
    for event in history.entries().iter().map(|entry| (utc(entry.time), &entry.event)) {
        match event {
            (time, Event::Raised { data_set, cap, towards_peer }) => {
                let which = if *towards_peer { " towards the peer" } else { "" };
                let _ =
                    writeln!(text, "the cap{which} of {data_set} was raised to {cap} on {time}");
            }
            (time, Event::Acknowledged { peer, head }) => {
                let _ = writeln!(
                    text,
                    "it was acknowledged on {time} that the lines up to head {head}, which {peer} has, \
                     are lost: what they spent is not counted here"
                );
            }
            (time, Event::Rehearsed(rehearsal)) => {
                let (release, data_set) = (&rehearsal.release, &rehearsal.data_set);
                let peer = &rehearsal.peer;
                let _ = writeln!(
                    text,
                    "{release} on {data_set} was rehearsed with {peer} on {time}, without ε"
                );
            }
            (time, Event::RehearsalAllowed { data_set, peer }) => {
                let _ = writeln!(
                    text,
                    "one more exact rehearsal on {data_set} with {peer} was allowed on {time}"
                );
            }
            _ => {}
        }
    }
    let mut told: Vec<(&str, Rehearsals)> = Vec::new();
    for rehearsal in history.exact_rehearsals() {
        let (data_set, key) = (rehearsal.data_set.as_str(), rehearsal.fingerprint.as_ref());
        let is_told = |(of, peer): &(&str, Rehearsals)| {
            *of == data_set && peer.names.contains(&rehearsal.peer)
        };
        if !told.iter().any(is_told) {
            let of_peer = history.rehearsals(data_set, &rehearsal.peer, key);
            let _ = writeln!(text, "{}", rehearsals_words(data_set, &of_peer));
            told.push((data_set, of_peer));
        }
    }
    for run in history.unfinished() {
        let _ = writeln!(
            text,
            "{}{} is unfinished (run {}): it is under way, or it was interrupted; {}it cannot be \
             resumed",
            if run.is_rehearsal { "a rehearsal of " } else { "" },
            run.debit.release,
            run.debit.run,
            if run.debit.epsilon.is_some() { "its ε stays spent and " } else { "" }
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

fn delta_words(delta: &Rational) -> String {
    short_delta(&Delta::at_least(delta).to_string())
}

fn columns(run: &Run) -> [String; 6] {
    let status = match run.status {
        Status::Debited => "unfinished",
        Status::Finished => "finished",
        Status::Aborted => "aborted",
    };
    let debit = &run.debit;
    let what = if run.is_rehearsal { "rehearsal of " } else { "" };
    let promise =
        debit.promise.as_ref().map_or(String::new(), |words| format!(" (promise: {words})"));
    [
        utc(run.time),
        status.to_owned(),
        debit.epsilon.as_ref().map_or("–".to_owned(), ToString::to_string),
        run.delta().map_or("–".to_owned(), |delta| delta_words(delta.value())),
        run.epsilon_towards_peer().map_or("–".to_owned(), |loss| decimal(&loss)),
        format!("{}{} on {} with {}{promise}", what, debit.release, debit.data_set, debit.peer),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::ledger::{Debit, RunId, Towards};

    #[test]
    fn a_ledger_is_shown_with_totals_unfinished_runs_torn_line_and_head() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let mut ledger = Ledger::create(&path).unwrap();
        for number in [1, 2] {
            let debit = Debit {
                run: RunId([number; 32]),
                release: format!("loans-{number}"),
                data_set: "loans".to_owned(),
                epsilon: Some("0.1".parse().unwrap()),
                cap: Some("3".parse().unwrap()),
                agreement: Hash([0; 32]),
                peer: "Bank".to_owned(),
                salt: Hash([number; 32]),
                delta: None,
                towards_peer: None,
                cap_towards_peer: None,
                out: None,
                promise: None,
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
            "begun                 end         ε    δ at most  ε to peer  release",
            "finished    0.1  9.1e-13    0.2        loans-1 on loans with Bank",
            "loans: towards readers ε 0.2 of 3; towards the peer ε 0.4 (no cap); δ at most 1.9e-12\n",
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
    fn losses_are_summed_per_data_set_and_peer_and_a_raised_cap_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let mut ledger = Ledger::create(&path).unwrap();
        let kinds = [
            ("Bank", Some(Towards::Once)),
            ("Bank", Some(Towards::Twice)),
            (ledger::NO_PEER, None),
        ];
        for (number, (peer, towards_peer)) in (1..).zip(kinds) {
            let debit = Debit {
                run: RunId([number; 32]),
                release: "loans".to_owned(),
                data_set: "loans".to_owned(),
                epsilon: Some("1".parse().unwrap()),
                cap: Some("3".parse().unwrap()),
                agreement: Hash([0; 32]),
                peer: peer.to_owned(),
                salt: Hash([number; 32]),
                delta: Some(Delta::at_least(&"1/1000".parse().unwrap())),
                towards_peer,
                cap_towards_peer: Some("3".parse().unwrap()),
                out: None,
                promise: None,
            };
            let _ = ledger.debit(debit).unwrap();
        }
        let promise = Some("groups of 5".to_owned());
        let run = RunId([9; 32]);
        let (delta, towards_peer, cap_towards_peer) = (None, None, None);
        let first = ledger.history().runs()[0].debit.clone();
        let lkc = Debit { run, epsilon: None, cap: None, promise, delta, ..first };
        let _ = ledger.debit(Debit { towards_peer, cap_towards_peer, ..lkc }).unwrap();
        drop(ledger);
        for (reader, cap) in [(Reader::Anybody, "4.5"), (Reader::Peer, "6")] {
            raise_cap(&path, "loans", reader, &cap.parse().unwrap(), &Console::silent()).unwrap();
        }
        let text = show(&path).unwrap();
        for part in [
            "loans: towards readers ε 3 of 4.5; towards the peer ε 3 of 6; 1 run without ε, which no cap \
             counts; δ at most 0.003\n",
            "the cap of loans was raised to 4.5 on ",
            "the cap towards the peer of loans was raised to 6 on ",
            "unfinished  1  0.001      1          loans on loans with Bank",
            "unfinished  1  0.001      –          loans on loans with none",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        for (file, data_set, cap, why) in [
            ("ledger", "loans", "4.5", "is 4.5 already"),
            ("ledger", "loans", "4", "is 4.5 already"),
            ("ledger", "cards", "4", "no data set \"cards\""),
            ("legder", "loans", "9", "there is no ledger"),
        ] {
            let file = directory.path().join(file);
            let cap = cap.parse().unwrap();
            let refused = raise_cap(&file, data_set, Reader::Anybody, &cap, &Console::silent());
            let refused = refused.unwrap_err();
            assert!(refused.message().contains(why), "{}", refused.message());
        }
        assert_eq!(show(&path).unwrap(), text, "what is refused changes nothing");
        assert!(!directory.path().join("legder").exists());
    }

    #[test]
    fn an_empty_ledger_says_so() {
        assert!(render(&History::default()).starts_with("The ledger is empty"));
    }
}
