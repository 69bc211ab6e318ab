//! Connects one party to the other.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::Error;
use crate::agreement;
use crate::math::Randomness;
use crate::net::tls::{self, Listener};
use crate::net::{self, Channel, Fingerprint, Identity, Limits, Stop};
use crate::protocol::Session;
use crate::protocol::shards::crossed;
use crate::publish::{Event, Watcher};
use crate::role::Role;

/// The pause before another attempt after a connection that was closed as soon as it was made.
const BETWEEN_MEETINGS: Duration = Duration::from_millis(500);

/// The phase before the peer is there.
const WAITING: &str = "waiting for the peer";

/// Characters of the longest name in an identity.
const LONGEST_NAME: usize = 64;

/// Where the two parties meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The peer connects to this address.
    Listen(String),
    /// The peer listens at this address.
    Connect(String),
}

/// One party's side of a meeting, for one conversation or several.
pub struct Door<'a> {
    /// Where the two meet.
    pub meeting: &'a Meeting,
    /// The own identity.
    pub identity: &'a Identity,
    /// The fingerprint of the expected peer.
    pub peer: Fingerprint,
    /// Which party this is.
    pub role: Role,
    /// How long to wait.
    pub limits: Limits,
    /// Is informed of it.
    pub watcher: &'a dyn Watcher,
    /// Stops the connecting, not what follows it.
    pub stop: Stop,
    /// The listener, if this side listens and has begun to; kept until it is closed explicitly.
    pub listener: Option<Listener>,
}

impl Meeting {
    /// Connects to the peer and runs the handshake under `terms`.
    ///
    /// # Errors
    /// If the peer does not come, is not the one expected, or runs under other terms.
    pub fn open(
        &self,
        identity: &Identity,
        peer: Fingerprint,
        role: Role,
        limits: Limits,
        terms: &[u8],
        watcher: &dyn Watcher,
    ) -> Result<Session, Error> {
        if peer == identity.fingerprint() {
            return Err(Error::input(format!("{peer} is our own fingerprint, not a peer's"))
                .advise("ask the peer for its own: `diptych keygen` printed it there"));
        }
        let (meeting, stop) = (self, watcher.stop());
        let mut door =
            Door { meeting, identity, peer, role, limits, watcher, stop, listener: None };
        door.meet(terms, false)
    }

    /// The address for shards with this number that are in separate processes: n + 1 ports above.
    ///
    /// # Errors
    /// If the address has no such port.
    pub fn of_shard(&self, number: usize) -> Result<Self, Error> {
        let (Self::Listen(address) | Self::Connect(address)) = self;
        let above = u16::try_from(number + 1).ok();
        let found = address.rsplit_once(':').and_then(|(host, port)| {
            let port = port.parse().ok().filter(|port: &u16| *port > 0)?;
            Some(format!("{host}:{}", port.checked_add(above?)?))
        });
        let address = found.ok_or_else(|| {
            Error::input(format!("{address} has no port for shard {number}")).advise(
                "shards need the ports above that of the leads: give it, and lower if need be",
            )
        })?;
        Ok(match self {
            Self::Listen(_) => Self::Listen(address),
            Self::Connect(_) => Self::Connect(address),
        })
    }

    /// What prevents the connection, each with a sentence of its own.
    fn in_words(&self, error: net::Error, identity: &Identity) -> Error {
        let (Self::Listen(address) | Self::Connect(address)) = self;
        let words = match (self, &error) {
            (Self::Listen(_), net::Error::Address { problem, .. }) => match problem.kind() {
                ErrorKind::AddrInUse => Some((
                    format!("the port of {address} is in use by another program"),
                    "end that program, or listen on another port and tell your partner".to_owned(),
                )),
                ErrorKind::AddrNotAvailable => Some((
                    format!("this machine does not have the address {address}"),
                    "listen on an address of its own; 0.0.0.0 stands for all of them".to_owned(),
                )),
                ErrorKind::PermissionDenied => Some((
                    format!("this user may not listen on {address}"),
                    "choose a port of 1024 or above".to_owned(),
                )),
                _ => None,
            },
            (Self::Connect(_), net::Error::Address { problem, .. })
                if problem.kind() != ErrorKind::InvalidInput =>
            {
                Some((
                    format!("the host of {address} is not known here ({problem})"),
                    "check its spelling, and that this machine can look up names".to_owned(),
                ))
            }
            (_, net::Error::Tls(_)) if error.is_refusal() => Some((
                format!("the peer does not accept this party's key ({error})"),
                format!(
                    "ours is {}; the agreement at the peer must say so, and the peer's own \
                     fingerprint at this side",
                    identity.fingerprint()
                ),
            )),
            _ => None,
        };
        let failure = Error::from(error);
        match words {
            Some((message, advice)) => failure.reworded(message).advise(advice),
            None => failure,
        }
    }
}

impl Door<'_> {
    /// Connects to the peer and runs the handshake under `terms`. If `others` follow, this side
    /// continues to listen.
    ///
    /// # Errors
    /// As [`Meeting::open`].
    pub fn meet(&mut self, terms: &[u8], others: bool) -> Result<Session, Error> {
        let deadline = Instant::now() + self.limits.connect;
        let mut connect = self.limits.connect;
        loop {
            let rng = Randomness::from_os()?;
            let reached = self.reach(Limits { connect, ..self.limits }, others);
            let mut channel =
                reached.map_err(|error| self.meeting.in_words(error, self.identity))?;
            channel.stop_on(self.stop.clone());
            channel.count_into(self.watcher.tally());
            let error = match Session::establish(channel, self.role, terms, rng) {
                Ok(mut session) => {
                    session.channel.stop_on(self.watcher.stop());
                    return Ok(session);
                }
                Err(error) => error,
            };
            connect = deadline.saturating_duration_since(Instant::now());
            let connects = matches!(self.meeting, Meeting::Connect(_));
            match error {
                // A listener with too many connections drops a handshake without a message, even
                // when we consider it finished. A peer that aborts with a reason sends it.
                net::Error::Closed if connects && !connect.is_zero() => {
                    thread::sleep(BETWEEN_MEETINGS.min(connect));
                }
                net::Error::Terms { ref theirs } => {
                    if let Some(message) = crossed(terms, theirs) {
                        let failure = Error::from(error).reworded(message);
                        return Err(failure.advise(
                            "two runs of these parties are under way at the same address: let one end \
                             before the other begins, or give each ports of its own",
                        ));
                    }
                    let difference = name_difference(terms, theirs);
                    return Err(Error::from(error).advise(difference));
                }
                _ => return Err(self.meeting.in_words(error, self.identity)),
            }
        }
    }

    fn reach(&mut self, limits: Limits, others: bool) -> Result<Channel, net::Error> {
        let (watcher, stop) = (self.watcher, self.stop.clone());
        watcher.tally().enter(WAITING);
        let address = match self.meeting {
            Meeting::Listen(address) => address,
            Meeting::Connect(address) => {
                watcher.tell(Event::Connecting, &format!("connecting to {address} …"));
                return tls::connect_unless(&stop, address, self.identity, self.peer, limits);
            }
        };
        let listener = match self.listener.take() {
            Some(listener) => listener,
            None => {
                let listener = Listener::bind(address)?;
                let at = listener.local_address()?;
                watcher.tell(Event::Listening, &format!("listening on {at} …"));
                listener
            }
        };
        let channel = listener.accept_unless(&stop, self.identity, self.peer, limits)?;
        self.listener = others.then_some(listener);
        Ok(channel)
    }
}

/// A name that an identity may have, without white space around it.
///
/// # Errors
/// If the text has none.
pub fn identity_name(text: &str) -> Result<&str, Error> {
    let name = text.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(Error::input("the name must have 1 to 64 printable characters")
            .advise("give the organisation's name, for example --name Bank"));
    }
    Ok(name)
}

/// Creates an identity and writes it to a file that only its owner can read; an existing file is
/// never overwritten.
///
/// # Errors
/// If the file cannot be written, or exists already.
pub fn create_identity(
    name: &str,
    path: &Path,
    passphrase: Option<&str>,
) -> Result<Identity, Error> {
    let mut pem = Identity::generate_pem(name)?;
    let identity = Identity::from_pem(&pem)?;
    if let Some(passphrase) = passphrase {
        pem = Zeroizing::new(Identity::protect_pem(&pem, passphrase.as_bytes())?);
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(
        |error| match error.kind() {
            ErrorKind::AlreadyExists => Error::input(format!("{} exists already", path.display()))
                .advise("choose another name; an identity that is in use must not be lost"),
            _ => Error::file(path, "write", &error),
        },
    )?;
    let written = file.write_all(pem.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // An incomplete key file is removed: the next attempt would fail because it exists.
        let _ = std::fs::remove_file(path);
        return Err(Error::file(path, "write", &error));
    }
    Ok(identity)
}

/// Reads an identity file; if its key is encrypted, the passphrase comes from a file or from the
/// watcher. The watcher is warned if others can read either file.
///
/// # Errors
/// If it cannot be read, is far too long, is not an identity, or cannot be decrypted.
pub fn read_identity(
    path: &Path,
    passphrase_file: Option<&Path>,
    watcher: &dyn Watcher,
) -> Result<Identity, Error> {
    for (what, path) in [("private key", Some(path)), ("passphrase", passphrase_file)] {
        let mode = path.and_then(|path| std::fs::metadata(path).ok()).map(|file| file.mode());
        if let (Some(path), Some(true)) = (path, mode.map(|mode| mode & 0o077 != 0)) {
            let shown = path.display();
            watcher.say(&format!(
                "ATTENTION: others may read the {what} in {shown}: chmod 600 {shown}"
            ));
        }
    }
    let pem = read_secret(path, Identity::LONGEST_PEM).map_err(|failure| {
        failure.advise(format!("make one: diptych keygen --name NAME --out {}", path.display()))
    })?;
    let read = if Identity::is_protected(&pem) {
        let passphrase = match passphrase_file {
            Some(file) => read_passphrase(file)?,
            None => watcher.passphrase(path).ok_or_else(|| {
                let shown = path.display();
                Error::input(format!("{shown} is under a passphrase, and none was given")).advise(
                    "start it on a terminal, or name a file that holds it: passphrase_file in \
                         the party file, or --passphrase-file",
                )
            })?,
        };
        Identity::from_protected_pem(&pem, passphrase.as_bytes())
    } else {
        Identity::from_pem(&pem)
    };
    read.map_err(|error| {
        let wrong = matches!(error, net::Error::Passphrase(_));
        let message = format!("{}: {error}", path.display());
        let failure = Error::from(error).reworded(message);
        match passphrase_file {
            Some(file) if wrong => failure.advise(format!(
                "check the first line of {}: it must be the passphrase that was given to `diptych \
                 keygen` for this identity",
                file.display()
            )),
            None if wrong => failure.advise("start again and type the passphrase of this identity"),
            _ => failure,
        }
    })
}

/// Reads a passphrase: the first line of a file.
///
/// # Errors
/// If it cannot be read, or its first line is empty or too long.
pub fn read_passphrase(path: &Path) -> Result<Zeroizing<String>, Error> {
    let text = read_secret(path, Identity::LONGEST_PASSPHRASE + 2)?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() || line.len() > Identity::LONGEST_PASSPHRASE {
        let most = Identity::LONGEST_PASSPHRASE;
        return Err(Error::input(format!(
            "the first line of {} is not a passphrase of 1 to {most} bytes",
            path.display()
        )));
    }
    Ok(Zeroizing::new(line.to_owned()))
}

/// The first bytes of a file, in memory that is wiped.
fn read_secret(path: &Path, most: usize) -> Result<Zeroizing<String>, Error> {
    // Allocated at its largest length: reallocation would leave the secret behind.
    let mut text = Zeroizing::new(String::with_capacity(most + 1));
    File::open(path)
        .and_then(|file| file.take(most as u64 + 1).read_to_string(&mut text))
        .map_err(|error| Error::file(path, "read", &error))?;
    Ok(text)
}

/// Names the first difference of two canonical texts. What comes from the peer is escaped for
/// printing.
fn name_difference(ours: &[u8], theirs: &[u8]) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    match agreement::first_difference(&text(ours), &text(theirs)) {
        Some(difference) => difference.to_string(),
        None => "the texts differ only in bytes that are not text".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_of_two_terms_is_named() {
        let named = name_difference(br#"{"epsilon":"1"}"#, br#"{"epsilon":"2"}"#);
        assert!(named.contains("epsilon") && named.contains('1') && named.contains('2'), "{named}");
    }

    #[test]
    fn shards_meet_at_the_ports_above_that_of_the_leads() {
        let of = |address: &str, shard| Meeting::Listen(address.to_owned()).of_shard(shard).ok();
        let listen = |address: &str| Some(Meeting::Listen(address.to_owned()));
        assert_eq!(of("0.0.0.0:7000", 0), listen("0.0.0.0:7001"));
        assert_eq!(of("[::1]:7000", 15), listen("[::1]:7016"));
        for (address, shard) in [("a:65535", 0), ("a:0", 1), ("a", 1), ("a:7000", usize::MAX - 1)] {
            assert_eq!(of(address, shard), None, "{address}");
        }
    }

    #[test]
    fn terms_that_are_no_text_are_named_harmlessly() {
        let named = name_difference(b"{}", b"\x1b[31m\xff");
        assert!(!named.contains('\x1b'), "{named}");
    }
}
