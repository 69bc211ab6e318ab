//! The messages of the two parties around a release. None of them depends on their data.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::net::{self, Message, Signature, Tag};
use crate::privacy::ledger::Hash;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;

/// The phase in which both exchange the state of earlier runs.
pub(super) const STATUS: &str = "status";
/// The phase in which both confirm that ε is in their ledgers.
pub(super) const DEBIT: &str = "debit";
/// The phase in which both sign the release.
pub(super) const SIGNING: &str = "signing";
/// The phase in which both confirm that they have written it.
pub(super) const CLOSING: &str = "closing";

/// How many shards a party can process at a time.
#[derive(Serialize, Deserialize)]
struct AtOnce {
    shards: u32,
}

impl Message for AtOnce {
    const TAG: Tag = Tag::new(*b"shrd");
    const MOST_BYTES: usize = 4;
}

/// Sends the peer how many shards may be processed here at a time, and returns the minimum of both.
pub(super) fn exchange_at_once(session: &mut Session, own: u32) -> Result<usize, net::Error> {
    session.channel.send(&AtOnce { shards: own })?;
    let AtOnce { shards } = session.channel.receive()?;
    Ok(shards.min(own).max(1) as usize)
}

/// The messages by which so many shards connect.
pub(super) fn forecast_shards(f: &mut Forecast, shards: usize) -> Result<(), net::Error> {
    f.exchange_like(&AtOnce { shards: 0 })?;
    f.in_shards(shards, Session::forecast);
    Ok(())
}

/// The peer's ledger is debited, and this is its head.
#[derive(Serialize, Deserialize)]
struct Debited {
    head: [u8; 32],
}

impl Message for Debited {
    const TAG: Tag = Tag::new(*b"debt");
    const MOST_BYTES: usize = 32;
}

pub(super) fn exchange_heads(session: &mut Session, own: Hash) -> Result<Hash, Error> {
    session.channel.send(&Debited { head: own.0 })?;
    let Debited { head } = session.channel.receive()?;
    if Hash(head) == Hash::BEGINNING {
        let problem = "it is the head of an empty ledger";
        return Err(net::Error::Malformed { tag: Debited::TAG, problem }.into());
    }
    Ok(Hash(head))
}

/// The message of [`exchange_heads`].
pub(super) fn forecast_heads(f: &mut Forecast) -> Result<(), net::Error> {
    f.begin_phase(DEBIT);
    f.exchange_like(&Debited { head: [0; 32] })
}

/// What a party has made, and its signature of it.
#[derive(Serialize, Deserialize)]
struct Signed {
    /// What was signed: a label and the hash of the manifest's body, which has the release's.
    message: Vec<u8>,
    public_key: [u8; 32],
    signature: [[u8; 32]; 2],
}

impl Message for Signed {
    const TAG: Tag = Tag::new(*b"sign");
    const MOST_BYTES: usize = 1024;
}

pub(super) fn exchange_signatures(
    session: &mut Session,
    message: &[u8],
    own: Signature,
) -> Result<Signature, Error> {
    let mut signature = [[0; 32]; 2];
    signature.as_flattened_mut().copy_from_slice(&own.bytes);
    let public_key = own.public_key;
    session.channel.send(&Signed { message: message.to_vec(), public_key, signature })?;
    let theirs: Signed = session.channel.receive()?;
    if theirs.message != message {
        return Err(Error::disagreement(
            "the two parties have made different releases; nothing is released, and this is a fault of \
             one of the programs",
        ));
    }
    let mut bytes = [0; 64];
    bytes.copy_from_slice(theirs.signature.as_flattened());
    Ok(Signature { public_key: theirs.public_key, bytes })
}

/// The messages of signing and closing, where so many bytes are signed.
pub(super) fn forecast_end(f: &mut Forecast, signed: usize) -> Result<(), net::Error> {
    f.begin_phase(SIGNING);
    let message = vec![0; signed];
    f.exchange_like(&Signed { message, public_key: [0; 32], signature: [[0; 32]; 2] })?;
    forecast_closing(f)
}

/// The messages of closing alone.
pub(super) fn forecast_closing(f: &mut Forecast) -> Result<(), net::Error> {
    f.begin_phase(CLOSING);
    f.exchange_like(&Written)
}

/// The files are written and the run is closed in the ledger.
#[derive(Serialize, Deserialize)]
struct Written;

impl Message for Written {
    const TAG: Tag = Tag::new(*b"done");
    const MOST_BYTES: usize = 0;
}

pub(super) fn exchange_written(session: &mut Session) -> Result<(), net::Error> {
    session.channel.send(&Written)?;
    session.channel.receive::<Written>().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{AbortReason, Identity};
    use crate::protocol::pair::{Setup, run_pair};

    #[test]
    fn different_releases_end_the_run_on_both_sides() {
        let sign = |session: &mut Session, message: &[u8]| {
            let identity = Identity::from_pem(&Identity::generate_pem("x").unwrap()).unwrap();
            let own = identity.sign(message).unwrap();
            exchange_signatures(session, message, own)
        };
        let outcome = run_pair(
            Setup::default(),
            |session| sign(session, b"one"),
            |session| sign(session, b"another"),
        );
        for ended in [outcome.p1, outcome.p2] {
            let ended = ended.unwrap_err();
            assert_eq!(ended.tell(), Some(AbortReason::Disagreement));
            assert!(ended.message().contains("different releases"));
        }
        let outcome = run_pair(
            Setup::default(),
            |session| sign(session, b"one").unwrap().is_by(fingerprint_of_nobody(), b"one"),
            |session| sign(session, b"one").is_ok(),
        );
        assert!(!outcome.p1 && outcome.p2, "whose signature it is, is for the caller to check");
    }

    fn fingerprint_of_nobody() -> net::Fingerprint {
        format!("sha256:{}", "00".repeat(32)).parse().unwrap()
    }

    #[test]
    fn garbage_in_place_of_a_head_or_a_signature_is_malformed() {
        for tag in [Debited::TAG, Signed::TAG] {
            let outcome = run_pair(
                Setup::default(),
                |session| match tag == Debited::TAG {
                    true => exchange_heads(session, Hash([1; 32])).map(|_| ()),
                    false => {
                        let own = Signature { public_key: [0; 32], bytes: [0; 64] };
                        exchange_signatures(session, b"x", own).map(|_| ())
                    }
                },
                |session| {
                    session.channel.send_bytes(tag, &[9; 31]).unwrap();
                    let _ = session.channel.receive_bytes(tag, 0);
                },
            );
            assert_eq!(outcome.p1.unwrap_err().tell(), Some(AbortReason::BadMessage));
        }
    }
}
