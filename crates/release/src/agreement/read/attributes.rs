//! The attributes of an agreement: their domains, and what happens to values that do not fit.

use super::super::MAX_SHARED_POINTS;
use super::super::builtin;
use super::super::form::{Form, Section};
use super::super::node::{Node, Value};
use super::super::problem::Rule;
use super::super::taxonomies::{self, TaxonomyFormat, read_taxonomy};
use super::{Divided, Kind, Origin};
use crate::role::Role;
use crate::table::{
    Attribute, Decimal, Domain, MAX_VALUES, NumericDomain, OnBadValue, Taxonomy, nearest,
};
use std::path::{Component, Path};

const KEYS: &[&str] = &[
    "name",
    "owner",
    "kind",
    "taxonomy",
    "taxonomy_file",
    "branches",
    "on_bad_value",
    "min",
    "max",
    "step",
];
/// Most values below one in a tree that grows from a list.
const MAX_BRANCHES: i64 = 64;
/// Most attributes of a table.
pub const MAX_ATTRIBUTES: usize = 256;
/// Most values of all taxonomies, so that a few small files cannot fill the memory.
const MAX_VALUES_IN_ALL: usize = 4 * MAX_VALUES;

#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeKind {
    Categorical,
    Numeric,
    Set,
}

pub(super) fn read(
    form: &mut Form<'_>,
    top: &mut Section,
    divided: Option<Divided>,
    origin: Origin<'_>,
) -> Option<Vec<Attribute>> {
    let remedy = "add a section [[attribute]] for each column to release, with two brackets";
    let node = form.required(top, "attribute", remedy)?;
    let Value::List(items) = node.value else {
        form.wrong_type(&node, "`attribute`", "sections [[attribute]] with two brackets");
        return None;
    };
    if items.is_empty() || items.len() > MAX_ATTRIBUTES {
        let message = format!("there are {} attributes", items.len());
        let remedy = format!("describe from 1 to {MAX_ATTRIBUTES} of them");
        form.note(Rule::OutOfRange, node.at, message, &remedy);
        return None;
    }
    let kind = divided.map(|divided| divided.kind);
    let class_owner = divided.and_then(|divided| divided.class_owner);
    let by_range = divided.is_some_and(|divided| divided.by_range);
    let hidden = divided.is_some_and(|divided| divided.hidden);
    let mut reader = Reader { kind, class_owner, by_range, hidden, origin, values: 0 };
    let count = items.len();
    let attributes: Vec<Attribute> = items
        .into_iter()
        .enumerate()
        .filter_map(|(index, item)| reader.attribute(form, item, index + 1))
        .collect();
    if attributes.len() < count {
        return None;
    }
    if kind == Some(Kind::Vertical) {
        for owner in Role::BOTH {
            if attributes.iter().all(|attribute| attribute.owner != Some(owner)) {
                let message = format!("no attribute has owner = \"{owner}\"");
                let remedy = "in a vertical release both parties bring attributes; give it one, or \
                              use partition = \"local\"";
                form.note(Rule::MissingKey, node.at, message, remedy);
            }
        }
    }
    Some(attributes)
}

struct Reader<'a> {
    kind: Option<Kind>,
    /// Who alone has the class.
    class_owner: Option<Role>,
    by_range: bool,
    /// Whether nobody learns who is common.
    hidden: bool,
    origin: Origin<'a>,
    /// Of all taxonomies so far.
    values: usize,
}

impl Reader<'_> {
    fn attribute(&mut self, form: &mut Form<'_>, node: Node, number: usize) -> Option<Attribute> {
        let mut title = format!("[[attribute]] number {number}");
        if let Value::Table(entries) = &node.value
            && let Some((_, Node { value: Value::Text(name), .. })) =
                entries.iter().find(|(key, _)| key.name == "name")
        {
            let name: String = name.chars().take(60).flat_map(char::escape_debug).collect();
            title = format!("attribute `{name}`");
        }
        let mut section = form.section(node, &title, KEYS)?;
        let section = &mut section;
        let name = form
            .required(section, "name", "add name = \"…\", the column's name in the data")
            .and_then(|node| form.text(node, &format!("`name` in {title}"), "\"job\""));
        let owner = self.owner(form, section);
        let words = [
            ("categorical", AttributeKind::Categorical),
            ("numeric", AttributeKind::Numeric),
            ("set", AttributeKind::Set),
        ];
        let shape_at = section.at();
        let shape = form
            .required(section, "kind", "add kind = \"categorical\" or \"numeric\"")
            .and_then(|node| form.word(node, &section.name_of("kind"), &words));
        let on_bad_value = section.take("on_bad_value");
        let domain = match shape? {
            AttributeKind::Numeric => self.numeric(form, section, &title, owner.flatten()),
            shape => self.values(form, section, &title, shape, shape_at),
        }?;
        let on_bad_value = match on_bad_value {
            Some(node) => read_on_bad_value(form, node, &title, &domain),
            None => Some(OnBadValue::Refuse),
        };
        Some(Attribute { name: name?, owner: owner?, domain, on_bad_value: on_bad_value? })
    }

    /// `None` if something is wrong.
    #[allow(clippy::option_option, reason = "an owner that is rightly absent is a result")]
    fn owner(&self, form: &mut Form<'_>, section: &mut Section) -> Option<Option<Role>> {
        let words = [("p1", Role::P1), ("p2", Role::P2)];
        match self.kind {
            Some(Kind::Vertical) => {
                let remedy = "add owner = \"p1\" or \"p2\": the party whose data has this column";
                let node = form.required(section, "owner", remedy)?;
                form.word(node, &section.name_of("owner"), &words).map(Some)
            }
            Some(Kind::Horizontal) => {
                form.refuse(section, "owner", "in a horizontal release both hold every column");
                Some(None)
            }
            Some(Kind::Local) => {
                form.refuse(section, "owner", "in a local release one party holds every column");
                Some(None)
            }
            None => None,
        }
    }

    fn numeric(
        &self,
        form: &mut Form<'_>,
        section: &mut Section,
        title: &str,
        owner: Option<Role>,
    ) -> Option<Domain> {
        for key in ["taxonomy", "taxonomy_file", "branches"] {
            form.refuse(section, key, "a numeric attribute has `min`, `max` and `step` instead");
        }
        let at = section.at();
        let mut number = |key: &str, remedy: &str| {
            let node = form.required(section, key, remedy)?;
            form.decimal(node, &format!("`{key}` in {title}"), true)
        };
        let min = number(
            "min",
            "add min = 0, the smallest value there can be; do not look it up in the data",
        );
        let max = number(
            "max",
            "add max = 100, the largest value there can be; do not look it up in the data",
        );
        let step = number("step", "add step = 1, the distance of two possible splits");
        let domain = NumericDomain::new(min?, max?, step?);
        let domain = form.checked(Rule::OutOfRange, at, title, domain)?;
        if let Some(where_shared) = self.where_shared(owner)
            && domain.points() > MAX_SHARED_POINTS
        {
            let message = format!(
                "{title} has {} points from min to max; {where_shared} allows {MAX_SHARED_POINTS}",
                domain.points()
            );
            let remedy = match domain.step_for(MAX_SHARED_POINTS) {
                Some(step) => format!("use a larger step, such as {step}"),
                None => "use a larger step, and a `max` that fits it".to_owned(),
            };
            form.note(Rule::OutOfRange, at, message, &remedy);
            return None;
        }
        Some(Domain::Numeric(domain))
    }

    /// What makes two parties choose the splits of this owner's numbers together, if they do.
    fn where_shared(&self, owner: Option<Role>) -> Option<&'static str> {
        match (self.kind?, self.class_owner, owner) {
            _ if self.by_range => None, // nobody chooses any
            (Kind::Horizontal, ..) => Some("a horizontal release"),
            (Kind::Vertical, ..) if self.hidden => Some("a release with hidden membership"),
            (Kind::Vertical, Some(labelled), Some(owner)) if labelled != owner => {
                Some("a party without the class")
            }
            _ => None,
        }
    }

    fn values(
        &mut self,
        form: &mut Form<'_>,
        section: &mut Section,
        title: &str,
        shape: AttributeKind,
        at: usize,
    ) -> Option<Domain> {
        for key in ["min", "max", "step"] {
            form.refuse(section, key, "only a numeric attribute has a range");
        }
        if shape == AttributeKind::Set
            && matches!(self.kind, Some(Kind::Vertical | Kind::Horizontal))
        {
            let message = format!("{title} is a set, which only a local release can hold");
            let remedy = "use kind = \"categorical\", leave it out, or use partition = \"local\"";
            form.note(Rule::DoesNotApply, at, message, remedy);
        }
        let branches = section.take("branches");
        let taxonomy = self.taxonomy(form, section, title)?;
        let taxonomy = match branches {
            Some(node) => grown(form, node, title, taxonomy)?,
            None => taxonomy,
        };
        self.values += taxonomy.len();
        if self.values > MAX_VALUES_IN_ALL {
            let message =
                format!("all taxonomies together have more than {MAX_VALUES_IN_ALL} values");
            form.note(Rule::TooLarge, at, message, "group rare values, or leave an attribute out");
            return None;
        }
        match shape {
            AttributeKind::Set => form.checked(Rule::Taxonomy, at, title, Domain::set(taxonomy)),
            _ => Some(Domain::Categorical(taxonomy)),
        }
    }

    fn taxonomy(
        &mut self,
        form: &mut Form<'_>,
        section: &mut Section,
        title: &str,
    ) -> Option<Taxonomy> {
        let file = section.take("taxonomy_file");
        let inline = section.take("taxonomy");
        match (inline, file, self.origin) {
            (Some(_), Some(file), _) => {
                let message = format!("{title} has both `taxonomy` and `taxonomy_file`");
                form.note(Rule::DoesNotApply, file.at, message, "remove one of them");
                None
            }
            (Some(Node { value: Value::Text(name), at }), None, Origin::File(_)) => {
                let found = builtin::find(&name);
                let message = || {
                    let shown: String = name.chars().take(60).collect();
                    format!("`taxonomy` in {title} cannot be {shown:?}")
                };
                found.map_err(|remedy| form.note(Rule::Taxonomy, at, message(), &remedy)).ok()
            }
            (Some(node), None, Origin::File(_)) => {
                noted(form, taxonomies::from_toml(form.source, &node))
            }
            (Some(node), None, Origin::Canonical) => {
                noted(form, taxonomies::from_json(form.source, &node))
            }
            (None, Some(node), Origin::File(read)) => {
                let what = format!("`taxonomy_file` in {title}");
                self.taxonomy_file(form, node, &what, read)
            }
            (None, Some(node), Origin::Canonical) => {
                let message = format!("{title} names a file");
                form.note(Rule::DoesNotApply, node.at, message, "inline the taxonomy");
                None
            }
            (None, None, _)
                if section.has_misspelt("taxonomy") || section.has_misspelt("taxonomy_file") =>
            {
                None
            }
            (None, None, _) => {
                let message = format!("`taxonomy` is missing in {title}");
                let remedy = "add taxonomy = { Any = [\"a\", \"b\"] }, a public one such as \
                              \"builtin:countries\", or taxonomy_file = \"job.csv\" (ARX hierarchy \
                              files are such)";
                form.note(Rule::MissingKey, section.at(), message, remedy);
                None
            }
        }
    }

    fn taxonomy_file(
        &mut self,
        form: &mut Form<'_>,
        node: Node,
        what: &str,
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Option<Taxonomy> {
        let at = node.at;
        let name = form.raw_text(node, what, "\"job.csv\"")?;
        let shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
        // What is read here may be sent to the peer, so an agreement written by others must not
        // be able to reach any other file.
        let inside = !name.is_empty()
            && !name.contains(['\\', '\0'])
            && Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            let message = format!("{what} cannot be `{shown}`");
            let remedy = "put the file beside the agreement or below it and give its relative path";
            form.note(Rule::TaxonomyFile, at, message, remedy);
            return None;
        }
        let Some(format) = TaxonomyFormat::of(&name) else {
            let message = format!("{what}: the name `{shown}` does not tell the format");
            form.note(
                Rule::TaxonomyFile,
                at,
                message,
                "use a file that ends in .toml, .json or .csv",
            );
            return None;
        };
        let bytes = match read(&name) {
            Ok(bytes) => bytes,
            Err(reason) => {
                let message = format!("{what}: `{shown}` cannot be read ({reason})");
                let remedy = "the path counts from the directory of the agreement";
                form.note(Rule::TaxonomyFile, at, message, remedy);
                return None;
            }
        };
        let beside = Path::new(form.source.name()).with_file_name(&name);
        noted(form, read_taxonomy(format, &beside.display().to_string(), &bytes))
    }
}

/// The tree that grows from a flat list.
fn grown(form: &mut Form<'_>, node: Node, title: &str, flat: Taxonomy) -> Option<Taxonomy> {
    let at = node.at;
    let what = format!("`branches` in {title}");
    let branches = form.integer(node, &what, 2..=MAX_BRANCHES)?;
    if flat.leaves().iter().any(|leaf| flat.depth(*leaf) > 1) {
        let message = format!("{what} does not apply: the taxonomy has levels of its own");
        form.note(Rule::DoesNotApply, at, message, "remove `branches`, or list the values flat");
        return None;
    }
    let grown = taxonomies::balanced(&flat, usize::try_from(branches).ok()?);
    form.checked(Rule::Taxonomy, at, &what, grown)
}

fn noted<T>(form: &mut Form<'_>, result: Result<T, super::Problem>) -> Option<T> {
    result.map_err(|problem| form.note_problem(problem)).ok()
}

fn read_on_bad_value(
    form: &mut Form<'_>,
    node: Node,
    title: &str,
    domain: &Domain,
) -> Option<OnBadValue> {
    let at = node.at;
    let what = format!("`on_bad_value` in {title}");
    match (&node.value, domain) {
        (Value::Text(text), _) if text == "refuse" => Some(OnBadValue::Refuse),
        (Value::Text(text), _) if text == "drop" => Some(OnBadValue::Drop),
        (Value::Text(text), Domain::Categorical(taxonomy) | Domain::Set(taxonomy)) => {
            let leaf = taxonomy.find(text).filter(|value| taxonomy.is_leaf(*value));
            if leaf.is_none() {
                let shown: String = text.chars().take(60).collect();
                let words = taxonomy.leaves().iter().map(|leaf| taxonomy.name(*leaf));
                let meant = nearest(text, words.chain(["refuse", "drop"]));
                let remedy = match meant {
                    Some(meant) => format!("did you mean {meant:?}?"),
                    None => "use \"refuse\", \"drop\", or a leaf to read it as".to_owned(),
                };
                let message = format!("{what} is {shown:?}, which is not a leaf of the taxonomy");
                form.note(Rule::UnknownWord, at, message, &remedy);
            }
            leaf.map(OnBadValue::MapToLeaf)
        }
        (Value::Text(_) | Value::Integer(_), Domain::Numeric(domain)) => {
            let number = match &node.value {
                Value::Text(text) => Decimal::parse(text).ok(),
                Value::Integer(number) => number.map(Decimal::from),
                _ => None,
            };
            let number = number.filter(|number| {
                number.scale() <= 9 && *number >= domain.min() && *number <= domain.max()
            });
            if number.is_none() {
                let message = format!("{what} is neither a word nor a number of the range");
                let remedy = format!(
                    "use \"refuse\", \"drop\", or a number from {} to {} to read it as",
                    domain.min(),
                    domain.max()
                );
                form.note(Rule::UnknownWord, at, message, &remedy);
            }
            number.map(OnBadValue::MapToNumber)
        }
        _ => {
            form.wrong_type(&node, &what, "\"refuse\", \"drop\", or a value to read it as");
            None
        }
    }
}
