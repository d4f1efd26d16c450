//! Small numbers for the sweep: offsets below 2^31, the usual radius, and how rows make sort keys.

use core::ops::RangeInclusive;

use nebula_math::WorldPosition;

use super::radix::index_bits;
use super::rows::Small;

/// Offsets stay below this and radii below half of it, so that a sum of three squares fits 64 bits.
const EXTENT_LIMIT: u32 = 1 << 31;
const RADIUS_LIMIT: u32 = 1 << 30;

/// So few entries ask every row themselves: cheaper than everybody asking theirs.
const GIANTS_MAX: usize = 8;

/// Radii of so many lengths in bits share a class.
const CLASS_BITS: usize = 3;

/// How an entry becomes a sort key: row by z, row by y, x.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) x_bits: u32,
    pub(super) y_bits: u32,
    z_bits: u32,
    pub(super) index_bits: u32,
    /// Rows are 2^row_shift thick.
    pub(super) row_shift: u32,
    /// The radii that the rows take in.
    pub(super) radii: RangeInclusive<u32>,
}

/// What there is to sweep.
#[derive(Debug)]
pub(super) struct Span {
    extent: [u32; 3],
    entries: usize,
    sizes: Sizes,
}

/// Writes every entry into `out` in offsets from the smallest corner, and returns their span; `None` when
/// they are too far apart or too large.
pub(super) fn measure(
    positions: &[WorldPosition],
    radii: &[i128],
    out: &mut Vec<Small>,
) -> Option<Span> {
    let origin = positions.first()?;
    let mut sizes = Sizes::default();
    let (mut low, mut high) = ([0_i32; 3], [0_i32; 3]);
    out.clear();
    for (p, radius) in positions.iter().zip(radii) {
        let at = [
            offset(p.x, origin.x)?,
            offset(p.y, origin.y)?,
            offset(p.z, origin.z)?,
        ];
        for axis in 0..3 {
            low[axis] = low[axis].min(at[axis]);
            high[axis] = high[axis].max(at[axis]);
        }
        let radius = match u128::try_from(*radius) {
            Ok(radius) => sizes.count(radius)?,
            Err(_) => Small::NOTHING,
        };
        let [x, y, z] = at.map(i32::cast_unsigned);
        out.push(Small { x, y, z, radius });
    }
    let extent = |axis: usize| {
        let extent = high[axis].abs_diff(low[axis]);
        (extent < EXTENT_LIMIT).then_some(extent)
    };
    let extent = [extent(0)?, extent(1)?, extent(2)?];
    // Offsets wrap as their bits do, and end below 2^31.
    let min = low.map(i32::cast_unsigned);
    for entry in out.iter_mut() {
        entry.x = entry.x.wrapping_sub(min[0]);
        entry.y = entry.y.wrapping_sub(min[1]);
        entry.z = entry.z.wrapping_sub(min[2]);
    }
    Some(Span {
        extent,
        entries: out.len(),
        sizes,
    })
}

/// Returns a small difference. A wrapping one would take the two ends of the universe for neighbours.
#[inline]
fn offset(v: i128, from: i128) -> Option<i32> {
    i32::try_from(v.checked_sub(from)?).ok()
}

impl Span {
    /// Returns a layout for each class of sizes, from the largest down.
    ///
    /// All but a few giants are in some class; the largest of a class are less than 8 times as large as the
    /// smallest, so that no crowd of dust shares thick rows with a few boulders.
    pub(super) fn classes(&self) -> impl Iterator<Item = Layout> + '_ {
        let mut top = self.sizes.usual();
        core::iter::from_fn(move || {
            let bits = self.sizes.highest_up_to(top?)?;
            let lowest = bits.saturating_sub(CLASS_BITS - 1);
            top = lowest.checked_sub(1);
            // A class of the smallest takes in radius 0.
            let smallest = if lowest == 0 { 0 } else { 1 << (lowest - 1) };
            Some(self.layout(smallest..=self.sizes.largest[bits]))
        })
    }

    fn layout(&self, radii: RangeInclusive<u32>) -> Layout {
        let width = |v: u32| u32::BITS - v.leading_zeros();
        let [x, y, z] = self.extent;
        // A row must be at least as thick as the widest contact of its entries.
        let row_shift = width((2 * radii.end()).saturating_sub(1));
        Layout {
            x_bits: width(x),
            // Two spare values keep the rows beside the first and the last one apart from the next layer.
            y_bits: width((y >> row_shift) + 2),
            z_bits: width(z >> row_shift),
            index_bits: index_bits(self.entries),
            row_shift,
            radii,
        }
    }
}

impl Layout {
    pub(super) const fn key_bits(&self) -> u32 {
        self.x_bits + self.y_bits + self.z_bits
    }

    pub(super) const fn fits_u64(&self) -> bool {
        self.key_bits() + self.index_bits <= u64::BITS
    }

    /// Returns the sort key; it has at most 31 + 32 + 31 bits, so with an index of 32 bits it fits 128.
    #[inline]
    pub(super) fn key(&self, entry: &Small) -> u128 {
        let y = u128::from((entry.y >> self.row_shift) + 1);
        let z = u128::from(entry.z >> self.row_shift);
        ((z << self.y_bits | y) << self.x_bits) | u128::from(entry.x)
    }
}

/// How many entries there are of each size.
#[derive(Debug, Default)]
struct Sizes {
    by_bits: [usize; 32],
    largest: [u32; 32],
}

impl Sizes {
    /// Counts a radius and returns it in 32 bits, if it fits.
    #[inline]
    fn count(&mut self, radius: u128) -> Option<u32> {
        let radius = u32::try_from(radius).ok().filter(|r| *r < RADIUS_LIMIT)?;
        let bits = (u32::BITS - radius.leading_zeros()) as usize;
        self.by_bits[bits] += 1;
        self.largest[bits] = self.largest[bits].max(radius);
        Some(radius)
    }

    /// Returns the bits of the largest radius that gets rows; the few above it are giants.
    fn usual(&self) -> Option<usize> {
        let mut giants_left = GIANTS_MAX;
        for bits in (0..32).rev() {
            if self.by_bits[bits] > giants_left {
                return Some(bits);
            }
            giants_left -= self.by_bits[bits];
        }
        None
    }

    /// Returns the bits of the largest radius of at most so many bits.
    fn highest_up_to(&self, bits: usize) -> Option<usize> {
        (0..=bits).rev().find(|bits| self.by_bits[*bits] > 0)
    }
}
