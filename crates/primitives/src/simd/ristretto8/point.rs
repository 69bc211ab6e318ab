//! Eight points of the twisted Edwards curve −x² + y² = 1 + d·x²·y² at once, and their encodings.

use std::arch::x86_64::__mmask8;
use std::hint::black_box;

use super::field::{
    D, D_MINUS_ONE_SQUARED, Field, INVSQRT_A_MINUS_D, ONE, ONE_MINUS_D_SQUARED, SQRT_AD_MINUS_ONE,
    SQRT_MINUS_ONE, TWICE_D, Wide,
};

/// Extended coordinates: x = X/Z, y = Y/Z, T = XY/Z.
#[derive(Clone, Copy)]
pub(super) struct Points {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

/// A point made ready to be added many times.
#[derive(Clone, Copy)]
struct Cached {
    y_plus_x: Field,
    y_minus_x: Field,
    twice_z: Field,
    twice_d_t: Field,
}

/// 64 signed digits of a scalar in base 16, lowest first, each in −8 … 8.
pub(super) type Digits = [i8; 64];

impl Points {
    /// Decodes canonical, non-negative field elements (RFC 9496, section 4.3.1).
    /// The mask has the lanes that are encodings.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn decode(s: Field) -> (Self, __mmask8) {
        let one = Field::splat(ONE);
        let ss = s.squared();
        let u1 = one.minus(ss).carry();
        let u2 = one.plus(ss).carry();
        let u2_squared = u2.squared();
        let v = Field::splat(D).times(u1.squared()).plus(u2_squared).carry().negated();
        let (was_square, root) = Field::sqrt_ratio(one, v.times(u2_squared));
        let denominator_x = root.times(u2);
        let denominator_y = root.times(denominator_x).times(v);
        let x = s.plus(s).carry().times(denominator_x).absolute();
        let y = u1.times(denominator_y);
        let t = x.times(y);
        let valid = was_square & !t.is_negative() & !y.is_zero();
        (Self { x, y, z: one, t }, valid)
    }

    /// Maps field elements to points (MAP of RFC 9496, section 4.3.4).
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn map(t: Field) -> Self {
        let one = Field::splat(ONE);
        let d = Field::splat(D);
        let r = Field::splat(SQRT_MINUS_ONE).times(t.squared());
        let u = r.plus(one).carry().times(Field::splat(ONE_MINUS_D_SQUARED));
        let v = r.times(d).plus(one).carry().negated().times(r.plus(d).carry());
        let (was_square, root) = Field::sqrt_ratio(u, v);
        let other_root = root.times(t).absolute().negated();
        let s = Field::select(was_square, root, other_root);
        let c = Field::select(was_square, one.negated(), r);
        let n = c.times(r.minus(one).carry()).product(Field::splat(D_MINUS_ONE_SQUARED));
        let n = n.minus(v.wide()).carry();
        let s_squared = s.squared();
        let w0 = s.plus(s).carry().times(v);
        let w1 = n.times(Field::splat(SQRT_AD_MINUS_ONE));
        let w2 = one.minus(s_squared).carry();
        let w3 = one.plus(s_squared).carry();
        Self { x: w0.times(w3), y: w2.times(w1), z: w1.times(w3), t: w0.times(w2) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn plus(&self, other: &Self) -> Self {
        self.plus_cached(&other.cached())
    }

    /// The multiple by one scalar for all lanes. Neither branches nor addresses depend on the digits.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn times(&self, digits: &Digits) -> Self {
        let first = self.cached();
        let mut table = [first; 8];
        let mut multiple = *self;
        for entry in &mut table[1..] {
            multiple = multiple.plus_cached(&first);
            *entry = multiple.cached();
        }
        let mut sum = Self::identity();
        for (index, digit) in digits.iter().rev().enumerate() {
            if index > 0 {
                // T is needed by additions alone: three doublings do without it.
                sum = sum.doubled_without_t().doubled_without_t().doubled_without_t().doubled();
            }
            sum = sum.plus_cached(&Cached::select(&table, *digit));
        }
        sum
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn identity() -> Self {
        let (zero, one) = (Field::splat([0; 5]), Field::splat(ONE));
        Self { x: zero, y: one, z: one, t: zero }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn cached(&self) -> Cached {
        Cached {
            y_plus_x: self.y.plus(self.x).carry(),
            y_minus_x: self.y.minus(self.x).carry(),
            twice_z: self.z.plus(self.z).carry(),
            twice_d_t: self.t.times(Field::splat(TWICE_D)),
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn plus_cached(&self, other: &Cached) -> Self {
        let plus = self.y.plus(self.x).carry().product(other.y_plus_x);
        let minus = self.y.minus(self.x).carry().product(other.y_minus_x);
        let t = self.t.product(other.twice_d_t);
        let z = self.z.product(other.twice_z);
        let e = plus.minus(minus).carry();
        let h = plus.plus(minus).carry();
        let g = z.plus(t).carry();
        let f = z.minus(t).carry();
        Self { x: e.times(f), y: h.times(g), z: g.times(f), t: e.times(h) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn doubled(&self) -> Self {
        let (e, f, g, h) = self.doubling();
        Self { x: e.times(f), y: h.times(g), z: g.times(f), t: e.times(h) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn doubled_without_t(&self) -> Self {
        let (e, f, g, h) = self.doubling();
        Self { x: e.times(f), y: h.times(g), z: g.times(f), t: self.t }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn doubling(&self) -> (Field, Field, Field, Field) {
        let xx = self.x.square();
        let yy = self.y.square();
        let zz = self.z.square();
        let sum_squared = self.x.plus(self.y).carry().square();
        let h = yy.plus(xx);
        let e = sum_squared.minus(h).carry();
        let g = yy.minus(xx).carry();
        let f: Wide = zz.plus(zz).plus(xx).minus(yy);
        (e, f.carry(), g, h.carry())
    }
}

impl Cached {
    /// `digit` times the point whose multiples 1 to 8 are in the table, by looking at all of them.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn select(table: &[Self; 8], digit: i8) -> Self {
        let one = Field::splat(ONE);
        let mut found = Self {
            y_plus_x: one,
            y_minus_x: one,
            twice_z: Field::splat([2, 0, 0, 0, 0]),
            twice_d_t: Field::splat([0; 5]),
        };
        let sign = digit >> 7;
        let size = ((digit ^ sign) - sign).cast_unsigned();
        for (entry, multiple) in table.iter().zip(1u8..) {
            let mask = mask_if_equal(size, multiple);
            found.y_plus_x = Field::select(mask, entry.y_plus_x, found.y_plus_x);
            found.y_minus_x = Field::select(mask, entry.y_minus_x, found.y_minus_x);
            found.twice_z = Field::select(mask, entry.twice_z, found.twice_z);
            found.twice_d_t = Field::select(mask, entry.twice_d_t, found.twice_d_t);
        }
        let negative = black_box(sign.cast_unsigned());
        Self {
            y_plus_x: Field::select(negative, found.y_minus_x, found.y_plus_x),
            y_minus_x: Field::select(negative, found.y_plus_x, found.y_minus_x),
            twice_z: found.twice_z,
            twice_d_t: Field::select(negative, found.twice_d_t.negated(), found.twice_d_t),
        }
    }
}

/// All lanes or none, without a branch.
fn mask_if_equal(a: u8, b: u8) -> __mmask8 {
    let difference = u16::from(a ^ b);
    black_box((difference.wrapping_sub(1) >> 8) as u8)
}

/// The signed digits of a scalar below 2^253, little-endian.
pub(super) fn digits(scalar: &[u8; 32]) -> Digits {
    let mut digits = [0; 64];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(scalar) {
        *pair = [(byte & 15).cast_signed(), (byte >> 4).cast_signed()];
    }
    let mut carry = 0;
    for digit in &mut digits {
        let value = *digit + carry;
        carry = (value + 8) >> 4;
        *digit = value - (carry << 4);
    }
    digits
}

/// The encodings of twice each of the points, with one inversion for all of
/// them. No point may be in the class of the identity.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn encode_doubled(points: &[Points], mut put: impl FnMut(usize, [[u8; 32]; 8])) {
    let states: Vec<Doubled> = points.iter().map(|point| Doubled::new(point)).collect();
    // Running products before each state; then the inverse of all, unwound from the end.
    let mut before = Vec::with_capacity(states.len());
    let mut product = Field::splat(ONE);
    for state in &states {
        before.push(product);
        product = product.times(state.eg.times(state.fh));
    }
    let mut inverse = product.inverted();
    for (index, (state, before)) in states.iter().zip(&before).enumerate().rev() {
        let own = inverse.times(*before);
        inverse = inverse.times(state.eg.times(state.fh));
        put(index, state.encode(own).to_bytes());
    }
}

/// What doubling a point gives before the last multiplications, from which the
/// encoding follows without a square root.
struct Doubled {
    e: Field,
    f: Field,
    g: Field,
    h: Field,
    eg: Field,
    fh: Field,
}

impl Doubled {
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(point: &Points) -> Self {
        let zz = point.z.square();
        let d_tt = point.t.squared().product(Field::splat(D));
        let e = point.x.product(point.y);
        let e = e.plus(e).carry();
        let f = zz.plus(d_tt).carry();
        let g = point.y.square().plus(point.x.square()).carry();
        let h = zz.minus(d_tt).carry();
        Self { e, f, g, h, eg: e.times(g), fh: f.times(h) }
    }

    /// `inverse` is that of e·f·g·h.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn encode(&self, inverse: Field) -> Field {
        let i = Field::splat(SQRT_MINUS_ONE);
        let z_inverse = self.eg.times(inverse);
        let t_inverse = self.fh.times(inverse);
        // Which of the points of the class is the canonical one: turned by a quarter, negated, or not.
        let rotate = self.eg.times(z_inverse).is_negative();
        let e = Field::select(rotate, self.g, self.e);
        let g = Field::select(rotate, self.e.negated(), self.g);
        let h = Field::select(rotate, self.f.times(i), self.h);
        let magic = Field::select(rotate, i, Field::splat(INVSQRT_A_MINUS_D));
        let negate = h.times(e).times(z_inverse).is_negative();
        let g = Field::select(negate, g.negated(), g);
        h.minus(g).carry().times(magic.times(g.times(t_inverse))).absolute()
    }
}
