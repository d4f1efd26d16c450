//! The tests that seed S4 names: a server and a client, at 128-bit coordinates far from the origin,
//! with the messages that were generated.

use bevy_ecs::prelude::*;
use nebula_math::{IVec3_128, WorldPosition};
use nebula_multiplayer::NetworkId;
use nebula_multiplayer::interest::{InterestArea, InterestConfig};
use nebula_multiplayer::protocol::Protocol;
use nebula_multiplayer::replication::{
    DespawnReason, Kind, Kinds, NetworkIds, Record, Records, Replicate,
};
use nebula_multiplayer::server::ServerSettings;
use nebula_multiplayer::session::{Header, Side};
use nebula_multiplayer::testing::TestPair;
use nebula_multiplayer::transport::Lane;
use nebula_multiplayer::wire::Reader;
use serde::{Deserialize, Serialize};

/// Farther out than a float could tell kilometres apart, and beside a sector edge.
const FAR: WorldPosition = WorldPosition::new(
    (1 << 126) + (1 << 32) - 1,
    -(1 << 125),
    i128::MIN + (1 << 34),
);

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Health(u32);

fn away(meters: i128) -> WorldPosition {
    FAR + IVec3_128::new(meters * 1_000, 0, 0)
}

/// What the server said about entities.
#[derive(Debug, PartialEq)]
enum Said {
    /// `SpawnEntity`, with the bytes of all its components.
    Spawn(Option<WorldPosition>, Vec<Vec<u8>>),
    /// `EntityUpdate`, or the shorter forms of a position.
    Update,
    /// `DespawnEntity`.
    Despawn(DespawnReason),
}

/// A server with one client whose player stands at `FAR`, and whose margin is 0, as the seed says.
struct Scene {
    pair: TestPair,
    player: Entity,
    kinds: Kinds,
}

impl Scene {
    fn new(radius: f64) -> Self {
        let protocol = Protocol::new("seed", 4).replicate::<Health>("health", 1);
        let settings = ServerSettings {
            interest: InterestConfig::default(),
            ..ServerSettings::default()
        };
        let mut pair = TestPair::with(&protocol, settings, 4);
        let player = pair
            .world
            .spawn((FAR, InterestArea::new(radius).unwrap()))
            .id();
        pair.run_ms(300);
        assert!(pair.the_client().is_connected());
        pair.play(player);
        Self {
            pair,
            player,
            kinds: Kinds::new([Kind::new::<Health>("health")]).unwrap(),
        }
    }

    fn spawn(&mut self, meters: i128) -> Entity {
        self.pair
            .world
            .spawn((Replicate, away(meters), Health(77)))
            .id()
    }

    fn put(&mut self, entity: Entity, meters: i128) {
        *self.pair.world.get_mut::<WorldPosition>(entity).unwrap() = away(meters);
    }

    /// Lets ten ticks pass and returns what the server said.
    fn run(&mut self) -> Vec<Said> {
        let mut said = Vec::new();
        let kinds = &self.kinds;
        for _ in 0..10 {
            self.pair.step_seen(&mut |sent| {
                if !sent.to_server && sent.lane == Lane::Datagram {
                    said.extend(read(kinds, sent.bytes));
                }
            });
        }
        said
    }

    fn id(&self, entity: Entity) -> NetworkId {
        self.pair.world.resource::<NetworkIds>().of(entity).unwrap()
    }

    /// Returns whether the entity is in the client's interest set.
    fn is_in_set(&self, entity: Entity) -> bool {
        let interest = self.pair.server.interest();
        let client = interest.clients().next().unwrap();
        interest.set(client).unwrap().contains(self.id(entity))
    }

    /// Returns the positions of the entities in the client's world.
    fn mirrored(&mut self) -> Vec<WorldPosition> {
        let world = self.pair.client_world();
        world
            .query::<&WorldPosition>()
            .iter(world)
            .copied()
            .collect()
    }
}

/// Reads what a datagram of the server says about entities.
fn read(kinds: &Kinds, datagram: &[u8]) -> Vec<Said> {
    let mut reader = Reader::new(datagram);
    let header = Header::decode(&mut reader, Side::Server).unwrap();
    assert!(!header.messages, "nobody sent one");
    if !header.body {
        return Vec::new();
    }
    let body = reader.rest();
    let records = Records::new(kinds, body).unwrap().map(Result::unwrap);
    let said = records.filter_map(|record| match record {
        Record::SpawnEntity {
            position,
            components,
            ..
        } => {
            let components = components.into_iter().map(|(_, bytes)| bytes.to_vec());
            Some(Said::Spawn(position, components.collect()))
        }
        Record::EntityUpdate { .. } | Record::Place { .. } | Record::Step { .. } => {
            Some(Said::Update)
        }
        Record::DespawnEntity { reason, .. } => Some(Said::Despawn(reason)),
        _ => None,
    });
    said.collect()
}

/// The full state of an entity at a distance: its position and its health.
fn full_state(meters: i128) -> Said {
    Said::Spawn(
        Some(away(meters)),
        vec![postcard::to_stdvec(&Health(77)).unwrap()],
    )
}

#[test]
fn test_entity_inside_area_is_replicated() {
    let mut scene = Scene::new(500.0);
    let entity = scene.spawn(100);
    assert_eq!(scene.run(), [full_state(100)]);
    assert!(scene.is_in_set(entity));
    assert_eq!(scene.mirrored(), [away(100)]);
    assert_eq!(scene.run(), [], "once, not in every tick");
}

#[test]
fn test_entity_outside_area_is_not_replicated() {
    let mut scene = Scene::new(500.0);
    let entity = scene.spawn(1_000);
    assert_eq!(scene.run(), []);
    assert!(!scene.is_in_set(entity));
    assert_eq!(scene.mirrored(), []);
}

#[test]
fn test_entity_entering_area_triggers_full_state_send() {
    let mut scene = Scene::new(500.0);
    let entity = scene.spawn(600);
    assert_eq!(scene.run(), []);
    assert!(!scene.is_in_set(entity));
    scene.put(entity, 400);
    assert_eq!(scene.run(), [full_state(400)]);
    assert!(scene.is_in_set(entity));

    // Who stays inside is updated.
    scene.put(entity, 401);
    let said = scene.run();
    assert!(
        !said.is_empty() && said.iter().all(|said| *said == Said::Update),
        "{said:?}"
    );
    assert_eq!(scene.mirrored(), [away(401)]);
}

#[test]
fn test_entity_leaving_area_triggers_despawn() {
    let mut scene = Scene::new(500.0);
    let entity = scene.spawn(400);
    assert_eq!(scene.run(), [full_state(400)]);
    assert!(scene.is_in_set(entity));
    scene.put(entity, 600);
    assert_eq!(scene.run(), [Said::Despawn(DespawnReason::Left)]);
    assert!(!scene.is_in_set(entity));
    assert_eq!(scene.mirrored(), []);
}

#[test]
fn test_interest_radius_is_configurable() {
    let mut scene = Scene::new(200.0);
    let entity = scene.spawn(300);
    assert_eq!(scene.run(), []);
    assert!(!scene.is_in_set(entity));
    scene
        .pair
        .world
        .get_mut::<InterestArea>(scene.player)
        .unwrap()
        .radius = 400.0;
    assert_eq!(scene.run(), [full_state(300)]);
    assert!(scene.is_in_set(entity));
}
