//! Secure scalar products and the joint count table (thesis, section 7.4.1), by Paillier.
//!
//! **[`product`]** *Inputs.* Each party a vector of one public length, binary or of whole numbers
//! of public size. *Output.* Shares over the integers of the inner product.
//! **[`count_table`]** *Inputs.* Each party, per common record, its cell: one of m1 at P1, of m2
//! at P2. *Output.* Shares over Z_{2^k} of all m1 × m2 counts: entry `cell1 · m2 + cell2`.
//!
//! *Learned.* Nothing but public numbers: the length, the bounds, the numbers of cells.
//!
//! *How the table is made.* The papers run one product per entry. Here the party with fewer cells
//! encrypts, once per record, a packed plaintext with 1 in the slot of the record's cell; as many
//! ciphertexts as m slots need, all of them for every record. The other party multiplies the
//! ciphertexts of the records in each of its cells, adds one mask per slot, re-randomises and
//! returns all entries together.
//!
//! *Why it hides.* The evaluating party sees fresh encryptions under a key of this run that it
//! lacks. The encrypting party sees, per entry, count + mask: a count has b = bits of the number of
//! records, the mask is uniform in [0, 2^M), M = max(b + σ, k), so the sum is within
//! count/2^M < 2^-σ of one that does not depend on the count, and all entries together within
//! m1·m2·2^-σ. Slots have M + 1 bits, so no carry leaves one. M ≥ k makes each share alone exactly
//! uniform. The randomness of what returns is `r^n` with uniform r (the types of
//! [`crate::crypto::paillier`] allow nothing else), empty cells included.
//!
//! *Why slots are not narrower.* Ciphertexts could carry counts alone in b bits and be masked as
//! one number, which would save ciphertexts beyond ⌊(|n|−1)/(M+1)⌋ cells (38 at 3072 bits and
//! 30,000 records); but carries of the mask then run through the slots and only a circuit can take
//! them out again. Up to that number of cells nothing is saved.
//!
//! *Cost of the table*, s = ⌈fewer cells / slots⌉: s·records encryptions there, s·records
//! multiplications here, s·(more cells) re-randomisations here and decryptions there; one round.
//! A ciphertext takes |n|/4 bytes. Memory does not grow with the records beyond one's own list of
//! cells: encrypting, sending and adding go on at the same time, in chunks of half a megabyte.
//!
//! *What a peer can count or time.* Messages depend on the shape and the length of the key. Adding
//! takes one multiplication per ciphertext whatever the cells are, and results leave when all of
//! them are done.
//!
//! *A faulty peer.* Another shape, a bad key, ciphertexts that are out of range or not coprime to
//! n, a chunk of another length than expected, slots that overflow: each aborts the run with an
//! error.
//!
//! # Example
//!
//! The table has an example of its own: [`count_table`].
//!
//! ```
//! use diptych_mpc::crypto::paillier::{SecretKey, Tuning};
//! use diptych_mpc::math::Randomness;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::paper::scalar_product::{Entries, ExpectedKey, Key, VectorShape, product};
//! use num_bigint::BigUint;
//!
//! let tuning = Tuning { table_bytes: 1 << 20, ..Tuning::default() };
//! // Primes that everyone knows, so that the example is quick: a run takes `SecretKey::generate`.
//! let prime = |distance: u32| (BigUint::from(1u32) << 1024) - distance;
//! let mut rng = Randomness::from_os()?;
//! let key = SecretKey::from_primes(&prime(105), &prime(1397), tuning, &mut rng)?;
//! let expected = ExpectedKey::new(2048, tuning)?;
//!
//! // The customer buys 4 of the first and gives 2 of the second back.
//! let (prices, basket) = ([250, 120], [4, -2]);
//! let shape = VectorShape { length: 2, entries: Entries::Signed([16, 8]), sigma: 64 };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| product(session, Key::Own(&key), &shape, &prices, &|_| ()),
//!     |session| product(session, Key::Peer(expected), &shape, &basket, &|_| ()),
//! );
//! // A share says nothing by itself; the two add up to the product.
//! let (shop, customer) = (outcome.p1?, outcome.p2?);
//! assert_eq!(shop.number() + customer.number(), 760.into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod key;
mod product;
mod stream;
mod table;
fn impossible(why: &str) -> Error {
    Error::input(format!("this shape is impossible: {why}"))
}

fn key_too_short(needed: usize, bits: usize) -> Error {
    Error::input(format!(
        "values and masks of {needed} bits do not fit a key of {bits} bits; use a longer key"
    ))
}

/// A returned plaintext is not a possible sum of counts and masks.
fn result_out_of_range(place: usize) -> Error {
    Error::peer(format!(
        "result {place} is outside its bounds; the peer does not follow the protocol"
    ))
}

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::net::{Message, Tag};

pub use crate::crypto::paillier::Progress;
pub use key::{ExpectedKey, Key};
pub use product::{Entries, VectorShape, ideal_product, product};
pub use table::{TableShape, count_table, forecast_table, ideal_table};
#[cfg(feature = "audit")]
pub(crate) use {product::ProductPlan, table::TablePlan};

/// The largest number of entries of a table, and of records or of entries of a vector.
pub const MOST_ENTRIES: usize = 1 << 24;
/// See [`MOST_ENTRIES`].
pub const MOST_RECORDS: usize = u32::MAX as usize;
/// The largest σ.
pub const MOST_SIGMA: u32 = 256;

/// Public numbers of a run in one fixed form, so that both parties can compare them.
pub(crate) type PublicNumbers = [u64; 6];

/// The first message: what the encrypting party works on, and its key.
#[derive(Serialize, Deserialize)]
pub(crate) struct Opening {
    pub numbers: PublicNumbers,
    pub key: Vec<u8>,
}

impl Message for Opening {
    const TAG: Tag = Tag::new(*b"ssp0");
    /// Numbers, and a key that is not longer than the longest supported one.
    const MOST_BYTES: usize = 1 << 16;
}

/// Bits of a number: b with number < 2^b.
fn bits_of(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}

fn check_sigma(sigma: u32) -> Result<(), Error> {
    if !(1..=MOST_SIGMA).contains(&sigma) {
        return Err(impossible("σ must be from 1 to 256"));
    }
    Ok(())
}
