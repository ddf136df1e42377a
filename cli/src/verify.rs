//! `petrov verify`.

use std::io::Write;

use petrov_games::Game;
use petrov_gen::{Depth, Finding, Progress, VerifyReport, verify as check};
use petrov_probe::Score;
use serde::Serialize;

use crate::args::VerifyOptions;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress;
use crate::setting::Setting;
use crate::words::{self, Columns};

#[derive(Serialize)]
struct VerifyDocument {
    tables: Vec<TableDocument>,
    positions: u64,
    errors: Vec<FindingDocument>,
}

#[derive(Serialize)]
struct TableDocument {
    file: String,
    material: String,
    metric: &'static str,
    positions: u64,
    verdict: &'static str,
}

#[derive(Serialize)]
struct FindingDocument {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    material: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    what: String,
}

/// `win 5`, `draw`, `cursed-win 12`; the distance in plies, left out where it is 0.
fn score(score: Score) -> String {
    let value = score.value50().name();
    match score.distance() {
        0 => value.to_owned(),
        plies => format!("{value} {plies}"),
    }
}

impl FindingDocument {
    fn new(finding: &Finding) -> Self {
        Self {
            file: finding.file.display().to_string(),
            material: finding.material.map(|material| material.to_string()),
            fen: finding.fen.clone(),
            stored: finding.stored.map(score),
            expected: finding.expected.map(score),
            what: finding.what.clone(),
        }
    }
}

impl VerifyDocument {
    fn new(report: &VerifyReport) -> Self {
        Self {
            tables: report
                .tables
                .iter()
                .map(|table| TableDocument {
                    file: table.file.display().to_string(),
                    material: table.material.to_string(),
                    metric: table.metric.name(),
                    positions: table.positions,
                    verdict: table.verdict.name(),
                })
                .collect(),
            positions: report.positions,
            errors: report.findings.iter().map(FindingDocument::new).collect(),
        }
    }
}

/// Checks tables; findings are an answer, not a failure to give one.
pub(crate) fn verify<G: Game>(
    game: &G,
    options: &VerifyOptions,
    setting: &Setting,
    output: &mut Output,
) -> Result<(), Failure> {
    let depth = match options.sample {
        Some(positions) => Depth::Sample(positions),
        None if options.checksums => Depth::Checksums,
        None => Depth::Every,
    };
    let progress = Progress::default();
    let request = petrov_gen::VerifyOptions {
        what: options.what,
        dirs: setting.dirs.clone(),
        backend: setting.backend,
        depth,
        threads: options.threads.into(),
    };
    let work = || check(game, &request, &progress);
    let report = progress::watch(&progress, !setting.talks(), || (), work)?;
    let said = if options.json {
        output.json(&VerifyDocument::new(&report))
    } else {
        say(&report, output)
    };
    match said {
        // Findings stay findings if nobody reads them to the end.
        Ok(()) | Err(Failure::Unread) if !report.findings.is_empty() => Err(Failure::Negative),
        said => said,
    }
}

fn say(report: &VerifyReport, output: &mut Output) -> Result<(), Failure> {
    for finding in report.findings.iter().map(FindingDocument::new) {
        write!(output, "{}: ", words::one_line(&finding.file))?;
        if let Some(fen) = &finding.fen {
            write!(output, "{fen}: ")?;
        }
        if let (Some(stored), Some(expected)) = (&finding.stored, &finding.expected) {
            write!(output, "says {stored}, should be {expected}: ")?;
        }
        writeln!(output, "{}", words::one_line(&finding.what))?;
    }
    let mut columns = Columns::new(&["material", "metric", " entries", "verdict"]);
    for table in &report.tables {
        columns.row(vec![
            table.material.to_string(),
            table.metric.to_string(),
            words::thousands(table.positions),
            table.verdict.name().to_owned(),
        ]);
    }
    writeln!(
        output,
        "{columns}\n{}, {} looked at, {}",
        words::count(report.tables.len() as u64, "table", "tables"),
        words::count(report.positions, "entry", "entries"),
        words::count(report.findings.len() as u64, "finding", "findings")
    )?;
    Ok(())
}
