//! Reports: what a batch did, what memory is used.

use super::SpatialIndex;
use crate::DenseId;

/// What a batch of moves did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchReport {
    /// Entries that named a stored id.
    pub moved: usize,
    /// Of those, how many left their leaf; the rest were written in place. A batch of which so many leave
    /// that the tree is built anew counts every entry of a stored id, also those that stay near.
    pub crossed: usize,
    /// Entries that named an id that is not stored; they changed nothing.
    pub unknown: usize,
}

/// The bytes an index uses, room for growth included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryReport {
    /// Ids and positions in leaves, with the leaves' headers.
    pub leaves: usize,
    /// Inner nodes.
    pub nodes: usize,
    /// The table that finds an id.
    pub table: usize,
    /// The change feed.
    pub changes: usize,
}

impl MemoryReport {
    /// Returns the sum of all parts.
    #[must_use]
    pub fn total(&self) -> usize {
        self.leaves + self.nodes + self.table + self.changes
    }
}

impl<I: DenseId> SpatialIndex<I> {
    /// Returns how many bytes the index uses, part by part.
    ///
    /// ```
    /// use nebula_coords::SpatialIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let points: Vec<_> = (0..100_000_u32)
    ///     .map(|i| (i, WorldPosition::new(i128::from(i) * -1_000, 0, 0)))
    ///     .collect();
    /// let bytes = SpatialIndex::from_points(&points).memory().total();
    /// assert!(bytes / points.len() <= 40, "{} bytes a point", bytes / points.len());
    /// ```
    #[must_use]
    pub fn memory(&self) -> MemoryReport {
        MemoryReport {
            leaves: self.leaves.bytes() + self.leaves.iter().map(|l| l.heap_bytes()).sum::<usize>(),
            nodes: self.nodes.bytes(),
            table: self.table.bytes(),
            changes: self.changes.bytes(),
        }
    }
}
