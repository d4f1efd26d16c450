//! Tokens that were used, remembered until they are over.

use std::collections::BTreeSet;

use super::TokenError;

/// A bounded table of used tokens.
///
/// A token is forgotten when it is over, since it is refused for that from then on: also when the
/// clock, which is that of the wall, goes back. A full table refuses new tokens rather than forget
/// old ones.
///
/// ```
/// use nebula_multiplayer::auth::{TokenError, UsedTokens};
///
/// let mut used = UsedTokens::new(2);
/// assert_eq!(used.note([1; 24], 5_000, 1_000), Ok(()));
/// assert_eq!(used.note([1; 24], 5_000, 1_001), Err(TokenError::Used));
/// assert_eq!(used.note([2; 24], 9_000, 1_002), Ok(()));
/// assert_eq!(used.note([3; 24], 9_000, 1_003), Err(TokenError::TooMany));
/// assert_eq!(used.note([3; 24], 9_000, 6_000), Ok(()), "the first is over");
/// assert_eq!(used.note([1; 24], 5_000, 1_000), Err(TokenError::Expired), "and stays so");
/// assert_eq!((used.len(), used.is_empty()), (2, false));
/// ```
#[derive(Debug)]
pub struct UsedTokens {
    /// By the time they are over, so that those are found first.
    tokens: BTreeSet<(u64, [u8; 24])>,
    max: usize,
    /// The latest end of a token that was forgotten. What is over by then might be one of those.
    forgotten: u64,
}

impl UsedTokens {
    /// Returns a table of at most `max` tokens, some 64 bytes each.
    #[must_use]
    pub const fn new(max: usize) -> Self {
        Self {
            tokens: BTreeSet::new(),
            max,
            forgotten: 0,
        }
    }

    /// Notes a token, known by `id` and over at `expires_ms`.
    ///
    /// # Errors
    /// [`TokenError::Used`] if it was noted before, [`TokenError::Expired`] if it is over by the time
    /// up to which tokens were forgotten, [`TokenError::TooMany`] if the table is full.
    pub fn note(&mut self, id: [u8; 24], expires_ms: u64, now_ms: u64) -> Result<(), TokenError> {
        while let Some(&(end, _)) = self.tokens.first()
            && end <= now_ms
        {
            self.tokens.pop_first();
            self.forgotten = self.forgotten.max(end);
        }
        if expires_ms <= self.forgotten {
            return Err(TokenError::Expired);
        }
        if self.tokens.contains(&(expires_ms, id)) {
            return Err(TokenError::Used);
        }
        if self.tokens.len() >= self.max {
            return Err(TokenError::TooMany);
        }
        self.tokens.insert((expires_ms, id));
        Ok(())
    }

    /// Returns how many are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns whether none is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}
