//! Planting: the tree of many points at once.
//!
//! Seeds are sorted into the slots of a node, then into those of the nodes below it. What moves about is a
//! seed of 20 bytes, not a point of 64, so a set with every level of the universe occupied costs little more
//! than one in a single place.

#![expect(
    clippy::cast_possible_truncation,
    reason = "an offset is what is left of the lowest 32 bits"
)]

use super::SpatialIndex;
use super::cube::{Cube, Key};
use super::frame::Frame;
use super::leaf::Leaf;
use super::node::{Link, Node, Place};
use super::seed::{AHEAD, Bits, Counts, Seed, Source, Window};
use super::stem::stem_of;
use crate::DenseId;

/// How points part below a place.
pub(super) struct Parting {
    pub(super) node: u32,
    /// Whether they are in several octants: then an octant of few points becomes one leaf.
    pub(super) has_octants: bool,
    pub(super) bits: Bits,
    pub(super) counts: Counts,
}

impl<I: DenseId> SpatialIndex<I> {
    /// Builds the tree of points, all of which belong to a place, where nothing is.
    pub(super) fn plant_all(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: Window,
        seeds: &mut [Seed],
    ) {
        let first = &seeds[0];
        let is_crowd = window.shows_all() && seeds.iter().all(|seed| seed.looks_like(first));
        if is_crowd || seeds.len() <= self.cube_of(place).leaf_limit() {
            return self.hang_seeds(place, source, &window, seeds);
        }
        let mut scratch = vec![Seed::default(); seeds.len()];
        self.plant(place, source, window, seeds, &mut scratch);
    }

    /// Does so with a scratch list as long as that of the seeds; from one level to the next the two
    /// change roles.
    pub(super) fn plant(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: Window,
        seeds: &mut [Seed],
        scratch: &mut [Seed],
    ) {
        if seeds.len() <= self.cube_of(place).leaf_limit() {
            return self.hang_seeds(place, source, &window, seeds);
        }
        self.plant_below(place, source, window, seeds, scratch);
    }

    /// Does so for points that do not become one leaf, unless they are all on one spot.
    fn plant_below(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: Window,
        seeds: &mut [Seed],
        scratch: &mut [Seed],
    ) {
        match stem_of(place, &window, self.cube_of(place).level, seeds) {
            Some(tip) => self.plant_stem(place, source, window, &tip, seeds, scratch),
            None => self.plant_node(place, source, window, seeds, scratch),
        }
    }

    /// Does so by a node for the points of a place, and a planting in each of its slots.
    pub(super) fn plant_node(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        mut window: Window,
        seeds: &mut [Seed],
        scratch: &mut [Seed],
    ) {
        let filling = self.part_filling(place, source, &window, seeds);
        match filling.or_else(|| self.part_tightly(place, source, &mut window, seeds)) {
            Some(parting) => self.plant_parts(&parting, source, window, seeds, scratch, None),
            None => self.hang_seeds(place, source, &window, seeds),
        }
    }

    /// Plants the points of a node slot by slot; in the octant of a stem there is more to come.
    pub(super) fn plant_parts(
        &mut self,
        parting: &Parting,
        source: &Source<'_, I>,
        window: Window,
        seeds: &mut [Seed],
        scratch: &mut [Seed],
        stem: Option<u8>,
    ) {
        let node = parting.node;
        let octant_limit = self.nodes.get(node).octant_cube(0).leaf_limit();
        let slot_limit = self.nodes.get(node).slot_cube(0).leaf_limit();
        let ends = parting.bits.sort(&parting.counts, seeds, scratch);
        let mut from = 0;
        for oct in 0..8_u8 {
            let end = ends[usize::from(oct) * 8 + 7];
            let may_be_one = parting.has_octants && stem != Some(oct);
            if may_be_one && from < end && fits_leaf(octant_limit, end - from, ends[63]) {
                let place = Place::Coarse(node, oct);
                self.hang_seeds(place, source, &window, &scratch[from..end]);
                from = end;
            }
            for slot in oct * 8..oct * 8 + 8 {
                let end = ends[usize::from(slot)];
                if end <= from {
                    continue;
                }
                let place = Place::Fine(node, slot);
                let (part, room) = (&mut scratch[from..end], &mut seeds[from..end]);
                if fits_leaf(slot_limit, part.len(), ends[63]) {
                    self.hang_seeds(place, source, &window, part);
                } else {
                    self.plant_below(place, source, window, part, room);
                }
                from = end;
            }
        }
    }

    /// Returns how points part that fill the cube of their place, which is so most often: the counts
    /// of its slots say so, and no other look at the points is needed.
    fn part_filling(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: &Window,
        seeds: &[Seed],
    ) -> Option<Parting> {
        let Place::Fine(above, _) = place else {
            return None;
        };
        let level = self.nodes.get(above).cube.level - 2;
        if level < 2 || !window.shows(level) {
            return None;
        }
        let bits = Bits::new(level, window);
        let counts = bits.count(seeds);
        let first = counts.iter().position(|count| *count > 0)?;
        if counts[first] as usize == seeds.len() {
            return None;
        }
        let octant = &counts[first & !7..][..8];
        let has_octants = octant.iter().sum::<u32>() as usize != seeds.len();
        let key = source.key(&seeds[0], window);
        Some(Parting {
            node: self.node_for_parts(place, &key, level, seeds.len()),
            has_octants,
            bits,
            counts,
        })
    }

    /// Returns how points part in the smallest cube around them, or `None` if they are on one spot.
    fn part_tightly(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: &mut Window,
        seeds: &mut [Seed],
    ) -> Option<Parting> {
        let level = window.focus(source, seeds);
        if level == 0 {
            return None;
        }
        let key = source.key(&seeds[0], window);
        let node = self.node_for_parts(place, &key, level, seeds.len());
        let top = self.nodes.get(node).cube.level;
        let bits = Bits::new(top, window);
        Some(Parting {
            node,
            has_octants: level == top,
            counts: bits.count(seeds),
            bits,
        })
    }

    fn hang_seeds(
        &mut self,
        place: Place,
        source: &Source<'_, I>,
        window: &Window,
        seeds: &[Seed],
    ) {
        let cube = self.cube_of(place);
        let frame = if window.shows_all() {
            Frame::of_cube(&cube).or_else(|| spanning(window, seeds))
        } else {
            None
        };
        let leaf = match frame {
            Some(frame) => {
                // The frame's corner and the window's agree above the lowest 32 bits or are few steps
                // apart there, which wrapping forgives.
                let from = frame.origin.map(|v| v as u32);
                let ids = seeds.iter().map(|seed| source.ids[seed.point as usize]);
                let offsets = seeds
                    .iter()
                    .map(|seed| [0, 1, 2].map(|k| seed.low[k].wrapping_sub(from[k])));
                Leaf::framed(cube, place, frame, ids.collect(), offsets)
            }
            None => {
                source.fetch(seeds.iter().take(AHEAD));
                let points = seeds.iter().enumerate().map(|(at, seed)| {
                    source.fetch(seeds.get(at + AHEAD));
                    source.point(seed, window)
                });
                let (ids, keys) = points.unzip();
                Leaf::whole(cube, place, ids, keys)
            }
        };
        self.hang_leaf(leaf);
    }

    /// Returns the node whose children the parts of a split leaf become. Parts of a coarse leaf that
    /// spread over their octant stay in its node; else a node as tight as the points comes between.
    pub(super) fn node_for_parts(
        &mut self,
        place: Place,
        key: &Key,
        level: u8,
        count: usize,
    ) -> u32 {
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

/// Returns whether a part of some points becomes one leaf. Where points of every scale meet, a part that nearly
/// all go to would be split again soon, and again lose but a few: it is parted at once. Of one guest far from a
/// crowd there is nothing to learn.
fn fits_leaf(limit: usize, part: usize, all: usize) -> bool {
    let loses_a_few = part > limit / 2 && part > all / 4 * 3 && all - part > all / 64;
    part <= limit && !loses_a_few
}

/// Returns an exact frame for seeds in a large cube, if they are close enough together.
fn spanning(window: &Window, seeds: &[Seed]) -> Option<Frame> {
    let (low, high) = window.bounds(seeds)?;
    Frame::spanning(&low, &high)
}
