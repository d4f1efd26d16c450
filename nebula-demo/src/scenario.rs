//! The worlds to show, by name.

use nebula_coords::SpatialIndex;
use nebula_math::WorldPosition;

use crate::World;
use crate::in_process::Conditions;
use crate::rng::Rng;
use crate::show::Show;
use crate::world::{
    Cast, Globe, Ground, Home, PLAYER_SPEED_MM, Particles, Plan, Route, Town, Walker, Walkers,
};

/// How far players look in most scenarios, in millimetres.
pub const RADIUS_MM: i128 = 100_000;
/// How far from the middle of the patch entities live, in millimetres.
pub const SPREAD_MM: i64 = 500_000;
/// How far from the middle the player wanders by itself.
const PLAYER_HOME: Home = Home::around_the_middle(250_000);
/// Walking to cycling speed: 1 to 6 m/s.
const SPEED_MM: (i64, i64) = (50, 300);
/// The middle of the extremes: 300 m from the end of space on every axis.
const EDGE: WorldPosition = WorldPosition::new(i128::MAX - 300_000, i128::MIN + 300_000, i128::MAX);
/// The other end of space.
const OTHER_EDGE: WorldPosition =
    WorldPosition::new(i128::MIN + 300_000, i128::MAX - 300_000, i128::MIN);

/// A world to show.
///
/// ```
/// use nebula_demo::Scenario;
///
/// assert_eq!(Scenario::from_name("counter"), Some(Scenario::Counter));
/// assert_eq!(Scenario::Counter.build(1).entities(), 1_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scenario {
    /// A thousand entities walk around a player on a planet: how many are within 100 m?
    #[default]
    Counter,
    /// A hundred thousand in a hundred towns; one in ten walks.
    City,
    /// Ten thousand in one spot: the view is capped, the set is not.
    Crowd,
    /// Everyone paces across the border of the radius, in front of a client with a margin and one
    /// without.
    Border,
    /// Where three faces of a planet's cube and eight sectors meet.
    Seam,
    /// At the end of space, near `i128::MAX`.
    Extremes,
    /// A player leaps into a crowd of five thousand, under a budget.
    Teleport,
    /// Five thousand particles of different sizes that collide.
    Particles,
    /// People on tiles and floors.
    Tiles,
    /// Every fifth datagram is lost, and the others take 100 ms.
    Lossy,
}

impl Scenario {
    /// Every scenario, in the order `--help` lists them; the number keys follow it.
    pub const ALL: &[Self] = &[
        Self::Counter,
        Self::City,
        Self::Crowd,
        Self::Border,
        Self::Seam,
        Self::Extremes,
        Self::Teleport,
        Self::Particles,
        Self::Tiles,
        Self::Lossy,
    ];

    /// Returns the name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::City => "city",
            Self::Crowd => "crowd",
            Self::Border => "border",
            Self::Seam => "seam",
            Self::Extremes => "extremes",
            Self::Teleport => "teleport",
            Self::Particles => "particles",
            Self::Tiles => "tiles",
            Self::Lossy => "lossy",
        }
    }

    /// Returns a sentence that says what there is to see.
    #[must_use]
    pub const fn story(self) -> &'static str {
        match self {
            Self::Counter => "1,000 entities, three clients; one on the far side gets nothing",
            Self::City => "100,000 entities in 100 towns; one in ten walks",
            Self::Crowd => "10,000 in one spot: the view takes the nearest 4,096",
            Self::Border => "pacing across the border: client 0 has a margin, client 1 has none",
            Self::Seam => {
                "three cube faces meet where eight sectors do; blue dots in the ring are above or below it"
            }
            Self::Extremes => "300 m from the end of space; client 2 is at its other end",
            Self::Teleport => "client 0 leaps into a crowd of 5,000 on 64 KiB a second",
            Self::Particles => "5,000 particles of different sizes collide",
            Self::Tiles => "tiles and floors: steps that are blocked, people within reach",
            Self::Lossy => "20 % loss, 100 ms each way: late, and never wrong",
        }
    }

    /// Returns the scenario of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }

    /// Builds the world at tick 0, without clients. The same seed gives the same world.
    #[must_use]
    pub fn build(self, seed: u64) -> World {
        let index = Box::new(SpatialIndex::new());
        World::of(self.cast(seed), self.radius_mm(), index)
    }

    /// Builds the world with a server and its clients. The same seed gives the same bytes.
    #[must_use]
    pub fn show(self, seed: u64) -> Show {
        Show::new(self, seed, self.build(seed))
    }

    /// Returns everything that moves, at tick 0.
    #[must_use]
    pub fn cast(self, seed: u64) -> Box<dyn Cast> {
        let wander: fn(u64, u32, &mut Rng) -> Route =
            |_, _, _| Route::Wander(Home::around_the_middle(SPREAD_MM));
        let (entities, ground, route) = match self {
            Self::Particles => return Box::new(Particles::new(seed, 5_000)),
            Self::Tiles => return Box::new(Town::new(seed, 900)),
            Self::Counter | Self::Lossy => (1_000, Ground::POLE, wander),
            Self::City => (100_000, Ground::POLE, town as _),
            Self::Crowd => (10_000, Ground::POLE, huddle as _),
            Self::Teleport => (5_000, Ground::POLE, huddle as _),
            Self::Border => (400, Ground::POLE, pace as _),
            Self::Seam => (1_000, Ground::SEAM, wander),
            Self::Extremes => (1_000, Ground::plane(EDGE), wander),
        };
        Box::new(Walkers::new(
            seed,
            Plan {
                ground,
                entities,
                route,
                speed: SPEED_MM,
                players: self.players(seed, ground),
            },
        ))
    }

    /// Returns the players of a scenario with walkers, the one to watch first.
    fn players(self, seed: u64, ground: Ground) -> Vec<Walker> {
        let speed = (PLAYER_SPEED_MM, PLAYER_SPEED_MM);
        let walker = |ground, home, number| {
            let rng = match number {
                0 => Rng::new(seed),
                _ => Rng::for_member(!seed, number),
            };
            Walker::new(ground, Route::Wander(home), speed, rng)
        };
        let you = walker(ground, PLAYER_HOME, 0);
        let other = walker(ground, PLAYER_HOME, 1);
        let far = |ground| Walker::standing(ground, (0, 0), PLAYER_SPEED_MM);
        let standing = far(ground);
        match self {
            Self::Border => vec![standing.clone(), standing],
            Self::Crowd => vec![standing, other],
            Self::Teleport => {
                let route = Route::Leap {
                    first: (-900_000, 0),
                    second: (0, 0),
                    every: 60,
                };
                let leaper = Walker::new(ground, route, speed, Rng::new(seed));
                vec![leaper, standing]
            }
            Self::Seam => vec![you, other],
            Self::City => {
                let home = Home {
                    middle: town_middle(seed, 0),
                    spread_mm: 300_000,
                };
                vec![walker(ground, home, 0), walker(ground, home, 1)]
            }
            // They stand: whoever sees nobody and does not move is sent nothing.
            Self::Extremes => vec![you, other, far(Ground::plane(OTHER_EDGE))],
            Self::Counter | Self::Lossy | Self::Particles | Self::Tiles => {
                vec![you, other, far(Ground::FAR_SIDE)]
            }
        }
    }

    /// Returns the sphere that the map shows, if the ground lies on one.
    #[must_use]
    pub const fn globe(self) -> Option<Globe> {
        match self {
            Self::Seam => Ground::SEAM.globe(),
            Self::Extremes | Self::Particles | Self::Tiles => None,
            _ => Ground::POLE.globe(),
        }
    }

    /// Returns how far players look at first, in millimetres.
    #[must_use]
    pub const fn radius_mm(self) -> i128 {
        match self {
            Self::Particles => 40_000,
            Self::Tiles => 15_000,
            _ => RADIUS_MM,
        }
    }

    /// Returns how the links and the server are set at first.
    #[must_use]
    pub const fn conditions(self) -> Conditions {
        let usual = Conditions::USUAL;
        match self {
            Self::Lossy => Conditions {
                loss_percent: 20,
                latency_ms: 100,
                ..usual
            },
            Self::Teleport => Conditions {
                budget_bytes: 64 * 1_024,
                max_visible: 8_192,
                ..usual
            },
            // Pacing across the border looks different with a margin and without.
            Self::Border => Conditions {
                without_margin: Some(1),
                ..usual
            },
            Self::City | Self::Crowd => Conditions {
                budget_bytes: 512 * 1_024,
                ..usual
            },
            _ => usual,
        }
    }

    /// Returns half the width of what a new window shows, in millimetres.
    #[must_use]
    pub const fn half_view_mm(self) -> i64 {
        match self {
            Self::Border | Self::Crowd | Self::Teleport => 130_000,
            Self::Particles => 110_000,
            Self::Tiles => 44_000,
            _ => SPREAD_MM,
        }
    }

    /// Returns where a new window looks.
    #[must_use]
    pub fn middle(self, seed: u64) -> WorldPosition {
        match self {
            Self::City => {
                let (east, north) = town_middle(seed, 0);
                Ground::POLE.at(east, north)
            }
            Self::Seam => Ground::SEAM.at(0, 0),
            Self::Extremes => EDGE,
            Self::Particles => Particles::MIDDLE,
            Self::Tiles => Town::MIDDLE,
            _ => Ground::POLE.at(0, 0),
        }
    }
}

/// The middle of a town: a hundred of them, a kilometre apart.
fn town_middle(seed: u64, town: u32) -> (i64, i64) {
    let mut rng = Rng::for_member(seed.rotate_left(17), town);
    let grid = |v: u32| (i64::from(v) - 5) * 1_000_000;
    let (east, north) = (grid(town % 10), grid(town / 10));
    (
        east + rng.between(-200_000, 200_000),
        north + rng.between(-200_000, 200_000),
    )
}

/// One in ten walks around its town, the others stand in it.
fn town(seed: u64, id: u32, rng: &mut Rng) -> Route {
    let home = Home {
        middle: town_middle(seed, id % 100),
        spread_mm: 400_000,
    };
    if id.is_multiple_of(10) {
        return Route::Wander(home);
    }
    let spot = home.spot(rng);
    Route::Pace(spot, spot)
}

/// Everyone within 95 m of the middle.
fn huddle(_: u64, _: u32, _: &mut Rng) -> Route {
    Route::Wander(Home::around_the_middle(95_000))
}

/// To and fro between a spot inside 100 m and one outside, on the same line from the middle.
fn pace(_: u64, _: u32, rng: &mut Rng) -> Route {
    let ring = Home::around_the_middle(1_000);
    let (east, north) = loop {
        let (east, north) = ring.spot(rng);
        if east * east + north * north > 500_000 {
            break (east, north);
        }
    };
    let length = (east * east + north * north).isqrt();
    let out = |distance: i64| (east * distance / length, north * distance / length);
    let inner = rng.between(92_000, 99_500);
    let outer = rng.between(100_500, 108_000);
    Route::Pace(out(inner), out(outer))
}
