//! What every comparison with other libraries shares: the clock, the counting allocator, the command
//! line, seeded numbers, a scene of walkers, and reports as text, JSON, a page and charts.
//!
//! One comparison is one binary of this package. `cargo xtask bench NAME` builds and starts it.

pub mod alloc;
pub mod clock;
pub mod flags;
pub mod machine;
pub mod random;
pub mod report;
pub mod run;
pub mod scene;
