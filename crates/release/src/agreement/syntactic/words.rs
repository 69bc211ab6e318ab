//! Models that hide people in groups, on the page that is signed and wherever a release is shown.

use super::{Linkage, Requirement, Search, Sensitive, Terms};
use crate::agreement::rehearsal::rehearsed;
use crate::agreement::words::{
    Page, Wording, grouped, left_out, normalization, told_to_the_network,
};
use crate::agreement::{Agreement, Parties, Partition, Rehearsal};
use crate::table::{Decimal, Identifier, Schema};

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
        let single = "one fact more than was reckoned with can single";
        let alone = match alone {
            0 => "Nobody stands alone with all their values.".to_owned(),
            1 => format!("1 person stands alone with all their values: {single} them out."),
            some => format!(
                "{} people stand alone with all their values: {single} them out.",
                grouped(some)
            ),
        };
        format!(
            "{WARNING} It protects only against someone who knows {facts} and has no \
             other release of this data.{open} {alone} Where that matters, use model = \
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

    fn learned(&self, page: &mut Page, agreement: &Agreement, parties: &Parties) {
        if let Partition::Vertical { matching, .. } = &agreement.partition {
            self.learned_of_common_people(page, agreement, parties, matching.rehearse);
        }
        if let Partition::Horizontal { overlap_check, .. } = &agreement.partition {
            learned_of_other_people(page, parties, overlap_check.as_ref());
        }
        // How many people there are the parties of a vertical release know anyway.
        let vertical = matches!(agreement.partition, Partition::Vertical { .. });
        if let (true, Some(Sensitive { attribute, .. })) = (vertical, self.limited()) {
            page.item(&format!(
                "Both learn whether even the coarsest table meets what is required of `{attribute}`. \
                 If it does not the run ends, and this one bit about all people is known."
            ));
        } else if !vertical {
            page.item(
                "Both learn whether even the coarsest table of both parties' people is as required. If \
                 it is not the run ends, and this one bit about all people is known.",
            );
        }
        page.item(
            "Both learn that the run took place, when, how long it took, and this agreement. How long \
             a party takes between two messages may depend on its records.",
        );
    }

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
             values can then be singled out. Every page of the release says how many do.",
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
        if agreement.parties().is_some() {
            let course = "the course of the search: which values were examined, in which order, and \
                          which of them were refused, as far as the sizes of their tests differ. Two \
                          tables with the same release can differ in it";
            not_covered_between_two(page, agreement, course);
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
        self.computed_together(page, agreement);
        let class = &agreement.schema.class.column;
        page.item(&match &self.sensitive {
            Some(sensitive) => {
                format!("`{class}` and `{}` are released as they are.", sensitive.attribute)
            }
            None => format!("`{class}` is released as it is."),
        });
    }
}

impl Terms {
    /// The sensitive attribute, if what a group may tell of it is bounded.
    fn limited(&self) -> Option<&Sensitive> {
        let one = Decimal::from(1);
        self.sensitive.as_ref().filter(|_| self.requirements.iter().any(|need| need.c != one))
    }

    /// What parties with different columns of the same people learn.
    fn learned_of_common_people(
        &self,
        page: &mut Page,
        agreement: &Agreement,
        parties: &Parties,
        rehearsal: Option<Rehearsal>,
    ) {
        let (p1, p2) = (&parties.p1.name, &parties.p2.name);
        let class = &agreement.schema.class.column;
        rehearsed(page, agreement);
        page.item(&format!(
            "{p1} and {p2} each learn how many records the other has, and which of its own people are \
             also in the other's data. Agree to it only if each may know who is with the other."
        ));
        page.item(&format!(
            "Both hold the column `{class}`; they learn whether it is the same at both, and stop if it \
             is not{}.",
            match rehearsal {
                Some(Rehearsal::Labels) => ", having learned for how many people it differs",
                _ => "",
            }
        ));
        left_out(page, agreement);
        page.item(
            "Both learn in which order values were examined: each time whose best value has the higher \
             score and which value that is, but no score; and of each whether making it finer leaves \
             the table as required. So each also learns of which intervals of the other's numbers no \
             split was ever tried.",
        );
        if let Some(slack) = self.slack {
            page.item(&format!(
                "Of every value that is made finer both learn the score, because what they add up to \
                 decides who may go on (`slack` {slack})."
            ));
        }
        match self.linkage {
            Some(Linkage::Rows) => self.learned_by_rows(page, parties),
            _ => page.item(
                "Of single people nothing is told, and of groups nothing but that one bit each time: \
                 they are counted in shares of which neither party can read anything alone \
                 (`sealed`). Where an interval is split is told when it is, and stands in the release.",
            ),
        }
        page.item(
            "ATTENTION: each party knows its own columns of every common person and may know more \
             facts of people than was reckoned with. Towards the other party k and c promise \
             nothing: whatever the release tells of a row, it tells of those whom the other finds there.",
        );
    }

    fn learned_by_rows(&self, page: &mut Page, parties: &Parties) {
        page.item(&format!(
            "ATTENTION: {} and {} tell each other, for every common person by name, into which finer \
             value that person falls, each time a value is made finer (`rows`, as in the papers). In \
             the end each has the other's generalized values of every common person, linked to the \
             person. linkage = \"sealed\" tells nothing of single people.",
            parties.p1.name, parties.p2.name
        ));
        if let Some(Sensitive { attribute, .. }) = self.limited() {
            page.item(&format!(
                "ATTENTION: this is told also of values whose finer ones the holder of `{attribute}` \
                 then refuses, because of what they would tell of it. They do not stand in the release."
            ));
        }
    }

    /// How two parties find the table.
    fn computed_together(&self, page: &mut Page, agreement: &Agreement) {
        match self.linkage {
            None if agreement.parties().is_some() => page.item(
                "Which value is best, where an interval is split best, and whether groups are as \
                 required is found in garbled circuits on both parties' counts, on the grid above. The \
                 counts of the release are added up in the open.",
            ),
            None => {}
            Some(Linkage::Sealed) => page.item(
                "Each party scores the values of its own columns. Whose is best, and whether groups \
                 are as required, is found in garbled circuits, on counts that oblivious transfers \
                 make in shares (`sealed`). The counts of the release are counted so too, and opened.",
            ),
            Some(Linkage::Rows) => page.item(
                "Each party scores the values of its own columns, whose is best is found in a garbled \
                 circuit, and each tests its own at home, knowing the other's generalized values of \
                 every common person (`rows`, profile `paper`).",
            ),
        }
        if let Some(slack) = self.slack {
            page.item(&format!(
                "A party whose values made finer so far have scores above the other's by more than \
                 {slack} (`slack`) names nothing until the other has caught up; the run ends when the \
                 other has nothing left. This is for fairness between parties that follow the \
                 protocol, and makes the table coarser. What a party keeps back shows nowhere."
            ));
        }
        if self.linkage.is_some() {
            page.item(
                "Oblivious transfers do not rest on learning parity with noise, and neither does the \
                 finding of common people.",
            );
        }
    }
}

/// What parties with different people learn.
fn learned_of_other_people(page: &mut Page, parties: &Parties, overlap_check: Option<&Identifier>) {
    let (p1, p2) = (&parties.p1.name, &parties.p2.name);
    page.item(&format!(
        "ATTENTION: {p1} and {p2} each learn the other's exact counts of every row, and so how many \
         records the other has: the release less its own. What is required holds of both parties' \
         people together. Towards the other party k and c promise nothing: of a group of k people a \
         single one may be yours."
    ));
    page.item(
        "Both learn in which order values were examined: each time which value has the highest score, \
         but no score; and of each whether making it finer leaves the table as required. Of every \
         interval they learn its best split, used or not, or that it has none; a split is a value that \
         somebody has, and where it is none of one's own, somebody at the other party.",
    );
    match overlap_check {
        Some(identifier) => page.item(&format!(
            "The overlap check is on: both learn exactly how many people are in both tables (by the \
             column `{}`{}). A person who is in both counts twice in every group.",
            identifier.column,
            normalization(identifier)
        )),
        None => page.item(
            "The overlap check is off: nobody counts the people who are in both tables. A person who \
             is in both counts twice in every group.",
        ),
    }
}

/// What no run of two parties protects from; the lengths of its messages tell something of their data.
pub(in crate::agreement) fn not_covered_between_two(
    page: &mut Page,
    agreement: &Agreement,
    lengths: &str,
) {
    let told = told_to_the_network(agreement).map(|told| format!("{told}, and "));
    page.item(&format!(
        "Whoever watches the network: the lengths of messages tell {}{lengths}. If the run ends early, \
         that and after which message can be seen too.",
        told.unwrap_or_default()
    ));
    page.item(
        "Parties that do not follow the protocol: each must run the program unchanged, on its true \
         data. A party that cheats could learn more or spoil the release.",
    );
    page.item(
        "A reader of the release who works together with one party: that reader knows what the party \
         knows.",
    );
    page.item(
        "The computers themselves: whoever can read a party's memory or disk can read its data.",
    );
}
