//! The nearest k: nodes nearest first, as long as one can hold a nearer point than those found.

use std::collections::BinaryHeap;

use nebula_math::{U384, WorldPosition};

use super::SpatialIndex;
use super::cube::{Cube, Key, key_of};
use super::node::Link;
use super::shape::near_and_far;
use crate::DenseId;

/// The best points so far; the worst of them on top.
struct Best<I> {
    wanted: usize,
    found: BinaryHeap<(U384, I)>,
    /// No point farther than this is wanted.
    limit: U384,
}

impl<I: Ord + Copy> Best<I> {
    fn offer(&mut self, distance: U384, id: I) {
        if distance > self.limit {
            return;
        }
        if self.found.len() < self.wanted {
            self.found.push((distance, id));
        } else if let Some(mut worst) = self.found.peek_mut()
            && (distance, id) < *worst
        {
            *worst = (distance, id);
        }
        if self.found.len() == self.wanted
            && let Some((worst, _)) = self.found.peek()
        {
            self.limit = *worst;
        }
    }
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
        let found = BinaryHeap::with_capacity(wanted);
        let mut best = Best {
            wanted,
            found,
            limit: U384::square(limit),
        };
        self.search(self.root, &key_of(at), &mut best);
        out.extend(best.found.into_sorted_vec().into_iter().map(|(_, id)| id));
    }

    fn search(&self, link: Link, at: &Key, best: &mut Best<I>) {
        match link {
            Link::Empty => {}
            Link::Leaf(leaf) => {
                for (id, key) in self.leaves.get(leaf).points() {
                    let [x, y, z] = [0, 1, 2].map(|k| at[k].abs_diff(key[k]));
                    best.offer(U384::sum_of_squares(x, y, z), id);
                }
            }
            Link::Node(node) => {
                let mut children = [(U384::MAX, Link::Empty); 64];
                let mut count = 0;
                for (_, child) in self.nodes.get(node).children() {
                    let distance = self.distance_to(child, at);
                    if distance <= best.limit {
                        children[count] = (distance, child);
                        count += 1;
                    }
                }
                // Slots are in order already, and a stable sort keeps ties so.
                children[..count].sort_by_key(|(distance, _)| *distance);
                for (distance, child) in &children[..count] {
                    if *distance > best.limit {
                        break;
                    }
                    self.search(*child, at, best);
                }
            }
        }
    }

    /// Returns the squared distance from a key to the cube of a child.
    fn distance_to(&self, link: Link, at: &Key) -> U384 {
        match link {
            Link::Empty => U384::MAX,
            Link::Leaf(leaf) => distance_to_cube(&self.leaves.get(leaf).cube, at),
            Link::Node(node) => distance_to_cube(&self.nodes.get(node).cube, at),
        }
    }
}

fn distance_to_cube(cube: &Cube, at: &Key) -> U384 {
    let last = cube.last();
    let [x, y, z] = [0, 1, 2].map(|k| near_and_far(at[k], cube.origin[k], last[k]).0);
    U384::sum_of_squares(x, y, z)
}
