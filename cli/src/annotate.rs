//! `petrov annotate`.

use std::fs::File;
use std::io::{self, Read, Write};

use petrov_games::{Game, GameTextError, LONGEST_GAME_TEXT, RecordOf, Remark};
use petrov_probe::{BlockCache, ProbeError, Prober, RankedMove, RootProbe};
use serde::Serialize;

use crate::args::AnnotateOptions;
use crate::failure::Failure;
use crate::output::Output;
use crate::setting::Setting;
use crate::stream::STANDARD_INPUT;
use crate::words::{self, Judgement};

/// A move that changed the result for its mover.
#[derive(Serialize)]
struct MistakeDocument {
    game: usize,
    ply: usize,
    fen: String,
    #[serde(rename = "move")]
    text: String,
    before: &'static str,
    after: &'static str,
    better: String,
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    games: u64,
    moves: u64,
    known: u64,
    mistakes: Vec<MistakeDocument>,
}

/// Replays the games of a file and marks the moves that changed the result.
pub(crate) fn annotate<G: Game>(
    game: &G,
    options: &AnnotateOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let text = read_text(options, setting)?;
    let wrong = |error: GameTextError<G::FenError>| Failure::Usage(format!("{}: {error}", name(options)));
    // Wrong input is said to be wrong whether or not the tables are in order.
    // Reading twice keeps no more than one game in memory.
    game.read_games(&text)
        .find_map(Result::err)
        .map_or(Ok(()), |error| Err(wrong(error)))?;
    let tables = setting.tables(BlockCache::default())?;
    let prober = tables.prober(game)?;
    let mut findings = Findings::default();
    let mut annotated = String::new();
    for played in game.read_games(&text) {
        let mut played = played.map_err(wrong)?;
        findings.replay(game, &prober, &mut played)?;
        if !options.json {
            annotated.push_str(&game.write_game(&played));
            annotated.push('\n');
        }
    }
    if options.json {
        return output.json(&findings.mistakes);
    }
    output.write_all(annotated.as_bytes())?;
    // As a comment, so that the whole answer can be read again.
    writeln!(
        output,
        "; {}, {}: {} known to the tables, {}",
        words::count(findings.games, "game", "games"),
        words::count(findings.moves, "move", "moves"),
        words::thousands(findings.known),
        words::count(findings.mistakes.len() as u64, "mistake", "mistakes")
    )?;
    Ok(())
}

impl Findings {
    /// Looks every move of a game up, and marks the mistakes in it.
    fn replay<G: Game>(&mut self, game: &G, prober: &Prober<G>, played: &mut RecordOf<G>) -> Result<(), Failure> {
        self.games += 1;
        let mut at = played.start;
        for (number, step) in played.moves.iter_mut().enumerate() {
            self.moves += 1;
            let before = at;
            at = game.after(&before, &step.played);
            let root = match prober.root(&before) {
                Ok(root) => root,
                Err(ProbeError::Missing { .. } | ProbeError::NotInTables { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            let Some((best, chosen)) = best_and_chosen(&root, |ranked| ranked.played == step.played) else {
                continue;
            };
            self.known += 1;
            if (chosen.value50, chosen.value) == (root.value50, root.value) {
                continue;
            }
            let [made, missed] = [chosen, best].map(|ranked| Judgement::of_move(game, ranked));
            let shown = game
                .screen_texts(&before, &[best.played])
                .and_then(|mut texts| texts.pop());
            let comment = format!(
                "mistake: {}; {} {}",
                made.brief_outcome(),
                shown.unwrap_or_else(|| best.text.clone()),
                missed.brief_outcome()
            );
            // Behind the glyphs of the move itself; once, if the file was
            // annotated before.
            let comment = Remark::Comment(comment);
            if !step.remarks.contains(&comment) {
                let glyphs = step
                    .remarks
                    .iter()
                    .take_while(|remark| matches!(remark, Remark::Nag(_)));
                let place = glyphs.count();
                step.remarks.insert(place, comment);
            }
            self.mistakes.push(MistakeDocument {
                game: self.games as usize,
                ply: number + 1,
                fen: game.fen(&before),
                text: chosen.text.clone(),
                before: Judgement::of_root(game, &root).value_name(),
                after: made.value_name(),
                better: best.text.clone(),
            });
        }
        Ok(())
    }
}

/// The best move and the one that was played.
fn best_and_chosen<G: Game>(
    root: &RootProbe<G>,
    chosen: impl Fn(&&RankedMove<G>) -> bool,
) -> Option<(&RankedMove<G>, &RankedMove<G>)> {
    Some((root.moves.first()?, root.moves.iter().find(chosen)?))
}

/// The file's name for messages.
fn name(options: &AnnotateOptions) -> String {
    if options.file.as_os_str() == STANDARD_INPUT {
        "standard input".to_owned()
    } else {
        options.file.display().to_string()
    }
}

/// The text of the file.
fn read_text(options: &AnnotateOptions, setting: &Setting) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // One more than can be right.
    let most = LONGEST_GAME_TEXT as u64 + 1;
    let read = if options.file.as_os_str() == STANDARD_INPUT {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(&options.file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::Usage(format!("cannot read {}: {error}", name(options))))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            setting.note(&format!(
                "warning: {} is not UTF-8 text; other characters are replaced",
                name(options)
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    })
}
