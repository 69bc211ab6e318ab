//! What the command says when something stands in the way, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::diptych;

const AGREEMENT: &str = r#"
[release]
id = "a-release"
partition = "vertical"
epsilon = "1.0"
specializations = 1
max_records = 1000
[parties.p1]
name = "One"
fingerprint = "ONE"
[parties.p2]
name = "Two"
fingerprint = "sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c"
[id]
column = "id"
normalize = ["trim", "uppercase"]
[class]
column = "ill"
values = ["yes", "no"]
[[attribute]]
name = "job"
owner = "p1"
kind = "categorical"
taxonomy = { Any_Job = ["Engineer", "Writer"] }
[[attribute]]
name = "age"
owner = "p2"
kind = "numeric"
min = 0
max = 99
step = 1
"#;
const PARTY: &str = r#"
role = "p1"
data = "table.csv"
identity = "one.pem"
listen = "127.0.0.1:0"
ledger = "ledger.jsonl"
out = "release"
cap = "3"
data_set = "table.csv"
"#;

/// A place where the first party could run.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let (status, fingerprint, _) =
        diptych(place.path(), &["keygen", "--name", "One", "--out", "one.pem"]);
    assert_eq!(status, 0);
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("agreement.toml", &AGREEMENT.replace("ONE", fingerprint.trim()));
    write("party.toml", PARTY);
    write("table.csv", "id,job,ill\na,Writer,yes\nb,Engineer,no\n");
    place
}

const RUN: [&str; 5] = ["run", "--agreement", "agreement.toml", "--party", "party.toml"];

fn dry_run(place: &Path) -> (i32, String, String) {
    diptych(place, &[&RUN[..], &["--dry-run"]].concat())
}

fn psi(place: &Path, more: &[&str]) -> (i32, String, String) {
    let fingerprint = format!("sha256:{}", "1c".repeat(32));
    let psi = ["psi", "--cardinality", "--column", "id", "--role", "p1", "--ids", "table.csv"];
    let who = ["--identity", "one.pem", "--peer", &fingerprint, "--wait", "1"];
    diptych(place, &[&psi[..], &who[..], more].concat())
}

#[test]
fn an_agreement_that_a_run_would_refuse_is_refused_by_the_check() {
    let place = place();
    let place = place.path();
    let text = std::fs::read_to_string(place.join("agreement.toml")).unwrap();
    let mut many = text.replace("specializations = 1", "specializations = 60");
    for name in ["b", "c", "d", "e", "f", "g"] {
        many += &format!(
            "[[attribute]]\nname = \"{name}\"\nowner = \"p2\"\nkind = \"numeric\"\nmin = 0\nmax = 99\n\
             step = 1\n"
        );
    }
    std::fs::write(place.join("agreement.toml"), many).unwrap();
    let (status, page, told) = diptych(place, &["agreement", "check", "agreement.toml"]);
    assert_eq!((status, page.as_str()), (2, ""), "{told}");
    assert!(told.contains("agreement.toml: a run would be refused: "), "{told}");
    let (status, _, run) = dry_run(place);
    assert_eq!(status, 2, "{run}");
    let reason = told.split("refused: ").nth(1).unwrap().lines().next().unwrap();
    assert!(run.contains(reason), "{run}\n{reason}");
}

#[test]
fn nothing_begins_under_an_agreement_whose_last_day_has_passed() {
    let place = place();
    let place = place.path();
    let text = std::fs::read_to_string(place.join("agreement.toml")).unwrap();
    let write = |last: &str| {
        let text = text.replace("[release]", &format!("[release]\nvalid_until = \"{last}\""));
        std::fs::write(place.join("agreement.toml"), text).unwrap();
    };
    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "x"];
    let check = ["agreement", "check", "agreement.toml"];
    let dry = [&RUN[..], &["--dry-run"]].concat();
    let new = [&RUN[..], &["--new-ledger"]].concat();
    let rehearse = [&RUN[..], &["--rehearse"]].concat();
    write("2020-02-29");
    for arguments in [&local[..], &check, &dry, &new, &rehearse] {
        let (status, said, told) = diptych(place, arguments);
        assert_eq!((status, said.as_str()), (2, ""), "{told}");
        for part in
            ["was valid until 2020-02-29 (`valid_until`), and it is 2", "agree on a later day"]
        {
            assert!(told.contains(part), "{told}");
        }
    }
    assert!(!place.join("ledger.jsonl").exists() && !place.join("x").exists());
    write("9999-12-31");
    assert_eq!(diptych(place, &check).0, 0);
    assert_eq!(dry_run(place).0, 0);
}

#[test]
fn files_that_the_parties_have_swapped_are_told_of_with_every_column_that_is_missing() {
    let place = place();
    let place = place.path();
    let agreement = std::fs::read_to_string(place.join("agreement.toml")).unwrap();
    let more = "[[attribute]]\nname = \"town\"\nowner = \"p1\"\nkind = \"categorical\"\n\
                taxonomy = { Any = [\"A\", \"B\"] }\n";
    std::fs::write(place.join("agreement.toml"), agreement + more).unwrap();
    std::fs::write(place.join("table.csv"), "id,age,ill\na,20,yes\n").unwrap();
    let (status, _, told) = dry_run(place);
    assert_eq!(status, 2);
    let words = "the columns `job`, `town` are missing";
    assert!(told.contains(words) && told.contains("the file of the other party"), "{told}");
}

#[test]
fn duplicates_are_named_by_the_lines_of_the_file() {
    let place = place();
    let place = place.path();
    let table =
        "id,job,ill\na,Writer,yes\n\nb,Engineer,no\nc,Writer,no\n A,Writer,yes\nB,Writer,no\n";
    std::fs::write(place.join("table.csv"), table).unwrap();
    let (status, _, told) = dry_run(place);
    assert_eq!(status, 2);
    let words = "table.csv, column `id`: 2 record(s) repeat the identifier of another after trim, \
                 uppercase: lines 2 and 6; lines 4 and 7; keep one record per individual";
    assert!(told.contains(words), "{told}");
}

#[test]
fn the_dry_run_finds_places_that_cannot_be_written_and_a_key_that_others_can_read() {
    let place = place();
    let place = place.path();
    std::fs::set_permissions(place.join("one.pem"), PermissionsExt::from_mode(0o644)).unwrap();
    let (status, said, told) = dry_run(place);
    assert_eq!(status, 0, "{told}");
    assert!(
        told.contains("ATTENTION: others may read the private key in one.pem: chmod 600"),
        "{told}"
    );
    let words = "the run would be refused now: there is no ledger ledger.jsonl";
    assert!(said.contains(words) && said.contains("--new-ledger"), "{said}");
    assert!(!place.join("release").exists() && !place.join("ledger.jsonl").exists());
    for (key, from) in [("out", "\"release\""), ("ledger", "\"ledger.jsonl\"")] {
        std::fs::write(place.join("party.toml"), PARTY.replace(from, "\"table.csv/x\"")).unwrap();
        let (status, _, told) = dry_run(place);
        assert_eq!(status, 2);
        let words = format!(
            "the run would be refused: `{key}` table.csv/x cannot be made: table.csv is not a directory"
        );
        assert!(told.contains(&words), "{told}");
    }
    std::fs::write(place.join("party.toml"), PARTY.replace("one.pem", "none.pem")).unwrap();
    let (status, _, told) = dry_run(place);
    assert_eq!(status, 2);
    assert!(told.contains("cannot read none.pem: "), "{told}");
    assert!(told.contains("help: make one: diptych keygen --name NAME --out none.pem"), "{told}");
    std::fs::create_dir(place.join("closed")).unwrap();
    std::fs::set_permissions(place.join("closed"), PermissionsExt::from_mode(0o500)).unwrap();
    if std::fs::write(place.join("closed/x"), "").is_ok() {
        eprintln!("skipped: this user may write everywhere");
        return;
    }
    std::fs::write(place.join("party.toml"), PARTY.replace("\"release\"", "\"closed/x\"")).unwrap();
    let (status, _, told) = dry_run(place);
    assert_eq!(status, 2);
    assert!(told.contains("`out` closed/x cannot be made: closed: "), "{told}");
}

#[test]
fn a_release_of_the_same_name_is_remarked_and_one_without_a_ledger_says_so() {
    let place = place();
    let place = place.path();
    let table = "id,job,ill,age\n".to_owned() + &"a,Writer,yes,5\n".repeat(20);
    std::fs::write(place.join("joined.csv"), table).unwrap();
    let local = ["local", "--agreement", "agreement.toml", "--data", "joined.csv", "--out"];
    let (status, _, told) = diptych(place, &[&local[..], &["alone"]].concat());
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("no ledger is given: nothing adds up what releases"), "{told}");
    let entered = ["again", "--ledger", "ledger.jsonl", "--new-ledger", "--cap", "3"];
    let (status, _, told) = diptych(place, &[&local[..], &entered[..]].concat());
    assert_eq!(status, 0, "{told}");
    assert!(!told.contains("no ledger is given"), "{told}");
    let (status, said, told) = dry_run(place);
    assert_eq!(status, 0, "{told}");
    assert!(said.contains("note: a release \"a-release\" was made on 20"), "{said}");
}

#[test]
fn the_dry_run_refuses_what_does_not_add_up_with_an_earlier_release() {
    let place = place();
    let place = place.path();
    let groups = "[release]\nid = \"groups\"\npartition = \"local\"\nmodel = \"lkc\"\n\
                  max_records = 9\n[lkc]\nacknowledge = \"not differentially private\"\nk = 2\n\
                  [class]\ncolumn = \"ill\"\nvalues = [\"yes\", \"no\"]\n[[attribute]]\n\
                  name = \"job\"\nkind = \"categorical\"\n\
                  taxonomy = { Any_Job = [\"Engineer\", \"Writer\"] }\n";
    std::fs::write(place.join("groups.toml"), groups).unwrap();
    let local = ["local", "--agreement", "groups.toml", "--data", "table.csv", "--out", "groups"];
    let entered = ["--ledger", "ledger.jsonl", "--new-ledger", "--cap", "3"];
    let (status, _, told) = diptych(place, &[&local[..], &entered[..]].concat());
    assert_eq!(status, 0, "{told}");
    let (status, _, told) = dry_run(place);
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("the run would be refused: data set \"table.csv\""), "{told}");
    assert!(told.contains("accept_composition = true"), "{told}");
}

#[test]
fn what_keeps_two_parties_from_meeting_has_a_sentence_of_its_own() {
    let place = place();
    let place = place.path();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (status, _, told) = psi(place, &["--listen", &address]);
    assert_eq!(status, 2, "{told}");
    assert!(
        told.contains(&format!("the port of {address} is in use by another program")),
        "{told}"
    );
    let (status, _, told) = psi(place, &["--listen", "203.0.113.7:7000"]);
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("this machine does not have the address 203.0.113.7:7000"), "{told}");
    let (status, _, told) = psi(place, &["--connect", "no-such-host.invalid:7000"]);
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("the host of no-such-host.invalid:7000 is not known here"), "{told}");
}

#[test]
fn a_log_in_json_is_json_and_nothing_else() {
    let place = place();
    let place = place.path();
    let local = ["agreement", "new", "table.csv", "--partition", "local", "--out", "new.toml"];
    for (arguments, status, words) in [
        (&["psi", "--nonsense"][..], 2, "unexpected argument"),
        (&["agreement", "check", "missing.toml"], 2, "missing.toml: cannot be read"),
        (&[&RUN[..], &["--dry-run"]].concat(), 0, "read 2 records"),
        (&local, 0, "places are left to fill in"),
    ] {
        let (ended, _, told) = diptych(place, &[arguments, &["--log-format", "json"]].concat());
        assert_eq!(ended, status, "{told}");
        assert!(told.contains(words), "{told}");
        for line in told.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            for field in ["message", "level", "event"] {
                assert!(line[field].is_string(), "{line}");
            }
            assert!(!told.contains("  "), "{told}");
        }
        let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
        assert_eq!(last["event"], if status == 0 { "done" } else { "failed" }, "{last}");
        assert_eq!(last["status"], status, "{last}");
    }
}

#[test]
fn a_run_that_is_interrupted_while_it_waits_says_so_and_leaves_nothing() {
    let place = place();
    let place = place.path();
    let mut child = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(RUN)
        .arg("--new-ledger")
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("listening on ") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "it ended before it listened");
    }
    assert!(place.join("release").exists(), "room is taken before anybody is met");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut told = String::new();
    reader.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told}");
    assert!(told.contains("the run was stopped on this side"), "{told}");
    assert!(told.contains("help: nothing was spent, and the peer has seen nobody"), "{told}");
    assert!(!place.join("release").exists(), "no empty directory is left");
    assert!(!place.join("ledger.jsonl").exists(), "no empty ledger is left");
}

#[test]
fn a_ledger_that_is_missing_is_never_begun_by_itself() {
    let place = place();
    let place = place.path();
    let run = |more: &[&str]| diptych(place, &[&RUN[..], more].concat());
    let (status, _, told) = run(&[]);
    assert_eq!(status, 2, "{told}");
    for words in ["there is no ledger ledger.jsonl", "diptych ledger create ledger.jsonl"] {
        assert!(told.contains(words) && told.contains("--new-ledger"), "{told}");
    }
    assert!(!place.join("ledger.jsonl").exists());
    let (status, said, told) = diptych(place, &["ledger", "create", "ledger.jsonl"]);
    assert_eq!((status, said.trim()), (0, "ledger.jsonl"), "{told}");
    for more in [&["--new-ledger"][..], &["--new-ledger", "--dry-run"]] {
        let (status, _, told) = run(more);
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("exists already; leave out --new-ledger"), "{told}");
    }
    let (status, _, told) = diptych(place, &["ledger", "create", "ledger.jsonl"]);
    assert!(status == 2 && told.contains("exists already"), "{told}");
    let (status, said, told) = dry_run(place);
    assert_eq!(status, 0, "{told}");
    let words =
        "after it, data set \"table.csv\": towards readers ε 1 of 3; towards the peer ε 2 (no cap)";
    assert!(said.contains(words) && !said.contains("there is no ledger"), "{said}");
}

#[test]
fn what_the_peer_may_learn_is_capped_before_connecting() {
    let place = place();
    let place = place.path();
    for (cap, status) in [("1.5", 2), ("2", 0)] {
        let party = format!("{PARTY}cap_towards_peer = \"{cap}\"\n");
        std::fs::write(place.join("party.toml"), party).unwrap();
        let (ended, said, told) = dry_run(place);
        assert_eq!(ended, status, "{told}");
        assert!(said.contains(&format!("towards the peer ε 2 of {cap}")), "{said}");
        assert_eq!(told.contains("raise `cap_towards_peer` in the party file"), status == 2);
    }
}

#[test]
fn a_listener_that_nobody_reaches_says_what_to_check() {
    let place = place();
    let (status, _, told) = psi(place.path(), &["--listen", "127.0.0.1:0"]);
    assert_eq!(status, 1, "{told}");
    for words in ["did not connect within 1.0 s", "is it started", "firewall"] {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
}

#[test]
fn a_first_run_beyond_its_cap_is_told_of_the_key_and_not_of_a_data_set_that_is_not_there() {
    let place = place();
    let place = place.path();
    std::fs::write(place.join("party.toml"), PARTY.replace("\"3\"", "\"0.5\"")).unwrap();
    for arguments in [&["--dry-run"][..], &["--new-ledger"]] {
        let (status, _, told) = diptych(place, &[&RUN[..], arguments].concat());
        assert_eq!(status, 2, "{told}");
        assert!(told.contains("raise `cap` in the party file"), "{told}");
        assert!(!told.contains("raise-cap"), "{told}");
    }
    assert!(!place.join("ledger.jsonl").exists(), "nothing is entered, and nothing is left");
}

#[test]
fn psi_looks_at_who_may_read_the_key_and_at_whose_fingerprint_it_is_given() {
    let place = place();
    let place = place.path();
    std::fs::set_permissions(place.join("one.pem"), PermissionsExt::from_mode(0o644)).unwrap();
    let (_, _, told) = psi(place, &["--connect", "127.0.0.1:1", "--quiet"]);
    let words = "ATTENTION: others may read the private key in one.pem: chmod 600 one.pem";
    assert!(told.contains(words), "{told}");
    let agreement = std::fs::read_to_string(place.join("agreement.toml")).unwrap();
    let own = agreement.split('"').find(|word| word.starts_with("sha256:")).unwrap();
    let psi = ["psi", "--cardinality", "--column", "id", "--role", "p1", "--ids", "table.csv"];
    let who = ["--identity", "one.pem", "--peer", own, "--connect", "127.0.0.1:1", "--wait", "1"];
    let (status, _, told) = diptych(place, &[&psi[..], &who[..]].concat());
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("is our own fingerprint") && !told.contains("connecting"), "{told}");
}
