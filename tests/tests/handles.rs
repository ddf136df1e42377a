//! Handles, warm and unpacked tables and ranked moves say what a plain prober says.

use petrov_games::{Colour, Game, Games, Rulebook, with_rulebook};
use petrov_probe::{
    Army, Backend, BlockCache, CountRule, DigitOrder, Distance, Handle, Material, Metric, Node, ProbeError, Prober,
    RankedMove, Ranking, SliceIndex, Tables, Value, Value50,
};
use petrov_tests::Folder;

/// Every placement that counts of the materials that have tables of a metric, both sides to move.
fn positions<G: Game>(game: &G, tables: &Tables, metric: Metric) -> Vec<G::Position> {
    let mut found = Vec::new();
    with_rulebook!(game, rulebook => {
        for table in tables.iter().filter(|table| table.header().parts().metric == metric) {
            let material: Material = table.header().parts().material.parse().unwrap();
            for (view, turn) in material.views().iter().zip([Colour::White, Colour::Black]) {
                let (own, opponent) = material.armies(*view);
                let index = SliceIndex::new(&**rulebook, &own, &opponent, DigitOrder::SOLVING).unwrap();
                for rank in 0..index.len() {
                    let placement = index.unrank(rank);
                    if rulebook.is_placement(&placement) {
                        found.push(rulebook.position(&placement, turn));
                    }
                }
            }
        }
    });
    found
}

fn value<G: Game>(handle: &mut Handle<G>, position: &G::Position) -> Value {
    handle.value(position).unwrap().expect("in a table")
}

/// Compares all ways of asking, of every `step`-th position.
fn agree<G: Game>(game: &G, folder: &Folder, step: usize) {
    let plain = folder.tables().prober(game).unwrap();
    let all: Vec<G::Position> = positions(game, &folder.tables(), Metric::Wld)
        .into_iter()
        .step_by(step)
        .collect();
    assert!(all.len() > 1000);
    let expected: Vec<Value> = all.iter().map(|position| plain.value(position).unwrap()).collect();
    let mut seen = [0; 2];
    for (budget, backend) in [(0, Backend::Pread), (3 << 10, Backend::Mmap), (64 << 20, Backend::Mmap)] {
        let tables = Tables::open_with(&[folder.path()], BlockCache::new(budget), backend).unwrap();
        let prober = tables.prober(game).unwrap();
        let mut handle = prober.handle();
        for (position, expected) in all.iter().zip(&expected) {
            prober.prefetch(position, Metric::Wld);
            assert_eq!(value(&mut handle, position), *expected);
            match handle.node(position).unwrap() {
                Node::Value(value) => {
                    seen[0] += 1;
                    assert_eq!(value, *expected);
                }
                Node::NotInTable => panic!("{} is in a table", game.fen(position)),
                Node::NeedsCaptureSearch => {
                    seen[1] += 1;
                    let legal = game.legal_moves(position);
                    let captures = legal.iter().any(|played| !game.captured(played).is_empty());
                    assert!(captures, "{}", game.fen(position));
                }
            }
        }
        let stats = handle.stats();
        assert_eq!(stats.probes, 2 * all.len() as u64);
        assert!(stats.lookups > stats.decoded && stats.searches > 0, "{stats:?}");
        assert!(budget > 0 || stats.decoded > 0);
        // What was warm once stays, and nothing more is decoded.
        let filled = prober.warm(Metric::Wld, u8::MAX, u64::MAX).unwrap();
        if budget == 64 << 20 {
            assert_eq!(filled.asked, filled.done);
            assert!(filled.bytes > 0 && filled.bytes <= tables.cache_stats().bytes);
            let before = tables.cache_stats();
            all.iter().for_each(|position| {
                value(&mut handle, position);
            });
            assert_eq!(tables.cache_stats(), before);
        } else {
            assert!(filled.done < filled.asked && filled.bytes <= budget, "{filled:?}");
        }
        // As far as the bytes go, and then all.
        let some = prober.unpack(3, 20_000).unwrap();
        assert!(
            some.done < some.asked && some.bytes <= 20_000 && some.done > 0,
            "{some:?}"
        );
        let whole = prober.unpack(u8::MAX, u64::MAX).unwrap();
        assert_eq!(whole.asked, whole.done);
        for (position, expected) in all.iter().zip(&expected) {
            assert_eq!(value(&mut handle, position), *expected);
            assert_eq!(handle.node(position).unwrap(), Node::Value(*expected));
            assert_eq!(prober.value(position).unwrap(), *expected);
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn all_ways_agree_in_draughts() {
    for name in ["russian", "frisian", "english-giveaway"] {
        let game = petrov_tests::game(name);
        agree(
            &game,
            &Folder::with(&game, "3", &[Metric::Wld]),
            if name == "frisian" { 53 } else { 3 },
        );
    }
}

#[test]
fn all_ways_agree_in_chess() {
    let games = Games::built_in();
    let game = games.chess("chess").unwrap();
    let folder = Folder::with(game, "3", &[Metric::Wld]);
    agree(game, &folder, 41);
    // Castling, which no table has.
    let prober = folder.tables().prober(game).unwrap();
    let mut handle = prober.handle();
    let position = |fen: &str| game.parse_fen(fen).unwrap();
    for unpacked in [false, true] {
        if unpacked {
            prober.unpack(3, u64::MAX).unwrap();
        }
        let castling = position("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
        assert_eq!(handle.value(&castling).unwrap(), None);
        assert_eq!(handle.node(&castling).unwrap(), Node::NotInTable);
        assert!(matches!(prober.value(&castling), Err(ProbeError::NotInTables { .. })));
        // The side not to move in check, which unpacked tables have a place for.
        let mut check = position("8/8/8/8/7k/8/8/K6R b - - 0 1");
        check.turn = Colour::White;
        assert!(
            matches!(handle.value(&check), Err(ProbeError::NoPosition { .. })),
            "{check:?}"
        );
        assert!(matches!(handle.node(&check), Err(ProbeError::NoPosition { .. })));
    }
}

/// A right to take en passant is none that tables hold, unpacked or not. Without kings two pawns are enough.
#[test]
fn en_passant_is_searched() {
    let games = Games::built_in();
    let game = games.chess("giveaway").unwrap();
    let folder = Folder::with(game, "2", &[Metric::Wld]);
    let prober = folder.tables().prober(game).unwrap();
    let mut handle = prober.handle();
    let position = |fen: &str| game.parse_fen(fen).unwrap();
    let pairs = [
        ("8/8/8/3pP3/8/8/8/8 w - d6 0 1", "8/8/8/3pP3/8/8/8/8 w - - 0 1"),
        ("8/8/8/8/2pP4/8/8/8 b - d3 0 1", "8/8/8/8/2pP4/8/8/8 b - - 0 1"),
    ];
    let value_of = |fen: &str| prober.value(&position(fen)).unwrap();
    let expected: Vec<(Value, Value)> = (pairs.iter())
        .map(|(with, without)| (value_of(with), value_of(without)))
        .collect();
    // Taking is compulsory, and loses the only pawn's last opponent: the right must make a difference.
    assert!(expected.iter().all(|(with, without)| with != without), "{expected:?}");
    for unpacked in [false, true] {
        if unpacked {
            let filled = prober.unpack(2, u64::MAX).unwrap();
            assert_eq!(filled.asked, filled.done);
        }
        for ((with, without), expected) in pairs.iter().zip(&expected) {
            assert_eq!(value(&mut handle, &position(with)), expected.0, "{with}");
            assert_eq!(value(&mut handle, &position(without)), expected.1, "{without}");
            let node = if unpacked {
                Node::Value(expected.0)
            } else {
                Node::NeedsCaptureSearch
            };
            assert_eq!(handle.node(&position(with)).unwrap(), node, "{with}");
        }
    }
}

/// A capture into a material without a table is no guess.
#[test]
fn what_a_capture_leads_to_may_be_missing() {
    let game = petrov_tests::game("russian");
    let folder = Folder::with(&game, "3", &[Metric::Wld]);
    std::fs::remove_file(folder.path().join("russian/KvK.wld.petrov")).unwrap();
    let prober = folder.tables().prober(&game).unwrap();
    let mut handle = prober.handle();
    let position = game.parse_fen("W:WKa1:BKd4,Kh2").unwrap();
    assert_eq!(handle.value(&position).unwrap(), None);
    assert_eq!(handle.node(&position).unwrap(), Node::NeedsCaptureSearch);
    assert!(matches!(prober.value(&position), Err(ProbeError::Missing { .. })));
    assert!(prober.unpack(3, u64::MAX).is_err());
    // Nothing that depends on it was unpacked, and what was is right.
    assert_eq!(handle.value(&position).unwrap(), None);
    let limit = prober.limit(Metric::Wld);
    assert_eq!(
        (
            limit.pieces(),
            limit.admits(2, 1),
            limit.admits(3, 0),
            limit.admits(2, 2)
        ),
        (3, true, false, false)
    );
    assert!(!prober.limit(Metric::Dtw).admits(1, 1));
}

/// What the moves of a position are worth, from what the moves lead to.
fn check_best<G: Game>(prober: &Prober<G>, position: &G::Position, limit: u32, counted: u32) -> Value50 {
    let game = prober.game();
    let root = prober.root(position).unwrap();
    // Up to the next conversion, and to the one after it if the move is one.
    let judged = |ranked: &RankedMove<G>| {
        let late = |dtz: Distance, counted: u32| dtz.plies().is_some_and(|plies| counted + u32::from(plies) > limit);
        let converts = game.is_conversion(&ranked.played);
        Value50::new(
            ranked.value,
            late(ranked.dtz, counted) || converts && late(prober.root(&ranked.after).unwrap().dtz, 0),
        )
    };
    let rule = CountRule::Plies { limit, counted };
    let mut results = Vec::new();
    for ranking in [Ranking::Dtw, Ranking::Dtz] {
        let best = prober.best_moves(position, ranking, rule).unwrap();
        let most = root.moves.iter().map(judged).max();
        let Some(most) = most else {
            assert!(best.moves.is_empty());
            return best.result;
        };
        assert_eq!(best.result, most, "{}", game.fen(position));
        // All of the best result, each once, in order.
        let mut texts: Vec<&str> = best.moves.iter().map(|ranked| ranked.text.as_str()).collect();
        let mut expected: Vec<&str> = (root.moves.iter())
            .filter(|ranked| judged(ranked) == most)
            .map(|ranked| ranked.text.as_str())
            .collect();
        let distances: Vec<Option<u16>> = (best.moves.iter())
            .map(|ranked| match ranking {
                Ranking::Dtw => ranked.dtw.plies(),
                Ranking::Dtz => ranked.dtz.plies(),
            })
            .collect();
        let wins = matches!(most, Value50::Win | Value50::CursedWin);
        let sorted = distances.is_sorted_by(|a, b| if wins { a <= b } else { a >= b });
        assert!(sorted, "{}: {distances:?}", game.fen(position));
        texts.sort_unstable();
        expected.sort_unstable();
        assert_eq!(texts, expected, "{}", game.fen(position));
        results.push(best.result);
    }
    assert_eq!(results[0], results[1]);
    results[0]
}

#[test]
fn moves_keep_the_result_within_a_count() {
    let game = petrov_tests::game("russian");
    let folder = Folder::with(&game, "3", &Metric::ALL);
    let tables = folder.tables();
    let prober = tables.prober(&game).unwrap();
    let mut results = [0; 5];
    for position in positions(&game, &tables, Metric::Dtz).iter().step_by(17) {
        for (limit, counted) in [(30, 0), (30, 28), (4, 0), (5, 1)] {
            results[check_best(&prober, position, limit, counted) as usize] += 1;
        }
    }
    assert!(results.iter().all(|count| *count > 0), "{results:?}");
    // Without distances no rule can be kept.
    let bare = Folder::with(&game, "3", &[Metric::Wld, Metric::Dtw]);
    let prober = bare.tables().prober(&game).unwrap();
    let position = game.parse_fen("W:WKe1,Kc3:BKa5").unwrap();
    let rule = CountRule::Plies { limit: 30, counted: 0 };
    assert!(prober.best_moves(&position, Ranking::Dtw, CountRule::Game).is_ok());
    assert!(prober.best_moves(&position, Ranking::Dtw, CountRule::None).is_ok());
    for (ranking, rule) in [(Ranking::Dtw, rule), (Ranking::Dtz, CountRule::None)] {
        let error = prober.best_moves(&position, ranking, rule).unwrap_err();
        assert!(
            matches!(
                error,
                ProbeError::Missing {
                    metric: Metric::Dtz,
                    ..
                }
            ),
            "{error}"
        );
    }
}

/// A conversion sets the count to nought, but into a position whose next conversion is too far it is not played.
#[test]
fn a_conversion_into_what_is_too_far_is_not_played() {
    let game = petrov_tests::game("english");
    let folder = Folder::with(&game, "3", &Metric::ALL);
    let tables = folder.tables();
    let prober = tables.prober(&game).unwrap();
    let rule = CountRule::Plies { limit: 6, counted: 0 };
    let mut spared = 0;
    for position in positions(&game, &tables, Metric::Dtz).iter().step_by(3) {
        let best = prober.best_moves(position, Ranking::Dtw, rule).unwrap();
        if best.result != Value50::Win {
            continue;
        }
        for ranked in prober.root(position).unwrap().moves {
            let too_far = || prober.root(&ranked.after).unwrap().dtz.plies() > Some(6);
            if ranked.value == Value::Win && game.is_conversion(&ranked.played) && too_far() {
                spared += 1;
                assert!(
                    best.moves.iter().all(|kept| kept.text != ranked.text),
                    "{}",
                    game.fen(position)
                );
            }
        }
    }
    assert!(spared > 0);
}

#[test]
fn the_fifty_move_rule_is_the_game_s_own() {
    let games = Games::built_in();
    let game = games.chess("chess").unwrap();
    let folder = Folder::with(game, "KRvK", &Metric::ALL);
    let prober = folder.tables().prober(game).unwrap();
    let position = |clock: u32| {
        game.parse_fen(&format!("8/8/8/3k4/8/8/8/K6R w - - {clock} 60"))
            .unwrap()
    };
    let best = |clock, rule| prober.best_moves(&position(clock), Ranking::Dtz, rule).unwrap();
    let fresh = best(0, CountRule::Game);
    assert_eq!(fresh.result, Value50::Win);
    let Distance::Plies(mate) = fresh.moves[0].dtz else {
        panic!("no distance")
    };
    let last = 100 - u32::from(mate);
    assert_eq!(best(last, CountRule::Game).result, Value50::Win);
    // Only the shortest way is left then, and none one ply later.
    assert!(
        best(last, CountRule::Game)
            .moves
            .iter()
            .all(|ranked| ranked.dtz == Distance::Plies(mate))
    );
    assert!(best(0, CountRule::Game).moves.len() > best(last, CountRule::Game).moves.len());
    assert_eq!(best(last + 1, CountRule::Game).result, Value50::CursedWin);
    assert_eq!(best(last + 1, CountRule::None).result, Value50::Win);
}

/// The starter set is in the repository, whole, and read from a folder and from memory alike.
#[test]
fn the_starter_set() {
    let folder = petrov_tests::repository().join("tables/starter");
    let tables = Tables::open(&[&folder]).unwrap();
    assert_eq!(tables.faults().count(), 0);
    let bytes: u64 = tables.iter().map(|table| table.header().file_bytes()).sum();
    assert!((1_500_000..=2_000_000).contains(&bytes), "{bytes}");
    let memory = Tables::from_memory(petrov_starter::TABLES, BlockCache::default());
    assert_eq!(memory.faults().count(), 0);
    assert_eq!(memory.iter().count(), tables.iter().count());
    for (table, in_memory) in tables.iter().zip(memory.iter()) {
        table.verify_checksum().unwrap();
        in_memory.verify_checksum().unwrap();
        assert!(in_memory.path().ends_with(table.path().strip_prefix(&folder).unwrap()));
    }
    for any in Games::built_in().iter() {
        petrov_games::with_game!(any, game => {
            let (one, two) = (tables.prober(game).unwrap(), memory.prober(game).unwrap());
            let wanted = petrov_gen::materials(game, "3".parse().unwrap()).unwrap();
            for material in &wanted {
                assert!(one.has(*material, Metric::Wld) && two.has(*material, Metric::Wld), "{} {material}", game.name());
            }
            let all = if wanted.is_empty() { Vec::new() } else { some_positions(game, &wanted) };
            for position in &all {
                assert_eq!(one.value(position).unwrap(), two.value(position).unwrap());
            }
        });
    }
}

/// A few placements of some materials.
fn some_positions<G: Game>(game: &G, materials: &[Material]) -> Vec<G::Position> {
    let mut found = Vec::new();
    with_rulebook!(game, rulebook => {
        for material in materials {
            let (own, opponent): (Army, Army) = material.armies(material.views()[0]);
            let index = SliceIndex::new(&**rulebook, &own, &opponent, DigitOrder::SOLVING).unwrap();
            for rank in (0..index.len()).step_by((index.len() / 5).max(1) as usize) {
                let placement = index.unrank(rank);
                if rulebook.is_placement(&placement) {
                    found.push(rulebook.position(&placement, Colour::White));
                }
            }
        }
    });
    found
}
