//! The experiments on the Adult census data: how well a release tells the class of people who are
//! not in it, over ε, the number of specializations, profiles and noises.
//!
//! ```text
//! cargo run --release -p diptych-experiments --bin adult -- grid     # the grid, on the test records
//! cargo run --release -p diptych-experiments --bin adult -- tune     # settings compared by cross-validation
//! ```
//!
//! Both write their tables and plots to `docs/experiments/`. Finished runs are kept in
//! `target/adult-runs.csv`: whoever stops and starts again goes on where it was. The data is
//! expected at `../shared/data/adult`; without it nothing is done.

#[path = "adult/data.rs"]
mod data;
#[path = "adult/page.rs"]
mod page;
#[path = "adult/plan.rs"]
mod plan;
#[path = "adult/runs.rs"]
mod runs;

use clap::{Parser, Subcommand};
use data::Adult;
use diptych::Error;
use diptych::app::console::{Console, GlobalArgs};
use diptych::app::progress::Bar;
use runs::{Run, Runs};
use std::path::PathBuf;
use std::process::ExitCode;

/// The experiments on the Adult census data.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    what: What,
    /// Seeds per setting (of the grid; cross-validation has a fifth as many per fold)
    #[arg(long, default_value_t = 50, global = true)]
    seeds: u64,
    /// Only these numbers of specializations, such as 4,7,10 (16 take most of the time)
    #[arg(long, value_delimiter = ',', global = true)]
    specializations: Vec<u32>,
    /// Run nothing: write tables and plots of what is finished
    #[arg(long, global = true)]
    finished: bool,
    /// Where finished runs are kept
    #[arg(long, default_value = "target/adult-runs.csv", global = true)]
    runs: PathBuf,
    /// Where tables and plots go
    #[arg(long, default_value = "docs/experiments", global = true)]
    out: PathBuf,
}

#[derive(Clone, Copy, Subcommand)]
enum What {
    /// ε × h × profiles × noises, judged on the test records
    Grid,
    /// Settings compared by cross-validation on the training records
    Tune,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let console = Console::new(&arguments.global);
    match carry_out(&arguments, &console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.fail(&failure);
            failure.status().into()
        }
    }
}

fn carry_out(arguments: &Arguments, console: &Console) -> Result<(), Error> {
    let Some(place) = data::place() else {
        console.say("skipped: there is no Adult data at ../shared/data/adult");
        return Ok(());
    };
    let adult = Adult::read(&place)?;
    let seeds = arguments.seeds.max(2);
    let (mut settings, runs_of): (Vec<_>, fn(_, u64) -> Vec<Run>) = match arguments.what {
        What::Grid => (plan::grid(), plan::on_test_records),
        What::Tune => (plan::tuning(), plan::by_cross_validation),
    };
    let wanted = &arguments.specializations;
    settings.retain(|one| wanted.is_empty() || wanted.contains(&one.specializations));
    let all: Vec<Run> = settings.iter().flat_map(|one| runs_of(*one, seeds)).collect();
    let mut runs = Runs::open(&arguments.runs)?;
    if !arguments.finished {
        let bar = Bar::new(console, "releasing and judging");
        bar.start(all.len());
        runs.carry_out(&adult, &all, &|count| bar.advance(count))?;
        bar.finish();
    }
    let found: Vec<page::Row> = settings
        .iter()
        .map(|settings| page::Row::new(*settings, &runs.of(&runs_of(*settings, seeds))))
        .filter(page::Row::has_runs)
        .collect();
    let written = match arguments.what {
        What::Grid => page::grid(&adult, &found, &arguments.out)?,
        What::Tune => page::tuning(&found, &arguments.out)?,
    };
    written.iter().for_each(|path| console.say(format!("wrote {}", path.display())));
    Ok(())
}
