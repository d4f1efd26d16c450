//! Where the server's simulation is, as well as a client can know.

use core::time::Duration;
use std::collections::VecDeque;

use crate::Tick;

/// A moment between two ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickTime {
    /// The tick that began last.
    pub tick: Tick,
    /// How far into it, from 0 up to 1.
    pub fraction: f32,
}

/// Samples that are remembered. The one that took the shortest way among them is believed.
const SAMPLES: usize = 64;

/// Follows the server's ticks.
///
/// Each datagram says at which tick it was made. Those that travelled fastest show the offset
/// between the two clocks best, so the latest-looking of the last 64 counts; half the least round
/// trip is added for its way. The estimate never goes back, unless the clock is started anew.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::{Tick, client::Clock};
///
/// let mut clock = Clock::default();
/// clock.start(Tick::new(100), 20, Duration::from_secs(1));
/// let time = clock.estimate(Duration::from_millis(1_125), Some(Duration::from_millis(50))).unwrap();
/// assert_eq!(time.tick, Tick::new(103));
/// assert_eq!(time.fraction, 0.0);
/// ```
#[derive(Debug, Default)]
pub struct Clock {
    /// Microseconds of one tick; 0 before the start.
    tick_micros: u64,
    /// The tick that the others are counted from.
    origin: Tick,
    latest: Option<Tick>,
    /// Server time minus our time at arrival, in microseconds.
    offsets: VecDeque<i64>,
    last: u64,
}

impl Clock {
    /// Begins at a welcome that says `tick`, at `rate` ticks a second.
    pub fn start(&mut self, tick: Tick, rate: u16, now: Duration) {
        let tick_micros = 1_000_000_u64.checked_div(rate.into()).unwrap_or(0);
        *self = Self {
            tick_micros,
            origin: tick,
            ..Self::default()
        };
        self.sample(tick, now);
    }

    /// Begins anew at the welcome of a session that goes on over another link, whose way may be longer.
    /// What was estimated before is not taken back.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::{Tick, client::Clock};
    ///
    /// let mut clock = Clock::default();
    /// clock.start(Tick::new(100), 20, Duration::ZERO);
    /// let before = clock.estimate(Duration::from_secs(1), None);
    /// clock.resume(Tick::new(115), 20, Duration::from_secs(1));
    /// assert_eq!(clock.estimate(Duration::from_secs(1), None), before);
    /// ```
    pub fn resume(&mut self, tick: Tick, rate: u16, now: Duration) {
        let (tick_micros, origin, last) = (self.tick_micros, self.origin, self.last);
        self.start(tick, rate, now);
        if self.tick_micros == tick_micros {
            // The same moment, counted from the new origin; one before that is long past.
            let ticks = i64::from(tick.since(origin).cast_signed());
            let micros = i64::try_from(tick_micros).unwrap_or(i64::MAX);
            let passed = ticks.saturating_mul(micros);
            self.last = last.saturating_add_signed(passed.saturating_neg());
        }
    }

    /// Takes the tick of a datagram that arrived at `now`.
    pub fn sample(&mut self, tick: Tick, now: Duration) {
        if self.tick_micros == 0 {
            return;
        }
        if self.latest.is_none_or(|latest| tick.is_newer_than(latest)) {
            self.latest = Some(tick);
        }
        // Signed, for a datagram from before the welcome.
        let ticks = i64::from(tick.since(self.origin).cast_signed());
        let micros = i64::try_from(self.tick_micros).unwrap_or(i64::MAX);
        let arrived = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
        if self.offsets.len() >= SAMPLES {
            self.offsets.pop_front();
        }
        self.offsets
            .push_back(ticks.saturating_mul(micros).saturating_sub(arrived));
    }

    /// Returns the newest tick that was heard of.
    #[must_use]
    pub const fn latest(&self) -> Option<Tick> {
        self.latest
    }

    /// Returns where the server probably is at `now`, given the least round trip. Never goes
    /// back, unless the clock is started anew.
    pub fn estimate(&mut self, now: Duration, round_trip: Option<Duration>) -> Option<TickTime> {
        let offset = *self.offsets.iter().max()?;
        let way = i64::try_from(round_trip.unwrap_or_default().as_micros()).unwrap_or(i64::MAX) / 2;
        let here = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
        let there = here.saturating_add(offset).saturating_add(way);
        self.last = self.last.max(u64::try_from(there).unwrap_or(0));
        let ticks = self.last.checked_div(self.tick_micros)?;
        let rest = self.last.checked_rem(self.tick_micros)?;
        let low = u32::try_from(ticks & u64::from(u32::MAX)).unwrap_or(0);
        let tick = Tick::new(self.origin.get().wrapping_add(low));
        // Both are below a million, which a float holds exactly.
        let part = |micros: u64| {
            f32::from(u16::try_from(micros >> 16).unwrap_or(0)) * 65_536.0
                + f32::from(u16::try_from(micros & 0xFFFF).unwrap_or(0))
        };
        Some(TickTime {
            tick,
            fraction: part(rest) / part(self.tick_micros),
        })
    }
}
