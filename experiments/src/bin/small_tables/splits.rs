//! Where numbers are split, and what that is worth, with every weight of a split's utility against the
//! records on its smaller side.

use crate::{Arguments, Small, accuracy};
use diptych::Error;
use diptych::agreement::Agreement;
use diptych::app::evaluate::group::Summary;
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::release::Release;
use diptych::release::diffgen::single::{Mechanisms, Single};
use diptych::release::diffgen::{self, Plan};
use diptych::table::{Column, CutValue, Specialization, Table};
use rayon::prelude::*;

const EPSILONS: [&str; 2] = ["0.25", "1"];

/// The utility alone, and weights.
const WEIGHTS: [Option<u32>; 8] =
    [None, Some(64), Some(32), Some(16), Some(8), Some(4), Some(2), Some(1)];

/// A side is too small below one by this of the records of the interval.
const LEAST_PART: usize = 100;

impl Small {
    /// A line per ε and weight.
    pub fn report_splits(&self, arguments: &Arguments) -> Result<(), Error> {
        println!(
            "\n{}: {} training records, utility {}, {} releases each\n\n\
             | ε | w | splits of numbers | with < 1 % on a side | accuracy |\n\
             | --- | --- | --- | --- | --- |",
            self.name,
            self.train.len(),
            arguments.utility,
            arguments.seeds
        );
        for epsilon in EPSILONS {
            let terms = format!("epsilon = \"{epsilon}\"\nutility = \"{}\"", arguments.utility);
            let agreement = (self.terms)(&terms)?;
            for weight in WEIGHTS {
                let once = |seed| self.with_weight(&agreement, weight, seed);
                let found = (0..arguments.seeds).into_par_iter().map(once);
                let found = found.collect::<Result<Vec<_>, _>>()?;
                let [all, useless] = [0, 1].map(|i| found.iter().map(|f| f.0[i]).sum::<usize>());
                let part = 100.0 * useless as f64 / all.max(1) as f64;
                let found: Vec<f64> = found.into_iter().map(|(_, accuracy)| accuracy).collect();
                let Summary { mean, deviation } = Summary::of(&found);
                println!(
                    "| {epsilon} | {} | {:.1} | {part:.0} % | {mean:.1} ± {deviation:.1} |",
                    weight.map_or("u alone".to_owned(), |weight| weight.to_string()),
                    all as f64 / arguments.seeds.max(1) as f64
                );
            }
        }
        Ok(())
    }

    /// How many numbers were split and how many of them with too small a side, and the accuracy.
    fn with_weight(
        &self,
        agreement: &Agreement,
        weight: Option<u32>,
        seed: u64,
    ) -> Result<([usize; 2], f64), Error> {
        let plan = Plan::new(agreement)?.with_split_weight(weight);
        let mut rng = Randomness::seeded(seed);
        let mechanisms = Mechanisms::with(agreement, || rng.fork())?;
        let mut single = Single::new(&plan, &self.train, mechanisms)?;
        let budget = Budget::new(plan.epsilon());
        let release: Release = diffgen::run(&plan, budget, &mut single, &|_| {})?;
        let made = release.table.cuts.made().iter();
        let parts: Vec<bool> = made.filter_map(|made| is_useless(&self.train, made)).collect();
        let useless = parts.iter().filter(|useless| **useless).count();
        Ok(([parts.len(), useless], accuracy(&release, &self.test)?))
    }
}

/// Whether a side of a split has too few of the interval's records; nothing for other kinds.
fn is_useless(table: &Table, made: &Specialization) -> Option<bool> {
    let (CutValue::Interval { start, end }, Some(split)) = (made.candidate.value, made.split)
    else {
        return None;
    };
    let Some(Column::Numeric(points)) = table.column(made.candidate.attribute) else {
        return None;
    };
    let inside = |from, to| points.iter().filter(|point| (from..to).contains(*point)).count();
    let (left, right) = (inside(start, split), inside(split, end));
    Some(left.min(right) * LEAST_PART < left + right || left + right == 0)
}
