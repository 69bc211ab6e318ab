//! Connects shards to the peer's, while the leads are connected already.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::{panic, thread};

use crate::Error;
use crate::error::Status;
use crate::net::{self, AbortReason, Stop};
use crate::protocol::Session;
use crate::protocol::shards::remote::Line;
use crate::publish::Watcher;

/// This party's shards, connected to the peer's.
pub enum Met {
    /// In other processes.
    Lines(Vec<Box<dyn Line>>),
    /// In this one.
    Sessions(Vec<Session>),
}

/// Lets shards connect while the leads stay connected: if the peer aborts the run, or is gone, or
/// the user stops it here, the flag that `meet` gets is set. The peer, whose shards wait too, is
/// notified of a failure.
pub fn while_peer_stays<T>(
    session: &mut Session,
    watcher: &dyn Watcher,
    peer_ended: impl FnOnce(Error) -> Error,
    meet: impl FnOnce(&Stop) -> Result<T, Error>,
) -> Result<T, Error> {
    let (stop, asked, channel) = (&Stop::default(), watcher.stop(), &mut session.channel);
    let (done, is_done) = mpsc::channel::<()>();
    let look = move || loop {
        channel.check_peer().inspect_err(|_| stop.set())?;
        if asked.is_set() {
            stop.set();
        }
        if is_done.recv_timeout(Stop::LOOK) != Err(RecvTimeoutError::Timeout) {
            // The failure may have been caused by the peer's abort.
            return channel.check_peer();
        }
    };
    let (met, peer) = thread::scope(|scope| {
        let looking =
            thread::Builder::new().spawn_scoped(scope, look).map_err(net::Error::NoThread)?;
        let met = meet(stop);
        drop(done);
        let peer = looking.join().unwrap_or_else(|cause| panic::resume_unwind(cause));
        Ok::<_, net::Error>((met, peer))
    })?;
    peer.map_err(|error| match error {
        net::Error::PeerAborted(AbortReason::Stopped) => error.into(),
        error => peer_ended(error.into()),
    })?;
    // The leads still have each other, whatever became of the shards' connections.
    met.inspect_err(|failure| {
        session.channel.abort(failure.tell().unwrap_or(AbortReason::Internal))
    })
}

/// Advice for shards that use different ports: neither side can see that of the other.
pub fn about_ports(failure: Error, own_ports: bool) -> Error {
    if failure.status() != Status::Failed || failure.advice().is_some() {
        return failure;
    }
    failure.advise(match own_ports {
        true => "shards meet at ports of their own here: does the peer run with --shard-ports too, or with Ray?",
        false => "if the peer runs with --shard-ports, or with Ray, say --shard-ports here too",
    })
}
