//! `CubeFace`: the six faces of the cube around a planet.

use core::fmt;

use nebula_math::IVec3_128;

/// A face of the cube around a planet, named by the axis that points out of it.
///
/// The axes of a face turn counter-clockwise seen from outside: `u_axis` x `v_axis` = `normal`.
///
/// ```
/// use nebula_coords::CubeFace;
/// use nebula_math::IVec3_128;
///
/// assert_eq!(CubeFace::NegX.normal(), IVec3_128::new(-1, 0, 0));
/// assert_eq!(CubeFace::NegX.opposite(), CubeFace::PosX);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CubeFace {
    /// Towards larger x.
    PosX,
    /// Towards smaller x.
    NegX,
    /// Towards larger y.
    PosY,
    /// Towards smaller y.
    NegY,
    /// Towards larger z.
    PosZ,
    /// Towards smaller z.
    NegZ,
}

impl CubeFace {
    /// The six faces.
    pub const ALL: [Self; 6] = [
        Self::PosX,
        Self::NegX,
        Self::PosY,
        Self::NegY,
        Self::PosZ,
        Self::NegZ,
    ];

    /// Returns the unit step out of the planet through the middle of the face.
    #[must_use]
    pub const fn normal(self) -> IVec3_128 {
        let step = if self.is_negative() { -1 } else { 1 };
        match self.axis() {
            0 => IVec3_128::new(step, 0, 0),
            1 => IVec3_128::new(0, step, 0),
            _ => IVec3_128::new(0, 0, step),
        }
    }

    /// Returns the unit step in which `u` grows.
    #[must_use]
    pub const fn u_axis(self) -> IVec3_128 {
        unit(self.uv_axes().0)
    }

    /// Returns the unit step in which `v` grows.
    #[must_use]
    pub const fn v_axis(self) -> IVec3_128 {
        unit(self.uv_axes().1)
    }

    /// Returns the face on the other side of the planet.
    #[must_use]
    pub const fn opposite(self) -> Self {
        Self::from_axis(self.axis(), !self.is_negative())
    }

    /// Returns the face that looks along an axis: 0 is x, 1 is y, 2 is z.
    pub(super) const fn from_axis(axis: usize, negative: bool) -> Self {
        match (axis, negative) {
            (0, false) => Self::PosX,
            (0, true) => Self::NegX,
            (1, false) => Self::PosY,
            (1, true) => Self::NegY,
            (_, false) => Self::PosZ,
            (_, true) => Self::NegZ,
        }
    }

    pub(super) const fn axis(self) -> usize {
        match self {
            Self::PosX | Self::NegX => 0,
            Self::PosY | Self::NegY => 1,
            Self::PosZ | Self::NegZ => 2,
        }
    }

    pub(super) const fn is_negative(self) -> bool {
        matches!(self, Self::NegX | Self::NegY | Self::NegZ)
    }

    /// Returns which axes `u` and `v` run along, always towards larger coordinates; swapping the
    /// two on negative faces keeps every face counter-clockwise.
    pub(super) const fn uv_axes(self) -> (usize, usize) {
        let (next, last) = ((self.axis() + 1) % 3, (self.axis() + 2) % 3);
        if self.is_negative() {
            (last, next)
        } else {
            (next, last)
        }
    }
}

const fn unit(axis: usize) -> IVec3_128 {
    CubeFace::from_axis(axis, false).normal()
}

impl fmt::Display for CubeFace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PosX => "+x",
            Self::NegX => "-x",
            Self::PosY => "+y",
            Self::NegY => "-y",
            Self::PosZ => "+z",
            Self::NegZ => "-z",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_of_every_face_are_right_handed() {
        for face in CubeFace::ALL {
            let (u, v, n) = (face.u_axis(), face.v_axis(), face.normal());
            let cross = IVec3_128::new(
                u.y * v.z - u.z * v.y,
                u.z * v.x - u.x * v.z,
                u.x * v.y - u.y * v.x,
            );
            assert_eq!(cross, n, "{face}");
        }
    }
}
