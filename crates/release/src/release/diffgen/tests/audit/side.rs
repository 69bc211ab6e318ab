//! One of two neighbouring tables, released by the library's own loop and mechanisms, with every
//! decision told by whoever is asked: the audit sees the chances of all options, and says which of
//! them it shall be.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

use num_bigint::{BigInt, BigUint};

use super::law::{Asks, Law};
use crate::Error;
use crate::agreement::Agreement;
use crate::math::Rational;
use crate::privacy::decisions::Decisions;
use crate::privacy::{self, AddNoise, Score, Spend};
use crate::release::diffgen::plan::keep_from;
use crate::release::diffgen::single::{Chooser, Mechanisms, Noiser, Single};
use crate::release::diffgen::{Leaves, Plan, RECORDS, Release, Specializer, run};
use crate::release::tree::splits::stretches;
use crate::release::tree::utility::{Logarithms, Utility};
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// One spend, and what is drawn with it.
pub struct Node {
    pub name: String,
    pub epsilon: Rational,
    pub draws: Vec<Draw>,
}

/// What one table makes of a draw.
#[derive(PartialEq)]
pub enum Draw {
    /// The chance of each option.
    Options(Vec<BigUint>),
    /// A size, kept or not by whether it reaches a bound with noise.
    Size { size: u64, least: u64 },
    /// A count that noise is added to.
    Count(u64),
}

/// The way to the adversary and back.
pub struct Line {
    pub asks: Sender<Node>,
    pub answers: Receiver<Vec<usize>>,
}

impl Line {
    fn ask(&self, spend: &Spend, draws: Vec<Draw>) -> Vec<usize> {
        let (name, epsilon) = (spend.name().to_owned(), spend.epsilon().clone());
        self.asks.send(Node { name, epsilon, draws }).unwrap();
        self.answers.recv().unwrap()
    }
}

/// Releases a table along the path that the answers lead.
pub fn release(agreement: &Agreement, plan: &Plan, table: &Table, line: Line) -> Release {
    let (told, line) = (Told::default(), Rc::new(line));
    let Mechanisms { choose, split, split_together, noise, splits_in_order } =
        Mechanisms::with(agreement, || told.clone()).unwrap();
    let law = |chooser: &Chooser<_>| match chooser {
        Chooser::Exponential(_) => Law::Exponential,
        Chooser::PermuteAndFlip(_) => Law::NoisyMax,
        Chooser::Taylor(_) => Law::Polynomial(plan.terms().taylor.unwrap()),
    };
    let choice = law(&choose);
    let of_splits = [law(&split), law(split_together.as_ref().unwrap())];
    let noises = if matches!(noise, Noiser::Two(_)) { 2 } else { 1 };
    let noise = Watched { noise, noises, told: told.clone(), line: line.clone() };
    let mechanisms = Mechanisms { choose, split, split_together, noise, splits_in_order };
    let form = Single::new(plan, table, mechanisms).unwrap();
    let mut side = Side { form, plan, choice, of_splits, told, line };
    let budget = privacy::Budget::new(plan.epsilon());
    run(plan, budget, &mut side, &|_| {}).unwrap()
}

struct Side<'p, 't> {
    form: Single<'p, 't, Chooser<Told>, Chooser<Told>, Watched>,
    plan: &'p Plan,
    choice: Law,
    /// Drawn by one party, and by both together.
    of_splits: [Law; 2],
    told: Told,
    line: Rc<Line>,
}

impl Specializer for Side<'_, '_> {
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        self.form.noisy_records(spend)
    }

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        let calibration = self.plan.split_calibration(attribute);
        let (mut draws, mut ways) = (Vec::new(), Vec::new());
        for interval in intervals {
            let scores = self.split_scores(attribute, *interval)?;
            let law = &self.of_splits[usize::from(self.plan.scores_together(attribute))];
            let (chances, asks) = law.chances(spend.epsilon(), calibration, &scores);
            draws.push(Draw::Options(chances));
            ways.push((scores, asks));
        }
        let wanted = self.line.ask(&spend, draws);
        for ((scores, asks), wanted) in ways.into_iter().zip(&wanted) {
            // By weight, splits are listed by score; those of one score in their own order.
            let order = |i: usize| (scores[i], i);
            let before = |i: usize| order(i) < order(*wanted);
            self.told.lead_to(asks, *wanted, before);
        }
        self.form.draw_splits(spend, attribute, intervals)?;
        for (interval, wanted) in intervals.iter().zip(wanted) {
            let CutValue::Interval { start, .. } = *interval else { unreachable!() };
            let drawn = self.form.split_of(Candidate { attribute, value: *interval })?;
            assert_eq!(drawn, start + 1 + wanted as u32);
        }
        self.told.assert_all_asked();
        Ok(())
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let scores: Vec<Score> = candidates
            .iter()
            .map(|candidate| self.form.holder(candidate.attribute)?.score(*candidate))
            .collect::<Result<_, _>>()?;
        let calibration = self.plan.calibration();
        let (chances, asks) = self.choice.chances(spend.epsilon(), calibration, &scores);
        let wanted = self.line.ask(&spend, vec![Draw::Options(chances)])[0];
        self.told.lead_to(asks, wanted, |i| i < wanted);
        let chosen = self.form.choose(spend, candidates)?;
        assert_eq!(chosen, wanted);
        self.told.assert_all_asked();
        Ok(chosen)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        self.form.split_of(winner)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        keep: Option<Spend>,
    ) -> Result<(), Error> {
        self.form.specialize(made, children, keep)
    }

    fn leaves(&mut self, cuts: &Cuts) -> Result<Leaves, Error> {
        self.form.leaves(cuts)
    }

    fn noisy_counts(
        &mut self,
        spend: Spend,
        cuts: &Cuts,
        leaves: &Leaves,
    ) -> Result<Vec<i64>, Error> {
        self.form.noisy_counts(spend, cuts, leaves)
    }
}

impl Side<'_, '_> {
    /// The score of every possible split, less the least of them, as the mechanism gets it.
    fn split_scores(&self, attribute: usize, interval: CutValue) -> Result<Vec<Score>, Error> {
        let leaf_records = self.form.holder(attribute)?.leaf_records();
        let scored = self.plan.split_score(attribute);
        let logarithms = (scored.utility == Utility::InfoGain).then(|| Logarithms::up_to(100));
        let stretches = stretches(leaf_records, attribute, interval, scored, logarithms.as_ref())?;
        let least = stretches.iter().map(|run| run.score.steps()).min().unwrap_or(0);
        let of = |steps: u64| Score::from_steps(steps - least);
        let points = stretches
            .iter()
            .flat_map(|run| std::iter::repeat_n(of(run.score.steps()), run.points as usize));
        Ok(points.collect())
    }
}

/// The library's noise, of which the audit is told what it is added to.
struct Watched {
    noise: Noiser<Told>,
    noises: usize,
    told: Told,
    line: Rc<Line>,
}

impl AddNoise for Watched {
    type Counts = [u64];
    type Error = privacy::Error;

    fn add_noise(&mut self, spend: Spend, counts: &[u64]) -> Result<Vec<i64>, privacy::Error> {
        let sizes = ![RECORDS, "counts"].contains(&spend.name());
        let least = u64::try_from(keep_from(spend.epsilon())).unwrap_or_default();
        let draw = |count: &u64| match sizes {
            true => Draw::Size { size: *count, least },
            false => Draw::Count(*count),
        };
        let wanted = self.line.ask(&spend, counts.iter().map(draw).collect());
        for noise in 0..self.noises {
            for (count, wanted) in counts.iter().zip(&wanted) {
                // The first noise leads to what is wanted; a second one changes nothing.
                let noise = match (sizes, noise) {
                    (true, _) => least as i64 - *count as i64 - i64::from(*wanted == 0),
                    (false, 0) => *wanted as i64 - 1 - *count as i64,
                    (false, _) => 0,
                };
                self.told.expect(Expected::Laplace(spend.epsilon().clone(), noise.into()));
            }
        }
        let noisy = self.noise.add_noise(spend, counts)?;
        self.told.assert_all_asked();
        Ok(noisy)
    }
}

/// Decisions that are told in advance, together with what will be asked: a mechanism that weighs
/// otherwise than the audit believes asks for something else.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<VecDeque<Expected>>>);

enum Expected {
    /// Bound and answer.
    Uniform(BigUint, BigUint),
    /// Rate and answer.
    Geometric(Rational, BigUint),
    /// Rate and answer.
    Laplace(Rational, BigInt),
}

impl Told {
    fn expect(&self, decision: Expected) {
        self.0.borrow_mut().push_back(decision);
    }

    /// Decisions that make an option the winner; `before` says which are weighed before it.
    fn lead_to(&self, asks: Asks, wanted: usize, before: impl Fn(usize) -> bool) {
        match asks {
            Asks::Uniform(weights) => {
                let total = weights.iter().sum();
                let r = (0..weights.len()).filter(|i| before(*i)).map(|i| &weights[i]).sum();
                self.expect(Expected::Uniform(total, r));
            }
            Asks::Noise(rate, options) => {
                for option in 0..options {
                    // More than any two scores are apart.
                    let noise = if option == wanted { 1u64 << 50 } else { 0 };
                    self.expect(Expected::Geometric(rate.clone(), noise.into()));
                }
            }
        }
    }

    fn assert_all_asked(&self) {
        assert!(self.0.borrow().is_empty(), "a mechanism asked for less than expected");
    }

    fn next(&self) -> Expected {
        self.0.borrow_mut().pop_front().expect("a mechanism asked for more than expected")
    }
}

impl Decisions for Told {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, privacy::Error> {
        let Expected::Uniform(expected, r) = self.next() else { panic!("a uniform number") };
        assert_eq!(bound, &expected, "the sum of all weights");
        Ok(r)
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, privacy::Error> {
        let Expected::Geometric(expected, noise) = self.next() else { panic!("a geometric noise") };
        assert_eq!(rate, &expected);
        Ok(noise)
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, privacy::Error> {
        let Expected::Laplace(expected, noise) = self.next() else { panic!("a Laplace noise") };
        assert_eq!(rate, &expected);
        Ok(noise)
    }
}
