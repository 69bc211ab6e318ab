//! Two hospitals choose a topic to study together, with differential privacy.
//!
//! Each knows how many patients would take part in the studies that it proposes. The exponential
//! mechanism picks one of all proposals, preferring large ones: both learn the winner and nothing
//! else, neither sees the other's scores, and one patient more or less changes the chance of every
//! winner by a factor of at most e^ε.
//!
//! `cargo run --release --example private_choice`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use diptych::mechanism::OneSided;
use diptych::net::Error;
use diptych::paper::exponential::VerticalExponential;
use diptych::privacy::choice::Score;
use diptych::privacy::exponential::Scaling;
use diptych::privacy::{Budget, Calibration, Choose, Epsilon};
use diptych::protocol::Session;
use diptych::protocol::pair::{Setup, run_pair};

/// No study has more patients than this: a public number.
const MOST_PATIENTS: u64 = 100;
/// The choice fails with a chance below 2^-64.
const TRIES: u32 = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let north = [("asthma", 61), ("migraine", 12)];
    let south = [("diabetes", 64), ("insomnia", 9), ("gout", 3)];
    let epsilon: Epsilon = "0.5".parse()?;

    let scores = |proposals: &[(&str, u64)]| {
        proposals.iter().filter_map(|(_, patients)| Score::whole(*patients)).collect::<Vec<_>>()
    };
    let first = OneSided { own: scores(&north), peer: south.len() };
    let second = OneSided { own: scores(&south), peer: north.len() };
    let outcome = run_pair(
        Setup::default(),
        |session| choose(session, &epsilon, &first),
        |session| choose(session, &epsilon, &second),
    );
    let (winner, at_south) = (outcome.p1?, outcome.p2?);

    assert_eq!(winner, at_south);
    // The candidates of P1 come first.
    let topics: Vec<&str> = north.iter().chain(&south).map(|(topic, _)| *topic).collect();
    println!("both learn the topic: {} (ε = {epsilon})", topics[winner]);
    Ok(())
}

/// One hospital's side of the choice; every use of the mechanism spends from a budget.
fn choose(session: &mut Session, epsilon: &Epsilon, scores: &OneSided) -> Result<usize, Error> {
    let spend = Budget::new(epsilon).spend("topic", epsilon.value())?;
    let largest = Score::whole(MOST_PATIENTS).unwrap_or_default();
    let scaling = Scaling::Binary { fraction_bits: 64 };
    let mut mechanism = VerticalExponential::new(session, scaling, largest, TRIES);
    Ok(mechanism.choose(spend, &Calibration::max(), scores)?.index)
}
