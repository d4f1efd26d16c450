//! Finding changed components without visiting every entity.

use bevy_ecs::change_detection::{ContiguousRef, DetectChanges, Ref, Tick};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::With;
use bevy_ecs::system::{Query, SystemState};
use bevy_ecs::world::World;

use super::ids::Replicate;

/// Rows whose ticks are compared together, so that the compiler compares many at once.
const BLOCK: usize = 64;

/// Lists the replicated entities whose component of one kind was written since the last call.
pub(crate) trait Scan: Send + Sync {
    /// Appends the entities, in the order of their tables; returns how many rows were looked at.
    fn changed(&mut self, world: &World, found: &mut Vec<Entity>) -> usize;
}

type Rows<C> = Query<'static, 'static, (Entity, Ref<'static, C>), With<Replicate>>;

/// The scan of one component type. It remembers when it last ran.
pub(crate) struct Scanner<C: Component> {
    rows: SystemState<Rows<C>>,
}

impl<C: Component> Scanner<C> {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            rows: SystemState::new(world),
        }
    }
}

impl<C: Component> Scan for Scanner<C> {
    fn changed(&mut self, world: &World, found: &mut Vec<Entity>) -> usize {
        let Ok(rows) = self.rows.get(world) else {
            return 0;
        };
        each_changed(&rows, |entity, _| found.push(entity))
    }
}

/// Calls `f` for each row that was written since the query last ran; returns how many rows were
/// looked at. A table whose summary tick is old costs one comparison.
pub(crate) fn each_changed<C: Component>(
    rows: &Query<(Entity, Ref<C>), With<Replicate>>,
    mut f: impl FnMut(Entity, &C),
) -> usize {
    let mut scanned = 0;
    let Ok(tables) = rows.contiguous_iter() else {
        // A component in sparse storage: each row is asked.
        for (entity, value) in rows {
            scanned += 1;
            if value.is_changed() {
                f(entity, &value);
            }
        }
        return scanned;
    };
    for (entities, values) in tables {
        let (values, ticks) = ContiguousRef::split(values);
        if ticks.summary_tick_is_changed() == Some(false) {
            continue;
        }
        scanned += entities.len();
        let newer = |tick: &Tick| tick.is_newer_than(ticks.last_run(), ticks.this_run());
        for (block, changed) in ticks.changed().chunks(BLOCK).enumerate() {
            // Without an early exit the compiler compares many ticks at once.
            if !changed.iter().fold(false, |any, tick| any | newer(tick)) {
                continue;
            }
            for (row, tick) in (block * BLOCK..).zip(changed) {
                if newer(tick) {
                    f(entities[row], &values[row]);
                }
            }
        }
    }
    scanned
}
