//! `SpatialGrid`: uniform cells of a chosen size, kept by hash.
//!
//! Cells are half-open cubes `[k * cell, (k + 1) * cell)` on every axis, right for negative
//! coordinates and clipped at the ends of the universe. Only cells that hold something exist.

mod cells;
mod edit;
mod inspect;
mod query;

use core::fmt;
use core::hash::{BuildHasher, Hash};
use std::collections::HashMap;
use std::hash::RandomState;

use nebula_math::WorldPosition;

pub use cells::CellKey;
pub(crate) use cells::CellRange;

/// The cell size of [`SpatialGrid::default`]: 10 m.
const DEFAULT_CELL_MM: i128 = 10_000;

/// Ids and positions in uniform cells of a chosen size, in space or on a plane.
///
/// Choose a cell about as large as the usual query radius. The grid wins where one such size exists;
/// where radii or densities differ a lot, [`SpatialIndex`](crate::SpatialIndex) needs no size.
///
/// * Insert, update and remove cost O(1), whatever a cell holds. A move inside a cell writes one
///   position.
/// * A query costs the cells that its box touches plus what they hold, and never more than one look
///   at each occupied cell: any radius ends soon.
/// * Exact queries ([`SpatialQuery`](crate::SpatialQuery), [`query_radius`](Self::query_radius))
///   filter by distance; [candidate](Self::candidates) queries hand over whole cells unfiltered.
/// * A grid made by [`new_2d`](Self::new_2d) ignores `z` when it picks a cell, so each cell is a
///   column. Positions keep their `z`, and exact queries still measure in space.
///
/// **Order.** A query whose box touches no more cells than are occupied walks them in row-major order
/// (by z, then y, then x); a wider one walks the occupied cells in the order of the grid's own list: a
/// new cell joins at the end, and the last one takes the place of a cell that became empty. In a cell,
/// ids follow the same rule. So the order is a function of the operations and never of the hash.
///
/// ```
/// use nebula_coords::{Region, SpatialGrid, SpatialQuery};
/// use nebula_math::WorldPosition;
///
/// let mut grid = SpatialGrid::new(10_000)?;
/// grid.insert(1_u32, WorldPosition::new(-1, 0, 0)); // the cell left of the origin
/// grid.insert(2, WorldPosition::new(9_999, 0, 0));
/// grid.insert(3, WorldPosition::new(10_000, 0, 0)); // the next cell
/// assert_eq!(grid.occupied_cells(), 3);
/// assert_eq!(grid.query_radius(&WorldPosition::ORIGIN, 9_999), [1, 2]);
/// assert_eq!(grid.count(&Region::ball(WorldPosition::ORIGIN, i128::MAX)), 3);
/// # Ok::<(), nebula_coords::CellSizeError>(())
/// ```
///
/// # Moving a scan over to the grid
///
/// Code that looks at every entity and keeps the near ones (predators, hunters, animal brains, social
/// rules, any behaviour of your own) changes in one of two ways. Both read the shared index, so any
/// number of systems ask the same grid in the same tick.
///
/// **Simple proximity.** The loop over everything becomes one exact query; ids come back, and the
/// caller fetches the components that it needs. No second distance check is necessary.
///
/// ```
/// use nebula_coords::SpatialGrid;
/// use nebula_math::WorldPosition;
/// use std::collections::HashMap;
///
/// struct Agent { hungry: bool }
/// let agents = HashMap::from([(1_u32, Agent { hungry: true }), (2, Agent { hungry: false })]);
/// let mut grid = SpatialGrid::default();
/// grid.insert(1, WorldPosition::new(-4_000, 0, 0));
/// grid.insert(2, WorldPosition::new(-5_000, 0, 0));
///
/// let near = grid.query_radius(&WorldPosition::ORIGIN, 15_000);
/// let prey: Vec<u32> = near.into_iter().filter(|id| !agents[id].hungry).collect();
/// assert_eq!(prey, [2]);
/// ```
///
/// **Working arrays.** A system that asks many times keeps its own buffer and lends it to every
/// query: nothing is allocated once the buffer has grown. The buffer belongs to the caller, so two
/// queries inside each other never overwrite one another.
///
/// ```
/// use nebula_coords::{Region, SpatialGrid, SpatialQuery};
/// use nebula_math::WorldPosition;
///
/// struct Hunting { nearby: Vec<u32> }
/// impl Hunting {
///     fn targets(&mut self, grid: &SpatialGrid<u32>, from: WorldPosition) -> &[u32] {
///         grid.collect(&Region::ball(from, 15_000), &mut self.nearby);
///         &self.nearby
///     }
/// }
/// let mut grid = SpatialGrid::default();
/// grid.insert(7, WorldPosition::new(-1, -1, -1));
/// let mut hunting = Hunting { nearby: Vec::new() };
/// assert_eq!(hunting.targets(&grid, WorldPosition::ORIGIN), [7]);
/// ```
#[derive(Clone)]
pub struct SpatialGrid<I, S = RandomState> {
    cell_mm: i128,
    flat: bool,
    /// Which slot of `cells` a key names. Only looked up, never walked.
    slots: HashMap<CellKey, usize, S>,
    /// Where an id is. Only looked up, never walked.
    places: HashMap<I, Place, S>,
    /// Cells by slot; the empty ones wait in `vacant` with their buffers.
    cells: Vec<Cell<I>>,
    vacant: Vec<usize>,
    /// The slots of the cells that hold something, so that a wide query walks nothing else.
    occupied: Vec<usize>,
}

/// Says where in the grid an id is stored.
#[derive(Clone, Copy, Debug)]
struct Place {
    cell: usize,
    at: usize,
}

/// What one cell holds; `ids` and `positions` go together.
#[derive(Clone, Debug)]
struct Cell<I> {
    key: CellKey,
    /// This cell's place in the list of occupied cells.
    rank: usize,
    ids: Vec<I>,
    positions: Vec<WorldPosition>,
}

/// A cell size that is zero or negative.
///
/// ```
/// use nebula_coords::SpatialGrid;
///
/// let error = SpatialGrid::<u32>::new(-5).unwrap_err();
/// assert_eq!(error.to_string(), "cell size of -5 mm; give at least 1 mm");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSizeError {
    /// The size that was asked for, in millimetres.
    pub cell_mm: i128,
}

impl fmt::Display for CellSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell size of {} mm; give at least 1 mm", self.cell_mm)
    }
}

impl core::error::Error for CellSizeError {}

impl<I: Copy + Ord + Hash> Default for SpatialGrid<I> {
    /// Makes an empty grid in space with cells of 10 m.
    fn default() -> Self {
        Self::build(DEFAULT_CELL_MM, false, RandomState::new())
    }
}

impl<I: Copy + Ord + Hash> SpatialGrid<I> {
    /// Makes an empty grid of cubic cells.
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative.
    pub fn new(cell_mm: i128) -> Result<Self, CellSizeError> {
        Self::with_hasher(cell_mm, RandomState::new())
    }

    /// Makes an empty grid of square columns: `z` does not matter for cells, only for exact distances.
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative.
    ///
    /// ```
    /// use nebula_coords::{Region, SpatialGrid};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::new_2d(1_000)?;
    /// grid.insert('a', WorldPosition::new(-1, -1, 0));
    /// grid.insert('b', WorldPosition::new(-1, -1, 1 << 100));
    /// assert_eq!(grid.occupied_cells(), 1);
    /// assert_eq!(grid.query_radius(&WorldPosition::ORIGIN, 10), ['a']);
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    pub fn new_2d(cell_mm: i128) -> Result<Self, CellSizeError> {
        Self::with_hasher_2d(cell_mm, RandomState::new())
    }
}

impl<I: Copy + Ord + Hash, S: BuildHasher + Clone> SpatialGrid<I, S> {
    /// Makes an empty grid of cubic cells that hashes with `hasher`.
    ///
    /// The default hasher is keyed, so strangers who choose positions cannot make cells collide. Give
    /// a faster one only where they cannot. Results never depend on it.
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative.
    pub fn with_hasher(cell_mm: i128, hasher: S) -> Result<Self, CellSizeError> {
        check(cell_mm).map(|cell_mm| Self::build(cell_mm, false, hasher))
    }

    /// Makes an empty grid of square columns that hashes with `hasher`.
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative.
    pub fn with_hasher_2d(cell_mm: i128, hasher: S) -> Result<Self, CellSizeError> {
        check(cell_mm).map(|cell_mm| Self::build(cell_mm, true, hasher))
    }

    fn build(cell_mm: i128, flat: bool, hasher: S) -> Self {
        Self {
            cell_mm,
            flat,
            slots: HashMap::with_hasher(hasher.clone()),
            places: HashMap::with_hasher(hasher),
            cells: Vec::new(),
            vacant: Vec::new(),
            occupied: Vec::new(),
        }
    }

    /// Returns the size of a cell in millimetres.
    #[must_use]
    pub const fn cell_size_mm(&self) -> i128 {
        self.cell_mm
    }

    /// Returns whether cells are columns, that is, whether [`new_2d`](Self::new_2d) made the grid.
    #[must_use]
    pub const fn is_2d(&self) -> bool {
        self.flat
    }
}

impl<I: fmt::Debug, S> fmt::Debug for SpatialGrid<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpatialGrid")
            .field("cell_mm", &self.cell_mm)
            .field("flat", &self.flat)
            .field("len", &self.places.len())
            .field("occupied_cells", &self.occupied.len())
            .finish_non_exhaustive()
    }
}

const fn check(cell_mm: i128) -> Result<i128, CellSizeError> {
    if cell_mm > 0 {
        Ok(cell_mm)
    } else {
        Err(CellSizeError { cell_mm })
    }
}
