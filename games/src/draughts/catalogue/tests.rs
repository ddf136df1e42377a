use super::*;

/// A rule file under a name that is not built in.
fn siamese() -> String {
    include_str!("../../../rules/thai.toml").replace("\"thai\"", "\"siamese\"")
}

#[test]
fn built_in_games_are_found_by_name() {
    let games = Games::built_in();
    let names: Vec<&str> = games.iter().map(Game::name).collect();
    assert_eq!(names.len(), 30);
    assert_eq!(names[..3], ["russian", "russian-giveaway", "brazilian"]);
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/rules"))
        .unwrap()
        .count();
    assert_eq!(files, names.len(), "a rule file is not built in");
    for name in names {
        assert_eq!(games.get(name).unwrap().name(), name);
    }
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
        "unknown game \"go\\n\"; known games are russian, russian-giveaway, brazilian, pool, jamaican, english, english-giveaway, italian, spanish, portuguese, argentinian, czech, thai, german-dame, russian-stop, german-lasker, old-french, myanmar, spantsireti, international, international-giveaway, breakthrough, killer, ghanaian, frisian, canadian, malaysian, turkish, armenian, ossetian"
    );
}

#[test]
fn user_files_add_games() {
    let mut games = Games::built_in();
    assert_eq!(games.add_text(&siamese(), "siamese.toml").unwrap().name(), "siamese");
    assert_eq!(games.get("siamese").unwrap().rules().rows, (1, 2));
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
    assert_eq!(games.iter().count(), 31);
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
    let result = games.add_file(&large).map(Game::name).map(str::to_owned);
    std::fs::remove_file(&large).unwrap();
    assert!(matches!(result, Err(AddGameError::TooLarge { .. })));
}
