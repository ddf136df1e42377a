//! Material: how many pieces of each kind both sides have.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Most pieces of one side, and most pieces together, that a material may
/// have. Far beyond what can be solved; it keeps every count in a byte.
pub const MAX_PIECES: u8 = 24;

/// The pieces of one side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Army {
    /// Men.
    pub men: u8,
    /// Kings.
    pub kings: u8,
}

impl Army {
    /// All pieces.
    #[must_use]
    pub fn pieces(self) -> u8 {
        self.men + self.kings
    }

    /// More pieces is greater; with equal numbers more kings is.
    fn key(self) -> (u8, u8) {
        (self.pieces(), self.kings)
    }
}

impl Ord for Army {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Army {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Army {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.kings {
            f.write_str("K")?;
        }
        for _ in 0..self.men {
            f.write_str("M")?;
        }
        Ok(())
    }
}

/// The pieces of both sides in canonical colours: the greater army is White's
/// (more pieces; with equal numbers more kings).
///
/// ```
/// use petrov_probe::Material;
/// let material: Material = "KvKMM".parse()?;
/// assert_eq!(material.to_string(), "KMMvK");
/// # Ok::<(), petrov_probe::MaterialError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Material {
    white: Army,
    black: Army,
}

impl Material {
    /// The canonical material of two armies.
    #[must_use]
    pub fn new(one: Army, other: Army) -> Self {
        if one >= other {
            Self {
                white: one,
                black: other,
            }
        } else {
            Self {
                white: other,
                black: one,
            }
        }
    }

    /// The greater army.
    #[must_use]
    pub fn white(self) -> Army {
        self.white
    }

    /// The smaller army.
    #[must_use]
    pub fn black(self) -> Army {
        self.black
    }

    /// All pieces.
    #[must_use]
    pub fn pieces(self) -> u8 {
        self.white.pieces() + self.black.pieces()
    }

    /// All men.
    #[must_use]
    pub fn men(self) -> u8 {
        self.white.men + self.black.men
    }

    /// Both sides have the same pieces: one side to move stands for both.
    #[must_use]
    pub fn is_even(self) -> bool {
        self.white == self.black
    }

    /// The views of the sides to move that a table holds: (own, opponent)
    /// armies, White to move first; one view if both sides are alike.
    #[must_use]
    pub fn views(self) -> &'static [View] {
        if self.is_even() {
            &[View::White]
        } else {
            &[View::White, View::Black]
        }
    }

    /// The army of the side to move and of the other side in a view.
    #[must_use]
    pub fn armies(self, view: View) -> (Army, Army) {
        match view {
            View::White => (self.white, self.black),
            View::Black => (self.black, self.white),
        }
    }

    /// All materials of exactly `pieces` pieces with both sides present, in
    /// the order in which they can be solved: fewer men first.
    #[must_use]
    pub fn with_pieces(pieces: u8) -> Vec<Self> {
        let mut all = Vec::new();
        for white in 1..pieces {
            let black = pieces - white;
            for white_men in 0..=white {
                for black_men in 0..=black {
                    let material = Self {
                        white: Army {
                            men: white_men,
                            kings: white - white_men,
                        },
                        black: Army {
                            men: black_men,
                            kings: black - black_men,
                        },
                    };
                    if material.white >= material.black {
                        all.push(material);
                    }
                }
            }
        }
        all.sort_by_key(|m| {
            (
                m.men(),
                std::cmp::Reverse(m.white.key()),
                std::cmp::Reverse(m.black.key()),
            )
        });
        all
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
    "`{text}` is not a material: expected K (king) and M (man) for one side, `v`, and the other side, such as KKMvKM"
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
            let mut army = Army::default();
            if side.is_empty() || side.len() > usize::from(MAX_PIECES) {
                return Err(error());
            }
            for letter in side.chars() {
                match letter {
                    'K' | 'k' => army.kings += 1,
                    'M' | 'm' => army.men += 1,
                    _ => return Err(error()),
                }
            }
            Ok(army)
        };
        let (one, other) = text.split_once(['v', 'V']).ok_or_else(error)?;
        let material = Self::new(army(one)?, army(other)?);
        if material.pieces() > MAX_PIECES {
            return Err(error());
        }
        Ok(material)
    }
}
