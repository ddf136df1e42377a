//! The header that is kept in the repository.

use std::path::Path;

use sha2::{Digest as _, Sha256};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of `src`, by name.
fn sources() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| format!("src/{}", entry.unwrap().file_name().display()))
        .collect();
    names.sort();
    names
}

#[test]
fn the_header_is_current() {
    let mut sum = Sha256::new();
    sum.update(read("cbindgen.toml"));
    sources().iter().for_each(|name| sum.update(read(name)));
    let sum: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(
        read("include/petrov.h.sources").trim() == sum,
        "capi/include/petrov.h is not current: run scripts/c-header"
    );
}

/// Each function says whose memory is whose, and which threads may call it.
#[test]
fn every_call_is_documented() {
    let header = read("include/petrov.h");
    let mut calls = 0;
    for name in sources() {
        let text = read(&name);
        for part in text.split("#[unsafe(no_mangle)]\npub extern \"C\" fn ").skip(1) {
            let name = part.split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
            let before = text.split(&format!("pub extern \"C\" fn {name}(")).next().unwrap();
            let comment: Vec<&str> = before
                .trim_end_matches("#[unsafe(no_mangle)]\n")
                .lines()
                .rev()
                .take_while(|line| line.starts_with("///"))
                .collect();
            let comment = comment.join("\n");
            assert!(
                comment.contains("Memory: ") && comment.contains("Threads: "),
                "{name}: {comment}"
            );
            calls += 1;
        }
    }
    assert!(calls >= 15, "{calls}");
}
