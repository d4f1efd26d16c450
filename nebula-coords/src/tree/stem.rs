//! Stems: points of every scale around one spot, sorted by where they part from the way to it.
//!
//! Where most points of a place go the same way through many nodes, sorting them into the slots of each
//! node in turn would look at the last of them as often as there are nodes. A stem looks once: the
//! highest bit in which a point differs from one far down the way names the node where it branches off.

use super::node::Place;
use super::plant::Parting;
use super::seed::{Bits, STEPS, Seed, Source, Window};
use super::{SpatialIndex, WIDE_LIMIT};
use crate::DenseId;

/// So many seeds tell whether there is a stem.
const SAMPLE: usize = 16;

/// Fewer points than this are sorted node by node.
const WORTH_A_STEM: usize = 4 * WIDE_LIMIT;

/// Half of the points have to go through so many nodes more than the first to branch off.
const LONG: u8 = 3;

/// Returns a seed far down the way that most go, if there is one.
pub(super) fn stem_of(place: Place, window: &Window, top: u8, seeds: &[Seed]) -> Option<Seed> {
    if matches!(place, Place::Coarse(..)) || seeds.len() < WORTH_A_STEM || !window.parts_all(top) {
        return None;
    }
    let stride = seeds.len() / SAMPLE;
    let sample: [Seed; SAMPLE] = core::array::from_fn(|i| seeds[i * stride]);
    let steps = |tip: &Seed| sample.map(|seed| window.steps(tip, &seed));
    let total = |tip: &&Seed| steps(tip).iter().map(|step| u32::from(*step)).sum::<u32>();
    let tip = sample.iter().min_by_key(total)?;
    let mut steps = steps(tip);
    steps.sort_unstable();
    (steps[SAMPLE / 2] + LONG <= steps[SAMPLE - 1]).then_some(*tip)
}

impl<I: DenseId> SpatialIndex<I> {
    /// Builds the tree of points along the way to one of them; see `plant`.
    pub(super) fn plant_stem(
        &mut self,
        mut place: Place,
        source: &Source<'_, I>,
        window: Window,
        tip: &Seed,
        seeds: &mut [Seed],
        scratch: &mut [Seed],
    ) {
        let ends = window.sort_by_steps(tip, seeds, scratch);
        let key = source.key(tip, &window);
        let mut from = 0;
        for step in (1..STEPS).rev() {
            let end = ends[step];
            if seeds.len() - end <= WIDE_LIMIT {
                break;
            }
            if from == end {
                continue;
            }
            let level = window.level_of(step);
            let node = self.node_for_parts(place, &key, level, seeds.len() - from);
            let stem = self.nodes.get(node).slot_of(&key);
            let (part, room) = (&mut scratch[from..end], &mut seeds[from..end]);
            let bits = Bits::new(level, &window);
            let parting = Parting {
                node,
                has_octants: true,
                counts: bits.count(part),
                bits,
            };
            self.plant_parts(&parting, source, window, part, room, Some(stem >> 3));
            place = Place::Fine(node, stem);
            from = end;
        }
        let (rest, room) = (&mut scratch[from..], &mut seeds[from..]);
        if from == 0 {
            self.plant_node(place, source, window, rest, room);
        } else {
            self.plant(place, source, window, rest, room);
        }
    }
}
