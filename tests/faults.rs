//! Everything that a peer or a stranger can do wrong over real loopback TLS:
//! each gives a typed error within the limit.

#![expect(clippy::unwrap_used, clippy::unwrap_in_result, reason = "helpers of a test")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use diptych::Role;
use diptych::math::Randomness;
use diptych::net::tls::{self, Listener};
use diptych::net::{AbortReason, Error, Identity, Limits, PROTOCOL_VERSION, Stop, Tag};
use diptych::protocol::Session;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use sha2::{Digest, Sha256};

const TERMS: &[u8] = br#"{"protocol":"test"}"#;
const PING: Tag = Tag::new(*b"ping");
const FRAME_LIMIT: usize = 1 << 20;

/// No fault may keep a party longer than this, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);

/// Limits that no test waits for.
fn limits() -> Limits {
    let long = 2 * PATIENCE;
    Limits { connect: long, handshake: long, read: long, write: long, frame_bytes: FRAME_LIMIT }
}

/// For tests that expect a pause to be too long.
fn short_pause() -> Limits {
    Limits { read: Duration::from_secs(1), ..limits() }
}

/// For tests that expect nobody to come: long enough for a stranger to be refused.
fn short_meeting() -> Limits {
    Limits { connect: Duration::from_secs(4), ..limits() }
}

struct Pem {
    text: String,
    identity: Identity,
}

fn new_identity(name: &str) -> Pem {
    let text = Identity::generate_pem(name).unwrap().to_string();
    let identity = Identity::from_pem(&text).unwrap();
    Pem { text, identity }
}

/// Runs P1 as the victim: it listens, runs the handshake and waits for a ping.
/// The attack gets the address and the two identities.
fn victim_of(attack: impl FnOnce(&str, &Pem, &Pem)) -> Result<Vec<u8>, Error> {
    victim_within(limits(), attack)
}

fn victim_within(limits: Limits, attack: impl FnOnce(&str, &Pem, &Pem)) -> Result<Vec<u8>, Error> {
    let (victim, peer) = (new_identity("victim"), new_identity("peer"));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_address().unwrap().to_string();
    let start = Instant::now();
    let outcome = thread::scope(|scope| {
        let us = victim.identity.clone();
        let fingerprint = peer.identity.fingerprint();
        let running = scope.spawn(move || {
            let channel = listener.accept(&us, fingerprint, limits)?;
            let rng = Randomness::from_os()?;
            let mut session = Session::establish(channel, Role::P1, TERMS, rng)?;
            let mut body = Vec::new();
            session.channel.receive_bytes_at_most(PING, FRAME_LIMIT, &mut body)?;
            Ok(body)
        });
        attack(&address, &victim, &peer);
        running.join().unwrap()
    });
    assert!(start.elapsed() < PATIENCE, "it took {:?}", start.elapsed());
    outcome
}

/// The peer as it should be: in a session, ready to send.
fn honest_peer(address: &str, victim: &Pem, peer: &Pem) -> Result<Session, Error> {
    peer_within(limits(), address, victim, peer)
}

fn peer_within(limits: Limits, at: &str, victim: &Pem, peer: &Pem) -> Result<Session, Error> {
    let channel = tls::connect(at, &peer.identity, victim.identity.fingerprint(), limits)?;
    Session::establish(channel, Role::P2, TERMS, Randomness::from_os()?)
}

/// A peer with the right key that writes whatever bytes it likes.
struct RawPeer(StreamOwned<ClientConnection, TcpStream>);

impl RawPeer {
    fn connect(address: &str, identity: Option<&Pem>) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let builder =
            ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_protocol_versions(&[&rustls::version::TLS13])
                .unwrap()
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Gullible));
        let mut config = match identity {
            Some(pem) => builder
                .with_client_auth_cert(
                    vec![CertificateDer::from_pem_slice(pem.text.as_bytes()).unwrap()],
                    PrivateKeyDer::from_pem_slice(pem.text.as_bytes()).unwrap(),
                )
                .unwrap(),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"diptych/1".to_vec()];
        let name = ServerName::try_from("diptych").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        Self(StreamOwned::new(connection, socket))
    }

    fn frame(&mut self, tag: &[u8; 4], body: &[u8]) {
        let length = u32::try_from(body.len()).unwrap();
        let bytes = [tag, length.to_le_bytes().as_slice(), body].concat();
        self.0.write_all(&bytes).unwrap();
        self.0.flush().unwrap();
    }

    fn receive(&mut self) -> ([u8; 4], Vec<u8>) {
        let mut header = [0; 8];
        self.0.read_exact(&mut header).unwrap();
        let length = u32::from_le_bytes(*header.last_chunk().unwrap());
        let mut body = vec![0; length as usize];
        self.0.read_exact(&mut body).unwrap();
        (*header.first_chunk().unwrap(), body)
    }

    /// Waits until the victim is gone.
    fn stay(&mut self) {
        let _ = self.0.read_to_end(&mut Vec::new());
    }

    /// The handshake by the book, written out anew. Returns the bytes sent, to replay them.
    fn handshake(&mut self) -> (Vec<u8>, Vec<u8>) {
        let nonce = [0x5a; 32];
        let hello = hello_as_p2(&nonce);
        self.frame(b"helo", &hello);
        let (tag, theirs) = self.receive();
        assert_eq!(&tag, b"helo");
        let mut exporter = [0; 32];
        self.0
            .conn
            .export_keying_material(&mut exporter, b"EXPORTER-diptych-session-v1", None)
            .unwrap();
        let mut session = b"diptych session v1".to_vec();
        session.extend(PROTOCOL_VERSION.to_le_bytes());
        session.extend(Sha256::digest(TERMS));
        session.extend(theirs.last_chunk::<32>().unwrap());
        session.extend(nonce);
        session.extend(exporter);
        let mut proof = b"diptych confirmation v1\x01".to_vec();
        proof.extend(Sha256::digest(session));
        let proof = Sha256::digest(proof).to_vec();
        self.frame(b"conf", &proof);
        let (tag, _) = self.receive();
        assert_eq!(&tag, b"conf");
        (hello, proof)
    }
}

/// Version, role P2 (the second variant), hash of the terms, nonce.
fn hello_as_p2(nonce: &[u8; 32]) -> Vec<u8> {
    let mut hello = PROTOCOL_VERSION.to_le_bytes().to_vec();
    hello.extend(1u32.to_le_bytes());
    hello.extend(Sha256::digest(TERMS));
    hello.extend(nonce);
    hello
}

/// Accepts any server: the attacker does not care.
#[derive(Debug)]
struct Gullible;

impl ServerCertVerifier for Gullible {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[test]
fn an_honest_peer_is_heard() {
    let outcome = victim_of(|address, victim, peer| {
        let mut session = honest_peer(address, victim, peer).unwrap();
        session.channel.send_bytes(PING, b"hello").unwrap();
    });
    assert_eq!(outcome.unwrap(), b"hello");
}

#[test]
fn a_peer_written_from_the_documentation_alone_is_heard() {
    let outcome = victim_of(|address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.handshake();
        raw.frame(b"ping", b"by the book");
    });
    assert_eq!(outcome.unwrap(), b"by the book");
}

#[test]
fn a_peer_that_leaves_is_closed() {
    let outcome = victim_of(|address, victim, peer| drop(honest_peer(address, victim, peer)));
    assert!(matches!(outcome, Err(Error::Closed)), "{outcome:?}");
}

#[test]
fn a_peer_that_stalls_is_a_timeout() {
    let outcome = victim_within(short_pause(), |address, victim, peer| {
        let mut session = honest_peer(address, victim, peer).unwrap();
        assert!(matches!(session.channel.receive_bytes(PING, 0), Err(Error::Closed)));
    });
    assert!(matches!(outcome, Err(Error::Timeout { .. })), "{outcome:?}");
}

#[test]
fn a_peer_that_drips_bytes_is_a_timeout() {
    let outcome = victim_within(short_pause(), |address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.handshake();
        raw.0.write_all(b"ping\xff\0\0\0").unwrap();
        for _ in 0..0xff {
            thread::sleep(Duration::from_millis(250));
            if raw.0.write_all(b"x").and_then(|()| raw.0.flush()).is_err() {
                break;
            }
        }
    });
    assert!(matches!(outcome, Err(Error::Timeout { .. })), "{outcome:?}");
}

#[test]
fn bytes_that_are_announced_earn_no_time() {
    let outcome = victim_within(short_pause(), |address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.handshake();
        // The start of the largest frame, then nothing.
        raw.0.write_all(&[b"ping", &(FRAME_LIMIT as u32).to_le_bytes()[..]].concat()).unwrap();
        raw.0.write_all(&[7; 1000]).unwrap();
        raw.0.flush().unwrap();
        raw.stay();
    });
    let Err(Error::Timeout { limit, .. }) = outcome else { panic!("{outcome:?}") };
    assert!(limit < short_pause().read + Duration::from_millis(100), "{limit:?}");
}

#[test]
fn bytes_that_arrive_earn_time_but_no_longer_pause() {
    let limits = Limits { read: Duration::from_secs(3), ..limits() };
    let outcome = victim_within(limits, |address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.handshake();
        raw.0.write_all(&[b"ping", &(FRAME_LIMIT as u32).to_le_bytes()[..]].concat()).unwrap();
        // Longer than the limit of a pause in all, and no pause near it. Each part earns 2 s.
        for part in 0..8 {
            if part > 0 {
                thread::sleep(limits.read / 6);
            }
            raw.0.write_all(&[7; FRAME_LIMIT / 8]).unwrap();
            raw.0.flush().unwrap();
        }
    });
    assert_eq!(outcome.unwrap(), [7; FRAME_LIMIT]);
}

#[test]
fn a_message_of_fixed_size_is_refused_by_its_header_if_it_is_longer() {
    let outcome = victim_of(|address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.0.write_all(b"helo\x47\0\0\0").unwrap();
        raw.0.flush().unwrap();
        raw.stay();
    });
    assert!(matches!(outcome, Err(Error::FrameTooLarge { length: 71, limit: 70 })), "{outcome:?}");
}

#[test]
fn a_conversation_that_is_kept_alive_ends_all_the_same() {
    let (one, two) = (new_identity("one"), new_identity("two"));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_address().unwrap().to_string();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let fingerprint = two.identity.fingerprint();
            let mut channel = listener.accept(&one.identity, fingerprint, limits()).unwrap();
            while !over.load(Ordering::SeqCst) && channel.send_bytes(PING, b"still here").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
        let fingerprint = one.identity.fingerprint();
        let mut channel = tls::connect(&address, &two.identity, fingerprint, limits()).unwrap();
        let limit = Duration::from_secs(1);
        channel.end_within(limit);
        let start = Instant::now();
        let error = loop {
            if let Err(error) = channel.receive_bytes(PING, 10) {
                break error;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
        };
        assert!(matches!(error, Error::RunTooLong { limit: l } if l == limit), "{error}");
        let error = channel.send_bytes(PING, b"").unwrap_err();
        assert_eq!(error.blame().reason(), Some(AbortReason::TooSlow));
        over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn garbage_in_place_of_a_handshake_message_is_malformed() {
    let outcome = victim_of(|address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.frame(b"helo", &[0xff; 70]);
        let _ = raw.receive();
    });
    assert!(matches!(outcome, Err(Error::Malformed { .. })), "{outcome:?}");
}

#[test]
fn random_bytes_inside_tls_are_a_typed_error() {
    for seed in 0..8 {
        let outcome = victim_of(|address, _, peer| {
            let mut raw = RawPeer::connect(address, Some(peer));
            raw.0.write_all(&Randomness::seeded(seed).array::<64>()).unwrap();
            raw.0.flush().unwrap();
            // Leave, so that a short announced length does not have to wait for its limit.
            raw.0.conn.send_close_notify();
            let _ = raw.0.flush();
        });
        assert!(outcome.is_err());
    }
}

#[test]
fn an_oversized_frame_is_refused_by_its_header() {
    let outcome = victim_of(|address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.handshake();
        raw.0.write_all(b"ping\xff\xff\xff\xff").unwrap();
        raw.0.flush().unwrap();
    });
    let limit = FRAME_LIMIT;
    assert!(
        matches!(outcome, Err(Error::FrameTooLarge { length: 0xffff_ffff, limit: l }) if l == limit),
        "{outcome:?}"
    );
}

#[test]
fn a_message_with_bytes_missing_is_malformed() {
    let outcome = victim_of(|address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.frame(b"helo", &hello_as_p2(&[1; 32])[..60]);
        let _ = raw.receive();
    });
    assert!(matches!(outcome, Err(Error::Malformed { .. })), "{outcome:?}");
}

#[test]
fn a_connection_cut_in_the_middle_of_a_frame_is_closed() {
    let outcome = victim_of(|address, _, peer| {
        let mut raw = RawPeer::connect(address, Some(peer));
        raw.handshake();
        raw.0.write_all(b"ping\x40\0\0\0only this much").unwrap();
        raw.0.flush().unwrap();
        raw.0.sock.shutdown(std::net::Shutdown::Both).unwrap();
    });
    assert!(matches!(outcome, Err(Error::Closed)), "{outcome:?}");
}

#[test]
fn a_message_of_another_type_is_named() {
    let outcome = victim_of(|address, victim, peer| {
        let mut session = honest_peer(address, victim, peer).unwrap();
        session.channel.send_bytes(Tag::new(*b"pong"), b"").unwrap();
    });
    assert!(matches!(outcome, Err(Error::UnexpectedMessage { .. })), "{outcome:?}");
}

#[test]
fn an_abort_says_why() {
    let outcome = victim_of(|address, victim, peer| {
        let mut session = honest_peer(address, victim, peer).unwrap();
        session.channel.abort(AbortReason::Stopped);
    });
    assert!(matches!(outcome, Err(Error::PeerAborted(AbortReason::Stopped))), "{outcome:?}");
}

#[test]
fn a_wrong_certificate_is_refused_and_named_on_both_sides() {
    let stranger = new_identity("stranger");
    let outcome = victim_within(short_meeting(), |address, victim, _| {
        let refused = honest_peer(address, victim, &stranger).map(|_| ());
        assert!(matches!(&refused, Err(Error::Tls(_))), "{refused:?}");
        assert!(refused.unwrap_err().is_refusal());
    });
    let Err(error @ Error::NobodyCame { .. }) = outcome else { panic!("{outcome:?}") };
    assert!(error.is_refusal());
    assert!(error.to_string().contains(&stranger.identity.fingerprint().to_string()), "{error}");
}

#[test]
fn a_wrong_listener_is_refused_before_anything_is_sent_to_it() {
    let stranger = new_identity("stranger");
    let outcome = victim_within(short_meeting(), |address, _, peer| {
        // The peer expects the stranger here, but the victim answers.
        let refused = honest_peer(address, &stranger, peer).map(|_| ());
        assert!(matches!(refused, Err(Error::WrongPeer { .. })), "{refused:?}");
    });
    assert!(matches!(outcome, Err(Error::NobodyCame { .. })), "{outcome:?}");
}

#[test]
fn no_certificate_is_refused() {
    let outcome = victim_within(short_meeting(), |address, _, _| {
        let mut raw = RawPeer::connect(address, None);
        let mut byte = [0];
        let _ = raw.0.write_all(b"helo");
        assert!(raw.0.read_exact(&mut byte).is_err(), "nothing is said to a nameless client");
    });
    let Err(Error::NobodyCame { refused: Some(why), .. }) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(*why, Error::Tls(_)), "{why:?}");
}

#[test]
fn a_plaintext_client_is_refused_and_the_peer_still_gets_in() {
    let outcome = victim_of(|address, victim, peer| {
        let mut plain = TcpStream::connect(address).unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP"));
        let mut session = honest_peer(address, victim, peer).unwrap();
        session.channel.send_bytes(PING, b"after").unwrap();
    });
    assert_eq!(outcome.unwrap(), b"after");
}

#[test]
fn silent_connections_do_not_keep_the_peer_out() {
    let outcome = victim_of(|address, victim, peer| {
        let silent: Vec<_> = (0..8).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut session = honest_peer(address, victim, peer).unwrap();
        session.channel.send_bytes(PING, b"through").unwrap();
        drop(silent);
    });
    assert_eq!(outcome.unwrap(), b"through");
}

/// More than the places that a listener has, and more than one address may have of them.
const CROWD: usize = 120;

#[test]
fn a_crowd_of_silent_connections_does_not_keep_the_peer_out() {
    let outcome = victim_of(|address, victim, peer| {
        let over = AtomicBool::new(false);
        let mut crowd: VecDeque<_> =
            (0..CROWD).map(|_| TcpStream::connect(address).unwrap()).collect();
        thread::scope(|scope| {
            // They keep coming.
            let more = scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    crowd.extend(TcpStream::connect(address).ok());
                    crowd.pop_front();
                    thread::sleep(Duration::from_millis(5));
                }
            });
            let session = honest_peer(address, victim, peer);
            over.store(true, Ordering::SeqCst);
            more.join().unwrap();
            session.unwrap().channel.send_bytes(PING, b"through").unwrap();
        });
    });
    assert_eq!(outcome.unwrap(), b"through");
}

#[test]
fn strangers_that_begin_a_handshake_and_stall_do_not_keep_the_peer_out() {
    let outcome = victim_of(|address, victim, peer| {
        let crowd: Vec<_> = (0..CROWD)
            .map(|_| {
                let mut raw = RawPeer::connect(address, None).0;
                raw.conn.write_tls(&mut raw.sock).unwrap();
                raw
            })
            .collect();
        let mut session = honest_peer(address, victim, peer).unwrap();
        session.channel.send_bytes(PING, b"through").unwrap();
        drop(crowd);
    });
    assert_eq!(outcome.unwrap(), b"through");
}

#[test]
fn silence_in_place_of_the_first_words_is_refused_before_the_handshakes_limit() {
    let patient = short_meeting();
    let (victim, peer) = (new_identity("victim"), new_identity("peer"));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_address().unwrap();
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            listener.accept(&victim.identity, peer.identity.fingerprint(), patient).map(|_| ())
        });
        let mut silent = TcpStream::connect(address).unwrap();
        silent.set_read_timeout(Some(patient.handshake / 2)).unwrap();
        let mut told = Vec::new();
        if let Err(error) = silent.read_to_end(&mut told) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "it is kept");
        }
        assert!(told.len() < 16, "no more than an alert is said to it: {told:?}");
        let outcome = running.join().unwrap();
        let Err(Error::NobodyCame { refused: Some(why), .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(why.to_string().contains("did not begin the TLS handshake within 2.0 s"), "{why}");
    });
}

#[test]
fn a_handshake_that_is_cut_is_tried_again() {
    let outcome = victim_of(|address, victim, peer| {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let before = door.local_addr().unwrap().to_string();
        thread::scope(|scope| {
            scope.spawn(|| {
                for words in [0, 1, 100] {
                    // Cut at once, or after so many bytes of the first flight.
                    let (mut cut, _) = door.accept().unwrap();
                    let _ = cut.read_exact(&mut vec![0; words]);
                }
                let (inside, _) = door.accept().unwrap();
                let outside = TcpStream::connect(address).unwrap();
                let (mut from, mut to) =
                    (inside.try_clone().unwrap(), outside.try_clone().unwrap());
                let there = thread::spawn(move || std::io::copy(&mut from, &mut to));
                let _ = std::io::copy(&mut &outside, &mut &inside);
                let _ = inside.shutdown(std::net::Shutdown::Both);
                let _ = there.join();
            });
            let mut session = honest_peer(&before, victim, peer).unwrap();
            session.channel.send_bytes(PING, b"at last").unwrap();
        });
    });
    assert_eq!(outcome.unwrap(), b"at last");
}

#[test]
fn of_two_peers_at_once_one_is_served_and_the_other_is_told() {
    let outcome = victim_of(|address, victim, peer| {
        // Whoever comes second may try until its time is over.
        let try_one = || match peer_within(short_meeting(), address, victim, peer) {
            Ok(mut session) => session.channel.send_bytes(PING, b"one"),
            Err(error) => Err(error),
        };
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(try_one);
            (try_one(), one.join().unwrap())
        });
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    });
    assert_eq!(outcome.unwrap(), b"one");
}

#[test]
fn the_right_peer_under_other_terms_is_told_what_differs() {
    let outcome = victim_of(|address, victim, peer| {
        let fingerprint = victim.identity.fingerprint();
        let channel = tls::connect(address, &peer.identity, fingerprint, limits()).unwrap();
        let rng = Randomness::from_os().unwrap();
        let ours = Session::establish(channel, Role::P2, b"other terms", rng).map(|_| ());
        assert!(matches!(ours, Err(Error::Terms { theirs }) if theirs == TERMS));
    });
    assert!(matches!(outcome, Err(Error::Terms { theirs }) if theirs == b"other terms"));
}

#[test]
fn a_handshake_that_succeeded_once_cannot_be_replayed() {
    let recorded = std::sync::Mutex::new(None);
    let (victim, peer) = (new_identity("victim"), new_identity("peer"));
    for round in 0..2 {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_address().unwrap().to_string();
        let outcome = thread::scope(|scope| {
            let running = scope.spawn(|| {
                let fingerprint = peer.identity.fingerprint();
                let channel = listener.accept(&victim.identity, fingerprint, limits())?;
                Session::establish(channel, Role::P1, TERMS, Randomness::from_os()?).map(|_| ())
            });
            let mut raw = RawPeer::connect(&address, Some(&peer));
            if round == 0 {
                *recorded.lock().unwrap() = Some(raw.handshake());
            } else {
                let (hello, confirmation) = recorded.lock().unwrap().take().unwrap();
                raw.frame(b"helo", &hello);
                raw.frame(b"conf", &confirmation);
                // Hello and confirmation of the victim, then its reason to leave.
                let _ = (raw.receive(), raw.receive());
                assert_eq!(&raw.receive().0, b"abrt");
            }
            running.join().unwrap()
        });
        match round {
            0 => outcome.unwrap(),
            _ => assert!(matches!(outcome, Err(Error::NotThisSession)), "{outcome:?}"),
        }
    }
}

#[test]
fn two_sides_that_send_much_at_once_do_not_block_each_other() {
    const BLOCK: usize = 16 << 20;
    let roomy = Limits { frame_bytes: BLOCK, ..Limits::default() };
    let (one, two) = (new_identity("one"), new_identity("two"));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_address().unwrap().to_string();
    let exchange = |mut channel: diptych::net::Channel| {
        for _ in 0..2 {
            channel.send_bytes(PING, &vec![3; BLOCK]).unwrap();
        }
        (0..2).all(|_| channel.receive_bytes(PING, BLOCK).unwrap() == vec![3; BLOCK])
    };
    thread::scope(|scope| {
        let listening = scope.spawn(|| {
            exchange(listener.accept(&one.identity, two.identity.fingerprint(), roomy).unwrap())
        });
        let connected =
            tls::connect(&address, &two.identity, one.identity.fingerprint(), roomy).unwrap();
        assert!(exchange(connected));
        assert!(listening.join().unwrap());
    });
}

/// A real party in a process of its own, waiting for the size of our set.
fn party_process(more: &[&str]) -> (Child, Session, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let (them, us) = (new_identity("them"), new_identity("us"));
    let file = place.path().join("them.pem");
    std::fs::write(&file, &them.text).unwrap();
    let ids = place.path().join("ids.csv");
    std::fs::write(&ids, "id\na\nb\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["psi", "--cardinality", "--column", "id", "--role", "p1", "--listen", "127.0.0.1:0"])
        .args(["--wait", "120", "--peer", &us.identity.fingerprint().to_string()])
        .args(more)
        .arg("--ids")
        .arg(&ids)
        .arg("--identity")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended before it listened");
        if let Some(address) = line.strip_prefix("listening on ") {
            break address.trim_end_matches([' ', '…', '\n']).to_owned();
        }
    };
    child.stderr = Some(said.into_inner());
    let channel =
        tls::connect(&address, &us.identity, them.identity.fingerprint(), limits()).unwrap();
    let session =
        Session::establish(channel, Role::P2, PSI_TERMS, Randomness::from_os().unwrap()).unwrap();
    (child, session, place)
}

/// As the process states them.
const PSI_TERMS: &[u8] = br#"{"protocol":"psi 2","mode":"cardinality","matching":"ristretto255_XMD:SHA-512_R255MAP_RO_","normalize":["trim","nfc","uppercase"]}"#;
const SIZE: Tag = Tag::new(*b"psi0");

#[test]
fn a_peer_process_that_is_killed_is_closed() {
    let (mut child, mut session, _place) = party_process(&[]);
    session.channel.receive_bytes(SIZE, 8).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let outcome = session.channel.receive_bytes(SIZE, 8);
    assert!(matches!(outcome, Err(Error::Closed)), "{outcome:?}");
}

#[test]
fn a_peer_process_that_is_stopped_is_a_timeout() {
    let (mut child, mut session, _place) = party_process(&[]);
    session.channel.receive_bytes(SIZE, 8).unwrap();
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let start = Instant::now();
    session.channel.set_limits(short_pause());
    let outcome = session.channel.receive_bytes(SIZE, 8);
    assert!(matches!(outcome, Err(Error::Timeout { .. })), "{outcome:?}");
    assert!(start.elapsed() < PATIENCE);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_of_psi_as_a_whole_has_an_end() {
    let start = Instant::now();
    let (mut child, mut session, _place) = party_process(&["--run-seconds", "2"]);
    session.channel.receive_bytes(SIZE, 8).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("the run was not over within 2.0 s"), "{said}");
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn a_run_that_is_interrupted_ends_in_order_and_tells_the_peer() {
    let (mut child, mut session, _place) = party_process(&[]);
    session.channel.receive_bytes(SIZE, 8).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let told = session.channel.receive_bytes(SIZE, 8).unwrap_err();
    assert!(matches!(told, Error::PeerAborted(AbortReason::Stopped)), "{told:?}");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("the run was stopped on this side"), "{said}");
}

#[test]
fn whoever_waits_for_a_peer_can_be_stopped() {
    let identity = new_identity("us").identity;
    let peer = new_identity("peer").identity.fingerprint();
    let stop = Stop::default();
    stop.set();
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_address().unwrap().to_string();
    let waited = listener.accept_unless(&stop, &identity, peer, limits());
    assert!(matches!(waited.err(), Some(Error::Stopped)));
    let tried = tls::connect_unless(&stop, &address, &identity, peer, limits());
    assert!(matches!(tried.err(), Some(Error::Stopped)));
}

#[test]
fn an_absurd_count_is_the_peers_fault() {
    let (mut child, mut session, _place) = party_process(&[]);
    session.channel.receive_bytes(SIZE, 8).unwrap();
    session.channel.send_bytes(SIZE, &u64::MAX.to_le_bytes()).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("the peer's list has 18446744073709551615 identifiers"), "{said}");
}
