//! A warm look-up of a value allocates nothing, and threads share a prober.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use petrov_games::draughts::{Game, Position};
use petrov_probe::{Metric, Node, Prober, Value};
use petrov_tests::{Folder, Random, armies, game};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting calls by thread.
struct Counting;

fn count() {
    // Threads that are ending have no counter any more, and need none.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged; the counter is
// a constant-initialised cell without destructor, so counting never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, so from the system.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: `pointer` came from `alloc` above, so from the system.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn values(prober: &Prober<Game>, positions: &[Position], values: &mut [Value]) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    for (position, value) in positions.iter().zip(values) {
        *value = prober.value(position).unwrap();
    }
    ALLOCATIONS.with(Cell::get) - before
}

/// A handle allocates nothing either, whatever it answers: values, captures first, not in a table.
fn check_handle(prober: &Prober<Game>, positions: &[Position], expected: &[Value]) {
    let mut handle = prober.handle();
    let start = prober.game().start();
    let mut found = vec![Value::Draw; positions.len()];
    for warm in [false, true] {
        let before = ALLOCATIONS.with(Cell::get);
        for (position, value) in positions.iter().zip(&mut found) {
            if let Some(known) = handle.value(position).unwrap() {
                *value = known;
            }
            if let Node::Value(node) = handle.node(position).unwrap() {
                *value = node;
            }
        }
        assert_eq!(handle.node(&start).unwrap(), Node::NotInTable);
        assert_eq!(handle.value(&start).unwrap(), None);
        let allocations = ALLOCATIONS.with(Cell::get) - before;
        assert!(!warm || allocations == 0, "{allocations} allocations");
        assert_eq!(found, expected);
        assert_eq!(handle.stats().probes % 2, 0);
    }
}

fn check(name: &str, pieces: u8) {
    let game = game(name);
    let folder = Folder::with(&game, &pieces.to_string(), &[Metric::Wld]);
    let tables = folder.tables();
    let prober = tables.prober(&game).unwrap();
    let mut random = Random::new(1);
    let pairs = armies(pieces);
    let positions: Vec<Position> = (0..10_000)
        .map(|n| {
            let (white, black) = pairs[n % pairs.len()];
            random.position(game.board(), white, black)
        })
        .collect();
    let captures = positions
        .iter()
        .filter(|position| game.legal_moves(position).iter().any(|played| played.captured != 0))
        .count();
    assert!((1000..9000).contains(&captures), "{captures} positions with a capture");

    let mut cold = vec![Value::Draw; positions.len()];
    assert!(values(&prober, &positions, &mut cold) > 0, "nothing was counted");
    let mut warm = cold.clone();
    warm.fill(Value::Draw);
    assert_eq!(values(&prober, &positions, &mut warm), 0, "allocations in {name}");
    assert_eq!(warm, cold);
    check_handle(&prober, &positions, &cold);
    let filled = prober.unpack(pieces, 64 << 20).unwrap();
    assert_eq!(filled.asked, filled.done);
    check_handle(&prober, &positions, &cold);

    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut found = vec![Value::Draw; positions.len()];
                    // A thread's first look-up may set up what the thread needs.
                    values(&prober, &positions[..1], &mut found);
                    (values(&prober, &positions, &mut found), found)
                })
            })
            .collect();
        for thread in threads {
            let (allocations, found) = thread.join().unwrap();
            assert_eq!(allocations, 0, "allocations in {name}, on another thread");
            assert_eq!(found, cold);
        }
    });
}

#[test]
fn russian_four_pieces() {
    check("russian", 4);
}

#[test]
fn brazilian_three_pieces() {
    check("brazilian", 3);
}
