//! Yao's garbled circuits: evaluates a circuit on both parties' inputs.
//!
//! *Inputs*: each party's bits for its ports of a circuit that both know.
//! *Output*: to P1, to P2, to both, or XOR shares; shares over Z_{2^k} or Z_N
//! through [`shares`]. *Learned*: nothing but the outputs and the circuit. *Cost*:
//! 32 bytes per AND gate from the garbler and a transfer with its choice per input bit of the
//! evaluator (16 bytes with [`ot`](crate::protocol::ot)); nothing for XOR, negation, constants and XOR shares. One round
//! (the evaluator's transfers, then all the rest), half a round more if the
//! garbler learns an output; the first run of a direction adds the round of
//! the base transfers. Semi-honest.
//!
//! Tables are streamed in chunks while they are made: memory holds the live wires of the circuit
//! and one chunk. The network carries a chunk while the next one is garbled, and the evaluator
//! works on it while others are in flight; no thread is used for that, because it would slow down a
//! party with one core. Circuits that are run together ([`run_all`]) share the messages and so the
//! round.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::{Program, gallery};
//! use diptych_mpc::Role;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::yao::{self, Reveal};
//!
//! // Who is richer? The circuit says whether P1's number is below P2's.
//! let program = Program::new(&gallery::comparison(64));
//! let bits = |number: u64| (0..64).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();
//! let (alice, bob) = (bits(71_000_000), bits(71_000_001));
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| yao::run(session, Role::P1, &program, &alice, Reveal::Both),
//!     |session| yao::run(session, Role::P1, &program, &bob, Reveal::Both),
//! );
//! assert_eq!(outcome.p1?, Some(vec![true]));
//! assert_eq!(outcome.p2?, Some(vec![true]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod evaluator;
mod garbler;
pub mod shares;

/// The hash of all gates that follow one set-up; another set-up has another.
fn gate_hash(session: &Session, garbler: Role, setup: u64) -> GateHash {
    GateHash::for_session(session.id.as_bytes(), &format!("gates of {garbler} {setup}"))
}

#[cfg(test)]
mod tests;

pub use evaluator::{Tables, evaluate as evaluate_garbled};
pub use garbler::garble as garble_source;

use std::collections::VecDeque;
use std::ops::Range;

use zeroize::{Zeroize, Zeroizing};

use crate::Error;
use crate::circuit::evaluate::evaluate_source;
use crate::circuit::{Bit, Size, Source, check_width};
use crate::crypto::garble::{self, Delta, GateHash};
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::transfers::{self, Receiving, Sending};
use crate::role::Role;
use crate::simd::aes::RoundKeys;

/// Bytes of garbled tables per message.
pub const CHUNK_BYTES: usize = 128 << 10;

/// Output labels per message back to the garbler: far below the limit of a frame.
const LABELS_PER_MESSAGE: usize = 1 << 16;

const SEED: Tag = Tag::new(*b"ysed");
const SEED_BYTES: usize = 16;
/// The messages that carry garbled tables.
pub const TABLES: Tag = Tag::new(*b"ytab");
const DECODING: Tag = Tag::new(*b"ydec");
const OUTPUT_LABELS: Tag = Tag::new(*b"yout");

/// Who gets the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {
    /// P1 alone.
    P1,
    /// P2 alone.
    P2,
    /// Both parties.
    Both,
    /// Each party gets a share; the XOR of both is the output. Costs nothing: the shares are the
    /// pointer bits of the labels, so if an output is the XOR of other outputs, so are its shares.
    XorShares,
}

impl Reveal {
    /// Whether this party learns the outputs.
    pub fn to(self, role: Role) -> bool {
        match self {
            Reveal::P1 => role == Role::P1,
            Reveal::P2 => role == Role::P2,
            Reveal::Both => true,
            Reveal::XorShares => false,
        }
    }
}

/// One circuit to run and this party's bits for its own ports, in order.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The circuit.
    pub source: &'a dyn Source,
    /// This party's input bits.
    pub inputs: &'a [bool],
}

/// What a run computes: the output bits for both parties' input bits.
///
/// # Errors
/// If there are not as many bits as the ports have.
pub fn ideal(
    source: &dyn Source,
    p1_inputs: &[bool],
    p2_inputs: &[bool],
) -> Result<Vec<bool>, Error> {
    let (mut first, mut second) = (p1_inputs.iter(), p2_inputs.iter());
    let mut all = Vec::with_capacity(p1_inputs.len() + p2_inputs.len());
    for port in source.inputs() {
        let bits = if port.owner == Some(Role::P1) { &mut first } else { &mut second };
        all.extend(bits.take(port.width));
    }
    evaluate_source(source, &all)
}

/// The messages of [`set_up`].
pub fn forecast_set_up(forecast: &mut Forecast, garbler: Role) {
    if forecast.sets_up(garbler) {
        transfers::forecast_setup(forecast, garbler);
    }
}

/// The messages of [`run`], with those of the set-up if `garbler` garbles for the first time.
pub fn forecast(forecast: &mut Forecast, garbler: Role, source: &dyn Source, reveal: Reveal) {
    forecast_all(forecast, garbler, &[source], reveal);
}

/// The messages of [`run_all`].
pub fn forecast_all(
    forecast: &mut Forecast,
    garbler: Role,
    sources: &[&dyn Source],
    reveal: Reveal,
) {
    forecast_set_up(forecast, garbler);
    let evaluator = garbler.peer();
    let inputs = sources.iter().map(|source| bits_of(*source, evaluator)).sum();
    transfers::forecast_chunks(forecast, garbler, inputs);
    forecast.message(garbler, SEED, SEED_BYTES);
    let sizes: Vec<Size> = sources.iter().map(|source| source.size()).collect();
    let ands: usize = sizes.iter().map(|size| size.ands).sum();
    let outputs: usize = sizes.iter().map(|size| size.outputs).sum();
    forecast_parts(forecast, garbler, TABLES, ands * garble::BYTES_PER_AND, CHUNK_BYTES);
    let work = if forecast.role() == garbler { Work::Garble } else { Work::Evaluate };
    forecast.work(work, ands);
    if reveal == Reveal::XorShares {
        return;
    }
    if reveal.to(evaluator) {
        forecast.message(garbler, DECODING, outputs.div_ceil(8));
    }
    if reveal.to(garbler) {
        forecast_parts(forecast, evaluator, OUTPUT_LABELS, 16 * outputs, 16 * LABELS_PER_MESSAGE);
    }
}

/// Messages of `part` bytes, and the remainder.
fn forecast_parts(forecast: &mut Forecast, from: Role, tag: Tag, bytes: usize, part: usize) {
    for first in (0..bytes).step_by(part) {
        forecast.message(from, tag, part.min(bytes - first));
    }
}

/// One end of the transfers of a direction.
pub(super) enum Side<'a> {
    /// This party is their sender.
    Sender(&'a mut (dyn Sending + Send)),
    /// The peer is.
    Receiver(&'a mut (dyn Receiving + Send)),
}

/// Garbled circuits of one session: set up once per direction, on first use.
#[derive(Default)]
pub(crate) struct Yao {
    garbler: Option<garbler::State>,
    evaluator: Option<evaluator::State>,
}

/// Runs the base transfers for the direction in which `garbler` garbles, unless that was done.
/// [`run`] does it by itself.
///
/// # Errors
/// If the connection fails or the peer sends something that is not allowed.
pub fn set_up(session: &mut Session, garbler: Role) -> Result<(), Error> {
    session.with_garbling(|yao, session| yao.set_up(session, garbler))
}

/// Runs one circuit; `inputs` are this party's bits. Returns the outputs, or
/// this party's shares of them, or nothing if only the peer learns them.
///
/// # Errors
/// If the inputs do not match, the connection fails, or the peer sends something that is not
/// allowed.
pub fn run(
    session: &mut Session,
    garbler: Role,
    source: &dyn Source,
    inputs: &[bool],
    reveal: Reveal,
) -> Result<Option<Vec<bool>>, Error> {
    let outputs = run_all(session, garbler, &[Job { source, inputs }], reveal)?;
    Ok(outputs.map(|mut outputs| outputs.pop().unwrap_or_default()))
}

/// Runs several circuits in one round; the outputs are in the order of `jobs`.
///
/// # Errors
/// As for [`run`].
pub fn run_all(
    session: &mut Session,
    garbler: Role,
    jobs: &[Job<'_>],
    reveal: Reveal,
) -> Result<Option<Vec<Vec<bool>>>, Error> {
    session.with_garbling(|yao, session| yao.run_all(session, garbler, jobs, reveal))
}

impl Yao {
    fn set_up(&mut self, session: &mut Session, garbler: Role) -> Result<(), Error> {
        self.transfers(session, garbler)?;
        Ok(())
    }

    /// Borrows this party's end of the transfers whose sender is `sender`, and sets them up if that
    /// was not done. They use the Δ of the circuits that the sender garbles: the borrower must hash
    /// under purposes of its own, see [`crate::protocol::transfers`].
    pub(super) fn transfers(
        &mut self,
        session: &mut Session,
        sender: Role,
    ) -> Result<Side<'_>, Error> {
        if session.role == sender {
            let state = match self.garbler.take() {
                Some(state) => state,
                None => {
                    let delta = Delta::random(&mut session.rng);
                    let source = session.transfers();
                    let mut transfers = transfers::set_up_sender(session, source, delta.clone())?;
                    let hash = gate_hash(session, sender, transfers.numbers().setup());
                    garbler::State::new(transfers, delta, hash)
                }
            };
            Ok(Side::Sender(self.garbler.insert(state).transfers()))
        } else {
            let state = match self.evaluator.take() {
                Some(state) => state,
                None => {
                    let source = session.transfers();
                    let mut transfers = transfers::set_up_receiver(session, source)?;
                    let hash = gate_hash(session, sender, transfers.numbers().setup());
                    evaluator::State::new(transfers, hash)
                }
            };
            Ok(Side::Receiver(self.evaluator.insert(state).transfers()))
        }
    }

    fn run_all(
        &mut self,
        session: &mut Session,
        garbler: Role,
        jobs: &[Job<'_>],
        reveal: Reveal,
    ) -> Result<Option<Vec<Vec<bool>>>, Error> {
        for job in jobs {
            check_width(bits_of(job.source, session.role), job.inputs.len())?;
        }
        self.set_up(session, garbler)?;
        let outputs = match (&mut self.garbler, &mut self.evaluator) {
            (Some(state), _) if session.role == garbler => state.run(session, jobs, reveal)?,
            (_, Some(state)) => state.run(session, jobs, reveal)?,
            _ => return Ok(None),
        };
        Ok(outputs.map(|bits| {
            let mut bits = bits.into_iter();
            jobs.iter().map(|job| bits.by_ref().take(job.source.output_bits()).collect()).collect()
        }))
    }
}

/// Number of input bits that a party gives.
pub fn bits_of(source: &dyn Source, role: Role) -> usize {
    source
        .inputs()
        .iter()
        .filter(|port| port.owner.unwrap_or(Role::P2) == role)
        .map(|p| p.width)
        .sum()
}

/// The wires of every job before its first gate: `one`, then space for the labels of all inputs.
/// Wiped when the run ends.
fn empty_wires(jobs: &[Job<'_>], one: u128) -> Vec<Zeroizing<Vec<u128>>> {
    let wires = |job: &Job<'_>| {
        let mut wires = vec![0; 1 + job.source.input_bits()];
        wires[0] = one;
        Zeroizing::new(wires)
    };
    jobs.iter().map(wires).collect()
}

/// Puts the labels of one party's inputs in their places, port after port and
/// job after job, so that they need not be kept anywhere else.
struct Filler {
    /// Job, and where in its wires a port of the party lies.
    ports: VecDeque<(usize, Range<usize>)>,
}

impl Filler {
    fn new(jobs: &[Job<'_>], role: Role) -> Self {
        let mut ports = VecDeque::new();
        for (number, job) in jobs.iter().enumerate() {
            let mut start = 1;
            for port in job.source.inputs() {
                if port.owner.unwrap_or(Role::P2) == role {
                    ports.push_back((number, start..start + port.width));
                }
                start += port.width;
            }
        }
        Self { ports }
    }

    fn put(&mut self, wires: &mut [Zeroizing<Vec<u128>>], mut labels: &[u128]) {
        while !labels.is_empty() {
            let Some((number, place)) = self.ports.front_mut() else { return };
            let count = place.len().min(labels.len());
            let (now, later) = labels.split_at(count);
            wires[*number][place.start..place.start + count].copy_from_slice(now);
            place.start += count;
            labels = later;
            if place.start == place.end {
                self.ports.pop_front();
            }
        }
    }
}

/// The garbler's inputs: the label of the actual value is public and pseudorandom, so that one seed
/// gives the evaluator all of them and reveals nothing of the values. Passes `count` of them to
/// `take`, some at a time.
fn public_labels(seed: [u8; 16], count: usize, mut take: impl FnMut(&mut [u128])) {
    let keys = RoundKeys::new(u128::from_le_bytes(seed));
    let mut labels = [0; 256];
    for first in (0..count).step_by(labels.len()) {
        let now = &mut labels[..(count - first).min(256)];
        keys.counter_stream(first as u64, now);
        take(now);
    }
}

/// An output bit after a run: a constant, or a label and whether it is negated.
enum Output {
    Constant(bool),
    Label(u128),
}

impl Zeroize for Output {
    fn zeroize(&mut self) {
        match self {
            Self::Constant(bit) => bit.zeroize(),
            Self::Label(label) => label.zeroize(),
        }
    }
}

/// Room for the outputs of all jobs, wiped when the run ends.
fn room_for_outputs(jobs: &[Job<'_>]) -> Zeroizing<Vec<Output>> {
    let bits = jobs.iter().map(|job| job.source.output_bits()).sum();
    Zeroizing::new(Vec::with_capacity(bits))
}

/// Reads the outputs out of the wires; `negation` is what a negated wire's label is XORed with.
fn read_outputs(outputs: &[Bit], wires: &[u128], negation: u128, into: &mut Vec<Output>) {
    into.extend(outputs.iter().map(|bit| match bit.as_constant() {
        Some(value) => Output::Constant(value),
        None => {
            let negate = u128::from(bit.negated()).wrapping_neg();
            Output::Label(wires[bit.id() as usize] ^ (negation & negate))
        }
    }));
}

/// The labels among the outputs.
fn labels(outputs: &[Output]) -> impl Iterator<Item = u128> {
    outputs.iter().filter_map(|output| match output {
        Output::Constant(_) => None,
        Output::Label(label) => Some(*label),
    })
}

/// The outputs as bits, given those of the labels; constants are themselves.
fn merge(outputs: &[Output], bits: impl IntoIterator<Item = bool>) -> Vec<bool> {
    let mut bits = bits.into_iter();
    let value = |output: &Output| match output {
        Output::Constant(value) => *value,
        Output::Label(_) => bits.next().unwrap_or(false),
    };
    outputs.iter().map(value).collect()
}

fn pack_bits(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, bit) in bits.enumerate() {
        if index % 8 == 0 {
            bytes.push(0);
        }
        if let Some(last) = bytes.last_mut() {
            *last |= u8::from(bit) << (index % 8);
        }
    }
    bytes
}
