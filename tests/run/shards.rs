//! People in shards: each pair of shards has a connection of its own.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use diptych::Error;
use diptych::agreement::Agreement;
use diptych::net::Stop;
use diptych::protocol::shards::remote::Line;
use diptych::protocol::shards::{Answer, Failed};
use diptych::publish::data::Source;
use diptych::publish::party::Party;
use diptych::publish::run::{Options, Side, run_with};
use diptych::publish::shards::{Opening, Taken, Worker, Workers, deal, read_partition};
use diptych::publish::{NoWatcher, Watcher};
use diptych::release::Step;

use crate::AS_FORECAST;
use crate::couple::{BANK, COMPANY, Couple, Running};

/// The wait of a party that is told sooner: so long that no machine is busy enough to take it.
const LONG: Duration = Duration::from_secs(600);

/// Each party with another number of shards in work at a time.
fn run(couple: &Couple) -> [String; 2] {
    let mut bank = couple.command(BANK, "", None);
    bank.args(["--shards-at-once", "3"]);
    let bank = Running::start(bank);
    let mut company = couple.command(COMPANY, &bank.address(), None);
    company.args(["--shards-at-once", "2"]);
    let both = [bank, Running::start(company)].map(Running::end);
    couple.assert_released();
    for (who, outcome) in [BANK, COMPANY].into_iter().zip(&both) {
        outcome.assert(0, &["shards are connected", "has its copy"]);
        let costs = couple.read(who, "release/private/costs.json");
        assert!(costs.contains(AS_FORECAST), "{costs}");
    }
    both.map(|outcome| outcome.said)
}

#[test]
fn a_run_in_shards_ends_with_the_same_signed_release_and_says_what_was_forecast() {
    let said = run(&Couple::new(120).in_shards(5));
    assert!(said.iter().all(|said| said.contains("90 are about people whom")), "{said:?}");
}

#[test]
fn a_run_in_shards_where_nobody_learns_who_is_common_does_too() {
    run(&Couple::hidden(60, COMPANY, Some(100)).in_shards(2));
}

#[test]
fn another_number_of_shards_is_another_agreement() {
    let couple = Couple::new(40).in_shards(2);
    couple.edit(COMPANY, "agreement.toml", "shards = 2", "shards = 3");
    for outcome in couple.run() {
        outcome.assert(3, &["differ in scale.shards"]);
    }
}

/// The first of so many ports, one after the other, that nobody has.
fn free_ports(count: u16) -> u16 {
    let free = |first: &u16| {
        (*first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())
    };
    (20_000..21_000).step_by(count.into()).find(free).unwrap()
}

/// As they do if the shards of either party are in processes of their own.
#[test]
fn shards_meet_at_ports_of_their_own_where_both_say_so() {
    let couple = Couple::new(60).in_shards(2);
    let both = with_ports(&couple, 2).map(|mut command| {
        command.arg("--shard-ports");
        Running::start(command)
    });
    let both = both.map(Running::end);
    couple.assert_released();
    both.iter().for_each(|outcome| outcome.assert(0, &["2 shards are connected", "has its copy"]));
}

#[test]
fn a_port_that_there_is_not_is_found_before_the_peer() {
    let couple = Couple::new(20).in_shards(2);
    let mut bank = couple.command(BANK, "", None);
    bank.arg("--shard-ports");
    Running::start(bank).end().assert(2, &["127.0.0.1:0 has no port for shard 1"]);
}

/// Gives both parties ports at which their shards can meet.
fn with_ports(couple: &Couple, shards: u16) -> [Command; 2] {
    let address = format!("127.0.0.1:{}", free_ports(shards + 1));
    let commands = [BANK, COMPANY].map(|who| couple.command(who, &address, None));
    couple.edit(BANK, "party.toml", "127.0.0.1:0", &address);
    commands
}

/// Neither can see what the other was told: the first whose time is over says what may be the matter, and the
/// other hears of it at once.
#[test]
fn shards_that_wait_at_different_ports_tell_what_to_try() {
    for (says_so, seconds) in [(BANK, [3, LONG.as_secs()]), (COMPANY, [LONG.as_secs(), 3])] {
        let couple = Couple::new(20).in_shards(2);
        let mut commands = with_ports(&couple, 2);
        commands[says_so].arg("--shard-ports");
        for who in [BANK, COMPANY] {
            let wait = format!("wait_seconds = {}", seconds[who]);
            couple.edit(who, "party.toml", "wait_seconds = 20", &wait);
        }
        let begun = Instant::now();
        let both = commands.map(Running::start).map(Running::end);
        assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
        both[says_so].assert(1, &["does the peer run with --shard-ports too"]);
        both[1 - says_so].assert(1, &["say --shard-ports here too"]);
        assert!([BANK, COMPANY].iter().all(|who| couple.runs(*who).is_empty()), "nothing is spent");
    }
}

/// A line to a shard that might as well be in another process.
struct Near(Worker);

impl Line for Near {
    fn call(&mut self, call: &[u8], _: &Stop) -> Result<Answer, Failed> {
        self.0.serve(call)
    }
}

/// Says nothing, and waits no longer than it may.
struct Until(Stop);

impl Watcher for Until {
    fn say(&self, _: &str) {}

    fn step(&self, _: Step) {}

    fn stop(&self) -> Stop {
        self.0.clone()
    }
}

/// A party's shards, each with its records, which are read in two parts.
struct Elsewhere<'a> {
    side: &'a Side<'a>,
    parts: Vec<(usize, Vec<u8>)>,
    /// Whether they fail once the leads have met.
    fail: bool,
}

impl<'a> Elsewhere<'a> {
    fn new(side: &'a Side<'a>, table: &str, fail: bool) -> Self {
        let (head, rows) = table.split_once('\n').unwrap();
        let rows: Vec<&str> = rows.lines().collect();
        let read = |rows: &[&str]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), format!("{head}\n{}\n", rows.join("\n"))).unwrap();
            let source = Source::file(file.path());
            read_partition(side.agreement, side.party.role, &source, &NoWatcher).unwrap()
        };
        let parts = rows.chunks(rows.len() / 2 + 1).map(read).collect();
        Self { side, parts, fail }
    }
}

impl Workers for Elsewhere<'_> {
    fn records(&self) -> usize {
        self.parts.iter().map(|(records, _)| records).sum()
    }

    fn open(&self, opening: &Opening, stop: &Stop) -> Result<Vec<Box<dyn Line>>, Error> {
        if self.fail {
            return Err(Error::internal("a machine is gone"));
        }
        // As from another process.
        let opening = Opening::from_bytes(&opening.to_bytes()?)?;
        let (agreement, role) = (self.side.agreement, self.side.party.role);
        let parts = self.parts.iter();
        let dealt = parts.map(|(_, part)| deal(agreement, role, part, &opening));
        let dealt = dealt.collect::<Result<Vec<_>, _>>()?;
        let meet = |shard: usize| {
            let own: Vec<&[u8]> = dealt.iter().map(|of_part| &of_part[shard][..]).collect();
            let taken = Taken::new(agreement, role, &opening, &own)?;
            let worker = taken.meet(self.side, &opening, shard, &Until(stop.clone()))?;
            Ok(Box::new(Near(worker)) as Box<dyn Line>)
        };
        (0..opening.shards()).map(meet).collect()
    }
}

/// Runs one party in this process, with its shards elsewhere or at their ports.
fn run_here(couple: &Couple, who: usize, elsewhere: bool, fail: bool) -> Result<(), Error> {
    let text = couple.read(who, "agreement.toml");
    let agreement =
        Agreement::parse("a.toml", text.as_bytes(), &|_| Err("no files here".to_owned()))?;
    let mut party = Party::load(&couple.path(who, "party.toml"))?;
    party.new_ledger = !party.ledger.exists();
    let side = Side::new(&agreement, &party, &NoWatcher)?;
    let options = Options { shards_at_once: 2, shard_ports: true, ..Options::default() };
    let workers = elsewhere.then(|| Elsewhere::new(&side, &couple.read(who, "table.csv"), fail));
    let workers = workers.as_ref().map(|workers| workers as &dyn Workers);
    run_with(&side, options, workers, &NoWatcher)
}

/// Runs both, with the shards of the bank elsewhere, and those of the company if so.
fn run_both(couple: &Couple, company: bool, fail: bool) -> [Result<(), Error>; 2] {
    std::thread::scope(|scope| {
        let bank = scope.spawn(|| run_here(couple, BANK, true, fail));
        let company = run_here(couple, COMPANY, company, false);
        [bank.join().unwrap(), company]
    })
}

#[test]
fn shards_elsewhere_end_with_the_same_signed_release() {
    for couple in [Couple::new(60), Couple::hidden(40, COMPANY, None)] {
        let couple = couple.in_shards(2);
        with_ports(&couple, 2);
        for outcome in run_both(&couple, true, false) {
            outcome.unwrap();
        }
        couple.assert_released();
    }
    let couple = Couple::new(60).in_shards(2);
    with_ports(&couple, 2);
    for outcome in run_both(&couple, false, false) {
        outcome.unwrap();
    }
    couple.assert_released();
}

#[test]
fn a_peer_whose_shards_wait_hears_at_once_that_ours_will_not_come() {
    for elsewhere in [false, true] {
        let couple = Couple::new(20).in_shards(2);
        with_ports(&couple, 2);
        let wait = format!("wait_seconds = {}", LONG.as_secs());
        couple.edit(COMPANY, "party.toml", "wait_seconds = 20", &wait);
        let begun = Instant::now();
        let [bank, company] = run_both(&couple, elsewhere, true);
        assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
        assert_eq!(bank.unwrap_err().message(), "a machine is gone");
        let company = company.unwrap_err();
        assert!(company.message().contains("the peer ended the run"), "{company}");
        assert!([BANK, COMPANY].iter().all(|who| couple.runs(*who).is_empty()), "nothing is spent");
    }
}
