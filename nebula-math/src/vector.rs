//! `IVec3_128`: fields, constants, constructors.

/// A displacement: three `i128` millimetres.
///
/// ```
/// use nebula_math::{IVec3_128, WorldPosition};
///
/// let step = IVec3_128::new(1, -2, 3);
/// assert_eq!(WorldPosition::ORIGIN + step, WorldPosition::new(1, -2, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[repr(C)]
pub struct IVec3_128 {
    /// Millimetres along x.
    pub x: i128,
    /// Millimetres along y.
    pub y: i128,
    /// Millimetres along z.
    pub z: i128,
}

impl IVec3_128 {
    /// The displacement that goes nowhere.
    pub const ZERO: Self = Self::new(0, 0, 0);

    /// Makes a displacement from its components.
    #[must_use]
    #[inline]
    pub const fn new(x: i128, y: i128, z: i128) -> Self {
        Self { x, y, z }
    }
}
