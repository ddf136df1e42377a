//! Pages of `docs/` that the program writes or whose examples it must answer.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::Place;

fn page(name: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs")).join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_page_of_games_is_current() {
    let written = Place::empty().text(&["games", "--markdown"]);
    assert!(
        page("games.md") == written,
        "docs/games.md is not current: run `petrov games --markdown > docs/games.md`"
    );
    Place::empty().fails(2, &["games", "--markdown", "--json"], &[]);
}

/// Runs every command of the console blocks in their order, in one folder, and
/// compares what is printed.
#[test]
fn the_example_of_own_rules_is_as_printed() {
    let place = Place::empty();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_petrov"));
    let mut folders = vec![program.parent().unwrap().to_owned()];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let path = std::env::join_paths(folders).unwrap();
    let run = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{line} 2>&1")]).current_dir(place.path(""));
        let output = shell.env("PATH", &path).env_remove("PETROV_TABLES").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let page = page("own-rules.md");
    let mut commands = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let mut rest = block.strip_prefix("$ ").unwrap();
        while !rest.is_empty() {
            let (line, answer) = rest.split_once('\n').unwrap();
            let end = answer.find("\n$ ").map_or(answer.len(), |end| end + 1);
            let end = if answer.starts_with("$ ") { 0 } else { end };
            assert_eq!(run(line), answer[..end], "{line}");
            rest = answer[end..].strip_prefix("$ ").unwrap_or_default();
            commands += 1;
        }
    }
    assert!(commands >= 10, "{commands}");
}

/// Every file with unsafe code stands in `docs/unsafe.md` with the number of
/// its blocks, and no other.
#[test]
fn the_page_of_unsafe_code_is_complete() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").exists())
        .collect();
    // Put together here, so as not to count this file.
    let keyword = ["un", "safe"].concat();
    let openings = [format!("{keyword} {{"), format!("{keyword} impl")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let blocks: usize = code
                    .map(|line| {
                        openings
                            .iter()
                            .map(|opening| line.matches(opening.as_str()).count())
                            .sum::<usize>()
                    })
                    .sum();
                if blocks > 0 {
                    let name = path.strip_prefix(&root).unwrap().display().to_string();
                    found.push(format!("| `{name}` | {blocks} |"));
                }
            }
        }
    }
    let page = page("unsafe.md");
    let listed = page.lines().filter(|line| line.starts_with("| `")).count();
    assert!(!found.is_empty());
    assert_eq!(listed, found.len(), "{found:?}");
    for row in &found {
        assert!(page.contains(row), "docs/unsafe.md lacks {row}");
    }
}
