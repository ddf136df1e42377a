//! Messages over MPI: whole, in order, whatever their lengths, and without a rank waiting for another one.

mod common;

use std::time::{Duration, Instant};

use common::{done, mpirun};
use mpi::Threading;
use petrov_cluster::MpiWire;
use petrov_gen::Wire;

/// Set for the processes that mpirun starts.
const CHILD: &str = "PETROV_TEST_WIRE";

/// Messages that every rank sends to every rank, itself included.
const MESSAGES: usize = 300;

/// Lengths about every way in which Open MPI sends: at once, in one piece after an answer, in many.
fn length(from: usize, to: usize, number: usize) -> usize {
    const LENGTHS: [usize; 10] = [0, 1, 100, 4_000, 4_096, 65_537, 10, 70_000, 1_000_000, 3];
    LENGTHS[(from + 3 * to + number) % LENGTHS.len()]
}

/// What stands at a place of a message.
fn byte(from: usize, to: usize, number: usize, place: usize) -> u8 {
    (place.wrapping_mul(31) ^ (from * 7 + to * 13 + number * 3)) as u8
}

fn message(from: usize, to: usize, number: usize) -> Vec<u8> {
    (0..length(from, to, number))
        .map(|place| byte(from, to, number, place))
        .collect()
}

#[test]
fn messages_arrive_whole_and_in_order() {
    if std::env::var_os(CHILD).is_some() {
        return exchange();
    }
    for ranks in ["1", "2", "3"] {
        let mut command = mpirun();
        command.args(["-n", ranks]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "messages_arrive_whole_and_in_order", "--nocapture"]);
        let said = done(command.env(CHILD, "yes"));
        let passed = said.matches("1 passed").count();
        assert_eq!(passed.to_string(), ranks, "{said}");
    }
}

/// What each rank does.
fn exchange() {
    let (universe, threading) = mpi::initialize_with_threading(Threading::Funneled).unwrap();
    assert!(threading >= Threading::Funneled);
    let mut wire = MpiWire::new(&universe.world());
    let (rank, size) = (wire.rank(), wire.size());
    // All are sent before any is received: hundreds of megabytes are under way, and nobody waits.
    let start = Instant::now();
    for number in 0..MESSAGES {
        for to in 0..size {
            wire.send(to, message(rank, to, number));
        }
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    let mut next = vec![0; size];
    while next.iter().any(|next| *next < MESSAGES) || wire.unsent() > 0 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{next:?}, {} unsent",
            wire.unsent()
        );
        if let Some((from, bytes)) = wire.receive() {
            assert!(
                bytes == message(from, rank, next[from]),
                "message {} of rank {from}",
                next[from]
            );
            next[from] += 1;
        }
    }
    assert!(wire.receive().is_none());
}
