//! `petrov claims`.

mod chart;
mod diagram;
mod document;
mod screen;
mod supply;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use petrov_gen::Progress;
use petrov_gen::claims::{Answer, Claims, Entry};
use petrov_probe::BlockCache;
use serde::Serialize;

use crate::args::ClaimsOptions;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress;
use crate::setting::Setting;

#[derive(Serialize)]
struct AnswerDocument<'a> {
    id: &'a str,
    games: &'a [String],
    verdict: &'static str,
    positions: u64,
    exceptions: u64,
    worst_fen: Option<&'a str>,
    worst_plies: Option<u16>,
}

impl<'a> AnswerDocument<'a> {
    fn new(answer: &'a Answer) -> Self {
        Self {
            id: &answer.id,
            games: &answer.games,
            verdict: answer.verdict.name(),
            positions: answer.positions,
            exceptions: answer.exceptions,
            worst_fen: answer.worst.as_ref().map(|worst| worst.fen.as_str()),
            worst_plies: answer.worst.as_ref().map(|worst| worst.plies),
        }
    }
}

/// Checks statements; a false one is an answer, not a failure to give one.
pub(crate) fn claims(options: &ClaimsOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    keeps_files(options)?;
    let mut claims = Claims::none();
    for file in &options.file {
        claims.add_file(file, &setting.games)?;
    }
    if options.file.is_empty() {
        claims = Claims::built_in(&setting.games);
    }
    let entries = wanted(&claims, options, setting)?;
    let mut evaluated = Vec::new();
    for entry in &entries {
        if !too_large(entry, options.max_pieces)? {
            evaluated.push(*entry);
        }
    }
    // Before hours of work, and so that an old list does not stay.
    let mut list = options.exceptions.as_deref().map(ExceptionList::create).transpose()?;
    let means = supply::Means {
        threads: options.threads,
        memory: options.memory,
    };
    supply::build_missing(&evaluated, means, setting)?;
    if options.document.is_some() {
        supply::build_charted(&entries, options.max_pieces, means, setting)?;
    }
    let tables = setting.tables(BlockCache::default())?;
    let threads = options.threads.unwrap_or(0).into();
    let progress = Progress::default();
    let evaluate = || -> Result<(Vec<Answer>, Vec<Examples>), Failure> {
        let (mut answers, mut examples) = (Vec::new(), Vec::new());
        for entry in &entries {
            if too_large(entry, options.max_pieces)? {
                answers.push(entry.not_evaluated());
                examples.push(Examples::default());
                continue;
            }
            if let Some(list) = list.as_mut().filter(|_| entries.len() > 1) {
                list.begin(entry)?;
            }
            let mut some = Examples::default();
            let mut keep = |fen: &str| {
                some.offer(fen);
                Ok(())
            };
            answers.push(match &mut list {
                Some(list) => entry.evaluate(&tables, threads, &progress, Some(&mut |fen| list.line(fen)))?,
                None if options.document.is_some() => entry.evaluate(&tables, threads, &progress, Some(&mut keep))?,
                None => entry.evaluate(&tables, threads, &progress, None)?,
            });
            examples.push(some);
        }
        list.map_or(Ok(()), ExceptionList::finish)?;
        Ok((answers, examples))
    };
    let (answers, examples) = progress::watch(&progress, !setting.talks(), || (), evaluate)?;
    if let Some(dir) = &options.document {
        document::write(dir, &entries, &answers, &examples, &tables)?;
    }
    let said = if options.json {
        output.json(&answers.iter().map(AnswerDocument::new).collect::<Vec<_>>())
    } else {
        screen::say(&entries, &answers, output)
    };
    match said {
        // Exceptions stay exceptions if nobody reads them to the end.
        Ok(()) | Err(Failure::Unread) if answers.iter().any(|answer| answer.verdict.is_negative()) => {
            Err(Failure::Negative)
        }
        said => said,
    }
}

/// Refuses to write over what is not the program's own: the claims read, and a
/// page of somebody else.
fn keeps_files(options: &ClaimsOptions) -> Result<(), Failure> {
    if let Some(list) = &options.exceptions {
        // What is not there yet is nobody's.
        let same = |file: &&PathBuf| matches!((list.canonicalize(), file.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if let Some(file) = options.file.iter().find(same) {
            let what = format!("--exceptions would write over the claims of --file {}", file.display());
            return Err(Failure::Usage(what));
        }
    }
    options.document.as_deref().map_or(Ok(()), document::keeps_page)
}

/// The entries that are asked for.
fn wanted<'a>(claims: &'a Claims, options: &ClaimsOptions, setting: &'a Setting) -> Result<Vec<Entry<'a>>, Failure> {
    if let Some(game) = &options.game {
        setting.game(game)?;
    }
    for id in &options.id {
        if !claims.iter().any(|claim| claim.id == *id) {
            let known: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
            let near = petrov_games::near(id, known.iter().copied());
            let instead = if near.is_empty() {
                format!("known ones are {}", known.join(", "))
            } else {
                format!("did you mean {}?", near.join(" or "))
            };
            return Err(Failure::Usage(format!("unknown claim {id:?}; {instead}")));
        }
    }
    let mut entries = Vec::new();
    for claim in claims
        .iter()
        .filter(|claim| options.id.is_empty() || options.id.contains(&claim.id))
    {
        let of_game = |entry: &Entry<'_>| match &options.game {
            Some(game) => entry.games().any(|known| known.name() == game),
            None => true,
        };
        entries.extend(Entry::of(claim, &setting.games)?.into_iter().filter(of_game));
    }
    if let (Some(game), true) = (&options.game, entries.is_empty()) {
        setting.note(&format!("no such claim is about {game}"));
    }
    Ok(entries)
}

fn too_large(entry: &Entry<'_>, max_pieces: u8) -> Result<bool, Failure> {
    Ok(entry.materials()?.iter().any(|material| material.pieces() > max_pieces))
}

/// A few exceptions: those whose FENs come first in alphabetical order.
#[derive(Default)]
struct Examples(BTreeSet<String>);

impl Examples {
    const MOST: usize = 3;

    fn offer(&mut self, fen: &str) {
        if self.0.len() == Self::MOST && self.0.last().is_some_and(|last| fen >= last.as_str()) {
            return;
        }
        self.0.insert(fen.to_owned());
        if self.0.len() > Self::MOST {
            self.0.pop_last();
        }
    }
}

/// The file of `--exceptions`.
struct ExceptionList {
    file: BufWriter<File>,
    name: String,
}

impl ExceptionList {
    fn create(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        match File::create(path) {
            Ok(file) => Ok(Self {
                file: BufWriter::new(file),
                name,
            }),
            Err(error) => Err(Failure::Broken(format!("{name}: cannot be written: {error}"))),
        }
    }

    fn line(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.file, "{text}")
            .map_err(|error| std::io::Error::new(error.kind(), format!("{}: {error}", self.name)))
    }

    fn begin(&mut self, entry: &Entry<'_>) -> Result<(), Failure> {
        let games: Vec<&str> = entry.games().map(petrov_games::AnyGame::name).collect();
        self.line(&format!("# {} {}", entry.claim().id, games.join(" ")))
            .map_err(|error| Failure::Broken(error.to_string()))
    }

    fn finish(mut self) -> Result<(), Failure> {
        let name = self.name;
        self.file
            .flush()
            .map_err(|error| Failure::Broken(format!("{name}: cannot be written: {error}")))
    }
}
