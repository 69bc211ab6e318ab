//! A raffle over the tickets of two sellers, neither of whom reveals how many it sold.
//!
//! The random value protocol draws a number below the sum of both, exactly uniform. The numbers of
//! tickets are shares of that sum; both learn the ticket that was drawn and nothing else.
//!
//! ```text
//! cargo run --release --example random_value -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example random_value -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::net::Identity;
use diptych_mpc::paper::random_value::draw;
use diptych_mpc::protocol::Session;
use diptych_mpc::protocol::shares::{self, Ring, Share};
use diptych_mpc::protocol::yao::Reveal;

/// What both programs must have in common.
const TERMS: &[u8] = b"raffle over at most 2^16 tickets";
/// A drawing fails with a chance below 2^-64.
const SIGMA: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => north(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => south(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn north(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let own = Share::new(&Ring::PowerOfTwo(16), &310.into());
    let drawn = draw(session, Role::P1, &own, SIGMA)?;
    let ticket = shares::open(session, &[drawn], Reveal::Both)?.unwrap_or_default();
    println!("the ticket: {}", ticket[0]);
    Ok(())
}

fn south(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let own = Share::new(&Ring::PowerOfTwo(16), &240.into());
    let drawn = draw(session, Role::P1, &own, SIGMA)?;
    let ticket = shares::open(session, &[drawn], Reveal::Both)?.unwrap_or_default();
    println!("the ticket: {}", ticket[0]);
    Ok(())
}
