//! The agreement in plain words, as a page that a data-protection officer can read and sign.

use super::{Agreement, Declared, Membership, Parties, Partition};
use crate::role::Role;
use crate::table::identifiers::Step;
use crate::table::{
    Attribute, Domain, Identifier, MISSING, Missing, NumericDomain, OnBadValue, Taxonomy,
};

/// Width of a line.
const WIDTH: usize = 78;
/// Values of a taxonomy that are listed; the canonical form has all of them.
const MAX_LISTED: usize = 24;

/// Below it are the names of methods, which the rest of the page leaves out.
const FOOTNOTE: &str = "Footnote: cryptographic methods";
/// What each party fills in where ε is spent: its cap is in its own file, not in the agreement.
const CAP: &str = "cap, the largest total ε of all releases of its data";

/// What a model says of itself on the page that is signed.
pub(super) trait Wording {
    /// What the rows of the table are by, beside the class.
    fn combined(&self) -> &'static str {
        "the values below"
    }

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

    /// The names of the cryptographic methods and what they rest on, for the footnote.
    fn methods(&self, _: &mut Page, _: &Agreement) {}
}

/// A part of the page that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// What the page is about; the first.
    Title(String),
    /// The hash that both parties compare.
    Hash(String),
    /// Of a section.
    Heading(&'static str),
    /// A statement.
    Item(String),
    /// Below a statement, as it stands.
    Verbatim(String),
    /// Below a statement, the values of an attribute.
    Values {
        /// Cut short when there are many.
        short: String,
        /// All of them.
        all: String,
    },
    /// Where this party signs.
    Signature {
        /// The party.
        name: String,
        /// What it fills in before: the label of a line of its own.
        cap: Option<&'static str>,
    },
}

pub(super) fn page(agreement: &Agreement) -> Vec<Block> {
    let mut page = Page::default();
    page.blocks.push(Block::Title(format!("Agreement on the release \"{}\"", agreement.id)));
    page.blocks.push(Block::Hash(agreement.hash().to_string()));
    page.heading("Who");
    who(&mut page, agreement);
    declared(&mut page, &agreement.declared);
    page.heading("What is published");
    published(&mut page, agreement);
    page.heading("What is promised to every person in the data");
    let model = agreement.model.terms();
    model.promised(&mut page, agreement);
    if let Some(parties) = agreement.parties() {
        page.heading("What the parties learn about each other's data");
        model.learned(&mut page, agreement, parties);
    }
    page.heading("What is not covered");
    model.not_covered(&mut page, agreement);
    page.heading("How it is computed");
    model.computed(&mut page, agreement);
    let mut footnote = Page::default();
    model.methods(&mut footnote, agreement);
    if !footnote.blocks.is_empty() {
        page.heading(FOOTNOTE);
        page.blocks.append(&mut footnote.blocks);
    }
    if let Some(parties) = agreement.parties() {
        page.heading("Signed");
        for party in [&parties.p1, &parties.p2] {
            let cap = agreement.epsilon().map(|_| CAP);
            page.blocks.push(Block::Signature { name: party.name.clone(), cap });
        }
    }
    page.blocks
}

/// What the parties learn about each other's data, and nothing else of the page.
pub(super) fn learned_page(agreement: &Agreement) -> Vec<Block> {
    let mut page = Page::default();
    if let Some(parties) = agreement.parties() {
        agreement.model.terms().learned(&mut page, agreement, parties);
    }
    page.blocks
}

/// What the parties declare for people.
fn declared(page: &mut Page, declared: &Declared) {
    if *declared == Declared::default() {
        return;
    }
    page.heading("Purpose, retention, contacts and validity");
    let texts = [("Purpose", &declared.purpose), ("Retention", &declared.retention)];
    for (what, text) in texts.into_iter().filter_map(|(what, text)| Some((what, text.as_ref()?))) {
        page.item(&format!("{what}: {text}"));
    }
    declared.contacts.iter().for_each(|contact| page.item(&format!("Contact: {contact}")));
    if let Some(last) = &declared.valid_until {
        page.item(&format!(
            "This agreement is valid until the end of {last} (UTC). Later runs are refused."
        ));
    }
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
    let most = grouped(agreement.most_records());
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
        page.blocks.push(Block::Verbatim(party.fingerprint.to_string()));
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
        "One table of counts: how many people have each combination of {}{}{}. {}",
        agreement.model.terms().combined(),
        match class.name() {
            Some(name) => format!(" and of `{name}` ({})", class.values.join(", ")),
            None => String::new(),
        },
        match (agreement.parties(), class.owner) {
            _ if class.is_none() => String::new(),
            (Some(parties), Some(owner)) =>
                format!(", which {} alone holds", parties.of(owner).name),
            (Some(_), None) => ", which both hold".to_owned(),
            (None, _) => String::new(),
        },
        agreement.model.terms().table()
    ));
    for attribute in &agreement.schema.attributes {
        page.item(&attribute_words(agreement, attribute));
        if let Domain::Categorical(values) | Domain::Set(values) = &attribute.domain {
            let (short, all) = (tree(values, MAX_LISTED), tree(values, usize::MAX));
            page.blocks.push(Block::Values { short, all });
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
    let rules = &attribute.rules;
    let domain = match &attribute.domain {
        Domain::Categorical(_) if rules.boolean => "true or false.".to_owned(),
        Domain::Categorical(values) => format!("one of {} values.", values.leaves().len()),
        Domain::Set(values) => format!("any number of {} values.", values.leaves().len()),
        Domain::Numeric(range) => numeric_words(range),
    };
    let mut text = format!("`{}`{owner}: {domain}", attribute.name);
    if let Some(missing) = &rules.missing {
        let cells = rules.missing_values.iter().map(|cell| match cell.is_empty() {
            true => "empty".to_owned(),
            false => format!("`{cell}`"),
        });
        let cells = cells.collect::<Vec<_>>().join(" or ");
        let treated = match missing {
            Missing::Category => format!("it counts as `{MISSING}`, a value of its own"),
            Missing::As(treated) => treatment(treated, &attribute.domain),
        };
        text += &format!(" If a cell is {cells}: {treated}.");
    }
    if rules.outside_is_nearest {
        text += " A value outside counts as the nearest end.";
    }
    let bad = treatment(&attribute.on_bad_value, &attribute.domain);
    format!("{text} If a record has anything else: {bad}.")
}

fn treatment(treatment: &OnBadValue, domain: &Domain) -> String {
    match (treatment, domain) {
        (OnBadValue::Refuse, _) => "the whole run is refused before it begins".to_owned(),
        (OnBadValue::Drop, _) => "the record is left out".to_owned(),
        (OnBadValue::MapToLeaf(leaf), Domain::Categorical(values) | Domain::Set(values)) => {
            format!("it counts as `{}`", values.name(*leaf))
        }
        (OnBadValue::MapToNumber(number), Domain::Numeric(range)) => {
            format!("it counts as {}", range.write(*number))
        }
        (OnBadValue::MapToLeaf(_) | OnBadValue::MapToNumber(_), _) => String::new(),
    }
}

fn numeric_words(range: &NumericDomain) -> String {
    let (min, max) = (range.write(range.min()), range.write(range.max()));
    // The first point is no split; nor is that of missing values, which is before it.
    let first = 1 + u32::from(range.has_missing());
    let last = range.points() - 1;
    let at = |point: u32| range.write(range.point(point));
    let splits = match last + 1 - first {
        0 => "which is never divided".to_owned(),
        1 => format!("which may be divided at {}", at(first)),
        2 => format!("which may be divided at {} and {}", at(first), at(last)),
        _ => format!(
            "which may be divided at {}, {}, and so on up to {}",
            at(first),
            at(first + 1),
            at(last)
        ),
    };
    if range.is_date() {
        return format!("a date from {min} to {max}, {splits}.");
    }
    let rounding =
        if range.is_whole() { "Fractions are dropped." } else { "Further decimals are dropped." };
    format!("a number from {min} to {max}, {splits}. {rounding}")
}

/// `Any_Job (Professional (Engineer, Lawyer), …)`, cut short when it is large.
fn tree(values: &Taxonomy, most: usize) -> String {
    let mut text = String::new();
    let mut open = 0;
    for (listed, value) in values.values().enumerate() {
        let depth = values.depth(value);
        text.push_str(&")".repeat(open - depth.min(open)));
        open = open.min(depth);
        if listed > 0 && !text.ends_with('(') {
            text.push_str(", ");
        }
        if listed == most {
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

/// What lengths of messages tell about numbers of records, where they tell anything.
pub(super) fn told_to_the_network(agreement: &Agreement) -> Option<&'static str> {
    match &agreement.partition {
        Partition::Vertical { matching, .. } => match matching.membership {
            Membership::Shown => {
                Some("how many records each party has, and how many people are in both tables")
            }
            Membership::Hidden { pad_to: None } => Some("how many records each party has"),
            Membership::Hidden { pad_to: Some(_) } => None,
        },
        Partition::Horizontal { overlap_check: Some(_), .. } => {
            Some("how many records each party has")
        }
        Partition::Horizontal { overlap_check: None, .. } | Partition::Local => None,
    }
}

/// What a party learns where the other leaves out records before people are matched.
pub(super) fn left_out(page: &mut Page, agreement: &Agreement) {
    let mut attributes = agreement.schema.attributes.iter();
    if attributes.any(|attribute| {
        attribute.on_bad_value == OnBadValue::Drop
            || attribute.rules.missing == Some(Missing::As(OnBadValue::Drop))
    }) {
        page.item(
            "EXCEPT: records with a value that does not fit are left out before people are matched, so \
             a party that knows somebody is in the other's data learns from a missing match that a \
             value there does not fit. Map such values to a category instead if that matters.",
        );
    }
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

/// The page while it is written.
#[derive(Default)]
pub(super) struct Page {
    blocks: Vec<Block>,
}

impl Page {
    fn heading(&mut self, heading: &'static str) {
        self.blocks.push(Block::Heading(heading));
    }

    pub fn item(&mut self, text: &str) {
        self.blocks.push(Block::Item(text.to_owned()));
    }
}

/// The page as text, in lines of limited width.
pub(super) fn as_text(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Title(title) => text.push_str(&format!("{title}\n")),
            Block::Hash(hash) => text.push_str(&format!("SHA-256 {hash}\n")),
            Block::Heading(heading) => text.push_str(&format!("\n{heading}\n")),
            Block::Item(item) => wrapped(&mut text, "  - ", "    ", item),
            Block::Verbatim(line) => text.push_str(&format!("    {line}\n")),
            Block::Values { short, .. } => wrapped(&mut text, "    ", "    ", short),
            Block::Signature { name, cap } => {
                let line = "_".repeat(30);
                wrapped(&mut text, "  - ", "    ", &format!("for {name}: {line}"));
                if let Some(cap) = cap {
                    wrapped(&mut text, "    ", "    ", &format!("{cap}: {line}"));
                }
            }
        }
    }
    text
}

fn wrapped(text: &mut String, first: &str, others: &str, words: &str) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&format!("{line}\n"));
            line = others.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    text.push_str(&format!("{line}\n"));
}
