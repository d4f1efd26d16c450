//! Benchmarks: bench targets of the library they measure, and binaries of xtask/peers, which compare
//! with other libraries.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::flags::{Bench, PEERS};
use crate::run::{cargo, cargo_beside, root, run};

pub(crate) fn bench(bench: Bench, flags: &[String]) -> Result<()> {
    let mut command = if bench.package == PEERS {
        beside(bench.name)
    } else {
        cargo(&format!(
            "bench -p {} --bench {} --",
            bench.package, bench.name
        ))
    };
    command.args(absolute_json(flags)?);
    run(&mut command)
}

/// A binary of xtask/peers, built for this very processor: the SIMD code of some peers is chosen when
/// they are compiled, and ours must not have an advantage over them, nor they over us.
fn beside(name: &str) -> Command {
    let manifest = root().join("xtask/peers/Cargo.toml");
    let mut command = cargo_beside("run --release", &manifest);
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{flags} -C target-cpu=native");
    command
        .args(["--bin", name, "--"])
        .env("RUSTFLAGS", flags.trim());
    command
}

/// Cargo starts a benchmark in its package's folder, so a relative `--json` file would land there.
fn absolute_json(flags: &[String]) -> Result<Vec<String>> {
    let mut out = flags.to_vec();
    for i in 1..out.len() {
        if out[i - 1] == "--json" {
            let path = std::path::absolute(Path::new(&out[i]))
                .with_context(|| format!("--json {} is no usable path", out[i]))?;
            out[i] = path.display().to_string();
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_files_land_where_the_command_was_typed() {
        let flags = ["--quick", "--json", "out.json"].map(str::to_owned);
        let out = absolute_json(&flags).expect("a plain name");
        assert_eq!(out[..2], ["--quick", "--json"]);
        assert_eq!(
            Path::new(&out[2]),
            std::env::current_dir().expect("a folder").join("out.json")
        );
    }
}
