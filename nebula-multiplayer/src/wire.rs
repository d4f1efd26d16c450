//! Bytes: a reader that cannot panic, writers, and the codec of values.
//!
//! Everything a peer sends goes through [`Reader`], which knows how much is left and never reads
//! past it. Integers of varying size are canonical: each number has exactly one spelling, and a
//! longer one is refused. Values of game types are written by [`encode`] and read by [`decode`],
//! whose bytes are postcard's; reading is bounded in depth, in elements and in memory.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod codec;
mod de;
mod error;
mod reader;
mod ser;
mod text;
mod writer;

pub use codec::{Codec, MAX_DEPTH, MAX_ELEMENTS, decode, encode};
pub use error::{DecodeError, EncodeError};
pub use reader::Reader;
pub use text::{check_text, printable};
pub use writer::{put_bytes, put_text, put_varint, varint_len};
