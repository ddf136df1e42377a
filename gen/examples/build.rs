//! Builds tables with default options: `build GAME WHAT METRICS DIR [THREADS]`.
use petrov_games::draughts::Games;
use petrov_gen::{BuildOptions, Progress, build, plan};
use petrov_probe::Metric;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let games = Games::built_in();
    let game = games.get(&args[1])?;
    let metrics = Metric::ALL.into_iter().filter(|m| args[3].contains(m.name())).collect();
    let options = BuildOptions {
        metrics,
        dirs: vec![args[4].clone().into()],
        threads: args.get(5).map_or(1, |t| t.parse().unwrap()),
        memory: None,
    };
    let plan = plan(game, args[2].parse()?, &options)?;
    println!(
        "plan: {} positions, {} MB, {} MB disk, {:.1} s",
        plan.positions,
        plan.memory_bytes / 1000000,
        plan.disk_bytes / 1000000,
        plan.cpu_seconds
    );
    let report = build(game, &plan, &options, &Progress::default())?;
    let mut by = std::collections::BTreeMap::new();
    for t in &report.tables {
        let e = by
            .entry((t.material.pieces(), t.metric))
            .or_insert((0u64, 0u64, 0.0, 0.0));
        e.0 += t.bytes;
        e.1 += t.positions;
        e.2 += t.solve_cpu_seconds;
        e.3 += t.write_cpu_seconds;
    }
    for (k, v) in by {
        println!(
            "{k:?}: {} bytes, {} positions, {:.3} bits/pos, solve {:.2}s write {:.2}s",
            v.0,
            v.1,
            v.0 as f64 * 8.0 / v.1 as f64,
            v.2,
            v.3
        );
    }
    println!(
        "{} positions solve {:.2} write {:.2} cpu {:.2} wall {:.2} peak {} MB",
        report.positions,
        report.solve_cpu_seconds,
        report.write_cpu_seconds,
        report.cpu_seconds,
        report.wall_seconds,
        report.peak_memory_bytes / 1000000
    );
    Ok(())
}
