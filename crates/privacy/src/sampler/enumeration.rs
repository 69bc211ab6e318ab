//! The exact law of a sampler, found by following every path that its random numbers can take.
//!
//! Each decision of the sampler is a branch with a known probability; the probability of a path is
//! their product. Paths that become less likely than a limit are cut off and their mass counted,
//! so each probability is known up to that mass, with no statistics involved.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::Uniform;
use crate::math::Rational;

/// Exact lower bounds of a sampler's probabilities, and the mass that is missing from their sum.
#[derive(Debug)]
pub struct Law<T> {
    /// Lower bounds of the probabilities.
    pub at_least: BTreeMap<T, Rational>,
    /// The total probability of all cut-off paths: no probability exceeds its lower bound by more.
    pub unresolved: Rational,
}

impl<T: Ord> Law<T> {
    /// Follows all paths of `sampler` that have a probability of at least 2^-`limit_bits`.
    ///
    /// Cost: at most 2^`limit_bits` runs of the sampler, so only for small limits.
    pub fn of(limit_bits: u32, sampler: impl Fn(&mut Path) -> T) -> Self {
        let mut law = Self { at_least: BTreeMap::new(), unresolved: Rational::zero() };
        let mut path = Path::new(limit_bits);
        loop {
            let outcome = sampler(&mut path);
            let probability = path.probability();
            if path.cut {
                law.unresolved = &law.unresolved + &probability;
            } else {
                let sum = law.at_least.entry(outcome).or_insert_with(Rational::zero);
                *sum = &*sum + &probability;
            }
            if !path.advance() {
                return law;
            }
        }
    }

    /// Whether `probability` is within the bounds for `outcome`.
    pub fn allows(&self, outcome: &T, probability: &Rational) -> bool {
        let zero = Rational::zero();
        let low = self.at_least.get(outcome).unwrap_or(&zero);
        low <= probability && probability <= &(low + &self.unresolved)
    }
}

/// One sequence of answers, which the sampler uses as a generator.
#[derive(Debug)]
pub struct Path {
    branches: Vec<Branch>,
    position: usize,
    least_likely: Rational,
    cut: bool,
}

#[derive(Debug)]
struct Branch {
    /// The answer taken now, and those not tried yet.
    answers: Vec<(BigUint, Rational)>,
    /// The probability of the path up to and including this branch.
    so_far: Rational,
}

impl Path {
    fn new(limit_bits: u32) -> Self {
        let least_likely = Rational::power_of_two(-(limit_bits as i32));
        Self { branches: Vec::new(), position: 0, least_likely, cut: false }
    }

    fn probability(&self) -> Rational {
        self.branches.last().map_or_else(|| Rational::whole(1u32), |last| last.so_far.clone())
    }

    /// Returns the answer of the current branch, or opens a new one; `last` ends every loop of a
    /// sampler.
    fn answer(
        &mut self,
        options: impl FnOnce() -> Vec<(BigUint, Rational)>,
        last: BigUint,
    ) -> BigUint {
        if self.position == self.branches.len() {
            let before = self.probability();
            if self.cut || before < self.least_likely {
                self.cut = true;
                return last;
            }
            let answers = options();
            let Some((_, share)) = answers.last() else { return last };
            let so_far = &before * share;
            self.branches.push(Branch { answers, so_far });
        }
        let branch = &self.branches[self.position];
        self.position += 1;
        branch.answers.last().map_or(last, |(answer, _)| answer.clone())
    }

    /// Moves to the next path; false when all are done.
    fn advance(&mut self) -> bool {
        self.position = 0;
        self.cut = false;
        while let Some(mut branch) = self.branches.pop() {
            branch.answers.pop();
            if let Some((_, share)) = branch.answers.last() {
                branch.so_far = &self.probability() * share;
                self.branches.push(branch);
                return true;
            }
        }
        false
    }
}

impl Uniform for Path {
    fn below(&mut self, bound: &BigUint) -> BigUint {
        if bound <= &BigUint::one() {
            return BigUint::zero();
        }
        let options = || {
            let share = Rational::new(1u32, bound.clone()).unwrap_or_else(Rational::zero);
            values_below(bound).map(|value| (value, share.clone())).collect()
        };
        self.answer(options, bound - 1u32)
    }

    fn happens(&mut self, n: &BigUint, d: &BigUint) -> bool {
        if n >= d || n.is_zero() {
            return n >= d;
        }
        let options = || {
            let share = |m: BigUint| Rational::new(m, d.clone()).unwrap_or_else(Rational::zero);
            vec![(BigUint::one(), share(n.clone())), (BigUint::zero(), share(d - n))]
        };
        self.answer(options, BigUint::zero()).is_one()
    }
}

fn values_below(bound: &BigUint) -> impl Iterator<Item = BigUint> {
    let end: u64 = bound.try_into().unwrap_or(u64::MAX);
    (0..end).map(BigUint::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exponential::{exp_upper, floor_exp_neg};
    use crate::sampler::{bernoulli_exp, discrete_laplace, geometric};

    fn fraction(n: u32, d: u32) -> Rational {
        Rational::new(n, d).unwrap()
    }

    /// Both ends of e^−x, 2^-100 apart.
    fn exp_neg(x: &Rational) -> [Rational; 2] {
        let one = BigUint::one() << 100;
        let low = floor_exp_neg(x, &one);
        let high = &low + 1u32;
        [low, high].map(|value| Rational::new(value, one.clone()).unwrap())
    }

    #[test]
    fn the_masses_of_all_paths_add_up_to_one() {
        let law = Law::of(24, |path| geometric(&fraction(2, 3), path));
        let sum = law.at_least.values().fold(law.unresolved.clone(), |sum, p| &sum + p);
        assert_eq!(sum, Rational::whole(1u32));
    }

    #[test]
    fn bernoulli_of_an_exponential_has_exactly_that_law() {
        for x in [fraction(1, 3), fraction(1, 1), fraction(5, 2)] {
            let law = Law::of(40, |path| bernoulli_exp(&x, path));
            assert!(law.unresolved < Rational::power_of_two(-36), "{}", law.unresolved);
            assert!(exp_neg(&x).iter().all(|p| law.allows(&true, p)), "{x}");
        }
    }

    #[test]
    fn geometric_noise_has_exactly_its_law() {
        for rate in [fraction(1, 2), fraction(1, 1), fraction(2, 3)] {
            let law = Law::of(24, |path| geometric(&rate, path));
            assert!(law.unresolved < Rational::power_of_two(-10), "{}", law.unresolved);
            for k in 0u32..6 {
                // q^k − q^(k+1)
                let at = |k| exp_neg(&(&rate * &Rational::whole(k)))[0].clone();
                let p = at(k).checked_sub(&at(k + 1)).unwrap();
                assert!(law.allows(&BigUint::from(k), &p), "rate {rate}, k {k}");
            }
        }
    }

    #[test]
    fn discrete_laplace_noise_has_exactly_its_law() {
        for rate in [fraction(1, 2), fraction(1, 1)] {
            let law = Law::of(22, |path| discrete_laplace(&rate, path));
            assert!(law.unresolved < Rational::power_of_two(-7), "{}", law.unresolved);
            // (1−q)/(1+q)·q^|k| = (e^rate − 1)/(e^rate + 1)·q^|k|
            let e = exp_upper(&rate, 100);
            let one = Rational::whole(1u32);
            let top = e.checked_sub(&one).unwrap().checked_div(&(&e + &one)).unwrap();
            for k in -4i32..=4 {
                let q = &exp_neg(&(&rate * &Rational::whole(k.unsigned_abs())))[0];
                assert!(law.allows(&k.into(), &(&top * q)), "rate {rate}, k {k}");
            }
        }
    }

    #[test]
    fn a_law_that_is_slightly_off_is_not_allowed() {
        let law = Law::of(40, |path| bernoulli_exp(&Rational::whole(1u32), path));
        let off = &exp_neg(&Rational::whole(1u32))[0] + &Rational::power_of_two(-30);
        assert!(!law.allows(&true, &off));
    }
}
