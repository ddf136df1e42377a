//! `docs/draw-rules.md` is what the claims give, as far as four pieces go. Two
//! claims about very many positions are left to `scripts/draw-rules`, which
//! writes the page: their tables take most of the time of all.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::Place;

/// The claims left to `scripts/draw-rules`, with their games.
const LEFT_TO_THE_SCRIPT: [(&str, &str); 2] = [("int-25", "international"), ("chess-50", "chess")];

/// The names of the built-in claims that are tried here.
fn ids() -> Vec<String> {
    let files = ["draughts.toml", "chess.toml"].map(|name| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gen/claims");
        std::fs::read_to_string(folder.join(name)).unwrap()
    });
    let lines = files.iter().flat_map(|text| text.lines());
    let ids = lines.filter_map(|line| line.strip_prefix("id = \"")?.strip_suffix('"'));
    let (left, tried): (Vec<&str>, Vec<&str>) =
        ids.partition(|id| LEFT_TO_THE_SCRIPT.iter().any(|(left, _)| left == id));
    assert_eq!(left.len(), LEFT_TO_THE_SCRIPT.len());
    tried.into_iter().map(str::to_owned).collect()
}

/// Whether a part is the line or the section of a claim left to the script.
fn is_left(part: &str) -> bool {
    LEFT_TO_THE_SCRIPT.iter().any(|(id, game)| {
        part.contains(&format!("](#{id}-{game}) |")) || part.contains(&format!("<a id=\"{id}-{game}\">"))
    })
}

/// The parts of a page: what stands before the first heading of the third
/// level, line by line, then each part with its heading.
fn parts(page: &str) -> Vec<String> {
    let (before, rest) = page.split_once("\n### ").unwrap();
    let lines = before.lines().map(str::to_owned);
    lines
        .chain(rest.split("\n### ").map(|part| format!("### {part}")))
        .collect()
}

fn pictures(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let of = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    entries.map(|entry| of(entry.unwrap().path())).collect()
}

#[test]
fn the_page_of_draw_rules_is_current() {
    let place = Place::empty();
    let ids = ids();
    let asked = ids.iter().flat_map(|id| ["--id", id]);
    let arguments: Vec<&str> = ["claims", "--document", "made", "-q"]
        .into_iter()
        .chain(asked)
        .collect();
    let output = place.run(&arguments);
    // Some statements have exceptions.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let docs = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
    let made = std::fs::read_to_string(place.path("made/draw-rules.md")).unwrap();
    let kept = std::fs::read_to_string(docs.join("draw-rules.md")).unwrap();
    let (made, mut kept) = (parts(&made), parts(&kept));
    let all = kept.len();
    kept.retain(|part| !is_left(part));
    // Each has a line and a part.
    assert_eq!(all - kept.len(), 2 * LEFT_TO_THE_SCRIPT.len());
    assert_eq!(made.len(), kept.len(), "run scripts/draw-rules");
    let mut left_out = 0;
    for (made, kept) in made.iter().zip(&kept) {
        // A line of the overview, or a part.
        if made.contains("| not evaluated |") || made.contains("Not evaluated: this needs tables of 5 pieces") {
            left_out += 1;
            assert_eq!(made.split(['|', '\n']).nth(1), kept.split(['|', '\n']).nth(1));
            assert!(!kept.to_lowercase().contains("not evaluated"), "{kept}");
        } else {
            assert!(
                made == kept,
                "run scripts/draw-rules: made\n{made}\nbut the page has\n{kept}"
            );
        }
    }
    // Three claims need five pieces, each with a line and a part.
    assert_eq!(left_out, 6);
    let (made, mut kept) = (
        pictures(&place.path("made/draw-rules")),
        pictures(&docs.join("draw-rules")),
    );
    for (name, picture) in &made {
        assert!(
            kept.remove(name).as_ref() == Some(picture),
            "run scripts/draw-rules: {name} differs"
        );
    }
    let not_made: Vec<&String> = kept.keys().collect();
    assert_eq!(
        not_made,
        [
            "chess-50-chess.svg",
            "chess-50-kbbkn-chess.svg",
            "en-3v2-40-english.svg",
            "int-25-international.svg",
            "ru-2k3-30-russian.svg"
        ]
    );
    // Every picture is shown, and every picture shown is there.
    let page = std::fs::read_to_string(docs.join("draw-rules.md")).unwrap();
    let shown: Vec<&str> = page
        .split("](draw-rules/")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap())
        .collect();
    assert_eq!(shown.len(), made.len() + not_made.len());
    assert!(shown.iter().all(|name| docs.join("draw-rules").join(name).exists()));
}
