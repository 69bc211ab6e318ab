//! DiffGen for one party that holds all records: a product of its own, the baseline of every
//! experiment, and what the two-party forms are compared with.
//!
//! An agreement between two parties can be run here too, over the joined table: with the same
//! decisions it gives the release that the two would have made together. Its counts then carry two
//! noises if the agreement says `two-party`.

use super::holder::Holder;
use super::plan::FRACTION_BITS;
use super::{Error, Form, Leaves, Plan, Release, Step, run};
use crate::agreement::{self, Agreement, Noise, Selection};
use crate::math::Randomness;
use crate::privacy::decisions::Decisions;
use crate::privacy::exponential::{Exponential, Scaling};
use crate::privacy::laplace::DiscreteLaplace;
use crate::privacy::noisy_max::NoisyMax;
use crate::privacy::{
    self, AddNoise, Budget, Calibration, Candidate as Weighed, Choice, Choose, Spend,
};
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// g of the noisy maximum: the finest grid, on which all scores lie.
const GRID_BITS: u32 = 20;

/// Makes a release as the agreement says. Costs a sort of each numeric column, and per
/// specialization a pass over the records it concerns.
///
/// # Errors
/// [`Error::TooManyRows`] before anything is spent; afterwards those of the mechanisms.
pub fn release<'s>(
    agreement: &'s Agreement,
    table: &Table,
    budget: Budget,
    rng: &mut Randomness,
    progress: &dyn Fn(Step),
) -> Result<Release<'s>, Error> {
    let plan = Plan::new(agreement)?;
    let mut form = Single::new(&plan, table, Mechanisms::of(agreement, rng)?)?;
    run(&plan, budget, &mut form, progress)
}

/// What decides, splits and adds noise.
#[derive(Debug)]
pub struct Mechanisms<C, S, N> {
    /// Chooses among candidates.
    pub choose: C,
    /// Chooses splits.
    pub split: S,
    /// Adds noise to counts and to the sizes of sub-partitions.
    pub noise: N,
    /// Whether splits are chosen in the order of the points, as a noisy maximum needs it.
    pub splits_in_order: bool,
}

impl Mechanisms<Chooser<Randomness>, Chooser<Randomness>, Noiser<Randomness>> {
    /// Those that an agreement names. In a horizontal one splits are chosen by noisy maximum.
    ///
    /// # Errors
    /// None in practice: the parameters are fixed.
    pub fn of(agreement: &Agreement, rng: &mut Randomness) -> Result<Self, Error> {
        let splits_in_order =
            matches!(agreement.partition, agreement::Partition::Horizontal { .. });
        let split =
            if splits_in_order { Selection::PermuteAndFlip } else { Selection::Exponential };
        Ok(Self {
            choose: Chooser::new(agreement.selection, rng.fork())?,
            split: Chooser::new(split, rng.fork())?,
            noise: Noiser::new(agreement.noise, rng.fork()),
            splits_in_order,
        })
    }
}

/// Either way of choosing.
#[derive(Debug)]
pub enum Chooser<D> {
    /// The exponential mechanism.
    Exponential(Exponential<D>),
    /// The noisy maximum.
    PermuteAndFlip(NoisyMax<D>),
}

impl<D: Decisions> Chooser<D> {
    /// The mechanism for a word of the agreement.
    ///
    /// # Errors
    /// None in practice: the grid is fixed.
    pub fn new(selection: Selection, decisions: D) -> Result<Self, privacy::Error> {
        Ok(match selection {
            Selection::Exponential => {
                let scaling = Scaling::Binary { fraction_bits: FRACTION_BITS };
                Self::Exponential(Exponential::new(scaling, decisions))
            }
            Selection::PermuteAndFlip => Self::PermuteAndFlip(NoisyMax::new(GRID_BITS, decisions)?),
        })
    }
}

impl<D: Decisions> Choose for Chooser<D> {
    type Scores = [Weighed];
    type Error = privacy::Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        scores: &[Weighed],
    ) -> Result<Choice, privacy::Error> {
        match self {
            Self::Exponential(mechanism) => mechanism.choose(spend, calibration, scores),
            Self::PermuteAndFlip(mechanism) => mechanism.choose(spend, calibration, scores),
        }
    }
}

/// One noise, or the two that two parties would add, each of which would do alone.
#[derive(Debug)]
pub enum Noiser<D> {
    /// One discrete Laplace noise.
    One(DiscreteLaplace<D>),
    /// The sum of two.
    Two(D),
}

impl<D: Decisions> Noiser<D> {
    /// The noise for a word of the agreement.
    pub fn new(noise: Noise, decisions: D) -> Self {
        match noise {
            Noise::TwoParty => Self::Two(decisions),
            Noise::Joint | Noise::Single => Self::One(DiscreteLaplace::new(decisions)),
        }
    }
}

impl<D: Decisions> AddNoise for Noiser<D> {
    type Counts = [u64];
    type Error = privacy::Error;

    fn add_noise(&mut self, spend: Spend, counts: &[u64]) -> Result<Vec<i64>, privacy::Error> {
        match self {
            Self::One(mechanism) => mechanism.add_noise(spend, counts),
            Self::Two(decisions) => {
                // All of the first party's noise comes before all of the second's.
                let mut draw = || {
                    let noise = |_: &u64| decisions.discrete_laplace(spend.epsilon());
                    counts.iter().map(noise).collect::<Result<Vec<_>, _>>()
                };
                let both = draw()?.into_iter().zip(draw()?);
                Ok(counts
                    .iter()
                    .zip(both)
                    .map(|(count, (first, second))| {
                        let noisy = first + second + *count;
                        let end = if noisy < 0.into() { i64::MIN } else { i64::MAX };
                        noisy.try_into().unwrap_or(end)
                    })
                    .collect())
            }
        }
    }
}

/// One party's side of [`run`], which is all of it.
pub struct Single<'p, 't, C, S, N> {
    holder: Holder<'p, 't>,
    mechanisms: Mechanisms<C, S, N>,
}

impl<'p, 't, C, S, N> Single<'p, 't, C, S, N> {
    /// All records in one leaf, and all candidates of taxonomies scored.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] unless the table holds every attribute.
    pub fn new(
        plan: &'p Plan<'t>,
        table: &'t Table,
        mechanisms: Mechanisms<C, S, N>,
    ) -> Result<Self, Error> {
        let holder = Holder::new(plan, table)?;
        let mut attributes = plan.schema().attributes.iter().enumerate();
        if let Some((_, missing)) = attributes.find(|(index, _)| !holder.holds(*index)) {
            return Err(Error::MissingColumn(missing.name.clone()));
        }
        Ok(Self { holder, mechanisms })
    }

    /// The mechanism that added the noise, for those who want to ask it something afterwards.
    pub fn into_noise(self) -> N {
        self.mechanisms.noise
    }
}

impl<C, S, N> Form for Single<'_, '_, C, S, N>
where
    C: Choose<Scores = [Weighed], Error = privacy::Error>,
    S: Choose<Scores = [Weighed], Error = privacy::Error>,
    N: AddNoise<Counts = [u64], Error = privacy::Error>,
{
    type Error = Error;

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        let Mechanisms { split, splits_in_order, .. } = &mut self.mechanisms;
        self.holder.draw_splits(spend, attribute, intervals, split, *splits_in_order)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let weighed = candidates
            .iter()
            .map(|candidate| Ok(Weighed::single(self.holder.score(*candidate)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        let calibration = self.holder.plan().calibration();
        Ok(self.mechanisms.choose.choose(spend, calibration, &weighed)?.index)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        self.holder.split_of(winner)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        keep: Option<Spend>,
    ) -> Result<(), Error> {
        let Some(spend) = keep else { return self.holder.specialize(made, children) };
        let noise = &mut self.mechanisms.noise;
        self.holder.specialize_set(made, children, |sizes| Ok(noise.add_noise(spend, sizes)?))
    }

    fn leaves(&mut self, _: &Cuts<'_>) -> Result<Leaves, Error> {
        Ok(self.holder.partition().release_leaves())
    }

    fn noisy_counts(
        &mut self,
        spend: Spend,
        cuts: &Cuts<'_>,
        _: &Leaves,
    ) -> Result<Vec<i64>, Error> {
        let counts = self.holder.partition().leaf_counts(cuts);
        Ok(self.mechanisms.noise.add_noise(spend, &counts)?)
    }
}
