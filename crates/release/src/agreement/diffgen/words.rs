//! DiffGen on the page that is signed: what it promises, shows and leaves open.

mod hidden;

use super::{CountTable, Noise, Profile, Selection, Specializations, Terms, Transfers, Utility};
use crate::agreement::rehearsal::rehearsed;
use crate::agreement::words::{
    Page, Wording, grouped, left_out, normalization, told_to_the_network,
};
use crate::agreement::{Agreement, MatchBy, Parties, Partition, Rehearsal};
use crate::privacy::Epsilon;
use crate::table::Identifier;

impl Wording for Terms {
    fn table(&self) -> &'static str {
        "The values are made coarser, and every count carries random noise, also where nobody was \
         counted."
    }

    fn promised(&self, page: &mut Page, agreement: &Agreement) {
        let epsilon = &self.epsilon;
        let approximately = approximate(&self.epsilon);
        page.item(&format!(
            "This release spends a privacy budget of ε = {epsilon}. For every person: each result that \
             the release can have is at most {0} times as likely with the person's record in the data \
             as without it, and the reverse. So reading the release changes the odds that anybody gives \
             to that record being in the data by a factor of at most {0}, whatever else they know. This \
             is differential privacy.",
            factor(approximately)
        ));
        if approximately > 2.0 {
            page.item(&format!(
                "ATTENTION: ε = {epsilon} is large. With such a factor the promise is weak; 1 or less \
                 is usual."
            ));
        }
        let (from, each) = match agreement.parties() {
            Some(_) => ("from 1 to", " from each party"),
            None => ("at most", ""),
        };
        page.item(&format!(
            "Compared are data that this agreement admits, with the record as without it: {from} {} \
             records{each}, and values that fit. A run with other data is refused, and that it was \
             refused is not covered by ε.",
            grouped(agreement.most_records())
        ));
        match agreement.matching() {
            Some(matching) if matching.membership.is_hidden() => page.item(
                "A run goes on however few people are in both tables; with nobody in both it publishes \
                 noise alone, and nobody can tell.",
            ),
            Some(matching) => page.item(&enough_in_common(matching.min_common)),
            None => {}
        }
        if agreement.parties().is_some() {
            page.item(
                "The promise may fail with a probability δ of at most 2^-40 (one in a million \
                 millions), from rounding in the secure computation.",
            );
            page.item(
                "Every further release about the same people adds its own ε. Each party's ledger \
                 keeps the sum and refuses a run that would exceed the party's cap. A run that is \
                 interrupted counts in full.",
            );
        } else {
            page.item(
                "Every further release about the same people adds its own ε. Whoever holds the data \
                 must add them up: the program does, and refuses what would exceed a cap, only if it \
                 is given a ledger.",
            );
        }
    }

    fn learned(&self, page: &mut Page, agreement: &Agreement, parties: &Parties) {
        let (p1, p2) = (&parties.p1.name, &parties.p2.name);
        match &agreement.partition {
            Partition::Vertical { matching, .. } if matching.membership.is_hidden() => {
                rehearsed(page, agreement);
                self.learned_where_hidden(page, agreement, parties);
            }
            Partition::Vertical { matching, .. } => {
                rehearsed(page, agreement);
                page.item(&format!(
                    "{p1} and {p2} each learn how many records the other has, and which of its own \
                     people are also in the other's data. This is not protected by ε: agree to it \
                     only if each may know who is with the other.",
                ));
                if !agreement.schema.class.is_none() {
                    self.class_learned(page, agreement, parties, matching.rehearse);
                }
                left_out(page, agreement);
                page.item(&format!(
                    "About the other's columns each learns only what the release tells{}. For a person \
                     in both tables the factor towards the other party is that of {}.",
                    match agreement.schema.class.owner.filter(|_| self.utility != Utility::Range) {
                        Some(_) => " and the splits just named",
                        None => "",
                    },
                    towards_peer(agreement, &self.epsilon)
                ));
                page.item(matched_by(matching.by));
            }
            Partition::Horizontal { overlap_check, .. } => {
                self.learned_of_other_people(page, agreement, parties, overlap_check.as_ref());
            }
            Partition::Local => {}
        }
        page.item(
            "Both learn that the run took place, when, how long it took, and this agreement. How long \
             a party takes between two messages may depend on its records: timing is outside ε.",
        );
    }

    fn not_covered(&self, page: &mut Page, agreement: &Agreement) {
        page.item(
            "Law: differential privacy bounds what the release tells about one person. It is not a \
             legal finding that the published data are anonymous; whether they are, each party must \
             decide under its own law.",
        );
        page.item(&facts_about_groups(agreement));
        if !matches!(agreement.partition, Partition::Vertical { .. }) {
            page.item(
                "People with more than one record: each further record adds another ε for them.",
            );
        }
        if let Some(told) = told_to_the_network(agreement) {
            page.item(&format!(
                "Whoever watches the network: the lengths of messages tell {told}. For a watcher who \
                 also has the release, only the promise for {} holds, with the factor of {}. If the \
                 run ends early, that and after which message can be seen too.",
                agreement.towards_peer().reason(),
                towards_peer(agreement, &self.epsilon)
            ));
        }
        page.item(match agreement.partition {
            Partition::Local => {
                "Time: how long the run takes depends on the data, and ε does not cover it."
            }
            _ => {
                "Time: how long the run and its pauses take may depend on the data. The other party \
                 and whoever watches the network can measure it, and ε does not cover it."
            }
        });
        if agreement.parties().is_some() {
            page.item(
                "Parties that do not follow the protocol: each must run the program unchanged, on \
                 its true data. A party that cheats could learn more or spoil the release.",
            );
            page.item(
                "A reader of the release who works together with one party: that reader knows what \
                 the party knows, and only the promise towards that party remains.",
            );
        }
        page.item(
            "The computers themselves: whoever can read a party's memory or disk can read its data.",
        );
    }

    fn computed(&self, page: &mut Page, agreement: &Agreement) {
        self.structure(page);
        let vertical = matches!(agreement.partition, Partition::Vertical { .. });
        self.scored(page, vertical);
        let class_owner = agreement.schema.class.owner.filter(|_| self.utility != Utility::Range);
        if agreement.membership().is_hidden() && self.utility != Utility::Range {
            page.item(
                "How the class is distributed over the values of every column, among the people in \
                 both tables, is counted in shares of which neither party can read anything alone; all \
                 scores are computed from the shares.",
            );
        } else if let (Some(owner), Some(parties)) = (class_owner, agreement.parties()) {
            page.item(&format!(
                "How the class is distributed over the values of {}{} is counted in shares of which \
                 neither party can read anything alone; scores of these columns are computed from the \
                 shares.",
                parties.of(owner.peer()).name,
                match self.utility {
                    Utility::LeafMax => ", and in every round over their new combinations,",
                    _ => "",
                }
            ));
        }
        if let Some(shards) = agreement.shards {
            page.item(&counted_in(shards, vertical));
        }
        page.item(match self.noise {
            Noise::TwoParty => "Each party adds noise of its own to every count (`two-party`).",
            Noise::Joint => {
                "Every count gets one noise, drawn by both together and known to neither (`joint`)."
            }
            Noise::Single => "Every count gets one noise.",
        });
        page.item(match self.profile {
            Profile::Default => {
                "After that, negative counts are set to 0 and the others corrected so that the noisy \
                 total is kept (profile `default`)."
            }
            Profile::Paper => {
                "Everything is calibrated exactly as in the papers, and negative counts are set to 0 \
                 (profile `paper`); the total comes out too large."
            }
        });
        if self.count_table.is_some() {
            page.item(
                "The people with each combination of both parties' values are counted without either \
                 party seeing the other's values.",
            );
        }
        if agreement.parties().is_some() {
            page.item(
                "The data of the parties stay apart by cryptography, whose methods and assumptions are \
                 in the footnote.",
            );
        }
    }

    fn methods(&self, page: &mut Page, agreement: &Agreement) {
        if let Some(matching) = agreement.matching() {
            page.item(self.matching_method(matching.by));
        }
        self.computed_by(page);
    }
}

/// How people are counted in so many shards.
fn counted_in(shards: u32, vertical: bool) -> String {
    let shards = match shards {
        1 => "one shard".to_owned(),
        shards => format!("{} shards", grouped(u64::from(shards))),
    };
    match vertical {
        true => format!(
            "People are dealt into {shards} by a hash of their identifier, under a key that the run \
             makes from random numbers of both parties (`shards`). Every shard is padded to a size that \
             follows from how many records there are, so that who is in it tells nothing; what shards \
             count is added up."
        ),
        false => format!(
            "Each party may keep its records in {shards} of its own and add up what they count \
             (`shards`). The other party sees nothing of it."
        ),
    }
}

impl Terms {
    /// How often values are replaced, and what decides on that.
    fn structure(&self, page: &mut Page) {
        let share = self.structure_share;
        let (times, of, decided) = match self.specializations {
            Specializations::Given(number) => (number.to_string(), "ε", None),
            Specializations::Auto { expected_records: Some(records) } => {
                let decided = format!(
                    "How many times follows from the {} records that are expected (`expected_records`, \
                     a public guess) and from ε: {SUITED}.",
                    grouped(records)
                );
                ("A number of".to_owned(), "ε", Some(decided))
            }
            Specializations::Auto { expected_records: None } => {
                let decided = format!(
                    "How many times follows from a noisy number of records, for which the first \
                     fiftieth of ε is spent, and from ε: {SUITED}. The number of records itself, without \
                     noise, does not enter."
                );
                ("A number of".to_owned(), "what is left of ε", Some(decided))
            }
        };
        if self.utility == Utility::Range {
            let times = if decided.is_some() { "A number of" } else { &times };
            page.item(&format!(
                "The table begins with one row of the coarsest values. {times} times, the value that \
                 covers the largest part of its column's range is replaced by its finer ones, a number \
                 at the middle of its interval (`range`). Which values these are follows from this \
                 agreement and depends on no data, so it spends nothing: all of {of} goes to the noise \
                 on the counts."
            ));
        } else {
            page.item(&format!(
            "The table begins with one row of the coarsest values. {times} times, one value is chosen and \
             replaced by its finer ones. These choices use up to {share} of {of}; the rest, and what the \
             choices leave over, goes to the noise on the counts.",
        ));
        }
        if let Some(decided) = decided {
            page.item(&decided);
            page.item(
                "A value whose finer ones would make more than twice as many combinations of values as \
                 halving that often would is left out while there are others (`auto`).",
            );
        }
    }

    /// How choices are scored and made, where there are any.
    fn scored(&self, page: &mut Page, vertical: bool) {
        page.item(&format!(
            "A choice is scored by {}.",
            match self.utility {
                Utility::Range => return,
                Utility::Max => "how well the finer values separate the classes (`max`)",
                Utility::LeafMax if vertical => {
                    "how much better the columns of the party that holds it would separate the \
                     classes after it (`leaf-max`)"
                }
                Utility::LeafMax => {
                    "how well the whole table would separate the classes after it (`leaf-max`)"
                }
                Utility::InfoGain => "its information gain about the class (`info-gain`)",
            }
        ));
        page.item(&match (self.selection, self.taylor) {
            (Selection::Exponential, Some(taylor)) => format!(
                "It is made by the exponential mechanism (`exponential`), in the papers' \
                 approximation for horizontal data by a polynomial of degree {} with {} digits: as \
                 private, but with many records far less accurate than `permute-and-flip`.",
                taylor.degree(),
                taylor.digits(),
            ),
            (Selection::Exponential, None) => {
                "It is made by the exponential mechanism (`exponential`).".to_owned()
            }
            (Selection::PermuteAndFlip, _) => {
                "It is made by the largest score after random noise (`permute-and-flip`)."
                    .to_owned()
            }
        });
    }

    /// What the parties of a horizontal release learn.
    fn learned_of_other_people(
        &self,
        page: &mut Page,
        agreement: &Agreement,
        parties: &Parties,
        overlap_check: Option<&Identifier>,
    ) {
        let (p1, p2) = (&parties.p1.name, &parties.p2.name);
        page.item(&format!(
            "{p1} and {p2} learn nothing about each other's records beyond the release{}{}{}. All of it \
             is within ε.{}",
            match self.utility {
                Utility::Range => "",
                _ => " and every split of a number that was drawn, used or not",
            },
            match self.specializations {
                Specializations::Auto { expected_records: None } => match self.noise {
                    Noise::TwoParty => {
                        ", and how many records the other has, with the other's noise on it"
                    }
                    _ => ", and how many records both have together, with noise on it",
                },
                _ => "",
            },
            match self.noise {
                Noise::TwoParty => ", and the other's counts with the other's noise on them",
                _ => "",
            },
            match (overlap_check, self.noise) {
                (Some(_), _) => "",
                (None, Noise::TwoParty) => {
                    " They do not learn how many records the other has exactly."
                }
                (None, _) => " They do not learn how many records the other has.",
            }
        ));
        if let Some(identifier) = overlap_check {
            page.item(&format!(
                "EXCEPT: the overlap check is on. Both learn exactly how many people are in \
                 both tables (by the column `{}`{}), and each learns how many records the \
                 other has. This is not protected by ε: somebody who knows all but one of \
                 these people can tell from the number whether that one is among them. As \
                 numbers are known, the promise towards the other party is that for {}, and \
                 its factor that of {}.",
                identifier.column,
                normalization(identifier),
                agreement.towards_peer().reason(),
                towards_peer(agreement, &self.epsilon)
            ));
            page.item("A person who is in both tables has twice the loss.");
        } else {
            page.item(
                "The overlap check is off: nobody counts the people who are in both tables. \
                 A person who is in both has twice the loss (2ε).",
            );
        }
    }

    /// The name of how common people are found, and what it rests on.
    fn matching_method(&self, by: MatchBy) -> &'static str {
        match (by, self.transfers) {
            (MatchBy::Oprf, Some(Transfers::NoLpn) | None) => {
                "Common people are found by an oblivious pseudorandom function (`oprf`), made by \
                 oblivious transfers."
            }
            (MatchBy::Oprf, Some(Transfers::Auto)) => {
                "Common people are found by an oblivious pseudorandom function (`oprf`). For larger \
                 tables its secrecy rests on the assumption that learning parity with noise (LPN) is \
                 hard; `transfers = \"no-lpn\"` does without."
            }
            (MatchBy::Ristretto255, _) => {
                "Common people are found by commutative encryption in the group ristretto255 \
                 (`ristretto255`)."
            }
            (MatchBy::Ffdhe3072, _) => {
                "Common people are found by commutative encryption modulo a prime of 3072 bits \
                 (`ffdhe3072`)."
            }
        }
    }

    /// Which cryptography the parties compute with, where there is a choice.
    fn computed_by(&self, page: &mut Page) {
        match self.count_table {
            Some(CountTable::Transfers) => page.item(
                "The people with each combination of both parties' values are counted by oblivious \
                 transfers, without a key of either party (`transfers`).",
            ),
            Some(CountTable::Paillier) => page.item(
                "The people with each combination of both parties' values are counted under \
                 encryption (`paillier`).",
            ),
            None => {}
        }
        match self.transfers {
            Some(Transfers::Auto) => page.item(
                "Random bits that neither party knows are made by oblivious transfers. Those of a \
                 large release are silent ones, which send little and whose secrecy rests on a \
                 further assumption, that learning parity with noise (LPN) is hard (`auto`).",
            ),
            Some(Transfers::NoLpn) => page.item(
                "Random bits that neither party knows are made by oblivious transfers that do not \
                 rest on learning parity with noise (`no-lpn`); large releases send several times as \
                 much.",
            ),
            None => {}
        }
        if let Some(bits) = self.paillier_bits {
            page.item(&format!("Encryption uses Paillier keys of {bits} bits."));
        }
    }
}

/// How common people are found.
fn matched_by(by: MatchBy) -> &'static str {
    match by {
        MatchBy::Oprf => {
            "Common people are found by comparing values of a keyed function of which neither party \
             can compute the other's part."
        }
        MatchBy::Ristretto255 | MatchBy::Ffdhe3072 => {
            "Common people are found by comparing identifiers that both parties have encrypted."
        }
    }
}

/// The rule by which a release decides how often values are specialized: that of `release::diffgen`.
const SUITED: &str = "as often as leaves enough people for every row and every choice to stand out \
                      of its noise, but from 1 to 7 times (`auto`)";

impl Terms {
    /// What a vertical release tells the parties of each other's class, and of splits.
    fn class_learned(
        &self,
        page: &mut Page,
        agreement: &Agreement,
        parties: &Parties,
        rehearsal: Option<Rehearsal>,
    ) {
        let column = &agreement.schema.class.column;
        let Some(owner) = agreement.schema.class.owner else {
            page.item(&format!(
            "Both hold the column `{column}`; they learn whether it is the same at both, and stop if \
             it is not{}. The ε of that run is spent then.",
            match rehearsal {
                Some(Rehearsal::Labels) => ", having learned for how many people it differs",
                _ => "",
            }
        ));
            return;
        };
        let [labelled, other] = [owner, owner.peer()].map(|role| &parties.of(role).name);
        if self.utility == Utility::Range {
            page.item(&format!(
            "{labelled} alone holds the column `{column}`. {other} needs no such column, and learns of \
             it only what the release tells."
        ));
            return;
        }
        page.item(&format!(
        "{labelled} alone holds the column `{column}`. {other} needs no such column, and learns of it \
         only what the release and the splits named here tell."
    ));
        page.item(&format!(
        "Every split of a number of {other} is told to both as soon as it is drawn, used or not. This \
         is within ε. Splits of {labelled}'s numbers are told when they are used."
    ));
    }
}

/// What it means that there is a release at all.
fn enough_in_common(least: u64) -> String {
    match least {
        0 => {
            "A run goes on however few people are in both tables; with nobody in both it publishes \
              noise alone (`min_common` 0)."
                .to_owned()
        }
        1 => "A run ends without a release, and its ε is spent, if nobody is in both tables \
              (`min_common` 1). That there is a release tells that somebody is; ε does not cover \
              that."
            .to_owned(),
        _ => format!(
            "A run ends without a release, and its ε is spent, if fewer than {0} people are in both \
             tables (`min_common` {0}). That there is a release tells that at least so many are; ε \
             does not cover that.",
            grouped(least)
        ),
    }
}

/// In the words of this release: its class, and its first attribute.
fn facts_about_groups(agreement: &Agreement) -> String {
    let class = &agreement.schema.class.column;
    let depends = match agreement.schema.attributes.first() {
        Some(attribute) if agreement.schema.class.is_none() => {
            format!("how common each `{}` is", attribute.name)
        }
        Some(attribute) => format!("how `{class}` depends on `{}`", attribute.name),
        None => format!("how common each `{class}` is"),
    };
    format!(
        "Facts about groups: if the release shows {depends}, this also says something about people \
         who are not in the data. That is its purpose."
    )
}

/// ε for showing to people only.
pub(in crate::agreement) fn approximate(epsilon: &Epsilon) -> f64 {
    epsilon.to_string().parse().unwrap_or(f64::INFINITY)
}

/// What becomes of ε towards the peer, for people: `2ε: at most 7.39`.
fn towards_peer(agreement: &Agreement, epsilon: &Epsilon) -> String {
    let times = match agreement.towards_peer().factor() {
        1 => String::new(),
        times => times.to_string(),
    };
    format!("{times}ε: at most {}", factor_towards_peer(agreement, epsilon))
}

/// e^ε towards the peer, for people.
pub(in crate::agreement) fn factor_towards_peer(
    agreement: &Agreement,
    epsilon: &Epsilon,
) -> String {
    factor(agreement.towards_peer().factor() as f64 * approximate(epsilon))
}

/// e^ε rounded up, for people. The computation itself never uses it.
pub(in crate::agreement) fn factor(epsilon: f64) -> String {
    let factor = epsilon.exp();
    if factor < 10_000.0 {
        format!("{:.2}", (factor * 100.0).ceil() / 100.0)
    } else {
        format!("e^{epsilon} (more than {})", grouped(10_000))
    }
}
