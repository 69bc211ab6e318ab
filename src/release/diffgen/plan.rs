//! What is fixed before the first record is looked at.
//!
//! ε' = s·ε/(A_num + 2h), s = `structure_share`. At most A_num first splits and, in each of h
//! rounds, a choice and one further spend cost ε' each: together at most s·ε (theorem 6.3 with
//! s = ½). The counts get the other part, and what the structure left.
//!
//! Where splits are drawn *late*, only for an interval that has won, there are no first splits and
//! no splits that are never used: A_num counts the other attributes alone.

use super::{Error, PostProcess, terms};
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, Partition, Profile, Selection};
use crate::math::Rational;
use crate::privacy::exponential::{self, Scaling};
use crate::privacy::{Calibration, Epsilon, Score};
use crate::release::tree::MAX_ROWS;
use crate::release::tree::utility::Utility;
use crate::role::Role;
use crate::table::{Attribute, Decimal, Domain, Schema, most_leaves};
use num_bigint::BigUint;
use std::sync::Arc;

/// f of the exponential mechanism's weights.
pub const FRACTION_BITS: u32 = 64;

/// g of the noisy maximum: the finest grid, on which all scores lie.
pub const GRID_BITS: u32 = 20;

/// The public parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    terms: Terms,
    schema: Arc<Schema>,
    order: Vec<usize>,
    vertical: bool,
    horizontal: bool,
    late_splits: bool,
    specializations: u32,
    epsilon: Epsilon,
    epsilon_step: Rational,
    steps: u64,
    utility: Utility,
    calibration: Calibration,
    split_calibration: Calibration,
    post_process: PostProcess,
}

impl Plan {
    /// The plan that an agreement makes.
    ///
    /// # Errors
    /// [`Error::TooManyRows`] if the release could exceed [`MAX_ROWS`], and those of
    /// [`exponential::weight_bits`] if weights could become too long. Nothing is spent then.
    pub fn new(agreement: &Agreement) -> Result<Self, Error> {
        let terms = terms(agreement)?;
        let schema = &agreement.schema;
        let classes = schema.class.values.len();
        check_rows(schema, terms.specializations)?;
        let utility = terms.utility;
        let paper = terms.profile == Profile::Paper;
        let horizontal = matches!(agreement.partition, Partition::Horizontal { .. });
        // Where scores are shared a best split would be a maximum over shared scores.
        let late_splits = utility == Utility::LeafMax && !paper && !horizontal;
        let labelled = schema.class.owner;
        let apart = |owner| labelled.is_some() && owner != labelled;
        let first = |attribute: &&Attribute| {
            matches!(attribute.domain, Domain::Numeric(_))
                && (!late_splits || apart(attribute.owner))
        };
        let first_splits = schema.attributes.iter().filter(first).count() as u64;
        let steps = first_splits + 2 * u64::from(terms.specializations);
        let epsilon: Epsilon = terms.epsilon.clone();
        let epsilon_step = (epsilon.value() * &rational(terms.structure_share))
            .checked_div(&Rational::whole(steps.max(1)))
            .ok_or(Error::Fault("a release without steps"))?;
        let vertical = matches!(agreement.partition, Partition::Vertical { .. });
        let calibration = utility.calibration(classes, paper, vertical);
        if terms.selection == Selection::Exponential && terms.taylor.is_none() {
            check_weights(utility, &calibration, &epsilon_step, agreement.max_records, classes)?;
        }
        Ok(Self {
            terms: terms.clone(),
            schema: schema.clone(),
            order: attribute_order(agreement),
            horizontal,
            vertical,
            late_splits,
            specializations: terms.specializations,
            epsilon,
            epsilon_step,
            steps,
            utility,
            calibration,
            split_calibration: utility.calibration(classes, paper, false),
            post_process: if paper { PostProcess::Clamp } else { PostProcess::NormSub },
        })
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
    /// it, or one has the attribute and the other alone has the class. Its splits are then drawn by
    /// both together, and opened when they are drawn.
    pub fn scores_together(&self, attribute: usize) -> bool {
        let owner = self.schema.attributes.get(attribute).and_then(|attribute| attribute.owner);
        self.horizontal || (self.class_owner().is_some() && owner != self.class_owner())
    }

    /// Who alone has the class, where one of two parties has.
    pub fn class_owner(&self) -> Option<Role> {
        self.schema.class.owner
    }

    /// Whether a split of an attribute is drawn only when its interval has won.
    pub fn splits_late(&self, attribute: usize) -> bool {
        self.late_splits && !self.scores_together(attribute)
    }

    /// h, how often a value is specialized.
    pub fn specializations(&self) -> u32 {
        self.specializations
    }

    /// ε of the whole release.
    pub fn epsilon(&self) -> &Epsilon {
        &self.epsilon
    }

    /// ε': what a choice, a split or a test of sub-partitions costs.
    pub fn epsilon_step(&self) -> &Rational {
        &self.epsilon_step
    }

    /// How often ε' is spent at most: A_num + 2h, where late splits do not count in A_num.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A bound on the scores that follows from a bound on the number of records.
    ///
    /// # Errors
    /// [`Error::Fault`] for a bound that no score can reach.
    pub fn largest_score(&self, max_records: u64) -> Result<Score, Error> {
        largest_score(self.utility, max_records, self.schema.class.values.len())
    }

    /// How candidates are scored.
    pub fn utility(&self) -> Utility {
        self.utility
    }

    /// How splits of an attribute are scored. Where scores are shared, leaf-max would make groups of
    /// every leaf and grid point, so the whole interval is looked at.
    pub fn split_utility(&self, attribute: usize) -> Utility {
        if self.scores_together(attribute) && self.utility == Utility::LeafMax {
            Utility::Max
        } else {
            self.utility
        }
    }

    /// How the scores of candidates are calibrated.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// How the scores of splits are calibrated: all of one interval are compared as they are, so
    /// nothing is gained over something else.
    pub fn split_calibration(&self) -> &Calibration {
        &self.split_calibration
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

    /// ⌈√2/ε'⌉: the noisy size from which a sub-partition of a set attribute is kept.
    pub fn keep_from(&self) -> BigUint {
        // The least t with t² ≥ 2/ε'², that is t²·n² ≥ 2·d² for ε' = n/d.
        let (n, d) = (self.epsilon_step.numerator(), self.epsilon_step.denominator());
        let square = (d * d * 2u32 + n * n - 1u32) / (n * n);
        let root = square.sqrt();
        if &root * &root < square { root + 1u32 } else { root }
    }
}

/// Refuses what could become too large, and says what would fit.
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
    Err(Error::TooManyRows { specializations, most: MAX_ROWS, fit })
}

/// Refuses weights that could become too long, by the public bound on the scores.
fn check_weights(
    utility: Utility,
    calibration: &Calibration,
    epsilon_step: &Rational,
    max_records: u64,
    classes: usize,
) -> Result<(), Error> {
    let largest = largest_score(utility, max_records, classes)?;
    let scaling = Scaling::Binary { fraction_bits: FRACTION_BITS };
    let rate = scaling.rate("a choice", epsilon_step, calibration)?;
    exponential::weight_bits(largest, &rate, scaling)?;
    Ok(())
}

fn largest_score(utility: Utility, max_records: u64, classes: usize) -> Result<Score, Error> {
    let largest = match utility {
        Utility::InfoGain => classes as u64, // more than its logarithm
        Utility::Max | Utility::LeafMax => max_records,
    };
    Score::whole(largest).ok_or(Error::Fault("a bound that is too large"))
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
