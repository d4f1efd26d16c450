//! From components to facts.

use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::hierarchy::{ChildOf, Children};
use bevy_ecs::query::{Allow, With};
use bevy_ecs::world::{EntityRef, World};
use nebula_math::WorldPosition;

use super::{InterestIssue, InterestLength, SpatialInterestSystem};
use crate::NetworkId;
use crate::interest::{Facts, FollowsParent, Interest, Layers, OwnedBy, Reach, Relevance, Watches};
use crate::replication::NetworkIds;

impl SpatialInterestSystem {
    /// Applies ids that went, and queues the entities of those that came.
    pub(super) fn apply_ids(
        &mut self,
        world: &World,
        interest: &mut Interest,
        queue: &mut Vec<Entity>,
    ) {
        let Some(ids) = world.get_resource::<NetworkIds>() else {
            return;
        };
        // Departures first, so that an entity which reuses an index finds its place free.
        for removed in &ids.changes().removed {
            interest.remove(removed.id);
            self.orphans.remove(&removed.id);
            // Those who followed it are orphans from now on.
            if let Some(children) = world.get::<Children>(removed.entity) {
                queue.extend(children);
            }
        }
        for (_, entity) in &ids.changes().added {
            queue.push(*entity);
            // Those who follow it could not name it until now.
            if let Some(children) = world.get::<Children>(*entity) {
                queue.extend(children);
            }
        }
    }

    /// Applies what happened to queued entities, each once, in their order.
    pub(super) fn apply_queue(
        &mut self,
        world: &World,
        interest: &mut Interest,
        queue: &mut Vec<Entity>,
    ) {
        queue.sort_unstable();
        queue.dedup();
        for entity in queue {
            self.apply_watch(world, *entity);
            self.apply_entity(world, interest, *entity);
        }
    }

    /// Compares the whole world with what is known.
    pub(super) fn resync(&mut self, world: &mut World, interest: &mut Interest) {
        // Whoever is disabled is hidden, and sees on.
        let watchers: Vec<_> = world
            .query_filtered::<Entity, (With<Watches>, Allow<Disabled>)>()
            .iter(world)
            .collect();
        let known: Vec<_> = self.watching.keys().copied().collect();
        for entity in watchers.into_iter().chain(known) {
            self.apply_watch(world, entity);
        }
        let Some(ids) = world.get_resource::<NetworkIds>() else {
            return;
        };
        for id in interest.ids() {
            if ids.entity(id).is_none() {
                interest.remove(id);
            }
        }
        let mut members: Vec<_> = world.iter_entities().map(|entity| entity.id()).collect();
        members.sort_unstable();
        for entity in members {
            self.apply_entity(world, interest, entity);
        }
    }

    /// Tells the core what is known of an entity, if it is replicated.
    fn apply_entity(&mut self, world: &World, interest: &mut Interest, entity: Entity) {
        let Some(ids) = world.get_resource::<NetworkIds>() else {
            return;
        };
        if let (Some(id), Ok(entity)) = (ids.of(entity), world.get_entity(entity)) {
            let facts = self.facts(ids, id, entity);
            interest.insert(id, facts);
        }
    }

    fn facts(&mut self, ids: &NetworkIds, id: NetworkId, entity: EntityRef<'_>) -> Facts {
        let reach = entity.get::<Reach>().map_or(Ok(0), Reach::reach_mm);
        let reach_mm = reach.unwrap_or_else(|error| {
            self.report(InterestIssue {
                client: None,
                entity: entity.id(),
                length: InterestLength::Reach,
                error,
                kept_mm: 0,
            });
            0
        });
        let follows = entity.contains::<FollowsParent>().then(|| {
            let parent = entity.get::<ChildOf>();
            parent.and_then(|parent| ids.of(parent.parent()))
        });
        if follows == Some(None) {
            self.orphans.insert(id);
        } else {
            self.orphans.remove(&id);
        }
        Facts {
            // A follower without a parent is near nobody.
            position: match follows {
                Some(None) => None,
                _ => entity.get::<WorldPosition>().copied(),
            },
            reach_mm,
            rule: entity
                .get::<Relevance>()
                .map_or_else(Default::default, |rule| rule.0),
            layers: entity.get::<Layers>().copied().unwrap_or_default(),
            owner: entity.get::<OwnedBy>().map(|owner| owner.0),
            follows: follows.flatten(),
        }
    }
}
