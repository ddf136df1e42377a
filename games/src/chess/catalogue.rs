//! The rule sets that are part of the program.

use super::parse::RuleFile;

/// The rule files in the order of the list.
const BUILT_IN: [&str; 10] = [
    include_str!("../../rules-chess/chess.toml"),
    include_str!("../../rules-chess/e-chess.toml"),
    include_str!("../../rules-chess/chess-pawns-capture-back.toml"),
    include_str!("../../rules-chess/chess-no-first-capture.toml"),
    include_str!("../../rules-chess/chess-promote-by-file.toml"),
    include_str!("../../rules-chess/berolina.toml"),
    include_str!("../../rules-chess/knight-relay.toml"),
    include_str!("../../rules-chess/giveaway.toml"),
    include_str!("../../rules-chess/shatranj.toml"),
    include_str!("../../rules-chess/makruk.toml"),
];

/// The built-in rule files of the family.
#[must_use]
pub fn built_in() -> Vec<RuleFile> {
    let files = BUILT_IN.iter().map(|text| match RuleFile::parse(text) {
        Ok(file) => file,
        // The texts are constants that the tests read.
        Err(error) => unreachable!("built-in rule file: {error}"),
    });
    files.collect()
}
