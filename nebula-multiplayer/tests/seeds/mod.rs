//! Which seeds run, all of them on all cores, and what they went through together.

use core::fmt::Debug;
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use nebula_multiplayer::transport::sim::FaultCounts;

/// How a simulation is run over seeds.
pub(crate) struct Plan {
    /// Seeds that a plain test run goes through; `NEBULA_SIM_SEEDS` says how many else, and
    /// `NEBULA_SIM_SEED` names a single one.
    pub(crate) few: u64,
    /// The seeds after this many are run once; the ones before twice, to compare the runs.
    pub(crate) twice: u64,
    /// From so many seeds on every fault must have struck.
    pub(crate) enough: u64,
    /// What repeats a seed, with its number behind.
    pub(crate) repeat: &'static str,
}

/// What a simulation went through. Reports add up over seeds.
pub(crate) trait Report: Clone + Debug + Default + PartialEq + Send {
    /// Takes in what another seed went through.
    fn add(&mut self, other: &Self);

    /// Returns what befell it, by name.
    fn faults(&self) -> Vec<(&'static str, u64)>;

    /// Returns the rest of it, for people.
    fn summary(&self) -> String;
}

/// Returns what befell lines, by name.
pub(crate) fn line_faults(counts: &FaultCounts) -> [(&'static str, u64); 7] {
    [
        ("drops", counts.drops),
        ("duplicates", counts.duplicates),
        ("reorders", counts.reorders),
        ("corruptions", counts.corruptions),
        ("pauses", counts.pauses),
        ("partitions", counts.partitions),
        ("cuts", counts.cuts),
    ]
}

/// Runs a simulation over seeds, prints what it went through and how to repeat a seed that failed.
///
/// # Panics
/// When a seed fails, or a fault never struck.
pub(crate) fn simulate<R: Report>(
    plan: &Plan,
    run: impl Fn(u64) -> Result<R, String> + Sync + RefUnwindSafe,
) {
    let start = Instant::now();
    if let Some(seed) = number("NEBULA_SIM_SEED") {
        match check(seed, true, &run) {
            Ok(report) => println!("seed {seed}: {report:?}"),
            Err(error) => panic!("{error}"),
        }
        return;
    }
    let seeds = number("NEBULA_SIM_SEEDS").unwrap_or(plan.few);
    let mut total = R::default();
    let mut failed = 0;
    for (seed, result) in run_all(seeds, |seed| check(seed, seed < plan.twice, &run)) {
        match result {
            Ok(report) => total.add(&report),
            Err(error) => {
                failed += 1;
                println!("{error}\n  repeat: {} --seed {seed}", plan.repeat);
            }
        }
    }
    let faults = total.faults();
    let counted: Vec<String> = faults
        .iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    println!("faults: {}", counted.join(", "));
    let seconds = start.elapsed().as_secs_f64();
    println!("sim: {seeds} seeds, {}, {seconds:.1} s", total.summary());
    assert_eq!(failed, 0, "of {seeds} seeds failed");
    let never = faults.iter().find(|(_, n)| *n == 0);
    assert!(seeds < plan.enough || never.is_none(), "never: {never:?}");
}

/// Returns the number in an environment variable, if it is set.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a whole number"))
}

/// Runs a seed, twice if asked, and returns its report, which must be the same both times.
fn check<R: PartialEq>(
    seed: u64,
    twice: bool,
    run: &impl Fn(u64) -> Result<R, String>,
) -> Result<R, String> {
    let report = run(seed)?;
    if twice && run(seed)? != report {
        return Err(format!("seed {seed}: two runs differ"));
    }
    Ok(report)
}

/// Runs the seeds on all cores; the results are in the order of the seeds.
fn run_all<R: Send>(
    seeds: u64,
    check: impl Fn(u64) -> Result<R, String> + Sync + RefUnwindSafe,
) -> Vec<(u64, Result<R, String>)> {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return done;
            }
            if seed > 0 && seed.is_multiple_of(1_000) {
                println!("{seed} seeds begun");
            }
            let result = std::panic::catch_unwind(|| check(seed));
            let result = result.unwrap_or_else(|_| Err(format!("seed {seed}: panicked")));
            done.push((seed, result));
        }
    };
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic gets here"));
        joined.flatten().collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all
}
