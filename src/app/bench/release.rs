//! Whole releases by two parties on generated census data, both in one process: what each phase
//! costs. Reading files is left out, as is writing them. P1 says when a phase begins, and the
//! processor time of a phase is what both parties used meanwhile.

use crate::Error;
use crate::agreement::Agreement;
use crate::app::bench::process::{Taken, taken};
use crate::app::bench::{Figure, Options, census};
use crate::net::Costs;
use crate::net::memory::NetworkModel;
use crate::net::meter::{CpuClock, PhaseCost};
use crate::privacy::Budget;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::pair::{Setup, run_workspaces};
use crate::release::forecast::Records;
use crate::release::{self, Examined};
use crate::role::Role;
use crate::table::{Reading, Table, parse_csv};

/// As many as the Adult training data.
pub(super) const RECORDS: usize = 30_162;
pub(super) const SPECIALIZATIONS: u32 = 10;

/// Of a first look.
const QUICK_RECORDS: usize = 100;

/// A release to be measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub records: usize,
    pub specializations: u32,
    pub horizontal: bool,
    pub paper: bool,
    /// Who alone has the class, where one party has.
    pub class_owner: Option<Role>,
    /// Whether nobody learns whom both have.
    pub hidden: bool,
    /// Whether transfers do without LPN; the papers' choices always do.
    pub no_lpn: bool,
    /// Into how many shards people are dealt, one in work at a time; 0 is none.
    pub shards: u32,
    pub network: Option<NetworkModel>,
    pub paillier_bits: usize,
}

impl Case {
    pub fn partition(&self) -> &'static str {
        if self.horizontal { "horizontal" } else { "vertical" }
    }

    pub fn profile(&self) -> &'static str {
        if self.paper { "paper" } else { "default" }
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

    /// The phases in which something was said.
    pub fn phases(&self) -> impl Iterator<Item = &PhaseCost> {
        let spoke = |phase: &&PhaseCost| phase.messages_sent + phase.messages_received > 0;
        self.costs.phases.iter().filter(spoke)
    }
}

/// Measures one release.
///
/// # Errors
/// If it fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    if options.class_owner.is_some() && (options.horizontal || options.paper) {
        let message = "--class-owner is for vertical releases with our choices";
        return Err(Error::input(message).advise("leave --partition and --profile out"));
    }
    if options.hidden && (options.horizontal || options.paper) {
        let message = "--membership hidden is for vertical releases with our choices";
        return Err(Error::input(message).advise("leave --partition and --profile out"));
    }
    if options.shards > 0 && (options.horizontal || options.paper) {
        let message = "--shards is for vertical releases with our choices";
        return Err(Error::input(message).advise("leave --partition and --profile out"));
    }
    let class_owner = options.class_owner.or(options.hidden.then_some(Role::P1));
    let case = Case {
        records: options.size_or(RECORDS, QUICK_RECORDS),
        specializations: SPECIALIZATIONS,
        horizontal: options.horizontal,
        paper: options.paper,
        class_owner,
        hidden: options.hidden,
        no_lpn: options.no_lpn,
        shards: options.shards,
        network: options.network,
        paillier_bits: options.key_bits(),
    };
    let measured = measure(&case)?;
    let class = case.class_owner.map_or(String::new(), |owner| format!(", class at {owner} alone"));
    let without = if case.no_lpn { ", no LPN" } else { "" };
    let in_shards = match case.shards {
        0 => String::new(),
        shards => format!(", {shards} shards one after the other"),
    };
    let what = format!(
        "{}{class}{}{without}{in_shards}, {} profile, {} records × 14, h = {SPECIALIZATIONS}",
        case.partition(),
        if case.hidden { ", membership hidden" } else { "" },
        case.profile(),
        case.records
    );
    let total = measured.costs.total();
    let matching = if case.hidden { "hidden join" } else { "set intersection" };
    let intersection = measured.costs.phase(matching);
    let (Taken { wall, cpu, peak_bytes }, rows) = (measured.taken, measured.rows);
    let mut figures = vec![
        Figure::new("release, wall", wall, "s", format!("{what}; {rows} rows")),
        Figure::new("release, CPU of both parties", cpu, "s", &what),
        Figure::new(
            format!("beyond the {matching}, CPU of both parties"),
            total.cpu.saturating_sub(intersection.cpu).as_secs_f64(),
            "s",
            format!(
                "{:.3} s on the wall",
                (total.wall.saturating_sub(intersection.wall)).as_secs_f64()
            ),
        ),
        Figure::new("sent by P1", total.bytes_sent as f64 / 1e6, "MB", &what),
        Figure::new("sent by P2", total.bytes_received as f64 / 1e6, "MB", &what),
        Figure::new("rounds", total.rounds as f64, "", &what),
    ];
    if let Some(bytes) = peak_bytes {
        let parameters = "of both parties in one process, tables included";
        figures.push(Figure::new("peak memory", bytes as f64 / 1e6, "MB", parameters));
    }
    figures.extend(measured.phases().map(phase));
    Ok(figures)
}

/// Runs one release; making the data is not counted.
///
/// # Errors
/// If it fails.
pub(super) fn measure(case: &Case) -> Result<Measured, Error> {
    let mut terms = format!("profile = \"{}\"", case.profile());
    if case.paper {
        terms += &format!("\n[crypto]\npaillier_bits = {}", case.paillier_bits);
    } else if case.no_lpn {
        terms += "\n[crypto]\ntransfers = \"no-lpn\"";
    }
    if case.shards > 0 {
        terms += &format!("\n[scale]\nshards = {}", case.shards);
    }
    let text = census::two_parties(
        case.partition(),
        case.class_owner,
        case.hidden,
        case.specializations,
        case.records,
        &terms,
    );
    let agreement = Agreement::parse("census.toml", text.as_bytes(), &|_| Err(String::new()))
        .map_err(Error::internal)?;
    let tables = tables(&agreement, &census::csv_with_ids(case.records), case.horizontal)?;
    let party = |table: &Table, session: &mut Workspace| -> Result<_, Error> {
        session.channel.restart_meter(CpuClock::Process);
        let prepared = release::run::prepare(session, &agreement)?;
        let budget = agreement.epsilon().map(Budget::new);
        release::run::together(session, &agreement, table, budget, prepared, &|_| {})
            .map(|made| (made.release.table.counts.len(), made.course))
    };
    let setup = Setup::default().shards(case.shards as usize, 1);
    let setup = case.network.map_or(setup.clone(), |net| setup.network(net));
    let (outcome, taken) = taken(|| {
        run_workspaces(
            setup,
            |session| party(&tables[0], session),
            |session| party(&tables[1], session),
        )
    });
    outcome.p2.map_err(Error::internal)?;
    let (rows, course) = outcome.p1.map_err(Error::internal)?;
    let records = tables.each_ref().map(Table::len);
    let forecast = forecast_both(&agreement, records, &course)?;
    let costs = [&outcome.costs.p1, &outcome.costs.p2];
    if !forecast.iter().zip(costs).all(|(told, seen)| told.matches(seen)) {
        return Err(Error::internal("the run exchanged something else than was forecast"));
    }
    Ok(Measured { taken, costs: outcome.costs.p1, rows, forecast })
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

fn phase(phase: &PhaseCost) -> Figure {
    let parameters = format!(
        "CPU of both {:.3} s; P1 sent {:.2} MB, received {:.2} MB, {} rounds",
        phase.cpu.as_secs_f64(),
        phase.bytes_sent as f64 / 1e6,
        phase.bytes_received as f64 / 1e6,
        phase.rounds
    );
    Figure::new(format!("  phase: {}", phase.phase), phase.wall.as_secs_f64(), "s", parameters)
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
