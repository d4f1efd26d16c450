//! The gate: the one place where state leaves, and where visibility is asked at send time.

use super::ids::table_index;
use crate::NetworkId;
use crate::interest::View;

/// What the client may see at this moment, asked before every record that holds state.
///
/// Queues hold slots and never copied state, so an entity that became hidden after it was queued is
/// stopped here.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The members as the view listed them.
    listed: Vec<NetworkId>,
    /// The same, sorted, each with its place in the list.
    sorted: Vec<(NetworkId, u32)>,
    /// By slot: the place in the list where its entity was found last. A guess, for the list decides.
    places: Vec<u32>,
    /// For the test that shows that the gate is needed.
    #[cfg(feature = "testing")]
    pub(crate) broken: bool,
}

impl Gate {
    /// Takes in the view as it is now. An unchanged one costs a comparison.
    pub(crate) fn refresh(&mut self, view: Option<View<'_>>) {
        let members = view.as_ref().map_or(&[][..], View::members);
        if self.listed != members {
            self.listed.clear();
            self.listed.extend_from_slice(members);
            self.sorted.clear();
            self.sorted.extend(members.iter().copied().zip(0..));
            self.sorted.sort_unstable();
        }
    }

    /// Returns whether state of this entity may be sent, and remembers where that was found.
    #[inline]
    pub(crate) fn admit(&mut self, slot: u32, id: NetworkId) -> bool {
        let guess = self.places.get(table_index(slot));
        if guess.is_some_and(|place| self.listed.get(table_index(*place)) == Some(&id)) {
            return true;
        }
        self.find(slot, id) || self.is_broken()
    }

    /// Looks for an entity that is not where it was.
    fn find(&mut self, slot: u32, id: NetworkId) -> bool {
        let Ok(at) = self.search(id) else {
            return false;
        };
        let slot = table_index(slot);
        if slot >= self.places.len() {
            self.places.resize(slot + 1, 0);
        }
        self.places[slot] = self.sorted[at].1;
        true
    }

    /// Returns whether it may be said that this entity exists.
    pub(crate) fn admits(&self, id: NetworkId) -> bool {
        self.search(id).is_ok() || self.is_broken()
    }

    fn search(&self, id: NetworkId) -> Result<usize, usize> {
        self.sorted.binary_search_by_key(&id, |(id, _)| *id)
    }

    #[allow(clippy::unused_self, reason = "only a test can break it")]
    fn is_broken(&self) -> bool {
        #[cfg(feature = "testing")]
        return self.broken;
        #[cfg(not(feature = "testing"))]
        return false;
    }
}
