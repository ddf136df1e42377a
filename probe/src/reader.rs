//! What a thread that reads blocks has of its own.

use std::cell::RefCell;
use std::sync::Arc;

use zstd::zstd_safe::DCtx;

/// Decodes blocks: memory that is set up once and used again and again.
pub(crate) struct Decoder {
    /// Some 100 KB; takes longer to set up than a block to decode.
    pub(crate) context: DCtx<'static>,
    /// For the bytes of a block as they are in the file, where that is not mapped.
    pub(crate) stored: Vec<u8>,
    /// Memory of a block that nobody needs any more.
    spare: Option<Arc<[u8]>>,
}

impl Decoder {
    fn new() -> Self {
        Self {
            context: DCtx::create(),
            stored: Vec::new(),
            spare: None,
        }
    }

    /// Memory of so many bytes that `decode` has filled.
    pub(crate) fn block<E>(
        &mut self,
        length: usize,
        decode: impl FnOnce(&mut Self, &mut [u8]) -> Result<(), E>,
    ) -> Result<Arc<[u8]>, E> {
        let spare = self.spare.take().filter(|bytes| bytes.len() == length);
        let mut block = spare.unwrap_or_else(|| new_block(length));
        if Arc::get_mut(&mut block).is_none() {
            // Another reader still has it.
            block = new_block(length);
        }
        let Some(out) = Arc::get_mut(&mut block) else {
            unreachable!("memory that was just made has one owner");
        };
        match decode(self, out) {
            Ok(()) => Ok(block),
            Err(error) => {
                self.spare = Some(block);
                Err(error)
            }
        }
    }
}

fn new_block(length: usize) -> Arc<[u8]> {
    std::iter::repeat_n(0, length).collect()
}

/// One that reads blocks: what it remembers between two of them.
pub(crate) trait Reader {
    /// A block that it holds itself, by the number that the cache gave it.
    fn held(&self, number: u64) -> Option<&[u8]>;
    /// The cache held this block.
    fn seen(&mut self, number: u64, bytes: &Arc<[u8]>);
    /// The cache did not hold a block.
    fn missed(&mut self);
    /// The cache had no room for this block.
    fn left_over(&mut self, number: u64, bytes: Arc<[u8]>);
    /// The cache dropped this block.
    fn evicted(&mut self, bytes: Arc<[u8]>);
    /// Decodes something.
    fn with_decoder<R>(&mut self, decode: impl FnOnce(&mut Decoder) -> R) -> R;
    /// A position was looked up whose captures decide.
    fn searched(&mut self);
    /// An entry is read.
    fn looked_up(&mut self);
}

thread_local! {
    static DECODER: RefCell<Decoder> = RefCell::new(Decoder::new());
}

/// A reader that remembers nothing; each thread has one decoder for all of them.
#[derive(Clone, Copy)]
pub(crate) struct Passing;

impl Reader for Passing {
    #[inline(always)]
    fn held(&self, _: u64) -> Option<&[u8]> {
        None
    }
    #[inline(always)]
    fn seen(&mut self, _: u64, _: &Arc<[u8]>) {}
    fn missed(&mut self) {}
    fn left_over(&mut self, _: u64, bytes: Arc<[u8]>) {
        self.evicted(bytes);
    }
    fn evicted(&mut self, bytes: Arc<[u8]>) {
        DECODER.with_borrow_mut(|decoder| decoder.spare = Some(bytes));
    }
    fn with_decoder<R>(&mut self, decode: impl FnOnce(&mut Decoder) -> R) -> R {
        DECODER.with_borrow_mut(decode)
    }
    #[inline(always)]
    fn searched(&mut self) {}
    #[inline(always)]
    fn looked_up(&mut self) {}
}

/// Blocks that a reader holds itself; a power of two.
const HELD: usize = 16;

/// A reader with a memory: it holds the blocks that it came back to last.
pub(crate) struct Own {
    held: [Held; HELD],
    decoder: Option<Decoder>,
    pub(crate) lookups: u64,
    pub(crate) searches: u64,
    pub(crate) misses: u64,
}

struct Held {
    number: u64,
    /// Nothing yet if the block was seen only once: taking hold of it costs more than reading it.
    bytes: Option<Arc<[u8]>>,
}

impl Default for Own {
    fn default() -> Self {
        Self {
            held: std::array::from_fn(|_| Held {
                number: u64::MAX,
                bytes: None,
            }),
            decoder: None,
            lookups: 0,
            searches: 0,
            misses: 0,
        }
    }
}

const fn place(number: u64) -> usize {
    number as usize % HELD
}

impl Reader for Own {
    #[inline(always)]
    fn held(&self, number: u64) -> Option<&[u8]> {
        let held = &self.held[place(number)];
        if held.number == number {
            held.bytes.as_deref()
        } else {
            None
        }
    }

    #[inline(always)]
    fn seen(&mut self, number: u64, bytes: &Arc<[u8]>) {
        let held = &mut self.held[place(number)];
        if held.number == number {
            held.bytes = Some(Arc::clone(bytes));
        } else {
            held.number = number;
            held.bytes = None;
        }
    }

    fn missed(&mut self) {
        self.misses += 1;
    }

    fn left_over(&mut self, number: u64, bytes: Arc<[u8]>) {
        let held = &mut self.held[place(number)];
        held.number = number;
        if let Some(old) = held.bytes.replace(bytes) {
            self.evicted(old);
        }
    }

    fn evicted(&mut self, bytes: Arc<[u8]>) {
        if let Some(decoder) = &mut self.decoder {
            decoder.spare = Some(bytes);
        }
    }

    fn with_decoder<R>(&mut self, decode: impl FnOnce(&mut Decoder) -> R) -> R {
        decode(self.decoder.get_or_insert_with(Decoder::new))
    }

    #[inline(always)]
    fn searched(&mut self) {
        self.searches += 1;
    }

    #[inline(always)]
    fn looked_up(&mut self) {
        self.lookups += 1;
    }
}
