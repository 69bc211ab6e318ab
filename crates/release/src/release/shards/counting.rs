//! Shards of a horizontal release: they count, and communicate only with their lead.
//!
//! Horizontally no message grows with records, so a party's shards are its own affair: they have no
//! connection to the peer's, nothing is padded, and what the parties say to each other is what they say
//! without shards. A lead asks all of its shards for the same class counts ([`Tally`]) and adds them up. No
//! record and no column leaves a shard.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::asks::{Ask, Tally, add_counts, malformed, read_request, request, tell_counts};
use crate::Error;
use crate::agreement::Agreement;
use crate::net::{AbortReason, Costs, Stop, Transcript};
use crate::protocol::shards::{Answer, Failed, Shard, Shards};
use crate::release::diffgen::own_records::{Held, OwnRecords};
use crate::release::diffgen::shared_scores::Pending;
use crate::release::tree::MAX_ROWS;
use crate::table::{Candidate, CutValue, Cuts, Schema, Specialization, Table};

/// Numbers that a request and its answer may have together, 8 MiB of them, unless it is about one thing:
/// what that takes follows from the agreement.
const BATCH: usize = 1 << 20;

/// One shard: it has records, and counts them for its lead.
pub struct Counter {
    records: usize,
    held: Held<'static>,
    stop: Stop,
}

impl Counter {
    /// A shard with these records.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn new(agreement: &Agreement, records: Table) -> Result<Self, Error> {
        let count = records.len();
        let held = Held::owning(&agreement.schema, records)?;
        Ok(Self { records: count, held, stop: Stop::default() })
    }

    fn answer(&mut self, request: &[u8]) -> Result<Answer, Error> {
        self.stop.check()?;
        let (ask, follows) = read_request(request).map_err(malformed)?;
        if !follows.is_empty() {
            return Err(malformed("bytes are left over"));
        }
        match ask {
            Ask::SetUp => Ok(tell_counts(&[self.records as u64])),
            Ask::Tally(tally) => {
                check(&tally, self.held.cuts()).map_err(malformed)?;
                let counts = match tally {
                    Tally::All => self.held.all()?,
                    Tally::Children(of) => self.held.children(&of)?.concat(),
                    Tally::Points(of) => self.held.points(&of)?.concat(),
                    Tally::Leaves => self.held.leaves()?,
                };
                Ok(tell_counts(&counts))
            }
            Ask::Specialize(made) => {
                self.held.specialize(&made).map_err(|_| malformed("no such value"))?;
                Ok(Answer::default())
            }
            Ask::Match { .. }
            | Ask::Labelled
            | Ask::Sums { .. }
            | Ask::Join { .. }
            | Ask::Count { .. } => Err(malformed("people are matched in a vertical release alone")),
        }
    }
}

/// Rejects what is not on the cuts, and more at a time than a lead asks for, before it is allocated.
fn check(tally: &Tally, cuts: &Cuts) -> Result<(), &'static str> {
    let attributes = cuts.schema().attributes.len();
    let candidates =
        || -> HashSet<Candidate> { cuts.candidates(0..attributes).into_iter().collect() };
    let sizes: Vec<usize> = match tally {
        Tally::All => return Ok(()),
        Tally::Leaves => {
            let rows = cuts.leaves().saturating_mul(cuts.schema().class.values.len() as u64);
            return if rows > MAX_ROWS { Err("more leaves than are released") } else { Ok(()) };
        }
        Tally::Children(of) => {
            let known = candidates();
            if !of.iter().all(|(made, _)| known.contains(&made.candidate) && divides(made)) {
                return Err("no such candidate");
            }
            let holds = |(made, leaf): &Pending| {
                leaf.as_ref().is_none_or(|leaf| {
                    let key = leaf.get(made.candidate.attribute);
                    leaf.len() == attributes && key == Some(&made.candidate.value.key())
                })
            };
            if !of.iter().all(holds) {
                return Err("no such leaf");
            }
            of.iter().map(|of| size_of_children(cuts, of)).collect()
        }
        Tally::Points(of) => {
            let known = candidates();
            let is_interval = |value| matches!(value, CutValue::Interval { .. });
            if !of.iter().all(|one| known.contains(one) && is_interval(one.value)) {
                return Err("no such interval");
            }
            of.iter().map(|of| size_of_points(cuts, of)).collect()
        }
    };
    let all = sizes.iter().fold(0, |all: usize, size| all.saturating_add(*size));
    if sizes.len() > 1 && all > BATCH { Err("too much at a time") } else { Ok(()) }
}

/// Whether an interval has a split inside it, and nothing else has one.
fn divides(made: &Specialization) -> bool {
    match (made.candidate.value, made.split) {
        (CutValue::Interval { start, end }, Some(split)) => start < split && split < end,
        (CutValue::Value(_), None) => true,
        _ => false,
    }
}

/// Groups whose classes are counted for one of these.
fn groups_of_children(cuts: &Cuts, (made, _): &Pending) -> usize {
    cuts.number_of_children(made.candidate)
}

fn groups_of_points(_: &Cuts, interval: &Candidate) -> usize {
    match interval.value {
        CutValue::Interval { start, end } => end.saturating_sub(start) as usize,
        CutValue::Value(_) => 0,
    }
}

/// At least the numbers of eight bytes that one of these takes, asked and answered.
fn size_of_children(cuts: &Cuts, of: &Pending) -> usize {
    counts(cuts, groups_of_children(cuts, of)) + 8 + cuts.schema().attributes.len()
}

fn size_of_points(cuts: &Cuts, of: &Candidate) -> usize {
    counts(cuts, groups_of_points(cuts, of)) + 8
}

fn counts(cuts: &Cuts, groups: usize) -> usize {
    groups.saturating_mul(cuts.schema().class.values.len())
}

/// Some of the list at a time, one at least: no more than a batch.
fn batches<T>(items: &[T], size: impl Fn(&T) -> usize) -> impl Iterator<Item = &[T]> {
    let mut left = items;
    std::iter::from_fn(move || {
        let mut all = 0usize;
        let fits = |item: &&T| {
            all = all.saturating_add(size(item));
            all <= BATCH
        };
        let some = left.iter().take_while(fits).count().max(1).min(left.len());
        let (batch, rest) = left.split_at(some);
        left = rest;
        (!batch.is_empty()).then_some(batch)
    })
}

impl Shard for Counter {
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
        self.answer(request).map_err(|error| Failed::of(&error))
    }

    /// There is no peer to notify.
    fn abort(&mut self, _: AbortReason) {}

    /// There is no conversation to end.
    fn end_within(&mut self, _: Duration) {}

    fn stop_on(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn record_transcript(&mut self) {}

    fn costs(&self) -> Costs {
        Costs::default()
    }

    fn transcript(&self) -> Transcript {
        Transcript::new()
    }
}

/// A party's records in shards, as its lead counts them.
pub struct InShards<'s> {
    shards: &'s mut Shards,
    cuts: Cuts,
}

impl<'s> InShards<'s> {
    /// All records in one leaf.
    pub fn new(shards: &'s mut Shards, schema: &Arc<Schema>) -> Self {
        Self { shards, cuts: Cuts::topmost(schema) }
    }

    /// So many counts, of all shards together. No more answers are held than shards are being processed.
    fn sum(&mut self, tally: Tally, due: usize) -> Result<Vec<u64>, Error> {
        let most = self.shards.records.unwrap_or_default() as u64;
        let (request, sums) = (request(&Ask::Tally(tally), &[])?, Mutex::new(vec![0; due]));
        self.shards.each(
            |_| Ok::<_, Error>(request.clone()),
            |_, answer| {
                let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                add_counts(answer, &mut sums, most).map_err(malformed)
            },
        )?;
        Ok(sums.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The counts of each of these, some of them at a time.
    fn sum_each<T: Clone>(
        &mut self,
        items: &[T],
        groups: impl Fn(&Cuts, &T) -> usize,
        size: impl Fn(&Cuts, &T) -> usize,
        tally: impl Fn(Vec<T>) -> Tally,
    ) -> Result<Vec<Vec<u64>>, Error> {
        let mut counted = Vec::with_capacity(items.len());
        let cuts = self.cuts.clone();
        for batch in batches(items, |item| size(&cuts, item)) {
            let due: Vec<usize> =
                batch.iter().map(|one| counts(&cuts, groups(&cuts, one))).collect();
            let sums = self.sum(tally(batch.to_vec()), due.iter().sum())?;
            let mut sums = sums.into_iter();
            counted.extend(due.iter().map(|due| sums.by_ref().take(*due).collect::<Vec<u64>>()));
        }
        Ok(counted)
    }
}

impl OwnRecords for InShards<'_> {
    fn all(&mut self) -> Result<Vec<u64>, Error> {
        self.sum(Tally::All, counts(&self.cuts, 1))
    }

    fn children(&mut self, of: &[Pending]) -> Result<Vec<Vec<u64>>, Error> {
        self.sum_each(of, groups_of_children, size_of_children, Tally::Children)
    }

    fn points(&mut self, of: &[Candidate]) -> Result<Vec<Vec<u64>>, Error> {
        self.sum_each(of, groups_of_points, size_of_points, Tally::Points)
    }

    fn specialize(&mut self, made: &Specialization) -> Result<(), Error> {
        let children = self.cuts.specialize(made);
        children?;
        let request = request(&Ask::Specialize(*made), &[])?;
        self.shards.each(
            |_| Ok::<_, Error>(request.clone()),
            |_, answer| add_counts(answer, &mut [], 0).map_err(malformed),
        )?;
        Ok(())
    }

    fn leaves(&mut self) -> Result<Vec<u64>, Error> {
        let leaves = usize::try_from(self.cuts.leaves()).unwrap_or(usize::MAX);
        self.sum(Tally::Leaves, counts(&self.cuts, leaves))
    }
}
