//! What the tests of this crate share: games by name, chance, random rule sets
//! and positions.

// Each test program uses a part of this.
#![allow(dead_code)]

pub(crate) mod json;
pub(crate) mod reference;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use petrov_games::draughts::{
    Colour, Game, Goal, KingDirections, KingLand, ManCapture, ManMove, Move, NameStyle, Position, Priority,
    PromoCapture, Removal, RuleFile, Rules, SquareKind, SquareSet,
};

use reference::{Grid, Piece, Place, Played, Reference};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The rule file of a name.
pub(crate) fn rule_file(name: &str) -> RuleFile {
    let path = folder("rules").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    RuleFile::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The game of a name.
pub(crate) fn game(name: &str) -> Game {
    Game::new(rule_file(name))
}

/// The game of some rules.
pub(crate) fn game_of(rules: &Rules) -> Game {
    Game::new(RuleFile {
        name: "made-up".to_owned(),
        description: String::new(),
        source: String::new(),
        rules: rules.clone(),
    })
}

/// The rules of a name after a change.
pub(crate) fn changed(name: &str, change: impl FnOnce(&mut Rules)) -> Rules {
    let mut rules = rule_file(name).rules;
    change(&mut rules);
    rules
}

/// Names of the files with an ending in a folder of this crate, in order.
fn names_in(path: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder(path)).unwrap();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(ending).map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// All games for which there is a rule file.
pub(crate) fn all_games() -> Vec<Game> {
    let games: Vec<Game> = names_in("rules", ".toml").iter().map(|name| game(name)).collect();
    assert!(games.len() >= 30, "only {} rule files", games.len());
    games
}

/// The oracles of draughts games, with the game of each.
pub(crate) fn oracles() -> Vec<(Game, json::Json)> {
    let names = names_in("../tests/oracle", ".json");
    let oracles: Vec<_> = names
        .iter()
        .filter(|name| *name != "chess")
        .map(|name| {
            let path = folder("../tests/oracle").join(format!("{name}.json"));
            let text = std::fs::read_to_string(path).unwrap();
            (game(name), json::parse(&text))
        })
        .collect();
    assert!(oracles.len() >= 8, "only {} oracles", oracles.len());
    oracles
}

/// Numbers that look random and are the same in every run (SplitMix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

pub(crate) const MAN_MOVES: [ManMove; 3] = [
    ManMove::DiagonalForward,
    ManMove::StraightForwardSide,
    ManMove::StraightForwardSideDiagonalForward,
];
pub(crate) const MAN_CAPTURES: [ManCapture; 5] = [
    ManCapture::DiagonalForward,
    ManCapture::DiagonalAll,
    ManCapture::AllEight,
    ManCapture::StraightForwardSide,
    ManCapture::StraightAll,
];
pub(crate) const KING_DIRECTIONS: [KingDirections; 3] = [
    KingDirections::Diagonal,
    KingDirections::Straight,
    KingDirections::AllEight,
];
pub(crate) const KING_LANDS: [KingLand; 3] = [KingLand::Any, KingLand::Adjacent, KingLand::AdjacentIfLastIsKing];
pub(crate) const PRIORITIES: [Priority; 7] = [
    Priority::Free,
    Priority::Count,
    Priority::CountKings,
    Priority::CountKingsWithKing,
    Priority::Italian,
    Priority::Frisian,
    Priority::KingFirst,
];
pub(crate) const PROMOTIONS: [PromoCapture; 3] = [PromoCapture::Stop, PromoCapture::Pass, PromoCapture::Continue];
pub(crate) const GOALS: [Goal; 4] = [Goal::Normal, Goal::Misere, Goal::Breakthrough, Goal::Ghana];

/// Any rules that a rule file could give.
pub(crate) fn random_rules(chance: &mut Chance) -> Rules {
    let squares = chance.pick(&[SquareKind::Dark, SquareKind::Mirror, SquareKind::All]);
    let (files, ranks) = loop {
        let sides = (4 + chance.below(9), 4 + chance.below(9));
        let fits = match squares {
            SquareKind::All => sides.0 * sides.1 <= 128,
            SquareKind::Dark | SquareKind::Mirror => sides.0.is_multiple_of(2) && sides.1.is_multiple_of(2),
        };
        if fits {
            break (sides.0 as u8, sides.1 as u8);
        }
    };
    Rules {
        files,
        ranks,
        squares,
        names: chance.pick(&[NameStyle::Algebraic, NameStyle::NumberTop, NameStyle::NumberBottomRight]),
        white_first: chance.once_in(2),
        rows: (1, 1),
        man_move: chance.pick(&MAN_MOVES),
        man_leap_own: chance.once_in(3),
        man_capture: chance.pick(&MAN_CAPTURES),
        man_takes_king: !chance.once_in(3),
        king_flying: !chance.once_in(3),
        king_move: chance.pick(&KING_DIRECTIONS),
        king_capture: chance.pick(&KING_DIRECTIONS),
        king_land: chance.pick(&KING_LANDS),
        king_must_extend: chance.once_in(2),
        forced: !chance.once_in(4),
        priority: chance.pick(&PRIORITIES),
        removal: chance.pick(&[Removal::After, Removal::AtOnce]),
        u_turn: chance.once_in(2),
        promo_capture: chance.pick(&PROMOTIONS),
        goal: chance.pick(&GOALS),
    }
}

/// How pieces are strewn.
#[derive(Clone, Copy)]
enum Pattern {
    /// Anywhere.
    Even,
    /// The waiting side's pieces on every second rank, with room between them.
    Lattice,
    /// Few pieces of the mover among many others.
    Hunt,
}

/// A position with pieces of both sides that is not over by its pieces alone.
pub(crate) fn random_position(chance: &mut Chance, game: &Game) -> Position {
    let (rules, board) = (game.rules(), game.board());
    let squares: Vec<u8> = (0..board.bits()).filter(|&s| board.playable() >> s & 1 == 1).collect();
    let least = if rules.goal == Goal::Ghana { 2 } else { 1 };
    let kings_in = chance.pick(&[0, 1, 2, 2, 3, 4]);
    let kings_allowed = rules.goal != Goal::Breakthrough;
    let pattern = chance.pick(&[Pattern::Even, Pattern::Even, Pattern::Lattice, Pattern::Hunt]);
    let most = squares.len() * chance.pick(&[1, 2, 3, 4]) / 8;
    loop {
        let turn = chance.pick(&[Colour::White, Colour::Black]);
        let mut position = Position {
            men: [0; 2],
            kings: [0; 2],
            turn,
        };
        let total = 2 * least + chance.below(most);
        let phase = (chance.below(2) as u8, chance.below(2) as u8);
        for _ in 0..total {
            let square = chance.pick(&squares);
            let (file, rank) = board.coordinates(square);
            let colour = match pattern {
                Pattern::Even => chance.pick(&[Colour::White, Colour::Black]),
                Pattern::Lattice | Pattern::Hunt if chance.once_in(5) => turn,
                Pattern::Lattice if rank % 2 != phase.1 || board.is_all() && file % 2 != phase.0 => continue,
                Pattern::Lattice | Pattern::Hunt => turn.other(),
            };
            let last_rank = if colour == Colour::White { board.ranks() - 1 } else { 0 };
            let king = kings_allowed && kings_in > 0 && chance.below(4) < kings_in;
            if position.occupied() >> square & 1 == 1 || !king && rank == last_rank {
                continue;
            }
            let set = if king { &mut position.kings } else { &mut position.men };
            set[colour as usize] |= 1 << square;
        }
        if [Colour::White, Colour::Black]
            .iter()
            .all(|&colour| position.side(colour).count_ones() >= least as u32)
        {
            return position;
        }
    }
}

/// File and rank of a square as White sees them on the board that is played
/// on: `mirror` boards are kept as their reflection.
pub(crate) fn place(game: &Game, square: u8) -> Place {
    let (file, rank) = game.board().coordinates(square);
    let file = match game.rules().squares {
        SquareKind::Mirror => game.board().files() - 1 - file,
        SquareKind::Dark | SquareKind::All => file,
    };
    (file.into(), rank.into())
}

/// Whether a position has more chains of captures than a test should look at.
pub(crate) fn too_rich(game: &Game, position: &Position) -> bool {
    Reference::new(game.rules())
        .complete_chains(&grid(game, position), position.turn == Colour::White)
        .is_none()
}

/// The squares of a set in ascending order.
pub(crate) fn squares_of(set: SquareSet) -> impl Iterator<Item = u8> {
    (0..128).filter(move |square| set >> square & 1 == 1)
}

/// The pieces of a position by file and rank.
pub(crate) fn grid(game: &Game, position: &Position) -> Grid {
    let mut grid = Grid::default();
    for colour in [Colour::White, Colour::Black] {
        for (set, king) in [
            (position.men[colour as usize], false),
            (position.kings[colour as usize], true),
        ] {
            for square in squares_of(set) {
                let piece = Piece {
                    white: colour == Colour::White,
                    king,
                    jumped: false,
                };
                grid.put(place(game, square), Some(piece));
            }
        }
    }
    grid
}

/// A move of the crate by files and ranks.
pub(crate) fn played(game: &Game, mv: &Move) -> Played {
    Played {
        from: place(game, mv.from),
        to: place(game, mv.to),
        captured: squares_of(mv.captured).map(|square| place(game, square)).collect(),
        by_man: mv.by_man,
        to_king: mv.to_king,
    }
}

/// A move as text with everything that tells moves apart.
pub(crate) fn full_text(game: &Game, mv: &Move) -> String {
    let mark = if mv.captured == 0 { '-' } else { 'x' };
    let taken: Vec<String> = squares_of(mv.captured)
        .map(|square| game.square_name(square))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let kind = if mv.by_man && mv.to_king { "=K" } else { "" };
    format!(
        "{}{mark}{}{kind} {{{}}}",
        game.square_name(mv.from),
        game.square_name(mv.to),
        taken.join(",")
    )
}

/// The legal moves of a position as texts; each must be there once.
pub(crate) fn legal_texts(game: &Game, fen: &str) -> BTreeSet<String> {
    let position = game
        .parse_fen(fen)
        .unwrap_or_else(|error| panic!("{} {fen}: {error}", game.name()));
    let legal = game.legal_moves(&position);
    let texts: BTreeSet<String> = legal.iter().map(|mv| full_text(game, mv)).collect();
    assert_eq!(texts.len(), legal.len(), "{} {fen}: a move is there twice", game.name());
    texts
}

/// The legal moves of a position must be exactly these, in the words of
/// [`full_text`].
pub(crate) fn expect_moves(game: &Game, fen: &str, moves: &[&str]) {
    let expected: BTreeSet<String> = moves.iter().map(|&text| text.to_owned()).collect();
    assert_eq!(legal_texts(game, fen), expected, "{} {fen}", game.name());
}
