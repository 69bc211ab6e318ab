//! A release by one party that holds all records.

use std::path::Path;

use crate::Error;
use crate::agreement::Agreement;
use crate::math::Randomness;
use crate::net::Identity;
use crate::privacy::ledger::{self, Debit, Delta, Hash, Ledger, RunId};
use crate::privacy::{Budget, Epsilon, Promise};
use crate::publish::artefacts::Output;
use crate::publish::data::{Contents, Source};
use crate::publish::manifest::{Described, Draft, described, in_short};
use crate::publish::{Event, Watcher, clock, report};
use crate::release::tree::output::{Rows, write_csv};
use crate::release::{Data, Release, examine, form_of_paths, plan, run};
use crate::role::Role;
use crate::table::{Identifier, Reading, Table};

/// The file under `private/` that records how a release was made.
const NOTES: &str = "how.txt";

/// The options of a release by one party.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The table: CSV with a header line.
    pub data: &'a Source,
    /// The output directory; created if it does not exist, never overwritten.
    pub out: &'a Path,
    /// Also write a copy without the rows whose count is 0.
    pub compact: bool,
    /// The ledger in which the spending is entered; without it nobody counts how often the data is
    /// released.
    pub entered: Option<Entered<'a>>,
    /// Who signs it; only where the agreement is for one party.
    pub identity: Option<&'a Identity>,
}

/// The ledger of a party that releases alone.
#[derive(Clone, Copy, Debug)]
pub struct Entered<'a> {
    /// Its file.
    pub ledger: &'a Path,
    /// Whether there is none yet, and this run makes it.
    pub new: bool,
    /// The largest total ε that the data set may ever spend.
    pub cap: &'a Epsilon,
    /// The data set's name; if none is given, the data file's.
    pub data_set: Option<&'a str>,
}

/// Makes a release and writes it, with its manifest and page.
///
/// # Errors
/// If a file is invalid, the budget does not suffice, or the release cannot be written.
pub fn release(
    agreement: &Agreement,
    wanted: &Wanted<'_>,
    watcher: &dyn Watcher,
) -> Result<Release, Error> {
    // Everything that can be rejected is rejected before anything is spent.
    if let (Some(_), Some(parties)) = (wanted.identity, agreement.parties()) {
        let [one, two] = [&parties.p1.name, &parties.p2.name];
        return Err(Error::input(format!(
            "the agreement is one between {one} and {two}, and a release of it has both signatures"
        ))
        .advise("leave out the identity: what one party makes is a baseline, which nobody signs"));
    }
    clock::check_valid(agreement, ledger::now())?;
    let plan = plan::alone(agreement)?;
    let output = Output::prepare(wanted.out, agreement, &plan, wanted.compact)?;
    let mut rng = Randomness::from_os()?;
    let data = match form_of_paths(agreement) {
        Some(form) => Contents::Paths(wanted.data.read_paths(&form, watcher)?),
        None => Contents::Table(read(agreement, wanted.data, None, None, watcher)?),
    };
    // A run that was stopped spends nothing.
    watcher.stop().check()?;
    let run = RunId(rng.array());
    let mut ledger = match &wanted.entered {
        Some(entered) if entered.new => Some(Ledger::begin(entered.ledger)?),
        Some(entered) => Some(Ledger::open(entered.ledger)?),
        None => None,
    };
    let budget = match (&mut ledger, &wanted.entered) {
        (Some(ledger), Some(entered)) => {
            let debit = debit(agreement, &plan.promise, wanted, entered, run, &mut rng);
            let (spends, accepted) = (debit.epsilon.is_some(), agreement.accept_composition);
            ledger.check_composition(&debit.data_set, spends, accepted)?;
            output.check_place()?;
            ledger.debit(debit)?.into_budget()
        }
        _ => plan.promise.epsilon().map(Budget::new),
    };
    let entered = |failure: Error| match &wanted.entered {
        Some(_) => failure.after_spending(left(&plan.promise)),
        None => failure,
    };
    let made = make(agreement, data.given(), budget, &mut rng, watcher).and_then(|release| {
        if let Some(ledger) = &ledger {
            ledger.check_name()?;
        }
        let put = put(agreement, &release, &plan.promise, &output, wanted)?;
        Ok((release, put))
    });
    // A release in place cannot be undone, so there is no check for a stop before it is entered.
    if let Some(ledger) = &mut ledger {
        match &made {
            Ok(_) => ledger.finish(run).map_err(|error| {
                let place = output.directory().display();
                Error::from(error).after_spending(format!("the release in {place} is complete"))
            })?,
            Err(_) => ledger.abort(run).map_err(|error| entered(error.into()))?,
        }
    }
    let (release, put) = made.map_err(entered)?;
    tell(agreement, &release, &plan.promise, &output, &put, watcher);
    Ok(release)
}

/// What a run leaves that ends without a release once the ledger has it.
pub(super) fn left(promise: &Promise) -> String {
    match promise.epsilon() {
        Some(epsilon) => format!("ε {epsilon} is spent and there is no release"),
        None => "the run is in the ledger and there is no release".to_owned(),
    }
}

fn debit(
    agreement: &Agreement,
    promise: &Promise,
    wanted: &Wanted<'_>,
    entered: &Entered<'_>,
    run: RunId,
    rng: &mut Randomness,
) -> Debit {
    let named = || wanted.data.file_name();
    Debit {
        run,
        release: agreement.id.clone(),
        data_set: entered.data_set.map(str::to_owned).or_else(named).unwrap_or_default(),
        epsilon: promise.epsilon().cloned(),
        cap: promise.epsilon().map(|_| entered.cap.clone()),
        agreement: Hash(agreement.hash().0),
        peer: ledger::NO_PEER.to_owned(),
        salt: Hash(rng.array()),
        delta: promise.delta().map(Delta::at_least),
        towards_peer: None,
        cap_towards_peer: None,
        out: Debit::path_for_line(wanted.out),
        promise: promise.words().map(str::to_owned),
    }
}

/// Reads a table: all columns or those of one owner, and identifiers if requested.
pub(crate) fn read(
    agreement: &Agreement,
    data: &Source,
    owner: Option<Role>,
    identifier: Option<&Identifier>,
    watcher: &dyn Watcher,
) -> Result<Table, Error> {
    let reading = Reading {
        schema: &agreement.schema,
        owner,
        identifier,
        max_records: agreement.max_records,
    };
    data.read(&reading, watcher)
}

fn make(
    agreement: &Agreement,
    data: Data<'_>,
    budget: Option<Budget>,
    rng: &mut Randomness,
    watcher: &dyn Watcher,
) -> Result<Release, Error> {
    let release = run::alone(agreement, data, budget, rng, &|step| watcher.step(step))?;
    let (made, rows) = (release.table.cuts.made().len(), release.table.counts.len());
    watcher.say(&match data {
        Data::Table(_) => format!("made {made} specializations, {rows} rows"),
        Data::Paths(_) | Data::Part(_) => format!("{rows} rows"),
    });
    Ok(release)
}

/// What was put in place.
struct Put {
    described: Described,
    warning: Option<String>,
}

/// Checks that a release is as agreed; returns a warning to show with it, if any.
///
/// # Errors
/// If it is not, or checking would take too long.
pub(super) fn examined(agreement: &Agreement, release: &Release) -> Result<Option<String>, Error> {
    if !examine::is_needed(agreement) {
        return Ok(None);
    }
    let mut csv = Vec::new();
    write_csv(&release.table, Rows::All, &mut csv).map_err(Error::internal)?;
    Ok(examine::released(agreement, csv.as_slice())?.warning)
}

/// Checks that the release is as agreed and puts it in place, with its manifest.
fn put(
    agreement: &Agreement,
    release: &Release,
    promise: &Promise,
    output: &Output,
    wanted: &Wanted<'_>,
) -> Result<Put, Error> {
    let warning = examined(agreement, release)?;
    let draft = Draft::new(agreement, release, promise, None)?;
    let signatures = match wanted.identity {
        Some(identity) => {
            vec![(None, identity.fingerprint(), identity.sign(&draft.to_be_signed()?)?)]
        }
        None => Vec::new(),
    };
    output.write(release, &draft.release, &draft.signed(&signatures)?, wanted.compact)?;
    Ok(Put { described: draft.release, warning })
}

/// Reports what was released, and writes the accompanying files. The release is complete without
/// them, so a failure is only reported.
fn tell(
    agreement: &Agreement,
    release: &Release,
    promise: &Promise,
    output: &Output,
    put: &Put,
    watcher: &dyn Watcher,
) {
    // A baseline for two parties does not have their signatures, and a page would look as if it
    // had.
    if agreement.parties().is_none() {
        report::accompany(output.directory(), watcher);
    }
    keep_notes(output, release, watcher);
    match cut_lines(release) {
        Ok(lines) => lines.iter().for_each(|line| watcher.say(line)),
        Err(failure) => watcher.say(failure.message()),
    }
    let cuts = &release.table.cuts;
    let columns = cuts.schema().attributes.len();
    let undivided = (0..columns).filter(|column| cuts.is_undivided(*column)).count();
    if undivided > 0 {
        watcher.say(&format!(
            "{undivided} of {columns} columns were not divided, and have one value in every row"
        ));
    }
    let made = format!("{}; rows: {}", in_short(promise), put.described.rows);
    watcher.tell(Event::Released, &made);
    watcher.say(&format!("sha256 of release.csv: {}", put.described.sha256));
    if let Some(warning) = &put.warning {
        watcher.say(warning);
    }
}

/// Writes how a release was made, where its model records that, and reports where the file is.
pub(super) fn keep_notes(output: &Output, release: &Release, watcher: &dyn Watcher) {
    if release.notes.is_empty() {
        return;
    }
    watcher.say(&match output.write_private(NOTES, &(release.notes.join("\n") + "\n")) {
        Ok(path) => format!("how it came about, for your eyes only: {}", path.display()),
        Err(failure) => format!("how it came about is not told: {}", failure.message()),
    });
}

/// The specializations, one per line.
pub(crate) fn cut_lines(release: &Release) -> Result<Vec<String>, Error> {
    let lines = described(&release.table.cuts)?;
    let width = lines.iter().map(|(attribute, ..)| attribute.chars().count()).max().unwrap_or(0);
    Ok(lines
        .into_iter()
        .enumerate()
        .map(|(index, (attribute, value, into))| {
            let mut into = into.join(", ");
            if into.chars().count() > 60 {
                into = into.chars().take(59).chain(['…']).collect();
            }
            format!("{:>4}. {attribute:<width$}  {value} → {into}", index + 1)
        })
        .collect())
}
