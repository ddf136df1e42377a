//! Damage of every kind: found and named, or harmless. Never another answer,
//! a panic, or a loop without end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use petrov_games::{AnyGame, Colour, Game, Games, Material, Rulebook, with_game, with_rulebook};
use petrov_gen::{CodeSource, DEFAULT_LEVEL, Depth, What, write_table};
use petrov_probe::format::{Block, Header, HeaderParts};
use petrov_probe::{
    Backend, BlockCache, BlockFault, DigitOrder, FormatError, Metric, Node, ProbeError, Score, SliceIndex, Table,
    TableError, Tables, table_path,
};
use petrov_tests::Folder;

fn draughts(name: &str) -> AnyGame {
    Games::built_in().get(name).unwrap().clone()
}

/// Chess on sixteen squares.
fn small_chess() -> AnyGame {
    AnyGame::parse("name = \"small\"\nfamily = \"chess\"\nboard = \"4x4\"").unwrap()
}

/// Small tables of values and of distances, of both families: a game, a material and a metric each.
fn victims() -> Vec<(AnyGame, &'static str, Metric)> {
    let small_chess = small_chess();
    vec![
        (draughts("english"), "KvM", Metric::Wld),
        (draughts("english"), "KvM", Metric::Dtw),
        (small_chess.clone(), "KPvK", Metric::Wld),
        (small_chess, "KRvK", Metric::Dtw),
    ]
}

/// All positions of a material.
fn positions<G: Game>(game: &G, material: Material) -> Vec<G::Position> {
    with_rulebook!(game, rulebook => {
        let mut positions = Vec::new();
        for (view, turn) in material.views().iter().zip([Colour::White, Colour::Black]) {
            let (own, opp) = material.armies(*view);
            let index = SliceIndex::new(&**rulebook, &own, &opp, DigitOrder::SOLVING).unwrap();
            for entry in 0..index.len() {
                let placement = index.unrank(entry);
                if rulebook.is_placement(&placement) {
                    positions.push(rulebook.position(&placement, turn));
                }
            }
        }
        positions
    })
}

/// A built slice with one table in it to be damaged, and what probing it says when it is sound.
struct Victim<'g, G: Game> {
    game: &'g G,
    folder: Folder,
    path: PathBuf,
    metric: Metric,
    bytes: Vec<u8>,
    answers: Vec<(G::Position, Score)>,
    entries: Vec<Vec<Score>>,
}

impl<'g, G: Game> Victim<'g, G> {
    fn new(game: &'g G, material: &str, metric: Metric) -> Self {
        let folder = Folder::default();
        folder.build(game, material, &[metric], 2);
        let material: Material = material.parse().unwrap();
        let path = table_path(folder.path(), game.name(), material, metric);
        let tables = folder.tables();
        let prober = tables.prober(game).unwrap();
        let answers: Vec<_> = positions(game, material)
            .into_iter()
            .map(|position| (position, prober.score(&position, metric).unwrap()))
            .collect();
        assert!(answers.len() > 100 && answers.iter().any(|(_, score)| score.is_win()));
        let table = Table::open(&path, &BlockCache::default()).unwrap();
        let entries = (table.header().sides().iter().enumerate())
            .map(|(side, parts)| {
                (0..parts.entries)
                    .map(|entry| table.entry(side, entry).unwrap())
                    .collect()
            })
            .collect();
        drop(prober);
        let bytes = std::fs::read(&path).unwrap();
        Self {
            game,
            folder,
            path,
            metric,
            bytes,
            answers,
            entries,
        }
    }

    /// Puts other bytes in the table's place, opens it in both ways, and compares all that can be read with what
    /// was there before; gives how many look-ups failed.
    fn try_bytes(&self, bytes: &[u8], how: &str) -> u64 {
        std::fs::write(&self.path, bytes).unwrap();
        let mut failures = 0;
        for backend in Backend::ALL {
            let Ok(table) = Table::open_with(&self.path, &BlockCache::default(), backend) else {
                failures += 1;
                continue;
            };
            failures += u64::from(table.verify_checksum().is_err());
            for (side, entries) in self.entries.iter().enumerate() {
                for (entry, expected) in (0..).zip(entries) {
                    match table.entry(side, entry) {
                        Ok(score) => assert_eq!(score, *expected, "side {side}, entry {entry}: {how}"),
                        Err(_) => failures += 1,
                    }
                }
            }
        }
        failures
    }

    /// Looks every `step`-th position up.
    fn probe(&self, backend: Backend, step: usize, how: &str) -> BTreeMap<String, u64> {
        let tables = Tables::open_with(&[self.folder.path()], BlockCache::default(), backend).unwrap();
        let mut errors = BTreeMap::new();
        let prober = match tables.prober(self.game) {
            Ok(prober) => prober,
            Err(error) => return [(error.to_string(), 1)].into(),
        };
        for (position, expected) in self.answers.iter().step_by(step) {
            match prober.score(position, self.metric) {
                Ok(score) => assert_eq!(score, *expected, "{}: {how}", self.game.fen(position)),
                Err(error) => *errors.entry(error.to_string()).or_default() += 1,
            }
        }
        errors
    }

    fn mend(&self) {
        std::fs::write(&self.path, &self.bytes).unwrap();
        assert!(self.probe(Backend::Mmap, 1, "mended").is_empty());
    }
}

fn each_victim(visit: impl Fn(&dyn AnyVictim)) {
    for (game, material, metric) in victims() {
        with_game!(&game, game => visit(&Victim::new(game, material, metric)));
    }
}

/// A victim of any game.
trait AnyVictim {
    fn every_byte(&self);
    fn every_length(&self);
    fn cut_short_while_open(&self);
}

impl<G: Game> AnyVictim for Victim<'_, G> {
    fn every_byte(&self) {
        let name = self.path.display();
        let mut unreadable = 0;
        for at in 0..self.bytes.len() {
            for flip in [0x01, 0xff] {
                let how = format!("{name}: byte {at} changed by {flip:#x}");
                let mut bytes = self.bytes.clone();
                bytes[at] ^= flip;
                // The checksum of the file finds every one, if nothing before does.
                assert!(self.try_bytes(&bytes, &how) > 0, "{how}");
                // What the prober says is worth seeing for some of them.
                if at % 7 == 0 {
                    for backend in Backend::ALL {
                        let errors = self.probe(backend, 37, &how);
                        unreadable += u64::from(!errors.is_empty());
                        for error in errors.keys() {
                            assert!(
                                error.contains(self.game.name()) || error.contains("petrov"),
                                "{how}: {error}"
                            );
                        }
                    }
                }
                if at % 61 == 0 {
                    let report = self.folder.verify(self.game, None, Depth::Checksums);
                    assert!(!report.findings.is_empty(), "{how}");
                }
            }
        }
        assert!(unreadable > 20, "{name}: {unreadable}");
        self.mend();
    }

    fn every_length(&self) {
        let name = self.path.display();
        for length in 0..self.bytes.len() {
            std::fs::write(&self.path, &self.bytes[..length]).unwrap();
            for backend in Backend::ALL {
                let error = Table::open_with(&self.path, &BlockCache::default(), backend).unwrap_err();
                let truncated = matches!(&error, TableError::Format { source: FormatError::Truncated { have, need }, .. }
                    if *have == length as u64 && need > have);
                assert!(truncated, "{name}, {length} bytes: {error}");
            }
            if length % 61 == 0 {
                let errors = self.probe(Backend::Pread, 1, "cut short");
                assert!(errors.keys().all(|error| error.contains("truncated")), "{errors:?}");
                assert!(!errors.is_empty());
            }
        }
        // Longer is no table either.
        for more in [1, 16, 5000] {
            let longer = [self.bytes.as_slice(), &vec![0; more]].concat();
            assert!(self.try_bytes(&longer, "longer") > 0);
        }
        self.mend();
    }

    /// With `pread` a file may become shorter at any time.
    fn cut_short_while_open(&self) {
        for length in (0..self.bytes.len() as u64).step_by(13) {
            self.mend();
            // No cache, so that every look-up reads the file.
            let table = Table::open_with(&self.path, &BlockCache::new(0), Backend::Pread).unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(&self.path).unwrap();
            file.set_len(length).unwrap();
            assert!(matches!(table.verify_checksum(), Err(TableError::Open { .. })));
            let mut failures = 0;
            for (side, entries) in self.entries.iter().enumerate() {
                for (entry, expected) in (0..).zip(entries).step_by(101) {
                    match table.entry(side, entry) {
                        Ok(score) => assert_eq!(score, *expected),
                        Err(TableError::Block {
                            what: BlockFault::Read(why),
                            ..
                        }) => {
                            assert!(why.contains("shorter"), "{why}");
                            failures += 1;
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            }
            let first_block = table.header().header_bytes();
            assert!(failures > 0 || length > u64::from(first_block));
        }
        self.mend();
    }
}

#[test]
fn every_changed_byte_is_found_or_harmless() {
    each_victim(|victim| victim.every_byte());
}

#[test]
fn every_truncation_is_found() {
    each_victim(|victim| victim.every_length());
}

#[test]
fn files_may_become_shorter_while_they_are_read_by_pread() {
    each_victim(|victim| victim.cut_short_while_open());
}

/// The codes of a table as it stores them.
struct Stored(Vec<Vec<u16>>);

impl CodeSource for Stored {
    fn codes(&self, side: usize, range: std::ops::Range<u64>, codes: &mut [u16]) {
        codes.copy_from_slice(&self.0[side][range.start as usize..range.end as usize]);
    }
}

/// Writes a table again in blocks of so many bytes.
fn with_blocks_of(path: &Path, block_bytes: u32) -> Vec<u8> {
    let table = Table::open(path, &BlockCache::default()).unwrap();
    let parts = HeaderParts {
        block_bytes,
        ..table.header().parts().clone()
    };
    let codes = (parts.sides.iter().enumerate())
        .map(|(side, parts)| {
            (0..parts.entries)
                .map(|entry| table.code(side, entry).unwrap())
                .collect()
        })
        .collect();
    drop(table);
    write_table(path, &parts, &Stored(codes), DEFAULT_LEVEL).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn swapped_blocks_are_found_or_harmless() {
    for (game, material, metric) in victims() {
        with_game!(&game, game => {
            let mut victim = Victim::new(game, material, metric);
            let bytes = with_blocks_of(&victim.path, 64);
            victim.bytes = bytes.clone();
            victim.mend();
            let header = Header::parse(&bytes).unwrap();
            let blocks: Vec<Block> = (0..header.sides().len()).flat_map(|side| header.blocks(side).to_vec()).collect();
            assert!(blocks.len() >= 4, "{material}");
            let content = |block: &Block| {
                let start = block.offset as usize;
                &bytes[start..start + block.stored_bytes as usize]
            };
            let (mut found, mut pairs) = (0, 0);
            for first in 0..blocks.len() {
                for second in first + 1..blocks.len().min(first + 9) {
                    // As if the file had been put together in another order.
                    let mut order: Vec<usize> = (0..blocks.len()).collect();
                    order.swap(first, second);
                    let start = header.header_bytes() as usize;
                    let mut swapped = bytes[..start].to_vec();
                    order.iter().for_each(|&at| swapped.extend(content(&blocks[at])));
                    swapped.extend(&bytes[swapped.len()..]);
                    pairs += 1;
                    if swapped == bytes {
                        continue;
                    }
                    found += 1;
                    let how = format!("{material}.{metric}: blocks {first} and {second} swapped");
                    assert!(victim.try_bytes(&swapped, &how) > 0, "{how}");
                    if found % 20 == 0 {
                        assert!(!victim.probe(Backend::Mmap, 1, &how).is_empty(), "{how}");
                    }
                }
            }
            assert!(2 * found > pairs, "{material}: {found} of {pairs} pairs differ");
            victim.mend();
        });
    }
}

/// What lies in a table's place and is not it is an error of every way of probing, never "not in a table".
#[test]
fn handles_name_what_is_in_the_way() {
    type Spoil = (&'static str, fn(&Path, &Path));
    let spoils: [Spoil; 9] = [
        ("cut short", |path, _| {
            let whole = std::fs::read(path).unwrap();
            std::fs::write(path, &whole[..whole.len() / 2]).unwrap();
        }),
        ("empty", |path, _| std::fs::write(path, []).unwrap()),
        ("junk", |path, _| std::fs::write(path, [7; 3000]).unwrap()),
        ("a damaged header", |path, _| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes[40] ^= 1;
            std::fs::write(path, bytes).unwrap();
        }),
        ("a pipe", |path, _| {
            std::fs::remove_file(path).unwrap();
            assert!(
                std::process::Command::new("mkfifo")
                    .arg(path)
                    .status()
                    .unwrap()
                    .success()
            );
        }),
        ("a link to nothing", |path, _| {
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("nowhere", path).unwrap();
        }),
        ("a folder", |path, _| {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        }),
        ("a table of other rules", |path, dir| {
            let other = Folder::with(&petrov_tests::game("pool"), "KKvK", &[Metric::Wld]);
            let from = other.path().join("pool").join(path.strip_prefix(dir).unwrap());
            std::fs::copy(from, path).unwrap();
        }),
        ("another table", |path, dir| {
            std::fs::copy(dir.join("KMvK.wld.petrov"), path).unwrap();
        }),
    ];
    let game = petrov_tests::game("russian");
    let sound = game.parse_fen("W:WKe1,c3:BKa5").unwrap();
    let asked = game.parse_fen("W:WKe1,Kc3:BKa5").unwrap();
    for (what, spoil) in spoils {
        let folder = Folder::with(&game, "3", &[Metric::Wld]);
        let dir = folder.path().join("russian");
        spoil(&dir.join("KKvK.wld.petrov"), &dir);
        // Also where folders lie deeper, are named themselves, or bear another name.
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        let places = [
            ("russian", ""),
            ("deep/russian", ""),
            ("deep/flat", ""),
            ("flat", "flat"),
        ];
        let mut dir = dir;
        for ((place, root), backend) in places
            .iter()
            .flat_map(|place| Backend::ALL.map(|backend| (place, backend)))
        {
            let moved = folder.path().join(place);
            std::fs::rename(&dir, &moved).unwrap();
            dir = moved;
            let path = dir.join("KKvK.wld.petrov");
            let what = format!("{what} in {place}");
            let root = folder.path().join(root);
            let tables = Tables::open_with(&[&root], BlockCache::default(), backend).unwrap();
            let prober = tables.prober(&game).unwrap();
            let mut handle = prober.handle();
            let file = path.display().to_string();
            let names_it = |error: ProbeError| assert!(error.to_string().contains(&file), "{what}: {error}");
            names_it(prober.value(&asked).unwrap_err());
            names_it(handle.value(&asked).unwrap_err());
            names_it(handle.node(&asked).unwrap_err());
            assert!(handle.value(&sound).unwrap().is_some(), "{what}");
            let warm = prober.warm(Metric::Wld, 3, u64::MAX);
            names_it(warm.unwrap_err());
            assert!(prober.warm(Metric::Wld, 2, u64::MAX).is_ok());
            names_it(prober.unpack(3, u64::MAX).unwrap_err());
            // All that does not need it is done first.
            let unpacked = positions(&game, "KMvK".parse().unwrap());
            let needs_captures = |position| matches!(handle.node(position), Ok(Node::NeedsCaptureSearch));
            assert!(!unpacked.iter().any(needs_captures), "{what}");
            assert!(prober.limit(Metric::Wld).admits(2, 1));
        }
    }
    // All that there is in the way: the limit lets it be asked for, and the error is seen.
    let folder = Folder::with(&game, "3", &[Metric::Wld]);
    for (name, _) in folder.files() {
        std::fs::write(folder.path().join(name), b"nothing").unwrap();
    }
    let prober = folder.tables().prober(&game).unwrap();
    assert!(prober.limit(Metric::Wld).admits(2, 1));
    assert!(prober.handle().value(&asked).is_err());
}

/// Files that have each other's names: probing goes by headers and answers as before; `verify` tells.
#[test]
fn swapped_files_are_harmless_and_found() {
    for (game, material, metric) in victims() {
        with_game!(&game, game => {
            let victim = Victim::new(game, material, metric);
            let mut others: Vec<PathBuf> = victim.folder.files().into_iter()
                .map(|(name, _)| victim.folder.path().join(name))
                .filter(|path| *path != victim.path)
                .collect();
            others.truncate(3);
            assert!(!others.is_empty());
            for other in &others {
                let aside = victim.folder.path().join("aside");
                let swap = || {
                    std::fs::rename(other, &aside).unwrap();
                    std::fs::rename(&victim.path, other).unwrap();
                    std::fs::rename(&aside, &victim.path).unwrap();
                };
                swap();
                for backend in Backend::ALL {
                    let errors = victim.probe(backend, 1, "names swapped");
                    assert!(errors.is_empty(), "{errors:?}");
                }
                let report = victim.folder.verify(game, None, Depth::Checksums);
                let misnamed = report.findings.iter().filter(|finding| finding.what.starts_with("holds ")).count();
                assert_eq!(misnamed, 2, "{:?}", report.findings);
                swap();
            }
        });
    }
}

/// Gives a table's header another version of the format, with its checksum right.
fn of_version(bytes: &[u8], version: u16) -> Vec<u8> {
    let header_bytes = Header::parse(bytes).unwrap().header_bytes() as usize;
    let mut bytes = bytes.to_vec();
    bytes[8..10].copy_from_slice(&version.to_le_bytes());
    let sum = crc32(&bytes[..header_bytes - 4]);
    bytes[header_bytes - 4..header_bytes].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// CRC-32 as in docs/format.md, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    })
}

#[test]
fn a_folder_of_another_version_is_named() {
    for (game, material, metric) in victims() {
        with_game!(&game, game => {
            let victim = Victim::new(game, material, metric);
            let files = victim.folder.files();
            for version in [0, 2, 0x0100, u16::MAX] {
                for (name, bytes) in &files {
                    std::fs::write(victim.folder.path().join(name), of_version(bytes, version)).unwrap();
                }
                for backend in Backend::ALL {
                    let errors = victim.probe(backend, 1, "of another version");
                    let right = errors.iter().all(|(error, _)| error.contains(&format!("version {version},")));
                    assert!(right && !errors.is_empty(), "{errors:?}");
                }
                let report = victim.folder.verify(game, None, Depth::Every);
                assert!(report.findings.iter().any(|finding| finding.what.contains("version")));
            }
        });
    }
}

/// A folder that holds another game's tables under this game's names.
#[test]
fn a_folder_of_another_game_is_foreign() {
    let games = Games::built_in();
    let (russian, english) = (games.draughts("russian").unwrap(), games.draughts("english").unwrap());
    let folder = Folder::with(russian, "3", &[Metric::Wld]);
    let renamed = folder.path().join("english");
    std::fs::rename(folder.path().join("russian"), &renamed).unwrap();
    let tables = folder.tables();
    let prober = tables.prober(english).unwrap();
    for position in positions(english, "KvM".parse().unwrap()) {
        match prober.value(&position) {
            // Decided without any table.
            Ok(value) => assert!(
                english.legal_moves(&position).iter().all(|played| {
                    let after = english.after(&position, played);
                    after.men[after.turn as usize] | after.kings[after.turn as usize] == 0
                }),
                "{}: {value}",
                english.fen(&position)
            ),
            Err(error) => assert!(matches!(error, ProbeError::Foreign { .. }), "{error}"),
        }
    }
    // And under its own rules it is still what it was.
    assert!(tables.prober(russian).unwrap().has("KvM".parse().unwrap(), Metric::Wld));
    let report = folder.verify(english, Some(What::Pieces(2)), Depth::Checksums);
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.what == "a table of other rules")
    );
}

/// Checksums made right over wrong distances: a best line ends all the same, in an error at worst.
#[test]
fn lines_end_whatever_tables_say() {
    let circles = AtomicU32::new(0);
    for (game, material) in [(draughts("english"), "KKvK"), (small_chess(), "KRvK")] {
        with_game!(&game, game => {
            let victim = Victim::new(game, material, Metric::Dtw);
            let table = Table::open(&victim.path, &BlockCache::default()).unwrap();
            let parts = table.header().parts().clone();
            drop(table);
            // Every entry of a side the same, so that any move seems as good as any other; and a position that
            // White always wins and Black always loses.
            let last = |side: usize| parts.sides[side].stored as u16 - 1;
            let first = |side: usize, is: fn(Score) -> bool| {
                let palette = &parts.sides[side].palette[..parts.sides[side].stored as usize];
                palette.iter().position(|entry| is(entry.score())).unwrap() as u16
            };
            let mut pairs: Vec<[u16; 2]> = (0..=last(0)).map(|code| [code, code.min(last(1))]).collect();
            pairs.push([first(0, Score::is_win), first(1, Score::is_loss)]);
            for pair in pairs {
                let codes = (parts.sides.iter().zip(pair))
                    .map(|(side, code)| vec![code; side.entries as usize])
                    .collect();
                write_table(&victim.path, &parts, &Stored(codes), 1).unwrap();
                let tables = victim.folder.tables();
                let prober = tables.prober(game).unwrap();
                // One circle is enough: it takes thousands of plies to be sure.
                for (position, _) in victim.answers.iter().step_by(victim.answers.len() / 50) {
                    match prober.line(position) {
                        Ok(line) => assert!(line.len() < 20_000),
                        Err(ProbeError::Circle { .. }) => {
                            circles.fetch_add(1, Relaxed);
                            break;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
    }
    assert!(circles.into_inner() > 0);
}
