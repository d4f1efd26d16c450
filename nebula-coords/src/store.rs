//! `SpatialStore`: the operations that change an index, the same for all.

use core::hash::{BuildHasher, Hash};

use nebula_math::WorldPosition;

use crate::{DenseId, LinearIndex, SortedIndex, SpatialGrid, SpatialIndex, SpatialQuery};

/// An index that can be changed entry by entry, for code that works with any of them.
///
/// ```
/// use nebula_coords::{LinearIndex, SpatialGrid, SpatialStore};
/// use nebula_math::WorldPosition;
///
/// fn fill(store: &mut dyn SpatialStore<Id = u32>) {
///     assert_eq!(store.insert(1, WorldPosition::new(-1, 0, 0)), None);
///     assert!(store.update(1, WorldPosition::ORIGIN));
///     assert_eq!(store.remove(1), Some(WorldPosition::ORIGIN));
/// }
/// fill(&mut LinearIndex::new());
/// fill(&mut SpatialGrid::default());
/// ```
pub trait SpatialStore: SpatialQuery {
    /// Stores `id` at a position and returns where it was before.
    fn insert(&mut self, id: Self::Id, at: WorldPosition) -> Option<WorldPosition>;

    /// Moves `id`, and returns whether it was stored; an unknown id changes nothing.
    fn update(&mut self, id: Self::Id, to: WorldPosition) -> bool;

    /// Removes `id` and returns where it was.
    fn remove(&mut self, id: Self::Id) -> Option<WorldPosition>;

    /// Removes everything.
    fn clear(&mut self);
}

/// Forwards the trait to the methods of the same names.
macro_rules! forward {
    ($index:ty, $($bounds:tt)*) => {
        impl<$($bounds)*> SpatialStore for $index {
            fn insert(&mut self, id: Self::Id, at: WorldPosition) -> Option<WorldPosition> {
                Self::insert(self, id, at)
            }
            fn update(&mut self, id: Self::Id, to: WorldPosition) -> bool {
                Self::update(self, id, to)
            }
            fn remove(&mut self, id: Self::Id) -> Option<WorldPosition> {
                Self::remove(self, id)
            }
            fn clear(&mut self) {
                Self::clear(self);
            }
        }
    };
}

forward!(LinearIndex<I>, I: Copy + Ord);
forward!(SpatialIndex<I>, I: DenseId);
forward!(SpatialGrid<I, S>, I: Copy + Ord + Hash, S: BuildHasher + Clone);
forward!(SortedIndex<I>, I: Copy + Ord);
