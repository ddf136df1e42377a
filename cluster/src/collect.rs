//! `petrov-cluster collect`.

use std::io::Write;

use petrov_cli::failure::Failure;
use petrov_cli::output::Output;
use petrov_cli::setting::Setting;
use petrov_cli::words;
use petrov_games::Game;
use petrov_gen::collect_spread;
use petrov_probe::Metric;
use serde::Serialize;

use crate::args::CollectOptions;
use crate::end::{Outcome, settle};
use crate::generate::spread_options;
use crate::wire::MpiWire;
use crate::world::World;

#[derive(Serialize)]
struct CollectDocument {
    tables: Vec<CollectedDocument>,
}

#[derive(Serialize)]
struct CollectedDocument {
    path: String,
}

/// Brings tables together in the folder of rank 0.
pub(crate) fn collect<G: Game>(
    game: &G,
    options: &CollectOptions,
    setting: &Setting,
    world: &World,
    output: &mut Output,
) -> Outcome<()> {
    let spread = spread_options(setting, world, Metric::ALL.to_vec(), 1, None);
    let mut wire = MpiWire::new(&world.communicator);
    let collected = collect_spread(game, &spread, &mut wire, &|text| setting.note(text));
    let collected = settle(&mut wire, collected)?;
    if !world.leads() {
        return Ok(());
    }
    if options.json {
        let tables = collected
            .iter()
            .map(|path| CollectedDocument {
                path: path.display().to_string(),
            })
            .collect();
        output.json(&CollectDocument { tables })?;
        return Ok(());
    }
    for path in &collected {
        setting.detail(&format!("brought here: {}", path.display()));
    }
    if setting.talks() {
        let count = words::count(collected.len() as u64, "table", "tables");
        let dirs = setting.dirs_in_words();
        writeln!(output, "{}: {count} brought to {dirs}", game.name()).map_err(Failure::from)?;
    }
    Ok(())
}
