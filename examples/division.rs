//! May a group of a public population be divided? Neither party reveals whom it has.
//!
//! Everybody in a town of sixty is known; a clinic has some of them as patients, a shop some as
//! customers. They want to publish, by age, how many are both, so that in no age group more than
//! three quarters of either's people are shown to be at the other as well. The shop knows the
//! ages, and asks about each cut with one circuit: both learn yes or no, and nothing else.
//!
//! `cargo run --release --example division`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use diptych::Role;
use diptych::paper::division::{DivisionShape, Side, accepts, ideal};
use diptych::protocol::pair::{Setup, run_pair};

const TOWN: usize = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shape = DivisionShape { users: TOWN, k: 3, delta: (3, 4), divider: Role::P1 };
    println!("the circuit has {} AND gates for {TOWN} people", shape.circuit().counts().and);
    let ages: Vec<usize> = (0..TOWN).map(|person| 18 + person * 37 % 60).collect();
    let shop: Vec<bool> = (0..TOWN).map(|person| person % 3 != 1).collect();
    let clinic: Vec<bool> = (0..TOWN).map(|person| person % 5 < 2 || ages[person] > 64).collect();

    for cut in [25, 40, 50, 60, 70] {
        let high: Vec<bool> = ages.iter().map(|age| *age >= cut).collect();
        let outcome = run_pair(
            Setup::default(),
            |session| accepts(session, &shape, Side::Divider { high: &high, present: &shop }),
            |session| accepts(session, &shape, Side::Other { present: &clinic }),
        );
        let sent = outcome.costs.p1.total().bytes_sent + outcome.costs.p2.total().bytes_sent;
        let (at_shop, at_clinic) = (outcome.p1?, outcome.p2?);
        assert_eq!((at_shop, at_clinic), (ideal(&shape, &high, &shop, &clinic), at_shop));
        let answer = if at_shop { "may be divided" } else { "stays whole" };
        println!("at {cut}: the town {answer} ({sent} bytes in all)");
    }
    Ok(())
}
