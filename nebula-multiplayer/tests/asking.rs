//! What a server and a client can be asked, and what they answer.

mod common;

use core::time::Duration;

use common::{Chat, Health, Pair, protocol};
use nebula_math::WorldPosition;
use nebula_multiplayer::client::Clock;
use nebula_multiplayer::interest::{
    Area, ClientFacts, Facts, Interest, InterestArea, InterestConfig, SpatialInterestSystem,
};
use nebula_multiplayer::mirror::Mirrored;
use nebula_multiplayer::replication::{NetworkIds, Replicate};
use nebula_multiplayer::{ClientId, NetworkId, ServerSettings, Tick};

#[test]
fn a_client_finds_what_it_mirrors() {
    let mut pair = Pair::connected();
    pair.spawn_player();
    pair.steps(6);
    let own = pair.client.own_entity().expect("the player is there");
    let slot = pair.mirror.get::<Mirrored>(own).expect("marked").slot();
    assert_eq!(pair.client.entity_of(slot), Some(own));
    assert_eq!(pair.client.entity_of(slot + 1), None);
    assert_eq!(pair.client.mirrored(), 1);
    assert!(pair.client.mirrored_bytes() > 0);
    let heard = pair.client.latest_tick().expect("connected");
    assert!(!heard.is_newer_than(pair.server.current_tick()));
    let stats = pair.server.replication_stats(pair.id).expect("known");
    assert_eq!(stats.kinds(), 2, "position and health");
}

#[test]
fn an_area_can_be_overridden_live() {
    let mut pair = Pair::connected();
    let player = pair.spawn_player();
    let at = *pair.world.get::<WorldPosition>(player).expect("it has one");
    let near = WorldPosition::new(at.x - 400_000, at.y, at.z);
    pair.world.spawn((Replicate, near, Health(1)));
    pair.steps(6);
    assert_eq!(pair.client.mirrored(), 2);
    let area = InterestArea::new(100.0).expect("a length");
    assert_eq!(pair.server.set_area(pair.id, Some(area)), Ok(true));
    pair.steps(6);
    assert!(pair.client.own_entity().is_some());
    assert_eq!(
        pair.server.interest().set(pair.id).map(|s| s.len()),
        Some(1)
    );

    let stranger = ClientId::new(u64::MAX);
    assert_eq!(pair.server.set_area(stranger, None), Ok(false));
    let bad = InterestArea { radius: f64::NAN };
    assert!(pair.server.set_area(pair.id, Some(bad)).is_err());
    pair.world.entity_mut(player).insert(bad);
    pair.steps(2);
    assert_eq!(pair.server.interest_issues().len(), 1);
    assert!(pair.server.interest_issues().is_empty(), "told once");
}

#[test]
fn a_broadcast_reaches_everyone_with_a_link() {
    let mut pair = Pair::connected();
    assert_eq!(pair.server.broadcast(&Chat("all".to_owned())), Ok(1));
    pair.steps(2);
    assert_eq!(
        pair.client.messages::<Chat>().collect::<Vec<_>>(),
        [Chat("all".to_owned())]
    );
}

#[test]
fn a_server_shows_what_it_was_made_of() {
    let mut pair = Pair::new();
    assert_eq!(pair.server.protocol().hash(), protocol().hash());
    assert_eq!(pair.server.settings().tick_rate, 20);
    let mut settings = ServerSettings::default();
    assert!(settings.validate().is_ok());
    settings.tick_rate = 0;
    assert!(settings.validate().is_err());
    let rock = NetworkId::new(900, 4);
    assert!(!pair.server.interest_mut().set_facts(rock, Facts::default()));
}

#[test]
fn the_interest_is_asked_about_one_entity() {
    let (client, rock) = (ClientId::new(1), NetworkId::new(3, 7));
    let mut interest = Interest::new();
    interest.add_client(client, InterestConfig::default().client_facts());
    interest.set_areas(client, &[Area::new(WorldPosition::MIN, 500)]);
    let at = WorldPosition::new(i128::MIN + 300, i128::MIN + 400, i128::MIN);
    assert!(!interest.set_facts(rock, Facts::at(at)), "not there yet");
    interest.insert(rock, Facts::at(at));
    assert!(interest.contains(rock) && interest.set_facts(rock, Facts::at(at)));
    assert!(
        !interest.contains(NetworkId::new(3, 8)),
        "another generation"
    );
    interest.update();
    assert_eq!(rock.generation(), 7);
    assert!(interest.view(client).expect("known").contains(rock));
    assert_eq!(interest.set(client).expect("known").client_id(), client);

    let why = interest.explain(client, rock);
    assert_eq!(why.nearness.expect("near").distance_m_lossy(), 0.5);
    let told = why.with_last_sent(Some(Tick::new(9)));
    assert_eq!(told.last_sent.map(Tick::get), Some(9));
}

#[test]
fn a_server_explains_when_it_last_sent_an_entity() {
    let mut pair = Pair::connected();
    let player = pair.spawn_player();
    let far = WorldPosition::new(i128::MIN, 0, 0);
    let rock = pair.world.spawn((Replicate, far)).id();
    pair.steps(8);
    let ids = pair.world.resource::<NetworkIds>();
    let (own, hidden) = (ids.of(player).unwrap(), ids.of(rock).unwrap());
    let first = pair
        .server
        .explain(pair.id, own)
        .last_sent
        .expect("it was sent");
    let said = pair.server.explain(pair.id, own).to_string();
    assert!(
        said.ends_with(&format!("last sent in tick {}", first.get())),
        "{said}"
    );
    // Only what is sent counts, and when: now.
    pair.world.entity_mut(player).insert(Health(3));
    pair.step();
    let now = pair.server.current_tick();
    assert_eq!(pair.server.explain(pair.id, own).last_sent, Some(now));
    pair.steps(5);
    assert_eq!(pair.server.explain(pair.id, own).last_sent, Some(now));
    let why = pair.server.explain(pair.id, hidden);
    assert_eq!(why.last_sent, None, "it was never sent");
    assert_eq!(pair.server.interest().viewers(own), [pair.id]);
    assert_eq!(pair.server.interest().viewers(hidden), []);
}

#[test]
fn collecting_leaves_the_update_to_the_caller() {
    let mut world = bevy_ecs::world::World::new();
    let rock = world.spawn((Replicate, WorldPosition::ORIGIN)).id();
    NetworkIds::maintain(&mut world);
    let id = world.resource::<NetworkIds>().of(rock).expect("marked");
    let client = ClientId::new(1);
    let mut interest = Interest::new();
    interest.add_client(client, ClientFacts::default());
    interest.set_areas(client, &[Area::new(WorldPosition::ORIGIN, 0)]);
    SpatialInterestSystem::new(InterestConfig::default())
        .expect("a valid radius")
        .collect(&mut world, &mut interest);
    assert!(interest.contains(id));
    assert_eq!(interest.set(client).map(|set| set.len()), Some(0));
    interest.update();
    assert_eq!(interest.set(client).map(|set| set.len()), Some(1));
}

#[test]
fn a_clock_knows_the_newest_tick_whatever_the_order() {
    let mut clock = Clock::default();
    clock.start(Tick::new(u32::MAX), 20, Duration::from_secs(1));
    clock.sample(Tick::new(2), Duration::from_millis(1_150));
    clock.sample(Tick::new(0), Duration::from_millis(1_200));
    assert_eq!(clock.latest(), Some(Tick::new(2)));
}
