//! Bytes to clients.

use core::time::Duration;

use super::Server;
use super::peer::{Link, Peer};
use crate::limits::{Limits, MAX_HEADER};
use crate::session::{Header, Outcome};
use crate::{ClientId, Tick};

impl Server {
    /// Appends one datagram of at most `max` bytes for a client; returns whether there was one.
    ///
    /// It is built now, from what is dirty now, for what the client may see now, and within the
    /// client's budget. Call until `false`; what is left stays dirty for later.
    pub fn transmit(&mut self, client: ClientId, max: usize, out: &mut Vec<u8>) -> bool {
        let env = Env {
            limits: &self.settings.limits,
            tick: self.tick,
            now: self.now,
            max,
        };
        let Some(peer) = self.clients.get_mut(&client) else {
            return false;
        };
        let wants = !peer.stall.collapsed && self.replicator.wants_to_send(client);
        let (replicator, interest) = (&mut self.replicator, &self.interest);
        let written = datagram(
            peer,
            &env,
            wants,
            &mut self.outcome,
            out,
            |packet, room, out| replicator.write(interest, client, packet, room, out),
        );
        for &packet in &self.outcome.lost {
            self.replicator.lost(client, packet);
        }
        written
    }

    /// Builds every datagram that is due, for all clients, and hands them over in the order of the
    /// clients. With feature `rayon` they are built on several threads; the bytes are the same.
    pub fn transmit_all(&mut self, max: usize, mut each: impl FnMut(ClientId, &[u8])) {
        let env = Env {
            limits: &self.settings.limits,
            tick: self.tick,
            now: self.now,
            max,
        };
        let (shared, viewers) = self.replicator.split();
        let interest = &self.interest;
        // Both are in the order of their clients, and every viewer has a peer.
        let mut viewers = viewers.into_iter().peekable();
        let mut jobs = Vec::new();
        for (&client, peer) in &mut self.clients {
            while viewers.next_if(|viewer| viewer.client < client).is_some() {}
            if let Some(viewer) = viewers.next_if(|viewer| viewer.client == client) {
                jobs.push((client, peer, viewer, Batch::default()));
            }
        }
        for_each(&mut jobs, |(client, peer, viewer, batch)| {
            let mut outcome = Outcome::default();
            loop {
                let wants = !peer.stall.collapsed && viewer.wants_to_send();
                let bytes = &mut batch.bytes;
                let written = datagram(
                    peer,
                    &env,
                    wants,
                    &mut outcome,
                    bytes,
                    |packet, room, out| {
                        viewer.write(shared, interest.view(*client), packet, room, out)
                    },
                );
                for &packet in &outcome.lost {
                    viewer.lost(packet, env.tick);
                }
                if !written {
                    break;
                }
                batch.ends.push(batch.bytes.len());
            }
        });
        for (client, _, _, batch) in &jobs {
            batch.each(|bytes| each(*client, bytes));
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
        let limits = &self.settings.limits;
        // What the link cannot take stays here, where it is capped and can be counted.
        let max = max.min(limits.stream_queue_bytes.saturating_sub(peer.stall.unsent));
        peer.budget.refill(self.now);
        let overhead = usize::try_from(limits.datagram_overhead).unwrap_or(usize::MAX);
        let affordable = usize::try_from(peer.budget.available()).unwrap_or(usize::MAX);
        // One packet at a time, so that its overhead is known.
        let room = affordable
            .saturating_sub(overhead)
            .min(max)
            .min(limits.datagram_bytes);
        let (len, _) = peer.session.ordered.write(room, u64::MAX, out);
        if len == 0 {
            return false;
        }
        peer.stall.hand_over(len);
        let cost = wire_bytes(len, limits);
        peer.budget.take(cost);
        peer.stats.note_stream_sent(len, cost);
        true
    }
}

/// What all datagrams of one call share.
struct Env<'a> {
    limits: &'a Limits,
    tick: Tick,
    now: Duration,
    max: usize,
}

/// Datagrams of one client, one after the other.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    fn each(&self, mut f: impl FnMut(&[u8])) {
        let mut start = 0;
        for &end in &self.ends {
            f(self.bytes.get(start..end).unwrap_or_default());
            start = end;
        }
    }
}

#[cfg(feature = "rayon")]
fn for_each<T: Send>(jobs: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
    use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
    jobs.par_iter_mut().for_each(work);
}

#[cfg(not(feature = "rayon"))]
fn for_each<T>(jobs: &mut [T], work: impl Fn(&mut T)) {
    jobs.iter_mut().for_each(work);
}

/// Appends one datagram for a live client, if there is something to say and the budget allows.
/// Packets that the history had to give up are left in `outcome`.
fn datagram(
    peer: &mut Peer,
    env: &Env<'_>,
    wants: bool,
    outcome: &mut Outcome,
    out: &mut Vec<u8>,
    body: impl FnOnce(u64, usize, &mut Vec<u8>) -> bool,
) -> bool {
    outcome.clear();
    if !matches!(peer.link, Link::Live) || !(wants || peer.session.wants_to_send(env.now)) {
        return false;
    }
    let Some(room) = datagram_room(peer, env) else {
        return false;
    };
    let start = out.len();
    let header = Header {
        tick: Some(env.tick.get()),
        ..Header::default()
    };
    let draft = peer
        .session
        .begin(header, None, room, u64::MAX, env.now, out);
    let used = out.len().saturating_sub(start);
    let left = room.saturating_sub(used);
    // What the budget allows may be less than a message that waits. State takes whatever it is given, so
    // the message would wait for good: until it has room, the budget is saved for it.
    let saves = draft.is_cramped && room < env.max.min(env.limits.datagram_bytes);
    let body = !(saves || peer.stall.collapsed) && body(draft.packet, left, out);
    if !peer.session.end(draft, body, false, env.now, out) {
        return false;
    }
    peer.session.trim(outcome);
    if !outcome.lost.is_empty() {
        peer.stats.note_session(&peer.session, outcome);
    }
    let len = out.len().saturating_sub(start);
    let cost = wire_bytes(len, env.limits);
    peer.budget.take(cost);
    peer.stats.note_sent(len, cost, used);
    true
}

/// Returns how many bytes a datagram may have now, if that is enough for one.
fn datagram_room(peer: &mut Peer, env: &Env<'_>) -> Option<usize> {
    peer.budget.refill(env.now);
    let affordable = peer
        .budget
        .available()
        .saturating_sub(env.limits.datagram_overhead.into());
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
    let room = env.max.min(env.limits.datagram_bytes).min(affordable);
    if room < MAX_HEADER {
        peer.stats.note_starved();
        return None;
    }
    Some(room)
}

/// Returns what `len` bytes of one packet cost on the wire, with what the layers below add.
fn wire_bytes(len: usize, limits: &Limits) -> u64 {
    u64::try_from(len)
        .unwrap_or(u64::MAX)
        .saturating_add(limits.datagram_overhead.into())
}
