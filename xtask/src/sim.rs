//! Simulations: a test of nebula-multiplayer, which reads from its environment how much to do.

use std::process::Command;

use anyhow::Result;

use crate::flags::Seeds;
use crate::run::{LIBRARIES, cargo, run};

/// How servers and clients are linked in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// By simulated lanes, right below the session: the oracle sees every byte.
    Session,
    /// By QUIC, over a simulated network: the sockets, and all above them, are real.
    Quic,
}

impl Link {
    /// The test that holds servers and clients, the faults and the oracle, and no other.
    const fn test(self) -> &'static str {
        match self {
            Self::Session => "sim -- --exact --nocapture every_seed_passes_the_oracle",
            Self::Quic => "sim_quic -- --exact --nocapture every_seed_converges",
        }
    }

    /// How many seeds CI runs, each twice.
    const fn ci_seeds(self) -> u64 {
        match self {
            Self::Session => 100,
            Self::Quic => 50,
        }
    }
}

/// Runs these simulations; fails when the oracle objects to one.
pub(crate) fn sim(link: Link, seeds: Seeds) -> Result<()> {
    let test = link.test();
    let command = cargo(&format!(
        "test --release -p nebula-multiplayer --all-features --test {test}"
    ));
    run(&mut with_seeds(command, seeds))
}

/// The same with what the tests with all features have built already.
pub(crate) fn sim_in_ci(link: Link) -> Result<()> {
    let libraries = LIBRARIES.map(|name| format!("-p {name}")).join(" ");
    let test = link.test();
    let command = cargo(&format!("test {libraries} --all-features --test {test}"));
    run(&mut with_seeds(command, Seeds::First(link.ci_seeds())))
}

fn with_seeds(mut command: Command, seeds: Seeds) -> Command {
    match seeds {
        Seeds::First(n) => command.env("NEBULA_SIM_SEEDS", n.to_string()),
        Seeds::Only(seed) => command.env("NEBULA_SIM_SEED", seed.to_string()),
    };
    command
}
