//! `--read mmap` and `--read pread`.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Command;

use common::Place;
use serde_json::Value;

#[test]
fn both_ways_give_the_same_answers() {
    let place = Place::with_tables("russian", "3", "wld,dtw");
    for arguments in [
        &["probe", "russian", "W:WKa1,Kc3:BKh8", "--json"][..],
        &["line", "russian", "W:WKa1,Kc3:BKb8"],
        &["stats", "russian", "3", "--json"],
        &["info", "tables/russian/KKvK.dtw.petrov", "--json"],
        &["verify", "russian", "--json"],
        &["checksums"],
    ] {
        let pread = [arguments, &["--read", "pread"]].concat();
        let mmap = [arguments, &["--read", "mmap"]].concat();
        let expected = place.text(arguments);
        assert_eq!(place.text(&pread), expected);
        assert_eq!(place.text(&mmap), expected);
    }
    place.fails(2, &["verify", "russian", "--read", "fast"], &["expected mmap or pread"]);
    for command in ["gen", "plan"] {
        place.fails(2, &[command, "russian", "2", "--read", "pread"], &["mmap only"]);
    }
}

/// More tables than files may be open: the limit is raised as far as it may be.
#[test]
fn many_tables_are_many_open_files() {
    let place = Place::with_tables("russian", "3", "wld,dtw,dtz");
    let probe = |limit: &str| {
        let line = format!("ulimit {limit}; exec \"$P\" --read pread probe russian W:Wc3:Bf6 --json");
        let output = Command::new("sh")
            .args(["-c", &line])
            .env("P", env!("CARGO_BIN_EXE_petrov"))
            .env_remove("PETROV_TABLES")
            .current_dir(place.path(""))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(probe("-Sn 12"), (Some(0), String::new()));
    let (status, said) = probe("-n 12");
    assert_eq!(status, Some(3));
    assert!(
        said.contains("Too many open files") && said.lines().count() == 1,
        "{said}"
    );
}

/// An engine's lookups go on when a table becomes shorter under it.
#[test]
fn a_table_cut_short_while_open_is_an_error() {
    let place = Place::with_tables("russian", "2", "wld");
    let mut child = place.start(&["--read", "pread", "probe", "russian", "-", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |fen: &str| -> Value {
        writeln!(stdin, "{fen}").unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    // Every table is open by now, and one of them decoded.
    assert!(ask("W:WKa1:BKb8")["value"].is_string());
    for table in ["KvK.wld.petrov", "KvM.wld.petrov", "MvM.wld.petrov"] {
        let path = place.path("tables/russian").join(table);
        std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(100)
            .unwrap();
    }
    let error = ask("W:Wc3:Bh8");
    let said = error["error"].as_str().unwrap_or_else(|| panic!("{error}"));
    assert!(said.contains("MvM.wld.petrov") && said.contains("shorter"), "{said}");
    // Decoded before: nothing is read, and the answer stays.
    assert_eq!(ask("W:WKc1:BKb8")["error"], Value::Null);
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
