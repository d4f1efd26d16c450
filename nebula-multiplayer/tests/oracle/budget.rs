//! A client's byte budget, counted apart from the server.

use core::time::Duration;

use nebula_multiplayer::limits::Limits;

/// What was sent, draining at the allowed rate. It may never hold more than the burst.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    rate: u128,
    burst: u128,
    overhead: u128,
    packet: usize,
    /// Billionths of bytes.
    level: u128,
    at: Duration,
}

impl Meter {
    pub(crate) fn new(limits: &Limits, now: Duration) -> Self {
        Self {
            rate: limits.bytes_out_per_second.into(),
            burst: u128::from(limits.burst_bytes) * 1_000_000_000,
            overhead: limits.datagram_overhead.into(),
            packet: limits.datagram_bytes,
            level: 0,
            at: now,
        }
    }

    /// Notes what is sent, or says by how much it is too much.
    pub(crate) fn send(&mut self, len: usize, now: Duration) -> Result<(), String> {
        let drained = (now - self.at).as_nanos() * self.rate;
        self.at = now;
        self.level = self.level.saturating_sub(drained);
        let packets = len.div_ceil(self.packet).max(1);
        let bytes = len as u128 + packets as u128 * self.overhead;
        self.level += bytes * 1_000_000_000;
        if self.level <= self.burst {
            return Ok(());
        }
        let over = (self.level - self.burst) / 1_000_000_000;
        Err(format!(
            "the byte budget is exceeded by {over} bytes, with {len} sent at {now:?}"
        ))
    }
}

#[test]
fn a_meter_allows_the_burst_and_then_the_rate() {
    let limits = Limits {
        bytes_out_per_second: 1_000,
        burst_bytes: 500,
        datagram_overhead: 10,
        datagram_bytes: 100,
        ..Limits::default()
    };
    let ms = Duration::from_millis;
    let mut meter = Meter::new(&limits, ms(5));
    assert!(meter.send(90, ms(5)).is_ok());
    assert!(meter.send(380, ms(5)).is_err(), "four packets of overhead");
    let mut meter = Meter::new(&limits, ms(5));
    assert!(meter.send(360, ms(5)).is_ok());
    assert!(meter.send(90, ms(5)).is_ok());
    assert!(meter.send(90, ms(104)).is_err());
}
