//! Why bytes were refused, and why a value cannot be written.

use thiserror::Error;

/// Why bytes from a peer were refused.
///
/// A peer that sends such bytes is either broken or hostile: its connection ends.
///
/// ```
/// use nebula_multiplayer::wire::{DecodeError, Reader};
///
/// let error = Reader::new(&[0x80, 0x00]).varint().unwrap_err();
/// assert_eq!(error, DecodeError::NonCanonical);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end inside a value.
    #[error("the bytes end early: {needed} more needed, {left} left")]
    Truncated {
        /// Bytes that the value still needs.
        needed: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// Bytes follow the last value.
    #[error("{0} bytes follow the end of the message")]
    Trailing(usize),
    /// A number is spelled with more bytes than it needs.
    #[error("a number is spelled with more bytes than it needs")]
    NonCanonical,
    /// A number does not fit its type.
    #[error("{what} does not fit: a number is out of range")]
    OutOfRange {
        /// What the number stands for.
        what: &'static str,
    },
    /// A discriminant that this version does not know.
    #[error("unknown {what}: {value}")]
    Unknown {
        /// What was being read.
        what: &'static str,
        /// The value found.
        value: u64,
    },
    /// A length or count over its cap.
    #[error("{what} is too long: {len}, at most {max} is allowed")]
    TooLong {
        /// What was being read.
        what: &'static str,
        /// The length found.
        len: u64,
        /// The cap.
        max: u64,
    },
    /// Text that is not UTF-8 or holds control or invisible characters.
    #[error("{what} is not plain text")]
    BadText {
        /// What was being read.
        what: &'static str,
    },
    /// A float that is infinite or not a number.
    #[error("a float is infinite or not a number")]
    NonFinite,
    /// Values nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("values are nested too deeply")]
    TooDeep,
    /// A type that is not allowed on the wire: maps, and lists of values without bytes.
    #[error("{0} are not allowed on the wire")]
    Forbidden(&'static str),
    /// Something that this peer may not send, or not now.
    #[error("not allowed here: {0}")]
    NotAllowed(&'static str),
    /// An id that is not there, or not the sender's. Both say the same, on purpose.
    #[error("no such entity")]
    NoSuchEntity,
    /// Whatever else a value's own reader objects to.
    #[error("bad value: {0}")]
    Invalid(String),
}

/// Why a value cannot be written.
///
/// ```
/// use nebula_multiplayer::wire::{EncodeError, encode};
///
/// let mut out = Vec::new();
/// assert_eq!(encode(&f32::NAN, &mut out), Err(EncodeError::NonFinite));
/// assert!(out.is_empty(), "a refused value leaves no bytes behind");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A float that is infinite or not a number.
    #[error("a float is infinite or not a number")]
    NonFinite,
    /// Values nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("values are nested too deeply")]
    TooDeep,
    /// A type that is not allowed on the wire: maps, and lists without a known length.
    #[error("{0} are not allowed on the wire")]
    Forbidden(&'static str),
    /// More elements or bytes than a reader would accept.
    #[error("{what} is too long: {len}, at most {max} is allowed")]
    TooLong {
        /// What was written.
        what: &'static str,
        /// Its length.
        len: u64,
        /// The cap.
        max: u64,
    },
    /// Whatever else the value's own `Serialize` objects to.
    #[error("bad value: {0}")]
    Invalid(String),
}
