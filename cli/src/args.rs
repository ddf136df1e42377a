//! The command line of `petrov`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use petrov_gen::What;
use petrov_probe::{Backend, Metric};

use crate::failure::Failure;
use crate::options::{GLOBAL, MOST_THREADS, Shared, TablesOptions, VERSION, WhatOptions, metric};
use crate::output::Output;
use crate::words;

/// Builds endgame tables of draughts and chess games and looks positions up in them.
#[derive(Parser)]
#[command(
    name = "petrov",
    version = VERSION.as_str(),
    max_term_width = 100,
    after_help = "Examples:
  petrov gen russian 4                           build all tables up to four pieces
  petrov probe russian W:WKc3,Kd4,Ke5:BKh4       look a position up
  petrov line russian W:WKc3,Kd4,Ke5:BKh4        show a best line to the end
  petrov gen chess 4 --metric wld,dtw,dtz        the same for chess
  petrov probe chess \"8/8/8/8/8/2k5/8/K6Q w - - 0 1\"

Exit status: 0 done; 1 the answer is negative; 2 wrong usage or input; 3 something broke."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) shared: Shared,
    /// How tables are read: mmap (memory maps), or pread (safe if files may be cut short meanwhile, or
    /// lie on a disk or network that can fail) [default: mmap]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "HOW", value_parser = backend)]
    pub(crate) read: Option<Backend>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the known games
    #[command(after_help = "Examples:
  petrov games
  petrov games --json
  petrov games --markdown > docs/games.md        the page with every axis of every game
  petrov --rules my-game.toml games")]
    Games(GamesOptions),
    /// Print the rules of a game, axis by axis
    #[command(after_help = "Examples:
  petrov rules italian
  petrov rules russian --toml > my-game.toml     a start for rules of your own
  petrov rules e-chess --json")]
    Rules(RulesOptions),
    /// Count move sequences from the start position or another one
    #[command(after_help = "Examples:
  petrov perft russian 8
  petrov perft english 5 B:WK15,18:B3,K9
  petrov perft chess 3 \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"
  petrov perft russian 3 - --json < positions.txt")]
    Perft(PerftOptions),
    /// List the legal moves of a position
    #[command(after_help = "Examples:
  petrov moves russian W:WKc3,Kd4:BKh8
  petrov moves brazilian B:Wc3,e3:Bd4,Kh8 --json
  petrov moves chess \"8/P7/8/8/8/2k5/8/K7 w - - 0 1\"
  petrov moves english - --json < positions.txt")]
    Moves(PositionOptions),
    /// Say what building tables would take
    #[command(after_help = "Examples:
  petrov plan russian 6
  petrov plan english KKKvKK --metric wld
  petrov plan chess KRPvKR
  petrov plan russian 5 --json
  petrov plan russian 8 --metric wld --ranks 64 --threads 8 --memory 16G")]
    Plan(PlanOptions),
    /// Build the tables that are missing, with those they depend on
    #[command(after_help = "Examples:
  petrov gen russian 4
  petrov gen english KKKvKK --metric wld
  petrov gen chess 4 --metric wld,dtw,dtz
  petrov gen russian 6 --metric wld --threads 8 --memory 16G --tables /big/disk

Interrupted work goes on where it stopped: finished tables are kept, and half a table is never seen.")]
    Gen(GenOptions),
    /// Count wins, draws and losses, and show the longest wins
    #[command(after_help = "Examples:
  petrov stats russian 4
  petrov stats chess KBNvK
  petrov stats english 3 --json")]
    Stats(WhatOptions),
    /// Look a position up: its value, distances, and every move ranked
    #[command(after_help = "Examples:
  petrov probe russian W:WKc3,Kd4,Ke5:BKh4
  petrov probe chess \"8/8/8/8/8/2k5/8/K6Q w - - 0 1\" --json
  petrov probe russian - --json < positions.txt

With - positions are read from standard input, one a line; each line is answered in its turn, a bad one
with an error, and the exit status is 0. Values are those without the fifty-move rule; where chess tables
of dtz are there, `value50` and what is said on screen take the rule and the FEN's clock into account.")]
    Probe(PositionOptions),
    /// Show one best line of a position to the end of the game
    #[command(after_help = "Examples:
  petrov line russian W:WKc3,Kd4,Ke5:BKh4
  petrov line chess \"8/8/8/8/8/2k5/8/K6Q w - - 0 1\" --json")]
    Line(LineOptions),
    /// Mark the moves of game files that changed the result, with the better ones
    #[command(after_help = "Examples:
  petrov annotate russian games.pdn
  petrov annotate chess games.pgn --json
  petrov annotate russian - < games.pdn

Every move of a game file (PDN for draughts, PGN for chess) is replayed. Positions that the tables do not
know are passed over. Where tables know of the fifty-move rule, moves that lose or give away a win by it
are marked, too.")]
    Annotate(AnnotateOptions),
    /// Check tables: checksums, and every value against the rules
    #[command(after_help = "Examples:
  petrov verify russian                          every table that is there
  petrov verify russian 4 --sample 10000         ten thousand positions of each
  petrov verify chess KRPvK --checksums          checksums only

Values are derived again from the positions that legal moves lead to. Nothing of the solver is
used, but move generation and index are: an error in these is not seen. A table is `proved`
if its distances are right, or if its values agree with proved distances. Without these, values
can only be `consistent` with each other. Exit status 1 if anything is wrong.")]
    Verify(VerifyOptions),
    /// Check statements about draw rules and endings against tables
    #[command(after_help = "Examples:
  petrov claims                                  every statement known, tables up to four pieces
  petrov claims russian
  petrov claims --id ru-3v1-15
  petrov claims russian --id ru-3v1-road --exceptions drawn-or-not.txt
  petrov claims --file mine.toml                 statements of your own, see docs/claims.md
  petrov claims --id en-3v2-40 --max-pieces 5 --json
  petrov claims --max-pieces 5 --document docs   write docs/draw-rules.md with its pictures

Tables that are missing are built first. A statement `holds`, `holds-except` (fewer than half of the
positions asked about are exceptions), `fails`, is `empty` (no position was asked about) or is
`not-evaluated` (more pieces are needed than --max-pieces allows). Of several longest wins the one is shown
whose FEN comes first in alphabetical order. Exit status 1 if a statement has an exception.")]
    Claims(ClaimsOptions),
    /// List the checksums of all tables, or compare the tables with a list
    #[command(after_help = "Examples:
  petrov checksums > BLAKE3SUMS                  a list of all tables in the folder
  petrov checksums --check BLAKE3SUMS            is every table of the list there, and the same?
  petrov checksums --check tables/BLAKE3SUMS --ignore-missing
  b3sum --check BLAKE3SUMS                       the same without Petrov, in the folder of tables

A list has the BLAKE3 hash and the path of each table. Equal tables have equal bytes, whoever built them. The
repository's tables/BLAKE3SUMS says what the bytes must be (tables/README.md: of which tables).
Exit status 1 if a table differs, is damaged, or is missing.")]
    Checksums(ChecksumsOptions),
    /// Print the header of a table file
    #[command(after_help = "Examples:
  petrov info tables/russian/KKKvK.dtw.petrov
  petrov info tables/chess/KRvK.wld.petrov --json")]
    Info(InfoOptions),
    /// Measure speed
    #[command(
        subcommand,
        after_help = "Examples:
  petrov bench probe
  petrov bench probe --game english --pieces 4 --metric dtw --json"
    )]
    Bench(BenchCommand),
    /// Print completions for a shell
    #[command(after_help = "Examples:
  petrov completions bash > ~/.local/share/bash-completion/completions/petrov
  petrov completions zsh > ~/.zfunc/_petrov")]
    Completions(CompletionsOptions),
}

#[derive(Args)]
pub(crate) struct GamesOptions {
    /// Print a page in Markdown with every axis of every game
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct RulesOptions {
    /// Name of a game, see `petrov games`
    pub(crate) game: String,
    /// Print a rule file, as --rules reads it
    #[arg(long, conflicts_with = "json")]
    pub(crate) toml: bool,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PerftOptions {
    /// Name of a game, see `petrov games`
    pub(crate) game: String,
    /// Plies; every depth from 1 is counted
    #[arg(value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) depth: u8,
    /// Position such as W:WKa1,b2:BKh8, in chess a FEN, or - for one a line from standard input
    /// [default: the start position]
    pub(crate) fen: Option<String>,
    /// Answer with one JSON document (for each position)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PositionOptions {
    /// Name of a game, see `petrov games`
    pub(crate) game: String,
    /// Position such as W:WKa1,b2:BKh8, in chess a FEN, or - for one a line from standard input
    pub(crate) fen: String,
    /// Answer with one JSON document (for each position)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct LineOptions {
    /// Name of a game, see `petrov games`
    pub(crate) game: String,
    /// Position such as W:WKa1,b2:BKh8, in chess a FEN
    pub(crate) fen: String,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct AnnotateOptions {
    /// Name of a game, see `petrov games`
    pub(crate) game: String,
    /// Games in PDN or PGN, or - for standard input
    pub(crate) file: PathBuf,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PlanOptions {
    #[command(flatten)]
    pub(crate) tables: TablesOptions,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Plan for so many ranks of petrov-cluster instead of one process; --threads and --memory are then
    /// those of each rank
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_RANKS))]
    pub(crate) ranks: Option<u32>,
    /// Most memory of each rank, such as 16G, as for `petrov gen` [default: what is available]
    #[arg(long, value_name = "SIZE", requires = "ranks", value_parser = words::parse_bytes)]
    pub(crate) memory: Option<u64>,
}

/// More ranks than any cluster has room for.
const MOST_RANKS: i64 = 1 << 20;

#[derive(Args)]
pub(crate) struct GenOptions {
    #[command(flatten)]
    pub(crate) tables: TablesOptions,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Most memory to use, such as 16G: K, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024
    /// [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = words::parse_bytes)]
    pub(crate) memory: Option<u64>,
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// Game, as listed by `petrov games`
    pub(crate) game: String,
    /// Number of pieces, or one material with all it depends on [default: every table there is]
    pub(crate) what: Option<What>,
    /// Look at so many positions of each table, spread over it, instead of at all; counts in headers are then not compared
    #[arg(long, value_name = "N", conflicts_with = "checksums", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample: Option<u64>,
    /// Look at checksums only
    #[arg(long)]
    pub(crate) checksums: bool,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u16).range(..1025))]
    pub(crate) threads: u16,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ClaimsOptions {
    /// Name of a game, see `petrov games` [default: all that statements are about]
    pub(crate) game: Option<String>,
    /// Evaluate this statement only; may be repeated
    #[arg(long, value_name = "ID")]
    pub(crate) id: Vec<String>,
    /// File of statements to evaluate instead of the built-in ones; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// Most pieces of any table, kings included; what needs more is not evaluated
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=12))]
    pub(crate) max_pieces: u8,
    /// Write the FEN of every exception to a file, one a line; if there are several answers, each
    /// begins with a line `# ID GAME`
    #[arg(long, value_name = "FILE")]
    pub(crate) exceptions: Option<PathBuf>,
    /// Write a page `draw-rules.md` about it into a folder, and its pictures into `draw-rules`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["exceptions", "json"])]
    pub(crate) document: Option<PathBuf>,
    /// Worker threads [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Option<u16>,
    /// Most memory for building tables, as for `petrov gen` [default: what is available]
    #[arg(long, value_name = "SIZE", value_parser = words::parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ChecksumsOptions {
    /// A list to compare the tables with, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Compare only tables that are there
    #[arg(long, requires = "check")]
    pub(crate) ignore_missing: bool,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct InfoOptions {
    /// A table
    pub(crate) file: PathBuf,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure probing on random positions and on positions from games
    #[command(after_help = "Examples:
  petrov bench probe
  petrov bench probe --game english --pieces 4 --metric dtw --seconds 5
  petrov bench probe --threads 1,2,4 --unpack --json

Positions are found beforehand. Random ones: every placement of so many pieces is as likely as any other.
Those from games: the program plays endings against itself, from positions with two pieces more, and what its
search comes to with at most so many pieces is probed in the order in which it came to it.

cold      every look-up decodes its block, but for the last few that a thread came back to
warm      half of the cache was filled by decoding ahead, and every other block was met once
unpacked  values lie in memory, and a probe is one look-up (with --unpack)
disk      files are taken out of the system's memory before every 32 probes

Speed and latencies are measured in separate passes; hits are probes that decoded nothing.")]
    Probe(BenchProbeOptions),
}

#[derive(Args)]
pub(crate) struct BenchProbeOptions {
    /// Name of a game, see `petrov games`
    #[arg(long, default_value = "russian")]
    pub(crate) game: String,
    /// Pieces of each position [default: the most that the tables have]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=12))]
    pub(crate) pieces: Option<u8>,
    /// Tables to probe: wld, dtw or dtz
    #[arg(long, default_value = "wld", value_parser = metric)]
    pub(crate) metric: Metric,
    /// Threads that probe at the same time; several numbers with commas are measured one after the other
    #[arg(long, value_name = "N", default_value = "1", value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Vec<u16>,
    /// Seconds of each measurement
    #[arg(long, value_name = "N", default_value = "2", value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Megabytes (2^20) of the cache of the warm rows
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    pub(crate) cache: u64,
    /// Random positions only, none from games
    #[arg(long)]
    pub(crate) random: bool,
    /// Also with values unpacked in memory, where a probe is one look-up (wld only)
    #[arg(long)]
    pub(crate) unpack: bool,
    /// Answer with one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsOptions {
    /// The shell
    pub(crate) shell: Shell,
}

fn backend(text: &str) -> Result<Backend, String> {
    Backend::ALL
        .into_iter()
        .find(|backend| backend.name() == text)
        .ok_or_else(|| "expected mmap or pread".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    const LONGEST: f64 = 3600.0;
    text.parse()
        .ok()
        .filter(|seconds| (0.01..=LONGEST).contains(seconds))
        .ok_or_else(|| format!("expected a number from 0.01 to {LONGEST}"))
}

/// Prints the completions of a shell.
pub(crate) fn completions(options: &CompletionsOptions, output: &mut Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "petrov", &mut script);
    output.write_all(&script)?;
    Ok(())
}
