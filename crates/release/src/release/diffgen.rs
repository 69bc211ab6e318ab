//! DiffGen (thesis, algorithm 6.1): a table generalized by a sequence of private choices, and
//! published with noisy counts.
//!
//! *Inputs*: the agreement, and the records of one party or of two. *Output*: the cuts in the order
//! they were made, one noisy count per leaf and class, and what was spent on each.
//!
//! *Theorem.* The output is ε-differentially private for adding or removing one record.
//!
//! *Proof sketch.* Every step runs on a [`Spend`] of one [`Budget`], so the total never passes ε on
//! any path (sequential composition with amounts that depend on earlier outputs only). A first
//! split looks at all records and costs ε'; the splits of two new intervals look at disjoint sets
//! of records and cost ε' together; so do the sizes of a set attribute's sub-partitions, and the
//! counts of all leaves and classes, where one record adds 1 to one of them. A number of records that
//! decides how often values are specialized is one noisy count with a spend of its own; what follows
//! depends on it as on every output before, and its spend comes out of ε first. A split is drawn when
//! its interval appears and told when that interval wins: telling it later costs nothing.
//!
//! *Late splits* (ours, for leaf-max of one party or of two with different columns, where a party
//! scores alone): an
//! interval is scored by the best of its splits, and one is drawn once it has won. The largest of
//! scores that each move by at most Δ moves by at most Δ, and is monotone if each is. No split is
//! drawn that is not used, so every step may cost more.
//!
//! *Ties between splits* (ours, for leaf-max and InfoGain, where a party scores alone): a split is drawn
//! by w·u + min(l, r), u being its utility and l and r the records on its two sides ([`splits`](crate::release::tree::splits) has
//! the proof). Splits that two parties draw together, on shares, are scored by u alone, and so are all
//! splits with Max or with the papers' choices (`profile = "paper"`).
//!
//! *Range* (ours, after the thesis, 7.4.1): where the utility is the width of a candidate's range, the
//! cuts are a function of the agreement, and of the noisy number of records where one decides how
//! many there are ([`Plan::widest`]). What depends on data is that number and the counts of leaves
//! that are fixed before them; one record adds 1 to one count, so the counts take all that is left of ε.
//! Nobody scores, chooses or sends anything for the structure.
//!
//! The loop below is the same for one party and for two: a [`Specializer`] is what differs. Neither the
//! candidates nor the budget depend on the data beyond outputs already made.
//!
//! # Example
//!
//! What a release will spend on what is known before the first record is looked at.
//!
//! ```
//! use diptych_release::agreement::Agreement;
//! use diptych_release::release::diffgen::Plan;
//!
//! let agreement = r#"
//!     [release]
//!     id = "illnesses"
//!     partition = "local"
//!     epsilon = "1"
//!     structure_share = "0.5"
//!     utility = "max"
//!     specializations = 2
//!     max_records = 1000
//!     [class]
//!     column = "ill"
//!     values = ["yes", "no"]
//!     [[attribute]]
//!     name = "age"
//!     kind = "numeric"
//!     min = 0
//!     max = 99
//!     step = 1
//! "#;
//! let agreement =
//!     Agreement::parse("a.toml", agreement.as_bytes(), &|_| Err("no files here".to_owned()))?;
//! let plan = Plan::new(&agreement)?;
//! // A first split of the age, and twice a choice and the splits that follow from it.
//! assert_eq!(plan.steps(), 1 + 2 * 2);
//! assert_eq!(plan.epsilon_step().to_string(), "1/10", "half of ε by five");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod forecast;
pub mod hidden;
pub mod histograms;
pub mod holder;
pub mod horizontal;
pub mod leaf_counts;
mod model;
pub mod one_class;
pub mod outlook;
pub mod own_records;
pub mod paper;
pub mod plan;
pub mod postprocess;
pub mod shared_scores;
pub mod single;
pub mod sizes;
#[cfg(test)]
mod tests;
pub mod two_party;
pub mod vertical;

use crate::Error;
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, Model};
use crate::privacy::{Budget, Spend};
use crate::release::tree::{Generalized, Leaves};
use crate::release::{Release, Step};
use crate::table::{Candidate, CutValue, Cuts, Domain, Specialization};
pub use plan::Plan;
pub use postprocess::PostProcess;

/// What an agreement says, if it is on DiffGen.
///
/// # Errors
/// If it is not.
pub fn terms(agreement: &Agreement) -> Result<&Terms, Error> {
    match &agreement.model {
        Model::DiffGen(terms) => Ok(terms),
        _ => Err(Error::internal(
            "the agreement is on another model than DiffGen: run it by `release::run`",
        )),
    }
}

/// What one party does alone and two parties do together. The loop in [`run`] calls it.
///
/// An implementation uses every [`Spend`] for what it is named after, and nothing else.
pub trait Specializer {
    /// The noisy number of records, where it decides on the number of specializations.
    ///
    /// # Errors
    /// Errors of the mechanism.
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error>;

    /// The structure begins: the plan is now the one in which the number of specializations is
    /// decided.
    ///
    /// # Errors
    /// If the set-up is incomplete.
    fn begin(&mut self, _: &Plan) -> Result<(), Error> {
        Ok(())
    }

    /// Draws and keeps a split for each of these intervals of one attribute. Their records are
    /// disjoint, so one spend serves all of them.
    ///
    /// # Errors
    /// Errors of the mechanism.
    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error>;

    /// Draws the first split of every numeric attribute, each with its own spend. Two parties save
    /// rounds by drawing them together.
    ///
    /// # Errors
    /// As [`Specializer::draw_splits`].
    fn draw_first_splits(&mut self, first: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        for (spend, Candidate { attribute, value }) in first {
            self.draw_splits(spend, attribute, &[value])?;
        }
        Ok(())
    }

    /// Chooses one of the candidates and returns its place in the list.
    ///
    /// # Errors
    /// Errors of the mechanism.
    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error>;

    /// The split that was drawn for an interval, which has just won.
    ///
    /// # Errors
    /// If there is none, or the party that drew it does not send it.
    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error>;

    /// Moves the records into the children. `keep` is the spend that decides which sub-partitions
    /// of a set attribute are kept; other kinds have none.
    ///
    /// # Errors
    /// Errors of the mechanism.
    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        keep: Option<Spend>,
    ) -> Result<(), Error>;

    /// The leaves, in the order of the release: all combinations of the cuts, unless sets make
    /// others.
    ///
    /// # Errors
    /// If the records do not match the cuts.
    fn leaves(&mut self, _: &Cuts) -> Result<Leaves, Error> {
        Ok(Leaves::CrossProduct)
    }

    /// The noisy count of each leaf and class, classes fastest.
    ///
    /// # Errors
    /// Errors of the mechanism.
    fn noisy_counts(
        &mut self,
        spend: Spend,
        cuts: &Cuts,
        leaves: &Leaves,
    ) -> Result<Vec<i64>, Error>;
}

/// The spend and the phase of the noisy number of records.
pub const RECORDS: &str = "number of records";

/// Makes a release. `progress` is called for every specialization, and finally for the counts.
///
/// # Errors
/// Those of the specializer, of the budget and of the cuts. The ε stays spent.
pub fn run<F: Specializer>(
    plan: &Plan,
    mut budget: Budget,
    specializer: &mut F,
    progress: &dyn Fn(Step),
) -> Result<Release, Error> {
    if budget.total() != plan.epsilon().value() {
        return Err(Error::internal(
            "the budget's ε is not the one agreed: make the budget from the agreement",
        ));
    }
    let decided = match plan.epsilon_records() {
        None => plan.clone(),
        Some(epsilon) => {
            let spend = budget.spend(RECORDS, epsilon)?;
            plan.for_records(specializer.noisy_records(spend)?)
        }
    };
    let plan = &decided;
    specializer.begin(plan)?;
    progress(Step::Began { phase: "structure", total: plan.specializations() as usize });
    let mut cuts = Cuts::topmost(plan.schema());
    match plan.is_public() {
        true => follow_widest(plan, &mut cuts, specializer, progress)?,
        false => choose_all(plan, &mut budget, &mut cuts, specializer, progress)?,
    }
    let leaves = specializer.leaves(&cuts)?;
    let rest = budget.spend_rest("counts")?;
    let noisy = specializer.noisy_counts(rest, &cuts, &leaves)?;
    progress(Step::Ended);
    let counts = plan.post_process().apply(&noisy);
    let table = Generalized { cuts, leaves, counts };
    Ok(Release { table, spends: budget.spends().to_vec(), notes: Vec::new() })
}

/// Specializes what is widest, which spends nothing.
fn follow_widest<F: Specializer>(
    plan: &Plan,
    cuts: &mut Cuts,
    specializer: &mut F,
    progress: &dyn Fn(Step),
) -> Result<(), Error> {
    for _ in 0..plan.specializations() {
        let Some(made) = plan.widest(cuts) else { break };
        let children = cuts.specialize(&made)?;
        specializer.specialize(&made, &children, None)?;
        progress(Step::Advanced(1));
    }
    Ok(())
}

/// Specializes what is chosen, round by round.
fn choose_all<F: Specializer>(
    plan: &Plan,
    budget: &mut Budget,
    cuts: &mut Cuts,
    specializer: &mut F,
    progress: &dyn Fn(Step),
) -> Result<(), Error> {
    let schema = plan.schema();
    specializer.draw_first_splits(first_splits(plan, budget, cuts)?)?;
    for round in 1..=plan.specializations() {
        let candidates = plan.candidates(cuts);
        if candidates.is_empty() {
            break; // what is left of the structure's part goes to the counts
        }
        let choice = spend(budget, plan, format!("round {round}: choice"))?;
        let winner = specializer.choose(choice, &candidates)?;
        let winner =
            *candidates.get(winner).ok_or_else(|| Error::fault("no such candidate won"))?;
        let attribute = &schema.attributes[winner.attribute];
        let split = match winner.value {
            CutValue::Interval { .. } => {
                if plan.splits_late(winner.attribute) {
                    let name = format!("round {round}: split of {}", attribute.name);
                    let spend = spend(budget, plan, name)?;
                    specializer.draw_splits(spend, winner.attribute, &[winner.value])?;
                }
                Some(specializer.split_of(winner)?)
            }
            CutValue::Value(_) => None,
        };
        let made = Specialization { candidate: winner, split };
        let children = cuts.specialize(&made)?;
        let keep = match attribute.domain {
            Domain::Set(_) => {
                let name = format!("round {round}: sub-partitions of {}", attribute.name);
                Some(spend(budget, plan, name)?)
            }
            _ => None,
        };
        specializer.specialize(&made, &children, keep)?;
        let divisible: Vec<CutValue> = children
            .into_iter()
            .filter(|child| matches!(child, CutValue::Interval { start, end } if end - start > 1))
            .collect();
        let late = plan.splits_late(winner.attribute);
        if !divisible.is_empty() && round < plan.specializations() && !late {
            let name = format!("round {round}: splits of {}", attribute.name);
            let spend = spend(budget, plan, name)?;
            specializer.draw_splits(spend, winner.attribute, &divisible)?;
        }
        progress(Step::Advanced(1));
    }
    Ok(())
}

/// A spend for the first split of every number that is not split late.
fn first_splits(
    plan: &Plan,
    budget: &mut Budget,
    cuts: &Cuts,
) -> Result<Vec<(Spend, Candidate)>, Error> {
    let mut first = Vec::new();
    for candidate in cuts.candidates(plan.order().iter().copied()) {
        let late = plan.splits_late(candidate.attribute);
        if let (CutValue::Interval { .. }, false) = (candidate.value, late) {
            let name = &plan.schema().attributes[candidate.attribute].name;
            first.push((spend(budget, plan, format!("first split of {name}"))?, candidate));
        }
    }
    Ok(first)
}

fn spend(budget: &mut Budget, plan: &Plan, name: String) -> Result<Spend, Error> {
    Ok(budget.spend(name, &plan.epsilon_step())?)
}
