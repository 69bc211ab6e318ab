//! Paths on the page that is signed and wherever a release is shown.

use std::fmt::Display;

use super::{Columns, Terms};
use crate::agreement::syntactic::words::not_covered_between_two;
use crate::agreement::words::{Page, Wording, grouped, normalization};
use crate::agreement::{Agreement, Parties, Partition};
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
    let sightings = l.saturating_add(1);
    let alone = match alone {
        0 => "Nobody is alone on the whole path.".to_owned(),
        1 => {
            format!("1 person is alone on the whole path: {sightings} sightings can identify them.")
        }
        some => format!(
            "{} people are alone on the whole path: {sightings} sightings can identify them.",
            grouped(some as u64)
        ),
    };
    format!(
        "This is not differential privacy. It protects only against someone who knows at most {l} \
         pairs of place and time of a person and has no other release of this data. {alone} Rows are counted: a person with several \
         paths counts several times. It does not protect against whoever knows where somebody was \
         not, or a place without its time."
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

    fn learned(&self, page: &mut Page, agreement: &Agreement, parties: &Parties) {
        let (p1, p2) = (&parties.p1.name, &parties.p2.name);
        page.item(&format!(
            "ATTENTION: {p1} and {p2} each read the other's anonymized rows, every path with its \
             `{}` and count, and so how many of the other's people are released: the release less \
             its own rows. What is promised holds of each party's rows by themselves, so it holds of \
             these towards the other party too, as far as that knows nothing else of these people.",
            agreement.schema.class.column
        ));
        page.item(
            "ATTENTION: each learns which pairs of place and time the other took out of its paths. \
             That says of every such pair that somebody of the other's was there, and that few were \
             or that it told too much: of people who were at a busy place then, that more of them may \
             have a protected value than is promised. Other readers of the release are not told.",
        );
        page.item(
            "Both learn whether what is left of each party's paths without the pairs of both lists is \
             as required. If it is not the run ends, and this one bit about that party's people is \
             known.",
        );
        if let Partition::Horizontal { overlap_check, .. } = &agreement.partition {
            page.item(&match overlap_check {
                Some(identifier) => format!(
                    "The overlap check is on: both learn exactly how many people are in both tables \
                     (by the column `{}`{}), and each learns how many the other has, so how many of \
                     them are not released. If anybody is in both the run ends without a release, \
                     because such a person would count twice; the ledgers have it all the same, and \
                     another run needs an agreement with accept_composition = true.",
                    identifier.column,
                    normalization(identifier)
                ),
                None => "The overlap check is off: nobody counts the people who are in both tables. A \
                         person who is in both counts twice in every group."
                    .to_owned(),
            });
        }
        page.item(
            "Both learn that the run took place, when, how long it took, and this agreement. How long \
             a party takes between two messages may depend on its records.",
        );
    }

    fn not_covered(&self, page: &mut Page, agreement: &Agreement) {
        page.item(&format!(
            "Whoever knows {} or more pairs of a person: people who are alone on their whole path can \
             then be found. Every page of the release says how many are.",
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
        if agreement.parties().is_some() {
            page.item(
                "Whose people a row is about: a pair that only one party's people have tells it.",
            );
            let lengths = "how many bytes each party's list of pairs that it took out has, and how many \
                           its anonymized paths: so about how many pairs and rows there are and, where \
                           the names of places differ in length, sometimes which place was taken out. \
                           Names of one length prevent that";
            not_covered_between_two(page, agreement, lengths);
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
        if agreement.parties().is_some() {
            page.item(
                "Each party does this with its own paths, before it meets the other, so that what is \
                 required holds of them alone. Both tell each other which pairs they took out, take \
                 out those of the other too, and send each other what is left; each tests what it \
                 was sent. The release is both together, in the order of times and places. Nothing \
                 is computed under encryption but the overlap check, if it is on.",
            );
        }
        let class = &agreement.schema.class.column;
        page.item(&format!("`{class}` is released as it is; whose path it is, is not."));
    }
}

#[cfg(test)]
mod tests {
    use super::warning;

    #[test]
    fn a_warning_names_only_people_that_there_are() {
        assert!(warning(2, 0).contains("Nobody is alone on the whole path. Rows"));
        assert!(warning(2, 1).contains("1 person is alone on the whole path: 3 sightings"));
        assert!(warning(2, 6).contains("6 people are alone on the whole path: 3 sightings"));
    }
}
