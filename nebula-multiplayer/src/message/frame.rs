//! Frames out of a stream that may be cut anywhere.

use crate::wire::DecodeError;

/// Collects the chunks of a stream and hands out whole frames.
///
/// Holds at most one frame, and reserves memory only as its bytes arrive: a length of four
/// gigabytes is refused before anything is reserved.
///
/// ```
/// use nebula_multiplayer::message::FrameBuffer;
/// use nebula_multiplayer::wire::DecodeError;
///
/// let mut frames = FrameBuffer::new(64);
/// let mut seen = Vec::new();
/// for chunk in [&[2, 0][..], &[0, 0, 7], &[8, 1, 0, 0, 0, 9]] {
///     frames.feed::<DecodeError>(chunk, |body| Ok(seen.push(body.to_vec()))).unwrap();
/// }
/// assert_eq!(seen, [vec![7, 8], vec![9]]);
/// assert!(frames.feed::<DecodeError>(&u32::MAX.to_le_bytes(), |_| Ok(())).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct FrameBuffer {
    partial: Vec<u8>,
    max: usize,
}

const PREFIX: usize = 4;

impl FrameBuffer {
    /// Returns an empty buffer for frames of at most `max` bytes, the length not counted.
    #[must_use]
    pub const fn new(max: usize) -> Self {
        Self {
            partial: Vec::new(),
            max,
        }
    }

    /// Returns whether a frame has begun and not ended.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Takes the next bytes of the stream and calls `each` for every frame they complete.
    ///
    /// # Errors
    /// [`DecodeError`] for an empty or too long frame, and whatever `each` returns; the stream
    /// cannot be read on after either.
    pub fn feed<E: From<DecodeError>>(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            bytes = self.take(bytes, PREFIX);
            let Some(&prefix) = self.partial.first_chunk::<PREFIX>() else {
                break;
            };
            let len = self.checked_len(u32::from_le_bytes(prefix))?;
            let whole = PREFIX.saturating_add(len);
            bytes = self.take(bytes, whole);
            if self.partial.len() < whole {
                break;
            }
            let result = each(self.partial.get(PREFIX..).unwrap_or_default());
            self.partial.clear();
            result?;
        }
        Ok(())
    }

    /// Moves bytes over until `upto` are held; returns what is left.
    fn take<'a>(&mut self, bytes: &'a [u8], upto: usize) -> &'a [u8] {
        let wanted = upto.saturating_sub(self.partial.len()).min(bytes.len());
        let (head, tail) = bytes.split_at_checked(wanted).unwrap_or((bytes, &[]));
        self.partial.extend_from_slice(head);
        tail
    }

    fn checked_len(&self, len: u32) -> Result<usize, DecodeError> {
        if len == 0 {
            return Err(DecodeError::NotAllowed("an empty frame"));
        }
        let fits = usize::try_from(len).ok().filter(|&len| len <= self.max);
        fits.ok_or(DecodeError::TooLong {
            what: "a frame",
            len: len.into(),
            max: u64::try_from(self.max).unwrap_or(u64::MAX),
        })
    }
}
