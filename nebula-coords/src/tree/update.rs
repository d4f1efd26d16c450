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

    /// See `update_batch`: moves within leaves first, then the few that cross, in batch order. The
    /// two steps make the outcome the same for any number of threads.
    pub(super) fn move_all(&mut self, moves: &[(I, WorldPosition)]) -> BatchReport {
        let seated = self.seat_all(moves);
        if self.changes.is_recording() {
            self.note_moves(moves);
        }
        for at in &seated.crossing {
            let (id, to) = moves[*at];
            let spot = self.spot(id).expect("moves remove nobody");
            self.leaves
                .get_mut(spot.leaf)
                .stop_waiting(spot.slot as usize);
            let key = key_of(&to);
            if !self.move_in_place(id, spot, key) {
                self.cross(id, spot, key);
            }
        }
        BatchReport {
            moved: moves.len() - seated.unknown,
            crossed: seated.crossing.len(),
            unknown: seated.unknown,
        }
    }

    fn seat_all(&mut self, moves: &[(I, WorldPosition)]) -> Seated {
        #[cfg(feature = "rayon")]
        if moves.len() >= super::parallel::WORTH_IT {
            return self.seat_all_in_parallel(moves);
        }
        let mut seated = Seated::default();
        for (at, (id, to)) in moves.iter().enumerate() {
            let Some(spot) = self.spot(*id) else {
                seated.unknown += 1;
                continue;
            };
            let leaf = self.leaves.get_mut(spot.leaf);
            if !leaf.try_move(spot.slot as usize, key_of(to)) {
                seated.crossing.push(at);
            }
        }
        seated
    }

    /// Records a batch in the change feed, before anything crosses.
    fn note_moves(&mut self, moves: &[(I, WorldPosition)]) {
        for (id, _) in moves {
            if let Some(spot) = self.spot(*id) {
                self.changes.note_id(*id);
                self.changes.note_leaf(self.leaves.get_mut(spot.leaf));
            }
        }
    }
}

/// The outcome of the first step of a batch.
#[derive(Default)]
pub(super) struct Seated {
    /// Entries that have to leave their leaf, in batch order.
    pub(super) crossing: Vec<usize>,
    pub(super) unknown: usize,
}
