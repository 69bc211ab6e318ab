//! The section [crypto]: how the parties compute together, where there is a choice.

use super::{CountTable, Profile, TRANSFERS, Transfers};
use crate::agreement::form::{Form, Section};
use crate::agreement::node::Node;
use crate::agreement::problem::Rule;
use crate::agreement::read::{Divided, Kind, ONE_PARTY};
use crate::privacy::taylor::Taylor;

const USUAL_PAILLIER_BITS: u32 = 3072;

/// What the section says, defaults filled in.
#[derive(Clone, Copy)]
pub(super) struct Crypto {
    pub count_table: Option<CountTable>,
    pub paillier_bits: Option<u32>,
    pub transfers: Option<Transfers>,
}

pub(super) fn read(
    form: &mut Form<'_>,
    top: &mut Section,
    divided: Option<Divided>,
    profile: Option<Profile>,
    taylor: Option<Option<Taylor>>,
) -> Option<Crypto> {
    let kind = divided.map(|divided| divided.kind);
    if kind == Some(Kind::Local) {
        form.refuse(top, "crypto", ONE_PARTY);
        return Some(Crypto { count_table: None, paillier_bits: None, transfers: None });
    }
    let mut section = match top.take("crypto") {
        Some(node) => {
            Some(form.section(node, "[crypto]", &["count_table", "paillier_bits", TRANSFERS])?)
        }
        None => None,
    };
    let mut take = |key| section.as_mut().and_then(|section| section.take(key));
    let (count_table, bits) = (take("count_table"), take("paillier_bits"));
    let transfers = read_transfers(form, take(TRANSFERS), profile);
    let count_table = read_count_table(form, count_table, divided, profile);
    let at = bits.as_ref().map(|node| node.at);
    let bits = match bits {
        Some(node) => paillier_bits(form, node),
        None => Some(USUAL_PAILLIER_BITS),
    };
    let (count_table, bits, taylor) = (count_table?, bits?, taylor?);
    let makes_keys = count_table == Some(CountTable::Paillier) || taylor.is_some();
    if let (false, Some(at)) = (makes_keys, at) {
        let message = "`paillier_bits` in [crypto] has no effect: this release makes no such key";
        form.remark(at, message.to_owned(), "remove it; the agreement is the same without it");
    }
    let (paillier_bits, transfers) = (makes_keys.then_some(bits), transfers?);
    Some(Crypto { count_table, paillier_bits, transfers })
}

fn read_transfers(
    form: &mut Form<'_>,
    node: Option<Node>,
    profile: Option<Profile>,
) -> Option<Option<Transfers>> {
    let (what, paper) = ("`transfers` in [crypto]", profile == Some(Profile::Paper));
    let Some(node) = node else { return Some((!paper).then_some(Transfers::Auto)) };
    let at = node.at;
    let chosen = form.word(node, what, Transfers::ALL)?;
    if paper {
        let message = format!(
            "{what} does not apply: profile = \"paper\" has the transfers that the papers know, \
             which do not rest on LPN"
        );
        form.note(Rule::DoesNotApply, at, message, "remove `transfers`");
        return Some(None);
    }
    Some(Some(chosen))
}

fn read_count_table(
    form: &mut Form<'_>,
    node: Option<Node>,
    divided: Option<Divided>,
    profile: Option<Profile>,
) -> Option<Option<CountTable>> {
    let what = "`count_table` in [crypto]";
    let paper = profile == Some(Profile::Paper);
    let usual = if paper { CountTable::Paillier } else { CountTable::Transfers };
    let vertical = divided.is_none_or(|divided| divided.kind != Kind::Horizontal);
    let one_class = divided.is_some_and(|divided| divided.class_owner.is_some());
    let Some(node) = node else { return Some(vertical.then_some(usual)) };
    let at = node.at;
    let chosen = form.word(node, what, CountTable::ALL)?;
    if !vertical {
        let message = format!(
            "{what} does not apply: only the parties of a vertical release count people together"
        );
        form.note(Rule::DoesNotApply, at, message, "remove `count_table`");
        return Some(None);
    }
    if paper && chosen != usual {
        let message = format!("{what}: profile = \"paper\" fixes it to \"{}\"", usual.word());
        let remedy = "remove `count_table`, or use profile = \"default\"";
        form.note(Rule::DoesNotApply, at, message, remedy);
    }
    if one_class && !paper && chosen == CountTable::Paillier {
        let message = format!(
            "{what} cannot be \"paillier\" where one party alone has the class: how it is distributed \
             over the other's values is counted by transfers"
        );
        form.note(Rule::DoesNotApply, at, message, "remove `count_table`");
    }
    Some(Some(chosen))
}

fn paillier_bits(form: &mut Form<'_>, node: Node) -> Option<u32> {
    let at = node.at;
    let bits = form.integer(node, "`paillier_bits` in [crypto]", 2048..=3072)?;
    let good = bits == 2048 || bits == 3072;
    if !good {
        let message = format!("`paillier_bits` in [crypto] is {bits}");
        form.note(Rule::OutOfRange, at, message, "use 3072, or 2048 for speed");
    }
    if good { u32::try_from(bits).ok() } else { None }
}
