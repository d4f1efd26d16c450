//! Who is near this position? Exact spatial indexes over a universe of 2^128 millimetres per axis.
//!
mod cache;
#[cfg(feature = "bevy_ecs")]
mod ecs;
mod entity;
mod grid;
mod hash_map;
mod id;
mod linear;
mod nearest;
mod order;
mod planet;
mod query;
mod radix;
mod region;
mod runs;
mod sector;
mod sorted;
mod stats;
mod store;
mod tiles;
mod tree;

pub use cache::QueryCache;
#[cfg(feature = "bevy_app")]
pub use ecs::SpatialPlugin;
#[cfg(feature = "bevy_ecs")]
pub use ecs::{Nearby, NebulaSystems, SpaceReport, SpatialSpace, SpatialWorld, spatial_systems};
pub use entity::{EntityId, SpatialEntity, SpatialEntityMut};
pub use grid::{CellKey, CellSizeError, SpatialGrid};
pub use hash_map::SpatialHashMap;
pub use id::DenseId;
pub use linear::LinearIndex;
pub use order::spatial_order;
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
