//! DiffGen's own keys of the sections [release] and [crypto].

use super::crypto;
use super::{AUTO, Noise, Profile, Selection, Specializations, Terms, Utility};
use crate::agreement::form::{Form, Section};
use crate::agreement::model::{Model, Sections};
use crate::agreement::node::{Node, Value};
use crate::agreement::problem::Rule;
use crate::agreement::read::release::MAX_RECORDS;
use crate::agreement::read::{Divided, Kind};
use crate::privacy::Epsilon;
use crate::privacy::taylor::{MOST_DEGREE, MOST_DIGITS, Taylor};
use crate::table::{Decimal, Domain, Schema};

/// The keys of [release] that are DiffGen's own.
pub(in crate::agreement) const KEYS: &[&str] = &[
    "epsilon",
    "specializations",
    "expected_records",
    "utility",
    "selection",
    "noise",
    "structure_share",
    "profile",
    "taylor_digits",
    "taylor_degree",
];
/// s and w where an agreement does not say them.
const USUAL_TAYLOR: (u64, u64) = (6, 16);
const MAX_EPSILON: i64 = 100;
const MAX_SPECIALIZATIONS: i64 = 1_024;

/// The terms, and the position of the number of specializations.
pub(in crate::agreement) fn model(
    form: &mut Form<'_>,
    Sections { release, top, .. }: Sections<'_>,
    divided: Option<Divided>,
) -> Option<(Model, usize)> {
    let (terms, at) = read(form, release, top, divided)?;
    Some((Model::DiffGen(terms), at))
}

fn read(
    form: &mut Form<'_>,
    section: &mut Section,
    top: &mut Section,
    divided: Option<Divided>,
) -> Option<(Terms, usize)> {
    let kind = divided.map(|divided| divided.kind);
    let class_owner = divided.and_then(|divided| divided.class_owner);
    let epsilon = form
        .required(section, "epsilon", "add epsilon = \"1.0\", the privacy budget of this release")
        .and_then(|node| epsilon(form, node));
    let (specializations, specializations_at) = specializations(form, section);
    let profile = choice(form, section, "profile", Profile::ALL, Profile::Default);
    if let (Some(owner), Some((Profile::Paper, at))) = (class_owner, profile) {
        let message = format!(
            "`profile` in [release] cannot be \"paper\" where {owner} alone has the class: in the \
             papers both have it"
        );
        let remedy = "use profile = \"default\", or owner = \"both\" in [class]";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
    if let (Some(Specializations::Auto { .. }), Some((Profile::Paper, at))) =
        (specializations, profile)
    {
        let message = "`profile` in [release] is \"paper\", and in the papers the number of \
                       specializations is given";
        form.note(Rule::MissingKey, at, message.to_owned(), "add specializations = 10, or another");
    }
    let profile = profile.map(|(profile, _)| profile);
    let choices = profile.and_then(|profile| choices(form, section, divided, profile));
    let taylor = taylor(form, section, kind, choices);
    let crypto = crypto::read(form, top, divided, profile, taylor);
    let (utility, selection, noise, structure_share) = choices?;
    let terms = Terms {
        epsilon: epsilon?,
        specializations: specializations?,
        utility,
        selection,
        noise,
        structure_share,
        profile: profile?,
        taylor: taylor?,
        count_table: crypto?.count_table,
        paillier_bits: crypto?.paillier_bits,
        transfers: crypto?.transfers,
    };
    Some((terms, specializations_at))
}

/// How many specializations, and the position of that number.
fn specializations(form: &mut Form<'_>, section: &mut Section) -> (Option<Specializations>, usize) {
    let name = section.name_of("specializations");
    let node = section.take("specializations");
    let at = node.as_ref().map_or(section.at(), |node| node.at);
    // A number in quotes is a slip of the pen, not another word.
    let is_word =
        |node: &Node| matches!(&node.value, Value::Text(word) if word.parse::<u64>().is_err());
    let auto = node.as_ref().is_none_or(is_word);
    let expected = section.take("expected_records");
    let given = match node {
        None => Some(None),
        Some(node) if auto => form.word(node, &name, &[(AUTO, None)]),
        Some(node) => form
            .integer(node, &name, 1..=MAX_SPECIALIZATIONS)
            .and_then(|number| u32::try_from(number).ok())
            .map(Some),
    };
    let expected_name = section.name_of("expected_records");
    let expected = match expected {
        None => Some(None),
        Some(node) if auto => form.integer(node, &expected_name, 1..=MAX_RECORDS).map(Some),
        Some(node) => {
            let why =
                format!("{expected_name} does not apply: the number of specializations is given");
            let remedy = "remove `expected_records`, or use specializations = \"auto\"";
            form.note(Rule::DoesNotApply, node.at, why, remedy);
            None
        }
    };
    let read = given.zip(expected).map(|(given, expected_records)| match given {
        Some(number) => Specializations::Given(number),
        None => Specializations::Auto { expected_records },
    });
    (read, at)
}

/// The budget is divided by the number of specializations: those that cannot happen waste it.
pub(in crate::agreement) fn enough_to_specialize(
    form: &mut Form<'_>,
    schema: &Schema,
    terms: &Terms,
    at: usize,
) {
    let possible: u64 = schema
        .attributes
        .iter()
        .map(|attribute| attribute.domain.possible_specializations())
        .fold(0, u64::saturating_add);
    let least = match terms.specializations {
        Specializations::Given(number) => u64::from(number),
        Specializations::Auto { .. } => 1,
    };
    if least > possible {
        let message = format!(
            "`specializations` in [release] is {}, but the attributes allow only {possible}",
            terms.specializations
        );
        let remedy = match possible {
            0 => "give an attribute more than one value".to_owned(),
            _ if terms.utility == Utility::Range => format!("use at most {possible}"),
            _ => format!("use at most {possible}: those that cannot happen would waste ε"),
        };
        form.note(Rule::OutOfRange, at, message, &remedy);
    }
}

/// A value of a set attribute is divided into the combinations that records have: noise decides which.
pub(in crate::agreement) fn no_sets(form: &mut Form<'_>, schema: &Schema, at: usize) {
    let sets = schema.attributes.iter().filter(|one| matches!(one.domain, Domain::Set(_)));
    for attribute in sets {
        let message = format!(
            "attribute `{}` is a set, and utility = \"range\" divides no sets: into which \
             combinations depends on the data",
            attribute.name
        );
        let remedy = "use kind = \"categorical\", leave it out, or use another utility";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
}

/// The polynomial of a horizontal release by the exponential mechanism: no other has one.
fn taylor(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
    choices: Option<(Utility, Selection, Noise, Decimal)>,
) -> Option<Option<Taylor>> {
    let keys = [
        ("taylor_digits", i64::from(MOST_DIGITS), USUAL_TAYLOR.0),
        ("taylor_degree", i64::from(MOST_DEGREE), USUAL_TAYLOR.1),
    ];
    let applies = kind == Some(Kind::Horizontal)
        && choices.is_none_or(|(_, selection, ..)| selection == Selection::Exponential);
    let mut numbers = Vec::new();
    for (key, most, usual) in keys {
        let name = section.name_of(key);
        match section.take(key) {
            Some(node) if !applies => {
                let why = format!(
                    "{name} does not apply: it describes the polynomial of a horizontal release \
                     with selection = \"exponential\""
                );
                form.note(Rule::DoesNotApply, node.at, why, &format!("remove `{key}`"));
                numbers.push(None);
            }
            Some(node) => numbers.push(form.integer(node, &name, 1..=most)),
            None => numbers.push(Some(usual)),
        }
    }
    let [digits, degree] = numbers[..] else { return None };
    let [digits, degree] = [digits?, degree?].map(|number| u32::try_from(number).ok());
    let taylor = Taylor::new(digits?, degree?).ok()?;
    Some(applies.then_some(taylor))
}

/// The four choices that the profile `paper` fixes. Where left out otherwise, they are what
/// cross-validation found best (`docs/experiments/adult.md`) among what the partition can do.
fn choices(
    form: &mut Form<'_>,
    section: &mut Section,
    divided: Option<Divided>,
    profile: Profile,
) -> Option<(Utility, Selection, Noise, Decimal)> {
    let kind = divided.map(|divided| divided.kind);
    let one_class = divided.is_some_and(|divided| divided.class_owner.is_some());
    let hidden = divided.is_some_and(|divided| divided.hidden);
    let paper = profile == Profile::Paper;
    let horizontal = kind == Some(Kind::Horizontal);
    let flips = kind != Some(Kind::Local) && !paper;
    let papers_noise = if kind == Some(Kind::Local) { Noise::Single } else { Noise::TwoParty };
    let half = Decimal::parse("0.5").ok()?;
    // Where records are divided every leaf costs a piece of circuit, and the papers' approximation of
    // the exponential mechanism loses accuracy. Between any two parties a choice by noise takes a
    // fraction of the bytes, and is never worse on average at the same ε, up to the grid of its noise.
    let max = paper || horizontal || hidden;
    let usual_utility = if max { Utility::Max } else { Utility::LeafMax };
    let usual_selection = if flips { Selection::PermuteAndFlip } else { Selection::Exponential };
    let usual_noise = if paper || kind == Some(Kind::Local) { papers_noise } else { Noise::Joint };
    let usual_share = if paper { half } else { Decimal::parse("0.7").ok()? };
    let utility = choice(form, section, "utility", Utility::ALL, usual_utility);
    let by_range = matches!(utility, Some((Utility::Range, _))) && !paper;
    if by_range {
        for key in ["selection", "structure_share"] {
            let why = "with utility = \"range\" the tree follows from this agreement alone: nothing is \
                       chosen by the data, and all of ε goes to the counts";
            form.refuse(section, key, why);
        }
    }
    let usual_selection = if by_range { Selection::PermuteAndFlip } else { usual_selection };
    let usual_share = if by_range { Decimal::ZERO } else { usual_share };
    let selection = choice(form, section, "selection", Selection::ALL, usual_selection);
    let noise = choice(form, section, "noise", Noise::ALL, usual_noise);
    let share = match section.take("structure_share") {
        Some(node) => {
            let at = node.at;
            structure_share(form, node).map(|share| (share, at))
        }
        None => Some((usual_share, 0)),
    };

    if paper {
        let share = share.map(|(s, at)| (if s == half { "0.5" } else { "" }, at));
        fixed_by_the_papers(
            form,
            [
                ("utility", Utility::Max.word(), utility.map(|(u, at)| (u.word(), at))),
                (
                    "selection",
                    Selection::Exponential.word(),
                    selection.map(|(s, at)| (s.word(), at)),
                ),
                ("noise", papers_noise.word(), noise.map(|(n, at)| (n.word(), at))),
                ("structure_share", "0.5", share),
            ],
        );
    }
    if one_class && !paper {
        one_class_choices(form, utility, selection);
    }
    if hidden && !paper {
        hidden_choices(form, utility, noise);
    }
    if horizontal {
        horizontal_choices(form, utility, selection);
    }
    if let (Some(kind), Some((noise, at))) = (kind, noise)
        && profile == Profile::Default
        && (kind == Kind::Local) != (noise == Noise::Single)
    {
        let (message, remedy) = if kind == Kind::Local {
            ("a local release has only one noise", "remove `noise`")
        } else {
            ("a release of two parties needs the noise of both", "use \"two-party\" or \"joint\"")
        };
        form.note(Rule::DoesNotApply, at, format!("`noise` in [release]: {message}"), remedy);
    }
    Some((utility?.0, selection?.0, noise?.0, share?.0))
}

/// Where records are divided, scores of all columns are computed by both.
fn horizontal_choices(
    form: &mut Form<'_>,
    utility: Option<(Utility, usize)>,
    selection: Option<(Selection, usize)>,
) {
    if let Some((Utility::InfoGain, at)) = utility {
        let message = "`utility` in [release] cannot be \"info-gain\" in a horizontal release: \
                       its logarithms are not computed between two parties";
        let remedy = "use \"leaf-max\", which is usually more accurate, or \"max\"";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
    if let (Some((Utility::LeafMax, at)), Some((Selection::Exponential, _))) = (utility, selection)
    {
        let message = "`utility` in [release] cannot be \"leaf-max\" in a horizontal release \
                       with selection = \"exponential\": its polynomial takes scores of `max`";
        let remedy = "use selection = \"permute-and-flip\", or utility = \"max\"";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
}

/// Where one party has the class, scores of the other's columns are shares of largest class counts.
fn one_class_choices(
    form: &mut Form<'_>,
    utility: Option<(Utility, usize)>,
    selection: Option<(Selection, usize)>,
) {
    if let Some((Utility::InfoGain, at)) = utility {
        let message = "`utility` in [release] cannot be \"info-gain\" where one party alone has the \
                       class: its logarithms are not computed between two parties";
        let remedy = "use \"leaf-max\" or \"max\", or owner = \"both\" in [class]";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
    if let Some((Selection::Exponential, at)) = selection {
        let message = "`selection` in [release] cannot be \"exponential\" where one party alone has \
                       the class: nobody knows the scores that it would weigh";
        let remedy = "use \"permute-and-flip\", or owner = \"both\" in [class]";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
}

/// Where nobody learns who is common, all scores and counts are shares of both.
fn hidden_choices(
    form: &mut Form<'_>,
    utility: Option<(Utility, usize)>,
    noise: Option<(Noise, usize)>,
) {
    if let Some((Utility::LeafMax, at)) = utility {
        let message = "`utility` in [release] cannot be \"leaf-max\" where membership = \"hidden\": \
                       nobody may count the people of a leaf";
        form.note(Rule::DoesNotApply, at, message.to_owned(), "use utility = \"max\"");
    }
    if let Some((Noise::TwoParty, at)) = noise {
        let message = "`noise` in [release] cannot be \"two-party\" where membership = \"hidden\": \
                       one noise that neither party knows protects towards both";
        form.note(Rule::DoesNotApply, at, message.to_owned(), "use noise = \"joint\"");
    }
}

/// A word that was chosen, and where.
type Chosen<'a> = Option<(&'a str, usize)>;

/// Rejects what differs from the papers: of each key the papers' word, and what was chosen where.
fn fixed_by_the_papers(form: &mut Form<'_>, fixed: [(&str, &str, Chosen<'_>); 4]) {
    for (key, papers, chosen) in fixed {
        if let Some((_, at)) = chosen.filter(|(chosen, _)| *chosen != papers) {
            let message =
                format!("`{key}` in [release]: profile = \"paper\" fixes it to \"{papers}\"");
            let remedy = format!("remove `{key}`, or use profile = \"default\"");
            form.note(Rule::DoesNotApply, at, message, &remedy);
        }
    }
}

/// A word with its place, or the default.
fn choice<T: Copy>(
    form: &mut Form<'_>,
    section: &mut Section,
    key: &str,
    words: &[(&str, T)],
    default: T,
) -> Option<(T, usize)> {
    let Some(node) = section.take(key) else { return Some((default, 0)) };
    let at = node.at;
    form.word(node, &section.name_of(key), words).map(|chosen| (chosen, at))
}

fn epsilon(form: &mut Form<'_>, node: Node) -> Option<Epsilon> {
    let at = node.at;
    let written = form.decimal(node, "`epsilon` in [release]", false)?;
    let limited = Some(written).filter(|epsilon| *epsilon <= Decimal::from(MAX_EPSILON));
    let epsilon = limited.and_then(|epsilon| epsilon.to_string().parse().ok());
    if epsilon.is_none() {
        let message = format!("`epsilon` in [release] is {written}");
        let remedy = format!("use more than 0 and at most {MAX_EPSILON}; 1 or less is usual");
        form.note(Rule::OutOfRange, at, message, &remedy);
    }
    epsilon
}

fn structure_share(form: &mut Form<'_>, node: Node) -> Option<Decimal> {
    let at = node.at;
    let share = form.decimal(node, "`structure_share` in [release]", false)?;
    let good = share > Decimal::ZERO && share < Decimal::ONE;
    if !good {
        let message = format!("`structure_share` in [release] is {share}");
        form.note(Rule::OutOfRange, at, message, "use a part of 1, such as \"0.5\"");
    }
    good.then_some(share)
}
