//! Who takes part, how a person is recognized, and what is predicted about people.

use super::super::form::{Form, Section};
use super::super::node::{Node, Value};
use super::super::problem::Rule;
use super::super::{MatchBy, Matching, Parties, Party, Rehearsal};
use super::Kind;
use super::release::MAX_RECORDS;
use crate::role::Role;
use crate::table::identifiers::Step;
use crate::table::{Class, Identifier, Normalization};

const MAX_CLASSES: usize = 256;
const NORMALIZATIONS: &[(&str, Step)] = &[
    ("trim", Step::Trim),
    ("nfc", Step::Nfc),
    ("uppercase", Step::Uppercase),
    ("lowercase", Step::Lowercase),
];

pub(super) fn parties(
    form: &mut Form<'_>,
    top: &mut Section,
    kind: Option<Kind>,
) -> Option<Parties> {
    if kind == Some(Kind::Local) {
        form.refuse(top, "parties", super::ONE_PARTY);
        return None;
    }
    let remedy = "add [parties.p1] and [parties.p2], each with `name` and `fingerprint`";
    let node = form.required(top, "parties", remedy)?;
    let mut both = form.section(node, "[parties]", &["p1", "p2"])?;
    let at = both.at();
    let p1 = party(form, &mut both, "p1");
    let p2 = party(form, &mut both, "p2");
    let (p1, p2) = (p1?, p2?);
    if p1.name == p2.name {
        let message = format!("both parties are called `{}`", p1.name);
        form.note(Rule::Duplicate, at, message, "give them different names");
    }
    if p1.fingerprint == p2.fingerprint {
        let message = "both parties have the same fingerprint".to_owned();
        let remedy = "each party runs `diptych keygen` and sends the other what it prints";
        form.note(Rule::Duplicate, at, message, remedy);
    }
    Some(Parties { p1, p2 })
}

fn party(form: &mut Form<'_>, both: &mut Section, which: &str) -> Option<Party> {
    let remedy = format!("add [parties.{which}] with `name` and `fingerprint`");
    let node = form.required(both, which, &remedy)?;
    let title = format!("[parties.{which}]");
    let mut section = form.section(node, &title, &["name", "fingerprint"])?;
    let name = form
        .required(&mut section, "name", "add name = \"…\", as people call the organisation")
        .and_then(|node| form.text(node, &format!("`name` in {title}"), "\"Bank\""));
    let fingerprint = form
        .required(&mut section, "fingerprint", "add the line that `diptych keygen` printed there")
        .and_then(|node| {
            let what = format!("`fingerprint` in {title}");
            let at = node.at;
            let text = form.raw_text(node, &what, "\"sha256:…\"")?;
            let fingerprint = text.parse().ok();
            if fingerprint.is_none() {
                let message = format!("{what} is not sha256: and 64 hexadecimal digits");
                form.note(
                    Rule::BadText,
                    at,
                    message,
                    "copy the line that `diptych keygen` printed",
                );
            }
            fingerprint
        });
    Some(Party { name: name?, fingerprint: fingerprint? })
}

pub(super) fn identifier(
    form: &mut Form<'_>,
    top: &mut Section,
    kind: Option<Kind>,
    overlap_check: Option<bool>,
) -> Option<Matched> {
    match kind {
        Some(Kind::Local) => {
            form.refuse(top, "id", "one party need not find its own records");
            return None;
        }
        Some(Kind::Horizontal) if overlap_check == Some(false) => {
            let why = "the parties of a horizontal release hold different people, and \
                       `overlap_check` is off";
            form.refuse(top, "id", why);
            return None;
        }
        Some(Kind::Horizontal) if overlap_check.is_none() => {
            // Whether it is needed cannot be said yet, but what stands there is checked.
            top.take("id").and_then(|node| identifier_section(form, node, kind));
            return None;
        }
        _ => {}
    }
    let remedy = "add a section [id] with `column` and `normalize`: how both find the same person";
    let node = form.required(top, "id", remedy)?;
    identifier_section(form, node, kind)
}

/// The section [id].
pub(super) struct Matched {
    pub identifier: Identifier,
    pub matching: Matching,
    /// How people are matched, if that is said.
    pub by: Option<MatchBy>,
    /// Where `min_common`, `rehearse` and `matching` stand.
    pub at: [usize; 3],
}

fn identifier_section(form: &mut Form<'_>, node: Node, kind: Option<Kind>) -> Option<Matched> {
    let known = ["column", "normalize", "min_common", "rehearse", "matching"];
    let mut section = form.section(node, "[id]", &known)?;
    let matching = matching(form, &mut section, kind);
    let column = form
        .required(&mut section, "column", "add column = \"…\", the column that names a person")
        .and_then(|node| form.text(node, "`column` in [id]", "\"ssn\""));
    let remedy = "add normalize = [\"trim\", \"uppercase\"], so that 'a1 ' and 'A1' are the same; \
                  [] compares exactly";
    let node = form.required(&mut section, "normalize", remedy)?;
    let at = node.at;
    let what = "`normalize` in [id]";
    let Value::List(items) = node.value else {
        form.wrong_type(&node, what, "a list, such as [\"trim\", \"uppercase\"]");
        return None;
    };
    let mut normalize = Vec::new();
    for item in items.into_iter().take(2 * NORMALIZATIONS.len()) {
        let item_at = item.at;
        let rule = form.word(item, what, NORMALIZATIONS)?;
        if normalize.contains(&rule) {
            let message = format!("{what} lists a rule twice");
            form.note(Rule::Duplicate, item_at, message, "remove one of them");
            return None;
        }
        normalize.push(rule);
    }
    let Ok(normalize) = Normalization::new(normalize) else {
        let message = format!("{what} asks for upper and for lower case");
        form.note(Rule::DoesNotApply, at, message, "keep one of them");
        return None;
    };
    let (matching, by, at) = matching?;
    Some(Matched { identifier: Identifier { column: column?, normalize }, matching, by, at })
}

/// What is asked of how many people are common, how they are found if that is said, and where it
/// stands.
fn matching(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
) -> Option<(Matching, Option<MatchBy>, [usize; 3])> {
    let usual = Matching::default();
    let mut at = [section.at(); 3];
    if kind == Some(Kind::Horizontal) {
        let why = "the parties of a horizontal release hold different people";
        form.refuse(section, "min_common", why);
        form.refuse(section, "rehearse", why);
        form.refuse(section, "matching", why);
        return Some((usual, None, at));
    }
    let mut min_common = Some(usual.min_common);
    if let Some(node) = section.take("min_common") {
        at[0] = node.at;
        min_common = form.integer(node, "`min_common` in [id]", 0..=MAX_RECORDS);
    }
    let what = "`rehearse` in [id]";
    let rehearse = section.take("rehearse");
    at[1] = rehearse.as_ref().map_or(at[1], |node| node.at);
    let rehearse = match rehearse {
        None | Some(Node { value: Value::Boolean(false), .. }) => Some(None),
        Some(Node { value: Value::Boolean(true), .. }) => Some(Some(Rehearsal::Numbers)),
        Some(node) if matches!(node.value, Value::Text(_)) => {
            form.word(node, what, &[("labels", Some(Rehearsal::Labels))])
        }
        Some(node) => {
            form.wrong_type(&node, what, "true, false or \"labels\"");
            None
        }
    };
    let mut by = Some(None);
    if let Some(node) = section.take("matching") {
        at[2] = node.at;
        by = form.word(node, "`matching` in [id]", MatchBy::ALL).map(Some);
    }
    Some((Matching { min_common: min_common?, rehearse: rehearse?, by: usual.by }, by?, at))
}

/// More common people than there may be records would never do, labels are compared only where
/// both parties have them, and some releases match by encryption.
pub(super) fn check_matching(
    form: &mut Form<'_>,
    matched: &Matched,
    max_records: u64,
    class_owner: Option<Role>,
    by_encryption: bool,
) -> Matching {
    let Matching { min_common, rehearse, .. } = matched.matching;
    if let (true, Some(MatchBy::Oprf)) = (by_encryption, matched.by) {
        let message = "`matching` in [id] cannot be \"oprf\": profile = \"paper\", and every release \
                       with ε above 15, finds common people by commutative encryption";
        let remedy = "remove `matching`, or use \"ristretto255\" or \"ffdhe3072\"";
        form.note(Rule::DoesNotApply, matched.at[2], message.to_owned(), remedy);
    }
    if min_common > max_records {
        let message = format!(
            "`min_common` in [id] is {min_common}, but no party has more than {max_records} records"
        );
        let remedy = "lower it, or raise `max_records` in [release]";
        form.note(Rule::OutOfRange, matched.at[0], message, remedy);
    }
    if let (Some(Rehearsal::Labels), Some(owner)) = (rehearse, class_owner) {
        let message = format!(
            "`rehearse` in [id] cannot be \"labels\": {owner} alone has the class, so there is \
             nothing to compare it with"
        );
        form.note(Rule::DoesNotApply, matched.at[1], message, "use rehearse = true");
    }
    let by = matched.by.unwrap_or_else(|| MatchBy::usual(by_encryption));
    Matching { by, ..matched.matching }
}

pub(super) fn class(form: &mut Form<'_>, top: &mut Section, kind: Option<Kind>) -> Option<Class> {
    let remedy = "add a section [class] with `column` and `values`: what the release helps predict";
    let node = form.required(top, "class", remedy)?;
    let mut section = form.section(node, "[class]", &["column", "values", "owner"])?;
    let owner = class_owner(form, &mut section, kind);
    let column = form
        .required(&mut section, "column", "add column = \"…\"")
        .and_then(|node| form.text(node, "`column` in [class]", "\"approved\""));
    let values = form
        .required(
            &mut section,
            "values",
            "add values = [\"Y\", \"N\"], all that the column may hold",
        )
        .and_then(|node| {
            form.distinct_texts(node, "`values` in [class]", 2..=MAX_CLASSES, "[\"Y\", \"N\"]")
        });
    Some(Class { column: column?, owner: owner?, values: values? })
}

/// Who alone has the class; `None` if something is wrong.
#[allow(clippy::option_option, reason = "a class that both have is a result")]
fn class_owner(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
) -> Option<Option<Role>> {
    match kind {
        Some(Kind::Horizontal) => {
            form.refuse(section, "owner", "in a horizontal release both hold every column");
            Some(None)
        }
        Some(Kind::Local) => {
            form.refuse(section, "owner", "in a local release one party holds every column");
            Some(None)
        }
        Some(Kind::Vertical) | None => match section.take("owner") {
            None => Some(None),
            Some(node) => {
                let words = [("both", None), ("p1", Some(Role::P1)), ("p2", Some(Role::P2))];
                form.word(node, "`owner` in [class]", &words)
            }
        },
    }
}
