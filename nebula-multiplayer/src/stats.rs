//! Counters: what was sent to and heard from each client, and what had to wait.

use core::time::Duration;

use serde::Serialize;

use crate::protocol::Protocol;
use crate::server::Disconnect;
use crate::session::{Outcome, Session};

/// What was counted for one client. Byte counts of the wire include what the layers below add.
///
/// ```
/// use nebula_multiplayer::server::{Identity, Server, ServerSettings};
/// use nebula_multiplayer::Protocol;
///
/// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
/// let id = server.connect(Identity::Anonymous, core::time::Duration::ZERO).unwrap();
/// let stats = server.stats(id).unwrap();
/// assert_eq!((stats.datagrams_sent, stats.wire_bytes_sent), (0, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStats {
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Bytes of those datagrams.
    pub datagram_bytes_sent: u64,
    /// Bytes of the stream sent.
    pub stream_bytes_sent: u64,
    /// Bytes on the wire, both lanes, overhead included: what the budget counts.
    pub wire_bytes_sent: u64,
    /// Bytes of headers, acknowledgements and messages in datagrams; the rest is replicated state.
    pub head_bytes_sent: u64,
    /// Bytes of replicated state.
    pub state_bytes_sent: u64,
    /// The most wire bytes sent within one second of those that are over.
    pub peak_bytes_per_second: u64,
    /// Wire bytes of the last whole second.
    pub last_second_bytes: u64,
    /// Times a datagram had to wait because the budget was spent.
    pub starved: u64,
    /// Packets acknowledged.
    pub packets_acked: u64,
    /// Packets given up.
    pub packets_lost: u64,
    /// Packets whose fate was unknown when last looked at; never more than the history holds.
    pub packets_in_flight: usize,
    /// The smoothed round trip.
    pub round_trip: Option<Duration>,
    /// Things received on either lane: datagrams and pieces of the stream.
    pub received: u64,
    /// Bytes received on both lanes.
    pub bytes_received: u64,
    /// Datagrams over the client's rate, treated as lost.
    pub ignored_datagrams: u64,
    /// Messages over the client's rate, or that nobody took in time.
    pub dropped_messages: u64,
    /// Messages to the client that were not taken: too long, or its queue was full.
    pub refused_messages: u64,
    /// Times everything was sent anew, because the client asked or its view hash differed.
    pub resyncs: u64,
    /// Bytes of messages to the client, by kind, in the order of their names.
    pub messages_sent: Vec<KindBytes>,
    /// Bytes of messages from the client, by kind, in the order of their names.
    pub messages_received: Vec<KindBytes>,
    started: Duration,
    second: Duration,
    second_start_bytes: u64,
}

/// How many messages or records of one kind, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindBytes {
    /// How many.
    pub count: u64,
    /// Their bytes, without framing.
    pub bytes: u64,
}

impl KindBytes {
    pub(crate) fn add(&mut self, bytes: usize) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(wide(bytes));
    }
}

/// What a server counted since its start, for all its clients together and those that are gone. Each
/// end of a session has a field, and so has what was ignored, dropped or put off because of a limit.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::{Identity, Protocol, Server, ServerSettings};
///
/// let mut server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
/// let id = server.connect(Identity::Anonymous, Duration::ZERO).unwrap();
/// assert!(server.receive_stream(id, &[0; 8], Duration::ZERO).is_err());
/// assert_eq!(server.totals().bad_messages, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerTotals {
    /// Sessions that began.
    pub joined: u64,
    /// Sessions that went on over a new link.
    pub resumed: u64,
    /// Links not taken because the server was full.
    pub refused_full: u64,
    /// Links not taken because their account's number is out of range.
    pub refused_accounts: u64,

    /// Clients that left.
    pub left: u64,
    /// Clients ended because of something that is not allowed.
    pub bad_messages: u64,
    /// Clients that were not let in because they speak another protocol.
    pub mismatches: u64,
    /// Clients ended because they sent far too much.
    pub floods: u64,
    /// Clients of which no whole hello came in time. Those that have a session may still come back.
    pub hello_timeouts: u64,
    /// Clients of which nothing was heard. Those with an account may still come back.
    pub idle: u64,
    /// Clients that acknowledged nothing. Those with an account that had fallen silent may still come
    /// back.
    pub never_acks: u64,
    /// Clients that did not end a frame in time. Those with an account that had fallen silent may still
    /// come back.
    pub frame_timeouts: u64,
    /// Clients that were thrown out.
    pub kicked: u64,
    /// Clients whose link was lost, with nothing to come back to.
    pub links_lost: u64,
    /// Clients that did not come back in time.
    pub expired: u64,
    /// Clients that might have come back, and whose place in a full server another took.
    pub gave_way: u64,
    /// Clients ended because they did not read.
    pub stalled: u64,

    /// Datagrams over their client's rate, treated as lost.
    pub ignored_datagrams: u64,
    /// Messages over their client's rate, or that nobody took in time.
    pub dropped_messages: u64,
    /// Messages to clients that were not taken: too long, or the queue was full.
    pub refused_messages: u64,
    /// Times everything was sent anew to a client.
    pub resyncs: u64,
    /// Times a datagram had to wait because its client's budget was spent.
    pub starved: u64,
    /// Events that nobody took in time.
    pub lost_events: u64,
    /// Ends of clients that no transport took in time, as when there is none.
    pub lost_ends: u64,
    /// Changes of components that could not be sent, because they are too large or their codec failed.
    /// What clients had before stands.
    pub unsendable: u64,
    /// Lines that were not logged because there were too many of their kind.
    pub suppressed_lines: u64,
}

impl ServerTotals {
    /// Counts the end of a client.
    pub(crate) fn note_end(&mut self, reason: &Disconnect) {
        let count = match reason {
            Disconnect::Left => &mut self.left,
            Disconnect::Bad(_) => &mut self.bad_messages,
            // The second is what a client is told of the first.
            Disconnect::Protocol(_) | Disconnect::Refused(_) => &mut self.mismatches,
            Disconnect::Flood => &mut self.floods,
            Disconnect::HelloTimeout => &mut self.hello_timeouts,
            Disconnect::Idle => &mut self.idle,
            Disconnect::NeverAcks => &mut self.never_acks,
            Disconnect::FrameTimeout => &mut self.frame_timeouts,
            Disconnect::Kicked(_) => &mut self.kicked,
            Disconnect::LinkLost => &mut self.links_lost,
            Disconnect::Expired => &mut self.expired,
            Disconnect::GaveWay => &mut self.gave_way,
            Disconnect::Stalled => &mut self.stalled,
            // Nobody was there to be ended; a client's own word for its end.
            Disconnect::Unknown | Disconnect::Untaken => return,
        };
        bump(count);
    }

    /// Adds what was counted for one client.
    pub(crate) fn add(&mut self, client: &ClientStats) {
        for (total, count) in [
            (&mut self.ignored_datagrams, client.ignored_datagrams),
            (&mut self.dropped_messages, client.dropped_messages),
            (&mut self.refused_messages, client.refused_messages),
            (&mut self.resyncs, client.resyncs),
            (&mut self.starved, client.starved),
        ] {
            *total = total.saturating_add(count);
        }
    }
}

/// Counts one more.
pub(crate) const fn bump(count: &mut u64) {
    *count = count.saturating_add(1);
}

const SECOND: Duration = Duration::from_secs(1);

impl ClientStats {
    pub(crate) fn new(protocol: &Protocol, now: Duration) -> Self {
        let kinds = vec![KindBytes::default(); protocol.message_kinds()];
        Self {
            messages_sent: kinds.clone(),
            messages_received: kinds,
            started: now,
            second: now,
            ..Self::default()
        }
    }

    /// Returns the average of wire bytes a second from the connection to `now`; 0 at its first instant.
    #[must_use]
    pub fn average_bytes_per_second(&self, now: Duration) -> u64 {
        let micros = now.saturating_sub(self.started).as_micros();
        let scaled = u128::from(self.wire_bytes_sent).saturating_mul(1_000_000);
        scaled
            .checked_div(micros)
            .map_or(0, |rate| u64::try_from(rate).unwrap_or(u64::MAX))
    }

    pub(crate) fn note_sent(&mut self, len: usize, wire: u64, head: usize) {
        self.datagrams_sent = self.datagrams_sent.saturating_add(1);
        self.datagram_bytes_sent = self.datagram_bytes_sent.saturating_add(wide(len));
        self.wire_bytes_sent = self.wire_bytes_sent.saturating_add(wire);
        self.head_bytes_sent = self.head_bytes_sent.saturating_add(wide(head));
        self.state_bytes_sent = self
            .state_bytes_sent
            .saturating_add(wide(len.saturating_sub(head)));
    }

    pub(crate) fn note_stream_sent(&mut self, len: usize, wire: u64) {
        self.stream_bytes_sent = self.stream_bytes_sent.saturating_add(wide(len));
        self.wire_bytes_sent = self.wire_bytes_sent.saturating_add(wire);
    }

    pub(crate) fn note_starved(&mut self) {
        bump(&mut self.starved);
    }

    pub(crate) fn note_received(&mut self, len: usize) {
        self.received = self.received.saturating_add(1);
        self.bytes_received = self.bytes_received.saturating_add(wide(len));
    }

    pub(crate) fn note_message_in(&mut self, kind: usize, len: usize) {
        if let Some(entry) = self.messages_received.get_mut(kind) {
            entry.add(len);
        }
    }

    pub(crate) fn note_message_out(&mut self, kind: usize, len: usize) {
        if let Some(entry) = self.messages_sent.get_mut(kind) {
            entry.add(len);
        }
    }

    pub(crate) fn note_session(&mut self, session: &Session, outcome: &Outcome) {
        self.packets_acked = self.packets_acked.saturating_add(wide(outcome.acked.len()));
        self.packets_lost = self.packets_lost.saturating_add(wide(outcome.lost.len()));
        self.packets_in_flight = session.in_flight();
        self.round_trip = session.rtt();
    }

    /// Ends the running second if it is over.
    pub(crate) fn roll(&mut self, now: Duration) {
        if now.saturating_sub(self.second) < SECOND {
            return;
        }
        self.last_second_bytes = self.wire_bytes_sent.saturating_sub(self.second_start_bytes);
        self.peak_bytes_per_second = self.peak_bytes_per_second.max(self.last_second_bytes);
        self.second = now;
        self.second_start_bytes = self.wire_bytes_sent;
    }
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
