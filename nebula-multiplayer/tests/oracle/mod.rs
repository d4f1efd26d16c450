//! The oracle: plain checks of everything that servers and clients promise, and the world that they
//! are checked in. It shares no code with what it checks.

pub(crate) mod age;
pub(crate) mod budget;
pub(crate) mod calm;
pub(crate) mod chaos;
pub(crate) mod client;
pub(crate) mod fuzz;
pub(crate) mod interest;
pub(crate) mod leak;
pub(crate) mod messages;
pub(crate) mod rule;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod truth;
pub(crate) mod world;
