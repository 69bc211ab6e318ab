//! Typed messages over any transport, within limits, with every byte counted.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::net::meter::{CpuClock, Meter};
use crate::net::{
    AbortReason, Costs, Direction, Error, Header, Message, Stop, Tag, Tally, Transcript, codec,
};

/// How long this side waits and how much it accepts. Nothing waits without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To reach the peer, or to be reached by it.
    pub connect: Duration,
    /// For the TLS handshake, and for each message of ours that follows it.
    pub handshake: Duration,
    /// For a frame to arrive, the peer's computing included. The bytes that have arrived extend
    /// this by the time that they take at [`Limits::SLOWEST_BYTES_PER_SECOND`]; no pause may be
    /// longer than this.
    pub read: Duration,
    /// For the network to accept a frame, likewise. The peer may have to compute before it reads
    /// more.
    pub write: Duration,
    /// Largest body of a frame.
    pub frame_bytes: usize,
}

impl Limits {
    /// A line slower than this counts as stalled.
    pub const SLOWEST_BYTES_PER_SECOND: u64 = 64 * 1024;

    /// Bytes that may be under way and unread in one direction. Two sides that
    /// both send more than this before either receives would wait for each other
    /// until the limit; protocols therefore take turns in chunks.
    pub const IN_FLIGHT_BYTES: usize = 64 << 20;

    /// The time that the slowest line takes for so many bytes.
    pub fn time_for(bytes: u64) -> Duration {
        let whole = Duration::from_secs(bytes / Self::SLOWEST_BYTES_PER_SECOND);
        let rest = bytes % Self::SLOWEST_BYTES_PER_SECOND;
        whole + Duration::from_micros(rest * 1_000_000 / Self::SLOWEST_BYTES_PER_SECOND)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(60),
            handshake: Duration::from_secs(10),
            read: Duration::from_secs(300),
            write: Duration::from_secs(300),
            frame_bytes: 32 << 20,
        }
    }
}

/// Time limits for sending or receiving one frame.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The longest time without progress. A frame may take this long, plus the time that the bytes
    /// moved so far take at the slowest speed.
    pub pause: Duration,
    /// The deadline in any case.
    pub until: Option<Instant>,
}

impl Patience {
    /// Limited only by the longest pause.
    pub fn pause(pause: Duration) -> Self {
        Self { pause, until: None }
    }

    /// The deadline if nothing moves from now on.
    pub fn end(&self, now: Instant) -> Instant {
        let end = now + self.pause;
        self.until.map_or(end, |until| end.min(until))
    }
}

/// Decides from a header whether the frame that it announces may be received.
pub type Accept<'a> = &'a dyn Fn(Header) -> Result<(), Error>;

/// Sends and receives frames. Implemented in memory and over TLS; a channel does not depend on
/// which.
pub trait Transport: Send {
    /// Sends one frame, or fails when its time limit is over.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Timeout`] or a failure of the system.
    fn send(&mut self, header: Header, body: &[u8], patience: Patience) -> Result<(), Error>;

    /// Receives one frame into `body`, or fails when its time limit is over.
    ///
    /// # Errors
    /// As for `send`, and the error of `accept` for the header, before anything of the body is read
    /// or allocated.
    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, Error>;

    /// A value that only the two ends of this very connection share.
    ///
    /// # Errors
    /// If the connection cannot provide one in its current state.
    fn binding(&self) -> Result<[u8; 32], Error>;

    /// From now on every wait ends early if this flag is set.
    fn stop_on(&mut self, stop: Stop);

    /// The tag of the next frame, if it has arrived already. Nothing is consumed, and the call does
    /// not wait. A transport that cannot look ahead returns nothing.
    ///
    /// # Errors
    /// As for `receive`, if nothing more will come.
    fn look_ahead(&mut self) -> Result<Option<Tag>, Error> {
        Ok(None)
    }

    /// Closes the connection such that everything sent still arrives. Bounded in time.
    fn close(&mut self) {}
}

/// One end of a connection with the peer.
pub struct Channel {
    transport: Box<dyn Transport>,
    limits: Limits,
    /// The deadline of the whole conversation, and its time limit.
    end: Option<(Instant, Duration)>,
    stop: Stop,
    meter: Meter,
}

#[derive(Serialize, Deserialize)]
struct Abort {
    reason: AbortReason,
}

impl Message for Abort {
    const TAG: Tag = Tag::new(*b"abrt");
    const MOST_BYTES: usize = 4;
}

impl Channel {
    /// A channel over a transport.
    pub fn new(transport: Box<dyn Transport>, limits: Limits) -> Self {
        let (stop, meter) = (Stop::default(), Meter::new(CpuClock::Process));
        Self { transport, limits, end: None, stop, meter }
    }

    /// From now on every wait ends with [`Error::Stopped`] when this flag is set.
    pub fn stop_on(&mut self, stop: Stop) {
        self.transport.stop_on(stop.clone());
        self.stop = stop;
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the peer is gone, does not accept the message in time, or has aborted the run.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), Error> {
        let body =
            codec::encode(message).map_err(|problem| Error::Malformed { tag: M::TAG, problem })?;
        if body.len() > M::MOST_BYTES {
            let (length, limit) = (body.len() as u64, M::MOST_BYTES);
            return Err(Error::FrameTooLarge { length, limit });
        }
        self.send_bytes(M::TAG, &body)
    }

    /// Receives a message of the expected type.
    ///
    /// # Errors
    /// If the peer is gone, sends nothing in time, sends something else, or has aborted the run.
    pub fn receive<M: Message>(&mut self) -> Result<M, Error> {
        let mut body = Vec::new();
        self.receive_bytes_at_most(M::TAG, M::MOST_BYTES, &mut body)?;
        codec::decode(&body).map_err(|problem| Error::Malformed { tag: M::TAG, problem })
    }

    /// Sends bulk data: a frame whose body is the bytes as they are.
    ///
    /// # Errors
    /// As for [`Channel::send`].
    pub fn send_bytes(&mut self, tag: Tag, body: &[u8]) -> Result<(), Error> {
        let header = Header::for_body(tag, body, self.limits.frame_bytes)?;
        let patience = self.patience(self.limits.write)?;
        match self.transport.send(header, body, patience) {
            Ok(()) => {
                self.meter.count(Direction::Sent, tag, body.len());
                Ok(())
            }
            Err(error @ (Error::Closed | Error::Io(_))) => Err(self.last_words().unwrap_or(error)),
            Err(error) => Err(self.or_too_long(error)),
        }
    }

    /// Receives bulk data of `due` bytes. A header that announces another length is rejected before
    /// any of the body is read.
    ///
    /// # Errors
    /// As for [`Channel::receive`], and [`Error::WrongLength`].
    pub fn receive_bytes(&mut self, tag: Tag, due: usize) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        self.receive_bytes_into(tag, due, &mut body)?;
        Ok(body)
    }

    /// The same into a buffer that is reused.
    ///
    /// # Errors
    /// As for [`Channel::receive_bytes`].
    pub fn receive_bytes_into(
        &mut self,
        tag: Tag,
        due: usize,
        body: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.receive_frame(tag, body, |Header { length: got, .. }| {
            if got == due { Ok(()) } else { Err(Error::WrongLength { tag, due, got }) }
        })
    }

    /// The same where the sender chooses the length, up to `most` bytes.
    ///
    /// # Errors
    /// As for [`Channel::receive`], and [`Error::FrameTooLarge`].
    pub fn receive_bytes_at_most(
        &mut self,
        tag: Tag,
        most: usize,
        body: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.receive_frame(tag, body, |header| header.check(most))
    }

    /// The expected message, if `accept` accepts its header. Instead of any message the peer may
    /// send that it aborts the run.
    fn receive_frame(
        &mut self,
        tag: Tag,
        body: &mut Vec<u8>,
        accept: impl Fn(Header) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let frame_bytes = self.limits.frame_bytes;
        let accept = |header: Header| {
            header.check(frame_bytes)?;
            match header.tag {
                got if got == tag => accept(header),
                Abort::TAG => header.check(Abort::MOST_BYTES),
                got => Err(Error::UnexpectedMessage { expected: tag, got }),
            }
        };
        let patience = self.patience(self.limits.read)?;
        let got = self
            .transport
            .receive(body, &accept, patience)
            .map_err(|error| self.or_too_long(error))?;
        self.meter.count(Direction::Received, got, body.len());
        if got == tag { Ok(()) } else { Err(aborted(body)) }
    }

    /// Checks, without waiting, whether the peer has aborted the run or is gone, while this side
    /// waits for something else. A message that has arrived stays in the queue.
    ///
    /// # Errors
    /// [`Error::PeerAborted`], or the error of the connection.
    pub fn check_peer(&mut self) -> Result<(), Error> {
        match self.transport.look_ahead()? {
            Some(Abort::TAG) => {
                self.receive::<Abort>().and_then(|Abort { reason }| Err(Error::PeerAborted(reason)))
            }
            _ => Ok(()),
        }
    }

    /// Sends the peer an abort with its reason, if it still listens, and closes the channel.
    pub fn abort(&mut self, reason: AbortReason) {
        const PARTING_LIMIT: Duration = Duration::from_secs(1);
        self.limits.write = self.limits.write.min(PARTING_LIMIT);
        self.end = None;
        // The abort message must still be sent.
        self.stop_on(Stop::default());
        if self.send(&Abort { reason }).is_ok() {
            self.transport.close();
        }
    }

    /// From now on what is exchanged is also counted here.
    pub fn count_into(&mut self, tally: Tally) {
        self.meter.tally = tally;
    }

    /// Counts the following messages under another name.
    pub fn begin_phase(&mut self, name: &'static str) {
        tracing::debug!(event = "phase", phase = name, "phase begins");
        self.meter.tally.enter(name);
        self.meter.begin_phase(name);
    }

    /// What the conversation has cost so far.
    pub fn costs(&self) -> Costs {
        self.meter.costs()
    }

    /// Records direction, tag and length of every message from now on.
    pub fn record_transcript(&mut self) {
        self.meter.record_transcript();
    }

    /// The messages since [`Channel::record_transcript`].
    pub fn transcript(&self) -> Transcript {
        self.meter.transcript()
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Other limits, for a phase that takes the peer longer by its public size.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Aborts the conversation with [`Error::RunTooLong`] if it is not over within this time from
    /// now, even if messages still arrive.
    pub fn end_within(&mut self, limit: Duration) {
        self.end = Instant::now().checked_add(limit).map(|end| (end, limit));
    }

    fn patience(&self, pause: Duration) -> Result<Patience, Error> {
        self.stop.check()?;
        match self.end {
            Some((end, limit)) if Instant::now() >= end => Err(Error::RunTooLong { limit }),
            end => Ok(Patience { pause, until: end.map(|(end, _)| end) }),
        }
    }

    /// Turns a timeout caused by the conversation's deadline into [`Error::RunTooLong`].
    fn or_too_long(&self, error: Error) -> Error {
        match (&error, self.end) {
            (Error::Timeout { .. }, Some((end, limit))) if Instant::now() >= end => {
                Error::RunTooLong { limit }
            }
            _ => error,
        }
    }

    /// A value that only the two ends of this connection share.
    pub(crate) fn binding(&self) -> Result<[u8; 32], Error> {
        self.transport.binding()
    }

    /// Counts CPU time from now on by this clock, in the calling thread.
    pub fn restart_meter(&mut self, clock: CpuClock) {
        self.meter.restart(clock);
    }

    /// A peer that aborts the run sends the reason before it closes: look for that before reporting
    /// 'closed'.
    fn last_words(&mut self) -> Option<Error> {
        const WAIT: Duration = Duration::from_millis(200);
        const LONGEST: Duration = Duration::from_secs(5);
        const MOST_FRAMES: usize = 64;
        let frame_bytes = self.limits.frame_bytes;
        let accept = |header: Header| header.check(frame_bytes);
        let patience = Patience { pause: WAIT, until: Some(Instant::now() + LONGEST) };
        let mut body = Vec::new();
        for _ in 0..MOST_FRAMES {
            let tag = self.transport.receive(&mut body, &accept, patience).ok()?;
            if tag == Abort::TAG {
                return Some(aborted(&body));
            }
        }
        None
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.transport.close();
    }
}

fn aborted(body: &[u8]) -> Error {
    match codec::decode::<Abort>(body) {
        Ok(Abort { reason }) => Error::PeerAborted(reason),
        Err(problem) => Error::Malformed { tag: Abort::TAG, problem },
    }
}
