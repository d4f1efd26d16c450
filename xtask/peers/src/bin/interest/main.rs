//! `cargo xtask bench interest`: interest sets against what people write today, a k-d tree built anew
//! in every tick and two differences of hash sets.

#[allow(
    dead_code,
    reason = "the worlds of the index comparison, of which one is used here"
)]
#[path = "../peers/data.rs"]
mod data;
mod diff;
mod idle;
mod tick;

use std::process::ExitCode;

use anyhow::Result;
use nebula_peers::report::Case;
use nebula_peers::run::run;

/// 500 m.
const RADIUS_MM: u128 = 500_000;
const CLIENTS: usize = 1_000;

/// A workload: its name, and how it is run. `true` asks for a short run.
type Workload = (&'static str, fn(bool) -> Result<Vec<Case>>);

const WORKLOADS: [Workload; 3] = [("I1", tick::run), ("I2", idle::run), ("I3", diff::run)];

fn main() -> ExitCode {
    let names = WORKLOADS.map(|(name, _)| name);
    run("interest", &names, |flags, finish| {
        for (name, run) in WORKLOADS {
            if flags.wants(name) {
                run(flags.quick)?.into_iter().for_each(&mut *finish);
            }
        }
        Ok(())
    })
}
