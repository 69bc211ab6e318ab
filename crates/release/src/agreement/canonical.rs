//! The canonical form of an agreement: JSON, following RFC 8785.

use super::read::declared::{CONTACTS, PURPOSE, RETENTION, VALID_UNTIL};
use super::{
    Agreement, Declared, Identifier, MatchBy, Matching, Membership, Partition, Party, Rehearsal,
};
use crate::table::{
    Attribute, CellRules, Class, Domain, MAX_DEPTH, Missing, OnBadValue, Splits, Taxonomy, ValueId,
};
use serde_json::{Value, json};

/// Which form it is. The name of it stands inside, so that no other text can have an agreement's
/// hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Of manifests of before there was a choice of count table: two parties always named the
    /// length of a key, and those of a vertical release counted under it.
    First {
        /// That length.
        paillier_bits: u32,
    },
    /// Of manifests of before there was more than one model: it names none.
    One,
    /// Today's.
    Two,
}

impl Format {
    /// Each with its name; the first two have the same.
    pub const ALL: &'static [(&'static str, Self)] =
        &[("diptych-agreement-1", Self::One), ("diptych-agreement-2", Self::Two)];

    fn name(self) -> &'static str {
        Self::ALL[usize::from(self == Self::Two)].0
    }
}

/// The agreement as a tree whose keys are sorted; printing it without white space is canonical.
///
/// Decimals are text in normal form; counts are numbers; every default is written out, but for those
/// of keys that came later (`outside`, `missing`, `missing_values`, `min_common`, `rehearse`, `membership`,
/// `accept_composition`, `shards`, the class's `owner`, and what is [`Declared`]); what does not apply to the
/// partition or the model is left out. There is no floating-point number anywhere.
pub(super) fn value(agreement: &Agreement, format: Format) -> Value {
    let (mut release, mut crypto) = agreement.model.terms().entries();
    if let Format::First { paillier_bits } = format {
        crypto = vec![("paillier_bits", json!(paillier_bits))];
    }
    release.push(("id", json!(agreement.id)));
    release.push(("partition", json!(agreement.partition.word())));
    release.push(("max_records", json!(agreement.max_records)));
    if format == Format::Two {
        release.push(("model", json!(agreement.model.word())));
    }
    if agreement.accept_composition {
        release.push((super::read::ACCEPT_COMPOSITION, json!(true)));
    }
    if format == Format::Two {
        release.extend(declared(&agreement.declared));
    }
    if let Partition::Horizontal { overlap_check, .. } = &agreement.partition {
        release.push(("overlap_check", json!(overlap_check.is_some())));
    }
    let class = &agreement.schema.class;
    let of_class = (!class.is_none()).then(|| class_entries(class, format));
    let mut sections = vec![("format", json!(format.name())), ("release", object(release))];
    sections.extend(of_class.map(|entries| ("class", object(entries))));
    if !agreement.schema.attributes.is_empty() {
        let attributes = agreement.schema.attributes.iter().map(attribute);
        sections.push(("attribute", attributes.collect()));
    }
    if let Some(entries) = agreement.model.terms().own_entries() {
        sections.push((agreement.model.word(), object(entries)));
    }
    if let Some(parties) = agreement.parties() {
        if !crypto.is_empty() {
            sections.push(("crypto", object(crypto)));
        }
        let both = vec![("p1", party(&parties.p1)), ("p2", party(&parties.p2))];
        sections.push(("parties", object(both)));
    }
    if let Some(shards) = agreement.shards {
        sections.push(("scale", object(vec![("shards", json!(shards))])));
    }
    if let Some(id) = agreement.identifier() {
        // Older forms had no such keys.
        let matching = agreement.matching().filter(|_| format == Format::Two);
        let usual = MatchBy::usual(agreement.model.matches_by_encryption(agreement.shards));
        let matching = matching.unwrap_or(Matching { by: usual, ..Matching::default() });
        sections.push(("id", identifier(id, matching, usual)));
    }
    object(sections)
}

/// Only what is there.
fn declared(declared: &Declared) -> Vec<(&'static str, Value)> {
    let Declared { purpose, retention, contacts, valid_until } = declared;
    let texts = [(PURPOSE, purpose), (RETENTION, retention), (VALID_UNTIL, valid_until)];
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, json!(text.as_ref()?))));
    let contacts = (!contacts.is_empty()).then(|| (CONTACTS, json!(contacts)));
    texts.chain(contacts).collect()
}

fn class_entries(class: &Class, format: Format) -> Vec<(&'static str, Value)> {
    let mut entries = vec![("column", json!(class.column)), ("values", json!(class.values))];
    if let (Format::Two, Some(owner)) = (format, class.owner) {
        entries.push(("owner", json!(owner.to_string())));
    }
    entries
}

fn party(party: &Party) -> Value {
    object(vec![("name", json!(party.name)), ("fingerprint", json!(party.fingerprint.to_string()))])
}

/// What was not always there is written only where it is not as it was: hashes stay.
fn identifier(identifier: &Identifier, matching: Matching, usual: MatchBy) -> Value {
    let rules: Vec<&str> = identifier.normalize.steps().iter().map(|step| step.name()).collect();
    let mut entries = vec![("column", json!(identifier.column)), ("normalize", json!(rules))];
    if let Membership::Hidden { pad_to } = matching.membership {
        entries.push(("membership", json!("hidden")));
        entries.extend(pad_to.map(|records| ("pad_to", json!(records))));
    } else if matching.min_common != Matching::default().min_common {
        entries.push(("min_common", json!(matching.min_common)));
    }
    match matching.rehearse {
        Some(Rehearsal::Numbers) => entries.push(("rehearse", json!(true))),
        Some(Rehearsal::Labels) => entries.push(("rehearse", json!("labels"))),
        Some(Rehearsal::Noisy { epsilon }) => {
            entries.push(("rehearse", json!("noisy")));
            entries.push(("rehearse_epsilon", json!(epsilon.to_string())));
        }
        None => {}
    }
    if matching.by != usual {
        entries.push(("matching", json!(matching.by.word())));
    }
    object(entries)
}

fn attribute(attribute: &Attribute) -> Value {
    let mut entries = vec![("name", json!(attribute.name))];
    if let Some(owner) = attribute.owner {
        entries.push(("owner", json!(owner.to_string())));
    }
    let rules = &attribute.rules;
    entries.push(("kind", json!(attribute.kind())));
    match &attribute.domain {
        Domain::Categorical(_) if rules.boolean => {}
        Domain::Categorical(values) | Domain::Set(values) => {
            entries.push(("taxonomy", agreed_taxonomy(values, rules)));
        }
        Domain::Numeric(range) => {
            let mut ends = vec![
                ("min", json!(range.write(range.min()))),
                ("max", json!(range.write(range.max()))),
            ];
            match range.splits() {
                Splits::Step(step) => ends.push(("step", json!(step.to_string()))),
                Splits::Edges(edges) => {
                    let edges = edges.iter().map(|edge| json!(edge.to_string()));
                    ends = vec![("edges", edges.collect())];
                }
                Splits::Dates(step, format) => {
                    ends.push(("step", json!(step.word())));
                    ends.push(("format", json!(format.text())));
                }
            }
            entries.extend(ends);
        }
    }
    entries.push(("on_bad_value", treatment(&attribute.on_bad_value, &attribute.domain)));
    if rules.outside_is_nearest {
        entries.push(("outside", json!("nearest")));
    }
    if let Some(missing) = &rules.missing {
        let word = match missing {
            Missing::Category => json!("category"),
            Missing::As(treated) => treatment(treated, &attribute.domain),
        };
        entries.push(("missing", word));
        if rules.missing_values != CellRules::USUAL_MISSING {
            entries.push(("missing_values", json!(rules.missing_values)));
        }
    }
    object(entries)
}

fn treatment(treatment: &OnBadValue, domain: &Domain) -> Value {
    match (treatment, domain) {
        (OnBadValue::Drop, _) => json!("drop"),
        (OnBadValue::MapToNumber(number), Domain::Numeric(range)) => json!(range.write(*number)),
        (OnBadValue::MapToLeaf(leaf), Domain::Categorical(values) | Domain::Set(values)) => {
            json!(values.name(*leaf))
        }
        (OnBadValue::MapToNumber(_) | OnBadValue::MapToLeaf(_) | OnBadValue::Refuse, _) => {
            json!("refuse")
        }
    }
}

/// The taxonomy as it was agreed, without the leaf for missing values that stands behind it.
fn agreed_taxonomy(values: &Taxonomy, rules: &CellRules) -> Value {
    let mut tree = taxonomy(values, values.root(), MAX_DEPTH);
    if rules.missing_is_a_category()
        && let Some(Value::Array(children)) = tree.get_mut("children")
    {
        children.pop();
    }
    tree
}

/// A leaf has no key `children`.
fn taxonomy(values: &Taxonomy, value: ValueId, levels: usize) -> Value {
    let mut entries = vec![("name", json!(values.name(value)))];
    if !values.is_leaf(value) && levels > 0 {
        let children = values.children(value).map(|child| taxonomy(values, child, levels - 1));
        entries.push(("children", children.collect()));
    }
    object(entries)
}

/// An object with sorted keys.
pub(super) fn object(mut entries: Vec<(&str, Value)>) -> Value {
    entries.sort_by_key(|(key, _)| *key);
    Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
