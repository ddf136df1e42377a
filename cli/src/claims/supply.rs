//! Building the tables that claims need.

use std::collections::BTreeMap;
use std::io::Write;

use petrov_games::{AnyGame, Fingerprint, Game, Material, with_game};
use petrov_gen::claims::{Entry, roots};
use petrov_gen::{BuildOptions, PlanError, Progress, What, build, plan};
use petrov_probe::{BlockCache, Metric};

use crate::failure::Failure;
use crate::generate::plan_in_words;
use crate::progress;
use crate::setting::Setting;

/// What tables may be built with.
#[derive(Clone, Copy)]
pub(crate) struct Means {
    /// Worker threads; `None` for one for each processor.
    pub(crate) threads: Option<u16>,
    /// Bytes of memory; `None` for what is available.
    pub(crate) memory: Option<u64>,
}

/// What is needed of one rule set.
struct Need<'a> {
    game: &'a AnyGame,
    metric: Metric,
    materials: Vec<Material>,
}

/// Builds what is missing. Games of one fingerprint share their tables.
pub(crate) fn build_missing(entries: &[Entry<'_>], means: Means, setting: &Setting) -> Result<(), Failure> {
    let mut needs = Vec::new();
    for entry in entries {
        for game in entry.games() {
            needs.push(Need {
                game,
                metric: entry.metric(),
                materials: entry.materials()?,
            });
        }
    }
    build_all(needs, means, setting)?;
    // Which of them need distances to the end as well only their tables tell.
    let tables = setting.tables(BlockCache::default())?;
    let mut needs = Vec::new();
    for entry in entries {
        if entry.needs_dtw_too(&tables)? {
            for game in entry.games() {
                needs.push(Need {
                    game,
                    metric: Metric::Dtw,
                    materials: entry.materials()?,
                });
            }
        }
    }
    build_all(needs, means, setting)
}

/// Builds what the charts of a document show: a lone king against two and
/// three, for every draughts game.
pub(crate) fn build_charted(
    entries: &[Entry<'_>],
    max_pieces: u8,
    means: Means,
    setting: &Setting,
) -> Result<(), Failure> {
    let mut needs = Vec::new();
    for game in entries.iter().flat_map(Entry::games) {
        let materials = charted(game)
            .into_iter()
            .filter(|material| material.pieces() <= max_pieces);
        needs.push(Need {
            game,
            metric: Metric::Dtw,
            materials: materials.collect(),
        });
    }
    build_all(needs, means, setting)
}

/// Materials whose distances a document shows.
pub(crate) const CHARTED: [&str; 2] = ["KKKvK", "KKvK"];

/// Those of which a game has tables. None in chess, where a side has one king.
pub(crate) fn charted(game: &AnyGame) -> Vec<Material> {
    let materials = CHARTED.iter().filter_map(|name| name.parse().ok());
    let has_table = |material: &Material| with_game!(game, game => materials_of(game, *material)).is_ok();
    materials.filter(has_table).collect()
}

fn materials_of<G: Game>(game: &G, material: Material) -> Result<Vec<Material>, PlanError> {
    petrov_gen::materials(game, What::Material(material))
}

fn build_all(needs: Vec<Need<'_>>, means: Means, setting: &Setting) -> Result<(), Failure> {
    // In the order in which they are first asked for.
    let mut merged: Vec<Need<'_>> = Vec::new();
    let mut numbers: BTreeMap<([u8; 16], Metric), usize> = BTreeMap::new();
    for need in needs {
        let key: (_, Metric) = (Fingerprint::bytes(need.game.fingerprint()), need.metric);
        let number = *numbers.entry(key).or_insert_with(|| {
            merged.push(Need {
                materials: Vec::new(),
                ..need
            });
            merged.len() - 1
        });
        for material in need.materials {
            if !merged[number].materials.contains(&material) {
                merged[number].materials.push(material);
            }
        }
    }
    for need in &merged {
        with_game!(need.game, game => build_for(game, need, means, setting))?;
    }
    Ok(())
}

fn build_for<G: Game>(game: &G, need: &Need<'_>, means: Means, setting: &Setting) -> Result<(), Failure> {
    let options = BuildOptions {
        metrics: vec![need.metric],
        dirs: setting.dirs.clone(),
        threads: means.threads.unwrap_or(0).into(),
        memory: means.memory,
    };
    for root in roots(game, &need.materials)? {
        let plan = plan(game, What::Material(root), &options)?;
        for fault in &plan.damaged {
            setting.note(&format!("warning: damaged table, building it again: {fault}"));
        }
        if plan.is_done() {
            continue;
        }
        let progress = Progress::default();
        let announce = || {
            if setting.talks() {
                // Nobody reads it if it cannot be written.
                let _ = write!(std::io::stderr(), "{}", plan_in_words(game, &options, &plan, setting));
            }
        };
        progress::watch(&progress, !setting.talks(), announce, || {
            build(game, &plan, &options, &progress)
        })?;
    }
    Ok(())
}
