//! Replication: what changed, encoded once, for whom it matters.
//!
//! ```text
//! Replicate --ids--> NetworkId --interest--> view --enter/leave--> slots of each client
//! changed components --encoded once--> shared store --subscribers--> due lists --bodies--> datagrams
//! ```
//!
//! An entity takes part with the marker [`Replicate`]; a component does when its [`Kind`] is
//! registered. Only entities that somebody sees are encoded, a changed value with equal bytes is not
//! sent, and a body is built when it is sent: queues hold slots, never copied state, and each record
//! passes a gate that asks the client's view at that moment.
//!
//! Everything is state that is sent once, and again if its packet was lost: enter, leave, components,
//! cells. No packet depends on another one having arrived, except through what was acknowledged.

mod ack;
mod admit;
mod adopt;
mod body;
mod dirty;
mod erased;
mod gate;
mod history;
mod ids;
mod mark;
mod plan;
pub(crate) mod position;
pub(crate) mod record;
mod reference;
mod registry;
mod replicator;
mod scan;
mod settings;
mod stats;
mod store;
pub(crate) mod stream;
mod subscribers;
pub(crate) mod viewer;
pub(crate) mod viewhash;
mod write;

pub(crate) use erased::Staged;
pub use ids::{IdChanges, NetworkIds, Removed, Replicate};
pub use plan::staleness_bound;
pub use record::{DespawnReason, Record, Records};
pub use reference::{MAX_REFERENCES, NetRef, References};
pub use registry::{Kind, KindError, Kinds, MAX_COMPONENT_BYTES, MAX_KINDS, MAX_STREAM_BYTES};
pub(crate) use replicator::Replicator;
pub(crate) use scan::each_changed;
pub use settings::ReplicationSettings;
pub use stats::ReplicationStats;

#[cfg(test)]
mod tests;
