//! Another world: other entities under the same ids.

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;

use super::ids::{NetworkIds, table_index};
use super::registry::Kind;
use super::replicator::Replicator;

impl Replicator {
    /// Takes everything that is stored from another world than before. For clients an entity there is the
    /// one that had its id here.
    pub(super) fn adopt_all(&mut self, world: &World) {
        let ids = world.get_resource::<NetworkIds>();
        for place in (0..).take(self.shared.stores.len()) {
            let id = self.shared.store(place).id;
            match ids.and_then(|ids| ids.entity(id)) {
                Some(entity) => self.adopt(world, place, entity),
                // Gone, so that clients are told so. Should it come, it is adopted then.
                None => self.shared.stores[table_index(place)].entity = Entity::PLACEHOLDER,
            }
        }
    }

    /// Has a store stand for an entity of another world than before.
    pub(super) fn adopt(&mut self, world: &World, place: u32, entity: Entity) {
        self.shared.stores[table_index(place)].entity = entity;
        let Ok(entity) = world.get_entity(entity) else {
            return;
        };
        self.refresh(place, entity, u64::MAX);
        // The same reference means somebody else here.
        let refers = self.shared.kinds.iter();
        let refers = refers.filter(|(_, kind)| Kind::has_references(kind));
        let refers = refers.fold(0, |mask, (number, _)| mask | 1_u64 << number);
        self.mark_all(place, refers & self.shared.store(place).has, false);
    }
}
