//! How often each fault struck.

use core::ops::AddAssign;

/// What a [`SimPipe`](super::SimPipe) did to what it carried. They add up over pipes and runs.
///
/// ```
/// use nebula_multiplayer::transport::sim::FaultCounts;
///
/// let mut total = FaultCounts { drops: 2, ..FaultCounts::default() };
/// total += FaultCounts { drops: 3, ..FaultCounts::default() };
/// assert_eq!(total.drops, 5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Datagrams sent.
    pub datagrams: u64,
    /// Bytes sent on the stream.
    pub stream_bytes: u64,
    /// Datagrams dropped by chance, or because the queue of a narrow link was full.
    pub drops: u64,
    /// Datagrams that arrived twice.
    pub duplicates: u64,
    /// Datagrams that arrived after one that was sent later.
    pub reorders: u64,
    /// Datagrams that were damaged.
    pub corruptions: u64,
    /// Times that the link stood still.
    pub pauses: u64,
    /// Times that the two ends were parted.
    pub partitions: u64,
    /// Datagrams lost because the ends were parted.
    pub parted: u64,
    /// Times that the connection was cut, with all that was under way.
    pub cuts: u64,
}

impl AddAssign for FaultCounts {
    fn add_assign(&mut self, other: Self) {
        self.datagrams += other.datagrams;
        self.stream_bytes += other.stream_bytes;
        self.drops += other.drops;
        self.duplicates += other.duplicates;
        self.reorders += other.reorders;
        self.corruptions += other.corruptions;
        self.pauses += other.pauses;
        self.partitions += other.partitions;
        self.parted += other.parted;
        self.cuts += other.cuts;
    }
}
