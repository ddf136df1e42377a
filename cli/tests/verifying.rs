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
