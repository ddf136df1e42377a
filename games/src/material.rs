//! Material: how many pieces of each kind both sides have.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Most pieces of one side, and most pieces together, that the text of a
/// material may have. Far beyond what can be solved.
pub const MAX_PIECES: u8 = 24;

/// The letters of pieces in the order in which a material lists them: king,
/// queen, rook, bishop, knight, the letters of other pieces, pawn. Draughts
/// have K and M.
const LETTERS: [u8; 26] = *b"KQRBNACDEFGHIJLMOSTUVWXYZP";

/// The place of a capital letter in [`LETTERS`].
const PLACES: [u8; 26] = {
    let mut places = [0; 26];
    let mut place = 0;
    while place < 26 {
        places[(LETTERS[place] - b'A') as usize] = place as u8;
        place += 1;
    }
    places
};

/// The pieces of one side. More pieces is greater; with equal numbers more
/// of the first kind in which they differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Army {
    counts: [u8; 26],
}

impl Army {
    /// No piece at all.
    pub const EMPTY: Self = Self { counts: [0; 26] };

    /// The army with `count` more pieces of a capital letter. Other
    /// characters than A to Z change nothing.
    #[must_use]
    pub fn with(mut self, letter: u8, count: u8) -> Self {
        if let Some(place) = PLACES.get(usize::from(letter.wrapping_sub(b'A'))) {
            let number = &mut self.counts[usize::from(*place)];
            *number = number.saturating_add(count);
        }
        self
    }

    /// The army with `count` fewer pieces of a capital letter, at least none.
    #[must_use]
    pub fn without(mut self, letter: u8, count: u8) -> Self {
        if let Some(place) = PLACES.get(usize::from(letter.wrapping_sub(b'A'))) {
            let number = &mut self.counts[usize::from(*place)];
            *number = number.saturating_sub(count);
        }
        self
    }

    /// Pieces of a capital letter.
    #[must_use]
    pub fn count(&self, letter: u8) -> u8 {
        PLACES
            .get(usize::from(letter.wrapping_sub(b'A')))
            .map_or(0, |place| self.counts[usize::from(*place)])
    }

    /// Letters with how many pieces have them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        let pairs = LETTERS.iter().zip(self.counts);
        pairs
            .filter(|(_, count)| *count > 0)
            .map(|(letter, count)| (*letter, count))
    }

    /// All pieces.
    #[must_use]
    pub fn pieces(&self) -> u8 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl Ord for Army {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.pieces(), self.counts).cmp(&(other.pieces(), other.counts))
    }
}

impl PartialOrd for Army {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Army {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, count) in self.iter() {
            for _ in 0..count {
                write!(f, "{}", char::from(letter))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Army {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Army({self})")
    }
}

/// The pieces of both sides in canonical colours: the greater army is White's
/// (more pieces; with equal numbers more of the first kind that differs).
///
/// ```
/// use petrov_games::Material;
/// let material: Material = "KvKMM".parse()?;
/// assert_eq!(material.to_string(), "KMMvK");
/// let material: Material = "KPvKR".parse()?;
/// assert_eq!(material.to_string(), "KRvKP");
/// # Ok::<(), petrov_games::MaterialError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Material {
    white: Army,
    black: Army,
}

impl Material {
    /// The canonical material of two armies.
    #[must_use]
    pub fn new(one: Army, other: Army) -> Self {
        let (white, black) = if one >= other { (one, other) } else { (other, one) };
        Self { white, black }
    }

    /// The greater army.
    #[must_use]
    pub fn white(&self) -> Army {
        self.white
    }

    /// The smaller army.
    #[must_use]
    pub fn black(&self) -> Army {
        self.black
    }

    /// All pieces.
    #[must_use]
    pub fn pieces(&self) -> u8 {
        self.white.pieces().saturating_add(self.black.pieces())
    }

    /// Pieces of a capital letter, of both sides.
    #[must_use]
    pub fn count(&self, letter: u8) -> u8 {
        self.white.count(letter).saturating_add(self.black.count(letter))
    }

    /// Both sides have the same pieces: one side to move stands for both.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.white == self.black
    }

    /// The views of the sides to move that a table holds: (own, opponent)
    /// armies, White to move first; one view if both sides are alike.
    #[must_use]
    pub fn views(&self) -> &'static [View] {
        if self.is_even() {
            &[View::White]
        } else {
            &[View::White, View::Black]
        }
    }

    /// The army of the side to move and of the other side in a view.
    #[must_use]
    pub fn armies(&self, view: View) -> (Army, Army) {
        match view {
            View::White => (self.white, self.black),
            View::Black => (self.black, self.white),
        }
    }
}

/// Which side of a canonical material is to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum View {
    /// The greater army is to move.
    White,
    /// The smaller army is to move.
    Black,
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.white, self.black)
    }
}

/// A text that is not a material.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{text}` is not a material: expected the letters of one side's pieces, `v`, and the other side's, such as \
     KKMvKM (draughts: K king, M man) or KRPvKR (chess)"
)]
pub struct MaterialError {
    text: String,
}

impl FromStr for Material {
    type Err = MaterialError;

    fn from_str(text: &str) -> Result<Self, MaterialError> {
        let error = || MaterialError {
            text: text.chars().take(40).collect(),
        };
        let army = |side: &str| {
            let mut army = Army::EMPTY;
            if side.is_empty() || side.len() > usize::from(MAX_PIECES) {
                return Err(error());
            }
            for letter in side.bytes() {
                if !letter.is_ascii_alphabetic() {
                    return Err(error());
                }
                army = army.with(letter.to_ascii_uppercase(), 1);
            }
            Ok(army)
        };
        // A small v divides; a capital one only where there is no small one,
        // as it may also be the letter of a piece.
        let (one, other) = text
            .split_once('v')
            .or_else(|| text.split_once('V'))
            .filter(|(_, other)| !other.contains('v'))
            .ok_or_else(error)?;
        let material = Self::new(army(one)?, army(other)?);
        if material.pieces() > MAX_PIECES {
            return Err(error());
        }
        Ok(material)
    }
}
