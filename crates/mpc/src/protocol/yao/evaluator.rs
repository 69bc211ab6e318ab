//! The evaluator's side.

use super::{
    CHUNK_BYTES, DECODING, Error, Filler, Job, LABELS_PER_MESSAGE, OUTPUT_LABELS, Output, Reveal,
    SEED, SEED_BYTES, TABLES, bits_of, empty_wires, labels, merge, public_labels, read_outputs,
    room_for_outputs,
};
use crate::circuit::{Bit, Consumer, Source, Step};
use crate::crypto::garble::{BYTES_PER_AND, Evaluator, GateHash, Layer};
use crate::math::wiped;
use crate::primitives;
use crate::protocol::Session;
use crate::protocol::transfers::Receiving;
use crate::simd::aes::xor_wires;
use zeroize::Zeroizing;

pub(super) struct State {
    transfers: Box<dyn Receiving + Send>,
    evaluator: Evaluator,
    tables: Tables,
}

impl State {
    pub(super) fn new(transfers: Box<dyn Receiving + Send>, hash: GateHash) -> Self {
        Self { transfers, evaluator: Evaluator::new(hash), tables: Tables::default() }
    }

    pub(super) fn transfers(&mut self) -> &mut (dyn Receiving + Send) {
        &mut *self.transfers
    }

    pub(super) fn run(
        &mut self,
        session: &mut Session,
        jobs: &[Job<'_>],
        reveal: Reveal,
    ) -> Result<Option<Vec<bool>>, Error> {
        let (role, peer) = (session.role, session.role.peer());
        // A negation is an XOR with slot 0: the garbler swaps labels, we keep ours.
        let mut wires = empty_wires(jobs, 0);
        let own = jobs.iter().map(|job| job.inputs.len()).sum();
        let mut choices = Zeroizing::new(Vec::with_capacity(own));
        jobs.iter().for_each(|job| choices.extend_from_slice(job.inputs));
        let mut filler = Filler::new(jobs, role);
        let mut put = |rows: &[u128]| filler.put(&mut wires, rows);
        self.transfers.chosen_chunks(session, &choices, &mut put)?;

        let mut seed = [0; SEED_BYTES];
        seed.copy_from_slice(&session.channel.receive_bytes(SEED, SEED_BYTES)?);
        let theirs = jobs.iter().map(|job| bits_of(job.source, peer)).sum();
        let mut filler = Filler::new(jobs, peer);
        public_labels(seed, theirs, |labels| filler.put(&mut wires, labels));

        let mut outputs = room_for_outputs(jobs);
        self.tables.clear();
        for (job, wires) in jobs.iter().zip(&mut wires) {
            let channel = &mut session.channel;
            // The last chunk is shorter; whether this is the last is known only at its end.
            let mut receive =
                |chunk: &mut Vec<u8>| channel.receive_bytes_at_most(TABLES, CHUNK_BYTES, chunk);
            let evaluator = &mut self.evaluator;
            let slots = evaluate(evaluator, job.source, wires, &mut self.tables, &mut receive)?;
            read_outputs(&slots, wires, 0, &mut outputs);
        }
        self.tables.check_used_up()?;
        reveal_outputs(session, &outputs, reveal)
    }
}

fn table_length(expected: usize, found: usize) -> Error {
    primitives::Error::TableLength { expected, found }.into()
}

fn reveal_outputs(
    session: &mut Session,
    outputs: &[Output],
    reveal: Reveal,
) -> Result<Option<Vec<bool>>, Error> {
    let pointer_bits = || labels(outputs).map(|label| label & 1 == 1);
    if reveal == Reveal::XorShares {
        let without_constants: Vec<bool> = merge(outputs, pointer_bits())
            .into_iter()
            .zip(outputs)
            .map(|(bit, output)| bit && matches!(output, Output::Label(_)))
            .collect();
        return Ok(Some(without_constants));
    }
    let count = labels(outputs).count();
    let mut bits = None;
    if reveal.to(session.role) {
        let zero = session.channel.receive_bytes(DECODING, count.div_ceil(8))?;
        let zero = (0..count).map(|i| zero[i / 8] >> (i % 8) & 1 == 1);
        bits = Some(merge(outputs, pointer_bits().zip(zero).map(|(a, b)| a ^ b)));
    }
    if reveal.to(session.role.peer()) {
        let body: Vec<u8> = labels(outputs).flat_map(u128::to_le_bytes).collect();
        for part in body.chunks(16 * LABELS_PER_MESSAGE) {
            session.channel.send_bytes(OUTPUT_LABELS, part)?;
        }
    }
    Ok(bits)
}

/// The current chunk of garbled tables.
#[derive(Default)]
pub struct Tables {
    chunk: Vec<u8>,
    used: usize,
}

impl Tables {
    fn clear(&mut self) {
        self.chunk.clear();
        self.used = 0;
    }

    /// # Errors
    /// If the garbler sent more than the circuits needed.
    fn check_used_up(&self) -> Result<(), Error> {
        if self.used == self.chunk.len() {
            return Ok(());
        }
        Err(table_length(self.used, self.chunk.len()))
    }

    fn check_received(&self) -> Result<(), Error> {
        let length = self.chunk.len();
        if length == 0 || length > CHUNK_BYTES || !length.is_multiple_of(BYTES_PER_AND) {
            return Err(table_length(CHUNK_BYTES, length));
        }
        Ok(())
    }
}

/// The evaluator's local work: evaluates `source` on `wires` (0, then a label per input bit) and
/// calls `receive` for a chunk whenever one is used up.
///
/// # Errors
/// The errors of `receive`, and of chunks of wrong length.
pub fn evaluate(
    evaluator: &mut Evaluator,
    source: &dyn Source,
    wires: &mut Vec<u128>,
    tables: &mut Tables,
    receive: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<Vec<Bit>, Error> {
    let mut evaluation = Evaluation { evaluator, wires, tables, receive, error: None };
    let outputs = source.stream(&mut evaluation);
    evaluation.error.map_or(Ok(outputs), Err)
}

struct Evaluation<'a> {
    evaluator: &'a mut Evaluator,
    wires: &'a mut Vec<u128>,
    tables: &'a mut Tables,
    receive: &'a mut dyn FnMut(&mut Vec<u8>) -> Result<(), Error>,
    error: Option<Error>,
}

impl Evaluation<'_> {
    fn next_chunk(&mut self) -> Result<(), Error> {
        // Only the last chunk of a run is shorter, and none follows it.
        let length = self.tables.chunk.len();
        if length != 0 && length != CHUNK_BYTES {
            return Err(table_length(CHUNK_BYTES, length));
        }
        (self.receive)(&mut self.tables.chunk)?;
        self.tables.used = 0;
        self.tables.check_received()
    }

    fn and_gates(&mut self, base: usize, layer: Layer<'_>) -> Result<(), Error> {
        let mut next = 0;
        while next < layer.len() {
            if self.tables.used == self.tables.chunk.len() {
                self.next_chunk()?;
            }
            let Tables { chunk, used } = &mut *self.tables;
            let present = (chunk.len() - *used) / BYTES_PER_AND;
            let count = present.min(layer.len() - next);
            let end = *used + count * BYTES_PER_AND;
            let (wires, rows) = (&mut self.wires[base..], &chunk[*used..end]);
            self.evaluator.and_gates(wires, layer, next..next + count, rows)?;
            *used = end;
            next += count;
        }
        Ok(())
    }
}

impl Consumer for Evaluation<'_> {
    fn step(&mut self, values: usize, step: Step<'_>) -> bool {
        wiped::resize(self.wires, values);
        xor_wires(&mut self.wires[step.base..], step.lanes, step.linear);
        let layer = Layer { gates: step.ands, lanes: step.lanes };
        match self.and_gates(step.base, layer) {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}
