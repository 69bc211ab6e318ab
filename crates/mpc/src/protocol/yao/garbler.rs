//! The garbler's side.

use super::{
    CHUNK_BYTES, DECODING, Error, Filler, Job, LABELS_PER_MESSAGE, OUTPUT_LABELS, Output, Reveal,
    SEED, SEED_BYTES, TABLES, bits_of, empty_wires, labels, merge, pack_bits, public_labels,
    read_outputs, room_for_outputs,
};
use crate::circuit::{Bit, Consumer, Source, Step};
use crate::crypto::garble::{self, BYTES_PER_AND, Delta, Garbler, GateHash, Layer};
use crate::math::wiped;
use crate::protocol::Session;
use crate::protocol::transfers::Sending;
use crate::simd::aes::xor_wires;
use zeroize::Zeroizing;

pub(super) struct State {
    transfers: Box<dyn Sending + Send>,
    garbler: Garbler,
}

impl State {
    pub(super) fn new(transfers: Box<dyn Sending + Send>, delta: Delta, hash: GateHash) -> Self {
        Self { transfers, garbler: Garbler::new(delta, hash) }
    }

    pub(super) fn transfers(&mut self) -> &mut (dyn Sending + Send) {
        &mut *self.transfers
    }

    pub(super) fn run(
        &mut self,
        session: &mut Session,
        jobs: &[Job<'_>],
        reveal: Reveal,
    ) -> Result<Option<Vec<bool>>, Error> {
        let (role, peer) = (session.role, session.role.peer());
        let delta = self.garbler.delta().expose();
        let mut wires = empty_wires(jobs, delta);
        let theirs = jobs.iter().map(|job| bits_of(job.source, peer)).sum();
        let mut filler = Filler::new(jobs, peer);
        let mut put = |rows: &[u128]| filler.put(&mut wires, rows);
        self.transfers.corrected_chunks(session, theirs, &mut put)?;

        let seed: [u8; SEED_BYTES] = session.rng.array();
        session.channel.send_bytes(SEED, &seed)?;
        let own = jobs.iter().map(|job| job.inputs.len()).sum();
        let mut values = jobs.iter().flat_map(|job| job.inputs);
        let mut filler = Filler::new(jobs, role);
        public_labels(seed, own, |labels| {
            for (label, value) in labels.iter_mut().zip(values.by_ref()) {
                *label ^= u128::from(*value).wrapping_neg() & delta;
            }
            filler.put(&mut wires, labels);
        });

        let mut outputs = room_for_outputs(jobs);
        let mut tables = Vec::with_capacity(CHUNK_BYTES);
        for (job, wires) in jobs.iter().zip(&mut wires) {
            let channel = &mut session.channel;
            let mut send = |chunk: &[u8]| channel.send_bytes(TABLES, chunk);
            let slots = garble(&mut self.garbler, job.source, wires, &mut tables, &mut send)?;
            read_outputs(&slots, wires, delta, &mut outputs);
        }
        if !tables.is_empty() {
            session.channel.send_bytes(TABLES, &tables)?;
        }
        self.reveal(session, &outputs, reveal)
    }

    fn reveal(
        &self,
        session: &mut Session,
        outputs: &[Output],
        reveal: Reveal,
    ) -> Result<Option<Vec<bool>>, Error> {
        let pointer_bits = || labels(outputs).map(|zero| zero & 1 == 1);
        if reveal == Reveal::XorShares {
            // A constant's share is the constant at the garbler and 0 at the evaluator.
            return Ok(Some(merge(outputs, pointer_bits())));
        }
        if reveal.to(session.role.peer()) {
            session.channel.send_bytes(DECODING, &pack_bits(pointer_bits()))?;
        }
        if !reveal.to(session.role) {
            return Ok(None);
        }
        let mut zeros = Zeroizing::new(Vec::with_capacity(outputs.len()));
        zeros.extend(labels(outputs));
        let mut bits = Vec::with_capacity(zeros.len());
        let mut body = Vec::new();
        for part in zeros.chunks(LABELS_PER_MESSAGE) {
            session.channel.receive_bytes_into(OUTPUT_LABELS, 16 * part.len(), &mut body)?;
            for (zero, bytes) in part.iter().zip(body.as_chunks::<16>().0) {
                let label = u128::from_le_bytes(*bytes);
                bits.push(garble::decode(*zero, self.garbler.delta(), label, bits.len())?);
            }
        }
        Ok(Some(merge(outputs, bits)))
    }
}

/// The garbler's local work: garbles `source` on `wires` (Δ, then the zero labels of the inputs)
/// and passes every full chunk of `tables` to `send`. The rest in `tables` belongs to the next
/// circuit or the last message.
///
/// # Errors
/// The errors of `send`.
pub fn garble(
    garbler: &mut Garbler,
    source: &dyn Source,
    wires: &mut Vec<u128>,
    tables: &mut Vec<u8>,
    send: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<Vec<Bit>, Error> {
    let mut garbling = Garbling { garbler, wires, tables, send, error: None };
    let outputs = source.stream(&mut garbling);
    garbling.error.map_or(Ok(outputs), Err)
}

struct Garbling<'a> {
    garbler: &'a mut Garbler,
    wires: &'a mut Vec<u128>,
    tables: &'a mut Vec<u8>,
    send: &'a mut dyn FnMut(&[u8]) -> Result<(), Error>,
    error: Option<Error>,
}

impl Consumer for Garbling<'_> {
    fn step(&mut self, values: usize, step: Step<'_>) -> bool {
        wiped::resize(self.wires, values);
        let wires = &mut self.wires[step.base..];
        xor_wires(wires, step.lanes, step.linear);
        let layer = Layer { gates: step.ands, lanes: step.lanes };
        let mut next = 0;
        while next < layer.len() {
            let from = self.tables.len();
            let count = ((CHUNK_BYTES - from) / BYTES_PER_AND).min(layer.len() - next);
            self.tables.resize(from + count * BYTES_PER_AND, 0);
            self.garbler.and_gates(wires, layer, next..next + count, &mut self.tables[from..]);
            next += count;
            if self.tables.len() == CHUNK_BYTES {
                if let Err(error) = (self.send)(self.tables) {
                    self.error = Some(error);
                    return false;
                }
                self.tables.clear();
            }
        }
        true
    }
}
