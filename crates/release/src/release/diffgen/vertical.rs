//! DiffGen by two parties that hold different columns of the same individuals (thesis, 7.1).
//!
//! *Inputs*: the agreement; each party's columns, the class and identifiers. *Output*, to both: the
//! release that one party would have made of the joined table, and nothing else of the other's data.
//!
//! 1. *Set intersection* finds the common individuals and one order for them, in each shard if people
//!    are in shards ([`crate::release::shards`]).
//!    Fewer than `min_common` of them end the run.
//!    Where one party alone has the class, [`super::one_class`] goes on from here. Where nobody is to
//!    learn who is common, [`super::hidden`] is all of it.
//!    Where the tree follows from the agreement (`range`), 3 says nothing, and without a class 2 neither.
//! 2. *Class*: hashes of the class columns are compared in a circuit; P1's copy counts. Where they
//!    differ the run ends, and tells for how many people only if the agreement allows that.
//! 3. *Structure*: each party scores the candidates of its own columns and draws their splits
//!    alone; a distributed mechanism chooses among all candidates. The winner is all that is opened.
//!    The instruction to the peer is the winner's place in the public list and, for an interval, the
//!    split: nothing about records.
//! 4. *Counts*: the joint count table as shares, noise, opening.
//!
//! *Learned by the peer*: the number of identifiers and which are common; whether the class columns
//! agree; the release. *Theorem*: the view of a party is simulated from its own input, these and the
//! release, up to the total variation that [`Sizes`] turns into δ (composition of the simulators of
//! [`psi`](crate::protocol::psi), [`crate::mechanism`] and [`sum_by_group`](crate::protocol::sum_by_group), or [`scalar_product`](crate::paper::scalar_product) if that is agreed); so for the peer's columns
//! of one common individual replaced, each party's view is (2ε, (1 + e^ε)·δ)-private,
//! computationally.
//!
//! *What can be timed*: scoring between two choices takes a party time that depends on its records.
//! It is part of the leak that SECURITY.md states.

use std::ops::Range;

use num_bigint::{BigInt, BigUint};

use super::holder::Holder;
use super::one_class::OneClass;
use super::paper::{self, Prepared};
use super::sizes::{Sizes, scaling};
use super::two_party::{CountNoise, begin_structure, noisy_records};
use super::{Leaves, Plan, Specializer, hidden, run};
use crate::Error;
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, CountTable, Selection};
use crate::math::Rational;
use crate::mechanism::OneSided;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::paper::exponential::VerticalExponential;
use crate::privacy::decisions::{self, Decisions};
use crate::privacy::exponential::Exponential;
use crate::privacy::{self, Budget, Choose, Spend};
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::CountShape;
use crate::protocol::{Coins, Workspace};
use crate::release::matching::{check_common, compare_classes, exchange_split};
use crate::release::shards::asks::{COUNTS, Sum};
use crate::release::shards::{Common, Parts, match_people};
use crate::release::tree::layout::Layout;
use crate::release::{Examined, Outcome, Step};
use crate::role::Role;
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
    if agreement.membership().is_hidden() {
        return hidden::release(session, agreement, table, budget, prepared.keys(), progress);
    }
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let Common { table, parts, peer_records } = match_people(session, agreement, table, progress)?;
    check_common(agreement, table.len())?;
    // Where nobody scores it does not matter who has the class.
    let release = match plan.class_owner().filter(|_| !plan.is_public()) {
        None => {
            if plan.compares_classes() {
                compare_classes(session, agreement, &table)?;
            }
            let mut specializer = Vertical {
                session,
                holder: Holder::new(&plan, &table)?,
                agreement,
                terms: plan.terms(),
                sizes: &sizes,
                records: table.len(),
                parts,
                prepared,
                progress,
            };
            run(&plan, budget, &mut specializer, &|step| progress(step))?
        }
        Some(owner) => {
            let mut specializer = OneClass::start(
                session,
                agreement,
                &plan,
                &sizes,
                (&table, parts),
                owner,
                progress,
            )?;
            run(&plan, budget, &mut specializer, &|step| progress(step))?
        }
    };
    let course = Examined::all(release.table.cuts.made());
    let (in_both, peer_records) = (Some(table.len()), Some(peer_records));
    Ok(Outcome { release, in_both, peer_records, course, paths: Default::default() })
}

/// One party's side of [`run`].
struct Vertical<'a, 'p, 't> {
    session: &'a mut Workspace,
    holder: Holder<'p, 't>,
    agreement: &'a Agreement,
    terms: &'a Terms,
    sizes: &'a Sizes,
    records: usize,
    parts: Parts,
    prepared: Prepared,
    progress: &'a (dyn Fn(Step) + Sync),
}

impl Specializer for Vertical<'_, '_, '_> {
    /// Both know how many are common; the release shall tell no more of it than its noise lets it.
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        let own = if self.session.role == Role::P1 { self.records as u64 } else { 0 };
        noisy_records(self.session, self.terms, self.sizes, spend, own)
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Error> {
        begin_structure(self.session, self.holder.plan(), plan, self.sizes)
    }

    /// The owner of the column draws alone; the peer has nothing to do.
    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        if !self.holder.holds(attribute) {
            self.session.coins.skip(intervals.len());
            return Ok(());
        }
        // The peer waits meanwhile.
        let mut mechanism = Exponential::new(scaling(), Alone(&mut *self.session.coins))
            .within(self.sizes.largest_split_score);
        self.holder.draw_splits(spend, attribute, intervals, &mut mechanism, false)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let own = candidates
            .iter()
            .filter(|candidate| self.holder.holds(candidate.attribute))
            .map(|candidate| self.holder.score(*candidate))
            .collect::<Result<Vec<_>, _>>()?;
        let peer = candidates.len() - own.len();
        let scores = OneSided { own, peer };
        let calibration = self.holder.plan().calibration();
        let choice = match self.terms.selection {
            Selection::Exponential => {
                let terms = self.sizes.by_weight(self.terms.profile);
                VerticalExponential::with(self.session, terms).choose(
                    spend,
                    calibration,
                    &scores,
                )?
            }
            Selection::PermuteAndFlip => {
                let mut mechanism = NoisyMax::with(self.session, self.sizes.by_noisy_max())?;
                mechanism.choose(spend, calibration, &Scores::OneSided(scores))?
            }
        };
        Ok(choice.index)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        let own = match self.holder.holds(winner.attribute) {
            true => Some(self.holder.split_of(winner)?),
            false => None,
        };
        exchange_split(self.session, winner, own)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
        self.holder.specialize(made, children)
    }

    fn noisy_counts(&mut self, spend: Spend, cuts: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let layout = Layout::new(cuts, self.agreement);
        let noise =
            CountNoise::prepare(self.terms, self.sizes, &spend, layout.entries(), self.session)?;
        self.session.channel.begin_phase("count table");
        let counts = layout.in_release_order(&self.count_table(cuts, &layout)?)?;
        noise.add(self.session, spend, &counts)
    }
}

impl Vertical<'_, '_, '_> {
    fn count_table(&mut self, cuts: &Cuts, layout: &Layout) -> Result<WordShares, Error> {
        let cells = layout.cells_of_records(self.holder.leaf_records(), cuts, self.session.role);
        match self.terms.count_table {
            Some(CountTable::Paillier) => {
                let shape = paper::table_shape(layout, self.records, self.sizes);
                let (session, progress) = (&mut *self.session, self.progress);
                self.prepared.count_table(session, self.terms, &shape, &cells, progress)
            }
            _ => self.transferred_table(layout, &cells),
        }
    }

    fn transferred_table(&mut self, layout: &Layout, cells: &[u32]) -> Result<WordShares, Error> {
        let shape = layout.by_transfers(self.parts.padded(), self.sizes.count_bits);
        count_in_parts(self.session, &self.parts, &shape, cells, self.progress)
    }
}

/// The joint count table of the common people; `shape` is that of one part of them.
pub(super) fn count_in_parts(
    session: &mut Workspace,
    parts: &Parts,
    shape: &CountShape,
    cells: &[u32],
    progress: &(dyn Fn(Step) + Sync),
) -> Result<WordShares, Error> {
    progress(Step::Began { phase: COUNTS, total: cells.len() });
    let advanced = |records| progress(Step::Advanced(records));
    let of = |_, rows| Ok(cells.get::<Range<usize>>(rows).unwrap_or_default().to_vec());
    let table = parts.add_up(session, COUNTS, &[Sum::Cells(*shape)], of, &advanced)?;
    table.into_iter().next().ok_or_else(|| Error::fault("no table of counts"))
}

/// Coins for the decisions that this party makes alone.
pub(super) struct Alone<'a>(pub(super) &'a mut dyn Coins);

impl Decisions for Alone<'_> {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, privacy::Error> {
        self.0.uniform_below(bound)
    }

    fn uniform_below_sum(&mut self, sum: &dyn decisions::Sum) -> Result<BigUint, privacy::Error> {
        self.0.uniform_below_sum(sum)
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, privacy::Error> {
        self.0.geometric(rate)
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, privacy::Error> {
        self.0.discrete_laplace(rate)
    }
}
