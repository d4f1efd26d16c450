//! The server's side: a state machine without sockets or clocks.
//!
//! Bytes and time come in ([`connect`](Server::connect), [`receive`](Server::receive),
//! [`receive_stream`](Server::receive_stream), [`tick`](Server::tick)); bytes and events go out
//! ([`transmit`](Server::transmit), [`transmit_stream`](Server::transmit_stream),
//! [`events`](Server::events)). Whoever owns the links calls these; nothing here waits.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod disconnect;
mod ended;
mod handshake;
pub(crate) mod messages;
mod peer;
mod receive;
mod settings;
mod stall;
mod tick;
mod ticket;
mod transmit;

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use bevy_ecs::entity::Entity;

pub use disconnect::Disconnect;
pub use settings::{ConnectError, Identity, ServerSettings, SettingsError};

use nebula_math::MetersError;

use crate::interest::{
    Explanation, Interest, InterestArea, InterestConfig, InterestIssue, SpatialInterestSystem,
};
use crate::limits::{LogCap, capped};
use crate::message::Inbox;
use crate::protocol::Protocol;
use crate::replication::{ReplicationStats, Replicator};
use crate::session::{InputVerdict, Outcome};
use crate::stats::{ClientStats, ServerTotals, bump};
use crate::{ClientId, NetworkId, Tick};

use peer::{Link, Peer};
use ticket::Tickets;

/// Something that happened to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client finished its handshake.
    Connected {
        /// Who.
        client: ClientId,
        /// Whether its earlier session goes on.
        resumed: bool,
    },
    /// A client's link is gone, or nothing was heard over it for too long; its session waits for it to
    /// come back.
    LinkLost {
        /// Who.
        client: ClientId,
    },
    /// A client is gone, with everything that was kept for it. Its link, if any, is to be closed.
    Disconnected {
        /// Who.
        client: ClientId,
        /// Why.
        reason: Disconnect,
    },
}

/// Everything a server knows of its clients.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::server::{Identity, Server, ServerEvent, ServerSettings};
/// use nebula_multiplayer::client::{Client, ClientSettings};
/// use nebula_multiplayer::Protocol;
///
/// let protocol = Protocol::new("my game", 1);
/// let now = Duration::ZERO;
/// let mut server = Server::new(protocol.clone(), ServerSettings::default()).unwrap();
/// let mut client = Client::new(protocol, ClientSettings::default()).unwrap();
///
/// let id = server.connect(Identity::Account(7), now).unwrap();
/// client.connect(now);
/// let mut bytes = Vec::new();
/// client.transmit_stream(4_096, &mut bytes);
/// server.receive_stream(id, &bytes, now).unwrap();
/// assert_eq!(
///     server.events().next(),
///     Some(ServerEvent::Connected { client: id, resumed: false })
/// );
/// bytes.clear();
/// server.transmit_stream(id, 4_096, &mut bytes);
/// client.receive_stream(&bytes, now).unwrap();
/// assert!(client.is_connected());
/// ```
#[derive(Debug)]
pub struct Server {
    protocol: Protocol,
    settings: ServerSettings,
    tickets: Tickets,
    clients: BTreeMap<ClientId, Peer>,
    interest: Interest,
    watcher: SpatialInterestSystem,
    replicator: Replicator,
    inbox: Inbox,
    events: VecDeque<ServerEvent>,
    /// Clients that are gone, for whoever owns their links.
    ended: VecDeque<(ClientId, Disconnect)>,
    /// What was counted, without that of clients which are still here.
    totals: ServerTotals,
    log: LogCap,
    next_anonymous: u64,
    tick: Tick,
    now: Duration,
    /// Kept to be filled again, so that a datagram allocates nothing.
    outcome: Outcome,
}

impl Server {
    /// Returns a server without clients, at tick 0.
    ///
    /// # Errors
    /// [`SettingsError`] if the protocol or a limit cannot be used; it says which and why.
    pub fn new(protocol: Protocol, settings: ServerSettings) -> Result<Self, SettingsError> {
        settings.validate()?;
        protocol.check()?;
        let kinds = protocol
            .kinds()
            .map_err(crate::protocol::ProtocolError::from)?;
        Ok(Self {
            tickets: Tickets::new(settings.secret),
            clients: BTreeMap::new(),
            interest: Interest::new(),
            watcher: SpatialInterestSystem::new(settings.interest_config())?,
            replicator: Replicator::new(kinds, settings.replication),
            inbox: Inbox::new(protocol.message_kinds(), settings.limits.inbox_messages),
            events: VecDeque::new(),
            ended: VecDeque::new(),
            totals: ServerTotals::default(),
            log: LogCap::new(settings.limits.log_lines_per_second),
            next_anonymous: Identity::FIRST_ANONYMOUS,
            tick: Tick::default(),
            now: Duration::ZERO,
            outcome: Outcome::default(),
            protocol,
            settings,
        })
    }

    /// Returns the number of a client whose link was just made. Its hello has not been read yet.
    ///
    /// An account that is connected already loses its older link first: give no more bytes of that
    /// one. Its session stays, so that the new link may resume it. One that is being thrown out is gone
    /// first, for the reason it was, and begins anew: close its older link as
    /// [`take_ended`](Self::take_ended) says before the new one has its number. Where all places are
    /// taken, the session that has waited longest for its client gives way to an account; to a
    /// stranger, who could be anyone and any number, none does.
    ///
    /// # Errors
    /// [`ConnectError`] if the server is full or the account's number is too large.
    pub fn connect(&mut self, who: Identity, now: Duration) -> Result<ClientId, ConnectError> {
        self.advance(now);
        let client = match who {
            Identity::Anonymous => ClientId::new(self.next_anonymous),
            Identity::Account(number) if number < Identity::FIRST_ANONYMOUS => {
                ClientId::new(number)
            }
            Identity::Account(number) => {
                bump(&mut self.totals.refused_accounts);
                capped!(self.log, self.now, debug, { number, }, "an account is out of range");
                return Err(ConnectError::BadAccount(number));
            }
        };
        if let Some(Link::Closing { reason, .. }) = self.clients.get(&client).map(|peer| &peer.link)
        {
            let reason = reason.clone();
            self.remove(client, reason);
        }
        if let Some(peer) = self.clients.get_mut(&client) {
            let was_live = matches!(peer.link, Link::Live);
            peer.relink(&self.settings.limits, self.now);
            if was_live {
                self.push_event(ServerEvent::LinkLost { client });
            }
            return Ok(client);
        }
        let is_full = self.clients.len() >= self.settings.limits.clients;
        if is_full && (who == Identity::Anonymous || !self.make_room()) {
            bump(&mut self.totals.refused_full);
            capped!(self.log, self.now, debug, { %client, }, "the server is full");
            return Err(ConnectError::Full(self.settings.limits.clients));
        }
        if who == Identity::Anonymous {
            self.next_anonymous = self.next_anonymous.saturating_add(1);
        }
        let resumable = who != Identity::Anonymous;
        let peer = Peer::new(&self.settings.limits, &self.protocol, resumable, self.now);
        self.clients.insert(client, peer);
        Ok(client)
    }

    /// Notes that a client's link is gone. The session of an account is kept for a while.
    pub fn disconnect(&mut self, client: ClientId, now: Duration) {
        self.advance(now);
        let until = self.now.saturating_add(self.settings.limits.resume_window);
        let Some(peer) = self.clients.get_mut(&client) else {
            return;
        };
        match &peer.link {
            Link::Detached { .. } => {}
            Link::Closing { reason, .. } => {
                let reason = reason.clone();
                self.remove(client, reason);
            }
            Link::Live if peer.resumable => {
                peer.link = Link::Detached { until };
                self.push_event(ServerEvent::LinkLost { client });
            }
            Link::Connecting { .. } if peer.joined && peer.resumable => {
                peer.link = Link::Detached { until }
            }
            Link::Live | Link::Connecting { .. } => self.remove(client, Disconnect::LinkLost),
        }
    }

    /// Throws a client out. It gets no more state, only the reason, which is cut at 256 bytes and
    /// loses characters that do not show; the event follows when the reason was handed over, or
    /// after [`farewell`](crate::limits::Limits::farewell).
    pub fn kick(&mut self, client: ClientId, reason: &str, now: Duration) {
        self.advance(now);
        let reason = crate::wire::printable(reason, crate::limits::MAX_REASON);
        match self.clients.get(&client).map(|peer| &peer.link) {
            None | Some(Link::Closing { .. }) => {}
            Some(Link::Detached { .. }) => self.remove(client, Disconnect::Kicked(reason)),
            Some(Link::Live | Link::Connecting { .. }) => {
                self.farewell(client, Disconnect::Kicked(reason));
            }
        }
    }

    /// Sets the entity that a client plays: the centre of its interest, and its "own entity".
    ///
    /// Returns whether the client is known.
    pub fn set_player(&mut self, client: ClientId, entity: Option<Entity>) -> bool {
        let Some(peer) = self.clients.get_mut(&client) else {
            return false;
        };
        peer.player = entity;
        self.watcher.set_player(client, entity);
        true
    }

    /// Returns the entity that a client plays.
    #[must_use]
    pub fn player(&self, client: ClientId) -> Option<Entity> {
        self.clients.get(&client)?.player
    }

    /// Judges an input by the number its client gave it, and notes it as processed if it is fresh.
    /// The newest such number is echoed to the client. `None` if the client is unknown.
    pub fn accept_input(&mut self, client: ClientId, number: u32) -> Option<InputVerdict> {
        let peer = self.clients.get_mut(&client)?;
        let verdict = peer.inputs.note(number);
        if let Some(newest) = peer.inputs.newest() {
            peer.session.set_echo(newest);
        }
        Some(verdict)
    }

    /// Returns the clients that finished their handshake and have a link, in order.
    pub fn clients(&self) -> impl Iterator<Item = ClientId> + '_ {
        let live = self
            .clients
            .iter()
            .filter(|(_, peer)| matches!(peer.link, Link::Live));
        live.map(|(&client, _)| client)
    }

    /// Returns how many clients are held in any state: connecting, live, leaving, or away.
    #[must_use]
    pub fn held(&self) -> usize {
        self.clients.len()
    }

    /// Returns whether a client finished its handshake and has a link.
    #[must_use]
    pub fn is_connected(&self, client: ClientId) -> bool {
        self.clients
            .get(&client)
            .is_some_and(|peer| matches!(peer.link, Link::Live))
    }

    /// Returns what was counted for a client.
    #[must_use]
    pub fn stats(&self, client: ClientId) -> Option<&ClientStats> {
        self.clients.get(&client).map(|peer| &peer.stats)
    }

    /// Returns what was counted of the state sent to a client: by component and kind, and what waits.
    #[must_use]
    pub fn replication_stats(&self, client: ClientId) -> Option<&ReplicationStats> {
        self.replicator.stats(client)
    }

    /// Returns why an entity is or is not replicated to a client, and when state of it was last sent.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::interest::Verdict;
    /// use nebula_multiplayer::server::{Identity, Server, ServerSettings};
    /// use nebula_multiplayer::{NetworkId, Protocol};
    ///
    /// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
    /// let id = server.connect(Identity::Anonymous, Duration::ZERO).unwrap();
    /// let why = server.explain(id, NetworkId::new(0, 0));
    /// assert_eq!((why.verdict, why.last_sent), (Verdict::UnknownClient, None));
    /// ```
    #[must_use]
    pub fn explain(&self, client: ClientId, entity: NetworkId) -> Explanation {
        let sent = self.replicator.last_sent(client, entity);
        self.interest.explain(client, entity).with_last_sent(sent)
    }

    /// Changes how far clients see for whom nothing else is said, from the next tick on.
    ///
    /// ```
    /// use nebula_multiplayer::interest::InterestArea;
    /// use nebula_multiplayer::{Protocol, Server, ServerSettings};
    ///
    /// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default())?;
    /// server.set_default_area(InterestArea::new(200.0)?)?;
    /// assert_eq!(server.settings().interest.area.radius, 200.0);
    /// assert!(server.set_default_area(InterestArea { radius: f64::NAN }).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the radius is NaN, infinite, negative or beyond the universe; then nothing changes.
    pub fn set_default_area(&mut self, area: InterestArea) -> Result<(), MetersError> {
        let config = InterestConfig {
            area,
            ..*self.watcher.config()
        };
        self.watcher.set_config(config)?;
        self.settings.interest.area = area;
        Ok(())
    }

    /// Overrides how far one client sees, or stops to; returns whether the client is known. An
    /// [`InterestArea`] on the client's entity goes before it.
    ///
    /// # Errors
    /// When the radius is NaN, infinite, negative or beyond the universe; then nothing changes.
    pub fn set_area(
        &mut self,
        client: ClientId,
        area: Option<InterestArea>,
    ) -> Result<bool, MetersError> {
        if let Some(area) = area {
            area.radius_mm()?;
        }
        let Some(peer) = self.clients.get_mut(&client) else {
            return Ok(false);
        };
        peer.area = area;
        // Whoever has not joined yet is told of it then.
        self.watcher.set_area(client, area)?;
        Ok(true)
    }

    /// Changes how many wire bytes a second a client is sent at most, from now on; returns whether the
    /// client is known. A client that comes back later has the server's limit again.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::{ClientId, Identity, Protocol, Server, ServerSettings};
    ///
    /// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default())?;
    /// let id = server.connect(Identity::Anonymous, Duration::ZERO)?;
    /// assert!(server.set_budget(id, 16 * 1_024));
    /// assert!(!server.set_budget(ClientId::new(77), 16 * 1_024));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_budget(&mut self, client: ClientId, bytes_per_second: u32) -> bool {
        let now = self.now;
        let peer = self.clients.get_mut(&client);
        peer.map(|peer| peer.budget.set_rate(bytes_per_second, now))
            .is_some()
    }

    /// Returns the lengths in components that were invalid and had no effect, since last asked.
    pub fn interest_issues(&mut self) -> Vec<InterestIssue> {
        self.watcher.issues().collect()
    }

    /// Returns who is interested in what.
    #[must_use]
    pub const fn interest(&self) -> &Interest {
        &self.interest
    }

    /// Returns who is interested in what, to change it.
    ///
    /// What a client sees beside its area is set by
    /// [`add_client`](Interest::add_client), once it is [connected](ServerEvent::Connected). Like its player, its
    /// area and its budget it holds until the client is [gone](ServerEvent::Disconnected), also when it
    /// joins anew before that.
    pub const fn interest_mut(&mut self) -> &mut Interest {
        &mut self.interest
    }

    /// Returns the current tick.
    #[must_use]
    pub const fn current_tick(&self) -> Tick {
        self.tick
    }

    /// Returns the protocol.
    #[must_use]
    pub const fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Returns the settings.
    #[must_use]
    pub const fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    /// Moves time on; time that runs backwards stands still.
    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    /// Ends a client's session but lets its link say why.
    fn farewell(&mut self, client: ClientId, reason: Disconnect) {
        let until = self.now.saturating_add(self.settings.limits.farewell);
        if let Some(peer) = self.clients.get_mut(&client) {
            peer.say_farewell(reason, until);
        }
        self.forget(client);
    }

    /// Frees what other parts keep for a client.
    fn forget(&mut self, client: ClientId) {
        self.watcher.remove_client(&mut self.interest, client);
        self.replicator.remove_client(client);
        self.inbox.forget(client);
    }

    /// Tells replication which packets arrived and which are lost.
    fn settle(replicator: &mut Replicator, client: ClientId, outcome: &Outcome) {
        for &packet in &outcome.acked {
            replicator.acked(client, packet);
        }
        for &packet in &outcome.lost {
            replicator.lost(client, packet);
        }
    }

    /// Takes out the check, at the time of sending, that a client may see what it is sent.
    ///
    /// For the test that shows that the leak oracle notices. It is not in builds without the feature
    /// `testing`, and its name is not in the documentation.
    #[doc(hidden)]
    #[cfg(feature = "testing")]
    pub fn break_send_check_for_tests(&mut self, client: ClientId) {
        self.replicator.break_gate(client);
    }
}
