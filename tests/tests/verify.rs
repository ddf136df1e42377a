//! `verify` passes sound tables and finds every error planted in them.

use std::path::PathBuf;

use petrov_games::{Game, Games, Rulebook, with_game, with_rulebook};
use petrov_gen::{CodeSource, Depth, Verdict, What, write_table};
use petrov_probe::format::{HeaderParts, PaletteEntry};
use petrov_probe::{BlockCache, DigitOrder, Material, Metric, Prober, Score, SliceIndex, Table, Value50};
use petrov_tests::{Folder, Random};

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
        let report = folder.verify(game, Some(What::Pieces(pieces)), Depth::Every);
        assert!(report.findings.is_empty(), "{name}: {:?}", report.findings.first());
        assert!(
            report.tables.iter().all(|table| table.verdict == Verdict::Proved),
            "{name}"
        );
        let sampled = folder.verify(game, None, Depth::Sample(100));
        assert!(sampled.findings.is_empty() && sampled.tables.iter().all(|table| table.verdict == Verdict::Sampled));
    }
}

#[test]
fn values_alone_are_only_consistent() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let folder = Folder::default();
    folder.build(game, "2", &[Metric::Wld], 2);
    let report = folder.verify(game, None, Depth::Every);
    assert!(report.findings.is_empty());
    assert!(report.tables.iter().all(|table| table.verdict == Verdict::Consistent));
    let intact = folder.verify(game, None, Depth::Checksums);
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
    let report = folder.verify(russian, Some(What::Pieces(2)), Depth::Checksums);
    let said: Vec<&str> = report.findings.iter().map(|finding| finding.what.as_str()).collect();
    assert!(said.iter().any(|what| what.contains("missing")), "{said:?}");
    assert!(said.iter().any(|what| what.contains("checksum")), "{said:?}");
    assert!(said.iter().any(|what| what.contains("other rules")), "{said:?}");
}

/// The codes of a table.
struct Codes(Vec<Vec<u16>>);

impl CodeSource for Codes {
    fn codes(&self, side: usize, range: std::ops::Range<u64>, codes: &mut [u16]) {
        codes.copy_from_slice(&self.0[side][range.start as usize..range.end as usize]);
    }
}

/// Whether a changed value would make no difference, as captures decide; worked out by legal moves alone.
fn captures_decide<G: Game>(game: &G, prober: &Prober<G>, position: &G::Position, metric: Metric, to: Score) -> bool {
    with_rulebook!(game, rulebook => {
        let mut best = None;
        for played in game.legal_moves(position) {
            if !game.captured(&played).is_empty() {
                let after = prober.score(&game.after(position, &played), metric).unwrap();
                best = Some(Score::better(best, after.before_move(metric, true)));
            }
        }
        match best {
            None => false,
            Some(_) if rulebook.forced() => true,
            Some(_) if metric != Metric::Wld => false,
            Some(best) => {
                let truth = prober.score(position, metric).unwrap();
                Score::better(Some(best), to) == truth
            }
        }
    })
}

/// Changes single values of entries that are not free, at random, with all checksums made right, and checks that
/// each is found and rightly told.
fn plant_errors<G: Game>(game: &G, pieces: &str, metrics: &[Metric], errors: u64) {
    let folder = Folder::default();
    folder.build(game, pieces, metrics, 2);
    let mut random = Random::new(errors);
    let paths: Vec<PathBuf> = (folder.tables().iter())
        .filter(|table| table.header().sides().iter().any(|side| side.stored > 1))
        .map(|table| table.path().to_owned())
        .collect();
    let mut planted = 0;
    while planted < errors {
        let path = &paths[random.below(paths.len() as u64) as usize];
        let sound = std::fs::read(path).unwrap();
        let (position, stored, expected) = with_rulebook!(game, rulebook => {
            let tables = folder.tables();
            let prober = tables.prober(game).unwrap();
            let table = tables.iter().find(|table| table.path() == path).unwrap();
            let parts = table.header().parts().clone();
            let material: Material = parts.material.parse().unwrap();
            let number = random.below(parts.sides.len() as u64) as usize;
            let side = &parts.sides[number];
            if side.stored < 2 {
                continue;
            }
            let (own, opponent) = material.armies(material.views()[number]);
            let order = DigitOrder::from_code(side.order).unwrap();
            let index = SliceIndex::new(&**rulebook, &own, &opponent, order).unwrap();
            let entry = random.below(side.entries);
            let placement = index.unrank(entry);
            if !rulebook.is_placement(&placement) {
                continue;
            }
            let position = rulebook.position(&placement, side.to_move);
            let old = table.code(number, entry).unwrap();
            let new = (old + 1 + random.below(u64::from(side.stored) - 1) as u16) % side.stored as u16;
            let score = table.scores(number)[usize::from(new)];
            if captures_decide(game, &prober, &position, parts.metric, score) {
                continue;
            }
            let mut codes: Vec<Vec<u16>> = (parts.sides.iter().enumerate())
                .map(|(side, parts)| (0..parts.entries).map(|entry| table.code(side, entry).unwrap()).collect())
                .collect();
            codes[number][entry as usize] = new;
            let expected = prober.score(&position, parts.metric).unwrap();
            write_table(path, &parts, &Codes(codes), 1).unwrap();
            (position, score, expected)
        });
        let name = path.file_name().unwrap().to_str().unwrap();
        let material: Material = name.split('.').next().unwrap().parse().unwrap();
        let report = folder.verify(game, Some(What::Material(material)), Depth::Every);
        let fen = game.fen(&position);
        let told = report.findings.iter().any(|finding| {
            finding.file == *path
                && finding.material == Some(material)
                && finding.fen.as_ref() == Some(&fen)
                && finding.stored == Some(stored)
                && finding.expected == Some(expected)
        });
        let first = report.findings.first();
        assert!(
            told,
            "{}: {name}: {fen} {stored:?} for {expected:?}: {first:?}",
            game.name()
        );
        let verdict = report.tables.iter().find(|table| table.file == *path).unwrap().verdict;
        assert_eq!(verdict, Verdict::Failed);
        planted += 1;
        std::fs::write(path, sound).unwrap();
    }
}

fn plant_in(games: &[(&str, &str, u64)]) {
    for (name, pieces, errors) in games {
        let games = Games::built_in();
        with_game!(games.get(name).unwrap(), game => plant_errors(game, pieces, &Metric::ALL, *errors));
    }
}

#[test]
fn planted_errors_are_found() {
    plant_in(&[
        ("russian", "3", 30),
        ("turkish", "KKvK", 10),
        ("giveaway", "2", 30),
        ("chess", "KPvK", 4),
    ]);
}

/// `scripts/verify-all --planted` runs it: minutes.
#[test]
#[ignore = "takes minutes; scripts/verify-all --planted"]
fn a_thousand_planted_errors_are_found() {
    plant_in(&[
        ("russian", "3", 250),
        ("english", "3", 100),
        ("italian", "3", 100),
        ("turkish", "3", 100),
        ("frisian", "2", 100),
        ("russian-giveaway", "3", 100),
        ("giveaway", "2", 100),
        ("chess", "3", 80),
        ("makruk", "3", 30),
        ("e-chess", "3", 40),
    ]);
}

/// Values that lean on wrong ones are consistent with them at best.
#[test]
fn what_leans_on_a_wrong_table_is_not_proved() {
    let games = Games::built_in();
    let game = games.draughts("russian").unwrap();
    let folder = Folder::default();
    folder.build(game, "3", &[Metric::Wld, Metric::Dtw], 2);
    let path = petrov_probe::table_path(folder.path(), game.name(), "KvK".parse().unwrap(), Metric::Dtw);
    // Say that bare kings always win: all that can turn into them is then checked against that.
    let table = Table::open(&path, &BlockCache::default()).unwrap();
    let mut parts = table.header().parts().clone();
    let codes = (parts.sides.iter())
        .map(|side| vec![0; side.entries as usize])
        .collect();
    parts.sides[0].palette[0] = PaletteEntry {
        value: Value50::Win,
        distance: 999,
        count: 1,
    };
    parts.sides[0].longest_win = Some(0);
    drop(table);
    write_table(&path, &parts, &Codes(codes), 1).unwrap();
    let report = folder.verify(game, Some(What::Pieces(3)), Depth::Every);
    assert!(report.findings.iter().any(|finding| finding.file == path));
    for table in &report.tables {
        let leans = table.metric == Metric::Dtw && table.material.pieces() == 3;
        assert!(
            !(leans && table.verdict == Verdict::Proved),
            "{}.{}",
            table.material,
            table.metric
        );
    }
    // Values alone do not lean on it.
    let values = report
        .tables
        .iter()
        .find(|table| table.material.to_string() == "KKvK" && table.metric == Metric::Wld);
    assert_eq!(values.unwrap().verdict, Verdict::Consistent);
}

/// What a header says of its positions is checked as well.
#[test]
fn wrong_headers_are_found() {
    type Change = fn(&mut HeaderParts);
    let changes: [(&str, Change); 5] = [
        ("counts", |parts| parts.sides[0].palette[0].count += 1),
        ("count of mates", |parts| {
            parts.sides[1].mated = parts.sides[1].mated.map(|mated| mated - 1)
        }),
        ("longest win", |parts| {
            parts.sides[0].longest_win = parts.sides[0].longest_win.map(|entry| entry ^ 1)
        }),
        ("no digit order", |parts| parts.sides[0].order = 24),
        ("free entries", |parts| parts.free_entries.gaps = false),
    ];
    let games = Games::built_in();
    let game = games.chess("chess").unwrap();
    let folder = Folder::default();
    folder.build(game, "KRvK", &[Metric::Dtw], 2);
    let path = petrov_probe::table_path(folder.path(), game.name(), "KRvK".parse().unwrap(), Metric::Dtw);
    let table = Table::open(&path, &BlockCache::default()).unwrap();
    let codes: Vec<Vec<u16>> = (table.header().sides().iter().enumerate())
        .map(|(side, parts)| {
            (0..parts.entries)
                .map(|entry| table.code(side, entry).unwrap())
                .collect()
        })
        .collect();
    for (what, change) in changes {
        let mut parts = table.header().parts().clone();
        change(&mut parts);
        write_table(&path, &parts, &Codes(codes.clone()), 1).unwrap();
        let report = folder.verify(game, Some(What::Pieces(3)), Depth::Every);
        let found: Vec<_> = report.findings.iter().filter(|finding| finding.file == path).collect();
        assert!(
            found.iter().any(|finding| finding.what.contains(what)),
            "{what}: {:?}",
            report.findings
        );
        let verdict = report.tables.iter().find(|table| table.file == path).unwrap().verdict;
        assert_eq!(verdict, Verdict::Failed, "{what}");
    }
}
