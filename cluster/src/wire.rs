//! Messages between ranks over MPI.

use std::collections::VecDeque;

use mpi::request::StaticScope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use petrov_gen::Wire;

use crate::posted::UnderWay;

/// Messages between the ranks of a communicator. No call waits for another rank, so none can be waited for in a circle.
///
/// Sends and receives are MPI's immediate ones, which go on whenever this rank calls [`Wire::receive`].
pub struct MpiWire {
    communicator: SimpleCommunicator,
    sending: VecDeque<UnderWay>,
    unsent: u64,
    arriving: VecDeque<Arriving>,
    arriving_bytes: usize,
}

/// A message of which the length is known and the bytes are on their way.
struct Arriving {
    from: usize,
    message: UnderWay,
}

/// Sends that one call looks at: enough to keep up with those that a caller makes, few enough to cost nothing
/// when thousands wait for a slow rank.
const SENDS_PER_CALL: usize = 8;

/// No further message is begun to be received while so many bytes are on their way, as memory for them is taken at once.
const MOST_ARRIVING: usize = 64 << 20;

impl MpiWire {
    /// A wire between the ranks of `world`, which all have to make it. Nothing that is sent in another way can come in
    /// between.
    pub fn new(world: &SimpleCommunicator) -> Self {
        Self {
            communicator: world.duplicate(),
            sending: VecDeque::new(),
            unsent: 0,
            arriving: VecDeque::new(),
            arriving_bytes: 0,
        }
    }

    /// Lets go of the bytes of sends that are done.
    fn move_sends_on(&mut self) {
        for _ in 0..self.sending.len().min(SENDS_PER_CALL) {
            let Some(send) = self.sending.pop_front() else { break };
            let bytes = weight(send.len());
            match send.take() {
                Ok(_) => self.unsent -= bytes,
                // Others, to faster ranks, may be done already: they are looked at first next time.
                Err(send) => self.sending.push_back(send),
            }
        }
    }

    /// Begins to receive what other ranks have announced.
    fn begin_receives(&mut self) {
        while self.arriving_bytes < MOST_ARRIVING
            && let Some((message, status)) = self.communicator.any_process().immediate_matched_probe()
        {
            // MPI's counts are not negative here: each message is bytes.
            let length = usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0);
            let from = usize::try_from(status.source_rank()).unwrap_or(0);
            self.arriving_bytes += length;
            self.arriving.push_back(Arriving {
                from,
                message: UnderWay::new(vec![0; length], |bytes| {
                    message.immediate_matched_receive_into(StaticScope, bytes)
                }),
            });
        }
    }

    /// The first message that is there as a whole and before which none of the same rank is still on its way.
    fn first_whole(&mut self) -> Option<(usize, Vec<u8>)> {
        let mut held_up: Vec<usize> = Vec::new();
        for place in 0..self.arriving.len() {
            let arriving = self.arriving.remove(place)?;
            let from = arriving.from;
            if held_up.contains(&from) {
                self.arriving.insert(place, arriving);
                continue;
            }
            match arriving.message.take() {
                Ok(bytes) => {
                    self.arriving_bytes -= bytes.len();
                    return Some((from, bytes));
                }
                Err(message) => {
                    self.arriving.insert(place, Arriving { from, message });
                    held_up.push(from);
                }
            }
        }
        None
    }
}

impl Wire for MpiWire {
    fn rank(&self) -> usize {
        usize::try_from(self.communicator.rank()).unwrap_or(0)
    }

    fn size(&self) -> usize {
        usize::try_from(self.communicator.size()).unwrap_or(1)
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        assert!(to < self.size(), "rank {to} of {}", self.size());
        // MPI counts in 32 bits.
        assert!(message.len() <= 1 << 30, "a message of {} bytes", message.len());
        self.unsent += weight(message.len());
        let receiver = self.communicator.process_at_rank(to as i32);
        self.sending.push_back(UnderWay::new(message, |bytes| {
            receiver.immediate_send(StaticScope, &*bytes)
        }));
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        self.move_sends_on();
        self.begin_receives();
        self.first_whole()
    }

    fn unsent(&self) -> u64 {
        self.unsent
    }
}

/// What a message counts in `unsent`: its bytes, and an empty one something, too, so that none is forgotten.
fn weight(length: usize) -> u64 {
    length.max(1) as u64
}
