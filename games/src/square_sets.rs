//! Sets of squares that have a name on a board: roads, corners, edges.
//!
//! They follow from size and playable squares alone, so that boards of a user's
//! own rules have them, too. Files and ranks are those that players see, and a
//! reflected board has its roads reflected.

use crate::game::Game;

/// The names of all sets, whether or not a board has such squares.
pub const SQUARE_SETS: [&str; 7] = [
    "main-road",
    "double-road",
    "double-corner",
    "corner",
    "edge",
    "dark",
    "light",
];

/// The squares of a named set of a game's board, in ascending order:
///
/// * `main-road`: the diagonal from playable corner to playable corner of a
///   square board on which every other square is playable (russian: a1 to h8);
/// * `double-road`: on the same boards the two diagonals beside the other
///   corner-to-corner diagonal (russian: a7 to g1 and b8 to h2);
/// * `double-corner`: the playable squares beside a corner that is not playable
///   (english: 1, 5, 28 and 32);
/// * `corner`: corners that are playable;
/// * `edge`: playable squares of the first and last file and rank;
/// * `dark`, `light`: the squares of one colour where all are playable, a1 being
///   dark.
///
/// `None` if there is no such name; empty if the board has no such squares.
pub fn named_squares<G: Game>(game: &G, name: &str) -> Option<Vec<u8>> {
    let (files, ranks) = game.size();
    let (right, top) = (files - 1, ranks - 1);
    let is_corner = |file: u8, rank: u8| (file == 0 || file == right) && (rank == 0 || rank == top);
    let playable = |file: u8, rank: u8| game.square_at(file, rank).is_some();
    let every = (0..files).all(|file| (0..ranks).all(|rank| playable(file, rank)));
    let has_road = !every && files == ranks;
    // The main road rises to the right, or to the left on a reflected board.
    let rises = playable(0, 0);
    let off_main = |file: u8, rank: u8| {
        if rises {
            file.abs_diff(rank)
        } else {
            file.abs_diff(top - rank)
        }
    };
    let off_other = |file: u8, rank: u8| {
        if rises {
            file.abs_diff(top - rank)
        } else {
            file.abs_diff(rank)
        }
    };
    let beside_blank_corner = |file: u8, rank: u8| {
        [(0, 0), (right, 0), (0, top), (right, top)]
            .iter()
            .any(|(x, y)| !playable(*x, *y) && file.abs_diff(*x) + rank.abs_diff(*y) == 1)
    };
    let belongs = |file: u8, rank: u8| match name {
        "main-road" => has_road && off_main(file, rank) == 0,
        "double-road" => has_road && off_other(file, rank) == 1,
        "double-corner" => !every && beside_blank_corner(file, rank),
        "corner" => is_corner(file, rank),
        "edge" => file == 0 || file == right || rank == 0 || rank == top,
        "dark" => every && (file + rank).is_multiple_of(2),
        _ => every && !(file + rank).is_multiple_of(2),
    };
    if !SQUARE_SETS.contains(&name) {
        return None;
    }
    let mut squares: Vec<u8> = (0..files)
        .flat_map(|file| (0..ranks).map(move |rank| (file, rank)))
        .filter(|(file, rank)| belongs(*file, *rank))
        .filter_map(|(file, rank)| game.square_at(file, rank))
        .collect();
    squares.sort_unstable();
    Some(squares)
}

/// The square of a name as the game writes it, such as `a1` or `32`.
pub fn square_by_name<G: Game>(game: &G, name: &str) -> Option<u8> {
    let (files, ranks) = game.size();
    (0..files)
        .flat_map(|file| (0..ranks).map(move |rank| (file, rank)))
        .filter_map(|(file, rank)| game.square_at(file, rank))
        .find(|square| game.square_name(*square) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Games, with_game};

    /// Names of the squares of a set, in the order of their names.
    fn names(game: &str, set: &str) -> Vec<String> {
        let games = Games::built_in();
        with_game!(games.get(game).unwrap(), game => {
            let mut names: Vec<String> =
                named_squares(game, set).unwrap().iter().map(|square| game.square_name(*square)).collect();
            names.sort_by_key(|name| (name.parse::<u32>().ok(), name.clone()));
            names
        })
    }

    #[test]
    fn roads_and_corners_are_those_of_the_books() {
        assert_eq!(
            names("russian", "main-road"),
            ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"]
        );
        let double = [
            "a7", "b6", "b8", "c5", "c7", "d4", "d6", "e3", "e5", "f2", "f4", "g1", "g3", "h2",
        ];
        assert_eq!(names("russian", "double-road"), double);
        assert_eq!(names("russian", "double-corner"), ["a7", "b8", "g1", "h2"]);
        assert_eq!(names("russian", "corner"), ["a1", "h8"]);
        assert_eq!(names("english", "double-corner"), ["1", "5", "28", "32"]);
        assert_eq!(
            names("english", "main-road"),
            ["4", "8", "11", "15", "18", "22", "25", "29"]
        );
        // International: 5, 10, ..., 46; the double corners are 1 and 6, 45 and 50.
        let road = ["5", "10", "14", "19", "23", "28", "32", "37", "41", "46"];
        assert_eq!(names("international", "main-road"), road);
        assert_eq!(names("international", "double-corner"), ["1", "6", "45", "50"]);
        // A reflected board: the river of the Spanish game runs from 1 to 32.
        let river = ["1", "5", "10", "14", "19", "23", "28", "32"];
        assert_eq!(names("spanish", "main-road"), river);
    }

    #[test]
    fn boards_without_them() {
        assert!(names("spantsireti", "main-road").is_empty());
        assert_eq!(names("spantsireti", "double-corner"), ["a7", "b8", "i1", "k2"]);
        assert!(names("turkish", "double-corner").is_empty());
        assert_eq!(names("chess", "corner"), ["a1", "a8", "h1", "h8"]);
        assert_eq!(names("chess", "edge").len(), 28);
        assert_eq!(names("chess", "dark").len(), 32);
        assert!(names("chess", "dark").contains(&"a1".to_owned()));
        assert!(names("russian", "light").is_empty());
        let games = Games::built_in();
        assert_eq!(named_squares(games.draughts("russian").unwrap(), "the-road"), None);
    }

    #[test]
    fn squares_by_name() {
        let games = Games::built_in();
        let (russian, english) = (games.draughts("russian").unwrap(), games.draughts("english").unwrap());
        for square in russian.squares_in_order() {
            assert_eq!(square_by_name(russian, &russian.square_name(*square)), Some(*square));
            assert_eq!(square_by_name(english, &english.square_name(*square)), Some(*square));
        }
        assert_eq!(square_by_name(russian, "a2"), None);
        assert_eq!(square_by_name(english, "33"), None);
    }
}
