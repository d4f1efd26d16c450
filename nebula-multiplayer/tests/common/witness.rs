//! A healthy client that plays beside a hostile one on the same server, and notices nothing of it.
//!
//! It walks and looks at a thing that changes in every tick, so that every tick has something to tell
//! it. Whether it noticed anything is decided by doing the same once more, at the same times, on a
//! server that has nobody else: every byte, packet and count must be the same.

use core::time::Duration;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::{
    Client, ClientEvent, ClientId, ClientSettings, Identity, Protocol, Server, ServerSettings,
};
use serde::{Deserialize, Serialize};

use super::{Health, MAX};

/// Where it plays: out of sight of everything else in the tests.
const HOME: WorldPosition = WorldPosition::new(1 << 100, -(1 << 99), 1 << 98);

/// Its account, which no hostile client has.
const ACCOUNT: u64 = 1;

/// Ticks within which a change must have arrived on a healthy link.
const SOON: usize = 3;

/// What the witness wishes: to stand so far from its home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Walk(pub(crate) u32);

/// What happened in a tick.
struct Tick {
    /// When what the witness sent before it was heard.
    heard: Duration,
    /// When it was.
    now: Duration,
    /// What the witness was sent: each packet after its lane and its length.
    sent: Vec<u8>,
}

/// A healthy client.
pub(crate) struct Witness {
    pub(crate) id: ClientId,
    client: Client,
    mirror: World,
    player: Entity,
    thing: Entity,
    start: Duration,
    ticks: Vec<Tick>,
    /// Ticks for which it has not had the newest.
    late: usize,
}

impl Witness {
    /// Connects a witness to a server. It is in after a few ticks.
    pub(crate) fn new(server: &mut Server, world: &mut World, now: Duration) -> Self {
        let player = world.spawn((Replicate, HOME, Health(100))).id();
        let thing = world.spawn((Replicate, HOME, Health(0))).id();
        let id = server.connect(Identity::Account(ACCOUNT), now).unwrap();
        assert!(server.set_player(id, Some(player)));
        let protocol = server.protocol().clone();
        let mut client = Client::new(protocol, ClientSettings::default()).unwrap();
        client.connect(now);
        Self {
            id,
            client,
            mirror: World::new(),
            player,
            thing,
            start: now,
            ticks: Vec::new(),
            late: 0,
        }
    }

    /// Lets a tick of the server pass, with what the witness is sent after it. What the witness sends
    /// before it is heard at `heard`: right behind what others sent, so that it finds what they left.
    #[track_caller]
    pub(crate) fn tick(
        &mut self,
        server: &mut Server,
        world: &mut World,
        heard: Duration,
        now: Duration,
    ) {
        self.say(server, heard);
        self.change(server, world);
        server.tick(world, now);
        let sent = self.hear(server, now);
        self.ticks.push(Tick { heard, now, sent });
        self.check(server, world);
    }

    fn say(&mut self, server: &mut Server, now: Duration) {
        let mut bytes = Vec::new();
        if self.client.is_connected() {
            let wish = u32::try_from(self.ticks.len()).unwrap();
            self.client.send(&Walk(wish)).unwrap();
        }
        while self.client.transmit_stream(MAX, &mut bytes) {
            server.receive_stream(self.id, &bytes, now).unwrap();
            bytes.clear();
        }
        while self.client.transmit(MAX, &mut bytes) {
            server.receive(self.id, &bytes, now).unwrap();
            bytes.clear();
        }
    }

    /// What the game does: the player walks as it wishes, and the thing is never as it was.
    fn change(&self, server: &mut Server, world: &mut World) {
        for (client, wish) in server.messages::<Walk>() {
            if client == self.id {
                let x = HOME.x + i128::from(wish.0);
                let at = WorldPosition::new(x, HOME.y, HOME.z);
                world.entity_mut(self.player).insert(at);
            }
        }
        let count = u16::try_from(self.ticks.len() % 60_000).unwrap();
        world.get_mut::<Health>(self.thing).unwrap().0 = count;
    }

    fn hear(&mut self, server: &mut Server, now: Duration) -> Vec<u8> {
        let (mut all, mut bytes) = (Vec::new(), Vec::new());
        let mut note = |lane: u8, bytes: &[u8]| {
            all.push(lane);
            all.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
            all.extend(bytes);
        };
        while server.transmit_stream(self.id, MAX, &mut bytes) {
            note(0, &bytes);
            self.client.receive_stream(&bytes, now).unwrap();
            bytes.clear();
        }
        while server.transmit(self.id, MAX, &mut bytes) {
            note(1, &bytes);
            self.client.receive(&bytes, now).unwrap();
            bytes.clear();
        }
        self.client.tick(&mut self.mirror, now);
        all
    }

    /// Checks that the witness has the newest, and nothing else, or had it three ticks ago.
    #[track_caller]
    fn check(&mut self, server: &Server, world: &mut World) {
        let truth = rows(world, |id| id == self.player || id == self.thing);
        let seen = rows(&mut self.mirror, |_| true);
        self.late = if seen == truth { 0 } else { self.late + 1 };
        let tick = self.ticks.len();
        let soon = SOON + usize::from(tick < 10);
        assert!(self.late <= soon, "tick {tick}: {seen:?}, not {truth:?}");
        let left = |event: ClientEvent| matches!(event, ClientEvent::Disconnected { .. });
        assert!(!self.client.events().any(left), "tick {tick}");
        assert!(tick < 10 || server.is_connected(self.id), "tick {tick}");
    }

    /// Checks that everything was as it would have been without anybody else.
    #[track_caller]
    pub(crate) fn noticed_nothing(
        &self,
        server: &Server,
        protocol: Protocol,
        with: ServerSettings,
    ) {
        assert!(self.client.is_connected() && self.late == 0);
        let mut empty = Server::new(protocol, with).unwrap();
        let mut world = World::new();
        let mut alone = Self::new(&mut empty, &mut world, self.start);
        for (number, tick) in self.ticks.iter().enumerate() {
            alone.tick(&mut empty, &mut world, tick.heard, tick.now);
            assert_eq!(tick.sent, alone.ticks[number].sent, "tick {number}");
        }
        assert_eq!(server.stats(self.id), empty.stats(alone.id));
        let state = |server: &Server| server.replication_stats(self.id).cloned();
        assert_eq!(state(server), state(&empty));
    }
}

/// What a world shows of some entities, in order.
fn rows(world: &mut World, which: impl Fn(Entity) -> bool) -> Vec<(i128, u16)> {
    let mut query = world.query::<(Entity, &WorldPosition, &Health)>();
    let all = query.iter(world).filter(|(id, ..)| which(*id));
    let mut rows: Vec<(i128, u16)> = all.map(|(_, at, health)| (at.x, health.0)).collect();
    rows.sort_unstable();
    rows
}
