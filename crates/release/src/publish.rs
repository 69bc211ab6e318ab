//! One party's side of a release, from its files to what it publishes: no command line, no printing.
//!
//! [`party`] reads the party's own file, [`data`] its table, [`meeting`] connects to the peer,
//! [`run`] runs the protocol of a release by two parties, [`local`] makes one alone. Their output
//! is written by [`artefacts`], described and signed in [`manifest`], checked by [`verify`] and
//! made readable by [`report`]. [`psi`] and [`circuit`] run protocols without a release. The caller
//! is informed of progress through a [`Watcher`], and of an [`Error`](crate::Error) in words.
//!
//! # Example
//!
//! A release by one party, checked as a stranger would.
//!
//! ```
//! use diptych_release::agreement::Agreement;
//! use diptych_release::publish::data::Source;
//! use diptych_release::publish::{NoWatcher, local, verify};
//!
//! let agreement = r#"
//!     [release]
//!     id = "illnesses"
//!     partition = "local"
//!     epsilon = "1"
//!     specializations = 1
//!     max_records = 1000
//!     [class]
//!     column = "ill"
//!     values = ["yes", "no"]
//!     [[attribute]]
//!     name = "job"
//!     kind = "categorical"
//!     taxonomy = { Any_Job = ["Engineer", "Writer"] }
//! "#;
//! let agreement =
//!     Agreement::parse("a.toml", agreement.as_bytes(), &|_| Err("no files here".to_owned()))?;
//! let place = tempfile::tempdir()?;
//! let data = place.path().join("people.csv");
//! std::fs::write(&data, "job,ill\n".to_owned() + &"Engineer,no\n".repeat(300))?;
//! let out = place.path().join("release");
//!
//! let data = Source::file(data);
//! let wanted = local::Wanted { data: &data, out: &out, compact: false, entered: None, identity: None };
//! local::release(&agreement, &wanted, &NoWatcher)?;
//! let (_, found) = verify::check(&out)?;
//! assert!(found.iter().any(|line| line.contains("4 rows, as the manifest says")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod artefacts;
pub mod circuit;
pub mod clock;
pub mod data;
mod files;
pub mod local;
pub mod manifest;
pub mod meeting;
pub mod metrics;
pub mod party;
pub mod psi;
pub mod released;
pub mod report;
pub mod rows;
pub mod run;
pub mod shards;
pub mod signing;
pub mod verify;
pub mod width;

use std::path::Path;

use zeroize::Zeroizing;

use crate::net::{Stop, Tally};
use crate::privacy::Epsilon;
use crate::release::Step;

/// What happened, for programs that read a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// This side waits at an address.
    Listening,
    /// This side looks for the peer at an address.
    Connecting,
    /// The peer is there and under the same agreement.
    Connected,
    /// Both ledgers have the run.
    Debited,
    /// The release is complete.
    Released,
    /// How far a run came that failed; the error follows.
    Ended,
}

impl Event {
    /// Its name in a log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Listening => "listening",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Debited => "debited",
            Self::Released => "released",
            Self::Ended => "ended",
        }
    }
}

/// Observes a run: a terminal, a log, a notebook. May be called from any thread.
pub trait Watcher: Sync {
    /// A line for people about what is going on.
    fn say(&self, line: &str);

    /// A line about something that programs look for.
    fn tell(&self, event: Event, line: &str) {
        let _ = event;
        self.say(line);
    }

    /// So much ε is in the ledger now, on disk.
    fn spent(&self, epsilon: &Epsilon) {
        let _ = epsilon;
    }

    /// Where connections count what they exchange, and what phase it is.
    fn tally(&self) -> Tally {
        Tally::default()
    }

    /// How far the run has come.
    fn step(&self, step: Step);

    /// The flag that stops the run; every wait for the peer checks it.
    fn stop(&self) -> Stop {
        Stop::default()
    }

    /// The passphrase of the identity in this file, if a user can be asked for it.
    fn passphrase(&self, identity: &Path) -> Option<Zeroizing<String>> {
        let _ = identity;
        None
    }
}

/// Ignores everything.
#[derive(Clone, Copy, Debug)]
pub struct NoWatcher;

impl Watcher for NoWatcher {
    fn say(&self, _: &str) {}

    fn step(&self, _: Step) {}
}
