//! Budget accounting that cannot be exceeded.
//!
//! A mechanism runs on a [`Spend`]: a value that only a [`Budget`] creates, that cannot be copied
//! and that the mechanism consumes. The sum of all spends never exceeds the total (sequential
//! composition; amounts may depend on earlier outputs, since the total holds on every path).
//!
//! # Example
//!
//! ```
//! use diptych_privacy::{Budget, Epsilon, Error};
//!
//! let (epsilon, most): (Epsilon, Epsilon) = ("1".parse()?, "0.7".parse()?);
//! let mut budget = Budget::new(&epsilon);
//!
//! let structure = budget.spend("structure", most.value())?;
//! assert_eq!(structure.epsilon().to_string(), "7/10");
//!
//! let refused = budget.spend("more structure", most.value());
//! assert!(matches!(refused, Err(Error::BudgetExceeded { .. })));
//!
//! let counts = budget.spend_rest("counts")?;
//! assert_eq!(counts.epsilon().to_string(), "3/10");
//! assert!(budget.remaining().is_zero());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Epsilon, Error};
use crate::math::Rational;

/// What is left of an ε, and what it was spent on.
#[derive(Debug)]
pub struct Budget {
    total: Rational,
    remaining: Rational,
    spends: Vec<Entry>,
}

/// A named amount in the list of spends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it was spent on.
    pub name: String,
    /// How much.
    pub epsilon: Rational,
}

/// The right to run one mechanism once. A spend that is dropped unused still counts as spent.
#[derive(Debug)]
#[must_use = "this part of the budget is spent whether a mechanism uses it or not"]
pub struct Spend {
    name: String,
    epsilon: Rational,
}

impl Budget {
    /// A budget of `total`, nothing spent yet.
    pub fn new(total: &Epsilon) -> Self {
        let total = total.value().clone();
        Self { remaining: total.clone(), total, spends: Vec::new() }
    }

    /// Takes `amount` out of the budget.
    ///
    /// # Errors
    /// [`Error::BudgetExceeded`] if more is asked for than is left, [`Error::EmptySpend`] for 0.
    /// The budget is then unchanged.
    pub fn spend(&mut self, name: impl Into<String>, amount: &Rational) -> Result<Spend, Error> {
        let name = name.into();
        if amount.is_zero() {
            return Err(Error::EmptySpend { name });
        }
        let Some(rest) = self.remaining.checked_sub(amount) else {
            let (wanted, left) = (amount.clone(), self.remaining.clone());
            return Err(Error::BudgetExceeded { name, wanted, left });
        };
        self.remaining = rest;
        self.spends.push(Entry { name: name.clone(), epsilon: amount.clone() });
        Ok(Spend { name, epsilon: amount.clone() })
    }

    /// Takes all that is left.
    ///
    /// # Errors
    /// [`Error::EmptySpend`] if nothing is.
    pub fn spend_rest(&mut self, name: impl Into<String>) -> Result<Spend, Error> {
        let rest = self.remaining.clone();
        self.spend(name, &rest)
    }

    /// What is left.
    pub fn remaining(&self) -> &Rational {
        &self.remaining
    }

    /// The ε that this budget began with.
    pub fn total(&self) -> &Rational {
        &self.total
    }

    /// Everything spent, in order: part of the output of a run.
    pub fn spends(&self) -> &[Entry] {
        &self.spends
    }
}

impl Spend {
    /// What it is spent on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How much may be spent.
    pub fn epsilon(&self) -> &Rational {
        &self.epsilon
    }

    /// The right to run one mechanism on each of several **disjoint** sets of records: one record
    /// takes part in one of them only, so all together cost one spend (parallel composition).
    /// The caller must ensure that the sets are disjoint.
    pub fn over_disjoint_records(self, parts: usize) -> Vec<Spend> {
        let part =
            |i| Spend { name: format!("{} ({i})", self.name), epsilon: self.epsilon.clone() };
        (1..=parts).map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_that_is_left_is_written_as_0() {
        let mut budget = Budget::new(&"1.0".parse().unwrap());
        let _all = budget.spend_rest("counts").unwrap();
        let third = Rational::new(1u32, 3u32).unwrap();
        let refused = budget.spend("more", &third).unwrap_err().to_string();
        assert!(refused.contains("needs ε 0.333334 but only 0 is left"), "{refused}");
    }

    #[test]
    fn spends_are_named_and_listed_in_order() {
        let mut budget = Budget::new(&"1.0".parse().unwrap());
        let quarter = Rational::new(1u32, 4u32).unwrap();
        let first = budget.spend("first split", &quarter).unwrap();
        assert_eq!((first.name(), first.epsilon()), ("first split", &quarter));
        let rest = budget.spend_rest("counts").unwrap();
        assert_eq!(rest.epsilon(), &Rational::new(3u32, 4u32).unwrap());
        let names: Vec<_> = budget.spends().iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["first split", "counts"]);
        assert!(matches!(budget.spend_rest("more"), Err(Error::EmptySpend { .. })));
    }

    #[test]
    fn ten_tenths_are_exactly_one() {
        let mut budget = Budget::new(&"1".parse().unwrap());
        let tenth: Epsilon = "0.1".parse().unwrap();
        for i in 0..10 {
            let _ = budget.spend(format!("round {i}"), tenth.value()).unwrap();
        }
        assert!(budget.remaining().is_zero());
        assert!(budget.spend("one more", &Rational::power_of_two(-1000)).is_err());
    }

    #[test]
    fn disjoint_parts_have_the_whole_spend_each() {
        let mut budget = Budget::new(&"1".parse().unwrap());
        let parts = budget.spend_rest("split of the children").unwrap().over_disjoint_records(2);
        assert!(parts.iter().all(|part| part.epsilon() == &Rational::whole(1u32)));
        assert_eq!(parts[1].name(), "split of the children (2)");
        assert_eq!(budget.spends().len(), 1);
    }

    proptest! {
        #[test]
        fn no_sequence_of_spends_passes_the_total(
            total in 1u64..10_000,
            amounts in proptest::collection::vec((0u64..1 << 40, 1u64..1 << 36), 0..60)
        ) {
            let epsilon: Epsilon = format!("0.{total:04}").parse().unwrap();
            let mut budget = Budget::new(&epsilon);
            let mut granted = Rational::zero();
            for (n, d) in amounts {
                let amount = Rational::new(n % d, d * 4).unwrap();
                let before = budget.remaining().clone();
                match budget.spend("x", &amount) {
                    Ok(spend) => granted = &granted + spend.epsilon(),
                    Err(_) => {
                        prop_assert!(amount.is_zero() || amount > before);
                        prop_assert_eq!(budget.remaining(), &before);
                    }
                }
                prop_assert!(&granted <= epsilon.value());
                prop_assert_eq!(&(&granted + budget.remaining()), epsilon.value());
            }
            let listed = budget.spends().iter().fold(Rational::zero(), |sum, e| &sum + &e.epsilon);
            prop_assert_eq!(listed, granted);
        }
    }
}
