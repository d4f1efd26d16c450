//! Components in a world, through `SpatialInterestSystem`, to sets.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use nebula_math::{MetersError, WorldPosition};
use nebula_multiplayer::interest::{
    FollowsParent, Interest, InterestArea, InterestConfig, InterestLength, InterestMargin, Layers,
    OwnedBy, Reach, Relevance, Rule, SpatialInterestSystem, UpdateReport, Watches,
};
use nebula_multiplayer::replication::{NetworkIds, Replicate};
use nebula_multiplayer::{ClientId, NetworkId};

const CLIENT: ClientId = ClientId::new(1);

/// Far from the origin, where no float tells metres apart.
const HOME: WorldPosition = WorldPosition::new(-(1 << 120), 1 << 119, i128::MIN + (1 << 40));

struct Game {
    world: World,
    interest: Interest,
    system: SpatialInterestSystem,
    player: Entity,
}

fn at(meters: i128) -> WorldPosition {
    WorldPosition::new(HOME.x + meters * 1_000, HOME.y, HOME.z)
}

impl Game {
    fn new() -> Self {
        let mut world = World::new();
        let player = world.spawn((Replicate, HOME, OwnedBy(CLIENT))).id();
        let mut interest = Interest::new();
        let mut system = SpatialInterestSystem::new(InterestConfig::default()).unwrap();
        assert!(system.add_client(&mut interest, CLIENT));
        assert!(system.set_player(CLIENT, Some(player)));
        let mut game = Self {
            world,
            interest,
            system,
            player,
        };
        game.run();
        game
    }

    fn run(&mut self) -> UpdateReport {
        NetworkIds::maintain(&mut self.world);
        self.system.run(&mut self.world, &mut self.interest)
    }

    fn id(&self, entity: Entity) -> Option<NetworkId> {
        self.world.resource::<NetworkIds>().of(entity)
    }

    /// Runs a tick and returns whether the client sees the entity.
    fn sees(&mut self, entity: Entity) -> bool {
        self.run();
        let set = self.interest.set(CLIENT).unwrap();
        self.id(entity).is_some_and(|id| set.contains(id))
    }

    fn spawn(&mut self, bundle: impl Bundle) -> Entity {
        self.world.spawn((Replicate, bundle)).id()
    }
}

#[test]
fn the_radius_comes_from_the_entity_else_the_client_else_the_server() {
    let mut game = Game::new();
    let rock = game.spawn(at(300));
    assert!(game.sees(rock), "500 m by default");

    let config = InterestConfig {
        area: InterestArea::new(200.0).unwrap(),
        ..InterestConfig::default()
    };
    game.system.set_config(config).unwrap();
    assert!(!game.sees(rock), "200 m for the whole server");

    game.system
        .set_area(CLIENT, Some(InterestArea { radius: 300.0 }))
        .unwrap();
    assert!(game.sees(rock), "300 m for this client, boundary included");

    game.world
        .entity_mut(game.player)
        .insert(InterestArea { radius: 299.999 });
    assert!(!game.sees(rock), "299.999 m on the player");

    game.world.entity_mut(game.player).remove::<InterestArea>();
    assert!(game.sees(rock));
    game.system.set_area(CLIENT, None).unwrap();
    assert!(!game.sees(rock));
}

#[test]
fn an_invalid_radius_keeps_the_last_valid_one_and_is_reported_once() {
    let mut game = Game::new();
    let rock = game.spawn(at(300));
    game.world
        .entity_mut(game.player)
        .insert(InterestArea { radius: 400.0 });
    assert!(game.sees(rock));

    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e40] {
        game.world
            .get_mut::<InterestArea>(game.player)
            .unwrap()
            .radius = bad;
        assert!(game.sees(rock), "{bad}");
        assert!(game.sees(rock), "{bad}, the second tick");
        let issues: Vec<_> = game.system.issues().collect();
        assert_eq!(issues.len(), 1, "{bad}: {issues:?}");
        assert_eq!(issues[0].length, InterestLength::Radius);
        assert_eq!(
            (issues[0].client, issues[0].kept_mm),
            (Some(CLIENT), 400_000)
        );
        assert_eq!(game.interest.areas(CLIENT).unwrap()[0].radius_mm, 400_000);
    }
    assert!(InterestArea::new(f64::NAN).is_err());
    let bad = InterestArea { radius: -1.0 };
    assert_eq!(
        game.system.set_area(CLIENT, Some(bad)),
        Err(MetersError::Negative(-1.0))
    );
    let config = InterestConfig {
        area: bad,
        ..InterestConfig::default()
    };
    assert!(game.system.set_config(config).is_err());
    assert!(SpatialInterestSystem::new(config).is_err());

    // One that was never valid leaves the default in force; a bad margin and a bad reach likewise.
    let mut game = Game::new();
    let rock = game.spawn((at(500), Reach { meters: f64::NAN }));
    game.world
        .entity_mut(game.player)
        .insert((bad, InterestMargin { margin: -0.5 }));
    assert!(game.sees(rock));
    let lengths: Vec<_> = game.system.issues().map(|issue| issue.length).collect();
    assert_eq!(
        lengths,
        [
            InterestLength::Reach,
            InterestLength::Radius,
            InterestLength::Margin
        ]
    );
}

#[test]
fn configuration_survives_serde_and_refuses_nonsense() {
    let config = InterestConfig::with_margin_percent(10);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(
        serde_json::from_str::<InterestConfig>(&text).unwrap(),
        config
    );
    assert_eq!(
        serde_json::from_str::<InterestConfig>("{}").unwrap(),
        InterestConfig::default()
    );
    let bytes = postcard::to_stdvec(&InterestArea { radius: f64::NAN }).unwrap();
    assert!(postcard::from_bytes::<InterestArea>(&bytes).is_err());
    assert!(
        postcard::from_bytes::<InterestMargin>(&bytes).is_err(),
        "a margin likewise"
    );
    assert!(
        postcard::from_bytes::<Reach>(&bytes).is_err(),
        "and a reach"
    );
    let bytes = postcard::to_stdvec(&Reach { meters: 2.5 }).unwrap();
    assert_eq!(postcard::from_bytes::<Reach>(&bytes).unwrap().meters, 2.5);
    let margin = postcard::from_bytes::<InterestMargin>(&bytes).unwrap();
    assert_eq!(margin.margin, 2.5);
    let error = serde_json::from_str::<InterestArea>(r#"{"radius":-3.0}"#).unwrap_err();
    assert!(
        error.to_string().contains("-3.0 metres is negative"),
        "{error}"
    );
}

#[test]
fn a_margin_stops_flicker_at_the_border() {
    let mut game = Game::new();
    game.system
        .set_config(InterestConfig::with_margin_percent(10))
        .unwrap();
    let rock = game.spawn(at(520));
    assert!(!game.sees(rock), "the margin lets nobody in");
    *game.world.get_mut::<WorldPosition>(rock).unwrap() = at(500);
    assert!(game.sees(rock));
    for meters in [501, 499, 550, 500, 550] {
        *game.world.get_mut::<WorldPosition>(rock).unwrap() = at(meters);
        assert!(game.sees(rock), "{meters} m");
        assert!(game.interest.transitions(CLIENT).unwrap().is_empty());
    }
    let mut past = at(550);
    past.x += 1;
    *game.world.get_mut::<WorldPosition>(rock).unwrap() = past;
    assert!(!game.sees(rock), "1 mm past the margin");
    *game.world.get_mut::<WorldPosition>(rock).unwrap() = at(550);
    assert!(!game.sees(rock), "and the margin does not let it in again");

    game.world
        .entity_mut(game.player)
        .insert(InterestMargin { margin: 0.0 });
    *game.world.get_mut::<WorldPosition>(rock).unwrap() = at(500);
    assert!(game.sees(rock));
    *game.world.get_mut::<WorldPosition>(rock).unwrap() = at(501);
    assert!(!game.sees(rock), "the player's own margin of 0");
}

#[test]
fn rules_layers_owners_and_reach_come_from_components() {
    let mut game = Game::new();
    let score = game.spawn(());
    assert!(!game.sees(score), "without a position by rule only");
    game.world.entity_mut(score).insert(Relevance(Rule::Always));
    assert!(game.sees(score));
    game.world.entity_mut(score).insert(Layers::only(4));
    assert!(!game.sees(score));
    game.world.entity_mut(score).remove::<Layers>();
    assert!(game.sees(score));
    game.world.entity_mut(score).remove::<Relevance>();
    assert!(!game.sees(score));
    game.world.entity_mut(score).insert(at(1));
    assert!(game.sees(score), "now it has a position");
    game.world.entity_mut(score).insert(Relevance(Rule::Never));
    assert!(!game.sees(score));
    game.world
        .entity_mut(score)
        .insert((Relevance(Rule::Near), OwnedBy(CLIENT)));
    game.world.entity_mut(score).remove::<WorldPosition>();
    assert!(game.sees(score), "its own, wherever it is");

    let planet = game.spawn((at(7_000_000), Reach::new(6_371_000.0).unwrap()));
    assert!(!game.sees(planet));
    *game.world.get_mut::<WorldPosition>(planet).unwrap() = at(6_371_500);
    assert!(game.sees(planet), "500 m above the ground");

    game.world.entity_mut(planet).insert(Disabled);
    assert!(!game.sees(planet), "disabled is hidden");
    game.world.entity_mut(planet).remove::<Disabled>();
    assert!(game.sees(planet));
    game.world.despawn(planet);
    assert!(!game.sees(planet));
    assert_eq!(game.interest.len(), 2);
}

#[test]
fn followers_are_seen_with_their_parent() {
    let mut game = Game::new();
    // Spawned before its parent is replicated.
    let ship = game.world.spawn(at(100)).id();
    let turret = game.spawn((ChildOf(ship), FollowsParent, at(9_000_000)));
    let barrel = game.spawn((ChildOf(turret), FollowsParent));
    assert!(!game.sees(turret), "the parent is not replicated");
    game.world.entity_mut(ship).insert(Replicate);
    assert!(game.sees(turret) && game.sees(barrel));
    *game.world.get_mut::<WorldPosition>(ship).unwrap() = at(501);
    assert!(!game.sees(turret) && !game.sees(barrel));
    game.world
        .entity_mut(turret)
        .remove::<FollowsParent>()
        .insert(at(2));
    assert!(game.sees(turret) && game.sees(barrel), "near by itself");
    game.world
        .entity_mut(turret)
        .insert((FollowsParent, ChildOf(game.player)));
    assert!(game.sees(turret), "another parent");
    game.world.entity_mut(barrel).remove::<ChildOf>();
    assert!(!game.sees(barrel), "no parent");
}

#[test]
fn a_client_sees_around_its_player_and_all_that_watch_for_it() {
    let mut game = Game::new();
    let (near_drone, near_camera) = (game.spawn(at(90_010)), game.spawn(at(-50_000)));
    assert!(!game.sees(near_drone) && !game.sees(near_camera));
    // The camera is not replicated, and watches all the same.
    let drone = game.spawn((at(90_000), Watches(CLIENT), InterestArea { radius: 10.0 }));
    let camera = game.world.spawn((at(-50_100), Watches(CLIENT))).id();
    assert!(game.sees(near_drone) && game.sees(near_camera));
    assert_eq!(game.interest.areas(CLIENT).unwrap().len(), 3);
    assert!(game.sees(drone), "the drone sees itself");

    game.world
        .entity_mut(camera)
        .insert(Watches(ClientId::new(2)));
    assert!(!game.sees(near_camera) && game.sees(near_drone));
    game.system.add_client(&mut game.interest, ClientId::new(2));
    game.run();
    let id = game.id(near_camera).unwrap();
    assert_eq!(game.interest.viewers(id), [ClientId::new(2)]);

    game.world.despawn(drone);
    assert!(!game.sees(near_drone), "what died sees nothing");
    game.world.despawn(game.player);
    game.run();
    assert!(game.interest.set(CLIENT).unwrap().is_empty());
    assert!(game.system.remove_client(&mut game.interest, CLIENT));
    assert_eq!(
        game.interest.clients().collect::<Vec<_>>(),
        [ClientId::new(2)]
    );
}

#[test]
fn whoever_was_disabled_from_the_start_watches_all_the_same() {
    let mut world = World::new();
    world.spawn((at(0), Watches(CLIENT), Disabled));
    let rock = world.spawn((Replicate, at(500))).id();
    let mut interest = Interest::new();
    let mut system = SpatialInterestSystem::new(InterestConfig::default()).unwrap();
    system.add_client(&mut interest, CLIENT);
    NetworkIds::maintain(&mut world);
    system.run(&mut world, &mut interest);
    let id = world.resource::<NetworkIds>().of(rock).unwrap();
    assert!(interest.set(CLIENT).unwrap().contains(id));
}

#[test]
fn a_quiet_tick_looks_at_nobody_and_a_change_only_at_those_near_it() {
    let mut game = Game::new();
    let rocks: Vec<_> = (0..300).map(|i| game.spawn(at(i * 10_000))).collect();
    for number in 2..=100_u64 {
        let client = ClientId::new(number);
        let player = game.spawn(at(i128::from(number) * 1_000_000 + 5));
        game.system.add_client(&mut game.interest, client);
        game.system.set_player(client, Some(player));
    }
    assert_eq!(game.run().examined, 100);
    assert_eq!(game.run(), UpdateReport::default());
    *game.world.get_mut::<WorldPosition>(rocks[100]).unwrap() = at(1_000_006);
    assert_eq!(game.run(), UpdateReport::default(), "nobody is near");
    *game.world.get_mut::<WorldPosition>(rocks[200]).unwrap() = at(2_000_006);
    let report = game.run();
    assert_eq!(
        (report.examined, report.changed),
        (1, 0),
        "client 2 saw it before and after"
    );
    *game.world.get_mut::<WorldPosition>(rocks[0]).unwrap() = at(99_000_000);
    let report = game.run();
    assert_eq!((report.examined, report.entered, report.exited), (2, 1, 1));
}

#[test]
fn ids_that_came_and_went_unnoticed_are_caught_up() {
    let mut game = Game::new();
    let rocks: Vec<_> = (0..10).map(|i| game.spawn(at(i))).collect();
    NetworkIds::maintain(&mut game.world);
    game.world.despawn(rocks[3]);
    NetworkIds::maintain(&mut game.world);
    NetworkIds::maintain(&mut game.world);
    game.system.run(&mut game.world, &mut game.interest);
    assert_eq!(game.interest.len(), 10);
    assert_eq!(game.interest.set(CLIENT).unwrap().len(), 10);
    let text = format!("{:?} {:?}", game.system, game.system.config());
    assert!(text.contains("SpatialInterestSystem"));
}
