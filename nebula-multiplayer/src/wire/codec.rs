//! Values of game types as bytes: postcard's format, read within bounds.

use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::de::Deserializer;
use super::ser::Serializer;
use super::{DecodeError, EncodeError, Reader};

/// How deeply values may be nested: structs, enums, lists and options each count one.
pub const MAX_DEPTH: u32 = 32;

/// How many list elements one value may hold, all its lists together.
///
/// With it, a full 64 KiB frame of the smallest elements cannot grow past a few hundred
/// kilobytes in memory, where it would otherwise become 47 times its size.
pub const MAX_ELEMENTS: u32 = 16_384;

/// Appends `value` to `out` in postcard's format.
///
/// # Errors
/// [`EncodeError`] for what a reader would refuse: floats that are not finite, maps, lists of
/// unknown length, values nested too deeply. `out` is then as it was.
///
/// ```
/// let mut out = vec![9];
/// nebula_multiplayer::wire::encode(&(-1_i32, "hi"), &mut out).unwrap();
/// assert_eq!(out, [9, 1, 2, b'h', b'i']);
/// ```
pub fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    let result = value.serialize(&mut Serializer::new(out));
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Returns the value that `bytes` hold, all of them.
///
/// # Errors
/// [`DecodeError`] if the bytes end early or go on, if a number is not canonical, a float not
/// finite, a list longer than the bytes left, or the value too deep. Memory stays within a small
/// multiple of the input.
///
/// ```
/// use nebula_multiplayer::wire::{DecodeError, decode};
///
/// assert_eq!(decode::<(i32, String)>(&[1, 2, b'h', b'i']), Ok((-1, "hi".into())));
/// assert_eq!(decode::<u8>(&[1, 2]), Err(DecodeError::Trailing(1)));
/// assert_eq!(decode::<f32>(&f32::INFINITY.to_le_bytes()), Err(DecodeError::NonFinite));
/// ```
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes);
    let value = read_value(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Reads one value and leaves the reader behind it.
pub(crate) fn read_value<T: DeserializeOwned>(reader: &mut Reader<'_>) -> Result<T, DecodeError> {
    T::deserialize(&mut Deserializer::new(reader))
}

/// How a type is written and read: two functions, by serde or by hand.
///
/// ```
/// use nebula_multiplayer::wire::{Codec, Reader};
///
/// // A heading in whole degrees, in one byte for each two of them.
/// struct Heading(u16);
/// let codec = Codec::<Heading>::new(
///     |value, out| Ok(out.push((value.0 / 2) as u8)),
///     |reader| Ok(Heading(u16::from(reader.u8()?) * 2)),
/// );
/// let mut out = Vec::new();
/// codec.encode(&Heading(90), &mut out).unwrap();
/// assert_eq!(out, [45]);
/// assert_eq!(codec.decode(&out).unwrap().0, 90);
/// ```
pub struct Codec<T> {
    write: fn(&T, &mut Vec<u8>) -> Result<(), EncodeError>,
    read: fn(&mut Reader<'_>) -> Result<T, DecodeError>,
}

impl<T> Codec<T> {
    /// Returns a codec of two functions. `read` must take all the bytes that `write` made, and
    /// must bear any bytes at all.
    #[must_use]
    pub const fn new(
        write: fn(&T, &mut Vec<u8>) -> Result<(), EncodeError>,
        read: fn(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Self {
        Self { write, read }
    }

    /// Returns the codec that serde makes: [`encode`] and [`decode`].
    #[must_use]
    pub const fn serde() -> Self
    where
        T: Serialize + DeserializeOwned,
    {
        Self::new(encode::<T>, read_value::<T>)
    }

    /// Appends `value` to `out`.
    ///
    /// # Errors
    /// Whatever the codec objects to; `out` is then as it was.
    pub fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let start = out.len();
        let result = (self.write)(value, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Returns the value that `bytes` hold, all of them.
    ///
    /// # Errors
    /// Whatever the codec objects to, and [`DecodeError::Trailing`] if it leaves bytes.
    pub fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let mut reader = Reader::new(bytes);
        let value = (self.read)(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }

    /// Reads one value and leaves the reader behind it.
    ///
    /// # Errors
    /// Whatever the codec objects to.
    pub fn read(&self, reader: &mut Reader<'_>) -> Result<T, DecodeError> {
        (self.read)(reader)
    }
}

// Derived, these would ask the same of `T`, which two function pointers do not need.
impl<T> Clone for Codec<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Codec<T> {}

impl<T> fmt::Debug for Codec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Codec<{}>", core::any::type_name::<T>())
    }
}
