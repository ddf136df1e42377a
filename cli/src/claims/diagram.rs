//! Positions as SVG pictures.

use std::fmt::Write;

use petrov_games::{Axes, Colour, Game, draughts};

/// Side of a square.
const SQUARE: u32 = 44;
/// Room beside the board, for coordinates.
const MARGIN: u32 = 22;
const LIGHT: &str = "#f0e6d2";
const DARK: &str = "#b98b5e";

/// A position as its players see it, White at the bottom. Below it stands who
/// is to move.
pub(crate) fn draw<G: Game>(game: &G, position: &G::Position) -> String {
    let (files, ranks) = game.size();
    let (width, height) = (
        u32::from(files) * SQUARE + 2 * MARGIN,
        u32::from(ranks) * SQUARE + 2 * MARGIN + 16,
    );
    let turn = match game.turn(position) {
        Colour::White => "White to move",
        Colour::Black => "Black to move",
    };
    let mut picture = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        picture,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Segoe UI Symbol, Arial Unicode MS, sans-serif\">\n\
         <title>{turn}: {}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>",
        game.fen(position)
    );
    for rank in 0..ranks {
        for file in 0..files {
            draw_square(game, position, file, rank, &mut picture);
        }
    }
    if !is_numbered(game) {
        draw_coordinates(game, &mut picture);
    }
    let _ = writeln!(
        picture,
        "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333333\"/>\n\
         <text x=\"{}\" y=\"{}\" font-size=\"14\" text-anchor=\"middle\">{turn}</text>\n</svg>",
        u32::from(files) * SQUARE,
        u32::from(ranks) * SQUARE,
        width / 2,
        height - 6
    );
    picture
}

/// Whether squares are numbers, which then stand on the squares themselves.
fn is_numbered<G: Game>(game: &G) -> bool {
    let (files, _) = game.size();
    let first = (0..files).find_map(|file| game.square_at(file, 0));
    first.is_some_and(|square| game.square_name(square).starts_with(|c: char| c.is_ascii_digit()))
}

fn draw_square<G: Game>(game: &G, position: &G::Position, file: u8, rank: u8, picture: &mut String) {
    let (_, ranks) = game.size();
    let (x, y) = (
        MARGIN + u32::from(file) * SQUARE,
        MARGIN + u32::from(ranks - 1 - rank) * SQUARE,
    );
    let square = game.square_at(file, rank);
    let is_draughts = G::FAMILY == draughts::Rules::FAMILY;
    // Where every square is played on, colours are only a help for the eye.
    let every = game.square_at(0, 0).is_some() && game.square_at(1, 0).is_some();
    let dark = if every {
        (file + rank).is_multiple_of(2)
    } else {
        square.is_some()
    };
    let fill = if dark { DARK } else { LIGHT };
    let _ = writeln!(
        picture,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{fill}\"/>"
    );
    let Some(square) = square else { return };
    if is_numbered(game) {
        let _ = writeln!(
            picture,
            "<text x=\"{}\" y=\"{}\" font-size=\"10\" fill=\"#3d2a14\">{}</text>",
            x + 2,
            y + 11,
            game.square_name(square)
        );
    }
    let Some(letter) = game.letter_at(position, square) else {
        return;
    };
    let (middle_x, middle_y) = (x + SQUARE / 2, y + SQUARE / 2);
    // A little aside, so that the number can be read.
    let aside = if is_numbered(game) { 3 } else { 0 };
    if is_draughts {
        draw_disc(letter, middle_x + aside, middle_y + aside, picture);
    } else {
        let _ = writeln!(
            picture,
            "<text x=\"{middle_x}\" y=\"{}\" font-size=\"34\" text-anchor=\"middle\">{}</text>",
            middle_y + 12,
            figure(letter)
        );
    }
}

/// A man, or a king with a crown. White's letters are `w` and `W`.
fn draw_disc(letter: char, x: u32, y: u32, picture: &mut String) {
    let (fill, line) = if letter.eq_ignore_ascii_case(&'w') {
        ("#ffffff", "#222222")
    } else {
        ("#222222", "#f5f5f5")
    };
    let _ = writeln!(
        picture,
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"16\" fill=\"{fill}\" stroke=\"#111111\" stroke-width=\"1.5\"/>\n\
         <circle cx=\"{x}\" cy=\"{y}\" r=\"12\" fill=\"none\" stroke=\"{line}\" stroke-width=\"1\"/>"
    );
    if letter.is_ascii_uppercase() {
        let crown = [(-9, 6), (-9, -5), (-4, 0), (0, -7), (4, 0), (9, -5), (9, 6)];
        let points: Vec<String> = crown
            .iter()
            .map(|(dx, dy)| format!("{},{}", i64::from(x) + dx, i64::from(y) + dy))
            .collect();
        let _ = writeln!(
            picture,
            "<polygon points=\"{}\" fill=\"#e3b23c\" stroke=\"{line}\" stroke-width=\"1\"/>",
            points.join(" ")
        );
    }
}

/// The figurine of a chess piece, or its letter where there is none.
fn figure(letter: char) -> char {
    match letter {
        'K' => '♔',
        'Q' => '♕',
        'R' => '♖',
        'B' => '♗',
        'N' => '♘',
        'P' => '♙',
        'k' => '♚',
        'q' => '♛',
        'r' => '♜',
        'b' => '♝',
        'n' => '♞',
        'p' => '♟',
        other => other,
    }
}

/// Files below the board, ranks beside it.
fn draw_coordinates<G: Game>(game: &G, picture: &mut String) {
    let (files, ranks) = game.size();
    let mut text = |x: u32, y: u32, what: &str| {
        let _ = writeln!(
            picture,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"12\" text-anchor=\"middle\">{what}</text>"
        );
    };
    for file in 0..files {
        let square = (0..ranks).find_map(|rank| game.square_at(file, rank));
        let name = square.map(|square| game.square_name(square)).unwrap_or_default();
        let letter: String = name.chars().take(1).collect();
        text(
            MARGIN + u32::from(file) * SQUARE + SQUARE / 2,
            MARGIN + u32::from(ranks) * SQUARE + 14,
            &letter,
        );
    }
    for rank in 0..ranks {
        let y = MARGIN + u32::from(ranks - 1 - rank) * SQUARE + SQUARE / 2 + 4;
        text(MARGIN / 2, y, &(rank + 1).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petrov_games::{Games, with_game};

    fn drawn(game: &str, fen: &str) -> String {
        let games = Games::built_in();
        with_game!(games.get(game).expect("built in"), game => {
            draw(game, &game.parse_fen(fen).expect("a position"))
        })
    }

    #[test]
    fn pieces_stand_on_their_squares() {
        // h8 is the right upper square, whose middle is at 22 + 7.5 * 44 and 22 + 0.5 * 44.
        let russian = drawn("russian", "B:WKa1,b2:BKh8");
        assert_eq!(russian.matches("r=\"16\"").count(), 3);
        assert_eq!(russian.matches("<polygon").count(), 2);
        assert!(russian.contains("<circle cx=\"352\" cy=\"44\" r=\"16\" fill=\"#222222\""));
        assert!(russian.contains("<circle cx=\"44\" cy=\"352\" r=\"16\" fill=\"#ffffff\""));
        assert!(russian.contains(">Black to move<") && russian.contains(">h<"));
        // Numbers of the English board: 1 is the second square of the top rank.
        let english = drawn("english", "W:WK32:BK1");
        assert!(english.contains("<circle cx=\"91\" cy=\"47\" r=\"16\" fill=\"#222222\""));
        assert!(english.contains(">32</text>") && !english.contains(">h<"));
        let chess = drawn("chess", "8/7k/8/8/8/8/8/BK6 w - - 0 1");
        assert!(chess.contains("<text x=\"44\" y=\"364\" font-size=\"34\" text-anchor=\"middle\">♗</text>"));
        assert!(chess.contains(">♚</text>") && chess.contains(">White to move<"));
    }
}
