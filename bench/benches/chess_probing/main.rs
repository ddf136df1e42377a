//! Probing of chess WDL tables, against two readers of Syzygy tables.
//!
//! ```text
//! cargo bench -p petrov-bench -- --syzygy DIR [--fathom PROGRAM] [--tables DIR]
//! ```
//!
//! All libraries are asked for the same random positions, one after the other
//! in one thread, in passes that take turns: the machine is as busy for each of
//! them. The first pass warms caches and is not counted. What is timed starts
//! from the library's own representation of a position and ends with a value;
//! the values are compared afterwards. `scripts/bench --chess-probing` builds
//! everything this needs and runs it.

mod fathom;
mod petrov;
mod positions;
mod pyrrhic;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use positions::Positions;

/// What anything here fails with: it is all reported and ends the program.
type Failure = Box<dyn std::error::Error>;

/// A library that is measured.
trait Library {
    /// What it is called in the report.
    fn name(&self) -> &'static str;

    /// Probes every position once. Returns the time, and each value for the
    /// side to move: -1, 0 or 1.
    fn pass(&mut self) -> Result<(Duration, Vec<i8>), Failure>;
}

struct Arguments {
    /// Folder of Syzygy tables.
    syzygy: PathBuf,
    /// Petrov's tables.
    tables: Option<PathBuf>,
    /// The built program of `fathom.c`.
    fathom: Option<PathBuf>,
    pieces: usize,
    positions: usize,
    passes: usize,
    seed: u64,
}

impl Arguments {
    fn parse() -> Result<Self, Failure> {
        let (mut syzygy, mut tables, mut fathom) = (None, None, None);
        let (mut pieces, mut positions, mut passes, mut seed) = (4, 500_000, 7, 1);
        let mut arguments = std::env::args_os().skip(1);
        while let Some(option) = arguments.next() {
            let option = option.to_str().ok_or("options are text")?.to_owned();
            if option == "--bench" {
                // Cargo's own.
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{option} needs a value"))?;
            let number = || -> Result<u64, Failure> {
                let text = value.to_str().unwrap_or_default();
                text.parse().map_err(|_| format!("{option}: expected a number").into())
            };
            match option.as_str() {
                "--syzygy" => syzygy = Some(PathBuf::from(value)),
                "--tables" => tables = Some(PathBuf::from(value)),
                "--fathom" => fathom = Some(PathBuf::from(value)),
                "--pieces" => pieces = number()? as usize,
                "--positions" => positions = number()? as usize,
                "--passes" => passes = number()? as usize,
                "--seed" => seed = number()?,
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        if positions == 0 || passes == 0 {
            return Err("--positions and --passes must be at least 1".into());
        }
        Ok(Self {
            syzygy: syzygy.ok_or("--syzygy DIR is needed")?,
            tables,
            fathom,
            pieces,
            positions,
            passes,
            seed,
        })
    }
}

fn main() -> ExitCode {
    match Arguments::parse().and_then(|arguments| measure(&arguments)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("chess_probing: {error}");
            ExitCode::from(3)
        }
    }
}

/// Measures and prints one JSON document. Returns the number of values in which
/// a library differs from the first one.
fn measure(arguments: &Arguments) -> Result<usize, Failure> {
    let positions = Positions::random(&arguments.syzygy, arguments.pieces, arguments.positions, arguments.seed)?;
    let mut libraries: Vec<Box<dyn Library>> = vec![Box::new(pyrrhic::Pyrrhic::new(&arguments.syzygy, &positions)?)];
    if let Some(program) = &arguments.fathom {
        libraries.push(Box::new(fathom::Fathom::new(program, &arguments.syzygy, &positions)?));
    }
    if let Some(dir) = &arguments.tables {
        libraries.push(Box::new(petrov::Petrov::new(dir, &positions)?));
    }

    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); libraries.len()];
    let mut values: Vec<Vec<i8>> = vec![Vec::new(); libraries.len()];
    for pass in 0..=arguments.passes {
        for (number, library) in libraries.iter_mut().enumerate() {
            let (time, found) = library.pass()?;
            if pass > 0 {
                times[number].push(time);
            }
            values[number] = found;
        }
    }

    let count = positions.all.len();
    let per_second = |time: Duration| count as f64 / time.as_secs_f64();
    let mut different = 0;
    let mut rows = Vec::new();
    for (number, library) in libraries.iter().enumerate() {
        times[number].sort();
        let differ = (0..count).filter(|&at| values[number][at] != values[0][at]).count();
        different += differ;
        rows.push(format!(
            r#"{{"library":"{}","best_probes_per_second":{:.0},"median_probes_per_second":{:.0},"differ":{differ}}}"#,
            library.name(),
            per_second(times[number][0]),
            per_second(times[number][times[number].len() / 2]),
        ));
    }
    println!(
        r#"{{"pieces":{},"materials":{},"positions":{count},"passes":{},"libraries":[{}]}}"#,
        arguments.pieces,
        positions.materials.len(),
        arguments.passes,
        rows.join(","),
    );
    Ok(different)
}
