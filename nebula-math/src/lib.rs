//! Exact 128-bit geometry: points, displacements, boxes and distances that never round.
//!
//! A position is three `i128` millimetres, on axes of some 36 quintillion light years. Every
//! comparison of distances is exact for **every** input: differences that need 129 bits and squares
//! that need 258 are kept whole.
//!
//! ```
//! use nebula_math::{IVec3_128, WorldPosition};
//!
//! let ship = WorldPosition::new(i128::MAX, 0, 0);
//! let buoy = ship - IVec3_128::new(300, 400, 0);
//! assert!(ship.is_within(&buoy, 500));
//! assert!(!ship.is_within(&buoy, 499));
//! assert_eq!(ship.offset_to(&WorldPosition::MIN), None); // needs 129 bits
//! ```
//!
//! | to have | take |
//! |---|---|
//! | a place | [`WorldPosition`]; the difference of two is a displacement |
//! | a step or a velocity | [`IVec3_128`], with all overflow families |
//! | a region | [`Aabb128`], whose boundary belongs to it |
//! | a squared distance, a dot product | [`U384`], [`I384`] |
//! | millimetre constants, metres | [`units`] |
//!
//! # Overflow
//!
//! Plain operators panic on overflow in every build profile, also where a dependant turns overflow
//! checks off, and so do `abs`, `div_euclid` and `rem_euclid`. `checked_`, `saturating_`, `wrapping_`
//! and `overflowing_` forms say what they do. Nothing else panics, but for division by zero where a
//! `# Panics` section says so.
//!
//! # Floats
//!
//! Exact values become floats only in functions named `*_lossy`, relative to an origin, rounded
//! once. Metres come in through [`WorldPosition::from_meters`] and [`units`], rounded once to the
//! nearest millimetre; what cannot be held is an error that names the value.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | square roots from the standard library; without it `libm` takes them |
//! | `serde` | | `Serialize` and `Deserialize` for every type of values |
//! | `glam` | | conversions to and from glam's vectors |
//! | `bevy_ecs` | | [`WorldPosition`] as a component |
//! | `proptest` | | `strategies`: coordinates drawn from the extremes |
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
