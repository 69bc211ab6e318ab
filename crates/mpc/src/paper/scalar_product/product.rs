//! One product of two vectors: the primitive of the papers.

use num_bigint::{BigInt, BigUint};
use num_traits::One;
use rayon::prelude::*;

use super::stream;
use super::{
    Key, MOST_RECORDS, Progress, PublicNumbers, impossible, key_too_short, result_out_of_range,
};
use super::{bits_of, check_sigma, key};
use crate::Error;
use crate::crypto::paillier::{Ciphertext, GroupSums, PublicKey, SecretKey};
use crate::math::{Randomness, limbs, modular};
use crate::protocol::Session;
use crate::protocol::shares::IntegerShare;
use crate::protocol::sum_by_group::{input_length, input_out_of_range};
use crate::role::Role;

/// What the entries of both vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// 0 or 1.
    Binary,
    /// Whole numbers of either sign, of magnitude below 2^bits: P1's and P2's bits, at most 63.
    Signed([u32; 2]),
}

/// The public numbers of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorShape {
    /// Entries of each vector.
    pub length: usize,
    /// What they are.
    pub entries: Entries,
    /// The mask is so many bits wider than the product.
    pub sigma: u32,
}

impl VectorShape {
    /// The product's magnitude is below two to this power.
    pub fn product_bits(&self) -> u32 {
        match self.entries {
            Entries::Binary => bits_of(self.length),
            Entries::Signed([first, second]) => bits_of(self.length) + first + second,
        }
    }

    /// Bits of the mask: σ more than the product's range has, sign included.
    fn mask_bits(&self) -> usize {
        let sign = u32::from(self.entries != Entries::Binary);
        (self.product_bits() + sign + self.sigma) as usize
    }

    fn check(&self) -> Result<(), Error> {
        if self.length > MOST_RECORDS {
            return Err(impossible("vectors have at most 2^32 − 1 entries"));
        }
        check_sigma(self.sigma)?;
        match self.entries {
            Entries::Signed(bits) if bits.iter().any(|bits| !(1..=63).contains(bits)) => {
                Err(impossible("entries have 1 to 63 bits"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn numbers(&self) -> PublicNumbers {
        let bits = match self.entries {
            Entries::Binary => [0, 0],
            Entries::Signed(bits) => bits.map(u64::from),
        };
        [0, self.length as u64, bits[0], bits[1], u64::from(self.sigma), 0]
    }
}

/// The inner product of P1's and P2's vectors, shared over the integers. The side with the secret
/// key encrypts its entries, one ciphertext each; the other returns one. `progress` is called for
/// entries, and for the result.
///
/// # Errors
/// See [`Error`].
pub fn product(
    session: &mut Session,
    key: Key<'_>,
    shape: &VectorShape,
    vector: &[i64],
    progress: Progress<'_>,
) -> Result<IntegerShare, Error> {
    run(session, key, shape, vector, progress)
}

/// The ideal function of [`product`].
///
/// # Errors
/// For inputs of wrong number or out of range.
pub fn ideal_product(shape: &VectorShape, p1: &[i64], p2: &[i64]) -> Result<BigInt, Error> {
    check_inputs(shape, Role::P1, p1)?;
    check_inputs(shape, Role::P2, p2)?;
    Ok(p1.iter().zip(p2).map(|(a, b)| BigInt::from(*a) * b).sum())
}

fn run(
    session: &mut Session,
    key: Key<'_>,
    shape: &VectorShape,
    vector: &[i64],
    progress: Progress<'_>,
) -> Result<IntegerShare, Error> {
    shape.check()?;
    check_inputs(shape, session.role, vector)?;
    session.channel.begin_phase("scalar product");
    let number = match key {
        Key::Own(secret) => encrypt(session, secret, shape, vector, progress)?,
        Key::Peer(expected) => {
            let public = expected.receive(session, &shape.numbers())?;
            evaluate(session, &public, shape, vector, progress)?
        }
    };
    Ok(IntegerShare::new(number, shape.product_bits()))
}

fn encrypt(
    session: &mut Session,
    secret: &SecretKey,
    shape: &VectorShape,
    vector: &[i64],
    progress: Progress<'_>,
) -> Result<BigInt, Error> {
    let plan = ProductPlan::new(shape, session.role, secret.public())?;
    key::send(session, shape.numbers(), secret.public())?;
    let plaintext = |item: usize| plan.plaintext(vector[item]);
    stream::send_fresh(session, secret, shape.length, plaintext, progress)?;
    let mut number = BigInt::default();
    stream::receive_returned(&mut session.channel, secret, 1, progress, |_, plaintexts| {
        number = plan.open(&plaintexts[0])?;
        Ok(())
    })?;
    Ok(number)
}

fn evaluate(
    session: &mut Session,
    public: &PublicKey,
    shape: &VectorShape,
    vector: &[i64],
    progress: Progress<'_>,
) -> Result<BigInt, Error> {
    let plan = ProductPlan::new(shape, session.role.peer(), public)?;
    let mut sums = plan.start();
    stream::receive_fresh(&mut session.channel, public, shape.length, |first, items| {
        plan.add(&mut sums, items, &vector[first..first + items.len()], progress)
    })?;
    let mask = plan.draw_mask(&mut session.rng);
    let masked = public.add_plain(&plan.finish(sums)?, &mask)?;
    let results = public.rerandomise_all(&[masked], &mut session.rng, progress)?;
    stream::send_returned(&mut session.channel, public, &results)?;
    Ok(-BigInt::from(mask))
}

/// The arithmetic of a run.
pub(crate) struct ProductPlan {
    shape: VectorShape,
    key: PublicKey,
    /// Bits of the evaluating party's entries; none if they are binary.
    factor_bits: Option<u32>,
}

impl ProductPlan {
    pub fn new(shape: &VectorShape, encrypting: Role, key: &PublicKey) -> Result<Self, Error> {
        // The masked product and its sign stay within half of n.
        let needed = shape.mask_bits() + 3;
        if needed > key.bits() {
            return Err(key_too_short(needed, key.bits()));
        }
        let factor_bits = match shape.entries {
            Entries::Binary => None,
            Entries::Signed(bits) => Some(bits[encrypting.peer() as usize]),
        };
        Ok(Self { shape: *shape, key: key.clone(), factor_bits })
    }

    /// What the encrypting party encrypts.
    pub fn plaintext(&self, entry: i64) -> Result<BigUint, Error> {
        Ok(self.key.encode_signed(&entry.into())?)
    }

    /// Two sums of the evaluating party, see [`ProductPlan::add`].
    pub fn start(&self) -> GroupSums {
        GroupSums::new(&self.key, 2)
    }

    /// Binary entries: sums of the ciphertexts whose entry is 0 and is 1, so that either costs one
    /// multiplication. Signed entries e: the plain sum of all ciphertexts c, and the sum of
    /// c·(e + 2^bits), whose factors are never negative; the difference is made once, at the end,
    /// from the plain sum, in which there is no secret.
    pub fn add(
        &self,
        sums: &mut GroupSums,
        items: &[Ciphertext],
        entries: &[i64],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let Some(bits) = self.factor_bits else {
            let groups: Vec<usize> = entries.iter().map(|entry| usize::from(*entry == 1)).collect();
            return Ok(sums.add(items, &groups, progress)?);
        };
        let multiply = |(item, entry): (&Ciphertext, &i64)| {
            let factor = (i128::from(*entry) + (1i128 << bits)).unsigned_abs();
            Ok(self.key.mul_plain(item, &factor.into(), bits as usize + 1)?)
        };
        let products = items.par_iter().zip(entries).map(multiply);
        let products = products.collect::<Result<Vec<_>, Error>>()?;
        sums.add(items, &vec![0; items.len()], &|_| ())?;
        Ok(sums.add(&products, &vec![1; items.len()], progress)?)
    }

    /// The product, not yet masked.
    pub fn finish(&self, sums: GroupSums) -> Result<Ciphertext, Error> {
        let sums = sums.finish();
        let Some(bits) = self.factor_bits else { return Ok(sums[1].clone()) };
        let offset = BigUint::one() << bits;
        let surplus = self.key.mul_plain(&sums[0], &offset, bits as usize + 1)?;
        Ok(self.key.add(&sums[1], &self.key.negate(&surplus)?))
    }

    pub fn draw_mask(&self, rng: &mut Randomness) -> BigUint {
        let bits = self.shape.mask_bits();
        limbs::to_biguint(&modular::random_limbs(bits, bits.div_ceil(64), rng))
    }

    /// The encrypting party's share.
    pub fn open(&self, plaintext: &BigUint) -> Result<BigInt, Error> {
        let number = self.key.decode_signed(plaintext)?;
        // −2^product_bits < product + mask < 2^(mask_bits + 1).
        let bound = match number.sign() {
            num_bigint::Sign::Minus => u64::from(self.shape.product_bits()),
            _ => self.shape.mask_bits() as u64 + 1,
        };
        if number.bits() > bound { Err(result_out_of_range(0)) } else { Ok(number) }
    }
}

fn check_inputs(shape: &VectorShape, role: Role, vector: &[i64]) -> Result<(), Error> {
    if vector.len() != shape.length {
        return Err(input_length(vector.len(), shape.length));
    }
    let fits = |entry: &i64| match shape.entries {
        Entries::Binary => (0..=1).contains(entry),
        Entries::Signed(bits) => entry.unsigned_abs() >> bits[role as usize] == 0,
    };
    match vector.iter().position(|entry| !fits(entry)) {
        Some(place) => Err(input_out_of_range(place)),
        None => Ok(()),
    }
}
