//! Time: CPU time of the process for nearly everything, wall time where threads are compared.

use std::hint::black_box;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// Runs the work and returns the CPU time that the whole process spent on it.
pub fn cpu<T>(work: impl FnOnce() -> T) -> Duration {
    let before = ProcessTime::now();
    black_box(work());
    before.elapsed()
}

/// Runs the work and returns how long it took by the wall clock.
pub fn wall<T>(work: impl FnOnce() -> T) -> Duration {
    let before = Instant::now();
    black_box(work());
    before.elapsed()
}

/// The least of several repeats.
#[derive(Clone, Copy, Debug, Default)]
pub struct Best {
    least: Option<Duration>,
    /// How many repeats there were.
    pub repeats: usize,
}

impl Best {
    /// Takes one more repeat into account.
    pub fn note(&mut self, time: Duration) {
        self.repeats += 1;
        self.least = Some(self.least.map_or(time, |least| least.min(time)));
    }

    /// Returns the least time in nanoseconds; infinite without a repeat.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.least
            .map_or(f64::INFINITY, |time| time.as_secs_f64() * 1e9)
    }
}

/// Tells how much of the machine others used: CPU time against wall time since the start.
#[derive(Debug)]
pub struct Share {
    cpu: ProcessTime,
    wall: Instant,
}

impl Share {
    /// Starts to watch.
    #[must_use]
    pub fn start() -> Self {
        Self {
            cpu: ProcessTime::now(),
            wall: Instant::now(),
        }
    }

    /// Returns the seconds since the start: (CPU, wall).
    #[must_use]
    pub fn seconds(&self) -> (f64, f64) {
        (
            self.cpu.elapsed().as_secs_f64(),
            self.wall.elapsed().as_secs_f64(),
        )
    }
}
