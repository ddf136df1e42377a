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
