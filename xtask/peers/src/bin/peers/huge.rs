//! Huge pages: for all or for none. The figures of a plain run are for none. For all, the same program
//! runs again with an allocator that asks the kernel for huge pages wherever a block is large enough,
//! whoever owns it: a setting of the C library, so no contender is changed.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use nebula_peers::machine;
use nebula_peers::report::{Goal, json};

use crate::Bench;

/// The name of this workload.
pub(crate) const NAME: &str = "huge-pages";

const TUNING: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
/// What is measured again.
const AGAIN: &str = "W1,W2,W2b";

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let policy = machine::huge_policy();
    if !cfg!(target_env = "gnu") || policy == "never" || policy == "unknown" {
        println!("\nnot run: huge pages (kernel policy {policy}, or no GNU C library)");
        return Ok(());
    }
    let file = std::env::temp_dir().join(format!("nebula-peers-{}.json", std::process::id()));
    let this = std::env::current_exe().context("where is this program?")?;
    let mut again = Command::new(this);
    again
        .args(["--only", AGAIN, "--inner", "--json"])
        .arg(&file);
    if bench.flags.quick {
        again.arg("--quick");
    }
    println!(
        "\n{NAME}: the same with {}={} for everyone",
        TUNING.0, TUNING.1
    );
    let start = Instant::now();
    let status = again
        .env(TUNING.0, TUNING.1)
        .stdout(std::process::Stdio::null())
        .status()?;
    bench.waited += start.elapsed().as_secs_f64();
    ensure!(
        status.success(),
        "the run with huge pages ended with {status}"
    );
    let report = json::read(&file)?;
    let _ = std::fs::remove_file(&file);
    for mut case in report.cases {
        case.name = format!("{}: {}, huge pages for all", case.workload, case.name);
        case.workload = NAME.to_owned();
        // Goals are held against the plain run.
        case.goal = Goal::default();
        bench.finish(case);
    }
    Ok(())
}
