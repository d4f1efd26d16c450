//! The fuzz targets: functions that take any bytes, and panic when an index is wrong.
//!
//! The reader of bytes and the checks live beside the plain tests of each crate, so that the corpus
//! replays there without any of this.

#[allow(dead_code, reason = "the plain tests use the rest")]
#[path = "../../../nebula-coords/tests/common/mod.rs"]
mod common;

mod mutate;

pub use mutate::{Mutator, fingerprint};

/// A target: its name, and what runs one input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target of this crate.
pub const TARGETS: &[Target] = &[("index_ops", index_ops)];

/// Reads the bytes as operations and runs them on every index, each checked against the slow twin.
pub fn index_ops(data: &[u8]) {
    common::fuzz::index_ops(data);
}
