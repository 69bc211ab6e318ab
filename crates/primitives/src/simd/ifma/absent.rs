//! The same names for targets without the instructions: none of these types has a value.

use std::convert::Infallible;

/// The widest modulus, in bits.
pub const MAX_BITS: usize = 6144;

/// Whether the processor has the instructions: here, never.
#[must_use]
pub fn available() -> bool {
    false
}

/// Eight numbers; never made here.
#[derive(Clone, Debug)]
pub struct Lanes(Infallible);

/// A modulus for eight lanes; never made here.
#[derive(Clone, Debug)]
pub struct Modulus8(Infallible);

/// Powers of one fixed base; never made here.
#[derive(Debug)]
pub struct FixedBase8(Infallible);

impl Modulus8 {
    /// `None`.
    #[must_use]
    pub fn new(_modulus: &[u64]) -> Option<Self> {
        None
    }

    /// Never called.
    #[must_use]
    pub fn load(&self, _numbers: [&[u64]; 8]) -> Lanes {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn store(&self, _lanes: &Lanes) -> [Vec<u64>; 8] {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn one(&self) -> Lanes {
        match self.0 {}
    }

    /// Never called.
    pub fn mul(&self, _a: &Lanes, _b: &Lanes, _out: &mut Lanes) {
        match self.0 {}
    }

    /// Never called.
    pub fn square(&self, _a: &Lanes, _out: &mut Lanes) {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn pow(&self, _bases: &Lanes, _exponents: [&[u64]; 8], _exponent_bits: usize) -> Lanes {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn pow_shared(&self, _bases: &Lanes, _exponent: &[u64], _exponent_bits: usize) -> Lanes {
        match self.0 {}
    }
}

impl FixedBase8 {
    /// Never called.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        match self.0 {}
    }

    /// Never called: there is no modulus to call it with.
    #[must_use]
    pub fn new(
        modulus: &Modulus8,
        _base: &[u64],
        _exponent_bits: usize,
        _memory_budget_bytes: usize,
    ) -> Self {
        match modulus.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn pow(&self, _exponents: [&[u64]; 8]) -> Lanes {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn pow_many(&self, _exponents: &[[&[u64]; 8]]) -> Vec<Lanes> {
        match self.0 {}
    }
}
