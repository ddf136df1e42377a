//! The page `docs/games.md`, written from the rule files.

use std::fmt::Write;

use petrov_games::draughts::{Game, Games};

use crate::catalogue::{board, in_words, sharing};

const TOP: &str = "<!-- Written by `petrov games --markdown` from the rule files: change those, not this page. -->

# Games

Every game is a rule file, a value for each axis below and nothing else. `petrov rules GAME` prints one, and
[own-rules.md](own-rules.md) says what the values mean and how to make a game of your own.
";

const TABLES: &[(&str, &str, &[&str])] = &[
    (
        "Board and start",
        "`rows`: ranks of men at the start. These axes but `size` and `squares` change no table, nor does the choice \
         between `dark` and its reflection `mirror`.",
        &["size", "squares", "names", "first", "rows"],
    ),
    (
        "Men",
        "",
        &[
            "man_move",
            "man_leap_own",
            "man_capture",
            "man_takes_king",
            "promo_capture",
        ],
    ),
    (
        "Kings",
        "A dash: the axis has no meaning beside the others' values.",
        &[
            "king_range",
            "king_move",
            "king_capture",
            "king_land",
            "king_must_extend",
        ],
    ),
    (
        "Captures and goal",
        "A dash: the axis has no meaning beside the others' values.",
        &["forced", "priority", "removal", "u_turn", "goal"],
    ),
];

/// The page.
pub(crate) fn page(games: &Games) -> String {
    let mut page = TOP.to_owned();
    let all: Vec<&Game> = games.iter().collect();
    let names = all.iter().map(|game| {
        vec![
            code(game.name()),
            plain(game.description()),
            board(game),
            game.board().squares().to_string(),
            plain(game.source()),
        ]
    });
    let headings = [
        "game",
        "what it is, and its usual names",
        "board",
        "squares",
        "source of the rules",
    ];
    table(&mut page, "Names and sources", "", &headings, names);
    for (title, note, axes) in TABLES {
        let rows = all.iter().map(|game| {
            let values = game.rules().axes();
            let value = |axis: &&str| {
                let found = values.iter().find(|(name, _)| name == axis);
                found.map_or_else(String::new, |(_, value)| plain(value))
            };
            std::iter::once(code(game.name()))
                .chain(axes.iter().map(value))
                .collect()
        });
        let codes: Vec<String> = axes.iter().map(|axis| code(axis)).collect();
        let headings: Vec<&str> = std::iter::once("game")
            .chain(codes.iter().map(String::as_str))
            .collect();
        table(&mut page, title, note, &headings, rows);
    }
    page.push_str("\n## Games that share tables\n\n");
    page.push_str("Their rules differ in names, the first mover, the start or a reflection only.\n\n");
    for names in sharing(games) {
        let names: Vec<String> = names.into_iter().map(code).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "* {}", in_words(&names));
    }
    page
}

fn table(page: &mut String, title: &str, note: &str, headings: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let _ = writeln!(page, "\n## {title}\n");
    if !note.is_empty() {
        let _ = writeln!(page, "{note}\n");
    }
    let _ = writeln!(page, "| {} |", headings.join(" | "));
    let _ = writeln!(page, "|{}", " --- |".repeat(headings.len()));
    for row in rows {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A text in which nothing is taken for Markdown.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\`*_|<>[]".contains(c) {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}
