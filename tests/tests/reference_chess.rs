//! Chess tables against the Syzygy and Gaviota tables that python-chess brings
//! along, through `scripts/reference_chess.py`, and suicide chess against the
//! positions that it tests its own reader with.

use std::path::{Path, PathBuf};
use std::process::Command;

use petrov_tests::repository;

fn compare(arguments: &[&str], tables: Option<&Path>) {
    let python = repository().join(".venv/bin/python");
    assert!(
        python.exists() && repository().join(".venv/chess").exists(),
        "python-chess is missing from .venv: run `scripts/setup --tests` first"
    );
    let mut command = Command::new(python);
    command
        .arg(repository().join("scripts/reference_chess.py"))
        .args(arguments);
    if let Some(tables) = tables {
        command.arg("--program").arg(program()).arg("--tables").arg(tables);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(
        output.status.success(),
        "{arguments:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The built program, which lies beside the folder of the test programs.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("petrov");
    assert!(
        program.exists(),
        "{} is missing: run `cargo build` with the same profile first",
        program.display()
    );
    program
}

fn build(arguments: &[&str], tables: &Path) {
    let status = Command::new(program())
        .args(["--quiet", "gen"])
        .args(arguments)
        .args(["--metric", "wld,dtw,dtz", "--tables"])
        .arg(tables)
        .status()
        .unwrap();
    assert!(status.success(), "gen {arguments:?}");
}

#[test]
fn planted_errors_are_found() {
    compare(&["--self-test", "--positions", "1000"], None);
    compare(&["--self-test", "--suicide"], None);
}

#[test]
fn chess() {
    let tables = tempfile::tempdir().unwrap();
    build(&["chess", "3"], tables.path());
    compare(&["--pieces", "3", "--positions", "3000"], Some(tables.path()));
    compare(
        &["--pieces", "3", "--positions", "300", "--self-test"],
        Some(tables.path()),
    );
}

#[test]
fn suicide() {
    let tables = tempfile::tempdir().unwrap();
    let rules = repository().join("tests/rules/suicide.toml");
    build(&["suicide", "3", "--rules", rules.to_str().unwrap()], tables.path());
    compare(&["--suicide", "--pieces", "3"], Some(tables.path()));
}
