//! Noisy maximum by two parties: geometric noise that neither knows on every score, the largest
//! wins, ties to the lowest index.
//!
//! *Inputs*: scores u_i of which each party knows its own or a share, a spend ε', the utility's Δ,
//! a public bound on the scores. *Output*: argmax_i (u_i·2^g + N_i) to both, N_i independent with
//! Pr[N = k] ∝ e^(−c·2^-g·k). *Learned*: the winner, nothing else.
//!
//! *Theorem.* The winner is ε'-differentially private for adding or removing one record, up to its
//! distance from the exact law. *Proof sketch*: that of [`crate::privacy::noisy_max`], whose form
//! this is; the noise is memoryless, so nothing is lost to the grid or to ties. Each digit of N is 1
//! if a τ-bit number, uniform as long as one party's bits are (on shared bits: as long as
//! transfers are pseudorandom), is below a public constant.
//! *Distance*: n candidates add n·(D·2^-τ + e^(−c·2^-g·2^D)) to the run's total variation TV, and
//! δ ≤ (1 + e^ε)·TV ([`crate::privacy::slack`]: count n, rate c·2^-g).
//!
//! *Cost*: some 3·w ANDs per candidate to add its noise and to compare, w the larger of D and the bits
//! of a score on the grid, and the noise. Where the session does work in bulk on shared bits
//! ([`Bulk::SharedBits`]), noise comes from [`prepared`], and its digits go into the circuit as they
//! are. Otherwise it is drawn inside the circuit: D·(τ − 1) ANDs, D·τ random bits of each party. A
//! round and a half for a batch of candidates ([`BATCH`] with noise drawn inside), one more for every
//! further batch: memory holds the labels of one, 32 bytes per bit of noise. Several choices whose
//! candidates fit one batch take as many rounds as one ([`NoisyMax::choose_each`]).
//!
//! # Example
//!
//! ```
//! use diptych_mpc::mechanism::noisy_max::{NoiseWidths, NoisyMax, Scores};
//! use diptych_mpc::Error;
//! use diptych_mpc::privacy::{Budget, Calibration, Choose, Epsilon, Score};
//! use diptych_mpc::protocol::Workspace;
//! use diptych_mpc::protocol::pair::{Setup, run_workspaces};
//! use diptych_mpc::protocol::shares::WordShares;
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let choose = |session: &mut Workspace, own: &[u64]| -> Result<usize, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//!     let largest = Score::whole(100).unwrap_or_default();
//!     // Noise in steps of 2^-10, below 2^16 of them: below 64.
//!     let widths = NoiseWidths { tau: 64, digits: 16 };
//!     let mut mechanism = NoisyMax::new(session, 10, largest, widths)?;
//!     let scores = Scores::Shared(WordShares::new(16, own.to_vec())?);
//!     Ok(mechanism.choose(spend, &Calibration::max(), &scores)?.index)
//! };
//! // Scores are sums of both parties' numbers: 10, 90 and 11.
//! let outcome = run_workspaces(
//!     Setup::default(),
//!     |session| choose(session, &[7, 40, 11]),
//!     |session| choose(session, &[3, 50, 0]),
//! );
//! assert_eq!((outcome.p1?, outcome.p2?), (1, 1), "no noise makes up for 79");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use super::digits::draw;
use super::{
    OneSided, bits_to_count, no_such_candidate, push_word, ring_too_narrow, too_many, word,
};
use crate::Error;
use crate::circuit::integer::{add, add_carry, maximum_with_index, resize, select, xor};
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Builder, Chain, Circuit, Gates, Program, Repeat, Source};
use crate::math::{Rational, wiped};
use crate::privacy::choice::{Calibration, Choice, Choose, SCORE_GRID_BITS, Score};
use crate::privacy::digits::DigitSampler;
use crate::privacy::noisy_max::rate_per_step;
use crate::privacy::{self, Spend};
use crate::protocol::bits::Bits;
use crate::protocol::coins::{Law, bits_per_noise};
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::yao::{self, Reveal};
use crate::protocol::{Bulk, Workspace, prepared};
use crate::role::Role;

/// Candidates of one circuit that draws their noise: their labels, some 25 MB, fit the processor's
/// caches.
pub const BATCH: usize = 1 << 9;
/// Candidates of one circuit whose noise is drawn already: it has one bit per digit, not τ.
pub(super) const PREPARED_BATCH: usize = 1 << 13;
/// Most candidates of one choice.
pub const MOST_CANDIDATES: usize = 1 << 20;

/// What a party knows of the scores.
#[derive(Clone, Debug)]
pub enum Scores {
    /// Each party knows those of its own candidates (vertical data).
    OneSided(OneSided),
    /// Both have shares over Z_{2^k} of every score (horizontal data): of whole numbers for a
    /// utility with whole scores, of multiples of 2^-20 otherwise. k is at least the length of the
    /// bound.
    Shared(WordShares),
    /// The same as XOR shares, as garbled circuits give them.
    XorShares(Zeroizing<Vec<u64>>),
}

/// The widths of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseWidths {
    /// τ: length of the random number behind one digit.
    pub tau: u32,
    /// D: how many digits a noise has.
    pub digits: u32,
}

/// What is public about all choices of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoisyMaxParameters {
    /// g: the grid is that of the multiples of 2^-g.
    pub grid_bits: u32,
    /// The largest score; a higher one of a party's own is reduced to it.
    pub largest: Score,
    /// How long its random numbers are.
    pub widths: NoiseWidths,
}

impl NoisyMaxParameters {
    fn shape(
        &self,
        epsilon: &Rational,
        calibration: &Calibration,
        sharing: Sharing,
        bulk: Bulk,
    ) -> Result<NoisyMaxShape, Error> {
        let whole = calibration.has_whole_scores();
        if self.grid_bits < SCORE_GRID_BITS && !whole {
            let what = "the number of grid bits for a utility that is not whole";
            let [given, least] = [self.grid_bits, SCORE_GRID_BITS].map(u64::from);
            return Err(privacy::Error::OutOfRange { what, given, least, most: least }.into());
        }
        let rate = rate_per_step(&calibration.rate(epsilon), self.grid_bits);
        let largest = unit(self.largest, whole);
        Ok(NoisyMaxShape {
            sharing,
            score_bits: (u64::BITS - largest.leading_zeros()) as usize,
            shift: if whole { self.grid_bits as usize } else { 0 },
            noise: DigitSampler::new(&rate, self.widths.digits, self.widths.tau)?,
            bulk,
        })
    }
}

/// A score in the unit that circuits use.
fn unit(score: Score, whole: bool) -> u64 {
    if whole { score.steps() >> SCORE_GRID_BITS } else { score.steps() }
}

/// The messages of a choice among `count` candidates.
///
/// # Errors
/// As the mechanism, for unsupported parameters.
pub fn forecast(
    f: &mut Forecast,
    parameters: &NoisyMaxParameters,
    epsilon: &Rational,
    calibration: &Calibration,
    sharing: Sharing,
    count: usize,
) -> Result<(), Error> {
    forecast_each(f, parameters, epsilon, calibration, sharing, &[count])
}

/// The messages of choices among so many candidates each: see [`NoisyMax::choose_each`].
///
/// # Errors
/// As [`forecast`].
pub fn forecast_each(
    f: &mut Forecast,
    parameters: &NoisyMaxParameters,
    epsilon: &Rational,
    calibration: &Calibration,
    sharing: Sharing,
    counts: &[usize],
) -> Result<(), Error> {
    let shape = parameters.shape(epsilon, calibration, sharing, f.bulk())?;
    let program = shape.program();
    for group in together(counts, shape.batch(), |count| *count) {
        let total: usize = group.iter().sum();
        if shape.bulk == Bulk::SharedBits {
            prepared::forecast_take(f, Law::Geometric, &shape.noise, total, ahead(total));
        }
        if total > shape.batch() {
            shape.forecast_in_batches(f, &program, total);
            continue;
        }
        let parts: Vec<_> =
            group.iter().map(|count| shape.parts(&program, *count, false)).collect();
        let sources: Vec<_> =
            parts.iter().map(|(scores, last)| Chain::new(scores, &**last)).collect();
        let sources: Vec<&dyn Source> = sources.iter().map(|s| s as &dyn Source).collect();
        yao::forecast_all(f, Role::P1, &sources, Reveal::Both);
    }
    Ok(())
}

/// Consecutive choices that fit one batch; one with more candidates than that is alone.
fn together<T>(
    choices: &[T],
    batch: usize,
    count: impl Fn(&T) -> usize,
) -> impl Iterator<Item = &[T]> {
    let mut total = 0;
    choices.chunk_by(move |before, next| {
        total = if total == 0 { count(before) } else { total } + count(next);
        let fits = total <= batch;
        if !fits {
            total = 0;
        }
        fits
    })
}

/// How many noises are drawn in addition to those of a choice, if there are too few for it: half as
/// many, so that few remain unused, and a choice that has a few candidates more than the last one
/// has enough.
fn ahead(count: usize) -> usize {
    count / 2
}

/// Draws the noises of `count` candidates of later choices, if noise is drawn ahead. This takes
/// fewer rounds than drawing them choice by choice.
///
/// # Errors
/// As [`NoisyMax`].
pub fn prepare(
    session: &mut Workspace,
    parameters: &NoisyMaxParameters,
    epsilon: &Rational,
    calibration: &Calibration,
    count: usize,
) -> Result<(), Error> {
    let shape = parameters.shape(epsilon, calibration, Sharing::Xor, session.bulk)?;
    if shape.bulk == Bulk::SharedBits {
        prepared::fill(session, &shape.noise, count)?;
    }
    Ok(())
}

/// The messages of [`prepare`].
///
/// # Errors
/// As [`prepare`].
pub fn forecast_prepare(
    f: &mut Forecast,
    parameters: &NoisyMaxParameters,
    epsilon: &Rational,
    calibration: &Calibration,
    count: usize,
) -> Result<(), Error> {
    let shape = parameters.shape(epsilon, calibration, Sharing::Xor, f.bulk())?;
    if shape.bulk == Bulk::SharedBits {
        prepared::forecast_fill(f, &shape.noise, count);
    }
    Ok(())
}

/// The noisy maximum of two parties.
pub struct NoisyMax<'a> {
    session: &'a mut Workspace,
    parameters: NoisyMaxParameters,
}

impl<'a> NoisyMax<'a> {
    /// A mechanism on the grid of multiples of 2^-`grid_bits`, for scores up to a public `largest`
    /// (a higher score of a party's own is reduced to it).
    ///
    /// # Errors
    /// As [`NoisyMax::with`].
    pub fn new(
        session: &'a mut Workspace,
        grid_bits: u32,
        largest: Score,
        widths: NoiseWidths,
    ) -> Result<Self, Error> {
        Self::with(session, NoisyMaxParameters { grid_bits, largest, widths })
    }

    /// The same with all public parameters in one.
    ///
    /// # Errors
    /// [`privacy::Error::OutOfRange`] unless 10 ≤ grid_bits ≤ 20.
    pub fn with(session: &'a mut Workspace, parameters: NoisyMaxParameters) -> Result<Self, Error> {
        if !(10..=SCORE_GRID_BITS).contains(&parameters.grid_bits) {
            let [given, most] = [parameters.grid_bits, SCORE_GRID_BITS].map(u64::from);
            let what = "the number of grid bits";
            return Err(privacy::Error::OutOfRange { what, given, least: 10, most }.into());
        }
        Ok(Self { session, parameters })
    }

    /// Several choices at once, each by its own spend of the same ε: the winner's index of each. Their
    /// scores are shared.
    ///
    /// # Errors
    /// As for one, and unless there is a spend for each, all of the same ε.
    pub fn choose_each(
        &mut self,
        spends: Vec<Spend>,
        calibration: &Calibration,
        scores: &[WordShares],
    ) -> Result<Vec<usize>, Error> {
        let as_first = |first: &Spend| {
            spends.iter().filter(|spend| spend.epsilon() == first.epsilon()).count()
        };
        let same = spends.first().map_or(0, as_first);
        if same != scores.len() || spends.len() != scores.len() {
            let (given, most) = (scores.len(), same);
            return Err(too_many("choices at once", given, most));
        }
        let Some(first) = spends.first() else { return Ok(Vec::new()) };
        let bulk = self.session.bulk;
        let shape = self.parameters.shape(first.epsilon(), calibration, Sharing::Sum, bulk)?;
        let words = scores.iter().map(|scores| shape.words_of(scores)).collect::<Result<_, _>>()?;
        self.run(&shape, words)
    }

    /// The winner's index of every choice, from this party's parts of the scores.
    fn run(
        &mut self,
        shape: &NoisyMaxShape,
        choices: Vec<Zeroizing<Vec<u64>>>,
    ) -> Result<Vec<usize>, Error> {
        for count in choices.iter().map(|words| words.len()) {
            if count == 0 {
                return Err(privacy::Error::NoCandidates.into());
            }
            if count > MOST_CANDIDATES {
                let (what, most) = ("candidates", MOST_CANDIDATES);
                return Err(too_many(what, count, most));
            }
        }
        let mut winners = Vec::with_capacity(choices.len());
        for group in together(&choices, shape.batch(), |words| words.len()) {
            match group {
                [words] if words.len() > shape.batch() => {
                    winners.push(self.run_in_batches(shape, words)?);
                }
                group => winners.extend(self.run_together(shape, group)?),
            }
        }
        let known = winners.iter().zip(&choices).find(|(index, words)| **index >= words.len());
        match known {
            Some((index, words)) => Err(no_such_candidate(*index, words.len())),
            None => Ok(winners),
        }
    }

    /// Choices that fit one batch.
    fn run_together(
        &mut self,
        shape: &NoisyMaxShape,
        choices: &[Zeroizing<Vec<u64>>],
    ) -> Result<Vec<usize>, Error> {
        let program = shape.program();
        let mut noise = self.noise(shape, choices.iter().map(|words| words.len()).sum())?;
        let (mut parts, mut inputs) = (Vec::new(), Vec::new());
        for words in choices {
            let own = noise.take(self.session, shape, words.len())?;
            inputs.push(shape.inputs(words, &own));
            parts.push(shape.parts(&program, words.len(), false));
        }
        let sources: Vec<_> =
            parts.iter().map(|(scores, last)| Chain::new(scores, &**last)).collect();
        let jobs: Vec<_> = (sources.iter().zip(&inputs))
            .map(|(source, inputs)| yao::Job { source, inputs })
            .collect();
        let winners = yao::run_all(self.session, Role::P1, &jobs, Reveal::Both)?;
        Ok(winners.unwrap_or_default().iter().map(|bits| word(bits) as usize).collect())
    }

    /// A choice that takes several batches.
    fn run_in_batches(&mut self, shape: &NoisyMaxShape, words: &[u64]) -> Result<usize, Error> {
        let program = shape.program();
        let mut noise = self.noise(shape, words.len())?;
        let mut winners = Zeroizing::new(Vec::new());
        for batch in words.chunks(shape.batch()) {
            let own = noise.take(self.session, shape, batch.len())?;
            let inputs = shape.inputs(batch, &own);
            let (scores, last) = shape.parts(&program, batch.len(), true);
            let source = Chain::new(&scores, &*last);
            let bits = yao::run(self.session, Role::P1, &source, &inputs, Reveal::XorShares)?;
            let bits = Zeroizing::new(bits.unwrap_or_default());
            wiped::make_room(&mut winners, bits.len());
            winners.extend_from_slice(&bits);
        }
        let last = final_of(words.len(), shape.batch(), shape.noisy_bits());
        let index = yao::run(self.session, Role::P1, &*last, &winners, Reveal::Both)?;
        Ok(word(&index.unwrap_or_default()) as usize)
    }

    /// The noise of `count` candidates, if it is drawn ahead.
    fn noise(&mut self, shape: &NoisyMaxShape, count: usize) -> Result<Drawn, Error> {
        Ok(match shape.bulk {
            Bulk::Garbled => Drawn(None),
            Bulk::SharedBits => {
                let (law, ahead) = (Law::Geometric, ahead(count));
                let digits = prepared::take(self.session, law, &shape.noise, count, ahead)?;
                Drawn(Some(one_by_one(&digits)))
            }
        })
    }
}

/// This party's shares of the digits of noises that were drawn ahead.
struct Drawn(Option<Zeroizing<Vec<bool>>>);

impl Drawn {
    /// Those of the next `count` candidates, or coins for drawing them inside the circuit.
    fn take(
        &mut self,
        session: &mut Workspace,
        shape: &NoisyMaxShape,
        count: usize,
    ) -> Result<Zeroizing<Vec<bool>>, Error> {
        let Some(digits) = &mut self.0 else {
            return Ok(session.coins.joint_geometric(&shape.noise, count)?);
        };
        let left = Zeroizing::new(digits.split_off(count * shape.noise_inputs()));
        Ok(std::mem::replace(digits, left))
    }
}

impl Choose for NoisyMax<'_> {
    type Scores = Scores;
    type Error = Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        scores: &Scores,
    ) -> Result<Choice, Error> {
        let sharing = match scores {
            Scores::Shared(_) => Sharing::Sum,
            _ => Sharing::Xor,
        };
        let bulk = self.session.bulk;
        let shape = self.parameters.shape(spend.epsilon(), calibration, sharing, bulk)?;
        let words: Zeroizing<Vec<u64>> = match scores {
            Scores::OneSided(scores) => {
                let whole = calibration.has_whole_scores();
                let largest = unit(self.parameters.largest, whole);
                let own = scores.own.iter().map(|score| unit(*score, whole).min(largest));
                let zeros = std::iter::repeat_n(0, scores.peer);
                Zeroizing::new(match self.session.role {
                    Role::P1 => own.chain(zeros).collect(),
                    Role::P2 => zeros.chain(own).collect(),
                })
            }
            Scores::Shared(words) => shape.words_of(words)?,
            Scores::XorShares(words) => words.clone(),
        };
        let index = self.run(&shape, vec![words])?.pop();
        Ok(Choice { index: index.unwrap_or_default(), offset: 0 })
    }
}

/// How a score follows from both parties' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Their XOR; of a score that one party knows, the other's number is 0.
    Xor,
    /// Their sum modulo a power of two.
    Sum,
}

/// What is public about one choice, apart from the number of candidates.
#[derive(Clone, Debug)]
pub struct NoisyMaxShape {
    /// How scores are shared.
    pub sharing: Sharing,
    /// Bits of a score in its own unit.
    pub score_bits: usize,
    /// By how many bits the grid is finer than that unit.
    pub shift: usize,
    /// The noise.
    pub noise: DigitSampler,
    /// Where noise is drawn: inside the circuit, or before it.
    pub bulk: Bulk,
}

impl NoisyMaxShape {
    /// The circuit of a whole choice among `count` candidates, stored: for review and vectors. Each
    /// party's input is its part of every score, each followed by its coins for the noise on it, or
    /// by its shares of the digits of that noise.
    pub fn circuit(&self, count: usize) -> Circuit {
        let mut g = Builder::new();
        let inputs = [(Role::P1, "p1"), (Role::P2, "p2")]
            .map(|(owner, name)| g.input(owner, name, count * self.inputs_of_one()));
        let noisy: Vec<Vec<Bit>> = inputs[0]
            .chunks(self.inputs_of_one())
            .zip(inputs[1].chunks(self.inputs_of_one()))
            .map(|(first, second)| self.noisy_score(&mut g, first, second))
            .collect();
        let (_, index) = maximum_with_index(&mut g, &noisy);
        g.output("index", &index);
        g.finish()
    }

    /// One party's bits for some candidates, from its parts of the scores and its coins or digits.
    pub fn inputs(&self, scores: &[u64], noise: &[bool]) -> Zeroizing<Vec<bool>> {
        let mut bits = Zeroizing::new(Vec::with_capacity(scores.len() * self.inputs_of_one()));
        for (score, noise) in scores.iter().zip(noise.chunks(self.noise_inputs())) {
            push_word(*score, self.score_bits, &mut bits);
            bits.extend_from_slice(noise);
        }
        bits
    }

    /// This party's shares of scores, if their ring has room for the largest.
    fn words_of(&self, scores: &WordShares) -> Result<Zeroizing<Vec<u64>>, Error> {
        let (given, least) = (scores.bits(), self.score_bits as u32);
        if given < least {
            return Err(ring_too_narrow(given, least));
        }
        Ok(Zeroizing::new(scores.words().to_vec()))
    }

    /// The circuit of a choice in two parts, noisy scores and the largest of them.
    fn parts<'p>(
        &self,
        program: &'p Program,
        count: usize,
        with_value: bool,
    ) -> (Repeat<'p>, Box<dyn Source>) {
        (Repeat::new(program, count), tournament(count, self.noisy_bits(), with_value))
    }

    /// The messages of a choice that takes several batches.
    fn forecast_in_batches(&self, f: &mut Forecast, program: &Program, count: usize) {
        for first in (0..count).step_by(self.batch()) {
            let (scores, last) = self.parts(program, self.batch().min(count - first), true);
            yao::forecast(f, Role::P1, &Chain::new(&scores, &*last), Reveal::XorShares);
        }
        let last = final_of(count, self.batch(), self.noisy_bits());
        yao::forecast(f, Role::P1, &*last, Reveal::Both);
    }

    fn inputs_of_one(&self) -> usize {
        self.score_bits + self.noise_inputs()
    }

    /// Bits that each party gives for one noise.
    fn noise_inputs(&self) -> usize {
        match self.bulk {
            Bulk::Garbled => bits_per_noise(&self.noise),
            Bulk::SharedBits => self.noise.thresholds().len(),
        }
    }

    /// Candidates of one circuit.
    fn batch(&self) -> usize {
        match self.bulk {
            Bulk::Garbled => BATCH,
            Bulk::SharedBits => PREPARED_BATCH,
        }
    }

    /// Bits of a score with its noise.
    fn noisy_bits(&self) -> usize {
        (self.score_bits + self.shift).max(self.noise.thresholds().len()) + 1
    }

    /// One candidate: its score on the grid, plus its noise.
    fn noisy_score<G: Gates>(&self, g: &mut G, first: &[Bit], second: &[Bit]) -> Vec<Bit> {
        let ((score1, noise1), (score2, noise2)) =
            (first.split_at(self.score_bits), second.split_at(self.score_bits));
        let score = match self.sharing {
            Sharing::Xor => xor(g, score1, score2),
            Sharing::Sum => add(g, score1, score2),
        };
        let noise = match self.bulk {
            Bulk::Garbled => draw(g, &self.noise, noise1, noise2),
            Bulk::SharedBits => xor(g, noise1, noise2),
        };
        let steps = [vec![Bit::FALSE; self.shift], score].concat();
        let noisy = add_carry(g, &steps, &noise);
        resize(&noisy, self.noisy_bits())
    }

    /// The circuit for one candidate, to be repeated.
    fn program(&self) -> Program {
        let mut g = Builder::new();
        let [first, second] =
            Role::BOTH.map(|owner| g.input(owner, "candidate", self.inputs_of_one()));
        let noisy = self.noisy_score(&mut g, &first, &second);
        g.output("noisy", &noisy);
        Program::new(&g.finish())
    }
}

/// The index of the first largest of `count` numbers, after the number itself if `with_value`.
fn tournament(count: usize, width: usize, with_value: bool) -> Box<dyn Source> {
    let index_bits = bits_to_count(count);
    let mut outputs = vec![("index", index_bits)];
    if with_value {
        outputs.insert(0, ("largest", width));
    }
    Box::new(Generated::new(&[(Role::P1, "noisy", count * width)], &outputs, move |g, x| {
        let values: Vec<_> = x[0].chunks(width).map(<[_]>::to_vec).collect();
        let (largest, index) = maximum_with_index(g, &values);
        if with_value { vec![largest, index] } else { vec![index] }
    }))
}

/// The winner among the winners of all batches, from XOR shares of (largest, index) of each.
fn final_of(count: usize, batch: usize, width: usize) -> Box<dyn Source> {
    let sizes: Vec<usize> =
        (0..count).step_by(batch).map(|first| batch.min(count - first)).collect();
    let bits: usize = sizes.iter().map(|size| width + bits_to_count(*size)).sum();
    let inputs = [(Role::P1, "winners", bits), (Role::P2, "winners", bits)];
    let index_bits = bits_to_count(count);
    Box::new(Generated::new(&inputs, &[("index", index_bits)], move |g, x| {
        let joint = xor(g, &x[0], &x[1]);
        let (mut values, mut indices) = (Vec::new(), Vec::new());
        let mut rest = joint.as_slice();
        for size in &sizes {
            let (value, after) = rest.split_at(width);
            let (index, after) = after.split_at(bits_to_count(*size));
            values.push(value.to_vec());
            indices.push(resize(index, bits_to_count(batch)));
            rest = after;
        }
        let (_, winner) = maximum_with_index(g, &values);
        let mut index = chosen(g, &winner, &indices);
        index.extend(winner);
        vec![resize(&index, index_bits)]
    }))
}

/// Digits of every noise in turn, from vectors with one digit of all.
fn one_by_one(digits: &[Bits]) -> Zeroizing<Vec<bool>> {
    let count = digits.first().map_or(0, Bits::len);
    let mut bits = Zeroizing::new(Vec::with_capacity(count * digits.len()));
    for noise in 0..count {
        bits.extend(digits.iter().map(|digit| digit.get(noise)));
    }
    bits
}

/// The item with the number `index`.
fn chosen<G: Gates>(g: &mut G, index: &[Bit], items: &[Vec<Bit>]) -> Vec<Bit> {
    let mut round = items.to_vec();
    for bit in index {
        round = round
            .chunks(2)
            .map(|pair| match pair {
                [low, high] => select(g, *bit, high, low),
                odd => odd[0].clone(),
            })
            .collect();
    }
    round.pop().unwrap_or_default()
}
