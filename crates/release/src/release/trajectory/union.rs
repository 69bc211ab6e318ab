//! Paths of two parties that hold different people.
//!
//! *Inputs*: each party's paths. *Output*, to both: one table of both parties' anonymized paths.
//!
//! 1. *At home*, before the parties meet: each anonymizes its own paths ([`super::anonymize`]), so that
//!    what is required holds of them alone: its [`Part`].
//! 2. *Overlap check*, if agreed: both learn how many identifiers are common. If any is there is no
//!    release: that person would count twice.
//! 3. *Suppression*: both tell each other which pairs they took out, and take out the other's too.
//! 4. *Paths*: both send each other what is left, in the one order that there is. Each tests what it
//!    was sent: bounds, form, values, none of the pairs of both lists, and that what is required holds
//!    of it. The release is both together.
//!
//! *Theorem.* If what is required holds of two tables of different people, it holds of both together:
//! of every q, each has none or at least K paths, so the sum is none or at least K; and a part of the
//! sum is an average of two parts of at most C. Taking further pairs out of a part changes no other
//! number (see [`super`]); that of all its people may change, and is tested again.
//!
//! *Learned by the peer*: the pairs that this party took out, and its part, which is the release less
//! the peer's own: the view of a party is made from its own part, both lists and the release (a test
//! does), and, where the overlap is counted, from how many people each has and how many both. *Learned by whoever watches the network*: how many
//! bytes each list and each part has; where places have names of different lengths, that can tell which
//! was taken out. *What can be timed*: the test of the other's part.
//!
//! *Cost*: twelve bytes and a name for every pair, seven and two for each of its pairs for every row.

use super::paths::{MOST_INSTANCES, Paths, spell};
use super::wire::{self, ListSize, Pair, PartSize};
use super::{MOST_STEPS, Terms, anonymize, made, violating, whole};
use crate::Error;
use crate::agreement::trajectory::Terms as Agreed;
use crate::agreement::{Agreement, Model};
use crate::crypto::commutative::Ristretto;
use crate::net::{self, Tag};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::{self, Cardinality, cardinality};
use crate::release::forecast::Records;
use crate::release::trajectory::{too_long, unmet_then};
use crate::release::{Outcome, Release, Step, impossible, other_data};

/// The phase in which both tell which pairs they took out.
const SUPPRESSION: &str = "suppression";
/// The phase in which both send what is left.
const PATHS: &str = "paths";
const LIST: Tag = Tag::new(*b"trjs");
const PART: Tag = Tag::new(*b"trjr");
/// Most steps of a search in one party's paths: so few that nobody waits in vain for a party that tests
/// the other's, and then both together.
const MOST_STEPS_EACH: u128 = MOST_STEPS / 10;
/// Most bytes of one party's paths written out: a release of both can still be read.
const MOST_SPELT: usize = 1 << 30;
/// Bytes of a pair in a path beside the name of its place, at most.
const BESIDE_A_PLACE: usize = 22;
/// Bytes of a message; parties take turns.
const CHUNK: usize = 1 << 20;

/// One party's paths, anonymized locally: its input to a release by two.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is left of them.
    paths: Paths,
    /// The pairs that were taken out, in order.
    taken: Vec<Pair>,
    /// People before.
    people: usize,
    /// Who they are, where the overlap is counted.
    identifiers: Vec<String>,
    notes: Vec<String>,
}

/// How much a party reveals in a release of paths by two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The pairs that it took out.
    pub taken: ListSize,
    /// What it has left when both have taken out theirs.
    pub part: PartSize,
}

impl Extent {
    /// No party tells more under an agreement.
    pub fn most(agreement: &Agreement) -> Self {
        let part = PartSize::most(agreement.max_records);
        Self { taken: part.pairs, part }
    }
}

impl Part {
    /// Anonymizes a party's paths.
    ///
    /// # Errors
    /// What cannot be met, or is too much for one of two.
    pub fn new(
        agreement: &Agreement,
        paths: &Paths,
        progress: &dyn Fn(Step),
    ) -> Result<Self, Error> {
        let Model::Trajectory(terms) = &agreement.model else {
            return Err(other_data("attributes"));
        };
        progress(Step::Began { phase: "suppressing", total: paths.rows() });
        let terms = Terms::of(terms, paths.len() as u64);
        terms.end_in_time(paths)?;
        check(paths, &terms)?;
        let identifiers = identifiers(agreement, paths)?;
        let made = anonymize(paths, &terms)?;
        let mut taken: Vec<u32> = made.suppressed.iter().map(|one| one.pair).collect();
        taken.sort_unstable();
        let pair = |number: u32| paths.pairs[number as usize].clone();
        progress(Step::Advanced(paths.rows()));
        progress(Step::Ended);
        Ok(Self {
            taken: taken.into_iter().map(pair).collect(),
            people: paths.len(),
            identifiers,
            notes: made.how(&paths.names()),
            paths: made.paths.compact(),
        })
    }

    /// People, before any path became empty.
    pub fn people(&self) -> usize {
        self.people
    }

    /// What this party will tell if the other takes out nothing that it has.
    pub fn extent(&self) -> Extent {
        Extent { taken: ListSize::of(&self.taken), part: PartSize::of(&self.paths) }
    }

    /// What is left without the pairs of a list, which is in order.
    ///
    /// # Errors
    /// If it is not as required any more.
    pub fn without(&self, taken: &[Pair], terms: &Terms) -> Result<Paths, Error> {
        let pairs = self.paths.pairs.iter();
        let gone: Vec<bool> = pairs.map(|pair| taken.binary_search(pair).is_ok()).collect();
        let left = self.paths.without(&gone).compact();
        let emptied = self.people.saturating_sub(left.len());
        whole(&left, terms).map_err(|problem| unmet_then(emptied, &problem))?;
        Ok(left)
    }
}

/// Half of what one party may have alone, or less: what both have must be tested, by anybody.
fn check(paths: &Paths, terms: &Terms) -> Result<(), Error> {
    let too_many = |what: &str, most: usize| {
        let problem = format!("there are more than {most} {what}, too many for one of two parties");
        Err(Error::input(format!("{problem}: divide times, or name coarser places")))
    };
    // However many pairs the other has that this one has not.
    let steps = paths.most_steps_among(usize::MAX, terms.l);
    if steps > MOST_STEPS_EACH {
        return Err(too_long(steps));
    }
    if paths.pairs.len() > wire::MOST_DIFFERENT_EACH {
        return too_many("different pairs of place and time", wire::MOST_DIFFERENT_EACH);
    }
    if paths.items.len() > wire::MOST_INSTANCES_EACH {
        return too_many("pairs in all paths", MOST_INSTANCES / 2);
    }
    let spelt = |pair: &u32| paths.pairs[*pair as usize].1.len() + BESIDE_A_PLACE;
    if paths.items.iter().map(spelt).sum::<usize>() > MOST_SPELT {
        return too_many("bytes in all paths", MOST_SPELT);
    }
    if paths.pairs.iter().map(|(_, place)| place.len()).sum::<usize>() > wire::MOST_NAMES {
        return too_many("bytes in the names of places", wire::MOST_NAMES);
    }
    if let Some((time, place)) = paths.pairs.iter().find(|(_, place)| !wire::is_place(place)) {
        let shown: String = place.chars().take(40).flat_map(char::escape_debug).collect();
        return Err(Error::input(format!(
            "the place `{shown}` at {time} cannot be released by two parties: it begins or ends with a \
             space, has a control character, or more than {} bytes",
            wire::MOST_NAME
        )));
    }
    Ok(())
}

/// Who the people are, where the overlap is counted.
fn identifiers(agreement: &Agreement, paths: &Paths) -> Result<Vec<String>, Error> {
    let Some(identifier) = agreement.identifier() else { return Ok(Vec::new()) };
    if paths.identifiers.len() != paths.len() {
        let problem = "the data was read without identifiers; read it for an overlap check";
        return Err(Error::input(problem));
    }
    identifier.normalize.column(&paths.identifiers).map_err(|_| {
        Error::input(format!(
            "the column `{}` does not tell people apart: by `normalize` in [id] an identifier is empty, \
             or the same as another",
            identifier.column
        ))
    })
}

/// Makes a release with the peer.
///
/// # Errors
/// See [`Error`].
pub(in crate::release) fn together(
    session: &mut Session,
    agreement: &Agreement,
    terms: &Agreed,
    part: &Part,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    let overlap = count_overlap(session, agreement, part, progress)?;
    if let Some(Cardinality { common: common @ 1.., .. }) = overlap {
        return Err(Error::input(format!(
            "{common} people are in both tables, and would count twice: agree on who leaves them out, and \
             on accept_composition = true in [release], as the ledgers have this run already; then run \
             again"
        )));
    }
    let terms = Terms::of(terms, part.people as u64);
    session.channel.begin_phase(SUPPRESSION);
    let (taken, taken_size) = exchange_lists(session, &part.taken)?;
    let left = part.without(&taken, &terms)?;

    session.channel.begin_phase(PATHS);
    let size = PartSize::of(&left);
    session.channel.send(&size)?;
    let peer_size: PartSize = session.channel.receive()?;
    peer_size.check(agreement.max_records).map_err(impossible)?;
    let bytes = exchange(session, PART, &wire::write_part(&left), peer_size.bytes())?;
    let names = Paths {
        values: agreement.schema.class.values.clone(),
        protected: left.protected.clone(),
        ..Paths::default()
    };
    let peer =
        wire::read_part(&bytes, peer_size, agreement.max_records, names).map_err(impossible)?;
    progress(Step::Began { phase: "testing the peer's paths", total: peer.rows() });
    examine(&peer, &terms, [&part.taken, &taken])?;
    progress(Step::Advanced(peer.rows()));
    let table = made::tabulate(agreement, &left.union(&peer));
    progress(Step::Ended);

    let mut notes = part.notes.clone();
    let (own, all) = (left.len(), part.paths.len());
    notes.push(format!(
        "the peer took out {} pairs: {} more people lost all",
        taken.len(),
        all - own
    ));
    let own = Extent { taken: ListSize::of(&part.taken), part: size };
    Ok(Outcome {
        release: Release { table, spends: Vec::new(), notes },
        in_both: overlap.map(|overlap| overlap.common),
        peer_records: overlap.map(|overlap| overlap.peer_size),
        course: Vec::new(),
        paths: [own, Extent { taken: taken_size, part: peer_size }],
    })
}

/// The messages of [`together`] for parts of these sizes; its number of rows, if no path is in both.
///
/// # Errors
/// If nothing is said of paths.
pub(in crate::release) fn forecast(
    f: &mut Forecast,
    agreement: &Agreement,
    records: Records,
) -> Result<u64, Error> {
    if agreement.identifier().is_some() {
        psi::forecast_cardinality(f, &Ristretto::default(), records.own, records.peer);
    }
    let [own, peer] = records.paths;
    if own.part.rows == 0 || peer.part.rows == 0 {
        return Err(other_data("paths"));
    }
    f.begin_phase(SUPPRESSION);
    f.exchange_like(&own.taken)?;
    forecast_exchange(f, LIST, own.taken.bytes(), peer.taken.bytes());
    f.begin_phase(PATHS);
    f.exchange_like(&own.part)?;
    forecast_exchange(f, PART, own.part.bytes(), peer.part.bytes());
    Ok(u64::from(own.part.rows) + u64::from(peer.part.rows))
}

/// How many people are in both tables, where it is agreed to count them.
fn count_overlap(
    session: &mut Session,
    agreement: &Agreement,
    part: &Part,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Option<Cardinality>, Error> {
    if agreement.identifier().is_none() {
        return Ok(None);
    }
    let starts = |total| progress(Step::Began { phase: "overlap check", total });
    let options = psi::Options {
        largest_set: usize::try_from(agreement.max_records).unwrap_or(usize::MAX),
        starts: &starts,
        progress: &|items| progress(Step::Advanced(items)),
    };
    Ok(Some(cardinality(session, &Ristretto::default(), &part.identifiers, options)?))
}

/// Exchanges with the peer which pairs were removed.
fn exchange_lists(session: &mut Session, own: &[Pair]) -> Result<(Vec<Pair>, ListSize), Error> {
    session.channel.send(&ListSize::of(own))?;
    let size: ListSize = session.channel.receive()?;
    size.check().map_err(impossible)?;
    let bytes = exchange(session, LIST, &wire::write_list(own), size.bytes())?;
    let taken = wire::read_list(&bytes, size).map_err(impossible)?;
    Ok((taken, size))
}

/// Sends bytes and receives the expected number, in turns.
fn exchange(
    session: &mut Session,
    tag: Tag,
    own: &[u8],
    due: usize,
) -> Result<Vec<u8>, net::Error> {
    let (mut heard, mut part) = (Vec::new(), Vec::new());
    for start in (0..own.len().max(due)).step_by(CHUNK) {
        let end = own.len().min(start.saturating_add(CHUNK));
        if let Some(bytes) = own.get(start..end).filter(|bytes| !bytes.is_empty()) {
            session.channel.send_bytes(tag, bytes)?;
        }
        if start < due {
            session.channel.receive_bytes_into(tag, CHUNK.min(due - start), &mut part)?;
            heard.extend_from_slice(&part);
        }
    }
    Ok(heard)
}

/// The messages of [`exchange`].
fn forecast_exchange(f: &mut Forecast, tag: Tag, own: usize, peer: usize) {
    let (here, there) = (f.role(), f.role().peer());
    for start in (0..own.max(peer)).step_by(CHUNK) {
        for (from, bytes) in [(here, own), (there, peer)] {
            if start < bytes {
                f.message(from, tag, CHUNK.min(bytes - start));
            }
        }
    }
}

/// Sees that what is required holds of the peer's part, and that it has none of the pairs that were
/// taken out. Its owner has tested as much, or would have been refused.
fn examine(peer: &Paths, terms: &Terms, taken: [&[Pair]; 2]) -> Result<(), Error> {
    let broken = |problem: String| {
        Error::peer(format!(
            "the peer's paths are not as the agreement requires: {problem}; nothing is released"
        ))
    };
    let gone = |pair: &&Pair| taken.iter().any(|taken| taken.binary_search(pair).is_ok());
    if peer.pairs.iter().any(|pair| gone(&pair)) {
        return Err(broken("they have a pair that was taken out".to_owned()));
    }
    whole(peer, terms).map_err(broken)?;
    check(peer, terms).map_err(|error| broken(error.to_string()))?;
    let found = violating::find(peer, &peer.index(), terms.l, &terms.rule());
    let found = found.map_err(|error| broken(error.to_string()))?;
    let Some(set) = found.sets.iter().next() else { return Ok(()) };
    let mut text = String::new();
    spell(set, &peer.names(), &mut text);
    Err(broken(format!("too few people have {text}, or it tells too much of them")))
}
