//! The client's side: a state machine without sockets or clocks.
//!
//! Bytes and time come in; bytes and events go out, and the client's own `World` follows the
//! server's. A hostile server can end the connection, and nothing else: no bytes panic, hang or
//! grow memory past the caps.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod clock;
mod inbox;
mod messages;
mod receive;
mod settings;
mod transmit;

use core::time::Duration;
use std::collections::VecDeque;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;

pub use clock::{Clock, TickTime};
pub use settings::ClientSettings;

use crate::message::{ClientFrame, FrameBuffer, Hello, Resume, Ticket};
use crate::mirror::{Mirror, MirrorEvent};
use crate::protocol::{Protocol, ProtocolError};
use crate::replication::DespawnReason;
use crate::server::{Disconnect, SettingsError};
use crate::session::{Bucket, Outcome, Session};
use crate::{ClientId, Tick};
use inbox::Inbox;

/// Events kept while nobody takes them; beyond it the oldest go, and are counted.
const MAX_EVENTS: usize = 65_536;

/// Something that happened to the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server let us in.
    Connected {
        /// Our number.
        client: ClientId,
        /// Whether the earlier session goes on; otherwise everything mirrored starts anew.
        resumed: bool,
    },
    /// The connection is over.
    Disconnected {
        /// Why.
        reason: Disconnect,
    },
    /// An entity appeared, with all its components.
    Spawned(Entity),
    /// An entity disappeared; its id is valid no more.
    Despawned {
        /// What it was.
        entity: Entity,
        /// Why.
        reason: DespawnReason,
    },
    /// This is our own entity now; `None` if we have none any more.
    YourEntity(Option<Entity>),
}

/// Where the connection stands.
#[derive(Debug)]
enum State {
    /// Never connected, or over.
    Idle,
    /// The hello is out.
    Connecting { until: Duration },
    /// We are in.
    Live,
    /// The link is gone; [`Client::connect`] tries to resume.
    Lost,
}

/// The ticket of a session. Whoever reads it could resume that, so logs do not show it.
#[derive(Clone, Copy)]
struct Held(Ticket);

impl core::fmt::Debug for Held {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Held(..)")
    }
}

/// Everything a client knows of its server.
///
/// [`Server`](crate::Server) shows the handshake of the two.
#[derive(Debug)]
pub struct Client {
    protocol: Protocol,
    settings: ClientSettings,
    state: State,
    id: Option<ClientId>,
    ticket: Option<Held>,
    session: Session,
    frames: FrameBuffer,
    clock: Clock,
    mirror: Mirror,
    inbox: Inbox,
    events: VecDeque<ClientEvent>,
    lost_events: u64,
    datagrams: Bucket,
    bytes: Bucket,
    /// How many messages may be taken for sending.
    messages: Bucket,
    /// How many may go out: what was taken while the link was gone would be too much at once.
    pace: Bucket,
    echo: Option<u32>,
    /// When full state was last asked for.
    asked: Option<Duration>,
    mirror_events: Vec<MirrorEvent>,
    hashed: Option<Duration>,
    now: Duration,
    outcome: Outcome,
}

impl Client {
    /// Returns a client that is not connected.
    ///
    /// # Errors
    /// [`SettingsError`] if the protocol or a limit cannot be used; it says which and why.
    pub fn new(protocol: Protocol, settings: ClientSettings) -> Result<Self, SettingsError> {
        settings.limits.validate()?;
        protocol.check()?;
        let limits = &settings.limits;
        let kinds = protocol.kinds().map_err(ProtocolError::from)?;
        Ok(Self {
            state: State::Idle,
            id: None,
            ticket: None,
            session: Session::new(limits, &protocol, limits.frame_in_bytes, Duration::ZERO),
            frames: FrameBuffer::new(limits.frame_out_bytes),
            clock: Clock::default(),
            mirror: Mirror::new(kinds, settings.mirror),
            inbox: Inbox::new(&protocol, settings.inbox_bytes, limits.inbox_messages),
            events: VecDeque::new(),
            lost_events: 0,
            datagrams: Bucket::new(
                limits.datagrams_per_second,
                limits.datagrams_per_second,
                Duration::ZERO,
            ),
            bytes: Bucket::new(
                limits.bytes_in_per_second,
                limits.bytes_in_per_second,
                Duration::ZERO,
            ),
            messages: Bucket::new(
                limits.messages_per_second,
                limits.messages_per_second,
                Duration::ZERO,
            ),
            pace: Bucket::new(
                limits.messages_per_second,
                limits.messages_per_second,
                Duration::ZERO,
            ),
            echo: None,
            asked: None,
            mirror_events: Vec::new(),
            hashed: None,
            now: Duration::ZERO,
            outcome: Outcome::default(),
            protocol,
            settings,
        })
    }

    /// Begins a connection over a new link: writes the hello. After
    /// [`link_lost`](Self::link_lost) it asks to resume.
    pub fn connect(&mut self, now: Duration) {
        self.advance(now);
        let resume = self.resume_request();
        self.frames = FrameBuffer::new(self.settings.limits.frame_out_bytes);
        self.session.ordered.silence();
        self.session.restart_timers(self.now);
        let hello = ClientFrame::Hello(Hello {
            wire_version: crate::limits::WIRE_VERSION,
            name: self.protocol.name(),
            version: self.protocol.version(),
            hash: self.protocol.hash(),
            parts: self.protocol.parts(),
            resume,
        });
        self.session.ordered.control(|out| hello.encode(out));
        let until = self.now.saturating_add(self.settings.limits.hello_timeout);
        self.state = State::Connecting { until };
    }

    /// Notes that the link is gone. Everything is kept, so that [`connect`](Self::connect) can resume.
    pub fn link_lost(&mut self, now: Duration) {
        self.advance(now);
        if matches!(self.state, State::Live | State::Connecting { .. }) {
            self.state = State::Lost;
        }
    }

    /// Leaves for good: a goodbye is the last thing sent. Mirrored entities stay in the world
    /// until the next connection.
    pub fn disconnect(&mut self, now: Duration) {
        self.advance(now);
        if matches!(self.state, State::Live) {
            self.session.ordered.close();
            self.session
                .ordered
                .control(|out| ClientFrame::Goodbye.encode(out));
        }
        self.close(Disconnect::Left);
    }

    /// Takes one step: ends a connection that ran out of time, and applies what arrived to `world`.
    ///
    /// Without a `bevy_app` around the world, call [`World::clear_trackers`] at the end of a frame:
    /// `bevy_ecs` keeps a note of every entity that was despawned until then.
    pub fn tick(&mut self, world: &mut World, now: Duration) {
        self.advance(now);
        self.end_if_overdue();
        self.outcome.clear();
        self.session.expire(self.now, &mut self.outcome);
        let mut events = core::mem::take(&mut self.mirror_events);
        self.mirror.apply(world, &mut events);
        for event in events.drain(..) {
            self.push_event(match event {
                MirrorEvent::Spawned(entity) => ClientEvent::Spawned(entity),
                MirrorEvent::Despawned { entity, reason } => {
                    ClientEvent::Despawned { entity, reason }
                }
                MirrorEvent::YourEntity(entity) => ClientEvent::YourEntity(entity),
            });
        }
        self.mirror_events = events;
    }

    /// Returns what happened to the connection since the last call, in order.
    pub fn events(&mut self) -> std::vec::IntoIter<ClientEvent> {
        Vec::from(core::mem::take(&mut self.events)).into_iter()
    }

    /// Returns how many events were lost because nobody took them: 65,536 are kept. Take them each
    /// tick, and this stays 0.
    ///
    /// ```
    /// use nebula_multiplayer::{Client, ClientSettings, Protocol};
    ///
    /// let client = Client::new(Protocol::new("my game", 1), ClientSettings::default()).unwrap();
    /// assert_eq!(client.lost_events(), 0);
    /// ```
    #[must_use]
    pub const fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// Returns whether the server let us in and the link stands.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        matches!(self.state, State::Live)
    }

    /// Returns our number, once the server gave one.
    #[must_use]
    pub const fn id(&self) -> Option<ClientId> {
        self.id
    }

    /// Returns our own entity in our own world, once it is there.
    #[must_use]
    pub fn own_entity(&self) -> Option<Entity> {
        self.mirror.own_entity()
    }

    /// Returns the entity of our world that mirrors a slot, once it is there.
    #[must_use]
    pub fn entity_of(&self, slot: u32) -> Option<Entity> {
        self.mirror.entity_of(slot)
    }

    /// Returns how many entities are mirrored, those still arriving included.
    #[must_use]
    pub fn mirrored(&self) -> usize {
        self.mirror.len()
    }

    /// Returns how many bytes of components are kept for them.
    #[must_use]
    pub fn mirrored_bytes(&self) -> usize {
        self.mirror.bytes()
    }

    /// Returns the number of our last input that the server processed, as far as we know.
    #[must_use]
    pub const fn last_echo(&self) -> Option<u32> {
        self.echo
    }

    /// Returns where the server's simulation probably is at `now`. Never goes back within a session.
    pub fn server_time(&mut self, now: Duration) -> Option<TickTime> {
        self.clock.estimate(now, self.session.min_rtt())
    }

    /// Returns the newest tick that was heard of.
    #[must_use]
    pub const fn latest_tick(&self) -> Option<Tick> {
        self.clock.latest()
    }

    /// Returns the smoothed round trip.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        self.session.rtt()
    }

    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    fn resume_request(&self) -> Option<Resume> {
        let Held(ticket) = self.ticket.filter(|_| matches!(self.state, State::Lost))?;
        let (acks, ordered) = self.session.proof();
        Some(Resume {
            ticket,
            acks,
            ordered,
            view_hash: self.mirror.view_hash(),
        })
    }

    /// Returns whether the session waits for another link.
    #[cfg(feature = "quic")]
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost)
    }

    fn end_if_overdue(&mut self) {
        let limits = &self.settings.limits;
        let since = |start: Duration| self.now.saturating_sub(start);
        let reason = match self.state {
            State::Connecting { until } if self.now >= until => Disconnect::HelloTimeout,
            State::Live if since(self.session.last_received()) >= limits.idle_timeout => {
                Disconnect::Idle
            }
            _ => return,
        };
        // The link may be at fault: keep the session for a resume.
        self.state = State::Lost;
        self.push_event(ClientEvent::Disconnected { reason });
    }

    /// Ends the connection for good.
    fn close(&mut self, reason: Disconnect) {
        if !matches!(self.state, State::Idle) {
            self.state = State::Idle;
            self.ticket = None;
            self.push_event(ClientEvent::Disconnected { reason });
        }
    }

    fn push_event(&mut self, event: ClientEvent) {
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
            self.lost_events = self.lost_events.saturating_add(1);
        }
        self.events.push_back(event);
    }
}
