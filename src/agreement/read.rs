//! From a file to an agreement: which keys there are, and every rule between them.

mod attributes;
mod crypto;
mod people;
mod release;

use super::form::{Form, Section, WHOLE};
use super::node::{Node, Source};
use super::problem::{Problem, Problems, Rule};
use super::*;

const SECTIONS: &[&str] = &["release", "parties", "id", "class", "attribute", "crypto"];
const RELEASE_KEYS: &[&str] = &[
    "id",
    "partition",
    "epsilon",
    "specializations",
    "utility",
    "selection",
    "noise",
    "structure_share",
    "profile",
    "max_records",
    "overlap_check",
    "taylor_digits",
    "taylor_degree",
];

/// Why a section is refused.
const ONE_PARTY: &str = "a local release has one party only";

/// Where taxonomies come from.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// A file of TOML, with other files beside it.
    File(&'a dyn Fn(&str) -> Result<Vec<u8>, String>),
    /// The canonical form, in which everything is inlined.
    Canonical,
}

/// The partition while the rest of the agreement is not yet known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Vertical,
    Horizontal,
    Local,
}

pub(super) fn from_toml(
    name: &str,
    bytes: &[u8],
    taxonomy_file: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<(Agreement, Vec<Problem>), Problems> {
    let source = Source::new(name, bytes, MAX_FILE_BYTES)?;
    let document = source.toml()?;
    agreement(&source, document, Origin::File(taxonomy_file))
}

pub(super) fn from_json(bytes: &[u8]) -> Result<(Agreement, Vec<Problem>), Problems> {
    let source = Source::new("canonical form", bytes, MAX_CANONICAL_BYTES)?;
    let document = source.json()?;
    agreement(&source, document, Origin::Canonical)
}

fn agreement(
    source: &Source<'_>,
    document: Node,
    origin: Origin<'_>,
) -> Result<(Agreement, Vec<Problem>), Problems> {
    let mut form = Form::new(source);
    let agreement = whole(&mut form, document, origin);
    form.problems.sort();
    match agreement {
        Some(agreement) if form.problems.is_empty() => Ok((agreement, form.remarks)),
        _ => Err(form.problems),
    }
}

/// Reads everything, whatever is wrong with parts of it, so that all problems are found at once.
fn whole(form: &mut Form<'_>, document: Node, origin: Origin<'_>) -> Option<Agreement> {
    let canonical_sections: Vec<&str> = SECTIONS.iter().copied().chain(["format"]).collect();
    let known = if matches!(origin, Origin::File(_)) { SECTIONS } else { &canonical_sections };
    let mut top = form.section(document, WHOLE, known)?;
    if matches!(origin, Origin::Canonical) {
        let format = form.required(&mut top, "format", "use the same version at both parties")?;
        form.word(format, "`format`", &[(canonical::FORMAT, ())])?;
    }
    let mut release = form
        .required(&mut top, "release", "add a section [release]; see examples/loans")
        .and_then(|node| form.section(node, "[release]", RELEASE_KEYS));
    let kind = release.as_mut().and_then(|release| partition(form, release));

    let terms = release.and_then(|release| release::read(form, release, kind));
    let crypto = crypto::read(form, &mut top, kind, terms.as_ref());
    let parties = people::parties(form, &mut top, kind, crypto.and_then(|c| c.paillier_bits));
    let identifier = people::identifier(form, &mut top, kind, terms.as_ref());
    let class = people::class(form, &mut top);
    let attributes = attributes::read(form, &mut top, kind, origin);

    let (terms, class, attributes) = (terms?, class?, attributes?);
    let schema = Schema { attributes, class };
    columns_differ(form, &schema, identifier.as_ref());
    enough_to_specialize(form, &schema, &terms);
    let partition = match kind? {
        Kind::Vertical => Partition::Vertical { parties: parties?, identifier: identifier? },
        Kind::Horizontal => Partition::Horizontal { parties: parties?, overlap_check: identifier },
        Kind::Local => Partition::Local,
    };
    let agreement = Agreement {
        id: terms.id,
        partition,
        epsilon: terms.epsilon,
        specializations: terms.specializations,
        utility: terms.utility,
        selection: terms.selection,
        noise: terms.noise,
        structure_share: terms.structure_share,
        profile: terms.profile,
        max_records: terms.max_records,
        taylor: terms.taylor,
        count_table: crypto?.count_table,
        schema: Arc::new(schema),
    };
    if form.problems.is_empty() && agreement.canonical().len() > MAX_CANONICAL_BYTES {
        let message = format!("all taxonomies together exceed {} MiB", MAX_CANONICAL_BYTES >> 20);
        form.note(Rule::TooLarge, 0, message, "group rare values");
    }
    Some(agreement)
}

fn partition(form: &mut Form<'_>, release: &mut Section) -> Option<Kind> {
    let remedy = "add partition = \"vertical\" (same people, different columns), \"horizontal\" \
                  (same columns, different people) or \"local\" (one party)";
    let node = form.required(release, "partition", remedy)?;
    let words =
        [("vertical", Kind::Vertical), ("horizontal", Kind::Horizontal), ("local", Kind::Local)];
    form.word(node, "`partition` in [release]", &words)
}

/// Columns of the data must differ, and those of the release too, which ends with `count`.
fn columns_differ(form: &mut Form<'_>, schema: &Schema, identifier: Option<&Identifier>) {
    let mut seen = vec![("the release's column of counts", "count")];
    let names = identifier
        .iter()
        .map(|identifier| ("[id]", identifier.column.as_str()))
        .chain([("[class]", schema.class.column.as_str())])
        .chain(schema.attributes.iter().map(|attribute| ("an attribute", attribute.name.as_str())));
    let mut clashes = Vec::new();
    for (what, name) in names {
        match seen.iter().find(|(_, other)| *other == name) {
            Some((other, _)) => clashes.push((what, *other, name)),
            None => seen.push((what, name)),
        }
    }
    for (what, other, name) in clashes {
        let at = form.source.text().rfind(&format!("\"{name}\"")).unwrap_or(0);
        let message = format!("`{name}` names {what} and {other}");
        form.note(Rule::Duplicate, at, message, "rename one of the columns");
    }
}

/// The budget is divided by the number of specializations: those that cannot happen waste it.
fn enough_to_specialize(form: &mut Form<'_>, schema: &Schema, terms: &release::ReleaseSection) {
    let possible: u64 = schema
        .attributes
        .iter()
        .map(|attribute| attribute.domain.possible_specializations())
        .fold(0, u64::saturating_add);
    if u64::from(terms.specializations) > possible {
        let message = format!(
            "`specializations` in [release] is {}, but the attributes allow only {possible}",
            terms.specializations
        );
        let remedy = match possible {
            0 => "give an attribute more than one value".to_owned(),
            _ => format!("use at most {possible}: those that cannot happen would waste ε"),
        };
        form.note(Rule::OutOfRange, terms.specializations_at, message, &remedy);
    }
}
