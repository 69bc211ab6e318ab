//! What whoever is on call sees of a run: a log in JSON, and a file of metrics.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::couple::{BANK, COMPANY, Couple, Running};

/// A file in the text format of Prometheus: values by name and labels. Every name must have its HELP and
/// TYPE before its samples.
fn parse(text: &str) -> BTreeMap<(String, BTreeMap<String, String>), f64> {
    let (mut samples, mut known) = (BTreeMap::new(), BTreeMap::new());
    assert!(text.ends_with('\n'), "{text}");
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let [word, name, rest] = comment.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            match word {
                "HELP" => assert_eq!(known.insert(name.to_owned(), None), None, "{line}"),
                "TYPE" => {
                    assert!(["counter", "gauge"].contains(&rest), "{line}");
                    assert_eq!(known.insert(name.to_owned(), Some(rest)), Some(None), "{line}");
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let (name, rest) = line.split_once('{').unwrap();
        let (labels, value) = rest.rsplit_once("} ").unwrap();
        let is_counter = known.get(name).unwrap().unwrap() == "counter";
        assert_eq!(name.ends_with("_total"), is_counter, "{line}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
        let labels = labels.split(',').map(|label| {
            let (key, value) = label.split_once('=').unwrap();
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            (key.to_owned(), value.unwrap().to_owned())
        });
        let key = (name.to_owned(), labels.collect());
        assert_eq!(samples.insert(key, value.parse().unwrap()), None, "{line}");
    }
    samples
}

fn watched(couple: &Couple, who: usize, mut command: Command) -> Running {
    command.arg("--metrics").arg(couple.path(who, "diptych.prom"));
    Running::start(command)
}

fn start(couple: &Couple) -> [Running; 2] {
    let bank = watched(couple, BANK, couple.command(BANK, "", None));
    let mut company = couple.command(COMPANY, &bank.address(), None);
    company.args(["--log-format", "json"]);
    [bank, watched(couple, COMPANY, company)]
}

fn log(said: &str) -> Vec<Value> {
    assert!(!said.contains("  "), "{said}");
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_that_succeeds_ends_its_log_with_done_and_its_metrics_with_status_0() {
    let couple = Couple::new(60);
    let [bank, company] = start(&couple).map(Running::end);
    bank.assert(0, &[]);
    company.assert(0, &[]);
    let log = log(&company.said);
    assert!(log.iter().all(|line| line["event"].is_string()), "{}", company.said);
    let position = |event: &str| log.iter().position(|line| line["event"] == event);
    let order = ["connecting", "connected", "debited", "released", "done"].map(position);
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?} {}", company.said);
    let last = log.last().unwrap();
    assert_eq!((&last["event"], &last["status"]), (&"done".into(), &0.into()), "{last}");
    assert_eq!((&last["peer"], &last["phase"]), (&"Bank".into(), &"closing".into()), "{last}");

    for who in [BANK, COMPANY] {
        let text = couple.read(who, "diptych.prom");
        let samples = parse(&text);
        let role = ("role".to_owned(), format!("p{}", who + 1));
        let value = |name: &str| samples[&(format!("diptych_{name}"), [role.clone()].into())];
        assert_eq!((value("exit_status"), value("running")), (0.0, 0.0), "{text}");
        assert_eq!(value("epsilon_spent"), 1.0, "{text}");
        assert!(value("run_seconds") > 0.0 && value("updated_timestamp_seconds") > 1e9, "{text}");
        let phase = ("phase".to_owned(), "closing".to_owned());
        let phase = [role.clone(), phase].into();
        assert_eq!(samples[&("diptych_phase".to_owned(), phase)], 1.0, "{text}");
        // As in the record of costs, whose last phase is the total.
        let costs: Value =
            serde_json::from_str(&couple.read(who, "release/private/costs.json")).unwrap();
        let total = costs["phases"].as_array().unwrap().last().unwrap();
        for (metric, cost) in [
            ("sent_bytes_total", "bytes_sent"),
            ("received_bytes_total", "bytes_received"),
            ("rounds_total", "rounds"),
        ] {
            assert_eq!(Some(value(metric)), total[cost].as_f64(), "{metric} in {text}");
        }
        if who == COMPANY {
            let bytes = value("sent_bytes_total") + value("received_bytes_total");
            assert_eq!(last["bytes"].as_f64(), Some(bytes));
        }
    }
}

#[test]
fn a_run_that_fails_after_spending_says_so_in_fields() {
    let couple = Couple::new(60);
    // The labels of everybody differ.
    let table = couple.read(COMPANY, "table.csv").replace(",Y,", ",x,").replace(",N,", ",Y,");
    couple.write(COMPANY, "table.csv", &table.replace(",x,", ",N,"));
    let [bank, company] = start(&couple).map(Running::end);
    bank.assert(4, &["\n help: ε 1 is spent"]);
    company.assert(4, &[]);
    let log = log(&company.said);
    let last = log.last().unwrap();
    assert_eq!((&last["event"], &last["status"]), (&"failed".into(), &4.into()), "{last}");
    assert!(last["hint"].as_str().unwrap().starts_with("ε 1 is spent"), "{last}");
    assert!(last["bytes"].as_u64().unwrap() > 0 && last["peer"] == "Bank", "{last}");
    for who in [BANK, COMPANY] {
        let text = couple.read(who, "diptych.prom");
        parse(&text);
        assert!(text.contains(&format!("diptych_exit_status{{role=\"p{}\"}} 4\n", who + 1)));
        assert!(text.contains("} 1\n") && text.contains("diptych_epsilon_spent{"), "{text}");
    }
}

#[test]
fn metrics_that_cannot_be_written_end_no_run_and_no_ledger_is_replaced_by_them() {
    let couple = Couple::new(60);
    let mut bank = couple.command(BANK, "", None);
    bank.arg("--metrics").arg(couple.path(BANK, "nowhere/diptych.prom"));
    let bank = Running::start(bank);
    let company = Running::start(couple.command(COMPANY, &bank.address(), None));
    let [bank, company] = [bank, company].map(Running::end);
    bank.assert(0, &["ATTENTION: cannot write the metrics to "]);
    company.assert(0, &[]);
    let mut again = couple.command(BANK, "", None);
    let ledger = couple.read(BANK, "ledger.jsonl");
    again.arg("--metrics").arg(couple.path(BANK, "ledger.jsonl"));
    Running::start(again).end().assert(2, &["ledger.jsonl is not a file of metrics"]);
    assert_eq!(couple.read(BANK, "ledger.jsonl"), ledger);
}
