//! Income by town, where one office knows what people earn and another where they live.
//!
//! Both have the same people in the same order. The tax office learns the sum of each town; neither
//! learns who lives where or who earns what from the other.
//!
//! ```text
//! cargo run --release --example sum_by_group -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example sum_by_group -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
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
use diptych_mpc::protocol::sum_by_group::{Addends, SumShape, receive, send};
use diptych_mpc::protocol::yao::Reveal;

/// What both programs must have in common.
const TERMS: &[u8] = b"sums of the incomes of 6 people in 3 towns";
/// Sums are modulo 2^32.
const SHAPE: SumShape = SumShape { records: 6, groups: 3, words: 1, bits: 32 };

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => tax_office(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => register(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn tax_office(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let incomes = [50, 40, 30, 35, 20, 5];
    let delta = Delta::random(&mut session.rng);
    let mut transfers = Sender::setup(session, delta)?;
    let shares = send(session, &mut transfers, &SHAPE, Addends::Words(&incomes), &|_| ())?;
    let sums = shares.open(session, Reveal::P1)?.unwrap_or_default();
    println!("income by town: {sums:?}");
    Ok(())
}

fn register(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let towns = [2, 0, 2, 1, 0, 2];
    let mut transfers = Receiver::setup(session)?;
    let shares = receive(session, &mut transfers, &SHAPE, &towns, &|_| ())?;
    shares.open(session, Reveal::P1)?;
    println!("the sums of {} towns are told", SHAPE.groups);
    Ok(())
}
