//! What the whole-program and cross-crate tests in this package's `tests/`
//! folder share: building tables into a temporary folder, all placements of
//! some pieces, and random ones.
//!
//! Everything here panics where a test would fail.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use petrov_games::Games;
use petrov_games::draughts::{Board, Colour, Game, Position, RuleFile, SquareSet};
use petrov_gen::{BuildOptions, Depth, Progress, VerifyOptions, VerifyReport, What, build, plan, verify};
use petrov_probe::{Army, Backend, Metric, Tables};
use tempfile::TempDir;

/// Letters of the pieces of draughts.
const KING: u8 = b'K';
const MAN: u8 = b'M';

/// The games that every issue names.
pub const FOUR_GAMES: [&str; 4] = ["russian", "english", "brazilian", "italian"];

/// The repository's folder.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the repository")
        .to_owned()
}

/// A built-in game.
#[must_use]
pub fn game(name: &str) -> Game {
    Games::built_in().draughts(name).expect("a built-in game").clone()
}

/// The games of all rule files, whether built in or not, by name.
#[must_use]
pub fn all_games() -> Vec<Game> {
    let folder = repository().join("games/rules");
    let mut games: Vec<Game> = std::fs::read_dir(&folder)
        .expect("the rule files are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            match RuleFile::parse(&text) {
                Ok(file) => Game::new(file),
                Err(error) => panic!("{}: {error}", path.display()),
            }
        })
        .collect();
    games.sort_by(|a, b| a.name().cmp(b.name()));
    games
}

/// A folder that goes with the value, and the tables built into it.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }
}

impl Folder {
    /// A new folder with tables of one request.
    #[must_use]
    pub fn with(game: &impl petrov_games::Game, what: &str, metrics: &[Metric]) -> Self {
        let folder = Self::default();
        folder.build(game, what, metrics, 1);
        folder
    }

    /// Builds what is missing here; returns the faults of the tables that had
    /// to be built again.
    pub fn build(&self, game: &impl petrov_games::Game, what: &str, metrics: &[Metric], threads: usize) -> Vec<String> {
        let what: What = what.parse().expect("a number or a material");
        let options = BuildOptions {
            metrics: metrics.to_vec(),
            dirs: vec![self.path().to_owned()],
            threads,
            memory: None,
        };
        let plan = plan(game, what, &options).unwrap_or_else(|error| panic!("{}: {error}", game.name()));
        build(game, &plan, &options, &Progress::default()).unwrap_or_else(|error| panic!("{}: {error}", game.name()));
        plan.damaged
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// All tables in it.
    #[must_use]
    pub fn tables(&self) -> Tables {
        Tables::open(&[self.path()]).expect("the folder can be read")
    }

    /// Checks the tables in it against the rules, on two threads.
    #[must_use]
    pub fn verify(&self, game: &impl petrov_games::Game, what: Option<What>, depth: Depth) -> VerifyReport {
        let options = VerifyOptions {
            what,
            dirs: vec![self.path().to_owned()],
            backend: Backend::default(),
            depth,
            threads: 2,
        };
        verify(game, &options, &Progress::default()).expect("the folder can be read")
    }

    /// Names, below the folder, and contents of all files, temporary ones too.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the folder can be read") {
                let path = entry.expect("the folder can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path
                        .strip_prefix(self.path())
                        .expect("it lies in the folder")
                        .to_owned();
                    files.push((name, std::fs::read(&path).expect("the file can be read")));
                }
            }
        }
        files.sort();
        files
    }
}

/// Ordered pairs of armies (own, opponent) of so many pieces together, both
/// present.
#[must_use]
pub fn armies(pieces: u8) -> Vec<(Army, Army)> {
    let of = |pieces: u8| (0..=pieces).map(move |men| army(pieces - men, men));
    (1..pieces)
        .flat_map(|own| of(own).flat_map(move |one| of(pieces - own).map(move |other| (one, other))))
        .collect()
}

/// An army of kings and men.
#[must_use]
pub fn army(kings: u8, men: u8) -> Army {
    Army::EMPTY.with(KING, kings).with(MAN, men)
}

/// Squares where men of one side may stand.
#[must_use]
pub fn men_squares(board: &Board, colour: Colour) -> SquareSet {
    let promotion = match colour {
        Colour::White => board.ranks() - 1,
        Colour::Black => 0,
    };
    board.playable() & !board.rank_set(promotion)
}

/// Visits every placement of White's and Black's army, in no way that an index
/// would know of.
pub fn for_each_placement(board: &Board, white: Army, black: Army, turn: Colour, visit: &mut dyn FnMut(&Position)) {
    fn subsets(from: SquareSet, count: u8, chosen: SquareSet, visit: &mut dyn FnMut(SquareSet)) {
        if count == 0 {
            return visit(chosen);
        }
        let mut rest = from;
        while rest != 0 {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            subsets(rest, count - 1, chosen | square, visit);
        }
    }
    let playable = board.playable();
    subsets(
        men_squares(board, Colour::White),
        white.count(MAN),
        0,
        &mut |white_men| {
            let black_squares = men_squares(board, Colour::Black) & !white_men;
            subsets(black_squares, black.count(MAN), 0, &mut |black_men| {
                let free = playable & !white_men & !black_men;
                subsets(free, white.count(KING), 0, &mut |white_kings| {
                    subsets(free & !white_kings, black.count(KING), 0, &mut |black_kings| {
                        visit(&Position {
                            men: [white_men, black_men],
                            kings: [white_kings, black_kings],
                            turn,
                        });
                    });
                });
            });
        },
    );
}

/// The same position seen from the other side: colours swapped, board turned.
#[must_use]
pub fn swapped(board: &Board, position: &Position) -> Position {
    let swap = |sets: [SquareSet; 2]| [board.half_turn(sets[1]), board.half_turn(sets[0])];
    Position {
        men: swap(position.men),
        kings: swap(position.kings),
        turn: position.turn.other(),
    }
}

/// Repeatable random numbers (xorshift64*).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let word = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(word) * u128::from(limit)) >> 64) as u64
    }

    /// A random placement of two armies, either side to move.
    pub fn position(&mut self, board: &Board, white: Army, black: Army) -> Position {
        let mut position = Position {
            men: [0; 2],
            kings: [0; 2],
            turn: [Colour::White, Colour::Black][self.below(2) as usize],
        };
        for (colour, army) in [(Colour::White, white), (Colour::Black, black)] {
            for _ in 0..army.count(MAN) {
                let free = men_squares(board, colour) & !position.occupied();
                position.men[colour as usize] |= self.square(free);
            }
        }
        for (colour, army) in [(Colour::White, white), (Colour::Black, black)] {
            for _ in 0..army.count(KING) {
                let free = board.playable() & !position.occupied();
                position.kings[colour as usize] |= self.square(free);
            }
        }
        position
    }

    fn square(&mut self, mut set: SquareSet) -> SquareSet {
        for _ in 0..self.below(set.count_ones().into()) {
            set &= set - 1;
        }
        set & set.wrapping_neg()
    }
}
