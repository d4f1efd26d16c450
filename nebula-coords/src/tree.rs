//! `SpatialIndex`: the adaptive tree, its public face.

mod arena;
mod ball;
mod batch;
mod best;
mod bulk;
mod changes;
mod cross;
mod cube;
mod frame;
mod insert;
mod iter;
mod kernel;
mod leaf;
mod nearest;
mod node;
#[cfg(feature = "rayon")]
mod parallel;
mod plant;
mod query;
mod remove;
mod report;
mod seed;
mod shape;
mod simd;
#[cfg(feature = "serde")]
mod snapshot;
mod sphere;
mod stem;
mod table;
mod update;
mod validate;

use core::fmt;
use core::ops::ControlFlow;

use nebula_math::{Aabb128, WorldPosition};

pub use changes::{Changes, Mark};
pub use report::{BatchReport, MemoryReport};

pub(crate) use cube::{Key, key_of};

use crate::{DenseId, Region, SpatialQuery};
use arena::Arena;
use changes::ChangeLog;
use cube::position_of;
use leaf::Leaf;
use node::{Link, Node};
use table::{Paged, Spot};

/// How many points a leaf takes before it splits: most queries and moves gain by few and large leaves,
/// the nearest few by small ones. Still larger leaves make even points cheaper, and those at powers of two more
/// than three times as dear as them; see decision 0010.
const LEAF_LIMIT: usize = 384;

/// The same where the cube is at most 2^`CROWDED_LEVEL` mm wide, which is some 65 m: most queries in a crowd take such a
/// leaf whole.
const CROWDED_LIMIT: usize = 768;
const CROWDED_LEVEL: u8 = 16;

/// The same where the cube is too large for an exact frame. Its points are far apart, so most queries want few.
const WIDE_LIMIT: usize = 256;

/// At how many points a node becomes one leaf again: far below the limit for splitting, so that
/// points coming and going do not split and merge in turn.
const MERGE_LIMIT: usize = WIDE_LIMIT / 4;

/// Who is where, and who is near: ids and positions in an adaptive tree, exact everywhere, with no
/// cell size to tune.
///
/// The tree splits space where points are. Work is bounded by what is stored, never by the radius:
/// a crowd on one spot and one point per light year are both cheap.
///
/// Results come in the tree's order, which is a function of the operations that built it.
///
/// ```
/// use nebula_coords::SpatialIndex;
/// use nebula_math::WorldPosition;
///
/// let mut index = SpatialIndex::new();
/// index.insert(1_u32, WorldPosition::new(-1, 0, 0));
/// index.insert(2, WorldPosition::new(i128::MAX, 0, 0));
/// assert_eq!(index.query_radius(&WorldPosition::ORIGIN, 1), [1]);
/// assert_eq!(index.query_radius(&WorldPosition::ORIGIN, i128::MAX), [1, 2]);
/// ```
#[derive(Clone)]
pub struct SpatialIndex<I: DenseId> {
    root: Link,
    nodes: Arena<Node>,
    leaves: Arena<Leaf<I>>,
    table: Paged<Spot>,
    len: usize,
    changes: ChangeLog<I>,
}

impl<I: DenseId> Default for SpatialIndex<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: DenseId> fmt::Debug for SpatialIndex<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpatialIndex")
            .field("len", &self.len)
            .field("leaves", &self.leaves.len())
            .field("nodes", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

impl<I: DenseId> SpatialIndex<I> {
    /// Makes an empty index.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            root: Link::Empty,
            nodes: Arena::new(),
            leaves: Arena::new(),
            table: Paged::new(Spot::VACANT),
            len: 0,
            changes: ChangeLog::new(),
        }
    }

    /// Builds an index from a list at once, which is faster than point by point; of entries with
    /// the same id the last one counts.
    ///
    /// ```
    /// use nebula_coords::{SpatialIndex, SpatialQuery};
    /// use nebula_math::WorldPosition;
    ///
    /// let here = WorldPosition::new(-5, 0, 0);
    /// let index = SpatialIndex::from_points(&[(7_u32, WorldPosition::MIN), (7, here)]);
    /// assert_eq!((index.len(), index.get(7)), (1, Some(here)));
    /// ```
    #[must_use]
    pub fn from_points(points: &[(I, WorldPosition)]) -> Self {
        Self::build(points)
    }

    /// Stores `id` at a position, and returns where it was if it was stored already.
    ///
    /// Another id with the same [`DenseId::dense_index`] (an older generation) leaves the index.
    pub fn insert(&mut self, id: I, at: WorldPosition) -> Option<WorldPosition> {
        if let Some(spot) = self.spot(id) {
            let old = self.position_at(spot);
            self.update(id, at);
            return Some(old);
        }
        let spot = self.table.get(id.dense_index());
        if spot != Spot::VACANT {
            let evicted = self.leaves.get(spot.leaf).ids()[spot.slot as usize];
            self.remove(evicted);
        }
        self.len += 1;
        self.changes.note_id(id);
        self.add(id, key_of(&at));
        None
    }

    /// Moves `id`, and returns whether it is stored; an unknown id changes nothing.
    pub fn update(&mut self, id: I, to: WorldPosition) -> bool {
        let Some(spot) = self.spot(id) else {
            return false;
        };
        self.move_one(id, spot, key_of(&to));
        true
    }

    /// Moves many ids at once; the last entry for an id counts, and unknown ids change nothing.
    ///
    /// Most points stay in their leaf and are written in place; those that leave it follow in the
    /// order of the batch, or all together if they are many.
    ///
    /// ```
    /// use nebula_coords::SpatialIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = SpatialIndex::from_points(&[(1_u32, WorldPosition::ORIGIN)]);
    /// let to = WorldPosition::new(-3, 0, 0);
    /// let report = index.update_batch(&[(1, WorldPosition::MAX), (2, to), (1, to)]);
    /// assert_eq!((report.moved, report.unknown), (2, 1));
    /// assert_eq!(index.get(1), Some(to));
    /// ```
    pub fn update_batch(&mut self, moves: &[(I, WorldPosition)]) -> BatchReport {
        self.move_all(moves)
    }

    /// Removes `id` and returns where it was.
    pub fn remove(&mut self, id: I) -> Option<WorldPosition> {
        let spot = self.spot(id)?;
        let old = self.position_at(spot);
        self.changes.note_id(id);
        self.take_out(spot);
        self.table.set(id.dense_index(), Spot::VACANT);
        self.len -= 1;
        self.count_down(self.leaves.get(spot.leaf).place, 1);
        self.tidy(spot.leaf);
        Some(old)
    }

    /// Removes many ids at once and returns how many were stored, which is faster than one by one; unknown
    /// ids change nothing.
    ///
    /// ```
    /// use nebula_coords::{SpatialIndex, SpatialQuery};
    /// use nebula_math::WorldPosition;
    ///
    /// let points = [(1_u32, WorldPosition::MIN), (2, WorldPosition::ORIGIN)];
    /// let mut index = SpatialIndex::from_points(&points);
    /// assert_eq!(index.remove_batch(&[1, 9, 1]), 1);
    /// assert_eq!((index.len(), index.get(1)), (1, None));
    /// ```
    pub fn remove_batch(&mut self, ids: &[I]) -> usize {
        self.take_out_all(ids)
    }

    /// Removes everything; marks set before answer "everything" from now on.
    pub fn clear(&mut self) {
        let mut changes = core::mem::replace(&mut self.changes, ChangeLog::new());
        changes.forget();
        *self = Self {
            changes,
            ..Self::new()
        };
    }

    /// Makes room for the leaves of that many more points; what they hold is asked for as they fill.
    pub fn reserve(&mut self, additional: usize) {
        // A leaf is half full on average.
        self.leaves.reserve(additional / (LEAF_LIMIT / 2));
    }

    /// Returns whether `id` is stored.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.spot(id).is_some()
    }

    /// Returns where `id` is.
    #[must_use]
    pub fn get(&self, id: I) -> Option<WorldPosition> {
        self.spot(id).map(|spot| self.position_at(spot))
    }

    /// Returns every id at most `radius_mm` from `center`, in the tree's order; a negative radius
    /// finds nothing. [`SpatialQuery::collect`] does the same into a list of yours.
    #[must_use]
    pub fn query_radius(&self, center: &WorldPosition, radius_mm: i128) -> Vec<I> {
        self.query(&Region::ball(*center, radius_mm))
    }

    /// Returns every id in the box, boundary included, in the tree's order.
    #[must_use]
    pub fn query_box(&self, aabb: &Aabb128) -> Vec<I> {
        self.query(&Region::Box(*aabb))
    }

    /// Returns every id exactly at a position.
    #[must_use]
    pub fn query_at(&self, at: &WorldPosition) -> Vec<I> {
        self.query(&Region::at(*at))
    }

    fn query(&self, region: &Region) -> Vec<I> {
        let mut out = Vec::new();
        self.collect_region(region, &mut out);
        out
    }

    /// Returns the present moment, and records changes from now on.
    ///
    /// ```
    /// use nebula_coords::SpatialIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = SpatialIndex::from_points(&[(1_u32, WorldPosition::ORIGIN)]);
    /// let mark = index.mark();
    /// index.update(1, WorldPosition::MIN);
    /// let changes = index.changes_since(mark).expect("the mark is young");
    /// assert_eq!(changes.ids(), [1]);
    /// assert!(changes.regions().any(|region| region.contains(&WorldPosition::MIN)));
    /// ```
    pub fn mark(&mut self) -> Mark {
        self.changes.mark(self.len)
    }

    /// Returns what changed since a mark of this index, or `None` if that is not known: then look at
    /// everything.
    ///
    /// It is known for the 64 youngest marks, as long as no more than 65,536 changes and four for each
    /// point came after them and the index was not cleared. A clone knows no mark of the original.
    #[must_use]
    pub fn changes_since(&self, mark: Mark) -> Option<Changes<'_, I>> {
        self.changes.since(mark)
    }

    /// Checks every invariant of the structure, which takes a walk over all of it.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold. That is a bug in this crate.
    pub fn validate(&self) -> Result<(), String> {
        self.check()
    }

    /// Returns where an id is stored.
    #[inline]
    fn spot(&self, id: I) -> Option<Spot> {
        let spot = self.table.get(id.dense_index());
        if spot == Spot::VACANT {
            return None;
        }
        if I::INDEX_IS_ALL {
            return Some(spot);
        }
        let stored = self.leaves.get(spot.leaf).ids()[spot.slot as usize];
        (stored == id).then_some(spot)
    }

    fn position_at(&self, spot: Spot) -> WorldPosition {
        position_of(&self.leaves.get(spot.leaf).key(spot.slot as usize))
    }
}

impl<I: DenseId> SpatialQuery for SpatialIndex<I> {
    type Id = I;

    fn len(&self) -> usize {
        self.len
    }

    fn position(&self, id: I) -> Option<WorldPosition> {
        self.get(id)
    }

    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.visit_region(region, f)
    }

    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        self.nearest_to(at, k, limit_mm, out);
    }

    fn collect(&self, region: &Region, out: &mut Vec<I>) {
        out.clear();
        self.collect_region(region, out);
    }

    fn count(&self, region: &Region) -> usize {
        self.count_region(region)
    }
}
