//! A game's tables, whatever its family, and positions of the interface.

use petrov_games::chess::{Board, Kind, NO_SQUARE, Side};
use petrov_games::{AnyGame, Colour, Game, chess, draughts};
use petrov_probe::{
    BestMoves, CountRule, Distance, Filled, Handle, HandleStats, Metric, Node, PieceLimit, Prober, Ranking, Score,
    Tables, Value,
};

use crate::status::{Fault, PetrovStatus};
use crate::types::{PetrovChess, PetrovDraughts, PetrovMode};

/// A prober with the tables that it reads.
#[derive(Clone)]
pub(crate) struct Opened {
    tables: Tables,
    prober: AnyProber,
}

#[derive(Clone)]
enum AnyProber {
    Draughts(Prober<draughts::Game>),
    Chess(Prober<chess::Game>),
}

macro_rules! with_prober {
    ($opened:expr, $prober:ident => $body:expr) => {
        match &$opened.prober {
            AnyProber::Draughts($prober) => $body,
            AnyProber::Chess($prober) => $body,
        }
    };
}

impl Opened {
    pub(crate) fn new(tables: Tables, game: &AnyGame) -> Result<Self, Fault> {
        let prober = match game {
            AnyGame::Draughts(game) => AnyProber::Draughts(tables.prober(game)?),
            AnyGame::Chess(game) => AnyProber::Chess(tables.prober(game)?),
        };
        Ok(Self { tables, prober })
    }

    pub(crate) fn limit(&self, metric: Metric) -> PieceLimit {
        with_prober!(self, prober => prober.limit(metric))
    }

    pub(crate) fn warm(&self, metric: Metric, pieces: u8, bytes: u64) -> Result<Filled, Fault> {
        Ok(with_prober!(self, prober => prober.warm(metric, pieces, bytes))?)
    }

    pub(crate) fn unpack(&self, pieces: u8, bytes: u64) -> Result<Filled, Fault> {
        Ok(with_prober!(self, prober => prober.unpack(pieces, bytes))?)
    }

    pub(crate) fn handle(&self) -> OpenHandle {
        let handle = match &self.prober {
            AnyProber::Draughts(prober) => AnyHandle::Draughts(prober.handle()),
            AnyProber::Chess(prober) => AnyHandle::Chess(prober.handle()),
        };
        OpenHandle {
            tables: self.tables.clone(),
            handle,
        }
    }
}

/// A handle with the tables that it reads.
pub(crate) struct OpenHandle {
    pub(crate) tables: Tables,
    handle: AnyHandle,
}

enum AnyHandle {
    Draughts(Handle<draughts::Game>),
    Chess(Handle<chess::Game>),
}

/// A position of the interface.
pub(crate) enum Asked<'a> {
    Fen(&'a str),
    Draughts(PetrovDraughts),
    Chess(PetrovChess),
}

/// What a probe found: a score, or one of the two statuses that are no errors.
pub(crate) type Found = Result<Score, PetrovStatus>;

const OTHER_FAMILY: Fault = Fault::new(
    PetrovStatus::Argument,
    "the position is one of another family than the game's",
);
const NO_SIDE: Fault = Fault::new(PetrovStatus::Argument, "field turn: expected 0 (White) or 1 (Black)");
const NO_POSITION: Fault = Fault::new(
    PetrovStatus::Position,
    "pieces overlap, stand where they cannot, or are of no kind of this game",
);

fn turn(turn: i32) -> Result<Colour, Fault> {
    match turn {
        0 => Ok(Colour::White),
        1 => Ok(Colour::Black),
        _ => Err(NO_SIDE),
    }
}

fn draughts_position(game: &draughts::Game, asked: &PetrovDraughts) -> Result<draughts::Position, Fault> {
    let squares = game.squares_in_order();
    let set = |[low, high]: [u64; 2]| {
        let mut rest = u128::from(low) | u128::from(high) << 64;
        let mut set = 0u128;
        while rest != 0 {
            let square = squares.get(rest.trailing_zeros() as usize).ok_or(NO_POSITION)?;
            set |= 1 << square;
            rest &= rest - 1;
        }
        Ok::<u128, Fault>(set)
    };
    let [white, black] = asked.men;
    let men = [set(white)?, set(black)?];
    let [white, black] = asked.kings;
    Ok(draughts::Position {
        men,
        kings: [set(white)?, set(black)?],
        turn: turn(asked.turn)?,
    })
}

/// `None` if it has a right that tables do not hold.
fn chess_position(game: &chess::Game, asked: &PetrovChess) -> Result<Option<chess::Position>, Fault> {
    if asked.castling != 0 {
        return Ok(None);
    }
    let rules = game.rules();
    let mut board = Board::EMPTY;
    let mut met = 0;
    let kinds = [
        ('k', asked.kings),
        ('q', asked.queens),
        ('r', asked.rooks),
        ('b', asked.bishops),
        ('n', asked.knights),
        ('p', asked.pawns),
    ];
    for (letter, set) in kinds {
        if set == 0 {
            continue;
        }
        let kind: Kind = rules.kind(letter).ok_or(NO_POSITION)?;
        if met & set != 0 {
            return Err(NO_POSITION);
        }
        met |= set;
        board.put_all(kind, Side::Own, set & asked.white);
        board.put_all(kind, Side::Opponent, set & asked.black);
    }
    if asked.white & asked.black != 0 || asked.white | asked.black != met {
        return Err(NO_POSITION);
    }
    let mut position = chess::Position {
        board,
        turn: turn(asked.turn)?,
        halfmove: 0,
        fullmove: 1,
    };
    if asked.en_passant != -1 {
        let square = u8::try_from(asked.en_passant).ok().filter(|square| *square < NO_SQUARE);
        let square = square.ok_or(Fault::new(
            PetrovStatus::Argument,
            "field en_passant: expected a square from 0 to 63, or -1",
        ))?;
        // Rare, and reading a FEN checks that a pawn can just have passed there.
        let fen = game.fen(&position);
        let mut fields: Vec<&str> = fen.split(' ').collect();
        let name = game.square_name(square);
        if let Some(field) = fields.get_mut(3) {
            *field = &name;
        }
        position = game
            .parse_fen(&fields.join(" "))
            .map_err(|error| Fault::of(PetrovStatus::Position, &error))?;
    }
    Ok(Some(position))
}

fn fen<G: Game>(game: &G, text: &str) -> Result<G::Position, Fault> {
    game.parse_fen(text)
        .map_err(|error| Fault::of(PetrovStatus::Fen, &error))
}

fn probe<G: Game>(
    handle: &mut Handle<G>,
    position: &G::Position,
    metric: Metric,
    mode: PetrovMode,
) -> Result<Found, Fault> {
    Ok(match mode {
        PetrovMode::Search => handle.score(position, metric)?.ok_or(PetrovStatus::NotInTable),
        PetrovMode::Lookup => match handle.node(position)? {
            Node::Value(value) => Ok(Score::new(value, 0)),
            Node::NotInTable => Err(PetrovStatus::NotInTable),
            Node::NeedsCaptureSearch => Err(PetrovStatus::NeedsCaptureSearch),
        },
    })
}

/// The texts and distances of moves.
type Listed = Vec<(String, Distance, Distance)>;

fn listed<G: Game>(best: BestMoves<G>) -> (petrov_probe::Value50, Listed) {
    let moves = best
        .moves
        .into_iter()
        .map(|ranked| (ranked.text, ranked.dtw, ranked.dtz));
    (best.result, moves.collect())
}

impl OpenHandle {
    pub(crate) fn probe(&mut self, asked: &Asked<'_>, metric: Metric, mode: PetrovMode) -> Result<Found, Fault> {
        match (&mut self.handle, asked) {
            (AnyHandle::Draughts(handle), Asked::Draughts(asked)) => {
                let position = draughts_position(handle.prober().game(), asked)?;
                probe(handle, &position, metric, mode)
            }
            (AnyHandle::Chess(handle), Asked::Chess(asked)) => match chess_position(handle.prober().game(), asked)? {
                Some(position) => probe(handle, &position, metric, mode),
                None => Ok(Err(PetrovStatus::NotInTable)),
            },
            (AnyHandle::Draughts(handle), Asked::Fen(text)) => {
                let position = fen(handle.prober().game(), text)?;
                probe(handle, &position, metric, mode)
            }
            (AnyHandle::Chess(handle), Asked::Fen(text)) => {
                let position = fen(handle.prober().game(), text)?;
                probe(handle, &position, metric, mode)
            }
            _ => Err(OTHER_FAMILY),
        }
    }

    pub(crate) fn best_moves(
        &self,
        text: &str,
        ranking: Ranking,
        rule: CountRule,
    ) -> Result<(petrov_probe::Value50, Listed), Fault> {
        match &self.handle {
            AnyHandle::Draughts(handle) => {
                let prober = handle.prober();
                Ok(listed(prober.best_moves(&fen(prober.game(), text)?, ranking, rule)?))
            }
            AnyHandle::Chess(handle) => {
                let prober = handle.prober();
                Ok(listed(prober.best_moves(&fen(prober.game(), text)?, ranking, rule)?))
            }
        }
    }

    pub(crate) fn prefetch(&self, text: &str, metric: Metric) -> Result<(), Fault> {
        match &self.handle {
            AnyHandle::Draughts(handle) => {
                let prober = handle.prober();
                prober.prefetch(&fen(prober.game(), text)?, metric);
            }
            AnyHandle::Chess(handle) => {
                let prober = handle.prober();
                prober.prefetch(&fen(prober.game(), text)?, metric);
            }
        }
        Ok(())
    }

    pub(crate) fn stats(&self) -> HandleStats {
        match &self.handle {
            AnyHandle::Draughts(handle) => handle.stats(),
            AnyHandle::Chess(handle) => handle.stats(),
        }
    }
}

/// A value without a rule of counting, as the interface has it.
pub(crate) fn value_number(value: Value) -> i32 {
    2 * (value as i32 - Value::Draw as i32)
}
