//! Staging: one record after the other changes what is known.

use nebula_math::WorldPosition;

use super::Mirror;
use super::seen::{Phase, Seen, Value};
use crate::Tick;
use crate::replication::position::{self, Cell};
use crate::replication::record::bits;
use crate::replication::{MAX_REFERENCES, Record, viewhash};
use crate::wire::{DecodeError, Reader};

/// A component that was checked.
pub(super) struct Checked {
    pub(super) kind: usize,
    pub(super) value: Value,
}

impl Mirror {
    pub(super) fn stage(
        &mut self,
        tick: Tick,
        baseline: Tick,
        record: Record<'_>,
    ) -> Result<(), DecodeError> {
        match record {
            Record::SpawnEntity { .. } => return self.spawn(tick, record),
            Record::EntityUpdate { slot, components } => {
                return self.update(tick, slot, &components);
            }
            Record::Place { slot, place } => return self.place(tick, slot, place),
            Record::Step { slot, step } => return self.step(tick, baseline, slot, step),
            Record::Cell { slot, corner } => {
                if let Some(seen) = self.current(slot, tick)
                    && !seen
                        .cell
                        .is_some_and(|(known, _)| known.is_newer_than(tick))
                {
                    seen.cell = Some((tick, Cell::of(&corner)));
                }
            }
            Record::Fragment { .. } => return self.fragment(tick, record),
            Record::DespawnEntity { slot, reason } => return self.leave(tick, slot, reason),
            Record::Yours { slot } => {
                if !self.own_tick.is_some_and(|known| known.is_newer_than(tick)) {
                    self.own = slot;
                    self.own_tick = Some(tick);
                }
            }
            Record::Reset { tick } => return self.reset(Tick::new(tick)),
        }
        Ok(())
    }

    /// Returns a slot that is here, if the packet is not older than its appearance.
    pub(super) fn current(&mut self, slot: u32, tick: Tick) -> Option<&mut Seen> {
        let seen = self.seen_mut(slot)?;
        (seen.phase == Phase::Live && !seen.since.is_newer_than(tick)).then_some(seen)
    }

    fn spawn(&mut self, tick: Tick, record: Record<'_>) -> Result<(), DecodeError> {
        let Record::SpawnEntity {
            slot,
            generation,
            kept,
            has_position,
            has,
            position,
            components,
        } = record
        else {
            return Ok(());
        };
        let mut checked = Vec::new();
        for (kind, bytes) in components {
            checked.push(self.check(kind, tick, bytes)?);
        }
        if !self.open(slot, generation, kept, tick)? {
            return Ok(());
        }
        let Some(seen) = self.seen_mut(slot) else {
            return Ok(());
        };
        if !seen.has_tick.is_newer_than(tick) {
            seen.has = has;
            seen.has_tick = tick;
            seen.has_position = has_position;
        }
        // A part that was overtaken may hold what a newer list knows to be gone.
        let overtaken = seen.has_tick.is_newer_than(tick);
        let gone = |kind: usize| {
            let bit = 1_u64.wrapping_shl(u32::try_from(kind).unwrap_or(0));
            overtaken && seen.has & bit == 0
        };
        let position_gone = overtaken && !seen.has_position;
        checked.retain(|checked| !gone(checked.kind));
        let Some(seen) = self.seen_mut(slot) else {
            return Ok(());
        };
        if let Some(at) = position.filter(|_| !position_gone) {
            let newer = seen
                .cell
                .is_some_and(|(known, _)| known.is_newer_than(tick));
            if !newer {
                seen.cell = Some((tick, Cell::of(&at)));
            }
            self.set_position(slot, tick, Some(at));
        }
        for Checked { kind, value } in checked {
            self.set_value(slot, kind, value)?;
        }
        self.drop_unlisted(slot, tick);
        let streams = self.kinds.streams();
        if let Some(seen) = self.seen_mut(slot)
            && seen.phase == Phase::Pending
            && seen.is_complete(streams)
        {
            seen.phase = Phase::Live;
            self.staged.insert(slot);
            self.needs_full.remove(&slot);
        }
        Ok(())
    }

    /// Makes a slot ready for parts of an appearance; `false` if they are to be ignored.
    fn open(
        &mut self,
        slot: u32,
        generation: u8,
        kept: bool,
        tick: Tick,
    ) -> Result<bool, DecodeError> {
        let kinds = self.kinds.len();
        let Some(seen) = self.seen_mut(slot) else {
            if kept {
                self.lack(slot, tick);
                return Ok(false);
            }
            self.begin(slot, Seen::new(kinds, generation, tick))?;
            return Ok(true);
        };
        if seen.phase != Phase::Kept && seen.generation == generation {
            // A part of what is here already, perhaps overtaken by others.
            if seen.since.is_newer_than(tick) {
                seen.since = tick;
            }
            return Ok(true);
        }
        if !tick.is_newer_than(seen.since) {
            return Ok(false);
        }
        if kept && seen.hollow {
            self.lack(slot, tick);
            return Ok(false);
        }
        let returns = seen.phase == Phase::Kept;
        self.check_alive(usize::from(returns))?;
        let Some(seen) = self.seen_mut(slot) else {
            return Ok(false);
        };
        let remembered = returns && !seen.hollow;
        let uncounted = viewhash::slot(slot, seen.counted, |kind| version(seen, kind));
        seen.counted = 0;
        seen.generation = generation;
        seen.since = tick;
        if kept {
            if returns {
                seen.phase = Phase::Pending;
                seen.past.clear();
                self.revive(slot)?;
            }
        } else {
            let bytes = seen.bytes();
            let mut fresh = Seen::new(kinds, generation, tick);
            // Only after its leave arrived can a slot be another's: the entity stays if it is here.
            fresh.entity = seen.entity;
            fresh.changed = u64::MAX;
            *seen = fresh;
            self.bytes = self.bytes.saturating_sub(bytes);
            self.staged.remove(&slot);
        }
        self.remembered = self.remembered.saturating_sub(usize::from(remembered));
        self.alive = self.alive.saturating_add(usize::from(returns));
        self.hash ^= uncounted;
        Ok(true)
    }

    pub(super) fn begin(&mut self, slot: u32, seen: Seen) -> Result<(), DecodeError> {
        let place = usize::try_from(slot).unwrap_or(usize::MAX);
        let alive = usize::from(seen.phase != Phase::Kept);
        self.check_alive(alive)?;
        // No record names a slot from `MAX_SLOTS` on, so this list is bounded.
        if place >= self.slots.len() {
            self.slots.resize_with(place.saturating_add(1), || None);
        }
        if let Some(entry) = self.slots.get_mut(place) {
            *entry = Some(Box::new(seen));
            self.alive = self.alive.saturating_add(alive);
        }
        Ok(())
    }

    /// Refuses `more` entities if there would be too many.
    fn check_alive(&self, more: usize) -> Result<(), DecodeError> {
        let most = self.limits.entities;
        if more > 0 && self.alive.saturating_add(more) > most {
            return Err(too_much("the list of entities", most));
        }
        Ok(())
    }

    /// Decodes what was kept of a slot, so that it can be applied again.
    fn revive(&mut self, slot: u32) -> Result<(), DecodeError> {
        let kinds = self.kinds.clone();
        let Some(seen) = self.seen_mut(slot) else {
            return Ok(());
        };
        seen.changed = u64::from(seen.position.is_some());
        for (kind, value) in (1_u32..).zip(&mut seen.values) {
            let Some(value) = value else { continue };
            if let (Some(bytes), Some(known)) =
                (&value.bytes, kinds.get(usize::try_from(kind).unwrap_or(0)))
            {
                value.staged = Some(known.erased.decode(bytes)?);
                seen.changed |= 1_u64.wrapping_shl(kind);
            }
        }
        Ok(())
    }

    /// Checks a component: its references, its bytes.
    pub(super) fn check(
        &self,
        kind: usize,
        tick: Tick,
        bytes: &[u8],
    ) -> Result<Checked, DecodeError> {
        let known = self.kinds.get(kind).ok_or(DecodeError::Unknown {
            what: "component kind",
            value: u64::try_from(kind).unwrap_or(u64::MAX),
        })?;
        let mut reader = Reader::new(bytes);
        let mut references = Vec::new();
        if known.erased.has_references() {
            let count = reader.length("a list of references", MAX_REFERENCES)?;
            for _ in 0..count {
                references.push(reader.varint_u32()?);
            }
        }
        let mut staged = known.erased.decode(reader.rest())?;
        if staged.references() != references.len() {
            return Err(DecodeError::NotAllowed("another number of references"));
        }
        Ok(Checked {
            kind,
            value: Value {
                tick,
                bytes: Some(reader.rest().to_vec()),
                references,
                staged: Some(staged),
            },
        })
    }

    /// Stores a component, unless a newer word about it is known.
    fn set_value(&mut self, slot: u32, kind: usize, value: Value) -> Result<(), DecodeError> {
        let tick = value.tick;
        self.put_value(slot, kind, value)?;
        self.count(slot, kind, tick);
        Ok(())
    }

    pub(super) fn put_value(
        &mut self,
        slot: u32,
        kind: usize,
        value: Value,
    ) -> Result<(), DecodeError> {
        let added = value.bytes.as_ref().map_or(0, Vec::len);
        let Some(seen) = self.seen_mut(slot) else {
            return Ok(());
        };
        let Some(place) = kind.checked_sub(1).and_then(|at| seen.values.get_mut(at)) else {
            return Ok(());
        };
        if place
            .as_ref()
            .is_some_and(|known| known.tick.is_newer_than(value.tick))
        {
            return Ok(());
        }
        let removed = place
            .as_ref()
            .and_then(|known| known.bytes.as_ref())
            .map_or(0, Vec::len);
        *place = Some(value);
        let bit = u32::try_from(kind).unwrap_or(0);
        seen.changed |= 1_u64.wrapping_shl(bit);
        let live = seen.phase == Phase::Live;
        if live {
            self.staged.insert(slot);
        }
        self.charge(added, removed)
    }

    /// Counts bytes that are kept.
    pub(super) fn charge(&mut self, added: usize, removed: usize) -> Result<(), DecodeError> {
        self.bytes = self.bytes.saturating_add(added).saturating_sub(removed);
        while self.bytes > self.limits.bytes {
            // What left goes before a server is called greedy.
            let Some((slot, tick)) = self.kept.pop_front() else {
                return Err(too_much("the state of all entities", self.limits.bytes));
            };
            self.drop_kept(slot, tick);
        }
        Ok(())
    }

    fn set_position(&mut self, slot: u32, tick: Tick, at: Option<WorldPosition>) {
        let Some(seen) = self.seen_mut(slot) else {
            return;
        };
        match at {
            Some(at) => {
                seen.set_position(tick, at);
            }
            None if !seen.position_tick.is_some_and(|t| t.is_newer_than(tick)) => {
                seen.position = None;
                seen.position_tick = Some(tick);
                seen.changed |= 1;
                seen.past.clear();
            }
            None => {}
        }
        if seen.phase == Phase::Live {
            self.staged.insert(slot);
        }
        self.count(slot, 0, tick);
    }

    /// Notes a delivery in the view hash.
    fn count(&mut self, slot: u32, kind: usize, tick: Tick) {
        let Some(seen) = self.seen_mut(slot) else {
            return;
        };
        let bit = 1_u64.wrapping_shl(u32::try_from(kind).unwrap_or(0));
        let Some(version) = seen.versions.get_mut(kind) else {
            return;
        };
        let mut mixed = 0;
        if seen.counted & bit != 0 {
            if version.is_newer_than(tick) {
                return;
            }
            mixed = viewhash::entry(slot, kind, *version);
        }
        seen.counted |= bit;
        *version = tick;
        self.hash ^= mixed ^ viewhash::entry(slot, kind, tick);
    }

    /// Removes components that a list of kinds does not name.
    fn drop_unlisted(&mut self, slot: u32, tick: Tick) {
        let Some(seen) = self.seen_mut(slot) else {
            return;
        };
        if seen.has_tick != tick {
            return;
        }
        let listed = seen.has | u64::from(seen.has_position);
        let gone = bits(seen.counted & !listed);
        let gone = gone.filter(|kind| !version(seen, *kind).is_newer_than(tick));
        let gone = gone.fold(0, |mask, kind| {
            mask | 1_u64.wrapping_shl(u32::try_from(kind).unwrap_or(0))
        });
        let uncounted = viewhash::slot(slot, gone, |kind| version(seen, kind));
        seen.counted &= !gone;
        let has = seen.has;
        let mut dropped = 0_usize;
        let mut changed = 0_u64;
        for (kind, value) in (1_u32..).zip(&mut seen.values) {
            let bit = 1_u64.wrapping_shl(kind);
            if let Some(known) = value
                && has & bit == 0
                && !known.tick.is_newer_than(tick)
                && known.bytes.is_some()
            {
                dropped = dropped.saturating_add(known.bytes.as_ref().map_or(0, Vec::len));
                *value = Some(Value {
                    tick,
                    ..Value::default()
                });
                changed |= bit;
            }
        }
        if !seen.has_position {
            seen.position = None;
            seen.position_tick = Some(tick);
            changed |= 1;
        }
        seen.changed |= changed;
        if changed != 0 && seen.phase == Phase::Live {
            self.staged.insert(slot);
        }
        self.hash ^= uncounted;
        self.bytes = self.bytes.saturating_sub(dropped);
    }

    fn update(
        &mut self,
        tick: Tick,
        slot: u32,
        components: &[(usize, Option<&[u8]>)],
    ) -> Result<(), DecodeError> {
        let mut checked = Vec::new();
        for (kind, bytes) in components {
            checked.push(match bytes {
                Some(bytes) => self.check(*kind, tick, bytes)?,
                None => Checked {
                    kind: *kind,
                    value: Value {
                        tick,
                        ..Value::default()
                    },
                },
            });
        }
        if self.current(slot, tick).is_none() {
            return Ok(());
        }
        for Checked { kind, value } in checked {
            if kind == 0 {
                self.set_position(slot, tick, None);
            } else if self.is_stream(kind) {
                // Large components do not count in the view hash; nor does their removal.
                self.put_value(slot, kind, value)?;
            } else {
                self.set_value(slot, kind, value)?;
            }
        }
        Ok(())
    }

    fn is_stream(&self, kind: usize) -> bool {
        let bit = 1_u64.wrapping_shl(u32::try_from(kind).unwrap_or(0));
        self.kinds.streams() & bit != 0
    }

    fn place(&mut self, tick: Tick, slot: u32, place: [u16; 3]) -> Result<(), DecodeError> {
        let Some(seen) = self.current(slot, tick) else {
            return Ok(());
        };
        match seen.cell {
            // The packet is older than the cell: a newer position is here already.
            Some((known, _)) if known.is_newer_than(tick) => {}
            Some((_, cell)) => self.set_position(slot, tick, Some(cell.place(place))),
            None => return Err(DecodeError::NotAllowed("a place without a cell")),
        }
        Ok(())
    }

    fn step(
        &mut self,
        tick: Tick,
        baseline: Tick,
        slot: u32,
        step: [i16; 3],
    ) -> Result<(), DecodeError> {
        let Some(seen) = self.current(slot, tick) else {
            return Ok(());
        };
        match seen.past(baseline) {
            Some(from) => {
                let at = position::step_from(&from, step)?;
                self.set_position(slot, tick, Some(at));
            }
            None if seen.position_tick.is_some_and(|t| t.is_newer_than(tick)) => {}
            None => {
                self.lack(slot, tick);
            }
        }
        Ok(())
    }
}

pub(super) fn version(seen: &Seen, kind: usize) -> Tick {
    seen.versions.get(kind).copied().unwrap_or_default()
}

fn too_much(what: &'static str, max: usize) -> DecodeError {
    let max = u64::try_from(max).unwrap_or(u64::MAX);
    DecodeError::TooLong {
        what,
        len: max.saturating_add(1),
        max,
    }
}
