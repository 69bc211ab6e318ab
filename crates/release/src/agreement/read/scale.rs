//! The section [scale]: in how many shards a party's records may lie.

use super::super::form::{Form, Section};
use super::super::problem::Rule;
use super::super::{CountTable, MAX_SHARDS, Model};
use super::Kind;

/// How many shards there are, if any; the outer `None` if the section cannot be read.
#[allow(clippy::option_option, reason = "a key that is not there is a result")]
pub(super) fn read(
    form: &mut Form<'_>,
    top: &mut Section,
    kind: Option<Kind>,
    model: &Model,
    overlap_check: bool,
) -> Option<Option<u32>> {
    if !matches!(kind, Some(Kind::Vertical | Kind::Horizontal)) {
        form.refuse(top, "scale", "only releases by two parties are made in shards");
        return Some(None);
    }
    let Some(node) = top.take("scale") else { return Some(None) };
    let mut section = form.section(node, "[scale]", &["shards"])?;
    let Some(node) = section.take("shards") else { return Some(None) };
    let at = node.at;
    let shards = form.integer(node, &section.name_of("shards"), 1..=i64::from(MAX_SHARDS))?;
    let refused = match kind {
        Some(Kind::Horizontal) => refused_horizontally(model, overlap_check),
        _ => refused_vertically(model),
    };
    if let Some((why, remedy)) = refused {
        let message = format!("`shards` in [scale] does not apply: {why}");
        form.note(Rule::DoesNotApply, at, message, remedy);
        return None;
    }
    Some(u32::try_from(shards).ok())
}

/// Why there can be no shards, and what to do.
type Refusal = Option<(&'static str, &'static str)>;

fn refused_vertically(model: &Model) -> Refusal {
    let by_transfers = matches!(model, Model::DiffGen(terms)
        if terms.count_table == Some(CountTable::Transfers) && terms.transfers.is_some());
    let why = "what shards count is added up by oblivious transfers";
    let remedy = "remove `shards`, or use model = \"diffgen\" with count_table = \"transfers\" and \
                  without profile = \"paper\"";
    (!by_transfers).then_some((why, remedy))
}

fn refused_horizontally(model: &Model, overlap_check: bool) -> Refusal {
    if !matches!(model, Model::DiffGen(_)) {
        let why = "of horizontal releases those of model = \"diffgen\" alone count in shards";
        return Some((why, "remove `shards`, or use model = \"diffgen\""));
    }
    let why = "with `overlap_check` both would learn how many people are in both tables in every \
               shard, which is more than how many there are";
    overlap_check.then_some((why, "remove `shards`, or `overlap_check` and [id]"))
}
