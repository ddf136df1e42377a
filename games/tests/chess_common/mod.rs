//! A second move generator of the chess family, slow and plain, written from
//! the description of the axes alone; and random positions and rules.

// Each test uses a part.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};

use petrov_games::chess::{Goal, PairKnight, PairLine, Pawn, Promotion, Rules, Stalemate};

/// File and rank as White counts them, from 0.
pub(crate) type Square = (i8, i8);

/// A placement of pieces: whether white, and the small letter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plain {
    pub(crate) cells: BTreeMap<Square, (bool, char)>,
    pub(crate) white_moves: bool,
    pub(crate) passed: Option<Square>,
}

/// A move of the plain generator and the placement after it.
pub(crate) struct PlainMove {
    pub(crate) uci: String,
    pub(crate) captures: bool,
    pub(crate) en_passant: bool,
    pub(crate) after: Plain,
}

pub(crate) fn name((file, rank): Square) -> String {
    format!("{}{}", (b'a' + file as u8) as char, rank + 1)
}

const AROUND: [Square; 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
const KNIGHT: [Square; 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

fn add(a: Square, b: Square) -> Square {
    (a.0 + b.0, a.1 + b.1)
}

fn eight(steps: &[Square]) -> Vec<Square> {
    let mut out = Vec::new();
    for &(x, y) in steps {
        for (a, b) in [(x, y), (y, x)] {
            out.extend([(a, b), (-a, b), (a, -b), (-a, -b)]);
        }
    }
    out
}

pub(crate) struct Reference<'a> {
    pub(crate) rules: &'a Rules,
}

impl Reference<'_> {
    fn on_board(&self, (file, rank): Square) -> bool {
        file >= 0 && rank >= 0 && file < self.rules.files as i8 && rank < self.rules.ranks as i8
    }

    /// Rank from the side's own first rank, from 1.
    fn own_rank(&self, white: bool, square: Square) -> i8 {
        if white {
            square.1 + 1
        } else {
            self.rules.ranks as i8 - square.1
        }
    }

    fn pieces(&self, plain: &Plain, white: bool, letter: char) -> Vec<Square> {
        let found = plain.cells.iter().filter(|(_, piece)| **piece == (white, letter));
        found.map(|(square, _)| *square).collect()
    }

    /// Squares a piece other than a pawn attacks by its own moves.
    fn own_moves(&self, plain: &Plain, white: bool, letter: char, from: Square) -> BTreeSet<Square> {
        let moves = &self
            .rules
            .pieces
            .iter()
            .find(|piece| piece.letter == letter)
            .unwrap()
            .moves;
        let up = if white { 1 } else { -1 };
        let exact = |steps: &[Square]| -> Vec<Square> { steps.iter().map(|&(x, y)| (x, y * up)).collect() };
        let mut out = BTreeSet::new();
        for step in eight(&moves.leaps).into_iter().chain(exact(&moves.leaps_exact)) {
            out.insert(add(from, step));
        }
        for step in eight(&moves.slides).into_iter().chain(exact(&moves.slides_exact)) {
            let mut at = add(from, step);
            while self.on_board(at) {
                out.insert(at);
                if plain.cells.contains_key(&at) {
                    break;
                }
                at = add(at, step);
            }
        }
        out.retain(|square| self.on_board(*square));
        out
    }

    /// Where a piece other than a pawn could go if it were empty, and where
    /// it could capture if an enemy stood there and all else were as it is.
    fn all_moves(&self, plain: &Plain, from: Square) -> (BTreeSet<Square>, BTreeSet<Square>) {
        let rules = self.rules;
        let (white, letter) = plain.cells[&from];
        let knights = self.pieces(plain, white, 'n');
        let by_knight = |a: Square, b: Square| KNIGHT.contains(&(a.0 - b.0, a.1 - b.1));
        let mut quiet = self.own_moves(plain, white, letter, from);
        let mut take = quiet.clone();
        if letter == 'n' && rules.pair_knight != PairKnight::None {
            let partners: Vec<Square> = knights
                .iter()
                .copied()
                .filter(|&other| by_knight(from, other))
                .collect();
            if rules.pair_knight == PairKnight::Instead && !partners.is_empty() {
                quiet.clear();
                take.clear();
            }
            for partner in partners {
                for to in self.own_moves(plain, white, 'n', partner) {
                    if to != from {
                        quiet.insert(to);
                        if rules.pair_capture {
                            take.insert(to);
                        }
                    }
                }
            }
        }
        if rules.relay && letter != 'k' && knights.iter().any(|&other| by_knight(from, other)) {
            for step in KNIGHT {
                let to = add(from, step);
                if self.on_board(to) {
                    quiet.insert(to);
                    take.insert(to);
                }
            }
        }
        let hop = letter == 'b' && rules.pair_bishop;
        let slide = letter == 'r' && rules.pair_rook;
        for step in AROUND {
            let straight = step.0 == 0 || step.1 == 0;
            let partner = add(from, step);
            if !(hop && straight || slide && !straight) || plain.cells.get(&partner) != Some(&(white, letter)) {
                continue;
            }
            // The line as numbers of steps from the piece, both ways.
            for distance in -8i8..=8 {
                let at = |n: i8| (from.0 + step.0 * n, from.1 + step.1 * n);
                let to = at(distance);
                if distance == 0 || !self.on_board(to) || to == partner || hop && distance % 2 != 0 {
                    continue;
                }
                if distance > 1 && !rules.pair_partner_passes {
                    continue;
                }
                let between = |n: i8| {
                    if distance > 0 {
                        n > 0 && n < distance
                    } else {
                        n < 0 && n > distance
                    }
                };
                let others = |wanted: &dyn Fn(i8) -> bool| {
                    (-8..=8).any(|n| n != 0 && at(n) != partner && wanted(n) && plain.cells.contains_key(&at(n)))
                };
                match rules.pair_line {
                    PairLine::Path if !others(&between) => {
                        quiet.insert(to);
                        if rules.pair_capture {
                            take.insert(to);
                        }
                    }
                    PairLine::Whole if !others(&|_| true) => {
                        quiet.insert(to);
                    }
                    _ => {}
                }
            }
        }
        (quiet, take)
    }

    fn guarded(&self, plain: &Plain, pawn: Square, white: bool) -> bool {
        self.rules.pawn_guard
            && AROUND
                .iter()
                .any(|&step| plain.cells.get(&add(pawn, step)) == Some(&(white, 'k')))
    }

    /// Squares that a pawn attacks.
    fn pawn_takes(&self, plain: &Plain, pawn: Square, white: bool) -> BTreeSet<Square> {
        let up = if white { 1 } else { -1 };
        let rules = self.rules;
        let mut out = BTreeSet::new();
        if !rules.pawn_first_capture && self.own_rank(white, pawn) == rules.pawn_rank as i8 {
            return out;
        }
        if rules.pawn == Pawn::Orthodox || self.guarded(plain, pawn, white) {
            out.extend([add(pawn, (-1, up)), add(pawn, (1, up))]);
        }
        if rules.pawn == Pawn::Berolina || self.guarded(plain, pawn, white) {
            out.insert(add(pawn, (0, up)));
        }
        if rules.pawn_backward_capture {
            for to in [add(pawn, (-1, -up)), add(pawn, (1, -up))] {
                if self.own_rank(white, to) >= rules.pawn_rank as i8 {
                    out.insert(to);
                }
            }
        }
        out.retain(|square| self.on_board(*square));
        out
    }

    pub(crate) fn in_check(&self, plain: &Plain, white: bool) -> bool {
        if self.rules.goal == Goal::LoseAll {
            return false;
        }
        let king = self.pieces(plain, white, 'k')[0];
        plain.cells.iter().any(|(&square, &(colour, letter))| {
            colour != white
                && if letter == 'p' {
                    self.pawn_takes(plain, square, colour).contains(&king)
                } else {
                    self.all_moves(plain, square).1.contains(&king)
                }
        })
    }

    fn moved(&self, plain: &Plain, from: Square, to: Square, becomes: char, taken: Option<Square>) -> Plain {
        let mut after = plain.clone();
        if let Some(taken) = taken {
            after.cells.remove(&taken);
        }
        after.cells.remove(&from);
        after.cells.insert(to, (plain.white_moves, becomes));
        after.white_moves = !plain.white_moves;
        after.passed = None;
        after
    }

    /// The result for the side to move that the pieces alone decide.
    pub(crate) fn finished(&self, plain: &Plain) -> Option<i8> {
        let count = |white: bool| plain.cells.values().filter(|piece| piece.0 == white).count();
        let (own, other) = (count(plain.white_moves), count(!plain.white_moves));
        if self.rules.goal == Goal::LoseAll {
            return if own == 0 {
                Some(1)
            } else if other == 0 {
                Some(-1)
            } else {
                None
            };
        }
        if !self.rules.bare_king || own > 1 && other > 1 {
            return None;
        }
        if own == 1 && other == 1 {
            return Some(0);
        }
        if other == 1 {
            return Some(1);
        }
        let levels = self
            .ruled_moves(plain)
            .iter()
            .any(|played| played.after.cells.len() == 2);
        Some(if levels { 0 } else { -1 })
    }

    /// Result of a position without moves for the side to move.
    pub(crate) fn blocked(&self, plain: &Plain) -> i8 {
        if let Some(result) = self.finished(plain) {
            return result;
        }
        if self.in_check(plain, plain.white_moves) {
            return -1;
        }
        let count = |white: bool| plain.cells.values().filter(|piece| piece.0 == white).count();
        match self.rules.stalemate {
            Stalemate::Draw => 0,
            Stalemate::Loses => -1,
            Stalemate::Wins => 1,
            Stalemate::FewerWins => match count(plain.white_moves).cmp(&count(!plain.white_moves)) {
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => -1,
            },
        }
    }

    pub(crate) fn legal(&self, plain: &Plain) -> Vec<PlainMove> {
        if self.finished(plain).is_some() {
            return Vec::new();
        }
        let mut moves = self.ruled_moves(plain);
        if self.rules.capture_compulsory && moves.iter().any(|played| played.captures) {
            moves.retain(|played| played.captures);
        }
        moves
    }

    fn ruled_moves(&self, plain: &Plain) -> Vec<PlainMove> {
        let moves = self.moves_passing(plain, plain.passed);
        if moves.iter().any(|played| played.en_passant) {
            moves
        } else {
            // No right without a legal capture.
            self.moves_passing(plain, None)
        }
    }

    fn moves_passing(&self, plain: &Plain, passed: Option<Square>) -> Vec<PlainMove> {
        let rules = self.rules;
        let white = plain.white_moves;
        let up = if white { 1 } else { -1 };
        let mut found: Vec<(Square, Square, Option<Square>)> = Vec::new();
        for (&from, &(colour, letter)) in &plain.cells {
            if colour != white {
                continue;
            }
            let enemy = |square: &Square| plain.cells.get(square).is_some_and(|piece| piece.0 != white);
            if letter != 'p' {
                let (quiet, take) = self.all_moves(plain, from);
                found.extend(
                    quiet
                        .iter()
                        .filter(|to| !plain.cells.contains_key(to))
                        .map(|&to| (from, to, None)),
                );
                found.extend(take.iter().filter(|to| enemy(to)).map(|&to| (from, to, Some(to))));
                continue;
            }
            let takes = self.pawn_takes(plain, from, white);
            found.extend(takes.iter().filter(|to| enemy(to)).map(|&to| (from, to, Some(to))));
            let at_start = self.own_rank(white, from) == rules.pawn_rank as i8;
            let diagonals = [add(from, (-1, up)), add(from, (1, up))];
            let takes_passed = |to: Square| {
                rules.pawn == Pawn::Orthodox
                    && Some(to) == passed
                    && diagonals.contains(&to)
                    && (rules.pawn_first_capture || !at_start)
            };
            let directions: &[i8] = match rules.pawn {
                Pawn::Orthodox => &[0],
                Pawn::Berolina => &[-1, 1],
            };
            let guarded = self.guarded(plain, from, white);
            for side in -1..=1 {
                let to = add(from, (side, up));
                let free = |square: Square| self.on_board(square) && !plain.cells.contains_key(&square);
                if !free(to) {
                    continue;
                }
                if takes_passed(to) {
                    found.push((from, to, Some(add(to, (0, -up)))));
                } else if guarded || directions.contains(&side) {
                    found.push((from, to, None));
                }
                let twice = add(to, (side, up));
                if directions.contains(&side)
                    && rules.double_step
                    && at_start
                    && self.own_rank(white, twice) < rules.promotion_rank as i8
                    && free(twice)
                {
                    found.push((from, twice, None));
                }
            }
        }
        let mut moves = Vec::new();
        for (from, to, taken) in found {
            let letter = plain.cells[&from].1;
            let becomes = if letter == 'p' && self.own_rank(white, to) >= rules.promotion_rank as i8 {
                match &rules.promote_to {
                    Promotion::Any(letters) => letters.clone(),
                    Promotion::ByFile(letters) => vec![letters[to.0 as usize]],
                }
            } else {
                vec![letter]
            };
            for becomes in becomes {
                let mut after = self.moved(plain, from, to, becomes, taken);
                if self.in_check(&after, white) {
                    continue;
                }
                if letter == 'p' && (to.1 - from.1).abs() == 2 && rules.en_passant && rules.pawn == Pawn::Orthodox {
                    after.passed = Some(add(from, (0, up)));
                }
                let mut uci = name(from) + &name(to);
                if becomes != letter {
                    uci.push(becomes);
                }
                moves.push(PlainMove {
                    uci,
                    captures: taken.is_some(),
                    en_passant: taken.is_some_and(|taken| taken != to),
                    after,
                });
            }
        }
        moves
    }

    /// The first four fields of a FEN.
    pub(crate) fn fen(&self, plain: &Plain) -> String {
        let mut rows = Vec::new();
        for rank in (0..self.rules.ranks as i8).rev() {
            let mut row = String::new();
            for file in 0..self.rules.files as i8 {
                match plain.cells.get(&(file, rank)) {
                    Some((true, letter)) => row.push(letter.to_ascii_uppercase()),
                    Some((false, letter)) => row.push(*letter),
                    None => match row.pop() {
                        Some(count) if count.is_ascii_digit() => row.push((count as u8 + 1) as char),
                        Some(letter) => row.extend([letter, '1']),
                        None => row.push('1'),
                    },
                }
            }
            rows.push(row);
        }
        let passed = if plain.passed.is_some() && self.legal(plain).iter().any(|played| played.en_passant) {
            plain.passed.map(name).unwrap()
        } else {
            "-".to_owned()
        };
        let turn = if plain.white_moves { 'w' } else { 'b' };
        format!("{} {turn} - {passed}", rows.join("/"))
    }
}

/// Numbers that look random and are the same in every run (xorshift).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A random placement that respects the ranks of pawns and the number of
    /// kings; check is not looked at. With some luck a pawn has just stepped
    /// twice.
    pub(crate) fn position(&mut self, rules: &Rules, pieces: usize) -> Plain {
        let reference = Reference { rules };
        let mut plain = Plain {
            cells: BTreeMap::new(),
            white_moves: self.one_in(2),
            passed: None,
        };
        let mut letters: Vec<char> = rules.pieces.iter().map(|piece| piece.letter).collect();
        if rules.goal == Goal::Mate {
            letters.retain(|letter| *letter != 'k');
            for white in [true, false] {
                self.put(rules, &mut plain, white, 'k');
            }
        }
        // Few kinds at a time, so that pairs are common; pawns are always.
        let some: Vec<char> = (0..2).map(|_| *self.pick(&letters)).collect();
        for _ in 0..pieces {
            let letter = if self.one_in(3) {
                'p'
            } else if self.one_in(2) {
                *self.pick(&some)
            } else {
                *self.pick(&letters)
            };
            let white = self.one_in(2);
            self.put(rules, &mut plain, white, letter);
        }
        if rules.has_en_passant() {
            let up = if plain.white_moves { -1 } else { 1 };
            let start = if plain.white_moves {
                (rules.ranks - rules.pawn_rank) as i8
            } else {
                rules.pawn_rank as i8 - 1
            };
            let passed: Vec<Square> = reference
                .pieces(&plain, !plain.white_moves, 'p')
                .into_iter()
                .filter(|pawn| pawn.1 == start + 2 * up)
                .map(|pawn| (pawn.0, start + up))
                .filter(|square| {
                    !plain.cells.contains_key(square) && !plain.cells.contains_key(&add(*square, (0, -up)))
                })
                .collect();
            if !passed.is_empty() && !self.one_in(4) {
                plain.passed = Some(*self.pick(&passed));
            }
        }
        plain
    }

    fn put(&mut self, rules: &Rules, plain: &mut Plain, white: bool, letter: char) {
        let reference = Reference { rules };
        for _ in 0..50 {
            let square = (
                self.below(rules.files as usize) as i8,
                self.below(rules.ranks as usize) as i8,
            );
            let rank = reference.own_rank(white, square) as u8;
            let allowed = letter != 'p' || (rules.pawn_rank..rules.promotion_rank).contains(&rank);
            if allowed && !plain.cells.contains_key(&square) {
                plain.cells.insert(square, (white, letter));
                return;
            }
        }
    }

    /// The text of a rule file with random values for all axes.
    pub(crate) fn rules(&mut self) -> String {
        let (files, ranks) = if self.one_in(3) {
            (8, 8)
        } else {
            (3 + self.below(6), 3 + self.below(6))
        };
        let mut text = format!("name = \"random\"\nfamily = \"chess\"\nboard = \"{files}x{ranks}\"\n");
        let promotion_rank = if self.one_in(3) { ranks - self.below(2) } else { ranks };
        let pawn_rank = 1 + self.below(promotion_rank.min(4) - 1);
        text += &format!("start = \"-\"\npawn_rank = {pawn_rank}\npromotion_rank = {promotion_rank}\n");
        let lose_all = self.one_in(4);
        text += if lose_all {
            "goal = \"lose-all\"\n"
        } else {
            "goal = \"mate\"\n"
        };
        if !lose_all && self.one_in(4) {
            text += "bare_king = \"loses\"\n";
        }
        if self.one_in(3) {
            let last = (b'a' + files as u8) as char;
            let files: Vec<String> = ('a'..last)
                .map(|file| format!("{file} {}", self.pick(&['q', 'r', 'b', 'n', 'x'])))
                .collect();
            text += &format!("promote_to = \"{}\"\n", files.join(", "));
        } else if lose_all {
            text += "promote_to = [\"k\", \"q\", \"x\"]\n";
        }
        for (key, words) in [
            ("pawn", &["\"orthodox\"", "\"orthodox\"", "\"berolina\""] as &[&str]),
            ("pawn_backward_capture", &["true", "false"]),
            ("pawn_first_capture", &["true", "false"]),
            ("pawn_guard", &["\"none\"", "\"aura\""]),
            ("double_step", &["\"none\"", "\"start\"", "\"start\""]),
            ("en_passant", &["true", "true", "false"]),
            ("stalemate", &["\"draw\"", "\"loses\"", "\"wins\"", "\"fewer-wins\""]),
            ("capture_compulsory", &["true", "false", "false"]),
            ("relay", &["\"none\"", "\"none\"", "\"knight\""]),
            ("pair_bishop", &["\"none\"", "\"hop\""]),
            ("pair_rook", &["\"none\"", "\"slide\""]),
            ("pair_knight", &["\"none\"", "\"add\"", "\"instead\""]),
            ("pair_line", &["\"path\"", "\"path\"", "\"whole\""]),
            ("pair_partner", &["\"passes\"", "\"blocks\""]),
            ("pair_capture", &["true", "false"]),
        ] {
            text += &format!("{key} = {}\n", self.pick(words));
        }
        text += "[pieces.x]\nleaps = [[0, 2]]\nslides = [[1, 2]]\nleaps_exact = [[0, 1], [1, 3]]\nslides_exact = [[1, -1], [0, 1]]\n";
        if self.one_in(4) {
            text += "[pieces.b]\nleaps = [[2, 2]]\nleaps_exact = [[0, 1]]\n";
        }
        if self.one_in(4) {
            text += "[pieces.n]\nleaps = [[1, 3]]\nslides_exact = [[1, 2]]\n";
        }
        text
    }
}
