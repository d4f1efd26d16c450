//! `nebula-demo server`.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context as _, Result};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::transport::quic::{self, QuicSettings, Stop, Turn};
use nebula_multiplayer::{ClientId, Server, ServerEvent, ServerSettings};

use super::{Kind, protocol};
use crate::args::ServerOptions;
use crate::rng::Rng;

/// How many creatures walk about.
const CREATURES: u32 = 500;

/// The world's middle: the far corner of a sector, 2^100 mm from the origin.
const MIDDLE: WorldPosition = WorldPosition::new(-(1 << 100), (1 << 100) - 1, 0);

/// Half the side of the square that creatures walk in: 1.5 km, of which a player sees a part.
const HALF: i64 = 1_500_000;

/// Serves a world until it is told to stop.
///
/// # Errors
/// If the address is taken, or the output cannot be written.
pub fn serve(options: &ServerOptions, out: &mut dyn Write) -> Result<()> {
    let server = Server::new(protocol(), ServerSettings::default())?;
    let settings = QuicSettings {
        listen: options.listen,
        ..QuicSettings::default()
    };
    let net = quic::serve(&server, &settings, OpenLogin)?;
    let stop = Stop::default();
    stop.on_signals(&net).context("cannot listen for signals")?;
    writeln!(out, "listening at {}", net.local_addr())?;
    writeln!(out, "certificate fingerprint {}", net.fingerprint())?;
    writeln!(out, "open login: everyone is let in; for development only")?;
    out.flush()?;

    let mut world = World::new();
    let mut herd = Herd::new(&mut world);
    let mut players = BTreeMap::new();
    let end = options.seconds.map(Duration::from_secs);
    let mut failed = None;
    let report = quic::run(net, server, world, &stop, |mut turn| {
        if end.is_some_and(|end| turn.now >= end) {
            stop.stop();
        }
        herd.walk(turn.world);
        if let Err(error) = receive(&mut turn, &mut players, out) {
            failed = Some(error);
            stop.stop();
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let (ticks, overruns) = (report.ticks, report.overruns);
    writeln!(
        out,
        "the server ends after {ticks} ticks, {overruns} left out"
    )?;
    Ok(())
}

/// Gives newcomers a player, and takes it when they are gone.
fn receive(
    turn: &mut Turn<'_>,
    players: &mut BTreeMap<ClientId, Entity>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for event in turn.server.events() {
        match event {
            ServerEvent::Connected { client, resumed } => {
                let player = *players.entry(client).or_insert_with(|| {
                    let kind = Kind::Player(client.get());
                    turn.world.spawn((Replicate, MIDDLE, kind)).id()
                });
                turn.server.set_player(client, Some(player));
                let how = if resumed { "is back" } else { "came" };
                writeln!(
                    out,
                    "player {} {how}; {} in all",
                    client.get(),
                    players.len()
                )?;
            }
            ServerEvent::Disconnected { client, reason } => {
                if let Some(player) = players.remove(&client) {
                    turn.world.despawn(player);
                    writeln!(out, "player {} is gone: {reason}", client.get())?;
                }
            }
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}

/// The creatures, each with its step per tick in millimetres.
struct Herd {
    creatures: Vec<(Entity, [i64; 2], [i64; 2])>,
}

impl Herd {
    fn new(world: &mut World) -> Self {
        let mut rng = Rng::new(1);
        let mut between = |least: i64, most: i64| rng.between(least, most);
        let creatures = (0..CREATURES)
            .map(|number| {
                let at = [between(-HALF, HALF), between(-HALF, HALF)];
                // Up to 20 m a second, at 20 ticks a second.
                let step = [between(-1_000, 1_000), between(-1_000, 1_000)];
                let kind = Kind::Creature(number);
                (world.spawn((Replicate, place(at), kind)).id(), at, step)
            })
            .collect();
        Self { creatures }
    }

    /// Moves everyone by a step; who reaches the edge of the square turns back.
    fn walk(&mut self, world: &mut World) {
        for (entity, at, step) in &mut self.creatures {
            for (at, step) in at.iter_mut().zip(step.iter_mut()) {
                *at += *step;
                if at.abs() > HALF {
                    *step = -*step;
                    *at += 2 * *step;
                }
            }
            if let Some(mut position) = world.get_mut::<WorldPosition>(*entity) {
                *position = place(*at);
            }
        }
    }
}

fn place([x, y]: [i64; 2]) -> WorldPosition {
    WorldPosition::new(MIDDLE.x + i128::from(x), MIDDLE.y + i128::from(y), MIDDLE.z)
}
