//! `diptych model`: what a release model can do beyond `diptych local` and `diptych run`.

mod game;
mod presence;
mod trajectory;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use crate::Error;
use crate::agreement::MAX_ATTRIBUTES;
use crate::app::console::Console;
use crate::release::groups::table::{Columns, read};
use crate::release::groups::{MOST_STEPS, Rule, too_many_steps};
use crate::table::{Decimal, regular_file};

/// Use the tools of a release model: `diptych model NAME`
#[derive(Args, Debug)]
pub struct ModelArgs {
    #[command(subcommand)]
    model: Name,
}

#[derive(Subcommand, Debug)]
enum Name {
    /// LKC-privacy and related models, such as k-anonymity: not differentially private
    #[command(subcommand)]
    Lkc(Lkc),
    /// Paths of people through places, with pairs suppressed: not differentially private
    #[command(subcommand)]
    Trajectory(trajectory::Trajectory),
    /// Whether a joined table reveals who is at the other site: not differentially private
    #[command(subcommand)]
    Presence(presence::Presence),
}

#[derive(Subcommand, Debug)]
enum Lkc {
    Check(CheckArgs),
    Game(game::GameArgs),
}

/// Check whether the groups of a table are large enough, and what they reveal
///
/// Every combination of at most L of the columns must be shared by at least K
/// people, and at most a fraction C of them may have any one protected value.
/// Prints the smallest group, the largest fraction, how many people are unique in all columns,
/// and the first combination that violates this.
/// Exit status 0 if nothing does, 1 if something does.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych model lkc check --data table.csv --columns age,job,zip \
                        --l 2 --k 5 --sensitive illness --protect AIDS --c 0.2")]
pub struct CheckArgs {
    /// The table: CSV with a header line, such as any release.csv
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The columns that an attacker may know
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    columns: Vec<String>,
    /// How many of them an attacker knows at most [default: all]
    #[arg(long, value_name = "NUMBER", value_parser = above_zero::<usize>)]
    l: Option<usize>,
    /// The smallest number of people in a group
    #[arg(long, value_name = "NUMBER")]
    k: u64,
    /// The largest fraction of a group that may have a protected value
    #[arg(long, value_name = "PART", default_value = "1")]
    c: String,
    /// The sensitive column
    #[arg(long, value_name = "NAME", requires = "protect")]
    sensitive: Option<String>,
    /// Its protected values
    #[arg(long, value_name = "VALUES", value_delimiter = ',', requires = "sensitive")]
    protect: Vec<String>,
    /// The column that says how many people a row stands for [default: each for one]
    #[arg(long, value_name = "NAME")]
    count: Option<String>,
}

/// Runs the verb.
///
/// # Errors
/// If a table cannot be read, or is not as required.
pub fn run(arguments: &ModelArgs, console: &Console) -> Result<(), Error> {
    match &arguments.model {
        Name::Lkc(Lkc::Check(arguments)) => check(arguments, console),
        Name::Lkc(Lkc::Game(arguments)) => game::run(arguments, console),
        Name::Trajectory(what) => trajectory::run(what, console),
        Name::Presence(what) => presence::run(what, console),
    }
}

/// A whole number, 1 or more.
fn above_zero<N: FromStr + Default + PartialEq>(text: &str) -> Result<N, String> {
    let number = text.parse().ok().filter(|number| *number != N::default());
    number.ok_or_else(|| "it must be a whole number, 1 or more".to_owned())
}

/// A decimal above 0 and at most 1, as a fraction.
fn part(text: &str, flag: &str) -> Result<(u64, u64), Error> {
    let (above, below) = Decimal::parse(text)?.ratio();
    let above = u64::try_from(above).ok().filter(|above| *above > 0 && *above <= below);
    let wrong = || Error::input(format!("{flag} is not above 0 and at most 1"));
    Ok((above.ok_or_else(wrong)?, below))
}

fn check(arguments: &CheckArgs, console: &Console) -> Result<(), Error> {
    let quasi: Vec<&str> = arguments.columns.iter().map(String::as_str).collect();
    if quasi.len() > MAX_ATTRIBUTES {
        let message = format!("--columns names {} columns, above {MAX_ATTRIBUTES}", quasi.len());
        return Err(Error::input(message));
    }
    if arguments.sensitive.as_ref().is_some_and(|name| arguments.columns.contains(name)) {
        let message = "--sensitive is among --columns, which an attacker is assumed to know";
        return Err(Error::input(message));
    }
    let sensitive = arguments.sensitive.as_deref().map(|name| (name, &arguments.protect[..]));
    let columns = Columns { quasi: &quasi, sensitive, count: arguments.count.as_deref() };
    let found = read(regular_file(&arguments.data)?, &columns)
        .map_err(|problem| Error::input(format!("{}: {problem}", arguments.data.display())))?;
    let rule = Rule {
        attributes: (0..quasi.len()).collect(),
        most: arguments.l.unwrap_or(quasi.len()).min(quasi.len()),
        k: arguments.k,
        part: part(&arguments.c, "--c")?,
    };
    found.check_protected(rule.part.0 < rule.part.1).map_err(Error::input)?;
    let steps = found.groups.steps(&rule);
    if steps > MOST_STEPS {
        return Err(too_many_steps(steps));
    }
    let extremes = found.groups.test(&rule, None);
    let alone = found.groups.alone();
    console.result(format!("groups by all columns   {}", found.groups.len()));
    console.result(format!("people alone in theirs  {alone}"));
    if let Some(offender) = &extremes.offender {
        console.result(format!("first that fails        {}", found.words(offender)));
        return Err(Error::internal(format!("{} is not as required", arguments.data.display()))
            .advise("make values coarser, or leave columns out"));
    }
    console.result(format!("smallest group          {}", extremes.smallest));
    let (told, people) = extremes.largest;
    console.result(format!("largest part            {told} of {people}"));
    console.say(format!(
        "the table is as required, but this is not differential privacy: somebody who knows more \
         than {} of these values of a person, or has another table about the same people, may \
         identify them; a release with model = \"diffgen\" bounds that",
        rule.most
    ));
    Ok(())
}
