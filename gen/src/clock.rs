//! What a run costs: processor time and anonymous memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of all threads of this process so far, in seconds.
pub(crate) fn cpu_seconds() -> f64 {
    nanoseconds(ClockId::ProcessCPUTime) as f64 * 1e-9
}

/// Processor time of this thread so far, in seconds.
pub(crate) fn thread_seconds() -> f64 {
    nanoseconds(ClockId::ThreadCPUTime) as f64 * 1e-9
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Adds up the processor time of one kind of work, whoever does it. A thread
/// that waits for others in a parallel loop may meanwhile take up work of
/// another kind; so each piece of work that threads take is measured by itself,
/// and what is measured inside it counts there, not here.
#[derive(Debug, Default)]
pub(crate) struct Meter(AtomicU64);

thread_local! {
    /// Nanoseconds of this thread that have been measured inside the work
    /// being measured.
    static INSIDE: Cell<u64> = const { Cell::new(0) };
}

impl Meter {
    /// Does the work and adds its time.
    pub(crate) fn measure<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = nanoseconds(ClockId::ThreadCPUTime);
        let before = INSIDE.replace(0);
        let result = work();
        let all = nanoseconds(ClockId::ThreadCPUTime).saturating_sub(start);
        let inside = INSIDE.replace(before + all);
        self.0.fetch_add(all.saturating_sub(inside), Relaxed);
        result
    }

    /// Seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.0.load(Relaxed) as f64 * 1e-9
    }
}

/// One figure, in bytes, from a file of `Name: 123 kB` lines; `None` where
/// the system has no such file.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.trim_start_matches(':').split_whitespace().next()?;
    number.parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Memory that can be had without swapping, in bytes.
pub(crate) fn available_memory() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable")
}

/// How often memory is looked at: often enough to catch a slice's peak.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs `work` and gives with its result the most anonymous resident memory
/// seen meanwhile, in bytes (0 where the system does not tell).
pub(crate) fn with_peak_memory<T: Send>(work: impl FnOnce() -> T + Send) -> (T, u64) {
    let peak = AtomicU64::new(0);
    let look = || {
        peak.fetch_max(kilobytes("/proc/self/status", "RssAnon").unwrap_or(0), Relaxed);
    };
    let result = std::thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        scope.spawn(move || {
            while waiting.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        });
        let result = work();
        drop(done);
        result
    });
    look();
    (result, peak.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(seconds: f64) {
        let start = nanoseconds(ClockId::ThreadCPUTime);
        while ((nanoseconds(ClockId::ThreadCPUTime) - start) as f64) < seconds * 1e9 {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn work_inside_other_work_counts_once() {
        let (outer, inner) = (Meter::default(), Meter::default());
        let start = nanoseconds(ClockId::ThreadCPUTime);
        outer.measure(|| {
            spin(0.01);
            inner.measure(|| {
                spin(0.02);
                outer.measure(|| spin(0.01));
            });
        });
        let all = (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 * 1e-9;
        assert!(outer.seconds() >= 0.02 && inner.seconds() >= 0.02);
        assert!(outer.seconds() + inner.seconds() <= all);
    }
}
