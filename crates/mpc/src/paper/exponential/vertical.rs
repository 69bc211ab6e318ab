//! The exponential mechanism over candidates of both parties, each of whom knows the scores of its
//! own (thesis 7.2 and 7.3).
//!
//! *Inputs*: each party's scores u_i ≥ 0, a spend ε', the utility's Δ, a public bound on the scores.
//! *Output*: candidate i with probability W_i / ΣW, W_i = ⌊s·e^(c·u_i)⌋, to both; P1's candidates
//! come first. *Learned*: the winner, nothing else.
//!
//! *Theorem.* The winner is ε'-differentially private for adding or removing one record. *Proof
//! sketch*: that of [`crate::privacy::exponential`], whose form this is. Each party feeds the prefix
//! sums of its weights; R is uniform on {0, …, S − 1} for S = s1 + s2, *exactly*, given that one of T
//! tries succeeds ([`UniformBelow`]); the winner is the first k with R < L_k. Nobody learns R or S.
//! *Distance*: a choice fails with probability below 2^-T, whatever the scores, and adds that to the
//! run's TV ([`crate::privacy::slack`]: one random value). A failure is opened in place of a winner,
//! and ends the run.
//!
//! *Cost*: w ANDs per candidate for w-bit sums, some 10·w + 2·(T + 2)·(T + log w) for R, at
//! w = f + 1.4427·c·u + log n for the highest score u possible. A round and a half. R is compared with the
//! sums of P1's candidates, R − s1 with those of P2's, so that no sum is made for a single candidate.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::paper::exponential::VerticalExponential;
//! use diptych_mpc::Error;
//! use diptych_mpc::mechanism::OneSided;
//! use diptych_mpc::privacy::exponential::Scaling;
//! use diptych_mpc::privacy::{Budget, Calibration, Choose, Epsilon, Score};
//! use diptych_mpc::protocol::Session;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let scores = |list: &[u64]| list.iter().filter_map(|n| Score::whole(*n)).collect();
//! let choose = |session: &mut Session, scores: &OneSided| -> Result<usize, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//!     let largest = Score::whole(100).unwrap_or_default();
//!     let scaling = Scaling::Binary { fraction_bits: 64 };
//!     let mut mechanism = VerticalExponential::new(session, scaling, largest, 64);
//!     Ok(mechanism.choose(spend, &Calibration::max(), scores)?.index)
//! };
//! let first = OneSided { own: scores(&[90, 4]), peer: 2 };
//! let second = OneSided { own: scores(&[5, 10]), peer: 2 };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| choose(session, &first),
//!     |session| choose(session, &second),
//! );
//! // Another candidate wins about once in e^80 runs.
//! assert_eq!((outcome.p1?, outcome.p2?), (0, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;
use zeroize::Zeroizing;

use super::stepwise;
use crate::Error;
use crate::circuit::integer::{add, count_ones, mask, resize, subtract_borrow, xor};
use crate::circuit::random_value::UniformBelow;
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Builder, Circuit, Gates, Source};
use crate::math::Rational;
use crate::mechanism::{OneSided, bits_to_count, no_such_candidate, too_many, word};
use crate::paper::random_value::all_failed;
use crate::privacy::choice::{Calibration, Choice, Choose, Score};
use crate::privacy::exponential::{Scaling, ScoreBound, weight_bits, weights_within};
use crate::privacy::{self, Spend};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// Most candidates of both parties together.
pub const MOST_CANDIDATES: usize = 1 << 16;

/// The exponential mechanism over candidates of both parties, in one circuit.
pub struct VerticalExponential<'a> {
    session: &'a mut Session,
    parameters: WeightParameters,
}

impl<'a> VerticalExponential<'a> {
    /// A mechanism for scores up to a public `largest` (higher ones are reduced to it) that fails
    /// with a chance below 2^-`tries`.
    pub fn new(session: &'a mut Session, scaling: Scaling, largest: Score, tries: u32) -> Self {
        Self::with(session, WeightParameters { scaling, largest, tries, paper: false })
    }

    /// The same with all public parameters in one.
    pub fn with(session: &'a mut Session, parameters: WeightParameters) -> Self {
        Self { session, parameters }
    }

    /// The same choice made as in the papers: see [`stepwise`].
    #[must_use]
    pub fn as_in_the_papers(self) -> Self {
        Self { parameters: WeightParameters { paper: true, ..self.parameters }, ..self }
    }

    /// The winner's index, by one circuit.
    fn by_one_circuit(&mut self, sums: &PrefixSums) -> Result<usize, Error> {
        let shape = ChoiceShape::new(sums.counts, sums.width, self.parameters.tries);
        let coins = self.session.coins.joint_uniform(&shape.uniform, sums.total())?;
        let mut inputs = sums.bits(coins.len());
        inputs.extend_from_slice(&coins);
        let output = yao::run(self.session, Role::P1, &shape.source(), &inputs, Reveal::Both)?;
        let output = output.unwrap_or_default();
        let (failed, index) = output.split_first().unwrap_or((&true, &[]));
        if *failed {
            return Err(all_failed(self.parameters.tries as usize));
        }
        Ok(word(index) as usize)
    }
}

impl Choose for VerticalExponential<'_> {
    type Scores = OneSided;
    type Error = Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        scores: &OneSided,
    ) -> Result<Choice, Error> {
        let rate = self.parameters.scaling.rate(spend.name(), spend.epsilon(), calibration)?;
        let role = self.session.role;
        let whole = calibration.has_whole_scores();
        let bound = ScoreBound { largest: self.parameters.largest, whole };
        let sums = PrefixSums::new(scores, role, bound, &rate, self.parameters.scaling)?;
        let index = if self.parameters.paper {
            stepwise::choose(self.session, &sums, self.parameters.tries)?
        } else {
            self.by_one_circuit(&sums)?
        };
        let count = scores.own.len() + scores.peer;
        if index >= count {
            return Err(no_such_candidate(index, count));
        }
        Ok(Choice { index, offset: 0 })
    }
}

/// The scores after the bound is applied, and the bits that hold the sum of all weights: the length
/// of the longest weight depends on public values alone.
fn public_bounds(
    count: usize,
    bound: ScoreBound,
    rate: &Rational,
    scaling: Scaling,
) -> Result<(ScoreBound, usize), Error> {
    let bound = bound.fitted(rate, scaling)?;
    Ok((bound, weight_bits(bound.largest, rate, scaling)? as usize + bits_to_count(count)))
}

/// What is public about all choices of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightParameters {
    /// How weights are scaled.
    pub scaling: Scaling,
    /// The largest score; higher ones are reduced to it.
    pub largest: Score,
    /// A choice fails with a chance below 2^-tries.
    pub tries: u32,
    /// Whether the choice is made as in the papers: see [`stepwise`].
    pub paper: bool,
}

/// The messages of a choice among the candidates of P1 and those of P2.
///
/// # Errors
/// As the mechanism, for weights that are too long.
pub fn forecast(
    f: &mut Forecast,
    parameters: &WeightParameters,
    epsilon: &Rational,
    calibration: &Calibration,
    counts: [usize; 2],
) -> Result<(), Error> {
    let WeightParameters { scaling, largest, tries, paper } = *parameters;
    let rate = scaling.rate("a choice", epsilon, calibration)?;
    let bound = ScoreBound { largest, whole: calibration.has_whole_scores() };
    let (_, width) = public_bounds(counts[0] + counts[1], bound, &rate, scaling)?;
    if paper {
        stepwise::forecast(f, width, tries, counts[0] + counts[1]);
    } else {
        yao::forecast(f, Role::P1, &ChoiceShape::new(counts, width, tries).source(), Reveal::Both);
    }
    Ok(())
}

/// The prefix sums of one party's weights.
pub(in super::super) struct PrefixSums {
    sums: Vec<BigUint>,
    /// How many candidates P1 and P2 have.
    pub(in super::super) counts: [usize; 2],
    /// Bits that hold the sum of all weights of both parties, whatever the scores.
    pub(in super::super) width: usize,
}

impl PrefixSums {
    pub(in super::super) fn new(
        scores: &OneSided,
        role: Role,
        bound: ScoreBound,
        rate: &Rational,
        scaling: Scaling,
    ) -> Result<Self, Error> {
        let count = scores.own.len().saturating_add(scores.peer);
        if count == 0 {
            return Err(privacy::Error::NoCandidates.into());
        }
        if count > MOST_CANDIDATES {
            return Err(too_many("candidates", count, MOST_CANDIDATES));
        }
        let (bound, width) = public_bounds(count, bound, rate, scaling)?;
        let mut sum = BigUint::ZERO;
        let sums = weights_within(&scores.own, rate, scaling, bound)?.into_iter().map(|weight| {
            sum += weight;
            sum.clone()
        });
        let sums = sums.collect();
        let counts = match role {
            Role::P1 => [scores.own.len(), scores.peer],
            Role::P2 => [scores.peer, scores.own.len()],
        };
        Ok(Self { sums, counts, width })
    }

    /// The sum of this party's weights.
    pub(in super::super) fn total(&self) -> &BigUint {
        const NONE: &BigUint = &BigUint::ZERO;
        self.sums.last().unwrap_or(NONE)
    }

    /// L_1, L_2, … of this party.
    pub(in super::super) fn sums(&self) -> &[BigUint] {
        &self.sums
    }

    /// All sums at full width, the first one first, with room for `more` bits.
    fn bits(&self, more: usize) -> Zeroizing<Vec<bool>> {
        let mut bits = Zeroizing::new(Vec::with_capacity(self.sums.len() * self.width + more));
        for sum in &self.sums {
            let words = Zeroizing::new(sum.to_u64_digits());
            let bit = |i: usize| words.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1);
            bits.extend((0..self.width).map(bit));
        }
        bits
    }
}

/// What is public about one choice.
#[derive(Clone, Debug)]
pub struct ChoiceShape {
    counts: [usize; 2],
    width: usize,
    uniform: UniformBelow,
}

impl ChoiceShape {
    /// A choice among the candidates of P1 and those of P2, whose weights add up to less than
    /// 2^`width`, that fails with a chance below 2^-`tries`.
    pub fn new(counts: [usize; 2], width: usize, tries: u32) -> Self {
        Self { counts, width, uniform: UniformBelow::new(width, tries as usize) }
    }

    fn index_bits(&self) -> usize {
        bits_to_count(self.counts[0] + self.counts[1])
    }

    fn inputs(&self) -> [(Role, &'static str, usize); 4] {
        let [first, second] = self.counts.map(|count| count * self.width);
        let coins = self.uniform.random_bits();
        [
            (Role::P1, "prefix sums", first),
            (Role::P1, "coins", coins),
            (Role::P2, "prefix sums", second),
            (Role::P2, "coins", coins),
        ]
    }

    fn source(&self) -> impl Source + '_ {
        let outputs = [("failed", 1), ("index", self.index_bits())];
        Generated::new(&self.inputs(), &outputs, |g, x| {
            let (failed, index) = self.build(g, x);
            vec![vec![failed], index]
        })
    }

    /// The same, stored: for review and vectors. Each party's input is its prefix sums, followed by
    /// its coins.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let [sums1, coins1, sums2, coins2] = self.inputs().map(|(_, _, width)| width);
        let first = g.input(Role::P1, "p1", sums1 + coins1);
        let second = g.input(Role::P2, "p2", sums2 + coins2);
        let ((sums1, coins1), (sums2, coins2)) = (first.split_at(sums1), second.split_at(sums2));
        let inputs = [sums1, coins1, sums2, coins2].map(<[_]>::to_vec);
        let (failed, index) = self.build(&mut g, &inputs);
        g.output("failed", &[failed]);
        g.output("index", &index);
        g.finish()
    }

    /// Whether no R was found, and the index of the winner (0 if none was).
    fn build<G: Gates>(&self, g: &mut G, inputs: &[Vec<Bit>]) -> (Bit, Vec<Bit>) {
        let sums = |bits: &[Bit]| bits.chunks(self.width).map(<[_]>::to_vec).collect::<Vec<_>>();
        let (p1_sums, p2_sums) = (sums(&inputs[0]), sums(&inputs[2]));
        let zero = vec![Bit::FALSE; self.width];
        let (s1, s2) = (p1_sums.last().unwrap_or(&zero), p2_sums.last().unwrap_or(&zero));
        g.scope(|g| {
            let total = add(g, s1, s2);
            let coins = xor(g, &inputs[1], &inputs[3]);
            let (r, failed) = self.uniform.build(g, &total, &coins);
            let (past_p1, is_p1s) = subtract_borrow(g, &r, s1);
            // Candidate k is skipped if R ≥ L_k; the last one of all never is.
            let mut over = passed(g, &r, &p1_sums[..p1_sums.len().saturating_sub(1)]);
            if !p1_sums.is_empty() && !p2_sums.is_empty() {
                over.push(!is_p1s);
            }
            let second = passed(g, &past_p1, &p2_sums[..p2_sums.len().saturating_sub(1)]);
            over.extend(mask(g, !is_p1s, &second));
            let index = count_ones(g, &over);
            let index = mask(g, !failed, &resize(&index, self.index_bits()));
            (failed, index)
        })
    }
}

/// Which of `sums` are at most `r`. All comparisons advance bit by bit together, so that their
/// gates can be hashed together.
pub(super) fn passed<G: Gates>(g: &mut G, r: &[Bit], sums: &[Vec<Bit>]) -> Vec<Bit> {
    let mut carries = vec![Bit::TRUE; sums.len()];
    let positions: Vec<usize> = (0..r.len()).collect();
    for chunk in positions.chunks(64) {
        carries = g.scope(|g| {
            for &i in chunk {
                for (carry, sum) in carries.iter_mut().zip(sums) {
                    *carry = g.majority(r[i], !sum[i], *carry);
                }
            }
            carries
        });
    }
    carries
}
