//! The whole truth once a frame: only what differs is touched.

use core::borrow::Borrow;
use core::hash::Hash;

use super::edit::Placed;
use super::{TileIndex, TilePosition};

/// What a re-indexing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReindexReport {
    /// Entries that named an id for the first time.
    pub entered: usize,
    /// Entries that moved an id.
    pub moved: usize,
    /// Entries that found an id where it was.
    pub unchanged: usize,
    /// Ids that no entry named, and that are gone.
    pub exited: usize,
}

impl<I: Copy + Eq + Hash, M: Clone + Eq + Hash> TileIndex<I, M> {
    /// Makes the index hold exactly what is listed: call it once a frame with everything that has
    /// a place, and leave out what has none or whose map is not active.
    ///
    /// Nothing is torn down: an id that did not move costs one lookup, tiles and maps that empty
    /// lend their memory to those that fill, so a settled game allocates nothing. Of several
    /// entries for one id the last wins.
    ///
    /// ```
    /// use nebula_coords::{Elevation, TileIndex, TilePosition};
    ///
    /// let mut index = TileIndex::new();
    /// let at = |x| TilePosition::new(x, -1, Elevation::GROUND);
    /// index.reindex([(1, "town", at(0)), (2, "town", at(0))]);
    /// let report = index.reindex([(2, "town", at(1))]);
    /// assert_eq!((report.moved, report.exited), (1, 1));
    /// assert_eq!(index.query_at(&"town", at(1)), [2]);
    /// ```
    pub fn reindex<B: Borrow<M>>(
        &mut self,
        all: impl IntoIterator<Item = (I, B, TilePosition)>,
    ) -> ReindexReport {
        self.frame += 1;
        let mut report = ReindexReport::default();
        for (id, map, at) in all {
            match self.place(id, map.borrow(), at) {
                Placed::New => report.entered += 1,
                Placed::Moved => report.moved += 1,
                Placed::Unchanged => report.unchanged += 1,
            }
        }
        for handle in 0..self.entries.len() {
            let entry = &self.entries[handle];
            if entry.live && entry.seen != self.frame {
                let handle = u32::try_from(handle).expect("handles are numbered by u32");
                self.remove_handle(handle);
                report.exited += 1;
            }
        }
        report
    }
}
