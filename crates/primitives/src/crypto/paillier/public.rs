//! Operations with the public key alone.

use std::fmt;
use std::sync::{Arc, OnceLock};

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::One;
use rayon::prelude::*;

use super::{Ciphertext, Progress, Randomiser, Returned, Tuning};
use super::{MAXIMUM_BITS, MINIMUM_BITS};
use crate::Error;
use crate::math::limbs::{self, Limbs};
use crate::math::power::{BATCH, PowerModulus, PowerTable, TABLE_BATCH};
use crate::math::{Modulus, Randomness, Residue, modular, prime};

/// A public key, checked and prepared. Copies are cheap and share their tables.
#[derive(Clone)]
pub struct PublicKey(Arc<Inner>);

struct Inner {
    n: BigUint,
    h: BigUint,
    bits: usize,
    tuning: Tuning,
    power: PowerModulus,
    n_squared: Limbs,
    table: OnceLock<PowerTable>,
}

impl PublicKey {
    /// A key from its bytes, n and h_n at fixed width, after every check that can be made
    /// without its factors. Takes about a tenth of a second.
    ///
    /// # Errors
    /// A variant of [`Error`] for each way in which the key can be bad.
    pub fn from_bytes(
        bytes: &[u8],
        bits: usize,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        check_length(bits)?;
        Self::from_bytes_of_any_length(bytes, bits, tuning, rng)
    }

    /// As [`PublicKey::from_bytes`], for keys too short to protect anything.
    ///
    /// # Errors
    /// As [`PublicKey::from_bytes`].
    #[cfg(any(test, feature = "testing"))]
    pub fn from_bytes_for_tests(
        bytes: &[u8],
        bits: usize,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        Self::from_bytes_of_any_length(bytes, bits, tuning, rng)
    }

    /// As [`PublicKey::from_bytes`]; the caller has accepted the length.
    #[doc(hidden)]
    pub fn from_bytes_of_any_length(
        bytes: &[u8],
        bits: usize,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        let expected = 3 * bits / 8;
        if bytes.len() != expected {
            return Err(Error::WrongLength { found: bytes.len(), expected });
        }
        let (n, h) = bytes.split_at(bits / 8);
        Self::from_parts(BigUint::from_bytes_be(n), BigUint::from_bytes_be(h), bits, tuning, rng)
    }

    /// Every check of a received key.
    pub(crate) fn from_parts(
        n: BigUint,
        h: BigUint,
        bits: usize,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        if n.bits() != bits as u64 {
            return Err(Error::ModulusLength { found: n.bits(), expected: bits });
        }
        if n.is_even() {
            return Err(Error::EvenModulus);
        }
        if let Some(factor) = prime::small_factor_vartime(&n) {
            return Err(Error::SmallFactor(factor));
        }
        if modular::is_perfect_power_vartime(&n) {
            return Err(Error::PerfectPower);
        }
        if prime::is_prime_vartime(&n, rng) {
            return Err(Error::PrimeModulus);
        }
        Self::from_checked_modulus(n, h, bits, tuning)
    }

    /// For a modulus that is known to be good: the owner's own.
    pub(super) fn from_checked_modulus(
        n: BigUint,
        h: BigUint,
        bits: usize,
        tuning: Tuning,
    ) -> Result<Self, Error> {
        let n_squared = &n * &n;
        modular::check_range(&h, 2, &(&n_squared - 1u8)).map_err(|_| Error::BaseOutOfRange)?;
        if !h.gcd(&n).is_one() {
            return Err(Error::BaseNotCoprime);
        }
        let power = PowerModulus::new(&n, tuning.backend)?;
        let n_squared = limbs::from_biguint(&n_squared, bits / 32);
        Ok(Self(Arc::new(Inner { n, h, bits, tuning, power, n_squared, table: OnceLock::new() })))
    }

    /// n and h_n, big-endian, at fixed width: 3/8 of a byte per bit of n.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(super::public_key_bytes(self.0.bits));
        limbs::extend_bytes_be(&mut bytes, self.root_limbs());
        limbs::extend_bytes_be(&mut bytes, &limbs::from_biguint(&self.0.h, self.0.bits / 32));
        bytes
    }

    /// The modulus n.
    pub fn modulus(&self) -> &BigUint {
        &self.0.n
    }

    /// The base h_n whose powers are the randomness of ciphertexts.
    pub fn base(&self) -> &BigUint {
        &self.0.h
    }

    /// The length of n.
    pub fn bits(&self) -> usize {
        self.0.bits
    }

    /// The fixed width of a ciphertext.
    pub fn ciphertext_bytes(&self) -> usize {
        super::ciphertext_bytes(self.0.bits)
    }

    /// `count` ciphertexts from the key's owner: each in range and all coprime to n.
    ///
    /// # Errors
    /// [`Error::WrongLength`], [`Error::CiphertextOutOfRange`], [`Error::CiphertextNotCoprime`].
    pub fn read(&self, bytes: &[u8], count: usize) -> Result<Vec<Ciphertext>, Error> {
        let numbers = self.read_numbers(bytes, count)?;
        Ok(numbers.par_iter().map(|c| Ciphertext(self.square().enter_limbs(c))).collect())
    }

    pub(super) fn read_numbers(&self, bytes: &[u8], count: usize) -> Result<Vec<Limbs>, Error> {
        let width = self.ciphertext_bytes();
        if count.checked_mul(width) != Some(bytes.len()) {
            let expected = count.saturating_mul(width);
            return Err(Error::WrongLength { found: bytes.len(), expected });
        }
        let numbers: Vec<Limbs> = bytes.par_chunks_exact(width).map(limbs::from_bytes_be).collect();
        let in_range = |c: &Limbs| {
            let mut difference = c.clone();
            c.iter().any(|limb| *limb != 0)
                && limbs::sub_assign(&mut difference, &self.0.n_squared) == 1
        };
        if let Some(bad) = numbers.par_iter().position_first(|c| !in_range(c)) {
            return Err(Error::CiphertextOutOfRange(bad));
        }
        // The product contains powers of R; they are coprime to n and do not matter.
        let one = || limbs::from_biguint(&BigUint::one(), self.root_limbs().len());
        let multiply = |a: Limbs, b: Limbs| {
            let mut out = one();
            self.root().multiply(&mut out, &a, &b, &mut limbs::zeros(3 * a.len()));
            out
        };
        let product = numbers.par_iter().map(|c| self.root().reduce_wide(c)).reduce(one, multiply);
        if !limbs::to_biguint(&product).gcd(&self.0.n).is_one() {
            return Err(Error::CiphertextNotCoprime);
        }
        Ok(numbers)
    }

    /// Encrypts with uniform r: this may go to the key's owner. One power to n; in bulk
    /// [`PublicKey::encrypt_all`] is quicker.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn encrypt(&self, plaintext: &BigUint, rng: &mut Randomness) -> Result<Returned, Error> {
        let encoded = self.encode(plaintext, 0)?;
        let randomiser = self.randomiser(rng)?;
        Ok(self.rerandomise(&encoded, randomiser))
    }

    /// Encrypts all with uniform r, on all cores.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn encrypt_all(
        &self,
        plaintexts: &[BigUint],
        rng: &mut Randomness,
        progress: Progress,
    ) -> Result<Vec<Returned>, Error> {
        let encode = |(i, plaintext)| self.encode(plaintext, i);
        let encoded: Vec<_> =
            plaintexts.par_iter().enumerate().map(encode).collect::<Result<_, _>>()?;
        self.rerandomise_all(&encoded, rng, progress)
    }

    /// Encrypts all with ρ = h_n^a, on all cores: quick, and only to compute with. The result must
    /// be re-randomised before it can go anywhere.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn encrypt_djn(
        &self,
        plaintexts: &[BigUint],
        rng: &mut Randomness,
        progress: Progress,
    ) -> Result<Vec<Ciphertext>, Error> {
        let batch = |mut batch: Batch<'_, BigUint>| {
            let exponents = batch.draw(|rng| self.exponent(rng));
            let residues = self.table().pow_all(&exponents);
            let encrypted = batch.numbered().zip(&residues).map(|((i, m), residue)| {
                let randomness = self.square().enter_limbs(residue);
                Ok(Ciphertext(self.square().product(&self.encode(m, i)?.0, &randomness)))
            });
            let encrypted = encrypted.collect::<Result<Vec<_>, Error>>()?;
            progress(encrypted.len());
            Ok(encrypted)
        };
        in_batches(plaintexts, TABLE_BATCH, rng, batch)
    }

    /// An encryption of the sum a + b.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        Ciphertext(self.square().product(&a.0, &b.0))
    }

    /// a + m.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn add_plain(&self, a: &Ciphertext, plaintext: &BigUint) -> Result<Ciphertext, Error> {
        Ok(self.add(a, &self.encode(plaintext, 0)?))
    }

    /// The sum of all, on all cores: one multiplication each. The sum of none is 0.
    pub fn sum(&self, items: &[&Ciphertext]) -> Ciphertext {
        let one = || self.square().one();
        let sum_of = |chunk: &[&Ciphertext]| {
            let mut scratch = self.square().scratch();
            chunk.iter().fold(one(), |mut total, item| {
                self.square().multiply_by(&mut total, &item.0, &mut scratch);
                total
            })
        };
        let sums = items.par_chunks(64).map(sum_of);
        Ciphertext(sums.reduce(one, |a, b| self.square().product(&a, &b)))
    }

    /// a·m for a secret m of up to `bits` bits, in a number of multiplications
    /// that depends on `bits` alone.
    ///
    /// # Errors
    /// [`Error::ExponentTooLong`] if m is longer than declared.
    pub fn mul_plain(&self, a: &Ciphertext, m: &BigUint, bits: usize) -> Result<Ciphertext, Error> {
        Ok(Ciphertext(self.square().pow(&a.0, m, bits)?))
    }

    /// a·m for all, each m secret and of up to its own number of bits, on all cores and eight at
    /// once. Costs as [`PublicKey::mul_plain`] with the most bits among eight neighbours.
    ///
    /// # Errors
    /// [`Error::Mismatch`]; [`Error::ExponentTooLong`].
    pub fn mul_plain_all(
        &self,
        items: &[Ciphertext],
        factors: &[BigUint],
        bits: &[usize],
        progress: Progress,
    ) -> Result<Vec<Ciphertext>, Error> {
        for list in [factors.len(), bits.len()] {
            if list != items.len() {
                return Err(Error::Mismatch(items.len(), list));
            }
        }
        let multiply = |((items, factors), bits): ((&[Ciphertext], &[BigUint]), &[usize])| {
            let most = bits.iter().copied().max().unwrap_or(0);
            for (factor, bits) in factors.iter().zip(bits) {
                crate::math::montgomery::check_length(factor, *bits)?;
            }
            let limb = |factor| limbs::from_biguint(factor, most.div_ceil(64).max(1));
            let exponents: Vec<Limbs> = factors.iter().map(limb).collect();
            let bases: Vec<&Residue> = items.iter().map(|item| &item.0).collect();
            let powers = self.0.power.pow_each(&bases, &exponents, most);
            progress(powers.len());
            Ok(powers.into_iter().map(Ciphertext).collect())
        };
        let batches = items.par_chunks(BATCH).zip(factors.par_chunks(BATCH));
        let done: Vec<Vec<Ciphertext>> =
            batches.zip(bits.par_chunks(BATCH)).map(multiply).collect::<Result<_, Error>>()?;
        Ok(done.into_iter().flatten().collect())
    }

    /// a·m for a secret m of either sign, |m| of up to `bits` bits. Also takes an inverse, whose
    /// time depends on the ciphertext and not on m.
    ///
    /// # Errors
    /// As [`PublicKey::mul_plain`].
    pub fn mul_plain_signed(
        &self,
        a: &Ciphertext,
        m: &BigInt,
        bits: usize,
    ) -> Result<Ciphertext, Error> {
        let mask = limbs::mask(u64::from(m.sign() == Sign::Minus));
        let mut base = self.negate(a)?.0;
        for (inverse, x) in base.0.iter_mut().zip(a.0.0.iter()) {
            *inverse = (*inverse & mask) | (x & !mask);
        }
        Ok(Ciphertext(self.square().pow(&base, m.magnitude(), bits)?))
    }

    /// −a. Its time depends on the ciphertext: use it on what came from the peer as it is, not on
    /// what was combined by a secret.
    ///
    /// # Errors
    /// [`Error::NotInvertible`], which no ciphertext that was read gives.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(Ciphertext(self.square().invert_vartime(&a.0)?))
    }

    /// Makes a ciphertext that may go to the key's owner: it reveals nothing but its plaintext.
    pub fn rerandomise(&self, a: &Ciphertext, randomiser: Randomiser) -> Returned {
        Returned(self.square().leave_limbs(&self.square().product(&a.0, &randomiser.0)))
    }

    /// [`PublicKey::rerandomise`] for all, each with a randomiser of its own, on all cores.
    ///
    /// # Errors
    /// None in practice.
    pub fn rerandomise_all(
        &self,
        items: &[Ciphertext],
        rng: &mut Randomness,
        progress: Progress,
    ) -> Result<Vec<Returned>, Error> {
        let batch = |mut batch: Batch<'_, Ciphertext>| {
            let randomisers = self.randomisers_from(&batch.draw(|rng| self.nonce(rng)));
            let returned = batch.items.iter().zip(randomisers);
            let returned: Vec<_> = returned.map(|(c, r)| self.rerandomise(c, r)).collect();
            progress(returned.len());
            Ok(returned)
        };
        in_batches(items, BATCH, rng, batch)
    }

    /// A randomiser: r^n with uniform r.
    ///
    /// # Errors
    /// None in practice.
    pub fn randomiser(&self, rng: &mut Randomness) -> Result<Randomiser, Error> {
        let nonce = self.nonce(rng);
        self.randomisers_from(&[nonce]).pop().ok_or(Error::RandomnessOutOfRange)
    }

    /// As many randomisers as are fastest to make together.
    pub(super) fn randomiser_batch(&self, rng: &mut Randomness) -> Vec<Randomiser> {
        let nonces: Vec<Limbs> = (0..BATCH).map(|_| self.nonce(rng)).collect();
        self.randomisers_from(&nonces)
    }

    fn randomisers_from(&self, nonces: &[Limbs]) -> Vec<Randomiser> {
        let powers = self.0.power.pow_all_vartime(nonces, &self.0.n);
        powers.iter().map(|power| Randomiser(self.square().enter_limbs(power))).collect()
    }

    /// Uniform below n, in as many limbs as n². Whether it is coprime to n is not checked: a number
    /// that is not would be a factor of n found by chance.
    fn nonce(&self, rng: &mut Randomness) -> Limbs {
        let mut nonce = limbs::zeros(self.0.n_squared.len());
        let drawn = modular::random_limbs_below(self.root_limbs(), self.0.bits as u64, rng);
        nonce[..drawn.len()].copy_from_slice(&drawn);
        nonce
    }

    /// Uniform with half as many bits as n: an exponent for h_n.
    pub(super) fn exponent(&self, rng: &mut Randomness) -> Limbs {
        modular::random_limbs(self.0.bits / 2, self.0.bits / 128, rng)
    }

    /// For vectors: encrypts with a given r.
    #[cfg(feature = "audit")]
    pub(crate) fn encrypt_with_nonce(&self, m: &BigUint, r: &BigUint) -> Result<Returned, Error> {
        self.rerandomise_with_nonce(&self.encode(m, 0)?, r)
    }

    /// For vectors: re-randomises with a given r, which must be used once.
    ///
    /// # Errors
    /// [`Error::RandomnessOutOfRange`].
    #[cfg(feature = "audit")]
    pub fn rerandomise_with_nonce(&self, a: &Ciphertext, r: &BigUint) -> Result<Returned, Error> {
        self.check_nonce(r)?;
        let nonce = limbs::from_biguint(r, self.0.n_squared.len());
        let mut randomisers = self.randomisers_from(&[nonce]);
        let randomiser = randomisers.pop().ok_or(Error::RandomnessOutOfRange)?;
        Ok(self.rerandomise(a, randomiser))
    }

    /// For vectors: encrypts with a given exponent of h_n.
    #[cfg(feature = "audit")]
    pub(crate) fn encrypt_with_exponent(&self, m: &BigUint, a: &BigUint) -> Result<BigUint, Error> {
        let exponent = self.check_exponent(a)?;
        let power = self.square().enter(&self.0.h)?;
        let power = self.square().pow_limbs(&power, &exponent, self.0.bits / 2);
        Ok(self.number(&Ciphertext(self.square().product(&self.encode(m, 0)?.0, &power))))
    }

    /// For vectors and tests: the number behind a ciphertext.
    #[cfg(feature = "audit")]
    pub(crate) fn number(&self, ciphertext: &Ciphertext) -> BigUint {
        self.square().leave(&ciphertext.0)
    }

    #[cfg(feature = "audit")]
    fn check_nonce(&self, r: &BigUint) -> Result<(), Error> {
        if modular::check_range(r, 1, &self.0.n).is_err() || !r.gcd(&self.0.n).is_one() {
            return Err(Error::RandomnessOutOfRange);
        }
        Ok(())
    }

    #[cfg(feature = "audit")]
    pub(super) fn check_exponent(&self, a: &BigUint) -> Result<Limbs, Error> {
        if a.bits() > self.0.bits as u64 / 2 {
            return Err(Error::RandomnessOutOfRange);
        }
        Ok(limbs::from_biguint(a, self.0.bits / 128))
    }

    /// The plaintext of a signed number: negative ones in the upper half.
    ///
    /// # Errors
    /// [`Error::SignedOutOfRange`].
    pub fn encode_signed(&self, number: &BigInt) -> Result<BigUint, Error> {
        let magnitude = number.magnitude();
        if magnitude > &(&self.0.n >> 1) {
            return Err(Error::SignedOutOfRange);
        }
        Ok(if number.sign() == Sign::Minus { &self.0.n - magnitude } else { magnitude.clone() })
    }

    /// The signed number of a plaintext.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn decode_signed(&self, plaintext: &BigUint) -> Result<BigInt, Error> {
        if plaintext >= &self.0.n {
            return Err(Error::PlaintextOutOfRange(0));
        }
        let positive = BigInt::from(plaintext.clone());
        let negative = plaintext > &(&self.0.n >> 1);
        Ok(if negative { positive - BigInt::from(self.0.n.clone()) } else { positive })
    }

    /// 1 + m·n, which encrypts m with ρ = 1.
    fn encode(&self, plaintext: &BigUint, index: usize) -> Result<Ciphertext, Error> {
        let plaintext = self.plaintext_limbs(plaintext, index)?;
        let count = plaintext.len();
        // (1 + m·n)·R as a pair: R = o₀ + o₁·n, so the upper half is o₁ + m·o₀ mod n.
        let mut pair = self.square().one();
        let shift = self.root().product(&pair.0[..count], &plaintext);
        let mut shifted = Residue(limbs::zeros(2 * count));
        shifted.0[count..].copy_from_slice(&shift);
        pair = self.square().add(&pair, &shifted);
        Ok(Ciphertext(pair))
    }

    /// (1 + m·n)·ρ for ρ below n².
    pub(super) fn shift_by_plaintext(&self, residue: &[u64], plaintext: &[u64]) -> Limbs {
        let count = self.root_limbs().len();
        let low = self.root().enter_wide(residue);
        let mut shift = limbs::zeros(count);
        self.root().multiply(&mut shift, &low, plaintext, &mut limbs::zeros(3 * count));
        let mut out = limbs::zeros(2 * count);
        out.copy_from_slice(residue);
        let carry = limbs::multiply_add(&mut out, &shift, self.root_limbs());
        limbs::subtract_if_not_below(&mut out, &self.0.n_squared, carry);
        out
    }

    pub(super) fn plaintext_limbs(
        &self,
        plaintext: &BigUint,
        index: usize,
    ) -> Result<Limbs, Error> {
        if plaintext >= &self.0.n {
            return Err(Error::PlaintextOutOfRange(index));
        }
        Ok(limbs::from_biguint(plaintext, self.root_limbs().len()))
    }

    pub(super) fn tuning(&self) -> Tuning {
        self.0.tuning
    }

    fn table(&self) -> &PowerTable {
        self.0.table.get_or_init(|| {
            let base = limbs::from_biguint(&self.0.h, self.0.n_squared.len());
            self.0.power.table(&base, self.0.bits / 2, self.0.tuning.table_bytes)
        })
    }

    pub(super) fn square(&self) -> &crate::math::SquareModulus {
        &self.0.power.square
    }

    fn root(&self) -> &Modulus {
        &self.0.power.square.root
    }

    pub(super) fn root_limbs(&self) -> &[u64] {
        &self.root().limbs
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.n == other.0.n && self.0.h == other.0.h
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} bits)", self.0.bits)
    }
}

pub(super) fn check_length(bits: usize) -> Result<(), Error> {
    if !(MINIMUM_BITS..=MAXIMUM_BITS).contains(&bits) || !bits.is_multiple_of(128) {
        return Err(Error::UnsupportedLength(bits));
    }
    Ok(())
}

/// Runs `work` on batches, on all cores, and joins the results. Every [`BATCH`] items have a
/// generator of their own, so that the result does not depend on how many cores there are.
pub(super) fn in_batches<T: Sync, U: Send>(
    items: &[T],
    largest: usize,
    rng: &mut Randomness,
    work: impl Fn(Batch<'_, T>) -> Result<Vec<U>, Error> + Send + Sync,
) -> Result<Vec<U>, Error> {
    let share = items.len().div_ceil(rayon::current_num_threads());
    let size = share.next_multiple_of(BATCH).clamp(BATCH, largest);
    let mut generators: Vec<Randomness> = items.chunks(BATCH).map(|_| rng.fork()).collect();
    let batches = items.par_chunks(size).zip(generators.par_chunks_mut(size / BATCH)).enumerate();
    let run = |(i, (items, generators))| work(Batch { first: i * size, items, generators });
    let done: Vec<Vec<U>> = batches.map(run).collect::<Result<_, _>>()?;
    Ok(done.into_iter().flatten().collect())
}

/// Some of the items of a bulk operation.
pub(super) struct Batch<'a, T> {
    first: usize,
    pub items: &'a [T],
    generators: &'a mut [Randomness],
}

impl<T> Batch<'_, T> {
    /// One random thing per item.
    pub fn draw<R>(&mut self, draw: impl Fn(&mut Randomness) -> R) -> Vec<R> {
        let generators = &mut *self.generators;
        (0..self.items.len()).map(|i| draw(&mut generators[i / BATCH])).collect()
    }

    /// The items with their places in the whole.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (self.first + i, item))
    }
}
