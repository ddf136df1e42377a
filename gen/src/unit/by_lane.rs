//! The first look at a block where a word tells all squares of a piece at once.
//!
//! What a capture by a moving piece leads to depends on where it lands and on
//! the other pieces, which is what a word and a target name; so it is looked
//! up once for all squares that the piece can come from. Where the royal piece
//! is attacked, and where the other side's must not be, is worked out once for
//! all its squares.

use petrov_games::{Bits, Kind, LaneRules, Placement, Rulebook, Side, key_of};
use petrov_probe::{Digit, Score};

use super::by_placement::{freed_by, is_enough};
use super::{Free, Task};
use crate::pieces::PieceSets;
use crate::solved::Solved;

/// What is known of a place.
const PRESENT: u8 = 1;
/// The opponent's royal piece is attacked although the mover is to move.
const UNPLACED: u8 = 2;
/// The mover's royal piece is attacked.
const EXPOSED: u8 = 4;

/// Stands for no score.
const NONE: u16 = u16::MAX;

fn noted(bits: u16) -> Option<Score> {
    (bits != NONE).then(|| Score::from_bits(bits))
}

fn note(slot: &mut u16, score: Score) {
    *slot = Score::better(noted(*slot), score).to_bits();
}

/// Notes on all places of a row.
#[derive(Default)]
struct Notes<B> {
    /// For some standing pieces the number of each of the mover's sets among
    /// those that leave their squares empty.
    numbers: Vec<(B, Vec<u32>)>,
    states: Vec<u8>,
    captures: Vec<u16>,
    /// The best conversion that takes nothing.
    quiet: Vec<u16>,
    /// For each word: squares from which its piece has no move, or only ones
    /// that leave the royal piece attacked.
    held: Vec<B>,
}

impl<B: Bits> Notes<B> {
    /// The place of the numbers for standing pieces on these squares.
    fn fitting<R: Rulebook<Set = B>>(&mut self, own: &PieceSets<R>, standing: B) -> usize {
        if let Some(known) = self.numbers.iter().position(|(squares, _)| *squares == standing) {
            return known;
        }
        let mut number = 0;
        let numbers = (0..own.len() as u32).map(|set| {
            let here = number;
            number += u32::from((own.set(set) & standing).is_empty());
            here
        });
        self.numbers.push((standing, numbers.collect()));
        self.numbers.len() - 1
    }
}

impl<R: Rulebook> Task<'_, R> {
    pub(super) fn start_by_lane(&mut self, solved: &Solved<R>, lanes: &R::Lanes) {
        let half = self.half;
        let mut notes = Notes::<R::Set>::default();
        for row in self.block.rows.clone() {
            let (opp_standing, opp_moving) = self.at.frame.row_pieces(half, self.at.standing, row);
            if (opp_standing & opp_moving).is_empty()
                && ((opp_standing | opp_moving) & self.at.standing.own[half][0]).is_empty()
            {
                self.start_row(solved, lanes, row, &mut notes);
            }
        }
    }

    fn start_row(&mut self, solved: &Solved<R>, lanes: &R::Lanes, row: u32, notes: &mut Notes<R::Set>) {
        let half = self.half;
        let own = self.at.frame.own[half];
        let board = self.at.row_board(half, 0, row);
        for (list, nothing) in [(&mut notes.captures, NONE), (&mut notes.quiet, NONE)] {
            list.clear();
            list.resize(own.len(), nothing);
        }
        notes.held.clear();
        notes.held.resize(own.word_count(), R::Set::ZERO);
        notes.states.clear();
        notes.states.resize(own.len(), 0);
        self.note_places(lanes, &board, row, notes);
        for word in 0..own.word_count() as u32 {
            if (own.word(word) & board.occupied()).is_empty() {
                self.note_captures(solved, lanes, &board, row, word, notes);
            }
        }
        if !board.pieces(Side::Own, Kind::STANDING).is_empty() {
            let mut steps = Vec::new();
            let others = lanes.simple_steps(&board, |from, to, through| steps.push((from, to, through)));
            for step in steps {
                self.note_simple(solved, lanes, &board, row, step, notes);
            }
            if others {
                self.note_standing(solved, lanes, &board, notes);
            }
        }
        self.conclude(&board, row, notes);
    }

    /// Which places there are, and where royal pieces are attacked.
    fn note_places(&mut self, lanes: &R::Lanes, board: &R::Placement, row: u32, notes: &mut Notes<R::Set>) {
        let own = self.at.frame.own[self.half];
        let taken = board.occupied();
        let Some(royal) = lanes.royal() else {
            for (set, state) in notes.states.iter_mut().enumerate() {
                if (own.set(set as u32) & taken).is_empty() {
                    *state = PRESENT;
                }
            }
            return;
        };
        let first = self.first_word(row, 0);
        for word in own.words_of(royal) {
            let others = own.word(word);
            if !(others & taken).is_empty() {
                continue;
            }
            let mut rest = *board;
            own.add_word(word, Side::Own, &mut rest);
            let empty = self.at.frame.rulebook.squares() & !(taken | others);
            let exposed = lanes.exposed(&rest, empty);
            let unplaced = lanes.unplaced(&rest, empty);
            for square in empty.squares() {
                let set = own.joined(word, square);
                let mut state = PRESENT;
                if unplaced.has(square) {
                    state |= UNPLACED;
                }
                if exposed.has(square) {
                    state |= EXPOSED;
                    for &(word, piece) in own.lanes(set) {
                        self.won_there[first + word as usize] |= R::Set::bit(piece);
                    }
                }
                notes.states[set as usize] = state;
            }
        }
    }

    /// What captures by the piece of a word lead to, and where it is held.
    fn note_captures(
        &mut self,
        solved: &Solved<R>,
        lanes: &R::Lanes,
        board: &R::Placement,
        row: u32,
        word: u32,
        notes: &mut Notes<R::Set>,
    ) {
        let rulebook = self.at.frame.rulebook;
        let own = self.at.frame.own[self.half];
        let kind = own.kind(word);
        let mut rest = *board;
        own.add_word(word, Side::Own, &mut rest);
        let empty = rulebook.squares() & !rest.occupied();
        let first = self.first_word(row, 0);
        let won_there = self.won_there[first + word as usize];
        notes.held[word as usize] = empty & !rulebook.spread(kind, empty & !won_there, empty, || rest);
        let royal = lanes.royal();
        let prey = match royal {
            Some(royal) => rest.side(Side::Opponent) & !rest.pieces(Side::Opponent, royal),
            None => rest.side(Side::Opponent),
        };
        for target in prey.squares() {
            let from = lanes.takes_from(kind, &rest, target, empty);
            if from.is_empty() {
                continue;
            }
            let mut after = rest;
            after.take(target);
            after.add(Side::Own, kind, R::Set::bit(target));
            if royal.is_some() && lanes.is_exposed(&after) {
                continue;
            }
            let score = solved
                .score(&rulebook.turned(&after))
                .before_move(self.at.frame.metric, true);
            for square in from.squares() {
                note(&mut notes.captures[own.joined(word, square) as usize], score);
            }
        }
    }

    /// What a simple step of a standing piece leads to. It stays in the slice,
    /// so that one look-up finds where: the rest is the number of the mover's
    /// set among those that fit, which is tabled, and the opponent's on what
    /// that leaves.
    fn note_simple(
        &self,
        solved: &Solved<R>,
        lanes: &R::Lanes,
        board: &R::Placement,
        row: u32,
        (from, to, through): (u8, u8, R::Set),
        notes: &mut Notes<R::Set>,
    ) {
        let rulebook = self.at.frame.rulebook;
        let metric = self.at.frame.metric;
        let (own, opp) = (self.at.frame.own[self.half], self.at.frame.opp[self.half]);
        let mut after = *board;
        after.take(from);
        after.add(Side::Own, Kind::STANDING, R::Set::bit(to));
        let turned = rulebook.turned(&after);
        let counts = own.kinds().iter();
        let key = counts.fold(turned.key(), |key, (kind, count)| {
            key | key_of(Side::Opponent, *kind, *count)
        });
        let side = solved.side(key);
        let (digit, symmetry) = side.index.standing_class(&turned);
        let standing = side.index.standing::<R::Placement>(digit).occupied();
        let base = digit * side.index.scale(Digit::Standing);
        let (first_scale, last_scale) = (
            side.index.scale(Digit::FirstMoving),
            side.index.scale(Digit::LastMoving),
        );
        let free = rulebook.squares() & !standing;
        let [_, last] = side.index.moving();
        let mut theirs = R::Placement::default();
        let (_, opp_set) = self.at.frame.row_parts(self.half, self.at.standing, row);
        opp.add_set(opp.image(symmetry, opp.turned(opp_set)), Side::Own, &mut theirs);
        let lines = lanes.has_lines(board);
        let fitting = notes.fitting(own, standing);
        let sets = notes.states.iter().zip(&notes.captures).zip(&mut notes.quiet);
        for (set, ((state, captures), quiet)) in sets.enumerate() {
            let set = set as u32;
            if state & (PRESENT | UNPLACED) != PRESENT
                || !(own.set(set) & through).is_empty()
                || !lines && state & EXPOSED != 0
                || noted(*captures).is_some_and(|score| is_enough(score, metric))
            {
                continue;
            }
            if lines {
                let mut placement = after;
                own.add_set(set, Side::Own, &mut placement);
                if lanes.is_exposed(&placement) {
                    continue;
                }
            }
            let seen = own.image(symmetry, own.turned(set));
            let first = u64::from(notes.numbers[fitting].1[seen as usize]);
            let last = last.rank(&theirs, Side::Own, free & !own.set(seen));
            let score = side.values.score(base + first * first_scale + last * last_scale);
            note(quiet, score.before_move(metric, true));
        }
    }

    /// What other moves of standing pieces lead to.
    fn note_standing(&self, solved: &Solved<R>, lanes: &R::Lanes, board: &R::Placement, notes: &mut Notes<R::Set>) {
        let own = self.at.frame.own[self.half];
        let metric = self.at.frame.metric;
        let sets = notes.states.iter().zip(&mut notes.captures).zip(&mut notes.quiet);
        for (set, ((state, captures), quiet)) in sets.enumerate() {
            if state & (PRESENT | UNPLACED) != PRESENT || noted(*captures).is_some_and(|score| is_enough(score, metric))
            {
                continue;
            }
            let mut placement = *board;
            own.add_set(set as u32, Side::Own, &mut placement);
            lanes.standing_tries(&placement, |after, takes| {
                let score = solved.score(after).before_move(metric, true);
                note(if takes { captures } else { quiet }, score);
            });
        }
    }

    /// What follows for each place.
    fn conclude(&mut self, board: &R::Placement, row: u32, notes: &Notes<R::Set>) {
        let rulebook = self.at.frame.rulebook;
        let own = self.at.frame.own[self.half];
        let forced = rulebook.forced();
        for (set, state) in notes.states.iter().enumerate() {
            if state & PRESENT == 0 {
                continue;
            }
            let place = set as u32;
            if state & UNPLACED != 0 {
                self.leave_out(row, place);
                continue;
            }
            let captures = noted(notes.captures[set]);
            if let Some(score) = captures
                && forced
            {
                self.settle(row, place, score, Free::Score);
                continue;
            }
            let free = freed_by(captures);
            let conversion = noted(notes.quiet[set])
                .map(|quiet| Score::better(captures, quiet))
                .or(captures);
            let is_quiet = || {
                let mut lanes = own.lanes(place).iter();
                lanes.any(|&(word, piece)| !notes.held[word as usize].has(piece))
            };
            match conversion {
                Some(score) if is_enough(score, self.at.frame.metric) => {
                    let free = if free == Free::Win { free } else { Free::No };
                    self.settle(row, place, score, free);
                }
                conversion if is_quiet() => self.open(row, place, conversion, free),
                Some(score) => {
                    let free = if score.is_win() && free != Free::Win {
                        Free::No
                    } else {
                        free
                    };
                    self.settle(row, place, score, free);
                }
                None => {
                    let mut placement = *board;
                    own.add_set(place, Side::Own, &mut placement);
                    let ending = rulebook.blocked(&placement);
                    if ending.mated {
                        self.block.mated += self.at.frame.row_weight(self.half, row);
                    }
                    self.settle(row, place, ending.outcome.into(), Free::No);
                }
            }
        }
    }
}
