//! A cursor over bytes that cannot run past their end.

use super::DecodeError;
use super::text::check_text;

/// A cursor over received bytes: each read returns the value or an error, and never panics.
///
/// ```
/// use nebula_multiplayer::wire::{DecodeError, Reader};
///
/// let mut reader = Reader::new(&[0x34, 0x12, 0xAC, 0x02]);
/// assert_eq!(reader.u16(), Ok(0x1234));
/// assert_eq!(reader.varint(), Ok(300));
/// assert_eq!(reader.u8(), Err(DecodeError::Truncated { needed: 1, left: 0 }));
/// assert_eq!(reader.finish(), Ok(()));
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns how many bytes are left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns whether nothing is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the bytes that are left, without reading them.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the next `count` bytes.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if fewer are left; then nothing is read.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (head, tail) = self
            .rest
            .split_at_checked(count)
            .ok_or(DecodeError::Truncated {
                needed: count,
                left: self.rest.len(),
            })?;
        self.rest = tail;
        Ok(head)
    }

    /// Returns the next `N` bytes as an array.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if fewer are left.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, tail) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(DecodeError::Truncated {
                needed: N,
                left: self.rest.len(),
            })?;
        self.rest = tail;
        Ok(*head)
    }

    /// Returns the next byte.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if none is left.
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Returns the next two bytes, the low one first.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if fewer are left.
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Returns the next four bytes, the low one first.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if fewer are left.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Returns the next eight bytes, the low one first.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if fewer are left.
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Returns the next number of varying size: seven bits a byte, the low ones first.
    ///
    /// # Errors
    /// [`DecodeError::NonCanonical`] if a shorter spelling exists, [`DecodeError::OutOfRange`]
    /// past 64 bits, [`DecodeError::Truncated`] if the bytes end.
    pub fn varint(&mut self) -> Result<u64, DecodeError> {
        u64::try_from(self.varint_bits(64)?).map_err(|_| TOO_BIG)
    }

    /// Returns the next number of varying size, which must fit 32 bits.
    ///
    /// # Errors
    /// As [`varint`](Self::varint), with [`DecodeError::OutOfRange`] past 32 bits.
    pub fn varint_u32(&mut self) -> Result<u32, DecodeError> {
        u32::try_from(self.varint()?).map_err(|_| TOO_BIG)
    }

    /// Returns the next number of varying size, of at most `bits` bits (up to 128).
    pub(crate) fn varint_bits(&mut self, bits: u32) -> Result<u128, DecodeError> {
        let mut value = 0_u128;
        let mut shift = 0_u32;
        loop {
            let byte = self.u8()?;
            let low = u128::from(byte & 0x7F);
            let room = bits.saturating_sub(shift);
            // The last byte may carry fewer than seven bits.
            if room < 7 && (low >> room) != 0 {
                return Err(TOO_BIG);
            }
            value |= low.checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                // A final zero byte adds nothing: the number had a shorter spelling.
                if byte == 0 && shift > 0 {
                    return Err(DecodeError::NonCanonical);
                }
                return Ok(value);
            }
            shift = shift.saturating_add(7);
            if shift >= bits {
                return Err(TOO_BIG);
            }
        }
    }

    /// Returns a length, checked against `max` and against what is left, before anything is
    /// reserved for it.
    ///
    /// # Errors
    /// [`DecodeError::TooLong`] over `max`, [`DecodeError::Truncated`] if fewer bytes are left.
    pub fn length(&mut self, what: &'static str, max: usize) -> Result<usize, DecodeError> {
        let len = self.varint()?;
        let fits = usize::try_from(len).ok().filter(|&len| len <= max);
        let len = fits.ok_or(DecodeError::TooLong {
            what,
            len,
            max: u64::try_from(max).unwrap_or(u64::MAX),
        })?;
        if len > self.left() {
            return Err(DecodeError::Truncated {
                needed: len,
                left: self.left(),
            });
        }
        Ok(len)
    }

    /// Returns text of at most `max` bytes that is safe to show and to log.
    ///
    /// # Errors
    /// [`DecodeError::TooLong`], [`DecodeError::Truncated`], or [`DecodeError::BadText`] as
    /// [`check_text`] says.
    pub fn text(&mut self, what: &'static str, max: usize) -> Result<&'a str, DecodeError> {
        let len = self.length(what, max)?;
        let text =
            core::str::from_utf8(self.bytes(len)?).map_err(|_| DecodeError::BadText { what })?;
        check_text(what, text)?;
        Ok(text)
    }

    /// Checks that everything was read.
    ///
    /// # Errors
    /// [`DecodeError::Trailing`] if bytes are left.
    pub fn finish(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::Trailing(self.rest.len()))
        }
    }
}

const TOO_BIG: DecodeError = DecodeError::OutOfRange { what: "a varint" };

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::wire::{put_varint, varint_len};

    #[test]
    fn every_power_of_two_survives() {
        for bit in 0..64 {
            for value in [
                (1_u64 << bit) - 1,
                1 << bit,
                (1_u64 << bit).wrapping_add(1),
                u64::MAX - (1 << bit),
            ] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                assert_eq!(bytes.len(), varint_len(value), "{value}");
                let mut reader = Reader::new(&bytes);
                assert_eq!(reader.varint(), Ok(value));
                assert_eq!(reader.finish(), Ok(()));
                for cut in 0..bytes.len() {
                    assert!(
                        Reader::new(&bytes[..cut]).varint().is_err(),
                        "{value} cut at {cut}"
                    );
                }
            }
        }
    }

    #[test]
    fn longer_spellings_are_refused() {
        for bytes in [
            &[0x80, 0x00][..],
            &[0xFF, 0x00],
            &[0x80, 0x80, 0x00],
            &[0xFF, 0xFF, 0x80, 0x00],
        ] {
            assert_eq!(
                Reader::new(bytes).varint(),
                Err(DecodeError::NonCanonical),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn more_than_the_bits_asked_for_is_refused() {
        let mut ten = vec![0xFF; 9];
        ten.push(0x01);
        assert_eq!(Reader::new(&ten).varint(), Ok(u64::MAX));
        *ten.last_mut().unwrap() = 0x02;
        assert_eq!(Reader::new(&ten).varint(), Err(TOO_BIG));
        assert_eq!(Reader::new(&[0xFF; 40]).varint(), Err(TOO_BIG));
        assert_eq!(
            Reader::new(&[0xFF, 0xFF, 0xFF, 0xFF, 0x10]).varint_u32(),
            Err(TOO_BIG)
        );
        assert_eq!(
            Reader::new(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]).varint_u32(),
            Ok(u32::MAX)
        );
    }

    #[test]
    fn a_length_is_checked_before_it_is_believed() {
        let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01];
        assert!(matches!(
            Reader::new(&huge).length("a list", 100),
            Err(DecodeError::TooLong {
                len: u64::MAX,
                max: 100,
                ..
            })
        ));
        assert!(matches!(
            Reader::new(&[50, 1, 2]).length("a list", 100),
            Err(DecodeError::Truncated {
                needed: 50,
                left: 2
            })
        ));
    }
}
