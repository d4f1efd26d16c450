//! Acknowledgements and losses: what a client has for certain, and what must be sent again.

use super::ids::table_index;
use super::record::{DespawnReason, bits};
use super::replicator::Replicator;
use super::store::Shared;
use super::viewer::{Flight, News, Phase, Progress, Sent, Viewer, state_tick};
use super::viewhash;
use crate::{ClientId, NetworkId, Tick};

impl Replicator {
    /// Notes that a packet arrived.
    pub(crate) fn acked(&mut self, client: ClientId, packet: u64) {
        let Some(number) = self.by_client.get(&client) else {
            return;
        };
        if let Some(viewer) = &mut self.viewers[table_index(*number)] {
            viewer.acked(packet, &self.shared, &mut self.news);
        }
        self.settle_freed();
    }

    /// Notes that a packet is lost.
    pub(crate) fn lost(&mut self, client: ClientId, packet: u64) {
        let tick = self.shared.tick;
        if let Some(viewer) = self.viewer_mut(client) {
            viewer.lost(packet, tick);
        }
    }

    /// Lets references name those that clients have got to know since the last tick.
    ///
    /// Not sooner: of two bodies of one tick a client cannot tell which is newer, so a component says the
    /// same in both.
    pub(super) fn settle_known(&mut self) {
        let mut known = core::mem::take(&mut self.news.known);
        for (number, slot) in known.drain(..) {
            let Some(viewer) = &mut self.viewers[table_index(number)] else {
                continue;
            };
            let own = viewer.own;
            let state = viewer.slot(slot);
            // It may be on its way anew already.
            if state.phase != Phase::Live {
                continue;
            }
            state.known = true;
            if own == Some(state.id) {
                viewer.own_signal.due = true;
            }
            self.mark_holders(number, slot);
        }
        self.news.known = known;
    }

    fn settle_freed(&mut self) {
        let mut freed = core::mem::take(&mut self.news.freed);
        for (number, slot) in freed.drain(..) {
            self.unsubscribe(number, &[slot]);
        }
        self.news.freed = freed;
    }

    /// Returns whether an entity is on its way in or out, so that the client may count another of its
    /// lives than the acknowledgements prove.
    pub(crate) fn is_in_transit(&self, client: ClientId) -> bool {
        self.viewer(client).is_some_and(Viewer::is_in_transit)
    }

    /// Returns the tick in which state of an entity was last sent to a client.
    pub(crate) fn last_sent(&self, client: ClientId, id: NetworkId) -> Option<Tick> {
        let viewer = self.viewer(client)?;
        let slot = viewer.by_id.get(&id)?;
        viewer.slots.get(table_index(*slot))?.last_sent
    }
}

impl Viewer {
    /// Whether a life began or ended that the client has not confirmed, or everything is being sent
    /// anew and it still holds what was before.
    pub(crate) fn is_in_transit(&self) -> bool {
        self.reset.is_some()
            || self.slots.iter().any(|slot| {
                let between = slot.counted != 0 && slot.counted_life != slot.life;
                between || matches!(slot.phase, Phase::Leaving(_))
            })
    }

    /// Notes that a packet arrived. Appends slots that became known, or left for good, to `news`.
    pub(crate) fn acked(&mut self, packet: u64, shared: &Shared, news: &mut News) {
        let Some(flight) = self.take_flight(packet) else {
            return;
        };
        if flight.own && self.own_signal.sent == packet + 1 {
            self.own_signal.sent = 0;
        }
        if flight.reset
            && let Some((_, signal)) = &self.reset
            && signal.sent == packet + 1
        {
            self.reset = None;
        }
        for sent in &flight.sent {
            self.acked_slot(sent, flight.tick, packet, shared, news);
        }
        for piece in &flight.pieces {
            super::stream::acked(self, piece);
        }
        self.recycle(flight);
    }

    fn acked_slot(
        &mut self,
        sent: &Sent,
        tick: Tick,
        packet: u64,
        shared: &Shared,
        news: &mut News,
    ) {
        let number = sent.slot;
        let Some(state) = self.slots.get_mut(table_index(number)) else {
            return;
        };
        if state.life != sent.life {
            return;
        }
        if let Phase::Leaving(reason) = state.phase {
            self.hash ^= core::mem::take(&mut state.mixed);
            state.counted = 0;
            self.leave_acked(number, reason, tick, news);
            return;
        }
        if state.counted_life != state.life {
            // The first part of a new life: the client starts counting anew.
            self.hash ^= core::mem::take(&mut state.mixed);
            state.counted = 0;
            state.counted_life = state.life;
            state.list = None;
        }
        if sent.notice
            && !state
                .list
                .is_some_and(|(known, _)| known.is_newer_than(tick))
        {
            state.list = Some((tick, sent.list));
            // What the list does not name is gone; the client drops it too.
            let gone = state.counted & !sent.list;
            let gone = bits(gone).filter(|kind| !state_tick(state, *kind).is_newer_than(tick));
            let gone = gone.fold(0, |mask, kind| mask | 1_u64 << kind);
            let mixed = viewhash::slot(number, gone, |kind| state_tick(state, kind));
            self.hash ^= mixed;
            state.mixed ^= mixed;
            state.counted &= !gone;
        }
        let overtaken = state.list.filter(|(known, _)| known.is_newer_than(tick));
        let listed = overtaken.map_or(u64::MAX, |(_, list)| list);
        // The removal of a large component counts as little as its fragments do: one that was given
        // up and arrived all the same would differ for good once the component is back.
        let counts = listed & !shared.kinds.streams();
        for kind in bits(sent.bits & counts) {
            let bit = 1_u64 << kind;
            let before = state.progress(kind).acked;
            if before.is_some_and(|before| before.is_newer_than(tick)) && state.counted & bit != 0 {
                continue;
            }
            let mut mixed = viewhash::entry(number, kind, tick);
            if state.counted & bit != 0 {
                mixed ^= viewhash::entry(number, kind, before.unwrap_or_default());
            }
            state.counted |= bit;
            state.progress(kind).acked = Some(tick);
            self.hash ^= mixed;
            state.mixed ^= mixed;
        }
        if sent.cell && !state.cell.is_some_and(|known| known.is_newer_than(tick)) {
            state.cell = Some(tick);
        }
        if state.phase == Phase::Spawning {
            if sent.notice {
                let progress = &mut state.notice_progress;
                if progress.sent == packet + 1 {
                    progress.sent = u64::MAX;
                }
                if !progress
                    .acked
                    .is_some_and(|acked| acked.is_newer_than(tick))
                {
                    progress.acked = Some(tick);
                }
            }
            self.finish_spawn(number, shared, news);
        }
    }

    /// Makes a spawning slot live once the client has all of it.
    fn finish_spawn(&mut self, number: u32, shared: &Shared, news: &mut News) {
        let state = &mut self.slots[table_index(number)];
        let store = shared.store(state.store);
        let listed = state
            .notice_progress
            .acked
            .is_some_and(|acked| !store.has_tick.is_newer_than(acked));
        let has = store.has & state.allowed & !shared.kinds.streams();
        // What was acknowledged before a kind came anew says nothing about it.
        let known = bits(has).all(|kind| {
            let acked = state.progress(kind).acked;
            acked.is_some_and(|acked| !store.since(kind).is_newer_than(acked))
        });
        if !listed || !known {
            return;
        }
        state.phase = Phase::Live;
        state.complete = true;
        state.order = 0;
        state.notice = false;
        state.kept = false;
        state.notice_progress = Progress::default();
        let streams = store.has & state.allowed & shared.kinds.streams();
        // What the owner alone gets may have been on its way when the entity changed hands.
        let denied = bits(shared.kinds.owner_only() & !state.allowed)
            .filter(|kind| state.progress(*kind).sent != 0)
            .fold(0, |mask, kind| mask | 1_u64 << kind);
        self.renewed(number);
        self.mark_any(number, denied, shared.tick);
        self.mark(number, streams, shared.tick);
        if self.slot(number).dirty == 0 {
            self.dirty.clear(number);
        }
        news.known.push((self.number, number));
    }

    fn leave_acked(&mut self, slot: u32, reason: DespawnReason, tick: Tick, news: &mut News) {
        let grace = self.settings.grace_ticks;
        let keeps = grace > 0 && self.settings.kept_max > 0;
        self.leaving -= 1;
        let state = self.slot(slot);
        state.notice = false;
        if reason == DespawnReason::Destroyed || !keeps || !state.complete {
            self.free_slot(slot);
            news.freed.push((self.number, slot));
            return;
        }
        state.phase = Phase::Dormant;
        let life = state.life;
        let until = Tick::new(tick.get().wrapping_add(grace));
        self.dirty.clear(slot);
        self.dormant.push_back((slot, life, until));
    }

    /// Notes that a packet is lost: what it said and no later one did is due again.
    pub(crate) fn lost(&mut self, packet: u64, tick: Tick) {
        let Some(flight) = self.take_flight(packet) else {
            return;
        };
        self.stats.lost += 1;
        if flight.own && self.own_signal.sent == packet + 1 {
            self.own_signal.due = true;
        }
        if flight.reset
            && let Some((_, signal)) = &mut self.reset
            && signal.sent == packet + 1
        {
            signal.due = true;
        }
        for sent in &flight.sent {
            let Some(state) = self.slots.get_mut(table_index(sent.slot)) else {
                continue;
            };
            if state.life != sent.life {
                continue;
            }
            let mut mask = 0;
            for kind in bits(sent.bits) {
                if state.progress(kind).sent == packet + 1 {
                    mask |= 1 << kind;
                }
            }
            let notice = sent.notice && state.notice_progress.sent == packet + 1;
            // A removal of what the client may see no longer is sent again as well.
            self.mark_any(sent.slot, mask, tick);
            if notice {
                self.mark_notice(sent.slot, tick);
            }
        }
        for piece in &flight.pieces {
            super::stream::lost(self, piece, tick);
        }
        self.recycle(flight);
    }

    fn take_flight(&mut self, packet: u64) -> Option<Flight> {
        let place = self
            .flights
            .binary_search_by_key(&packet, |flight| flight.packet)
            .ok()?;
        self.flights.remove(place)
    }

    fn recycle(&mut self, flight: Flight) {
        let mut sent = flight.sent;
        sent.clear();
        if self.spare.len() < 16 {
            self.spare.push(sent);
        }
    }
}
