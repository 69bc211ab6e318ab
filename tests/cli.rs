//! The command as a person or a script meets it: exit statuses, words, files.

#![expect(clippy::unwrap_used, reason = "helpers of a test")]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

fn diptych(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diptych"));
    command.args(arguments).stdin(Stdio::null()).env_remove("DIPTYCH_LOG");
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    outcome(&mut diptych(arguments))
}

fn outcome(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// The shortest conversation of two parties that the command has.
fn psi(role: &str) -> Command {
    static IDS: LazyLock<PathBuf> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-ids.csv");
        std::fs::write(&path, "id\na\nb\n").unwrap();
        path
    });
    let mut command = diptych(&["psi", "--cardinality", "--column", "id", "--role", role]);
    command.arg("--ids").arg(&*IDS);
    command
}

fn run_psi(role: &str, arguments: &[&str]) -> (i32, String, String) {
    outcome(psi(role).args(arguments))
}

fn keygen(directory: &Path, name: &str) -> (String, String) {
    let file = directory.join(name).to_str().unwrap().to_owned();
    let (status, fingerprint, _) = run(&["keygen", "--name", name, "--out", &file]);
    assert_eq!(status, 0);
    (file, fingerprint.trim().to_owned())
}

#[test]
fn help_lists_the_verbs_and_wrong_usage_is_status_2() {
    let (status, help, _) = run(&["--help"]);
    assert_eq!(status, 0);
    assert!(["demo", "keygen", "run", "verify"].iter().all(|verb| help.contains(verb)));
    for wrong in [&[][..], &["nonsense"], &["keygen"], &["keygen", "--name", "", "--out", "x"]] {
        assert_eq!(run(wrong).0, 2, "{wrong:?}");
    }
}

#[test]
fn keygen_writes_a_private_file_once_and_prints_the_fingerprint() {
    let place = tempfile::tempdir().unwrap();
    let (file, fingerprint) = keygen(place.path(), "bank.pem");
    assert!(fingerprint.starts_with("sha256:") && fingerprint.len() == 71, "{fingerprint}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&file).unwrap();
    let (status, _, said) = run(&["keygen", "--name", "bank", "--out", &file]);
    assert_eq!(status, 2);
    assert!(said.contains("exists already") && said.contains("help:"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_missing_or_broken_identity_says_how_to_make_one() {
    let place = tempfile::tempdir().unwrap();
    let (_, peer) = keygen(place.path(), "peer.pem");
    let broken = place.path().join("broken.pem");
    std::fs::write(&broken, "not a key").unwrap();
    for file in [place.path().join("missing.pem"), broken, place.path().to_owned()] {
        let file = file.to_str().unwrap();
        let arguments = ["--identity", file, "--peer", &peer, "--listen", "127.0.0.1:0"];
        let (status, _, said) = run_psi("p1", &arguments);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(file) && said.contains("keygen"), "{said}");
    }
}

/// A listening party and the address it prints.
fn listening(identity: &str, peer: &str) -> (Child, String) {
    let mut child = psi("p1")
        .args(["--wait", "2"])
        .args(["--identity", identity, "--peer", peer, "--listen", "127.0.0.1:0"])
        .env("DIPTYCH_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("listening on ") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "it ended before it listened");
    }
    child.stderr = Some(reader.into_inner());
    (child, line.trim_start_matches("listening on ").trim_end_matches([' ', '…', '\n']).to_owned())
}

fn connect(identity: &str, peer: &str, address: &str, role: &str) -> (i32, String, String) {
    let meeting = ["--identity", identity, "--peer", peer, "--connect", address, "--wait", "5"];
    run_psi(role, &meeting)
}

fn end(mut child: Child) -> (i32, String) {
    let mut said = String::new();
    let status = child.wait().unwrap().code().unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status, said)
}

#[test]
fn a_peer_that_is_not_the_one_agreed_on_is_status_3_on_both_sides() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let (_, two_print) = keygen(place.path(), "two.pem");
    let (stranger, stranger_print) = keygen(place.path(), "stranger.pem");
    let (child, address) = listening(&one, &two_print);
    let (status, _, said) = connect(&stranger, &one_print, &address, "p2");
    assert_eq!(status, 3, "{said}");
    let (status, said) = end(child);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains(&stranger_print), "the refused fingerprint is named: {said}");
}

#[test]
fn two_parties_in_one_role_are_status_3_on_both_sides() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let (two, two_print) = keygen(place.path(), "two.pem");
    let (child, address) = listening(&one, &two_print);
    let (status, _, said) = connect(&two, &one_print, &address, "p1");
    assert_eq!(status, 3, "{said}");
    let (status, said) = end(child);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("both sides run as P1"), "{said}");
}

#[test]
fn nobody_at_the_address_is_status_1_and_says_what_to_check() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let free = free.to_string();
    let (status, _, said) = run_psi(
        "p1",
        &["--wait", "1", "--identity", &one, "--peer", &one_print, "--connect", &free],
    );
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("is the other side started?"), "{said}");
}

#[test]
fn the_log_at_its_most_talkative_does_not_hold_the_key() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let (two, two_print) = keygen(place.path(), "two.pem");
    let (child, address) = listening(&one, &two_print);
    assert_eq!(connect(&two, &one_print, &address, "p2").0, 0);
    let (status, said) = end(child);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("phase begins"), "the log is on: {said}");
    let pem = std::fs::read_to_string(&one).unwrap();
    let key_line = pem.lines().nth(1).unwrap();
    assert!(!said.contains(key_line) && !said.contains("PRIVATE"));
}

#[test]
fn an_agreement_is_checked_and_printed_in_plain_words() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/loans/agreement.toml");
    let (status, page, said) = run(&["agreement", "check", example]);
    assert_eq!((status, said.as_str()), (0, ""));
    assert!(page.starts_with("Agreement on the release \"loans-2026q4\"\nSHA-256 "), "{page}");
    assert!(page.contains("What is promised to every person in the data"), "{page}");
}

#[test]
fn a_bad_agreement_is_status_2_with_every_place_and_remedy() {
    let place = tempfile::tempdir().unwrap();
    let good = include_str!("../examples/loans/agreement.toml");
    let bad =
        good.replace("epsilon = \"1.0\"", "epsilom = \"1.0\"").replace("step = 1", "step = 0");
    let file = place.path().join("bad.toml");
    std::fs::write(&file, bad).unwrap();
    std::fs::write(place.path().join("job.csv"), include_str!("../examples/loans/job.csv"))
        .unwrap();
    let file = file.to_str().unwrap();
    let (status, page, said) = run(&["agreement", "check", file]);
    assert_eq!((status, page.as_str()), (2, ""));
    assert!(said.starts_with("error: 2 problems:\n"), "{said}");
    assert!(said.contains("bad.toml:8:1: unknown key `epsilom` in [release]"), "{said}");
    assert!(said.contains("did you mean `epsilon`?") && said.contains("step 0"), "{said}");
    let missing = place.path().join("missing.toml");
    let (status, _, said) = run(&["agreement", "check", missing.to_str().unwrap()]);
    assert_eq!(status, 2);
    assert!(said.contains("missing.toml: cannot be read"), "{said}");
}
