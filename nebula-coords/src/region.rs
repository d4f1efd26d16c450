//! `Region`: the part of space a query asks about.

mod swept;

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

    /// Makes a ball that measures with the given metric.
    ///
    /// ```
    /// use nebula_coords::{Metric, Region};
    /// use nebula_math::WorldPosition;
    ///
    /// let corner = WorldPosition::new(-3, 3, 0);
    /// assert!(Region::ball_in(WorldPosition::ORIGIN, 3, Metric::Chebyshev).contains(&corner));
    /// assert!(!Region::ball_in(WorldPosition::ORIGIN, 5, Metric::Manhattan).contains(&corner));
    /// ```
    #[must_use]
    pub const fn ball_in(center: WorldPosition, radius_mm: i128, metric: Metric) -> Self {
        Self::Ball {
            center,
            radius_mm,
            metric,
        }
    }

    /// Makes the region of a single point.
    #[must_use]
    pub const fn at(point: WorldPosition) -> Self {
        Self::ball(point, 0)
    }

    /// Makes the space that a sphere sweeps on its straight way between two points.
    ///
    /// ```
    /// use nebula_coords::Region;
    /// use nebula_math::WorldPosition;
    ///
    /// let shot = Region::swept(WorldPosition::new(-90, -90, 0), WorldPosition::new(90, 90, 0), 7);
    /// assert!(shot.contains(&WorldPosition::new(4, -5, 0))); // 9 / sqrt(2) is 6.36 off the line
    /// assert!(!shot.contains(&WorldPosition::new(5, -5, 0))); // 10 / sqrt(2) is 7.07 off it
    /// assert!(!shot.contains(&WorldPosition::new(95, 95, 0))); // beyond the end: 7.07 from it
    /// ```
    #[must_use]
    pub const fn swept(from: WorldPosition, to: WorldPosition, radius_mm: i128) -> Self {
        Self::Swept {
            from,
            to,
            radius_mm,
        }
    }

    /// Returns the smallest box around the region, or `None` for a region that holds nothing.
    ///
    /// A region that reaches past the end of the universe is cut there, where nothing can be. A
    /// region is empty exactly when its radius is negative.
    ///
    /// ```
    /// use nebula_coords::Region;
    /// use nebula_math::WorldPosition;
    ///
    /// let bounds = Region::ball(WorldPosition::new(i128::MIN, 0, 0), 5).bounds().unwrap();
    /// assert_eq!((bounds.min().x, bounds.max().x), (i128::MIN, i128::MIN + 5));
    /// assert_eq!(Region::ball(WorldPosition::ORIGIN, -1).bounds(), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn bounds(&self) -> Option<Aabb128> {
        match self {
            Self::Ball {
                center, radius_mm, ..
            } => grown(&Aabb128::from_corners(*center, *center), *radius_mm),
            Self::Box(aabb) => Some(*aabb),
            Self::Swept {
                from,
                to,
                radius_mm,
            } => grown(&Aabb128::from_corners(*from, *to), *radius_mm),
        }
    }

    /// Returns some place by which regions that lie beside each other are known.
    pub(crate) fn place(&self) -> WorldPosition {
        match self {
            Self::Ball { center, .. } => *center,
            Self::Box(aabb) => aabb.min(),
            Self::Swept { from, .. } => *from,
        }
    }

    /// Returns whether the region holds the point, exactly.
    #[must_use]
    #[inline]
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
            Self::Swept {
                from,
                to,
                radius_mm,
            } => swept::contains(from, to, *radius_mm, p),
        }
    }
}

/// Widens a box by a radius on every side, up to the end of the universe; `None` if negative.
fn grown(aabb: &Aabb128, radius_mm: i128) -> Option<Aabb128> {
    if radius_mm < 0 {
        return None;
    }
    let (low, high) = (aabb.min(), aabb.max());
    Some(Aabb128::from_corners(
        WorldPosition::new(
            low.x.saturating_sub(radius_mm),
            low.y.saturating_sub(radius_mm),
            low.z.saturating_sub(radius_mm),
        ),
        WorldPosition::new(
            high.x.saturating_add(radius_mm),
            high.y.saturating_add(radius_mm),
            high.z.saturating_add(radius_mm),
        ),
    ))
}
