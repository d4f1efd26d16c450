//! The indexes with cells behind the common face, in every size and shape of cell.

use std::collections::BTreeMap;

use nebula_coords::{Particle, SortedIndex, SpatialGrid, SpatialStore};
use nebula_math::WorldPosition;

use super::index::TestIndex;

/// A grid with cells of this size; `FLAT` makes them columns.
#[derive(Debug)]
pub(crate) struct Grid<const CELL: i128, const FLAT: bool>(pub SpatialGrid<u32>);

/// A sorted array with implied cells of at least this size.
#[derive(Debug)]
pub(crate) struct Sorted<const CELL: i128>(pub SortedIndex<u32>);

pub(crate) type DefaultGrid = Grid<10_000, false>;
pub(crate) type DefaultSorted = Sorted<10_000>;

macro_rules! test_index {
    ([$($generics:tt)*] $wrapper:ty, $index:ty, $empty:expr, $bulk:expr, $batch:expr) => {
        impl<$($generics)*> TestIndex for $wrapper {
            type Id = u32;
            type Query = $index;

            fn empty() -> Self {
                Self($empty)
            }
            fn bulk(points: &[(u32, WorldPosition)]) -> Self {
                Self($bulk(points))
            }
            fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
                SpatialStore::insert(&mut self.0, id, at)
            }
            fn update(&mut self, id: u32, to: WorldPosition) -> bool {
                SpatialStore::update(&mut self.0, id, to)
            }
            fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
                $batch(&mut self.0, moves)
            }
            fn remove(&mut self, id: u32) -> Option<WorldPosition> {
                SpatialStore::remove(&mut self.0, id)
            }
            fn clear(&mut self) {
                SpatialStore::clear(&mut self.0);
            }
            fn validate(&self) -> Result<(), String> {
                self.0.validate()
            }
            fn query(&self) -> &$index {
                &self.0
            }
            fn id(number: u32) -> u32 {
                number
            }
            fn number(id: u32) -> u32 {
                id
            }
        }
    };
}

test_index!(
    [const CELL: i128, const FLAT: bool] Grid<CELL, FLAT>,
    SpatialGrid<u32>,
    empty_grid(CELL, FLAT),
    |points: &[_]| {
        let mut grid = empty_grid(CELL, FLAT);
        for (id, at) in points {
            grid.insert(*id, *at);
        }
        grid
    },
    |grid: &mut SpatialGrid<u32>, moves: &[(u32, _)]| {
        moves.iter().filter(|(id, to)| grid.update(*id, *to)).count()
    }
);

test_index!(
    [const CELL: i128] Sorted<CELL>,
    SortedIndex<u32>,
    SortedIndex::new(CELL).expect("a positive size"),
    |points: &[(u32, WorldPosition)]| {
        let particles: Vec<_> = points
            .iter()
            .map(|(id, at)| Particle { id: *id, position: *at, radius_mm: 0 })
            .collect();
        SortedIndex::from_particles(CELL, &particles).expect("a positive size")
    },
    sorted_batch
);

fn empty_grid(cell_mm: i128, flat: bool) -> SpatialGrid<u32> {
    let grid = if flat {
        SpatialGrid::new_2d(cell_mm)
    } else {
        SpatialGrid::new(cell_mm)
    };
    grid.expect("a positive size")
}

/// Many moves in one pass and one sort, as the sorted array wants them.
fn sorted_batch(index: &mut SortedIndex<u32>, moves: &[(u32, WorldPosition)]) -> usize {
    let known = moves.iter().filter(|(id, _)| index.contains(*id)).count();
    let last: BTreeMap<_, _> = moves.iter().copied().collect();
    index.update_all(|id, at, _| {
        if let Some(to) = last.get(&id) {
            *at = *to;
        }
    });
    known
}
