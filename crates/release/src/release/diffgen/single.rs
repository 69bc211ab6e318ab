//! DiffGen for one party that holds all records: a product of its own, the baseline of every
//! experiment, and what the two-party forms are compared with.
//!
//! An agreement between two parties can be run here too, over the joined table: with the same
//! decisions it gives the release that the two would have made together. Its counts then carry two
//! noises if the agreement says `two-party`.
//!
//! # Example
//!
//! The agreement is like that on the [module page](crate::release): one attribute, one
//! specialization, ε = 1.
//!
//! ```
//! # let agreement = r#"
//! # [release]
//! # id = "illnesses"
//! # partition = "local"
//! # epsilon = "1"
//! # specializations = 1
//! # max_records = 1000
//! # [class]
//! # column = "ill"
//! # values = ["yes", "no"]
//! # [[attribute]]
//! # name = "job"
//! # kind = "categorical"
//! # taxonomy = { Any_Job = ["Engineer", "Writer"] }
//! # "#;
//! # let agreement = diptych_release::agreement::Agreement::parse(
//! #     "a.toml",
//! #     agreement.as_bytes(),
//! #     &|_| Err("no files here".to_owned()),
//! # )?;
//! use diptych_release::math::Randomness;
//! use diptych_release::privacy::Budget;
//! use diptych_release::release::diffgen::single;
//! use diptych_release::table::{Reading, parse_csv};
//!
//! let (schema, max_records) = (&agreement.schema, agreement.max_records);
//! let reading = Reading { schema, owner: None, identifier: None, max_records };
//! let data = "job,ill\n".to_owned() + &"Engineer,no\n".repeat(400) + &"Writer,yes\n".repeat(500);
//! let table = parse_csv("people.csv", data.as_bytes(), &reading, &|_| ())?;
//!
//! let (budget, mut rng) = (Budget::new(agreement.epsilon().expect("ε is agreed")), Randomness::from_os()?);
//! let release = single::release(&agreement, &table, budget, &mut rng, &|_| ())?;
//! assert_eq!(release.table.cuts.leaves(), 2, "engineers and writers");
//! for (count, true_count) in release.table.counts.iter().zip([0, 400, 500, 0]) {
//!     // A noise of 200 comes about once in e^100 runs.
//!     assert!(count.abs_diff(true_count) < 200);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::holder::Holder;
use super::plan::{FRACTION_BITS, GRID_BITS, keep_from};
use super::{Leaves, Plan, Specializer, run, terms};
use crate::Error;
use crate::agreement::{Agreement, Noise, Selection};
use crate::math::Randomness;
use crate::privacy::decisions::Decisions;
use crate::privacy::exponential::{Exponential, Scaling};
use crate::privacy::laplace::DiscreteLaplace;
use crate::privacy::noisy_max::NoisyMax;
use crate::privacy::taylor::TaylorExponential;
use crate::privacy::{self, AddNoise, Budget, Calibration, Choice, Choose, Scored, Spend};
use crate::release::tree::layout::leaf_offsets;
use crate::release::{Release, Step, tree};
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// Makes a release as the agreement says. Costs a sort of each numeric column, and per
/// specialization a pass over the records it concerns.
///
/// # Errors
/// If the release could become too large, before anything is spent; afterwards those of the mechanisms.
pub fn release(
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    rng: &mut Randomness,
    progress: &dyn Fn(Step),
) -> Result<Release, Error> {
    let plan = Plan::new(agreement)?;
    let mut specializer = Single::new(&plan, table, Mechanisms::with(agreement, || rng.fork())?)?;
    run(&plan, budget, &mut specializer, progress)
}

/// What decides, splits and adds noise.
#[derive(Debug)]
pub struct Mechanisms<C, S, N> {
    /// Chooses among candidates.
    pub choose: C,
    /// Chooses splits that a party would choose alone.
    pub split: S,
    /// Chooses splits that two parties would choose together, in the order of the points; `split`
    /// does if there is none.
    pub split_together: Option<S>,
    /// Adds noise to counts and to the sizes of sub-partitions.
    pub noise: N,
    /// Whether `split` chooses in the order of the points, as a noisy maximum needs it.
    pub splits_in_order: bool,
}

impl<D: Decisions> Mechanisms<Chooser<D>, Chooser<D>, Noiser<D>> {
    /// Those that an agreement names, each with decisions of its own. Splits that two parties would
    /// choose together are chosen by noisy maximum.
    ///
    /// # Errors
    /// None in practice: the parameters are fixed.
    pub fn with(agreement: &Agreement, mut decisions: impl FnMut() -> D) -> Result<Self, Error> {
        let terms = terms(agreement)?;
        Ok(Self {
            choose: match terms.taylor {
                Some(taylor) => Chooser::Taylor(TaylorExponential::new(taylor, decisions())),
                None => Chooser::new(terms.selection, decisions())?,
            },
            split: Chooser::new(Selection::Exponential, decisions())?,
            noise: Noiser::new(terms.noise, decisions()),
            split_together: Some(Chooser::new(Selection::PermuteAndFlip, decisions())?),
            splits_in_order: false,
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
    /// The exponential mechanism as a polynomial, as two parties with different records have it.
    Taylor(TaylorExponential<D>),
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
    type Scores = [Scored];
    type Error = privacy::Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        scores: &[Scored],
    ) -> Result<Choice, privacy::Error> {
        match self {
            Self::Exponential(mechanism) => mechanism.choose(spend, calibration, scores),
            Self::PermuteAndFlip(mechanism) => mechanism.choose(spend, calibration, scores),
            Self::Taylor(mechanism) => mechanism.choose(spend, calibration, scores),
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
    plan: &'p Plan,
    /// One, or for a vertical agreement one per owner of columns: each party scores its own
    /// candidates knowing its own columns alone, and so does this baseline.
    holders: Vec<Holder<'p, 't>>,
    records: usize,
    mechanisms: Mechanisms<C, S, N>,
}

impl<'p, 't, C, S, N> Single<'p, 't, C, S, N> {
    /// All records in one leaf, and all candidates of taxonomies scored.
    ///
    /// # Errors
    /// Unless the table holds every attribute.
    pub fn new(
        plan: &'p Plan,
        table: &'t Table,
        mechanisms: Mechanisms<C, S, N>,
    ) -> Result<Self, Error> {
        let both = [Some(Role::P1), Some(Role::P2)];
        let owners = if plan.is_vertical() { &both[..] } else { &[None] };
        let holders = owners
            .iter()
            .map(|owner| Holder::of_owner(plan, table, *owner))
            .collect::<Result<Vec<_>, _>>()?;
        let mut attributes = plan.schema().attributes.iter().enumerate();
        let held = |index| holders.iter().any(|holder| holder.holds(index));
        if let Some((_, missing)) = attributes.find(|(index, _)| !held(*index)) {
            return Err(tree::missing_column(&missing.name));
        }
        Ok(Self { plan, holders, records: table.len(), mechanisms })
    }

    /// The mechanism that added the noise, for callers that need it afterwards.
    #[cfg(test)]
    pub(super) fn into_noise(self) -> N {
        self.mechanisms.noise
    }

    /// The party that holds an attribute.
    pub(super) fn holder(&self, attribute: usize) -> Result<&Holder<'p, 't>, Error> {
        self.holders.iter().find(|holder| holder.holds(attribute)).ok_or_else(nobody)
    }

    fn counts(&self, cuts: &Cuts) -> Result<Vec<u64>, Error> {
        if let [holder] = self.holders.as_slice() {
            return Ok(holder.leaf_records().leaf_counts(cuts));
        }
        let mut leaf_of_records = vec![0; self.records];
        let classes = self.plan.schema().class.values.len();
        let mut counts = vec![0; cuts.leaves() as usize * classes];
        for holder in &self.holders {
            let leaf_records = holder.leaf_records();
            let offsets = leaf_offsets(cuts, leaf_records.attributes());
            let places = leaf_records.leaf_of_records(cuts);
            let places = places.iter().map(|place| offsets[*place as usize]);
            leaf_of_records.iter_mut().zip(places).for_each(|(leaf, offset)| *leaf += offset);
        }
        let codes = self.holders.first().map_or(&[][..], |h| h.leaf_records().class_codes());
        for (leaf, class) in leaf_of_records.into_iter().zip(codes) {
            counts[leaf * classes + usize::from(*class)] += 1;
        }
        Ok(counts)
    }
}

fn nobody() -> Error {
    Error::fault("nobody holds an attribute that has a candidate")
}

impl<C, S, N> Specializer for Single<'_, '_, C, S, N>
where
    C: Choose<Scores = [Scored], Error = privacy::Error>,
    S: Choose<Scores = [Scored], Error = privacy::Error>,
    N: AddNoise<Counts = [u64], Error = privacy::Error>,
{
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        let noisy = self.mechanisms.noise.add_noise(spend, &[self.records as u64])?;
        noisy.first().copied().ok_or_else(|| Error::fault("no number of records"))
    }

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        let Mechanisms { split, split_together, splits_in_order, .. } = &mut self.mechanisms;
        let holder = self.holders.iter_mut().find(|holder| holder.holds(attribute));
        let together = split_together.as_mut().filter(|_| self.plan.scores_together(attribute));
        let (mechanism, in_order) = match together {
            Some(together) => (together, true),
            None => (split, *splits_in_order),
        };
        holder.ok_or_else(nobody)?.draw_splits(spend, attribute, intervals, mechanism, in_order)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let score = |candidate: &Candidate| {
            Ok(Scored::single(self.holder(candidate.attribute)?.score(*candidate)?))
        };
        let weighed = candidates.iter().map(score).collect::<Result<Vec<_>, Error>>()?;
        Ok(self.mechanisms.choose.choose(spend, self.plan.calibration(), &weighed)?.index)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        self.holder(winner.attribute)?.split_of(winner)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        keep: Option<Spend>,
    ) -> Result<(), Error> {
        let attribute = made.candidate.attribute;
        let holder = self.holders.iter_mut().find(|holder| holder.holds(attribute));
        let holder = holder.ok_or_else(nobody)?;
        let Some(spend) = keep else { return holder.specialize(made, children) };
        let noise = &mut self.mechanisms.noise;
        let least = keep_from(spend.epsilon());
        holder.specialize_set(made, children, &least, |sizes| Ok(noise.add_noise(spend, sizes)?))
    }

    fn leaves(&mut self, _: &Cuts) -> Result<Leaves, Error> {
        Ok(match self.holders.as_slice() {
            [holder] => holder.leaf_records().release_leaves(),
            _ => Leaves::CrossProduct,
        })
    }

    fn noisy_counts(&mut self, spend: Spend, cuts: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let counts = self.counts(cuts)?;
        Ok(self.mechanisms.noise.add_noise(spend, &counts)?)
    }
}
