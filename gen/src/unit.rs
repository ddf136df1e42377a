//! Solving one unit: the positions of a slice between which only moves lead
//! that are no conversions, both sides to move. Standing pieces (men, pawns)
//! stand still in a unit, or where they may move sideways, they keep their
//! ranks: the ways in which they can then stand are a unit's *arrangements*.
//!
//! A unit has a *half* for each side to move. A half's rows are the
//! placements of the opponent's pieces, and a row's *cells* the placements of
//! the mover's. Everything is in the mover's view, so the two halves are
//! turned against each other. A quiet move leads from a cell of one row to
//! a cell of the other half in the row that is named by the mover's new
//! placement; each newly decided position is therefore sent (as an
//! [`block::Arrival`]) to that row, where it is stored once more, as a fact about the
//! place the mover could go to. After that a row needs nothing but itself:
//! the row's owner alone touches it, and whole blocks of rows can be solved by
//! different threads or machines.
//!
//! Where a block decides so much at a ply that sending it would take more
//! memory than the cells, nothing is sent, and those it is for look at the
//! block's cells instead (see [`Workspace::look`]).
//!
//! Inside a row facts are kept as lanes (see [`PieceSets`]): one word for every
//! square of one piece while the others stand still. With k moving pieces a
//! placement has k bits, one in the lane of each. Only what the opponent has
//! won is kept so, as all of it is needed together; what it has lost is worked
//! off at once, and the rest is in the cells.
//!
//! A place that leaves the mover's royal piece attacked counts as one that the
//! opponent has won at, from the start: nobody goes there.
//!
//! Where the fifty-move rule counts, distances to the next conversion are
//! worked off twice: first up to 100 plies from conversions into true wins and
//! losses, then what is left, with conversions into spoilt ones and with what
//! comes after the hundredth ply (see [`Task::spoil`]).
//!
//! Work goes ply by ply. In WLD a "ply" is just a round and all that
//! conversions decide is there from the start.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod block;
mod by_lane;
mod by_placement;
mod cells;
mod crew;
mod state;
mod workspace;

use petrov_games::{Bits, Kind, Placement, Rulebook, Side};
use petrov_probe::{Metric, Score};
use rayon::prelude::*;

use block::{Arrival, Block, Free, Task};
use cells::Cells;
pub(crate) use crew::{Alone, Crew, owner};
use crew::{PlyMessage, Sources, append, each_list, share};
pub(crate) use state::{KeptUnit, StateError, StateFrame, UnitState};
use workspace::{Places, Workspace};

use crate::clock::Meter;
use crate::large_pages::make_room;
use crate::pieces::PieceSets;
use crate::solved::Solved;

/// How rows of a half are found from sets of pieces.
pub(crate) enum Rows {
    /// Row numbers are set numbers.
    Plain,
    /// One row for each class of symmetric sets.
    Folded {
        /// For each set as its own side sees it: its row, and as bits the
        /// symmetries that lead to the set the row stands for.
        classes: Vec<(u32, u8)>,
        /// For each row: the set it stands for.
        representatives: Vec<u32>,
        /// For each row: how many sets it stands for.
        weights: Vec<u64>,
    },
}

/// What all units of a slice have in common.
pub(crate) struct UnitFrame<'a, R: Rulebook> {
    pub(crate) rulebook: &'a R,
    pub(crate) metric: Metric,
    /// The mover's moving pieces in each half, and the opponent's.
    pub(crate) own: [&'a PieceSets<R>; 2],
    pub(crate) opp: [&'a PieceSets<R>; 2],
    /// Rows of each half.
    pub(crate) rows: [Rows; 2],
    /// One half stands for both: no standing pieces, and like sides.
    pub(crate) single: bool,
    /// Standing pieces may move along their rank.
    pub(crate) sideways: bool,
    /// Of the work that threads take.
    pub(crate) meter: &'a Meter,
}

/// Where the standing pieces of a unit can be.
pub(crate) struct Standing<B> {
    /// For each half the arrangements of the mover's.
    own: [Vec<B>; 2],
    /// For each half those of the opponent's: the other half's `own`, turned,
    /// in the same order.
    opp: [Vec<B>; 2],
    /// For each half and arrangement: the moves along their rank.
    side_steps: [Vec<Vec<SideStep>>; 2],
}

/// A standing piece's move along its rank.
#[derive(Clone, Copy)]
struct SideStep {
    /// The arrangement it leads to.
    to: u32,
    /// The square that must be empty.
    target: u8,
    /// The square on which there must be an own piece, to be leapt over.
    over: Option<u8>,
}

impl<B: Bits> Standing<B> {
    /// Pieces that stand still: the mover's and the opponent's in half 0.
    pub(crate) fn still<R: Rulebook<Set = B>>(rulebook: &R, own: B, opp: B) -> Self {
        Self {
            own: [vec![own], vec![rulebook.turned_set(opp)]],
            opp: [vec![opp], vec![rulebook.turned_set(own)]],
            side_steps: [vec![Vec::new()], vec![Vec::new()]],
        }
    }

    /// Pieces that keep their ranks: all arrangements of White's and, seen by
    /// White, of Black's.
    pub(crate) fn sideways<R: Rulebook<Set = B>>(rulebook: &R, white: Vec<B>, black: Vec<B>) -> Self {
        let turned = |sets: &[B]| -> Vec<B> { sets.iter().map(|set| rulebook.turned_set(*set)).collect() };
        let own = [white.clone(), turned(&black)];
        let steps = |own: &Vec<B>| -> Vec<Vec<SideStep>> {
            let number: HashMap<u128, u32> = own.iter().enumerate().map(|(n, set)| (set.widen(), n as u32)).collect();
            own.iter()
                .map(|set| {
                    let mut steps = Vec::new();
                    rulebook.side_steps(*set, |from, target, over| {
                        let moved = *set & !B::bit(from) | B::bit(target);
                        if let Some(to) = number.get(&moved.widen()) {
                            let over = over.filter(|square| !set.has(*square));
                            steps.push(SideStep { to: *to, target, over });
                        }
                    });
                    steps
                })
                .collect()
        };
        Self {
            side_steps: [steps(&own[0]), steps(&own[1])],
            own,
            opp: [black, turned(&white)],
        }
    }

    /// The arrangements of the mover's pieces in a half.
    pub(crate) fn own(&self, half: usize) -> &[B] {
        &self.own[half]
    }

    /// The arrangements of the opponent's pieces in a half.
    pub(crate) fn opp(&self, half: usize) -> &[B] {
        &self.opp[half]
    }
}

impl<R: Rulebook> UnitFrame<'_, R> {
    pub(crate) fn row_count(&self, half: usize) -> usize {
        match &self.rows[half] {
            Rows::Plain => self.opp[half].len(),
            Rows::Folded { representatives, .. } => representatives.len(),
        }
    }

    /// Number of the set of the opponent's pieces that a row stands for.
    #[inline(always)]
    pub(crate) fn row_set(&self, half: usize, row: u32) -> u32 {
        match &self.rows[half] {
            Rows::Plain => row,
            Rows::Folded { representatives, .. } => representatives[row as usize],
        }
    }

    /// How many sets a row stands for.
    fn row_weight(&self, half: usize, row: u32) -> u64 {
        match &self.rows[half] {
            Rows::Plain => 1,
            Rows::Folded { weights, .. } => weights[row as usize],
        }
    }

    /// The opponent's standing pieces in a row, and the number of the set of
    /// its moving ones.
    #[inline(always)]
    fn row_parts(&self, half: usize, standing: &Standing<R::Set>, row: u32) -> (R::Set, u32) {
        if self.sideways {
            let sets = self.opp[half].len() as u32;
            (standing.opp[half][(row / sets) as usize], row % sets)
        } else {
            (standing.opp[half][0], self.row_set(half, row))
        }
    }

    /// The opponent's standing and moving pieces in a row.
    #[inline(always)]
    fn row_pieces(&self, half: usize, standing: &Standing<R::Set>, row: u32) -> (R::Set, R::Set) {
        let (opp_standing, set) = self.row_parts(half, standing, row);
        (opp_standing, self.opp[half].set(set))
    }

    /// The mover's moving kind, if there is just one.
    fn only_kind(&self, half: usize) -> Option<Kind> {
        match self.own[half].kinds() {
            [(kind, _)] => Some(*kind),
            _ => None,
        }
    }

    /// Words of one row and arrangement.
    #[inline(always)]
    fn word_count(&self, half: usize) -> usize {
        if self.sideways {
            self.own[half].word_count().max(1)
        } else {
            self.own[half].word_count()
        }
    }

    /// The lanes of a set of the mover's pieces.
    #[inline(always)]
    fn lanes<const SIDEWAYS: bool>(&self, half: usize, set: u32) -> &[(u32, u8)] {
        let own = self.own[half];
        if SIDEWAYS && own.count() == 0 {
            NO_PIECES
        } else {
            own.lanes(set)
        }
    }

    fn other(&self, half: usize) -> usize {
        if self.single { 0 } else { 1 - half }
    }

    pub(crate) fn halves(&self) -> usize {
        if self.single { 1 } else { 2 }
    }

    /// Bytes that one row takes while a unit is solved (its cells, its words and
    /// what it sends and receives at most), and of these the ones of cells.
    pub(crate) fn row_bytes(metric: Metric, cells: u64, words: u64) -> (u64, u64) {
        let arrivals = cells / Block::CELLS_PER_ARRIVAL as u64 * size_of::<Arrival>() as u64;
        let words = (size_of::<R::Set>() as u64).saturating_mul(words);
        let cells = Cells::row_bytes(metric, cells);
        let all = cells.saturating_add(words).saturating_add(arrivals.saturating_mul(2));
        (all, cells)
    }
}

/// Memory in which units are solved one after the other.
pub(crate) struct Unit<B> {
    halves: [Half<B>; 2],
    /// One for each thread that works on the unit.
    workspaces: Vec<Mutex<Workspace<B>>>,
    owners: Owners,
    /// Blocks into which a half is cut at least, if it has the rows.
    blocks_per_half: u32,
    /// Which halves each rank has flooded.
    flooded_by: Vec<[bool; 2]>,
}

/// The positions with one side to move.
#[derive(Default)]
struct Half<B> {
    cells: Cells,
    /// For each word: places that the mover must not go to. See
    /// [`Task::won_there`].
    won_there: Vec<B>,
    blocks: Vec<Block>,
    /// Words of a row.
    row_words: usize,
    floods: Floods,
    /// Where other ranks share the unit.
    sources: Sources,
}

/// Blocks of one half and rank that have decided more than they sent.
#[derive(Default)]
struct Floods {
    /// Number within the half of the rank's first block.
    first_block: usize,
    flags: Vec<bool>,
}

impl Floods {
    /// Whether a block of this rank's has; not so for others'.
    #[inline(always)]
    fn has(&self, block: usize) -> bool {
        self.flags.get(block.wrapping_sub(self.first_block)) == Some(&true)
    }

    fn any(&self) -> bool {
        self.flags.contains(&true)
    }
}

/// Which block owns a row.
#[derive(Clone, Copy, Default)]
struct Owners {
    /// First block of each half, and how many it has.
    first_block: [usize; 2],
    blocks: [usize; 2],
    /// Rows to a block, as a power of two.
    row_bits: [u32; 2],
    /// Bits that tell the places of a row apart.
    place_bits: [u32; 2],
}

impl Owners {
    /// The block that owns a row of a half, and the row's number there.
    #[inline(always)]
    fn of(&self, half: usize, row: u32) -> (usize, u32) {
        let block = row >> self.row_bits[half];
        (
            self.first_block[half] + block as usize,
            row - (block << self.row_bits[half]),
        )
    }
}

/// What the blocks of a unit work on.
struct Site<'a, R: Rulebook> {
    frame: &'a UnitFrame<'a, R>,
    standing: &'a Standing<R::Set>,
    owners: Owners,
}

/// How far a unit has come.
#[derive(Clone, Copy, Default)]
struct Clock {
    ply: u16,
    /// What is decided now is spoilt by the fifty-move rule.
    spoilt: bool,
}

impl Clock {
    /// Between what counts and what is spoilt.
    fn is_turn(self) -> bool {
        self.spoilt && self.ply == 0
    }
}

impl<R: Rulebook> Site<'_, R> {
    /// All pieces but the one that a word tells of.
    fn board(&self, half: usize, arrangement: u32, row: u32, word: u32) -> R::Placement {
        let mut board = self.row_board(half, arrangement, row);
        if self.frame.own[half].count() > 0 {
            self.frame.own[half].add_word(word, Side::Own, &mut board);
        }
        board
    }

    /// All pieces but the mover's moving ones.
    fn row_board(&self, half: usize, arrangement: u32, row: u32) -> R::Placement {
        let mut board = R::Placement::default();
        let (opp_standing, opp_set) = self.frame.row_parts(half, self.standing, row);
        let own_standing = self.standing.own[half][arrangement as usize];
        board.add(Side::Own, Kind::STANDING, own_standing);
        board.add(Side::Opponent, Kind::STANDING, opp_standing);
        self.frame.opp[half].add_set(opp_set, Side::Opponent, &mut board);
        board
    }
}

impl<B: Bits> Unit<B> {
    /// Memory for units, with each half cut into at least so many blocks of
    /// rows. Units of several blocks are solved by all threads.
    pub(crate) fn new(blocks: usize) -> Self {
        let threads = if blocks > 1 { rayon::current_num_threads() } else { 1 };
        Self {
            halves: Default::default(),
            workspaces: (0..threads).map(|_| Mutex::default()).collect(),
            owners: Owners::default(),
            blocks_per_half: blocks as u32,
            flooded_by: Vec::new(),
        }
    }

    /// Cuts the rows into blocks and makes room for those of this rank.
    /// `row_bits` says how many rows make a block, as powers of two, where that is given.
    fn prepare<R: Rulebook<Set = B>>(
        &mut self,
        frame: &UnitFrame<'_, R>,
        standing: &Standing<B>,
        crew: &dyn Crew,
        row_bits: Option<[u32; 2]>,
    ) {
        let (rank, ranks) = (crew.rank(), crew.ranks());
        let (mut used, mut mine) = (0, 0);
        for (number, half) in self.halves.iter_mut().enumerate() {
            let arrangements = standing.own[number].len();
            let width = arrangements * frame.own[number].len();
            let rows = match number < frame.halves() {
                true => (standing.opp[number].len() * frame.row_count(number)) as u32,
                false => 0,
            };
            let place_bits = width.max(2).next_power_of_two().ilog2();
            // An arrival has room for the place, the row within its block and
            // one bit more. A row that needs more does not fit any memory.
            assert!(place_bits < Arrival::BITS, "a row has at most 2^31 places");
            let most = Arrival::BITS - 1 - place_bits;
            let row_bits = match row_bits {
                Some(row_bits) => row_bits[number].min(most),
                None => (rows / self.blocks_per_half).max(1).ilog2().min(most),
            };
            let blocks = rows.div_ceil(1 << row_bits) as usize;
            self.owners.first_block[number] = used;
            self.owners.blocks[number] = blocks;
            self.owners.row_bits[number] = row_bits;
            self.owners.place_bits[number] = place_bits;
            used += blocks;
            let own = share(blocks, rank, ranks);
            let start = |block: usize| ((block as u64) << row_bits).min(rows.into()) as u32;
            let own_rows = start(own.start)..start(own.end);
            half.row_words = arrangements * frame.word_count(number);
            half.cells.clear(frame.metric, own_rows.clone(), width);
            make_room(&mut half.won_there, own_rows.len() * half.row_words);
            half.won_there.resize(own_rows.len() * half.row_words, B::ZERO);
            half.floods.first_block = own.start;
            half.floods.flags.clear();
            half.blocks.resize_with(own.len(), Block::default);
            mine += own.len();
            for (block, number) in half.blocks.iter_mut().zip(own) {
                let rows = start(number)..start(number + 1);
                let cells = rows.len() * width;
                block.clear(rows, cells);
            }
        }
        if ranks > 1 {
            for number in 0..frame.halves() {
                self.halves[number].sources = Sources::new(frame, standing, &self.owners, number, ranks);
            }
        }
        for block in self.halves.iter_mut().flat_map(|half| &mut half.blocks) {
            // From each block of this rank, and from each other rank.
            block.inbox.resize_with(mine + ranks - 1, Vec::new);
            block.outbox.resize_with(used, Vec::new);
        }
        self.flooded_by = vec![[false; 2]; ranks];
    }

    /// Solves the unit with these standing pieces. All ranks of the crew call
    /// it; each then has the rows that it owns. `state` is what the crew was
    /// given to keep before, to go on from there.
    ///
    /// # Errors
    /// The state is not of this unit.
    pub(crate) fn solve<R: Rulebook<Set = B>>(
        &mut self,
        frame: &UnitFrame<'_, R>,
        solved: &Solved<R>,
        standing: &Standing<B>,
        crew: &dyn Crew,
        state: Option<&KeptUnit>,
    ) -> Result<(), StateError> {
        if frame.sideways {
            self.run::<R, true>(frame, solved, standing, crew, state)
        } else {
            self.run::<R, false>(frame, solved, standing, crew, state)
        }
    }

    /// `SIDEWAYS` as in the frame; where standing pieces stand still nothing
    /// is paid for what sideways moves need.
    fn run<R: Rulebook<Set = B>, const SIDEWAYS: bool>(
        &mut self,
        frame: &UnitFrame<'_, R>,
        solved: &Solved<R>,
        standing: &Standing<B>,
        crew: &dyn Crew,
        state: Option<&KeptUnit>,
    ) -> Result<(), StateError> {
        self.prepare(frame, standing, crew, state.map(KeptUnit::row_bits));
        let at = Site {
            frame,
            standing,
            owners: self.owners,
        };
        let fifty_moves = frame.metric == Metric::Dtz && frame.rulebook.fifty_moves();
        let mut clock = Clock::default();
        match state {
            Some(state) => clock = self.restore(state)?,
            None => self.each(&at, clock, None, &Dense::default(), |task| {
                task.start::<SIDEWAYS>(solved)
            }),
        }
        let mut busy = self.exchange(crew);
        loop {
            while busy {
                if fifty_moves && !clock.spoilt && clock.ply == Score::FIFTY_MOVES {
                    break;
                }
                if crew.wants_state() {
                    crew.keep_state(self.state(clock));
                }
                clock.ply += 1;
                crew.at_ply(clock.ply, clock.spoilt);
                self.ply(&at, crew, clock, |task| task.advance::<SIDEWAYS>());
                busy = self.exchange(crew);
            }
            let more = busy || self.on_any_rank(crew, self.blocks().any(Block::has_spoilt));
            if !fifty_moves || clock.spoilt || !more {
                break;
            }
            // What is decided from here on is spoilt, and plies are counted
            // from the next conversion again.
            clock = Clock { ply: 0, spoilt: true };
            self.ply(&at, crew, clock, |task| task.spoil::<SIDEWAYS>());
            busy = self.on_any_rank(crew, self.is_busy());
        }
        Ok(())
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.halves.iter().flat_map(|half| &half.blocks)
    }

    fn is_busy(&self) -> bool {
        self.halves.iter().any(|half| half.floods.any()) || self.blocks().any(Block::is_busy)
    }

    fn on_any_rank(&self, crew: &dyn Crew, here: bool) -> bool {
        let out = vec![vec![u8::from(here)]; crew.ranks()];
        here || crew.exchange(out).iter().any(|message| message == &[1])
    }

    /// Works on every block of this rank, after a look at what others have
    /// flooded.
    fn ply<R: Rulebook<Set = B>>(
        &mut self,
        at: &Site<'_, R>,
        crew: &dyn Crew,
        clock: Clock,
        work: impl Fn(&mut Task<'_, R>) + Copy + Sync + Send,
    ) {
        let (rank, ranks) = (crew.rank(), crew.ranks());
        if ranks == 1 || !self.flooded_by.iter().flatten().any(|flood| *flood) {
            self.each(at, clock, None, &Dense::default(), work);
            return;
        }
        for half in 0..at.frame.halves() {
            let source = at.frame.other(half);
            let flooding: Vec<bool> = self.flooded_by.iter().map(|floods| floods[source]).collect();
            if !flooding.contains(&true) {
                let all = 0..self.halves[half].blocks.len();
                self.each(at, clock, Some((half, all)), &Dense::default(), work);
                continue;
            }
            let blocks = at.owners.blocks[half];
            let width = at.standing.own[half].len() * at.frame.own[half].len();
            let together = (ROUND_POSITIONS / (width << at.owners.row_bits[half]).max(1)).max(1);
            let rounds = (0..ranks).map(|rank| share(blocks, rank, ranks).len().div_ceil(together));
            for round in 0..rounds.max().unwrap_or(0) {
                // Blocks of a rank that this round is about, within the half.
                let chunk = |rank: usize| {
                    let own = share(blocks, rank, ranks);
                    let start = (own.start + round * together).min(own.end);
                    start..(start + together).min(own.end)
                };
                let rows = |rank: usize| {
                    let chunk = chunk(rank);
                    let start = |block: usize| (block << at.owners.row_bits[half]) as u32;
                    let all = (at.standing.opp[half].len() * at.frame.row_count(half)) as u32;
                    start(chunk.start).min(all)..start(chunk.end).min(all)
                };
                let out = (0..ranks)
                    .map(|to| match to != rank && flooding[rank] {
                        true => self.look_for(at, half, rows(to), clock, rank),
                        false => Vec::new(),
                    })
                    .collect();
                let found = crew.exchange(out);
                let own = chunk(rank);
                let first = share(blocks, rank, ranks).start;
                let own = own.start - first..own.end - first;
                let dense = Dense {
                    rank,
                    first_row: rows(rank).start,
                    from: found
                        .iter()
                        .enumerate()
                        .filter(|(from, codes)| *from != rank && !codes.is_empty())
                        .map(|(from, codes)| (from, &codes[..]))
                        .collect(),
                };
                self.each(at, clock, Some((half, own)), &dense, work);
            }
        }
    }

    /// What this rank's flooded blocks have decided, for rows of another:
    /// two bits for each place that its rows lead to.
    fn look_for<R: Rulebook<Set = B>>(
        &self,
        at: &Site<'_, R>,
        half: usize,
        rows: Range<u32>,
        clock: Clock,
        rank: usize,
    ) -> Vec<u8> {
        let theirs = &self.halves[at.frame.other(half)];
        let places = Places::Packed(self.halves[half].sources.of(rank));
        let look = |rows: Range<u32>| {
            let mut workspace = self.workspace();
            workspace.look(at, half, rows, &theirs.cells, &theirs.floods, clock, places);
            workspace.found.take()
        };
        let starts: Vec<u32> = rows.clone().step_by(ROWS_TOGETHER).collect();
        let part = |start: u32| start..(start + ROWS_TOGETHER as u32).min(rows.end);
        let parts: Vec<Vec<u8>> = match self.workspaces.len() {
            1 => starts.into_iter().map(|start| look(part(start))).collect(),
            _ => starts
                .into_par_iter()
                .map(|start| at.frame.meter.measure(|| look(part(start))))
                .collect(),
        };
        parts.concat()
    }

    /// The room for the work of this thread.
    fn workspace(&self) -> MutexGuard<'_, Workspace<B>> {
        let number = rayon::current_thread_index().unwrap_or(0) % self.workspaces.len();
        self.workspaces[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on every block, or on some of one half, in parallel if there are
    /// several for a half.
    fn each<R: Rulebook<Set = B>>(
        &mut self,
        at: &Site<'_, R>,
        clock: Clock,
        part: Option<(usize, Range<usize>)>,
        dense: &Dense<'_>,
        work: impl Fn(&mut Task<'_, R>) + Sync + Send,
    ) {
        let [first, second] = &mut self.halves;
        let cells = [&first.cells, &second.cells];
        let floods = [&first.floods, &second.floods];
        let sources = [&first.sources, &second.sources];
        let floods_here = [0, 1].map(|half| floods[at.frame.other(half)].any());
        let flooded = [0, 1].map(|half| floods_here[half] || !dense.from.is_empty());
        let ranks = self.flooded_by.len();
        let halves = [
            (&mut first.blocks, &mut first.won_there, first.row_words),
            (&mut second.blocks, &mut second.won_there, second.row_words),
        ];
        let groups = halves
            .into_iter()
            .enumerate()
            .flat_map(|(half, (blocks, words, row_words))| {
                let (blocks, words) = match &part {
                    None => (&mut blocks[..], &mut words[..]),
                    Some((chosen, some)) if *chosen == half => {
                        let rows = |blocks: &[Block]| blocks.iter().map(|block| block.rows.len()).sum::<usize>();
                        let before = rows(&blocks[..some.start]) * row_words;
                        let length = rows(&blocks[some.clone()]) * row_words;
                        (&mut blocks[some.clone()], &mut words[before..before + length])
                    }
                    Some(_) => Default::default(),
                };
                let mut rest = words;
                let together = match blocks.first() {
                    Some(block) if flooded[half] => (ROWS_TOGETHER / block.rows.len()).max(1),
                    _ => 1,
                };
                blocks.chunks_mut(together).map(move |blocks| {
                    let rows: usize = blocks.iter().map(|block| block.rows.len()).sum();
                    let (won_there, left) = std::mem::take(&mut rest).split_at_mut(rows * row_words);
                    rest = left;
                    (half, blocks, won_there, row_words)
                })
            });
        let workspaces = &self.workspaces;
        let work = |(half, blocks, won_there, row_words): (usize, &mut [Block], &mut [B], usize)| {
            let workspace = &workspaces[rayon::current_thread_index().unwrap_or(0) % workspaces.len()];
            let workspace = &mut *workspace.lock().unwrap_or_else(PoisonError::into_inner);
            let other = at.frame.other(half);
            if flooded[half]
                && let [first, ..] = blocks
            {
                let start = first.rows.start;
                let rows: usize = blocks.iter().map(|block| block.rows.len()).sum();
                let rows = start..start + rows as u32;
                let width = at.standing.own[half].len() * at.frame.own[half].len();
                if floods_here[half] {
                    let places = match ranks {
                        1 => Places::All(width as u32),
                        _ => Places::Some(sources[half].of(dense.rank), width as u32),
                    };
                    workspace.look(at, half, rows.clone(), cells[other], floods[other], clock, places);
                } else {
                    workspace.found.clear(rows.clone(), width);
                }
                for (from, codes) in &dense.from {
                    let places = sources[half].of(*from);
                    workspace.found.merge(rows.clone(), dense.first_row, places, codes);
                }
            }
            let mut rest = won_there;
            for block in blocks {
                let (won_there, left) = rest.split_at_mut(block.rows.len() * row_words);
                rest = left;
                work(&mut Task {
                    at,
                    half,
                    block,
                    cells: cells[half],
                    won_there,
                    workspace,
                    flooded: flooded[half],
                    clock,
                });
            }
        };
        if workspaces.len() == 1 {
            groups.for_each(work);
        } else {
            let groups: Vec<_> = groups.collect();
            let groups = groups.into_par_iter().with_max_len(1);
            groups.for_each(|group| at.frame.meter.measure(|| work(group)));
        }
    }

    /// Gives what every block sent to the block it is for. Says whether there
    /// is anything left to do, on any rank.
    fn exchange(&mut self, crew: &dyn Crew) -> bool {
        let (rank, ranks) = (crew.rank(), crew.ranks());
        let owners = self.owners;
        let local = |half: usize| share(owners.blocks[half], rank, ranks);
        let mut messages = vec![Vec::new(); ranks];
        let mut from = 0;
        for half in 0..self.halves.len() {
            let blocks = self.halves[half].blocks.len();
            let Half {
                blocks: all, floods, ..
            } = &mut self.halves[half];
            floods.flags.clear();
            floods.flags.extend(all.iter_mut().map(Block::end_ply));
            for block in 0..blocks {
                let mut outbox = std::mem::take(&mut self.halves[half].blocks[block].outbox);
                for target in 0..self.halves.len() {
                    let first = owners.first_block[target];
                    let lists = &mut outbox[first..first + owners.blocks[target]];
                    let own = local(target);
                    let here = lists[own.clone()].iter_mut().zip(&mut self.halves[target].blocks);
                    for (sent, to) in here.filter(|(sent, _)| !sent.is_empty()) {
                        std::mem::swap(sent, &mut to.inbox[from]);
                    }
                    if ranks > 1 {
                        for (number, sent) in lists.iter_mut().enumerate().filter(|(_, sent)| !sent.is_empty()) {
                            if !own.contains(&number) {
                                let to = owner(number, owners.blocks[target], ranks);
                                append(&mut messages[to], first + number, sent);
                                *sent = Vec::new();
                            }
                        }
                    }
                }
                self.halves[half].blocks[block].outbox = outbox;
                from += 1;
            }
        }
        let busy = self.is_busy() || messages.iter().any(|message| !message.is_empty());
        if ranks == 1 {
            return busy;
        }
        let floods = [0, 1].map(|half| self.halves[half].floods.any());
        let message = |arrivals| PlyMessage { busy, floods, arrivals }.to_bytes();
        let messages = crew.exchange(messages.into_iter().map(message).collect());
        let mut any = busy;
        self.flooded_by[rank] = floods;
        for (sender, message) in messages.into_iter().enumerate().filter(|(sender, _)| *sender != rank) {
            let message = PlyMessage::from_bytes(message);
            any |= message.busy;
            self.flooded_by[sender] = message.floods;
            let slot = from + sender - usize::from(sender > rank);
            each_list(&message.arrivals, |block, list| {
                let half = usize::from(block >= owners.first_block[1]);
                let number = (block - owners.first_block[half]).wrapping_sub(local(half).start);
                if let Some(block) = self.halves[half].blocks.get_mut(number) {
                    block.inbox[slot].extend(list);
                }
            });
        }
        any
    }

    /// Positions of a half in which the mover is mated, symmetric ones
    /// counted.
    pub(crate) fn mated(&self, half: usize) -> u64 {
        self.halves[half].blocks.iter().map(|block| block.mated).sum()
    }

    /// Whether a row is among those of this rank.
    #[inline(always)]
    pub(crate) fn has_row(&self, half: usize, row: u32) -> bool {
        self.halves[half].cells.has_row(row)
    }

    /// Scores of one row of a half as bits, or [`GAP`](crate::values::GAP), for
    /// every place of the mover's pieces (those that do not fit the row hold
    /// nothing), with whether they are free. A place is an arrangement times
    /// the number of sets of pieces plus the set's number; rows go likewise.
    #[inline(always)]
    pub(crate) fn row(&self, half: usize, row: u32) -> impl Fn(u32) -> (u16, bool) + '_ {
        self.halves[half].cells.scores(row)
    }

    /// Gives back the memory that only solving needs.
    pub(crate) fn drop_all_but_cells(&mut self) {
        self.workspaces
            .iter_mut()
            .for_each(|workspace| *workspace = Mutex::default());
        for half in &mut self.halves {
            half.won_there = Vec::new();
            half.blocks.iter_mut().for_each(Block::drop_arrivals);
        }
    }

    /// Gives back the memory of a half that has been kept.
    pub(crate) fn drop_half(&mut self, half: usize) {
        self.halves[half] = Half::default();
    }
}

/// What other ranks found for some rows.
#[derive(Default)]
struct Dense<'a> {
    /// This rank.
    rank: usize,
    first_row: u32,
    /// By rank, for each row two bits for each place that its rows lead to.
    from: Vec<(usize, &'a [u8])>,
}

/// Rows for which a thread looks at the other half's cells at once.
const ROWS_TOGETHER: usize = 64;

/// Positions of each rank about which ranks tell each other at once where they have
/// decided much: two bits each.
const ROUND_POSITIONS: usize = 1 << 25;

/// The lane of a side without moving pieces: one bit stands for the place.
const NO_PIECES: &[(u32, u8)] = &[(0, 0)];
