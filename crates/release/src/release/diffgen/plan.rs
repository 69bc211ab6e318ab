//! What is fixed before the first record is looked at.
//!
//! ε' = s·ε/(A_num + 2h), s = `structure_share`. At most A_num first splits and, in each of h
//! rounds, a choice and one further spend cost ε' each: together at most s·ε (theorem 6.3 with
//! s = ½). The counts get the other part, and what the structure left.
//!
//! Where splits are drawn *late*, only for an interval that has won, there are no first splits and
//! no splits that are never used: A_num counts the other attributes alone.
//!
//! *h of its own* (`specializations = "auto"`): it follows from `expected_records` of the agreement or,
//! without it, from a noisy number of records that costs a fiftieth of ε before anything else; s·ε is
//! then of what is left. The rule has two sides, one for each thing that noise can spoil. *Leaves*:
//! the noise of a count stands for 1/((1 − s)·ε) people, and a leaf is worth its rows if it has
//! [`NOISES_PER_LEAF`] times as many, so n/2^h ≥ 10/((1 − s)·ε) if every specialization halves the
//! leaves. *Choices*: one with ε' = s·ε/(2h) is as good as the best up to about ln(candidates)/ε'
//! people, some 3/ε'; that should be a small part of all, so n·ε' ≥ [`NOISES_PER_CHOICE`]. h is the
//! largest, up to [`MOST_AUTO`], that passes both. Fewer leaves than classes cannot tell the classes
//! apart, so up to ⌈log2 classes⌉ the second is not asked. Values with many children would break the
//! first side's "halves": candidates that would make more leaves than the fewest records for h + 1 fill
//! are left out while there are others. These are 2·2^h where leaves bound h + 1, and more where choices
//! do: 20·(h + 1)·(1 − s)/s. All of it is public or noisy output. (`docs/experiments/small-tables.md` has what it
//! was found on.)
//!
//! *Range* (`utility = "range"`): s = 0. The widest candidate is divided, an interval at its middle
//! point, so all cuts follow from the agreement (and from the noisy number of records where one
//! decides on h); of the rule for h the side of the choices is not asked. See [`Plan::widest`].

use super::{PostProcess, terms};
use crate::Error;
use crate::agreement::diffgen::{Specializations, Terms};
use crate::agreement::{Agreement, Partition, Profile, Selection};
use crate::math::Rational;
use crate::privacy::exponential::{self, Scaling};
use crate::privacy::{Calibration, Epsilon, Score};
use crate::release::tree::MAX_ROWS;
use crate::release::tree::splits::SplitScore;
use crate::release::tree::utility::{Utility, calibration};
use crate::role::Role;
use crate::table::{
    Attribute, Candidate, CutValue, Cuts, Decimal, Domain, Schema, Specialization, most_leaves,
};
use num_bigint::BigUint;
use std::sync::Arc;

/// f of the exponential mechanism's weights.
pub const FRACTION_BITS: u32 = 64;

/// g of the noisy maximum: the finest grid, on which all scores lie.
pub const GRID_BITS: u32 = 20;

/// Most specializations of a release that has no agreed number.
pub const MOST_AUTO: u32 = 7;

/// The people of an average leaf, in sizes of the noise of a count, that a release without an agreed
/// number of specializations keeps.
pub const NOISES_PER_LEAF: u32 = 10;

/// All people, in sizes of the noise of a choice, that such a release wants for every choice.
pub const NOISES_PER_CHOICE: u32 = 100;

/// w: how many records on the smaller side of a split are worth one record of its utility.
pub const SPLIT_WEIGHT: u32 = 4;

/// The part of ε that a noisy number of records costs, as one by this.
const RECORDS_PART: u32 = 50;

/// The public parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    terms: Terms,
    schema: Arc<Schema>,
    order: Vec<usize>,
    vertical: bool,
    horizontal: bool,
    /// Nobody learns who is common.
    hidden: bool,
    late_splits: bool,
    /// Decided, or the most that there can be.
    specializations: u32,
    /// What a noisy number of records costs, while that is to decide.
    epsilon_records: Option<Rational>,
    /// What is left for structure and counts.
    epsilon_rest: Rational,
    first_splits: u64,
    /// The fewest specializations that may come out.
    least: u32,
    epsilon: Epsilon,
    utility: Utility,
    calibration: Calibration,
    /// Of splits whose score is the utility alone.
    plain_split_calibration: Calibration,
    /// w of the splits that one party draws alone, and how these are calibrated.
    split_weight: Option<u32>,
    split_calibration: Calibration,
    post_process: PostProcess,
}

impl Plan {
    /// The plan that an agreement makes.
    ///
    /// # Errors
    /// If the release could exceed [`MAX_ROWS`], and those of
    /// [`exponential::weight_bits`] if weights could become too long. Nothing is spent then.
    pub fn new(agreement: &Agreement) -> Result<Self, Error> {
        let terms = terms(agreement)?;
        let schema = &agreement.schema;
        let classes = schema.class.values.len();
        let utility = terms.utility;
        let paper = terms.profile == Profile::Paper;
        let horizontal = matches!(agreement.partition, Partition::Horizontal { .. });
        // Where scores are shared a best split would be a maximum over shared scores.
        let late_splits = utility == Utility::LeafMax && !paper && !horizontal;
        let labelled = schema.class.owner;
        let apart = |owner| labelled.is_some() && owner != labelled;
        let first = |attribute: &&Attribute| {
            utility != Utility::Range
                && matches!(attribute.domain, Domain::Numeric(_))
                && (!late_splits || apart(attribute.owner))
        };
        let first_splits = schema.attributes.iter().filter(first).count() as u64;
        let epsilon: Epsilon = terms.epsilon.clone();
        let vertical = matches!(agreement.partition, Partition::Vertical { .. });
        let (specializations, least, epsilon_records) = specializations(schema, terms)?;
        let epsilon_rest = match &epsilon_records {
            Some(records) => epsilon.value().checked_sub(records).ok_or_else(no_rest)?,
            None => epsilon.value().clone(),
        };
        let plain = calibration(utility, classes, paper, false);
        let mut plan = Self {
            terms: terms.clone(),
            schema: schema.clone(),
            order: attribute_order(agreement),
            horizontal,
            vertical,
            hidden: agreement.membership().is_hidden(),
            late_splits,
            specializations,
            epsilon_records,
            epsilon_rest,
            first_splits,
            least,
            epsilon,
            utility,
            calibration: calibration(utility, classes, paper, vertical),
            plain_split_calibration: plain.clone(),
            split_weight: None,
            split_calibration: plain,
            post_process: if paper { PostProcess::Clamp } else { PostProcess::NormSub },
        };
        // Max loses accuracy by it: docs/experiments/splits.md.
        if !paper && utility != Utility::Max {
            plan = plan.with_split_weight(Some(SPLIT_WEIGHT));
        }
        if terms.selection == Selection::Exponential && terms.taylor.is_none() {
            // Fewer specializations have more ε each, and longer weights.
            let fits = |least: &u32| check_weights(&plan, *least, agreement.max_records);
            let least = (plan.least..plan.specializations).find(|least| fits(least).is_ok());
            plan.least = least.unwrap_or(plan.specializations);
            check_weights(&plan, plan.least, agreement.max_records)?;
        }
        Ok(plan)
    }

    /// What a noisy number of records costs that decides on the number of specializations. Until then
    /// the plan is that of the most specializations that there can be.
    pub fn epsilon_records(&self) -> Option<&Rational> {
        self.epsilon_records.as_ref()
    }

    /// The same plan once a noisy number of records is known.
    pub fn for_records(&self, noisy: i64) -> Self {
        let records = u64::try_from(noisy).unwrap_or(0);
        let suited = suited(&self.schema, &self.terms, records);
        let suited = suited.clamp(self.least, self.specializations);
        Self { specializations: suited, epsilon_records: None, ..self.clone() }
    }

    /// The fewest specializations that may come out, while that is not decided.
    pub fn fewest(&self) -> u32 {
        self.least
    }

    /// A noisy number of records from which so many specializations come out, if any do.
    pub fn records_for(&self, specializations: u32) -> i64 {
        if specializations <= self.least {
            return 0;
        }
        i64::try_from(self.least_records(specializations)).unwrap_or(i64::MAX)
    }

    /// The fewest records that so many specializations are for, if any are.
    pub fn least_records(&self, specializations: u32) -> BigUint {
        least_records(&self.schema, &self.terms, specializations)
    }

    /// The candidates of a round, without those that would make too many leaves where the number of
    /// specializations was not agreed. They are left out while there are others; at last those with
    /// the fewest leaves stay.
    pub fn candidates(&self, cuts: &Cuts) -> Vec<Candidate> {
        let mut candidates = cuts.candidates(self.order.iter().copied());
        if let Specializations::Auto { .. } = self.terms.specializations {
            let leaves = |candidate: &Candidate| {
                let values = cuts.of(candidate.attribute).len().max(1) as u64;
                let more = cuts.number_of_children(*candidate).saturating_sub(1) as u64;
                (cuts.leaves() / values).saturating_mul(values + more)
            };
            let fewest = candidates.iter().map(leaves).min().unwrap_or(0);
            let next = self.specializations.min(MOST_AUTO) + 1;
            let filled = filled_leaves(&self.schema, &self.terms, next).floor();
            let most = fewest.max(filled.try_into().unwrap_or(u64::MAX));
            candidates.retain(|candidate| leaves(candidate) <= most);
        }
        candidates
    }

    /// Whether all cuts follow from the agreement and h alone, so that nobody scores or chooses.
    pub fn is_public(&self) -> bool {
        self.utility == Utility::Range
    }

    /// The widest candidate of a round: the one that covers the largest part of its attribute's range,
    /// in points of its grid or in leaves of its taxonomy; of equally wide ones the first of the list. An
    /// interval is divided at its middle, the larger half to the right. Nothing if no value has children.
    pub fn widest(&self, cuts: &Cuts) -> Option<Specialization> {
        let candidates = self.candidates(cuts);
        let mut widest: Option<(Candidate, (u64, u64))> = None;
        for candidate in candidates {
            let (part, whole) = cuts.width(candidate);
            // part/whole compared exactly: all of them are below 2^32.
            if widest.is_none_or(|(_, (most, of))| part * of > most * whole) {
                widest = Some((candidate, (part, whole)));
            }
        }
        let (candidate, _) = widest?;
        let split = match candidate.value {
            CutValue::Interval { start, end } => Some(start + (end - start) / 2),
            CutValue::Value(_) => None,
        };
        Some(Specialization { candidate, split })
    }

    /// The cuts of every release with this plan, where they are public.
    ///
    /// # Errors
    /// None in practice: candidates can be specialized.
    pub fn public_tree(&self) -> Result<Cuts, Error> {
        let mut cuts = Cuts::topmost(&self.schema);
        for _ in 0..self.specializations {
            let Some(made) = self.widest(&cuts) else { break };
            cuts.specialize(&made)?;
        }
        Ok(cuts)
    }

    /// Whether a release can have these cuts, as far as they are public.
    ///
    /// # Errors
    /// As [`Plan::public_tree`].
    pub fn allows(&self, made: &[Specialization]) -> Result<bool, Error> {
        if !self.is_public() {
            return Ok(true);
        }
        for specializations in self.least..=self.specializations {
            let decided = Self { specializations, ..self.clone() };
            if decided.public_tree()?.made() == made {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What was agreed.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The largest number of rows, leaves times classes.
    pub fn most_rows(&self) -> u64 {
        let leaves = most_leaves(&self.schema, self.specializations, MAX_ROWS);
        let leaves = leaves.last().copied().unwrap_or(1);
        leaves.saturating_mul(self.schema.class.values.len() as u64).min(MAX_ROWS)
    }

    /// Attributes and class.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The attributes in the order in which their candidates are listed.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether each party holds other columns, and so scores its own candidates alone if it has the
    /// class.
    pub fn is_vertical(&self) -> bool {
        self.vertical
    }

    /// Whether nobody knows the scores of an attribute's candidates: both parties have records with
    /// it, one has the attribute and the other alone has the class, or nobody knows whose records
    /// count. Its splits are then drawn by
    /// both together, and opened when they are drawn.
    pub fn scores_together(&self, attribute: usize) -> bool {
        let owner = self.schema.attributes.get(attribute).and_then(|attribute| attribute.owner);
        if self.is_public() {
            return false; // nobody scores
        }
        self.horizontal
            || self.hidden
            || (self.class_owner().is_some() && owner != self.class_owner())
    }

    /// Who alone has the class, where one of two parties has.
    pub fn class_owner(&self) -> Option<Role> {
        self.schema.class.owner
    }

    /// Whether both parties have the class, and so must have the same.
    pub fn compares_classes(&self) -> bool {
        self.class_owner().is_none() && !self.schema.class.is_none()
    }

    /// Whether a split of an attribute is drawn only when its interval has won.
    pub fn splits_late(&self, attribute: usize) -> bool {
        self.late_splits && !self.scores_together(attribute)
    }

    /// h, how often a value is specialized; at most, while that is not decided.
    pub fn specializations(&self) -> u32 {
        self.specializations
    }

    /// ε of the whole release.
    pub fn epsilon(&self) -> &Epsilon {
        &self.epsilon
    }

    /// ε': what a choice, a split or a test of sub-partitions costs.
    pub fn epsilon_step(&self) -> Rational {
        self.epsilon_step_of(self.specializations)
    }

    /// The largest ε' that there can be: where specializations are fewest.
    pub fn largest_epsilon_step(&self) -> Rational {
        let decided = self.epsilon_records.is_none();
        self.epsilon_step_of(if decided { self.specializations } else { self.least })
    }

    fn epsilon_step_of(&self, specializations: u32) -> Rational {
        let structure = &self.epsilon_rest * &rational(self.terms.structure_share);
        let steps = Rational::whole(self.steps_of(specializations).max(1));
        structure.checked_div(&steps).unwrap_or(structure)
    }

    /// How often ε' is spent at most: A_num + 2h, where late splits do not count in A_num.
    pub fn steps(&self) -> u64 {
        self.steps_of(self.specializations)
    }

    fn steps_of(&self, specializations: u32) -> u64 {
        self.first_splits + 2 * u64::from(specializations)
    }

    /// What the counts get at least.
    pub fn epsilon_counts(&self) -> Rational {
        let structure = &self.epsilon_rest * &rational(self.terms.structure_share);
        self.epsilon_rest.checked_sub(&structure).unwrap_or_else(Rational::zero)
    }

    /// A bound on the scores that follows from a bound on the number of records.
    ///
    /// # Errors
    /// [`Error::fault`] for a bound that no score can reach.
    pub fn largest_score(&self, max_records: u64) -> Result<Score, Error> {
        largest_score(self.utility, max_records, self.schema.class.values.len())
    }

    /// How candidates are scored.
    pub fn utility(&self) -> Utility {
        self.utility
    }

    /// How splits of an attribute are scored. Where scores are shared, leaf-max would make groups of
    /// every leaf and grid point, so the whole interval is looked at, and ties are not broken.
    pub fn split_score(&self, attribute: usize) -> SplitScore {
        match (self.scores_together(attribute), self.utility) {
            (true, Utility::LeafMax) => Utility::Max.into(),
            (true, utility) => utility.into(),
            (false, utility) => SplitScore { utility, weight: self.split_weight },
        }
    }

    /// A bound on the scores of splits that one party draws alone, from one on the number of records:
    /// at most half of them lie on the smaller side.
    ///
    /// # Errors
    /// As [`Plan::largest_score`].
    pub fn largest_split_score(&self, max_records: u64) -> Result<Score, Error> {
        let utility = self.largest_score(max_records)?;
        let Some(weight) = self.split_weight else { return Ok(utility) };
        let smaller = Score::whole(max_records / 2).map(Score::steps);
        let weighted = utility.steps().checked_mul(weight.into());
        let steps = weighted.zip(smaller).and_then(|(most, more)| most.checked_add(more));
        steps.map(Score::from_steps).ok_or_else(|| Error::fault("a bound that is too large"))
    }

    /// How the scores of candidates are calibrated.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// How the scores of splits of an attribute are calibrated: all of one interval are compared as
    /// they are, so nothing is gained over something else.
    pub fn split_calibration(&self, attribute: usize) -> &Calibration {
        match self.scores_together(attribute) {
            true => self.shared_split_calibration(),
            false => &self.split_calibration,
        }
    }

    /// The same for splits that two parties draw together.
    pub fn shared_split_calibration(&self) -> &Calibration {
        &self.plain_split_calibration
    }

    /// The same plan with another w for splits that one party draws alone, or with u as their score,
    /// for experiments.
    #[must_use]
    pub fn with_split_weight(self, weight: Option<u32>) -> Self {
        let plain = &self.plain_split_calibration;
        let split_calibration = weight.map_or_else(|| plain.clone(), |w| plain.with_tie_break(w));
        Self { split_weight: weight, split_calibration, ..self }
    }

    /// What becomes of the noisy counts.
    pub fn post_process(&self) -> PostProcess {
        self.post_process
    }

    /// The same plan with another calibration of its choices, for tests that must catch a wrong one.
    #[cfg(test)]
    pub(super) fn with_calibration(self, calibration: Calibration) -> Self {
        Self { calibration, ..self }
    }

    /// The same for splits that one party draws alone.
    #[cfg(test)]
    pub(super) fn with_split_calibration(self, split_calibration: Calibration) -> Self {
        Self { split_calibration, ..self }
    }
}

/// ⌈√2/ε'⌉: the noisy size from which a sub-partition of a set attribute is kept.
pub fn keep_from(epsilon_step: &Rational) -> BigUint {
    // The least t with t² ≥ 2/ε'², that is t²·n² ≥ 2·d² for ε' = n/d.
    let (n, d) = (epsilon_step.numerator(), epsilon_step.denominator());
    let square = (d * d * 2u32 + n * n - 1u32) / (n * n);
    let root = square.sqrt();
    if &root * &root < square { root + 1u32 } else { root }
}

fn no_rest() -> Error {
    Error::fault("a number of records that costs more than everything")
}

/// The most and the fewest specializations, and what the number of records costs that decides.
fn specializations(schema: &Schema, terms: &Terms) -> Result<(u32, u32, Option<Rational>), Error> {
    let expected_records = match terms.specializations {
        Specializations::Given(number) => {
            check_rows(schema, number)?;
            return Ok((number, number, None));
        }
        Specializations::Auto { expected_records } => expected_records,
    };
    let attributes = schema.attributes.iter();
    let possible = attributes.map(|attribute| attribute.domain.possible_specializations());
    let possible = u32::try_from(possible.fold(0, u64::saturating_add)).unwrap_or(u32::MAX);
    let possible = possible.min(MOST_AUTO);
    let fitting = (1..=possible).rev().find(|number| check_rows(schema, *number).is_ok());
    let most = fitting.map_or_else(|| check_rows(schema, 1).map(|()| 1), Ok)?;
    Ok(match expected_records {
        Some(records) => {
            let suited = suited(schema, terms, records).clamp(1, most);
            (suited, suited, None)
        }
        None => {
            let part = Rational::new(1u32, RECORDS_PART).unwrap_or_else(Rational::zero);
            (most, 1, Some(terms.epsilon.value() * &part))
        }
    })
}

/// The fewest records that so many specializations are for: see the page.
fn least_records(schema: &Schema, terms: &Terms, specializations: u32) -> BigUint {
    let counts = &counts_share(terms) * terms.epsilon.value();
    let noises = &Rational::whole(NOISES_PER_LEAF) * &filled_leaves(schema, terms, specializations);
    noises.checked_div(&counts).map_or_else(BigUint::default, |records| records.ceil())
}

/// How many leaves these records fill, with [`NOISES_PER_LEAF`] each.
fn filled_leaves(schema: &Schema, terms: &Terms, specializations: u32) -> Rational {
    let halved = Rational::whole(BigUint::from(1u32) << specializations);
    let classes = schema.class.values.len().max(1);
    if specializations <= classes.next_power_of_two().ilog2() {
        return halved;
    }
    // Noises of a choice, by how much larger or smaller that of a count is.
    let noises = u64::from(NOISES_PER_CHOICE) * 2 * u64::from(specializations);
    let choices = &Rational::whole(noises) * &counts_share(terms);
    let leaf = &Rational::whole(NOISES_PER_LEAF) * &rational(terms.structure_share);
    choices.checked_div(&leaf).unwrap_or_else(Rational::zero).max(halved)
}

/// 1 − s, the part of ε that the counts get.
fn counts_share(terms: &Terms) -> Rational {
    let whole = Rational::whole(1u32);
    whole.checked_sub(&rational(terms.structure_share)).unwrap_or_else(Rational::zero)
}

/// The largest h up to [`MOST_AUTO`] that so many records are enough for; 0 if there is none.
fn suited(schema: &Schema, terms: &Terms, records: u64) -> u32 {
    let records = BigUint::from(records);
    (1..=MOST_AUTO).take_while(|h| least_records(schema, terms, *h) <= records).count() as u32
}

/// Rejects what could become too large; the error says what would fit.
fn check_rows(schema: &Schema, specializations: u32) -> Result<(), Error> {
    let classes = schema.class.values.len().max(1) as u64;
    let leaves = most_leaves(schema, specializations, MAX_ROWS);
    let fits = |leaves: &u64| leaves.saturating_mul(classes) <= MAX_ROWS;
    if leaves.last().is_some_and(fits) {
        return Ok(());
    }
    let fit = match leaves.iter().take_while(|leaves| fits(leaves)).count() {
        0 | 1 => "use fewer classes or taxonomies with fewer children".to_owned(),
        count => format!("specializations = {} would fit for sure", count - 1),
    };
    Err(Error::input(format!(
        "{specializations} specializations could make more than {MAX_ROWS} rows (leaves times classes), \
         which is more than is released: {fit}"
    )))
}

/// Rejects weights that could become too long, by the public bound on the scores.
fn check_weights(plan: &Plan, specializations: u32, max_records: u64) -> Result<(), Error> {
    let largest = plan.largest_score(max_records)?;
    let scaling = Scaling::Binary { fraction_bits: FRACTION_BITS };
    let epsilon_step = plan.epsilon_step_of(specializations);
    let rate = scaling.rate("a choice", &epsilon_step, plan.calibration())?;
    exponential::weight_bits(largest, &rate, scaling)?;
    Ok(())
}

fn largest_score(utility: Utility, max_records: u64, classes: usize) -> Result<Score, Error> {
    let largest = match utility {
        Utility::InfoGain => classes as u64, // more than its logarithm
        Utility::Max | Utility::LeafMax | Utility::Range => max_records,
    };
    Score::whole(largest).ok_or_else(|| Error::fault("a bound that is too large"))
}

/// P1's attributes and then P2's; the agreement's order where nobody owns them.
fn attribute_order(agreement: &Agreement) -> Vec<usize> {
    let attributes = &agreement.schema.attributes;
    let mut order: Vec<usize> = (0..attributes.len()).collect();
    if matches!(agreement.partition, Partition::Vertical { .. }) {
        order.sort_by_key(|index| attributes[*index].owner == Some(Role::P2));
    }
    order
}

fn rational(decimal: Decimal) -> Rational {
    let (numerator, denominator) = decimal.ratio();
    Rational::new(numerator.unsigned_abs(), denominator).unwrap_or_else(Rational::zero)
}
