//! Exchanging ciphertexts: in chunks, never more in memory than a few of them.

use std::sync::mpsc::sync_channel;
use std::time::Duration;
use std::{panic, thread};

use num_bigint::BigUint;
use rayon::prelude::*;

use super::{Error, Progress};
use crate::crypto::paillier::{Ciphertext, PublicKey, Returned, SecretKey};
use crate::net::{Channel, Limits, Tag};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::role::Role;

/// Ciphertexts sent to the party without the key.
pub(super) const FRESH: Tag = Tag::new(*b"ssp1");
/// What returns to the key's owner.
pub(super) const RETURNED: Tag = Tag::new(*b"ssp2");

/// A chunk takes about a tenth of a second to make on the vector path, and is much smaller than
/// what may be in flight.
const CHUNK_BYTES: usize = 512 << 10;

/// Chunks that may wait for the line while the next is made.
const WAITING: usize = 2;

/// The time that a slow peer may need to re-randomise one ciphertext: the owner waits for all of
/// them.
const SLOWEST_RERANDOMISE_MS: u64 = 250;
/// The most by which the usual time limit is extended.
const LONGEST_WORK: Duration = Duration::from_secs(6 * 3600);

/// Encrypts plaintexts 0 to `total` − 1 and sends them. One thread sends while the caller's
/// encrypt the next chunk.
pub(super) fn send_fresh(
    session: &mut Session,
    key: &SecretKey,
    total: usize,
    plaintext: impl Fn(usize) -> Result<BigUint, Error> + Sync,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let Session { channel, rng, .. } = session;
    let width = key.public().ciphertext_bytes();
    thread::scope(|scope| {
        let (queue, ready) = sync_channel::<Vec<u8>>(WAITING);
        let send =
            move || ready.into_iter().try_for_each(|bytes| channel.send_bytes(FRESH, &bytes));
        let sender = thread::Builder::new().spawn_scoped(scope, send).map_err(Error::NoThread)?;
        let made = chunks(total, width).try_for_each(|items| {
            let plaintexts =
                items.into_par_iter().map(&plaintext).collect::<Result<Vec<_>, _>>()?;
            let mut bytes = Vec::with_capacity(plaintexts.len() * width);
            let fresh = key.encrypt_all(&plaintexts, rng, progress)?;
            fresh.iter().for_each(|ciphertext| ciphertext.write(&mut bytes));
            // A queue without a reader means that sending failed; the sender returns the error.
            queue.send(bytes).map_err(|_| Error::Closed)
        });
        drop(queue);
        sender.join().unwrap_or_else(|cause| panic::resume_unwind(cause))?;
        made
    })
}

/// Receives `total` ciphertexts; `take` gets each chunk with the number of its first one.
pub(super) fn receive_fresh(
    channel: &mut Channel,
    key: &PublicKey,
    total: usize,
    mut take: impl FnMut(usize, &[Ciphertext]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    for items in chunks(total, key.ciphertext_bytes()) {
        channel.receive_bytes_into(FRESH, items.len() * key.ciphertext_bytes(), &mut buffer)?;
        take(items.start, &key.read(&buffer, items.len())?)?;
    }
    Ok(())
}

/// Sends results to the key's owner. The type ensures that all of them are re-randomised.
pub(super) fn send_returned(
    channel: &mut Channel,
    key: &PublicKey,
    results: &[Returned],
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    for items in chunks(results.len(), key.ciphertext_bytes()) {
        buffer.clear();
        results[items].iter().for_each(|result| result.write(&mut buffer));
        channel.send_bytes(RETURNED, &buffer)?;
    }
    Ok(())
}

/// Receives `total` results; `take` gets the plaintexts of each chunk with the number of its first.
pub(super) fn receive_returned(
    channel: &mut Channel,
    key: &SecretKey,
    total: usize,
    progress: Progress<'_>,
    mut take: impl FnMut(usize, &[BigUint]) -> Result<(), Error>,
) -> Result<(), Error> {
    let usual = *channel.limits();
    // All results are sent together, so the first arrives after the work on all: a public number.
    let work = Duration::from_millis(SLOWEST_RERANDOMISE_MS.saturating_mul(total as u64));
    let work = work.min(LONGEST_WORK);
    channel.set_limits(Limits { read: usual.read + work, ..usual });
    let mut buffer = Vec::new();
    let width = key.public().ciphertext_bytes();
    for items in chunks(total, width) {
        channel.receive_bytes_into(RETURNED, items.len() * width, &mut buffer)?;
        channel.set_limits(usual);
        let results = key.read(&buffer, items.len())?;
        take(items.start, &key.decrypt_all(&results, progress))?;
    }
    Ok(())
}

/// The messages of [`send_fresh`].
pub(super) fn forecast_fresh(f: &mut Forecast, from: Role, total: usize, width: usize) {
    chunks(total, width).for_each(|items| f.message(from, FRESH, items.len() * width));
}

/// The messages of [`send_returned`].
pub(super) fn forecast_returned(f: &mut Forecast, from: Role, total: usize, width: usize) {
    chunks(total, width).for_each(|items| f.message(from, RETURNED, items.len() * width));
}

/// The ranges of 0 to `total` − 1 that are sent together.
fn chunks(total: usize, width: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let chunk = (CHUNK_BYTES / width).max(1);
    (0..total).step_by(chunk).map(move |first| first..(first + chunk).min(total))
}
