//! Conditions on squares, and the unfolded placements behind an index entry.

use petrov_games::{Bits, Colour, Game, Kind, Placement, Rulebook, Side};
use petrov_probe::SliceIndex;

use super::file::squares_of;
use super::{Adjacent, Asked, Party, PieceOn, Said};

/// Pieces of some kind on some squares, as the side to move sees them.
struct Spot<S> {
    sides: Vec<Side>,
    kind: Kind,
    squares: S,
}

impl<S: Bits> Spot<S> {
    fn is_taken<P: Placement<Set = S>>(&self, placement: &P) -> bool {
        let on = |side: &Side| !(placement.pieces(*side, self.kind) & self.squares).is_empty();
        self.sides.iter().any(on)
    }
}

/// The conditions of a claim that depend on squares, with one side to move.
pub(super) struct Conditions<S> {
    on: Vec<Spot<S>>,
    off: Vec<Spot<S>>,
    /// The piece and squares with which a side is said not to lose.
    safe: Option<(Kind, S)>,
    adjacent: Option<(Vec<Side>, [Kind; 2])>,
    /// The squares around each square.
    around: Vec<S>,
}

impl<S: Bits> Conditions<S> {
    /// Those of a claim that was read for this game; `None` if its pieces or
    /// squares are not the game's.
    pub(super) fn new<G: Game, R: Rulebook<Set = S>>(
        game: &G,
        rulebook: &R,
        asked: &Asked,
        said: &Said,
        turn: Colour,
    ) -> Option<Self> {
        let kind = |letter: u8| {
            rulebook
                .kinds()
                .iter()
                .find(|(_, own)| *own == letter)
                .map(|(kind, _)| *kind)
        };
        let seen = |set: S| {
            if turn == Colour::White {
                set
            } else {
                rulebook.turned_set(set)
            }
        };
        let squares = |names: &[String]| -> Option<S> {
            let mut all = S::ZERO;
            for name in names {
                for square in squares_of(game, name).ok()? {
                    all |= S::bit(square);
                }
            }
            Some(seen(all))
        };
        let spots = |all: &[PieceOn]| -> Option<Vec<Spot<S>>> {
            let spot = |on: &PieceOn| {
                Some(Spot {
                    sides: sides(on.side, turn),
                    kind: kind(on.piece)?,
                    squares: squares(&on.squares)?,
                })
            };
            all.iter().map(spot).collect()
        };
        let safe = match said {
            Said::DoesNotLose { piece, squares: names } => Some((kind(*piece)?, squares(names)?)),
            _ => None,
        };
        let adjacent = match &asked.adjacent {
            Some(Adjacent { side, pieces }) => Some((sides(*side, turn), [kind(pieces[0])?, kind(pieces[1])?])),
            None => None,
        };
        Some(Self {
            on: spots(&asked.on)?,
            off: spots(&asked.off)?,
            safe,
            adjacent,
            around: around(game),
        })
    }

    /// Whether symmetric placements may differ in what is asked or said of
    /// them.
    pub(super) fn name_squares(&self) -> bool {
        !self.on.is_empty() || !self.off.is_empty() || self.safe.is_some()
    }

    /// Whether pieces stand where they are asked to.
    pub(super) fn hold<P: Placement<Set = S>>(&self, placement: &P) -> bool {
        self.on.iter().all(|spot| spot.is_taken(placement)) && !self.off.iter().any(|spot| spot.is_taken(placement))
    }

    /// Whether the pieces that are asked to be side by side are; a symmetry
    /// changes nothing.
    pub(super) fn are_adjacent<P: Placement<Set = S>>(&self, placement: &P) -> bool {
        let Some((sides, [one, other])) = &self.adjacent else {
            return true;
        };
        sides.iter().any(|side| {
            let others = placement.pieces(*side, *other);
            let mut ones = placement.pieces(*side, *one).squares();
            ones.any(|square| !(self.around[usize::from(square)] & others).is_empty())
        })
    }

    /// Whether a side has the piece with which it is said not to lose.
    pub(super) fn is_safe<P: Placement<Set = S>>(&self, placement: &P, side: Side) -> bool {
        self.safe
            .is_some_and(|(kind, squares)| !(placement.pieces(side, kind) & squares).is_empty())
    }
}

/// The sides that are meant, in canonical colours: the strong one is White.
fn sides(party: Party, turn: Colour) -> Vec<Side> {
    let seen = |colour: Colour| if colour == turn { Side::Own } else { Side::Opponent };
    match party {
        Party::Strong | Party::White => vec![seen(Colour::White)],
        Party::Weak | Party::Black => vec![seen(Colour::Black)],
        Party::Either => vec![Side::Own, Side::Opponent],
    }
}

/// The squares that touch each square. Seen from the other side they are the
/// same, as the turned board is the same board.
fn around<G: Game, S: Bits>(game: &G) -> Vec<S> {
    let (files, ranks) = game.size();
    let mut all = vec![S::ZERO; S::WIDTH as usize];
    for file in 0..files {
        for rank in 0..ranks {
            let Some(square) = game.square_at(file, rank) else {
                continue;
            };
            for near_file in file.saturating_sub(1)..=(file + 1).min(files - 1) {
                for near_rank in rank.saturating_sub(1)..=(rank + 1).min(ranks - 1) {
                    if let Some(near) = game.square_at(near_file, near_rank).filter(|near| *near != square) {
                        all[usize::from(square)] |= S::bit(near);
                    }
                }
            }
        }
    }
    all
}

/// Leads from the entries of an index to all placements that they stand for.
///
/// An index counts placements of its first digit that a symmetry maps onto each
/// other once. For each of them there is one symmetry that leads there, and
/// it takes the other pieces along: so every placement comes from exactly one
/// entry.
pub(super) struct Unfolding<'a, R: Rulebook> {
    rulebook: &'a R,
    index: &'a SliceIndex<R::Set>,
    maps: Vec<Vec<u8>>,
}

impl<'a, R: Rulebook> Unfolding<'a, R> {
    /// For an index of these armies in solving order.
    pub(super) fn new(rulebook: &'a R, index: &'a SliceIndex<R::Set>, maps: Vec<Vec<u8>>) -> Self {
        Self { rulebook, index, maps }
    }

    /// The maps to the placements that an entry with this first digit stands
    /// for, the identity first. `placement` is that of such an entry.
    pub(super) fn maps(&self, lead: u64, placement: &R::Placement) -> Vec<&[u8]> {
        let weight = self.index.weight(lead);
        let mut first = R::Placement::default();
        if self.index.has_standing() {
            for side in [Side::Own, Side::Opponent] {
                first.add(side, Kind::STANDING, placement.pieces(side, Kind::STANDING));
            }
        } else {
            for (kind, _) in self.rulebook.kinds() {
                first.add(Side::Opponent, *kind, placement.pieces(Side::Opponent, *kind));
            }
        }
        let mut images: Vec<R::Placement> = Vec::new();
        let mut leading: Vec<&[u8]> = Vec::new();
        for map in &self.maps {
            let image = self.mapped(&first, map);
            if leading.len() as u64 == weight {
                break;
            }
            if !images.contains(&image) {
                images.push(image);
                leading.push(map);
            }
        }
        debug_assert_eq!(leading.len() as u64, weight);
        leading
    }

    /// A placement with every piece moved by a map.
    pub(super) fn mapped(&self, placement: &R::Placement, map: &[u8]) -> R::Placement {
        let mut image = R::Placement::default();
        for side in [Side::Own, Side::Opponent] {
            for (kind, _) in self.rulebook.kinds() {
                let squares = placement.pieces(side, *kind).squares();
                let set = squares.fold(R::Set::ZERO, |set, square| {
                    set | R::Set::bit(map.get(usize::from(square)).copied().unwrap_or(square))
                });
                image.add(side, *kind, set);
            }
        }
        image
    }
}
