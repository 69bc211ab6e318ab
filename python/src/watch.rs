//! How Python watches a run: the work goes on in a thread of its own, without Python's lock, while the
//! thread that called tells its callback how far it is and looks for Ctrl-C.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use diptych::Error;
use diptych::error::Status;
use diptych::net::{self, Stop};
use diptych::publish::Watcher;
use diptych::release::Step;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use zeroize::Zeroizing;

use crate::raised;

/// How often the caller's thread looks for Ctrl-C, and how often progress is told at most.
const LOOK: Duration = Duration::from_millis(100);
/// As large as that of a program's first thread.
const STACK: usize = 16 << 20;

enum Event {
    Line(String),
    Step(Step),
}

/// The run's end of it.
struct Reporter {
    events: Sender<Event>,
    stop: Stop,
    passphrase: Option<Zeroizing<String>>,
}

impl Watcher for Reporter {
    fn say(&self, line: &str) {
        let _ = self.events.send(Event::Line(line.to_owned()));
    }

    fn step(&self, step: Step) {
        let _ = self.events.send(Event::Step(step));
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn passphrase(&self, _: &Path) -> Option<Zeroizing<String>> {
        self.passphrase.clone()
    }
}

/// Python's end: `callback(line, phase, done, total)`, where a line has no phase and a phase no line.
struct Listener<'a> {
    callback: Option<&'a Py<PyAny>>,
    stop: Stop,
    phase: &'static str,
    done: usize,
    total: usize,
    told: Instant,
    /// What the callback or a signal raised first; the run is asked to end then.
    error: Option<PyErr>,
}

impl Listener<'_> {
    /// Until the work has dropped its end.
    fn listen(&mut self, events: &Receiver<Event>) {
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Line(line)) => self.call(&line, "", 0, 0),
                Ok(Event::Step(step)) => self.step(step),
                Err(RecvTimeoutError::Timeout) => {
                    self.keep(Python::attach(|py| py.check_signals()))
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Began { phase, total } => {
                (self.phase, self.done, self.total) = (phase, 0, total);
            }
            Step::Advanced(more) => {
                self.done = self.done.saturating_add(more);
                if self.told.elapsed() < LOOK && self.done < self.total {
                    return;
                }
            }
            Step::Ended => return,
        }
        self.told = Instant::now();
        self.call("", self.phase, self.done, self.total);
    }

    fn call(&mut self, line: &str, phase: &str, done: usize, total: usize) {
        let called = Python::attach(|py| {
            py.check_signals()?;
            match self.callback {
                Some(callback) if self.error.is_none() => {
                    callback.call1(py, (line, phase, done, total)).map(|_| ())
                }
                _ => Ok(()),
            }
        });
        self.keep(called);
    }

    fn keep(&mut self, result: PyResult<()>) {
        if let Err(error) = result {
            self.stop.set();
            self.error.get_or_insert(error);
        }
    }
}

/// Does a piece of work that may take long. Ctrl-C asks it to end in order, and so does an exception of
/// the callback; both wait until it has.
pub fn work<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    passphrase: Option<String>,
    job: impl FnOnce(&dyn Watcher) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (sender, events) = channel();
    let stop = Stop::default();
    let passphrase = passphrase.map(Zeroizing::new);
    let reporter = Reporter { events: sender, stop: stop.clone(), passphrase };
    let (phase, told) = ("", Instant::now());
    let mut listener = Listener { callback, stop, phase, done: 0, total: 0, told, error: None };
    let listening = &mut listener;
    let ended = py.detach(move || {
        thread::scope(|scope| {
            let worker = thread::Builder::new().name("diptych".to_owned()).stack_size(STACK);
            let worker = worker.spawn_scoped(scope, move || job(&reporter));
            let worker = worker.map_err(|error| Error::internal(format!("no thread: {error}")))?;
            listening.listen(&events);
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    match (ended, listener.error) {
        (Ok(result), None) => Ok(result),
        (Ok(_), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            let message = "it was stopped too late: what was asked for is done";
            let told = raised(py, &Error::from(net::Error::Stopped).reworded(message));
            told.set_cause(py, Some(error));
            Err(told)
        }
        (Ok(_), Some(error)) => Err(error),
        (Err(failure), None) => Err(raised(py, &failure)),
        (Err(failure), Some(error)) => {
            let said = raised(py, &failure);
            let interrupted = failure.status() == Status::Interrupted;
            let (told, why) = match error.is_instance_of::<PyKeyboardInterrupt>(py) && interrupted {
                true => (said, error),
                false => (error, said),
            };
            told.set_cause(py, Some(why));
            Err(told)
        }
    }
}
