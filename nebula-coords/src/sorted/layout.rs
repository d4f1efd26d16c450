//! Small numbers for the sweep: offsets below 2^31, the usual radius, and how rows make sort keys.

use core::ops::RangeInclusive;

use nebula_math::WorldPosition;

use super::rows::Small;
use crate::radix::index_bits;

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
    /// Whether offsets count from a corner of a cell.
    on_cells: bool,
    entries: usize,
    sizes: Sizes,
}

/// Writes every entry into `out` in offsets from the smallest corner, and returns their span; `None` when
/// they are too far apart or too large.
pub(super) fn measure(
    positions: &[WorldPosition],
    radii: &[i128],
    cell_bits: u32,
    out: &mut Vec<Small>,
) -> Option<Span> {
    let origin = positions.first()?;
    let mut sizes = Sizes::default();
    let (mut low, mut high) = ([0_i32; 3], [0_i32; 3]);
    // Asked at the end, as nearly always everything fits.
    let mut all_fit = true;
    let small = positions.iter().zip(radii).map(|(p, radius)| {
        let offsets = [
            offset(p.x, origin.x),
            offset(p.y, origin.y),
            offset(p.z, origin.z),
        ];
        for axis in 0..3 {
            low[axis] = low[axis].min(offsets[axis].0);
            high[axis] = high[axis].max(offsets[axis].0);
            all_fit &= offsets[axis].1;
        }
        let radius = sizes.count(*radius);
        all_fit &= radius.is_some();
        let [x, y, z] = offsets.map(|(offset, _)| offset.cast_unsigned());
        let radius = radius.unwrap_or_default();
        Small { x, y, z, radius }
    });
    out.clear();
    out.extend(small);
    if !all_fit {
        return None;
    }
    let extent_from = |low: &[i32; 3]| {
        let extent = |axis: usize| {
            let extent = high[axis].abs_diff(low[axis]);
            (extent < EXTENT_LIMIT).then_some(extent)
        };
        Some([extent(0)?, extent(1)?, extent(2)?])
    };
    // From the corner of a cell, if the extent allows it.
    let corner = corner(origin, &low, cell_bits).filter(|corner| extent_from(corner).is_some());
    let on_cells = corner.is_some();
    low = corner.unwrap_or(low);
    let extent = extent_from(&low)?;
    // Offsets wrap as their bits do, and end below 2^31.
    let min = low.map(i32::cast_unsigned);
    for entry in out.iter_mut() {
        *entry = Small {
            x: entry.x.wrapping_sub(min[0]),
            y: entry.y.wrapping_sub(min[1]),
            z: entry.z.wrapping_sub(min[2]),
            ..*entry
        };
    }
    Some(Span {
        extent,
        on_cells,
        entries: out.len(),
        sizes,
    })
}

/// Returns a difference, and whether that is right: it is small. A wrapping one would take the two ends of
/// the universe for neighbours.
#[expect(clippy::cast_possible_truncation, reason = "what is cut off is told")]
#[inline]
const fn offset(v: i128, from: i128) -> (i32, bool) {
    let (wide, wraps) = v.overflowing_sub(from);
    let offset = wide as i32;
    (offset, !wraps & (offset as i128 == wide))
}

/// Returns the corner of the cell in which the smallest offsets lie, as offsets.
fn corner(origin: &WorldPosition, low: &[i32; 3], cell_bits: u32) -> Option<[i32; 3]> {
    let mask = 1_i32.checked_shl(cell_bits)?.checked_sub(1)?;
    let corner = |origin: i128, low: i32| {
        // The bits below those of the cell; what is above does not matter.
        let phase = i32::try_from(origin & i128::from(mask)).ok()?;
        low.checked_sub(phase.wrapping_add(low) & mask)
    };
    Some([
        corner(origin.x, low[0])?,
        corner(origin.y, low[1])?,
        corner(origin.z, low[2])?,
    ])
}

impl Span {
    /// Returns how many entries there are that can touch something.
    pub(super) fn touchable(&self) -> usize {
        self.sizes.by_bits.iter().sum()
    }

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
        // A row must be at least as thick as the widest contact of its entries.
        let row_shift = width((2 * radii.end()).saturating_sub(1));
        self.layout_of(radii, row_shift)
    }

    /// Returns a layout whose rows are those of the cells, if these are as thick as rows must be or twice.
    pub(super) fn with_cells(&self, layout: &Layout, cell_bits: u32) -> Option<Layout> {
        let thicker = cell_bits.checked_sub(layout.row_shift)?;
        (self.on_cells && thicker <= 1).then(|| self.layout_of(layout.radii.clone(), cell_bits))
    }

    fn layout_of(&self, radii: RangeInclusive<u32>, row_shift: u32) -> Layout {
        let [x, y, z] = self.extent;
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

const fn width(v: u32) -> u32 {
    u32::BITS - v.leading_zeros()
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
        (u128::from(self.row(entry)) << self.x_bits) | u128::from(entry.x)
    }

    /// Returns the key of the row: z in the high bits, y + 1 in the low `y_bits`.
    #[inline]
    pub(super) fn row(&self, entry: &Small) -> u64 {
        let y = u64::from((entry.y >> self.row_shift) + 1);
        let z = u64::from(entry.z >> self.row_shift);
        z << self.y_bits | y
    }
}

/// How many entries there are of each size.
#[derive(Debug, Default)]
struct Sizes {
    by_bits: [usize; 32],
    largest: [u32; 32],
}

impl Sizes {
    /// Counts a radius and returns it in 32 bits, if it fits; a negative one as what touches nothing.
    #[inline]
    fn count(&mut self, radius: i128) -> Option<u32> {
        let Ok(small) = u32::try_from(radius) else {
            return (radius < 0).then_some(Small::NOTHING);
        };
        if small >= RADIUS_LIMIT {
            return None;
        }
        let bits = (u32::BITS - small.leading_zeros()) as usize;
        self.by_bits[bits] += 1;
        self.largest[bits] = self.largest[bits].max(small);
        Some(small)
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
