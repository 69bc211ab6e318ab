//! Who is richer? Yao's question, answered by Yao's garbled circuits.
//!
//! The circuit compares two 64-bit numbers; both parties learn its one output bit and nothing else.
//! It is the one in `circuits/less_than_64.txt`.
//!
//! `cargo run --release --example millionaires`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use diptych::Role;
use diptych::circuit::{Program, gallery};
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::yao::{self, Reveal};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (alice, bob) = (71_000_000_u64, 71_000_001_u64);
    let circuit = gallery::comparison(64);
    println!("the circuit has {} AND gates", circuit.counts().and);
    let program = Program::new(&circuit);
    let bits = |number: u64| (0..64).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();

    let outcome = run_pair(
        Setup::default(),
        |session| yao::run(session, Role::P1, &program, &bits(alice), Reveal::Both),
        |session| yao::run(session, Role::P1, &program, &bits(bob), Reveal::Both),
    );
    let sent = outcome.costs.p1.total().bytes_sent + outcome.costs.p2.total().bytes_sent;
    let (at_alice, at_bob) = (outcome.p1?, outcome.p2?);

    assert_eq!((&at_alice, &at_bob), (&Some(vec![alice < bob]), &Some(vec![alice < bob])));
    let richer = if at_alice == Some(vec![true]) { "Bob" } else { "Alice, or they are equal" };
    println!("both learn who is richer: {richer} ({sent} bytes in all)");
    Ok(())
}
