//! What the insured patients cost a hospital, added up by the insurer under the hospital's key.
//!
//! The hospital encrypts what each patient cost; the insurer adds the costs of those whom it insures,
//! and returns the sum. The insurer learns nothing. The hospital learns the sum, and not who is insured.
//!
//! ```text
//! cargo run --release --example paillier -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example paillier -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::crypto::paillier::{self, PublicKey, SecretKey, Tuning};
use diptych_mpc::net::Identity;
use diptych_mpc::net::Tag;
use diptych_mpc::protocol::Session;
use num_bigint::BigUint;

/// What both programs must have in common.
const TERMS: &[u8] = b"sum of the costs of insured patients, Paillier with 2048 bits";
const KEY_BITS: usize = 2048;
const KEY: Tag = Tag::new(*b"pkey");
const COSTS: Tag = Tag::new(*b"cost");
const SUM: Tag = Tag::new(*b"psum");

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => hospital(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => insurer(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn hospital(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let costs = [1_200_u32, 310, 95, 7_040, 560].map(BigUint::from);
    let key = SecretKey::generate(KEY_BITS, Tuning::default(), &mut session.rng)?;
    session.channel.send_bytes(KEY, &key.public().to_bytes())?;
    let mut encrypted = Vec::new();
    for cost in &costs {
        key.encrypt(cost, &mut session.rng)?.write(&mut encrypted);
    }
    session.channel.send_bytes(COSTS, &encrypted)?;

    let sum = session.channel.receive_bytes(SUM, paillier::ciphertext_bytes(KEY_BITS))?;
    for sum in key.read(&sum, 1)? {
        println!("the insured patients cost {}", key.decrypt(&sum));
    }
    Ok(())
}

fn insurer(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let insured = [true, false, true, false, true];
    let key = session.channel.receive_bytes(KEY, paillier::public_key_bytes(KEY_BITS))?;
    let key = PublicKey::from_bytes(&key, KEY_BITS, Tuning::default(), &mut session.rng)?;
    let due = insured.len() * paillier::ciphertext_bytes(KEY_BITS);
    let costs = key.read(&session.channel.receive_bytes(COSTS, due)?, insured.len())?;

    let ours = costs.iter().zip(insured).filter(|(_, insured)| *insured).map(|(cost, _)| cost);
    let sum = key.sum(&ours.collect::<Vec<_>>());
    // Without fresh randomness, the owner of the key could tell which ciphertexts were added.
    let randomiser = key.randomiser(&mut session.rng)?;
    let mut returned = Vec::new();
    key.rerandomise(&sum, randomiser).write(&mut returned);
    session.channel.send_bytes(SUM, &returned)?;
    println!("the sum of {} encrypted costs is returned", insured.len());
    Ok(())
}
