//! Messages that arrived and were not taken yet.

use std::collections::{BTreeMap, VecDeque};

use crate::ClientId;
use crate::protocol::AnyMessage;

/// Messages by kind, in the order of arrival; at most `max` of one client.
pub(crate) struct Inbox {
    kinds: Vec<VecDeque<(ClientId, AnyMessage)>>,
    waiting: BTreeMap<ClientId, usize>,
    max: usize,
}

impl Inbox {
    pub(crate) fn new(kinds: usize, max: usize) -> Self {
        Self {
            kinds: core::iter::repeat_with(VecDeque::new).take(kinds).collect(),
            waiting: BTreeMap::new(),
            max,
        }
    }

    /// Adds a message; returns `false`, without it, if its sender has too many waiting.
    pub(crate) fn push(&mut self, client: ClientId, kind: usize, message: AnyMessage) -> bool {
        let Some(queue) = self.kinds.get_mut(kind) else {
            return false;
        };
        let waiting = self.waiting.entry(client).or_default();
        if *waiting >= self.max {
            return false;
        }
        *waiting = waiting.saturating_add(1);
        queue.push_back((client, message));
        true
    }

    /// Takes all messages of one kind.
    pub(crate) fn take<M: 'static>(&mut self, kind: usize) -> Vec<(ClientId, M)> {
        let queue = self
            .kinds
            .get_mut(kind)
            .map(core::mem::take)
            .unwrap_or_default();
        let mut taken = Vec::with_capacity(queue.len());
        for (client, message) in queue {
            if let Some(waiting) = self.waiting.get_mut(&client) {
                *waiting = waiting.saturating_sub(1);
                if *waiting == 0 {
                    self.waiting.remove(&client);
                }
            }
            if let Ok(message) = message.downcast() {
                taken.push((client, *message));
            }
        }
        taken
    }

    /// Drops everything of one client.
    pub(crate) fn forget(&mut self, client: ClientId) {
        if self.waiting.remove(&client).is_some() {
            for queue in &mut self.kinds {
                queue.retain(|(sender, _)| *sender != client);
            }
        }
    }
}

impl core::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Inbox")
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}
