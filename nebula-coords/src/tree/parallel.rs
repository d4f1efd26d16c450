//! The first step of a batch on several threads: each owns a run of leaves and writes only there.

use nebula_math::WorldPosition;
use rayon::prelude::*;

use super::SpatialIndex;
use super::cube::key_of;
use super::leaf::{Leaf, SMALL_LEAF_LINES};
use super::simd;
use super::table::Spot;
use super::update::Seated;
use crate::DenseId;

/// Below this many moves the threads cost more than they save.
pub(super) const WORTH_IT: usize = 4_096;

/// So do fewer threads than this. To find out who moves where takes some five times the work of one thread that simply moves
/// them (68 ms of processor time against 13 for 1,000,000), which the threads have to win back first.
pub(super) const ENOUGH_THREADS: usize = 8;

/// How many moves before its turn an entry of the table is fetched, or a leaf, and then the point.
const ENTRIES_AHEAD: usize = 32;
const LEAVES_AHEAD: usize = 32;
const POINTS_AHEAD: usize = 16;

/// How many moves are looked up at a time.
const CHUNK: usize = 8_192;

/// A move that knows where its point is.
#[derive(Clone, Copy)]
struct Found {
    spot: Spot,
    at: usize,
}

/// Moves of one chunk, by the run of leaves they go to.
struct Sorted {
    runs: Vec<Vec<Found>>,
    unknown: usize,
}

impl<I: DenseId + Send + Sync> SpatialIndex<I> {
    /// Does what `seat_all` does. Moves of one point go to one run of leaves and keep their order
    /// there, so the outcome is the same for any number of threads.
    pub(super) fn seat_all_in_parallel(&mut self, moves: &[(I, WorldPosition)]) -> Seated {
        let runs = rayon::current_num_threads() * 4;
        let run_length = self.leaves.places_mut().len().div_ceil(runs).max(1);
        let sorted: Vec<_> = moves
            .par_chunks(CHUNK)
            .enumerate()
            .map(|(chunk, moves)| self.sort_moves(chunk * CHUNK, moves, runs, run_length))
            .collect();
        let seated: Vec<Seated> = self
            .leaves
            .places_mut()
            .par_chunks_mut(run_length)
            .enumerate()
            .map(|(run, leaves)| {
                let found = sorted.iter().flat_map(|chunk| &chunk.runs[run]);
                seat(leaves, run * run_length, found, moves)
            })
            .collect();
        let mut all = Seated::default();
        for run in seated {
            all.crossing.extend(run.crossing);
            all.parting.extend(run.parting);
            all.straying.extend(run.straying);
        }
        all.crossing.sort_unstable();
        all.unknown = sorted.iter().map(|chunk| chunk.unknown).sum();
        all
    }

    /// Looks up the points of a chunk of moves, and sorts the moves by run of leaves.
    fn sort_moves(
        &self,
        first: usize,
        moves: &[(I, WorldPosition)],
        runs: usize,
        run_length: usize,
    ) -> Sorted {
        let mut sorted = Sorted {
            runs: vec![Vec::new(); runs],
            unknown: 0,
        };
        for (at, (id, _)) in moves.iter().enumerate() {
            if let Some((later, _)) = moves.get(at + ENTRIES_AHEAD) {
                self.table.fetch(later.dense_index());
            }
            match self.spot(*id) {
                None => sorted.unknown += 1,
                Some(spot) => sorted.runs[spot.leaf as usize / run_length].push(Found {
                    spot,
                    at: first + at,
                }),
            }
        }
        sorted
    }
}

/// Moves points within a run of leaves.
fn seat<'a, I: DenseId>(
    leaves: &mut [Option<Leaf<I>>],
    first: usize,
    found: impl Iterator<Item = &'a Found> + Clone,
    moves: &[(I, WorldPosition)],
) -> Seated {
    let mut seated = Seated::default();
    let place = |spot: &Spot| spot.leaf as usize - first;
    let mut far = found.clone();
    let mut near = found.clone();
    // Of later moves the leaf is fetched, and then, when that is there, the point.
    let mut fetch_far = |leaves: &[Option<Leaf<I>>]| {
        if let Some(Found { spot, at }) = far.next() {
            simd::prefetch_lines(&leaves[place(spot)], SMALL_LEAF_LINES);
            simd::prefetch(&moves[*at]);
        }
    };
    let mut fetch_near = |leaves: &[Option<Leaf<I>>]| {
        if let Some(Found { spot, .. }) = near.next()
            && let Some(leaf) = &leaves[place(spot)]
        {
            leaf.fetch_point(spot.slot as usize);
        }
    };
    for _ in 0..LEAVES_AHEAD {
        fetch_far(leaves);
    }
    for _ in 0..POINTS_AHEAD {
        fetch_near(leaves);
    }
    for Found { spot, at } in found {
        fetch_far(leaves);
        fetch_near(leaves);
        let leaf = leaves[place(spot)].as_mut();
        let leaf = leaf.expect("the table names leaves in use");
        let moved = leaf.try_move(spot.slot as usize, key_of(&moves[*at].1));
        seated.note(moved, *at, spot.leaf);
    }
    seated
}
