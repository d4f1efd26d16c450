//! Carrying bytes between a server and its clients: what a connection is, and links for tests.
//!
//! A connection has two [`Lane`]s in each direction. A [`Pipe`] is one direction of it; a [`Link`]
//! is both. [`memory`] is perfect and instant, for a server and a client in one process; [`sim`]
//! is as bad as it is told to be, by a seed and in virtual time.
//!
//! ```
//! use core::time::Duration;
//! use nebula_multiplayer::transport::{Lane, Link, Pipe, memory::MemoryPipe};
//!
//! let mut link = Link::<MemoryPipe>::default();
//! link.to_server.send(Lane::Datagram, b"hello", Duration::ZERO);
//! let (lane, bytes) = link.to_server.receive(Duration::ZERO).expect("a perfect link");
//! assert_eq!((lane, bytes.as_slice()), (Lane::Datagram, &b"hello"[..]));
//! assert!(link.to_client.receive(Duration::ZERO).is_none());
//! ```

use core::time::Duration;

pub mod memory;
#[cfg(feature = "quic")]
pub mod quic;
pub mod sim;

/// The largest datagram that a server or a client makes, in bytes.
///
/// QUIC carries 1,162 bytes at its initial packet size; a path may allow less, never more than this.
pub const MAX_DATAGRAM: usize = 1_150;

/// One of the two ways that bytes travel inside a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Packets of at most [`MAX_DATAGRAM`] bytes that may be lost, doubled or reordered.
    Datagram,
    /// A stream of bytes, complete and in order as long as the connection lives.
    Stream,
}

/// One direction of a connection, in virtual time.
///
/// Times never go back between calls. What arrives is handed over in the order of arrival, which for
/// [`Lane::Datagram`] need not be that of sending; bytes of [`Lane::Stream`] keep their order, but
/// may be cut into other pieces than they were sent in.
pub trait Pipe {
    /// Takes bytes that leave at `now`.
    fn send(&mut self, lane: Lane, bytes: &[u8], now: Duration);

    /// Returns the next bytes that have arrived by `now`.
    fn receive(&mut self, now: Duration) -> Option<(Lane, Vec<u8>)>;

    /// Forgets everything that is under way: the connection is gone, and what comes next belongs to
    /// a new one.
    fn cut(&mut self);
}

/// Both directions of one connection.
#[derive(Clone, Debug, Default)]
pub struct Link<P> {
    /// From the client to the server.
    pub to_server: P,
    /// From the server to the client.
    pub to_client: P,
}
