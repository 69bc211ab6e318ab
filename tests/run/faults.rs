//! What can happen to a run, each with a clear end on the survivor, a true ledger, no partial
//! release, and a victim that knows at its next start what happened.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use diptych::math::Randomness;
use diptych::privacy::ledger::{self, Debit, Hash, Ledger, RunId, Status};
use rustix::process::{Pid, Signal, kill_process};

use super::couple::{BANK, COMPANY, Couple, Outcome, Running};

/// Kills one side when `moment` returns, and looks at what is left.
fn kill(couple: Couple, victim: usize, moment: impl FnOnce(&Running)) -> (Couple, Option<i32>) {
    let mut both = couple.start();
    moment(&both[victim]);
    both[victim].kill();
    let [bank, company] = both.map(Running::end);
    let (victim_end, survivor_end) = if victim == BANK { (bank, company) } else { (company, bank) };
    let survivor = 1 - victim;
    // Either may have been done already.
    match survivor_end.status {
        Some(0) => assert!(couple.has_release(survivor)),
        Some(1) => {
            assert!(!couple.has_release(survivor), "{}", survivor_end.said);
            let clear = ["the peer closed the connection", "could not reach", "did not connect"];
            assert!(
                clear.iter().any(|words| survivor_end.said.contains(words)),
                "{}",
                survivor_end.said
            );
        }
        other => panic!("{other:?}: {}", survivor_end.said),
    }
    for who in [BANK, COMPANY] {
        couple.assert_whole_or_nothing(who);
    }
    ledgers_are_true(&couple, victim, victim_end.status);
    victim_is_told(&couple, victim);
    (couple, survivor_end.status)
}

fn ledgers_are_true(couple: &Couple, victim: usize, victim_status: Option<i32>) {
    let runs = [couple.runs(BANK), couple.runs(COMPANY)];
    for (who, own) in runs.iter().enumerate() {
        assert!(own.len() <= 1);
        let status = own.first().map(|run| run.status);
        if couple.has_release(who) {
            let finished = status == Some(Status::Finished);
            let killed_before_noting = who == victim && status == Some(Status::Debited);
            assert!(finished || killed_before_noting, "{status:?}");
            assert!(!runs[1 - who].is_empty(), "nothing was released that both did not pay for");
        } else if who != victim || victim_status.is_some() {
            assert!(status.is_none_or(|status| status == Status::Aborted), "{status:?}");
        } else {
            assert_ne!(status, Some(Status::Finished));
        }
    }
}

/// The next start of the victim says what the ledger knows.
fn victim_is_told(couple: &Couple, victim: usize) {
    let unfinished = couple.runs(victim).first().is_some_and(|run| run.status == Status::Debited);
    let complete = couple.has_release(victim);
    let again = couple.start_again(victim);
    let words = "has no release of it, and it cannot be resumed";
    assert_eq!(again.said.contains(words), unfinished && !complete, "{}", again.said);
    let spent = couple.runs(victim).first().is_some_and(|run| run.debit.epsilon.is_some());
    let words = "was interrupted: its ε 1 stays spent";
    assert_eq!(again.said.contains(words), unfinished && !complete && spent, "{}", again.said);
    let words = "was interrupted when its release was complete already";
    assert_eq!(again.said.contains(words), unfinished && complete, "{}", again.said);
}

#[test]
fn killing_either_side_at_any_phase_leaves_a_clear_end_and_no_partial_release() {
    kill_at_every_phase(&|| Couple::new(40));
}

#[test]
fn killing_either_side_of_a_run_in_shards_does_too() {
    kill_at_every_phase(&|| Couple::new(40).in_shards(3));
}

#[test]
fn killing_either_side_of_a_horizontal_run_does_too() {
    kill_at_every_phase(&|| Couple::horizontal(40));
}

#[test]
fn killing_either_side_of_a_run_with_the_class_at_one_does_too() {
    kill_at_every_phase(&|| Couple::one_class(40, COMPANY));
}

#[test]
fn killing_either_side_of_a_run_without_epsilon_does_too() {
    kill_at_every_phase(&|| Couple::new(40).in_groups());
    kill_at_every_phase(&|| Couple::horizontal(40).in_groups());
    kill_at_every_phase(&super::paths::couple);
}

fn kill_at_every_phase(couple: &dyn Fn() -> Couple) {
    let [bank, company] = couple().run();
    let (mut kills, mut in_time) = (0, 0);
    for (victim, phases) in [(BANK, bank.phases()), (COMPANY, company.phases())] {
        assert!(phases.contains(&"signing".to_owned()), "{phases:?}");
        for phase in phases {
            let (_, survivor) = kill(couple(), victim, |running| {
                running.wait_for(&format!("phase=\"{phase}\""));
            });
            kills += 1;
            in_time += u32::from(survivor == Some(1));
        }
    }
    // A phase that takes no time may be over before the signal arrives.
    assert!(kills >= 12 && in_time >= kills / 6, "{in_time} of {kills}");
}

#[test]
fn killing_either_side_at_random_moments_does_too() {
    let mut rng = Randomness::from_os().unwrap();
    for round in 0..8 {
        let [milliseconds] = rng.array::<1>();
        let couple = if round < 4 { Couple::new(40) } else { Couple::horizontal(40) };
        kill(couple, round % 2, |running| {
            running.wait_for("phase=\"status\"");
            std::thread::sleep(Duration::from_millis(u64::from(milliseconds) * 4));
        });
    }
}

#[test]
fn the_next_run_compares_what_became_of_an_interrupted_one_and_says_it_once() {
    let (couple, _) = kill(Couple::new(40), COMPANY, |running| {
        running.wait_for("both ledgers are debited");
    });
    let told = couple.run();
    if couple.runs(COMPANY).first().is_some_and(|run| run.status == Status::Aborted) {
        told[COMPANY].assert(0, &["was interrupted", "interrupted run ", "Bank has no release"]);
        told[BANK].assert(0, &["Loan company was interrupted; there is no release here either"]);
    }
    couple.assert_released();
    for who in [BANK, COMPANY] {
        let statuses: Vec<_> = couple.runs(who).iter().map(|run| run.status).collect();
        assert_eq!(statuses, [Status::Aborted, Status::Finished], "a retry is another run");
    }
    for who in [BANK, COMPANY] {
        let again = couple.start_again(who);
        assert!(!again.said.contains("interrupted"), "{}", again.said);
    }
}

#[test]
fn a_ledger_that_lost_its_lines_is_noticed_with_the_peers_help() {
    let couple = Couple::new(20);
    couple.run().iter().for_each(|outcome| outcome.assert(0, &[]));
    // The last line gone: the run looks interrupted, but its release is there.
    let ledger = couple.read(BANK, "ledger.jsonl");
    let (kept, _) = ledger.trim_end().rsplit_once('\n').unwrap();
    couple.write(BANK, "ledger.jsonl", &format!("{kept}\n"));
    // The next run has another `out`; the debit says where that one's release is.
    let command = couple.command(BANK, "", None);
    couple.edit(BANK, "party.toml", "out = \"release\"", "out = \"elsewhere\"");
    couple.edit(BANK, "party.toml", "\"table.csv\"", "\"gone.csv\"");
    let again = Running::start(command).end();
    again.assert(2, &["interrupted when its release was complete already"]);
    assert_eq!(couple.runs(BANK)[0].status, Status::Finished);

    let lost = couple.runs(BANK)[0].head;
    couple.write(BANK, "ledger.jsonl", "");
    for who in [BANK, COMPANY] {
        std::fs::remove_dir_all(couple.path(who, "release")).unwrap();
    }
    // The run ends before anything is spent, until that is acknowledged in the ledger; no flag hides it.
    let quiet_bank = || {
        let address = format!("127.0.0.1:{}", free_port());
        let mut bank = couple.command(BANK, "", None);
        couple.edit(BANK, "party.toml", "127.0.0.1:0", &address);
        bank.arg("--quiet");
        let company = couple.command(COMPANY, &address, None);
        [bank, company].map(Running::start).map(Running::end)
    };
    let [bank, company] = quiet_bank();
    let acknowledge = format!("ledger acknowledge LEDGER --peer \"Loan company\" --head {lost}");
    let words = ["ATTENTION: Loan company has finished run", "nothing was spent", &acknowledge];
    bank.assert(2, &words);
    bank.assert(2, &["diptych ledger create LEDGER", "run again without --new-ledger"]);
    company.assert(3, &["ATTENTION: Bank does not have the ledger any more that it had in run "]);
    assert!(!company.said.contains("stopped on purpose"), "{}", company.said);
    assert!(couple.runs(BANK).is_empty());
    assert_eq!(couple.runs(COMPANY).len(), 1, "nothing was spent");
    let acknowledged = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["ledger", "acknowledge"])
        .arg(couple.path(BANK, "ledger.jsonl"))
        .args(["--peer", "Loan company", "--head", &lost.to_string()])
        .status();
    assert!(acknowledged.unwrap().success());
    let [bank, company] = quiet_bank();
    bank.assert(0, &["ATTENTION: Loan company has finished run"]);
    company.assert(0, &["ATTENTION: Bank does not have the ledger any more that it had in run "]);
    // Both have new heads of each other now.
    for who in [BANK, COMPANY] {
        std::fs::remove_dir_all(couple.path(who, "release")).unwrap();
    }
    for outcome in couple.run() {
        outcome.assert(0, &[]);
        assert!(!outcome.said.contains("ATTENTION"), "{}", outcome.said);
    }
}

#[test]
fn a_ledger_that_is_moved_while_a_run_waits_stops_it_before_anything_is_spent() {
    let couple = Couple::new(20);
    let bank = Running::start(couple.command(BANK, "", None));
    let address = bank.address();
    std::fs::rename(couple.path(BANK, "ledger.jsonl"), couple.path(BANK, "moved")).unwrap();
    couple.write(BANK, "ledger.jsonl", "");
    let company = Running::start(couple.command(COMPANY, &address, None)).end();
    bank.end().assert(2, &["was moved, removed or replaced", "put the ledger back"]);
    company.assert(1, &["the peer ended the run"]);
    assert!(couple.runs(BANK).is_empty() && couple.runs(COMPANY).is_empty());
    assert!(couple.read(BANK, "moved").is_empty());
}

#[test]
fn a_ledger_that_is_moved_during_a_run_leaves_no_release() {
    let couple = Couple::new(40);
    let both = couple.start();
    assert!(both[BANK].wait_for("both ledgers are debited"));
    std::fs::rename(couple.path(BANK, "ledger.jsonl"), couple.path(BANK, "moved")).unwrap();
    let [bank, company] = both.map(Running::end);
    bank.assert(4, &["was moved, removed or replaced", "ε 1 is spent and there is no release"]);
    company.assert(1, &["the peer ended the run"]);
    assert!(!couple.has_release(BANK) && !couple.has_release(COMPANY));
    assert!(!couple.path(BANK, "ledger.jsonl").exists(), "no other ledger is begun");
    assert_eq!(couple.runs(COMPANY)[0].status, Status::Aborted);
}

#[test]
fn a_release_that_appears_while_a_run_waits_is_not_touched_and_nothing_is_spent() {
    let couple = Couple::new(20);
    let bank = Running::start(couple.command(BANK, "", None));
    let address = bank.address();
    couple.write(BANK, "release/manifest.json", "another's");
    // Another run that wants the same directory is told at once.
    let second = couple.command(BANK, "", None);
    couple.edit(BANK, "party.toml", "ledger.jsonl", "other.jsonl");
    couple.write(BANK, "other.jsonl", "");
    Running::start(second).end().assert(2, &["release is in use by another run"]);
    let company = Running::start(couple.command(COMPANY, &address, None)).end();
    bank.end().assert(2, &["manifest.json exists already", "never overwritten"]);
    company.assert(1, &["the peer ended the run"]);
    assert!(couple.runs(BANK).is_empty() && couple.runs(COMPANY).is_empty());
    assert_eq!(couple.read(BANK, "release/manifest.json"), "another's");
    let left: Vec<_> = std::fs::read_dir(couple.path(BANK, "release")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn an_output_directory_that_goes_while_a_run_waits_stops_it_before_anything_is_spent() {
    for put_another in [false, true] {
        let couple = Couple::new(20);
        let bank = Running::start(couple.command(BANK, "", None));
        let address = bank.address();
        std::fs::remove_dir_all(couple.path(BANK, "release")).unwrap();
        if put_another {
            std::fs::create_dir(couple.path(BANK, "release")).unwrap();
        }
        let company = Running::start(couple.command(COMPANY, &address, None)).end();
        bank.end().assert(2, &["release was moved, removed or replaced", "nothing was spent"]);
        company.assert(1, &["the peer ended the run"]);
        assert!(couple.runs(BANK).is_empty() && couple.runs(COMPANY).is_empty());
    }
}

#[test]
fn a_release_that_appears_during_a_run_is_not_overwritten() {
    let couple = Couple::new(40);
    let both = couple.start();
    assert!(both[BANK].wait_for("both ledgers are debited"));
    couple.write(BANK, "release/release.csv", "another's");
    let [bank, company] = both.map(Running::end);
    bank.assert(4, &["release.csv has appeared", "Loan company may have the complete release"]);
    company.assert(0, &[]);
    assert_eq!(couple.read(BANK, "release/release.csv"), "another's");
    let left: Vec<_> = std::fs::read_dir(couple.path(BANK, "release")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(couple.runs(BANK)[0].status, Status::Aborted);
}

#[test]
fn a_run_that_is_interrupted_says_what_was_spent_and_what_the_peer_sees() {
    let couple = Couple::new(3000);
    for who in [BANK, COMPANY] {
        couple.edit(who, "agreement.toml", "max_records = 1000", "max_records = 10000");
    }
    let [bank, company] = couple.start();
    assert!(bank.wait_for("both ledgers are debited"));
    kill_process(Pid::from_child(&bank.child), Signal::INT).unwrap();
    bank.end().assert(
        130,
        &[
            "the run was stopped on this side",
            "help: ε 1 is spent and there is no release",
            "Loan company is told that this side was stopped",
        ],
    );
    company.end().assert(
        1,
        &[
            "the peer ended the run: it was stopped on purpose",
            "help: ε 1 is spent and there is no release",
        ],
    );
    for who in [BANK, COMPANY] {
        assert!(!couple.path(who, "release").exists(), "no empty directory is left");
        assert_eq!(couple.runs(who)[0].status, Status::Aborted);
    }
}

#[test]
fn a_stall_ends_within_the_limit() {
    for victim in [BANK, COMPANY] {
        let mut couple = Couple::new(20);
        couple.more = "wait_seconds = 20\nsilence_seconds = 2";
        let both = couple.start();
        assert!(both[victim].wait_for("phase=\"status\""));
        kill_process(Pid::from_child(&both[victim].child), Signal::STOP).unwrap();
        let [bank, company] = both;
        let (mut stopped, survivor) =
            if victim == BANK { (bank, company) } else { (company, bank) };
        let survivor = survivor.end();
        if survivor.status != Some(0) {
            survivor.assert(1, &["did not send the next message within 2.0 s"]);
        }
        stopped.kill();
        for who in [BANK, COMPANY] {
            couple.assert_whole_or_nothing(who);
        }
        let runs = couple.runs(1 - victim);
        assert!(runs.iter().all(|run| run.status != Status::Debited));
    }
}

#[test]
fn a_run_ends_within_the_limit_of_the_whole() {
    let mut couple = Couple::new(20);
    couple.more = "wait_seconds = 20\nrun_seconds = 3";
    let [mut bank, company] = couple.start();
    assert!(bank.wait_for("phase=\"status\""));
    kill_process(Pid::from_child(&bank.child), Signal::STOP).unwrap();
    let company = company.end();
    if company.status != Some(0) {
        company.assert(1, &["the run was not over within 3.0 s", "run_seconds in the party file"]);
    }
    bank.kill();
    couple.assert_whole_or_nothing(COMPANY);
}

#[test]
fn a_connection_that_is_cut_ends_both_sides() {
    let mut cut = 0;
    for most_bytes in [2_000, 4_000, 8_000, 50_000] {
        let couple = Couple::new(40);
        let bank = Running::start(couple.command(BANK, "", None));
        let address = cutting_relay(bank.address(), most_bytes);
        let company = Running::start(couple.command(COMPANY, &address, None)).end();
        for (who, outcome) in [(BANK, bank.end()), (COMPANY, company)] {
            couple.assert_whole_or_nothing(who);
            if outcome.status != Some(0) {
                cut += 1;
                outcome.assert(1, &["the peer closed the connection"]);
                let runs = couple.runs(who);
                assert!(runs.iter().all(|run| run.status == Status::Aborted), "{runs:?}");
            }
        }
    }
    assert!(cut >= 4, "most of these are too few bytes for a run");
}

#[test]
fn a_rehearsal_that_is_cut_stays_in_the_ledgers_and_spends_nothing() {
    let mut cut = 0;
    for most_bytes in [2_000, 3_000, 5_000] {
        let couple = Couple::new(60);
        for who in [BANK, COMPANY] {
            couple.edit(who, "agreement.toml", "[id]\n", "[id]\nrehearse = \"labels\"\n");
        }
        let rehearse = |who, address: &str| {
            let mut command = couple.command(who, address, None);
            command.arg("--rehearse");
            Running::start(command)
        };
        let bank = rehearse(BANK, "");
        let address = cutting_relay(bank.address(), most_bytes);
        let company = rehearse(COMPANY, &address).end();
        for (who, outcome) in [(BANK, bank.end()), (COMPANY, company)] {
            outcome.assert(1, &["the peer closed the connection"]);
            assert!(outcome.result.is_empty() && couple.runs(who).is_empty());
            let history = ledger::read(&couple.path(who, "ledger.jsonl")).unwrap();
            let entered = history.entries().len();
            assert_eq!(entered == 1, outcome.said.contains("ledger allow-rehearsal"));
            if entered == 1 {
                cut += 1;
                rehearse(who, "127.0.0.1:1").end().assert(2, &["was rehearsed with"]);
            }
        }
    }
    assert!(cut >= 2, "the longest are cut in the set intersection");
}

#[test]
fn a_line_that_is_cut_while_keys_and_transfers_are_set_up_costs_nothing() {
    let couple = Couple::new(40);
    let bank = Running::start(couple.command(BANK, "", None));
    // The bank's part of the transfers alone is more than that.
    let address = cutting_relay_back(bank.address(), 3_000);
    let company = Running::start(couple.command(COMPANY, &address, None)).end();
    for (who, outcome) in [(BANK, bank.end()), (COMPANY, company)] {
        outcome.assert(1, &["the peer closed the connection", "ended in phase \"set-up\""]);
        assert!(couple.runs(who).is_empty(), "nothing was debited");
    }
}

#[test]
fn a_log_that_cannot_be_written_ends_no_run() {
    let couple = Couple::new(40);
    let [bank, company] = couple.start_with([None, Some("exec 2>/dev/full;")]).map(Running::end);
    assert_eq!((bank.status, company.status), (Some(0), Some(0)), "{}", bank.said);
    couple.assert_released();
}

/// Passes on so many bytes from the company to the bank, then cuts both ways.
fn cutting_relay(to: String, most_bytes: usize) -> String {
    relay(to, [most_bytes as u64, u64::MAX])
}

/// The same for bytes from the bank to the company.
fn cutting_relay_back(to: String, most_bytes: usize) -> String {
    relay(to, [u64::MAX, most_bytes as u64])
}

fn relay(to: String, [most_there, most_back]: [u64; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (company, _) = listener.accept().unwrap();
        let bank = TcpStream::connect(to).unwrap();
        let (back_from, mut back_to) = (bank.try_clone().unwrap(), company.try_clone().unwrap());
        let back = std::thread::spawn(move || {
            let _ = std::io::copy(&mut (&back_from).take(most_back), &mut back_to);
            let _ = back_from.shutdown(std::net::Shutdown::Both);
            let _ = back_to.shutdown(std::net::Shutdown::Both);
        });
        let mut there = company.try_clone().unwrap().take(most_there);
        let _ = std::io::copy(&mut there, &mut &bank);
        let _ = (&bank).flush();
        let _ = bank.shutdown(std::net::Shutdown::Both);
        let _ = company.shutdown(std::net::Shutdown::Both);
        let _ = back.join();
    });
    address
}

/// A port that nobody has at the moment.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The shell's limit on file sizes stands in for a full disk.
fn full_disk(blocks: u64) -> String {
    format!("trap '' XFSZ; ulimit -f {blocks};")
}

/// What the shell means by a block.
fn block_bytes() -> u64 {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("one-block");
    let script = format!("{} head -c 9000 /dev/zero > \"$0\"", full_disk(1));
    let mut shell = std::process::Command::new("sh");
    let _ = shell.arg("-c").arg(script).arg(&path).stderr(std::process::Stdio::null()).status();
    path.metadata().unwrap().len()
}

#[test]
fn a_disk_too_full_for_the_release_is_found_before_anything_is_spent() {
    let couple = Couple::new(40);
    let script = full_disk(2_048 / block_bytes());
    let bank = Running::start(couple.command(BANK, "", Some(&script))).end();
    bank.assert(1, &["cannot reserve ", "make room on that disk", "nothing was spent"]);
    assert!(!bank.said.contains("listening on"), "{}", bank.said);
    assert!(couple.runs(BANK).is_empty());
    assert!(!couple.path(BANK, "release").exists(), "nothing is left, not even a directory");
}

/// Runs the bank with a filesystem of its own of so many bytes on one of its directories.
#[expect(clippy::print_stderr, reason = "says why a test is skipped")]
fn on_small_disk(couple: &Couple, directory: &str, bytes: u32) -> Option<Outcome> {
    let place = couple.path(BANK, directory);
    std::fs::create_dir_all(&place).unwrap();
    let mount = format!("mount -t tmpfs -o size={bytes} none '{}'", place.display());
    let mut trial = std::process::Command::new("unshare");
    let trial = trial.args(["-rm", "sh", "-c", &mount]).output();
    if !trial.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let us mount a small filesystem");
        return None;
    }
    let command = couple.command(BANK, "", None);
    couple.edit(BANK, "party.toml", "\"ledger.jsonl\"", "\"books/ledger.jsonl\"");
    let mut small = std::process::Command::new("unshare");
    small.args(["-rm", "sh", "-c", &format!("{mount} && exec \"$0\" \"$@\"")]);
    small.arg(command.get_program()).args(command.get_args());
    Some(Running::start(small).end())
}

#[test]
fn a_disk_without_room_for_release_or_ledger_is_found_before_connecting() {
    for (directory, bytes, words) in [
        ("release", 16_384, "cannot reserve "),
        ("books", 8_192, "cannot reserve room in the ledger"),
    ] {
        let couple = Couple::new(20);
        std::fs::create_dir_all(couple.path(BANK, "books")).unwrap();
        let Some(bank) = on_small_disk(&couple, directory, bytes) else { return };
        bank.assert(1, &[words]);
        assert!(!bank.said.contains("listening on"), "{}", bank.said);
    }
}

#[test]
fn a_release_that_cannot_be_written_leaves_none_and_the_peer_keeps_its_own() {
    let couple = Couple::new(40);
    let both = couple.start();
    assert!(both[BANK].wait_for("both ledgers are debited"));
    // Something in its way stands for a disk that fails in spite of the room that was taken.
    let part = couple.path(BANK, "release/.release.csv.part");
    std::fs::remove_file(&part).unwrap();
    std::fs::create_dir(&part).unwrap();
    let [bank, company] = both.map(Running::end);
    bank.assert(4, &["cannot write", "Loan company may have the complete release"]);
    assert!(!couple.has_release(BANK) && !couple.path(BANK, "release/release.csv").exists());
    assert_eq!(couple.runs(BANK)[0].status, Status::Aborted);
    company.assert(0, &["did not confirm that it has written its own", "give it release.csv"]);
    assert_eq!(couple.verify(COMPANY).0, Some(0));
    assert_eq!(couple.runs(COMPANY)[0].status, Status::Finished);
    // The copy is as good as one's own.
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(couple.path(COMPANY, "release/."))
        .arg(couple.path(BANK, "release"))
        .status();
    assert!(copied.unwrap().success());
    assert_eq!(couple.verify(BANK).0, Some(0));
}

#[test]
fn a_disk_too_full_for_the_ledger_stops_the_run_before_anything_private_is_sent() {
    let couple = Couple::new(40);
    let unit = block_bytes();
    let path = couple.path(BANK, "ledger.jsonl");
    // Earlier entries: more than the room that a release takes, and so many bytes that the next
    // one does not fit the last block.
    let mut ledger = Ledger::create(&path).unwrap();
    let mut earlier_runs = 0;
    let length = loop {
        let run = RunId([earlier_runs; 32]);
        let _ =
            ledger.debit(earlier(earlier_runs, 1 + usize::from(earlier_runs) * 37 % 199)).unwrap();
        ledger.finish(run).unwrap();
        earlier_runs += 1;
        let size = path.metadata().unwrap().len();
        if size > 100_000 && size % unit > unit - 200 {
            break size;
        }
    };
    drop(ledger);
    let script = full_disk(length.div_ceil(unit));
    let [bank, company] = couple.start_with([Some(&script), None]).map(Running::end);
    bank.assert(1, &["cannot write to the ledger"]);
    company.assert(1, &["the peer ended the run: something failed on its side"]);
    for who in [BANK, COMPANY] {
        assert!(!couple.has_release(who));
        assert!(couple.runs(who).iter().all(|run| run.status != Status::Debited));
    }
    assert_eq!(couple.runs(BANK).len(), usize::from(earlier_runs));
}

fn earlier(number: u8, length: usize) -> Debit {
    Debit {
        run: RunId([number; 32]),
        release: "earlier".to_owned(),
        data_set: "x".repeat(length),
        epsilon: Some("0.001".parse().unwrap()),
        cap: Some("3".parse().unwrap()),
        agreement: Hash([0; 32]),
        peer: "somebody".to_owned(),
        salt: Hash([number; 32]),
        delta: None,
        towards_peer: None,
        cap_towards_peer: None,
        out: None,
        promise: None,
    }
}

#[test]
fn a_noisy_rehearsal_that_is_cut_or_killed_keeps_its_debit() {
    let noisy = || {
        let couple = Couple::new(60);
        for who in [BANK, COMPANY] {
            couple.edit(who, "agreement.toml", "[id]\n", "[id]\nrehearse = \"noisy\"\n");
        }
        couple
    };
    let rehearse = |couple: &Couple, who, address: &str| {
        let mut command = couple.command(who, address, None);
        command.arg("--rehearse");
        Running::start(command)
    };
    // Killed while people are joined: the other side ends, and the next start says what it cost.
    let couple = noisy();
    let bank = rehearse(&couple, BANK, "");
    let mut company = rehearse(&couple, COMPANY, &bank.address());
    company.wait_for("both ledgers are debited");
    company.kill();
    drop(company.end());
    let bank = bank.end();
    let history = |who| ledger::read(&couple.path(who, "ledger.jsonl")).unwrap();
    if bank.status != Some(0) {
        bank.assert(1, &["ε 0.05 is spent and nothing was told"]);
        assert_eq!(couple.runs(BANK)[0].status, Status::Aborted);
    }
    for who in [BANK, COMPANY] {
        assert_eq!(history(who).spent("people").to_string(), "1/20");
    }
    let again = couple.start_again(COMPANY);
    assert!(again.said.contains("was interrupted: its ε 0.05 stays spent"), "{}", again.said);
    let once = couple.start_again(COMPANY);
    assert!(!once.said.contains("was interrupted"), "{}", once.said);

    // Cut in the set-up nothing is spent; cut later, ε is.
    for (most_bytes, spent) in [(3_000, "0"), (400_000, "1/20")] {
        let couple = noisy();
        let bank = rehearse(&couple, BANK, "");
        let address = cutting_relay(bank.address(), most_bytes);
        let company = rehearse(&couple, COMPANY, &address).end();
        for (who, outcome) in [(BANK, bank.end()), (COMPANY, company)] {
            outcome.assert(1, &["the peer closed the connection"]);
            // A new ledger in which nothing was entered is gone again.
            let ledger = couple.path(who, "ledger.jsonl");
            let entered = ledger.exists().then(|| ledger::read(&ledger).unwrap());
            let found =
                entered.map_or("0".to_owned(), |history| history.spent("people").to_string());
            assert_eq!(found, spent);
            assert_eq!(outcome.said.contains("is spent and nothing was told"), spent != "0");
            assert!(couple.runs(who).iter().all(|run| run.status == Status::Aborted));
        }
    }
}
