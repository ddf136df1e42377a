//! Progress of a build on standard error.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use petrov_gen::Progress;

use crate::words;

/// Work that ends sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a bar is drawn.
const REDRAW: Duration = Duration::from_millis(200);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(10);
/// When a build that has not failed by now can be said to have begun.
const BEGUN: Duration = Duration::from_millis(100);

/// Runs `work` on another thread and shows how far it is, unless `quiet`.
/// `begun` is called once, before anything is shown, unless `work` fails at
/// the very beginning.
pub(crate) fn watch<T: Send, E: Send>(
    progress: &Progress,
    quiet: bool,
    begun: impl FnOnce(),
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    std::thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        let worker = scope.spawn(move || {
            let result = work();
            drop(done);
            result
        });
        let start = Instant::now();
        let mut display = Display::new(start);
        let mut begun = Some(begun);
        let mut pause = BEGUN;
        while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            if let Some(begun) = begun.take() {
                begun();
            }
            pause = REDRAW;
            if !quiet && start.elapsed() >= PATIENCE {
                display.show(progress);
            }
        }
        display.finish();
        let result = match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        if let (Ok(_), Some(begun)) = (&result, begun) {
            begun();
        }
        result
    })
}

struct Display {
    start: Instant,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl Display {
    fn new(start: Instant) -> Self {
        Self {
            start,
            bar: None,
            last_line: start,
        }
    }

    fn show(&mut self, progress: &Progress) {
        let (done, total) = (progress.done(), progress.total());
        if std::io::stderr().is_terminal() {
            let start = self.start;
            let bar = self.bar.get_or_insert_with(|| bar(total, start));
            bar.set_position(done);
            bar.set_message(progress.step());
            return;
        }
        if self.last_line.elapsed() < LINE {
            return;
        }
        self.last_line = Instant::now();
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = done as f64 / seconds;
        let left = if done > 0 {
            format!("{} left", words::duration(total.saturating_sub(done) as f64 / rate))
        } else {
            "time left unknown".to_owned()
        };
        eprintln!(
            "petrov: {:.0} % done, {:.1} M positions/s, {left}; {}",
            100.0 * done as f64 / total.max(1) as f64,
            rate / 1e6,
            progress.step()
        );
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: u64, start: Instant) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_elapsed(start.elapsed());
    // The template is a constant; a plain bar would do as well.
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {per_sec}  ETA {eta}  {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key(
        "per_sec",
        |state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write| {
            // A bar that cannot be written is no reason to stop.
            let _ = write!(text, "{:.1} M/s", state.per_sec() / 1e6);
        },
    );
    bar.set_style(style);
    bar
}
