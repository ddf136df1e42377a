//! The command line of `petrov-cluster`: answers, and errors that one rank says for all.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{PROGRAM, cluster, done, fails, files, mpirun};
use petrov_games::Games;
use serde_json::Value;
use tempfile::TempDir;

/// mpirun with other arguments for each rank.
fn each(arguments: &[&[&str]]) -> Command {
    let mut command = mpirun();
    for (rank, arguments) in arguments.iter().enumerate() {
        if rank > 0 {
            command.arg(":");
        }
        command.args(["-n", "1"]).args(*arguments);
    }
    command
}

#[test]
fn ranks_say_where_they_are() {
    let said = done(&mut cluster(3, &["ranks"]));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    for (rank, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("rank {rank} of 3: ")), "{line}");
        assert!(line.ends_with(" thread") || line.ends_with(" threads"), "{line}");
    }
}

#[test]
fn help_and_version_are_said_once() {
    let version = done(&mut cluster(3, &["--version"]));
    assert_eq!(version.lines().count(), 1);
    assert!(
        version.starts_with("petrov-cluster ") && version.contains("table format"),
        "{version}"
    );
    let help = done(&mut cluster(2, &["gen", "--help"]));
    assert_eq!(help.matches("--split-from").count(), 1, "{help}");
    // Without mpirun, too.
    let alone = Command::new(PROGRAM).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8(alone.stdout).unwrap(), version);
}

#[test]
fn wrong_usage_is_said_once() {
    let place = TempDir::new().unwrap();
    let tables = place.path().join("tables").display().to_string();
    for (arguments, words) in [
        (vec!["gen", "russian"], ["WHAT", "Usage: petrov-cluster gen"]),
        (vec!["gen", "rusian", "3"], ["\"rusian\"", "did you mean russian"]),
        (vec!["gen", "russian", "KvX"], ["KvX", "kings K and men M"]),
        (vec!["gen", "russian", "13"], ["`13` pieces", "from 2 to 12"]),
        (vec!["gen", "russian", "3", "--threads", "0"], ["--threads", "1..=1024"]),
        (
            vec!["gen", "russian", "3", "--metric", "dtm"],
            ["dtm", "wld, dtw or dtz"],
        ),
        (
            vec!["gen", "russian", "3", "--checkpoint", "soon"],
            ["soon", "--checkpoint"],
        ),
        (vec!["collect", "rusian"], ["\"rusian\"", "did you mean russian"]),
        (
            vec!["ranks", "--rules", "nowhere.toml"],
            ["nowhere.toml", "No such file"],
        ),
    ] {
        fails(cluster(3, &["--tables", &tables]).args(arguments), 2, &words);
    }
    assert!(!Path::new(&tables).exists());
}

#[test]
fn one_rank_speaks_for_all() {
    let place = TempDir::new().unwrap();
    let tables = place.path().join("tables").display().to_string();
    let gen_tables = [PROGRAM, "-q", "--tables", &tables, "gen", "russian", "3"];
    // A rank alone has a rule file that is not there.
    let mut other = gen_tables.to_vec();
    other.extend(["--rules", "nowhere.toml"]);
    fails(
        &mut each(&[&gen_tables, &other, &gen_tables]),
        2,
        &["rank 1 on ", "nowhere.toml"],
    );
    // All have too little memory; the first says it.
    let mut small = gen_tables.to_vec();
    small.extend(["--memory", "1K"]);
    fails(
        &mut each(&[&small, &small, &small]),
        3,
        &["rank 0 on ", "of memory needed", "--memory"],
    );
    // Ranks of which each does something else would wait for each other.
    for other in [
        &[PROGRAM, "ranks"][..],
        &[PROGRAM, "-q", "collect", "russian"],
        &[PROGRAM, "--help"],
    ] {
        fails(
            &mut each(&[&gen_tables, other]),
            2,
            &["rank 1 was started with", "start all ranks alike"],
        );
        fails(&mut each(&[other, &gen_tables]), 2, &["rank 1 was started with `gen`"]);
    }
    let mut wrong = gen_tables.to_vec();
    wrong.push("--bad");
    fails(&mut each(&[&gen_tables, &wrong]), 2, &["rank 1 on ", "--bad"]);
    // Nor would they build the same.
    let mut other = gen_tables.to_vec();
    other.extend(["--metric", "dtz"]);
    fails(
        &mut each(&[&gen_tables, &other]),
        3,
        &["petrov-cluster: rank 1 has another --metric than rank 0: dtz, not wld,dtw"],
    );
    // A folder that cannot be made.
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("tables").display().to_string();
    fails(
        &mut cluster(3, &["-q", "--tables", &below, "gen", "russian", "2"]),
        3,
        &[&below, "cannot create the folder"],
    );
    // An answer that cannot be written is an error of rank 0.
    let full = r#"exec "$0" ranks >/dev/full"#;
    fails(
        &mut each(&[&["sh", "-c", full, PROGRAM], &[PROGRAM, "ranks"]]),
        3,
        &["rank 0 on ", "cannot write to standard output"],
    );
}

/// A full disk is met by a limit of file sizes, on one rank alone.
#[test]
fn a_full_disk_of_one_rank_ends_all() {
    let place = TempDir::new().unwrap();
    let tables = place.path().join("{rank}").display().to_string();
    let arguments = ["-q", "--tables", &tables, "gen", "russian", "4", "--threads", "1"];
    let plain: Vec<&str> = [PROGRAM].into_iter().chain(arguments).collect();
    let limited: Vec<&str> = ["sh", "-c", r#"ulimit -f 2; exec "$0" "$@""#, PROGRAM]
        .into_iter()
        .chain(arguments)
        .collect();
    fails(
        &mut each(&[&limited, &plain, &plain]),
        3,
        &["rank 0 on ", "File too large"],
    );
    let left = files(place.path());
    assert!(
        left.iter()
            .all(|(name, _)| name.extension().is_some_and(|end| end == "petrov"))
    );
    // Nothing is lost: the same command goes on.
    done(&mut each(&[&plain, &plain, &plain]));
    let now = files(place.path());
    for file in left {
        assert!(now.contains(&file), "{} has changed", file.0.display());
    }
}

/// Ranks must build tables of the same rules, whatever their games are called.
#[test]
fn ranks_with_other_rules_end_at_once() {
    let place = TempDir::new().unwrap();
    let tables = place.path().join("tables").display().to_string();
    let games = Games::built_in();
    let russian = games.draughts("russian").unwrap().rule_file().to_toml();
    let mut files = Vec::new();
    for (number, capture) in ["diag-all", "diag-fwd"].into_iter().enumerate() {
        let rules = russian
            .replace("name = \"russian\"", "name = \"mine\"")
            .replace("man_capture = \"diag-all\"", &format!("man_capture = \"{capture}\""));
        assert!(rules.contains(capture) && rules.contains("\"mine\""), "{rules}");
        let path = place.path().join(format!("{number}.toml"));
        fs::write(&path, rules).unwrap();
        files.push(path.display().to_string());
    }
    let with = |file: usize| {
        [
            PROGRAM,
            "-q",
            "--tables",
            &tables,
            "--rules",
            &files[file],
            "gen",
            "mine",
            "3",
        ]
    };
    let start = Instant::now();
    fails(&mut each(&[&with(0), &with(1), &with(0)]), 3, &["rank 1", "rules"]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    done(&mut each(&[&with(1), &with(1)]));
}

/// As somebody who may not read a table: root may read everything.
#[test]
fn a_table_that_may_not_be_read_is_left_alone() {
    let place = TempDir::new().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let tables = place.path().join("tables").display().to_string();
    let root = rustix::process::geteuid().is_root();
    let program = place.path().join("petrov-cluster");
    fs::copy(PROGRAM, &program).unwrap();
    let program = program.display().to_string();
    let run = |what: &str| {
        let mut command = Command::new("setpriv");
        if root {
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        }
        let mpi = mpirun();
        command.arg("mpirun").args(mpi.get_args()).args(["-n", "2", &program]);
        command.args(["-q", "--tables", &tables, "gen", "russian", what]);
        command
            .env("HOME", place.path())
            .env("TMPDIR", place.path())
            .current_dir(place.path());
        command
    };
    done(&mut run("2"));
    let table = Path::new(&tables).join("russian/KvK.wld.petrov");
    fs::set_permissions(&table, fs::Permissions::from_mode(0o000)).unwrap();
    fails(&mut run("3"), 3, &["KvK.wld.petrov", "left as it is"]);
}

#[test]
fn the_report_has_every_rank() {
    let place = TempDir::new().unwrap();
    let tables = place.path().display().to_string();
    let arguments = [
        "-q",
        "--tables",
        &tables,
        "gen",
        "russian",
        "3",
        "--threads",
        "1",
        "--json",
    ];
    let answer = done(&mut cluster(3, &arguments));
    assert_eq!(answer.lines().count(), 1);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["tables"].as_array().unwrap().len(), 18);
    assert_eq!(answer["positions"], 3_488 + 196_032);
    let ranks = answer["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 3);
    for (number, rank) in ranks.iter().enumerate() {
        assert_eq!(rank["rank"], number);
        assert_eq!(rank["threads"], 1);
        assert!(!rank["host"].as_str().unwrap().is_empty());
        for figure in [
            "positions",
            "positions_per_second",
            "cpu_seconds",
            "communication_seconds",
            "waiting_seconds",
            "sent_bytes",
            "received_bytes",
            "peak_memory_bytes",
        ] {
            assert!(rank[figure].is_number(), "{figure}: {rank}");
        }
    }
    let positions: u64 = ranks.iter().map(|rank| rank["positions"].as_u64().unwrap()).sum();
    assert_eq!(answer["positions"], positions);
    // Once all is there, there is nothing to do, and the answer is the same.
    let again: Value = serde_json::from_str(&done(&mut cluster(2, &arguments))).unwrap();
    assert_eq!(again["positions"], 0);
    assert_eq!(again["ranks"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_found_is_logged_once() {
    let place = TempDir::new().unwrap();
    let tables = place.path().display().to_string();
    let mut command = cluster(3, &["--tables", &tables, "gen", "russian", "2", "--threads", "1000"]);
    let output = common::output(&mut command);
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(log.matches("3 ranks with 1,000 threads each").count(), 1, "{log}");
    assert_eq!(log.matches("3,000 threads for ").count(), 1, "{log}");
    let said = String::from_utf8(output.stdout).unwrap();
    // A row for each rank and one for all.
    let rows: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("rank")).collect();
    assert_eq!(rows.len(), 5, "{said}");
    assert!(rows[4].trim_start().starts_with("all"), "{said}");
}
