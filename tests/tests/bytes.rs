//! The bytes of finished tables depend on nothing but what is in them: not on
//! threads, not on having been killed, not on what lay there before.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use petrov_games::draughts::Game;
use petrov_probe::Metric;
use petrov_tests::{Folder, Random, game};

fn built(game: &Game, what: &str, metrics: &[Metric], threads: usize) -> Folder {
    let folder = Folder::default();
    folder.build(game, what, metrics, threads);
    folder
}

fn assert_same(found: &Folder, expected: &Folder, how: &str) {
    let (found, expected) = (found.files(), expected.files());
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "{how}");
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(found == expected, "{} differs {how}", name.display());
    }
}

#[test]
fn threads_make_no_difference() {
    let russian = game("russian");
    for (what, metrics) in [
        ("4", [Metric::Wld, Metric::Dtw].as_slice()),
        ("KKMvKK", &[Metric::Wld]),
        ("KKvKK", &[Metric::Dtz]),
    ] {
        let one = built(&russian, what, metrics, 1);
        for threads in [2, 4] {
            let how = format!("with {threads} threads ({what})");
            assert_same(&built(&russian, what, metrics, threads), &one, &how);
        }
    }
}

/// In one call or in several, fewer pieces first: the same tables.
#[test]
fn order_of_requests_makes_no_difference() {
    let english = game("english");
    let metrics = [Metric::Wld, Metric::Dtw, Metric::Dtz];
    let at_once = built(&english, "3", &metrics, 2);
    let bit_by_bit = Folder::default();
    for metric in [Metric::Dtz, Metric::Wld, Metric::Dtw] {
        bit_by_bit.build(&english, "KMvK", &[metric], 1);
        bit_by_bit.build(&english, "2", &[metric], 1);
        bit_by_bit.build(&english, "3", &[metric], 1);
    }
    assert_same(&bit_by_bit, &at_once, "when built bit by bit");
}

/// The program that this test was built along with.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let petrov = folder.join("petrov");
    assert!(
        petrov.exists(),
        "{} is missing: run `cargo build --release` (or `cargo build` for debug tests) first",
        petrov.display()
    );
    petrov
}

fn generate(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command
        .args(["-q", "--tables"])
        .arg(folder)
        .args(["gen", "russian", "4", "--metric", "wld,dtw", "--threads", "2"])
        .env_remove("PETROV_TABLES")
        .stdout(Stdio::null())
        .stderr(Stdio::inherit());
    command
}

/// `kill -9` at random moments, then the same command again.
#[test]
fn killed_and_started_again() {
    let expected = built(&game("russian"), "4", &[Metric::Wld, Metric::Dtw], 2);
    let folder = Folder::default();
    let mut random = Random::new(std::process::id().into());
    let (mut kills, start) = (0, Instant::now());
    loop {
        let mut child = generate(folder.path()).spawn().unwrap();
        // Every table takes its time, so a longer wait lets a few more finish.
        let patience = Duration::from_millis(20 + random.below(400));
        std::thread::sleep(patience);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        // What has its name is whole.
        let tables = folder.tables();
        assert_eq!(tables.faults().count(), 0, "after {kills} kills");
        for table in tables.iter() {
            table.verify_checksum().unwrap();
        }
        if start.elapsed() > Duration::from_secs(10) {
            assert!(generate(folder.path()).status().unwrap().success());
            break;
        }
    }
    assert!(kills > 2, "{kills} kills");
    assert_same(&folder, &expected, &format!("after {kills} kills"));
}

/// Damage of any kind is noticed, named, and mended.
#[test]
fn damaged_tables_are_built_again() {
    let russian = game("russian");
    let metrics = [Metric::Wld, Metric::Dtw];
    let folder = built(&russian, "3", &metrics, 1);
    let expected = built(&russian, "3", &metrics, 1);
    let path = |name: &str| folder.path().join("russian").join(name);
    let alter = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(path(name)).unwrap();
        change(&mut bytes);
        std::fs::write(path(name), bytes).unwrap();
    };
    alter("KMvK.wld.petrov", &|bytes| *bytes.last_mut().unwrap() ^= 1);
    alter("KKvK.dtw.petrov", &|bytes| bytes[40] ^= 0x20);
    alter("KvM.dtw.petrov", &|bytes| bytes.truncate(bytes.len() / 2));
    alter("MvM.wld.petrov", &|bytes| bytes.clear());
    alter("KMvM.dtw.petrov", &|bytes| {
        let middle = bytes.len() - 40;
        bytes[middle] ^= 0x80;
    });
    std::fs::remove_file(path("KKvM.wld.petrov")).unwrap();
    for name in [
        ".KKvM.wld.petrov.tmp-1-0",
        ".KvK.wld.petrov.tmp-1-0",
        ".KKKvK.dtz.petrov.tmp-2-7",
    ] {
        std::fs::write(path(name), "left by a killed program").unwrap();
    }

    let damaged = folder.build(&russian, "3", &metrics, 2);
    assert_eq!(damaged.len(), 5, "{damaged:?}");
    for name in ["KMvK.wld", "KKvK.dtw", "KvM.dtw", "MvM.wld", "KMvM.dtw"] {
        assert!(damaged.iter().any(|fault| fault.contains(name)), "{name}: {damaged:?}");
    }
    assert_same(&folder, &expected, "after damage");
    assert!(folder.build(&russian, "3", &metrics, 1).is_empty());
    assert_same(&folder, &expected, "when there is nothing to do");
}
