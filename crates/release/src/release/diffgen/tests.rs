//! The worked examples of the papers, edge cases, and properties over random tables.

mod audit;
mod auto;
mod examples;
mod hidden;
mod horizontal;
mod horizontal_shards;
mod kinds;
mod noisy_rehearsal;
mod one_class;
mod properties;
mod range;
mod shards;
mod statistics;
mod two_parties;
mod vertical;

use super::single::{Mechanisms, Noiser, Single, release};
use super::*;
use crate::agreement::{Agreement, Noise};
use crate::math::{Randomness, Rational};
use crate::privacy;
use crate::privacy::decisions::Tape;
use crate::release::tree::leaf_records::LeafRecords;
use crate::release::tree::output;
use crate::table::{Reading, Table, parse_csv};

/// An agreement for one party with these lines in `[release]` and these attributes; what they leave
/// out is as in the papers.
fn agreement(terms: &str, classes: &str, attributes: &str) -> Agreement {
    let mut terms = terms.to_owned();
    for (key, value) in [("utility", "max"), ("structure_share", "0.5")] {
        if !terms.contains(key) {
            terms += &format!("\n{key} = \"{value}\"");
        }
    }
    let text = format!(
        "[release]\nid = \"test\"\npartition = \"local\"\nmax_records = 100000\n{terms}\n\
         [class]\ncolumn = \"class\"\nvalues = [{classes}]\n{attributes}"
    );
    Agreement::parse("test.toml", text.as_bytes(), &|_| Err("no files here".to_owned()))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn table(agreement: &Agreement, csv: &str) -> Table {
    let reading = Reading {
        schema: &agreement.schema,
        owner: None,
        identifier: None,
        max_records: agreement.max_records,
    };
    parse_csv("test.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

fn budget(agreement: &Agreement) -> Budget {
    Budget::new(agreement.epsilon().unwrap())
}

/// The candidate with this name.
fn named(cuts: &Cuts, name: &str) -> Candidate {
    let all = cuts.candidates(0..cuts.schema().attributes.len());
    *all.iter().find(|c| cuts.name(**c) == name).unwrap_or_else(|| panic!("no {name}"))
}

fn specialize(cuts: &mut Cuts, leaf_records: &mut LeafRecords<'_>, name: &str, split: Option<u32>) {
    let made = Specialization { candidate: named(cuts, name), split };
    let children = cuts.specialize(&made).unwrap();
    leaf_records.specialize(&made, &children).unwrap();
}

/// A release as text.
fn text(release: &Release) -> String {
    let mut bytes = Vec::new();
    output::write_csv(&release.table, output::Rows::All, &mut bytes).unwrap();
    // Every release of these tests has room in what is reserved for it.
    let cuts = &release.table.cuts;
    let made = cuts.made().len() as u32;
    assert!(bytes.len() as u64 <= output::most_bytes(cuts.schema(), made));
    String::from_utf8(bytes).unwrap()
}

fn spent(release: &Release) -> Rational {
    release.spends.iter().fold(Rational::zero(), |sum, entry| &sum + &entry.epsilon)
}

/// Chooses the candidate with a given number each time, whatever the scores.
struct Scripted(Vec<usize>);

impl privacy::Choose for Scripted {
    type Scores = [privacy::Scored];
    type Error = privacy::Error;

    fn choose(
        &mut self,
        _: Spend,
        _: &privacy::Calibration,
        _: &[privacy::Scored],
    ) -> Result<privacy::Choice, privacy::Error> {
        Ok(privacy::Choice { index: self.0.remove(0), offset: 0 })
    }
}
