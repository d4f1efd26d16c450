//! The walk of sphere queries: floats choose the way, at every scale alike.
//!
//! A node's corner is taken from the centre in whole numbers, and only the difference becomes a float:
//! it is off by less than 2^-51 of itself. What is added for the slots is off by less than 2^-52 of the node's
//! side each. `Axis` pushes every gap outwards by more than all of that, so a child is left out only if no
//! point of it can be in the sphere, and handed over whole only if every one is. In between, leaves are
//! asked point by point, and `kernel.rs` answers exactly.
//!
//! Leaves wait in a short queue, so that their memory is on its way before they are read.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "every rounding step is covered by a margin"
)]

use core::ops::{ControlFlow, Range};

use super::SpatialIndex;
use super::best::float;
use super::cube::{Cube, Key, room_for};
use super::kernel::{Band, NEAR_LOW, power_of_two, signed};
use super::leaf::Leaf;
use super::node::{self, Link, Node, PLACES, slots_touched};
use super::query::Sink;
use super::shape::{Keep, Scan};
use super::simd;
use super::sphere::Sphere;
use crate::DenseId;

/// More than all rounding along one axis, as a share of the numbers that take part.
const AXIS_ROUNDING: f64 = 1.0 / (1_u64 << 48) as f64;

/// More than all rounding of squares and their sums.
const SQUARE_ROUNDING: f64 = 1.0 / (1_u64 << 46) as f64;

/// Nodes above this level are measured in whole numbers. The margin of one this large is some 2^16 mm.
const WIDE_LEVEL: u8 = 62;

/// How many leaves wait at most.
const QUEUE: usize = 32;

/// The points of so many leaves are fetched ahead.
const AHEAD: usize = 2;

/// Marks a waiting leaf that lies wholly inside.
const INSIDE: u32 = 1 << 31;

/// The box around a sphere.
pub(super) struct Bounds {
    low: Key,
    high: Key,
}

impl Bounds {
    pub(super) fn around(center: &Key, radius: u128) -> Self {
        Self {
            low: center.map(|v| v.saturating_sub(radius)),
            high: center.map(|v| v.saturating_add(radius)),
        }
    }

    /// Returns the slots of a node that can hold points in the box; the two touch.
    #[inline]
    pub(super) fn slots_touched(&self, node: &Node) -> u64 {
        slots_touched(&node.cube, node.stray, &self.low, &self.high)
    }

    /// Returns whether only one slot of a node can hold points in the sphere, strays included.
    #[inline]
    pub(super) fn is_in_one_slot(&self, node: &Node) -> bool {
        let room = room_for(node.stray);
        let (mut apart, mut outside) = (0, 0);
        for k in 0..3 {
            let low = self.low[k].saturating_sub(room);
            apart |= low ^ self.high[k].saturating_add(room);
            outside |= low ^ node.cube.origin[k];
        }
        // Ends that agree in all but the bits below a slot are in the same one, of this node if the
        // bits above it agree too.
        apart >> (node.cube.level - 2) == 0 && outside.unbounded_shr(node.cube.level.into()) == 0
    }
}

/// A sphere as the walk sees it.
pub(super) struct Ball {
    sphere: Sphere,
    radius: f64,
    /// Up to this squared distance a cube is surely inside.
    sure: f64,
    /// Above this squared distance a cube is surely outside.
    never: f64,
    /// The kernel's thresholds for exact frames.
    exact: (f32, f32),
    bounds: Bounds,
}

impl Ball {
    pub(super) fn new(center: Key, radius: u128) -> Self {
        let sphere = Sphere { center, radius };
        let radius = float(radius);
        let square = radius * radius;
        Self {
            radius,
            sure: square * (1.0 - SQUARE_ROUNDING),
            never: square * (1.0 + SQUARE_ROUNDING),
            exact: Band::exact_thresholds(radius),
            bounds: Bounds::around(&center, sphere.radius),
            sphere,
        }
    }
}

impl Scan for Ball {
    #[inline]
    fn scan<I: Copy>(&self, leaf: &Leaf<I>, slots: Range<usize>, out: &mut impl Keep<I>) {
        let frame = &leaf.frame();
        let center = &self.sphere.center;
        let band = if !frame.is_exact() {
            Band::floats(center, self.radius, frame, leaf.stray())
        } else if let Some(center) = near_center(center, &frame.origin) {
            Band::whole(center, self.exact)
        } else {
            Band::far(center, self.radius, frame)
        };
        super::kernel::scan(&band, leaf, slots, out, |slot| {
            self.sphere.contains(&leaf.key(slot))
        });
    }
}

/// Returns a centre in an exact frame if differences to every offset fit `i32`.
#[inline]
pub(super) fn near_center(center: &Key, origin: &Key) -> Option<[i32; 3]> {
    let mut near = [0; 3];
    for k in 0..3 {
        let (difference, borrowed) = center[k].overflowing_sub(origin[k]);
        let difference = difference.cast_signed();
        // A difference of 129 bits goes the slow way.
        if borrowed != (difference < 0) || !(NEAR_LOW.into()..1 << 31).contains(&difference) {
            return None;
        }
        near[k] = difference as i32;
    }
    Some(near)
}

/// Returns the larger of two numbers, neither of which is NaN; `f64::max` takes care of those.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Squared distances along one axis from a centre to the four places that a node's slots have there.
struct Axis {
    /// Not above the distance to any point that can be kept there.
    near: [f64; 4],
    /// Not below it.
    far: [f64; 4],
}

impl Axis {
    /// `at` is the centre relative to the node's corner, `room` how far points may stray.
    #[inline]
    fn new(at: f64, slot: f64, room: f64) -> Self {
        let margin = (at.abs() + 4.0 * slot) * AXIS_ROUNDING + room;
        let (mut near, mut far) = ([0.0; 4], [0.0; 4]);
        for (place, (near, far)) in near.iter_mut().zip(&mut far).enumerate() {
            let low = at - place as f64 * slot;
            let high = low - slot;
            let gap = larger(larger(high, -low) - margin, 0.0);
            let reach = larger(low, -high) + margin;
            *near = gap * gap;
            *far = reach * reach;
        }
        Self { near, far }
    }

    /// The same for a node so large that its side would swallow the gaps: every difference is taken in
    /// whole numbers, and off by a share of itself only.
    #[cold]
    fn wide(center: u128, origin: u128, level: u8, room: f64) -> Self {
        let (mut near, mut far) = ([0.0; 4], [0.0; 4]);
        let mut first = origin;
        for (near, far) in near.iter_mut().zip(&mut far) {
            let last = first | !(u128::MAX << (level - 2));
            let (low, high) = (signed(center, first), signed(center, last));
            let gap = larger(larger(high, -low) * (1.0 - AXIS_ROUNDING) - room, 0.0);
            let reach = larger(low, -high) * (1.0 + AXIS_ROUNDING) + room;
            *near = gap * gap;
            *far = reach * reach;
            // The last place of the universe has none after it.
            first = last.wrapping_add(1);
        }
        Self { near, far }
    }

    /// Returns the places that a sphere may touch, a bit for each.
    #[inline]
    fn touched(&self, never: f64) -> usize {
        let bit = |place: usize| usize::from(self.near[place] <= never) << place;
        bit(0) | bit(1) | bit(2) | bit(3)
    }

    /// Returns the squares for the place of a slot, or for the half it is in.
    #[inline]
    fn at(&self, high: bool, low: bool, coarse: bool) -> (f64, f64) {
        let place = usize::from(high) << 1;
        if coarse {
            let near = self.near[place].min(self.near[place | 1]);
            (near, self.far[place].max(self.far[place | 1]))
        } else {
            let place = place | usize::from(low);
            (self.near[place], self.far[place])
        }
    }
}

/// A node's slots as a sphere sees them.
pub(super) struct View {
    axes: [Axis; 3],
}

impl View {
    #[inline]
    pub(super) fn new(center: &Key, cube: &Cube, stray: u8) -> Self {
        let slot = power_of_two(cube.level - 2);
        let room = if stray == 0 { 0.0 } else { power_of_two(stray) };
        if cube.level > WIDE_LEVEL {
            let axis = |k: usize| Axis::wide(center[k], cube.origin[k], cube.level, room);
            return Self {
                axes: [axis(0), axis(1), axis(2)],
            };
        }
        let axis = |k: usize| Axis::new(signed(center[k], cube.origin[k]), slot, room);
        Self {
            axes: [axis(0), axis(1), axis(2)],
        }
    }

    #[inline]
    pub(super) fn touched(&self, never: f64) -> u64 {
        let slots = |k: usize| PLACES[k][self.axes[k].touched(never)];
        slots(0) & slots(1) & slots(2)
    }

    /// Returns the squared distances to a child, to its nearest end and to its farthest.
    #[inline]
    pub(super) fn child(&self, slot: u8, coarse: bool) -> (f64, f64) {
        let bit = |at: usize| slot >> at & 1 == 1;
        let axis = |k: usize| self.axes[k].at(bit(k + 3), bit(k), coarse);
        let (x, y, z) = (axis(0), axis(1), axis(2));
        (x.0 + y.0 + z.0, x.1 + y.1 + z.1)
    }
}

/// A walk under way.
struct Walk<'a, I: DenseId, S> {
    index: &'a SpatialIndex<I>,
    ball: &'a Ball,
    sink: &'a mut S,
    queue: [u32; QUEUE],
    waiting: usize,
}

impl<I: DenseId> SpatialIndex<I> {
    /// Hands the points in a sphere to a sink.
    pub(super) fn walk_ball(&self, ball: &Ball, sink: &mut impl Sink<I>) -> ControlFlow<()> {
        let mut walk = Walk {
            index: self,
            ball,
            sink,
            queue: [0; QUEUE],
            waiting: 0,
        };
        match self.root {
            Link::Empty => {}
            Link::Leaf(leaf) => walk.wait(leaf)?,
            Link::Node(node) => walk.descend(self.nodes.get(node))?,
        }
        walk.flush()
    }
}

impl<'a, I: DenseId, S: Sink<I>> Walk<'a, I, S> {
    /// Goes down as long as the sphere lies in one slot, which takes no floats.
    fn descend(&mut self, mut node: &'a Node) -> ControlFlow<()> {
        while self.ball.bounds.is_in_one_slot(node) {
            match node.child(node.slot_of(&self.ball.sphere.center)) {
                Link::Empty => return ControlFlow::Continue(()),
                Link::Leaf(leaf) => return self.wait(leaf),
                Link::Node(child) => {
                    self.fetch(node, child);
                    node = self.index.nodes.get(child);
                }
            }
        }
        self.node(node)
    }

    fn node(&mut self, node: &Node) -> ControlFlow<()> {
        let view = View::new(&self.ball.sphere.center, &node.cube, node.stray);
        let children = node.children_in(view.touched(self.ball.never));
        for (slot, child) in children {
            let (near, far) = view.child(slot, node.is_coarse(slot >> 3));
            if near > self.ball.never {
                continue;
            }
            let inside = far <= self.ball.sure;
            match child {
                Link::Empty => {}
                Link::Leaf(leaf) => self.wait(if inside { leaf | INSIDE } else { leaf })?,
                Link::Node(_) if inside => {
                    // In order, and past the queue: there is nothing to wait for but the ids themselves.
                    self.flush()?;
                    self.index.take_all(child, self.sink)?;
                }
                Link::Node(node) => self.descend(self.index.nodes.get(node))?,
            }
        }
        ControlFlow::Continue(())
    }

    /// Lets the processor fetch a node two levels below another one, as nearly all children are.
    #[inline]
    fn fetch(&self, parent: &Node, child: u32) {
        let place = self.index.nodes.place(child);
        node::fetch(
            place,
            parent.level.saturating_sub(2).max(2),
            &self.ball.sphere.center,
        );
    }

    /// Puts a leaf at the end of the queue.
    #[inline]
    fn wait(&mut self, leaf: u32) -> ControlFlow<()> {
        if self.waiting == QUEUE {
            self.flush()?;
        }
        let lines = if leaf & INSIDE == 0 { 2 } else { 1 };
        simd::prefetch_lines(self.index.leaves.place(leaf & !INSIDE), lines);
        self.queue[self.waiting] = leaf;
        self.waiting += 1;
        ControlFlow::Continue(())
    }

    /// Answers for every leaf that waits.
    fn flush(&mut self) -> ControlFlow<()> {
        let index = self.index;
        let leaf_of = |entry: u32| index.leaves.get(entry & !INSIDE);
        let waiting = core::mem::take(&mut self.waiting);
        let fetch = |entry: &u32| {
            if entry & INSIDE == 0 {
                leaf_of(*entry).fetch();
            }
        };
        self.queue[..waiting].iter().take(AHEAD).for_each(fetch);
        for i in 0..waiting {
            let entry = self.queue[i];
            self.queue[..waiting].get(i + AHEAD).map(fetch);
            let leaf = leaf_of(entry);
            if entry & INSIDE != 0 {
                self.sink.take(leaf.ids())?;
            } else {
                self.sink.take_from(self.ball, leaf)?;
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use nebula_math::U384;

    use super::super::best::Distance as _;
    use super::super::node::Place;
    use super::super::shape::near_and_far;
    use super::*;

    fn wide(state: &mut u128, bits: u32) -> u128 {
        // Numbers of every length are as likely as the longest.
        *state = state
            .wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645)
            .wrapping_add(0x5851_F42D_4C95_7F2D_1405_7B7E_F767_814F);
        let mixed = *state ^ (*state >> 67);
        let length = u32::try_from(*state >> 121).expect("7 bits") % (bits + 1);
        mixed
            .wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
            .unbounded_shr(128 - length)
    }

    /// The walk leaves out what is farther than `never` and hands over what is nearer than `sure`, both
    /// 2^-46 of the radius' square away from it: so much may a square be off, and no more.
    #[test]
    fn gaps_of_slots_bound_every_point_that_may_be_there() {
        let mut state = 5;
        for case in 0..3_000 {
            let level = 2 + 2 * u8::try_from(wide(&mut state, 128) % 64).expect("small");
            let corner = [0; 3].map(|_| wide(&mut state, 128).reverse_bits());
            let cube = Cube::around(&corner, level);
            let stray = u8::try_from(wide(&mut state, 7) % u128::from(level)).expect("small");
            let node = Node::new(cube, Place::Root, 0);
            let center = cube.origin.map(|v| match case % 3 {
                0 => v | wide(&mut state, level.into()),
                1 => v.saturating_sub(wide(&mut state, 128)),
                _ => v.saturating_add(wide(&mut state, 128)),
            });
            let view = View::new(&center, &cube, stray);
            for slot in 0..64 {
                for coarse in [false, true] {
                    let place = if coarse {
                        node.octant_cube(slot >> 3)
                    } else {
                        node.slot_cube(slot)
                    };
                    let (low, high) = place.stretched(stray);
                    let ends = [0, 1, 2].map(|k| near_and_far(center[k], low[k], high[k]));
                    let square = |gaps: [u128; 3]| U384::of(gaps).above();
                    let (near, far) = view.child(slot, coarse);
                    let (nearest, farthest) =
                        (square(ends.map(|e| e.0)), square(ends.map(|e| e.1)));
                    assert!(
                        near <= nearest * (1.0 + SQUARE_ROUNDING / 4.0)
                            && far >= farthest * (1.0 - SQUARE_ROUNDING / 4.0),
                        "slot {slot} of {cube:x?} from {center:x?}: {near} {nearest} {far} {farthest}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_sphere_in_one_slot_meets_no_other() {
        let node = Node::new(Cube::around(&[1 << 90; 3], 6), Place::Root, 0);
        let at = |offset: u128| [(1 << 90) + offset; 3];
        assert!(Bounds::around(&at(24), 7).is_in_one_slot(&node));
        assert!(!Bounds::around(&at(24), 8).is_in_one_slot(&node));
        assert!(!Bounds::around(&at(23), 8).is_in_one_slot(&node));
        assert!(!Bounds::around(&at(64 + 24), 7).is_in_one_slot(&node));
        let mut stretched = node;
        stretched.stray = 1;
        assert!(!Bounds::around(&at(24), 7).is_in_one_slot(&stretched));
        assert!(Bounds::around(&at(24), 6).is_in_one_slot(&stretched));
    }
}
