//! Who is near whom: per client the set of entities it is interested in, exactly.
//!
//! An entity is in a client's set when it is not `never`, its layers match, and it is `always`, or
//! the client's own, or some area `a` of the client has `d <= r_a + reach`, or it was in the set and
//! `d <= r_a + reach + margin_a`. Distances are exact integers and boundaries belong to the areas.

mod area;
mod components;
mod diff;
mod facts;
mod set;

use std::collections::BTreeMap;

pub use area::{InterestArea, InterestMargin, entities_in_interest_area, within_interest};
pub use components::{FollowsParent, Layers, OwnedBy, Reach, Relevance, Watches};
pub use facts::{Area, ClientFacts, DEFAULT_MAX_VISIBLE, Facts, Rule};
use nebula_math::WorldPosition;
pub use set::{ClientInterestSet, InterestTransitions};

use crate::{ClientId, NetworkId};

/// How long a chain of followers may be.
pub const MAX_FOLLOW_DEPTH: usize = 16;

/// Why an entity left a client's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ExitReason {
    /// The entity is gone from the world.
    Destroyed,
    /// The entity is hidden from everybody.
    Hidden,
    /// The layers no longer match.
    Layers,
    /// It is out of every area and its margin.
    Distance,
    /// The client has no area any more.
    NoArea,
    /// The entity has no position any more.
    NoPosition,
    /// The parent that it follows left.
    Parent,
    /// It is still in the set, but others come first.
    Capacity,
}

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// How many clients were looked at.
    pub examined: usize,
    /// How many clients' sets or views changed.
    pub changed: usize,
    /// How many entities entered sets, over all clients.
    pub entered: usize,
    /// How many entities left sets, over all clients.
    pub exited: usize,
}

/// What is replicated to a client: the first [`ClientFacts::max_visible`] members of its set.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    members: &'a [NetworkId],
    entered: &'a [NetworkId],
    exited: &'a [(NetworkId, ExitReason)],
}

impl<'a> View<'a> {
    /// Returns the members, in no particular but always the same order.
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
}

/// Every client's set and view, kept up to date from what it is told.
#[derive(Debug, Default)]
pub struct Interest {
    entities: BTreeMap<NetworkId, Facts>,
    clients: BTreeMap<ClientId, Client>,
}

#[derive(Debug)]
struct Client {
    facts: ClientFacts,
    areas: Vec<Area>,
    set: ClientInterestSet,
    transitions: InterestTransitions,
    left: Vec<(NetworkId, ExitReason)>,
}

impl Interest {
    /// Makes one without entities and clients.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores an entity, or replaces what is known of it. An older generation of the same index leaves.
    pub fn insert(&mut self, id: NetworkId, facts: Facts) {
        self.entities.insert(id, facts);
    }

    /// Replaces what is known of an entity, and returns whether it is stored.
    pub fn set_facts(&mut self, id: NetworkId, facts: Facts) -> bool {
        self.entities.get_mut(&id).map(|old| *old = facts).is_some()
    }

    /// Returns what is known of an entity.
    #[must_use]
    pub fn facts(&self, id: NetworkId) -> Option<Facts> {
        self.entities.get(&id).copied()
    }

    /// Moves many entities; the last entry of an id counts. Returns how many ids are unknown.
    pub fn move_batch(&mut self, moves: &[(NetworkId, WorldPosition)]) -> usize {
        let mut unknown = 0;
        for (id, to) in moves {
            match self.entities.get_mut(id) {
                Some(facts) => facts.position = Some(*to),
                None => unknown += 1,
            }
        }
        unknown
    }

    /// Removes an entity, and returns whether it was stored.
    pub fn remove(&mut self, id: NetworkId) -> bool {
        self.entities.remove(&id).is_some()
    }

    /// Adds a client without areas, or replaces what is known of it; returns whether it is new.
    pub fn add_client(&mut self, id: ClientId, facts: ClientFacts) -> bool {
        if let Some(client) = self.clients.get_mut(&id) {
            client.facts = facts;
            return false;
        }
        self.clients.insert(
            id,
            Client {
                facts,
                areas: Vec::new(),
                set: ClientInterestSet::new(id),
                transitions: InterestTransitions::default(),
                left: Vec::new(),
            },
        );
        true
    }

    /// Replaces the areas of a client, and returns whether it is known.
    pub fn set_areas(&mut self, id: ClientId, areas: &[Area]) -> bool {
        let Some(client) = self.clients.get_mut(&id) else {
            return false;
        };
        client.areas.clear();
        client.areas.extend_from_slice(areas);
        true
    }

    /// Removes a client and its set, and returns whether it was known.
    pub fn remove_client(&mut self, id: ClientId) -> bool {
        self.clients.remove(&id).is_some()
    }

    /// Brings every set up to date.
    pub fn update(&mut self) -> UpdateReport {
        let mut report = UpdateReport::default();
        for (&id, client) in &mut self.clients {
            let near = |facts: &Facts| {
                facts.position.is_some_and(|at| {
                    client.areas.iter().any(|area| {
                        let radius = area.radius_mm.saturating_add(facts.reach_mm);
                        at.is_within(&area.center, i128::try_from(radius).unwrap_or(i128::MAX))
                    })
                })
            };
            let members: Vec<_> = self
                .entities
                .iter()
                .filter(|(_, facts)| {
                    facts.rule != Rule::Never
                        && facts.layers.intersects(client.facts.layers)
                        && (facts.rule == Rule::Always || facts.owner == Some(id) || near(facts))
                })
                .map(|(id, _)| *id)
                .collect();
            client.set.rotate(members);
            client.transitions = client.set.compute_transitions();
            client.left.clear();
            client
                .left
                .extend(client.transitions.exited.iter().map(|id| {
                    let stored = self.entities.contains_key(id);
                    (
                        *id,
                        if stored {
                            ExitReason::Distance
                        } else {
                            ExitReason::Destroyed
                        },
                    )
                }));
            report.examined += 1;
            report.changed += usize::from(!client.transitions.is_empty());
            report.entered += client.transitions.entered.len();
            report.exited += client.transitions.exited.len();
        }
        report
    }

    /// Returns the clients whose set or view changed in the last update, in the order of their ids.
    pub fn changed(&self) -> impl Iterator<Item = ClientId> + '_ {
        let changed =
            |(id, client): (&ClientId, &Client)| (!client.transitions.is_empty()).then_some(*id);
        self.clients.iter().filter_map(changed)
    }

    /// Returns a client's exact set.
    #[must_use]
    pub fn set(&self, id: ClientId) -> Option<&ClientInterestSet> {
        self.clients.get(&id).map(|client| &client.set)
    }

    /// Returns what changed in a client's set in the last update.
    #[must_use]
    pub fn transitions(&self, id: ClientId) -> Option<&InterestTransitions> {
        self.clients.get(&id).map(|client| &client.transitions)
    }

    /// Returns what is replicated to a client, and what changed about that in the last update.
    #[must_use]
    pub fn view(&self, id: ClientId) -> Option<View<'_>> {
        self.clients.get(&id).map(|client| View {
            members: client.set.members(),
            entered: &client.transitions.entered,
            exited: &client.left,
        })
    }
}
