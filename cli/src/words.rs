//! Values, numbers and tables in words.

use petrov_games::{Colour, Game};
use petrov_probe::{Distance, RankedMove, RootProbe, Value, Value50};

/// A text on one line, whatever an error message holds.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `white` or `black`.
pub(crate) fn colour(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "white",
        Colour::Black => "black",
    }
}

/// `1 move`, `2 moves`.
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

fn plies(plies: u16) -> String {
    count(plies.into(), "ply", "plies")
}

/// The moves that the winner makes in `plies` plies: every other one, the
/// first if the winner is to move.
fn moves(plies: u16, winner_moves_first: bool) -> String {
    let moves = if winner_moves_first {
        plies.div_ceil(2)
    } else {
        plies / 2
    };
    count(moves.into(), "move", "moves")
}

/// What tables say of a position or a move.
#[derive(Clone, Copy)]
pub(crate) struct Judgement {
    value: Value,
    /// Under the fifty-move rule, if that is known.
    value50: Option<Value50>,
    /// Plies to the end.
    distance: Distance,
    /// Whether wins are mates.
    mates: bool,
}

impl Judgement {
    /// What they say of a position, for the side to move.
    pub(crate) fn of_root<G: Game>(game: &G, root: &RootProbe<G>) -> Self {
        Self {
            value: root.value,
            value50: root.value50,
            distance: root.dtw,
            mates: game.only_mates_win(),
        }
    }

    /// What they say of a move, for its mover.
    pub(crate) fn of_move<G: Game>(game: &G, ranked: &RankedMove<G>) -> Self {
        Self {
            value: ranked.value,
            value50: ranked.value50,
            distance: ranked.dtw,
            mates: game.only_mates_win(),
        }
    }

    /// The value that counts: under the fifty-move rule, if that is known.
    pub(crate) fn value_name(&self) -> &'static str {
        self.value50.map_or(self.value.name(), Value50::name)
    }

    /// What is to be said besides if the fifty-move rule spoils the win.
    fn spoilt(&self) -> &'static str {
        match self.value50 {
            Some(Value50::CursedWin | Value50::BlessedLoss) => " but for the fifty-move rule",
            _ => "",
        }
    }

    /// The result of a position, such as `white wins in 13 moves (25 plies)`.
    pub(crate) fn result(&self, turn: Colour) -> String {
        let (winner, mover_wins) = match self.value {
            Value::Draw => return "draw".to_owned(),
            Value::Win => (turn, true),
            Value::Loss => (turn.other(), false),
        };
        let winner = colour(winner);
        let verb = if self.mates { "mates" } else { "wins" };
        let result = match self.distance.plies() {
            Some(0) => format!("{winner} has won"),
            Some(distance) => format!(
                "{winner} {verb} in {} ({})",
                moves(distance, mover_wins),
                plies(distance)
            ),
            None => format!("{winner} wins"),
        };
        result + self.spoilt()
    }

    /// What a move is worth to its mover, such as `wins in 13 moves (25 plies)`.
    pub(crate) fn outcome(&self) -> String {
        let brief = self.plain_outcome();
        let brief = match self.distance.plies() {
            Some(distance) => format!("{brief} ({})", plies(distance)),
            None => brief,
        };
        brief + self.spoilt()
    }

    /// As [`outcome`](Self::outcome) without plies, such as `wins in 13 moves`.
    pub(crate) fn brief_outcome(&self) -> String {
        self.plain_outcome() + self.spoilt()
    }

    fn plain_outcome(&self) -> String {
        let (verb, timed, mover_wins) = match (self.value, self.mates) {
            (Value::Draw, _) => return "draws".to_owned(),
            (Value::Win, true) => ("wins", "mates", true),
            (Value::Win, false) => ("wins", "wins", true),
            (Value::Loss, true) => ("loses", "is mated", false),
            (Value::Loss, false) => ("loses", "loses", false),
        };
        match self.distance.plies() {
            Some(distance) => format!("{timed} in {}", moves(distance, mover_wins)),
            None => verb.to_owned(),
        }
    }
}

/// When the next conversion comes, if that is known and not now.
pub(crate) fn conversion(distance: Distance) -> Option<String> {
    let distance = distance.plies().filter(|distance| *distance > 0)?;
    Some(format!("next conversion or end in {}", plies(distance)))
}

/// A number with its thousands set apart.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in three figures or so.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return count(bytes, "byte", "bytes");
    }
    let (mut amount, mut unit) = (bytes as f64 / 1000.0, 0);
    while amount >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    format!("{amount:.*} {}", usize::from(amount < 100.0), UNITS[unit])
}

/// A time in words, rounded.
#[must_use]
pub fn duration(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    match seconds {
        s if s < 0.95 => "less than a second".to_owned(),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 2.0 * MINUTE => format!("{s:.0} s"),
        s if s < 2.0 * HOUR => format!("{:.0} min", s / MINUTE),
        s if s < 2.0 * DAY => format!("{:.1} h", s / HOUR),
        s => format!("{:.1} days", s / DAY),
    }
}

/// Reads a number of bytes such as `16G` or `1.5GiB`.
///
/// # Errors
/// Says what was expected.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    const EXPECTED: &str =
        "expected a size such as 800M, 16G or 16Gi (K, M, G, T; with i powers of 1024, else of 1000)";
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (letter, base) = match unit.strip_suffix('i') {
        Some(letter) => (letter, 1024f64),
        None => (unit, 1000f64),
    };
    let power = match letter {
        "" if unit.is_empty() => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(EXPECTED.to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| EXPECTED.to_owned())?;
    let bytes = number * base.powi(power);
    if (1.0..9e18).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(EXPECTED.to_owned())
    }
}

/// Rows of cells in columns; a column whose heading begins with a space is set
/// to the right.
pub struct Columns {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Columns {
    /// The first row.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![headings.iter().map(|heading| heading.trim().to_owned()).collect()],
            right: headings.iter().map(|heading| heading.starts_with(' ')).collect(),
        }
    }

    /// A further row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl std::fmt::Display for Columns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |column: usize| {
            let lengths = self.rows.iter().filter_map(|row| row.get(column));
            lengths.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.right.len()).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(&self.right);
            let line: Vec<String> = cells
                .map(|((cell, width), right)| {
                    if *right {
                        format!("{cell:>width$}")
                    } else {
                        format!("{cell:<width$}")
                    }
                })
                .collect();
            writeln!(f, "{}", line.join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(value: Value, distance: Distance) -> Judgement {
        Judgement {
            value,
            value50: None,
            distance,
            mates: false,
        }
    }

    #[test]
    fn results() {
        let plies = Distance::Plies;
        for (value, distance, turn, words) in [
            (
                Value::Win,
                plies(25),
                Colour::White,
                "white wins in 13 moves (25 plies)",
            ),
            (Value::Loss, plies(8), Colour::White, "black wins in 4 moves (8 plies)"),
            (Value::Win, plies(1), Colour::Black, "black wins in 1 move (1 ply)"),
            (Value::Loss, plies(0), Colour::Black, "white has won"),
            (Value::Win, Distance::Unknown, Colour::Black, "black wins"),
            (Value::Draw, Distance::Never, Colour::White, "draw"),
        ] {
            assert_eq!(judged(value, distance).result(turn), words);
        }
        assert_eq!(judged(Value::Loss, plies(8)).outcome(), "loses in 4 moves (8 plies)");
        assert_eq!(judged(Value::Draw, Distance::Never).outcome(), "draws");
        let mate = Judgement {
            mates: true,
            ..judged(Value::Win, plies(3))
        };
        assert_eq!(mate.result(Colour::Black), "black mates in 2 moves (3 plies)");
        assert_eq!(mate.outcome(), "mates in 2 moves (3 plies)");
        let cursed = Judgement {
            value50: Some(Value50::BlessedLoss),
            mates: true,
            ..judged(Value::Loss, plies(2))
        };
        assert_eq!(cursed.brief_outcome(), "is mated in 1 move but for the fifty-move rule");
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1", 1),
            ("16G", 16_000_000_000),
            ("16gb", 16_000_000_000),
            ("1.5Ki", 1536),
            ("2MiB", 2 << 20),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1G", "1X", "0", "1e99", "i", "1i", "1.2.3K", "99999999T"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_234), "1.2 kB");
        assert_eq!(bytes(250_000_000), "250 MB");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
    }
}
