//! Bad input: one clear line, the right exit status, nothing half-written.

mod common;

use common::{Place, failed};

#[test]
fn positions() {
    let place = Place::empty();
    for (fen, word) in [
        ("W:WKa1,Kc3:BKa1", "a1 is given twice"),
        ("W:WKa1,Ka1:BKh8", "a1 is given twice"),
        ("W:WKa2:BKh8", "Ka2"),
        ("W:WKj1:BKh8", "Kj1"),
        ("W:WKa9:BKh8", "Ka9"),
        ("W:WK12:BKh8", "K12"),
        ("W:W:B", "at least one piece"),
        ("W:Wb8:BKa1", "b8"),
        ("W:WKb8:Ba1", "promotion row"),
        ("", "empty"),
        ("X:WKa1:BKh8", "side to move"),
        ("W:WKa1", "missing"),
        ("W:WKa1:BKh8:WKc3", "expected the end"),
        ("W:WKa1,,Kc3:BKh8", "empty entry"),
        ("W:WKé1:BKh8", "ASCII"),
        ("W:WKa1\nKa2:BKh8", "a1"),
    ] {
        for command in ["probe", "moves", "line"] {
            place.fails(2, &[command, "russian", fen, "--json"], &["position", word]);
        }
        place.fails(2, &["perft", "russian", "2", fen], &["position", word]);
    }
    place.fails(
        2,
        &["probe", "english", "W:WKa1:BKh8"],
        &["expected one of the 32 squares from 1 to 32"],
    );
    place.fails(2, &["probe", "english", "W:WK33:BK1"], &["K33"]);
    place.fails(2, &["probe", "english", "W:W1:BK5"], &["promotion row"]);
    // More pieces than squares can only overlap; more text than any position is refused unread.
    let many = format!("W:WKa1{}:BKh8", ",Kc3".repeat(40));
    place.fails(2, &["probe", "russian", &many], &["c3 is given twice"]);
    let endless = format!("W:W{}:BKh8", "Ka1,".repeat(10_000));
    place.fails(2, &["probe", "russian", &endless], &["expected at most"]);
}

#[test]
fn words_of_the_command_line() {
    let place = Place::empty();
    for command in ["rules", "perft", "moves", "plan", "gen", "stats", "probe", "line"] {
        let rest: &[&str] = match command {
            "rules" => &[],
            "moves" | "probe" | "line" => &["W:WKa1:BKh8"],
            _ => &["2"],
        };
        let arguments = [&[command, "rusian"], rest].concat();
        place.fails(2, &arguments, &["unknown game", "did you mean russian"]);
    }
    for command in ["plan", "gen", "stats"] {
        for what in [
            "KKX",
            "KKXvK",
            "KvKvK",
            "vK",
            "Kv",
            "1",
            "0",
            "-",
            "99999999999",
            "",
            "KKKKKKKKKKKKKKKKvK",
        ] {
            place.fails(2, &[command, "russian", what], &[]);
        }
    }
    for arguments in [
        &["nonsense"][..],
        &["games", "--nonsense"],
        &["probe", "russian"],
        &["perft", "russian", "x"],
        &["perft", "russian", "0"],
        &["gen", "russian", "2", "--metric", "wld,foo"],
        &["gen", "russian", "2", "--threads", "0"],
        &["gen", "russian", "2", "--memory", "lots"],
        &["bench", "probe", "--seconds", "-1"],
        &["bench", "probe", "--pieces", "1"],
        &["bench", "probe", "--pieces", "99"],
        &["bench", "probe", "--unpack", "--metric", "dtz"],
        &["completions", "nonsense"],
        &["rules", "russian", "--toml", "--json"],
        &["games", "-q", "-v"],
    ] {
        place.fails(2, arguments, &[]);
    }
    assert_eq!(place.run(&[]).status.code(), Some(2));
    assert!(place.files().is_empty());
}

#[test]
fn rule_files() {
    let place = Place::empty();
    place.fails(2, &["games", "--rules", "none.toml"], &["none.toml"]);
    for (text, word) in [
        ("name = ", "not valid TOML"),
        ("name = \"x\"\nfamily = \"draughts\"\n", "missing"),
        ("colour = 3", "key `family` is missing"),
        ("family = \"chess\"\ncolour = 3", "unknown key"),
        ("family = \"go\"", "expected one of \"draughts\", \"chess\""),
    ] {
        std::fs::write(place.path("bad.toml"), text).unwrap();
        place.fails(2, &["games", "--rules", "bad.toml"], &["bad.toml", word]);
    }
    let toml = place.text(&["rules", "russian", "--toml"]);
    std::fs::write(place.path("russian.toml"), toml).unwrap();
    place.fails(2, &["games", "--rules", "russian.toml"], &["russian.toml", "built-in"]);
}

#[test]
fn folders_that_cannot_be_written() {
    let place = Place::empty();
    std::fs::write(place.path("file"), "not a folder").unwrap();
    for dir in ["file", "file/below"] {
        place.fails(3, &["gen", "russian", "2", "-q", "--tables", dir], &["file"]);
        place.fails(3, &["probe", "russian", "W:WKa1:BKh8", "--tables", dir], &["file"]);
    }
    // The game's own folder is in the way.
    std::fs::create_dir(place.path("tables")).unwrap();
    std::fs::write(place.path("tables/russian"), "not a folder").unwrap();
    place.fails(3, &["gen", "russian", "2", "-q"], &["tables/russian"]);
    assert_eq!(place.files().len(), 2);
}

#[test]
fn too_little_memory() {
    let place = Place::empty();
    place.fails(
        3,
        &["gen", "russian", "4", "--memory", "1M"],
        &["memory needed", "1.0 MB allowed"],
    );
    assert!(place.files().is_empty());
}

#[test]
fn missing_tables() {
    let place = Place::with_tables("russian", "2", "wld");
    let fen = "W:WKa1,Kb2:BKh8";
    place.fails(
        3,
        &["probe", "russian", fen],
        &["russian/KKvK.wld", "missing", "petrov gen russian KKvK"],
    );
    place.fails(3, &["line", "russian", fen], &["russian/KKvK.wld"]);
    place.fails(3, &["bench", "probe", "--pieces", "3"], &["missing"]);
    place.fails(3, &["bench", "probe", "--game", "english"], &["english"]);
    place.fails(3, &["info", "tables/russian/KKvK.wld.petrov"], &["KKvK.wld.petrov"]);
    std::fs::write(place.path("text"), "no table").unwrap();
    place.fails(3, &["info", "text"], &["text", "not a Petrov table"]);
}

#[test]
fn damaged_tables_are_reported_and_built_again() {
    let place = Place::with_tables("russian", "2", "wld,dtw");
    let whole = place.files();
    let name = "tables/russian/KvK.wld.petrov";
    let bytes = std::fs::read(place.path(name)).unwrap();
    // In the directory or the blocks: the end of the file is its checksum.
    let mut altered = bytes.clone();
    let at = altered.len() - 20;
    altered[at] ^= 1;
    for (damaged, seen_in_header) in [
        (bytes[..bytes.len() / 2].to_vec(), true),
        (bytes[..bytes.len() - 1].to_vec(), true),
        (Vec::new(), true),
        (altered, false),
    ] {
        std::fs::write(place.path(name), &damaged).unwrap();
        place.fails(3, &["probe", "russian", "W:WKc1:BKh8"], &["KvK.wld.petrov"]);
        if seen_in_header {
            place.fails(3, &["info", name], &["KvK.wld.petrov"]);
            place.fails(3, &["stats", "russian", "KvK"], &["KvK.wld.petrov"]);
        }
        let output = place.run(&["gen", "russian", "2", "--json"]);
        let warning = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{warning}");
        assert_eq!(warning.lines().count(), 1, "{warning}");
        assert!(
            warning.contains("warning") && warning.contains("KvK.wld.petrov"),
            "{warning}"
        );
        assert_eq!(place.files(), whole);
    }
}

#[test]
fn tables_of_other_rules_are_left_alone() {
    let place = Place::with_tables("english", "2", "wld");
    std::fs::rename(place.path("tables/english"), place.path("tables/russian")).unwrap();
    let before = place.files();
    place.fails(
        3,
        &["probe", "russian", "W:WKa1:BKh8"],
        &["KvK.wld.petrov", "other rules"],
    );
    place.fails(3, &["stats", "russian", "2"], &["KvK.wld.petrov", "other rules"]);
    place.fails(
        3,
        &["gen", "russian", "2", "--metric", "wld"],
        &["KvK.wld.petrov", "other rules"],
    );
    assert_eq!(place.files(), before);
    // Where they lie does not matter to the game whose they are.
    place.text(&["probe", "english", "W:WK1:BK32"]);
}

#[test]
fn a_damaged_table_is_built_again_though_another_folder_has_a_good_one() {
    let place = Place::with_tables("english", "2", "wld");
    let path = place.path("tables/english/KvK.wld.petrov");
    let good = std::fs::read(&path).unwrap();
    std::fs::create_dir_all(place.path("other/english")).unwrap();
    std::fs::write(place.path("other/english/KvK.wld.petrov"), &good).unwrap();
    let folders = ["--tables", "tables", "--tables", "other"];
    let gen_all = [&folders[..], &["gen", "english", "2", "--metric", "wld"]].concat();
    let mut damaged = good.clone();
    // In the header, which is noticed when it is opened, and at the end.
    for at in [60, good.len() - 1] {
        damaged.clone_from(&good);
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let output = place.run(&gen_all);
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("building it again"));
        assert_eq!(std::fs::read(&path).unwrap(), good);
    }
    // The other way round the damaged one is not read, and left to `verify`.
    std::fs::write(place.path("other/english/KvK.wld.petrov"), &damaged).unwrap();
    let output = place.run(&gen_all);
    assert!(output.status.success());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("again"));
}

#[test]
fn tables_of_another_version_are_left_alone() {
    let place = Place::with_tables("english", "2", "wld");
    let path = place.path("tables/english/KvK.wld.petrov");
    let mut bytes = std::fs::read(&path).unwrap();
    // Where docs/format.md has the version.
    assert_eq!(bytes[8..10], [1, 0]);
    bytes[8] = 2;
    std::fs::write(&path, bytes).unwrap();
    let before = place.files();
    place.fails(
        3,
        &["gen", "english", "2", "--metric", "wld"],
        &["KvK.wld.petrov", "version 2", "left as it is"],
    );
    assert_eq!(place.files(), before);
}

#[test]
fn closed_output_ends_quietly() {
    let place = Place::empty();
    let mut child = place.start(&["moves", "russian", "-", "--json"]);
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let input = "W:WKa1,Kc3:BKh8\n".repeat(10_000);
    // The program ends without reading all of it.
    let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_full_output_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return;
    };
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_petrov"));
    let output = command.arg("games").stdout(full).output().unwrap();
    failed(&output, 3, &["games"], &["standard output"]);
}
