//! Frames: how a leaf writes positions as 31-bit offsets.
//!
//! A leaf in a small cube counts millimetres from the cube's corner and is exact. A leaf in a large
//! cube (few points, far apart) counts in units of 2^shift from a corner that follows its points,
//! and keeps the whole positions beside; its offsets only say who needs a closer look.

use super::cube::{Cube, Key};

/// The largest cube that is exact has a side of two to this power.
pub(super) const OFFSET_BITS: u8 = 30;

/// Offsets are below this: the largest exact cube with its slack on both sides. So a difference of an
/// offset and a nearby centre fits `i32`, and the highest bit is free.
pub(super) const OFFSET_END: u32 = (1 << OFFSET_BITS) + (1 << (OFFSET_BITS - 5));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) origin: Key,
    /// An offset counts units of 2^shift millimetres.
    pub(super) shift: u8,
}

impl Frame {
    /// Returns the frame of a cube small enough to be exact with no regard to its points.
    #[inline]
    pub(super) fn of_cube(cube: &Cube) -> Option<Self> {
        (cube.level <= OFFSET_BITS).then(|| Self {
            origin: cube.origin.map(|v| v.saturating_sub(cube.slack())),
            shift: 0,
        })
    }

    /// Returns a frame for the points between two corners, with half as much room again on each
    /// side, so that a drifting crowd is not framed anew at every step.
    pub(super) fn spanning(low: &Key, high: &Key) -> Self {
        let extent = (0..3).map(|axis| high[axis] - low[axis]).max().unwrap_or(0);
        let bits = u128::BITS - extent.leading_zeros();
        // The extent takes at most 29 of the 30 bits; the corner is pushed out by a quarter of 2^30.
        let shift = u8::try_from(bits.saturating_sub(u32::from(OFFSET_BITS) - 1)).unwrap_or(0);
        let room = 1_u128 << (OFFSET_BITS - 2) << shift;
        Self {
            origin: low.map(|v| v.saturating_sub(room)),
            shift,
        }
    }

    #[inline]
    pub(super) fn is_exact(&self) -> bool {
        self.shift == 0
    }

    /// Returns whether an exact frame is sure to hold a key.
    #[inline]
    pub(super) fn holds(&self, key: &Key) -> bool {
        // Without a look at who is larger, the universe's first points would seem to follow its last.
        let from = |k: usize| key[k].wrapping_sub(self.origin[k]);
        let below = |k: usize| key[k] < self.origin[k];
        (from(0) | from(1) | from(2)) >> OFFSET_BITS == 0 && !(below(0) | below(1) | below(2))
    }

    /// Returns the offsets of a key, or `None` if it lies outside the frame.
    #[inline]
    pub(super) fn offsets(&self, key: &Key) -> Option<[u32; 3]> {
        let mut offsets = [0; 3];
        for axis in 0..3 {
            let offset = key[axis].checked_sub(self.origin[axis])? >> self.shift;
            if offset >= u128::from(OFFSET_END) {
                return None;
            }
            offsets[axis] = u32::try_from(offset).expect("offsets have 31 bits");
        }
        Some(offsets)
    }

    /// Returns the key of offsets in an exact frame.
    #[inline]
    pub(super) fn key(&self, offsets: [u32; 3]) -> Key {
        debug_assert!(self.is_exact(), "a coarse frame cannot lead back");
        [0, 1, 2].map(|axis| self.origin[axis] + u128::from(offsets[axis]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spanning_frame_holds_its_points_whatever_their_spread() {
        for bits in 0..=128_u32 {
            let reach = u128::MAX.unbounded_shr(128 - bits);
            for low in [0, 1 << 100, u128::MAX - reach] {
                let high = low.saturating_add(reach);
                let frame = Frame::spanning(&[low, 5, low], &[high, 5, high]);
                assert!(
                    frame.offsets(&[low, 5, high]).is_some(),
                    "bits {bits} low {low:x}"
                );
                assert_eq!(frame.is_exact(), high - low < 1 << 29);
            }
        }
    }

    #[test]
    fn exact_offsets_lead_back() {
        let frame = Frame::of_cube(&Cube::around(&[1 << 100, 7, u128::MAX], 30)).expect("small");
        let key = [(1 << 100) + 12, 3, u128::MAX];
        assert_eq!(frame.key(frame.offsets(&key).expect("inside")), key);
        assert_eq!(frame.offsets(&[0, 0, 0]), None);
        assert!(!frame.holds(&[0, 0, 0]));
        let last = Frame::spanning(&[u128::MAX; 3], &[u128::MAX; 3]);
        assert!(last.holds(&[u128::MAX; 3]) && !last.holds(&[5; 3]));
    }
}
