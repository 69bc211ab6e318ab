//! A horizontal release in shards, which meet nobody.

use diptych::Error;
use diptych::Role;
use diptych::agreement::Agreement;
use diptych::net::Stop;
use diptych::privacy::ledger::Status;
use diptych::protocol::shards::remote::Line;
use diptych::protocol::shards::{Answer, Failed};
use diptych::publish::NoWatcher;
use diptych::publish::data::Source;
use diptych::publish::party::Party;
use diptych::publish::run::{Options, Side, run_with};
use diptych::publish::shards::{Opening, Taken, Worker, Workers, deal, read_partition};

use crate::AS_FORECAST;
use crate::couple::{BANK, COMPANY, Couple, Outcome, Running};

/// Whoever has its table counts it itself, whatever is said of shards: nobody connects but the leads.
#[test]
fn horizontally_two_commands_run_in_shards_as_without() {
    let couple = Couple::horizontal(60).in_shards(3);
    let mut bank = couple.command(BANK, "", None);
    bank.args(["--shard-ports", "--shards-at-once", "2"]);
    let bank = Running::start(bank);
    let company = Running::start(couple.command(COMPANY, &bank.address(), None));
    for (who, outcome) in [bank, company].map(Running::end).iter().enumerate() {
        outcome.assert(0, &["spent ε 1", "has its copy"]);
        assert!(!outcome.said.contains("shards"), "{}", outcome.said);
        assert!(couple.read(who, "release/private/costs.json").contains(AS_FORECAST));
    }
    couple.assert_released();
}

/// The company's shards, each of which might as well be on another machine.
struct Machines {
    agreement: Agreement,
    records: usize,
    parts: Vec<Vec<u8>>,
    /// After how many calls the last shard is gone.
    last_for: usize,
}

impl Machines {
    /// That read the company's table in two parts.
    fn new(couple: &Couple, last_for: usize) -> Self {
        let agreement = Agreement::load(&couple.path(COMPANY, "agreement.toml")).unwrap();
        let table = couple.read(COMPANY, "table.csv");
        let (header, rows) = table.split_once('\n').unwrap();
        let rows: Vec<&str> = rows.lines().collect();
        let (mut records, mut parts) = (0, Vec::new());
        for (number, rows) in rows.chunks(rows.len() / 2 + 3).enumerate() {
            let name = format!("part{number}.csv");
            couple.write(COMPANY, &name, &format!("{header}\n{}\n", rows.join("\n")));
            let source = Source::file(couple.path(COMPANY, &name));
            let part = read_partition(&agreement, Role::P2, &source, &NoWatcher).unwrap();
            records += part.0;
            parts.push(part.1);
        }
        Self { agreement, records, parts, last_for }
    }
}

impl Workers for Machines {
    fn records(&self) -> usize {
        self.records
    }

    fn open(&self, opening: &Opening, _: &Stop) -> Result<Vec<Box<dyn Line>>, Error> {
        let agreement = &self.agreement;
        let dealt = self.parts.iter().map(|part| deal(agreement, Role::P2, part, opening));
        let dealt = dealt.collect::<Result<Vec<_>, _>>()?;
        let machine = |shard: usize| {
            let own: Vec<&Vec<u8>> = dealt.iter().map(|pieces| &pieces[shard]).collect();
            let taken = Taken::new(agreement, Role::P2, opening, &own)?;
            let calls = if shard + 1 == opening.shards() { self.last_for } else { usize::MAX };
            let worker = taken.alone(agreement, opening)?;
            Ok(Box::new(Machine { worker, calls }) as Box<dyn Line>)
        };
        (0..opening.shards()).map(machine).collect()
    }
}

struct Machine {
    worker: Worker,
    calls: usize,
}

impl Line for Machine {
    fn call(&mut self, call: &[u8], _: &Stop) -> Result<Answer, Failed> {
        self.calls =
            self.calls.checked_sub(1).ok_or_else(|| Failed::internal("the machine is gone"))?;
        self.worker.serve(call)
    }
}

/// The bank runs the command, the company leads shards of which the last answers so many calls.
fn run_on_machines(couple: &Couple, last_for: usize) -> (Outcome, Result<(), Error>) {
    let bank = Running::start(couple.command(BANK, "", None));
    couple.command(COMPANY, &bank.address(), None);
    let machines = Machines::new(couple, last_for);
    let mut party = Party::load(&couple.path(COMPANY, "party.toml")).unwrap();
    party.new_ledger = !party.ledger.exists();
    let side = Side::new(&machines.agreement, &party, &NoWatcher).unwrap();
    let options = Options { shards_at_once: 2, ..Options::default() };
    let company = run_with(&side, options, Some(&machines), &NoWatcher);
    (bank.end(), company)
}

#[test]
fn horizontally_shards_on_machines_of_their_own_make_the_release() {
    let couple = Couple::horizontal(60).in_shards(3);
    let (bank, company) = run_on_machines(&couple, usize::MAX);
    company.unwrap();
    bank.assert(0, &["Loan company is here", "has its copy"]);
    couple.assert_released();
    for who in [BANK, COMPANY] {
        let costs = couple.read(who, "release/private/costs.json");
        assert!(costs.contains(AS_FORECAST), "{costs}");
        assert_eq!(couple.runs(who)[0].status, Status::Finished);
    }
}

#[test]
fn a_machine_that_is_gone_at_any_request_ends_the_run_and_the_ledgers_are_true() {
    for last_for in 0.. {
        let couple = Couple::horizontal(20).in_shards(2);
        let (bank, company) = run_on_machines(&couple, last_for);
        let Err(failure) = company else {
            bank.assert(0, &[]);
            couple.assert_released();
            // How many records there are, points, three specializations and leaves, at least.
            assert!(last_for >= 6, "{last_for}");
            break;
        };
        assert_eq!(bank.status, Some(1), "{}", bank.said);
        assert!(failure.message().contains("the machine is gone"), "{failure}");
        // The first question is how many records there are: nothing is spent before it is answered.
        let spent: &[Status] = if last_for == 0 { &[] } else { &[Status::Aborted] };
        for who in [BANK, COMPANY] {
            let statuses: Vec<Status> = couple.runs(who).iter().map(|run| run.status).collect();
            assert_eq!(statuses, spent, "{last_for}");
            assert!(!couple.has_release(who));
        }
    }
}
