//! Reading and writing FEN.

use super::board::{Board, CastlingRight, Kind, NO_SQUARE, Side};
use super::game::Position;
use super::generate::{Generator, Step};
use super::rules::Rules;
use crate::bits::Bits;
use crate::piece::Colour;
use crate::spelling::shortened;

/// Largest counter read.
pub(super) const LARGEST_COUNTER: u32 = 1_000_000;

/// Squares and letters of the castling rights in the order in which FEN lists
/// them: right, letter, king, rook (as White sees them).
const RIGHTS: [(CastlingRight, char, u8, u8); 4] = [
    (CastlingRight::OwnShort, 'K', 4, 7),
    (CastlingRight::OwnLong, 'Q', 4, 0),
    (CastlingRight::OpponentShort, 'k', 60, 63),
    (CastlingRight::OpponentLong, 'q', 60, 56),
];

/// What is wrong with a FEN. Each message is one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FenError {
    /// The number of fields is wrong.
    #[error("found {found} fields, expected 4 or 6: placement, side to move, castling, en passant, two counters")]
    Fields {
        /// Fields found.
        found: usize,
    },
    /// The number of ranks is wrong.
    #[error("placement: found {found} ranks, expected {expected} with `/` between")]
    Ranks {
        /// Ranks found.
        found: usize,
        /// Ranks of the board.
        expected: u8,
    },
    /// A rank does not fill the board's files.
    #[error("placement: rank {rank} {text:?} does not describe {files} squares")]
    RankLength {
        /// The rank, from 1.
        rank: u8,
        /// The text of the rank.
        text: String,
        /// Files of the board.
        files: u8,
    },
    /// A character is neither a piece nor a number of empty squares.
    #[error("placement: found {found:?}, expected a digit from 1 to {files} or one of {letters}")]
    Letter {
        /// The character.
        found: char,
        /// Files of the board.
        files: u8,
        /// Letters of the pieces.
        letters: String,
    },
    /// The side to move is neither.
    #[error("side to move: found {found:?}, expected `w` or `b`")]
    Turn {
        /// The field.
        found: String,
    },
    /// The field of castling rights is not one.
    #[error("castling: found {found:?}, expected {expected}")]
    Castling {
        /// The field.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A castling right without king and rook in their places.
    #[error("castling: right `{right}` without king and rook on their first squares")]
    CastlingPieces {
        /// The right's letter.
        right: char,
    },
    /// The en passant square is no square of the board.
    #[error("en passant: found {found:?}, expected `-` or a square")]
    EnPassantText {
        /// The field.
        found: String,
    },
    /// There is no en passant under these rules.
    #[error("en passant: found {found:?}, expected `-` as these rules have no en passant")]
    NoEnPassant {
        /// The field.
        found: String,
    },
    /// No pawn can just have passed the en passant square.
    #[error("en passant: {square} is not behind a pawn that can just have stepped twice")]
    EnPassant {
        /// The square.
        square: String,
    },
    /// A counter is not a number in range.
    #[error("{which}: found {found:?}, expected a number from {least} to {LARGEST_COUNTER}")]
    Counter {
        /// Which of the two.
        which: &'static str,
        /// The field.
        found: String,
        /// The least number allowed.
        least: u32,
    },
    /// A side has not exactly one king.
    #[error("{side} has {found} kings, expected 1")]
    Kings {
        /// The side.
        side: &'static str,
        /// Its kings.
        found: u32,
    },
    /// Neither side has a piece.
    #[error("the board is empty, expected pieces of at least one side")]
    Empty,
    /// A pawn stands where none can be.
    #[error("{side} has a pawn on {square}, expected pawns on its ranks {first} to {last} only")]
    Pawn {
        /// The side.
        side: &'static str,
        /// The square.
        square: String,
        /// First rank of pawns, from the side's own first rank.
        first: u8,
        /// Last rank of pawns.
        last: u8,
    },
    /// There is a pawn although the rules leave pawns no rank.
    #[error("{side} has a pawn on {square}, but these rules leave no rank between pawn_rank and promotion_rank")]
    NoPawns {
        /// The side.
        side: &'static str,
        /// The square.
        square: String,
    },
    /// The side that is not to move could be taken its king.
    #[error("{side} is in check and not to move")]
    OpponentInCheck {
        /// The side.
        side: &'static str,
    },
}

/// The name of a square.
pub(super) fn square_name(square: u8) -> String {
    format!("{}{}", char::from(b'a' + square % 8), square / 8 + 1)
}

/// The square of a name on a board.
pub(super) fn square_by_name(rules: &Rules, name: &str) -> Option<u8> {
    let &[file, rank] = name.as_bytes() else {
        return None;
    };
    let file = file.checked_sub(b'a').filter(|file| *file < rules.files)?;
    let rank = rank.checked_sub(b'1').filter(|rank| *rank < rules.ranks)?;
    Some(rank * 8 + file)
}

fn name(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "White",
        Colour::Black => "Black",
    }
}

/// Reads a FEN of four or six fields.
pub(super) fn parse(rules: &Rules, generator: &Generator, text: &str) -> Result<Position, FenError> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let (&[placement, turn, castling, passed], counters) = match fields.len() {
        4 | 6 => fields.split_first_chunk::<4>(),
        _ => None,
    }
    .ok_or(FenError::Fields { found: fields.len() })?;
    let mut board = parse_placement(rules, placement)?;
    let turn = match turn {
        "w" => Colour::White,
        "b" => Colour::Black,
        _ => return Err(FenError::Turn { found: shortened(turn) }),
    };
    check_pieces(rules, generator, &board)?;
    board.castling = parse_castling(rules, &board, castling)?;
    if passed != "-" {
        board.en_passant = parse_en_passant(rules, generator, &board, turn, passed)?;
    }
    let counter = |index: usize, which, least: u32| {
        let Some(&found) = counters.get(index) else {
            return Ok(least);
        };
        Some(found)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .filter(|counter| (least..=LARGEST_COUNTER).contains(counter))
            .ok_or_else(|| FenError::Counter {
                which,
                found: shortened(found),
                least,
            })
    };
    let position = Position {
        board,
        turn,
        halfmove: counter(0, "halfmove clock", 0)?,
        fullmove: counter(1, "move number", 1)?,
    };
    if generator.opponent_in_check(&generator.view(&position)) {
        return Err(FenError::OpponentInCheck {
            side: name(turn.other()),
        });
    }
    Ok(position)
}

fn parse_placement(rules: &Rules, text: &str) -> Result<Board, FenError> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != usize::from(rules.ranks) {
        return Err(FenError::Ranks {
            found: rows.len(),
            expected: rules.ranks,
        });
    }
    let mut board = Board::EMPTY;
    for (rank, row) in (0..rules.ranks).rev().zip(rows) {
        let wrong = || FenError::RankLength {
            rank: rank + 1,
            text: shortened(row),
            files: rules.files,
        };
        let (mut file, mut counted) = (0, false);
        for letter in row.chars() {
            let empty = letter
                .to_digit(10)
                .filter(|count| (1..=u32::from(rules.files)).contains(count));
            if let Some(count) = empty {
                // Two numbers in a row would be one.
                if counted {
                    return Err(wrong());
                }
                file += count as u8;
            } else if let Some(kind) = rules.kind(letter).filter(|_| letter.is_ascii_alphabetic()) {
                if file >= rules.files {
                    return Err(wrong());
                }
                let side = if letter.is_ascii_uppercase() {
                    Side::Own
                } else {
                    Side::Opponent
                };
                board.put(kind, side, rank * 8 + file);
                file += 1;
            } else {
                let letters: String = rules.kinds().filter_map(|kind| rules.letter(kind)).collect();
                return Err(FenError::Letter {
                    found: letter,
                    files: rules.files,
                    letters: format!("{}{letters}", letters.to_ascii_uppercase()),
                });
            }
            if file > rules.files {
                return Err(wrong());
            }
            counted = empty.is_some();
        }
        if file != rules.files {
            return Err(wrong());
        }
    }
    Ok(board)
}

/// Kings and pawns, with White as the own side.
fn check_pieces(rules: &Rules, generator: &Generator, board: &Board) -> Result<(), FenError> {
    let black = generator.turned(board);
    for (colour, view) in [(Colour::White, board), (Colour::Black, &black)] {
        let side = name(colour);
        let found = (view.own & view.of(Kind::KING)).count_ones();
        if generator.royal() && found != 1 {
            return Err(FenError::Kings { side, found });
        }
        let astray = view.own & view.of(Kind::PAWN) & !generator.pawn_squares();
        if let Some(square) = astray.squares().next() {
            let square = square_name(match colour {
                Colour::White => square,
                Colour::Black => generator.turned_square(square),
            });
            return Err(if rules.has_pawns() {
                FenError::Pawn {
                    side,
                    square,
                    first: rules.pawn_rank,
                    last: rules.promotion_rank - 1,
                }
            } else {
                FenError::NoPawns { side, square }
            });
        }
    }
    if board.occupied() == 0 {
        return Err(FenError::Empty);
    }
    Ok(())
}

fn parse_castling(rules: &Rules, board: &Board, text: &str) -> Result<u8, FenError> {
    if text == "-" {
        return Ok(0);
    }
    let wrong = |expected| FenError::Castling {
        found: shortened(text),
        expected,
    };
    if !rules.castling {
        return Err(wrong("`-` as these rules have no castling"));
    }
    let mut castling = 0;
    let mut letters = text.chars().peekable();
    for (right, letter, king, rook) in RIGHTS {
        if letters.next_if_eq(&letter).is_none() {
            continue;
        }
        castling |= right as u8;
        let side = if letter.is_ascii_uppercase() {
            board.own
        } else {
            board.opponent
        };
        if !(side & board.of(Kind::KING)).has(king) || !(side & board.of(Kind::ROOK)).has(rook) {
            return Err(FenError::CastlingPieces { right: letter });
        }
    }
    if letters.next().is_some() || castling == 0 {
        return Err(wrong("`-` or some of `KQkq` in this order"));
    }
    Ok(castling)
}

fn parse_en_passant(
    rules: &Rules,
    generator: &Generator,
    board: &Board,
    turn: Colour,
    text: &str,
) -> Result<u8, FenError> {
    let square = square_by_name(rules, text).ok_or_else(|| FenError::EnPassantText { found: shortened(text) })?;
    if !generator.has_en_passant() {
        return Err(FenError::NoEnPassant { found: shortened(text) });
    }
    // As the side sees it that made the double step.
    let (view, passed) = match turn {
        Colour::White => (generator.turned(board), generator.turned_square(square)),
        Colour::Black => (*board, square),
    };
    let stepped = passed / 8 == rules.pawn_rank
        && (view.own & view.of(Kind::PAWN)).has(passed + 8)
        && !view.occupied().has(passed)
        && !view.occupied().has(passed - 8);
    if stepped {
        Ok(square)
    } else {
        Err(FenError::EnPassant {
            square: shortened(text),
        })
    }
}

/// The FEN of a position, with six fields; the en passant square only where a
/// legal move takes en passant.
pub(super) fn text(rules: &Rules, generator: &Generator, position: &Position) -> String {
    let mut fen = placement(rules, &position.board);
    let turn = match position.turn {
        Colour::White => " w ",
        Colour::Black => " b ",
    };
    fen.push_str(turn);
    let rights = RIGHTS
        .iter()
        .filter(|(right, ..)| position.board.castling & *right as u8 != 0);
    let rights: String = rights.map(|(_, letter, ..)| letter).collect();
    fen.push_str(if rights.is_empty() { "-" } else { &rights });
    let mut steps = Vec::new();
    if position.board.en_passant != NO_SQUARE {
        generator.legal(&generator.view(position), &mut steps);
    }
    let passed = if steps.iter().any(Step::is_en_passant) {
        square_name(position.board.en_passant)
    } else {
        "-".to_owned()
    };
    fen + &format!(" {passed} {} {}", position.halfmove, position.fullmove)
}

fn placement(rules: &Rules, board: &Board) -> String {
    let mut text = String::new();
    for rank in (0..rules.ranks).rev() {
        let mut empty = 0;
        for file in 0..rules.files {
            let square = rank * 8 + file;
            if !board.occupied().has(square) {
                empty += 1;
                continue;
            }
            if empty > 0 {
                text += &empty.to_string();
                empty = 0;
            }
            let letter = rules.letter(board.kind_at(square)).unwrap_or('?');
            text.push(if board.own.has(square) {
                letter.to_ascii_uppercase()
            } else {
                letter
            });
        }
        if empty > 0 {
            text += &empty.to_string();
        }
        if rank > 0 {
            text.push('/');
        }
    }
    text
}
