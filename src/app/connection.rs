//! How every verb that talks to a peer reaches it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::Error;
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::net::{Fingerprint, Limits};
use crate::protocol::Session;
use crate::publish::meeting::{Meeting, read_identity};
use crate::role::Role;

/// Who we are, who the peer is, and how to meet it.
#[derive(Args, Debug)]
pub struct ConnectionArgs {
    /// Our role; the peer takes the other one
    #[arg(long)]
    pub role: Role,
    /// Our identity, made by `diptych keygen`
    #[arg(long, value_name = "FILE")]
    pub identity: PathBuf,
    /// A file whose first line is the passphrase of our identity, instead of asking for it
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// The peer's fingerprint, as its `diptych keygen` printed it
    #[arg(long, value_name = "FINGERPRINT")]
    pub peer: Fingerprint,
    /// Wait for the peer at this address (host:port)
    #[arg(
        long,
        value_name = "ADDRESS",
        conflicts_with = "connect",
        required_unless_present = "connect"
    )]
    pub listen: Option<String>,
    /// Connect to the peer at this address (host:port)
    #[arg(long, value_name = "ADDRESS")]
    pub connect: Option<String>,
    /// How long to wait for the peer to appear
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub wait: u64,
}

impl ConnectionArgs {
    /// Meets the peer and runs the handshake under `terms`: the canonical JSON
    /// of all that both sides must have in common.
    ///
    /// # Errors
    /// If the identity is not usable, the peer does not come, is not the one expected, or runs under other terms.
    pub fn open(&self, terms: &[u8], console: &Console) -> Result<Session, Error> {
        let screen = Screen::new(console);
        let identity = read_identity(&self.identity, self.passphrase_file.as_deref(), &screen)?;
        console.stop_on_signals();
        let limits = Limits { connect: Duration::from_secs(self.wait), ..Limits::default() };
        let meeting = match &self.connect {
            Some(address) => Meeting::Connect(address.clone()),
            None => Meeting::Listen(self.listen.clone().unwrap_or_default()),
        };
        meeting.open(&identity, self.peer, self.role, limits, terms, &screen)
    }
}
