//! Bytes as a conversation with a server that has another client.

use core::time::Duration;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::client::{Client, ClientEvent, ClientSettings};
use nebula_multiplayer::limits::MAX_DATAGRAM;
use nebula_multiplayer::message::ClientFrame;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::server::{Identity, Server, ServerEvent, ServerSettings};
use nebula_multiplayer::session::{Acks, Header, SmallMessage};

use super::{take, within};
use crate::oracle::messages::said_to_server;
use crate::oracle::world::{Health, Line, Ping, protocol};

/// Things that one input may have happen; more are not read.
const MOST_OPS: usize = 32;

/// What a stranger may make a server hold before its hello, and a client ever.
const STRANGER_HOLDS: u64 = 1 << 20;
const CLIENT_HOLDS: u64 = 4 << 20;

/// Reads the bytes as what one client does, good or bad, in any order, to a server that has a second
/// client. That one must notice nothing.
///
/// # Panics
/// When too much memory is held, or the second client is not told what it must be told.
pub(crate) fn client_messages(data: &[u8]) {
    let Some((first, mut ops)) = data.split_first() else {
        return;
    };
    let mut talk = Talk::new();
    let most = if first % 8 == 0 {
        STRANGER_HOLDS
    } else {
        talk.say_hello();
        CLIENT_HOLDS
    };
    within(most, || {
        for _ in 0..MOST_OPS {
            let [op] = take(&mut ops);
            talk.happen(op, &mut ops);
            if ops.is_empty() {
                break;
            }
        }
    });
    talk.witness_is_told();
}

struct Talk {
    server: Server,
    world: World,
    now: Duration,
    thing: Entity,
    witness: Client,
    mirror: World,
    /// The client that the bytes play, if the server still has it.
    stranger: Option<ClientId>,
    hello: Vec<u8>,
    sequence: u16,
    buffer: Vec<u8>,
}

const WITNESS: u64 = 1;
const STRANGER: u64 = 2;

impl Talk {
    fn new() -> Self {
        let settings = ServerSettings {
            secret: [7; 16],
            ..ServerSettings::default()
        };
        let mut world = World::new();
        let at = WorldPosition::new(-7, 0, 0);
        let thing = world.spawn((Replicate, at, Health(1))).id();
        let client = || Client::new(protocol(), ClientSettings::default()).expect("usable");
        let mut talk = Self {
            server: Server::new(protocol(), settings).expect("usable"),
            world,
            now: Duration::from_secs(1),
            thing,
            witness: client(),
            mirror: World::new(),
            stranger: None,
            hello: Vec::new(),
            sequence: 0,
            buffer: Vec::new(),
        };
        let mut other = client();
        other.connect(talk.now);
        other.transmit_stream(4_096, &mut talk.hello);
        talk.connect(WITNESS);
        talk.witness.connect(talk.now);
        talk.tick(50);
        talk.tick(50);
        assert!(talk.witness.is_connected());
        talk.stranger = talk.connect(STRANGER);
        talk
    }

    fn connect(&mut self, account: u64) -> Option<ClientId> {
        self.server
            .connect(Identity::Account(account), self.now)
            .ok()
    }

    fn say_hello(&mut self) {
        let hello = self.hello.clone();
        self.stream(&hello);
    }

    /// One thing that the stranger, the game or time does.
    fn happen(&mut self, op: u8, data: &mut &[u8]) {
        let high = op >> 4;
        match op & 15 {
            0 | 1 => {
                let bytes = piece(data);
                self.datagram(bytes);
            }
            2 => {
                let bytes = piece(data);
                self.stream(bytes);
            }
            3..=5 => self.packet(high, data),
            6 => self.small_messages(high, data),
            7 | 8 => {
                let mut frame = Vec::new();
                let kind = u32::from(high);
                let payload = piece(data);
                ClientFrame::Message { kind, payload }.encode(&mut frame);
                self.stream(&frame);
            }
            9 => self.say_hello(),
            10 if high < 4 => {
                let mut frame = Vec::new();
                ClientFrame::Goodbye.encode(&mut frame);
                self.stream(&frame);
            }
            10 => {
                // Its link goes, and another comes.
                if let Some(id) = self.stranger.take_if(|_| high < 12) {
                    self.server.disconnect(id, self.now);
                }
                self.stranger = self.connect(STRANGER);
            }
            11 => self.game(high),
            12 => self.tick(1_500),
            _ => self.tick(10 + 10 * u64::from(high)),
        }
    }

    /// A packet with a good head, whatever follows.
    fn packet(&mut self, flags: u8, data: &mut &[u8]) {
        let [a, b, c, d, e, f, ahead] = take(data);
        let header = Header {
            acks: (flags & 1 != 0).then_some(Acks {
                newest: u16::from_le_bytes([a, b]),
                before: u32::from_le_bytes([c, d, e, f]),
                delay_ms: u32::from(ahead),
            }),
            ordered: (flags & 2 != 0).then_some(u16::from_le_bytes([c, d])),
            view_hash: (flags & 4 != 0).then_some(u64::from_le_bytes([a, b, c, d, e, f, 0, 0])),
            requests: flags & 8 != 0,
            ..Header::default()
        };
        let rest = if header.requests { piece(data) } else { &[] };
        self.send(header, rest, ahead);
    }

    fn small_messages(&mut self, count: u8, data: &mut &[u8]) {
        let mut rest = vec![count + 1];
        for _ in 0..=count {
            let [kind, low, high] = take(data);
            let payload = piece(data);
            SmallMessage {
                kind: u32::from(kind),
                id: u16::from_le_bytes([low, high]),
                payload: &payload[..payload.len().min(60)],
            }
            .encode(&mut rest);
        }
        let header = Header {
            messages: true,
            ..Header::default()
        };
        self.send(header, &rest, 1);
    }

    fn send(&mut self, header: Header, rest: &[u8], ahead: u8) {
        self.sequence = self.sequence.wrapping_add(u16::from(ahead));
        let sequence = self.sequence;
        let mut bytes = Vec::new();
        Header { sequence, ..header }.encode(&mut bytes);
        bytes.extend_from_slice(rest);
        self.datagram(&bytes);
    }

    fn datagram(&mut self, bytes: &[u8]) {
        if let Some(id) = self.stranger
            && self.server.receive(id, bytes, self.now).is_err()
        {
            self.stranger_is_out(id);
        }
    }

    fn stream(&mut self, bytes: &[u8]) {
        if let Some(id) = self.stranger
            && self.server.receive_stream(id, bytes, self.now).is_err()
        {
            self.stranger_is_out(id);
        }
    }

    fn stranger_is_out(&mut self, id: ClientId) {
        assert_eq!(self.server.held(), 1, "a bad client is gone");
        assert!(self.server.stats(id).is_none());
        self.stranger = None;
    }

    /// The game does something.
    fn game(&mut self, what: u8) {
        let at = WorldPosition::new(-i128::from(what), 0, 0);
        match (what, self.stranger) {
            (0..=3, Some(id)) => {
                let player = self.world.spawn((Replicate, at, Health(3))).id();
                self.server.set_player(id, Some(player));
            }
            (4..=7, Some(id)) => {
                // An error when its queue is full, and no longer queue.
                let _ = self.server.send(id, &Line(7));
                let _ = self.server.send(id, &Ping(7));
            }
            (8, _) => drop(said_to_server(&mut self.server)),
            _ => drop(self.world.entity_mut(self.thing).insert(at)),
        }
    }

    /// Time goes on: the server ticks, and the second client with it.
    fn tick(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        let witness = ClientId::new(WITNESS);
        let (now, bytes) = (self.now, &mut self.buffer);
        bytes.clear();
        while self.witness.transmit_stream(MAX_DATAGRAM, bytes) {
            let taken = self.server.receive_stream(witness, bytes, now);
            assert_eq!(taken, Ok(()), "the witness is no stranger");
            bytes.clear();
        }
        while self.witness.transmit(MAX_DATAGRAM, bytes) {
            let taken = self.server.receive(witness, bytes, now);
            assert_eq!(taken, Ok(()), "the witness is no stranger");
            bytes.clear();
        }
        self.server.tick(&mut self.world, now);
        while self.server.transmit_stream(witness, MAX_DATAGRAM, bytes) {
            self.witness.receive_stream(bytes, now).expect("good bytes");
            bytes.clear();
        }
        while self.server.transmit(witness, MAX_DATAGRAM, bytes) {
            self.witness.receive(bytes, now).expect("good bytes");
            bytes.clear();
        }
        self.witness.tick(&mut self.mirror, now);
        if let Some(id) = self.stranger {
            bytes.clear();
            while self.server.transmit_stream(id, MAX_DATAGRAM, bytes) {
                bytes.clear();
            }
            while self.server.transmit(id, MAX_DATAGRAM, bytes) {
                bytes.clear();
            }
        }
        for event in self.server.events() {
            if let ServerEvent::Disconnected { client, reason } = event {
                assert_eq!(client.get(), STRANGER, "the witness was dropped: {reason}");
                self.stranger = None;
            }
        }
        self.server.take_ended().for_each(drop);
        let out = |event: ClientEvent| matches!(event, ClientEvent::Disconnected { .. });
        assert!(!self.witness.events().any(out), "the witness is out");
    }

    /// Checks that what happens now reaches the second client within half a second.
    fn witness_is_told(&mut self) {
        let at = WorldPosition::new(-8, 0, 0);
        let witness = ClientId::new(WITNESS);
        let player = self.world.spawn((Replicate, at)).id();
        self.server.set_player(witness, Some(player));
        self.world.entity_mut(self.thing).insert((at, Health(77)));
        for _ in 0..10 {
            self.tick(50);
        }
        let mut healths = self.mirror.query::<&Health>();
        let told = healths.iter(&self.mirror).any(|health| health.0 == 77);
        assert!(told, "the witness is not told");
    }
}

/// Cuts a piece off: a byte of length before it, doubled.
fn piece<'a>(data: &mut &'a [u8]) -> &'a [u8] {
    let [len] = take(data);
    let (piece, rest) = data.split_at((2 * usize::from(len)).min(data.len()));
    *data = rest;
    piece
}
