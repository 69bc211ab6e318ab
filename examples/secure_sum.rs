//! Three processes add up their numbers around a ring; none shows its own to the others.
//!
//! Each process makes its own key, listens for the one before it and connects to the one after it,
//! over TLS with pinned fingerprints on this machine. What it does alone is in `party`; the rest
//! starts three of them and tells each where its neighbours are.
//!
//! `cargo run --release --example secure_sum`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use diptych::Role;
use diptych::math::Randomness;
use diptych::net::tls::{self, Listener};
use diptych::net::{self, Fingerprint, Identity, Limits};
use diptych::paper::secure_sum::{Neighbours, RingShape, sum};
use diptych::protocol::Session;

/// Patients with each of two illnesses, at three hospitals.
const PATIENTS: [[u64; 2]; 3] = [[12, 0], [7, 3], [31, 1]];
const SHAPE: RingShape = RingShape { parties: PATIENTS.len(), entries: 2, bits: 32 };
/// What neighbours must have in common.
const TERMS: &[u8] = b"secure sum of two counts at three hospitals, modulo 2^32";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(place) => party(place.parse()?),
        None => all(),
    }
}

/// One hospital.
fn party(place: usize) -> Result<(), Box<dyn Error>> {
    let us = Identity::from_pem(&Identity::generate_pem("hospital")?)?;
    let listener = Listener::bind("127.0.0.1:0")?;
    println!("{} {}", listener.local_address()?, us.fingerprint());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let told: Vec<&str> = line.split_whitespace().collect();
    let [previous, address, next] = told[..] else { return Err("who are the neighbours?".into()) };
    let (previous, next): (Fingerprint, Fingerprint) = (previous.parse()?, next.parse()?);

    // All wait for one neighbour while they look for the other.
    let us_there = us.clone();
    let waiting = thread::spawn(move || -> Result<Session, net::Error> {
        let channel = listener.accept(&us_there, previous, Limits::default())?;
        Session::establish(channel, Role::P2, TERMS, Randomness::from_os()?)
    });
    let channel = tls::connect(address, &us, next, Limits::default())?;
    let mut next = Session::establish(channel, Role::P1, TERMS, Randomness::from_os()?)?;
    let mut previous = waiting.join().map_err(|_| "the thread panicked")??;

    let mut neighbours = Neighbours { place, previous: &mut previous, next: &mut next };
    let outcome = sum(&mut neighbours, &SHAPE, &PATIENTS[place]);
    let sums = neighbours.conclude(outcome)?;
    println!("{sums:?}");
    Ok(())
}

/// A hospital's process as the one that starts it sees it.
struct Started {
    process: Child,
    tell: ChildStdin,
    hear: BufReader<ChildStdout>,
    address: String,
    fingerprint: String,
}

fn start(place: usize) -> Result<Started, Box<dyn Error>> {
    let mut process = Command::new(std::env::current_exe()?)
        .arg(place.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let tell = process.stdin.take().ok_or("no way in")?;
    let mut hear = BufReader::new(process.stdout.take().ok_or("no way out")?);
    let mut line = String::new();
    hear.read_line(&mut line)?;
    let (address, fingerprint) = line.trim().split_once(' ').ok_or("it did not start")?;
    let (address, fingerprint) = (address.to_owned(), fingerprint.to_owned());
    Ok(Started { process, tell, hear, address, fingerprint })
}

fn all() -> Result<(), Box<dyn Error>> {
    let n = PATIENTS.len();
    let mut started = (0..n).map(start).collect::<Result<Vec<_>, _>>()?;
    for place in 0..n {
        let (previous, next) = (&started[(place + n - 1) % n], &started[(place + 1) % n]);
        let line = format!("{} {} {}", previous.fingerprint, next.address, next.fingerprint);
        writeln!(started[place].tell, "{line}")?;
    }
    let expected = format!("{:?}", [0, 1].map(|i| PATIENTS.iter().map(|own| own[i]).sum::<u64>()));
    for (place, one) in started.iter_mut().enumerate() {
        let mut sums = String::new();
        one.hear.read_line(&mut sums)?;
        if !one.process.wait()?.success() || sums.trim() != expected {
            return Err(format!("hospital {place} says {sums:?} where {expected} is right").into());
        }
    }
    println!(
        "all three learn the sums {expected}, and nothing else as long as no two of them collude"
    );
    Ok(())
}
