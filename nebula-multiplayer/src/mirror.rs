//! The mirror: what a client knows, and how it gets into the client's own world.
//!
//! Reading checks a body and stages it, without a world; applying brings the world up to date. Any
//! bytes are answered with a staged change or an error, within bounded memory.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod apply;
mod fragment;
mod interpolation;
mod leave;
mod seen;
mod stage;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;

use crate::Tick;
use crate::replication::record::MAX_SLOTS;
use crate::replication::{DespawnReason, Kinds, Records};
use crate::wire::DecodeError;
pub use interpolation::InterpolationBuffer;
use seen::{Phase, Seen};

/// Marks an entity of a client's world that mirrors one of the server's.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable)]
pub struct Mirrored {
    slot: u32,
}

impl Mirrored {
    /// Returns the client's id for the entity, reused after it left.
    #[must_use]
    pub const fn slot(&self) -> u32 {
        self.slot
    }
}

/// What applying did to the client's world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MirrorEvent {
    /// An entity appeared, with all its components.
    Spawned(Entity),
    /// An entity disappeared; its id is valid no more.
    Despawned {
        /// What it was.
        entity: Entity,
        /// Why.
        reason: DespawnReason,
    },
    /// This is your entity; `None`: you have none any more.
    YourEntity(Option<Entity>),
}

/// What a mirror may use.
///
/// By default any honest server is within it: a server names 65,536 slots at most, those on their way
/// out included. So a hostile one can make a client hold `bytes`, and for each slot 3 KiB and
/// 100 bytes for each kind of component, besides what the game's own world takes.
///
/// ```
/// use nebula_multiplayer::mirror::MirrorLimits;
///
/// assert_eq!(MirrorLimits::default().entities, 65_536);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorLimits {
    /// Bytes of encoded components, for all entities together; a server that exceeds it is dropped.
    pub bytes: usize,
    /// Entities, those still on their way in or out included; a server that exceeds it is dropped.
    pub entities: usize,
    /// Entities that left and are remembered, in case they return.
    pub kept: usize,
}

/// Slots that a server may name.
const SLOTS: usize = 1 << 16;
const _: () = assert!(MAX_SLOTS == 1 << 16, "the two agree");

impl Default for MirrorLimits {
    fn default() -> Self {
        Self {
            bytes: 32 << 20,
            entities: SLOTS,
            kept: 1_024,
        }
    }
}

/// What a client knows of the server's world.
#[derive(Debug)]
pub(crate) struct Mirror {
    kinds: Kinds,
    limits: MirrorLimits,
    /// Boxed, so that a huge slot number costs little.
    slots: Vec<Option<Box<Seen>>>,
    /// Slots with something to apply.
    staged: BTreeSet<u32>,
    /// Entities to despawn.
    departed: Vec<(Entity, DespawnReason)>,
    /// Slots whose state is remembered, oldest first, with the tick of their leave, and some that
    /// returned.
    kept: VecDeque<(u32, Tick)>,
    /// How many are remembered.
    remembered: usize,
    /// Slots that must be sent in full, with the newest tick that showed it.
    needs_full: BTreeMap<u32, Tick>,
    own: Option<u32>,
    own_tick: Option<Tick>,
    /// The own entity that was last announced.
    announced: Option<Entity>,
    hash: u64,
    bytes: usize,
    alive: usize,
    newest: Option<Tick>,
}

impl Mirror {
    /// Returns a mirror that knows nothing.
    pub(crate) fn new(kinds: Kinds, limits: MirrorLimits) -> Self {
        Self {
            kinds,
            limits,
            slots: Vec::new(),
            staged: BTreeSet::new(),
            departed: Vec::new(),
            kept: VecDeque::new(),
            remembered: 0,
            needs_full: BTreeMap::new(),
            own: None,
            own_tick: None,
            announced: None,
            hash: 0,
            bytes: 0,
            alive: 0,
            newest: None,
        }
    }

    /// Checks a body of a packet of `tick` and stages what it says.
    ///
    /// # Errors
    /// When no honest server sends such bytes; the connection should end.
    pub(crate) fn read(&mut self, tick: Tick, body: &[u8]) -> Result<(), DecodeError> {
        let kinds = self.kinds.clone();
        // The whole body must be well formed before any of it counts.
        for record in Records::new(&kinds, body)? {
            record?;
        }
        let records = Records::new(&kinds, body)?;
        let age = u32::from(records.baseline_age());
        let baseline = Tick::new(tick.get().wrapping_sub(age));
        for record in records {
            self.stage(tick, baseline, record?)?;
        }
        if !self.newest.is_some_and(|newest| newest.is_newer_than(tick)) {
            self.newest = Some(tick);
        }
        Ok(())
    }

    /// Forgets everything: the server starts anew. What was shown is despawned by the next
    /// application.
    pub(crate) fn start_over(&mut self) {
        let mut departed = core::mem::take(&mut self.departed);
        let shown = self.slots.iter().flatten().filter_map(|seen| seen.entity);
        departed.extend(shown.map(|entity| (entity, DespawnReason::Left)));
        *self = Self {
            departed,
            announced: self.announced,
            ..Self::new(self.kinds.clone(), self.limits)
        };
    }

    /// Returns the hash of what was delivered, for the server to compare.
    pub(crate) fn view_hash(&self) -> u64 {
        self.hash
    }

    /// Returns slots whose full state is needed, because the server builds on state that is not here;
    /// ask until they are gone from here.
    pub(crate) fn needs_full(&self) -> impl Iterator<Item = u32> + '_ {
        self.needs_full.keys().copied()
    }

    /// Returns the entity of a slot, once it was applied.
    pub(crate) fn entity_of(&self, slot: u32) -> Option<Entity> {
        let seen = self.seen(slot)?;
        seen.entity.filter(|_| seen.phase == Phase::Live)
    }

    /// Returns the client's own entity, once it was applied.
    pub(crate) fn own_entity(&self) -> Option<Entity> {
        self.entity_of(self.own?)
    }

    /// Returns how many entities are known, those that are still arriving included.
    pub(crate) fn len(&self) -> usize {
        self.alive
    }

    /// Returns how many bytes of components are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub(crate) fn versions(&self, slot: u32) -> Vec<(usize, Tick)> {
        let Some(seen) = self.seen(slot) else {
            return Vec::new();
        };
        let kinds = crate::replication::record::bits(seen.counted);
        kinds
            .filter_map(|kind| Some((kind, *seen.versions.get(kind)?)))
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn describe(&self, slot: u32) -> String {
        format!("{:?} {:?}", self.needs_full, self.seen(slot))
    }

    fn seen(&self, slot: u32) -> Option<&Seen> {
        self.slots.get(usize::try_from(slot).ok()?)?.as_deref()
    }

    fn seen_mut(&mut self, slot: u32) -> Option<&mut Seen> {
        self.slots
            .get_mut(usize::try_from(slot).ok()?)?
            .as_deref_mut()
    }
}
