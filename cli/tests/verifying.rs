//! `petrov verify` as a user sees it.

mod common;

use common::Place;
use serde_json::Value;

#[test]
fn sound_and_damaged_tables() {
    let place = Place::with_tables("russian", "2", "wld,dtw");
    let document = place.json(&["verify", "russian", "2", "--json"]);
    assert_eq!(document["errors"].as_array().map(Vec::len), Some(0));
    let tables = document["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 6);
    assert!(tables.iter().all(|table| table["verdict"] == "proved"));
    assert!(place.text(&["verify", "russian", "--checksums"]).contains("intact"));

    let path = place.path("tables/russian/KvM.dtw.petrov");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&path, bytes).unwrap();
    let damaged = place.run(&["verify", "russian", "--checksums", "--json"]);
    assert_eq!(damaged.status.code(), Some(1));
    assert!(damaged.stderr.is_empty());
    let document: Value = serde_json::from_slice(&damaged.stdout).unwrap();
    let file = document["errors"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("KvM.dtw.petrov"), "{file}");
    std::fs::remove_file(&path).unwrap();
    let missing = place.run(&["verify", "russian", "2", "--json"]);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn wrong_usage() {
    let place = Place::empty();
    for arguments in [
        &["verify", "nogame"][..],
        &["verify", "russian", "KvX"],
        &["verify", "russian", "--sample", "0"],
        &["verify", "russian", "--sample", "5", "--checksums"],
    ] {
        let answer = place.run(arguments);
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert!(answer.stdout.is_empty() && !answer.stderr.is_empty());
    }
}

#[test]
fn misnamed_and_absent_tables_are_findings() {
    let place = Place::with_tables("russian", "2", "wld");
    std::fs::copy(
        place.path("tables/russian/KvM.wld.petrov"),
        place.path("tables/russian/MvM.wld.petrov"),
    )
    .unwrap();
    let misnamed = place.run(&["verify", "russian", "--checksums", "--json"]);
    assert_eq!(misnamed.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&misnamed.stdout).unwrap();
    assert_eq!(document["errors"][0]["what"], "holds KvM.wld.petrov");
    // Building again says what it replaces.
    let built = place.run(&["gen", "russian", "2", "--metric", "wld"]);
    assert_eq!(built.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&built.stderr).contains("holds KvM.wld"));
    assert_eq!(place.run(&["verify", "russian"]).status.code(), Some(0));
    for arguments in [
        &["verify", "english"][..],
        &["verify", "russian", "--tables", "nowhere"],
    ] {
        assert_eq!(place.run(arguments).status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn one_missing_table_is_one_finding_for_each_that_needs_it() {
    let place = Place::with_tables("russian", "3", "wld");
    std::fs::remove_file(place.path("tables/russian/KvK.wld.petrov")).unwrap();
    let answer = place.run(&["verify", "russian", "--json"]);
    assert_eq!(answer.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let errors = document["errors"].as_array().unwrap();
    assert!(!errors.is_empty() && errors.len() < 30, "{}", errors.len());
    assert!(
        errors[0]["what"].as_str().unwrap().contains("cannot be checked"),
        "{}",
        errors[0]
    );
}

/// What a run finds, as its file's path below the place and what is wrong.
fn findings(place: &Place, arguments: &[&str]) -> Vec<(String, String)> {
    let output = place.run(arguments);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors = document["errors"].as_array().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!errors.is_empty())));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (errors.iter())
        .map(|error| (text(&error["file"]), text(&error["what"])))
        .collect()
}

#[test]
fn every_copy_of_a_table_is_looked_at() {
    let place = Place::with_tables("russian", "2", "wld");
    let other = place.path("other/russian");
    std::fs::create_dir_all(&other).unwrap();
    let name = "KvM.wld.petrov";
    let whole = std::fs::read(place.path("tables/russian").join(name)).unwrap();
    let both = |depth: &[&str]| {
        let command = ["verify", "russian", "--json", "--tables", "tables", "--tables", "other"];
        findings(&place, &[&command[..], depth].concat())
    };
    std::fs::write(other.join(name), &whole).unwrap();
    assert_eq!(both(&[]), []);
    // The same folder twice, too.
    let twice = [
        "verify", "russian", "--json", "--tables", "tables", "--tables", "tables",
    ];
    assert_eq!(findings(&place, &twice), []);
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(other.join(name), &damaged).unwrap();
    for depth in [&[][..], &["--checksums"], &["--sample", "10"]] {
        let found = both(depth);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.contains("other/russian/KvM.wld"), "{found:?}");
    }
    // Sound, but another table of the same rules, material and metric: as one that was planted would be.
    let rules = place
        .text(&["rules", "russian", "--toml"])
        .replace("name = \"russian\"", "name = \"same\"");
    std::fs::write(place.path("same.toml"), rules).unwrap();
    place.text(&[
        "gen",
        "same",
        "2",
        "--rules",
        "same.toml",
        "--tables",
        "third",
        "--metric",
        "wld",
    ]);
    std::fs::copy(place.path("third/same").join(name), other.join(name)).unwrap();
    let found = both(&["--checksums"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("a second table of the same"), "{found:?}");
}

#[test]
fn a_damaged_header_is_found_whatever_the_folder_is_called() {
    let place = Place::with_tables("russian", "2", "wld");
    place.text(&["gen", "english", "2", "--metric", "wld"]);
    for game in ["russian", "english"] {
        std::fs::write(place.path(format!("tables/{game}/KvM.wld.petrov")), "no table").unwrap();
    }
    let of = |game: &str| findings(&place, &["verify", game, "--checksums", "--json"]);
    // Of another game it is that game's business.
    assert_eq!(of("russian").len(), 1);
    assert!(of("russian")[0].0.ends_with("russian/KvM.wld.petrov"));
    std::fs::rename(place.path("tables/russian"), place.path("tables/mine")).unwrap();
    assert!(
        of("russian")
            .iter()
            .any(|(file, _)| file.ends_with("mine/KvM.wld.petrov"))
    );
    // Asked for, it is there and damaged, not missing.
    let found = findings(&place, &["verify", "russian", "KvM", "--checksums", "--json"]);
    assert_eq!(found.len(), 1, "{found:?}");
}

/// A right table of which something cannot be looked up: nothing is said of its header.
#[test]
fn what_cannot_be_checked_is_not_called_wrong() {
    let place = Place::with_tables("russian", "3", "dtw");
    std::fs::create_dir_all(place.path("alone/russian")).unwrap();
    let name = "russian/KKvK.dtw.petrov";
    std::fs::copy(place.path("tables").join(name), place.path("alone").join(name)).unwrap();
    let found = findings(&place, &["verify", "russian", "--tables", "alone", "--json"]);
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|(_, what)| what.contains("cannot be checked")),
        "{found:?}"
    );
}
