//! A server and a swarm of clients over real sockets: xtask/load, a workspace of its own.

use std::path::PathBuf;

use anyhow::Result;

use crate::run::{cargo_beside, root, run};

/// A load small enough for every run of CI: some fifteen seconds, once it is built.
const SMALL: [&str; 6] = ["--clients", "4", "--entities", "500", "--seconds", "3"];

/// Returns the manifest of the programs.
pub(crate) fn manifest() -> PathBuf {
    root().join("xtask/load/Cargo.toml")
}

/// Runs a load; fails when a client differs from the truth, or a goal that counts is missed.
pub(crate) fn load(flags: &[String]) -> Result<()> {
    run(cargo_beside("run --locked --release", &manifest())
        .args(["--", "run"])
        .args(flags))
}

/// The tests of the programs, and a small load.
pub(crate) fn load_in_ci() -> Result<()> {
    run(&mut cargo_beside("test --locked --release", &manifest()))?;
    load(&SMALL.map(str::to_owned))
}
