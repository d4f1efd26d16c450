//! `nebula-demo server`: the loop.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context as _, Result};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::replication::{NetworkIds, Replicate};
use nebula_multiplayer::transport::quic::{self, QuicSettings, TransportStats, Turn};
use nebula_multiplayer::{ClientId, Server, ServerEvent, ServerSettings};

use super::herd::{HALF, Herd, MIDDLE};
use super::stage::Stage;
use super::{Kind, Walk, player_name, protocol};
use crate::args::ServerOptions;
use crate::in_process::Meter;

/// How fast players walk: 20 m/s, at 20 ticks a second.
const PLAYER_STEP_MM: i128 = 1_000;

/// What a server shows of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    pub(super) address: String,
    pub(super) fingerprint: String,
    pub(super) tick: u64,
    /// Where the creatures are, by number.
    pub(super) creatures: Vec<WorldPosition>,
    /// The players, by client.
    pub(super) players: Vec<PlayerRow>,
    /// The creatures in the set of the player that is looked at, ascending.
    pub(super) set: Vec<u32>,
    pub(super) transport: TransportStats,
}

/// One player, as the server's window shows it.
#[derive(Clone, Debug)]
pub(super) struct PlayerRow {
    pub(super) client: ClientId,
    pub(super) at: WorldPosition,
    pub(super) set: usize,
    pub(super) meter: Meter,
    pub(super) round_trip: Option<Duration>,
}

/// Serves a world until it is told to stop.
pub(super) fn run(
    options: &ServerOptions,
    stage: &Stage<Served, Option<ClientId>>,
    out: &mut dyn Write,
) -> Result<()> {
    let server = Server::new(protocol(), ServerSettings::default())?;
    let settings = QuicSettings {
        listen: options.listen,
        ..QuicSettings::default()
    };
    let net = quic::serve(&server, &settings, OpenLogin)?;
    let stop = &stage.stop;
    stop.on_signals(&net).context("cannot listen for signals")?;
    let (address, fingerprint) = (net.local_addr(), net.fingerprint());
    writeln!(out, "listening at {address}")?;
    writeln!(out, "certificate fingerprint {fingerprint}")?;
    writeln!(out, "open login: everyone is let in; for development only")?;
    out.flush()?;
    stage.show(|view| {
        view.address = address.to_string();
        view.fingerprint = fingerprint.to_string();
    });

    let mut world = World::new();
    let mut game = Game {
        herd: Herd::new(&mut world),
        players: BTreeMap::new(),
    };
    let end = options.seconds.map(Duration::from_secs);
    let mut failed = None;
    let report = quic::run(net, server, world, stop, |mut turn| {
        if end.is_some_and(|end| turn.now >= end) {
            stop.stop();
        }
        if let Err(error) = game.receive(&mut turn, out) {
            failed = Some(error);
            stop.stop();
        }
        game.walk(&mut turn, options.still);
        let watched = stage.asked();
        stage.show(|view| game.describe(&turn, watched, view));
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

/// Everything that is not the network's.
struct Game {
    herd: Herd,
    players: BTreeMap<ClientId, Player>,
}

struct Player {
    entity: Entity,
    walk: Walk,
    meter: Meter,
}

impl Game {
    /// Gives newcomers a player, and takes it when they are gone.
    fn receive(&mut self, turn: &mut Turn<'_>, out: &mut dyn Write) -> std::io::Result<()> {
        for event in turn.server.events() {
            match event {
                ServerEvent::Connected { client, resumed } => {
                    let player = self.players.entry(client).or_insert_with(|| {
                        let kind = Kind::Player(client.get());
                        Player {
                            entity: turn.world.spawn((Replicate, MIDDLE, kind)).id(),
                            walk: Walk::default(),
                            meter: Meter::default(),
                        }
                    });
                    if !resumed {
                        // A client that joins anew holds no key down.
                        player.walk = Walk::default();
                    }
                    turn.server.set_player(client, Some(player.entity));
                    let how = if resumed { "is back" } else { "came" };
                    let (name, players) = (player_name(client.get()), self.players.len());
                    writeln!(out, "{name} {how}; {players} in all")?;
                }
                ServerEvent::Disconnected { client, reason } => {
                    if let Some(player) = self.players.remove(&client) {
                        turn.world.despawn(player.entity);
                        let name = player_name(client.get());
                        writeln!(out, "{name} is gone: {reason}")?;
                    }
                }
                _ => {}
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Moves everyone by a step, the players where they want to.
    fn walk(&mut self, turn: &mut Turn<'_>, still: bool) {
        if !still {
            self.herd.walk(turn.world);
        }
        for (client, walk) in turn.server.messages::<Walk>() {
            if let Some(player) = self.players.get_mut(&client) {
                player.walk = walk;
            }
        }
        for (client, player) in &mut self.players {
            // Whoever is away for a moment stands still.
            let Walk(east, north) = player.walk;
            if (east, north) == (0, 0) || !turn.server.is_connected(*client) {
                continue;
            }
            if let Some(mut at) = turn.world.get_mut::<WorldPosition>(player.entity) {
                *at = WorldPosition::new(
                    step(at.x, MIDDLE.x, east),
                    step(at.y, MIDDLE.y, north),
                    at.z,
                );
            }
        }
    }

    /// Says what there is to see, after the last tick.
    fn describe(&mut self, turn: &Turn<'_>, watched: Option<ClientId>, view: &mut Served) {
        view.tick = turn.tick;
        view.creatures.clear();
        view.creatures.extend(self.herd.places());
        view.transport = turn.stats;
        view.players.clear();
        let interest = turn.server.interest();
        for (client, player) in &mut self.players {
            let news = interest.transitions(*client);
            let news = news.map_or((0, 0), |news| (news.entered.len(), news.exited.len()));
            let stats = turn.server.stats(*client);
            if let Some(stats) = stats {
                player.meter.note(stats, news);
            }
            view.players.push(PlayerRow {
                client: *client,
                at: turn.world.get(player.entity).copied().unwrap_or(MIDDLE),
                set: interest.set(*client).map_or(0, |set| set.len()),
                meter: player.meter.clone(),
                round_trip: stats.and_then(|stats| stats.round_trip),
            });
        }
        view.set = watched.map_or_else(Vec::new, |client| set_of(turn, client));
    }
}

/// A step along one axis, within the square; a peer's number counts by its sign alone.
fn step(at: i128, middle: i128, sign: i8) -> i128 {
    let to = at + i128::from(sign.signum()) * PLAYER_STEP_MM;
    to.clamp(middle - i128::from(HALF), middle + i128::from(HALF))
}

/// The creatures in the set of a client, ascending.
fn set_of(turn: &Turn<'_>, client: ClientId) -> Vec<u32> {
    let (Some(ids), Some(set)) = (
        turn.world.get_resource::<NetworkIds>(),
        turn.server.interest().set(client),
    ) else {
        return Vec::new();
    };
    let number = |id| match turn.world.get::<Kind>(ids.entity(id)?)? {
        Kind::Creature(number) => Some(*number),
        Kind::Player(_) => None,
    };
    let mut numbers: Vec<u32> = set.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}
