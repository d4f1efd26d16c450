//! What a grid looks like from inside: occupancy, hot spots, memory, invariants.

use core::hash::{BuildHasher, Hash};

use super::{CellKey, SpatialGrid};
use crate::stats::{Occupancy, map_bytes, vec_bytes};

impl<I: Copy + Ord + Hash, S: BuildHasher + Clone> SpatialGrid<I, S> {
    /// Returns how many cells hold something.
    #[must_use]
    pub fn occupied_cells(&self) -> usize {
        self.occupied.len()
    }

    /// Returns how full the cells are.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::default();
    /// for id in 0..5_u32 {
    ///     grid.insert(id, WorldPosition::new(-1, 0, 0));
    /// }
    /// grid.insert(9, WorldPosition::ORIGIN);
    /// let occupancy = grid.occupancy();
    /// assert_eq!((occupancy.cells, occupancy.entries, occupancy.fullest), (2, 6, 5));
    /// ```
    #[must_use]
    pub fn occupancy(&self) -> Occupancy {
        let mut found = Occupancy::default();
        for slot in &self.occupied {
            found.add(self.cells[*slot].ids.len());
        }
        found
    }

    /// Returns the `n` fullest cells and how much they hold, fullest first, then by key.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::default();
    /// grid.insert(1_u32, WorldPosition::new(-1, 0, 0));
    /// grid.insert(2, WorldPosition::new(-2, 0, 0));
    /// grid.insert(3, WorldPosition::new(1, 0, 0));
    /// let crowd = grid.hot_spots(1);
    /// assert_eq!((crowd[0].0.x, crowd[0].1), (-1, 2));
    /// ```
    #[must_use]
    pub fn hot_spots(&self, n: usize) -> Vec<(CellKey, usize)> {
        let mut all: Vec<_> = self
            .occupied
            .iter()
            .map(|slot| (self.cells[*slot].key, self.cells[*slot].ids.len()))
            .collect();
        all.sort_unstable_by_key(|(key, len)| (core::cmp::Reverse(*len), *key));
        all.truncate(n);
        all
    }

    /// Returns about how many bytes the grid holds, spare room included.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let cells: usize = self
            .cells
            .iter()
            .map(|cell| vec_bytes(&cell.ids) + vec_bytes(&cell.positions))
            .sum();
        cells
            + vec_bytes(&self.cells)
            + vec_bytes(&self.vacant)
            + vec_bytes(&self.occupied)
            + map_bytes(&self.slots)
            + map_bytes(&self.places)
    }

    /// Checks every invariant of the structure.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), String> {
        let mut entries = 0;
        for (rank, slot) in self.occupied.iter().enumerate() {
            let cell = &self.cells[*slot];
            let key = cell.key;
            require(cell.rank == rank, || format!("{key:?} has a wrong rank"))?;
            require(self.slots.get(&key) == Some(slot), || {
                format!("{key:?} is not filed under its key")
            })?;
            require(!cell.ids.is_empty(), || format!("{key:?} is empty"))?;
            require(cell.ids.len() == cell.positions.len(), || {
                format!("{key:?} has ids without positions")
            })?;
            for (at, (id, position)) in cell.ids.iter().zip(&cell.positions).enumerate() {
                require(self.cell_of(position) == key, || {
                    format!("an entry at {position:?} is in {key:?}")
                })?;
                let place = self.places.get(id).map(|place| (place.cell, place.at));
                require(place == Some((*slot, at)), || {
                    format!("the entry at {position:?} is filed at {place:?}")
                })?;
            }
            entries += cell.ids.len();
        }
        require(entries == self.places.len(), || {
            format!(
                "cells hold {entries} entries, the table {}",
                self.places.len()
            )
        })?;
        require(self.slots.len() == self.occupied.len(), || {
            format!(
                "{} keys for {} cells",
                self.slots.len(),
                self.occupied.len()
            )
        })?;
        require(
            self.vacant.len() + self.occupied.len() == self.cells.len(),
            || "a slot is neither occupied nor vacant".to_owned(),
        )?;
        require(
            self.vacant.iter().all(|s| self.cells[*s].ids.is_empty()),
            || "a vacant slot holds entries".to_owned(),
        )
    }
}

fn require(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}
