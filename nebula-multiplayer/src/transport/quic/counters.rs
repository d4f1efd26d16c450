//! Counters of the transport: what its limits kept out, dropped and ended.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tokio::time::Instant;

use crate::limits::LogCap;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What the transport counted since its start: whom it did not let in, what it dropped, and
        /// which connections it ended. Limits that make a peer or the game wait, those inside of quinn, and
        /// datagrams that come before a login, have no field.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub struct TransportStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The same, counted from several threads, and how much of it may be logged.
        #[derive(Debug)]
        pub(super) struct Counters {
            $(pub(super) $name: Counter,)*
            log: Mutex<LogCap>,
            started: Instant,
        }

        impl Counters {
            /// Returns counters of nothing, and lets so many lines of each kind be logged a second.
            pub(super) fn new(lines_per_second: u32, started: Instant) -> Self {
                Self {
                    $($name: Counter::default(),)*
                    log: Mutex::new(LogCap::new(lines_per_second)),
                    started,
                }
            }

            pub(super) fn read(&self) -> TransportStats {
                TransportStats { $($name: self.$name.get(),)* }
            }
        }
    };
}

counters! {
    /// Connections that finished their login.
    accepted,
    /// Newcomers refused because the server was full: at their first packet for want of a
    /// [connection](crate::limits::TransportLimits::connections), and after their login for want of a
    /// [session](crate::limits::Limits::clients).
    refused_full,
    /// Newcomers refused because of their address: too many, or too fast. At their first packet, or
    /// once the handshake has proven it.
    refused_address,
    /// First packets whose sender had to prove its address.
    retried,
    /// Handshakes that failed: TLS, another protocol, or the peer went away.
    failed_handshakes,
    /// Handshakes that took too long, the login and the wait for the game's next tick included.
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
    /// Lines that were not logged because there were too many of their kind.
    suppressed_lines,
}

impl Counters {
    /// Returns how many lines of this kind were left out since the last one, if one may be logged now.
    pub(super) fn admit(&self, kind: &'static str) -> Option<u64> {
        // A panic elsewhere leaves nothing worse behind than a line too many.
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let admitted = log.admit(kind, self.started.elapsed());
        if admitted.is_none() {
            self.suppressed_lines.add();
        }
        admitted
    }
}

/// Counts something that a stranger can cause, and logs it while there are not too many such lines.
macro_rules! note {
    ($counters:expr, $counter:ident, $level:ident, { $($fields:tt)* }, $text:literal) => {{
        $counters.$counter.add();
        if let Some(suppressed) = $counters.admit($text) {
            tracing::$level!(suppressed, $($fields)* $text);
        }
    }};
}
pub(super) use note;

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
