//! Squares of a board, their neighbours and symmetries.
//!
//! Squares are numbered so that a step in any direction adds the same number
//! on the whole board. On boards of dark squares this leaves one unused bit
//! after every second rank (8x8: 36 bits, 10x10: 55, 12x12: 78); on boards of
//! all squares there is none.
//!
//! `mirror` boards are kept as their reflection, a `dark` board: only names
//! of squares know the difference.

use super::rules::{KingDirections, Rules, SquareKind};

/// A set of squares in the board's own numbering.
pub type SquareSet = u128;

/// The eight directions, for White. The opposite of direction `d` is `d ^ 1`.
pub(crate) mod direction {
    pub(crate) const NORTH_EAST: u8 = 0;
    pub(crate) const SOUTH_WEST: u8 = 1;
    pub(crate) const NORTH_WEST: u8 = 2;
    pub(crate) const SOUTH_EAST: u8 = 3;
    pub(crate) const NORTH: u8 = 4;
    pub(crate) const SOUTH: u8 = 5;
    pub(crate) const EAST: u8 = 6;
    pub(crate) const WEST: u8 = 7;
    /// File and rank change of each direction.
    pub(crate) const STEPS: [(i8, i8); 8] = [(1, 1), (-1, -1), (-1, 1), (1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)];
}

/// Geometry of one board.
#[derive(Clone, Debug)]
pub struct Board {
    files: u8,
    ranks: u8,
    all: bool,
    /// Highest square number plus one.
    bits: u8,
    playable: SquareSet,
    /// What a step in each direction adds to a square's number.
    shift: [i8; 8],
    /// Squares that have a neighbour in each direction.
    inner: [SquareSet; 8],
}

impl Board {
    /// The board of a rule set.
    ///
    /// The size must be one that [`Rules`] parsing accepts.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        let (files, ranks) = (rules.files, rules.ranks);
        let all = rules.squares == SquareKind::All;
        let mut board = Self {
            files,
            ranks,
            all,
            bits: 0,
            playable: 0,
            shift: [0; 8],
            inner: [0; 8],
        };
        let (f, half) = (files as i8, (files / 2) as i8);
        let (north, ne, nw) = if all {
            (f, f + 1, f - 1)
        } else {
            (f + 1, half + 1, half)
        };
        board.shift = [ne, -ne, nw, -nw, north, -north, 1, -1];
        for rank in 0..ranks {
            for file in 0..files {
                if let Some(square) = board.square_at(file, rank) {
                    board.playable |= 1 << square;
                    board.bits = board.bits.max(square + 1);
                }
            }
        }
        for square in 0..board.bits {
            for d in 0..8 {
                if board.playable & 1 << square != 0 && board.neighbour_by_coordinates(square, d).is_some() {
                    board.inner[d as usize] |= 1 << square;
                }
            }
        }
        board
    }

    fn neighbour_by_coordinates(&self, square: u8, d: u8) -> Option<u8> {
        let (file, rank) = self.coordinates(square);
        let (df, dr) = direction::STEPS[d as usize];
        // On a board of dark squares the straight neighbour is two steps away.
        let scale = if !self.all && (df == 0 || dr == 0) { 2 } else { 1 };
        let file = file.checked_add_signed(df * scale)?;
        let rank = rank.checked_add_signed(dr * scale)?;
        self.square_at(file, rank)
    }

    /// The square at a file and rank (from 0, White's left and White's side),
    /// if there is a playable one. On a `mirror` board files are reflected
    /// before they come here.
    #[must_use]
    pub fn square_at(&self, file: u8, rank: u8) -> Option<u8> {
        if file >= self.files || rank >= self.ranks {
            return None;
        }
        if self.all {
            return Some(rank * self.files + file);
        }
        if (file + rank) % 2 == 1 {
            return None;
        }
        let pair = (rank / 2) * (self.files + 1);
        let second = if rank % 2 == 1 { self.files / 2 + 1 } else { 0 };
        Some(pair + second + file / 2)
    }

    /// File and rank of a playable square.
    #[must_use]
    pub fn coordinates(&self, square: u8) -> (u8, u8) {
        if self.all {
            return (square % self.files, square / self.files);
        }
        let (pair, rest) = (square / (self.files + 1), square % (self.files + 1));
        let half = self.files / 2;
        if rest > half {
            ((rest - half - 1) * 2 + 1, pair * 2 + 1)
        } else {
            (rest * 2, pair * 2)
        }
    }

    /// Files of the board.
    #[must_use]
    pub fn files(&self) -> u8 {
        self.files
    }

    /// Ranks of the board.
    #[must_use]
    pub fn ranks(&self) -> u8 {
        self.ranks
    }

    /// True if every square is playable.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Width of a square set in bits: the highest square number plus one.
    #[must_use]
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// All playable squares.
    #[must_use]
    pub fn playable(&self) -> SquareSet {
        self.playable
    }

    /// Number of playable squares.
    #[must_use]
    pub fn squares(&self) -> u32 {
        self.playable.count_ones()
    }

    /// What a step in direction `d` adds to a square's number.
    pub(crate) fn shift(&self, d: u8) -> i8 {
        self.shift[d as usize]
    }

    /// Squares that have a neighbour in direction `d`.
    pub(crate) fn inner(&self, d: u8) -> SquareSet {
        self.inner[d as usize]
    }

    /// The neighbour of a square in direction `d`.
    pub(crate) fn neighbour(&self, square: u8, d: u8) -> Option<u8> {
        (self.inner[d as usize] >> square & 1 == 1).then(|| square.wrapping_add_signed(self.shift[d as usize]))
    }

    /// The squares of one rank (from 0).
    #[must_use]
    pub fn rank_set(&self, rank: u8) -> SquareSet {
        (0..self.files)
            .filter_map(|file| self.square_at(file, rank))
            .fold(0, |set, square| set | 1 << square)
    }

    /// The set turned by half a turn: White's view becomes Black's.
    #[must_use]
    pub fn half_turn(&self, set: SquareSet) -> SquareSet {
        set.reverse_bits() >> (128 - u32::from(self.bits))
    }

    /// The symmetries under which kings of these rules move alike, as maps
    /// from square to square (unused numbers map to themselves); the identity
    /// comes first. With `men`, only those that keep the men's direction.
    #[must_use]
    pub fn symmetries(&self, rules: &Rules, men: bool) -> Vec<Vec<u8>> {
        let mut maps = Vec::new();
        for turn in 0..8u8 {
            let (swap, flip_file, flip_rank) = (turn & 4 != 0, turn & 1 != 0, turn & 2 != 0);
            if men && (swap || flip_rank) || swap && self.files != self.ranks {
                continue;
            }
            // Every set of king directions of the catalogue is closed under
            // these maps: only a swap of files and ranks could mix classes of
            // directions, and it maps diagonals to diagonals and lines to lines.
            debug_assert!(matches!(
                rules.king_move,
                KingDirections::Diagonal | KingDirections::Straight | KingDirections::AllEight
            ));
            let map: Option<Vec<u8>> = (0..self.bits)
                .map(|square| {
                    if self.playable >> square & 1 == 0 {
                        return Some(square);
                    }
                    let (mut file, mut rank) = self.coordinates(square);
                    if flip_file {
                        file = self.files - 1 - file;
                    }
                    if flip_rank {
                        rank = self.ranks - 1 - rank;
                    }
                    if swap {
                        (file, rank) = (rank, file);
                    }
                    self.square_at(file, rank)
                })
                .collect();
            maps.extend(map);
        }
        maps
    }
}
