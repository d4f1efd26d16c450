//! What happened to clients, what ended them, and how often.

use std::collections::VecDeque;

use super::peer::Link;
use super::{Disconnect, Server, ServerEvent};
use crate::ClientId;
use crate::limits::capped;
use crate::stats::{ServerTotals, bump};

/// Events kept while nobody takes them, however few clients there may be.
const LEAST_EVENTS: usize = 16_384;

/// Events of one client between two ticks: it is thrown out, comes back, loses its link and is gone.
const EVENTS_PER_CLIENT: usize = 4;

impl Server {
    /// Returns what happened since the last call, in order.
    ///
    /// Take them each tick. So many are kept that all clients could come, go and come again between
    /// two ticks; beyond that the oldest go, and are counted
    /// ([`lost_events`](ServerTotals::lost_events)).
    pub fn events(&mut self) -> std::vec::IntoIter<ServerEvent> {
        Vec::from(core::mem::take(&mut self.events)).into_iter()
    }

    /// Returns the clients whose links are over since the last call, and why: they are to be
    /// closed with [`Disconnect::code`], before a newer link has the same number. For the transport;
    /// games read [`events`](Self::events).
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::{Disconnect, Identity, Protocol, Server, ServerSettings};
    ///
    /// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
    /// let id = server.connect(Identity::Anonymous, Duration::ZERO).unwrap();
    /// server.disconnect(id, Duration::ZERO);
    /// let ended: Vec<_> = server.take_ended().collect();
    /// assert_eq!(ended, [(id, Disconnect::LinkLost)]);
    /// ```
    pub fn take_ended(&mut self) -> std::vec::IntoIter<(ClientId, Disconnect)> {
        Vec::from(core::mem::take(&mut self.ended)).into_iter()
    }

    /// Returns what was counted since the start, for all clients together.
    ///
    /// Costs a little for each client that is held.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::{Identity, Protocol, Server, ServerSettings};
    ///
    /// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
    /// let id = server.connect(Identity::Anonymous, Duration::ZERO).unwrap();
    /// server.disconnect(id, Duration::ZERO);
    /// assert_eq!(server.totals().links_lost, 1);
    /// ```
    #[must_use]
    pub fn totals(&self) -> ServerTotals {
        let mut totals = self.totals;
        for peer in self.clients.values() {
            totals.add(&peer.stats);
        }
        totals.unsendable = self.replicator.unsendable();
        totals.suppressed_lines = self.log.suppressed();
        totals
    }

    /// Forgets a client and everything kept for it.
    pub(super) fn remove(&mut self, client: ClientId, reason: Disconnect) {
        let Some(peer) = self.clients.remove(&client) else {
            return;
        };
        self.forget(client);
        self.totals.add(&peer.stats);
        self.totals.note_end(&reason);
        self.end_link(client, reason.clone());
        self.push_event(ServerEvent::Disconnected { client, reason });
    }

    /// Lets go of the link of a client that may come back: it is waited for, as after any loss of a
    /// link, because it may have been cut without a word.
    pub(super) fn lose_link(&mut self, client: ClientId, reason: Disconnect) {
        let until = self.now.saturating_add(self.settings.limits.resume_window);
        let Some(peer) = self.clients.get_mut(&client) else {
            return;
        };
        let was_live = matches!(peer.link, Link::Live);
        peer.link = Link::Detached { until };
        self.totals.note_end(&reason);
        self.end_link(client, reason);
        // The loss of the link before one that said no hello was told already.
        if was_live {
            self.push_event(ServerEvent::LinkLost { client });
        }
    }

    /// Ends the session that has waited longest for its client to come back; returns whether one did.
    /// Otherwise a few who come and go under many names would lock everyone else out.
    pub(super) fn make_room(&mut self) -> bool {
        let waiting = self
            .clients
            .iter()
            .filter_map(|(&client, peer)| match peer.link {
                Link::Detached { until } => Some((until, client)),
                _ => None,
            });
        let longest = waiting.min().map(|(_, client)| client);
        longest
            .inspect(|&client| self.remove(client, Disconnect::GaveWay))
            .is_some()
    }

    /// Tells the log and the transport that a link ends.
    fn end_link(&mut self, client: ClientId, reason: Disconnect) {
        // Each kind of reason has its own lines, so that many who leave do not hide one who floods.
        if let Some(suppressed) = self.log.admit(reason.kind(), self.now) {
            tracing::debug!(%client, %reason, suppressed, "client gone");
        }
        let max = self.most_events();
        if push(&mut self.ended, (client, reason), max) {
            bump(&mut self.totals.lost_ends);
        }
    }

    pub(super) fn push_event(&mut self, event: ServerEvent) {
        let max = self.most_events();
        if push(&mut self.events, event, max) {
            bump(&mut self.totals.lost_events);
            capped!(
                self.log,
                self.now,
                warn,
                {},
                "events are lost: nobody takes them"
            );
        }
    }

    fn most_events(&self) -> usize {
        let clients = self.settings.limits.clients;
        clients.saturating_mul(EVENTS_PER_CLIENT).max(LEAST_EVENTS)
    }
}

/// Adds to a queue of at most `max`; returns whether its oldest had to go.
fn push<T>(queue: &mut VecDeque<T>, item: T, max: usize) -> bool {
    let full = queue.len() >= max;
    if full {
        queue.pop_front();
    }
    queue.push_back(item);
    full
}
