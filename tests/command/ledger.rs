//! The ledger among real processes: killed, racing, out of space.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use diptych::privacy::ledger::{self, Debit, Error, Event, Hash, Ledger, Reader, RunId};

/// A writer process: `debits` runs by a name of its own, each said aloud once it is debited.
const WRITER: &str = "DIPTYCH_TEST_LEDGER_WRITER";

#[test]
#[ignore = "the other tests start it as a process of its own"]
fn writer_process() {
    let Ok(order) = std::env::var(WRITER) else { return };
    let (name, rest) = order.split_once(' ').unwrap();
    let (debits, path) = rest.split_once(' ').unwrap();
    let debits: u32 = debits.parse().unwrap();
    let name: u8 = name.parse().unwrap();
    for number in 0..debits {
        // Open for each run, as the command does: writers take turns.
        let mut ledger = loop {
            match Ledger::open(Path::new(path)) {
                Ok(ledger) => break ledger,
                Err(Error::Locked(_)) => std::thread::sleep(Duration::from_micros(300)),
                Err(error) => return say(&format!("failed: {error}")),
            }
        };
        let run = run_id(name, number);
        match ledger.debit(debit(run)) {
            Ok(receipt) => say(&format!("debited {}", receipt.run())),
            Err(Error::CapReached { .. }) => return say("cap"),
            Err(error) => return say(&format!("failed: {error}")),
        }
        if ledger.finish(run).is_err() {
            return say("failed: cannot finish");
        }
    }
}

#[test]
fn a_killed_writer_loses_no_debit_that_it_was_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let mut told = Vec::new();
    for round in 0..12 {
        let mut child = writer(round, 1_000_000, &path, None);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Die somewhere after a few debits: each round at another point of the loop.
        let debits: Vec<_> = debited(&mut lines).take(3).collect();
        std::thread::sleep(Duration::from_micros(137 * u64::from(round)));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        told.extend(debits);
        told.extend(debited(&mut lines));
        let ledger = Ledger::open(&path).unwrap();
        for run in &told {
            let known = ledger.history().runs().iter().any(|r| &r.debit.run.to_string() == run);
            assert!(known, "{run} was acknowledged and is gone");
        }
    }
    assert!(told.len() >= 36);
}

#[test]
fn two_writers_at_once_never_pass_the_cap() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let mut children: Vec<_> = (0..2).map(|name| writer(name, 200, &path, None)).collect();
    let told: Vec<Vec<String>> = children
        .iter_mut()
        .map(|child| {
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let lines: Vec<_> = lines.map_while(Result::ok).collect();
            assert!(child.wait().unwrap().success());
            assert!(lines.iter().any(|line| line.ends_with("cap")), "{lines:?}");
            debited(&mut lines.into_iter().map(Ok)).collect()
        })
        .collect();
    let history = ledger::read(&path).unwrap();
    assert_eq!(history.runs().len(), 80, "8 at 0.1 each");
    assert_eq!(told.iter().map(Vec::len).sum::<usize>(), 80);
    assert_eq!(history.spent("loans"), "8".parse().unwrap());
    assert_eq!(history.unfinished().count(), 0);
}

#[test]
fn a_full_disk_stops_the_run_and_spoils_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    // The shell's limit on file sizes stands in for a full disk: a write is cut short, then fails.
    let mut child = writer(1, 1000, &path, Some("trap '' XFSZ; ulimit -f 4;"));
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<_> = lines.map_while(Result::ok).collect();
    child.wait().unwrap();
    let failures: Vec<_> = lines.iter().filter(|line| line.contains("failed: ")).collect();
    assert_eq!(failures.len(), 1, "{lines:?}");
    let told: Vec<_> = debited(&mut lines.into_iter().map(Ok)).collect();
    assert!(!told.is_empty());
    let ledger = Ledger::open(&path).unwrap();
    let runs = ledger.history().runs();
    assert!(told.iter().zip(runs).all(|(told, run)| told == &run.debit.run.to_string()));
    // At most the one whose bytes all fitted but which was not acknowledged.
    assert!(runs.len() <= told.len() + 1);
}

#[test]
fn a_line_torn_by_a_kill_is_put_right_by_the_next_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let mut child = writer(1, 2, &path, None);
    assert!(child.wait().unwrap().success());
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(br#"{"entry":{"time":1789"#).unwrap();
    let mut child = writer(2, 1, &path, None);
    assert!(child.wait().unwrap().success());
    let history = ledger::read(&path).unwrap();
    assert_eq!(history.runs().len(), 3);
    assert!(history.entries().iter().any(|e| matches!(e.event, Event::Repaired { bytes: 21 })));
}

#[test]
fn the_command_shows_a_ledger_and_names_its_first_bad_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    assert!(writer(1, 2, &path, None).wait().unwrap().success());
    let show = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diptych"));
        let output = command.args(["ledger", "show"]).arg(&path).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (status, shown, _) = show();
    assert_eq!(status, Some(0));
    assert!(shown.contains("loans: towards readers ε 0.2 of 8"), "{shown}");
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    std::fs::write(&path, format!("{first}\n{}", rest.replacen("finished", "aborted", 1))).unwrap();
    let (status, shown, said) = show();
    assert_eq!((status, shown.as_str()), (Some(2), ""));
    assert!(said.contains("line 2 of the ledger was changed or damaged"), "{said}");
}

/// Written by the program as it was before debits had optional fields, by two parties and by one:
/// finished, aborted and interrupted runs, a repair, and a cap that the party file had raised.
const EARLIER: &str = include_str!("ledger/without-optional-fields.jsonl");

#[test]
fn a_ledger_of_an_earlier_version_is_read_and_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    std::fs::write(&path, EARLIER).unwrap();
    let history = ledger::read(&path).unwrap();
    let statuses: Vec<_> = history.runs().iter().map(|run| run.status).collect();
    use ledger::Status::{Aborted, Debited, Finished};
    assert_eq!(statuses, [Finished, Aborted, Finished, Finished, Debited]);
    assert_eq!(history.entries().len(), 10);
    assert_eq!(history.spent("loans"), "4".parse().unwrap());
    assert_eq!(
        history.cap("loans", Reader::Anybody),
        Some(&"3".parse().unwrap()),
        "that of the first debit"
    );
    assert_eq!(history.cap("visits", Reader::Anybody), Some(&"2".parse().unwrap()));
    assert_eq!(history.towards_peers("loans")["Loan company"], "8".parse().unwrap());
    assert_eq!(history.last_met("Loan company"), None);

    let mut ledger = Ledger::open(&path).unwrap();
    ledger.abort(history.runs()[4].debit.run).unwrap();
    let next = |number, data_set: &str, cap: &str| Debit {
        data_set: data_set.to_owned(),
        cap: Some(cap.parse().unwrap()),
        delta: Some(ledger::Delta::promised()),
        towards_peer: Some(ledger::Towards::Once),
        out: Some("/release".to_owned()),
        ..debit(run_id(1, number))
    };
    assert!(matches!(ledger.debit(next(1, "loans", "4")), Err(Error::CapAbove { .. })));
    assert!(matches!(ledger.debit(next(1, "loans", "3")), Err(Error::CapReached { .. })));
    ledger.raise_cap("loans", Reader::Anybody, "5".parse().unwrap()).unwrap();
    for (number, data_set, cap) in [(1, "loans", "5"), (2, "visits", "2")] {
        let _ = ledger.debit(next(number, data_set, cap)).unwrap();
        ledger.note_peer(run_id(1, number), Hash([3; 32])).unwrap();
        ledger.finish(run_id(1, number)).unwrap();
    }
    drop(ledger);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(EARLIER));
    let history = ledger::read(&path).unwrap();
    assert_eq!(history.spent("loans"), "41/10".parse().unwrap());
    assert_eq!(history.last_met("peer"), Some((run_id(1, 2), Hash([3; 32]))));
    assert_eq!(history.unfinished().count(), 0);
}

#[test]
fn the_command_counts_a_line_without_newline_and_refuses_one_with_another_last_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let _ = Ledger::create(&path).unwrap().debit(debit(run_id(1, 1))).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let ledger_command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diptych"));
        let output = command.arg("ledger").args(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let file = path.to_str().unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let (status, said) = ledger_command(&["show", file]);
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains("towards readers ε 0.1 of") && said.contains("lacks its newline"),
        "{said}"
    );
    let changed = [&bytes[..bytes.len() - 1], b"x"].concat();
    std::fs::write(&path, &changed).unwrap();
    for arguments in
        [&["show", file][..], &["raise-cap", file, "--data-set", "loans", "--cap", "9"]]
    {
        let (status, said) = ledger_command(arguments);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("line 1 of the ledger was changed"), "{said}");
        assert_eq!(std::fs::read(&path).unwrap(), changed, "nothing is removed");
    }
}

fn writer(name: u8, debits: u32, path: &Path, first: Option<&str>) -> Child {
    if !path.exists() {
        drop(Ledger::create(path).unwrap());
    }
    let program = std::env::current_exe().unwrap();
    let arguments = ["ledger::writer_process", "--exact", "--ignored", "--nocapture"];
    let mut command = match first {
        None => Command::new(program),
        Some(script) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("{script} exec \"$0\" \"$@\"")).arg(program);
            shell
        }
    };
    command
        .args(arguments)
        .env(WRITER, format!("{name} {debits} {}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Run ids that a writer said were debited. The test harness writes on the same stream.
fn debited(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
) -> impl Iterator<Item = String> {
    lines.map_while(Result::ok).filter_map(|line| {
        let (_, run) = line.split_once("debited ")?;
        (run.len() == 64).then(|| run.to_owned())
    })
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

fn run_id(name: u8, number: u32) -> RunId {
    let mut id = [name; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    RunId(id)
}

fn debit(run: RunId) -> Debit {
    Debit {
        run,
        release: "loans".to_owned(),
        data_set: "loans".to_owned(),
        epsilon: Some("0.1".parse().unwrap()),
        cap: Some("8".parse().unwrap()),
        agreement: Hash([0; 32]),
        peer: "peer".to_owned(),
        salt: Hash([7; 32]),
        delta: None,
        towards_peer: None,
        cap_towards_peer: None,
        out: None,
        promise: None,
    }
}
