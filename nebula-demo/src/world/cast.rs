//! Who is on stage: everything that moves in a scenario.

use nebula_math::WorldPosition;

use super::ground::Ground;
use super::walker::{Home, Route, Walker};
use crate::rng::Rng;

/// Everything that moves in a scenario, in whole numbers and from a seed: the same seed and steps
/// give the same places on every machine.
pub trait Cast {
    /// Lets one tick pass.
    fn step(&mut self);

    /// Returns where the entities are; the position in the slice is the id.
    fn places(&self) -> &[WorldPosition];

    /// Returns where the players are, one for each client.
    fn players(&self) -> &[WorldPosition];

    /// Changes how many entities there are. Those that stay are not disturbed.
    fn set_entities(&mut self, entities: u32);

    /// Changes how many players there are, from 1 to [`PLAYERS_MAX`](super::PLAYERS_MAX).
    fn set_players(&mut self, players: usize);

    /// Makes a player walk east and north by these signs; `(0, 0)` lets it go on by itself.
    fn steer(&mut self, player: usize, east: i64, north: i64);

    /// Returns what the scenario counts besides neighbours, and whether its twin agreed.
    fn extra(&self) -> Option<Extra> {
        None
    }

    /// Switches the slow twin of the scenario's own work on or off.
    fn set_brute_force(&mut self, _on: bool) {}

    /// Returns the size of an entity in millimetres, where it has one.
    fn size_mm(&self, _id: u32) -> Option<i128> {
        None
    }

    /// Returns the floor of an entity, 0 to 15, where there are floors.
    fn floor(&self, _id: u32) -> Option<u8> {
        None
    }
}

/// What a scenario counts besides neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// A sentence with the counts: the same in every run.
    pub words: String,
    /// What they cost, in real time: never part of `--ticks` output.
    pub cost: String,
    /// Whether the slow twin, where it was asked, said the same.
    pub identical: bool,
}

/// How the walkers of a scenario are made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What they walk on.
    pub ground: Ground,
    /// How many there are at first.
    pub entities: u32,
    /// What each of them does, by id.
    pub route: fn(seed: u64, id: u32, rng: &mut Rng) -> Route,
    /// The slowest and the fastest, in millimetres a tick.
    pub speed: (i64, i64),
    /// The players of the scenario; more of them wander around the middle.
    pub players: Vec<Walker>,
}

/// How far from the middle of the patch further players wander.
const GUEST_SPREAD_MM: i64 = 250_000;
/// How fast players run: 8 m/s.
pub const PLAYER_SPEED_MM: i64 = 400;

/// People on a piece of ground.
#[derive(Clone, Debug)]
pub struct Walkers {
    seed: u64,
    plan: Plan,
    walkers: Vec<Walker>,
    places: Vec<WorldPosition>,
    player_places: Vec<WorldPosition>,
}

impl Walkers {
    /// Makes them at tick 0.
    #[must_use]
    pub fn new(seed: u64, plan: Plan) -> Self {
        let entities = plan.entities;
        let mut walkers = Self {
            seed,
            player_places: plan.players.iter().map(Walker::position).collect(),
            plan,
            walkers: Vec::new(),
            places: Vec::new(),
        };
        walkers.set_entities(entities);
        walkers
    }
}

impl Cast for Walkers {
    fn step(&mut self) {
        for (walker, place) in self.walkers.iter_mut().zip(&mut self.places) {
            walker.step();
            *place = walker.position();
        }
        let players = self.plan.players.iter_mut();
        for (player, place) in players.zip(&mut self.player_places) {
            player.step();
            *place = player.position();
        }
    }

    fn places(&self) -> &[WorldPosition] {
        &self.places
    }

    fn players(&self) -> &[WorldPosition] {
        &self.player_places
    }

    fn set_entities(&mut self, entities: u32) {
        let wanted = usize::try_from(entities).expect("a u32 fits usize");
        self.walkers.truncate(wanted);
        self.places.truncate(wanted);
        let known = u32::try_from(self.walkers.len()).expect("as many as were asked for");
        for id in known..entities {
            let mut rng = Rng::for_member(self.seed, id);
            let route = (self.plan.route)(self.seed, id, &mut rng);
            let walker = Walker::new(self.plan.ground, route, self.plan.speed, rng);
            self.places.push(walker.position());
            self.walkers.push(walker);
        }
    }

    fn set_players(&mut self, players: usize) {
        let known = self.plan.players.len();
        let home = Home::around_the_middle(GUEST_SPREAD_MM);
        for number in known..players {
            let rng = Rng::for_member(!self.seed, u32::try_from(number).unwrap_or(u32::MAX));
            let speed = (PLAYER_SPEED_MM, PLAYER_SPEED_MM);
            let guest = Walker::new(self.plan.ground, Route::Wander(home), speed, rng);
            self.plan.players.push(guest);
        }
        self.player_places = self.plan.players.iter().map(Walker::position).collect();
        self.player_places.truncate(players);
    }

    fn steer(&mut self, player: usize, east: i64, north: i64) {
        if let Some(player) = self.plan.players.get_mut(player) {
            player.steer(east, north);
        }
    }
}
