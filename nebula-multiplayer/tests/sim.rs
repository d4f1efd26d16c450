//! Whole servers and clients under seeded faults, checked every tick by the oracle.
//!
//! `cargo xtask sim` runs it with more seeds; `NEBULA_SIM_SEEDS` says how many, `NEBULA_SIM_SEED`
//! names a single one.
#![expect(clippy::print_stdout, reason = "what was simulated is the point of it")]

#[allow(dead_code, reason = "the fuzz targets use the rest")]
mod oracle;
mod seeds;

use oracle::run::{Report, run, run_usual};
use seeds::{Plan, line_faults};

#[test]
fn every_seed_passes_the_oracle() {
    let plan = Plan {
        few: 10,
        twice: 100,
        enough: 10,
        repeat: "cargo xtask sim",
    };
    seeds::simulate(&plan, |seed| run(seed, false));
}

impl seeds::Report for Report {
    fn add(&mut self, other: &Self) {
        self.faults += other.faults;
        self.ticks += other.ticks;
        self.bytes += other.bytes;
        self.joins += other.joins;
        self.resumes += other.resumes;
        self.crashes += other.crashes;
        self.kicks += other.kicks;
        self.spoiled += other.spoiled;
        self.spawns += other.spawns;
        self.despawns += other.despawns;
        self.aged += other.aged;
        self.hash = self.hash.rotate_left(1) ^ other.hash;
    }

    fn faults(&self) -> Vec<(&'static str, u64)> {
        let mut all = line_faults(&self.faults).to_vec();
        all.extend([("crashes", self.crashes), ("resumes", self.resumes)]);
        all
    }

    fn summary(&self) -> String {
        format!(
            "{} ticks, {} datagrams, {} bytes, hash {:016x}; joins {}, kicks {}, dropped for damaged bytes {}; \
             spawns {}, despawns {}, ages checked {}",
            self.ticks,
            self.faults.datagrams,
            self.bytes,
            self.hash,
            self.joins,
            self.kicks,
            self.spoiled,
            self.spawns,
            self.despawns,
            self.aged
        )
    }
}

#[test]
fn seeds_that_failed_once_pass() {
    // Beyond the first hundred, which CI runs anyway.
    for seed in [
        505, 803, 1_021, 1_203, 1_432, 1_883, 2_314, 3_237, 4_189, 4_733, 5_381, 9_541,
    ] {
        // They failed with the usual settings.
        for result in [run_usual(seed), run(seed, false)] {
            if let Err(error) = result {
                panic!("{error}");
            }
        }
    }
}

#[test]
fn the_oracle_notices_when_the_send_check_is_missing() {
    let caught = (0..40).find_map(|seed| Some((seed, run(seed, true).err()?)));
    let (seed, error) = caught.expect("without the check something leaks");
    assert!(error.contains("leak"), "{error}");
    println!("without the check at the time of sending, {error}");
    run(seed, false).expect("with the check nothing leaks");
}
