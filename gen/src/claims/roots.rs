//! Which tables have to be asked for so that some materials are there.

use std::collections::HashSet;

use petrov_games::{Game, Material};

use crate::plan::{PlanError, What, materials};

/// Materials which, with all that they can turn into, include all of
/// `wanted`: those to ask [`plan`](crate::plan()) for.
///
/// # Errors
/// If one of them has no table.
pub fn roots<G: Game>(game: &G, wanted: &[Material]) -> Result<Vec<Material>, PlanError> {
    let mut covered = HashSet::new();
    let mut roots = Vec::new();
    // Those that turn into most come first.
    let mut order = Vec::new();
    for material in wanted {
        let closure = materials(game, What::Material(*material))?;
        order.push((closure.len(), *material, closure));
    }
    order.sort_by_key(|(size, material, _)| std::cmp::Reverse((*size, *material)));
    for (_, material, closure) in order {
        if !covered.contains(&material) {
            covered.extend(closure);
            roots.push(material);
        }
    }
    Ok(roots)
}
