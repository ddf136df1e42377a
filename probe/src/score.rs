//! Values and distances of positions.

use std::fmt;

use petrov_games::Outcome;

/// What a table says of its positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Metric {
    /// Win, draw or loss.
    Wld,
    /// Plies to the end of the game.
    Dtw,
    /// Plies to the next conversion or the end of the game, under play that
    /// keeps the result.
    Dtz,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 3] = [Self::Wld, Self::Dtw, Self::Dtz];

    /// The name as used in file names and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wld => "wld",
            Self::Dtw => "dtw",
            Self::Dtz => "dtz",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The value of a position for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Value {
    /// The side to move loses.
    Loss,
    /// Neither side can win.
    Draw,
    /// The side to move wins.
    Win,
}

impl Value {
    /// The same result seen by the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// `win`, `draw` or `loss`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        }
    }
}

/// The value of a position for the side to move where the fifty-move rule
/// counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Value50 {
    /// The side to move loses.
    Loss,
    /// It would lose but for the fifty-move rule.
    BlessedLoss,
    /// Neither side can win.
    Draw,
    /// It would win but for the fifty-move rule.
    CursedWin,
    /// The side to move wins.
    Win,
}

impl Value50 {
    /// A value with whether the fifty-move rule spoils it.
    #[must_use]
    pub fn new(value: Value, spoilt: bool) -> Self {
        match (value, spoilt) {
            (Value::Win, false) => Self::Win,
            (Value::Win, true) => Self::CursedWin,
            (Value::Draw, _) => Self::Draw,
            (Value::Loss, true) => Self::BlessedLoss,
            (Value::Loss, false) => Self::Loss,
        }
    }

    /// `win`, `cursed-win`, `draw`, `blessed-loss` or `loss`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::BlessedLoss => "blessed-loss",
            Self::Draw => "draw",
            Self::CursedWin => "cursed-win",
            Self::Win => "win",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value with its distance in plies, in one word; in a WLD table every
/// distance is 0, and draws have distance 0 always.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Score(u16);

impl Score {
    /// Largest distance that a score can hold.
    pub const MAX_DISTANCE: u16 = 0x0fff;
    /// Most plies without a conversion after which a win still counts, where
    /// the fifty-move rule does.
    pub const FIFTY_MOVES: u16 = 100;
    /// A draw.
    pub const DRAW: Self = Self(0);
    const WIN: u16 = 1 << 14;
    const LOSS: u16 = 2 << 14;
    /// A win or loss that the fifty-move rule makes a draw.
    const SPOILT: u16 = 1 << 13;

    #[doc(hidden)]
    /// A win in `distance` plies (at most [`Score::MAX_DISTANCE`]).
    #[inline(always)]
    #[must_use]
    pub fn win(distance: u16) -> Self {
        debug_assert!(distance <= Self::MAX_DISTANCE);
        Self(Self::WIN | distance)
    }

    #[doc(hidden)]
    /// A loss in `distance` plies (at most [`Score::MAX_DISTANCE`]).
    #[inline(always)]
    #[must_use]
    pub fn loss(distance: u16) -> Self {
        debug_assert!(distance <= Self::MAX_DISTANCE);
        Self(Self::LOSS | distance)
    }

    /// A score from its parts; the distance of a draw is ignored.
    #[must_use]
    pub fn new(value: Value, distance: u16) -> Self {
        match value {
            Value::Win => Self::win(distance),
            Value::Draw => Self::DRAW,
            Value::Loss => Self::loss(distance),
        }
    }

    #[doc(hidden)]
    /// The word itself: the distance in the low 12 bits, then one bit that is
    /// always 0, one for a win or loss that the fifty-move rule spoils, then 0
    /// for a draw, 1 for a win, 2 for a loss.
    #[inline(always)]
    #[must_use]
    pub fn to_bits(self) -> u16 {
        self.0
    }

    #[doc(hidden)]
    /// The inverse of [`Score::to_bits`].
    #[inline(always)]
    #[must_use]
    pub fn from_bits(bits: u16) -> Self {
        Self(bits & !(1 << 12))
    }

    #[doc(hidden)]
    /// The win or loss as one that the fifty-move rule spoils: a cursed win or
    /// a blessed loss. A draw stays one.
    #[inline(always)]
    #[must_use]
    pub fn spoilt(self) -> Self {
        if self.is_draw() {
            self
        } else {
            Self(self.0 | Self::SPOILT)
        }
    }

    /// Whether the fifty-move rule spoils the win or loss.
    #[inline(always)]
    #[must_use]
    pub fn is_spoilt(self) -> bool {
        self.0 & Self::SPOILT != 0
    }

    #[doc(hidden)]
    /// The score under the fifty-move rule: spoilt if the distance to the next
    /// conversion is too long.
    #[inline(always)]
    #[must_use]
    pub fn within_fifty_moves(self) -> Self {
        if self.distance() > Self::FIFTY_MOVES {
            self.spoilt()
        } else {
            self
        }
    }

    /// The value.
    #[inline(always)]
    #[must_use]
    pub fn value(self) -> Value {
        if self.is_win() {
            Value::Win
        } else if self.is_loss() {
            Value::Loss
        } else {
            Value::Draw
        }
    }

    /// True for a win.
    #[inline(always)]
    #[must_use]
    pub fn is_win(self) -> bool {
        self.0 & Self::WIN != 0
    }

    /// True for a loss.
    #[inline(always)]
    #[must_use]
    pub fn is_loss(self) -> bool {
        self.0 & Self::LOSS != 0
    }

    /// True for a draw.
    #[inline(always)]
    #[must_use]
    pub fn is_draw(self) -> bool {
        self.0 & (Self::WIN | Self::LOSS) == 0
    }

    /// The distance in plies.
    #[inline(always)]
    #[must_use]
    pub fn distance(self) -> u16 {
        self.0 & Self::MAX_DISTANCE
    }

    #[doc(hidden)]
    /// Larger is better for the side to move: short wins, long wins, the same
    /// of spoilt ones, draws, long spoilt losses, short ones, long losses,
    /// short losses.
    #[inline(always)]
    #[must_use]
    pub fn preference(self) -> i32 {
        let distance = i32::from(self.distance());
        let step = if self.is_spoilt() { 0x2000 } else { 0x4000 };
        match self.value() {
            Value::Win => step - distance,
            Value::Draw => 0,
            Value::Loss => distance - step,
        }
    }

    #[doc(hidden)]
    /// The better of two scores for the side to move, if there are two.
    #[inline(always)]
    #[must_use]
    pub fn better(one: Option<Self>, other: Self) -> Self {
        match one {
            Some(one) if one.preference() >= other.preference() => one,
            _ => other,
        }
    }

    /// The value where the fifty-move rule counts.
    #[must_use]
    pub fn value50(self) -> Value50 {
        Value50::new(self.value(), self.is_spoilt())
    }

    #[doc(hidden)]
    /// What a move is worth to the mover if it leads to a position of this
    /// score (for the other side). `zeroing`: the move is a conversion.
    #[inline(always)]
    #[must_use]
    pub fn before_move(self, metric: Metric, zeroing: bool) -> Self {
        if self.is_draw() {
            return Self::DRAW;
        }
        let distance = match metric {
            Metric::Wld => 0,
            Metric::Dtz if zeroing => 1,
            Metric::Dtw | Metric::Dtz => self.distance() + 1,
        };
        let spoilt = self.0 & Self::SPOILT;
        if self.is_loss() {
            Self(Self::win(distance).0 | spoilt)
        } else {
            Self(Self::loss(distance).0 | spoilt)
        }
    }
}

/// The score of a game that is over.
impl From<Outcome> for Score {
    #[inline(always)]
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Win => Self::win(0),
            Outcome::Draw => Self::DRAW,
            Outcome::Loss => Self::loss(0),
        }
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spoilt = if self.is_spoilt() { "spoilt " } else { "" };
        write!(f, "{spoilt}{} in {}", self.value(), self.distance())
    }
}
