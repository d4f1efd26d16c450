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
    /// How far samples lie from the smoothed one, smoothed.
    spread: Duration,
    least: Duration,
    since_least: u32,
    /// Times that a whole timeout passed without a sample.
    patience: u32,
    /// When patience last grew.
    grew: Duration,
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
        // Parts of the old, one of the new.
        let blend = |old: Duration, parts: u32, new: Duration| {
            old.saturating_mul(parts)
                .saturating_add(new)
                .checked_div(parts.saturating_add(1))
                .unwrap_or(new)
        };
        self.spread = self
            .smoothed
            .map_or(sample.checked_div(2).unwrap_or(sample), |old| {
                blend(self.spread, 3, old.abs_diff(sample))
            });
        let smoothed = self.smoothed.map_or(sample, |old| blend(old, 7, sample));
        self.patience = 0;
        self.since_least = self.since_least.saturating_add(1);
        if self.smoothed.is_none() || sample <= self.least || self.since_least > MEMORY {
            self.least = sample;
            self.since_least = 0;
        }
        self.smoothed = Some(smoothed);
    }

    /// Returns after how long a packet is given up: twice the round trip, or more where round trips
    /// vary or none was completed of late, within bounds.
    pub(super) fn loss_timeout(&self) -> Duration {
        let smoothed = self.smoothed.unwrap_or_default();
        let varying = smoothed.saturating_add(self.spread.saturating_mul(4));
        let timeout = smoothed
            .saturating_mul(2)
            .max(varying)
            .clamp(LEAST_TIMEOUT, MOST_TIMEOUT);
        let doubled = 1_u32.checked_shl(self.patience).unwrap_or(u32::MAX);
        timeout.saturating_mul(doubled).min(MOST_TIMEOUT)
    }

    /// Notes that a packet was given up because its time was over. On a link that has become slower
    /// every packet would be, before its acknowledgement can arrive, and no sample would ever say so:
    /// so the timeout doubles, once per timeout, until there is a sample.
    pub(super) fn grow_patience(&mut self, now: Duration) {
        let timeout = self.loss_timeout();
        if timeout < MOST_TIMEOUT && now.saturating_sub(self.grew) >= timeout {
            self.patience = self.patience.saturating_add(1);
            self.grew = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn timeout_follows_the_round_trip_within_bounds() {
        let mut trip = RoundTrip::default();
        assert_eq!(trip.loss_timeout(), LEAST_TIMEOUT);
        for _ in 0..64 {
            trip.sample(ms(500));
        }
        assert_eq!(trip.loss_timeout(), ms(1_000));
        trip.sample(ms(60_000));
        assert_eq!(trip.loss_timeout(), MOST_TIMEOUT);
    }

    #[test]
    fn a_link_that_becomes_slow_is_waited_for() {
        let mut trip = RoundTrip::default();
        for _ in 0..64 {
            trip.sample(ms(40));
        }
        let mut now = ms(10_000);
        // Many packets expire at once: patience grows once for all of them.
        for _ in 0..10 {
            trip.grow_patience(now);
        }
        assert_eq!(trip.loss_timeout(), ms(400));
        while trip.loss_timeout() < ms(900) {
            now += ms(50);
            trip.grow_patience(now);
        }
        assert!(now < ms(12_000), "{now:?}");
        // The first acknowledgement that is waited for says how slow the link is.
        trip.sample(ms(900));
        assert!(trip.loss_timeout() >= ms(900), "{:?}", trip.loss_timeout());
    }
}
