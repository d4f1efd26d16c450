//! Replays the fuzz corpus as a plain test.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use std::path::Path;

use common::source::{Seeded, Source};

/// Prints which input failed.
struct Failed<'a>(&'a Path);

impl Drop for Failed<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed on {}", self.0.display());
        }
    }
}

#[test]
fn every_corpus_input_is_clean() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/fuzz");
    if !fuzz.is_dir() {
        eprintln!("not run: a packaged crate has no corpus");
        return;
    }
    let dir = fuzz.join("corpus/index_ops");
    let entries = std::fs::read_dir(&dir).expect("the corpus is checked in");
    let mut files: Vec<_> = entries.map(|e| e.expect("readable").path()).collect();
    files.sort();
    assert!(
        files.len() >= 20,
        "{} inputs in {}",
        files.len(),
        dir.display()
    );
    for file in &files {
        let _failed = Failed(file);
        common::fuzz::index_ops(&std::fs::read(file).expect("readable"));
    }
}

#[test]
fn odd_inputs_are_clean() {
    common::fuzz::index_ops(&[]);
    for byte in 0..=255 {
        common::fuzz::index_ops(&[byte; 40]);
    }
    let mut s = Seeded(9);
    for len in 0..200 {
        let data: Vec<u8> = (0..len).map(|_| s.word().to_le_bytes()[0]).collect();
        common::fuzz::index_ops(&data);
    }
}
