//! Signals that would end the program without a word.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::failure::BROKEN;
use crate::output::complain;

/// A file that would grow beyond the limit of `ulimit -f` then fails to be
/// written, with a reason, instead of ending the program.
pub(crate) fn survive_file_size_limit() {
    // Setting a flag that nobody reads is the plainest handler there is. If it
    // cannot be set up, the limit ends the program as it always did.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// From now on Ctrl-C and `kill` end the program after `last` has been done and
/// `farewell` has been said. The program still ends by the signal, so that a
/// shell stops the loop in which it runs.
pub fn end_with(last: impl FnOnce() + Send + 'static, farewell: Option<String>) {
    // If it cannot be set up, the signals end the program as they always did.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            last();
            if let Some(farewell) = farewell {
                if std::io::stderr().is_terminal() {
                    // Where the terminal shows `^C` and perhaps a progress bar.
                    eprint!("\r\x1b[2K");
                }
                complain(&farewell);
            }
            let _ = emulate_default_handler(signal);
            std::process::exit(BROKEN.into());
        }
    });
}
