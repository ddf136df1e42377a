//! Answers to claims as text.

use std::io::Write;

use petrov_games::Colour;
use petrov_gen::claims::{Answer, ClaimVerdict, Entry, Limit, LinePly, Said, Worst, own_moves};
use petrov_probe::Metric;

use crate::failure::Failure;
use crate::output::Output;
use crate::words::{self, Columns};

/// Prints a table of all answers, then each with its worst position.
pub(crate) fn say(entries: &[Entry<'_>], answers: &[Answer], output: &mut Output) -> Result<(), Failure> {
    let mut columns = Columns::new(&[
        "claim",
        "game",
        "verdict",
        " positions",
        " exceptions",
        " share",
        " longest, moves",
    ]);
    for answer in answers {
        columns.row(vec![
            answer.id.clone(),
            answer.games.join(", "),
            answer.verdict.name().to_owned(),
            words::thousands(answer.positions),
            words::thousands(answer.exceptions),
            share(answer),
            answer.worst.as_ref().map_or("-".to_owned(), longest),
        ]);
    }
    if !answers.is_empty() {
        write!(output, "{columns}")?;
    }
    if answers.iter().any(counts_to_conversion) {
        writeln!(
            output,
            "* moves to the next conversion, or to the end if that comes first"
        )?;
    }
    for (entry, answer) in entries.iter().zip(answers) {
        say_one(entry, answer, output)?;
    }
    Ok(())
}

/// The own moves of a longest win; with a star if they lead to the next
/// conversion only.
pub(crate) fn longest(worst: &Worst) -> String {
    let star = if worst.metric == Metric::Dtz { "*" } else { "" };
    format!("{}{star}", own_moves(worst.plies))
}

/// Whether the longest distance of an answer is one to the next conversion.
pub(crate) fn counts_to_conversion(answer: &Answer) -> bool {
    answer.worst.as_ref().is_some_and(|worst| worst.metric == Metric::Dtz)
}

/// The share of exceptions.
pub(crate) fn share(answer: &Answer) -> String {
    if answer.positions == 0 {
        return "-".to_owned();
    }
    let percent = 100.0 * answer.exceptions as f64 / answer.positions as f64;
    match answer.exceptions {
        0 => "0 %".to_owned(),
        _ if percent < 0.01 => "< 0.01 %".to_owned(),
        _ => format!("{percent:.2} %"),
    }
}

fn say_one(entry: &Entry<'_>, answer: &Answer, output: &mut Output) -> Result<(), Failure> {
    let claim = entry.claim();
    writeln!(
        output,
        "\n{} ({}): {}",
        answer.id,
        answer.games.join(", "),
        words::one_line(&claim.statement)
    )?;
    if !claim.source.is_empty() {
        writeln!(output, "  source: {}", words::one_line(&claim.source))?;
    }
    if answer.verdict == ClaimVerdict::NotEvaluated {
        let most = entry.most_pieces()?;
        writeln!(
            output,
            "  not-evaluated: needs tables of {most} pieces (--max-pieces {most})"
        )?;
        return Ok(());
    }
    writeln!(
        output,
        "  {}: {}, {} ({})",
        answer.verdict.name(),
        words::count(answer.positions, "position", "positions"),
        words::count(answer.exceptions, "exception", "exceptions"),
        share(answer)
    )?;
    if let Some(clock) = &answer.clock {
        let limit = claim.said.limit().map_or_else(String::new, limit);
        writeln!(
            output,
            "  a rule of {limit}: {} stay won, {} become drawn, {} undecided",
            words::thousands(clock.won),
            words::thousands(clock.drawn),
            words::thousands(clock.undecided)
        )?;
        writeln!(output, "  {}", clock.standing.meaning())?;
    }
    for worst in [&answer.worst, &answer.other_worst].into_iter().flatten() {
        let game = if claim.said == Said::ShorterLongestWin {
            format!(" in {}", worst.game)
        } else {
            String::new()
        };
        writeln!(output, "  longest{game}: {}: {}", length(worst), worst.fen)?;
        writeln!(output, "  {}", numbered(&worst.line, worst.turn))?;
    }
    Ok(())
}

/// `15 moves`, `100 plies`.
pub(crate) fn limit(limit: Limit) -> String {
    match limit {
        Limit::OwnMoves(moves) => words::count(moves.into(), "move", "moves"),
        Limit::Plies(plies) => words::count(plies.into(), "ply", "plies"),
    }
}

/// How long a win is, such as `white wins in 13 moves (25 plies)`.
pub(crate) fn length(worst: &Worst) -> String {
    let moves = words::count(own_moves(worst.plies).into(), "move", "moves");
    let plies = words::count(worst.plies.into(), "ply", "plies");
    let winner = words::colour(worst.winner);
    match worst.metric {
        Metric::Dtz => format!("{winner} wins, next conversion or end in {moves} ({plies})"),
        Metric::Wld | Metric::Dtw => format!("{winner} wins in {moves} ({plies})"),
    }
}

/// A line with the numbers of its moves.
pub(crate) fn numbered(line: &[LinePly], turn: Colour) -> String {
    let mut text = String::new();
    for (ply, played) in line.iter().enumerate() {
        let ply = ply + usize::from(turn == Colour::Black);
        if ply.is_multiple_of(2) {
            text.push_str(&format!("{}. ", ply / 2 + 1));
        } else if text.is_empty() {
            text.push_str("1... ");
        }
        text.push_str(&played.text);
        text.push(' ');
    }
    text.trim_end().to_owned()
}
