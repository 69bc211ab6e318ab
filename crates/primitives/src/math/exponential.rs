//! Exponentials with proven bounds, in integer arithmetic.
//!
//! Every function works with an [`Enclosure`]: a pair of bounds between which
//! the true value lies. An exact floor is found by raising the precision until
//! both bounds have the same floor. That always ends: e^x is transcendental for
//! every rational x ≠ 0 (Lindemann), so no scaled value is a whole number, and
//! x = 0 is exact.
//!
//! Cost: one exponential at B bits takes about 3·B^⅓ multiplications of B bits
//! (argument halving, then Taylor); a [`Ladder`] makes every further power of
//! the same base a handful of them. Nothing here is constant-time, but the work on a power of a ladder
//! is the same for every exponent.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::Rational;

/// Bits kept beyond what a result needs, so that one try almost always suffices.
const GUARD_BITS: u64 = 64;

/// A positive real between `mantissa · 2^exponent` and `(mantissa + error) · 2^exponent`.
#[derive(Clone, Debug)]
pub struct Enclosure {
    mantissa: BigUint,
    error: BigUint,
    exponent: i64,
}

/// `⌊scale · e^x⌋`, exactly.
pub fn floor_exp(x: &Rational, scale: &BigUint) -> BigUint {
    raise_precision(|guard| {
        exp(x, exp_bits(x) + scale.bits() + guard).floor_of(|value, denominator| {
            // floor(scale · value)
            (scale * value) / denominator
        })
    })
}

/// `⌊scale · e^−x⌋`, exactly.
pub fn floor_exp_neg(x: &Rational, scale: &BigUint) -> BigUint {
    if x >= &Rational::whole(scale.bits()) {
        return BigUint::zero(); // e^x > 2^bits > scale
    }
    raise_precision(|guard| {
        exp(x, scale.bits() + exp_bits(x) + guard)
            .floor_of(|value, denominator| (scale * denominator) / value)
    })
}

/// `⌊2^bits / (1 + e^x)⌋`, exactly, for x > 0: a digit is 1 if a uniform `bits`-bit number is below
/// this threshold.
pub fn floor_logistic(x: &Rational, bits: u32) -> BigUint {
    if x >= &Rational::whole(bits) {
        return BigUint::zero(); // e^x > 2^bits
    }
    raise_precision(|guard| {
        exp(x, u64::from(bits) + exp_bits(x) + guard)
            .floor_of(|value, denominator| (denominator << bits) / (denominator + value))
    })
}

/// An upper bound of `e^x` whose relative error is below `2^-bits`.
pub fn exp_upper(x: &Rational, bits: u32) -> Rational {
    exp(x, u64::from(bits) + GUARD_BITS).upper()
}

/// A multiple of `2^-bits` that is at least log2(n) and at most one such step above it, for n ≥ 1.
pub fn log2_upper(n: u64, bits: u32) -> Rational {
    // n^(2^bits) rounded upwards after every squaring; its bit length bounds 2^bits · log2(n).
    let mut power = Enclosure::whole(BigUint::from(n.max(1)));
    for _ in 0..bits {
        power = power.times(&power, 4 * u64::from(bits) + GUARD_BITS);
    }
    let top = &power.mantissa + &power.error;
    let is_power_of_two = top.trailing_zeros() == Some(top.bits() - 1);
    let steps = top.bits() as i64 - i64::from(is_power_of_two) + power.exponent;
    &Rational::whole(steps.max(0) as u64) * &Rational::power_of_two(-(bits as i32))
}

/// An upper bound of the bits of `⌊e^x⌋`: ⌈1.4427·x⌉ + 1, since log2 e < 1.4427.
pub fn exp_bits(x: &Rational) -> u64 {
    let bits = (x.numerator() * 14_427u32) / (x.denominator() * 10_000u32) + 2u32;
    bits.try_into().unwrap_or(u64::MAX / 4)
}

/// Bounds for `e^x` with a relative error of about `2^-precision`.
pub fn exp(x: &Rational, precision: u64) -> Enclosure {
    if x.is_zero() {
        return Enclosure::whole(BigUint::one());
    }
    // y = x / 2^halvings < 2^-small. Halvings cost a squaring each, a small y saves terms; the sum
    // of both is least near the cube root.
    let small = (8..).find(|s: &u64| s * s * s >= 2 * precision).unwrap_or(8);
    let magnitude = x.numerator().bits() as i64 - x.denominator().bits() as i64 + 1;
    let halvings = (magnitude + small as i64).max(1) as u64;
    let working = precision + halvings + 48;
    let y = (x.numerator() << working) / (x.denominator() << halvings);
    let mut power = taylor(&y, working, small);
    for _ in 0..halvings {
        power = power.times(&power, working);
    }
    power.rounded(precision + 8)
}

/// Powers `e^(rate·k)` of one base for many whole k: a table of base-16 digits.
///
/// Every power takes the same products of numbers of the same length, whatever k is: one less than
/// the largest k has digits. No factor is a power of two or another number that is quick to
/// multiply with: a digit d stands for d + 1, and the excess is divided out in the table of the
/// lowest digit. So the timing reveals of k at most what the big-number library reveals for numbers
/// without a pattern.
pub struct Ladder {
    /// `windows[i][d]` encloses `e^(rate·(d + 1)·16^i)`; for i = 0, that divided by the excess of
    /// all digits, `e^(rate·Σ 16^i)`.
    windows: Vec<Vec<Enclosure>>,
    /// Bits of every mantissa.
    working: u64,
}

impl Ladder {
    /// A table for exponents up to `largest`, each power with about `precision` good bits.
    pub fn new(rate: &Rational, largest: u64, precision: u64) -> Self {
        let width = 64 - u64::from(largest.leading_zeros());
        // Each of the products loses two bits at most; the squarings up to `largest` lose `width`.
        let working = precision + 2 * width + 16;
        let mut base = exp(rate, working).rounded(working);
        let mut windows: Vec<Vec<Enclosure>> = Vec::new();
        for _ in 0..width.div_ceil(4) {
            let mut powers = vec![base];
            for n in 2..=16 {
                let next = powers[n / 2 - 1].times(&powers[n - n / 2 - 1], working);
                powers.push(next);
            }
            base = powers[15].clone();
            windows.push(powers);
        }
        let bases = windows.iter().map(|powers| powers[0].clone());
        if let Some(surplus) = bases.reduce(|product, base| product.times(&base, working)) {
            let inverse = surplus.inverse(working);
            windows[0].iter_mut().for_each(|power| *power = power.times(&inverse, working));
        }
        Self { windows, working }
    }

    /// Bounds for `e^(rate·k)`, for k up to the table's largest.
    pub fn power(&self, k: u64) -> Enclosure {
        let digits = self.windows.iter().enumerate();
        let mut factors = digits.map(|(index, powers)| &powers[(k >> (4 * index)) as usize & 15]);
        let Some(first) = factors.next() else { return Enclosure::whole(BigUint::one()) };
        factors.fold(first.clone(), |product, factor| product.times(factor, self.working))
    }
}

impl Enclosure {
    /// `⌊scale · value⌋` if the bounds agree on it.
    pub fn floor_scaled(&self, scale: &BigUint) -> Option<BigUint> {
        let [low, high] = self.floors_scaled(scale, 0);
        (low == high).then_some(low)
    }

    /// `⌊scale · value / 2^shift⌋` of both bounds.
    pub fn floors_scaled(&self, scale: &BigUint, shift: u64) -> [BigUint; 2] {
        let exponent = self.exponent.saturating_sub_unsigned(shift);
        let places = exponent.unsigned_abs();
        let floor = |value: &BigUint| {
            if exponent >= 0 { (scale * value) << places } else { (scale * value) >> places }
        };
        [floor(&self.mantissa), floor(&(&self.mantissa + &self.error))]
    }

    /// Bits of the whole part of the upper bound.
    pub fn whole_bits(&self) -> u64 {
        let bits = (&self.mantissa + &self.error).bits();
        bits.saturating_add_signed(self.exponent)
    }

    /// The upper bound.
    pub fn upper(&self) -> Rational {
        let top = &self.mantissa + &self.error;
        &Rational::whole(top) * &Rational::power_of_two(self.exponent as i32)
    }

    /// The lower bound.
    pub fn lower(&self) -> Rational {
        &Rational::whole(self.mantissa.clone()) * &Rational::power_of_two(self.exponent as i32)
    }

    fn whole(value: BigUint) -> Self {
        Self { mantissa: value, error: BigUint::zero(), exponent: 0 }
    }

    /// The reciprocal of a positive number.
    fn inverse(&self, precision: u64) -> Self {
        let shift = self.mantissa.bits() + precision;
        let one = BigUint::one() << shift;
        let low = &one / (&self.mantissa + &self.error);
        let high = &one / &self.mantissa + 1u32;
        Self { error: high - &low, mantissa: low, exponent: -(shift as i64) - self.exponent }
            .rounded(precision)
    }

    /// A whole-number function, monotone in value = first / second, if it is the same at both bounds.
    fn floor_of(&self, floor: impl Fn(&BigUint, &BigUint) -> BigUint) -> Option<BigUint> {
        let one = BigUint::one();
        let top = &self.mantissa + &self.error;
        let (low, high) = if self.exponent >= 0 {
            let shift = self.exponent as u64;
            (floor(&(&self.mantissa << shift), &one), floor(&(top << shift), &one))
        } else {
            let denominator = one << self.exponent.unsigned_abs();
            (floor(&self.mantissa, &denominator), floor(&top, &denominator))
        };
        (low == high).then_some(low)
    }

    fn times(&self, other: &Self, precision: u64) -> Self {
        #[cfg(any(test, feature = "testing"))]
        work::note([&self.mantissa, &self.error, &other.mantissa, &other.error]);
        Self {
            mantissa: &self.mantissa * &other.mantissa,
            error: &self.mantissa * &other.error
                + &other.mantissa * &self.error
                + &self.error * &other.error,
            exponent: self.exponent + other.exponent,
        }
        .rounded(precision)
    }

    /// Keeps `precision` bits; the bounds move outwards.
    fn rounded(mut self, precision: u64) -> Self {
        let excess = self.mantissa.bits().saturating_sub(precision);
        if excess > 0 {
            let exact = self.error.is_zero()
                && self.mantissa.trailing_zeros().is_some_and(|zeros| zeros >= excess);
            self.mantissa >>= excess;
            self.exponent += excess as i64;
            if exact {
                return self;
            }
            // One for the truncated part of the mantissa, one for that of the error.
            self.error = (self.error >> excess) + 2u32;
        }
        self
    }
}

/// Bounds for `e^(y/2^bits)` for y < 2^(bits − small), small ≥ 8, where y was rounded down by less
/// than one.
///
/// Smith's way: terms y^k/k! share powers of y^m, and each of m sums is multiplied once with y, so N
/// terms take about 2·√N multiplications; the rest are divisions by small numbers.
///
/// Everything is rounded down; errors in units of `2^-bits`: at most 2 in y^m, as products of such
/// small numbers hardly carry errors on; e_k ≤ (e_{k−1} + 3)/k + 2 < 7 in the term with index k (y^m,
/// cutting it to the term's length, two floors); at most 7·rows in a sum, and E ≤ E/2 + 3 + 7·rows
/// in the final scheme; the terms after the first that is 0 are below 14 together.
fn taylor(y: &BigUint, bits: u64, small: u64) -> Enclosure {
    let columns = ((bits / (small + 4) + 2).isqrt() / 2 + 1) as usize;
    let step = fixed_power(y, columns, bits);
    let mut sums = vec![BigUint::zero(); columns];
    let mut term = BigUint::one() << bits;
    let mut rows = 0u64;
    let mut k = 0u64;
    while !term.is_zero() {
        rows += 1;
        for sum in &mut sums {
            *sum += &term;
            k += 1;
            term /= k;
        }
        let cut = bits.saturating_sub(term.bits());
        term = (term * (&step >> cut)) >> (bits - cut);
    }
    let mut mantissa = BigUint::zero();
    for sum in sums.iter().rev() {
        mantissa = ((mantissa * y) >> bits) + sum;
    }
    Enclosure { mantissa, error: BigUint::from(14 * rows + 32), exponent: -(bits as i64) }
}

/// `y^exponent` in fixed point, rounded down after every product; exponent ≥ 1.
fn fixed_power(y: &BigUint, exponent: usize, bits: u64) -> BigUint {
    let mut power = y.clone();
    for bit in (0..exponent.ilog2()).rev() {
        power = (&power * &power) >> bits;
        if exponent >> bit & 1 == 1 {
            power = (&power * y) >> bits;
        }
    }
    power
}

fn raise_precision(attempt: impl Fn(u64) -> Option<BigUint>) -> BigUint {
    let mut guard = GUARD_BITS;
    loop {
        if let Some(floor) = attempt(guard) {
            return floor;
        }
        guard *= 2;
    }
}

/// Records what a computation multiplies, for tests that this does not depend on secrets.
#[cfg(any(test, feature = "testing"))]
pub mod work {
    use num_bigint::BigUint;
    use std::cell::RefCell;

    thread_local! {
        static PRODUCTS: RefCell<Option<Vec<[u64; 4]>>> = const { RefCell::new(None) };
    }

    /// Records the lengths of the factors, in words.
    pub(super) fn note(factors: [&BigUint; 4]) {
        let words = factors.map(|factor| factor.bits().div_ceil(64));
        PRODUCTS.with_borrow_mut(|products| products.iter_mut().for_each(|all| all.push(words)));
    }

    /// The lengths of all factors that this thread multiplied since the last call; the first call
    /// starts the recording.
    pub fn take() -> Vec<[u64; 4]> {
        PRODUCTS.replace(Some(Vec::new())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(n: u64, d: u64) -> Rational {
        Rational::new(n, d).unwrap()
    }

    #[test]
    fn e_is_known_to_fifty_digits() {
        let scale = BigUint::from(10u32).pow(50);
        assert_eq!(
            floor_exp(&fraction(1, 1), &scale).to_string(),
            "271828182845904523536028747135266249775724709369995"
        );
        assert_eq!(
            floor_exp_neg(&fraction(1, 1), &scale).to_string(),
            "36787944117144232159552377016146086744581113103176"
        );
    }

    #[test]
    fn a_zero_exponent_is_exact() {
        let scale = BigUint::from(1000u32);
        assert_eq!(floor_exp(&Rational::zero(), &scale), scale);
        assert_eq!(floor_exp_neg(&Rational::zero(), &scale), scale);
        assert_eq!(floor_logistic(&Rational::zero(), 8), BigUint::from(128u32));
    }

    #[test]
    fn a_result_next_to_a_whole_number_takes_more_precision_not_a_wrong_floor() {
        // e^x with x just below and just above ln 2: 2^f·e^x is within 2^-150 of a power of two.
        let ln2 = ln2_fraction(220);
        let above = ln2.round_up(200);
        let below = above.checked_sub(&Rational::power_of_two(-200)).unwrap();
        let two_to_the_64 = BigUint::one() << 64;
        assert_eq!(floor_exp(&above, &two_to_the_64), BigUint::one() << 65);
        assert_eq!(floor_exp(&below, &two_to_the_64), (BigUint::one() << 65) - 1u32);
    }

    /// ln 2 = Σ 1/(k·2^k), to within 2^-bits.
    fn ln2_fraction(bits: u32) -> Rational {
        let one = BigUint::one() << (bits + 32);
        let sum: BigUint = (1..bits + 32).map(|k| (&one >> k) / k).sum();
        Rational::new(sum, one).unwrap()
    }

    #[test]
    fn logarithms_to_base_two_are_bounded_from_above_within_a_step() {
        assert_eq!(log2_upper(1, 20), Rational::zero());
        assert_eq!(log2_upper(2, 20), fraction(1, 1));
        assert_eq!(log2_upper(8, 20), fraction(3, 1));
        // log2(3) = 1.584962500721156…, times 2^20 = 1661953.68…
        assert_eq!(log2_upper(3, 20), fraction(1_661_954, 1 << 20));
    }

    proptest! {
        #[test]
        fn bounds_hold_the_product_of_two_exponentials(
            a in 0u64..1 << 40, b in 1u64..1 << 36, c in 0u64..1 << 20, d in 1u64..1 << 20
        ) {
            // e^x·e^y and e^(x+y) are enclosed by intervals that must meet.
            let (x, y) = (fraction(a % (b * 50), b), fraction(c % (d * 50), d));
            let product = exp(&x, 100).times(&exp(&y, 100), 100);
            let sum = exp(&(&x + &y), 300);
            prop_assert!(product.lower() <= sum.upper() && sum.lower() <= product.upper());
            // And the interval is narrow.
            let width = sum.upper().checked_sub(&sum.lower()).unwrap();
            prop_assert!(width <= &sum.lower() * &Rational::power_of_two(-280));
        }

        #[test]
        fn bounds_of_a_reciprocal_hold_it(n in 1u64..1 << 40, d in 1u64..1 << 36, bits in 8u64..300) {
            let power = exp(&fraction(n % (d * 50) + 1, d), 200);
            let inverse = power.inverse(bits);
            // The bounds of x·(1/x) contain 1.
            let one = Rational::whole(1u32);
            prop_assert!(&inverse.lower() * &power.lower() <= one);
            prop_assert!(&inverse.upper() * &power.upper() >= one);
            prop_assert!(&inverse.lower() * &power.upper() <= one);
            prop_assert!(&inverse.upper() * &power.lower() >= one);
        }

        #[test]
        fn coarse_bounds_hold_what_fine_ones_find(
            n in 1u64.., d in 1u64.., shift in 0i32..100, precision in 8u64..3000
        ) {
            let x = &fraction(n >> 20, d >> 20 | 1) * &Rational::power_of_two(-shift);
            prop_assume!(x < Rational::whole(1000u32));
            let (coarse, fine) = (exp(&x, precision), exp(&x, precision + 300));
            prop_assert!(coarse.lower() <= fine.lower() && fine.upper() <= coarse.upper());
        }

        #[test]
        fn a_ladder_and_a_single_exponential_have_the_same_floors(
            k in 0u64..1 << 30, n in 1u64..1000, d in 1u64..1 << 20
        ) {
            let rate = fraction(n, d << 24);
            let scale = BigUint::one() << 64;
            let x = &rate * &Rational::whole(k);
            let precision = exp_bits(&x) + 64 + 64;
            let ladder = Ladder::new(&rate, k.max(1), precision);
            // k = 0 gives a whole number, on which the bounds never agree.
            let power = ladder.power(k).floor_scaled(&scale);
            prop_assert_eq!(power, (k > 0).then(|| floor_exp(&x, &scale)));
        }

        #[test]
        fn every_power_of_a_ladder_takes_the_same_products(
            largest in 1u64..1 << 24, k in any::<u64>(), n in 1u64..1000, precision in 1u64..2000
        ) {
            let ladder = Ladder::new(&fraction(n, 1 << 24), largest, precision);
            work::take();
            let lengths = |k| {
                let power = ladder.power(k);
                (work::take(), power.mantissa.bits())
            };
            prop_assert_eq!(lengths(k % (largest + 1)), lengths(largest));
        }

        #[test]
        fn thresholds_agree_with_floating_point_to_its_precision(n in 1u64..5000, d in 1u64..5000) {
            let x = n as f64 / d as f64;
            let threshold: u64 = floor_logistic(&fraction(n, d), 53).try_into().unwrap();
            let expected = 2f64.powi(53) / (1.0 + x.exp());
            prop_assert!((threshold as f64 - expected).abs() <= 1.0 + expected * 1e-12);
        }
    }
}
