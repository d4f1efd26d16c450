//! Every cap in one place: what a peer can make us hold, read, send or wait for.
//!
//! A server or client takes [`Limits`] once, checks them, and never grows past them. Times are
//! virtual: the `now` that callers hand in.

mod log;
mod transport;

use core::time::Duration;

use serde::Serialize;
use thiserror::Error;

use crate::fields::{from_fields, millis};

pub use log::LogCap;
pub(crate) use log::capped;
pub use transport::TransportLimits;

/// Magic at the head of a hello: a peer that is not ours is recognised by its first bytes.
pub const MAGIC: [u8; 4] = *b"NEBU";

/// Version of the framing itself, apart from what a game registers.
pub const WIRE_VERSION: u16 = 1;

/// Bytes of a datagram, whatever the path would carry: QUIC's smallest path leaves 1,162.
pub const MAX_DATAGRAM: usize = 1_150;

/// Bytes that a datagram must be able to have: a header, and an entity whose one component is as large
/// as components may be. In less it could never be sent.
pub const MIN_DATAGRAM: usize = crate::replication::MAX_COMPONENT_BYTES + MAX_HEADER + 48;
/// Bytes in which a datagram's header always fits.
pub const MAX_HEADER: usize = 48;

/// Bytes of a protocol's, component's or message's name.
pub const MAX_NAME: usize = 64;

/// Components and messages that a protocol may register together.
pub const MAX_ENTRIES: usize = 512;

/// Bytes of a reason given to a kicked or refused client.
pub const MAX_REASON: usize = 256;

/// Every cap that a server or client keeps to.
///
/// Overrides are checked by [`Server::new`](crate::Server::new) and
/// [`Client::new`](crate::Client::new).
///
/// ```
/// use nebula_multiplayer::limits::Limits;
///
/// let limits = Limits { clients: 16, ..Limits::default() };
/// assert!(limits.validate().is_ok());
/// let error = Limits { clients: 0, ..limits }.validate().unwrap_err();
/// assert_eq!(error.to_string(), "limit clients is 0; give at least 1 and at most 1000000");
/// ```
///
/// In a settings file any field may be left out, and times are whole milliseconds. Errors name the
/// field.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::limits::Limits;
///
/// let limits: Limits = serde_json::from_str(r#"{ "clients": 64, "idle_timeout": 4000 }"#)?;
/// assert_eq!((limits.clients, limits.idle_timeout), (64, Duration::from_secs(4)));
/// let error = serde_json::from_str::<Limits>(r#"{ "clients": "many" }"#).unwrap_err();
/// assert!(error.to_string().starts_with("clients: invalid type: string \"many\""));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Clients at once, those whose session waits for a resume included. Such a one gives way to a
    /// newcomer that has an account.
    pub clients: usize,
    /// Bytes of a datagram, in either direction, from [`MIN_DATAGRAM`] to [`MAX_DATAGRAM`].
    pub datagram_bytes: usize,
    /// Bytes of a stream frame from a client.
    pub frame_in_bytes: usize,
    /// Bytes of a stream frame to a client.
    pub frame_out_bytes: usize,
    /// Bytes of a message that travels in a datagram (unordered, latest).
    pub message_bytes: usize,
    /// Unordered messages to one peer that are not acknowledged yet.
    pub unordered_in_flight: usize,
    /// Bytes of ordered messages to one peer that it has not confirmed yet.
    pub stream_queue_bytes: usize,
    /// Received messages that wait to be taken, per client. What comes while there are so many is
    /// dropped and counted. On a client it counts latest-wins messages alone; for the others see
    /// [`ClientSettings::inbox_bytes`](crate::ClientSettings::inbox_bytes).
    pub inbox_messages: usize,
    /// Packets remembered until they are acknowledged or given up.
    pub history_packets: usize,
    /// Entities replicated to one client.
    pub max_visible: usize,

    /// Datagrams accepted from one client a second.
    pub datagrams_per_second: u32,
    /// Messages accepted from one client a second, both lanes together. Those of which only the latest
    /// counts are apart: a datagram has at most one of each kind.
    pub messages_per_second: u32,
    /// Bytes accepted from one client a second, both lanes together.
    pub bytes_in_per_second: u32,
    /// How many times over those three rates a client may go before it is dropped. Up to there
    /// the surplus is ignored and counted.
    pub flood_factor: u32,

    /// Wire bytes sent to one client a second, both lanes and the overhead included.
    pub bytes_out_per_second: u32,
    /// Wire bytes that may be sent to one client at once after a quiet time.
    pub burst_bytes: u32,
    /// Bytes that the layers below add to a datagram: IP, UDP and QUIC with its seal.
    pub datagram_overhead: u32,

    /// From connecting to a whole hello.
    #[serde(serialize_with = "millis")]
    pub hello_timeout: Duration,
    /// Without a byte from the peer, until its link is taken for lost.
    #[serde(serialize_with = "millis")]
    pub idle_timeout: Duration,
    /// With a packet waiting for an acknowledgement, and none coming.
    #[serde(serialize_with = "millis")]
    pub ack_timeout: Duration,
    /// Without a byte of its stream being read, until a client gets no more state and, once it reads
    /// again, everything anew.
    #[serde(serialize_with = "millis")]
    pub stall_resync: Duration,
    /// Without a byte of its stream being read, until a client is dropped.
    #[serde(serialize_with = "millis")]
    pub stall_drop: Duration,
    /// From the loss of a link to the end of its session.
    #[serde(serialize_with = "millis")]
    pub resume_window: Duration,
    /// From a kick to the end of the link, so that the reason can be read.
    #[serde(serialize_with = "millis")]
    pub farewell: Duration,
    /// Between two datagrams when there is nothing to say; less than `idle_timeout`.
    #[serde(serialize_with = "millis")]
    pub keep_alive: Duration,
    /// Between two view hashes. Those that come more than twice as often are not looked at.
    #[serde(serialize_with = "millis")]
    pub view_hash_every: Duration,

    /// Lines a second that are logged of each kind of thing a client can cause, and twice as many at
    /// once. The rest is counted ([`LogCap`]).
    pub log_lines_per_second: u32,
}

from_fields!(Limits {
    clients,
    datagram_bytes,
    frame_in_bytes,
    frame_out_bytes,
    message_bytes,
    unordered_in_flight,
    stream_queue_bytes,
    inbox_messages,
    history_packets,
    max_visible,
    datagrams_per_second,
    messages_per_second,
    bytes_in_per_second,
    flood_factor,
    bytes_out_per_second,
    burst_bytes,
    datagram_overhead,
    hello_timeout,
    idle_timeout,
    ack_timeout,
    stall_resync,
    stall_drop,
    resume_window,
    farewell,
    keep_alive,
    view_hash_every,
    log_lines_per_second,
});

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 4_096,
            datagram_bytes: MAX_DATAGRAM,
            frame_in_bytes: 4 * 1_024,
            frame_out_bytes: 64 * 1_024,
            message_bytes: 1_024,
            unordered_in_flight: 256,
            stream_queue_bytes: 256 * 1_024,
            inbox_messages: 256,
            history_packets: 256,
            max_visible: 4_096,
            datagrams_per_second: 120,
            messages_per_second: 120,
            bytes_in_per_second: 64 * 1_024,
            flood_factor: 10,
            bytes_out_per_second: 128 * 1_024,
            burst_bytes: 32 * 1_024,
            datagram_overhead: 64,
            hello_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(10),
            ack_timeout: Duration::from_secs(10),
            stall_resync: Duration::from_secs(2),
            stall_drop: Duration::from_secs(5),
            resume_window: Duration::from_secs(30),
            farewell: Duration::from_secs(1),
            keep_alive: Duration::from_secs(1),
            view_hash_every: Duration::from_secs(1),
            log_lines_per_second: 10,
        }
    }
}

impl Limits {
    /// Checks every limit against the range in which it makes sense.
    ///
    /// # Errors
    /// [`LimitError`] naming the first bad one, its value and the range.
    pub fn validate(&self) -> Result<(), LimitError> {
        let sizes = [
            ("clients", self.clients, 1, 1_000_000),
            (
                "datagram_bytes",
                self.datagram_bytes,
                MIN_DATAGRAM,
                MAX_DATAGRAM,
            ),
            ("frame_in_bytes", self.frame_in_bytes, 4_096, 1 << 20),
            ("frame_out_bytes", self.frame_out_bytes, 4_096, 1 << 20),
            (
                "message_bytes",
                self.message_bytes,
                1,
                self.datagram_bytes
                    .saturating_sub(MAX_HEADER)
                    .saturating_sub(16),
            ),
            ("unordered_in_flight", self.unordered_in_flight, 1, 1_024),
            (
                "stream_queue_bytes",
                self.stream_queue_bytes,
                1_024,
                64 << 20,
            ),
            ("inbox_messages", self.inbox_messages, 1, 1 << 20),
            ("history_packets", self.history_packets, 64, 4_096),
            // A client has 2^16 slots, which those that left hold for a while.
            ("max_visible", self.max_visible, 1, 1 << 15),
        ];
        for (name, value, min, max) in sizes {
            check(
                name,
                value.try_into().unwrap_or(u64::MAX),
                min.try_into().unwrap_or(u64::MAX),
                max.try_into().unwrap_or(u64::MAX),
            )?;
        }
        let rates = [
            (
                "datagrams_per_second",
                self.datagrams_per_second,
                1,
                1_000_000,
            ),
            (
                "messages_per_second",
                self.messages_per_second,
                1,
                1_000_000,
            ),
            (
                "bytes_in_per_second",
                self.bytes_in_per_second,
                1_024,
                1 << 30,
            ),
            ("flood_factor", self.flood_factor, 2, 1_000),
            (
                "bytes_out_per_second",
                self.bytes_out_per_second,
                1_024,
                1 << 30,
            ),
            ("datagram_overhead", self.datagram_overhead, 0, 1_024),
            ("log_lines_per_second", self.log_lines_per_second, 1, 10_000),
        ];
        for (name, value, min, max) in rates {
            check(name, value.into(), min, max)?;
        }
        // A bucket smaller than one datagram could never pay for it.
        let datagram = u64::try_from(self.datagram_bytes).unwrap_or(u64::MAX);
        let least = datagram.saturating_add(self.datagram_overhead.into());
        check("burst_bytes", self.burst_bytes.into(), least, 1 << 30)?;
        let times = [
            ("hello_timeout", self.hello_timeout, 100),
            ("idle_timeout", self.idle_timeout, 100),
            ("ack_timeout", self.ack_timeout, 100),
            ("stall_resync", self.stall_resync, 100),
            ("stall_drop", self.stall_drop, 100),
            ("resume_window", self.resume_window, 0),
            ("farewell", self.farewell, 0),
            ("view_hash_every", self.view_hash_every, 100),
        ];
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        for (name, value, min) in times {
            check(name, whole(value), min, 86_400_000)?;
        }
        // Whoever speaks more seldom than that is taken for dead.
        let most = whole(self.idle_timeout).saturating_sub(1);
        check("keep_alive", whole(self.keep_alive), 10, most)
    }
}

pub(crate) fn check(name: &'static str, value: u64, min: u64, max: u64) -> Result<(), LimitError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(LimitError {
            name,
            value,
            min,
            max,
        })
    }
}

/// A limit outside the range in which it makes sense. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("limit {name} is {value}; give at least {min} and at most {max}")]
pub struct LimitError {
    /// The field.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// The least that is allowed.
    pub min: u64,
    /// The most that is allowed.
    pub max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Limits::default().validate(), Ok(()));
    }

    #[test]
    fn every_size_and_rate_has_a_floor_and_a_ceiling() {
        let base = Limits::default();
        let bad = [
            Limits {
                datagram_bytes: MAX_DATAGRAM + 1,
                ..base.clone()
            },
            Limits {
                datagram_bytes: MIN_DATAGRAM - 1,
                ..base.clone()
            },
            Limits {
                datagram_bytes: MIN_DATAGRAM,
                message_bytes: MIN_DATAGRAM - MAX_HEADER,
                ..base.clone()
            },
            Limits {
                frame_in_bytes: 0,
                ..base.clone()
            },
            Limits {
                frame_out_bytes: usize::MAX,
                ..base.clone()
            },
            Limits {
                message_bytes: MAX_DATAGRAM,
                ..base.clone()
            },
            Limits {
                max_visible: 40_000,
                ..base.clone()
            },
            Limits {
                unordered_in_flight: 1_025,
                ..base.clone()
            },
            Limits {
                history_packets: 1,
                ..base.clone()
            },
            Limits {
                bytes_out_per_second: 0,
                ..base.clone()
            },
            Limits {
                burst_bytes: 1_000,
                ..base.clone()
            },
            Limits {
                flood_factor: 1,
                ..base.clone()
            },
            Limits {
                idle_timeout: Duration::MAX,
                ..base.clone()
            },
            Limits {
                keep_alive: base.idle_timeout,
                ..base.clone()
            },
            Limits {
                log_lines_per_second: 0,
                ..base.clone()
            },
            Limits {
                hello_timeout: Duration::ZERO,
                ..base
            },
        ];
        for limits in bad {
            assert!(limits.validate().is_err(), "{limits:?}");
        }
    }
}
