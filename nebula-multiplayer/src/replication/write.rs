//! Writing bodies: the due slots of one client, in as few bytes as its acknowledgements allow.

use super::body::Body;
use super::history::HISTORY;
use super::ids::table_index;
use super::position::{CELL_BYTES, Cell, PLACE_BYTES, Step, low_bits};
use super::record::DespawnReason;
use super::record::{FORM_CONTROL, FORM_PLACE, FORM_STEP, FORM_UPDATE, bits, flag, op};
use super::store::{Moving, Shared, Store};
use super::viewer::{Flight, Phase, Sent, Viewer};
use crate::interest::View;
use crate::wire::{put_varint, varint_len};
use crate::{NetworkId, Tick};

/// The most that a packet can be; a room larger than this is cut down.
const ROOM_MAX: usize = 1 << 14;
/// The most that a cell takes with its region.
const CELL_MAX: usize = 1 + 39 + CELL_BYTES;
/// The most that the head of a record takes, with an operation.
const HEAD_MAX: usize = 4;

impl Viewer {
    /// Appends one body of at most `room` bytes; returns whether there was anything to say.
    pub(crate) fn write(
        &mut self,
        shared: &Shared,
        view: Option<View<'_>>,
        packet: u64,
        room: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let room = room.min(ROOM_MAX);
        if !self.wants_to_send() || room < 16 {
            return false;
        }
        self.gate.refresh(view);
        let (due, baseline) = self.survey(shared);
        let start = out.len();
        let mut body = Body {
            start,
            end: start + room,
            slot: 0,
            region: None,
            baseline,
            sent: self.spare.pop().unwrap_or_default(),
            pieces: Vec::new(),
            out,
        };
        let age = baseline.map_or(0, |tick| shared.tick.since(tick));
        body.out.push(u8::try_from(age).unwrap_or(0));
        let reset = self.write_reset(&mut body, packet);
        if due <= body.left() {
            self.write_all(shared, &mut body, packet);
        } else {
            self.write_planned(shared, &mut body, packet);
        }
        let own = self.write_own(&mut body, packet);
        self.finish(shared, body, packet, own, reset)
    }

    /// Returns how many bytes are due at most, and the tick that most positions can be a step from.
    fn survey(&self, shared: &Shared) -> (usize, Option<Tick>) {
        let mut due = 8;
        let mut ages = [0_u32; HISTORY];
        let (mut last, mut region) = (0, None);
        for slot in self.dirty.iter() {
            let state = &self.slots[table_index(slot)];
            let store = shared.store(state.store);
            // The head of a record says how many slots further it is, and the form.
            let head = varint_len(u64::from(slot - last) << 2 | FORM_CONTROL);
            last = slot;
            match state.phase {
                Phase::Live => {
                    due += head;
                    if state.dirty & 1 != 0 {
                        let known = state.cell.zip(store.position.as_ref());
                        let known = known.is_some_and(|(t, m)| !m.cell_tick.is_newer_than(t));
                        due += PLACE_BYTES;
                        if let Some(moving) = store.position.as_ref().filter(|_| !known) {
                            // A region is named once, by the first of its cells.
                            let new = Cell::of(&moving.at).region;
                            let same = region.replace(new) == Some(new);
                            due += HEAD_MAX + if same { 1 + CELL_BYTES } else { CELL_MAX };
                        }
                        if let Some(acked) = state.position.acked
                            && let Ok(age) = usize::try_from(shared.tick.since(acked))
                            && age > 0
                            && let Some(count) = ages.get_mut(age)
                        {
                            *count += 1;
                        }
                    }
                    if state.dirty > 1 {
                        due += HEAD_MAX + 10 + components(shared, store, state.dirty);
                    }
                }
                Phase::Spawning => {
                    region = None;
                    due += HEAD_MAX + head + 24 + PLACE_BYTES + CELL_MAX;
                    due += components(shared, store, state.dirty);
                }
                _ => due += HEAD_MAX + head + 4,
            }
        }
        let (age, count) = (0_u32..)
            .zip(ages)
            .max_by_key(|(age, count)| (*count, core::cmp::Reverse(*age)))
            .unwrap_or((0, 0));
        let baseline = (count > 0).then(|| Tick::new(shared.tick.get().wrapping_sub(age)));
        (due, baseline)
    }

    fn write_all(&mut self, shared: &Shared, body: &mut Body<'_>, packet: u64) {
        let mut chosen = core::mem::take(&mut self.plan.chosen);
        chosen.clear();
        chosen.extend(self.dirty.iter());
        for &slot in &chosen {
            self.write_slot(shared, body, slot, packet);
        }
        self.plan.chosen = chosen;
    }

    /// Takes the next slots of the plan, as many as fit, and writes them in the order of slots.
    fn write_planned(&mut self, shared: &Shared, body: &mut Body<'_>, packet: u64) {
        self.plan_tick(shared);
        let mut chosen = core::mem::take(&mut self.plan.chosen);
        chosen.clear();
        let mut left = body.left();
        while let Some(&slot) = self.plan.order.get(self.plan.next) {
            let state = &self.slots[table_index(slot)];
            if state.dirty == 0 && !state.notice {
                self.plan.next += 1;
                continue;
            }
            let most = self.most(shared, slot);
            if most > left && !chosen.is_empty() {
                break;
            }
            self.plan.next += 1;
            left = left.saturating_sub(most);
            chosen.push(slot);
        }
        chosen.sort_unstable();
        for &slot in &chosen {
            self.write_slot(shared, body, slot, packet);
        }
        self.plan.chosen = chosen;
    }

    /// Returns how many bytes a slot needs at most.
    fn most(&self, shared: &Shared, slot: u32) -> usize {
        let state = &self.slots[table_index(slot)];
        let store = shared.store(state.store);
        match state.phase {
            Phase::Live => {
                let known = state.cell.zip(store.position.as_ref());
                let known = known.is_some_and(|(t, m)| !m.cell_tick.is_newer_than(t));
                let place = 3 + PLACE_BYTES + if known { 0 } else { HEAD_MAX + CELL_MAX };
                let rest = if state.dirty > 1 {
                    HEAD_MAX + 10 + components(shared, store, state.dirty)
                } else {
                    0
                };
                place + rest
            }
            Phase::Spawning => {
                HEAD_MAX + 24 + PLACE_BYTES + CELL_MAX + components(shared, store, state.dirty)
            }
            _ => HEAD_MAX + 2,
        }
    }

    fn write_slot(&mut self, shared: &Shared, body: &mut Body<'_>, slot: u32, packet: u64) {
        let state = &self.slots[table_index(slot)];
        if state.dirty == 0 && !state.notice {
            return;
        }
        if let Phase::Leaving(reason) = state.phase {
            self.write_leave(body, slot, reason, packet);
            return;
        }
        if !self.gate.admit(slot, state.id) {
            self.stats.stopped += 1;
            return;
        }
        let waited = shared.tick.since(state.since);
        let wrote = match state.phase {
            Phase::Spawning => self.write_spawn(shared, body, slot, packet),
            Phase::Live => self.write_live(shared, body, slot, packet),
            _ => return,
        };
        if !wrote {
            self.stats.deferred += 1;
            return;
        }
        self.stats.stalest = self.stats.stalest.max(waited);
        let state = &mut self.slots[table_index(slot)];
        state.last_sent = Some(shared.tick);
        if state.dirty == 0 && !state.notice {
            self.dirty.clear(slot);
        }
    }

    fn write_leave(&mut self, body: &mut Body<'_>, slot: u32, reason: DespawnReason, packet: u64) {
        let mark = body.mark();
        body.control(slot, op::LEAVE);
        body.out.push(u8::from(reason == DespawnReason::Destroyed));
        if !body.keep(mark) {
            return;
        }
        let state = self.slot(slot);
        state.notice = false;
        state.notice_progress.sent = packet + 1;
        let life = state.life;
        self.stats.leaves += 1;
        self.dirty.clear(slot);
        body.sent.push(Sent {
            slot,
            life,
            bits: 0,
            cell: false,
            notice: true,
            list: 0,
        });
    }

    /// Writes the full state, or as many components of it as fit.
    fn write_spawn(
        &mut self,
        shared: &Shared,
        body: &mut Body<'_>,
        slot: u32,
        packet: u64,
    ) -> bool {
        let state = &self.slots[table_index(slot)];
        let store = shared.store(state.store);
        let list = store.has & state.allowed;
        let has = list & !shared.kinds.streams();
        let due = state.dirty & has;
        let mut sent = due;
        let mark = body.mark();
        loop {
            self.put_spawn(shared, body, slot, list, sent);
            if body.keep(mark) {
                break;
            }
            // Too much: leave out the last component. In a packet that others share the whole entity
            // waits for the next one, unless even an empty packet could not take it.
            if !body.is_empty() && self.most(shared, slot) < body.end - body.start {
                return false;
            }
            let Some(last) = bits(sent).last() else {
                return false;
            };
            sent &= !(1 << last);
        }
        if sent == 0 && due != 0 {
            // Nothing but the list fits; wait for a packet with room.
            body.out.truncate(mark.len);
            body.slot = mark.slot;
            body.region = mark.region;
            return false;
        }
        let life = self.slots[table_index(slot)].life;
        self.count_payloads(shared, slot, sent);
        let state = self.slot(slot);
        for kind in bits(sent) {
            state.progress(kind).sent = packet + 1;
        }
        state.touched = true;
        state.notice = false;
        state.notice_progress.sent = packet + 1;
        state.dirty &= has & !sent;
        body.sent.push(Sent {
            slot,
            life,
            bits: sent,
            cell: sent & 1 != 0,
            notice: true,
            list,
        });
        true
    }

    fn put_spawn(&self, shared: &Shared, body: &mut Body<'_>, slot: u32, list: u64, sent: u64) {
        let state = &self.slots[table_index(slot)];
        let store = shared.store(state.store);
        body.control(slot, op::SPAWN);
        let kept = if state.kept { flag::KEPT } else { 0 };
        let place = store.position.as_ref().filter(|_| sent & 1 != 0);
        let position = match (&store.position, place) {
            (_, Some(_)) => flag::POSITION,
            (Some(_), None) => flag::POSITION_ELSEWHERE,
            (None, None) => 0,
        };
        let [generation, ..] = state.life.to_le_bytes();
        body.out.extend_from_slice(&[kept | position, generation]);
        if let Some(moving) = place {
            body.cell(&moving.at);
            body.place(&moving.at);
        }
        put_varint(body.out, list & !1);
        put_varint(body.out, sent & !1);
        for kind in bits(sent & !1) {
            self.put_payload(shared, store, kind, body.out);
        }
    }

    /// Writes everything due of an entity that the client has; all of it in this packet, or nothing.
    fn write_live(&mut self, shared: &Shared, body: &mut Body<'_>, slot: u32, packet: u64) -> bool {
        let state = &self.slots[table_index(slot)];
        let store = shared.store(state.store);
        let mark = body.mark();
        let mut due = state.dirty & !shared.kinds.streams();
        let mut cell = false;
        let mut form = None;
        if due & 1 != 0
            && let Some(moving) = &store.position
        {
            (cell, form) = self.put_position(body, slot, moving);
        }
        let place_end = body.out.len();
        let mut components = due & !1;
        if due & 1 != 0 && store.position.is_none() {
            components |= 1;
        }
        self.put_update(shared, body, slot, store, components);
        if !body.keep(mark) {
            if !body.is_empty() || !self.put_pieces(shared, body, slot, &mut due, &mut cell) {
                return false;
            }
        } else if let Some(form) = form {
            let bytes = u64::try_from(place_end - mark.len).unwrap_or(0);
            self.count_position(form, bytes, cell);
        }
        if due != 0 {
            self.count_payloads(shared, slot, due & !1);
            let state = self.slot(slot);
            let life = state.life;
            for kind in bits(due) {
                state.progress(kind).sent = packet + 1;
            }
            state.dirty &= !due;
            body.sent.push(Sent {
                slot,
                life,
                bits: due,
                cell,
                notice: false,
                list: 0,
            });
        }
        let streams = self.slots[table_index(slot)].dirty & shared.kinds.streams();
        for kind in bits(streams) {
            self.write_stream(shared, body, slot, kind, packet);
        }
        true
    }

    /// The changes of one entity exceed a whole packet: they go one by one, as they fit.
    fn put_pieces(
        &self,
        shared: &Shared,
        body: &mut Body<'_>,
        slot: u32,
        due: &mut u64,
        cell: &mut bool,
    ) -> bool {
        let store = shared.store(self.slots[table_index(slot)].store);
        let mut sent = 0;
        // What did not fit named no cell: a client that acknowledges the rest does not know it.
        *cell = false;
        for kind in bits(*due) {
            let mark = body.mark();
            let mut named = false;
            match &store.position {
                Some(moving) if kind == 0 => named = self.put_position(body, slot, moving).0,
                _ => self.put_update(shared, body, slot, store, 1 << kind),
            }
            if body.keep(mark) {
                sent |= 1 << kind;
                *cell |= named;
            }
        }
        *due = sent;
        sent != 0
    }

    /// Writes a position the shortest way; returns whether it named the cell, and the form.
    #[inline]
    fn put_position(&self, body: &mut Body<'_>, slot: u32, moving: &Moving) -> (bool, Option<u64>) {
        let state = &self.slots[table_index(slot)];
        if let Some(baseline) = body.baseline
            && state.position.acked == Some(baseline)
            && let Some(from) = moving.history.at(baseline)
            && let Some(step) = Step::between(from, low_bits(&moving.at))
        {
            body.head(slot, FORM_STEP);
            step.put(body.out);
            return (false, Some(FORM_STEP));
        }
        let known = state
            .cell
            .is_some_and(|known| !moving.cell_tick.is_newer_than(known));
        if !known {
            body.control(slot, op::CELL);
            body.cell(&moving.at);
        }
        body.head(slot, FORM_PLACE);
        body.place(&moving.at);
        (!known, Some(FORM_PLACE))
    }

    fn put_update(
        &self,
        shared: &Shared,
        body: &mut Body<'_>,
        slot: u32,
        store: &Store,
        kinds: u64,
    ) {
        if kinds == 0 {
            return;
        }
        let allowed = self.slots[table_index(slot)].allowed;
        body.head(slot, FORM_UPDATE);
        put_varint(body.out, kinds);
        for kind in bits(kinds) {
            if store.has & allowed & 1 << kind == 0 {
                body.out.push(0);
            } else {
                self.put_payload(shared, store, kind, body.out);
            }
        }
    }

    fn put_payload(&self, shared: &Shared, store: &Store, kind: usize, out: &mut Vec<u8>) {
        let encoded = store.encoded(kind);
        let len = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX) + 1;
        let refers = shared
            .kinds
            .get(kind)
            .is_some_and(|kind| kind.erased.has_references());
        if !refers {
            put_varint(out, len(encoded.bytes.len()));
            out.extend_from_slice(&encoded.bytes);
            return;
        }
        let slots = encoded.references.iter();
        let slots = slots.map(|reference| self.slot_of_reference(shared, *reference));
        let count = u64::try_from(encoded.references.len()).unwrap_or(u64::MAX);
        let size: usize = slots.clone().map(varint_len).sum();
        put_varint(out, len(varint_len(count) + size + encoded.bytes.len()));
        put_varint(out, count);
        for slot in slots {
            put_varint(out, slot);
        }
        out.extend_from_slice(&encoded.bytes);
    }

    /// Returns the slot plus one of an entity that the client has for certain, otherwise 0.
    fn slot_of_reference(
        &self,
        shared: &Shared,
        reference: Option<bevy_ecs::entity::Entity>,
    ) -> u64 {
        let slot = reference
            .and_then(|entity| shared.id_of(entity))
            .filter(|id: &NetworkId| self.gate.admits(*id))
            .and_then(|id| self.by_id.get(&id));
        match slot {
            Some(slot) if self.slots[table_index(*slot)].known => u64::from(*slot) + 1,
            _ => 0,
        }
    }

    fn write_reset(&mut self, body: &mut Body<'_>, packet: u64) -> bool {
        let Some((tick, signal)) = &mut self.reset else {
            return false;
        };
        if !signal.due {
            return false;
        }
        body.control(0, op::RESET);
        body.out.extend_from_slice(&tick.get().to_le_bytes());
        signal.due = false;
        signal.sent = packet + 1;
        true
    }

    /// Says which entity is the client's own, once it has it. It comes last and may name a lower
    /// slot than the record before.
    fn write_own(&mut self, body: &mut Body<'_>, packet: u64) -> bool {
        let Some(own) = self.own_due() else {
            return false;
        };
        let mark = body.mark();
        put_varint(body.out, FORM_CONTROL);
        match own {
            Some(slot) => {
                body.out.push(op::YOURS);
                put_varint(body.out, u64::from(slot));
            }
            None => body.out.push(op::NOTHING_YOURS),
        }
        if !body.keep(mark) {
            return false;
        }
        self.own_signal.due = false;
        self.own_signal.sent = packet + 1;
        true
    }

    fn finish(
        &mut self,
        shared: &Shared,
        body: Body<'_>,
        packet: u64,
        own: bool,
        reset: bool,
    ) -> bool {
        let len = body.out.len() - body.start;
        if len <= 1 {
            body.out.truncate(body.start);
            self.spare.push(body.sent);
            return false;
        }
        self.stats.bytes += u64::try_from(len).unwrap_or(0);
        self.stats.largest = self.stats.largest.max(len);
        self.flights.push_back(Flight {
            packet,
            tick: shared.tick,
            sent: body.sent,
            pieces: body.pieces,
            own,
            reset,
        });
        true
    }

    #[inline]
    fn count_position(&mut self, form: u64, bytes: u64, cell: bool) {
        let stats = &mut self.stats;
        stats.cells += u64::from(cell);
        stats.kind_bytes[0] += bytes;
        if !cell {
            stats.position_bytes += bytes;
            if form == FORM_STEP {
                stats.steps += 1;
            } else {
                stats.places += 1;
            }
        }
    }

    fn count_payloads(&mut self, shared: &Shared, slot: u32, kinds: u64) {
        let store = shared.store(self.slots[table_index(slot)].store);
        for kind in bits(kinds & store.has) {
            let bytes = if kind == 0 {
                CELL_BYTES + PLACE_BYTES
            } else {
                store.encoded(kind).bytes.len()
            };
            self.stats.kind_bytes[kind] += u64::try_from(bytes).unwrap_or(0);
        }
    }
}

/// Returns how many bytes the components of `due` take at most.
fn components(shared: &Shared, store: &Store, due: u64) -> usize {
    let streams = shared.kinds.streams();
    bits(due & store.has & !1 & !streams)
        .map(|kind| {
            let encoded = store.encoded(kind);
            3 + encoded.bytes.len() + 3 * encoded.references.len() + 1
        })
        .sum::<usize>()
        + bits(due & streams & store.has)
            .map(|kind| store.encoded(kind).bytes.len())
            .sum::<usize>()
        + usize::try_from((due & !store.has).count_ones()).unwrap_or(64)
}
