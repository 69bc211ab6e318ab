//! The evaluator's side.

use super::{
    CHUNK_BYTES, DECODING, Error, Job, OUTPUT_LABELS, Output, Reveal, SEED, TABLES, bits_of,
    check_length, labels, merge, owner_role, read_outputs,
};
use crate::circuit::{Consumer, Step};
use crate::crypto::garble::{self, BYTES_PER_AND, Evaluator, GateHash};
use crate::net::Channel;
use crate::protocol::{Session, ot};
use crate::simd::aes::{RoundKeys, xor_wires};

pub(super) struct State {
    transfers: ot::Receiver,
    evaluator: Evaluator,
    wires: Vec<u128>,
    chunk: Vec<u8>,
}

impl State {
    pub(super) fn new(transfers: ot::Receiver, hash: GateHash) -> Self {
        Self { transfers, evaluator: Evaluator::new(hash), wires: Vec::new(), chunk: Vec::new() }
    }

    #[cfg(test)]
    pub(super) fn transfers_for_tests(&mut self) -> &mut ot::Receiver {
        &mut self.transfers
    }

    pub(super) fn run(
        &mut self,
        session: &mut Session,
        jobs: &[Job<'_>],
        reveal: Reveal,
    ) -> Result<Option<Vec<bool>>, Error> {
        let peer = session.role.peer();
        let choices: Vec<bool> = jobs.iter().flat_map(|job| job.inputs).copied().collect();
        let own = self.transfers.correlated(session, &choices)?;
        let seed = session.channel.receive_bytes(SEED)?;
        let found = seed.len();
        let seed: [u8; 16] =
            seed.try_into().map_err(|_| Error::Length { tag: SEED, expected: 16, found })?;
        let mut theirs = vec![0; jobs.iter().map(|job| bits_of(job.source, peer)).sum()];
        RoundKeys::new(u128::from_le_bytes(seed)).counter_stream(0, &mut theirs);

        let (mut own, mut theirs) = (own.into_iter(), theirs.into_iter());
        let mut outputs = Vec::new();
        self.chunk.clear();
        let mut used = 0;
        for job in jobs {
            self.wires.clear();
            // A negation is an XOR with slot 0: the garbler swaps labels, we keep ours.
            self.wires.push(0);
            for port in job.source.inputs() {
                let labels =
                    if owner_role(port.owner) == session.role { &mut own } else { &mut theirs };
                self.wires.extend(labels.take(port.width));
            }
            let mut run = Run {
                evaluator: &mut self.evaluator,
                wires: &mut self.wires,
                chunk: &mut self.chunk,
                used,
                channel: &mut session.channel,
                error: None,
            };
            let slots = job.source.stream(&mut run);
            used = run.used;
            if let Some(error) = run.error {
                return Err(error);
            }
            read_outputs(&slots, &self.wires, 0, &mut outputs);
        }
        if used != self.chunk.len() {
            return Err(table_length(used, self.chunk.len()));
        }
        reveal_outputs(session, &outputs, reveal)
    }
}

fn table_length(expected: usize, found: usize) -> Error {
    garble::Error::TableLength { expected, found }.into()
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
        let zero = session.channel.receive_bytes(DECODING)?;
        check_length(DECODING, count.div_ceil(8), zero.len())?;
        let zero = (0..count).map(|i| zero[i / 8] >> (i % 8) & 1 == 1);
        bits = Some(merge(outputs, pointer_bits().zip(zero).map(|(a, b)| a ^ b)));
    }
    if reveal.to(session.role.peer()) {
        let body: Vec<u8> = labels(outputs).flat_map(u128::to_le_bytes).collect();
        session.channel.send_bytes(OUTPUT_LABELS, &body)?;
    }
    Ok(bits)
}

/// Evaluates step after step and receives a chunk of tables whenever one is used up.
struct Run<'a> {
    evaluator: &'a mut Evaluator,
    wires: &'a mut Vec<u128>,
    chunk: &'a mut Vec<u8>,
    used: usize,
    channel: &'a mut Channel,
    error: Option<Error>,
}

impl Run<'_> {
    fn next_chunk(&mut self) -> Result<(), Error> {
        // Only the last chunk of a run is shorter, and after it none is due.
        if !self.chunk.is_empty() && self.chunk.len() != CHUNK_BYTES {
            return Err(table_length(CHUNK_BYTES, self.chunk.len()));
        }
        self.channel.receive_bytes_into(TABLES, self.chunk)?;
        self.used = 0;
        let length = self.chunk.len();
        if length == 0 || length > CHUNK_BYTES || !length.is_multiple_of(BYTES_PER_AND) {
            return Err(table_length(CHUNK_BYTES, length));
        }
        Ok(())
    }

    fn and_gates(&mut self, mut ands: &[crate::circuit::Op]) -> Result<(), Error> {
        while !ands.is_empty() {
            if self.used == self.chunk.len() {
                self.next_chunk()?;
            }
            let present = (self.chunk.len() - self.used) / BYTES_PER_AND;
            let (now, later) = ands.split_at(present.min(ands.len()));
            let end = self.used + now.len() * BYTES_PER_AND;
            self.evaluator.and_gates(self.wires, now, &self.chunk[self.used..end])?;
            self.used = end;
            ands = later;
        }
        Ok(())
    }
}

impl Consumer for Run<'_> {
    fn step(&mut self, slots: usize, step: Step<'_>) -> bool {
        if self.wires.len() < slots {
            self.wires.resize(slots, 0);
        }
        xor_wires(self.wires, step.linear.iter().map(|op| (op.a, op.b, op.out)));
        match self.and_gates(step.ands) {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}
