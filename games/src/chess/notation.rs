//! Moves as text: UCI and SAN.

use super::board::Kind;
use super::fen::square_name;
use super::game::{Game, Move, Position};

/// Why a text is not a move of a position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MoveTextError {
    /// No legal move reads so.
    #[error("no legal move reads {text:?}")]
    Unknown {
        /// The text.
        text: String,
    },
    /// Several legal moves read so.
    #[error("{text:?} may be any of {moves}")]
    Ambiguous {
        /// The text.
        text: String,
        /// The moves in UCI notation.
        moves: String,
    },
}

impl Game {
    fn upper(&self, kind: Kind) -> char {
        self.rules().letter(kind).unwrap_or('?').to_ascii_uppercase()
    }

    /// The UCI text of a move: both squares, and the small letter of what a
    /// pawn becomes.
    #[must_use]
    pub fn uci(&self, played: &Move) -> String {
        let mut text = square_name(played.from) + &square_name(played.to);
        let promotion = played.promotion().and_then(|kind| self.rules().letter(kind));
        text.extend(promotion);
        text
    }

    /// The legal move of a UCI text.
    ///
    /// # Errors
    ///
    /// [`MoveTextError::Unknown`] if no legal move reads so.
    pub fn parse_uci(&self, position: &Position, text: &str) -> Result<Move, MoveTextError> {
        let legal = self.legal_moves(position);
        let found = legal.into_iter().find(|played| self.uci(played) == text);
        found.ok_or_else(|| MoveTextError::Unknown { text: text.to_owned() })
    }

    /// The SAN text of a legal move: as short as the `legal` moves of the
    /// position allow, with `+` for check and `#` for mate.
    #[must_use]
    pub fn san(&self, position: &Position, played: &Move, legal: &[Move]) -> String {
        let mut text = if played.castles {
            castling(played).to_owned()
        } else {
            self.plain_san(played, legal)
        };
        let next = self.after(position, played);
        if self.in_check(&next) {
            let mated = self.ending(&next).is_some_and(|ending| ending.mated);
            text.push(if mated { '#' } else { '+' });
        }
        text
    }

    fn plain_san(&self, played: &Move, legal: &[Move]) -> String {
        let name = square_name(played.from);
        let (file, rank) = name.split_at(1);
        let pawn = played.kind == Kind::PAWN;
        let rivals: Vec<&Move> = legal
            .iter()
            .filter(|other| {
                other.kind == played.kind
                    && other.to == played.to
                    && other.from != played.from
                    && other.becomes == played.becomes
                    && !other.castles
                    // Captures of pawns are marked and cannot be mistaken.
                    && (!pawn || other.captured.is_some() == played.captured.is_some())
            })
            .collect();
        let same_file = rivals.iter().any(|other| other.from % 8 == played.from % 8);
        let same_rank = rivals.iter().any(|other| other.from / 8 == played.from / 8);
        let origin = match (rivals.is_empty(), same_file, same_rank) {
            (true, ..) if pawn && played.captured.is_some() => file,
            (true, ..) => "",
            (false, false, _) => file,
            // The file of a pawn that captures is always written.
            (false, true, false) if !pawn => rank,
            (false, true, _) => &name,
        };
        let mut text = String::new();
        if !pawn {
            text.push(self.upper(played.kind));
        }
        text += origin;
        if played.captured.is_some() {
            text.push('x');
        }
        text += &square_name(played.to);
        if let Some(kind) = played.promotion() {
            text.push('=');
            text.push(self.upper(kind));
        }
        text
    }

    /// The legal move of a SAN text. Marks of check, mate and judgement are
    /// ignored, `x` and `=` may be missing where nothing depends on them, more
    /// of the start square than needed may be given, and castling may be
    /// written with zeros.
    ///
    /// # Errors
    ///
    /// If no legal move reads so, or several do.
    pub fn parse_san(&self, position: &Position, text: &str) -> Result<Move, MoveTextError> {
        let legal = self.legal_moves(position);
        match self.fitting_san(text, &legal).as_deref() {
            None | Some([]) => Err(MoveTextError::Unknown { text: text.to_owned() }),
            Some([played]) => Ok(*played),
            Some(several) => Err(MoveTextError::Ambiguous {
                text: text.to_owned(),
                moves: several
                    .iter()
                    .map(|played| self.uci(played))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    /// The legal moves that a SAN text may mean, or `None` if it has not the
    /// form of one.
    pub(super) fn fitting_san(&self, text: &str, legal: &[Move]) -> Option<Vec<Move>> {
        let plain = text.trim_end_matches(['+', '#', '!', '?']);
        if matches!(plain, "O-O" | "O-O-O" | "0-0" | "0-0-0") {
            let wanted = plain.replace('0', "O");
            let castles = |played: &&Move| played.castles && castling(played) == wanted;
            return Some(legal.iter().filter(castles).copied().collect());
        }
        let wanted = self.read_san(plain)?;
        let mut found: Vec<Move> = legal.iter().filter(|played| wanted.is(played)).copied().collect();
        if found.len() > 1 {
            // Without `x` a move that takes nothing is meant first.
            let fits = |played: &Move| played.captured.is_some() == wanted.takes;
            if found.iter().any(fits) {
                found.retain(fits);
            }
        }
        Some(found)
    }

    /// The legal moves of a UCI text, or `None` if it has not the form of one.
    pub(super) fn fitting_uci(&self, text: &str, legal: &[Move]) -> Option<Vec<Move>> {
        let is_square = |range| text.get(range).is_some_and(|name| self.square_by_name(name).is_some());
        let mut promotion = text.chars().skip(4);
        let has_form = is_square(0..2)
            && is_square(2..4)
            && promotion
                .next()
                .is_none_or(|letter| self.rules().kind(letter).is_some())
            && promotion.next().is_none();
        has_form.then(|| {
            legal
                .iter()
                .filter(|played| self.uci(played) == text)
                .copied()
                .collect()
        })
    }

    fn read_san(&self, text: &str) -> Option<Wanted> {
        let mut letters: Vec<char> = text.chars().collect();
        let upper = |letter: char| letter.is_ascii_uppercase().then(|| self.rules().kind(letter)).flatten();
        let mut kind = Kind::PAWN;
        if let Some(found) = letters.first().copied().and_then(upper) {
            kind = found;
            letters.remove(0);
        }
        let mut promotion = None;
        if letters.last().is_some_and(char::is_ascii_uppercase) {
            promotion = Some(upper(letters.pop()?)?);
            letters.pop_if(|letter| *letter == '=');
        }
        let takes = letters.iter().filter(|letter| **letter == 'x').count();
        let rank = letters.pop()?;
        let file = letters.pop()?;
        let to = self.square_by_name(&format!("{file}{rank}"))?;
        if takes > 0 && (takes > 1 || letters.pop() != Some('x')) {
            return None;
        }
        // A user's piece may have the letter x, which files do not reach.
        let mut wanted = Wanted {
            kind,
            promotion,
            takes: takes > 0,
            to,
            file: None,
            rank: None,
        };
        for letter in letters {
            match letter {
                'a'..='h' if wanted.file.is_none() && wanted.rank.is_none() => wanted.file = Some(letter as u8 - b'a'),
                '1'..='8' if wanted.rank.is_none() => wanted.rank = Some(letter as u8 - b'1'),
                _ => return None,
            }
        }
        Some(wanted)
    }
}

/// What a SAN text says of a move.
struct Wanted {
    kind: Kind,
    promotion: Option<Kind>,
    takes: bool,
    to: u8,
    file: Option<u8>,
    rank: Option<u8>,
}

impl Wanted {
    fn is(&self, played: &Move) -> bool {
        played.kind == self.kind
            && played.promotion() == self.promotion
            && played.to == self.to
            && !played.castles
            && (!self.takes || played.captured.is_some())
            && self.file.is_none_or(|file| played.from % 8 == file)
            && self.rank.is_none_or(|rank| played.from / 8 == rank)
    }
}

fn castling(played: &Move) -> &'static str {
    if played.to > played.from { "O-O" } else { "O-O-O" }
}
