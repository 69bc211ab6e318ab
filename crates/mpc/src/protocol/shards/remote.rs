//! A shard in another process: the lead's end of it ([`Remote`]) and the shard's ([`Server`]). The
//! transport between them carries bytes ([`Line`]), and is the organisation's own.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Answer, Failed, Shard};
use crate::net::{AbortReason, Costs, Direction, Error, Stop, Tag, Transcript, codec};

/// A transport to a shard in another process.
pub trait Line: Send {
    /// Sends a call to the shard, and returns its reply. When the flag is set, by the user or
    /// because the time of the run is over, it must notify the shard and return soon.
    ///
    /// # Errors
    /// If the shard cannot be reached, or no longer exists.
    fn call(&mut self, call: &[u8], stop: &Stop) -> Result<Answer, Failed>;
}

/// A call of the lead; for a request, its bytes follow.
#[derive(Serialize, Deserialize)]
enum Call {
    Ask { left: Option<Duration>, record: bool },
    Abort(AbortReason),
}

/// The outcome of a call; the answer follows.
#[derive(Serialize, Deserialize)]
struct Reply {
    failed: Option<Failed>,
    costs: Costs,
    /// Messages since the last reply, if they are recorded: whether sent, tag, length.
    messages: Vec<(bool, [u8; 4], usize)>,
}

/// A head and the bytes after it.
fn join(head: &impl Serialize, follows: &[u8]) -> Result<Answer, &'static str> {
    let head = codec::encode(head)?;
    let mut bytes = Answer::new(Vec::with_capacity(8 + head.len() + follows.len()));
    bytes.extend((head.len() as u64).to_le_bytes());
    bytes.extend(head);
    bytes.extend(follows);
    Ok(bytes)
}

fn split<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<(T, &[u8]), &'static str> {
    const CUT_OFF: &str = "it ends early";
    let (length, rest) = bytes.split_first_chunk().ok_or(CUT_OFF)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| CUT_OFF)?;
    let (head, follows) = rest.split_at_checked(length).ok_or(CUT_OFF)?;
    Ok((codec::decode(head)?, follows))
}

fn malformed(problem: &'static str) -> Failed {
    Failed::internal(format!(
        "a lead and its shard do not understand each other: are both of the same version? ({problem})"
    ))
}

/// The lead's end.
pub struct Remote {
    line: Box<dyn Line>,
    stop: Stop,
    end: Option<Instant>,
    record: bool,
    costs: Costs,
    transcript: Transcript,
}

impl Remote {
    /// A shard at the end of a line.
    pub fn new(line: Box<dyn Line>) -> Self {
        let (costs, transcript) = (Costs::default(), Transcript::new());
        Self { line, stop: Stop::default(), end: None, record: false, costs, transcript }
    }

    fn call(&mut self, call: &Call, request: &[u8]) -> Result<Answer, Failed> {
        let call = join(call, request).map_err(malformed)?;
        // A shard that hangs is waited for no longer than the time limit of the run.
        let until = self.stop.until(self.end);
        let reply = self.line.call(&call, &until).map_err(|failed| {
            match (self.stop.check(), until.is_set()) {
                (Err(stopped), _) => Failed::of(&stopped),
                (_, true) => {
                    Failed::internal("a shard did not answer in the time that the run may take")
                }
                _ => failed,
            }
        })?;
        let (reply, answer) = split::<Reply>(&reply).map_err(malformed)?;
        self.costs = reply.costs;
        self.transcript.extend(reply.messages.iter().map(|(sent, tag, length)| {
            let direction = if *sent { Direction::Sent } else { Direction::Received };
            (direction, Tag::new(*tag), *length)
        }));
        match reply.failed {
            None => Ok(Answer::new(answer.to_vec())),
            Some(failed) => Err(failed),
        }
    }
}

impl Shard for Remote {
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
        self.stop.check().map_err(|stopped: Error| Failed::of(&stopped))?;
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        self.call(&Call::Ask { left, record: self.record }, request)
    }

    fn abort(&mut self, reason: AbortReason) {
        // If a shard is gone, its peer has noticed that.
        let _ = self.call(&Call::Abort(reason), &[]);
    }

    fn end_within(&mut self, limit: Duration) {
        self.end = Instant::now().checked_add(limit);
    }

    fn stop_on(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn record_transcript(&mut self) {
        self.record = true;
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn transcript(&self) -> Transcript {
        self.transcript.clone()
    }
}

/// The shard's end.
pub struct Server {
    shard: Box<dyn Shard>,
    /// Messages that its lead already knows.
    told: usize,
}

impl Server {
    /// For a shard in this process.
    pub fn new(shard: Box<dyn Shard>) -> Self {
        Self { shard, told: 0 }
    }

    /// Handles a call of the lead, and replies.
    ///
    /// # Errors
    /// If the reply is too large.
    pub fn serve(&mut self, call: &[u8]) -> Result<Answer, Failed> {
        let outcome = match split::<Call>(call) {
            Ok((Call::Ask { left, record }, request)) => {
                left.into_iter().for_each(|left| self.shard.end_within(left));
                if record {
                    self.shard.record_transcript();
                }
                self.shard.ask(request)
            }
            Ok((Call::Abort(reason), _)) => {
                self.shard.abort(reason);
                Ok(Answer::default())
            }
            Err(problem) => {
                self.shard.abort(AbortReason::Internal);
                Err(malformed(problem))
            }
        };
        let (answer, failed) = match outcome {
            Ok(answer) => (answer, None),
            Err(failed) => (Answer::default(), Some(failed)),
        };
        let transcript = self.shard.transcript();
        let new = transcript.iter().skip(self.told);
        let messages = new
            .map(|(direction, tag, length)| (*direction == Direction::Sent, tag.bytes(), *length));
        let reply = Reply { failed, costs: self.shard.costs(), messages: messages.collect() };
        self.told = transcript.len();
        join(&reply, &answer).map_err(malformed)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    /// A shard that hangs: its line waits until the flag is set.
    struct Hangs;

    impl Line for Hangs {
        fn call(&mut self, _: &[u8], stop: &Stop) -> Result<Answer, Failed> {
            while !stop.is_set() {
                sleep(Duration::from_millis(1));
            }
            Err(Failed::internal("nothing came"))
        }
    }

    #[test]
    fn a_shard_that_hangs_is_waited_for_until_the_run_ends_or_is_stopped() {
        let mut shard = Remote::new(Box::new(Hangs));
        shard.end_within(Duration::from_millis(20));
        let words = shard.ask(&[]).unwrap_err().to_string();
        assert!(words.contains("in the time that the run may take"), "{words}");

        let (mut shard, stop) = (Remote::new(Box::new(Hangs)), Stop::default());
        shard.end_within(Duration::from_secs(600));
        shard.stop_on(&stop);
        let ends = std::thread::spawn(move || shard.ask(&[]).unwrap_err().to_string());
        stop.set();
        assert!(!ends.join().unwrap().contains("in the time"), "it was stopped");
    }
}
