//! `verify` passes sound tables and finds every error planted in them.

use petrov_games::Games;
use petrov_games::draughts::{Engine, Game};
use petrov_gen::{CodeSource, DEFAULT_LEVEL, Depth, FREE, Progress, Verdict, What, verify, write_table};
use petrov_probe::{BlockCache, DigitOrder, Material, Metric, SliceIndex, Table};
use petrov_tests::Folder;

fn check(game: &Game, what: Option<What>, dir: &std::path::Path, depth: Depth) -> petrov_gen::VerifyReport {
    verify(game, what, &[dir.to_owned()], depth, 0, &Progress::default()).unwrap()
}

#[test]
fn sound_tables_are_proved() {
    let games = Games::built_in();
    for (name, pieces) in [
        ("russian", 3),
        ("italian", 3),
        ("english-giveaway", 3),
        ("frisian", 2),
        ("turkish", 2),
    ] {
        let game = games.draughts(name).unwrap();
        let folder = Folder::default();
        folder.build(game, &pieces.to_string(), &Metric::ALL, 2);
        let report = check(game, Some(What::Pieces(pieces)), folder.path(), Depth::Every);
        assert!(report.findings.is_empty(), "{name}: {:?}", report.findings.first());
        assert!(
            report.tables.iter().all(|table| table.verdict == Verdict::Proved),
            "{name}"
        );
        let sampled = check(game, None, folder.path(), Depth::Sample(100));
        assert!(sampled.findings.is_empty() && sampled.tables.iter().all(|table| table.verdict == Verdict::Sampled));
    }
}

#[test]
fn values_alone_are_only_consistent() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let folder = Folder::default();
    folder.build(game, "2", &[Metric::Wld], 2);
    let report = check(game, None, folder.path(), Depth::Every);
    assert!(report.findings.is_empty());
    assert!(report.tables.iter().all(|table| table.verdict == Verdict::Consistent));
    let intact = check(game, None, folder.path(), Depth::Checksums);
    assert!(intact.tables.iter().all(|table| table.verdict == Verdict::Intact));
}

#[test]
fn missing_damaged_and_foreign_tables_are_findings() {
    let games = Games::built_in();
    let (russian, english) = (games.draughts("russian").unwrap(), games.draughts("english").unwrap());
    let folder = Folder::default();
    folder.build(russian, "2", &[Metric::Wld], 2);
    let path = |name: &str| folder.path().join("russian").join(name);
    std::fs::remove_file(path("KvM.wld.petrov")).ok();
    std::fs::remove_file(path("MvM.wld.petrov")).unwrap();
    let mut bytes = std::fs::read(path("KvK.wld.petrov")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(path("KvK.wld.petrov"), bytes).unwrap();
    let other = Folder::default();
    other.build(english, "2", &[Metric::Wld], 2);
    std::fs::copy(other.path().join("english/KvM.wld.petrov"), path("KvM.wld.petrov")).unwrap();
    let report = check(russian, Some(What::Pieces(2)), folder.path(), Depth::Checksums);
    let said: Vec<&str> = report.findings.iter().map(|finding| finding.what.as_str()).collect();
    assert!(said.iter().any(|what| what.contains("missing")), "{said:?}");
    assert!(said.iter().any(|what| what.contains("checksum")), "{said:?}");
    assert!(said.iter().any(|what| what.contains("other rules")), "{said:?}");
}

/// The codes of a table with one of them changed.
struct Planted {
    sides: Vec<Vec<u16>>,
}

impl CodeSource for Planted {
    fn codes(&self, side: usize, range: std::ops::Range<u64>, codes: &mut [u16]) {
        codes.copy_from_slice(&self.sides[side][range.start as usize..range.end as usize]);
    }
}

#[test]
fn every_planted_error_is_found() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let Engine::Narrow(generator) = game.engine() else {
        panic!("a board of 36 bits")
    };
    let folder = Folder::default();
    folder.build(game, "3", &[Metric::Wld, Metric::Dtw], 2);
    let mut planted = 0;
    for (name, metric) in [
        ("KKvM", Metric::Wld),
        ("KvKM", Metric::Dtw),
        ("MvMM", Metric::Dtw),
        ("KKvK", Metric::Wld),
    ] {
        let material: Material = name.parse().unwrap();
        let path = petrov_probe::table_path(folder.path(), game.name(), material, metric);
        let sound = std::fs::read(&path).unwrap();
        let table = Table::open(&path, &BlockCache::default()).unwrap();
        let parts = table.header().parts().clone();
        let mut sides = Vec::new();
        for (side, view) in material.views().iter().enumerate() {
            let (own, opp) = material.armies(*view);
            let order = DigitOrder::from_code(parts.sides[side].order).unwrap();
            let index = SliceIndex::new(&**generator, &own, &opp, order).unwrap();
            let codes: Vec<u16> = (0..index.len())
                .map(|entry| {
                    if generator.has_capture(&index.unrank(entry)) {
                        FREE
                    } else {
                        table.code(side, entry).unwrap()
                    }
                })
                .collect();
            sides.push(codes);
        }
        drop(table);
        for n in 0..40u64 {
            let side = (n % sides.len() as u64) as usize;
            let stored = parts.sides[side].stored as u16;
            if stored < 2 {
                continue;
            }
            // A scatter of entries that are not free.
            let mut entry = (n * 7919 + 13) as usize % sides[side].len();
            while sides[side][entry] == FREE {
                entry = (entry + 1) % sides[side].len();
            }
            let mut source = Planted { sides: sides.clone() };
            source.sides[side][entry] = (source.sides[side][entry] + 1 + (n as u16 % (stored - 1))) % stored;
            write_table(&path, &parts, &source, DEFAULT_LEVEL).unwrap();
            let report = check(game, Some(What::Material(material)), folder.path(), Depth::Every);
            let found = report
                .findings
                .iter()
                .any(|finding| finding.file == path && finding.fen.is_some());
            assert!(
                found,
                "{name}.{metric} side {side} entry {entry}: {:?}",
                report.findings
            );
            planted += 1;
        }
        std::fs::write(&path, sound).unwrap();
    }
    assert!(planted > 100, "{planted}");
}
