//! Moves in PDN.

use std::sync::OnceLock;

use super::super::names::SquareNames;
use super::super::position::Colour;
use super::super::rules::{NameStyle, Rules, SquareKind};
use super::*;
use crate::game_text::{Fitting, Notation};
use crate::spelling::shortened;

/// Positions and moves of a draughts game in PDN.
pub(super) struct PdnNotation<'a> {
    game: &'a Game,
    /// The other way to name squares, once it is asked for.
    other_names: OnceLock<Option<SquareNames>>,
}

impl Notation for PdnNotation<'_> {
    type Game = Game;

    const SETUP_TAG: Option<&'static str> = None;
    const LOOSE_NUMBERS: bool = false;
    const TELLS_APART: &'static str = "the squares on which the piece lands, written out";

    fn game(&self) -> &Game {
        self.game
    }

    fn move_text(&self, position: &Position, played: &Move, legal: &[Move]) -> String {
        self.game
            .move_text(played, legal, |capture| self.game.route(position, capture))
    }

    fn fitting(&self, word: &str, position: &Position, legal: &[Move]) -> Fitting<Self> {
        let meant = self.meant(word)?;
        Ok(meant.map(|meant| meant.choose(self.game, position, legal)))
    }

    fn first_number(&self, _start: &Position) -> u32 {
        1
    }

    fn opener(&self) -> Colour {
        if self.game.rules().white_first {
            Colour::White
        } else {
            Colour::Black
        }
    }
}

impl<'a> PdnNotation<'a> {
    pub(super) fn new(game: &'a Game) -> Self {
        Self {
            game,
            other_names: OnceLock::new(),
        }
    }

    fn other_names(&self) -> Option<&SquareNames> {
        let named = || {
            let rules = self.game.rules();
            let names = match (rules.names, rules.squares) {
                (NameStyle::NumberTop | NameStyle::NumberBottomRight, _) => NameStyle::Algebraic,
                (NameStyle::Algebraic, SquareKind::Dark | SquareKind::Mirror) => NameStyle::NumberTop,
                (NameStyle::Algebraic, SquareKind::All) => return None,
            };
            let rules = Rules { names, ..rules.clone() };
            Some(SquareNames::new(&rules, self.game.board()))
        };
        self.other_names.get_or_init(named).as_ref()
    }

    /// The squares of a word that has the form of a move.
    fn meant(&self, word: &str) -> Result<Option<Meant>, PdnErrorKind> {
        let (squares, crowned) = word.strip_suffix("=K").map_or((word, false), |squares| (squares, true));
        let names: Vec<&str> = squares.split(['-', 'x', 'X', ':']).collect();
        let quiet = squares.contains('-');
        if names.len() < 2 || quiet && names.len() > 2 || names.contains(&"") {
            return Ok(None);
        }
        let mut path = Vec::with_capacity(names.len());
        for name in names {
            path.push(self.square(name).ok_or_else(|| {
                let order = self.game.squares_in_order();
                let end =
                    |square: Option<&u8>| square.map_or_else(String::new, |&square| self.game.square_name(square));
                PdnErrorKind::Square {
                    text: shortened(word),
                    found: shortened(name),
                    count: order.len(),
                    first: end(order.first()),
                    last: end(order.last()),
                }
            })?);
        }
        let from = path.remove(0);
        Ok(Some(Meant {
            from,
            path,
            quiet,
            crowned,
        }))
    }

    fn square(&self, name: &str) -> Option<u8> {
        // Numbers may have leading zeros: `05-10`.
        let name = match name.trim_start_matches('0') {
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => number,
            _ => name,
        };
        self.game
            .square_by_name(name)
            .or_else(|| self.other_names()?.square(name))
    }
}

/// What a word says of a move.
struct Meant {
    from: u8,
    /// Squares after the first, the end last.
    path: Vec<u8>,
    quiet: bool,
    crowned: bool,
}

impl Meant {
    /// The legal moves that may be meant: those that fit best.
    fn choose(&self, game: &Game, position: &Position, legal: &[Move]) -> Vec<Move> {
        let ends = legal.iter().filter(|m| {
            let square = self.path.last() == Some(&m.to) && m.from == self.from;
            square && (m.captured == 0) == self.quiet && (m.to_king || !self.crowned)
        });
        let mut fitting: Vec<Move> = ends.copied().collect();
        if !self.quiet && (fitting.len() > 1 || self.path.len() > 1) {
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            for played in fitting {
                let (mut same, mut through) = (false, false);
                game.each_route(position, &played, |route| {
                    same |= route == self.path;
                    through |= self.goes_along(route, played.captured);
                    !same
                });
                if same {
                    whole.push(played);
                } else if through {
                    parts.push(played);
                }
            }
            fitting = if whole.is_empty() { parts } else { whole };
        }
        // Where only the piece's kind differs, a king is marked.
        if !self.crowned && fitting.len() > 1 {
            let men: Vec<Move> = fitting.iter().filter(|m| !m.to_king).copied().collect();
            let same_but_kind = fitting.iter().all(|m| m.captured == fitting[0].captured);
            if same_but_kind && men.len() == 1 {
                return men;
            }
        }
        fitting
    }

    /// Whether the squares in between are landing squares of a route, in its
    /// order, or those of captured pieces.
    fn goes_along(&self, route: &[u8], captured: u128) -> bool {
        let mut route = route.iter();
        let (_, between) = self.path.split_last().unwrap_or((&0, &[]));
        between
            .iter()
            .all(|square| captured >> square & 1 == 1 || route.any(|landing| landing == square))
    }
}
