//! Two parties against each alone: the same table comes out that one would make of both parts, nothing
//! is said that does not follow from it and the two lists, and nothing else is taken from a peer.

use std::collections::{BTreeMap, BTreeSet};

use super::super::union::{Extent, Part};
use super::super::wire::{self, ListSize, Pair, PartSize};
use super::*;
use crate::Error;
use crate::agreement::{Agreement, Model};
use crate::error::Kind;
use crate::net::{self, AbortReason, Blame, Message, Tag};
use crate::protocol::Workspace;
use crate::protocol::pair::{Outcome as Ran, Setup, assert_forecast, run_workspaces};
use crate::release::forecast::Records;
use crate::release::tree::output::{Rows, write_csv};
use crate::release::{self, Outcome, run};
use crate::role::Role;

const LISTS: Tag = Tag::new(*b"trjs");
const PARTS: Tag = Tag::new(*b"trjr");

fn agreement(terms: &str, overlap: bool) -> Agreement {
    let party = |(party, digit): (&str, &str)| {
        let fingerprint = digit.repeat(64);
        format!("[parties.{party}]\nname = \"{party}\"\nfingerprint = \"sha256:{fingerprint}\"\n")
    };
    let mut text = format!(
        "[release]\nid = \"rides\"\npartition = \"horizontal\"\nmodel = \"trajectory\"\nmax_records = 90\n\
         overlap_check = {overlap}\n[trajectory]\nacknowledge = \"not differentially private\"\n{terms}\n\
         protect = [\"AIDS\"]\nid = \"id\"\n[class]\ncolumn = \"ill\"\n\
         values = [\"None\", \"AIDS\", \"Flu\", \"Fever\", \"Diabetes\"]\n"
    );
    text += &[("p1", "1"), ("p2", "2")].map(party).concat();
    if overlap {
        text += "[id]\ncolumn = \"id\"\nnormalize = [\"uppercase\"]\n";
    }
    Agreement::parse("a.toml", text.as_bytes(), &|_| Err(String::new())).unwrap()
}

fn usual() -> Agreement {
    agreement("l = 2\nk = 2\nc = \"0.5\"\nsupport = \"0.25\"", false)
}

fn terms(agreement: &Agreement, people: usize) -> Terms {
    match &agreement.model {
        Model::Trajectory(terms) => Terms::of(terms, people as u64),
        _ => panic!("paths"),
    }
}

fn paths(agreement: &Agreement, rows: &[(&str, &str)]) -> Paths {
    let rows: String =
        (1..).zip(rows).map(|(id, (path, ill))| format!("i{id},{path},{ill}\n")).collect();
    let form = release::form_of_paths(agreement).unwrap();
    read(&format!("id,path,ill\n{rows}"), &form).unwrap()
}

fn part(agreement: &Agreement, rows: &[(&str, &str)]) -> Part {
    Part::new(agreement, &paths(agreement, rows), &|_| ()).unwrap()
}

/// Table 4.1 of the thesis.
const TABLE: [(&str, &str); 8] = [
    ("b2>d3>c4>f6>c7", "AIDS"),
    ("f6>c7>e8", "Flu"),
    ("d3>c4>f6>e8", "Fever"),
    ("b2>c5>c7>e8", "Flu"),
    ("d3>c7>e8", "Fever"),
    ("c5>f6>e8", "Diabetes"),
    ("b2>f6>c7>e8", "Diabetes"),
    ("b2>c5>f6>c7", "AIDS"),
];
/// Of another party: b2 and g9 are frequent there, c5 is not.
const OTHER: [(&str, &str); 6] = [
    ("b2>f6", "Flu"),
    ("b2>f6>g9", "AIDS"),
    ("b2>g9", "None"),
    ("f6>g9", "Flu"),
    ("c5>f6", "None"),
    ("f6", "Fever"),
];

/// How many people have each path and value.
type Counted = BTreeMap<(Vec<Pair>, usize), u64>;

/// One party's paths as they come out, and the pairs that are taken out: by one party alone.
fn alone(agreement: &Agreement, paths: &Paths) -> Result<(Counted, BTreeSet<Pair>), Error> {
    let made = anonymize(paths, &terms(agreement, paths.len()))?;
    let taken = made.suppressed.iter().map(|one| paths.pairs[one.pair as usize].clone()).collect();
    Ok((counted(&made.paths), taken))
}

fn counted(paths: &Paths) -> Counted {
    let mut counted = Counted::new();
    for row in 0..paths.rows() {
        let path = paths.of(row).iter().map(|pair| paths.pairs[*pair as usize].clone()).collect();
        *counted.entry((path, paths.sensitive[row] as usize)).or_default() +=
            u64::from(paths.people[row]);
    }
    counted
}

/// What both parties should have: nothing where one of them has nothing to release.
fn ideal(agreement: &Agreement, parties: [&Paths; 2]) -> Option<Counted> {
    let made: Result<Vec<_>, _> = parties.into_iter().map(|one| alone(agreement, one)).collect();
    let made = made.ok()?;
    let taken: BTreeSet<&Pair> = made.iter().flat_map(|(_, taken)| taken).collect();
    let mut all = Counted::new();
    for (counted, _) in &made {
        let (mut people, mut told) = (0, 0);
        for ((path, value), count) in counted {
            let path: Vec<Pair> =
                path.iter().filter(|pair| !taken.contains(pair)).cloned().collect();
            if !path.is_empty() {
                *all.entry((path, *value)).or_default() += count;
                people += count;
                told += if *value == 1 { *count } else { 0 };
            }
        }
        let Terms { k, c: (above, below), .. } = terms(agreement, 1);
        if people < k || told * below > people * above {
            return None;
        }
    }
    Some(all)
}

/// The bytes of a release.
fn csv(agreement: &Agreement, counted: &Counted) -> String {
    let mut csv = "path,ill,count\n".to_owned();
    for ((path, value), count) in counted {
        let path: Vec<String> = path.iter().map(|(time, place)| format!("{place}{time}")).collect();
        let value = &agreement.schema.class.values[*value];
        csv += &format!("{},{value},{count}\n", path.join(">"));
    }
    csv
}

fn bytes(outcome: &Outcome) -> String {
    let mut csv = Vec::new();
    write_csv(&outcome.release.table, Rows::All, &mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

type Made = Result<Outcome, Error>;

fn run_one(session: &mut Workspace, agreement: &Agreement, part: &Part) -> Made {
    let made = run::prepare(session, agreement)
        .and_then(|prepared| run::together(session, agreement, part, None, prepared, &|_| ()));
    session.conclude(made)
}

fn run_both(agreement: &Agreement, parts: [&Part; 2]) -> Ran<Made, Made> {
    run_workspaces(
        Setup::default(),
        |session| run_one(session, agreement, parts[0]),
        |session| run_one(session, agreement, parts[1]),
    )
}

/// Runs two parties and sees that both have the release, or none; that what they said was foretold by
/// its extent; and that a party could have made up what it heard from the release and the lists.
#[expect(clippy::unwrap_in_result, reason = "none is a refusal that was expected")]
fn assert_released(agreement: &Agreement, parties: [&Paths; 2]) -> Option<String> {
    let expected = ideal(agreement, parties);
    let parts = parties.map(|paths| Part::new(agreement, paths, &|_| ()));
    let [Ok(first), Ok(second)] = &parts else {
        assert!(expected.is_none());
        return None;
    };
    let ran = run_both(agreement, [first, second]);
    let (p1, p2) = match (ran.p1, ran.p2) {
        (Ok(p1), Ok(p2)) => (p1, p2),
        (Err(p1), Err(p2)) => {
            let left = |error: &Error| error.kind() == Kind::Unmet;
            assert!(expected.is_none() && (left(&p1) || left(&p2)), "{p1}; {p2}");
            return None;
        }
        _ => panic!("one party has a release"),
    };
    let expected = expected.unwrap();
    let csv = csv(agreement, &expected);
    assert_eq!((bytes(&p1), bytes(&p2)), (csv.clone(), csv.clone()));
    assert_eq!(p1.paths, [p2.paths[1], p2.paths[0]]);
    let sizes = parties.map(Paths::len);
    let is_counted = agreement.identifier().is_some();
    assert_forecast(&ran.transcripts, &ran.costs, |f| {
        let (own, peer) = if is_counted { (sizes[0], sizes[1]) } else { (0, 0) };
        let records = Records { own, peer, common: 0, paths: p1.paths };
        let records = if f.role() == Role::P1 { records } else { records.turned() };
        release::forecast::prepare(f, agreement).unwrap();
        release::forecast::together(f, agreement, records, &[]).unwrap();
    });
    // The release less its own rows is all that a party was sent.
    let lists =
        parties.map(|paths| alone(agreement, paths).unwrap().1.into_iter().collect::<Vec<_>>());
    let left = |part: &Part, list| part.without(list, &terms(agreement, 1)).unwrap();
    let left = [left(first, &lists[1]), left(second, &lists[0])];
    for (own, peer) in [(0, 1), (1, 0)] {
        let mut rest = expected.clone();
        for (row, count) in counted(&left[own]) {
            *rest.get_mut(&row).unwrap() -= count;
        }
        rest.retain(|_, count| *count > 0);
        assert_eq!(rest, counted(&left[peer]));
        let extent = Extent { taken: ListSize::of(&lists[peer]), part: PartSize::of(&left[peer]) };
        assert_eq!([&p1, &p2][own].paths[1], extent);
    }
    let seen = release::examine::released(agreement, csv.as_bytes()).unwrap();
    assert!(seen.checked.unwrap().contains("every set of pairs is as agreed"));
    Some(csv)
}

#[test]
fn the_worked_examples_of_two_parties_are_those_of_each_together() {
    let agreement = usual();
    let [first, second] = [&TABLE[..], &OTHER[..]].map(|rows| paths(&agreement, rows));
    // The thesis' table loses c4 and b2; the other party's c5 alone, and both lose all three.
    assert_eq!(part(&agreement, &OTHER).extent().taken, ListSize { pairs: 1, names: 1 });
    let released = assert_released(&agreement, [&first, &second]).unwrap();
    assert!(!released.contains("b2") && !released.contains("c5") && !released.contains("c4"));
    assert!(
        released.contains("f6>g9,AIDS,1\n") && released.contains("f6>c7,AIDS,1\n"),
        "{released}"
    );
    assert_released(&agreement, [&second, &first]);
    // The same people twice are twice as many, as nobody counts them.
    let twice = assert_released(&agreement, [&first, &first]).unwrap();
    assert!(twice.contains("d3>f6>c7,AIDS,2\n"), "{twice}");
    for (l, k, c) in [(3, 2, "0.5"), (2, 4, "1"), (1, 2, "0.75")] {
        let terms = format!("l = {l}\nk = {k}\nc = \"{c}\"\nsupport = \"0.25\"");
        assert_released(&self::agreement(&terms, false), [&first, &second]);
    }
}

/// What lengths of messages tell whoever watches the network: how long both lists and both parts are, and
/// nothing else. The release does not tell it.
#[test]
fn lengths_tell_a_watcher_how_long_lists_and_parts_are_but_not_what_is_in_them() {
    let agreement = usual();
    let words = agreement.plain_words().split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "how many bytes each party's list of pairs that it took out has, and how many its \
                anonymized paths: so about how many pairs and rows there are and, where the names of \
                places differ in length, sometimes which place was taken out.";
    assert!(words.contains(told), "{words}");
    let security =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../SECURITY.md")).unwrap();
    let told = "names of places of different lengths can tell which place was taken out";
    let security = security.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(security.contains(told), "SECURITY.md does not say: {told}");

    let other = paths(&agreement, &OTHER);
    let seen = ["x2>f6", "bridge2>f6", "y3>f6"].map(|rare| {
        let rows = [("f6", "Flu"), ("f6", "Fever"), ("f6", "None"), (rare, "Flu")];
        let parties = [&paths(&agreement, &rows), &other];
        let parts = parties.map(|paths| Part::new(&agreement, paths, &|_| ()).unwrap());
        let ran = run_both(&agreement, parts.each_ref());
        (assert_released(&agreement, parties).unwrap(), ran.transcripts)
    });
    let [(release, transcripts), (its_release, of_long_name), (third, of_short_name)] = seen;
    assert_eq!((&release, &release), (&its_release, &third));
    assert_ne!(transcripts, of_long_name);
    assert_eq!(transcripts, of_short_name, "another pair of a name as long");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn random_paths_of_two_parties_are_those_of_each_together(
        rows in prop::collection::vec((0u32..1 << 7, 0usize..5, any::<bool>()), 8..80),
        l in 1usize..4, k in 2u64..4, c in prop::sample::select(vec!["1", "0.5", "0.4"]),
        score in prop::sample::select(vec!["gain-per-loss", "gain", "loss"]),
    ) {
        let terms = format!("l = {l}\nk = {k}\nc = \"{c}\"\nsupport = \"0.1\"\nscore = \"{score}\"");
        let agreement = agreement(&terms, false);
        let mut parties: [Vec<(String, &str)>; 2] = Default::default();
        for (bits, ill, second) in rows {
            let times = (0..6).filter(|time| bits >> time & 1 == 1);
            let place = if bits >> 6 & 1 == 1 { "a" } else { "b" };
            let path: Vec<String> = times.map(|time| format!("{place}{time}")).collect();
            let value = ["None", "AIDS", "Flu", "Flu", "Fever"][ill];
            parties[usize::from(second)].push((path.join(">"), value));
        }
        let parties = parties.each_ref().map(|rows| {
            let rows: Vec<(&str, &str)> = rows.iter().map(|(path, ill)| (path.as_str(), *ill)).collect();
            paths(&agreement, &rows)
        });
        assert_released(&agreement, parties.each_ref());
    }
}

#[test]
fn people_in_both_tables_are_found_and_there_is_no_release() {
    let agreement = agreement("l = 1\nk = 2", true);
    let form = release::form_of_paths(&agreement).unwrap();
    let table = |first: &str| {
        let text = format!("id,path,ill\n{first},a1,Flu\ns{first},a1,Flu\nx{first},a1>b2,None\n");
        read(&text, &form).unwrap()
    };
    let released = assert_released(&agreement, [&table("m"), &table("n")]).unwrap();
    assert_eq!(released, "path,ill,count\na1,None,2\na1,Flu,4\n");
    // By the agreed rule the same people.
    let [one, two] = ["m", "M"].map(|first| Part::new(&agreement, &table(first), &|_| ()).unwrap());
    let ran = run_both(&agreement, [&one, &two]);
    for made in [ran.p1, ran.p2] {
        let refused = made.unwrap_err();
        assert_eq!(refused.kind(), Kind::Input);
        assert!(refused.message().starts_with("3 people are in both tables"), "{refused}");
    }
    let twice = read("id,path,ill\na,a1,Flu\nA,a1,Flu\nb,a1,None\n", &form).unwrap();
    let refused = Part::new(&agreement, &twice, &|_| ()).unwrap_err().to_string();
    assert!(refused.contains("does not tell people apart"), "{refused}");
    let unread = Form { identified: false, ..form };
    let unread = read("id,path,ill\na,a1,Flu\nb,a1,Flu\n", &unread).unwrap();
    let refused = Part::new(&agreement, &unread, &|_| ()).unwrap_err().to_string();
    assert!(refused.contains("read without identifiers"), "{refused}");
}

#[test]
fn what_is_not_as_required_without_the_others_pairs_ends_the_run_on_both_sides() {
    let agreement = usual();
    // Each is as required alone; without a1, which is rare at the other, the first has nobody left.
    let (first, second) =
        ([("a1", "Flu"), ("a1", "None")], [("b2", "Flu"), ("b2", "None"), ("a1>b2", "None")]);
    let (first, second) = (part(&agreement, &first), part(&agreement, &second));
    let ran = run_both(&agreement, [&first, &second]);
    let (Err(here), Err(there)) = (ran.p1, ran.p2) else { panic!("a release") };
    assert_eq!(here.kind(), Kind::Unmet, "{here}");
    let Blame::Connection(net::Error::PeerAborted(reason)) = there.blame() else {
        panic!("{there}")
    };
    assert_eq!(*reason, AbortReason::Stopped);
}

#[test]
fn what_two_parties_cannot_release_is_refused_at_home() {
    let agreement = usual();
    let form = release::form_of_paths(&agreement).unwrap();
    let refused = |text: &str| {
        let paths = read(text, &form).unwrap();
        Part::new(&agreement, &paths, &|_| ()).unwrap_err().to_string()
    };
    let said = refused("id,path,ill\n1,a1,AIDS\n2,a1,AIDS\n");
    assert!(said.contains("2 of 2 have AIDS"), "{said}");
    let said = refused("id,path,ill\n1,a1,Flu\n2,b1,Flu\n");
    assert!(said.contains("0 paths are fewer than k = 2"), "{said}");
    let said = refused("id,path,ill\n1,x\u{7}y@1,Flu\n2,x\u{7}y@1,Flu\n");
    assert!(said.contains("`x\\u{7}y` at 1 cannot be released by two parties"), "{said}");
}

/// A part, and a peer of that part that says something by hand.
fn against(say: &(dyn Fn(&mut Workspace, &Part) + Sync)) -> Error {
    let agreement = usual();
    let (first, second) = (part(&agreement, &TABLE), part(&agreement, &OTHER));
    let ran = run_workspaces(
        Setup::default(),
        |session| run_one(session, &agreement, &first).unwrap_err(),
        |session| {
            say(session, &second);
            match session.channel.receive_bytes(Tag::new(*b"none"), 0) {
                Err(net::Error::PeerAborted(reason)) => reason,
                other => panic!("the run goes on: {other:?}"),
            }
        },
    );
    assert_eq!(ran.p2, AbortReason::BadMessage, "{}", ran.p1);
    ran.p1
}

fn hear<M: Message>(session: &mut Workspace) -> M {
    session.channel.receive().unwrap()
}

/// Follows the protocol until parts are sent.
fn until_parts(session: &mut Workspace, part: &Part) -> Paths {
    let agreement = usual();
    let list: Vec<Pair> =
        alone(&agreement, &paths(&agreement, &OTHER)).unwrap().1.into_iter().collect();
    let taken = send_list(session, ListSize::of(&list), &wire::write_list(&list));
    part.without(&taken, &terms(&agreement, 1)).unwrap()
}

/// Sends a list as it is, and hears the other's.
fn send_list(session: &mut Workspace, size: ListSize, bytes: &[u8]) -> Vec<Pair> {
    session.channel.send(&size).unwrap();
    let size: ListSize = hear(session);
    session.channel.send_bytes(LISTS, bytes).unwrap();
    let heard = session.channel.receive_bytes(LISTS, size.bytes()).unwrap();
    wire::read_list(&heard, size).unwrap()
}

/// Sends a part as it is.
fn send_part(session: &mut Workspace, size: PartSize, bytes: &[u8]) {
    session.channel.send(&size).unwrap();
    let peer: PartSize = hear(session);
    session.channel.send_bytes(PARTS, bytes).unwrap();
    session.channel.receive_bytes(PARTS, peer.bytes()).unwrap();
}

#[test]
fn a_peer_that_lists_what_cannot_be_is_stopped_before_anything_is_allocated() {
    let many = ListSize { pairs: u32::MAX, names: 1 };
    let long = ListSize { pairs: 1, names: u32::MAX };
    for size in [many, long] {
        let error = against(&|session, _| {
            session.channel.send(&size).unwrap();
            let _: ListSize = hear(session);
        });
        assert_eq!(error.kind(), Kind::Peer, "{error}");
    }
    let pair = |time: u64, place: &str| (time, place.to_owned());
    for list in [
        vec![pair(2, "b"), pair(1, "a")],
        vec![pair(1, "a"), pair(1, "a")],
        vec![pair(1, "a>b")],
        vec![pair(1, " a")],
        vec![pair(1, "")],
        vec![pair(1, "a\n")],
    ] {
        let error = against(&|session, _| {
            send_list(session, ListSize::of(&list), &wire::write_list(&list));
        });
        assert_eq!(error.kind(), Kind::Peer, "{list:?}: {error}");
    }
    let one = ListSize { pairs: 1, names: 1 };
    let short = against(&|session, _| {
        send_list(session, one, &[0; 12]);
    });
    assert!(matches!(short.blame(), Blame::Connection(net::Error::WrongLength { .. })), "{short}");
    let garbled = against(&|session, _| {
        send_list(session, one, &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xff]);
    });
    assert_eq!(garbled.kind(), Kind::Peer, "{garbled}");
}

#[test]
fn a_peer_whose_part_is_not_one_is_stopped_with_a_typed_error() {
    // A change of its size, and one of its bytes.
    type Changed = (fn(&mut PartSize), fn(&mut Vec<u8>, PartSize));
    let changes: [Changed; 11] = [
        (|size| size.rows = 91, |_, _| ()),
        (|size| size.rows = 0, |_, _| ()),
        (|size| size.items = u32::MAX, |_, _| ()),
        (|size| size.pairs.pairs = u32::MAX, |_, _| ()),
        // A path without a pair, and one that does not end.
        (|_| (), |bytes, size| bytes[size.pairs.bytes()] = 0),
        (|_| (), |bytes, size| bytes[size.pairs.bytes()] = 200),
        // A class that is not agreed.
        (|_| (), |bytes, size| bytes[size.pairs.bytes() + 2 * size.rows as usize] = 5),
        // Nobody, and too many.
        (|_| (), |bytes, size| bytes[size.pairs.bytes() + 3 * size.rows as usize] = 0),
        (|_| (), |bytes, size| bytes[size.pairs.bytes() + 3 * size.rows as usize] = 91),
        // A pair that is not listed.
        (|_| (), |bytes, _| *bytes.last_mut().unwrap() = 9),
        // A place that is none.
        (|_| (), |bytes, size| bytes[12 * size.pairs.pairs as usize] = b'>'),
    ];
    for (number, (of_size, of_bytes)) in changes.into_iter().enumerate() {
        let error = against(&|session, part| {
            let left = until_parts(session, part);
            let (mut size, mut bytes) = (PartSize::of(&left), wire::write_part(&left));
            of_bytes(&mut bytes, size);
            of_size(&mut size);
            match size == PartSize::of(&left) {
                true => send_part(session, size, &bytes),
                false => {
                    session.channel.send(&size).unwrap();
                    let _: PartSize = hear(session);
                }
            }
        });
        assert_eq!(error.kind(), Kind::Peer, "{number}: {error}");
    }
    let short = against(&|session, part| {
        let left = until_parts(session, part);
        send_part(session, PartSize::of(&left), &wire::write_part(&left)[1..]);
    });
    assert!(matches!(short.blame(), Blame::Connection(net::Error::WrongLength { .. })), "{short}");
}

#[test]
fn a_peer_whose_paths_are_not_as_required_is_stopped_with_a_typed_error() {
    let broken = |rows: &[(&str, &str)]| {
        let paths = paths(&usual(), rows).compact();
        let error = against(&|session, part| {
            until_parts(session, part);
            send_part(session, PartSize::of(&paths), &wire::write_part(&paths));
        });
        assert_eq!(error.kind(), Kind::Peer, "{error}");
        error.message().to_owned()
    };
    // Its paths as they were, with what this party took out and what it took out itself.
    assert!(broken(&OTHER).contains("a pair that was taken out"));
    assert!(broken(&[("c5", "Flu"), ("c5", "Flu")]).contains("a pair that was taken out"));
    assert!(broken(&[("f6", "Flu")]).contains("1 paths are fewer than k = 2"));
    assert!(broken(&[("f6", "AIDS"), ("f6", "AIDS"), ("f6", "Flu")]).contains("2 of 3 have AIDS"));
    let said = broken(&[("f6", "Flu"), ("f6", "Flu"), ("f6>g9", "Flu")]);
    assert!(said.contains("too few people have g9"), "{said}");
}

proptest! {
    #[test]
    fn parts_are_read_as_they_were_written_and_nothing_else_makes_them_panic(
        rows in prop::collection::vec((1u32..1 << 6, 0usize..5), 1..40),
        changes in prop::collection::vec((any::<u16>(), any::<u8>()), 0..4),
        lengths in (0u32..200, 0u32..200, 0u32..200, 0u32..400), noise in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let agreement = usual();
        let text: Vec<(String, &str)> = rows.iter().map(|(bits, ill)| {
            let times = (0..6).filter(|time| bits >> time & 1 == 1);
            let path: Vec<String> = times.map(|time| format!("Main St. {time}@{time}")).collect();
            (path.join(">"), ["None", "AIDS", "Flu", "Fever", "Diabetes"][*ill])
        }).collect();
        let text: Vec<(&str, &str)> = text.iter().map(|(path, ill)| (path.as_str(), *ill)).collect();
        let paths = paths(&agreement, &text).compact();
        let names = || Paths { values: paths.values.clone(), protected: paths.protected.clone(), ..Paths::default() };
        let (size, mut bytes) = (PartSize::of(&paths), wire::write_part(&paths));
        prop_assert_eq!(bytes.len(), size.bytes());
        prop_assert_eq!(wire::read_part(&bytes, size, 90, names()).unwrap(), Paths { identifiers: Vec::new(), ..paths.clone() });
        let list = wire::write_list(&paths.pairs);
        prop_assert_eq!(&wire::read_list(&list, size.pairs).unwrap(), &paths.pairs);
        for (place, value) in changes {
            let place = usize::from(place) % bytes.len();
            bytes[place] = value;
        }
        if let Ok(read) = wire::read_part(&bytes, size, 90, names()) {
            // There is one way to write what was read.
            prop_assert_eq!(wire::write_part(&read), bytes);
        }
        let (pairs, name_bytes, rows, items) = lengths;
        let size = PartSize { pairs: ListSize { pairs, names: name_bytes }, rows, items };
        prop_assert!(wire::read_part(&noise, size, 90, names()).is_err());
        let _ = wire::read_list(&noise, size.pairs);
    }
}
