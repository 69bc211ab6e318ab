//! From a file to an agreement: which keys there are, and every rule between them.

mod attributes;

use super::form::{Form, Section};
use super::node::{Node, Source, Value};
use super::problem::{Problem, Problems, Rule};
use super::*;
use crate::table::{Class, Normalization};

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
];
const MAX_SPECIALIZATIONS: i64 = 1_024;
const MAX_RECORDS: i64 = 100_000_000;
const MAX_EPSILON: i64 = 100;
const MAX_CLASSES: usize = 256;
const NORMALIZATIONS: &[(&str, Normalization)] = &[
    ("trim", Normalization::Trim),
    ("nfc", Normalization::Nfc),
    ("uppercase", Normalization::Uppercase),
    ("lowercase", Normalization::Lowercase),
];

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
) -> Result<Agreement, Problems> {
    let source = Source::new(name, bytes, MAX_FILE_BYTES)?;
    let document = source.toml()?;
    agreement(&source, document, Origin::File(taxonomy_file))
}

pub(super) fn from_json(bytes: &[u8]) -> Result<Agreement, Problems> {
    let source = Source::new("canonical form", bytes, MAX_CANONICAL_BYTES)?;
    let document = source.json()?;
    agreement(&source, document, Origin::Canonical)
}

fn agreement(
    source: &Source<'_>,
    document: Node,
    origin: Origin<'_>,
) -> Result<Agreement, Problems> {
    let mut form = Form::new(source);
    let agreement = whole(&mut form, document, origin);
    form.problems.sort();
    match agreement {
        Some(agreement) if form.problems.is_empty() => Ok(agreement),
        _ => Err(form.problems),
    }
}

/// Reads everything, whatever is wrong with parts of it, so that all problems are found at once.
fn whole(form: &mut Form<'_>, document: Node, origin: Origin<'_>) -> Option<Agreement> {
    let canonical_sections: Vec<&str> = SECTIONS.iter().copied().chain(["format"]).collect();
    let known = if matches!(origin, Origin::File(_)) { SECTIONS } else { &canonical_sections };
    let mut top = form.section(document, "the agreement", known)?;
    if matches!(origin, Origin::Canonical) {
        let format = form.required(&mut top, "format", "use the same version at both parties")?;
        form.word(format, "`format`", &[(canonical::FORMAT, ())])?;
    }
    let mut release = form
        .required(&mut top, "release", "add a section [release]; see examples/loans")
        .and_then(|node| form.section(node, "[release]", RELEASE_KEYS));
    let kind = release.as_mut().and_then(|release| partition(form, release));

    let terms = release.and_then(|release| terms(form, release, kind));
    let parties = parties(form, &mut top, kind);
    let identifier = identifier(form, &mut top, kind, terms.as_ref());
    let class = class(form, &mut top);
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
        schema,
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

/// The section [release], without the partition.
struct Terms {
    id: String,
    epsilon: Epsilon,
    specializations: u32,
    specializations_at: usize,
    utility: Utility,
    selection: Selection,
    noise: Noise,
    structure_share: Decimal,
    profile: Profile,
    max_records: u64,
    overlap_check: bool,
}

fn terms(form: &mut Form<'_>, mut release: Section, kind: Option<Kind>) -> Option<Terms> {
    let section = &mut release;
    let id = form
        .required(section, "id", "add id = \"…\", a name for this release such as \"loans-2026q4\"")
        .and_then(|node| release_id(form, node));
    let epsilon = form
        .required(section, "epsilon", "add epsilon = \"1.0\", the privacy budget of this release")
        .and_then(|node| epsilon(form, node));
    let specializations = form.required(
        section,
        "specializations",
        "add specializations = 10, the number of times a value is replaced by finer ones",
    );
    let specializations_at = specializations.as_ref().map_or(section.at(), |node| node.at);
    let specializations = specializations.and_then(|node| {
        form.integer(node, "`specializations` in [release]", 1..=MAX_SPECIALIZATIONS)
    });
    let max_records = form
        .required(
            section,
            "max_records",
            "add max_records = 100000, a public bound on the number of records",
        )
        .and_then(|node| form.integer(node, "`max_records` in [release]", 1..=MAX_RECORDS));
    let profile = match section.take("profile") {
        Some(node) => form.word(node, "`profile` in [release]", Profile::ALL),
        None => Some(Profile::Default),
    };
    let overlap_check = match (kind, section.take("overlap_check")) {
        (_, None) => Some(false),
        (Some(Kind::Vertical | Kind::Local), Some(node)) => {
            let why = "`overlap_check` in [release] does not apply: it counts the people who are \
                       in both tables of a horizontal release";
            form.note(Rule::DoesNotApply, node.at, why.to_owned(), "remove `overlap_check`");
            None
        }
        (_, Some(Node { value: Value::Boolean(on), .. })) => Some(on),
        (_, Some(node)) => {
            form.wrong_type(&node, "`overlap_check` in [release]", "true or false");
            None
        }
    };
    let choices = profile.and_then(|profile| choices(form, section, kind, profile));

    let (utility, selection, noise, structure_share) = choices?;
    Some(Terms {
        id: id?,
        epsilon: epsilon?,
        specializations: u32::try_from(specializations?).ok()?,
        specializations_at,
        utility,
        selection,
        noise,
        structure_share,
        profile: profile?,
        max_records: max_records?,
        overlap_check: overlap_check?,
    })
}

/// The four choices that the profile `paper` fixes; where left out, they are as in the papers.
fn choices(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
    profile: Profile,
) -> Option<(Utility, Selection, Noise, Decimal)> {
    let papers_noise = if kind == Some(Kind::Local) { Noise::Single } else { Noise::TwoParty };
    let half = Decimal::parse("0.5").ok()?;
    let utility = choice(form, section, "utility", Utility::ALL, Utility::Max);
    let selection = choice(form, section, "selection", Selection::ALL, Selection::Exponential);
    let noise = choice(form, section, "noise", Noise::ALL, papers_noise);
    let share = match section.take("structure_share") {
        Some(node) => {
            let at = node.at;
            structure_share(form, node).map(|share| (share, at))
        }
        None => Some((half, 0)),
    };

    if profile == Profile::Paper {
        let word = |chosen: Option<(&'static str, usize)>| chosen;
        let fixed = [
            ("utility", Utility::Max.word(), word(utility.map(|(u, at)| (u.word(), at)))),
            (
                "selection",
                Selection::Exponential.word(),
                word(selection.map(|(s, at)| (s.word(), at))),
            ),
            ("noise", papers_noise.word(), word(noise.map(|(n, at)| (n.word(), at)))),
            (
                "structure_share",
                "0.5",
                share.map(|(s, at)| (if s == half { "0.5" } else { "" }, at)),
            ),
        ];
        for (key, papers, chosen) in fixed {
            if let Some((_, at)) = chosen.filter(|(chosen, _)| *chosen != papers) {
                let message =
                    format!("`{key}` in [release]: profile = \"paper\" fixes it to \"{papers}\"");
                let remedy = format!("remove `{key}`, or use profile = \"default\"");
                form.note(Rule::DoesNotApply, at, message, &remedy);
            }
        }
    }
    if let (Some(Kind::Horizontal), Some((Utility::InfoGain, at))) = (kind, utility) {
        let message = "`utility` in [release] cannot be \"info-gain\" in a horizontal release: \
                       its logarithms are not computed between two parties";
        let remedy = "use \"leaf-max\", which is usually more accurate, or \"max\"";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
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

fn release_id(form: &mut Form<'_>, node: Node) -> Option<String> {
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

fn parties(form: &mut Form<'_>, top: &mut Section, kind: Option<Kind>) -> Option<Parties> {
    if kind == Some(Kind::Local) {
        let why = "a local release has one party only";
        form.refuse(top, "parties", why);
        form.refuse(top, "crypto", why);
        return None;
    }
    let paillier_bits = match top.take("crypto") {
        Some(node) => form.section(node, "[crypto]", &["paillier_bits"]).and_then(|mut crypto| {
            let Some(node) = crypto.take("paillier_bits") else { return Some(3072) };
            let at = node.at;
            let bits = form.integer(node, "`paillier_bits` in [crypto]", 2048..=3072)?;
            let good = bits == 2048 || bits == 3072;
            if !good {
                let message = format!("`paillier_bits` in [crypto] is {bits}");
                form.note(Rule::OutOfRange, at, message, "use 3072, or 2048 for speed");
            }
            good.then_some(bits)
        }),
        None => Some(3072),
    };
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
    Some(Parties { p1, p2, paillier_bits: u32::try_from(paillier_bits?).ok()? })
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
            let fingerprint = parse_fingerprint(&text);
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

fn parse_fingerprint(text: &str) -> Option<Fingerprint> {
    let digits = text.strip_prefix("sha256:")?.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut fingerprint = [0; 32];
    for (byte, pair) in fingerprint.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |ascii: u8| char::from(ascii).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(Fingerprint(fingerprint))
}

fn identifier(
    form: &mut Form<'_>,
    top: &mut Section,
    kind: Option<Kind>,
    terms: Option<&Terms>,
) -> Option<Identifier> {
    match kind {
        Some(Kind::Local) => {
            form.refuse(top, "id", "one party need not find its own records");
            return None;
        }
        Some(Kind::Horizontal) if terms.is_some_and(|terms| !terms.overlap_check) => {
            let why = "the parties of a horizontal release hold different people, and \
                       `overlap_check` is off";
            form.refuse(top, "id", why);
            return None;
        }
        Some(Kind::Horizontal) if terms.is_none() => {
            // Whether it is needed cannot be said yet, but what stands there is checked.
            top.take("id").and_then(|node| identifier_section(form, node));
            return None;
        }
        _ => {}
    }
    let remedy = "add a section [id] with `column` and `normalize`: how both find the same person";
    let node = form.required(top, "id", remedy)?;
    identifier_section(form, node)
}

fn identifier_section(form: &mut Form<'_>, node: Node) -> Option<Identifier> {
    let mut section = form.section(node, "[id]", &["column", "normalize"])?;
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
    if normalize.contains(&Normalization::Uppercase)
        && normalize.contains(&Normalization::Lowercase)
    {
        let message = format!("{what} asks for upper and for lower case");
        form.note(Rule::DoesNotApply, at, message, "keep one of them");
        return None;
    }
    // The order of application is fixed, so the order of the file means nothing.
    normalize.sort();
    Some(Identifier { column: column?, normalize })
}

fn class(form: &mut Form<'_>, top: &mut Section) -> Option<Class> {
    let remedy = "add a section [class] with `column` and `values`: what the release helps predict";
    let node = form.required(top, "class", remedy)?;
    let mut section = form.section(node, "[class]", &["column", "values"])?;
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
    Some(Class { column: column?, values: values? })
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
fn enough_to_specialize(form: &mut Form<'_>, schema: &Schema, terms: &Terms) {
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
