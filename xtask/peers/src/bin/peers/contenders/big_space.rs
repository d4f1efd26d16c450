//! big_space: the cells of its `CellLookup`, kept up to date by its own systems in a small app.
//!
//! A cell is 2^19 mm wide, the first power of two above 500 m, so that a ball of 500 m lies in a cell
//! and its neighbours, and offsets in a cell are exact as `f32` millimetres.

use std::ops::Range;

use bevy_app::App;
use bevy_ecs::prelude::{ChildOf, Component, Entity, World};
use bevy_math::Vec3;
use bevy_transform::prelude::Transform;
use big_space::plugin::BigSpaceCorePlugin;
use big_space::prelude::{
    BigSpace, CellCoord, CellHashingPlugin, CellId, CellLookup, Grid, SpatialEntryToEntities as _,
};
use nebula_math::WorldPosition;

use super::{Contender, Sink, Work};
use crate::data::Entry;

/// Its name in tables.
pub(crate) const NAME: &str = "big_space cell lookup";

const CELL_BITS: u32 = 19;

#[derive(Component)]
struct Name(u32);

/// A position as big_space has it.
#[derive(Clone, Copy)]
struct Place {
    cell: CellCoord,
    offset: Vec3,
}

impl Place {
    fn of(at: &WorldPosition) -> Self {
        // A cell reaches half its width to each side of its middle.
        let half = 1_i128 << (CELL_BITS - 1);
        let cell = at.to_array().map(|c| (c + half) >> CELL_BITS);
        let offset = [0, 1, 2].map(|i| (at.to_array()[i] - (cell[i] << CELL_BITS)) as f32);
        let cell = cell.map(|c| i64::try_from(c).expect("within 2^82 mm"));
        Self {
            cell: CellCoord::new(cell[0], cell[1], cell[2]),
            offset: Vec3::from(offset),
        }
    }
}

#[derive(Default)]
pub(crate) struct Cells {
    space: Option<Space>,
    loaded: Vec<(u32, Place)>,
    centers: Vec<Place>,
}

struct Space {
    app: App,
    root: Entity,
    entities: Vec<Entity>,
}

impl Space {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((BigSpaceCorePlugin, CellHashingPlugin::default()));
        let edge = (1_u32 << CELL_BITS) as f32;
        let root = app
            .world_mut()
            .spawn((BigSpace::default(), Grid::new(edge, 0.0)))
            .id();
        Self {
            app,
            root,
            entities: Vec::new(),
        }
    }

    fn spawn(&mut self, id: u32, place: Place) {
        let at = Transform::from_translation(place.offset);
        let parent = ChildOf(self.root);
        let entity = self
            .app
            .world_mut()
            .spawn((place.cell, at, parent, Name(id)));
        let entity = entity.id();
        let slot = id as usize;
        if self.entities.len() <= slot {
            self.entities.resize(slot + 1, Entity::PLACEHOLDER);
        }
        self.entities[slot] = entity;
    }
}

impl Contender for Cells {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refuses(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Nearest(_) => Some("it finds cells, not the nearest"),
            Work::Ball(radius) if radius > 1 << CELL_BITS => {
                Some("f32 offsets in cells of that size are not exact")
            }
            _ => None,
        }
    }

    fn load(&mut self, entries: &[Entry]) {
        self.loaded = entries
            .iter()
            .map(|(id, at)| (*id, Place::of(at)))
            .collect();
    }

    fn bulk(&mut self) {
        self.space = None;
        self.insert();
    }

    fn insert(&mut self) {
        let space = self.space.get_or_insert_with(Space::new);
        for (id, place) in &self.loaded {
            space.spawn(*id, *place);
        }
        space.app.update();
    }

    fn shift(&mut self) {
        let space = self.space.get_or_insert_with(Space::new);
        let world = space.app.world_mut();
        for (id, place) in &self.loaded {
            let mut entity = world.entity_mut(space.entities[*id as usize]);
            let (cell, at) = entity
                .get_components_mut::<(&mut CellCoord, &mut Transform)>()
                .expect("every entity has both");
            write(cell, at, place);
        }
        space.app.update();
    }

    /// Removing a child searches the list of its parent's children.
    fn most_removals(&self) -> usize {
        5_000
    }

    fn remove(&mut self) {
        let space = self.space.get_or_insert_with(Space::new);
        for (id, _) in &self.loaded {
            space.app.world_mut().despawn(space.entities[*id as usize]);
        }
        space.app.update();
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.iter().map(Place::of).collect();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        let Some(space) = &self.space else { return };
        let world = space.app.world();
        let lookup = world.resource::<CellLookup>();
        let radius = radius_mm as f64;
        for center in &self.centers[queries] {
            let id = CellId::new_manual(space.root, &center.cell);
            // The documented fast way for an occupied cell is its list of neighbours.
            match lookup.get(&id) {
                Some(entry) => {
                    let near = lookup.nearby(entry).entities();
                    keep(world, near, center, radius, &mut sink.out);
                }
                None => {
                    let near = lookup.within_cube(&id, 1).entities();
                    keep(world, near, center, radius, &mut sink.out);
                }
            }
            sink.done();
        }
    }
}

/// Writes only what differs, so that change detection sees who left a cell.
fn write(
    mut cell: bevy_ecs::prelude::Mut<'_, CellCoord>,
    mut at: bevy_ecs::prelude::Mut<'_, Transform>,
    place: &Place,
) {
    if *cell != place.cell {
        *cell = place.cell;
    }
    at.translation = place.offset;
}

/// Keeps the entities that are near enough.
fn keep(
    world: &World,
    near: impl Iterator<Item = Entity>,
    center: &Place,
    radius: f64,
    out: &mut Vec<u32>,
) {
    let edge = f64::from(1_u32 << CELL_BITS);
    for entity in near {
        let entity = world.entity(entity);
        let (cell, at, name) = entity
            .get_components::<(&CellCoord, &Transform, &Name)>()
            .expect("every entity has them");
        let axis =
            |a: i64, b: i64, x: f32, y: f32| (a - b) as f64 * edge + f64::from(x) - f64::from(y);
        let x = axis(cell.x, center.cell.x, at.translation.x, center.offset.x);
        let y = axis(cell.y, center.cell.y, at.translation.y, center.offset.y);
        let z = axis(cell.z, center.cell.z, at.translation.z, center.offset.z);
        if x * x + y * y + z * z <= radius * radius {
            out.push(name.0);
        }
    }
}
