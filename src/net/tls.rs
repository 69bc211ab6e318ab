//! One mutually authenticated TLS 1.3 connection. There is no other way between two machines.
//!
//! Both ends show a self-signed Ed25519 certificate and accept exactly one
//! fingerprint. Names, dates and authorities play no part. There are no
//! session tickets and no early data, so nothing of an old connection is worth
//! replaying. The listening side goes on listening when a stranger knocks.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};

use crate::net::{AbortReason, Channel, Error, Fingerprint, Identity, Limits};

mod pinning;
mod stream;

use pinning::{client_config, server_config};
use stream::TlsStream;

/// Connections whose handshake may be under way at once; further ones are closed at once.
const MOST_PENDING: usize = 16;

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

    /// Where this side listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_address(&self) -> Result<SocketAddr, Error> {
        Ok(self.socket.local_addr()?)
    }

    /// Waits until the expected peer has connected and proved who it is, then
    /// stops listening. Strangers, garbage and slow handshakes are refused
    /// without keeping the peer out: each handshake has a thread of its own.
    ///
    /// # Errors
    /// [`Error::NobodyCame`] with the reason of the last refusal.
    pub fn accept(
        self,
        us: &Identity,
        peer: Fingerprint,
        limits: Limits,
    ) -> Result<Channel, Error> {
        const PAUSE: Duration = Duration::from_millis(10);
        let deadline = Instant::now() + limits.connect;
        let pending = Arc::new(AtomicUsize::new(0));
        let (arrived, arrivals) = mpsc::channel();
        let mut refused = None;
        while Instant::now() < deadline {
            while let Ok((socket, address)) = self.socket.accept() {
                if pending.fetch_add(1, Ordering::SeqCst) >= MOST_PENDING {
                    pending.fetch_sub(1, Ordering::SeqCst);
                    continue;
                }
                tracing::debug!(%address, "a connection came in");
                let (us, arrived, pending) = (us.clone(), arrived.clone(), pending.clone());
                thread::spawn(move || {
                    welcome(socket, &us, peer, limits, &arrived);
                    pending.fetch_sub(1, Ordering::SeqCst);
                });
            }
            match arrivals.recv_timeout(PAUSE) {
                Ok(Ok(channel)) => return Ok(channel),
                Ok(Err(error)) => {
                    tracing::warn!(%error, "refused a connection");
                    refused = Some(Box::new(error));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        Err(Error::NobodyCame { limit: limits.connect, refused })
    }
}

/// One handshake on the listening side. If the peer has been found meanwhile, a second connection of it is told so.
fn welcome(
    socket: TcpStream,
    us: &Identity,
    peer: Fingerprint,
    limits: Limits,
    arrived: &Sender<Result<Channel, Error>>,
) {
    let outcome = serve(socket, us, peer, limits.handshake)
        .map(|stream| Channel::new(Box::new(stream), limits));
    if let Err(mpsc::SendError(Ok(mut late))) = arrived.send(outcome) {
        late.abort(AbortReason::Busy);
    }
}

fn serve(
    socket: TcpStream,
    us: &Identity,
    peer: Fingerprint,
    limit: Duration,
) -> Result<TlsStream, Error> {
    let (config, pin) = server_config(us, peer)?;
    let connection = Connection::Server(ServerConnection::new(config)?);
    TlsStream::handshake(socket, connection, limit).map_err(|error| pin.explain(error))
}

/// Connects to the peer at `address` (`host:port`), trying again until it
/// listens or the limit is over, so that either side may start first.
///
/// # Errors
/// [`Error::Unreachable`], [`Error::WrongPeer`], or a failure of the handshake.
pub fn connect(
    address: &str,
    us: &Identity,
    peer: Fingerprint,
    limits: Limits,
) -> Result<Channel, Error> {
    let socket = reach(address, limits.connect)?;
    let (config, pin) = client_config(us, peer)?;
    let name = ServerName::try_from("diptych")
        .map_err(|_| Error::Identity("the name inside TLS is not a name"))?;
    let connection = Connection::Client(ClientConnection::new(config, name)?);
    let stream = TlsStream::handshake(socket, connection, limits.handshake)
        .map_err(|error| pin.explain(error))?;
    Ok(Channel::new(Box::new(stream), limits))
}

fn reach(address: &str, limit: Duration) -> Result<TcpStream, Error> {
    const PAUSE: Duration = Duration::from_millis(100);
    let deadline = Instant::now() + limit;
    let targets: Vec<SocketAddr> = address
        .to_socket_addrs()
        .map_err(|problem| Error::Address { address: address.to_owned(), problem })?
        .collect();
    let mut last = std::io::Error::other("the name has no address");
    loop {
        for target in &targets {
            let left = deadline.saturating_duration_since(Instant::now());
            match TcpStream::connect_timeout(target, left.max(Duration::from_millis(1))) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        if Instant::now() + PAUSE >= deadline {
            return Err(Error::Unreachable { address: address.to_owned(), limit, last });
        }
        thread::sleep(PAUSE);
    }
}
