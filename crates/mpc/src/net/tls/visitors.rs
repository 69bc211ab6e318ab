//! Connections whose handshake is under way while this side listens.
//!
//! Anybody can open connections and send nothing, so none of them may hold a place that the peer
//! needs. A visitor has a short time to send its first message. When a network address, or all of
//! them together, have too many handshakes under way, the newest replaces the oldest: first one
//! that has sent nothing, of the same address if that address has too many. A peer that loses its
//! place this way retries ([`super::connect`]).

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustls::{Connection, ServerConnection};

use super::pinning::server_config;
use super::stream::TlsStream;
use crate::net::{AbortReason, Channel, Error, Fingerprint, Identity, Limits};

/// Handshakes that may be under way at once.
const MOST: usize = 32;
/// Handshakes of one network address that may be under way at once. More than one, because the peer
/// may share its address with others behind a gateway.
const MOST_OF_ADDRESS: usize = 8;
/// For a visitor's first message. Allows for one lost packet.
const FIRST_WORDS: Duration = Duration::from_secs(2);
/// Strangers cannot fill the log: at most one line in this time, after the first few.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
const FIRST_LINES: u64 = 4;

/// The outcome of a visitor's handshake.
pub(super) type Arrival = (u64, Result<Channel, Error>);

/// The handshakes under way, the oldest first, and why the last visitor was rejected.
pub(super) struct Visitors {
    present: VecDeque<Visitor>,
    next: u64,
    arrived: Sender<Arrival>,
    last_refusal: Option<Box<Error>>,
    lines: Lines,
}

struct Visitor {
    number: u64,
    from: IpAddr,
    /// To end its handshake.
    socket: TcpStream,
    has_spoken: Arc<AtomicBool>,
}

impl Visitors {
    /// No visitors yet. The outcome of each handshake is sent to `arrived`.
    pub(super) fn new(arrived: Sender<Arrival>) -> Self {
        let lines = Lines::new(Instant::now());
        Self { present: VecDeque::new(), next: 0, arrived, last_refusal: None, lines }
    }

    /// Begins a handshake in its own thread.
    ///
    /// # Errors
    /// [`Error::NoThread`].
    pub(super) fn welcome(
        &mut self,
        socket: TcpStream,
        address: SocketAddr,
        us: &Identity,
        peer: Fingerprint,
        limits: Limits,
    ) -> Result<(), Error> {
        let from = network_of(address.ip());
        while self.present.iter().filter(|visitor| visitor.from == from).count() >= MOST_OF_ADDRESS
        {
            self.drop_oldest(|visitor| visitor.from == from);
        }
        while self.present.len() >= MOST {
            self.drop_oldest(|_| true);
        }
        let Ok(handle) = socket.try_clone() else { return Ok(()) };
        let (number, has_spoken) = (self.next, Arc::new(AtomicBool::new(false)));
        self.next += 1;
        let visitor = Visitor { number, from, socket: handle, has_spoken: has_spoken.clone() };
        let (us, arrived) = (us.clone(), self.arrived.clone());
        thread::Builder::new()
            .name("handshake".to_owned())
            .spawn(move || {
                let heard = || has_spoken.store(true, Ordering::SeqCst);
                let outcome = serve(socket, &us, peer, limits.handshake, heard)
                    .map(|stream| Channel::new(Box::new(stream), limits));
                // The peer was found meanwhile: a second connection from it is told so.
                if let Err(mpsc::SendError((_, Ok(mut late)))) = arrived.send((number, outcome)) {
                    late.abort(AbortReason::Busy);
                }
            })
            .map_err(Error::NoThread)?;
        self.present.push_back(visitor);
        Ok(())
    }

    /// Ends the oldest of the handshakes that `may` be ended; silent ones first.
    fn drop_oldest(&mut self, may: impl Fn(&Visitor) -> bool) {
        let silent = |visitor: &Visitor| !visitor.has_spoken.load(Ordering::SeqCst);
        let oldest = self.present.iter().position(|visitor| may(visitor) && silent(visitor));
        let oldest = oldest.or_else(|| self.present.iter().position(may));
        if let Some(visitor) = oldest.and_then(|place| self.present.remove(place)) {
            // Its thread sees the end of the connection, and ends.
            let _ = visitor.socket.shutdown(Shutdown::Both);
            self.note(visitor.from, "it made room for newer ones".to_owned());
        }
    }

    /// Records that a handshake has failed.
    pub(super) fn refused(&mut self, number: u64, error: Error) {
        let place = self.present.iter().position(|visitor| visitor.number == number);
        let Some(visitor) = place.and_then(|place| self.present.remove(place)) else {
            return; // it was dropped, and noted then
        };
        self.note(visitor.from, error.to_string());
        self.last_refusal = Some(Box::new(error));
    }

    /// Why the last visitor was rejected.
    pub(super) fn last_refusal(self) -> Option<Box<Error>> {
        self.last_refusal
    }

    fn note(&mut self, from: IpAddr, why: String) {
        if let Some(unsaid) = self.lines.next(Instant::now()) {
            // Part of this text comes from the stranger.
            let why = why.escape_debug();
            tracing::warn!(event = "refused", %from, %why, refused_without_a_line = unsaid, "refused a connection");
        }
    }
}

fn serve(
    socket: TcpStream,
    us: &Identity,
    peer: Fingerprint,
    limit: Duration,
    heard: impl FnOnce(),
) -> Result<TlsStream, Error> {
    let (config, pin) = server_config(us, peer)?;
    let connection = Connection::Server(ServerConnection::new(config)?);
    TlsStream::handshake_with_client(socket, connection, (FIRST_WORDS, limit), heard)
        .map_err(|error| pin.explain(error))
}

/// The part of an address that identifies a visitor: for IPv6, the 64 bits that one subscriber has
/// at least.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        version_4 => version_4,
    }
}

/// When a line may be written.
struct Lines {
    written: u64,
    unsaid: u64,
    next_at: Instant,
}

impl Lines {
    fn new(now: Instant) -> Self {
        Self { written: 0, unsaid: 0, next_at: now }
    }

    /// How many events were not logged before this one, if this one may be logged.
    fn next(&mut self, now: Instant) -> Option<u64> {
        if self.written >= FIRST_LINES && now < self.next_at {
            self.unsaid += 1;
            return None;
        }
        self.written += 1;
        self.next_at = now + BETWEEN_LINES;
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_refusals_in_a_minute_take_ten_lines() {
        let start = Instant::now();
        let mut lines = Lines::new(start);
        let said: Vec<u64> = (0..1000u64)
            .filter_map(|event| lines.next(start + Duration::from_millis(60 * event)))
            .collect();
        assert_eq!(said.len(), 9, "{said:?}");
        assert_eq!(said[..FIRST_LINES as usize], [0; 4]);
        assert!(said.iter().sum::<u64>() + 9 >= 1000 - 167, "{said:?}");
    }

    #[test]
    fn one_subscriber_is_one_address() {
        let network = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2:3::4"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
