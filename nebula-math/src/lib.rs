//! Exact 128-bit geometry: points, displacements, boxes and distances that never round.
//!
//! A position is three `i128` millimetres. Every comparison of distances is exact for **every**
//! input: differences that need 129 bits and squares that need 258 are kept whole.
//!
//! ```
//! use nebula_math::WorldPosition;
//!
//! let ship = WorldPosition::new(i128::MAX, 0, 0);
//! let buoy = WorldPosition::new(i128::MAX - 300, -400, 0);
//! assert!(ship.is_within(&buoy, 500));
//! assert!(!ship.is_within(&buoy, 499));
//! ```
#![no_std]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

#[cfg(feature = "std")]
extern crate std;

mod aabb;
mod error;
mod interop;
mod lossy;
mod position;
mod text;
pub mod units;
mod vector;
mod wide;

pub use aabb::Aabb128;
pub use error::{AabbError, MetersError, NarrowError};
#[cfg(feature = "proptest")]
pub use interop::proptest as strategies;
pub use position::WorldPosition;
pub use text::ParseError;
pub use vector::IVec3_128;
pub use wide::{I384, U384};
