//! Checks the whole structure, for tests.

use core::hash::Hash;

use super::TileIndex;

impl<I: Copy + Eq + Hash, M: Clone + Eq + Hash> TileIndex<I, M> {
    /// Checks every invariant of the structure; for tests, since it looks at everything.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), String> {
        self.validate_entries()?;
        self.validate_maps()?;
        for number in &self.free_columns {
            if !self.column(*number).is_empty() {
                return Err(format!("freed tile {number} is not empty"));
            }
        }
        let listed: usize = self.maps.iter().map(|map| map.occupied.len()).sum();
        if listed + self.free_columns.len() != self.columns.len() {
            return Err("a tile is neither occupied nor free".into());
        }
        Ok(())
    }

    fn validate_entries(&self) -> Result<(), String> {
        let mut live = 0;
        for (handle, entry) in (0_u32..).zip(&self.entries) {
            if !entry.live {
                continue;
            }
            live += 1;
            if self.handles.get(&entry.id) != Some(&handle) {
                return Err(format!("entry {handle} is not found by its id"));
            }
            if self.column(entry.column).handles().get(entry.slot as usize) != Some(&handle) {
                return Err(format!("entry {handle} is not in its slot"));
            }
            if !self
                .column(entry.column)
                .floor(entry.elevation)
                .contains(&entry.id)
            {
                return Err(format!("entry {handle} is not on its floor"));
            }
        }
        if live != self.handles.len() || live + self.free_entries.len() != self.entries.len() {
            return Err(format!("{live} live entries, {} ids", self.handles.len()));
        }
        Ok(())
    }

    fn validate_maps(&self) -> Result<(), String> {
        for (number, map) in (0_u32..).zip(&self.maps) {
            let found = map.key.as_ref().and_then(|key| self.map_numbers.get(key));
            if found.is_some() == map.occupied.is_empty() || found.is_some_and(|n| *n != number) {
                return Err(format!("map {number} has a wrong name"));
            }
            if map.tiles.len() != map.occupied.len() {
                return Err(format!("map {number} lists other tiles than it looks up"));
            }
            let mut len = 0;
            for (place, column) in (0_u32..).zip(&map.occupied) {
                let column = (*column, self.column(*column));
                column.1.validate()?;
                len += column.1.all().len();
                let looked_up = map.tiles.get(&column.1.tile) == Some(&column.0);
                if !looked_up || column.1.listed_at != place || column.1.is_empty() {
                    return Err(format!("map {number} lost tile {}", column.1.tile));
                }
            }
            if len != map.len {
                return Err(format!("map {number} counts {} of {len}", map.len));
            }
        }
        Ok(())
    }
}
