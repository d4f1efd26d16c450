//! A server and its clients over real QUIC endpoints, on a simulated network in virtual time.

mod chaos;
mod guest;
mod host;
mod net;
pub(crate) mod run;
mod socket;
