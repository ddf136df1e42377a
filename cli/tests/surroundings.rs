//! What the program meets outside: streams nobody reads, limits, odd files.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;

/// Runs a line of shell in the place's folder with `petrov` as `$P`; gives the
/// exit status.
fn shell(place: &Place, line: &str) -> Option<i32> {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env("P", env!("CARGO_BIN_EXE_petrov"))
        .env_remove("PETROV_TABLES")
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{line}: does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn standard_error_that_takes_nothing() {
    let place = Place::empty();
    for (line, status) in [
        ("$P probe nogame x 2>/dev/full", 2),
        ("$P probe --zzz 2>/dev/full", 2),
        ("$P gen russian 2 2>/dev/full", 0),
        ("$P gen russian 2 --json 2>&-", 0),
    ] {
        assert_eq!(shell(&place, line), Some(status), "{line}");
    }
}

#[test]
fn a_limit_of_file_size_is_an_error_like_a_full_disk() {
    let place = Place::empty();
    assert_eq!(
        shell(&place, "ulimit -f 1; $P gen russian KMvK --metric wld,dtw -q 2>err"),
        Some(3)
    );
    let said = std::fs::read_to_string(place.path("err")).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    let leftovers = place
        .files()
        .iter()
        .filter(|(path, _)| path.to_string_lossy().contains(".tmp-"))
        .count();
    assert_eq!(leftovers, 0);
    assert_eq!(shell(&place, "$P gen russian KMvK -q"), Some(0));
}

#[test]
fn a_pipe_named_like_a_table_is_no_table() {
    let place = Place::with_tables("russian", "2", "wld");
    std::fs::remove_file(place.path("tables/russian/KvK.wld.petrov")).unwrap();
    assert_eq!(shell(&place, "mkfifo tables/russian/KvK.wld.petrov"), Some(0));
    assert_eq!(shell(&place, "$P probe russian W:WKa1:BKh8 2>err"), Some(3));
    assert!(
        std::fs::read_to_string(place.path("err"))
            .unwrap()
            .contains("not a regular file")
    );
    assert_eq!(shell(&place, "$P probe russian W:Wa1:Bb8"), Some(0));
    assert_eq!(
        shell(&place, "$P info tables/russian/KvK.wld.petrov 2>/dev/null"),
        Some(3)
    );
    assert_eq!(shell(&place, "$P verify russian"), Some(1));
    // Nor is a folder, or a link to a disk that is not there: who builds leaves them alone, and says so before.
    for other in ["true", "rm F && mkdir F", "rmdir F && ln -s nowhere F"] {
        let line = other.replace('F', "tables/russian/KvK.wld.petrov");
        assert_eq!(
            shell(&place, &format!("{line} && $P gen russian 2 --metric wld 2>err")),
            Some(3)
        );
        let said = std::fs::read_to_string(place.path("err")).unwrap();
        assert!(
            said.lines().count() == 1 && said.contains("left as it is"),
            "{other}: {said}"
        );
    }
}

/// That is nothing which the tables have done, and whether it is noticed does not depend on where.
#[test]
fn too_few_file_descriptors_are_no_finding() {
    let place = Place::with_tables("russian", "3", "wld");
    std::fs::create_dir(place.path("tables/copies")).unwrap();
    let [table, copy] = ["russian", "copies"].map(|folder| place.path(format!("tables/{folder}/KvK.wld.petrov")));
    std::fs::copy(&table, &copy).unwrap();
    assert_eq!(shell(&place, "$P checksums >list"), Some(0));
    for command in [
        "verify russian",
        "checksums",
        "checksums --check list",
        "probe russian W:WKa1:BKh8",
    ] {
        // Too few to start with, and up to more than enough: the ten tables are kept open.
        let mut statuses = Vec::new();
        for limit in (5..=16).chain([100]) {
            let inherited = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
            let line = format!("{inherited}; exec 2>err; ulimit -n {limit}; exec $P {command} --read pread");
            let status = shell(&place, &line).unwrap();
            let said = std::fs::read_to_string(place.path("err")).unwrap();
            assert!(
                status == 0 || status == 3 && said.lines().count() == 1 && said.contains("Too many open files"),
                "{command} with {limit}: {status}, {said}"
            );
            statuses.push(status);
        }
        assert!(
            statuses[..7].iter().all(|&status| status == 3),
            "{command}: {statuses:?}"
        );
        assert_eq!(statuses.last(), Some(&0), "{command}: {statuses:?}");
    }
}

#[test]
fn findings_stay_findings_if_nobody_reads_them() {
    let place = Place::with_tables("russian", "2", "wld");
    std::fs::remove_file(place.path("tables/russian/KvK.wld.petrov")).unwrap();
    // The reader is gone before the answer comes.
    let line = "(sleep 0.3; $P verify russian 2 2>/dev/null; echo $? >status) | true; sleep 2";
    assert_eq!(shell(&place, line), Some(0));
    assert_eq!(std::fs::read_to_string(place.path("status")).unwrap().trim(), "1");
}

#[test]
fn damage_is_not_taken_for_absence() {
    let place = Place::with_tables("russian", "2", "wld,dtw");
    let path = place.path("tables/russian/KvK.dtw.petrov");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[30] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    // Both a position that is looked up and one that a capture ends.
    for fen in ["W:WKa1:BKh8", "W:WKb2:BKc3"] {
        assert_eq!(place.run(&["probe", "russian", fen]).status.code(), Some(3), "{fen}");
    }
}
