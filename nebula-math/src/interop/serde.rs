//! Feature `serde`: every type of values, in a form that does not depend on private fields.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Aabb128, I384, IVec3_128, U384, WorldPosition};

/// The written form of points and displacements.
#[derive(Serialize, Deserialize)]
struct Xyz {
    x: i128,
    y: i128,
    z: i128,
}

/// The written form of a box; reading one checks the order of its corners.
#[derive(Serialize, Deserialize)]
struct Corners {
    min: WorldPosition,
    max: WorldPosition,
}

macro_rules! xyz {
    ($($type:ident)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Self { x, y, z } = *self;
                Xyz { x, y, z }.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let Xyz { x, y, z } = Xyz::deserialize(deserializer)?;
                Ok(Self { x, y, z })
            }
        }
    )*};
}

xyz! { IVec3_128 WorldPosition }

impl Serialize for Aabb128 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (min, max) = (self.min(), self.max());
        Corners { min, max }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Aabb128 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Corners { min, max } = Corners::deserialize(deserializer)?;
        Self::try_new(min, max).map_err(D::Error::custom)
    }
}

/// Written as three limbs, the least significant first.
impl Serialize for U384 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.limbs().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for U384 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <[u128; 3]>::deserialize(deserializer).map(Self::from_limbs)
    }
}

/// Written as whether it is negative, and the magnitude.
impl Serialize for I384 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.is_negative(), self.magnitude()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for I384 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (negative, magnitude) = <(bool, U384)>::deserialize(deserializer)?;
        let value = Self::from(magnitude);
        Ok(if negative { -value } else { value })
    }
}
