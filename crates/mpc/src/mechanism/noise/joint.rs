//! One discrete Laplace noise for both parties, which neither knows.
//!
//! *Theorem.* The list of noisy counts is ε-differentially private for adding or removing one
//! record, up to its distance from the exact law. *Proof sketch*: N − N' for two independent
//! geometric noises of rate ε is discrete Laplace: Pr[K = k] ∝ e^(−ε·|k|), and one record changes
//! one count by 1. Each digit is 1 if a τ-bit number, uniform as long as one party's bits are (on shared
//! bits: as long as transfers are pseudorandom), is below a public constant; no party learns it.
//! *Distance*: m counts add 2m·(D·2^-τ + e^(−ε·2^D)) to the run's TV ([`crate::privacy::slack`]: count 2m, rate ε).
//!
//! *On shared bits* ([`Bulk::SharedBits`]) no circuit is garbled: digits of both noises come from
//! [`prepared`] and become shares over Z_{2^k} ([`bits::to_words`]), which are weighed by 2^j,
//! added to the shares of the counts, and opened. That reveals nothing but the noisy counts: the
//! share that the peer opens is the noisy count less one's own share.
//! *Cost*: the digits, k bits and a transfer for each, k bits per count and direction.
//!
//! *In a garbled circuit*: at most 2·D·(τ − 1) + 3·k ANDs per count, 2·D·τ random bits of each party. A
//! round and a half per batch; a batch has as many counts as its labels fit 64 MiB.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::mechanism::noise::JointNoise;
//! use diptych_mpc::mechanism::noisy_max::NoiseWidths;
//! use diptych_mpc::Error;
//! use diptych_mpc::privacy::{AddNoise, Budget, Epsilon};
//! use diptych_mpc::protocol::Workspace;
//! use diptych_mpc::protocol::pair::{Setup, run_workspaces};
//! use diptych_mpc::protocol::shares::WordShares;
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let publish = |session: &mut Workspace, own: &[u64]| -> Result<Vec<i64>, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("counts")?;
//!     let widths = NoiseWidths { tau: 64, digits: 6 };
//!     JointNoise::new(session, widths).add_noise(spend, &WordShares::new(16, own.to_vec())?)
//! };
//! // Different people of one kind: 300 at P1, 200 at P2.
//! let outcome = run_workspaces(
//!     Setup::default(),
//!     |session| publish(session, &[300]),
//!     |session| publish(session, &[200]),
//! );
//! let (noisy, at_peer) = (outcome.p1?, outcome.p2?);
//! assert_eq!(noisy, at_peer);
//! assert!(noisy[0].abs_diff(500) < 64, "a noise of six digits is below 2^6");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use super::super::digits::draw;
use super::super::noisy_max::NoiseWidths;
use super::super::{push_word, ring_too_narrow, word};
use crate::Error;
use crate::circuit::integer::{add, resize, subtract};
use crate::circuit::{Builder, Circuit, Program, Repeat};
use crate::math::Rational;
use crate::privacy::digits::DigitSampler;
use crate::privacy::{AddNoise, Spend};
use crate::protocol::bits::{self, Bits};
use crate::protocol::coins::{Law, bits_per_noise};
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::{self, WordShares, signed};
use crate::protocol::yao::{self, Reveal};
use crate::protocol::{Bulk, Workspace, prepared};
use crate::role::Role;

/// Input labels of one batch, both parties'.
const BATCH_LABELS: usize = 1 << 22;
/// Digits that are words at the same time, on shared bits: 32 MB.
const BATCH_DIGITS: usize = 1 << 22;

/// Counts that get their noise together on shared bits.
fn counts_at_once(noise: &DigitSampler) -> usize {
    (BATCH_DIGITS / (2 * noise.thresholds().len().max(1))).max(1)
}

/// One noise on every count, known to nobody.
pub struct JointNoise<'a> {
    session: &'a mut Workspace,
    widths: NoiseWidths,
}

impl<'a> JointNoise<'a> {
    /// A mechanism whose noise has these widths.
    pub fn new(session: &'a mut Workspace, widths: NoiseWidths) -> Self {
        Self { session, widths }
    }
}

impl AddNoise for JointNoise<'_> {
    type Counts = WordShares;
    type Error = Error;

    fn add_noise(&mut self, spend: Spend, counts: &WordShares) -> Result<Vec<i64>, Error> {
        let shape = JointNoiseShape::new(spend.epsilon(), self.widths, counts.bits())?;
        if self.session.bulk == Bulk::SharedBits {
            return self.on_shared_bits(&shape.noise, counts);
        }
        let program = Program::new(&shape.circuit());
        let mut noisy = Vec::with_capacity(counts.len());
        for words in counts.words().chunks(shape.batch()) {
            let coins = self.session.coins.joint_laplace(&shape.noise, words.len())?;
            let inputs = shape.inputs(words, &coins);
            let source = Repeat::new(&program, words.len());
            let bits = yao::run(self.session, Role::P1, &source, &inputs, Reveal::Both)?;
            let bits = bits.unwrap_or_default();
            noisy.extend(bits.chunks(shape.bits).map(|bits| signed(word(bits), counts.bits())));
        }
        Ok(noisy)
    }
}

impl JointNoise<'_> {
    fn on_shared_bits(
        &mut self,
        noise: &DigitSampler,
        counts: &WordShares,
    ) -> Result<Vec<i64>, Error> {
        let mut noisy = Zeroizing::new(counts.words().to_vec());
        for batch in noisy.chunks_mut(counts_at_once(noise)) {
            let digits = prepared::take(self.session, Law::Laplace, noise, batch.len(), 0)?;
            let words = bits::to_words(self.session, &Bits::concat(&digits), counts.bits())?;
            for (j, digit) in words.words().chunks(2 * batch.len()).enumerate() {
                for (count, noises) in batch.iter_mut().zip(digit.chunks(2)) {
                    let [above, below] = noises else { continue };
                    *count = count.wrapping_add(above.wrapping_sub(*below) << j);
                }
            }
        }
        let noisy = WordShares::new(counts.bits(), std::mem::take(&mut *noisy))?;
        let opened = noisy.open(self.session, Reveal::Both)?.unwrap_or_default();
        Ok(opened.into_iter().map(|word| signed(word, counts.bits())).collect())
    }
}

/// The messages of [`JointNoise`] on so many counts, shared over `ring_bits` bits.
///
/// # Errors
/// As the mechanism, for unsupported widths.
pub fn forecast(
    f: &mut Forecast,
    epsilon: &Rational,
    widths: NoiseWidths,
    ring_bits: u32,
    counts: usize,
) -> Result<(), Error> {
    let shape = JointNoiseShape::new(epsilon, widths, ring_bits)?;
    if f.bulk() == Bulk::SharedBits {
        let batch = counts_at_once(&shape.noise);
        for first in (0..counts).step_by(batch) {
            let counts = batch.min(counts - first);
            prepared::forecast_take(f, Law::Laplace, &shape.noise, counts, 0);
            let digits = 2 * counts * shape.noise.thresholds().len();
            bits::forecast_to_words(f, digits, ring_bits)?;
        }
        shares::forecast_open(f, ring_bits, counts);
        return Ok(());
    }
    let program = Program::new(&shape.circuit());
    for first in (0..counts).step_by(shape.batch()) {
        let source = Repeat::new(&program, shape.batch().min(counts - first));
        yao::forecast(f, Role::P1, &source, Reveal::Both);
    }
    Ok(())
}

/// What is public about one count.
#[derive(Clone, Debug)]
pub struct JointNoiseShape {
    /// k of the ring Z_{2^k}.
    pub bits: usize,
    /// The noise of which two are drawn.
    pub noise: DigitSampler,
}

impl JointNoiseShape {
    fn new(epsilon: &Rational, widths: NoiseWidths, bits: u32) -> Result<Self, Error> {
        let noise = DigitSampler::new(epsilon, widths.digits, widths.tau)?;
        let least = widths.digits + 2;
        if bits < least {
            return Err(ring_too_narrow(bits, least));
        }
        Ok(Self { bits: bits as usize, noise })
    }

    /// Counts of one circuit.
    fn batch(&self) -> usize {
        (BATCH_LABELS / (2 * self.inputs_of_one())).max(1)
    }

    /// The circuit for one count: the sum of both shares and of one noise less another, modulo 2^k.
    /// Each party's input is its share, followed by its coins for both noises.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let [first, second] = [(Role::P1, "p1"), (Role::P2, "p2")]
            .map(|(owner, name)| g.input(owner, name, self.inputs_of_one()));
        let ((count1, coins1), (count2, coins2)) =
            (first.split_at(self.bits), second.split_at(self.bits));
        let half = bits_per_noise(&self.noise);
        let above = draw(&mut g, &self.noise, &coins1[..half], &coins2[..half]);
        let below = draw(&mut g, &self.noise, &coins1[half..], &coins2[half..]);
        let noise = subtract(&mut g, &resize(&above, self.bits), &below);
        let count = add(&mut g, count1, count2);
        let noisy = add(&mut g, &count, &noise);
        g.output("noisy", &resize(&noisy, self.bits));
        g.finish()
    }

    /// One party's bits for some counts, from its shares and its coins.
    pub fn inputs(&self, shares: &[u64], coins: &[bool]) -> Zeroizing<Vec<bool>> {
        let mut bits = Zeroizing::new(Vec::with_capacity(shares.len() * self.inputs_of_one()));
        for (share, coins) in shares.iter().zip(coins.chunks(2 * bits_per_noise(&self.noise))) {
            push_word(*share, self.bits, &mut bits);
            bits.extend_from_slice(coins);
        }
        bits
    }

    fn inputs_of_one(&self) -> usize {
        self.bits + 2 * bits_per_noise(&self.noise)
    }
}
