use super::*;
use crate::math::Randomness;
use crate::protocol::pair::{Outcome, Setup, assert_same_shape, assert_wrong_length, run_pair};

fn bits(count: usize, seed: u64) -> Vec<bool> {
    let mut rng = Randomness::seeded(seed);
    (0..count).map(|_| rng.array::<1>()[0] & 1 == 1).collect()
}

fn run<A: Send, B: Send>(
    send: impl FnOnce(&mut Session, &mut Sender) -> A + Send,
    receive: impl FnOnce(&mut Session, &mut Receiver) -> B + Send,
) -> Outcome<A, B> {
    run_pair(
        Setup::default().seed(3),
        |session| {
            let delta = Delta::random(&mut session.rng);
            let mut sender = Sender::setup(session, delta).unwrap();
            send(session, &mut sender)
        },
        |session| {
            let mut receiver = Receiver::setup(session).unwrap();
            receive(session, &mut receiver)
        },
    )
}

#[test]
fn chosen_transfers_are_the_ideal_function_over_several_chunks() {
    for count in [0, 1, 127, 128, 129, CHUNK + 5] {
        let pairs: Vec<[u128; 2]> =
            (0..count as u128).map(|i| [i * 3, i * 5 + (1 << 100)]).collect();
        let choices = bits(count, 1);
        let outcome = run(
            |session, sender| sender.chosen(session, &pairs).unwrap(),
            |session, receiver| receiver.chosen(session, &choices).unwrap(),
        );
        assert_eq!(outcome.p2, ideal(&pairs, &choices), "{count} transfers");
    }
}

#[test]
fn correlated_transfers_differ_by_delta_and_random_ones_do_not() {
    let choices = bits(1000, 2);
    let outcome = run(
        |session, sender| {
            let correlated = sender.correlated(session, 1000).unwrap();
            let random = sender.random(session, 1000).unwrap();
            (correlated, random, sender.delta().expose())
        },
        |session, receiver| {
            let correlated = receiver.correlated(session, &choices).unwrap();
            (correlated, receiver.random(session, &choices).unwrap())
        },
    );
    let (q, random, delta) = outcome.p1;
    let pairs: Vec<[u128; 2]> = q.iter().map(|q| [*q, q ^ delta]).collect();
    assert_eq!(outcome.p2.0, ideal(&pairs, &choices));
    assert_eq!(outcome.p2.1, ideal(&random, &choices));
    assert!(random.iter().all(|[a, b]| a ^ b != delta));
}

#[test]
fn the_transcript_has_the_same_shape_for_all_choices() {
    assert_same_shape(&[1, 2, 3], |seed| {
        let choices = bits(300, *seed);
        run(
            |session, sender| sender.chosen(session, &vec![[0, u128::from(*seed)]; 300]).unwrap(),
            move |session, receiver| receiver.chosen(session, &choices).unwrap(),
        )
    });
}

#[test]
fn messages_of_the_wrong_length_are_typed_errors() {
    let outcome = run(
        |session, sender| sender.correlated(session, 128).unwrap_err(),
        |session, _| session.channel.send_bytes(COLUMNS, &[0; 100]).unwrap(),
    );
    assert_wrong_length(&outcome.p1, 2048, 100);

    let outcome = run(
        |session, sender| {
            sender.correlated(session, 128).unwrap();
            session.channel.send_bytes(CIPHERTEXTS, &[0; 31]).unwrap();
        },
        |session, receiver| receiver.chosen(session, &[true; 128]).unwrap_err(),
    );
    assert_wrong_length(&outcome.p2, 4096, 31);

    let short_setup = run_pair(
        Setup::default(),
        |session| Sender::setup(session, Delta::new(0)).err().unwrap(),
        |session| session.channel.send_bytes(BASE_PUBLIC, &[1; 31]).unwrap(),
    );
    assert_wrong_length(&short_setup.p1, 32, 31);
}

#[test]
fn an_identity_in_the_base_transfers_is_a_typed_error() {
    let outcome = run_pair(
        Setup::default(),
        |session| Sender::setup(session, Delta::new(0)).err().unwrap(),
        |session| session.channel.send_bytes(BASE_PUBLIC, &[0; 32]).unwrap(),
    );
    assert!(outcome.p1.says("Peer", "a group element of the base transfers"));
    let outcome = run_pair(
        Setup::default(),
        |session| {
            session.channel.receive_bytes(BASE_PUBLIC, 32).unwrap();
            session.channel.send_bytes(BASE_ANSWERS, &[0; 32 * BASE_TRANSFERS]).unwrap();
        },
        |session| Receiver::setup(session).err().unwrap(),
    );
    assert!(outcome.p2.says("Peer", "a group element of the base transfers"));
}

#[test]
fn a_second_set_up_in_one_session_shares_nothing_with_the_first() {
    // The same Δ and the same randomness on purpose: only the number of the set-up differs.
    let outcome = run_pair(
        Setup::default().seed(3),
        |session| {
            let starts: Vec<_> = (0..2)
                .map(|_| Sender::setup(session, Delta::new(5)).unwrap())
                .map(|sender| (sender.number(), sender.numbers.start(Purpose::Transfers)))
                .collect();
            starts
        },
        |session| {
            let starts: Vec<_> = (0..2)
                .map(|_| Receiver::setup(session).unwrap())
                .map(|receiver| (receiver.number(), receiver.numbers.start(Purpose::Transfers)))
                .collect();
            starts
        },
    );
    assert_eq!(outcome.p1, outcome.p2);
    assert_eq!((outcome.p1[0].0, outcome.p1[1].0), (1, 2));
    assert_ne!(outcome.p1[0].1, outcome.p1[1].1);
}
