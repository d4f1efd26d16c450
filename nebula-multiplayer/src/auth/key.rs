//! The key of connect tokens.

use core::fmt;

use zeroize::Zeroizing;

use super::TokenError;

/// The key that seals connect tokens: known to the login service and the servers, and nobody else.
///
/// It is wiped from memory when dropped, and `Debug` does not show it.
///
/// ```
/// use nebula_multiplayer::auth::TokenKey;
///
/// let key = TokenKey::from_bytes([7; 32]);
/// assert_eq!(format!("{key:?}"), "TokenKey(..)");
/// ```
#[derive(Clone)]
pub struct TokenKey(Zeroizing<[u8; 32]>);

impl TokenKey {
    /// Returns the key with these bytes. They must come from a source of randomness, not a password.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns a new key from the system's source of randomness.
    ///
    /// # Errors
    /// [`TokenError::NoRandomness`] if the system has none.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|_| TokenError::NoRandomness)?;
        Ok(Self(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey(..)")
    }
}
