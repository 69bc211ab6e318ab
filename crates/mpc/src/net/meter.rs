//! The cost of a conversation, counted per phase and per direction.

use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::net::{Tag, Tally};

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the peer.
    Sent,
    /// From the peer.
    Received,
}

/// The shape of a conversation: direction, tag and body length of every message, which is what an
/// observer of the network can count. It must depend only on what SECURITY.md lists for the run.
pub type Transcript = Vec<(Direction, Tag, usize)>;

/// Whose CPU time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuClock {
    /// All threads of this process: right when a party is a process.
    Process,
    /// The calling thread alone: for two parties in one process. Work on other threads is not
    /// counted.
    Thread,
}

impl CpuClock {
    fn now(self) -> Duration {
        let time = clock_gettime(match self {
            Self::Process => ClockId::ProcessCPUTime,
            Self::Thread => ClockId::ThreadCPUTime,
        });
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
    }
}

/// The shape of a phase is a polynomial in this, with one coefficient per message.
const SHAPE_BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number that distinguishes messages of different direction, tag or length.
fn number_of(direction: Direction, tag: Tag, body_bytes: usize) -> u64 {
    let [a, b, c, d] = tag.bytes();
    let mut number =
        u64::from(u32::from_le_bytes([a, b, c, d])) << 1 | u64::from(direction == Direction::Sent);
    // SplitMix64, twice, so that no bit of the length cancels one of the tag.
    for part in [0, body_bytes as u64] {
        number = (number ^ part).wrapping_add(SHAPE_BASE);
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^= number >> 31;
    }
    number
}

/// The cost of one phase. Bytes are plaintext frame bytes, headers included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCost {
    /// Name of the phase.
    pub phase: String,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Receives that follow a send: counted, not timed.
    pub rounds: u64,
    /// A fingerprint of direction, tag and length of every message, in order. It detects accidental
    /// differences.
    #[serde(default)]
    pub shape: u64,
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time.
    pub cpu: Duration,
}

impl PhaseCost {
    fn add(&mut self, other: &Self) {
        let messages = other.messages_sent + other.messages_received;
        let moved = (0..messages).fold(self.shape, |shape, _| shape.wrapping_mul(SHAPE_BASE));
        self.shape = moved.wrapping_add(other.shape);
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.messages_sent += other.messages_sent;
        self.messages_received += other.messages_received;
        self.rounds += other.rounds;
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

/// The costs of a conversation, phase by phase in the order they began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs {
    /// One entry per phase name; a phase that was entered twice is added up.
    pub phases: Vec<PhaseCost>,
}

impl Costs {
    /// The cost of a phase; zero if it never began.
    pub fn phase(&self, name: &str) -> PhaseCost {
        self.phases.iter().find(|phase| phase.phase == name).cloned().unwrap_or_default()
    }

    /// Adds the cost of another conversation, so many times: bytes, messages and rounds, phase by
    /// phase. Its duration is already part of this one's times, if this one waited for it.
    pub(crate) fn include(&mut self, other: &Self, times: usize) {
        let spoken = other.phases.iter().filter(|p| p.messages_sent + p.messages_received > 0);
        for phase in spoken {
            let (wall, cpu) = Default::default();
            let counted = PhaseCost { wall, cpu, ..phase.clone() };
            (0..times).for_each(|_| merge(&mut self.phases, &counted));
        }
    }

    /// All phases together.
    pub fn total(&self) -> PhaseCost {
        let mut total = PhaseCost { phase: "total".to_owned(), ..PhaseCost::default() };
        for phase in &self.phases {
            total.add(phase);
        }
        total
    }
}

impl fmt::Display for Costs {
    /// A table: one line per phase, then the total.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16} {:>12} {:>12} {:>9} {:>9} {:>7} {:>10} {:>10}",
            "phase", "bytes out", "bytes in", "msgs out", "msgs in", "rounds", "wall ms", "cpu ms"
        )?;
        for cost in self.phases.iter().chain([&self.total()]) {
            writeln!(
                f,
                "{:<16} {:>12} {:>12} {:>9} {:>9} {:>7} {:>10.1} {:>10.1}",
                cost.phase,
                cost.bytes_sent,
                cost.bytes_received,
                cost.messages_sent,
                cost.messages_received,
                cost.rounds,
                cost.wall.as_secs_f64() * 1e3,
                cost.cpu.as_secs_f64() * 1e3,
            )?;
        }
        Ok(())
    }
}

/// Counts what one channel does.
pub(crate) struct Meter {
    clock: CpuClock,
    finished: Vec<PhaseCost>,
    current: PhaseCost,
    wall_start: Instant,
    cpu_start: Duration,
    sent_last: bool,
    transcript: Option<Transcript>,
    pub(super) tally: Tally,
}

impl Meter {
    pub(crate) fn new(clock: CpuClock) -> Self {
        Self {
            clock,
            finished: Vec::new(),
            current: PhaseCost { phase: "start".to_owned(), ..PhaseCost::default() },
            wall_start: Instant::now(),
            cpu_start: clock.now(),
            sent_last: false,
            transcript: None,
            tally: Tally::default(),
        }
    }

    /// Restarts the CPU clock, for a channel that moves to another thread.
    pub(crate) fn restart(&mut self, clock: CpuClock) {
        self.clock = clock;
        self.wall_start = Instant::now();
        self.cpu_start = clock.now();
    }

    pub(crate) fn record_transcript(&mut self) {
        self.transcript.get_or_insert_default();
    }

    pub(crate) fn transcript(&self) -> Transcript {
        self.transcript.clone().unwrap_or_default()
    }

    pub(crate) fn begin_phase(&mut self, name: &str) {
        let snapshot = self.current_cost();
        if snapshot.messages_sent + snapshot.messages_received > 0 || snapshot.phase != "start" {
            merge(&mut self.finished, &snapshot);
        }
        self.current = PhaseCost { phase: name.to_owned(), ..PhaseCost::default() };
        self.wall_start = Instant::now();
        self.cpu_start = self.clock.now();
    }

    pub(crate) fn count(&mut self, direction: Direction, tag: Tag, body_bytes: usize) {
        let bytes = (body_bytes + crate::net::HEADER_BYTES) as u64;
        let number = number_of(direction, tag, body_bytes);
        self.current.shape = self.current.shape.wrapping_mul(SHAPE_BASE).wrapping_add(number);
        match direction {
            Direction::Sent => {
                self.current.bytes_sent += bytes;
                self.current.messages_sent += 1;
                self.tally.count(direction, bytes, 0);
                self.sent_last = true;
            }
            Direction::Received => {
                self.current.bytes_received += bytes;
                self.current.messages_received += 1;
                self.current.rounds += u64::from(self.sent_last);
                self.tally.count(direction, bytes, self.sent_last.into());
                self.sent_last = false;
            }
        }
        if let Some(transcript) = &mut self.transcript {
            transcript.push((direction, tag, body_bytes));
        }
    }

    pub(crate) fn costs(&self) -> Costs {
        let mut phases = self.finished.clone();
        merge(&mut phases, &self.current_cost());
        Costs { phases }
    }

    fn current_cost(&self) -> PhaseCost {
        PhaseCost {
            wall: self.wall_start.elapsed(),
            cpu: self.clock.now().saturating_sub(self.cpu_start),
            ..self.current.clone()
        }
    }
}

fn merge(phases: &mut Vec<PhaseCost>, cost: &PhaseCost) {
    match phases.iter_mut().find(|phase| phase.phase == cost.phase) {
        Some(phase) => phase.add(cost),
        None => phases.push(cost.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag::new(*b"test");

    #[test]
    fn a_round_is_a_receive_that_follows_a_send() {
        let (mut meter, tally) = (Meter::new(CpuClock::Thread), Tally::default());
        meter.tally = tally.clone();
        meter.begin_phase("talk");
        for direction in [
            Direction::Received,
            Direction::Sent,
            Direction::Sent,
            Direction::Received,
            Direction::Received,
            Direction::Sent,
            Direction::Received,
        ] {
            meter.count(direction, TAG, 10);
        }
        let total = meter.costs().total();
        assert_eq!((total.rounds, total.messages_sent, total.messages_received), (2, 3, 4));
        assert_eq!((total.bytes_sent, total.bytes_received), (3 * 18, 4 * 18));
        assert_eq!((tally.bytes_sent(), tally.bytes_received()), (3 * 18, 4 * 18));
        assert_eq!(tally.rounds(), 2);
    }

    #[test]
    fn the_shape_of_a_phase_tells_order_length_tag_and_direction_apart() {
        let other = Tag::new(*b"tets");
        let (sent, received) = (Direction::Sent, Direction::Received);
        let shape = |messages: &[(Direction, Tag, usize)], again: usize| {
            let mut meter = Meter::new(CpuClock::Thread);
            meter.begin_phase("talk");
            for (place, (direction, tag, bytes)) in messages.iter().enumerate() {
                if place == again {
                    meter.begin_phase("talk");
                }
                meter.count(*direction, *tag, *bytes);
            }
            meter.costs().phases[0].shape
        };
        let talk = [(sent, TAG, 1), (received, TAG, 2), (sent, TAG, 3)];
        let usual = shape(&talk, 9);
        for again in 0..3 {
            assert_eq!(shape(&talk, again), usual, "a phase entered twice is one phase");
        }
        for different in [
            [(sent, TAG, 1), (sent, TAG, 3), (received, TAG, 2)],
            [(sent, TAG, 2), (received, TAG, 1), (sent, TAG, 3)],
            [(sent, other, 1), (received, TAG, 2), (sent, TAG, 3)],
            [(received, TAG, 1), (received, TAG, 2), (sent, TAG, 3)],
        ] {
            assert_ne!(shape(&different, 9), usual);
        }
        assert_ne!(shape(&talk[..2], 9), usual);
    }

    #[test]
    fn a_phase_entered_twice_is_added_up_and_keeps_its_place() {
        let mut meter = Meter::new(CpuClock::Thread);
        for phase in ["one", "two", "one"] {
            meter.begin_phase(phase);
            meter.count(Direction::Sent, TAG, 2);
        }
        let costs = meter.costs();
        let names: Vec<_> = costs.phases.iter().map(|p| (p.phase.as_str(), p.bytes_sent)).collect();
        assert_eq!(names, [("one", 20), ("two", 10)]);
    }
}
