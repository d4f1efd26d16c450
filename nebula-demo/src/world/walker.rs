//! Someone who walks from goal to goal.

use nebula_math::WorldPosition;

use super::ground::Ground;
use crate::rng::Rng;

/// How far from the middle of the patch entities live, in millimetres.
pub const SPREAD_MM: i64 = 500_000;
/// How far from the middle the player wanders by itself.
const PLAYER_SPREAD_MM: i64 = 250_000;
/// How far away the next goal is at most, per axis.
const STRIDE_MM: i64 = 120_000;
/// How far from the middle a steered player gets: a walk of an hour, and far from the planet's edge.
const LEASH_MM: i64 = 20_000_000;

/// Someone who walks from goal to goal, in whole millimetres per tick.
#[derive(Clone, Debug)]
pub struct Walker {
    east_mm: i64,
    north_mm: i64,
    goal: (i64, i64),
    speed_mm: i64,
    spread_mm: i64,
    steered: Option<(i64, i64)>,
    rng: Rng,
}

impl Walker {
    /// Makes an entity somewhere in the patch, at walking to cycling speed (1 to 6 m/s).
    #[must_use]
    pub fn entity(rng: Rng) -> Self {
        Self::placed(rng, SPREAD_MM, 50, 300)
    }

    /// Makes the player, who runs (8 m/s).
    #[must_use]
    pub fn player(rng: Rng) -> Self {
        Self::placed(rng, PLAYER_SPREAD_MM, 400, 400)
    }

    fn placed(mut rng: Rng, spread_mm: i64, slowest: i64, fastest: i64) -> Self {
        let (east_mm, north_mm) = spot(&mut rng, spread_mm);
        let speed_mm = rng.between(slowest, fastest);
        let mut walker = Self {
            east_mm,
            north_mm,
            goal: (east_mm, north_mm),
            speed_mm,
            spread_mm,
            steered: None,
            rng,
        };
        walker.choose_goal();
        walker
    }

    /// Walks for one tick.
    pub fn step(&mut self) {
        let (dx, dy) = match self.steered {
            Some((east, north)) => (east * STRIDE_MM, north * STRIDE_MM),
            None => (self.goal.0 - self.east_mm, self.goal.1 - self.north_mm),
        };
        // Both are at most twice the leash, so their squares fit an `i64` with room to spare.
        let distance = (dx * dx + dy * dy).isqrt();
        if distance <= self.speed_mm {
            if self.steered.is_none() {
                (self.east_mm, self.north_mm) = self.goal;
                self.choose_goal();
            }
            return;
        }
        let leash = |v: i64| v.clamp(-LEASH_MM, LEASH_MM);
        self.east_mm = leash(self.east_mm + dx * self.speed_mm / distance);
        self.north_mm = leash(self.north_mm + dy * self.speed_mm / distance);
    }

    /// Walks in the direction of these signs until told otherwise; `(0, 0)` returns to wandering.
    pub fn steer(&mut self, east: i64, north: i64) {
        let was_steered = self.steered.is_some();
        self.steered = (east != 0 || north != 0).then(|| (east.signum(), north.signum()));
        if was_steered && self.steered.is_none() {
            self.choose_goal();
        }
    }

    /// Returns where it stands.
    #[must_use]
    pub fn position(&self) -> WorldPosition {
        Ground::at(self.east_mm, self.north_mm)
    }

    /// Picks a goal nearby; one outside the patch is replaced by a spot inside it.
    fn choose_goal(&mut self) {
        let east = self.east_mm + self.rng.between(-STRIDE_MM, STRIDE_MM);
        let north = self.north_mm + self.rng.between(-STRIDE_MM, STRIDE_MM);
        self.goal = if east * east + north * north <= self.spread_mm * self.spread_mm {
            (east, north)
        } else {
            spot(&mut self.rng, self.spread_mm)
        };
    }
}

/// Returns a spot in the disc, each equally likely.
fn spot(rng: &mut Rng, spread_mm: i64) -> (i64, i64) {
    loop {
        let east = rng.between(-spread_mm, spread_mm);
        let north = rng.between(-spread_mm, spread_mm);
        // Four tries in five hit the disc.
        if east * east + north * north <= spread_mm * spread_mm {
            return (east, north);
        }
    }
}
