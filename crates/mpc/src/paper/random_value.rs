//! Random value protocol (thesis, section 7.2.3): a uniform number below a shared bound.
//!
//! *Inputs*: shares of Q ≥ 1 over Z_N or Z_{2^k}; shares over the integers are shares over every
//! Z_{2^k} by [`IntegerShare::to_ring`](crate::protocol::shares::IntegerShare::to_ring). *Output*:
//! shares of R, **exactly uniform** on {0, …, Q−1} given that the run does not fail, in the same
//! ring. *Learned*: neither Q nor R nor anything about them; 'failed' is opened, has a chance below
//! 2^-σ whatever Q is, and ends the run. With Q = 0, R means nothing.
//! *Cost* for Q of w bits: about 10·w + 9,500 ANDs at σ = 64 over Z_{2^k} (those for adding Q up
//! and sharing R included), 13·w + 9,500 over Z_N; 4,200 + 2·w transfers; one round and a half.
//!
//! Both parties put in random bits, which the circuit XORs; see
//! [`crate::circuit::random_value`] for how it draws, and why the result has no bias. Circuits are
//! made while they run, so memory is a few wires per bit of Q.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::math::Randomness;
//! use diptych_mpc::Role;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::paper::random_value::draw;
//! use diptych_mpc::protocol::shares::{Ring, deal, reconstruct};
//! use num_bigint::BigUint;
//!
//! // Neither party knows that the bound is 6: each has a share of it.
//! let six = BigUint::from(6u32);
//! let (first, second) = deal(&Ring::PowerOfTwo(8), &six, &mut Randomness::from_os()?);
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| draw(session, Role::P1, &first, 64),
//!     |session| draw(session, Role::P1, &second, 64),
//! );
//! let die = reconstruct(&outcome.p1?, &outcome.p2?)?;
//! assert!(die < six);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;
use rand::Rng;
use zeroize::Zeroizing;

use crate::Error;
use crate::circuit::random_value::UniformBelow;
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Source, Stream, integer};
use crate::math::Randomness;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::{Ring, Share};
use crate::protocol::yao::shares::number;
use crate::protocol::yao::{self, Reveal, bits_of};
use crate::role::Role;

#[cfg(test)]
mod tests;

const STATUS: Tag = Tag::new(*b"rvp1");

/// Gates sorted together: enough to hash the gates of all tries at once.
const WINDOW: usize = 1 << 16;

/// What a run draws, for given random bits of both parties: R, or nothing if it fails.
///
/// The bits of both are XORed; there are [`UniformBelow::random_bits`] of each, with the shape
/// `UniformBelow::new(w, σ)` for bounds of w bits.
pub fn ideal(
    shape: UniformBelow,
    bound: &BigUint,
    random1: &[bool],
    random2: &[bool],
) -> Option<BigUint> {
    let joint: Vec<bool> = random1.iter().zip(random2).map(|(a, b)| a ^ b).collect();
    shape.ideal(bound, &joint)
}

/// Draws R below the bound Q ≥ 1 that both parties have shares of; R is shared over the same ring.
///
/// # Errors
/// If no candidate is below the bound, which has a chance below 2^-`sigma`, and failures of the connection or the peer.
pub fn draw(
    session: &mut Session,
    garbler: Role,
    bound: &Share,
    sigma: usize,
) -> Result<Share, Error> {
    let shape = UniformBelow::new(bound.ring().width(), sigma);
    let random = random_bits(shape.random_bits(), &mut session.rng);
    draw_with(session, garbler, bound, sigma, &random)
}

/// As [`draw`], with this party's random bits given: as many as `UniformBelow::new(w, σ)` takes
/// for a ring of w bits, uniform and never used again.
///
/// # Errors
/// As [`draw`].
pub fn draw_with(
    session: &mut Session,
    garbler: Role,
    bound: &Share,
    sigma: usize,
    random: &[bool],
) -> Result<Share, Error> {
    let ring = bound.ring();
    let shape = UniformBelow::new(ring.width(), sigma);
    let drawing = Drawing { ring, shape, garbler, sigma };
    let mask = ring.random(&mut session.rng);
    let own = drawing.run(session, bound, random, mask)?;
    Ok(Share::new(ring, &own.into()))
}

/// The messages of [`draw`] over a ring.
pub fn forecast(forecast: &mut Forecast, garbler: Role, ring: &Ring, sigma: usize) {
    let shape = UniformBelow::new(ring.width(), sigma);
    let drawing = Drawing { ring, shape, garbler, sigma };
    yao::forecast(forecast, garbler, &drawing.source(), drawing.reveal());
    forecast.message(garbler.peer(), STATUS, 1);
}

/// Both parties' inputs of one run, in one place: for vectors.
#[cfg(feature = "audit")]
pub(crate) struct PlainInputs<'a> {
    pub bound: [&'a BigUint; 2],
    pub random: [&'a [bool]; 2],
    pub mask: &'a BigUint,
}

/// The protocol's circuit without any secrecy: the evaluator's share, or nothing if it fails.
#[cfg(feature = "audit")]
pub(crate) fn plain(
    ring: &Ring,
    shape: UniformBelow,
    garbler: Role,
    inputs: &PlainInputs<'_>,
) -> Result<Option<BigUint>, Error> {
    let drawing = Drawing { ring, shape, garbler, sigma: 0 };
    let bits = |value: &BigUint| (0..ring.width() as u64).map(|i| value.bit(i)).collect::<Vec<_>>();
    let mut parties = [0, 1].map(|i| [&bits(inputs.bound[i])[..], inputs.random[i]].concat());
    parties[usize::from(garbler == Role::P2)].extend(bits(inputs.mask));
    let outputs = yao::ideal(&drawing.source(), &parties[0], &parties[1])?;
    let (share, failed) = outputs.split_at(ring.width());
    Ok((!failed.contains(&true)).then(|| number(share)))
}

/// No candidate was below the bound.
pub(crate) fn all_failed(sigma: usize) -> Error {
    Error::internal(format!(
        "no try gave a random number below its bound, which has a chance below 2^-{sigma}; nothing \
         was chosen, and the run must be started again"
    ))
}

/// Uniform bits of one party.
fn random_bits(count: usize, rng: &mut Randomness) -> Zeroizing<Vec<bool>> {
    let mut bytes = Zeroizing::new(vec![0u8; count.div_ceil(8)]);
    rng.fill_bytes(&mut bytes);
    Zeroizing::new((0..count).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect())
}

/// One run of the protocol: public, and the same at both parties.
struct Drawing<'a> {
    ring: &'a Ring,
    shape: UniformBelow,
    garbler: Role,
    sigma: usize,
}

impl Drawing<'_> {
    /// The number of this party's share of R: the garbler's is `mask`, the other's R − mask.
    fn run(
        &self,
        session: &mut Session,
        bound: &Share,
        random: &[bool],
        mask: BigUint,
    ) -> Result<BigUint, Error> {
        let source = self.source();
        let mut inputs = Zeroizing::new(Vec::with_capacity(bits_of(&source, session.role)));
        inputs.extend(bound.bits());
        inputs.extend_from_slice(random);
        if session.role == self.garbler {
            inputs.extend((0..self.ring.width()).map(|i| mask.bit(i as u64)));
        }
        let revealed = yao::run(session, self.garbler, &source, &inputs, self.reveal())?;
        let (own, failed) = match revealed.map(Zeroizing::new) {
            Some(bits) => {
                let (share, failed) = bits.split_at(self.ring.width());
                let failed = failed.contains(&true);
                session.channel.send_bytes(STATUS, &[u8::from(failed)])?;
                (number(share), failed)
            }
            None => match session.channel.receive_bytes(STATUS, 1)?.as_slice() {
                [status @ 0..=1] => (mask, *status == 1),
                _ => {
                    let message =
                        "the peer's report on the drawing is malformed; the run was aborted";
                    return Err(Error::peer(message));
                }
            },
        };
        if failed { Err(all_failed(self.sigma)) } else { Ok(own) }
    }

    /// The evaluator's share comes out of the circuit.
    fn reveal(&self) -> Reveal {
        if self.garbler == Role::P1 { Reveal::P2 } else { Reveal::P1 }
    }

    /// Each party's inputs in order: its share of the bound, its random bits, and the garbler's mask.
    fn source(&self) -> impl Source {
        let (width, random) = (self.ring.width(), self.shape.random_bits());
        let inputs = [
            (Role::P1, "bound1", width),
            (Role::P2, "bound2", width),
            (Role::P1, "random1", random),
            (Role::P2, "random2", random),
            (self.garbler, "mask", width),
        ];
        let outputs = [("share", width), ("failed", 1)];
        let build = move |g: &mut Stream<'_>, x: &[Vec<Bit>]| {
            let bound = self.ring.join(g, &x[0], &x[1]);
            let random = integer::xor(g, &x[2], &x[3]);
            let (value, failed) = self.shape.build(g, &bound, &random);
            vec![self.ring.mask(g, &value, &x[4]), vec![failed]]
        };
        Generated::new(&inputs, &outputs, build).window(WINDOW)
    }
}
