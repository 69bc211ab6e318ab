//! Every protocol knows the longest allowed length of a message before it arrives: a peer that
//! announces far more aborts the run, and none of it is read.

use std::collections::HashSet;
use std::thread;

use crate::circuit::{Program, gallery};
use crate::crypto::commutative::Ristretto;
use crate::crypto::garble::Delta;
use crate::math::Randomness;
use crate::net::memory::{self, End};
use crate::net::{
    self, Accept, Blame, Channel, Direction, Fault, Header, Limits, Patience, SessionId, Stop, Tag,
    Transcript, Transport,
};
use crate::protocol::bits::{self, Bits};
use crate::protocol::join::{Bins, Hint, JoinShape};
use crate::protocol::pair::{Setup, run_pair};
use crate::protocol::shares::{self, Ring, Share, WordShares};
use crate::protocol::sum_by_group::{self, CountShape};
use crate::protocol::transfers::Source;
use crate::protocol::vole::{Method, Sets};
use crate::protocol::yao::{self, Reveal};
use crate::protocol::{Session, ot, psi};
use crate::role::Role;

/// As much as any frame may have.
const FAR_TOO_MUCH: usize = 32 << 20;

/// Announces far too much in place of one kind of message, and sends nothing of it: a peer that
/// reads on finds an empty body.
struct Overstating {
    end: End,
    tag: Tag,
}

impl Transport for Overstating {
    fn send(&mut self, header: Header, body: &[u8], patience: Patience) -> Result<(), net::Error> {
        if header.tag != self.tag {
            return self.end.send(header, body, patience);
        }
        self.end.send(Header { length: FAR_TOO_MUCH, ..header }, &[], patience)
    }

    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, net::Error> {
        self.end.receive(body, accept, patience)
    }

    fn binding(&self) -> Result<[u8; 32], net::Error> {
        self.end.binding()
    }

    fn stop_on(&mut self, stop: Stop) {
        self.end.stop_on(stop);
    }

    fn close(&mut self) {
        self.end.close();
    }
}

/// A party's outcome: how much the error says was announced, and the rest of the error.
pub(crate) type Ending = Result<(), (Option<u64>, String)>;

/// For the table of protocols below.
pub(crate) fn ending<T>(outcome: Result<T, impl Fault>) -> Ending {
    let announced = |error: &dyn Fault| match error.blame() {
        Blame::Connection(net::Error::WrongLength { got, .. }) => Some(*got as u64),
        Blame::Connection(net::Error::FrameTooLarge { length, .. }) => Some(*length),
        _ => None,
    };
    outcome.map(drop).map_err(|error| (announced(&error), error.to_string()))
}

/// Runs a protocol correctly, then once more for every kind of message that a party sent, with that
/// party announcing far too much of it: its peer must report that. Returns the kinds.
pub(crate) fn assert_refuses_what_is_overstated(
    party: impl Fn(&mut Session) -> Ending + Copy + Send,
) -> Vec<Tag> {
    let honest = run_pair(Setup::default().seed(1), party, party);
    assert_eq!((honest.p1, honest.p2), (Ok(()), Ok(())));
    let mut kinds = Vec::new();
    for (role, transcript) in
        [(Role::P1, &honest.transcripts.p1), (Role::P2, &honest.transcripts.p2)]
    {
        for tag in sent_kinds(transcript) {
            let found = against_overstated(role, tag, party);
            let Err((Some(announced), text)) = found else {
                panic!("{tag} of {role}: {found:?}");
            };
            assert_eq!(announced, FAR_TOO_MUCH as u64, "{tag} of {role}: {text}");
            kinds.push(tag);
        }
    }
    kinds
}

fn sent_kinds(transcript: &Transcript) -> HashSet<Tag> {
    let sent = transcript.iter().filter(|(direction, ..)| *direction == Direction::Sent);
    sent.map(|(_, tag, _)| *tag).collect()
}

/// The outcome of the peer of `role`, which overstates one kind of message.
fn against_overstated(
    role: Role,
    tag: Tag,
    party: impl Fn(&mut Session) -> Ending + Copy + Send,
) -> Ending {
    let (end, other) = memory::ends(None);
    let overstating = Channel::new(Box::new(Overstating { end, tag }), Limits::default());
    let honest = Channel::new(Box::new(other), Limits::default());
    let id = SessionId::from_bytes([7; 32]);
    let run = move |role, channel, seed| {
        party(&mut Session::ready(role, channel, Randomness::seeded(seed), id))
    };
    thread::scope(|scope| {
        // It waits until its peer has gone; its own outcome does not matter.
        scope.spawn(move || run(role, overstating, 1).is_ok());
        run(role.peer(), honest, 2)
    })
}

fn tags(names: &[&[u8; 4]]) -> HashSet<Tag> {
    names.iter().map(|name| Tag::new(**name)).collect()
}

pub(crate) fn assert_kinds(
    names: &[&[u8; 4]],
    party: impl Fn(&mut Session) -> Ending + Copy + Send,
) {
    let kinds: HashSet<Tag> = assert_refuses_what_is_overstated(party).into_iter().collect();
    assert_eq!(kinds, tags(names));
}

#[test]
fn chosen_transfers_refuse_what_is_overstated() {
    assert_kinds(&[b"otbs", b"otbr", b"otex", b"otct"], |session| {
        if session.role == Role::P1 {
            let sender = ot::Sender::setup(session, Delta::new(5));
            return ending(sender.and_then(|mut sender| sender.chosen(session, &[[1, 2]; 9])));
        }
        let receiver = ot::Receiver::setup(session);
        ending(receiver.and_then(|mut receiver| receiver.chosen(session, &[true; 9])))
    });
}

#[test]
fn garbled_circuits_refuse_what_is_overstated() {
    let program = Program::new(&gallery::comparison(8));
    assert_kinds(&[b"otbs", b"otbr", b"otex", b"ysed", b"ytab", b"ydec", b"yout"], |session| {
        ending(yao::run(session, Role::P1, &program, &[true; 8], Reveal::Both))
    });
}

#[test]
fn shares_refuse_what_is_overstated() {
    assert_kinds(&[b"shar"], |session| {
        ending(shares::open(session, &[Share::new(&Ring::PowerOfTwo(9), &3.into())], Reveal::Both))
    });
    assert_kinds(&[b"shar"], |session| {
        ending(WordShares::new(9, vec![3; 5]).and_then(|words| words.open(session, Reveal::Both)))
    });
}

#[test]
fn count_tables_refuse_what_is_overstated() {
    assert_kinds(&[b"otbs", b"otbr", b"otex", b"trbt", b"sums"], |session| {
        let shape = CountShape { records: 4, cells: [3, 2], bits: 20 };
        ending(sum_by_group::count_table(session, &shape, &[0, 1, 1, 0], &|_| ()))
    });
}

#[test]
fn every_source_of_transfers_refuses_what_is_overstated() {
    let soft = [b"otbs", b"otbr", b"sstr", b"ssex", b"trbt", b"sums"];
    let silent = [b"otbs", b"otbr", b"sstr", b"ssex", b"slbt", b"sltr", b"trbt", b"sums"];
    let [_, soft_spoken, silent_ones] = Source::SMALL;
    for (source, kinds) in [(soft_spoken, &soft[..]), (silent_ones, &silent)] {
        assert_kinds(kinds, |session| {
            session.use_transfers(source);
            let shape = CountShape { records: 4, cells: [3, 2], bits: 20 };
            ending(sum_by_group::count_table(session, &shape, &[0, 1, 1, 0], &|_| ()))
        });
    }
}

#[test]
fn shared_bits_refuse_what_is_overstated() {
    assert_kinds(&[b"otbs", b"otbr", b"otex", b"btop", b"trbt", b"btdf"], |session| {
        let bits = Bits::repeat(session.role == Role::P1, 9);
        let product = bits::and(session, &bits, &bits);
        ending(product.and_then(|product| bits::to_words(session, &product, 20)))
    });
}

#[test]
fn set_intersections_refuse_what_is_overstated() {
    let (group, names) = (&Ristretto::new(), ["a", "b", "c"]);
    assert_kinds(&[b"psi0", b"psi1", b"psi2"], |session| {
        ending(psi::intersect(session, group, &names, psi::Options::default()))
    });
    assert_kinds(&[b"psi0", b"psi1", b"psi2"], |session| {
        ending(psi::cardinality(session, group, &names, psi::Options::default()))
    });
    let function = [
        b"psi0", b"otbr", b"otbs", b"sstr", b"ssex", b"trbt", b"vltr", b"ops0", b"ops1", b"psi3",
        b"psi4",
    ];
    assert_kinds(&function, |session| {
        let (method, options) = (Method::Lpn(Sets::TINY), psi::Options::default());
        ending(psi::oblivious::intersect(session, method, &names, options))
    });
    let circuit = [b"otbs", b"otbr", b"otex", b"ysed", b"ytab", b"ydec", b"yout", b"psit"];
    assert_kinds(&circuit, |session| ending(psi::threshold::at_least(session, &names, 2, 10)));
}

#[test]
fn hidden_joins_refuse_what_is_overstated() {
    let names = ["a", "b", "c"];
    let kinds = [
        b"otbr", b"otbs", b"otex", b"sstr", b"ssex", b"trbt", b"vltr", b"ops0", b"ops1", b"jnsd",
        b"jnst", b"btop",
    ];
    assert_kinds(&kinds, |session| {
        let method = Method::Lpn(Sets::TINY);
        let joined = JoinShape::new(Role::P1, 3, 3).map(JoinShape::small).and_then(|shape| {
            if session.role == shape.owner() {
                Bins::setup(session, method, shape, &names)?.receive_members(session, 2)
            } else {
                Hint::setup(session, method, shape, &names)?.send_members(session, 2, &[1, 2, 3])
            }
        });
        ending(joined)
    });
}
