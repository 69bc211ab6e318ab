//! The section [trajectory].

use super::{Columns, MOST_KNOWN, Score, Terms};
use crate::agreement::form::{Form, Section};
use crate::agreement::model::{Model, Sections};
use crate::agreement::problem::Rule;
use crate::agreement::read::{Divided, Kind};
use crate::agreement::syntactic::read::{acknowledged, part, people_in_a_group};
use crate::agreement::syntactic::{ACKNOWLEDGE, MAX_PROTECTED};
use crate::table::{Decimal, Identifier, Schema, nearest};

const KEYS: &[&str] = &[
    ACKNOWLEDGE,
    "l",
    "k",
    "c",
    "protect",
    "support",
    "score",
    "path",
    "id",
    "location",
    "time",
    "bin",
    "collapse",
];
/// Times are seconds since 1970 at most, and no bin is longer than a century.
const MAX_BIN: i64 = 3_200_000_000;

pub(in crate::agreement) fn model(
    form: &mut Form<'_>,
    Sections { top, .. }: Sections<'_>,
    divided: Option<Divided>,
) -> Option<(Model, usize)> {
    let (terms, at) = read(form, top, divided.map(|divided| divided.kind))?;
    Some((Model::Trajectory(terms), at))
}

/// The terms, and their position.
fn read(form: &mut Form<'_>, top: &mut Section, kind: Option<Kind>) -> Option<(Terms, usize)> {
    form.refuse(top, "crypto", "nothing is encrypted by this model");
    form.refuse(top, "attribute", "the data are paths, which have no attributes");
    let remedy = "add a section [trajectory], with l = 2, k = 30 and what else is required";
    let node = form.required(top, "trajectory", remedy)?;
    let at = node.at;
    if kind == Some(Kind::Vertical) {
        let message = "model = \"trajectory\" is for one party, or for two with different people";
        let remedy = "use partition = \"local\" or \"horizontal\"";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
    let mut section = form.section(node, "[trajectory]", KEYS)?;
    let section = &mut section;
    acknowledged(form, section);
    let remedy = "add l = 2, the pairs of place and time that somebody may know of a person";
    let l = form.required(section, "l", remedy);
    let l = l.and_then(|node| form.integer(node, "`l` in [trajectory]", 1..=MOST_KNOWN.into()));
    let group = people_in_a_group(form, section);
    let protect = match section.take("protect") {
        Some(node) => {
            let most = 0..=MAX_PROTECTED;
            form.distinct_texts(node, "`protect` in [trajectory]", most, "[\"AIDS\"]")
        }
        None => Some(Vec::new()),
    };
    let support = match section.take("support") {
        Some(node) => part(form, node, "`support` in [trajectory]"),
        None => Decimal::parse("0.005").ok(),
    };
    let score = match section.take("score") {
        Some(node) => form.word(node, "`score` in [trajectory]", Score::ALL),
        None => Some(Score::GainPerLoss),
    };
    let columns = columns(form, section);
    let bin = match section.take("bin") {
        Some(node) => form.integer(node, "`bin` in [trajectory]", 1..=MAX_BIN),
        None => Some(1),
    };
    let collapse = match section.take("collapse") {
        Some(node) => form.truth(&node, "`collapse` in [trajectory]"),
        None => Some(false),
    };
    let (l, (k, c)) = (u32::try_from(l?).ok()?, group?);
    let (protect, support, score) = (protect?, support?, score?);
    let (columns, bin, collapse) = (columns?, bin?, collapse?);
    Some((Terms { l, k, c, protect, support, score, columns, bin, collapse }, at))
}

/// A row for each pair if places have a column, or else one for each path.
fn columns(form: &mut Form<'_>, section: &mut Section) -> Option<Columns> {
    let is_long = ["location", "time"].iter().any(|key| section.has(key));
    if is_long {
        form.refuse(section, "path", "with `location` and `time` each row has one pair");
    } else if !section.has("path") {
        let path = Columns::RELEASED.to_owned();
        return Some(Columns::Wide { id: named(form, section, "id")?, path });
    }
    let mut required = |key: &str| {
        let node = form.required(section, key, &format!("add {key} = \"…\", a column's name"))?;
        form.text(node, &section.name_of(key), &format!("{key:?}"))
    };
    if is_long {
        let (id, location, time) = (required("id"), required("location"), required("time"));
        return Some(Columns::Long { id: id?, location: location?, time: time? });
    }
    let path = required("path");
    Some(Columns::Wide { id: named(form, section, "id")?, path: path? })
}

/// A column's name, if there is one; `None` if something is wrong.
#[allow(clippy::option_option, reason = "a column that is not there is a result")]
fn named(form: &mut Form<'_>, section: &mut Section, key: &str) -> Option<Option<String>> {
    match section.take(key) {
        Some(node) => form.text(node, &section.name_of(key), &format!("{key:?}")).map(Some),
        None => Some(None),
    }
}

/// Sees that columns differ, that people are recognized by the column that names them, and that the
/// protected values are there.
pub(in crate::agreement) fn check(
    form: &mut Form<'_>,
    schema: &Schema,
    terms: &Terms,
    identifier: Option<&Identifier>,
    at: usize,
) {
    let class = &schema.class;
    if let Some(Identifier { column, .. }) = identifier
        && terms.columns.id() != Some(column)
    {
        let message = format!("[id] recognizes people by `{column}`, and [trajectory] does not");
        form.note(Rule::DoesNotApply, at, message, &format!("add id = {column:?} to [trajectory]"));
    }
    let mut columns = terms.columns.named();
    columns.push(("column", &class.column));
    for (place, (key, name)) in columns.iter().enumerate() {
        if let Some((other, _)) = columns[..place].iter().find(|(_, other)| other == name) {
            let message = format!("`{name}` is both the `{other}` and the `{key}`");
            form.note(Rule::Duplicate, at, message, "name different columns");
        }
    }
    if class.column == Columns::RELEASED {
        let message = format!("[class] cannot be `{}`: so is the released path", class.column);
        form.note(Rule::Duplicate, at, message, "rename the column");
    }
    for value in &terms.protect {
        if !class.values.contains(value) {
            let remedy = match nearest(value, class.values.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean {meant:?}?"),
                None => "name values of [class]".to_owned(),
            };
            let message = format!("`{value}` is not a value of `{}`", class.column);
            form.note(Rule::DoesNotApply, at, message, &remedy);
        }
    }
    if terms.c != Decimal::ONE && terms.protect.is_empty() {
        let message = "`c` bounds nothing: no value is protected".to_owned();
        form.note(Rule::DoesNotApply, at, message, "add `protect`");
    }
}
