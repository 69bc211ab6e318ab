//! Two channels connected in memory, optionally with a model of a slower network.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::net::{
    Accept, Channel, Error, HEADER_BYTES, Header, Limits, Patience, Stop, Tag, Transport,
};

/// A network between the two ends, with an independent line in each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkModel {
    /// Round-trip time.
    pub round_trip: Duration,
    /// Bytes that each direction carries per second.
    pub bytes_per_second: f64,
}

impl NetworkModel {
    /// Two machines in one data centre: 0.5 ms round trip, 10 Gbit/s.
    pub const LAN: Self = Self { round_trip: Duration::from_micros(500), bytes_per_second: 1.25e9 };
    /// Two organisations in one country: 40 ms round trip, 100 Mbit/s.
    pub const WAN: Self = Self { round_trip: Duration::from_millis(40), bytes_per_second: 1.25e7 };

    /// When the last of so many bytes that are sent `now` has passed the line, which is free at
    /// `free_at`.
    fn passes_at(&self, bytes: usize, now: Instant, free_at: Option<Instant>) -> Instant {
        let start = free_at.map_or(now, |free| free.max(now));
        start + Duration::from_secs_f64(bytes as f64 / self.bytes_per_second)
    }
}

/// Two ends of one conversation, each for its own thread.
pub fn pair(limits: Limits) -> (Channel, Channel) {
    join(limits, None)
}

/// Two ends with a slower network between them: a frame arrives when its last
/// byte has passed the line and half a round trip is over. Sending waits only
/// for what [`Limits::IN_FLIGHT_BYTES`] does not hold, as on a real line.
pub fn pair_with_network(limits: Limits, network: NetworkModel) -> (Channel, Channel) {
    join(limits, Some(network))
}

fn join(limits: Limits, network: Option<NetworkModel>) -> (Channel, Channel) {
    let (first, second) = ends(network);
    (Channel::new(Box::new(first), limits), Channel::new(Box::new(second), limits))
}

/// The two ends without channels over them.
pub fn ends(network: Option<NetworkModel>) -> (End, End) {
    ends_with_clock(network, &Clock::System)
}

fn ends_with_clock(network: Option<NetworkModel>, clock: &Clock) -> (End, End) {
    let (there, back) = (Arc::new(Line::default()), Arc::new(Line::default()));
    let end = |outgoing, incoming| {
        let (clock, stop) = (clock.clone(), Stop::default());
        End { outgoing, incoming, network, clock, stop }
    };
    let first = end(there.clone(), back.clone());
    let second = end(back, there);
    (first, second)
}

/// One end.
pub struct End {
    outgoing: Arc<Line>,
    incoming: Arc<Line>,
    network: Option<NetworkModel>,
    clock: Clock,
    stop: Stop,
}

/// The time that an end goes by.
#[derive(Clone)]
enum Clock {
    System,
    /// Stands still except while an end waits, and then moves on at once by the time waited for.
    /// For tests in which one thread has both ends.
    #[cfg(test)]
    Manual(Arc<Mutex<Instant>>),
}

impl Clock {
    fn now(&self) -> Instant {
        match self {
            Self::System => Instant::now(),
            #[cfg(test)]
            Self::Manual(now) => *now.lock().unwrap(),
        }
    }

    fn sleep(&self, time: Duration) {
        match self {
            Self::System => std::thread::sleep(time),
            #[cfg(test)]
            Self::Manual(now) => *now.lock().unwrap() += time,
        }
    }
}

/// One direction: a queue of frames, bounded in bytes.
#[derive(Default)]
struct Line {
    state: Mutex<LineState>,
    changed: Condvar,
}

#[derive(Default)]
struct LineState {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// When the model's line has passed everything sent so far.
    free_at: Option<Instant>,
    closed: bool,
}

struct Frame {
    header: Header,
    body: Vec<u8>,
    arrives_at: Option<Instant>,
}

impl Line {
    /// The queue is valid after every statement, so a panic elsewhere does not corrupt it.
    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, LineState>,
        deadline: Instant,
        clock: &Clock,
    ) -> Option<MutexGuard<'a, LineState>> {
        let left = deadline.checked_duration_since(clock.now()).filter(|left| !left.is_zero())?;
        let longest = left.min(Stop::LOOK);
        match clock {
            Clock::System => {
                let waited = self.changed.wait_timeout(state, longest);
                Some(waited.unwrap_or_else(PoisonError::into_inner).0)
            }
            #[cfg(test)]
            Clock::Manual(_) => {
                clock.sleep(longest);
                Some(state)
            }
        }
    }
}

impl Transport for End {
    fn stop_on(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn send(&mut self, header: Header, body: &[u8], patience: Patience) -> Result<(), Error> {
        let (deadline, limit) = (patience.end(self.clock.now()), patience.pause);
        let bytes = body.len() + HEADER_BYTES;
        let mut state = self.outgoing.lock();
        while !state.closed && state.bytes > 0 && state.bytes + bytes > Limits::IN_FLIGHT_BYTES {
            self.stop.check()?;
            state = self
                .outgoing
                .wait(state, deadline, &self.clock)
                .ok_or(Error::Timeout { action: "take the data sent to it", limit })?;
        }
        if state.closed {
            return Err(Error::Closed);
        }
        let arrives_at = self.network.map(|network| {
            let passed = network.passes_at(bytes, self.clock.now(), state.free_at);
            state.free_at = Some(passed);
            passed + network.round_trip / 2
        });
        state.bytes += bytes;
        state.frames.push_back(Frame { header, body: body.to_vec(), arrives_at });
        self.outgoing.changed.notify_all();
        Ok(())
    }

    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, Error> {
        let (deadline, limit) = (patience.end(self.clock.now()), patience.pause);
        let mut state = self.incoming.lock();
        let frame = loop {
            if let Some(frame) = state.frames.pop_front() {
                break frame;
            }
            if state.closed {
                return Err(Error::Closed);
            }
            self.stop.check()?;
            state = self
                .incoming
                .wait(state, deadline, &self.clock)
                .ok_or(Error::Timeout { action: "send the next message", limit })?;
        };
        // Capacity is released when the frame has arrived, not when it is peeked at.
        if let Some(wait) =
            frame.arrives_at.and_then(|at| at.checked_duration_since(self.clock.now()))
        {
            drop(state);
            self.clock.sleep(wait);
            state = self.incoming.lock();
        }
        state.bytes -= frame.body.len() + HEADER_BYTES;
        self.incoming.changed.notify_all();
        accept(frame.header)?;
        *body = frame.body;
        Ok(frame.header.tag)
    }

    fn binding(&self) -> Result<[u8; 32], Error> {
        // Nobody else can reach this memory; freshness comes from the nonces of the handshake.
        Ok([0; 32])
    }

    /// What was sent before can still be received; nothing more can be sent in either direction.
    fn close(&mut self) {
        for line in [&self.outgoing, &self.incoming] {
            line.lock().closed = true;
            line.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::AbortReason;

    const TAG: Tag = Tag::new(*b"test");

    /// Two ends, and the time that passes by their clock.
    fn timed(network: Option<NetworkModel>) -> (End, End, impl Fn() -> Duration) {
        let start = Instant::now();
        let clock = Clock::Manual(Arc::new(Mutex::new(start)));
        let (first, second) = ends_with_clock(network, &clock);
        (first, second, move || clock.now() - start)
    }

    #[test]
    fn frames_arrive_in_order_and_whole() {
        let (mut a, mut b) = pair(Limits::default());
        a.send_bytes(TAG, b"first").unwrap();
        a.send_bytes(TAG, b"").unwrap();
        assert_eq!(b.receive_bytes(TAG, 5).unwrap(), b"first");
        assert_eq!(b.receive_bytes(TAG, 0).unwrap(), b"");
    }

    #[test]
    fn a_silent_peer_is_a_timeout_and_a_dropped_one_is_closed() {
        let (a, b, passed) = timed(None);
        let limits = Limits::default();
        let (mut a, b) = (Channel::new(Box::new(a), limits), Channel::new(Box::new(b), limits));
        assert!(matches!(a.receive_bytes(TAG, 1), Err(Error::Timeout { .. })));
        assert_eq!(passed(), limits.read);
        drop(b);
        assert!(matches!(a.receive_bytes(TAG, 1), Err(Error::Closed)));
        assert!(matches!(a.send_bytes(TAG, b"x"), Err(Error::Closed)));
    }

    #[test]
    fn another_message_than_the_one_due_is_named() {
        let (mut a, mut b) = pair(Limits::default());
        a.send_bytes(Tag::new(*b"othr"), b"").unwrap();
        let error = b.receive_bytes(TAG, 0).unwrap_err();
        assert!(error.to_string().contains(r#""othr" where "test" was due"#), "{error}");
    }

    #[test]
    fn an_abort_reaches_a_peer_that_reads_and_a_peer_that_writes() {
        let (mut a, mut b) = pair(Limits::default());
        a.abort(AbortReason::Stopped);
        let reading = b.receive_bytes(TAG, 0).unwrap_err();
        assert!(matches!(reading, Error::PeerAborted(AbortReason::Stopped)));
        let (mut a, mut b) = pair(Limits::default());
        a.abort(AbortReason::Internal);
        let writing = b.send_bytes(TAG, b"x").unwrap_err();
        assert!(matches!(writing, Error::PeerAborted(AbortReason::Internal)));
    }

    #[test]
    fn a_frame_above_the_limit_is_refused_by_the_sender_and_by_the_receiver() {
        let (mut a, mut b) = pair(Limits::default());
        b.set_limits(Limits { frame_bytes: 3, ..Limits::default() });
        a.send_bytes(TAG, b"four").unwrap();
        let received = b.receive_bytes(TAG, 4);
        assert!(matches!(received, Err(Error::FrameTooLarge { length: 4, limit: 3 })));
        assert!(matches!(b.send_bytes(TAG, b"four"), Err(Error::FrameTooLarge { .. })));
    }

    #[test]
    fn a_sender_that_runs_far_ahead_waits_and_then_times_out() {
        let (mut a, _b, passed) = timed(None);
        let limit = Duration::from_secs(300);
        let block = vec![0; 16 << 20];
        let header = Header { tag: TAG, length: block.len() };
        let sent =
            (0..9).take_while(|_| a.send(header, &block, Patience::pause(limit)).is_ok()).count();
        assert_eq!(passed(), limit);
        assert_eq!(sent, 3, "64 MiB hold three frames of 16 MiB and their headers");
    }

    #[test]
    fn bytes_pass_the_modelled_line_one_after_another() {
        let model = NetworkModel { round_trip: Duration::ZERO, bytes_per_second: 1e6 };
        let now = Instant::now();
        let after = |millis| now + Duration::from_millis(millis);
        assert_eq!(model.passes_at(30_000, now, None), after(30));
        assert_eq!(model.passes_at(30_000, now, Some(after(30))), after(60));
        assert_eq!(model.passes_at(30_000, after(100), Some(after(60))), after(130));
    }

    /// A model whose line takes years: sending would not end if it waited for the line.
    #[test]
    fn sending_does_not_wait_for_the_modelled_line() {
        let model = NetworkModel { round_trip: Duration::ZERO, bytes_per_second: 1e-6 };
        let (mut a, _b) = pair_with_network(Limits::default(), model);
        a.send_bytes(TAG, &[0; 100]).unwrap();
        a.send_bytes(TAG, &[0; 100]).unwrap();
    }

    #[test]
    fn the_network_model_adds_latency_and_limits_bandwidth() {
        let model = NetworkModel { round_trip: Duration::from_secs(40), bytes_per_second: 1e3 };
        let (mut a, mut b, passed) = timed(Some(model));
        let patience = Patience::pause(Duration::ZERO);
        let body = [0; 30_000 - HEADER_BYTES];
        let header = Header { tag: TAG, length: body.len() };
        a.send(header, &body, patience).unwrap();
        a.send(header, &body, patience).unwrap();
        let mut receive = || b.receive(&mut Vec::new(), &|_| Ok(()), patience).unwrap();
        assert_eq!(passed(), Duration::ZERO, "sending does not wait");
        receive();
        assert_eq!(passed(), Duration::from_secs(50), "30 s for the bytes and 20 s of latency");
        receive();
        assert_eq!(passed(), Duration::from_secs(80), "the second follows the first");
    }
}
