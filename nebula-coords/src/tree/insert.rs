//! Adding points: descend, hang a leaf where nothing was, split one that is full.

use super::SpatialIndex;
use super::cube::{Cube, Key, level_of_difference};
use super::leaf::Leaf;
use super::node::{Link, Node, Place, slot_at};
use super::seed::{Keys, Source, Window};
use super::table::Spot;
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    /// Adds a point that is not in the tree, from the root down.
    pub(super) fn add(&mut self, id: I, key: Key) {
        if let Some(full) = self.add_quietly(id, key) {
            self.settle(&[full]);
        }
    }

    /// Adds a point, and returns its leaf if that is too full now.
    fn add_quietly(&mut self, id: I, key: Key) -> Option<u32> {
        match self.root {
            Link::Empty => self.hang(Place::Root, [(id, key)].into_iter()),
            Link::Leaf(leaf) => return self.push(leaf, id, key),
            Link::Node(node) if self.nodes.get(node).cube.contains(&key) => {
                return self.push_below(node, id, key);
            }
            Link::Node(node) => self.join(node, id, key),
        }
        None
    }

    /// Adds a point below a node whose cube holds it.
    pub(super) fn add_below(&mut self, at: u32, id: I, key: Key) {
        if let Some(full) = self.push_below(at, id, key) {
            self.settle(&[full]);
        }
    }

    /// Adds a point below a node whose cube holds it, and returns its leaf if that is too full now.
    pub(super) fn push_below(&mut self, mut at: u32, id: I, key: Key) -> Option<u32> {
        // The way down is a chain of loads. A level that is counted and not read shortens it: slots are
        // known before their nodes are.
        let mut level = self.nodes.get(at).level;
        loop {
            let slot = slot_at(level, &key);
            let node = self.nodes.get_mut(at);
            node.count += 1;
            match node.child(slot) {
                Link::Leaf(leaf) => return self.push(leaf, id, key),
                Link::Empty => self.hang_in(at, slot, id, key),
                Link::Node(child) => {
                    // A child that fills its slot holds all that falls into it.
                    let below = self.nodes.get(child);
                    if below.level + 2 == level {
                        (at, level) = (child, level - 2);
                        continue;
                    }
                    if below.cube.contains(&key) {
                        (at, level) = (child, below.level);
                        continue;
                    }
                    self.join(child, id, key);
                }
            }
            return None;
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
        self.hang(place, [(id, key)].into_iter());
    }

    /// Puts a new node above one that shares its slot with a point outside it.
    fn join(&mut self, below: u32, id: I, key: Key) {
        let origin = self.nodes.get(below).cube.origin;
        let bits = (0..3).fold(0, |bits, axis| bits | (origin[axis] ^ key[axis]));
        let at = self.put_above(below, &key, level_of_difference(bits));
        let node = self.nodes.get_mut(at);
        node.count += 1;
        let slot = node.slot_of(&key);
        self.hang_in(at, slot, id, key);
    }

    /// Puts a new node above one, of the next level that nodes have, around a key outside it.
    pub(super) fn put_above(&mut self, below: u32, key: &Key, level: u8) -> u32 {
        let Node {
            cube,
            place,
            count,
            stray,
            ..
        } = *self.nodes.get(below);
        let mut node = Node::new(Cube::around(key, level.next_multiple_of(2)), place, count);
        node.stray = stray;
        let slot = node.slot_of(&cube.origin);
        let at = self.nodes.insert(node);
        self.attach(place, Link::Node(at));
        self.nodes.get_mut(below).place = Place::Fine(at, slot);
        self.nodes.get_mut(at).set_fine(slot, Link::Node(below));
        at
    }

    /// Adds a point to a leaf, and returns the leaf if it is too full now.
    pub(super) fn push(&mut self, at: u32, id: I, key: Key) -> Option<u32> {
        let leaf = self.leaves.get_mut(at);
        let was_crowd = leaf.is_crowd();
        let slot = leaf.push(id, key);
        // A crowd stands on one spot, so one point speaks for all.
        let is_full = leaf.is_crowd() && !(was_crowd && leaf.key(0) == key);
        self.changes.note_leaf(leaf);
        let slot = u32::try_from(slot).expect("a leaf holds fewer points than there are ids");
        self.table.set(id.dense_index(), Spot { leaf: at, slot });
        is_full.then_some(at)
    }

    /// Makes a leaf of points, all of which belong to its place, where nothing is.
    pub(super) fn hang(
        &mut self,
        place: Place,
        points: impl ExactSizeIterator<Item = (I, Key)> + Clone,
    ) {
        let mut leaf = Leaf::new(self.cube_of(place), place, points);
        leaf.find_strays();
        self.hang_leaf(leaf);
    }

    /// Hangs a leaf at its place, where nothing is.
    pub(super) fn hang_leaf(&mut self, mut leaf: Leaf<I>) {
        let place = leaf.place;
        self.changes.note_leaf(&mut leaf);
        let at = self.leaves.insert(leaf);
        self.attach(place, Link::Leaf(at));
        self.tell_stray(at);
        for (slot, id) in (0..).zip(self.leaves.get(at).ids()) {
            self.table.set(id.dense_index(), Spot { leaf: at, slot });
        }
    }

    /// Tells the nodes above a leaf how far its points stray.
    pub(super) fn tell_stray(&mut self, leaf: u32) {
        let leaf = self.leaves.get(leaf);
        let (stray, mut place) = (leaf.stray(), leaf.place);
        while let Place::Fine(at, _) | Place::Coarse(at, _) = place {
            let node = self.nodes.get_mut(at);
            if node.stray >= stray {
                break;
            }
            node.stray = stray;
            place = node.place;
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

    /// Splits leaves that hold too many points, and their parts as long as one does. Points on one
    /// spot cannot part and stay together.
    ///
    /// Each split of a crowd leaves it in a smaller cube, and nothing enlarges that again while the
    /// crowd stays, so it is split at most 128 times whoever comes and goes.
    pub(super) fn settle(&mut self, full: &[u32]) {
        let mut strays = Vec::new();
        for leaf in full {
            self.split(*leaf, &mut strays);
        }
        // Strays go where they belong, in a loop and not by recursion: they may fill the next leaf,
        // which has strays of its own. One that was moved strays no more, so this ends.
        while let Some((id, key)) = strays.pop() {
            if let Some(full) = self.add_quietly(id, key) {
                self.split(full, &mut strays);
            }
        }
    }

    /// Splits a leaf; points outside its cube leave the tree and join the list of strays.
    fn split(&mut self, full: u32, strays: &mut Vec<(I, Key)>) {
        let leaf = self.leaves.get_mut(full);
        let spot = leaf.key(0);
        if leaf.points().all(|(_, key)| key == spot) {
            leaf.calm();
            return self.tell_stray(full);
        }
        let mut leaf = self.leaves.remove(full);
        let (cube, place) = (leaf.cube, leaf.place);
        self.attach(place, Link::Empty);
        let before = strays.len();
        let stays = |key: &Key| leaf.stray() == 0 || cube.contains(key);
        if leaf.stray() > 0 {
            strays.extend(leaf.points().filter(|(_, key)| !stays(key)));
        }
        let keys = (0..).zip(leaf.keys()).filter(|(_, key)| stays(key));
        let (mut seeds, window) = Window::open(keys);
        if !seeds.is_empty() {
            let ids = leaf.take_ids();
            let keys = leaf.whole_keys().map_or(Keys::Shown, Keys::Whole);
            let source = Source { ids, keys };
            self.plant_all(place, &source, window, &mut seeds);
        }
        if strays.len() > before {
            self.count_down(place, strays.len() - before);
            self.tidy_place(place, seeds.is_empty());
        } else if let Place::Fine(parent, _) | Place::Coarse(parent, _) = place {
            // A leaf alone below its node may have become a node.
            self.lift_lone_node(parent);
        }
    }
}
