//! Paths as a release among others: its plan, how it is made by one party, how the table is written that
//! one or two have made, and what anybody sees of it.
//!
//! `release.csv` has a row for each path and value with the number of people, in the order of the
//! pairs' times and places. Which pairs were taken out is not published: that somebody was at a place
//! where hardly anybody was is what they were taken out for.

use super::paths::{Paths, spell};
use super::{Anonymized, Columns, Form, Terms, anonymize, violating, whole};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::trajectory::Terms as Agreed;
use crate::privacy::Promise;
use crate::release::examine::Seen;
use crate::release::plan::Plan;
use crate::release::tree::{Generalized, Leaves, PathList};
use crate::release::{Release, Step, broken};
use crate::table::{Cuts, Dialect};

/// Assumed length of the longest row when disk space is allocated; rows can be longer.
const LONG_ROW: u64 = 256;

impl Form {
    /// Of the data of an agreement.
    pub fn of(agreement: &Agreement, terms: &Agreed) -> Self {
        let class = &agreement.schema.class;
        Self {
            values: Some(class.values.clone()),
            bin: terms.bin,
            collapse: terms.collapse,
            most: agreement.max_records,
            identified: agreement.identifier().is_some(),
            ..Self::new(terms.columns.clone(), &class.column, terms.protect.clone())
        }
    }
}

impl Anonymized {
    /// Why each pair was removed, and the result, for the holder of the data.
    pub fn how(&self, names: &[String]) -> Vec<String> {
        let each = self.suppressed.iter().map(|one| {
            let (name, people) = (&names[one.pair as usize], one.people);
            let (gain, loss) = (one.gain, one.loss);
            format!(
                "{name}: {people} people, ended {gain} violating sets, broke {loss} frequent ones"
            )
        });
        each.chain(self.told()).collect()
    }

    /// The result, for the holder of the data.
    pub fn told(&self) -> Vec<String> {
        let (before, after) = self.instances;
        let (frequent, kept) = self.frequent;
        let by_length: Vec<String> = self.violating.iter().map(ToString::to_string).collect();
        let (pairs, out) = (self.suppressed.len(), before - after);
        vec![
            format!("minimal violating sets by length: {}", by_length.join(", ")),
            format!("took out {pairs} pairs: {out} of {before} instances"),
            format!("maximal frequent sets: {frequent}, of which {kept} are whole"),
            format!("left out {} people without any pair left", self.emptied),
        ]
    }
}

/// No release has more people.
fn most_people(agreement: &Agreement) -> u64 {
    let parties = if agreement.parties().is_some() { 2 } else { 1 };
    agreement.max_records.saturating_mul(parties)
}

pub(in crate::release) fn plan(agreement: &Agreement, terms: &Agreed) -> Plan {
    Plan {
        promise: Promise::Words(terms.promise(&agreement.schema.class.column)),
        most_bytes: most_people(agreement).saturating_mul(LONG_ROW),
        most_rows: most_people(agreement),
        details: Vec::new(),
    }
}

pub(in crate::release) fn alone(
    agreement: &Agreement,
    terms: &Agreed,
    paths: &Paths,
    progress: &dyn Fn(Step),
) -> Result<Release, Error> {
    progress(Step::Began { phase: "suppressing", total: paths.rows() });
    let made = anonymize(paths, &Terms::of(terms, paths.len() as u64))?;
    progress(Step::Advanced(paths.rows()));
    progress(Step::Ended);
    let notes = made.how(&paths.names());
    Ok(Release { table: tabulate(agreement, &made.paths), spends: Vec::new(), notes })
}

/// The table of a release: a row for each path and value.
pub(super) fn tabulate(agreement: &Agreement, paths: &Paths) -> Generalized {
    let names = paths.names();
    let classes = &agreement.schema.class.values;
    let class = |value: &String| classes.iter().position(|class| class == value).unwrap_or(0);
    let classes: Vec<usize> = paths.values.iter().map(class).collect();
    let mut rows: Vec<usize> = (0..paths.rows()).collect();
    // Values of one path in the order of the agreement.
    let order = |row: &usize| classes[paths.sensitive[*row] as usize];
    let same = rows.chunk_by_mut(|a, b| paths.of(*a) == paths.of(*b));
    same.for_each(|rows| rows.sort_unstable_by_key(order));
    let mut list = PathList { names, ..PathList::default() };
    for row in &rows {
        list.items.extend_from_slice(paths.of(*row));
        list.ends.push(list.items.len());
        list.classes.push(order(row));
    }
    Generalized {
        cuts: Cuts::topmost(&agreement.schema),
        leaves: Leaves::Paths(list),
        counts: rows.iter().map(|row| u64::from(paths.people[*row])).collect(),
    }
}

/// Looks at the table of a release, and counts everything again.
pub(in crate::release) fn examine(
    agreement: &Agreement,
    terms: &Agreed,
    csv: impl std::io::Read,
) -> Result<Seen, Error> {
    let broken = |problem: String| broken(&problem);
    let columns = Columns::Wide { id: None, path: Columns::RELEASED.to_owned() };
    let form = Form {
        columns,
        count: Some("count".to_owned()),
        bin: 1,
        collapse: false,
        identified: false,
        most: most_people(agreement),
        ..Form::of(agreement, terms)
    };
    let paths = Paths::read(("release.csv", Dialect::default()), csv, &form, &|_| {})
        .map_err(|error| broken(error.to_string()))?;
    if (0..paths.rows()).any(|row| paths.of(row).is_empty()) {
        return Err(broken("there is a path without any pair".to_owned()));
    }
    let terms = Terms::of(terms, paths.len() as u64);
    whole(&paths, &terms).map_err(broken)?;
    terms.end_in_time(&paths)?;
    let found = violating::find(&paths, &paths.index(), terms.l, &terms.rule())?;
    if let Some(set) = found.sets.iter().next() {
        let mut text = String::new();
        spell(set, &paths.names(), &mut text);
        return Err(broken(format!("too few people have {text}, or it tells too much of them")));
    }
    let (told, of) = found.extremes.largest;
    let part = if told == 0 { String::new() } else { format!(", largest part {told} of {of}") };
    let smallest = found.extremes.smallest;
    Ok(Seen {
        checked: Some(format!("every set of pairs is as agreed: smallest {smallest}{part}")),
        warning: Some(terms.warning(paths.alone())),
    })
}
