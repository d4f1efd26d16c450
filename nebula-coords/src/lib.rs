//! Who is near this position? Exact spatial indexes over a universe of 2^128 millimetres per axis.

mod id;
mod linear;
mod query;
mod region;
mod tree;

pub use id::DenseId;
pub use linear::LinearIndex;
pub use query::SpatialQuery;
pub use region::{Metric, Region};
pub use tree::{BatchReport, Changes, Mark, SpatialIndex};
