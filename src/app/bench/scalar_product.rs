//! Scalar products: both parties in one process, on all cores.

use crate::Error;
use crate::app::bench::process::{Taken, taken};
use crate::app::bench::{Figure, Options};
use crate::crypto::paillier::{SecretKey, Tuning};
use crate::math::Randomness;
use crate::net::Costs;
use crate::paper::scalar_product::{Entries, ExpectedKey, Key, VectorShape, product};
use crate::protocol::pair::run_pair;

pub(super) const SIGMA: u32 = 64;

/// Entries of the product that is measured.
const LENGTH: usize = 2_000;

/// One product.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    one_product(options, &key(options)?, &mut figures)?;
    Ok(figures)
}

/// A key with its tables of powers: both can be made ahead of a run.
pub(super) fn key(options: &Options) -> Result<SecretKey, Error> {
    let mut rng = Randomness::from_os()?;
    let key = SecretKey::generate(options.key_bits(), Tuning::default(), &mut rng)
        .map_err(Error::internal)?;
    key.prepare();
    Ok(key)
}

/// CPU seconds of one entry of a binary product, both roles.
pub(super) fn one_product(
    options: &Options,
    key: &SecretKey,
    figures: &mut Vec<Figure>,
) -> Result<f64, Error> {
    let shape = VectorShape { length: LENGTH, entries: Entries::Binary, sigma: SIGMA };
    let vector: Vec<i64> = (0..LENGTH).map(|i| i64::from(i % 3 == 0)).collect();
    let expected = expected(key)?;
    let (outcome, Taken { cpu, .. }) = taken(|| {
        run_pair(
            options.setup(),
            |session| product(session, Key::Own(key), &shape, &vector, &|_| ()),
            |session| product(session, expected, &shape, &vector, &|_| ()),
        )
    });
    let sum = outcome.p1.map_err(Error::internal)?.number().clone()
        + outcome.p2.map_err(Error::internal)?.number();
    if sum != LENGTH.div_ceil(3).into() {
        return Err(Error::internal("the product is wrong"));
    }
    let name = format!("scalar product, {LENGTH} entries");
    let parameters = format!("both roles, {} bits, binary, σ = {SIGMA}", key.public().bits());
    figures.push(Figure::new(format!("{name}: CPU"), cpu * 1e3, "ms", parameters));
    let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2);
    figures.push(bytes_figure(&name, "entry", bytes, LENGTH, ciphertext_bytes(key)));
    Ok(cpu / LENGTH as f64)
}

pub(super) fn expected(key: &SecretKey) -> Result<Key<'static>, Error> {
    let expected =
        ExpectedKey::new(key.public().bits(), Tuning::default()).map_err(Error::internal)?;
    Ok(Key::Peer(expected))
}

pub(super) fn total_bytes(p1: &Costs, p2: &Costs) -> u64 {
    p1.total().bytes_sent + p2.total().bytes_sent
}

pub(super) fn ciphertext_bytes(key: &SecretKey) -> usize {
    key.public().bits() / 4
}

pub(super) fn bytes_figure(
    name: &str,
    each: &str,
    bytes: u64,
    count: usize,
    limit: usize,
) -> Figure {
    Figure::new(
        format!("{name}: bytes per {each}"),
        bytes as f64 / count.max(1) as f64,
        "bytes",
        format!("both directions, key and results included; limit {limit}"),
    )
}
