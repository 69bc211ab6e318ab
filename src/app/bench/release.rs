//! Whole releases by two parties on generated census data, both in one process: what each phase
//! costs. Reading files is left out, as is writing them. P1 says when a phase begins, and the
//! processor time of a phase is what both parties used meanwhile.

use super::pair::pair;
use super::process::Taken;
use super::{BenchArgs, Choices, Divided, Figures, census};
use crate::Error;
use crate::agreement::Agreement;
use crate::app::Membership;
use crate::net::Costs;
use crate::net::meter::{CpuClock, PhaseCost};
use crate::privacy::Budget;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::release::forecast::Records;
use crate::release::{self, Examined};
use crate::role::Role;
use crate::table::{Reading, Table, parse_csv};

/// As many as the Adult training data.
pub(super) const RECORDS: usize = 30_162;
/// How many specializations are made if nothing else is asked for.
pub(super) const SPECIALIZATIONS: u32 = 10;

impl BenchArgs {
    fn is_horizontal(&self) -> bool {
        self.partition == Some(Divided::Horizontal)
    }

    fn is_hidden(&self) -> bool {
        self.membership == Some(Membership::Hidden)
    }

    pub(super) fn is_paper(&self) -> bool {
        self.profile == Some(Choices::Paper)
    }

    pub(super) fn partition_word(&self) -> &'static str {
        if self.is_horizontal() { "horizontal" } else { "vertical" }
    }

    fn profile_word(&self) -> &'static str {
        if self.is_paper() { "paper" } else { "default" }
    }

    pub(super) fn records(&self) -> usize {
        self.size_or(RECORDS, 100)
    }

    pub(super) fn h(&self) -> u32 {
        self.specializations.unwrap_or(SPECIALIZATIONS)
    }

    /// The only party that has the class, if there is one.
    fn only_owner(&self) -> Option<Role> {
        self.class_owner.or(self.is_hidden().then_some(Role::P1))
    }
}

/// What a release took.
pub(super) struct Measured {
    pub taken: Taken,
    /// As P1 counts it.
    pub costs: Costs,
    /// Of the release.
    pub rows: usize,
    /// What was forecast of both parties; the messages were the same.
    pub forecast: [Forecast; 2],
}

impl Measured {
    /// Megabytes of both directions.
    pub fn megabytes(&self) -> f64 {
        let total = self.costs.total();
        (total.bytes_sent + total.bytes_received) as f64 / 1e6
    }

    /// The phases in which messages were exchanged.
    pub fn phases(&self) -> impl Iterator<Item = &PhaseCost> {
        let spoke = |phase: &&PhaseCost| phase.messages_sent + phase.messages_received > 0;
        self.costs.phases.iter().filter(spoke)
    }
}

/// Measures one release.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let only_vertical = [
        (options.class_owner.is_some(), "--class-owner"),
        (options.is_hidden(), "--membership hidden"),
        (options.shards > 0, "--shards"),
    ];
    for (_, flag) in only_vertical.into_iter().filter(|(given, _)| *given) {
        if options.is_horizontal() || options.is_paper() {
            let message = format!("{flag} is for vertical releases with our choices");
            return Err(Error::input(message).advise("leave --partition and --profile out"));
        }
    }
    let measured = measure(options)?;
    let mut what = options.partition_word().to_owned();
    if let Some(owner) = options.only_owner() {
        what += &format!(", class at {owner} alone");
    }
    for (given, words) in
        [(options.is_hidden(), ", membership hidden"), (options.no_lpn, ", no LPN")]
    {
        what += if given { words } else { "" };
    }
    if options.shards > 0 {
        what += &format!(", {} shards one after the other", options.shards);
    }
    let (profile, records, h) = (options.profile_word(), options.records(), options.h());
    what += &format!(", {profile} profile, {records} records × 14, h = {h}");
    let total = measured.costs.total();
    let matching = if options.is_hidden() { "hidden join" } else { "set intersection" };
    let intersection = measured.costs.phase(matching);
    let (Taken { wall, cpu, peak_bytes }, rows) = (measured.taken, measured.rows);
    out.add("release, wall", wall, "s", format!("{what}; {rows} rows"));
    out.add("release, CPU of both parties", cpu, "s", &what);
    let rest = total.wall.saturating_sub(intersection.wall).as_secs_f64();
    out.add(
        format!("beyond the {matching}, CPU of both parties"),
        total.cpu.saturating_sub(intersection.cpu).as_secs_f64(),
        "s",
        format!("{rest:.3} s wall"),
    );
    out.add("sent by P1", total.bytes_sent as f64 / 1e6, "MB", &what);
    out.add("sent by P2", total.bytes_received as f64 / 1e6, "MB", &what);
    out.add("rounds", total.rounds as f64, "", &what);
    if let Some(bytes) = peak_bytes {
        let note = "of both parties in one process, tables included";
        out.add("peak memory", bytes as f64 / 1e6, "MB", note);
    }
    for phase in measured.phases() {
        let note = format!(
            "CPU of both {:.3} s; P1 sent {:.2} MB, received {:.2} MB, {} rounds",
            phase.cpu.as_secs_f64(),
            phase.bytes_sent as f64 / 1e6,
            phase.bytes_received as f64 / 1e6,
            phase.rounds
        );
        out.add(format!("  phase: {}", phase.phase), phase.wall.as_secs_f64(), "s", note);
    }
    Ok(())
}

/// Runs one release; making the data is not counted.
pub(super) fn measure(options: &BenchArgs) -> Result<Measured, Error> {
    let mut terms = format!("profile = \"{}\"", options.profile_word());
    if options.is_paper() {
        terms += &format!("\n[crypto]\npaillier_bits = {}", options.key_bits());
    } else if options.no_lpn {
        terms += "\n[crypto]\ntransfers = \"no-lpn\"";
    }
    if options.shards > 0 {
        terms += &format!("\n[scale]\nshards = {}", options.shards);
    }
    let text = census::two_parties(
        options.partition_word(),
        options.only_owner(),
        options.is_hidden(),
        options.h(),
        options.records(),
        &terms,
    );
    let agreement = Agreement::parse("census.toml", text.as_bytes(), &|_| Err(String::new()))
        .map_err(Error::internal)?;
    let csv = census::csv_with_ids(options.records());
    let tables = tables(&agreement, &csv, options.is_horizontal())?;
    let party = |table: &Table, session: &mut Workspace| -> Result<_, Error> {
        session.channel.restart_meter(CpuClock::Process);
        let prepared = release::run::prepare(session, &agreement)?;
        let budget = agreement.epsilon().map(Budget::new);
        release::run::together(session, &agreement, table, budget, prepared, &|_| {})
            .map(|made| (made.release.table.counts.len(), made.course))
    };
    let run = pair(
        options.memory(),
        |session| party(&tables[0], session),
        |session| party(&tables[1], session),
    )?;
    let (rows, course) = run.p1;
    let forecast = forecast_both(&agreement, tables.each_ref().map(Table::len), &course)?;
    if !forecast.iter().zip(&run.costs).all(|(told, seen)| told.matches(seen)) {
        return Err(Error::internal("the messages of the run are not those that were forecast"));
    }
    let [costs, _] = run.costs;
    Ok(Measured { taken: run.taken, costs, rows, forecast })
}

/// Both parties' sides of a run in which this was examined; vertically all records are common.
fn forecast_both(
    agreement: &Agreement,
    [first, second]: [usize; 2],
    course: &[Examined],
) -> Result<[Forecast; 2], Error> {
    let side = |role, own, peer| {
        let mut forecast = Forecast::new(role);
        let records = Records { own, peer, common: own, ..Records::default() };
        release::forecast::prepare(&mut forecast, agreement)?;
        release::forecast::together(&mut forecast, agreement, records, course)?;
        Ok::<_, Error>(forecast)
    };
    Ok([side(Role::P1, first, second)?, side(Role::P2, second, first)?])
}

/// Both parties' tables: all rows and its own columns each, or all columns and every other row.
fn tables(agreement: &Agreement, csv: &[u8], horizontal: bool) -> Result<[Table; 2], Error> {
    let read = |owner| {
        let reading = Reading {
            schema: &agreement.schema,
            owner,
            identifier: agreement.identifier(),
            max_records: agreement.max_records,
        };
        parse_csv("census.csv", csv, &reading, &|_| {})
    };
    if !horizontal {
        return Ok([read(Some(Role::P1))?, read(Some(Role::P2))?]);
    }
    let table = read(None)?;
    let half = |first: usize| table.select(&(first..table.len()).step_by(2).collect::<Vec<_>>());
    Ok([half(0), half(1)])
}
