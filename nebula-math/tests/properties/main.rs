//! Every arithmetic and geometric function against big integers, at the edges of `i128`.
//!
//! Each property runs 2,000 cases from a fixed seed. `PROPTEST_CASES=1000000` runs more, and
//! `PROPTEST_RNG_SEED` other ones; a failure prints its smallest input.

mod aabb;
mod bits;
mod blame;
mod config;
mod convert;
mod families;
mod lossy;
mod metric;
mod position;
mod text;
mod twin;
mod vector;
mod wide;
