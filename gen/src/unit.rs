//! Solving one unit: the positions of a slice in which the men stand on given
//! squares, both sides to move.
//!
//! A unit has a *half* for each side to move. A half's rows are the
//! placements of the opponent's kings, and a row's *cells* the placements of
//! the mover's kings. Everything is in the mover's view, so the two halves are
//! turned against each other. A quiet king move leads from a cell of one row to
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
    events: std::collections::VecDeque<Vec<Event>>,
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
    /// First block of each half, and rows to a block.
    first_block: [usize; 2],
    block_rows: [u32; 2],
}

/// A half of a unit after solving.
pub(crate) struct Cells<'a, B> {
    unit: &'a Unit<B>,
    half: usize,
}

impl<B: Bits> Unit<B> {
    /// Memory for the units of a frame, with each half cut into about
    /// `blocks` blocks of rows.
    pub(crate) fn new(frame: &UnitFrame<'_, B>, blocks: usize) -> Self {
        let mut unit = Self {
            blocks: Vec::new(),
            first_block: [0; 2],
            block_rows: [1; 2],
        };
        for half in 0..frame.halves() {
            let rows = frame.row_count(half) as u32;
            let each = rows.div_ceil(blocks as u32).max(1);
            unit.first_block[half] = unit.blocks.len();
            unit.block_rows[half] = each;
            let mut from = 0;
            while from < rows {
                let to = (from + each).min(rows);
                let words = (to - from) as usize * frame.own[half].word_count();
                unit.blocks.push(Block {
                    half,
                    rows: from..to,
                    words: vec![Word::default(); words],
                    cells: vec![0; (to - from) as usize * frame.own[half].len()],
                    dirty: Vec::new(),
                    is_dirty: vec![0; words.div_ceil(64)],
                    inbox: Vec::new(),
                    outbox: Vec::new(),
                    events: std::collections::VecDeque::new(),
                    spare: Vec::new(),
                });
                from = to;
            }
        }
        let count = unit.blocks.len();
        for block in &mut unit.blocks {
            block.inbox = vec![Vec::new(); count];
            block.outbox = vec![Vec::new(); count];
        }
        unit
    }

    /// Solves the unit whose men are given in the view of half 0's mover.
    pub(crate) fn solve(&mut self, frame: &UnitFrame<'_, B>, solved: &Solved<B>, men: [B; 2]) {
        let turned = [frame.generator.turned_set(men[1]), frame.generator.turned_set(men[0])];
        let men = [men, turned];
        let places = Places {
            first_block: self.first_block,
            block_rows: self.block_rows,
        };
        self.each(|block| block.start(frame, &places, solved, men[block.half]));
        self.exchange();
        let mut ply = 0;
        while self.blocks.iter().any(Block::is_busy) {
            ply += 1;
            self.each(|block| block.advance(frame, &places, men[block.half], ply));
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
    /// Scores of one row, for every set of the mover's kings by number (those
    /// that do not fit the row hold nothing), with whether they are free.
    #[inline(always)]
    pub(crate) fn row(&self, row: u32) -> impl Fn(u32) -> (Score, bool) + '_ {
        let unit = self.unit;
        let block = &unit.blocks[unit.first_block[self.half] + (row / unit.block_rows[self.half]) as usize];
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

/// Which block owns a row.
struct Places {
    first_block: [usize; 2],
    block_rows: [u32; 2],
}

impl<B: Bits> Block<B> {
    fn is_busy(&self) -> bool {
        !self.dirty.is_empty() || !self.events.is_empty() || self.inbox.iter().any(|arrivals| !arrivals.is_empty())
    }

    /// Initialises every position of the block by looking forward.
    fn start(&mut self, frame: &UnitFrame<'_, B>, places: &Places, solved: &Solved<B>, men: [B; 2]) {
        let (own, opp) = (frame.own[self.half], frame.opp[self.half]);
        self.words.fill(Word::default());
        self.cells.fill(0);
        self.is_dirty.fill(0);
        self.dirty.clear();
        let all_men = men[0] | men[1];
        for row in self.rows.clone() {
            let opp_kings = opp.set(frame.row_set(self.half, row));
            if !(opp_kings & all_men).is_empty() {
                continue;
            }
            let taken = opp_kings | all_men;
            for place in 0..own.len() as u32 {
                let own_kings = own.set(place);
                if !(own_kings & taken).is_empty() {
                    continue;
                }
                let pieces = Pieces {
                    own_men: men[0],
                    own_kings,
                    opp_men: men[1],
                    opp_kings,
                };
                match first_look(frame, solved, &pieces) {
                    FirstLook::Decided { score, free } => {
                        self.settle(frame, places, row, place, score, free);
                    }
                    FirstLook::Open { conversion } => self.open(frame, row, place, conversion),
                }
            }
        }
    }

    fn settle(&mut self, frame: &UnitFrame<'_, B>, places: &Places, row: u32, place: u32, score: Score, free: bool) {
        let cell = (row - self.rows.start) as usize * frame.own[self.half].len() + place as usize;
        self.cells[cell] = score.to_bits() | if free { FREE } else { 0 };
        if score.is_draw() {
            return;
        }
        if frame.metric == Metric::Wld || score.distance() == 0 {
            self.send(frame, places, row, place, score.is_win());
        } else {
            let kind = EventKind::Decided;
            self.schedule(u32::from(score.distance()), Event { row, place, kind });
        }
    }

    /// A position with quiet king moves that its conversions do not decide.
    fn open(&mut self, frame: &UnitFrame<'_, B>, row: u32, place: u32, conversion: Option<Score>) {
        let own = frame.own[self.half];
        let may_lose = conversion.is_none_or(Score::is_loss);
        if let Some(score) = conversion {
            if score.is_win() {
                let kind = EventKind::Win;
                self.schedule(u32::from(score.distance()), Event { row, place, kind });
            } else if score.is_loss() {
                let cell = (row - self.rows.start) as usize * own.len() + place as usize;
                self.cells[cell] = score.distance();
            }
        }
        for &(word, king) in own.lanes(place) {
            let word = (row - self.rows.start) * own.word_count() as u32 + word;
            let lane = &mut self.words[word as usize];
            lane.open |= B::bit(king);
            if may_lose {
                lane.may_lose |= B::bit(king);
            }
            self.mark(word);
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
    fn send(&mut self, frame: &UnitFrame<'_, B>, places: &Places, row: u32, place: u32, won: bool) {
        let (own, opp) = (frame.own[self.half], frame.opp[self.half]);
        let target = frame.other(self.half);
        if frame.own[target].count() == 0 {
            return;
        }
        // The mover's kings become the opponent's in the other half's view.
        let set = own.turned(place);
        let reached = opp.turned(frame.row_set(self.half, row));
        let block_rows = places.block_rows[target];
        let mut push = |row: u32, place: u32| {
            // One block is the rule; a division costs as much as the rest.
            let block = if block_rows > row { 0 } else { row / block_rows };
            self.outbox[places.first_block[target] + block as usize].push(Arrival {
                row: row - block * block_rows,
                place: place << 1 | u32::from(won),
            });
        };
        match &frame.rows[target] {
            Rows::Plain => push(set, reached),
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
    fn advance(&mut self, frame: &UnitFrame<'_, B>, places: &Places, men: [B; 2], ply: u16) {
        let own = frame.own[self.half];
        let word_count = own.word_count() as u32;
        let mut inbox = std::mem::take(&mut self.inbox);
        for arrivals in &mut inbox {
            for arrival in arrivals.drain(..) {
                let won = arrival.place & 1 == 1;
                for &(word, king) in own.lanes(arrival.place >> 1) {
                    let word = arrival.row * word_count + word;
                    let lane = &mut self.words[word as usize];
                    if lane.open.is_empty() {
                        continue;
                    }
                    if won {
                        lane.won_there |= B::bit(king);
                    } else {
                        lane.lost_there |= B::bit(king);
                    }
                    self.mark(word);
                }
            }
        }
        self.inbox = inbox;
        let mut dirty = std::mem::take(&mut self.dirty);
        for word in dirty.drain(..) {
            self.is_dirty[(word / 64) as usize] &= !(1 << (word % 64));
            self.work_off(frame, places, men, word, ply);
        }
        self.dirty = dirty;
        if let Some(mut events) = self.events.pop_front() {
            for event in events.drain(..) {
                match event.kind {
                    EventKind::Decided => {
                        let cell = (event.row - self.rows.start) as usize * own.len() + event.place as usize;
                        let won = Score::from_bits(self.cells[cell]).is_win();
                        self.send(frame, places, event.row, event.place, won);
                    }
                    EventKind::Win | EventKind::Loss => {
                        let (word, king) = own.lanes(event.place)[0];
                        let word = (event.row - self.rows.start) * word_count + word;
                        if self.words[word as usize].open.has(king) {
                            let won = event.kind == EventKind::Win;
                            self.decide(frame, places, event.row, event.place, won, ply);
                        }
                    }
                }
            }
            self.spare.push(events);
        }
    }

    #[inline(always)]
    fn work_off(&mut self, frame: &UnitFrame<'_, B>, places: &Places, men: [B; 2], word: u32, ply: u16) {
        let (own, opp) = (frame.own[self.half], frame.opp[self.half]);
        let generator = frame.generator;
        let word_count = own.word_count() as u32;
        let (row, others) = (word / word_count, word % word_count);
        let row = row + self.rows.start;
        let lane = self.words[word as usize];
        if lane.open.is_empty() {
            return;
        }
        let opp_kings = opp.set(frame.row_set(self.half, row));
        let empty = generator.playable() & !(men[0] | men[1] | opp_kings | own.word(others));
        if !lane.lost_there.is_empty() {
            self.words[word as usize].lost_there = B::ZERO;
            let won = generator.king_spread(lane.lost_there, empty) & lane.open;
            for king in won.squares() {
                self.decide(frame, places, row, own.joined(others, king), true, ply);
            }
        }
        let held = empty & !generator.king_spread(empty & !lane.won_there, empty);
        let news = held & !lane.held;
        self.words[word as usize].held = held;
        let lost = news & self.words[word as usize].may_lose;
        for king in lost.squares() {
            let place = own.joined(others, king);
            let start = (row - self.rows.start) * word_count;
            let all_held = own
                .lanes(place)
                .iter()
                .all(|&(word, king)| self.words[(start + word) as usize].held.has(king));
            if !all_held {
                continue;
            }
            let cell = (row - self.rows.start) as usize * own.len() + place as usize;
            let conversion = self.cells[cell] & Score::MAX_DISTANCE;
            if frame.metric != Metric::Wld && conversion > ply {
                let kind = EventKind::Loss;
                // Index 0 of the queue is the ply being worked off.
                self.schedule(u32::from(conversion - ply) + 1, Event { row, place, kind });
            } else {
                self.decide(frame, places, row, place, false, ply);
            }
        }
    }

    #[inline(always)]
    fn decide(&mut self, frame: &UnitFrame<'_, B>, places: &Places, row: u32, place: u32, won: bool, ply: u16) {
        let own = frame.own[self.half];
        let start = (row - self.rows.start) * own.word_count() as u32;
        for &(word, king) in own.lanes(place) {
            let lane = &mut self.words[(start + word) as usize];
            lane.open = lane.open & !B::bit(king);
            lane.may_lose = lane.may_lose & !B::bit(king);
        }
        let distance = if frame.metric == Metric::Wld { 0 } else { ply };
        let score = if won {
            Score::win(distance)
        } else {
            Score::loss(distance)
        };
        self.cells[(row - self.rows.start) as usize * own.len() + place as usize] = score.to_bits();
        self.send(frame, places, row, place, won);
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
fn first_look<B: Bits>(frame: &UnitFrame<'_, B>, solved: &Solved<B>, pieces: &Pieces<B>) -> FirstLook {
    let generator = frame.generator;
    let metric = frame.metric;
    // In WLD, nothing is better than a win.
    let enough = |score: Score| metric == Metric::Wld && score.is_win();
    let mut best: Option<Score> = None;
    if generator.has_capture(pieces) {
        best = solved.best_capture(pieces, metric);
        if generator.forced() {
            let score = best.unwrap_or_default();
            return FirstLook::Decided { score, free: true };
        }
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
    if !generator.king_spread(pieces.own_kings, empty).is_empty() {
        return FirstLook::Open { conversion: best };
    }
    let score = best.unwrap_or(if generator.stuck_wins() {
        Score::win(0)
    } else {
        Score::loss(0)
    });
    FirstLook::Decided { score, free: false }
}
