//! Clients that do not read what they are sent.
//!
//! State is never queued: it is built when the link can take it. What can pile up is the stream, and
//! the link says so: it still holds bytes that were handed to it ([`Server::note_unsent`]). Whether the
//! client confirmed messages says nothing: it may lie, and an honest confirmation may be lost on a
//! link that carries everything else.

use core::time::Duration;
use std::collections::VecDeque;

use super::peer::{Link, Peer};
use super::{Disconnect, Server};
use crate::ClientId;
use crate::limits::{Limits, capped};
use crate::stats::bump;

/// Marks closer than this are one, so that their number is bounded by the time until the drop.
const MARK_EVERY: Duration = Duration::from_millis(100);

impl Server {
    /// Notes how many of the bytes that [`transmit_stream`](Self::transmit_stream) handed over for a
    /// client its link has not been able to write yet. Returns whether the client is known.
    ///
    /// Whoever owns the link calls this whenever the number changes, and at least once a tick while
    /// it is not 0; a link that writes at once never calls it. Nothing here waits for a socket:
    ///
    /// - At [`stream_queue_bytes`](Limits::stream_queue_bytes), `transmit_stream` gives no more.
    /// - With that many bytes unsent, or with the oldest of them older than
    ///   [`stall_resync`](Limits::stall_resync), the client gets no more state. What was due to it and
    ///   what was remembered of its packets is dropped, and it is sent everything anew once it reads
    ///   again.
    /// - Older than [`stall_drop`](Limits::stall_drop), the next [`tick`](Self::tick) ends the
    ///   client with [`Disconnect::Stalled`].
    ///
    /// Time counts only while the client is heard: a link that is cut is the affair of
    /// [`idle_timeout`](Limits::idle_timeout). Datagrams are not counted: ask
    /// [`transmit`](Self::transmit) for one only when the link can take it, and whatever waits until
    /// then stays a mark on an entity.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::server::{Identity, Server, ServerSettings};
    /// use nebula_multiplayer::Protocol;
    ///
    /// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
    /// let now = Duration::ZERO;
    /// let id = server.connect(Identity::Account(7), now).unwrap();
    /// // The link took 900 of 1,000 bytes.
    /// assert!(server.note_unsent(id, 100, now));
    /// assert!(!server.is_stalled(id), "not for long enough");
    /// ```
    pub fn note_unsent(&mut self, client: ClientId, bytes: usize, now: Duration) -> bool {
        self.advance(now);
        let Some(peer) = self.clients.get_mut(&client) else {
            return false;
        };
        peer.stall.unsent = bytes;
        true
    }

    /// Returns whether a client gets no state because it does not read what it is sent.
    #[must_use]
    pub fn is_stalled(&self, client: ClientId) -> bool {
        self.clients
            .get(&client)
            .is_some_and(|peer| peer.stall.collapsed)
    }

    /// Judges every live client: collapses those that stopped reading, and lets those go on that
    /// read again.
    pub(super) fn judge_stalls(&mut self) {
        let limits = &self.settings.limits;
        for (&client, peer) in &mut self.clients {
            if !matches!(peer.link, Link::Live) {
                peer.stall.last = self.now;
                continue;
            }
            let heard = peer.session.last_received();
            peer.stall.step(heard, self.now, limits);
            if peer.stall.is_empty() && !peer.stall.collapsed {
                continue;
            }
            let stalled = peer.stalled_for() >= limits.stall_resync
                || peer.stall.unsent >= limits.stream_queue_bytes;
            if stalled && !peer.stall.collapsed {
                bump(&mut peer.stats.resyncs);
                self.replicator.reset_client(client);
                let (log, now) = (&mut self.log, self.now);
                capped!(log, now, debug, { %client, }, "a client does not read; it gets no more state");
            }
            peer.stall.collapsed = stalled;
        }
    }
}

impl Peer {
    /// Returns how long the oldest byte has waited to be read.
    pub(super) fn stalled_for(&mut self) -> Duration {
        self.stall.age()
    }

    /// Returns [`Disconnect::Stalled`] if the client has not read for too long.
    pub(super) fn stalled(&self, limits: &Limits) -> Option<Disconnect> {
        (self.stall.oldest >= limits.stall_drop).then_some(Disconnect::Stalled)
    }
}

/// Returns whether nothing was heard for longer than a client that has a link is ever silent.
pub(super) fn is_silent(heard: Duration, now: Duration, limits: &Limits) -> bool {
    // It sends at least once in `keep_alive`, and one such datagram may be late.
    let quiet = limits.keep_alive.saturating_mul(3);
    now.saturating_sub(heard).saturating_mul(2) >= quiet
}

/// What was handed to a client's stream and is not known to have been read.
#[derive(Debug)]
pub(super) struct Stall {
    /// Whether it gets no state until it reads again.
    pub(super) collapsed: bool,
    /// Bytes that the link still holds.
    pub(super) unsent: usize,
    /// Bytes handed over on this link.
    handed: u64,
    bytes: Marks,
    /// The client's clock: it runs while the client is heard.
    awake: Duration,
    /// When that clock was last looked at.
    last: Duration,
    /// How long the oldest has waited, as last looked at.
    oldest: Duration,
}

impl Stall {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            collapsed: false,
            unsent: 0,
            handed: 0,
            bytes: Marks::default(),
            awake: Duration::ZERO,
            last: now,
            oldest: Duration::ZERO,
        }
    }

    /// Notes bytes that the link took.
    pub(super) fn hand_over(&mut self, len: usize) {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        self.handed = self.handed.saturating_add(len);
        self.bytes.push(self.handed, self.awake);
    }

    fn step(&mut self, heard: Duration, now: Duration, limits: &Limits) {
        let passed = now.saturating_sub(self.last);
        self.last = now;
        if !is_silent(heard, now, limits) {
            self.awake = self.awake.saturating_add(passed);
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes.0.is_empty() && self.unsent == 0
    }

    fn age(&mut self) -> Duration {
        let unsent = u64::try_from(self.unsent).unwrap_or(u64::MAX);
        self.bytes.done(self.handed.saturating_sub(unsent));
        let oldest = self.bytes.0.front().map(|&(_, at)| at);
        self.oldest = oldest.map_or(Duration::ZERO, |at| self.awake.saturating_sub(at));
        self.oldest
    }
}

/// When a growing count reached which number; the oldest first.
#[derive(Debug, Default)]
struct Marks(VecDeque<(u64, Duration)>);

impl Marks {
    fn push(&mut self, count: u64, at: Duration) {
        match self.0.back_mut() {
            Some((last, _)) if *last >= count => {}
            Some((last, since)) if at.saturating_sub(*since) < MARK_EVERY => *last = count,
            _ => self.0.push_back((count, at)),
        }
    }

    /// Forgets what is done.
    fn done(&mut self, count: u64) {
        while self.0.front().is_some_and(|&(mark, _)| mark <= count) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn the_oldest_byte_that_is_not_sent_counts() {
        let limits = Limits::default();
        let mut stall = Stall::new(ms(0));
        for tick in 1..=40 {
            let now = ms(50 * tick);
            stall.step(now, now, &limits);
            stall.hand_over(100);
            // The link is always 300 bytes behind: three ticks, however long that goes on.
            stall.unsent = 300;
            let most = ms(150) + MARK_EVERY;
            assert!(stall.age() <= most, "{:?}", stall.oldest);
        }
        assert!(stall.bytes.0.len() <= 3);
        // Now it takes one byte a second.
        for tick in 41..=141 {
            let now = ms(50 * tick);
            stall.step(now, now, &limits);
            stall.unsent = 300 - usize::try_from(tick - 40).unwrap() / 20;
        }
        assert!(stall.age() >= Duration::from_secs(5), "{:?}", stall.oldest);
    }

    #[test]
    fn time_stands_while_the_client_is_not_heard() {
        let limits = Limits::default();
        let mut stall = Stall::new(ms(0));
        stall.hand_over(100);
        stall.unsent = 100;
        for tick in 1..=200 {
            stall.step(ms(0), ms(50 * tick), &limits);
        }
        assert!(stall.age() <= ms(1_500), "{:?}", stall.oldest);
        stall.unsent = 0;
        assert_eq!(stall.age(), ms(0), "and everything was sent");
    }
}
