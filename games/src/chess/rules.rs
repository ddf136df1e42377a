//! The axes in which chess games differ, as plain values.
//!
//! Names and values are those of the rule files; `parse.rs` reads them. The
//! default is chess.

use super::board::Kind;

/// How pawns move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pawn {
    /// Straight forward, capturing diagonally forward.
    Orthodox,
    /// Diagonally forward, capturing straight forward; never en passant.
    Berolina,
}

/// What a side gets that cannot move and is not in check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stalemate {
    /// A draw.
    Draw,
    /// A loss.
    Loses,
    /// A win.
    Wins,
    /// A win for the side with fewer pieces, a draw between equal numbers.
    FewerWins,
}

/// What the game is played for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Goal {
    /// To mate the king, of which each side has one.
    Mate,
    /// To lose all pieces; kings are ordinary pieces.
    LoseAll,
}

/// What knights a knight's move apart lend each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PairKnight {
    /// Nothing.
    None,
    /// Their moves, besides each one's own.
    Add,
    /// Their moves, and none has its own.
    Instead,
}

/// What must be empty for a pair's bishop or rook to move along its line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PairLine {
    /// Every square strictly between start and target but the partner's.
    Path,
    /// The whole line from edge to edge but the pair's squares.
    Whole,
}

/// How a piece moves: steps of files and ranks as White sees them, in the
/// canonical form in which every step is listed once.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PieceMoves {
    /// Steps taken once, in all eight symmetries.
    pub leaps: Vec<(i8, i8)>,
    /// Steps repeated while squares are empty, in all eight symmetries.
    pub slides: Vec<(i8, i8)>,
    /// As `leaps`, only as written; turned upside down for Black.
    pub leaps_exact: Vec<(i8, i8)>,
    /// As `slides`, only as written; turned upside down for Black.
    pub slides_exact: Vec<(i8, i8)>,
}

/// A kind of piece other than the pawn.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Piece {
    /// Its letter, lower case.
    pub letter: char,
    /// How it moves.
    pub moves: PieceMoves,
}

/// What pawns become.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Promotion {
    /// Any of these letters.
    Any(Vec<char>),
    /// The letter of the file on which it arrives, first file first.
    ByFile(Vec<char>),
}

/// One set of values for all axes of the chess family.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rules {
    /// Files of the board.
    pub files: u8,
    /// Ranks of the board.
    pub ranks: u8,
    /// Pieces other than the pawn: k, q, r, b, n, then the user's letters in
    /// alphabetical order. The index is the [`Kind`]'s.
    pub pieces: Vec<Piece>,
    /// FEN of the start position; `None` if the rules have none.
    pub start: Option<String>,
    /// Orthodox castling.
    pub castling: bool,
    /// Lowest rank on which pawns stand, from each side's own first rank.
    pub pawn_rank: u8,
    /// How pawns move.
    pub pawn: Pawn,
    /// Pawns also capture diagonally backward.
    pub pawn_backward_capture: bool,
    /// Pawns on their start rank capture.
    pub pawn_first_capture: bool,
    /// Pawns beside their own king move and capture to all three squares
    /// ahead.
    pub pawn_guard: bool,
    /// Pawns on their start rank may step twice.
    pub double_step: bool,
    /// Pawns that stepped twice can be taken on the square between.
    pub en_passant: bool,
    /// Rank on which pawns promote.
    pub promotion_rank: u8,
    /// What they become.
    pub promote_to: Promotion,
    /// What a side gets that cannot move and is not in check.
    pub stalemate: Stalemate,
    /// Goal of the game.
    pub goal: Goal,
    /// A side that can capture must.
    pub capture_compulsory: bool,
    /// A side left with its king alone loses.
    pub bare_king: bool,
    /// A win does not count that takes more than 100 plies without a capture
    /// or pawn move.
    pub fifty_moves: bool,
    /// Pieces a knight's move from an own knight also move as knights.
    pub relay: bool,
    /// Bishops side by side hop along their line to every second square.
    pub pair_bishop: bool,
    /// Rooks diagonally adjacent slide along their diagonal.
    pub pair_rook: bool,
    /// Knights a knight's move apart lend each other their moves.
    pub pair_knight: PairKnight,
    /// What must be empty on a pair's line.
    pub pair_line: PairLine,
    /// A pair's line goes on behind the partner.
    pub pair_partner_passes: bool,
    /// Moves of pairs may capture.
    pub pair_capture: bool,
}

impl Default for Rules {
    /// Chess.
    fn default() -> Self {
        let piece = |letter, leaps: &[(i8, i8)], slides: &[(i8, i8)]| Piece {
            letter,
            moves: PieceMoves {
                leaps: leaps.to_vec(),
                slides: slides.to_vec(),
                ..PieceMoves::default()
            },
        };
        Self {
            files: 8,
            ranks: 8,
            pieces: vec![
                piece('k', &[(1, 0), (1, 1)], &[]),
                piece('q', &[], &[(1, 0), (1, 1)]),
                piece('r', &[], &[(1, 0)]),
                piece('b', &[], &[(1, 1)]),
                piece('n', &[(2, 1)], &[]),
            ],
            start: Some("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned()),
            castling: true,
            pawn_rank: 2,
            pawn: Pawn::Orthodox,
            pawn_backward_capture: false,
            pawn_first_capture: true,
            pawn_guard: false,
            double_step: true,
            en_passant: true,
            promotion_rank: 8,
            promote_to: Promotion::Any(vec!['q', 'r', 'b', 'n']),
            stalemate: Stalemate::Draw,
            goal: Goal::Mate,
            capture_compulsory: false,
            bare_king: false,
            fifty_moves: true,
            relay: false,
            pair_bishop: false,
            pair_rook: false,
            pair_knight: PairKnight::None,
            pair_line: PairLine::Path,
            pair_partner_passes: true,
            pair_capture: true,
        }
    }
}

impl Rules {
    /// The kind of a letter of either case.
    #[must_use]
    pub fn kind(&self, letter: char) -> Option<Kind> {
        let letter = letter.to_ascii_lowercase();
        if letter == 'p' {
            return Some(Kind::PAWN);
        }
        let index = self.pieces.iter().position(|piece| piece.letter == letter)?;
        Some(Kind::new(index as u8))
    }

    /// The lower-case letter of a kind; `None` if the rules have no such kind.
    #[must_use]
    pub fn letter(&self, kind: Kind) -> Option<char> {
        if kind == Kind::PAWN {
            return Some('p');
        }
        self.pieces.get(kind.index()).map(|piece| piece.letter)
    }

    /// All kinds, in their order.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        let pieces = (0..self.pieces.len()).map(|index| Kind::new(index as u8));
        pieces.chain([Kind::PAWN])
    }

    /// Whether there is a double step: it does not exist where it would end
    /// in the promotion zone.
    #[must_use]
    pub fn has_double_step(&self) -> bool {
        self.double_step && self.pawn_rank + 2 < self.promotion_rank
    }

    /// Whether pawns can ever be taken en passant.
    #[must_use]
    pub fn has_en_passant(&self) -> bool {
        self.en_passant && self.has_double_step() && self.pawn == Pawn::Orthodox
    }

    /// Whether the axes leave a square on which a pawn may stand.
    #[must_use]
    pub fn has_pawns(&self) -> bool {
        self.pawn_rank < self.promotion_rank
    }
}
