//! Who is richer? Yao's question, answered by Yao's garbled circuits.
//!
//! The circuit compares two 64-bit numbers; both learn its one output bit and nothing else. It is the
//! one in `circuits/less_than_64.txt`; `diptych_mpc::circuit` builds and reads others.
//!
//! ```text
//! cargo run --release --example garbled_circuit -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example garbled_circuit -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::circuit::{Program, gallery};
use diptych_mpc::net::Identity;
use diptych_mpc::protocol::Session;
use diptych_mpc::protocol::yao::{self, Reveal};

/// What both programs must have in common.
const TERMS: &[u8] = b"comparison of two numbers of 64 bits, garbled by P1";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, key, peer] = &arguments[..] else {
        return Err("arguments: p1 or p2, address, own key file, fingerprint of the peer".into());
    };
    let (us, peer) = (Identity::from_pem(&std::fs::read_to_string(key)?)?, peer.parse()?);
    match role.parse()? {
        Role::P1 => alice(&mut Session::listen(address, &us, peer, Role::P1, TERMS)?),
        Role::P2 => bob(&mut Session::connect(address, &us, peer, Role::P2, TERMS)?),
    }
}

fn alice(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let below = compare(session, 71_000_000)?;
    println!("richer: {}", if below { "Bob" } else { "Alice, or they are equal" });
    Ok(())
}

fn bob(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let below = compare(session, 71_000_001)?;
    println!("richer: {}", if below { "Bob" } else { "Alice, or they are equal" });
    Ok(())
}

/// Whether P1's number is below P2's. Alice garbles.
fn compare(session: &mut Session, own: u64) -> Result<bool, diptych_mpc::Error> {
    let program = Program::new(&gallery::comparison(64));
    let bits: Vec<bool> = (0..64).map(|i| own >> i & 1 == 1).collect();
    let outputs = yao::run(session, Role::P1, &program, &bits, Reveal::Both)?;
    Ok(outputs == Some(vec![true]))
}
