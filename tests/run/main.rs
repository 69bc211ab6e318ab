//! `diptych run` as two organisations meet it: two processes, two directories, one connection.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test")]

mod couple;
mod faults;
mod hidden;
mod horizontal_shards;
mod matching;
mod on_call;
mod paths;
mod promise;
mod shards;

use std::path::Path;

use diptych::Role;
use diptych::agreement::Agreement;
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::privacy::ledger::Hash;
use diptych::protocol::Workspace;
use diptych::protocol::pair::{Setup, run_workspaces};
use diptych::publish::manifest::Draft;
use diptych::release::diffgen::two_party::{Keys, release_with};
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::{Reading, parse_csv};

use couple::{BANK, COMPANY, Couple, Running, verify};
use diptych::privacy::ledger::Status;

/// All messages of the release are those that follow from the agreement, the sizes and the tree.
const AS_FORECAST: &str = "\"as_forecast\": true";

#[test]
fn two_parties_end_with_the_same_signed_release_and_true_ledgers() {
    let couple = Couple::new(120);
    let [bank, company] = couple.run();
    bank.assert(0, &["Loan company is here", "both ledgers are debited ε 1", "has its copy"]);
    company.assert(0, &["Bank is here", "spent ε 1"]);
    couple.assert_released();
    for who in [BANK, COMPANY] {
        let runs = couple.runs(who);
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].status, Status::Finished);
        assert_eq!(runs[0].debit.epsilon, Some("1".parse().unwrap()));
        let mode = |name: &str| {
            use std::os::unix::fs::PermissionsExt;
            couple.path(who, name).metadata().unwrap().permissions().mode() & 0o777
        };
        assert_eq!((mode("release/private"), mode("release/private/costs.json")), (0o700, 0o600));
        let costs = couple.read(who, "release/private/costs.json");
        assert!(costs.contains("\"common_records\": 90") && costs.contains(AS_FORECAST), "{costs}");
        assert_eq!(mode("release/private/report.html"), 0o600);
        assert!(
            couple.read(who, "release/private/report.html").contains("90 of them about people")
        );
        assert_eq!(
            couple.read(who, "release/report.html"),
            couple.read(BANK, "release/report.html")
        );
        assert!(couple.read(who, "release/report.html").contains("ledger was debited"));
        let left: Vec<_> = std::fs::read_dir(couple.path(who, "release")).unwrap().collect();
        assert_eq!(left.len(), 4, "release, manifest, report, private: {left:?}");
    }
    assert_eq!(couple.runs(BANK)[0].debit.run, couple.runs(COMPANY)[0].debit.run);

    // What was made cannot be overwritten.
    let mut command = couple.command(BANK, "", None);
    command.arg("--compact");
    Running::start(command).end().assert(2, &["manifest.json exists already"]);
    the_cap_is_raised_by_a_command_alone(&couple);

    tampering_is_seen(&couple);
}

fn the_cap_is_raised_by_a_command_alone(couple: &Couple) {
    let start = || {
        let command = couple.command(BANK, "", None);
        couple.edit(BANK, "party.toml", "cap = \"3\"", "cap = \"4\"");
        Running::start(command).end()
    };
    let raise = "diptych ledger raise-cap LEDGER --data-set \"people\" --cap 4";
    start().assert(2, &["the cap of data set \"people\" is 3", raise]);
    let ledger = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"));
        command.arg("ledger").arg(arguments[0]).arg(couple.path(BANK, "ledger.jsonl"));
        let output = command.args(&arguments[1..]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let said = ledger(&["raise-cap", "--data-set", "people", "--cap", "4"]);
    let spent = "people: towards readers ε 1 of 4; towards the peer ε 2 (no cap)";
    assert_eq!(said.trim(), spent);
    start().assert(2, &["manifest.json exists already"]);
    let shown = ledger(&["show"]);
    assert!(shown.contains(spent), "{shown}");
    assert!(shown.contains("the cap of people was raised to 4 on "), "{shown}");
    let run = &couple.runs(BANK)[0];
    let out = couple.path(BANK, "release");
    assert_eq!(run.debit.out.as_deref(), out.to_str());
    assert_eq!(run.peer_head, Some(couple.runs(COMPANY)[0].head));
}

fn tampering_is_seen(couple: &Couple) {
    let release = couple.path(BANK, "release");
    let ledger = couple.path(BANK, "ledger.jsonl");
    let with_ledger = ["--ledger", ledger.to_str().unwrap()];
    let (status, said) = verify(&release, &with_ledger);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("signed     by Bank, sha256:") && said.contains("signed     by Loan"));
    let manifest = couple.read(BANK, "release/manifest.json");
    let rows = couple.read(BANK, "release/release.csv");
    let signature = manifest.split("\"signature\": \"").nth(1).unwrap().get(..16).unwrap();
    let flipped = signature.chars().rev().collect::<String>();
    let heads = manifest.split("\"p1\": \"").nth(1).unwrap().get(..64).unwrap();
    for (from, to, why) in [
        ("\"delta\": \"0", "\"delta\": \"1", "δ of at most 2^-40"),
        ("\"into\": [", "\"into\":  [", "not spelt as it was written"),
        (signature, flipped.as_str(), "signature of Bank"),
        (heads, "0".repeat(64).as_str(), "signature of Bank"),
        ("\"max_records\": 1000", "\"max_records\": 1001", "does not have the hash"),
        ("\"format\": \"diptych manifest v3\"", "\"format\": \"x\"", "not a manifest of a kind"),
    ] {
        assert!(manifest.contains(from), "{from}");
        couple.write(BANK, "release/manifest.json", &manifest.replacen(from, to, 1));
        let (status, said) = verify(&release, &[]);
        assert!(status == Some(1) && said.contains(why), "{from} → {to}: {said}");
    }
    let start = manifest.find("\"signatures\": [").unwrap();
    let end = manifest[start..].find("\n  ]").unwrap() + start + 4;
    let stripped = format!("{}\"signatures\": []{}", &manifest[..start], &manifest[end..]);
    couple.write(BANK, "release/manifest.json", &stripped);
    let (status, said) = verify(&release, &[]);
    assert!(status == Some(1) && said.contains("nobody has signed it"), "{said}");

    couple.write(BANK, "release/manifest.json", &manifest);
    couple.write(BANK, "release/release.csv", &rows.replacen("Any", "Amy", 1));
    let (status, said) = verify(&release, &[]);
    let unchanged = !rows.contains("Any");
    assert!(unchanged || (status == Some(1) && said.contains("does not have the hash")), "{said}");
    couple.write(BANK, "release/release.csv", &(rows.clone() + "\n"));
    assert_eq!(verify(&release, &[]).0, Some(1));
    couple.write(BANK, "release/release.csv", &rows);
    std::fs::write(&ledger, "").unwrap();
    let (status, said) = verify(&release, &with_ledger);
    assert!(status == Some(1) && said.contains("its last lines were removed"), "{said}");
    std::fs::remove_file(release.join("release.csv")).unwrap();
    assert_eq!(verify(&release, &[]).0, Some(2), "a file that is missing is wrong input");
}

#[test]
fn a_dry_run_says_what_it_would_spend_and_changes_nothing() {
    let couple = Couple::new(20);
    let mut command = couple.command(BANK, "", None);
    let output = command.args(["--dry-run", "--net", "40,100"]).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for words in [
        "ε 1 and δ ≤ ",
        "data set \"people\": towards readers ε 1 of 3; towards the peer ε 2 (no cap)",
        "each learn how many records",
        "is that of 2ε: at most 7.39",
        "timing is outside ε",
        "On a line of 100 Mbit/s each way with a round trip of 40.0 ms: about",
        "The run is aborted after 600 s",
    ] {
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(words), "{words:?} is not in\n{page}");
    }
    // No key is made, and nothing is masked.
    assert!(!page.contains("keys") && !page.contains("Paillier") && !page.contains('σ'), "{page}");
    assert!(!couple.path(BANK, "ledger.jsonl").exists() && !couple.path(BANK, "release").exists());

    // What does not depend on the tree is in the run as it is on the page.
    couple.run().iter().for_each(|outcome| outcome.assert(0, &[]));
    let costs: serde_json::Value =
        serde_json::from_str(&couple.read(BANK, "release/private/costs.json")).unwrap();
    for phase in [
        "handshake",
        "status",
        "set-up",
        "debit",
        "set intersection",
        "class",
        "signing",
        "closing",
    ] {
        let all = costs["phases"].as_array().unwrap();
        let seen = all.iter().find(|seen| seen["phase"] == phase).unwrap();
        let number = |key: &str| seen[key].as_u64().unwrap();
        let sent = number("bytes_sent");
        let line = page.lines().find(|line| line.trim_start().starts_with(phase)).unwrap();
        let words: Vec<&str> = line.trim_start()[phase.len()..].split_whitespace().collect();
        if sent < 10_000 {
            assert_eq!(words[..2], [&sent.to_string(), "B"], "{phase}: {line}");
        }
        assert_eq!(words[4], number("rounds").to_string(), "{phase}: {line}");
    }
}

#[test]
fn a_dry_run_for_more_common_records_than_there_are_is_refused() {
    let couple = Couple::new(20);
    let mut command = couple.command(BANK, "", None);
    let output = command.args(["--dry-run", "--peer-records", "5", "--common-records", "6"]);
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("6 common records are more than one of the parties has"), "{said}");
}

#[test]
fn what_one_side_can_know_is_refused_before_it_connects() {
    let couple = Couple::new(20);
    let alone = |edit: &dyn Fn()| {
        let command = couple.command(BANK, "", None);
        edit();
        let outcome = Running::start(command).end();
        assert!(!outcome.said.contains("listening on"), "{}", outcome.said);
        outcome
    };
    let table = couple.read(BANK, "table.csv");
    couple.edit(BANK, "table.csv", "id0007", " Id0003");
    alone(&|| {}).assert(2, &["table.csv, column `id`: 1 record(s) repeat", "lines 5 and 9"]);
    couple.write(BANK, "table.csv", &table.replacen(",Y\n", ",Maybe\n", 1));
    alone(&|| {}).assert(2, &["table.csv:", "`Maybe`"]);
    couple.write(BANK, "table.csv", &table);

    let own = couple.read(BANK, "identity.pem");
    let stranger = couple.new_identity(BANK);
    alone(&|| {}).assert(2, &["but the agreement says that p1 (Bank) is", &stranger]);
    couple.write(BANK, "identity.pem", &own);

    alone(&|| couple.edit(BANK, "party.toml", "ledger =", "legder ="))
        .assert(2, &["party.toml:5:1: unknown key `legder`", "did you mean `ledger`?"]);
    std::fs::create_dir(couple.path(BANK, "ledger.jsonl")).unwrap();
    alone(&|| {}).assert(2, &["cannot open the ledger"]);
    std::fs::remove_dir(couple.path(BANK, "ledger.jsonl")).unwrap();
    couple.write(BANK, "release", "a file");
    alone(&|| {}).assert(2, &["cannot create", "release"]);
    assert!(couple.runs(BANK).is_empty());
}

#[test]
fn a_peer_that_waits_is_told_that_the_other_side_is_over_its_cap() {
    let couple = Couple::new(20);
    for over in [BANK, COMPANY] {
        let start = |who: usize, address: &str| {
            let command = couple.command(who, address, None);
            if who == over {
                couple.edit(who, "party.toml", "cap = \"3\"", "cap = \"0.5\"");
            }
            Running::start(command)
        };
        let bank = start(BANK, "");
        let company = start(COMPANY, &bank.address());
        let ended = [bank, company].map(Running::end);
        let words = ["has spent ε 0 of its cap 0.5", "is told"];
        ended[over].assert(2, &words);
        let words = "the peer ended the run: the privacy budget of its data does not allow this \
                     release";
        ended[1 - over].assert(3, &[words, "help: nothing was spent"]);
        assert!(couple.runs(BANK).is_empty() && couple.runs(COMPANY).is_empty());
    }
    let command = couple.command(COMPANY, "127.0.0.1:1", None);
    couple.edit(COMPANY, "party.toml", "cap = \"3\"", "cap = \"0.5\"");
    couple.edit(COMPANY, "party.toml", "wait_seconds = 20", "wait_seconds = 1");
    let alone = Running::start(command).end();
    alone.assert(2, &["of its cap 0.5", "Bank could not be told"]);
}

#[test]
fn an_agreement_that_was_edited_on_one_side_is_named_and_nothing_is_spent() {
    let couple = Couple::new(20);
    couple.edit(COMPANY, "agreement.toml", "epsilon = \"1.0\"", "epsilon = \"2.0\"");
    for outcome in couple.run() {
        outcome.assert(3, &["differ in release.epsilon", "ours says", "theirs says"]);
    }
    assert!(couple.runs(BANK).is_empty() && couple.runs(COMPANY).is_empty());
}

#[test]
fn a_peer_with_another_identity_is_refused_by_both() {
    let mut couple = Couple::new(20);
    couple.more = "wait_seconds = 5";
    let agreed = couple.read(COMPANY, "agreement.toml");
    let agreed = agreed.rsplit("fingerprint = \"").next().unwrap().split('"').next().unwrap();
    let stranger = couple.new_identity(COMPANY);
    couple.edit(COMPANY, "agreement.toml", agreed, &stranger);
    let [bank, company] = couple.run();
    bank.assert(3, &[&stranger]);
    company
        .assert(3, &["the peer does not accept this party's key", &format!("ours is {stranger}")]);
    assert!(couple.runs(BANK).is_empty() && couple.runs(COMPANY).is_empty());
}

#[test]
fn class_columns_that_differ_end_the_run_without_a_release() {
    let couple = Couple::new(40);
    let table = couple.read(COMPANY, "table.csv");
    couple.write(COMPANY, "table.csv", &table.replace(",Y,", ",N,"));
    for (who, outcome) in couple.run().iter().enumerate() {
        let ended = "the run ended in phase \"class\" after ";
        let differ = "the class columns of the common individuals differ";
        outcome.assert(4, &[differ, "`approved`", ended]);
        assert!(!couple.has_release(who));
        assert_eq!(couple.runs(who)[0].status, Status::Aborted, "ε stays spent");
    }
}

#[test]
fn a_horizontal_run_ends_like_a_vertical_one() {
    let couple = Couple::horizontal(60);
    for outcome in couple.run() {
        outcome.assert(0, &["both ledgers are debited ε 1", "spent ε 1", "has its copy"]);
    }
    couple.assert_released();
    let costs = couple.read(BANK, "release/private/costs.json");
    assert!(costs.contains("\"common_records\": null") && costs.contains(AS_FORECAST), "{costs}");
}

#[test]
fn nothing_private_is_written_or_logged_beyond_the_input() {
    let couple = Couple::new(60);
    couple.edit(BANK, "table.csv", "id00", "MARKERIDENTIFIER");
    couple.edit(COMPANY, "table.csv", "ID00", "markeridentifier");
    couple.edit(BANK, "table.csv", "Dancer", "MARKERBADVALUE");
    leaves_no_marker(&couple);
    let couple = Couple::horizontal(60);
    couple.edit(COMPANY, "table.csv", "Writer", "MARKERBADVALUE");
    leaves_no_marker(&couple);
}

fn leaves_no_marker(couple: &Couple) {
    let talkative = |mut command: std::process::Command| {
        command.arg("--record").env("DIPTYCH_LOG", "trace");
        Running::start(command)
    };
    let bank = talkative(couple.command(BANK, "", None));
    let company = talkative(couple.command(COMPANY, &bank.address(), None)).end();
    for outcome in [bank.end(), company] {
        outcome.assert(0, &["phase begins"]);
        assert!(!outcome.said.to_uppercase().contains("MARKER"), "{}", outcome.said);
    }
    couple.assert_released();
    let mut looked_at = 0;
    for who in [BANK, COMPANY] {
        for path in files(&couple.path(who, "")) {
            if path.ends_with("table.csv") {
                continue;
            }
            looked_at += 1;
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).to_uppercase();
            assert!(!text.contains("MARKER"), "{}", path.display());
        }
    }
    assert_eq!(looked_at, 2 * 10, "identity, agreement, party, ledger, and six of the release");
}

fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn demo(out: &Path, more: &[&str]) -> [String; 2] {
    let demo = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["demo", "--records", "500", "--out"])
        .arg(out)
        .args(more)
        .output()
        .unwrap();
    let said = [demo.stdout, demo.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(demo.status.success(), "{}", said[1]);
    said
}

#[test]
fn the_horizontal_demo_makes_a_release_too() {
    let place = tempfile::tempdir().unwrap();
    let [page, _] = demo(&place.path().join("demo"), &["--partition", "horizontal"]);
    assert!(page.contains("North bank") && page.contains("signed by both"), "{page}");
}

#[test]
fn the_demo_makes_a_release_and_keeps_all_files() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("demo");
    let [page, said] = demo(&out, &[]);
    for words in [
        "   1. ",
        "job,sex,age,salary,approved,count",
        "What it cost Loan company",
        "set intersection",
        "Bank: that Loan company has 450 records, and which 400 of its own 450 people",
        "Both have the same release, signed by both",
    ] {
        assert!(page.contains(words), "{words:?} is not in\n{page}");
    }
    assert!(said.contains("Loan company │ Bank has its copy"), "{said}");
    for party in ["bank", "loan-company"] {
        assert_eq!(verify(&out.join(party).join("release"), &[]).0, Some(0));
    }
    // By hand, the same files make another run, as far as the release that is there.
    let again = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["run", "--dry-run", "--agreement"])
        .arg(out.join("agreement.toml"))
        .arg("--party")
        .arg(out.join("bank/party.toml"))
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("has a release already"));
}

#[test]
fn a_run_by_one_party_verifies_with_a_truthful_sentence() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("demo");
    let demo = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["demo", "--partition", "local", "--records", "300", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    let (status, said) = verify(&out.join("release"), &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("signed     by nobody: a release by one party"), "{said}");
}

/// Both parties' releases and manifests, made with the same coins over these tables.
fn made_with_fixed_coins(agreement: &Agreement, tables: [&str; 2]) -> [(String, Draft); 2] {
    let read = |csv: &str, owner| {
        let (schema, identifier) = (&agreement.schema, agreement.identifier());
        let max_records = agreement.max_records;
        let reading = Reading { schema, owner: Some(owner), identifier, max_records };
        parse_csv("table.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
    };
    let party = |csv: &str, owner, session: &mut Workspace| {
        let table = read(csv, owner);
        session.coins = Box::new(Randomness::seeded(7 + owner as u64));
        let budget = Budget::new(agreement.epsilon().unwrap());
        let keys = Keys::ForTests(512);
        let made = release_with(session, agreement, &table, budget, keys, &|_| {}).unwrap();
        let mut release = Vec::new();
        write_csv(&made.release.table, Rows::All, &mut release).unwrap();
        let heads = Some([Hash([1; 32]), Hash([2; 32])]);
        let promise = diptych::release::plan::together(agreement).unwrap().promise;
        let draft = Draft::new(agreement, &made.release, &promise, heads).unwrap();
        (String::from_utf8(release).unwrap(), draft)
    };
    let made = run_workspaces(
        Setup::default(),
        |session| party(tables[0], Role::P1, session),
        |session| party(tables[1], Role::P2, session),
    );
    [made.p1, made.p2]
}

#[test]
fn what_the_outputs_do_not_reflect_changes_neither_release_nor_manifest() {
    let couple = Couple::new(80);
    // Noise that is drawn ahead rests on the randomness of transfers; here coins decide alone.
    let terms = "specializations = 3\nselection = \"exponential\"\nnoise = \"two-party\"";
    let prints = couple.read(BANK, "agreement.toml").replace("specializations = 3", terms);
    let agreement =
        Agreement::parse("agreement.toml", prints.as_bytes(), &|_| Err(String::new())).unwrap();
    let [bank, company] = [BANK, COMPANY].map(|who| couple.read(who, "table.csv"));
    let [first, second] = made_with_fixed_coins(&agreement, [&bank, &company]);
    assert_eq!(first.0, second.0);

    // More people whom only one side knows, other names, other notes, another order.
    let more = "stranger1,Lawyer,x,Y\nstranger2,Dancer,y,N\n";
    let mut rows: Vec<&str> = bank.lines().skip(1).chain(more.lines()).collect();
    rows.reverse();
    let header = bank.lines().next().unwrap();
    let others = format!("{header}\n{}\n", rows.join("\n")).replace("MARKERCELL", "note");
    let others = others.replace("id00", "other");
    let company = company.replace("ID00", "OTHER") + "20,stranger3,N,Male\n";
    let again = made_with_fixed_coins(&agreement, [&others, &company]);
    for (release, draft) in again {
        assert_eq!(release, first.0);
        assert_eq!(draft.signed(&[]).unwrap(), first.1.signed(&[]).unwrap());
    }
    // What they do reflect changes them.
    let fewer: String = company.lines().take(40).map(|line| format!("{line}\n")).collect();
    let [third, _] = made_with_fixed_coins(&agreement, [&others, &fewer]);
    assert_ne!(third.0, first.0);
}
