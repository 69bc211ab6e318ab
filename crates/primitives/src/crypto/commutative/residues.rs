//! Commutative encryption in the quadratic residues modulo a safe prime.
//!
//! For a safe prime p = 2q + 1 the squares modulo p are a group of prime order q. An identifier is
//! hashed to an element by squaring a wide hash reduced modulo p; whether a received number is in
//! the group follows from its Legendre symbol. All elements of a run have the same exponent, so
//! eight of them are raised at once where the processor has AVX-512 IFMA.

use std::fmt;

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{
    BoxedUint, JacobiSymbol, NonZero, Odd, U2048, U3072, U4096, U6144, U8192, Uint,
};
use num_bigint::BigUint;
use rand::Rng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::expand::Expander;
use super::{Domain, Group, check_whole, check_width};
use crate::Error;
use crate::math::Randomness;
use crate::simd::ifma::Modulus8;

/// The 3072-bit safe prime of RFC 7919, big-endian hex: 2^3072 − 2^3008 + (⌊2^2942·e⌋ +
/// 2625351)·2^64 − 1. Its digits follow from e, so nobody could choose them.
pub const FFDHE3072: &str = "\
    FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FB\
    CC939DCE249B3EF97D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0\
    856365553DED1AF3B557135E7F57C935984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE735\
    30ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4\
    AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF\
    8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA\
    886B4238611FCFDCDE355B3B6519035BBC34F4DEF99C023861B46FC9D6E6C9077AD91D2691F7F7EE\
    598CB0FAC186D91CAEFE130985139270B4130C93BC437944F4FD4452E2D74DD364F2E21E71F54BFF\
    5CAE82AB9C9DF69EE86D2BC522363A0DABC521979B0DEADA1DBF9A42D5C4484E0ABCD06BFA53DDEF\
    3C1B20EE3FD59D7C25E41D2B66C62E37FFFFFFFFFFFFFFFF";

/// The name of [`FFDHE3072`] in [`Group::suite`].
const BUILT_IN: &str = "ffdhe3072";

/// Lengths that are neither insecure today nor too slow to use.
const MODULUS_BITS: std::ops::RangeInclusive<u64> = 2048..=8192;

/// Bytes beyond the modulus' own width that make a reduction uniform to 2^-128.
const SLACK_BYTES: usize = 16;

/// The quadratic residues modulo a safe prime.
#[derive(Clone, Debug)]
pub struct Residues {
    modulus: Odd<BoxedUint>,
    /// q = (p − 1)/2.
    order: Odd<BoxedUint>,
    montgomery: BoxedMontyParams,
    vector: Option<Modulus8>,
    width: usize,
    name: String,
}

/// An exponent modulo q. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ResidueKey {
    exponent: BoxedUint,
}

impl Residues {
    /// The residues modulo [`FFDHE3072`]. A test vector checks the prime against its formula.
    ///
    /// # Errors
    /// None: the constant is well-formed.
    pub fn ffdhe3072() -> Result<Self, Error> {
        let prime = BigUint::parse_bytes(FFDHE3072.as_bytes(), 16).ok_or(Error::NotSafePrime)?;
        Self::unchecked(&prime, BUILT_IN.to_owned())
    }

    /// The residues modulo any other safe prime, given big-endian. Costs a few seconds: p and (p −
    /// 1)/2 are tested by Miller–Rabin with random bases and by Baillie–PSW, since the modulus may
    /// have been chosen by an attacker.
    ///
    /// # Errors
    /// [`Error::SafePrimeLength`] or [`Error::NotSafePrime`] unless it is a safe prime of 2048 to 8192 bits.
    pub fn new(modulus: &[u8]) -> Result<Self, Error> {
        let bits = u64::try_from(modulus.len()).unwrap_or(u64::MAX).saturating_mul(8);
        if bits > 2 * MODULUS_BITS.end() {
            return Err(Error::SafePrimeLength(bits));
        }
        let prime = BigUint::from_bytes_be(modulus);
        if !MODULUS_BITS.contains(&prime.bits()) {
            return Err(Error::SafePrimeLength(prime.bits()));
        }
        let safe = glass_pumpkin::safe_prime::strong_check(&prime)
            && glass_pumpkin::safe_prime::check(&prime).unwrap_or(false);
        if !safe {
            return Err(Error::NotSafePrime);
        }
        // The built-in prime keeps its name, however it was given.
        let name = format!("{prime:X}");
        Self::unchecked(&prime, if name == FFDHE3072 { BUILT_IN.to_owned() } else { name })
    }

    /// The same group in portable code only, to compare the vector code with.
    #[must_use]
    pub fn portable(self) -> Self {
        Self { vector: None, ..self }
    }

    /// The modulus, big-endian, without leading zeros.
    pub fn modulus_bytes(&self) -> Vec<u8> {
        self.modulus.as_ref().to_be_bytes_trimmed_vartime().to_vec()
    }

    fn unchecked(prime: &BigUint, name: String) -> Result<Self, Error> {
        let odd = |number: &BigUint, precision: u32| -> Result<Odd<BoxedUint>, Error> {
            let number = BoxedUint::from_be_slice(&number.to_bytes_be(), precision)
                .map_err(|_| Error::NotSafePrime)?;
            Option::from(number.into_odd()).ok_or(Error::NotSafePrime)
        };
        let bits = u32::try_from(prime.bits()).map_err(|_| Error::NotSafePrime)?;
        let precision = bits.next_multiple_of(64);
        let modulus = odd(prime, precision)?;
        Ok(Self {
            order: odd(&(prime >> 1), precision)?,
            montgomery: BoxedMontyParams::new_vartime(modulus.clone()),
            vector: Modulus8::new(&limbs(modulus.as_ref())),
            modulus,
            width: bits.div_ceil(8) as usize,
            name,
        })
    }

    /// Hashes to a wide number, reduces it and squares it.
    fn hash(&self, expander: &Expander, identifier: &[u8]) -> Result<BoxedUint, Error> {
        let mut wide = Zeroizing::new(vec![0; self.width + SLACK_BYTES]);
        expander.expand(identifier, &mut wide)?;
        let reduced = self.reduce(&wide, &self.modulus)?;
        Ok(BoxedMontyForm::new(reduced, &self.montgomery).square().retrieve())
    }

    /// A big-endian number modulo p or q, in constant time.
    fn reduce(&self, wide: &[u8], by: &Odd<BoxedUint>) -> Result<BoxedUint, Error> {
        let precision = u32::try_from(wide.len() * 8).unwrap_or(u32::MAX).next_multiple_of(64);
        let mut number = BoxedUint::from_be_slice(wide, precision)
            .map_err(|_| Error::Width { expected: self.width, got: wide.len() })?;
        let modulus: &NonZero<BoxedUint> = by.as_nz_ref();
        let reduced = number.rem(modulus);
        number.zeroize();
        Ok(reduced)
    }

    fn expander(&self, domain: &Domain) -> Result<Expander, Error> {
        // The modulus' own digits would not fit; both parties have compared `suite()`.
        Expander::new(&domain.separation("safe-prime-residues_XMD:SHA-512_SQUARE_RO_"))
    }

    fn decode(&self, position: usize, bytes: &[u8]) -> Result<BoxedUint, Error> {
        let number = BoxedUint::from_be_slice(bytes, self.modulus.bits_precision())
            .map_err(|_| Error::NotInGroup { position })?;
        if number >= *self.modulus.as_ref() || !self.is_residue_vartime(&number) {
            return Err(Error::NotInGroup { position });
        }
        if bool::from(number.is_one()) {
            return Err(Error::Identity { position });
        }
        Ok(number)
    }

    /// Whether the Legendre symbol is 1. Variable-time: received elements are not our secrets.
    fn is_residue_vartime(&self, number: &BoxedUint) -> bool {
        fn symbol<const LIMBS: usize>(number: &BoxedUint, modulus: &BoxedUint) -> bool {
            let fixed = |boxed: &BoxedUint| {
                let mut words = [0; LIMBS];
                for (place, word) in words.iter_mut().zip(boxed.as_words()) {
                    *place = *word;
                }
                Uint::<LIMBS>::from_words(words)
            };
            let modulus: Option<Odd<Uint<LIMBS>>> = Odd::new(fixed(modulus)).into();
            modulus.is_some_and(|m| fixed(number).jacobi_symbol_vartime(&m) == JacobiSymbol::One)
        }
        let modulus = self.modulus.as_ref();
        match modulus.bits_precision() {
            0..=2048 => symbol::<{ U2048::LIMBS }>(number, modulus),
            2049..=3072 => symbol::<{ U3072::LIMBS }>(number, modulus),
            3073..=4096 => symbol::<{ U4096::LIMBS }>(number, modulus),
            4097..=6144 => symbol::<{ U6144::LIMBS }>(number, modulus),
            _ => symbol::<{ U8192::LIMBS }>(number, modulus),
        }
    }

    fn encode(&self, element: &BoxedUint, out: &mut [u8]) {
        let bytes = element.to_be_bytes();
        out.copy_from_slice(&bytes[bytes.len() - self.width..]);
    }

    /// Raises elements to the key, constant-time in both, and encodes them into `out`.
    fn raise(&self, elements: &[BoxedUint], key: &ResidueKey, out: &mut [u8]) {
        let bits = self.modulus.bits_precision();
        let exponent = limbs(&key.exponent);
        for (elements, out) in elements.chunks(8).zip(out.chunks_mut(8 * self.width)) {
            match &self.vector {
                Some(modulus) if elements.len() >= WORTH_A_VECTOR => {
                    let numbers: Vec<_> = elements.iter().map(limbs).collect();
                    let lanes = std::array::from_fn(|lane| {
                        numbers.get(lane).map_or(&[][..], |number| number.as_slice())
                    });
                    let powers = modulus.pow_shared(&modulus.load(lanes), &exponent, bits as usize);
                    for (power, place) in
                        modulus.store(&powers).iter().zip(out.chunks_mut(self.width))
                    {
                        let bytes: Vec<u8> =
                            power.iter().flat_map(|limb| limb.to_le_bytes()).collect();
                        for (to, from) in place.iter_mut().rev().zip(bytes) {
                            *to = from;
                        }
                    }
                }
                _ => {
                    for (element, place) in elements.iter().zip(out.chunks_mut(self.width)) {
                        let element = BoxedMontyForm::new(element.clone(), &self.montgomery);
                        let power = element.pow_bounded_exp(&key.exponent, bits);
                        self.encode(&power.retrieve(), place);
                    }
                }
            }
        }
    }
}

/// Eight lanes take as long as three numbers one after the other.
const WORTH_A_VECTOR: usize = 3;

/// The 64-bit limbs of a number, lowest first.
fn limbs(number: &BoxedUint) -> Zeroizing<Vec<u64>> {
    let bytes = Zeroizing::new(number.to_le_bytes().into_vec());
    let limb = |chunk: &[u8]| chunk.iter().rev().fold(0, |limb, byte| limb << 8 | u64::from(*byte));
    Zeroizing::new(bytes.chunks(8).map(limb).collect())
}

impl Group for Residues {
    type Key = ResidueKey;

    fn suite(&self) -> String {
        format!("safe-prime-residues_XMD:SHA-512_SQUARE_RO_:{}", self.name)
    }

    fn element_bytes(&self) -> usize {
        self.width
    }

    fn generate_key(&self, rng: &mut Randomness) -> ResidueKey {
        let mut wide = Zeroizing::new(vec![0; self.width + SLACK_BYTES]);
        loop {
            rng.fill_bytes(&mut wide);
            if let Ok(exponent) = self.reduce(&wide, &self.order)
                && bool::from(exponent.is_nonzero())
            {
                return ResidueKey { exponent };
            }
        }
    }

    fn key_from_bytes(&self, bytes: &[u8]) -> Result<ResidueKey, Error> {
        if bytes.len() != self.width {
            return Err(Error::NotAnExponent);
        }
        let exponent = BoxedUint::from_be_slice(bytes, self.modulus.bits_precision())
            .map_err(|_| Error::NotAnExponent)?;
        if bool::from(exponent.is_zero()) || exponent >= *self.order.as_ref() {
            return Err(Error::NotAnExponent);
        }
        Ok(ResidueKey { exponent })
    }

    fn inverse(&self, key: &ResidueKey) -> ResidueKey {
        // k^(q−2) modulo the prime q: every key has an inverse.
        let modulo_order = BoxedMontyParams::new_vartime(self.order.clone());
        let mut key = BoxedMontyForm::new(key.exponent.clone(), &modulo_order);
        let exponent = self.order.as_ref().wrapping_sub(BoxedUint::from(2_u8));
        let mut inverse = key.pow(&exponent);
        let exponent = inverse.retrieve();
        key.zeroize();
        inverse.zeroize();
        ResidueKey { exponent }
    }

    fn hash_batch(
        &self,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error> {
        check_width(out.len(), identifiers.len() * self.width)?;
        let expander = self.expander(domain)?;
        for (identifier, place) in identifiers.iter().zip(out.chunks_mut(self.width)) {
            self.encode(&self.hash(&expander, identifier)?, place);
        }
        Ok(())
    }

    fn encrypt_batch(
        &self,
        key: &ResidueKey,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error> {
        check_width(out.len(), identifiers.len() * self.width)?;
        let expander = self.expander(domain)?;
        let hashes = identifiers
            .iter()
            .map(|identifier| self.hash(&expander, identifier))
            .collect::<Result<Vec<_>, Error>>()?;
        self.raise(&hashes, key, out);
        Ok(())
    }

    fn reencrypt_batch(&self, key: &ResidueKey, elements: &mut [u8]) -> Result<(), Error> {
        check_whole(elements.len(), self.width)?;
        let received = elements
            .chunks(self.width)
            .enumerate()
            .map(|(position, bytes)| self.decode(position, bytes))
            .collect::<Result<Vec<_>, Error>>()?;
        self.raise(&received, key, elements);
        Ok(())
    }

    fn check_batch(&self, elements: &[u8]) -> Result<(), Error> {
        check_whole(elements.len(), self.width)?;
        for (position, element) in elements.chunks(self.width).enumerate() {
            self.decode(position, element)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ResidueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResidueKey(..)")
    }
}
