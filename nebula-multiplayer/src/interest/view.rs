//! The view: what of a set is replicated when the set is larger than `max_visible`.

use std::collections::BTreeMap;

use nebula_math::U384;

use super::client::Client;
use super::diff;
use super::entities::Entities;
use super::{ExitReason, InterestTransitions, Rule};
use crate::NetworkId;

/// Where a member stands: own before always before near, then by distance to the nearest area's
/// centre, parents before those that follow them, then by id. An entity without a position, and every
/// entity while the client has no area, counts as being at distance 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    rule: u8,
    distance_squared: U384,
    depth: u8,
    id: NetworkId,
}

/// A view that differs, or just differed, from its set.
#[derive(Debug)]
pub(super) struct Capped {
    /// The members, sorted by id; meaningless when `active` is not set.
    members: Vec<NetworkId>,
    active: bool,
    entered: Vec<NetworkId>,
    left: Vec<(NetworkId, ExitReason)>,
}

impl Capped {
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    pub(super) fn has_changed(&self) -> bool {
        !self.entered.is_empty() || !self.left.is_empty()
    }

    pub(super) fn settle(&mut self) {
        self.entered.clear();
        self.left.clear();
    }
}

/// What is replicated to a client: the first [`ClientFacts::max_visible`](super::ClientFacts)
/// members of its set by (rule, distance, id), and what changed about that in the last update.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::{Area, ClientFacts, ExitReason, Facts, Interest};
/// use nebula_multiplayer::{ClientId, NetworkId};
///
/// let (client, [a, b]) = (ClientId::new(1), [1, 2].map(|index| NetworkId::new(index, 0)));
/// let mut interest = Interest::new();
/// interest.add_client(client, ClientFacts { max_visible: 1, ..ClientFacts::default() });
/// interest.set_areas(client, &[Area::new(WorldPosition::ORIGIN, 100)]);
/// interest.insert(a, Facts::at(WorldPosition::new(-50, 0, 0)));
/// interest.insert(b, Facts::at(WorldPosition::new(0, 60, 0)));
/// interest.update();
/// assert_eq!(interest.set(client).unwrap().len(), 2, "the set is never capped");
/// assert_eq!(interest.view(client).unwrap().members(), [a], "the nearest comes first");
///
/// interest.move_batch(&[(b, WorldPosition::new(0, 40, 0))]);
/// interest.update();
/// let view = interest.view(client).unwrap();
/// assert_eq!((view.entered(), view.exited()), (&[b][..], &[(a, ExitReason::Capacity)][..]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    members: &'a [NetworkId],
    entered: &'a [NetworkId],
    exited: &'a [(NetworkId, ExitReason)],
    capped: bool,
}

impl<'a> View<'a> {
    pub(super) fn of(client: &'a Client) -> Self {
        match &client.capped {
            Some(capped) => View {
                members: if capped.active {
                    &capped.members
                } else {
                    client.set.members()
                },
                entered: &capped.entered,
                exited: &capped.left,
                capped: capped.active,
            },
            None => View {
                members: client.set.members(),
                entered: &client.transitions.entered,
                exited: &client.left,
                capped: false,
            },
        }
    }

    /// Returns the members, in an order that is a function of what happened before.
    #[must_use]
    pub const fn members(&self) -> &'a [NetworkId] {
        self.members
    }

    /// Returns who entered in the last update, sorted by id.
    #[must_use]
    pub const fn entered(&self) -> &'a [NetworkId] {
        self.entered
    }

    /// Returns who left in the last update and why, sorted by id.
    #[must_use]
    pub const fn exited(&self) -> &'a [(NetworkId, ExitReason)] {
        self.exited
    }

    /// Returns whether the set has more members than the view takes.
    #[must_use]
    pub const fn is_capped(&self) -> bool {
        self.capped
    }

    /// Returns whether the entity is replicated. A capped view is searched by halves, a whole set is
    /// read one by one.
    #[must_use]
    pub fn contains(&self, id: NetworkId) -> bool {
        if self.capped {
            self.members.binary_search(&id).is_ok()
        } else {
            self.members.contains(&id)
        }
    }
}

impl Client {
    /// Brings the view up to date with the set.
    pub(super) fn examine_view(&mut self, world: &Entities) {
        let active = self.set.len() > self.facts.max_visible;
        if !active && self.capped.is_none() {
            return;
        }
        let before = self.capped.take();
        let members = if active {
            self.first_members(world)
        } else {
            Vec::new()
        };
        let was = match &before {
            Some(capped) if capped.active => &capped.members,
            _ => &self.set.previous,
        };
        let is = if active { &members } else { self.set.members() };
        let mut changes = InterestTransitions::default();
        diff::with_marks(|marks| diff::compare(was, is, marks, &mut changes));
        diff::sort(&mut changes.entered);
        diff::sort(&mut changes.exited);
        let left = changes.exited.iter().map(|id| {
            // Whoever did not leave the set as well had to make room.
            let at = self.left.binary_search_by_key(id, |(left, _)| *left);
            at.map_or((*id, ExitReason::Capacity), |at| self.left[at])
        });
        let left = left.collect();
        self.capped = Some(Capped {
            members,
            active,
            entered: changes.entered,
            left,
        });
    }

    /// Returns the members that come first, sorted by id.
    fn first_members(&self, world: &Entities) -> Vec<NetworkId> {
        let mut ranks = self.ranks(world);
        let room = self.facts.max_visible;
        if room < ranks.len() {
            ranks.select_nth_unstable(room);
            ranks.truncate(room);
        }
        let mut members: Vec<_> = ranks.into_iter().map(|rank| rank.id).collect();
        members.sort_unstable();
        members
    }

    /// Returns the place of a member in the order of the view, counted from 0.
    pub(super) fn rank_of(&self, world: &Entities, id: NetworkId) -> Option<usize> {
        let ranks = self.ranks(world);
        let own = ranks.iter().find(|rank| rank.id == id)?;
        Some(ranks.iter().filter(|rank| *rank < own).count())
    }

    /// Returns where each member stands, in the order of the set.
    fn ranks(&self, world: &Entities) -> Vec<Rank> {
        let mut ranks = Vec::with_capacity(self.set.len());
        // Parents stand before their followers in the set.
        let mut parents: BTreeMap<NetworkId, Rank> = BTreeMap::new();
        for id in self.set.iter() {
            let rank = self.rank(world, id, &parents);
            if world.slot(id).is_some_and(|slot| slot.is_parent) {
                parents.insert(id, rank);
            }
            ranks.push(rank);
        }
        ranks
    }

    fn rank(&self, world: &Entities, id: NetworkId, parents: &BTreeMap<NetworkId, Rank>) -> Rank {
        let nowhere = Rank {
            rule: 2,
            distance_squared: U384::ZERO,
            depth: 0,
            id,
        };
        // Only when something was removed since the last update.
        let Some(slot) = world.slot(id) else {
            return nowhere;
        };
        let extra = world.extra(slot);
        let own = extra.owner == Some(self.id);
        if let Some(parent) = extra.follows
            && !own
            && slot.rule == Rule::Near
        {
            return parents.get(&parent).map_or(nowhere, |rank| Rank {
                depth: rank.depth.saturating_add(1),
                id,
                ..*rank
            });
        }
        let distance_squared = world.position(id, slot).and_then(|at| {
            let distances = self
                .areas
                .iter()
                .map(|area| area.center.distance_squared(&at));
            distances.min()
        });
        Rank {
            rule: match slot.rule {
                _ if own => 0,
                Rule::Always => 1,
                _ => 2,
            },
            distance_squared: distance_squared.unwrap_or(U384::ZERO),
            depth: 0,
            id,
        }
    }
}
