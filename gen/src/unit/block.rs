//! Blocks of rows and what happens in them, ply by ply.

use std::collections::VecDeque;
use std::ops::Range;

use petrov_games::{Bits, Rulebook};
use petrov_probe::{Metric, Score};
use serde::{Deserialize, Serialize};

use super::cells::{CANNOT_LOSE, CAPTURE_WINS, Cells, DECIDED_WON, FREE, OPEN};
use super::workspace::Workspace;
use super::{Clock, Rows, Site};
use crate::solved::Solved;
use crate::values::GAP;

/// A decided position on its way to the row in which it can be moved to: the
/// row within its block, the place, and one bit that is set if the position is
/// won for the opponent.
pub(super) type Arrival = u32;

/// Something that becomes true at a ply.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Event {
    row: u32,
    place: u32,
    /// Of a [`EventKind::Loss`] that is spoilt: how long it takes.
    distance: u16,
    kind: EventKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum EventKind {
    /// The cell holds its score; others learn of it now.
    Decided,
    /// A conversion wins, if nothing has been quicker.
    Win,
    /// Every move has lost by now.
    Loss,
}

/// The events of a ply.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Events {
    list: Vec<Event>,
    /// Too many positions are decided here to list them.
    flood: bool,
}

/// What a block keeps between two plies besides its cells and words.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptEvents {
    arrivals: Vec<Arrival>,
    was_flood: [bool; 2],
    events: Vec<Events>,
    spoilt: Vec<Event>,
    mated: u64,
}

/// What the mover's captures do for a table's entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Free {
    No,
    /// They lead to a draw at least, or to the score itself.
    Score,
    /// They win.
    Win,
}

/// The rows of one half that one task owns.
#[derive(Default)]
pub(super) struct Block {
    /// First row and end of rows.
    pub(super) rows: Range<u32>,
    pub(super) inbox: Vec<Vec<Arrival>>,
    pub(super) outbox: Vec<Vec<Arrival>>,
    /// Arrivals sent since the last exchange, and how many are too many.
    sent: usize,
    limit: usize,
    /// More has been decided than is sent: the other half looks at all cells.
    flood: bool,
    /// The same of the last even ply and of the last odd one.
    was_flood: [bool; 2],
    /// Events of each ply from now on.
    events: VecDeque<Events>,
    spare: Vec<Vec<Event>>,
    /// Open positions whose best conversion leads to a spoilt result.
    spoilt: Vec<Event>,
    /// Positions in which the mover is mated, symmetric ones counted.
    pub(super) mated: u64,
}

/// The same in units so small that their arrivals do not count as memory.
const CELLS_PER_ARRIVAL_SMALL: usize = 4;
const ARRIVALS_SMALL: usize = 1 << 14;

impl Block {
    /// Cells for one arrival that a block may send in a ply: beyond it looking
    /// at all cells costs less, and takes no memory.
    pub(super) const CELLS_PER_ARRIVAL: usize = 64;

    /// Makes the block one of these rows, with so many cells.
    pub(super) fn clear(&mut self, rows: Range<u32>, cells: usize) {
        self.rows = rows;
        self.mated = 0;
        self.sent = 0;
        self.flood = false;
        self.was_flood = [false; 2];
        self.events.clear();
        self.spoilt.clear();
        let small = (cells / CELLS_PER_ARRIVAL_SMALL).min(ARRIVALS_SMALL);
        self.limit = (cells / Self::CELLS_PER_ARRIVAL).max(small);
    }

    /// Gives back the room for arrivals.
    pub(super) fn drop_arrivals(&mut self) {
        (self.inbox, self.outbox) = (Vec::new(), Vec::new());
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.events.is_empty() || self.inbox.iter().any(|arrivals| !arrivals.is_empty())
    }

    pub(super) fn has_spoilt(&self) -> bool {
        !self.spoilt.is_empty()
    }

    /// Whether the other half has to look for what was decided, as it is not
    /// all sent.
    pub(super) fn end_ply(&mut self) -> bool {
        self.sent = 0;
        std::mem::take(&mut self.flood)
    }

    pub(super) fn kept(&self) -> KeptEvents {
        KeptEvents {
            arrivals: self.inbox.concat(),
            was_flood: self.was_flood,
            events: self.events.iter().cloned().collect(),
            spoilt: self.spoilt.clone(),
            mated: self.mated,
        }
    }

    /// As if it had come there by itself. It must be new.
    pub(super) fn restore(&mut self, kept: KeptEvents, flood: bool) {
        if let Some(inbox) = self.inbox.first_mut() {
            *inbox = kept.arrivals;
        }
        self.was_flood = kept.was_flood;
        self.events = kept.events.into();
        self.spoilt = kept.spoilt;
        self.mated = kept.mated;
        self.flood = flood;
    }

    /// Adds an event `plies` from the ply last worked off.
    fn schedule(&mut self, plies: u32, event: Event) {
        let plies = plies as usize - 1;
        while self.events.len() <= plies {
            self.events.push_back(Events {
                list: self.spare.pop().unwrap_or_default(),
                flood: false,
            });
        }
        let events = &mut self.events[plies];
        if event.kind == EventKind::Decided && events.flood {
            return;
        }
        events.list.push(event);
        if events.list.len() > self.limit && !events.flood {
            events.flood = true;
            events.list.retain(|event| event.kind != EventKind::Decided);
        }
    }

    /// Sends no more until the next ply: the other half looks for itself.
    fn overflow(&mut self) {
        self.flood = true;
        for arrivals in &mut self.outbox {
            arrivals.clear();
        }
    }
}

/// Which of a word's news is which.
const LOST: usize = 0;
const WON: usize = 1;

/// A block while it is worked on.
pub(super) struct Task<'a, R: Rulebook> {
    pub(super) at: &'a Site<'a, R>,
    pub(super) half: usize,
    pub(super) block: &'a mut Block,
    /// The cells of the half.
    pub(super) cells: &'a Cells,
    /// For each word of the block: squares to go to where the opponent has
    /// won, or where the own royal piece would be left attacked.
    pub(super) won_there: &'a mut [R::Set],
    pub(super) workspace: &'a mut Workspace<R::Set>,
    /// Blocks of the other half have decided more than they sent.
    pub(super) flooded: bool,
    pub(super) clock: Clock,
}

/// A row with an arrangement of the mover's standing pieces.
struct Line<B> {
    row: u32,
    arrangement: u32,
    opp_standing: B,
    opp_moving: B,
    /// Squares on which neither standing nor opposing pieces are.
    free: B,
    first_word: usize,
    first_cell: usize,
}

impl<R: Rulebook> Task<'_, R> {
    /// Initialises every position of the block by looking forward.
    pub(super) fn start<const SIDEWAYS: bool>(&mut self, solved: &Solved<R>) {
        match self.at.frame.rulebook.lanes() {
            Some(lanes) if !SIDEWAYS => self.start_by_lane(solved, lanes),
            _ => self.start_by_placement::<SIDEWAYS>(solved),
        }
    }

    /// The first word of a row and arrangement.
    #[inline(always)]
    pub(super) fn first_word(&self, row: u32, arrangement: u32) -> usize {
        let arrangements = self.at.standing.own[self.half].len();
        ((row - self.block.rows.start) as usize * arrangements + arrangement as usize)
            * self.at.frame.word_count(self.half)
    }

    /// A place's arrangement and set of moving pieces.
    #[inline(always)]
    fn split<const SIDEWAYS: bool>(&self, place: u32) -> (u32, u32) {
        let sets = self.at.frame.own[self.half].len() as u32;
        if SIDEWAYS {
            (place / sets, place % sets)
        } else {
            (0, place)
        }
    }

    #[inline(always)]
    fn line(&self, row: u32, arrangement: u32) -> Line<R::Set> {
        let frame = self.at.frame;
        let (opp_standing, opp_moving) = frame.row_pieces(self.half, self.at.standing, row);
        let own_standing = self.at.standing.own[self.half][arrangement as usize];
        let sets = frame.own[self.half].len();
        Line {
            row,
            arrangement,
            opp_standing,
            opp_moving,
            free: frame.rulebook.squares() & !(own_standing | opp_standing | opp_moving),
            first_word: self.first_word(row, arrangement),
            first_cell: self.cells.row(row) + arrangement as usize * sets,
        }
    }

    /// A placement that is no position.
    pub(super) fn leave_out(&mut self, row: u32, place: u32) {
        self.cells.set(self.cells.row(row) + place as usize, GAP);
    }

    /// A position that nothing inside the unit can change.
    #[inline(always)]
    pub(super) fn settle(&mut self, row: u32, place: u32, score: Score, free: Free) {
        let bits = score.to_bits() | if free == Free::No { 0 } else { FREE };
        self.cells.set(self.cells.row(row) + place as usize, bits);
        if score.is_draw() {
            return;
        }
        if self.at.frame.metric == Metric::Wld || score.distance() == 0 {
            self.send(row, place, score.is_win());
        } else {
            let event = Event {
                row,
                place,
                distance: 0,
                kind: EventKind::Decided,
            };
            if score.is_spoilt() {
                self.block.spoilt.push(event);
            } else {
                self.block.schedule(u32::from(score.distance()), event);
            }
        }
    }

    /// A position with quiet moves inside the unit that its conversions do
    /// not decide.
    #[inline(always)]
    pub(super) fn open(&mut self, row: u32, place: u32, conversion: Option<Score>, free: Free) {
        let mut bits = match free {
            Free::No => OPEN | CANNOT_LOSE,
            Free::Score => OPEN | FREE,
            Free::Win => OPEN | FREE | CAPTURE_WINS,
        };
        if free == Free::No && conversion.is_none_or(|score| score.is_loss() && !score.is_spoilt()) {
            bits = OPEN | conversion.map_or(0, Score::distance);
        }
        self.cells.set(self.cells.row(row) + place as usize, bits);
        if let Some(score) = conversion {
            let mut event = Event {
                row,
                place,
                distance: score.distance(),
                kind: EventKind::Win,
            };
            if score.is_spoilt() {
                if score.is_loss() {
                    event.kind = EventKind::Loss;
                }
                self.block.spoilt.push(event);
            } else if score.is_win() {
                self.block.schedule(u32::from(score.distance()), event);
            }
        }
    }

    /// Tells the rows from which the position can be reached.
    #[inline(always)]
    fn send(&mut self, row: u32, place: u32, won: bool) {
        if self.block.flood {
            return;
        }
        if self.block.sent >= self.block.limit {
            self.block.overflow();
            return;
        }
        let (frame, half) = (self.at.frame, self.half);
        let (own, opp) = (frame.own[half], frame.opp[half]);
        let target = frame.other(half);
        if !frame.sideways && frame.own[target].count() == 0 {
            return;
        }
        // The mover's pieces become the opponent's in the other half's view;
        // arrangements have the same numbers there.
        let (mut set, mut row_set) = (place, row);
        let (mut row_base, mut place_base) = (0, 0);
        if frame.sideways {
            let (sets, rows) = (own.len() as u32, opp.len() as u32);
            (row_base, set) = (place / sets * sets, place % sets);
            (place_base, row_set) = (row / rows * rows, row % rows);
        }
        let owners = &self.at.owners;
        let block = &mut *self.block;
        let mut push = |row: u32, place: u32| {
            let (to, row) = owners.of(target, row);
            let arrival = row << owners.place_bits[target] | place;
            block.outbox[to].push(arrival << 1 | u32::from(won));
            block.sent += 1;
        };
        match &frame.rows[target] {
            Rows::Plain => push(row_base + own.turned(set), place_base + opp.turned(row_set)),
            Rows::Folded { classes, .. } => {
                let reached = opp.turned(frame.row_set(half, row_set));
                let (row, symmetries) = classes[set as usize];
                for symmetry in u64::from(symmetries).squares() {
                    push(row, opp.image(symmetry, reached));
                }
            }
        }
    }

    /// What is left is spoilt by the fifty-move rule at best: conversions into
    /// spoilt results count from now on, and what was known at the hundredth
    /// ply decides at the one after.
    pub(super) fn spoil<const SIDEWAYS: bool>(&mut self) {
        self.take_in::<SIDEWAYS>();
        for event in std::mem::take(&mut self.block.spoilt) {
            if event.kind != EventKind::Loss {
                self.block.schedule(1, event);
                continue;
            }
            let (arrangement, set) = self.split::<SIDEWAYS>(event.place);
            let line = self.line(event.row, arrangement);
            let cell = line.first_cell + set as usize;
            if !self.cells.is_open(cell) {
                continue;
            }
            self.cells.set(cell, OPEN | event.distance);
            if self.is_lost::<SIDEWAYS>(&line, set, None) {
                self.block.schedule(1, event);
            }
        }
    }

    /// One ply: takes what has arrived, works off the words it changed and
    /// lets the ply's events happen.
    pub(super) fn advance<const SIDEWAYS: bool>(&mut self) {
        let ply = self.clock.ply;
        if std::mem::take(&mut self.block.was_flood[usize::from(ply % 2)]) {
            self.cells.forget(self.block.rows.clone(), ply);
        }
        self.take_in::<SIDEWAYS>();
        self.let_happen::<SIDEWAYS>();
        self.block.was_flood[usize::from(ply % 2)] = self.block.flood;
    }

    fn take_in<const SIDEWAYS: bool>(&mut self) {
        if !self.flooded && self.block.inbox.iter().all(Vec::is_empty) {
            return;
        }
        let words = self.won_there.len();
        if self.workspace.news.len() < words {
            self.workspace.news.resize(words, [R::Set::ZERO; 2]);
            self.workspace.is_dirty.resize(words.div_ceil(64), 0);
        }
        if self.flooded {
            self.take_found::<SIDEWAYS>();
        }
        let mut inbox = std::mem::take(&mut self.block.inbox);
        // With many blocks the room of all lists would come to more than is
        // ever in them at once.
        let keep = inbox.len() <= 2;
        for arrivals in &mut inbox {
            for arrival in &*arrivals {
                self.receive::<SIDEWAYS>(*arrival);
            }
            if keep {
                arrivals.clear();
            } else {
                *arrivals = Vec::new();
            }
        }
        self.block.inbox = inbox;
        self.work_off_all::<SIDEWAYS>();
    }

    fn let_happen<const SIDEWAYS: bool>(&mut self) {
        let Some(mut events) = self.block.events.pop_front() else {
            return;
        };
        if events.flood {
            self.block.overflow();
        }
        for event in events.list.drain(..) {
            match event.kind {
                EventKind::Decided => {
                    let cell = self.cells.row(event.row) + event.place as usize;
                    let won = Score::from_bits(self.cells.get(cell)).is_win();
                    self.send(event.row, event.place, won);
                }
                EventKind::Win | EventKind::Loss => {
                    let cell = self.cells.row(event.row) + event.place as usize;
                    if self.cells.is_open(cell) {
                        self.decide(event.row, event.place, event.kind == EventKind::Win);
                    }
                }
            }
        }
        self.block.spare.push(events.list);
    }

    /// Whether it is known that the opponent has won at a place of a row.
    #[inline(always)]
    fn is_won_there<const SIDEWAYS: bool>(&self, row: u32, arrangement: u32, set: u32) -> bool {
        let (word, piece) = self.at.frame.lanes::<SIDEWAYS>(self.half, set)[0];
        self.won_there[self.first_word(row, arrangement) + word as usize].has(piece)
    }

    /// Notes that the opponent has won or lost at a place of a row.
    #[inline(always)]
    fn note<const SIDEWAYS: bool>(&mut self, row: u32, arrangement: u32, set: u32, won: bool) {
        let first = self.first_word(row, arrangement);
        for &(word, piece) in self.at.frame.lanes::<SIDEWAYS>(self.half, set) {
            let word = first + word as usize;
            if SIDEWAYS && won {
                // Steps from other arrangements look at this at once.
                self.won_there[word] |= R::Set::bit(piece);
            }
            self.workspace.news[word][usize::from(won)] |= R::Set::bit(piece);
            self.workspace.is_dirty[word / 64] |= 1 << (word % 64);
        }
        if SIDEWAYS && won {
            // A step may have come from another arrangement, which this
            // was perhaps the last to hold.
            for step in &self.at.standing.side_steps[self.half][arrangement as usize] {
                let first = self.first_word(row, step.to);
                for &(word, _) in self.at.frame.lanes::<SIDEWAYS>(self.half, set) {
                    let word = first + word as usize;
                    self.workspace.is_dirty[word / 64] |= 1 << (word % 64);
                }
            }
        }
    }

    #[inline(always)]
    fn receive<const SIDEWAYS: bool>(&mut self, arrival: Arrival) {
        let bits = self.at.owners.place_bits[self.half];
        let (row, place) = (arrival >> 1 >> bits, arrival >> 1 & ((1 << bits) - 1));
        let (arrangement, set) = self.split::<SIDEWAYS>(place);
        self.note::<SIDEWAYS>(self.block.rows.start + row, arrangement, set, arrival & 1 == 1);
    }

    /// Notes what [`Workspace::look`] found for this block's rows.
    fn take_found<const SIDEWAYS: bool>(&mut self) {
        let sets = self.at.frame.own[self.half].len();
        for row in self.block.rows.clone() {
            let found = std::mem::take(&mut self.workspace.found);
            for (four, codes) in found.row(row).iter().enumerate().filter(|(_, codes)| **codes != 0) {
                for lane in 0..4 {
                    let code = codes >> (2 * lane) & 3;
                    if code != 0 {
                        let place = four * 4 + lane;
                        let (arrangement, set) = if SIDEWAYS {
                            (place / sets, place % sets)
                        } else {
                            (0, place)
                        };
                        let (arrangement, set) = (arrangement as u32, set as u32);
                        let won = code == DECIDED_WON;
                        if !won || !self.is_won_there::<SIDEWAYS>(row, arrangement, set) {
                            self.note::<SIDEWAYS>(row, arrangement, set, won);
                        }
                    }
                }
            }
            self.workspace.found = found;
        }
    }

    fn work_off_all<const SIDEWAYS: bool>(&mut self) {
        let frame = self.at.frame;
        let word_count = frame.word_count(self.half);
        let arrangements = self.at.standing.own[self.half].len();
        let mut line = self.line(self.block.rows.start, 0);
        for at in 0..self.won_there.len().div_ceil(64) {
            let dirty = std::mem::take(&mut self.workspace.is_dirty[at]);
            for bit in dirty.squares() {
                let word = at * 64 + usize::from(bit);
                if word >= line.first_word + word_count {
                    let number = word / word_count;
                    let row = self.block.rows.start + (number / arrangements) as u32;
                    line = self.line(row, (number % arrangements) as u32);
                }
                self.work_off::<SIDEWAYS>(&line, (word - line.first_word) as u32);
            }
        }
    }

    #[inline(always)]
    fn work_off<const SIDEWAYS: bool>(&mut self, line: &Line<R::Set>, others: u32) {
        let (at, half) = (self.at, self.half);
        let (own, rulebook) = (at.frame.own[half], at.frame.rulebook);
        let word = line.first_word + others as usize;
        let news = std::mem::take(&mut self.workspace.news[word]);
        if SIDEWAYS && !news[LOST].is_empty() {
            self.steps_win(line, others, news[LOST]);
        }
        let moves = !SIDEWAYS || own.count() > 0;
        let empty = if moves {
            line.free & !own.word(others)
        } else {
            line.free
        };
        let board = || at.board(half, line.arrangement, line.row, others);
        let place = |set: u32| line.arrangement * own.len() as u32 + set;
        if moves && !news[LOST].is_empty() {
            let won = rulebook.spread(own.kind(others), news[LOST], empty, board);
            for piece in won.squares() {
                let set = own.joined(others, piece);
                if self.cells.is_open(line.first_cell + set as usize) {
                    self.decide(line.row, place(set), true);
                }
            }
        }
        let old = self.won_there[word];
        let new = old | news[WON];
        if !SIDEWAYS && old == new {
            return;
        }
        self.won_there[word] = new;
        let held = if !moves {
            R::Set::bit(0)
        } else {
            let kind = own.kind(others);
            let held = empty & !rulebook.spread(kind, empty & !new, empty, board);
            if SIDEWAYS || held.is_empty() {
                // What sideways moves depend on may have changed without news
                // of this piece.
                held
            } else {
                held & rulebook.spread(kind, empty & !old, empty, board)
            }
        };
        for piece in held.squares() {
            let set = if moves { own.joined(others, piece) } else { 0 };
            let cell = line.first_cell + set as usize;
            if !self.cells.may_lose(cell) || !self.is_lost::<SIDEWAYS>(line, set, Some(others)) {
                continue;
            }
            let conversion = self.cells.get(cell) & Score::MAX_DISTANCE;
            if at.frame.metric != Metric::Wld && conversion > self.clock.ply && !self.clock.is_turn() {
                let event = Event {
                    row: line.row,
                    place: place(set),
                    distance: 0,
                    kind: EventKind::Loss,
                };
                // Index 0 of the queue is the ply being worked off.
                self.block.schedule(u32::from(conversion - self.clock.ply) + 1, event);
            } else {
                self.decide(line.row, place(set), false);
            }
        }
    }

    /// Whether every move inside the unit leads to a win of the opponent.
    /// Those of the piece that the word `known` tells of do.
    #[inline(always)]
    fn is_lost<const SIDEWAYS: bool>(&self, line: &Line<R::Set>, set: u32, known: Option<u32>) -> bool {
        let at = self.at;
        let (own, rulebook) = (at.frame.own[self.half], at.frame.rulebook);
        if !SIDEWAYS || own.count() > 0 {
            for &(others, piece) in own.lanes(set) {
                if known == Some(others) {
                    continue;
                }
                let empty = line.free & !own.word(others);
                let board = || at.board(self.half, line.arrangement, line.row, others);
                let won_there = self.won_there[line.first_word + others as usize];
                if rulebook
                    .spread(own.kind(others), empty & !won_there, empty, board)
                    .has(piece)
                {
                    return false;
                }
            }
        }
        !SIDEWAYS || self.steps_held(line, set)
    }

    /// Positions from which a standing piece can step sideways to one of
    /// `lost_there` are wins. Such a step can be taken back, so the steps from here lead
    /// to them.
    fn steps_win(&mut self, line: &Line<R::Set>, others: u32, lost_there: R::Set) {
        let own = self.at.frame.own[self.half];
        let sets = own.len() as u32;
        let first_cell = self.cells.row(line.row);
        for step in &self.at.standing.side_steps[self.half][line.arrangement as usize] {
            let mut won = lost_there;
            if let Some(over) = step.over {
                let there = own.count() > 0 && own.word(others).has(over);
                if !there {
                    // Only where the piece of this lane is the one leapt over.
                    won &= if own.count() > 0 {
                        R::Set::bit(over)
                    } else {
                        R::Set::ZERO
                    };
                }
            }
            for piece in won.squares() {
                let set = if own.count() > 0 { own.joined(others, piece) } else { 0 };
                let place = step.to * sets + set;
                if self.cells.is_open(first_cell + place as usize) {
                    self.decide(line.row, place, true);
                }
            }
        }
    }

    /// Whether every sideways step leads to a win of the opponent.
    fn steps_held(&self, line: &Line<R::Set>, set: u32) -> bool {
        let own_moving = self.at.frame.own[self.half].set(set);
        let taken = own_moving | line.opp_standing | line.opp_moving;
        let (word, piece) = self.at.frame.lanes::<true>(self.half, set)[0];
        self.at.standing.side_steps[self.half][line.arrangement as usize]
            .iter()
            .all(|step| {
                taken.has(step.target)
                    || step.over.is_some_and(|over| !own_moving.has(over))
                    || self.won_there[self.first_word(line.row, step.to) + word as usize].has(piece)
            })
    }

    #[inline(always)]
    fn decide(&mut self, row: u32, place: u32, won: bool) {
        if self.clock.is_turn() {
            // Known after the hundredth ply, so as the first that is spoilt.
            let event = Event {
                row,
                place,
                distance: 0,
                kind: if won { EventKind::Win } else { EventKind::Loss },
            };
            self.block.schedule(u32::from(Score::FIFTY_MOVES) + 1, event);
            return;
        }
        let distance = if self.at.frame.metric == Metric::Wld {
            0
        } else {
            self.clock.ply
        };
        let mut score = if won {
            Score::win(distance)
        } else {
            Score::loss(distance)
        };
        if self.clock.spoilt {
            score = score.spoilt();
        }
        let cell = self.cells.row(row) + place as usize;
        // A quiet win must be told by the entry, unless a capture wins, too.
        let kept = self.cells.get(cell);
        let free = if won && (kept & FREE == 0 || kept & CAPTURE_WINS == 0) {
            0
        } else {
            kept & FREE
        };
        self.cells.decide(cell, score.to_bits() | free, self.clock.ply);
        self.send(row, place, won);
    }
}
