//! Planting: the tree of many points at once.
//!
//! Points are sorted into the slots of a node, then into those of the nodes below it. What moves about
//! is a *seed* of 16 bytes, not a point of 64: 32 bits of each axis, seen through a window that follows
//! the points down, and the point's number. So a set with every level of the universe occupied costs
//! little more than one in a single place.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a window cuts 32 bits out of each axis"
)]

use nebula_math::WorldPosition;

use super::cube::{Cube, Key, key_of, level_of_difference, octant};
use super::frame::Frame;
use super::leaf::Leaf;
use super::node::{Link, Node, Place};
use super::{LEAF_LIMIT, SpatialIndex};
use crate::DenseId;

/// A point on its way into the tree.
#[derive(Clone, Copy)]
pub(super) struct Seed {
    /// What the window shows of the point's key.
    at: [u32; 3],
    /// Which point it is.
    pub(super) point: u32,
}

/// The points that seeds stand for. The ids stand apart: they are read once more, in any order.
pub(super) struct Source<'a, I> {
    points: &'a [(I, WorldPosition)],
    ids: Vec<I>,
}

impl<'a, I: DenseId> Source<'a, I> {
    pub(super) fn new(points: &'a [(I, WorldPosition)]) -> Self {
        Self {
            points,
            ids: points.iter().map(|(id, _)| *id).collect(),
        }
    }

    /// Returns the seeds of some points, room for as many, and the window on them.
    pub(super) fn seeds(
        &self,
        numbers: impl Iterator<Item = u32> + Clone,
    ) -> (Vec<Seed>, Vec<Seed>, Window) {
        let key = |point: u32| key_of(&self.points[point as usize].1);
        let Some(first) = numbers.clone().next().map(key) else {
            return (Vec::new(), Vec::new(), Window::on(&[0; 3], 0));
        };
        let bits = numbers.clone().fold(0, |bits, point| {
            let key = key(point);
            bits | (key[0] ^ first[0]) | (key[1] ^ first[1]) | (key[2] ^ first[2])
        });
        let window = Window::on(&first, level_of_difference(bits));
        let seeds: Vec<_> = numbers
            .map(|point| window.seed(&key(point), point))
            .collect();
        let room = vec![
            Seed {
                at: [0; 3],
                point: 0
            };
            seeds.len()
        ];
        (seeds, room, window)
    }

    #[inline]
    pub(super) fn key(&self, seed: &Seed) -> Key {
        key_of(&self.points[seed.point as usize].1)
    }

    #[inline]
    pub(super) fn point(&self, seed: &Seed, window: &Window) -> (I, Key) {
        let key = if window.shift == 0 {
            window.key(seed)
        } else {
            self.key(seed)
        };
        (self.ids[seed.point as usize], key)
    }
}

/// The 32 bits of each axis that seeds show; above them all seeds agree.
#[derive(Clone, Copy)]
pub(super) struct Window {
    origin: Key,
    shift: u8,
}

impl Window {
    /// Returns the window on the bits in which points of a cube differ.
    fn on(key: &Key, level: u8) -> Self {
        let shift = level.saturating_sub(32);
        Self {
            origin: Cube::around(key, shift + 32).origin,
            shift,
        }
    }

    #[inline]
    fn seed(&self, key: &Key, point: u32) -> Seed {
        Seed {
            at: key.map(|v| (v >> self.shift) as u32),
            point,
        }
    }

    /// Returns a seed's whole key; the window shows the lowest bits.
    #[inline]
    fn key(&self, seed: &Seed) -> Key {
        debug_assert!(self.shift == 0, "the window cuts bits away");
        [0, 1, 2].map(|k| self.origin[k] | u128::from(seed.at[k]))
    }

    /// Returns the level of the smallest aligned cube that holds all points. Moves the window down to
    /// them if it shows less than the two bits that a node looks at.
    pub(super) fn focus<I: DenseId>(&mut self, source: &Source<'_, I>, seeds: &mut [Seed]) -> u8 {
        let first = seeds[0].at;
        let bits = seeds.iter().fold(0, |bits, seed| {
            bits | (seed.at[0] ^ first[0]) | (seed.at[1] ^ first[1]) | (seed.at[2] ^ first[2])
        });
        let seen = level_of_difference(u128::from(bits));
        if self.shift == 0 || seen >= 2 {
            return if seen == 0 { 0 } else { seen + self.shift };
        }
        let first = source.key(&seeds[0]);
        let bits = seeds.iter().fold(0, |bits, seed| {
            let key = source.key(seed);
            bits | (key[0] ^ first[0]) | (key[1] ^ first[1]) | (key[2] ^ first[2])
        });
        let level = level_of_difference(bits);
        *self = Self::on(&first, level);
        for seed in seeds {
            *seed = self.seed(&source.key(seed), seed.point);
        }
        level
    }
}

impl<I: DenseId> SpatialIndex<I> {
    /// Builds the tree of points, all of which belong to a place, where nothing is. Of the points
    /// only those that are numbered count.
    pub(super) fn plant(
        &mut self,
        place: Place,
        points: &[(I, WorldPosition)],
        numbers: impl Iterator<Item = u32> + Clone,
    ) {
        let source = Source::new(points);
        let (mut seeds, mut scratch, window) = source.seeds(numbers);
        self.plant_seeds(place, &source, window, &mut seeds, &mut scratch);
    }

    /// Does so with seeds. The scratch list is as long; from one level to the next the two change
    /// roles.
    pub(super) fn plant_seeds(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        mut window: Window,
        seeds: &mut [Seed],
        scratch: &mut [Seed],
    ) {
        let level = if seeds.len() > LEAF_LIMIT as usize {
            window.focus(source, seeds)
        } else {
            0
        };
        if level == 0 {
            return self.hang_seeds(place, source, &window, seeds);
        }
        let first = source.key(&seeds[0]);
        let node = self.node_for_parts(place, &first, level, seeds.len());
        let top = self.nodes.get(node).cube.level;
        let has_octants = level == top;
        let ends = Bits::new(top, &window, &first).sort(seeds, scratch);
        let mut from = 0;
        for oct in 0..8_u8 {
            let end = ends[usize::from(oct) * 8 + 7];
            if has_octants && from < end && end - from <= LEAF_LIMIT as usize {
                let place = Place::Coarse(node, oct);
                self.hang_seeds(place, source, &window, &scratch[from..end]);
                from = end;
            }
            for slot in oct * 8..oct * 8 + 8 {
                let end = ends[usize::from(slot)];
                if from < end {
                    let place = Place::Fine(node, slot);
                    let (seeds, scratch) = (&mut scratch[from..end], &mut seeds[from..end]);
                    self.plant_seeds(place, source, window, seeds, scratch);
                    from = end;
                }
            }
        }
    }

    fn hang_seeds(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: &Window,
        seeds: &[Seed],
    ) {
        let cube = self.cube_of(place);
        let leaf = match Frame::of_cube(&cube) {
            Some(frame) if window.shift == 0 => {
                // Both corners agree above the lowest 32 bits or are one step apart there, which
                // wrapping forgives.
                let from = frame.origin.map(|v| v as u32);
                let ids = seeds.iter().map(|seed| source.ids[seed.point as usize]);
                let offsets = seeds
                    .iter()
                    .map(|seed| [0, 1, 2].map(|k| seed.at[k].wrapping_sub(from[k])));
                Leaf::framed(cube, place, frame, ids.collect(), offsets)
            }
            _ => Leaf::new(
                cube,
                place,
                seeds.iter().map(|seed| source.point(seed, window)),
            ),
        };
        self.hang_leaf(leaf);
    }

    /// Returns the node whose children the parts of a split leaf become. Parts of a coarse leaf that
    /// spread over their octant stay in its node; else a node as tight as the points comes between.
    fn node_for_parts(&mut self, place: Place, key: &Key, level: u8, count: usize) -> u32 {
        let place = match place {
            Place::Coarse(node, _) if level == self.nodes.get(node).cube.level - 1 => return node,
            Place::Coarse(node, _) => Place::Fine(node, self.nodes.get(node).slot_of(key)),
            place => place,
        };
        let count = u32::try_from(count).expect("fewer points than ids");
        let cube = Cube::around(key, level.next_multiple_of(2));
        let node = self.nodes.insert(Node::new(cube, place, count));
        self.attach(place, Link::Node(node));
        node
    }
}

/// Where a window shows the bits that choose a node's slot.
pub(super) struct Bits {
    /// The shifts of the octant's bit and of the fine slot's, and a mask that is 0 where the bit is
    /// above the window: there it is the same for all.
    octant: (u8, u32),
    fine: (u8, u32),
    /// The slot as far as it is the same for all.
    common: u32,
}

impl Bits {
    /// Returns the bits for a node of a level, which holds all points, `first` among them.
    pub(super) fn new(level: u8, window: &Window, first: &Key) -> Self {
        let mut common = 0;
        let mut at = |bit: u8, to: u32| {
            let shift = bit - window.shift;
            if shift < 32 {
                return (shift, 1);
            }
            common |= (octant(first, bit) as u32) << to;
            (0, 0)
        };
        let (octant, fine) = (at(level - 1, 3), at(level - 2, 0));
        Self {
            octant,
            fine,
            common,
        }
    }

    #[inline]
    fn slot(&self, at: &[u32; 3]) -> usize {
        let of = |(shift, mask): (u8, u32)| {
            let [x, y, z] = at.map(|v| v >> shift & mask);
            x | y << 1 | z << 2
        };
        (self.common | of(self.octant) << 3 | of(self.fine)) as usize
    }

    /// Copies seeds to the scratch list sorted by slot, keeping the order within each, and returns
    /// where each slot ends.
    pub(super) fn sort(&self, seeds: &[Seed], scratch: &mut [Seed]) -> [usize; 64] {
        let mut counts = [0; 64];
        for seed in seeds {
            counts[self.slot(&seed.at) & 63] += 1;
        }
        let mut next = [0; 64];
        for slot in 1..64 {
            next[slot] = next[slot - 1] + counts[slot - 1];
        }
        for seed in seeds {
            let to = &mut next[self.slot(&seed.at) & 63];
            scratch[*to] = *seed;
            *to += 1;
        }
        next
    }
}
