//! What makes the command easy to have: its front page, completions, manual pages, and keys under a
//! passphrase.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::data::AGREEMENT;
use crate::program::diptych;

#[test]
fn the_front_page_groups_the_verbs_and_fits_a_screen() {
    let place = tempfile::tempdir().unwrap();
    let (status, page, told) = diptych(place.path(), &["--help"]);
    assert_eq!((status, told.as_str()), (0, ""));
    for heading in ["Make a release:", "Inspect a release:", "Primitives:", "Check and measure:"] {
        assert_eq!(page.matches(heading).count(), 1, "{page}");
    }
    assert!(page.contains("\n  agreement    Begin an agreement, check it"), "{page}");
    assert!(page.lines().count() <= 40, "{page}");
    // Nothing at all says the same, as a failure.
    let (status, said, told) = diptych(place.path(), &[]);
    assert_eq!((status, said.as_str(), told), (2, "", page));
}

#[test]
fn completions_and_manual_pages_know_the_verbs() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (status, script, told) = diptych(place, &["completions", shell]);
        assert_eq!((status, told.as_str()), (0, ""));
        assert!(script.contains("dry-run") && script.contains("agreement"), "{shell}");
    }
    let (status, _, told) = diptych(place, &["completions", "cmd"]);
    assert!(status == 2 && told.contains("invalid value 'cmd'"), "{told}");

    let (status, page, _) = diptych(place, &["man"]);
    assert_eq!(status, 0);
    assert!(page.contains(".TH diptych 1") && page.contains("DIPTYCH_SIMD"), "{page}");
    assert_eq!(diptych(place, &["man", "--out", "."]).0, 0);
    for name in ["diptych.1", "diptych-run.1", "diptych-agreement-new.1"] {
        assert!(std::fs::read_to_string(place.join(name)).unwrap().contains(".SH NAME"), "{name}");
    }
    let (status, _, told) = diptych(place, &["man", "--out", "nowhere"]);
    assert!(status == 2 && told.contains("cannot write into nowhere"), "{told}");
}

const PARTY: &str = r#"
role = "p1"
data = "table.csv"
identity = "one.pem"
passphrase_file = "word.txt"
listen = "127.0.0.1:0"
ledger = "ledger.jsonl"
out = "release"
cap = "3"
data_set = "people"
"#;

fn write(place: &Path, name: &str, text: &str) {
    std::fs::write(place.join(name), text).unwrap();
    std::fs::set_permissions(place.join(name), PermissionsExt::from_mode(0o600)).unwrap();
}

fn dry_run(place: &Path, party: &str) -> (i32, String, String) {
    write(place, "party.toml", party);
    let files = ["run", "--agreement", "agreement.toml", "--party", "party.toml", "--dry-run"];
    diptych(place, &files)
}

/// A party whose key is encrypted with the passphrase in `word.txt`.
fn protected_party() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "word.txt", "two words\n");
    let keygen = ["keygen", "--name", "One", "--out", "one.pem", "--passphrase-file", "word.txt"];
    let (status, fingerprint, told) = diptych(place.path(), &keygen);
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("wrote one.pem (its key is encrypted with the passphrase)"), "{told}");
    write(place.path(), "agreement.toml", &AGREEMENT.replace("ONE", fingerprint.trim()));
    write(place.path(), "table.csv", "job,ill\nWriter,yes\nEngineer,no\n");
    place
}

fn assert_other_tools_read_it(place: &Path) {
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).current_dir(place).output();
        output
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default()
    };
    if !openssl(&["version"]).starts_with("OpenSSL 3") {
        eprintln!("skipped: no OpenSSL was found to read the key too");
        return;
    }
    let key = ["pkey", "-in", "one.pem", "-passin", "file:word.txt", "-noout", "-text"];
    let shown = openssl(&key);
    assert!(shown.starts_with("ED25519 Private-Key"), "{shown}");
}

#[test]
fn a_key_under_a_passphrase_opens_with_the_one_in_the_file() {
    let place = protected_party();
    let place = place.path();
    let pem = std::fs::read_to_string(place.join("one.pem")).unwrap();
    assert!(pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "{pem}");
    assert!(!pem.contains("BEGIN PRIVATE KEY"), "{pem}");
    let (status, _, told) = dry_run(place, PARTY);
    assert_eq!(status, 0, "{told}");
    assert!(!told.contains("others may read"), "{told}");
    assert_other_tools_read_it(place);

    std::fs::set_permissions(place.join("word.txt"), PermissionsExt::from_mode(0o644)).unwrap();
    let (status, _, told) = dry_run(place, PARTY);
    assert_eq!(status, 0);
    let words = "ATTENTION: others may read the passphrase in word.txt: chmod 600 word.txt";
    assert!(told.contains(words), "{told}");

    for (word, words) in [
        ("another\n", "one.pem: the passphrase of the identity: "),
        ("\n", "the first line of word.txt is not a passphrase of 1 to 1024 bytes"),
        (&"x".repeat(2000), "the first line of word.txt is not a passphrase of 1 to 1024 bytes"),
    ] {
        write(place, "word.txt", word);
        let (status, _, told) = dry_run(place, PARTY);
        assert_eq!(status, 2, "{told}");
        assert!(told.contains(words), "{told}");
        assert!(word.len() < 3 || !told.contains(word.trim()), "no passphrase is shown: {told}");
    }
    write(place, "word.txt", "another\n");
    let (_, _, told) = dry_run(place, PARTY);
    assert!(told.contains("check the first line of word.txt"), "{told}");
}

#[test]
fn without_file_and_terminal_a_passphrase_is_asked_of_nobody() {
    let place = protected_party();
    let place = place.path();
    let (status, _, told) = dry_run(place, &PARTY.replace("passphrase_file = \"word.txt\"\n", ""));
    assert_eq!(status, 2);
    assert!(told.contains("one.pem is under a passphrase, and none was given"), "{told}");
    assert!(told.contains("passphrase_file in the party file"), "{told}");
    let (status, _, told) =
        diptych(place, &["keygen", "--name", "x", "--out", "x.pem", "--passphrase"]);
    assert_eq!(status, 2);
    assert!(told.contains("no passphrase was given") && !place.join("x.pem").exists(), "{told}");
}

/// Runs a command on a terminal and answers each question; its status and all that was seen.
fn on_a_terminal(place: &Path, command: &str, answers: &[(&str, &str)]) -> Option<(i32, String)> {
    // That of util-linux; others take other flags.
    let probe = Command::new("script").arg("--version").output().ok()?;
    if !String::from_utf8_lossy(&probe.stdout).contains("util-linux") {
        return None;
    }
    let mut child = Command::new("script")
        .args(["-qec", command, "/dev/null"])
        .current_dir(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = Vec::new();
    for (question, answer) in answers {
        let before = seen.len();
        let mut byte = [0];
        while !String::from_utf8_lossy(&seen[before..]).contains(question) {
            assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        input.write_all(answer.as_bytes()).unwrap();
    }
    let _ = output.read_to_end(&mut seen);
    drop(input);
    Some((child.wait().unwrap().code().unwrap(), String::from_utf8_lossy(&seen).into_owned()))
}

#[test]
fn a_passphrase_is_asked_for_on_a_terminal_and_not_shown() {
    let place = protected_party();
    let place = place.path();
    let program = env!("CARGO_BIN_EXE_diptych");
    let keygen = format!("{program} keygen --name One --out new.pem --passphrase");
    let [first, again] = ["a passphrase for the new key: ", "once more: "];
    let run = |answers: &[(&str, &str)]| on_a_terminal(place, &keygen, answers);
    let Some((status, seen)) = run(&[(first, "pässe\u{7f}\u{7f}e\r"), (again, "pässt\r")]) else {
        eprintln!("skipped: no `script` of util-linux was found");
        return;
    };
    assert_eq!(status, 2, "{seen}");
    assert!(seen.contains("the two passphrases are not the same; nothing was written"), "{seen}");
    let (status, seen) = run(&[(first, "\u{3}")]).unwrap();
    assert!(status == 2 && seen.contains("no passphrase was given"), "{seen}");
    let (status, seen) = run(&[(first, "wrong\u{15}pässü\u{7f}e\r"), (again, "pässe\r")]).unwrap();
    assert_eq!(status, 0, "{seen}");
    assert!(seen.contains("sha256:") && !seen.contains("pässe"), "it is not shown: {seen}");

    write(place, "party.toml", &PARTY.replace("passphrase_file = \"word.txt\"\n", ""));
    let run = format!("{program} run --agreement agreement.toml --party party.toml --dry-run");
    let answers = [("passphrase of one.pem: ", "two words\r")];
    let (status, seen) = on_a_terminal(place, &run, &answers).unwrap();
    assert_eq!(status, 0, "{seen}");
    assert!(!seen.contains("two words"), "{seen}");
}
