//! `Nearest`: the best few of many offers, by (distance, id).

use std::collections::BinaryHeap;

use nebula_math::U384;

/// Keeps the `k` smallest offers by (squared distance, id).
#[derive(Debug)]
pub(crate) struct Nearest<I> {
    k: usize,
    // The worst of the kept ones is on top.
    heap: BinaryHeap<(U384, I)>,
}

impl<I: Copy + Ord> Nearest<I> {
    /// Makes an empty list of at most `k` entries; callers bound `k` by what is stored.
    pub(crate) fn new(k: usize) -> Self {
        Self {
            k,
            heap: BinaryHeap::with_capacity(k),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Returns whether `k` entries are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.heap.len() >= self.k
    }

    /// Returns whether an offer at this distance or farther cannot be kept.
    pub(crate) fn refuses(&self, distance_squared: U384) -> bool {
        // An equal distance can still win by its id.
        self.is_full()
            && self
                .heap
                .peek()
                .is_none_or(|(worst, _)| distance_squared > *worst)
    }

    /// Keeps the offer if it is among the best so far.
    pub(crate) fn offer(&mut self, distance_squared: U384, id: I) {
        if !self.is_full() {
            self.heap.push((distance_squared, id));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && (distance_squared, id) < *worst
        {
            *worst = (distance_squared, id);
        }
    }

    /// Appends the kept ids to `out`, best first.
    pub(crate) fn drain_into(self, out: &mut Vec<I>) {
        out.extend(self.heap.into_sorted_vec().into_iter().map(|(_, id)| id));
    }
}
