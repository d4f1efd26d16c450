//! Keys and cubes: space as the tree sees it.

use nebula_math::{Aabb128, WorldPosition};

use super::frame::OFFSET_BITS;
use super::{CROWDED_LEVEL, CROWDED_LIMIT, LEAF_LIMIT, WIDE_LIMIT};

/// A position with each axis shifted into `0..2^128`, so that unsigned order is the order in space.
pub(crate) type Key = [u128; 3];

const SIGN: u128 = 1 << 127;

/// A leaf's slack is its side divided by two to this power. A wider one saves crossings, and lets
/// queries look into more leaves that hold nothing for them.
const SLACK_BITS: u32 = 6;

#[inline]
pub(crate) fn key_of(p: &WorldPosition) -> Key {
    [p.x, p.y, p.z].map(|v| v.cast_unsigned() ^ SIGN)
}

#[inline]
pub(super) fn position_of(key: &Key) -> WorldPosition {
    let [x, y, z] = key.map(|v| (v ^ SIGN).cast_signed());
    WorldPosition::new(x, y, z)
}

/// Returns the smallest level whose aligned cube holds every key that differs from a common one by
/// these bits.
#[inline]
pub(super) fn level_of_difference(bits: u128) -> u8 {
    let level = u128::BITS - bits.leading_zeros();
    u8::try_from(level).expect("a level is at most 128")
}

/// A cube of side 2^level, aligned to multiples of its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cube {
    pub(super) origin: Key,
    pub(super) level: u8,
}

impl Cube {
    pub(super) const UNIVERSE: Self = Self {
        origin: [0; 3],
        level: 128,
    };

    /// Returns the cube of a level that holds a key.
    #[inline]
    pub(super) fn around(key: &Key, level: u8) -> Self {
        let shift = u32::from(level);
        Self {
            origin: key.map(|v| v.unbounded_shr(shift).unbounded_shl(shift)),
            level,
        }
    }

    #[inline]
    pub(super) fn contains(&self, key: &Key) -> bool {
        let bits =
            (key[0] ^ self.origin[0]) | (key[1] ^ self.origin[1]) | (key[2] ^ self.origin[2]);
        bits.unbounded_shr(u32::from(self.level)) == 0
    }

    /// Does the same for a cube of a level below 64, in fewer steps.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a number")]
    pub(super) fn contains_small(&self, key: &Key) -> bool {
        debug_assert!(self.level < 64, "the higher half decides by itself");
        let bits =
            (key[0] ^ self.origin[0]) | (key[1] ^ self.origin[1]) | (key[2] ^ self.origin[2]);
        let (high, low) = ((bits >> 64) as u64, bits as u64);
        high | low >> (self.level & 63) == 0
    }

    /// Returns how far outside a leaf of this cube a point may stray before it has to move to another
    /// one: a 64th of the side. Who walks along a border, or stands on one, crosses it seldom.
    #[inline]
    pub(super) fn slack(&self) -> u128 {
        // The universe has no outside.
        1_u128.unbounded_shl(u32::from(self.level)) >> SLACK_BITS
    }

    /// Returns how far a key lies outside the cube, along the axis where that is farthest, as a number
    /// of bits; or `None` if that is more than the slack.
    #[inline]
    pub(super) fn stray(&self, key: &Key) -> Option<u8> {
        if self.contains(key) {
            return Some(0);
        }
        let last = self.last();
        let outside = |k: usize| {
            let (below, above) = (
                self.origin[k].saturating_sub(key[k]),
                key[k].saturating_sub(last[k]),
            );
            below.max(above)
        };
        let farthest = outside(0).max(outside(1)).max(outside(2));
        (farthest <= self.slack()).then(|| level_of_difference(farthest))
    }

    /// Returns the corners of the cube with room for points that stray by so many bits.
    #[inline]
    pub(super) fn stretched(&self, stray: u8) -> (Key, Key) {
        let room = room_for(stray);
        (
            self.origin.map(|v| v.saturating_sub(room)),
            self.last().map(|v| v.saturating_add(room)),
        )
    }

    /// Returns how many points a leaf of this cube takes before it splits.
    #[inline]
    pub(super) const fn leaf_limit(&self) -> usize {
        if self.level <= CROWDED_LEVEL {
            CROWDED_LIMIT
        } else if self.level <= OFFSET_BITS {
            LEAF_LIMIT
        } else {
            WIDE_LIMIT
        }
    }

    /// Returns the corner of the upper half along every axis.
    #[inline]
    pub(super) fn middle(&self) -> Key {
        let half = 1_u128.unbounded_shl(u32::from(self.level) - 1);
        self.origin.map(|v| v | half)
    }

    /// Returns the corner with the largest coordinates; it belongs to the cube.
    #[inline]
    pub(super) fn last(&self) -> Key {
        let span = u128::MAX.unbounded_shr(128 - u32::from(self.level));
        self.origin.map(|v| v | span)
    }

    /// Returns the box of the cube with room for points that stray by so many bits.
    pub(super) fn to_stretched_aabb(self, stray: u8) -> Aabb128 {
        let (low, high) = self.stretched(stray);
        Aabb128::from_corners(position_of(&low), position_of(&high))
    }
}

/// Returns the longest way of so many bits.
#[inline]
pub(super) fn room_for(stray: u8) -> u128 {
    u128::MAX.unbounded_shr(128 - u32::from(stray))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_of_space() {
        let line =
            [i128::MIN, -1, 0, 1, i128::MAX].map(|v| key_of(&WorldPosition::new(v, 0, 0))[0]);
        assert!(line.is_sorted());
        assert_eq!((line[0], line[4]), (0, u128::MAX));
    }

    #[test]
    fn a_key_leads_back_to_its_position() {
        for p in [
            WorldPosition::MIN,
            WorldPosition::MAX,
            WorldPosition::new(-1, 0, 1),
        ] {
            assert_eq!(position_of(&key_of(&p)), p);
        }
    }

    #[test]
    fn the_universe_and_a_point_are_cubes() {
        let corner = [u128::MAX; 3];
        assert_eq!(Cube::around(&corner, 128), Cube::UNIVERSE);
        assert!(Cube::UNIVERSE.contains(&corner));
        assert_eq!(Cube::UNIVERSE.last(), corner);
        let point = Cube::around(&corner, 0);
        assert_eq!((point.origin, point.last()), (corner, corner));
        assert!(!point.contains(&[u128::MAX, u128::MAX, u128::MAX - 1]));
    }

    #[test]
    fn small_cubes_hold_the_same_points_either_way() {
        let corner = [1 << 90, 0, u128::MAX];
        for level in 0..64 {
            let cube = Cube::around(&corner, level);
            for bit in 0..128 {
                for axis in 0..3 {
                    let mut key = corner;
                    key[axis] ^= 1 << bit;
                    assert_eq!(cube.contains_small(&key), bit < level, "{level} {bit}");
                    assert_eq!(cube.contains(&key), bit < level, "{level} {bit}");
                }
            }
            assert!(cube.contains_small(&corner));
        }
    }

    #[test]
    fn points_stray_by_up_to_a_64th_of_the_side() {
        let cube = Cube::around(&[1 << 90, 0, u128::MAX], 10);
        let [x, y, z] = [1 << 90, 0, u128::MAX];
        assert_eq!(cube.stray(&[x, y, z - 1_023]), Some(0));
        assert_eq!(cube.stray(&[x - 1, y, z]), Some(1));
        assert_eq!(cube.stray(&[x - 16, y + 1_023 + 16, z]), Some(5));
        assert_eq!(cube.stray(&[x, y + 1_023 + 17, z]), None);
        assert_eq!(cube.stray(&[x, y, z - 1_023 - 17]), None);
        assert_eq!(cube.stretched(0), (cube.origin, cube.last()));
        // The room ends with the universe.
        let (low, high) = cube.stretched(5);
        assert_eq!(low, [x - 31, 0, z - 1_023 - 31]);
        assert_eq!(high, [x + 1_023 + 31, 1_023 + 31, u128::MAX]);
        assert_eq!(
            (Cube::UNIVERSE.slack(), Cube::around(&[7; 3], 5).slack()),
            (0, 0)
        );
    }
}
