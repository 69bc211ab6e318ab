//! What this process has used so far, and what a piece of work took.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::Error;

/// What a piece of work took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    /// Seconds on the wall.
    pub wall: f64,
    /// Seconds of processor time, all threads together.
    pub cpu: f64,
    /// The most memory that was resident meanwhile, where the system says so.
    pub peak_bytes: Option<u64>,
}

/// Does `work` and says what it took.
pub(super) fn taken<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    forget_peak_memory();
    let (wall, cpu) = (Instant::now(), cpu_time());
    let result = work();
    let taken = Taken {
        wall: wall.elapsed().as_secs_f64(),
        cpu: cpu_time().saturating_sub(cpu).as_secs_f64(),
        peak_bytes: peak_memory_bytes(),
    };
    (result, taken)
}

/// Does `work` so many times and gives the result in the middle by `size`.
pub(super) fn median<T>(
    times: usize,
    work: impl Fn() -> Result<T, Error>,
    size: impl Fn(&T) -> f64,
) -> Result<T, Error> {
    let mut results = (0..times).map(|_| work()).collect::<Result<Vec<_>, _>>()?;
    results.sort_by(|a, b| size(a).total_cmp(&size(b)));
    results.drain(..).nth(times / 2).ok_or_else(|| Error::internal("nothing was run"))
}

/// Processor time of all threads.
pub(in crate::app) fn cpu_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

/// Processor time of this thread.
pub(super) fn thread_cpu() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Linux only: lets the peak start again from what is in use now.
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Linux only: the most memory this process has had resident (`VmHWM`).
pub(super) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
