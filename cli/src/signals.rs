//! Signals that would end the program without a word.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A file that would grow beyond the limit of `ulimit -f` then fails to be
/// written, with a reason, instead of ending the program.
pub(crate) fn survive_file_size_limit() {
    // Setting a flag that nobody reads is the plainest handler there is. If it
    // cannot be set up, the limit ends the program as it always did.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
