//! Whom both have in common: too few, nobody, different labels, and how to know before ε is spent.

use diptych::privacy::ledger::{Event, Status, read};

use crate::AS_FORECAST;
use crate::couple::{BANK, COMPANY, Couple, Outcome, Running};

/// Adds a line to [id] of both agreements.
fn agree(couple: &Couple, line: &str) {
    for who in [BANK, COMPANY] {
        couple.edit(who, "agreement.toml", "[id]\n", &format!("[id]\n{line}\n"));
    }
}

/// Both parties' rehearsals, or the first's with a run of the second.
fn rehearse(couple: &Couple, both: bool) -> [Outcome; 2] {
    let mut bank = couple.command(BANK, "", None);
    bank.arg("--rehearse");
    let bank = Running::start(bank);
    let mut company = couple.command(COMPANY, &bank.address(), None);
    if both {
        company.arg("--rehearse");
    }
    let company = Running::start(company);
    [bank, company].map(Running::end)
}

#[test]
fn nobody_in_common_ends_the_run_unless_that_is_agreed() {
    let couple = Couple::new(40);
    couple.edit(COMPANY, "table.csv", "ID", "other");
    for (who, outcome) in couple.run().iter().enumerate() {
        let few = "of this side's people 0 are also in the peer's data";
        outcome.assert(4, &[few, "at least 1", "column `id`", "c-1", "ε 1 is spent"]);
        assert!(!couple.has_release(who));
        assert_eq!(couple.runs(who)[0].status, Status::Aborted);
    }
    let couple = Couple::new(40);
    agree(&couple, "min_common = 0");
    couple.edit(COMPANY, "table.csv", "ID", "other");
    for outcome in couple.run() {
        outcome.assert(0, &["spent ε 1", "of our 40 records 0 are about people whom "]);
    }
    couple.assert_released();
    let costs = couple.read(BANK, "release/private/costs.json");
    assert!(costs.contains("\"common_records\": 0") && costs.contains(AS_FORECAST), "{costs}");
}

#[test]
fn one_party_has_the_class_and_the_other_needs_no_such_column() {
    for labelled in [BANK, COMPANY] {
        let couple = Couple::one_class(120, labelled);
        assert!(!couple.read(1 - labelled, "table.csv").contains("approved"));
        for outcome in couple.run() {
            outcome.assert(0, &["spent ε 1", "has its copy", "of our 120 records 90 are about"]);
            let phases = outcome.phases();
            let has = |name: &str| phases.iter().any(|phase| phase == name);
            assert!(has("histograms") && !has("class"), "{phases:?}");
        }
        couple.assert_released();
        for who in [BANK, COMPANY] {
            let costs = couple.read(who, "release/private/costs.json");
            let common = "\"common_records\": 90";
            assert!(costs.contains(common) && costs.contains(AS_FORECAST), "{costs}");
        }
        let release = couple.read(BANK, "release/release.csv");
        assert!(release.starts_with("job,sex,salary,approved,count\n"), "{release}");

        // Who has it must have it.
        let other = Couple::one_class(20, labelled);
        let table = couple.read(1 - labelled, "table.csv");
        other.write(labelled, "table.csv", &table);
        let command = other.command(labelled, "127.0.0.1:1", None);
        Running::start(command).end().assert(2, &["are missing"]);
    }
}

#[test]
fn a_table_without_records_is_refused_before_connecting() {
    for couple in [Couple::new(20), Couple::horizontal(20)] {
        let header = couple.read(BANK, "table.csv").lines().next().unwrap().to_owned();
        couple.write(BANK, "table.csv", &format!("{header}\n"));
        let outcome = Running::start(couple.command(BANK, "", None)).end();
        outcome.assert(2, &["table.csv has no record to release", "on_bad_value"]);
        assert!(!outcome.said.contains("listening on"), "{}", outcome.said);
        assert!(couple.runs(BANK).is_empty());
    }
}

#[test]
fn a_rehearsal_tells_the_numbers_once_and_spends_nothing() {
    let couple = Couple::new(80);
    agree(&couple, "rehearse = \"labels\"");
    // Three of those who are common have another label; so has one who is not.
    let mut lines: Vec<String> =
        couple.read(COMPANY, "table.csv").lines().map(str::to_owned).collect();
    for place in [1, 2, 3, 80] {
        let flipped = match lines[place].contains(",Y,") {
            true => lines[place].replace(",Y,", ",N,"),
            false => lines[place].replace(",N,", ",Y,"),
        };
        assert_ne!(lines[place], flipped);
        lines[place] = flipped;
    }
    couple.write(COMPANY, "table.csv", &(lines.join("\n") + "\n"));
    for outcome in rehearse(&couple, true) {
        outcome.assert(0, &["is here to rehearse the same agreement"]);
        for words in ["80 records and ", "; 60 people are in both tables."] {
            assert!(outcome.result.contains(words), "{}", outcome.result);
        }
        let differ = "Column `approved` differs for 3 of them: a run would end";
        assert!(outcome.result.contains(differ), "{}", outcome.result);
    }
    for who in [BANK, COMPANY] {
        assert!(couple.runs(who).is_empty() && !couple.has_release(who));
        let history = read(&couple.path(who, "ledger.jsonl")).unwrap();
        assert_eq!(history.entries().len(), 1);
        assert!(matches!(history.entries()[0].event, Event::Rehearsed(_)));
        assert_eq!(history.spent("people").to_string(), "0");
    }
    // There is one, and it is refused before connecting.
    let mut again = couple.command(BANK, "", None);
    again.arg("--rehearse");
    let again = Running::start(again).end();
    again.assert(2, &["data set \"people\" was rehearsed with \"Loan company\" before"]);
    assert!(!again.said.contains("listening on"), "{}", again.said);
    // The run ends as foretold, and says as much.
    for outcome in couple.run() {
        outcome.assert(4, &["differ between the parties for 3 people", "ε 1 is spent"]);
    }
    let mut show = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"));
    let shown = show.args(["ledger", "show"]).arg(couple.path(BANK, "ledger.jsonl")).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("was rehearsed with Loan company on "), "{shown}");
}

#[test]
fn a_rehearsal_needs_the_agreement_and_a_peer_that_rehearses_too() {
    let couple = Couple::new(40);
    let mut command = couple.command(BANK, "", None);
    command.arg("--rehearse");
    Running::start(command)
        .end()
        .assert(2, &["the agreement allows no such rehearsal", "`rehearse = \"noisy\"`"]);

    agree(&couple, "rehearse = true\nmin_common = 31");
    for outcome in rehearse(&couple, false) {
        outcome.assert(3, &["differ in --rehearse"]);
    }
    for who in [BANK, COMPANY] {
        assert!(!couple.path(who, "ledger.jsonl").exists(), "neither spent nor rehearsed");
    }
    for outcome in rehearse(&couple, true) {
        outcome.assert(0, &[]);
        let few = "A run would end without a release, its ε spent: `min_common` in [id] is 31.";
        assert!(outcome.result.contains(few), "{}", outcome.result);
        assert!(!outcome.result.contains("approved"), "{}", outcome.result);
    }
}

#[test]
fn another_agreement_with_the_same_peer_gives_no_second_exact_rehearsal() {
    let couple = Couple::new(40);
    agree(&couple, "rehearse = true");
    for outcome in rehearse(&couple, true) {
        outcome.assert(0, &[]);
        assert!(outcome.result.contains("30 people are in both tables"), "{}", outcome.result);
    }
    // Another release, and another name for the peer, whose key is the same.
    for who in [BANK, COMPANY] {
        couple.edit(who, "agreement.toml", "id = \"people\"", "id = \"r2\"");
        couple.edit(who, "agreement.toml", "name = \"Loan company\"", "name = \"Lenders\"");
    }
    for who in [BANK, COMPANY] {
        let mut again = couple.command(who, "127.0.0.1:1", None);
        again.arg("--rehearse");
        let again = Running::start(again).end();
        again.assert(2, &["rehearsed with", "ledger allow-rehearsal", "--data-set"]);
        assert!(!again.said.contains("listening on"), "{}", again.said);
    }
    // The data's owner allows one more, on both sides.
    let allow = |who, data_set: &str, peer: &str| {
        let mut allow = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"));
        allow.args(["ledger", "allow-rehearsal"]).arg(couple.path(who, "ledger.jsonl"));
        allow.args(["--data-set", data_set, "--peer", peer]).output().unwrap()
    };
    assert_eq!(allow(BANK, "poeple", "Lenders").status.code(), Some(2), "no such data set");
    assert_eq!(allow(BANK, "people", "Lander").status.code(), Some(2), "no such peer");
    assert!(allow(BANK, "people", "Loan company").status.success(), "the name then");
    assert!(allow(COMPANY, "people", "Bank").status.success());
    for outcome in rehearse(&couple, true) {
        outcome.assert(0, &[]);
    }
    for who in [BANK, COMPANY] {
        let mut third = couple.command(who, "127.0.0.1:1", None);
        third.arg("--rehearse");
        Running::start(third).end().assert(2, &["allow-rehearsal"]);
    }
    let mut show = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"));
    let shown = show.args(["ledger", "show"]).arg(couple.path(BANK, "ledger.jsonl")).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    let counted = "exact rehearsals on people with Loan company, later Lenders: 2 of 2 (one, and 1 \
                   more by `allow-rehearsal`)";
    assert!(shown.contains(counted), "{shown}");
}

#[test]
fn noisy_rehearsals_are_debited_in_both_ledgers_as_often_as_the_cap_bears() {
    let couple = Couple::new(80);
    // ε 1 makes the noise small; after two there is 0.5 left of the cap of 3.
    agree(&couple, "rehearse = \"noisy\"\nrehearse_epsilon = \"1.25\"");
    for _ in 0..2 {
        for outcome in rehearse(&couple, true) {
            outcome.assert(0, &["both ledgers are debited ε 1.25"]);
            let words = outcome.result.split("; about ").nth(1).unwrap();
            let about: i64 = words.split(' ').next().unwrap().parse().unwrap();
            assert!((60i64 - 30..=60 + 30).contains(&about), "{}", outcome.result);
            for words in ["80 records and ", "at most 3 in 19 of 20", "ε 1.25 is spent"] {
                assert!(outcome.result.contains(words), "{}", outcome.result);
            }
            let phases = outcome.phases();
            assert!(phases.contains(&"hidden join".to_owned()), "{phases:?}");
        }
    }
    for who in [BANK, COMPANY] {
        let runs = couple.runs(who);
        assert!(runs.iter().all(|run| run.is_rehearsal && run.status == Status::Finished));
        assert!(runs.iter().all(|run| run.peer_head.is_some() && run.debit.delta.is_some()));
        let history = read(&couple.path(who, "ledger.jsonl")).unwrap();
        assert_eq!(history.spent("people").to_string(), "5/2");
        let towards: Vec<_> = history.towards_peers("people").into_values().collect();
        assert_eq!(towards, ["5".parse().unwrap()], "sizes are shown");
        assert!(!couple.has_release(who));
        // A third would pass the cap: refused before connecting, and nothing is entered.
        let mut third = couple.command(who, "127.0.0.1:1", None);
        third.arg("--rehearse");
        let third = Running::start(third).end();
        third.assert(2, &["has spent ε 2.5 of its cap 3", "would spend 1.25 more"]);
        assert_eq!(couple.runs(who).len(), 2);
    }
    let mut show = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"));
    let shown = show.args(["ledger", "show"]).arg(couple.path(BANK, "ledger.jsonl")).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("rehearsal of people on people with Loan company"), "{shown}");
}

#[test]
fn a_noisy_rehearsal_precedes_releases_of_every_form() {
    let padded = Couple::one_class(60, BANK);
    agree(&padded, "membership = \"hidden\"\npad_to = 100");
    for couple in [Couple::new(60).in_groups(), padded] {
        agree(&couple, "rehearse = \"noisy\"");
        for outcome in rehearse(&couple, true) {
            outcome.assert(0, &["both ledgers are debited ε 0.05"]);
        }
        for outcome in couple.run() {
            outcome.assert(0, &[]);
            assert!(!outcome.said.contains("this is another one"), "{}", outcome.said);
        }
        couple.assert_released();
    }
}
