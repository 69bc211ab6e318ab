//! Whole releases by two parties on generated census data, both in one process: what each phase
//! costs. Reading files is left out, as is writing them.

use std::fmt::Write;
use std::time::Instant;

use crate::agreement::Agreement;
use crate::app::bench::process::{cpu_time, forget_peak_memory, peak_memory_bytes};
use crate::app::bench::{Figure, Options, census};
use crate::app::failure::Failure;
use crate::net::Costs;
use crate::privacy::Budget;
use crate::protocol::Session;
use crate::protocol::pair::run_pair;
use crate::release::diffgen::two_party::release;
use crate::table::{Owner, Reading, Table, parse_csv};

/// As many as the Adult training data.
const RECORDS: usize = 30_162;
const SPECIALIZATIONS: u32 = 10;

/// Measures one release.
///
/// # Errors
/// If it fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Failure> {
    let records = options.size.unwrap_or(RECORDS);
    let partition = if options.horizontal { "horizontal" } else { "vertical" };
    let terms = if options.paper { "profile = \"paper\"" } else { "" };
    let text = census::two_parties(partition, SPECIALIZATIONS, records, terms);
    let agreement = Agreement::parse("census.toml", text.as_bytes(), &|_| Err(String::new()))
        .map_err(Failure::failed)?;
    let csv = census::csv_with_ids(records);
    let tables = tables(&agreement, &csv, options.horizontal)?;
    drop(csv);

    forget_peak_memory();
    let (wall, cpu) = (Instant::now(), cpu_time());
    let party = |table: &Table, session: &mut Session| {
        let budget = Budget::new(&agreement.epsilon);
        release(session, &agreement, table, budget, &|_| {}).map(|made| made.release.counts.len())
    };
    let outcome = run_pair(
        options.setup(),
        |session| party(&tables[0], session),
        |session| party(&tables[1], session),
    );
    let (wall, cpu) = (wall.elapsed(), cpu_time().saturating_sub(cpu));
    let rows = outcome.p1.map_err(Failure::failed)?;
    outcome.p2.map_err(Failure::failed)?;

    let profile = if options.paper { "paper" } else { "default" };
    let what = format!("{partition}, {profile} profile, {records} records × 14, h = 10");
    let total = outcome.costs.p1.total();
    let mut figures = vec![
        Figure::new("release, wall", wall.as_secs_f64(), "s", format!("{what}; {rows} rows")),
        Figure::new("release, CPU of both parties", cpu.as_secs_f64(), "s", &what),
        Figure::new("sent by P1", total.bytes_sent as f64 / 1e6, "MB", &what),
        Figure::new("sent by P2", total.bytes_received as f64 / 1e6, "MB", &what),
        Figure::new("rounds", total.rounds as f64, "", &what),
    ];
    if let Some(bytes) = peak_memory_bytes() {
        let parameters = "of both parties in one process, tables included";
        figures.push(Figure::new("peak memory", bytes as f64 / 1e6, "MB", parameters));
    }
    figures.extend(phases(&outcome.costs.p1));
    Ok(figures)
}

fn phases(costs: &Costs) -> Vec<Figure> {
    costs
        .phases
        .iter()
        .filter(|phase| phase.messages_sent + phase.messages_received > 0)
        .map(|phase| {
            let mut parameters = String::new();
            let _ = write!(
                parameters,
                "P1 sent {:.2} MB, received {:.2} MB, {} rounds",
                phase.bytes_sent as f64 / 1e6,
                phase.bytes_received as f64 / 1e6,
                phase.rounds
            );
            let name = format!("  phase: {}", phase.phase);
            Figure::new(name, phase.wall.as_secs_f64(), "s", parameters)
        })
        .collect()
}

/// Both parties' tables: all rows and its own columns each, or all columns and every other row.
fn tables(agreement: &Agreement, csv: &[u8], horizontal: bool) -> Result<[Table; 2], Failure> {
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
        return Ok([read(Some(Owner::P1))?, read(Some(Owner::P2))?]);
    }
    let table = read(None)?;
    let half = |first: usize| table.select(&(first..table.len()).step_by(2).collect::<Vec<_>>());
    Ok([half(0), half(1)])
}
