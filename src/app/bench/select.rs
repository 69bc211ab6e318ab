//! Choosing one of many candidates by two parties.

use super::mechanism::{Measured, measure, source, spend, widths};
use super::{BenchArgs, Figures, scalar_product};
use crate::Error;
use crate::crypto::soft_spoken::Columns;
use crate::math::Rational;
use crate::mechanism::OneSided;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::net;
use crate::paper::exponential::horizontal::{ClassCounts, Horizontal, TaylorKey};
use crate::paper::exponential::{HorizontalExponential, VerticalExponential};
use crate::privacy::exponential::Scaling;
use crate::privacy::noisy_max::rate_per_step;
use crate::privacy::taylor::Taylor;
use crate::privacy::{Calibration, Choose, Score};
use crate::protocol::transfers::Source;
use crate::role::Role;

const SCALING: Scaling = Scaling::Binary { fraction_bits: 64 };
const GRID_BITS: u32 = 20;
const TRIES: u32 = 64;

/// Of the horizontal form: the agreement's usual digits and degree of the polynomial.
const DIGITS: u32 = 6;
const DEGREE: u32 = 16;
/// More records would need more of the same: only lengths of numbers grow.
const HORIZONTAL_RECORDS: u64 = 30_000;

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

/// Those for a first look.
const QUICK: [(usize, u64); 1] = [(4, 1_000)];

/// A way to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    NoisyMaximum,
    Exponential,
    /// As in the papers: data divided by columns.
    Papers,
    /// As in the papers: data divided by records.
    Horizontal,
}

impl Way {
    pub const ALL: [Self; 4] =
        [Self::NoisyMaximum, Self::Exponential, Self::Papers, Self::Horizontal];

    pub fn name(self) -> &'static str {
        match self {
            Self::NoisyMaximum => "noisy maximum",
            Self::Exponential => "exponential",
            Self::Papers => "exponential (papers)",
            Self::Horizontal => "exponential, horizontal",
        }
    }

    /// Whether a choice of this size ends soon enough to be measured.
    pub fn is_feasible(self, candidates: usize, records: u64) -> bool {
        match self {
            Self::NoisyMaximum => true,
            Self::Exponential => candidates as u64 * records <= 600_000_000,
            Self::Papers => candidates <= 32 && records <= 30_000,
            Self::Horizontal => candidates <= 32 && records <= HORIZONTAL_RECORDS,
        }
    }
}

/// All ways of choosing. Under a network model, or as in the papers, the largest cases are left out.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let cases: Vec<(usize, u64)> = match options.size {
        Some(size) => vec![(size, 30_000)],
        None if options.quick => QUICK.to_vec(),
        None if options.net.is_some() => CASES.into_iter().filter(|case| case.0 <= 32).collect(),
        None => CASES.to_vec(),
    };
    let choices = Candidates::prepare(options)?;
    for (candidates, records) in cases {
        for way in Way::ALL.into_iter().filter(|way| way.is_feasible(candidates, records)) {
            let measured = choices.measure(options, way, candidates, records)?;
            let name = format!("{}, {candidates} candidates, {records} records", way.name());
            measured.add(name, out);
        }
    }
    Ok(())
}

/// What choices need that is not measured: the key of the horizontal form, as P1 and as P2 has it.
pub(super) struct Candidates {
    keys: [TaylorKey; 2],
}

impl Candidates {
    /// Makes a key. It takes seconds, and in a release it is made once.
    ///
    /// # Errors
    /// If there is no randomness.
    pub fn prepare(options: &BenchArgs) -> Result<Self, Error> {
        let key = scalar_product::key(options)?;
        let peer = TaylorKey::Peer(key.public().clone());
        Ok(Self { keys: [peer, TaylorKey::Own(Box::new(key))] })
    }

    /// One choice.
    ///
    /// # Errors
    /// If it fails.
    pub fn measure(
        &self,
        options: &BenchArgs,
        way: Way,
        candidates: usize,
        records: u64,
    ) -> Result<Measured, Error> {
        match way {
            Way::NoisyMaximum => noisy_maximum(options, candidates, records),
            Way::Exponential => exponential(options, candidates, records, false),
            Way::Papers => exponential(options, candidates, records, true),
            Way::Horizontal => self.horizontal(options, candidates, records),
        }
    }

    /// Every candidate has two children with two classes, and each party half of the records.
    fn horizontal(
        &self,
        options: &BenchArgs,
        candidates: usize,
        records: u64,
    ) -> Result<Measured, Error> {
        let taylor = Taylor::new(DIGITS, DEGREE).map_err(Error::internal)?;
        let most_records = records / 2;
        let terms = Horizontal { taylor, most_records, sigma: TRIES };
        let calibration = Calibration::max_of_the_papers();
        let count = |i: usize| (i as u64 * 7919) % (most_records / 4).max(1);
        let candidate =
            |i: usize| vec![vec![count(i), count(i + 1)], vec![count(i + 2), count(i + 3)]];
        let counts: Vec<_> = (0..candidates).map(candidate).collect();
        let counts = ClassCounts::new(2, &counts).map_err(Error::internal)?;
        let mut measured = measure(options, Source::Iknp, |session| {
            let key = &self.keys[usize::from(session.role == Role::P2)];
            let spend = spend(&epsilon_step()).map_err(net::Error::from)?;
            let mut mechanism = HorizontalExponential::new(session, key, terms);
            mechanism.choose(spend, &calibration, &counts)?;
            Ok::<_, net::Error>(())
        })?;
        measured.parameters += "; key made and exchanged before, CPU of one thread each";
        Ok(measured)
    }
}

/// ε' of a release with ε = 1, h = 10 and six numeric attributes.
fn epsilon_step() -> Rational {
    Rational::new(1u32, 52u32).unwrap_or_else(Rational::zero)
}

/// What each party knows: half of the candidates are its own.
fn scores(role: Role, candidates: usize, records: u64) -> Result<OneSided, Error> {
    let (first, second) = (candidates.div_ceil(2), candidates / 2);
    let (own, peer) = if role == Role::P1 { (first, second) } else { (second, first) };
    let score = |i: usize| highest((i as u64 * 7919) % records);
    Ok(OneSided { own: (0..own).map(score).collect::<Result<_, _>>()?, peer })
}

fn highest(records: u64) -> Result<Score, Error> {
    Score::whole(records).ok_or_else(|| Error::internal("too many records"))
}

fn noisy_maximum(options: &BenchArgs, candidates: usize, records: u64) -> Result<Measured, Error> {
    let calibration = Calibration::max();
    let rate = rate_per_step(&calibration.rate(&epsilon_step()), GRID_BITS);
    let widths = widths(candidates as u64, rate)?;
    let largest = highest(records)?;
    let (p1, p2) = (scores(Role::P1, candidates, records)?, scores(Role::P2, candidates, records)?);
    measure(options, source(candidates, widths), |session| {
        let own = if session.role == Role::P1 { &p1 } else { &p2 };
        let scores = Scores::OneSided(own.clone());
        let spend = spend(&epsilon_step()).map_err(net::Error::from)?;
        NoisyMax::new(session, GRID_BITS, largest, widths)?.choose(spend, &calibration, &scores)?;
        Ok::<_, net::Error>(())
    })
}

fn exponential(
    options: &BenchArgs,
    candidates: usize,
    records: u64,
    paper: bool,
) -> Result<Measured, Error> {
    let calibration = if paper { Calibration::max_of_the_papers() } else { Calibration::max() };
    let largest = highest(records)?;
    let (p1, p2) = (scores(Role::P1, candidates, records)?, scores(Role::P2, candidates, records)?);
    let source = if paper { Source::Iknp } else { Source::SoftSpoken(Columns::Four) };
    measure(options, source, |session| {
        let own = if session.role == Role::P1 { &p1 } else { &p2 };
        let spend = spend(&epsilon_step()).map_err(net::Error::from)?;
        let mechanism = VerticalExponential::new(session, SCALING, largest, TRIES);
        let mut mechanism = if paper { mechanism.as_in_the_papers() } else { mechanism };
        mechanism.choose(spend, &calibration, own)?;
        Ok::<_, net::Error>(())
    })
}
