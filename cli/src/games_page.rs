//! The page `docs/games.md`, written from the rule files.

use std::fmt::Write;

use petrov_games::{AnyGame, Axes, Games, chess, draughts, with_game};

use crate::catalogue::{GameDocument, in_words, sharing};

const TOP: &str = "<!-- Written by `petrov games --markdown` from the rule files: change those, not this page. -->

# Games

Every game is a rule file, a value for each axis below and nothing else. `petrov rules GAME` prints one, and
[own-rules.md](own-rules.md) says what the values mean and how to make a game of your own.
";

/// A table of some axes of a family's games.
struct AxisTable {
    title: &'static str,
    note: &'static str,
    axes: &'static [&'static str],
}

/// What a dash stands for.
const DASH: &str = "A dash: the axis has no meaning beside the others' values.";

/// The tables of each family.
const FAMILIES: &[(&str, &[AxisTable])] = &[
    (
        draughts::Rules::FAMILY,
        &[
            AxisTable {
                title: "Draughts: board and start",
                note: "`rows`: ranks of men at the start. These axes but `size` and `squares` change no table, nor does \
                       the choice between `dark` and its reflection `mirror`.",
                axes: &["size", "squares", "names", "first", "rows"],
            },
            AxisTable {
                title: "Draughts: men",
                note: "",
                axes: &[
                    "man_move",
                    "man_leap_own",
                    "man_capture",
                    "man_takes_king",
                    "promo_capture",
                ],
            },
            AxisTable {
                title: "Draughts: kings",
                note: DASH,
                axes: &[
                    "king_range",
                    "king_move",
                    "king_capture",
                    "king_land",
                    "king_must_extend",
                ],
            },
            AxisTable {
                title: "Draughts: captures and goal",
                note: DASH,
                axes: &["forced", "priority", "removal", "u_turn", "goal"],
            },
        ],
    ),
    (
        chess::Rules::FAMILY,
        &[
            AxisTable {
                title: "Chess: board and start",
                note: "`start` and `castling` change no table.",
                axes: &["board", "start", "castling"],
            },
            AxisTable {
                title: "Chess: pieces",
                note: "Steps of files and ranks as White sees them: `leaps` are made once, `slides` repeated, both in all \
                       eight directions unless `exact`.",
                axes: &["pieces"],
            },
            AxisTable {
                title: "Chess: pawns",
                note: "",
                axes: &[
                    "pawn",
                    "pawn_rank",
                    "double_step",
                    "en_passant",
                    "pawn_backward_capture",
                    "pawn_first_capture",
                    "pawn_guard",
                    "promotion_rank",
                    "promote_to",
                ],
            },
            AxisTable {
                title: "Chess: goal",
                note: "",
                axes: &["goal", "stalemate", "bare_king", "capture_compulsory", "fifty_moves"],
            },
            AxisTable {
                title: "Chess: pairs and relays",
                note: DASH,
                axes: &[
                    "relay",
                    "pair_bishop",
                    "pair_rook",
                    "pair_knight",
                    "pair_line",
                    "pair_partner",
                    "pair_capture",
                ],
            },
        ],
    ),
];

/// The page.
pub(crate) fn page(games: &Games) -> String {
    let mut page = TOP.to_owned();
    let names = games.iter().map(|any| {
        let game = GameDocument::new(any);
        vec![
            code(game.name),
            plain(game.description),
            game.board,
            game.squares.to_string(),
            plain(with_game!(any, game => &game.rule_file().source)),
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
    for (family, tables) in FAMILIES {
        for AxisTable { title, note, axes } in *tables {
            let of_family = games.iter().filter(|game| game.family() == *family);
            let rows = of_family.map(|game| {
                let values = axis_values(game);
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

fn axis_values(game: &AnyGame) -> Vec<(&'static str, String)> {
    with_game!(game, game => game.rule_file().rules.values())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_axis_is_in_one_table() {
        for (family, known) in [
            (draughts::Rules::FAMILY, draughts::Rules::AXES),
            (chess::Rules::FAMILY, chess::Rules::AXES),
        ] {
            let (_, tables) = FAMILIES.iter().find(|(name, _)| *name == family).expect("its tables");
            let mut axes: Vec<&str> = tables.iter().flat_map(|table| table.axes).copied().collect();
            let mut known = known.to_vec();
            axes.sort_unstable();
            known.sort_unstable();
            assert_eq!(axes, known);
        }
    }
}
