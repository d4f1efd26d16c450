//! Keeping a tick rate.

use core::time::Duration;

/// Says when the next tick is due, and counts those that were late. Knows no clock.
///
/// Ticks are due at fixed times. One that is late by less than a period is made up for; whole periods
/// that were lost are left out rather than hurried after.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::transport::quic::Pace;
///
/// let ms = Duration::from_millis;
/// let mut pace = Pace::new(20, ms(0));
/// assert_eq!(pace.next(ms(10)), ms(40), "the next is due at 50 ms");
/// assert_eq!(pace.next(ms(120)), ms(0), "that of 100 ms is late");
/// assert_eq!(pace.next(ms(130)), ms(20), "and made up for: the next is due at 150 ms");
/// assert_eq!(pace.next(ms(470)), ms(0), "late for 200 ms; 250 to 450 ms are left out");
/// assert_eq!((pace.late(), pace.left_out()), (2, 5));
/// assert_eq!(pace.next(ms(480)), ms(20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    period: Duration,
    due: Duration,
    late: u64,
    left_out: u64,
}

impl Pace {
    /// Begins with a tick at `now`, and so many a second from then on.
    #[must_use]
    pub fn new(ticks_per_second: u16, now: Duration) -> Self {
        let rate = u32::from(ticks_per_second).max(1);
        let period = Duration::from_secs(1).checked_div(rate);
        Self {
            period: period.unwrap_or_default(),
            due: now,
            late: 0,
            left_out: 0,
        }
    }

    /// Ends a tick at `now`; returns how long to wait for the next.
    pub fn next(&mut self, now: Duration) -> Duration {
        self.due = self.due.saturating_add(self.period);
        if let Some(wait) = self.due.checked_sub(now) {
            return wait;
        }
        self.late = self.late.saturating_add(1);
        let lost = now.saturating_sub(self.due).as_nanos();
        let lost = lost.checked_div(self.period.as_nanos()).unwrap_or(0);
        let count = u64::try_from(lost).unwrap_or(u64::MAX);
        self.left_out = self.left_out.saturating_add(count);
        let lost = u32::try_from(lost).unwrap_or(u32::MAX);
        self.due = self.due.saturating_add(self.period.saturating_mul(lost));
        Duration::ZERO
    }

    /// Returns how many ticks were not over when the next one was due.
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Returns how many ticks were left out because the ones before took too long.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}
