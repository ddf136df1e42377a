//! `petrov checksums`: lists, what differs from them, and the list of the
//! repository.

mod common;

use std::path::{Path, PathBuf};

use common::Place;
use serde_json::Value;

/// The list of the repository.
fn repository_list() -> PathBuf {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    list.join("tables/BLAKE3SUMS")
}

fn tables(place: &Place) -> usize {
    place.files().len()
}

/// A run that must end with status 1: what it prints, as JSON.
fn negative(place: &Place, arguments: &[&str]) -> Value {
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Tables built here are those of the list, to the byte. If this fails because
/// the format, the order or the compression was changed on purpose, `scripts/table-sums`
/// writes the list anew.
#[test]
fn tables_are_those_of_the_repository() {
    let place = Place::empty();
    for (game, pieces) in [
        ("russian", "3"),
        ("international", "3"),
        ("turkish", "3"),
        ("chess", "3"),
    ] {
        place.json(&["gen", game, pieces, "--metric", "wld,dtw,dtz", "--json"]);
    }
    let list = repository_list();
    let check = [
        "checksums",
        "--check",
        list.to_str().unwrap(),
        "--ignore-missing",
        "--json",
    ];
    let found = place.json(&check);
    assert_eq!(found["differ"], Value::Array(Vec::new()));
    assert_eq!(found["unlisted"], Value::Array(Vec::new()));
    assert_eq!(found["files"].as_array().unwrap().len(), tables(&place));
    assert!(tables(&place) > 90);
}

/// The starter set where it lies in a checkout, one folder deeper than the list says.
#[test]
fn a_list_goes_by_game_and_table() {
    let place = Place::with_tables("english", "2", "wld");
    std::fs::create_dir(place.path("tables/starter")).unwrap();
    std::fs::rename(place.path("tables/english"), place.path("tables/starter/english")).unwrap();
    let list = repository_list();
    let check = [
        "checksums",
        "--check",
        list.to_str().unwrap(),
        "--ignore-missing",
        "--json",
    ];
    let found = place.json(&check);
    assert_eq!(found["files"].as_array().unwrap().len(), 3);
    assert_eq!(found["unlisted"], Value::Array(Vec::new()));
    // Damaged, it is not passed over, listed or not.
    for name in ["KvM.wld.petrov", "unheard-of.petrov"] {
        std::fs::write(place.path("tables/starter/english").join(name), "no table").unwrap();
    }
    let found = negative(&place, &check);
    let paths: Vec<&str> = (found["differ"].as_array().unwrap().iter())
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["starter/english/KvM.wld.petrov", "starter/english/unheard-of.petrov"]
    );
}

#[test]
fn a_list_says_what_differs() {
    let place = Place::with_tables("english", "2", "wld,dtw");
    let list = place.text(&["checksums"]);
    assert_eq!(list.lines().count(), 6);
    for (line, (path, bytes)) in list.lines().zip(place.files()) {
        let name = path
            .strip_prefix(place.path("tables"))
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        // The hash by the crate itself, of the bytes as read here.
        assert_eq!(line, format!("{}  {name}", blake3::hash(&bytes).to_hex()));
    }
    let file = place.path("LIST");
    std::fs::write(&file, &list).unwrap();
    let said = place.text(&["checksums", "--check", "LIST"]);
    assert_eq!(said, "6 tables as listed, 0 differ, 0 not in the list\n");
    assert_eq!(place.text(&["-q", "checksums", "--check", "LIST"]), "");
    let on_input = place.run_on(&list, &["checksums", "--check", "-", "--json"]);
    assert_eq!(on_input.status.code(), Some(0));

    let table = |name: &str| place.path("tables/english").join(name);
    // The checksum at the end, which only a reader of the whole file looks at.
    let mut bytes = std::fs::read(table("KvK.wld.petrov")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(table("KvK.wld.petrov"), bytes).unwrap();
    std::fs::write(table("KvM.dtw.petrov"), "no table").unwrap();
    std::fs::remove_file(table("MvM.wld.petrov")).unwrap();
    std::fs::copy(table("KvK.dtw.petrov"), table("copy.petrov")).unwrap();
    let found = negative(&place, &["checksums", "--check", "LIST", "--json"]);
    let said: Vec<(&str, &str)> = (found["differ"].as_array().unwrap().iter())
        .map(|one| (one["path"].as_str().unwrap(), one["what"].as_str().unwrap()))
        .collect();
    assert_eq!(
        said,
        [
            ("english/KvK.wld.petrov", "not the table of the list"),
            (
                "english/KvM.dtw.petrov",
                "not a Petrov table: the first bytes are no table's"
            ),
            ("english/MvM.wld.petrov", "the table is missing"),
        ]
    );
    assert_eq!(found["unlisted"], serde_json::json!(["english/copy.petrov"]));
    let found = negative(&place, &["checksums", "--check", "LIST", "--json", "--ignore-missing"]);
    assert_eq!(found["differ"].as_array().unwrap().len(), 2);

    // A new list has no damaged table in it, and says so.
    let output = place.run(&["checksums"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        !text.contains("KvK.wld") && !text.contains("KvM.dtw") && text.contains("KvM.wld"),
        "{text}"
    );
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert_eq!(complaints.lines().count(), 2, "{complaints}");
    assert!(
        complaints.contains("KvK.wld.petrov: the checksum of the file differs"),
        "{complaints}"
    );
}

#[test]
fn wrong_usage() {
    let place = Place::with_tables("english", "2", "wld");
    std::fs::write(place.path("empty"), "").unwrap();
    std::fs::write(place.path("no-list"), "# checksums\n").unwrap();
    std::fs::write(place.path("bytes"), b"\xff\xfe").unwrap();
    for (file, word) in [
        ("missing", "cannot read missing"),
        ("empty", "the list is empty"),
        ("no-list", "line 1"),
        ("bytes", "UTF-8"),
        (".", "cannot read"),
    ] {
        place.fails(2, &["checksums", "--check", file], &[word]);
    }
    place.fails(2, &["checksums", "--ignore-missing"], &["--check"]);
    // A list of other tables altogether: nothing was compared, and that is no success.
    let other = format!("{}  chess/KvK.wld.petrov\n", "0".repeat(64));
    std::fs::write(place.path("other"), other).unwrap();
    let output = place.run(&["checksums", "--check", "other", "--ignore-missing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("no table of the list is in tables")
    );
}
