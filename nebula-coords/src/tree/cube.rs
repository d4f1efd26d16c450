//! Keys and cubes: space as the tree sees it.

use nebula_math::{Aabb128, WorldPosition};

/// A position with each axis shifted into `0..2^128`, so that unsigned order is the order in space.
pub(super) type Key = [u128; 3];

const SIGN: u128 = 1 << 127;

#[inline]
pub(super) fn key_of(p: &WorldPosition) -> Key {
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

    /// Returns the corner with the largest coordinates; it belongs to the cube.
    #[inline]
    pub(super) fn last(&self) -> Key {
        let span = u128::MAX.unbounded_shr(128 - u32::from(self.level));
        self.origin.map(|v| v | span)
    }

    pub(super) fn to_aabb(self) -> Aabb128 {
        Aabb128::from_corners(position_of(&self.origin), position_of(&self.last()))
    }
}

/// Returns the three bits of a key at one bit level as a number below 8, x lowest.
#[inline]
pub(super) fn octant(key: &Key, bit: u8) -> usize {
    let at = |axis: usize| usize::from((key[axis] >> bit) & 1 == 1);
    at(0) | at(1) << 1 | at(2) << 2
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
    fn octants_count_x_first() {
        assert_eq!(octant(&[1 << 5, 0, 0], 5), 1);
        assert_eq!(octant(&[0, 1 << 5, 0], 5), 2);
        assert_eq!(octant(&[0, 0, 1 << 127], 127), 4);
    }
}
