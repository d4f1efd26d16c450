//! `nebula-demo client`: the loop.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::transport::quic::{self, LinkState, QuicClient, QuicClientSettings, Trust};
use nebula_multiplayer::{Client, ClientEvent, ClientSettings};

use super::stage::Stage;
use super::{Kind, Walk, player_name, protocol};
use crate::args::ClientOptions;
use crate::marks::Mark;

/// Between two looks at the network.
const FRAME: Duration = Duration::from_millis(20);

/// How long a lost server is tried again.
const PATIENCE: Duration = Duration::from_secs(30);

/// For how long a change stays visible.
const FLASH: Duration = Duration::from_secs(1);

/// A server that says nothing for 3 s is taken for lost: people watch, and a world that stands still
/// is no fun. What it says once a second when there is no news keeps a quiet link alive.
const LIMITS: (u32, u32) = (3_000, 1_000);

/// What a client shows of what it knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Visited {
    /// How the link stands, in words.
    pub(super) link: String,
    /// Whether we have a session.
    pub(super) connected: bool,
    /// Who we are.
    pub(super) player: Option<u64>,
    /// Where we are.
    pub(super) at: Option<WorldPosition>,
    /// Everyone else that we know of, and those who left a moment ago.
    pub(super) others: Vec<(Kind, WorldPosition, Mark)>,
    pub(super) nearby: usize,
    pub(super) came: u64,
    pub(super) went: u64,
    pub(super) round_trip: Option<Duration>,
    /// How large everything is that we know.
    pub(super) known_bytes: usize,
    /// How often this was told.
    pub(super) frame: u64,
}

/// Looks at a served world and prints who enters and who leaves.
pub(super) fn run(
    options: &ClientOptions,
    stage: &Stage<Visited, Walk>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut client = Client::new(protocol(), ClientSettings::default())?;
    let mut link = quic::connect(&protocol(), &settings(options))?;
    let stop = &stage.stop;
    stop.on_client_signals(&link)
        .context("cannot listen for signals")?;
    writeln!(out, "connecting to {}", options.connect)?;
    let mut view = View::default();
    let (mut lost, mut walk) = (None, Walk::default());
    let end = options.seconds.map(Duration::from_secs);
    while !stop.is_stopped() && end.is_none_or(|end| link.now() < end) {
        let now = link.now();
        link.pump(&mut client, now);
        client.tick(&mut view.world, now);
        view.world.clear_trackers();
        let wanted = stage.asked();
        // A full queue is tried again with the next frame.
        if wanted != walk && client.is_connected() && client.send(&wanted).is_ok() {
            walk = wanted;
        }
        link.flush(&mut client);
        view.me = client.id().map(|id| Kind::Player(id.get()));
        for event in client.events() {
            if matches!(event, ClientEvent::Connected { resumed: false, .. }) {
                walk = Walk::default(); // This server has not heard where we walk.
            }
            view.take(event, out)?;
        }
        stage.show(|shown| view.describe(&client, &link, options, shown));
        try_again(&mut link, &client, &mut lost, out)?;
        out.flush()?;
        std::thread::sleep(FRAME);
    }
    link.leave(&mut client);
    writeln!(out, "left; {} came and {} went", view.came, view.went)?;
    Ok(())
}

fn settings(options: &ClientOptions) -> QuicClientSettings {
    let trust = options.pin.map_or(Trust::Unverified, Trust::Pinned);
    let (idle_ms, keep_alive_ms) = LIMITS;
    QuicClientSettings {
        credentials: options.account.map(OpenLogin::account).unwrap_or_default(),
        limits: TransportLimits {
            idle_ms,
            keep_alive_ms,
            ..TransportLimits::default()
        },
        ..QuicClientSettings::new(options.connect, trust)
    }
}

/// Makes a new link when there is none, until patience is at its end.
fn try_again(
    link: &mut QuicClient,
    client: &Client,
    lost: &mut Option<Instant>,
    out: &mut dyn Write,
) -> Result<()> {
    match link.state() {
        LinkState::Up if client.is_connected() => *lost = None,
        // A server that is full takes a link and ends it again: only a session is a success.
        LinkState::Up | LinkState::Connecting => {}
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
    Ok(())
}

/// What the client knows of the world.
#[derive(Default)]
struct View {
    world: World,
    /// By what name every other entity was announced, and when.
    names: BTreeMap<Entity, (Kind, Instant)>,
    /// Who left a moment ago, and where they were.
    gone: Vec<(Kind, WorldPosition, Instant)>,
    /// Where everyone was at the last look: an entity that is gone has no place any more.
    places: BTreeMap<Entity, WorldPosition>,
    /// What others know us by.
    me: Option<Kind>,
    own: Option<Entity>,
    came: u64,
    went: u64,
    frame: u64,
}

impl View {
    fn take(&mut self, event: ClientEvent, out: &mut dyn Write) -> Result<()> {
        match event {
            ClientEvent::Connected { client, resumed } => {
                let how = if resumed { "back as" } else { "connected as" };
                writeln!(out, "{how} {}", player_name(client.get()))?;
            }
            ClientEvent::Spawned(entity) => {
                let kind = self.world.get::<Kind>(entity).copied();
                // We know our number before we are told which entity is ours.
                if kind.is_some() && kind == self.me {
                    self.own = Some(entity);
                } else if let Some(kind) = kind {
                    self.names.insert(entity, (kind, Instant::now()));
                    self.came += 1;
                    let nearby = self.nearby();
                    match self.distance_m(entity) {
                        Some(m) => writeln!(out, "+ {kind} at {m} m   Nearby: {nearby} entities")?,
                        None => writeln!(out, "+ {kind}   Nearby: {nearby} entities")?,
                    }
                }
            }
            ClientEvent::Despawned { entity, reason } => {
                if let Some((kind, _)) = self.names.remove(&entity) {
                    self.went += 1;
                    if let Some(at) = self.places.get(&entity) {
                        self.gone.push((kind, *at, Instant::now()));
                    }
                    let nearby = self.nearby();
                    writeln!(out, "- {kind} ({reason:?})   Nearby: {nearby} entities")?;
                }
            }
            ClientEvent::Disconnected { reason } => writeln!(out, "disconnected: {reason}")?,
            _ => {}
        }
        Ok(())
    }

    /// Returns how many others we know of.
    fn nearby(&self) -> usize {
        self.names.len()
    }

    /// Returns how far an entity is from our own, in whole metres.
    fn distance_m(&self, entity: Entity) -> Option<u128> {
        let here = self.world.get::<WorldPosition>(self.own?)?;
        let there = self.world.get::<WorldPosition>(entity)?;
        Some(here.distance_squared(there).to_u128()?.isqrt() / 1_000)
    }

    /// Says what there is to see.
    fn describe(
        &mut self,
        client: &Client,
        link: &QuicClient,
        options: &ClientOptions,
        shown: &mut Visited,
    ) {
        self.frame += 1;
        self.gone.retain(|(_, _, when)| when.elapsed() < FLASH);
        self.places.clear();
        shown.others.clear();
        for (entity, (kind, since)) in &self.names {
            let Some(at) = self.world.get::<WorldPosition>(*entity) else {
                continue;
            };
            self.places.insert(*entity, *at);
            let fresh = since.elapsed() < FLASH;
            let mark = if fresh { Mark::Entered } else { Mark::Near };
            shown.others.push((*kind, *at, mark));
        }
        let gone = self.gone.iter();
        shown
            .others
            .extend(gone.map(|(kind, at, _)| (*kind, *at, Mark::Leaving)));
        shown.link = match link.state() {
            LinkState::Up => format!("connected to {}", options.connect),
            LinkState::Connecting => format!("connecting to {}", options.connect),
            LinkState::Down(error) => error.to_string(),
        };
        shown.connected = client.is_connected();
        shown.player = client.id().map(|id| id.get());
        shown.at = self.own.and_then(|own| self.world.get(own)).copied();
        shown.nearby = self.nearby();
        (shown.came, shown.went) = (self.came, self.went);
        shown.round_trip = client.round_trip();
        shown.known_bytes = client.mirrored_bytes();
        shown.frame = self.frame;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use nebula_multiplayer::limits::Limits;
    use nebula_multiplayer::transport::quic::QuicSettings;
    use nebula_multiplayer::{Server, ServerSettings};

    #[test]
    fn patience_with_a_full_server_ends() {
        let one = Limits {
            clients: 1,
            ..Limits::default()
        };
        let settings = ServerSettings {
            limits: one,
            ..ServerSettings::default()
        };
        let mut server = Server::new(protocol(), settings).unwrap();
        let listen = QuicSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            ..QuicSettings::default()
        };
        let mut net = quic::serve(&server, &listen, OpenLogin).unwrap();
        let settings = QuicClientSettings::new(net.local_addr(), Trust::Unverified);
        let mut world = World::new();
        let mut guests = [(); 2].map(|()| {
            let client = Client::new(protocol(), ClientSettings::default()).unwrap();
            (client, None, World::new())
        });
        let (mut lost, mut since, mut attempts) = (None, None, Vec::new());
        let start = Instant::now();
        while attempts.iter().filter(|byte| **byte == b'\n').count() < 3 {
            assert!(start.elapsed() < PATIENCE, "it is refused before");
            net.pump(&mut server, net.now());
            server.tick(&mut world, net.now());
            net.flush(&mut server);
            let first_is_in = guests[0].0.is_connected();
            for (number, (client, link, mirror)) in guests.iter_mut().enumerate() {
                if number == 1 && !first_is_in {
                    continue;
                }
                let link =
                    link.get_or_insert_with(|| quic::connect(&protocol(), &settings).unwrap());
                link.pump(client, link.now());
                client.tick(mirror, link.now());
                link.flush(client);
                if number == 1 {
                    try_again(link, client, &mut lost, &mut attempts).unwrap();
                    since = since.or(lost);
                    assert_eq!(lost, since, "it is lost since its first attempt");
                }
            }
            std::thread::sleep(FRAME);
        }
        let said = String::from_utf8(attempts).unwrap();
        assert!(said.contains("trying again"), "{said}");
    }
}
