//! How wide masks, digits and retries of a two-party run are, and its δ: public, before it begins.
//!
//! Everything is counted at its largest: h rounds with all the candidates that taxonomies and
//! splits could ever give, and the largest table of counts that h specializations could make. The
//! counts' ε is at least (1 − s)·ε; what the structure leaves makes their noise smaller, which
//! shortens its tail. Where a noisy number of records decides on h, h is the most that it can be:
//! fewer rounds have fewer candidates and rows, and more ε for each, so their noise is shorter too.
//! Weights are longest where rounds are fewest.

use super::plan::{FRACTION_BITS, GRID_BITS, Plan};
use super::{hidden, paper};
use crate::Error;
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, CountTable, MatchBy, Noise, Partition, Profile, Selection};
use crate::mechanism::noisy_max::{self, NoiseWidths};
use crate::paper::exponential::vertical;
use crate::privacy::Score;
use crate::privacy::exponential::{Scaling, weight_bits};
use crate::privacy::noisy_max::rate_per_step;
use crate::privacy::slack::{Noises, PublicBounds, Widths};
use crate::protocol::psi::oblivious;
use crate::protocol::shards::failures;
use crate::table::{Domain, Schema};

/// Bits of all prefix sums of one choice: at 16 bytes a label, 2 GiB.
const MOST_CHOICE_BITS: u64 = 1 << 27;

/// The public sizes of a two-party run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// τ, σ, T and δ.
    pub widths: Widths,
    /// D of the noise on scores, where candidates or splits are chosen by noisy maximum together.
    pub score_digits: Option<u32>,
    /// D of the noise on counts.
    pub count_digits: u32,
    /// D of the noise on the number of records, where that decides on the specializations.
    pub record_digits: Option<u32>,
    /// Bits of a shared number of records: room for it, its noise and the sign.
    pub record_bits: u32,
    /// No score is above this.
    pub largest_score: Score,
    /// The same for splits that a party draws alone.
    pub largest_split_score: Score,
    /// Bits of a shared count: room for the count, its noise and the sign.
    pub count_bits: u32,
}

impl Sizes {
    /// The sizes that an agreement leads to.
    ///
    /// # Errors
    /// Those of [`PublicBounds::widths`].
    pub fn of(agreement: &Agreement, plan: &Plan) -> Result<Self, Error> {
        let terms = plan.terms();
        let rounds = u64::from(plan.specializations());
        let rows = plan.most_rows();
        let mut noises = Vec::new();
        let horizontal = matches!(agreement.partition, Partition::Horizontal { .. });
        let by_noise = terms.selection == Selection::PermuteAndFlip && !plan.is_public();
        let on_scores = by_noise || (horizontal && !plan.is_public());
        if on_scores {
            // Splits have this rate or a larger one, and then shorter tails.
            let rate = plan.calibration().rate(&plan.epsilon_step());
            let choices = if by_noise { most_candidates(plan.schema(), rounds) } else { 0 };
            let splits = most_points(plan);
            let count = rounds * choices + plan.steps() * splits;
            noises.push(Noises { count, rate: rate_per_step(&rate, GRID_BITS) });
        }
        // Two geometric noises make a discrete Laplace one; each party may draw its own.
        let each = if terms.noise == Noise::TwoParty { 4 } else { 2 };
        noises.push(Noises { count: each * rows, rate: plan.epsilon_counts() });
        let of_records = plan.epsilon_records().cloned();
        noises.extend(of_records.map(|rate| Noises { count: each, rate }));
        let bounds = PublicBounds {
            epsilon: plan.epsilon().clone(),
            noises,
            masked_values: match (terms.count_table, terms.taylor) {
                // Sums by group have exact shares.
                (Some(CountTable::Transfers), _) | (None, None) => 0,
                (Some(CountTable::Paillier), _) => rows,
                // A score and a weight of every candidate.
                (None, Some(_)) => 2 * rounds * most_candidates(plan.schema(), rounds),
            },
            random_values: if terms.selection == Selection::Exponential { rounds } else { 0 },
            failures: ways_to_fail(agreement),
        };
        let widths = bounds.widths()?;
        let mut digits = widths.digits.iter().copied();
        let score_digits = on_scores.then(|| digits.next()).flatten();
        let count_digits = digits.next().ok_or_else(|| Error::fault("no digits for the counts"))?;
        let record_digits = digits.next();
        // Horizontally the bound is on both tables together, but each party sees its own alone: the
        // circuits have room for two tables of that size, so that nothing ever wraps.
        let records = agreement.most_records().saturating_mul(if horizontal { 2 } else { 1 });
        let record_bits = u64::BITS - records.leading_zeros();
        let count_bits = ring_bits(terms, record_bits, count_digits);
        let largest_score = plan.largest_score(records)?;
        paper::check_polynomial(agreement, plan, &widths)?;
        if terms.selection == Selection::Exponential && !horizontal {
            check_choice(plan, largest_score, most_candidates(plan.schema(), rounds))?;
        }
        Ok(Self {
            widths,
            score_digits,
            count_digits,
            record_digits,
            record_bits: ring_bits(terms, record_bits, record_digits.unwrap_or_default()),
            largest_score,
            largest_split_score: plan.largest_split_score(records)?,
            count_bits,
        })
    }
}

impl Sizes {
    /// The public terms of a choice by noisy maximum.
    pub fn by_noisy_max(&self) -> noisy_max::NoisyMaxParameters {
        let digits = self.score_digits.unwrap_or_default();
        let widths = NoiseWidths { tau: self.widths.tau, digits };
        noisy_max::NoisyMaxParameters { grid_bits: GRID_BITS, largest: self.largest_score, widths }
    }

    /// The public terms of a choice by the exponential mechanism, over different columns.
    pub fn by_weight(&self, profile: Profile) -> vertical::WeightParameters {
        vertical::WeightParameters {
            scaling: scaling(),
            largest: self.largest_score,
            tries: self.widths.tries,
            paper: profile == Profile::Paper,
        }
    }

    /// Which widths keep δ small, for engineers.
    pub fn widths_in_words(&self, terms: &Terms) -> String {
        let widths = &self.widths;
        let digits = widths.digits.iter().max().copied().unwrap_or(0);
        // Only what is encrypted is masked.
        let masks = match terms.paillier_bits {
            Some(_) => format!("masks σ = {}, ", widths.sigma),
            None => String::new(),
        };
        format!(
            "widths that keep δ small: {masks}digits τ = {}, tries T = {}, at most {digits} digits \
             of noise",
            widths.tau, widths.tries
        )
    }

    /// The widths of the noise on the number of records, and the bits of its shares.
    ///
    /// # Errors
    /// [`Error::fault`] where it does not decide anything.
    pub fn on_records(&self) -> Result<(NoiseWidths, u32), Error> {
        let digits =
            self.record_digits.ok_or_else(|| Error::fault("records that nobody is to count"))?;
        Ok((NoiseWidths { tau: self.widths.tau, digits }, self.record_bits))
    }

    /// The widths of the noise on counts.
    pub fn on_counts(&self) -> NoiseWidths {
        NoiseWidths { tau: self.widths.tau, digits: self.count_digits }
    }
}

/// In how many ways matching may fail, each with probability at most 2^-64: in every shard, if people are
/// matched in shards, and in dealing them.
fn ways_to_fail(agreement: &Agreement) -> u64 {
    let vertical = matches!(agreement.partition, Partition::Vertical { .. });
    let of_one = match agreement.matching() {
        Some(matching) if matching.membership.is_hidden() => hidden::FAILURES,
        Some(matching) if matching.by == MatchBy::Oprf => oblivious::FAILURES,
        _ => 0,
    };
    agreement.shards.filter(|_| vertical).map_or(of_one, |shards| failures(shards, of_one))
}

/// Bits of a shared count: room for up to so many bits of records, for its noise and for the sign.
fn ring_bits(terms: &Terms, record_bits: u32, digits: u32) -> u32 {
    let noise_bits = if terms.noise == Noise::TwoParty { digits + 1 } else { digits };
    (record_bits.max(noise_bits) + 2).min(64)
}

/// Rejects choices whose circuits would need more memory than a party is asked to have.
fn check_choice(plan: &Plan, largest: Score, candidates: u64) -> Result<(), Error> {
    let rate = scaling().rate("a choice", &plan.largest_epsilon_step(), plan.calibration())?;
    let bits = weight_bits(largest, &rate, scaling())?;
    if bits.saturating_mul(candidates) > MOST_CHOICE_BITS {
        return Err(Error::input(format!(
            "choosing among up to {candidates} candidates with weights of {bits} bits takes too much \
             memory: use selection = \"permute-and-flip\", or lower `max_records` or `epsilon`"
        )));
    }
    Ok(())
}

/// How the weights of the exponential mechanism are scaled.
pub fn scaling() -> Scaling {
    Scaling::Binary { fraction_bits: FRACTION_BITS }
}

/// The largest number of splits that one spend of both parties together chooses among.
fn most_points(plan: &Plan) -> u64 {
    let attributes = plan.schema().attributes.iter().enumerate();
    let together = attributes.filter(|(index, _)| plan.scores_together(*index));
    let points = together.map(|(_, attribute)| match &attribute.domain {
        domain @ Domain::Numeric(_) => domain.possible_specializations(),
        _ => 0,
    });
    points.max().unwrap_or(0)
}

/// The largest number of candidates that a round could have.
fn most_candidates(schema: &Schema, rounds: u64) -> u64 {
    let of_one = |domain: &Domain| match domain {
        Domain::Numeric(_) => domain.possible_specializations().min(rounds + 1),
        _ => domain.possible_specializations(),
    };
    schema.attributes.iter().map(|attribute| of_one(&attribute.domain)).sum()
}
