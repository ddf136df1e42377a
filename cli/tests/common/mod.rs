//! Running the program in a folder of its own.

// Each test program uses its own part.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder in which `petrov` runs, with its tables in `tables/`.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with the tables of a game up to so many pieces.
    pub(crate) fn with_tables(game: &str, what: &str, metrics: &str) -> Self {
        let place = Self::empty();
        place.json(&["gen", game, what, "--metric", metrics, "--json"]);
        place
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_petrov"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("PETROV_TABLES");
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs the program with a variable set.
    pub(crate) fn run_with(&self, variable: &str, value: &str, arguments: &[&str]) -> Output {
        self.command(arguments)
            .env(variable, value)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Starts the program, for asking it line by line.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program on some input.
    pub(crate) fn run_on(&self, input: &str, arguments: &[&str]) -> Output {
        let mut child = self.start(arguments);
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // Beside reading, as neither side may wait for the other for ever.
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        output
    }

    /// What the program prints; it must succeed and not complain.
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The JSON document that the program prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.text(arguments);
        assert_eq!(text.lines().count(), 1, "{arguments:?}");
        serde_json::from_str(&text).unwrap()
    }

    /// Runs the program, which must fail with one line that holds all `words`,
    /// and print nothing else.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, arguments: &[&str], words: &[&str]) {
        failed(&self.run(arguments), status, arguments, words);
    }

    /// Every file below the folder with its bytes, in order.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut folders, mut files) = (vec![self.dir.path().to_owned()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push((path.clone(), std::fs::read(path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

/// Checks an answer that must be an error.
#[track_caller]
pub(crate) fn failed(output: &Output, status: i32, arguments: &[&str], words: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
    assert!(error.starts_with("petrov: "), "{arguments:?}: {error}");
    assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {word:?} is not in {error}");
    }
}
