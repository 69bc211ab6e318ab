//! What is asked of the people whom both parties of a vertical release have.

use super::super::form::{Form, Section};
use super::super::model::most_by_function;
use super::super::node::{Node, Value};
use super::super::problem::Rule;
use super::super::{MOST_EPSILON_HIDDEN, MatchBy, Matching, Membership, Model, Rehearsal};
use super::Kind;
use super::release::MAX_RECORDS;
use crate::math::Rational;
use crate::table::{Class, Decimal, Identifier};

/// The keys of [id] that say it.
pub(super) const KEYS: [&str; 6] =
    ["min_common", "rehearse", "rehearse_epsilon", "matching", "membership", "pad_to"];

/// What a noisy rehearsal spends where the agreement does not say.
const USUAL_REHEARSE_EPSILON: &str = "0.05";

/// The section [id].
pub(super) struct Matched {
    pub identifier: Identifier,
    pub asked: Asked,
}

impl Matched {
    /// Whether nobody is to learn who is common.
    pub fn is_hidden(&self) -> bool {
        self.asked.membership.is_some_and(|(membership, _)| membership.is_hidden())
    }
}

/// What stands in the section of the common people, each with its place.
#[derive(Default)]
pub(super) struct Asked {
    min_common: Option<(u64, usize)>,
    rehearse: Option<(Rehearsal, usize)>,
    by: Option<(MatchBy, usize)>,
    membership: Option<(Membership, usize)>,
    pad_to: Option<(u64, usize)>,
}

/// Takes the keys; nothing if one of them cannot be read.
pub(super) fn read(
    form: &mut Form<'_>,
    section: &mut Section,
    kind: Option<Kind>,
) -> Option<Asked> {
    if kind == Some(Kind::Horizontal) {
        for key in KEYS {
            form.refuse(section, key, "the parties of a horizontal release hold different people");
        }
        return Some(Asked::default());
    }
    let min_common = number(form, section, "min_common", 0);
    let rehearse = rehearsal(form, section);
    let by = word(form, section, "matching", MatchBy::ALL);
    let membership = word(form, section, "membership", Membership::ALL);
    let pad_to = number(form, section, "pad_to", 1);
    Some(Asked {
        min_common: min_common?,
        rehearse: rehearse?,
        by: by?,
        membership: membership?,
        pad_to: pad_to?,
    })
}

/// A key that need not be there, with its place; the outer `None` if it cannot be read.
#[allow(clippy::option_option, reason = "a key that is not there is a result")]
type Optional<T> = Option<Option<(T, usize)>>;

fn number(form: &mut Form<'_>, section: &mut Section, key: &str, least: i64) -> Optional<u64> {
    let Some(node) = section.take(key) else { return Some(None) };
    let at = node.at;
    let number = form.integer(node, &section.name_of(key), least..=MAX_RECORDS)?;
    Some(Some((number, at)))
}

fn word<T: Copy>(
    form: &mut Form<'_>,
    section: &mut Section,
    key: &str,
    words: &[(&str, T)],
) -> Optional<T> {
    let Some(node) = section.take(key) else { return Some(None) };
    let at = node.at;
    let chosen = form.word(node, &section.name_of(key), words)?;
    Some(Some((chosen, at)))
}

fn rehearsal(form: &mut Form<'_>, section: &mut Section) -> Optional<Rehearsal> {
    let given = section.take("rehearse_epsilon");
    let (epsilon_at, mut noisy) = (given.as_ref().map(|node| node.at), false);
    let epsilon = rehearse_epsilon(form, given);
    let exact = |rehearsal, at| Some(Some((rehearsal, at)));
    let rehearsal = match section.take("rehearse") {
        None | Some(Node { value: Value::Boolean(false), .. }) => Some(None),
        Some(Node { value: Value::Boolean(true), at, .. }) => exact(Rehearsal::Numbers, at),
        Some(node) if matches!(node.value, Value::Text(_)) => {
            let at = node.at;
            noisy = form.word(node, REHEARSE, &[("labels", false), ("noisy", true)])?;
            match noisy {
                false => exact(Rehearsal::Labels, at),
                true => Some(Some((Rehearsal::Noisy { epsilon: epsilon? }, at))),
            }
        }
        Some(node) => {
            form.wrong_type(&node, REHEARSE, "true, false, \"labels\" or \"noisy\"");
            None
        }
    };
    if let (false, Some(at)) = (noisy, epsilon_at) {
        let message = "`rehearse_epsilon` in [id] does not apply: a noisy rehearsal alone spends ε";
        let remedy = "add rehearse = \"noisy\", or remove `rehearse_epsilon`";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
    rehearsal
}

const REHEARSE: &str = "`rehearse` in [id]";

/// What a noisy rehearsal spends: no less than a millionth, as its noise would be larger than any
/// table, and no more than where membership is hidden, as people are found in the same way.
fn rehearse_epsilon(form: &mut Form<'_>, given: Option<Node>) -> Option<Decimal> {
    let what = "`rehearse_epsilon` in [id]";
    let Some(node) = given else { return Decimal::parse(USUAL_REHEARSE_EPSILON).ok() };
    let at = node.at;
    let epsilon = form.decimal(node, what, false)?;
    let most = Decimal::from(i64::from(MOST_EPSILON_HIDDEN));
    if epsilon.floor_units(6) < 1 || epsilon > most {
        let message = format!("{what} is {epsilon}");
        let remedy = format!("use at least 0.000001 and at most {most}; 0.05 is usual");
        form.note(Rule::OutOfRange, at, message, &remedy);
        return None;
    }
    Some(epsilon)
}

/// What the section says together with the rest of the agreement, defaults filled in.
pub(super) fn check(
    form: &mut Form<'_>,
    matched: &Matched,
    max_records: u64,
    class: &Class,
    model: &Model,
    shards: Option<u32>,
) -> Matching {
    let asked = &matched.asked;
    let membership = asked.membership.map_or(Membership::Shown, |(membership, _)| membership);
    if let (Membership::Hidden { .. }, Some((_, at))) = (membership, asked.membership) {
        return check_hidden(form, asked, at, max_records, class, model);
    }
    if let Some((_, at)) = asked.pad_to {
        let message = "`pad_to` in [id] does not apply: it hides how many records each party has, \
                       which both learn anyway where they learn who is common";
        let remedy = "remove `pad_to`, or add membership = \"hidden\"";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    }
    let by_encryption = model.matches_by_encryption(shards);
    if let (true, Some((MatchBy::Oprf, at))) = (by_encryption, asked.by) {
        let message = format!(
            "`matching` in [id] cannot be \"oprf\": profile = \"paper\", and every release with ε \
             above {}, finds common people by commutative encryption",
            most_by_function(shards)
        );
        let remedy = "remove `matching`, or use \"ristretto255\" or \"ffdhe3072\"";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
    if let Some((min_common, at)) = asked.min_common.filter(|(least, _)| *least > max_records) {
        let message = format!(
            "`min_common` in [id] is {min_common}, but no party has more than {max_records} records"
        );
        let remedy = "lower it, or raise `max_records` in [release]";
        form.note(Rule::OutOfRange, at, message, remedy);
    }
    let alone = class.owner.map(|owner| format!("{owner} alone has the class"));
    let alone = if class.is_none() { Some("there is no [class]".to_owned()) } else { alone };
    if let (Some((Rehearsal::Labels, at)), Some(why)) = (asked.rehearse, alone) {
        let message = format!(
            "`rehearse` in [id] cannot be \"labels\": {why}, so there is nothing to compare it with"
        );
        form.note(Rule::DoesNotApply, at, message, "use rehearse = \"noisy\", or true");
    }
    let usual = Matching::default();
    Matching {
        min_common: asked.min_common.map_or(usual.min_common, |(least, _)| least),
        rehearse: asked.rehearse.map(|(rehearsal, _)| rehearsal),
        by: asked.by.map_or_else(|| MatchBy::usual(by_encryption), |(by, _)| by),
        membership,
    }
}

/// Where nobody learns who is common, nothing may depend on how many are, and both parties compute on
/// shares alone.
fn check_hidden(
    form: &mut Form<'_>,
    asked: &Asked,
    at: usize,
    max_records: u64,
    class: &Class,
    model: &Model,
) -> Matching {
    let mut refuse = |at: usize, message: &str, remedy: &str| {
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
    };
    if class.owner.is_none() && !class.is_none() {
        let message = "`membership` in [id] cannot be \"hidden\" where both parties hold the class: \
                       whether their copies agree could not be told";
        refuse(at, message, "add owner = \"p1\" or owner = \"p2\" in [class], and use one copy");
    }
    if !matches!(model, Model::DiffGen(_)) {
        let message = "`membership` in [id] cannot be \"hidden\" with this model";
        refuse(at, message, "use model = \"diffgen\", or membership = \"shown\"");
    }
    if let Some(epsilon) = model.epsilon()
        && *epsilon.value() > Rational::whole(MOST_EPSILON_HIDDEN)
    {
        let message = format!(
            "`membership` in [id] cannot be \"hidden\" with ε = {epsilon}: with such an ε, what fails \
             rarely in finding common people would weigh more than δ allows"
        );
        refuse(at, &message, &format!("use an ε of at most {MOST_EPSILON_HIDDEN}"));
    }
    if let Some((_, at)) = asked.min_common {
        let message = "`min_common` in [id] does not apply where membership = \"hidden\": nobody \
                       learns how many people are common, so no run can depend on it";
        refuse(at, message, "remove `min_common`");
    }
    let rehearse = asked.rehearse.map(|(rehearsal, _)| rehearsal);
    if let Some((Rehearsal::Numbers | Rehearsal::Labels, at)) = asked.rehearse {
        let message = "`rehearse` in [id] can only be \"noisy\" where membership = \"hidden\": an \
                       exact rehearsal tells how many people are common";
        refuse(at, message, "use rehearse = \"noisy\", or remove `rehearse`");
    }
    if let Some((_, at)) = asked.by.filter(|(by, _)| *by != MatchBy::Oprf) {
        let message = "`matching` in [id] can only be \"oprf\" where membership = \"hidden\": who \
                       compares encrypted identifiers learns which are common";
        refuse(at, message, "remove `matching`");
    }
    if let Some((pad_to, at)) = asked.pad_to.filter(|(pad_to, _)| *pad_to > max_records) {
        let message = format!(
            "`pad_to` in [id] is {pad_to}, but `max_records` in [release] is {max_records}"
        );
        let remedy =
            "use the larger of both tables, rounded up generously, and at most `max_records`";
        form.note(Rule::OutOfRange, at, message, remedy);
    }
    let membership = Membership::Hidden { pad_to: asked.pad_to.map(|(records, _)| records) };
    Matching { min_common: 0, rehearse, by: MatchBy::Oprf, membership }
}
