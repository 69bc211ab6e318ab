//! A session with what a release keeps beside it.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::net::{Costs, Stop, Transcript};
use crate::protocol::Session;
use crate::protocol::prepared::Pool;
use crate::protocol::shards::Shards;

/// A [`Session`] with noise that was drawn ahead, shards, and the way in which work in bulk is done.
/// Mechanisms that draw noise and releases take one; it derefs to its session, which is what protocols
/// take.
pub struct Workspace {
    /// The conversation with the peer.
    pub session: Session,
    /// How work in bulk is done. Both parties must set the same, by public numbers.
    pub bulk: Bulk,
    /// Noise that was drawn ahead.
    pub(super) noises: Pool,
    /// The shards, where this session leads some.
    pub shards: Shards,
}

/// How wide and shallow work is done: many comparisons, digits of noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bulk {
    /// In garbled circuits: few rounds, 32 bytes per AND.
    #[default]
    Garbled,
    /// On bits in shares ([`crate::protocol::bits`]): few bytes if transfers have few, more rounds.
    SharedBits,
}

#[cfg(test)]
impl Bulk {
    /// Both ways.
    pub(crate) const BOTH: [Self; 2] = [Self::Garbled, Self::SharedBits];
}

impl From<Session> for Workspace {
    fn from(session: Session) -> Self {
        let (bulk, noises, shards) = (Bulk::default(), Pool::default(), Shards::default());
        Self { session, bulk, noises, shards }
    }
}

impl Deref for Workspace {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Workspace {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Workspace {
    /// What the conversation has cost so far, including those of its shards. Times are this
    /// session's own, which waits for its shards.
    pub fn costs(&self) -> Costs {
        let mut costs = self.session.channel.costs();
        self.shards.costs().for_each(|shard| costs.include(&shard, 1));
        costs
    }

    /// Records direction, tag and length of every message from now on.
    pub fn record_transcript(&mut self) {
        self.session.channel.record_transcript();
        self.shards.record_transcript();
    }

    /// The messages since [`Workspace::record_transcript`], then those of each shard.
    pub fn transcript(&self) -> Transcript {
        let mut transcript = self.session.channel.transcript();
        self.shards.transcript().for_each(|shard| transcript.extend(shard));
        transcript
    }

    /// Aborts this conversation and those of its shards if they are not over within this time from
    /// now.
    pub fn end_within(&mut self, limit: Duration) {
        self.session.channel.end_within(limit);
        self.shards.end_within(limit);
    }

    /// From now on every wait, also of its shards, ends when this flag is set.
    pub fn stop_on(&mut self, stop: &Stop) {
        self.session.channel.stop_on(stop.clone());
        self.shards.stop_on(stop);
    }
}
