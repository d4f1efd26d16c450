//! `SpatialInterestSystem`: reads components of a world and tells the interest core.

mod centers;
mod facts;
mod watch;

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::change_detection::{ContiguousRef, Ref};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::query::{ArchetypeFilter, Or, With, Without};
use bevy_ecs::system::{Query, SystemState};
use bevy_ecs::world::{World, WorldId};
use nebula_math::{MetersError, WorldPosition};

use super::area::meters;
use super::{Interest, InterestArea, InterestConfig, InterestMargin, UpdateReport};
use crate::replication::{NetworkIds, Replicate, each_changed};
use crate::{ClientId, NetworkId};
use centers::Eyes;

/// Keeps an [`Interest`] up to date with a world.
///
/// Once a tick, after [`NetworkIds::maintain`], [`run`](Self::run) applies what changed and updates
/// the sets: ids that came and went, positions that were written, and the components of this module
/// that were inserted or removed. A tick in which nothing changed reads the areas of the clients and
/// no entity.
///
/// A client's areas lie around its player and around every entity that
/// [`Watches`](super::Watches) for it. Their radius is the entity's [`InterestArea`], else the
/// client's ([`set_area`](Self::set_area)), else the server's.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::ClientId;
/// use nebula_multiplayer::interest::{
///     Interest, InterestArea, InterestConfig, SpatialInterestSystem,
/// };
/// use nebula_multiplayer::replication::{NetworkIds, Replicate};
///
/// let client = ClientId::new(1);
/// let mut world = World::new();
/// let player = world.spawn((Replicate, WorldPosition::MIN, InterestArea::new(200.0)?)).id();
/// let at = WorldPosition::new(i128::MIN + 300_000, i128::MIN, i128::MIN);
/// let rock = world.spawn((Replicate, at)).id();
///
/// let mut interest = Interest::new();
/// let mut system = SpatialInterestSystem::new(InterestConfig::default())?;
/// system.add_client(&mut interest, client);
/// system.set_player(client, Some(player));
///
/// NetworkIds::maintain(&mut world);
/// system.run(&mut world, &mut interest);
/// let rock = world.resource::<NetworkIds>().of(rock).unwrap();
/// assert!(!interest.set(client).unwrap().contains(rock));
///
/// world.get_mut::<InterestArea>(player).unwrap().radius = 400.0;
/// system.run(&mut world, &mut interest);
/// assert!(interest.set(client).unwrap().contains(rock));
/// # Ok::<(), nebula_math::MetersError>(())
/// ```
pub struct SpatialInterestSystem {
    config: InterestConfig,
    /// The server's radius, which is valid.
    radius_mm: u128,
    clients: BTreeMap<ClientId, Eyes>,
    /// Entities that watch for a client.
    watching: BTreeMap<Entity, ClientId>,
    world: Option<(WorldId, SystemState<Values>)>,
    /// Whether areas may differ from those last read, whatever the world says.
    stale: bool,
    issues: Vec<InterestIssue>,
    moves: Vec<(NetworkId, WorldPosition)>,
    /// The changes of ids that were applied.
    ids_round: u64,
    /// Followers without a parent, whose position plays no part however they move.
    orphans: BTreeSet<NetworkId>,
}

type Rows<C, F> = Query<'static, 'static, (Entity, Ref<'static, C>), F>;

/// Everything that is found by change ticks: positions of replicated entities and of others (which may
/// watch for a client), radii and margins. Whoever is disabled is hidden, and sees on.
type Values = (
    Rows<WorldPosition, With<Replicate>>,
    Rows<WorldPosition, Without<Replicate>>,
    Rows<WorldPosition, With<Disabled>>,
    Rows<InterestArea, Any>,
    Rows<InterestMargin, Any>,
);

/// Also those that are disabled.
type Any = Or<(With<Disabled>, Without<Disabled>)>;

/// A length that did not take effect; see [`SpatialInterestSystem::issues`].
///
/// A radius or margin is reported once, until the value changes; a reach whenever it is read, which is
/// when a component of its entity changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterestIssue {
    /// Whose area it concerns, if it is one.
    pub client: Option<ClientId>,
    /// The entity that carries the component.
    pub entity: Entity,
    /// Which length it is.
    pub length: InterestLength,
    /// What is wrong with it; the error names the value.
    pub error: MetersError,
    /// What is in force instead, in millimetres.
    pub kept_mm: u128,
}

/// The lengths that components give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum InterestLength {
    /// [`InterestArea`].
    Radius,
    /// [`InterestMargin`](super::InterestMargin).
    Margin,
    /// [`Reach`](super::Reach).
    Reach,
}

impl core::fmt::Debug for SpatialInterestSystem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SpatialInterestSystem")
            .field("config", &self.config)
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}

impl SpatialInterestSystem {
    /// Makes a system with a server's defaults.
    ///
    /// # Errors
    /// When the default radius is NaN, infinite, negative or beyond the universe.
    pub fn new(config: InterestConfig) -> Result<Self, MetersError> {
        Ok(Self {
            config,
            radius_mm: config.radius_mm()?,
            clients: BTreeMap::new(),
            watching: BTreeMap::new(),
            world: None,
            stale: true,
            issues: Vec::new(),
            moves: Vec::new(),
            ids_round: 0,
            orphans: BTreeSet::new(),
        })
    }

    /// Returns the server's defaults.
    #[must_use]
    pub fn config(&self) -> &InterestConfig {
        &self.config
    }

    /// Replaces the server's radius and margin, from the next run on. `max_visible` counts for
    /// clients added later.
    ///
    /// # Errors
    /// When the radius is invalid; then nothing changes.
    pub fn set_config(&mut self, config: InterestConfig) -> Result<(), MetersError> {
        self.radius_mm = config.radius_mm()?;
        self.config = config;
        self.stale = true;
        Ok(())
    }

    /// Adds a client, without a player, and returns whether it is new.
    pub fn add_client(&mut self, interest: &mut Interest, client: ClientId) -> bool {
        self.stale = true;
        let mut eyes = Eyes::default();
        eyes.watchers = self.watchers_of(client);
        self.clients.entry(client).or_insert(eyes);
        interest.add_client(client, self.config.client_facts())
    }

    /// Removes a client and its set, and returns whether it was known.
    pub fn remove_client(&mut self, interest: &mut Interest, client: ClientId) -> bool {
        self.clients.remove(&client);
        interest.remove_client(client)
    }

    /// Says which entity a client's first area lies around, and returns whether the client is known.
    pub fn set_player(&mut self, client: ClientId, player: Option<Entity>) -> bool {
        self.stale = true;
        let eyes = self.clients.get_mut(&client);
        eyes.map(|eyes| eyes.player = player).is_some()
    }

    /// Overrides the server's radius for one client, or stops to, and returns whether the client is
    /// known.
    ///
    /// # Errors
    /// When the radius is invalid; then nothing changes.
    pub fn set_area(
        &mut self,
        client: ClientId,
        area: Option<InterestArea>,
    ) -> Result<bool, MetersError> {
        let radius_mm = area.map(|area| meters(area.radius)).transpose()?;
        self.stale = true;
        let eyes = self.clients.get_mut(&client);
        Ok(eyes.map(|eyes| eyes.radius_mm = radius_mm).is_some())
    }

    /// Applies what changed in the world and updates the sets.
    ///
    /// It serves one world; given another, it starts over with that.
    pub fn run(&mut self, world: &mut World, interest: &mut Interest) -> UpdateReport {
        self.collect(world, interest);
        interest.update()
    }

    /// Applies what changed in the world, and leaves the update to the caller.
    pub fn collect(&mut self, world: &mut World, interest: &mut Interest) {
        let id = world.id();
        let known = self.world.as_ref().is_some_and(|(known, _)| *known == id);
        if !known {
            watch::install(world);
            self.watching.clear();
            self.clients.values_mut().for_each(Eyes::forget);
            self.world = Some((id, SystemState::new(world)));
        }
        let mut queue = watch::take_queue(world);
        self.stale |= !known || !queue.entities.is_empty() || queue.overflowed;
        self.apply_ids(world, interest, &mut queue.entities);
        self.apply_queue(world, interest, &mut queue.entities);
        let missed = self.missed_ids(world, interest);
        if queue.overflowed || !known || missed {
            self.resync(world, interest);
        }
        watch::return_queue(world, queue);
        self.find_moves(world);
        // Nothing that areas are made of was written: there is no need to read them.
        if self.stale {
            self.apply_areas(world, interest);
            self.stale = false;
        }
        // After the areas: a client that moved is looked at anyway, and nobody asks it about others.
        interest.move_batch(&self.moves);
    }

    /// Returns the invalid lengths that were found since this was last asked.
    pub fn issues(&mut self) -> impl Iterator<Item = InterestIssue> + '_ {
        self.issues.drain(..)
    }

    fn find_moves(&mut self, world: &World) {
        self.moves.clear();
        let Some((_, state)) = &mut self.world else {
            return;
        };
        let Ok((rows, others, disabled, radii, margins)) = state.get(world) else {
            return;
        };
        let Some(ids) = world.get_resource::<NetworkIds>() else {
            return;
        };
        let scanned = each_changed(&rows, |entity, at| {
            if let Some(id) = ids.of(entity)
                && !self.orphans.contains(&id)
            {
                self.moves.push((id, *at));
            }
        });
        self.stale |= scanned > 0
            || may_differ(&others)
            || may_differ(&disabled)
            || may_differ(&radii)
            || may_differ(&margins);
    }

    /// Returns whether ids came or went that no list told of.
    fn missed_ids(&mut self, world: &World, interest: &Interest) -> bool {
        let ids = world.get_resource::<NetworkIds>();
        ids.is_some_and(|ids| !ids.is_next(&mut self.ids_round) || ids.len() != interest.len())
    }

    /// Notes an invalid length, and logs it, unless many wait to be looked at already: games that never
    /// look must not pay for it without end.
    fn report(&mut self, issue: InterestIssue) {
        if self.issues.len() >= MAX_ISSUES {
            return;
        }
        tracing::warn!(
            entity = ?issue.entity,
            length = ?issue.length,
            error = %issue.error,
            kept_mm = issue.kept_mm,
            "a length of interest is invalid and has no effect"
        );
        self.issues.push(issue);
    }
}

/// Returns whether a value may have been written since the query last ran; a table whose summary tick is
/// old costs one comparison.
fn may_differ<C: Component, F: ArchetypeFilter>(rows: &Query<(Entity, Ref<C>), F>) -> bool {
    rows.contiguous_iter().map_or(true, |mut tables| {
        tables.any(|(_, values)| {
            let (_, ticks) = ContiguousRef::split(values);
            ticks.summary_tick_is_changed() != Some(false)
        })
    })
}

/// How many issues are kept until somebody asks.
const MAX_ISSUES: usize = 1_024;
