//! Applying: what was staged goes into the client's world.

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;

use super::seen::Phase;
use super::{Mirror, MirrorEvent, Mirrored};
use crate::Tick;
use crate::replication::record::bits;

impl Mirror {
    /// Brings the world up to date and appends what happened, despawns first.
    pub(crate) fn apply(&mut self, world: &mut World, events: &mut Vec<MirrorEvent>) {
        for (entity, reason) in self.departed.drain(..) {
            // The game may have despawned it itself.
            if let Ok(entity) = world.get_entity_mut(entity) {
                entity.despawn();
            }
            events.push(MirrorEvent::Despawned { entity, reason });
        }
        let staged: Vec<u32> = core::mem::take(&mut self.staged).into_iter().collect();
        // All entities first, so that references find each other.
        let mut appeared = Vec::new();
        for &slot in &staged {
            if let Some(seen) = self.seen_mut(slot)
                && seen.phase == Phase::Live
                && seen.entity.is_none()
            {
                let entity = world.spawn(Mirrored { slot }).id();
                seen.entity = Some(entity);
                appeared.push(entity);
            }
        }
        for &slot in &staged {
            self.apply_slot(world, slot);
        }
        events.extend(appeared.into_iter().map(MirrorEvent::Spawned));
        let own = self.own_entity();
        if own != self.announced {
            self.announced = own;
            events.push(MirrorEvent::YourEntity(own));
        }
    }

    fn apply_slot(&mut self, world: &mut World, slot: u32) {
        let kinds = self.kinds.clone();
        let Some(seen) = self.seen_mut(slot) else {
            return;
        };
        if seen.phase != Phase::Live {
            return;
        }
        let changed = core::mem::take(&mut seen.changed);
        let position = seen.position;
        let Some(entity) = seen.entity else { return };
        let Ok(mut target) = world.get_entity_mut(entity) else {
            return;
        };
        if changed & 1 != 0 {
            match position {
                Some(at) => target.insert(at),
                None => target.remove::<WorldPosition>(),
            };
        }
        for number in bits(changed & !1) {
            let Some(kind) = kinds.get(number) else {
                continue;
            };
            let value = self
                .seen_mut(slot)
                .and_then(|seen| seen.values.get_mut(number.checked_sub(1)?)?.as_mut());
            let Some(value) = value else {
                // Sent anew, and without it.
                if let Ok(mut target) = world.get_entity_mut(entity) {
                    kind.erased.remove(&mut target);
                }
                continue;
            };
            let (staged, tick) = (value.staged.take(), value.tick);
            let removed = value.bytes.is_none();
            let references = value.references.clone();
            let Ok(mut target) = world.get_entity_mut(entity) else {
                return;
            };
            if let Some(staged) = staged {
                let references: Vec<Option<Entity>> = references
                    .iter()
                    .map(|reference| self.referred(*reference, tick))
                    .collect();
                staged.insert(&mut target, &references);
            } else if removed {
                kind.erased.remove(&mut target);
            }
        }
    }

    /// Returns the entity that a reference of a packet of `tick` names.
    fn referred(&self, reference: u32, tick: Tick) -> Option<Entity> {
        let seen = self.seen(reference.checked_sub(1)?)?;
        let there = seen.phase == Phase::Live && !seen.since.is_newer_than(tick);
        seen.entity.filter(|_| there)
    }
}
