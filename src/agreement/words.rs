//! The agreement in plain words, as a page that a data-protection officer can read and sign.

use super::{Agreement, Parties, Partition};
use crate::role::Role;
use crate::table::identifiers::Step;
use crate::table::{Attribute, Domain, Identifier, NumericDomain, OnBadValue, Taxonomy};

/// Width of a line.
const WIDTH: usize = 78;
/// Values of a taxonomy that are listed; the canonical form has all of them.
const MAX_LISTED: usize = 24;

/// What a model says of itself on the page that is signed.
pub(super) trait Wording {
    /// How the values and counts that are published come about, after "One table of counts: …".
    fn table(&self) -> &'static str;

    /// What is promised to every person in the data.
    fn promised(&self, page: &mut Page, agreement: &Agreement);

    /// What the parties learn about each other's data.
    fn learned(&self, page: &mut Page, agreement: &Agreement, parties: &Parties);

    /// What is not covered by the promise.
    fn not_covered(&self, page: &mut Page, agreement: &Agreement);

    /// How it is computed.
    fn computed(&self, page: &mut Page, agreement: &Agreement);
}

/// The words of [`super::Model::ExactCounts`].
#[cfg(any(test, feature = "testing"))]
pub(super) struct ExactCounts;

#[cfg(any(test, feature = "testing"))]
impl Wording for ExactCounts {
    fn table(&self) -> &'static str {
        "The values are the coarsest there are, and every count is exact."
    }

    fn promised(&self, page: &mut Page, _: &Agreement) {
        page.item("Nothing: the counts are exact.");
    }

    fn learned(&self, page: &mut Page, _: &Agreement, _: &Parties) {
        page.item("Each learns the other's counts, from the release and its own.");
    }

    fn not_covered(&self, page: &mut Page, _: &Agreement) {
        page.item("Everything: this model is for tests.");
    }

    fn computed(&self, page: &mut Page, _: &Agreement) {
        page.item("Records are counted by class.");
    }
}

pub(super) fn page(agreement: &Agreement) -> String {
    let mut page = Page::default();
    page.line(&format!("Agreement on the release \"{}\"", agreement.id));
    page.line(&format!("SHA-256 {}", agreement.hash()));
    page.heading("Who");
    who(&mut page, agreement);
    page.heading("What is published");
    published(&mut page, agreement);
    page.heading("What is promised to every person in the data");
    let model = agreement.model.wording();
    model.promised(&mut page, agreement);
    if let Some(parties) = agreement.parties() {
        page.heading("What the parties learn about each other's data");
        model.learned(&mut page, agreement, parties);
    }
    page.heading("What is not covered");
    model.not_covered(&mut page, agreement);
    page.heading("How it is computed");
    model.computed(&mut page, agreement);
    if let Some(parties) = agreement.parties() {
        page.heading("Signed");
        page.item(&format!("for {}: ______________________________", parties.p1.name));
        page.item(&format!("for {}: ______________________________", parties.p2.name));
    }
    page.text
}

/// What the parties learn about each other's data, and nothing else of the page.
pub(super) fn learned_page(agreement: &Agreement) -> String {
    let mut page = Page::default();
    if let Some(parties) = agreement.parties() {
        agreement.model.wording().learned(&mut page, agreement, parties);
    }
    page.text
}

fn who(page: &mut Page, agreement: &Agreement) {
    match &agreement.partition {
        Partition::Local => page.item("One organisation, which holds all of the data."),
        Partition::Vertical { parties, identifier, .. } => {
            name_parties(page, parties);
            page.item(&format!(
                "Both hold data about some of the same people, in different columns. A person is \
                 recognized by the column `{}`{}. Everybody has one record in each table.",
                identifier.column,
                normalization(identifier)
            ));
        }
        Partition::Horizontal { parties, .. } => {
            name_parties(page, parties);
            page.item(
                "Both hold the same columns about different people. Everybody should be in one \
                 of the two tables only, with one record.",
            );
        }
    }
    let most = grouped(agreement.max_records);
    page.item(&match agreement.partition {
        Partition::Vertical { .. } | Partition::Horizontal { .. } => format!(
            "From 1 to {most} records from each party take part; a run with none or with more is \
             refused."
        ),
        Partition::Local => {
            format!("At most {most} records take part; a run with more is refused.")
        }
    });
}

fn name_parties(page: &mut Page, parties: &Parties) {
    for (role, party) in [("P1", &parties.p1), ("P2", &parties.p2)] {
        page.item(&format!("{role} is {}, known by its key", party.name));
        page.verbatim(&party.fingerprint.to_string());
    }
}

pub(super) fn normalization(identifier: &Identifier) -> String {
    let words: Vec<&str> = identifier
        .normalize
        .steps()
        .iter()
        .map(|step| match step {
            Step::Trim => "white space at both ends",
            Step::Nfc => "different encodings of the same letters",
            Step::Uppercase | Step::Lowercase => "upper and lower case",
        })
        .collect();
    match words.split_last() {
        None => ", compared exactly as written".to_owned(),
        Some((last, [])) => format!(", where {last} makes no difference"),
        Some((last, others)) => {
            format!(", where {} and {last} make no difference", others.join(", "))
        }
    }
}

fn published(page: &mut Page, agreement: &Agreement) {
    let class = &agreement.schema.class;
    page.item(&format!(
        "One table of counts: how many people have each combination of the values below and of \
         `{}` ({}){}. {}",
        class.column,
        class.values.join(", "),
        match (agreement.parties(), class.owner) {
            (Some(parties), Some(owner)) =>
                format!(", which {} alone holds", parties.of(owner).name),
            (Some(_), None) => ", which both hold".to_owned(),
            (None, _) => String::new(),
        },
        agreement.model.wording().table()
    ));
    for attribute in &agreement.schema.attributes {
        page.item(&attribute_words(agreement, attribute));
        if let Domain::Categorical(values) | Domain::Set(values) = &attribute.domain {
            page.verbatim_wrapped(&tree(values));
        }
    }
    if agreement.identifier().is_some() {
        page.item("Identifiers are not published.");
    }
}

fn attribute_words(agreement: &Agreement, attribute: &Attribute) -> String {
    let owner = match (attribute.owner, agreement.parties()) {
        (Some(Role::P1), Some(parties)) => format!(", held by {}", parties.p1.name),
        (Some(Role::P2), Some(parties)) => format!(", held by {}", parties.p2.name),
        _ => String::new(),
    };
    let domain = match &attribute.domain {
        Domain::Categorical(values) => format!("one of {} values.", values.leaves().len()),
        Domain::Set(values) => format!("any number of {} values.", values.leaves().len()),
        Domain::Numeric(range) => numeric_words(range),
    };
    let bad = match (&attribute.on_bad_value, &attribute.domain) {
        (OnBadValue::Refuse, _) => "the whole run is refused before it begins".to_owned(),
        (OnBadValue::Drop, _) => "the record is left out".to_owned(),
        (OnBadValue::MapToLeaf(leaf), Domain::Categorical(values) | Domain::Set(values)) => {
            format!("it counts as `{}`", values.name(*leaf))
        }
        (OnBadValue::MapToLeaf(_), Domain::Numeric(_)) => String::new(),
        (OnBadValue::MapToNumber(number), _) => format!("it counts as {number}"),
    };
    format!("`{}`{owner}: {domain} If a record has anything else: {bad}.", attribute.name)
}

fn numeric_words(range: &NumericDomain) -> String {
    let (min, max, last) = (range.min(), range.max(), range.points() - 1);
    let splits = match last {
        0 => "which is never divided".to_owned(),
        1 => format!("which may be divided at {}", range.point(1)),
        2 => format!("which may be divided at {} and {}", range.point(1), range.point(2)),
        _ => format!(
            "which may be divided at {}, {}, and so on up to {}",
            range.point(1),
            range.point(2),
            range.point(last)
        ),
    };
    let rounding = if max.scale().max(min.scale()).max(range.step().scale()) == 0 {
        "Fractions are dropped."
    } else {
        "Further decimals are dropped."
    };
    format!("a number from {min} to {max}, {splits}. {rounding}")
}

/// `Any_Job (Professional (Engineer, Lawyer), …)`, cut short when it is large.
fn tree(values: &Taxonomy) -> String {
    let mut text = String::new();
    let mut open = 0;
    for (listed, value) in values.values().enumerate() {
        let depth = values.depth(value);
        text.push_str(&")".repeat(open - depth.min(open)));
        open = open.min(depth);
        if listed > 0 && !text.ends_with('(') {
            text.push_str(", ");
        }
        if listed == MAX_LISTED {
            text.push_str(&format!("… and {} more", values.len() - listed));
            break;
        }
        text.push_str(values.name(value));
        if !values.is_leaf(value) {
            text.push_str(" (");
            open += 1;
        }
    }
    text.push_str(&")".repeat(open));
    text
}

pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Text in lines of limited width.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn heading(&mut self, heading: &str) {
        self.text.push('\n');
        self.line(heading);
    }

    pub fn item(&mut self, text: &str) {
        self.wrapped("  - ", "    ", text);
    }

    /// Below an item, not broken.
    fn verbatim(&mut self, text: &str) {
        self.line(&format!("    {text}"));
    }

    fn verbatim_wrapped(&mut self, text: &str) {
        self.wrapped("    ", "    ", text);
    }

    fn wrapped(&mut self, first: &str, others: &str, text: &str) {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in text.split_whitespace() {
            if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.line(&line);
                line = others.to_owned();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        self.line(&line);
    }
}
