//! Single runs: what is to be run, running it, and the file in which finished ones are kept.

use crate::data::Adult;
use diptych::Error;
use diptych::app::evaluate::{assess, released};
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::release::diffgen::single;
use diptych::release::judge::generalize::Generalization;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::Table;
use rayon::prelude::*;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// Parts into which the training records are divided for cross-validation.
pub const FOLDS: usize = 5;

/// One way to make a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Settings {
    /// `paper` or `default`.
    pub profile: &'static str,
    /// Who holds what: `one` party everything, or `two` parties some columns each.
    pub parties: &'static str,
    /// As in an agreement.
    pub utility: &'static str,
    /// As in an agreement.
    pub selection: &'static str,
    /// As in an agreement.
    pub share: &'static str,
    /// How many noises each count carries.
    pub noises: u32,
    /// As in an agreement.
    pub epsilon: &'static str,
    /// h.
    pub specializations: u32,
}

impl Settings {
    /// All of it in one word, by which finished runs are found again.
    pub fn key(&self) -> String {
        let Self { profile, parties, utility, selection, share, noises, epsilon, specializations } =
            self;
        format!(
            "{profile}/{parties}/{utility}/{selection}/{share}/{noises}/{epsilon}/{specializations}"
        )
    }

    fn terms(&self) -> String {
        let Self { profile, utility, selection, share, epsilon, .. } = self;
        let local = self.parties == "one";
        let mut terms = format!(
            "partition = \"{}\"\nprofile = \"{profile}\"\nepsilon = \"{epsilon}\"\n\
             utility = \"{utility}\"\nselection = \"{selection}\"\nstructure_share = \"{share}\"\n",
            if local { "local" } else { "vertical" }
        );
        if !local {
            let noise = if self.noises == 2 { "two-party" } else { "joint" };
            terms += &format!("noise = \"{noise}\"\n");
        }
        terms
    }
}

/// One run: a way, held-out records (a fold of the training records, or the test records), and the
/// seed of all randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub settings: Settings,
    pub fold: Option<usize>,
    pub seed: u64,
}

/// What a run gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub accuracy: f64,
    pub leaves: f64,
    pub total: f64,
    pub one_way: f64,
    pub two_way: f64,
}

impl Run {
    fn key(&self) -> String {
        let fold = self.fold.map_or("test".to_owned(), |fold| fold.to_string());
        format!("{},{fold},{}", self.settings.key(), self.seed)
    }

    /// Makes the release and judges it.
    pub fn carry_out(&self, adult: &Adult, folds: &[(Table, Table)]) -> Result<Outcome, Error> {
        let (train, test) = match self.fold {
            None => (&adult.train, &adult.test),
            Some(fold) => (&folds[fold].0, &folds[fold].1),
        };
        let agreement = adult.agreement(&self.settings.terms(), self.settings.specializations)?;
        let mut rng = Randomness::seeded(self.seed);
        let epsilon = agreement.epsilon().ok_or_else(|| Error::internal("no ε"))?;
        let release = single::release(&agreement, train, Budget::new(epsilon), &mut rng, &|_| {})?;
        let mut csv = Vec::new();
        write_csv(&release.table, Rows::All, &mut csv).map_err(Error::internal)?;
        let mut values = Generalization::new(&release.table.cuts);
        let rows = released::rows("release.csv", &csv, &mut values)?;
        let found = assess(&values, &rows, test, Some(train))?;
        let distances = found.distances.ok_or_else(|| Error::internal("no distances"))?;
        Ok(Outcome {
            accuracy: found.accuracy * 100.0,
            leaves: found.leaves as f64,
            total: found.total,
            one_way: distances.one_way,
            two_way: distances.two_way.unwrap_or(0.0),
        })
    }
}

/// Finished runs, and the file that holds them.
pub struct Runs {
    file: Mutex<File>,
    done: HashMap<String, Outcome>,
}

impl Runs {
    /// Opens the file and reads what is in it; a last line that was cut off is run again.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)
                .map_err(|error| Error::file(directory, "create", &error))?;
        }
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let read = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let (key, numbers) = fields.split_at_checked(3)?;
            let numbers: Vec<f64> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
            let [accuracy, leaves, total, one_way, two_way] = numbers[..] else { return None };
            Some((key.join(","), Outcome { accuracy, leaves, total, one_way, two_way }))
        };
        let done = text.lines().filter_map(read).collect();
        let file = OpenOptions::new().create(true).append(true).open(path);
        let mut file = file.map_err(|error| Error::file(path, "write", &error))?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(Error::internal)?;
        }
        Ok(Self { file: Mutex::new(file), done })
    }

    /// Carries out what is not done yet, in parallel.
    pub fn carry_out(
        &mut self,
        adult: &Adult,
        runs: &[Run],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(), Error> {
        let folds = folds(&adult.train);
        let missing: Vec<&Run> =
            runs.iter().filter(|run| !self.done.contains_key(&run.key())).collect();
        progress(runs.len() - missing.len());
        let made = missing
            .par_iter()
            .map(|run| {
                let found = run.carry_out(adult, &folds)?;
                let Outcome { accuracy, leaves, total, one_way, two_way } = found;
                let line = format!(
                    "{},{accuracy:.4},{leaves},{total},{one_way:.5},{two_way:.5}\n",
                    run.key()
                );
                if let Ok(mut file) = self.file.lock() {
                    file.write_all(line.as_bytes()).map_err(Error::internal)?;
                }
                progress(1);
                Ok((run.key(), found))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        self.done.extend(made);
        Ok(())
    }

    /// The outcomes of these runs, as far as there are any.
    pub fn of<'r>(&self, runs: impl IntoIterator<Item = &'r Run>) -> Vec<Outcome> {
        runs.into_iter().filter_map(|run| self.done.get(&run.key()).copied()).collect()
    }
}

/// Training and held-out records of each fold: record i is held out in fold i mod [`FOLDS`], after
/// a shuffle that is always the same.
fn folds(train: &Table) -> Vec<(Table, Table)> {
    let mut order: Vec<(u64, usize)> = (0..train.len())
        .map(|record| {
            // A fixed scrambling of the record's number.
            let mut x = (record as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (x ^ (x >> 31), record)
        })
        .collect();
    order.sort_unstable();
    (0..FOLDS)
        .map(|fold| {
            let part = |held_out: bool| {
                let places = order.iter().enumerate();
                let chosen = places.filter(|(place, _)| (place % FOLDS == fold) == held_out);
                train.select(&chosen.map(|(_, (_, record))| *record).collect::<Vec<_>>())
            };
            (part(false), part(true))
        })
        .collect()
}
