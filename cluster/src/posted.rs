//! Bytes that MPI sends or receives while the program does other things.

use std::mem::{self, ManuallyDrop};
use std::slice;

use mpi::request::{Request, StaticScope};

type Posted<'a> = Request<'a, [u8], StaticScope>;

/// A message under way and the bytes that MPI reads or writes meanwhile, which nobody else can reach until MPI has
/// done with them.
///
/// One that is dropped before it is done keeps its memory until the process ends, as MPI may still use it.
pub(crate) struct UnderWay {
    /// `None` only while it is being tested or dropped.
    request: Option<Posted<'static>>,
    bytes: ManuallyDrop<Vec<u8>>,
}

impl UnderWay {
    /// Hands bytes to `post`, which has MPI send them or receive into them.
    pub(crate) fn new(bytes: Vec<u8>, post: impl FnOnce(&'static mut [u8]) -> Posted<'static>) -> Self {
        let mut bytes = ManuallyDrop::new(bytes);
        // SAFETY: the memory is the vector's own and stays where it is: the vector is neither touched nor freed before
        // the request that `post` returns is done (`take`), and never freed if that does not happen.
        let lent = unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr(), bytes.len()) };
        Self {
            request: Some(post(lent)),
            bytes,
        }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Gives the bytes back if MPI has done with them.
    pub(crate) fn take(mut self) -> Result<Vec<u8>, Self> {
        match self.request.take().map(Request::test) {
            Some(Err(request)) => {
                self.request = Some(request);
                Err(self)
            }
            _ => Ok(mem::take(&mut *self.bytes)),
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Dropping an unfinished request panics. It is left to MPI, with its bytes.
        mem::forget(self.request.take());
    }
}
