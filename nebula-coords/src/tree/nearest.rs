//! The nearest k: children nearest first, as long as one can hold a nearer point than those found.

use core::cell::RefCell;
use core::cmp::Ordering;

use nebula_math::{U384, WorldPosition};

use super::SpatialIndex;
use super::cube::{Cube, Key, key_of};
use super::node::Link;
use super::shape::near_and_far;
use crate::DenseId;

/// A point that may be among the nearest.
#[derive(Clone, Copy)]
struct Candidate {
    distance: U384,
    leaf: u32,
    slot: u32,
}

thread_local! {
    /// Kept from call to call, so that asking into a buffer allocates nothing once warm.
    static SCRATCH: RefCell<Vec<Candidate>> = const { RefCell::new(Vec::new()) };
}

/// The best points so far, as a heap with the worst on top.
struct Best<'a, I: DenseId> {
    index: &'a SpatialIndex<I>,
    at: Key,
    wanted: usize,
    /// No point farther than this is wanted.
    limit: U384,
    heap: Vec<Candidate>,
}

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn nearest_to(
        &self,
        at: &WorldPosition,
        k: usize,
        limit_mm: i128,
        out: &mut Vec<I>,
    ) {
        out.clear();
        let Ok(limit) = u128::try_from(limit_mm) else {
            return;
        };
        let wanted = k.min(self.len);
        if wanted == 0 {
            return;
        }
        let mut best = Best {
            index: self,
            at: key_of(at),
            wanted,
            limit: U384::square(limit),
            heap: SCRATCH.take(),
        };
        best.heap.clear();
        best.search(self.root);
        let mut heap = core::mem::take(&mut best.heap);
        heap.sort_unstable_by(|a, b| best.order(a, b));
        out.extend(heap.iter().map(|found| best.id(found)));
        SCRATCH.set(heap);
    }
}

impl<I: DenseId> Best<'_, I> {
    fn search(&mut self, link: Link) {
        match link {
            Link::Empty => {}
            Link::Leaf(leaf) => self.search_leaf(leaf),
            Link::Node(node) => {
                let mut children = [(U384::MAX, 0, Link::Empty); 64];
                let mut count = 0;
                for (slot, child) in self.index.nodes.get(node).children() {
                    let distance = self.distance_to(child);
                    if distance <= self.limit {
                        children[count] = (distance, slot, child);
                        count += 1;
                    }
                }
                let children = &mut children[..count];
                children.sort_unstable_by_key(|(distance, slot, _)| (*distance, *slot));
                for (distance, _, child) in children {
                    if *distance > self.limit {
                        break;
                    }
                    self.search(*child);
                }
            }
        }
    }

    fn search_leaf(&mut self, leaf: u32) {
        for (slot, (_, key)) in (0..).zip(self.index.leaves.get(leaf).points()) {
            let [x, y, z] = [0, 1, 2].map(|k| self.at[k].abs_diff(key[k]));
            let distance = U384::sum_of_squares(x, y, z);
            if distance <= self.limit {
                self.offer(Candidate {
                    distance,
                    leaf,
                    slot,
                });
            }
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.wanted {
            self.heap.push(candidate);
            self.sift_up();
        } else if self.order(&candidate, &self.heap[0]) == Ordering::Less {
            self.heap[0] = candidate;
            self.sift_down();
        }
        if self.heap.len() == self.wanted {
            self.limit = self.heap[0].distance;
        }
    }

    /// Lets the last candidate rise to its place.
    fn sift_up(&mut self) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let above = (at - 1) / 2;
            if self.order(&self.heap[at], &self.heap[above]) != Ordering::Greater {
                break;
            }
            self.heap.swap(at, above);
            at = above;
        }
    }

    /// Lets the top candidate sink to its place.
    fn sift_down(&mut self) {
        let mut at = 0;
        loop {
            let below = [2 * at + 1, 2 * at + 2];
            let worse = |a: usize, b: usize| {
                b < self.heap.len() && self.order(&self.heap[b], &self.heap[a]) == Ordering::Greater
            };
            let worst = below
                .into_iter()
                .fold(at, |a, b| if worse(a, b) { b } else { a });
            if worst == at {
                break;
            }
            self.heap.swap(at, worst);
            at = worst;
        }
    }

    /// Orders by distance, then by id.
    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        let by_distance = a.distance.cmp(&b.distance);
        by_distance.then_with(|| self.id(a).cmp(&self.id(b)))
    }

    fn id(&self, found: &Candidate) -> I {
        self.index.leaves.get(found.leaf).ids()[found.slot as usize]
    }

    /// Returns the squared distance to the cube of a child.
    fn distance_to(&self, link: Link) -> U384 {
        match link {
            Link::Empty => U384::MAX,
            Link::Leaf(leaf) => distance_to_cube(&self.index.leaves.get(leaf).cube, &self.at),
            Link::Node(node) => distance_to_cube(&self.index.nodes.get(node).cube, &self.at),
        }
    }
}

fn distance_to_cube(cube: &Cube, at: &Key) -> U384 {
    let last = cube.last();
    let [x, y, z] = [0, 1, 2].map(|k| near_and_far(at[k], cube.origin[k], last[k]).0);
    U384::sum_of_squares(x, y, z)
}
