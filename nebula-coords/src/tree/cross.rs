//! Crossing in crowds: many points leave their leaves at once, and come down the tree together.

use nebula_math::WorldPosition;

use super::SpatialIndex;
use super::arena::Arena;
use super::cube::{key_of, level_of_difference, position_of};
use super::node::{Link, Place};
use super::seed::{Bits, Keys, Seed, Source, Window};
use super::table::Spot;
use crate::DenseId;

/// From how many crossings on they are worth sorting.
pub(super) const WORTH_SORTING: usize = 512;

/// Fewer than this go down one by one.
const FEW: usize = 8;

impl<I: DenseId> SpatialIndex<I> {
    /// Moves the points of a batch that leave their leaves: takes all of them out, then adds them
    /// together. The last entry of each id counts.
    pub(super) fn cross_all(&mut self, moves: &[(I, WorldPosition)], crossing: &[usize]) {
        let mut left = Vec::new();
        for at in crossing {
            let index = moves[*at].0.dense_index();
            let spot = self.table.get(index);
            if spot.leaf != u32::MAX {
                self.miss_one(spot.leaf, &mut left);
                self.take_out(spot);
            }
            // Until its new leaf is known, the table says which entry of an id counts.
            self.table.set(index, Spot::leaving(number(*at)));
        }
        self.count_missing(&left);
        let points: Vec<_> = self
            .last_of(moves, crossing.iter().copied())
            .map(|(_, p)| *p)
            .collect();
        self.sow(&points);
        // Not before: a leaf that was left may be where others went.
        for leaf in left {
            self.tidy(leaf);
        }
    }

    /// Builds the tree anew where most points of a batch cross: cheaper than to take them out one by
    /// one.
    pub(super) fn build_anew(&mut self, moves: &[(I, WorldPosition)], crossing: &[usize]) {
        let mut left = 0;
        for at in crossing {
            left += usize::from(self.mark_leaving(moves[*at].0, *at));
        }
        self.build_without(moves, crossing.iter().copied(), left);
    }

    /// Builds the tree anew without a look at who crosses, and returns how many entries of the batch name
    /// points that are stored.
    pub(super) fn build_from(&mut self, moves: &[(I, WorldPosition)]) -> usize {
        let (mut left, mut known) = (0, 0);
        for (at, (id, _)) in moves.iter().enumerate() {
            let spot = self.table.get(id.dense_index());
            let is_known = if spot.leaf == u32::MAX {
                // Nobody, or one who is leaving by an earlier entry.
                spot != Spot::VACANT && moves[spot.slot as usize].0 == *id
            } else {
                self.spot(*id).is_some()
            };
            if is_known {
                known += 1;
                left += usize::from(self.mark_leaving(*id, at));
            }
        }
        self.build_without(moves, 0..moves.len(), left);
        known
    }

    /// Notes in the table by which entry of a batch a stored point leaves; returns whether it is the first.
    #[inline]
    fn mark_leaving(&mut self, id: I, at: usize) -> bool {
        let entry = self.table.entry(id.dense_index());
        let is_first = entry.leaf != u32::MAX;
        *entry = Spot::leaving(number(at));
        is_first
    }

    /// Builds the tree of the `left` points that are marked as leaving and of those that are not.
    fn build_without(
        &mut self,
        moves: &[(I, WorldPosition)],
        crossing: impl Iterator<Item = usize> + Clone,
        left: usize,
    ) {
        let mut stayed = Vec::with_capacity(self.len - left);
        let leaves = self.leaves_in_order();
        for leaf in leaves.take_while(|_| left < self.len) {
            for (slot, id) in leaf.ids().iter().enumerate() {
                if self.table.get(id.dense_index()).leaf != u32::MAX {
                    stayed.push((*id, position_of(&leaf.key(slot))));
                }
            }
        }
        self.root = Link::Empty;
        self.nodes = Arena::new();
        self.leaves = Arena::new();
        // Those that stayed are numbered from where the batch ends, and come first.
        let stayed_numbers = number(moves.len())..number(moves.len() + stayed.len());
        let keys = (stayed_numbers.zip(&stayed))
            .chain(self.last_of(moves, crossing))
            .map(|(at, (_, p))| (at, key_of(p)));
        let (mut seeds, window) = Window::open(keys);
        let source = Source {
            ids: (moves.iter().chain(&stayed)).map(|(id, _)| *id).collect(),
            keys: Keys::Points(moves, &stayed),
        };
        self.plant_all(Place::Root, &source, window, &mut seeds);
    }

    /// Returns the last entry of each id among those that cross, as the table says.
    fn last_of<'a>(
        &'a self,
        moves: &'a [(I, WorldPosition)],
        crossing: impl Iterator<Item = usize> + Clone + 'a,
    ) -> impl Iterator<Item = (u32, &'a (I, WorldPosition))> + Clone + 'a {
        let numbered = crossing.map(|at| (number(at), &moves[at]));
        // The whole spot: one who stays may have the same slot of a leaf.
        numbered.filter(|(at, (id, _))| self.table.get(id.dense_index()) == Spot::leaving(*at))
    }

    /// Adds points that are not in the tree.
    fn sow(&mut self, points: &[(I, WorldPosition)]) {
        let source = Source {
            ids: points.iter().map(|(id, _)| *id).collect(),
            keys: Keys::Points(points, &[]),
        };
        let (mut seeds, window) =
            Window::open((0..).zip(points).map(|(at, (_, p))| (at, key_of(p))));
        let mut scratch = seeds.clone();
        let mut full = Vec::new();
        let group = Group {
            seeds: &mut seeds,
            scratch: &mut scratch,
            window,
        };
        match self.root {
            Link::Empty => {
                self.plant(Place::Root, &source, window, group.seeds, group.scratch);
            }
            Link::Leaf(leaf) => self.push_all(leaf, &source, &group, &mut full),
            Link::Node(node) => self.sow_below(node, &source, group, &mut full),
        }
        self.sort_by_place(&mut full);
        full.dedup();
        self.settle(&full);
    }

    /// Adds a group of points to a node, or to one put above it if some lie outside. Leaves that are
    /// too full now join the list.
    fn sow_below(
        &mut self,
        mut at: u32,
        source: &Source<'_, I>,
        group: Group<'_>,
        full: &mut Vec<u32>,
    ) {
        let Group {
            seeds,
            scratch,
            mut window,
        } = group;
        let first = source.key(&seeds[0], &window);
        let cube = self.nodes.get(at).cube;
        let apart = (0..3).fold(0, |bits, k| bits | (cube.origin[k] ^ first[k]));
        let level = window.focus(source, seeds).max(level_of_difference(apart));
        if level > cube.level {
            at = self.put_above(at, &first, level);
        }
        if seeds.len() < FEW {
            for seed in seeds {
                let (id, key) = source.point(seed, &window);
                full.extend(self.push_below(at, id, key));
            }
            return;
        }
        let node = self.nodes.get_mut(at);
        node.count += u32::try_from(seeds.len()).expect("fewer points than ids");
        let bits = Bits::new(node.cube.level, &window);
        let ends = bits.sort(&bits.count(seeds), seeds, scratch);
        let mut from = 0;
        for slot in 0..64_u8 {
            let oct = usize::from(slot >> 3);
            let mut end = ends[usize::from(slot)];
            let octant_end = ends[oct * 8 + 7];
            if from >= end {
                continue;
            }
            let node = self.nodes.get(at);
            let child = node.child(slot);
            let mut place = Place::Fine(at, slot);
            let fits_octant = octant_end - from <= node.octant_cube(slot >> 3).leaf_limit();
            if child == Link::Empty && fits_octant && node.octant_is_empty(slot >> 3) {
                place = Place::Coarse(at, slot >> 3);
                end = octant_end;
            }
            let group = Group {
                seeds: &mut scratch[from..end],
                scratch: &mut seeds[from..end],
                window,
            };
            match child {
                Link::Leaf(leaf) => self.push_all(leaf, source, &group, full),
                Link::Node(node) => self.sow_below(node, source, group, full),
                Link::Empty => {
                    self.plant(place, source, window, group.seeds, group.scratch);
                }
            }
            from = end;
        }
    }

    fn push_all(
        &mut self,
        leaf: u32,
        source: &Source<'_, I>,
        group: &Group<'_>,
        full: &mut Vec<u32>,
    ) {
        for seed in &*group.seeds {
            let (id, key) = source.point(seed, &group.window);
            let is_full = self.push(leaf, id, key).is_some();
            if is_full && full.last() != Some(&leaf) {
                full.push(leaf);
            }
        }
    }
}

/// Returns the number of a point or an entry.
fn number(at: usize) -> u32 {
    u32::try_from(at).expect("a batch has fewer entries than there are ids")
}

/// Points that go the same way.
struct Group<'a> {
    seeds: &'a mut [Seed],
    /// Room for as many.
    scratch: &'a mut [Seed],
    window: Window,
}
