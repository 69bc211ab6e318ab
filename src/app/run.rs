//! `diptych run`: one party's side of a release by two.

mod dry;

use std::path::PathBuf;

use clap::Args;

use crate::Error;
use crate::agreement::{Agreement, noise_bound};
use crate::app::agreement;
use crate::app::bench::parse_network;
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::net::memory::NetworkModel;
use crate::publish::metrics::{Keeper, Metrics};
use crate::publish::party::Party;
use crate::publish::run::rehearse::{Numbers, Told, rehearse};
use crate::publish::run::{self, Options, Side};
use crate::release::rehearsal::Rehearsed;
use crate::release::rehearsal::noisy::Counted;

/// Run one party's side of a release; both end with the same table
///
/// Each party runs this next to its own data. It listens or connects as the
/// party file says, and either may start first. Nothing is spent before both have confirmed that
/// they run under the same agreement.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych run --agreement agreement.toml --party bank.toml")]
pub struct RunArgs {
    /// The agreement, in TOML; the same at both parties
    #[arg(long, value_name = "FILE")]
    agreement: PathBuf,
    /// This party's own file, in TOML: role, data, identity, address, ledger, output, cap
    #[arg(long, value_name = "FILE")]
    party: PathBuf,
    /// Create the ledger that the party file names: nothing was ever spent on this data
    #[arg(long)]
    new_ledger: bool,
    /// Check everything and say what the run would cost, without connecting or spending
    #[arg(long)]
    dry_run: bool,
    /// Before a run, count with the peer how many people are in both tables, if the agreement
    /// sets `rehearse` in [id]: with noise, for a small ε ("noisy"), or exactly, once, without ε
    #[arg(long, conflicts_with_all = ["dry_run", "compact", "record"])]
    rehearse: bool,
    /// For a dry run: how many records to assume that the peer has [default: as many as we have]
    #[arg(long, value_name = "N", requires = "dry_run")]
    peer_records: Option<usize>,
    /// For a dry run: how many people to assume in both tables [default: as many as possible]
    #[arg(long, value_name = "N", requires = "dry_run")]
    common_records: Option<usize>,
    /// If the table does not fit the agreement, list all problems in this file (private: it holds
    /// data)
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// For a dry run: the network to the peer, to estimate how long a run takes over it: lan,
    /// wan, or
    /// RTT_MS,MBPS (milliseconds there and back, Mbit/s)
    #[arg(long, value_name = "NET", requires = "dry_run", value_parser = parse_network)]
    net: Option<NetworkModel>,
    /// Write what the run is doing to this file, every ten seconds and at the end, in the text format
    /// of Prometheus
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    metrics: Option<PathBuf>,
    /// Also write release-compact.csv, without the rows whose count is 0
    #[arg(long)]
    compact: bool,
    /// Also write direction, kind and length of every message to private/messages.csv
    #[arg(long)]
    record: bool,
    /// If people are matched in shards: how many to process at a time; more are faster and take
    /// more memory, and the smaller of both parties' numbers is used
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    shards_at_once: u32,
    /// Connect shard n at a port of its own, n + 1 above the main one; both parties must use this
    /// if either runs shards in separate processes, as with diptych.ray
    #[arg(long)]
    shard_ports: bool,
}

/// Runs the verb.
///
/// # Errors
/// Whatever stops the run, in words; the ledger says what it has spent.
pub fn run(arguments: &RunArgs, console: &Console) -> Result<(), Error> {
    let agreement = agreement::load(&arguments.agreement)?;
    let mut party = Party::load(&arguments.party)?;
    party.data.problems = arguments.problems.clone();
    party.new_ledger = arguments.new_ledger;
    let Some(path) = arguments.metrics.clone() else {
        return run_side(arguments, &agreement, &party, console);
    };
    let (metrics, told) =
        (Metrics::new(party.role, console.tally(), console.spent()), console.clone());
    let keeper = Keeper::start(path, metrics, move |line| told.say(line))?;
    let ended = run_side(arguments, &agreement, &party, console);
    keeper.end(ended.as_ref().map_or_else(|failure| failure.status() as u8, |()| 0));
    ended
}

fn run_side(
    arguments: &RunArgs,
    agreement: &Agreement,
    party: &Party,
    console: &Console,
) -> Result<(), Error> {
    let side = Side::new(agreement, party, &Screen::new(console))?;
    console.name_peer(side.peer_name);
    if arguments.dry_run {
        let assumed = (arguments.peer_records, arguments.common_records);
        return dry::run(&side, assumed, arguments.net, console);
    }
    console.stop_on_signals();
    if arguments.rehearse {
        let told = rehearse(&side, &Screen::new(console))?;
        rehearsed_words(&side, &told).iter().for_each(|line| console.result(line));
        return Ok(());
    }
    let RunArgs { compact, record, shards_at_once, shard_ports, .. } = *arguments;
    let options = Options { compact, record, shards_at_once, shard_ports };
    run::run(&side, options, &Screen::new(console))?;
    console.result_of_work_done(party.out.display());
    Ok(())
}

/// What a rehearsal revealed, in lines for this party alone.
fn rehearsed_words(side: &Side<'_>, told: &Told) -> Vec<String> {
    match &told.numbers {
        Numbers::Exact(rehearsed) => exact_words(side, told.records, rehearsed),
        Numbers::Noisy(counted) => noisy_words(side, told.records, counted),
    }
}

/// The first line of both kinds.
fn records_words(side: &Side<'_>, own: usize, peer: Option<usize>) -> String {
    match peer {
        Some(peer) => format!("This side has {own} records and {} {peer}", side.peer_name),
        None => format!("This side has {own} records"),
    }
}

fn noisy_words(side: &Side<'_>, records: usize, counted: &Counted) -> Vec<String> {
    let agreement = side.agreement;
    let Some(epsilon) = agreement.rehearse_epsilon() else { return Vec::new() };
    let bound = noise_bound(&epsilon);
    let about = counted.common.max(0).unsigned_abs();
    let mut lines = vec![format!(
        "{}; about {about} people are in both tables: the noise is at most {bound} in 19 of 20 \
         rehearsals.",
        records_words(side, records, counted.peer_records)
    )];
    let least = agreement.matching().map_or(0, |matching| matching.min_common);
    let column = agreement.identifier().map_or("id", |id| id.column.as_str());
    if about.saturating_add(bound) < least {
        lines.push(format!(
            "A run would probably end without a release, its ε spent: `min_common` in [id] is \
             {least}. Compare how each side writes column `{column}`."
        ));
    } else if about < least.max(1).saturating_add(bound) {
        lines.push(format!(
            "So few may be noise alone: if more were expected, compare how each side writes column \
             `{column}`."
        ));
    }
    lines.push(format!("ε {epsilon} is spent, and entered in both ledgers."));
    lines
}

fn exact_words(side: &Side<'_>, records: usize, rehearsed: &Rehearsed) -> Vec<String> {
    let common = rehearsed.common;
    let mut lines = vec![format!(
        "{}; {common} people are in both tables.",
        records_words(side, records, Some(rehearsed.peer_records))
    )];
    let least = side.agreement.matching().map_or(0, |matching| matching.min_common);
    if (common as u64) < least {
        let column = side.agreement.identifier().map_or("id", |id| id.column.as_str());
        lines.push(format!(
            "A run would end without a release, its ε spent: `min_common` in [id] is {least}. Compare \
             how each side writes column `{column}`."
        ));
    }
    if let Some(differing) = rehearsed.differing {
        let column = &side.agreement.schema.class.column;
        lines.push(match differing {
            0 => format!("Column `{column}` is the same for all of them."),
            _ => format!(
                "Column `{column}` differs for {differing} of them: a run would end without a \
                 release, its ε spent. Compare how each side derives it."
            ),
        });
    }
    lines.push("No ε is spent. These numbers are not protected by ε: do not publish them.".into());
    lines
}
