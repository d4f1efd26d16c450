//! Snapshots: the tree as a flat list, so that a restored index answers in the same order.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use nebula_math::WorldPosition;

use super::SpatialIndex;
use super::cube::{Cube, Key, key_of, position_of};
use super::node::{Link, Node, Place};
use super::table::PAGE_BITS;
use crate::DenseId;

/// One node or leaf. Entries follow each other from the root down, children in slot order.
#[derive(Serialize, Deserialize)]
enum Entry<I> {
    Node {
        slot: u8,
        origin: WorldPosition,
        level: u8,
        children: u8,
    },
    Leaf {
        slot: u8,
        /// Whether the leaf fills an octant of its node.
        coarse: bool,
        points: Vec<(I, WorldPosition)>,
    },
}

impl<I: DenseId + Serialize> Serialize for SpatialIndex<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = Vec::new();
        self.save(self.root, Place::Root, &mut entries);
        serializer.collect_seq(entries)
    }
}

impl<'de, I: DenseId + Deserialize<'de>> Deserialize<'de> for SpatialIndex<I> {
    /// Reads a snapshot and checks all of it; the marks of the old index mean nothing here.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::deserialize(deserializer)?;
        check_spread_of_ids(&entries).map_err(D::Error::custom)?;
        let mut entries = entries.into_iter();
        let mut index = Self::new();
        if let Some(root) = entries.next() {
            index
                .restore(root, None, &mut entries)
                .map_err(D::Error::custom)?;
        }
        if entries.next().is_some() {
            return Err(D::Error::custom("entries after the end of the tree"));
        }
        index.check().map_err(D::Error::custom)?;
        Ok(index)
    }
}

impl<I: DenseId> SpatialIndex<I> {
    fn save(&self, link: Link, place: Place, entries: &mut Vec<Entry<I>>) {
        let (slot, coarse) = match place {
            Place::Root => (0, false),
            Place::Fine(_, slot) => (slot, false),
            Place::Coarse(_, oct) => (oct << 3, true),
        };
        match link {
            Link::Empty => {}
            Link::Leaf(at) => {
                let leaf = self.leaves.get(at);
                let points = leaf
                    .points()
                    .map(|(id, key)| (id, position_of(&key)))
                    .collect();
                entries.push(Entry::Leaf {
                    slot,
                    coarse,
                    points,
                });
            }
            Link::Node(at) => {
                let node = self.nodes.get(at);
                entries.push(Entry::Node {
                    slot,
                    origin: position_of(&node.cube.origin),
                    level: node.cube.level,
                    children: u8::try_from(node.children().count()).expect("at most 64 children"),
                });
                for (slot, child) in node.children() {
                    let coarse = node.is_coarse(slot >> 3);
                    let place = if coarse {
                        Place::Coarse(at, slot >> 3)
                    } else {
                        Place::Fine(at, slot)
                    };
                    self.save(child, place, entries);
                }
            }
        }
    }

    /// Restores an entry and those below it, and returns how many points they hold. Levels fall by
    /// two from node to node, which bounds the depth whatever the list says.
    fn restore(
        &mut self,
        entry: Entry<I>,
        parent: Option<u32>,
        entries: &mut impl Iterator<Item = Entry<I>>,
    ) -> Result<u32, String> {
        match entry {
            Entry::Leaf {
                slot,
                coarse,
                points,
            } => {
                let place = self.vacant_place(parent, slot, coarse)?;
                let points: Vec<(I, Key)> =
                    points.iter().map(|(id, at)| (*id, key_of(at))).collect();
                if points.is_empty() {
                    return Err("an empty leaf".to_owned());
                }
                let cube = self.cube_of(place);
                if let Some((id, _)) = points.iter().find(|(_, key)| cube.stray(key).is_none()) {
                    return Err(format!("{id:?} lies outside the leaf that lists it"));
                }
                let count = u32::try_from(points.len()).map_err(|_| "more points than ids")?;
                self.hang(place, points.iter().copied());
                self.len += points.len();
                Ok(count)
            }
            Entry::Node {
                slot,
                origin,
                level,
                children,
            } => {
                let place = self.vacant_place(parent, slot, false)?;
                let room = self.cube_of(place);
                let cube = Cube {
                    origin: key_of(&origin),
                    level,
                };
                if level < 2
                    || level % 2 != 0
                    || level > room.level
                    || cube != Cube::around(&cube.origin, level)
                {
                    return Err(format!("no node of level {level} fits at {origin:?}"));
                }
                let at = self.nodes.insert(Node::new(cube, place, 0));
                self.attach(place, Link::Node(at));
                let mut count = 0_u32;
                for _ in 0..children {
                    let child = entries.next().ok_or("the list ends inside the tree")?;
                    let below = self.restore(child, Some(at), entries)?;
                    count = count.checked_add(below).ok_or("more points than ids")?;
                }
                self.nodes.get_mut(at).count = count;
                Ok(count)
            }
        }
    }

    /// Returns the place an entry names, if nothing is there yet.
    fn vacant_place(&self, parent: Option<u32>, slot: u8, coarse: bool) -> Result<Place, String> {
        let Some(at) = parent else {
            return Ok(Place::Root);
        };
        if slot >= 64 {
            return Err(format!("slot {slot} of 64"));
        }
        let node = self.nodes.get(at);
        let oct = slot >> 3;
        let is_free = if coarse {
            node.octant_is_empty(oct)
        } else {
            node.child(slot) == Link::Empty
        };
        match (is_free, coarse) {
            (false, _) => Err(format!("slot {slot} is used twice")),
            (true, true) => Ok(Place::Coarse(at, oct)),
            (true, false) => Ok(Place::Fine(at, slot)),
        }
    }
}

/// Refuses ids so far apart that a short list would fill the memory: a few of them may cost a page
/// of the table each, a large crowd has to be denser.
fn check_spread_of_ids<I: DenseId>(entries: &[Entry<I>]) -> Result<(), String> {
    let mut pages: Vec<u32> = Vec::new();
    for entry in entries {
        if let Entry::Leaf { points, .. } = entry {
            pages.extend(points.iter().map(|(id, _)| id.dense_index() >> PAGE_BITS));
        }
    }
    let points = pages.len();
    pages.sort_unstable();
    pages.dedup();
    if pages.len() > 1_024 + points / 4 {
        return Err(format!(
            "{points} points have ids on {} pages of the table; number them from zero",
            pages.len()
        ));
    }
    Ok(())
}
