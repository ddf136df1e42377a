//! Many ranks, here as threads of one process, build the same bytes as one
//! process does.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use petrov_games::{Game, Games};
use petrov_gen::{
    BuildOptions, Progress, SpreadError, SpreadOptions, SpreadReport, What, Wire, build, build_spread, plan,
};
use petrov_probe::Metric;

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
    let what: What = what.parse().unwrap();
    let alone = tempfile::tempdir().unwrap();
    let own = build_options(alone.path(), metrics);
    let planned = plan(game, what, &own).unwrap();
    build(game, &planned, &own, &Progress::default()).unwrap();
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
    let alone = tempfile::tempdir().unwrap();
    let own = build_options(alone.path(), &[Metric::Wld]);
    let planned = plan(game, what, &own).unwrap();
    build(game, &planned, &own, &Progress::default()).unwrap();
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
    let alone = tempfile::tempdir().unwrap();
    let own = build_options(alone.path(), &[Metric::Wld]);
    build(game, &plan(game, what, &own).unwrap(), &own, &Progress::default()).unwrap();
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
