//! The worlds to show, by name.

use crate::World;

/// How many entities the counter scenario starts with.
pub const COUNTER_ENTITIES: u32 = 1_000;
/// How far the player looks, in millimetres.
pub const COUNTER_RADIUS_MM: i128 = 100_000;

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
}

impl Scenario {
    /// Every scenario, in the order `--help` lists them.
    pub const ALL: &[Self] = &[Self::Counter];

    /// Returns the name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
        }
    }

    /// Returns the scenario of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }

    /// Builds the world at tick 0. The same seed gives the same world.
    #[must_use]
    pub fn build(self, seed: u64) -> World {
        match self {
            Self::Counter => World::new(seed, COUNTER_ENTITIES, COUNTER_RADIUS_MM),
        }
    }
}
