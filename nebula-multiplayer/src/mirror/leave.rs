//! Leaving: what is remembered of a slot after it left, and for how long.

use super::Mirror;
use super::seen::{Phase, Seen};
use super::stage::version;
use crate::Tick;
use crate::replication::{DespawnReason, viewhash};
use crate::wire::DecodeError;

impl Mirror {
    pub(super) fn leave(
        &mut self,
        tick: Tick,
        slot: u32,
        reason: DespawnReason,
    ) -> Result<(), DecodeError> {
        // What left is lacking no more, unless it came back and this is a late word.
        if let Some(asked) = self.needs_full.get(&slot)
            && !asked.is_newer_than(tick)
        {
            self.needs_full.remove(&slot);
        }
        let Some(seen) = self.seen_mut(slot) else {
            // It left before any part of it came: parts that were overtaken must not bring it back.
            return self.begin(slot, Seen::hollow(tick));
        };
        if seen.since.is_newer_than(tick) {
            return Ok(());
        }
        if seen.phase == Phase::Kept {
            seen.since = tick;
            return Ok(());
        }
        let uncounted = viewhash::slot(slot, seen.counted, |kind| version(seen, kind));
        let complete = seen.phase == Phase::Live;
        seen.counted = 0;
        seen.phase = Phase::Kept;
        seen.since = tick;
        seen.left = tick;
        let parts = seen.assemblies.iter().map(|part| part.bytes.len());
        let parts = parts.fold(0, usize::saturating_add);
        seen.assemblies.clear();
        seen.past.clear();
        let entity = seen.entity.take();
        self.bytes = self.bytes.saturating_sub(parts);
        self.hash ^= uncounted;
        self.alive = self.alive.saturating_sub(1);
        self.remembered = self.remembered.saturating_add(1);
        self.staged.remove(&slot);
        if let Some(entity) = entity {
            self.departed.push((entity, reason));
        }
        // The server counts on nothing else, and must not be thought to.
        if reason == DespawnReason::Left && complete {
            self.kept.push_back((slot, tick));
            self.forget_oldest();
        } else {
            self.hollow(slot);
        }
        Ok(())
    }

    /// Notes that the server builds on state of a slot that is not here.
    pub(super) fn lack(&mut self, slot: u32, tick: Tick) {
        let newest = self.needs_full.entry(slot).or_insert(tick);
        if tick.is_newer_than(*newest) {
            *newest = tick;
        }
    }

    /// Forgets the state of what left first, as far as too many are remembered.
    fn forget_oldest(&mut self) {
        while self.remembered > self.limits.kept {
            let Some((slot, tick)) = self.kept.pop_front() else {
                break;
            };
            self.drop_kept(slot, tick);
        }
        // Those that returned are in the list still; half of it at least goes each time.
        if self.kept.len() > self.limits.kept.saturating_mul(2).saturating_add(64) {
            let mut kept = core::mem::take(&mut self.kept);
            kept.retain(|(slot, tick)| self.is_remembered(*slot, *tick));
            self.kept = kept;
        }
    }

    /// Forgets the state of a slot that left for good, but not when it left: a late packet must not
    /// bring it back.
    fn hollow(&mut self, slot: u32) {
        let Some(seen) = self.seen_mut(slot) else {
            return;
        };
        let remembered = !seen.hollow;
        let bytes = seen.bytes();
        *seen = Seen::hollow(seen.since);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.remembered = self.remembered.saturating_sub(usize::from(remembered));
    }

    /// Returns whether what left a slot at `tick` is remembered.
    fn is_remembered(&self, slot: u32, tick: Tick) -> bool {
        let seen = self.seen(slot);
        seen.is_some_and(|seen| seen.phase == Phase::Kept && !seen.hollow && seen.left == tick)
    }

    /// Forgets a slot that left at `tick`, unless it is in use again.
    pub(super) fn drop_kept(&mut self, slot: u32, tick: Tick) {
        if self.is_remembered(slot, tick) {
            self.hollow(slot);
        }
    }

    pub(super) fn reset(&mut self, before: Tick) -> Result<(), DecodeError> {
        self.needs_full.clear();
        let slots = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        for slot in 0..slots {
            let Some(seen) = self.seen(slot) else {
                continue;
            };
            if !before.is_newer_than(seen.since) {
                continue;
            }
            if seen.phase != Phase::Kept {
                // As if it had left just before.
                let tick = Tick::new(before.get().wrapping_sub(1));
                self.leave(tick, slot, DespawnReason::Left)?;
            }
            self.hollow(slot);
        }
        Ok(())
    }
}
