//! Round trips: smoothed, and the least of late.

use core::time::Duration;

/// The shortest time after which an unacknowledged packet is given up.
const LEAST_TIMEOUT: Duration = Duration::from_millis(200);
/// The longest, so that a peer who claims slowness is not waited for forever.
const MOST_TIMEOUT: Duration = Duration::from_secs(3);
/// Samples after which an old minimum is forgotten.
const MEMORY: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    smoothed: Option<Duration>,
    least: Duration,
    since_least: u32,
}

impl RoundTrip {
    pub(super) const fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    pub(super) fn least(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.least)
    }

    pub(super) fn sample(&mut self, sample: Duration) {
        let sample = sample.min(Duration::from_secs(10));
        let smoothed = self.smoothed.map_or(sample, |old| {
            // Seven eighths of the old, one of the new.
            old.saturating_mul(7)
                .saturating_add(sample)
                .checked_div(8)
                .unwrap_or(sample)
        });
        self.since_least = self.since_least.saturating_add(1);
        if self.smoothed.is_none() || sample <= self.least || self.since_least > MEMORY {
            self.least = sample;
            self.since_least = 0;
        }
        self.smoothed = Some(smoothed);
    }

    /// Returns after how long a packet is given up: twice the round trip, within bounds.
    pub(super) fn loss_timeout(&self) -> Duration {
        let twice = self.smoothed.unwrap_or_default().saturating_mul(2);
        twice.clamp(LEAST_TIMEOUT, MOST_TIMEOUT)
    }
}
