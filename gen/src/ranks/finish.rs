//! How a run ends: tables in one folder, and one report.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, hash_map};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use petrov_games::{Game, Material};
use petrov_probe::format::FILE_CHECKSUM_BYTES;
use petrov_probe::{EXTENSION, Metric, Tables};
use serde::{Deserialize, Serialize};

use super::post::{Failure, Post};
use super::start::{Groups, Identity, broken, game_folder, lock_folders, of_plan, run_number};
use super::{RankReport, SpreadOptions, SpreadReport};
use crate::build::{BuildReport, Progress, TableReport};
use crate::message;
use crate::plan::{Plan, left_alone};

/// One table as ranks tell each other of it.
#[derive(Serialize, Deserialize)]
struct TableLine {
    slice: u32,
    metric: u8,
    built: bool,
    positions: u64,
    bytes: u64,
    path: PathBuf,
    solve_cpu_seconds: f64,
    write_cpu_seconds: f64,
}

/// The reports of all ranks as one.
pub(super) fn bring_reports(
    plan: &Plan,
    report: BuildReport,
    own: RankReport,
    post: &Post,
    progress: &Progress,
) -> Result<SpreadReport, Failure> {
    let number: HashMap<Material, u32> = (0..)
        .zip(&plan.slices)
        .map(|(number, slice)| (slice.material, number))
        .collect();
    let lines: Vec<TableLine> = report
        .tables
        .iter()
        .map(|table| TableLine {
            slice: number[&table.material],
            metric: table.metric as u8,
            built: table.built,
            positions: table.positions,
            bytes: table.bytes,
            path: table.path.clone(),
            solve_cpu_seconds: table.solve_cpu_seconds,
            write_cpu_seconds: table.write_cpu_seconds,
        })
        .collect();
    let sums = (report.solve_cpu_seconds, report.write_cpu_seconds);
    let mut all = SpreadReport {
        total: progress.total(),
        ..SpreadReport::default()
    };
    for message in post.gather(&message::encode(&(own, sums, lines), &[])) {
        let ((rank, sums, lines), _) = message::decode::<(RankReport, (f64, f64), Vec<TableLine>)>(&message)?;
        all.build.solve_cpu_seconds += sums.0;
        all.build.write_cpu_seconds += sums.1;
        all.build.cpu_seconds += rank.cpu_seconds + rank.communication_seconds;
        all.build.wall_seconds = all.build.wall_seconds.max(rank.wall_seconds);
        all.build.peak_memory_bytes += rank.peak_memory_bytes;
        all.done += rank.steps;
        all.ranks.push(rank);
        for line in lines {
            all.build.tables.push(TableReport {
                material: plan.slices[line.slice as usize].material,
                metric: Metric::ALL[usize::from(line.metric) % Metric::ALL.len()],
                built: line.built,
                positions: line.positions,
                bytes: line.bytes,
                path: line.path,
                solve_cpu_seconds: line.solve_cpu_seconds,
                write_cpu_seconds: line.write_cpu_seconds,
            });
        }
    }
    let tables = &mut all.build.tables;
    tables.sort_by_key(|table| (number[&table.material], table.metric));
    tables.dedup_by_key(|table| (table.material, table.metric));
    let mut built = BTreeMap::new();
    for table in tables.iter().filter(|table| table.built) {
        built.insert(table.material, table.positions);
    }
    all.build.positions = built.values().sum();
    Ok(all)
}

pub(super) fn collect<G: Game>(game: &G, options: &SpreadOptions, post: &Arc<Post>) -> Result<Vec<PathBuf>, Failure> {
    Identity::of(game, "collect", options).check(post)?;
    let run = run_number(post);
    let folder = game_folder(game, &options.build);
    let groups = Groups::find(post, &folder, run)?;
    let _lock = lock_folders(post, &groups, &folder, &options.host)?;
    let collected = bring_together(game, options, post, &groups)?;
    if !collected.any && post.rank == 0 {
        return Err(Failure {
            usage: true,
            text: format!("no rank has a table of {} in {}", game.name(), folder.display()),
        });
    }
    post.meet();
    Ok(collected.brought)
}

/// Bytes of a file that are sent at a time.
const CHUNK: usize = 1 << 24;

/// A part of a table on its way to rank 0: material, metric, and whether more
/// follows.
#[derive(Serialize, Deserialize)]
struct Parcel {
    file: PathBuf,
    whole: [u8; 32],
    last: bool,
}

/// A table that a rank has.
#[derive(Serialize, Deserialize)]
struct Held {
    /// Name of the file.
    name: PathBuf,
    /// The checksum at its end, if that is right, or else what is wrong, with the path.
    state: Result<[u8; FILE_CHECKSUM_BYTES], String>,
}

/// The tables of a game in some folders, and those that are damaged. Of several copies the first is taken, as in
/// probing, but a whole one before a damaged one; except where rank 0's tables are written, as a damaged one there is
/// to be replaced.
fn held<G: Game>(game: &G, tables: &Tables, folders: &[PathBuf], post: &Post) -> BTreeMap<PathBuf, (PathBuf, Held)> {
    let mut held: BTreeMap<PathBuf, (PathBuf, Held)> = BTreeMap::new();
    let mut add = |path: &Path, state: Result<_, String>| {
        let in_place = path
            .parent()
            .is_some_and(|parent| folders.iter().any(|folder| folder == parent));
        let Some(name) = path.file_name().filter(|_| in_place).map(PathBuf::from) else {
            return;
        };
        // What has no name of a table is none of a game's, whatever it is.
        let mut parts = name.to_str().unwrap_or_default().split('.');
        if parts
            .next()
            .is_none_or(|material| material.parse::<Material>().is_err())
        {
            return;
        }
        let is_whole = state.is_ok();
        let to_replace = |path: &Path| post.rank == 0 && path.parent() == folders.first().map(PathBuf::as_path);
        let one = (
            path.to_owned(),
            Held {
                name: name.clone(),
                state,
            },
        );
        match held.entry(name) {
            Entry::Occupied(mut first)
                if is_whole && first.get().1.state.is_err() && !to_replace(&first.get().0)
                    || !is_whole && to_replace(path) =>
            {
                first.insert(one);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => {
                place.insert(one);
            }
        }
    };
    for table in tables.iter() {
        let parts = table.header().parts();
        if parts.fingerprint != game.fingerprint().bytes() {
            continue;
        }
        let name = format!("{}.{}.{EXTENSION}", parts.material, parts.metric);
        if table.path().file_name().is_some_and(|file| file == name.as_str()) {
            let sum = table.verify_checksum().map_err(|fault| fault.to_string());
            add(table.path(), sum.and_then(|()| checksum_at_end(table.path())));
        } else {
            post.say_of_this_rank(format!(
                "warning: {}: holds {name}, and is passed over",
                table.path().display()
            ));
        }
    }
    for (path, fault) in tables.faults() {
        add(path, Err(fault.to_string()));
    }
    held
}

/// The checksum that a file ends with.
fn checksum_at_end(path: &Path) -> Result<[u8; FILE_CHECKSUM_BYTES], String> {
    let mut sum = [0; FILE_CHECKSUM_BYTES];
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::End(-(FILE_CHECKSUM_BYTES as i64)))?;
        file.read_exact(&mut sum)
    });
    read.map_err(|error| format!("{}: cannot be read: {error}", path.display()))?;
    Ok(sum)
}

/// Brings the tables of a game together in the folder of rank 0.
pub(super) fn bring_together<G: Game>(
    game: &G,
    options: &SpreadOptions,
    post: &Post,
    groups: &Groups,
) -> Result<Collected, Failure> {
    let folder = game_folder(game, &options.build);
    let mut folders: Vec<PathBuf> = (options.build.dirs.iter().map(|dir| dir.join(game.name()))).collect();
    if folders.is_empty() {
        folders.push(folder.clone());
    }
    // Each says what it has, and what of it is damaged.
    let (mut own, mut tables) = (BTreeMap::new(), None);
    if groups.leads() {
        let all = Tables::open(&folders)?;
        own = held(game, &all, &folders, post);
        tables = Some(all);
    }
    let (paths, own): (HashMap<PathBuf, PathBuf>, Vec<Held>) =
        own.into_iter().map(|(name, (path, held))| ((name, path), held)).unzip();
    let all = post.gather(&message::encode(&own, &[]));
    let mut wanted: Vec<(usize, PathBuf)> = Vec::new();
    let mut there: HashMap<PathBuf, (usize, [u8; FILE_CHECKSUM_BYTES])> = HashMap::new();
    let (mut damaged, mut faults) = (BTreeMap::<PathBuf, Vec<String>>::new(), Vec::new());
    for (rank, message) in all.iter().enumerate() {
        let (tables, _) = message::decode::<Vec<Held>>(message)?;
        for Held { name, state } in tables {
            match state {
                Err(fault) => damaged.entry(name).or_default().push(format!("rank {rank}: {fault}")),
                Ok(sum) => match there.entry(name.clone()) {
                    hash_map::Entry::Vacant(place) => {
                        place.insert((rank, sum));
                        if rank > 0 {
                            wanted.push((rank, name));
                        }
                    }
                    hash_map::Entry::Occupied(first) => {
                        let (first, other) = *first.get();
                        if other != sum {
                            let name = name.display();
                            faults.push(format!(
                                "{name} of rank {rank} is another table than that of rank {first}, and both are whole"
                            ));
                        }
                    }
                },
            }
        }
    }
    if let (0, Some(tables)) = (post.rank, &tables) {
        for (_, name) in &wanted {
            left_alone(game, tables, &folder.join(name)).map_err(of_plan)?;
        }
    }
    // What nobody has whole.
    damaged.retain(|name, _| !there.contains_key(name));
    faults.extend(damaged.into_values().map(|faults| faults.join("; ")));
    let mut brought = Vec::new();
    for (rank, name) in wanted {
        let path = folder.join(&name);
        let bytes = if rank == post.rank {
            std::fs::read(paths.get(&name).unwrap_or(&path))?
        } else {
            Vec::new()
        };
        let whole = *blake3::hash(&bytes).as_bytes();
        let mut sent = 0;
        let mut taken = Vec::new();
        loop {
            let mut out = vec![Vec::new(); post.ranks];
            let mut last = true;
            if rank == post.rank {
                let end = bytes.len().min(sent + CHUNK);
                last = end == bytes.len();
                let parcel = Parcel {
                    file: name.clone(),
                    whole,
                    last,
                };
                let message = message::encode(&parcel, &[&bytes[sent..end]]);
                // Everyone hears whether there is more.
                for (to, out) in out.iter_mut().enumerate() {
                    *out = if to == 0 { message.clone() } else { vec![u8::from(last)] };
                }
                sent = end;
            }
            let found = post.exchange(out);
            if post.rank == 0 {
                let (parcel, part) = message::decode::<Parcel>(&found[rank])?;
                taken.extend_from_slice(part);
                last = parcel.last;
                if last {
                    if parcel.file != name || *blake3::hash(&taken).as_bytes() != parcel.whole {
                        return Err(broken(format!(
                            "{}: damaged on its way from rank {rank}",
                            name.display()
                        )));
                    }
                    crate::write::write_file(&path, &taken)?;
                }
            } else if rank != post.rank {
                last = found[rank] == [1];
            }
            if last {
                break;
            }
        }
        if post.rank == 0 {
            post.say(format!("{} has come from rank {rank}", path.display()));
        }
        brought.push(path);
    }
    if !faults.is_empty() && post.rank == 0 {
        return Err(broken(format!("not brought together: {}", faults.join("; "))));
    }
    Ok(Collected {
        brought,
        any: !there.is_empty(),
    })
}

/// What has come of bringing tables together.
pub(super) struct Collected {
    /// New files in rank 0's folder.
    brought: Vec<PathBuf>,
    /// Whether any rank has a table of the game.
    any: bool,
}
