//! The fuzz targets: functions that take any bytes, and panic when something is wrong.
//!
//! The reader of bytes and the checks live beside the plain tests of each crate, so that the corpus
//! replays there without any of this.

#[allow(dead_code, reason = "the plain tests use the rest")]
#[path = "../../../nebula-coords/tests/common/mod.rs"]
mod common;

#[allow(dead_code, reason = "the plain tests use the rest")]
#[path = "../../../nebula-multiplayer/tests/oracle/mod.rs"]
mod oracle;

#[allow(dead_code, reason = "the plain tests use the rest")]
#[path = "../../../nebula-multiplayer/tests/strangers/mod.rs"]
mod strangers;

mod mutate;

pub use mutate::{Mutator, fingerprint};

/// A target: its name, and what runs one input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target of this crate.
pub const TARGETS: &[Target] = &[
    ("index_ops", index_ops),
    ("decode", decode),
    ("session_ops", session_ops),
    ("frame_decode", frame_decode),
    ("client_messages", client_messages),
    ("token_parse", token_parse),
];

/// Reads the bytes as operations and runs them on every index, each checked against the slow twin.
pub fn index_ops(data: &[u8]) {
    common::fuzz::index_ops(data);
}

/// Reads the bytes as what a stranger sends to a server, or a strange server to a client.
pub fn decode(data: &[u8]) {
    oracle::fuzz::decode(data);
}

/// Reads the bytes as what happens to a server and its clients, checked by the oracle throughout.
pub fn session_ops(data: &[u8]) {
    oracle::fuzz::session_ops(data);
}

/// Reads the bytes as a stream of frames, cut into pieces.
pub fn frame_decode(data: &[u8]) {
    strangers::frames::frame_decode(data);
}

/// Reads the bytes as what one client does to a server that has another.
pub fn client_messages(data: &[u8]) {
    strangers::conversation::client_messages(data);
}

/// Reads the bytes as connect tokens.
pub fn token_parse(data: &[u8]) {
    strangers::tokens::token_parse(data);
}
