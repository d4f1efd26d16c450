//! A scenario that runs: the world, and the server and clients around it.

use std::time::{Duration, Instant};

use nebula_math::WorldPosition;

use crate::in_process::Network;
use crate::world::Extra;
use crate::{Reading, Scenario, World};

/// How long clients are given to catch up with a world that stands still: 20 seconds of its time.
const SETTLE_TICKS: u32 = 400;

/// A scenario that runs.
///
/// ```
/// use nebula_demo::Scenario;
///
/// let mut show = Scenario::Border.show(7);
/// for _ in 0..30 {
///     show.step();
/// }
/// assert!(show.settle().is_some(), "every client has the truth");
/// ```
#[derive(Debug)]
pub struct Show {
    scenario: Scenario,
    seed: u64,
    world: World,
    network: Network,
    tick_time: Duration,
}

impl Show {
    /// Puts a server and clients around a world.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64, world: World) -> Self {
        let network = Network::new(seed, &world, scenario.conditions());
        Self {
            scenario,
            seed,
            world,
            network,
            tick_time: Duration::ZERO,
        }
    }

    /// Lets one tick pass: everyone moves, and the server tells those who must be told.
    pub fn step(&mut self) {
        self.world.step();
        let start = Instant::now();
        self.network.step(&self.world);
        self.tick_time = start.elapsed();
    }

    /// Counts who is near the watched player, with the index and by asking everyone.
    pub fn measure(&mut self) -> Reading {
        self.world.measure()
    }

    /// Lets the world stand still until every client has the truth; returns how many ticks that
    /// took, or `None` when one still differs after 20 seconds of the world's time.
    pub fn settle(&mut self) -> Option<u32> {
        self.network.settle(SETTLE_TICKS)
    }

    /// Returns where a new window looks.
    #[must_use]
    pub fn middle(&self) -> WorldPosition {
        self.scenario.middle(self.seed)
    }

    /// Returns the margin of a client, in millimetres.
    #[must_use]
    pub fn margin_mm(&self, client: usize) -> i128 {
        let percent = self.network.conditions().margin_percent_of(client);
        self.world.radius_mm().max(0) / 100 * i128::from(percent)
    }

    /// Returns what the scenario counts besides neighbours.
    #[must_use]
    pub fn extra(&self) -> Option<Extra> {
        self.world.cast().extra()
    }

    /// Returns what is shown.
    #[must_use]
    pub const fn scenario(&self) -> Scenario {
        self.scenario
    }

    /// Returns what the world grew from.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the world.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Returns the world, to change it.
    pub const fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Returns the server and its clients.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the server and its clients, to change them.
    pub const fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Returns how long the server and its clients took for the last tick. Real time: never part of
    /// `--ticks` output.
    #[must_use]
    pub const fn tick_time(&self) -> Duration {
        self.tick_time
    }
}
