//! Token buckets in whole numbers.

use core::time::Duration;

/// A bucket that fills at a steady rate up to a brim, and is drawn from.
///
/// Counts in millionths, so that no rounding is ever lost: the sum drawn over any time is at most
/// the brim plus rate times time, exactly.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::session::Bucket;
///
/// let mut bucket = Bucket::new(1_000, 300, Duration::ZERO);
/// assert!(bucket.take(300));
/// assert!(!bucket.take(1), "empty");
/// bucket.refill(Duration::from_millis(50));
/// assert_eq!(bucket.available(), 50);
/// bucket.refill(Duration::from_secs(3_600));
/// assert_eq!(bucket.available(), 300, "no more than the brim");
/// ```
#[derive(Clone, Debug)]
pub struct Bucket {
    rate: u64,
    brim: u64,
    /// Millionths.
    level: u64,
    at: Duration,
}

const MILLION: u64 = 1_000_000;

impl Bucket {
    /// Returns a full bucket that fills with `rate` units a second up to `brim`.
    #[must_use]
    pub fn new(rate: u32, brim: u32, now: Duration) -> Self {
        let brim = u64::from(brim).saturating_mul(MILLION);
        Self {
            rate: rate.into(),
            brim,
            level: brim,
            at: now,
        }
    }

    /// Changes how fast the bucket fills from `now` on. What is in it stays.
    ///
    /// ```
    /// # use core::time::Duration;
    /// # use nebula_multiplayer::session::Bucket;
    /// let mut bucket = Bucket::new(1_000, 300, Duration::ZERO);
    /// assert!(bucket.take(300));
    /// bucket.set_rate(2_000, Duration::from_millis(50));
    /// bucket.refill(Duration::from_millis(100));
    /// assert_eq!(bucket.available(), 50 + 100);
    /// ```
    pub fn set_rate(&mut self, rate: u32, now: Duration) {
        self.refill(now);
        self.rate = rate.into();
    }

    /// Adds what flowed in since the last call. Time that runs backwards adds nothing.
    pub fn refill(&mut self, now: Duration) {
        let micros = now.saturating_sub(self.at).as_micros();
        // The part below a microsecond is kept for the next call.
        let whole = u64::try_from(micros).unwrap_or(u64::MAX);
        self.at = self.at.saturating_add(Duration::from_micros(whole));
        self.level = self
            .level
            .saturating_add(self.rate.saturating_mul(whole))
            .min(self.brim);
    }

    /// Returns how many whole units can be drawn.
    #[must_use]
    pub const fn available(&self) -> u64 {
        self.level / MILLION
    }

    /// Draws `units` if they are there; otherwise draws nothing and returns `false`.
    pub fn take(&mut self, units: u64) -> bool {
        match self.level.checked_sub(units.saturating_mul(MILLION)) {
            Some(level) => {
                self.level = level;
                true
            }
            None => false,
        }
    }
}
