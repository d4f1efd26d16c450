//! Writes postcard's format, and refuses what the reader would refuse.

use core::fmt::Display;

use serde::ser::{self, Serialize};

use super::{EncodeError, MAX_DEPTH, MAX_ELEMENTS, printable, put_bytes, put_varint};

pub(super) struct Serializer<'o> {
    out: &'o mut Vec<u8>,
    depth: u32,
    elements: u32,
}

impl<'o> Serializer<'o> {
    pub(super) const fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            depth: 0,
            elements: 0,
        }
    }

    fn enter(&mut self) -> Result<(), EncodeError> {
        if self.depth >= MAX_DEPTH {
            return Err(EncodeError::TooDeep);
        }
        self.depth = self.depth.saturating_add(1);
        Ok(())
    }

    const fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Writes `value` one level deeper.
    fn nested<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.enter()?;
        let result = value.serialize(&mut *self);
        self.leave();
        result
    }

    fn signed(&mut self, value: i128) {
        self.wide((value.wrapping_shl(1) ^ (value >> 127)).cast_unsigned());
    }

    fn wide(&mut self, mut value: u128) {
        loop {
            let low = value.to_le_bytes()[0] & 0x7F;
            value >>= 7;
            if value == 0 {
                self.out.push(low);
                return;
            }
            self.out.push(low | 0x80);
        }
    }

    fn variant(&mut self, index: u32) {
        put_varint(self.out, index.into());
    }
}

macro_rules! integers {
    ($($name:ident $kind:ty, $write:ident;)*) => {$(
        fn $name(self, value: $kind) -> Result<(), EncodeError> {
            self.$write(value.into());
            Ok(())
        }
    )*};
}

impl<'s, 'o> ser::Serializer for &'s mut Serializer<'o> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = List<'s, 'o>;
    type SerializeTuple = Fields<'s, 'o>;
    type SerializeTupleStruct = Fields<'s, 'o>;
    type SerializeTupleVariant = Fields<'s, 'o>;
    type SerializeMap = ser::Impossible<(), EncodeError>;
    type SerializeStruct = Fields<'s, 'o>;
    type SerializeStructVariant = Fields<'s, 'o>;

    fn is_human_readable(&self) -> bool {
        false
    }

    integers! {
        serialize_i16 i16, signed;
        serialize_i32 i32, signed;
        serialize_i64 i64, signed;
        serialize_i128 i128, signed;
        serialize_u16 u16, wide;
        serialize_u32 u32, wide;
        serialize_u64 u64, wide;
        serialize_u128 u128, wide;
    }

    fn serialize_bool(self, value: bool) -> Result<(), EncodeError> {
        self.out.push(u8::from(value));
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), EncodeError> {
        self.out.push(value.cast_unsigned());
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), EncodeError> {
        self.out.push(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), EncodeError> {
        if !value.is_finite() {
            return Err(EncodeError::NonFinite);
        }
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), EncodeError> {
        if !value.is_finite() {
            return Err(EncodeError::NonFinite);
        }
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), EncodeError> {
        put_bytes(self.out, value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), EncodeError> {
        self.serialize_bool(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        self.out.push(1);
        self.nested(value)
    }

    fn serialize_unit(self) -> Result<(), EncodeError> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), EncodeError> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), EncodeError> {
        self.variant(index);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.nested(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.variant(index);
        self.nested(value)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<List<'s, 'o>, EncodeError> {
        let len = len.ok_or(EncodeError::Forbidden("lists of unknown length"))?;
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        let total = u32::try_from(len.saturating_add(self.elements.into())).ok();
        self.elements =
            total
                .filter(|&total| total <= MAX_ELEMENTS)
                .ok_or(EncodeError::TooLong {
                    what: "a list",
                    len,
                    max: MAX_ELEMENTS.into(),
                })?;
        put_varint(self.out, len);
        self.enter()?;
        Ok(List {
            ser: self,
            left: len,
        })
    }

    fn serialize_tuple(self, _: usize) -> Result<Fields<'s, 'o>, EncodeError> {
        self.enter()?;
        Ok(Fields { ser: self })
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<Fields<'s, 'o>, EncodeError> {
        self.serialize_tuple(len)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        len: usize,
    ) -> Result<Fields<'s, 'o>, EncodeError> {
        self.variant(index);
        self.serialize_tuple(len)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, EncodeError> {
        Err(EncodeError::Forbidden("maps"))
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Fields<'s, 'o>, EncodeError> {
        self.serialize_tuple(len)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        len: usize,
    ) -> Result<Fields<'s, 'o>, EncodeError> {
        self.variant(index);
        self.serialize_tuple(len)
    }
}

/// A list being written: as many elements as were announced, none of them empty.
pub(super) struct List<'s, 'o> {
    ser: &'s mut Serializer<'o>,
    left: u64,
}

impl ser::SerializeSeq for List<'_, '_> {
    type Ok = ();
    type Error = EncodeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or(EncodeError::Forbidden("lists longer than announced"))?;
        let before = self.ser.out.len();
        value.serialize(&mut *self.ser)?;
        if self.ser.out.len() == before {
            return Err(EncodeError::Forbidden("lists of values without bytes"));
        }
        Ok(())
    }

    fn end(self) -> Result<(), EncodeError> {
        self.ser.leave();
        if self.left == 0 {
            Ok(())
        } else {
            Err(EncodeError::Forbidden("lists shorter than announced"))
        }
    }
}

/// The fields of a tuple, struct or variant being written, one after the other.
pub(super) struct Fields<'s, 'o> {
    ser: &'s mut Serializer<'o>,
}

macro_rules! fields {
    ($($part:ident $method:ident;)*) => {$(
        impl ser::$part for Fields<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
                value.serialize(&mut *self.ser)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.ser.leave();
                Ok(())
            }
        }
    )*};
}

fields! {
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! named_fields {
    ($($part:ident;)*) => {$(
        impl ser::$part for Fields<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), EncodeError> {
                value.serialize(&mut *self.ser)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.ser.leave();
                Ok(())
            }
        }
    )*};
}

named_fields! {
    SerializeStruct;
    SerializeStructVariant;
}

impl ser::Error for EncodeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Invalid(printable(&message.to_string(), 200))
    }
}
