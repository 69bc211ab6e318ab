//! Operations of the key's owner, modulo p² and q² and combined by the Chinese remainder theorem.

use std::fmt;
use std::sync::OnceLock;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::public::{Batch, check_length, in_batches};
use super::{Fresh, Progress, PublicKey, Returned, Tuning};
use crate::Error;
use crate::math::limbs::{self, Limbs};
use crate::math::power::{BATCH, PowerModulus, PowerTable, TABLE_BATCH};
use crate::math::{Modulus, Randomness, Residue, SquareModulus, modular, prime};

/// A secret key. Wiped on drop, never printed, not copied.
pub struct SecretKey {
    public: PublicKey,
    p: Half,
    q: Half,
    /// p⁻¹ mod q, times R; p²; p⁻²·R mod q².
    p_inverse: Limbs,
    p_squared: Limbs,
    p_squared_inverse: Residue,
}

/// One prime and what is computed with it.
struct Half {
    power: PowerModulus,
    /// p − 1, and (−q)⁻¹ mod p times R: the two steps of decryption.
    order: Limbs,
    unscale: Limbs,
    table: OnceLock<PowerTable>,
}

impl SecretKey {
    /// A new key of `bits` bits. Takes seconds at 3072 bits.
    ///
    /// # Errors
    /// [`Error::UnsupportedLength`].
    pub fn generate(bits: usize, tuning: Tuning, rng: &mut Randomness) -> Result<Self, Error> {
        check_length(bits)?;
        let (p, q) = prime::prime_pair(bits, rng)?;
        Self::from_checked_primes(&p, &q, tuning, rng)
    }

    /// A new key too short to protect anything: a multiple of 128 bits, from 256 on.
    ///
    /// # Errors
    /// [`Error::UnsupportedLength`].
    #[cfg(any(test, feature = "testing"))]
    pub fn generate_for_tests(
        bits: usize,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        if !bits.is_multiple_of(128) {
            return Err(Error::UnsupportedLength(bits));
        }
        let (p, q) = prime::prime_pair(bits, rng)?;
        Self::from_checked_primes(&p, &q, tuning, rng)
    }

    /// The key of two given primes, after every check, with a new h_n.
    ///
    /// # Errors
    /// [`Error::BadPrimes`], [`Error::UnsupportedLength`].
    pub fn from_primes(
        p: &BigUint,
        q: &BigUint,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        check_primes(p, q, rng)?;
        Self::from_checked_primes(p, q, tuning, rng)
    }

    /// The key from [`SecretKey::to_bytes`], after every check.
    ///
    /// # Errors
    /// [`Error::WrongLength`], [`Error::BadPrimes`], and those of a received public key.
    pub fn from_bytes(
        bytes: &[u8],
        bits: usize,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        check_length(bits)?;
        let expected = 3 * bits / 8;
        if bytes.len() != expected {
            return Err(Error::WrongLength { found: bytes.len(), expected });
        }
        let p = BigUint::from_bytes_be(&bytes[..bits / 16]);
        let q = BigUint::from_bytes_be(&bytes[bits / 16..bits / 8]);
        check_primes(&p, &q, rng)?;
        if (&p * &q).bits() != bits as u64 {
            return Err(Error::BadPrimes("their product has another length"));
        }
        Self::assemble(&p, &q, BigUint::from_bytes_be(&bytes[bits / 8..]), tuning)
    }

    /// p, q and h_n at fixed width, big-endian.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(3 * self.public.bits() / 8));
        limbs::extend_bytes_be(&mut bytes, &self.p.root().limbs);
        limbs::extend_bytes_be(&mut bytes, &self.q.root().limbs);
        bytes.extend_from_slice(&self.public.to_bytes()[self.public.bits() / 8..]);
        bytes
    }

    /// A key from primes that were checked, or that a vector gives.
    pub(crate) fn assemble(
        p: &BigUint,
        q: &BigUint,
        h: BigUint,
        tuning: Tuning,
    ) -> Result<Self, Error> {
        let n = p * q;
        let bits = n.bits() as usize;
        if p.bits() != q.bits() || !bits.is_multiple_of(128) || p == q {
            return Err(Error::BadPrimes("they must be distinct and of equal length"));
        }
        let public = PublicKey::from_checked_modulus(n, h, bits, tuning)?;
        let (half_p, half_q) = (Half::new(p, q, tuning)?, Half::new(q, p, tuning)?);
        let inverse = modular::invert_vartime(&(p % q), q)?;
        let p_inverse = half_q.root().enter(&limbs::from_biguint(&inverse, bits / 128));
        let p_squared = p * p;
        let inverse = modular::invert_vartime(&p_squared, &(q * q))?;
        let scaled = (inverse << (bits / 2)) % (q * q);
        let p_squared_inverse = half_q.square().enter(&scaled)?;
        let p_squared = limbs::from_biguint(&p_squared, bits / 64);
        Ok(Self { public, p: half_p, q: half_q, p_inverse, p_squared, p_squared_inverse })
    }

    fn from_checked_primes(
        p: &BigUint,
        q: &BigUint,
        tuning: Tuning,
        rng: &mut Randomness,
    ) -> Result<Self, Error> {
        let n = p * q;
        let n_squared = &n * &n;
        let x = modular::random_coprime(&n, rng)?;
        let square = SquareModulus::new(&n)?;
        let minus_x_squared = square.enter(&(&n_squared - &x * &x % &n_squared))?;
        let h = square.leave(&square.pow_vartime(&minus_x_squared, &n));
        Self::assemble(p, q, h, tuning)
    }

    /// The public part.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Encrypts one plaintext for a party without the key; see [`SecretKey::encrypt_all`].
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn encrypt(&self, plaintext: &BigUint, rng: &mut Randomness) -> Result<Fresh, Error> {
        let done = self.encrypt_all(std::slice::from_ref(plaintext), rng, &|_| ())?;
        done.into_iter().next().ok_or(Error::PlaintextOutOfRange(0))
    }

    /// Encrypts all for a party without the key, with ρ = h_n^a, on all cores. The first use makes
    /// two tables of powers. One encryption then costs one multiplication modulo p² and one
    /// modulo q² per window of the exponent.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`].
    pub fn encrypt_all(
        &self,
        plaintexts: &[BigUint],
        rng: &mut Randomness,
        progress: Progress,
    ) -> Result<Vec<Fresh>, Error> {
        self.prepare();
        let batch = |mut batch: Batch<'_, BigUint>| {
            let encoded = batch.numbered().map(|(i, m)| self.public.plaintext_limbs(m, i));
            let encoded = encoded.collect::<Result<Vec<Limbs>, Error>>()?;
            let exponents = batch.draw(|rng| self.public.exponent(rng));
            let fresh = self.encrypt_batch(&encoded, &exponents);
            progress(fresh.len());
            Ok(fresh)
        };
        in_batches(plaintexts, TABLE_BATCH, rng, batch)
    }

    /// Makes the tables for encryption now rather than at the first use.
    pub fn prepare(&self) {
        rayon::join(|| self.p.table(&self.public), || self.q.table(&self.public));
    }

    fn encrypt_batch(&self, plaintexts: &[Limbs], exponents: &[Limbs]) -> Vec<Fresh> {
        let modulo_p = self.p.table(&self.public).pow_all(exponents);
        let modulo_q = self.q.table(&self.public).pow_all(exponents);
        let residues = modulo_p.iter().zip(&modulo_q).map(|(p, q)| self.combine_squares(p, q));
        let fresh = residues.zip(plaintexts).map(|(r, m)| self.public.shift_by_plaintext(&r, m));
        fresh.map(Fresh).collect()
    }

    /// For vectors: encrypts with a given exponent of h_n, which must be used once.
    ///
    /// # Errors
    /// [`Error::PlaintextOutOfRange`], [`Error::RandomnessOutOfRange`].
    #[cfg(feature = "audit")]
    pub fn encrypt_with_exponent(&self, m: &BigUint, a: &BigUint) -> Result<Fresh, Error> {
        let m = self.public.plaintext_limbs(m, 0)?;
        let exponent = self.public.check_exponent(a)?;
        self.encrypt_batch(&[m], &[exponent]).pop().ok_or(Error::RandomnessOutOfRange)
    }

    /// `count` ciphertexts that came back: each in range and all coprime to n.
    ///
    /// # Errors
    /// [`Error::WrongLength`], [`Error::CiphertextOutOfRange`], [`Error::CiphertextNotCoprime`].
    pub fn read(&self, bytes: &[u8], count: usize) -> Result<Vec<Returned>, Error> {
        Ok(self.public.read_numbers(bytes, count)?.into_iter().map(Returned).collect())
    }

    /// Decrypts one. It cannot fail: whatever was read is an encryption of something.
    pub fn decrypt(&self, ciphertext: &Returned) -> BigUint {
        self.decrypt_batch(std::slice::from_ref(ciphertext)).pop().unwrap_or_default()
    }

    /// Decrypts all, on all cores.
    pub fn decrypt_all(&self, ciphertexts: &[Returned], progress: Progress) -> Vec<BigUint> {
        let batch = |batch: &[Returned]| {
            let plaintexts = self.decrypt_batch(batch);
            progress(plaintexts.len());
            plaintexts
        };
        ciphertexts.par_chunks(BATCH).flat_map_iter(batch).collect()
    }

    fn decrypt_batch(&self, ciphertexts: &[Returned]) -> Vec<BigUint> {
        let modulo_p = self.p.decrypt(ciphertexts);
        let modulo_q = self.q.decrypt(ciphertexts);
        let combine = |(p, q): (&Limbs, &Limbs)| limbs::to_biguint(&self.combine(p, q));
        modulo_p.iter().zip(&modulo_q).map(combine).collect()
    }

    /// The number below n with these remainders modulo p and q: `x + p·((y − x)·p⁻¹ mod q)`.
    fn combine(&self, x: &[u64], y: &[u64]) -> Limbs {
        let q = self.q.root();
        let mut x_mod_q = Zeroizing::new(x.to_vec());
        // Both primes fill their limbs, so p < 2q.
        limbs::subtract_if_not_below(&mut x_mod_q, &q.limbs, 0);
        let difference = q.subtract(y, &x_mod_q);
        let mut factor = limbs::zeros(x.len());
        q.multiply(&mut factor, &difference, &self.p_inverse, &mut limbs::zeros(3 * x.len()));
        let mut out = limbs::zeros(2 * x.len());
        limbs::multiply(&mut out, &factor, &self.p.root().limbs);
        limbs::add_assign(&mut out, x);
        out
    }

    /// The number below n² with these remainders modulo p² and q².
    fn combine_squares(&self, x: &[u64], y: &[u64]) -> Limbs {
        let q = self.q.square();
        let factor = q.scaled_difference(y, x, &self.p_squared_inverse);
        let mut out = limbs::zeros(2 * x.len());
        limbs::multiply(&mut out, &factor, &self.p_squared);
        limbs::add_assign(&mut out, x);
        out
    }
}

impl Half {
    fn new(prime: &BigUint, other: &BigUint, tuning: Tuning) -> Result<Self, Error> {
        let power = PowerModulus::new(prime, tuning.backend)?;
        let count = power.square.root.limb_count();
        let order = prime - 1u8;
        let minus_other = prime - other % prime;
        let unscale = modular::invert_vartime(&minus_other, prime)?;
        let unscale = power.square.root.enter(&limbs::from_biguint(&unscale, count));
        Ok(Self {
            order: limbs::from_biguint(&order, count),
            unscale,
            table: OnceLock::new(),
            power,
        })
    }

    /// c^(p−1) = 1 + p·L, and L·(−q)⁻¹ is the plaintext modulo p.
    fn decrypt(&self, ciphertexts: &[Returned]) -> Vec<Limbs> {
        let count = self.root().limb_count();
        let reduce = |c: &Returned| self.square().leave_limbs(&self.square().enter_wide(&c.0));
        let bases: Vec<Limbs> = ciphertexts.iter().map(reduce).collect();
        let powers = self.power.pow_all(&bases, &self.order, 64 * count);
        let finish = |mut power: Limbs| {
            limbs::sub_assign(&mut power, &[1]);
            let quotient = self.square().divide_exactly_by_root(&power);
            let mut plaintext = limbs::zeros(count);
            let mut scratch = limbs::zeros(3 * count);
            self.root().multiply(&mut plaintext, &quotient, &self.unscale, &mut scratch);
            plaintext
        };
        powers.into_iter().map(finish).collect()
    }

    fn table(&self, public: &PublicKey) -> &PowerTable {
        self.table.get_or_init(|| {
            let base = limbs::from_biguint(public.base(), public.bits() / 32);
            let base = self.square().leave_limbs(&self.square().enter_wide(&base));
            self.power.table(&base, public.bits() / 2, public.tuning().table_bytes)
        })
    }

    fn square(&self) -> &SquareModulus {
        &self.power.square
    }

    fn root(&self) -> &Modulus {
        &self.power.square.root
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({} bits, ..)", self.public.bits())
    }
}

fn check_primes(p: &BigUint, q: &BigUint, rng: &mut Randomness) -> Result<(), Error> {
    if p == q {
        return Err(Error::BadPrimes("they are equal"));
    }
    if p.bits() != q.bits() {
        return Err(Error::BadPrimes("they differ in length"));
    }
    check_length((p * q).bits() as usize)?;
    let three_mod_four = |x: &BigUint| x.bit(0) && x.bit(1);
    if !three_mod_four(p) || !three_mod_four(q) {
        return Err(Error::BadPrimes("both must be 3 modulo 4"));
    }
    if (p - 1u8).gcd(&(q - 1u8)) != BigUint::one() << 1 {
        return Err(Error::BadPrimes("p-1 and q-1 share a factor above 2"));
    }
    if !prime::is_prime_vartime(p, rng) || !prime::is_prime_vartime(q, rng) {
        return Err(Error::BadPrimes("one is not prime"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A destructuring pattern: a new field does not compile until it is wiped here or named as
    /// exempt.
    #[test]
    fn every_secret_field_wipes_itself() {
        fn wipes<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let mut rng = Randomness::seeded(1);
        let key = SecretKey::generate_for_tests(256, Tuning::default(), &mut rng).unwrap();
        let SecretKey { public: _, p, q: _, p_inverse, p_squared, p_squared_inverse } = &key;
        // Prepared moduli and tables hold their numbers in limbs or lanes that wipe themselves.
        let Half { power, order, unscale, table: _ } = p;
        for limbs in [p_inverse, p_squared, order, unscale] {
            wipes(limbs);
        }
        wipes(&p_squared_inverse.0);
        wipes(&power.square.root.limbs);
    }
}
