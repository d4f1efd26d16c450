//! Servers and clients over real QUIC endpoints, on a simulated network in virtual time.
//!
//! `cargo xtask sim --link quic` runs it with more seeds; `NEBULA_SIM_SEEDS` says how many,
//! `NEBULA_SIM_SEED` names a single one. Keys and nonces are new in each run, so two runs of a seed are
//! held against each other by who sent how many bytes when, not by the bytes. How servers replicate, and how
//! much each side remembers, differs as in the other simulation.
#![expect(clippy::print_stdout, reason = "what was simulated is the point of it")]

#[allow(
    dead_code,
    reason = "the other simulation and the fuzz targets use the rest"
)]
mod oracle;
mod quic_sim;
mod seeds;

use quic_sim::run::{Befell, Report, Sabotage, run};
use seeds::{Plan, line_faults};

#[test]
fn every_seed_converges() {
    let plan = Plan {
        few: 6,
        twice: 1_000,
        enough: 50,
        repeat: "cargo xtask sim --link quic",
    };
    seeds::simulate(&plan, |seed| run(seed, Sabotage::None));
}

impl seeds::Report for Report {
    fn add(&mut self, other: &Self) {
        self.hash = self.hash.rotate_left(1) ^ other.hash;
        self.faults += other.faults;
        self.ticks += other.ticks;
        self.overflows += other.overflows;
        self.spawns += other.spawns;
        self.despawns += other.despawns;
        self.messages += other.messages;
        self.joins += other.joins;
        for (mine, others) in self.befell.iter_mut().zip(other.befell) {
            *mine += others;
        }
    }

    fn faults(&self) -> Vec<(&'static str, u64)> {
        let mut all = line_faults(&self.faults).to_vec();
        all.extend(Befell::NAMES.into_iter().zip(self.befell));
        all
    }

    fn summary(&self) -> String {
        format!(
            "{} ticks, {} datagrams, hash {:016x}; joins {}, spawns {}, despawns {}, messages {}, lost by full \
             sockets {}",
            self.ticks,
            self.faults.datagrams,
            self.hash,
            self.joins,
            self.spawns,
            self.despawns,
            self.messages,
            self.overflows
        )
    }
}

#[test]
fn a_line_that_stays_dead_and_a_ghost_are_noticed() {
    let error = run(0, Sabotage::Ghost).unwrap_err();
    assert!(error.contains("entity 18446744073709551615"), "{error}");
    let error = run(0, Sabotage::DeadLine).unwrap_err();
    assert!(error.contains("is not connected"), "{error}");
}
