//! Cell keys and ranges of them, right for negatives and at the ends of the universe.

use core::hash::{BuildHasher, Hash};

use nebula_math::{Aabb128, WorldPosition};

use super::SpatialGrid;

/// The number of a cell along each axis: the coordinate divided by the cell size, rounded down.
///
/// Keys order by z, then y, then x: row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    // The field order makes the derived order row-major.
    /// Cells along z; always 0 in a grid on the plane.
    pub z: i128,
    /// Cells along y.
    pub y: i128,
    /// Cells along x.
    pub x: i128,
}

/// A box of cells, ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellRange {
    pub(crate) min: CellKey,
    pub(crate) max: CellKey,
}

impl CellRange {
    pub(super) const fn contains(&self, key: &CellKey) -> bool {
        self.min.x <= key.x
            && key.x <= self.max.x
            && self.min.y <= key.y
            && key.y <= self.max.y
            && self.min.z <= key.z
            && key.z <= self.max.z
    }

    /// Returns how many cells the range has, or `u128::MAX` when it has more than that: a cell of
    /// 1 mm gives 2^384.
    pub(super) const fn count(&self) -> u128 {
        let x = self.max.x.abs_diff(self.min.x).saturating_add(1);
        let y = self.max.y.abs_diff(self.min.y).saturating_add(1);
        let z = self.max.z.abs_diff(self.min.z).saturating_add(1);
        x.saturating_mul(y).saturating_mul(z)
    }

    /// Returns every key of the range, row by row.
    pub(super) fn keys(self) -> impl Iterator<Item = CellKey> {
        let Self { min, max } = self;
        (min.z..=max.z).flat_map(move |z| {
            (min.y..=max.y).flat_map(move |y| (min.x..=max.x).map(move |x| CellKey { z, y, x }))
        })
    }

    /// Returns the first key of the range, in row-major order, that is not before `key`.
    pub(crate) fn at_or_after(&self, key: &CellKey) -> Option<CellKey> {
        let (min, max) = (&self.min, &self.max);
        let first_in_layer = |z| (z <= max.z).then_some(CellKey { z, ..*min });
        if key.z < min.z {
            return Some(*min);
        }
        if key.z > max.z {
            return None;
        }
        if key.y < min.y {
            return first_in_layer(key.z);
        }
        if key.y > max.y || (key.y == max.y && key.x > max.x) {
            // Nothing follows the last layer, also where its number has no successor.
            return key.z.checked_add(1).and_then(first_in_layer);
        }
        Some(if key.x > max.x {
            // Below `max.y`, so the successor exists.
            CellKey {
                z: key.z,
                y: key.y + 1,
                x: min.x,
            }
        } else {
            CellKey {
                x: key.x.max(min.x),
                ..*key
            }
        })
    }
}

impl<I: Copy + Ord + Hash, S: BuildHasher + Clone> SpatialGrid<I, S> {
    /// Returns the key of the cell that a position falls into.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::WorldPosition;
    ///
    /// let grid = SpatialGrid::<u32>::new(10)?;
    /// let key = grid.cell_of(&WorldPosition::new(-1, -10, 10));
    /// assert_eq!((key.x, key.y, key.z), (-1, -1, 1));
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    #[must_use]
    pub fn cell_of(&self, at: &WorldPosition) -> CellKey {
        CellKey {
            x: floor_div(at.x, self.cell_mm),
            y: floor_div(at.y, self.cell_mm),
            z: if self.flat {
                0
            } else {
                floor_div(at.z, self.cell_mm)
            },
        }
    }

    /// Returns the space that a cell covers, clipped to the universe.
    ///
    /// A key outside the universe gives a box at its edge.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::WorldPosition;
    ///
    /// let grid = SpatialGrid::<u32>::new(10)?;
    /// let cell = grid.cell_bounds(&grid.cell_of(&WorldPosition::new(-1, 0, i128::MAX)));
    /// assert_eq!((cell.min().x, cell.max().x), (-10, -1));
    /// assert_eq!((cell.min().z, cell.max().z), (i128::MAX - 7, i128::MAX));
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    #[must_use]
    pub fn cell_bounds(&self, key: &CellKey) -> Aabb128 {
        // Saturation is the clipping: only the outermost cells reach past the universe.
        let low = |k: i128| k.saturating_mul(self.cell_mm);
        let high = |k: i128| {
            k.checked_mul(self.cell_mm).map_or_else(
                // The first cell may begin below the universe and end inside it.
                || {
                    (k.saturating_add(1))
                        .saturating_mul(self.cell_mm)
                        .saturating_sub(1)
                },
                |lo| lo.saturating_add(self.cell_mm - 1),
            )
        };
        let (z_min, z_max) = if self.flat {
            (i128::MIN, i128::MAX)
        } else {
            (low(key.z), high(key.z))
        };
        Aabb128::from_corners(
            WorldPosition::new(low(key.x), low(key.y), z_min),
            WorldPosition::new(high(key.x), high(key.y), z_max),
        )
    }

    pub(super) fn range_of(&self, bounds: &Aabb128) -> CellRange {
        CellRange {
            min: self.cell_of(&bounds.min()),
            max: self.cell_of(&bounds.max()),
        }
    }
}

/// Divides and rounds down. The divisor is positive, so nothing overflows.
fn floor_div(a: i128, by: i128) -> i128 {
    // Division of 128 bits is a slow library call, and most worlds fit 64.
    match (i64::try_from(a), i64::try_from(by)) {
        (Ok(a), Ok(by)) => i128::from(a.div_euclid(by)),
        _ => a.div_euclid(by),
    }
}
