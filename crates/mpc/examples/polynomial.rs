//! Applies a tariff to an income that its owner does not reveal.
//!
//! Oblivious polynomial evaluation by Paillier encryption: the resident has an income, the office a
//! secret polynomial. The resident learns its value at the income, the office learns nothing.
//!
//! ```text
//! cargo run --release --example polynomial -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example polynomial -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::crypto::paillier::{self, PublicKey, SecretKey, Tuning};
use diptych_mpc::net::Identity;
use diptych_mpc::net::Tag;
use diptych_mpc::paper::polynomial::{NoWrap, receive, send};
use diptych_mpc::protocol::Session;
use num_bigint::{BigInt, BigUint};

/// What both programs must have in common.
const TERMS: &[u8] =
    b"polynomial of degree 2, income and coefficients up to 1000, Paillier with 2048 bits";
const KEY_BITS: usize = 2048;
const KEY: Tag = Tag::new(*b"pkey");

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => resident(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => office(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn resident(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let income = [BigInt::from(57)];
    let key = SecretKey::generate(KEY_BITS, Tuning::default(), &mut session.rng)?;
    session.channel.send_bytes(KEY, &key.public().to_bytes())?;
    let contribution = receive(session, &key, &bound(key.public())?, &income, &|_| ())?;
    println!("the contribution is {}", contribution[0]);
    Ok(())
}

fn office(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let tariff = [-200, 10, 3].map(BigInt::from); // 3·x² + 10·x − 200
    let key = session.channel.receive_bytes(KEY, paillier::public_key_bytes(KEY_BITS))?;
    let key = PublicKey::from_bytes(&key, KEY_BITS, Tuning::default(), &mut session.rng)?;
    send(session, &key, &bound(&key)?, &[tariff.to_vec()], &|_| ())?;
    println!("the tariff is applied");
    Ok(())
}

/// What is public: the degree, and how large income and coefficients can be.
fn bound(key: &PublicKey) -> Result<NoWrap, Box<dyn Error>> {
    let most = BigUint::from(1_000_u32);
    Ok(NoWrap::from_inputs(key, &most, &vec![most.clone(); 3])?)
}
