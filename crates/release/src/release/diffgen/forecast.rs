//! What a release by two parties will cost, without the peer and without the data.
//!
//! What the parties say to each other depends on the agreement, on how many records they have and
//! share, and on the tree that comes out, all of which they know in the end. Given these, [`release`]
//! tells every message: the loop is the one that makes releases, with a [`Specializer`] that counts in place
//! of talking. Before a run the tree is not known; [`random_trees`] are a guess at it.

mod limits;

use std::collections::HashSet;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

pub use limits::{MOST_HASHES, check_table};

use super::hidden::joined::Announced;
use super::hidden::tables::CountPlan;
use super::horizontal::record_bits;
use super::leaf_counts::Passes;
use super::one_class::share_bits;
use super::shared_scores::SharedScores;
use super::sizes::Sizes;
use super::two_party::{
    Ready, SET_UP, STRUCTURE, assumptions, bulk, noises_ahead, shard_sources, sources,
};
use super::{Leaves, Plan, RECORDS, Specializer, hidden, histograms, paper, run, terms};
use crate::Error;
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, CountTable, Noise, Partition, Selection};
use crate::crypto::commutative::Ristretto;
use crate::mechanism::noise::joint;
use crate::mechanism::noisy_max::{self, Sharing};
use crate::net::Message;
use crate::paper::exponential::vertical as weighted;
use crate::paper::scalar_product;
use crate::privacy::taylor::Taylor;
use crate::privacy::{Budget, Calibration, Spend};
use crate::protocol::forecast::Forecast;
use crate::protocol::{psi, shares, sum_by_group, yao};
use crate::release::trajectory::union::Extent;
use crate::release::tree::layout::Layout;
use crate::release::tree::scorer::known_at_once;
use crate::release::{matching, shards};
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Domain, Specialization};

/// How many records there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Of this party.
    pub own: usize,
    /// Of the peer.
    pub peer: usize,
    /// Of both; counts where columns are divided.
    pub common: usize,
    /// Where records are paths: how much this party and the peer reveal of them.
    pub paths: [Extent; 2],
}

impl Records {
    /// As the peer sees them.
    #[must_use]
    pub fn turned(self) -> Self {
        let [own, peer] = self.paths;
        Self { own: self.peer, peer: self.own, common: self.common, paths: [peer, own] }
    }
}

/// Adds to `forecast` every message of a release whose tree is `tree`, and returns its number of rows.
///
/// # Errors
/// Those of an agreement that cannot be run, and [`Error::fault`] for a tree that it cannot
/// lead to.
pub fn release(
    forecast: &mut Forecast,
    agreement: &Agreement,
    records: Records,
    tree: &[Specialization],
) -> Result<u64, Error> {
    let key_bits = agreed_bits(terms(agreement)?);
    release_with(forecast, agreement, records, tree, key_bits)
}

/// The length of the keys that are made, 0 if there are none.
fn agreed_bits(terms: &Terms) -> usize {
    terms.paillier_bits.unwrap_or_default() as usize
}

/// The same with keys of another length, as tests have them.
///
/// # Errors
/// As [`release`].
pub fn release_with(
    forecast: &mut Forecast,
    agreement: &Agreement,
    records: Records,
    tree: &[Specialization],
    key_bits: usize,
) -> Result<u64, Error> {
    prepare(forecast, agreement, key_bits)?;
    release_prepared(forecast, agreement, records, tree, key_bits)
}

/// The messages of [`super::two_party::prepare`].
///
/// # Errors
/// Those of an agreement on another model.
pub fn prepare(
    forecast: &mut Forecast,
    agreement: &Agreement,
    key_bits: usize,
) -> Result<(), Error> {
    let terms = terms(agreement)?;
    forecast.begin_phase(SET_UP);
    paper::Prepared::forecast(forecast, agreement, terms, key_bits);
    for (sender, source) in sources(agreement)? {
        forecast.use_transfers(source);
        yao::forecast_set_up(forecast, sender);
    }
    forecast.do_bulk(bulk(terms));
    if let Some(shards) = shards::paired(agreement) {
        let sources = shard_sources(agreement)?;
        forecast.in_shards(shards, |f| {
            f.begin_phase(SET_UP);
            for (sender, source) in sources {
                f.use_transfers(source);
                yao::forecast_set_up(f, sender);
            }
            f.do_bulk(bulk(terms));
        });
    }
    let plan = Plan::new(agreement)?;
    draw_ahead(forecast, &plan, &Sizes::of(agreement, &plan)?)?;
    forecast.exchange(Ready::TAG, Ready::MOST_BYTES);
    Ok(())
}

/// The messages of [`super::two_party::draw_ahead`].
fn draw_ahead(forecast: &mut Forecast, plan: &Plan, sizes: &Sizes) -> Result<(), Error> {
    if plan.epsilon_records().is_none() {
        let (parameters, epsilon) = (sizes.by_noisy_max(), plan.epsilon_step());
        for (calibration, noises) in noises_ahead(plan) {
            noisy_max::forecast_prepare(forecast, &parameters, &epsilon, calibration, noises)?;
        }
    }
    Ok(())
}

/// The messages of [`super::two_party::release_prepared`].
///
/// # Errors
/// As [`release`].
pub fn release_prepared(
    forecast: &mut Forecast,
    agreement: &Agreement,
    records: Records,
    tree: &[Specialization],
    key_bits: usize,
) -> Result<u64, Error> {
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let cuts = Cuts::topmost(plan.schema());
    let role = forecast.role();
    let announced = agreement.membership().is_hidden().then(|| {
        let small = key_bits != terms(agreement).map_or(0, agreed_bits);
        Announced::new(agreement, role, records.own, records.peer, small)
    });
    let vertical = match (&agreement.partition, &announced) {
        (Partition::Vertical { .. }, Some(announced)) => {
            hidden::forecast(forecast, agreement, &plan, &sizes, announced)?;
            true
        }
        (Partition::Vertical { .. }, None) => {
            let (assumptions, own, peer) = (assumptions(plan.terms()), records.own, records.peer);
            shards::forecast_matching(forecast, agreement, assumptions, own, peer)?;
            match plan.class_owner().filter(|_| !plan.is_public()) {
                None if plan.compares_classes() => matching::forecast_classes(forecast),
                None => {}
                Some(owner) => {
                    let bits = share_bits(agreement);
                    forecast.begin_phase(histograms::PHASE);
                    shards::forecast(forecast, agreement, records.common, |f, records| {
                        histograms::forecast(f, &plan, owner, records, bits)
                    })?;
                }
            }
            true
        }
        (Partition::Horizontal { overlap_check, .. }, _) => {
            if overlap_check.is_some() {
                let (own, peer) = (records.own, records.peer);
                psi::forecast_cardinality(forecast, &Ristretto::default(), own, peer);
            }
            false
        }
        (Partition::Local, _) => return Err(Error::input("the agreement is for one party")),
    };
    let scores = match plan.class_owner() {
        None => SharedScores::new(&plan, record_bits(agreement)),
        Some(_) => SharedScores::of_shares(&plan, share_bits(agreement)),
    };
    let mut specializer = Counted {
        forecast,
        agreement,
        plan: &plan,
        sizes: &sizes,
        vertical,
        common: records.common,
        announced,
        key_bits,
        cuts,
        scores,
        weighed: HashSet::new(),
        tree: tree.iter(),
        next: None,
    };
    let made = run(&plan, Budget::new(plan.epsilon()), &mut specializer, &|_| {})?;
    if made.table.cuts.made() != tree {
        return Err(other_tree());
    }
    Ok(made.table.counts.len() as u64)
}

/// `count` trees that an agreement can lead to: in each round an attribute is drawn uniformly, then
/// one of its values; intervals are split in the middle. (Drawing among all values would go for the
/// attributes that are divided most already, and so make fewer leaves than releases have.) The same
/// trees every time; that of the fewest leaves comes first. Fewer than `count`, but 21, where values
/// are so many that it would take long. Where a noisy number of records decides on the number of
/// specializations, they have as many as suit `records`, or the most. Where the tree is public, it is
/// that one alone.
///
/// # Errors
/// Those of [`Plan::new`].
pub fn random_trees(
    agreement: &Agreement,
    count: usize,
    records: Option<u64>,
) -> Result<Vec<Cuts>, Error> {
    let mut plan = Plan::new(agreement)?;
    if let (Some(records), Some(_)) = (records, plan.epsilon_records()) {
        plan = plan.for_records(i64::try_from(records).unwrap_or(i64::MAX));
    }
    if plan.is_public() {
        return Ok(vec![plan.public_tree()?]);
    }
    let values: u64 = plan.schema().attributes.iter().map(|a| listed_values(&a.domain)).sum();
    let rounds = u64::from(plan.specializations()).max(1);
    let affordable = MOST_LISTED / values.max(1).saturating_mul(rounds);
    let count = count.min(affordable.max(21) as usize);
    // Nothing here is secret or released: the trees only size an estimate.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut trees = Vec::with_capacity(count);
    for _ in 0..count {
        let mut cuts = Cuts::topmost(plan.schema());
        for _ in 0..plan.specializations() {
            let mut candidates = plan.candidates(&cuts);
            candidates.sort_by_key(|candidate| candidate.attribute);
            let values: Vec<&[Candidate]> =
                candidates.chunk_by(|one, next| one.attribute == next.attribute).collect();
            if values.is_empty() {
                break;
            }
            let values = values[rng.random_range(0..values.len())];
            let candidate = values[rng.random_range(0..values.len())];
            let split = match candidate.value {
                CutValue::Interval { start, end } => Some(start + (end - start) / 2),
                CutValue::Value(_) => None,
            };
            cuts.specialize(&Specialization { candidate, split })?;
        }
        trees.push(cuts);
    }
    trees.sort_by_key(Cuts::leaves);
    Ok(trees)
}

/// Values that all rounds of all trees may list together: what a second has time for.
const MOST_LISTED: u64 = 1 << 22;

/// How many values of an attribute a round may have to look at.
fn listed_values(domain: &Domain) -> u64 {
    match domain {
        Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => taxonomy.len() as u64,
        Domain::Numeric(_) => 1,
    }
}

/// A [`Specializer`] that counts messages in place of sending them.
struct Counted<'a> {
    forecast: &'a mut Forecast,
    agreement: &'a Agreement,
    plan: &'a Plan,
    sizes: &'a Sizes,
    vertical: bool,
    common: usize,
    /// Where nobody learns who is common.
    announced: Option<Announced>,
    key_bits: usize,
    cuts: Cuts,
    /// Those that nobody knows.
    scores: SharedScores,
    /// The candidates that have weights, once there is a key for them.
    weighed: HashSet<Candidate>,
    tree: std::slice::Iter<'a, Specialization>,
    next: Option<&'a Specialization>,
}

impl Specializer for Counted<'_> {
    /// Any number from which as many specializations come out as the tree has.
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        self.forecast.begin_phase(RECORDS);
        let (widths, bits) = self.sizes.on_records()?;
        match self.plan.terms().noise {
            Noise::TwoParty => shares::forecast_open(self.forecast, bits, 1),
            _ => joint::forecast(self.forecast, spend.epsilon(), widths, bits, 1)?,
        }
        Ok(self.plan.records_for(self.tree.len() as u32))
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Error> {
        self.forecast.begin_phase(STRUCTURE);
        if self.plan.epsilon_records().is_some() {
            draw_ahead(self.forecast, plan, self.sizes)?;
        }
        if plan.is_public() {
            return Ok(());
        }
        match self.vertical {
            true => self.scores.start_with(&self.cuts, 0),
            false => self.scores.forecast_start(self.forecast, &self.cuts)?,
        }
        self.scores.add_first(self.plan, &self.cuts);
        Ok(())
    }

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        if !self.plan.scores_together(attribute) {
            return Ok(());
        }
        let intervals = intervals.iter().map(|value| Candidate { attribute, value: *value });
        self.draw_together(&spend, &intervals.collect::<Vec<_>>())
    }

    fn draw_first_splits(&mut self, first: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        let alone =
            |(_, candidate): &(Spend, Candidate)| !self.plan.scores_together(candidate.attribute);
        for run in first.chunk_by(|a, b| alone(a) == alone(b)) {
            let Some((spend, candidate)) = run.first() else { continue };
            if self.plan.scores_together(candidate.attribute) {
                let intervals: Vec<Candidate> = run.iter().map(|(_, interval)| *interval).collect();
                self.draw_together(spend, &intervals)?;
            }
        }
        Ok(())
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        // A party scores alone where it has all that its scores need.
        let alone = self.vertical && self.plan.class_owner().is_none();
        match (alone, self.plan.terms().selection) {
            (true, Selection::Exponential) => {
                let terms = self.sizes.by_weight(self.plan.terms().profile);
                let p1 = candidates.iter().filter(|c| self.owner(c.attribute) == Role::P1).count();
                let counts = [p1, candidates.len() - p1];
                let calibration = self.plan.calibration();
                weighted::forecast(self.forecast, &terms, spend.epsilon(), calibration, counts)?;
            }
            (true, Selection::PermuteAndFlip) => {
                self.noisy_max(&spend, self.plan.calibration(), Sharing::Xor, candidates.len())?;
            }
            (false, _) => match self.plan.terms().taylor {
                Some(taylor) => self.by_polynomial(&spend, taylor, candidates)?,
                None => {
                    if let Some(class_owner) = self.plan.class_owner() {
                        let (plan, share_bits) = (self.plan, share_bits(self.agreement));
                        let pending = self.scores.pending();
                        shards::forecast(
                            self.forecast,
                            self.agreement,
                            self.common,
                            |f, records| {
                                f.begin_phase(STRUCTURE);
                                let passes = Passes { plan, class_owner, records, share_bits };
                                passes.forecast(f, pending)
                            },
                        )?;
                    }
                    self.scores.forecast_settle(self.forecast, &self.cuts)?;
                    let calibration = self.plan.calibration();
                    self.noisy_max(&spend, calibration, Sharing::Sum, candidates.len())?;
                }
            },
        }
        self.next = self.tree.next();
        let winner =
            self.next.and_then(|made| candidates.iter().position(|c| *c == made.candidate));
        winner.ok_or_else(other_tree)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        if !self.plan.scores_together(winner.attribute) {
            let owner = self.owner(winner.attribute);
            matching::forecast_split(self.forecast, owner)?;
        }
        self.next.and_then(|made| made.split).ok_or_else(other_tree)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
        self.cuts.specialize(made)?;
        if !self.plan.scores_together(made.candidate.attribute) {
            return Ok(());
        }
        self.scores.follow(made, children)?;
        for made in known_at_once(&self.cuts, made.candidate.attribute, children) {
            self.scores.add(made, None);
        }
        Ok(())
    }

    fn noisy_counts(&mut self, spend: Spend, cuts: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let rows = cuts.leaves() as usize * self.plan.schema().class.values.len();
        if let Some(announced) = &self.announced {
            let cells = Layout::new(cuts, self.agreement).cells();
            let shape = CountPlan::new(cells, self.sizes.count_bits);
            hidden::forecast_counts(self.forecast, self.agreement, announced, self.plan, &shape)?;
        } else if self.vertical {
            let layout = Layout::new(cuts, self.agreement);
            if self.plan.terms().count_table == Some(CountTable::Paillier) {
                let shape = paper::table_shape(&layout, self.common, self.sizes);
                scalar_product::forecast_table(self.forecast, &shape, self.key_bits)?;
            } else {
                let bits = self.sizes.count_bits;
                self.forecast.begin_phase("count table");
                shards::forecast(self.forecast, self.agreement, self.common, |f, records| {
                    Ok(sum_by_group::forecast_table(f, &layout.by_transfers(records, bits))?)
                })?;
            }
        }
        self.forecast.begin_phase("noise");
        let (bits, widths) = (self.sizes.count_bits, self.sizes.on_counts());
        match self.plan.terms().noise {
            Noise::TwoParty => shares::forecast_open(self.forecast, bits, rows),
            _ => joint::forecast(self.forecast, spend.epsilon(), widths, bits, rows)?,
        }
        Ok(vec![0; rows])
    }
}

impl Counted<'_> {
    fn owner(&self, attribute: usize) -> Role {
        self.plan.schema().attributes[attribute].owner.unwrap_or(Role::P1)
    }

    fn draw_together(&mut self, spend: &Spend, intervals: &[Candidate]) -> Result<(), Error> {
        let (plan, sizes, epsilon) = (self.plan, self.sizes, spend.epsilon());
        self.scores.forecast_draw_splits(self.forecast, plan, sizes, epsilon, intervals)?;
        Ok(())
    }

    fn noisy_max(
        &mut self,
        spend: &Spend,
        calibration: &Calibration,
        sharing: Sharing,
        count: usize,
    ) -> Result<(), Error> {
        let (terms, epsilon) = (self.sizes.by_noisy_max(), spend.epsilon());
        Ok(noisy_max::forecast(self.forecast, &terms, epsilon, calibration, sharing, count)?)
    }

    fn by_polynomial(
        &mut self,
        spend: &Spend,
        taylor: Taylor,
        candidates: &[Candidate],
    ) -> Result<(), Error> {
        let terms = paper::polynomial(self.agreement, taylor, &self.sizes.widths);
        let common = (self.plan, terms, spend);
        let tree = (&self.cuts, candidates);
        paper::forecast_choice(self.forecast, self.key_bits, common, tree, &mut self.weighed)
    }
}

fn other_tree() -> Error {
    Error::fault("the tree is not one of this agreement")
}
