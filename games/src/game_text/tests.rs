//! What the tests of PDN and PGN share.

use std::fmt::Debug;

use proptest::prelude::*;

use super::*;

/// The games of a text that reads.
pub(crate) fn all<G, E: Debug>(reader: impl Iterator<Item = Result<G, E>>) -> Vec<G> {
    reader.map(Result::unwrap).collect()
}

/// The one game of a text that reads.
pub(crate) fn only<G: Debug, E: Debug>(reader: impl Iterator<Item = Result<G, E>>) -> G {
    let mut games = all(reader);
    assert_eq!(games.len(), 1, "{games:?}");
    games.remove(0)
}

/// The error of a text that does not read, after which nothing is read.
pub(crate) fn error<G: Debug, E: ToString>(mut reader: impl Iterator<Item = Result<G, E>>) -> String {
    let error = reader.by_ref().find_map(Result::err);
    assert!(reader.next().is_none());
    let error = error.map(|error| error.to_string());
    let message = error.unwrap_or_else(|| panic!("no error"));
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// A comment.
pub(crate) fn comment(text: &str) -> Remark {
    Remark::Comment(text.to_owned())
}

/// A game without its start: tags, choices among the legal moves with remarks
/// after them, remarks before, and a result.
pub(crate) type Plan = (
    Vec<(String, String)>,
    Vec<(prop::sample::Index, Vec<Remark>)>,
    Vec<Remark>,
    GameResult,
);

pub(crate) fn any_plan() -> impl Strategy<Value = Plan> {
    let remark = prop_oneof![
        any::<u8>().prop_map(Remark::Nag),
        "[ -|~é\n]{0,100}".prop_map(|text| comment(&text.split_whitespace().collect::<Vec<_>>().join(" "))),
        "[a-h1-8x.-]{1,8}( [a-h1-8x.-]{1,8}){0,20}( [(]a b[)])?( [{]%c[}])?".prop_map(Remark::Variation),
    ];
    let remarks = proptest::collection::vec(remark, 0..2);
    let step = (any::<prop::sample::Index>(), remarks.clone());
    let tag = ("[A-E][A-Za-z0-9_]{0,9}", "[ -~é]{0,20}");
    (
        proptest::collection::vec(tag, 0..4),
        proptest::collection::vec(step, 0..60),
        remarks,
        prop::sample::select(GameResult::ALL.to_vec()),
    )
}

/// The game of a plan, as far as there are moves.
pub(crate) fn carry_out<G: Game>(game: &G, start: G::Position, (tags, steps, opening, result): Plan) -> RecordOf<G> {
    let mut at = start;
    let mut moves = Vec::new();
    for (choice, remarks) in steps {
        let legal = game.legal_moves(&at);
        if legal.is_empty() {
            break;
        }
        let played = *choice.get(&legal);
        at = game.after(&at, &played);
        moves.push(RecordedMove { played, remarks });
    }
    GameRecord {
        tags,
        start,
        opening,
        moves,
        result,
    }
}
