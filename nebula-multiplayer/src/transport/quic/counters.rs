//! Counters of the transport: every limit that was hit.

use core::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What the transport counted since its start. Each limit that is hit has a field.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub struct TransportStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The same, counted from several threads.
        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $(pub(super) $name: Counter,)*
        }

        impl Counters {
            pub(super) fn read(&self) -> TransportStats {
                TransportStats { $($name: self.$name.get(),)* }
            }
        }
    };
}

counters! {
    /// Connections that finished their login.
    accepted,
    /// First packets refused because the server was full.
    refused_full,
    /// First packets refused because of their address: too many, or too fast.
    refused_address,
    /// First packets whose sender had to prove its address.
    retried,
    /// Handshakes that failed: TLS, another protocol, or the peer went away.
    failed_handshakes,
    /// Handshakes that took too long.
    slow_handshakes,
    /// Logins that said no.
    refused_logins,
    /// Datagrams over a peer's rate, dropped.
    datagrams_over_rate,
    /// Datagrams dropped because the peer's queue was full.
    datagrams_over_queue,
    /// Connections ended because far too much was sent.
    floods,
    /// Connections ended because their peer took nothing.
    slow_readers,
    /// Links replaced by a newer one of the same account.
    replaced,
    /// Tasks that panicked; each ended its own connection.
    panics,
    /// Datagrams from peers that reached the game.
    datagrams_in,
    /// Datagrams sent.
    datagrams_out,
}

/// A number that several threads add to.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
