//! How a run ends: tables in one folder, and one report.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use petrov_games::{Game, Material};
use petrov_probe::{Metric, Tables};
use serde::{Deserialize, Serialize};

use super::post::{Failure, Post};
use super::start::{Groups, Identity, broken, game_folder, lock_folder, run_number};
use super::{RankReport, SpreadOptions, SpreadReport};
use crate::build::{BuildReport, Progress, TableReport};
use crate::message;
use crate::plan::Plan;

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
    let _lock = lock_folder(post, &groups, &folder)?;
    post.meet();
    let brought = bring_together(game, options, post, &groups)?;
    post.meet();
    Ok(brought)
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

/// Brings the tables of a game together in the folder of rank 0.
pub(super) fn bring_together<G: Game>(
    game: &G,
    options: &SpreadOptions,
    post: &Post,
    groups: &Groups,
) -> Result<Vec<PathBuf>, Failure> {
    let folder = game_folder(game, &options.build);
    // Each says what it has, and what of it is damaged.
    let mut own: Vec<(PathBuf, Option<String>)> = Vec::new();
    if groups.leads() {
        let tables = Tables::open(std::slice::from_ref(&folder))?;
        for table in tables.iter() {
            let parts = table.header().parts();
            let Ok(name) = table.path().strip_prefix(&folder) else {
                continue;
            };
            let is_named = name.to_string_lossy() == format!("{}.{}.petrov", parts.material, parts.metric);
            if parts.fingerprint == game.fingerprint().bytes() && is_named {
                let fault = table.verify_checksum().err().map(|fault| fault.to_string());
                own.push((name.to_owned(), fault));
            }
        }
        for (path, fault) in tables.faults() {
            if let Ok(name) = path.strip_prefix(&folder) {
                own.push((name.to_owned(), Some(fault.to_string())));
            }
        }
    }
    let all = post.gather(&message::encode(&own, &[]));
    let mut wanted: Vec<(usize, PathBuf)> = Vec::new();
    let mut there = HashSet::new();
    let mut faults = Vec::new();
    for (rank, message) in all.iter().enumerate() {
        let (tables, _) = message::decode::<Vec<(PathBuf, Option<String>)>>(message)?;
        for (name, fault) in tables {
            match fault {
                Some(fault) => faults.push((name, format!("rank {rank}: {fault}"))),
                None if there.insert(name.clone()) && rank > 0 => wanted.push((rank, name)),
                None => (),
            }
        }
    }
    // What nobody has whole.
    faults.retain(|(name, _)| !there.contains(name));
    let faults: Vec<String> = faults.into_iter().map(|(_, fault)| fault).collect();
    let mut brought = Vec::new();
    for (rank, name) in wanted {
        let path = folder.join(&name);
        let bytes = if rank == post.rank {
            std::fs::read(&path)?
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
        let count = faults.len();
        return Err(broken(format!(
            "rank 0 has all but {count} damaged: {}",
            faults.join("; ")
        )));
    }
    if there.is_empty() && post.rank == 0 {
        return Err(Failure {
            usage: true,
            text: format!("no rank has a table of {} in {}", game.name(), folder.display()),
        });
    }
    Ok(brought)
}
