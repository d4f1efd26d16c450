//! `spatial_order`: an order in which neighbours follow each other.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a cell is cut to the bits that a word has room for"
)]

use nebula_math::WorldPosition;

use crate::radix::{index_bits, radix_sort};
use crate::tree::{Key, key_of};

/// So many axes share a word, and the number of the position takes the rest.
const AXES: u32 = 3;

/// The most bits of an axis that are spread over a word.
const AXIS_BITS: u32 = 21;

/// So many positions in one cell are left as they stand.
const CELL: usize = 32;

/// Returns the numbers of some positions in an order in which neighbours follow each other.
///
/// Who asks an index around many positions, or moves and removes what is there, finds the memory that one
/// question needs still warm from the one before. [`SpatialIndex::query_batch`](crate::SpatialIndex::query_batch) does
/// this by itself.
///
/// The order is that of a Morton curve whose cells are as fine as the positions need, at every scale, and of
/// the numbers where positions share a cell. It is a function of the positions alone.
///
/// # Panics
/// If there are 2^32 positions or more.
///
/// # Examples
/// ```
/// use nebula_coords::spatial_order;
/// use nebula_math::WorldPosition;
///
/// let far = WorldPosition::new(i128::MIN, 0, 0);
/// let near = WorldPosition::new(-1, 7, 0);
/// let places = [near, far, WorldPosition::ORIGIN, WorldPosition::new(i128::MIN, 9, 0)];
/// assert_eq!(spatial_order(&places), [1, 3, 0, 2]);
/// ```
#[must_use]
pub fn spatial_order(positions: &[WorldPosition]) -> Vec<u32> {
    let count = u32::try_from(positions.len()).expect("fewer than 2^32 positions");
    let mut order: Vec<u32> = (0..count).collect();
    let mut sorter = Sorter {
        positions,
        words: Vec::new(),
        spare: Vec::new(),
    };
    sorter.sort(&mut order);
    order
}

/// Sorts parts of the positions one after the other, in the same room.
struct Sorter<'a> {
    positions: &'a [WorldPosition],
    words: Vec<u64>,
    spare: Vec<u64>,
}

impl Sorter<'_> {
    /// Sorts numbers, which ascend, by the cells of their positions; cells too full are sorted by finer ones.
    fn sort(&mut self, order: &mut [u32]) {
        let Some((low, level)) = self.bounds(order) else {
            return;
        };
        let below = index_bits(order.len());
        let bits = AXIS_BITS.min((u64::BITS - below) / AXES);
        let shift = level.saturating_sub(bits);
        self.words.clear();
        self.words
            .extend(order.iter().enumerate().map(|(at, number)| {
                let key = key_of(&self.positions[*number as usize]);
                let cell = |axis: usize| ((key[axis] - low[axis]) >> shift) as u64;
                let code = spread(cell(0)) | spread(cell(1)) << 1 | spread(cell(2)) << 2;
                code << below | at as u64
            }));
        radix_sort(
            &mut self.words,
            &mut self.spare,
            below,
            AXES * level.min(bits),
        );
        let before: Vec<u32> = order.to_vec();
        let mask = (1 << below) - 1;
        for (number, word) in order.iter_mut().zip(&self.words) {
            *number = before[(word & mask) as usize];
        }
        if shift > 0 {
            for cell in self.full_cells(below) {
                self.sort(&mut order[cell]);
            }
        }
    }

    /// Returns the corner of the box around some positions, and how many bits its longest side takes; none if
    /// there is nothing to sort.
    fn bounds(&self, order: &[u32]) -> Option<(Key, u32)> {
        let (mut low, mut high) = ([u128::MAX; 3], [0; 3]);
        for number in order {
            let key = key_of(&self.positions[*number as usize]);
            for k in 0..3 {
                low[k] = low[k].min(key[k]);
                high[k] = high[k].max(key[k]);
            }
        }
        let sides = (0..3).map(|k| high[k].saturating_sub(low[k]));
        let longest = sides.max().unwrap_or(0);
        (order.len() > 1 && longest > 0).then(|| (low, u128::BITS - longest.leading_zeros()))
    }

    /// Returns where more positions than are worth leaving share a cell.
    fn full_cells(&self, below: u32) -> Vec<core::ops::Range<usize>> {
        let mut from = 0;
        let mut full = Vec::new();
        for run in self.words.chunk_by(|a, b| a >> below == b >> below) {
            if run.len() > CELL {
                full.push(from..from + run.len());
            }
            from += run.len();
        }
        full
    }
}

/// Moves bit `i` of the lowest 21 to bit `3 * i`.
#[inline]
const fn spread(cell: u64) -> u64 {
    let mut bits = cell & 0x1f_ffff;
    bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use core::cmp::Ordering;

    use super::*;

    #[test]
    fn bits_are_spread_by_three() {
        for bit in 0..AXIS_BITS {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(spread(u64::MAX), 0x1249_2492_4924_9249);
    }

    /// The slow twin: which of two comes first on the curve that begins at a corner, bit by bit from the highest.
    fn on_the_curve(a: &Key, b: &Key) -> Ordering {
        for bit in (0..128).rev() {
            for k in (0..3).rev() {
                let order = (a[k] >> bit & 1).cmp(&(b[k] >> bit & 1));
                if order.is_ne() {
                    return order;
                }
            }
        }
        Ordering::Equal
    }

    fn wide(state: &mut u128) -> u128 {
        *state = state
            .wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645)
            .wrapping_add(0x5851_F42D_4C95_7F2D_1405_7B7E_F767_814F);
        *state ^ *state >> 67
    }

    /// Few enough to share no cell that is left as it stands: then the order is that of the curve, exactly, as
    /// long as one window shows every bit.
    #[test]
    fn neighbours_follow_each_other_on_the_curve() {
        let mut state = 3;
        for bits in [1, 5, 12, 21] {
            for count in [0, 1, 2, 7, 100, 1_300] {
                let corner = (wide(&mut state) >> 1).cast_signed() - i128::MAX / 2;
                let mut near = || corner + (wide(&mut state) >> (128 - bits)).cast_signed();
                let mut places: Vec<_> = (0..count)
                    .map(|_| WorldPosition::new(near(), near(), near()))
                    .collect();
                if count > 2 {
                    // The box begins at the corner.
                    places[2] = WorldPosition::new(corner, corner, corner);
                }
                let low = key_of(&WorldPosition::new(corner, corner, corner));
                let key = |number: &u32| {
                    let key = key_of(&places[*number as usize]);
                    [0, 1, 2].map(|k| key[k] - low[k])
                };
                let mut expected: Vec<u32> = (0..count).collect();
                expected.sort_by(|a, b| on_the_curve(&key(a), &key(b)).then(a.cmp(b)));
                // With more than two numbers a word has no room for 21 bits of each axis.
                if count > 2 && bits <= 12 {
                    assert_eq!(spatial_order(&places), expected, "{bits} bits, {count}");
                }
                let mut order = spatial_order(&places);
                order.sort_unstable();
                assert!(order.into_iter().eq(0..count));
            }
        }
    }

    /// Crowds a light year apart are told apart, and so are those in each of them.
    #[test]
    fn cells_are_as_fine_as_the_positions_need() {
        let mut state = 9;
        let mut places = Vec::new();
        for i in 0..4_000 {
            let crowd = [i128::MIN, -2_500_000, 1 << 100, i128::MAX - 5_000_000][i % 4];
            let mut step = || (wide(&mut state) % 5_000_000).cast_signed();
            let at = |step: i128| crowd.saturating_add(step);
            places.push(WorldPosition::new(at(step()), at(step()), at(step())));
        }
        let order = spatial_order(&places);
        let crowds: Vec<_> = order.iter().map(|number| number % 4).collect();
        let changes = crowds.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 8, "{changes} ways from crowd to crowd");
        let way = |order: &mut dyn Iterator<Item = u32>| {
            let order: Vec<_> = order.map(|number| places[number as usize]).collect();
            let steps = order
                .windows(2)
                .map(|pair| pair[0].chebyshev_distance(&pair[1]));
            steps.filter(|step| *step < 1 << 40).sum::<u128>()
        };
        // In each crowd a thousand steps of some 500 m, not of some 2,500 m.
        let apart = (0..4).flat_map(|crowd| (0..1_000).map(move |i| i * 4 + crowd));
        let (sorted, unsorted) = (way(&mut order.into_iter()), way(&mut apart.into_iter()));
        assert!(sorted * 4 < unsorted, "{sorted} {unsorted}");
    }

    #[test]
    fn those_at_one_place_stay_as_they_stand() {
        let places = [WorldPosition::MIN; 100];
        assert!(spatial_order(&places).into_iter().eq(0..100));
        let ends = [WorldPosition::MAX, WorldPosition::MIN].repeat(40);
        let order = spatial_order(&ends);
        let expected = (0..80)
            .filter(|i| i % 2 == 1)
            .chain((0..80).filter(|i| i % 2 == 0));
        assert!(order.into_iter().eq(expected));
    }
}
