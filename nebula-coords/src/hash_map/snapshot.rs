//! Serde: a map is written as the list of its values.

use core::fmt;
use core::hash::BuildHasher;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::SpatialHashMap;
use crate::SpatialEntity;

/// Writes the values in the order of [`SpatialHashMap::iter`].
impl<T: Serialize, S> Serialize for SpatialHashMap<T, S> {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        // The length is known and `iter` is not an exact-size iterator, so it is said here.
        use serde::ser::SerializeSeq;

        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for value in self.iter() {
            list.serialize_element(value)?;
        }
        list.end()
    }
}

/// Reads a list of values as [`FromIterator`] does: sectors and the values in each keep the order
/// of the list, and of values with the same id the last one wins. Any list is a valid map.
///
/// The tree is built anew: answers about a region hold the same values, perhaps in another order
/// than before. The same list always gives the same order.
impl<'de, T, S> Deserialize<'de> for SpatialHashMap<T, S>
where
    T: SpatialEntity + Deserialize<'de>,
    S: BuildHasher + Default,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Values(PhantomData))
    }
}

struct Values<T, S>(PhantomData<fn() -> (T, S)>);

impl<'de, T, S> Visitor<'de> for Values<T, S>
where
    T: SpatialEntity + Deserialize<'de>,
    S: BuildHasher + Default,
{
    type Value = SpatialHashMap<T, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entities")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        // No room is made by the promised length: a hostile one would cost memory for nothing.
        let mut failed = None;
        let values = core::iter::from_fn(|| match list.next_element() {
            Ok(value) => value,
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        let map = values.collect();
        match failed {
            Some(error) => Err(error),
            None => Ok(map),
        }
    }
}
