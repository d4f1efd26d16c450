//! A real server and real clients around a world, over links that are as bad as they are set to be.
//!
//! Everything runs in virtual time: one [`step`](Network::step) is one tick of the server, and the
//! same seed and settings send the same bytes in every run.

use core::time::Duration;

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use nebula_math::WorldPosition;
use nebula_multiplayer::interest::{InterestArea, InterestConfig, InterestMargin};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::{NetworkIds, Replicate};
use nebula_multiplayer::testing::TestNet;
use nebula_multiplayer::transport::sim::Faults;
use nebula_multiplayer::{ClientId, Protocol, ServerSettings};
use serde::{Deserialize, Serialize};

use crate::lossy;
use crate::world::{TICKS_PER_SECOND, World};

mod conditions;
mod meter;
mod truth;

pub use conditions::Conditions;
pub use meter::Meter;
pub use truth::{Differences, Sight};

/// The number that an entity goes by on the map, so that a client's entity can be told from others.
///
/// Players count down from the top.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[component(summary_tick)]
pub struct Badge(pub u32);

impl Badge {
    /// Returns the badge of a player.
    #[must_use]
    pub fn player(number: usize) -> Self {
        Self(u32::MAX - u32::try_from(number).unwrap_or(0))
    }
}

/// A server, its clients, and the entities of a world inside it.
///
/// ```
/// use nebula_demo::Scenario;
///
/// let mut show = Scenario::Counter.show(7);
/// for _ in 0..60 {
///     show.step();
/// }
/// assert!(show.network().sight(0).len() > 1);
/// assert_eq!(show.network().meter(2).state_per_second(), 0, "nobody is on the far side");
/// ```
#[derive(Debug)]
pub struct Network {
    net: TestNet,
    conditions: Conditions,
    /// Where the server was last told that the entities are, by badge.
    entities: Vec<(Entity, WorldPosition)>,
    clients: Vec<Seat>,
    /// How many of the clients play; the others have left.
    playing: usize,
}

/// One client: its entity on the server, and what it is sent.
#[derive(Debug)]
struct Seat {
    entity: Entity,
    meter: Meter,
}

impl Network {
    /// Makes a server with the entities and players of a world.
    #[must_use]
    pub fn new(seed: u64, world: &World, conditions: Conditions) -> Self {
        let protocol = Protocol::new("nebula-demo", 1).replicate::<Badge>("badge", 1);
        let limits = Limits {
            max_visible: conditions.max_visible,
            bytes_out_per_second: conditions.budget_bytes,
            ..Limits::default()
        };
        let settings = ServerSettings {
            tick_rate: u16::try_from(TICKS_PER_SECOND).expect("a few ticks a second"),
            limits,
            interest: InterestConfig {
                max_visible: conditions.max_visible,
                ..InterestConfig::default()
            },
            ..ServerSettings::default()
        };
        let mut network = Self {
            net: TestNet::new(&protocol, settings, seed),
            conditions,
            entities: Vec::new(),
            clients: Vec::new(),
            playing: 0,
        };
        network.net.faults = conditions.faults();
        network.follow(world);
        network
    }

    /// Takes over what moved in the world, lets one tick of the server and its clients pass, and
    /// counts what was sent.
    pub fn step(&mut self, world: &World) {
        self.follow(world);
        self.tick();
    }

    /// Lets a tick pass in which nothing moves.
    fn tick(&mut self) {
        self.net.step();
        for number in 0..self.playing {
            let id = self.id(number);
            let server = &self.net.server;
            if let (Some(stats), Some(seat)) = (server.stats(id), self.clients.get_mut(number)) {
                let news = server.interest().transitions(id);
                let news = news.map_or((0, 0), |n| (n.entered.len(), n.exited.len()));
                seat.meter.note(stats, news);
            }
        }
    }

    /// Tells the server who moved, came or went.
    fn follow(&mut self, world: &World) {
        let places = world.places();
        for (entity, _) in self.entities.drain(places.len().min(self.entities.len())..) {
            self.net.world.despawn(entity);
        }
        for ((entity, known), place) in self.entities.iter_mut().zip(places) {
            if known != place {
                *known = *place;
                if let Some(mut at) = self.net.world.get_mut::<WorldPosition>(*entity) {
                    *at = *place;
                }
            }
        }
        let known = self.entities.len();
        for (badge, place) in (0_u32..).zip(places).skip(known) {
            let entity = self.net.world.spawn((Replicate, Badge(badge), *place)).id();
            self.entities.push((entity, *place));
        }
        self.follow_players(world);
    }

    fn follow_players(&mut self, world: &World) {
        let players = world.players();
        for number in players.len()..self.playing {
            self.net.cut(number);
        }
        for (number, place) in players.iter().enumerate() {
            if number >= self.playing {
                self.take_seat(number, *place);
            }
            let entity = self.clients[number].entity;
            if let Some(mut at) = self.net.world.get_mut::<WorldPosition>(entity)
                && *at != *place
            {
                *at = *place;
            }
        }
        self.playing = players.len();
        self.set_areas(world.radius_mm());
    }

    /// Lets a client join, or come back.
    fn take_seat(&mut self, number: usize, place: WorldPosition) {
        if number < self.clients.len() {
            self.net.reconnect(number);
            return;
        }
        let badge = Badge::player(number);
        let entity = self.net.world.spawn((Replicate, badge, place)).id();
        let joined = self.net.join();
        debug_assert_eq!(joined, number, "seats and clients are numbered alike");
        self.net.set_player(number, Some(entity));
        self.clients.push(Seat {
            entity,
            meter: Meter::default(),
        });
    }

    /// Gives every player the radius and the margin that are set, if they are not the same already.
    fn set_areas(&mut self, radius_mm: i128) {
        let radius = lossy::f64_from_mm(radius_mm.max(0)) / 1_000.0;
        for (number, seat) in self.clients.iter().enumerate() {
            let percent = self.conditions.margin_percent_of(number);
            let margin = radius * f64::from(percent) / 100.0;
            let mut entity = self.net.world.entity_mut(seat.entity);
            let area = InterestArea { radius };
            if entity.get::<InterestArea>() != Some(&area) {
                entity.insert(area);
            }
            let margin = InterestMargin { margin };
            if entity.get::<InterestMargin>() != Some(&margin) {
                entity.insert(margin);
            }
        }
    }

    /// Changes how the links and the server are set; takes effect from the next tick on.
    ///
    /// `max_visible` belongs to the start and stays.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        if conditions == self.conditions {
            return;
        }
        self.conditions = conditions;
        let faults: Faults = conditions.faults();
        self.net.faults = faults;
        for number in 0..self.clients.len() {
            let link = &mut self.net.client_mut(number).link;
            link.to_server.set_faults(faults);
            link.to_client.set_faults(faults);
        }
        for number in 0..self.clients.len() {
            let id = self.id(number);
            self.net.server.set_budget(id, conditions.budget_bytes);
        }
    }

    /// Returns how the links and the server are set.
    #[must_use]
    pub const fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Returns how many clients play.
    #[must_use]
    pub const fn clients(&self) -> usize {
        self.playing
    }

    /// Returns what a client is sent.
    ///
    /// # Panics
    /// When there is no such client.
    #[must_use]
    pub fn meter(&self, client: usize) -> &Meter {
        &self.clients[client].meter
    }

    /// Returns whether a client has a session.
    #[must_use]
    pub fn is_connected(&self, client: usize) -> bool {
        client < self.playing && self.net.client(client).client.is_connected()
    }

    /// Returns the smoothed round trip of a client.
    #[must_use]
    pub fn round_trip(&self, client: usize) -> Option<Duration> {
        self.net.server.stats(self.id(client))?.round_trip
    }

    /// Returns the server's name for a client.
    fn id(&self, client: usize) -> ClientId {
        let id = self.net.client(client).last_id();
        id.unwrap_or_else(|| ClientId::new(u64::MAX))
    }

    fn ids(&self) -> Option<&NetworkIds> {
        self.net.world.get_resource::<NetworkIds>()
    }
}
