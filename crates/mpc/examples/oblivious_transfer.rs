//! A reader takes one of two articles of each pair; the archive does not learn which.
//!
//! By oblivious transfer. Strings are 16 bytes each, here keys that decrypt the articles; the reader learns
//! nothing about the other key of each pair.
//!
//! ```text
//! cargo run --release --example oblivious_transfer -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example oblivious_transfer -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::crypto::garble::Delta;
use diptych_mpc::net::Identity;
use diptych_mpc::protocol::Session;
use diptych_mpc::protocol::ot::{Receiver, Sender};

/// What both programs must have in common.
const TERMS: &[u8] = b"one of two keys for each of 3 articles";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => archive(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => reader(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn archive(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let keys = [[0x10, 0x11], [0x20, 0x21], [0x30, 0x31]];
    let delta = Delta::random(&mut session.rng);
    // Set up once for all transfers of a session.
    let mut sender = Sender::setup(session, delta)?;
    sender.chosen(session, &keys)?;
    println!("{} keys of {} are taken", keys.len(), 2 * keys.len());
    Ok(())
}

fn reader(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let choices = [false, true, true];
    let mut receiver = Receiver::setup(session)?;
    let keys = receiver.chosen(session, &choices)?;
    println!("the chosen keys: {keys:x?}");
    Ok(())
}
