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

/// A place on a planet of radius 6,371 km around the origin, as in the comparison of indexes: a game at
/// the origin itself would flatter those who write small numbers in few bytes.
const TOWN: [i64; 3] = [3_185_500_000, 4_504_977_302, -3_185_500_000];

/// Groups are 50 km apart.
const APART: i64 = 50_000_000;

/// Returns where entity `n` of all stands at first, in millimetres.
#[must_use]
pub const fn home(n: usize) -> [i64; 3] {
    let (group, e) = ((n / SEEN) as i64, (n % SEEN) as i64);
    let [x, y, z] = TOWN;
    let x = x + group * APART + e * 2_000 - 100_000;
    [x, y + e * 37, z - e * 11]
}

/// Returns the group of whoever stands here.
#[must_use]
pub const fn group_at(at: [i64; 3]) -> i64 {
    (at[0] - TOWN[0] + APART / 2).div_euclid(APART)
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
