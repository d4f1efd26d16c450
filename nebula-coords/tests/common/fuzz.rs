//! `index_ops`: any bytes become operations over every index.

use nebula_coords::{LinearIndex, SpatialIndex};

use super::adapters::HashMap;
use super::grids::{DefaultGrid, DefaultSorted};
use super::index::TestIndex;
use super::ops::{self, Size};
use super::source::Bytes;

/// Small enough for thousands of runs a second, large enough that crowds split leaves.
const SIZE: Size = Size {
    ops: 64,
    ids: 1_600,
    crowd: 1_000,
    large_one_in: 8,
};

/// Reads the bytes as operations and runs them on every index; panics where one is wrong.
pub(crate) fn index_ops(data: &[u8]) {
    // Big integers check the twin once, as an index of its own.
    check::<LinearIndex<u32>>(data, 12);
    check::<SpatialIndex<u32>>(data, 0);
    check::<DefaultGrid>(data, 0);
    check::<DefaultSorted>(data, 0);
    check::<HashMap>(data, 0);
}

fn check<X: TestIndex>(data: &[u8], oracle_up_to: usize) {
    ops::run::<X>(&mut Bytes(data), SIZE, oracle_up_to, 8);
}
