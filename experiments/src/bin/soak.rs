//! Releases without end: random agreements, tables and faults, each compared with what one party alone
//! would have released.
//!
//! `cargo run --release -p diptych-experiments --bin soak -- --minutes 10 --seed 1`
//!
//! Every trial draws an agreement (all forms of DiffGen, with membership shown, hidden and padded, and
//! LKC of two parties; sizes, attributes, ε, numbers of specializations, selection, noise, matching,
//! transfers, requirements) and tables, releases alone, then by two parties under the same decisions, and
//! compares the files byte for byte; where LKC allows no table at all, both must say so. Then it does so again with something wrong at one message of one
//! party: the line is closed, a bit or a byte is another, the tag is, or it comes twice. Both parties
//! must end with an error that has a name, and in time. As in a run of the command, parties compare
//! the hashes of their tables at the end.
//!
//! A wrong bit may also have no effect (a bit that is not used), or lead both to the same other
//! table: that is a party that does not keep to the protocol, against which nothing is promised. Both
//! are counted apart. **Anything else is a failure**, and is printed with what repeats it. A trial
//! depends on the seed and its number alone (`--only NUMBER`); `--trials` ends after so many.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it shows what it saw")]

#[path = "soak/cases.rs"]
mod cases;
#[path = "soak/line.rs"]
mod line;
#[path = "soak/terms.rs"]
mod terms;
#[path = "soak/trial.rs"]
mod trial;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cases::{Case, Form};
use diptych::Error;
use diptych::math::Randomness;
use diptych::privacy::decisions::Tape;
use line::{Fault, Wrong};
use rand::RngExt;
use trial::{Ended, is_of_few_bins, is_unmet};

/// Faults that are tried on one case.
const FAULTS: usize = 2;
/// How often it says that it still runs.
const WORD: Duration = Duration::from_secs(300);

/// What was asked for.
struct Wanted {
    minutes: f64,
    seed: u64,
    only: Option<u64>,
    trials: Option<u64>,
}

/// What was seen.
#[derive(Default)]
struct Counts {
    /// In the order of all forms.
    by_form: [[u64; 5]; Form::ALL.len()],
    /// How often each was tried.
    faults: BTreeMap<&'static str, u64>,
    /// How often each was agreed on.
    agreed: BTreeMap<&'static str, u64>,
    /// Agreements that were drawn and cannot be agreed on.
    refused: u64,
    /// Tables that no generalization makes as required, as both parties and one said.
    unmet: u64,
    /// Hidden joins with few bins, as in tests, that did not hold the identifiers.
    few_bins: u64,
    /// The longest trial, and its number.
    longest: (Duration, u64),
    messages: u64,
    bytes: u64,
}

/// Columns of the table.
const EQUAL: usize = 0;
const ENDED: usize = 1;
const WITHOUT_EFFECT: usize = 2;
const OTHER_TABLE: usize = 3;
const FAILED: usize = 4;

fn main() -> ExitCode {
    let wanted = match wanted(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(problem) => {
            eprintln!("{problem}; soak [--minutes N] [--seed S] [--trials N] [--only NUMBER]");
            return ExitCode::from(2);
        }
    };
    trial::keep_panics_quiet();
    let (start, mut counts) = (Instant::now(), Counts::default());
    let end = start + Duration::from_secs_f64(wanted.minutes * 60.0);
    let first = wanted.only.unwrap_or(0);
    let most = wanted.only.map_or(wanted.trials, |_| Some(1)).unwrap_or(u64::MAX);
    let (mut done, mut said) = (0, start);
    while done < most && (done == 0 || Instant::now() < end) {
        let (began, number) = (Instant::now(), first.wrapping_add(done));
        one_trial(wanted.seed, number, &mut counts);
        done += 1;
        counts.longest = counts.longest.max((began.elapsed(), number));
        if said.elapsed() > WORD {
            said = Instant::now();
            let minutes = start.elapsed().as_secs() / 60;
            eprintln!("{minutes} minutes: {done} trials, {} failed", counts.failed());
        }
    }
    counts.show(done, start.elapsed());
    match counts.failed() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn wanted(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted { minutes: 1.0, seed: 1, only: None, trials: None };
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a number"))?;
        let wrong = |_| format!("{flag} {value} is not a number");
        let whole = || value.parse::<u64>().map_err(|_| format!("{flag} {value} is not a number"));
        match flag.as_str() {
            "--minutes" => wanted.minutes = value.parse().map_err(wrong)?,
            "--seed" => wanted.seed = whole()?,
            "--only" => wanted.only = Some(whole()?),
            "--trials" => wanted.trials = Some(whole()?),
            _ => return Err(format!("there is no {flag}")),
        }
    }
    match (0.0..=100_000.0).contains(&wanted.minutes) {
        true => Ok(wanted),
        false => Err("--minutes is not between 0 and 100000".to_owned()),
    }
}

/// A trial's own numbers follow from seed and number.
fn one_trial(seed: u64, number: u64, counts: &mut Counts) {
    let mut rng = Randomness::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let case = cases::draw(&mut rng, &mut counts.refused);
    let own_seed = rng.random();
    counts.note(&case);
    let found = compare(&case, own_seed, &mut rng, counts);
    if let Err(problem) = found {
        counts.row(&case)[FAILED] += 1;
        println!("FAILED: soak --seed {seed} --only {number} ({}): {problem}", case.form.name());
        println!("{}", case.text);
    }
}

/// One party, two parties, two parties with something wrong.
fn compare(
    case: &Case,
    seed: u64,
    rng: &mut Randomness,
    counts: &mut Counts,
) -> Result<(), String> {
    let made = trial::alone(case, seed).map_err(|error| format!("alone: {error}"))?;
    let Some((expected, tape)) = made else { return unmet(case, seed, counts) };
    let Some(tables) = &case.parties else {
        let again = trial::again(case, &tape).map_err(|error| format!("again: {error}"))?;
        if again != expected {
            return Err("the same decisions gave another table".to_owned());
        }
        counts.row(case)[EQUAL] += 1;
        return Ok(());
    };
    let ended = trial::together(case, tables, &tape, seed, [None, None]);
    if !case.all_bins && ended.iter().any(|one| failed(one, is_of_few_bins)) {
        counts.few_bins += 1;
        return Ok(());
    }
    let mut messages = [0; 2];
    for (party, ended) in ended.into_iter().enumerate() {
        let (file, sent) = ended
            .map_err(|cause| format!("P{} panicked: {cause}", party + 1))?
            .map_err(|error| format!("P{}: {error}", party + 1))?;
        if file != expected {
            return Err(format!("P{} has another table than one party alone", party + 1));
        }
        messages[party] = sent;
        counts.messages += sent;
    }
    counts.bytes += expected.len() as u64;
    counts.row(case)[EQUAL] += 1;
    for _ in 0..FAULTS {
        with_fault(case, &expected, &tape, seed, messages, rng, counts)?;
    }
    Ok(())
}

/// There is no table as required: both parties must say so too.
fn unmet(case: &Case, seed: u64, counts: &mut Counts) -> Result<(), String> {
    let Some(tables) = &case.parties else { return Err("alone: nothing is required".to_owned()) };
    let ended = trial::together(case, tables, &Tape::new(Vec::new()), seed, [None, None]);
    if !ended.iter().all(|one| failed(one, is_unmet)) {
        let said = said(&ended);
        return Err(format!("one party alone has no table as required; two parties: {said}"));
    }
    counts.unmet += 1;
    Ok(())
}

fn failed(ended: &Ended, so: fn(&Error) -> bool) -> bool {
    matches!(ended, Ok(Err(error)) if so(error))
}

fn with_fault(
    case: &Case,
    expected: &[u8],
    tape: &Tape,
    seed: u64,
    messages: [u64; 2],
    rng: &mut Randomness,
    counts: &mut Counts,
) -> Result<(), String> {
    let Some(tables) = &case.parties else { return Ok(()) };
    let party = rng.random_range(0..2);
    let (wrong, name) = match rng.random_range(0..8) {
        0 => (Wrong::Close, "the line is closed"),
        1 => (Wrong::Shorter, "a byte is missing"),
        2 => (Wrong::Longer, "a byte is added"),
        3 => (Wrong::OtherTag, "another tag"),
        4 => (Wrong::Twice, "a message comes twice"),
        _ => (Wrong::Bit(rng.random::<u64>() as usize), "a wrong bit"),
    };
    let fault = Fault { message: rng.random_range(0..messages[party].max(1)), wrong };
    let mut faults = [None, None];
    faults[party] = Some(fault);
    *counts.faults.entry(name).or_default() += 1;
    let ended = trial::together(case, tables, tape, seed, faults);
    let what = format!("{fault:?} of P{}", party + 1);
    // What comes twice is noticed in place of what follows.
    let noticed = fault.message + u64::from(wrong == Wrong::Twice);
    let is_last = noticed + 1 >= messages[party];
    let place = judge(&ended, expected, wrong, is_last);
    let place = place.map_err(|problem| format!("{what}: {problem}"))?;
    counts.row(case)[place] += 1;
    Ok(())
}

/// Which column of the table it belongs to.
fn judge(
    ended: &[Ended; 2],
    expected: &[u8],
    wrong: Wrong,
    is_last: bool,
) -> Result<usize, String> {
    let mut files = Vec::new();
    for (party, ended) in ended.iter().enumerate() {
        match ended {
            Err(cause) => return Err(format!("P{} panicked: {cause}", party + 1)),
            Ok(Ok((file, _))) => files.push(file),
            Ok(Err(_)) => {}
        }
    }
    match (&files[..], wrong) {
        ([], _) => Ok(ENDED),
        ([one, other], Wrong::Bit(_) | Wrong::Twice) if one == other => {
            Ok(if one.as_slice() == expected { WITHOUT_EFFECT } else { OTHER_TABLE })
        }
        // Whoever sent the very last message cannot hear any more that something was wrong with it.
        ([_], _) if is_last => Ok(ENDED),
        ([_], _) => Err(format!("one party has a table, the other: {}", said(ended))),
        _ => Err("both have a table although something was wrong".to_owned()),
    }
}

fn said(ended: &[Ended; 2]) -> String {
    let error = |one: &Ended| match one {
        Ok(Err(error)) => Some(error.to_string()),
        _ => None,
    };
    ended.iter().filter_map(error).collect::<Vec<_>>().join("; ")
}

impl Counts {
    fn row(&mut self, case: &Case) -> &mut [u64; 5] {
        let place = Form::ALL.iter().position(|form| *form == case.form);
        &mut self.by_form[place.unwrap_or(0)]
    }

    fn failed(&self) -> u64 {
        self.by_form.iter().map(|row| row[FAILED]).sum()
    }

    /// Counts what stands in the agreement.
    fn note(&mut self, case: &Case) {
        let says = |part: &str| case.text.contains(part);
        let guessed = says("expected_records");
        let auto = !case.form.is_lkc() && !guessed && !says("specializations = ");
        for (what, is_so) in [
            ("auto, by a noisy number", auto || says("specializations = \"auto\"")),
            ("auto, by a guess", guessed),
            ("profile paper", says("profile = \"paper\"")),
            ("without LPN", says("no-lpn")),
            ("counts by Paillier", says("count_table")),
            ("matching ristretto255", says("ristretto255")),
            ("matching ffdhe3072", says("ffdhe3072")),
            ("overlap check", says("overlap_check")),
            ("a sensitive attribute", says("sensitive = ")),
            ("several requirements", says("[[lkc.requirement]]")),
            ("nobody is released", case.whole.is_empty()),
            ("all bins of a join", case.all_bins && case.form.is_hidden()),
        ] {
            *self.agreed.entry(what).or_default() += u64::from(is_so);
        }
    }

    fn show(&self, trials: u64, took: Duration) {
        println!(
            "{:<28} {:>8} {:>14} {:>15} {:>12} {:>8}",
            "", "equal", "ended by both", "without effect", "other table", "failed"
        );
        let mut sums = [0; 5];
        let line = |name: &str, row: &[u64; 5]| {
            let [equal, ended, without, other, failed] = row;
            println!("{name:<28} {equal:>8} {ended:>14} {without:>15} {other:>12} {failed:>8}");
        };
        for (form, row) in Form::ALL.iter().zip(&self.by_form) {
            line(form.name(), row);
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        line("all", &sums);
        for (name, count) in &self.faults {
            println!("fault: {name:<24} {count:>8}");
        }
        for (name, count) in &self.agreed {
            println!("agreed: {name:<24} {count:>7}");
        }
        println!(
            "{trials} trials in {:.1} minutes, the longest number {} with {:.1} s; {} messages of \
             releases without faults; tables of {} bytes in all; {} tables that cannot be as required; \
             {} agreements drawn that cannot be agreed on; {} joins with too few bins",
            took.as_secs_f64() / 60.0,
            self.longest.1,
            self.longest.0.as_secs_f64(),
            self.messages,
            self.bytes,
            self.unmet,
            self.refused,
            self.few_bins
        );
    }
}
