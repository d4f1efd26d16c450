//! parry: its BVH, each point a box of no size. Moves are written in place, then the tree is refitted.

use std::ops::Range;

use nebula_math::WorldPosition;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace, TraversalAction};

use super::{Contender, Sink, Work, floats, square};
use crate::data::Entry;

/// Above this share of moves the whole tree is refitted, below only the paths of the movers.
const REFIT_SHARE: f64 = 0.05;

#[derive(Default)]
pub(crate) struct Boxes {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Who moved in the refit before, which a partial refit asks for.
    moved: Vec<u32>,
    loaded: Vec<(u32, Aabb)>,
    leaves: Vec<Aabb>,
    centers: Vec<Vector>,
    count: usize,
}

fn vector(at: &WorldPosition) -> Vector {
    Vector::from(floats(at))
}

/// The square of the distance from a point to a box.
#[inline]
fn apart(node: &BvhNode, center: Vector) -> f64 {
    let off = (node.mins() - center)
        .max(center - node.maxs())
        .max(Vector::ZERO);
    off.dot(off)
}

impl Contender for Boxes {
    fn name(&self) -> &'static str {
        "parry BVH, refit"
    }

    fn refuses(&self, work: Work) -> Option<&'static str> {
        matches!(work, Work::Nearest(k) if k > 1).then_some("it finds the single nearest only")
    }

    fn load(&mut self, entries: &[Entry]) {
        let point = |at: &WorldPosition| Aabb::new(vector(at), vector(at));
        self.loaded = entries.iter().map(|(id, at)| (*id, point(at))).collect();
        self.leaves = self.loaded.iter().map(|(_, leaf)| *leaf).collect();
    }

    fn bulk(&mut self) {
        self.tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &self.leaves);
        self.count = self.leaves.len();
    }

    fn insert(&mut self) {
        for (id, leaf) in &self.loaded {
            self.tree.insert(*leaf, *id);
        }
        self.count += self.loaded.len();
    }

    fn shift(&mut self) {
        for (id, leaf) in &self.loaded {
            self.tree.insert_or_update_partially(*leaf, *id, 0.0);
        }
        if self.loaded.len() as f64 > self.count as f64 * REFIT_SHARE {
            self.tree.refit(&mut self.workspace);
        } else {
            let movers: Vec<u32> = self.loaded.iter().map(|(id, _)| *id).collect();
            self.tree.refit_partial(&self.moved, &movers);
            self.moved = movers;
        }
    }

    fn remove(&mut self) {
        for (id, _) in &self.loaded {
            self.tree.remove(*id);
        }
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.iter().map(vector).collect();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        let radius = square(radius_mm);
        for center in &self.centers[queries] {
            let out = &mut sink.out;
            self.tree.traverse(|node| {
                if apart(node, *center) > radius {
                    return TraversalAction::Prune;
                }
                out.extend(node.leaf_data());
                TraversalAction::Continue
            });
            sink.done();
        }
    }

    fn nearest(&self, queries: Range<usize>, _k: usize, sink: &mut Sink) {
        for center in &self.centers[queries] {
            let place = |id: u32| self.tree.leaf_node(id).map(|leaf| apart(leaf, *center));
            let best = self.tree.find_best(
                f64::MAX,
                |node: &BvhNode, _| apart(node, *center),
                |id, _| place(id),
            );
            sink.out.extend(best.map(|(id, _)| id));
            sink.done();
        }
    }
}
