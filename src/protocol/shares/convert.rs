//! Shares moved to another ring by a circuit, where a function of one party alone cannot do it.
//!
//! *Inputs*: each party's shares of values that are below 2^bits, all of one ring. *Output*: shares
//! of the same values in another ring ([`convert`], [`convert_signed`]) or over the integers
//! ([`to_integers`]). *Learned*: nothing; the garbler's new share is a mask of its own choice.
//! *Cost* per value: one addition and one subtraction in the circuit: k − 1 ANDs for Z_{2^k} and
//! at most 3k − 1 for Z_N on the way in, k − 1 and 2k − 1 on the way out. One round for all values.
//!
//! From a ring to Z_{2^k} with fewer bits the value is reduced modulo 2^k. An [`IntegerShare`]
//! needs no circuit: [`IntegerShare::to_ring`].
//!
//! # Example
//!
//! ```
//! use diptych::math::Randomness;
//! use diptych::Role;
//! use diptych::protocol::pair::{Setup, run_pair};
//! use diptych::protocol::shares::convert::convert;
//! use diptych::protocol::shares::{Ring, deal, reconstruct};
//!
//! // A value below 2^10, shared modulo 1,009, moves to Z_{2^32}.
//! let (from, to) = (Ring::Modulo(1_009u32.into()), Ring::PowerOfTwo(32));
//! let (first, second) = deal(&from, &700u32.into(), &mut Randomness::from_os()?);
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| convert(session, Role::P1, &[first], 10, &to),
//!     |session| convert(session, Role::P1, &[second], 10, &to),
//! );
//! let (first, second) = (outcome.p1?, outcome.p2?);
//! assert_eq!(first[0].ring(), &to);
//! assert_eq!(reconstruct(&first[0], &second[0])?, 700u32.into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::{BigInt, BigUint};
use num_traits::One;
use zeroize::Zeroizing;

use super::{Error, IntegerShare, Ring, Share};
use crate::circuit::integer::resize;
use crate::circuit::{Builder, Program, Repeat};
use crate::protocol::Session;
use crate::protocol::yao::shares::number;
use crate::protocol::yao::{self, Reveal, bits_of};
use crate::role::Role;

/// Shares over `to` of the values below 2^`bits` that `shares` stand for.
///
/// # Errors
/// [`Error::TooNarrow`] if a value may reach the order of `to` = Z_N; [`Error::Mismatch`] if the
/// shares are of several rings; or the circuit's.
pub fn convert(
    session: &mut Session,
    garbler: Role,
    shares: &[Share],
    bits: u32,
    to: &Ring,
) -> Result<Vec<Share>, Error> {
    if let Ring::Modulo(modulus) = to
        && BigUint::one() << bits > *modulus
    {
        return Err(Error::TooNarrow { bits, sigma: 0, ring: to.width() });
    }
    let masks = shares.iter().map(|_| to.random(&mut session.rng)).collect();
    let moved = run(session, garbler, shares, bits, to, masks)?;
    Ok(moved.into_iter().map(|number| Share::new(to, &number.into())).collect())
}

/// As [`convert`], for values between −2^`bits` and 2^`bits` − 1: negative ones are in the upper
/// half of both rings.
///
/// # Errors
/// As [`convert`]; the ring must have room for one bit more.
pub fn convert_signed(
    session: &mut Session,
    garbler: Role,
    shares: &[Share],
    bits: u32,
    to: &Ring,
) -> Result<Vec<Share>, Error> {
    let offset = BigInt::one() << bits;
    let role = session.role;
    let raised: Vec<Share> = shares.iter().map(|s| s.plus_public(role, &offset)).collect();
    let moved = convert(session, garbler, &raised, bits + 1, to)?;
    Ok(moved.iter().map(|share| share.plus_public(role, &-&offset)).collect())
}

/// Shares over the integers: the garbler's is the negative of a mask `sigma` bits wider than the
/// value, the evaluator's is the value plus that mask.
///
/// # Errors
/// As [`convert`].
pub fn to_integers(
    session: &mut Session,
    garbler: Role,
    shares: &[Share],
    bits: u32,
    sigma: u32,
) -> Result<Vec<IntegerShare>, Error> {
    let masks = IntegerMasks::draw(shares.len(), bits, sigma, session);
    let moved = run(session, garbler, shares, bits, &masks.ring, masks.for_circuit())?;
    Ok(masks.shares(session.role == garbler, moved))
}

/// Masks for values below 2^bits over the integers, put into a circuit over Z_{2^k} that is wide
/// enough never to wrap: value − (−mask) = value + mask < 2^k.
pub(crate) struct IntegerMasks {
    pub(crate) ring: Ring,
    masks: Vec<BigUint>,
    bits: u32,
}

impl IntegerMasks {
    pub(crate) fn draw(count: usize, bits: u32, sigma: u32, session: &mut Session) -> Self {
        let mask = Ring::PowerOfTwo((bits + sigma) as usize);
        let masks = (0..count).map(|_| mask.random(&mut session.rng)).collect();
        Self { ring: Ring::PowerOfTwo((bits + sigma + 1) as usize), masks, bits }
    }

    /// What the garbler's circuit subtracts.
    pub(crate) fn for_circuit(&self) -> Vec<BigUint> {
        self.masks.iter().map(|mask| self.ring.reduce(&-BigInt::from(mask.clone()))).collect()
    }

    /// The shares, given what came out of the circuit at the evaluator.
    pub(crate) fn shares(self, is_garbler: bool, revealed: Vec<BigUint>) -> Vec<IntegerShare> {
        let own = if is_garbler { self.masks } else { revealed };
        let sign = |number| if is_garbler { -BigInt::from(number) } else { BigInt::from(number) };
        own.into_iter().map(|number| IntegerShare::new(sign(number), self.bits)).collect()
    }
}

/// One circuit per value: the garbler gets its masks back, the evaluator value − mask.
fn run(
    session: &mut Session,
    garbler: Role,
    shares: &[Share],
    bits: u32,
    to: &Ring,
    masks: Vec<BigUint>,
) -> Result<Vec<BigUint>, Error> {
    let Some(first) = shares.first() else { return Ok(Vec::new()) };
    let from = first.ring();
    if shares.iter().any(|share| share.ring() != from) {
        return Err(Error::Mismatch);
    }
    let program = conversion(from, bits, to, garbler);
    let many = Repeat::new(&program, shares.len());
    let is_garbler = session.role == garbler;
    let mut inputs = Zeroizing::new(Vec::with_capacity(bits_of(&many, session.role)));
    for (share, mask) in shares.iter().zip(&masks) {
        inputs.extend(share.bits());
        if is_garbler {
            inputs.extend((0..to.width()).map(|i| mask.bit(i as u64)));
        }
    }
    let reveal = if garbler == Role::P1 { Reveal::P2 } else { Reveal::P1 };
    let revealed = yao::run(session, garbler, &many, &inputs, reveal)?;
    Ok(match revealed.map(Zeroizing::new) {
        None => masks,
        Some(bits) => bits.chunks(to.width().max(1)).map(number).collect(),
    })
}

fn conversion(from: &Ring, bits: u32, to: &Ring, garbler: Role) -> Program {
    let mut g = Builder::new();
    let first = g.input(Role::P1, "x1", from.width());
    // The garbler's mask follows its own share.
    let early = (garbler == Role::P1).then(|| g.input(Role::P1, "mask", to.width()));
    let second = g.input(Role::P2, "x2", from.width());
    let mask = early.unwrap_or_else(|| g.input(Role::P2, "mask", to.width()));
    let value = from.join(&mut g, &first, &second);
    let moved = to.mask(&mut g, &resize(&value, bits as usize), &mask);
    g.output("moved", &moved);
    Program::new(&g.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Randomness;
    use crate::protocol::pair::{Outcome, Setup, assert_same_shape, run_pair};
    use crate::protocol::shares::{deal, reconstruct};

    type Move<'a, T> = &'a (dyn Fn(&mut Session, &[Share]) -> Result<Vec<T>, Error> + Sync);

    fn run_both<T: Send>(
        from: &Ring,
        values: &[BigUint],
        work: Move<'_, T>,
    ) -> Outcome<Result<Vec<T>, Error>, Result<Vec<T>, Error>> {
        let mut rng = Randomness::seeded(5);
        let (first, second): (Vec<Share>, Vec<Share>) =
            values.iter().map(|value| deal(from, value, &mut rng)).unzip();
        run_pair(
            Setup::default().seed(6),
            |session| work(session, &first),
            |session| work(session, &second),
        )
    }

    fn n(value: u128) -> Ring {
        Ring::Modulo(value.into())
    }

    #[test]
    fn values_stay_the_same_from_every_kind_of_ring_to_every_other() {
        let rings = [Ring::PowerOfTwo(20), n(1_000_003), Ring::PowerOfTwo(64), n((1 << 90) + 7)];
        let values: Vec<BigUint> =
            [0u32, 1, 2, 524_287, 524_288, 1_000_002].into_iter().map(BigUint::from).collect();
        for from in &rings {
            for to in &rings {
                let bits = if *to == n(1_000_003) { 19 } else { 20 };
                let values: Vec<BigUint> =
                    values.iter().filter(|v| v.bits() <= u64::from(bits)).cloned().collect();
                for garbler in Role::BOTH {
                    let outcome = run_both(from, &values, &|session, shares| {
                        convert(session, garbler, shares, bits, to)
                    });
                    let shares = outcome.p1.unwrap().into_iter().zip(outcome.p2.unwrap());
                    let got: Vec<_> = shares.map(|(a, b)| reconstruct(&a, &b).unwrap()).collect();
                    assert_eq!(got, values, "{from:?} to {to:?}");
                }
            }
        }
    }

    #[test]
    fn negative_values_keep_their_sign_and_a_narrower_power_of_two_truncates() {
        let (from, to) = (Ring::PowerOfTwo(16), n(1 << 40));
        let signed: Vec<BigInt> = [-512i32, -1, 0, 511].into_iter().map(BigInt::from).collect();
        let values: Vec<BigUint> = signed.iter().map(|value| from.reduce(value)).collect();
        let outcome = run_both(&from, &values, &|session, shares| {
            convert_signed(session, Role::P1, shares, 9, &to)
        });
        let shares = outcome.p1.unwrap().into_iter().zip(outcome.p2.unwrap());
        let got: Vec<_> = shares.map(|(a, b)| reconstruct(&a, &b).unwrap()).collect();
        assert_eq!(got, signed.iter().map(|value| to.reduce(value)).collect::<Vec<_>>());

        let narrow = Ring::PowerOfTwo(4);
        let outcome = run_both(&n(1009), &[1000u32.into()], &|session, shares| {
            convert(session, Role::P1, shares, 10, &narrow)
        });
        let (a, b) = (outcome.p1.unwrap(), outcome.p2.unwrap());
        assert_eq!(reconstruct(&a[0], &b[0]).unwrap(), BigUint::from(1000u32 % 16));
    }

    #[test]
    fn integer_shares_add_up_without_any_modulus_and_are_wide_enough() {
        let values: Vec<BigUint> = [0u32, 5, 255].into_iter().map(BigUint::from).collect();
        for garbler in Role::BOTH {
            let outcome = run_both(&Ring::PowerOfTwo(8), &values, &|session, shares| {
                to_integers(session, garbler, shares, 8, 64)
            });
            let shares = outcome.p1.unwrap().into_iter().zip(outcome.p2.unwrap());
            for ((a, b), value) in shares.zip(&values) {
                assert_eq!(a.number() + b.number(), BigInt::from(value.clone()));
                // A mask of 72 bits is shorter than 40 with probability 2^-32.
                assert!(a.number().bits() > 40 && b.number().bits() > 40);
            }
        }
    }

    #[test]
    fn refusals_come_before_anything_is_sent() {
        let wide = [BigUint::from(3u8)];
        let outcome = run_both(&Ring::PowerOfTwo(8), &wide, &|session, shares| {
            let mixed = [shares[0].clone(), Share::new(&n(5), &1.into())];
            let mixed = convert(session, Role::P1, &mixed, 8, &Ring::PowerOfTwo(9));
            assert!(matches!(mixed, Err(Error::Mismatch)));
            assert!(convert(session, Role::P1, &[], 8, &n(300)).unwrap().is_empty());
            convert(session, Role::P1, shares, 8, &n(255))
        });
        let refused = |error| matches!(error, Err(Error::TooNarrow { bits: 8, sigma: 0, ring: 8 }));
        assert!(refused(outcome.p1) && refused(outcome.p2));
        assert!(outcome.transcripts.p1.is_empty());
    }

    #[test]
    fn the_shape_does_not_depend_on_the_values() {
        assert_same_shape(&[0u32, 1, 250], |value| {
            run_both(&n(251), &[(*value).into()], &|session, shares| {
                convert(session, Role::P2, shares, 8, &Ring::PowerOfTwo(30))
            })
        });
    }
}
