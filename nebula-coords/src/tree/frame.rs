//! Frames: how a leaf writes positions in 31 bits an axis.
//!
//! A leaf whose points are close together counts millimetres from a corner and is exact. A leaf whose points
//! are far apart writes floats, which count from an end of its cube or of its points, and keeps the whole
//! positions beside: the floats say who needs a closer look. Close to the corner they tell millimetres
//! apart even if other points of the leaf are light years away.

use super::best::float;
use super::cube::{Cube, Key};

/// The largest cube that is exact has a side of two to this power.
pub(super) const OFFSET_BITS: u8 = 30;

/// Offsets are below this: the largest exact cube with its slack on both sides. So a difference of an
/// offset and a nearby centre fits `i32`, and the highest bit is free.
pub(super) const OFFSET_END: u32 = (1 << OFFSET_BITS) + (1 << (OFFSET_BITS - 5));

/// Points at most this far apart are written exactly, with half as much room again on each side.
const CLOSE: u128 = 1 << (OFFSET_BITS - 1);

/// A float is two to this power where a point is as far from the corner as its cube is wide: squares of
/// distances to its neighbours neither overflow nor, from a millimetre on, vanish.
const FLOAT_BITS: u8 = 62;

/// So many points of a leaf tell where most of them are.
const SAMPLE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// The corner that offsets count from.
    pub(super) origin: Key,
    /// The level of the cube, if offsets are floats; else 0.
    level: u8,
    /// The axes along which floats count down from the corner, a bit for each.
    down: u8,
    /// The axes along which the corner is the cube's own: nothing is beyond it but strays, which are
    /// written as if they stood on it.
    ends: u8,
}

impl Frame {
    const fn exact(origin: Key) -> Self {
        Self {
            origin,
            level: 0,
            down: 0,
            ends: 0,
        }
    }

    /// Returns the frame of a cube small enough to be exact with no regard to its points.
    #[inline]
    pub(super) fn of_cube(cube: &Cube) -> Option<Self> {
        (cube.level <= OFFSET_BITS)
            .then(|| Self::exact(cube.origin.map(|v| v.saturating_sub(cube.slack()))))
    }

    /// Returns the frame of a leaf with some keys, at least one.
    pub(super) fn fitting(cube: &Cube, keys: &[Key]) -> Self {
        Self::of_cube(cube)
            .or_else(|| Self::around(keys))
            .unwrap_or_else(|| Self::of_floats(cube, keys))
    }

    /// Returns the exact frame of keys that are close to each other.
    fn around(keys: &[Key]) -> Option<Self> {
        let first = &keys[0];
        // Keys that are not close differ from the first, and most often the second does already.
        let is_close = |key: &Key| (0..3).all(|k| key[k].abs_diff(first[k]) < CLOSE);
        if !keys.iter().all(is_close) {
            return None;
        }
        let (low, high) = bounds(keys);
        Self::spanning(&low, &high)
    }

    /// Returns the exact frame for the points between two corners if they are close to each other, with
    /// half as much room again on each side, so that a drifting crowd is not framed anew at every step.
    pub(super) fn spanning(low: &Key, high: &Key) -> Option<Self> {
        let is_close = (0..3).all(|k| high[k] - low[k] < CLOSE);
        is_close.then(|| Self::exact(low.map(|v| v.saturating_sub(CLOSE / 2))))
    }

    /// Returns a frame of floats for keys, some of which are outside the cube if they stray.
    fn of_floats(cube: &Cube, keys: &[Key]) -> Self {
        let (middle, last) = (cube.middle(), cube.last());
        let mut frame = Self {
            origin: cube.origin,
            level: cube.level,
            down: 0,
            ends: 0b111,
        };
        // A few tell where most are. The first and the last are among them: a leaf of two has no others.
        let stride = (keys.len() / SAMPLE).max(1);
        let sample = || keys.iter().step_by(stride).chain(keys.last());
        let (low, high) = bounds(sample());
        let extent = (0..3).map(|k| high[k] - low[k]).max().unwrap_or(0);
        for k in 0..3 {
            let upper = sample().filter(|key| key[k] >= middle[k]).count();
            if upper * 2 > sample().count() {
                frame.down |= 1 << k;
                frame.origin[k] = last[k];
            }
            let below = low[k].saturating_sub(cube.origin[k]);
            let above = last[k].saturating_sub(high[k]);
            if below.min(above) > extent {
                // Far from both ends of the cube, the points have an end of their own.
                let low = keys.iter().map(|key| key[k]).min().unwrap_or(0);
                frame.origin[k] = low.saturating_sub(extent / 2);
                frame.ends &= !(1 << k);
                frame.down &= !(1 << k);
            }
        }
        frame
    }

    #[inline]
    pub(super) fn is_exact(&self) -> bool {
        self.level == 0
    }

    /// Returns what a millimetre is in a frame of floats.
    #[inline]
    pub(super) fn millimetre(&self) -> f64 {
        f64::from_bits((1_023 + u64::from(FLOAT_BITS) - u64::from(self.level)) << 52)
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
        if !self.is_exact() {
            return self.floats(key);
        }
        let mut offsets = [0; 3];
        for axis in 0..3 {
            let offset = key[axis].checked_sub(self.origin[axis])?;
            if offset >= u128::from(OFFSET_END) {
                return None;
            }
            offsets[axis] = u32::try_from(offset).expect("offsets have 31 bits");
        }
        Some(offsets)
    }

    /// Returns the bits of the floats that a key is written as.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float is what is wanted, and kernel.rs knows what it loses"
    )]
    fn floats(&self, key: &Key) -> Option<[u32; 3]> {
        let millimetre = self.millimetre();
        let mut floats = [0; 3];
        for (k, written) in floats.iter_mut().enumerate() {
            // Without a branch: which way an axis counts differs from leaf to leaf.
            let down = self.counts_down(k);
            let (ahead, back) = (
                key[k].wrapping_sub(self.origin[k]),
                self.origin[k].wrapping_sub(key[k]),
            );
            let way = if down { back } else { ahead };
            let is_below = (key[k] < self.origin[k]) ^ down && way != 0;
            if is_below {
                if self.ends >> k & 1 == 0 {
                    return None;
                }
                continue;
            }
            *written = ((float(way) * millimetre) as f32).to_bits();
        }
        Some(floats)
    }

    #[inline]
    pub(super) fn counts_down(&self, axis: usize) -> bool {
        self.down >> axis & 1 == 1
    }

    /// Returns the key of offsets in an exact frame.
    #[inline]
    pub(super) fn key(&self, offsets: [u32; 3]) -> Key {
        debug_assert!(self.is_exact(), "floats cannot lead back");
        [0, 1, 2].map(|axis| self.origin[axis] + u128::from(offsets[axis]))
    }
}

/// Returns the corners of the box around some keys.
fn bounds<'a>(keys: impl IntoIterator<Item = &'a Key>) -> (Key, Key) {
    let (mut low, mut high) = ([u128::MAX; 3], [0; 3]);
    for key in keys {
        for k in 0..3 {
            low[k] = low[k].min(key[k]);
            high[k] = high[k].max(key[k]);
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_holds_its_points_whatever_their_spread() {
        for bits in 0..=128_u32 {
            let reach = u128::MAX.unbounded_shr(128 - bits);
            for low in [0, 1 << 100, u128::MAX - reach] {
                let high = low.saturating_add(reach);
                let keys = [[low, 5, low], [high, 5, high]];
                let frame = Frame::fitting(&Cube::UNIVERSE, &keys);
                for key in [keys[0], keys[1], [low, 5, high]] {
                    assert!(frame.offsets(&key).is_some(), "bits {bits} low {low:x}");
                }
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
        let last = Frame::spanning(&[u128::MAX; 3], &[u128::MAX; 3]).expect("one spot");
        assert!(last.holds(&[u128::MAX; 3]) && !last.holds(&[5; 3]));
    }

    /// Floats tell small distances from the corner apart, and lose less than 2^-23 of any.
    #[test]
    fn floats_count_from_the_end_that_is_near() {
        let cube = Cube::around(&[1 << 120, (1 << 120) - 1, 0], 100);
        let (first, last) = (cube.origin, cube.last());
        for bits in [0, 1, 20, 31, 60, 96] {
            let way = (1_u128 << bits) + (1_u128 << bits >> 1);
            let keys = [
                [first[0] + way, last[1] - way, first[2]],
                [first[0], last[1], first[2] + (1 << 98)],
            ];
            let frame = Frame::fitting(&cube, &keys);
            assert_eq!(
                [0, 1, 2].map(|k| frame.counts_down(k)),
                [false, true, false]
            );
            let floats = frame.offsets(&keys[0]).expect("inside").map(f32::from_bits);
            let written = floats.map(|v| f64::from(v) / frame.millimetre());
            #[expect(clippy::cast_precision_loss, reason = "two bits")]
            let exact = way as f64;
            assert_eq!(written, [exact, exact, 0.0]);
            // A stray is written as if it stood on the corner.
            let stray = [first[0] - 9, last[1] + 9, first[2]];
            assert_eq!(frame.offsets(&stray), Some([0; 3]));
        }
    }

    #[test]
    fn points_far_from_the_ends_of_their_cube_have_an_end_of_their_own() {
        let middle = 1 << 127;
        let keys = [[middle; 3], [middle + (1 << 40); 3]];
        let frame = Frame::fitting(&Cube::UNIVERSE, &keys);
        assert!(!frame.is_exact());
        assert_eq!(frame.origin, [middle - (1 << 39); 3]);
        assert!(frame.offsets(&[middle - (1 << 39); 3]).is_some());
        assert_eq!(frame.offsets(&[middle - (1 << 39) - 1; 3]), None);
    }

    #[test]
    fn a_float_loses_less_than_a_share_of_itself() {
        let frame = Frame {
            level: 128,
            ends: 0b111,
            ..Frame::exact([0; 3])
        };
        for bits in 0..128 {
            for more in [0_u128, 1, u128::MAX] {
                let number = (1 << bits) | (more & ((1 << bits) - 1));
                let [float, ..] = frame.floats(&[number; 3]).expect("inside");
                assert!(float >> 31 == 0, "the highest bit is free");
                let float = f64::from(f32::from_bits(float)) / frame.millimetre();
                #[expect(clippy::cast_precision_loss, reason = "covered by the margin")]
                let lost = (float / number as f64 - 1.0).abs();
                assert!(lost < 1.0 / f64::from(1 << 23), "{number:x}");
            }
        }
    }
}
