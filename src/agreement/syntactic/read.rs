//! The section of a model that hides people in groups, such as [lkc].

use super::{
    Elements, MOST_COMBINATIONS, MOST_ELEMENTS, Requirement, Score, Search, Sensitive, Terms,
};
use crate::agreement::form::{Form, Section};
use crate::agreement::node::{Node, Value};
use crate::agreement::problem::Rule;
use crate::agreement::read::Kind;
use crate::table::{Decimal, Domain, Schema, nearest};

/// The section of a model whose keys differ.
const LATTICE: &str = "lattice";
pub(in crate::agreement) const ACKNOWLEDGE: &str = "acknowledge";
pub(super) const REQUIREMENT: &str = "requirement";
/// What must be acknowledged in so many words.
pub(in crate::agreement) const ACKNOWLEDGED: &str = "not differentially private";
const KEYS: [&str; 7] = [ACKNOWLEDGE, "l", "k", "c", REQUIREMENT, "sensitive", "protect"];
const MAX_REQUIREMENTS: usize = 64;
const MAX_ATTRIBUTES: i64 = 256;
pub(in crate::agreement) const MAX_PROTECTED: usize = 255;

/// The terms in the section called `title`, and where it stands.
pub(in crate::agreement) fn read(
    form: &mut Form<'_>,
    top: &mut Section,
    title: &str,
    kind: Option<Kind>,
) -> Option<(Terms, usize)> {
    form.refuse(top, "crypto", "this model is for one party, which computes alone");
    let remedy = format!("add a section [{title}], with k = 5 and what else is required");
    let node = form.required(top, title, &remedy)?;
    let at = node.at;
    if matches!(kind, Some(Kind::Vertical | Kind::Horizontal)) {
        let message = format!("model = \"{title}\" is for one party");
        let remedy = "use partition = \"local\", or model = \"diffgen\", which two parties can run";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
    let own: &[&str] = if title == LATTICE { &["search"] } else { &["score", "beneficial"] };
    let keys: Vec<&str> = KEYS.iter().chain(own).copied().collect();
    let mut section = form.section(node, &format!("[{title}]"), &keys)?;
    let section = &mut section;
    acknowledged(form, section);
    let requirements = requirements(form, section);
    let sensitive = sensitive(form, section);
    let search = if title == LATTICE { elements(form, section) } else { top_down(form, section) };
    Some((Terms { requirements: requirements?, sensitive: sensitive?, search: search? }, at))
}

fn top_down(form: &mut Form<'_>, section: &mut Section) -> Option<Search> {
    let score = match section.take("score") {
        Some(node) => form.word(node, &section.name_of("score"), Score::ALL),
        None => Some(Score::InfoGain),
    };
    let beneficial = match section.take("beneficial") {
        Some(node) => form.truth(&node, &section.name_of("beneficial")),
        None => Some(true),
    };
    Some(Search::TopDown { score: score?, beneficial: beneficial? })
}

fn elements(form: &mut Form<'_>, section: &mut Section) -> Option<Search> {
    let by = match section.take("search") {
        Some(node) => form.word(node, &section.name_of("search"), Elements::ALL)?,
        None => Elements::Levels,
    };
    Some(Search::Lattice(by))
}

/// A lattice is made of taxonomies, and must not be too large to be looked at.
fn check_lattice(form: &mut Form<'_>, schema: &Schema, terms: &Terms, at: usize) {
    for place in terms.quasi(schema) {
        let attribute = &schema.attributes[place];
        if matches!(attribute.domain, Domain::Numeric(_)) {
            let message =
                format!("attribute `{}` is a number, which has no levels", attribute.name);
            let remedy =
                "give it a taxonomy of bands, or use model = \"lkc\", which splits numbers";
            form.note(Rule::DoesNotApply, at, message, remedy);
        }
    }
    let elements = terms.elements(schema);
    if elements > MOST_ELEMENTS {
        let message = format!("there are {elements} tables to look at, above {MOST_ELEMENTS}");
        let remedy =
            "use search = \"levels\", fewer attributes, or model = \"lkc\", which looks at few";
        form.note(Rule::TooLarge, at, message, remedy);
    }
}

pub(in crate::agreement) fn acknowledged(form: &mut Form<'_>, section: &mut Section) {
    let remedy = format!(
        "add {ACKNOWLEDGE} = \"{ACKNOWLEDGED}\" once you know what that means, or use model = \
         \"diffgen\", which is"
    );
    let Some(node) = form.required(section, ACKNOWLEDGE, &remedy) else { return };
    form.word(node, &section.name_of(ACKNOWLEDGE), &[(ACKNOWLEDGED, ())]);
}

/// A list, or the keys of its only entry.
fn requirements(form: &mut Form<'_>, section: &mut Section) -> Option<Vec<Requirement>> {
    let Some(node) = section.take(REQUIREMENT) else {
        return Some(vec![requirement(form, section)?]);
    };
    for key in ["l", "k", "c"] {
        form.refuse(section, key, "each `requirement` has its own");
    }
    let name = section.name_of(REQUIREMENT);
    let (Value::List(items), at) = (node.value, node.at) else {
        form.note(Rule::WrongType, node.at, format!("{name} is not a list"), "use two brackets");
        return None;
    };
    if items.is_empty() || items.len() > MAX_REQUIREMENTS {
        let remedy = format!("list from 1 to {MAX_REQUIREMENTS} of them");
        form.note(Rule::OutOfRange, at, format!("{name} has {} entries", items.len()), &remedy);
        return None;
    }
    let mut read = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let title = format!("requirement number {}", index + 1);
        let mut section = form.section(item, &title, &["attributes", "l", "k", "c"])?;
        read.push(requirement(form, &mut section)?);
    }
    Some(read)
}

fn requirement(form: &mut Form<'_>, section: &mut Section) -> Option<Requirement> {
    let attributes = match section.take("attributes") {
        Some(node) => {
            let most = 1..=usize::try_from(MAX_ATTRIBUTES).unwrap_or(0);
            let example = "[\"job\", \"age\"]";
            Some(form.distinct_texts(node, &section.name_of("attributes"), most, example)?)
        }
        None => None,
    };
    let l = match section.take("l") {
        Some(node) => Some(form.integer(node, &section.name_of("l"), 1..=MAX_ATTRIBUTES)?),
        None => None,
    };
    let (k, c) = people_in_a_group(form, section)?;
    Some(Requirement { attributes, l: l.and_then(|l| u32::try_from(l).ok()), k, c })
}

/// `k` and `c`, which must not both require nothing.
pub(in crate::agreement) fn people_in_a_group(
    form: &mut Form<'_>,
    section: &mut Section,
) -> Option<(u64, Decimal)> {
    let k = form.required(section, "k", "add k = 5, the least number of people in a group")?;
    let at = k.at;
    let k = form.integer(k, &section.name_of("k"), 1..=1_000_000_000)?;
    let c = match section.take("c") {
        Some(node) => part(form, node, &section.name_of("c"))?,
        None => Decimal::from(1),
    };
    if k == 1 && c == Decimal::from(1) {
        let message =
            format!("{} is 1 and `c` is \"1\", which requires nothing", section.name_of("k"));
        form.note(Rule::OutOfRange, at, message, "use k = 2 or more, or a smaller `c`");
        return None;
    }
    Some((k, c))
}

pub(in crate::agreement) fn part(form: &mut Form<'_>, node: Node, what: &str) -> Option<Decimal> {
    let at = node.at;
    let part = form.decimal(node, what, false)?;
    let good = part > Decimal::ZERO && part <= Decimal::from(1);
    if !good {
        let remedy = "use a decimal above 0 and up to \"1\", such as \"0.2\"";
        form.note(Rule::OutOfRange, at, format!("{what} is {part}"), remedy);
    }
    good.then_some(part)
}

/// `None` if something is wrong.
#[allow(clippy::option_option, reason = "nothing that is sensitive is a result")]
fn sensitive(form: &mut Form<'_>, section: &mut Section) -> Option<Option<Sensitive>> {
    let Some(node) = section.take("sensitive") else {
        form.refuse(section, "protect", "it lists values of the attribute that `sensitive` names");
        return Some(None);
    };
    let attribute = form.text(node, &section.name_of("sensitive"), "\"illness\"");
    let remedy = "add protect = [\"…\"], the values that nobody is to be known to have";
    let protect = form.required(section, "protect", remedy).and_then(|node| {
        form.distinct_texts(node, &section.name_of("protect"), 1..=MAX_PROTECTED, "[\"AIDS\"]")
    });
    Some(Some(Sensitive { attribute: attribute?, protect: protect? }))
}

/// Sees that the attributes and values that the terms name are there and of the right kind.
pub(in crate::agreement) fn check(form: &mut Form<'_>, schema: &Schema, terms: &Terms, at: usize) {
    if matches!(terms.search, Search::Lattice(_)) {
        check_lattice(form, schema, terms, at);
    }
    let combinations = terms.combinations(schema);
    if combinations > MOST_COMBINATIONS {
        let message = format!(
            "there are {combinations} combinations of attributes to test, above {MOST_COMBINATIONS}"
        );
        form.note(Rule::TooLarge, at, message, "use a smaller `l`, or fewer attributes");
    }
    let mut wrong =
        |message: String, remedy: &str| form.note(Rule::DoesNotApply, at, message, remedy);
    for attribute in &schema.attributes {
        if matches!(attribute.domain, Domain::Set(_)) {
            let message =
                format!("attribute `{}` is a set, which this model cannot hold", attribute.name);
            wrong(message, "leave it out, or use model = \"diffgen\"");
        }
    }
    if let Some(Sensitive { attribute, protect }) = &terms.sensitive {
        let found = schema.attributes.iter().find(|known| known.name == *attribute);
        match found.map(|found| &found.domain) {
            Some(Domain::Categorical(values)) => {
                for value in protect {
                    if values.find(value).is_none_or(|found| !values.is_leaf(found)) {
                        let leaves = values.leaves().iter().map(|leaf| values.name(*leaf));
                        let remedy = match nearest(value, leaves) {
                            Some(meant) => format!("did you mean {meant:?}?"),
                            None => "name leaves of its taxonomy".to_owned(),
                        };
                        wrong(format!("`{value}` is not a leaf of `{attribute}`"), &remedy);
                    }
                }
            }
            Some(_) => wrong(
                format!("the sensitive attribute `{attribute}` is not categorical"),
                "give it kind = \"categorical\" and a taxonomy",
            ),
            None => wrong(
                format!("there is no attribute `{attribute}`, which is said to be sensitive"),
                "add a section [[attribute]] for it",
            ),
        }
    } else if terms.requirements.iter().any(|one| one.c != Decimal::from(1)) {
        wrong(
            "`c` bounds nothing: no attribute is sensitive".into(),
            "add `sensitive` and `protect`",
        );
    }
    let quasi: Vec<&str> =
        terms.quasi(schema).map(|place| schema.attributes[place].name.as_str()).collect();
    if quasi.is_empty() {
        wrong("there is no attribute beside the sensitive one".to_owned(), "add one");
    }
    for requirement in &terms.requirements {
        let names = requirement.names(terms, schema);
        if let Some(name) = names.iter().find(|name| !quasi.contains(name)) {
            let message =
                format!("`{name}` is required of, but is not an attribute that is generalized");
            wrong(message, &format!("possible are: {}", quasi.join(", ")));
        }
        if let Some(l) = requirement.l.filter(|l| *l as usize > names.len()) {
            let message = format!("`l` is {l}, but there are {} attributes to know", names.len());
            wrong(message, &format!("use at most {}, or leave it out", names.len()));
        }
    }
}
