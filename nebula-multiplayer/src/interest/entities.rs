//! What is known of the entities, and the indexes that find those which are near.

use core::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use nebula_coords::SpatialIndex;
use nebula_math::WorldPosition;

use super::{Facts, Layers, Rule, limit};
use crate::{ClientId, NetworkId};

const PAGE: usize = 1_024;
const NO_GROUP: u8 = u8::MAX;
const NO_EXTRA: u32 = u32::MAX;
/// Nobody knows how many sets hold it, so it counts as seen.
const UNCOUNTED: u32 = u32::MAX;

/// What every entity has, in 20 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    generation: u32,
    pub(super) layers: Layers,
    /// What few entities have: an index into `extras`.
    extra: u32,
    /// How many sets hold it. While that is none, nobody need hear that it left its place.
    seen: u32,
    /// The index that holds it.
    group: u8,
    pub(super) rule: Rule,
    stored: bool,
    /// Whether others follow it, or followed a former generation.
    pub(super) is_parent: bool,
}

const VACANT: Slot = Slot {
    generation: 0,
    layers: Layers::NONE,
    extra: NO_EXTRA,
    seen: 0,
    group: NO_GROUP,
    rule: Rule::Never,
    stored: false,
    is_parent: false,
};

/// What few entities have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extra {
    pub(super) reach_mm: u128,
    pub(super) owner: Option<ClientId>,
    pub(super) follows: Option<NetworkId>,
    /// Where it is, if no index holds it.
    position: Option<WorldPosition>,
}

/// The entities whose reach is of one size class, and whose layers are the usual or others.
///
/// A query asks each group with the largest reach of its class and then filters exactly, so that one
/// planet does not make every query wide.
#[derive(Debug)]
pub(super) struct Group {
    class: u32,
    /// All of them are on the default layer alone.
    pub(super) plain: bool,
    pub(super) max_reach_mm: u128,
    pub(super) index: SpatialIndex<NetworkId>,
}

/// Returns the size class of a reach: 0 for none, then one class for every factor of 4.
fn class_of(reach_mm: u128) -> u32 {
    (u128::BITS - reach_mm.leading_zeros()).div_ceil(2)
}

/// All entities. Clients are looked at through a shared reference, in parallel.
#[derive(Debug, Default)]
pub(super) struct Entities {
    pages: Vec<Option<Box<[Slot; PAGE]>>>,
    extras: Vec<Extra>,
    free_extras: Vec<u32>,
    pub(super) groups: Vec<Group>,
    pub(super) always: BTreeSet<NetworkId>,
    pub(super) owned: BTreeMap<ClientId, BTreeSet<NetworkId>>,
    pub(super) children: BTreeMap<NetworkId, BTreeSet<NetworkId>>,
    pub(super) len: usize,
}

impl Slot {
    /// Returns how many sets hold the entity.
    #[inline]
    pub(super) fn seen(&self) -> u32 {
        self.seen
    }

    /// Returns whether a set may hold the entity.
    #[inline]
    pub(super) fn is_seen(&self) -> bool {
        self.seen > 0
    }
}

impl Entities {
    /// Returns what is stored under an id.
    #[inline]
    pub(super) fn slot(&self, id: NetworkId) -> Option<&Slot> {
        let page = self.pages.get(id.index() as usize / PAGE)?.as_ref()?;
        let slot = &page[id.index() as usize % PAGE];
        (slot.stored && slot.generation == id.generation()).then_some(slot)
    }

    /// Returns the id that an index is in use by.
    pub(super) fn resident(&self, index: u32) -> Option<NetworkId> {
        let page = self.pages.get(index as usize / PAGE)?.as_ref()?;
        let slot = &page[index as usize % PAGE];
        slot.stored.then(|| NetworkId::new(index, slot.generation))
    }

    /// Returns every stored id, in the order of the indexes.
    pub(super) fn ids(&self) -> impl Iterator<Item = NetworkId> + '_ {
        let indexes = (0..).zip(&self.pages).filter(|(_, page)| page.is_some());
        let indexes =
            indexes.flat_map(|(page, _): (u32, _)| (0..1_024).map(move |i| page * 1_024 + i));
        indexes.filter_map(|index| self.resident(index))
    }

    #[inline]
    pub(super) fn extra(&self, slot: &Slot) -> Extra {
        match self.extras.get(slot.extra as usize) {
            Some(extra) => *extra,
            None => Extra::default(),
        }
    }

    #[inline]
    pub(super) fn group(&self, slot: &Slot) -> Option<usize> {
        (slot.group != NO_GROUP).then_some(usize::from(slot.group))
    }

    /// Returns where an entity is.
    #[inline]
    pub(super) fn position(&self, id: NetworkId, slot: &Slot) -> Option<WorldPosition> {
        match self.group(slot) {
            Some(group) => self.groups[group].index.get(id),
            None => self.extra(slot).position,
        }
    }

    /// Notes that a set holds an entity from now on, or no longer.
    pub(super) fn count_seen(&mut self, id: NetworkId, enters: bool) {
        let slot = self.entry(id.index());
        if slot.generation == id.generation() && slot.seen != UNCOUNTED {
            slot.seen = if enters {
                slot.seen + 1
            } else {
                slot.seen.saturating_sub(1)
            };
        }
    }

    /// Returns the reach of an entity that is relevant by nearness.
    #[inline]
    pub(super) fn near_reach(&self, slot: &Slot) -> Option<u128> {
        let group = &self.groups[self.group(slot)?];
        Some(if group.class == 0 {
            0
        } else {
            self.extra(slot).reach_mm
        })
    }

    /// Returns the position of an entity that is relevant by nearness, which is to say indexed.
    #[inline]
    pub(super) fn near_position(&self, id: NetworkId, slot: &Slot) -> Option<WorldPosition> {
        self.groups[self.group(slot)?].index.get(id)
    }

    /// Returns position and reach of an entity that is relevant by nearness.
    #[inline]
    pub(super) fn near_facts(&self, id: NetworkId, slot: &Slot) -> Option<(WorldPosition, u128)> {
        Some((self.near_position(id, slot)?, self.near_reach(slot)?))
    }

    pub(super) fn facts(&self, id: NetworkId) -> Option<Facts> {
        let slot = self.slot(id)?;
        let extra = self.extra(slot);
        Some(Facts {
            position: self.position(id, slot),
            reach_mm: extra.reach_mm,
            rule: slot.rule,
            layers: slot.layers,
            owner: extra.owner,
            follows: extra.follows,
        })
    }

    /// Stores an entity under an index that is free or its own.
    pub(super) fn put(&mut self, id: NetworkId, facts: &Facts) {
        let before = self.facts(id);
        let near = facts.rule == Rule::Near && facts.follows.is_none();
        let at = facts.position.filter(|_| near);
        let group = at.map_or(NO_GROUP, |_| self.group_for(facts));
        if let Some(before) = before {
            self.unlink(id, &before, group);
        }
        if let Some(at) = at {
            self.groups[usize::from(group)].index.insert(id, at);
        }
        let extra = self.keep_extra(
            id,
            Extra {
                reach_mm: facts.reach_mm,
                owner: facts.owner,
                follows: facts.follows,
                position: facts.position.filter(|_| at.is_none()),
            },
        );
        if facts.rule == Rule::Always {
            self.always.insert(id);
        }
        if let Some(owner) = facts.owner {
            self.owned.entry(owner).or_default().insert(id);
        }
        if let Some(parent) = facts.follows {
            self.children.entry(parent).or_default().insert(id);
            self.entry(parent.index()).is_parent = true;
        }
        self.len += usize::from(before.is_none());
        let slot = self.entry(id.index());
        let seen = match id.generation().cmp(&slot.generation) {
            Ordering::Equal => slot.seen,
            Ordering::Greater if slot.seen != UNCOUNTED => 0,
            // An id that comes back from the dead may still be in sets, and so may those that came
            // between.
            _ => UNCOUNTED,
        };
        *slot = Slot {
            generation: id.generation(),
            layers: facts.layers,
            extra,
            seen,
            group,
            rule: facts.rule,
            stored: true,
            is_parent: slot.is_parent,
        };
    }

    /// Forgets an entity, and returns whether it was stored.
    pub(super) fn take(&mut self, id: NetworkId) -> bool {
        let Some(facts) = self.facts(id) else {
            return false;
        };
        self.unlink(id, &facts, NO_GROUP);
        let extra = self.entry(id.index()).extra;
        if extra != NO_EXTRA {
            self.free_extras.push(extra);
        }
        let slot = self.entry(id.index());
        // Sets hold it until the next update.
        *slot = Slot {
            generation: slot.generation,
            seen: slot.seen,
            is_parent: slot.is_parent,
            ..VACANT
        };
        self.len -= 1;
        true
    }

    /// Writes the position of an entity that no index holds.
    pub(super) fn set_loose_position(&mut self, id: NetworkId, at: WorldPosition) {
        let slot = *self.entry(id.index());
        let extra = Extra {
            position: Some(at),
            ..self.extra(&slot)
        };
        let extra = self.keep_extra(id, extra);
        self.entry(id.index()).extra = extra;
    }

    /// Takes an entity out of every list but those it stays in; `group` is the index that keeps it.
    fn unlink(&mut self, id: NetworkId, facts: &Facts, group: u8) {
        let old = self.entry(id.index()).group;
        if old != NO_GROUP && old != group {
            self.groups[usize::from(old)].index.remove(id);
        }
        if facts.rule == Rule::Always {
            self.always.remove(&id);
        }
        if let Some(owner) = facts.owner
            && let Some(owned) = self.owned.get_mut(&owner)
        {
            owned.remove(&id);
            if owned.is_empty() {
                self.owned.remove(&owner);
            }
        }
        if let Some(parent) = facts.follows
            && let Some(children) = self.children.get_mut(&parent)
        {
            children.remove(&id);
            if children.is_empty() {
                self.children.remove(&parent);
            }
        }
    }

    fn group_for(&mut self, facts: &Facts) -> u8 {
        let class = class_of(facts.reach_mm);
        let plain = facts.layers == Layers::default();
        let found = self
            .groups
            .iter()
            .position(|group| (group.class, group.plain) == (class, plain));
        let at = found.unwrap_or_else(|| {
            let max_reach_mm = match 2 * class {
                bits @ 0..u128::BITS => (1 << bits) - 1,
                _ => u128::MAX,
            };
            self.groups.push(Group {
                class,
                plain,
                max_reach_mm,
                index: SpatialIndex::new(),
            });
            self.groups.len() - 1
        });
        u8::try_from(at).expect("there are 65 classes and 2 kinds of layers")
    }

    /// Keeps what few entities have; most have nothing.
    fn keep_extra(&mut self, id: NetworkId, extra: Extra) -> u32 {
        let old = match self.slot(id) {
            Some(slot) => slot.extra,
            None => NO_EXTRA,
        };
        if extra == Extra::default() {
            if old != NO_EXTRA {
                self.free_extras.push(old);
            }
            return NO_EXTRA;
        }
        let at = if old == NO_EXTRA {
            self.free_extras.pop().unwrap_or_else(|| {
                self.extras.push(Extra::default());
                u32::try_from(self.extras.len() - 1).expect("fewer than 2^32 entities")
            })
        } else {
            old
        };
        self.extras[at as usize] = extra;
        at
    }

    fn entry(&mut self, index: u32) -> &mut Slot {
        let page = index as usize / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new([VACANT; PAGE]));
        &mut page[index as usize % PAGE]
    }
}

/// Returns whether an entity at `at` is in an area, or with `margin` in its outer sphere.
#[inline]
pub(super) fn is_in(area: &super::Area, at: &WorldPosition, reach_mm: u128, margin: bool) -> bool {
    let margin_mm = if margin { area.margin_mm } else { 0 };
    limit::is_within(at, &area.center, [area.radius_mm, reach_mm, margin_mm])
}
