//! Who is near this position? Exact spatial indexes over a universe of 2^128 millimetres per axis.

mod entity;
mod hash_map;
mod id;
mod linear;
mod planet;
mod query;
mod region;
mod sector;
mod tiles;
mod tree;

pub use entity::{EntityId, SpatialEntity, SpatialEntityMut};
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
pub use tiles::{
    Collider, Elevation, ElevationError, ElevationRules, EntityPositions, ReindexReport, Tile,
    TileIndex, TileKind, TilePosition, TileRange,
};
pub use tree::{BatchReport, Changes, Mark, MemoryReport, SpatialIndex};
