//! Positions from standard input.

mod common;

use std::io::{BufRead, BufReader, Write};

use common::Place;
use serde_json::{Value, json};

fn documents(output: &std::process::Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Good and bad lines; no line end after the last.
const INPUT: &str = "W:WKa1:BKh8\r\n\nnonsense\nB:WKc3,e1:BKb4\nW:WKa1,Ka1:BKh8\nW:WKa1:BKa5";

#[test]
fn one_document_a_line_in_order() {
    let place = Place::with_tables("russian", "3", "wld,dtw");
    let probes = documents(&place.run_on(INPUT, &["probe", "russian", "-", "--json"]));
    let moves = documents(&place.run_on(INPUT, &["moves", "russian", "-", "--json"]));
    let perfts = documents(&place.run_on(INPUT, &["perft", "russian", "2", "-", "--json"]));
    for answers in [&probes, &moves, &perfts] {
        assert_eq!(answers.len(), 6);
        for bad in [1, 2, 4] {
            assert!(answers[bad]["error"].is_string(), "{}", answers[bad]);
        }
    }
    assert_eq!(probes[3]["value"], "loss");
    assert_eq!(probes[5]["value"], "draw");
    assert_eq!(moves[3][0]["move"], "b4xd2");
    assert_eq!(perfts[3], json!({"nodes": [1, 1]}));
    for (n, fen) in [(0, "W:WKa1:BKh8"), (3, "B:WKc3,e1:BKb4")] {
        assert_eq!(probes[n], place.json(&["probe", "russian", fen, "--json"]));
        assert_eq!(moves[n], place.json(&["moves", "russian", fen, "--json"]));
    }
    assert!(documents(&place.run_on("", &["probe", "russian", "-", "--json"])).is_empty());
}

#[test]
fn words_for_people() {
    let place = Place::with_tables("russian", "3", "wld,dtw");
    let output = place.run_on(INPUT, &["probe", "russian", "-"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[1].starts_with("error: "));
    assert_eq!(lines[3], "B:We1,Kc3:BKb4  white wins in 1 move (2 plies)");
    assert_eq!(place.run_on(INPUT, &["moves", "russian", "-"]).status.code(), Some(0));
}

#[test]
fn a_missing_table_is_an_answer_like_others() {
    let place = Place::with_tables("russian", "2", "wld");
    let answers = documents(&place.run_on("W:WKa1,Kb2:BKh8\nW:WKa1:BKh8\n", &["probe", "russian", "-", "--json"]));
    assert!(answers[0]["error"].as_str().unwrap().contains("KKvK.wld"));
    assert_eq!(answers[1]["value"], "loss");
}

#[test]
fn endless_lines_and_foreign_bytes() {
    let place = Place::empty();
    let input = format!("{}\nW:WKa1:BKh8\n\u{fffd}\n", "x".repeat(1 << 20));
    let answers = documents(&place.run_on(&input, &["moves", "russian", "-", "--json"]));
    assert_eq!(answers.len(), 3);
    assert!(answers[0]["error"].is_string() && answers[2]["error"].is_string());
    assert!(answers[1].is_array());
}

/// A program that asks, waits for the answer, and asks again.
#[test]
fn answers_come_at_once() {
    let place = Place::empty();
    let mut child = place.start(&["moves", "russian", "-", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        stdin.write_all(b"W:WKa1:BKh8\n").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert!(answer.is_array());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn long_input_goes_quickly() {
    let place = Place::with_tables("russian", "2", "wld");
    let input = "W:WKa1:BKh8\n".repeat(20_000);
    let answers = documents(&place.run_on(&input, &["probe", "russian", "-", "--json"]));
    assert_eq!(answers.len(), 20_000);
}
