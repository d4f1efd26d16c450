//! The invariants of the tree, all checked.

use super::node::{Link, Place};
use super::table::Spot;
use super::{MERGE_LIMIT, SpatialIndex};
use crate::DenseId;

/// What a walk over the tree saw.
#[derive(Default)]
struct Seen {
    nodes: usize,
    leaves: usize,
    points: usize,
}

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn check(&self) -> Result<(), String> {
        let mut seen = Seen::default();
        let count = self.check_link(self.root, Place::Root, &mut seen)?;
        let claims = [
            ("points", self.len, count),
            ("points in leaves", self.len, seen.points),
            ("table entries", self.len, self.table.used()),
            ("nodes", self.nodes.len(), seen.nodes),
            ("leaves", self.leaves.len(), seen.leaves),
        ];
        match claims
            .iter()
            .find(|(_, claimed, counted)| claimed != counted)
        {
            None => Ok(()),
            Some((what, claimed, counted)) => Err(format!("{counted} {what}, expected {claimed}")),
        }
    }

    /// Checks everything below a link, and returns how many points are there.
    fn check_link(&self, link: Link, place: Place, seen: &mut Seen) -> Result<usize, String> {
        match link {
            Link::Empty if place == Place::Root => Ok(0),
            Link::Empty => Err(format!("{place:?} is marked as used and empty")),
            Link::Leaf(at) => self.check_leaf(at, place, seen),
            Link::Node(at) => self.check_node(at, place, seen),
        }
    }

    fn check_leaf(&self, at: u32, place: Place, seen: &mut Seen) -> Result<usize, String> {
        let leaf = self.leaves.get(at);
        seen.leaves += 1;
        seen.points += leaf.len();
        if leaf.place != place {
            return Err(format!("a leaf at {place:?} says {:?}", leaf.place));
        }
        if leaf.cube != self.cube_of(place) {
            return Err(format!("the leaf at {place:?} has cube {:x?}", leaf.cube));
        }
        let spot = leaf.points().next().map(|(_, key)| key);
        if leaf.len() == 0 {
            return Err(format!("an empty leaf at {place:?}"));
        }
        if leaf.is_crowd() && leaf.points().any(|(_, key)| Some(key) != spot) {
            return Err(format!("{} points that differ in one leaf", leaf.len()));
        }
        for (slot, id) in (0..).zip(leaf.ids()) {
            let spot = self.table.get(id.dense_index());
            if spot != (Spot { leaf: at, slot }) {
                return Err(format!(
                    "{id:?} is in slot {slot} of leaf {at}, the table says {spot:?}"
                ));
            }
        }
        leaf.validate()?;
        Ok(leaf.len())
    }

    fn check_node(&self, at: u32, place: Place, seen: &mut Seen) -> Result<usize, String> {
        let node = self.nodes.get(at);
        seen.nodes += 1;
        if node.place != place {
            return Err(format!("a node at {place:?} says {:?}", node.place));
        }
        let room = self.cube_of(place);
        if node.cube.level > room.level || !room.contains(&node.cube.origin) {
            return Err(format!(
                "node {:x?} does not fit its place {room:x?}",
                node.cube
            ));
        }
        let (mut count, mut children, mut lone_node) = (0, 0, false);
        for (slot, link) in node.children() {
            let coarse = node.is_coarse(slot >> 3);
            let place = if coarse {
                Place::Coarse(at, slot >> 3)
            } else {
                Place::Fine(at, slot)
            };
            count += self.check_link(link, place, seen)?;
            let stray = match link {
                Link::Empty => 0,
                Link::Leaf(leaf) => self.leaves.get(leaf).stray(),
                Link::Node(node) => self.nodes.get(node).stray,
            };
            if stray > node.stray {
                return Err(format!(
                    "points stray by {stray} bits below a node that says {}",
                    node.stray
                ));
            }
            children += 1;
            lone_node = matches!(link, Link::Node(_));
        }
        // A lone leaf keeps its node as long as it is too large to merge.
        if children == 0 || (children == 1 && (lone_node || count <= MERGE_LIMIT)) {
            return Err(format!("a node with {children} children at {place:?}"));
        }
        if count != node.count as usize {
            return Err(format!(
                "{count} points below a node that counts {}",
                node.count
            ));
        }
        Ok(count)
    }
}
