//! Releases in which nobody learns who is common: what runs say, write and leave behind.

use diptych::privacy::ledger::{Status, Towards};
use serde_json::Value;

use crate::AS_FORECAST;
use crate::couple::{BANK, COMPANY, Couple, Running};

/// What a party's costs tell, but for times.
fn costs(couple: &Couple, who: usize) -> Value {
    let text = couple.read(who, "release/private/costs.json");
    assert!(text.contains(AS_FORECAST), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Bytes, messages and rounds of the phases before the first output, which the data decides.
fn before_choices(costs: &Value) -> Vec<Value> {
    let names = ["hidden join", "histograms"];
    let phases = costs["phases"].as_array().unwrap().iter();
    let counted = phases.filter(|phase| names.contains(&phase["phase"].as_str().unwrap()));
    let counted: Vec<Value> = counted
        .map(|phase| {
            let mut phase = phase.clone();
            phase["wall_seconds"].take();
            phase["cpu_seconds"].take();
            phase
        })
        .collect();
    assert_eq!(counted.len(), names.len());
    counted
}

#[test]
fn neither_who_is_common_nor_how_many_is_told_or_written() {
    for (labelled, pad_to) in [(BANK, None), (COMPANY, Some(200))] {
        let mut before = Vec::new();
        for others in ["ID", "other"] {
            let couple = Couple::hidden(120, labelled, pad_to);
            // Nobody is common then.
            couple.edit(COMPANY, "table.csv", "ID", others);
            for outcome in couple.run() {
                outcome.assert(0, &["spent ε 1", "has its copy"]);
                assert!(!outcome.said.contains("people whom"), "{}", outcome.said);
                let phases = outcome.phases();
                let has = |name: &str| phases.iter().any(|phase| phase == name);
                assert!(has("hidden join") && !has("set intersection"), "{phases:?}");
            }
            couple.assert_released();
            for who in [BANK, COMPANY] {
                let costs = costs(&couple, who);
                assert_eq!(costs["common_records"], Value::Null);
                let peer = pad_to.map_or(Value::from(120), |_| Value::Null);
                assert_eq!(costs["peer_records"], peer);
                before.push((who, before_choices(&costs)));
                let towards = if pad_to.is_some() { Towards::Once } else { Towards::Twice };
                assert_eq!(couple.runs(who)[0].debit.towards_peer, Some(towards));
            }
        }
        let (everybody, nobody) = before.split_at(2);
        assert_eq!(everybody, nobody);
    }
}

#[test]
fn a_table_larger_than_what_both_seem_to_have_is_refused_before_connecting() {
    let couple = Couple::hidden(120, BANK, Some(119));
    for who in [BANK, COMPANY] {
        let alone = Running::start(couple.command(who, "127.0.0.1:1", None)).end();
        alone.assert(2, &["has 120 records, and `pad_to` in [id] is 119"]);
        assert!(!alone.said.contains("listening"), "{}", alone.said);
        assert!(couple.runs(who).is_empty());
    }
}

#[test]
fn nothing_of_the_peers_is_written_or_logged() {
    let couple = Couple::hidden(60, COMPANY, Some(100));
    couple.edit(BANK, "table.csv", "id00", "MARKERIDENTIFIER");
    couple.edit(COMPANY, "table.csv", "ID00", "markeridentifier");
    couple.edit(BANK, "table.csv", "Dancer", "MARKERBADVALUE");
    super::leaves_no_marker(&couple);
}

#[test]
fn killing_either_side_leaves_a_clear_end_and_no_partial_release() {
    for (victim, phase) in
        [(BANK, "hidden join"), (COMPANY, "hidden join"), (BANK, "histograms"), (COMPANY, "noise")]
    {
        let couple = Couple::hidden(40, BANK, Some(64));
        let mut both = couple.start();
        both[victim].wait_for(&format!("phase=\"{phase}\""));
        both[victim].kill();
        let survivor = 1 - victim;
        let ended = both.map(Running::end);
        let said = &ended[survivor].said;
        if ended[survivor].status != Some(0) {
            ended[survivor].assert(1, &["the peer closed the connection", "ε 1 is spent"]);
            assert!(!said.contains("people whom"), "{said}");
            assert_eq!(couple.runs(survivor)[0].status, Status::Aborted);
        }
        for who in [BANK, COMPANY] {
            couple.assert_whole_or_nothing(who);
        }
    }
}

#[test]
fn a_dry_run_tells_what_a_hidden_run_shows_and_costs() {
    let couple = Couple::hidden(60, BANK, Some(100));
    let mut command = couple.command(BANK, "", None);
    command.arg("--dry-run").env_remove("DIPTYCH_LOG");
    let dry = Running::start(command).end();
    assert_eq!(dry.status, Some(0), "{}", dry.said);
    for words in [
        "neither which of their people are in the other's data nor, beyond what is named here, how many",
        "Messages are those of 100 records of each party",
        "hidden join",
    ] {
        let page = dry.result.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(words), "{words:?} is not in\n{page}");
    }
}

#[test]
fn the_demo_shows_the_difference() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("demo");
    let [page, _] = super::demo(&out, &["--membership", "hidden"]);
    assert!(page.contains("neither which of its own people the other has"), "{page}");
    assert!(page.contains("hidden join") && page.contains("signed by both"), "{page}");
    let report = std::fs::read_to_string(out.join("bank/release/report.html")).unwrap();
    assert!(report.contains("learn neither which of their people are in the other"));
    let [page, _] = super::demo(&place.path().join("shown"), &["--membership", "shown"]);
    assert!(page.contains("which 400 of its own 450 people"), "{page}");
}
