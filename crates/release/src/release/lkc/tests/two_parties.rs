//! Two parties against one: the same table comes out, byte for byte, and nothing is said that does not
//! follow from what both learn.

use super::super::super::matching::{common_rows, compare_classes};
use super::super::sealed;
use super::super::vertical::{ASSUMPTIONS, Met, Named, Side, Worth};
use super::*;
use crate::error::Kind;
use crate::math::Randomness;
use crate::net::{self, AbortReason, Blame, Message, Stop, Tag};
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::pair::{Outcome as Ran, Setup, assert_forecast, run_workspaces};
use crate::release::forecast::Records;
use crate::release::{Examined, Outcome, run};
use crate::role::Role;
use rand::RngExt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The agreement of one party as one of two that hold different people.
fn for_two_halves(local: &str) -> String {
    local.replace("partition = \"local\"", "partition = \"horizontal\"") + &parties()
}

fn parties() -> String {
    let party = |(party, digit): (&str, &str)| {
        let fingerprint = digit.repeat(64);
        format!("[parties.{party}]\nname = \"{party}\"\nfingerprint = \"sha256:{fingerprint}\"\n")
    };
    [("p1", "1"), ("p2", "2")].map(party).concat()
}

/// Both parties' tables of the rows below a header: each row at one of them.
fn halves(agreement: &Agreement, csv: &str, seed: u64) -> [Table; 2] {
    let (header, rows) = csv.split_once('\n').unwrap();
    let mut rng = Randomness::seeded(seed);
    let mut both = [format!("{header}\n"), format!("{header}\n")];
    for row in rows.lines() {
        both[usize::from(rng.random::<bool>())] += &format!("{row}\n");
    }
    both.map(|csv| {
        let (schema, max_records) = (&agreement.schema, agreement.max_records);
        let reading = Reading { schema, owner: None, identifier: None, max_records };
        parse_csv("t.csv", csv.as_bytes(), &reading, &|_| ()).unwrap()
    })
}

/// The agreement of one party as one of two, with columns given to P1 where a bit of `owners` is set.
pub(super) fn for_two(local: &str, owners: u32, more: &str) -> String {
    let (head, attributes) = local.split_once("[[attribute]]").unwrap();
    let mut text =
        head.replace("partition = \"local\"", &format!("partition = \"vertical\"\n{more}"));
    text += &parties();
    text += "[id]\ncolumn = \"id\"\nnormalize = []\nmin_common = 0\n";
    for (number, attribute) in attributes.split("[[attribute]]").enumerate() {
        let owner = if owners >> number & 1 == 1 { "p1" } else { "p2" };
        text += &format!("[[attribute]]\nowner = \"{owner}\"{attribute}");
    }
    text
}

pub(super) fn parse(text: &str) -> Agreement {
    Agreement::parse("a.toml", text.as_bytes(), &|_| Err(String::new())).unwrap()
}

/// Both parties' tables of the rows below a header: in orders of their own, with people of their own
/// among them.
pub(super) fn tables(agreement: &Agreement, csv: &str, seed: u64) -> [Table; 2] {
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    let rows: Vec<&str> = lines.collect();
    let mut rng = Randomness::seeded(seed);
    Role::BOTH.map(|role| {
        let mut named: Vec<String> =
            rows.iter().enumerate().map(|(number, row)| format!("n{number},{row}\n")).collect();
        for (number, row) in rows.iter().take(2 + role as usize).enumerate() {
            named.push(format!("{role}-{number},{row}\n"));
        }
        for place in (1..named.len()).rev() {
            named.swap(place, rng.random_range(0..=place));
        }
        let csv = format!("id,{header}\n{}", named.concat());
        let reading = Reading {
            schema: &agreement.schema,
            owner: Some(role),
            identifier: agreement.identifier(),
            max_records: agreement.max_records,
        };
        parse_csv("t.csv", csv.as_bytes(), &reading, &|_| ()).unwrap()
    })
}

type Made = Result<Outcome, Error>;

pub(super) fn together(agreement: &Agreement, tables: &[Table; 2]) -> Ran<Made, Made> {
    let party = |session: &mut Workspace, table: &Table| -> Made {
        let outcome = run::prepare(session, agreement)
            .and_then(|prepared| run::together(session, agreement, table, None, prepared, &|_| ()));
        session.conclude(outcome)
    };
    run_workspaces(
        Setup::default(),
        |session| party(session, &tables[0]),
        |session| party(session, &tables[1]),
    )
}

/// The bytes of a release.
pub(super) fn bytes(outcome: &Outcome) -> String {
    let mut csv = Vec::new();
    write_csv(&outcome.release.table, Rows::All, &mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

/// Runs two parties, sees that both have the expected release, or none, and that what they said was
/// foretold by the course.
pub(super) fn assert_released(
    agreement: &Agreement,
    tables: &[Table; 2],
    expected: Option<&str>,
) -> Vec<Examined> {
    let outcome = together(agreement, tables);
    let (p1, p2) = match (outcome.p1, outcome.p2) {
        (Ok(p1), Ok(p2)) => (p1, p2),
        (Err(p1), Err(p2)) => {
            let unmet = |error: &Error| error.kind() == Kind::Unmet;
            assert!(expected.is_none() && unmet(&p1) && unmet(&p2), "{p1}; {p2}");
            return Vec::new();
        }
        _ => panic!("one party has a release"),
    };
    assert_eq!((Some(&*bytes(&p1)), Some(&*bytes(&p2))), (expected, expected));
    assert_eq!(p1.release.table.cuts.made(), p2.release.table.cuts.made());
    // Both know the same course, up to splits of what stayed, which nobody tells.
    assert_eq!(p1.course, p2.course);
    let common = p1.in_both.unwrap_or_default();
    assert_eq!(p1.in_both, p2.in_both);
    assert_eq!(p1.peer_records, p1.in_both.map(|_| tables[1].len()));
    assert_forecast(&outcome.transcripts, &outcome.costs, |f: &mut Forecast| {
        let [first, second] = tables.each_ref().map(Table::len);
        let (own, peer) = if f.role() == Role::P1 { (first, second) } else { (second, first) };
        crate::release::forecast::prepare(f, agreement).unwrap();
        let records = Records { own, peer, common, ..Records::default() };
        crate::release::forecast::together(f, agreement, records, &p1.course).unwrap();
    });
    p1.course
}

/// Vectors of an independent generator: agreement and data of one party, and its release if there is
/// one. Those that two parties can compute.
fn vectors() -> Vec<(u64, String, String, Option<String>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/lkc.json");
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let groups = document["testGroups"].as_array().unwrap();
    let tests = groups.iter().flat_map(|group| group["tests"].as_array().unwrap());
    let text = |test: &serde_json::Value, key: &str| test[key].as_str().unwrap().to_owned();
    let mut found = Vec::new();
    for test in tests {
        let agreement = text(test, "agreement");
        let scores = ["info-gain", "gain-ratio", "max"];
        if !scores.iter().any(|score| agreement.contains(&format!("score = \"{score}\""))) {
            continue;
        }
        let release = (test["result"] == "valid").then(|| text(test, "release"));
        found.push((test["tcId"].as_u64().unwrap(), agreement, text(test, "data"), release));
    }
    found
}

#[test]
fn every_vector_is_released_by_two_parties_as_by_one_whoever_holds_what() {
    let vectors = vectors();
    assert!(vectors.len() > 30);
    for (number, local, data, release) in vectors {
        // Worked examples with several divisions, the sensitive attribute at either side.
        let divisions: &[u32] = if number <= 20 { &[0b0101, 0b1010, 0b0011] } else { &[0b0110] };
        for owners in divisions {
            for more in ["", "profile = \"paper\""] {
                let owners = owners ^ (number as u32 & 8);
                let agreement = parse(&for_two(&local, owners, more));
                let tables = tables(&agreement, &data, number);
                let course = assert_released(&agreement, &tables, release.as_deref());
                assert!(release.is_none() || !course.is_empty() || number > 20, "{number}");
            }
        }
    }
}

#[test]
fn every_vector_by_max_is_released_by_parties_with_different_people_as_by_one() {
    let by_max = vectors().into_iter().filter(|(_, local, ..)| local.contains("score = \"max\""));
    let mut refused = 0;
    for (number, local, data, release) in by_max {
        let agreement = parse(&for_two_halves(&local));
        for seed in 0..if number <= 20 { 3 } else { 1 } {
            let tables = halves(&agreement, &data, number + seed);
            let course = assert_released(&agreement, &tables, release.as_deref());
            refused += course.iter().filter(|examined| !examined.performed).count();
        }
    }
    assert!(refused > 5, "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn random_tables_are_released_by_two_parties_as_by_one(
        rows in prop::collection::vec((0usize..5, 0u32..21, 0usize..2, 0usize..4, 0usize..2), 1..90),
        l in 1u32..4, k in 2u64..6, c in prop::sample::select(vec!["1", "0.5", "0.34", "0.7"]),
        score in prop::sample::select(vec![Score::InfoGain, Score::GainRatio, Score::Max]),
        owners in 1u32..15, seed: u64, rule: bool,
    ) {
        let mut local = text(l, k, c, score);
        if rule {
            // Several requirements, one of which names its attributes.
            let (own, c) = (format!("l = {l}\nk = {k}\nc = \"{c}\"\n"), format!("c = \"{c}\"\n"));
            let list = format!(
                "[[lkc.requirement]]\n{own}[[lkc.requirement]]\nattributes = [\"job\", \"age\"]\nk = {}\n{c}\
                 [class]\n", k + 1
            );
            local = local.replace(&own, "").replace("[class]\n", &list);
        }
        let alone = parse(&local);
        let csv = csv(&rows);
        let reading = Reading { schema: &alone.schema, owner: None, identifier: None, max_records: 200 };
        let table = parse_csv("t.csv", csv.as_bytes(), &reading, &|_| ()).unwrap();
        let expected = specialize(&alone.schema, terms(&alone), &table).ok().map(|made| {
            let mut csv = Vec::new();
            write_csv(&made.into_table().unwrap(), Rows::All, &mut csv).unwrap();
            String::from_utf8(csv).unwrap()
        });
        for more in ["", "profile = \"paper\""] {
            let agreement = parse(&for_two(&local, owners, more));
            let tables = tables(&agreement, &csv, seed);
            assert_released(&agreement, &tables, expected.as_deref());
        }
        if score == Score::Max {
            let agreement = parse(&for_two_halves(&local));
            let tables = halves(&agreement, &csv, seed);
            assert_released(&agreement, &tables, expected.as_deref());
        }
    }
}

/// What lengths of messages tell whoever watches the network: the course of the search, and of the tables
/// nothing else. The release does not tell it.
#[test]
fn lengths_tell_a_watcher_what_was_examined_and_refused_but_nothing_else_of_the_tables() {
    // Of eight people seven must have every value, so everything that is examined is refused. Ages that
    // are all the same have no split, and then age is not examined.
    let rows = |age: fn(usize) -> u32, class: fn(usize) -> usize| -> String {
        let row = |i: usize| (i % 5, age(i), i % 2, 2, class(i));
        csv(&(0..8).map(row).collect::<Vec<Row>>())
    };
    let halves_differ = |i: usize| i / 4;
    let same_age = rows(|_| 7, halves_differ);
    let ages = rows(|i| i as u32, halves_differ);
    let other_ages = rows(|i| 20 - i as u32, halves_differ);
    let security =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../SECURITY.md")).unwrap();
    let flowing = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "two tables with the same release but another refused value can be told apart";
    assert!(flowing(&security).contains(told), "SECURITY.md does not say: {told}");

    let local = text(2, 7, "1", Score::Max);
    for text in [for_two(&local, 0b0101, ""), for_two_halves(&local)] {
        let agreement = parse(&text);
        let words = flowing(&agreement.plain_words());
        let told = "the course of the search: which values were examined, in which order, and which of \
                    them were refused, as far as the sizes of their tests differ. Two tables with the \
                    same release can differ in it.";
        assert!(words.contains(told), "{words}");
        let seen = [&same_age, &ages, &other_ages].map(|csv| {
            let tables = match agreement.identifier() {
                Some(_) => tables(&agreement, csv, 1),
                None => halves(&agreement, csv, 1),
            };
            let outcome = together(&agreement, &tables);
            let (release, transcripts) = (bytes(&outcome.p1.unwrap()), outcome.transcripts);
            // Every message follows from the numbers of records and the course.
            (assert_released(&agreement, &tables, Some(&release)), transcripts, release)
        });
        let [(course, transcripts, release), (with_age, other, its_release), (again, same, third)] =
            seen;
        assert_eq!((&release, &release), (&its_release, &third));
        let refused = |course: &[Examined]| {
            let age = |one: &&Examined| one.made.candidate.attribute == 1;
            assert!(course.iter().all(|one| !one.performed));
            course.iter().filter(age).count()
        };
        assert_eq!((refused(&course), refused(&with_age)), (0, 1));
        assert_ne!(transcripts, other);
        assert_eq!((with_age, other), (again, same), "other ages, but the same course");
    }
}

/// Rows that lead to several specializations by either party.
fn some() -> (Agreement, Agreement, String) {
    let local = text(2, 2, "0.5", Score::InfoGain);
    let rows: Vec<_> = (0..40)
        .map(|i: usize| {
            (
                i % 5,
                (i * 7 % 21) as u32,
                i % 2,
                if i.is_multiple_of(4) { 0 } else { 2 },
                (i % 5 + i / 20) % 2,
            )
        })
        .collect();
    let [sealed, linked] =
        ["", "profile = \"paper\""].map(|more| parse(&for_two(&local, 0b0101, more)));
    (sealed, linked, csv(&rows))
}

/// Follows the protocol until this party may name a candidate, then says something else.
fn misbehave(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    say: &dyn Fn(&mut Workspace, usize),
) -> Result<(), Error> {
    run::prepare(session, agreement)?;
    let common = common_rows(session, agreement, ASSUMPTIONS, table, &|_| ())?;
    let table = table.select(&common.rows);
    compare_classes(session, agreement, &table)?;
    let mut side = Side::start(session.role, agreement, terms(agreement), &table)?;
    side.meet_at_top(session)?;
    while let Some(owner) = side.better(session)? {
        if owner == session.role {
            say(session, table.len());
            // The peer ends the run.
            let heard = session.channel.receive_bytes(Tag::new(*b"none"), 0);
            return Ok(heard.map(|_| ())?);
        }
        side.examine(session, owner)?;
    }
    panic!("this party never had the better candidate")
}

#[test]
fn a_peer_that_names_what_it_may_not_or_another_length_is_stopped_with_a_typed_error() {
    let (sealed, linked, csv) = some();
    let (named, children) = (Tag::new(*b"lkcn"), Tag::new(*b"lkcr"));
    type Said = (Tag, fn(usize) -> Vec<u8>);
    let place: Said = (named, |_| vec![0, 0, 0, 0]);
    let cases: [(&Agreement, &[Said]); 5] = [
        (&sealed, &[(named, |_| vec![200, 0, 0, 0])]),
        (&linked, &[(named, |_| vec![0, 0, 0, 1])]),
        (&sealed, &[(named, |_| vec![0, 0, 0, 0, 0])]),
        (&linked, &[place, (children, |people| vec![0; 2 * people - 2])]),
        (&linked, &[place, (children, |people| vec![0xff; 2 * people])]),
    ];
    for (number, (agreement, said)) in cases.into_iter().enumerate() {
        let tables = tables(agreement, &csv, 1);
        let say = |session: &mut Workspace, people: usize| {
            for (tag, body) in said {
                session.channel.send_bytes(*tag, &body(people)).unwrap();
            }
        };
        let outcome = run_workspaces(
            Setup::default(),
            |session| misbehave(session, agreement, &tables[0], &say).unwrap_err(),
            |session| {
                let prepared = run::prepare(session, agreement).unwrap();
                let made = run::together(session, agreement, &tables[1], None, prepared, &|_| ());
                session.conclude(made).unwrap_err()
            },
        );
        let hears = outcome.p2;
        match hears.blame() {
            Blame::Peer => assert!(hears.message().starts_with("the peer "), "{number}: {hears}"),
            Blame::Connection(
                net::Error::WrongLength { .. } | net::Error::FrameTooLarge { .. },
            ) => {}
            _ => panic!("{number}: {hears}"),
        }
        let told = outcome.p1;
        let Blame::Connection(net::Error::PeerAborted(reason)) = told.blame() else {
            panic!("{number}: {told}")
        };
        assert_eq!(*reason, AbortReason::BadMessage, "{number}");
    }
}

/// Follows the protocol until one of this party's candidates is found to be valid and `when` says that it
/// will do, then says something else than its split and its score.
fn misbehave_when_valid(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    when: &dyn Fn(&Specialization) -> bool,
    say: &dyn Fn(&mut Workspace, &Specialization),
) -> Error {
    run::prepare(session, agreement).unwrap();
    let common = common_rows(session, agreement, ASSUMPTIONS, table, &|_| ()).unwrap();
    let table = table.select(&common.rows);
    compare_classes(session, agreement, &table).unwrap();
    let mut side = Side::start(session.role, agreement, terms(agreement), &table).unwrap();
    side.meet_at_top(session).unwrap();
    while let Some(owner) = side.better(session).unwrap() {
        let made = best(&side.open).map(|place| side.open[place].made);
        let Some(made) = made.filter(|made| owner == session.role && when(made)) else {
            side.examine(session, owner).unwrap();
            continue;
        };
        let listed = side.shared.candidates(owner);
        let place = listed.iter().position(|known| *known == made.candidate).unwrap() as u32;
        session.channel.send(&Named { place }).unwrap();
        sealed::examine(session, &side, owner, made.candidate, Some(&made)).unwrap().unwrap();
        say(session, &made);
        return session
            .channel
            .receive_bytes(Tag::new(*b"none"), 0)
            .map(|_| ())
            .unwrap_err()
            .into();
    }
    panic!("this party never had such a candidate")
}

#[test]
fn a_peer_that_tells_an_impossible_split_or_score_is_stopped_with_a_typed_error() {
    let (sealed, _, csv) = some();
    let with_slack = |slack: &str| {
        let local = text(2, 2, "0.5", Score::InfoGain);
        let local = local.replace("[class]", &format!("slack = \"{slack}\"\n[class]"));
        parse(&for_two(&local, 0b0101, ""))
    };
    let split = Tag::new(*b"dgsp");
    let is_interval =
        |made: &Specialization| matches!(made.candidate.value, CutValue::Interval { .. });
    let against = |agreement: &Agreement,
                   when: &(dyn Fn(&Specialization) -> bool + Sync),
                   say: &(dyn Fn(&mut Workspace, &Specialization) + Sync)| {
        let tables = tables(agreement, &csv, 1);
        // The age is P2's.
        let outcome = run_workspaces(
            Setup::default(),
            |session| {
                let prepared = run::prepare(session, agreement).unwrap();
                let made = run::together(session, agreement, &tables[0], None, prepared, &|_| ());
                session.conclude(made).unwrap_err()
            },
            |session| misbehave_when_valid(session, agreement, &tables[1], when, say),
        );
        let told = outcome.p2;
        let Blame::Connection(net::Error::PeerAborted(reason)) = told.blame() else {
            panic!("{told}; {}", outcome.p1)
        };
        assert_eq!(*reason, AbortReason::BadMessage, "{}", outcome.p1);
        outcome.p1
    };
    for point in [0u32, 21, u32::MAX] {
        let error = against(&sealed, &is_interval, &|session, _| {
            session.channel.send_bytes(split, &point.to_le_bytes()).unwrap();
        });
        assert!(matches!(error.blame(), Blame::Peer), "{error}");
    }
    let short = against(&sealed, &is_interval, &|session, _| {
        session.channel.send_bytes(split, &[1]).unwrap();
    });
    assert!(matches!(short.blame(), Blame::Connection(_)), "{short}");
    let no_number = against(&with_slack("1"), &|_| true, &|session, made| {
        if let Some(point) = made.split {
            session.channel.send_bytes(split, &point.to_le_bytes()).unwrap();
        }
        session.channel.send(&Worth { above: 1, below: 0 }).unwrap();
    });
    assert_eq!(no_number.kind(), Kind::Peer);
    assert!(no_number.message().contains("told a score that is not a number"), "{no_number}");
}

#[test]
fn scores_that_a_party_told_are_compared_with_the_release() {
    let local = text(2, 2, "0.5", Score::GainRatio);
    let local = local.replace("[class]", "slack = \"1\"\n[class]");
    let (agreement, (_, _, csv)) = (parse(&for_two(&local, 0b0101, "")), some());
    let tables = tables(&agreement, &csv, 1);
    let honest = together(&agreement, &tables);
    let (p1, p2) = (honest.p1.unwrap(), honest.p2.unwrap());
    let by_p2 = |one: &&Examined| one.performed && one.made.candidate.attribute % 2 == 1;
    assert!(p1.course.iter().filter(by_p2).count() > 0 && bytes(&p1) == bytes(&p2));
    // A party with other scores of its own values: as if its ages were told by another rule.
    let by_gain = local.replace("\"gain-ratio\"", "\"info-gain\"");
    let other = parse(&for_two(&by_gain, 0b0101, ""));
    let outcome = run_workspaces(
        Setup::default(),
        |session| {
            let prepared = run::prepare(session, &agreement).unwrap();
            let made = run::together(session, &agreement, &tables[0], None, prepared, &|_| ());
            session.conclude(made).map(|_| ())
        },
        |session| -> Result<(), Error> {
            run::prepare(session, &agreement)?;
            let common = common_rows(session, &agreement, ASSUMPTIONS, &tables[1], &|_| ())?;
            let table = tables[1].select(&common.rows);
            compare_classes(session, &agreement, &table)?;
            let mut side = Side::start(session.role, &agreement, terms(&agreement), &table)?;
            // Its scores are of the other rule, and said to be of the agreed one.
            side.open = Side::start(session.role, &other, terms(&other), &table)?.open;
            side.own.score = Score::InfoGain;
            side.meet_at_top(session)?;
            while let Some(owner) = side.better(session)? {
                side.examine(session, owner)?;
            }
            side.count(session, &|_| ())?;
            session.channel.receive_bytes(Tag::new(*b"none"), 0)?;
            Ok(())
        },
    );
    let error = outcome.p1.unwrap_err();
    assert_eq!(error.kind(), Kind::Peer);
    assert!(error.message().contains("told a score that the release refutes"), "{error}");
    assert!(matches!(outcome.p2.unwrap_err().blame(), Blame::Connection(_)));
}

#[test]
fn an_answer_that_is_neither_yes_nor_no_is_malformed() {
    let (sealed, linked, csv) = some();
    // P2 has the sensitive attribute and says first whether the coarsest table is as required.
    for agreement in [&sealed, &linked] {
        let tables = tables(agreement, &csv, 1);
        let holder = |session: &mut Workspace, table: &Table| -> Result<(), Error> {
            run::prepare(session, agreement)?;
            let common = common_rows(session, agreement, ASSUMPTIONS, table, &|_| ())?;
            compare_classes(session, agreement, &table.select(&common.rows))?;
            session.channel.send_bytes(Met::TAG, &[7])?;
            session.channel.receive_bytes(Tag::new(*b"none"), 0)?;
            Ok(())
        };
        let outcome = run_workspaces(
            Setup::default(),
            |session| {
                let prepared = run::prepare(session, agreement).unwrap();
                let made = run::together(session, agreement, &tables[0], None, prepared, &|_| ());
                session.conclude(made).unwrap_err()
            },
            |session| holder(session, &tables[1]).unwrap_err(),
        );
        let error = outcome.p1;
        let malformed = matches!(error.blame(), Blame::Connection(net::Error::Malformed { tag, .. }) if *tag == Met::TAG);
        assert!(malformed, "{error}");
        let told = outcome.p2;
        let is_told = matches!(
            told.blame(),
            Blame::Connection(net::Error::PeerAborted(AbortReason::BadMessage))
        );
        assert!(is_told, "{told}");
    }
}

#[test]
fn a_peer_with_circuits_of_another_size_ends_a_horizontal_run_with_a_typed_error() {
    let local = text(2, 2, "0.5", Score::Max);
    let (_, _, csv) = some();
    let agreed = parse(&for_two_halves(&local));
    let tables = halves(&agreed, &csv, 1);
    for (from, to) in [
        ("max_records = 200", "max_records = 70000"),
        ("max = 20", "max = 19"),
        ("protect = [\"flu\", \"cold\"]", "protect = [\"flu\"]"),
        ("taxonomy = { All = [\"m\", \"f\"] }", "taxonomy = { All = [\"m\", \"f\", \"x\"] }"),
    ] {
        assert!(local.contains(from), "{from}");
        let other = parse(&for_two_halves(&local.replace(from, to)));
        let mut tables = tables.clone();
        let rows = halves(&other, &csv.replace(",20,", ",19,"), 1);
        tables[1] = rows[1].clone();
        let outcome = run_workspaces(
            Setup::default(),
            |session| {
                let made = run::prepare(session, &agreed).and_then(|prepared| {
                    run::together(session, &agreed, &tables[0], None, prepared, &|_| ())
                });
                session.conclude(made).map(|_| ())
            },
            |session| {
                let made = run::prepare(session, &other).and_then(|prepared| {
                    run::together(session, &other, &tables[1], None, prepared, &|_| ())
                });
                session.conclude(made).map(|_| ())
            },
        );
        let (Err(p1), Err(p2)) = (outcome.p1, outcome.p2) else { panic!("a release: {to}") };
        for error in [p1, p2] {
            assert!(matches!(error.blame(), Blame::Connection(_) | Blame::Peer), "{to}: {error}");
        }
    }
}

#[test]
fn what_could_not_be_tested_or_takes_longer_than_is_forecast_is_known_before_a_run() {
    use super::super::forecast::{beyond, check_cells, random_trees};
    let many: String = (0..3_000).map(|value| format!("\"v{value}\", ")).collect();
    let flat = format!("taxonomy = {{ All = [\"m\", \"f\", {many}] }}");
    // Either of two attributes can have thousands of values, but not both: the test of the second has
    // the cells of both.
    let local = text(2, 2, "0.5", Score::Max)
        .replace("max_records = 200", "max_records = 1000000")
        .replace("taxonomy = { All = [\"m\", \"f\"] }", &flat)
        .replace(
            "taxonomy = { Any = { A = [\"a1\", \"a2\"], B = [\"b1\", \"b2\", \"b3\"] } }",
            &flat,
        );
    for agreement in [parse(&for_two(&local, 0b0101, "")), parse(&for_two_halves(&local))] {
        let refused = check_cells(&agreement, terms(&agreement), 1_000_000);
        let refused = refused.unwrap_err();
        assert!(refused.message().contains("combinations of values"), "{refused}");
        check_cells(&agreement, terms(&agreement), 1_000).unwrap();
        let trees = random_trees(&agreement, terms(&agreement), 3, None).unwrap();
        assert!(beyond(&agreement, terms(&agreement), trees.last().unwrap()).unwrap() > 1);
    }
    let (sealed, ..) = some();
    let trees = random_trees(&sealed, terms(&sealed), 21, None).unwrap();
    // None of these is too large for a forecast; the one with most leaves need not be the longest.
    assert!(beyond(&sealed, terms(&sealed), trees.last().unwrap()).unwrap() <= 3);
}

#[test]
fn a_peer_that_stops_anywhere_leaves_a_typed_error_and_no_release() {
    let (sealed, linked, csv) = some();
    let halved = parse(&for_two_halves(&text(2, 2, "0.5", Score::Max)));
    for agreement in [&sealed, &linked, &halved] {
        let tables = match agreement.identifier() {
            Some(_) => tables(agreement, &csv, 1),
            None => halves(agreement, &csv, 1),
        };
        // Steps until everything was examined.
        let (steps, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let count = |step: Step| {
            let is_over = matches!(step, Step::Ended | Step::Began { phase: "count table", .. });
            over.fetch_or(is_over, Relaxed);
            steps.fetch_add(usize::from(!over.load(Relaxed)), Relaxed);
        };
        let run = |session: &mut Workspace, table: &Table, progress: &(dyn Fn(Step) + Sync)| {
            let made = run::prepare(session, agreement).and_then(|prepared| {
                run::together(session, agreement, table, None, prepared, progress)
            });
            session.conclude(made)
        };
        let honest = run_workspaces(
            Setup::default(),
            |session| run(session, &tables[0], &count),
            |session| run(session, &tables[1], &|_| ()),
        );
        assert!(honest.p1.is_ok() && honest.p2.is_ok());
        let steps = steps.load(Relaxed);
        for after in [0, steps / 2, steps - 1] {
            let party = |session: &mut Workspace, table: &Table, stop: Stop| {
                let left = AtomicUsize::new(after);
                let progress = |_: Step| {
                    if left.fetch_sub(1, Relaxed) == 0 {
                        stop.set();
                    }
                };
                session.channel.stop_on(stop.clone());
                run(session, table, &progress)
            };
            let outcome = run_workspaces(
                Setup::default(),
                |session| party(session, &tables[0], Stop::default()),
                |session| run(session, &tables[1], &|_| ()),
            );
            let (Err(p1), Err(p2)) = (outcome.p1, outcome.p2) else { panic!("a release") };
            assert!(matches!(p1.blame(), Blame::Connection(net::Error::Stopped)), "{p1}");
            assert!(matches!(p2.blame(), Blame::Connection(net::Error::PeerAborted(_))), "{p2}");
        }
    }
}

/// Names of what was made finer, in order.
fn performed(agreement: &Agreement, course: &[Examined]) -> Vec<String> {
    let mut cuts = Cuts::topmost(&agreement.schema);
    let mut names = Vec::new();
    for examined in course.iter().filter(|examined| examined.performed) {
        names.push(cuts.name(examined.made.candidate));
        cuts.specialize(&examined.made).unwrap();
    }
    names
}

/// The game paper's table, with parties that wait for each other: the traces of the offline rule.
#[test]
fn a_party_that_is_ahead_by_more_than_the_slack_waits_for_the_other() {
    let (_, local, data, _) = vectors().into_iter().find(|(number, ..)| *number == 15).unwrap();
    let with = |slack: &str| local.replace("beneficial", &format!("{slack}beneficial"));
    let places: Vec<usize> = ["sex", "job", "salary"]
        .map(|name| parse(&local).schema.attributes.iter().position(|a| a.name == name).unwrap())
        .to_vec();
    let owners = |first: &[usize]| first.iter().map(|name| 1 << places[*name]).sum::<u32>();
    for (first, slack, expected) in [
        // P1 has the sex alone, and job and salary wait for it; it has nothing after its one value.
        (&[0][..], "slack = \"0.01\"\n", &["[1..98]", "ANY"][..]),
        // P1 has sex and job, P2 the salary.
        (
            &[0, 1],
            "slack = \"0.01\"\n",
            &["[1..98]", "ANY", "Blue", "[1..36]", "ANY", "[37..98]", "White"],
        ),
    ] {
        for more in ["", "profile = \"paper\""] {
            let agreement = parse(&for_two(&with(slack), owners(first), more));
            let words = agreement.plain_words();
            assert!(words.contains("caught up") && words.contains("learn the score"), "{words}");
            let tables = tables(&agreement, &data, 1);
            let outcome = together(&agreement, &tables);
            let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
            assert_eq!(bytes(&p1), bytes(&p2));
            assert_eq!(performed(&agreement, &p1.course), expected);
            let release = bytes(&p1);
            assert_released(&agreement, &tables, Some(&release));
        }
    }
    // Much slack changes nothing.
    let agreement = parse(&for_two(&with("slack = \"100\"\n"), owners(&[0]), ""));
    let alone = vectors().into_iter().find(|(number, ..)| *number == 15).unwrap().3;
    assert_released(&agreement, &tables(&agreement, &data, 1), alone.as_deref());
}
