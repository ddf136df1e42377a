//! Looking positions up.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use petrov_games::draughts::{Colour, Engine, Game, Generator, Move, Pieces, Position};
use petrov_games::{Bits, Fingerprint};

use crate::cache::{BlockCache, CacheStats};
use crate::format::Family;
use crate::index::{DigitOrder, SliceIndex};
use crate::material::{Army, Material, View};
use crate::score::{Metric, Score, Value};
use crate::table::{Table, TableError};

/// Why a position could not be looked up.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The tables hold nothing of this material.
    #[error("table {game}/{material}.{metric} is missing in {dirs}; `petrov gen {game} {material}` builds it there")]
    Missing {
        /// The game asked for.
        game: String,
        /// The position's material, or that of a position a capture leads to.
        material: Material,
        /// What was to be looked up.
        metric: Metric,
        /// The folders in which there is none.
        dirs: String,
    },
    /// The table is there but cannot be used.
    #[error(transparent)]
    Table(Arc<TableError>),
    /// The table at this path was built under other rules.
    #[error("{path}: this table is of other rules than {game}'s (fingerprint {found}, expected {expected})", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The game asked for.
        game: String,
        /// Fingerprint in the file.
        found: Fingerprint,
        /// Fingerprint of the game.
        expected: Fingerprint,
    },
    /// The header of a table names what cannot be.
    #[error("{path}: damaged table: {what}", path = path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Pieces overlap, stand off the board or on their promotion row.
    #[error(
        "this is no position of {game}: pieces overlap, stand beside the board, or men stand on their promotion row"
    )]
    NoPosition {
        /// The game asked for.
        game: String,
    },
    /// A best line needs distances.
    #[error(
        "a line needs a table of distances for {game}/{material}; `petrov gen {game} {material} --metric wld,dtw` builds it"
    )]
    NoDistances {
        /// The game asked for.
        game: String,
        /// The position's material.
        material: Material,
    },
}

/// A folder or file that could not be read while looking for tables.
#[derive(Debug, thiserror::Error)]
#[error("cannot look for tables in {path}: {source}", path = path.display())]
pub struct OpenError {
    path: PathBuf,
    source: std::io::Error,
}

/// All tables found in some folders, of any games.
///
/// Shared freely between threads; there is no state outside it.
#[derive(Debug)]
pub struct Tables {
    tables: Vec<Table>,
    /// Files that look like tables but cannot be used.
    faults: BTreeMap<PathBuf, Arc<TableError>>,
    dirs: Vec<PathBuf>,
    cache: BlockCache,
}

/// Ending of the names of table files.
pub const EXTENSION: &str = "petrov";

/// Where the table of a game, material and metric is kept below a folder.
#[must_use]
pub fn table_path(dir: &Path, game: &str, material: Material, metric: Metric) -> PathBuf {
    dir.join(game).join(format!("{material}.{metric}.{EXTENSION}"))
}

impl Tables {
    /// Opens every table below the folders, with a cache of
    /// [`crate::DEFAULT_CACHE_BYTES`]. A folder that does not exist holds no tables.
    /// Damaged tables are left out; they are reported when they are asked for.
    ///
    /// # Errors
    /// A folder that exists but cannot be read.
    pub fn open<P: AsRef<Path>>(dirs: &[P]) -> Result<Self, OpenError> {
        Self::open_with(dirs, BlockCache::default())
    }

    /// As [`Tables::open`] with a cache of your own.
    ///
    /// # Errors
    /// A folder that exists but cannot be read.
    pub fn open_with<P: AsRef<Path>>(dirs: &[P], cache: BlockCache) -> Result<Self, OpenError> {
        let mut files = Vec::new();
        for dir in dirs {
            let mut found = Vec::new();
            collect(dir.as_ref(), 0, &mut found)?;
            found.sort();
            files.append(&mut found);
        }
        let mut all = Self {
            tables: Vec::new(),
            faults: BTreeMap::new(),
            dirs: dirs.iter().map(|dir| dir.as_ref().to_owned()).collect(),
            cache,
        };
        for path in files {
            match Table::open(&path, &all.cache) {
                Ok(table) => all.tables.push(table),
                Err(error) => {
                    all.faults.insert(path, Arc::new(error));
                }
            }
        }
        Ok(all)
    }

    /// All usable tables, in the order of the folders and of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter()
    }

    /// Files that look like tables but cannot be used, and why.
    pub fn faults(&self) -> impl Iterator<Item = (&Path, &TableError)> {
        self.faults.iter().map(|(path, error)| (path.as_path(), error.as_ref()))
    }

    /// What the block cache holds and has done.
    #[must_use]
    pub fn cache_stats(&self) -> CacheStats {
        self.cache.stats()
    }

    /// The tables of one game, found by the fingerprint of its rules.
    ///
    /// # Errors
    /// [`ProbeError::Header`] if a table's header does not fit its material.
    pub fn prober<'t>(&'t self, game: &Game) -> Result<Prober<'t>, ProbeError> {
        let inner = match game.engine() {
            Engine::Narrow(generator) => Inner::Narrow(Lookup::new(self, game, generator)?),
            Engine::Wide(generator) => Inner::Wide(Lookup::new(self, game, generator)?),
        };
        Ok(Prober {
            game: game.clone(),
            inner,
        })
    }

    /// The table of a game (by the fingerprint of its rules), material and
    /// metric; of several, the one that is probed.
    ///
    /// # Errors
    /// As [`Prober::value`] if it is missing, damaged or of other rules.
    pub fn table(&self, game: &Game, material: Material, metric: Metric) -> Result<&Table, ProbeError> {
        let (name, fingerprint) = (material.to_string(), game.fingerprint().bytes());
        self.tables
            .iter()
            .find(|table| {
                let parts = table.header().parts();
                parts.family == Family::Draughts
                    && parts.metric == metric
                    && parts.fingerprint == fingerprint
                    && parts.material == name
            })
            .ok_or_else(|| self.missing(game, material, metric))
    }

    /// Why the table of a game, material and metric is not among the usable.
    fn missing(&self, game: &Game, material: Material, metric: Metric) -> ProbeError {
        for dir in &self.dirs {
            let path = table_path(dir, game.name(), material, metric);
            if let Some(error) = self.faults.get(&path) {
                return ProbeError::Table(error.clone());
            }
            if let Some(table) = self.tables.iter().find(|table| table.path() == path) {
                let found = Fingerprint::from_bytes(table.header().parts().fingerprint);
                if found != game.fingerprint() {
                    return ProbeError::Foreign {
                        path,
                        game: game.name().to_owned(),
                        found,
                        expected: game.fingerprint(),
                    };
                }
            }
        }
        let dirs: Vec<String> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
        ProbeError::Missing {
            game: game.name().to_owned(),
            material,
            metric,
            dirs: dirs.join(", "),
        }
    }
}

/// Folders below one another deeper than this are not tables of ours; it also
/// ends loops of links.
const DEEPEST: u32 = 8;

fn collect(dir: &Path, depth: u32, found: &mut Vec<PathBuf>) -> Result<(), OpenError> {
    let error = |source| OpenError {
        path: dir.to_owned(),
        source,
    };
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(other) => return Err(error(other)),
    };
    for entry in entries {
        let path = entry.map_err(error)?.path();
        if path.is_dir() {
            if depth < DEEPEST {
                collect(&path, depth + 1, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == EXTENSION) {
            found.push(path);
        }
    }
    Ok(())
}

/// A distance as far as tables know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distance {
    /// No table.
    Unknown,
    /// A draw: there is no distance.
    Never,
    /// Plies.
    Plies(u16),
}

impl Distance {
    fn of(score: Score) -> Self {
        if score.is_draw() {
            Self::Never
        } else {
            Self::Plies(score.distance())
        }
    }

    /// The plies, if there are any.
    #[must_use]
    pub fn plies(self) -> Option<u16> {
        match self {
            Self::Plies(plies) => Some(plies),
            Self::Unknown | Self::Never => None,
        }
    }
}

/// A legal move with what it is worth to the side that makes it.
#[derive(Clone, Debug)]
pub struct RankedMove {
    /// The move.
    pub played: Move,
    /// Its text, distinct from those of all other legal moves.
    pub text: String,
    /// The position after it.
    pub after: Position,
    /// Value for the mover.
    pub value: Value,
    /// Plies to the end of the game, counted from before the move.
    pub dtw: Distance,
    /// Plies to the next conversion, counted from before the move.
    pub dtz: Distance,
}

/// All that the tables say of a position.
#[derive(Clone, Debug)]
pub struct RootProbe {
    /// Value for the side to move.
    pub value: Value,
    /// Plies to the end of the game.
    pub dtw: Distance,
    /// Plies to the next conversion.
    pub dtz: Distance,
    /// All legal moves, best first.
    pub moves: Vec<RankedMove>,
}

/// Looks up positions of one game. Shared freely between threads.
#[derive(Debug)]
pub struct Prober<'t> {
    game: Game,
    inner: Inner<'t>,
}

#[derive(Debug)]
enum Inner<'t> {
    Narrow(Lookup<'t, u64>),
    Wide(Lookup<'t, u128>),
}

macro_rules! with_lookup {
    ($prober:expr, $lookup:ident => $body:expr) => {
        match &$prober.inner {
            Inner::Narrow($lookup) => $body,
            Inner::Wide($lookup) => $body,
        }
    };
}

impl Prober<'_> {
    /// The game.
    #[must_use]
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Most pieces of any table of a metric; 0 if there are none.
    #[must_use]
    pub fn max_pieces(&self, metric: Metric) -> u8 {
        with_lookup!(self, lookup => lookup.max_pieces[metric as usize])
    }

    /// Whether there is a table of a material and metric.
    #[must_use]
    pub fn has(&self, material: Material, metric: Metric) -> bool {
        let (own, opp) = material.armies(View::White);
        let counts = [own.men, own.kings, opp.men, opp.kings].map(usize::from);
        counts.iter().all(|count| *count < KINDS)
            && with_lookup!(self, lookup => lookup.numbers[metric as usize][key(counts)] != 0)
    }

    /// The value of a position for the side to move, from the WLD tables.
    /// Captures are resolved by search, so every position of a material that
    /// is there has a value. Allocates nothing once the blocks are decoded.
    ///
    /// # Errors
    /// [`ProbeError::Missing`] names the table that is missing; others say
    /// what is wrong with one, or that this is no position.
    pub fn value(&self, position: &Position) -> Result<Value, ProbeError> {
        self.score(position, Metric::Wld).map(Score::value)
    }

    /// Value and distance of a position from the tables of one metric (in WLD
    /// the distance is 0).
    ///
    /// # Errors
    /// As [`Prober::value`].
    pub fn score(&self, position: &Position, metric: Metric) -> Result<Score, ProbeError> {
        with_lookup!(self, lookup => {
            let pieces = lookup.generator.view(position);
            if !lookup.generator.is_placement(&pieces) {
                return Err(ProbeError::NoPosition { game: self.game.name().to_owned() });
            }
            lookup.score(&pieces, metric).map_err(|fault| lookup.explain(&self.game, fault))
        })
    }

    /// All that the tables say of a position and of its moves, best first.
    ///
    /// The value comes from the first of the WLD, DTW and DTZ tables that are
    /// there; distances are [`Distance::Unknown`] where the table of the
    /// position's material is missing (a finished game needs none).
    ///
    /// # Errors
    /// As [`Prober::value`].
    pub fn root(&self, position: &Position) -> Result<RootProbe, ProbeError> {
        let legal = self.game.legal_moves(position);
        let texts = self.game.move_texts(position, &legal);
        let after: Vec<Position> = legal.iter().map(|played| self.game.after(position, played)).collect();
        let mut known: [Option<(Score, Vec<Score>)>; 3] = [None, None, None];
        let mut missing = None;
        for metric in Metric::ALL {
            match self.scores(position, &legal, &after, metric) {
                Ok(scores) => known[metric as usize] = Some(scores),
                Err(error @ ProbeError::Missing { .. }) => missing = missing.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        let Some((value, values)) = known.iter().flatten().next() else {
            return Err(missing.unwrap_or(ProbeError::NoPosition {
                game: self.game.name().to_owned(),
            }));
        };
        // Captures may lead to other tables or to the end of the game, and so
        // tell a distance that this position's own material has no table of:
        // it counts as unknown all the same, so that which distances there are
        // does not change from one position of a material to the next.
        let finished = self.game.finished(position).is_some();
        let material = material(position);
        let told = |metric: Metric| {
            known[metric as usize]
                .as_ref()
                .filter(|_| finished || self.has(material, metric))
        };
        let distance = |metric: Metric| told(metric).map_or(Distance::Unknown, |k| Distance::of(k.0));
        let move_distance = |metric: Metric, n: usize| told(metric).map_or(Distance::Unknown, |k| Distance::of(k.1[n]));
        let mut moves: Vec<RankedMove> = (0..legal.len())
            .map(|n| RankedMove {
                played: legal[n],
                text: texts[n].clone(),
                after: after[n],
                value: values[n].value(),
                dtw: move_distance(Metric::Dtw, n),
                dtz: move_distance(Metric::Dtz, n),
            })
            .collect();
        moves.sort_by(rank);
        // What cannot be told because a table is damaged is not passed over
        // as if there had never been one.
        for metric in Metric::ALL {
            if !finished && !self.has(material, metric) {
                let error = with_lookup!(self, lookup => lookup.tables.missing(&self.game, material, metric));
                if !matches!(error, ProbeError::Missing { .. }) {
                    return Err(error);
                }
            }
        }
        Ok(RootProbe {
            value: value.value(),
            dtw: distance(Metric::Dtw),
            dtz: distance(Metric::Dtz),
            moves,
        })
    }

    /// The scores of a position and of its moves for the mover.
    fn scores(
        &self,
        position: &Position,
        legal: &[Move],
        after: &[Position],
        metric: Metric,
    ) -> Result<(Score, Vec<Score>), ProbeError> {
        let root = self.score(position, metric)?;
        let moves = legal
            .iter()
            .zip(after)
            .map(|(played, after)| {
                let score = self.score(after, metric)?;
                Ok(score.before_move(metric, self.game.is_conversion(played)))
            })
            .collect::<Result<_, ProbeError>>()?;
        Ok((root, moves))
    }

    /// One best line: always the first move of [`Prober::root`], to the end
    /// of the game. Empty for a draw.
    ///
    /// # Errors
    /// As [`Prober::value`]; [`ProbeError::NoDistances`] if only WLD tables
    /// are there, by which a won game could go round in circles.
    pub fn line(&self, position: &Position) -> Result<Vec<RankedMove>, ProbeError> {
        let mut line: Vec<RankedMove> = Vec::new();
        let mut at = *position;
        loop {
            let mut root = self.root(&at)?;
            if root.value == Value::Draw || root.moves.is_empty() {
                return Ok(line);
            }
            if root.dtw == Distance::Unknown && root.dtz == Distance::Unknown {
                return Err(ProbeError::NoDistances {
                    game: self.game.name().to_owned(),
                    material: material(&at),
                });
            }
            let best = root.moves.swap_remove(0);
            at = best.after;
            line.push(best);
        }
    }
}

/// The material of a position in canonical colours.
#[must_use]
pub fn material(position: &Position) -> Material {
    let army = |colour: Colour| Army {
        men: position.men[colour as usize].count_ones() as u8,
        kings: position.kings[colour as usize].count_ones() as u8,
    };
    Material::new(army(Colour::White), army(Colour::Black))
}

/// Better moves first: by value, then by dtw and dtz where known (quick wins,
/// slow losses), then by text.
fn rank(a: &RankedMove, b: &RankedMove) -> Ordering {
    let by_distance = |a_distance: Distance, b_distance: Distance| match (a_distance.plies(), b_distance.plies()) {
        (Some(x), Some(y)) if a.value == Value::Win => x.cmp(&y),
        (Some(x), Some(y)) => y.cmp(&x),
        _ => Ordering::Equal,
    };
    b.value
        .cmp(&a.value)
        .then_with(|| by_distance(a.dtw, b.dtw))
        .then_with(|| by_distance(a.dtz, b.dtz))
        .then_with(|| a.text.cmp(&b.text))
}

/// One side to move of one table.
#[derive(Debug)]
struct Slot<'t, B> {
    table: &'t Table,
    side: usize,
    index: SliceIndex<B>,
}

/// Counts of one kind of piece that the look-up can tell apart.
const KINDS: usize = 16;

/// Tables of one game by metric and material.
#[derive(Debug)]
struct Lookup<'t, B> {
    tables: &'t Tables,
    generator: Arc<Generator<B>>,
    slots: Vec<Slot<'t, B>>,
    /// Number of the slot, plus one, by the counts of pieces.
    numbers: [Box<[u16]>; 3],
    max_pieces: [u8; 3],
}

/// Why a look-up failed, kept small: errors are explained outside the hot path.
#[derive(Debug)]
enum Fault {
    Missing(Army, Army, Metric),
    Table(TableError),
}

impl<'t, B: Bits> Lookup<'t, B> {
    fn new(tables: &'t Tables, game: &Game, generator: &Arc<Generator<B>>) -> Result<Self, ProbeError> {
        let mut lookup = Self {
            tables,
            generator: generator.clone(),
            slots: Vec::new(),
            numbers: [(); 3].map(|()| vec![0; KINDS.pow(4)].into_boxed_slice()),
            max_pieces: [0; 3],
        };
        for table in &tables.tables {
            let parts = table.header().parts();
            if parts.family != Family::Draughts || parts.fingerprint != game.fingerprint().bytes() {
                continue;
            }
            lookup.add(table, game).map_err(|what| ProbeError::Header {
                path: table.path().to_owned(),
                what,
            })?;
        }
        Ok(lookup)
    }

    fn add(&mut self, table: &'t Table, game: &Game) -> Result<(), String> {
        let parts = table.header().parts();
        let material: Material = parts.material.parse().map_err(|error| format!("{error}"))?;
        if material.to_string() != parts.material {
            return Err(format!(
                "material {} is not canonical; expected {material}",
                parts.material
            ));
        }
        if parts.free_entries != self.generator.forced() {
            return Err("free entries do not go with these rules".to_owned());
        }
        let views = material.views();
        if views.len() != parts.sides.len() {
            return Err(format!("{} sides to move; expected {}", parts.sides.len(), views.len()));
        }
        for (n, (view, side)) in views.iter().zip(&parts.sides).enumerate() {
            let (own, opp) = material.armies(*view);
            let to_move = [Colour::White, Colour::Black][n];
            if side.to_move != to_move {
                return Err("the sides to move are in the wrong order".to_owned());
            }
            let order = DigitOrder::from_code(side.order).ok_or_else(|| format!("no digit order {}", side.order))?;
            let counts = [own.men, own.kings, opp.men, opp.kings].map(usize::from);
            if counts.iter().any(|count| *count >= KINDS) {
                return Err(format!("more than {} like pieces", KINDS - 1));
            }
            let index = SliceIndex::new(game.rules(), game.board(), own, opp, order)
                .filter(|index| index.len() == side.entries)
                .ok_or_else(|| format!("{} entries are not what {material} has on this board", side.entries))?;
            let number = &mut self.numbers[parts.metric as usize][key(counts)];
            // The first of the folders goes first.
            if *number == 0 && self.slots.len() < usize::from(u16::MAX) {
                self.slots.push(Slot { table, side: n, index });
                *number = self.slots.len() as u16;
            }
        }
        let most = &mut self.max_pieces[parts.metric as usize];
        *most = (*most).max(material.pieces());
        Ok(())
    }

    fn explain(&self, game: &Game, fault: Fault) -> ProbeError {
        match fault {
            Fault::Table(error) => ProbeError::Table(Arc::new(error)),
            Fault::Missing(own, opp, metric) => self.tables.missing(game, Material::new(own, opp), metric),
        }
    }

    /// The score of a placement for the side to move.
    fn score(&self, pieces: &Pieces<B>, metric: Metric) -> Result<Score, Fault> {
        let generator = &*self.generator;
        if let Some(won) = generator.finished(pieces) {
            return Ok(if won { Score::win(0) } else { Score::loss(0) });
        }
        if generator.forced() && generator.has_capture(pieces) {
            return self.resolve(pieces, metric);
        }
        let counts =
            [pieces.own_men, pieces.own_kings, pieces.opp_men, pieces.opp_kings].map(|set| set.count() as usize);
        let number = if counts.iter().all(|count| *count < KINDS) {
            self.numbers[metric as usize][key(counts)]
        } else {
            0
        };
        let Some(slot) = usize::from(number).checked_sub(1).map(|n| &self.slots[n]) else {
            let army = |men: usize, kings: usize| Army {
                men: men as u8,
                kings: kings as u8,
            };
            return Err(Fault::Missing(
                army(counts[0], counts[1]),
                army(counts[2], counts[3]),
                metric,
            ));
        };
        slot.table
            .entry(slot.side, slot.index.rank(pieces))
            .map_err(Fault::Table)
    }

    /// The score of a placement whose mover must capture. Ends because every
    /// capture takes pieces off the board.
    fn resolve(&self, pieces: &Pieces<B>, metric: Metric) -> Result<Score, Fault> {
        let generator = &*self.generator;
        let mut best: Option<Score> = None;
        let mut fault = None;
        generator.captures(pieces, |step| {
            let child = generator.turned(&generator.after(pieces, step));
            match self.score(&child, metric) {
                Ok(score) => {
                    let score = score.before_move(metric, true);
                    if best.is_none_or(|best| score.preference() > best.preference()) {
                        best = Some(score);
                    }
                    // Nothing is better than a win where distances do not count.
                    !(score.is_win() && metric != Metric::Dtw)
                }
                Err(error) => {
                    fault = Some(error);
                    false
                }
            }
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(best.unwrap_or_default()),
        }
    }
}

#[inline(always)]
fn key(counts: [usize; 4]) -> usize {
    ((counts[0] * KINDS + counts[1]) * KINDS + counts[2]) * KINDS + counts[3]
}
