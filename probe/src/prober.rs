//! Looking positions up.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use petrov_games::{
    Colour, Engine, Fingerprint, Game, Material, NO_KEY, Outcome, Placement, Rulebook, View, with_rulebook,
};

use crate::cache::{BlockCache, CacheStats};
use crate::format::FreeEntries;
use crate::handle::Handle;
use crate::index::{DigitOrder, SliceIndex};
use crate::keys::KeyMap;
use crate::limit::PieceLimit;
use crate::reader::{Own, Passing, Reader};
use crate::score::{Metric, Score, Value, Value50};
use crate::storage::Backend;
use crate::table::{Table, TableError};
use crate::unpacked::{Filled, Unpacked};

/// Why a position could not be looked up.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The tables hold nothing of this material.
    #[error(
        "table {game}/{material}.{metric} is missing in {dirs}; `petrov gen {game} {material} --metric {metric}` builds it"
    )]
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
    /// Pieces overlap or stand where they cannot, or the side not to move is
    /// in check.
    #[error(
        "this is no position of {game}: pieces overlap or stand where they cannot, or the side not to move is in check"
    )]
    NoPosition {
        /// The game asked for.
        game: String,
    },
    /// Tables hold no such positions.
    #[error("{why}")]
    NotInTables {
        /// What the position has that tables do not.
        why: &'static str,
    },
    /// Distances that never come to an end: not those of any game.
    #[error(
        "the tables of {game}/{material} contradict each other: the best line has no end; `petrov verify {game} {material}` says where"
    )]
    Circle {
        /// The game asked for.
        game: String,
        /// The material in which the line stays.
        material: Material,
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
#[error("cannot look for tables: {path}: {source}", path = path.display())]
pub struct OpenError {
    path: PathBuf,
    source: std::io::Error,
}

/// All tables found in some folders, of any games.
///
/// Shared freely between threads; clones are the same tables. There is no state outside it.
///
/// ```
/// use petrov_games::Games;
/// use petrov_probe::{Metric, Tables, Value};
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tables/starter");
/// let tables = Tables::open(&[folder])?;
/// let games = Games::built_in();
/// let game = games.draughts("russian")?;
/// let prober = tables.prober(game)?;
/// let position = game.parse_fen("W:WKe1,Kc3:BKa5")?;
/// assert_eq!(prober.value(&position)?, Value::Win);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tables(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    tables: Vec<Arc<Table>>,
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
    /// Damaged tables are left out; they are reported when they are asked for, and by [`Tables::faults`].
    ///
    /// # Errors
    /// A folder that exists but cannot be read, too few file descriptors ([`Backend::Pread`] keeps one for each table), or
    /// too few memory maps ([`Backend::Mmap`] has one for each table, and Linux allows 65,530: `vm.max_map_count`).
    pub fn open<P: AsRef<Path>>(dirs: &[P]) -> Result<Self, OpenError> {
        Self::open_with(dirs, BlockCache::default(), Backend::default())
    }

    /// As [`Tables::open`] with a cache of your own and a choice of how files are read.
    ///
    /// # Errors
    /// As [`Tables::open`].
    pub fn open_with<P: AsRef<Path>>(dirs: &[P], cache: BlockCache, backend: Backend) -> Result<Self, OpenError> {
        Ok(Self(Arc::new(Self::scan(dirs, cache, backend)?)))
    }

    fn scan<P: AsRef<Path>>(dirs: &[P], cache: BlockCache, backend: Backend) -> Result<Opened, OpenError> {
        let mut files = Vec::new();
        for dir in dirs {
            let mut found = Vec::new();
            collect(dir.as_ref(), 0, &mut HashSet::new(), &mut found)?;
            found.sort();
            files.append(&mut found);
        }
        let mut all = Opened {
            tables: Vec::new(),
            faults: BTreeMap::new(),
            dirs: dirs.iter().map(|dir| dir.as_ref().to_owned()).collect(),
            cache,
        };
        for path in files {
            match Table::open_with(&path, &all.cache, backend) {
                // Nothing is wrong with this file, nor with those that come after it.
                Err(TableError::Open { path, source }) if out_of_room(&source) => {
                    return Err(OpenError { path, source });
                }
                table => all.add(path, table),
            }
        }
        Ok(all)
    }

    /// Opens the tables in the [`default_folders`](crate::default_folders) and, with the feature `starter`, those
    /// of the starter set, which are part of the program: all built-in games up to three pieces. Of
    /// several copies of a table the one in a folder is read.
    ///
    /// # Errors
    /// As [`Tables::open`].
    pub fn open_default(cache: BlockCache, backend: Backend) -> Result<Self, OpenError> {
        let all = Self::scan(&crate::default_folders(), cache, backend)?;
        #[cfg(feature = "starter")]
        let all = {
            let mut all = all;
            all.add_files("the starter set", petrov_starter::TABLES);
            all
        };
        Ok(Self(Arc::new(all)))
    }

    /// Tables whose files are in memory, such as those that are part of the program: the name of each, for
    /// errors, and its bytes.
    #[must_use]
    pub fn from_memory(files: &[(&str, &'static [u8])], cache: BlockCache) -> Self {
        let mut all = Opened {
            tables: Vec::new(),
            faults: BTreeMap::new(),
            dirs: Vec::new(),
            cache,
        };
        all.add_files("memory", files);
        Self(Arc::new(all))
    }

    /// All usable tables, in the order of the folders and of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.tables.iter().map(Arc::as_ref)
    }

    /// Files that look like tables but cannot be used, and why.
    pub fn faults(&self) -> impl Iterator<Item = (&Path, &TableError)> {
        let faults = self.0.faults.iter();
        faults.map(|(path, error)| (path.as_path(), error.as_ref()))
    }

    /// What the block cache holds and has done.
    #[must_use]
    pub fn cache_stats(&self) -> CacheStats {
        self.0.cache.stats()
    }

    /// The tables of one game, found by the fingerprint of its rules.
    ///
    /// # Errors
    /// [`ProbeError::Header`] if a table's header does not fit its material.
    pub fn prober<G: Game>(&self, game: &G) -> Result<Prober<G>, ProbeError> {
        let inner = match game.engine() {
            Engine::Narrow(rulebook) => Inner::Narrow(Arc::new(Lookup::new(self, game, rulebook)?)),
            Engine::Wide(rulebook) => Inner::Wide(Arc::new(Lookup::new(self, game, rulebook)?)),
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
    pub fn table<G: Game>(&self, game: &G, material: Material, metric: Metric) -> Result<&Table, ProbeError> {
        let (name, fingerprint) = (material.to_string(), game.fingerprint().bytes());
        self.iter()
            .find(|table| {
                let parts = table.header().parts();
                parts.metric == metric && parts.fingerprint == fingerprint && parts.material == name
            })
            .ok_or_else(|| self.missing(game, material, metric))
    }

    /// All files that go by the name of a table of a game, be it damaged, of other rules or misnamed: those in a
    /// folder that bears the game's name or holds another table of it, wherever that lies.
    fn named<G: Game>(&self, game: &G) -> impl Iterator<Item = ((Material, Metric), &Path)> {
        let is_of_game = |table: &&Table| table.header().parts().fingerprint == game.fingerprint().bytes();
        let folders: HashSet<&Path> = (self.iter().filter(is_of_game))
            .filter_map(|table| table.path().parent())
            .collect();
        let paths = (self.0.faults.keys().map(PathBuf::as_path)).chain(self.iter().map(Table::path));
        paths.filter_map(move |path| {
            let folder = path.parent()?;
            let ours = folders.contains(folder) || folder.file_name()? == game.name();
            let (name, metric) = path.file_stem()?.to_str()?.split_once('.')?;
            let metric = Metric::ALL.into_iter().find(|known| known.name() == metric)?;
            let material: Material = name.parse().ok()?;
            (ours && material.to_string() == name).then_some(((material, metric), path))
        })
    }

    /// Why the table of a game, material and metric is not among the usable.
    fn missing<G: Game>(&self, game: &G, material: Material, metric: Metric) -> ProbeError {
        for (_, path) in self.named(game).filter(|(name, _)| *name == (material, metric)) {
            if let Some(error) = self.0.faults.get(path) {
                return ProbeError::Table(error.clone());
            }
            if let Some(table) = self.iter().find(|table| table.path() == path) {
                let (path, parts) = (path.to_owned(), table.header().parts());
                let found = Fingerprint::from_bytes(parts.fingerprint);
                if found != game.fingerprint() {
                    return ProbeError::Foreign {
                        path,
                        game: game.name().to_owned(),
                        found,
                        expected: game.fingerprint(),
                    };
                }
                if (parts.material.as_str(), parts.metric) != (material.to_string().as_str(), metric) {
                    let what = format!("it holds {}.{}", parts.material, parts.metric);
                    return ProbeError::Header { path, what };
                }
            }
        }
        let dirs: Vec<String> = self.0.dirs.iter().map(|dir| dir.display().to_string()).collect();
        ProbeError::Missing {
            game: game.name().to_owned(),
            material,
            metric,
            dirs: dirs.join(", "),
        }
    }
}

impl Opened {
    /// Adds tables whose files are in memory; errors name them below `place`.
    fn add_files(&mut self, place: &str, files: &[(&str, &'static [u8])]) {
        self.dirs.push(place.into());
        for (name, bytes) in files {
            let path = Path::new(place).join(name);
            let table = Table::from_bytes(&path, bytes, &self.cache);
            self.add(path, table);
        }
    }

    fn add(&mut self, path: PathBuf, table: Result<Table, TableError>) {
        match table {
            Ok(table) => self.tables.push(Arc::new(table)),
            Err(error) => {
                self.faults.insert(path, Arc::new(error));
            }
        }
    }
}

/// Whether the process or the system has too many files open (`ENFILE`, `EMFILE`), or the process too many memory maps
/// (`ENOMEM`; Linux allows 65,530). They have the same numbers on every system that Rust knows as Unix.
fn out_of_room(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(12 | 23 | 24))
}

/// Folders below one another deeper than this are not tables of ours.
const DEEPEST: u32 = 8;

/// `seen` are the folders looked at so far, by device and number, so that
/// links in circles end.
fn collect(dir: &Path, depth: u32, seen: &mut HashSet<(u64, u64)>, found: &mut Vec<PathBuf>) -> Result<(), OpenError> {
    let error = |source| OpenError {
        path: dir.to_owned(),
        source,
    };
    if let Ok(folder) = std::fs::metadata(dir)
        && !seen.insert((folder.dev(), folder.ino()))
    {
        return Ok(());
    }
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(other) => return Err(error(other)),
    };
    for entry in entries {
        let path = entry.map_err(error)?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            // A folder of such a name is no table either, and opening it says so.
            found.push(path);
        } else if depth < DEEPEST && path.is_dir() {
            collect(&path, depth + 1, seen, found)?;
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
pub struct RankedMove<G: Game> {
    /// The move.
    pub played: G::Move,
    /// Its text, distinct from those of all other legal moves.
    pub text: String,
    /// The position after it.
    pub after: G::Position,
    /// Value for the mover.
    pub value: Value,
    /// Value for the mover under the fifty-move rule, with the plies counted
    /// before this move; `None` where there is no such rule or no dtz table.
    pub value50: Option<Value50>,
    /// Plies to the end of the game, counted from before the move.
    pub dtw: Distance,
    /// Plies to the next conversion, counted from before the move.
    pub dtz: Distance,
}

/// All that the tables say of a position.
#[derive(Clone, Debug)]
pub struct RootProbe<G: Game> {
    /// Value for the side to move.
    pub value: Value,
    /// As [`RankedMove::value50`].
    pub value50: Option<Value50>,
    /// Plies to the end of the game.
    pub dtw: Distance,
    /// Plies to the next conversion.
    pub dtz: Distance,
    /// All legal moves, best first.
    pub moves: Vec<RankedMove<G>>,
}

/// Looks up positions of one game. Shared freely between threads; clones are the same prober. A thread
/// that probes much takes a [`Handle`](crate::Handle) of its own.
#[derive(Clone, Debug)]
pub struct Prober<G: Game> {
    game: G,
    pub(crate) inner: Inner<G>,
}

#[derive(Debug)]
pub(crate) enum Inner<G: Game> {
    Narrow(Arc<Lookup<G::Narrow>>),
    Wide(Arc<Lookup<G::Wide>>),
}

impl<G: Game> Clone for Inner<G> {
    fn clone(&self) -> Self {
        match self {
            Self::Narrow(lookup) => Self::Narrow(Arc::clone(lookup)),
            Self::Wide(lookup) => Self::Wide(Arc::clone(lookup)),
        }
    }
}

macro_rules! with_lookup {
    ($prober:expr, $lookup:ident => $body:expr) => {
        match &$prober.inner {
            $crate::prober::Inner::Narrow($lookup) => $body,
            $crate::prober::Inner::Wide($lookup) => $body,
        }
    };
}
pub(crate) use with_lookup;

/// A metric's scores of a position and of its moves for the mover.
type Scores = (Score, Vec<Score>);

impl<G: Game> Prober<G> {
    /// The game.
    #[must_use]
    pub fn game(&self) -> &G {
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
        with_lookup!(self, lookup => {
            let key = lookup.rulebook.key(&own, &opp);
            key.is_some_and(|key| lookup.numbers[metric as usize].contains_key(&key))
        })
    }

    /// What the numbers of pieces have to be for a position to be in a table of a metric.
    #[must_use]
    pub fn limit(&self, metric: Metric) -> PieceLimit {
        with_lookup!(self, lookup => lookup.limit(metric))
    }

    /// Decodes all blocks of the tables of a metric of at most so many pieces, smallest first, and keeps
    /// them in the cache for good, as far as `bytes` and the cache's budget go, what was kept before included: such
    /// blocks are read without locks. Takes 20 to 50 microseconds a block of 64 KiB.
    ///
    /// # Errors
    /// [`ProbeError::Table`] if a block is damaged, or a whole file, or one is another table than its name says; after all
    /// others have been decoded.
    pub fn warm(&self, metric: Metric, pieces: u8, bytes: u64) -> Result<Filled, ProbeError> {
        with_lookup!(self, lookup => {
            lookup.warm(metric, pieces, bytes).map_err(|fault| lookup.explain(&self.game, fault))
        })
    }

    /// Works out the value of every placement of the WLD tables of at most so many pieces, smallest first, as
    /// far as `bytes` go, and holds them apart from the cache, a quarter of a byte each: a probe is then one
    /// look-up, without a search of captures. Takes about 0.2 seconds for a million placements. What does not
    /// fit is probed as before. Probes of other threads go on meanwhile.
    ///
    /// # Errors
    /// As [`Prober::value`], of a position of these tables or one that a capture leads to, or of a file that is no table of
    /// its name; after all others have been unpacked.
    pub fn unpack(&self, pieces: u8, bytes: u64) -> Result<Filled, ProbeError> {
        with_lookup!(self, lookup => {
            lookup.unpack(pieces, bytes).map_err(|fault| lookup.explain(&self.game, fault))
        })
    }

    /// Tells the system that this position's blocks will be read soon, so that reading them need not wait for
    /// the disk. Returns at once. Only memory maps ([`Backend`]) know how to do this; nothing happens
    /// with other ways of reading, or if the cache holds the blocks.
    pub fn prefetch(&self, position: &G::Position, metric: Metric) {
        if self.game.not_in_tables(position).is_none() {
            with_lookup!(self, lookup => {
                let placement = lookup.rulebook.view(position);
                if lookup.rulebook.is_placement(&placement) {
                    lookup.prefetch(&placement, metric);
                }
            });
        }
    }

    /// A handle for one thread that probes much.
    #[must_use]
    pub fn handle(&self) -> Handle<G> {
        Handle::new(self.clone())
    }

    /// The value of a position for the side to move, from the WLD tables.
    /// Captures are resolved by search, so every position of a material that
    /// is there has a value. Allocates nothing once the blocks are decoded,
    /// unless the position has a right that tables do not hold.
    ///
    /// # Errors
    /// [`ProbeError::Missing`] names the table that is missing; others say
    /// what is wrong with one, or that this is no position.
    pub fn value(&self, position: &G::Position) -> Result<Value, ProbeError> {
        self.score(position, Metric::Wld).map(Score::value)
    }

    /// Value and distance of a position from the tables of one metric (in WLD
    /// the distance is 0).
    ///
    /// # Errors
    /// As [`Prober::value`].
    pub fn score(&self, position: &G::Position, metric: Metric) -> Result<Score, ProbeError> {
        if let Some(why) = self.game.not_in_tables(position) {
            return Err(ProbeError::NotInTables { why });
        }
        with_lookup!(self, lookup => {
            let placement = lookup.rulebook.view(position);
            match lookup.score::<_, Told>(&placement, metric, true, &mut Passing) {
                Ok(score) => Ok(score),
                Err(fault) => Err(lookup.explain(&self.game, fault)),
            }
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
    pub fn root(&self, position: &G::Position) -> Result<RootProbe<G>, ProbeError> {
        let legal = self.game.legal_moves(position);
        let texts = self.game.move_texts(position, &legal);
        let after: Vec<G::Position> = legal.iter().map(|played| self.game.after(position, played)).collect();
        let mut known: [Option<Scores>; 3] = [None, None, None];
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
        let finished = with_rulebook!(&self.game, rulebook => rulebook.finished(&rulebook.view(position)).is_some());
        let material = material(&self.game, position);
        let told = |metric: Metric| {
            known[metric as usize]
                .as_ref()
                .filter(|_| finished || self.has(material, metric))
        };
        let distance = |metric: Metric| told(metric).map_or(Distance::Unknown, |k| Distance::of(k.0));
        let move_distance = |metric: Metric, n: usize| told(metric).map_or(Distance::Unknown, |k| Distance::of(k.1[n]));
        let by_rule = told(Metric::Dtz).filter(|_| self.fifty_moves());
        let clock = self.game.clock(position);
        let mut moves: Vec<RankedMove<G>> = (0..legal.len())
            .map(|n| RankedMove {
                played: legal[n],
                text: texts[n].clone(),
                after: after[n],
                value: values[n].value(),
                value50: by_rule.map(|known| under_fifty_moves(known.1[n], clock, || self.is_over(&after[n]))),
                dtw: move_distance(Metric::Dtw, n),
                dtz: move_distance(Metric::Dtz, n),
            })
            .collect();
        moves.sort_by(rank);
        // What cannot be told because a table is damaged is not passed over
        // as if there had never been one.
        for metric in Metric::ALL {
            if !finished && !self.has(material, metric) {
                let error = self.missing(material, metric);
                if !matches!(error, ProbeError::Missing { .. }) {
                    return Err(error);
                }
            }
        }
        let ends_now = || after.iter().any(|after| self.is_over(after));
        Ok(RootProbe {
            value: value.value(),
            value50: by_rule.map(|known| under_fifty_moves(known.0, clock, ends_now)),
            dtw: distance(Metric::Dtw),
            dtz: distance(Metric::Dtz),
            moves,
        })
    }

    /// Why a table is not among the usable.
    pub(crate) fn missing(&self, material: Material, metric: Metric) -> ProbeError {
        with_lookup!(self, lookup => lookup.tables.missing(&self.game, material, metric))
    }

    fn fifty_moves(&self) -> bool {
        with_rulebook!(&self.game, rulebook => rulebook.fifty_moves())
    }

    /// Whether the side to move has lost already.
    fn is_over(&self, position: &G::Position) -> bool {
        with_rulebook!(&self.game, rulebook => {
            let ending = rulebook.ending(&rulebook.view(position));
            ending.is_some_and(|ending| ending.outcome == Outcome::Loss)
        })
    }

    fn scores(
        &self,
        position: &G::Position,
        legal: &[G::Move],
        after: &[G::Position],
        metric: Metric,
    ) -> Result<Scores, ProbeError> {
        let fifty_moves = metric == Metric::Dtz && self.fifty_moves();
        let root = self.score(position, metric)?;
        let moves = legal
            .iter()
            .zip(after)
            .map(|(played, after)| {
                let score = self.score(after, metric)?;
                let score = score.before_move(metric, self.game.is_conversion(played));
                Ok(if fifty_moves { score.within_fifty_moves() } else { score })
            })
            .collect::<Result<_, ProbeError>>()?;
        Ok((root, moves))
    }

    /// One best line: always the first move of [`Prober::root`], to the end
    /// of the game. Empty for a draw.
    ///
    /// # Errors
    /// As [`Prober::value`]; [`ProbeError::NoDistances`] if only WLD tables
    /// are there, by which a won game could go round in circles; [`ProbeError::Circle`] if tables that
    /// contradict each other lead round in one.
    pub fn line(&self, position: &G::Position) -> Result<Vec<RankedMove<G>>, ProbeError> {
        // Sound distances shrink from move to move until something is converted, and conversions come to an
        // end. Tables that contradict each other could lead round in circles.
        const LONGEST_QUIET: u32 = 2 * Score::MAX_DISTANCE as u32;
        let mut line: Vec<RankedMove<G>> = Vec::new();
        let mut at = *position;
        let mut quiet = 0;
        loop {
            let mut root = self.root(&at)?;
            if root.value == Value::Draw || root.moves.is_empty() {
                return Ok(line);
            }
            if root.dtw == Distance::Unknown && root.dtz == Distance::Unknown {
                return Err(ProbeError::NoDistances {
                    game: self.game.name().to_owned(),
                    material: material(&self.game, &at),
                });
            }
            let best = root.moves.swap_remove(0);
            quiet = if self.game.is_conversion(&best.played) {
                0
            } else {
                quiet + 1
            };
            if quiet > LONGEST_QUIET {
                return Err(ProbeError::Circle {
                    game: self.game.name().to_owned(),
                    material: material(&self.game, &at),
                });
            }
            at = best.after;
            line.push(best);
        }
    }
}

/// A dtz score under the fifty-move rule with so many plies counted already.
/// `ends_now`: the winner ends the game by the next move.
fn under_fifty_moves(score: Score, clock: u32, ends_now: impl FnOnce() -> bool) -> Value50 {
    let plies = u32::from(score.distance());
    let counts = match score.value() {
        Value::Draw => return Value50::Draw,
        Value::Win => clock + plies <= u32::from(Score::FIFTY_MOVES) || plies == 1 && ends_now(),
        Value::Loss => clock + plies <= u32::from(Score::FIFTY_MOVES) || plies == 0,
    };
    Value50::new(score.value(), score.is_spoilt() || !counts)
}

/// The material of a position in canonical colours.
#[must_use]
pub fn material<G: Game>(game: &G, position: &G::Position) -> Material {
    with_rulebook!(game, rulebook => {
        let (own, opp) = rulebook.armies_of(&rulebook.view(position));
        Material::new(own, opp)
    })
}

/// Better moves first: by value under the fifty-move rule if it is known, else
/// by value, then by dtw and dtz where known (quick wins, slow losses), then
/// by text.
fn rank<G: Game>(a: &RankedMove<G>, b: &RankedMove<G>) -> Ordering {
    let by_distance = |a_distance: Distance, b_distance: Distance| match (a_distance.plies(), b_distance.plies()) {
        (Some(x), Some(y)) if a.value == Value::Win => x.cmp(&y),
        (Some(x), Some(y)) => y.cmp(&x),
        _ => Ordering::Equal,
    };
    b.value50
        .cmp(&a.value50)
        .then_with(|| b.value.cmp(&a.value))
        .then_with(|| by_distance(a.dtw, b.dtw))
        .then_with(|| by_distance(a.dtz, b.dtz))
        .then_with(|| a.text.cmp(&b.text))
}

/// One side to move of one table.
#[derive(Debug)]
pub(crate) struct Slot<B> {
    table: Arc<Table>,
    side: usize,
    index: SliceIndex<B>,
    /// The value of every placement, captures and all, once that was asked for.
    unpacked: OnceLock<Unpacked>,
}

/// Tables of one game by metric and material.
#[derive(Debug)]
pub(crate) struct Lookup<R: Rulebook> {
    tables: Tables,
    pub(crate) rulebook: Arc<R>,
    slots: Vec<Slot<R::Set>>,
    /// Number of the slot by the pieces.
    numbers: [KeyMap<u32>; 3],
    /// Of the tables.
    max_pieces: [u8; 3],
    /// Of the tables and of what is in the way of some.
    most_pieces: [u8; 3],
    most_of_a_side: [u8; 3],
    /// Materials that have a file which is not their table, by the pieces; they have no slot. Empty if all is well.
    obstructed: [KeyMap<Material>; 3],
    /// Some slot of a WLD table is unpacked.
    unpacked: AtomicBool,
}

/// Why a look-up gave no score, kept small: errors are explained outside the hot path.
#[derive(Debug)]
pub(crate) enum Fault<M> {
    Missing(M),
    /// There is a file that is not its table.
    Obstructed(Box<Material>, Metric),
    Table(Box<TableError>),
    NoPosition,
    /// Captures would have to be looked at.
    Captures,
}

/// What is told of a table that is missing.
pub(crate) trait Missing: Sized {
    fn of<R: Rulebook>(rulebook: &R, placement: &R::Placement, metric: Metric) -> Self;
}

/// Which one it is.
#[derive(Debug)]
pub(crate) struct Told(Box<Material>, Metric);

impl Missing for Told {
    #[cold]
    fn of<R: Rulebook>(rulebook: &R, placement: &R::Placement, metric: Metric) -> Self {
        let (own, opp) = rulebook.armies_of(placement);
        Self(Box::new(Material::new(own, opp)), metric)
    }
}

/// Nothing: in a search, that a table is missing is no news.
#[derive(Debug)]
pub(crate) struct Untold;

impl Missing for Untold {
    #[inline(always)]
    fn of<R: Rulebook>(_: &R, _: &R::Placement, _: Metric) -> Self {
        Self
    }
}

/// The entries that tables of a game and metric leave free.
#[must_use]
pub fn free_entries<R: Rulebook>(rulebook: &R, metric: Metric) -> FreeEntries {
    FreeEntries {
        captures: rulebook.forced(),
        up_to_capture: !rulebook.forced() && metric == Metric::Wld,
        gaps: rulebook.has_gaps(),
    }
}

impl<R: Rulebook> Lookup<R> {
    fn new<G: Game>(tables: &Tables, game: &G, rulebook: &Arc<R>) -> Result<Self, ProbeError> {
        let mut lookup = Self {
            tables: tables.clone(),
            rulebook: rulebook.clone(),
            slots: Vec::new(),
            numbers: [(); 3].map(|()| KeyMap::default()),
            max_pieces: [0; 3],
            most_pieces: [0; 3],
            most_of_a_side: [0; 3],
            obstructed: [(); 3].map(|()| KeyMap::default()),
            unpacked: AtomicBool::new(false),
        };
        for table in &tables.0.tables {
            if table.header().parts().fingerprint != game.fingerprint().bytes() {
                continue;
            }
            lookup.add(table).map_err(|what| ProbeError::Header {
                path: table.path().to_owned(),
                what,
            })?;
        }
        for ((material, metric), _) in tables.named(game) {
            lookup.obstruct(material, metric);
        }
        Ok(lookup)
    }

    /// Takes note of a file that is not the table of its name.
    fn obstruct(&mut self, material: Material, metric: Metric) {
        for view in material.views() {
            let (own, opp) = material.armies(*view);
            if let Some(key) = self.rulebook.key(&own, &opp)
                && !self.numbers[metric as usize].contains_key(&key)
            {
                self.obstructed[metric as usize].insert(key, material);
                // So that it is asked for, and the error is seen.
                self.raise_limits(material, metric);
            }
        }
    }

    fn raise_limits(&mut self, material: Material, metric: Metric) {
        let (white, black) = material.armies(View::White);
        let most = &mut self.most_pieces[metric as usize];
        *most = (*most).max(material.pieces());
        let most = &mut self.most_of_a_side[metric as usize];
        *most = (*most).max(white.pieces()).max(black.pieces());
    }

    fn add(&mut self, table: &Arc<Table>) -> Result<(), String> {
        let parts = table.header().parts();
        let material: Material = parts.material.parse().map_err(|error| format!("{error}"))?;
        if material.to_string() != parts.material {
            return Err(format!(
                "material {} is not canonical; expected {material}",
                parts.material
            ));
        }
        if parts.free_entries != free_entries(&*self.rulebook, parts.metric) {
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
            let key = self
                .rulebook
                .key(&own, &opp)
                .ok_or_else(|| format!("{material} is no material of this game with at most 15 like pieces"))?;
            let index = SliceIndex::new(&*self.rulebook, &own, &opp, order)
                .filter(|index| index.len() == side.entries)
                .ok_or_else(|| format!("{} entries are not what {material} has on this board", side.entries))?;
            let number = self.slots.len() as u32;
            // The first of the folders goes first.
            let numbers = &mut self.numbers[parts.metric as usize];
            if let std::collections::hash_map::Entry::Vacant(vacant) = numbers.entry(key) {
                vacant.insert(number);
                self.slots.push(Slot {
                    table: Arc::clone(table),
                    side: n,
                    index,
                    unpacked: OnceLock::new(),
                });
            }
        }
        let most = &mut self.max_pieces[parts.metric as usize];
        *most = (*most).max(material.pieces());
        self.raise_limits(material, parts.metric);
        Ok(())
    }

    pub(crate) fn explain<G: Game>(&self, game: &G, fault: Fault<Told>) -> ProbeError {
        match fault {
            Fault::Table(error) => ProbeError::Table(Arc::new(*error)),
            Fault::Missing(Told(material, metric)) | Fault::Obstructed(material, metric) => {
                self.tables.missing(game, *material, metric)
            }
            Fault::NoPosition | Fault::Captures => ProbeError::NoPosition {
                game: game.name().to_owned(),
            },
        }
    }

    /// What a placement without tables of its own has to be of for there to be one.
    pub(crate) fn limit(&self, metric: Metric) -> PieceLimit {
        PieceLimit {
            together: self.most_pieces[metric as usize].into(),
            of_a_side: self.most_of_a_side[metric as usize].into(),
        }
    }

    /// The slot of a placement.
    #[inline(always)]
    fn slot(&self, placement: &R::Placement, metric: Metric) -> Option<&Slot<R::Set>> {
        let key = placement.key();
        if key == NO_KEY {
            return None;
        }
        let number = self.numbers[metric as usize].get(&key)?;
        self.slots.get(*number as usize)
    }

    /// The score of a placement for the side to move. Where nobody has checked yet that it is a placement
    /// that counts, `check` asks for it.
    #[inline]
    pub(crate) fn score<D: Reader, M: Missing>(
        &self,
        placement: &R::Placement,
        metric: Metric,
        check: bool,
        reader: &mut D,
    ) -> Result<Score, Fault<M>> {
        self.score_at_once(placement, metric, check, reader, true)
    }

    /// As [`Lookup::score`]; without `search` captures are not looked at.
    #[inline(always)]
    pub(crate) fn score_at_once<D: Reader, M: Missing>(
        &self,
        placement: &R::Placement,
        metric: Metric,
        check: bool,
        reader: &mut D,
        mut search: bool,
    ) -> Result<Score, Fault<M>> {
        let rulebook = &*self.rulebook;
        if check && !rulebook.is_placement(placement) {
            return Err(Fault::NoPosition);
        }
        if let Some(outcome) = rulebook.finished(placement) {
            return Ok(outcome.into());
        }
        let unpacked = metric == Metric::Wld && self.unpacked.load(Relaxed);
        if unpacked
            && let Some(slot) = self.slot(placement, metric)
            && let Some(values) = slot.unpacked.get()
        {
            if rulebook.without_right(placement).is_none() {
                reader.looked_up();
                return values.get(slot.index.rank(placement)).ok_or(Fault::NoPosition);
            }
            // A right is not unpacked, but what it leads to is: a few look-ups tell.
            search = true;
        }
        let forced = rulebook.forced();
        if forced && rulebook.has_capture(placement) {
            if !search {
                return Err(Fault::Captures);
            }
            reader.searched();
            return self
                .best_capture(placement, metric, reader)
                .map(Option::unwrap_or_default);
        }
        if let Some(without) = rulebook.without_right(placement) {
            if !search {
                return Err(Fault::Captures);
            }
            return self.score_with_right(placement, &without, metric, reader);
        }
        let captures = if !forced && metric == Metric::Wld {
            if !search {
                if rulebook.has_capture(placement) {
                    return Err(Fault::Captures);
                }
                None
            } else {
                let captures = self.best_capture(placement, metric, reader)?;
                if let Some(score) = captures {
                    reader.searched();
                    if score.is_win() {
                        return Ok(score);
                    }
                }
                captures
            }
        } else {
            None
        };
        let Some(slot) = self.slot(placement, metric) else {
            return Err(self.without_slot(placement, metric));
        };
        reader.looked_up();
        match slot.table.entry_by(slot.side, slot.index.rank(placement), reader) {
            Ok(entry) => Ok(Score::better(captures, entry)),
            Err(error) => Err(Fault::Table(Box::new(error))),
        }
    }

    /// Why there is nothing to look up.
    fn without_slot<M: Missing>(&self, placement: &R::Placement, metric: Metric) -> Fault<M> {
        let obstructed = &self.obstructed[metric as usize];
        if !obstructed.is_empty()
            && let Some(material) = obstructed.get(&placement.key())
        {
            return Fault::Obstructed(Box::new(*material), metric);
        }
        Fault::Missing(M::of(&*self.rulebook, placement, metric))
    }

    /// The best score that a capture leads to. Ends because every capture
    /// takes pieces off the board.
    fn best_capture<D: Reader, M: Missing>(
        &self,
        placement: &R::Placement,
        metric: Metric,
        reader: &mut D,
    ) -> Result<Option<Score>, Fault<M>> {
        let mut best: Option<Score> = None;
        let mut fault = None;
        self.rulebook
            .captures(placement, |after| match self.score(after, metric, false, reader) {
                Ok(score) => {
                    let score = score.before_move(metric, true);
                    best = Some(Score::better(best, score));
                    // Nothing is better than a win where distances do not count;
                    // all captures have the same distance to the next conversion.
                    !(score.is_win() && !score.is_spoilt() && metric != Metric::Dtw)
                }
                Err(error) => {
                    fault = Some(error);
                    false
                }
            });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(best),
        }
    }

    /// The score of a placement with a right that tables do not hold. Out of
    /// the way of the usual case.
    #[cold]
    fn score_with_right<D: Reader, M: Missing>(
        &self,
        placement: &R::Placement,
        without: &R::Placement,
        metric: Metric,
        reader: &mut D,
    ) -> Result<Score, Fault<M>> {
        let rulebook = &*self.rulebook;
        let mut best: Option<Score> = None;
        let mut fault = None;
        let fifty_moves = metric == Metric::Dtz && rulebook.fifty_moves();
        let instead = rulebook.moves_instead(placement, |after, zeroing| {
            match self.score(after, metric, false, reader) {
                Ok(score) => {
                    let score = score.before_move(metric, zeroing);
                    best = Some(Score::better(
                        best,
                        if fifty_moves { score.within_fifty_moves() } else { score },
                    ));
                }
                Err(error) => fault = Some(error),
            }
        });
        if instead {
            return fault.map_or_else(|| Ok(best.unwrap_or_default()), Err);
        }
        rulebook.right_moves(placement, |after| match self.score(after, metric, false, reader) {
            Ok(score) => best = Some(Score::better(best, score.before_move(metric, true))),
            Err(error) => fault = Some(error),
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        match best {
            // Without the right the side to move would have no move.
            Some(score) if !rulebook.has_move(without) => Ok(score),
            best => Ok(Score::better(best, self.score(without, metric, false, reader)?)),
        }
    }

    /// Tells the system which blocks a look-up of this placement will read.
    pub(crate) fn prefetch(&self, placement: &R::Placement, metric: Metric) {
        let rulebook = &*self.rulebook;
        if rulebook.finished(placement).is_some() {
            return;
        }
        let has_capture = rulebook.has_capture(placement);
        if has_capture && (rulebook.forced() || metric == Metric::Wld) {
            rulebook.captures(placement, |after| {
                self.prefetch(after, metric);
                true
            });
        }
        if !(has_capture && rulebook.forced())
            && let Some(slot) = self.slot(placement, metric)
            && slot.unpacked.get().is_none()
        {
            slot.table.prefetch(slot.side, slot.index.rank(placement));
        }
    }

    /// The slots of a metric with at most so many pieces, those with fewer pieces first.
    fn smallest_first(&self, metric: Metric, pieces: u8) -> Vec<(u8, &Slot<R::Set>)> {
        let mut found: Vec<(u8, &Slot<R::Set>)> = (self.slots.iter())
            .filter_map(|slot| {
                let parts = slot.table.header().parts();
                let count = parts.material.len() as u8 - 1;
                (parts.metric == metric && count <= pieces).then_some((count, slot))
            })
            .collect();
        found.sort_by_key(|(count, slot)| (*count, slot.table.header().parts().material.clone(), slot.side));
        found
    }

    /// See [`Prober::warm`].
    pub(crate) fn warm(&self, metric: Metric, pieces: u8, bytes: u64) -> Result<Filled, Fault<Told>> {
        let mut filled = Filled::default();
        let (mut room, mut fault) = (bytes, None);
        for (_, slot) in self.smallest_first(metric, pieces) {
            if slot.side > 0 {
                // Both sides to move came with the first.
                continue;
            }
            filled.asked += 1;
            match slot.table.keep_blocks(&mut room, &mut Passing) {
                Ok(whole) => filled.done += u32::from(whole),
                Err(error) => fault = fault.or(Some(Fault::Table(Box::new(error)))),
            }
        }
        filled.bytes = bytes - room;
        let fault = fault.or_else(|| self.first_obstructed(metric, pieces));
        fault.map_or(Ok(filled), Err)
    }

    /// A file of at most so many pieces that is not its table.
    fn first_obstructed(&self, metric: Metric, pieces: u8) -> Option<Fault<Told>> {
        let materials = self.obstructed[metric as usize].values();
        let first = materials.filter(|material| material.pieces() <= pieces).min()?;
        Some(Fault::Obstructed(Box::new(*first), metric))
    }

    /// See [`Prober::unpack`].
    pub(crate) fn unpack(&self, pieces: u8, bytes: u64) -> Result<Filled, Fault<Told>> {
        let (mut filled, mut fault) = (Filled::default(), None);
        let mut reader = Own::default();
        for (_, slot) in self.smallest_first(Metric::Wld, pieces) {
            filled.asked += 1;
            let need = Unpacked::bytes_for(slot.index.len());
            if slot.unpacked.get().is_none() {
                if need > bytes - filled.bytes {
                    continue;
                }
                let values = match self.unpacked_values(slot, &mut reader) {
                    Ok(values) => values,
                    Err(error) => {
                        fault = fault.or(Some(error));
                        continue;
                    }
                };
                // Another thread may have done the same work.
                let _ = slot.unpacked.set(values);
                self.unpacked.store(true, Relaxed);
            } else if need > bytes - filled.bytes {
                continue;
            }
            filled.bytes += need;
            filled.done += 1;
        }
        let fault = fault.or_else(|| self.first_obstructed(Metric::Wld, pieces));
        fault.map_or(Ok(filled), Err)
    }

    fn unpacked_values(&self, slot: &Slot<R::Set>, reader: &mut Own) -> Result<Unpacked, Fault<Told>> {
        let mut values = Unpacked::new(slot.index.len());
        for rank in 0..slot.index.len() {
            let placement: R::Placement = slot.index.unrank(rank);
            if self.rulebook.has_gaps() && !self.rulebook.is_placement(&placement) {
                continue;
            }
            let score = self.score::<_, Told>(&placement, Metric::Wld, false, reader)?;
            values.set(rank, score.value());
        }
        Ok(values)
    }
}
