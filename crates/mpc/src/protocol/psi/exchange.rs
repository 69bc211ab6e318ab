//! Exchanging the lists: shuffled, in chunks, never more in memory than a few of them.
//!
//! Both parties take the same steps. In step s a party sends its chunk s, then
//! receives, encrypts and returns the peer's chunk s − 1, then takes back its
//! own chunk s − 2. Everything awaited was sent in the peer's step before, so
//! neither waits for the other, and the line is busy while both compute.

use rand::seq::SliceRandom;
use sha2::{Digest, Sha256};

use super::matching::{DoubleEncryption, OwnRow};
use super::{Error, Exchange};
use crate::crypto::commutative::Group;
use crate::math::Randomness;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;

/// Elements encrypted once, by their owner.
const ONCE: Tag = Tag::new(*b"psi1");
/// The same elements encrypted again, returned to their owner.
const TWICE: Tag = Tag::new(*b"psi2");

/// A chunk takes about a second to make, whatever the group, and is much smaller than what may be
/// in flight.
const CHUNK_BYTES: usize = 512 << 10;

/// Exchanges both lists, each returned in the order received: own rows with
/// their double encryptions, and the peer's double encryptions.
pub(super) fn in_order<G: Group>(
    session: &mut Session,
    run: &Exchange<'_, G>,
) -> Result<(Vec<OwnRow>, Vec<DoubleEncryption>), Error> {
    let order = random_order(run.digests.len(), &mut session.rng);
    let channel = &mut session.channel;
    let chunk = chunk_elements(run.group);
    let mut own = Vec::with_capacity(order.len());
    // Grows with what arrives: an announced length alone must not allocate memory.
    let mut peer = Vec::new();
    let mut buffer = Vec::new();

    let mut to_send = order.chunks(chunk);
    let mut to_return = Sizes::new(run.peer_size, chunk);
    let mut to_take_back = order.chunks(chunk);
    let steps = order.len().div_ceil(chunk).max(run.peer_size.div_ceil(chunk)) + 2;
    for step in 0..steps {
        if let Some(rows) = to_send.next() {
            encrypt_rows(run, rows, &mut buffer)?;
            channel.send_bytes(ONCE, &buffer)?;
        }
        if step >= 1
            && let Some(size) = to_return.next()
        {
            channel.receive_bytes_into(ONCE, size * run.group.element_bytes(), &mut buffer)?;
            run.group
                .reencrypt_many(&run.key, &mut buffer, run.progress)
                .map_err(|error| error.shifted(peer.len()))?;
            channel.send_bytes(TWICE, &buffer)?;
            peer.extend(double_encryptions(run.group, &buffer));
        }
        if step >= 2
            && let Some(rows) = to_take_back.next()
        {
            channel.receive_bytes_into(
                TWICE,
                rows.len() * run.group.element_bytes(),
                &mut buffer,
            )?;
            run.group.check_many(&buffer).map_err(|error| error.shifted(own.len()))?;
            own.extend(double_encryptions(run.group, &buffer).zip(rows.iter().copied()));
        }
    }
    Ok((own, peer))
}

/// The messages of [`in_order`].
pub(super) fn forecast_in_order<G: Group>(f: &mut Forecast, group: &G, own: usize, peer: usize) {
    let (chunk, width) = (chunk_elements(group), group.element_bytes());
    let (role, other) = (f.role(), f.role().peer());
    let mut to_send = Sizes::new(own, chunk);
    let mut to_return = Sizes::new(peer, chunk);
    let mut to_take_back = Sizes::new(own, chunk);
    for step in 0..own.div_ceil(chunk).max(peer.div_ceil(chunk)) + 2 {
        if let Some(size) = to_send.next() {
            f.message(role, ONCE, size * width);
        }
        if step >= 1
            && let Some(size) = to_return.next()
        {
            f.message(other, ONCE, size * width);
            f.message(role, TWICE, size * width);
        }
        if step >= 2
            && let Some(size) = to_take_back.next()
        {
            f.message(other, TWICE, size * width);
        }
    }
}

/// Exchanges both lists, each shuffled as a whole before it is returned. (A shuffle inside each
/// chunk would reveal in which chunk a match is.)
pub(super) fn shuffled<G: Group>(
    session: &mut Session,
    run: &Exchange<'_, G>,
) -> Result<(Vec<DoubleEncryption>, Vec<DoubleEncryption>), Error> {
    let order = random_order(run.digests.len(), &mut session.rng);
    let channel = &mut session.channel;
    let chunk = chunk_elements(run.group);
    let width = run.group.element_bytes();
    let steps = order.len().div_ceil(chunk).max(run.peer_size.div_ceil(chunk));
    let mut buffer = Vec::new();

    let mut peer_elements = Vec::new();
    let mut to_send = order.chunks(chunk);
    let mut to_encrypt = Sizes::new(run.peer_size, chunk);
    for step in 0..=steps {
        if let Some(rows) = to_send.next() {
            encrypt_rows(run, rows, &mut buffer)?;
            channel.send_bytes(ONCE, &buffer)?;
        }
        if step >= 1
            && let Some(size) = to_encrypt.next()
        {
            channel.receive_bytes_into(ONCE, size * width, &mut buffer)?;
            run.group
                .reencrypt_many(&run.key, &mut buffer, run.progress)
                .map_err(|error| error.shifted(peer_elements.len() / width))?;
            peer_elements.extend_from_slice(&buffer);
        }
    }

    let return_order = random_order(run.peer_size, &mut session.rng);
    let mut to_return = return_order.chunks(chunk);
    let mut to_take_back = Sizes::new(order.len(), chunk);
    let mut own = Vec::with_capacity(order.len());
    for _ in 0..steps {
        if let Some(places) = to_return.next() {
            buffer.clear();
            for place in places {
                let start = *place as usize * width;
                buffer.extend_from_slice(&peer_elements[start..start + width]);
            }
            channel.send_bytes(TWICE, &buffer)?;
        }
        if let Some(size) = to_take_back.next() {
            channel.receive_bytes_into(TWICE, size * width, &mut buffer)?;
            run.group.check_many(&buffer).map_err(|error| error.shifted(own.len()))?;
            own.extend(double_encryptions(run.group, &buffer));
        }
    }
    let peer = double_encryptions(run.group, &peer_elements).collect();
    Ok((own, peer))
}

/// The messages of [`shuffled`].
pub(super) fn forecast_shuffled<G: Group>(f: &mut Forecast, group: &G, own: usize, peer: usize) {
    let (chunk, width) = (chunk_elements(group), group.element_bytes());
    let (role, other) = (f.role(), f.role().peer());
    let steps = own.div_ceil(chunk).max(peer.div_ceil(chunk));
    let (mut to_send, mut to_encrypt) = (Sizes::new(own, chunk), Sizes::new(peer, chunk));
    for step in 0..=steps {
        if let Some(size) = to_send.next() {
            f.message(role, ONCE, size * width);
        }
        if step >= 1
            && let Some(size) = to_encrypt.next()
        {
            f.message(other, ONCE, size * width);
        }
    }
    let (mut to_return, mut to_take_back) = (Sizes::new(peer, chunk), Sizes::new(own, chunk));
    for _ in 0..steps {
        if let Some(size) = to_return.next() {
            f.message(role, TWICE, size * width);
        }
        if let Some(size) = to_take_back.next() {
            f.message(other, TWICE, size * width);
        }
    }
}

/// The lengths of the chunks in which `total` elements come.
struct Sizes {
    left: usize,
    chunk: usize,
}

impl Sizes {
    fn new(total: usize, chunk: usize) -> Self {
        Self { left: total, chunk }
    }
}

impl Iterator for Sizes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let size = self.left.min(self.chunk);
        self.left -= size;
        (size > 0).then_some(size)
    }
}

pub(super) fn chunk_elements<G: Group>(group: &G) -> usize {
    (CHUNK_BYTES / group.element_bytes()).max(1)
}

fn encrypt_rows<G: Group>(
    run: &Exchange<'_, G>,
    rows: &[u32],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let identifiers: Vec<&[u8]> =
        rows.iter().map(|row| run.digests[*row as usize].as_slice()).collect();
    out.clear();
    out.resize(rows.len() * run.group.element_bytes(), 0);
    run.group.encrypt_many(&run.key, &run.domain, &identifiers, out, run.progress)?;
    Ok(())
}

fn random_order(size: usize, rng: &mut Randomness) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).take(size).collect();
    order.shuffle(rng);
    order
}

fn double_encryptions<G: Group>(
    group: &G,
    elements: &[u8],
) -> impl Iterator<Item = DoubleEncryption> {
    elements.chunks(group.element_bytes()).map(|element| {
        DoubleEncryption::try_from(element).unwrap_or_else(|_| Sha256::digest(element).into())
    })
}
