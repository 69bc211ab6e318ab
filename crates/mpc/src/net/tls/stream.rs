//! Frames over a TLS connection on a non-blocking socket, every wait bounded.
//!
//! While this side sends, it also reads what the peer sends, so that two parties that send at the
//! same time do not block each other.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use rustls::Connection;

use super::pinning::APPLICATION_PROTOCOL;
use crate::net::{Accept, Error, HEADER_BYTES, Header, Limits, Patience, Stop, Tag, Transport};

/// TLS records that may wait for the socket.
const OUTGOING_BYTES: usize = 256 << 10;

/// After such a silence the system sends keep-alive probes. A party that computes, or that waits
/// while its shards work, sends nothing for minutes, and middleboxes drop idle connections.
const SILENCE: Duration = Duration::from_secs(60);

const HANDSHAKE: &str = "finish the TLS handshake";

const EXPORTER_LABEL: &[u8] = b"EXPORTER-diptych-session-v1";

pub(super) struct TlsStream {
    socket: TcpStream,
    connection: Connection,
    /// Plaintext that arrived while this side was sending, from `inbox_start` on.
    inbox: Vec<u8>,
    inbox_start: usize,
    closed: bool,
    stop: Stop,
    /// A frame was abandoned in its middle: whatever followed would be read as its rest.
    torn: bool,
}

/// The longest piece of a body that is allocated before its bytes have arrived.
const PIECE_BYTES: usize = 1 << 20;

/// One bounded wait: its purpose, its limit, its deadline. Bytes that move extend it, never what
/// the peer announces.
struct Wait {
    action: &'static str,
    patience: Patience,
    start: Instant,
    /// When a byte moved last.
    last: Instant,
    moved: u64,
}

impl Wait {
    fn new(action: &'static str, patience: Patience) -> Self {
        let now = Instant::now();
        Self { action, patience, start: now, last: now, moved: 0 }
    }

    fn short(action: &'static str, pause: Duration) -> Self {
        Self::new(action, Patience::pause(pause))
    }

    fn moved(&mut self, bytes: usize) {
        self.moved += bytes as u64;
        self.last = Instant::now();
    }

    /// For the whole frame, as far as it has moved.
    fn earned(&self) -> Duration {
        self.patience.pause + Limits::time_for(self.moved)
    }

    fn end(&self) -> Instant {
        let end = (self.start + self.earned()).min(self.last + self.patience.pause);
        self.patience.until.map_or(end, |until| end.min(until))
    }

    fn timeout(&self) -> Error {
        let paused = self.last.elapsed() >= self.patience.pause;
        let limit = if paused { self.patience.pause } else { self.earned() };
        Error::Timeout { action: self.action, limit }
    }
}

impl TlsStream {
    /// Runs the TLS handshake to its end.
    pub(super) fn handshake(
        socket: TcpStream,
        connection: Connection,
        limit: Duration,
    ) -> Result<Self, Error> {
        Self::begin(socket, connection)?.finish(&mut Wait::short(HANDSHAKE, limit))
    }

    /// The same for the side that listens: the client must send first and soon, or it is not
    /// served. `heard` is called when its first message was complete TLS.
    pub(super) fn handshake_with_client(
        socket: TcpStream,
        connection: Connection,
        limits: (Duration, Duration),
        heard: impl FnOnce(),
    ) -> Result<Self, Error> {
        let (first, whole) = limits;
        let mut wait = Wait::short(HANDSHAKE, whole);
        let first = Wait::short("begin the TLS handshake", first.min(whole));
        let mut stream = Self::begin(socket, connection)?;
        while !stream.connection.wants_write() {
            stream.take_in(&first)?;
        }
        heard();
        stream.finish(&mut wait)
    }

    fn begin(socket: TcpStream, mut connection: Connection) -> Result<Self, Error> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        keep_alive(&socket)?;
        connection.set_buffer_limit(Some(OUTGOING_BYTES));
        let (inbox, stop) = (Vec::new(), Stop::default());
        Ok(Self { socket, connection, inbox, inbox_start: 0, closed: false, stop, torn: false })
    }

    fn finish(mut self, wait: &mut Wait) -> Result<Self, Error> {
        while self.connection.is_handshaking() {
            if self.connection.wants_write() {
                self.flush(wait)?;
            } else {
                self.take_in(wait)?;
            }
        }
        self.flush(wait)?;
        // TLS accepts a client that offers no protocol at all.
        match self.connection.alpn_protocol() {
            Some(APPLICATION_PROTOCOL) => Ok(self),
            _ => Err(Error::NotOurProtocol),
        }
    }

    /// Reads what the socket has, waiting for something if there is nothing.
    fn take_in(&mut self, wait: &Wait) -> Result<(), Error> {
        while !self.take_in_now()? {
            self.await_socket(PollFlags::IN, wait)?;
        }
        Ok(())
    }

    /// Reads what the socket has. False if that is nothing at the moment.
    fn take_in_now(&mut self) -> Result<bool, Error> {
        match self.connection.read_tls(&mut self.socket) {
            Ok(0) => return Err(Error::Closed),
            Ok(_) => {}
            Err(error) if is_transient(&error) => return Ok(false),
            Err(error) => return Err(from_io(error)),
        }
        if let Err(error) = self.connection.process_new_packets() {
            // Send the alert that says what was wrong, if the peer still listens.
            let _ = self.connection.write_tls(&mut self.socket);
            return Err(Error::Tls(error));
        }
        Ok(true)
    }

    /// Writes everything that waits to the socket, reading what arrives meanwhile.
    fn flush(&mut self, wait: &mut Wait) -> Result<(), Error> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(count) => wait.moved(count),
                Err(error) if is_transient(&error) => self.make_room(wait)?,
                Err(error) => return Err(from_io(error)),
            }
        }
        Ok(())
    }

    /// The same where more of a frame follows: after a stop it continues for a moment, because an
    /// abort can be sent only after a whole frame.
    fn flush_inside_a_frame(&mut self, wait: &mut Wait) -> Result<(), Error> {
        const MOMENT: Duration = Duration::from_millis(500);
        match self.flush(wait) {
            Err(Error::Stopped) => {
                let stop = std::mem::take(&mut self.stop);
                let done = self.flush(&mut Wait::short(wait.action, MOMENT));
                self.stop = stop;
                done.map_err(|_| Error::Stopped)
            }
            done => done,
        }
    }

    /// Waits until the socket accepts more, and reads meanwhile so that the peer can send.
    fn make_room(&mut self, wait: &Wait) -> Result<(), Error> {
        let may_take_in = self.inbox.len() - self.inbox_start < Limits::IN_FLIGHT_BYTES;
        let interest = if may_take_in { PollFlags::OUT | PollFlags::IN } else { PollFlags::OUT };
        let ready = self.await_socket(interest, wait)?;
        if may_take_in && ready.intersects(PollFlags::IN | PollFlags::HUP) && self.take_in_now()? {
            self.store_plaintext()?;
        }
        Ok(())
    }

    fn store_plaintext(&mut self) -> Result<(), Error> {
        self.inbox.drain(..self.inbox_start);
        self.inbox_start = 0;
        match self.connection.reader().read_to_end(&mut self.inbox) {
            Ok(_) => Ok(()),
            Err(error) if is_transient(&error) => Ok(()),
            Err(error) => Err(from_io(error)),
        }
    }

    fn await_socket(&self, interest: PollFlags, wait: &Wait) -> Result<PollFlags, Error> {
        loop {
            self.stop.check()?;
            let left =
                wait.end().checked_duration_since(Instant::now()).ok_or_else(|| wait.timeout())?;
            let look = Timespec::try_from(left.min(Stop::LOOK)).map_err(|_| wait.timeout())?;
            let mut sockets = [PollFd::new(&self.socket, interest)];
            match poll(&mut sockets, Some(&look)) {
                Ok(0) => {}
                Ok(_) => return Ok(sockets[0].revents()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::Io(error.into())),
            }
        }
    }

    /// Fills `bytes` with plaintext.
    fn read_exact(&mut self, mut bytes: &mut [u8], wait: &mut Wait) -> Result<(), Error> {
        while !bytes.is_empty() {
            let read = self.read_some(bytes, wait)?;
            wait.moved(read);
            bytes = &mut bytes[read..];
        }
        Ok(())
    }

    fn read_some(&mut self, bytes: &mut [u8], wait: &Wait) -> Result<usize, Error> {
        let stored = &self.inbox[self.inbox_start..];
        if !stored.is_empty() {
            let count = stored.len().min(bytes.len());
            bytes[..count].copy_from_slice(&stored[..count]);
            self.inbox_start += count;
            if self.inbox_start == self.inbox.len() {
                self.inbox.clear();
                self.inbox_start = 0;
            }
            return Ok(count);
        }
        loop {
            // A flood of records without data must not outlast the limit either.
            if Instant::now() >= wait.end() {
                return Err(wait.timeout());
            }
            match self.connection.reader().read(bytes) {
                Ok(0) => return Err(Error::Closed),
                Ok(count) => return Ok(count),
                Err(error) if is_transient(&error) => self.take_in(wait)?,
                Err(error) => return Err(from_io(error)),
            }
        }
    }
}

impl Transport for TlsStream {
    fn stop_on(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn send(&mut self, header: Header, body: &[u8], patience: Patience) -> Result<(), Error> {
        if self.torn {
            return Err(Error::Closed);
        }
        let wait = &mut Wait::new("take the data sent to it", patience);
        let header = header.encode();
        // Header and body share TLS records: a small message is one record.
        let mut sent = self
            .connection
            .writer()
            .write_vectored(&[IoSlice::new(&header), IoSlice::new(body)])?;
        while sent < HEADER_BYTES + body.len() {
            if let Err(error) = self.flush_inside_a_frame(wait) {
                self.torn = true;
                return Err(error);
            }
            let rest = match sent.checked_sub(HEADER_BYTES) {
                Some(in_body) => &body[in_body..],
                None => &header[sent..],
            };
            sent += self.connection.writer().write(rest)?;
        }
        self.flush(wait)
    }

    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, Error> {
        let wait = &mut Wait::new("send the next message", patience);
        let mut bytes = [0; HEADER_BYTES];
        self.read_exact(&mut bytes, wait)?;
        let header = Header::decode(bytes);
        accept(header)?;
        body.clear();
        while body.len() < header.length {
            let got = body.len();
            body.resize(header.length.min(got + PIECE_BYTES), 0);
            self.read_exact(&mut body[got..], wait)?;
        }
        Ok(header.tag)
    }

    fn binding(&self) -> Result<[u8; 32], Error> {
        Ok(self.connection.export_keying_material([0; 32], EXPORTER_LABEL, None)?)
    }

    fn look_ahead(&mut self) -> Result<Option<Tag>, Error> {
        let header = |stream: &Self| {
            let stored = &stream.inbox[stream.inbox_start..];
            stored.first_chunk().map(|bytes| Header::decode(*bytes).tag)
        };
        // Data received before the end is delivered first.
        self.store_plaintext()?;
        if header(self).is_none() && self.take_in_now()? {
            self.store_plaintext()?;
        }
        Ok(header(self))
    }

    /// Sends the closing alert, then reads for a moment: closing a socket with unread data resets
    /// the connection, and the peer would lose our last message.
    fn close(&mut self) {
        const MOST_BYTES: usize = 2 * Limits::IN_FLIGHT_BYTES;
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.stop = Stop::default();
        let wait = &mut Wait::short("close the connection", Duration::from_millis(500));
        self.connection.send_close_notify();
        let _ = self.flush(wait);
        let _ = self.socket.shutdown(Shutdown::Write);
        let mut sink = [0; 16 << 10];
        let mut drained = 0;
        while drained < MOST_BYTES && self.await_socket(PollFlags::IN, wait).is_ok() {
            match self.socket.read(&mut sink) {
                Ok(0) => break,
                Ok(count) => drained += count,
                Err(error) if is_transient(&error) => {}
                Err(_) => break,
            }
        }
    }
}

impl Drop for TlsStream {
    fn drop(&mut self) {
        self.close();
    }
}

fn keep_alive(socket: &TcpStream) -> io::Result<()> {
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, SILENCE)?;
    sockopt::set_tcp_keepintvl(socket, SILENCE)?;
    Ok(())
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A connection that was interrupted is reported as closed, whichever error the system gives.
fn from_io(error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_silent_connection_is_kept_alive() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(!sockopt::socket_keepalive(&socket).unwrap());
        keep_alive(&socket).unwrap();
        assert!(sockopt::socket_keepalive(&socket).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&socket).unwrap(), SILENCE);
    }
}
