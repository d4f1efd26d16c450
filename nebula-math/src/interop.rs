//! Optional trait implementations, one file per feature.

#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "proptest")]
pub mod proptest;
#[cfg(feature = "serde")]
mod serde;
