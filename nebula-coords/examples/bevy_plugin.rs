//! A Bevy app with two spaces: every entity, and the players only.
//!
//! `cargo run -p nebula-coords --features bevy_app --example bevy_plugin`

#![expect(clippy::print_stdout, reason = "an example shows its results")]

use bevy_app::{App, AppExit, ScheduleRunnerPlugin, Startup, Update};
use bevy_ecs::prelude::*;
use nebula_coords::{Nearby, SpatialPlugin, SpatialQuery};
use nebula_math::WorldPosition;

#[derive(Component)]
struct Player(&'static str);
#[derive(Component)]
struct Beacon;

fn main() -> AppExit {
    App::new()
        .add_plugins((
            ScheduleRunnerPlugin::default(),
            // Both run in PreUpdate, so that no reader below needs an order.
            SpatialPlugin::new(),
            SpatialPlugin::<With<Player>>::default(),
        ))
        .add_systems(Startup, arrive)
        .add_systems(Update, (look_around, fly, leave).chain())
        .run()
}

fn arrive(mut commands: Commands) {
    // The border of two sectors, 4,295 km from the origin: nothing special happens there.
    let edge = -(1_i128 << 32);
    commands.spawn((WorldPosition::new(edge - 2_000, 0, 0), Player("Ada")));
    commands.spawn((WorldPosition::new(edge + 9_000, 0, 0), Player("Grace")));
    commands.spawn_batch((0..5).map(move |n| (WorldPosition::new(edge, n * 1_000, 0), Beacon)));
}

fn look_around(
    players: Query<(Entity, &Player, &WorldPosition)>,
    beacons: Query<(), With<Beacon>>,
    everything: Nearby,
    other_players: Nearby<With<Player>>,
    mut nearest: Local<Vec<Entity>>,
    mut frame: Local<u32>,
) {
    println!("frame {}: {} entities", *frame, everything.len());
    *frame += 1;
    for (me, player, at) in &players {
        let lights = everything.entities(&beacons, at, 4_000).count();
        other_players.nearest(at, 2, i128::MAX, &mut nearest);
        let friend = nearest.iter().find(|id| **id != me);
        let friend = friend.and_then(|id| players.get(*id).ok());
        let friend = friend.map_or("nobody", |(_, other, _)| other.0);
        println!(
            "  {:<5} sees {lights} beacons within 4 m; the nearest player is {friend}",
            player.0
        );
    }
}

fn fly(mut players: Query<&mut WorldPosition, With<Player>>) {
    for mut at in &mut players {
        at.x += 1_000;
    }
}

/// Beacons go out one by one, then Ada leaves, then the app ends.
fn leave(
    mut commands: Commands,
    beacons: Query<Entity, With<Beacon>>,
    players: Query<(Entity, &Player)>,
    mut exit: MessageWriter<AppExit>,
) {
    if let Some(beacon) = beacons.iter().next() {
        commands.entity(beacon).despawn();
    } else if let Some((ada, _)) = players.iter().find(|(_, player)| player.0 == "Ada") {
        commands.entity(ada).despawn();
    } else {
        exit.write(AppExit::Success);
    }
}
