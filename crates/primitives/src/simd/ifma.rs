//! Montgomery arithmetic on eight numbers at once with the AVX-512 IFMA instructions.
//!
//! ```
//! use diptych_primitives::simd::ifma::Modulus8;
//!
//! // `None` on a processor without the instructions: keep to portable code there.
//! if let Some(modulus) = Modulus8::new(&[1_000_003]) {
//!     let numbers = modulus.load([&[2], &[3], &[4], &[5], &[6], &[7], &[8], &[1_000_002]]);
//!     let powers = modulus.pow_shared(&numbers, &[1_000_002], 20);
//!     assert_eq!(modulus.store(&powers)[0], [1], "Fermat's little theorem");
//! }
//! ```
//!
//! # Representation
//!
//! A number has n limbs of 52 bits, the width that `vpmadd52luq` and `vpmadd52huq` multiply: they
//! add the low or the high 52 bits of a product of 104 to an accumulator of 64. Limb i of eight
//! numbers lies in the eight lanes of vector i; lanes never exchange anything. n is a multiple of
//! ten (the kernel's tile) with R = 2^(52·n) ≥ 4·2^(64·w) for a modulus m of w limbs of 64 bits:
//! 20, 30, 40, 60, 80 and 120 limbs for 1024, 1536, 2048, 3072, 4096 and 6144 bits. A number x is
//! kept as x·R modulo m.
//!
//! # Why values stay below 2m
//!
//! A product is (a·b + q·m)/R with q < R. If a, b < 2m, it is below (4m² + R·m)/R = m·(4m/R + 1),
//! and since R > 4m, below 2m. So no product needs a comparison or a subtraction at its end.
//! - *In*: a chunk x < R times R² mod m, fully reduced, gives less than (R·m + R·m)/R = 2m.
//! - *Long numbers*: the sum of two such values is below 4m < R, so it fits, and times R mod m it is
//!   below (4m² + R·m)/R < 2m again.
//! - *Out*: times 1, (x + q·m)/R < (2m + (R − 1)·m)/R = m + m/R, so at most m; one subtraction,
//!   taken or not by a mask, makes it less than m.
//!
//! # Why no accumulator overflows
//!
//! Column k of a·b gets the low halves of products with i + j = k and the high halves of those with
//! i + j = k − 1: at most 2n terms below 2^52 (in a square the same terms, some twice by doubling).
//! q·m gives 2n more, and the carry from the column before is less than 2^12. With n ≤ 120 the sum is
//! below 481·2^52 < 2^61, so carries are taken once per column, at its end. Every limb is then cut
//! to 52 bits before it is multiplied again, as the instructions ignore higher bits.
//!
//! # Constant time
//!
//! Loops run over limbs, rows and digits, so their counts depend on the widths of the modulus and of
//! the exponent only; there is no branch and no address that depends on a limb or on a digit. IFMA
//! instructions take the same time for all operands. [`Modulus8::pow`] reads all entries of its
//! table and keeps one by a mask; [`FixedBase8`] reads all entries of a row and picks in registers
//! (`vpermi2q`). Neither skips a digit that is zero. Making a [`Modulus8`] does not branch on the
//! modulus either, its bit length and parity excepted. Moduli, tables and values are wiped when dropped;
//! copies in registers and on the stack are not.
//!
//! # Cost
//!
//! A product is 4n² multiply-add instructions, a square 3n² + n, and a core with two such units does
//! two each cycle. The figures below are nanoseconds for one number (an eighth of a call) on an Intel
//! Xeon of the fifth generation at 3.0 GHz that had other work to do: the fastest of 3000 samples,
//! and of eight such runs the median. They differ by up to a tenth from run to run. Beside them is
//! the limit from the count of instructions.
//!
//! | bits | product | limit | square | limit |
//! | --- | --- | --- | --- | --- |
//! | 1024 | 44 | 33 | 36 | 25 |
//! | 1536 | 90 | 75 | 75 | 57 |
//! | 2048 | 160 | 133 | 127 | 101 |
//! | 3072 | 337 | 300 | 256 | 226 |
//! | 4096 | 571 | 533 | 441 | 402 |
//! | 6144 | 1260 | 1200 | 968 | 902 |
//!
//! The limbs of q come one after the other, each from the column that the one before completed. The
//! kernel fills the waiting with rows of the next tile.

#[cfg(target_arch = "x86_64")]
mod fixed;
#[cfg(target_arch = "x86_64")]
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod look_up;
#[cfg(target_arch = "x86_64")]
mod modulus;
#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;

#[cfg(target_arch = "x86_64")]
pub use fixed::FixedBase8;
#[cfg(target_arch = "x86_64")]
pub use lanes::Lanes;
#[cfg(target_arch = "x86_64")]
pub use modulus::{MAX_BITS, Modulus8, available};

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(not(target_arch = "x86_64"))]
pub use absent::{FixedBase8, Lanes, MAX_BITS, Modulus8, available};
