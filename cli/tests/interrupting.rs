//! Builds that are stopped, and builds that meet.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;
use rustix::process::{Pid, Signal, kill_process};

/// More work than any test has patience for.
const LONG: [&str; 5] = ["gen", "russian", "5", "--threads", "2"];

fn spawn(place: &Place, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_petrov"))
        .args(arguments)
        .current_dir(place.path(""))
        .env_remove("PETROV_TABLES")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the build has finished so many tables and has a file in the
/// making; it must come to that.
fn wait_for(place: &Place, finished: usize) {
    let start = Instant::now();
    while finished_files(place) < finished || temporary_files(place) == 0 {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Names in the game's folder. Nothing is opened: files come and go meanwhile.
fn names(place: &Place) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir(place.path("tables/russian")) else {
        return Vec::new();
    };
    folder
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn finished_files(place: &Place) -> usize {
    names(place).iter().filter(|name| name.ends_with(".petrov")).count()
}

fn temporary_files(place: &Place) -> usize {
    names(place).iter().filter(|name| name.contains(".tmp-")).count()
}

#[test]
fn stopped_builds_leave_whole_tables_and_go_on() {
    let place = Place::empty();
    for (signal, finished) in [(Signal::INT, 3), (Signal::TERM, 8), (Signal::INT, 13)] {
        let mut child = spawn(&place, &LONG);
        wait_for(&place, finished);
        let start = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = child.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}: {said}");
        let last = said.lines().last().unwrap();
        assert!(
            last.starts_with("petrov: stopped") && last.contains("the same command goes on"),
            "{said}"
        );
        assert_eq!(temporary_files(&place), 0);
    }
    // What is there is whole, and what is missing is built.
    let before = place.files();
    assert!(before.len() >= 13);
    place.json(&["gen", "russian", "3", "--json"]);
    assert_eq!(
        place.json(&["verify", "russian", "--checksums", "--json"])["errors"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    assert_eq!(
        place
            .text(&["verify", "russian", "3", "--sample", "100"])
            .lines()
            .last()
            .unwrap()
            .matches("0 findings")
            .count(),
        1
    );
    for (path, bytes) in before {
        assert!(
            std::fs::read(&path).unwrap() == bytes,
            "{} was built again",
            path.display()
        );
    }
}

#[test]
fn two_builds_in_one_folder() {
    let place = Place::empty();
    let mut first = spawn(&place, &LONG);
    wait_for(&place, 0);
    let mut second = spawn(&place, &["gen", "russian", "2", "--json"]);
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines();
    assert_eq!(
        lines.next().unwrap().unwrap(),
        "petrov: another petrov builds tables in tables/russian; waiting until it ends"
    );
    // Other games and other commands do not wait.
    place.json(&["gen", "english", "2", "--json"]);
    place.json(&["plan", "russian", "2", "--json"]);
    assert!(second.try_wait().unwrap().is_none());
    // A killed build holds no lock, and what it leaves is in nobody's way.
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(second.wait().unwrap().success());
    assert_eq!(lines.count(), 0);
    assert_eq!(
        place.json(&["verify", "russian", "2", "--json"])["errors"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn builds_at_the_same_time_share_the_work() {
    let place = Place::empty();
    let mut builds: Vec<Child> = (0..4).map(|_| spawn(&place, &["-q", "gen", "russian", "3"])).collect();
    for build in &mut builds {
        assert!(build.wait().unwrap().success());
    }
    let alone = Place::with_tables("russian", "3", "wld,dtw");
    let contents = |place: &Place| place.files().into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
    assert!(contents(&place) == contents(&alone));
}
