//! One mutually authenticated TLS 1.3 connection, the only transport between two machines.
//!
//! Both ends present a self-signed Ed25519 certificate and accept exactly one fingerprint. Names,
//! dates and authorities are ignored. There are no session tickets and no early data, so replaying
//! an old connection gains nothing. The listening side continues to listen when strangers connect,
//! however many they are, and the connecting side retries when its handshake is interrupted.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection};

use crate::net::{Channel, Error, Fingerprint, Identity, Limits, Stop};

mod pinning;
mod stream;
mod visitors;

use pinning::client_config;
use stream::TlsStream;
use visitors::Visitors;

/// Waits for the peer at an address.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
}

impl Listener {
    /// Listens at `address` (`host:port`; port 0 lets the system choose).
    ///
    /// # Errors
    /// [`Error::Address`] if the address cannot be listened on.
    pub fn bind(address: &str) -> Result<Self, Error> {
        let failed = |problem| Error::Address { address: address.to_owned(), problem };
        let socket = TcpListener::bind(address).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self { socket })
    }

    /// The address on which this side listens.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn local_address(&self) -> Result<SocketAddr, Error> {
        Ok(self.socket.local_addr()?)
    }

    /// Waits until the expected peer has connected and proved its identity. A caller that expects
    /// nobody else then drops the listener. Strangers, garbage and slow handshakes are rejected
    /// without keeping the peer out: each handshake has its own thread, and if there are too many,
    /// the newest replaces the oldest.
    ///
    /// # Errors
    /// [`Error::NobodyCame`] with the reason of the last rejection; [`Error::NoThread`] if the
    /// system cannot start a thread for a handshake.
    pub fn accept(
        &self,
        us: &Identity,
        peer: Fingerprint,
        limits: Limits,
    ) -> Result<Channel, Error> {
        self.accept_unless(&Stop::default(), us, peer, limits)
    }

    /// The same, until the flag is set.
    ///
    /// # Errors
    /// As [`Listener::accept`], and [`Error::Stopped`].
    pub fn accept_unless(
        &self,
        stop: &Stop,
        us: &Identity,
        peer: Fingerprint,
        limits: Limits,
    ) -> Result<Channel, Error> {
        const PAUSE: Duration = Duration::from_millis(10);
        /// A flood of connections must not keep this side from handling finished handshakes.
        const AT_ONCE: usize = 64;
        let deadline = Instant::now() + limits.connect;
        let (arrived, arrivals) = mpsc::channel();
        let mut visitors = Visitors::new(arrived);
        while Instant::now() < deadline {
            stop.check()?;
            for _ in 0..AT_ONCE {
                let Ok((socket, address)) = self.socket.accept() else { break };
                visitors.welcome(socket, address, us, peer, limits)?;
            }
            let mut pause = PAUSE;
            loop {
                match arrivals.recv_timeout(pause) {
                    Ok((_, Ok(channel))) => return Ok(channel),
                    Ok((number, Err(error))) => visitors.refused(number, error),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
                pause = Duration::ZERO;
            }
        }
        Err(Error::NobodyCame { limit: limits.connect, refused: visitors.last_refusal() })
    }
}

/// Connects to the peer at `address` (`host:port`), retrying until it listens or the time limit is
/// over, so that either side may start first. A handshake that is interrupted before the peer has
/// presented its certificate is retried too: a listener with too many connections may have to drop
/// it.
///
/// # Errors
/// [`Error::Unreachable`], [`Error::WrongPeer`], or a failure of the handshake.
pub fn connect(
    address: &str,
    us: &Identity,
    peer: Fingerprint,
    limits: Limits,
) -> Result<Channel, Error> {
    connect_unless(&Stop::default(), address, us, peer, limits)
}

/// The same, until the flag is set.
///
/// # Errors
/// As [`connect`], and [`Error::Stopped`].
pub fn connect_unless(
    stop: &Stop,
    address: &str,
    us: &Identity,
    peer: Fingerprint,
    limits: Limits,
) -> Result<Channel, Error> {
    const PAUSE: Duration = Duration::from_millis(100);
    const LONGEST_ATTEMPT: Duration = Duration::from_secs(5);
    let deadline = Instant::now() + limits.connect;
    let targets: Vec<SocketAddr> = address
        .to_socket_addrs()
        .map_err(|problem| Error::Address { address: address.to_owned(), problem })?
        .collect();
    let mut last = io::Error::other("the name has no address");
    loop {
        stop.check()?;
        for target in &targets {
            let left = deadline.saturating_duration_since(Instant::now());
            // Short enough to notice a stop soon, long enough for any line.
            match reach(target, left.clamp(Duration::from_millis(1), LONGEST_ATTEMPT)) {
                Ok(socket) => match meet(socket, us, peer, limits)? {
                    Ok(stream) => return Ok(Channel::new(Box::new(stream), limits)),
                    Err(cut) => last = io::Error::other(cut.to_string()),
                },
                Err(error) => last = error,
            }
        }
        if Instant::now() + PAUSE >= deadline {
            let (address, limit) = (address.to_owned(), limits.connect);
            return Err(Error::Unreachable { address, limit, last });
        }
        thread::sleep(PAUSE);
    }
}

/// One attempt. On a port from the system's range for outgoing connections, a socket can connect to
/// itself if nobody listens.
fn reach(target: &SocketAddr, limit: Duration) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(target, limit)?;
    if socket.local_addr()? == socket.peer_addr()? {
        return Err(io::Error::other("nobody listens there; the connection had met itself"));
    }
    Ok(socket)
}

/// One handshake on the connecting side. The inner error is one that is worth a retry.
fn meet(
    socket: TcpStream,
    us: &Identity,
    peer: Fingerprint,
    limits: Limits,
) -> Result<Result<TlsStream, Error>, Error> {
    let (config, pin) = client_config(us, peer)?;
    let name = ServerName::try_from("diptych")
        .map_err(|_| Error::Identity("the name inside TLS is not a name"))?;
    let connection = Connection::Client(ClientConnection::new(config, name)?);
    match TlsStream::handshake(socket, connection, limits.handshake) {
        Ok(stream) => Ok(Ok(stream)),
        Err(cut @ (Error::Closed | Error::Timeout { .. } | Error::Io(_))) if !pin.has_judged() => {
            Ok(Err(cut))
        }
        Err(error) => Err(pin.explain(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux gives outgoing connections the ports whose parity is that of the first of the range.
    fn ephemeral_port() -> Option<SocketAddr> {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
        let mut range = range.split_whitespace().map_while(|bound| bound.parse::<u16>().ok());
        let (first, last) = (range.next()?, range.next()?);
        (first..=last).step_by(2).skip(500).find_map(|port| {
            let listener = TcpListener::bind(("127.0.0.1", port)).ok()?;
            listener.local_addr().ok()
        })
    }

    #[test]
    fn a_client_with_the_right_key_and_another_program_is_refused() {
        let identity = |name| Identity::from_pem(&Identity::generate_pem(name).unwrap()).unwrap();
        let (one, two) = (identity("one"), identity("two"));
        // The test takes this long: the listener waits on for somebody else.
        let connect = Duration::from_secs(4);
        let limits = Limits { connect, ..Limits::default() };
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_address().unwrap();
        let (config, _) = client_config(&two, one.fingerprint()).unwrap();
        let mut config = config.as_ref().clone();
        config.alpn_protocols.clear();
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                let name = ServerName::try_from("diptych").unwrap();
                let client = ClientConnection::new(config.into(), name).unwrap();
                let socket = reach(&address, connect).unwrap();
                let _ = TlsStream::handshake(socket, Connection::Client(client), connect);
                thread::sleep(Duration::from_millis(200));
            });
            listener.accept(&one, two.fingerprint(), limits)
        });
        let Err(Error::NobodyCame { refused: Some(why), .. }) = outcome else {
            panic!("{:?}", outcome.map(|_| "it was served"));
        };
        assert!(matches!(*why, Error::NotOurProtocol), "{why}");
        assert!(why.is_refusal());
    }

    #[test]
    fn a_connection_that_meets_itself_is_no_peer() {
        let Some(target) = ephemeral_port() else { return };
        let mut met_itself = false;
        for _ in 0..200_000 {
            let error = reach(&target, Duration::from_secs(1)).unwrap_err();
            met_itself = error.to_string().contains("met itself");
            if met_itself {
                break;
            }
        }
        assert!(met_itself, "no port was its own: this test has shown nothing");
    }
}
