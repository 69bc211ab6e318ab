//! One release by two parties, with or without a fault, against the same by one.
#![allow(clippy::result_large_err, reason = "the errors of decisions are the library's")]

use std::cell::RefCell;
use std::panic;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use diptych::Role;
use diptych::agreement::Agreement;
use diptych::math::{Randomness, Rational};
use diptych::net::{self, Blame, Channel, Limits, Tag};
use diptych::privacy::decisions::{Decision, Decisions, Tape};
use diptych::privacy::{self, Budget};
use diptych::protocol::Session;
use diptych::protocol::coins::TapeCoins;
use diptych::release::diffgen::plan::Plan;
use diptych::release::diffgen::single::{Mechanisms, Single};
use diptych::release::diffgen::two_party::{self, Keys, release_with};
use diptych::release::diffgen::{self, run};
use diptych::release::tree::Generalized;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::Table;
use num_bigint::{BigInt, BigUint};
use sha2::{Digest, Sha256};

use crate::cases::Case;
use crate::line::{Fault, ends};

const TABLE: Tag = Tag::new(*b"tabl");

/// How a party can end without a table: all that is not a panic.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Net(#[from] net::Error),
    #[error(transparent)]
    Release(#[from] two_party::Error),
    #[error("the other party has another table")]
    OtherTable,
}

impl net::Fault for Error {
    fn blame(&self) -> Blame<'_> {
        match self {
            Self::Net(error) => error.blame(),
            Self::Release(error) => error.blame(),
            Self::OtherTable => Blame::Disagreement,
        }
    }
}

/// What one party ends with: a release as a file and how many messages it sent, an error, or a panic.
pub type Ended = Result<Result<(Vec<u8>, u64), Error>, String>;

/// Decisions that are written down, or read again.
#[derive(Clone)]
pub struct Shared {
    source: Rc<RefCell<Source>>,
}

enum Source {
    Fresh { rng: Randomness, made: Vec<Decision> },
    Again(Tape),
}

impl Shared {
    fn new(source: Source) -> Self {
        Self { source: Rc::new(RefCell::new(source)) }
    }

    fn decide<T: Clone>(
        &self,
        fresh: impl FnOnce(&mut Randomness) -> Result<T, privacy::Error>,
        again: impl FnOnce(&mut Tape) -> Result<T, privacy::Error>,
        note: impl FnOnce(T) -> Decision,
    ) -> Result<T, privacy::Error> {
        match &mut *self.source.borrow_mut() {
            Source::Again(tape) => again(tape),
            Source::Fresh { rng, made } => {
                let value = fresh(rng)?;
                made.push(note(value.clone()));
                Ok(value)
            }
        }
    }
}

impl Decisions for Shared {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, privacy::Error> {
        self.decide(|rng| rng.uniform_below(bound), |t| t.uniform_below(bound), Decision::Uniform)
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, privacy::Error> {
        let note = |value: BigUint| Decision::Noise(value.into());
        self.decide(|rng| rng.geometric(rate), |tape| tape.geometric(rate), note)
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, privacy::Error> {
        let (fresh, again) = (
            |rng: &mut Randomness| rng.discrete_laplace(rate),
            |tape: &mut Tape| tape.discrete_laplace(rate),
        );
        self.decide(fresh, again, Decision::Noise)
    }
}

fn file(table: &Generalized) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory does not fail; if it did, the files would differ.
    let _ = write_csv(table, Rows::All, &mut bytes);
    bytes
}

fn by_one(case: &Case, decisions: &Shared) -> Result<Vec<u8>, diffgen::Error> {
    let plan = Plan::new(&case.agreement)?;
    let mechanisms = Mechanisms::with(&case.agreement, || decisions.clone())?;
    let mut form = Single::new(&plan, &case.whole, mechanisms)?;
    let release = run(&plan, Budget::new(plan.epsilon()), &mut form, &|_| ())?;
    Ok(file(&release.table))
}

/// The release of one party that holds everything, and the decisions that led to it.
pub fn alone(case: &Case, seed: u64) -> Result<(Vec<u8>, Tape), diffgen::Error> {
    let (rng, made) = (Randomness::seeded(seed), Vec::new());
    let decisions = Shared::new(Source::Fresh { rng, made });
    let file = by_one(case, &decisions)?;
    let made = match &*decisions.source.borrow() {
        Source::Fresh { made, .. } => made.clone(),
        Source::Again(_) => Vec::new(),
    };
    Ok((file, Tape::new(made)))
}

/// The same by one party again, from its decisions.
pub fn again(case: &Case, tape: &Tape) -> Result<Vec<u8>, diffgen::Error> {
    by_one(case, &Shared::new(Source::Again(tape.clone())))
}

fn limits() -> Limits {
    let minute = Duration::from_secs(60);
    Limits { handshake: minute, read: minute, write: minute, ..Limits::default() }
}

/// Both parties, from handshake to comparing their tables, as `diptych run` does.
pub fn together(
    case: &Case,
    tables: &[Table; 2],
    tape: &Tape,
    seed: u64,
    faults: [Option<Fault>; 2],
) -> [Ended; 2] {
    let (first, second) = TapeCoins::pair(tape);
    let [one, other] = ends(faults).map(|end| Channel::new(Box::new(end), limits()));
    let agreement = &case.agreement;
    let party = |role: Role, channel, coins: TapeCoins| {
        let rng = Randomness::seeded(seed.wrapping_mul(2).wrapping_add(role as u64));
        let table = &tables[role as usize];
        move || {
            let terms = agreement.canonical();
            let mut session = Session::establish(channel, role, terms.as_bytes(), rng)?;
            session.coins = Box::new(coins);
            let outcome = released(&mut session, agreement, table);
            session.conclude(outcome)
        }
    };
    let (first, second) = (party(Role::P1, one, first), party(Role::P2, other, second));
    thread::scope(|scope| {
        let running = [scope.spawn(first), scope.spawn(second)];
        running.map(|party| party.join().map_err(|cause| words(&*cause)))
    })
}

fn released(
    session: &mut Session,
    agreement: &Agreement,
    table: &Table,
) -> Result<(Vec<u8>, u64), Error> {
    let plan = Plan::new(agreement).map_err(two_party::Error::from)?;
    // Too short to protect anything, and quickly made.
    let keys = Keys::ForTests(if plan.terms().taylor.is_some() { 1024 } else { 512 });
    let budget = Budget::new(plan.epsilon());
    let outcome = release_with(session, agreement, table, budget, keys, &|_| ())?;
    let file = file(&outcome.release.table);
    let own = Sha256::digest(&file);
    session.channel.send_bytes(TABLE, &own)?;
    if session.channel.receive_bytes(TABLE, own.len())? != own.as_slice() {
        return Err(Error::OtherTable);
    }
    Ok((file, session.channel.costs().total().messages_sent))
}

fn words(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

/// Panics are told by what comes of them, not on the screen.
pub fn keep_panics_quiet() {
    panic::set_hook(Box::new(|_| ()));
}
