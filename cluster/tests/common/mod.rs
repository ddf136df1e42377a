//! Running programs under mpirun, and tables to compare theirs with.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use petrov_games::{AnyGame, Games, with_game};
use petrov_gen::{BuildOptions, Progress, build, plan};
use petrov_probe::Metric;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_petrov-cluster");

/// mpirun with what several ranks on few processors need. What to run, and with how many ranks, is still to be said.
pub(crate) fn mpirun() -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(["-q", "--oversubscribe", "--bind-to", "none"])
        .args(["--mca", "mpi_yield_when_idle", "1"])
        // CI may run as root, which mpirun refuses unless it is told twice.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env_remove("PETROV_TABLES")
        .stdin(Stdio::null());
    command
}

/// The program with so many ranks.
pub(crate) fn cluster(ranks: usize, arguments: &[&str]) -> Command {
    let mut command = mpirun();
    command.args(["-n", &ranks.to_string(), PROGRAM]).args(arguments);
    command
}

/// Runs a command; mpirun must be there.
pub(crate) fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("mpirun: {error}; scripts/setup --cluster installs Open MPI"))
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn done(command: &mut Command) -> String {
    let output = output(command);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command with `-q` that must fail with one line that holds all `words`, and print nothing else.
#[track_caller]
pub(crate) fn fails(command: &mut Command, status: i32, words: &[&str]) {
    let output = output(command);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{command:?}: {error}");
    assert!(output.stdout.is_empty(), "{command:?}");
    assert_eq!(error.lines().count(), 1, "{command:?}: {error}");
    assert!(error.starts_with("petrov-cluster: "), "{command:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{command:?}: {word:?} is not in {error}");
    }
}

/// Tables that were asked for in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) game: &'static str,
    pub(crate) what: &'static str,
    pub(crate) metrics: &'static [Metric],
}

impl Wanted {
    /// Builds them in a folder, without ranks.
    pub(crate) fn build(&self, folder: &Path, threads: usize) {
        let games = Games::built_in();
        let game: &AnyGame = games.get(self.game).unwrap();
        let options = BuildOptions {
            metrics: self.metrics.to_vec(),
            dirs: vec![folder.to_owned()],
            threads,
            memory: None,
        };
        with_game!(game, game => {
            let plan = plan(game, self.what.parse().unwrap(), &options).unwrap();
            build(game, &plan, &options, &Progress::default()).unwrap();
        });
    }

    /// The command that builds them with ranks.
    pub(crate) fn cluster(&self, ranks: usize, folder: &str, more: &[&str]) -> Command {
        let metrics: Vec<&str> = self.metrics.iter().map(|metric| metric.name()).collect();
        let mut command = cluster(ranks, &["-q", "--tables", folder, "gen", self.game, self.what]);
        command
            .args(["--metric", &metrics.join(","), "--threads", "1"])
            .args(more);
        command
    }
}

/// Every file below a folder with its bytes, in order; names begin at the folder.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                files.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Checks that two folders have the same files, byte for byte, and no others.
#[track_caller]
pub(crate) fn assert_same(found: &Path, expected: &Path, how: &str) {
    let (found, expected) = (files(found), files(expected));
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "{how}");
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(found == expected, "{} differs {how}", name.display());
    }
}
