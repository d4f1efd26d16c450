//! The things on one tile, floor by floor, so that a floor and the whole tile are both a slice.

use super::{Elevation, Tile};

/// Everything on one tile of one map.
///
/// Ids lie in one list ordered by elevation. Putting one in or taking one out moves at most one id
/// of each higher floor, so a crowd on a tile costs no more than a single thing.
#[derive(Clone, Debug)]
pub(super) struct Column<I> {
    pub(super) tile: Tile,
    /// Where this column stands in its map's list of occupied columns.
    pub(super) listed_at: u32,
    ids: Vec<I>,
    /// The entry of each id, in the same order.
    handles: Vec<u32>,
    /// Where the run of each floor ends.
    ends: [u32; Elevation::COUNT],
}

/// A freed column keeps buffers up to this length for its next tile.
const KEPT_CAPACITY: usize = 1_024;

impl<I: Copy> Column<I> {
    pub(super) const fn new(tile: Tile) -> Self {
        Self {
            tile,
            listed_at: 0,
            ids: Vec::new(),
            handles: Vec::new(),
            ends: [0; Elevation::COUNT],
        }
    }

    /// Returns every id on the tile, lowest floor first.
    pub(super) fn all(&self) -> &[I] {
        &self.ids
    }

    /// Returns the ids on one floor.
    pub(super) fn floor(&self, elevation: Elevation) -> &[I] {
        let (start, end) = self.run(elevation.index());
        &self.ids[start..end]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the entry numbers in the order of the ids.
    pub(super) fn handles(&self) -> &[u32] {
        &self.handles
    }

    /// Puts an id on a floor, after the ones that are there, and returns its slot. `moved` learns
    /// the new slot of each entry that made room.
    pub(super) fn insert(
        &mut self,
        id: I,
        handle: u32,
        elevation: Elevation,
        mut moved: impl FnMut(u32, u32),
    ) -> u32 {
        let mut hole = self.ids.len();
        self.ids.push(id);
        self.handles.push(handle);
        for floor in (elevation.index() + 1..Elevation::COUNT).rev() {
            let (start, end) = self.run(floor);
            if start < end {
                // The first of the run becomes its last.
                self.shift(start, hole, &mut moved);
                hole = start;
            }
            self.ends[floor] += 1;
        }
        self.ends[elevation.index()] += 1;
        self.ids[hole] = id;
        self.handles[hole] = handle;
        to_u32(hole)
    }

    /// Takes the id in a slot of a floor out. `moved` learns the new slot of each entry that
    /// filled a gap.
    pub(super) fn remove(
        &mut self,
        slot: u32,
        elevation: Elevation,
        mut moved: impl FnMut(u32, u32),
    ) {
        let mut hole = slot as usize;
        for floor in elevation.index()..Elevation::COUNT {
            let (start, end) = self.run(floor);
            if start < end {
                // The last of the run fills the gap; on the first floor it may be the one to go.
                if hole != end - 1 {
                    self.shift(end - 1, hole, &mut moved);
                }
                hole = end - 1;
            }
            self.ends[floor] -= 1;
        }
        self.ids.pop();
        self.handles.pop();
    }

    /// Makes a freed column ready for another tile, keeping its buffers unless they are huge.
    pub(super) fn reuse(&mut self, tile: Tile) {
        debug_assert!(self.is_empty(), "only empty columns are freed");
        self.tile = tile;
    }

    /// Gives back the buffers of a crowd.
    pub(super) fn release(&mut self) {
        self.ids.shrink_to(KEPT_CAPACITY);
        self.handles.shrink_to(KEPT_CAPACITY);
    }

    /// Checks the runs against each other and the lists.
    pub(super) fn validate(&self) -> Result<(), String> {
        let ordered = self.ends.is_sorted();
        let whole = self.ends[Elevation::COUNT - 1] as usize == self.ids.len();
        if ordered && whole && self.ids.len() == self.handles.len() {
            Ok(())
        } else {
            Err(format!(
                "tile {} has broken floors: {:?}",
                self.tile, self.ends
            ))
        }
    }

    fn run(&self, floor: usize) -> (usize, usize) {
        let start = if floor == 0 { 0 } else { self.ends[floor - 1] };
        (start as usize, self.ends[floor] as usize)
    }

    fn shift(&mut self, from: usize, to: usize, moved: &mut impl FnMut(u32, u32)) {
        self.ids[to] = self.ids[from];
        self.handles[to] = self.handles[from];
        moved(self.handles[to], to_u32(to));
    }
}

fn to_u32(slot: usize) -> u32 {
    u32::try_from(slot).expect("an index holds fewer than 2^32 entries")
}
