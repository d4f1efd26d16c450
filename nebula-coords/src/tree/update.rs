//! Moving points: in place while they stay in their leaf's cube, else through the nearest node that
//! holds both ends.

use nebula_math::WorldPosition;

use super::cross::WORTH_SORTING;
use super::cube::{Key, key_of};
use super::leaf::{Moved, SMALL_LEAF_LINES};
use super::node::Place;
use super::simd;
use super::table::Spot;
use super::{BatchReport, SpatialIndex};
use crate::DenseId;

/// So many moves are looked up, fetched and made together.
const GROUP: usize = 16;

/// How many moves before it is looked up an entry of a batch is fetched, and then that of the table.
const MOVES_AHEAD: usize = 96;
const ENTRIES_AHEAD: usize = 32;

/// One in so many entries of a large batch tells how many cross.
const SAMPLED: usize = 32;

/// About so many entries of a batch are looked at, at most.
const SAMPLE: usize = 1_024;

impl<I: DenseId> SpatialIndex<I> {
    /// Moves a stored point.
    pub(super) fn move_one(&mut self, id: I, spot: Spot, key: Key) {
        let leaf = self.leaves.get_mut(spot.leaf);
        let before = leaf.key(spot.slot as usize);
        if before == key {
            return;
        }
        self.changes.note_id(id);
        self.changes.note_leaf(leaf);
        match leaf.try_move(spot.slot as usize, key) {
            Moved::Stays => {}
            Moved::Strays => self.tell_stray(spot.leaf),
            Moved::Parts => self.settle(&[spot.leaf]),
            Moved::Waits => {
                leaf.stop_waiting(spot.slot as usize);
                self.cross(id, spot, key);
            }
        }
    }

    /// Moves a stored point to another leaf.
    fn cross(&mut self, id: I, spot: Spot, key: Key) {
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

    /// See `update_batch`: moves within leaves first, then those that cross, in batch order or, if
    /// they are many, together. The steps make the outcome the same for any number of threads.
    pub(super) fn move_all(&mut self, moves: &[(I, WorldPosition)]) -> BatchReport {
        if self.changes.is_recording() {
            self.note_moves(moves);
        }
        if self.mostly_cross(moves) {
            return self.move_by_building(moves);
        }
        let mut seated = self.seat_all(moves);
        self.sort_by_place(&mut seated.parting);
        for leaf in &seated.straying {
            self.tell_stray(*leaf);
        }
        self.settle(&seated.parting);
        if seated.crossing.len() > (self.len / 2).max(WORTH_SORTING) {
            self.build_anew(moves, &seated.crossing);
        } else if seated.crossing.len() >= WORTH_SORTING {
            self.cross_all(moves, &seated.crossing);
        } else {
            self.cross_in_turn(moves, &seated.crossing);
        }
        BatchReport {
            moved: moves.len() - seated.unknown,
            crossed: seated.crossing.len(),
            unknown: seated.unknown,
        }
    }

    /// Returns whether so many points of a batch cross that it is not worth looking for those that do
    /// not. A sample tells, the same for any number of threads.
    fn mostly_cross(&self, moves: &[(I, WorldPosition)]) -> bool {
        if moves.len() <= (self.len / 2).max(SAMPLED * WORTH_SORTING) {
            return false;
        }
        let crosses = |(id, to): &(I, WorldPosition)| {
            let Some(spot) = self.spot(*id) else {
                return false;
            };
            let (leaf, key) = (self.leaves.get(spot.leaf), key_of(to));
            // Who leaves a crowd splits it, which is as good as crossing.
            leaf.cube.stray(&key).is_none()
                || leaf.is_crowd() && leaf.key(spot.slot as usize) != key
        };
        // Each of a sample is a miss or two, so a large batch has no larger one.
        let stride = (moves.len() / SAMPLE).max(SAMPLED);
        let crossing = moves.iter().step_by(stride).filter(|to| crosses(to));
        crossing.count() * stride * 4 > moves.len() * 3
    }

    fn move_by_building(&mut self, moves: &[(I, WorldPosition)]) -> BatchReport {
        let known = self.build_from(moves);
        BatchReport {
            moved: known,
            crossed: known,
            unknown: moves.len() - known,
        }
    }

    /// Sorts leaves by where their cubes begin, whatever their numbers: those of a restored index differ.
    pub(super) fn sort_by_place(&self, leaves: &mut [u32]) {
        leaves.sort_unstable_by_key(|leaf| self.leaves.get(*leaf).cube.origin);
    }

    fn cross_in_turn(&mut self, moves: &[(I, WorldPosition)], crossing: &[usize]) {
        for at in crossing {
            let (id, to) = moves[*at];
            let spot = self.spot(id).expect("moves remove nobody");
            self.leaves
                .get_mut(spot.leaf)
                .stop_waiting(spot.slot as usize);
            self.move_one(id, spot, key_of(&to));
        }
    }

    fn seat_all(&mut self, moves: &[(I, WorldPosition)]) -> Seated {
        #[cfg(feature = "rayon")]
        {
            use super::parallel::{ENOUGH_THREADS, WORTH_IT};
            if moves.len() >= WORTH_IT && rayon::current_num_threads() >= ENOUGH_THREADS {
                return self.seat_all_in_parallel(moves);
            }
        }
        let mut seated = Seated::default();
        // Three groups are under way: one is looked up, of the one before it the leaves have come, and of the
        // one before that the points.
        let mut spots = [[Spot::VACANT; GROUP]; 3];
        let mut lines = SMALL_LEAF_LINES;
        let groups = moves.len().div_ceil(GROUP);
        for turn in 0..groups + 2 {
            spots.rotate_right(1);
            if turn < groups {
                self.look_up(&moves[turn * GROUP..], &mut spots[0], lines);
            }
            lines = self.fetch_points(&spots[1]);
            if turn >= 2 {
                self.seat(moves, (turn - 2) * GROUP, &spots[2], &mut seated);
            }
        }
        seated
    }

    /// Looks up the spots of a group of moves, and lets the processor fetch so many lines of their leaves,
    /// and later moves.
    #[inline]
    fn look_up(&self, moves: &[(I, WorldPosition)], spots: &mut [Spot; GROUP], lines: usize) {
        spots[moves.len().min(GROUP)..].fill(Spot::VACANT);
        for (at, ((id, _), spot)) in moves.iter().zip(spots).enumerate() {
            if let Some(later) = moves.get(at + MOVES_AHEAD) {
                simd::prefetch(later);
            }
            if let Some((later, _)) = moves.get(at + ENTRIES_AHEAD) {
                self.table.fetch(later.dense_index());
            }
            // Whose generation it is shows when the leaf is there.
            *spot = self.table.get(id.dense_index());
            if *spot != Spot::VACANT {
                simd::prefetch_lines(self.leaves.place(spot.leaf), lines);
            }
        }
    }

    /// Lets the processor fetch what the moves of a group read and write, now that their leaves are there.
    /// Returns how many lines of the next leaves are worth fetching: as many as one of these has in use.
    #[inline]
    fn fetch_points(&self, spots: &[Spot; GROUP]) -> usize {
        let mut lines = SMALL_LEAF_LINES;
        for spot in spots.iter().filter(|spot| **spot != Spot::VACANT) {
            let leaf = self.leaves.get(spot.leaf);
            leaf.fetch_point(spot.slot as usize);
            if !I::INDEX_IS_ALL {
                simd::prefetch(&leaf.ids()[spot.slot as usize]);
            }
            lines = lines.max(leaf.lines());
        }
        lines
    }

    /// Makes a group of moves where they stay in their leaves.
    #[inline]
    fn seat(
        &mut self,
        moves: &[(I, WorldPosition)],
        from: usize,
        spots: &[Spot; GROUP],
        seated: &mut Seated,
    ) {
        for ((at, (id, to)), spot) in (from..).zip(&moves[from..]).zip(spots) {
            if *spot == Spot::VACANT {
                seated.unknown += 1;
                continue;
            }
            let leaf = self.leaves.get_mut(spot.leaf);
            if !I::INDEX_IS_ALL && leaf.ids()[spot.slot as usize] != *id {
                seated.unknown += 1;
                continue;
            }
            seated.note(leaf.try_move(spot.slot as usize, key_of(to)), at, spot.leaf);
        }
    }

    /// Records in the change feed what a batch is about to change.
    fn note_moves(&mut self, moves: &[(I, WorldPosition)]) {
        for (id, to) in moves {
            if let Some(spot) = self.spot(*id)
                && self.position_at(spot) != *to
            {
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
    /// Crowds that someone left, in the order of their places.
    pub(super) parting: Vec<u32>,
    /// Leaves out of whose cube a point strayed farther than any before; one may be named again.
    pub(super) straying: Vec<u32>,
    pub(super) unknown: usize,
}

impl Seated {
    /// Notes what became of an entry of the batch.
    #[inline]
    pub(super) fn note(&mut self, moved: Moved, at: usize, leaf: u32) {
        match moved {
            Moved::Stays => {}
            Moved::Strays => self.straying.push(leaf),
            Moved::Parts => self.parting.push(leaf),
            Moved::Waits => self.crossing.push(at),
        }
    }
}
