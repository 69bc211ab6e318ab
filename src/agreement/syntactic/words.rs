//! Models that hide people in groups, on the page that is signed and wherever a release is shown.

use super::{Requirement, Search, Terms};
use crate::agreement::words::{Page, Wording, grouped};
use crate::agreement::{Agreement, Parties};
use crate::table::{Decimal, Schema};

/// What stands on every page and screen, before anything else of such a release.
const WARNING: &str = "This is not differential privacy.";

impl Terms {
    /// What is promised, in one sentence.
    pub fn promise(&self, schema: &Schema) -> String {
        let each: Vec<String> =
            self.requirements.iter().map(|one| self.requirement(one, schema)).collect();
        format!("not differential privacy but groups: {}", each.join("; "))
    }

    fn requirement(&self, one: &Requirement, schema: &Schema) -> String {
        let names = one.names(self, schema);
        let whose = match &one.attributes {
            Some(names) => names.join(", "),
            None => format!("{} attributes", names.len()),
        };
        let known = match one.l.filter(|l| (*l as usize) < names.len()) {
            Some(l) => format!("whoever knows at most {l} of a person's {whose}"),
            None => format!("whoever knows a person's {whose}"),
        };
        let told = match &self.sensitive {
            Some(sensitive) if one.c != Decimal::from(1) => format!(
                ", at most the part {} of them with any one of {} {}",
                one.c,
                sensitive.attribute,
                sensitive.protect.join(", ")
            ),
            _ => String::new(),
        };
        format!("{known} is left with at least {} people{told}", grouped(one.k))
    }

    /// What requirements that are several, or name their attributes, leave open: of facts of different
    /// ones together, and of attributes that none is about.
    fn gaps(&self, schema: &Schema) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.requirements.len() > 1 || self.requirements.iter().any(|o| o.attributes.is_some()) {
            gaps.push(
                "Each requirement holds only for whoever knows no more than the facts that it names: \
                 facts of different requirements together are tested only where another one names \
                 all of them."
                    .to_owned(),
            );
        }
        let uncovered = self.uncovered(schema);
        if !uncovered.is_empty() {
            gaps.push(format!(
                "No requirement is about {}: this may be released as fine as it is in the data, and \
                 nothing is promised where somebody knows it of a person.",
                uncovered.join(", ")
            ));
        }
        gaps
    }

    /// What stands wherever a release is shown in which so many people are the only ones with their
    /// values.
    pub fn warning(&self, schema: &Schema, alone: u64) -> String {
        let facts = match &self.requirements[..] {
            [Requirement { attributes: None, l: Some(l), .. }] => {
                format!("at most {l} of these facts of a person")
            }
            [Requirement { attributes: None, l: None, .. }] => "these facts of a person".to_owned(),
            _ => "of a person no more than the facts that a single requirement of its agreement \
                  names"
                .to_owned(),
        };
        let open = match &self.uncovered(schema)[..] {
            [] => String::new(),
            names => format!(" Nothing is promised where somebody knows {}.", names.join(", ")),
        };
        let (people, stand) = if alone == 1 { ("person", "stands") } else { ("people", "stand") };
        let alone = grouped(alone);
        format!(
            "{WARNING} It protects only against someone who knows {facts} and has no \
             other release of this data.{open} {alone} {people} {stand} alone with all their values: one \
             fact more than was reckoned with can single them out. Where that matters, use model = \
             \"diffgen\"."
        )
    }
}

impl Wording for Terms {
    fn table(&self) -> &'static str {
        "The values are made coarser until every group is large enough. Every count is exact."
    }

    fn promised(&self, page: &mut Page, agreement: &Agreement) {
        page.item(&format!("ATTENTION: {WARNING} No ε is spent, and none limits what is learnt."));
        for one in &self.requirements {
            let words = self.requirement(one, &agreement.schema);
            let (first, rest) = words.split_at(1);
            page.item(&format!("{}{rest}, if there is no other release.", first.to_uppercase()));
        }
        self.gaps(&agreement.schema).iter().for_each(|gap| page.item(gap));
        page.item(&format!(
            "A further release about the same people, by any model, voids this promise and that of \
             others. The ledger, where there is one, refuses it unless its agreement says \
             accept_composition = true{}.",
            if agreement.accept_composition { ", as this one does" } else { "" }
        ));
    }

    fn learned(&self, _: &mut Page, _: &Agreement, _: &Parties) {}

    fn not_covered(&self, page: &mut Page, agreement: &Agreement) {
        self.gaps(&agreement.schema).iter().for_each(|gap| page.item(gap));
        page.item(&format!(
            "Whoever knows a person's `{}`: it is released as it is and counts as no fact, so with it \
             fewer people are left than is said above, and what a group tells of it has no bound.",
            agreement.schema.class.column
        ));
        page.item(
            "People with more than one row: rows are counted, so a person with several counts several \
             times, and a group may be of fewer people than it has rows, even of one.",
        );
        for text in [
            "Whoever knows more facts than was reckoned with: people who stand alone with all their \
             values are then singled out. Every page of the release says how many do.",
            "Whoever knows other people of a group, or has another release: they can be taken away \
             from the group until one person is left.",
            "What a group tells of all its members: a bound on the part that has a protected value \
             is no bound on how much more likely it has become, nor does it cover values that are \
             not listed.",
            "How the table was found: a value stays coarse because something finer was not allowed, \
             and that itself tells about people.",
            "The refusal of a run: that even the coarsest table does not meet what is required is a \
             fact about the data.",
        ] {
            page.item(text);
        }
    }

    fn computed(&self, page: &mut Page, agreement: &Agreement) {
        match self.search {
            Search::TopDown { score, beneficial } => page.item(&format!(
                "From the coarsest values down: the value with the highest score (\"{}\") that \
                 leaves every group as required is replaced by finer ones, until there is none{}.",
                score.word(),
                if beneficial { " whose people differ in class" } else { "" }
            )),
            Search::Lattice(by) => page.item(&format!(
                "Of all tables whose attributes are each cut anywhere or at one level (\"{}\"), the one \
                 that is as required and keeps its values as deep in their taxonomies as possible.",
                by.word()
            )),
        }
        let class = &agreement.schema.class.column;
        page.item(&match &self.sensitive {
            Some(sensitive) => {
                format!("`{class}` and `{}` are released as they are.", sensitive.attribute)
            }
            None => format!("`{class}` is released as it is."),
        });
    }
}
