//! The nearest k: children nearest first, as long as one can hold a nearer point than those found.

#![expect(
    clippy::cast_precision_loss,
    reason = "floats choose the way, and every rounding step is covered"
)]

use core::cell::RefCell;
use core::cmp::Ordering;

use nebula_math::{U384, WorldPosition};

use super::SpatialIndex;
use super::cube::{Key, key_of, room_for};
use super::kernel;
use super::node::{Link, Node};
use super::shape::near_and_far;
use crate::DenseId;

/// A point that may be among the nearest.
#[derive(Clone, Copy)]
struct Candidate {
    distance: U384,
    leaf: u32,
    slot: u32,
}

thread_local! {
    /// Kept from call to call, so that asking into a buffer allocates nothing once warm.
    static SCRATCH: RefCell<Vec<Candidate>> = const { RefCell::new(Vec::new()) };
}

/// The best points so far, as a heap with the worst on top.
struct Best<'a, I: DenseId> {
    index: &'a SpatialIndex<I>,
    at: Key,
    wanted: usize,
    /// No point whose squared distance is above this is wanted.
    limit: U384,
    /// The same as a float, never below it.
    limit_above: f64,
    heap: Vec<Candidate>,
}

/// Covers the rounding of a dozen steps in `f64`.
const ROUNDING: f64 = 1.0 / (1_u64 << 48) as f64;

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
        let limit = U384::square(limit);
        let mut best = Best {
            index: self,
            at: key_of(at),
            wanted,
            limit,
            limit_above: float_above(limit),
            heap: SCRATCH.take(),
        };
        best.heap.clear();
        best.search(self.root);
        let mut heap = core::mem::take(&mut best.heap);
        heap.sort_unstable_by(|a, b| best.order(a, b));
        out.extend(heap.iter().map(|found| best.id(found)));
        SCRATCH.set(heap);
    }
}

impl<I: DenseId> Best<'_, I> {
    /// Searches below a link, the nearest child first. Floats choose the way, and leave out only what
    /// is too far whatever their rounding; integers decide who is found.
    fn search(&mut self, link: Link) {
        match link {
            Link::Empty => {}
            Link::Leaf(leaf) => self.search_leaf(leaf),
            Link::Node(node) => self.search_node(node),
        }
    }

    fn search_node(&mut self, at: u32) {
        let node = self.index.nodes.get(at);
        let gaps = Gaps::new(node, &self.at);
        let mut children = [(f64::MAX, f64::MAX, Link::Empty); 64];
        let mut count = 0;
        for (slot, child) in node.children() {
            let (cube, loose) = gaps.to(slot, node.is_coarse(slot >> 3));
            if loose <= self.limit_above {
                children[count] = (cube, loose, child);
                count += 1;
            }
        }
        let children = &mut children[..count];
        // By the cube alone: where many meet at a border, room for strays makes all equal.
        children.sort_unstable_by(|(a, ..), (b, ..)| a.total_cmp(b));
        for (_, loose, child) in children {
            if *loose <= self.limit_above && !self.is_beyond(*child) {
                self.search(*child);
            }
        }
    }

    /// Returns whether a node is farther than its slot, and too far: its cube may be far smaller.
    fn is_beyond(&self, link: Link) -> bool {
        let Link::Node(node) = link else { return false };
        let node = self.index.nodes.get(node);
        let (low, high) = node.cube.stretched(node.stray);
        let gaps = [0, 1, 2].map(|k| near_and_far(self.at[k], low[k], high[k]).0);
        square_below(gaps) > self.limit_above
    }

    fn search_leaf(&mut self, at: u32) {
        let leaf = self.index.leaves.get(at);
        let center = self.at;
        kernel::within(&center, self.radius_above(), leaf, |slot, exact| {
            let distance = match exact {
                Some(square) => U384::from(u128::from(square)),
                None => {
                    let key = leaf.key(slot);
                    let gaps = [0, 1, 2].map(|k| center[k].abs_diff(key[k]));
                    // A leaf in a large cube has coarse offsets, and may show nearly all it holds.
                    if square_below(gaps) > self.limit_above {
                        return self.radius_above();
                    }
                    square(gaps)
                }
            };
            if distance <= self.limit {
                let slot = u32::try_from(slot).expect("fewer points than ids");
                self.offer(Candidate {
                    distance,
                    leaf: at,
                    slot,
                });
            }
            self.radius_above()
        });
    }

    /// Returns a float not below the radius around which nothing is wanted.
    #[inline]
    fn radius_above(&self) -> f64 {
        self.limit_above.sqrt() * (1.0 + ROUNDING)
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.wanted {
            self.heap.push(candidate);
            self.sift_up();
        } else if self.order(&candidate, &self.heap[0]) == Ordering::Less {
            self.heap[0] = candidate;
            self.sift_down();
        }
        if self.heap.len() == self.wanted {
            self.limit = self.heap[0].distance;
            self.limit_above = float_above(self.limit);
        }
    }

    /// Lets the last candidate rise to its place.
    fn sift_up(&mut self) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let above = (at - 1) / 2;
            if self.order(&self.heap[at], &self.heap[above]) != Ordering::Greater {
                break;
            }
            self.heap.swap(at, above);
            at = above;
        }
    }

    /// Lets the top candidate sink to its place.
    fn sift_down(&mut self) {
        let mut at = 0;
        loop {
            let below = [2 * at + 1, 2 * at + 2];
            let worse = |a: usize, b: usize| {
                b < self.heap.len() && self.order(&self.heap[b], &self.heap[a]) == Ordering::Greater
            };
            let worst = below
                .into_iter()
                .fold(at, |a, b| if worse(a, b) { b } else { a });
            if worst == at {
                break;
            }
            self.heap.swap(at, worst);
            at = worst;
        }
    }

    /// Orders by distance, then by id.
    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        let by_distance = a.distance.cmp(&b.distance);
        by_distance.then_with(|| self.id(a).cmp(&self.id(b)))
    }

    fn id(&self, found: &Candidate) -> I {
        self.index.leaves.get(found.leaf).ids()[found.slot as usize]
    }
}

/// Squared distances along each axis to the four places that a node's slots have there.
struct Gaps {
    /// To the slots' cubes.
    tight: [[f64; 4]; 3],
    /// With room for strays.
    loose: [[f64; 4]; 3],
}

impl Gaps {
    fn new(node: &Node, at: &Key) -> Self {
        let shift = node.cube.level - 2;
        let room = room_for(node.stray);
        let mut gaps = Self {
            tight: [[0.0; 4]; 3],
            loose: [[0.0; 4]; 3],
        };
        let square = |gap: u128| float(gap) * float(gap) * (1.0 - ROUNDING);
        for (axis, at) in at.iter().enumerate() {
            for (place, nth) in (0..4_u128).enumerate() {
                let low = node.cube.origin[axis] | nth << shift;
                let high = low | !(u128::MAX << shift);
                let gap = near_and_far(*at, low, high).0;
                gaps.tight[axis][place] = square(gap);
                gaps.loose[axis][place] = if room == 0 {
                    gaps.tight[axis][place]
                } else {
                    square(gap.saturating_sub(room))
                };
            }
        }
        gaps
    }

    /// Returns floats not above the squared distance to a slot's cube, or to its octant's, and to the
    /// nearest point that can be kept there.
    fn to(&self, slot: u8, coarse: bool) -> (f64, f64) {
        let sum = |squares: &[[f64; 4]; 3]| {
            let axis = |k: usize| {
                let half = usize::from(slot >> (3 + k) & 1) << 1;
                if coarse {
                    squares[k][half].min(squares[k][half | 1])
                } else {
                    squares[k][half | usize::from(slot >> k & 1)]
                }
            };
            axis(0) + axis(1) + axis(2)
        };
        (
            sum(&self.tight) * (1.0 - ROUNDING),
            sum(&self.loose) * (1.0 - ROUNDING),
        )
    }
}

/// Returns a float not above the square of a distance by its parts along the axes.
#[inline]
fn square_below(gaps: [u128; 3]) -> f64 {
    let [x, y, z] = gaps.map(float);
    (x * x + y * y + z * z) * (1.0 - ROUNDING)
}

/// Returns the square of a distance by its parts along the axes, exactly.
fn square([x, y, z]: [u128; 3]) -> U384 {
    if (x | y | z) >> 63 == 0 {
        // Each square is below 2^126, so three fit 128 bits.
        return U384::from(x * x + y * y + z * z);
    }
    U384::sum_of_squares(x, y, z)
}

/// Returns a number to within two roundings; the conversion of the language is a slow call.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of a number")]
fn float(number: u128) -> f64 {
    const HIGH: f64 = (1_u128 << 64) as f64;
    (number >> 64) as u64 as f64 * HIGH + number as u64 as f64
}

/// Returns a float not below a number; the largest are about 2^258.
fn float_above(number: U384) -> f64 {
    let [low, mid, high] = number.limbs().map(float);
    let limb = 2_f64.powi(128);
    ((high * limb + mid) * limb + low) * (1.0 + ROUNDING)
}
