//! Reads postcard's format within bounds.
//!
//! Why not postcard's own reader: it follows recursive types until the stack ends, believes the
//! length of a map (10 bytes reserve 2 MB), loops 2^64 times over a list of empty values, accepts
//! longer spellings of a number, and lets NaN through. Property tests hold this one to postcard's
//! bytes for everything it does accept.

use core::fmt::Display;

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::{DecodeError, MAX_DEPTH, MAX_ELEMENTS, Reader, printable};

pub(super) struct Deserializer<'r, 'a> {
    reader: &'r mut Reader<'a>,
    depth: u32,
    elements: u32,
}

impl<'r, 'a> Deserializer<'r, 'a> {
    pub(super) const fn new(reader: &'r mut Reader<'a>) -> Self {
        Self {
            reader,
            depth: 0,
            elements: 0,
        }
    }

    /// Runs `read` one level deeper.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.depth >= MAX_DEPTH {
            return Err(DecodeError::TooDeep);
        }
        self.depth = self.depth.saturating_add(1);
        let result = read(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn unsigned<T: TryFrom<u128>>(&mut self, bits: u32) -> Result<T, DecodeError> {
        T::try_from(self.reader.varint_bits(bits)?)
            .map_err(|_| DecodeError::OutOfRange { what: "an integer" })
    }

    fn signed<T: TryFrom<i128>>(&mut self, bits: u32) -> Result<T, DecodeError> {
        let zigzag = self.reader.varint_bits(bits)?;
        let half = (zigzag >> 1).cast_signed();
        let value = if zigzag & 1 == 0 { half } else { !half };
        T::try_from(value).map_err(|_| DecodeError::OutOfRange { what: "an integer" })
    }

    fn flag(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.reader.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(DecodeError::Unknown {
                what,
                value: value.into(),
            }),
        }
    }

    fn str(&mut self) -> Result<&'a str, DecodeError> {
        let len = self.reader.length("text", usize::MAX)?;
        core::str::from_utf8(self.reader.bytes(len)?)
            .map_err(|_| DecodeError::BadText { what: "text" })
    }

    fn byte_slice(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.reader.length("a byte string", usize::MAX)?;
        self.reader.bytes(len)
    }
}

/// The elements of a list or tuple.
struct Elements<'d, 'r, 'a> {
    de: &'d mut Deserializer<'r, 'a>,
    left: usize,
    /// Whether the sender chose the length, so that empty elements would be a free loop.
    counted: bool,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_, 'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        let before = self.de.reader.left();
        let value = seed.deserialize(&mut *self.de)?;
        if self.counted && self.de.reader.left() == before {
            return Err(DecodeError::Forbidden("lists of values without bytes"));
        }
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        // Reserved before any element was seen, so kept small whatever the sender claims.
        Some(self.left.min(64))
    }
}

impl<'de> de::EnumAccess<'de> for &mut Deserializer<'_, 'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        let index = self.reader.varint_u32()?;
        let value = seed.deserialize(IntoDeserializer::<DecodeError>::into_deserializer(index))?;
        Ok((value, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Deserializer<'_, 'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_seq(Elements {
            de: self,
            left: len,
            counted: false,
        })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.tuple_variant(fields.len(), visitor)
    }
}

macro_rules! integers {
    ($($name:ident $visit:ident $read:ident $bits:expr;)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(self.$read($bits)?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'_, 'de> {
    type Error = DecodeError;

    fn is_human_readable(&self) -> bool {
        false
    }

    integers! {
        deserialize_i16 visit_i16 signed 16;
        deserialize_i32 visit_i32 signed 32;
        deserialize_i64 visit_i64 signed 64;
        deserialize_i128 visit_i128 signed 128;
        deserialize_u16 visit_u16 unsigned 16;
        deserialize_u32 visit_u32 unsigned 32;
        deserialize_u64 visit_u64 unsigned 64;
        deserialize_u128 visit_u128 unsigned 128;
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::Forbidden("self-describing values"))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::Forbidden("field names"))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::Forbidden("self-describing values"))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_bool(self.flag("truth value")?)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_i8(self.reader.u8()?.cast_signed())
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_u8(self.reader.u8()?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let value = f32::from_le_bytes(self.reader.array()?);
        if value.is_finite() {
            visitor.visit_f32(value)
        } else {
            Err(DecodeError::NonFinite)
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let value = f64::from_le_bytes(self.reader.array()?);
        if value.is_finite() {
            visitor.visit_f64(value)
        } else {
            Err(DecodeError::NonFinite)
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let text = self.str()?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => visitor.visit_char(c),
            _ => Err(DecodeError::BadText {
                what: "a character",
            }),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.str()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_bytes(self.byte_slice()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.flag("option")? {
            self.nested(|de| visitor.visit_some(de))
        } else {
            visitor.visit_none()
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.nested(|de| visitor.visit_newtype_struct(de))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let len = self.reader.length("a list", usize::MAX)?;
        let total = u64::try_from(len)
            .unwrap_or(u64::MAX)
            .saturating_add(self.elements.into());
        let total = u32::try_from(total)
            .ok()
            .filter(|&total| total <= MAX_ELEMENTS);
        self.elements = total.ok_or(DecodeError::TooLong {
            what: "a list",
            len: u64::try_from(len).unwrap_or(u64::MAX),
            max: MAX_ELEMENTS.into(),
        })?;
        self.nested(|de| {
            visitor.visit_seq(Elements {
                de,
                left: len,
                counted: true,
            })
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.nested(|de| {
            visitor.visit_seq(Elements {
                de,
                left: len,
                counted: false,
            })
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::Forbidden("maps"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.nested(|de| visitor.visit_enum(de))
    }
}

impl de::Error for DecodeError {
    fn custom<T: Display>(message: T) -> Self {
        // The message may quote what the peer sent.
        Self::Invalid(printable(&message.to_string(), 200))
    }
}
