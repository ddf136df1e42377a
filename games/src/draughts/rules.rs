//! The axes in which draughts games differ, as plain values.
//!
//! Names and values are those of the rule files; `parse.rs` reads them.

/// Which squares of the rectangle are playable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SquareKind {
    /// File index plus rank index even: a1 is playable.
    Dark,
    /// File index plus rank index odd: the reflection of `Dark`.
    Mirror,
    /// Every square.
    All,
}

/// How squares are named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NameStyle {
    /// File letter and rank number; ten files leave out j.
    Algebraic,
    /// Numbers from the top rank down, left to right as White sees it.
    NumberTop,
    /// Numbers from the bottom right corner, right to left, bottom to top.
    NumberBottomRight,
}

/// Quiet moves of men.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ManMove {
    /// One step diagonally forward.
    DiagonalForward,
    /// One step forward, left or right.
    StraightForwardSide,
    /// One step forward, left, right or diagonally forward.
    StraightForwardSideDiagonalForward,
}

/// Directions in which men jump.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ManCapture {
    /// Diagonally forward.
    DiagonalForward,
    /// In all four diagonal directions.
    DiagonalAll,
    /// In all eight directions.
    AllEight,
    /// Straight forward, left and right.
    StraightForwardSide,
    /// In all four straight directions.
    StraightAll,
}

/// Directions of a king.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KingDirections {
    /// The four diagonals.
    Diagonal,
    /// Files and ranks.
    Straight,
    /// All eight.
    AllEight,
}

/// Where a flying king may land behind the piece it jumps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KingLand {
    /// On any empty square up to the next obstacle.
    Any,
    /// On the square right behind only.
    Adjacent,
    /// Anywhere, but right behind if the last piece of the chain is a king.
    AdjacentIfLastIsKing,
}

/// Which of the complete chains may be played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Priority {
    /// Any.
    Free,
    /// Most pieces.
    Count,
    /// Most pieces, then most kings.
    CountKings,
    /// Most pieces, then most kings, then those made by a king.
    CountKingsWithKing,
    /// Most pieces, by a king, most kings, kings met earliest.
    Italian,
    /// Highest value (man 100, king 199), then those made by a king.
    Frisian,
    /// By a king if a king can capture; no counting.
    KingFirst,
}

/// When captured pieces leave the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Removal {
    /// After the chain has ended; until then they block.
    After,
    /// Each before the next jump.
    AtOnce,
}

/// What happens to a man that lands on the last row during a capture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PromoCapture {
    /// It becomes a king and the move ends.
    Stop,
    /// It goes on as a man and is crowned only if the chain ends there.
    Pass,
    /// It goes on as a king.
    Continue,
}

/// How the game is won.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Goal {
    /// A side without a legal move has lost.
    Normal,
    /// A side without a legal move has won.
    Misere,
    /// As normal, and the first to make a king wins.
    Breakthrough,
    /// As normal, and a side reduced to one piece has lost.
    Ghana,
}

/// One complete set of draughts rules. Axes that are void for the others'
/// values (see [`Rules::normalised`]) still hold some value here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// Files of the board.
    pub files: u8,
    /// Ranks of the board.
    pub ranks: u8,
    /// Playable squares.
    pub squares: SquareKind,
    /// Names of squares.
    pub names: NameStyle,
    /// True if White moves first in the start position.
    pub white_first: bool,
    /// Ranks of men in the start position, counted from each side's own first
    /// rank, both inclusive and from 1.
    pub rows: (u8, u8),
    /// Quiet moves of men.
    pub man_move: ManMove,
    /// Men may leap over an own piece as a quiet move.
    pub man_leap_own: bool,
    /// Jumps of men.
    pub man_capture: ManCapture,
    /// Men may jump kings.
    pub man_takes_king: bool,
    /// Kings move any number of squares.
    pub king_flying: bool,
    /// Quiet moves of kings.
    pub king_move: KingDirections,
    /// Jumps of kings.
    pub king_capture: KingDirections,
    /// Landing squares of flying kings.
    pub king_land: KingLand,
    /// A landing square with a further jump must be preferred.
    pub king_must_extend: bool,
    /// Captures are compulsory.
    pub forced: bool,
    /// Choice between captures.
    pub priority: Priority,
    /// When captured pieces leave the board.
    pub removal: Removal,
    /// A chain may turn back by 180 degrees.
    pub u_turn: bool,
    /// Promotion during a capture.
    pub promo_capture: PromoCapture,
    /// Goal of the game.
    pub goal: Goal,
}
