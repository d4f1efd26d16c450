//! Who is near this position? Exact spatial indexes over a universe of 2^128 millimetres per axis.
//!
//! ```
//! use nebula_coords::nebula_math::WorldPosition;
//! use nebula_coords::{Region, SpatialIndex, SpatialQuery};
//!
//! let mut index = SpatialIndex::new();
//! index.insert(7_u32, WorldPosition::new(-300, 400, 0));
//! index.insert(8, WorldPosition::new(1 << 120, 0, 0));
//!
//! // All within half a metre; the boundary belongs to the ball.
//! assert_eq!(index.query_radius(&WorldPosition::ORIGIN, 500), [7]);
//! // How many in the whole universe, whatever the distance.
//! assert_eq!(index.count(&Region::ball(WorldPosition::ORIGIN, i128::MAX)), 2);
//! ```
//!
//! # Which index
//!
//! | type | pick it for |
//! |---|---|
//! | [`SpatialIndex`] | ids and positions, any density, any radius: the default, with nothing to tune |
//! | [`SpatialHashMap`] | your own values, kept sector by sector, found through the same tree |
//! | [`SpatialGrid`] | one known query radius: uniform cells of a size you choose |
//! | [`SortedIndex`] | everything moves every step, and overlapping pairs are wanted |
//! | [`TileIndex`] | maps of tiles with elevations, distances counted in steps |
//! | [`LinearIndex`] | a handful of points, or checking another index: the slow twin |
//!
//! All but [`TileIndex`] answer the questions of [`SpatialQuery`] about a [`Region`]: a ball in one
//! of three metrics, a box, the space a sphere sweeps. [`QueryCache`] and [`Measured`] wrap any of
//! them, to reuse answers within a tick and to see what is asked.
//!
//! # Promises
//!
//! Every answer is exact for every `i128` position and every radius. Its order is a function of the
//! operations that built the index, never of a hash or a thread. Visiting a region and collecting
//! into a buffer allocate nothing. A query costs what is stored, never what its radius could hold.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `bevy_ecs` | spaces kept up to date from components, and the `Nearby` system parameter |
//! | `bevy_app` | the plugin that wires them up |
//! | `hashbrown` | `hashbrown` in place of the standard library's map in [`SpatialHashMap`] |
//! | `rayon` | large batches of moves on several threads, with the same outcome |
//! | `serde` | keys, positions and snapshots that restore the same order of answers |

mod cache;
mod entity;
mod grid;
mod hash_map;
mod id;
mod linear;
mod nearest;
mod planet;
mod query;
mod region;
mod sector;
mod sorted;
mod stats;
mod store;
mod tiles;
mod tree;

pub use cache::QueryCache;
pub use entity::{EntityId, SpatialEntity, SpatialEntityMut};
pub use grid::{CellKey, CellSizeError, SpatialGrid};
pub use hash_map::SpatialHashMap;
pub use id::DenseId;
pub use linear::LinearIndex;
// Positions are part of this API, so a dependant needs no second line in its manifest.
pub use nebula_math;
pub use planet::{CubeFace, FaceCoord, Planet, PlanetError};
pub use query::SpatialQuery;
pub use region::{Metric, Region};
pub use sector::{
    SECTOR_BITS, SECTOR_SIZE_MM, SectorCoord, SectorIndex, SectorKey, SectorNeighbors,
    SectorOffset, SectorRangeError,
};
pub use sorted::{PairScratch, Particle, SortedIndex};
pub use stats::{Measured, Occupancy, QueryStats, StatsSummary};
pub use store::SpatialStore;
pub use tiles::{
    Collider, Elevation, ElevationError, ElevationRules, EntityPositions, ReindexReport, Tile,
    TileIndex, TileKind, TilePosition, TileRange,
};
pub use tree::{BatchReport, Changes, Mark, MemoryReport, SpatialIndex};
