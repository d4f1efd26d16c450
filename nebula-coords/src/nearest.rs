//! `Nearest`: the best few of many offers, by (distance, id).

use core::cell::RefCell;

use nebula_math::U384;

thread_local! {
    /// Kept from call to call, so that asking into a warm buffer allocates nothing.
    static DISTANCES: RefCell<Vec<U384>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the `k` smallest offers by (squared distance, id).
///
/// A binary heap over two lists of equal length, the worst on top: the ids live in the caller's
/// buffer and the distances in one that the thread keeps.
#[derive(Debug)]
pub(crate) struct Nearest<I> {
    k: usize,
    ids: Vec<I>,
    distances: Vec<U384>,
}

impl<I: Copy + Ord> Nearest<I> {
    /// Makes an empty list of at most `k` entries in the caller's buffer; callers bound `k` by what
    /// is stored.
    pub(crate) fn new(k: usize, buffer: &mut Vec<I>) -> Self {
        let mut nearest = Self {
            k,
            ids: core::mem::take(buffer),
            distances: DISTANCES.take(),
        };
        nearest.clear();
        nearest
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.distances.clear();
    }

    /// Returns whether `k` entries are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.ids.len() >= self.k
    }

    /// Returns whether an offer at this distance or farther cannot be kept.
    pub(crate) fn refuses(&self, distance_squared: U384) -> bool {
        // An equal distance can still win by its id.
        self.is_full()
            && self
                .distances
                .first()
                .is_none_or(|worst| distance_squared > *worst)
    }

    /// Keeps the offer if it is among the best so far.
    pub(crate) fn offer(&mut self, distance_squared: U384, id: I) {
        if !self.is_full() {
            self.distances.push(distance_squared);
            self.ids.push(id);
            self.rise(self.ids.len() - 1);
        } else if self.k > 0 && (distance_squared, id) < self.entry(0) {
            self.distances[0] = distance_squared;
            self.ids[0] = id;
            self.sink(self.ids.len());
        }
    }

    /// Gives the buffer back with the kept ids in it, best first.
    pub(crate) fn finish(mut self, buffer: &mut Vec<I>) {
        for end in (1..self.ids.len()).rev() {
            self.swap(0, end);
            self.sink(end);
        }
        *buffer = self.ids;
        DISTANCES.set(self.distances);
    }

    fn entry(&self, i: usize) -> (U384, I) {
        (self.distances[i], self.ids[i])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.distances.swap(a, b);
        self.ids.swap(a, b);
    }

    /// Moves an entry up while it is worse than the one above it.
    fn rise(&mut self, mut i: usize) {
        while i > 0 && self.entry(i) > self.entry((i - 1) / 2) {
            self.swap(i, (i - 1) / 2);
            i = (i - 1) / 2;
        }
    }

    /// Moves the top down, among the first `end` entries, while a worse one is below it.
    fn sink(&mut self, end: usize) {
        let mut i = 0;
        loop {
            let (left, right) = (2 * i + 1, 2 * i + 2);
            if left >= end {
                return;
            }
            let worse = if right < end && self.entry(right) > self.entry(left) {
                right
            } else {
                left
            };
            if self.entry(i) >= self.entry(worse) {
                return;
            }
            self.swap(i, worse);
            i = worse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers every pair and compares with a sort.
    #[track_caller]
    fn check(k: usize, offers: &[(u128, u32)]) {
        let mut out = vec![99];
        let mut nearest = Nearest::new(k, &mut out);
        for (distance, id) in offers {
            let sorted_out = nearest.refuses(U384::from(*distance));
            let before = nearest.ids.clone();
            nearest.offer(U384::from(*distance), *id);
            assert!(!sorted_out || nearest.ids == before, "refused, then kept");
        }
        nearest.finish(&mut out);
        let mut expected = offers.to_vec();
        expected.sort_unstable();
        let expected: Vec<u32> = expected.into_iter().take(k).map(|(_, id)| id).collect();
        assert_eq!(out, expected, "k = {k}, {offers:?}");
    }

    #[test]
    fn the_best_few_come_in_order() {
        let mut state = 1_u32;
        for n in 0..40 {
            let offers: Vec<(u128, u32)> = (0..n)
                .map(|id| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (u128::from(state >> 28), n - id) // Sixteen distances, so ties occur.
                })
                .collect();
            for k in [0, 1, 2, 3, 7, 39, 100] {
                check(k, &offers);
            }
        }
    }
}
