//! `ClientInterestSet`: the members of one client's set, now and before.

use super::diff;
use crate::{ClientId, NetworkId};

/// What changed in a set: who came and who went, each sorted by id.
///
/// ```
/// use nebula_multiplayer::interest::InterestTransitions;
///
/// assert!(InterestTransitions::default().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterestTransitions {
    /// Members now that were none before.
    pub entered: Vec<NetworkId>,
    /// Members before that are none now.
    pub exited: Vec<NetworkId>,
}

impl InterestTransitions {
    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entered.is_empty() && self.exited.is_empty()
    }
}

/// The entities that a client is interested in, and those of the time before.
///
/// New members come in through [`rotate`](Self::rotate), which makes the present ones the previous
/// ones: that step cannot be forgotten. Members are kept in the order in which they were found; only
/// transitions are sorted.
///
/// ```
/// use nebula_multiplayer::{ClientId, NetworkId, interest::ClientInterestSet};
///
/// let [a, b, c] = [1, 2, 3].map(|index| NetworkId::new(index, 0));
/// let mut set = ClientInterestSet::new(ClientId::new(7));
/// set.rotate([a, b]);
/// set.rotate([c, b]);
/// let transitions = set.compute_transitions();
/// assert_eq!((transitions.entered, transitions.exited), (vec![c], vec![a]));
///
/// set.rotate([b, c]);
/// assert!(set.compute_transitions().is_empty(), "the order does not matter");
/// ```
#[derive(Clone, Debug)]
pub struct ClientInterestSet {
    client_id: ClientId,
    pub(super) current: Vec<NetworkId>,
    pub(super) previous: Vec<NetworkId>,
    /// Whether the previous members equal the present ones, whatever `previous` holds.
    pub(super) settled: bool,
}

impl ClientInterestSet {
    /// Makes an empty set.
    #[must_use]
    pub const fn new(client_id: ClientId) -> Self {
        Self {
            client_id,
            current: Vec::new(),
            previous: Vec::new(),
            settled: true,
        }
    }

    /// Returns whose set it is.
    #[must_use]
    pub const fn client_id(&self) -> ClientId {
        self.client_id
    }

    /// Makes the present members the previous ones, and takes new present ones. Of an id that
    /// comes twice, the first counts.
    pub fn rotate(&mut self, members: impl IntoIterator<Item = NetworkId>) {
        core::mem::swap(&mut self.current, &mut self.previous);
        self.current.clear();
        self.current.extend(members);
        self.settled = false;
        diff::with_marks(|marks| marks.dedup(&mut self.current));
    }

    /// Returns who entered and who left with the last [`rotate`](Self::rotate), sorted by id.
    ///
    /// The two lists are compared place by place; only what differs is looked up in a table.
    #[must_use]
    pub fn compute_transitions(&self) -> InterestTransitions {
        let mut transitions = InterestTransitions::default();
        if !self.settled {
            diff::with_marks(|marks| {
                diff::compare(&self.previous, &self.current, marks, &mut transitions);
            });
            diff::sort(&mut transitions.entered);
            diff::sort(&mut transitions.exited);
        }
        transitions
    }

    /// Returns whether the entity is a member. It reads the members one by one.
    #[must_use]
    pub fn contains(&self, id: NetworkId) -> bool {
        self.current.contains(&id)
    }

    /// Returns the members in the order in which they were found.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = NetworkId> + '_ {
        self.current.iter().copied()
    }

    /// Returns the members before the last rotation.
    pub fn previous(&self) -> impl ExactSizeIterator<Item = NetworkId> + '_ {
        let members = if self.settled {
            &self.current
        } else {
            &self.previous
        };
        members.iter().copied()
    }

    /// Returns how many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.current.len()
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    pub(super) fn members(&self) -> &[NetworkId] {
        &self.current
    }
}
