//! Progress of long work on standard error.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use petrov_gen::Progress;

use crate::output::complain;
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
        let text = self.text(progress);
        if std::io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| bar(progress.total()));
            bar.set_position(progress.done());
            bar.set_message(text);
        } else if self.last_line.elapsed() >= LINE {
            self.last_line = Instant::now();
            let part = 100.0 * progress.done() as f64 / progress.total().max(1) as f64;
            complain(&format!("{part:.0} % done, {text}"));
        }
    }

    /// Rate and time left, taken from the whole run so far: slices differ so
    /// much that the last seconds tell little.
    fn text(&self, progress: &Progress) -> String {
        let (done, left) = (progress.done(), progress.total().saturating_sub(progress.done()));
        let rate = done as f64 / self.start.elapsed().as_secs_f64();
        let eta = if done > 0 {
            words::duration(left as f64 / rate)
        } else {
            "unknown".to_owned()
        };
        format!("{:.1} M steps/s, ETA {eta}, {}", rate / 1e6, progress.step())
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    // The template is a constant; a plain bar would do as well.
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
