//! The change feed: who moved, and where something changed, since a mark.

use std::collections::VecDeque;

use nebula_math::Aabb128;

use super::cube::Cube;
use super::leaf::Leaf;
use super::table::Paged;
use crate::DenseId;

/// A moment in the life of an index, to ask later what changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(u64);

/// What changed since a mark; see [`SpatialIndex::changes_since`](crate::SpatialIndex::changes_since).
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a, I> {
    ids: &'a [I],
    cubes: &'a [Cube],
}

impl<'a, I> Changes<'a, I> {
    /// Returns the ids that were inserted, moved or removed, in the order of their first change.
    ///
    /// An id is named once for each mark that was set in between and after which it changed. Ask
    /// the index where it is now, if it is.
    #[must_use]
    pub fn ids(&self) -> &'a [I] {
        self.ids
    }

    /// Returns boxes that together cover every position that a changed id left or took.
    pub fn regions(&self) -> impl ExactSizeIterator<Item = Aabb128> + 'a {
        self.cubes.iter().map(|cube| cube.to_aabb())
    }

    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// How many marks are remembered; asking about an older one answers "everything".
const MARKS: usize = 64;

/// How many changed cubes one epoch may name before the feed gives up and answers "everything".
const CUBES: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(super) struct ChangeLog<I> {
    /// The present epoch; a mark begins one. Nothing is recorded in epoch 0 or while `marks` is empty.
    epoch: u64,
    marks: VecDeque<Start>,
    ids: Vec<I>,
    cubes: Vec<Cube>,
    /// The epoch in which an id was last named.
    named: Paged<u64>,
}

/// Where an epoch begins in the lists.
#[derive(Clone, Copy, Debug)]
struct Start {
    epoch: u64,
    id: usize,
    cube: usize,
}

impl<I: DenseId> ChangeLog<I> {
    pub(super) const fn new() -> Self {
        Self {
            epoch: 0,
            marks: VecDeque::new(),
            ids: Vec::new(),
            cubes: Vec::new(),
            named: Paged::new(0),
        }
    }

    pub(super) fn mark(&mut self) -> Mark {
        self.epoch += 1;
        if self.marks.len() == MARKS {
            self.marks.pop_front();
            self.forget_unreachable();
        }
        self.marks.push_back(Start {
            epoch: self.epoch,
            id: self.ids.len(),
            cube: self.cubes.len(),
        });
        Mark(self.epoch)
    }

    /// Drops what no remembered mark reaches.
    fn forget_unreachable(&mut self) {
        let Some(&first) = self.marks.front() else {
            return;
        };
        self.ids.drain(..first.id);
        self.cubes.drain(..first.cube);
        for start in &mut self.marks {
            start.id -= first.id;
            start.cube -= first.cube;
        }
    }

    pub(super) fn since(&self, mark: Mark) -> Option<Changes<'_, I>> {
        let at = self
            .marks
            .binary_search_by_key(&mark.0, |start| start.epoch)
            .ok()?;
        let start = self.marks[at];
        Some(Changes {
            ids: &self.ids[start.id..],
            cubes: &self.cubes[start.cube..],
        })
    }

    /// Forgets everything; every mark set so far answers "everything" from now on.
    pub(super) fn forget(&mut self) {
        self.marks.clear();
        self.ids.clear();
        self.cubes.clear();
    }

    #[inline]
    pub(super) fn is_recording(&self) -> bool {
        !self.marks.is_empty()
    }

    #[inline]
    pub(super) fn note_id(&mut self, id: I) {
        if self.is_recording() {
            let named = self.named.entry(id.dense_index());
            if *named != self.epoch {
                *named = self.epoch;
                self.ids.push(id);
            }
        }
    }

    #[inline]
    pub(super) fn note_leaf(&mut self, leaf: &mut Leaf<I>) {
        if self.is_recording() && leaf.reported != self.epoch {
            leaf.reported = self.epoch;
            self.cubes.push(leaf.cube);
            if self.cubes.len() > CUBES {
                self.forget();
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.ids.capacity() * size_of::<I>()
            + self.cubes.capacity() * size_of::<Cube>()
            + self.marks.capacity() * size_of::<Start>()
            + self.named.bytes()
    }
}
