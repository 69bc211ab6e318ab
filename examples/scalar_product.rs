//! What a shopping basket costs, where one side knows the prices and the other the basket.
//!
//! The private scalar product by Paillier encryption. Its output is shared: each side gets a number
//! that says nothing by itself, and the two add up to the product. Here both open their shares; a
//! larger protocol would go on computing with them.
//!
//! `cargo run --release --example scalar_product` (making the key takes a second or so)

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use diptych::crypto::paillier::{SecretKey, Tuning};
use diptych::math::Randomness;
use diptych::protocol::pair::{Setup, run_pair};
use diptych::protocol::scalar_product::{
    Entries, ExpectedKey, Key, VectorShape, ideal_product, product,
};

const KEY_BITS: usize = 2048;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prices = [250, 1_995, 80, 4_900, 120];
    let basket = [4, 0, 12, 1, -2]; // two bottles are given back
    let entries = Entries::Signed([16, 8]);
    let shape = VectorShape { length: prices.len(), entries, sigma: 64 };

    let tuning = Tuning { table_bytes: 1 << 20, ..Tuning::default() };
    let key = SecretKey::generate(KEY_BITS, tuning, &mut Randomness::from_os()?)?;
    let expected = ExpectedKey::new(KEY_BITS, tuning)?;
    let outcome = run_pair(
        Setup::default(),
        |session| product(session, Key::Peer(expected), &shape, &prices, &|_| ()),
        |session| product(session, Key::Own(&key), &shape, &basket, &|_| ()),
    );
    let (shop, customer) = (outcome.p1?, outcome.p2?);

    println!("the shop's share:     {}", shop.number());
    println!("the customer's share: {}", customer.number());
    let total = shop.number() + customer.number();
    println!("together:             {total}");
    assert_eq!(total, ideal_product(&shape, &prices, &basket)?);
    Ok(())
}
