//! Replication: what changed, encoded once, for whom it matters.
#![allow(dead_code, reason = "the replicator, which uses all of it, lands next")]

mod erased;
mod ids;
mod reference;
mod registry;
mod scan;

pub use ids::{IdChanges, NetworkIds, Removed, Replicate};
pub use reference::{MAX_REFERENCES, NetRef, References};
pub use registry::{Kind, KindError, Kinds, MAX_COMPONENT_BYTES, MAX_KINDS, MAX_STREAM_BYTES};
