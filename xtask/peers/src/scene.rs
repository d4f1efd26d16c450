//! Groups of walkers, far from each other: each client sees one group.

pub mod nebula;
pub mod replicon;

use std::time::Duration;

/// Entities that a client sees.
pub const SEEN: usize = 100;

/// Time between two ticks.
pub const TICK: Duration = Duration::from_millis(50);

/// How the entities move in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Not at all.
    Still,
    /// A walk: 5 to 10 cm.
    Walk,
    /// Five metres to and fro, too far for a step.
    Leap,
}

/// Returns where entity `n` of all stands at first, in millimetres.
#[must_use]
pub const fn home(n: usize) -> [i64; 3] {
    let (group, e) = ((n / SEEN) as i64, (n % SEEN) as i64);
    [group * 50_000_000 + e * 2_000 - 100_000, e * 37, -e * 11]
}

/// Returns by how much entity `n` moves along x and z in a tick.
#[must_use]
pub const fn stride(motion: Motion, n: usize, tick: u64) -> (i64, i64) {
    let sign = if (tick / 20).is_multiple_of(2) { 1 } else { -1 };
    let flip = if tick.is_multiple_of(2) { 1 } else { -1 };
    match motion {
        Motion::Still => (0, 0),
        Motion::Walk => (sign * (50 + (n % 50) as i64), -sign * 20),
        Motion::Leap => (flip * 5_000, 0),
    }
}
