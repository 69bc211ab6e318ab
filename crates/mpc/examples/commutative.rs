//! How many customers two shops have in common, by commutative encryption, step by step.
//!
//! Both lists are encrypted under both keys, in either order, and then compared. The bookshop returns
//! the bakery's list sorted, so the bakery learns how many customers are in common, but not which.
//! `psi::cardinality` is the same for lists of any length, in both directions.
//!
//! ```text
//! cargo run --release --example commutative -- p1 127.0.0.1:7000 one.pem FINGERPRINT-OF-TWO
//! cargo run --release --example commutative -- p2 127.0.0.1:7000 two.pem FINGERPRINT-OF-ONE
//! ```
//!
//! `diptych keygen --name NAME --out one.pem` makes a key file and prints its fingerprint.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::collections::HashSet;
use std::error::Error;

use diptych_mpc::Role;
use diptych_mpc::crypto::commutative::{Domain, Group, Ristretto};
use diptych_mpc::net::Identity;
use diptych_mpc::net::Tag;
use diptych_mpc::protocol::Session;

/// What both programs must have in common.
const TERMS: &[u8] = b"number of common e-mail addresses, ristretto255";
/// Elements under one key and under both.
const ONCE: Tag = Tag::new(*b"once");
const TWICE: Tag = Tag::new(*b"twic");
/// The longest list that is accepted, in bytes.
const LONGEST: usize = 1 << 20;

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
    let customers: [&[u8]; 3] = [b"ada@example.org", b"grace@example.org", b"emmy@example.org"];
    let (group, domain) = (Ristretto::new(), Domain::new(*session.id.as_bytes()));
    let key = group.generate_key(&mut session.rng);
    let mut ours = vec![0; customers.len() * group.element_bytes()];
    group.encrypt_batch(&key, &domain, &customers, &mut ours)?;
    session.channel.send_bytes(ONCE, &ours)?;

    let mut theirs = Vec::new();
    session.channel.receive_bytes_at_most(ONCE, LONGEST, &mut theirs)?;
    group.reencrypt_batch(&key, &mut theirs)?;
    let ours_twice = session.channel.receive_bytes(TWICE, ours.len())?;
    let theirs_twice: HashSet<&[u8]> = theirs.chunks(group.element_bytes()).collect();
    let elements = ours_twice.chunks(group.element_bytes());
    let common = elements.filter(|element| theirs_twice.contains(element)).count();
    println!("customers in common: {common}");
    Ok(())
}

fn bookshop(session: &mut Session) -> Result<(), Box<dyn Error>> {
    let customers: [&[u8]; 3] = [b"emmy@example.org", b"kurt@example.org", b"ada@example.org"];
    let (group, domain) = (Ristretto::new(), Domain::new(*session.id.as_bytes()));
    let key = group.generate_key(&mut session.rng);
    let mut theirs = Vec::new();
    session.channel.receive_bytes_at_most(ONCE, LONGEST, &mut theirs)?;
    group.reencrypt_batch(&key, &mut theirs)?;

    let mut ours = vec![0; customers.len() * group.element_bytes()];
    group.encrypt_batch(&key, &domain, &customers, &mut ours)?;
    session.channel.send_bytes(ONCE, &ours)?;
    let mut elements: Vec<&[u8]> = theirs.chunks(group.element_bytes()).collect();
    elements.sort_unstable();
    session.channel.send_bytes(TWICE, &elements.concat())?;
    println!("the bakery has {} customers", elements.len());
    Ok(())
}
