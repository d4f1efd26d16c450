//! Fuzz targets: they live in xtask/fuzz, a workspace of its own, which runs on stable Rust.

use anyhow::{Result, ensure};

use crate::flags::Limit;
use crate::run::{cargo_beside, root, run};

pub(crate) fn fuzz(target: &str, limit: Limit) -> Result<()> {
    let manifest = root().join("xtask/fuzz/Cargo.toml");
    ensure!(manifest.is_file(), "not built yet: xtask/fuzz");
    let mut command = cargo_beside("run --release", &manifest);
    command.args(["--bin", "fuzz", "--", target]);
    match limit {
        Limit::Seconds(n) => command.args(["--seconds", &n.to_string()]),
        Limit::Runs(n) => command.args(["--runs", &n.to_string()]),
    };
    run(&mut command)
}
