//! What a run is doing, as a file in the text format of Prometheus.
//!
//! The file is replaced as a whole every [`EVERY`] and at the end. It holds what the terminal shows and no
//! number of records; but bytes depend on how many records there are, so it is this party's own, as its log
//! is. That it cannot be written is told, and ends nothing.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::files::write_whole_for_all;
use crate::Error;
use crate::net::Tally;
use crate::privacy::Epsilon;
use crate::role::Role;

/// How often the file is written.
pub const EVERY: Duration = Duration::from_secs(10);
/// How every such file begins.
const BEGINNING: &str = "# HELP diptych_";

/// The ε that a run has entered in the ledger. All copies share it.
#[derive(Clone, Debug, Default)]
pub struct Spent(Arc<Mutex<Option<Epsilon>>>);

impl Spent {
    /// So much is in the ledger now.
    pub fn set(&self, epsilon: &Epsilon) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(epsilon.clone());
    }

    fn text(&self) -> String {
        let spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spent.as_ref().map_or("0".to_owned(), ToString::to_string)
    }
}

/// The numbers of one run.
#[derive(Clone, Debug)]
pub struct Metrics {
    role: Role,
    began: Instant,
    tally: Tally,
    spent: Spent,
}

impl Metrics {
    /// Those of a run that begins now.
    pub fn new(role: Role, tally: Tally, spent: Spent) -> Self {
        Self { role, began: Instant::now(), tally, spent }
    }

    /// The text of the file; with the exit status, if the run is over.
    pub fn text(&self, status: Option<u8>) -> String {
        let (role, tally) = (self.role.to_string(), &self.tally);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut text = String::new();
        let mut add = |name: &str, kind: &str, help: &str, label: &str, value: String| {
            text += &format!("# HELP diptych_{name} {help}\n# TYPE diptych_{name} {kind}\n");
            text += &format!("diptych_{name}{{role=\"{role}\"{label}}} {value}\n");
        };
        let sent = tally.bytes_sent().to_string();
        add("sent_bytes_total", "counter", "Bytes sent to the peer, before TLS.", "", sent);
        let received = tally.bytes_received().to_string();
        let help = "Bytes received from the peer, before TLS.";
        add("received_bytes_total", "counter", help, "", received);
        let rounds = tally.rounds().to_string();
        add("rounds_total", "counter", "Times this side waited for an answer.", "", rounds);
        let help = "Epsilon that this run has entered in the ledger.";
        add("epsilon_spent", "gauge", help, "", self.spent.text());
        let seconds = format!("{:.3}", self.began.elapsed().as_secs_f64());
        add("run_seconds", "gauge", "Seconds since the run began.", "", seconds);
        let updated = now.as_secs().to_string();
        let help = "When this file was written, in seconds since 1970.";
        add("updated_timestamp_seconds", "gauge", help, "", updated);
        let phase = format!(",phase=\"{}\"", tally.phase().unwrap_or("start"));
        add("phase", "gauge", "The phase that the run is in, or ended in.", &phase, "1".to_owned());
        let running = u8::from(status.is_none()).to_string();
        add("running", "gauge", "1 while the run goes on, 0 after its end.", "", running);
        if let Some(status) = status {
            let help = "The exit status of a run that is over.";
            add("exit_status", "gauge", help, "", status.to_string());
        }
        text
    }
}

/// A thread that keeps the file up to date until the run ends.
pub struct Keeper {
    end: Sender<u8>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Writes the file now and every [`EVERY`]; `warn` is told when that begins to fail.
    ///
    /// # Errors
    /// If a file of that name is something else, which is not replaced; if there is no thread.
    pub fn start(
        path: PathBuf,
        metrics: Metrics,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, Error> {
        refuse_other_files(&path)?;
        let (end, ended) = mpsc::channel();
        let mut failing = false;
        let mut write = move |status| {
            // Whatever the umask of a service is, whoever collects metrics may read the file.
            let written = write_whole_for_all(&path, &metrics.text(status));
            if let (Err(error), false) = (&written, failing) {
                let path = path.display();
                warn(&format!("ATTENTION: cannot write the metrics to {path}: {error}"));
            }
            failing = written.is_err();
        };
        let keep = move || {
            write(None);
            loop {
                match ended.recv_timeout(EVERY) {
                    Ok(status) => return write(Some(status)),
                    Err(RecvTimeoutError::Timeout) => write(None),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = thread::Builder::new().spawn(keep).map_err(crate::net::Error::NoThread)?;
        Ok(Self { end, thread })
    }

    /// Writes the file a last time.
    pub fn end(self, status: u8) {
        let _ = self.end.send(status);
        let _ = self.thread.join();
    }
}

/// A ledger or a table that was named by mistake must not be replaced.
fn refuse_other_files(path: &Path) -> Result<(), Error> {
    let mut found = Vec::new();
    let length = BEGINNING.len() as u64;
    // Opening a pipe would wait for somebody who writes to it.
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(Error::input(format!("{} is not a regular file", path.display()))
            .advise("name a file that may be replaced every ten seconds"));
    }
    match File::open(path).and_then(|file| file.take(length).read_to_end(&mut found)) {
        Ok(_) if found.is_empty() || found == BEGINNING.as_bytes() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(Error::input(format!("{} is not a file of metrics", path.display()))
            .advise("name a file that may be replaced every ten seconds")),
        Err(error) => Err(Error::file(path, "read", &error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_of_metrics_is_replaced_and_any_other_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("diptych.prom");
        let metrics = || Metrics::new(Role::P1, Tally::default(), Spent::default());
        for status in [0, 4] {
            Keeper::start(path.clone(), metrics(), |line| panic!("{line}")).unwrap().end(status);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with(BEGINNING), "{text}");
            assert!(text.ends_with(&format!("diptych_exit_status{{role=\"p1\"}} {status}\n")));
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        }
        fs::write(&path, "{\"entry\":").unwrap();
        let refused = Keeper::start(path.clone(), metrics(), |_| {}).map(|_| ()).unwrap_err();
        assert!(refused.message().contains("is not a file of metrics"), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), b"{\"entry\":");
    }

    #[test]
    fn what_cannot_be_written_is_told_once() {
        let place = tempfile::tempdir().unwrap();
        let metrics = Metrics::new(Role::P2, Tally::default(), Spent::default());
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = told.clone();
        let warn = move |line: &str| telling.lock().unwrap().push(line.to_owned());
        Keeper::start(place.path().join("nowhere/file"), metrics, warn).unwrap().end(0);
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("ATTENTION: cannot write the metrics to "), "{told:?}");
    }
}
