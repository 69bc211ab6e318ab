//! Discrete Laplace noise on counts that two parties share.
//!
//! *Inputs*: [`WordShares`] over Z_{2^k} of counts of disjoint sets of records, a spend ε. *Output*:
//! each count plus its noise, to both; whole numbers in [−2^(k−1), 2^(k−1)). A sum that lies outside
//! wraps around, after the noise and so at no cost in privacy; k is chosen so that it does not happen.
//!
//! Two forms. [`TwoPartyNoise`] (the thesis): each party adds a noise of its own to its share
//! before opening. [`JointNoise`] (ours): one noise, drawn inside a circuit, which nobody knows.
//!
//! *Theorem (two-party).* The list is ε-differentially private for adding or removing one record,
//! for recipients and for either party, who knows its own noise. *Proof sketch*: one record changes
//! one count by 1. To a party the list is a function of count + the other's noise, which is ε-private
//! ([`crate::privacy::laplace`]); its own noise is added afterwards. [`OwnNoise::draw`] is exact and adds nothing to TV;
//! [`OwnNoise::draw_digits`], which takes the same time whatever it draws, adds what its digits do. *Cost*: k bits per count and direction, one message each.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::mechanism::noise::{OwnNoise, TwoPartyNoise};
//! use diptych_mpc::Error;
//! use diptych_mpc::privacy::{AddNoise, Budget, Epsilon};
//! use diptych_mpc::protocol::Session;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::shares::WordShares;
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let publish = |session: &mut Session, shares: &WordShares| -> Result<Vec<i64>, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("counts")?;
//!     let noise = OwnNoise::draw(&mut *session.coins, spend.epsilon(), shares.len())?;
//!     TwoPartyNoise::prepared(session, noise).add_noise(spend, shares)
//! };
//! // Shares of 5,000 and of 7 modulo 2^32.
//! let first = WordShares::new(32, vec![6_000, 4])?;
//! let second = WordShares::new(32, vec![0u64.wrapping_sub(1_000), 3])?;
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| publish(session, &first),
//!     |session| publish(session, &second),
//! );
//! let (noisy, at_peer) = (outcome.p1?, outcome.p2?);
//! assert_eq!(noisy, at_peer);
//! // A noise of 100 comes about once in e^100 runs.
//! assert!(noisy[0].abs_diff(5_000) < 100 && noisy[1].abs_diff(7) < 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod joint;

pub use joint::JointNoise;

use num_bigint::BigInt;
use zeroize::Zeroizing;

use super::noisy_max::NoiseWidths;
use crate::Error;
use crate::math::Rational;
use crate::privacy::digits::DigitSampler;
use crate::privacy::{AddNoise, Spend};
use crate::protocol::Session;
use crate::protocol::coins::Coins;
use crate::protocol::shares::{WordShares, signed};
use crate::protocol::yao::Reveal;

/// A noise of each party on every count.
pub struct TwoPartyNoise<'a> {
    session: &'a mut Session,
    prepared: Option<OwnNoise>,
}

/// Noise that this party has drawn and the peer does not know.
pub struct OwnNoise {
    epsilon: Rational,
    noise: Zeroizing<Vec<i64>>,
}

impl OwnNoise {
    /// Draws noise for `count` counts. Call it before the phase that makes the counts, since the
    /// time it takes reveals something about the noise.
    ///
    /// # Errors
    /// Only a tape fails.
    pub fn draw(
        coins: &mut (impl Coins + ?Sized),
        epsilon: &Rational,
        count: usize,
    ) -> Result<Self, Error> {
        let drawn = coins.own_laplace(epsilon, count)?;
        let noise = Zeroizing::new(drawn.iter().map(lowest_bits).collect());
        Ok(Self { epsilon: epsilon.clone(), noise })
    }

    /// The same with work that does not depend on the noise, so that a peer who waits for the next
    /// message learns nothing from how long it takes. The noise is as far from the exact law as its
    /// digits are: count 2 per noise and party in [`crate::privacy::slack`].
    ///
    /// # Errors
    /// For unsupported widths; otherwise only a tape fails.
    pub fn draw_digits(
        coins: &mut (impl Coins + ?Sized),
        epsilon: &Rational,
        widths: NoiseWidths,
        count: usize,
    ) -> Result<Self, Error> {
        let sampler = DigitSampler::new(epsilon, widths.digits, widths.tau)?;
        let drawn = coins.own_laplace_digits(&sampler, count)?;
        let noise = Zeroizing::new(drawn.iter().map(lowest_bits).collect());
        Ok(Self { epsilon: epsilon.clone(), noise })
    }
}

impl<'a> TwoPartyNoise<'a> {
    /// Nothing drawn yet.
    pub fn new(session: &'a mut Session) -> Self {
        Self { session, prepared: None }
    }

    /// With noise that was drawn before.
    pub fn prepared(session: &'a mut Session, noise: OwnNoise) -> Self {
        Self { session, prepared: Some(noise) }
    }
}

impl AddNoise for TwoPartyNoise<'_> {
    type Counts = WordShares;
    type Error = Error;

    /// Uses the noise that was prepared, or draws it now: before the first message in any case.
    fn add_noise(&mut self, spend: Spend, counts: &WordShares) -> Result<Vec<i64>, Error> {
        let own = match self.prepared.take() {
            Some(own) => own,
            None => OwnNoise::draw(&mut *self.session.coins, spend.epsilon(), counts.len())?,
        };
        if &own.epsilon != spend.epsilon() || own.noise.len() != counts.len() {
            return Err(Error::internal(
                "noise was drawn for other counts or another ε; prepare it again for these",
            ));
        }
        let noisy = counts.plus_own(&own.noise)?;
        let opened = noisy.open(self.session, Reveal::Both)?.unwrap_or_default();
        Ok(opened.into_iter().map(|word| signed(word, counts.bits())).collect())
    }
}

/// A number modulo 2^64.
fn lowest_bits(value: &BigInt) -> i64 {
    let low = value.iter_u64_digits().next().unwrap_or(0).cast_signed();
    if value.sign() == num_bigint::Sign::Minus { low.wrapping_neg() } else { low }
}
