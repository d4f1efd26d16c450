//! Marking what is due, for everyone who sees it.

use nebula_math::WorldPosition;

use super::ids::table_index;
use super::replicator::Replicator;
use super::viewer::Phase;

/// How many moves are taken in before those who see them are told.
const TOGETHER: usize = 256;

impl Replicator {
    /// Takes new positions in, and marks those that changed.
    ///
    /// Who sees an entity is listed first and told after, many at a time: each look-up waits for memory,
    /// and those of a short loop wait together.
    pub(super) fn mark_moved(&mut self, moved: &[(u32, WorldPosition)]) {
        let tick = self.shared.tick;
        let mut told = core::mem::take(&mut self.told);
        for moved in moved.chunks(TOGETHER) {
            for (place, at) in moved {
                let new = self.shared.store(*place).position.is_none();
                if self.shared.set_position(*place, Some(*at)) == 0 {
                    continue;
                }
                if new {
                    self.mark_all(*place, 1, true);
                } else {
                    told.extend(self.shared.store(*place).subscribers.iter());
                }
            }
            for subscriber in told.drain(..) {
                if let Some(viewer) = &mut self.viewers[table_index(subscriber.viewer)] {
                    viewer.mark(subscriber.slot, 1, tick);
                }
            }
        }
        self.told = told;
    }

    /// Marks kinds of an entity, and the list of its kinds if that changed.
    pub(super) fn mark_all(&mut self, place: u32, bits: u64, listed: bool) {
        let tick = self.shared.tick;
        for subscriber in self.shared.store(place).subscribers.iter() {
            if let Some(viewer) = &mut self.viewers[table_index(subscriber.viewer)] {
                viewer.mark(subscriber.slot, bits, tick);
                if listed && viewer.slots[table_index(subscriber.slot)].phase == Phase::Spawning {
                    viewer.mark_notice(subscriber.slot, tick);
                }
            }
        }
    }

    /// Has references to an entity sent again to a client that just learned of it, or lost it.
    pub(super) fn mark_holders(&mut self, number: u32, slot: u32) {
        let tick = self.shared.tick;
        let Some(viewer) = &mut self.viewers[table_index(number)] else {
            return;
        };
        let entity = self.shared.store(viewer.slot(slot).store).entity;
        let Some(holders) = self.shared.holders(entity) else {
            return;
        };
        // Through all who refer to it or through all that the client has, whichever are fewer.
        if holders.len() <= viewer.slots.len() {
            for (holder, kind) in holders {
                if let Some(&holder) = viewer.by_id.get(holder) {
                    viewer.mark(holder, 1 << kind, tick);
                }
            }
            return;
        }
        for slot in (0..).take(viewer.slots.len()) {
            let id = viewer.slot(slot).id;
            for (_, kind) in holders.range((id, 0)..=(id, usize::MAX)) {
                viewer.mark(slot, 1 << kind, tick);
            }
        }
    }
}
