//! A client's process.

use core::time::Duration;
use std::sync::Arc;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::client::{Client, ClientSettings};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::transport::quic::{
    self, Fingerprint, LinkState, QuicClient, QuicClientSettings, Trust,
};
use nebula_multiplayer::transport::sim::Random;
use tokio::runtime::Handle;

use super::host::{limits, seed};
use super::net::{Net, SERVER};
use super::socket::Socket;
use crate::oracle::client::Shown;
use crate::oracle::messages::Channels;
use crate::oracle::world;

/// How long a client waits after its link went before it tries again.
const AGAIN: Duration = Duration::from_millis(250);

/// What the clients of a simulation share.
#[derive(Clone, Debug)]
pub(crate) struct Joining {
    pub(crate) net: Arc<Net>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) limits: Limits,
    /// How many entities that left it a client remembers.
    pub(crate) kept: usize,
}

/// A client, and what the simulation knows of it.
pub(crate) struct Guest {
    pub(crate) number: usize,
    pub(crate) process: Process,
    /// What it plays on the server.
    pub(crate) player: Option<Entity>,
    pub(crate) shown: Shown,
    /// What the server says, and what the client says.
    pub(crate) down: Channels,
    pub(crate) up: Channels,
    /// Until when its process stands still.
    pub(crate) frozen_until: Duration,
    down_since: Option<Duration>,
}

/// All that is gone when a client's process ends.
pub(crate) struct Process {
    pub(crate) client: Client,
    pub(crate) world: World,
    link: QuicClient,
    pub(crate) socket: Socket,
}

impl Process {
    fn new(joining: &Joining, number: usize, random: &mut Random) -> Self {
        let mut settings = ClientSettings {
            limits: joining.limits.clone(),
            ..ClientSettings::default()
        };
        settings.mirror.kept = joining.kept;
        let client = Client::new(world::protocol(), settings).expect("usable settings");
        let settings = QuicClientSettings {
            credentials: OpenLogin::account(id(number).get()),
            limits: limits(),
            ..QuicClientSettings::new(SERVER, Trust::Pinned(joining.fingerprint))
        };
        let socket = Socket::open(&joining.net, Some(number));
        let seed = seed(random);
        let make = || socket.endpoint(seed, None);
        let link = quic::connect_over(&Handle::current(), &world::protocol(), &settings, make);
        Self {
            client,
            world: World::new(),
            link: link.expect("usable settings"),
            socket,
        }
    }
}

impl Guest {
    pub(crate) fn new(joining: &Joining, number: usize, random: &mut Random) -> Self {
        Self {
            number,
            process: Process::new(joining, number, random),
            player: None,
            shown: Shown::new(),
            down: Channels::default(),
            up: Channels::default(),
            frozen_until: Duration::ZERO,
            down_since: None,
        }
    }

    /// Ends the process at once, and starts another, which knows nothing.
    pub(crate) fn crash(&mut self, joining: &Joining, random: &mut Random) {
        self.process.socket.kill();
        self.process = Process::new(joining, self.number, random);
        self.frozen_until = Duration::ZERO;
        self.down_since = None;
    }

    /// Lets the process stand still until a time.
    pub(crate) fn freeze(&mut self, until: Duration) {
        self.frozen_until = self.frozen_until.max(until);
        self.process.socket.freeze(true);
    }

    /// One tick: receives, ticks, sends, and tries again some time after its link went.
    pub(crate) fn tick(&mut self, now: Duration) {
        if self.frozen_until > now {
            return;
        }
        self.process.socket.freeze(false);
        let Process {
            client,
            world,
            link,
            ..
        } = &mut self.process;
        link.pump(client, link.now());
        client.tick(world, link.now());
        link.flush(client);
        if !matches!(link.state(), LinkState::Down(_)) {
            self.down_since = None;
        } else if *self.down_since.get_or_insert(now) + AGAIN <= now {
            self.down_since = None;
            link.reconnect();
        }
    }

    /// Changes the address; a client that knows of it makes a new link.
    pub(crate) fn move_on(&mut self, known: bool) {
        self.process.socket.readdress();
        if known {
            self.process.link.reconnect();
        }
    }

    /// Leaves, as a player does that quits; and will come back.
    pub(crate) fn leave(&mut self) {
        self.process.link.leave(&mut self.process.client);
    }

    /// Returns why it has no session, if it has none.
    pub(crate) fn unconnected(&self) -> Option<String> {
        let client = &self.process.client;
        (!client.is_connected()).then(|| format!("link {:?}", self.process.link.state()))
    }

    pub(crate) fn id(&self) -> ClientId {
        id(self.number)
    }
}

/// Returns the server's name for a client.
pub(crate) fn id(number: usize) -> ClientId {
    ClientId::new(1 + u64::try_from(number).expect("few clients"))
}
