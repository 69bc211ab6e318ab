//! A line in memory between two parties that can do something wrong at one message.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diptych::net::{Accept, Error, Header, Patience, Stop, Tag, Transport};

/// What happens to one message of one party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The line is closed in its place.
    Close,
    /// One bit of its body is another; of an empty body, a byte is added.
    Bit(usize),
    /// Its last byte is missing; of an empty body, a byte is added.
    Shorter,
    /// It has a byte more.
    Longer,
    /// It has another tag.
    OtherTag,
    /// It comes twice.
    Twice,
}

/// At which message of its sender, counted from 0.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub message: u64,
    pub wrong: Wrong,
}

/// One direction.
#[derive(Default)]
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    frames: VecDeque<(Header, Vec<u8>)>,
    closed: bool,
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

/// One end of the line.
pub struct End {
    outgoing: Arc<Line>,
    incoming: Arc<Line>,
    sent: u64,
    fault: Option<Fault>,
}

/// Both ends; each may do something wrong.
pub fn ends(faults: [Option<Fault>; 2]) -> [End; 2] {
    let (there, back) = (Arc::new(Line::default()), Arc::new(Line::default()));
    let end = |outgoing: &Arc<Line>, incoming: &Arc<Line>, fault| End {
        outgoing: outgoing.clone(),
        incoming: incoming.clone(),
        sent: 0,
        fault,
    };
    [end(&there, &back, faults[0]), end(&back, &there, faults[1])]
}

impl Transport for End {
    fn send(&mut self, header: Header, body: &[u8], _: Patience) -> Result<(), Error> {
        let number = self.sent;
        self.sent += 1;
        let mut frames = vec![(header.tag, body.to_vec())];
        match self.fault.filter(|fault| fault.message == number).map(|fault| fault.wrong) {
            None => {}
            Some(Wrong::Close) => {
                self.close();
                return Err(Error::Closed);
            }
            Some(Wrong::Twice) => frames.push(frames[0].clone()),
            Some(Wrong::OtherTag) => frames[0].0 = Tag::new(*b"soak"),
            Some(Wrong::Bit(place)) if !body.is_empty() => {
                let place = place % (8 * body.len());
                frames[0].1[place / 8] ^= 1 << (place % 8);
            }
            Some(Wrong::Shorter) if !body.is_empty() => drop(frames[0].1.pop()),
            Some(_) => frames[0].1.push(0),
        }
        let mut state = self.outgoing.lock();
        if state.closed {
            return Err(Error::Closed);
        }
        let framed =
            frames.into_iter().map(|(tag, body)| (Header { tag, length: body.len() }, body));
        state.frames.extend(framed);
        self.outgoing.changed.notify_all();
        Ok(())
    }

    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, Error> {
        let end = patience.end(Instant::now());
        let mut state = self.incoming.lock();
        loop {
            if let Some((header, frame)) = state.frames.pop_front() {
                accept(header)?;
                *body = frame;
                return Ok(header.tag);
            }
            if state.closed {
                return Err(Error::Closed);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return Err(Error::Timeout { action: "send a message", limit: patience.pause });
            }
            let waited = self.incoming.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn binding(&self) -> Result<[u8; 32], Error> {
        Ok([7; 32])
    }

    fn stop_on(&mut self, _: Stop) {}

    fn close(&mut self) {
        self.outgoing.close();
        self.incoming.close();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.close();
    }
}
