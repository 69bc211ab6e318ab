//! One release by two parties, with or without a fault, against the same by one.
#![allow(clippy::result_large_err, reason = "the errors of decisions are the library's")]

use std::cell::RefCell;
use std::panic;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use diptych::agreement::Model;
use diptych::error::Kind;
use diptych::math::{Randomness, Rational};
use diptych::net::{Channel, Limits, Tag};
use diptych::primitives::Error::{NoPlacement, NoStore};
use diptych::privacy::decisions::{Decision, Decisions, Tape};
use diptych::privacy::{self, Budget};
use diptych::protocol::coins::TapeCoins;
use diptych::protocol::{Session, Workspace};
use diptych::release::diffgen;
use diptych::release::diffgen::plan::Plan;
use diptych::release::diffgen::single::{Mechanisms, Single};
use diptych::release::diffgen::two_party::{Keys, release_with};
use diptych::release::tree::Generalized;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::release::{Outcome, run};
use diptych::table::Table;
use diptych::{Error, Role};
use num_bigint::{BigInt, BigUint};
use sha2::{Digest, Sha256};

use crate::cases::Case;
use crate::line::{Fault, ends};

const TABLE: Tag = Tag::new(*b"tabl");

/// Whether even the coarsest table is not as required.
pub fn is_unmet(error: &Error) -> bool {
    error.kind() == Kind::Unmet
}

/// Whether what few bins, or stores of few, cannot hold is all that went wrong.
pub fn is_of_few_bins(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    matches!(source, Some(NoPlacement | NoStore))
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

fn by_one(case: &Case, decisions: &Shared) -> Result<Vec<u8>, Error> {
    if case.form.is_lkc() {
        // Nothing is drawn, so no decision is asked for.
        let mut rng = Randomness::seeded(0);
        let release = run::alone(&case.agreement, &case.whole, None, &mut rng, &|_| ())?;
        return Ok(file(&release.table));
    }
    let plan = Plan::new(&case.agreement)?;
    let mechanisms = Mechanisms::with(&case.agreement, || decisions.clone())?;
    let mut form = Single::new(&plan, &case.whole, mechanisms)?;
    let release = diffgen::run(&plan, Budget::new(plan.epsilon()), &mut form, &|_| ())?;
    Ok(file(&release.table))
}

/// The release of one party that holds everything, and the decisions that led to it; nothing if even
/// the coarsest table is not as required.
pub fn alone(case: &Case, seed: u64) -> Result<Option<(Vec<u8>, Tape)>, Error> {
    let (rng, made) = (Randomness::seeded(seed), Vec::new());
    let decisions = Shared::new(Source::Fresh { rng, made });
    let file = match by_one(case, &decisions) {
        Err(error) if is_unmet(&error) => return Ok(None),
        made => made?,
    };
    let made = match &*decisions.source.borrow() {
        Source::Fresh { made, .. } => made.clone(),
        Source::Again(_) => Vec::new(),
    };
    Ok(Some((file, Tape::new(made))))
}

/// The same by one party again, from its decisions.
pub fn again(case: &Case, tape: &Tape) -> Result<Vec<u8>, Error> {
    by_one(case, &Shared::new(Source::Again(tape.clone())))
}

/// Nobody waits for ever: for a minute if something is wrong, and otherwise as long as a busy machine
/// may take.
fn limits(faults: &[Option<Fault>; 2]) -> Limits {
    let wrong = faults.iter().any(Option::is_some);
    let limit = Duration::from_secs(if wrong { 60 } else { 1800 });
    Limits { handshake: limit, read: limit, write: limit, ..Limits::default() }
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
    let limits = limits(&faults);
    let [one, other] = ends(faults).map(|end| Channel::new(Box::new(end), limits));
    let party = |role: Role, channel, coins: TapeCoins| {
        let rng = Randomness::seeded(seed.wrapping_mul(2).wrapping_add(role as u64));
        let table = &tables[role as usize];
        move || {
            let terms = case.agreement.canonical();
            let mut session =
                Workspace::from(Session::establish(channel, role, terms.as_bytes(), rng)?);
            session.coins = Box::new(coins);
            let outcome = released(&mut session, case, table);
            session.conclude(outcome)
        }
    };
    let (first, second) = (party(Role::P1, one, first), party(Role::P2, other, second));
    thread::scope(|scope| {
        let running = [scope.spawn(first), scope.spawn(second)];
        running.map(|party| party.join().map_err(|cause| words(&*cause)))
    })
}

fn released(session: &mut Workspace, case: &Case, table: &Table) -> Result<(Vec<u8>, u64), Error> {
    let file = file(&outcome(session, case, table)?.release.table);
    let own = Sha256::digest(&file);
    session.channel.send_bytes(TABLE, &own)?;
    if session.channel.receive_bytes(TABLE, own.len())? != own.as_slice() {
        return Err(Error::disagreement("the other party has another table"));
    }
    Ok((file, session.channel.costs().total().messages_sent))
}

fn outcome(session: &mut Workspace, case: &Case, table: &Table) -> Result<Outcome, Error> {
    let agreement = &case.agreement;
    if !matches!(agreement.model, Model::DiffGen(_)) {
        let prepared = run::prepare(session, agreement)?;
        return run::together(session, agreement, table, None, prepared, &|_| ());
    }
    let plan = Plan::new(agreement)?;
    // Keys too short to protect anything, and quickly made.
    let keys = match case.form.is_hidden() && case.all_bins {
        true => Keys::Agreed,
        false => Keys::ForTests(if plan.terms().taylor.is_some() { 1024 } else { 512 }),
    };
    let budget = Budget::new(plan.epsilon());
    release_with(session, agreement, table, budget, keys, &|_| ())
}

fn words(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

/// Panics are told by what comes of them, not on the screen.
pub fn keep_panics_quiet() {
    panic::set_hook(Box::new(|_| ()));
}
