//! Which seeds run, and all of them on all cores.

use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the number in an environment variable, if it is set.
pub(crate) fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a whole number"))
}

/// Runs a seed, twice if asked, and returns its report, which must be the same both times.
pub(crate) fn check<R: PartialEq>(
    seed: u64,
    twice: bool,
    run: impl Fn(u64) -> Result<R, String>,
) -> Result<R, String> {
    let report = run(seed)?;
    if twice && run(seed)? != report {
        return Err(format!("seed {seed}: two runs sent different bytes"));
    }
    Ok(report)
}

/// Runs the seeds on all cores; the results are in the order of the seeds.
pub(crate) fn run_all<R: Send>(
    seeds: u64,
    check: impl Fn(u64) -> Result<R, String> + Sync + std::panic::RefUnwindSafe,
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

/// Adds up the reports of the seeds that passed, and prints how to repeat those that failed. Returns
/// how many failed.
pub(crate) fn sum<R>(
    results: Vec<(u64, Result<R, String>)>,
    repeat: &str,
    mut add: impl FnMut(&R),
) -> usize {
    let mut failed = 0;
    for (seed, result) in results {
        match result {
            Ok(report) => add(&report),
            Err(error) => {
                failed += 1;
                println!("{error}\n  repeat: {repeat} --seed {seed}");
            }
        }
    }
    failed
}
