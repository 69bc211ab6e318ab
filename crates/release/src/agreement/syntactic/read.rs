//! The section of a model that hides people in groups, such as [lkc].

use super::{
    Elements, Linkage, MOST_COMBINATIONS, MOST_ELEMENTS, MOST_LISTED, Requirement, Score, Search,
    Sensitive, Terms,
};
use crate::agreement::diffgen::Profile;
use crate::agreement::form::{Form, Section};
use crate::agreement::model::{Model, Sections};
use crate::agreement::node::{Node, Value};
use crate::agreement::problem::Rule;
use crate::agreement::read::{Divided, Kind, MAX_ATTRIBUTES};
use crate::table::{Decimal, Domain, Schema, nearest};

/// The section of a model whose keys differ.
const LATTICE: &str = "lattice";
pub(in crate::agreement) const ACKNOWLEDGE: &str = "acknowledge";
pub(super) const REQUIREMENT: &str = "requirement";
pub(super) const LINKAGE: &str = "linkage";
pub(super) const SLACK: &str = "slack";
pub(super) const PROFILE: &str = "profile";
/// The keys of [release] that are the model's own.
pub(in crate::agreement) const RELEASE_KEYS: &[&str] = &[PROFILE];
/// What must be acknowledged in so many words.
pub(in crate::agreement) const ACKNOWLEDGED: &str = "not differentially private";
const KEYS: [&str; 7] = [ACKNOWLEDGE, "l", "k", "c", REQUIREMENT, "sensitive", "protect"];
const MAX_REQUIREMENTS: usize = 64;
pub(in crate::agreement) const MAX_PROTECTED: usize = 255;
/// Decimals of `c` where two parties compare: its bounds must fit the words that are shared.
const MOST_DECIMALS: u64 = 1_000_000_000;

pub(in crate::agreement) fn model(
    form: &mut Form<'_>,
    Sections { word, release, top }: Sections<'_>,
    divided: Option<Divided>,
) -> Option<(Model, usize)> {
    let kind = divided.map(|divided| divided.kind);
    let (terms, at) = read(form, release, top, word, kind)?;
    Some((Model::Syntactic(terms), at))
}

/// The terms in the section called `title`, and its position.
fn read(
    form: &mut Form<'_>,
    release: &mut Section,
    top: &mut Section,
    title: &str,
    kind: Option<Kind>,
) -> Option<(Terms, usize)> {
    form.refuse(top, "crypto", "this model leaves no choice of cryptography");
    let remedy = format!("add a section [{title}], with k = 5 and what else is required");
    let node = form.required(top, title, &remedy)?;
    let at = node.at;
    if matches!(kind, Some(Kind::Vertical | Kind::Horizontal)) && title == LATTICE {
        let message = format!("model = \"{title}\" is for one party");
        let remedy = "use partition = \"local\", or model = \"lkc\", which two parties can run";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
    let own: &[&str] =
        if title == LATTICE { &["search"] } else { &["score", "beneficial", LINKAGE, SLACK] };
    let keys: Vec<&str> = KEYS.iter().chain(own).copied().collect();
    let mut section = form.section(node, &format!("[{title}]"), &keys)?;
    let section = &mut section;
    acknowledged(form, section);
    let requirements = requirements(form, section);
    let sensitive = sensitive(form, section);
    let search = match title == LATTICE {
        true => elements(form, section),
        false => top_down(form, section, kind),
    };
    let linkage = linkage(form, release, section, kind);
    let slack = slack(form, section, kind);
    let (requirements, sensitive, search) = (requirements?, sensitive?, search?);
    Some((Terms { requirements, sensitive, search, linkage: linkage?, slack: slack? }, at))
}

/// `None` if something is wrong.
#[allow(clippy::option_option, reason = "no bound is a result")]
fn slack(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
) -> Option<Option<Decimal>> {
    if !matches!(kind, Some(Kind::Vertical) | None) {
        let why = "only parties with columns of their own take turns";
        form.refuse(section, SLACK, why);
        return Some(None);
    }
    let Some(node) = section.take(SLACK) else { return Some(None) };
    let at = node.at;
    let slack = form.decimal(node, &section.name_of(SLACK), false)?;
    let good = slack >= Decimal::ZERO && slack.ratio().1 <= MOST_DECIMALS;
    if !good {
        let message = format!("{} is {slack}", section.name_of(SLACK));
        form.note(Rule::OutOfRange, at, message, "use a decimal from 0 up, such as \"0.01\"");
    }
    good.then_some(Some(slack))
}

/// What the parties of a vertical release tell each other; `None` if something is wrong.
#[allow(clippy::option_option, reason = "nothing to be linked is a result")]
fn linkage(
    form: &mut Form<'_>,
    release: &mut Section,
    section: &mut Section,
    kind: Option<Kind>,
) -> Option<Option<Linkage>> {
    if !matches!(kind, Some(Kind::Vertical) | None) {
        let why = "only the parties of a vertical release have columns of the same people";
        form.refuse(section, LINKAGE, why);
        form.refuse(release, PROFILE, why);
        return Some(None);
    }
    let profile = match release.take(PROFILE) {
        Some(node) => form.word(node, &release.name_of(PROFILE), Profile::ALL)?,
        None => Profile::Default,
    };
    let usual = if profile == Profile::Paper { Linkage::Rows } else { Linkage::Sealed };
    let Some(node) = section.take(LINKAGE) else { return Some(Some(usual)) };
    let at = node.at;
    let chosen = form.word(node, &section.name_of(LINKAGE), Linkage::ALL)?;
    if chosen != usual {
        let (message, remedy) = match chosen {
            Linkage::Rows => (
                "`linkage` is \"rows\", by which each party learns generalized values of every common \
                 person, as in the papers",
                "add profile = \"paper\" to [release] if that is meant, or use \"sealed\"",
            ),
            Linkage::Sealed => (
                "`linkage` is \"sealed\", and profile = \"paper\" fixes it to \"rows\"",
                "remove `profile` in [release]",
            ),
        };
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
    Some(Some(chosen))
}

fn top_down(form: &mut Form<'_>, section: &mut Section, kind: Option<Kind>) -> Option<Search> {
    let score = match section.take("score") {
        Some(node) => {
            let at = node.at;
            let score = form.word(node, &section.name_of("score"), Score::ALL);
            score.inspect(|score| check_score(form, *score, kind, at))
        }
        None if kind == Some(Kind::Horizontal) => Some(Score::Max),
        None => Some(Score::InfoGain),
    };
    let beneficial = match section.take("beneficial") {
        Some(node) => form.truth(&node, &section.name_of("beneficial")),
        None => Some(true),
    };
    Some(Search::TopDown { score: score?, beneficial: beneficial? })
}

/// Some scores need what no party knows.
fn check_score(form: &mut Form<'_>, score: Score, kind: Option<Kind>, at: usize) {
    if score != Score::Max && kind == Some(Kind::Horizontal) {
        let message = format!(
            "`score` in [lkc] cannot be \"{}\" in a horizontal release: it is not computed between two \
             parties that hold different people",
            score.word()
        );
        form.note(Rule::DoesNotApply, at, message, "use \"max\"");
    }
    let of_all = matches!(score, Score::GainPerLoss | Score::DiscernibilityDrop);
    if of_all && kind == Some(Kind::Vertical) {
        let message = format!(
            "`score` in [lkc] cannot be \"{}\" between two parties: it depends on groups of which \
             neither may know the sizes",
            score.word()
        );
        let remedy = "use \"info-gain\", \"gain-ratio\" or \"max\"";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
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
    } else if terms.listed(schema) > MOST_LISTED {
        let message = "the cuts of an attribute with so many leaves are too many to be listed";
        let remedy = "use search = \"levels\", or fewer values that have children";
        form.note(Rule::TooLarge, at, message.to_owned(), remedy);
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
            let most = 1..=MAX_ATTRIBUTES;
            let example = "[\"job\", \"age\"]";
            Some(form.distinct_texts(node, &section.name_of("attributes"), most, example)?)
        }
        None => None,
    };
    let l = match section.take("l") {
        Some(node) => Some(form.integer(node, &section.name_of("l"), 1..=MAX_ATTRIBUTES as i64)?),
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

/// What two parties cannot do together.
fn check_for_two(form: &mut Form<'_>, schema: &Schema, terms: &Terms, at: usize) {
    if let Some(owner) = schema.class.owner {
        let message = format!(
            "`owner` in [class] cannot be \"{owner}\" with model = \"lkc\": each party scores its own \
             columns by the class, so both must have it"
        );
        let remedy = "use owner = \"both\" in [class] and give both parties the column, or use model = \
                      \"diffgen\", where one party may have it alone";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
    if terms.requirements.iter().any(|one| one.c.ratio().1 > MOST_DECIMALS) {
        let message = "`c` has more than 9 decimals, which two parties do not compare".to_owned();
        form.note(Rule::OutOfRange, at, message, "round it down");
    }
}

/// Sees that the attributes and values that the terms name are there and of the right kind.
pub(in crate::agreement) fn check(
    form: &mut Form<'_>,
    schema: &Schema,
    terms: &Terms,
    kind: Option<Kind>,
    at: usize,
) {
    if matches!(kind, Some(Kind::Vertical | Kind::Horizontal)) {
        check_for_two(form, schema, terms, at);
    }
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
