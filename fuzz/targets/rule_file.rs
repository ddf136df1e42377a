//! Rule files of both families: what can be read is written so that it reads back as the same rules, and is a game.
#![no_main]

use libfuzzer_sys::fuzz_target;
use petrov_games::{AnyGame, Axes, RuleError, RuleFile, chess, draughts};

fn read<R: Axes>(text: &str) -> Result<(), RuleError> {
    let file = RuleFile::<R>::parse(text)?;
    let written = file.to_toml();
    match RuleFile::<R>::parse(&written) {
        Ok(again) => assert_eq!(again.to_toml(), written),
        Err(error) => panic!("{error}: {written}"),
    }
    // A game has tables of moves, which take longer than all the rest: one text of 256 or so.
    if text.bytes().fold(0, u8::wrapping_add) == 0 {
        let games = [text, &written].map(|text| AnyGame::parse(text).map(|game| game.fingerprint()));
        assert!(games[0].is_ok() && games[0] == games[1], "{games:?}");
    }
    Ok(())
}

fuzz_target!(|text: &str| {
    // Reading TOML takes longer than all the rest, and only another family makes a difference to the second time.
    if read::<draughts::Rules>(text).is_err_and(|error| error.key.as_deref() == Some("family")) {
        let _ = read::<chess::Rules>(text);
    }
});
