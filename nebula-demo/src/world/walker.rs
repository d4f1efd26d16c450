//! Someone who walks, in whole millimetres per tick.

use nebula_math::WorldPosition;

use super::ground::Ground;
use crate::rng::Rng;

/// How far away the next goal is at most, per axis.
const STRIDE_MM: i64 = 120_000;
/// How far from the middle a steered player gets: a walk of an hour, and far from the planet's edge.
const LEASH_MM: i64 = 20_000_000;

/// A disc of ground to live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Its middle, east and north.
    pub middle: (i64, i64),
    /// Its radius in millimetres.
    pub spread_mm: i64,
}

impl Home {
    /// Returns a disc around the middle of the patch.
    #[must_use]
    pub const fn around_the_middle(spread_mm: i64) -> Self {
        Self {
            middle: (0, 0),
            spread_mm,
        }
    }

    fn holds(&self, spot: (i64, i64)) -> bool {
        let (east, north) = (spot.0 - self.middle.0, spot.1 - self.middle.1);
        east * east + north * north <= self.spread_mm * self.spread_mm
    }

    /// Returns a spot in the disc, each equally likely.
    pub fn spot(&self, rng: &mut Rng) -> (i64, i64) {
        loop {
            let east = self.middle.0 + rng.between(-self.spread_mm, self.spread_mm);
            let north = self.middle.1 + rng.between(-self.spread_mm, self.spread_mm);
            // Four tries in five hit the disc.
            if self.holds((east, north)) {
                return (east, north);
            }
        }
    }
}

/// What a walker does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// From goal to goal within its home.
    Wander(Home),
    /// To and fro between two spots.
    Pace((i64, i64), (i64, i64)),
    /// Nowhere.
    Stand,
    /// At the first spot, and after so many ticks at the second, and so on.
    Leap {
        /// Where it begins.
        first: (i64, i64),
        /// Where it leaps to.
        second: (i64, i64),
        /// Ticks at each.
        every: u64,
    },
}

/// Someone who walks on a piece of ground.
#[derive(Clone, Debug)]
pub struct Walker {
    ground: Ground,
    spot: (i64, i64),
    goal: (i64, i64),
    speed_mm: i64,
    route: Route,
    steered: Option<(i64, i64)>,
    ticks: u64,
    rng: Rng,
}

impl Walker {
    /// Makes a walker that starts somewhere on its route and goes so many millimetres a tick.
    #[must_use]
    pub fn new(ground: Ground, route: Route, speed: (i64, i64), mut rng: Rng) -> Self {
        let spot = match route {
            Route::Wander(home) => home.spot(&mut rng),
            Route::Pace(from, _) => from,
            Route::Leap { first, .. } => first,
            Route::Stand => (0, 0),
        };
        let speed_mm = rng.between(speed.0, speed.1);
        let mut walker = Self {
            ground,
            spot,
            goal: spot,
            speed_mm,
            route,
            steered: None,
            ticks: 0,
            rng,
        };
        walker.choose_goal();
        walker
    }

    /// Makes a walker that never leaves a spot, unless steered at so many millimetres a tick.
    #[must_use]
    pub fn standing(ground: Ground, spot: (i64, i64), speed_mm: i64) -> Self {
        Self {
            spot,
            goal: spot,
            ..Self::new(ground, Route::Stand, (speed_mm, speed_mm), Rng::new(0))
        }
    }

    /// Walks for one tick.
    pub fn step(&mut self) {
        self.ticks += 1;
        if let (Route::Leap { .. }, None) = (self.route, self.steered) {
            return self.choose_goal();
        }
        let (dx, dy) = match self.steered {
            Some((east, north)) => (east * STRIDE_MM, north * STRIDE_MM),
            None => (self.goal.0 - self.spot.0, self.goal.1 - self.spot.1),
        };
        // Both are at most twice the leash, so their squares fit an `i64` with room to spare.
        let distance = (dx * dx + dy * dy).isqrt();
        if distance <= self.speed_mm {
            if self.steered.is_none() {
                self.spot = self.goal;
                self.choose_goal();
            }
            return;
        }
        let leash = |v: i64| v.clamp(-LEASH_MM, LEASH_MM);
        self.spot.0 = leash(self.spot.0 + dx * self.speed_mm / distance);
        self.spot.1 = leash(self.spot.1 + dy * self.speed_mm / distance);
    }

    /// Walks in the direction of these signs until told otherwise; `(0, 0)` returns to its route.
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
        self.ground.at(self.spot.0, self.spot.1)
    }

    /// Picks the next goal. One outside the home is replaced by a spot inside it.
    fn choose_goal(&mut self) {
        self.goal = match self.route {
            Route::Wander(home) => {
                let east = self.spot.0 + self.rng.between(-STRIDE_MM, STRIDE_MM);
                let north = self.spot.1 + self.rng.between(-STRIDE_MM, STRIDE_MM);
                if home.holds((east, north)) {
                    (east, north)
                } else {
                    home.spot(&mut self.rng)
                }
            }
            Route::Pace(from, to) if self.spot == to => from,
            Route::Pace(_, to) => to,
            Route::Stand => self.spot,
            Route::Leap {
                first,
                second,
                every,
            } => {
                let away = self.ticks / every.max(1) % 2 == 1;
                self.spot = if away { second } else { first };
                self.spot
            }
        };
    }
}
