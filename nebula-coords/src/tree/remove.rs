//! Taking points out: empty leaves go, thin nodes become leaves again.

use super::cube::Key;
use super::leaf::LEAF_LINES;
use super::node::{Link, Place};
use super::simd;
use super::table::Spot;
use super::{MERGE_LIMIT, SpatialIndex};
use crate::DenseId;

/// How many removals before its turn an entry of the table is fetched, then the leaf, then the point.
const ENTRIES_AHEAD: usize = 24;
const LEAVES_AHEAD: usize = 12;
const POINTS_AHEAD: usize = 5;

impl<I: DenseId> SpatialIndex<I> {
    /// Takes a point out of its leaf; the leaf's last point takes its slot.
    pub(super) fn take_out(&mut self, spot: Spot) {
        let leaf = self.leaves.get_mut(spot.leaf);
        self.changes.note_leaf(leaf);
        if let Some(moved) = leaf.swap_remove(spot.slot as usize) {
            self.table.set(moved.dense_index(), spot);
        }
    }

    /// See `remove_batch`: all are taken out first, and the tree is restored around each leaf once.
    pub(super) fn take_out_all(&mut self, ids: &[I]) -> usize {
        let before = self.len;
        let mut left = Vec::new();
        for (at, id) in ids.iter().enumerate() {
            self.fetch_removals(&ids[at..]);
            let Some(spot) = self.spot(*id) else {
                continue;
            };
            self.changes.note_id(*id);
            self.miss_one(spot.leaf, &mut left);
            self.take_out(spot);
            self.table.set(id.dense_index(), Spot::VACANT);
            self.len -= 1;
        }
        self.count_missing(&left);
        for leaf in left {
            self.tidy(leaf);
        }
        before - self.len
    }

    /// Lets the processor fetch what later removals of a batch need.
    #[inline]
    fn fetch_removals(&self, ids: &[I]) {
        // Whose generation it is matters not.
        let spot = |ahead: usize| match ids.get(ahead) {
            Some(id) => self.table.get(id.dense_index()),
            None => Spot::VACANT,
        };
        if let Some(id) = ids.get(ENTRIES_AHEAD) {
            self.table.fetch(id.dense_index());
        }
        let (far, near) = (spot(LEAVES_AHEAD), spot(POINTS_AHEAD));
        if far != Spot::VACANT {
            simd::prefetch_lines(self.leaves.place(far.leaf), LEAF_LINES);
        }
        if near != Spot::VACANT {
            let leaf = self.leaves.get(near.leaf);
            for slot in [near.slot as usize, leaf.len() - 1] {
                leaf.fetch_point(slot);
                simd::prefetch(&leaf.ids()[slot]);
            }
        }
    }

    /// Notes that a point of a batch is about to leave its leaf; the list gets the leaf once.
    #[inline]
    pub(super) fn miss_one(&mut self, leaf: u32, left: &mut Vec<u32>) {
        if self.leaves.get_mut(leaf).miss_one() {
            left.push(leaf);
        }
    }

    /// Counts those that left a list of leaves less in every node above.
    pub(super) fn count_missing(&mut self, left: &[u32]) {
        for leaf in left {
            let leaf = self.leaves.get_mut(*leaf);
            let (place, missing) = (leaf.place, leaf.miss_none());
            self.count_down(place, missing);
        }
    }

    /// Counts some points less in every node above a place.
    pub(super) fn count_down(&mut self, mut place: Place, fewer: usize) {
        let fewer = u32::try_from(fewer).expect("fewer points than ids");
        while let Place::Fine(at, _) | Place::Coarse(at, _) = place {
            let node = self.nodes.get_mut(at);
            node.count -= fewer;
            place = node.place;
        }
    }

    /// Restores the shape of the tree around a leaf that lost a point, if it is still there.
    pub(super) fn tidy(&mut self, leaf: u32) {
        if !self.leaves.is_used(leaf) {
            return;
        }
        let place = self.leaves.get(leaf).place;
        if let Some(node) = self.highest_thin_node(place) {
            self.collapse(node);
        } else if self.leaves.get(leaf).len() == 0 {
            self.leaves.remove(leaf);
            self.detach(place);
        } else if self.leaves.get(leaf).len() <= MERGE_LIMIT / 8 {
            self.merge_octant(place);
        }
    }

    /// Restores the shape of the tree around a place that lost points, or all of them.
    pub(super) fn tidy_place(&mut self, place: Place, is_empty: bool) {
        if let Some(node) = self.highest_thin_node(place) {
            self.collapse(node);
        } else if is_empty {
            self.detach(place);
        } else if let Place::Fine(parent, _) | Place::Coarse(parent, _) = place {
            self.lift_lone_node(parent);
        }
    }

    /// Returns the highest node above a place that holds few enough points for one leaf. The limit
    /// is far below that for splitting, so that a crowd at the edge does not split and merge in turn.
    fn highest_thin_node(&self, mut place: Place) -> Option<u32> {
        let mut highest = None;
        while let Place::Fine(at, _) | Place::Coarse(at, _) = place {
            let node = self.nodes.get(at);
            if node.count as usize > MERGE_LIMIT {
                break;
            }
            highest = Some(at);
            place = node.place;
        }
        highest
    }

    /// Makes one leaf of everything below a node.
    fn collapse(&mut self, node: u32) {
        let place = self.nodes.get(node).place;
        let mut points = Vec::new();
        self.free_below(node, &mut points);
        if points.is_empty() {
            self.detach(place);
        } else {
            self.attach(place, Link::Empty);
            self.hang(place, points.iter().copied());
        }
    }

    /// Frees a node and all below it, and gathers its points in the tree's order.
    fn free_below(&mut self, node: u32, points: &mut Vec<(I, Key)>) {
        let children: Vec<_> = self
            .nodes
            .remove(node)
            .children()
            .map(|(_, link)| link)
            .collect();
        for link in children {
            match link {
                Link::Leaf(leaf) => points.extend(self.leaves.remove(leaf).points()),
                Link::Node(node) => self.free_below(node, points),
                Link::Empty => {}
            }
        }
    }

    /// Empties a place, and removes the node above if that leaves it with one node below. A lone leaf
    /// keeps its node: it holds more points than merge, and in a larger cube the next to come could
    /// split it again.
    fn detach(&mut self, place: Place) {
        self.attach(place, Link::Empty);
        let (Place::Fine(parent, _) | Place::Coarse(parent, _)) = place else {
            return;
        };
        self.lift_lone_node(parent);
    }

    /// Removes a node that has nothing below it but one node.
    pub(super) fn lift_lone_node(&mut self, parent: u32) {
        let node = self.nodes.get(parent);
        let mut children = node.children();
        if let (Some((_, Link::Node(only))), None) = (children.next(), children.next()) {
            let place = node.place;
            self.nodes.remove(parent);
            self.attach(place, Link::Node(only));
            self.nodes.get_mut(only).place = place;
        }
    }

    /// Makes one coarse leaf of an octant's fine leaves if they are few.
    fn merge_octant(&mut self, place: Place) {
        let Place::Fine(at, slot) = place else { return };
        let oct = slot >> 3;
        let mut leaves = Vec::new();
        let mut total = 0;
        for (slot, link) in self.nodes.get(at).octant_children(oct) {
            let Link::Leaf(leaf) = link else { return };
            total += self.leaves.get(leaf).len();
            leaves.push((slot, leaf));
        }
        if total > MERGE_LIMIT || leaves.len() < 2 {
            return;
        }
        let mut points = Vec::with_capacity(total);
        for (slot, leaf) in leaves {
            points.extend(self.leaves.remove(leaf).points());
            self.attach(Place::Fine(at, slot), Link::Empty);
        }
        self.hang(Place::Coarse(at, oct), points.iter().copied());
    }
}
