//! A bit of a circuit under construction, and the trait that gadgets build on.

use std::fmt;
use std::ops::Not;

/// A constant or a wire, possibly negated. Negation is free and costs no gate
/// until an AND or an output needs it.
///
/// A `Bit` belongs to the builder that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bit(u32);

impl Bit {
    /// The constant 0.
    pub const FALSE: Bit = Bit(0);
    /// The constant 1.
    pub const TRUE: Bit = Bit(1);
    /// The largest wire number.
    pub const MAX_ID: u32 = u32::MAX >> 1;

    /// The constant `value`.
    pub fn constant(value: bool) -> Bit {
        Bit(u32::from(value))
    }

    /// Wire number `id`, counted from 1; 0 is the constant.
    pub(crate) fn wire(id: u32) -> Bit {
        debug_assert!(id <= Bit::MAX_ID);
        Bit(id << 1)
    }

    /// The bit as a number, which is never the largest of its type.
    pub(super) fn code(self) -> u32 {
        self.0
    }

    /// The bit with this [`Bit::code`].
    pub(super) fn from_code(code: u32) -> Bit {
        Bit(code)
    }

    /// The wire's number, 0 for a constant.
    pub fn id(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the wire is taken negated; for a constant, its value.
    pub fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The value, if it is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.id() == 0).then_some(self.negated())
    }

    /// The bit without its negation.
    pub fn positive(self) -> Bit {
        Bit(self.0 & !1)
    }

    /// The bit, negated if `condition`.
    pub fn negate_if(self, condition: bool) -> Bit {
        Bit(self.0 ^ u32::from(condition))
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        self.negate_if(true)
    }
}

impl fmt::Debug for Bit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_constant() {
            Some(value) => write!(f, "{}", u8::from(value)),
            None => write!(f, "{}w{}", if self.negated() { "!" } else { "" }, self.id() - 1),
        }
    }
}

/// Something that gates can be added to. Constants are folded away, so they
/// never become wires.
pub trait Gates: Sized {
    /// A gate on two distinct wires, neither a constant nor negated.
    fn xor_gate(&mut self, a: Bit, b: Bit) -> Bit;

    /// A gate on two distinct wires, neither a constant; either may be negated.
    fn and_gate(&mut self, a: Bit, b: Bit) -> Bit;

    /// Runs `inner`; a stream then frees every wire made inside that is not returned.
    fn scope<R: Keep>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        inner(self)
    }

    /// a ⊕ b. Free in a garbled circuit.
    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let negate = a.negated() ^ b.negated();
        let (a, b) = (a.positive(), b.positive());
        if a == b {
            Bit::constant(negate)
        } else if a == Bit::FALSE {
            b.negate_if(negate)
        } else if b == Bit::FALSE {
            a.negate_if(negate)
        } else {
            self.xor_gate(a, b).negate_if(negate)
        }
    }

    /// a ∧ b. Two ciphertexts in a garbled circuit.
    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.as_constant(), b.as_constant()) {
            (Some(false), _) | (_, Some(false)) => Bit::FALSE,
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ if a == b => a,
            _ if a == !b => Bit::FALSE,
            _ => self.and_gate(a, b),
        }
    }

    /// a ∨ b, one AND.
    fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// `a` if `choice`, else `b`: one AND.
    fn mux(&mut self, choice: Bit, a: Bit, b: Bit) -> Bit {
        let difference = self.xor(a, b);
        let chosen = self.and(choice, difference);
        self.xor(b, chosen)
    }

    /// Whether two of three are set (the carry of an adder): one AND.
    fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        for (constant, x, y) in [(a, b, c), (b, a, c), (c, a, b)] {
            match constant.as_constant() {
                Some(false) => return self.and(x, y),
                Some(true) => return self.or(x, y),
                None => {}
            }
        }
        let (ac, bc) = (self.xor(a, c), self.xor(b, c));
        let both = self.and(ac, bc);
        self.xor(c, both)
    }
}

/// A value made of bits that a [`Gates::scope`] returns.
pub trait Keep {
    /// Calls `visit` for every bit of the value.
    fn each_bit(&self, visit: &mut dyn FnMut(Bit));
}

impl Keep for () {
    fn each_bit(&self, _: &mut dyn FnMut(Bit)) {}
}

impl Keep for Bit {
    fn each_bit(&self, visit: &mut dyn FnMut(Bit)) {
        visit(*self);
    }
}

impl<T: Keep> Keep for Vec<T> {
    fn each_bit(&self, visit: &mut dyn FnMut(Bit)) {
        self.iter().for_each(|item| item.each_bit(visit));
    }
}

impl<T: Keep, const N: usize> Keep for [T; N] {
    fn each_bit(&self, visit: &mut dyn FnMut(Bit)) {
        self.iter().for_each(|item| item.each_bit(visit));
    }
}

impl<A: Keep, B: Keep> Keep for (A, B) {
    fn each_bit(&self, visit: &mut dyn FnMut(Bit)) {
        self.0.each_bit(visit);
        self.1.each_bit(visit);
    }
}

impl<A: Keep, B: Keep, C: Keep> Keep for (A, B, C) {
    fn each_bit(&self, visit: &mut dyn FnMut(Bit)) {
        self.0.each_bit(visit);
        self.1.each_bit(visit);
        self.2.each_bit(visit);
    }
}
