//! Walking over everything: points, and the cubes they are in.

use nebula_math::{Aabb128, WorldPosition};

use super::SpatialIndex;
use super::cube::position_of;
use super::leaf::Leaf;
use super::node::Link;
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    /// Returns every id and its position, in the tree's order.
    ///
    /// ```
    /// use nebula_coords::SpatialIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let points = [(4_u32, WorldPosition::MIN), (2, WorldPosition::MAX)];
    /// let index = SpatialIndex::from_points(&points);
    /// assert_eq!(index.iter().collect::<Vec<_>>(), points);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (I, WorldPosition)> + '_ {
        self.leaves_in_order()
            .flat_map(Leaf::points)
            .map(|(id, key)| (id, position_of(&key)))
    }

    /// Returns the cubes that hold points, and how many each holds: the leaves of the tree.
    ///
    /// A point that moves may stray out of its leaf's cube by up to a 64th of the side and stay there.
    /// The box of such a leaf is larger all around, and overlaps its neighbours.
    pub fn occupied_regions(&self) -> impl Iterator<Item = (Aabb128, usize)> + '_ {
        self.leaves_in_order()
            .map(|leaf| (leaf.cube.to_stretched_aabb(leaf.stray()), leaf.len()))
    }

    /// Returns the leaves in the tree's order.
    pub(super) fn leaves_in_order(&self) -> impl Iterator<Item = &Leaf<I>> + '_ {
        let mut todo = vec![self.root];
        core::iter::from_fn(move || {
            loop {
                match todo.pop()? {
                    Link::Empty => {}
                    Link::Leaf(leaf) => return Some(self.leaves.get(leaf)),
                    Link::Node(node) => {
                        let below = todo.len();
                        todo.extend(self.nodes.get(node).children().map(|(_, link)| link));
                        todo[below..].reverse();
                    }
                }
            }
        })
    }
}
