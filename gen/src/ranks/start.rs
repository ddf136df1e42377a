//! How a run begins: whether all ranks mean the same, which of them share a
//! folder, and what is there already.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use petrov_games::{Game, Material};
use petrov_probe::Metric;
use serde::{Deserialize, Serialize};

use super::SpreadOptions;
use super::checkpoint::{self, Folder, Holds, KeptPages, Label};
use super::post::{Failure, Post};
use super::team::StateFile;
use crate::lock::FolderLock;
use crate::message;
use crate::plan::{self, BuildOptions, PlanError, Present, What};
use crate::write::remove_all_leftovers;

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            usage: false,
            text: error.to_string(),
        }
    }
}

pub(super) fn broken(text: String) -> Failure {
    Failure { usage: false, text }
}

pub(super) fn of_plan(error: PlanError) -> Failure {
    Failure {
        usage: matches!(error, PlanError::NoTable { .. }),
        text: error.to_string(),
    }
}

/// What all ranks must have in common.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    version: String,
    game: String,
    fingerprint: [u8; 16],
    what: String,
    /// What is to be alike besides, as it is called on the command line.
    options: Vec<(String, String)>,
}

impl Identity {
    pub(super) fn of<G: Game>(game: &G, what: &str, options: &SpreadOptions) -> Self {
        let metrics: Vec<&str> = options.build.metrics.iter().map(|metric| metric.name()).collect();
        let number = |number: Option<u64>| number.map_or("the default".to_owned(), |number| number.to_string());
        let seconds = options.checkpoint.map_or(0.0, |every| every.as_secs_f64());
        let pairs = [
            ("--metric", metrics.join(",")),
            ("--memory", number(options.build.memory)),
            ("--split-from", number(options.split_from)),
            ("--share-from", number(options.share_from)),
            ("--checkpoint", seconds.to_string()),
        ];
        Self {
            version: options.identity.clone(),
            game: game.name().to_owned(),
            fingerprint: game.fingerprint().bytes(),
            what: what.to_owned(),
            options: pairs.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        }
    }

    /// Whether all ranks have the same, or what is different.
    pub(super) fn check(&self, post: &Post) -> Result<(), Failure> {
        let all = post.gather(&message::encode(self, &[]));
        let first = message::decode::<Self>(&all[0]);
        let differs = all.iter().enumerate().find_map(|(rank, other)| {
            let (Ok((other, _)), Ok((first, _))) = (message::decode::<Self>(other), &first) else {
                return Some(format!("rank {rank} is of another version"));
            };
            let what = |what: &str, here: &str, there: &str| {
                (here != there).then(|| {
                    format!("rank {rank} has another {what} than rank 0: {here}, not {there}; start all ranks alike")
                })
            };
            what("version", &other.version, &first.version)
                .or_else(|| what("game", &other.game, &first.game))
                .or_else(|| what("request", &other.what, &first.what))
                .or_else(|| {
                    let pairs = other.options.iter().zip(&first.options);
                    pairs
                        .into_iter()
                        .find_map(|((name, here), (_, there))| what(name, here, there))
                })
                .or_else(|| {
                    (other.fingerprint != first.fingerprint).then(|| {
                        format!(
                            "rank {rank} has other rules of {} than rank 0; give all ranks the same --rules",
                            other.game
                        )
                    })
                })
        });
        if let Some(text) = differs {
            if post.rank == 0 {
                return Err(broken(text));
            }
            // All see it, and rank 0 says it.
            post.wait_for_the_end();
        }
        Ok(())
    }
}

/// Which ranks share a folder of tables.
pub(super) struct Groups {
    /// For each rank the lowest one that has the same folder.
    pub(super) leader: Vec<usize>,
    rank: usize,
}

impl Groups {
    /// Finds out by files that each rank leaves in its folder.
    pub(super) fn find(post: &Post, folder: &Path, run: u64) -> Result<Self, Failure> {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| broken(format!("{}: cannot create the folder: {error}", folder.display())))?;
        let token = |rank: usize| folder.join(format!(".rank-{run:x}-{rank}"));
        let own = token(post.rank);
        std::fs::write(&own, [])
            .map_err(|error| broken(format!("{}: cannot create the file: {error}", own.display())))?;
        post.meet();
        let seen = (0..post.ranks).find(|rank| token(*rank).exists()).unwrap_or(post.rank);
        let all = post.gather(&message::encode(&seen, &[]));
        // Nobody looks any more.
        let _ = std::fs::remove_file(&own);
        let leader = all
            .iter()
            .enumerate()
            .map(|(rank, seen)| message::decode(seen).map_or(rank, |(seen, _)| seen));
        Ok(Self {
            leader: leader.collect(),
            rank: post.rank,
        })
    }

    pub(super) fn leads(&self) -> bool {
        self.leader[self.rank] == self.rank
    }

    pub(super) fn are_one(&self) -> bool {
        self.leader.iter().all(|leader| *leader == 0)
    }

    pub(super) fn with(&self, leader: usize) -> Vec<usize> {
        (0..self.leader.len())
            .filter(|rank| self.leader[*rank] == leader)
            .collect()
    }
}

/// A number for this run, the same on all ranks.
pub(super) fn run_number(post: &Post) -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let own = time.map_or(0, |time| time.as_nanos() as u64) ^ u64::from(std::process::id()) << 40;
    let all = post.gather(&own.to_le_bytes());
    all[0].first_chunk().map_or(own, |bytes| u64::from_le_bytes(*bytes))
}

pub(super) fn game_folder<G: Game>(game: &G, options: &BuildOptions) -> PathBuf {
    plan::write_dir(options).join(game.name())
}

/// Locks the folder of each group, one after the other and in an order that all runs have, so that two of them never
/// wait for each other. `host` is where this rank works.
pub(super) fn lock_folders(
    post: &Post,
    groups: &Groups,
    folder: &Path,
    host: &str,
) -> Result<Option<FolderLock>, Failure> {
    let place = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let own = (place.as_os_str().as_encoded_bytes(), host.as_bytes());
    let places = post.gather(&message::encode(&own, &[]));
    let mut leaders: Vec<usize> = (0..post.ranks).filter(|rank| groups.leader[*rank] == *rank).collect();
    leaders.sort_by_key(|rank| (&places[*rank], *rank));
    let mut lock = None;
    for leader in leaders {
        if leader == post.rank {
            lock = Some(lock_folder(post, folder)?);
        }
        post.meet();
    }
    Ok(lock)
}

fn lock_folder(post: &Post, folder: &Path) -> Result<FolderLock, Failure> {
    let waiting = || {
        post.say_of_this_rank(format!(
            "another petrov builds tables in {}; waiting until it ends",
            folder.display()
        ));
    };
    let lock = FolderLock::of(folder, waiting)?;
    remove_all_leftovers(folder);
    remove_old_tokens(folder);
    Ok(lock)
}

/// Removes what killed runs have left. Tokens are of use for a moment only.
fn remove_old_tokens(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry
            .metadata()
            .and_then(|about| about.modified())
            .ok()
            .and_then(|time| time.elapsed().ok());
        let is_old = age.is_some_and(|age| age > OLD_TOKEN);
        if is_old && entry.file_name().to_string_lossy().starts_with(".rank-") {
            // Best effort: it does no harm.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Far longer than ranks look for each other's tokens.
const OLD_TOKEN: Duration = Duration::from_secs(600);

/// What the leader of a group has found in its folder.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Holdings {
    /// Material, number of the metric, file.
    tables: Vec<(String, u8, PathBuf)>,
    damaged: Vec<String>,
    pub(super) states: Vec<StateFile>,
    pub(super) pages: Vec<PagesThere>,
    faults: Vec<String>,
}

/// Pages of a slice that a checkpoint holds.
#[derive(Serialize, Deserialize)]
pub(super) struct PagesThere {
    pub(super) material: String,
    /// Number of the metric.
    pub(super) metric: u8,
    /// Values of a unit of each side, as pages are cut.
    pub(super) units: Vec<u64>,
    /// Side and page.
    pub(super) pages: Vec<(u8, u64)>,
}

/// What is known of all folders.
pub(super) struct Known {
    pub(super) holdings: Vec<Holdings>,
    pub(super) present: Present,
    /// The leader of the group that has a table.
    pub(super) holder: HashMap<(Material, Metric), usize>,
}

/// What there is in all folders, and the checkpoint files of this rank's.
pub(super) fn known<G: Game>(
    game: &G,
    what: What,
    options: &SpreadOptions,
    post: &Post,
    groups: &Groups,
    checkpoints: &Folder,
) -> Result<(Known, Vec<(PathBuf, Label)>), Failure> {
    let mut own = Holdings::default();
    let mut files = Vec::new();
    if groups.leads() {
        let plan = plan::plan(game, what, &options.build).map_err(of_plan)?;
        own.damaged = plan.damaged;
        let fingerprint = game.fingerprint().bytes();
        let (found, faults) = checkpoints.list(fingerprint);
        own.faults = faults;
        for slice in &plan.slices {
            for table in &slice.present {
                own.tables
                    .push((slice.material.to_string(), table.metric as u8, table.path.clone()));
            }
        }
        for file in found {
            match &file.label.holds {
                Holds::State { .. } => own.states.push(StateFile {
                    rank: post.rank,
                    path: file.path,
                    label: file.label,
                }),
                Holds::Pages { .. } => files.push((file.path, file.label)),
            }
        }
        for (path, label) in &files {
            if let (Holds::Pages { units }, Ok((_, contents))) = (&label.holds, checkpoint::read(path))
                && let Ok((pages, _)) = message::decode::<KeptPages>(&contents)
            {
                let pages = pages.iter().map(|(side, page, _)| (*side, *page)).collect();
                own.pages.push(PagesThere {
                    material: label.material.clone(),
                    metric: label.metric,
                    units: units.clone(),
                    pages,
                });
            }
        }
    }
    let all = post.gather(&message::encode(&own, &[]));
    let mut known = Known {
        holdings: Vec::new(),
        present: Present::new(),
        holder: HashMap::new(),
    };
    for (rank, message) in all.iter().enumerate() {
        let (holdings, _) = message::decode::<Holdings>(message)?;
        for (material, metric, path) in &holdings.tables {
            let Ok(material) = material.parse::<Material>() else {
                continue;
            };
            let name = (material, Metric::ALL[usize::from(*metric) % Metric::ALL.len()]);
            known.holder.entry(name).or_insert(rank);
            // A path that is of use to this rank, rather than another's.
            if groups.leader[post.rank] == rank || !known.present.contains_key(&name) {
                known.present.insert(name, path.clone());
            }
        }
        if post.rank == 0 {
            for fault in &holdings.damaged {
                post.say(format!(
                    "warning: damaged table, not used, and built again unless another rank has it: {fault}"
                ));
            }
            for fault in &holdings.faults {
                post.say(format!("warning: {fault}; it is not used"));
            }
        }
        known.holdings.push(holdings);
    }
    Ok((known, files))
}
