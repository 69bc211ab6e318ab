//! A rehearsal for ε: how many people two parties have in common, with noise that neither knows.
//!
//! *Inputs*: identifiers. *Output*, to both: the number of common people plus discrete Laplace noise of
//! rate ε_r (`rehearse_epsilon`). *Learned*: how many records the other has; nothing of it where both are
//! padded (`pad_to`). Nobody learns who is common, also where the release will tell it: plain set
//! intersection would tell each party the exact number before any noise.
//!
//! *How.* One [`join`], whose bins belong to the party with fewer records, gives shares of whether who
//! stands in each bin is common. They become shares over Z_{2^k} ([`bits::to_words`]), each party adds up
//! its own, and the sum is opened under joint noise ([`JointNoise`]). Every person stands in one bin and
//! empty bins have nobody, so the sum is the number of common people.
//!
//! *Theorem.* Towards whoever sees the number it is (ε_r, δ)-private for one person added to or removed
//! from the people in common. Towards a party, the view is (ε_r, δ)-private for one of the peer's rows
//! added or removed where both are padded; where sizes are shown, (2·ε_r, (1 + e^ε_r)·δ)-private for one
//! of the peer's rows replaced by any other, identifier included. Computationally, as [`join`].
//!
//! *Proof sketch.* Identifiers are distinct at either party, so a row more of either makes at most one
//! common person more: the number has sensitivity 1, and noise with Pr\[K = k\] ∝ e^(−ε_r·|k|) makes
//! it ε_r-private. The run is within TV of that: two geometric noises of D digits at τ bits, and what
//! may fail in one join ([`join::failures`]); [`PublicBounds`] turns TV into δ ≤ 2^-40. All else that a
//! party sees is simulated: [`join`] and [`bits::to_words`] leave shares, uniform to one party, and the
//! share that the peer opens is the noisy number less one's own. Lengths and order of all messages follow
//! from the agreement and the sizes. Replacing a row is taking one away and adding another, and (ε, δ)
//! twice is (2ε, (1 + e^ε)·δ).
//!
//! The caller debits ε_r before [`run`] ([`Ledger::debit_rehearsal`]); [`prepare`] needs no data.
//!
//! [`Ledger::debit_rehearsal`]: crate::privacy::ledger::Ledger::debit_rehearsal

use super::super::diffgen::hidden::TRANSFERS_PER_BIN;
use super::super::diffgen::hidden::joined::{Announced, PHASE, check_size};
use super::super::diffgen::two_party::{Ready, SET_UP, assumptions};
use super::super::{Step, matching};
use crate::Error;
use crate::agreement::{Agreement, Model};
use crate::mechanism::noise::{JointNoise, joint};
use crate::mechanism::noisy_max::NoiseWidths;
use crate::net::Message;
use crate::privacy::slack::{Noises, PublicBounds};
use crate::privacy::{AddNoise, Budget, Differential};
use crate::protocol::forecast::Forecast;
use crate::protocol::join::{self, Bins, Hint, JoinShape};
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::vole::Method;
use crate::protocol::{Bulk, Workspace, bits, yao};
use crate::release::rehearsal::no_rehearsal;
use crate::role::Role;
use crate::table::Table;

/// The phase in which the number is opened.
const NOISE: &str = "noise";

/// What a noisy rehearsal reveals to both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Records of the peer, unless both are padded.
    pub peer_records: Option<usize>,
    /// People whom both have, with noise: it may be below 0.
    pub common: i64,
}

/// What is public of a noisy rehearsal before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoisyPlan {
    /// What it spends and promises.
    pub promised: Differential,
    widths: NoiseWidths,
    /// Bits of the shared number: room for it, its noise and the sign.
    share_bits: u32,
    /// The join of two tables that are as large as may be.
    largest: JoinShape,
    assumptions: Assumptions,
}

impl NoisyPlan {
    /// What an agreement leads to.
    ///
    /// # Errors
    /// Unless it allows such a rehearsal; if it allows too many records.
    pub fn of(agreement: &Agreement) -> Result<Self, Error> {
        let epsilon = agreement.rehearse_epsilon().ok_or_else(no_rehearsal)?;
        // One discrete Laplace noise is two geometric ones.
        let noises = vec![Noises { count: 2, rate: epsilon.value().clone() }];
        let (masked_values, random_values, failures) = (0, 0, join::failures(0));
        let bounds = PublicBounds {
            epsilon: epsilon.clone(),
            noises,
            masked_values,
            random_values,
            failures,
        };
        let widths = bounds.widths()?;
        let digits = widths.digits.first().copied().unwrap_or_default();
        let most = agreement.most_records();
        let record_bits = u64::BITS - most.leading_zeros();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(Self {
            promised: Differential {
                epsilon,
                delta: widths.delta,
                towards_peer: agreement.towards_peer(),
            },
            widths: NoiseWidths { tau: widths.tau, digits },
            share_bits: (record_bits.max(digits) + 2).min(64),
            largest: JoinShape::new(Role::P1, most, most)?,
            assumptions: match &agreement.model {
                Model::DiffGen(terms) => assumptions(terms),
                _ => Assumptions::NoLpn,
            },
        })
    }

    /// Where transfers come from: suited to as many records as there may be.
    fn source(&self) -> Source {
        let transfers = (TRANSFERS_PER_BIN + 1).saturating_mul(self.largest.bins());
        Source::suited_to(self.assumptions, transfers)
    }

    fn method(&self) -> Method {
        Method::suited_to(self.assumptions)
    }
}

/// Rejects a table that is larger than what both are padded to: checked before connecting.
///
/// # Errors
/// If it is.
pub fn check_records(agreement: &Agreement, records: usize) -> Result<(), Error> {
    check_size(agreement, records)
}

/// The join whose bins belong to the party with fewer records: bins cost more than hints.
fn shape(announced: &Announced) -> Result<JoinShape, Error> {
    let smaller = announced.of(Role::P2) < announced.of(Role::P1);
    announced.join(if smaller { Role::P2 } else { Role::P1 })
}

/// Sets up transfers: all that can be done before ε is debited, because nothing of it depends on data.
///
/// # Errors
/// If the connection fails or the peer's messages are not acceptable.
pub fn prepare(session: &mut Workspace, plan: &NoisyPlan) -> Result<(), Error> {
    session.channel.begin_phase(SET_UP);
    session.use_transfers(plan.source());
    yao::set_up(session, Role::P1)?;
    session.bulk = Bulk::SharedBits;
    session.channel.send(&Ready)?;
    let Ready = session.channel.receive()?;
    Ok(())
}

/// The messages of [`prepare`].
pub fn forecast_prepare(f: &mut Forecast, plan: &NoisyPlan) {
    f.begin_phase(SET_UP);
    f.use_transfers(plan.source());
    yao::forecast_set_up(f, Role::P1);
    f.do_bulk(Bulk::SharedBits);
    f.exchange(Ready::TAG, Ready::MOST_BYTES);
}

/// Counts with the peer, after [`prepare`]. `table` has identifiers, and the budget must have been
/// debited: the first message that depends on data leaves at once. With `few_bins` small tables have few
/// bins, which fails now and then: for quick tests.
///
/// # Errors
/// If the table is larger than agreed, the connection fails or the peer's messages are not acceptable.
pub fn run(
    session: &mut Workspace,
    agreement: &Agreement,
    plan: &NoisyPlan,
    table: &Table,
    mut budget: Budget,
    few_bins: bool,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Counted, Error> {
    let identifiers = table.identifiers().ok_or_else(matching::no_identifiers)?;
    let announced = Announced::exchange(session, agreement, table.len(), few_bins)?;
    let shape = shape(&announced)?;
    progress(Step::Began { phase: PHASE, total: shape.bins() });
    let members = if session.role == shape.owner() {
        Bins::setup(session, plan.method(), shape, identifiers)?.receive_members(session, 0)?
    } else {
        Hint::setup(session, plan.method(), shape, identifiers)?.send_members(session, 0, &[])?
    };
    let words = bits::to_words(session, &members.bits, plan.share_bits)?;
    let common = words.words().iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
    progress(Step::Advanced(shape.bins()));
    session.channel.begin_phase(NOISE);
    let spend = budget.spend_rest("common people")?;
    let common = WordShares::new(plan.share_bits, vec![common])?;
    let opened = JointNoise::new(session, plan.widths).add_noise(spend, &common)?;
    progress(Step::Ended);
    let common = opened.first().copied().ok_or_else(no_rehearsal)?;
    Ok(Counted { peer_records: announced.of_peer(agreement, session.role), common })
}

/// The messages of [`run`], for tables of `own` and `peer` records.
///
/// # Errors
/// If there are too many records.
pub fn forecast(
    f: &mut Forecast,
    agreement: &Agreement,
    plan: &NoisyPlan,
    [own, peer]: [usize; 2],
    few_bins: bool,
) -> Result<(), Error> {
    Announced::forecast(agreement, f)?;
    let shape = shape(&Announced::new(agreement, f.role(), own, peer, few_bins))?;
    join::forecast_setup(f, plan.method(), &shape);
    join::forecast_members(f, &shape, 0);
    bits::forecast_to_words(f, shape.bins(), plan.share_bits)?;
    f.begin_phase(NOISE);
    joint::forecast(f, plan.promised.epsilon.value(), plan.widths, plan.share_bits, 1)?;
    Ok(())
}
