//! `petrov games` and `petrov rules`.

use std::collections::BTreeMap;
use std::io::Write;

use petrov_games::{AnyGame, Axes, Bits, Fingerprint, Game, Games, Rulebook, with_game, with_rulebook};
use serde::Serialize;

use crate::args::{GamesOptions, RulesOptions};
use crate::failure::Failure;
use crate::games_page;
use crate::output::Output;
use crate::setting::Setting;
use crate::words::Columns;

/// What the list of games says of one.
#[derive(Serialize)]
pub(crate) struct GameDocument<'a> {
    pub(crate) name: &'a str,
    family: &'static str,
    /// Files and ranks, such as `8x8`.
    pub(crate) board: String,
    pub(crate) squares: u32,
    pub(crate) description: &'a str,
}

impl<'a> GameDocument<'a> {
    pub(crate) fn new(any: &'a AnyGame) -> Self {
        with_game!(any, game => Self::of(game))
    }

    fn of<G: Game>(game: &'a G) -> Self {
        let (files, ranks) = game.size();
        Self {
            name: game.name(),
            family: G::FAMILY,
            board: format!("{files}x{ranks}"),
            squares: with_rulebook!(game, rulebook => rulebook.squares().count()),
            description: &game.rule_file().description,
        }
    }
}

/// Lists the known games.
pub(crate) fn games(options: &GamesOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    if options.markdown {
        write!(output, "{}", games_page::page(&setting.games))?;
        return Ok(());
    }
    let documents: Vec<GameDocument<'_>> = setting.games.iter().map(GameDocument::new).collect();
    if options.json {
        return output.json(&documents);
    }
    let mut columns = Columns::new(&["game", "family", "board", " squares", "description"]);
    for game in documents {
        columns.row(vec![
            game.name.to_owned(),
            game.family.to_owned(),
            game.board,
            game.squares.to_string(),
            game.description.to_owned(),
        ]);
    }
    write!(output, "{columns}")?;
    for names in sharing(&setting.games) {
        writeln!(output, "{} share tables", in_words(&names))?;
    }
    Ok(())
}

/// Names of games of equal fingerprints, which share tables.
pub(crate) fn sharing(games: &Games) -> Vec<Vec<&str>> {
    let mut groups: Vec<(Fingerprint, Vec<&str>)> = Vec::new();
    for game in games.iter() {
        match groups.iter_mut().find(|(rules, _)| *rules == game.fingerprint()) {
            Some((_, names)) => names.push(game.name()),
            None => groups.push((game.fingerprint(), vec![game.name()])),
        }
    }
    groups
        .into_iter()
        .map(|(_, names)| names)
        .filter(|names| names.len() > 1)
        .collect()
}

/// `a, b and c`.
pub(crate) fn in_words(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

#[derive(Serialize)]
struct RulesDocument<'a> {
    name: &'a str,
    family: &'static str,
    description: &'a str,
    source: &'a str,
    fingerprint: String,
    axes: BTreeMap<&'static str, String>,
}

/// Prints the rules of a game.
pub(crate) fn rules<G: Game>(game: &G, options: &RulesOptions, output: &mut Output) -> Result<(), Failure> {
    let file = game.rule_file();
    if options.toml {
        output.write_all(file.to_toml().as_bytes())?;
        return Ok(());
    }
    let axes = file.rules.values();
    if options.json {
        return output.json(&RulesDocument {
            name: game.name(),
            family: G::FAMILY,
            description: &file.description,
            source: &file.source,
            fingerprint: game.fingerprint().to_string(),
            axes: axes.into_iter().collect(),
        });
    }
    for (word, text) in [
        ("game", game.name()),
        ("family", G::FAMILY),
        ("description", &file.description),
        ("source", &file.source),
        ("fingerprint", &game.fingerprint().to_string()),
    ] {
        if !text.is_empty() {
            writeln!(output, "{word:<13}{text}")?;
        }
    }
    let mut columns = Columns::new(&["axis", "value"]);
    for (axis, value) in axes {
        let value = if value == "-" {
            "- (has no meaning here)".to_owned()
        } else {
            value
        };
        columns.row(vec![axis.to_owned(), value]);
    }
    write!(output, "\n{columns}")?;
    Ok(())
}
