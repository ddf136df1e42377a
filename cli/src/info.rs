//! `petrov info`: the header of a table file.

use std::io::Write;

use petrov_games::Fingerprint;
use petrov_probe::format::{self, FreeEntries, Header, SideParts};
use petrov_probe::{BlockCache, Digit, DigitOrder, Table, Value};
use serde::Serialize;

use crate::args::InfoOptions;
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;
use crate::words::{self, Columns};

#[derive(Serialize)]
struct InfoDocument<'a> {
    file: String,
    format_version: u16,
    family: &'a str,
    game: &'a str,
    fingerprint: String,
    material: &'a str,
    metric: &'static str,
    free_entries: FreeDocument,
    block_bytes: u32,
    dictionary_bytes: usize,
    header_bytes: u32,
    file_bytes: u64,
    sides: Vec<SideDocument>,
}

/// Which entries may hold anything.
#[derive(Serialize)]
struct FreeDocument {
    captures: bool,
    up_to_capture: bool,
    gaps: bool,
}

impl FreeDocument {
    fn new(free: FreeEntries) -> Self {
        Self {
            captures: free.captures,
            up_to_capture: free.up_to_capture,
            gaps: free.gaps,
        }
    }

    /// The same in a line.
    fn in_words(&self) -> String {
        let kinds: Vec<&str> = [
            (self.captures, "those with a capture"),
            (
                self.up_to_capture,
                "those with a winning capture, up to a draw those with a drawing one",
            ),
            (self.gaps, "those with the side not to move in check"),
        ]
        .into_iter()
        .filter(|(free, _)| *free)
        .map(|(_, kind)| kind)
        .collect();
        if kinds.is_empty() {
            "every entry holds its value".to_owned()
        } else {
            format!("free: {}", kinds.join("; "))
        }
    }
}

#[derive(Serialize)]
struct SideDocument {
    to_move: &'static str,
    order: u8,
    order_text: String,
    entries: u64,
    row: u32,
    blocks: usize,
    raw_blocks: usize,
    stored_values: u32,
    positions: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mated: Option<u64>,
    max_win: Option<u16>,
    max_loss: Option<u16>,
    longest_win: Option<u64>,
    palette: Vec<PaletteDocument>,
}

#[derive(Serialize)]
struct PaletteDocument {
    value: &'static str,
    distance: u16,
    positions: u64,
}

/// The digits from the most to the least significant.
fn order_text(code: u8) -> String {
    let Some(order) = DigitOrder::from_code(code) else {
        return "unknown".to_owned();
    };
    let side = |own: bool| if own { "own" } else { "opponent's" };
    let digits = order.significance.map(|digit| match digit {
        Digit::Standing => format!("men or pawns ({} first)", side(order.own_standing_first)),
        Digit::FirstMoving => format!("{} others", side(order.own_moving_first)),
        Digit::LastMoving => format!("{} others", side(!order.own_moving_first)),
    });
    digits.join(", ")
}

impl SideDocument {
    fn new(header: &Header, number: usize, side: &SideParts) -> Self {
        let blocks = header.blocks(number);
        let [wins, draws, losses] = [Value::Win, Value::Draw, Value::Loss].map(|value| side.count(value));
        Self {
            to_move: words::colour(side.to_move),
            order: side.order,
            order_text: order_text(side.order),
            entries: side.entries,
            row: side.row,
            blocks: blocks.len(),
            raw_blocks: blocks.iter().filter(|block| block.is_raw()).count(),
            stored_values: side.stored,
            positions: wins.saturating_add(draws).saturating_add(losses),
            wins,
            draws,
            losses,
            mated: side.mated,
            max_win: side.longest(Value::Win),
            max_loss: side.longest(Value::Loss),
            longest_win: side.longest_win,
            palette: side
                .palette
                .iter()
                .map(|entry| PaletteDocument {
                    value: entry.value.name(),
                    distance: entry.distance,
                    positions: entry.count,
                })
                .collect(),
        }
    }
}

/// Prints the header of a table.
pub(crate) fn info(options: &InfoOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let table = Table::open_with(&options.file, &BlockCache::new(0), setting.backend)?;
    let header = table.header();
    let parts = header.parts();
    let document = InfoDocument {
        file: options.file.display().to_string(),
        format_version: format::VERSION,
        family: &parts.family,
        game: &parts.game,
        fingerprint: Fingerprint::from_bytes(parts.fingerprint).to_string(),
        material: &parts.material,
        metric: parts.metric.name(),
        free_entries: FreeDocument::new(parts.free_entries),
        block_bytes: parts.block_bytes,
        dictionary_bytes: parts.dictionary.len(),
        header_bytes: header.header_bytes(),
        file_bytes: header.file_bytes(),
        sides: header
            .sides()
            .iter()
            .enumerate()
            .map(|(number, side)| SideDocument::new(header, number, side))
            .collect(),
    };
    if options.json {
        return output.json(&document);
    }
    show(&document, output)
}

fn show(document: &InfoDocument<'_>, output: &mut Output) -> Result<(), Failure> {
    for (word, text) in [
        ("file", document.file.clone()),
        ("format", format!("version {}", document.format_version)),
        ("family", document.family.to_owned()),
        ("game", document.game.to_owned()),
        ("fingerprint", document.fingerprint.clone()),
        ("material", document.material.to_owned()),
        ("metric", document.metric.to_owned()),
        ("entries", document.free_entries.in_words()),
        (
            "block",
            format!("{} bytes when decoded", words::thousands(document.block_bytes.into())),
        ),
        (
            "dictionary",
            words::count(document.dictionary_bytes as u64, "byte", "bytes"),
        ),
        ("header", words::count(document.header_bytes.into(), "byte", "bytes")),
        ("length", words::count(document.file_bytes, "byte", "bytes")),
    ] {
        writeln!(output, "{word:<13}{text}")?;
    }
    for side in &document.sides {
        writeln!(output, "\n{} to move", side.to_move)?;
        for (word, text) in [
            (
                "entries",
                format!(
                    "{} in {}",
                    words::thousands(side.entries),
                    words::count(side.blocks as u64, "block", "blocks")
                ),
            ),
            ("digits", format!("{} (order {})", side.order_text, side.order)),
            (
                "values",
                format!("{} stored of {}", side.stored_values, side.palette.len()),
            ),
        ] {
            writeln!(output, "{word:<13}{text}")?;
        }
        let mut columns = Columns::new(&["value", " plies", " positions"]);
        for entry in &side.palette {
            columns.row(vec![
                entry.value.to_owned(),
                entry.distance.to_string(),
                words::thousands(entry.positions),
            ]);
        }
        write!(output, "{columns}")?;
    }
    Ok(())
}
