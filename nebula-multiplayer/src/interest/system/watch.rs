//! Observers that queue entities whose interest components were inserted or removed.

use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::entity::Entity;
use bevy_ecs::hierarchy::ChildOf;
use bevy_ecs::lifecycle::{Insert, Remove};
use bevy_ecs::observer::{Observer, On};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::ResMut;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;

use crate::interest::{
    FollowsParent, InterestArea, InterestMargin, Layers, OwnedBy, Reach, Relevance, Watches,
};

/// Entries in the queue before the whole world is compared instead: 8 MiB.
const QUEUE_CAP: usize = 1 << 20;

/// Entities that something happened to since the system last ran.
#[derive(Resource, Debug, Default)]
pub(super) struct FactQueue {
    pub(super) entities: Vec<Entity>,
    pub(super) overflowed: bool,
}

/// Adds the queue and its observers, once for a world.
pub(super) fn install(world: &mut World) {
    if world.contains_resource::<FactQueue>() {
        return;
    }
    world.init_resource::<FactQueue>();
    let components = [
        world.register_component::<Reach>(),
        world.register_component::<Relevance>(),
        world.register_component::<Layers>(),
        world.register_component::<OwnedBy>(),
        world.register_component::<FollowsParent>(),
        world.register_component::<Watches>(),
        world.register_component::<ChildOf>(),
    ];
    // Values that came or changed are seen by their change ticks.
    let values = [
        world.register_component::<WorldPosition>(),
        world.register_component::<InterestArea>(),
        world.register_component::<InterestMargin>(),
    ];
    let came = Observer::new(|on: On<Insert<()>>, queue: Option<ResMut<FactQueue>>| {
        push(queue, on.entity);
    });
    let left = Observer::new(|on: On<Remove<()>>, queue: Option<ResMut<FactQueue>>| {
        push(queue, on.entity);
    });
    world.spawn(came.with_components(components));
    world.spawn(left.with_components(components).with_components(values));
}

/// Takes the queue.
pub(super) fn take_queue(world: &mut World) -> FactQueue {
    let Some(mut queue) = world.get_resource_mut::<FactQueue>() else {
        return FactQueue::default();
    };
    core::mem::take(queue.bypass_change_detection())
}

/// Gives the queue's memory back.
pub(super) fn return_queue(world: &mut World, mut queue: FactQueue) {
    queue.entities.clear();
    queue.overflowed = false;
    if let Some(mut resource) = world.get_resource_mut::<FactQueue>()
        && resource.entities.is_empty()
        && !resource.overflowed
    {
        *resource.bypass_change_detection() = queue;
    }
}

fn push(queue: Option<ResMut<FactQueue>>, entity: Entity) {
    let Some(mut queue) = queue else { return };
    let queue = queue.bypass_change_detection();
    if queue.entities.len() < QUEUE_CAP {
        queue.entities.push(entity);
    } else {
        queue.overflowed = true;
    }
}
