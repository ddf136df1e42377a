//! Tables that ranks build are those of one process, byte for byte, also after having been killed.

mod common;

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Wanted, assert_same, done, files};
use petrov_probe::Metric::{Dtw, Dtz, Wld};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How many ranks.
const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

/// With units split by rows wherever they have rows, and with none split.
const SPLIT: [&[&str]; 2] = [&["--split-from", "0"], &["--split-from", "18446744073709551615"]];

/// Built with all numbers of ranks whenever tests run.
const SMALL: [Wanted; 3] = [
    Wanted {
        game: "russian",
        what: "3",
        metrics: &[Wld, Dtw, Dtz],
    },
    Wanted {
        game: "turkish",
        what: "KKvK",
        metrics: &[Wld, Dtw],
    },
    Wanted {
        game: "international",
        what: "3",
        metrics: &[Wld, Dtw],
    },
];

/// What these depend on is built once only.
const MEDIUM: [Wanted; 2] = [
    Wanted {
        game: "chess",
        what: "KRPvK",
        metrics: &[Wld, Dtz],
    },
    Wanted {
        game: "chess",
        what: "KPvKP",
        metrics: &[Wld],
    },
];

const RUSSIAN: Wanted = Wanted {
    game: "russian",
    what: "4",
    metrics: &[Wld, Dtw],
};

/// Built by `scripts/cluster-check` only.
const LARGE: [Wanted; 2] = [
    Wanted {
        game: "chess",
        what: "KQvKR",
        metrics: &[Wld, Dtw, Dtz],
    },
    Wanted {
        game: "english",
        what: "KKKvKKK",
        metrics: &[Wld, Dtw],
    },
];

/// What there is before ranks begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// All tables that the material asked for depends on: most of the work.
    Dependencies,
}

fn same_with(ranks: &[usize], wanted: &[Wanted], before: Before) {
    for wanted in wanted {
        let alone = TempDir::new().unwrap();
        wanted.build(alone.path(), 1);
        let prepared = || {
            let place = TempDir::new().unwrap();
            if before == Before::Dependencies {
                copy_others(alone.path(), place.path(), wanted.what);
            }
            place
        };
        let threads = prepared();
        wanted.build(threads.path(), 2);
        assert_same(threads.path(), alone.path(), &format!("with 2 threads: {wanted:?}"));
        for ranks in ranks.iter().copied() {
            for split in SPLIT {
                let place = prepared();
                done(&mut wanted.cluster(ranks, &place.path().display().to_string(), split));
                let how = format!("with {ranks} ranks and {split:?}: {wanted:?}");
                assert_same(place.path(), alone.path(), &how);
            }
        }
    }
}

/// Copies all tables but those of a material.
fn copy_others(from: &Path, to: &Path, material: &str) {
    let (mut copied, mut left) = (0, 0);
    for (name, bytes) in files(from) {
        let file = name.file_name().unwrap().to_str().unwrap();
        if file.starts_with(&format!("{material}.")) {
            left += 1;
            continue;
        }
        let path = to.join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        copied += 1;
    }
    assert!(copied > 0 && left > 0, "{copied} tables copied, {left} left");
}

#[test]
fn ranks_make_no_difference() {
    same_with(&RANKS, &SMALL, Before::Nothing);
    // Each of these loads large tables first, so few numbers of ranks have to do here.
    same_with(&[3], &MEDIUM, Before::Dependencies);
}

#[test]
#[ignore = "takes minutes; scripts/cluster-check runs it"]
fn ranks_make_no_difference_to_large_tables() {
    for wanted in [&MEDIUM[..], &LARGE, &[RUSSIAN]] {
        same_with(&RANKS, wanted, Before::Nothing);
    }
}

/// Each rank writes to a folder of its own; in the end that of rank 0 has everything.
#[test]
fn folders_of_ranks_are_brought_together() {
    let wanted = SMALL[0];
    let alone = TempDir::new().unwrap();
    wanted.build(alone.path(), 1);
    for split in SPLIT {
        let place = TempDir::new().unwrap();
        let folders = place.path().join("{rank}").display().to_string();
        done(&mut wanted.cluster(3, &folders, split));
        assert_same(&place.path().join("0"), alone.path(), "when brought together");
        // Later, and by command.
        let place = TempDir::new().unwrap();
        let folders = place.path().join("{rank}").display().to_string();
        done(wanted.cluster(3, &folders, split).arg("--no-collect"));
        done(&mut common::cluster(
            3,
            &["-q", "--tables", &folders, "collect", wanted.game],
        ));
        assert_same(
            &place.path().join("0"),
            alone.path(),
            "when brought together by collect",
        );
    }
}

/// Processes that mpirun has started.
fn ranks_of(mpirun: &Child) -> Vec<Pid> {
    let path = format!("/proc/{0}/task/{0}/children", mpirun.id());
    let list = std::fs::read_to_string(path).unwrap_or_default();
    let numbers = list.split_whitespace().filter_map(|number| number.parse().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

/// Names in the game's folder. Nothing is opened: files come and go meanwhile.
fn names(folder: &Path) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir(folder.join("russian")) else {
        return Vec::new();
    };
    folder
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Kills something a few times at different moments, then lets the same command finish, with another number of ranks.
#[test]
fn killed_and_started_again() {
    let wanted = RUSSIAN;
    let alone = TempDir::new().unwrap();
    wanted.build(alone.path(), 2);
    let place = TempDir::new().unwrap();
    let folder = place.path().display().to_string();
    let mut kills = 0;
    for (round, split) in [SPLIT[0], SPLIT[1], SPLIT[0], SPLIT[1]].into_iter().enumerate() {
        let mut command = wanted.cluster(2 + round % 2, &folder, split);
        command.args(["--checkpoint", "1"]).stderr(Stdio::null());
        let mut mpirun = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500 + 300 * round as u64));
        if mpirun.try_wait().unwrap().is_some() {
            continue;
        }
        kills += 1;
        let start = Instant::now();
        match ranks_of(&mpirun).get(round / 2).filter(|_| round % 2 == 0) {
            Some(rank) => kill_process(*rank, Signal::KILL).unwrap(),
            None => mpirun.kill().unwrap(),
        }
        assert!(!mpirun.wait().unwrap().success());
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    }
    assert!(kills >= 2, "{kills} kills");
    done(&mut wanted.cluster(3, &folder, SPLIT[0]));
    assert_same(place.path(), alone.path(), &format!("after {kills} kills"));
}

/// A copy of a game's folder, with that of checkpoints, and the files in it.
fn copy_of(place: &Path, game: &str) -> (TempDir, Vec<String>) {
    let copy = TempDir::new().unwrap();
    let mut files = Vec::new();
    for folder in [game.to_owned(), format!("{game}/checkpoint")] {
        std::fs::create_dir(copy.path().join(&folder)).unwrap();
        for entry in std::fs::read_dir(place.join(&folder)).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                let name = entry.file_name().into_string().unwrap();
                std::fs::copy(entry.path(), copy.path().join(&folder).join(&name)).unwrap();
                files.push(name);
            }
        }
    }
    (copy, files)
}

/// A split unit goes on from the ply that was kept, also with another number of ranks.
#[test]
fn a_split_unit_goes_on_from_its_ply() {
    let wanted = Wanted {
        game: "english",
        what: "KKKvKKK",
        metrics: &[Wld],
    };
    let alone = TempDir::new().unwrap();
    wanted.build(alone.path(), 2);
    let place = TempDir::new().unwrap();
    let folder = place.path().display().to_string();
    let mut command = wanted.cluster(2, &folder, SPLIT[0]);
    let mut mpirun = command
        .args(["--checkpoint", "0.001"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let states = || -> Vec<String> {
        let kept = std::fs::read_dir(place.path().join("english/checkpoint"));
        let kept = kept.into_iter().flatten().flatten();
        let names = kept.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with("KKKvKKK.wld.")).collect()
    };
    // The first state is whole once one of its files makes way for the next.
    let start = Instant::now();
    let mut first = Vec::new();
    loop {
        assert!(start.elapsed() < Duration::from_secs(120));
        assert!(mpirun.try_wait().unwrap().is_none(), "ended without a checkpoint");
        let now = states();
        if first.iter().any(|name| !now.contains(name)) {
            break;
        }
        first = now;
        std::thread::sleep(Duration::from_millis(1));
    }
    for rank in ranks_of(&mpirun) {
        kill_process(rank, Signal::KILL).unwrap();
    }
    assert!(!mpirun.wait().unwrap().success());
    // A run for another metric in between leaves it alone.
    let go_on = |ranks: usize, folder: &Path, metric: &str, split: &str| {
        let folder = folder.display().to_string();
        let mut again = common::cluster(
            ranks,
            &["--tables", &folder, "gen", "english", "KKKvKKK", "--metric", metric],
        );
        again.args(["--threads", "1", "--split-from", split]);
        let output = common::output(&mut again);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    let kept = states();
    go_on(2, place.path(), "dtz", "0");
    assert_eq!(states(), kept);
    for name in copy_of(place.path(), "english").1 {
        if name.contains(".dtz.") {
            std::fs::remove_file(place.path().join("english").join(name)).unwrap();
        }
    }
    for ranks in [1, 3] {
        let (copy, _) = copy_of(place.path(), "english");
        let said = go_on(ranks, copy.path(), "wld", "0");
        assert!(
            said.contains("KKKvKKK: unit 0 goes on from a checkpoint at ply "),
            "{ranks} ranks: {said}"
        );
        assert_same(
            copy.path(),
            alone.path(),
            &format!("after {ranks} ranks went on from a ply"),
        );
    }
    // Divided in another way it cannot, and says so.
    let said = go_on(2, place.path(), "wld", "1000000000");
    assert!(said.contains("its work is done again"), "{said}");
    assert_same(place.path(), alone.path(), "after going on from a ply");
}

/// Sends mpirun a signal when the ranks are at work; gives what was said.
fn stop_with(signal: Signal, place: &Path, folder: &str) -> String {
    let mut command = common::cluster(3, &["--tables", folder, "gen", "russian", "5", "--threads", "1"]);
    let mpirun = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // What was there before is not built again.
    let (start, before) = (Instant::now(), names(place).len());
    while names(place).len() < before + 3 {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    let start = Instant::now();
    kill_process(Pid::from_child(&mpirun), signal).unwrap();
    let output = mpirun.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    String::from_utf8(output.stderr).unwrap()
}

/// `kill` and Ctrl-C reach mpirun, which tells the ranks.
#[test]
fn stopped_ranks_leave_whole_tables() {
    let place = TempDir::new().unwrap();
    let folder = place.path().display().to_string();
    for signal in [Signal::TERM, Signal::INT] {
        // mpirun kills ranks that take more than a second to end, as on a busy machine they may.
        let ended_by_itself = (0..5).any(|_| {
            let said = stop_with(signal, place.path(), &folder);
            let farewells = said.matches("the same command goes on").count();
            assert!(farewells <= 1, "{said}");
            let left = names(place.path());
            let leftovers = left.iter().any(|name| name.contains(".tmp-"));
            farewells == 1 && !leftovers
        });
        assert!(ended_by_itself, "{signal:?}");
    }
}
