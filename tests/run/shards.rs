//! People in shards: each pair of shards has a connection of its own.

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
