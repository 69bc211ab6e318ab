//! The schedule of a source: the same at both ends, and in a forecast.

use zeroize::Zeroizing;

use super::Parameters;
use crate::Error;
use crate::math::wiped;
use crate::protocol::Session;
use crate::simd::pages::Table;

/// Blocks that are made together, one message of the sender.
pub(super) const CHUNK_BLOCKS: usize = 8;

/// The progress of a source: what it has made and handed out of the current iteration.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    parameters: Parameters,
    begun: bool,
    blocks: usize,
    handed_out: usize,
}

/// What has to be done before there are more transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The opening of the first iteration.
    Begin,
    /// So many blocks of the iteration.
    Blocks(usize),
    /// The rest of the iteration, from block `from` on, and the opening of the next.
    Renew { from: usize },
}

impl Schedule {
    /// Nothing done yet.
    pub fn new(parameters: Parameters) -> Self {
        Self { parameters, begun: false, blocks: 0, handed_out: 0 }
    }

    pub(super) fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// Hands out as many of `wanted` transfers as there are.
    pub(super) fn take(&mut self, wanted: usize) -> usize {
        let made = (self.blocks * self.parameters.block()).min(self.parameters.handed_out());
        let taken = wanted.min(made - self.handed_out);
        self.handed_out += taken;
        taken
    }

    /// The next step, which is then counted as done. There is nothing left to hand out.
    pub(super) fn step(&mut self) -> Step {
        if !self.begun {
            self.begun = true;
            return Step::Begin;
        }
        if self.handed_out == self.parameters.handed_out() {
            let from = std::mem::take(&mut self.blocks);
            self.handed_out = 0;
            return Step::Renew { from };
        }
        let blocks = CHUNK_BLOCKS.min(self.parameters.blocks - self.blocks);
        self.blocks += blocks;
        Step::Blocks(blocks)
    }
}

/// One end's own part of the work.
pub(super) trait End {
    /// Transfers of the source that the first iteration takes from.
    fn base_rows(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error>;

    /// Opens an iteration with `rows` for the trees of all its blocks: the receiver draws places and
    /// sends corrections.
    fn open(
        &mut self,
        session: &mut Session,
        parameters: Parameters,
        rows: &mut [u128],
    ) -> Result<(), Error>;

    /// Makes as many blocks as fit `rows`, the first of which is `block` of the iteration.
    fn make(
        &mut self,
        session: &mut Session,
        iteration: &Iteration,
        block: usize,
        rows: &mut [u128],
    ) -> Result<(), Error>;
}

/// What an iteration starts from. Wiped when it is over.
pub(super) struct Iteration {
    parameters: Parameters,
    /// Its number in the whole direction.
    number: u64,
    /// k rows, then h for every block.
    rows: Table,
}

impl Iteration {
    /// The secret, and the rows of the trees from number `block` on.
    pub fn parts(&self, block: usize) -> (Parameters, &[u128], &[u128]) {
        let parameters = self.parameters;
        let (secret, trees) = self.rows.split_at(parameters.secret.min(self.rows.len()));
        (parameters, secret, &trees[(block * parameters.levels).min(trees.len())..])
    }

    /// The number of a block's tree in the whole direction.
    pub fn tree(&self, block: usize) -> u64 {
        self.number * self.parameters.blocks as u64 + block as u64
    }

    /// The number of the first row of the matrix that a block takes.
    pub fn matrix_row(&self, block: usize) -> u64 {
        self.tree(block) << self.parameters.levels
    }
}

/// One end of a source with what it has in stock.
pub(super) struct Iterations<E> {
    end: E,
    schedule: Schedule,
    iteration: Iteration,
    /// Rows of the blocks made last, of which the first `used` were handed out.
    stock: Zeroizing<Vec<u128>>,
    used: usize,
    /// Whether a step failed in its middle.
    broken: bool,
}

impl<E: End> Iterations<E> {
    pub fn new(parameters: Parameters, end: E) -> Self {
        let iteration = Iteration { parameters, number: 0, rows: Table::new(0) };
        let (schedule, stock) = (Schedule::new(parameters), Zeroizing::default());
        Self { end, schedule, iteration, stock, used: 0, broken: false }
    }

    pub fn end(&self) -> &E {
        &self.end
    }

    #[cfg(test)]
    pub fn iteration(&self) -> &Iteration {
        &self.iteration
    }

    pub fn end_mut(&mut self) -> &mut E {
        &mut self.end
    }

    pub fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        // After a step that failed in its middle, neither the old nor the new rows are complete.
        if self.broken {
            return Err(Error::Closed);
        }
        self.broken = true;
        self.extend_whole(session, count, rows)?;
        self.broken = false;
        Ok(())
    }

    fn extend_whole(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        wiped::make_room(rows, count);
        let mut due = count;
        loop {
            let taken = self.schedule.take(due);
            rows.extend_from_slice(&self.stock[self.used..self.used + taken]);
            self.used += taken;
            due -= taken;
            if due == 0 {
                return Ok(());
            }
            let parameters = self.schedule.parameters();
            match self.schedule.step() {
                Step::Begin => {
                    let mut taken = Zeroizing::new(Vec::with_capacity(parameters.inputs()));
                    self.end.base_rows(session, parameters.inputs(), &mut taken)?;
                    let mut rows = Table::new(parameters.inputs());
                    rows.copy_from_slice(&taken);
                    self.open(session, 0, rows)?;
                }
                Step::Blocks(blocks) => due -= self.some_blocks(session, blocks, due, rows)?,
                Step::Renew { from } => {
                    let mut kept = Table::new(parameters.inputs());
                    let (first, others) = kept.split_at_mut(self.stock.len() - self.used);
                    first.copy_from_slice(&self.stock[self.used..]);
                    self.stock.clear();
                    self.used = 0;
                    self.all_blocks(session, from, others)?;
                    self.open(session, self.iteration.number + 1, kept)?;
                }
            }
        }
    }

    /// Makes the blocks that were counted last, and appends as many of `due` transfers as they
    /// have; returns how many. Blocks that are wanted as a whole are written directly to the
    /// output.
    fn some_blocks(
        &mut self,
        session: &mut Session,
        blocks: usize,
        due: usize,
        rows: &mut Vec<u128>,
    ) -> Result<usize, Error> {
        let (block, size) =
            (self.schedule.blocks - blocks, blocks * self.schedule.parameters().block());
        let taken = self.schedule.take(due);
        self.used = 0;
        self.stock.clear();
        if taken == size {
            let first = rows.len();
            wiped::resize(rows, first + size);
            self.end.make(session, &self.iteration, block, &mut rows[first..])?;
            return Ok(taken);
        }
        wiped::resize(&mut self.stock, size);
        self.end.make(session, &self.iteration, block, &mut self.stock)?;
        rows.extend_from_slice(&self.stock[..taken]);
        self.used = taken;
        Ok(taken)
    }

    /// Makes all blocks of the iteration from number `from` on.
    fn all_blocks(
        &mut self,
        session: &mut Session,
        mut from: usize,
        mut rows: &mut [u128],
    ) -> Result<(), Error> {
        let (parameters, ..) = self.iteration.parts(0);
        for blocks in parameters.chunks(from) {
            let (now, later) = rows.split_at_mut(blocks * parameters.block());
            self.end.make(session, &self.iteration, from, now)?;
            (from, rows) = (from + blocks, later);
        }
        Ok(())
    }

    /// Starts iteration `number` from these rows, as many as it takes.
    fn open(&mut self, session: &mut Session, number: u64, mut rows: Table) -> Result<(), Error> {
        let parameters = self.schedule.parameters();
        self.end.open(session, parameters, &mut rows[parameters.secret..])?;
        self.iteration = Iteration { parameters, number, rows };
        Ok(())
    }
}
