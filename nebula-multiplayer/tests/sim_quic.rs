//! Servers and clients over real QUIC endpoints, on a simulated network in virtual time.
//!
//! `cargo xtask sim --link quic` runs it with more seeds; `NEBULA_SIM_SEEDS` says how many,
//! `NEBULA_SIM_SEED` names a single one. Keys and nonces are new in each run, so two runs of a seed are
//! held against each other by who sent how many bytes when, not by the bytes.
#![expect(clippy::print_stdout, reason = "what was simulated is the point of it")]

#[allow(
    dead_code,
    reason = "the other simulation and the fuzz targets use the rest"
)]
mod oracle;
mod quic_sim;
mod seeds;

use std::time::Instant;

use nebula_multiplayer::transport::sim::FaultCounts;
use quic_sim::run::{Report, Sabotage, run};

/// Seeds that a plain test run goes through.
const FEW: u64 = 6;

/// The seeds after this many are run once; the ones before twice, to compare the runs.
const TWICE: u64 = 50;

#[test]
fn every_seed_converges() {
    let start = Instant::now();
    let check = |seed, twice| seeds::check(seed, twice, |seed| run(seed, Sabotage::None));
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
    let repeat = "cargo xtask sim --link quic";
    let failed = seeds::sum(results, repeat, |report| add(&mut total, report));
    print_totals(seeds, &total, start);
    assert_eq!(failed, 0, "of {seeds} seeds failed");
    if seeds >= 50 {
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
    total.joins += report.joins;
    total.resumes += report.resumes;
    total.kicks += report.kicks;
    total.crashes += report.crashes;
    total.pauses += report.pauses;
    total.readdressed += report.readdressed;
    total.server_crashes += report.server_crashes;
    total.server_restarts += report.server_restarts;
    total.server_pauses += report.server_pauses;
    total.overflows += report.overflows;
    total.spawns += report.spawns;
    total.despawns += report.despawns;
    total.messages += report.messages;
    total.hash = total.hash.rotate_left(1) ^ report.hash;
}

fn faults(total: &Report) -> [(&'static str, u64); 15] {
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
        ("pauses of lines", pauses),
        ("partitions", partitions),
        ("cuts", cuts),
        ("changed addresses", total.readdressed),
        ("crashes of clients", total.crashes),
        ("pauses of clients", total.pauses),
        ("crashes of servers", total.server_crashes),
        ("restarts of servers", total.server_restarts),
        ("pauses of servers", total.server_pauses),
        ("kicks", total.kicks),
        ("resumes", total.resumes),
    ]
}

fn print_totals(seeds: u64, total: &Report, start: Instant) {
    let counted = faults(total).map(|(name, n)| format!("{name} {n}"));
    println!("faults: {}", counted.join(", "));
    println!(
        "sessions: joins {}; entities: spawns {}, despawns {}; messages {}; lost by full sockets {}",
        total.joins, total.spawns, total.despawns, total.messages, total.overflows
    );
    println!(
        "sim over QUIC: {seeds} seeds, {} ticks, {} datagrams, hash {:016x}, {:.1} s",
        total.ticks,
        total.faults.datagrams,
        total.hash,
        start.elapsed().as_secs_f64()
    );
}

#[test]
fn a_line_that_stays_dead_and_a_ghost_are_noticed() {
    let error = run(0, Sabotage::Ghost).unwrap_err();
    assert!(error.contains("entity 18446744073709551615"), "{error}");
    let error = run(0, Sabotage::DeadLine).unwrap_err();
    assert!(error.contains("is not connected"), "{error}");
}
