//! Whole servers and clients under seeded faults, checked every tick by the oracle.
//!
//! `cargo xtask sim` runs it with more seeds; `NEBULA_SIM_SEEDS` says how many, `NEBULA_SIM_SEED`
//! names a single one.
#![expect(clippy::print_stdout, reason = "what was simulated is the point of it")]

#[allow(dead_code, reason = "the fuzz targets use the rest")]
mod oracle;
mod seeds;

use std::time::Instant;

use nebula_multiplayer::transport::sim::FaultCounts;
use oracle::run::{Report, run};

/// Seeds that a plain test run goes through.
const FEW: u64 = 10;

/// The seeds after this many are run once; the ones before twice, to compare every byte.
const TWICE: u64 = 100;

#[test]
fn every_seed_passes_the_oracle() {
    let start = Instant::now();
    let check = |seed, twice| seeds::check(seed, twice, |seed| run(seed, false));
    if let Some(seed) = seeds::number("NEBULA_SIM_SEED") {
        match check(seed, true) {
            Ok(report) => println!("seed {seed}: {report:?}"),
            Err(error) => panic!("{error}"),
        }
        return;
    }
    let seeds = seeds::number("NEBULA_SIM_SEEDS").unwrap_or(FEW);
    let results = seeds::run_all(seeds, |seed| check(seed, seed < TWICE));
    let mut total = Report::default();
    let failed = seeds::sum(results, "cargo xtask sim", |report| add(&mut total, report));
    print_totals(seeds, &total, start);
    assert_eq!(failed, 0, "of {seeds} seeds failed");
    if seeds >= FEW {
        let counted = faults(&total);
        assert!(
            counted.iter().all(|(_, n)| *n > 0),
            "a fault never struck: {counted:?}"
        );
    }
}

fn add(total: &mut Report, report: &Report) {
    total.faults += report.faults;
    total.ticks += report.ticks;
    total.bytes += report.bytes;
    total.joins += report.joins;
    total.resumes += report.resumes;
    total.crashes += report.crashes;
    total.kicks += report.kicks;
    total.spoiled += report.spoiled;
    total.spawns += report.spawns;
    total.despawns += report.despawns;
    total.aged += report.aged;
    total.hash = total.hash.rotate_left(1) ^ report.hash;
}

fn faults(total: &Report) -> [(&'static str, u64); 9] {
    let FaultCounts {
        drops,
        duplicates,
        reorders,
        corruptions,
        pauses,
        partitions,
        cuts,
        ..
    } = total.faults;
    [
        ("drops", drops),
        ("duplicates", duplicates),
        ("reorders", reorders),
        ("corruptions", corruptions),
        ("pauses", pauses),
        ("partitions", partitions),
        ("cuts", cuts),
        ("crashes", total.crashes),
        ("resumes", total.resumes),
    ]
}

fn print_totals(seeds: u64, total: &Report, start: Instant) {
    let counted = faults(total).map(|(name, n)| format!("{name} {n}"));
    println!("faults: {}", counted.join(", "));
    println!(
        "sessions: joins {}, kicks {}, dropped for damaged bytes {}; entities: spawns {}, despawns {}, ages checked {}",
        total.joins, total.kicks, total.spoiled, total.spawns, total.despawns, total.aged
    );
    println!(
        "sim: {seeds} seeds, {} ticks, {} datagrams, {} bytes, hash {:016x}, {:.1} s",
        total.ticks,
        total.faults.datagrams,
        total.bytes,
        total.hash,
        start.elapsed().as_secs_f64()
    );
}

#[test]
fn seeds_that_failed_once_pass() {
    // Beyond the first hundred, which CI runs anyway.
    for seed in [
        505, 803, 1_021, 1_203, 1_432, 1_883, 2_314, 3_237, 4_189, 4_733, 5_381, 9_541,
    ] {
        if let Err(error) = run(seed, false) {
            panic!("{error}");
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
