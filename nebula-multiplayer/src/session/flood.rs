//! How much a client may send: datagrams, messages and bytes a second.

use core::time::Duration;

use super::Bucket;
use crate::limits::Limits;

/// What to do with something that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Within the rate.
    Accept,
    /// Over the rate: as if it was lost on the way.
    Ignore,
    /// Far over the rate: the connection ends.
    Drop,
}

/// The rates of one client. Each has a bucket for what is accepted and one, `flood_factor` times
/// larger, for what is borne.
#[derive(Debug)]
pub(crate) struct Flood {
    datagrams: Pair,
    messages: Pair,
    bytes: Pair,
}

impl Flood {
    pub(crate) fn new(limits: &Limits, now: Duration) -> Self {
        let pair = |rate| Pair::new(rate, limits.flood_factor, now);
        Self {
            datagrams: pair(limits.datagrams_per_second),
            messages: pair(limits.messages_per_second),
            bytes: pair(limits.bytes_in_per_second),
        }
    }

    /// Judges a datagram of `len` bytes. An empty or tiny one still costs a datagram.
    pub(crate) fn datagram(&mut self, len: usize, now: Duration) -> Verdict {
        self.datagrams
            .judge(1, now)
            .worse(self.bytes.judge(count(len), now))
    }

    /// Judges `len` bytes of the stream. They cannot be ignored: what follows would be misread.
    pub(crate) fn stream(&mut self, len: usize, now: Duration) -> Verdict {
        self.bytes.judge(count(len), now)
    }

    /// Judges one message.
    pub(crate) fn message(&mut self, now: Duration) -> Verdict {
        self.messages.judge(1, now)
    }
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

impl Verdict {
    pub(crate) fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Drop, _) | (_, Self::Drop) => Self::Drop,
            (Self::Ignore, _) | (_, Self::Ignore) => Self::Ignore,
            _ => Self::Accept,
        }
    }
}

#[derive(Debug)]
struct Pair {
    accepted: Bucket,
    borne: Bucket,
}

impl Pair {
    fn new(rate: u32, factor: u32, now: Duration) -> Self {
        let burst = rate.saturating_mul(2);
        Self {
            accepted: Bucket::new(rate, burst, now),
            borne: Bucket::new(
                rate.saturating_mul(factor),
                burst.saturating_mul(factor),
                now,
            ),
        }
    }

    fn judge(&mut self, units: u64, now: Duration) -> Verdict {
        self.accepted.refill(now);
        self.borne.refill(now);
        if !self.borne.take(units) {
            Verdict::Drop
        } else if self.accepted.take(units) {
            Verdict::Accept
        } else {
            Verdict::Ignore
        }
    }
}
