//! FEN of chess: the first byte chooses the game.
#![no_main]

use libfuzzer_sys::fuzz_target;
use petrov_fuzz::{game_and_text, read_position};
use petrov_games::with_game;

fuzz_target!(|bytes: &[u8]| {
    if let Some((game, text)) = game_and_text("chess", bytes) {
        with_game!(game, game => read_position(game, text));
    }
});
