//! How fast a run is, and where its time and bytes go.

use std::io::Write;
use std::time::{Duration, Instant};

use petrov_cli::failure::Failure;
use petrov_cli::generate::GenDocument;
use petrov_cli::output::{Output, complain};
use petrov_cli::words::{self, Columns};
use petrov_gen::{RankReport, SpreadReport};
use serde::Serialize;

/// The answer of `gen --json`: that of `petrov gen`, and what each rank has done.
#[derive(Serialize)]
pub(crate) struct SpreadDocument<'a> {
    #[serde(flatten)]
    build: GenDocument,
    ranks: Vec<RankDocument<'a>>,
}

#[derive(Serialize)]
struct RankDocument<'a> {
    rank: usize,
    host: &'a str,
    threads: usize,
    positions: u64,
    positions_per_second: f64,
    cpu_seconds: f64,
    communication_seconds: f64,
    waiting_seconds: f64,
    sent_bytes: u64,
    received_bytes: u64,
    /// `null` if it has solved none.
    bytes_per_position: Option<f64>,
    peak_memory_bytes: u64,
}

impl<'a> SpreadDocument<'a> {
    pub(crate) fn new(report: &'a SpreadReport) -> Self {
        let seconds = report.build.wall_seconds;
        let ranks = report.ranks.iter().map(|rank| RankDocument {
            rank: rank.rank,
            host: &rank.host,
            threads: rank.threads,
            positions: rank.positions,
            positions_per_second: share(rank.positions as f64, seconds),
            cpu_seconds: rank.cpu_seconds,
            communication_seconds: rank.communication_seconds,
            waiting_seconds: rank.waiting_seconds,
            sent_bytes: rank.sent_bytes,
            received_bytes: rank.received_bytes,
            bytes_per_position: (rank.positions > 0).then(|| rank.sent_bytes as f64 / rank.positions as f64),
            peak_memory_bytes: rank.peak_memory_bytes,
        });
        Self {
            build: GenDocument::new(&report.build),
            ranks: ranks.collect(),
        }
    }
}

/// `part` of `whole`; 0 of nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// What several ranks have done together.
#[derive(Default)]
struct Sum {
    ranks: usize,
    threads: usize,
    positions: u64,
    cpu: f64,
    communication: f64,
    waiting: f64,
    sent: u64,
    received: u64,
    memory: u64,
}

impl Sum {
    fn of<'r>(ranks: impl IntoIterator<Item = &'r RankReport>) -> Self {
        let mut sum = Self::default();
        for rank in ranks {
            sum.ranks += 1;
            sum.threads += rank.threads;
            sum.positions += rank.positions;
            sum.cpu += rank.cpu_seconds;
            sum.communication += rank.communication_seconds;
            sum.waiting += rank.waiting_seconds;
            sum.sent += rank.sent_bytes;
            sum.received += rank.received_bytes;
            sum.memory += rank.peak_memory_bytes;
        }
        sum
    }

    fn bytes_per_position(&self) -> String {
        if self.positions == 0 {
            return "-".to_owned();
        }
        format!("{:.2}", self.sent as f64 / self.positions as f64)
    }

    /// Of the processor time, that of the threads that communicate.
    fn communicating(&self) -> String {
        percent(self.communication, self.cpu + self.communication)
    }

    /// Of the time by the clock, in which there was nothing to do.
    fn waited(&self, wall_seconds: f64) -> String {
        percent(self.waiting, wall_seconds * self.ranks as f64)
    }
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", 100.0 * share(part, whole))
}

/// A row for each rank and one for all, for people.
pub(crate) struct RankTable<'a>(pub(crate) &'a SpreadReport);

impl RankTable<'_> {
    /// Writes it, if there is more to say than of a single rank.
    pub(crate) fn write(&self, output: &mut Output) -> Result<(), Failure> {
        let report = self.0;
        let mut columns = Columns::new(&[
            " rank",
            "host",
            " threads",
            " positions",
            " M/s",
            " cpu s",
            " communicating",
            " waiting",
            " sent",
            " received",
            " sent bytes each",
            " memory",
        ]);
        let seconds = report.build.wall_seconds;
        let mut row = |rank: String, host: &str, sum: &Sum| {
            columns.row(vec![
                rank,
                host.to_owned(),
                sum.threads.to_string(),
                words::thousands(sum.positions),
                format!("{:.2}", share(sum.positions as f64 / 1e6, seconds)),
                format!("{:.1}", sum.cpu),
                sum.communicating(),
                sum.waited(seconds),
                words::bytes(sum.sent),
                words::bytes(sum.received),
                sum.bytes_per_position(),
                words::bytes(sum.memory),
            ]);
        };
        for rank in &report.ranks {
            row(rank.rank.to_string(), &rank.host, &Sum::of([rank]));
        }
        row("all".to_owned(), "", &Sum::of(&report.ranks));
        write!(output, "\n{columns}")?;
        Ok(())
    }
}

/// How often a line is written.
const LINE: Duration = Duration::from_secs(4);

/// A line every few seconds about a run under way.
///
/// Always lines, never a bar: what ranks say reaches a terminal only through mpirun.
pub(crate) struct Live {
    talks: bool,
    start: Instant,
    last: Instant,
}

impl Live {
    /// From now on; says nothing unless it `talks`.
    pub(crate) fn new(talks: bool) -> Self {
        let start = Instant::now();
        Self {
            talks,
            start,
            last: start,
        }
    }

    /// Says how far the run is, if it is time to.
    pub(crate) fn show(&mut self, report: &SpreadReport) {
        // Reports come every two seconds, more or less.
        if self.talks && self.last.elapsed() + Duration::from_millis(500) >= LINE {
            self.last = Instant::now();
            complain(&line(report, self.start.elapsed().as_secs_f64()));
        }
    }
}

/// A run after so many seconds, on one line.
fn line(report: &SpreadReport, seconds: f64) -> String {
    let sum = Sum::of(&report.ranks);
    // Steps are what the plan counts, and of an even kind, so they say best how long it takes.
    let rate = report.done as f64 / seconds;
    let left = report.total.saturating_sub(report.done) as f64;
    let eta = if report.done > 0 {
        words::duration(left / rate)
    } else {
        "unknown".to_owned()
    };
    let step = match report.step.as_str() {
        "" => "waiting to begin",
        step => step,
    };
    format!(
        "{} done, {:.2} M positions/s, {} bytes sent each, {} communicating, {} waiting, ETA {eta}, {step}",
        percent(report.done as f64, report.total as f64),
        share(sum.positions as f64 / 1e6, seconds),
        sum.bytes_per_position(),
        sum.communicating(),
        sum.waited(seconds),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: usize, positions: u64, sent_bytes: u64) -> RankReport {
        RankReport {
            rank,
            host: format!("n{rank}"),
            threads: 2,
            positions,
            cpu_seconds: 9.0,
            communication_seconds: 1.0,
            waiting_seconds: 2.5,
            sent_bytes,
            ..RankReport::default()
        }
    }

    #[test]
    fn a_line_adds_the_ranks() {
        let report = SpreadReport {
            ranks: vec![rank(0, 30_000_000, 30_000_000), rank(1, 10_000_000, 20_000_000)],
            done: 25,
            total: 100,
            step: "solving KKvKK".to_owned(),
            ..SpreadReport::default()
        };
        assert_eq!(
            line(&report, 10.0),
            "25 % done, 4.00 M positions/s, 1.25 bytes sent each, 10 % communicating, 25 % waiting, ETA 30 s, solving KKvKK"
        );
        assert!(line(&SpreadReport::default(), 1.0).starts_with("0 % done, 0.00 M positions/s, - bytes sent each"));
    }

    #[test]
    fn a_rank_without_positions_has_no_bytes_each() {
        let report = SpreadReport {
            ranks: vec![rank(0, 0, 7), rank(1, 2, 7)],
            ..SpreadReport::default()
        };
        let document = serde_json::to_value(SpreadDocument::new(&report)).unwrap();
        assert_eq!(document["ranks"][0]["bytes_per_position"], serde_json::Value::Null);
        assert_eq!(document["ranks"][1]["bytes_per_position"], 3.5);
        assert_eq!(document["positions"], 0);
    }
}
