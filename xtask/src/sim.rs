//! Simulations: a test of nebula-multiplayer, which reads from its environment how much to do.

use anyhow::Result;

use crate::flags::Seeds;
use crate::run::{cargo, run};

/// The test that holds servers and clients, the faults and the oracle.
const TEST: &str = "test --release -p nebula-multiplayer --all-features --test sim -- --exact --nocapture --include-ignored";

/// Runs these simulations; fails at the first that the oracle objects to.
pub(crate) fn sim(seeds: Seeds) -> Result<()> {
    let mut command = cargo(TEST);
    command.arg("every_seed_passes_the_oracle");
    match seeds {
        Seeds::First(n) => command.env("NEBULA_SIM_SEEDS", n.to_string()),
        Seeds::Only(seed) => command.env("NEBULA_SIM_SEED", seed.to_string()),
    };
    run(&mut command)
}
