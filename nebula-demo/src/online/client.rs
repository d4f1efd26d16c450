//! `nebula-demo client`.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

use anyhow::{Result, bail};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::transport::quic::{self, LinkState, QuicClientSettings, Trust};
use nebula_multiplayer::{Client, ClientEvent, ClientSettings};

use super::{Kind, protocol};
use crate::args::ClientOptions;

/// Between two looks at the network.
const FRAME: Duration = Duration::from_millis(20);

/// How long a lost server is tried again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at a served world and prints who enters and who leaves.
///
/// # Errors
/// If the server cannot be reached or refuses us, or the output cannot be written.
pub fn visit(options: &ClientOptions, out: &mut dyn Write) -> Result<()> {
    let trust = options.pin.map_or(Trust::Unverified, Trust::Pinned);
    let mut settings = QuicClientSettings::new(options.connect, trust);
    settings.credentials = options.account.map(OpenLogin::account).unwrap_or_default();
    let mut client = Client::new(protocol(), ClientSettings::default())?;
    let mut link = quic::connect(&protocol(), &settings)?;
    let mut view = View::default();
    let mut lost: Option<Instant> = None;
    let end = options.seconds.map(Duration::from_secs);
    while end.is_none_or(|end| link.now() < end) {
        let now = link.now();
        link.pump(&mut client, now);
        client.tick(&mut view.world, now);
        link.flush(&mut client);
        for event in client.events() {
            view.show(event, out)?;
        }
        match link.state() {
            LinkState::Up => lost = None,
            LinkState::Connecting => {}
            LinkState::Down(error) => {
                let since = *lost.get_or_insert_with(Instant::now);
                if error.is_final() || since.elapsed() > PATIENCE {
                    bail!("{error}");
                }
                writeln!(out, "{error}; trying again")?;
                std::thread::sleep(Duration::from_millis(500));
                link.reconnect();
            }
        }
        out.flush()?;
        std::thread::sleep(FRAME);
    }
    link.leave(&mut client);
    writeln!(out, "left; {} came and {} went", view.came, view.went)?;
    Ok(())
}

/// What the client knows of the world.
#[derive(Default)]
struct View {
    world: World,
    /// By what name each entity was announced.
    names: BTreeMap<Entity, Kind>,
    own: Option<Entity>,
    came: u64,
    went: u64,
}

impl View {
    fn show(&mut self, event: ClientEvent, out: &mut dyn Write) -> Result<()> {
        match event {
            ClientEvent::Connected { client, resumed } => {
                let how = if resumed { "back as" } else { "connected as" };
                writeln!(out, "{how} player {}", client.get())?;
            }
            ClientEvent::YourEntity(own) => self.own = own,
            ClientEvent::Spawned(entity) => {
                if let Some(kind) = self.world.get::<Kind>(entity).copied() {
                    self.names.insert(entity, kind);
                    self.came += 1;
                    let nearby = self.names.len();
                    match self.distance_m(entity) {
                        Some(m) => writeln!(out, "+ {kind} at {m} m   Nearby: {nearby} entities")?,
                        None => writeln!(out, "+ {kind}   Nearby: {nearby} entities")?,
                    }
                }
            }
            ClientEvent::Despawned { entity, reason } => {
                if let Some(kind) = self.names.remove(&entity) {
                    self.went += 1;
                    let nearby = self.names.len();
                    writeln!(out, "- {kind} ({reason:?})   Nearby: {nearby} entities")?;
                }
            }
            ClientEvent::Disconnected { reason } => writeln!(out, "disconnected: {reason}")?,
            _ => {}
        }
        Ok(())
    }

    /// Returns how far an entity is from our own, in whole metres.
    fn distance_m(&self, entity: Entity) -> Option<u128> {
        let here = self.world.get::<WorldPosition>(self.own?)?;
        let there = self.world.get::<WorldPosition>(entity)?;
        let square =
            |a: i128, b: i128| u128::from(u64::try_from(a.abs_diff(b)).ok()?).checked_pow(2);
        let sum = square(here.x, there.x)?
            .checked_add(square(here.y, there.y)?)?
            .checked_add(square(here.z, there.z)?)?;
        Some(sum.isqrt() / 1_000)
    }
}
