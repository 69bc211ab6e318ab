//! `diptych psi` as two people would run it: two processes, two files, one connection.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn diptych() -> Command {
    Command::new(env!("CARGO_BIN_EXE_diptych"))
}

struct Party {
    directory: tempfile::TempDir,
    fingerprint: String,
}

impl Party {
    fn new(table: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("table.csv"), table).unwrap();
        let identity = directory.path().join("identity.pem");
        let made = diptych()
            .args(["--quiet", "keygen", "--name", "somebody", "--out"])
            .arg(&identity)
            .output()
            .unwrap();
        assert!(made.status.success());
        let fingerprint = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        Self { directory, fingerprint }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, role: &str, column: &str, peer: &str) -> Command {
        let mut command = diptych();
        command
            .args(["psi", "--column", column, "--role", role, "--peer", peer, "--wait", "20"])
            .arg("--ids")
            .arg(self.path("table.csv"))
            .arg("--identity")
            .arg(self.path("identity.pem"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

struct Outcomes {
    first: (Option<i32>, String, String),
    second: Output,
}

/// Runs P1 listening and P2 connecting, each with its further arguments.
fn run(one: &Party, two: &Party, columns: [&str; 2], first: &[&str], second: &[&str]) -> Outcomes {
    let mut listening = one
        .command("p1", columns[0], &two.fingerprint)
        .args(["--listen", "127.0.0.1:0"])
        .args(first)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(listening.stderr.take().unwrap());
    let address = address_in(&mut said);
    let second = two
        .command("p2", columns[1], &one.fingerprint)
        .args(["--connect", &address])
        .args(second)
        .output()
        .unwrap();
    Outcomes { first: finish(listening, said), second }
}

fn address_in(said: &mut impl BufRead) -> String {
    let mut line = String::new();
    while said.read_line(&mut line).unwrap() > 0 {
        if let Some(rest) = line.strip_prefix("listening on ") {
            return rest.trim().trim_end_matches(" …").to_owned();
        }
        line.clear();
    }
    panic!("P1 never listened");
}

fn finish(mut child: Child, mut said: impl Read) -> (Option<i32>, String, String) {
    let (mut output, mut words) = (String::new(), String::new());
    said.read_to_string(&mut words).unwrap();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    (child.wait().unwrap().code(), output, words)
}

fn field(path: &Path, column: usize) -> Vec<String> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.records().map(|record| record.unwrap()[column].to_owned()).collect()
}

#[test]
fn both_sides_write_their_matching_rows_in_one_order() {
    let one = Party::new("ssn,job\n a1,Engineer\nB2,Lawyer\nc3,Dancer\nd4,\"Writer, poet\"\n");
    let two = Party::new("salary,id\n10,x9\n20,D4 \n30,A1\n40,\u{a0}b2\n50,y8\n");
    let (out_one, out_two) = (one.path("out.csv"), two.path("out.csv"));
    let outcomes = run(
        &one,
        &two,
        ["ssn", "id"],
        &["--out", out_one.to_str().unwrap()],
        &["--out", out_two.to_str().unwrap()],
    );
    assert_eq!(outcomes.first.0, Some(0), "{}", outcomes.first.2);
    assert!(outcomes.second.status.success());
    let normal = |names: Vec<String>| {
        names.iter().map(|name| name.trim().to_uppercase()).collect::<Vec<_>>()
    };
    let (first, second) = (normal(field(&out_one, 0)), normal(field(&out_two, 1)));
    assert_eq!(first, second);
    let mut sorted = first;
    sorted.sort();
    assert_eq!(sorted, ["A1", "B2", "D4"]);
    let text = std::fs::read_to_string(out_one).unwrap();
    assert!(text.starts_with("ssn,job\n") && text.contains("\"Writer, poet\""), "{text}");
    assert!(outcomes.first.2.contains("3 of our 4 identifiers are among the peer's 5"));
}

#[test]
fn a_table_of_semicolons_with_a_byte_order_mark_is_recognized_and_said_to_be() {
    let one = Party::new("id,job\na,x\nb,y\n");
    let two = Party::new("\u{feff}id;city;note\nb;Ulm;\"c, d\"\nc;Bonn;\n");
    let outcomes = run(&one, &two, ["id", "id"], &[], &[]);
    let said = String::from_utf8_lossy(&outcomes.second.stderr).into_owned();
    assert!(outcomes.second.status.success(), "{said}");
    assert!(said.contains("table.csv: recognized cells separated by semicolons\n"), "{said}");
    assert_eq!(outcomes.second.stdout, b"id,city,note\nb,Ulm,\"c, d\"\n");
    assert_eq!(outcomes.first.1, "id,job\nb,y\n");
}

#[test]
fn the_cardinality_goes_to_standard_output_and_nothing_else_does() {
    let one = Party::new("id\na\nb\nc\n");
    let two = Party::new("id\nb\nc\nd\n");
    let outcomes = run(&one, &two, ["id", "id"], &["--cardinality"], &["--cardinality"]);
    assert_eq!(outcomes.first.1, "2\n");
    assert_eq!(outcomes.second.stdout, b"2\n");
}

#[test]
fn a_threshold_is_answered_with_yes_or_no_and_must_be_the_same_on_both_sides() {
    let one = Party::new("id\na\nb\nc\n");
    let two = Party::new("id\nb\nc\nd\n");
    for (threshold, answer) in [("2", "yes\n"), ("3", "no\n")] {
        let asked = ["--threshold", threshold];
        let outcomes = run(&one, &two, ["id", "id"], &asked, &asked);
        assert_eq!(outcomes.first.1, answer, "{}", outcomes.first.2);
        assert_eq!(outcomes.second.stdout, answer.as_bytes());
    }
    let outcomes = run(&one, &two, ["id", "id"], &["--threshold", "1"], &["--threshold", "2"]);
    assert_eq!(outcomes.second.status.code(), Some(3));
}

#[test]
fn the_residues_can_be_chosen_and_must_be_chosen_on_both_sides() {
    let one = Party::new("id\na\nb\nc\n");
    let two = Party::new("id\nb\nc\nd\n");
    let residues = ["--cardinality", "--matching", "ffdhe3072"];
    let outcomes = run(&one, &two, ["id", "id"], &residues, &residues);
    assert_eq!(outcomes.first.1, "2\n");
    let outcomes = run(&one, &two, ["id", "id"], &residues, &["--cardinality"]);
    assert_eq!(outcomes.second.status.code(), Some(3));
}

#[test]
fn every_way_to_compare_finds_the_same_and_both_sides_must_take_the_same() {
    let (one, two) = (Party::new("id\na\nb\nc\n"), Party::new("id\nb\nc\nd\ne\n"));
    for matching in ["oprf", "ristretto255", "ffdhe3072"] {
        let chosen = ["--matching", matching];
        let outcomes = run(&one, &two, ["id", "id"], &chosen, &chosen);
        assert_eq!(outcomes.first.1.as_bytes(), outcomes.second.stdout, "{matching}");
        let mut lines: Vec<&str> = outcomes.first.1.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["b", "c", "id"], "{matching}");
    }
    let outcomes = run(&one, &two, ["id", "id"], &[], &["--matching", "ristretto255"]);
    assert_eq!(outcomes.second.status.code(), Some(3), "the usual way is oprf");
    let refused = one
        .command("p1", "id", &two.fingerprint)
        .args(["--cardinality", "--matching", "oprf", "--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot count only"));
}

#[test]
fn an_empty_intersection_is_a_header() {
    let one = Party::new("id,x\n");
    let two = Party::new("id\nb\n");
    let outcomes = run(&one, &two, ["id", "id"], &[], &["--quiet"]);
    assert_eq!(outcomes.first.1, "id,x\n");
    assert_eq!(outcomes.second.stdout, b"id\n");
    assert!(outcomes.second.stderr.is_empty());
}

#[test]
fn other_rules_on_the_other_side_are_refused_and_named() {
    let one = Party::new("id\na\n");
    let two = Party::new("id\na\n");
    let outcomes = run(&one, &two, ["id", "id"], &["--normalize", "trim"], &[]);
    assert_eq!(outcomes.first.0, Some(3));
    assert_eq!(outcomes.second.status.code(), Some(3));
    assert!(outcomes.first.2.contains("differ in normalize"), "{}", outcomes.first.2);
}

#[test]
fn what_is_wrong_with_the_table_is_said_before_anyone_connects() {
    let duplicates = Party::new("id\na\nb\nA \n");
    let said = |party: &Party, column: &str| {
        let output = party
            .command("p1", column, &party.fingerprint)
            .args(["--connect", "127.0.0.1:1"])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, words) = said(&duplicates, "id");
    assert_eq!(status, Some(2));
    assert!(words.contains("lines 2 and 4") && !words.contains("connecting"), "{words}");
    let (status, words) = said(&duplicates, "ssn");
    assert_eq!(status, Some(2));
    assert!(words.contains("no column 'ssn'") && words.contains("the columns are: id"), "{words}");
}
