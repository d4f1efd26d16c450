//! The areas of the clients, read from the entities that see for them.

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::{MetersError, WorldPosition};

use super::{InterestIssue, InterestLength, SpatialInterestSystem};
use crate::ClientId;
use crate::interest::{Area, Interest, InterestArea, InterestConfig, InterestMargin, Watches};

/// The entities that see for one client.
#[derive(Clone, Debug, Default)]
pub(super) struct Eyes {
    pub(super) player: Option<Entity>,
    /// Entities that watch for it, sorted.
    pub(super) watchers: Vec<Entity>,
    /// The client's radius, if it is not the server's.
    pub(super) radius_mm: Option<u128>,
    /// What was read from each, in the order of the areas.
    centers: Vec<Center>,
    areas: Vec<Area>,
}

impl Eyes {
    /// Forgets entities of another world.
    pub(super) fn forget(&mut self) {
        self.watchers.clear();
        self.centers.clear();
    }
}

/// What one entity said last.
#[derive(Clone, Copy, Debug)]
struct Center {
    entity: Entity,
    radius: Length,
    margin: Length,
}

/// The last valid value of a component, and the last invalid one that was reported.
#[derive(Clone, Copy, Debug, Default)]
struct Length {
    valid_mm: Option<u128>,
    reported: Option<u64>,
}

impl Length {
    /// Takes a value and returns the error if it is invalid and new.
    fn read(&mut self, value: Option<(f64, Result<u128, MetersError>)>) -> Option<MetersError> {
        match value {
            None => *self = Self::default(),
            Some((_, Ok(mm))) => {
                *self = Self {
                    valid_mm: Some(mm),
                    reported: None,
                };
            }
            Some((value, Err(error))) => {
                let bits = Some(value.to_bits());
                if self.reported != bits {
                    self.reported = bits;
                    return Some(error);
                }
            }
        }
        None
    }
}

impl SpatialInterestSystem {
    /// Reads the areas of every client.
    pub(super) fn apply_areas(&mut self, world: &World, interest: &mut Interest) {
        let mut clients = core::mem::take(&mut self.clients);
        for (client, eyes) in &mut clients {
            self.read_areas(world, *client, eyes);
            interest.set_areas(*client, &eyes.areas);
        }
        self.clients = clients;
    }

    fn read_areas(&mut self, world: &World, client: ClientId, eyes: &mut Eyes) {
        eyes.areas.clear();
        let mut before = core::mem::take(&mut eyes.centers);
        let player = eyes.player.filter(|player| !eyes.watchers.contains(player));
        for entity in player.into_iter().chain(eyes.watchers.iter().copied()) {
            // The dead see nothing.
            let Some(&center) = world.get::<WorldPosition>(entity) else {
                continue;
            };
            let known = before.iter().position(|center| center.entity == entity);
            let mut seen = known.map_or_else(
                || Center {
                    entity,
                    radius: Length::default(),
                    margin: Length::default(),
                },
                |at| before.swap_remove(at),
            );
            let default_mm = eyes.radius_mm.unwrap_or(self.radius_mm);
            self.read_lengths(world, client, &mut seen, default_mm);
            let radius_mm = seen.radius.valid_mm.unwrap_or(default_mm);
            let margin_mm = seen.margin.valid_mm;
            eyes.areas.push(Area {
                center,
                radius_mm,
                margin_mm: margin_mm.unwrap_or_else(|| self.config.margin_mm(radius_mm)),
            });
            eyes.centers.push(seen);
        }
    }

    fn read_lengths(
        &mut self,
        world: &World,
        client: ClientId,
        seen: &mut Center,
        default_mm: u128,
    ) {
        let area = world.get::<InterestArea>(seen.entity);
        let margin = world.get::<InterestMargin>(seen.entity);
        let bad_radius = seen
            .radius
            .read(area.map(|area| (area.radius, area.radius_mm())));
        let bad_margin = seen.margin.read(margin.map(|m| (m.margin, m.margin_mm())));
        let radius_mm = seen.radius.valid_mm.unwrap_or(default_mm);
        let margin_mm = seen.margin.valid_mm;
        let lengths = [
            (InterestLength::Radius, bad_radius, radius_mm),
            (
                InterestLength::Margin,
                bad_margin,
                margin_mm.unwrap_or_else(|| InterestConfig::margin_mm(&self.config, radius_mm)),
            ),
        ];
        for (length, error, kept_mm) in lengths {
            if let Some(error) = error {
                self.report(InterestIssue {
                    client: Some(client),
                    entity: seen.entity,
                    length,
                    error,
                    kept_mm,
                });
            }
        }
    }

    /// Notes whom an entity watches for, if anybody.
    pub(super) fn apply_watch(&mut self, world: &World, entity: Entity) {
        let now = world.get::<Watches>(entity).map(|watches| watches.0);
        let before = self.watching.get(&entity).copied();
        if now == before {
            return;
        }
        match now {
            Some(client) => self.watching.insert(entity, client),
            None => self.watching.remove(&entity),
        };
        for client in before.into_iter().chain(now) {
            let watchers = self.watchers_of(client);
            if let Some(eyes) = self.clients.get_mut(&client) {
                eyes.watchers = watchers;
            }
        }
    }

    /// Returns the entities that watch for a client, sorted.
    pub(super) fn watchers_of(&self, client: ClientId) -> Vec<Entity> {
        let watching = self.watching.iter().filter(|(_, other)| **other == client);
        watching.map(|(entity, _)| *entity).collect()
    }
}
