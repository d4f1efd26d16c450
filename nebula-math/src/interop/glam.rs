//! Feature `glam`: integer vectors both ways, float vectors at the edge.

use glam::{
    DVec3, I8Vec3, I16Vec3, I64Vec3, ISizeVec3, IVec3, U8Vec3, U16Vec3, U64Vec3, USizeVec3, UVec3,
    Vec3,
};

use crate::{IVec3_128, MetersError, NarrowError, WorldPosition};

/// Glam's vectors come in without loss and go out with an error that names what does not fit.
macro_rules! integer_vectors {
    ($($glam:ident $int:ident)*) => {$(
        impl From<$glam> for IVec3_128 {
            #[inline]
            fn from(v: $glam) -> Self {
                Self::from(v.to_array())
            }
        }

        impl TryFrom<IVec3_128> for $glam {
            type Error = NarrowError;

            fn try_from(v: IVec3_128) -> Result<Self, NarrowError> {
                <[$int; 3]>::try_from(v).map(Self::from_array)
            }
        }

        impl From<$glam> for WorldPosition {
            #[inline]
            fn from(p: $glam) -> Self {
                let v = IVec3_128::from(p);
                Self::new(v.x, v.y, v.z)
            }
        }

        impl TryFrom<WorldPosition> for $glam {
            type Error = NarrowError;

            fn try_from(p: WorldPosition) -> Result<Self, NarrowError> {
                IVec3_128::new(p.x, p.y, p.z).try_into()
            }
        }
    )*};
}

integer_vectors! {
    I8Vec3 i8 I16Vec3 i16 IVec3 i32 I64Vec3 i64
    U8Vec3 u8 U16Vec3 u16 UVec3 u32 U64Vec3 u64
    ISizeVec3 isize USizeVec3 usize
}

impl WorldPosition {
    /// Makes a point from metres, each axis rounded once to the nearest millimetre.
    ///
    /// # Errors
    /// When a coordinate is NaN, infinite, or outside the universe.
    ///
    /// ```
    /// use glam::DVec3;
    /// use nebula_math::WorldPosition;
    ///
    /// let p = WorldPosition::from_dvec3(DVec3::new(-1.5, 0.0, 0.0004))?;
    /// assert_eq!(p, WorldPosition::new(-1_500, 0, 0));
    /// assert!(WorldPosition::from_dvec3(DVec3::NAN).is_err());
    /// # Ok::<(), nebula_math::MetersError>(())
    /// ```
    pub fn from_dvec3(meters: DVec3) -> Result<Self, MetersError> {
        Self::from_meters(meters.x, meters.y, meters.z)
    }

    /// Returns where this point lies from `origin`, in metres; see
    /// [`to_meters_lossy`](Self::to_meters_lossy).
    ///
    /// ```
    /// use glam::DVec3;
    /// use nebula_math::WorldPosition;
    ///
    /// let origin = WorldPosition::new(i128::MIN, 0, 0);
    /// let p = WorldPosition::new(i128::MIN + 1_500, -250, 0);
    /// assert_eq!(p.to_dvec3_lossy(&origin), DVec3::new(1.5, -0.25, 0.0));
    /// ```
    #[must_use]
    pub fn to_dvec3_lossy(&self, origin: &Self) -> DVec3 {
        DVec3::from_array(self.to_meters_lossy(origin))
    }

    /// Returns where this point lies from `origin`, in metres, for drawing; see
    /// [`to_meters_f32_lossy`](Self::to_meters_f32_lossy).
    ///
    /// ```
    /// use glam::Vec3;
    /// use nebula_math::WorldPosition;
    ///
    /// let camera = WorldPosition::new(i128::MIN, 0, 0);
    /// let ship = WorldPosition::new(i128::MIN + 1_500, -250, 0);
    /// assert_eq!(ship.to_vec3_lossy(&camera), Vec3::new(1.5, -0.25, 0.0));
    /// ```
    #[must_use]
    pub fn to_vec3_lossy(&self, origin: &Self) -> Vec3 {
        Vec3::from_array(self.to_meters_f32_lossy(origin))
    }
}

impl IVec3_128 {
    /// Makes a displacement from metres, each axis rounded once to the nearest millimetre.
    ///
    /// # Errors
    /// When a component is NaN, infinite, or beyond `i128` millimetres.
    pub fn from_dvec3(meters: DVec3) -> Result<Self, MetersError> {
        Self::from_meters(meters.x, meters.y, meters.z)
    }

    /// Returns the components in metres; see [`to_meters_lossy`](Self::to_meters_lossy).
    #[must_use]
    pub fn to_dvec3_lossy(self) -> DVec3 {
        DVec3::from_array(self.to_meters_lossy())
    }

    /// Returns the components in metres, for drawing; see
    /// [`to_meters_f32_lossy`](Self::to_meters_f32_lossy).
    #[must_use]
    pub fn to_vec3_lossy(self) -> Vec3 {
        Vec3::from_array(self.to_meters_f32_lossy())
    }
}
