//! Code for games of any family that is compiled here, once for each family,
//! and not again in every program that calls it.

/// Defines a function of a game and other arguments by one that is generic.
macro_rules! compiled_for_families {
    ($(#[$about:meta])* $visible:vis fn $name:ident(game $(, $argument:ident: $type:ty)*) -> $result:ty = $generic:path) => {
        $(#[$about])*
        $visible fn $name<G: petrov_games::Game>(game: &G $(, $argument: $type)*) -> $result {
            #[inline(never)]
            fn draughts(game: &petrov_games::draughts::Game $(, $argument: $type)*) -> $result {
                $generic(game $(, $argument)*)
            }
            #[inline(never)]
            fn chess(game: &petrov_games::chess::Game $(, $argument: $type)*) -> $result {
                $generic(game $(, $argument)*)
            }
            match petrov_games::Game::of_family(game) {
                petrov_games::OfFamily::Draughts(game) => draughts(game $(, $argument)*),
                petrov_games::OfFamily::Chess(game) => chess(game $(, $argument)*),
            }
        }
    };
}

pub(crate) use compiled_for_families;
