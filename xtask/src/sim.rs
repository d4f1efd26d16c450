//! Simulations: a test of nebula-multiplayer, which reads from its environment how much to do.

use std::process::Command;

use anyhow::Result;

use crate::flags::Seeds;
use crate::run::{LIBRARIES, cargo, run};

/// The test that holds servers and clients, the faults and the oracle, and no other.
const TEST: &str = "--all-features --test sim -- --exact --nocapture every_seed_passes_the_oracle";

/// How many seeds CI runs, each twice.
const CI_SEEDS: u64 = 100;

/// Runs these simulations; fails when the oracle objects to one.
pub(crate) fn sim(seeds: Seeds) -> Result<()> {
    let command = cargo(&format!("test --release -p nebula-multiplayer {TEST}"));
    run(&mut with_seeds(command, seeds))
}

/// The same with what the tests with all features have built already.
pub(crate) fn sim_in_ci() -> Result<()> {
    let libraries = LIBRARIES.map(|name| format!("-p {name}")).join(" ");
    let command = cargo(&format!("test {libraries} {TEST}"));
    run(&mut with_seeds(command, Seeds::First(CI_SEEDS)))
}

fn with_seeds(mut command: Command, seeds: Seeds) -> Command {
    match seeds {
        Seeds::First(n) => command.env("NEBULA_SIM_SEEDS", n.to_string()),
        Seeds::Only(seed) => command.env("NEBULA_SIM_SEED", seed.to_string()),
    };
    command
}
