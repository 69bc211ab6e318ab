//! What a shopping basket costs, where one side knows the prices and the other the basket.
//!
//! The private scalar product by Paillier encryption. Each side gets a share of the product, which
//! reveals nothing by itself; here both open it, a larger protocol would continue with the shares.
//!
//! ```text
//! cargo run --release --example scalar_product -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example scalar_product -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::crypto::paillier::{SecretKey, Tuning};
use diptych_mpc::net::Identity;
use diptych_mpc::paper::scalar_product::{Entries, ExpectedKey, Key, VectorShape, product};
use diptych_mpc::protocol::Session;
use diptych_mpc::protocol::shares::{self, Ring};
use diptych_mpc::protocol::yao::Reveal;

/// What both programs must have in common.
const TERMS: &[u8] = b"scalar product of 5 entries of 16 and 8 bits, Paillier with 2048 bits";
const KEY_BITS: usize = 2048;
const SHAPE: VectorShape = VectorShape { length: 5, entries: Entries::Signed([16, 8]), sigma: 64 };
/// Where the total is opened; it is not negative here.
const RING: Ring = Ring::PowerOfTwo(32);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => shop(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => customer(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn shop(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let prices = [250, 1_995, 80, 4_900, 120];
    let expected = ExpectedKey::new(KEY_BITS, Tuning::default())?;
    let share = product(session, Key::Peer(expected), &SHAPE, &prices, &|_| ())?;
    let total = shares::open(session, &[share.to_ring(&RING)], Reveal::Both)?.unwrap_or_default();
    println!("the basket costs {}", total[0]);
    Ok(())
}

fn customer(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let basket = [4, 0, 12, 1, -2]; // two bottles are given back
    let key = SecretKey::generate(KEY_BITS, Tuning::default(), &mut session.rng)?;
    let share = product(session, Key::Own(&key), &SHAPE, &basket, &|_| ())?;
    let total = shares::open(session, &[share.to_ring(&RING)], Reveal::Both)?.unwrap_or_default();
    println!("the basket costs {}", total[0]);
    Ok(())
}
