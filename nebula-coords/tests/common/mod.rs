//! What the test binaries of this crate share: a seeded generator, the big-integer oracle, one face
//! for every index, and random operations checked against the slow twin.
//!
//! The fuzz crate includes this module too, so that a fuzz input and a model sequence are read,
//! run and checked by the same code.

pub(crate) mod adapters;
pub(crate) mod coords;
pub(crate) mod entity;
pub(crate) mod fuzz;
pub(crate) mod grids;
pub(crate) mod index;
pub(crate) mod ops;
pub(crate) mod oracle;
pub(crate) mod source;
