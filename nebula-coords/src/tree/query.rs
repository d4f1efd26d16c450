//! Visiting: from the root down, through the children a shape touches.

use core::ops::ControlFlow;

use super::SpatialIndex;
use super::ball::Ball;
use super::cube::key_of;
use super::leaf::Leaf;
use super::node::Link;
use super::shape::{BoxShape, Diamond, Keep, Relation, Scan, Shape, Sweep};
use super::simd;
use crate::{DenseId, Metric, Region};

/// How many ids a visitor is handed at most from a leaf that lies only partly inside; a multiple of
/// the block width.
const CHUNK: usize = 256;

/// Who takes the answer to a query.
pub(super) trait Sink<I> {
    /// Takes ids that are all in the region.
    fn take(&mut self, ids: &[I]) -> ControlFlow<()>;

    /// Takes the points of a leaf that a shape holds.
    fn take_from<S: Scan>(&mut self, shape: &S, leaf: &Leaf<I>) -> ControlFlow<()>;

    /// Takes a number of points without their ids, if that is enough.
    fn take_count(&mut self, count: u32) -> bool;
}

/// Hands slices to a visitor, through a buffer on the stack.
struct Visitor<'a, I> {
    f: &'a mut dyn FnMut(&[I]) -> ControlFlow<()>,
    buffer: Option<Buffer<I>>,
}

/// Room for some ids on the stack.
struct Buffer<I> {
    ids: [I; CHUNK],
    count: usize,
}

impl<I: Copy> Keep<I> for Buffer<I> {
    #[inline]
    fn keep(&mut self, ids: &[I], mut bits: u64) {
        let count = bits.count_ones() as usize;
        for id in &mut self.ids[self.count..][..count] {
            *id = ids[bits.trailing_zeros() as usize];
            bits &= bits - 1;
        }
        self.count += count;
    }
}

/// Counts who is picked.
impl<I> Keep<I> for usize {
    #[inline]
    fn keep(&mut self, _: &[I], bits: u64) {
        *self += bits.count_ones() as Self;
    }
}

impl<I: Copy> Sink<I> for Visitor<'_, I> {
    #[inline]
    fn take(&mut self, ids: &[I]) -> ControlFlow<()> {
        (self.f)(ids)
    }

    fn take_from<S: Scan>(&mut self, shape: &S, leaf: &Leaf<I>) -> ControlFlow<()> {
        let Some(first) = leaf.ids().first() else {
            return ControlFlow::Continue(());
        };
        let buffer = self.buffer.get_or_insert(Buffer {
            ids: [*first; CHUNK],
            count: 0,
        });
        for from in (0..leaf.len()).step_by(CHUNK) {
            buffer.count = 0;
            shape.scan(leaf, from..leaf.len().min(from + CHUNK), buffer);
            if buffer.count > 0 {
                (self.f)(&buffer.ids[..buffer.count])?;
            }
        }
        ControlFlow::Continue(())
    }

    fn take_count(&mut self, _: u32) -> bool {
        false
    }
}

/// Appends to a list, without the detour through a buffer.
impl<I: Copy> Sink<I> for Vec<I> {
    #[inline]
    fn take(&mut self, ids: &[I]) -> ControlFlow<()> {
        simd::append(self, ids);
        ControlFlow::Continue(())
    }

    fn take_from<S: Scan>(&mut self, shape: &S, leaf: &Leaf<I>) -> ControlFlow<()> {
        shape.scan(leaf, 0..leaf.len(), self);
        ControlFlow::Continue(())
    }

    fn take_count(&mut self, _: u32) -> bool {
        false
    }
}

/// Counts; a node wholly inside is counted without a look at its points.
impl<I: Copy> Sink<I> for usize {
    #[inline]
    fn take(&mut self, ids: &[I]) -> ControlFlow<()> {
        *self += ids.len();
        ControlFlow::Continue(())
    }

    fn take_from<S: Scan>(&mut self, shape: &S, leaf: &Leaf<I>) -> ControlFlow<()> {
        shape.scan(leaf, 0..leaf.len(), self);
        ControlFlow::Continue(())
    }

    fn take_count(&mut self, count: u32) -> bool {
        *self += count as Self;
        true
    }
}

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn visit_region(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.answer(region, &mut Visitor { f, buffer: None })
    }

    /// Appends the ids in a region to a list.
    pub(super) fn collect_region(&self, region: &Region, out: &mut Vec<I>) {
        let _ = self.answer(region, out);
    }

    pub(super) fn count_region(&self, region: &Region) -> usize {
        let mut count = 0;
        let _ = self.answer(region, &mut count);
        count
    }

    fn answer(&self, region: &Region, sink: &mut impl Sink<I>) -> ControlFlow<()> {
        if let Region::Ball {
            center,
            radius_mm,
            metric: Metric::Euclidean,
        } = region
        {
            return match u128::try_from(*radius_mm) {
                Ok(radius) => self.walk_ball(&Ball::new(key_of(center), radius), sink),
                Err(_) => ControlFlow::Continue(()),
            };
        }
        let Some(bounds) = BoxShape::around(region) else {
            return ControlFlow::Continue(());
        };
        match *region {
            Region::Ball {
                center,
                radius_mm,
                metric,
            } => {
                let (center, radius) = (key_of(&center), radius_mm.unsigned_abs());
                match metric {
                    Metric::Manhattan => self.walk(
                        &Diamond {
                            center,
                            radius,
                            bounds,
                        },
                        sink,
                    ),
                    // Spheres were answered above.
                    Metric::Euclidean | Metric::Chebyshev => self.walk(&bounds, sink),
                }
            }
            Region::Box(_) => self.walk(&bounds, sink),
            Region::Swept { .. } => self.walk(
                &Sweep {
                    region: *region,
                    bounds,
                },
                sink,
            ),
        }
    }

    fn walk<S: Shape>(&self, shape: &S, sink: &mut impl Sink<I>) -> ControlFlow<()> {
        self.walk_link(self.root, shape, sink)
    }

    fn walk_link<S: Shape>(
        &self,
        link: Link,
        shape: &S,
        sink: &mut impl Sink<I>,
    ) -> ControlFlow<()> {
        match link {
            Link::Empty => ControlFlow::Continue(()),
            Link::Leaf(at) => {
                let leaf = self.leaves.get(at);
                match shape.relation(&leaf.cube, leaf.stray()) {
                    Relation::Outside => ControlFlow::Continue(()),
                    Relation::Inside => sink.take(leaf.ids()),
                    Relation::Partial => sink.take_from(shape, leaf),
                }
            }
            Link::Node(at) => {
                let node = self.nodes.get(at);
                match shape.relation(&node.cube, node.stray) {
                    Relation::Outside => ControlFlow::Continue(()),
                    Relation::Inside => self.take_all(link, sink),
                    Relation::Partial => node
                        .children_in(shape.touched(&node.cube, node.stray))
                        .try_for_each(|(_, child)| self.walk_link(child, shape, sink)),
                }
            }
        }
    }

    /// Hands over everything below a link.
    pub(super) fn take_all(&self, link: Link, sink: &mut impl Sink<I>) -> ControlFlow<()> {
        match link {
            Link::Empty => ControlFlow::Continue(()),
            Link::Leaf(at) => sink.take(self.leaves.get(at).ids()),
            Link::Node(at) => {
                let node = self.nodes.get(at);
                if sink.take_count(node.count) {
                    return ControlFlow::Continue(());
                }
                node.children()
                    .try_for_each(|(_, child)| self.take_all(child, sink))
            }
        }
    }
}
