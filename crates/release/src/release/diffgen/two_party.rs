//! A release by two parties, however their data is divided: [`vertical`] or [`horizontal`], as the
//! agreement says.
//!
//! # Example
//!
//! Two hospitals with patients of their own, in one process; two machines have a [`Session`](crate::protocol::Session) each.
//!
//! ```
//! use diptych_release::agreement::Agreement;
//! use diptych_release::privacy::Budget;
//! use diptych_release::protocol::pair::{Setup, run_workspaces};
//! use diptych_release::release::diffgen::two_party;
//! use diptych_release::table::{Reading, parse_csv};
//!
//! let agreement = r#"
//!     [release]
//!     id = "illnesses"
//!     partition = "horizontal"
//!     epsilon = "1"
//!     specializations = 1
//!     max_records = 1000
//!     [parties.p1]
//!     name = "North"
//!     fingerprint = "sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a"
//!     [parties.p2]
//!     name = "South"
//!     fingerprint = "sha256:2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b"
//!     [class]
//!     column = "ill"
//!     values = ["yes", "no"]
//!     [[attribute]]
//!     name = "job"
//!     kind = "categorical"
//!     taxonomy = { Any_Job = ["Engineer", "Writer"] }
//! "#;
//! let agreement =
//!     Agreement::parse("a.toml", agreement.as_bytes(), &|_| Err("no files here".to_owned()))?;
//! let (schema, max_records) = (&agreement.schema, agreement.max_records);
//! let reading = Reading { schema, owner: None, identifier: None, max_records };
//! let read = |rows: &str| parse_csv("rows.csv", rows.as_bytes(), &reading, &|_| ());
//! let north = read(&("job,ill\n".to_owned() + &"Engineer,no\n".repeat(400)))?;
//! let south = read(&("job,ill\n".to_owned() + &"Writer,yes\n".repeat(500)))?;
//!
//! let budget = || Budget::new(agreement.epsilon().expect("ε is agreed"));
//! let outcome = run_workspaces(
//!     Setup::default(),
//!     |session| two_party::release(session, &agreement, &north, budget(), &|_| ()),
//!     |session| two_party::release(session, &agreement, &south, budget(), &|_| ()),
//! );
//! let (north, south) = (outcome.p1?.release, outcome.p2?.release);
//! assert_eq!(north.table.counts, south.table.counts);
//! // Engineers who are ill and who are not, then writers: about 0, 400, 500 and 0.
//! assert_eq!(north.table.counts.len(), 4);
//! assert!(north.table.counts[1].abs_diff(400) < 200 && north.table.counts[2].abs_diff(500) < 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::{Deserialize, Serialize};

pub use super::paper::Prepared;
use super::sizes::Sizes;
use super::{Plan, RECORDS, hidden, horizontal, terms, vertical};
use crate::Error;
use crate::agreement::diffgen::Terms;
use crate::agreement::{Agreement, CountTable, Noise, Partition, Selection, Transfers};
use crate::crypto::soft_spoken::Columns;
use crate::mechanism::noise::{JointNoise, OwnNoise, TwoPartyNoise};
use crate::mechanism::noisy_max::{self, NoiseWidths};
use crate::net::{Message, Tag};
use crate::privacy::{AddNoise, Budget, Calibration, Spend};
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::{Bulk, Workspace, yao};
use crate::release::{Outcome, Step, shards};
use crate::role::Role;
use crate::table::{CutValue, Cuts, Table};

/// Which Paillier keys are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Of the agreed length.
    Agreed,
    /// Too short to protect anything, and quickly made.
    #[cfg(any(test, feature = "testing"))]
    ForTests(usize),
}

/// The phase of splits and choices.
pub(in crate::release) const STRUCTURE: &str = "structure";

/// The phase in which [`prepare`] talks.
pub const SET_UP: &str = "set-up";

/// Makes keys, sets up transfers with the peer and draws the noise of the first choices: all that can be done before the budget is
/// debited, because nothing of it depends on data. Whoever cuts the line until now costs nobody any
/// ε. (Whose key, or whose transfers, the counts of divided columns take depends on the tree: both
/// are made ready.)
///
/// # Errors
/// See [`Error`].
pub fn prepare(
    session: &mut Workspace,
    agreement: &Agreement,
    keys: Keys,
) -> Result<Prepared, Error> {
    let terms = terms(agreement)?;
    session.channel.begin_phase(SET_UP);
    let prepared = Prepared::new(session, agreement, terms, keys)?;
    for (sender, source) in sources(agreement)? {
        session.use_transfers(source);
        yao::set_up(session, sender)?;
    }
    session.bulk = bulk(terms);
    if shards::number(agreement).is_some() {
        shards::set_up(session, agreement)?;
    }
    let plan = Plan::new(agreement)?;
    draw_ahead(session, &plan, &Sizes::of(agreement, &plan)?)?;
    session.channel.send(&Ready)?;
    let Ready = session.channel.receive()?;
    Ok(prepared)
}

/// Draws the noise of the first choices, as soon as it is known how many there will be.
pub(super) fn draw_ahead(session: &mut Workspace, plan: &Plan, sizes: &Sizes) -> Result<(), Error> {
    if plan.epsilon_records().is_none() {
        let (parameters, epsilon) = (sizes.by_noisy_max(), plan.epsilon_step());
        for (calibration, noises) in noises_ahead(plan) {
            noisy_max::prepare(session, &parameters, &epsilon, calibration, noises)?;
        }
    }
    Ok(())
}

/// The phase of the structure begins; the noise of its choices is drawn now where how many there are
/// was not `planned`.
pub(super) fn begin_structure(
    session: &mut Workspace,
    planned: &Plan,
    decided: &Plan,
    sizes: &Sizes,
) -> Result<(), Error> {
    session.channel.begin_phase(STRUCTURE);
    match planned.epsilon_records() {
        Some(_) => draw_ahead(session, decided, sizes),
        None => Ok(()),
    }
}

/// The noisy number of records: each party has a part of it, one has all, or each has a share.
pub(super) fn noisy_records(
    session: &mut Workspace,
    terms: &Terms,
    sizes: &Sizes,
    spend: Spend,
    own: u64,
) -> Result<i64, Error> {
    session.channel.begin_phase(RECORDS);
    let (widths, bits) = sizes.on_records()?;
    let noise = CountNoise::of_widths(terms, widths, &spend, 1, session)?;
    let noisy = noise.open(session, spend, &WordShares::new(bits, vec![own])?)?;
    noisy.first().copied().ok_or_else(|| Error::fault("no number of records"))
}

/// The peer has its keys and transfers. Without it the party that sends last would go on, and spend
/// its ε, while what it sent is cut off.
#[derive(Serialize, Deserialize)]
pub(in crate::release) struct Ready;

impl Message for Ready {
    const TAG: Tag = Tag::new(*b"redy");
    const MOST_BYTES: usize = 0;
}

/// From whom transfers go in a release, and where they come from. P1 garbles, and its transfers make
/// the noise: those that suit as much noise as a release under this agreement usually needs. Sums by
/// group may go either way; they take few transfers for their bytes, unless they are of all bins of a
/// hidden join.
pub(super) fn sources(agreement: &Agreement) -> Result<Vec<(Role, Source)>, Error> {
    let terms = terms(agreement)?;
    let (first, second) = match terms.transfers {
        None => (Source::Iknp, Source::Iknp),
        Some(_) => {
            let noise = transfers_of_noise(agreement)?;
            match agreement.membership().is_hidden() && agreement.shards.is_none() {
                false => (
                    Source::suited_to(assumptions(terms), noise),
                    Source::SoftSpoken(Columns::Four),
                ),
                true => {
                    let [first, second] = hidden::transfers(agreement)?;
                    let suited = |count| Source::suited_to(assumptions(terms), count);
                    (suited(first.saturating_add(noise)), suited(second))
                }
            }
        }
    };
    // Shards count for themselves.
    let both = terms.count_table == Some(CountTable::Transfers) && agreement.shards.is_none();
    Ok([(Role::P1, first)].into_iter().chain(both.then_some((Role::P2, second))).collect())
}

/// The same in every shard, which makes no noise.
pub(in crate::release) fn shard_sources(
    agreement: &Agreement,
) -> Result<[(Role, Source); 2], Error> {
    let terms = terms(agreement)?;
    let few = Source::SoftSpoken(Columns::Four);
    let [first, second] = match agreement.membership().is_hidden() {
        false => [few; 2],
        true => {
            hidden::transfers(agreement)?.map(|count| Source::suited_to(assumptions(terms), count))
        }
    };
    Ok([(Role::P1, first), (Role::P2, second)])
}

/// What transfers, and everything made from them, may assume.
pub(in crate::release) fn assumptions(terms: &Terms) -> Assumptions {
    match terms.transfers {
        Some(Transfers::Auto) => Assumptions::Lpn,
        Some(Transfers::NoLpn) | None => Assumptions::NoLpn,
    }
}

/// Transfers behind the noise of a usual release: two for each of some 0.8·τ ANDs per digit. A
/// specialization divides about every row in two.
fn transfers_of_noise(agreement: &Agreement) -> Result<usize, Error> {
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let per_digit = 2 * sizes.widths.tau as usize;
    let ahead: usize = noises_ahead(&plan).iter().map(|(_, noises)| noises).sum();
    let on_scores = ahead.saturating_mul(sizes.score_digits.unwrap_or_default() as usize);
    let rows = match plan.terms().noise {
        Noise::Joint => plan.schema().class.values.len() << plan.specializations().min(20),
        _ => 0,
    };
    let on_counts = rows.saturating_mul(2 * sizes.count_digits as usize);
    Ok(on_scores.saturating_add(on_counts).saturating_mul(per_digit))
}

/// How work in bulk is done: in garbled circuits where everything is as in the papers.
pub(in crate::release) fn bulk(terms: &Terms) -> Bulk {
    match terms.transfers {
        None => Bulk::Garbled,
        Some(_) => Bulk::SharedBits,
    }
}

/// Noises that the structure will take, as far as the first candidates tell: one for each of them in
/// every round, and for every point of the first intervals where splits are chosen together; and of later
/// intervals, which have as many points as the one that they divide, as if every attribute won as often as
/// the others. Drawing them later would take rounds. With how these are calibrated.
pub(super) fn noises_ahead(plan: &Plan) -> Vec<(&Calibration, usize)> {
    let cuts = Cuts::topmost(plan.schema());
    let attributes = || 0..plan.schema().attributes.len();
    let together = |attribute: &usize| plan.scores_together(*attribute);
    let splits = attributes().filter(together).flat_map(|attribute| cuts.of(attribute)).map(points);
    let chosen_by_noise = plan.terms().selection == Selection::PermuteAndFlip && !plan.is_public();
    let rounds = if chosen_by_noise { plan.specializations() as usize } else { 0 };
    let of_choices = cuts.candidates(attributes()).len().saturating_mul(rounds);
    let of_first = splits.fold(0, usize::saturating_add);
    let (later, of_all) = (plan.specializations().saturating_sub(1) as usize, attributes().len());
    let of_later = of_first.saturating_mul(later.min(of_all)) / of_all.max(1);
    let of_splits = of_first.saturating_add(of_later);
    let (choices, splits) = (plan.calibration(), plan.shared_split_calibration());
    let ahead = match choices == splits {
        true => vec![(choices, of_choices.saturating_add(of_splits))],
        false => vec![(choices, of_choices), (splits, of_splits)],
    };
    let some = ahead.into_iter().filter(|(_, noises)| *noises > 0);
    some.map(|(calibration, noises)| (calibration, noises.min(MOST_AHEAD))).collect()
}

/// Most noises that are drawn before the first choice: some 12 MB with silent transfers. A large choice
/// draws what it lacks.
const MOST_AHEAD: usize = 1 << 14;

/// Where an interval can be split.
pub(super) fn points(value: &CutValue) -> usize {
    match value {
        CutValue::Interval { start, end } => (end - start) as usize - 1,
        CutValue::Value(_) => 0,
    }
}

/// Makes a release with the peer. `table` holds what the agreement gives to this party, with
/// identifiers where individuals are matched. The budget must have been debited: the first message
/// that depends on data leaves at once.
///
/// # Errors
/// See [`Error`].
pub fn release(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    release_with(session, agreement, table, budget, Keys::Agreed, progress)
}

/// The same with given keys, as tests need it: [`prepare`] and [`release_prepared`].
///
/// # Errors
/// As for [`release`].
pub fn release_with(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    keys: Keys,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    let prepared = prepare(session, agreement, keys)?;
    release_prepared(session, agreement, table, budget, prepared, progress)
}

/// Makes a release with the peer after [`prepare`].
///
/// # Errors
/// As for [`release`].
pub fn release_prepared(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    prepared: Prepared,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    match agreement.partition {
        Partition::Vertical { .. } => {
            vertical::release(session, agreement, table, budget, prepared, progress)
        }
        Partition::Horizontal { .. } => {
            horizontal::release(session, agreement, table, budget, prepared, progress)
        }
        Partition::Local => Err(Error::input("the agreement is for one party")),
    }
}

/// The noise on the counts, as agreed. A party's own is drawn before the counts are made, so that
/// no message of their making waits for it.
pub(super) struct CountNoise {
    widths: NoiseWidths,
    own: Option<OwnNoise>,
}

impl CountNoise {
    pub(super) fn prepare(
        terms: &Terms,
        sizes: &Sizes,
        spend: &Spend,
        count: usize,
        session: &mut Workspace,
    ) -> Result<Self, Error> {
        Self::of_widths(terms, sizes.on_counts(), spend, count, session)
    }

    fn of_widths(
        terms: &Terms,
        widths: NoiseWidths,
        spend: &Spend,
        count: usize,
        session: &mut Workspace,
    ) -> Result<Self, Error> {
        let own = match terms.noise {
            Noise::TwoParty => {
                Some(OwnNoise::draw_digits(&mut *session.coins, spend.epsilon(), widths, count)?)
            }
            _ => None,
        };
        Ok(Self { widths, own })
    }

    pub(super) fn add(
        self,
        session: &mut Workspace,
        spend: Spend,
        counts: &WordShares,
    ) -> Result<Vec<i64>, Error> {
        session.channel.begin_phase("noise");
        self.open(session, spend, counts)
    }

    fn open(
        self,
        session: &mut Workspace,
        spend: Spend,
        counts: &WordShares,
    ) -> Result<Vec<i64>, Error> {
        Ok(match self.own {
            Some(own) => TwoPartyNoise::prepared(session, own).add_noise(spend, counts)?,
            None => JointNoise::new(session, self.widths).add_noise(spend, counts)?,
        })
    }
}
