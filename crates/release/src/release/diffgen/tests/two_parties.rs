//! What the tests of both two-party forms share.

use std::cell::RefCell;
use std::rc::Rc;

use num_bigint::{BigInt, BigUint};
use rand::RngExt;

use super::*;
use crate::Error;
use crate::net::{Costs, Transcript};
use crate::privacy;
use crate::privacy::decisions::{Decision, Decisions};
use crate::protocol::Workspace;
use crate::protocol::coins::Coins;
use crate::protocol::pair::{Both, Outcome as Ran, Setup, assert_forecast, run_workspaces};
use crate::release::diffgen::forecast::{Records, release_with as release_forecast};
use crate::release::diffgen::terms;
use crate::release::diffgen::two_party::{Keys, release_with};
use crate::release::{Outcome, plan, shards};
use crate::role::Role;

/// A record of the papers' loan example: id, class, job, sex, salary.
pub type Row = (String, &'static str, &'static str, &'static str, u32);

/// Thesis, table 7.1.
const TABLE_7_1: [(&str, &str, &str, u32); 10] = [
    ("N", "Writer", "Male", 30),
    ("N", "Dancer", "Male", 25),
    ("Y", "Writer", "Male", 35),
    ("N", "Dancer", "Female", 37),
    ("Y", "Engineer", "Female", 65),
    ("Y", "Engineer", "Female", 35),
    ("Y", "Engineer", "Male", 30),
    ("N", "Dancer", "Female", 44),
    ("Y", "Lawyer", "Male", 44),
    ("Y", "Lawyer", "Female", 44),
];

pub fn thesis_rows() -> Vec<Row> {
    let rows = TABLE_7_1.iter().enumerate();
    rows.map(|(id, (class, job, sex, salary))| (format!("{}", id + 1), *class, *job, *sex, *salary))
        .collect()
}

pub fn random_rows(rng: &mut Randomness) -> Vec<Row> {
    let count = rng.random_range(0..40);
    let mut pick = |words: &[&'static str]| words[rng.random_range(0..words.len())];
    let mut rows: Vec<Row> = Vec::new();
    for id in 0..count {
        let class = pick(&["Y", "N"]);
        let job = pick(&["Engineer", "Lawyer", "Dancer", "Writer"]);
        let sex = pick(&["Male", "Female"]);
        let salary = pick(&["18", "19", "30", "31", "44", "98", "99"]).parse().unwrap();
        rows.push((format!("id{id}"), class, job, sex, salary));
    }
    rows
}

/// The loan example as an agreement; P2's first column comes first.
pub fn loans(partition: &str, terms: &str) -> Agreement {
    let owner = |role: &str| match partition {
        "vertical" => format!("owner = \"{role}\"\n"),
        _ => String::new(),
    };
    // Terms may go on with lines of [id], these with lines of [class], and these with [scale].
    let (terms, scale) = terms.split_at(terms.find("[scale]").unwrap_or(terms.len()));
    let (terms, of_class) = terms.split_once("[class]\n").unwrap_or((terms, ""));
    let (terms, of_id) = terms.split_once("[id]\n").unwrap_or((terms, ""));
    let id = if partition == "vertical" || terms.contains("overlap_check = true") {
        format!("[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n{of_id}\n")
    } else {
        String::new()
    };
    let text = format!(
        "[release]\nid = \"loans\"\npartition = \"{partition}\"\nmax_records = 1000\n{terms}\n\
         [parties.p1]\nname = \"A\"\nfingerprint = \"sha256:{}\"\n\
         [parties.p2]\nname = \"B\"\nfingerprint = \"sha256:{}\"\n{id}\
         [class]\ncolumn = \"class\"\nvalues = [\"Y\", \"N\"]\n{of_class}\n\
         [[attribute]]\nname = \"sex\"\n{p2}kind = \"categorical\"\n\
         taxonomy = {{ Any_Sex = [\"Male\", \"Female\"] }}\n\
         [[attribute]]\nname = \"job\"\n{p1}kind = \"categorical\"\ntaxonomy = {{ Any_Job = \
         {{ Professional = [\"Engineer\", \"Lawyer\"], Artist = [\"Dancer\", \"Writer\"] }} }}\n\
         [[attribute]]\nname = \"salary\"\n{p2}kind = \"numeric\"\nmin = 18\nmax = 99\nstep = 1\n{scale}\n",
        "11".repeat(32),
        "22".repeat(32),
        p1 = owner("p1"),
        p2 = owner("p2"),
    );
    Agreement::parse("loans.toml", text.as_bytes(), &|_| Err("no files here".to_owned()))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Terms under which the number of records decides on h, noisy or expected: of a dozen records at
/// this ε for 1, 2 or 3.
pub fn auto_terms() -> Vec<String> {
    let ways = ["noise = \"joint\"", "noise = \"two-party\"", "expected_records = 20"];
    ways.map(|way| format!("epsilon = \"13\"\n{way}")).to_vec()
}

/// Decides at random and writes down what was decided.
#[derive(Clone)]
pub struct Recorder {
    rng: Rc<RefCell<Randomness>>,
    made: Rc<RefCell<Vec<Decision>>>,
}

impl Recorder {
    fn new(seed: u64) -> Self {
        Self { rng: Rc::new(RefCell::new(Randomness::seeded(seed))), made: Rc::default() }
    }

    fn note(&self, decision: Decision) {
        self.made.borrow_mut().push(decision);
    }
}

impl Decisions for Recorder {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, privacy::Error> {
        let value = self.rng.borrow_mut().uniform_below(bound)?;
        self.note(Decision::Uniform(value.clone()));
        Ok(value)
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, privacy::Error> {
        let value = self.rng.borrow_mut().geometric(rate)?;
        self.note(Decision::Noise(value.clone().into()));
        Ok(value)
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, privacy::Error> {
        let value = self.rng.borrow_mut().discrete_laplace(rate)?;
        self.note(Decision::Noise(value.clone()));
        Ok(value)
    }
}

/// The release of one party that holds everything, and the decisions that led to it.
pub fn alone(agreement: &Agreement, table: &Table, seed: u64) -> (Release, Tape) {
    let plan = Plan::new(agreement).unwrap();
    let recorder = Recorder::new(seed);
    let mechanisms = Mechanisms::with(agreement, || recorder.clone()).unwrap();
    let mut form = Single::new(&plan, table, mechanisms).unwrap();
    let release = run(&plan, budget(agreement), &mut form, &|_| {}).unwrap();
    let made = recorder.made.borrow().clone();
    (release, Tape::new(made))
}

/// Both parties' releases are the one of a single party.
pub fn assert_equal(agreement: &Agreement, released: &Release, expected: &Release, seed: u64) {
    assert_eq!(text(released), text(expected), "seed {seed}");
    assert_eq!(released.spends, expected.spends);
    assert_eq!(released.table.cuts.made(), expected.table.cuts.made());
    assert!(delta(agreement) <= Rational::power_of_two(-40));
}

/// δ, as the plan of a release by two parties has it.
pub fn delta(agreement: &Agreement) -> Rational {
    plan::together(agreement).unwrap().promise.delta().unwrap().clone()
}

/// What was said is what the forecast for this tree tells.
pub fn assert_release_forecast(
    agreement: &Agreement,
    (transcripts, costs): (&Both<Transcript>, &Both<Costs>),
    [first, second]: [usize; 2],
    common: usize,
    tree: &[Specialization],
) {
    assert_forecast(transcripts, costs, |forecast| {
        let (own, peer) = match forecast.role() {
            Role::P1 => (first, second),
            Role::P2 => (second, first),
        };
        let records = Records { own, peer, common, ..Records::default() };
        release_forecast(forecast, agreement, records, tree, key_bits(agreement)).unwrap();
    });
}

/// As short as the polynomial allows.
pub fn key_bits(agreement: &Agreement) -> usize {
    if terms(agreement).unwrap().taylor.is_some() { 1024 } else { 512 }
}

/// With a session for every shard that meets the peer's, two of them in work at a time.
pub fn setup(agreement: &Agreement) -> Setup {
    Setup::default().shards(shards::paired(agreement).unwrap_or_default(), 2)
}

/// What one party ends with.
pub type Party = Result<Outcome, Error>;

/// Both parties' runs over these tables, with short keys.
pub fn together<C: Coins + Send + 'static>(
    agreement: &Agreement,
    tables: [&Table; 2],
    coins: (C, C),
) -> Ran<Party, Party> {
    let keys = Keys::ForTests(key_bits(agreement));
    let party = |table: &Table, coins: C, session: &mut Workspace| {
        session.coins = Box::new(coins);
        release_with(session, agreement, table, budget(agreement), keys, &|_| {})
    };
    let [first, second] = tables;
    run_workspaces(
        setup(agreement),
        |session| party(first, coins.0, session),
        |session| party(second, coins.1, session),
    )
}
