//! `diptych run --dry-run`: everything that can be known without the peer.

use std::path::Path;

use rustix::fs::{Access, access};

use crate::Error;
use crate::agreement::Rehearsal;
use crate::app::console::Console;
use crate::app::ledger::{columns_words, decimal};
use crate::app::progress::Screen;
use crate::app::speed::{Speeds, together};
use crate::net::memory::NetworkModel;
use crate::net::meter::PhaseCost;
use crate::privacy::Promise;
use crate::privacy::ledger::{self, Hash, History, Reader, Run, Status};
use crate::protocol::forecast::{Forecast, Works};
use crate::publish::manifest::delta_text;
use crate::publish::run::Side;
use crate::publish::run::costs::bytes;
use crate::publish::run::forecast::{assumed_records, people, whole_rehearsal, whole_run};
use crate::publish::verify::short_delta;
use crate::release::forecast::{Records, course, key_bits, random_trees};
use crate::release::plan;
use crate::release::rehearsal::noisy::NoisyPlan;
use crate::table::Cuts;

/// Checks what a run would check before it connects, and says what it would spend, show and cost.
pub(super) fn run(
    side: &Side<'_>,
    assumed: (Option<usize>, Option<usize>),
    line: Option<NetworkModel>,
    console: &Console,
) -> Result<(), Error> {
    let party = side.party;
    check_places(side)?;
    let (history, missing) = match ledger::read(&party.ledger) {
        Ok(_) if party.new_ledger => {
            let error = ledger::Error::Exists(party.ledger.clone());
            return Err(Error::input(format!("the run would be refused: {error}")));
        }
        Err(missing @ ledger::Error::Missing(_)) => (History::default(), Some(missing)),
        read => (read?, None),
    };
    let data = side.read_data(&Screen::new(console))?;
    let records = assumed_records(side.agreement, data.len(), assumed)?;
    let records = Records { paths: data.extents(), ..records };
    // Where nobody learns who is common, everything is done for all.
    let hidden = side.agreement.membership().is_hidden();
    plan::check_records(side.agreement, if hidden { records.own } else { records.common })?;

    console.result(format!(
        "A dry run of \"{}\" as {} with {}: nothing is connected, written or spent.",
        side.agreement.id, party.role, side.peer_name
    ));
    console.result(format!("Agreement  SHA-256 {}", side.agreement.hash()));
    console.result("\nWhat it would spend");
    match &side.plan.promise {
        Promise::Differential(promised) => {
            console.result(format!(
                "  ε {} and δ ≤ {} (promised: at most 2^-40)",
                promised.epsilon,
                short_delta(&delta_text(&promised.delta))
            ));
            console.result(format!(
                "  towards {} ε {} and δ ≤ {}, for {}",
                side.peer_name,
                decimal(&promised.epsilon_towards_peer()),
                short_delta(&delta_text(&promised.delta_towards_peer())),
                promised.towards_peer.reason()
            ));
        }
        Promise::Words(words) => console.result(format!("  no ε; promised is {words}")),
    }
    console.result(format!("  {}", ledger_words(side, &history)));
    if let Some(missing) = missing.filter(|_| !party.new_ledger) {
        console.result(format!("  the run would be refused now: {missing}"));
    }
    side.plan.details.iter().for_each(|line| console.result(format!("  {line}")));
    if let Some(line) = rehearsal_words(side, records, &history)? {
        console.result(format!("  {line}"));
    }
    if let Some(remark) = side.remark_on_id(&history) {
        console.result(format!("  {remark}"));
    }
    let people = people(side.agreement, records);
    console.result(
        "\nWhat the release would look like (computed from your records: do not pass it on)",
    );
    let outlook = plan::outlook(side.agreement, Some(people))?;
    outlook.iter().for_each(|line| console.result(format!("  {line}")));
    console.result("\nWhat the parties would learn");
    console.result(side.agreement.learned_words().trim_end());
    refuse(side, &history)?;
    console.result("\nWhat it would cost");
    tell_costs(side, records, &history, line, console)
}

/// Checks that ledger and release can be written, without writing anything.
fn check_places(side: &Side<'_>) -> Result<(), Error> {
    let party = side.party;
    for (key, path) in [("ledger", &party.ledger), ("out", &party.out)] {
        let there = path.symlink_metadata().is_ok();
        // What is missing is made, in the nearest directory that is there.
        let mut place = path.as_path();
        while place.symlink_metadata().is_err() {
            place = match place.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
        }
        if !there && !place.is_dir() {
            return Err(Error::input(format!(
                "the run would be refused: `{key}` {} cannot be made: {} is not a directory",
                path.display(),
                place.display()
            ))
            .advise("name another place in the party file"));
        }
        let wanted =
            if place.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
        if let Err(error) = access(place, wanted) {
            let verb = if there { "written" } else { "made" };
            return Err(Error::input(format!(
                "the run would be refused: `{key}` {} cannot be {verb}: {}: {error}",
                path.display(),
                place.display()
            ))
            .advise("change its permissions, or name another place in the party file"));
        }
    }
    Ok(())
}

/// Fails if the run would be refused before it connects.
fn refuse(side: &Side<'_>, history: &History) -> Result<(), Error> {
    let party = side.party;
    side.check_caps(history)
        .map_err(|error| Error::input(format!("the run would be refused: {error}")))?;
    let spends = side.plan.promise.epsilon().is_some();
    history
        .check_composition(&party.data_set, spends, side.agreement.accept_composition)
        .map_err(|error| Error::input(format!("the run would be refused: {error}")))?;
    if party.out.join(crate::publish::artefacts::MANIFEST).exists() {
        let place = party.out.display();
        return Err(Error::input(format!(
            "the run would be refused: {place} has a release already"
        ))
        .advise("name another directory as `out` in the party file"));
    }
    Ok(())
}

/// What the data set would have spent after the run, towards whom, of which cap.
fn ledger_words(side: &Side<'_>, history: &History) -> String {
    let (party, data_set) = (side.party, &side.party.data_set);
    let mut after = [history.spent(data_set), history.towards_peer(data_set)];
    let promised = side.plan.promise.differential();
    if let Some(promised) = promised {
        let spent = [promised.epsilon.value().clone(), promised.epsilon_towards_peer()];
        after = [&after[0] + &spent[0], &after[1] + &spent[1]];
    }
    let fixed = history.cap(data_set, Reader::Peer);
    let caps = [Some(&party.cap), party.cap_towards_peer.as_ref().or(fixed)];
    let without = history.runs_without_epsilon(data_set) + usize::from(promised.is_none());
    format!("after it, data set \"{data_set}\": {}", columns_words(after, caps, without))
}

/// What a rehearsal before the run would spend and send, where one is agreed.
fn rehearsal_words(
    side: &Side<'_>,
    records: Records,
    history: &History,
) -> Result<Option<String>, Error> {
    let (agreement, party) = (side.agreement, side.party);
    let Some(kind) = agreement.matching().and_then(|matching| matching.rehearse) else {
        return Ok(None);
    };
    if !matches!(kind, Rehearsal::Noisy { .. }) {
        let key = Hash(*side.peer().as_bytes());
        let before = history.rehearsals(&party.data_set, side.peer_name, Some(&key));
        return Ok(Some(format!(
            "a rehearsal (`--rehearse`) would spend no ε; with {} there were {} of {} on this data set",
            side.peer_name,
            before.held,
            before.most()
        )));
    }
    let plan = NoisyPlan::of(agreement)?;
    let sizes = [records.own, records.peer];
    let total = whole_rehearsal(agreement, &plan, party.role, sizes, false)?.costs().total();
    Ok(Some(format!(
        "each rehearsal (`--rehearse`) would spend ε {} more and {} δ, with {} sent and {} received",
        plan.promised.epsilon,
        short_delta(&delta_text(&plan.promised.delta)),
        bytes(total.bytes_sent),
        bytes(total.bytes_received)
    )))
}

/// What a run that leads to one tree costs both parties.
struct Expected {
    rows: u64,
    own: Forecast,
    peer: Forecast,
}

impl Expected {
    fn new(side: &Side<'_>, records: Records, tree: &Cuts, again: bool) -> Result<Self, Error> {
        let role = side.party.role;
        let turned = records.turned();
        let course = course(side.agreement, tree);
        let run = |role, records| whole_run(side.agreement, role, records, &course, again);
        let (own, rows) = run(role, records)?;
        let (peer, _) = run(role.peer(), turned)?;
        Ok(Self { rows, own, peer })
    }

    /// By phase: own and peer's works.
    fn works(&self, phase: &str) -> [Works; 2] {
        [&self.own, &self.peer].map(|party| {
            let of_phase = party.works().into_iter().find(|(name, _)| name == phase);
            of_phase.map(|(_, works)| works).unwrap_or_default()
        })
    }
}

/// How many trees are drawn at most to find a typical one.
const TREES: usize = 999;

fn tell_costs(
    side: &Side<'_>,
    records: Records,
    history: &History,
    line: Option<NetworkModel>,
    console: &Console,
) -> Result<(), Error> {
    let agreement = side.agreement;
    let finished = |run: &Run| {
        let with_peer = run.debit.peer == side.peer_name && !run.is_rehearsal;
        with_peer && run.status == Status::Finished
    };
    let again = history.runs().iter().any(finished);
    console.say("forecasting the messages …");
    let trees = random_trees(agreement, TREES, Some(people(agreement, records)))?;
    let [usual, large] = [trees.len() / 2, trees.len() * 95 / 100]
        .map(|place| Expected::new(side, records, &trees[place], again));
    let (usual, large) = (usual?, large?);
    console.say("measuring this machine …");
    let speeds = Speeds::measure([&usual.own, &usual.peer], key_bits(agreement))?;
    let of_paths = is_of_paths(records);
    tell_assumed(side, records, trees.len(), [usual.rows, large.rows], console);
    let what = if of_paths { "paths" } else { "a tree of usual size" };
    console.result(format!("\n  With {what}, {} rows:", usual.rows));
    let wall = tell_phases(&usual, &speeds, console);
    let (usual, larger) = (usual.own.costs().total(), large.own.costs().total());
    if !of_paths {
        console.result(format!(
            "\n  With a tree of {} rows: {} sent, {} received, {} rounds (more rows need not cost more).",
            large.rows,
            bytes(larger.bytes_sent),
            bytes(larger.bytes_received),
            larger.rounds
        ));
    }
    let what = if of_paths { "paths" } else { "trees and numbers of records" };
    console.result(format!(
        "  Bytes and rounds are exact for such {what}, if neither side has\n  \
         unfinished runs. Times come from a short calibration, as if the peer's machine were this\n  \
         one: about {} in all, and on top of it {} round trips of the network and the time\n  \
         that it takes to carry the bytes.",
        seconds(wall),
        usual.rounds
    ));
    if let Some(line) = line {
        console.result(format!(
            "  On a line of {:.0} Mbit/s each way with a round trip of {:.1} ms: about {}.",
            line.bytes_per_second * 8e-6,
            line.round_trip.as_secs_f64() * 1e3,
            seconds(wall + time_on(line, &usual))
        ));
    }
    let why = match side.party.run_limit {
        Some(_) => "as the party file says",
        None => "ten times what slow machines on the slowest line need; `run_seconds` changes it",
    };
    let limit = side.deadline(records)?.as_secs();
    console.result(format!("  The run is aborted after {limit} s ({why})."));
    Ok(())
}

/// Whether records are paths.
fn is_of_paths(records: Records) -> bool {
    records.paths[0].part.rows > 0
}

/// What the costs are told for, with trees of which half and nineteen in twenty have so many rows.
fn tell_assumed(
    side: &Side<'_>,
    records: Records,
    trees: usize,
    rows: [u64; 2],
    console: &Console,
) {
    let agreement = side.agreement;
    if is_of_paths(records) {
        console.result(format!(
            "  The paths of {} are not known yet: they are assumed to be as many and as long as \
             yours.\n  \
             This part tells how many you have: do not pass it on.",
            side.peer_name
        ));
        return;
    }
    console.result(format!(
        "  The tree that comes out is not known yet. Of {trees} drawn at random, half have at most\n  \
         {} rows and nineteen in twenty at most {}; no tree has more than {}.",
        rows[0], rows[1], side.plan.most_rows
    ));
    if let Some(records) = agreement.pad_to() {
        console.result(format!(
            "  Messages are those of {records} records of each party, however many there are."
        ));
    } else if agreement.membership().is_hidden() {
        console.result(format!(
            "  {} is assumed to have {} records; how many are common changes nothing. This part tells\n  \
             how many records you have: do not pass it on.",
            side.peer_name, records.peer
        ));
    } else if agreement.identifier().is_some() {
        console.result(format!(
            "  {} is assumed to have {} records, {} of them common. This part tells how many\n  \
             records you have: do not pass it on.",
            side.peer_name, records.peer, records.common
        ));
    }
}

/// What the network adds: one round trip for every round, and the transfer of the longer
/// direction. Some of that overlaps with computation, so a run may take less.
fn time_on(line: NetworkModel, total: &PhaseCost) -> f64 {
    let bytes = total.bytes_sent.max(total.bytes_received) as f64;
    total.rounds as f64 * line.round_trip.as_secs_f64() + bytes / line.bytes_per_second
}

/// A table of the phases; returns seconds on the wall.
fn tell_phases(usual: &Expected, speeds: &Speeds, console: &Console) -> f64 {
    console.result(format!(
        "  {:<18}{:>12}{:>12}{:>8}{:>12}{:>12}",
        "phase", "sent", "received", "rounds", "CPU here", "CPU there"
    ));
    let costs = usual.own.costs();
    let mut wall = 0.0;
    let mut cpu = [0.0; 2];
    for phase in &costs.phases {
        let works = usual.works(&phase.phase);
        let seconds = works.each_ref().map(|works| speeds.cpu(works));
        wall += together(speeds, &works[0], &works[1]);
        cpu = [cpu[0] + seconds[0], cpu[1] + seconds[1]];
        console.result(line(&phase.phase, phase, seconds));
    }
    console.result(line("total", &costs.total(), cpu));
    wall
}

fn line(name: &str, phase: &PhaseCost, cpu: [f64; 2]) -> String {
    format!(
        "  {name:<18}{:>12}{:>12}{:>8}{:>12}{:>12}",
        bytes(phase.bytes_sent),
        bytes(phase.bytes_received),
        phase.rounds,
        seconds(cpu[0]),
        seconds(cpu[1])
    )
}

fn seconds(seconds: f64) -> String {
    match seconds {
        ..0.005 => "0.00 s".to_owned(),
        ..10.0 => format!("{seconds:.2} s"),
        ..600.0 => format!("{seconds:.0} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}
