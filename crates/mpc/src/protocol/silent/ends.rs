//! What the two ends do with an iteration.

use rayon::prelude::*;
use zeroize::Zeroizing;

use super::schedule::{End, Iteration};
use super::{CORRECTIONS, Parameters, SUMS};
use crate::Error;
use crate::crypto::half_tree::{grow_transfers, regrow_transfers};
use crate::crypto::local_code::LocalCode;
use crate::crypto::tree::record_keys;
use crate::protocol::Session;
use crate::protocol::soft_spoken;
use crate::protocol::transfers::{Numbers, Purpose, Receiving, Sending};

/// The starting points of the two kinds of hashes.
#[derive(Clone, Copy)]
pub(super) struct Starts {
    trees: u128,
    code: u128,
}

impl Starts {
    pub fn of(numbers: &Numbers) -> Self {
        let [trees, code] =
            [Purpose::SilentTrees, Purpose::SilentCode].map(|purpose| numbers.start(purpose));
        Self { trees, code }
    }
}

/// The sender's end.
pub(super) struct SenderEnd {
    base: soft_spoken::Sender,
    trees: u128,
    code: LocalCode,
    message: Vec<u8>,
}

impl SenderEnd {
    pub fn new(base: soft_spoken::Sender, starts: Starts) -> Self {
        Self { base, trees: starts.trees, code: LocalCode::new(starts.code), message: Vec::new() }
    }

    pub fn base(&self) -> &soft_spoken::Sender {
        &self.base
    }

    pub fn base_mut(&mut self) -> &mut soft_spoken::Sender {
        &mut self.base
    }
}

impl End for SenderEnd {
    fn base_rows(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        self.base.extend(session, count, rows)
    }

    fn open(
        &mut self,
        session: &mut Session,
        parameters: Parameters,
        rows: &mut [u128],
    ) -> Result<(), Error> {
        let due = parameters.correction_bytes();
        session.channel.receive_bytes_into(CORRECTIONS, due, &mut self.message)?;
        let delta = self.base.delta().expose();
        for (number, row) in rows.iter_mut().enumerate() {
            let bit = self.message[number / 8] >> (number % 8) & 1;
            *row ^= delta & u128::from(bit).wrapping_neg();
        }
        Ok(())
    }

    fn make(
        &mut self,
        session: &mut Session,
        iteration: &Iteration,
        block: usize,
        rows: &mut [u128],
    ) -> Result<(), Error> {
        let (parameters, secret, trees) = iteration.parts(block);
        let (size, levels) = (parameters.block(), parameters.levels);
        let delta = self.base.delta().expose();
        self.message.resize(rows.len() / size * parameters.sum_bytes(), 0);
        let sums = self.message.par_chunks_mut(parameters.sum_bytes());
        let (start, code) = (self.trees, &self.code);
        (rows.par_chunks_mut(size).zip(trees.par_chunks(levels)).zip(sums)).enumerate().for_each(
            |(number, ((nodes, rows), sums))| {
                let block = block + number;
                let keys = record_keys(start, iteration.tree(block));
                grow_transfers(&keys, delta, rows, nodes, sums.as_chunks_mut().0);
                code.add(iteration.matrix_row(block), secret, nodes);
            },
        );
        session.channel.send_bytes(SUMS, &self.message)?;
        Ok(())
    }
}

/// The receiver's end.
pub(super) struct ReceiverEnd {
    base: soft_spoken::Receiver,
    trees: u128,
    code: LocalCode,
    /// Where in each block of the iteration the noise is.
    holes: Zeroizing<Vec<u32>>,
    message: Vec<u8>,
}

impl ReceiverEnd {
    pub fn new(base: soft_spoken::Receiver, starts: Starts) -> Self {
        let (holes, message) = Default::default();
        Self { base, trees: starts.trees, code: LocalCode::new(starts.code), holes, message }
    }

    pub fn base_mut(&mut self) -> &mut soft_spoken::Receiver {
        &mut self.base
    }

    #[cfg(test)]
    pub fn holes(&self) -> &[u32] {
        &self.holes
    }
}

impl End for ReceiverEnd {
    fn base_rows(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        self.base.extend(session, count, rows)
    }

    /// The choice at each level is 1 where the path turns left: the receiver gets the other side.
    fn open(
        &mut self,
        session: &mut Session,
        parameters: Parameters,
        rows: &mut [u128],
    ) -> Result<(), Error> {
        let levels = parameters.levels;
        self.holes = Zeroizing::new(Vec::with_capacity(parameters.blocks));
        let mask = parameters.block() as u32 - 1;
        let mut place = || u32::from_le_bytes(session.rng.array()) & mask;
        self.holes.extend((0..parameters.blocks).map(|_| place()));
        self.message.clear();
        self.message.resize(parameters.correction_bytes(), 0);
        for (number, row) in rows.iter().enumerate() {
            let level = levels - 1 - number % levels;
            let left = !self.holes[number / levels] >> level & 1;
            self.message[number / 8] |= (left as u8 ^ (*row as u8 & 1)) << (number % 8);
        }
        session.channel.send_bytes(CORRECTIONS, &self.message)?;
        Ok(())
    }

    fn make(
        &mut self,
        session: &mut Session,
        iteration: &Iteration,
        block: usize,
        rows: &mut [u128],
    ) -> Result<(), Error> {
        let (parameters, secret, trees) = iteration.parts(block);
        let (size, levels) = (parameters.block(), parameters.levels);
        let due = rows.len() / size * parameters.sum_bytes();
        session.channel.receive_bytes_into(SUMS, due, &mut self.message)?;
        let sums = self.message.par_chunks(parameters.sum_bytes());
        let holes = &self.holes[block..block + rows.len() / size];
        let (start, code) = (self.trees, &self.code);
        (rows.par_chunks_mut(size).zip(trees.par_chunks(levels)).zip(sums))
            .zip(holes)
            .enumerate()
            .for_each(|(number, (((nodes, rows), sums), hole))| {
                let block = block + number;
                let keys = record_keys(start, iteration.tree(block));
                regrow_transfers(&keys, *hole, rows, sums.as_chunks().0, nodes);
                code.add(iteration.matrix_row(block), secret, nodes);
            });
        Ok(())
    }
}
