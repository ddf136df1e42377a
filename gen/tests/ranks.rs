//! Many ranks, here as threads of one process, build the same bytes as one
//! process does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use petrov_games::{Game, Games};
use petrov_gen::{
    BuildOptions, FolderLock, Progress, SpreadError, SpreadOptions, SpreadReport, What, Wire, build, build_spread,
    collect_spread, plan,
};
use petrov_probe::Metric;
use petrov_probe::format::{FILE_CHECKSUM_BYTES, file_checksum};

/// Ranks that are threads.
struct ThreadWire {
    rank: usize,
    others: Vec<Sender<(usize, Vec<u8>)>>,
    own: Receiver<(usize, Vec<u8>)>,
}

impl Wire for ThreadWire {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.others.len()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        // A rank that has ended hears nothing more.
        let _ = self.others[to].send((self.rank, message));
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        self.own.try_recv().ok()
    }

    fn unsent(&self) -> u64 {
        0
    }
}

fn wires(ranks: usize) -> Vec<ThreadWire> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
    let wire = |(rank, own)| ThreadWire {
        rank,
        others: senders.clone(),
        own,
    };
    receivers.into_iter().enumerate().map(wire).collect()
}

fn options(dir: &Path, metrics: &[Metric], split_from: Option<u64>, share_from: Option<u64>) -> SpreadOptions {
    SpreadOptions {
        build: build_options(dir, metrics),
        split_from,
        share_from,
        checkpoint: None,
        collect: true,
        host: "here".to_owned(),
        identity: "test".to_owned(),
    }
}

fn build_options(dir: &Path, metrics: &[Metric]) -> BuildOptions {
    BuildOptions {
        metrics: metrics.to_vec(),
        dirs: vec![dir.to_owned()],
        threads: 1,
        memory: None,
    }
}

/// Runs all ranks, each with its own options, to the end.
fn run<G: Game>(game: &G, what: What, options: Vec<SpreadOptions>) -> Vec<Result<SpreadReport, SpreadError>> {
    std::thread::scope(|scope| {
        let ranks: Vec<_> = wires(options.len())
            .into_iter()
            .zip(&options)
            .map(|(mut wire, options)| {
                scope.spawn(move || build_spread(game, what, options, &mut wire, &mut |_| (), &|_| ()))
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// As `run`, but only brings tables together.
fn collect<G: Game>(game: &G, options: &[SpreadOptions]) -> Vec<Result<Vec<PathBuf>, SpreadError>> {
    std::thread::scope(|scope| {
        let ranks: Vec<_> = wires(options.len())
            .into_iter()
            .zip(options)
            .map(|(mut wire, options)| scope.spawn(move || collect_spread(game, options, &mut wire, &|_| ())))
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// The tables of a request in a folder of their own, built by one process.
fn built_alone<G: Game>(game: &G, what: &str, metrics: &[Metric]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    build_alone(game, what, metrics, dir.path());
    dir
}

fn build_alone<G: Game>(game: &G, what: &str, metrics: &[Metric], dir: &Path) {
    let options = build_options(dir, metrics);
    let planned = plan(game, what.parse().unwrap(), &options).unwrap();
    build(game, &planned, &options, &Progress::default()).unwrap();
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_file() {
            let name = entry.file_name().into_string().unwrap();
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Builds with one process and with ranks, in each way of sharing the work.
fn same_bytes<G: Game>(game: &G, what: &str, metrics: &[Metric], ranks: &[usize], split: &[u64]) {
    let alone = built_alone(game, what, metrics);
    let what: What = what.parse().unwrap();
    let expected = files(&alone.path().join(game.name()));
    assert!(!expected.is_empty());
    for &ranks in ranks {
        let ways = split.iter().map(|split| (Some(*split), None));
        for (split, share) in ways.chain([(None, None), (None, Some(1))]) {
            let dir = tempfile::tempdir().unwrap();
            let each = vec![options(dir.path(), metrics, split, share); ranks];
            let reports = run(game, what, each);
            let report = reports[0].as_ref().unwrap();
            assert!(reports.iter().all(Result::is_ok));
            assert_eq!(report.build.tables.len(), expected.len());
            assert_eq!(report.ranks.len(), ranks);
            let found = files(&dir.path().join(game.name()));
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                expected.keys().collect::<Vec<_>>(),
                "{ranks} ranks, split from {split:?}, shared from {share:?}"
            );
            for (name, bytes) in &expected {
                assert!(
                    found[name] == *bytes,
                    "{name} differs with {ranks} ranks, split from {split:?}, shared from {share:?}"
                );
            }
        }
    }
}

#[test]
fn russian_with_three_pieces() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    same_bytes(game, "3", &[Metric::Wld, Metric::Dtw], &[1, 3], &[2]);
}

#[test]
fn pieces_that_move_sideways() {
    let games = Games::built_in();
    let game = games.draughts("turkish").unwrap();
    same_bytes(game, "MMvK", &[Metric::Dtw], &[2, 3], &[2]);
}

#[test]
fn chess_with_the_fifty_move_rule() {
    let games = Games::built_in();
    let game = games.chess("chess").unwrap();
    same_bytes(game, "3", &[Metric::Wld, Metric::Dtz], &[2, 5], &[2]);
}

#[test]
fn ranks_bring_their_tables_together() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let dirs: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let each: Vec<_> = dirs
        .iter()
        .map(|dir| options(dir.path(), &[Metric::Wld], None, None))
        .collect();
    let what: What = "3".parse().unwrap();
    let reports = run(game, what, each);
    assert!(reports.iter().all(Result::is_ok));
    let alone = built_alone(game, "3", &[Metric::Wld]);
    let (found, expected) = (
        files(&dirs[0].path().join("russian")),
        files(&alone.path().join("russian")),
    );
    assert_eq!(found, expected);
    assert!(files(&dirs[1].path().join("russian")).len() < expected.len());
}

#[test]
fn ranks_that_differ_end_the_run() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut each = vec![options(dir.path(), &[Metric::Wld], None, None); 3];
    each[2].identity = "another".to_owned();
    let reports = run(game, "3".parse().unwrap(), each);
    let texts: Vec<String> = reports
        .iter()
        .map(|report| report.as_ref().unwrap_err().to_string())
        .collect();
    assert!(texts[0].contains("rank 2 has another version"), "{texts:?}");
    assert!(reports[1..].iter().all(|report| !report.as_ref().unwrap_err().speaks()));
}

#[test]
fn a_checkpoint_is_no_hindrance() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut each = vec![options(dir.path(), &[Metric::Wld], Some(2), None); 2];
    each.iter_mut()
        .for_each(|options| options.checkpoint = Some(Duration::ZERO));
    let reports = run(game, "KKvKM".parse().unwrap(), each);
    assert!(reports.iter().all(Result::is_ok), "{reports:?}");
    assert!(!dir.path().join("russian/checkpoint").exists());
}

#[test]
fn a_damaged_table_of_one_rank_gives_way_to_a_whole_one() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let what: What = "KKvM".parse().unwrap();
    let alone = built_alone(game, "KKvM", &[Metric::Wld]);
    let expected = files(&alone.path().join("russian"));
    let dirs: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
    let each = || -> Vec<_> {
        dirs.iter()
            .map(|dir| options(dir.path(), &[Metric::Wld], None, None))
            .collect()
    };
    assert!(run(game, what, each()).iter().all(Result::is_ok));
    for damaged in &dirs {
        let folder = damaged.path().join("russian");
        for name in files(&folder).keys() {
            let path = folder.join(name);
            let whole = std::fs::read(&path).unwrap();
            let mut bytes = whole.clone();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            let reports = run(game, what, each());
            assert!(reports.iter().all(Result::is_ok), "{name}: {reports:?}");
            assert_eq!(
                files(&dirs[0].path().join("russian")),
                expected,
                "after {name} was damaged"
            );
        }
    }
}

#[test]
fn what_is_no_checkpoint_is_left_out() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("russian/checkpoint");
    std::fs::create_dir_all(folder.join("KKvM.wld.folder")).unwrap();
    std::fs::write(folder.join("KvM.wld.0-0-0"), []).unwrap();
    std::fs::write(
        folder.join("KvK.wld.0-0-1"),
        b"petrov state 1\r\n\xff\xff\xff\xff\xff\xff\xff\x7f",
    )
    .unwrap();
    let sparse = std::fs::File::create(folder.join("KKvK.wld.0-0-2")).unwrap();
    sparse.set_len(1 << 36).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("MvM.wld.0-0-3")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(folder.join("MvK.wld.0-0-4"))
        .status();
    assert!(pipe.unwrap().success());
    let mut each = vec![options(dir.path(), &[Metric::Wld], Some(2), None); 2];
    each.iter_mut()
        .for_each(|options| options.checkpoint = Some(Duration::from_millis(1)));
    let reports = run(game, "KKvM".parse().unwrap(), each);
    assert!(reports.iter().all(Result::is_ok), "{reports:?}");
}

/// Folders of two ranks, the first one's empty, the second one's with tables.
fn two_folders<G: Game>(game: &G, what: &str) -> ([tempfile::TempDir; 2], Vec<SpreadOptions>) {
    let dirs = [tempfile::tempdir().unwrap(), built_alone(game, what, &[Metric::Wld])];
    std::fs::create_dir(dirs[0].path().join(game.name())).unwrap();
    let each = dirs.iter().map(|dir| options(dir.path(), &[Metric::Wld], None, None));
    let each = each.collect();
    (dirs, each)
}

/// What `build` does not replace, bringing tables together does not either.
#[test]
fn tables_are_not_brought_over_what_may_be_of_value() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let english = built_alone(games.draughts("english").unwrap(), "2", &[Metric::Wld]);
    let foreign = std::fs::read(english.path().join("english/KvM.wld.petrov")).unwrap();
    let name = "KvM.wld.petrov";
    let version = |whole: &Path| {
        let mut bytes = std::fs::read(whole).unwrap();
        bytes[8] = 2;
        bytes
    };
    for build in [false, true] {
        for is_foreign in [false, true] {
            // Folders of their own: threads of ranks that have failed end with their process only.
            let (dirs, each) = two_folders(game, "2");
            let [here, there] = [0, 1].map(|rank: usize| dirs[rank].path().join("russian"));
            let (bytes, words) = if is_foreign {
                (foreign.clone(), "other rules")
            } else {
                (version(&there.join(name)), "version 2")
            };
            std::fs::write(here.join(name), &bytes).unwrap();
            let said = if build {
                // It has nothing to do with that table.
                run(game, "KvK".parse().unwrap(), each)[0]
                    .as_ref()
                    .unwrap_err()
                    .to_string()
            } else {
                collect(game, &each)[0].as_ref().unwrap_err().to_string()
            };
            assert!(said.contains(words) && said.contains("left as it is"), "{said}");
            assert_eq!(files(&here).len(), 1, "nothing is brought before that is settled");
            assert_eq!(std::fs::read(here.join(name)).unwrap(), bytes);
        }
    }
    let (dirs, each) = two_folders(game, "2");
    let place = dirs[0].path().join("russian").join(name);
    std::os::unix::fs::symlink("/nowhere/KvM.wld.petrov", &place).unwrap();
    let said = collect(game, &each)[0].as_ref().unwrap_err().to_string();
    assert!(said.contains("left as it is"), "{said}");
    assert!(place.is_symlink());
    // A damaged one is replaced.
    let (dirs, each) = two_folders(game, "2");
    let [here, there] = [0, 1].map(|rank: usize| dirs[rank].path().join("russian"));
    std::fs::write(here.join(name), "no table").unwrap();
    assert!(collect(game, &each).iter().all(Result::is_ok));
    assert_eq!(files(&here), files(&there));
}

#[test]
fn whole_tables_that_differ_are_said() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let (dirs, each) = two_folders(game, "2");
    let folders = [0, 1].map(|rank: usize| dirs[rank].path().join("russian"));
    assert_eq!(collect(game, &each)[0].as_ref().unwrap().len(), 3);
    assert_eq!(collect(game, &each)[0].as_ref().unwrap().len(), 0);
    // A byte of a block is another, and the checksum at the end is right.
    let path = folders[1].join("KvM.wld.petrov");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len() - FILE_CHECKSUM_BYTES;
    bytes[end - 1] ^= 1;
    let sum = file_checksum(&bytes[..end]).unwrap();
    bytes[end..].copy_from_slice(&sum);
    std::fs::write(&path, bytes).unwrap();
    std::fs::remove_file(folders[0].join("KvK.wld.petrov")).unwrap();
    let said = collect(game, &each)[0].as_ref().unwrap_err().to_string();
    assert!(said.contains("KvM.wld.petrov of rank 1 is another table"), "{said}");
    assert_eq!(files(&folders[0]).len(), 3, "the others are brought all the same");
}

/// Tables are looked for in all folders of a rank, and brought from all of them.
#[test]
fn second_folders_count() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let (dirs, mut each) = two_folders(game, "2");
    let empty = tempfile::tempdir().unwrap();
    each[1].build.dirs.insert(0, empty.path().to_owned());
    let reports = run(game, "2".parse().unwrap(), each.clone());
    assert!(reports.iter().all(Result::is_ok), "{reports:?}");
    let [here, there] = [0, 1].map(|rank: usize| files(&dirs[rank].path().join("russian")));
    assert_eq!(here, there);
    // A damaged one is replaced where tables are written, and by a whole one of any folder.
    for damage in [30, here["KvM.wld.petrov"].len() - 1] {
        let mut bytes = here["KvM.wld.petrov"].clone();
        bytes[damage] ^= 1;
        for at in [dirs[0].path(), empty.path()] {
            std::fs::write(at.join("russian/KvM.wld.petrov"), &bytes).unwrap();
        }
        let mut both = each.clone();
        both[0].build.dirs.push(dirs[1].path().to_owned());
        assert_eq!(collect(game, &both)[0].as_ref().unwrap().len(), 1);
        assert_eq!(files(&dirs[0].path().join("russian")), here);
    }
    // What bears no table's name is not looked at.
    std::fs::write(empty.path().join("russian/old-KvM.wld.petrov"), "junk").unwrap();
    // What is in the second folder of rank 0 is there.
    let first = tempfile::tempdir().unwrap();
    each[0].build.dirs.insert(0, first.path().to_owned());
    let reports = run(game, "2".parse().unwrap(), each.clone());
    assert!(reports.iter().all(Result::is_ok), "{reports:?}");
    assert!(collect(game, &each)[0].as_ref().unwrap().is_empty());
    assert!(files(&first.path().join("russian")).is_empty());
}

/// Each rank locks its own folder. If all did so at once, two runs could wait for each other for ever.
#[test]
fn two_runs_do_not_wait_for_each_other() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let (dirs, each) = two_folders(game, "2");
    // In any order of ranks.
    let turned: Vec<_> = each.iter().rev().cloned().collect();
    for _ in 0..6 {
        let outside = FolderLock::of(&dirs[1].path().join("russian"), || ()).unwrap();
        let (done, all) = channel();
        for each in [&each, &turned, &each] {
            let (game, each, done) = (game.clone(), each.clone(), done.clone());
            std::thread::spawn(move || done.send(run(&game, "2".parse().unwrap(), each)));
        }
        std::thread::sleep(Duration::from_millis(300));
        drop(outside);
        for _ in 0..3 {
            let reports = all.recv_timeout(Duration::from_secs(60));
            let reports = reports.expect("runs wait for each other");
            assert!(reports.iter().all(Result::is_ok), "{reports:?}");
        }
    }
}

/// The checkpoints of a run are lost if they cannot be written, the run is not.
#[test]
fn a_checkpoint_that_cannot_be_written_ends_nothing() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let (dirs, mut each) = two_folders(game, "2");
    // In the place of the folder of rank 1. Rank 0 says it.
    std::fs::write(dirs[1].path().join("russian/checkpoint"), "a file").unwrap();
    each.iter_mut().for_each(|options| {
        options.checkpoint = Some(Duration::ZERO);
        options.split_from = Some(2);
    });
    let said = std::sync::Mutex::new(Vec::new());
    let reports: Vec<_> = std::thread::scope(|scope| {
        let ranks: Vec<_> = wires(2)
            .into_iter()
            .zip(&each)
            .map(|(mut wire, options)| {
                let say = |text: &str| said.lock().unwrap().push(text.to_owned());
                scope.spawn(move || build_spread(game, "KKvKM".parse().unwrap(), options, &mut wire, &mut |_| (), &say))
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    assert!(reports.iter().all(Result::is_ok), "{reports:?}");
    let said = said.into_inner().unwrap();
    let warnings = said.iter().filter(|text| text.contains("no checkpoint"));
    let warnings: Vec<_> = warnings.collect();
    assert!(warnings.len() == 1 && warnings[0].starts_with("rank 1: "), "{said:?}");
    let alone = built_alone(game, "KKvKM", &[Metric::Wld]);
    for (name, bytes) in files(&alone.path().join("russian")) {
        assert_eq!(
            std::fs::read(dirs[0].path().join("russian").join(&name)).unwrap(),
            bytes,
            "{name}"
        );
    }
}

/// What was kept of a table goes when that table is there, not before, and by whatever program it was built.
#[test]
fn checkpoints_go_with_their_tables() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("russian/checkpoint");
    std::fs::create_dir_all(&folder).unwrap();
    let names = || files(&folder).into_keys().collect::<Vec<_>>();
    for name in ["KKvM.dtw.0-0-0", "KKvM.wld.0-0-0", "KKvKM.wld.0-0-0"] {
        std::fs::write(folder.join(name), "damaged").unwrap();
    }
    let each = vec![options(dir.path(), &[Metric::Wld], None, None); 2];
    for _ in 0..2 {
        let reports = run(game, "KKvM".parse().unwrap(), each.clone());
        assert!(reports.iter().all(Result::is_ok), "{reports:?}");
    }
    assert_eq!(names(), ["KKvKM.wld.0-0-0", "KKvM.dtw.0-0-0"]);
    build_alone(game, "KKvM", &[Metric::Dtw], dir.path());
    assert_eq!(names(), ["KKvKM.wld.0-0-0"]);
    build_alone(game, "KKvKM", &[Metric::Wld], dir.path());
    assert!(!folder.exists());
}
