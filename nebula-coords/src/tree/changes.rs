//! The change feed: who moved, and where something changed, since a mark.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::VecDeque;

use nebula_math::Aabb128;

use super::cube::Cube;
use super::leaf::Leaf;
use super::table::Paged;
use crate::DenseId;

/// A moment in the life of one index, to ask it later what changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    owner: u64,
    epoch: u64,
}

/// Tells the marks of one index from those of another. The numbers show in no answer.
static OWNERS: AtomicU64 = AtomicU64::new(1);

/// What changed since a mark; see [`SpatialIndex::changes_since`](crate::SpatialIndex::changes_since).
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a, I> {
    ids: &'a [I],
    cubes: &'a [(Cube, u8)],
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
        self.cubes
            .iter()
            .map(|(cube, stray)| cube.to_stretched_aabb(*stray))
    }

    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// How many marks are remembered; asking about an older one answers "everything".
const MARKS: usize = 64;

/// How many changed cubes are remembered.
const CUBES: usize = 1 << 20;

/// How many changed ids are remembered, and how many more for each point of the index.
const IDS: usize = 1 << 16;
const IDS_PER_POINT: usize = 4;

#[derive(Debug)]
pub(super) struct ChangeLog<I> {
    /// Who made the marks; zero before the first.
    owner: u64,
    /// The present epoch; a mark begins one. Nothing is recorded in epoch 0 or while `marks` is empty.
    epoch: u64,
    marks: VecDeque<Start>,
    ids: Vec<I>,
    /// How many ids are remembered at most, by the size of the index at the last mark.
    most_ids: usize,
    /// Changed cubes, and by how many bits a point may stray out of each.
    cubes: Vec<(Cube, u8)>,
    /// The id last named, and in which epoch.
    named: Paged<(u64, Option<I>)>,
}

impl<I: DenseId> Clone for ChangeLog<I> {
    /// A copy goes its own way: marks of the original mean nothing to it. Its epochs go on from there,
    /// because its leaves remember in which they were reported.
    fn clone(&self) -> Self {
        Self {
            epoch: self.epoch,
            ..Self::new()
        }
    }
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
            owner: 0,
            epoch: 0,
            marks: VecDeque::new(),
            ids: Vec::new(),
            most_ids: IDS,
            cubes: Vec::new(),
            named: Paged::new((0, None)),
        }
    }

    /// Begins an epoch in an index of `points` points.
    pub(super) fn mark(&mut self, points: usize) -> Mark {
        if self.owner == 0 {
            self.owner = OWNERS.fetch_add(1, Ordering::Relaxed);
        }
        self.epoch += 1;
        self.marks.push_back(Start {
            epoch: self.epoch,
            id: self.ids.len(),
            cube: self.cubes.len(),
        });
        self.most_ids = IDS + IDS_PER_POINT * points;
        while self.marks.len() > MARKS || self.remembered_ids() > self.most_ids {
            self.marks.pop_front();
        }
        self.forget_unreachable();
        Mark {
            owner: self.owner,
            epoch: self.epoch,
        }
    }

    fn remembered_ids(&self) -> usize {
        self.ids.len() - self.marks.front().map_or(0, |start| start.id)
    }

    fn remembered_cubes(&self) -> usize {
        self.cubes.len() - self.marks.front().map_or(0, |start| start.cube)
    }

    /// Drops what no remembered mark reaches, once that is half of what there is: shifting the rest
    /// then costs no more than writing it did.
    fn forget_unreachable(&mut self) {
        let Some(&first) = self.marks.front() else {
            return;
        };
        if first.id * 2 < self.ids.len() || first.cube * 2 < self.cubes.len() {
            return;
        }
        self.ids.drain(..first.id);
        self.cubes.drain(..first.cube);
        for start in &mut self.marks {
            start.id -= first.id;
            start.cube -= first.cube;
        }
    }

    pub(super) fn since(&self, mark: Mark) -> Option<Changes<'_, I>> {
        if mark.owner != self.owner {
            return None;
        }
        let at = self
            .marks
            .binary_search_by_key(&mark.epoch, |start| start.epoch)
            .ok()?;
        let start = self.marks[at];
        Some(Changes {
            ids: &self.ids[start.id..],
            cubes: &self.cubes[start.cube..],
        })
    }

    /// Forgets everything and gives its memory back; every mark set so far answers "everything" from now
    /// on.
    pub(super) fn forget(&mut self) {
        self.marks.clear();
        self.ids = Vec::new();
        self.cubes = Vec::new();
    }

    #[inline]
    pub(super) fn is_recording(&self) -> bool {
        !self.marks.is_empty()
    }

    #[inline]
    pub(super) fn note_id(&mut self, id: I) {
        if self.is_recording() {
            let named = self.named.entry(id.dense_index());
            // Generations share an entry, and each is named.
            if *named != (self.epoch, Some(id)) {
                *named = (self.epoch, Some(id));
                self.ids.push(id);
                if self.remembered_ids() > self.most_ids {
                    self.forget_oldest();
                }
            }
        }
    }

    /// Lets go of the oldest marks until the lists are short enough. If one epoch alone is too much, the
    /// feed gives up, and even the youngest mark answers "everything".
    #[cold]
    fn forget_oldest(&mut self) {
        while self.is_recording()
            && (self.remembered_ids() > self.most_ids || self.remembered_cubes() > CUBES)
        {
            self.marks.pop_front();
        }
        if !self.is_recording() {
            self.forget();
        }
    }

    #[inline]
    pub(super) fn note_leaf(&mut self, leaf: &mut Leaf<I>) {
        if self.is_recording() && leaf.reported != self.epoch {
            leaf.reported = self.epoch;
            self.cubes.push((leaf.cube, leaf.most_stray()));
            if self.remembered_cubes() > CUBES {
                self.forget_oldest();
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.ids.capacity() * size_of::<I>()
            + self.cubes.capacity() * size_of::<(Cube, u8)>()
            + self.marks.capacity() * size_of::<Start>()
            + self.named.bytes()
    }
}
