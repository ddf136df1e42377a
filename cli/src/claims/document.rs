//! The page `draw-rules.md`: what tables say to draw rules, for people who
//! referee games and need not know programs.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use petrov_games::{AnyGame, Axes, Game, draughts, with_game};
use petrov_gen::claims::{Answer, ClaimVerdict, Clock, Counts, Entry, Said, Standing, Worst, own_moves};
use petrov_gen::{What, materials};
use petrov_probe::{Material, Metric, Tables, Value};

use super::chart::{self, Distances};
use super::screen::{counts_to_conversion, limit, longest, numbered, share};
use super::supply::CHARTED;
use super::{Examples, diagram};
use crate::failure::Failure;
use crate::words;

/// The page, and the folder of its pictures.
const PAGE: &str = "draw-rules.md";
const PICTURES: &str = "draw-rules";

const INTRODUCTION: &str = "\
<!-- Written by `petrov claims --document` (scripts/draw-rules): change gen/claims, not this page. -->

# Draw rules and what the tables say

Many rules stop a game: three kings must beat one within fifteen moves, or the game is drawn. Does such a rule take
wins away? Handbooks call some endings won and others drawn. Are they? For endings of few pieces there need be no
opinion about it: every position has been worked out to its end, by going back from all final positions, move by move.
This page sets what rules and books say beside what came out.

## How to read it

* **Position**: pieces on the board and the side to move. All positions with these pieces are counted, whether or not
  a game would lead to them. White is the side with more pieces.
* **Won**: there is a win against every defence. **Drawn**: neither side can force a win.
* **Length of a win**: the moves that the winner needs if he hurries and the loser holds out as long as he can. A
  ply is one move of one side.
* **Must capture**: many positions are decided by a capture that has to be made at once. Where a statement says
  *unless the side to move must capture*, these are left out.
* **Main road**: the diagonal from corner to corner, a1 to h8. **Double road**: the two diagonals beside the other
  corners, a7 to g1 and b8 to h2. **Double corner**: the two squares beside such a corner.
* **True with exceptions**: false in fewer than half of the positions asked about. The exceptions are counted, and a few
  are shown.
* **Diagrams** show White at the bottom; kings wear a crown. Each shows the longest win among the positions asked about, with
  best play of both sides; a king's square is written with a K before it. Where several are equally long, the one whose
  notation comes first in the alphabet is shown. A solution in which Black moves first begins with `1...`, and White's
  first move is then the second.

## All answers
";

/// How each page written begins.
const WRITTEN: &str = "<!-- Written by `petrov claims --document`";

/// Refuses a folder with a page that this program did not write.
pub(crate) fn keeps_page(dir: &Path) -> Result<(), Failure> {
    let path = dir.join(PAGE);
    match fs::read(&path) {
        Ok(page) if !page.starts_with(WRITTEN.as_bytes()) => Err(Failure::Usage(format!(
            "{}: was not written by `petrov claims --document`; move it away, or name another folder",
            path.display()
        ))),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::Broken(format!("{}: cannot be read: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Writes the page and its pictures into a folder.
pub(crate) fn write(
    dir: &Path,
    entries: &[Entry<'_>],
    answers: &[Answer],
    examples: &[Examples],
    tables: &Tables,
) -> Result<(), Failure> {
    let pictures = dir.join(PICTURES);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error| Failure::Broken(format!("{path}: cannot be written: {error}"))
    };
    fs::create_dir_all(&pictures).map_err(failed(&pictures))?;
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&overview(entries, answers));
    let mut games: Vec<&AnyGame> = Vec::new();
    for entry in entries {
        let first = entry.games().take(1);
        games.extend(
            first
                .filter(|game| !games.iter().any(|known| known.name() == game.name()))
                .collect::<Vec<_>>(),
        );
    }
    let mut drawn: Vec<(String, String)> = Vec::new();
    for game in games {
        page.push_str(&format!("\n## {}\n", heading(game)));
        let of_game = entries.iter().zip(answers).zip(examples);
        for ((entry, answer), examples) in of_game.filter(|((entry, _), _)| is_first(entry, game)) {
            section(entry, answer, examples, &mut page, &mut drawn)?;
        }
        with_game!(game, game => distributions(game, tables, &mut page, &mut drawn))?;
    }
    for (name, picture) in drawn {
        let path = pictures.join(name);
        fs::write(&path, picture).map_err(failed(&path))?;
    }
    let path = dir.join(PAGE);
    fs::write(&path, page).map_err(failed(&path))
}

/// Whether an entry stands in the part of a game.
fn is_first(entry: &Entry<'_>, game: &AnyGame) -> bool {
    entry.games().next().is_some_and(|first| first.name() == game.name())
}

/// Text of a user as Markdown that shows it and does nothing else. Emphasis is
/// left to the writer.
fn escaped(text: &str) -> String {
    let mut all = String::new();
    for (at, c) in text.char_indices() {
        match c {
            '<' => all.push_str("&lt;"),
            '|' | '[' | ']' | '\\' => all.extend(['\\', c]),
            '#' if at == 0 => all.push_str("\\#"),
            _ if c.is_control() => all.push(' '),
            _ => all.push(c),
        }
    }
    all
}

fn heading(game: &AnyGame) -> String {
    let description = with_game!(game, game => game.rule_file().description.clone());
    if description.is_empty() {
        format!("`{}`", game.name())
    } else {
        format!("{} (`{}`)", escaped(&description), game.name())
    }
}

/// The name of an entry's place on the page and of its pictures.
fn anchor(answer: &Answer) -> String {
    format!("{}-{}", answer.id, answer.games.first().map_or("", String::as_str))
}

fn title(entry: &Entry<'_>) -> String {
    let claim = entry.claim();
    escaped(if claim.title.is_empty() {
        &claim.id
    } else {
        &claim.title
    })
}

fn verdict(answer: &Answer) -> &'static str {
    match answer.verdict {
        ClaimVerdict::Holds => "true",
        ClaimVerdict::HoldsExcept => "true with exceptions",
        ClaimVerdict::Fails => "false",
        ClaimVerdict::Empty => "no such position",
        ClaimVerdict::NotEvaluated => "not evaluated",
    }
}

fn overview(entries: &[Entry<'_>], answers: &[Answer]) -> String {
    let mut text = String::from(
        "\n| game | what is asked | answer | positions | exceptions | longest win, moves |\n| --- | --- | --- | ---: | ---: | ---: |\n",
    );
    for (entry, answer) in entries.iter().zip(answers) {
        let longest = answer
            .worst
            .as_ref()
            .map_or("-".to_owned(), |worst| longest(worst).replace('*', "\\*"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | [{}](#{}) | {} | {} | {} | {longest} |",
            answer.games.join(", "),
            title(entry),
            anchor(answer),
            verdict(answer),
            words::thousands(answer.positions),
            words::thousands(answer.exceptions),
        );
    }
    if answers.iter().any(counts_to_conversion) {
        text.push_str(
            "\n\\* Not to the end: to the next move that starts the count anew, or to the end if that comes first.\n",
        );
    }
    text
}

fn section(
    entry: &Entry<'_>,
    answer: &Answer,
    examples: &Examples,
    page: &mut String,
    drawn: &mut Vec<(String, String)>,
) -> Result<(), Failure> {
    let claim = entry.claim();
    let _ = writeln!(page, "\n### <a id=\"{}\"></a>{}\n", anchor(answer), title(entry));
    let source = if claim.source.is_empty() {
        String::new()
    } else {
        format!(" *({})*", escaped(&claim.source))
    };
    if claim.rule.is_empty() {
        let _ = writeln!(page, "**The statement.** {}{source}\n", escaped(&claim.statement));
    } else {
        let _ = writeln!(
            page,
            "**The rule.** {}{source}\n\n**The question.** Is this so? {}\n",
            escaped(&claim.rule),
            escaped(&claim.statement)
        );
    }
    if answer.verdict == ClaimVerdict::NotEvaluated {
        let most = entry.most_pieces()?;
        let _ = writeln!(
            page,
            "**What the tables say.** Not evaluated: this needs tables of {most} pieces."
        );
        return Ok(());
    }
    let _ = writeln!(page, "**What the tables say.** {}", finding(entry, answer));
    if let Some(clock) = &answer.clock {
        let _ = writeln!(page, "\n**What the rule costs.** {}", cost(clock, &claim.said));
    }
    if !examples.0.is_empty() {
        let fens: Vec<String> = examples.0.iter().map(|fen| format!("`{fen}`")).collect();
        let lead = if fens.len() as u64 == answer.exceptions {
            "Exceptions"
        } else {
            "Exceptions, for example"
        };
        let _ = writeln!(page, "\n{lead}: {}.", fens.join(", "));
    }
    for (number, worst) in [&answer.worst, &answer.other_worst].into_iter().flatten().enumerate() {
        let game = entry.games().find(|game| game.name() == worst.game);
        let Some(game) = game else { continue };
        let picture =
            with_game!(game, game => game.parse_fen(&worst.fen).ok().map(|position| diagram::draw(game, &position)));
        let Some(picture) = picture else { continue };
        let name = if number == 0 {
            anchor(answer)
        } else {
            format!("{}-{}", answer.id, worst.game)
        };
        let name = format!("{name}.svg");
        let place = if claim.said == Said::ShorterLongestWin {
            format!(" in {}", worst.game)
        } else {
            String::new()
        };
        let _ = writeln!(
            page,
            "\n**The longest win{place}.** {} `{}`\n\n![{}]({PICTURES}/{name})\n\nSolution: {}",
            length(worst),
            worst.fen,
            worst.fen,
            numbered(&worst.line, worst.turn)
        );
        drawn.push((name, picture));
    }
    Ok(())
}

fn finding(entry: &Entry<'_>, answer: &Answer) -> String {
    let asked = words::count(answer.positions, "position", "positions");
    if let (Said::ShorterLongestWin, Some(one), Some(two)) = (&entry.claim().said, &answer.worst, &answer.other_worst) {
        let moves = |worst: &Worst| words::count(own_moves(worst.plies).into(), "move", "moves");
        return format!(
            "{}: the longest is {} in {} and {} in {}.",
            if answer.exceptions == 0 { "True" } else { "False" },
            moves(one),
            one.game,
            moves(two),
            two.game
        );
    }
    match answer.verdict {
        ClaimVerdict::Holds => format!("True: of {asked} asked about there is no exception."),
        ClaimVerdict::HoldsExcept | ClaimVerdict::Fails => format!(
            "{}: of {asked} asked about {} ({}) {}: {}.",
            if answer.verdict == ClaimVerdict::Fails {
                "False"
            } else {
                "True with exceptions"
            },
            words::thousands(answer.exceptions),
            share(answer),
            if answer.exceptions == 1 {
                "is an exception"
            } else {
                "are exceptions"
            },
            exception(&entry.claim().said)
        ),
        ClaimVerdict::Empty => "There is no such position.".to_owned(),
        ClaimVerdict::NotEvaluated => "Not evaluated.".to_owned(),
    }
}

/// What an exception is.
fn exception(said: &Said) -> String {
    match said {
        Said::Won => "there the stronger side cannot force a win".to_owned(),
        Said::Drawn => "there one side can force a win".to_owned(),
        Said::DoesNotLose { .. } => "there that side can be beaten".to_owned(),
        Said::Dtw { limit: most, .. } => format!("there the win takes more than {}", limit(*most)),
        Said::Dtz { limit: most } => {
            format!(
                "there it takes more than {} to the move that starts the count anew",
                limit(*most)
            )
        }
        Said::Same { .. } => "there the two games differ".to_owned(),
        Said::ShorterLongestWin => "the longest win is not shorter".to_owned(),
    }
}

/// What a rule that counts moves takes away, in words.
fn cost(clock: &Clock, said: &Said) -> String {
    let limit = said.limit().map_or_else(String::new, limit);
    let counts = match said {
        Said::Dtw { counts, .. } => *counts,
        _ => None,
    };
    let all = clock.won + clock.drawn + clock.undecided;
    let of = |number: u64| {
        format!(
            "{} of {} won positions",
            words::thousands(number),
            words::thousands(all)
        )
    };
    let within = match clock.standing {
        Standing::Sufficient => "This is certain: the rule does not touch a win within its count.",
        Standing::ByDistance => {
            "This is certain: the count runs on to the end of the game, so that its length alone decides."
        }
        Standing::ByFiveValues => "This is certain: the tables were made under this very rule.",
        Standing::ByConversions => {
            "This is certain: after each capture or move that starts the count anew, the rest of the win stays within it as well."
        }
        Standing::NecessaryOnly => {
            "More is not certain: a position that keeps this count may have to break a later one."
        }
    };
    let mut text = if clock.drawn == 0 && clock.undecided == 0 {
        format!(
            "Nothing: all {} won positions can be won within {limit}.",
            words::thousands(all)
        )
    } else if clock.drawn > 0 {
        format!("It turns {} into draws.", of(clock.drawn))
    } else {
        String::new()
    };
    if clock.undecided > 0 {
        if !text.is_empty() {
            text.push(' ');
        }
        let _ = match clock.standing {
            Standing::Sufficient => write!(
                text,
                "{} take longer than {limit}. Not all of these need be lost to the rule: {}, and lengths do not tell whether the \
                 winner can bring that about in time. The other {} are safe.",
                of(clock.undecided),
                match counts {
                    Some(Counts::WhileAsked) => "the count ends when the position is no longer of this kind",
                    _ => "a capture or a promotion ends the count",
                },
                words::thousands(clock.won)
            ),
            _ => write!(
                text,
                "For {} the tables do not decide it; {} are safe.",
                of(clock.undecided),
                words::thousands(clock.won)
            ),
        };
        if clock.standing == Standing::Sufficient {
            return text;
        }
    }
    format!("{text} {within}")
}

/// How long the longest win is.
fn length(worst: &Worst) -> String {
    let moves = words::count(own_moves(worst.plies).into(), "move", "moves");
    let plies = words::count(worst.plies.into(), "ply", "plies");
    let capital = |colour| {
        if words::colour(colour) == "white" {
            "White"
        } else {
            "Black"
        }
    };
    let winner = capital(worst.winner);
    let turn = capital(worst.turn);
    match worst.metric {
        Metric::Dtz => format!(
            "{turn} is to move; {winner} wins, and the move that starts the count anew (or ends the game) comes after {moves} ({plies}) at the latest."
        ),
        Metric::Wld | Metric::Dtw => format!("{turn} is to move; {winner} wins in {moves} ({plies})."),
    }
}

/// How long wins against a lone king are.
fn distributions<G: Game>(
    game: &G,
    tables: &Tables,
    page: &mut String,
    drawn: &mut Vec<(String, String)>,
) -> Result<(), Failure> {
    if G::FAMILY != draughts::Rules::FAMILY {
        return Ok(());
    }
    let _ = writeln!(page, "\n### How long wins against a lone king take ({})", game.name());
    for name in CHARTED {
        let Ok(material) = name.parse::<Material>() else {
            continue;
        };
        let kings = if material.white().pieces() == 3 { "Three" } else { "Two" };
        if let Err(error) = materials(game, What::Material(material)) {
            let _ = writeln!(page, "\n{kings} kings against one: there is nothing to show ({error}).");
            continue;
        }
        let Ok(table) = tables.table(game, material, Metric::Dtw) else {
            let _ = writeln!(page, "\n{kings} kings against one: not evaluated.");
            continue;
        };
        let [white, black] = table.header().sides() else {
            continue;
        };
        let distances = Distances::of([white, black]);
        let all = |side: &petrov_probe::format::SideParts| {
            [Value::Win, Value::Draw, Value::Loss]
                .map(|value| side.count(value))
                .iter()
                .sum::<u64>()
        };
        let _ = writeln!(
            page,
            "\n{kings} kings against one: with the {} to move {} of {} positions are won, with the lone king to move {} of {}.{}",
            kings.to_lowercase(),
            words::thousands(white.count(Value::Win)),
            words::thousands(all(white)),
            words::thousands(black.count(Value::Loss)),
            words::thousands(all(black)),
            distances.longest().map_or_else(String::new, |longest| format!(
                " The longest win takes {}.",
                words::count(longest.into(), "move", "moves")
            ))
        );
        let title = format!("{}: {} kings against one", game.name(), kings.to_lowercase());
        if let Some(picture) = chart::draw(&title, &distances)? {
            let file = format!("{}-{material}.svg", game.name());
            let _ = writeln!(page, "\n![{title}]({PICTURES}/{file})");
            drawn.push((file, picture));
        }
    }
    Ok(())
}
