//! The command as a person or a script meets it: exit statuses, words, files.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use diptych::simd::level::Level;

fn diptych(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diptych"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("DIPTYCH_LOG")
        .env_remove("DIPTYCH_SIMD");
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
fn the_environment_bounds_the_vector_instructions_or_is_wrong_usage() {
    let bench = |name: &str| outcome(diptych(&["bench"]).env("DIPTYCH_SIMD", name));
    for level in Level::ALL {
        let (status, _, words) = bench(level.name());
        if Level::available().any(|available| available == level) {
            assert_eq!(status, 0, "{words}");
            assert!(words.contains(&format!("level {level}:")), "{words}");
        } else {
            assert_eq!(status, 2, "{words}");
            assert!(words.contains(&format!("does not have the level {level}")), "{words}");
        }
    }
    let (_, _, words) = bench("portable");
    assert_eq!(words.matches(" none").count(), 5, "{words}");
    for unknown in ["", "sse9", "AVX2"] {
        let (status, _, words) = bench(unknown);
        assert_eq!(status, 2);
        assert!(words.contains("DIPTYCH_SIMD") && words.contains(&format!("{unknown:?}")));
        assert!(words.contains("this processor has portable"), "{words}");
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
    assert!(said.contains("both sides run as p1"), "{said}");
}

#[test]
fn nobody_at_the_address_is_status_1_and_says_what_to_check() {
    let place = tempfile::tempdir().unwrap();
    let (one, _) = keygen(place.path(), "one.pem");
    let (_, two_print) = keygen(place.path(), "two.pem");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let free = free.to_string();
    let (status, _, said) = run_psi(
        "p1",
        &["--wait", "1", "--identity", &one, "--peer", &two_print, "--connect", &free],
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
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("Noise of every row: about ± "), "{said}");
    assert!(page.starts_with("Agreement on the release \"loans-2026q4\"\nSHA-256 "), "{page}");
    assert!(page.contains("What is promised to every person in the data"), "{page}");
}

#[test]
fn a_bad_agreement_is_status_2_with_every_place_and_remedy() {
    let place = tempfile::tempdir().unwrap();
    let good = include_str!("../../examples/loans/agreement.toml");
    let bad =
        good.replace("epsilon = \"1.0\"", "epsilom = \"1.0\"").replace("step = 1", "step = 0");
    let file = place.path().join("bad.toml");
    std::fs::write(&file, bad).unwrap();
    std::fs::write(place.path().join("job.csv"), include_str!("../../examples/loans/job.csv"))
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

/// Where nothing can be written.
fn full() -> Stdio {
    File::create("/dev/full").unwrap().into()
}

#[test]
fn a_stranger_does_not_end_a_listener_whose_log_cannot_be_written() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let (two, two_print) = keygen(place.path(), "two.pem");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for format in ["text", "json"] {
        let mut child = psi("p1")
            .args(["--wait", "20", "--log-format", format])
            .args(["--identity", &one, "--peer", &two_print, "--listen", &free])
            .env("DIPTYCH_LOG", "trace")
            .stdout(Stdio::null())
            .stderr(full())
            .spawn()
            .unwrap();
        let mut stranger = loop {
            assert_eq!(child.try_wait().unwrap(), None, "it ended before it listened");
            if let Ok(stranger) = TcpStream::connect(&free) {
                break stranger;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let _ = stranger.read_to_end(&mut Vec::new());
        let (status, _, said) = connect(&two, &one_print, &free, "p2");
        assert_eq!(status, 0, "{said}");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn what_strangers_send_is_logged_on_few_lines_and_harmlessly() {
    let place = tempfile::tempdir().unwrap();
    let (one, _) = keygen(place.path(), "one.pem");
    let (_, two_print) = keygen(place.path(), "two.pem");
    let (child, address) = listening(&one, &two_print);
    for _ in 0..200 {
        if let Ok(mut stranger) = TcpStream::connect(&address) {
            let _ = stranger.write_all(b"\x1b[31m\nWARN a forged line\n");
        }
    }
    let (status, said) = end(child);
    assert_eq!(status, 1, "{said}");
    let lines = said.lines().filter(|line| line.contains("refused a connection")).count();
    assert!((1..=8).contains(&lines), "{lines} lines:\n{said}");
    assert!(!said.contains("\n[31m") && !said.contains("\nWARN a forged line"), "{said}");
}

#[test]
fn threads_that_cannot_be_had_are_a_failure_and_no_panic() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let mut command = psi("p1");
    let meeting = ["--wait", "1", "--connect", "127.0.0.1:1", "--identity", &one];
    // No address space has room for such a stack.
    command
        .args(meeting)
        .args(["--peer", &one_print])
        .env("RUST_MIN_STACK", (1u64 << 50).to_string());
    let (status, _, said) = outcome(&mut command);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("cannot start the threads") && said.contains("ulimit -u"), "{said}");
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let place = tempfile::tempdir().unwrap();
    let ledger = place.path().join("ledger.jsonl");
    std::fs::write(&ledger, "").unwrap();
    let demo = place.path().join("demo");
    let (status, _, said) =
        run(&["demo", "--partition", "local", "--records", "200", "--out", demo.to_str().unwrap()]);
    assert_eq!(status, 0, "{said}");
    let release = demo.join("release");
    let agreement = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/loans/agreement.toml");
    for verb in [
        &["ledger", "show", ledger.to_str().unwrap()][..],
        &["verify", release.to_str().unwrap()],
        &["agreement", "check", agreement],
    ] {
        let (status, shown, said) = run(verb);
        assert!(status == 0 && !shown.is_empty(), "{verb:?}: {said}");
        let output = diptych(verb).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{verb:?}: {said}");
        assert!(said.contains("cannot write the result to standard output"), "{said}");
    }
}

/// Passes everything on, but changes one byte on the way there or back.
fn changing_relay(to: String, changed: usize, there: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (near, _) = listener.accept().unwrap();
        let far = TcpStream::connect(to).unwrap();
        let pass = |mut from: TcpStream, mut to: TcpStream, changed: Option<usize>| {
            let (mut buffer, mut passed) = ([0; 4096], 0);
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if let Some(place) = changed.and_then(|place| place.checked_sub(passed))
                    && place < count
                {
                    buffer[place] ^= 0x10;
                }
                passed += count;
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(std::net::Shutdown::Both);
        };
        let (back_from, back_to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        let back = (!there).then_some(changed);
        let back = std::thread::spawn(move || pass(back_from, back_to, back));
        pass(near, far, there.then_some(changed));
        let _ = back.join();
    });
    address
}

#[test]
fn bytes_that_the_network_changed_are_status_1_on_both_sides() {
    let place = tempfile::tempdir().unwrap();
    let (one, one_print) = keygen(place.path(), "one.pem");
    let (two, two_print) = keygen(place.path(), "two.pem");
    let places = [(60, true), (700, true), (400, true), (60, false), (500, false), (700, false)];
    let cases = places.map(|(changed, there)| {
        let ours = (one.clone(), one_print.clone(), two.clone(), two_print.clone());
        std::thread::spawn(move || {
            let (one, one_print, two, two_print) = ours;
            let (child, address) = listening(&one, &two_print);
            let relay = changing_relay(address, changed, there);
            let (near, _, near_said) = connect(&two, &one_print, &relay, "p2");
            let (far, far_said) = end(child);
            (near, far, format!("byte {changed}, there: {there}\n{near_said}\n{far_said}"))
        })
    });
    for case in cases {
        let (near, far, said) = case.join().unwrap();
        assert_eq!((near, far), (1, 1), "{said}");
    }
}

#[test]
fn made_up_paths_are_anonymized_checked_and_entered_once() {
    let place = tempfile::tempdir().unwrap();
    let name = |file: &str| place.path().join(file).to_str().unwrap().to_owned();
    let (paths, out, ledger) = (name("paths.csv"), name("release"), name("ledger.jsonl"));
    let made =
        run(&["model", "trajectory", "generate", "city", "--people", "400", "--out", &paths]);
    assert_eq!(made.0, 0, "{}", made.2);
    let terms = ["--l", "2", "--k", "5", "--c", "0.6", "--protect", "AIDS"];
    let check = |file: &str| {
        let arguments = ["model", "trajectory", "check", "--data", file];
        run(&[&arguments[..], &terms].concat())
    };
    let (status, found, said) = check(&paths);
    assert!(
        status == 1 && found.contains("minimal violating sets") && said.contains("not as required")
    );
    let anonymize = |out: &str, more: &[&str]| {
        let arguments = ["model", "trajectory", "anonymize", "--data", &paths, "--out", out];
        run(&[&arguments[..], &terms, &["--ledger", &ledger, "--support", "0.02"], more].concat())
    };
    let (status, _, said) = anonymize(&out, &["--acknowledge", "yes"]);
    assert!(status == 2 && said.contains("not differentially private"), "{said}");
    let acknowledged = ["--acknowledge", "not differentially private"];
    let (status, _, said) = anonymize(&out, &acknowledged);
    assert!(status == 2 && said.contains("there is no ledger"), "{said}");
    let (status, _, said) = anonymize(&out, &[&acknowledged[..], &["--new-ledger"]].concat());
    assert!(status == 0 && said.contains("This is not differential privacy."), "{said}");
    assert_eq!(check(&format!("{out}/release.csv")).0, 0);
    let summary = std::fs::read_to_string(format!("{out}/summary.json")).unwrap();
    assert!(
        summary.contains("alone on the whole path") && !summary.contains("suppressed"),
        "{summary}"
    );
    assert!(anonymize(&out, &acknowledged).2.contains("exists already"));
    let (status, _, said) = anonymize(&name("again"), &acknowledged);
    assert!(status == 2 && said.contains("accept_composition"), "{said}");
    let accepted = [&acknowledged[..], &["--accept-composition"]].concat();
    assert_eq!(anonymize(&name("again"), &accepted).0, 0);
}

#[test]
fn paths_that_tell_too_much_once_empty_ones_are_left_out_are_refused_and_nothing_is_written() {
    let place = tempfile::tempdir().unwrap();
    let name = |file: &str| place.path().join(file).to_str().unwrap().to_owned();
    let (paths, left, out) = (name("paths.csv"), name("left.csv"), name("release"));
    let six = "path,ill\na1,AIDS\na1,AIDS\na1>a5,Flu\na1>a5,Flu\na5,AIDS\na5,AIDS\n";
    std::fs::write(&left, six).unwrap();
    std::fs::write(&paths, format!("{six}b2,Flu\nc2,Flu\nd2,Flu\ne2,Flu\n")).unwrap();
    let ask = |verb: &str, data: &str, terms: &[&str], more: &[&str]| {
        let arguments = ["model", "trajectory", verb, "--data", data, "--sensitive", "ill"];
        run(&[&arguments[..], terms, more].concat())
    };
    let terms = ["--l", "2", "--k", "2", "--c", "0.5", "--protect", "AIDS"];
    let ledger = name("ledger.jsonl");
    let words = ["--acknowledge", "not differentially private", "--support", "0.2"];
    let more = [&words[..], &["--out", &out, "--ledger", &ledger, "--new-ledger"]].concat();
    let (status, _, said) = ask("anonymize", &paths, &terms, &more);
    assert!(
        status == 2 && said.contains("4 of 6 have AIDS") && said.contains("raise `c`"),
        "{said}"
    );
    assert!(!Path::new(&out).exists());
    let entered = std::fs::read_to_string(&ledger).unwrap_or_default();
    assert!(!entered.contains("trajectory"), "{entered}");
    let (status, found, _) = ask("check", &left, &terms, &[]);
    assert!(status == 1 && found.contains("all paths together      4 of 6 have AIDS"), "{found}");
    for (terms, problem) in [
        (&["--l", "17", "--k", "2"][..], "from 1 to 16"),
        (&["--l", "2", "--k", "1"], "nothing is required"),
        (&["--l", "2", "--k", "2", "--c", "0.5"], "no value is protected"),
        (&["--l", "2", "--k", "2", "--protect", "AIDs"], "did you mean `AIDS`?"),
        (&["--l", "2", "--k", "2", "--protect", "Flu, Flu"], "named twice"),
    ] {
        for (verb, more) in [("check", &[][..]), ("anonymize", &more)] {
            let (status, _, said) = ask(verb, &paths, terms, more);
            assert!(status == 2 && said.contains(problem), "{said}");
        }
    }
}

#[test]
fn any_table_is_checked_for_groups() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("table.csv").to_str().unwrap().to_owned();
    std::fs::write(&data, "job,sex,ill,n\nWriter,m,flu,2\nWriter,f,none,3\nLawyer,f,flu,1\n")
        .unwrap();
    let check = |more: &[&str]| {
        let arguments = ["model", "lkc", "check", "--data", &data, "--columns", "job,sex"];
        run(&[&arguments[..], more].concat())
    };
    let (status, found, _) = check(&["--k", "2", "--count", "n"]);
    assert!(status == 1 && found.contains("job Lawyer, sex f: 1 people"), "{found}");
    let (status, found, _) = check(&["--k", "1", "--count", "n"]);
    assert!(status == 0 && found.contains("people alone in theirs  1"), "{found}");
    let told = ["--k", "1", "--sensitive", "ill", "--protect", "flu", "--c", "0.5"];
    let (status, found, _) = check(&told);
    assert!(status == 1 && found.contains("of 1 people 1 have flu"), "{found}");
    for (more, problem) in [
        (&["--sensitive", "ill", "--protect", "flue"][..], "did you mean `flu`?"),
        (&["--sensitive", "ill", "--protect", "flu, flu"], "named twice"),
        (&["--c", "0.5"], "no value is protected"),
    ] {
        let (status, _, said) = check(&[&["--k", "1"], more].concat());
        assert!(status == 2 && said.contains(problem), "{said}");
    }
    for (flag, value) in [("--c", "0"), ("--c", "2"), ("--count", "job"), ("--columns", "age")] {
        assert_eq!(check(&["--k", "1", flag, value]).0, 2, "{flag} {value}");
    }
}
