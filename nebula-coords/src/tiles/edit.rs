//! Putting things on tiles, moving them and taking them off.

use core::hash::Hash;
use std::collections::HashMap;

use super::{Column, Entry, MapTiles, Tile, TileIndex, TilePosition};

impl<I: Copy + Eq + Hash, M: Clone + Eq + Hash> TileIndex<I, M> {
    /// Puts an id on a map and returns where it was before, on this map or another.
    ///
    /// ```
    /// use nebula_coords::{Elevation, TileIndex, TilePosition};
    ///
    /// let mut index = TileIndex::new();
    /// let door = TilePosition::new(i32::MIN, 0, Elevation::GROUND);
    /// assert_eq!(index.insert(1, &"house", door), None);
    /// assert_eq!(index.insert(1, &"street", door), Some(("house", door)));
    /// assert_eq!(index.len_of_map(&"house"), 0);
    /// ```
    pub fn insert(&mut self, id: I, map: &M, at: TilePosition) -> Option<(M, TilePosition)> {
        let before = self.get(id).map(|(map, at)| (map.clone(), at));
        self.place(id, map, at);
        before
    }

    /// Moves an id on its map, and returns whether it was stored; an unknown id changes nothing.
    ///
    /// The move is visible to the next question.
    pub fn update(&mut self, id: I, to: TilePosition) -> bool {
        let Some(handle) = self.handles.get(&id).copied() else {
            return false;
        };
        self.move_to(handle, self.entry(handle).map, to);
        true
    }

    /// Takes an id off and returns where it was.
    pub fn remove(&mut self, id: I) -> Option<(M, TilePosition)> {
        let before = self.get(id).map(|(map, at)| (map.clone(), at))?;
        let handle = self.handles.get(&id).copied()?;
        self.remove_handle(handle);
        Some(before)
    }

    /// Takes everything off all maps, and keeps the memory for what comes next.
    pub fn clear(&mut self) {
        for handle in 0..self.entries.len() {
            if self.entries[handle].live {
                self.remove_handle(to_u32(handle));
            }
        }
    }

    /// Gives back memory that nothing stored needs: buffers of freed tiles and room for growth.
    pub fn shrink_to_fit(&mut self) {
        for number in &self.free_columns {
            self.columns[*number as usize] = Column::new(Tile::default());
        }
        for map in &mut self.maps {
            map.tiles.shrink_to_fit();
            map.occupied.shrink_to_fit();
        }
        self.handles.shrink_to_fit();
        self.map_numbers.shrink_to_fit();
    }

    /// Puts an id on a map, wherever it was, and returns how that changed things.
    pub(super) fn place(&mut self, id: I, map: &M, at: TilePosition) -> Placed {
        let map = self.map_number(map);
        if let Some(handle) = self.handles.get(&id).copied() {
            return self.move_to(handle, map, at);
        }
        let entry = Entry {
            id,
            map,
            column: 0,
            slot: 0,
            elevation: at.elevation,
            seen: self.frame,
            live: true,
        };
        let handle = match self.free_entries.pop() {
            Some(handle) => {
                self.entries[handle as usize] = entry;
                handle
            }
            None => {
                self.entries.push(entry);
                to_u32(self.entries.len() - 1)
            }
        };
        self.handles.insert(id, handle);
        self.attach(handle, map, at);
        Placed::New
    }

    /// Forgets a live entry.
    pub(super) fn remove_handle(&mut self, handle: u32) {
        self.take_off(handle);
        let entry = &mut self.entries[handle as usize];
        entry.live = false;
        self.handles.remove(&entry.id);
        self.free_entries.push(handle);
        let (map, column) = (entry.map, entry.column);
        self.free_if_empty(map, column);
    }

    fn move_to(&mut self, handle: u32, map: u32, to: TilePosition) -> Placed {
        let frame = self.frame;
        let entry = &mut self.entries[handle as usize];
        entry.seen = frame;
        let entry = *entry;
        if entry.map == map && self.position_of(&entry) == to {
            return Placed::Unchanged;
        }
        // The new tile is found before the old one is freed: the old one may be the same, or the
        // last on its map.
        let column = self.column_number(map, to.tile);
        self.take_off(handle);
        self.attach_to(handle, map, column, to);
        self.free_if_empty(entry.map, entry.column);
        Placed::Moved
    }

    fn attach(&mut self, handle: u32, map: u32, at: TilePosition) {
        let column = self.column_number(map, at.tile);
        self.attach_to(handle, map, column, at);
    }

    fn attach_to(&mut self, handle: u32, map: u32, column: u32, at: TilePosition) {
        self.maps[map as usize].len += 1;
        let id = self.entry(handle).id;
        let entries = &mut self.entries;
        let slot = self.columns[column as usize].insert(id, handle, at.elevation, |other, slot| {
            entries[other as usize].slot = slot;
        });
        let entry = &mut self.entries[handle as usize];
        entry.map = map;
        entry.column = column;
        entry.slot = slot;
        entry.elevation = at.elevation;
    }

    /// Takes an entry off its tile, which may be left empty.
    fn take_off(&mut self, handle: u32) {
        let Entry {
            map,
            column,
            slot,
            elevation,
            ..
        } = *self.entry(handle);
        let entries = &mut self.entries;
        self.columns[column as usize].remove(slot, elevation, |other, slot| {
            entries[other as usize].slot = slot;
        });
        self.maps[map as usize].len -= 1;
    }

    /// Frees a tile if nothing is left on it, and its map if no tile is left.
    fn free_if_empty(&mut self, map: u32, column: u32) {
        if self.column(column).is_empty() {
            self.free_column(map, column);
        }
    }

    /// Returns the column of a tile, taking a freed one if the tile has none yet.
    fn column_number(&mut self, map: u32, tile: Tile) -> u32 {
        let record = &mut self.maps[map as usize];
        if let Some(column) = record.tiles.get(&tile) {
            return *column;
        }
        let number = match self.free_columns.pop() {
            Some(number) => {
                self.columns[number as usize].reuse(tile);
                number
            }
            None => {
                self.columns.push(Column::new(tile));
                to_u32(self.columns.len() - 1)
            }
        };
        record.tiles.insert(tile, number);
        self.columns[number as usize].listed_at = to_u32(record.occupied.len());
        record.occupied.push(number);
        number
    }

    fn free_column(&mut self, map: u32, number: u32) {
        let record = &mut self.maps[map as usize];
        let column = &mut self.columns[number as usize];
        column.release();
        record.tiles.remove(&column.tile);
        let listed_at = column.listed_at as usize;
        record.occupied.swap_remove(listed_at);
        if let Some(other) = record.occupied.get(listed_at) {
            self.columns[*other as usize].listed_at = to_u32(listed_at);
        }
        self.free_columns.push(number);
        if record.occupied.is_empty()
            && let Some(key) = record.key.take()
        {
            self.map_numbers.remove(&key);
            self.free_maps.push(map);
        }
    }

    /// Returns the number of a map, taking a freed record if the map has none yet.
    fn map_number(&mut self, map: &M) -> u32 {
        if let Some(number) = self.map_numbers.get(map) {
            return *number;
        }
        let number = match self.free_maps.pop() {
            Some(number) => {
                self.maps[number as usize].key = Some(map.clone());
                number
            }
            None => {
                self.maps.push(MapTiles {
                    key: Some(map.clone()),
                    tiles: HashMap::new(),
                    occupied: Vec::new(),
                    len: 0,
                });
                to_u32(self.maps.len() - 1)
            }
        };
        self.map_numbers.insert(map.clone(), number);
        number
    }
}

/// What putting an id somewhere changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    New,
    Moved,
    Unchanged,
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("an index holds fewer than 2^32 entries")
}
