//! What was true when: every entity's state over time, and who was in whose set.

use std::collections::{BTreeMap, BTreeSet};

use nebula_multiplayer::ClientId;

use super::world::State;

/// States and sets of every tick so far, by tag.
#[derive(Debug, Default)]
pub(crate) struct History {
    now: u64,
    /// Each state with the tick from which it held.
    states: BTreeMap<u64, Vec<(u64, State)>>,
    /// When an entity was in a client's set: from a tick to a tick, the last still open.
    visits: BTreeMap<(ClientId, u64), Vec<(u64, u64)>>,
}

impl History {
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Notes a tick's truth.
    pub(crate) fn tick(
        &mut self,
        states: BTreeMap<u64, State>,
        sets: BTreeMap<ClientId, BTreeSet<u64>>,
    ) {
        self.now += 1;
        for (tag, state) in states {
            let past = self.states.entry(tag).or_default();
            if past.last().is_none_or(|(_, last)| *last != state) {
                past.push((self.now, state));
            }
        }
        for (client, set) in sets {
            for tag in &set {
                let visits = self.visits.entry((client, *tag)).or_default();
                match visits.last_mut() {
                    Some((_, to)) if *to + 1 == self.now => *to = self.now,
                    _ => visits.push((self.now, self.now)),
                }
            }
        }
    }

    /// Returns the last tick at which the entity was in the client's set.
    pub(crate) fn out_since(&self, client: ClientId, tag: u64) -> u64 {
        let visits = self.visits.get(&(client, tag));
        visits
            .and_then(|visits| visits.last())
            .map_or(0, |(_, to)| *to)
    }

    /// Returns how often the entity came into the client's set.
    pub(crate) fn visits(&self, client: ClientId, tag: u64) -> usize {
        self.visits.get(&(client, tag)).map_or(0, Vec::len)
    }

    /// Tells when the entity was in the client's set, and what it was since when.
    pub(crate) fn describe(&self, client: ClientId, tag: u64) -> String {
        let visits = self.visits.get(&(client, tag));
        let states = self
            .states
            .get(&tag)
            .map_or(&[][..], |states| &states[states.len().saturating_sub(8)..]);
        format!("in the set during {visits:?}; last states {states:?}")
    }

    /// Returns the newest tick at which the entity was in the client's set and `test` held.
    pub(crate) fn last_seen(
        &self,
        client: ClientId,
        tag: u64,
        test: impl Fn(&State) -> bool,
    ) -> Option<u64> {
        let visits = self.visits.get(&(client, tag))?;
        let past = self.states.get(&tag)?;
        (0..past.len()).rev().find_map(|at| {
            let (from, state) = &past[at];
            let to = past.get(at + 1).map_or(self.now, |(next, _)| next - 1);
            if !test(state) {
                return None;
            }
            let newest = visits.iter().rev().find(|(a, b)| *a <= to && from <= b)?;
            Some(newest.1.min(to))
        })
    }
}
