//! DiffGen by two parties of whom neither learns which people both have.
//!
//! *Inputs*: the agreement; each party's columns and identifiers, and of one of them the class. *Output*,
//! to both: the release that one party would have made of the joined table (utility Max).
//!
//! 1. *Joins*, one in each direction: shares, in the order of each party's own bins, of whether the person
//!    there is common, and of its class where the owner of the bins lacks it ([`joined`]).
//! 2. *Histograms* of all attributes, as shares ([`tables`]).
//! 3. *Structure*: all scores are shares ([`SharedScores`]); winners are chosen by noisy maximum, splits on
//!    the public grid in the same way, and opened when they are drawn. A noisy number of records, where
//!    one decides how often, is a sum of the shares.
//!    Where the tree follows from the agreement (`range`), there are neither histograms nor choices.
//! 4. *Counts*: the party with fewer leaves gives the leaf of each of its people as a payload of a
//!    further hint; the other sums by its own leaf. Noise, opening.
//!
//! *Learned by the peer*: the release; every split that was drawn; the noisy number of common people,
//! where that decides how often; how many records there are, or where both are padded (`pad_to`) nothing
//! else.
//!
//! *Theorem.* The view of a party is simulated from its own input and these, up to the total variation
//! that [`Sizes`] turns into δ. Where both are padded, it is (ε, δ)-private for one of the peer's rows
//! added or removed: towards the peer the promise is that towards recipients of the release. Where sizes
//! are shown, it is (2ε, (1 + e^ε)·δ)-private for one of the peer's rows replaced by any other,
//! identifier included. Either covers whether a person is in the peer's table at all. Computationally:
//! under the assumptions of [`join`], and under LPN where transfers are silent.
//!
//! *Proof sketch.* The simulators of [`join`],
//! [`sum_by_group`](crate::protocol::sum_by_group), [`bits`](crate::protocol::bits) and
//! [`crate::mechanism`] compose: what they leave are shares, uniform to one party, and openings, all of
//! which are outputs of mechanisms with the spends that the release lists. Lengths and order of all
//! messages follow from what is announced and from these outputs. So the view is a function of the
//! party's own input and of an (ε, δ)-private output on the table of common people. Identifiers are distinct at
//! either party: a row more of the peer's makes at most one row more of that table, and which one
//! follows from the party's own rows, which stay. Replacing a row is taking one away and adding another, and
//! (ε, δ) twice is (2ε, (1 + e^ε)·δ).
//!
//! *What can be timed*: bins and stores take time that follows hashes of identifiers under seeds of the
//! run, and a party's values and leaves take time by its own records, padded or not. Between the choices all work is on shares and
//! depends on the cuts alone.

pub mod joined;
pub mod tables;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::histograms::{Histograms, values_of};
use super::one_class::share_bits;
use super::shared_scores::SharedScores;
use super::sizes::Sizes;
use super::two_party::{CountNoise, Keys, begin_structure, noisy_records};
use super::{Leaves, Plan, Specializer, run};
use crate::Error;
use crate::agreement::Agreement;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::privacy::{Budget, Choose, Spend};
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::{Workspace, join};
use crate::release::shards::{self, asks::Due};
use crate::release::tree::layout::Layout;
use crate::release::tree::leaf_records::LeafRecords;
use crate::release::tree::scorer::known_at_once;
use crate::release::{Examined, Outcome, Step};
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};
use joined::{Announced, Joined};
use tables::CountPlan;

/// Ways in which a run may fail, in units of 2⁻⁶⁴: those of two joins, each of which may have the
/// later payload.
pub const FAILURES: u64 = 2 * join::failures(1);

/// Transfers from P1 for every bin of a join, or a few more: two for each bit that is compared.
pub(in crate::release) const TRANSFERS_PER_BIN: usize = 2 * 80;

fn no_owner() -> Error {
    Error::input("membership is hidden, and nobody alone has the class")
}

/// In whose bins people are counted first: those of the class's owner; P1's where there is no class.
fn labelled(plan: &Plan) -> Result<Role, Error> {
    let without = plan.schema().class.is_none().then_some(Role::P1);
    plan.class_owner().or(without).ok_or_else(no_owner)
}

/// Makes a release with the peer: see [`two_party`](super::two_party).
pub(super) fn release(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    keys: Keys,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let role = session.role;
    // Short keys are for tests, and so are few bins.
    let small = keys != Keys::Agreed;
    let records = shards::records(session, table);
    let announced = Announced::exchange(session, agreement, records, small)?;
    let mut specializer =
        Hidden::start(session, agreement, &plan, &sizes, table, &announced, progress)?;
    let release = run(&plan, budget, &mut specializer, &|step| progress(step))?;
    let peer_records = announced.of_peer(agreement, role);
    let course = Examined::all(release.table.cuts.made());
    Ok(Outcome { release, in_both: None, peer_records, course, paths: Default::default() })
}

/// The messages of [`release`] before the loop.
pub(super) fn forecast(
    f: &mut Forecast,
    agreement: &Agreement,
    plan: &Plan,
    sizes: &Sizes,
    announced: &Announced,
) -> Result<(), Error> {
    let class_owner = labelled(plan)?;
    Announced::forecast(agreement, f)?;
    let announced = announced.in_shards(shards::number(agreement));
    shards::forecast(f, agreement, 0, |f, _| {
        Joined::forecast(f, agreement, class_owner, &announced)?;
        tables::forecast_members(f, &announced, class_owner, member_bits(agreement, sizes))?;
        match plan.is_public() {
            true => Ok(()),
            false => {
                tables::forecast_histograms(f, plan, class_owner, &announced, share_bits(agreement))
            }
        }
    })
}

/// The messages of the table of counts.
pub(super) fn forecast_counts(
    f: &mut Forecast,
    agreement: &Agreement,
    announced: &Announced,
    plan: &Plan,
    shape: &CountPlan,
) -> Result<(), Error> {
    let members_of = labelled(plan)?;
    f.begin_phase(tables::COUNTS);
    let announced = announced.in_shards(shards::number(agreement));
    shards::forecast(f, agreement, 0, |f, _| {
        tables::forecast_counts(f, &announced, shape, members_of)
    })
}

/// Bits of shares of membership: they are summed in three rings.
fn member_bits(agreement: &Agreement, sizes: &Sizes) -> u32 {
    share_bits(agreement).max(sizes.count_bits).max(sizes.record_bits)
}

/// About how many transfers from P1 and from P2 a release, or each of its shards, takes, for as many
/// records as there may be.
pub(super) fn transfers(agreement: &Agreement) -> Result<[usize; 2], Error> {
    let plan = Plan::new(agreement)?;
    let most = usize::try_from(agreement.most_records()).unwrap_or(usize::MAX);
    let announced =
        Announced::new(agreement, Role::P1, most, most, false).in_shards(shards::number(agreement));
    let mut transfers = [0; 2];
    for owner in Role::BOTH {
        let bins = announced.join(owner)?.bins();
        let sums = tables::transfers(&plan, owner, bins, share_bits(agreement))?;
        transfers[owner.peer() as usize] += sums;
        // Conjunctions are on transfers from P1.
        transfers[Role::P1 as usize] += TRANSFERS_PER_BIN.saturating_mul(bins);
    }
    Ok(transfers)
}

/// One party's side of [`run`].
struct Hidden<'a, 'p, 't> {
    session: &'a mut Workspace,
    agreement: &'a Agreement,
    plan: &'p Plan,
    sizes: &'a Sizes,
    /// All people, unless they are in shards.
    whole: Option<Part<'t>>,
    /// How many people are common, which neither party knows.
    common: WordShares,
    histograms: Histograms,
    scores: SharedScores,
    splits: HashMap<Candidate, u32>,
    progress: &'a (dyn Fn(Step) + Sync),
}

/// Some people, and what is shared of them.
pub struct Part<'t> {
    table: Cow<'t, Table>,
    joined: Joined,
    /// Whether the person in each bin of the class's owner is common.
    members: WordShares,
}

impl<'t> Part<'t> {
    /// Joins them with the peer's and shares their histograms.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn join(
        session: &mut Workspace,
        agreement: &Agreement,
        plan: &Plan,
        table: Cow<'t, Table>,
        announced: &Announced,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<(Self, Histograms), Error> {
        let class_owner = labelled(plan)?;
        let of_members = member_bits(agreement, &Sizes::of(agreement, plan)?);
        let joined = Joined::make(session, agreement, class_owner, &table, announced, progress)?;
        let members = tables::members(session, &joined, class_owner, of_members)?;
        let bits = share_bits(agreement);
        let histograms = match plan.is_public() {
            true => Histograms::from_shares(plan, BTreeMap::new()),
            false => tables::histograms(session, plan, &joined, &table, &members, bits, progress)?,
        };
        Ok((Self { table, joined, members }, histograms))
    }

    /// A share of how many of them are common: right modulo every power of two that members are
    /// shared over.
    ///
    /// # Errors
    /// None that can happen.
    pub fn common(&self) -> Result<WordShares, Error> {
        let sum = self.members.words().iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
        Ok(WordShares::new(u64::BITS, vec![sum])?)
    }

    /// Counts them with the peer by the leaves that these specializations make.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn count(
        &mut self,
        session: &mut Workspace,
        agreement: &Agreement,
        made: &[Specialization],
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<WordShares, Error> {
        let plan = Plan::new(agreement)?;
        let sizes = Sizes::of(agreement, &plan)?;
        let mut leaf_records = LeafRecords::new(&agreement.schema, &self.table)?;
        let mut cuts = Cuts::topmost(&agreement.schema);
        for made in made {
            let children = cuts.specialize(made)?;
            if leaf_records.attributes().contains(&made.candidate.attribute) {
                leaf_records.specialize(made, &children)?;
            }
        }
        let layout = Layout::new(&cuts, agreement);
        let cells = layout.cells_of_records(&leaf_records, &cuts, session.role);
        let shape = CountPlan::new(layout.cells(), sizes.count_bits);
        let members = (labelled(&plan)?, &self.members);
        tables::counts(session, &mut self.joined, &shape, &cells, members, progress)
    }
}

/// What a shard sends when it has joined: [`Part::common`], then the histograms.
fn due(agreement: &Agreement, plan: &Plan) -> Result<Vec<Due>, Error> {
    let (classes, bits) = (plan.schema().class.values.len(), share_bits(agreement));
    let mut due = vec![Due { bits: u64::BITS, words: 1 }];
    for attribute in plan.schema().attributes.iter().filter(|_| !plan.is_public()) {
        due.push(Due { bits, words: values_of(&attribute.domain)? * classes });
    }
    Ok(due)
}

/// Each attribute that has a histogram, which is every one.
fn attributes(plan: &Plan) -> Range<usize> {
    0..plan.schema().attributes.len()
}

impl<'a, 'p, 't> Hidden<'a, 'p, 't> {
    /// Shares the histograms, and is ready for the first choice.
    fn start(
        session: &'a mut Workspace,
        agreement: &'a Agreement,
        plan: &'p Plan,
        sizes: &'a Sizes,
        table: &'t Table,
        announced: &Announced,
        progress: &'a (dyn Fn(Step) + Sync),
    ) -> Result<Self, Error> {
        let (whole, common, histograms) = match shards::number(agreement) {
            None => {
                let table = Cow::Borrowed(table);
                let (whole, histograms) =
                    Part::join(session, agreement, plan, table, announced, progress)?;
                let common = whole.common()?;
                (Some(whole), common, histograms)
            }
            Some(_) => {
                let due = due(agreement, plan)?;
                let told = shards::join(session, agreement, table, announced, &due, progress)?;
                let mut told = told.into_iter();
                let common = told.next().ok_or_else(|| Error::fault("nobody counted"))?;
                let shares = attributes(plan).zip(told).collect();
                (None, common, Histograms::from_shares(plan, shares))
            }
        };
        let mut scores = SharedScores::of_shares(plan, share_bits(agreement));
        scores.add_first(plan, &Cuts::topmost(plan.schema()));
        let splits = HashMap::new();
        Ok(Self {
            session,
            agreement,
            plan,
            sizes,
            whole,
            common,
            histograms,
            scores,
            splits,
            progress,
        })
    }

    fn draw_together(&mut self, draws: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        let histograms = &self.histograms;
        let sides_of = |interval: Candidate| histograms.sides(interval.attribute, interval.value);
        let drawn =
            self.scores.draw_splits(self.session, self.plan, self.sizes, draws, sides_of)?;
        self.splits.extend(drawn);
        Ok(())
    }
}

impl Specializer for Hidden<'_, '_, '_> {
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        let own = self.common.words().first().copied().unwrap_or_default();
        noisy_records(self.session, self.plan.terms(), self.sizes, spend, own)
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Error> {
        begin_structure(self.session, self.plan, plan, self.sizes)
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
        self.draw_together(spends.into_iter().zip(intervals).collect())
    }

    fn draw_first_splits(&mut self, first: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        self.draw_together(first)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let (plan, histograms) = (self.plan, &self.histograms);
        let counts = |made: &Specialization, _: Option<&_>| histograms.children(plan, made);
        self.scores.settle(self.session, counts)?;
        let shares = candidates.iter().map(|candidate| self.scores.share(*candidate));
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let shared = WordShares::new(self.scores.shape().share_bits, shares)?;
        let mut mechanism = NoisyMax::with(self.session, self.sizes.by_noisy_max())?;
        Ok(mechanism.choose(spend, self.plan.calibration(), &Scores::Shared(shared))?.index)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        let missing = || Error::fault("an interval won for which no split was drawn");
        self.splits.get(&winner).copied().ok_or_else(missing)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
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

    fn noisy_counts(&mut self, spend: Spend, cuts: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let layout = Layout::new(cuts, self.agreement);
        let (terms, sizes) = (self.plan.terms(), self.sizes);
        let noise = CountNoise::prepare(terms, sizes, &spend, layout.entries(), self.session)?;
        let (session, made) = (&mut *self.session, cuts.made());
        let table = match &mut self.whole {
            Some(whole) => Some(whole.count(session, self.agreement, made, self.progress)?),
            None => {
                let due = Due { bits: sizes.count_bits, words: layout.entries() };
                shards::count_joined(session, made, due, self.progress)?.into_iter().next()
            }
        };
        let table = table.ok_or_else(|| Error::fault("no table of counts"))?;
        noise.add(self.session, spend, &layout.in_release_order(&table)?)
    }
}
