//! Oblivious polynomial evaluation over Z_n (thesis, section 7.5.2), by Paillier.
//!
//! *Inputs*: the receiver has α and a Paillier key, the sender has a polynomial Q of public degree
//! w. *Output*: the receiver gets Q(α), the sender nothing. *Learned*: nothing else; the degree and
//! the bounds in [`NoWrap`] are public. Many evaluations run at once, in one round.
//! *Cost* per evaluation: w fresh encryptions and one decryption at the receiver; at the sender w
//! powers modulo n² with exponents of the coefficients' declared lengths, and one re-randomisation;
//! w + 1 ciphertexts of |n|/4 bytes.
//!
//! The receiver sends encryptions of α, α², …, α^w. The sender raises each to its coefficient,
//! multiplies, and re-randomises with r^n, r uniform (the types of [`crate::crypto::paillier`]
//! allow nothing else to return to the key's owner). So that no negative coefficient costs an
//! inverse or an exponent as long as n, the sender adds 2^bᵢ to each coefficient of at most bᵢ
//! bits, and the receiver, who knows α, subtracts Σ 2^bᵢ·αⁱ again.
//!
//! Everything is computed modulo n. That the result is the integer Q(α) is the caller's promise:
//! [`NoWrap`] can be built only if it holds.
//!
//! *A faulty peer*: messages of other lengths than expected, ciphertexts out of range or not
//! coprime to n, a result beyond the bound: each aborts the run with an error.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::paillier::{SecretKey, Tuning};
//! use diptych_mpc::math::Randomness;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::paper::polynomial::{NoWrap, receive, send};
//! use num_bigint::{BigInt, BigUint};
//!
//! let tuning = Tuning { table_bytes: 1 << 20, ..Tuning::default() };
//! // Primes that everyone knows, so that the example is quick: a run takes `SecretKey::generate`.
//! let prime = |distance: u32| (BigUint::from(1u32) << 1024) - distance;
//! let mut rng = Randomness::from_os()?;
//! let key = SecretKey::from_primes(&prime(105), &prime(1397), tuning, &mut rng)?;
//!
//! // Public: arguments and the three coefficients are at most 100 in size.
//! let most = BigUint::from(100u32);
//! let bound = NoWrap::from_inputs(key.public(), &most, &vec![most.clone(); 3])?;
//!
//! // P1 has 5, P2 has 1 − 2x + 3x².
//! let argument = [BigInt::from(5)];
//! let polynomial = vec![[1, -2, 3].map(BigInt::from).to_vec()];
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| receive(session, &key, &bound, &argument, &|_| ()),
//!     |session| send(session, key.public(), &bound, &polynomial, &|_| ()),
//! );
//! outcome.p2?;
//! assert_eq!(outcome.p1?, [BigInt::from(66)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Duration;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Zero};
use rayon::prelude::*;

use crate::Error;
use crate::crypto::paillier::{self, Ciphertext, Fresh, Progress, PublicKey, Returned, SecretKey};
use crate::net::{Limits, Tag};
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::role::Role;

#[cfg(test)]
mod tests;

/// The time that a slow machine may take for one power, with a margin.
const SLOWEST_POWER_MS: u64 = 500;
/// The most by which the usual time limit is extended.
const LONGEST_WORK: Duration = Duration::from_secs(3600);
const POWERS: Tag = Tag::new(*b"ope1");
const RESULTS: Tag = Tag::new(*b"ope2");

/// Bytes of ciphertexts per message, at most (or one evaluation's, if that is more).
const CHUNK_BYTES: usize = 512 << 10;

/// The largest degree and the largest number of evaluations at once.
pub const MOST_DEGREE: usize = 1 << 10;
/// See [`MOST_DEGREE`].
pub const MOST_EVALUATIONS: usize = 1 << 20;

/// The proof, from public numbers, that no result wraps around n, and how long coefficients are.
/// Both parties build the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWrap {
    modulus: BigUint,
    /// |α| is at most this, if that is part of the proof.
    argument: Option<BigUint>,
    /// |aᵢ| < 2^bᵢ, lowest coefficient first.
    coefficient_bits: Vec<u64>,
    /// |Q(α)| is at most this.
    largest: BigUint,
}

impl NoWrap {
    /// From bounds on what goes in: |α| ≤ `argument` and |aᵢ| ≤ `coefficients[i]`, lowest first, so
    /// |Q(α)| ≤ Σ of coefficient i times argumentⁱ. One bound per coefficient, so the degree is one less.
    ///
    /// # Errors
    /// Unless twice that is below n; for too high a degree.
    pub fn from_inputs(
        key: &PublicKey,
        argument: &BigUint,
        coefficients: &[BigUint],
    ) -> Result<Self, Error> {
        let largest = coefficients.iter().rev().fold(BigUint::zero(), |sum, c| sum * argument + c);
        let bits: Vec<u64> = coefficients.iter().map(BigUint::bits).collect();
        let proof = Self::from_result(key, &bits, &largest)?;
        Ok(Self { argument: Some(argument.clone()), ..proof })
    }

    /// From a bound on the result that the caller has proved otherwise: |Q(α)| ≤ `largest` for every
    /// polynomial and argument that can occur. Coefficients are below 2^bits; those that may be as
    /// long as n are taken modulo n.
    ///
    /// # Errors
    /// As [`NoWrap::from_inputs`].
    pub fn from_result(
        key: &PublicKey,
        coefficient_bits: &[u64],
        largest: &BigUint,
    ) -> Result<Self, Error> {
        let degree = coefficient_bits.len().saturating_sub(1);
        check_count("as degree", degree, MOST_DEGREE)?;
        if largest * 2u8 >= *key.modulus() {
            return Err(Error::input(format!(
                "a result of {} bits and its sign do not fit a key of {} bits: use a longer key, a \
                 lower degree or smaller numbers",
                largest.bits(),
                key.bits()
            )));
        }
        Ok(Self {
            modulus: key.modulus().clone(),
            argument: None,
            coefficient_bits: coefficient_bits.to_vec(),
            largest: largest.clone(),
        })
    }

    /// The degree w of the polynomials.
    pub fn degree(&self) -> usize {
        self.coefficient_bits.len().saturating_sub(1)
    }

    /// bᵢ, unless the coefficient is taken modulo n.
    fn offset_bits(&self, i: usize) -> Option<u64> {
        self.coefficient_bits.get(i).copied().filter(|bits| bits + 1 < self.modulus.bits())
    }

    /// The exponent for coefficient i, not negative, and how many bits it may have.
    fn exponent(&self, i: usize, coefficient: &BigInt) -> Option<(BigUint, usize)> {
        let Some(bits) = self.offset_bits(i) else {
            let reduced = coefficient.mod_floor(&self.modulus.clone().into()).to_biguint();
            return reduced.map(|reduced| (reduced, self.modulus.bits() as usize));
        };
        let shifted = coefficient + (BigInt::one() << bits);
        let fits = coefficient.bits() <= bits;
        shifted.to_biguint().filter(|_| fits).map(|shifted| (shifted, bits as usize + 1))
    }

    /// What the receiver subtracts: Σ 2^bᵢ·αⁱ, over all i ≥ 1 with an offset, modulo n.
    fn offset(&self, powers: &[BigUint]) -> BigUint {
        let terms = powers.iter().enumerate();
        let term = |(i, power): (usize, &BigUint)| match self.offset_bits(i + 1) {
            Some(bits) => power << bits,
            None => BigUint::zero(),
        };
        terms.map(term).sum::<BigUint>() % &self.modulus
    }

    fn check_key(&self, key: &PublicKey) -> Result<(), Error> {
        if *key.modulus() == self.modulus { Ok(()) } else { Err(other_bound("key")) }
    }
}

/// What a run computes: Q(α) over the integers, for coefficients from the lowest on.
pub fn ideal(coefficients: &[BigInt], argument: &BigInt) -> BigInt {
    coefficients.iter().rev().fold(BigInt::zero(), |sum, c| sum * argument + c)
}

/// The receiver's side: Q(α) for every argument. Progress counts encryptions and decryptions.
///
/// # Errors
/// See [`Error`].
pub fn receive(
    session: &mut Session,
    key: &SecretKey,
    bound: &NoWrap,
    arguments: &[BigInt],
    progress: Progress,
) -> Result<Vec<BigInt>, Error> {
    bound.check_key(key.public())?;
    check_count("evaluations", arguments.len(), MOST_EVALUATIONS)?;
    if let Some(largest) = &bound.argument {
        let beyond = arguments.iter().position(|argument| argument.magnitude() > largest);
        if let Some(evaluation) = beyond {
            return Err(beyond_bound(evaluation, "the argument"));
        }
    }
    let powers: Vec<Vec<BigUint>> = arguments.par_iter().map(|a| powers_of(a, bound)).collect();
    let mut body = Vec::new();
    for chunk in powers.chunks(evaluations_per_chunk(key.public(), bound)) {
        let fresh = key.encrypt_all(&chunk.concat(), &mut session.rng, progress)?;
        write(&fresh, Fresh::write, &mut body);
        session.channel.send_bytes(POWERS, &body)?;
    }
    let mut results = Vec::with_capacity(arguments.len());
    // All results are sent together, so the first arrives after the work on all: a public number.
    let usual = *session.channel.limits();
    let work = SLOWEST_POWER_MS.saturating_mul(powers.iter().map(|p| p.len() as u64).sum());
    let work = Duration::from_millis(work).min(LONGEST_WORK);
    session.channel.set_limits(Limits { read: usual.read + work, ..usual });
    for chunk in powers.chunks(evaluations_per_chunk(key.public(), bound)) {
        let due = chunk.len() * key.public().ciphertext_bytes();
        session.channel.receive_bytes_into(RESULTS, due, &mut body)?;
        session.channel.set_limits(usual);
        let returned = key.read(&body, chunk.len())?;
        for (plaintext, powers) in key.decrypt_all(&returned, progress).iter().zip(chunk) {
            results.push(decode(key.public(), bound, plaintext, powers, results.len())?);
        }
    }
    Ok(results)
}

/// The sender's side: polynomial j is evaluated at the receiver's argument j. Coefficients come from
/// the lowest on. Progress counts powers and re-randomisations.
///
/// # Errors
/// See [`Error`].
pub fn send(
    session: &mut Session,
    key: &PublicKey,
    bound: &NoWrap,
    polynomials: &[Vec<BigInt>],
    progress: Progress,
) -> Result<(), Error> {
    bound.check_key(key)?;
    check_count("evaluations", polynomials.len(), MOST_EVALUATIONS)?;
    let chunk = evaluations_per_chunk(key, bound);
    let mut body = Vec::new();
    let mut returned = Vec::with_capacity(polynomials.len());
    for (number, polynomials) in polynomials.chunks(chunk).enumerate() {
        let count = polynomials.len() * bound.degree();
        session.channel.receive_bytes_into(POWERS, count * key.ciphertext_bytes(), &mut body)?;
        let powers = key.read(&body, count)?;
        let combined = combine(key, bound, &powers, polynomials, number * chunk, progress)?;
        returned.extend(key.rerandomise_all(&combined, &mut session.rng, progress)?);
    }
    // Together, when all of them are done.
    for chunk in returned.chunks(chunk) {
        write(chunk, Returned::write, &mut body);
        session.channel.send_bytes(RESULTS, &body)?;
    }
    Ok(())
}

/// The messages of `count` evaluations under a key of `key_bits` bits that `receiver` owns. The
/// bound's coefficients have the bits in `coefficient_bits`, lowest first.
pub fn forecast(
    f: &mut Forecast,
    receiver: Role,
    key_bits: usize,
    coefficient_bits: &[u64],
    count: usize,
) {
    let degree = coefficient_bits.len().saturating_sub(1);
    let width = paillier::ciphertext_bytes(key_bits);
    let chunk = per_chunk(width, degree);
    let parts = || (0..count).step_by(chunk).map(|first| chunk.min(count - first));
    parts().for_each(|part| f.message(receiver, POWERS, part * degree * width));
    parts().for_each(|part| f.message(receiver.peer(), RESULTS, part * width));
    if f.role() == receiver {
        f.work(Work::Encrypt, count * degree);
        f.work(Work::Decrypt, count);
    } else {
        let longest = key_bits as u64;
        let bits: u64 = coefficient_bits.iter().skip(1).map(|bits| (bits + 1).min(longest)).sum();
        f.work(Work::PowerBit, count * bits as usize);
        f.work(Work::Rerandomise, count);
    }
}

/// α, α², …, α^w modulo n.
pub(crate) fn powers_of(argument: &BigInt, bound: &NoWrap) -> Vec<BigUint> {
    let modulus = &bound.modulus;
    let base = argument.mod_floor(&modulus.clone().into()).to_biguint().unwrap_or_default();
    let next = |power: &BigUint| Some(power * &base % modulus);
    std::iter::successors(Some(base.clone()), next).take(bound.degree()).collect()
}

/// Encryptions of Q(α) plus the offset that the receiver knows, not yet re-randomised for sending.
/// The first of these polynomials is that of evaluation number `first`.
pub(crate) fn combine(
    key: &PublicKey,
    bound: &NoWrap,
    powers: &[Ciphertext],
    polynomials: &[Vec<BigInt>],
    first: usize,
    progress: Progress,
) -> Result<Vec<Ciphertext>, Error> {
    let (mut factors, mut bits) = (Vec::new(), Vec::new());
    let mut constants = Vec::with_capacity(polynomials.len());
    let modulus = BigInt::from(bound.modulus.clone());
    for (evaluation, polynomial) in polynomials.iter().enumerate() {
        if polynomial.len() != bound.coefficient_bits.len() {
            return Err(other_bound("degree"));
        }
        let beyond = || beyond_bound(first + evaluation, "a coefficient");
        let constant = polynomial.first().cloned().unwrap_or_default();
        if bound.offset_bits(0).is_some_and(|bits| constant.bits() > bits) {
            return Err(beyond());
        }
        constants.push(constant.mod_floor(&modulus).to_biguint().unwrap_or_default());
        let mut all = polynomial.iter().enumerate().skip(1).map(|(i, c)| bound.exponent(i, c));
        let exponents = all.by_ref().collect::<Option<Vec<_>>>().ok_or_else(beyond)?;
        for (factor, length) in exponents {
            factors.push(factor);
            bits.push(length);
        }
    }
    // Neighbours with exponents of one length share the vector's lanes: by power, then evaluation.
    let degree = bound.degree();
    let order: Vec<usize> = (0..degree)
        .flat_map(|i| (0..polynomials.len()).map(move |evaluation| evaluation * degree + i))
        .collect();
    let items: Vec<Ciphertext> = order.iter().map(|place| powers[*place].clone()).collect();
    let exponents: Vec<BigUint> = order.iter().map(|place| factors[*place].clone()).collect();
    let lengths: Vec<usize> = order.iter().map(|place| bits[*place]).collect();
    let products = key.mul_plain_all(&items, &exponents, &lengths, progress)?;
    let total = |(evaluation, constant): (usize, &BigUint)| {
        let terms = (0..degree).map(|i| &products[i * polynomials.len() + evaluation]);
        let sum = key.sum(&terms.collect::<Vec<_>>());
        Ok(key.add_plain(&sum, constant)?)
    };
    constants.par_iter().enumerate().map(total).collect()
}

/// The result of one evaluation from what was decrypted.
pub(crate) fn decode(
    key: &PublicKey,
    bound: &NoWrap,
    plaintext: &BigUint,
    powers: &[BigUint],
    evaluation: usize,
) -> Result<BigInt, Error> {
    let modulus = &bound.modulus;
    let result = (plaintext + modulus - bound.offset(powers)) % modulus;
    let result = key.decode_signed(&result)?;
    if result.magnitude() > &bound.largest {
        return Err(Error::peer(format!(
            "evaluation {evaluation}: the result is beyond its bound; the run was aborted"
        )));
    }
    Ok(result)
}

fn evaluations_per_chunk(key: &PublicKey, bound: &NoWrap) -> usize {
    per_chunk(key.ciphertext_bytes(), bound.degree())
}

fn per_chunk(ciphertext_bytes: usize, degree: usize) -> usize {
    (CHUNK_BYTES / (degree.max(1) * ciphertext_bytes)).max(1)
}

fn write<T>(items: &[T], one: impl Fn(&T, &mut Vec<u8>), body: &mut Vec<u8>) {
    body.clear();
    items.iter().for_each(|item| one(item, body));
}

fn check_count(what: &'static str, found: usize, limit: usize) -> Result<(), Error> {
    if found <= limit {
        return Ok(());
    }
    Err(Error::input(format!("{found} {what}: at most {limit} are possible")))
}

/// An input is beyond the bound that both parties rely on.
fn beyond_bound(evaluation: usize, what: &str) -> Error {
    Error::input(format!("evaluation {evaluation}: {what} is beyond its declared bound"))
}

/// The key is not that of the bound, or a polynomial does not have one coefficient per bound.
fn other_bound(what: &str) -> Error {
    Error::input(format!(
        "the {what} is not the one that the bound was built for; build both from the same"
    ))
}
