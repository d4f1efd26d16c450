//! Who has to be looked at: clients near which something changed.

use nebula_math::WorldPosition;

use super::client::Client;
use super::entities::Entities;
use super::grid::AreaGrid;
use super::{MAX_FOLLOW_DEPTH, Rule};
use crate::{ClientId, NetworkId};

/// The clients, and which of them wait for a look.
#[derive(Debug, Default)]
pub(super) struct Clients {
    /// By slot.
    pub(super) all: Vec<Option<Box<Client>>>,
    /// Slots by id, which gives the order of everything that leaves this module.
    pub(super) slots: std::collections::BTreeMap<ClientId, u32>,
    pub(super) free: Vec<u32>,
    pub(super) grid: AreaGrid,
    /// By slot: whether the client waits for a look.
    pub(super) is_waiting: Vec<bool>,
    pub(super) waiting: Vec<u32>,
    /// Counts updates; the grid skips cells of which all clients wait until the next one.
    pub(super) round: u64,
}

impl Clients {
    pub(super) fn get(&self, id: ClientId) -> Option<&Client> {
        self.all[*self.slots.get(&id)? as usize].as_deref()
    }

    /// Has a client looked at in the next update.
    pub(super) fn touch(&mut self, slot: u32) {
        let waits = &mut self.is_waiting[slot as usize];
        if !*waits {
            *waits = true;
            self.waiting.push(slot);
        }
    }

    /// Returns whether every client waits for a look, so that nobody has to be told.
    #[inline]
    pub(super) fn all_wait(&self) -> bool {
        self.waiting.len() == self.slots.len()
    }

    pub(super) fn touch_id(&mut self, id: ClientId) {
        if let Some(slot) = self.slots.get(&id) {
            self.touch(*slot);
        }
    }

    pub(super) fn touch_all(&mut self) {
        for at in 0..self.all.len() {
            if let Some(client) = &self.all[at] {
                self.touch_id(client.id);
            }
        }
    }

    /// Has those clients looked at whose view is smaller than their set: an entity that they see by
    /// rule moved, and may rank elsewhere.
    pub(super) fn touch_capped(&mut self) {
        for at in 0..self.all.len() {
            if let Some(client) = &self.all[at]
                && client.set.len() > client.facts.max_visible
            {
                self.touch_id(client.id);
            }
        }
    }

    /// Has those clients looked at that see, or saw, an entity at a position by its nearness.
    #[inline]
    pub(super) fn touch_near(&mut self, at: &WorldPosition, reach_mm: u128) {
        if self.all_wait() {
            return;
        }
        let Self {
            all,
            grid,
            is_waiting,
            waiting,
            round,
            ..
        } = self;
        let mut ask = |slot: u32| {
            let waits = &mut is_waiting[slot as usize];
            if *waits {
                return true;
            }
            let near = all[slot as usize]
                .as_ref()
                .is_some_and(|client| client.is_near(at, reach_mm, true));
            if near {
                *waits = true;
                waiting.push(slot);
            }
            near
        };
        if !grid.visit(at, reach_mm, *round, &mut ask) {
            for slot in (0..).take(all.len()) {
                ask(slot);
            }
        }
    }

    /// Has those clients looked at that may see an entity as it is stored now.
    pub(super) fn touch_viewers(&mut self, world: &Entities, id: NetworkId) {
        let mut next = Some(id);
        for _ in 0..=MAX_FOLLOW_DEPTH {
            let Some(facts) = next.and_then(|id| world.facts(id)) else {
                return;
            };
            if let Some(owner) = facts.owner {
                self.touch_id(owner);
            }
            match (facts.rule, facts.position) {
                (Rule::Never, _) => return,
                (Rule::Always, _) => self.touch_all(),
                (Rule::Near, Some(at)) if facts.follows.is_none() => {
                    self.touch_near(&at, facts.reach_mm);
                }
                (Rule::Near, _) => {}
            }
            next = facts.follows;
        }
    }
}
