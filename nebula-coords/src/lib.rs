//! Who is near this position? Exact spatial indexes over a universe of 2^128 millimetres per axis.

mod linear;
mod query;
mod region;

pub use linear::LinearIndex;
pub use query::SpatialQuery;
pub use region::{Metric, Region};
