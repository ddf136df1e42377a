//! A second move generator, as simple as it can be: pieces by file and rank, a
//! copy of the board for every jump, every chain written down, and the rules
//! of choice applied one after the other to the list. It shares nothing with
//! the crate but the values of the axes.

use std::cell::Cell;
use std::collections::BTreeSet;

use petrov_games::draughts::{
    Goal, KingDirections, KingLand, ManCapture, ManMove, NameStyle, Priority, PromoCapture, Removal, Rules, SquareKind,
};

/// File and rank, from 0 at White's left and White's side.
pub(crate) type Place = (i32, i32);

/// A piece on the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) white: bool,
    pub(crate) king: bool,
    /// Captured already, but not removed yet.
    pub(crate) jumped: bool,
}

/// The pieces on the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Grid {
    cells: [[Option<Piece>; 12]; 12],
}

impl Grid {
    pub(crate) fn at(&self, place: Place) -> Option<Piece> {
        self.cells[place.0 as usize][place.1 as usize]
    }

    pub(crate) fn put(&mut self, place: Place, piece: Option<Piece>) {
        self.cells[place.0 as usize][place.1 as usize] = piece;
    }

    /// The pieces after a move.
    pub(crate) fn after(&self, played: &Played) -> Self {
        let mut next = *self;
        let piece = next.at(played.from).unwrap();
        next.put(played.from, None);
        for &place in &played.captured {
            next.put(place, None);
        }
        let king = played.to_king;
        next.put(played.to, Some(Piece { king, ..piece }));
        next
    }
}

/// A legal move.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Played {
    pub(crate) from: Place,
    pub(crate) to: Place,
    pub(crate) captured: BTreeSet<Place>,
    pub(crate) by_man: bool,
    pub(crate) to_king: bool,
}

/// A complete chain of jumps.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) from: Place,
    /// Where it landed after each jump.
    pub(crate) landings: Vec<Place>,
    /// What it jumped, in order, and whether that was a king.
    pub(crate) taken: Vec<(Place, bool)>,
    pub(crate) by_man: bool,
    pub(crate) to_king: bool,
}

impl Chain {
    pub(crate) fn kings(&self) -> usize {
        self.taken.iter().filter(|taken| taken.1).count()
    }

    /// Ordinals of the jumps over kings.
    pub(crate) fn king_ordinals(&self) -> Vec<usize> {
        (0..self.taken.len()).filter(|&i| self.taken[i].1).collect()
    }

    pub(crate) fn played(&self) -> Played {
        Played {
            from: self.from,
            to: *self.landings.last().unwrap(),
            captured: self.taken.iter().map(|taken| taken.0).collect(),
            by_man: self.by_man,
            to_king: self.to_king,
        }
    }
}

/// One possible jump.
struct Jump {
    direction: Place,
    victim: Place,
    landings: Vec<Place>,
}

/// The rules and a limit on the work.
pub(crate) struct Reference<'a> {
    rules: &'a Rules,
    jumps_left: Cell<u32>,
}

/// Jumps tried in one position before it is given up as too rich.
const MOST_JUMPS: u32 = 20_000;

const DIAGONALS: [Place; 4] = [(1, 1), (-1, 1), (1, -1), (-1, -1)];
const LINES: [Place; 4] = [(0, 1), (0, -1), (1, 0), (-1, 0)];

impl<'a> Reference<'a> {
    pub(crate) fn new(rules: &'a Rules) -> Self {
        Self {
            rules,
            jumps_left: Cell::new(0),
        }
    }

    fn playable(&self, (file, rank): Place) -> bool {
        match self.rules.squares {
            SquareKind::Dark => (file + rank) % 2 == 0,
            SquareKind::Mirror => (file + rank) % 2 == 1,
            SquareKind::All => true,
        }
    }

    /// The next playable square in a direction.
    fn next(&self, place: Place, direction: Place) -> Option<Place> {
        let mut at = place;
        loop {
            at = (at.0 + direction.0, at.1 + direction.1);
            let inside = (0..self.rules.files.into()).contains(&at.0) && (0..self.rules.ranks.into()).contains(&at.1);
            if !inside {
                return None;
            }
            if self.playable(at) {
                return Some(at);
            }
        }
    }

    /// All playable squares.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for rank in 0..self.rules.ranks.into() {
            for file in 0..self.rules.files.into() {
                if self.playable((file, rank)) {
                    places.push((file, rank));
                }
            }
        }
        places
    }

    /// The name of a square.
    pub(crate) fn name(&self, place: Place) -> String {
        let mut order = self.places();
        match self.rules.names {
            NameStyle::Algebraic => {
                let letters = if self.rules.files < 10 {
                    "abcdefghij"
                } else {
                    "abcdefghiklm"
                };
                let letter = letters.as_bytes()[place.0 as usize] as char;
                return format!("{letter}{}", place.1 + 1);
            }
            NameStyle::NumberTop => order.sort_by_key(|&(file, rank)| (-rank, file)),
            NameStyle::NumberBottomRight => order.sort_by_key(|&(file, rank)| (rank, -file)),
        }
        let index = order.iter().position(|&other| other == place).unwrap();
        (index + 1).to_string()
    }

    fn last_row(&self, white: bool) -> i32 {
        if white { i32::from(self.rules.ranks) - 1 } else { 0 }
    }

    fn man_move_directions(&self, white: bool) -> Vec<Place> {
        let forward = if white { 1 } else { -1 };
        match self.rules.man_move {
            ManMove::DiagonalForward => vec![(-1, forward), (1, forward)],
            ManMove::StraightForwardSide => vec![(0, forward), (-1, 0), (1, 0)],
            ManMove::StraightForwardSideDiagonalForward => {
                vec![(0, forward), (-1, 0), (1, 0), (-1, forward), (1, forward)]
            }
        }
    }

    fn man_jump_directions(&self, white: bool) -> Vec<Place> {
        let forward = if white { 1 } else { -1 };
        match self.rules.man_capture {
            ManCapture::DiagonalForward => vec![(-1, forward), (1, forward)],
            ManCapture::DiagonalAll => DIAGONALS.to_vec(),
            ManCapture::AllEight => [DIAGONALS, LINES].concat(),
            ManCapture::StraightForwardSide => vec![(0, forward), (-1, 0), (1, 0)],
            ManCapture::StraightAll => LINES.to_vec(),
        }
    }

    fn king_directions(axis: KingDirections) -> Vec<Place> {
        match axis {
            KingDirections::Diagonal => DIAGONALS.to_vec(),
            KingDirections::Straight => LINES.to_vec(),
            KingDirections::AllEight => [DIAGONALS, LINES].concat(),
        }
    }

    /// Quiet moves of the piece on a square.
    fn quiet_moves(&self, grid: &Grid, from: Place, moves: &mut BTreeSet<Played>) {
        let piece = grid.at(from).unwrap();
        let mut ends = Vec::new();
        if piece.king {
            for direction in Self::king_directions(self.rules.king_move) {
                let mut at = from;
                while let Some(next) = self.next(at, direction) {
                    if grid.at(next).is_some() {
                        break;
                    }
                    ends.push(next);
                    at = next;
                    if !self.rules.king_flying {
                        break;
                    }
                }
            }
        } else {
            for direction in self.man_move_directions(piece.white) {
                let Some(next) = self.next(from, direction) else {
                    continue;
                };
                match grid.at(next) {
                    None => ends.push(next),
                    Some(other) if self.rules.man_leap_own && other.white == piece.white => {
                        if let Some(behind) = self.next(next, direction)
                            && grid.at(behind).is_none()
                        {
                            ends.push(behind);
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        for to in ends {
            moves.insert(Played {
                from,
                to,
                captured: BTreeSet::new(),
                by_man: !piece.king,
                to_king: piece.king || to.1 == self.last_row(piece.white),
            });
        }
    }

    /// All jumps of a piece that stands on `at` (and is not on the grid).
    fn jumps(&self, grid: &Grid, at: Place, white: bool, king: bool, last: Option<Place>) -> Vec<Jump> {
        let directions = if king {
            Self::king_directions(self.rules.king_capture)
        } else {
            self.man_jump_directions(white)
        };
        let flying = king && self.rules.king_flying;
        let mut jumps = Vec::new();
        for direction in directions {
            let back = last == Some((-direction.0, -direction.1));
            if back && self.rules.removal == Removal::AtOnce && !self.rules.u_turn {
                continue;
            }
            // The piece met.
            let mut victim = self.next(at, direction);
            while let Some(place) = victim
                && flying
                && grid.at(place).is_none()
            {
                victim = self.next(place, direction);
            }
            let Some(victim) = victim else { continue };
            let Some(met) = grid.at(victim) else { continue };
            if met.white == white || met.jumped || met.king && !king && !self.rules.man_takes_king {
                continue;
            }
            // The squares behind it.
            let mut landings = Vec::new();
            let mut behind = self.next(victim, direction);
            while let Some(place) = behind
                && grid.at(place).is_none()
            {
                landings.push(place);
                if !flying || self.rules.king_land == KingLand::Adjacent {
                    break;
                }
                behind = self.next(place, direction);
            }
            if !landings.is_empty() {
                jumps.push(Jump {
                    direction,
                    victim,
                    landings,
                });
            }
        }
        jumps
    }

    /// Adds every complete chain that begins as `begun`, with the piece now on
    /// `at`. None if there are too many.
    #[allow(clippy::too_many_arguments)]
    fn go_on(
        &self,
        grid: &Grid,
        at: Place,
        white: bool,
        king: bool,
        last: Option<Place>,
        begun: &Chain,
        chains: &mut Vec<Chain>,
    ) -> Option<()> {
        for jump in self.jumps(grid, at, white, king, last) {
            self.jumps_left.set(self.jumps_left.get().checked_sub(1)?);
            let victim = grid.at(jump.victim).unwrap();
            let mut next = *grid;
            next.put(
                jump.victim,
                match self.rules.removal {
                    Removal::AtOnce => None,
                    Removal::After => Some(Piece { jumped: true, ..victim }),
                },
            );
            let mut begun = begun.clone();
            begun.taken.push((jump.victim, victim.king));
            let (mut ends, mut goes_on) = (Vec::new(), Vec::new());
            for &landing in &jump.landings {
                let last_row = landing.1 == self.last_row(white);
                let promotes = !king && last_row;
                let king_now = king || promotes && self.rules.promo_capture == PromoCapture::Continue;
                let stops = promotes && self.rules.promo_capture == PromoCapture::Stop;
                let further = self.jumps(&next, landing, white, king_now, Some(jump.direction));
                if stops || further.is_empty() {
                    ends.push((landing, king || promotes));
                } else {
                    goes_on.push((landing, king_now));
                }
            }
            if king && self.rules.king_flying {
                if self.rules.king_must_extend && !goes_on.is_empty() {
                    ends.clear();
                }
                if self.rules.king_land == KingLand::AdjacentIfLastIsKing && victim.king {
                    ends.retain(|end| end.0 == jump.landings[0]);
                }
            }
            for (landing, to_king) in ends {
                let mut chain = begun.clone();
                chain.landings.push(landing);
                chain.to_king = to_king;
                chains.push(chain);
            }
            for (landing, king_now) in goes_on {
                let mut begun = begun.clone();
                begun.landings.push(landing);
                self.go_on(&next, landing, white, king_now, Some(jump.direction), &begun, chains)?;
            }
        }
        Some(())
    }

    /// All complete chains of one side. None if there are too many.
    pub(crate) fn complete_chains(&self, grid: &Grid, white: bool) -> Option<Vec<Chain>> {
        self.jumps_left.set(MOST_JUMPS);
        let mut chains = Vec::new();
        for from in self.places() {
            let Some(piece) = grid.at(from).filter(|piece| piece.white == white) else {
                continue;
            };
            let mut lifted = *grid;
            lifted.put(from, None);
            let begun = Chain {
                from,
                landings: Vec::new(),
                taken: Vec::new(),
                by_man: !piece.king,
                to_king: piece.king,
            };
            self.go_on(&lifted, from, white, piece.king, None, &begun, &mut chains)?;
        }
        Some(chains)
    }

    /// Leaves the chains that the rules of choice allow.
    pub(crate) fn choose(&self, chains: &mut Vec<Chain>) {
        let count = |chain: &Chain| chain.taken.len();
        match self.rules.priority {
            Priority::Free => {}
            Priority::Count => keep_most(chains, count),
            Priority::CountKings => {
                keep_most(chains, count);
                keep_most(chains, Chain::kings);
            }
            Priority::CountKingsWithKing => {
                keep_most(chains, count);
                keep_most(chains, Chain::kings);
                prefer_kings(chains);
            }
            Priority::Italian => {
                keep_most(chains, count);
                prefer_kings(chains);
                keep_most(chains, Chain::kings);
                let first = chains.iter().map(Chain::king_ordinals).min();
                chains.retain(|chain| Some(chain.king_ordinals()) == first);
            }
            Priority::Frisian => {
                keep_most(chains, |chain| {
                    chain.taken.iter().map(|taken| if taken.1 { 199 } else { 100 }).sum()
                });
                prefer_kings(chains);
            }
            Priority::KingFirst => prefer_kings(chains),
        }
    }

    /// Whether the pieces alone end the game.
    pub(crate) fn over(&self, grid: &Grid) -> bool {
        let pieces: Vec<Piece> = self.places().into_iter().filter_map(|place| grid.at(place)).collect();
        let white = pieces.iter().filter(|piece| piece.white).count();
        let fewest = white.min(pieces.len() - white);
        match self.rules.goal {
            Goal::Normal | Goal::Misere => fewest == 0,
            Goal::Breakthrough => fewest == 0 || pieces.iter().any(|piece| piece.king),
            Goal::Ghana => fewest <= 1,
        }
    }

    /// All legal moves; none if the game is over. None if there are too many
    /// chains.
    pub(crate) fn legal(&self, grid: &Grid, white: bool) -> Option<BTreeSet<Played>> {
        if self.over(grid) {
            return Some(BTreeSet::new());
        }
        let mut chains = self.complete_chains(grid, white)?;
        self.choose(&mut chains);
        let mut moves: BTreeSet<Played> = chains.iter().map(Chain::played).collect();
        if moves.is_empty() || !self.rules.forced {
            for from in self.places() {
                if grid.at(from).is_some_and(|piece| piece.white == white) {
                    self.quiet_moves(grid, from, &mut moves);
                }
            }
        }
        Some(moves)
    }
}

fn keep_most(chains: &mut Vec<Chain>, worth: impl Fn(&Chain) -> usize) {
    let most = chains.iter().map(&worth).max();
    chains.retain(|chain| Some(worth(chain)) == most);
}

/// If a king makes one of the chains, only those made by kings.
fn prefer_kings(chains: &mut Vec<Chain>) {
    if chains.iter().any(|chain| !chain.by_man) {
        chains.retain(|chain| !chain.by_man);
    }
}
