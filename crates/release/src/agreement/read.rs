//! From a file to an agreement: which keys there are, and every rule between them.

mod attributes;
pub(super) mod declared;
pub use attributes::MAX_ATTRIBUTES;
mod matching;
mod people;
pub(super) mod release;
mod scale;

use super::canonical::Format;
use super::form::{Form, Section, WHOLE};
use super::model::{Beside, MODELS, Reader, Sections};
use super::node::{Node, Source};
use super::problem::{Problem, Problems, Rule};
use super::*;

const SECTIONS: &[&str] = &[
    "release",
    "parties",
    "id",
    "class",
    "attribute",
    "crypto",
    "scale",
    "lkc",
    "lattice",
    "trajectory",
];
/// The keys of [release] that every model has.
const RELEASE_KEYS: &[&str] = &[
    "id",
    "partition",
    "model",
    "max_records",
    "overlap_check",
    ACCEPT_COMPOSITION,
    declared::PURPOSE,
    declared::RETENTION,
    declared::CONTACTS,
    declared::VALID_UNTIL,
];
/// The key of [release] by which a release may follow or be followed by one that does not add up.
pub(super) const ACCEPT_COMPOSITION: &str = "accept_composition";

/// Why a section is rejected.
pub(super) const ONE_PARTY: &str = "a local release has one party only";

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
pub(super) enum Kind {
    Vertical,
    Horizontal,
    Local,
}

/// An entry of [`MODELS`].
type Named = &'static (&'static str, Reader);

/// How the data is divided, as far as it decides what else there may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Divided {
    pub kind: Kind,
    /// Who alone has the class.
    pub class_owner: Option<Role>,
    /// Whether nobody learns who is common.
    pub hidden: bool,
    /// Whether the tree follows from the agreement alone.
    pub by_range: bool,
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

/// Of a canonical form, and which form it is.
pub(super) fn from_json(bytes: &[u8]) -> Result<(Agreement, Format), Problems> {
    let source = Source::new("canonical form", bytes, MAX_CANONICAL_BYTES)?;
    let document = source.json()?;
    let format = document.text_of("format").map(str::to_owned);
    let format = Format::ALL.iter().find(|(name, _)| Some(*name) == format.as_deref());
    let (agreement, _) = agreement(&source, document, Origin::Canonical)?;
    Ok((agreement, format.map_or(Format::Two, |(_, format)| *format)))
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
        form.word(format, "`format`", Format::ALL)?;
    }
    let mut release = form
        .required(&mut top, "release", "add a section [release]; see examples/loans")
        .and_then(|node| release_section(form, node));
    let kind = release.as_mut().and_then(|(release, _)| partition(form, release));

    let common = release.as_mut().and_then(|(release, _)| release::read(form, release, kind));
    // Only a tree that follows from the agreement alone needs no class.
    let utility = release.as_ref().and_then(|(release, _)| release.text_of("utility"));
    let by_range = utility == Some(Utility::Range.word());
    let class = people::class(form, &mut top, kind, by_range);
    let class_owner = class.as_ref().and_then(|class| class.owner);
    let overlap_check = common.as_ref().map(|common| common.overlap_check);
    let identifier = people::identifier(form, &mut top, kind, overlap_check);
    let hidden = identifier.as_ref().is_some_and(matching::Matched::is_hidden);
    let divided = kind.map(|kind| Divided { kind, class_owner, hidden, by_range });
    let of_paths = release.as_ref().is_some_and(|(_, named)| named.1.of_paths);
    let model = release.and_then(|(release, named)| model(form, release, named, &mut top, divided));
    let parties = people::parties(form, &mut top, kind);
    let attributes = match of_paths {
        true => Some(Vec::new()),
        false => attributes::read(form, &mut top, divided, origin),
    };

    let schema = Schema { attributes: attributes?, class: class? };
    let named = identifier.as_ref().map(|matched| &matched.identifier);
    columns_differ(form, &schema, named);
    let (model, at) = model?;
    model.terms().check(form, Beside { schema: &schema, kind, identifier: named }, at);
    let counts_overlap = overlap_check == Some(true);
    let shards = scale::read(form, &mut top, kind, &model, counts_overlap);
    let common = common?;
    groups_can_be(form, &model, kind, common.max_records, at);
    let partition = match kind? {
        Kind::Vertical => {
            let matched = identifier?;
            let shards = shards.flatten();
            let matching =
                matching::check(form, &matched, common.max_records, &schema.class, &model, shards);
            Partition::Vertical { parties: parties?, identifier: matched.identifier, matching }
        }
        Kind::Horizontal => {
            let overlap_check = identifier.map(|matched| matched.identifier);
            Partition::Horizontal { parties: parties?, overlap_check }
        }
        Kind::Local => Partition::Local,
    };
    let agreement = Agreement {
        id: common.id,
        partition,
        max_records: common.max_records,
        accept_composition: common.accept_composition,
        declared: common.declared,
        schema: Arc::new(schema),
        model,
        shards: shards?,
    };
    if form.problems.is_empty() && agreement.canonical().len() > MAX_CANONICAL_BYTES {
        let message = format!("all taxonomies together exceed {} MiB", MAX_CANONICAL_BYTES >> 20);
        form.note(Rule::TooLarge, 0, message, "group rare values");
    }
    Some(agreement)
}

/// Opens [release], whose keys depend on the model that it names.
fn release_section(form: &mut Form<'_>, node: Node) -> Option<(Section, Named)> {
    let named = node.text_of("model");
    let mut model = MODELS.iter().find(|(word, _)| Some(*word) == named).unwrap_or(&MODELS[0]);
    let keys: Vec<&str> = RELEASE_KEYS.iter().chain(model.1.keys).copied().collect();
    let mut section = form.section(node, "[release]", &keys)?;
    if let Some(node) = section.take("model") {
        let places: Vec<_> = MODELS.iter().map(|entry| (entry.0, entry)).collect();
        model = form.word(node, "`model` in [release]", &places)?;
    }
    Some((section, model))
}

/// The model's own keys; and where problems with it as a whole are noted.
fn model(
    form: &mut Form<'_>,
    mut release: Section,
    (word, reader): Named,
    top: &mut Section,
    divided: Option<Divided>,
) -> Option<(Model, usize)> {
    let others = MODELS.iter().map(|(other, _)| other).filter(|other| *other != word);
    for section in others.filter(|other| SECTIONS.contains(other)) {
        form.refuse(top, section, &format!("it is for model = \"{section}\""));
    }
    (reader.read)(form, Sections { word, release: &mut release, top }, divided)
}

/// No group is larger than all people together, so a larger `k` could never be met.
fn groups_can_be(
    form: &mut Form<'_>,
    model: &Model,
    kind: Option<Kind>,
    max_records: u64,
    at: usize,
) {
    let Some((k, tables)) = model.terms().largest_group(kind) else { return };
    let people = max_records.saturating_mul(tables);
    if k > people {
        let message = format!(
            "`k` is {k}, but there are never more than {people} people: no table can be as required"
        );
        form.note(Rule::OutOfRange, at, message, "lower `k`, or raise `max_records` in [release]");
    }
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
        .chain(schema.class.name().map(|name| ("[class]", name)))
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
