//! The page of a release where nobody learns who is common.

use super::super::{Specializations, Terms, Utility};
use super::{factor_towards_peer, towards_peer};
use crate::agreement::words::{Page, grouped};
use crate::agreement::{Agreement, Parties};
use crate::privacy::Towards;

impl Terms {
    /// What the parties of a vertical release learn where nobody learns who is common.
    pub(super) fn learned_where_hidden(
        &self,
        page: &mut Page,
        agreement: &Agreement,
        parties: &Parties,
    ) {
        let (p1, p2) = (&parties.p1.name, &parties.p2.name);
        page.item(&format!(
            "{p1} and {p2} learn neither which of their people are in the other's data nor, beyond \
             what is named here, how many are (`membership` \"hidden\")."
        ));
        if matches!(self.specializations, Specializations::Auto { expected_records: None }) {
            page.item(
                "A noisy number of common people is told to both before the first choice. This is \
                 within ε.",
            );
        }
        match agreement.pad_to() {
            Some(records) => page.item(&format!(
                "They do not learn how many records the other has either: messages are those of two \
                 tables of {} (`pad_to`). Pauses between them can tell roughly how many there are.",
                grouped(records)
            )),
            None => page.item(
                "Each learns how many records the other has. This is not protected by ε; `pad_to` would \
                 hide it.",
            ),
        }
        let by_range = self.utility == Utility::Range;
        if let Some(owner) = agreement.schema.class.owner {
            let [labelled, other] = [owner, owner.peer()].map(|role| &parties.of(role).name);
            page.item(&format!(
                "{labelled} alone holds the column `{}`. {other} needs no such column, and learns of \
                 it only what the release{} tell{}.",
                agreement.schema.class.column,
                if by_range { "" } else { " and the splits named here" },
                if by_range { "s" } else { "" },
            ));
        }
        if !by_range {
            page.item(
                "Every split of a number is told to both as soon as it is drawn, used or not. This is \
                 within ε.",
            );
        }
        page.item(&match agreement.towards_peer() {
            Towards::Once => format!(
                "So towards the other party everybody has the promise that holds towards readers of the \
                 release: whether or not a person's record is in the other's data, what a party sees is \
                 at most {} times as likely with it as without it, and the reverse. Whether the person \
                 is there at all is covered too.",
                factor_towards_peer(agreement, &self.epsilon)
            ),
            Towards::Twice => format!(
                "So towards the other party everybody has nearly the promise that holds towards readers \
                 of the release: as numbers are known, it is that for a record of the other's data \
                 replaced by somebody else's, and its factor that of {}. Who of them is \
                 there at all is covered too.",
                towards_peer(agreement, &self.epsilon)
            ),
        });
        page.item(
            "Common people are found by a keyed function of which neither party can compute the other's \
             part; whether it gave the same value is a bit of which each party has a share. All of this \
             is secret as long as the parties cannot break that cryptography.",
        );
    }
}
