//! Releases by one party, as a person or a script meets them.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Command;

use crate::loans;
use crate::program::diptych;

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("agreement.toml"), loans::agreement("1.0", 1000)).unwrap();
    let mut csv = String::from("id,job,salary,approved\n");
    for (index, job) in
        ["Engineer", "Lawyer", "Dancer", "Writer"].iter().cycle().take(400).enumerate()
    {
        let salary = 18 + index * 7 % 82;
        csv += &format!("{index},{job},{salary},{}\n", if salary > 50 { "Y" } else { "N" });
    }
    std::fs::write(place.path().join("table.csv"), csv).unwrap();
    place
}

const LOCAL: [&str; 5] = ["local", "--agreement", "agreement.toml", "--data", "table.csv"];

fn local(place: &Path, more: &[&str]) -> (i32, String, String) {
    diptych(place, &[&LOCAL[..], more].concat())
}

#[test]
fn a_release_is_complete_and_its_manifest_describes_it() {
    let place = place();
    let (status, said, told) = local(place.path(), &["--out", "out", "--compact"]);
    assert_eq!(status, 0, "{told}");
    assert_eq!(said.trim(), "out");
    let read = |name: &str| std::fs::read(place.path().join("out").join(name)).unwrap();
    let release = String::from_utf8(read("release.csv")).unwrap();
    let mut lines = release.lines();
    assert_eq!(lines.next(), Some("job,salary,approved,count"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 4 && row[1].starts_with('[')));
    assert!(rows.chunks(2).all(|pair| pair[0][2] == "Y" && pair[1][2] == "N"));
    let total: u64 = rows.iter().map(|row| row[3].parse::<u64>().unwrap()).sum();
    assert!((300..500).contains(&total), "{total} of 400");

    let manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap();
    let hash: String =
        Sha256::digest(release.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(manifest["release"]["sha256"], hash.as_str());
    assert_eq!(manifest["release"]["rows"], rows.len());
    assert_eq!(manifest["promise"], serde_json::json!({ "epsilon": "1", "delta": "0" }));
    assert_eq!(manifest["cuts"].as_array().unwrap().len(), 3);
    assert_eq!(manifest["signatures"], Value::Array(vec![]));
    let spends = manifest["spends"].as_array().unwrap();
    assert_eq!(spends[0]["name"], "round 1: choice");
    assert_eq!(spends[0]["epsilon"], "7/60", "seven tenths of ε over two steps in three rounds");
    let keys: Vec<&str> = manifest.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "format",
            "version",
            "agreement_sha256",
            "promise",
            "cuts",
            "spends",
            "release",
            "signatures",
            "agreement"
        ]
    );
    let compact = String::from_utf8(read("release-compact.csv")).unwrap();
    let kept: Vec<&str> = release.lines().filter(|line| !line.ends_with(",0")).collect();
    assert_eq!(compact.lines().collect::<Vec<_>>(), kept);
    let files = std::fs::read_dir(place.path().join("out")).unwrap().count();
    assert_eq!(files, 4, "release, its copy, manifest, report: nothing temporary is left");
}

#[test]
fn a_release_is_never_overwritten_and_wrong_data_is_named() {
    let place = place();
    assert_eq!(local(place.path(), &["--out", "out"]).0, 0);
    let before = std::fs::read(place.path().join("out/release.csv")).unwrap();
    let (status, _, said) = local(place.path(), &["--out", "out"]);
    assert!(status == 2 && said.contains("exists already"), "{said}");
    assert_eq!(std::fs::read(place.path().join("out/release.csv")).unwrap(), before);

    let table = place.path().join("table.csv");
    let mut csv = std::fs::read_to_string(&table).unwrap();
    csv += "400,Enginer,30,Y\n";
    std::fs::write(&table, csv).unwrap();
    let (status, _, said) = local(place.path(), &["--out", "new"]);
    assert_eq!(status, 2);
    assert!(said.contains("table.csv:402: column `job` (field 2): `Enginer`"), "{said}");
    assert!(said.contains("did you mean `Engineer`?"), "{said}");
    assert!(!place.path().join("new/release.csv").exists());
}

#[test]
fn the_ledger_counts_every_run_and_stops_at_the_cap() {
    let place = place();
    let ledger = ["--ledger", "ledger.jsonl", "--cap", "2"];
    let (status, _, said) = local(place.path(), &[&["--out", "a"], &ledger[..]].concat());
    assert!(status == 2 && said.contains("there is no ledger ledger.jsonl"), "{said}");
    for out in ["a", "b"] {
        let new: &[&str] = if out == "a" { &["--new-ledger"] } else { &[] };
        let arguments = [&["--out", out], &ledger[..], new].concat();
        let (status, _, said) = local(place.path(), &arguments);
        assert_eq!(status, 0, "{said}");
    }
    let (status, _, said) = local(place.path(), &[&["--out", "c"], &ledger[..]].concat());
    assert!(status == 2 && said.contains("cap 2"), "{said}");
    assert!(!place.path().join("c/release.csv").exists());
    let (_, shown, _) = diptych(place.path(), &["ledger", "show", "ledger.jsonl"]);
    assert!(
        shown.contains("table.csv: towards readers ε 2 of 2; towards the peer ε 0 (no cap)"),
        "{shown}"
    );
    assert!(!shown.contains("unfinished"), "{shown}");
    let (status, ..) = local(place.path(), &["--out", "d", "--cap", "2"]);
    assert_eq!(status, 2, "a cap needs a ledger");
}

#[test]
fn the_local_demo_shows_a_release_and_where_it_is() {
    let place = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["demo", "--partition", "local", "--records", "2000"])
        .env("TMPDIR", place.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("job,sex,age,salary,approved,count"), "{said}");
    let directory = said.lines().find_map(|line| line.strip_prefix("All files are in ")).unwrap();
    assert!(Path::new(directory).join("release/manifest.json").exists());
}
