//! Who two parties with different columns have in common, whether they agree on the class, and how
//! the owner of an interval tells its split: what every vertical release begins with.
//!
//! *Learned by the peer*: the number of identifiers, which are common, whether the class columns of
//! those agree, and for how many they do not where the agreement lets a rehearsal tell that.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Step, rehearsal, shards};
use crate::Error;
use crate::agreement::{Agreement, MatchBy, Rehearsal};
use crate::circuit::integer::equal;
use crate::circuit::{Builder, Program};
use crate::crypto::commutative::{Residues, Ristretto};
use crate::net::{self, Message, Tag};
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::{self, Intersection, intersect, oblivious};
use crate::protocol::transfers::Assumptions;
use crate::protocol::vole::Method;
use crate::protocol::yao::{self, Reveal};
use crate::protocol::{Session, Workspace};
use crate::release::impossible;
use crate::role::Role;
use crate::table::{Candidate, CutValue, Table};

pub(super) fn no_identifiers() -> Error {
    Error::input("the data was read without identifiers; read it for a vertical agreement")
}

/// How the common individuals of a release are found.
enum Matched {
    Function(Method),
    Curve(Ristretto),
    Residues(Box<Residues>),
}

fn matched_by(agreement: &Agreement, assumptions: Assumptions) -> Result<Matched, Error> {
    let by = agreement.matching().unwrap_or_default().by;
    Ok(match by {
        MatchBy::Oprf => Matched::Function(Method::suited_to(assumptions)),
        MatchBy::Ristretto255 => Matched::Curve(Ristretto::default()),
        MatchBy::Ffdhe3072 => {
            let group = Residues::ffdhe3072().map_err(net::Error::from)?;
            Matched::Residues(Box::new(group))
        }
    })
}

/// The messages by which the common individuals are found, for lists of so many.
pub(super) fn forecast_intersection(
    f: &mut Forecast,
    agreement: &Agreement,
    assumptions: Assumptions,
    own: usize,
    peer: usize,
) -> Result<(), Error> {
    match matched_by(agreement, assumptions)? {
        Matched::Function(method) => oblivious::forecast(f, method, own, peer),
        Matched::Curve(group) => psi::forecast_intersect(f, &group, own, peer),
        Matched::Residues(group) => psi::forecast_intersect(f, &*group, own, peer),
    }
    Ok(())
}

/// This party's rows of the common individuals, in the common order.
pub(super) fn common_rows(
    session: &mut Session,
    agreement: &Agreement,
    assumptions: Assumptions,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Intersection, Error> {
    let identifiers = table.identifiers().ok_or_else(no_identifiers)?;
    let starts = |total| progress(Step::Began { phase: "set intersection", total });
    let options = psi::Options {
        largest_set: usize::try_from(agreement.max_records).unwrap_or(usize::MAX),
        starts: &starts,
        progress: &|items| progress(Step::Advanced(items)),
    };
    intersect_by(session, agreement, assumptions, identifiers, options)
}

/// Finds common identifiers as is agreed.
pub(super) fn intersect_by<S: AsRef<[u8]> + Sync>(
    session: &mut Session,
    agreement: &Agreement,
    assumptions: Assumptions,
    identifiers: &[S],
    options: psi::Options<'_>,
) -> Result<Intersection, Error> {
    Ok(match matched_by(agreement, assumptions)? {
        Matched::Function(method) => oblivious::intersect(session, method, identifiers, options)?,
        Matched::Curve(group) => intersect(session, &group, identifiers, options)?,
        Matched::Residues(group) => intersect(session, &*group, identifiers, options)?,
    })
}

/// How many records a party has.
#[derive(Serialize, Deserialize)]
struct RecordCount {
    records: u64,
}

impl Message for RecordCount {
    const TAG: Tag = Tag::new(*b"hdrc");
    const MOST_BYTES: usize = 8;
}

/// Exchanges the numbers of records with the peer.
pub(super) fn exchange_records(
    session: &mut Session,
    agreement: &Agreement,
    own: usize,
) -> Result<usize, Error> {
    session.channel.send(&RecordCount { records: own as u64 })?;
    let RecordCount { records } = session.channel.receive()?;
    if records > agreement.max_records {
        let problem = "it announces more records than are agreed";
        return Err(net::Error::Malformed { tag: RecordCount::TAG, problem }.into());
    }
    Ok(usize::try_from(records).unwrap_or(usize::MAX))
}

/// The messages of [`exchange_records`].
pub(super) fn forecast_records(f: &mut Forecast) -> Result<(), Error> {
    Ok(f.exchange_like(&RecordCount { records: 0 })?)
}

/// Ends the run if fewer people are common than is agreed. Both know how many are.
pub(super) fn check_common(agreement: &Agreement, common: usize) -> Result<(), Error> {
    let least = agreement.matching().map_or(0, |matching| matching.min_common);
    if common as u64 >= least {
        return Ok(());
    }
    let column = agreement.identifier().map(|id| id.column.clone()).unwrap_or_default();
    Err(Error::disagreement(format!(
        "of this side's people {common} are also in the peer's data, and the agreement asks for at least \
         {least} (`min_common` in [id]): compare how each side writes column `{column}`, with signs and \
         zeros such as c1, c-1 and c01, and start again; `rehearse = \"noisy\"` in [id] of an agreement \
         tells about how many there are, for a small ε, before a run"
    )))
}

/// Ends the run unless both parties have the same class for every common individual. Hashes of the
/// columns are compared inside a circuit: nobody sees the other's, and one bit is opened.
pub(super) fn compare_classes(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
) -> Result<(), Error> {
    session.channel.begin_phase("class");
    let mut hash = Sha256::new();
    hash.update(b"diptych class column v1");
    hash.update(session.id.as_bytes());
    hash.update(table.classes());
    let hash: [u8; 32] = hash.finalize().into();
    let bits: Vec<bool> = (0..256).map(|i| hash[i / 8] >> (i % 8) & 1 == 1).collect();
    let same = yao::run(session, Role::P1, &same_hash(), &bits, Reveal::Both);
    match same?.as_deref() {
        Some([true]) => Ok(()),
        _ => {
            let differing = count_differing(session, agreement, table)?;
            let differing = match differing {
                None => String::new(),
                Some(1) => " for 1 person".to_owned(),
                Some(people) => format!(" for {people} people"),
            };
            let column = &agreement.schema.class.column;
            Err(Error::disagreement(format!(
                "the class columns of the common individuals differ between the parties{differing}: \
                 compare how each side derived column `{column}`, and start again; `rehearse = \
                 \"labels\"` in [id] of an agreement tells it, once, before ε is spent"
            )))
        }
    }
}

/// Of how many of the common people in `table` the class differs, where the agreement lets a
/// rehearsal tell that.
fn count_differing(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
) -> Result<Option<usize>, Error> {
    if agreement.matching().and_then(|matching| matching.rehearse) != Some(Rehearsal::Labels) {
        return Ok(None);
    }
    let labelled = match shards::number(agreement) {
        None => rehearsal::labelled(table).ok_or_else(no_identifiers)?,
        Some(_) => shards::labelled(session)?,
    };
    let options = psi::Options { largest_set: table.len(), starts: &|_| (), progress: &|_| () };
    let same = psi::cardinality(session, &Ristretto::default(), &labelled, options)?;
    Ok(Some(table.len().saturating_sub(same.common)))
}

/// Whether two hashes are the same.
fn same_hash() -> Program {
    let mut g = Builder::new();
    let [first, second] =
        [(Role::P1, "p1"), (Role::P2, "p2")].map(|(owner, name)| g.input(owner, name, 256));
    let same = equal(&mut g, &first, &second);
    g.output("same", &[same]);
    Program::new(&g.finish())
}

/// The messages of comparing the class columns.
pub(super) fn forecast_classes(f: &mut Forecast) {
    f.begin_phase("class");
    yao::forecast(f, Role::P1, &same_hash(), Reveal::Both);
}

/// The message with a split.
pub(super) fn forecast_split(f: &mut Forecast, owner: Role) -> Result<(), Error> {
    Ok(f.message_like(owner, &Split { point: 0 })?)
}

#[derive(Serialize, Deserialize)]
struct Split {
    point: u32,
}

impl Message for Split {
    const TAG: Tag = Tag::new(*b"dgsp");
    const MOST_BYTES: usize = 4;
}

/// Sends the peer the split of the chosen interval, or receives it.
pub(super) fn exchange_split(
    session: &mut Session,
    winner: Candidate,
    own: Option<u32>,
) -> Result<u32, Error> {
    if let Some(point) = own {
        session.channel.send(&Split { point })?;
        return Ok(point);
    }
    let Split { point } = session.channel.receive()?;
    let inside = matches!(winner.value, CutValue::Interval { start, end }
        if start < point && point < end);
    match inside {
        true => Ok(point),
        false => Err(impossible("named a split that its interval does not have")),
    }
}
