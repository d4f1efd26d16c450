//! `TileIndex`: who stands where on tile maps, and the service that systems share.

mod column;
mod edit;
mod place;
mod range;
mod reindex;
mod rules;
mod service;
mod validate;

pub use place::{Elevation, ElevationError, Tile, TilePosition, TileRange};
pub use reindex::ReindexReport;
pub use rules::{ElevationRules, TileKind};
pub use service::{Collider, EntityPositions};

use core::hash::Hash;
use core::ops::ControlFlow;
use std::collections::HashMap;

use column::Column;

/// Who stands where on any number of tile maps, each with 16 floors.
///
/// An exact tile, and a tile on any floor, are one hash lookup and come back as a slice. A move is
/// visible to the next question, so two movers cannot both find a tile free. Maps are independent
/// spaces; ids are unique across all of them. Map names are cloned when a map is first stood on, so
/// prefer numbers or shared strings.
///
/// Hash maps with the standard library's keyed hasher only look things up: the same operations
/// give the same answers in the same order in every run.
///
/// ```
/// use nebula_coords::{Elevation, Tile, TileIndex, TilePosition};
///
/// let mut index = TileIndex::new();
/// let (ground, roof) = (Elevation::GROUND, Elevation::new(3)?);
/// index.insert("baker", &"town", TilePosition::new(-4, 7, ground));
/// index.insert("stork", &"town", TilePosition::new(-4, 7, roof));
/// assert_eq!(index.query_at(&"town", TilePosition::new(-4, 7, roof)), ["stork"]);
/// assert_eq!(index.query_at_any_elevation(&"town", Tile::new(-4, 7)), ["baker", "stork"]);
/// assert!(index.query_at(&"cellar", TilePosition::new(-4, 7, roof)).is_empty());
/// # Ok::<(), nebula_coords::ElevationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TileIndex<I, M> {
    /// Where each id is; freed entries stay in place and are listed in `free_entries`.
    entries: Vec<Entry<I>>,
    free_entries: Vec<u32>,
    handles: HashMap<I, u32>,
    /// The tiles of all maps; freed ones keep their buffers and are listed in `free_columns`.
    columns: Vec<Column<I>>,
    free_columns: Vec<u32>,
    maps: Vec<MapTiles<M>>,
    free_maps: Vec<u32>,
    map_numbers: HashMap<M, u32>,
    /// Counts re-indexings, to tell who was not named in the last one.
    frame: u64,
}

/// Where one id is.
#[derive(Clone, Copy, Debug)]
struct Entry<I> {
    id: I,
    map: u32,
    column: u32,
    slot: u32,
    elevation: Elevation,
    seen: u64,
    live: bool,
}

/// The occupied tiles of one map.
#[derive(Clone, Debug)]
struct MapTiles<M> {
    /// The map's name; `None` while nothing stands on it and the record waits for reuse.
    key: Option<M>,
    tiles: HashMap<Tile, u32>,
    /// The columns in `tiles`, in an order that no hash decides.
    occupied: Vec<u32>,
    len: usize,
}

impl<I, M> Default for TileIndex<I, M> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            free_entries: Vec::new(),
            handles: HashMap::new(),
            columns: Vec::new(),
            free_columns: Vec::new(),
            maps: Vec::new(),
            free_maps: Vec::new(),
            map_numbers: HashMap::new(),
            frame: 0,
        }
    }
}

impl<I: Copy + Eq + Hash, M: Clone + Eq + Hash> TileIndex<I, M> {
    /// Makes an index in which nothing stands anywhere.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many ids are stored, on all maps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Returns whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Returns how many ids are on one map.
    #[must_use]
    pub fn len_of_map(&self, map: &M) -> usize {
        self.map(map).map_or(0, |map| map.len)
    }

    /// Returns whether an id is stored.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.handles.contains_key(&id)
    }

    /// Returns the map and place of an id.
    #[must_use]
    pub fn get(&self, id: I) -> Option<(&M, TilePosition)> {
        let entry = self.entry(*self.handles.get(&id)?);
        let map = self.maps[entry.map as usize].key.as_ref();
        let map = map.expect("a map with things on it keeps its name");
        Some((map, self.position_of(entry)))
    }

    /// Returns everything exactly on a tile and floor, as a slice of the index.
    #[must_use]
    pub fn query_at(&self, map: &M, at: TilePosition) -> &[I] {
        self.column_at(map, at.tile)
            .map_or(&[], |column| column.floor(at.elevation))
    }

    /// Returns everything on a tile, lowest floor first, as a slice of the index.
    #[must_use]
    pub fn query_at_any_elevation(&self, map: &M, tile: Tile) -> &[I] {
        self.column_at(map, tile).map_or(&[], Column::all)
    }

    fn map(&self, map: &M) -> Option<&MapTiles<M>> {
        let number = self.map_numbers.get(map)?;
        Some(&self.maps[*number as usize])
    }

    fn column_at(&self, map: &M, tile: Tile) -> Option<&Column<I>> {
        let column = self.map(map)?.tiles.get(&tile)?;
        Some(self.column(*column))
    }

    fn column(&self, number: u32) -> &Column<I> {
        &self.columns[number as usize]
    }

    fn entry(&self, handle: u32) -> &Entry<I> {
        &self.entries[handle as usize]
    }

    fn position_of(&self, entry: &Entry<I>) -> TilePosition {
        self.column(entry.column).tile.at(entry.elevation)
    }
}

impl<I: Copy + Eq + Hash, M: Clone + Eq + Hash> EntityPositions for TileIndex<I, M> {
    type Id = I;
    type Map = M;

    fn query_at(&self, map: &M, at: TilePosition) -> &[I] {
        self.query_at(map, at)
    }

    fn query_at_any_elevation(&self, map: &M, tile: Tile) -> &[I] {
        self.query_at_any_elevation(map, tile)
    }

    fn visit_range(
        &self,
        map: &M,
        range: &TileRange,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.visit_range(map, range, f)
    }
}
