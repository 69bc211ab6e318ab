//! The first messages of every conversation: same protocol, same terms,
//! different roles, this connection and no other.
//!
//! Both send a *hello* (version, role, SHA-256 of the terms, nonce) and read
//! the other's. If the terms differ, both send them whole, so that each side
//! can name the first difference. Otherwise both derive
//! `session id = SHA-256(label, version, terms, nonce of P1, nonce of P2, binding)`,
//! where the binding is the TLS exporter's value, and prove it to each other
//! with a *confirmation* that depends on the role. A replayed hello or
//! confirmation fails here, because binding and own nonce are new every time.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::math::Randomness;
use crate::net::codec::CODEC_LIMIT;
use crate::net::{AbortReason, Channel, Error, Limits, Message, Tag};
use crate::role::Role;

/// Version of the wire format and of all messages.
pub const PROTOCOL_VERSION: u16 = 9;

const SESSION_LABEL: &[u8] = b"diptych session v1";
const CONFIRMATION_LABEL: &[u8] = b"diptych confirmation v1";

/// Identifies one conversation; both parties have the same. It enters every domain-separation
/// string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId([u8; 32]);

impl SessionId {
    /// A session id from its bytes, for vectors and tests.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    pub(crate) role: Role,
    pub(crate) terms_hash: [u8; 32],
    pub(crate) nonce: [u8; 32],
}

impl Message for Hello {
    const TAG: Tag = Tag::new(*b"helo");
    const MOST_BYTES: usize = 70;
}

#[derive(Serialize, Deserialize)]
struct Confirmation {
    proof: [u8; 32],
}

impl Message for Confirmation {
    const TAG: Tag = Tag::new(*b"conf");
    const MOST_BYTES: usize = 32;
}

const TERMS: Tag = Tag::new(*b"term");

/// The meter's name for this conversation.
pub const PHASE: &str = "handshake";
/// What each party sends in a successful one: tag and bytes of the body.
pub const MESSAGES: [(Tag, usize); 2] =
    [(Hello::TAG, Hello::MOST_BYTES), (Confirmation::TAG, Confirmation::MOST_BYTES)];

/// Runs the handshake. `terms` are the canonical bytes of everything that the
/// two sides must have in common: the agreement, or the parameters of a
/// protocol that runs alone.
///
/// # Errors
/// [`Error::Version`], [`Error::SameRole`], [`Error::Terms`] (with the peer's
/// terms), [`Error::NotThisSession`], or a failure of the channel.
pub fn run(
    channel: &mut Channel,
    role: Role,
    terms: &[u8],
    rng: &mut Randomness,
) -> Result<SessionId, Error> {
    let limits = *channel.limits();
    channel.set_limits(Limits { read: limits.handshake, write: limits.handshake, ..limits });
    channel.begin_phase(PHASE);
    let outcome = exchange(channel, role, terms, rng);
    channel.set_limits(limits);
    outcome
}

fn exchange(
    channel: &mut Channel,
    role: Role,
    terms: &[u8],
    rng: &mut Randomness,
) -> Result<SessionId, Error> {
    let ours = Hello {
        version: PROTOCOL_VERSION,
        role,
        terms_hash: Sha256::digest(terms).into(),
        nonce: rng.array(),
    };
    channel.send(&ours)?;
    let theirs: Hello = channel.receive()?;
    if theirs.version != PROTOCOL_VERSION {
        return Err(Error::Version { ours: PROTOCOL_VERSION, theirs: theirs.version });
    }
    if theirs.role == role {
        return Err(Error::SameRole(role));
    }
    if theirs.terms_hash != ours.terms_hash {
        return Err(compare_terms(channel, terms, &theirs.terms_hash)?);
    }
    let id = session_id(&ours, &theirs, &channel.binding()?);
    channel.send(&Confirmation { proof: proof(role, &id) })?;
    let Confirmation { proof: got } = channel.receive()?;
    if !bool::from(got.ct_eq(&proof(role.peer(), &id))) {
        channel.abort(AbortReason::Disagreement);
        return Err(Error::NotThisSession);
    }
    Ok(id)
}

/// Exchanges the terms themselves. The peer's must match the hash that it announced.
fn compare_terms(
    channel: &mut Channel,
    terms: &[u8],
    announced: &[u8; 32],
) -> Result<Error, Error> {
    let limit = channel.limits().frame_bytes.min(CODEC_LIMIT);
    if terms.len() > limit {
        return Err(Error::FrameTooLarge { length: terms.len() as u64, limit });
    }
    channel.send_bytes(TERMS, terms)?;
    let mut theirs = Vec::new();
    channel.receive_bytes_at_most(TERMS, limit, &mut theirs)?;
    if Sha256::digest(&theirs).as_slice() != announced {
        return Err(Error::Malformed { tag: TERMS, problem: "it is not what its hash announced" });
    }
    Ok(Error::Terms { theirs })
}

fn session_id(ours: &Hello, theirs: &Hello, binding: &[u8; 32]) -> SessionId {
    let (p1, p2) = match ours.role {
        Role::P1 => (&ours.nonce, &theirs.nonce),
        Role::P2 => (&theirs.nonce, &ours.nonce),
    };
    // Every part but the label has a fixed width, so the concatenation is unambiguous.
    let mut hash = Sha256::new();
    hash.update(SESSION_LABEL);
    hash.update(PROTOCOL_VERSION.to_le_bytes());
    for part in [&ours.terms_hash, p1, p2, binding] {
        hash.update(part);
    }
    SessionId(hash.finalize().into())
}

fn proof(role: Role, id: &SessionId) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(CONFIRMATION_LABEL);
    hash.update([role as u8]);
    hash.update(id.as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::net::{Direction, memory};

    type Outcome = Result<SessionId, Error>;

    fn shake(first: (Role, &[u8]), second: (Role, &[u8])) -> (Outcome, Outcome) {
        let (mut a, mut b) = memory::pair(Limits::default());
        thread::scope(|scope| {
            let one =
                scope.spawn(move || run(&mut a, first.0, first.1, &mut Randomness::seeded(1)));
            let two = run(&mut b, second.0, second.1, &mut Randomness::seeded(2));
            (one.join().unwrap(), two)
        })
    }

    #[test]
    fn both_sides_get_the_same_session_id_and_other_terms_give_another() {
        let (a, b) = shake((Role::P1, b"terms"), (Role::P2, b"terms"));
        let id = a.unwrap();
        assert_eq!(id, b.unwrap());
        let (other, _) = shake((Role::P1, b"other"), (Role::P2, b"other"));
        assert_ne!(id, other.unwrap());
    }

    #[test]
    fn the_session_id_is_the_hash_that_the_page_states() {
        let (a, _) = shake((Role::P1, b"terms"), (Role::P2, b"terms"));
        let nonce = |seed| Randomness::seeded(seed).array::<32>();
        let mut text = b"diptych session v1".to_vec();
        text.extend(PROTOCOL_VERSION.to_le_bytes());
        text.extend(Sha256::digest(b"terms"));
        text.extend(nonce(1));
        text.extend(nonce(2));
        text.extend([0; 32]);
        assert_eq!(a.unwrap().as_bytes(), Sha256::digest(text).as_slice());
    }

    #[test]
    fn messages_have_the_lengths_that_are_stated() {
        let (mut a, mut b) = memory::pair(Limits::default());
        a.record_transcript();
        thread::scope(|scope| {
            scope.spawn(|| run(&mut b, Role::P2, b"x", &mut Randomness::seeded(2)));
            run(&mut a, Role::P1, b"x", &mut Randomness::seeded(1)).unwrap();
        });
        let transcript = a.transcript();
        let sent: Vec<_> = transcript.iter().filter(|m| m.0 == Direction::Sent).collect();
        let stated = MESSAGES.map(|(tag, bytes)| (Direction::Sent, tag, bytes));
        assert_eq!(sent, stated.iter().collect::<Vec<_>>());
    }

    #[test]
    fn two_parties_in_one_role_are_told_so() {
        let (a, b) = shake((Role::P2, b"terms"), (Role::P2, b"terms"));
        assert!(matches!(a, Err(Error::SameRole(Role::P2))));
        assert!(matches!(b, Err(Error::SameRole(Role::P2))));
    }

    #[test]
    fn different_terms_are_shown_to_both_sides() {
        let (a, b) = shake((Role::P1, b"mine"), (Role::P2, b"yours"));
        assert!(matches!(a, Err(Error::Terms { theirs }) if theirs == b"yours"));
        assert!(matches!(b, Err(Error::Terms { theirs }) if theirs == b"mine"));
    }

    /// A scripted peer: its answers are made from what it receives.
    fn against(answer: impl FnOnce(&mut Channel, Hello) + Send) -> Outcome {
        let (a, mut b) = memory::pair(Limits::default());
        thread::scope(|scope| {
            scope.spawn(move || {
                let hello = b.receive::<Hello>().unwrap();
                answer(&mut b, hello);
                // Keep the connection open until the other side is done: it may still be sending.
                while !matches!(b.receive_bytes(TERMS, 0), Err(Error::Closed)) {}
            });
            let mut ours = a;
            run(&mut ours, Role::P1, b"terms", &mut Randomness::seeded(3))
        })
    }

    #[test]
    fn another_protocol_version_is_named() {
        const OTHER: u16 = PROTOCOL_VERSION + 1;
        let outcome = against(|peer, hello| {
            peer.send(&Hello { version: OTHER, role: Role::P2, ..hello }).unwrap();
        });
        assert!(matches!(outcome, Err(Error::Version { theirs: OTHER, .. })));
    }

    #[test]
    fn a_hello_and_confirmation_replayed_from_another_conversation_are_refused() {
        let outcome = against(|peer, hello| {
            let old = Hello { role: Role::P2, nonce: [9; 32], ..hello };
            peer.send(&old).unwrap();
            // What the peer proved in an earlier conversation, where P1 had another nonce.
            let earlier = Hello { role: Role::P1, nonce: [8; 32], ..old };
            let id = session_id(&earlier, &old, &[0; 32]);
            peer.send(&Confirmation { proof: proof(Role::P2, &id) }).unwrap();
        });
        assert!(matches!(outcome, Err(Error::NotThisSession)));
    }

    #[test]
    fn our_own_confirmation_sent_back_to_us_is_refused() {
        let outcome = against(|peer, hello| {
            peer.send(&Hello { role: Role::P2, nonce: [9; 32], ..hello }).unwrap();
            let reflected: Confirmation = peer.receive().unwrap();
            peer.send(&reflected).unwrap();
        });
        assert!(matches!(outcome, Err(Error::NotThisSession)));
    }

    #[test]
    fn terms_that_do_not_hash_to_what_was_announced_are_refused() {
        let outcome = against(|peer, hello| {
            peer.send(&Hello { role: Role::P2, terms_hash: [1; 32], ..hello }).unwrap();
            peer.send_bytes(TERMS, b"something").unwrap();
        });
        assert!(matches!(outcome, Err(Error::Malformed { .. })));
    }
}
