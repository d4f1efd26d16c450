//! What was sent to a client, by kind.

/// Counters of one client since it joined.
///
/// Bytes are those of the bodies; the session counts headers and the budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplicationStats {
    /// Bytes by number of the kind, heads of records not included; 0 is the position.
    pub kind_bytes: Vec<u64>,
    /// Bytes of all bodies.
    pub bytes: u64,
    /// Positions sent as places in a cell.
    pub places: u64,
    /// Positions sent as steps.
    pub steps: u64,
    /// Bytes of all places and steps, ids included.
    pub position_bytes: u64,
    /// Cells named.
    pub cells: u64,
    /// Entities that began to appear.
    pub spawns: u64,
    /// Leaves sent.
    pub leaves: u64,
    /// Times that an entity had to wait for another packet because this one was full.
    pub deferred: u64,
    /// Records that the gate stopped at send time.
    pub stopped: u64,
    /// Packets lost.
    pub lost: u64,
    /// The largest body, in bytes.
    pub largest: usize,
    /// The longest time that something due has waited, in ticks.
    pub stalest: u32,
}

impl ReplicationStats {
    pub(crate) fn new(kinds: usize) -> Self {
        Self {
            kind_bytes: vec![0; kinds],
            ..Self::default()
        }
    }

    /// Returns how many kinds there are, the position included.
    #[must_use]
    pub fn kinds(&self) -> usize {
        self.kind_bytes.len()
    }
}
