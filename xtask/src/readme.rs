//! The examples of every README, run as doctests by `cargo test --workspace`.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod workspace {}

#[cfg(doctest)]
#[doc = include_str!("../../nebula-math/README.md")]
mod math {}

#[cfg(doctest)]
#[doc = include_str!("../../nebula-coords/README.md")]
mod coords {}

#[cfg(doctest)]
#[doc = include_str!("../../nebula-multiplayer/README.md")]
mod multiplayer {}
