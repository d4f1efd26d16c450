//! Who goes first when not everything fits.
//!
//! Each slot has a score: the ticks it waited, plus one, times a weight of 4, 2 or 1 for the nearest
//! quarter, half and rest of the client's area. The highest scores go first, so near things go more
//! often and nothing waits forever: with `pending` bytes due in all and room for `room` bytes a tick,
//! a slot waits at most [`staleness_bound`] ticks.

use super::ids::table_index;
use super::store::Shared;
use super::viewer::{Phase, Viewer};
use crate::Tick;

/// Returns how many ticks a change may wait at most, while `pending` bytes are due in all, over and
/// over, and every tick has room for `room` bytes and loses none.
///
/// A slot of weight 1 that has waited `t` ticks is passed only by slots whose own wait is at least
/// `t / 4`. In the second half of a wait of `T` ticks each other slot therefore passes at most five
/// times, and `room * T / 2 <= 5 * pending`.
///
/// ```
/// use nebula_multiplayer::replication::staleness_bound;
///
/// assert_eq!(staleness_bound(1_000, 1_000), 12);
/// assert_eq!(staleness_bound(40_000, 1_000), 402);
/// ```
#[must_use]
pub fn staleness_bound(pending: usize, room: usize) -> usize {
    pending
        .saturating_mul(10)
        .div_ceil(room.max(1))
        .saturating_add(2)
}

/// The order of a tick, used packet after packet.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) order: Vec<u32>,
    pub(crate) next: usize,
    pub(crate) tick: Option<Tick>,
    keys: Vec<(u64, u32, u32)>,
    /// The slots of the packet at hand.
    pub(crate) chosen: Vec<u32>,
}

impl Viewer {
    /// Puts everything due in order, highest score first, unless that was done in this tick and
    /// something is left of it.
    pub(crate) fn plan_tick(&mut self, shared: &Shared) {
        let tick = shared.tick;
        if self.plan.tick == Some(tick) && self.plan.next < self.plan.order.len() {
            return;
        }
        let mut plan = core::mem::take(&mut self.plan);
        plan.keys.clear();
        for slot in self.dirty.iter() {
            let order = self.slots[table_index(slot)].order;
            plan.keys.push((self.score(shared, slot), order, slot));
        }
        plan.keys
            .sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        plan.order.clear();
        plan.order
            .extend(plan.keys.iter().map(|(_, _, slot)| *slot));
        plan.next = 0;
        plan.tick = Some(tick);
        self.plan = plan;
    }

    fn score(&self, shared: &Shared, slot: u32) -> u64 {
        let state = &self.slots[table_index(slot)];
        if matches!(state.phase, Phase::Leaving(_)) {
            // A few bytes that free a slot.
            return u64::MAX;
        }
        let waited = u64::from(shared.tick.since(state.since)) + 1;
        waited * self.weight(shared, state.store)
    }

    fn weight(&self, shared: &Shared, store: u32) -> u64 {
        let Some(moving) = &shared.store(store).position else {
            return 2;
        };
        let weights = self.areas.iter().map(|area| {
            let distance = area.center.chebyshev_distance(&moving.at);
            if distance <= area.radius_mm / 4 {
                4
            } else if distance <= area.radius_mm / 2 {
                2
            } else {
                1
            }
        });
        weights.max().unwrap_or(1)
    }
}
