//! Connect tokens: made by a login service, carried by a client, opened by a server.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use thiserror::Error;

use super::TokenKey;
use crate::server::Identity;
use crate::wire::Reader;

/// How long a token is good for at most.
pub const MAX_TOKEN_LIFE: Duration = Duration::from_secs(30);

/// Servers that one token may name.
pub const MAX_SERVERS: usize = 8;

/// Bytes of the longest token.
pub const MAX_TOKEN: usize = 256;

const VERSION: u8 = 1;
const NONCE: usize = 24;
const CONTEXT: &[u8] = b"nebula connect token";

/// What a token says, once its seal was opened.
///
/// A token is a version byte, 24 random bytes, and the sealed rest: client, expiry and servers,
/// by XChaCha20-Poly1305. The protocol is part of what the seal covers. Times are Unix
/// milliseconds, since two machines must agree on them.
///
/// ```
/// use nebula_multiplayer::auth::{ConnectToken, TokenError, TokenKey};
///
/// let key = TokenKey::from_bytes([7; 32]);
/// let servers = vec!["[::1]:4433".parse().unwrap()];
/// let token = ConnectToken { client: 42, expires_ms: 1_000_000, servers };
/// let bytes = token.seal(&key, 3).unwrap();
/// assert_eq!(ConnectToken::open(&bytes, &key, 3).unwrap().0, token);
/// assert_eq!(ConnectToken::open(&bytes, &key, 4), Err(TokenError::Unreadable), "other protocol");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectToken {
    /// The account's number, below 2^63.
    pub client: u64,
    /// The last moment it is good for, in Unix milliseconds.
    pub expires_ms: u64,
    /// The addresses it is good for, as clients see them: one to [`MAX_SERVERS`]. Servers do not ask
    /// each other, so that each of them takes it once: name one where that matters.
    pub servers: Vec<SocketAddr>,
}

/// By what a used token is known again.
pub(super) type TokenId = [u8; NONCE];

impl ConnectToken {
    /// Returns the bytes that a client shows to a server of `protocol`, a number that both agree on.
    ///
    /// # Errors
    /// [`TokenError`] if it names no server or too many, if the account's number is too large, or if
    /// the system has no randomness.
    pub fn seal(&self, key: &TokenKey, protocol: u64) -> Result<Vec<u8>, TokenError> {
        if self.servers.is_empty() || self.servers.len() > MAX_SERVERS {
            return Err(TokenError::Servers(self.servers.len()));
        }
        self.check_account()?;
        self.sealed(key, protocol)
    }

    /// Seals whatever it says.
    pub(super) fn sealed(&self, key: &TokenKey, protocol: u64) -> Result<Vec<u8>, TokenError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| TokenError::NoRandomness)?;
        let mut plain = Vec::with_capacity(MAX_TOKEN);
        plain.extend_from_slice(&self.client.to_le_bytes());
        plain.extend_from_slice(&self.expires_ms.to_le_bytes());
        plain.push(u8::try_from(self.servers.len()).unwrap_or(u8::MAX));
        for server in &self.servers {
            match server.ip() {
                IpAddr::V4(ip) => {
                    plain.push(4);
                    plain.extend_from_slice(&ip.octets());
                }
                IpAddr::V6(ip) => {
                    plain.push(6);
                    plain.extend_from_slice(&ip.octets());
                }
            }
            plain.extend_from_slice(&server.port().to_le_bytes());
        }
        let payload = Payload {
            msg: &plain,
            aad: &context(protocol),
        };
        let sealed = cipher(key)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| TokenError::Unreadable)?;
        let mut token = vec![VERSION];
        token.extend_from_slice(&nonce);
        token.extend_from_slice(&sealed);
        Ok(token)
    }

    /// Returns what a token says, and by what it is known again when it is used twice.
    ///
    /// Costs the same for every token of a length: the seal is compared in constant time, and
    /// nothing is read before it was.
    ///
    /// # Errors
    /// [`TokenError::Unreadable`] for anything that was not sealed by this key for this protocol.
    pub fn open(
        token: &[u8],
        key: &TokenKey,
        protocol: u64,
    ) -> Result<(Self, [u8; 24]), TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Unreadable);
        }
        let mut reader = Reader::new(token);
        let unreadable = |_| TokenError::Unreadable;
        if reader.u8().map_err(unreadable)? != VERSION {
            return Err(TokenError::Unreadable);
        }
        let nonce: TokenId = reader.array().map_err(unreadable)?;
        let payload = Payload {
            msg: reader.rest(),
            aad: &context(protocol),
        };
        let plain = cipher(key)
            .decrypt(&XNonce::from(nonce), payload)
            .map_err(|_| TokenError::Unreadable)?;
        let mut reader = Reader::new(&plain);
        let token = Self::read(&mut reader).map_err(unreadable)?;
        reader.finish().map_err(unreadable)?;
        Ok((token, nonce))
    }

    /// Refuses an account that no server takes.
    pub(super) const fn check_account(&self) -> Result<(), TokenError> {
        if self.client < Identity::FIRST_ANONYMOUS {
            Ok(())
        } else {
            Err(TokenError::Account(self.client))
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, crate::wire::DecodeError> {
        let (client, expires_ms) = (reader.u64()?, reader.u64()?);
        let count = reader.length("the list of servers", MAX_SERVERS)?;
        let mut servers = Vec::with_capacity(count);
        for _ in 0..count {
            let ip = match reader.u8()? {
                4 => IpAddr::from(reader.array::<4>()?),
                6 => IpAddr::from(reader.array::<16>()?),
                value => {
                    return Err(crate::wire::DecodeError::Unknown {
                        what: "address family",
                        value: value.into(),
                    });
                }
            };
            servers.push(SocketAddr::new(ip, reader.u16()?));
        }
        Ok(Self {
            client,
            expires_ms,
            servers,
        })
    }
}

/// What the seal covers besides the token's own bytes.
fn context(protocol: u64) -> Vec<u8> {
    let mut context = CONTEXT.to_vec();
    context.push(VERSION);
    context.extend_from_slice(&protocol.to_le_bytes());
    context
}

/// The cipher wipes its copy of the key when it is dropped.
fn cipher(key: &TokenKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.bytes().into())
}

/// Why a token was not made or not taken. Clients are told none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Not a token, changed on its way, or sealed by another key or for another protocol.
    #[error("the token was not sealed by our key for our protocol")]
    Unreadable,
    /// Its time is over, or it would be good for longer than any token may be.
    #[error("the token is over, or good for longer than {} s", MAX_TOKEN_LIFE.as_secs())]
    Expired,
    /// It names other servers.
    #[error("the token is for another server")]
    OtherServer,
    /// It was used before.
    #[error("the token was used before")]
    Used,
    /// No more tokens can be remembered.
    #[error("too many tokens were used within {} s", MAX_TOKEN_LIFE.as_secs())]
    TooMany,
    /// The account's number is reserved.
    #[error("account {0} is out of range; give a number below 2^63")]
    Account(u64),
    /// A token names one to eight servers.
    #[error("a token names 1 to {MAX_SERVERS} servers, not {0}")]
    Servers(usize),
    /// The system's source of randomness failed.
    #[error("the system has no source of randomness")]
    NoRandomness,
}
