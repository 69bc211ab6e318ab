//! Two shops find the customers that they have in common, and learn nothing else but how many the other has.
//!
//! ```text
//! cargo run --release --example psi -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example psi -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::crypto::commutative::Ristretto;
use diptych_mpc::net::Identity;
use diptych_mpc::protocol::Session;
use diptych_mpc::protocol::psi::{Options, intersect};

/// What both programs must have in common.
const TERMS: &[u8] = b"set intersection of e-mail addresses, ristretto255";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => bakery(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => bookshop(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn bakery(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let customers =
        ["ada@example.org", "grace@example.org", "alan@example.org", "emmy@example.org"];
    let found = intersect(session, &Ristretto::new(), &customers, Options::default())?;
    let common: Vec<&str> = found.rows.iter().map(|row| customers[*row]).collect();
    println!("of the bookshop's {} customers, ours too: {}", found.peer_size, common.join(" "));
    Ok(())
}

fn bookshop(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let customers = ["emmy@example.org", "kurt@example.org", "ada@example.org"];
    let found = intersect(session, &Ristretto::new(), &customers, Options::default())?;
    let common: Vec<&str> = found.rows.iter().map(|row| customers[*row]).collect();
    println!("of the bakery's {} customers, ours too: {}", found.peer_size, common.join(" "));
    Ok(())
}
