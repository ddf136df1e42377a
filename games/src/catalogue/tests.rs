use super::*;

/// A rule file under a name that is not built in.
fn siamese() -> String {
    include_str!("../../rules/thai.toml").replace("\"thai\"", "\"siamese\"")
}

#[test]
fn built_in_games_are_found_by_name() {
    let games = Games::built_in();
    let names: Vec<&str> = games.iter().map(AnyGame::name).collect();
    assert_eq!(names.len(), 40);
    assert_eq!(names[..3], ["russian", "russian-giveaway", "brazilian"]);
    assert_eq!(names[30..32], ["chess", "e-chess"]);
    for (folder, family) in [("rules", "draughts"), ("rules-chess", "chess")] {
        let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
            .unwrap()
            .count();
        let of_family = games.iter().filter(|game| game.family() == family).count();
        assert_eq!(files, of_family, "a rule file is not built in");
    }
    for name in names {
        assert_eq!(games.get(name).unwrap().name(), name);
    }
    assert_eq!(games.draughts("russian").unwrap().name(), "russian");
    assert_eq!(games.chess("makruk").unwrap().name(), "makruk");
}

#[test]
fn unknown_games_come_with_near_names() {
    let games = Games::built_in();
    assert_eq!(
        games.get("rusian").unwrap_err().to_string(),
        "unknown game \"rusian\"; did you mean russian or frisian?"
    );
    assert_eq!(
        games.get("go\n").unwrap_err().to_string(),
        "unknown game \"go\\n\"; known games are russian, russian-giveaway, brazilian, pool, jamaican, english, english-giveaway, italian, spanish, portuguese, argentinian, czech, thai, german-dame, russian-stop, german-lasker, old-french, myanmar, spantsireti, international, international-giveaway, breakthrough, killer, ghanaian, frisian, canadian, malaysian, turkish, armenian, ossetian, chess, e-chess, chess-pawns-capture-back, chess-no-first-capture, chess-promote-by-file, berolina, knight-relay, giveaway, shatranj, makruk"
    );
    // Of the other family.
    assert_eq!(games.draughts("giveaway").unwrap_err().near, Vec::<String>::new());
    assert_eq!(games.chess("russian").unwrap_err().known.len(), 10);
}

#[test]
fn user_files_add_games() {
    let mut games = Games::built_in();
    assert_eq!(games.add_text(&siamese(), "siamese.toml").unwrap().name(), "siamese");
    assert_eq!(games.draughts("siamese").unwrap().rules().rows, (1, 2));
    assert_eq!(games.iter().last().unwrap().name(), "siamese");
    assert_eq!(
        games.add_text(&siamese(), "again.toml").unwrap_err().to_string(),
        "rule file again.toml: a game named `siamese` was added before; expected another name"
    );
    assert_eq!(
        games
            .add_text(&siamese().replace("\"siamese\"", "\"english\""), "mine.toml")
            .unwrap_err()
            .to_string(),
        "rule file mine.toml: `english` is the name of a built-in game; expected another name"
    );
    assert_eq!(
        games
            .add_text(&siamese().replace("\"at-once\"", "\"never\""), "mine.toml")
            .unwrap_err()
            .to_string(),
        "rule file mine.toml: line 21, column 11: key `removal`: found \"never\", expected one of \"after\", \"at-once\""
    );
    assert_eq!(games.iter().count(), 41);
}

#[test]
fn the_family_is_read_from_the_file() {
    let mut games = Games::built_in();
    let chess = games
        .add_text("name = \"small\"\nfamily = \"chess\"\nboard = \"5x5\"\n", "small.toml")
        .unwrap();
    assert_eq!((chess.family(), chess.name()), ("chess", "small"));
    assert_eq!(games.chess("small").unwrap().rules().files, 5);
    for (text, message) in [
        (
            "name = \"x\"",
            "key `family` is missing; expected one of \"draughts\", \"chess\"",
        ),
        (
            "family = \"go\"",
            "line 1, column 10: key `family`: found \"go\", expected one of \"draughts\", \"chess\"",
        ),
        (
            "family = \"chess\"\nsquares = 1",
            "line 2, column 1: unknown key `squares`; known keys are ",
        ),
    ] {
        let error = games.add_text(text, "x.toml").unwrap_err().to_string();
        assert!(error.starts_with(&format!("rule file x.toml: {message}")), "{error}");
    }
}

/// What is printed reads back to the same rules.
#[test]
fn games_are_written_as_rule_files() {
    for any in Games::built_in().iter() {
        let text = with_game!(any, game => Game::rule_file(game).to_toml());
        assert_eq!(
            AnyGame::parse(&text).unwrap().fingerprint(),
            any.fingerprint(),
            "{}",
            any.name()
        );
    }
}

#[test]
fn files_are_read_with_care() {
    let mut games = Games::built_in();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let built_in = games.add_file(&folder.join("thai.toml")).unwrap_err();
    assert!(matches!(built_in, AddGameError::BuiltInName { .. }), "{built_in}");
    let error = games.add_file(&folder.join("none.toml")).unwrap_err();
    assert!(matches!(error, AddGameError::Read { .. }));
    assert!(error.to_string().contains("none.toml"), "{error}");
    assert!(matches!(games.add_file(&folder), Err(AddGameError::Read { .. })));
    let large = std::env::temp_dir().join(format!("petrov-large-{}.toml", std::process::id()));
    std::fs::write(&large, "#".repeat(LARGEST_FILE as usize + 1)).unwrap();
    let result = games.add_file(&large).map(AnyGame::name).map(str::to_owned);
    std::fs::remove_file(&large).unwrap();
    assert!(matches!(result, Err(AddGameError::TooLarge { .. })));
}
