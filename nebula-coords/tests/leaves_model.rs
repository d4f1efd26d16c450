//! The sequences of `model.rs` with crowds larger than leaves are, so that the narrow ones split and merge as well.
//!
//! `NEBULA_MODEL_SEQUENCES` sets how many run for each index.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::adapters::HashMap;
use common::index::TestIndex;
use common::ops::{self, Size};
use common::source::Seeded;
use nebula_coords::SpatialIndex;

const SEQUENCES: u64 = 300;

const SIZE: Size = Size {
    ops: 60,
    ids: 2_100,
    crowd: 1_200,
    large_one_in: 1,
};

fn model<X: TestIndex>() {
    let sequences = std::env::var("NEBULA_MODEL_SEQUENCES")
        .map_or(SEQUENCES, |n| n.parse().expect("a number of sequences"));
    for seed in 0..sequences {
        ops::run::<X>(&mut Seeded(seed), SIZE, 0, 4);
    }
}

#[test]
fn spatial_index() {
    model::<SpatialIndex<u32>>();
}

#[test]
fn spatial_hash_map() {
    model::<HashMap>();
}
