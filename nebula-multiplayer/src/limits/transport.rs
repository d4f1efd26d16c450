//! What strangers can make the transport hold, before and after they are let in.

use serde::Serialize;

use super::{LimitError, check};
use crate::fields::from_fields;

/// Every cap of a real network link. Each field says why it has its value.
///
/// In a settings file any field may be left out; an unknown one is an error that names it. Times
/// are in milliseconds.
///
/// ```
/// use nebula_multiplayer::limits::TransportLimits;
///
/// let limits: TransportLimits = serde_json::from_str(r#"{ "connections": 64 }"#).unwrap();
/// assert_eq!((limits.connections, limits.per_address), (64, 8));
/// assert!(limits.validate().is_ok());
///
/// let error = TransportLimits { idle_ms: 10, ..limits }.validate().unwrap_err();
/// assert_eq!(error.to_string(), "limit idle_ms is 10; give at least 1000 and at most 600000");
/// let seldom = TransportLimits { keep_alive_ms: 12_000, ..TransportLimits::default() };
/// let error = seldom.validate().unwrap_err();
/// assert_eq!(error.to_string(), "limit keep_alive_ms is 12000; give at least 100 and at most 11999");
/// let error = serde_json::from_str::<TransportLimits>(r#"{ "conections": 64 }"#).unwrap_err();
/// assert!(error.to_string().contains("unknown field `conections`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransportLimits {
    /// Connections at once, those still shaking hands included: 4,096. Each may cost what the
    /// windows below add up to, so this times that bounds the memory of the process.
    pub connections: u32,
    /// Connections at once from one address, or from one /64 network of IPv6: 8. A household
    /// shares an address; a botnet has many, and then the total counts.
    pub per_address: u32,
    /// New connections a second from one address: 4, and four times as many at once. Each costs a
    /// signature, which is the dearest thing that a stranger can ask for. Handshakes from an address
    /// that is not proven have as many, two at once; past that, it must be proven first.
    pub connects_per_second: u32,
    /// Addresses remembered for the two limits above: 65,536, some 5 MB. Where all places are
    /// taken, only addresses that are known get in.
    pub addresses: u32,
    /// Handshakes at once, in percent of `connections`, above which newcomers must first show that
    /// their address is their own: 12. A forged address then costs a hash and no memory. As many may
    /// begin at once from addresses that are not proven, and a quarter of them a second.
    pub retry_percent: u32,
    /// From the first packet to a finished login: 5,000 ms. Two round trips on a bad link take two
    /// seconds; whoever sends a byte a second is gone after this.
    pub handshake_ms: u32,
    /// First packets that wait to be looked at: 1,024. They are looked at within microseconds.
    pub incoming: u32,
    /// Bytes kept for those: 8 MiB in all.
    pub incoming_bytes: u32,

    /// Bytes on all streams that a peer may send ahead of our reading: 256 KiB. quinn's own
    /// default would be without a bound.
    pub receive_window: u32,
    /// The same for one stream: 64 KiB, sixteen frames of a client.
    pub stream_window: u32,
    /// Bytes of streams that are kept until the peer acknowledges them: 256 KiB.
    pub send_window: u32,
    /// Streams that a peer may have open: 1, the one we read. Streams in one direction: none.
    pub streams: u32,
    /// Bytes of datagrams that wait to be read, and to be sent: 64 KiB each. Older ones go first;
    /// packets are built only while there is room, so that none of ours does.
    pub datagram_buffer: u32,
    /// Bytes of datagrams in that buffer beyond which no more are built for a peer: 16 KiB. What
    /// waits grows old; what is not built yet is sent as it is then.
    pub datagram_ahead: u32,
    /// Bytes of the TLS handshake that may arrive out of order: 16 KiB.
    pub crypto_buffer: u32,
    /// Without a packet from the peer: 12,000 ms, a little longer than the session's own limit, so
    /// that the better reason is given.
    pub idle_ms: u32,
    /// Between two packets of a client that has nothing to say: 4,000 ms, a third of the above, and
    /// always less than it.
    pub keep_alive_ms: u32,

    /// Things from one peer that wait for the next tick: 256. More datagrams are dropped; the
    /// stream waits, and then the peer does.
    pub inbound_queue: u32,
    /// Pieces of the stream, of at most 1,150 bytes, that wait for the network: 64.
    pub outbound_queue: u32,
    /// Datagrams a second from one peer that reach the queue: 240, twice what its session takes.
    pub datagrams_per_second: u32,
    /// Bytes a second from one peer that reach the queue: 128 KiB, twice what its session takes.
    pub bytes_in_per_second: u32,
    /// How many times over those rates ends the connection: 10.
    pub flood_factor: u32,

    /// How long the network may take no datagram for a peer before its link is dropped: 5,000 ms.
    /// Until then nothing is queued for it, only marked.
    pub stall_drop_ms: u32,
    /// From the end of a server to the end of its sockets, for the reasons to be read: 500 ms.
    pub close_ms: u32,

    /// Lines a second that are logged of each kind of thing a stranger can cause, and twice as many
    /// at once: 10. The rest is counted, so that a flood of packets is none of lines.
    pub log_lines_per_second: u32,
}

from_fields!(TransportLimits {
    connections,
    per_address,
    connects_per_second,
    addresses,
    retry_percent,
    handshake_ms,
    incoming,
    incoming_bytes,
    receive_window,
    stream_window,
    send_window,
    streams,
    datagram_buffer,
    datagram_ahead,
    crypto_buffer,
    idle_ms,
    keep_alive_ms,
    inbound_queue,
    outbound_queue,
    datagrams_per_second,
    bytes_in_per_second,
    flood_factor,
    stall_drop_ms,
    close_ms,
    log_lines_per_second,
});

impl Default for TransportLimits {
    fn default() -> Self {
        Self {
            connections: 4_096,
            per_address: 8,
            connects_per_second: 4,
            addresses: 65_536,
            retry_percent: 12,
            handshake_ms: 5_000,
            incoming: 1_024,
            incoming_bytes: 8 << 20,
            receive_window: 256 << 10,
            stream_window: 64 << 10,
            send_window: 256 << 10,
            streams: 1,
            datagram_buffer: 64 << 10,
            datagram_ahead: 16 << 10,
            crypto_buffer: 16 << 10,
            idle_ms: 12_000,
            keep_alive_ms: 4_000,
            inbound_queue: 256,
            outbound_queue: 64,
            datagrams_per_second: 240,
            bytes_in_per_second: 128 << 10,
            flood_factor: 10,
            stall_drop_ms: 5_000,
            close_ms: 500,
            log_lines_per_second: 10,
        }
    }
}

impl TransportLimits {
    /// Checks every limit against the range in which it makes sense.
    ///
    /// # Errors
    /// [`LimitError`] naming the first bad one, its value and the range.
    pub fn validate(&self) -> Result<(), LimitError> {
        let ranges = [
            ("connections", self.connections, 1, 1_000_000),
            ("per_address", self.per_address, 1, 1_000_000),
            (
                "connects_per_second",
                self.connects_per_second,
                1,
                1_000_000,
            ),
            ("addresses", self.addresses, 16, 1 << 24),
            ("retry_percent", self.retry_percent, 0, 100),
            ("handshake_ms", self.handshake_ms, 100, 60_000),
            ("incoming", self.incoming, 1, 1 << 16),
            ("incoming_bytes", self.incoming_bytes, 64 << 10, 1 << 30),
            ("receive_window", self.receive_window, 16 << 10, 64 << 20),
            ("stream_window", self.stream_window, 8 << 10, 64 << 20),
            ("send_window", self.send_window, 8 << 10, 64 << 20),
            ("streams", self.streams, 1, 8),
            ("datagram_buffer", self.datagram_buffer, 4 << 10, 16 << 20),
            ("datagram_ahead", self.datagram_ahead, 2 << 10, 16 << 20),
            ("crypto_buffer", self.crypto_buffer, 4 << 10, 1 << 20),
            ("idle_ms", self.idle_ms, 1_000, 600_000),
            ("inbound_queue", self.inbound_queue, 8, 1 << 16),
            ("outbound_queue", self.outbound_queue, 4, 1 << 16),
            (
                "datagrams_per_second",
                self.datagrams_per_second,
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
            ("stall_drop_ms", self.stall_drop_ms, 200, 600_000),
            ("close_ms", self.close_ms, 0, 60_000),
            ("log_lines_per_second", self.log_lines_per_second, 1, 10_000),
        ];
        for (name, value, min, max) in ranges {
            check(name, value.into(), min, max)?;
        }
        // A link whose client speaks more seldom than that would end while it is healthy.
        let most = self.idle_ms.saturating_sub(1);
        check("keep_alive_ms", self.keep_alive_ms.into(), 100, most.into())
    }
}
