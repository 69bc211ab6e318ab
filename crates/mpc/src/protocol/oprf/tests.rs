use std::collections::BTreeSet;

use super::*;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::vole::Sets;

const TINY: Method = Method::Lpn(Sets::TINY);

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("key {i}")).collect()
}

type Values = Zeroizing<Vec<u128>>;

/// F of the sender's keys and of the receiver's own, with numbers 0 and 1.
fn evaluated(
    seed: u64,
    method: Method,
    sender: &[String],
    receiver: &[String],
) -> Outcome<[Values; 2], [Values; 2]> {
    run_pair(
        Setup::default().seed(seed),
        |session| {
            let keys = hash_keys(session, Role::P1, sender);
            let function = Sender::setup(session, method, receiver.len()).unwrap();
            [0, 1].map(|number| function.evaluate(number, &keys))
        },
        |session| {
            let keys = hash_keys(session, Role::P1, receiver);
            let function = Receiver::setup(session, method, &keys).unwrap();
            [0, 1].map(|number| function.outputs(number, &keys))
        },
    )
}

/// The ideal function: equal where keys and numbers are, and random: no two values are equal otherwise.
#[test]
fn values_are_equal_where_keys_are_and_nowhere_else() {
    for (sender, receiver) in [(0..1, 0..1), (0..40, 20..30), (0..700, 650..1_050), (5..5, 0..3)] {
        for method in [TINY, Method::Direct] {
            let (a, b) = (names(sender.clone()), names(receiver.clone()));
            let outcome = evaluated(1, method, &a, &b);
            let mut all = BTreeSet::new();
            for number in [0, 1] {
                for (name, value) in b.iter().zip(outcome.p2[number].iter()) {
                    let place = a.iter().position(|other| other == name);
                    let theirs = place.map(|place| outcome.p1[number][place]);
                    assert!(theirs.is_none_or(|theirs| theirs == *value), "{name}");
                    assert!(all.insert(*value));
                }
                let own = outcome.p1[number].iter().zip(&a).filter(|(_, name)| !b.contains(name));
                assert!(own.into_iter().all(|(value, _)| all.insert(*value)));
            }
            assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
                forecast(f, Role::P1, method, b.len());
            });
        }
    }
}

#[test]
fn another_session_is_another_function() {
    let keys = names(0..3);
    let (one, two) = (evaluated(2, TINY, &keys, &keys), evaluated(3, TINY, &keys, &keys));
    assert!(one.p1[0].iter().zip(two.p1[0].iter()).all(|(one, two)| one != two));
}

#[test]
fn messages_depend_on_the_number_of_keys_alone() {
    let keys = [names(0..400), names(300..700), (0..400).map(|i| "x".repeat(i + 1)).collect()];
    assert_same_shape(&keys, |keys| evaluated(4, TINY, &names(0..5), keys));
}

#[test]
fn keys_that_repeat_are_refused_before_anything_is_sent() {
    let outcome = run_pair(
        Setup::default(),
        |session| Sender::setup(session, Method::Direct, 2).err().unwrap(),
        |session| {
            let keys = hash_keys(session, Role::P1, &["a", "a"]);
            Receiver::setup(session, Method::Direct, &keys).err().unwrap()
        },
    );
    assert!(outcome.p2.says("Internal", "no store holds"), "{}", outcome.p2);
    assert_eq!(outcome.transcripts.p2, []);
    assert!(matches!(outcome.p1.blame(), crate::net::Blame::Connection(_)), "{}", outcome.p1);
}

#[test]
fn messages_of_the_wrong_length_are_typed_errors() {
    for (seed, store, due) in [(15, 0, 16), (16, 67 * 16 - 1, 67 * 16)] {
        let outcome = run_pair(
            Setup::default(),
            |session| Sender::setup(session, Method::Direct, 1).err().unwrap(),
            |session| {
                vole::receive(session, Method::Direct, 67).unwrap();
                session.channel.send_bytes(SEED, &vec![0; seed]).unwrap();
                session.channel.send_bytes(STORE, &vec![0; store]).ok();
            },
        );
        assert_wrong_length(&outcome.p1, due, if seed == 15 { 15 } else { store });
    }
}
