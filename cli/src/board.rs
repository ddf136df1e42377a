//! Boards drawn with characters.

use petrov_games::Game;

/// A position as its players see it, White at the bottom. Draughts: men are `w`
/// and `b`, kings `W` and `B`. Chess: the letters of a FEN. Games with numbered
/// squares show the number of each.
pub(crate) fn draw<G: Game>(game: &G, position: &G::Position) -> String {
    let (files, ranks) = game.size();
    let names = (0..ranks).flat_map(|rank| (0..files).filter_map(move |file| game.square_at(file, rank)));
    let numbered = names
        .take(1)
        .any(|square| game.square_name(square).starts_with(|c: char| c.is_ascii_digit()));
    let cell_width = if numbered { 5 } else { 2 };
    let cell = |file: u8, rank: u8| {
        let Some(square) = game.square_at(file, rank) else {
            return " ".repeat(cell_width);
        };
        match (numbered, game.letter_at(position, square)) {
            (true, Some(letter)) => format!("{:>cell_width$}", format!("{letter}{:<2}", game.square_name(square))),
            (true, None) => format!("{:>cell_width$}", format!("{:<2}", game.square_name(square))),
            (false, letter) => format!("{:>cell_width$}", letter.unwrap_or('.')),
        }
    };
    let inner = usize::from(files) * cell_width + 1;
    let margin = if numbered { "" } else { "   " };
    let edge = format!("{margin}+{}+\n", "-".repeat(inner));
    let mut drawing = edge.clone();
    for rank in (0..ranks).rev() {
        if !numbered {
            drawing.push_str(&format!("{:>2} ", rank + 1));
        }
        drawing.push('|');
        drawing.extend((0..files).map(|file| cell(file, rank)));
        drawing.push_str(" |\n");
    }
    drawing.push_str(&edge);
    if !numbered {
        drawing.push_str(margin);
        drawing.push(' ');
        for file in 0..files {
            // On half-filled boards a file's letter is that of its first square.
            let square = (0..ranks).find_map(|rank| game.square_at(file, rank));
            let name = square.map(|square| game.square_name(square)).unwrap_or_default();
            let letter = name.chars().next().unwrap_or(' ');
            drawing.push_str(&format!("{letter:>cell_width$}"));
        }
        drawing.push('\n');
    }
    drawing
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
    fn figures() {
        let expected = "   +-----------------+
 8 | . . . . . . . k |
 7 | . . . . p . . . |
 6 | . . . . . . . . |
 5 | . . . . . . . . |
 4 | . . . . . . . . |
 3 | . N . . . . . . |
 2 | . . . . . . . . |
 1 | K . . . . . . . |
   +-----------------+
     a b c d e f g h
";
        assert_eq!(drawn("chess", "7k/4p3/8/8/8/1N6/8/K7 w - - 0 1"), expected);
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
