//! What changes a grid: filing, moving and removing entries, opening and closing cells.

use core::hash::{BuildHasher, Hash};

use nebula_math::WorldPosition;

use super::{Cell, CellKey, CellSizeError, Place, SpatialGrid, check};

impl<I: Copy + Ord + Hash, S: BuildHasher + Clone> SpatialGrid<I, S> {
    /// Gives the grid another cell size and files everything anew, in the present order of the cells.
    ///
    /// Costs one insert per id. [`QueryStats`](crate::QueryStats) suggests a size from the queries of
    /// the past.
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative; the grid then stays as it was.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::new(10)?;
    /// grid.insert(1_u32, WorldPosition::new(-1, 0, 0));
    /// grid.insert(2, WorldPosition::new(-99, 0, 0));
    /// assert_eq!(grid.occupied_cells(), 2);
    /// grid.set_cell_size_mm(100)?;
    /// assert_eq!(grid.occupied_cells(), 1);
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    pub fn set_cell_size_mm(&mut self, cell_mm: i128) -> Result<(), CellSizeError> {
        let cell_mm = check(cell_mm)?;
        let hasher = self.slots.hasher().clone();
        let mut anew = Self::build(cell_mm, self.flat, hasher);
        anew.places.reserve(self.places.len());
        for (id, at) in self.iter() {
            anew.insert(id, at);
        }
        *self = anew;
        Ok(())
    }

    /// Stores `id` at a position and returns where it was before. O(1).
    pub fn insert(&mut self, id: I, at: WorldPosition) -> Option<WorldPosition> {
        let before = self.get(id);
        if before.is_some() {
            self.update(id, at);
        } else {
            let key = self.cell_of(&at);
            self.file(id, at, key);
        }
        before
    }

    /// Moves `id`, and returns whether it was stored; an unknown id changes nothing. O(1).
    ///
    /// The grid knows the old position itself. A move inside a cell writes the position and no more.
    pub fn update(&mut self, id: I, to: WorldPosition) -> bool {
        let Some(place) = self.places.get(&id).copied() else {
            return false;
        };
        let key = self.cell_of(&to);
        if self.cells[place.cell].key == key {
            self.cells[place.cell].positions[place.at] = to;
        } else {
            self.take(place);
            self.file(id, to, key);
        }
        true
    }

    /// Removes `id` and returns where it was. O(1). A cell left empty goes too.
    pub fn remove(&mut self, id: I) -> Option<WorldPosition> {
        let place = self.places.remove(&id)?;
        Some(self.take(place))
    }

    /// Removes everything and keeps the memory for later; see [`shrink_to_fit`](Self::shrink_to_fit).
    pub fn clear(&mut self) {
        // The latest cell is reused first, as after single removals.
        while let Some(slot) = self.occupied.pop() {
            self.cells[slot].ids.clear();
            self.cells[slot].positions.clear();
            self.vacant.push(slot);
        }
        self.slots.clear();
        self.places.clear();
    }

    /// Makes room for `additional` more ids.
    pub fn reserve(&mut self, additional: usize) {
        self.places.reserve(additional);
    }

    /// Gives back the memory of empty cells and of spare room. The order of results stays.
    pub fn shrink_to_fit(&mut self) {
        let mut cells = Vec::with_capacity(self.occupied.len());
        for (rank, slot) in self.occupied.iter_mut().enumerate() {
            let old = &mut self.cells[*slot];
            let (mut ids, mut positions) = (
                std::mem::take(&mut old.ids),
                std::mem::take(&mut old.positions),
            );
            ids.shrink_to_fit();
            positions.shrink_to_fit();
            *slot = rank;
            self.slots.insert(old.key, rank);
            for id in &ids {
                if let Some(place) = self.places.get_mut(id) {
                    place.cell = rank;
                }
            }
            cells.push(Cell {
                key: old.key,
                rank,
                ids,
                positions,
            });
        }
        self.cells = cells;
        self.vacant = Vec::new();
        self.occupied.shrink_to_fit();
        self.slots.shrink_to_fit();
        self.places.shrink_to_fit();
    }

    /// Returns whether `id` is stored.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.places.contains_key(&id)
    }

    /// Returns where `id` is.
    #[must_use]
    pub fn get(&self, id: I) -> Option<WorldPosition> {
        let place = self.places.get(&id)?;
        Some(self.cells[place.cell].positions[place.at])
    }

    /// Puts an id that is not stored into the cell of its key.
    fn file(&mut self, id: I, at: WorldPosition, key: CellKey) {
        let slot = match self.slots.get(&key) {
            Some(slot) => *slot,
            None => self.open(key),
        };
        let cell = &mut self.cells[slot];
        self.places.insert(
            id,
            Place {
                cell: slot,
                at: cell.ids.len(),
            },
        );
        cell.ids.push(id);
        cell.positions.push(at);
    }

    /// Makes an empty cell, from the vacant ones if there are any.
    fn open(&mut self, key: CellKey) -> usize {
        let rank = self.occupied.len();
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.cells[slot].key = key;
                self.cells[slot].rank = rank;
                slot
            }
            None => {
                self.cells.push(Cell {
                    key,
                    rank,
                    ids: Vec::new(),
                    positions: Vec::new(),
                });
                self.cells.len() - 1
            }
        };
        self.occupied.push(slot);
        self.slots.insert(key, slot);
        slot
    }

    /// Takes an entry out of its cell and tells the one that fills the gap where it is now. The entry
    /// in `places` is the caller's to change.
    fn take(&mut self, place: Place) -> WorldPosition {
        let cell = &mut self.cells[place.cell];
        cell.ids.swap_remove(place.at);
        let at = cell.positions.swap_remove(place.at);
        if let Some(moved) = cell.ids.get(place.at) {
            self.places
                .get_mut(moved)
                .expect("every id in a cell has a place")
                .at = place.at;
        }
        if cell.ids.is_empty() {
            self.close(place.cell);
        }
        at
    }

    /// Drops an empty cell and keeps its buffers for the next one.
    fn close(&mut self, slot: usize) {
        let (key, rank) = (self.cells[slot].key, self.cells[slot].rank);
        self.slots.remove(&key);
        self.occupied.swap_remove(rank);
        if let Some(moved) = self.occupied.get(rank) {
            self.cells[*moved].rank = rank;
        }
        self.vacant.push(slot);
    }
}
