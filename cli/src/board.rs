//! Boards drawn with characters.

use petrov_games::draughts::{Colour, Game, NameStyle, Position, SquareKind};

/// A position as its players see it, White at the bottom. Men are `w` and `b`,
/// kings `W` and `B`. Games with numbered squares show the number of each.
pub(crate) fn draw(game: &Game, position: &Position) -> String {
    let (rules, board) = (game.rules(), game.board());
    // Mirrored boards are kept as their reflection, so what players see has to
    // be reflected back.
    let square_at = |file: u8, rank: u8| match rules.squares {
        SquareKind::Mirror => board.square_at(board.files() - 1 - file, rank),
        SquareKind::Dark | SquareKind::All => board.square_at(file, rank),
    };
    let numbered = rules.names != NameStyle::Algebraic;
    let cell_width = if numbered { 5 } else { 2 };
    let cell = |file: u8, rank: u8| {
        let Some(square) = square_at(file, rank) else {
            return " ".repeat(cell_width);
        };
        let piece = piece(position, square);
        match (numbered, piece) {
            (true, Some(piece)) => format!("{:>cell_width$}", format!("{piece}{:<2}", game.square_name(square))),
            (true, None) => format!("{:>cell_width$}", format!("{:<2}", game.square_name(square))),
            (false, piece) => format!("{:>cell_width$}", piece.unwrap_or('.')),
        }
    };
    let inner = usize::from(board.files()) * cell_width + 1;
    let margin = if numbered { "" } else { "   " };
    let edge = format!("{margin}+{}+\n", "-".repeat(inner));
    let mut drawing = edge.clone();
    for rank in (0..board.ranks()).rev() {
        if !numbered {
            drawing.push_str(&format!("{:>2} ", rank + 1));
        }
        drawing.push('|');
        drawing.extend((0..board.files()).map(|file| cell(file, rank)));
        drawing.push_str(" |\n");
    }
    drawing.push_str(&edge);
    if !numbered {
        drawing.push_str(margin);
        drawing.push(' ');
        for file in 0..board.files() {
            // On half-filled boards a file's letter is that of its first square.
            let square = (0..board.ranks()).find_map(|rank| square_at(file, rank));
            let name = square.map(|square| game.square_name(square)).unwrap_or_default();
            let letter = name.chars().next().unwrap_or(' ');
            drawing.push_str(&format!("{letter:>cell_width$}"));
        }
        drawing.push('\n');
    }
    drawing
}

fn piece(position: &Position, square: u8) -> Option<char> {
    [
        (position.men[Colour::White as usize], 'w'),
        (position.kings[Colour::White as usize], 'W'),
        (position.men[Colour::Black as usize], 'b'),
        (position.kings[Colour::Black as usize], 'B'),
    ]
    .into_iter()
    .find(|(set, _)| set >> square & 1 == 1)
    .map(|(_, piece)| piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use petrov_games::draughts::Games;

    fn drawn(game: &str, fen: &str) -> String {
        let games = Games::built_in();
        let game = games.get(game).expect("built in");
        draw(game, &game.parse_fen(fen).expect("a position"))
    }

    #[test]
    fn letters() {
        let expected = "   +-----------------+
 8 |   .   .   .   B |
 7 | .   .   .   .   |
 6 |   .   .   .   . |
 5 | .   .   .   .   |
 4 |   .   .   .   b |
 3 | .   W   .   .   |
 2 |   w   .   .   . |
 1 | .   .   .   .   |
   +-----------------+
     a b c d e f g h
";
        assert_eq!(drawn("russian", "W:WKc3,b2:BKh8,h4"), expected);
    }

    #[test]
    fn numbers() {
        // English: 1 is on Black's side, at White's left but one.
        let english = drawn("english", "W:W32,K5:B1,K31");
        let rows: Vec<&str> = english.lines().collect();
        assert_eq!(rows[1], "|       b1         2         3         4  |");
        assert_eq!(rows[2], "|  W5         6         7         8       |");
        assert_eq!(rows[8], "|   29        30       B31       w32      |");
        // The Italian board has its dark corner on White's right.
        let italian = drawn("italian", "W:W32,K5:B1,K31");
        let rows: Vec<&str> = italian.lines().collect();
        assert_eq!(rows[1], "|  b1         2         3         4       |");
        assert_eq!(rows[8], "|        29        30       B31       w32 |");
    }
}
