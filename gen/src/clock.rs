//! What a run costs: processor time and anonymous memory.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of all threads of this process so far, in seconds.
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
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
