//! Paths on the page that is signed and wherever a release is shown.

use std::fmt::Display;

use super::{Columns, Terms};
use crate::agreement::words::{Page, Wording, grouped};
use crate::agreement::{Agreement, Parties};
use crate::table::Decimal;

/// What is promised, in one sentence; without protected values nothing is said of them.
pub fn promise(l: impl Display, k: u64, protected: Option<(impl Display, &str)>) -> String {
    let told = match protected {
        Some((c, values)) => format!(", at most the part {c} of them with any one of {values}"),
        None => String::new(),
    };
    format!(
        "not differential privacy but groups: whoever knows at most {l} pairs of place and time of a \
         person is left with at least {} people{told}",
        grouped(k)
    )
}

/// What stands wherever a release is shown in which so many people are alone on their whole path.
pub fn warning(l: usize, alone: usize) -> String {
    let (people, are) = if alone == 1 { ("person", "is") } else { ("people", "are") };
    format!(
        "This is not differential privacy. It protects only against someone who knows at most {l} \
         pairs of place and time of a person and has no other release of this data. {} {people} {are} \
         alone on the whole path: {} sightings identify them. Rows are counted: a person with several \
         paths counts several times. It does not protect against whoever knows where somebody was \
         not, or a place without its time.",
        grouped(alone as u64),
        l.saturating_add(1)
    )
}

impl Terms {
    /// What is promised, in one sentence.
    pub fn promise(&self, class: &str) -> String {
        let values = format!("{class} {}", self.protect.join(", "));
        let protected = (self.c != Decimal::ONE).then_some((self.c, values.as_str()));
        promise(self.l, self.k, protected)
    }
}

impl Wording for Terms {
    fn combined(&self) -> &'static str {
        "a path"
    }

    fn table(&self) -> &'static str {
        "A path is a list of pairs of place and time. Some pairs are taken out of all paths, whole \
         paths where nothing else is left, and every count is exact."
    }

    fn promised(&self, page: &mut Page, agreement: &Agreement) {
        page.item(
            "ATTENTION: This is not differential privacy. No ε is spent, and none limits what is \
             learnt.",
        );
        let words = self.promise(&agreement.schema.class.column);
        let (_, words) = words.split_once(": ").unwrap_or(("", &words));
        let (first, rest) = words.split_at(1);
        page.item(&format!("{}{rest}, if there is no other release.", first.to_uppercase()));
        page.item(&format!(
            "A further release about the same people, by any model, voids this promise and that of \
             others. The ledger, where there is one, refuses it unless its agreement says \
             accept_composition = true{}.",
            if agreement.accept_composition { ", as this one does" } else { "" }
        ));
    }

    fn learned(&self, _: &mut Page, _: &Agreement, _: &Parties) {}

    fn not_covered(&self, page: &mut Page, _: &Agreement) {
        page.item(&format!(
            "Whoever knows {} or more pairs of a person: people who are alone on their whole path are \
             then found. Every page of the release says how many are.",
            self.l.saturating_add(1)
        ));
        for text in [
            "Whoever knows where somebody was not, that a path is complete, or a place without its \
             time: none of these is reckoned with, and the last can tell more of a protected value \
             than the bound says.",
            "People with more than one path: rows are counted, so a person with several counts \
             several times.",
            "Whoever knows other people of a group, or has another release: they can be taken away \
             from the group until one person is left.",
            "What a group tells of all its members: a bound on the part that has a protected value \
             is no bound on how much more likely it has become, nor does it cover values that are \
             not listed.",
            "What was taken out: a pair that is missing was rare or told too much, and that itself \
             tells about people.",
            "The refusal of a run: that the data do not meet what is required is a fact about them.",
        ] {
            page.item(text);
        }
    }

    fn computed(&self, page: &mut Page, agreement: &Agreement) {
        page.item(&match &self.columns {
            Columns::Wide { path, .. } => format!("Each record has a path in the column `{path}`."),
            Columns::Long { id, location, time } => format!(
                "Each record has one pair, in the columns `{location}` and `{time}`; those with the \
                 same `{id}` are one path."
            ),
        });
        if self.bin > 1 {
            page.item(&format!(
                "Times are divided by {}, and fractions dropped.",
                grouped(self.bin)
            ));
        }
        if self.collapse {
            page.item("Of pairs of one place that follow each other the first is kept.");
        }
        page.item(&format!(
            "The smallest sets of pairs that break the promise are listed. One pair after the other is \
             taken out of all paths, the one with the highest score (\"{}\") first, until no such set \
             is left; sets that the part {} of all people share are worth keeping.",
            self.score.word(),
            self.support
        ));
        let class = &agreement.schema.class.column;
        page.item(&format!("`{class}` is released as it is; whose path it is, is not."));
    }
}
