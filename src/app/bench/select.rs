//! Choosing one of many candidates by two parties.

use super::mechanism::{measure, spend, widths};
use crate::app::bench::{Figure, Options};
use crate::app::failure::Failure;
use crate::math::Rational;
use crate::mechanism::exponential::VerticalExponential;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::mechanism::{Error, OneSided};
use crate::net::Role;
use crate::privacy::exponential::Scaling;
use crate::privacy::noisy_max::rate_per_step;
use crate::privacy::{Calibration, Choose, Score};

const SCALING: Scaling = Scaling::Binary { fraction_bits: 64 };
const GRID_BITS: u32 = 20;
const TRIES: u32 = 64;

/// Candidates of both parties together, and the number of records that bounds the scores.
const CASES: [(usize, u64); 7] = [
    (2, 30_000),
    (32, 30_000),
    (512, 30_000),
    (4_096, 30_000),
    (32, 1_000),
    (32, 1_000_000),
    (512, 1_000_000),
];

/// All ways of choosing. Under a network model, or as in the papers, the largest cases are left out.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Failure> {
    let cases: Vec<(usize, u64)> = match options.size {
        Some(size) => vec![(size, 30_000)],
        None if options.network.is_some() => {
            CASES.into_iter().filter(|case| case.0 <= 32).collect()
        }
        None => CASES.to_vec(),
    };
    let mut figures = Vec::new();
    for (candidates, records) in cases {
        figures.push(noisy_maximum(options, candidates, records)?);
        if candidates as u64 * records <= 600_000_000 {
            figures.push(exponential(options, candidates, records, false)?);
        }
        if candidates <= 32 && records <= 30_000 {
            figures.push(exponential(options, candidates, records, true)?);
        }
    }
    Ok(figures)
}

/// ε' of a release with ε = 1, h = 10 and six numeric attributes.
fn epsilon_step() -> Rational {
    Rational::new(1u32, 52u32).unwrap_or_else(Rational::zero)
}

/// What each party knows: half of the candidates are its own.
fn scores(role: Role, candidates: usize, records: u64) -> Result<OneSided, Failure> {
    let (first, second) = (candidates.div_ceil(2), candidates / 2);
    let (own, peer) = if role == Role::P1 { (first, second) } else { (second, first) };
    let score = |i: usize| highest((i as u64 * 7919) % records);
    Ok(OneSided { own: (0..own).map(score).collect::<Result<_, _>>()?, peer })
}

fn highest(records: u64) -> Result<Score, Failure> {
    Score::whole(records).ok_or_else(|| Failure::failed("too many records"))
}

fn noisy_maximum(options: &Options, candidates: usize, records: u64) -> Result<Figure, Failure> {
    let calibration = Calibration::max();
    let rate = rate_per_step(&calibration.rate(&epsilon_step()), GRID_BITS);
    let widths = widths(candidates as u64, rate)?;
    let name = format!("noisy maximum, {candidates} candidates, {records} records");
    let largest = highest(records)?;
    let (p1, p2) = (scores(Role::P1, candidates, records)?, scores(Role::P2, candidates, records)?);
    measure(name, options, |parties| {
        let own = if parties.session.role == Role::P1 { &p1 } else { &p2 };
        let scores = Scores::OneSided(own.clone());
        let spend = spend(&epsilon_step()).map_err(Error::from)?;
        NoisyMax::new(parties, GRID_BITS, largest, widths)?.choose(spend, &calibration, &scores)?;
        Ok::<_, Error>(())
    })
}

fn exponential(
    options: &Options,
    candidates: usize,
    records: u64,
    paper: bool,
) -> Result<Figure, Failure> {
    let calibration = if paper { Calibration::max_of_the_papers() } else { Calibration::max() };
    let way = if paper { "exponential (papers)" } else { "exponential" };
    let name = format!("{way}, {candidates} candidates, {records} records");
    let largest = highest(records)?;
    let (p1, p2) = (scores(Role::P1, candidates, records)?, scores(Role::P2, candidates, records)?);
    measure(name, options, |parties| {
        let own = if parties.session.role == Role::P1 { &p1 } else { &p2 };
        let spend = spend(&epsilon_step()).map_err(Error::from)?;
        let mechanism = VerticalExponential::new(parties, SCALING, largest, TRIES);
        let mut mechanism = if paper { mechanism.as_in_the_papers() } else { mechanism };
        mechanism.choose(spend, &calibration, own)?;
        Ok::<_, Error>(())
    })
}
