//! The attributes of an agreement: their domains, and what happens to values that do not fit.

use super::super::MAX_SHARED_POINTS;
use super::super::builtin;
use super::super::form::{Form, Section};
use super::super::node::{Node, Value};
use super::super::problem::Rule;
use super::super::taxonomies::{self, TaxonomyFormat, read_taxonomy};
use super::{Divided, Kind, Origin};
use crate::Error;
use crate::role::Role;
use crate::table::{
    Attribute, CellRules, Date, DateFormat, DateStep, Decimal, Domain, MAX_EDGES, MAX_VALUES,
    MISSING, Missing, NumericDomain, OnBadValue, Taxonomy, TaxonomyBuilder, clean_text, nearest,
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
    "edges",
    "scale",
    "format",
    "outside",
    "missing",
    "missing_values",
];
/// Most values below one in a tree that grows from a list.
const MAX_BRANCHES: i64 = 64;
/// Most spellings of a missing value.
const MAX_MISSING_VALUES: usize = 16;
/// The root above `true` and `false`.
const BOOLEAN_ROOT: &str = "any";
/// Most attributes of a table.
pub const MAX_ATTRIBUTES: usize = 256;
/// Most values of all taxonomies, so that a few small files cannot fill the memory.
const MAX_VALUES_IN_ALL: usize = 4 * MAX_VALUES;

#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeKind {
    Categorical,
    Numeric,
    Date,
    Boolean,
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
            ("date", AttributeKind::Date),
            ("boolean", AttributeKind::Boolean),
            ("set", AttributeKind::Set),
        ];
        let shape_at = section.at();
        let shape = form
            .required(
                section,
                "kind",
                "add kind = \"categorical\", \"numeric\", \"date\" or \"boolean\"",
            )
            .and_then(|node| form.word(node, &section.name_of("kind"), &words));
        let on_bad_value = section.take("on_bad_value");
        let missing = section.take("missing");
        let missing_values = section.take("missing_values");
        let shape = shape?;
        let is_category =
            matches!(&missing, Some(Node { value: Value::Text(text), .. }) if text == "category");
        let outside_is_nearest = outside(form, section, shape)?;
        let domain = match shape {
            AttributeKind::Numeric | AttributeKind::Date => {
                let range = match shape {
                    AttributeKind::Date => dates(form, section, &title),
                    _ => numbers(form, section, &title),
                }?;
                let range = if is_category { range.with_missing() } else { range };
                self.range(form, shape_at, &title, owner.flatten(), range)
            }
            shape => self.values(form, section, &title, (shape, is_category), shape_at),
        }?;
        let on_bad_value = match on_bad_value {
            Some(node) => read_on_bad_value(form, node, "on_bad_value", &title, &domain),
            None => Some(OnBadValue::Refuse),
        };
        let missing_values = missing_spellings(form, missing_values, missing.as_ref(), &title)?;
        let missing = match missing {
            Some(_) if is_category => Some(Missing::Category),
            Some(node) => {
                Some(Missing::As(read_on_bad_value(form, node, "missing", &title, &domain)?))
            }
            None => None,
        };
        let boolean = shape == AttributeKind::Boolean;
        let rules = CellRules { boolean, outside_is_nearest, missing, missing_values };
        Some(Attribute { name: name?, owner: owner?, domain, on_bad_value: on_bad_value?, rules })
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

    /// A range whose points two parties can choose from together, where they do.
    fn range(
        &self,
        form: &mut Form<'_>,
        at: usize,
        title: &str,
        owner: Option<Role>,
        domain: NumericDomain,
    ) -> Option<Domain> {
        if let Some(where_shared) = self.where_shared(owner)
            && domain.points() > MAX_SHARED_POINTS
        {
            let message = format!(
                "{title} has {} points from min to max; {where_shared} allows {MAX_SHARED_POINTS}",
                domain.points()
            );
            form.note(Rule::OutOfRange, at, message, &domain.coarser(MAX_SHARED_POINTS));
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
        (shape, missing_is_a_category): (AttributeKind, bool),
        at: usize,
    ) -> Option<Domain> {
        for key in ["min", "max", "step", "edges", "scale"] {
            form.refuse(section, key, "only a numeric attribute has a range");
        }
        form.refuse(section, "format", "only a date has one");
        if shape == AttributeKind::Set
            && matches!(self.kind, Some(Kind::Vertical | Kind::Horizontal))
        {
            let message = format!("{title} is a set, which only a local release can hold");
            let remedy = "use kind = \"categorical\", leave it out, or use partition = \"local\"";
            form.note(Rule::DoesNotApply, at, message, remedy);
        }
        let taxonomy = if shape == AttributeKind::Boolean {
            for key in ["taxonomy", "taxonomy_file", "branches"] {
                form.refuse(section, key, "the values of a boolean are `true` and `false`");
            }
            form.checked(Rule::Taxonomy, at, title, truth_values())?
        } else {
            let branches = section.take("branches");
            let taxonomy = self.taxonomy(form, section, title)?;
            match branches {
                Some(node) => grown(form, node, title, taxonomy)?,
                None => taxonomy,
            }
        };
        let taxonomy = match missing_is_a_category {
            true => {
                let what = format!("missing = \"category\" in {title}");
                form.checked(Rule::Taxonomy, at, &what, taxonomy.with_leaf(MISSING))?
            }
            false => taxonomy,
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

/// Numbers: a range and a step, a list of edges, or a logarithmic scale.
fn numbers(form: &mut Form<'_>, section: &mut Section, title: &str) -> Option<NumericDomain> {
    for key in ["taxonomy", "taxonomy_file", "branches"] {
        form.refuse(section, key, "a numeric attribute has `min`, `max` and `step` instead");
    }
    form.refuse(section, "format", "only a date has one");
    let at = section.at();
    if let Some(node) = section.take("edges") {
        for key in ["min", "max", "step", "scale"] {
            form.refuse(section, key, "`edges` are the smallest value, the splits and the largest");
        }
        let edges = edges(form, node, &format!("`edges` in {title}"))?;
        return form.checked(Rule::OutOfRange, at, title, NumericDomain::with_edges(&edges));
    }
    let mut number = |section: &mut Section, key: &str, remedy: &str| {
        let node = form.required(section, key, remedy)?;
        form.decimal(node, &format!("`{key}` in {title}"), true)
    };
    let min = number(
        section,
        "min",
        "add min = 0, the smallest value there can be; do not look it up in the data",
    );
    let max = number(
        section,
        "max",
        "add max = 100, the largest value there can be; do not look it up in the data",
    );
    if let Some(node) = section.take("scale") {
        form.refuse(section, "step", "a logarithmic scale has its own splits");
        form.word(node, &section.name_of("scale"), &[("log", ())])?;
        let domain = NumericDomain::logarithmic_edges(min?, max?)
            .and_then(|edges| NumericDomain::with_edges(&edges));
        return form.checked(Rule::OutOfRange, at, title, domain);
    }
    let step = number(section, "step", "add step = 1, the distance of two possible splits");
    form.checked(Rule::OutOfRange, at, title, NumericDomain::new(min?, max?, step?))
}

/// A list of numbers, which are exact as they are written: none passes through a binary fraction.
fn edges(form: &mut Form<'_>, node: Node, what: &str) -> Option<Vec<Decimal>> {
    let Value::List(items) = node.value else {
        form.wrong_type(&node, what, "a list of numbers, such as [0, 0.5, 1, 2, 5, 10]");
        return None;
    };
    let (at, count) = (node.at, items.len());
    if count > MAX_EDGES {
        let message = format!("{what} has {count} entries");
        form.note(Rule::OutOfRange, at, message, &format!("list at most {MAX_EDGES} of them"));
        return None;
    }
    let edges: Vec<Decimal> = items
        .into_iter()
        .filter_map(|item| match &item.value {
            Value::Float(digits) => {
                form.checked(Rule::OutOfRange, item.at, what, Decimal::parse(digits))
            }
            _ => form.decimal(item, what, true),
        })
        .collect();
    (edges.len() == count).then_some(edges)
}

/// Dates: a range, and the beginnings at which it may be split.
fn dates(form: &mut Form<'_>, section: &mut Section, title: &str) -> Option<NumericDomain> {
    for key in ["taxonomy", "taxonomy_file", "branches", "edges", "scale"] {
        form.refuse(section, key, "a date has `min`, `max`, `step` and `format`");
    }
    let mut date = |section: &mut Section, key: &str, remedy: &str| {
        let node = form.required(section, key, remedy)?;
        let (at, what) = (node.at, format!("`{key}` in {title}"));
        let written = form.raw_text(node, &what, "\"2020-01-01\"")?;
        form.checked(Rule::OutOfRange, at, &what, Date::parse(&written))
    };
    let min = date(section, "min", "add min = \"2000-01-01\", the first day there can be");
    let max = date(section, "max", "add max = \"2029-12-31\", the last day there can be");
    let step = match section.take("step") {
        Some(node) => form.word(node, &section.name_of("step"), DateStep::ALL),
        None => Some(DateStep::Month),
    };
    let format = match section.take("format") {
        Some(node) => {
            let (at, what) = (node.at, section.name_of("format"));
            let written = form.raw_text(node, &what, "\"%d.%m.%Y\"");
            written.and_then(|it| form.checked(Rule::OutOfRange, at, &what, DateFormat::parse(&it)))
        }
        None => Some(DateFormat::iso()),
    };
    let domain = NumericDomain::dates(min?, max?, step?, format?);
    form.checked(Rule::OutOfRange, section.at(), title, domain)
}

/// Whether values out of range are read as the nearest end.
fn outside(form: &mut Form<'_>, section: &mut Section, shape: AttributeKind) -> Option<bool> {
    if !matches!(shape, AttributeKind::Numeric | AttributeKind::Date) {
        form.refuse(section, "outside", "only numbers and dates have a range");
        return Some(false);
    }
    match section.take("outside") {
        Some(node) => {
            let words = [("refuse", false), ("nearest", true)];
            form.word(node, &section.name_of("outside"), &words)
        }
        None => Some(false),
    }
}

/// The cells that are missing values, where there is a rule for these.
fn missing_spellings(
    form: &mut Form<'_>,
    node: Option<Node>,
    missing: Option<&Node>,
    title: &str,
) -> Option<Vec<String>> {
    let usual = || CellRules::USUAL_MISSING.iter().map(|cell| (*cell).to_owned()).collect();
    let Some(node) = node else { return Some(missing.map(|_| usual()).unwrap_or_default()) };
    let what = format!("`missing_values` in {title}");
    if missing.is_none() {
        let message = format!("{what} does not apply: nothing is said about missing values");
        form.note(Rule::DoesNotApply, node.at, message, "add missing = \"category\", or remove it");
        return None;
    }
    let Value::List(items) = node.value else {
        form.wrong_type(&node, &what, "a list, such as [\"\", \"NA\"]");
        return None;
    };
    let mut texts: Vec<String> = Vec::new();
    let valid = (1..=MAX_MISSING_VALUES).contains(&items.len())
        && items.iter().all(|item| match &item.value {
            Value::Text(text) if text.is_empty() || clean_text(text).is_ok() => {
                let clean = clean_text(text).unwrap_or_default();
                let new = !texts.contains(&clean);
                texts.push(clean);
                new
            }
            _ => false,
        });
    if !valid {
        let message = format!(
            "{what} is not a list of different texts, without spaces around them or characters that cannot be seen"
        );
        let remedy = format!("list from 1 to {MAX_MISSING_VALUES}, such as [\"\", \"NA\"]");
        form.note(Rule::OutOfRange, node.at, message, &remedy);
    }
    valid.then_some(texts)
}

fn truth_values() -> Result<Taxonomy, Error> {
    let mut values = TaxonomyBuilder::new();
    values.open(BOOLEAN_ROOT)?;
    values.leaf("true")?;
    values.leaf("false")?;
    values.finish()
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
    key: &str,
    title: &str,
    domain: &Domain,
) -> Option<OnBadValue> {
    let at = node.at;
    let what = format!("`{key}` in {title}");
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
                Value::Text(text) => domain.parse(text).ok(),
                Value::Integer(number) if !domain.is_date() => number.map(Decimal::from),
                _ => None,
            };
            let number = number.filter(|number| {
                number.scale() <= 9 && *number >= domain.min() && *number <= domain.max()
            });
            if number.is_none() {
                let kind = if domain.is_date() { "date" } else { "number" };
                let message = format!("{what} is neither a word nor a {kind} of the range");
                let remedy = format!(
                    "use \"refuse\", \"drop\", or a {kind} from {} to {} to read it as",
                    domain.write(domain.min()),
                    domain.write(domain.max())
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
