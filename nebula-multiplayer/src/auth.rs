//! Who stands behind a link: connect tokens, a game's own login, or anyone.
//!
//! A client's first bytes on a new link are its credentials. They are judged by a [`Login`] before
//! any session exists, within the handshake's deadline:
//!
//! - [`TokenLogin`] takes connect tokens: short-lived, good for one use, sealed by a key that only
//!   your login service and your servers know.
//! - Your own type that implements [`Login`] may ask a database or another service.
//! - [`OpenLogin`] believes everyone, for development. It says so in the log.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod key;
mod login;
mod token;
mod used;

pub use key::TokenKey;
pub use login::{Login, LoginFuture, LoginRefused, OpenLogin, TokenLogin};
pub use token::{ConnectToken, MAX_SERVERS, MAX_TOKEN, MAX_TOKEN_LIFE, TokenError};
pub use used::UsedTokens;

/// Bytes of credentials, whatever a login makes of them. Read before anything is known of a peer.
pub const MAX_CREDENTIALS: usize = 1_024;
