//! Oblivious polynomial evaluation: time and bytes by degree and number.

use num_bigint::{BigInt, BigUint};
use num_traits::One;

use super::pair::pair;
use super::{BenchArgs, Figures, scalar_product};
use crate::Error;
use crate::paper::polynomial::{NoWrap, receive, send};

/// Length of every coefficient; arguments are a tenth as long.
const COEFFICIENT_BITS: u32 = 800;

/// One and many evaluations at degrees 1 and 10, under a key of 3,072 bits.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let key = scalar_product::key(options)?;
    for (degree, count) in [(1, 1), (10, 1), (10, options.size_or(32, 4))] {
        let argument = BigUint::one() << (COEFFICIENT_BITS / 10);
        let largest = vec![BigUint::one() << COEFFICIENT_BITS; degree + 1];
        let bound = NoWrap::from_inputs(key.public(), &argument, &largest);
        let bound = bound.map_err(Error::internal)?;
        let coefficient = (BigInt::one() << COEFFICIENT_BITS) - 12_345;
        let polynomials = vec![vec![coefficient; degree + 1]; count];
        let arguments = vec![BigInt::from(argument) - 7; count];
        let run = pair(
            options.memory(),
            |session| send(session, key.public(), &bound, &polynomials, &|_| ()),
            |session| receive(session, &key, &bound, &arguments, &|_| ()),
        )?;
        let name = format!("polynomial, degree {degree}, {count} at once");
        let note = format!(
            "key of {} bits, coefficients of {COEFFICIENT_BITS}; all cores",
            key.public().bits()
        );
        run.add_whole(&name, &note, (count, "evaluation"), out);
    }
    Ok(())
}
