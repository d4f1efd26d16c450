//! Who is near whom: per client the set of entities it is interested in, exactly, for the price of
//! what changed.
//!
//! The rule, in full:
//!
//! > An entity is in a client's set when it is not `never`, its layers match, and it is `always`, or
//! > the client's own, or some area `a` of the client has `d <= r_a + reach`, or it was in the set and
//! > `d <= r_a + reach + margin_a`.
//!
//! Distances are exact integers and boundaries belong to the areas. A follower is near whoever sees
//! its parent. The set is never capped; the [`View`], what is replicated of it, is.
//!
//! [`Interest`] is told what changes and knows no ECS; [`SpatialInterestSystem`] reads components and
//! tells it. [`ClientInterestSet`] and the functions [`within_interest`] and
//! [`entities_in_interest_area`] also stand alone.

mod area;
mod client;
mod components;
mod config;
mod diff;
mod entities;
mod events;
mod explain;
mod facts;
mod grid;
mod limit;
mod set;
mod system;
mod touch;
mod update;
mod view;

pub use area::{InterestArea, InterestMargin, entities_in_interest_area, within_interest};
pub use components::{FollowsParent, Layers, OwnedBy, Reach, Relevance, Watches};
pub use config::InterestConfig;
pub use events::{Change, ExitReason, InterestEvent, UpdateReport};
pub use explain::{EnterReason, Explanation, Nearness, Verdict};
pub use facts::{Area, ClientFacts, DEFAULT_MAX_VISIBLE, Facts, Rule};
use nebula_math::WorldPosition;
pub use set::{ClientInterestSet, InterestTransitions};
pub use system::{InterestIssue, InterestLength, SpatialInterestSystem};
pub use view::View;

use crate::{ClientId, NetworkId};
use client::Client;
use entities::{Entities, Slot};
use grid::Cells;
use touch::Clients;

/// How long a chain of followers may be; whoever hangs on a longer one is not seen by it.
pub const MAX_FOLLOW_DEPTH: usize = 16;

/// How many moves are looked up together.
const TOGETHER: usize = 32;

/// The facts of an entity, and where it is if a set holds it.
type Before = (Option<Slot>, Option<WorldPosition>);

/// Every client's set and view, kept up to date from what it is told.
///
/// Changes take effect with the next [`update`](Self::update). Entities are told apart by
/// [`NetworkId`]: another generation of an index is another entity, and storing it removes the older.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::{Area, ClientFacts, Facts, Interest};
/// use nebula_multiplayer::{ClientId, NetworkId};
///
/// let (client, rock) = (ClientId::new(1), NetworkId::new(0, 0));
/// let mut interest = Interest::new();
/// interest.add_client(client, ClientFacts::default());
/// interest.set_areas(client, &[Area::new(WorldPosition::new(-1, 0, 0), 500_000)]);
/// interest.insert(rock, Facts::at(WorldPosition::new(-500_001, 0, 0)));
/// interest.update();
/// assert_eq!(interest.transitions(client).unwrap().entered, [rock]);
///
/// interest.move_batch(&[(rock, WorldPosition::new(-500_002, 0, 0))]);
/// interest.update();
/// assert_eq!(interest.transitions(client).unwrap().exited, [rock]);
/// ```
#[derive(Debug, Default)]
pub struct Interest {
    entities: Entities,
    clients: Clients,
    /// Clients whose set or view changed in the last update, sorted.
    changed: Vec<ClientId>,
    /// Moves by index, between phases of a batch.
    moves: Vec<Vec<(NetworkId, WorldPosition)>>,
}

impl Interest {
    /// Makes one without entities and clients.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores an entity, or replaces what is known of it. Another generation of the same index leaves.
    pub fn insert(&mut self, id: NetworkId, facts: Facts) {
        if let Some(resident) = self.entities.resident(id.index()) {
            if resident != id {
                self.remove(resident);
            } else if self.entities.facts(id) == Some(facts) {
                return;
            } else {
                self.clients.touch_viewers(&self.entities, id);
            }
        }
        self.entities.put(id, &facts);
        self.clients.touch_viewers(&self.entities, id);
    }

    /// Replaces what is known of an entity, and returns whether it is stored.
    pub fn set_facts(&mut self, id: NetworkId, facts: Facts) -> bool {
        let stored = self.contains(id);
        if stored {
            self.insert(id, facts);
        }
        stored
    }

    /// Returns what is known of an entity.
    #[must_use]
    pub fn facts(&self, id: NetworkId) -> Option<Facts> {
        self.entities.facts(id)
    }

    /// Returns whether an entity is stored.
    #[must_use]
    pub fn contains(&self, id: NetworkId) -> bool {
        self.entities.slot(id).is_some()
    }

    /// Returns how many entities are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entities.len
    }

    /// Returns whether no entity is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how often the sets were brought up to date.
    pub(crate) fn rounds(&self) -> u64 {
        self.clients.round
    }

    /// Returns every stored id, in the order of the indexes.
    pub(crate) fn ids(&self) -> Vec<NetworkId> {
        self.entities.ids().collect()
    }

    /// Moves many entities; the last entry of an id counts. Returns how many entries name an entity
    /// that is not stored; they change nothing.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    /// use nebula_multiplayer::{NetworkId, interest::{Facts, Interest}};
    ///
    /// let (id, to) = (NetworkId::new(0, 0), WorldPosition::MIN);
    /// let mut interest = Interest::new();
    /// interest.insert(id, Facts::at(WorldPosition::ORIGIN));
    /// assert_eq!(interest.move_batch(&[(id, WorldPosition::MAX), (NetworkId::new(0, 1), to), (id, to)]), 1);
    /// assert_eq!(interest.facts(id), Some(Facts::at(to)));
    /// ```
    pub fn move_batch(&mut self, moves: &[(NetworkId, WorldPosition)]) -> usize {
        let (mut unknown, mut loose) = (0, false);
        for moves in moves.chunks(TOGETHER) {
            let before = self.before(moves);
            for ((id, to), (mut slot, from)) in moves.iter().zip(before) {
                if loose {
                    // What had no place may have been given one within this batch.
                    slot = self.entities.slot(*id).copied();
                }
                let Some(slot) = slot else {
                    unknown += 1;
                    continue;
                };
                let Some(reach_mm) = self.entities.near_reach(&slot) else {
                    self.move_loose(*id, *to);
                    loose = true;
                    continue;
                };
                if from != Some(*to) {
                    self.touch_ends(&slot, from, to, reach_mm);
                }
            }
        }
        match self.entities.groups.as_mut_slice() {
            [group] if !loose => {
                group.index.update_batch(moves);
            }
            _ => self.move_in_groups(moves),
        }
        unknown
    }

    /// Looks up what a few moves find: the facts of each entity and, if some set holds it, where it is.
    /// Whoever is in no set leaves none, so its old place, which is slow to find, matters not.
    ///
    /// One after the other they would wait for memory; together they wait once.
    fn before(&self, moves: &[(NetworkId, WorldPosition)]) -> [Before; TOGETHER] {
        let mut found = [(None, None); TOGETHER];
        for ((slot, _), (id, _)) in found.iter_mut().zip(moves) {
            *slot = self.entities.slot(*id).copied();
        }
        if !self.clients.all_wait() {
            for ((slot, from), (id, _)) in found.iter_mut().zip(moves) {
                if let Some(slot) = slot
                    && slot.is_seen()
                {
                    *from = self.entities.near_position(*id, slot);
                }
            }
        }
        found
    }

    /// Has those clients looked at that an entity may leave, and those that it may come to.
    fn touch_ends(
        &mut self,
        slot: &Slot,
        from: Option<WorldPosition>,
        to: &WorldPosition,
        reach_mm: u128,
    ) {
        if self.clients.all_wait() {
            return;
        }
        if let Some(from) = from {
            self.clients.touch_near(&from, reach_mm);
            if let Some(owner) = self.entities.extra(slot).owner {
                self.touch_if_capped(owner);
            }
        }
        self.clients.touch_near(to, reach_mm);
    }

    /// Hands each index the moves of its entities.
    fn move_in_groups(&mut self, moves: &[(NetworkId, WorldPosition)]) {
        self.moves.resize_with(self.entities.groups.len(), Vec::new);
        for (id, to) in moves {
            let slot = self.entities.slot(*id);
            if let Some(group) = slot.and_then(|slot| self.entities.group(slot)) {
                self.moves[group].push((*id, *to));
            }
        }
        for (group, moves) in self.entities.groups.iter_mut().zip(&mut self.moves) {
            group.index.update_batch(moves);
            moves.clear();
        }
    }

    /// Moves an entity that no index holds.
    fn move_loose(&mut self, id: NetworkId, to: WorldPosition) {
        let Some(facts) = self.entities.facts(id) else {
            return;
        };
        if facts.position == Some(to) {
            return;
        }
        if facts.rule == Rule::Near && facts.follows.is_none() {
            // It had no position until now, so from here on an index holds it.
            self.insert(
                id,
                Facts {
                    position: Some(to),
                    ..facts
                },
            );
            return;
        }
        self.entities.set_loose_position(id, to);
        match (facts.rule, facts.owner) {
            (Rule::Always, _) => self.clients.touch_capped(),
            (Rule::Near, Some(owner)) => self.touch_if_capped(owner),
            _ => {}
        }
    }

    fn touch_if_capped(&mut self, id: ClientId) {
        if let Some(client) = self.clients.get(id)
            && client.set.len() > client.facts.max_visible
        {
            self.clients.touch_id(id);
        }
    }

    /// Removes an entity, and returns whether it was stored.
    pub fn remove(&mut self, id: NetworkId) -> bool {
        self.clients.touch_viewers(&self.entities, id);
        self.entities.take(id)
    }

    /// Adds a client without areas, or replaces what is known of it; returns whether it is new.
    pub fn add_client(&mut self, id: ClientId, facts: ClientFacts) -> bool {
        let clients = &mut self.clients;
        if let Some(&slot) = clients.slots.get(&id) {
            if let Some(client) = &mut clients.all[slot as usize]
                && client.facts != facts
            {
                client.facts = facts;
                clients.touch(slot);
            }
            return false;
        }
        let slot = clients.free.pop().unwrap_or_else(|| {
            clients.all.push(None);
            clients.is_waiting.push(false);
            u32::try_from(clients.all.len() - 1).expect("fewer than 2^32 clients at a time")
        });
        clients.all[slot as usize] = Some(Box::new(Client::new(id, facts)));
        clients.slots.insert(id, slot);
        clients.touch(slot);
        true
    }

    /// Returns what is known of a client besides its areas.
    #[must_use]
    pub fn client_facts(&self, id: ClientId) -> Option<ClientFacts> {
        self.clients.get(id).map(|client| client.facts)
    }

    /// Replaces the areas of a client, and returns whether it is known.
    pub fn set_areas(&mut self, id: ClientId, areas: &[Area]) -> bool {
        let clients = &mut self.clients;
        let Some(&slot) = clients.slots.get(&id) else {
            return false;
        };
        let Some(client) = &mut clients.all[slot as usize] else {
            return false;
        };
        if client.areas == areas {
            return true;
        }
        client.areas.clear();
        client.areas.extend_from_slice(areas);
        // A client that moves a little stays in its cells.
        if !areas.iter().map(Cells::of).eq(client.cells.iter().copied()) {
            for cells in client.cells.drain(..) {
                clients.grid.remove(slot, &cells);
            }
            client.cells.extend(areas.iter().map(Cells::of));
            for cells in &client.cells {
                clients.grid.insert(slot, cells);
            }
        }
        clients.touch(slot);
        true
    }

    /// Returns the areas of a client.
    #[must_use]
    pub fn areas(&self, id: ClientId) -> Option<&[Area]> {
        self.clients.get(id).map(|client| client.areas.as_slice())
    }

    /// Removes a client and its set, and returns whether it was known. What it owns stays.
    pub fn remove_client(&mut self, id: ClientId) -> bool {
        let clients = &mut self.clients;
        let Some(slot) = clients.slots.remove(&id) else {
            return false;
        };
        if let Some(client) = clients.all[slot as usize].take() {
            for cells in &client.cells {
                clients.grid.remove(slot, cells);
            }
            for id in client.set.iter() {
                self.entities.count_seen(id, false);
            }
        }
        if clients.is_waiting[slot as usize] {
            clients.is_waiting[slot as usize] = false;
            clients.waiting.retain(|other| *other != slot);
        }
        clients.free.push(slot);
        self.changed.retain(|other| *other != id);
        true
    }

    /// Returns the clients, in the order of their ids.
    pub fn clients(&self) -> impl ExactSizeIterator<Item = ClientId> + '_ {
        self.clients.slots.keys().copied()
    }

    /// Returns the clients whose set or view changed in the last update, in the order of their ids.
    pub fn changed(&self) -> impl ExactSizeIterator<Item = ClientId> + '_ {
        self.changed.iter().copied()
    }

    /// Returns a client's exact set, as of the last update.
    #[must_use]
    pub fn set(&self, id: ClientId) -> Option<&ClientInterestSet> {
        self.clients.get(id).map(|client| &client.set)
    }

    /// Returns what changed in a client's set in the last update.
    #[must_use]
    pub fn transitions(&self, id: ClientId) -> Option<&InterestTransitions> {
        self.clients.get(id).map(|client| &client.transitions)
    }

    /// Returns what is replicated to a client, and what changed about that in the last update.
    #[must_use]
    pub fn view(&self, id: ClientId) -> Option<View<'_>> {
        self.clients.get(id).map(View::of)
    }

    /// Returns who entered and left sets in the last update and why: clients in the order of their
    /// ids, of each first who left, then who entered.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    /// use nebula_multiplayer::interest::{
    ///     Area, Change, ClientFacts, EnterReason, Facts, Interest, Rule,
    /// };
    /// use nebula_multiplayer::{ClientId, NetworkId};
    ///
    /// let mut interest = Interest::new();
    /// interest.add_client(ClientId::new(1), ClientFacts::default());
    /// let score = Facts { rule: Rule::Always, ..Facts::default() };
    /// interest.insert(NetworkId::new(0, 0), score);
    /// interest.update();
    /// let event = interest.events().next().unwrap();
    /// assert_eq!(event.change, Change::Entered(EnterReason::Always));
    /// ```
    pub fn events(&self) -> impl Iterator<Item = InterestEvent> + '_ {
        let clients = self.changed.iter().filter_map(|id| self.clients.get(*id));
        clients.flat_map(move |client| {
            let event = |entity, change| InterestEvent {
                client: client.id,
                entity,
                change,
            };
            let exited = client.left.iter();
            let entered = client.transitions.entered.iter();
            exited
                .map(move |(id, reason)| event(*id, Change::Exited(*reason)))
                .chain(
                    entered.map(move |id| {
                        event(*id, Change::Entered(client.why_in(&self.entities, *id)))
                    }),
                )
        })
    }

    /// Returns the clients whose view holds an entity, in the order of their ids.
    ///
    /// It is known in how many sets the entity is. Nobody is asked when that is none; otherwise
    /// clients are asked in order until all of those are found.
    #[must_use]
    pub fn viewers(&self, id: NetworkId) -> Vec<ClientId> {
        let mut left = self.entities.slot(id).map_or(u32::MAX, Slot::seen);
        let mut viewers = Vec::new();
        for client in self.clients.slots.keys() {
            if left == 0 {
                break;
            }
            let Some(known) = self.clients.get(*client) else {
                continue;
            };
            if known.set.contains(id) {
                left -= 1;
                if View::of(known).contains(id) {
                    viewers.push(*client);
                }
            }
        }
        viewers
    }

    /// Returns why an entity is or is not replicated to a client.
    #[must_use]
    pub fn explain(&self, client: ClientId, entity: NetworkId) -> Explanation {
        let slot = self.clients.slots.get(&client);
        let pending = slot.is_some_and(|slot| self.clients.is_waiting[*slot as usize]);
        let found = self.clients.get(client).ok_or(client);
        Explanation::new(&self.entities, found, entity, pending)
    }
}
