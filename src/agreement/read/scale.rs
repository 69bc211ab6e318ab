//! The section [scale]: into how many shards people are dealt.

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
) -> Option<Option<u32>> {
    if kind != Some(Kind::Vertical) {
        let why = "only a vertical release matches people, and so deals them into shards that both \
                   parties know";
        form.refuse(top, "scale", why);
        return Some(None);
    }
    let Some(node) = top.take("scale") else { return Some(None) };
    let mut section = form.section(node, "[scale]", &["shards"])?;
    let Some(node) = section.take("shards") else { return Some(None) };
    let at = node.at;
    let shards = form.integer(node, &section.name_of("shards"), 1..=i64::from(MAX_SHARDS))?;
    let by_transfers = matches!(model, Model::DiffGen(terms)
        if terms.count_table == Some(CountTable::Transfers) && terms.transfers.is_some());
    if !by_transfers {
        let message = "`shards` in [scale] does not apply: what shards count is added up by \
                       oblivious transfers";
        let remedy = "remove `shards`, or use model = \"diffgen\" with count_table = \"transfers\" \
                      and without profile = \"paper\"";
        form.note(Rule::DoesNotApply, at, message.to_owned(), remedy);
        return None;
    }
    Some(u32::try_from(shards).ok())
}
