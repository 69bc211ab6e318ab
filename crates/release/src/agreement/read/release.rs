//! The section [release]: what every model needs.

use super::super::Declared;
use super::super::form::{Form, Section};
use super::super::problem::Rule;
use super::{ACCEPT_COMPOSITION, Kind, declared};

pub(in crate::agreement) const MAX_RECORDS: i64 = 100_000_000;

/// The section [release], without the partition and what is the model's own.
pub(super) struct Common {
    pub id: String,
    pub max_records: u64,
    pub overlap_check: bool,
    pub accept_composition: bool,
    pub declared: Declared,
}

pub(super) fn read(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
) -> Option<Common> {
    let id = form
        .required(section, "id", "add id = \"…\", a name for this release such as \"loans-2026q4\"")
        .and_then(|node| release_id(form, node));
    let max_records = form
        .required(
            section,
            "max_records",
            "add max_records = 100000, a public bound on the number of records",
        )
        .and_then(|node| form.integer(node, "`max_records` in [release]", 1..=MAX_RECORDS));
    let overlap_check = match (kind, section.take("overlap_check")) {
        (_, None) => Some(false),
        (Some(Kind::Vertical | Kind::Local), Some(node)) => {
            let why = "`overlap_check` in [release] does not apply: it counts the people who are \
                       in both tables of a horizontal release";
            form.note(Rule::DoesNotApply, node.at, why.to_owned(), "remove `overlap_check`");
            None
        }
        (_, Some(node)) => form.truth(&node, &section.name_of("overlap_check")),
    };
    let declared = declared::read(form, section);
    let accept_composition = match section.take(ACCEPT_COMPOSITION) {
        Some(node) => form.truth(&node, &section.name_of(ACCEPT_COMPOSITION))?,
        None => false,
    };
    let (id, max_records, overlap_check) = (id?, max_records?, overlap_check?);
    Some(Common { id, max_records, overlap_check, accept_composition, declared: declared? })
}

fn release_id(form: &mut Form<'_>, node: super::Node) -> Option<String> {
    let at = node.at;
    let id = form.raw_text(node, "`id` in [release]", "\"loans-2026q4\"")?;
    let outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = id.as_bytes();
    let good = bytes.len() <= 64
        && bytes.first().copied().is_some_and(outer)
        && bytes.last().copied().is_some_and(outer)
        && bytes.iter().all(|byte| outer(*byte) || b"-_.".contains(byte));
    if !good {
        let written: String = id.chars().take(70).collect();
        let message = format!("`id` in [release] cannot be {written:?}: it names files");
        let remedy = "use at most 64 lower-case letters a-z, digits, and - _ . between them";
        form.note(Rule::BadText, at, message, remedy);
    }
    good.then_some(id)
}
