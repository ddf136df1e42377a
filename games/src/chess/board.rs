//! Kinds of pieces, placements and the symmetries of the board.

pub use crate::piece::{Kind, Side};

/// Stands for "no square" where a square is stored as a number.
pub const NO_SQUARE: u8 = 64;

impl Kind {
    /// Letter q.
    pub const QUEEN: Self = Self::new(1);
    /// Letter r.
    pub const ROOK: Self = Self::new(2);
    /// Letter b.
    pub const BISHOP: Self = Self::new(3);
    /// Letter n.
    pub const KNIGHT: Self = Self::new(4);
    /// Letter p.
    pub const PAWN: Self = Self::STANDING;
}

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Kinds(u16);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);

    /// The set with one more kind.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind.index())
    }

    /// Whether the kind is in the set.
    #[must_use]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind.index() & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The kinds in their order.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        (0..16).map(Kind::new).filter(move |kind| self.has(*kind))
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<T: IntoIterator<Item = Kind>>(kinds: T) -> Self {
        kinds.into_iter().fold(Self::NONE, Self::with)
    }
}

/// Bits of [`Board::castling`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CastlingRight {
    /// The side to move, with the rook of the last file.
    OwnShort = 1,
    /// The side to move, with the rook of the first file.
    OwnLong = 2,
    /// The other side, with the rook of the last file.
    OpponentShort = 4,
    /// The other side, with the rook of the first file.
    OpponentLong = 8,
}

/// The pieces of both sides as the side to move sees them. For Black the
/// board is flipped: rank 1 is the mover's first rank, files stay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Board {
    /// Squares of the side to move.
    pub own: u64,
    /// Squares of the other side.
    pub opponent: u64,
    /// The kind's index on each occupied square, one bit of it per word.
    planes: [u64; 4],
    /// The square passed by a double step that may be taken en passant, or
    /// [`NO_SQUARE`].
    pub en_passant: u8,
    /// Sum of [`CastlingRight`]s.
    pub castling: u8,
}

impl Default for Board {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Board {
    /// No piece at all.
    pub const EMPTY: Self = Self {
        own: 0,
        opponent: 0,
        planes: [0; 4],
        en_passant: NO_SQUARE,
        castling: 0,
    };

    /// All pieces.
    #[must_use]
    #[inline(always)]
    pub fn occupied(&self) -> u64 {
        self.own | self.opponent
    }

    /// The pieces of a side.
    #[must_use]
    #[inline(always)]
    pub fn side(&self, side: Side) -> u64 {
        match side {
            Side::Own => self.own,
            Side::Opponent => self.opponent,
        }
    }

    /// All squares with a piece of the kind, of both sides.
    #[must_use]
    #[inline(always)]
    pub fn of(&self, kind: Kind) -> u64 {
        let mut set = self.occupied();
        for (bit, plane) in self.planes.iter().enumerate() {
            set &= if kind.index() >> bit & 1 == 1 { *plane } else { !*plane };
        }
        set
    }

    /// The kind of the piece on an occupied square; meaningless elsewhere.
    #[must_use]
    #[inline(always)]
    pub fn kind_at(&self, square: u8) -> Kind {
        let bit = |plane: u64| (plane >> (square & 63) & 1) as u8;
        let [a, b, c, d] = self.planes;
        Kind::new(bit(a) | bit(b) << 1 | bit(c) << 2 | bit(d) << 3)
    }

    /// Puts a piece on an empty square.
    #[inline(always)]
    pub fn put(&mut self, kind: Kind, side: Side, square: u8) {
        let square = 1 << (square & 63);
        match side {
            Side::Own => self.own |= square,
            Side::Opponent => self.opponent |= square,
        }
        for (bit, plane) in self.planes.iter_mut().enumerate() {
            // All ones if the bit is set, so that no branch is needed.
            *plane |= square & (kind.index() as u64 >> bit & 1).wrapping_neg();
        }
    }

    /// Puts pieces of one kind on empty squares.
    #[inline(always)]
    pub fn put_all(&mut self, kind: Kind, side: Side, squares: u64) {
        match side {
            Side::Own => self.own |= squares,
            Side::Opponent => self.opponent |= squares,
        }
        for (bit, plane) in self.planes.iter_mut().enumerate() {
            *plane |= squares & (kind.index() as u64 >> bit & 1).wrapping_neg();
        }
    }

    /// Empties a square.
    #[inline(always)]
    pub fn remove(&mut self, square: u8) {
        let rest = !(1u64 << (square & 63));
        self.own &= rest;
        self.opponent &= rest;
        for plane in &mut self.planes {
            *plane &= rest;
        }
    }

    /// The kinds on the board.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        crate::bits::Bits::squares(self.occupied())
            .map(|square| self.kind_at(square))
            .collect()
    }

    /// The same placement as the other side sees it, on a board of so many
    /// ranks.
    #[must_use]
    #[inline(always)]
    pub fn turned(&self, ranks: u8) -> Self {
        let spare = u32::from(8 - ranks) * 8;
        let flip = |set: u64| set.swap_bytes() >> spare;
        Self {
            own: flip(self.opponent),
            opponent: flip(self.own),
            planes: self.planes.map(flip),
            en_passant: flipped(self.en_passant, ranks),
            castling: (self.castling >> 2 | self.castling << 2) & 15,
        }
    }

    /// The placement with every piece moved by `image`, which must be a
    /// bijection of the board's squares. Castling rights are lost.
    #[must_use]
    pub fn mapped(&self, image: &[u8; 64]) -> Self {
        let map =
            |set: u64| crate::bits::Bits::squares(set).fold(0, |out, square| out | 1u64 << image[square as usize]);
        Self {
            own: map(self.own),
            opponent: map(self.opponent),
            planes: self.planes.map(map),
            en_passant: image.get(usize::from(self.en_passant)).copied().unwrap_or(NO_SQUARE),
            castling: 0,
        }
    }
}

/// A square as the other side sees it; [`NO_SQUARE`] stays.
#[inline(always)]
pub(super) fn flipped(square: u8, ranks: u8) -> u8 {
    if square == NO_SQUARE {
        NO_SQUARE
    } else {
        (ranks - 1 - square / 8) * 8 + square % 8
    }
}

/// One of the eight symmetries of a square; boards that are not square keep
/// only those that leave files and ranks apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// Moves nothing.
    pub const IDENTITY: Self = Self(0);
    /// Left and right change places.
    pub const MIRROR: Self = Self(1);
    const FLIP: u8 = 2;
    const TRANSPOSE: u8 = 4;

    /// All eight, the identity first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..8).map(Self)
    }

    /// Whether files become ranks.
    #[must_use]
    pub fn swaps_axes(self) -> bool {
        self.0 & Self::TRANSPOSE != 0
    }

    /// The image of a step of `dx` files and `dy` ranks.
    #[must_use]
    pub fn turn(self, (dx, dy): (i8, i8)) -> (i8, i8) {
        let (dx, dy) = if self.swaps_axes() { (dy, dx) } else { (dx, dy) };
        let sign = |bit: u8| if self.0 & bit == 0 { 1 } else { -1 };
        (dx * sign(1), dy * sign(Self::FLIP))
    }

    /// The image of a square of a board; the board must be square if files
    /// become ranks.
    #[must_use]
    pub fn image(self, square: u8, files: u8, ranks: u8) -> u8 {
        let (mut file, mut rank) = (square % 8, square / 8);
        if self.swaps_axes() {
            (file, rank) = (rank, file);
        }
        if self.0 & 1 != 0 {
            file = files - 1 - file;
        }
        if self.0 & Self::FLIP != 0 {
            rank = ranks - 1 - rank;
        }
        rank * 8 + file
    }
}
