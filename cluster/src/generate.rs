//! `petrov-cluster gen`.

use petrov_cli::generate::summary;
use petrov_cli::options::VERSION;
use petrov_cli::output::Output;
use petrov_cli::setting::Setting;
use petrov_cli::signals;
use petrov_games::Game;
use petrov_gen::{BuildOptions, SpreadOptions, build_spread, materials, stop_writing};
use petrov_probe::Metric;

use crate::args::GenOptions;
use crate::end::{Outcome, Stopped, settle};
use crate::hosts;
use crate::report::{Live, RankTable, SpreadDocument};
use crate::wire::MpiWire;
use crate::world::{World, usable_processors};

/// Builds what is missing.
pub(crate) fn gen_tables<G: Game>(
    game: &G,
    options: &GenOptions,
    setting: &Setting,
    world: &World,
    output: &mut Output,
) -> Outcome<()> {
    // What has no table is refused before anything else is said.
    let what = options.tables.what.what().and_then(|what| {
        materials(game, what)?;
        Ok(what)
    });
    let what = world.agree(what.map_err(Stopped::from))?;
    let threads = options.threads.map_or_else(usable_processors, usize::from);
    hosts::log(world, setting, threads);
    let spread = SpreadOptions {
        split_from: options.split_from,
        share_from: options.share_from,
        checkpoint: (!options.checkpoint.is_zero()).then_some(options.checkpoint),
        collect: !options.no_collect,
        ..spread_options(setting, world, options.tables.metric.clone(), threads, options.memory)
    };
    let farewell = "stopped; finished tables and checkpoints are kept, and the same command goes on from there";
    signals::end_with(stop_writing, setting.talks().then(|| farewell.to_owned()));
    let mut wire = MpiWire::new(&world.communicator);
    let mut live = Live::new(setting.talks());
    let report = build_spread(
        game,
        what,
        &spread,
        &mut wire,
        &mut |report| live.show(report),
        &|text| setting.note(text),
    );
    let report = settle(&mut wire, report)?;
    if !world.leads() {
        return Ok(());
    }
    let answered = if options.tables.what.json {
        output.json(&SpreadDocument::new(&report))
    } else if setting.talks() {
        summary(&report.build, output).and_then(|()| RankTable(&report).write(output))
    } else {
        Ok(())
    };
    Ok(answered?)
}

/// How this rank is to build, as far as the setting says.
pub(crate) fn spread_options(
    setting: &Setting,
    world: &World,
    metrics: Vec<Metric>,
    threads: usize,
    memory: Option<u64>,
) -> SpreadOptions {
    SpreadOptions {
        build: BuildOptions {
            metrics,
            dirs: setting.dirs.clone(),
            threads,
            memory,
        },
        split_from: None,
        share_from: None,
        checkpoint: None,
        collect: true,
        host: world.host.clone(),
        identity: VERSION.clone(),
    }
}
