//! Solving one unit: the positions of a slice between which only moves lead
//! that are no conversions, both sides to move. Men stand still in a unit, or
//! where they may move sideways, they keep their ranks: the ways in which they
//! can then stand are a unit's *arrangements*.
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
//! Inside a row facts are kept as lanes (see [`KingSets`]): one word for every
//! square of one king while the others stand still. With k kings a placement
//! has k bits, one in the lane of each king.
//!
//! Work goes ply by ply. In WLD a "ply" is just a round and all that
//! conversions decide is there from the start.

use std::collections::{HashMap, VecDeque};

use petrov_games::Bits;
use petrov_games::draughts::{Generator, Pieces};
use petrov_probe::{Metric, Score};
use rayon::prelude::*;

use crate::kings::KingSets;
use crate::solved::Solved;

/// What is known of one king's squares while the others stand still.
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
    /// Squares from which this king has no move, or only ones to `won_there`.
    held: B,
}

/// A decided position on its way to the row in which it can be moved to.
#[derive(Clone, Copy)]
struct Arrival {
    /// Row within the target block.
    row: u32,
    /// Set of kings that the mover of that row would have after the move,
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
    inbox: Vec<Vec<Arrival>>,
    outbox: Vec<Vec<Arrival>>,
    /// Events of each ply from now on.
    events: VecDeque<Vec<Event>>,
    spare: Vec<Vec<Event>>,
}

/// Cell bit: the mover's capture decides, the table's entry is free.
const FREE: u16 = 1 << 13;

/// How rows of a half are found from sets of kings.
pub(crate) enum Rows {
    /// Row numbers are set numbers.
    Plain,
    /// One row for each class of symmetric sets.
    Folded {
        /// For each set: its row, and the symmetries that lead to the set the
        /// row stands for.
        classes: Vec<(u32, Vec<u8>)>,
        /// For each row: the set it stands for.
        representatives: Vec<u32>,
    },
}

/// What all units of a slice have in common.
pub(crate) struct UnitFrame<'a, B> {
    pub(crate) generator: &'a Generator<B>,
    pub(crate) metric: Metric,
    /// The mover's kings in each half, and the opponent's.
    pub(crate) own: [&'a KingSets<B>; 2],
    pub(crate) opp: [&'a KingSets<B>; 2],
    /// Rows of each half.
    pub(crate) rows: [Rows; 2],
    /// One half stands for both: kings only, with like sides.
    pub(crate) single: bool,
    /// Men may move along their rank.
    pub(crate) sideways: bool,
}

/// Where the men of a unit can stand.
pub(crate) struct Men<B> {
    /// For each half the arrangements of the mover's men.
    own: [Vec<B>; 2],
    /// For each half those of the opponent's: the other half's `own`, turned,
    /// in the same order.
    opp: [Vec<B>; 2],
    /// For each half and arrangement: the moves of men along their rank.
    side_steps: [Vec<Vec<SideStep>>; 2],
}

/// A man's move along its rank.
#[derive(Clone, Copy)]
struct SideStep {
    /// The arrangement it leads to.
    to: u32,
    /// The square that must be empty.
    target: u8,
    /// The square on which there must be an own king, to be leapt over.
    over: Option<u8>,
}

impl<B: Bits> Men<B> {
    /// Men that stand still: the mover's and the opponent's in half 0.
    pub(crate) fn still(generator: &Generator<B>, own: B, opp: B) -> Self {
        Self {
            own: [vec![own], vec![generator.turned_set(opp)]],
            opp: [vec![opp], vec![generator.turned_set(own)]],
            side_steps: [vec![Vec::new()], vec![Vec::new()]],
        }
    }

    /// Men that keep their ranks: all arrangements of White's and, seen by
    /// White, of Black's.
    pub(crate) fn sideways(generator: &Generator<B>, white: Vec<B>, black: Vec<B>) -> Self {
        let turned = |sets: &[B]| -> Vec<B> { sets.iter().map(|set| generator.turned_set(*set)).collect() };
        let own = [white.clone(), turned(&black)];
        let steps = |own: &Vec<B>| -> Vec<Vec<SideStep>> {
            let number: HashMap<u128, u32> = own.iter().enumerate().map(|(n, set)| (set.widen(), n as u32)).collect();
            own.iter()
                .map(|set| {
                    let mut steps = Vec::new();
                    generator.side_steps(*set, |from, target, over| {
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

    /// The arrangements of the mover's men in a half.
    pub(crate) fn own(&self, half: usize) -> &[B] {
        &self.own[half]
    }

    /// The arrangements of the opponent's men in a half.
    pub(crate) fn opp(&self, half: usize) -> &[B] {
        &self.opp[half]
    }
}

impl<B: Bits> UnitFrame<'_, B> {
    pub(crate) fn row_count(&self, half: usize) -> usize {
        match &self.rows[half] {
            Rows::Plain => self.opp[half].len(),
            Rows::Folded { representatives, .. } => representatives.len(),
        }
    }

    /// Number of the set of the opponent's kings that a row stands for.
    #[inline(always)]
    pub(crate) fn row_set(&self, half: usize, row: u32) -> u32 {
        match &self.rows[half] {
            Rows::Plain => row,
            Rows::Folded { representatives, .. } => representatives[row as usize],
        }
    }

    /// The opponent's men and kings in a row.
    #[inline(always)]
    fn row_pieces(&self, half: usize, men: &Men<B>, row: u32) -> (B, B) {
        let opp = self.opp[half];
        if self.sideways {
            let sets = opp.len() as u32;
            (men.opp[half][(row / sets) as usize], opp.set(row % sets))
        } else {
            (men.opp[half][0], opp.set(self.row_set(half, row)))
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

    /// The lanes of a set of the mover's kings.
    #[inline(always)]
    fn lanes<const SIDEWAYS: bool>(&self, half: usize, set: u32) -> &[(u32, u8)] {
        let own = self.own[half];
        if SIDEWAYS && own.count() == 0 {
            NO_KINGS
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
        (2 * cells).saturating_add((size_of::<Word<B>>() as u64 + 1).saturating_mul(words))
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
struct Site<'a, B> {
    frame: &'a UnitFrame<'a, B>,
    men: &'a Men<B>,
    owners: Owners,
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
    fn prepare(&mut self, frame: &UnitFrame<'_, B>, men: &Men<B>) {
        let mut used = 0;
        for half in 0..frame.halves() {
            let own = frame.own[half];
            let arrangements = men.own[half].len();
            let rows = (men.opp[half].len() * frame.row_count(half)) as u32;
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
                block.is_dirty.clear();
                block.is_dirty.resize(words.div_ceil(64), 0);
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

    /// Solves the unit with these men.
    pub(crate) fn solve(&mut self, frame: &UnitFrame<'_, B>, solved: &Solved<B>, men: &Men<B>) {
        if frame.sideways {
            self.run::<true>(frame, solved, men);
        } else {
            self.run::<false>(frame, solved, men);
        }
    }

    /// `SIDEWAYS` as in the frame; where men stand still nothing is paid for
    /// what sideways moves need.
    fn run<const SIDEWAYS: bool>(&mut self, frame: &UnitFrame<'_, B>, solved: &Solved<B>, men: &Men<B>) {
        self.prepare(frame, men);
        let at = Site {
            frame,
            men,
            owners: self.owners,
        };
        self.each(|block| block.start::<SIDEWAYS>(&at, solved));
        self.exchange();
        let mut ply = 0;
        while self.blocks.iter().any(Block::is_busy) {
            ply += 1;
            self.each(|block| block.advance::<SIDEWAYS>(&at, ply));
            self.exchange();
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

    /// The solved cells of a half.
    pub(crate) fn cells(&self, half: usize) -> Cells<'_, B> {
        Cells { unit: self, half }
    }
}

impl<B: Bits> Cells<'_, B> {
    /// Scores of one row, for every place of the mover's pieces (those that do
    /// not fit the row hold nothing), with whether they are free. A place is
    /// an arrangement times the number of sets of kings plus the set's number;
    /// rows go likewise.
    #[inline(always)]
    pub(crate) fn row(&self, row: u32) -> impl Fn(u32) -> (Score, bool) + '_ {
        let unit = self.unit;
        let owners = &unit.owners;
        let block = &unit.blocks[owners.first_block[self.half] + (row / owners.block_rows[self.half]) as usize];
        let width = block.cells.len() / block.rows.len();
        let start = (row - block.rows.start) as usize * width;
        let cells = &block.cells[start..start + width];
        move |place| {
            let cell = cells[place as usize];
            let score = Score::from_bits(cell);
            // Open to the end: what was kept of conversions is no distance.
            (if score.is_draw() { Score::DRAW } else { score }, cell & FREE != 0)
        }
    }
}

/// The lane of a side without kings: one bit stands for the whole row's place.
const NO_KINGS: &[(u32, u8)] = &[(0, 0)];

impl<B: Bits> Block<B> {
    fn is_busy(&self) -> bool {
        !self.dirty.is_empty() || !self.events.is_empty() || self.inbox.iter().any(|arrivals| !arrivals.is_empty())
    }

    /// Initialises every position of the block by looking forward.
    fn start<const SIDEWAYS: bool>(&mut self, at: &Site<'_, B>, solved: &Solved<B>) {
        let half = self.half;
        let own = at.frame.own[half];
        for row in self.rows.clone() {
            let (opp_men, opp_kings) = at.frame.row_pieces(half, at.men, row);
            if !(opp_men & opp_kings).is_empty() {
                continue;
            }
            for (arrangement, own_men) in at.men.own[half].iter().enumerate() {
                let taken = opp_men | opp_kings | *own_men;
                if SIDEWAYS && !((opp_men | opp_kings) & *own_men).is_empty() || !(opp_kings & *own_men).is_empty() {
                    continue;
                }
                for set in 0..own.len() as u32 {
                    let own_kings = own.set(set);
                    if !(own_kings & taken).is_empty() {
                        continue;
                    }
                    let pieces = Pieces {
                        own_men: *own_men,
                        own_kings,
                        opp_men,
                        opp_kings,
                    };
                    let place = (arrangement * own.len()) as u32 + set;
                    match first_look::<B, SIDEWAYS>(at.frame, solved, &pieces) {
                        FirstLook::Decided { score, free } => {
                            self.settle(at, row, place, score, free);
                        }
                        FirstLook::Open { conversion } => {
                            self.open::<SIDEWAYS>(at, row, place, conversion);
                        }
                    }
                }
            }
        }
    }

    /// Places in a row.
    #[inline(always)]
    fn width(&self, at: &Site<'_, B>) -> usize {
        at.frame.own[self.half].len() * at.men.own[self.half].len()
    }

    #[inline(always)]
    fn cell(&self, at: &Site<'_, B>, row: u32, place: u32) -> usize {
        (row - self.rows.start) as usize * self.width(at) + place as usize
    }

    /// The first word of a row and arrangement.
    #[inline(always)]
    fn first_word(&self, at: &Site<'_, B>, row: u32, arrangement: u32) -> u32 {
        let arrangements = at.men.own[self.half].len() as u32;
        ((row - self.rows.start) * arrangements + arrangement) * at.frame.word_count(self.half) as u32
    }

    /// A place's arrangement and set of kings.
    #[inline(always)]
    fn split<const SIDEWAYS: bool>(&self, at: &Site<'_, B>, place: u32) -> (u32, u32) {
        let sets = at.frame.own[self.half].len() as u32;
        if SIDEWAYS {
            (place / sets, place % sets)
        } else {
            (0, place)
        }
    }

    #[inline(always)]
    fn settle(&mut self, at: &Site<'_, B>, row: u32, place: u32, score: Score, free: bool) {
        let cell = self.cell(at, row, place);
        self.cells[cell] = score.to_bits() | if free { FREE } else { 0 };
        if score.is_draw() {
            return;
        }
        if at.frame.metric == Metric::Wld || score.distance() == 0 {
            self.send(at, row, place, score.is_win());
        } else {
            let kind = EventKind::Decided;
            self.schedule(u32::from(score.distance()), Event { row, place, kind });
        }
    }

    /// A position with quiet moves inside the unit that its conversions do
    /// not decide.
    #[inline(always)]
    fn open<const SIDEWAYS: bool>(&mut self, at: &Site<'_, B>, row: u32, place: u32, conversion: Option<Score>) {
        let may_lose = conversion.is_none_or(Score::is_loss);
        if let Some(score) = conversion {
            if score.is_win() {
                let kind = EventKind::Win;
                self.schedule(u32::from(score.distance()), Event { row, place, kind });
            } else if score.is_loss() {
                let cell = self.cell(at, row, place);
                self.cells[cell] = score.distance();
            }
        }
        let (arrangement, set) = self.split::<SIDEWAYS>(at, place);
        let first = self.first_word(at, row, arrangement);
        for &(word, king) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let lane = &mut self.words[(first + word) as usize];
            lane.open |= B::bit(king);
            if may_lose {
                lane.may_lose |= B::bit(king);
            }
            self.mark(first + word);
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
    fn send(&mut self, at: &Site<'_, B>, row: u32, place: u32, won: bool) {
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
        let set = own.turned(set);
        let reached = opp.turned(at.frame.row_set(half, row_set));
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
            Rows::Plain => push(row_base + set, place_base + reached),
            Rows::Folded { classes, .. } => {
                let (row, symmetries) = &classes[set as usize];
                for symmetry in symmetries {
                    push(*row, opp.image(*symmetry, reached));
                }
            }
        }
    }

    /// One ply: takes what has arrived, works off the words it changed and
    /// lets the ply's events happen.
    fn advance<const SIDEWAYS: bool>(&mut self, at: &Site<'_, B>, ply: u16) {
        let mut inbox = std::mem::take(&mut self.inbox);
        for arrivals in &mut inbox {
            for arrival in arrivals.drain(..) {
                self.receive::<SIDEWAYS>(at, arrival);
            }
        }
        self.inbox = inbox;
        let mut dirty = std::mem::take(&mut self.dirty);
        for word in dirty.drain(..) {
            self.is_dirty[(word / 64) as usize] &= !(1 << (word % 64));
            self.work_off::<SIDEWAYS>(at, word, ply);
        }
        self.dirty = dirty;
        if let Some(mut events) = self.events.pop_front() {
            for event in events.drain(..) {
                match event.kind {
                    EventKind::Decided => {
                        let cell = self.cell(at, event.row, event.place);
                        let won = Score::from_bits(self.cells[cell]).is_win();
                        self.send(at, event.row, event.place, won);
                    }
                    EventKind::Win | EventKind::Loss => {
                        let (arrangement, set) = self.split::<SIDEWAYS>(at, event.place);
                        let (word, king) = at.frame.lanes::<SIDEWAYS>(self.half, set)[0];
                        let word = self.first_word(at, event.row, arrangement) + word;
                        if self.words[word as usize].open.has(king) {
                            let won = event.kind == EventKind::Win;
                            self.decide::<SIDEWAYS>(at, event.row, event.place, won, ply);
                        }
                    }
                }
            }
            self.spare.push(events);
        }
    }

    #[inline(always)]
    fn receive<const SIDEWAYS: bool>(&mut self, at: &Site<'_, B>, arrival: Arrival) {
        let won = arrival.place & 1 == 1;
        let (arrangement, set) = self.split::<SIDEWAYS>(at, arrival.place >> 1);
        let first = self.first_word(at, self.rows.start + arrival.row, arrangement);
        for &(word, king) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let lane = &mut self.words[(first + word) as usize];
            // Where men stand still nothing else looks at this word.
            if !SIDEWAYS && lane.open.is_empty() {
                continue;
            }
            if won {
                lane.won_there |= B::bit(king);
            } else {
                lane.lost_there |= B::bit(king);
            }
            self.mark(first + word);
        }
        if SIDEWAYS && won {
            // A man may have come from another arrangement, which this
            // arrival was perhaps the last to hold.
            for step in &at.men.side_steps[self.half][arrangement as usize] {
                let first = self.first_word(at, self.rows.start + arrival.row, step.to);
                for &(word, _) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
                    self.mark(first + word);
                }
            }
        }
    }

    #[inline(always)]
    fn work_off<const SIDEWAYS: bool>(&mut self, at: &Site<'_, B>, word: u32, ply: u16) {
        let half = self.half;
        let own = at.frame.own[half];
        let generator = at.frame.generator;
        let word_count = at.frame.word_count(half) as u32;
        let (row, others) = (word / word_count, word % word_count);
        let (row, arrangement) = if SIDEWAYS {
            let arrangements = at.men.own[half].len() as u32;
            (row / arrangements, row % arrangements)
        } else {
            (row, 0)
        };
        let row = row + self.rows.start;
        let lane = self.words[word as usize];
        let sets = own.len() as u32;
        if SIDEWAYS && !lane.lost_there.is_empty() {
            self.men_win(at, row, arrangement, others, lane.lost_there, ply);
        }
        if lane.open.is_empty() {
            self.words[word as usize].lost_there = B::ZERO;
            return;
        }
        let (opp_men, opp_kings) = at.frame.row_pieces(half, at.men, row);
        let has_kings = !SIDEWAYS || own.count() > 0;
        let other_kings = if has_kings { own.word(others) } else { B::ZERO };
        let empty =
            generator.playable() & !(at.men.own[half][arrangement as usize] | opp_men | opp_kings | other_kings);
        let place = |king: u8| arrangement * sets + if has_kings { own.joined(others, king) } else { 0 };
        if !lane.lost_there.is_empty() {
            self.words[word as usize].lost_there = B::ZERO;
            if has_kings {
                let won = generator.king_spread(lane.lost_there, empty) & self.words[word as usize].open;
                for king in won.squares() {
                    self.decide::<SIDEWAYS>(at, row, place(king), true, ply);
                }
            }
        }
        let held = if has_kings {
            empty & !generator.king_spread(empty & !lane.won_there, empty)
        } else {
            B::bit(0)
        };
        // What sideways moves of men depend on may have changed without news
        // of this king.
        let news = if SIDEWAYS { held } else { held & !lane.held };
        self.words[word as usize].held = held;
        let lost = news & self.words[word as usize].may_lose;
        for king in lost.squares() {
            let place = place(king);
            let (_, set) = self.split::<SIDEWAYS>(at, place);
            let first = self.first_word(at, row, arrangement);
            let all_held = at
                .frame
                .lanes::<SIDEWAYS>(half, set)
                .iter()
                .all(|&(word, king)| self.words[(first + word) as usize].held.has(king));
            if !all_held || SIDEWAYS && !self.men_held(at, row, arrangement, set) {
                continue;
            }
            let conversion = self.cells[self.cell(at, row, place)] & Score::MAX_DISTANCE;
            if at.frame.metric != Metric::Wld && conversion > ply {
                let kind = EventKind::Loss;
                // Index 0 of the queue is the ply being worked off.
                self.schedule(u32::from(conversion - ply) + 1, Event { row, place, kind });
            } else {
                self.decide::<SIDEWAYS>(at, row, place, false, ply);
            }
        }
    }

    /// Positions from which a man can step sideways to one of `lost_there`
    /// are wins. Such a step can be taken back, so the steps from here lead
    /// to them.
    fn men_win(&mut self, at: &Site<'_, B>, row: u32, arrangement: u32, others: u32, lost_there: B, ply: u16) {
        let own = at.frame.own[self.half];
        let sets = own.len() as u32;
        for step in &at.men.side_steps[self.half][arrangement as usize] {
            let word = self.first_word(at, row, step.to) + others;
            let mut won = lost_there & self.words[word as usize].open;
            if let Some(over) = step.over {
                let there = own.count() > 0 && own.word(others).has(over);
                if !there {
                    // Only where the king of this lane is the one leapt over.
                    won &= if own.count() > 0 { B::bit(over) } else { B::ZERO };
                }
            }
            for king in won.squares() {
                let set = if own.count() > 0 { own.joined(others, king) } else { 0 };
                self.decide::<true>(at, row, step.to * sets + set, true, ply);
            }
        }
    }

    /// Whether every sideways step of a man leads to a win of the opponent.
    fn men_held(&self, at: &Site<'_, B>, row: u32, arrangement: u32, set: u32) -> bool {
        let own = at.frame.own[self.half];
        let own_kings = own.set(set);
        let (opp_men, opp_kings) = at.frame.row_pieces(self.half, at.men, row);
        let taken = own_kings | opp_men | opp_kings;
        let (word, king) = at.frame.lanes::<true>(self.half, set)[0];
        at.men.side_steps[self.half][arrangement as usize].iter().all(|step| {
            taken.has(step.target)
                || step.over.is_some_and(|over| !own_kings.has(over))
                || self.words[(self.first_word(at, row, step.to) + word) as usize]
                    .won_there
                    .has(king)
        })
    }

    #[inline(always)]
    fn decide<const SIDEWAYS: bool>(&mut self, at: &Site<'_, B>, row: u32, place: u32, won: bool, ply: u16) {
        let (arrangement, set) = self.split::<SIDEWAYS>(at, place);
        let first = self.first_word(at, row, arrangement);
        for &(word, king) in at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let lane = &mut self.words[(first + word) as usize];
            lane.open &= !B::bit(king);
            lane.may_lose &= !B::bit(king);
        }
        let distance = if at.frame.metric == Metric::Wld { 0 } else { ply };
        let score = if won {
            Score::win(distance)
        } else {
            Score::loss(distance)
        };
        let cell = self.cell(at, row, place);
        self.cells[cell] = score.to_bits();
        self.send(at, row, place, won);
    }
}

/// What looking one move ahead says of a position.
enum FirstLook {
    /// Nothing inside the unit can change it.
    Decided { score: Score, free: bool },
    /// Quiet king moves matter, too; the best conversion, if there is one.
    Open { conversion: Option<Score> },
}

#[inline(always)]
fn first_look<B: Bits, const SIDEWAYS: bool>(
    frame: &UnitFrame<'_, B>,
    solved: &Solved<B>,
    pieces: &Pieces<B>,
) -> FirstLook {
    let generator = frame.generator;
    let metric = frame.metric;
    // In WLD, nothing is better than a win.
    let enough = |score: Score| metric == Metric::Wld && score.is_win();
    // None if there is no capture; looking for them says so.
    let mut best = solved.best_capture(pieces, metric);
    if let Some(score) = best
        && generator.forced()
    {
        return FirstLook::Decided { score, free: true };
    }
    if !pieces.own_men.is_empty() && !best.is_some_and(enough) {
        let mut take = |score: Score| {
            best = Some(best.map_or(score, |best| {
                if score.preference() > best.preference() {
                    score
                } else {
                    best
                }
            }));
        };
        generator.man_quiets(pieces, |step| {
            if SIDEWAYS && generator.same_rank(step) {
                return true;
            }
            let score = solved.after(&generator.after(pieces, step)).before_move(metric, true);
            take(score);
            !enough(score)
        });
    }
    match best {
        Some(score) if enough(score) => return FirstLook::Decided { score, free: false },
        Some(score) if metric == Metric::Dtz && score.is_win() => {
            return FirstLook::Decided { score, free: false };
        }
        _ => {}
    }
    let empty = generator.playable() & !pieces.occupied();
    if !generator.king_spread(pieces.own_kings, empty).is_empty() || SIDEWAYS && generator.has_side_step(pieces) {
        return FirstLook::Open { conversion: best };
    }
    let score = best.unwrap_or(if generator.stuck_wins() {
        Score::win(0)
    } else {
        Score::loss(0)
    });
    FirstLook::Decided { score, free: false }
}
