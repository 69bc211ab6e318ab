//! The agreement in plain words, as a page that a data-protection officer can read and sign.

use super::{Agreement, CountTable, Noise, Parties, Partition, Profile, Selection, Utility};
use crate::role::Role;
use crate::table::identifiers::Step;
use crate::table::{Attribute, Domain, Identifier, NumericDomain, OnBadValue, Taxonomy};

/// Width of a line.
const WIDTH: usize = 78;
/// Values of a taxonomy that are listed; the canonical form has all of them.
const MAX_LISTED: usize = 24;

pub(super) fn page(agreement: &Agreement) -> String {
    let mut page = Page::default();
    page.line(&format!("Agreement on the release \"{}\"", agreement.id));
    page.line(&format!("SHA-256 {}", agreement.hash()));
    page.heading("Who");
    who(&mut page, agreement);
    page.heading("What is published");
    published(&mut page, agreement);
    page.heading("What is promised to every person in the data");
    promised(&mut page, agreement);
    if let Some(parties) = agreement.parties() {
        page.heading("What the parties learn about each other's data");
        learned(&mut page, agreement, parties);
    }
    page.heading("What is not covered");
    not_covered(&mut page, agreement);
    page.heading("How it is computed");
    computed(&mut page, agreement);
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
        learned(&mut page, agreement, parties);
    }
    page.text
}

fn who(page: &mut Page, agreement: &Agreement) {
    match &agreement.partition {
        Partition::Local => page.item("One organisation, which holds all of the data."),
        Partition::Vertical { parties, identifier } => {
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
    let each = match agreement.partition {
        Partition::Vertical { .. } | Partition::Horizontal { .. } => " from each party",
        Partition::Local => "",
    };
    page.item(&format!(
        "At most {} records{each} take part; a run with more is refused.",
        grouped(agreement.max_records)
    ));
}

fn name_parties(page: &mut Page, parties: &Parties) {
    for (role, party) in [("P1", &parties.p1), ("P2", &parties.p2)] {
        page.item(&format!("{role} is {}, known by its key", party.name));
        page.verbatim(&party.fingerprint.to_string());
    }
}

fn normalization(identifier: &Identifier) -> String {
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
         `{}` ({}). The values are made coarser, and every count carries random noise, also where \
         nobody was counted.",
        class.column,
        class.values.join(", ")
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

fn promised(page: &mut Page, agreement: &Agreement) {
    let epsilon = &agreement.epsilon;
    let approximately = approximate(agreement);
    page.item(&format!(
        "This release spends a privacy budget of ε = {epsilon}. Whether or not a person's record \
         is in the data, every possible release is at most {} times as likely with it as without \
         it, and the reverse: whatever somebody concludes from the release about a person, they \
         could have concluded almost as well without that person's record. This is differential \
         privacy, and it holds whatever else the reader knows.",
        factor(approximately)
    ));
    if approximately > 2.0 {
        page.item(&format!(
            "ATTENTION: ε = {epsilon} is large. With such a factor the promise is weak; 1 or less \
             is usual."
        ));
    }
    let each = if agreement.parties().is_some() { " from each party" } else { "" };
    page.item(&format!(
        "Compared are data that this agreement admits, with the record as without it: at most {} \
         records{each}, and values that fit. A run with other data is refused, and that it was \
         refused is not covered by ε.",
        grouped(agreement.max_records)
    ));
    if agreement.parties().is_some() {
        page.item(
            "The promise may fail with a probability δ of at most 2^-40 (one in a million \
             millions), from rounding in the secure computation.",
        );
        page.item(
            "Every further release about the same people adds its own ε. Each party's ledger \
             keeps the sum and refuses a run that would exceed the party's cap. A run that is \
             interrupted counts in full.",
        );
    } else {
        page.item(
            "Every further release about the same people adds its own ε. Whoever holds the data \
             must add them up: the program does, and refuses what would exceed a cap, only if it \
             is given a ledger.",
        );
    }
}

fn learned(page: &mut Page, agreement: &Agreement, parties: &Parties) {
    let (p1, p2) = (&parties.p1.name, &parties.p2.name);
    match &agreement.partition {
        Partition::Vertical { .. } => {
            page.item(&format!(
                "{p1} and {p2} each learn how many records the other has, and which of its own \
                 people are also in the other's data. This is not protected by ε: agree to it \
                 only if each may know who is with the other.",
            ));
            page.item(&format!(
                "Both hold the column `{}`; they learn whether it is the same at both, and stop \
                 if it is not.",
                agreement.schema.class.column
            ));
            let mut attributes = agreement.schema.attributes.iter();
            if attributes.any(|attribute| attribute.on_bad_value == OnBadValue::Drop) {
                page.item(
                    "EXCEPT: records with a value that does not fit are left out before people \
                     are matched, so a party that knows somebody is in the other's data learns \
                     from a missing match that a value there does not fit. Map such values to a \
                     category instead if that matters.",
                );
            }
            page.item(&format!(
                "About the other's columns each learns only what the release tells. For a person \
                 in both tables the factor towards the other party is that of 2ε: at most {}.",
                factor(2.0 * approximate(agreement))
            ));
        }
        Partition::Horizontal { overlap_check, .. } => {
            page.item(&format!(
                "{p1} and {p2} learn nothing about each other's records beyond the release and \
                 every split of a number that was drawn, used or not{}. All of it is within ε.{}",
                match agreement.noise {
                    Noise::TwoParty => ", and the other's counts with the other's noise on them",
                    _ => "",
                },
                match overlap_check {
                    Some(_) => "",
                    None => " They do not learn how many records the other has.",
                }
            ));
            if let Some(identifier) = overlap_check {
                page.item(&format!(
                    "EXCEPT: the overlap check is on. Both learn exactly how many people are in \
                     both tables (by the column `{}`{}), and each learns how many records the \
                     other has. This is not protected by ε: somebody who knows all but one of \
                     these people can tell from the number whether that one is among them. As \
                     numbers are known, the promise towards the other party is that for a record \
                     replaced by another, and its factor that of 2ε: at most {}.",
                    identifier.column,
                    normalization(identifier),
                    factor(2.0 * approximate(agreement))
                ));
                page.item("A person who is in both tables has twice the loss.");
            } else {
                page.item(
                    "The overlap check is off: nobody counts the people who are in both tables. \
                     A person who is in both has twice the loss (2ε).",
                );
            }
        }
        Partition::Local => {}
    }
    page.item(
        "Both learn that the run took place, when, how long it took, and this agreement. How long \
         a party takes between two messages may depend on its records: timing is outside ε.",
    );
}

fn not_covered(page: &mut Page, agreement: &Agreement) {
    page.item(
        "Facts about groups: if the release shows that most engineers are approved, this also \
         says something about an engineer who is not in the data. That is its purpose.",
    );
    if !matches!(agreement.partition, Partition::Vertical { .. }) {
        page.item("People with more than one record: each further record adds another ε for them.");
    }
    if let Some(told) = told_to_the_network(agreement) {
        page.item(&format!(
            "Whoever watches the network: the lengths of messages tell {told}. For a watcher who \
             also has the release, only the promise for a record replaced by another holds, with \
             the factor of 2ε: at most {}.",
            factor(2.0 * approximate(agreement))
        ));
    }
    page.item(match agreement.partition {
        Partition::Local => {
            "Time: how long the run takes depends on the data, and ε does not cover it."
        }
        _ => {
            "Time: how long the run and its pauses take may depend on the data. The other party \
             and whoever watches the network can measure it, and ε does not cover it."
        }
    });
    if agreement.parties().is_some() {
        page.item(
            "Parties that do not follow the protocol: each must run the program unchanged, on \
             its true data. A party that cheats could learn more or spoil the release.",
        );
        page.item(
            "A reader of the release who works together with one party: that reader knows what \
             the party knows, and only the promise towards that party remains.",
        );
    }
    page.item(
        "The computers themselves: whoever can read a party's memory or disk can read its data.",
    );
}

/// What lengths of messages tell about numbers of records, where they tell anything.
fn told_to_the_network(agreement: &Agreement) -> Option<&'static str> {
    match &agreement.partition {
        Partition::Vertical { .. } => {
            Some("how many records each party has, and how many people are in both tables")
        }
        Partition::Horizontal { overlap_check: Some(_), .. } => {
            Some("how many records each party has")
        }
        Partition::Horizontal { overlap_check: None, .. } | Partition::Local => None,
    }
}

fn computed(page: &mut Page, agreement: &Agreement) {
    let share = agreement.structure_share;
    page.item(&format!(
        "The table begins with one row of the coarsest values. {} times, one value is chosen and \
         replaced by its finer ones. These choices use up to {share} of ε; the rest, and what the \
         choices leave over, goes to the noise on the counts.",
        agreement.specializations
    ));
    page.item(&format!(
        "A choice is scored by {}.",
        match agreement.utility {
            Utility::Max => "how well the finer values separate the classes (`max`)",
            Utility::LeafMax => {
                "how well the whole table would separate the classes after it (`leaf-max`)"
            }
            Utility::InfoGain => "its information gain about the class (`info-gain`)",
        }
    ));
    page.item(&match (agreement.selection, agreement.taylor) {
        (Selection::Exponential, Some(taylor)) => format!(
            "It is made by the exponential mechanism (`exponential`), in the papers' \
             approximation for horizontal data by a polynomial of degree {} with {} digits: as \
             private, but with many records far less accurate than `permute-and-flip`.",
            taylor.degree(),
            taylor.digits(),
        ),
        (Selection::Exponential, None) => {
            "It is made by the exponential mechanism (`exponential`).".to_owned()
        }
        (Selection::PermuteAndFlip, _) => {
            "It is made by the largest score after random noise (`permute-and-flip`).".to_owned()
        }
    });
    page.item(match agreement.noise {
        Noise::TwoParty => "Each party adds noise of its own to every count (`two-party`).",
        Noise::Joint => {
            "Every count gets one noise, drawn by both together and known to neither (`joint`)."
        }
        Noise::Single => "Every count gets one noise.",
    });
    page.item(match agreement.profile {
        Profile::Default => {
            "After that, negative counts are set to 0 and the others corrected so that the noisy \
             total is kept (profile `default`)."
        }
        Profile::Paper => {
            "Everything is calibrated exactly as in the papers, and negative counts are set to 0 \
             (profile `paper`); the total comes out too large."
        }
    });
    match agreement.count_table {
        Some(CountTable::Transfers) => page.item(
            "The people with each combination of both parties' values are counted by oblivious \
             transfers, without a key of either party (`transfers`).",
        ),
        Some(CountTable::Paillier) => page.item(
            "The people with each combination of both parties' values are counted under \
             encryption (`paillier`).",
        ),
        None => {}
    }
    if let Some(bits) = agreement.parties().and_then(|parties| parties.paillier_bits) {
        page.item(&format!("Encryption uses Paillier keys of {bits} bits."));
    }
}

/// ε for showing to people only.
fn approximate(agreement: &Agreement) -> f64 {
    agreement.epsilon.to_string().parse().unwrap_or(f64::INFINITY)
}

/// e^ε rounded up, for people. The computation itself never uses it.
fn factor(epsilon: f64) -> String {
    let factor = epsilon.exp();
    if factor < 10_000.0 {
        format!("{:.2}", (factor * 100.0).ceil() / 100.0)
    } else {
        format!("e^{epsilon} (more than {})", grouped(10_000))
    }
}

fn grouped(number: u64) -> String {
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
struct Page {
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

    fn item(&mut self, text: &str) {
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
