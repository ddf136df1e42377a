//! Positions and moves as text.

use super::game::Game;
use super::position::{Colour, Move, Position};
use super::rules::Goal;

/// Longest position text read. A full board of 120 squares takes about 650.
const LONGEST_FEN: usize = 1024;

/// Why a text is not a position of a game. Each message is one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FenError {
    /// Nothing but white space.
    #[error("the position is empty; expected a text such as `{example}`")]
    Empty {
        /// The start position.
        example: String,
    },
    /// Longer than any position.
    #[error("the position has {length} characters; expected at most {LONGEST_FEN}")]
    TooLong {
        /// Bytes of the text.
        length: usize,
    },
    /// A character outside ASCII, or a control character.
    #[error("character {found:?} at column {column}; expected plain ASCII text on one line")]
    Character {
        /// The character.
        found: char,
        /// Its place, from 1.
        column: usize,
    },
    /// The first field is neither `W` nor `B`.
    #[error("side to move {found:?}; expected `W` or `B` before the first `:`")]
    SideToMove {
        /// The first field.
        found: String,
    },
    /// A field that begins with neither `W` nor `B`.
    #[error("field {found:?}; expected `W` or `B` and a list of squares")]
    Field {
        /// The field.
        found: String,
    },
    /// A colour has no field.
    #[error("the field of {} is missing; expected `:{}` and a list of squares, which may be empty", name(*.0), letter(*.0))]
    MissingColour(Colour),
    /// A colour has two fields.
    #[error("two fields for {}; expected one field `W...` and one field `B...`", name(*.0))]
    DuplicateColour(Colour),
    /// Something follows the second colour's field.
    #[error("{found:?} after the two lists of squares; expected the end of the position")]
    Trailing {
        /// What follows.
        found: String,
    },
    /// Nothing between two commas.
    #[error("an empty entry in the list of {}; expected a square between commas", name(*.0))]
    EmptyEntry(Colour),
    /// Not the name of a playable square.
    #[error(
        "unknown square {found:?}; expected one of the {count} squares from {first} to {last}, `K` before a king's"
    )]
    UnknownSquare {
        /// The entry.
        found: String,
        /// Number of squares.
        count: usize,
        /// Name of the first square.
        first: String,
        /// Name of the last square.
        last: String,
    },
    /// Two pieces on one square.
    #[error("square {square} is given twice; expected at most one piece on a square")]
    Overlap {
        /// The square.
        square: String,
    },
    /// A man that must be a king.
    #[error("{}'s man on {square}, its promotion row; expected a king (`K{square}`) there", name(*.colour))]
    ManOnPromotionRow {
        /// The man's side.
        colour: Colour,
        /// Its square.
        square: String,
    },
    /// No pieces.
    #[error("neither side has a piece; expected at least one piece")]
    NoPieces,
    /// Both sides have reached the goal of the game.
    #[error("{condition}, which ends this game for either side; expected at most one side like that")]
    BothFinished {
        /// What both sides have.
        condition: &'static str,
    },
}

/// The name of a side, for messages.
fn name(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "White",
        Colour::Black => "Black",
    }
}

fn letter(colour: Colour) -> char {
    match colour {
        Colour::White => 'W',
        Colour::Black => 'B',
    }
}

fn colour_of(letter: char) -> Option<Colour> {
    [Colour::White, Colour::Black]
        .into_iter()
        .find(|&colour| self::letter(colour) == letter)
}

impl Game {
    /// Reads a position, such as `W:WKa1,b2:BKh8`.
    ///
    /// The two lists may come in either order, squares in any order; white
    /// space around the parts and a full stop at the end are let pass.
    ///
    /// # Errors
    ///
    /// A [`FenError`] that names what was found and what was expected.
    pub fn parse_fen(&self, text: &str) -> Result<Position, FenError> {
        if text.len() > LONGEST_FEN {
            return Err(FenError::TooLong { length: text.len() });
        }
        let strange = |c: &char| !c.is_ascii() || c.is_ascii_control() && !c.is_ascii_whitespace();
        if let Some((index, found)) = text.chars().enumerate().find(|(_, c)| strange(c)) {
            return Err(FenError::Character {
                found,
                column: index + 1,
            });
        }
        let text = text.trim();
        let text = text.strip_suffix('.').unwrap_or(text).trim_end();
        if text.is_empty() {
            return Err(FenError::Empty {
                example: self.format_fen(&self.start()),
            });
        }
        let mut fields = text.splitn(4, ':').map(str::trim);
        let side = fields.next().unwrap_or_default();
        let turn = single(side)
            .and_then(colour_of)
            .ok_or_else(|| FenError::SideToMove { found: side.to_owned() })?;
        let mut position = Position {
            men: [0; 2],
            kings: [0; 2],
            turn,
        };
        let mut seen = [false; 2];
        for field in fields.by_ref().take(2) {
            let colour = field
                .chars()
                .next()
                .and_then(colour_of)
                .ok_or_else(|| FenError::Field {
                    found: field.to_owned(),
                })?;
            if std::mem::replace(&mut seen[colour as usize], true) {
                return Err(FenError::DuplicateColour(colour));
            }
            self.read_list(&mut position, colour, field[1..].trim_start())?;
        }
        if let Some(colour) = [Colour::White, Colour::Black]
            .into_iter()
            .find(|&colour| !seen[colour as usize])
        {
            return Err(FenError::MissingColour(colour));
        }
        if let Some(rest) = fields.next() {
            return Err(FenError::Trailing {
                found: format!(":{rest}"),
            });
        }
        if position.occupied() == 0 {
            return Err(FenError::NoPieces);
        }
        if self.won(&position) == [true, true] {
            let condition = match self.rules().goal {
                Goal::Breakthrough => "both sides have a king",
                Goal::Ghana => "both sides have at most one piece",
                Goal::Normal | Goal::Misere => "both sides are empty",
            };
            return Err(FenError::BothFinished { condition });
        }
        Ok(position)
    }

    /// Adds the pieces of one list to the position.
    fn read_list(&self, position: &mut Position, colour: Colour, list: &str) -> Result<(), FenError> {
        if list.is_empty() {
            return Ok(());
        }
        let last_rank = match colour {
            Colour::White => self.board().ranks() - 1,
            Colour::Black => 0,
        };
        for entry in list.split(',').map(str::trim) {
            if entry.is_empty() {
                return Err(FenError::EmptyEntry(colour));
            }
            // Letters of files are small, so a large K is no file.
            let (king, square_name) = entry.strip_prefix('K').map_or((false, entry), |rest| (true, rest));
            let square = self
                .square_by_name(square_name)
                .ok_or_else(|| self.unknown_square(entry))?;
            let bit = 1 << square;
            if position.occupied() & bit != 0 {
                return Err(FenError::Overlap {
                    square: square_name.to_owned(),
                });
            }
            if king {
                position.kings[colour as usize] |= bit;
            } else if self.board().coordinates(square).1 == last_rank {
                return Err(FenError::ManOnPromotionRow {
                    colour,
                    square: square_name.to_owned(),
                });
            } else {
                position.men[colour as usize] |= bit;
            }
        }
        Ok(())
    }

    fn unknown_square(&self, found: &str) -> FenError {
        let order = self.names().order();
        let name = |square: Option<&u8>| square.map_or_else(String::new, |&square| self.square_name(square));
        FenError::UnknownSquare {
            found: found.to_owned(),
            count: order.len(),
            first: name(order.first()),
            last: name(order.last()),
        }
    }

    /// Writes a position: White's list first, squares in the order of their
    /// names (algebraic ones rank by rank from a1).
    #[must_use]
    pub fn format_fen(&self, position: &Position) -> String {
        let list = |colour: Colour| {
            let (men, kings) = (position.men[colour as usize], position.kings[colour as usize]);
            let pieces = self
                .names()
                .order()
                .iter()
                .filter(|&square| (men | kings) >> square & 1 == 1);
            let entries = pieces.map(|&square| {
                let king = if kings >> square & 1 == 1 { "K" } else { "" };
                format!("{king}{}", self.names().name(square))
            });
            entries.collect::<Vec<_>>().join(",")
        };
        format!(
            "{}:W{}:B{}",
            letter(position.turn),
            list(Colour::White),
            list(Colour::Black)
        )
    }

    /// The text of a legal move, distinct from those of all others in `legal`.
    ///
    /// `from-to` or `fromxto`. Captures that would share the text but take
    /// other pieces have the landing squares of one route written out; where
    /// only the kind of piece after the move differs, `=K` marks the king.
    ///
    /// `route` gives the landing squares of one route of a capture in order,
    /// without the start and with the end; it is asked only where needed.
    #[must_use]
    pub fn move_text(&self, played: &Move, legal: &[Move], route: impl Fn(&Move) -> Vec<u8>) -> String {
        let name = |square: u8| self.names().name(square);
        if played.captured == 0 {
            return format!("{}-{}", name(played.from), name(played.to));
        }
        let rivals = legal
            .iter()
            .filter(|m| m.from == played.from && m.to == played.to && m.captured != 0 && *m != played);
        let (mut takes_other, mut other_kind) = (false, false);
        for rival in rivals {
            takes_other |= rival.captured != played.captured;
            other_kind |= rival.captured == played.captured && rival.to_king != played.to_king;
        }
        let landings = if takes_other { route(played) } else { vec![played.to] };
        let mut text = name(played.from).to_owned();
        for square in landings {
            text.push('x');
            text.push_str(name(square));
        }
        if other_kind && played.to_king {
            text.push_str("=K");
        }
        text
    }
}

/// The only character of a text.
fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

#[cfg(test)]
mod tests;
