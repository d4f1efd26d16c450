//! Adding points: descend, hang a leaf where nothing was, split one that is full.

use super::cube::{Cube, Key, level_of_difference, octant};
use super::leaf::Leaf;
use super::node::{Link, Node, Place};
use super::table::Spot;
use super::{LEAF_LIMIT, SpatialIndex};
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    /// Adds a point that is not in the tree, from the root down.
    pub(super) fn add(&mut self, id: I, key: Key) {
        match self.root {
            Link::Empty => self.hang(Place::Root, &[(id, key)]),
            Link::Leaf(leaf) => self.push(leaf, id, key),
            Link::Node(node) if self.nodes.get(node).cube.contains(&key) => {
                self.add_below(node, id, key);
            }
            Link::Node(node) => self.join(node, id, key),
        }
    }

    /// Adds a point below a node whose cube holds it.
    pub(super) fn add_below(&mut self, mut at: u32, id: I, key: Key) {
        loop {
            let node = self.nodes.get_mut(at);
            node.count += 1;
            let slot = node.slot_of(&key);
            match node.child(slot) {
                Link::Leaf(leaf) => return self.push(leaf, id, key),
                Link::Empty => return self.hang_in(at, slot, id, key),
                Link::Node(child) if self.nodes.get(child).cube.contains(&key) => at = child,
                Link::Node(child) => return self.join(child, id, key),
            }
        }
    }

    /// Hangs a leaf for a point into a slot where nothing is: as large a leaf as the octant allows.
    fn hang_in(&mut self, at: u32, slot: u8, id: I, key: Key) {
        let octant_is_empty = self.nodes.get(at).octant_is_empty(slot >> 3);
        let place = if octant_is_empty {
            Place::Coarse(at, slot >> 3)
        } else {
            Place::Fine(at, slot)
        };
        self.hang(place, &[(id, key)]);
    }

    /// Puts a new node above one that shares its slot with a point outside it.
    fn join(&mut self, below: u32, id: I, key: Key) {
        let Node {
            cube, place, count, ..
        } = *self.nodes.get(below);
        let bits = (0..3).fold(0, |bits, axis| bits | (cube.origin[axis] ^ key[axis]));
        let level = level_of_difference(bits).next_multiple_of(2);
        let node = Node::new(Cube::around(&key, level), place, count + 1);
        let (slot, slot_below) = (node.slot_of(&key), node.slot_of(&cube.origin));
        let at = self.nodes.insert(node);
        self.attach(place, Link::Node(at));
        self.nodes.get_mut(below).place = Place::Fine(at, slot_below);
        self.nodes
            .get_mut(at)
            .set_fine(slot_below, Link::Node(below));
        self.hang_in(at, slot, id, key);
    }

    /// Adds a point to a leaf.
    fn push(&mut self, at: u32, id: I, key: Key) {
        let leaf = self.leaves.get_mut(at);
        let was_crowd = leaf.is_crowd();
        let slot = leaf.push(id, key);
        // A crowd stands on one spot, so one point speaks for all.
        let is_full = leaf.is_crowd() && !(was_crowd && leaf.key(0) == key);
        self.changes.note_leaf(leaf);
        let slot = u32::try_from(slot).expect("a leaf holds fewer points than there are ids");
        self.table.set(id.dense_index(), Spot { leaf: at, slot });
        if is_full {
            self.settle(at);
        }
    }

    /// Makes a leaf of points, all of which belong to its place, where nothing is.
    pub(super) fn hang(&mut self, place: Place, points: &[(I, Key)]) {
        let mut leaf = Leaf::new(self.cube_of(place), place, points);
        self.changes.note_leaf(&mut leaf);
        let at = self.leaves.insert(leaf);
        self.attach(place, Link::Leaf(at));
        for (slot, (id, _)) in (0..).zip(points) {
            self.table.set(id.dense_index(), Spot { leaf: at, slot });
        }
    }

    pub(super) fn attach(&mut self, place: Place, link: Link) {
        match (place, link) {
            (Place::Root, link) => self.root = link,
            (Place::Fine(node, slot), link) => self.nodes.get_mut(node).set_fine(slot, link),
            (Place::Coarse(node, oct), Link::Leaf(leaf)) => {
                self.nodes.get_mut(node).set_coarse(oct, Some(leaf));
            }
            (Place::Coarse(node, oct), _) => self.nodes.get_mut(node).set_coarse(oct, None),
        }
    }

    /// Returns the part of space that belongs to a place.
    pub(super) fn cube_of(&self, place: Place) -> Cube {
        match place {
            Place::Root => Cube::UNIVERSE,
            Place::Fine(node, slot) => self.nodes.get(node).slot_cube(slot),
            Place::Coarse(node, oct) => self.nodes.get(node).octant_cube(oct),
        }
    }

    /// Splits a leaf that holds too many points, and its parts as long as one does. Points on one spot
    /// cannot part and stay together.
    ///
    /// Each split of a crowd leaves it in a smaller cube, and nothing enlarges that again while the
    /// crowd stays, so it is split at most 128 times whoever comes and goes.
    pub(super) fn settle(&mut self, full: u32) {
        let mut points: Vec<_> = self.leaves.get(full).points().collect();
        if spread_of(&points) == 0 {
            return self.leaves.get_mut(full).calm();
        }
        let place = self.leaves.remove(full).place;
        self.attach(place, Link::Empty);
        let mut scratch = points.clone();
        self.plant(place, &mut points, &mut scratch);
    }

    /// Builds the tree of points, all of which belong to a place, where nothing is. The scratch
    /// list is as long as the points; from one level to the next the two change roles.
    pub(super) fn plant(
        &mut self,
        place: Place,
        points: &mut [(I, Key)],
        scratch: &mut [(I, Key)],
    ) {
        let level = if points.len() > LEAF_LIMIT as usize {
            spread_of(points)
        } else {
            0
        };
        if level == 0 {
            return self.hang(place, points);
        }
        let node = self.node_for_parts(place, points, level);
        let is_coarse = level == self.nodes.get(node).cube.level;
        let ends = part(points, scratch, level - 1);
        let mut from = 0;
        for end in ends {
            if from < end {
                let slot = self.nodes.get(node).slot_of(&scratch[from].1);
                let place = if is_coarse {
                    Place::Coarse(node, slot >> 3)
                } else {
                    Place::Fine(node, slot)
                };
                self.plant(place, &mut scratch[from..end], &mut points[from..end]);
            }
            from = end;
        }
    }

    /// Returns the node whose children the parts of a split leaf become. Parts of a coarse leaf that
    /// spread over their octant stay in its node; else a node as tight as the points comes between.
    fn node_for_parts(&mut self, place: Place, points: &[(I, Key)], level: u8) -> u32 {
        let key = &points[0].1;
        let place = match place {
            Place::Coarse(node, _) if level == self.nodes.get(node).cube.level - 1 => return node,
            Place::Coarse(node, _) => Place::Fine(node, self.nodes.get(node).slot_of(key)),
            place => place,
        };
        let count = u32::try_from(points.len()).expect("fewer points than ids");
        let cube = Cube::around(key, level.next_multiple_of(2));
        let node = self.nodes.insert(Node::new(cube, place, count));
        self.attach(place, Link::Node(node));
        node
    }
}

/// Copies points to the scratch list sorted by their octant at a bit, keeping the order within each,
/// and returns where each octant ends.
fn part<I: Copy>(points: &[(I, Key)], scratch: &mut [(I, Key)], bit: u8) -> [usize; 8] {
    let mut ends = [0; 8];
    for (_, key) in points {
        ends[octant(key, bit)] += 1;
    }
    let mut next = [0; 8];
    for oct in 1..8 {
        next[oct] = next[oct - 1] + ends[oct - 1];
    }
    for point in points {
        let to = &mut next[octant(&point.1, bit)];
        scratch[*to] = *point;
        *to += 1;
    }
    next
}

/// Returns the level of the smallest aligned cube that holds all points.
pub(super) fn spread_of<I>(points: &[(I, Key)]) -> u8 {
    let first = points[0].1;
    let bits = points.iter().fold(0, |bits, (_, key)| {
        bits | (key[0] ^ first[0]) | (key[1] ^ first[1]) | (key[2] ^ first[2])
    });
    level_of_difference(bits)
}
