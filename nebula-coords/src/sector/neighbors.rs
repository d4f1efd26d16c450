//! The sectors around a sector.

use core::iter::FusedIterator;

use super::SectorIndex;

/// The sectors around one, in (x, y, z) order; see [`SectorIndex::neighbors`].
#[derive(Clone, Debug)]
pub struct SectorNeighbors {
    center: SectorIndex,
    /// The next of the 27 steps to try, as base-3 digits from (-1, -1, -1) to (1, 1, 1).
    next: u8,
    with_center: bool,
}

/// The step that stays in place.
const STAY: u8 = 13;
const STEPS: u8 = 27;

impl SectorNeighbors {
    pub(super) const fn new(center: SectorIndex, with_center: bool) -> Self {
        Self {
            center,
            next: 0,
            with_center,
        }
    }
}

impl Iterator for SectorNeighbors {
    type Item = SectorIndex;

    fn next(&mut self) -> Option<SectorIndex> {
        while self.next < STEPS {
            let step = self.next;
            self.next += 1;
            if step == STAY && !self.with_center {
                continue;
            }
            let digit = |place: u8| i128::from(step / place % 3) - 1;
            let found = self.center.checked_add(digit(9), digit(3), digit(1));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(usize::from(STEPS - self.next)))
    }
}

impl FusedIterator for SectorNeighbors {}
