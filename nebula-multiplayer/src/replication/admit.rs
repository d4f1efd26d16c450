//! The governor: who of those that wait may begin to appear.

use super::ids::table_index;
use super::record::{MAX_SLOTS, bits};
use super::registry::Kind;
use super::store::Shared;
use super::viewer::{Phase, Progress, Viewer};
use crate::{NetworkId, Tick};

/// Nobody new appears while more leaves than these wait to be acknowledged: of a client that gets
/// everything and never says so, no more slots are kept. It is twice what a view holds unless
/// told otherwise; whoever leaves a larger one waits a round trip for the next.
pub(super) const MAX_LEAVING: usize = MAX_SLOTS as usize / 8;

/// Slots with what they are ordered by: the distance, then the id.
pub(super) type Nearest = Vec<(u128, NetworkId, u32)>;

impl Viewer {
    /// Has a slot wait for the governor.
    pub(super) fn wait(&mut self, slot: u32) {
        let state = &mut self.slots[table_index(slot)];
        state.phase = Phase::Waiting;
        state.known = false;
        // A slot that was freed and given out again within a tick is in the list already.
        if !core::mem::replace(&mut state.listed, true) {
            self.waiting.push(slot);
        }
    }

    /// Lets the nearest of those who wait be sent, as many as the governor allows. What `nearest` holds
    /// is of no account; it saves memory from being taken each time.
    pub(super) fn admit(&mut self, shared: &Shared, tick: Tick, nearest: &mut Nearest) {
        if self.waiting.is_empty() {
            return;
        }
        let slots = &mut self.slots;
        self.waiting.retain(|slot| {
            let state = &mut slots[table_index(*slot)];
            state.listed = state.phase == Phase::Waiting;
            state.listed
        });
        if self.leaving > MAX_LEAVING {
            return;
        }
        let unsent = self.dirty.iter().filter(|slot| {
            let state = &slots[table_index(*slot)];
            state.phase == Phase::Spawning && state.notice_progress.sent == 0
        });
        let room = self.settings.spawns_per_tick.saturating_sub(unsent.count());
        if room == 0 {
            return;
        }
        nearest.clear();
        nearest.extend(self.waiting.iter().map(|slot| {
            let state = &self.slots[table_index(*slot)];
            (self.distance(shared, state.store), state.id, *slot)
        }));
        let room = room.min(nearest.len());
        if room > 0 && room < nearest.len() {
            nearest.select_nth_unstable(room - 1);
        }
        let (first, rest) = nearest.split_at_mut(room);
        first.sort_unstable();
        self.waiting.clear();
        self.waiting.extend(rest.iter().map(|(_, _, slot)| *slot));
        for (order, (_, _, slot)) in (0..).zip(first) {
            self.begin(shared, *slot, tick);
            self.slot(*slot).order = order;
        }
    }

    /// Returns the distance from the nearest area, along the longest axis; 0 without a position.
    fn distance(&self, shared: &Shared, store: u32) -> u128 {
        let Some(moving) = &shared.store(store).position else {
            return 0;
        };
        let areas = self.areas.iter();
        areas
            .map(|area| area.center.chebyshev_distance(&moving.at))
            .min()
            .unwrap_or(0)
    }

    fn begin(&mut self, shared: &Shared, slot: u32, tick: Tick) {
        let state = &mut self.slots[table_index(slot)];
        let store = shared.store(state.store);
        state.phase = Phase::Spawning;
        state.listed = false;
        state.notice_progress = Progress::default();
        if state.kept {
            // The client forgot where it had been when it left: no step leads on from there.
            state.position.acked = None;
        }
        let has = store.has & state.allowed;
        for kind in bits(has & !shared.kinds.streams()) {
            let acked = state.progress(kind).acked;
            let known = acked.is_some_and(|acked| !store.tick_of(kind).is_newer_than(acked));
            // Whom it refers to may have come or gone meanwhile.
            let refers = shared.kinds.get(kind).is_some_and(Kind::has_references);
            if !state.kept || !known || refers {
                state.dirty |= 1 << kind;
            }
        }
        self.mark_notice(slot, tick);
        self.slot(slot).since = tick;
        let stats = &mut self.stats;
        stats.spawns += 1;
    }
}
