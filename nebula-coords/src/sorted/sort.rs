//! Sorting the array again: movers merged back in, or a radix sort.

use nebula_math::WorldPosition;

use super::{Particle, SortedIndex};
use crate::grid::CellKey;
use crate::radix::{Word, index_bits, radix_sort};

/// When more than one entry in this many left its cell, sorting everything is faster than merging.
const MOVERS_SHARE: usize = 3;

impl<I: Copy + Ord> SortedIndex<I> {
    /// Puts the array in order by (cell, id), whatever its order is.
    pub(super) fn sort(&mut self) {
        let order = self.sorted_order(self.ids.len(), |i| i);
        self.ids = order.iter().map(|i| self.ids[*i]).collect();
        self.positions = order.iter().map(|i| self.positions[*i]).collect();
        self.radii = order.iter().map(|i| self.radii[*i]).collect();
        self.radius_max = self.radii.iter().copied().max().unwrap_or(-1);
        self.in_order = true;
    }

    /// Puts the array in order when only these entries, in ascending order, have left their cells.
    pub(super) fn sort_movers(&mut self, movers: &[usize]) {
        if movers.len() > self.ids.len() / MOVERS_SHARE {
            return self.sort();
        }
        let order = self.sorted_order(movers.len(), |k| movers[k]);
        let out: Vec<Particle<I>> = order.iter().map(|i| self.particle(*i)).collect();
        let kept = self.close_gaps(movers);
        self.merge_back(kept, &out);
        self.in_order = true;
    }

    /// Moves the entries that stay to the front and returns how many there are.
    fn close_gaps(&mut self, movers: &[usize]) -> usize {
        let n = self.ids.len();
        let Some(mut end) = movers.first().copied() else {
            return n;
        };
        for (k, mover) in movers.iter().enumerate() {
            let stay = mover + 1..movers.get(k + 1).copied().unwrap_or(n);
            let len = stay.len();
            self.ids.copy_within(stay.clone(), end);
            self.positions.copy_within(stay.clone(), end);
            self.radii.copy_within(stay, end);
            end += len;
        }
        end
    }

    /// Merges sorted particles into the first `kept` entries, from the back, so that nothing is
    /// overwritten before it has moved.
    fn merge_back(&mut self, mut kept: usize, movers: &[Particle<I>]) {
        let mut end = self.ids.len();
        for mover in movers.iter().rev() {
            let wanted = (self.cell_of(&mover.position), mover.id);
            let first_after = self.gallop_back(kept, |i| (self.key(i), self.ids[i]) < wanted);
            let after = first_after..kept;
            end -= after.len();
            self.ids.copy_within(after.clone(), end);
            self.positions.copy_within(after.clone(), end);
            self.radii.copy_within(after.clone(), end);
            end -= 1;
            self.ids[end] = mover.id;
            self.positions[end] = mover.position;
            self.radii[end] = mover.radius_mm;
            kept = after.start;
        }
    }

    /// Returns the first of `n` entries that is not `before`: in growing steps from the end, then by halves.
    ///
    /// The one looked for before was at the end, and the next is some dozens of entries away.
    fn gallop_back(&self, n: usize, before: impl Fn(usize) -> bool) -> usize {
        let (mut high, mut step) = (n, 1);
        while step <= high && !before(high - step) {
            high -= step;
            step *= 2;
        }
        let low = high.saturating_sub(step);
        low + self.partition(high - low, |i| before(low + i))
    }

    /// Returns the entries of a list in order; `entry` tells what is at a place of the list.
    fn sorted_order(&self, n: usize, entry: impl Fn(usize) -> usize) -> Vec<usize> {
        let packing = Packing::of((0..n).map(|k| self.key(entry(k))));
        let bits = packing.bits + index_bits(n);
        if bits <= u64::BITS {
            self.radix_order::<u64>(&packing, n, entry)
        } else if bits <= u128::BITS {
            self.radix_order::<u128>(&packing, n, entry)
        } else {
            let mut order: Vec<usize> = (0..n).map(entry).collect();
            order.sort_unstable_by(|a, b| self.order(*a, *b));
            order
        }
    }

    fn radix_order<W: Word>(
        &self,
        packing: &Packing,
        n: usize,
        entry: impl Fn(usize) -> usize,
    ) -> Vec<usize> {
        let shift = index_bits(n);
        let mut words: Vec<W> = (0..n)
            .map(|k| W::pack(packing.pack(&self.key(entry(k))), shift, k))
            .collect();
        radix_sort(&mut words, &mut Vec::new(), shift, packing.bits);
        let places = words.iter().map(|word| word.index(shift) as usize);
        let mut order: Vec<usize> = places.map(entry).collect();
        // The radix sort knows the cells only; ids break ties.
        for cell in order.chunk_by_mut(|a, b| self.key(*a) == self.key(*b)) {
            cell.sort_unstable_by_key(|i| self.ids[*i]);
        }
        order
    }
}

/// Returns whether two positions lie in different cells of 2^bits millimetres.
#[inline]
pub(super) const fn leaves_cell(from: &WorldPosition, to: &WorldPosition, bits: u32) -> bool {
    // Keys are equal if all bits above those of the cell are.
    ((from.x ^ to.x) | (from.y ^ to.y) | (from.z ^ to.z)) >> bits != 0
}

/// Which entries have left their cells, noted in array order.
///
/// Without a branch for each: nobody can guess who leaves, and a wrong guess waits for the position, which
/// the caller has most likely just fetched from afar.
#[derive(Debug)]
pub(super) struct Movers {
    /// The latest movers, and one more that may not be one.
    block: [usize; BLOCK],
    in_block: usize,
    all: Vec<usize>,
}

const BLOCK: usize = 64;

impl Movers {
    pub(super) const fn new() -> Self {
        Self {
            block: [0; BLOCK],
            in_block: 0,
            all: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn note(&mut self, i: usize, moved: bool) {
        self.block[self.in_block % BLOCK] = i;
        self.in_block += usize::from(moved);
        if self.in_block == BLOCK {
            self.all.extend_from_slice(&self.block);
            self.in_block = 0;
        }
    }

    pub(super) fn indices(mut self) -> Vec<usize> {
        self.all.extend_from_slice(&self.block[..self.in_block]);
        self.all
    }
}

/// How the cells of an array fit one word: relative to the smallest, z above y above x.
struct Packing {
    origin: CellKey,
    y_shift: u32,
    z_shift: u32,
    /// Bits that a packed key needs; it can be packed if there are at most 128.
    bits: u32,
}

impl Packing {
    fn of(mut keys: impl Iterator<Item = CellKey>) -> Self {
        let first = keys.next().unwrap_or(CellKey { z: 0, y: 0, x: 0 });
        let (mut lo, mut hi) = (first, first);
        for key in keys {
            (lo.x, hi.x) = (lo.x.min(key.x), hi.x.max(key.x));
            (lo.y, hi.y) = (lo.y.min(key.y), hi.y.max(key.y));
            (lo.z, hi.z) = (lo.z.min(key.z), hi.z.max(key.z));
        }
        let width = |lo: i128, hi: i128| u128::BITS - hi.abs_diff(lo).leading_zeros();
        let (x, y, z) = (width(lo.x, hi.x), width(lo.y, hi.y), width(lo.z, hi.z));
        Self {
            origin: lo,
            y_shift: x,
            z_shift: x + y,
            bits: x + y + z,
        }
    }

    /// Packs a key. Differences to the smallest key are never negative, so no sign reaches a
    /// neighbour's bits.
    fn pack(&self, key: &CellKey) -> u128 {
        let x = key.x.abs_diff(self.origin.x);
        let y = key.y.abs_diff(self.origin.y);
        let z = key.z.abs_diff(self.origin.z);
        // An axis on which all keys agree has a difference of 0 and may have a shift of 128.
        z.unbounded_shl(self.z_shift) | y.unbounded_shl(self.y_shift) | x
    }
}
