//! `petrov checksums`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use petrov_gen::{ChecksumList, ChecksumOptions, Checksums, Progress, checksums as compute};
use serde::Serialize;

use crate::args::ChecksumsOptions;
use crate::failure::Failure;
use crate::output::{Output, complain};
use crate::progress;
use crate::setting::Setting;
use crate::stream::STANDARD_INPUT;
use crate::words;

#[derive(Serialize)]
struct ChecksumsDocument {
    files: Vec<FileDocument>,
    differ: Vec<DifferenceDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<Vec<String>>,
}

#[derive(Serialize)]
struct FileDocument {
    path: String,
    blake3: String,
    bytes: u64,
}

#[derive(Serialize)]
struct DifferenceDocument {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blake3: Option<String>,
    what: String,
}

impl ChecksumsDocument {
    fn new(report: &Checksums, compared: bool) -> Self {
        Self {
            files: report
                .files
                .iter()
                .map(|file| FileDocument {
                    path: file.path.clone(),
                    blake3: file.hash.to_string(),
                    bytes: file.bytes,
                })
                .collect(),
            differ: report
                .differ
                .iter()
                .map(|difference| DifferenceDocument {
                    path: difference.path.clone(),
                    expected: difference.expected.map(|hash| hash.to_string()),
                    blake3: difference.found.map(|hash| hash.to_string()),
                    what: difference.what.clone(),
                })
                .collect(),
            unlisted: compared.then(|| report.unlisted.clone()),
        }
    }
}

/// Writes a list of the checksums of all tables, or compares them with one.
pub(crate) fn checksums(options: &ChecksumsOptions, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    let list = options.check.as_deref().map(read_list).transpose()?;
    let progress = Progress::default();
    let request = ChecksumOptions {
        dirs: setting.dirs.clone(),
        backend: setting.backend,
        ignore_missing: options.ignore_missing,
    };
    let work = || compute(&request, list.as_ref(), &progress);
    let report = progress::watch(&progress, !setting.talks(), || (), work)?;
    let nothing = list.is_some() && report.files.is_empty() && report.differ.is_empty();
    let said = if options.json {
        output.json(&ChecksumsDocument::new(&report, list.is_some()))
    } else if list.is_some() {
        say(&report, setting, output)
    } else {
        write_list(&report, output)
    };
    if nothing {
        complain(&format!("no table of the list is in {}", setting.dirs_in_words()));
    }
    match said {
        // Differences stay what they are if nobody reads them to the end.
        Ok(()) | Err(Failure::Unread) if nothing || !report.differ.is_empty() => Err(Failure::Negative),
        said => said,
    }
}

fn read_list(path: &Path) -> Result<ChecksumList, Failure> {
    let standard_input = path.as_os_str() == STANDARD_INPUT;
    let name = if standard_input {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let mut bytes = Vec::new();
    let read = if standard_input {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::Usage(format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| Failure::Usage(format!("{name}: a checksum list is UTF-8 text")))?;
    text.parse()
        .map_err(|error| Failure::Usage(format!("{name}: no checksum list: {error}")))
}

/// The list, for a file; what cannot stand in it goes to standard error.
fn write_list(report: &Checksums, output: &mut Output) -> Result<(), Failure> {
    for file in &report.files {
        writeln!(output, "{}  {}", file.hash, file.path)?;
    }
    for difference in &report.differ {
        complain(&format!("not listed: {}: {}", difference.path, difference.what));
    }
    Ok(())
}

/// What a comparison found.
fn say(report: &Checksums, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    for difference in &report.differ {
        let line = format!("{}: {}", difference.path, difference.what);
        writeln!(output, "{}", words::one_line(&line))?;
    }
    if setting.talks() {
        let equal = report.files.len()
            - report
                .differ
                .iter()
                .filter(|difference| difference.found.is_some())
                .count();
        let missing = report.differ.iter().filter(|difference| difference.missing).count();
        let mut differ = match report.differ.len() - missing {
            1 => "1 differs".to_owned(),
            many => format!("{} differ", words::thousands(many as u64)),
        };
        if missing > 0 {
            differ += &format!(", {} missing", words::thousands(missing as u64));
        }
        writeln!(
            output,
            "{} as listed, {differ}, {} not in the list",
            words::count(equal as u64, "table", "tables"),
            words::thousands(report.unlisted.len() as u64)
        )?;
    }
    Ok(())
}
