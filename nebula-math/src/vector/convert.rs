//! Arrays, tuples, and narrower integers.

use crate::units::meters_to_mm;
use crate::{IVec3_128, MetersError, NarrowError};

impl IVec3_128 {
    /// Makes a displacement from metres, each axis rounded once to the nearest millimetre.
    ///
    /// # Errors
    /// When a component is NaN, infinite, or beyond `i128` millimetres; the error names it.
    ///
    /// # Examples
    /// ```
    /// use nebula_math::{IVec3_128, MetersError};
    ///
    /// assert_eq!(IVec3_128::from_meters(-1.5, 0.0, 2.0), Ok(IVec3_128::new(-1_500, 0, 2_000)));
    /// assert_eq!(IVec3_128::from_meters(0.0, f64::NAN, 0.0), Err(MetersError::NotANumber));
    /// ```
    pub fn from_meters(x: f64, y: f64, z: f64) -> Result<Self, MetersError> {
        Ok(Self::new(
            meters_to_mm(x)?,
            meters_to_mm(y)?,
            meters_to_mm(z)?,
        ))
    }
}

impl From<[i128; 3]> for IVec3_128 {
    #[inline]
    fn from(array: [i128; 3]) -> Self {
        Self::from_array(array)
    }
}

impl From<IVec3_128> for [i128; 3] {
    #[inline]
    fn from(v: IVec3_128) -> Self {
        v.to_array()
    }
}

impl From<(i128, i128, i128)> for IVec3_128 {
    #[inline]
    fn from((x, y, z): (i128, i128, i128)) -> Self {
        Self { x, y, z }
    }
}

impl From<IVec3_128> for (i128, i128, i128) {
    #[inline]
    fn from(v: IVec3_128) -> Self {
        (v.x, v.y, v.z)
    }
}

/// Narrower integers: in without loss, out with an error that names what does not fit.
macro_rules! narrow_arrays {
    ($widen:expr => $($int:ident)*) => {$(
        impl From<[$int; 3]> for IVec3_128 {
            #[inline]
            fn from(array: [$int; 3]) -> Self {
                Self::from_array(array.map($widen))
            }
        }

        impl TryFrom<IVec3_128> for [$int; 3] {
            type Error = NarrowError;

            fn try_from(v: IVec3_128) -> Result<Self, NarrowError> {
                let narrow = |axis, value: i128| {
                    $int::try_from(value).map_err(|_| NarrowError::new(axis, value, stringify!($int)))
                };
                Ok([narrow('x', v.x)?, narrow('y', v.y)?, narrow('z', v.z)?])
            }
        }
    )*};
}

narrow_arrays! { i128::from => i8 i16 i32 i64 u8 u16 u32 u64 }
// No `From` says so, but no pointer is wider than 64 bits.
narrow_arrays! { |c| c as i128 => isize usize }
