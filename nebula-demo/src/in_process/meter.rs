//! What one client is sent, second by second.

use std::collections::VecDeque;

use nebula_multiplayer::stats::ClientStats;

use crate::world::TICKS_PER_SECOND;

/// How many ticks a meter remembers: what the plots show.
const KEPT: usize = 200;

/// What one client was sent in one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Bytes of replicated state.
    pub state: u64,
    /// Bytes on the wire, everything counted.
    pub wire: u64,
    /// Entities that came into the set.
    pub entered: usize,
    /// Entities that left it.
    pub exited: usize,
}

/// What one client was sent, tick by tick.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    samples: VecDeque<Sample>,
    state: u64,
    wire: u64,
}

impl Meter {
    /// Takes the counters of a client after a tick, and how many entities came and went.
    pub(crate) fn note(&mut self, stats: &ClientStats, (entered, exited): (usize, usize)) {
        // A client that came back starts from 0 again.
        let sample = Sample {
            state: stats.state_bytes_sent.saturating_sub(self.state),
            wire: stats.wire_bytes_sent.saturating_sub(self.wire),
            entered,
            exited,
        };
        (self.state, self.wire) = (stats.state_bytes_sent, stats.wire_bytes_sent);
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// Returns the bytes of state of the last second.
    #[must_use]
    pub fn state_per_second(&self) -> u64 {
        self.last_second().map(|sample| sample.state).sum()
    }

    /// Returns the bytes on the wire of the last second.
    #[must_use]
    pub fn wire_per_second(&self) -> u64 {
        self.last_second().map(|sample| sample.wire).sum()
    }

    /// Returns the samples that are kept, the oldest first.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples.iter()
    }

    /// Returns the last sample.
    #[must_use]
    pub fn last(&self) -> Sample {
        self.samples.back().copied().unwrap_or_default()
    }

    fn last_second(&self) -> impl Iterator<Item = &Sample> {
        let ticks = usize::try_from(TICKS_PER_SECOND).expect("a few ticks a second");
        self.samples.iter().rev().take(ticks)
    }
}
