//! Blocks of tables with all checksums made right, as in a hostile file. The first byte chooses a sound
//! table; from the rest its blocks are taken, each with a length of two bytes before it, and the last one for all
//! that is left. Then every entry is read, some positions are probed, and a line is played.
#![no_main]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use petrov_games::{AnyGame, Game, Games, with_game};
use petrov_gen::{BuildOptions, Progress, What, build, plan};
use petrov_probe::format::{BlockSum, Header, HeaderParts, file_checksum};
use petrov_probe::{Backend, BlockCache, Metric, Prober, Table, Tables};

/// A sound table, the game it is of, and a position of it.
struct Base {
    game: AnyGame,
    folder: PathBuf,
    path: PathBuf,
    parts: HeaderParts,
    fens: &'static [&'static str],
}

/// One process, one folder.
static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a temporary folder can be made"));

static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| {
    let games = Games::built_in();
    let small_chess = AnyGame::parse("name = \"small\"\nfamily = \"chess\"\nboard = \"4x4\"").expect("a rule file");
    let english = games.get("english").expect("a built-in game").clone();
    let draughts: &[&str] = &["W:WK1:B9", "B:WK1:B9", "B:WK30:B12"];
    let chess: &[&str] = &["4/1k2/4/K2R w - - 0 1", "2k1/4/1K1R/4 b - - 0 1"];
    let mut bases = Vec::new();
    for (game, material, metric, fens) in [
        (&english, "KvM", Metric::Wld, draughts),
        (&english, "KvM", Metric::Dtw, draughts),
        (&small_chess, "KRvK", Metric::Wld, chess),
        (&small_chess, "KRvK", Metric::Dtw, chess),
        (&small_chess, "KRvK", Metric::Dtz, chess),
    ] {
        let folder = FOLDER.path().join(bases.len().to_string());
        let options = BuildOptions {
            metrics: vec![metric],
            dirs: vec![folder.clone()],
            threads: 1,
            memory: None,
        };
        let what: What = material.parse().expect("a material");
        with_game!(game, game => {
            let plan = plan(game, what, &options).expect("it can be planned");
            build(game, &plan, &options, &Progress::default()).expect("it can be built");
        });
        let path = folder.join(game.name()).join(format!("{material}.{metric}.petrov"));
        let table = Table::open(&path, &BlockCache::new(0)).expect("a sound table");
        let parts = HeaderParts {
            // Several blocks, and more than one to get wrong.
            block_bytes: 128,
            ..table.header().parts().clone()
        };
        bases.push(Base {
            game: game.clone(),
            folder,
            path,
            parts,
            fens,
        });
    }
    bases
});

/// The blocks that some bytes stand for.
fn blocks(mut bytes: &[u8], parts: &HeaderParts) -> Vec<Vec<Vec<u8>>> {
    let mut sides = Vec::new();
    for side in &parts.sides {
        let count = side.block_count(parts.block_bytes);
        let mut list = Vec::new();
        for _ in 0..count {
            let length = match bytes {
                [low, high, rest @ ..] => {
                    bytes = rest;
                    usize::from(u16::from_le_bytes([*low, *high]) % 160)
                }
                _ => 0,
            };
            let (block, rest) = bytes.split_at(length.min(bytes.len()));
            bytes = rest;
            // No block is empty.
            list.push(if block.is_empty() { vec![0] } else { block.to_vec() });
        }
        sides.push(list);
    }
    sides
}

fn look_up<G: Game>(game: &G, prober: &Prober<G>, fens: &[&str]) {
    for fen in fens {
        if let Ok(position) = game.parse_fen(fen) {
            let _ = prober.root(&position);
            let _ = prober.line(&position);
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, rest)) = bytes.split_first() else {
        return;
    };
    let bases = &*BASES;
    let base = &bases[usize::from(choice & 0x7f) % bases.len()];
    let blocks = blocks(rest, &base.parts);
    let sums: Vec<Vec<BlockSum>> = (blocks.iter())
        .map(|list| list.iter().map(|block| BlockSum::of(block)).collect())
        .collect();
    let Ok(header) = Header::new(base.parts.clone(), &sums) else {
        return;
    };
    let mut file = header.encode();
    blocks.iter().flatten().for_each(|block| file.extend(block));
    let sum = file_checksum(&file[..]).expect("memory can be read");
    file.extend(sum);
    // Into the same file: nobody has it mapped any more.
    let written = fs::File::create(&base.path).and_then(|mut place| place.write_all(&file));
    written.expect("the folder takes a file");
    let backend = if choice & 0x80 == 0 {
        Backend::Mmap
    } else {
        Backend::Pread
    };
    {
        let table = Table::open_with(&base.path, &BlockCache::default(), backend).expect("its header is right");
        table.verify_checksum().expect("its checksum is right");
        for (side, parts) in table.header().sides().iter().enumerate() {
            for entry in (0..parts.entries).step_by(61) {
                let _ = table.entry(side, entry);
            }
            for block in 0..table.header().blocks(side).len() as u64 {
                let _ = table.read_codes::<u8>(side, block, &mut Vec::new());
                let _ = table.read_codes::<u16>(side, block, &mut Vec::new());
            }
        }
    }
    // Lines are long where tables lie.
    if bytes.len().is_multiple_of(16) {
        let tables = Tables::open_with(&[&base.folder], BlockCache::default(), backend).expect("the folder is there");
        with_game!(&base.game, game => look_up(game, &tables.prober(game).expect("headers are right"), base.fens));
    }
});
