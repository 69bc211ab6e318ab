//! Secure sum around a ring of three parties or more (thesis, section 5.4).
//!
//! *Inputs*: each party the same public number of words modulo 2^k, k public. *Output*: the sums
//! modulo 2^k, at every party. *Learned*: the sums, by each party **alone**; see the caveat for two
//! that combine what they saw. *Cost*: 2n − 1 messages of 32 bytes and ⌈k/8⌉ per word, one after
//! the other: every party waits for two laps. No cryptography beyond that of the connections.
//!
//! Parties sit in a ring, at places 0 to n − 1; each has a [`Session`] with the one before it and one
//! with the one after it. The party at place 0 adds a mask to its words, uniform modulo 2^k and drawn
//! anew for each word, and sends them on; each adds its own words and sends on; what comes back to
//! place 0, less the masks, are the sums, which then go around once more, as far as the last place.
//!
//! *Why it hides.* A party after place 0 sees in the first lap words plus masks that it does not know:
//! uniform, whatever the inputs are. Place 0 sees the sums, masked by itself. In the second lap each
//! sees the sums. So the view of one party is made from the sums, its own words and coins.
//!
//! # The caveat
//!
//! **Two parties with one other between them know that one's words**, if they compare what they sent
//! and received: the difference is those words. For the party at place 0 they take the sums into
//! account, and the masks do not help. More generally, whatever lies between two that collude adds up
//! to a number that they know. Among three parties that is nothing new, because any two know the
//! third's words from the sums; **from four parties on it is more than the sums tell**. And a sum of
//! two parties' words hides nothing, which is why two are refused. Where parties may collude, let all
//! of them give [`shares`](crate::protocol::shares) of their words to two of them who do not, and let
//! those two compute.
//!
//! Nothing here is checked either: a party that adds other words than its own, or sends on other
//! sums, is not detected. And the sums are exact: no noise is added for privacy, so words that must
//! be hidden from each other may need to be hidden in their sum too.
//!
//! # Example
//!
//! Three hospitals add up how many patients they had with two illnesses.
//!
//! ```
//! use diptych_mpc::paper::secure_sum::{RingShape, run_ring, sum};
//!
//! let patients = [[12, 0], [7, 3], [31, 1]];
//! let shape = RingShape { parties: 3, entries: 2, bits: 32 };
//! let outcomes = run_ring(3, |place, neighbours| sum(neighbours, &shape, &patients[place]))?;
//! for outcome in outcomes {
//!     assert_eq!(outcome.output?, [50, 4]);
//!     let sent = outcome.next.total().messages_sent;
//!     assert!(sent <= 2);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ring;
#[cfg(test)]
mod tests;

use rand::Rng;
use zeroize::Zeroizing;

use crate::Error;
use crate::net::{AbortReason, Tag};
use crate::protocol::Session;
use crate::role::Role;

pub use ring::{RingOutcome, run_ring};

const WORDS: Tag = Tag::new(*b"ring");

/// A message begins with four numbers of eight bytes.
const HEAD_BYTES: usize = 32;
/// The largest number of parties.
pub const MOST_PARTIES: usize = 1_000;
/// The largest number of words, which are one message.
pub const MOST_ENTRIES: usize = 1 << 20;

/// One of a party's two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The one that it receives from.
    Previous,
    /// The one that it sends to.
    Next,
}

impl std::fmt::Display for Neighbour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Previous => "previous",
            Self::Next => "next",
        })
    }
}

/// What all parties have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingShape {
    /// n ≥ 3.
    pub parties: usize,
    /// How many words each has.
    pub entries: usize,
    /// k of the ring Z_{2^k}, 1 to 64: sums wrap at 2^k, so it is chosen by the largest sum.
    pub bits: u32,
}

/// One party's place in the ring.
pub struct Neighbours<'s> {
    /// From 0 on; place 0 begins.
    pub place: usize,
    /// The session with the party one place before, or the last one; this party is P2 in it.
    pub previous: &'s mut Session,
    /// The session with the party one place after, or the first one; this party is P1 in it.
    pub next: &'s mut Session,
}

/// The sums, word by word, modulo 2^`bits`.
pub fn ideal(shape: &RingShape, words: &[&[u64]]) -> Vec<u64> {
    let sum = |entry| words.iter().fold(0u64, |sum, of_one| sum.wrapping_add(of_one[entry]));
    (0..shape.entries).map(|entry| sum(entry) & shape.largest()).collect()
}

/// Adds up the words of all parties; all get the sums. If it fails, notify both neighbours with
/// [`Neighbours::conclude`].
///
/// # Errors
/// For words that are not as the shape says, and failures of a connection or the previous party.
pub fn sum(
    neighbours: &mut Neighbours<'_>,
    shape: &RingShape,
    own: &[u64],
) -> Result<Vec<u64>, Error> {
    let place = neighbours.place;
    shape.check(place, own)?;
    if (neighbours.previous.role, neighbours.next.role) != (Role::P2, Role::P1) {
        return Err(Error::input(
            "a party is P2 towards the one before it and P1 towards the one after it",
        ));
    }
    let masks = match place {
        0 => shape.masks(&mut neighbours.next.rng),
        _ => neighbours.receive(shape, place)?,
    };
    neighbours.send(shape, place + 1, &shape.plus(&masks, own))?;
    let second = shape.parties + place;
    let sums = neighbours.receive(shape, second)?;
    // What comes back to place 0 is the sums and its masks.
    let sums = if place == 0 { shape.minus(&sums, &masks) } else { sums };
    if place + 1 < shape.parties {
        neighbours.send(shape, second + 1, &sums)?;
    }
    Ok(sums.to_vec())
}

impl Neighbours<'_> {
    /// Ends the conversation: if it failed, both neighbours are sent the reason, once, without
    /// private detail. The one that is not to blame is told that something failed here.
    ///
    /// # Errors
    /// Those of the outcome.
    pub fn conclude<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        let Err(error) = outcome else { return outcome };
        let about = match &error {
            Error::Ring(neighbour, _) => Some(*neighbour),
            Error::Disagreement(_) | Error::Peer(_) => Some(Neighbour::Previous),
            _ => None,
        };
        let reason = error.blame().reason();
        for (neighbour, session) in
            [(Neighbour::Previous, &mut *self.previous), (Neighbour::Next, &mut *self.next)]
        {
            let reason = match about {
                Some(one) if one != neighbour => Some(AbortReason::Internal),
                _ => reason,
            };
            if let Some(reason) = reason {
                session.channel.abort(reason);
            }
        }
        Err(error)
    }

    fn send(&mut self, shape: &RingShape, hop: usize, words: &[u64]) -> Result<(), Error> {
        let body = Zeroizing::new(shape.message(hop, words));
        let sent = self.next.channel.send_bytes(WORDS, &body);
        sent.map_err(|error| Error::Ring(Neighbour::Next, Box::new(error)))
    }

    fn receive(&mut self, shape: &RingShape, hop: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
        let body = self.previous.channel.receive_bytes(WORDS, shape.message_bytes());
        let body = body.map_err(|error| Error::Ring(Neighbour::Previous, Box::new(error)))?;
        shape.read(hop, &Zeroizing::new(body))
    }
}

impl RingShape {
    /// The bytes of every message.
    pub fn message_bytes(&self) -> usize {
        HEAD_BYTES + self.entries * self.word_bytes()
    }

    fn word_bytes(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    fn largest(&self) -> u64 {
        u64::MAX >> (64 - self.bits.clamp(1, 64))
    }

    pub(crate) fn check(&self, place: usize, own: &[u64]) -> Result<(), Error> {
        if !(3..=MOST_PARTIES).contains(&self.parties) {
            return Err(impossible("it has 3 to 1000 parties"));
        }
        if !(1..=64).contains(&self.bits) {
            return Err(impossible("words have 1 to 64 bits"));
        }
        if self.entries > MOST_ENTRIES {
            return Err(impossible("there are at most 1048576 words"));
        }
        if place >= self.parties {
            return Err(impossible("places are from 0 to one below the number of parties"));
        }
        if own.len() != self.entries {
            return Err(Error::input(format!(
                "{} words where the shape says {}",
                own.len(),
                self.entries
            )));
        }
        let too_long = own.iter().position(|word| *word > self.largest());
        too_long.map_or(Ok(()), |place| {
            Err(Error::input(format!("word {place} is outside the bounds of the shape")))
        })
    }

    /// Uniform words: 2^k divides 2^64.
    fn masks(&self, rng: &mut impl Rng) -> Zeroizing<Vec<u64>> {
        Zeroizing::new((0..self.entries).map(|_| rng.next_u64() & self.largest()).collect())
    }

    /// What a party sends in the first lap: what it received, or its masks, plus its own words.
    pub(crate) fn plus(&self, heard: &[u64], own: &[u64]) -> Zeroizing<Vec<u64>> {
        let sums = heard.iter().zip(own).map(|(a, b)| a.wrapping_add(*b) & self.largest());
        Zeroizing::new(sums.collect())
    }

    /// The sums that the party at place 0 computes from what comes back.
    pub(crate) fn minus(&self, heard: &[u64], masks: &[u64]) -> Zeroizing<Vec<u64>> {
        let sums = heard.iter().zip(masks).map(|(a, b)| a.wrapping_sub(*b) & self.largest());
        Zeroizing::new(sums.collect())
    }

    /// Message number `hop`, from 1 on: it goes to place `hop` mod n.
    pub(crate) fn message(&self, hop: usize, words: &[u64]) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.message_bytes());
        body.extend(self.head(hop));
        for word in words {
            body.extend_from_slice(&word.to_le_bytes()[..self.word_bytes()]);
        }
        body
    }

    fn head(&self, hop: usize) -> Vec<u8> {
        let numbers = [self.parties as u64, hop as u64, self.entries as u64, u64::from(self.bits)];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The words of a message that is expected as number `hop`.
    pub(crate) fn read(&self, hop: usize, body: &[u8]) -> Result<Zeroizing<Vec<u64>>, Error> {
        let Some((head, body)) = body.split_at_checked(HEAD_BYTES) else {
            return Err(other_shape());
        };
        if head != self.head(hop) || body.len() != self.entries * self.word_bytes() {
            return Err(other_shape());
        }
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let words = body.chunks_exact(self.word_bytes()).map(word);
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(words.collect());
        match words.iter().position(|word| *word > self.largest()) {
            Some(place) => Err(Error::peer(format!(
                "word {place} of the previous party has too many bits; the run was aborted"
            ))),
            None => Ok(words),
        }
    }
}

fn impossible(why: &str) -> Error {
    Error::input(format!("this ring is impossible: {why}"))
}

/// The previous party has another shape, or another place than the one before this.
fn other_shape() -> Error {
    Error::disagreement(
        "the previous party of the ring works on another ring; all must agree on it",
    )
}
