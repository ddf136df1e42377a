//! Programs in C and C++, compiled with the header against both libraries and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const SOURCES: &str = env!("CARGO_MANIFEST_DIR");

/// The folder in which cargo puts the libraries.
fn libraries() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let deps = program.parent().unwrap();
    // Beside the test programs, or one above if another command built them.
    let folders = [deps, deps.parent().unwrap()];
    let found = folders.iter().find(|folder| folder.join("libpetrov.so").exists());
    found.expect("libpetrov.so is built").to_path_buf()
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// A folder of compiled programs, where nothing is but they.
struct Built {
    place: TempDir,
}

impl Built {
    fn new(source: &str, statically: bool) -> (Self, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("program");
        let source = Path::new(SOURCES).join(source);
        let cpp = source.extension().is_some_and(|extension| extension == "cpp");
        let mut compiler = Command::new(if cpp { "c++" } else { "cc" });
        compiler
            .arg(if cpp { "-std=c++17" } else { "-std=c99" })
            .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-pthread", "-I"])
            .arg(Path::new(SOURCES).join("include"))
            .arg(&source)
            .arg("-o")
            .arg(&program);
        let folder = libraries();
        if statically {
            compiler.arg(folder.join("libpetrov.a")).args(["-ldl", "-lm"]);
        } else {
            let mut path = std::ffi::OsString::from("-Wl,-rpath,");
            path.push(&folder);
            compiler.arg("-L").arg(&folder).arg("-lpetrov").arg(path);
        }
        // The name by which the shared library is asked for is one that `scripts/install` makes.
        let soname = format!(
            "libpetrov.so.{}.{}",
            env!("CARGO_PKG_VERSION_MAJOR"),
            env!("CARGO_PKG_VERSION_MINOR")
        );
        let link = place.path().join(&soname);
        std::os::unix::fs::symlink(folder.join("libpetrov.so"), &link).unwrap();
        succeeds(&mut compiler);
        (Self { place }, program)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .current_dir(self.place.path())
            .env("LD_LIBRARY_PATH", self.place.path())
            .env_remove("PETROV_TABLES")
            .output()
            .unwrap()
    }
}

fn run(source: &str, arguments: &[&str]) -> String {
    let mut texts = Vec::new();
    for statically in [false, true] {
        let (built, program) = Built::new(source, statically);
        let output = built.run(&program, arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{source}: {text}{errors}");
        assert_eq!(errors, "", "{source}");
        texts.push(text);
    }
    assert_eq!(texts[0], texts[1], "shared and static library differ");
    texts.swap_remove(0)
}

#[test]
fn misuse_is_a_status() {
    assert_eq!(run("tests/misuse.c", &[]), "");
}

#[test]
fn the_example_in_c() {
    let text = run("examples/probe.c", &["russian", "W:WKe1,Kc3:BKa5"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "win");
    assert!(lines.len() > 1, "{text}");
    assert_eq!(
        run("examples/probe.c", &["chess", "8/8/8/8/8/2k5/8/K6Q b - - 0 1"])
            .lines()
            .next(),
        Some("loss")
    );
}

#[test]
fn the_example_in_cpp() {
    // English draughts, two kings against one, White to move: as `petrov stats`.
    assert_eq!(run("examples/threads.cpp", &[]), "wins 14846 draws 34 losses 0\n");
}
