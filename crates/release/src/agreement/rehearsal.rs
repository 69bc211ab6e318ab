//! What the page that is signed says of rehearsals.

use super::diffgen::words::{approximate, factor, factor_towards_peer};
use super::words::Page;
use super::{Agreement, Rehearsal};
use crate::privacy::{Epsilon, Towards};

/// What is learned before anything is released, where that is agreed.
pub(super) fn rehearsed(page: &mut Page, agreement: &Agreement) {
    let rehearsal = agreement.matching().and_then(|matching| matching.rehearse);
    match (rehearsal, agreement.rehearse_epsilon()) {
        (Some(Rehearsal::Numbers), _) => page.item(&exact("")),
        (Some(Rehearsal::Labels), _) => page.item(&exact(&format!(
            ", and for how many of them the column `{}` differs (`rehearse` \"labels\")",
            agreement.schema.class.column
        ))),
        (Some(Rehearsal::Noisy { .. }), Some(epsilon)) => page.item(&noisy(agreement, &epsilon)),
        _ => {}
    }
}

fn exact(labels: &str) -> String {
    format!(
        "BEFORE THE RELEASE they may rehearse: both then learn how many records the other has and \
         exactly how many people are in both tables{labels}, but not who. So they know before a run \
         whether it would end for such a reason. It spends no ε and is not protected by it. A party \
         that rehearsed again with one person more or less would learn whether that person is in the \
         other's data. So each ledger allows one exact rehearsal for a data set and a peer, under \
         whatever agreement, and one more for each line that the data's owner adds to it (`diptych \
         ledger allow-rehearsal`); `diptych ledger show` counts them."
    )
}

fn noisy(agreement: &Agreement, epsilon: &Epsilon) -> String {
    let towards_peer = match agreement.towards_peer() {
        Towards::Once => "Towards the other party the factor is the same.".to_owned(),
        towards => format!(
            "Both also learn how many records the other has, which is not protected; so towards the \
             other party the factor is that of {}: at most {}.",
            towards.reason(),
            factor_towards_peer(agreement, epsilon)
        ),
    };
    format!(
        "BEFORE THE RELEASE they may rehearse (`rehearse` \"noisy\"): both then learn how many people \
         are in both tables with noise added, which neither knows, but not who. In 19 of 20 rehearsals \
         the noise is at most {}. Each rehearsal spends ε {epsilon} (`rehearse_epsilon`) beside that of \
         releases: both ledgers are debited before it begins, nothing is given back, and it is refused \
         where it would exceed a party's cap. For every person, the number is at most {} times as likely \
         with that person as without (δ at most 2^-40). {towards_peer}",
        noise_bound(epsilon),
        factor(approximate(epsilon)),
    )
}

/// What discrete Laplace noise exceeds less than once in 20 times, for people: Pr\[|K| > t\] ≤ e^(−ε·t).
pub fn noise_bound(epsilon: &Epsilon) -> u64 {
    (20f64.ln() / approximate(epsilon)).ceil() as u64
}
