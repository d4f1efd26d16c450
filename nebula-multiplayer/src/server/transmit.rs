//! Bytes to clients.

use super::Server;
use super::peer::{Link, Peer};
use crate::ClientId;
use crate::limits::{Limits, MAX_HEADER};
use crate::session::{Header, Outcome};

impl Server {
    /// Appends one datagram of at most `max` bytes for a client; returns whether there was one.
    ///
    /// It is built now, from what is dirty now, for what the client may see now, and within the
    /// client's budget. Call until `false`; what is left stays dirty for later.
    pub fn transmit(&mut self, client: ClientId, max: usize, out: &mut Vec<u8>) -> bool {
        let Some(peer) = self
            .clients
            .get_mut(&client)
            .filter(|peer| matches!(peer.link, Link::Live))
        else {
            return false;
        };
        let limits = &self.settings.limits;
        let Some(room) = datagram_room(peer, limits, max, self.now) else {
            return false;
        };
        if !(peer.session.wants_to_send(self.now) || self.replicator.wants_to_send(client)) {
            return false;
        }
        let start = out.len();
        let header = Header {
            tick: Some(self.tick.get()),
            ..Header::default()
        };
        let draft = peer.session.begin(header, room, self.now, out);
        let used = out.len().saturating_sub(start);
        let body = self
            .replicator
            .write(client, draft.packet, room.saturating_sub(used), out);
        if !peer.session.end(draft, body, false, self.now, out) {
            return false;
        }
        self.outcome.clear();
        peer.session.trim(&mut self.outcome);
        let len = out.len().saturating_sub(start);
        peer.budget.take(wire_bytes(len, limits));
        peer.stats.note_sent(len, wire_bytes(len, limits), used);
        settle_trimmed(&mut self.replicator, client, &self.outcome);
        true
    }

    /// Builds every datagram that is due, for all clients in order, and hands each over.
    pub fn transmit_all(&mut self, max: usize, mut each: impl FnMut(ClientId, &[u8])) {
        let clients: Vec<ClientId> = self.clients().collect();
        let mut bytes = Vec::new();
        for client in clients {
            while self.transmit(client, max, &mut bytes) {
                each(client, &bytes);
                bytes.clear();
            }
        }
    }

    /// Appends up to `max` bytes of a client's stream; returns whether there were any.
    ///
    /// Ordered messages, the handshake and the reason of a kick go this way, within the budget.
    pub fn transmit_stream(&mut self, client: ClientId, max: usize, out: &mut Vec<u8>) -> bool {
        let Some(peer) = self.clients.get_mut(&client) else {
            return false;
        };
        if matches!(peer.link, Link::Detached { .. }) || !peer.session.ordered.has_output() {
            return false;
        }
        peer.budget.refill(self.now);
        let room = stream_room(peer.budget.available(), &self.settings.limits).min(max);
        let len = peer.session.ordered.write(room, out);
        if len == 0 {
            return false;
        }
        let cost = wire_bytes(len, &self.settings.limits);
        peer.budget.take(cost);
        peer.stats.note_stream_sent(len, cost);
        true
    }
}

/// Returns how many bytes a datagram may have now, if that is enough for one.
fn datagram_room(
    peer: &mut Peer,
    limits: &Limits,
    max: usize,
    now: core::time::Duration,
) -> Option<usize> {
    peer.budget.refill(now);
    let affordable = peer
        .budget
        .available()
        .saturating_sub(limits.datagram_overhead.into());
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
    let room = max.min(limits.datagram_bytes).min(affordable);
    if room < MAX_HEADER {
        peer.stats.note_starved();
        return None;
    }
    Some(room)
}

/// Returns how many bytes of a stream can be paid, with the overhead of each packet they fill.
fn stream_room(available: u64, limits: &Limits) -> usize {
    let overhead = u64::from(limits.datagram_overhead);
    let packet = u64::try_from(limits.datagram_bytes).unwrap_or(u64::MAX);
    let full = packet.saturating_add(overhead).max(1);
    let whole = available.checked_div(full).unwrap_or(0);
    let rest = available.checked_rem(full).unwrap_or(0);
    let room = whole
        .saturating_mul(packet)
        .saturating_add(rest.saturating_sub(overhead));
    usize::try_from(room).unwrap_or(usize::MAX)
}

/// Returns what `len` bytes cost on the wire, with what the layers below add.
fn wire_bytes(len: usize, limits: &Limits) -> u64 {
    let packets = len.div_ceil(limits.datagram_bytes.max(1)).max(1);
    let overhead = u64::try_from(packets)
        .unwrap_or(u64::MAX)
        .saturating_mul(limits.datagram_overhead.into());
    u64::try_from(len)
        .unwrap_or(u64::MAX)
        .saturating_add(overhead)
}

fn settle_trimmed(replicator: &mut crate::seam::Replicator, client: ClientId, outcome: &Outcome) {
    if !outcome.lost.is_empty() {
        replicator.settle(client, outcome);
    }
}
