//! `petrov stats`: what tables say of themselves, from their headers alone.

use std::collections::BTreeMap;
use std::io::Write;

use petrov_games::{Colour, Game, Rulebook, with_rulebook};
use petrov_gen::{What, materials};
use petrov_probe::format::SideParts;
use petrov_probe::{BlockCache, DigitOrder, Material, Metric, ProbeError, SliceIndex, Table, Tables, Value, View};
use serde::Serialize;

use crate::failure::Failure;
use crate::options::WhatOptions;
use crate::output::Output;
use crate::setting::Setting;
use crate::words::{self, Columns};

#[derive(Serialize)]
struct StatsDocument {
    material: String,
    sides: Vec<SideDocument>,
}

/// The counts and longest lines with one side to move. What has no table has
/// no key; what has a table but never occurs is `null`.
#[derive(Serialize)]
struct SideDocument {
    to_move: &'static str,
    positions: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// Absent where nobody can be mated.
    #[serde(skip_serializing_if = "Option::is_none")]
    mated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_win: Option<Option<u16>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_loss: Option<Option<u16>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_dtz: Option<Option<u16>>,
    /// Ply, wins, losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Vec<(u16, u64, u64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_win_fen: Option<Option<String>>,
}

/// Counts wins, draws and losses.
pub(crate) fn stats<G: Game>(
    game: &G,
    options: &WhatOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let what = options.what()?;
    let mut wanted = materials(game, what)?;
    if let What::Material(material) = what {
        // Not what it depends on.
        wanted.retain(|other| *other == material);
    }
    let tables = setting.tables(BlockCache::new(0))?;
    let documents = wanted
        .iter()
        .map(|material| document(game, &tables, *material))
        .collect::<Result<Vec<_>, Failure>>()?;
    if options.json {
        return output.json(&documents);
    }
    show(&documents, matches!(what, What::Material(_)), output)
}

fn document<G: Game>(game: &G, tables: &Tables, material: Material) -> Result<StatsDocument, Failure> {
    let [wld, dtw, dtz] = Metric::ALL.map(|metric| optional(tables.table(game, material, metric)));
    let (wld, dtw, dtz) = (wld?, dtw?, dtz?);
    let value = match wld.or(dtw).or(dtz) {
        Some(table) => table,
        None => tables.table(game, material, Metric::Wld)?,
    };
    let sides = [Colour::White, Colour::Black]
        .into_iter()
        .map(|colour| {
            let side = |table| side(game, table, material, colour);
            let counts = side(value)?.parts;
            let [wins, draws, losses] = [Value::Win, Value::Draw, Value::Loss].map(|value| counts.count(value));
            let dtw = dtw.map(side).transpose()?;
            let dtz = dtz.map(side).transpose()?;
            Ok(SideDocument {
                to_move: words::colour(colour),
                positions: wins.saturating_add(draws).saturating_add(losses),
                wins,
                draws,
                losses,
                mated: counts.mated,
                max_win: dtw.as_ref().map(|side| side.parts.longest(Value::Win)),
                max_loss: dtw.as_ref().map(|side| side.parts.longest(Value::Loss)),
                max_dtz: dtz.map(|side| side.parts.longest(Value::Win).max(side.parts.longest(Value::Loss))),
                histogram: dtw.as_ref().map(|side| histogram(side.parts)),
                longest_win_fen: dtw.map(|side| side.longest_win_fen),
            })
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    Ok(StatsDocument {
        material: material.to_string(),
        sides,
    })
}

/// A table that may be missing, but not damaged.
fn optional(table: Result<&Table, ProbeError>) -> Result<Option<&Table>, Failure> {
    match table {
        Ok(table) => Ok(Some(table)),
        Err(ProbeError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What a header says with one colour to move.
struct Side<'t> {
    parts: &'t SideParts,
    longest_win_fen: Option<String>,
}

/// The side of a table for a colour to move, its header checked against the
/// material. For like armies the single side serves both colours.
fn side<'t, G: Game>(game: &G, table: &'t Table, material: Material, colour: Colour) -> Result<Side<'t>, Failure> {
    with_rulebook!(game, rulebook => side_of(game, &**rulebook, table, material, colour))
}

fn side_of<'t, G: Game, R: Rulebook<Position = G::Position>>(
    game: &G,
    rulebook: &R,
    table: &'t Table,
    material: Material,
    colour: Colour,
) -> Result<Side<'t>, Failure> {
    let (number, view) = if colour == Colour::White || material.is_even() {
        (0, View::White)
    } else {
        (1, View::Black)
    };
    let (own, opp) = material.armies(view);
    let found = table.header().sides().get(number).and_then(|parts| {
        let order = DigitOrder::from_code(parts.order)?;
        let index = SliceIndex::new(rulebook, &own, &opp, order)?;
        (index.len() == parts.entries).then_some((parts, index))
    });
    let Some((parts, index)) = found else {
        return Err(Failure::Broken(format!(
            "{}: damaged table: its header does not fit its material",
            table.path().display()
        )));
    };
    let longest = parts
        .longest_win
        .map(|entry| rulebook.position(&index.unrank::<R::Placement>(entry), colour));
    Ok(Side {
        parts,
        longest_win_fen: longest.map(|position| game.fen(&position)),
    })
}

/// Wins and losses by distance.
fn histogram(parts: &SideParts) -> Vec<(u16, u64, u64)> {
    let mut counts: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for entry in parts.palette.iter().filter(|entry| entry.count > 0) {
        match entry.score().value() {
            Value::Win => counts.entry(entry.distance).or_default().0 += entry.count,
            Value::Loss => counts.entry(entry.distance).or_default().1 += entry.count,
            Value::Draw => {}
        }
    }
    counts
        .into_iter()
        .map(|(ply, (wins, losses))| (ply, wins, losses))
        .collect()
}

/// A number of plies that may not exist or not be known.
fn plies(known: Option<Option<u16>>) -> String {
    match known {
        Some(Some(plies)) => plies.to_string(),
        Some(None) => "-".to_owned(),
        None => String::new(),
    }
}

fn show(documents: &[StatsDocument], in_detail: bool, output: &mut Output) -> Result<(), Failure> {
    let with_mates = documents
        .iter()
        .flat_map(|document| &document.sides)
        .any(|side| side.mated.is_some());
    let mut headings = vec!["material", "to move", " positions", " wins", " draws", " losses"];
    if with_mates {
        headings.push(" mated");
    }
    headings.extend([" longest win", " longest loss", " longest dtz"]);
    let mut columns = Columns::new(&headings);
    for document in documents {
        for side in &document.sides {
            let mut row = vec![document.material.clone(), side.to_move.to_owned()];
            row.extend([side.positions, side.wins, side.draws, side.losses].map(words::thousands));
            if with_mates {
                row.push(side.mated.map_or_else(String::new, words::thousands));
            }
            row.extend([side.max_win, side.max_loss, side.max_dtz].map(plies));
            columns.row(row);
        }
    }
    write!(output, "{columns}")?;
    if in_detail {
        for side in documents.iter().flat_map(|document| &document.sides) {
            if let (Some(Some(win)), Some(Some(fen))) = (side.max_win, &side.longest_win_fen) {
                let win = words::count(win.into(), "ply", "plies");
                writeln!(output, "\nlongest win, {} to move ({win}): {fen}", side.to_move)?;
            }
        }
    }
    Ok(())
}
