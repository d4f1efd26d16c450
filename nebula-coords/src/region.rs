//! `Region`: the part of space a query asks about.

use nebula_math::{Aabb128, U384, WorldPosition};

/// How a ball measures distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Metric {
    /// The straight line; the ball is a sphere.
    #[default]
    Euclidean,
    /// The sum of the axis distances; the ball is an octahedron.
    Manhattan,
    /// The largest axis distance; the ball is a cube.
    Chebyshev,
}

/// The part of space a query asks about. Boundaries belong to it.
///
/// ```
/// use nebula_coords::Region;
/// use nebula_math::WorldPosition;
///
/// let ball = Region::ball(WorldPosition::new(-7, 0, 0), 7);
/// assert!(ball.contains(&WorldPosition::ORIGIN));
/// assert!(!Region::ball(WorldPosition::ORIGIN, -1).contains(&WorldPosition::ORIGIN));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Every point at most `radius_mm` from `center`; a negative radius holds nothing.
    Ball {
        /// The middle of the ball.
        center: WorldPosition,
        /// The reach in millimetres.
        radius_mm: i128,
        /// How distance is measured.
        metric: Metric,
    },
    /// Every point of a box.
    Box(Aabb128),
    /// Every point at most `radius_mm` from the straight segment between two points: the space a
    /// sphere sweeps. A negative radius holds nothing.
    Swept {
        /// Where the sphere starts.
        from: WorldPosition,
        /// Where the sphere ends.
        to: WorldPosition,
        /// The sphere's radius in millimetres.
        radius_mm: i128,
    },
}

impl Region {
    /// Makes a Euclidean ball.
    #[must_use]
    pub const fn ball(center: WorldPosition, radius_mm: i128) -> Self {
        Self::Ball {
            center,
            radius_mm,
            metric: Metric::Euclidean,
        }
    }

    /// Returns whether the region holds the point, exactly.
    #[must_use]
    pub fn contains(&self, p: &WorldPosition) -> bool {
        match self {
            Self::Ball {
                center,
                radius_mm,
                metric,
            } => match metric {
                Metric::Euclidean => center.is_within(p, *radius_mm),
                Metric::Manhattan => u128::try_from(*radius_mm)
                    .is_ok_and(|r| center.manhattan_distance(p) <= U384::from(r)),
                Metric::Chebyshev => {
                    u128::try_from(*radius_mm).is_ok_and(|r| center.chebyshev_distance(p) <= r)
                }
            },
            Self::Box(aabb) => aabb.contains(p),
            Self::Swept { .. } => unreachable!("replaced by the swept sphere test"),
        }
    }
}
