//! Scalar products: both parties in one process, on all cores.

use super::pair::pair;
use super::{BenchArgs, Figures};
use crate::Error;
use crate::crypto::paillier::{SecretKey, Tuning};
use crate::math::Randomness;
use crate::paper::scalar_product::{Entries, ExpectedKey, Key, VectorShape, product};

pub(super) const SIGMA: u32 = 64;

/// Entries of the product that is measured.
const LENGTH: usize = 2_000;

/// One product.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    one_product(options, &key(options)?, out).map(drop)
}

/// A key with its tables of powers: both can be made ahead of a run.
pub(super) fn key(options: &BenchArgs) -> Result<SecretKey, Error> {
    let mut rng = Randomness::from_os()?;
    let key = SecretKey::generate(options.key_bits(), Tuning::default(), &mut rng)
        .map_err(Error::internal)?;
    key.prepare();
    Ok(key)
}

/// CPU seconds of one entry of a binary product, both parties together.
pub(super) fn one_product(
    options: &BenchArgs,
    key: &SecretKey,
    out: &mut Figures,
) -> Result<f64, Error> {
    let shape = VectorShape { length: LENGTH, entries: Entries::Binary, sigma: SIGMA };
    let vector: Vec<i64> = (0..LENGTH).map(|i| i64::from(i % 3 == 0)).collect();
    let expected = expected(key)?;
    let run = pair(
        options.memory(),
        |session| product(session, Key::Own(key), &shape, &vector, &|_| ()),
        |session| product(session, expected, &shape, &vector, &|_| ()),
    )?;
    if run.p1.number().clone() + run.p2.number() != LENGTH.div_ceil(3).into() {
        return Err(Error::internal("the product is wrong"));
    }
    let name = format!("scalar product, {LENGTH} entries");
    let bits = key.public().bits();
    let note = format!("{bits} bits, binary, σ = {SIGMA}; limit {} bytes per entry", bits / 4);
    run.add_whole(&name, &note, (LENGTH, "entry"), out);
    Ok(run.taken.cpu / LENGTH as f64)
}

pub(super) fn expected(key: &SecretKey) -> Result<Key<'static>, Error> {
    let expected = ExpectedKey::new(key.public().bits(), Tuning::default());
    expected.map(Key::Peer).map_err(Error::internal)
}
