//! The choice as the papers make it (thesis 7.2 and 7.3): the random value protocol, and then one
//! COMPARISON per candidate.
//!
//! *Learned*: the answers to all comparisons, which reveal no more than the winner's index: R < L_k
//! from the winner on. All of them are run, so that the number of messages reveals nothing; the
//! thesis stops at the winner, and compares R ≤ L_k, which gives the first candidate one unit too
//! many.
//! *Cost*: 3·w ANDs per candidate beside the random value; two rounds, the set-up
//! included, and one for each candidate.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::paper::exponential::VerticalExponential;
//! use diptych_mpc::Error;
//! use diptych_mpc::mechanism::OneSided;
//! use diptych_mpc::privacy::exponential::Scaling;
//! use diptych_mpc::privacy::{Budget, Calibration, Choose, Epsilon, Score};
//! use diptych_mpc::protocol::Session;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let scores = |list: &[u64]| list.iter().filter_map(|n| Score::whole(*n)).collect();
//! let choose = |session: &mut Session, scores: &OneSided| -> Result<usize, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//!     let largest = Score::whole(100).unwrap_or_default();
//!     let thesis = Scaling::Decimal { digits: 10 };
//!     let mechanism = VerticalExponential::new(session, thesis, largest, 64);
//!     Ok(mechanism.as_in_the_papers().choose(spend, &Calibration::max(), scores)?.index)
//! };
//! let first = OneSided { own: scores(&[3, 90]), peer: 1 };
//! let second = OneSided { own: scores(&[8]), peer: 2 };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| choose(session, &first),
//!     |session| choose(session, &second),
//! );
//! // Another candidate wins about once in e^82 runs.
//! assert_eq!((outcome.p1?, outcome.p2?), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;
use zeroize::Zeroizing;

use super::vertical::PrefixSums;
use crate::Error;
use crate::circuit::integer::{add, less_than};
use crate::circuit::random_value::UniformBelow;
use crate::circuit::{Builder, Circuit, Program};
use crate::mechanism::no_such_candidate;
use crate::paper::random_value;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::{Ring, Share};
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// The winner's index.
pub(super) fn choose(session: &mut Session, sums: &PrefixSums, tries: u32) -> Result<usize, Error> {
    let ring = Ring::PowerOfTwo(sums.width);
    let bound = Share::new(&ring, &sums.total().clone().into());
    let shape = UniformBelow::new(sums.width, tries as usize);
    let coins = session.coins.joint_uniform(&shape, sums.total())?;
    let r = random_value::draw_with(session, Role::P1, &bound, tries as usize, &coins)?;
    first_above(session, sums, &r)
}

/// The messages of a choice among `count` candidates.
pub(super) fn forecast(f: &mut Forecast, width: usize, tries: u32, count: usize) {
    random_value::forecast(f, Role::P1, &Ring::PowerOfTwo(width), tries as usize);
    let comparison = Program::new(&comparison(width));
    (0..count).for_each(|_| yao::forecast(f, Role::P1, &comparison, Reveal::Both));
}

/// The first candidate whose prefix sum is above R, of which each party has a share.
pub(in super::super) fn first_above(
    session: &mut Session,
    sums: &PrefixSums,
    r: &Share,
) -> Result<usize, Error> {
    let comparison = Program::new(&comparison(sums.width));
    let count = sums.counts[0] + sums.counts[1];
    let mut winner = None;
    for k in 0..count {
        let term = sums.term(session.role, k);
        let mut inputs = Zeroizing::new(Vec::with_capacity(r.ring().width() + sums.width));
        inputs.extend(r.bits());
        inputs.extend((0..sums.width as u64).map(|i| term.bit(i)));
        let below = yao::run(session, Role::P1, &comparison, &inputs, Reveal::Both)?;
        if below.is_some_and(|below| below.contains(&true)) {
            winner = winner.or(Some(k));
        }
    }
    winner.ok_or_else(|| no_such_candidate(count, count))
}

impl PrefixSums {
    /// What a party adds to the sum that candidate k is compared with: P1's candidates have L_k
    /// from P1 and 0 from P2, P2's have s1 from P1 and L'_k from P2.
    fn term(&self, role: Role, k: usize) -> BigUint {
        let p1_has_it = k < self.counts[0];
        match role {
            Role::P1 if p1_has_it => self.sums()[k].clone(),
            Role::P1 => self.total().clone(),
            Role::P2 if p1_has_it => BigUint::ZERO,
            Role::P2 => self.sums()[k - self.counts[0]].clone(),
        }
    }
}

/// COMPARISON of shared numbers: R1 + R2 modulo 2^w against t1 + t2.
pub fn comparison(width: usize) -> Circuit {
    let mut g = Builder::new();
    let [first, second] =
        [(Role::P1, "p1"), (Role::P2, "p2")].map(|(owner, name)| g.input(owner, name, 2 * width));
    let r = add(&mut g, &first[..width], &second[..width]);
    let sum = add(&mut g, &first[width..], &second[width..]);
    let below = less_than(&mut g, &r, &sum);
    g.output("below", &[below]);
    g.finish()
}
