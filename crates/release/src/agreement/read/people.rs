//! Who takes part, how a person is recognized, and what is predicted about people.

use super::super::form::{Form, Section};
use super::super::node::{Node, Value};
use super::super::problem::Rule;
use super::super::{Parties, Party};
use super::Kind;
use super::matching::{self, Matched};
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
            // Whether it is needed is not known yet, but its value is checked.
            top.take("id").and_then(|node| identifier_section(form, node, kind));
            return None;
        }
        _ => {}
    }
    let remedy = "add a section [id] with `column` and `normalize`: how both find the same person";
    let node = form.required(top, "id", remedy)?;
    identifier_section(form, node, kind)
}

fn identifier_section(form: &mut Form<'_>, node: Node, kind: Option<Kind>) -> Option<Matched> {
    let known: Vec<&str> = ["column", "normalize"].into_iter().chain(matching::KEYS).collect();
    let mut section = form.section(node, "[id]", &known)?;
    let asked = matching::read(form, &mut section, kind);
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
    Some(Matched { identifier: Identifier { column: column?, normalize }, asked: asked? })
}

/// The class; none where the section is not there and `optional`.
pub(super) fn class(
    form: &mut Form<'_>,
    top: &mut Section,
    kind: Option<Kind>,
    optional: bool,
) -> Option<Class> {
    if optional && !top.has("class") && !top.has_misspelt("class") {
        return Some(Class::none());
    }
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
