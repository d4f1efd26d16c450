//! The gate: the one place where state leaves, and where visibility is asked at send time.

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
    /// The same, sorted.
    sorted: Vec<NetworkId>,
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
            self.sorted.extend_from_slice(members);
            self.sorted.sort_unstable();
        }
    }

    /// Returns whether state of this entity may be sent.
    #[inline]
    pub(crate) fn admits(&self, id: NetworkId) -> bool {
        #[cfg(feature = "testing")]
        if self.broken {
            return true;
        }
        self.sorted.binary_search(&id).is_ok()
    }
}
