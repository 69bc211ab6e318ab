use std::fs;

use proptest::prelude::*;

use super::*;
use crate::math::Rational;

fn debit(number: u8, data_set: &str, epsilon: &str) -> Debit {
    Debit {
        run: RunId([number; 32]),
        release: "loans-2026q4".to_owned(),
        data_set: data_set.to_owned(),
        epsilon: Some(epsilon.parse().unwrap()),
        cap: Some("3".parse().unwrap()),
        agreement: Hash([7; 32]),
        peer: "Loan company".to_owned(),
        salt: Hash([number; 32]),
        delta: None,
        towards_peer: None,
        cap_towards_peer: None,
        out: None,
        promise: None,
    }
}

/// A ledger file with two closed runs and an open one.
fn sample() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.jsonl");
    let mut ledger = Ledger::create(&path).unwrap();
    for number in 1..=3 {
        let receipt = ledger.debit(debit(number, "loans", "0.7")).unwrap();
        assert_eq!(receipt.into_budget().unwrap().total(), &"7/10".parse().unwrap());
    }
    ledger.finish(RunId([1; 32])).unwrap();
    ledger.abort(RunId([2; 32])).unwrap();
    drop(ledger);
    (directory, path)
}

#[test]
fn what_was_entered_is_read_back() {
    let (_directory, path) = sample();
    let history = read(&path).unwrap();
    let statuses: Vec<_> = history.runs().iter().map(|run| run.status).collect();
    assert_eq!(statuses, [Status::Finished, Status::Aborted, Status::Debited]);
    let unfinished: Vec<_> = history.unfinished().map(|run| run.debit.run).collect();
    assert_eq!(unfinished, [RunId([3; 32])]);
    assert_eq!(history.spent("loans"), "21/10".parse().unwrap());
    assert_eq!(history.spent("other"), Rational::zero());
    assert_eq!(history.entries().len(), 5);
    assert!(history.torn().is_none());
    let mut shorter = History::default();
    let text = fs::read_to_string(&path).unwrap();
    text.lines().take(2).for_each(|line| shorter.accept(line).unwrap());
    assert_eq!(history.run(&RunId([2; 32])).unwrap().head, shorter.head());
    assert!(history.run(&RunId([4; 32])).is_none());
}

#[test]
fn a_run_without_epsilon_that_ended_counts_once_the_peer_may_have_heard_of_it() {
    for told in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::create(&directory.path().join("ledger.jsonl")).unwrap();
        let promise = Some("groups".to_owned());
        let entered = Debit { epsilon: None, cap: None, promise, ..debit(1, "loans", "1") };
        assert!(ledger.debit(entered).unwrap().into_budget().is_none());
        if told {
            ledger.note_peer(RunId([1; 32]), Hash([9; 32])).unwrap();
        }
        ledger.abort(RunId([1; 32])).unwrap();
        for spends in [false, true] {
            let refused = ledger.check_composition("loans", spends, false).is_err();
            assert_eq!(refused, told);
            ledger.check_composition("loans", spends, true).unwrap();
        }
        ledger.check_composition("other", true, false).unwrap();
    }
}

#[test]
fn the_cap_is_exact_and_holds_per_data_set() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::create(&directory.path().join("ledger")).unwrap();
    for number in 0..30 {
        let _ = ledger.debit(debit(number, "loans", "0.1")).unwrap();
    }
    let beyond = ledger.debit(debit(30, "loans", "0.000000000000000001"));
    assert!(matches!(beyond, Err(Error::CapReached { .. })));
    assert!(ledger.debit(debit(31, "cards", "3")).is_ok());
    assert_eq!(ledger.history().runs().len(), 31);
}

#[test]
fn a_run_is_debited_once_and_closed_once() {
    let (_directory, path) = sample();
    let mut ledger = Ledger::open(&path).unwrap();
    assert!(matches!(ledger.debit(debit(1, "loans", "0.1")), Err(Error::KnownRun(_))));
    assert!(matches!(ledger.finish(RunId([1; 32])), Err(Error::NotOpen(_))));
    assert!(matches!(ledger.abort(RunId([9; 32])), Err(Error::NotOpen(_))));
    ledger.abort(RunId([3; 32])).unwrap();
    assert_eq!(ledger.history().unfinished().count(), 0);
}

#[test]
fn names_that_do_not_fit_a_line_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::create(&directory.path().join("ledger")).unwrap();
    let long = "x".repeat(201);
    for name in ["", "two\nlines", &long] {
        let result = ledger.debit(debit(1, name, "1"));
        assert!(matches!(result, Err(Error::BadName { .. })), "{name:?}");
    }
}

#[test]
fn a_second_writer_is_kept_out_until_the_first_is_gone() {
    let (_directory, path) = sample();
    let first = Ledger::open(&path).unwrap();
    assert!(matches!(Ledger::open(&path), Err(Error::Locked(_))));
    assert_eq!(read(&path).unwrap().runs().len(), 3, "reading needs no lock");
    drop(first);
    assert!(Ledger::open(&path).is_ok());
}

#[test]
fn a_ledger_cut_off_at_any_byte_is_read_up_to_the_last_whole_line() {
    let (_directory, path) = sample();
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        let history = History::parse(cut).unwrap();
        let lines = cut.iter().filter(|&&byte| byte == b'\n').count();
        let ends_with_line = length == 0 || cut[length - 1] == b'\n';
        assert_eq!(history.torn().is_none(), ends_with_line, "{length}");
        let only_newline_missing = bytes[length] == b'\n';
        let complete = history.torn().is_some_and(|torn| torn.complete);
        assert_eq!(complete, only_newline_missing, "{length}");
        assert_eq!(history.entries().len(), lines + usize::from(complete), "{length}");
    }
}

#[test]
fn the_next_writer_puts_a_torn_line_right_and_says_so() {
    let (_directory, path) = sample();
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<_> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').collect();
    let cuts = (0..bytes.len()).step_by(61).chain(ends.iter().flat_map(|&e| [e - 1, e, e + 1]));
    for length in cuts {
        fs::write(&path, &bytes[..length]).unwrap();
        let before = read(&path).unwrap();
        let mut ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.was_repaired(), before.torn().is_some());
        let whole_lines = before.entries();
        assert_eq!(&ledger.history().entries()[..whole_lines.len()], whole_lines);
        if bytes.get(length) == Some(&b'\n') {
            // The entry was complete: its ε is spent, for readers and for the next writer.
            assert_eq!(ledger.history().entries().len(), whole_lines.len());
            assert!(!matches!(
                ledger.history().entries().last().unwrap().event,
                Event::Repaired { .. }
            ));
        } else if let Some(torn) = before.torn() {
            let last = &ledger.history().entries().last().unwrap().event;
            assert_eq!(last, &Event::Repaired { bytes: torn.bytes });
        }
        let _ = ledger.debit(debit(200, "loans", "0.1")).unwrap();
        drop(ledger);
        let after = read(&path).unwrap();
        assert!(after.torn().is_none() && after.run(&RunId([200; 32])).is_some());
    }
}

#[test]
fn zeros_left_by_a_power_cut_are_a_torn_line() {
    let (_directory, path) = sample();
    let mut bytes = fs::read(&path).unwrap();
    let lines = read(&path).unwrap().entries().len();
    for start in [&b""[..], br#"{"entry":{"time":17"#] {
        bytes.extend_from_slice(start);
        bytes.extend_from_slice(&[0; 300]);
        let history = History::parse(&bytes).unwrap();
        assert_eq!(history.torn().unwrap().line, lines + 1);
        bytes.truncate(bytes.len() - 300 - start.len());
    }
}

#[test]
fn a_last_line_that_was_edited_is_not_taken_for_a_torn_one() {
    let (_directory, path) = sample();
    let text = fs::read_to_string(&path).unwrap();
    let third_debit_last = text.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(History::parse(third_debit_last.as_bytes()).unwrap().torn().is_some());
    let edited = third_debit_last.replace("0.7", "0.1");
    // Every copy of the figure was changed, so line 1 is the first bad one; then only the last.
    assert!(matches!(History::parse(edited.as_bytes()), Err(Error::BadLine { line: 1, .. })));
    let (head, tail) = third_debit_last.rsplit_once('\n').unwrap();
    for tail in [tail.replace("0.7", "0.1"), format!("{tail} "), "oops".to_owned()] {
        let edited = format!("{head}\n{tail}");
        let result = History::parse(edited.as_bytes());
        assert!(matches!(result, Err(Error::BadLine { line: 3, .. })), "{tail}");
    }
}

#[test]
fn a_changed_last_byte_never_takes_a_debit_away() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let mut ledger = Ledger::create(&path).unwrap();
    let _ = ledger.debit(debit(1, "loans", "0.7")).unwrap();
    drop(ledger);
    let bytes = fs::read(&path).unwrap();
    for last in 0..=u8::MAX {
        let mut changed = bytes.clone();
        *changed.last_mut().unwrap() = last;
        fs::write(&path, &changed).unwrap();
        match last {
            b'\n' | 0 => {
                assert_eq!(read(&path).unwrap().spent("loans"), "7/10".parse().unwrap());
                drop(Ledger::open(&path).unwrap());
                assert_eq!(fs::read(&path).unwrap(), bytes);
            }
            _ => {
                assert!(matches!(read(&path), Err(Error::BadLine { line: 1, .. })), "{last}");
                assert!(matches!(Ledger::open(&path), Err(Error::BadLine { line: 1, .. })));
                assert_eq!(fs::read(&path).unwrap(), changed, "nothing is touched");
            }
        }
    }
}

#[test]
fn a_whole_last_line_without_its_newline_counts_and_is_completed() {
    let (_directory, path) = sample();
    let bytes = fs::read(&path).unwrap();
    let first = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    for zeros in [0, 1, 700] {
        let torn = [&bytes[..first], &vec![0; zeros]].concat();
        fs::write(&path, &torn).unwrap();
        assert_eq!(read(&path).unwrap().spent("loans"), "7/10".parse().unwrap(), "{zeros}");
        let ledger = Ledger::open(&path).unwrap();
        assert!(ledger.was_repaired());
        assert_eq!(ledger.history().spent("loans"), "7/10".parse().unwrap());
        assert_eq!(fs::read(&path).unwrap(), bytes[..=first]);
    }
}

#[test]
fn an_unfinished_value_that_no_writer_begins_is_an_error() {
    let (_directory, path) = sample();
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    for tail in [&br#"{"entry":{"time":1}}}"#[..], br#"{"entry":{"time":17}},"#, b"\0\0{", b"{\0{"]
    {
        bytes.extend_from_slice(tail);
        assert!(matches!(History::parse(&bytes), Err(Error::BadLine { line: 6, .. })), "{tail:?}");
        bytes.truncate(length);
    }
}

#[test]
fn a_changed_line_without_an_epsilon_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let promise = Some("counts as they are".to_owned());
    let run = Debit { epsilon: None, cap: None, promise, ..debit(1, "loans", "1") };
    let mut ledger = Ledger::create(&path).unwrap();
    assert!(ledger.debit(run).unwrap().into_budget().is_none());
    ledger.finish(RunId([1; 32])).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("epsilon") && History::parse(text.as_bytes()).is_ok());
    for (was, becomes, at) in [
        ("counts as they are", "counts with noise", 1),
        (r#""data_set":"loans""#, r#""data_set":"cards""#, 1),
        (r#","promise":"counts as they are""#, "", 1),
        ("finished", "aborted", 2),
    ] {
        let changed = text.replacen(was, becomes, 1);
        assert_ne!(changed, text, "{was}");
        let result = History::parse(changed.as_bytes());
        assert!(matches!(result, Err(Error::BadLine { line, .. }) if line == at), "{was}");
    }
}

#[test]
fn removed_moved_and_repeated_lines_are_named() {
    let (_directory, path) = sample();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first_bad = |order: &[usize]| {
        let text: String = order.iter().map(|&i| format!("{}\n", lines[i])).collect();
        match History::parse(text.as_bytes()) {
            Err(Error::BadLine { line, .. }) => Some(line),
            Ok(_) => None,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(first_bad(&[0, 1, 2, 3, 4]), None);
    assert_eq!(first_bad(&[1, 2, 3, 4]), Some(1));
    assert_eq!(first_bad(&[0, 2, 3, 4]), Some(2));
    assert_eq!(first_bad(&[0, 2, 1, 3, 4]), Some(2));
    assert_eq!(first_bad(&[0, 1, 2, 3, 3, 4]), Some(5));
}

#[test]
fn removed_last_lines_are_found_against_a_head_kept_elsewhere() {
    let (_directory, path) = sample();
    let history = read(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let shorter = text.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    let shorter = History::parse(shorter.as_bytes()).unwrap();
    assert!(!shorter.has_had_head(&history.head()));
    assert!(history.has_had_head(&shorter.head()) && history.has_had_head(&Hash::BEGINNING));
}

#[test]
fn a_chain_that_was_computed_anew_over_impossible_events_is_refused() {
    // The hashes are valid, the history is not: the writer never closes a run twice.
    let mut history = History::default();
    let run = RunId([1; 32]);
    for event in [Event::Debited(Box::new(debit(1, "loans", "1"))), Event::Finished { run }] {
        let line = history.next_line(&Entry { time: 5, event }).unwrap();
        history.accept(line.trim_end()).unwrap();
    }
    for event in [Event::Aborted { run }, Event::Debited(Box::new(debit(1, "loans", "1")))] {
        let line = history.next_line(&Entry { time: 6, event }).unwrap();
        let result = history.accept(line.trim_end());
        assert!(matches!(result, Err(Error::BadLine { line: 3, .. })));
    }
}

#[test]
fn a_ledger_that_was_moved_or_replaced_is_not_written() {
    for replaced in [false, true] {
        let (directory, path) = sample();
        let mut ledger = Ledger::open(&path).unwrap();
        let elsewhere = directory.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        if replaced {
            fs::copy(&elsewhere, &path).unwrap();
        }
        let before = fs::read(&elsewhere).unwrap();
        let debited = ledger.debit(debit(4, "loans", "0.1"));
        assert!(matches!(debited, Err(Error::Moved(_))));
        assert!(matches!(ledger.finish(RunId([3; 32])), Err(Error::Moved(_))));
        assert!(matches!(ledger.abort(RunId([3; 32])), Err(Error::Moved(_))));
        assert_eq!(fs::read(&elsewhere).unwrap(), before);
        // Back in its place it is the same ledger, under another name of the same file too.
        fs::rename(&elsewhere, &path).unwrap();
        let _ = ledger.debit(debit(4, "loans", "0.1")).unwrap();
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        ledger.finish(RunId([4; 32])).unwrap();
        assert_eq!(read(&path).unwrap().run(&RunId([4; 32])).unwrap().status, Status::Finished);
    }
}

#[test]
fn the_first_debit_fixes_the_cap_and_only_a_line_of_its_own_raises_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let mut ledger = Ledger::create(&path).unwrap();
    let with_cap = |number, epsilon, cap: &str| Debit {
        cap: Some(cap.parse().unwrap()),
        ..debit(number, "loans", epsilon)
    };
    let _ = ledger.debit(with_cap(1, "1", "2")).unwrap();
    let higher = ledger.debit(with_cap(2, "0.5", "2.000000000000000001"));
    let said = higher.unwrap_err().to_string();
    let command = "diptych ledger raise-cap LEDGER --data-set \"loans\" --cap 2.000000000000000001";
    assert!(said.contains(command), "{said}");
    // A lower cap applies to its run only.
    let lower = ledger.debit(with_cap(2, "0.5", "1.4"));
    assert!(matches!(lower, Err(Error::CapReached { .. })));
    let _ = ledger.debit(with_cap(2, "0.4", "1.4")).unwrap();
    let _ = ledger.debit(with_cap(3, "0.6", "2")).unwrap();
    assert!(matches!(ledger.debit(with_cap(4, "0.1", "2")), Err(Error::CapReached { .. })));

    let raise = |ledger: &mut Ledger, cap: &str| {
        ledger.raise_cap("loans", Reader::Anybody, cap.parse().unwrap())
    };
    assert!(matches!(raise(&mut ledger, "2"), Err(Error::NotRaised { .. })));
    let unknown = ledger.raise_cap("cards", Reader::Anybody, "9".parse().unwrap());
    assert!(matches!(unknown, Err(Error::UnknownDataSet(_))));
    raise(&mut ledger, "3").unwrap();
    drop(ledger);
    let mut ledger = Ledger::open(&path).unwrap();
    assert_eq!(ledger.history().cap("loans", Reader::Anybody), Some(&"3".parse().unwrap()));
    let _ = ledger.debit(with_cap(4, "1", "3")).unwrap();
    assert!(matches!(ledger.debit(with_cap(5, "1", "4")), Err(Error::CapAbove { .. })));
}

#[test]
fn what_peers_learn_has_a_cap_of_its_own_that_the_first_debit_that_names_it_fixes() {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::create(&directory.path().join("ledger")).unwrap();
    let next = |number, towards, cap: Option<&str>| Debit {
        towards_peer: Some(towards),
        cap_towards_peer: cap.map(|cap| cap.parse().unwrap()),
        ..debit(number, "loans", "0.5")
    };
    let _ = ledger.debit(next(1, Towards::Twice, None)).unwrap();
    let raise = |ledger: &mut Ledger, cap: &str| {
        ledger.raise_cap("loans", Reader::Peer, cap.parse().unwrap())
    };
    assert!(matches!(raise(&mut ledger, "9"), Err(Error::NoCapTowardsPeer(_))));
    // What was spent before counts; the first cap comes from the party file.
    let said = ledger.debit(next(2, Towards::Twice, Some("1.5"))).unwrap_err().to_string();
    let words = "has spent ε 1 towards the peer of its cap 1.5, and this run would spend 1 more";
    assert!(said.contains(words), "{said}");
    assert!(said.contains("raise `cap_towards_peer` in the party file"), "{said}");
    let _ = ledger.debit(next(2, Towards::Once, Some("1.5"))).unwrap();
    assert_eq!(ledger.history().towards_peer("loans"), "3/2".parse().unwrap());
    // It applies to runs that do not name it, and to every peer.
    let other = Debit { peer: "Bank".to_owned(), ..next(3, Towards::Once, None) };
    let said = ledger.debit(other.clone()).unwrap_err().to_string();
    let raising = "raise-cap LEDGER --data-set \"loans\" --towards-peer --cap X";
    assert!(said.contains(raising), "{said}");
    assert!(matches!(
        ledger.debit(next(3, Towards::Once, Some("2"))),
        Err(Error::CapAbove { reader: Reader::Peer, .. })
    ));
    raise(&mut ledger, "2").unwrap();
    let _ = ledger.debit(other).unwrap();
    // A run without a peer reveals nothing to any peer.
    let alone = Debit { peer: NO_PEER.to_owned(), towards_peer: None, ..debit(4, "loans", "0.5") };
    let _ = ledger.debit(alone).unwrap();
    let history = ledger.history();
    assert_eq!(history.cap("loans", Reader::Peer), Some(&"2".parse().unwrap()));
    assert_eq!(history.cap("loans", Reader::Anybody), Some(&"3".parse().unwrap()));
}

#[test]
fn a_ledger_is_made_only_where_that_is_said_and_where_there_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    for error in [Ledger::open(&path).unwrap_err(), read(&path).unwrap_err()] {
        let said = error.to_string();
        assert!(said.contains("diptych ledger create") && said.contains("--new-ledger"), "{said}");
    }
    assert!(!path.exists());
    // A ledger begun for a run that enters nothing is removed; one that replaced it is not.
    drop(Ledger::begin(&path).unwrap());
    assert!(!path.exists());
    let begun = Ledger::begin(&path).unwrap();
    fs::rename(&path, directory.path().join("moved")).unwrap();
    fs::write(&path, "").unwrap();
    drop(begun);
    assert!(path.exists() && directory.path().join("moved").exists());
    fs::remove_file(&path).unwrap();
    let mut begun = Ledger::begin(&path).unwrap();
    let _ = begun.debit(debit(1, "loans", "1")).unwrap();
    drop(begun);
    assert_eq!(read(&path).unwrap().runs().len(), 1);
    for again in [Ledger::begin(&path), Ledger::create(&path)] {
        assert!(again.unwrap_err().to_string().contains("exists already"));
    }
}

#[test]
fn a_head_that_was_lost_is_acknowledged_and_no_other() {
    let (_directory, path) = sample();
    let mut ledger = Ledger::open(&path).unwrap();
    let (lost, own) = (Hash([9; 32]), ledger.history().runs()[0].head);
    assert!(matches!(ledger.acknowledge("Bank", own), Err(Error::KnownHead(_))));
    ledger.acknowledge("Bank", lost).unwrap();
    assert!(matches!(ledger.acknowledge("Bank", lost), Err(Error::KnownHead(_))));
    assert!(matches!(ledger.acknowledge("", Hash([8; 32])), Err(Error::BadName { .. })));
    drop(ledger);
    let history = read(&path).unwrap();
    assert!(history.acknowledged(&lost) && !history.acknowledged(&Hash([8; 32])));
}

#[test]
fn the_peers_head_is_noted_once_while_a_run_is_open_and_the_last_one_is_remembered() {
    let (_directory, path) = sample();
    let mut ledger = Ledger::open(&path).unwrap();
    assert_eq!(ledger.history().last_met("Loan company"), None);
    assert!(matches!(ledger.note_peer(RunId([1; 32]), Hash([9; 32])), Err(Error::NotOpen(_))));
    ledger.note_peer(RunId([3; 32]), Hash([9; 32])).unwrap();
    assert!(matches!(ledger.note_peer(RunId([3; 32]), Hash([8; 32])), Err(Error::NotOpen(_))));
    let _ = ledger.debit(debit(4, "loans", "0.1")).unwrap();
    ledger.finish(RunId([4; 32])).unwrap();
    let history = read(&path).unwrap();
    assert_eq!(history.last_met("Loan company"), Some((RunId([3; 32]), Hash([9; 32]))));
    assert_eq!(history.last_met("Bank"), None);
}

#[test]
fn a_kind_of_line_that_is_not_known_yet_is_told_from_a_damaged_one() {
    let entry = r#"{"time":5,"event":{"rehearsed":{"release":"loans"}}}"#;
    let zeros = Hash::BEGINNING;
    let mut hash = sha2::Sha256::default();
    for part in [&b"diptych ledger line v1\0"[..], &[0; 32], entry.as_bytes()] {
        sha2::Digest::update(&mut hash, part);
    }
    let hash = Hash(sha2::Digest::finalize(hash).into());
    let line = format!("{{\"entry\":{entry},\"previous\":\"{zeros}\",\"hash\":\"{hash}\"}}\n");
    let newer = History::parse(line.as_bytes());
    assert!(matches!(newer, Err(Error::NewerLine { line: 1 })), "{newer:?}");
    let damaged = History::parse(line.replace("loans", "cards").as_bytes());
    assert!(matches!(damaged, Err(Error::BadLine { line: 1, .. })), "{damaged:?}");
}

#[test]
fn the_longest_names_and_path_fit_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger");
    let long = "\"".repeat(200);
    let out = directory.path().join("\"".repeat(799 - directory.path().as_os_str().len()));
    let debit = Debit {
        release: long.clone(),
        data_set: long.clone(),
        peer: long,
        epsilon: Some("4999.999999999999999999".parse().unwrap()),
        cap: Some("9999.999999999999999999".parse().unwrap()),
        delta: Some(Delta::at_least(&"1/3".parse().unwrap())),
        towards_peer: Some(Towards::Twice),
        cap_towards_peer: Some("9999.999999999999999999".parse().unwrap()),
        out: Debit::path_for_line(&out),
        ..debit(1, "loans", "1")
    };
    assert!(debit.out.is_some());
    let _ = Ledger::create(&path).unwrap().debit(debit.clone()).unwrap();
    assert_eq!(read(&path).unwrap().runs()[0].debit, debit);
    assert_eq!(Debit::path_for_line(&out.join("x".repeat(9))), None, "it would not fit");
    assert_eq!(Debit::path_for_line(Path::new("two\nlines")), None);
}

#[test]
fn errors_say_what_to_do() {
    let (_directory, path) = sample();
    let text = fs::read_to_string(&path).unwrap();
    let error = History::parse(text.replacen("0.7", "0.2", 1).as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("line 1 of the ledger was changed or damaged: its hash"));
    assert!(error.to_string().contains("restore the file from a backup"));
}

#[test]
fn the_line_format_is_fixed() {
    // A ledger outlives the program that wrote it: this line must stay readable for ever.
    let entry =
        Entry { time: 1_789_000_000, event: Event::Debited(Box::new(debit(1, "loans", "1.50"))) };
    let (line, _) = entry.to_line(Hash::BEGINNING).unwrap();
    let (ones, sevens, zeros) = ("01".repeat(32), "07".repeat(32), "00".repeat(32));
    let expected = format!(
        r#"{{"entry":{{"time":1789000000,"event":{{"debited":{{"run":"{ones}","release":"loans-2026q4","data_set":"loans","epsilon":"1.5","cap":"3","agreement":"{sevens}","peer":"Loan company","salt":"{ones}"}}}}}},"previous":"{zeros}","hash":"HASH"}}"#
    );
    let (text, hash) = line.trim_end().rsplit_once(r#","hash":""#).unwrap();
    assert_eq!(format!(r#"{text},"hash":"HASH"}}"#), expected);
    assert_eq!(hash.trim_end_matches("\"}"), LINE_HASH);
}

#[test]
fn the_optional_fields_and_the_newer_lines_are_fixed_too() {
    let debited = Debit {
        delta: Some(Delta::try_from("0.25".to_owned()).unwrap()),
        towards_peer: Some(Towards::Twice),
        out: Some("/srv/release".to_owned()),
        ..debit(1, "loans", "1")
    };
    let text = |event| {
        let (line, _) = Entry { time: 5, event }.to_line(Hash::BEGINNING).unwrap();
        let event = line.split_once("\"event\":").unwrap().1;
        event.split_once("},\"previous\"").unwrap().0.to_owned()
    };
    let line = text(Event::Debited(Box::new(debited)));
    let (_, optional) = line.split_once(&format!("\"salt\":\"{}\",", "01".repeat(32))).unwrap();
    assert_eq!(optional, r#""delta":"0.25","towards_peer":"twice","out":"/srv/release"}}"#);
    let (run, head) = (RunId([1; 32]), Hash([2; 32]));
    let cap_towards_peer = Some("6.0".parse().unwrap());
    let line = text(Event::Debited(Box::new(Debit { cap_towards_peer, ..debit(1, "loans", "1") })));
    assert!(line.ends_with(r#","cap_towards_peer":"6"}}"#), "{line}");
    let met = format!(r#"{{"met":{{"run":"{run}","head":"{head}"}}}}"#);
    assert_eq!(text(Event::Met { run, head }), met);
    let raised = |towards_peer| {
        let (data_set, cap) = ("loans".to_owned(), "4.50".parse().unwrap());
        text(Event::Raised { data_set, cap, towards_peer })
    };
    assert_eq!(raised(false), r#"{"raised":{"data_set":"loans","cap":"4.5"}}"#);
    let towards_peer = r#"{"raised":{"data_set":"loans","cap":"4.5","towards_peer":true}}"#;
    assert_eq!(raised(true), towards_peer);
    let acknowledged = format!(r#"{{"acknowledged":{{"peer":"Bank","head":"{head}"}}}}"#);
    assert_eq!(text(Event::Acknowledged { peer: "Bank".to_owned(), head }), acknowledged);
}

/// SHA-256 of the domain string, 32 zero bytes and the entry, by another program.
const LINE_HASH: &str = "6b92c4cdc1bee3453621e4d8b04dbbc96cb63577087454e98438a8505926dead";

proptest! {
    #[test]
    fn garbage_is_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = History::parse(&bytes);
    }

    #[test]
    fn a_changed_byte_is_always_found(position in 0usize..100_000, flip in 1u8..) {
        let mut history = History::default();
        let mut text = String::new();
        for number in 0..4 {
            let event = Event::Debited(Box::new(debit(number, "loans", "0.25")));
            let line = history.next_line(&Entry { time: 9, event }).unwrap();
            history.accept(line.trim_end()).unwrap();
            text.push_str(&line);
        }
        let mut bytes = text.into_bytes();
        let position = position % bytes.len();
        let line = 1 + bytes[..position].iter().filter(|&&byte| byte == b'\n').count();
        bytes[position] ^= flip;
        match History::parse(&bytes) {
            Err(Error::BadLine { line: found, .. }) => prop_assert_eq!(found, line),
            // If only the newline is a zero, the write was interrupted, and the entry counts.
            Ok(damaged) => {
                prop_assert!(line == 4 && damaged.torn().is_some_and(|torn| torn.complete));
                prop_assert_eq!(damaged.spent("loans"), "1".parse().unwrap());
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

/// An exact rehearsal under an agreement, with a peer that has this name and key.
fn rehearsal(data_set: &str, agreement: u8, peer: &str, key: Option<u8>) -> Rehearsal {
    Rehearsal {
        release: "loans-2026q4".to_owned(),
        data_set: data_set.to_owned(),
        agreement: Hash([agreement; 32]),
        peer: peer.to_owned(),
        fingerprint: key.map(|key| Hash([key; 32])),
        salt: Hash([agreement; 32]),
    }
}

#[test]
fn a_data_set_is_rehearsed_once_with_a_peer_whatever_the_agreement_its_name_or_its_key() {
    let (_directory, path) = sample();
    let mut ledger = Ledger::open(&path).unwrap();
    let spent = ledger.history().spent("loans");
    ledger.rehearse(rehearsal("loans", 7, "Bank", Some(1))).unwrap();
    let refused = |ledger: &mut Ledger, agreement, peer, key| {
        let again = ledger.rehearse(rehearsal("loans", agreement, peer, key));
        assert!(matches!(again, Err(Error::RehearsedBefore { .. })), "{peer} {key:?}: {again:?}");
    };
    for (agreement, peer, key) in [(7, "Bank", 1), (8, "Bank", 1), (8, "Banque", 1), (8, "Bank", 2)]
    {
        refused(&mut ledger, agreement, peer, Some(key));
    }
    let words = ledger.check_rehearsal("loans", "Banque", Some(&Hash([1; 32]))).unwrap_err();
    let allow = "allow-rehearsal LEDGER --data-set \"loans\" --peer \"Bank\"";
    assert!(words.to_string().contains(allow), "{words}");
    // Another peer, or another data set, is not affected.
    ledger.rehearse(rehearsal("loans", 7, "Shop", Some(3))).unwrap();
    ledger.rehearse(rehearsal("cards", 7, "Bank", Some(1))).unwrap();
    let nameless = ledger.rehearse(rehearsal("", 7, "Bank", Some(1)));
    assert!(matches!(nameless, Err(Error::BadName { .. })));
    // A line allows one more, which then has another key; that key under another name is known too.
    for (data_set, peer) in [("loans", "Banque"), ("other", "Bank")] {
        let none = ledger.allow_rehearsal(data_set, peer);
        assert!(matches!(none, Err(Error::NotRehearsed { .. })), "{data_set} {peer}");
    }
    ledger.allow_rehearsal("loans", "Bank").unwrap();
    ledger.rehearse(rehearsal("loans", 7, "Bank", Some(2))).unwrap();
    refused(&mut ledger, 9, "Banque", Some(2));
    ledger.allow_rehearsal("loans", "Bank").unwrap();
    ledger.rehearse(rehearsal("loans", 9, "Banque", Some(2))).unwrap();
    refused(&mut ledger, 9, "Bank", Some(1));
    drop(ledger);

    let history = read(&path).unwrap();
    assert_eq!((history.entries().len(), history.runs().len()), (12, 3));
    assert_eq!(history.spent("loans"), spent);
    let names = vec!["Bank".to_owned(), "Banque".to_owned()];
    let expected = Rehearsals { names, held: 3, allowed: 2 };
    assert_eq!(history.rehearsals("loans", "Banque", None), expected);
    assert_eq!(history.rehearsals("cards", "Shop", None).held, 0);
}

#[test]
fn lines_of_before_which_have_no_fingerprint_and_one_for_each_agreement_are_read_and_count() {
    let mut history = History::default();
    for agreement in [7, 8] {
        let old = Event::Rehearsed(Box::new(rehearsal("loans", agreement, "Bank", None)));
        let line = history.next_line(&Entry { time: 1, event: old }).unwrap();
        assert!(!line.contains("fingerprint"), "{line}");
        history.accept(line.trim_end()).unwrap();
    }
    let before = history.rehearsals("loans", "Bank", Some(&Hash([1; 32])));
    assert_eq!((before.held, before.most()), (2, 1));
    // The key alone does not identify the peer.
    assert_eq!(history.rehearsals("loans", "Banque", Some(&Hash([1; 32]))).held, 0);
}

#[test]
fn a_noisy_rehearsal_spends_like_a_run_and_does_not_stand_in_the_way_of_a_release() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.jsonl");
    let mut ledger = Ledger::create(&path).unwrap();
    for number in 1..=2 {
        let receipt = ledger.debit_rehearsal(debit(number, "loans", "0.05")).unwrap();
        assert_eq!(receipt.into_budget().unwrap().total(), &"1/20".parse().unwrap());
        ledger.note_peer(RunId([number; 32]), Hash([number; 32])).unwrap();
    }
    ledger.finish(RunId([1; 32])).unwrap();
    let known = ledger.debit_rehearsal(debit(1, "loans", "0.05"));
    assert!(matches!(known, Err(Error::KnownRun(_))));
    let above = ledger.debit_rehearsal(debit(3, "loans", "2.91"));
    assert!(matches!(above, Err(Error::CapReached { .. })));
    let free =
        Debit { epsilon: None, cap: None, promise: Some("k".to_owned()), ..debit(3, "x", "1") };
    assert!(matches!(ledger.debit_rehearsal(free), Err(Error::BadName { .. })));
    assert!(ledger.check_composition("loans", false, false).is_ok(), "it releases nothing");
    assert!(
        ledger.check_rehearsal("loans", "Loan company", None).is_ok(),
        "exact ones count apart"
    );
    drop(ledger);
    let history = read(&path).unwrap();
    assert_eq!(history.spent("loans"), "1/10".parse().unwrap());
    assert_eq!(history.towards_peers("loans")["Loan company"], "1/5".parse().unwrap());
    assert!(history.runs().iter().all(|run| run.is_rehearsal));
    assert_eq!(history.unfinished().count(), 1);
}
