//! How many customers two shops have in common, without either list leaving its shop.
//!
//! Private set intersection by commutative encryption, cardinality only: each side learns the size
//! of the other's list and the number of common entries, and not which they are.
//!
//! `cargo run --release --example intersection_size`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use diptych::crypto::commutative::Ristretto;
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::psi::{self, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bakery = ["ada@example.org", "grace@example.org", "alan@example.org", "emmy@example.org"];
    let bookshop = ["emmy@example.org", "kurt@example.org", "ada@example.org"];

    let outcome = run_pair(
        Setup::default(),
        |session| psi::cardinality(session, &Ristretto::new(), &bakery, Options::default()),
        |session| psi::cardinality(session, &Ristretto::new(), &bookshop, Options::default()),
    );
    let (at_bakery, at_bookshop) = (outcome.p1?, outcome.p2?);

    println!("the bakery learns:   {} in common", at_bakery.common);
    println!("the bookshop learns: {} in common", at_bookshop.common);
    let in_the_clear = psi::ideal_intersection(&bakery, &bookshop).len();
    assert_eq!((at_bakery.common, at_bookshop.common), (in_the_clear, in_the_clear));
    Ok(())
}
