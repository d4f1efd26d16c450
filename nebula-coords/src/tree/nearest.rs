//! The nearest k: where the point itself is first, then whatever can hold a nearer one.
//!
//! A first look goes straight down to the leaf (or the emptiness) around the point and finds a distance to
//! beat. The second walks down from the root as a sphere of that radius does, children nearest first.
//! Floats choose the way, and leave out only what is too far whatever their rounding; integers
//! decide who is found.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "floats choose the way, and every rounding step is covered"
)]

use nebula_math::{U384, WorldPosition};

use super::SpatialIndex;
use super::ball::{Bounds, View, near_center};
use super::best::{Best, Candidate, Distance, Small, square_below};
use super::cube::{Key, key_of};
use super::kernel::{self, Center, exact_square};
use super::leaf::{Block, LANES, LEAF_LINES};
use super::node::{self, Link, Node};
use super::simd::{self, GROUP};
use crate::DenseId;

/// Points at most this far away have small squares, with room for what floats let through.
const SMALL_LIMIT: u128 = 1 << 62;
/// Whoever is within this is below that limit, whatever the rounding.
const SMALL_REACH: f64 = kernel::power_of_two(61);
/// Up to this size of the surroundings it is worth a try.
const SMALL_LEVEL: u8 = 61;

/// How many children are fetched at once.
const AHEAD: usize = 4;

/// A search under way.
struct Search<'a, I: DenseId, D: Distance> {
    index: &'a SpatialIndex<I>,
    at: Key,
    best: Best<D>,
    /// What the first look has seen.
    seen: Link,
    /// A box around all that is wanted.
    bounds: Bounds,
    /// See `SpatialIndex::reach`.
    reach: f64,
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
        let at = key_of(at);
        let start = self.start(&at, wanted);
        // Nearly always the nearest are near, and squares small; else all is searched in wide numbers.
        let reach = self.reach(start, &at, wanted);
        if self.level_of(start) <= SMALL_LEVEL || reach < SMALL_REACH {
            self.search::<Small>(at, start, wanted, limit.min(SMALL_LIMIT), reach, out);
            if out.len() == wanted || limit <= SMALL_LIMIT {
                return;
            }
            out.clear();
        }
        self.search::<U384>(at, start, wanted, limit, reach, out);
    }

    /// Returns a distance within which as many as are wanted surely are, where floats quickly tell; else infinity.
    fn reach(&self, start: Link, at: &Key, wanted: usize) -> f64 {
        let Link::Leaf(leaf) = start else {
            return f64::INFINITY;
        };
        let leaf = self.leaves.get(leaf);
        simd::prefetch_list(leaf.blocks(), GROUP * 2);
        let frame = &leaf.frame();
        let reach = if !frame.is_exact() {
            kernel::View::new(at, frame, leaf.stray()).reach(leaf, wanted)
        } else {
            near_center(at, &frame.origin).and_then(|center| kernel::reach(leaf, center, wanted))
        };
        reach.unwrap_or(f64::INFINITY)
    }

    fn level_of(&self, link: Link) -> u8 {
        match link {
            Link::Empty => 0,
            Link::Leaf(leaf) => self.leaves.get(leaf).cube.level,
            Link::Node(node) => self.nodes.get(node).cube.level,
        }
    }

    fn search<D: Distance>(
        &self,
        at: Key,
        start: Link,
        wanted: usize,
        limit: u128,
        reach: f64,
        out: &mut Vec<I>,
    ) {
        let mut search = Search {
            index: self,
            at,
            best: Best::<D>::new(wanted, limit),
            seen: Link::Empty,
            bounds: Bounds::around(&at, limit),
            reach,
        };
        search.best.expect_within(reach);
        search.link(start);
        if start != self.root {
            search.seen = start;
            search.all();
        }
        let id = |found: &Candidate<D>| self.id_of(found);
        search.best.finish(
            |a, b| id(a).cmp(&id(b)),
            |found| out.extend(found.iter().map(id)),
        );
    }

    /// Returns the leaf around a point, or the smallest node around it, that holds as many as are wanted.
    fn start(&self, at: &Key, wanted: usize) -> Link {
        let mut link = self.root;
        // A child that fills its slot holds all that falls into it.
        let mut filled = u8::MAX;
        while let Link::Node(node) = link {
            let node = self.nodes.get(node);
            let level = node.cube.level;
            if level != filled && !node.cube.contains(at) {
                break;
            }
            let child = node.child(node.slot_of(at));
            if let Link::Node(child) = child {
                node::fetch(self.nodes.place(child), level.saturating_sub(2).max(2), at);
            }
            match child {
                Link::Leaf(leaf) if self.leaves.get(leaf).len() < wanted => break,
                Link::Node(node) if (self.nodes.get(node).count as usize) < wanted => break,
                Link::Empty => break,
                child => link = child,
            }
            filled = level - 2;
        }
        link
    }

    #[inline]
    fn id_of<D>(&self, found: &Candidate<D>) -> I {
        self.leaves.get(found.leaf).ids()[found.slot as usize]
    }
}

impl<'a, I: DenseId, D: Distance> Search<'a, I, D> {
    fn link(&mut self, link: Link) {
        if link == self.seen {
            return;
        }
        match link {
            Link::Empty => {}
            Link::Leaf(leaf) => self.leaf(leaf),
            Link::Node(node) => self.descend(node),
        }
    }

    /// Searches everything but what was seen, down from the root.
    fn all(&mut self) {
        // The cast rounds down and saturates.
        let radius = (self.best.radius_above() as u128).saturating_add(1);
        self.bounds = Bounds::around(&self.at, radius);
        self.link(self.index.root);
    }

    /// Goes down as long as only one child can hold what is wanted, which takes no floats.
    fn descend(&mut self, mut at: u32) {
        loop {
            let node: &'a Node = self.index.nodes.get(at);
            let mut children = node.children_in(self.bounds.slots_touched(node));
            let (Some((_, first)), None) = (children.next(), children.next()) else {
                return self.node(node);
            };
            match first {
                Link::Node(child) if first != self.seen => at = child,
                _ => return self.link(first),
            }
        }
    }

    fn node(&mut self, node: &Node) {
        let view = View::new(&self.at, &node.cube, node.stray);
        let mut children = [(0.0, Link::Empty); 64];
        let mut count = 0;
        for (slot, child) in node.children_in(view.touched(self.best.limit_above)) {
            let near = view.child(slot, node.is_coarse(slot >> 3)).0;
            if near > self.best.limit_above {
                continue;
            }
            children[count] = (near, child);
            count += 1;
        }
        let children = &mut children[..count];
        children.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        for (_, child) in children.iter().take(AHEAD) {
            match *child {
                Link::Leaf(leaf) => simd::prefetch_lines(self.index.leaves.place(leaf), LEAF_LINES),
                Link::Node(node) => simd::prefetch(self.index.nodes.place(node)),
                Link::Empty => {}
            }
        }
        for (near, child) in children {
            if *near > self.best.limit_above {
                break;
            }
            self.link(*child);
        }
    }

    fn leaf(&mut self, at: u32) {
        let leaf = self.index.leaves.get(at);
        simd::prefetch_list(leaf.blocks(), GROUP * 2);
        let frame = &leaf.frame();
        if !frame.is_exact() {
            let view = kernel::View::new(&self.at, frame, leaf.stray());
            let never = |radius| view.never(radius);
            self.scan(at, view.near_center(), never, |search, _, from, bits| {
                search.offer_by_keys(at, from, bits);
            });
        } else if let Some(center) = near_center(&self.at, &frame.origin) {
            self.scan(
                at,
                Center::Whole(center),
                kernel::never,
                |search, blocks, from, bits| {
                    for lane in ones(bits) {
                        let square = exact_square(&blocks[lane / LANES], lane % LANES, center);
                        search.offer(D::small(square), at, from + lane);
                    }
                },
            );
        } else {
            for slot in 0..leaf.len() {
                self.offer_by_key(at, slot);
            }
        }
    }

    /// Offers the points of a leaf that are not surely farther than the limit.
    #[inline]
    fn scan(
        &mut self,
        at: u32,
        center: Center,
        never: impl Fn(f64) -> f32,
        mut offer: impl FnMut(&mut Self, &[Block], usize, u64),
    ) {
        let leaf = self.index.leaves.get(at);
        let (mut from, mut blocks) = (0, leaf.blocks());
        // The first few points bring the limit down for the rest.
        let mut group = if self.best.is_full() || self.reach.is_finite() {
            GROUP
        } else {
            self.best.wanted().div_ceil(LANES).min(GROUP)
        };
        while !blocks.is_empty() {
            let (some, rest) = blocks.split_at(group.min(blocks.len()));
            let never = never(self.best.radius_above());
            let used = u64::MAX.unbounded_shr(64_u32.saturating_sub((leaf.len() - from) as u32));
            let bits = simd::near(some, center, never, never).maybe & used;
            leaf.fetch_keys(from, bits);
            offer(self, some, from, bits);
            from += some.len() * LANES;
            (blocks, group) = (rest, (group * 2).min(GROUP));
        }
    }

    /// Offers points by their whole positions, a bit for each. A leaf in a large cube has coarse offsets and may show
    /// nearly all it holds, so floats put the nearest first.
    fn offer_by_keys(&mut self, leaf: u32, from: usize, bits: u64) {
        let keys = self.index.leaves.get(leaf).whole_keys();
        let keys = &keys.expect("the offsets are coarse")[from..];
        let (mut found, mut count) = ([0; 64], 0);
        for lane in ones(bits) {
            let square = square_below(self.gaps(&keys[lane]));
            // The bits of floats that are not negative are in their order; the lowest make room for the lane.
            found[count] = square.to_bits() & !63 | lane as u64;
            count += 1;
        }
        let found = &mut found[..count];
        let wanted = self.best.wanted();
        if count > wanted {
            found.sort_unstable();
            self.best.expect_below(f64::from_bits(found[wanted - 1]));
        }
        for point in found {
            if f64::from_bits(*point & !63) <= self.best.limit_above {
                let lane = (*point & 63) as usize;
                self.offer(D::of(self.gaps(&keys[lane])), leaf, from + lane);
            }
        }
    }

    /// Offers a point by its whole position.
    fn offer_by_key(&mut self, leaf: u32, slot: usize) {
        let gaps = self.gaps(&self.index.leaves.get(leaf).key(slot));
        if square_below(gaps) <= self.best.limit_above {
            self.offer(D::of(gaps), leaf, slot);
        }
    }

    /// Returns how far a point is along each axis.
    #[inline]
    fn gaps(&self, key: &Key) -> [u128; 3] {
        [0, 1, 2].map(|k| self.at[k].abs_diff(key[k]))
    }

    #[inline]
    fn offer(&mut self, distance: D, leaf: u32, slot: usize) {
        if distance > self.best.limit {
            return;
        }
        let index = self.index;
        // Whoever stays is asked for its id in the end.
        simd::prefetch(&index.leaves.get(leaf).ids()[slot]);
        let slot = slot as u32;
        let by_id = |a: &Candidate<D>, b: &Candidate<D>| index.id_of(a).cmp(&index.id_of(b));
        self.best.offer(
            Candidate {
                distance,
                leaf,
                slot,
            },
            by_id,
        );
    }
}

/// Returns the places of the bits that are set.
#[inline]
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            lane
        })
    })
}
