//! The exponential mechanism over horizontally partitioned data (thesis 7.5): both parties have
//! records of all kinds, so scores are sums that neither knows.
//!
//! *Inputs*: per candidate, each party's class counts of every child ([`ClassCounts`]); a spend ε',
//! the utility Max; public numbers: bounds on the records, digits s and degree w of the polynomial.
//! *Output*: candidate i with probability W_i / ΣW, W_i = w!·10^(s·w)·T_w(c'·u_i), to both.
//! *Learned*: the winner, nothing else: not even the number of the peer's records.
//!
//! *Theorem.* The winner is ε'-differentially private for adding or removing one record. *Proof
//! sketch*: that of [`crate::privacy::taylor`], whose form this is; all numbers are exact.
//! *Known limit*: weights grow like u^w, so the choice is flatter than e^(c·u) where c·u ≫ w.
//! *Distance*: a choice fails with a chance below 2^-σ, and each of its masks is 2^-σ away from
//! hiding perfectly: two per candidate.
//!
//! 1. MAX, one circuit: u = Σ over children of the largest class count, as shares over the integers:
//!    P1 has −m, P2 has u + m.
//! 2. Oblivious evaluation of the weight as a polynomial in P2's share; P1, who knows m and adds a
//!    mask, has the other share of the weight. The result is below n/2 for every score possible:
//!    that is checked before anything is sent.
//! 3. Shares of prefix sums are sums of shares. One circuit draws R below the last of them and
//!    counts those that are at most R (the thesis: RVP, then COMPARISON; fused, R is never shared).
//!
//! *Cost* for k candidates: circuits of some hundred ANDs per class count and 2·B ANDs per candidate,
//! B the length of the sum of all weights; k·w encryptions at P2 and k·w powers at P1. Four rounds.
//! [`HorizontalExponential::weigh`] and [`HorizontalExponential::pick`] are separate, because
//! weights of candidates that remain need not be computed again.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::paillier::{SecretKey, Tuning};
//! use diptych_mpc::math::Randomness;
//! use diptych_mpc::paper::exponential::HorizontalExponential;
//! use diptych_mpc::paper::exponential::horizontal::{ClassCounts, Horizontal, TaylorKey};
//! use diptych_mpc::Error;
//! use diptych_mpc::privacy::taylor::Taylor;
//! use diptych_mpc::privacy::{Budget, Calibration, Choose, Epsilon};
//! use diptych_mpc::protocol::Session;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use num_bigint::BigUint;
//!
//! let (epsilon, tuning): (Epsilon, Tuning) = ("1".parse()?, Tuning::default());
//! // Primes that everyone knows, so that the example is quick: a run takes `TaylorKey::exchange`.
//! let prime = |distance: u32| (BigUint::from(1u32) << 1024) - distance;
//! let mut rng = Randomness::from_os()?;
//! let key = SecretKey::from_primes(&prime(105), &prime(1397), tuning, &mut rng)?;
//! let keys = [TaylorKey::Peer(key.public().clone()), TaylorKey::Own(Box::new(key))];
//!
//! let terms = Horizontal { taylor: Taylor::new(1, 16)?, most_records: 1_000, sigma: 64 };
//! let choose = |session: &mut Session, counts: &ClassCounts| -> Result<usize, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//!     let key = &keys[session.role as usize];
//!     let mut mechanism = HorizontalExponential::new(session, key, terms);
//!     Ok(mechanism.choose(spend, &Calibration::max(), counts)?.index)
//! };
//! // Two candidates with one child each, two classes: scores max(0 + 0, 1 + 0), max(500 + 400, 0).
//! let first = ClassCounts::new(2, &[vec![vec![0, 1]], vec![vec![500, 0]]])?;
//! let second = ClassCounts::new(2, &[vec![vec![0, 0]], vec![vec![400, 0]]])?;
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| choose(session, &first),
//!     |session| choose(session, &second),
//! );
//! // The second weighs about 900^16/16!, 10^33 times as much as the first.
//! assert_eq!((outcome.p1?, outcome.p2?), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod circuits;

pub use circuits::{MaxShape, PickShape};

use num_bigint::{BigInt, BigUint};
use num_integer::binomial;
use num_traits::One;
use zeroize::Zeroizing;

use super::vertical::MOST_CANDIDATES;
use crate::Error;
use crate::crypto::paillier::{self, PublicKey, SecretKey, Tuning};
use crate::math::{Randomness, Rational};
use crate::mechanism::{no_such_candidate, other_counts, too_many, word};
use crate::net::Tag;
use crate::paper::polynomial::{self, NoWrap};
use crate::paper::random_value::all_failed;
use crate::primitives;
use crate::privacy::choice::{Calibration, Choice, Choose};
use crate::privacy::taylor::{self, Taylor};
use crate::privacy::{self, Spend};
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::shares::{IntegerMasks, IntegerShare, Ring};
use crate::protocol::yao::shares::number;
use crate::protocol::yao::{self, Reveal, bits_of};
use crate::role::Role;

const KEY: Tag = Tag::new(*b"hkey");

/// One party's counts, candidate by candidate: per child of the candidate, the records of every
/// class. How many candidates, children and classes there are is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    classes: usize,
    /// Children of each candidate, in order.
    children: Vec<usize>,
    /// All counts in a row, classes fastest.
    counts: Vec<u64>,
}

impl ClassCounts {
    /// `candidates[i][j][c]` records of class c are under child j of candidate i.
    ///
    /// # Errors
    /// Unless there is one count per class everywhere.
    pub fn new(classes: usize, candidates: &[Vec<Vec<u64>>]) -> Result<Self, Error> {
        let children = candidates.iter().map(Vec::len).collect();
        let counts: Vec<u64> = candidates.iter().flatten().flatten().copied().collect();
        if classes == 0 || candidates.iter().flatten().any(|child| child.len() != classes) {
            return Err(other_counts());
        }
        Ok(Self { classes, children, counts })
    }

    /// What MAX computes from both parties' counts: the score of every candidate.
    pub fn ideal_scores(&self, peer: &Self) -> Vec<u64> {
        let both: Vec<u64> = self.counts.iter().zip(&peer.counts).map(|(a, b)| a + b).collect();
        let mut rows = both.chunks(self.classes.max(1));
        let largest = |row: &[u64]| row.iter().copied().max().unwrap_or(0);
        self.children.iter().map(|n| rows.by_ref().take(*n).map(largest).sum()).collect()
    }
}

/// The Paillier key of a run: P2 owns it, P1 evaluates under it.
pub enum TaylorKey {
    /// P2's.
    Own(Box<SecretKey>),
    /// P2's key as P1 has it.
    Peer(PublicKey),
}

impl TaylorKey {
    /// P2 makes a key of `bits` bits and sends its public part, which P1 checks. Takes seconds.
    ///
    /// # Errors
    /// If the connection fails, or the key is not as agreed.
    pub fn exchange(session: &mut Session, bits: usize, tuning: Tuning) -> Result<Self, Error> {
        Self::exchange_as(
            session,
            bits,
            |rng| SecretKey::generate(bits, tuning, rng),
            |bytes, rng| PublicKey::from_bytes(bytes, bits, tuning, rng),
        )
    }

    /// The same with a key that may be too short to protect anything, generated quickly and
    /// deterministically.
    ///
    /// # Errors
    /// As [`TaylorKey::exchange`].
    #[cfg(any(test, feature = "testing"))]
    pub fn exchange_for_tests(
        session: &mut Session,
        bits: usize,
        tuning: Tuning,
    ) -> Result<Self, Error> {
        Self::exchange_as(
            session,
            bits,
            |_| SecretKey::generate_for_tests(bits, tuning, &mut Randomness::seeded(1)),
            |bytes, rng| PublicKey::from_bytes_for_tests(bytes, bits, tuning, rng),
        )
    }

    fn exchange_as(
        session: &mut Session,
        bits: usize,
        make: impl FnOnce(&mut Randomness) -> Result<SecretKey, primitives::Error>,
        check: impl FnOnce(&[u8], &mut Randomness) -> Result<PublicKey, primitives::Error>,
    ) -> Result<Self, Error> {
        if session.role == Role::P2 {
            let key = make(&mut session.rng)?;
            session.channel.send_bytes(KEY, &key.public().to_bytes())?;
            return Ok(Self::Own(Box::new(key)));
        }
        let due = paillier::public_key_bytes(bits);
        let bytes = session.channel.receive_bytes(KEY, due)?;
        Ok(Self::Peer(check(&bytes, &mut session.rng)?))
    }

    /// The message of [`TaylorKey::exchange`].
    pub fn forecast(f: &mut Forecast, bits: usize) {
        f.message(Role::P2, KEY, paillier::public_key_bytes(bits));
        f.work(if f.role() == Role::P2 { Work::MakeKey } else { Work::CheckKey }, 1);
    }

    fn public(&self) -> &PublicKey {
        match self {
            Self::Own(key) => key.public(),
            Self::Peer(key) => key,
        }
    }
}

/// What both parties have agreed on for all choices of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizontal {
    /// Digits s and degree w of the polynomial.
    pub taylor: Taylor,
    /// The most records that one party may have; more are rejected.
    pub most_records: u64,
    /// σ: masks hide all but a chance of 2^-σ.
    pub sigma: u32,
}

impl Horizontal {
    /// MAX for candidates with these numbers of children.
    fn max(&self, classes: usize, children: Vec<usize>) -> MaxShape {
        MaxShape {
            classes,
            children,
            count_bits: bits(&self.most_records.into()).max(1) as usize,
            score_bits: bits(&largest_score(self.most_records)).max(1) as usize,
            sigma: self.sigma as usize,
        }
    }

    /// The messages of [`HorizontalExponential::weigh`] for candidates with these numbers of
    /// children.
    ///
    /// # Errors
    /// As [`Taylor::coefficients`].
    pub fn forecast_weighing(
        &self,
        f: &mut Forecast,
        key_bits: usize,
        rate: &Rational,
        classes: usize,
        children: Vec<usize>,
    ) -> Result<(), Error> {
        let count = children.len();
        yao::forecast(f, Role::P1, &self.max(classes, children).source(), Reveal::P2);
        let lengths = Lengths::new(*self, &self.taylor.coefficients(rate)?);
        polynomial::forecast(f, Role::P2, key_bits, &lengths.coefficients, count);
        Ok(())
    }

    /// The messages of [`HorizontalExponential::pick`] among so many candidates.
    ///
    /// # Errors
    /// As [`Taylor::coefficients`].
    pub fn forecast_pick(
        &self,
        f: &mut Forecast,
        rate: &Rational,
        count: usize,
    ) -> Result<(), Error> {
        let lengths = Lengths::new(*self, &self.taylor.coefficients(rate)?);
        let shape = PickShape::new(count, lengths.weight as usize, self.sigma as usize);
        yao::forecast(f, Role::P1, &shape.source(), Reveal::Both);
        Ok(())
    }

    /// The shortest key under which the weights at this rate do not wrap: known before a run.
    ///
    /// # Errors
    /// As [`Taylor::coefficients`].
    pub fn least_key_bits(&self, rate: &Rational) -> Result<u64, privacy::Error> {
        let coefficients = self.taylor.coefficients(rate)?;
        Ok(largest_result(&coefficients, *self).bits() + 2)
    }
}

/// The exponential mechanism over counts of both parties.
pub struct HorizontalExponential<'a> {
    session: &'a mut Session,
    key: &'a TaylorKey,
    horizontal: Horizontal,
}

impl<'a> HorizontalExponential<'a> {
    /// A mechanism under a key that both parties have exchanged.
    pub fn new(session: &'a mut Session, key: &'a TaylorKey, horizontal: Horizontal) -> Self {
        Self { session, key, horizontal }
    }

    /// Shares of the candidates' weights.
    ///
    /// # Errors
    /// If they do not fit the key, and if the run fails.
    pub fn weigh(
        &mut self,
        rate: &Rational,
        counts: &ClassCounts,
    ) -> Result<Vec<IntegerShare>, Error> {
        let weights = Weights::new(self.horizontal, rate, self.key.public())?;
        self.check(counts)?;
        let scores = self.scores(counts)?;
        let shares = match self.key {
            TaylorKey::Own(key) => {
                let own: Vec<BigInt> = scores.iter().map(|share| share.number().clone()).collect();
                polynomial::receive(self.session, key, &weights.bound, &own, &|_| ())?
            }
            TaylorKey::Peer(key) => {
                let mask = Ring::PowerOfTwo((weights.bits + self.horizontal.sigma) as usize);
                let masks: Vec<BigInt> =
                    scores.iter().map(|_| mask.random(&mut self.session.rng).into()).collect();
                let shifted = |(share, mask): (&IntegerShare, &BigInt)| {
                    shifted_polynomial(&weights.coefficients, share.number(), mask)
                };
                let polynomials: Vec<Vec<BigInt>> =
                    scores.iter().zip(&masks).map(shifted).collect();
                polynomial::send(self.session, key, &weights.bound, &polynomials, &|_| ())?;
                masks.into_iter().map(|mask| -mask).collect()
            }
        };
        Ok(shares.into_iter().map(|share| IntegerShare::new(share, weights.bits)).collect())
    }

    /// The winner among candidates with these shared weights.
    ///
    /// # Errors
    /// If no random value is found, which has a chance below 2^-σ, and if the run fails.
    pub fn pick(&mut self, weights: &[IntegerShare]) -> Result<Choice, Error> {
        let Some(longest) = weights.iter().map(IntegerShare::bits).max() else {
            return Err(privacy::Error::NoCandidates.into());
        };
        let sigma = self.horizontal.sigma as usize;
        let shape = PickShape::new(weights.len(), longest as usize, sigma);
        let ring = Ring::PowerOfTwo(shape.width());
        let mut total = BigInt::ZERO;
        let sums = weights.len() * shape.width();
        let room = sums + shape.uniform().random_bits();
        let mut inputs = Zeroizing::new(Vec::with_capacity(room));
        for weight in weights {
            total += weight.number();
            let share = ring.reduce(&total);
            inputs.extend((0..shape.width() as u64).map(|i| share.bit(i)));
        }
        let coins = self.session.coins.joint_uniform(shape.uniform(), &ring.reduce(&total))?;
        inputs.extend_from_slice(&coins);
        let output = yao::run(self.session, Role::P1, &shape.source(), &inputs, Reveal::Both)?;
        let output = output.unwrap_or_default();
        let (failed, index) = output.split_first().unwrap_or((&true, &[]));
        if *failed {
            return Err(all_failed(self.horizontal.sigma as usize));
        }
        let (index, count) = (word(index) as usize, weights.len());
        if index >= count {
            return Err(no_such_candidate(index, count));
        }
        Ok(Choice { index, offset: 0 })
    }

    /// Rejects too many records, which would exceed a bound that the other party's security depends
    /// on.
    fn check(&self, counts: &ClassCounts) -> Result<(), Error> {
        let Horizontal { most_records, .. } = self.horizontal;
        if counts.children.is_empty() {
            return Err(privacy::Error::NoCandidates.into());
        }
        let given = counts.children.len();
        if given > MOST_CANDIDATES {
            return Err(too_many("candidates", given, MOST_CANDIDATES));
        }
        let mut rest = counts.counts.as_slice();
        for children in &counts.children {
            let (own, others) = rest.split_at(children * counts.classes);
            let records = own.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
            if records > most_records {
                return Err(Error::input(format!(
                    "this party has more than {most_records} records; raise max_records on both sides"
                )));
            }
            rest = others;
        }
        Ok(())
    }

    /// MAX: shares of all scores.
    fn scores(&mut self, counts: &ClassCounts) -> Result<Vec<IntegerShare>, Error> {
        let sigma = self.horizontal.sigma;
        let max = self.horizontal.max(counts.classes, counts.children.clone());
        let number_of_scores = counts.children.len();
        let masks =
            IntegerMasks::draw(number_of_scores, max.score_bits as u32, sigma, self.session);
        let source = max.source();
        let mut inputs = Zeroizing::new(Vec::with_capacity(bits_of(&source, self.session.role)));
        for count in &counts.counts {
            inputs.extend((0..max.count_bits).map(|i| count >> i & 1 == 1));
        }
        if self.session.role == Role::P1 {
            for mask in masks.for_circuit() {
                inputs.extend((0..max.share_bits() as u64).map(|i| mask.bit(i)));
            }
        }
        let revealed = yao::run(self.session, Role::P1, &source, &inputs, Reveal::P2)?;
        let revealed = Zeroizing::new(revealed.unwrap_or_default());
        let own = revealed.chunks(max.share_bits()).map(number).collect();
        Ok(masks.shares(self.session.role == Role::P1, own))
    }
}

impl Choose for HorizontalExponential<'_> {
    type Scores = ClassCounts;
    type Error = Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        counts: &ClassCounts,
    ) -> Result<Choice, Error> {
        let weights = self.weigh(&calibration.rate(spend.epsilon()), counts)?;
        self.pick(&weights)
    }
}

/// Both parties' records together are the highest score possible.
fn largest_score(most_records: u64) -> BigUint {
    BigUint::from(most_records) * 2u8
}

fn bits(number: &BigUint) -> u32 {
    number.bits() as u32
}

fn largest_weight(coefficients: &[BigUint], score: &BigUint) -> BigUint {
    coefficients.iter().rev().fold(BigUint::ZERO, |sum, a| sum * score + a)
}

/// The largest number that P2 decrypts: a weight and its mask.
fn largest_result(coefficients: &[BigUint], horizontal: Horizontal) -> BigUint {
    let largest = largest_weight(coefficients, &largest_score(horizontal.most_records));
    let mask = BigUint::one() << (bits(&largest) + horizontal.sigma);
    largest + mask
}

/// The weight as a polynomial, and the proof that it fits the key.
struct Weights {
    /// In u, lowest first.
    coefficients: Vec<BigUint>,
    /// Of the largest weight.
    bits: u32,
    bound: NoWrap,
}

impl Weights {
    fn new(horizontal: Horizontal, rate: &Rational, key: &PublicKey) -> Result<Self, Error> {
        let taylor = horizontal.taylor;
        let coefficients = taylor.coefficients(rate)?;
        let lengths = Lengths::new(horizontal, &coefficients);
        let result = largest_result(&coefficients, horizontal);
        let wraps = |_| {
            Error::internal(format!(
                "weights of degree {} with {} digits need {} bits with their masks, and the key has \
                 {}: lower the degree, the digits or max_records, or use a longer key",
                taylor.degree(),
                taylor.digits(),
                result.bits() + 1,
                key.bits()
            ))
        };
        let bound = NoWrap::from_result(key, &lengths.coefficients, &result).map_err(wraps)?;
        Ok(Self { coefficients, bits: lengths.weight, bound })
    }
}

/// How long the numbers of an evaluation are, independent of the counts.
struct Lengths {
    /// Of the largest weight, without its mask.
    weight: u32,
    /// Of the coefficients of the polynomial that P1 evaluates, lowest first.
    coefficients: Vec<u64>,
}

impl Lengths {
    fn new(horizontal: Horizontal, coefficients: &[BigUint]) -> Self {
        let score = largest_score(horizontal.most_records);
        let weight = bits(&largest_weight(coefficients, &score));
        let mask = BigUint::one() << (weight + horizontal.sigma);
        // |P1's share| is below 2^(bits of a score + σ).
        let share = BigUint::one() << (bits(&score) + horizontal.sigma);
        let mut lengths: Vec<u64> =
            (0..coefficients.len()).map(|k| derivative(coefficients, k, &share).bits()).collect();
        if let Some(constant) = lengths.first_mut() {
            *constant = (*constant).max(mask.bits()) + 1;
        }
        Self { weight, coefficients: lengths }
    }
}

/// The weight of (own + z) plus a mask, as a polynomial in z.
pub(crate) fn shifted_polynomial(
    coefficients: &[BigUint],
    own: &BigInt,
    mask: &BigInt,
) -> Vec<BigInt> {
    let signed: Vec<BigInt> = coefficients.iter().cloned().map(BigInt::from).collect();
    let mut shifted: Vec<BigInt> = (0..signed.len()).map(|k| derivative(&signed, k, own)).collect();
    if let Some(constant) = shifted.first_mut() {
        *constant += mask;
    }
    shifted
}

/// The coefficient of z^k in Σ A_i·(x + z)^i: Σ over i ≥ k of A_i·C(i, k)·x^(i−k).
fn derivative<T>(coefficients: &[T], k: usize, x: &T) -> T
where
    T: Clone + From<u64> + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
{
    (k..coefficients.len()).rev().fold(T::from(0), |sum, i| {
        // C(64, 32) has 61 bits.
        let factor = T::from(binomial(i as u64, k as u64));
        sum * x.clone() + coefficients[i].clone() * factor
    })
}

/// The single-party form of `weigh`: the weights of the scores that follow from both parties'
/// counts.
///
/// # Errors
/// As [`Taylor::coefficients`].
pub fn ideal_weights(
    taylor: Taylor,
    rate: &Rational,
    first: &ClassCounts,
    second: &ClassCounts,
) -> Result<Vec<BigUint>, Error> {
    let coefficients = taylor.coefficients(rate)?;
    let scores = first.ideal_scores(second);
    Ok(scores.iter().map(|score| taylor::weight(&coefficients, *score)).collect())
}
