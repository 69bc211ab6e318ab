//! The error of this package.

use std::path::PathBuf;

use crate::Epsilon;
use crate::ledger::{Hash, Reader, RunId};
use crate::math::Rational;

/// An error of this package; its message says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is not a privacy budget.
    #[error(
        "epsilon {text:?} {problem}; write a positive decimal number such as \"1.0\" or \"0.25\", \
         with at most 4 digits before the point and 18 after it"
    )]
    Epsilon {
        /// The text, truncated to a printable length.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A spend of zero, on which no mechanism can run.
    #[error("{name:?} would spend nothing; give it a positive part of the budget")]
    EmptySpend {
        /// What it was to be spent on.
        name: String,
    },
    /// The budget does not suffice.
    #[error(
        "{name:?} needs ε {} but only {} is left; lower it or agree on a larger ε",
        decimal(wanted),
        decimal(left)
    )]
    BudgetExceeded {
        /// What it was to be spent on.
        name: String,
        /// What it needs.
        wanted: Rational,
        /// What is left.
        left: Rational,
    },
    /// The rounding of weights costs more than the mechanism may spend.
    #[error(
        "rounding of the weights costs ε {} and {name:?} has only {}; use more digits or a larger ε",
        decimal(loss),
        decimal(available)
    )]
    RoundingTooCoarse {
        /// The spend.
        name: String,
        /// What rounding costs.
        loss: Rational,
        /// What the mechanism may spend.
        available: Rational,
    },
    /// A number of fraction bits, digits or grid bits that no mechanism supports.
    #[error("{what} is {given}, but must be between {least} and {most}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        given: u64,
        /// The least value allowed.
        least: u64,
        /// The largest value allowed.
        most: u64,
    },
    /// ε is so large that the failure probability of a run alone would make δ larger than 2^-40.
    #[error(
        "ε is {epsilon}, and at most {most} keeps δ below 2^-40 where a run may fail with a probability of \
         {failures}·2^-64, as matching people in shards may: lower `epsilon` to {most}, or use fewer \
         `shards` or none"
    )]
    FailuresTooLikely {
        /// ε of the run.
        epsilon: Epsilon,
        /// In how many ways it may fail.
        failures: u64,
        /// The largest ε with one decimal.
        most: String,
    },
    /// The sensitivity is zero.
    #[error("a utility with sensitivity 0 does not depend on the data; state its true sensitivity")]
    NoSensitivity,
    /// There is nothing to choose from.
    #[error(
        "there is no candidate to choose from; at least one with a multiplicity above 0 is needed"
    )]
    NoCandidates,
    /// The weights would exceed the supported length.
    #[error(
        "weights of {bits} bits are too long (at most {most}); lower max_records or ε, or select \
         by permute-and-flip, whose cost does not grow with them"
    )]
    WeightsTooLong {
        /// How long they would be.
        bits: u64,
        /// The longest allowed.
        most: u64,
    },
    /// A score is not a multiple of the grid step of the noise.
    #[error(
        "candidate {index} has a score that is not a multiple of 2^-{grid_bits}; use 20 grid bits"
    )]
    OffGrid {
        /// The candidate.
        index: usize,
        /// g: scores are multiples of 2^-g.
        grid_bits: u32,
    },
    /// The rate of a choice is rounded to zero.
    #[error(
        "a rate of {} is 0 at {digits} decimal digits; use more digits or a larger ε",
        rate.decimal_rounded_up(18)
    )]
    RateVanishes {
        /// c of e^(c·u).
        rate: Rational,
        /// Decimal digits s of the rate.
        digits: u32,
    },
    /// A score is not a whole number.
    #[error(
        "the score of candidate {index} is not a whole number; use a utility with whole scores"
    )]
    NotWhole {
        /// The candidate.
        index: usize,
    },
    /// A tape does not match the mechanism that uses it.
    #[error("the tape does not fit: {0}")]
    Tape(&'static str),
    /// The file cannot be opened, read, written or synchronised to disk.
    #[error("cannot {action} the ledger {}: {source}; nothing was spent that the ledger does not show", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is no such ledger, and none is created unless requested.
    #[error(
        "there is no ledger {}; if it was moved, put it back or name its place in the party file: an \
         empty one counts nothing of what was spent. If nothing was ever spent on this data, make it with \
         `diptych ledger create {}`, or let the first run make it with --new-ledger",
        .0.display(), .0.display()
    )]
    Missing(PathBuf),
    /// A new ledger would replace an existing one.
    #[error("the ledger {} exists already; leave out --new-ledger, or choose another name", .0.display())]
    Exists(PathBuf),
    /// A head to be acknowledged is not lost, or was acknowledged before.
    #[error("the ledger knows the head {0} already; nothing is entered")]
    KnownHead(Hash),
    /// Another process holds the ledger.
    #[error("the ledger {} is in use by another run; wait until that run has ended", .0.display())]
    Locked(PathBuf),
    /// A complete line is not what was written.
    #[error(
        "line {line} of the ledger was changed or damaged: {problem}; restore the file from a \
         backup, as nothing can be released on a ledger that cannot be trusted"
    )]
    BadLine {
        /// The first bad line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The ledger is larger than the limit.
    #[error("the ledger has more than {most} bytes; is this the right file?")]
    TooLong {
        /// The limit.
        most: u64,
    },
    /// The data set's cap does not allow this run.
    #[error(
        "data set {data_set:?} has spent ε {}{} of its cap {cap}, and this run would spend {} more; \
         agree on a smaller ε or, if the data's owner consents, {}",
        decimal(spent), reader.words(), decimal(wanted), how_to_raise(data_set, *reader, *raise)
    )]
    CapReached {
        /// The data set.
        data_set: String,
        /// Towards whom the cap applies.
        reader: Reader,
        /// Spent before.
        spent: Box<Rational>,
        /// Asked for.
        wanted: Box<Rational>,
        /// Allowed in total.
        cap: Box<Epsilon>,
        /// Whether the cap is recorded in the ledger, and not in the party file alone.
        raise: bool,
    },
    /// The requested cap is not that of the data set.
    #[error(
        "the cap{} of data set {data_set:?} is {fixed}, fixed when it was first spent from, and \
         {wanted} is more; use {fixed} or less or, if the data's owner consents, raise it with \
         `diptych ledger raise-cap LEDGER --data-set {data_set:?} {} {wanted}`",
        reader.words(), reader.flag()
    )]
    CapAbove {
        /// The data set.
        data_set: String,
        /// Towards whom the cap applies.
        reader: Reader,
        /// The data set's cap.
        fixed: Box<Epsilon>,
        /// What was asked for.
        wanted: Box<Epsilon>,
    },
    /// An earlier release makes a promise that does not add up with this one.
    #[error(
        "data set {data_set:?} has a release {release:?}, and what the two tell together is bounded \
         by no promise, as one of them is not differentially private; if the data's owner consents \
         all the same, agree on accept_composition = true in [release] (without an agreement: \
         --accept-composition)"
    )]
    DoesNotAddUp {
        /// The data set.
        data_set: String,
        /// The earlier release.
        release: String,
    },
    /// A cap that cannot be raised, or not to this value.
    #[error(
        "the cap of data set {data_set:?} is {fixed} already; a cap can only be raised, not to {wanted}"
    )]
    NotRaised {
        /// The data set.
        data_set: String,
        /// The data set's cap.
        fixed: Box<Epsilon>,
        /// What was asked for.
        wanted: Box<Epsilon>,
    },
    /// A data set that the ledger does not know.
    #[error(
        "the ledger has no data set {0:?}: its first run fixes its cap; `diptych ledger show` lists them"
    )]
    UnknownDataSet(String),
    /// A data set that has no cap towards the peer.
    #[error(
        "data set {0:?} has no cap towards the peer: the first run whose party file has \
         `cap_towards_peer` fixes it"
    )]
    NoCapTowardsPeer(String),
    /// The name no longer refers to the file that was opened.
    #[error(
        "the ledger {} was moved, removed or replaced after this command had opened it, and what is \
         entered now would never be read again; put the ledger back in its place and start again",
        .0.display()
    )]
    Moved(PathBuf),
    /// A line of a kind that this version does not know.
    #[error(
        "line {line} of the ledger was written by a newer version of the program; use that version"
    )]
    NewerLine {
        /// The line, from 1.
        line: usize,
    },
    /// All exact rehearsals that are allowed with the peer on the data set were used.
    #[error(
        "data set {data_set:?} was rehearsed with {peer:?} before; every further exact rehearsal, under \
         whatever agreement, could tell about single people if a table changed, so there is one for a \
         data set and a peer: run the release; or agree on rehearse = \"noisy\" in [id], which spends a \
         small ε and can be repeated; or, if the data's owner consents, allow one more exact rehearsal \
         with `diptych ledger allow-rehearsal LEDGER --data-set {data_set:?} --peer {peer:?}`"
    )]
    RehearsedBefore {
        /// The data set.
        data_set: String,
        /// The peer, by the last name that it had in a rehearsal.
        peer: String,
    },
    /// A rehearsal that needs no line to be allowed.
    #[error(
        "the ledger has no rehearsal on data set {data_set:?} with {peer:?}, and the first needs no \
         leave; `diptych ledger show` lists those that there were, with the names of peers"
    )]
    NotRehearsed {
        /// The data set.
        data_set: String,
        /// The peer.
        peer: String,
    },
    /// A run is entered twice.
    #[error("run {0} is in the ledger already; a retry needs a run id of its own")]
    KnownRun(RunId),
    /// A run that is not open is closed.
    #[error("run {0} is not open in the ledger, so it cannot be finished or aborted")]
    NotOpen(RunId),
    /// A name does not fit a line.
    #[error("{what} is empty, longer than 200 bytes or has control characters; choose another")]
    BadName {
        /// Which name.
        what: &'static str,
    },
    /// A write failed before, so what the file holds is unknown.
    #[error("a write to the ledger failed before; open it again so that it is read afresh")]
    Poisoned,
}

fn decimal(epsilon: &Rational) -> String {
    epsilon.exact_decimal(18).unwrap_or_else(|| epsilon.decimal_rounded_up(6))
}

/// A data set's cap is raised in the ledger; a lower one, or the first, is set in the party file.
fn how_to_raise(data_set: &str, reader: Reader, raise: bool) -> String {
    let (key, flag) = (reader.key(), reader.flag());
    match raise {
        true => format!(
            "raise the cap with `diptych ledger raise-cap LEDGER --data-set {data_set:?} {flag} X` and \
             then `{key}` in the party file"
        ),
        false if reader == Reader::Peer => format!("raise `{key}` in the party file"),
        false => format!("raise `{key}` in the party file (without one: --cap)"),
    }
}
