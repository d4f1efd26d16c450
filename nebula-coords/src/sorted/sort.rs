//! Sorting the array again: nothing to do, a few entries to carry back, or a radix sort.

use super::SortedIndex;
use crate::grid::CellKey;

/// Entries carried back one step, per entry of the array, before the radix sort takes over. A step
/// swaps some 80 bytes; the radix sort costs about as much as this many.
const STEPS_PER_ENTRY: usize = 2;

/// Bits sorted per pass.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

impl<I: Copy + Ord> SortedIndex<I> {
    /// Puts the array in order by (cell, id).
    pub(super) fn sort(&mut self) {
        if !self.insertion_sort() {
            let order = self.sorted_order();
            self.ids = order.iter().map(|i| self.ids[*i]).collect();
            self.positions = order.iter().map(|i| self.positions[*i]).collect();
            self.radii = order.iter().map(|i| self.radii[*i]).collect();
        }
        self.radius_max = self.radii.iter().copied().max().unwrap_or(-1);
        self.in_order = true;
    }

    /// Carries entries back to their places, within a budget. Returns whether it came to the end.
    fn insertion_sort(&mut self) -> bool {
        let mut budget = self.ids.len().saturating_mul(STEPS_PER_ENTRY);
        for i in 1..self.ids.len() {
            let mut at = i;
            while at > 0 && self.order(at - 1, at).is_gt() {
                if budget == 0 {
                    return false;
                }
                budget -= 1;
                self.ids.swap(at - 1, at);
                self.positions.swap(at - 1, at);
                self.radii.swap(at - 1, at);
                at -= 1;
            }
        }
        true
    }

    /// Returns the indices of all entries in order.
    fn sorted_order(&self) -> Vec<usize> {
        let Some(packing) = Packing::of((0..self.ids.len()).map(|i| self.key(i))) else {
            let mut order: Vec<usize> = (0..self.ids.len()).collect();
            order.sort_unstable_by(|a, b| self.order(*a, *b));
            return order;
        };
        let mut keyed: Vec<(u64, usize)> = (0..self.ids.len())
            .map(|i| (packing.pack(&self.key(i)), i))
            .collect();
        radix_sort(&mut keyed, &mut Vec::new(), packing.bits());
        // The radix sort knows the cells only; ids break ties.
        for cell in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
            cell.sort_unstable_by_key(|(_, i)| self.ids[*i]);
        }
        keyed.into_iter().map(|(_, i)| i).collect()
    }
}

/// How the cells of an array fit 64 bits: relative to the smallest, z above y above x.
struct Packing {
    origin: CellKey,
    y_shift: u32,
    z_shift: u32,
    bits: u32,
}

impl Packing {
    /// Returns how to pack these keys, or `None` when they are too far apart.
    fn of(keys: impl Iterator<Item = CellKey>) -> Option<Self> {
        let far = |lo: CellKey, hi: CellKey, key: CellKey| {
            (
                CellKey {
                    z: lo.z.min(key.z),
                    y: lo.y.min(key.y),
                    x: lo.x.min(key.x),
                },
                CellKey {
                    z: hi.z.max(key.z),
                    y: hi.y.max(key.y),
                    x: hi.x.max(key.x),
                },
            )
        };
        let mut span: Option<(CellKey, CellKey)> = None;
        for key in keys {
            span = Some(span.map_or((key, key), |(lo, hi)| far(lo, hi, key)));
        }
        let (lo, hi) = span?;
        let width = |lo: i128, hi: i128| u128::BITS - hi.abs_diff(lo).leading_zeros();
        let (x, y, z) = (width(lo.x, hi.x), width(lo.y, hi.y), width(lo.z, hi.z));
        (x + y + z <= u64::BITS).then_some(Self {
            origin: lo,
            y_shift: x,
            z_shift: x + y,
            bits: x + y + z,
        })
    }

    const fn bits(&self) -> u32 {
        self.bits
    }

    fn pack(&self, key: &CellKey) -> u64 {
        // Differences to the smallest key are never negative, so no sign reaches a neighbour's bits.
        let x = key.x.abs_diff(self.origin.x);
        let y = key.y.abs_diff(self.origin.y);
        let z = key.z.abs_diff(self.origin.z);
        let packed = z.unbounded_shl(self.z_shift) | y.unbounded_shl(self.y_shift) | x;
        u64::try_from(packed).expect("the widths add up to at most 64 bits")
    }
}

/// Sorts by key, stably; only the lowest `bits` bits of keys may be set. `spare` is working room.
pub(super) fn radix_sort<V: Copy + Default>(
    items: &mut Vec<(u64, V)>,
    spare: &mut Vec<(u64, V)>,
    bits: u32,
) {
    spare.clear();
    spare.resize(items.len(), Default::default());
    for shift in (0..bits).step_by(DIGIT_BITS as usize) {
        let mut starts = [0_usize; DIGITS];
        for (key, _) in items.iter() {
            starts[digit(*key, shift)] += 1;
        }
        if starts.contains(&items.len()) {
            continue; // Every key has the same digit here.
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += core::mem::replace(start, sum);
        }
        for item in items.iter() {
            let slot = &mut starts[digit(item.0, shift)];
            spare[*slot] = *item;
            *slot += 1;
        }
        core::mem::swap(items, spare);
    }
}

#[inline]
fn digit(key: u64, shift: u32) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the mask leaves 11 bits")]
    let digit = (key >> shift) as usize & (DIGITS - 1);
    digit
}
