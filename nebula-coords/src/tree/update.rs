//! Moving points: in place while they stay in their leaf's cube, else through the nearest node that
//! holds both ends.

use nebula_math::WorldPosition;

use super::cube::{Key, key_of};
use super::node::Place;
use super::table::Spot;
use super::{BatchReport, SpatialIndex};
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    /// Moves a stored point within its leaf, or returns `false` if it has to leave it.
    #[inline]
    pub(super) fn move_in_place(&mut self, id: I, spot: Spot, key: Key) -> bool {
        let leaf = self.leaves.get_mut(spot.leaf);
        if !leaf.cube.contains(&key) {
            return false;
        }
        leaf.set(spot.slot as usize, key);
        self.changes.note_leaf(leaf);
        self.changes.note_id(id);
        true
    }

    /// Moves a stored point to another leaf.
    pub(super) fn cross(&mut self, id: I, spot: Spot, key: Key) {
        self.changes.note_id(id);
        self.take_out(spot);
        let mut place = self.leaves.get(spot.leaf).place;
        loop {
            let (Place::Fine(at, _) | Place::Coarse(at, _)) = place else {
                self.add(id, key);
                break;
            };
            let node = self.nodes.get_mut(at);
            node.count -= 1;
            if node.cube.contains(&key) {
                self.add_below(at, id, key);
                break;
            }
            place = node.place;
        }
        self.tidy(spot.leaf);
    }

    /// See `update_batch`: moves within leaves first, then the few that cross, in batch order.
    pub(super) fn move_all(&mut self, moves: &[(I, WorldPosition)]) -> BatchReport {
        let mut report = BatchReport::default();
        let mut crossing: Vec<usize> = Vec::new();
        for (at, (id, to)) in moves.iter().enumerate() {
            let Some(spot) = self.spot(*id) else {
                report.unknown += 1;
                continue;
            };
            report.moved += 1;
            let key = key_of(to);
            if spot.is_waiting() || !self.move_in_place(*id, spot.seated(), key) {
                // A later entry for an id that waits to cross must wait behind it.
                self.table.set(id.dense_index(), spot.waiting());
                crossing.push(at);
            }
        }
        report.crossed = crossing.len();
        for at in crossing {
            let (id, to) = moves[at];
            let spot = self.spot(id).expect("moves remove nobody").seated();
            self.table.set(id.dense_index(), spot);
            let key = key_of(&to);
            if !self.move_in_place(id, spot, key) {
                self.cross(id, spot, key);
            }
        }
        report
    }
}
