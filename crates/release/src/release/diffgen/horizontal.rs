//! DiffGen by two parties that hold the same columns of different individuals (thesis, 7.4 to 7.7).
//!
//! *Inputs*: the agreement; each party's records. *Output*, to both: the release that one party
//! would have made of the united table, and nothing else of the other's data.
//!
//! 1. *Overlap check*, if agreed: both learn how many identifiers are common. That is no
//!    differentially private output, and the agreement says so.
//! 2. *Structure*: scores are shares that nobody knows ([`SharedScores`]); splits of intervals are
//!    chosen on the public grid by noisy maximum, winners by the agreed mechanism. Both are opened.
//!    Where the tree follows from the agreement (`range`), there is nothing to say here.
//! 3. *Counts*: each party's own counts are its shares; noise, opening.
//!
//! A split is opened when it is drawn, not when its interval wins. It is paid for at that moment
//! all the same, so the parties' views stay within ε; recipients see the winners' alone.
//!
//! *Learned by the peer*: the release, all splits that were drawn, the noisy number of all records
//! where that decides on the number of specializations, and the size of the overlap if
//! that check is on. With noise `two-party` also the peer's counts with its own noise, which is
//! ε-private for its records alone (parallel composition over the leaves). All circuits are sized by
//! `max_records`: numbers of records stay hidden. *Theorem*: the view of a party is simulated from
//! its own input and these outputs, up to the total variation that [`Sizes`] turns into δ.
//!
//! *Where records lie* is a party's own affair ([`OwnRecords`]): here, or in shards that are asked for counts.
//! The messages are the same.
//!
//! *What can be timed*: counting a party's own records between two choices takes time that depends
//! on how many there are. It is part of the leak that SECURITY.md states.

use std::collections::HashMap;

use super::histograms::sides;
use super::own_records::{Held, OwnRecords};
use super::paper::{self, Prepared, Weights};
use super::shared_scores::{Pending, SharedScores};
use super::sizes::Sizes;
use super::two_party::{CountNoise, begin_structure, noisy_records};
use super::{Leaves, Plan, Specializer, run};
use crate::Error;
use crate::agreement::{self, Agreement};
use crate::crypto::commutative::Ristretto;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::privacy::{Budget, Choose, Spend};
use crate::protocol::psi::{self, Cardinality, cardinality};
use crate::protocol::shares::WordShares;
use crate::protocol::{Session, Workspace};
use crate::release::shards::{self, InShards};
use crate::release::tree::scorer::known_at_once;
use crate::release::{Examined, Outcome, Step};
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// Makes a release with the peer: see [`two_party`](super::two_party).
pub(super) fn release(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    prepared: Prepared,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let overlap = count_overlap(session, agreement, table, progress)?;
    let records = shards::records(session, table);
    // Shards are lent to the records: what they count is this side's affair alone.
    let mut lent = std::mem::take(&mut session.shards);
    let run_on = |own: &mut dyn OwnRecords| {
        let mut specializer = Horizontal {
            scores: SharedScores::new(&plan, record_bits(agreement)),
            session: &mut *session,
            plan: &plan,
            records,
            own,
            splits: HashMap::new(),
            agreement,
            sizes: &sizes,
            weights: Weights::new(prepared),
        };
        run(&plan, budget, &mut specializer, &|step| progress(step))
    };
    let made = match lent.records {
        None => Held::of(plan.schema(), table).and_then(|mut held| run_on(&mut held)),
        Some(_) => run_on(&mut InShards::new(&mut lent, plan.schema())),
    };
    session.shards = lent;
    let release = made?;
    Ok(Outcome {
        course: Examined::all(release.table.cuts.made()),
        release,
        in_both: overlap.map(|overlap| overlap.common),
        peer_records: overlap.map(|overlap| overlap.peer_size),
        paths: Default::default(),
    })
}

/// Bits of the public bound on the number of records.
pub(in crate::release) fn record_bits(agreement: &Agreement) -> usize {
    (u64::BITS - agreement.max_records.leading_zeros()) as usize
}

/// How many people are in both tables, where it is agreed to count them.
pub(in crate::release) fn count_overlap(
    session: &mut Session,
    agreement: &Agreement,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<Cardinality>, Error> {
    let agreement::Partition::Horizontal { overlap_check, .. } = &agreement.partition else {
        return Err(Error::input("the agreement is not a horizontal one"));
    };
    if overlap_check.is_none() {
        return Ok(None);
    }
    let identifiers = table.identifiers().ok_or_else(|| {
        Error::input(
            "the data was read without identifiers; read it for an agreement with an overlap check",
        )
    })?;
    let starts = |total| progress(Step::Began { phase: "overlap check", total });
    let options = psi::Options {
        largest_set: usize::try_from(agreement.max_records).unwrap_or(usize::MAX),
        starts: &starts,
        progress: &|items| progress(Step::Advanced(items)),
    };
    Ok(Some(cardinality(session, &Ristretto::default(), identifiers, options)?))
}

/// One party's side of [`run`].
struct Horizontal<'a, 'p> {
    session: &'a mut Workspace,
    plan: &'p Plan,
    records: usize,
    own: &'a mut dyn OwnRecords,
    scores: SharedScores,
    splits: HashMap<Candidate, u32>,
    agreement: &'a Agreement,
    sizes: &'a Sizes,
    /// Where a polynomial takes the place of the exponential.
    weights: Weights,
}

impl Specializer for Horizontal<'_, '_> {
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        noisy_records(self.session, self.plan.terms(), self.sizes, spend, self.records as u64)
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Error> {
        begin_structure(self.session, self.plan, plan, self.sizes)?;
        if plan.is_public() {
            return Ok(());
        }
        let cuts = Cuts::topmost(self.plan.schema());
        self.scores.start(self.session, self.own, &cuts)?;
        self.scores.add_first(self.plan, &cuts);
        Ok(())
    }

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        // Records of different intervals are different records.
        let spends = spend.over_disjoint_records(intervals.len());
        let intervals = intervals.iter().map(|value| Candidate { attribute, value: *value });
        self.draw_first_splits(spends.into_iter().zip(intervals).collect())
    }

    fn draw_first_splits(&mut self, draws: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        let intervals: Vec<Candidate> = draws.iter().map(|(_, interval)| *interval).collect();
        let points = self.own.points(&intervals)?;
        let classes = self.classes();
        let at: HashMap<Candidate, Vec<u64>> = intervals.into_iter().zip(points).collect();
        let sides_of = |interval: Candidate| {
            let points =
                at.get(&interval).ok_or_else(|| Error::fault("an interval not counted"))?;
            Ok(sides(points, classes))
        };
        let (session, plan) = (&mut *self.session, self.plan);
        let drawn = self.scores.draw_splits(session, plan, self.sizes, draws, sides_of)?;
        self.splits.extend(drawn);
        Ok(())
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        if let Some(taylor) = self.plan.terms().taylor {
            let terms = paper::polynomial(self.agreement, taylor, &self.sizes.widths);
            let new = self.weights.missing(candidates);
            let pending = self.pending(&new);
            let (own, common) = (&mut *self.own, (self.plan, terms, &spend));
            return self.weights.choose(self.session, own, common, candidates, (new, &pending));
        }
        self.scores.settle_own(self.session, self.own)?;
        let scores =
            candidates.iter().map(|c| self.scores.share(*c)).collect::<Result<Vec<_>, _>>()?;
        let shared = WordShares::new(self.scores.shape().share_bits, scores)?;
        self.noisy_max(spend, &shared)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        let drawn = self.splits.get(&winner).copied();
        let missing = || Error::fault("an interval won for which no split was drawn");
        drawn.ok_or_else(missing)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
        self.own.specialize(made)?;
        if self.plan.is_public() {
            return Ok(());
        }
        self.scores.follow(made, children)?;
        let cuts = Cuts::topmost(self.plan.schema());
        for made in known_at_once(&cuts, made.candidate.attribute, children) {
            self.scores.add(made, None);
        }
        Ok(())
    }

    fn noisy_counts(&mut self, spend: Spend, _: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let counts = WordShares::new(self.sizes.count_bits, self.own.leaves()?)?;
        let noise =
            CountNoise::prepare(self.plan.terms(), self.sizes, &spend, counts.len(), self.session)?;
        noise.add(self.session, spend, &counts)
    }
}

impl Horizontal<'_, '_> {
    /// What these candidates stand for, in all leaves.
    fn pending(&self, candidates: &[Candidate]) -> Vec<Pending> {
        let split = |candidate| self.splits.get(candidate).copied();
        let made = candidates.iter().map(|c| Specialization { candidate: *c, split: split(c) });
        made.map(|made| (made, None)).collect()
    }

    fn classes(&self) -> usize {
        self.plan.schema().class.values.len()
    }

    fn noisy_max(&mut self, spend: Spend, scores: &WordShares) -> Result<usize, Error> {
        let mut mechanism = NoisyMax::with(self.session, self.sizes.by_noisy_max())?;
        let scores = Scores::Shared(scores.clone());
        Ok(mechanism.choose(spend, self.plan.calibration(), &scores)?.index)
    }
}
