//! People in shards: each pair of shards has a connection of its own.

use std::net::TcpListener;

use crate::AS_FORECAST;
use crate::couple::{BANK, COMPANY, Couple, Running};

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
    let address = format!("127.0.0.1:{}", free_ports(3));
    let commands = [BANK, COMPANY].map(|who| couple.command(who, &address, None));
    couple.edit(BANK, "party.toml", "127.0.0.1:0", &address);
    let both = commands.map(|mut command| {
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
