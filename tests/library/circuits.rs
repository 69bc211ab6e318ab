//! The circuits kept for review are those that run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use diptych::circuit::{bristol, gallery};
use diptych::mechanism::gallery as mechanisms;
use diptych::paper::gallery as papers;
use sha2::{Digest, Sha256};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("circuits")
}

#[test]
fn every_exported_file_is_rebuilt_byte_for_byte() {
    let mut sums = String::new();
    let circuits = gallery::exported().into_iter().chain(mechanisms::exported().unwrap());
    for (name, circuit) in circuits.chain(papers::exported()) {
        let text = bristol::write(&circuit).unwrap();
        let kept = fs::read_to_string(directory().join(name)).unwrap();
        assert!(text == kept, "{name} differs: cargo run --example export_circuits");
        let digest = diptych::math::hex::encode(Sha256::digest(text.as_bytes()));
        sums += &format!("{digest}  {name}\n");
        let ands = circuit.counts().and.to_string();
        let readme = fs::read_to_string(directory().join("README.md")).unwrap();
        let line =
            readme.lines().find(|line| line.contains(name) && line.starts_with('|')).unwrap();
        assert!(line.ends_with(&format!("| {ands} |")), "{name} has {ands} ANDs");
    }
    assert_eq!(fs::read_to_string(directory().join("SHA256SUMS")).unwrap(), sums);
}

fn diptych() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diptych"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn keygen(place: &Path, name: &str) -> (PathBuf, String) {
    let file = place.join(name);
    let out = diptych().args(["keygen", "--name", name, "--out"]).arg(&file).output().unwrap();
    assert!(out.status.success());
    (file, String::from_utf8(out.stdout).unwrap().trim().to_owned())
}

#[test]
fn info_counts_gates_and_a_broken_file_is_named_with_its_line() {
    let file = directory().join("less_than_64.txt");
    let out = diptych().args(["circuit", "info"]).arg(&file).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && text.contains("AND        64\n"), "{text}");

    let place = tempfile::tempdir().unwrap();
    let info = |content: &str, arguments: &[&str]| {
        let file = place.path().join("small.txt");
        fs::write(&file, content).unwrap();
        let out = diptych().args(["circuit", "info"]).arg(&file).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (out.status.code(), text(out.stdout), text(out.stderr))
    };
    // The same gate twice, and one that nothing uses.
    let small = "3 5\n1 2\n1 2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n2 1 1 0 4 AND\n";
    let (status, said, _) = info(small, &[]);
    assert_eq!(status, Some(0));
    assert!(said.contains("AND        2\nXOR        1\nINV        0\n"), "{said}");
    assert!(said.contains("to run     1 AND, 0 XOR\n"), "{said}");
    for (limit, flag) in [("2", "--max-gates"), ("1", "--max-port-bits")] {
        let (status, _, said) = info(small, &[flag, limit]);
        assert_eq!(status, Some(2));
        assert!(said.contains("exceeds the limit") && said.contains(flag), "{said}");
    }
    let (status, _, said) = info(&small.replace("1 2\n1 2\n", "1 1 2\n"), &[]);
    assert_eq!(status, Some(2));
    assert!(said.contains("line 2: this is the old Bristol format"), "{said}");

    let broken = place.path().join("broken.txt");
    fs::write(&broken, "1 3\n1 2\n1 1\n\n2 1 0 9 2 AND\n").unwrap();
    let out = diptych().args(["circuit", "info"]).arg(&broken).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(said.contains("broken.txt: line 5: there is no wire 9"), "{said}");
}

#[test]
fn two_processes_run_a_circuit_file_and_learn_what_they_should() {
    let place = tempfile::tempdir().unwrap();
    let (one, first) = keygen(place.path(), "one.pem");
    let (two, second) = keygen(place.path(), "two.pem");
    let file = directory().join("less_than_64.txt");
    for (input, garbler, reveal, expected) in
        [("2a", "p1", "both", ["1\n", "1\n"]), ("ffffffffffffffff", "p2", "p1", ["0\n", ""])]
    {
        let shared = ["--garbler", garbler, "--reveal", reveal];
        let mut listening = diptych()
            .args(["circuit", "run"])
            .arg(&file)
            .args(["--input", input, "--role", "p1", "--peer", &second, "--identity"])
            .arg(&one)
            .args(["--listen", "127.0.0.1:0"])
            .args(shared)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(listening.stderr.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().trim_end_matches(" …");
        let connecting = diptych()
            .args(["circuit", "run"])
            .arg(&file)
            .args(["--input", "0x2b", "--role", "p2", "--peer", &first, "--identity"])
            .arg(&two)
            .args(["--connect", address])
            .args(shared)
            .output()
            .unwrap();
        let listened = listening.wait_with_output().unwrap();
        let output = [listened.stdout, connecting.stdout].map(|o| String::from_utf8(o).unwrap());
        assert_eq!(output, expected, "{}", String::from_utf8(connecting.stderr).unwrap());
    }
}

#[test]
fn inputs_that_do_not_fit_are_wrong_usage() {
    let place = tempfile::tempdir().unwrap();
    let (one, fingerprint) = keygen(place.path(), "one.pem");
    let file = directory().join("less_than_64.txt");
    for (inputs, words) in [
        (vec!["10000000000000000"], "does not fit 64 bits"),
        (vec!["xyz"], "expected a hexadecimal number"),
        (vec![], "1 inputs are ours, 0 were given"),
    ] {
        let mut command = diptych();
        command.args(["circuit", "run"]).arg(&file).args(["--role", "p1", "--identity"]).arg(&one);
        command.args(["--peer", &fingerprint, "--connect", "127.0.0.1:1"]);
        for input in inputs {
            command.args(["--input", input]);
        }
        let out = command.output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
