//! Scores that nobody knows: of candidates in a table whose records two parties hold apart.
//!
//! A score is a sum of largest class counts, and a share of a sum is the sum of the shares. So every
//! group of records (a child of a value; with leaf-max, a child of a leaf) goes through MAX once,
//! when it appears, and never again: a specialization makes groups only below the leaves that it
//! divides. All leaves count, the empty ones too, so that what is computed depends on the cuts alone.

use std::collections::{BTreeMap, HashMap};

use zeroize::Zeroizing;

use super::Plan;
use super::own_records::OwnRecords;
use super::sizes::Sizes;
use super::two_party::points;
use crate::Error;
use crate::math::{Rational, wiped};
use crate::mechanism::largest::{self, GroupShape, largest_counts};
use crate::mechanism::noisy_max::{self, NoisyMax, Sharing};
use crate::privacy::Spend;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::release::tree::scorer::known_at_once;
use crate::release::tree::utility::Utility;
use crate::table::{Candidate, CutValue, Cuts, Specialization};

/// The generalized values of a leaf, as keys.
pub type Coordinates = Vec<u32>;

/// Groups that did not go through MAX yet: the children of what a candidate stands for, in one leaf;
/// without a leaf, in all of them.
pub type Pending = (Specialization, Option<Coordinates>);

/// One party's shares of the scores of all candidates.
pub struct SharedScores {
    utility: Utility,
    shape: GroupShape,
    /// Every candidate that is scored, and what it stands for.
    known: BTreeMap<Candidate, Specialization>,
    /// Of the utility Max: a share of each score.
    scores: HashMap<Candidate, u64>,
    /// Leaf-max: the largest class count of every leaf.
    leaves: BTreeMap<Coordinates, u64>,
    /// Leaf-max: of every candidate and leaf that holds it, the largest class counts of the children.
    divided: HashMap<Candidate, BTreeMap<Coordinates, Vec<u64>>>,
    pending: Vec<Pending>,
}

impl SharedScores {
    /// Scores of a table with one leaf and no candidate yet. Counts are `count_bits` long at most.
    pub fn new(plan: &Plan, count_bits: usize) -> Self {
        let classes = plan.schema().class.values.len();
        let share_bits = count_bits as u32 + 1;
        Self::of_shape(plan, GroupShape { classes, count_bits, share_bits, of_shares: false })
    }

    /// The same where counts are shares of `share_bits`, which is room for every count and score.
    pub fn of_shares(plan: &Plan, share_bits: u32) -> Self {
        let (classes, count_bits) = (plan.schema().class.values.len(), share_bits as usize);
        Self::of_shape(plan, GroupShape { classes, count_bits, share_bits, of_shares: true })
    }

    fn of_shape(plan: &Plan, shape: GroupShape) -> Self {
        Self {
            utility: plan.utility(),
            shape,
            known: BTreeMap::new(),
            scores: HashMap::new(),
            leaves: BTreeMap::new(),
            divided: HashMap::new(),
            pending: Vec::new(),
        }
    }

    /// How groups go through MAX.
    pub fn shape(&self) -> &GroupShape {
        &self.shape
    }

    /// Counts the one leaf that there is at the beginning.
    ///
    /// # Errors
    /// If the run fails.
    pub fn start(
        &mut self,
        session: &mut Workspace,
        own: &mut dyn OwnRecords,
        cuts: &Cuts,
    ) -> Result<(), Error> {
        if self.utility != Utility::LeafMax {
            return Ok(());
        }
        let shares = largest_counts(session, &self.shape, &own.all()?)?;
        self.start_with(cuts, shares.words()[0]);
        Ok(())
    }

    /// The same where a share of the one leaf's largest class count is known already.
    pub fn start_with(&mut self, cuts: &Cuts, share: u64) {
        if self.utility != Utility::LeafMax {
            return;
        }
        let attributes = 0..cuts.schema().attributes.len();
        let top = attributes.map(|attribute| cuts.of(attribute)[0].key()).collect();
        self.leaves.insert(top, share);
    }

    /// The messages of [`SharedScores::start`]; all shares are 0.
    ///
    /// # Errors
    /// As [`largest::forecast`].
    pub fn forecast_start(&mut self, f: &mut Forecast, cuts: &Cuts) -> Result<(), Error> {
        if self.utility == Utility::LeafMax {
            largest::forecast(f, &self.shape, 1)?;
            self.start_with(cuts, 0);
        }
        Ok(())
    }

    /// The candidates of taxonomies that there are at the beginning.
    pub fn add_first(&mut self, plan: &Plan, cuts: &Cuts) {
        let attributes = 0..plan.schema().attributes.len();
        for attribute in attributes.filter(|attribute| plan.scores_together(*attribute)) {
            for made in known_at_once(cuts, attribute, cuts.of(attribute)) {
                self.add(made, None);
            }
        }
    }

    /// A candidate has appeared. `score` is its Max, where a share of it is known already.
    pub fn add(&mut self, made: Specialization, score: Option<u64>) {
        self.known.insert(made.candidate, made);
        match (self.utility, score) {
            (Utility::LeafMax, _) => {
                let leaves = self.leaves.keys().filter(|leaf| holds(leaf, made.candidate));
                self.pending.extend(leaves.map(|leaf| (made, Some(leaf.clone()))));
            }
            (_, Some(score)) => {
                self.scores.insert(made.candidate, score);
            }
            (_, None) => self.pending.push((made, None)),
        }
    }

    /// A candidate was specialized: its leaves are replaced by their children.
    ///
    /// # Errors
    /// [`Error::fault`] if it was never scored.
    pub fn follow(&mut self, made: &Specialization, children: &[CutValue]) -> Result<(), Error> {
        let winner = made.candidate;
        self.known.remove(&winner);
        self.scores.remove(&winner);
        if self.utility != Utility::LeafMax {
            return Ok(());
        }
        let divided = self.divided.remove(&winner).unwrap_or_default();
        for (old, largest) in divided {
            self.leaves.remove(&old).ok_or_else(|| Error::fault("a leaf that is not there"))?;
            for (child, largest) in children.iter().zip(largest) {
                let mut new = old.clone();
                new[winner.attribute] = child.key();
                for (candidate, made) in self.known.iter().filter(|(c, _)| holds(&new, **c)) {
                    if let Some(divided) = self.divided.get_mut(candidate) {
                        divided.remove(&old);
                    }
                    self.pending.push((*made, Some(new.clone())));
                }
                self.leaves.insert(new, largest);
            }
        }
        Ok(())
    }

    /// What the next [`SharedScores::settle`] will ask for.
    pub fn pending(&self) -> &[Pending] {
        &self.pending
    }

    /// Sends all groups that are new through MAX, where each party counts its own records.
    ///
    /// # Errors
    /// If the run fails.
    pub fn settle_own(
        &mut self,
        session: &mut Workspace,
        own: &mut dyn OwnRecords,
    ) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        let counts = own.children(&pending)?;
        self.settle_counts(session, pending, counts)
    }

    /// Sends all groups that are new through MAX. `counts_of` gives this party's class counts of the
    /// children of a candidate, in one leaf or in all of them, or its shares of them.
    ///
    /// # Errors
    /// If the run fails.
    pub fn settle(
        &mut self,
        session: &mut Workspace,
        counts_of: impl Fn(&Specialization, Option<&Coordinates>) -> Result<Vec<u64>, Error>,
    ) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        let of_one = |(made, leaf): &Pending| counts_of(made, leaf.as_ref());
        let counts = pending.iter().map(of_one).collect::<Result<Vec<_>, _>>()?;
        self.settle_counts(session, pending, counts)
    }

    /// Sends the groups of each of these through MAX.
    fn settle_counts(
        &mut self,
        session: &mut Workspace,
        pending: Vec<Pending>,
        counts: Vec<Vec<u64>>,
    ) -> Result<(), Error> {
        let groups = counts.iter().map(|of_one| of_one.len() / self.shape.classes.max(1));
        let groups: Vec<usize> = groups.collect();
        let shares = largest_counts(session, &self.shape, &counts.concat())?;
        let mut shares = shares.words().iter().copied();
        for ((made, leaf), children) in pending.into_iter().zip(groups) {
            self.file(made, leaf, shares.by_ref().take(children).collect());
        }
        Ok(())
    }

    /// Keeps the largest class counts of a candidate's children.
    fn file(&mut self, made: Specialization, leaf: Option<Coordinates>, largest: Vec<u64>) {
        match leaf {
            Some(leaf) => {
                self.divided.entry(made.candidate).or_default().insert(leaf, largest);
            }
            None => {
                self.scores.insert(made.candidate, sum(largest));
            }
        }
    }

    /// The messages of [`SharedScores::settle`]; all shares are 0.
    ///
    /// # Errors
    /// As [`largest::forecast`].
    pub fn forecast_settle(&mut self, f: &mut Forecast, cuts: &Cuts) -> Result<(), Error> {
        let mut groups = 0;
        for (made, leaf) in std::mem::take(&mut self.pending) {
            let children = cuts.number_of_children(made.candidate);
            self.file(made, leaf, vec![0; children]);
            groups += children;
        }
        Ok(largest::forecast(f, &self.shape, groups)?)
    }

    /// Draws a split of each of these intervals, all of them in as many rounds as one takes: on the
    /// public grid, by noisy maximum of shared scores. `sides_of` gives this party's class counts, or
    /// its shares of them, left and right of every possible split. Returns what is opened: the splits.
    ///
    /// # Errors
    /// If the run fails.
    pub fn draw_splits(
        &mut self,
        session: &mut Workspace,
        plan: &Plan,
        sizes: &Sizes,
        draws: Vec<(Spend, Candidate)>,
        sides_of: impl Fn(Candidate) -> Result<Vec<u64>, Error>,
    ) -> Result<Vec<(Candidate, u32)>, Error> {
        if draws.is_empty() {
            return Ok(Vec::new());
        }
        let mut counts = Zeroizing::new(Vec::new());
        for (_, candidate) in &draws {
            let sides = Zeroizing::new(sides_of(*candidate)?);
            wiped::make_room(&mut counts, sides.len());
            counts.extend_from_slice(&sides);
        }
        let largest = largest_counts(session, &self.shape, &counts)?;
        let mut words = largest.words().chunks(2).map(|side| side[0].wrapping_add(side[1]));
        let mut scores = Vec::with_capacity(draws.len());
        for (_, candidate) in &draws {
            let of_one = words.by_ref().take(points(&candidate.value)).collect();
            scores.push(WordShares::new(self.shape.share_bits, of_one)?);
        }
        let (spends, intervals): (Vec<Spend>, Vec<Candidate>) = draws.into_iter().unzip();
        let mut mechanism = NoisyMax::with(session, sizes.by_noisy_max())?;
        let chosen = mechanism.choose_each(spends, plan.shared_split_calibration(), &scores)?;
        let mut splits = Vec::with_capacity(intervals.len());
        for ((candidate, index), scores) in intervals.into_iter().zip(chosen).zip(&scores) {
            let CutValue::Interval { start, .. } = candidate.value else {
                return Err(Error::fault("a split of something that is not an interval"));
            };
            let split = start + 1 + index as u32;
            let made = Specialization { candidate, split: Some(split) };
            self.add(made, scores.words().get(index).copied());
            splits.push((candidate, split));
        }
        Ok(splits)
    }

    /// The messages of [`SharedScores::draw_splits`] of intervals that cost `epsilon` each; all
    /// shares are 0.
    ///
    /// # Errors
    /// As the mechanisms' own.
    pub fn forecast_draw_splits(
        &mut self,
        f: &mut Forecast,
        plan: &Plan,
        sizes: &Sizes,
        epsilon: &Rational,
        intervals: &[Candidate],
    ) -> Result<(), Error> {
        let counts: Vec<usize> = intervals.iter().map(|c| points(&c.value)).collect();
        largest::forecast(f, &self.shape, 2 * counts.iter().sum::<usize>())?;
        let (parameters, calibration) = (sizes.by_noisy_max(), plan.shared_split_calibration());
        let sharing = Sharing::Sum;
        noisy_max::forecast_each(f, &parameters, epsilon, calibration, sharing, &counts)?;
        for candidate in intervals {
            let CutValue::Interval { start, .. } = candidate.value else { continue };
            let made = Specialization { candidate: *candidate, split: Some(start + 1) };
            self.add(made, Some(0));
        }
        Ok(())
    }

    /// This party's share of a candidate's score. Leaf-max is what all leaves would be worth; between
    /// parties with different columns, where counts are shares, what is gained.
    ///
    /// # Errors
    /// [`Error::fault`] for a candidate that was never scored.
    pub fn share(&self, candidate: Candidate) -> Result<u64, Error> {
        let unknown = || Error::fault("a candidate without a score");
        if self.utility != Utility::LeafMax {
            return self.scores.get(&candidate).copied().ok_or_else(unknown);
        }
        let divided = self.divided.get(&candidate).ok_or_else(unknown)?;
        if self.shape.of_shares {
            let gained = divided.iter().map(|(leaf, children)| {
                let now = self.leaves.get(leaf).copied().unwrap_or_default();
                sum(children.iter().copied()).wrapping_sub(now)
            });
            return Ok(sum(gained));
        }
        let of_leaf = |(leaf, largest): (&Coordinates, &u64)| match divided.get(leaf) {
            Some(children) => sum(children.iter().copied()),
            None => *largest,
        };
        Ok(sum(self.leaves.iter().map(of_leaf)))
    }
}

fn holds(leaf: &[u32], candidate: Candidate) -> bool {
    leaf.get(candidate.attribute) == Some(&candidate.value.key())
}

/// Modulo 2^64, and so modulo every smaller power of two.
fn sum(shares: impl IntoIterator<Item = u64>) -> u64 {
    shares.into_iter().fold(0, u64::wrapping_add)
}
