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
//! [`Arrival`]) to that row, where it is stored once more, as a fact about the
//! place the mover could go to. After that a row needs nothing but itself:
//! the row's owner alone touches it, and whole blocks of rows can be solved by
//! different threads or machines.
//!
//! Inside a row facts are kept as lanes (see [`PieceSets`]): one word for every
//! square of one piece while the others stand still. With k moving pieces a
//! placement has k bits, one in the lane of each.
//!
//! A place that leaves the mover's royal piece attacked counts as one that the
//! opponent has won at, from the start: nobody goes there.
//!
//! Where the fifty-move rule counts, distances to the next conversion are
//! worked off twice: first up to 100 plies from conversions into true wins and
//! losses, then what is left, with conversions into spoilt ones and with what
//! comes after the hundredth ply (see [`Block::spoil`]).
//!
//! Work goes ply by ply. In WLD a "ply" is just a round and all that
//! conversions decide is there from the start.

use std::collections::{HashMap, VecDeque};

mod by_lane;
mod by_placement;

use petrov_games::{Bits, Kind, Placement, Rulebook, Side};
use petrov_probe::{Metric, Score};
use rayon::prelude::*;

use crate::pieces::PieceSets;
use crate::solved::Solved;
use crate::values::GAP;

/// What is known of one piece's squares while the others stand still.
#[derive(Clone, Copy, Default)]
struct Word<B> {
    /// Not decided yet.
    open: B,
    /// Open, and no conversion avoids losing.
    may_lose: B,
    /// Squares to go to where the opponent has lost: not worked off yet.
    lost_there: B,
    /// Squares to go to where the opponent has won.
    won_there: B,
    /// Squares from which this piece has no move, or only ones to `won_there`.
    held: B,
}

/// A decided position on its way to the row in which it can be moved to.
#[derive(Clone, Copy)]
struct Arrival {
    /// Row within the target block.
    row: u32,
    /// Set of pieces that the mover of that row would have after the move,
    /// times two, plus one if the position is won for the opponent.
    place: u32,
}

/// Something that becomes true at a ply.
#[derive(Clone, Copy)]
struct Event {
    row: u32,
    place: u32,
    kind: EventKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EventKind {
    /// The cell holds its score; others learn of it now.
    Decided,
    /// A conversion wins, if nothing has been quicker.
    Win,
    /// Every move has lost by now.
    Loss,
}

/// The rows of one half that one task owns.
#[derive(Default)]
struct Block<B> {
    half: usize,
    /// First row and end of rows.
    rows: std::ops::Range<u32>,
    words: Vec<Word<B>>,
    /// [`Score`] bits, with [`FREE`]; as long as a position is open the
    /// distance is that of the longest losing conversion.
    cells: Vec<u16>,
    /// Words with arrivals that are not worked off.
    dirty: Vec<u32>,
    is_dirty: Vec<u64>,
    /// Words with new places where the opponent has won.
    is_stale: Vec<u64>,
    inbox: Vec<Vec<Arrival>>,
    outbox: Vec<Vec<Arrival>>,
    /// Events of each ply from now on.
    events: VecDeque<Vec<Event>>,
    spare: Vec<Vec<Event>>,
    /// Open positions whose best conversion leads to a spoilt result.
    spoilt: Vec<Event>,
    /// Positions in which the mover is mated, symmetric ones counted.
    mated: u64,
}

/// Cell bit: the mover's captures tell at least as much as the table's entry
/// has to. What they lead to is a win if the cell's score is one, else a draw
/// (where captures are compulsory: the score itself).
const FREE: u16 = 1 << 12;

/// As long as a position is open and [`FREE`]: a capture wins. What is kept
/// of losing conversions then does not matter.
const CAPTURE_WINS: u16 = 1;

/// What the mover's captures do for a table's entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Free {
    No,
    /// They lead to a draw at least, or to the score itself.
    Score,
    /// They win.
    Win,
}

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

    /// Bytes that one row takes while a unit is solved.
    pub(crate) fn row_bytes(cells: u64, words: u64) -> u64 {
        (2 * cells).saturating_add((size_of::<Word<R::Set>>() as u64 + 1).saturating_mul(words))
    }
}

/// Memory in which units are solved one after the other.
pub(crate) struct Unit<B> {
    blocks: Vec<Block<B>>,
    owners: Owners,
    /// Blocks into which a half is cut.
    blocks_per_half: u32,
}

/// Which block owns a row.
#[derive(Clone, Copy, Default)]
struct Owners {
    /// First block of each half, and rows to a block.
    first_block: [usize; 2],
    block_rows: [u32; 2],
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

/// A half of a unit after solving.
pub(crate) struct Cells<'a, B> {
    unit: &'a Unit<B>,
    half: usize,
}

impl<B: Bits> Unit<B> {
    /// Memory for units, with each half cut into about `blocks` blocks of rows.
    pub(crate) fn new(blocks: usize) -> Self {
        Self {
            blocks: Vec::new(),
            owners: Owners::default(),
            blocks_per_half: blocks as u32,
        }
    }

    /// Cuts the rows into blocks and makes room for them.
    fn prepare<R: Rulebook<Set = B>>(&mut self, frame: &UnitFrame<'_, R>, standing: &Standing<B>) {
        let mut used = 0;
        for half in 0..frame.halves() {
            let own = frame.own[half];
            let arrangements = standing.own[half].len();
            let rows = (standing.opp[half].len() * frame.row_count(half)) as u32;
            let each = rows.div_ceil(self.blocks_per_half).max(1);
            self.owners.first_block[half] = used;
            self.owners.block_rows[half] = each;
            for from in (0..rows).step_by(each as usize) {
                if self.blocks.len() == used {
                    self.blocks.push(Block::default());
                }
                let block = &mut self.blocks[used];
                let rows = from..(from + each).min(rows);
                let words = rows.len() * arrangements * frame.word_count(half);
                block.half = half;
                block.words.clear();
                block.words.resize(words, Word::default());
                block.cells.clear();
                block.cells.resize(rows.len() * arrangements * own.len(), 0);
                block.mated = 0;
                block.is_dirty.clear();
                block.is_dirty.resize(words.div_ceil(64), 0);
                block.is_stale.clear();
                block.is_stale.resize(words.div_ceil(64), 0);
                block.rows = rows;
                used += 1;
            }
        }
        self.blocks.truncate(used);
        for block in &mut self.blocks {
            block.inbox.resize_with(used, Vec::new);
            block.outbox.resize_with(used, Vec::new);
        }
    }

    /// Solves the unit with these standing pieces.
    pub(crate) fn solve<R: Rulebook<Set = B>>(
        &mut self,
        frame: &UnitFrame<'_, R>,
        solved: &Solved<R>,
        standing: &Standing<B>,
    ) {
        if frame.sideways {
            self.run::<R, true>(frame, solved, standing);
        } else {
            self.run::<R, false>(frame, solved, standing);
        }
    }

    /// `SIDEWAYS` as in the frame; where standing pieces stand still nothing
    /// is paid for what sideways moves need.
    fn run<R: Rulebook<Set = B>, const SIDEWAYS: bool>(
        &mut self,
        frame: &UnitFrame<'_, R>,
        solved: &Solved<R>,
        standing: &Standing<B>,
    ) {
        self.prepare(frame, standing);
        let at = Site {
            frame,
            standing,
            owners: self.owners,
        };
        let fifty_moves = frame.metric == Metric::Dtz && frame.rulebook.fifty_moves();
        self.each(|block| block.start::<R, SIDEWAYS>(&at, solved));
        self.exchange();
        let mut clock = Clock::default();
        loop {
            while self.blocks.iter().any(Block::is_busy) {
                if fifty_moves && !clock.spoilt && clock.ply == Score::FIFTY_MOVES {
                    break;
                }
                clock.ply += 1;
                self.each(|block| block.advance::<R, SIDEWAYS>(&at, clock));
                self.exchange();
            }
            let more = self
                .blocks
                .iter()
                .any(|block| block.is_busy() || !block.spoilt.is_empty());
            if !fifty_moves || clock.spoilt || !more {
                break;
            }
            // What is decided from here on is spoilt, and plies are counted
            // from the next conversion again.
            clock = Clock { ply: 0, spoilt: true };
            self.each(|block| block.spoil::<R, SIDEWAYS>(&at, clock));
        }
    }

    fn each(&mut self, work: impl Fn(&mut Block<B>) + Sync + Send) {
        if self.blocks.len() <= 2 {
            self.blocks.iter_mut().for_each(work);
        } else {
            self.blocks.par_iter_mut().for_each(work);
        }
    }

    /// Gives what every block sent to the block it is for.
    fn exchange(&mut self) {
        let count = self.blocks.len();
        for from in 0..count {
            for to in 0..count {
                if self.blocks[from].outbox[to].is_empty() {
                    continue;
                }
                let sent = std::mem::take(&mut self.blocks[from].outbox[to]);
                let emptied = std::mem::replace(&mut self.blocks[to].inbox[from], sent);
                self.blocks[from].outbox[to] = emptied;
            }
        }
    }

    /// Positions of a half in which the mover is mated, symmetric ones
    /// counted.
    pub(crate) fn mated(&self, half: usize) -> u64 {
        let blocks = self.blocks.iter().filter(|block| block.half == half);
        blocks.map(|block| block.mated).sum()
    }

    /// The solved cells of a half.
    pub(crate) fn cells(&self, half: usize) -> Cells<'_, B> {
        Cells { unit: self, half }
    }
}

impl<B: Bits> Cells<'_, B> {
    /// Scores of one row as bits, or [`GAP`], for every place of the mover's
    /// pieces (those that do not fit the row hold nothing), with whether they
    /// are free. A place is an arrangement times the number of sets of pieces
    /// plus the set's number; rows go likewise.
    #[inline(always)]
    pub(crate) fn row(&self, row: u32) -> impl Fn(u32) -> (u16, bool) + '_ {
        let unit = self.unit;
        let owners = &unit.owners;
        let block = &unit.blocks[owners.first_block[self.half] + (row / owners.block_rows[self.half]) as usize];
        let width = block.cells.len() / block.rows.len();
        let start = (row - block.rows.start) as usize * width;
        let cells = &block.cells[start..start + width];
        move |place| {
            let cell = cells[place as usize];
            // Open to the end: what was kept of conversions is no distance.
            let score = if cell & GAP == 0 { 0 } else { cell & !FREE };
            (score, cell & FREE != 0)
        }
    }
}

/// The lane of a side without moving pieces: one bit stands for the place.
const NO_PIECES: &[(u32, u8)] = &[(0, 0)];

impl<B: Bits> Block<B> {
    fn is_busy(&self) -> bool {
        !self.dirty.is_empty() || !self.events.is_empty() || self.inbox.iter().any(|arrivals| !arrivals.is_empty())
    }

    /// Initialises every position of the block by looking forward.
    fn start<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&mut self, at: &Site<'_, R>, solved: &Solved<R>) {
        match at.frame.rulebook.lanes() {
            Some(lanes) if !SIDEWAYS => self.start_by_lane(at, solved, lanes),
            _ => self.start_by_placement::<R, SIDEWAYS>(at, solved),
        }
    }

    /// Places in a row.
    #[inline(always)]
    fn width<R: Rulebook<Set = B>>(&self, at: &Site<'_, R>) -> usize {
        at.frame.own[self.half].len() * at.standing.own[self.half].len()
    }

    #[inline(always)]
    fn cell<R: Rulebook<Set = B>>(&self, at: &Site<'_, R>, row: u32, place: u32) -> usize {
        (row - self.rows.start) as usize * self.width(at) + place as usize
    }

    /// The first word of a row and arrangement.
    #[inline(always)]
    fn first_word<R: Rulebook<Set = B>>(&self, at: &Site<'_, R>, row: u32, arrangement: u32) -> u32 {
        let arrangements = at.standing.own[self.half].len() as u32;
        ((row - self.rows.start) * arrangements + arrangement) * at.frame.word_count(self.half) as u32
    }

    /// A place's arrangement and set of kings.
    #[inline(always)]
    fn split<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&self, at: &Site<'_, R>, place: u32) -> (u32, u32) {
        let sets = at.frame.own[self.half].len() as u32;
        if SIDEWAYS {
            (place / sets, place % sets)
        } else {
            (0, place)
        }
    }

    /// A placement that is no position.
    fn leave_out<R: Rulebook<Set = B>>(&mut self, at: &Site<'_, R>, row: u32, place: u32) {
        let cell = self.cell(at, row, place);
        self.cells[cell] = GAP;
    }

    #[inline(always)]
    fn settle<R: Rulebook<Set = B>>(&mut self, at: &Site<'_, R>, row: u32, place: u32, score: Score, free: Free) {
        let cell = self.cell(at, row, place);
        self.cells[cell] = score.to_bits() | if free == Free::No { 0 } else { FREE };
        if score.is_draw() {
            return;
        }
        if at.frame.metric == Metric::Wld || score.distance() == 0 {
            self.send(at, row, place, score.is_win());
        } else {
            let kind = EventKind::Decided;
            let event = Event { row, place, kind };
            if score.is_spoilt() {
                self.spoilt.push(event);
            } else {
                self.schedule(u32::from(score.distance()), event);
            }
        }
    }

    /// A position with quiet moves inside the unit that its conversions do
    /// not decide. `held_known`: where its pieces are held has been looked at.
    #[inline(always)]
    fn open<R: Rulebook<Set = B>, const SIDEWAYS: bool>(
        &mut self,
        at: &Site<'_, R>,
        row: u32,
        place: u32,
        conversion: Option<Score>,
        free: Free,
        held_known: bool,
    ) {
        let may_lose = conversion.is_none_or(|score| score.is_loss() && !score.is_spoilt());
        let mut kept = match free {
            Free::No => 0,
            Free::Score => FREE,
            Free::Win => FREE | CAPTURE_WINS,
        };
        if let Some(score) = conversion {
            if score.is_loss() {
                kept |= score.distance();
            }
            if score.is_spoilt() {
                let kind = if score.is_win() {
                    EventKind::Win
                } else {
                    EventKind::Loss
                };
                self.spoilt.push(Event { row, place, kind });
            } else if score.is_win() {
                let kind = EventKind::Win;
                self.schedule(u32::from(score.distance()), Event { row, place, kind });
            }
        }
        let cell = self.cell(at, row, place);
        self.cells[cell] = kept;
        let (arrangement, set) = self.split::<R, SIDEWAYS>(at, place);
        let first = self.first_word(at, row, arrangement);
        for &(word, piece) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let lane = &mut self.words[(first + word) as usize];
            lane.open |= B::bit(piece);
            if may_lose {
                lane.may_lose |= B::bit(piece);
            }
            if !held_known {
                self.mark_stale(first + word);
            }
        }
    }

    #[inline(always)]
    fn mark(&mut self, word: u32) {
        let (at, bit) = ((word / 64) as usize, 1 << (word % 64));
        if self.is_dirty[at] & bit == 0 {
            self.is_dirty[at] |= bit;
            self.dirty.push(word);
        }
    }

    /// As [`Block::mark`], for where the piece is held has to be looked at, too.
    #[inline(always)]
    fn mark_stale(&mut self, word: u32) {
        self.is_stale[(word / 64) as usize] |= 1 << (word % 64);
        self.mark(word);
    }

    /// Adds an event `plies` from the ply last worked off.
    fn schedule(&mut self, plies: u32, event: Event) {
        let plies = plies as usize - 1;
        while self.events.len() <= plies {
            self.events.push_back(self.spare.pop().unwrap_or_default());
        }
        self.events[plies].push(event);
    }

    /// Tells the rows from which the position can be reached.
    #[inline(always)]
    fn send<R: Rulebook<Set = B>>(&mut self, at: &Site<'_, R>, row: u32, place: u32, won: bool) {
        let half = self.half;
        let (own, opp) = (at.frame.own[half], at.frame.opp[half]);
        let target = at.frame.other(half);
        if !at.frame.sideways && at.frame.own[target].count() == 0 {
            return;
        }
        // The mover's pieces become the opponent's in the other half's view;
        // arrangements have the same numbers there.
        let (mut set, mut row_set) = (place, row);
        let (mut row_base, mut place_base) = (0, 0);
        if at.frame.sideways {
            let (sets, rows) = (own.len() as u32, opp.len() as u32);
            (row_base, set) = (place / sets * sets, place % sets);
            (place_base, row_set) = (row / rows * rows, row % rows);
        }
        let block_rows = at.owners.block_rows[target];
        let mut push = |row: u32, place: u32| {
            // One block is the rule; a division costs as much as the rest.
            let block = if block_rows > row { 0 } else { row / block_rows };
            self.outbox[at.owners.first_block[target] + block as usize].push(Arrival {
                row: row - block * block_rows,
                place: place << 1 | u32::from(won),
            });
        };
        match &at.frame.rows[target] {
            Rows::Plain => push(row_base + own.turned(set), place_base + opp.turned(row_set)),
            Rows::Folded { classes, .. } => {
                let reached = at.frame.row_set(half, row_set);
                let (row, symmetries) = classes[set as usize];
                for symmetry in u64::from(symmetries).squares() {
                    push(row, opp.turned_image(symmetry, reached));
                }
            }
        }
    }

    /// What is left is spoilt by the fifty-move rule at best: conversions into
    /// spoilt results count from now on, and what was known at the hundredth
    /// ply decides at the one after.
    fn spoil<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&mut self, at: &Site<'_, R>, clock: Clock) {
        self.take_in::<R, SIDEWAYS>(at, clock);
        for event in std::mem::take(&mut self.spoilt) {
            if event.kind != EventKind::Loss {
                self.schedule(1, event);
                continue;
            }
            let (arrangement, set) = self.split::<R, SIDEWAYS>(at, event.place);
            let first = self.first_word(at, event.row, arrangement);
            let mut all_held = !SIDEWAYS || self.steps_held(at, event.row, arrangement, set);
            for &(word, piece) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
                let lane = &mut self.words[(first + word) as usize];
                lane.may_lose |= lane.open & B::bit(piece);
                all_held &= lane.held.has(piece);
            }
            if all_held {
                self.schedule(1, event);
            }
        }
    }

    /// One ply: takes what has arrived, works off the words it changed and
    /// lets the ply's events happen.
    fn advance<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&mut self, at: &Site<'_, R>, clock: Clock) {
        self.take_in::<R, SIDEWAYS>(at, clock);
        self.let_happen::<R, SIDEWAYS>(at, clock);
    }

    fn take_in<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&mut self, at: &Site<'_, R>, clock: Clock) {
        let mut inbox = std::mem::take(&mut self.inbox);
        for arrivals in &mut inbox {
            for arrival in arrivals.drain(..) {
                self.receive::<R, SIDEWAYS>(at, arrival);
            }
        }
        self.inbox = inbox;
        let mut dirty = std::mem::take(&mut self.dirty);
        for word in dirty.drain(..) {
            let (at_word, bit) = ((word / 64) as usize, 1 << (word % 64));
            self.is_dirty[at_word] &= !bit;
            let stale = self.is_stale[at_word] & bit != 0;
            self.is_stale[at_word] &= !bit;
            self.work_off::<R, SIDEWAYS>(at, word, stale, clock);
        }
        self.dirty = dirty;
    }

    fn let_happen<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&mut self, at: &Site<'_, R>, clock: Clock) {
        if let Some(mut events) = self.events.pop_front() {
            for event in events.drain(..) {
                match event.kind {
                    EventKind::Decided => {
                        let cell = self.cell(at, event.row, event.place);
                        let won = Score::from_bits(self.cells[cell]).is_win();
                        self.send(at, event.row, event.place, won);
                    }
                    EventKind::Win | EventKind::Loss => {
                        let (arrangement, set) = self.split::<R, SIDEWAYS>(at, event.place);
                        let (word, piece) = at.frame.lanes::<SIDEWAYS>(self.half, set)[0];
                        let word = self.first_word(at, event.row, arrangement) + word;
                        if self.words[word as usize].open.has(piece) {
                            let won = event.kind == EventKind::Win;
                            self.decide::<R, SIDEWAYS>(at, event.row, event.place, won, clock);
                        }
                    }
                }
            }
            self.spare.push(events);
        }
    }

    #[inline(always)]
    fn receive<R: Rulebook<Set = B>, const SIDEWAYS: bool>(&mut self, at: &Site<'_, R>, arrival: Arrival) {
        let won = arrival.place & 1 == 1;
        let (arrangement, set) = self.split::<R, SIDEWAYS>(at, arrival.place >> 1);
        let first = self.first_word(at, self.rows.start + arrival.row, arrangement);
        for &(word, piece) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let lane = &mut self.words[(first + word) as usize];
            // Where nothing steps sideways nothing else looks at this word.
            if won {
                if !SIDEWAYS && lane.may_lose.is_empty() && self.spoilt.is_empty() {
                    continue;
                }
                lane.won_there |= B::bit(piece);
                self.mark_stale(first + word);
            } else {
                if !SIDEWAYS && lane.open.is_empty() {
                    continue;
                }
                lane.lost_there |= B::bit(piece);
                self.mark(first + word);
            }
        }
        if SIDEWAYS && won {
            // A step may have come from another arrangement, which this
            // arrival was perhaps the last to hold.
            for step in &at.standing.side_steps[self.half][arrangement as usize] {
                let first = self.first_word(at, self.rows.start + arrival.row, step.to);
                for &(word, _) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
                    self.mark_stale(first + word);
                }
            }
        }
    }

    #[inline(always)]
    fn work_off<R: Rulebook<Set = B>, const SIDEWAYS: bool>(
        &mut self,
        at: &Site<'_, R>,
        word: u32,
        stale: bool,
        clock: Clock,
    ) {
        let half = self.half;
        let own = at.frame.own[half];
        let rulebook = at.frame.rulebook;
        let word_count = at.frame.word_count(half) as u32;
        let (row, others) = (word / word_count, word % word_count);
        let (row, arrangement) = if SIDEWAYS {
            let arrangements = at.standing.own[half].len() as u32;
            (row / arrangements, row % arrangements)
        } else {
            (row, 0)
        };
        let row = row + self.rows.start;
        let lane = self.words[word as usize];
        let sets = own.len() as u32;
        if SIDEWAYS && !lane.lost_there.is_empty() {
            self.steps_win(at, row, arrangement, others, lane.lost_there, clock);
        }
        if lane.open.is_empty() {
            self.words[word as usize].lost_there = B::ZERO;
            return;
        }
        let (opp_standing, opp_moving) = at.frame.row_pieces(half, at.standing, row);
        let moves = !SIDEWAYS || own.count() > 0;
        let others_moving = if moves { own.word(others) } else { B::ZERO };
        let own_standing = at.standing.own[half][arrangement as usize];
        let empty = rulebook.squares() & !(own_standing | opp_standing | opp_moving | others_moving);
        let board = || at.board(half, arrangement, row, others);
        let place = |piece: u8| arrangement * sets + if moves { own.joined(others, piece) } else { 0 };
        if !lane.lost_there.is_empty() {
            self.words[word as usize].lost_there = B::ZERO;
            if moves {
                let kind = own.kind(others);
                let won = rulebook.spread(kind, lane.lost_there, empty, board) & self.words[word as usize].open;
                for piece in won.squares() {
                    self.decide::<R, SIDEWAYS>(at, row, place(piece), true, clock);
                }
            }
        }
        if !stale {
            return;
        }
        let held = if moves {
            empty & !rulebook.spread(own.kind(others), empty & !lane.won_there, empty, board)
        } else {
            B::bit(0)
        };
        // What sideways moves depend on may have changed without news
        // of this piece.
        let news = if SIDEWAYS { held } else { held & !lane.held };
        self.words[word as usize].held = held;
        let lost = news & self.words[word as usize].may_lose;
        for piece in lost.squares() {
            let place = place(piece);
            let (_, set) = self.split::<R, SIDEWAYS>(at, place);
            let first = self.first_word(at, row, arrangement);
            let all_held = at
                .frame
                .lanes::<SIDEWAYS>(half, set)
                .iter()
                .all(|&(word, piece)| self.words[(first + word) as usize].held.has(piece));
            if !all_held || SIDEWAYS && !self.steps_held(at, row, arrangement, set) {
                continue;
            }
            let conversion = self.cells[self.cell(at, row, place)] & Score::MAX_DISTANCE;
            if at.frame.metric != Metric::Wld && conversion > clock.ply && !clock.is_turn() {
                let kind = EventKind::Loss;
                // Index 0 of the queue is the ply being worked off.
                self.schedule(u32::from(conversion - clock.ply) + 1, Event { row, place, kind });
            } else {
                self.decide::<R, SIDEWAYS>(at, row, place, false, clock);
            }
        }
    }

    /// Positions from which a standing piece can step sideways to one of
    /// `lost_there` are wins. Such a step can be taken back, so the steps from here lead
    /// to them.
    fn steps_win<R: Rulebook<Set = B>>(
        &mut self,
        at: &Site<'_, R>,
        row: u32,
        arrangement: u32,
        others: u32,
        lost_there: B,
        clock: Clock,
    ) {
        let own = at.frame.own[self.half];
        let sets = own.len() as u32;
        for step in &at.standing.side_steps[self.half][arrangement as usize] {
            let word = self.first_word(at, row, step.to) + others;
            let mut won = lost_there & self.words[word as usize].open;
            if let Some(over) = step.over {
                let there = own.count() > 0 && own.word(others).has(over);
                if !there {
                    // Only where the piece of this lane is the one leapt over.
                    won &= if own.count() > 0 { B::bit(over) } else { B::ZERO };
                }
            }
            for piece in won.squares() {
                let set = if own.count() > 0 { own.joined(others, piece) } else { 0 };
                self.decide::<R, true>(at, row, step.to * sets + set, true, clock);
            }
        }
    }

    /// Whether every sideways step leads to a win of the opponent.
    fn steps_held<R: Rulebook<Set = B>>(&self, at: &Site<'_, R>, row: u32, arrangement: u32, set: u32) -> bool {
        let own = at.frame.own[self.half];
        let own_moving = own.set(set);
        let (opp_standing, opp_moving) = at.frame.row_pieces(self.half, at.standing, row);
        let taken = own_moving | opp_standing | opp_moving;
        let (word, piece) = at.frame.lanes::<true>(self.half, set)[0];
        at.standing.side_steps[self.half][arrangement as usize]
            .iter()
            .all(|step| {
                taken.has(step.target)
                    || step.over.is_some_and(|over| !own_moving.has(over))
                    || self.words[(self.first_word(at, row, step.to) + word) as usize]
                        .won_there
                        .has(piece)
            })
    }

    #[inline(always)]
    fn decide<R: Rulebook<Set = B>, const SIDEWAYS: bool>(
        &mut self,
        at: &Site<'_, R>,
        row: u32,
        place: u32,
        won: bool,
        clock: Clock,
    ) {
        if clock.is_turn() {
            // Known after the hundredth ply, so as the first that is spoilt.
            let kind = if won { EventKind::Win } else { EventKind::Loss };
            self.schedule(u32::from(Score::FIFTY_MOVES) + 1, Event { row, place, kind });
            return;
        }
        let (arrangement, set) = self.split::<R, SIDEWAYS>(at, place);
        let first = self.first_word(at, row, arrangement);
        for &(word, piece) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let lane = &mut self.words[(first + word) as usize];
            lane.open &= !B::bit(piece);
            lane.may_lose &= !B::bit(piece);
        }
        let distance = if at.frame.metric == Metric::Wld { 0 } else { clock.ply };
        let mut score = if won {
            Score::win(distance)
        } else {
            Score::loss(distance)
        };
        if clock.spoilt {
            score = score.spoilt();
        }
        let cell = self.cell(at, row, place);
        // A quiet win must be told by the entry, unless a capture wins, too.
        let kept = self.cells[cell];
        let free = if won && kept & CAPTURE_WINS == 0 {
            0
        } else {
            kept & FREE
        };
        self.cells[cell] = score.to_bits() | free;
        self.send(at, row, place, won);
    }
}
