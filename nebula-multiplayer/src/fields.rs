//! Settings from a file: any field may be left out, and an error names the field it is in.
//!
//! What serde derives says only what is wrong, and leaves it to the format to say where; formats
//! other than JSON often do not.

use core::time::Duration;

use serde::de::{Error, MapAccess};
use serde::{Serialize, Serializer};

/// A type that is read from a settings file in a form of its own.
pub(crate) trait Field: Sized {
    /// Reads it as the value of the key that was read last.
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error>;
}

macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        impl Field for $type {
            fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
                map.next_value()
            }
        }
    )*};
}

plain!(
    u16,
    u32,
    usize,
    crate::interest::InterestArea,
    crate::interest::InterestConfig,
    crate::limits::Limits,
    crate::limits::TransportLimits,
    crate::replication::ReplicationSettings,
);

#[cfg(feature = "quic")]
plain!(
    core::net::SocketAddr,
    crate::transport::quic::CertificateSource,
    crate::transport::quic::Trust,
    String,
    Vec<u8>,
);

/// A whole number of milliseconds.
impl Field for Duration {
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value().map(Self::from_millis)
    }
}

/// Writes a duration as it is read; what is below a millisecond is lost.
pub(crate) fn millis<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    u64::try_from(time.as_millis())
        .unwrap_or(u64::MAX)
        .serialize(to)
}

/// Reads one field, and puts its name before what is wrong with it.
pub(crate) fn read<'de, A: MapAccess<'de>, T: Field>(
    map: &mut A,
    name: &str,
) -> Result<T, A::Error> {
    T::read(map).map_err(|error| A::Error::custom(format_args!("{name}: {error}")))
}

/// Implements `Deserialize` for a struct that has defaults, from these of its fields. Those in
/// brackets have no default, so that they must be there; the value to begin with then follows.
macro_rules! from_fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        $crate::fields::from_fields!($type { $($field),* } [] <$type>::default());
    };
    ($type:ident { $($field:ident),* $(,)? } [$($needed:ident),*] $start:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Fields;
                const NAMES: &[&str] = &[$(stringify!($field)),*];
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $type;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str(concat!("the fields of ", stringify!($type)))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$type, A::Error> {
                        let mut value = $start;
                        $(let mut $needed = false;)*
                        while let Some(name) = map.next_key::<String>()? {
                            match name.as_str() {
                                $(stringify!($field) => {
                                    value.$field = $crate::fields::read(&mut map, &name)?;
                                })*
                                other => {
                                    return Err(serde::de::Error::unknown_field(other, NAMES));
                                }
                            }
                            $($needed |= name == stringify!($needed);)*
                        }
                        $(if !$needed {
                            return Err(serde::de::Error::missing_field(stringify!($needed)));
                        })*
                        Ok(value)
                    }
                }
                from.deserialize_struct(stringify!($type), NAMES, Fields)
            }
        }
    };
}
pub(crate) use from_fields;
