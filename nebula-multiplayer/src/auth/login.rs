//! Judging credentials.

use core::fmt;
use core::future::Future;
use core::net::SocketAddr;
use core::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;

use super::{ConnectToken, MAX_TOKEN_LIFE, TokenError, TokenKey, UsedTokens};
use crate::server::Identity;

/// Used tokens that a server remembers: two thousand logins a second for as long as a token lives.
const USED_TOKENS: usize = 65_536;

/// The judgement of a [`Login`], once it is there.
pub type LoginFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Identity, LoginRefused>> + Send + 'a>>;

/// Says who a newcomer is, before any session exists for it.
///
/// Runs beside the game, once per connection, and is given up when the handshake's time is over. A
/// panic ends that one connection.
///
/// ```
/// use std::net::SocketAddr;
/// use nebula_multiplayer::Identity;
/// use nebula_multiplayer::auth::{Login, LoginFuture, LoginRefused};
///
/// /// Lets everyone in who knows the word, without a name.
/// #[derive(Debug)]
/// struct Password(String);
///
/// impl Login for Password {
///     fn check<'a>(&'a self, credentials: &'a [u8], _from: SocketAddr) -> LoginFuture<'a> {
///         // Ask your account service here; this is a future.
///         Box::pin(async move {
///             if credentials == self.0.as_bytes() {
///                 Ok(Identity::Anonymous)
///             } else {
///                 Err(LoginRefused::Denied("wrong password"))
///             }
///         })
///     }
/// }
/// ```
pub trait Login: Send + Sync + fmt::Debug + 'static {
    /// Returns who shows these credentials, of at most
    /// [`MAX_CREDENTIALS`](super::MAX_CREDENTIALS) bytes.
    fn check<'a>(&'a self, credentials: &'a [u8], from: SocketAddr) -> LoginFuture<'a>;

    /// Returns whether anyone gets in, which the server then says in its log.
    fn is_open(&self) -> bool {
        false
    }
}

/// Why a newcomer was not let in. For the server's counters and log; the newcomer is told nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoginRefused {
    /// The token is not good.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The game's own login said no.
    #[error("{0}")]
    Denied(&'static str),
}

/// Believes everyone: for development only.
///
/// Without credentials a newcomer is anonymous; eight bytes are the number of an account, low byte
/// first, taken at its word. Anyone can so take over anyone's session.
///
/// ```
/// use core::task::{Context, Poll, Waker};
/// use nebula_multiplayer::Identity;
/// use nebula_multiplayer::auth::{Login, OpenLogin};
///
/// let login = OpenLogin;
/// assert!(login.is_open());
/// let mut judgement = login.check(&[7, 0, 0, 0, 0, 0, 0, 0], "192.0.2.1:9".parse().unwrap());
/// let now = judgement.as_mut().poll(&mut Context::from_waker(Waker::noop()));
/// assert_eq!(now, Poll::Ready(Ok(Identity::Account(7))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenLogin;

impl OpenLogin {
    /// Returns the credentials of an account.
    ///
    /// ```
    /// use nebula_multiplayer::auth::OpenLogin;
    ///
    /// assert_eq!(OpenLogin::account(7), [7, 0, 0, 0, 0, 0, 0, 0]);
    /// ```
    #[must_use]
    pub fn account(number: u64) -> Vec<u8> {
        number.to_le_bytes().to_vec()
    }
}

impl Login for OpenLogin {
    fn check<'a>(&'a self, credentials: &'a [u8], _from: SocketAddr) -> LoginFuture<'a> {
        let identity = if credentials.is_empty() {
            Ok(Identity::Anonymous)
        } else {
            <[u8; 8]>::try_from(credentials)
                .map(|bytes| Identity::Account(u64::from_le_bytes(bytes)))
                .map_err(|_| LoginRefused::Denied("open credentials have 0 or 8 bytes"))
        };
        Box::pin(core::future::ready(identity))
    }

    fn is_open(&self) -> bool {
        true
    }
}

/// Takes connect tokens.
///
/// ```
/// use nebula_multiplayer::auth::{ConnectToken, TokenError, TokenKey, TokenLogin};
///
/// let key = TokenKey::from_bytes([7; 32]);
/// let here = "192.0.2.1:4433".parse().unwrap();
/// let login = TokenLogin::new(key.clone(), 3, vec![here]);
///
/// let token = ConnectToken { client: 42, expires_ms: 20_000, servers: vec![here] };
/// let token = token.seal(&key, 3).unwrap();
/// assert_eq!(login.check_at(&token, 10_000), Ok(42));
/// assert_eq!(login.check_at(&token, 10_001), Err(TokenError::Used), "good for one use");
/// ```
#[derive(Debug)]
pub struct TokenLogin {
    key: TokenKey,
    protocol: u64,
    addresses: Vec<SocketAddr>,
    used: Mutex<UsedTokens>,
}

impl TokenLogin {
    /// Returns a login for tokens of `protocol` that name one of these addresses: those by which
    /// clients reach this server.
    #[must_use]
    pub const fn new(key: TokenKey, protocol: u64, addresses: Vec<SocketAddr>) -> Self {
        Self {
            key,
            protocol,
            addresses,
            used: Mutex::new(UsedTokens::new(USED_TOKENS)),
        }
    }

    /// Returns the account of a token that is shown at `now_ms`, in Unix milliseconds, and marks it
    /// as used.
    ///
    /// # Errors
    /// [`TokenError`] if it is not good. It is then not marked.
    pub fn check_at(&self, token: &[u8], now_ms: u64) -> Result<u64, TokenError> {
        let (token, id) = ConnectToken::open(token, &self.key, self.protocol)?;
        let life = u64::try_from(MAX_TOKEN_LIFE.as_millis()).unwrap_or(u64::MAX);
        if token.expires_ms <= now_ms || token.expires_ms > now_ms.saturating_add(life) {
            return Err(TokenError::Expired);
        }
        if !token.servers.iter().any(|at| self.addresses.contains(at)) {
            return Err(TokenError::OtherServer);
        }
        token.check_account()?;
        // A panic elsewhere leaves the table whole: each change to it is a single step.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.note(id, token.expires_ms, now_ms)?;
        Ok(token.client)
    }
}

impl Login for TokenLogin {
    fn check<'a>(&'a self, credentials: &'a [u8], _from: SocketAddr) -> LoginFuture<'a> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.map_or(0, |t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX));
        let account = self.check_at(credentials, now);
        Box::pin(core::future::ready(
            account.map(Identity::Account).map_err(Into::into),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(client: u64, expires_ms: u64) -> ConnectToken {
        let servers = vec!["192.0.2.1:4433".parse().unwrap()];
        ConnectToken {
            client,
            expires_ms,
            servers,
        }
    }

    fn login(key: &TokenKey) -> TokenLogin {
        TokenLogin::new(key.clone(), 3, token(0, 0).servers)
    }

    #[test]
    fn a_token_of_an_account_that_no_server_takes_is_not_marked_as_used() {
        let key = TokenKey::from_bytes([7; 32]);
        let login = login(&key);
        for account in [1 << 63, u64::MAX] {
            let token = token(account, 20_000);
            let refused = Err(TokenError::Account(account));
            assert_eq!(token.seal(&key, 3), Err(TokenError::Account(account)));
            // A login service of another make seals it all the same.
            let sealed = token.sealed(&key, 3).unwrap();
            assert_eq!(login.check_at(&sealed, 10_000), refused);
            assert_eq!(login.check_at(&sealed, 10_001), refused, "still not used");
        }
        assert!(login.used.lock().unwrap().is_empty());
        let last = token((1 << 63) - 1, 20_000).seal(&key, 3).unwrap();
        assert_eq!(login.check_at(&last, 10_000), Ok((1 << 63) - 1));
    }

    #[test]
    fn a_used_token_does_not_come_back_when_the_clock_jumps_forth_and_back() {
        let key = TokenKey::from_bytes([7; 32]);
        let login = login(&key);
        let (now, hour) = (10_000_000, 3_600_000);
        let used = token(1, now + 20_000).seal(&key, 3).unwrap();
        assert_eq!(login.check_at(&used, now), Ok(1));
        // The clock is an hour ahead for a moment, in which somebody else comes: the token is
        // forgotten, being over.
        let ahead = token(2, now + hour + 20_000).seal(&key, 3).unwrap();
        assert_eq!(login.check_at(&ahead, now + hour), Ok(2));
        // Then it is right again.
        assert_eq!(
            login.check_at(&used, now + 1_000),
            Err(TokenError::Expired),
            "it was used"
        );
        assert_eq!(
            login.check_at(&ahead, now + hour + 1_000),
            Err(TokenError::Used)
        );
        // One that is sealed now gets in: a wrong clock for a moment locks nobody out for an hour.
        let fresh = token(3, now + 21_000).seal(&key, 3).unwrap();
        assert_eq!(login.check_at(&fresh, now + 1_000), Ok(3));
    }
}
