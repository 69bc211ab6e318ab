//! Oblivious polynomial evaluation: time and bytes by degree and number.

use num_bigint::{BigInt, BigUint};
use num_traits::One;

use crate::Error;
use crate::app::bench::{Figure, Options, scalar_product};
use crate::crypto::paillier::SecretKey;
use crate::paper::polynomial::{NoWrap, receive, send};
use crate::protocol::pair::run_pair;
use std::time::Instant;

/// Of every coefficient; arguments have a tenth of it.
const COEFFICIENT_BITS: u32 = 800;

/// One and many evaluations at degrees 1 and 10, under a key of 3,072 bits.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let key = scalar_product::key(options)?;
    let many = options.size_or(32, 4);
    let mut figures = Vec::new();
    for (degree, count) in [(1, 1), (10, 1), (10, many)] {
        figures.extend(measure(options, &key, degree, count)?);
    }
    Ok(figures)
}

fn measure(
    options: &Options,
    key: &SecretKey,
    degree: usize,
    count: usize,
) -> Result<Vec<Figure>, Error> {
    let argument = BigUint::one() << (COEFFICIENT_BITS / 10);
    let largest = vec![BigUint::one() << COEFFICIENT_BITS; degree + 1];
    let bound = NoWrap::from_inputs(key.public(), &argument, &largest).map_err(Error::internal)?;
    let coefficient = (BigInt::one() << COEFFICIENT_BITS) - 12_345;
    let polynomials = vec![vec![coefficient; degree + 1]; count];
    let arguments = vec![BigInt::from(argument) - 7; count];
    let start = Instant::now();
    let outcome = run_pair(
        options.setup(),
        |session| send(session, key.public(), &bound, &polynomials, &|_| ()),
        |session| receive(session, key, &bound, &arguments, &|_| ()),
    );
    let seconds = start.elapsed().as_secs_f64();
    outcome.p1.map_err(Error::internal)?;
    outcome.p2.map_err(Error::internal)?;
    let bytes = outcome.costs.p2.total();
    let bytes = (bytes.bytes_sent + bytes.bytes_received) as f64;
    let name = |what: &str| format!("polynomial, degree {degree}, {count} at once{what}");
    let parameters = format!(
        "per evaluation; key of {} bits, coefficients of {COEFFICIENT_BITS}; \
         all cores for both parties",
        key.public().bits()
    );
    Ok(vec![
        Figure::new(name(""), seconds * 1e3 / count as f64, "ms", parameters),
        Figure::new(name(": both ways"), bytes / 1e3 / count as f64, "kB", "per evaluation"),
    ])
}
