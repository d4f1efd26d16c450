//! A link as bad as it is told to be: loss, doubling, reordering, delay, corruption, pauses,
//! partitions and cuts, by a seed and in virtual time.
//!
//! Datagrams suffer every fault. The stream is what a reliable transport gives: complete, in order
//! and undamaged, but late, stalled while the link is parted, cut into pieces, and gone with the
//! connection. Each fault is counted as it happens ([`FaultCounts`]), so a run can show what it
//! went through.
//!
//! ```
//! use core::time::Duration;
//! use nebula_multiplayer::transport::{Lane, Pipe};
//! use nebula_multiplayer::transport::sim::{Faults, SimPipe};
//!
//! let faults = Faults { latency: Duration::from_millis(40), ..Faults::NONE };
//! let mut pipe = SimPipe::new(7, faults);
//! pipe.send(Lane::Datagram, b"state", Duration::ZERO);
//! assert_eq!(pipe.receive(Duration::from_millis(39)), None);
//! assert!(pipe.receive(Duration::from_millis(40)).is_some());
//! ```

mod counts;
mod random;

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use super::{Lane, Pipe};

pub use counts::FaultCounts;
pub use random::Random;

/// How often each fault strikes. Chances are in parts of 10,000, per datagram.
///
/// ```
/// use nebula_multiplayer::transport::sim::Faults;
///
/// let lossy = Faults { drop: 500, ..Faults::NONE }; // one datagram in twenty
/// assert_ne!(lossy, Faults::NONE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// The time that everything takes at least.
    pub latency: Duration,
    /// The further time, random for each datagram, that it takes at most.
    pub jitter: Duration,
    /// Chance that a datagram never arrives.
    pub drop: u16,
    /// Chance that a datagram arrives twice, the second time later.
    pub duplicate: u16,
    /// Chance that a datagram is held back for up to four times latency and jitter.
    pub reorder: u16,
    /// Chance that a datagram arrives damaged: bits flipped, the end missing, or bytes added.
    pub corrupt: u16,
    /// Whether the transport notices damage and drops the datagram, as QUIC does. Otherwise the
    /// receiver gets the damaged bytes, as from a hostile peer.
    pub sealed: bool,
    /// Chance that the link pauses for up to [`pause_max`](Self::pause_max): what was to arrive
    /// in that time arrives all at once when it ends.
    pub pause: u16,
    /// The longest random pause.
    pub pause_max: Duration,
    /// Bytes per second of both lanes together; more than that waits, and no longer than 2 seconds.
    pub bandwidth: Option<u32>,
}

impl Faults {
    /// A perfect link without delay.
    pub const NONE: Self = Self {
        latency: Duration::ZERO,
        jitter: Duration::ZERO,
        drop: 0,
        duplicate: 0,
        reorder: 0,
        corrupt: 0,
        sealed: true,
        pause: 0,
        pause_max: Duration::ZERO,
        bandwidth: None,
    };
}

impl Default for Faults {
    fn default() -> Self {
        Self::NONE
    }
}

/// A queue that holds more than this many seconds of bandwidth drops datagrams.
const QUEUE_MAX: Duration = Duration::from_secs(2);

/// One direction of a simulated link.
///
/// Equal seeds and equal calls give equal arrivals.
#[derive(Clone, Debug)]
pub struct SimPipe {
    random: Random,
    faults: Faults,
    counts: FaultCounts,
    /// Datagrams under way by time of arrival, then by a number that keeps their order.
    datagrams: BTreeMap<(Duration, u64), Vec<u8>>,
    /// The highest number of a datagram that arrived, to notice reordering.
    arrived: u64,
    sent: u64,
    stream: VecDeque<(Duration, Vec<u8>)>,
    /// Nothing arrives before this time.
    paused_until: Duration,
    /// Datagrams sent before this time are lost, and the stream stands still.
    parted_until: Duration,
    /// When the bandwidth has carried all that was sent.
    busy_until: Duration,
}

impl SimPipe {
    /// Returns an empty pipe with these faults.
    #[must_use]
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self {
            random: Random::new(seed),
            faults,
            counts: FaultCounts::default(),
            datagrams: BTreeMap::new(),
            arrived: 0,
            sent: 0,
            stream: VecDeque::new(),
            paused_until: Duration::ZERO,
            parted_until: Duration::ZERO,
            busy_until: Duration::ZERO,
        }
    }

    /// Returns the faults in force.
    #[must_use]
    pub const fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Changes the faults for everything sent from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Returns how often each fault struck so far.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::transport::{Lane, Pipe};
    /// use nebula_multiplayer::transport::sim::{Faults, SimPipe};
    ///
    /// let mut pipe = SimPipe::new(7, Faults { drop: 10_000, ..Faults::NONE });
    /// pipe.send(Lane::Datagram, b"lost", Duration::ZERO);
    /// assert_eq!(pipe.counts().drops, 1);
    /// ```
    #[must_use]
    pub const fn counts(&self) -> &FaultCounts {
        &self.counts
    }

    /// Holds everything back until `until`, then lets it arrive at once, as after a stopped process.
    pub fn pause(&mut self, until: Duration) {
        self.counts.pauses += 1;
        self.paused_until = self.paused_until.max(until);
    }

    /// Parts the two ends until `until`: datagrams are lost, and the stream waits.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::transport::{Lane, Pipe};
    /// use nebula_multiplayer::transport::sim::{Faults, SimPipe};
    ///
    /// let mut pipe = SimPipe::new(7, Faults::NONE);
    /// let (now, healed) = (Duration::ZERO, Duration::from_secs(1));
    /// pipe.partition(healed);
    /// pipe.send(Lane::Datagram, b"lost", now);
    /// pipe.send(Lane::Stream, b"late", now);
    /// assert_eq!(pipe.receive(now), None);
    /// let mut arrived = Vec::new();
    /// while let Some((lane, piece)) = pipe.receive(healed) {
    ///     assert_eq!(lane, Lane::Stream);
    ///     arrived.extend(piece);
    /// }
    /// assert_eq!(arrived, b"late");
    /// ```
    pub fn partition(&mut self, until: Duration) {
        self.counts.partitions += 1;
        self.parted_until = self.parted_until.max(until);
        for (arrival, _) in &mut self.stream {
            *arrival = (*arrival).max(until);
        }
    }

    /// Ends pauses and partitions and takes away every fault: from `now` on the link is perfect but
    /// for its latency.
    pub fn heal(&mut self, now: Duration) {
        self.faults = Faults {
            latency: self.faults.latency,
            ..Faults::NONE
        };
        self.paused_until = self.paused_until.min(now);
        self.parted_until = self.parted_until.min(now);
    }

    /// Returns how many datagrams and pieces of the stream are under way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.datagrams.len() + self.stream.len()
    }

    /// Returns when the next of what is under way arrives, as far as that is decided: who waits for
    /// it need not look before.
    ///
    /// ```
    /// use core::time::Duration;
    /// use nebula_multiplayer::transport::{Lane, Pipe};
    /// use nebula_multiplayer::transport::sim::{Faults, SimPipe};
    ///
    /// let latency = Duration::from_millis(40);
    /// let mut pipe = SimPipe::new(7, Faults { latency, ..Faults::NONE });
    /// assert_eq!(pipe.next_arrival(), None);
    /// pipe.send(Lane::Datagram, b"state", Duration::ZERO);
    /// assert_eq!(pipe.next_arrival(), Some(latency));
    /// pipe.pause(2 * latency);
    /// assert_eq!(pipe.next_arrival(), Some(2 * latency));
    /// ```
    #[must_use]
    pub fn next_arrival(&self) -> Option<Duration> {
        let stream = self.stream.front().map(|(arrival, _)| *arrival);
        let datagram = self.datagrams.first_key_value().map(|(key, _)| key.0);
        let first = [stream, datagram].into_iter().flatten().min()?;
        Some(first.max(self.paused_until))
    }

    /// Returns when bytes sent now leave the sender, given what is queued before them.
    fn departure(&mut self, len: usize, now: Duration) -> Duration {
        let Some(rate) = self.faults.bandwidth.filter(|rate| *rate > 0) else {
            return now;
        };
        let nanos = u64::try_from(len).unwrap_or(u64::MAX);
        let nanos = nanos.saturating_mul(1_000_000_000) / u64::from(rate);
        self.busy_until = self.busy_until.max(now) + Duration::from_nanos(nanos);
        self.busy_until
    }

    fn up_to(&mut self, longest: Duration) -> Duration {
        let nanos = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.random.below(nanos.saturating_add(1)))
    }

    fn send_datagram(&mut self, bytes: &[u8], now: Duration) {
        self.counts.datagrams += 1;
        if now < self.parted_until {
            self.counts.parted += 1;
            return;
        }
        if self.random.chance(self.faults.pause) {
            let until = now + self.up_to(self.faults.pause_max);
            self.pause(until);
        }
        let leaves = self.departure(bytes.len(), now);
        if self.random.chance(self.faults.drop) || leaves > now + QUEUE_MAX {
            self.counts.drops += 1;
            return;
        }
        self.deliver(bytes, leaves);
        if self.random.chance(self.faults.duplicate) {
            self.counts.duplicates += 1;
            self.deliver(bytes, leaves);
        }
    }

    fn deliver(&mut self, bytes: &[u8], leaves: Duration) {
        let mut arrival = leaves + self.faults.latency + self.up_to(self.faults.jitter);
        if self.random.chance(self.faults.reorder) {
            arrival += self.up_to(4 * (self.faults.latency + self.faults.jitter));
        }
        let mut bytes = bytes.to_vec();
        if self.random.chance(self.faults.corrupt) {
            self.damage(&mut bytes);
            if self.faults.sealed {
                return;
            }
        }
        self.sent += 1;
        self.datagrams.insert((arrival, self.sent), bytes);
    }

    /// Makes other bytes of these: what a receiver sees may be anything.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        self.counts.corruptions += 1;
        match self.random.below(8) {
            0 => bytes.truncate(self.random.index(bytes.len())),
            1 => {
                for _ in 0..=self.random.below(16) {
                    let [byte, ..] = self.random.word().to_le_bytes();
                    bytes.push(byte);
                }
            }
            _ => {
                for _ in 0..=self.random.below(4) {
                    let at = self.random.index(bytes.len());
                    let bit = self.random.below(8);
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << bit;
                    }
                }
            }
        }
    }

    /// Sends bytes of the stream in up to three pieces, none before those sent earlier.
    fn send_stream(&mut self, bytes: &[u8], now: Duration) {
        self.counts.stream_bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let leaves = self.departure(bytes.len(), now);
        let mut arrival = (leaves + self.faults.latency).max(self.parted_until);
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = match self.random.below(3) {
                0 => 1 + self.random.index(rest.len()),
                _ => rest.len(),
            };
            let (piece, tail) = rest.split_at(len);
            rest = tail;
            arrival += self.up_to(self.faults.jitter);
            if let Some((last, _)) = self.stream.back() {
                arrival = arrival.max(*last);
            }
            self.stream.push_back((arrival, piece.to_vec()));
        }
    }

    fn note_order(&mut self, number: u64) {
        if number < self.arrived {
            self.counts.reorders += 1;
        }
        self.arrived = self.arrived.max(number);
    }
}

impl Pipe for SimPipe {
    fn send(&mut self, lane: Lane, bytes: &[u8], now: Duration) {
        match lane {
            Lane::Datagram => self.send_datagram(bytes, now),
            Lane::Stream => self.send_stream(bytes, now),
        }
    }

    fn receive(&mut self, now: Duration) -> Option<(Lane, Vec<u8>)> {
        if now < self.paused_until {
            return None;
        }
        let stream = self.stream.front().map(|(arrival, _)| *arrival);
        let datagram = self.datagrams.first_key_value().map(|(key, _)| key.0);
        let stream_first = match (stream, datagram) {
            (Some(stream), Some(datagram)) => stream <= datagram,
            (stream, _) => stream.is_some(),
        };
        if stream_first {
            let (_, bytes) = self.stream.pop_front_if(|(arrival, _)| *arrival <= now)?;
            return Some((Lane::Stream, bytes));
        }
        let first = self.datagrams.first_entry()?;
        let (arrival, number) = *first.key();
        if arrival > now {
            return None;
        }
        let bytes = first.remove();
        self.note_order(number);
        Some((Lane::Datagram, bytes))
    }

    fn cut(&mut self) {
        self.counts.cuts += 1;
        self.datagrams.clear();
        self.stream.clear();
        self.arrived = self.sent;
    }
}
