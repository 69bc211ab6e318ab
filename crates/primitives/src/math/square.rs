//! Arithmetic modulo N², for N known, about twice as quick as Montgomery arithmetic of that width.
//!
//! A number is held as the pair `(a₀, a₁)` with `a₀ + a₁·N ≡ x·R mod N²`, both below N. Let
//! `T = a₀·b₀ = t·R + q·N` be the Montgomery reduction modulo N with its quotient. Then
//! `(a₀ + a₁N)(b₀ + b₁N)/R ≡ t + N·((a₀b₁ + a₁b₀ + q)/R)`: three products and two reductions of half
//! the width, where the plain way needs four and four. No factor of N is needed, so the public key
//! (N = n) and its owner (N = p, q) use the same code.

use std::fmt;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;
use zeroize::Zeroizing;

use super::limbs::{self, Limbs};
use super::{Modulus, modular};
use crate::Error;

/// A modulus N² with N prepared. N may be secret: it is wiped on drop and not printed.
#[derive(Clone)]
pub struct SquareModulus {
    pub(crate) root: Modulus,
    one: Residue,
    /// `R³` and `R⁵` modulo N²: they convert a number and the upper half of a longer one.
    r_cubed: Residue,
    r_fifth: Residue,
}

/// A number modulo N² in the form of [`SquareModulus`]. Wiped on drop, not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Residue(pub(crate) Limbs);

/// Working space of one multiplication, wiped on drop.
pub struct Scratch {
    total: Limbs,
    quotient: Limbs,
    pub(crate) factor: Residue,
    pub(crate) product: Residue,
}

impl SquareModulus {
    /// Prepares N², given N.
    ///
    /// # Errors
    /// [`Error::BadModulus`] if N is even or below 3; [`Error::UnalignedModulus`] if its length is
    /// not a multiple of 64 bits.
    pub fn new(root: &BigUint) -> Result<Self, Error> {
        if !root.bits().is_multiple_of(64) {
            return Err(Error::UnalignedModulus(root.bits()));
        }
        let modulus = Modulus::new(root)?;
        let count = modulus.limb_count();
        let square = root * root;
        let pair = |power: usize| {
            let (high, low) = ((BigUint::one() << (64 * count * power)) % &square).div_rem(root);
            let mut limbs = limbs::from_biguint(&low, 2 * count);
            limbs[count..].copy_from_slice(&limbs::from_biguint(&high, count));
            Residue(limbs)
        };
        Ok(Self { one: pair(1), r_cubed: pair(3), r_fifth: pair(5), root: modulus })
    }

    /// The number 1.
    pub fn one(&self) -> Residue {
        self.one.clone()
    }

    /// Converts a number below N² into this form.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the number is not below N².
    pub fn enter(&self, number: &BigUint) -> Result<Residue, Error> {
        let root = self.root.to_biguint();
        let square = &root * &root;
        if number >= &square {
            let bound_bits = square.bits();
            return Err(Error::OutOfRange(super::Range { at_least: 0, bound_bits }));
        }
        Ok(self.enter_limbs(&limbs::from_biguint(number, 2 * self.root.limb_count())))
    }

    /// The number, below N², that a residue represents.
    pub fn leave(&self, residue: &Residue) -> BigUint {
        limbs::to_biguint(&self.leave_limbs(residue))
    }

    /// `a·b`. Costs one multiplication.
    pub fn product(&self, a: &Residue, b: &Residue) -> Residue {
        let mut out = self.one.clone();
        self.multiply(&mut out, a, b, &mut self.scratch());
        out
    }

    /// `base^exponent`, constant-time for all exponents of up to `exponent_bits` bits. Costs a
    /// squaring per bit and a multiplication per five.
    ///
    /// # Errors
    /// [`Error::ExponentTooLong`] if the exponent has more bits than declared.
    pub fn pow(
        &self,
        base: &Residue,
        exponent: &BigUint,
        exponent_bits: usize,
    ) -> Result<Residue, Error> {
        super::montgomery::check_length(exponent, exponent_bits)?;
        let exponent = limbs::from_biguint(exponent, exponent_bits.div_ceil(64));
        Ok(self.pow_limbs(base, &exponent, exponent_bits))
    }

    pub(crate) fn pow_limbs(
        &self,
        base: &Residue,
        exponent: &[u64],
        exponent_bits: usize,
    ) -> Residue {
        let window = if exponent_bits < 24 { 1 } else { 5 };
        let width = base.0.len();
        let mut scratch = self.scratch();
        let mut table = Zeroizing::new(Vec::with_capacity(width << window));
        let mut power = self.one.clone();
        for _ in 0..1 << window {
            table.extend_from_slice(&power.0);
            self.multiply_by(&mut power, base, &mut scratch);
        }
        let mut masks = limbs::zeros(1 << window);
        let mut accumulator = self.one.clone();
        let mut factor = self.one.clone();
        for position in (0..exponent_bits.div_ceil(window)).rev() {
            for _ in 0..window {
                self.square(&mut accumulator, &mut scratch);
            }
            let digit = limbs::digit(exponent, position * window, window);
            limbs::look_up(&mut factor.0, &table, digit, &mut masks);
            self.multiply_by(&mut accumulator, &factor, &mut scratch);
        }
        accumulator
    }

    /// `base^exponent` in a time that depends on the exponent, which must be public; the base may
    /// be secret. Costs a squaring per bit and a multiplication per seven.
    pub fn pow_vartime(&self, base: &Residue, exponent: &BigUint) -> Residue {
        const WINDOW: u64 = 6;
        let mut scratch = self.scratch();
        let square = self.product(base, base);
        let mut odd_powers = vec![base.clone()];
        for _ in 1..1 << (WINDOW - 1) {
            let next = self.product(odd_powers.last().unwrap_or(base), &square);
            odd_powers.push(next);
        }
        let mut accumulator = self.one.clone();
        let mut position = exponent.bits();
        while position > 0 {
            if !exponent.bit(position - 1) {
                self.square(&mut accumulator, &mut scratch);
                position -= 1;
                continue;
            }
            let mut low = position.saturating_sub(WINDOW);
            while !exponent.bit(low) {
                low += 1;
            }
            let mut digit = 0;
            for bit in (low..position).rev() {
                self.square(&mut accumulator, &mut scratch);
                digit = 2 * digit + usize::from(exponent.bit(bit));
            }
            self.multiply_by(&mut accumulator, &odd_powers[digit / 2], &mut scratch);
            position = low;
        }
        accumulator
    }

    /// `a⁻¹`, in a time that depends on `a`: for numbers that the peer knows anyway.
    ///
    /// # Errors
    /// [`Error::NotInvertible`] if `a` shares a factor with N.
    pub fn invert_vartime(&self, a: &Residue) -> Result<Residue, Error> {
        let count = self.root.limb_count();
        let root = self.root.to_biguint();
        // An inverse modulo N is right modulo N; one Newton step y·(2 − a·y) makes it right modulo N².
        let number = self.leave_limbs(a);
        let low = limbs::to_biguint(&number) % &root;
        let inverse = modular::invert_vartime(&low, &root)?;
        let y = self.enter_limbs(&limbs::from_biguint(&inverse, 2 * count));
        let two = self.add(&self.one, &self.one);
        let correction = self.subtract(&two, &self.product(a, &y));
        Ok(self.product(&y, &correction))
    }

    /// `a + b mod N²`.
    pub(crate) fn add(&self, a: &Residue, b: &Residue) -> Residue {
        let count = self.root.limb_count();
        let mut out = a.clone();
        let (low, high) = out.0.split_at_mut(count);
        let carry = limbs::add_assign(low, &b.0[..count]);
        let wrapped = limbs::subtract_if_not_below(low, &self.root.limbs, carry);
        // Below 2N − 1 together with the carry from the lower half.
        let mut top = limbs::add_assign(high, &b.0[count..]);
        top |= limbs::add_assign(high, &[wrapped]);
        limbs::subtract_if_not_below(high, &self.root.limbs, top);
        out
    }

    /// `a − b mod N²`.
    pub(crate) fn subtract(&self, a: &Residue, b: &Residue) -> Residue {
        let count = self.root.limb_count();
        let mut out = a.clone();
        let (low, high) = out.0.split_at_mut(count);
        let borrow = limbs::sub_assign(low, &b.0[..count]);
        limbs::add_masked(low, &self.root.limbs, limbs::mask(borrow));
        let mut below = limbs::sub_assign(high, &b.0[count..]);
        below |= limbs::sub_assign(high, &[borrow]);
        limbs::add_masked(high, &self.root.limbs, limbs::mask(below));
        out
    }

    /// Converts `2·limbs` limbs, any number below R², into this form.
    pub fn enter_limbs(&self, number: &[u64]) -> Residue {
        let mut scratch = self.scratch();
        let mut out = self.divide_by_r(number, &mut scratch);
        self.multiply_by(&mut out, &self.r_cubed, &mut scratch);
        out
    }

    /// Converts `4·limbs` limbs into this form: this is how the key's owner reduces modulo p²
    /// without a division by a secret.
    pub(crate) fn enter_wide(&self, number: &[u64]) -> Residue {
        let (low, high) = number.split_at(2 * self.root.limb_count());
        let mut scratch = self.scratch();
        let mut upper = self.divide_by_r(high, &mut scratch);
        self.multiply_by(&mut upper, &self.r_fifth, &mut scratch);
        self.add(&upper, &self.enter_limbs(low))
    }

    /// The number that a residue represents.
    pub(crate) fn leave_limbs(&self, a: &Residue) -> Limbs {
        self.join(&self.leave_pair(a))
    }

    /// `a₀ + a₁·N`.
    fn join(&self, pair: &Residue) -> Limbs {
        let count = self.root.limb_count();
        let mut out = limbs::zeros(2 * count);
        limbs::multiply(&mut out, &pair.0[count..], &self.root.limbs);
        limbs::add_assign(&mut out, &pair.0[..count]);
        out
    }

    /// The number that a residue represents, as remainder and quotient by N.
    pub(crate) fn leave_pair(&self, a: &Residue) -> Residue {
        let count = self.root.limb_count();
        let mut scratch = self.scratch();
        let mut out = a.clone();
        scratch.total.fill(0);
        scratch.total[..count].copy_from_slice(&a.0[..count]);
        let wrapped = self.reduce_low(&mut out.0[..count], &mut scratch);
        scratch.total.fill(0);
        scratch.total[..count].copy_from_slice(&a.0[count..]);
        self.reduce_high(&mut out.0[count..], 0, wrapped, &mut scratch);
        out
    }

    /// `(a − b)·f mod N²`, where `factor` stands for f·R, for any `a`, `b` of `2·limbs` limbs.
    pub(crate) fn scaled_difference(&self, a: &[u64], b: &[u64], factor: &Residue) -> Limbs {
        let mut scratch = self.scratch();
        let a = self.divide_by_r(a, &mut scratch);
        let mut difference = self.subtract(&a, &self.divide_by_r(b, &mut scratch));
        self.multiply_by(&mut difference, factor, &mut scratch);
        self.join(&difference)
    }

    /// The exact quotient `number / N` of `2·limbs` limbs that are a multiple of N.
    pub(crate) fn divide_exactly_by_root(&self, number: &[u64]) -> Limbs {
        let mut total = Zeroizing::new(number.to_vec());
        let mut quotient = limbs::zeros(self.root.limb_count());
        self.root.reduce(&mut total, 0, &mut quotient);
        quotient
    }

    /// `number / R` as a pair.
    fn divide_by_r(&self, number: &[u64], scratch: &mut Scratch) -> Residue {
        let count = self.root.limb_count();
        let mut out = Residue(limbs::zeros(2 * count));
        scratch.total.copy_from_slice(number);
        let high = self.root.reduce(&mut scratch.total, 0, &mut scratch.quotient);
        let low = &mut out.0[..count];
        low.copy_from_slice(&scratch.total[count..]);
        limbs::add_masked(low, &self.root.limbs, limbs::mask(high));
        // A number of N² or more may leave one N too many: N fills its limbs, so not more than one.
        let over = limbs::subtract_if_not_below(low, &self.root.limbs, 0);
        scratch.total.fill(0);
        // `over` belongs to the upper half after the division by R, so it goes in as one R.
        scratch.total[count] = over;
        self.reduce_high(&mut out.0[count..], 0, high & 1, scratch);
        out
    }

    /// `out = a·b/R`.
    #[inline]
    pub(crate) fn multiply(&self, out: &mut Residue, a: &Residue, b: &Residue, s: &mut Scratch) {
        let count = self.root.limb_count();
        let ((a0, a1), (b0, b1)) = (a.0.split_at(count), b.0.split_at(count));
        let (low, high) = out.0.split_at_mut(count);
        limbs::multiply(&mut s.total, a0, b0);
        let wrapped = self.reduce_low(low, s);
        limbs::multiply(&mut s.total, a0, b1);
        let top = limbs::multiply_add(&mut s.total, a1, b0);
        self.reduce_high(high, top, wrapped, s);
    }

    /// `a = a·b/R`.
    #[inline]
    pub fn multiply_by(&self, a: &mut Residue, b: &Residue, scratch: &mut Scratch) {
        let mut product = std::mem::replace(&mut scratch.product, Residue(Zeroizing::default()));
        self.multiply(&mut product, a, b, scratch);
        scratch.product = std::mem::replace(a, product);
    }

    /// `a = a²/R`.
    #[inline]
    pub fn square(&self, a: &mut Residue, s: &mut Scratch) {
        let count = self.root.limb_count();
        let (low, high) = a.0.split_at_mut(count);
        let mut product = std::mem::replace(&mut s.product, Residue(Zeroizing::default()));
        let (new_low, new_high) = product.0.split_at_mut(count);
        limbs::square(&mut s.total, low);
        let wrapped = self.reduce_low(new_low, s);
        limbs::multiply(&mut s.total, low, high);
        let top = limbs::double(&mut s.total);
        self.reduce_high(new_high, top, wrapped, s);
        s.product = std::mem::replace(a, product);
    }

    /// The lower half: `out = (total − q·N)/R`, q left in the scratch; 1 if N had to be added.
    #[inline]
    fn reduce_low(&self, out: &mut [u64], s: &mut Scratch) -> u64 {
        let count = self.root.limb_count();
        let high = self.root.reduce(&mut s.total, 0, &mut s.quotient);
        out.copy_from_slice(&s.total[count..]);
        limbs::add_masked(out, &self.root.limbs, limbs::mask(high));
        high & 1
    }

    /// The upper half: `out = (top·R² + total + q)/R − wrapped mod N`, with q from the lower half.
    #[inline]
    fn reduce_high(&self, out: &mut [u64], top: u64, wrapped: u64, s: &mut Scratch) {
        let count = self.root.limb_count();
        let top = top + limbs::add_assign(&mut s.total, &s.quotient);
        let high = self.root.reduce(&mut s.total, top, &mut s.quotient);
        out.copy_from_slice(&s.total[count..]);
        let high = high.wrapping_sub(limbs::sub_assign(out, &[wrapped]));
        // The number is in [−N, 2N): if the sign bit is set N is added, otherwise N is subtracted
        // if possible.
        let high =
            high.wrapping_add(limbs::add_masked(out, &self.root.limbs, limbs::mask(high >> 63)));
        limbs::subtract_if_not_below(out, &self.root.limbs, high);
    }

    /// Working space for these methods.
    pub fn scratch(&self) -> Scratch {
        let count = self.root.limb_count();
        Scratch {
            total: limbs::zeros(2 * count),
            quotient: limbs::zeros(count),
            factor: Residue(limbs::zeros(2 * count)),
            product: Residue(limbs::zeros(2 * count)),
        }
    }
}

impl fmt::Debug for SquareModulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SquareModulus({} limbs)", 2 * self.root.limb_count())
    }
}

impl fmt::Debug for Residue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Residue(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Roots of 64 to 384 bits with the top bit set, extreme ones included.
    fn root() -> impl Strategy<Value = BigUint> {
        prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 1..7).prop_map(
            |mut limbs| {
                limbs[0] |= 1;
                *limbs.last_mut().unwrap() |= 1 << 63;
                limbs::to_biguint(&limbs)
            },
        )
    }

    fn number() -> impl Strategy<Value = BigUint> {
        prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 0..24)
            .prop_map(|limbs| limbs::to_biguint(&limbs))
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_num_bigint(n in root(), a in number(), b in number()) {
            let modulus = SquareModulus::new(&n).unwrap();
            let square = &n * &n;
            let (a, b) = (a % &square, b % &square);
            let (x, y) = (modulus.enter(&a).unwrap(), modulus.enter(&b).unwrap());
            prop_assert_eq!(&modulus.leave(&x), &a);
            prop_assert_eq!(modulus.leave(&modulus.product(&x, &y)), &a * &b % &square);
            prop_assert_eq!(modulus.leave(&modulus.add(&x, &y)), (&a + &b) % &square);
            prop_assert_eq!(modulus.leave(&modulus.subtract(&x, &y)), (&a + &square - &b) % &square);
            let mut z = x.clone();
            modulus.square(&mut z, &mut modulus.scratch());
            prop_assert_eq!(modulus.leave(&z), &a * &a % &square);
        }

        #[test]
        fn the_largest_residues_stay_reduced(n in root()) {
            let modulus = SquareModulus::new(&n).unwrap();
            let square = &n * &n;
            let count = modulus.root.limb_count();
            let top = limbs::from_biguint(&(&n - 1u8), count);
            let mut largest = modulus.one();
            largest.0[..count].copy_from_slice(&top);
            largest.0[count..].copy_from_slice(&top);
            let value = modulus.leave(&largest);
            let mut squared = largest.clone();
            modulus.square(&mut squared, &mut modulus.scratch());
            prop_assert_eq!(&squared, &modulus.product(&largest, &largest));
            prop_assert_eq!(modulus.leave(&squared), &value * &value % &square);
        }

        #[test]
        fn numbers_of_any_size_come_into_form(n in root(), a in number()) {
            let modulus = SquareModulus::new(&n).unwrap();
            let count = modulus.root.limb_count();
            let square = &n * &n;
            let wide = a % (BigUint::one() << (256 * count));
            let entered = modulus.enter_wide(&limbs::from_biguint(&wide, 4 * count));
            prop_assert_eq!(modulus.leave(&entered), &wide % &square);
            let short = wide % (BigUint::one() << (128 * count));
            let entered = modulus.enter_limbs(&limbs::from_biguint(&short, 2 * count));
            prop_assert_eq!(modulus.leave(&entered), short % &square);
        }

        #[test]
        fn powers_agree_with_num_bigint(n in root(), a in number(), e in any::<u128>()) {
            let modulus = SquareModulus::new(&n).unwrap();
            let square = &n * &n;
            let a = a % &square;
            let e = BigUint::from(e);
            let expected = a.modpow(&e, &square);
            let base = modulus.enter(&a).unwrap();
            let power = modulus.pow(&base, &e, 131).unwrap();
            prop_assert_eq!(modulus.leave(&power), expected);
            prop_assert_eq!(power, modulus.pow_vartime(&base, &e));
        }

        #[test]
        fn inverses_and_exact_quotients(n in root(), a in number()) {
            let modulus = SquareModulus::new(&n).unwrap();
            let square = &n * &n;
            let a = a % &square;
            let residue = modulus.enter(&a).unwrap();
            match modulus.invert_vartime(&residue) {
                Ok(inverse) => prop_assert_eq!(modulus.product(&inverse, &residue), modulus.one()),
                Err(_) => prop_assert!(!a.gcd(&n).is_one()),
            }
            let quotient = a / &n;
            let multiple = limbs::from_biguint(&(&quotient * &n), 2 * modulus.root.limb_count());
            prop_assert_eq!(limbs::to_biguint(&modulus.divide_exactly_by_root(&multiple)), quotient);
        }
    }

    #[test]
    fn an_unaligned_modulus_and_a_number_out_of_range_are_refused() {
        let short = BigUint::from(u64::MAX >> 1);
        assert_eq!(SquareModulus::new(&short).unwrap_err(), Error::UnalignedModulus(63));
        let n = BigUint::from(u64::MAX);
        let modulus = SquareModulus::new(&n).unwrap();
        assert!(matches!(modulus.enter(&(&n * &n)), Err(Error::OutOfRange(_))));
    }
}
